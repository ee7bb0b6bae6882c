//! Functions that cannot matter become what they may modify.
//!
//! A function *matters* if a check can fail during its call, or if it sets a variable on which the conditions
//! before a failing check depend; so do its callers, and what is small is kept too. Every other function gets a
//! body that does whatever the old one might: it gives arbitrary values to the global registers that the
//! function or what it calls assigns, and calls an external function that may write to all memory that they can
//! reach ([`Effect::Arbitrary`]). So the program that is left has all runs of the old one up to a failing check,
//! and more: what is proved of it holds of the old one, but its runs must be repeated there.
//!
//! That a call ends is not said of the new body either; and an object that the old one freed stays alive, so
//! nothing is outlined where a check asks for that.

use palisade_base::{Idx, IdxVec};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_task::{Frame, Task, TooLarge, compact, inline};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A function that has at most this many edges with all that it calls is worth to be followed.
pub const SMALL: usize = 40;

/// The task of a program whose functions are outlined but for those that matter or have at most `small` edges. Its
/// edges and locations point to the program as it was.
pub fn task(
    source: &Arc<Program>,
    recursion: usize,
    max_edges: usize,
    small: usize,
) -> Result<Task, TooLarge> {
    let outlined = Arc::new(outline(source, small).ok_or(TooLarge)?);
    let mut task = inline::inline(&outlined, recursion, max_edges)?;
    let origin = &task.origin;
    // What a new body does counts as a step of the call.
    let call = |frame| match origin.frames[frame] {
        Frame { caller: Some((_, call)), .. } => call,
        Frame { caller: None, .. } => unreachable!("the entry is kept"),
    };
    let old_loc = |(loc, &old): (LocId, &LocId)| match old.index() < source.locs.len() {
        true => old,
        false => source.edges[call(origin.frames_of[loc])].src,
    };
    let old_edge = |(edge, &old): (EdgeId, &EdgeId)| match old.index() < source.edges.len() {
        true => old,
        false => call(origin.frames_of[task.program.edges[edge].src]),
    };
    let locs = origin.locs.iter_enumerated().map(old_loc).collect();
    let edges = origin.edges.iter_enumerated().map(old_edge).collect();
    (task.origin.locs, task.origin.edges) = (locs, edges);
    task.source = source.clone();
    task.outlined = true;
    compact::compact(&mut task);
    Ok(task)
}

/// The program with outlined functions; `None` if there are none, or if it is asked what objects are alive.
fn outline(source: &Program, small: usize) -> Option<Program> {
    use CheckKind::{Bounds, Deref, Free, MemCleanup, MemTrack, ReadOnly};
    let asks = |e: &Edge| {
        matches!(e.op, Op::Check { kind: Deref | Bounds | Free | MemTrack | MemCleanup | ReadOnly, .. })
    };
    if source.edges.iter().any(asks) {
        return None;
    }
    let calls = CallGraph::new(source);
    let kept = Importance::new(source, &calls).kept(small);
    let mut program = source.clone();
    let mut any = false;
    for func in source.funcs.ids() {
        if source.funcs[func].body.is_some() && calls.is_reachable(func) && !kept[func] {
            replace(source, &calls, func, &mut program);
            any = true;
        }
    }
    any.then_some(program)
}

/// What decides which functions matter.
struct Importance<'p> {
    program: &'p Program,
    calls: &'p CallGraph,
    edges_of: IdxVec<FuncId, Vec<EdgeId>>,
}

impl<'p> Importance<'p> {
    fn new(program: &'p Program, calls: &'p CallGraph) -> Self {
        let mut edges_of = IdxVec::filled(Vec::new(), program.funcs.len());
        for (id, edge) in program.edges.iter_enumerated() {
            edges_of[program.locs[edge.src].func].push(id);
        }
        Importance { program, calls, edges_of }
    }

    fn kept(&self, small: usize) -> IdxVec<FuncId, bool> {
        let fatal = self.fatal();
        let unmodelled = |f: FuncId| {
            let f = &self.program.funcs[f];
            f.body.is_none() && f.effect.stops_proofs()
        };
        let mut matters = IdxVec::filled(false, self.program.funcs.len());
        matters[self.program.entry] = true;
        let mut depends = FxHashSet::default();
        for func in self.program.funcs.ids() {
            let fails = |&e: &EdgeId| match self.program.edges[e].op {
                Op::Check { .. } => true,
                Op::Call { .. } => {
                    self.calls.targets(self.program, e).into_iter().any(|f| fatal[f] || unmodelled(f))
                }
                _ => false,
            };
            if self.edges_of[func].iter().any(fails) {
                matters[func] = true;
                self.conditions(func, &mut depends);
            }
        }
        self.close(&mut depends);
        for func in self.program.funcs.ids() {
            let sets = |&e: &EdgeId| {
                let mut found = false;
                self.program.visit_op(&self.program.edges[e].op, &mut |used| {
                    if let Use::Write(place) = used
                        && let Base::Var(var) = self.program.places[place].base
                    {
                        found |= self.program.vars[var].kind == VarKind::Global && depends.contains(&var);
                    }
                });
                found
            };
            matters[func] = matters[func] || self.edges_of[func].iter().any(sets);
        }
        self.callers(&mut matters);
        let sizes = self.sizes();
        for func in self.program.funcs.ids() {
            matters[func] |= sizes[func] <= small;
        }
        matters
    }

