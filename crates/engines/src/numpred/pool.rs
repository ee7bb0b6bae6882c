//! The expressions that predicates are made of.

use palisade_cfa::*;
use palisade_evidence::Invariants;
use rustc_hash::{FxHashMap, FxHashSet};

/// Predicates are not made larger than this many expressions.
pub const MAX_SIZE: usize = 60;

/// A pool of expressions in which equal ones are one.
pub struct Predicates {
    /// The expressions, for the certificate.
    pub pool: Invariants,
    known: FxHashMap<(Scalar, ExprKind), ExprId>,
    places: FxHashMap<Place, PlaceId>,
}

impl Predicates {
    /// No expressions.
    pub fn new(pool: Invariants) -> Predicates {
        Predicates { pool, known: FxHashMap::default(), places: FxHashMap::default() }
    }

    /// The expression in the pool, with the value of a register replaced if one is given.
    pub fn intern(&mut self, program: &Program, e: ExprId, replace: Option<(VarId, ExprId)>) -> ExprId {
        self.intern_in(program, e, replace, &mut FxHashMap::default())
    }

    /// The same; `done` has what was interned already.
    fn intern_in(
        &mut self,
        program: &Program,
        e: ExprId,
        replace: Option<(VarId, ExprId)>,
        done: &mut FxHashMap<ExprId, ExprId>,
    ) -> ExprId {
        if let Some(&known) = done.get(&e) {
            return known;
        }
        let Expr { ty, mut kind } = self.pool.get(program, e).clone();
        let new = match (&kind, replace) {
            (ExprKind::Load(place), Some((var, by))) if self.whole(program, *place) == Some(var) => {
                self.intern(program, by, None)
            }
            _ => {
                let mut operands = Vec::new();
                let mut places = Vec::new();
                Expr { ty, kind: kind.clone() }.operands(|e| operands.push(e), |p| places.push(p));
                let map: FxHashMap<ExprId, ExprId> =
                    operands.into_iter().map(|o| (o, self.intern_in(program, o, replace, done))).collect();
                let place_map: FxHashMap<PlaceId, PlaceId> =
                    places.into_iter().map(|p| (p, self.intern_place(program, p, replace, done))).collect();
                renamed(&mut kind, &map, &place_map);
                self.expr(ty, kind)
            }
        };
        done.insert(e, new);
        new
    }

    fn intern_place(
        &mut self,
        program: &Program,
        p: PlaceId,
        replace: Option<(VarId, ExprId)>,
        done: &mut FxHashMap<ExprId, ExprId>,
    ) -> PlaceId {
        let mut place = self.pool.get_place(program, p).clone();
        if let Base::Deref(e) = &mut place.base {
            *e = self.intern_in(program, *e, replace, done);
        }
        for proj in &mut place.path {
            if let Proj::Index { index, .. } = proj {
                *index = self.intern_in(program, *index, replace, done);
            }
        }
        self.place(place)
    }

    /// The variable that a place is the whole of.
    fn whole(&self, program: &Program, place: PlaceId) -> Option<VarId> {
        let p = self.pool.get_place(program, place);
        match p.base {
            Base::Var(var) if p.path.is_empty() && p.bits.is_none() => Some(var),
            _ => None,
        }
    }

    /// The variables in an expression that pointers may point to.
    pub fn addressed(&self, program: &Program, e: ExprId) -> Vec<VarId> {
        let mut found = Vec::new();
        self.visit(program, e, &mut |expr| {
            if let ExprKind::Load(place) = expr.kind
                && let Some(var) = self.whole(program, place)
                && program.vars[var].address_taken
                && !found.contains(&var)
            {
                found.push(var);
            }
        });
        found
    }

    /// Whether a pointer is the address of a variable.
    pub fn points_to(&mut self, program: &Program, pointer: ExprId, var: VarId) -> ExprId {
        let pointer = self.intern(program, pointer, None);
        let ty = program.vars[var].ty;
        let place = Place { base: Base::Var(var), path: Default::default(), ty, bits: None };
        let place = self.place(place);
        let address = self.expr(Scalar::Ptr, ExprKind::Addr(place));
        self.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, pointer, address))
    }

    /// Whether an integer variable has the value of these bits; `None` if it is no integer.
    pub fn equals(&mut self, program: &Program, var: VarId, bits: u128) -> Option<ExprId> {
        let ty = program.vars[var].ty;
        let scalar @ Scalar::Int(_) = program.scalar_of(ty)? else { return None };
        let place = self.place(Place { base: Base::Var(var), path: Default::default(), ty, bits: None });
        let value = self.expr(scalar, ExprKind::Load(place));
        let constant = self.expr(scalar, ExprKind::Int(bits));
        Some(self.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, value, constant)))
    }

    fn expr(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        if let Some(&known) = self.known.get(&(ty, kind.clone())) {
            return known;
        }
        let new = self.pool.expr(ty, kind.clone());
        self.known.insert((ty, kind), new);
        new
    }

    fn place(&mut self, place: Place) -> PlaceId {
        if let Some(&known) = self.places.get(&place) {
            return known;
        }
        let new = self.pool.place(place.clone());
        self.places.insert(place, new);
        new
    }

    /// The number of different expressions in an expression, up to a little more than [`MAX_SIZE`].
    pub fn size(&self, program: &Program, e: ExprId) -> usize {
        let mut size = 0;
        self.visit(program, e, &mut |_| size += 1);
        size
    }

    /// Calls `f` for the different expressions in an expression, up to a little more than [`MAX_SIZE`].
    fn visit(&self, program: &Program, e: ExprId, f: &mut dyn FnMut(&Expr)) {
        let mut seen = FxHashSet::default();
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            if seen.len() > MAX_SIZE || !seen.insert(e) {
                continue;
            }
            let expr = self.pool.get(program, e);
            f(expr);
            let mut places = Vec::new();
            expr.operands(|o| work.push(o), |p| places.push(p));
            for p in places {
                self.pool.get_place(program, p).operands(|o| work.push(o));
            }
        }
    }
}

/// Replaces the operands of an expression.
fn renamed(kind: &mut ExprKind, exprs: &FxHashMap<ExprId, ExprId>, places: &FxHashMap<PlaceId, PlaceId>) {
    let e = |x: &mut ExprId| *x = exprs.get(x).copied().unwrap_or(*x);
    match kind {
        ExprKind::Load(p) | ExprKind::Addr(p) => *p = places.get(p).copied().unwrap_or(*p),
        ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::Freeable(a)
        | ExprKind::ObjectSize(a)
        | ExprKind::ReadOnly(a) => e(a),
        ExprKind::Binary(_, a, b) | ExprKind::Cmp(_, a, b) | ExprKind::Overflow(_, a, b) => {
            e(a);
            e(b);
        }
        ExprKind::Ite(a, b, c) | ExprKind::Overlap(a, b, c) => {
            e(a);
            e(b);
            e(c);
        }
        ExprKind::PtrAdd { ptr, index, .. } => {
            e(ptr);
            e(index);
        }
        ExprKind::PtrDiff { left, right, .. } => {
            e(left);
            e(right);
        }
        ExprKind::Valid { ptr, size } => {
            e(ptr);
            e(size);
        }
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Func(_)
        | ExprKind::HeapEmpty
        | ExprKind::HeapTracked => {}
    }
}
