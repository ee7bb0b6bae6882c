//! Candidates about all elements of arrays.
//!
//! A candidate reads "for every `k` in a range, some fact about `a[k]`", with a ghost for `k`. The
//! facts are the program's own: what it stores into an element (`a[i] = e` suggests `a[k] == e`
//! with `k` for `i`) and what it asks about elements. The ranges come from the indices the program
//! uses (`k` below, above or at the current index), the bounds it compares them with, and the steps
//! by which they grow.

mod order;
mod ranges;

use super::refine::Candidate;
use palisade_cfa::*;
use palisade_encode::indices;
use palisade_evidence::Invariants;

/// At most this many indices in a row.
const MAX_DIMS: usize = 3;
/// At most this many candidates.
const MAX_CANDIDATES: usize = 6000;
/// At most this many facts are combined in pairs.
const MAX_PAIRED: usize = 16;
/// Steps beyond this length are not told apart.
const MAX_STEP: i128 = 8;

/// The index expressions of an access.
type Tuple = Vec<ExprId>;

/// What a program does with elements of arrays.
pub struct Cells<'p> {
    program: &'p Program,
    /// Index expressions that occur, each kind once.
    tuples: Vec<Tuple>,
    /// Truth values, or stores as a place and a value, with the access they speak about.
    facts: Vec<(Fact, Tuple)>,
    /// Registers and constants that an index is compared with.
    bounds: Vec<ExprId>,
    /// Sums and differences of registers that an index is compared with.
    ends: Vec<ExprId>,
    /// How far apart consecutive accesses are.
    steps: Vec<i128>,
    /// What the program asks about registers only.
    conditions: Vec<ExprId>,
}

#[derive(Clone, Copy)]
enum Fact {
    Holds(ExprId),
    Stored(PlaceId, ExprId),
}

impl<'p> Cells<'p> {
    /// Looks at all accesses; `None` if there is none by a variable index.
    pub fn new(program: &'p Program) -> Option<Self> {
        let mut this = Cells {
            program,
            tuples: Vec::new(),
            facts: Vec::new(),
            bounds: Vec::new(),
            ends: Vec::new(),
            steps: Vec::new(),
            conditions: Vec::new(),
        };
        let mut conditions: Vec<ExprId> = Vec::new();
        for edge in &program.edges {
            let mut accessed = Vec::new();
            program.visit_op(&edge.op, &mut |used| match used {
                Use::Read(place) | Use::Write(place) => accessed.extend(this.tuple(place)),
                Use::Expr(e) if matches!(program.exprs[e].kind, ExprKind::Cmp(..)) => conditions.push(e),
                _ => {}
            });
            for tuple in accessed {
                this.add_tuple(tuple);
            }
            if let Op::Assign { dst, src } = edge.op {
                if let Some(tuple) = this.tuple(dst) {
                    this.facts.push((Fact::Stored(dst, src), tuple));
                } else if let Some((var, _)) = program.whole_integer(dst) {
                    this.note_step(var, src);
                }
            }
        }
        if this.tuples.is_empty() {
            return None;
        }
        for cond in conditions {
            if !this.reads_memory(cond) && !this.conditions.iter().any(|&c| this.same(c, cond)) {
                this.conditions.push(cond);
            }
            for tuple in this.tuples_in(cond) {
                if !this.knows(cond, &tuple) {
                    this.facts.push((Fact::Holds(cond), tuple));
                }
            }
            this.note_bound(cond);
        }
        // What is known of an index is said by ranges; other conditions are the better premises.
        let indices: Vec<VarId> = this.tuples.iter().flatten().flat_map(|&e| this.registers(e)).collect();
        let mut conditions = std::mem::take(&mut this.conditions);
        conditions.sort_by_key(|&c| this.registers(c).iter().any(|v| indices.contains(v)));
        this.conditions = conditions;
        Some(this)
    }

    /// The integer registers that an expression reads.
    fn registers(&self, e: ExprId) -> Vec<VarId> {
        let mut found = Vec::new();
        self.program.visit_op(&Op::Assume { cond: e }, &mut |used| {
            if let Use::Read(place) = used {
                found.extend(self.program.whole_integer(place).map(|(var, _)| var));
            }
        });
        found
    }

    /// The indices of a scalar place, if one of them varies.
    fn tuple(&self, place: PlaceId) -> Option<Tuple> {
        let found: Tuple = indices(self.program, place);
        let varies = found.iter().any(|&e| !matches!(self.program.exprs[e].kind, ExprKind::Int(_)));
        (varies && found.len() <= MAX_DIMS && self.program.place_scalar(place).is_some()).then_some(found)
    }