    /// Functions that never return, since a check fails before.
    fn fatal(&self) -> IdxVec<FuncId, bool> {
        let mut fatal = IdxVec::filled(false, self.program.funcs.len());
        loop {
            let returns = |func: FuncId| {
                let Some(body) = &self.program.funcs[func].body else { return true };
                let mut seen: FxHashSet<LocId> = [body.entry].into_iter().collect();
                let mut todo = vec![body.entry];
                while let Some(loc) = todo.pop() {
                    for (_, edge) in self.program.out_edges(loc) {
                        let passes = match edge.op {
                            Op::Check { cond, .. } => {
                                !matches!(self.program.exprs[cond].kind, ExprKind::Int(0))
                            }
                            Op::Call { callee: Callee::Direct(f), .. } => !fatal[f],
                            _ => true,
                        };
                        if passes && seen.insert(edge.dst) {
                            todo.push(edge.dst);
                        }
                    }
                }
                seen.contains(&body.exit)
            };
            let new: Vec<FuncId> = self.program.funcs.ids().filter(|&f| !fatal[f] && !returns(f)).collect();
            if new.is_empty() {
                return fatal;
            }
            new.into_iter().for_each(|f| fatal[f] = true);
        }
    }

    /// The registers in the conditions of a function.
    fn conditions(&self, func: FuncId, found: &mut FxHashSet<VarId>) {
        for &edge in &self.edges_of[func] {
            if let op @ (Op::Assume { .. } | Op::Check { .. }) = &self.program.edges[edge].op {
                self.reads(op, found);
            }
        }
    }

    fn reads(&self, op: &Op, found: &mut FxHashSet<VarId>) {
        self.program.visit_op(op, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = self.program.places[place].base
                && !self.program.vars[var].address_taken
            {
                found.insert(var);
            }
        });
    }

    /// Adds the registers that the values of those in the set are made of.
    fn close(&self, depends: &mut FxHashSet<VarId>) {
        let register = |place: PlaceId| match self.program.places[place].base {
            Base::Var(var) => Some(var),
            Base::Deref(_) => None,
        };
        let value = |arg: &Arg| match *arg {
            Arg::Scalar(cond) => Op::Assume { cond },
            Arg::Aggregate(src) => Op::Copy { dst: src, src },
        };
        loop {
            let before = depends.len();
            for (id, edge) in self.program.edges.iter_enumerated() {
                match &edge.op {
                    op @ (Op::Assign { dst, .. } | Op::Copy { dst, .. })
                        if register(*dst).is_some_and(|var| depends.contains(&var)) =>
                    {
                        self.reads(op, depends);
                    }
                    Op::Call { dst, args, .. } => {
                        let result = dst.and_then(register).is_some_and(|var| depends.contains(&var));
                        for func in self.calls.targets(self.program, id) {
                            let Some(body) = &self.program.funcs[func].body else { continue };
                            for (param, arg) in body.params.iter().zip(args) {
                                if depends.contains(param) {
                                    self.reads(&value(arg), depends);
                                }
                            }
                            if result {
                                for &edge in &self.edges_of[func] {
                                    let op = &self.program.edges[edge].op;
                                    if matches!(op, Op::Return { .. }) {
                                        self.reads(op, depends);
                                    }
                                }
                            }
                        }
                    }
                    _ => {}
                }
            }
            if depends.len() == before {
                return;
            }
        }
    }

    /// Adds all callers.
    fn callers(&self, set: &mut IdxVec<FuncId, bool>) {
        loop {
            let calls = |f: FuncId, set: &IdxVec<FuncId, bool>| self.calls.callees[f].iter().any(|&g| set[g]);
            let new: Vec<FuncId> = self.program.funcs.ids().filter(|&f| !set[f] && calls(f, set)).collect();
            if new.is_empty() {
                return;
            }
            new.into_iter().for_each(|f| set[f] = true);
        }
    }

    /// How many edges each function has with all that it calls; too many where it recurs.
    fn sizes(&self) -> IdxVec<FuncId, usize> {
        let mut order: Vec<FuncId> = self.program.funcs.ids().collect();
        order.sort_by_key(|&f| self.calls.scc[f]);
        let mut sizes = IdxVec::filled(usize::MAX, self.program.funcs.len());
        for func in order {
            if self.calls.is_recursive(func) {
                continue;
            }
            let calls = self.edges_of[func].iter().flat_map(|&e| self.calls.targets(self.program, e));
            sizes[func] = calls.fold(self.edges_of[func].len(), |sum, f| sum.saturating_add(sizes[f]));
        }
        sizes
    }
}

