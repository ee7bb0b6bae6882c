//! Invariants: truth-valued expressions over the variables of a program, at locations.
//!
//! A fact about all elements of an array speaks about a *ghost*, an integer that the program does
//! not have and no step changes: what holds for an arbitrary value of the ghost holds for all.

use palisade_base::Span;
use palisade_cfa::*;

/// Facts that hold whenever control is at a location, as expressions in a pool that continues the
/// program's own.
#[derive(Clone, Debug)]
pub struct Invariants {
    exprs: Vec<Expr>,
    places: Vec<Place>,
    vars: Vec<Var>,
    types: Vec<Type>,
    base: [usize; 4],
    /// Location and fact; all facts of a location hold together.
    pub at: Vec<(LocId, ExprId)>,
}

impl Invariants {
    /// No facts about a program.
    pub fn none(program: &Program) -> Self {
        Invariants {
            exprs: Vec::new(),
            places: Vec::new(),
            vars: Vec::new(),
            types: Vec::new(),
            base: base(program),
            at: Vec::new(),
        }
    }

    /// The type of ghosts.
    pub const GHOST: IntTy = IntTy { bits: 64, signed: true };

    /// Adds a ghost, a variable that no step changes: facts hold for all its values.
    pub fn ghost(&mut self, program: &Program, name: &str) -> VarId {
        if self.types.is_empty() {
            self.types.push(Type::Int(Self::GHOST));
        }
        self.vars.push(Var {
            name: name.into(),
            ty: TypeId(self.base[3] as u32),
            kind: VarKind::Temp(program.entry),
            address_taken: false,
            init: Init::Unknown,
            read_only: false,
            span: Span::NONE,
            scope: Span::NONE,
        });
        VarId((self.base[2] + self.vars.len() - 1) as u32)
    }

    /// All ghosts.
    pub fn ghosts(&self) -> impl Iterator<Item = VarId> + use<> {
        (self.base[2]..self.base[2] + self.vars.len()).map(|v| VarId(v as u32))
    }

    /// The value of a ghost.
    pub fn ghost_value(&mut self, ghost: VarId) -> ExprId {
        let ty = TypeId(self.base[3] as u32);
        let place = self.place(Place { base: Base::Var(ghost), path: Default::default(), ty, bits: None });
        self.expr(Scalar::Int(Self::GHOST), ExprKind::Load(place))
    }

    /// Adds a place.
    pub fn place(&mut self, place: Place) -> PlaceId {
        self.places.push(place);
        PlaceId((self.base[1] + self.places.len() - 1) as u32)
    }

    /// The expressions and places of this pool, in the order in which they were added.
    pub fn pool(&self) -> (&[Expr], &[Place]) {
        (&self.exprs, &self.places)
    }

    /// An expression of the program or of this pool.
    pub fn get<'a>(&'a self, program: &'a Program, expr: ExprId) -> &'a Expr {
        match (expr.0 as usize).checked_sub(self.base[0]) {
            Some(i) => &self.exprs[i],
            None => &program.exprs[expr],
        }
    }

    /// A place of the program or of this pool.
    pub fn get_place<'a>(&'a self, program: &'a Program, place: PlaceId) -> &'a Place {
        match (place.0 as usize).checked_sub(self.base[1]) {
            Some(i) => &self.places[i],
            None => &program.places[place],
        }
    }

    /// Adds an expression; operands are expressions of the program or of this pool.
    pub fn expr(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        self.exprs.push(Expr { ty, kind });
        ExprId((self.base[0] + self.exprs.len() - 1) as u32)
    }

    /// The value of a scalar variable.
    pub fn var(&mut self, program: &Program, var: VarId) -> ExprId {
        let ty = program.vars[var].ty;
        let place = self.place(Place { base: Base::Var(var), path: Default::default(), ty, bits: None });
        let scalar = program.scalar_of(ty).expect("invariants speak about scalars");
        self.expr(scalar, ExprKind::Load(place))
    }

    /// An integer constant.
    pub fn int(&mut self, ty: IntTy, value: i128) -> ExprId {
        self.expr(Scalar::Int(ty), ExprKind::Int(ty.truncate(value as u128)))
    }

    /// The conjunction (`BinOp::And`) or disjunction (`BinOp::Or`) of truth values.
    pub fn all(&mut self, op: BinOp, parts: &[ExprId]) -> ExprId {
        let neutral = i128::from(op == BinOp::And);
        match parts.split_first() {
            None => self.int(IntTy::BOOL, neutral),
            Some((&first, rest)) => {
                rest.iter().fold(first, |all, &p| self.expr(Scalar::BOOL, ExprKind::Binary(op, all, p)))
            }
        }
    }

    /// The program with the pool of these invariants appended, so that [`Invariants::at`] can be
    /// read in it.
    pub fn extend(&self, program: &Program) -> Program {
        assert_eq!(self.base, base(program), "invariants of another program");
        let mut program = program.clone();
        for expr in &self.exprs {
            program.exprs.push(expr.clone());
        }
        for place in &self.places {
            program.places.push(place.clone());
        }
        for var in &self.vars {
            program.vars.push(var.clone());
        }
        for ty in &self.types {
            program.types.push(ty.clone());
        }
        program
    }
}

/// Sizes of the pools of a program.
fn base(program: &Program) -> [usize; 4] {
    [program.exprs.len(), program.places.len(), program.vars.len(), program.types.len()]
}