    fn tuples_in(&self, e: ExprId) -> Vec<Tuple> {
        let mut found: Vec<Tuple> = Vec::new();
        self.program.visit_op(&Op::Assume { cond: e }, &mut |used| {
            if let Use::Read(place) = used
                && let Some(tuple) = self.tuple(place)
                && !found.iter().any(|t| self.same_tuple(t, &tuple))
            {
                found.push(tuple);
            }
        });
        found
    }

    fn add_tuple(&mut self, tuple: Tuple) {
        if self.tuples.iter().any(|t| self.same_tuple(t, &tuple)) {
            return;
        }
        for &index in &tuple {
            if let Some((_, factor)) = self.linear(index) {
                let factor = factor.abs();
                if (2..=MAX_STEP).contains(&factor) && !self.steps.contains(&factor) {
                    self.steps.push(factor);
                }
            }
        }
        self.tuples.push(tuple);
    }

    fn knows(&self, cond: ExprId, tuple: &Tuple) -> bool {
        self.facts.iter().any(|(fact, t)| {
            matches!(fact, Fact::Holds(c) if self.same(*c, cond)) && self.same_tuple(t, tuple)
        })
    }

    /// `x = x + n` makes steps of `n`.
    fn note_step(&mut self, var: VarId, value: ExprId) {
        if let ExprKind::Binary(BinOp::Add | BinOp::Sub, a, n) = self.program.exprs[value].kind
            && self.register(a) == Some(var)
            && let Some(n @ 2..=MAX_STEP) = self.constant(n)
            && !self.steps.contains(&n)
        {
            self.steps.push(n);
        }
    }

    /// Comparing a variable that occurs in an index makes the other side a bound.
    fn note_bound(&mut self, cond: ExprId) {
        let ExprKind::Cmp(_, a, b) = self.program.exprs[cond].kind else { return };
        for (x, bound) in [(a, b), (b, a)] {
            let Some(var) = self.register(x) else { continue };
            let bound = self.strip(bound);
            if !self.tuples.iter().flatten().any(|&e| self.mentions(e, var)) {
                continue;
            }
            let simple = self.register(bound).is_some() || self.constant(bound).is_some();
            let known = if simple { &self.bounds } else { &self.ends };
            if known.iter().any(|&b| self.same(b, bound)) {
                continue;
            }
            if simple {
                self.bounds.push(bound);
            } else if !self.reads_memory(bound) {
                self.ends.push(bound);
            }
        }
    }

    fn mentions(&self, e: ExprId, var: VarId) -> bool {
        let mut found = false;
        self.program.visit_op(&Op::Assume { cond: e }, &mut |used| {
            found |= matches!(used, Use::Read(p) if self.program.places[p].base == Base::Var(var));
        });
        found
    }

    /// The expression without conversions around it.
    fn strip(&self, mut e: ExprId) -> ExprId {
        while let ExprKind::Convert(inner) = self.program.exprs[e].kind {
            e = inner;
        }
        e
    }

    fn register(&self, e: ExprId) -> Option<VarId> {
        match self.program.exprs[self.strip(e)].kind {
            ExprKind::Load(place) => self.program.whole_integer(place).map(|(var, _)| var),
            _ => None,
        }
    }

    fn constant(&self, e: ExprId) -> Option<i128> {
        match self.program.exprs[self.strip(e)] {
            Expr { kind: ExprKind::Int(bits), ty: Scalar::Int(t) } => Some(t.decode(bits)),
            _ => None,
        }
    }

