//! Invariants: truth-valued expressions over the variables of a program, at locations.

use palisade_cfa::*;

/// Facts that hold whenever control is at a location, as expressions in a pool that continues the
/// program's own.
#[derive(Clone, Debug)]
pub struct Invariants {
    exprs: Vec<Expr>,
    places: Vec<Place>,
    base: (usize, usize),
    /// Location and fact; all facts of a location hold together.
    pub at: Vec<(LocId, ExprId)>,
}

impl Invariants {
    /// No facts about a program.
    pub fn none(program: &Program) -> Self {
        let base = (program.exprs.len(), program.places.len());
        Invariants { exprs: Vec::new(), places: Vec::new(), base, at: Vec::new() }
    }

    /// Adds an expression; operands are expressions of the program or of this pool.
    pub fn expr(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        self.exprs.push(Expr { ty, kind });
        ExprId((self.base.0 + self.exprs.len() - 1) as u32)
    }

    /// The value of a scalar variable.
    pub fn var(&mut self, program: &Program, var: VarId) -> ExprId {
        let ty = program.vars[var].ty;
        self.places.push(Place { base: Base::Var(var), path: Default::default(), ty, bits: None });
        let place = PlaceId((self.base.1 + self.places.len() - 1) as u32);
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
        assert_eq!(self.base, (program.exprs.len(), program.places.len()), "invariants of another program");
        let mut program = program.clone();
        for expr in &self.exprs {
            program.exprs.push(expr.clone());
        }
        for place in &self.places {
            program.places.push(place.clone());
        }
        program
    }

    /// The type of an expression of the program or of this pool.
    pub fn type_of(&self, program: &Program, expr: ExprId) -> Scalar {
        match (expr.0 as usize).checked_sub(self.base.0) {
            Some(i) => self.exprs[i].ty,
            None => program.exprs[expr].ty,
        }
    }
}
