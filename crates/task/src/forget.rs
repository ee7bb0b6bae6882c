//! A program without its memory: what is left are integer registers.
//!
//! Every read of memory, and of registers that hold no integer, gives any value; every write there does nothing; a
//! condition about such values may hold or not, and a check of one fails. Calls through pointers call any function
//! that they might. So the program that is left has all runs of the old one, as far as its integer registers tell, and
//! more: what cannot fail in it cannot fail in the old one.
//!
//! What a large function does that neither fails nor is asked to be followed is forgotten as well: it leaves any
//! values in the global registers that it, or what it calls, sets.
//!
//! Variables, functions and types keep their numbers. Functions keep those parameters that are integer registers
//! ([`params`]).

use crate::contracts::local;
use palisade_base::{IdxVec, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use std::collections::BTreeSet;

/// A function with at most this many edges, together with all that it calls, is small.
pub const SMALL: usize = 40;

/// The program without its memory, or why that would say nothing. Functions that are `followed` keep what they do,
/// whether they are small or can fail or not.
pub fn forget(source: &Program, followed: &BTreeSet<FuncId>) -> Result<Program, String> {
    let strange = source.edges.iter().find_map(|e| match e.op {
        Op::Check { kind, .. } if !local(kind) => Some(kind),
        _ => None,
    });
    if let Some(kind) = strange {
        return Err(format!("without memory nothing can be said about a check of {kind}"));
    }
    let calls = CallGraph::new(source);
    let harmless = harmless(source, &calls);
    let sizes = sizes(source, &calls);
    let kept = |f: FuncId| {
        calls.is_reachable(f)
            && (followed.contains(&f) || !harmless[f] || sizes[f] <= SMALL || f == source.entry)
    };
    let mut forgetting = Forgetting::new(source, &calls);
    for id in source.edges.ids() {
        if kept(source.locs[source.edges[id].src].func) {
            forgetting.edge(id);
        }
    }
    let touched = Touched::of(source);
    for func in source.funcs.ids() {
        if source.funcs[func].body.is_some() && calls.is_reachable(func) && !kept(func) {
            forgetting.outline(func, &touched.written[func]);
        }
    }
    Ok(forgetting.out)
}

/// The parameters of a function that its program keeps without its memory.
pub fn params(source: &Program, func: FuncId) -> Vec<VarId> {
    let body = &source.funcs[func].body;
    let params = body.iter().flat_map(|body| body.params.iter().copied());
    params.filter(|&var| source.integer_register(var).is_some()).collect()
}

/// The functions that cannot fail, whatever they are called with.
fn harmless(p: &Program, calls: &CallGraph) -> IdxVec<FuncId, bool> {
    let mut harmless = IdxVec::filled(true, p.funcs.len());
    for (id, edge) in p.edges.iter_enumerated() {
        let unmodelled = |f: &FuncId| p.funcs[*f].body.is_none() && p.funcs[*f].effect.stops_proofs();
        let fails = match edge.op {
            Op::Check { .. } => true,
            Op::Call { .. } => calls.targets(p, id).iter().any(unmodelled),
            _ => false,
        };
        if fails {
            harmless[p.locs[edge.src].func] = false;
        }
    }
    loop {
        let infected = |f: &FuncId| harmless[*f] && calls.callees[*f].iter().any(|&g| !harmless[g]);
        let new: Vec<FuncId> = p.funcs.ids().filter(infected).collect();
        if new.is_empty() {
            return harmless;
        }
        new.into_iter().for_each(|f| harmless[f] = false);
    }
}

/// How many edges each function has with all that it calls; too many where it recurs.
pub fn sizes(p: &Program, calls: &CallGraph) -> IdxVec<FuncId, usize> {
    let mut own = IdxVec::filled((0usize, Vec::new()), p.funcs.len());
    for (id, edge) in p.edges.iter_enumerated() {
        let (edges, called) = &mut own[p.locs[edge.src].func];
        *edges += 1;
        called.extend(calls.targets(p, id));
    }
    let mut order: Vec<FuncId> = p.funcs.ids().collect();
    order.sort_by_key(|&f| calls.scc[f]);
    let mut sizes = IdxVec::filled(usize::MAX, p.funcs.len());
    for func in order.into_iter().filter(|&f| !calls.is_recursive(f)) {
        let (edges, called) = &own[func];
        sizes[func] = called.iter().fold(*edges, |sum, &f| sum.saturating_add(sizes[f]));
    }
    sizes
}

/// The global integer registers that functions, with all that they call, use.
#[derive(Clone, Debug)]
pub struct Touched {
    /// Those that are read.
    pub read: IdxVec<FuncId, BTreeSet<VarId>>,
    /// Those that are set.
    pub written: IdxVec<FuncId, BTreeSet<VarId>>,
}

impl Touched {
    /// Looks at a program.
    pub fn of(p: &Program) -> Touched {
        let nothing = || IdxVec::filled(BTreeSet::new(), p.funcs.len());
        let mut touched = Touched { read: nothing(), written: nothing() };
        for edge in &p.edges {
            let func = p.locs[edge.src].func;
            p.visit_op(&edge.op, &mut |used| {
                let (Use::Read(place) | Use::Write(place)) = used else { return };
                let Base::Var(var) = p.places[place].base else { return };
                if p.vars[var].kind != VarKind::Global || p.integer_register(var).is_none() {
                    return;
                }
                let set = match used {
                    Use::Write(_) => &mut touched.written,
                    _ => &mut touched.read,
                };
                set[func].insert(var);
            });
        }
        let calls = CallGraph::new(p);
        let mut order: Vec<FuncId> = p.funcs.ids().collect();
        order.sort_by_key(|&f| calls.scc[f]);
        // Callees come first; in circles, until nothing is new.
        loop {
            let mut changed = false;
            for &func in &order {
                for set in [&mut touched.read, &mut touched.written] {
                    let before = set[func].len();
                    let mut own = std::mem::take(&mut set[func]);
                    calls.callees[func].iter().for_each(|&g| own.extend(&set[g]));
                    changed |= own.len() > before;
                    set[func] = own;
                }
            }
            if !changed {
                return touched;
            }
        }
    }
}

struct Forgetting<'a> {
    source: &'a Program,
    calls: &'a CallGraph,
    out: Program,
    /// What each expression becomes if its value is known without memory.
    exprs: IdxVec<ExprId, Option<ExprId>>,
    /// For each function with a body, which parameters it keeps.
    params: IdxVec<FuncId, Vec<usize>>,
}

