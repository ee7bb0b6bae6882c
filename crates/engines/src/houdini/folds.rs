//! Candidates about folds: loops that go through an array and accumulate, such as sums, maxima, counts and
//! conjunctions.
//!
//! Each such loop gets a history ([`palisade_evidence::History`]): `H[i]` is the accumulator when the counter
//! was `i`, so `H[k + 1] = f(H[k], a[k])`. What later loops accumulate over the same elements, in the same
//! order, in another one, or with the opposite sign, is then compared with elements of `H`.

use super::passes::{Subst, is_integer, pass, register_of, strip};
use super::refine::Candidate;
use palisade_cfa::*;
use palisade_evidence::{History, Invariants};

/// At most this many loops get a history.
const MAX_FOLDS: usize = 3;
/// At most this many registers that hold a copy of an element.
const MAX_COPIES: usize = 4;
/// Sums are compared with multiples of a total up to this one.
const MAX_MULTIPLE: i128 = 8;

/// A loop that counts.
struct Loop {
    head: LocId,
    counter: VarId,
    /// The counter ends at this value, of the ghosts' type.
    bound: ExprId,
    /// The counter starts at this value.
    start: i128,
}

/// A register that a loop accumulates in.
struct Accumulator {
    var: VarId,
    ty: IntTy,
    /// Its value after a pass.
    next: ExprId,
    /// What it may start with.
    inits: Vec<ExprId>,
    history: VarId,
}

/// A loop that accumulates, by its number among the loops.
struct Fold {
    number: usize,
    accumulators: Vec<Accumulator>,
}

/// The folds of a program.
pub struct Folds<'p> {
    program: &'p Program,
    pool: Invariants,
    loops: Vec<Loop>,
    folds: Vec<Fold>,
    found: Vec<Candidate>,
}

const WIDE: Scalar = Scalar::Int(Invariants::GHOST);

impl<'p> Folds<'p> {
    /// Looks for loops that accumulate; `None` if there are fewer than two.
    pub fn new(program: &'p Program, pool: Invariants) -> Option<Self> {
        let graph = program.analyse();
        if graph.loop_heads(program.entry).take(2).count() < 2 {
            return None;
        }
        let mut this = Folds { program, pool, loops: Vec::new(), folds: Vec::new(), found: Vec::new() };
        for head in graph.loop_heads(program.entry) {
            let found = this.counting(&graph, head);
            this.loops.extend(found);
        }
        for number in 0..this.loops.len() {
            this.add_fold(&graph, number);
        }
        (this.folds.len() > 1).then_some(this)
    }

    /// The pool and the candidates.
    pub fn candidates(mut self) -> (Invariants, Vec<Candidate>) {
        let folds = std::mem::take(&mut self.folds);
        let mut remembered = Vec::new();
        // Nothing is compared with the last one.
        for fold in &folds[..folds.len() - 1] {
            // Loops that go on with the accumulator of another one are compared with that.
            let again =
                |a: &Accumulator| goes_on(a, &folds) && remembered.iter().any(|f: &&Fold| f.has(a.var));
            if remembered.len() < MAX_FOLDS && !fold.accumulators.iter().any(again) {
                remembered.push(fold);
            }
        }
        let mut with_history: Vec<Fold> = Vec::new();
        for fold in &remembered {
            with_history.push(self.remember(fold));
        }
        let k = self.pool.ghost(self.program, "k");
        let k = self.pool.ghost_value(k);
        for fold in &with_history {
            self.steps(fold, k);
            self.first_elements(fold);
            for other in &folds {
                self.accumulated(fold, other, &folds);
            }
            self.totals(fold, &folds);
        }
        self.counters();
        self.stored();
        (self.pool, self.found)
    }

