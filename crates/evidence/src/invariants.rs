//! Invariants: truth-valued expressions over the variables of a program, at locations.
//!
//! A fact about all elements of an array speaks about a *ghost*, an integer that the program does
//! not have and no step changes: what holds for an arbitrary value of the ghost holds for all.
//!
//! A fact about what a loop has computed so far may speak about its [`History`].

use palisade_cfa::*;

/// A ghost array that remembers the passes of a loop: whenever control gets to the loop head, the element
/// at the value of `index` becomes the value of `value`. So an accumulator of the loop leaves its trail,
/// `H[i + 1] = f(H[i], a[i])`, and later loops over the same elements can be compared with it.
///
/// The program is unaware of the array and only two of its variables are read, so no run of it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct History {
    /// The loop head.
    pub head: LocId,
    /// Which element is written, an integer.
    pub index: VarId,
    /// What it becomes, an integer.
    pub value: VarId,
}

/// A variable of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Added {
    /// A ghost: no step changes it, and facts hold for all its values.
    Ghost,
    /// The history of a loop.
    History(History),
}

/// Facts that hold whenever control is at a location, as expressions in a pool that continues the
/// program's own.
#[derive(Clone, Debug)]
pub struct Invariants {
    exprs: Vec<Expr>,
    places: Vec<Place>,
    vars: Vec<Var>,
    types: Vec<Type>,
    base: [usize; 4],
    added: Vec<Added>,
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
            added: Vec::new(),
            at: Vec::new(),
        }
    }

    /// The type of ghosts.
    pub const GHOST: IntTy = IntTy { bits: 64, signed: true };

    /// Elements of a history by its type. A proof is about arrays that never end; runs that look at facts need
    /// some room.
    const HISTORY: u64 = 1 << 17;

    /// The type of ghosts in the pool, its first one.
    fn ghost_type(&mut self) -> TypeId {
        if self.types.is_empty() {
            self.types.push(Type::Int(Self::GHOST));
        }
        TypeId(self.base[3] as u32)
    }

    fn add_var(&mut self, added: Added, name: &str, ty: TypeId, kind: VarKind) -> VarId {
        self.vars.push(Var::made_up(name, ty, kind));
        self.added.push(added);
        VarId((self.base[2] + self.vars.len() - 1) as u32)
    }

    /// Adds a ghost, a variable that no step changes: facts hold for all its values.
    pub fn ghost(&mut self, program: &Program, name: &str) -> VarId {
        let ty = self.ghost_type();
        self.add_var(Added::Ghost, name, ty, VarKind::Temp(program.entry))
    }

    /// Adds the history of a loop; nothing if its variables are no integers.
    pub fn history(&mut self, program: &Program, name: &str, history: History) -> Option<VarId> {
        let elem = program.vars[history.value].ty;
        let integer = |var: VarId| program.scalar_of(program.vars[var].ty)?.int();
        integer(history.index)?;
        integer(history.value)?;
        self.ghost_type();
        self.types.push(Type::Array(elem, Some(Self::HISTORY)));
        let ty = TypeId((self.base[3] + self.types.len() - 1) as u32);
        Some(self.add_var(Added::History(history), name, ty, VarKind::Global))
    }

    /// The variables of the pool, in the order in which they were added.
    pub fn added(&self) -> impl Iterator<Item = (VarId, Added)> {
        let first = self.base[2];
        self.added.iter().enumerate().map(move |(i, added)| (VarId((first + i) as u32), *added))
    }

    /// All ghosts.
    pub fn ghosts(&self) -> impl Iterator<Item = VarId> {
        self.added().filter(|(_, added)| *added == Added::Ghost).map(|(var, _)| var)
    }

    /// An element of a history.
    pub fn element(&mut self, program: &Program, history: VarId, index: ExprId) -> ExprId {
        let place = self.element_place(program, history, index);
        let ty = program.scalar_of(place.ty).expect("histories hold integers");
        let place = self.place(place);
        self.expr(ty, ExprKind::Load(place))
    }

    fn element_place(&self, program: &Program, history: VarId, index: ExprId) -> Place {
        let Added::History(History { value, .. }) = self.added[history.0 as usize - self.base[2]] else {
            panic!("the variable is no history")
        };
        let ty = program.vars[value].ty;
        let stride = program.size_of(ty).expect("integers have a size");
        let path = [Proj::Index { index, stride }].into_iter().collect();
        Place { base: Base::Var(history), path, ty, bits: None }
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

    /// Adds the facts of other invariants about the same program, which have no variables of their own.
    pub fn append(&mut self, other: &Invariants) {
        assert_eq!(self.base, other.base, "invariants of another program");
        assert!(other.vars.is_empty(), "facts about ghosts or histories");
        let [exprs, places, ..] = self.base.map(|n| n as u32);
        let (more_exprs, more_places) = (self.exprs.len() as u32, self.places.len() as u32);
        let expr = |e: &mut ExprId| e.0 += if e.0 < exprs { 0 } else { more_exprs };
        let place = |p: &mut PlaceId| p.0 += if p.0 < places { 0 } else { more_places };
        self.exprs.extend(other.exprs.iter().cloned().map(|mut e| {
            e.operands_mut(expr, place);
            e
        }));
        self.places.extend(other.places.iter().cloned().map(|mut p| {
            p.operands_mut(expr);
            p
        }));
        self.at.extend(other.at.iter().map(|&(loc, mut fact)| {
            expr(&mut fact);
            (loc, fact)
        }));
    }

    /// The program with the pool of these invariants appended, so that [`Invariants::at`] can be
    /// read in it, and with the histories written on the way to their loop heads. All locations and edges keep
    /// their numbers.
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
        self.weave(&mut program, Some);
        program
    }

    /// Writes the histories on the way to their loop heads, in a program with the pool of these invariants. `at`
    /// tells where a loop head is found there.
    pub fn weave(&self, program: &mut Program, at: impl Fn(LocId) -> Option<LocId>) {
        for (array, added) in self.added() {
            let Added::History(history) = added else { continue };
            let Some(head) = at(history.head) else { continue };
            let [index, value] = [history.index, history.value].map(|var| {
                let place = program.var_place(var);
                let ty = program.scalar_of(program.vars[var].ty).expect("histories are about integers");
                program.exprs.push(Expr { ty, kind: ExprKind::Load(place) })
            });
            let dst = program.places.push(self.element_place(program, array, index));
            for edge in std::mem::take(&mut program.locs[head].inc) {
                let (func, span) = (program.locs[head].func, program.edges[edge].span);
                let before = program.add_loc(func, span);
                program.edges[edge].dst = before;
                program.locs[before].inc.push(edge);
                program.add_edge(before, Op::Assign { dst, src: value }, head, span);
            }
        }
    }
}

/// Sizes of the pools of a program.
fn base(program: &Program) -> [usize; 4] {
    [program.exprs.len(), program.places.len(), program.vars.len(), program.types.len()]
}
