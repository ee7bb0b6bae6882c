//! Candidates about pointers: which object they point into, how far, and how large it is.
//!
//! A *base* is a register that an allocation fills. For a base `b` the candidates are that it points
//! to the start of a live object of the size that was asked for, and that elements which were set
//! keep their value; for any other pointer `p`, that it points into the object of `b`, and how its
//! distance `p - b` compares with the program's integers.

use palisade_cfa::*;
use palisade_encode::indices;
use palisade_evidence::Invariants;

/// At most this many pointers are compared with each base.
const MAX_POINTERS: usize = 16;
/// At most this many candidates.
const MAX_CANDIDATES: usize = 2000;
/// At most this many integers are compared with distances.
const MAX_INTEGERS: usize = 16;

/// Pointers and integers of a program.
pub struct Pointers<'p> {
    program: &'p Program,
    /// Registers filled by allocations, with the sizes.
    bases: Vec<(VarId, ExprId)>,
    /// All pointer registers that are assigned.
    pointers: Vec<VarId>,
    /// Integer registers that are assigned or compared.
    integers: Vec<VarId>,
    /// Elements that are set to a constant.
    set: Vec<(PlaceId, ExprId)>,
}

/// The registers that allocations fill, with the sizes.
fn bases(program: &Program) -> Vec<(VarId, ExprId)> {
    let mut bases: Vec<(VarId, ExprId)> = Vec::new();
    for edge in &program.edges {
        if let Op::Alloc { dst, size, .. } = edge.op
            && let Some(var) = pointer(program, dst)
            && !bases.iter().any(|(base, _)| *base == var)
        {
            bases.push((var, size));
        }
    }
    bases
}

/// The pointer register that a place is.
fn pointer(program: &Program, place: PlaceId) -> Option<VarId> {
    program.whole_register(place).and_then(|(var, scalar)| (scalar == Scalar::Ptr).then_some(var))
}

/// What objects are as they were made: alive, and of the size that was asked for. They are said of copies of the
/// pointers too.
pub fn objects(program: &Program, pool: &mut Invariants) -> Vec<ExprId> {
    let mut bases = bases(program);
    for edge in &program.edges {
        if let Op::Assign { dst, src } = edge.op
            && let ExprKind::Load(from) = program.exprs[src].kind
            && let (Some(copy), Some(from)) = (pointer(program, dst), pointer(program, from))
            && let Some(&(_, bytes)) = bases.iter().find(|(base, _)| *base == from)
            && !bases.iter().any(|(base, _)| *base == copy)
        {
            bases.push((copy, bytes));
        }
    }
    let facts = |&(base, bytes): &(VarId, ExprId)| {
        let b = pool.var(program, base);
        object(program, pool, b, bytes).1
    };
    bases.iter().flat_map(facts).collect()
}

/// The size of a base's object, and what holds of it.
fn object(program: &Program, pool: &mut Invariants, base: ExprId, bytes: ExprId) -> (ExprId, [ExprId; 2]) {
    let size_t = Scalar::Int(program.data_model.size_t());
    let size = pool.expr(size_t, ExprKind::ObjectSize(base));
    let known = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, size, bytes));
    let alive = pool.expr(Scalar::BOOL, ExprKind::Valid { ptr: base, size });
    (size, [known, alive])
}

impl<'p> Pointers<'p> {
    /// Looks at a program; `None` if no condition asks whether memory may be accessed.
    pub fn new(program: &'p Program) -> Option<Self> {
        let mut this = Pointers {
            program,
            bases: bases(program),
            pointers: Vec::new(),
            integers: Vec::new(),
            set: Vec::new(),
        };
        let mut asked = false;
        for edge in &program.edges {
            program.visit_op(&edge.op, &mut |used| match used {
                Use::Expr(e) => asked |= matches!(program.exprs[e].kind, ExprKind::Valid { .. }),
                Use::Read(place) | Use::Write(place) => this.note(place),
                Use::Address(_) => {}
            });
            if let Op::Assign { dst, src } = edge.op
                && matches!(program.exprs[src].kind, ExprKind::Int(_))
                && !indices(program, dst).is_empty()
                && program.place_scalar(dst).is_some()
            {
                this.set.push((dst, src));
            }
        }
        asked.then_some(this)
    }