    /// The only register of an expression that is linear in it, and its factor.
    fn linear(&self, e: ExprId) -> Option<(VarId, i128)> {
        let e = self.strip(e);
        if let Some(var) = self.register(e) {
            return Some((var, 1));
        }
        match self.program.exprs[e].kind {
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                match (self.linear(a), self.linear(b)) {
                    (Some(found), None) if self.constant(b).is_some() => Some(found),
                    (None, Some((var, f))) if self.constant(a).is_some() => {
                        Some((var, if op == BinOp::Add { f } else { -f }))
                    }
                    _ => None,
                }
            }
            ExprKind::Binary(BinOp::Mul, a, b) => match (self.linear(a), self.constant(b)) {
                (Some((var, f)), Some(c)) => Some((var, f.checked_mul(c)?)),
                _ => {
                    let (var, f) = self.linear(b)?;
                    Some((var, f.checked_mul(self.constant(a)?)?))
                }
            },
            _ => None,
        }
    }

    /// Whether two expressions are written alike up to conversions.
    fn same(&self, a: ExprId, b: ExprId) -> bool {
        let (a, b) = (self.strip(a), self.strip(b));
        if a == b {
            return true;
        }
        let p = self.program;
        match (&p.exprs[a].kind, &p.exprs[b].kind) {
            (ExprKind::Int(_), ExprKind::Int(_)) => self.constant(a) == self.constant(b),
            (ExprKind::Load(x), ExprKind::Load(y)) => self.same_place(*x, *y),
            (ExprKind::Unary(f, x), ExprKind::Unary(g, y)) => f == g && self.same(*x, *y),
            (ExprKind::Binary(f, x, y), ExprKind::Binary(g, z, w)) => {
                f == g && self.same(*x, *z) && self.same(*y, *w)
            }
            (ExprKind::Cmp(f, x, y), ExprKind::Cmp(g, z, w)) => {
                f == g && self.same(*x, *z) && self.same(*y, *w)
            }
            _ => false,
        }
    }

    fn same_place(&self, x: PlaceId, y: PlaceId) -> bool {
        let (x, y) = (&self.program.places[x], &self.program.places[y]);
        let bases = match (x.base, y.base) {
            (Base::Var(a), Base::Var(b)) => a == b,
            (Base::Deref(a), Base::Deref(b)) => self.same(a, b),
            _ => false,
        };
        bases
            && x.bits == y.bits
            && x.path.len() == y.path.len()
            && x.path.iter().zip(&y.path).all(|(s, t)| match (s, t) {
                (Proj::Index { index: i, stride: m }, Proj::Index { index: j, stride: n }) => {
                    m == n && self.same(*i, *j)
                }
                _ => s == t,
            })
    }

    fn same_tuple(&self, a: &Tuple, b: &Tuple) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&x, &y)| self.same(x, y))
    }

    /// All candidates; with `pairs` also disjunctions of two facts, or of a fact and a condition on
    /// registers.
    pub fn candidates(&self, pool: &mut Invariants, pairs: bool) -> Vec<Candidate> {
        let dims = self.tuples.iter().map(Vec::len).max().unwrap_or(0);
        let sorted = self.compared();
        let count = if sorted.is_empty() { dims } else { dims.max(2) };
        let ghosts: Vec<VarId> =
            ["k", "l", "m"][..count].iter().map(|name| pool.ghost(self.program, name)).collect();
        let mut found = self.stored(pool);
        for compared in sorted {
            found.extend(self.ordered(pool, compared, [ghosts[0], ghosts[1]]));
        }
        for d in 1..=dims {
            let ghosts = &ghosts[..d];
            let values: Vec<ExprId> = ghosts.iter().map(|&ghost| pool.ghost_value(ghost)).collect();
            let mut facts: Vec<ExprId> = Vec::new();
            let mut stored = Vec::new();
            for (fact, tuple) in self.facts.iter().filter(|(_, t)| t.len() == d) {
                let mut about = About { cells: self, pool, values: &values, tuple };
                match *fact {
                    Fact::Holds(cond) => {
                        let fact = about.expr(cond);
                        facts.push(fact);
                        facts.push(pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, fact)));
                    }
                    Fact::Stored(place, value) => {
                        let cell = about.load(place);
                        let value = about.expr(value);
                        stored.push(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, cell, value)));
                    }
                }
            }
            if pairs {
                let all: Vec<ExprId> = facts.iter().chain(&stored).copied().take(MAX_PAIRED).collect();
                let mut premises = Vec::new();
                for &cond in self.conditions.iter().take(MAX_PAIRED / 2) {
                    premises.extend([cond, pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, cond))]);
                }
                for (i, &a) in all.iter().enumerate() {
                    for &b in all[i + 1..].iter().chain(&premises) {
                        facts.push(pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, a, b)));
                    }
                }
            }
            let ranges = self.ranges(pool, ghosts);
            for fact in facts.into_iter().chain(stored) {
                for &range in &ranges {
                    let outside = pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, range));
                    let expr = pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, outside, fact));
                    found.push(Candidate { expr, at: None, ghosts: d });
                }
            }
        }
        found.truncate(MAX_CANDIDATES);
        found
    }

    /// What elements were set to, where no ghost is needed to say which.
    fn stored(&self, pool: &mut Invariants) -> Vec<Candidate> {
        let mut found = Vec::new();
        for (fact, _) in &self.facts {
            let Fact::Stored(place, value) = *fact else { continue };
            let simple = self.register(value).is_some() || self.constant(value).is_some();
            if let Some(ty) = self.program.place_scalar(place).filter(|_| simple) {
                let cell = pool.expr(ty, ExprKind::Load(place));
                let expr = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, cell, value));
                found.push(Candidate { expr, at: None, ghosts: 0 });
            }
        }
        found
    }

    fn reads_memory(&self, e: ExprId) -> bool {
        let mut found = false;
        self.program.visit_op(&Op::Assume { cond: e }, &mut |used| {
            found |= matches!(used, Use::Read(p) if self.program.whole_integer(p).is_none());
        });
        found
    }

    /// An integer as a value of the ghosts' type.
    fn wide(&self, pool: &mut Invariants, e: ExprId) -> ExprId {
        pool.expr(Scalar::Int(Invariants::GHOST), ExprKind::Convert(e))
    }
}