/// What a function and all that it calls may touch by name.
#[derive(Default)]
struct Touched {
    /// Registers that are assigned.
    assigned: BTreeSet<VarId>,
    /// Objects whose address is given away, and pointers that are read.
    given: BTreeSet<VarId>,
}

impl Touched {
    fn by(source: &Program, calls: &CallGraph, func: FuncId) -> Touched {
        let mut seen: FxHashSet<FuncId> = [func].into_iter().collect();
        let mut todo = vec![func];
        while let Some(f) = todo.pop() {
            todo.extend(calls.callees[f].iter().filter(|&&g| seen.insert(g)));
        }
        let mut touched = Touched::default();
        for edge in source.edges.iter().filter(|e| seen.contains(&source.locs[e.src].func)) {
            source.visit_op(&edge.op, &mut |used| {
                let (Use::Read(place) | Use::Write(place) | Use::Address(place)) = used else { return };
                let Base::Var(var) = source.places[place].base else { return };
                if source.vars[var].kind != VarKind::Global {
                    return;
                }
                let register = source.register(var);
                match (used, register) {
                    (Use::Write(_), Some(_)) => {
                        touched.assigned.insert(var);
                    }
                    // What is too short for a pointer leads nowhere.
                    (Use::Read(_), Some(Scalar::Int(t))) if t.bits < source.data_model.ptr_bits() => {}
                    _ => {
                        touched.given.insert(var);
                    }
                }
            });
        }
        touched
    }
}

/// Gives a function a body that does whatever the old one might.
fn replace(source: &Program, calls: &CallGraph, func: FuncId, program: &mut Program) {
    let Touched { assigned, given } = Touched::by(source, calls, func);
    let Function { name, ty, span, .. } = source.funcs[func].clone();
    let Type::Func(signature) = &source.types[ty] else { return };
    let (ret, mut types) = (signature.ret, signature.params.clone());
    let params = source.body(func).params.clone();
    let mut args: Vec<Arg> = Vec::new();
    let argument = |program: &mut Program, var: VarId| {
        let place = program.var_place(var);
        match program.scalar_of(program.vars[var].ty) {
            Some(_) => Arg::Scalar(program.load(place)),
            None => Arg::Aggregate(place),
        }
    };
    args.extend(params.iter().map(|&param| argument(program, param)));
    for var in given {
        if source.register(var).is_some() {
            types.push(program.vars[var].ty);
            args.push(argument(program, var));
        } else {
            program.vars[var].address_taken = true;
            types.push(program.types.push(Type::Ptr(program.vars[var].ty)));
            let place = program.var_place(var);
            args.push(Arg::Scalar(program.add_expr(Scalar::Ptr, ExprKind::Addr(place))));
        }
    }
    let signature = Signature { ret, params: types, variadic: false };
    let outside = Function {
        name: format!(".{name}").into(),
        ty: program.types.push(Type::Func(signature)),
        span,
        body: None,
        effect: Effect::Arbitrary,
    };
    let outside = program.funcs.push(outside);
    let mut locals = Vec::new();
    let result = (!matches!(source.types[ret], Type::Void)).then(|| {
        let var = program.vars.push(Var::made_up(".result", ret, VarKind::Temp(func)));
        locals.push(var);
        var
    });
    let entry = program.add_loc(func, span);
    let exit = program.add_loc(func, span);
    let step = |program: &mut Program, at: LocId, op: Op| {
        let next = program.add_loc(func, span);
        program.add_edge(at, op, next, span);
        next
    };
    let dst = result.map(|var| program.var_place(var));
    let mut at = step(program, entry, Op::Call { dst, callee: Callee::Direct(outside), args: args.into() });
    for var in assigned {
        let dst = program.var_place(var);
        at = step(program, at, Op::Havoc { dst, input: false });
    }
    let value = result.map(|var| argument(program, var));
    program.add_edge(at, Op::Return { value }, exit, span);
    program.funcs[func].body = Some(Body { params, locals, entry, exit });
}