/// What a place is without memory.
enum Target {
    /// An integer register.
    Register(VarId),
    /// A part of one.
    Part(VarId),
    /// Something else.
    Nothing,
}

impl<'a> Forgetting<'a> {
    fn new(source: &'a Program, calls: &'a CallGraph) -> Self {
        let mut out =
            Program { edges: IdxVec::new(), exprs: IdxVec::new(), places: IdxVec::new(), ..source.clone() };
        for loc in out.locs.iter_mut() {
            loc.out.clear();
            loc.inc.clear();
        }
        let void = out.types.push(Type::Void);
        let mut params = IdxVec::filled(Vec::new(), source.funcs.len());
        for func in source.funcs.ids() {
            let Some(body) = &source.funcs[func].body else { continue };
            let kept = |(_, var): &(usize, &VarId)| source.integer_register(**var).is_some();
            params[func] = body.params.iter().enumerate().filter(kept).map(|(i, _)| i).collect();
            let kept = self::params(source, func);
            let ret = match &source.types[source.funcs[func].ty] {
                Type::Func(sig) if source.scalar_of(sig.ret).is_some_and(|s| s.int().is_some()) => sig.ret,
                _ => void,
            };
            let types = kept.iter().map(|&var| source.vars[var].ty).collect();
            let ty = out.types.push(Type::Func(Signature { ret, params: types, variadic: false }));
            out.funcs[func].ty = ty;
            if let Some(body) = &mut out.funcs[func].body {
                let others = body.params.iter().copied().filter(|var| !kept.contains(var));
                body.locals.extend(others);
                body.params = kept;
            }
        }
        let mut this = Forgetting { source, calls, out, exprs: IdxVec::new(), params };
        for (id, expr) in source.exprs.iter_enumerated() {
            let known = this.expr(id, expr);
            this.exprs.push(known);
        }
        this
    }

    fn target(&self, place: PlaceId) -> Target {
        let p = &self.source.places[place];
        match p.base {
            Base::Var(var) if self.source.integer_register(var).is_some() => {
                match p.path.is_empty() && p.bits.is_none() && p.ty == self.source.vars[var].ty {
                    true => Target::Register(var),
                    false => Target::Part(var),
                }
            }
            _ => Target::Nothing,
        }
    }

