//! What is known along a chain of edges: values that are already in a register, and conditions
//! that hold because they were checked or assumed.
//!
//! Lowering puts several checks before an operation, which share operands and repeat one another;
//! here they are computed once.

use crate::code::Reg;
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// What a value depends on: a set of registers, folded into a word, and memory (with all globals).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Deps(u64);

impl Deps {
    pub const NONE: Deps = Deps(0);
    pub const MEMORY: Deps = Deps(1 << 63);

    pub fn reg(r: Reg) -> Deps {
        Deps(1 << (r % 63))
    }

    pub fn add(&mut self, other: Deps) {
        self.0 |= other.0;
    }

    fn touches(self, other: Deps) -> bool {
        self.0 & other.0 != 0
    }
}

/// What is known; expressions are canonical.
#[derive(Clone, Default)]
pub(super) struct Facts {
    computed: FxHashMap<ExprId, (Reg, Deps)>,
    conditions: FxHashMap<ExprId, (bool, Deps)>,
}

impl Facts {
    pub fn clear(&mut self) {
        self.computed.clear();
        self.conditions.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.computed.is_empty() && self.conditions.is_empty()
    }

    /// Whether going through all of it at every assignment would cost too much.
    pub fn is_large(&self) -> bool {
        self.computed.len() + self.conditions.len() > 200
    }

    /// The register that holds an expression.
    pub fn computed(&self, e: ExprId) -> Option<(Reg, Deps)> {
        self.computed.get(&e).copied()
    }

    pub fn remember(&mut self, e: ExprId, reg: Reg, deps: Deps) {
        self.computed.insert(e, (reg, deps));
    }

    /// The truth value of a condition, if it is known.
    pub fn known(&self, e: ExprId) -> Option<(bool, Deps)> {
        self.conditions.get(&e).copied()
    }

    pub fn learn(&mut self, e: ExprId, value: bool, deps: Deps) {
        self.conditions.insert(e, (value, deps));
    }

    /// Something was written that values may depend on.
    pub fn forget(&mut self, written: Deps) {
        self.computed.retain(|_, (_, deps)| !deps.touches(written));
        self.conditions.retain(|_, (_, deps)| !deps.touches(written));
    }
}

/// Gives equal expressions of a function one number.
#[derive(Default)]
pub(crate) struct Canon {
    exprs: FxHashMap<ExprId, ExprId>,
    places: FxHashMap<PlaceId, PlaceId>,
    expr_table: FxHashMap<Expr, ExprId>,
    place_table: FxHashMap<Place, PlaceId>,
    kinds: FxHashMap<ExprId, ExprKind>,
    depth: u32,
}

/// Expressions nested deeper than this stand for themselves.
const MAX_DEPTH: u32 = 300;

impl Canon {
    /// The first expression equal to this one.
    pub fn expr(&mut self, p: &Program, e: ExprId) -> ExprId {
        if let Some(&canon) = self.exprs.get(&e) {
            return canon;
        }
        self.depth += 1;
        let kind = if self.depth > MAX_DEPTH { p.exprs[e].kind.clone() } else { self.canonical(p, e) };
        self.depth -= 1;
        let key = Expr { ty: p.exprs[e].ty, kind };
        self.kinds.entry(e).or_insert_with(|| key.kind.clone());
        let canon = *self.expr_table.entry(key).or_insert(e);
        self.exprs.insert(e, canon);
        canon
    }

    /// What a canonical expression computes, from canonical operands.
    pub fn kind(&self, canon: ExprId) -> Option<&ExprKind> {
        self.kinds.get(&canon)
    }

    fn canonical(&mut self, p: &Program, e: ExprId) -> ExprKind {
        use ExprKind::*;
        match p.exprs[e].kind.clone() {
            Load(x) => Load(self.place(p, x)),
            Addr(x) => Addr(self.place(p, x)),
            Unary(op, a) => Unary(op, self.expr(p, a)),
            Binary(op, a, b) => Binary(op, self.expr(p, a), self.expr(p, b)),
            Cmp(op, a, b) => Cmp(op, self.expr(p, a), self.expr(p, b)),
            Ite(c, a, b) => Ite(self.expr(p, c), self.expr(p, a), self.expr(p, b)),
            Convert(a) => Convert(self.expr(p, a)),
            PtrAdd { ptr, index, stride } => {
                PtrAdd { ptr: self.expr(p, ptr), index: self.expr(p, index), stride }
            }
            PtrDiff { left, right, stride } => {
                PtrDiff { left: self.expr(p, left), right: self.expr(p, right), stride }
            }
            Overflow(op, a, b) => Overflow(op, self.expr(p, a), self.expr(p, b)),
            Valid { ptr, size } => Valid { ptr: self.expr(p, ptr), size: self.expr(p, size) },
            Freeable(a) => Freeable(self.expr(p, a)),
            ObjectSize(a) => ObjectSize(self.expr(p, a)),
            ReadOnly(a) => ReadOnly(self.expr(p, a)),
            Overlap(a, b, n) => Overlap(self.expr(p, a), self.expr(p, b), self.expr(p, n)),
            kind @ (Int(_) | Float(_) | Func(_) | HeapEmpty | HeapTracked) => kind,
        }
    }

    fn place(&mut self, p: &Program, x: PlaceId) -> PlaceId {
        if let Some(&canon) = self.places.get(&x) {
            return canon;
        }
        let mut key = p.places[x].clone();
        if let Base::Deref(e) = &mut key.base {
            *e = self.expr(p, *e);
        }
        for proj in &mut key.path {
            if let Proj::Index { index, .. } = proj {
                *index = self.expr(p, *index);
            }
        }
        let canon = *self.place_table.entry(key).or_insert(x);
        self.places.insert(x, canon);
        canon
    }
}