    /// A loop whose counter goes up by one in each pass, to a bound that it does not change.
    fn counting(&mut self, graph: &Graph, head: LocId) -> Option<Loop> {
        let program = self.program;
        let body = graph.loop_body(program, head);
        let inside = || body.iter().flat_map(|&loc| program.out_edges(loc)).map(|(_, e)| e);
        let written = |var: VarId| {
            inside().filter(move |e| match e.op {
                Op::Assign { dst, .. } | Op::Havoc { dst, .. } => {
                    program.whole_integer(dst).is_some_and(|(v, _)| v == var)
                }
                _ => false,
            })
        };
        let mut found = None;
        for edge in inside() {
            let Op::Assume { cond } = edge.op else { continue };
            let ExprKind::Cmp(op, a, b) = program.exprs[cond].kind else { continue };
            // `i <= m`, and `m < i` on the way out, mean that the counter ends at `m + 1`.
            for (x, bound, past) in [(a, b, op == CmpOp::Le), (b, a, op == CmpOp::Lt)] {
                let Some(counter) = register_of(program, &self.pool, x) else { continue };
                let up = |e: &Edge| matches!(e.op, Op::Assign { src, .. } if self.is_next(src, counter));
                let bound = strip(program, &self.pool, bound);
                let mut fixed = true;
                program.visit_op(&Op::Assume { cond: bound }, &mut |used| match used {
                    Use::Read(place) => {
                        let read = program.whole_integer(place);
                        fixed &= read.is_some_and(|(var, _)| written(var).next().is_none());
                    }
                    Use::Address(_) => fixed = false,
                    _ => {}
                });
                if fixed && written(counter).count() == 1 && written(counter).all(up) && found.is_none() {
                    found = Some((counter, bound, past));
                }
            }
        }
        let (counter, bound, past) = found?;
        let mut bound = self.pool.expr(WIDE, ExprKind::Convert(bound));
        if past {
            let one = self.pool.int(Invariants::GHOST, 1);
            bound = self.pool.expr(WIDE, ExprKind::Binary(BinOp::Add, bound, one));
        }
        let mut starts: Vec<i128> = Vec::new();
        for edge in &program.edges {
            if let Op::Assign { dst, src } = edge.op
                && let Some((var, ty)) = program.whole_integer(dst)
                && var == counter
                && let ExprKind::Int(bits) = program.exprs[src].kind
            {
                starts.push(ty.decode(bits));
            }
        }
        starts.sort_unstable();
        Some(Loop { head, counter, bound, start: starts.first().copied().unwrap_or(0) })
    }

    /// Whether an expression is the value of a register and one.
    fn is_next(&self, e: ExprId, var: VarId) -> bool {
        let p = self.program;
        let one = |e: ExprId| matches!(p.exprs[strip(p, &self.pool, e)].kind, ExprKind::Int(1));
        match p.exprs[strip(p, &self.pool, e)].kind {
            ExprKind::Binary(BinOp::Add, a, b) => register_of(p, &self.pool, a) == Some(var) && one(b),
            _ => false,
        }
    }

    fn add_fold(&mut self, graph: &Graph, number: usize) {
        let program = self.program;
        let Loop { head, counter, .. } = self.loops[number];
        let Some(after) = pass(program, graph, head, &mut self.pool) else { return };
        let mut accumulators = Vec::new();
        for (var, next) in after {
            if var == counter || !self.reads(next, Some(var)) || !self.reads(next, None) {
                continue;
            }
            let Scalar::Int(ty) = self.pool.get(program, next).ty else { continue };
            let mut inits = Vec::new();
            for edge in program.edges.iter().filter(|e| !graph.in_loop(program, e.src, head)) {
                if let Op::Assign { dst, src } = edge.op
                    && program.whole_integer(dst).is_some_and(|(v, _)| v == var)
                    && matches!(
                        program.exprs[strip(program, &self.pool, src)].kind,
                        ExprKind::Int(_) | ExprKind::Load(_)
                    )
                {
                    inits.push(src);
                }
            }
            // The history is added when it is known to be of use.
            accumulators.push(Accumulator { var, ty, next, inits, history: var });
        }
        if !accumulators.is_empty() {
            self.folds.push(Fold { number, accumulators });
        }
    }

    /// Whether an expression reads a register, or memory if none is given.
    fn reads(&self, e: ExprId, var: Option<VarId>) -> bool {
        let expr = self.pool.get(self.program, e);
        if let ExprKind::Load(_) = expr.kind {
            return register_of(self.program, &self.pool, e) == var;
        }
        let mut found = false;
        let mut parts = Vec::new();
        expr.operands(|part| parts.push(part), |_| {});
        for part in parts {
            found |= self.reads(part, var);
        }
        found
    }