    fn note(&mut self, place: PlaceId) {
        if let Some(var) = pointer(self.program, place) {
            if !self.pointers.contains(&var) {
                self.pointers.push(var);
            }
        } else if let Some((var, t)) = self.program.whole_integer(place)
            && (16..=64).contains(&t.bits)
            && !self.integers.contains(&var)
        {
            self.integers.push(var);
        }
    }

    /// All candidates.
    pub fn candidates(&self, pool: &mut Invariants) -> Vec<ExprId> {
        let mut found = vec![pool.expr(Scalar::BOOL, ExprKind::HeapEmpty)];
        let wide = Scalar::Int(Invariants::GHOST);
        let integers: Vec<ExprId> = self.integers[..self.integers.len().min(MAX_INTEGERS)]
            .iter()
            .map(|&v| {
                let value = pool.var(self.program, v);
                pool.expr(wide, ExprKind::Convert(value))
            })
            .collect();
        for &(place, value) in &self.set {
            let ty = self.program.exprs[value].ty;
            let cell = pool.expr(ty, ExprKind::Load(place));
            found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, cell, value)));
        }
        // Distances of pointers from bases.
        let mut distances: Vec<(VarId, VarId, ExprId)> = Vec::new();
        for &(base, bytes) in &self.bases {
            let b = pool.var(self.program, base);
            let (size, facts) = object(self.program, pool, b, bytes);
            found.extend(facts);
            let size = pool.expr(wide, ExprKind::Convert(size));
            for &x in &integers {
                found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, x, size)));
                found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, x, size)));
            }
            for &pointer in self.pointers.iter().filter(|&&p| p != base).take(MAX_POINTERS) {
                let distance = self.distance(pool, &mut found, (b, size), pointer, &integers);
                distances.push((base, pointer, distance));
            }
        }
        // Two pointers that move together.
        for (i, &(b, p, x)) in distances.iter().enumerate() {
            for &(_, q, y) in distances[i + 1..].iter().filter(|(c, q, _)| *c != b && *q != p) {
                let bases = self.bases.iter().any(|(base, _)| [p, q].contains(base));
                if !bases && found.len() < MAX_CANDIDATES {
                    found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, x, y)));
                }
            }
        }
        found
    }

    /// Where a pointer points relative to a base; gives the distance in bytes.
    fn distance(
        &self,
        pool: &mut Invariants,
        found: &mut Vec<ExprId>,
        (b, size): (ExprId, ExprId),
        pointer: VarId,
        integers: &[ExprId],
    ) -> ExprId {
        let ptrdiff_t = Scalar::Int(self.program.data_model.ptrdiff_t());
        let wide = Scalar::Int(Invariants::GHOST);
        let p = pool.var(self.program, pointer);
        let distance = pool.expr(ptrdiff_t, ExprKind::PtrDiff { left: p, right: b, stride: 1 });
        // In the same object: going the distance from the base leads to the pointer.
        let there = pool.expr(Scalar::Ptr, ExprKind::PtrAdd { ptr: b, index: distance, stride: 1 });
        found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, p, there)));
        found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, p, b)));
        let distance = pool.expr(wide, ExprKind::Convert(distance));
        let zero = pool.int(Invariants::GHOST, 0);
        for &x in integers.iter().chain([&zero, &size]) {
            for (op, a, c) in [
                (CmpOp::Eq, distance, x),
                (CmpOp::Le, distance, x),
                (CmpOp::Lt, distance, x),
                (CmpOp::Le, x, distance),
            ] {
                found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, c)));
            }
        }
        // An element of the pointer's type fits there, and the pointer is at the start of one.
        if let Type::Ptr(target) = self.program.types[self.program.vars[pointer].ty]
            && let Some(bytes @ 2..) = self.program.size_of(target)
        {
            let bytes = pool.int(Invariants::GHOST, i128::from(bytes));
            let end = pool.expr(wide, ExprKind::Binary(BinOp::Add, distance, bytes));
            found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, end, size)));
            let rest = pool.expr(wide, ExprKind::Binary(BinOp::Rem, distance, bytes));
            found.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, rest, zero)));
        }
        distance
    }
}