/// Restates expressions about the access with some indices for other values of these, such as the ghosts.
struct About<'a, 'p> {
    cells: &'a Cells<'p>,
    pool: &'a mut Invariants,
    values: &'a [ExprId],
    tuple: &'a Tuple,
}

impl About<'_, '_> {
    /// The value that stands for an index, converted to the index's type.
    fn index(&mut self, e: ExprId) -> Option<ExprId> {
        let at = self.tuple.iter().position(|&t| self.cells.same(t, e))?;
        Some(self.pool.expr(self.cells.program.exprs[e].ty, ExprKind::Convert(self.values[at])))
    }

    /// The value of a register that one index determines: from `k == x + c` follows `x == k - c`.
    fn solved(&mut self, e: ExprId) -> Option<ExprId> {
        let cells = self.cells;
        let var = cells.register(e)?;
        for (at, &index) in self.tuple.iter().enumerate() {
            let Some((_, factor @ (1 | -1))) = cells.linear(index).filter(|(v, _)| *v == var) else {
                continue;
            };
            // index == factor * x + rest, and rest is what the index is at x == 0.
            let rest = cells.value_at_zero(index)?;
            let wide = Scalar::Int(Invariants::GHOST);
            let k = self.values[at];
            let rest = self.pool.int(Invariants::GHOST, rest);
            let (a, b) = if factor == 1 { (k, rest) } else { (rest, k) };
            let value = self.pool.expr(wide, ExprKind::Binary(BinOp::Sub, a, b));
            return Some(self.pool.expr(cells.program.exprs[e].ty, ExprKind::Convert(value)));
        }
        None
    }

    fn load(&mut self, place: PlaceId) -> ExprId {
        let new = self.place(place);
        let ty = self.cells.program.place_scalar(place).expect("cells are scalars");
        self.pool.expr(ty, ExprKind::Load(new))
    }

    fn place(&mut self, id: PlaceId) -> PlaceId {
        let program = self.cells.program;
        if program.whole_integer(id).is_some() {
            return id;
        }
        let mut place = program.places[id].clone();
        if let Base::Deref(pointer) = place.base {
            place.base = Base::Deref(self.expr(pointer));
        }
        for step in &mut place.path {
            if let Proj::Index { index, .. } = step {
                // Ghosts index directly, so that no conversion stands between them and the cell.
                *index = match self.tuple.iter().position(|&t| self.cells.same(t, *index)) {
                    Some(at) => self.values[at],
                    None => self.expr(*index),
                };
            }
        }
        self.pool.place(place)
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        let program = self.cells.program;
        let Expr { ty, kind } = program.exprs[id].clone();
        if !matches!(kind, ExprKind::Int(_))
            && let Some(ghost) = self.index(id).or_else(|| self.solved(id))
        {
            return ghost;
        }
        let new = match kind {
            ExprKind::Load(place) => return self.load_or_same(id, place),
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.expr(a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.expr(a), self.expr(b)),
            ExprKind::Cmp(op, a, b) => ExprKind::Cmp(op, self.expr(a), self.expr(b)),
            ExprKind::Ite(c, a, b) => ExprKind::Ite(self.expr(c), self.expr(a), self.expr(b)),
            ExprKind::Convert(a) => ExprKind::Convert(self.expr(a)),
            ExprKind::PtrAdd { ptr, index, stride } => {
                ExprKind::PtrAdd { ptr: self.expr(ptr), index: self.expr(index), stride }
            }
            other => other,
        };
        self.pool.expr(ty, new)
    }

    fn load_or_same(&mut self, id: ExprId, place: PlaceId) -> ExprId {
        match self.cells.program.whole_integer(place) {
            Some(_) => id,
            None if self.cells.program.place_scalar(place).is_some() => self.load(place),
            None => id,
        }
    }
}

impl Cells<'_> {
    /// The value of an index that is linear in one register when that is zero.
    fn value_at_zero(&self, e: ExprId) -> Option<i128> {
        let e = self.strip(e);
        if self.register(e).is_some() {
            return Some(0);
        }
        if let Some(c) = self.constant(e) {
            return Some(c);
        }
        let ExprKind::Binary(op, a, b) = self.program.exprs[e].kind else { return None };
        let (a, b) = (self.value_at_zero(a)?, self.value_at_zero(b)?);
        match op {
            BinOp::Add => a.checked_add(b),
            BinOp::Sub => a.checked_sub(b),
            BinOp::Mul => a.checked_mul(b),
            _ => None,
        }
    }
}