    /// The fold with histories of its accumulators.
    fn remember(&mut self, fold: &Fold) -> Fold {
        let Loop { head, counter, .. } = self.loops[fold.number];
        let name = format!("H{}", self.pool.added().count());
        let mut accumulators = Vec::new();
        for a in &fold.accumulators {
            let history = History { head, index: counter, value: a.var };
            let history = self.pool.history(self.program, &name, history);
            let history = history.expect("counters and accumulators are integers");
            accumulators.push(Accumulator { history, inits: a.inits.clone(), ..*a });
        }
        Fold { number: fold.number, accumulators }
    }

    fn int(&mut self, value: i128) -> ExprId {
        self.pool.int(Invariants::GHOST, value)
    }

    fn plus(&mut self, e: ExprId, by: i128) -> ExprId {
        if by == 0 {
            return e;
        }
        let by = self.int(by);
        self.pool.expr(WIDE, ExprKind::Binary(BinOp::Add, e, by))
    }

    fn compare(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> ExprId {
        self.pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, b))
    }

    /// `low <= k && k < high`
    fn between(&mut self, low: ExprId, k: ExprId, high: ExprId) -> ExprId {
        let (a, b) = (self.compare(CmpOp::Le, low, k), self.compare(CmpOp::Lt, k, high));
        self.pool.all(BinOp::And, &[a, b])
    }

    /// Believes a fact where a premise holds.
    fn push(&mut self, at: Option<LocId>, ghosts: usize, premise: Option<ExprId>, fact: ExprId) {
        let expr = match premise {
            None => fact,
            Some(premise) => {
                let not = self.pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, premise));
                self.pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, not, fact))
            }
        };
        self.found.push(Candidate { expr, at, ghosts });
    }

    /// The counter of a loop as a value of the ghosts' type.
    fn counter(&mut self, number: usize) -> ExprId {
        let counter = self.pool.var(self.program, self.loops[number].counter);
        self.pool.expr(WIDE, ExprKind::Convert(counter))
    }

    /// What an accumulator becomes in a pass: from the given values of all accumulators, with `count` for
    /// the counter, and the element at `at`, or a value in the place of the element.
    fn next(
        &mut self,
        fold: &Fold,
        which: usize,
        values: &[ExprId],
        count: ExprId,
        at: Result<ExprId, ExprId>,
    ) -> ExprId {
        let counter = self.loops[fold.number].counter;
        let mut all: Vec<(VarId, ExprId)> =
            fold.accumulators.iter().map(|a| a.var).zip(values.iter().copied()).collect();
        all.push((counter, count));
        let index = at.ok().map(|at| (counter, at));
        Subst { program: self.program, pool: &mut self.pool, values: &all, index, element: at.err() }
            .expr(fold.accumulators[which].next)
    }

    /// The elements of all histories of a fold.
    fn remembered(&mut self, fold: &Fold, index: ExprId) -> Vec<ExprId> {
        fold.accumulators.iter().map(|a| self.pool.element(self.program, a.history, index)).collect()
    }

    /// `H[k + s + 1] == f(H[k + s], a[k])` for `k` in ranges: as the loop left it, or with the elements moved by
    /// `s` since then.
    fn steps(&mut self, fold: &Fold, k: ExprId) {
        let Loop { head, bound, start, .. } = self.loops[fold.number];
        for shift in [0, 1] {
            let here = self.plus(k, shift);
            let after = self.plus(here, 1);
            let (before, then) = (self.remembered(fold, here), self.remembered(fold, after));
            for (which, &then) in then.iter().enumerate() {
                let value = self.next(fold, which, &before, here, Ok(k));
                let fact = self.compare(CmpOp::Eq, then, value);
                let first = (start - shift).max(0);
                let last = self.plus(bound, -shift);
                for low in first..first + 3 {
                    let low = self.int(low);
                    let range = self.between(low, k, last);
                    self.push(None, 1, Some(range), fact);
                }
                for number in 0..self.loops.len() {
                    let at = Some(self.loops[number].head);
                    let counter = self.counter(number);
                    let lows = if at == Some(head) { first..first + 1 } else { first..first + 3 };
                    for low in lows {
                        let low = self.int(low);
                        let range = self.between(low, k, counter);
                        self.push(at, 1, Some(range), fact);
                    }
                    if at != Some(head) {
                        let above = self.between(counter, k, last);
                        let first = self.int(first);
                        let low = self.compare(CmpOp::Le, first, k);
                        let range = self.pool.all(BinOp::And, &[low, above]);
                        self.push(at, 1, Some(range), fact);
                    }
                }
            }
        }
    }

    /// Registers that hold a copy of an element.
    fn copies(&mut self) -> Vec<ExprId> {
        let program = self.program;
        let mut found: Vec<VarId> = Vec::new();
        for edge in &program.edges {
            if let Op::Assign { dst, src } = edge.op
                && let Some((var, _)) = program.whole_integer(dst)
                && let ExprKind::Load(_) = program.exprs[strip(program, &self.pool, src)].kind
                && register_of(program, &self.pool, src).is_none()
                && !found.contains(&var)
            {
                found.push(var);
            }
        }
        found.truncate(MAX_COPIES);
        found.into_iter().map(|var| self.pool.var(program, var)).collect()
    }

    /// An expression as a value of another integer type.
    fn converted(&mut self, e: ExprId, ty: IntTy) -> ExprId {
        self.pool.expr(Scalar::Int(ty), ExprKind::Convert(e))
    }

    /// The first elements of a history from what the loop starts with and the first elements of the array, or
    /// from a copy of one.
    fn first_elements(&mut self, fold: &Fold) {
        let start = self.loops[fold.number].start;
        let [only] = &fold.accumulators[..] else { return };
        let copies = self.copies();
        for &init in &only.inits {
            let acc = self.pool.var(self.program, only.var);
            let fact = self.compare(CmpOp::Eq, acc, init);
            self.push(None, 0, None, fact);
            let mut value = init;
            for n in 0..3 {
                let index = self.int(start + n);
                let element = self.pool.element(self.program, only.history, index);
                let fact = self.compare(CmpOp::Eq, element, value);
                self.push(None, 0, None, fact);
                if n == 0 {
                    let next = self.int(start + 1);
                    let element = self.pool.element(self.program, only.history, next);
                    for &copy in &copies {
                        let other = self.next(fold, 0, &[value], index, Err(copy));
                        let fact = self.compare(CmpOp::Eq, element, other);
                        self.push(None, 0, None, fact);
                    }
                }
                value = self.next(fold, 0, &[value], index, Ok(index));
            }
        }
        let index = self.int(start);
        for copy in copies {
            let element = self.pool.element(self.program, only.history, index);
            let copy = self.converted(copy, only.ty);
            let fact = self.compare(CmpOp::Eq, element, copy);
            self.push(None, 0, None, fact);
        }
    }

    /// What a loop has accumulated, compared with a history: of itself, or of an earlier loop.
    fn accumulated(&mut self, fold: &Fold, other: &Fold, folds: &[Fold]) {
        let Loop { bound, start, .. } = self.loops[fold.number];
        let at = Some(self.loops[other.number].head);
        let j = self.counter(other.number);
        let copies = self.copies();
        for (a, b) in fold.accumulators.iter().flat_map(|a| other.accumulators.iter().map(move |b| (a, b))) {
            if a.ty != b.ty {
                continue;
            }
            let acc = self.pool.var(self.program, b.var);
            let here = self.pool.element(self.program, a.history, j);
            let equal = self.compare(CmpOp::Eq, acc, here);
            if other.number == fold.number {
                if a.var == b.var {
                    self.push(at, 0, None, equal);
                }
                continue;
            }
            for low in start..start + 3 {
                let low = self.int(low);
                let from = self.compare(CmpOp::Le, low, j);
                self.push(at, 0, Some(from), equal);
            }
            let total = self.pool.element(self.program, a.history, bound);
            let done = self.compare(CmpOp::Le, bound, j);
            let fact = self.compare(CmpOp::Eq, acc, total);
            self.push(at, 0, Some(done), fact);
            if let [_] = &other.accumulators[..] {
                let first = self.loops[other.number].start;
                for &init in &b.inits {
                    let mut value = init;
                    for n in 0..2 {
                        let index = self.int(first + n);
                        let now = self.compare(CmpOp::Eq, j, index);
                        let fact = self.compare(CmpOp::Eq, acc, value);
                        self.push(at, 0, Some(now), fact);
                        value = self.next(other, 0, &[value], index, Ok(index));
                    }
                }
                // With one more element it is where the history was a pass later.
                let next = self.plus(j, 1);
                let later = self.pool.element(self.program, a.history, next);
                let before = self.compare(CmpOp::Lt, j, bound);
                for &copy in &copies {
                    let more = self.next(other, 0, &[acc], j, Err(copy));
                    let fact = self.compare(CmpOp::Eq, more, later);
                    self.push(at, 0, Some(before), fact);
                }
            }
            if a.var == b.var && goes_on(a, folds) {
                let ty = Scalar::Int(a.ty);
                for times in -MAX_MULTIPLE..=MAX_MULTIPLE {
                    let factor = self.pool.int(a.ty, times);
                    let product = self.pool.expr(ty, ExprKind::Binary(BinOp::Mul, factor, total));
                    for op in [BinOp::Add, BinOp::Sub] {
                        let sum = self.pool.expr(ty, ExprKind::Binary(op, product, here));
                        let fact = self.compare(CmpOp::Eq, acc, sum);
                        self.push(at, 0, None, fact);
                    }
                }
            }
        }
    }

    /// Accumulators after their loop, and registers computed from them, compared with the end of a history.
    fn totals(&mut self, fold: &Fold, folds: &[Fold]) {
        let program = self.program;
        let bound = self.loops[fold.number].bound;
        for a in &fold.accumulators {
            let total = self.pool.element(self.program, a.history, bound);
            for b in folds.iter().flat_map(|f| &f.accumulators).filter(|b| b.ty == a.ty) {
                let acc = self.pool.var(program, b.var);
                let fact = self.compare(CmpOp::Eq, acc, total);
                self.push(None, 0, None, fact);
                for edge in &program.edges {
                    if let Op::Assign { dst, src } = edge.op
                        && let Some((var, _)) = program.whole_integer(dst)
                        && var != b.var
                        && is_integer(program, var)
                        && self.reads(src, Some(b.var))
                    {
                        let values = [(b.var, total)];
                        let pool = &mut self.pool;
                        let value =
                            Subst { program, pool, values: &values, index: None, element: None }.expr(src);
                        let var = self.pool.var(program, var);
                        let fact = self.compare(CmpOp::Eq, var, value);
                        self.push(None, 0, None, fact);
                    }
                }
            }
        }
    }

    /// How far counters go.
    fn counters(&mut self) {
        for number in 0..self.loops.len() {
            let Loop { head, bound, start, .. } = self.loops[number];
            let (counter, start) = (self.counter(number), self.int(start));
            for (low, high) in [(start, counter), (counter, bound)] {
                let fact = self.compare(CmpOp::Le, low, high);
                self.push(Some(head), 0, None, fact);
            }
        }
    }

    /// Elements and registers that a register was copied to.
    fn stored(&mut self) {
        let program = self.program;
        for edge in &program.edges {
            if let Op::Assign { dst, src } = edge.op
                && let Some(ty) = program.place_scalar(dst)
                && ty.int().is_some()
                && register_of(program, &self.pool, src).is_some()
            {
                let copy = self.pool.expr(ty, ExprKind::Load(dst));
                let fact = self.compare(CmpOp::Eq, copy, src);
                self.push(None, 0, None, fact);
            }
        }
    }
}

/// Whether some loop goes on with an accumulator where another one left it: fewer values are given to it than
/// there are loops.
fn goes_on(a: &Accumulator, folds: &[Fold]) -> bool {
    a.inits.len() < folds.iter().filter(|f| f.has(a.var)).count()
}

impl Fold {
    fn has(&self, var: VarId) -> bool {
        self.accumulators.iter().any(|a| a.var == var)
    }
}