    /// An expression over integer registers; operands come before what is made of them.
    fn expr(&mut self, id: ExprId, expr: &Expr) -> Option<ExprId> {
        let Scalar::Int(_) = expr.ty else { return None };
        if let ExprKind::Load(place) = expr.kind {
            let Target::Register(var) = self.target(place) else { return None };
            let place = self.out.var_place(var);
            return Some(self.out.load(place));
        }
        let computed = matches!(
            expr.kind,
            ExprKind::Int(_)
                | ExprKind::Unary(..)
                | ExprKind::Binary(..)
                | ExprKind::Cmp(..)
                | ExprKind::Ite(..)
                | ExprKind::Convert(_)
                | ExprKind::Overflow(..)
        );
        let (mut new, mut known) = (expr.clone(), computed);
        new.operands_mut(
            |operand| match (*operand < id).then(|| self.exprs[*operand]).flatten() {
                Some(there) => *operand = there,
                None => known = false,
            },
            |_| {}, // Only reads have places.
        );
        known.then(|| self.out.add_expr(new.ty, new.kind))
    }

    fn known(&self, e: ExprId) -> Option<ExprId> {
        self.exprs[e]
    }

    fn temporary(&mut self, func: FuncId, ty: TypeId) -> VarId {
        let var = self.out.vars.push(Var::made_up(".any", ty, VarKind::Temp(func)));
        if let Some(body) = &mut self.out.funcs[func].body {
            body.locals.push(var);
        }
        var
    }

    fn havoc(&mut self, var: VarId) -> Op {
        Op::Havoc { dst: self.out.var_place(var), input: false }
    }

    /// A register gets any value, whatever part of it was written.
    fn any(&mut self, place: PlaceId) -> Op {
        match self.target(place) {
            Target::Register(var) | Target::Part(var) => self.havoc(var),
            Target::Nothing => Op::Skip,
        }
    }

    /// One more step inside an edge of the source; returns where it leads.
    fn then(&mut self, at: LocId, op: Op, span: Span) -> LocId {
        let next = self.out.add_loc(self.out.locs[at].func, span);
        self.out.add_edge(at, op, next, span);
        next
    }

    fn edge(&mut self, id: EdgeId) {
        let Edge { src, dst, op, span } = &self.source.edges[id];
        let (src, dst, span) = (*src, *dst, *span);
        let op = match op {
            Op::Call { dst: result, args, .. } => return self.call(id, *result, args),
            Op::Return { value } => return self.ret(src, *value, dst, span),
            Op::Skip => Op::Skip,
            Op::Assign { dst, src } => match (self.target(*dst), self.known(*src)) {
                (Target::Register(var), Some(src)) => Op::Assign { dst: self.out.var_place(var), src },
                _ => self.any(*dst),
            },
            Op::Zero { dst } => match self.target(*dst) {
                Target::Register(var) => Op::Zero { dst: self.out.var_place(var) },
                _ => self.any(*dst),
            },
            Op::Havoc { dst, .. } | Op::Copy { dst, .. } | Op::Alloc { dst, .. } => self.any(*dst),
            Op::Assume { cond } => self.known(*cond).map_or(Op::Skip, |cond| Op::Assume { cond }),
            Op::Check { kind, cond } => {
                let cond = self.known(*cond);
                let cond = cond.unwrap_or_else(|| self.out.add_expr(Scalar::BOOL, ExprKind::Int(0)));
                Op::Check { kind: *kind, cond }
            }
            Op::Enter { var } if self.source.integer_register(*var).is_some() => self.havoc(*var),
            Op::Enter { .. } | Op::Leave { .. } => Op::Skip,
            Op::Free { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => Op::Skip,
            Op::Halt { .. } => Op::Halt { kind: HaltKind::Abort },
        };
        self.out.add_edge(src, op, dst, span);
    }

    fn ret(&mut self, mut at: LocId, value: Option<Arg>, dst: LocId, span: Span) {
        let func = self.out.locs[at].func;
        let known = match value {
            Some(Arg::Scalar(e)) => self.known(e),
            _ => None,
        };
        let value = self.result(func).map(|ty| Arg::Scalar(self.value(&mut at, known, ty, span)));
        self.out.add_edge(at, Op::Return { value }, dst, span);
    }

    /// What a function returns, if that is an integer.
    fn result(&self, func: FuncId) -> Option<TypeId> {
        match &self.out.types[self.out.funcs[func].ty] {
            Type::Func(sig) => Some(sig.ret).filter(|ty| self.out.scalar_of(*ty).is_some()),
            _ => None,
        }
    }

    fn converted(&mut self, e: ExprId, ty: TypeId) -> ExprId {
        match self.out.scalar_of(ty) {
            Some(want) if want != self.out.exprs[e].ty => self.out.add_expr(want, ExprKind::Convert(e)),
            _ => e,
        }
    }

    /// A known value as one of a type, or any value of it, made in a further step.
    fn value(&mut self, at: &mut LocId, known: Option<ExprId>, ty: TypeId, span: Span) -> ExprId {
        if let Some(known) = known {
            return self.converted(known, ty);
        }
        let var = self.temporary(self.out.locs[*at].func, ty);
        let op = self.havoc(var);
        *at = self.then(*at, op, span);
        let place = self.out.var_place(var);
        self.out.load(place)
    }

    /// A way for each function that may be called, and one for those that nobody knows.
    fn call(&mut self, id: EdgeId, result: Option<PlaceId>, args: &[Arg]) {
        let Edge { src, dst, op, span } = &self.source.edges[id];
        let (mut at, dst, span) = (*src, *dst, *span);
        let direct = matches!(op, Op::Call { callee: Callee::Direct(_), .. });
        let targets = self.calls.targets(self.source, id);
        let last = targets.len().wrapping_sub(1);
        for (i, func) in targets.into_iter().enumerate() {
            let start = if direct && i == last {
                at
            } else {
                let (chosen, other) = self.choice(at, span);
                at = other;
                chosen
            };
            self.call_one(start, func, result, args, dst, span);
            if direct && i == last {
                return;
            }
        }
        let op = result.map_or(Op::Skip, |place| self.any(place));
        self.out.add_edge(at, op, dst, span);
    }

    fn choice(&mut self, at: LocId, span: Span) -> (LocId, LocId) {
        let int = self.out.types.push(Type::Int(IntTy::I32));
        let var = self.temporary(self.out.locs[at].func, int);
        let op = self.havoc(var);
        let at = self.then(at, op, span);
        let place = self.out.var_place(var);
        let (value, zero) = (self.out.load(place), self.out.int(IntTy::I32, 0));
        let [yes, no] =
            [CmpOp::Ne, CmpOp::Eq].map(|op| self.out.add_expr(Scalar::BOOL, ExprKind::Cmp(op, value, zero)));
        (self.then(at, Op::Assume { cond: yes }, span), self.then(at, Op::Assume { cond: no }, span))
    }

    fn call_one(
        &mut self,
        mut at: LocId,
        func: FuncId,
        result: Option<PlaceId>,
        args: &[Arg],
        dst: LocId,
        span: Span,
    ) {
        let caller = self.out.locs[at].func;
        let Some(body) = &self.source.funcs[func].body else {
            if self.source.funcs[func].effect.stops_proofs() {
                let callee = Callee::Direct(func);
                self.out.add_edge(at, Op::Call { dst: None, callee, args: Box::new([]) }, dst, span);
            } else {
                let op = result.map_or(Op::Skip, |place| self.any(place));
                self.out.add_edge(at, op, dst, span);
            }
            return;
        };
        let mut passed = Vec::new();
        for i in self.params[func].clone() {
            let ty = self.source.vars[body.params[i]].ty;
            let known = match args.get(i) {
                Some(Arg::Scalar(e)) => self.known(*e),
                _ => None,
            };
            passed.push(Arg::Scalar(self.value(&mut at, known, ty, span)));
        }
        let callee = Callee::Direct(func);
        let mut call = |this: &mut Self, at: LocId, dst: Option<PlaceId>, next: LocId| {
            let args = std::mem::take(&mut passed).into_boxed_slice();
            this.out.add_edge(at, Op::Call { dst, callee, args }, next, span);
        };
        let target = result.map_or(Target::Nothing, |place| self.target(place));
        match (target, self.result(func)) {
            (Target::Register(var), Some(ty)) => {
                let place = self.out.var_place(var);
                if self.out.place_scalar(place) == self.out.scalar_of(ty) {
                    return call(self, at, Some(place), dst);
                }
                let given = self.temporary(caller, ty);
                let given = self.out.var_place(given);
                let next = self.out.add_loc(caller, span);
                call(self, at, Some(given), next);
                let value = self.out.load(given);
                let src = self.converted(value, self.source.vars[var].ty);
                self.out.add_edge(next, Op::Assign { dst: place, src }, dst, span);
            }
            (Target::Register(var) | Target::Part(var), _) => {
                let next = self.out.add_loc(caller, span);
                call(self, at, None, next);
                let op = self.havoc(var);
                self.out.add_edge(next, op, dst, span);
            }
            (Target::Nothing, _) => call(self, at, None, dst),
        }
    }

    /// A body that leaves any values in some registers.
    fn outline(&mut self, func: FuncId, written: &BTreeSet<VarId>) {
        let Body { entry, exit, .. } = *self.source.body(func);
        let span = self.source.funcs[func].span;
        let mut at = entry;
        for &var in written {
            let op = self.havoc(var);
            at = self.then(at, op, span);
        }
        self.ret(at, None, exit, span);
    }
}
