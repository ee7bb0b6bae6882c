//! A function with its callees copied into it, as far as a budget goes: what a compiler's inliner would do.

use palisade_base::{IdxVec, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::wto::Graph;
use palisade_cfa::*;
use palisade_task::rewrite::Rewriter;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Edges of callees that are copied into one function at most.
const BUDGET: usize = 3000;

/// A body that is still to be copied.
struct Pending {
    func: FuncId,
    entry: LocId,
    exit: LocId,
    /// Where the result goes.
    result: Option<PlaceId>,
    /// The names of its variables.
    names: Rewriter,
}

/// Makes programs of single functions.
pub struct Inliner<'p> {
    source: &'p Program,
    recursive: Vec<bool>,
    /// Edges of each function.
    sizes: IdxVec<FuncId, usize>,
    /// The program that is made, again for each function.
    out: Program,
}

impl<'p> Inliner<'p> {
    /// For the functions of a program.
    pub fn new(source: &'p Program) -> Self {
        let calls = CallGraph::new(source);
        let mut sizes = IdxVec::filled(0, source.funcs.len());
        source.edges.iter().for_each(|e| sizes[source.locs[e.src].func] += 1);
        let mut out = Program::new(source.data_model);
        out.types = source.types.clone();
        out.vars = source.vars.clone();
        out.funcs = source.funcs.clone();
        out.exprs = source.exprs.clone();
        out.places = source.places.clone();
        let recursive = source.funcs.ids().map(|f| calls.is_recursive(f)).collect();
        Inliner { source, recursive, sizes, out }
    }

    /// The program that has only this function, with callees inside it; calls that are left stand for
    /// anything that they may do.
    pub fn function(&mut self, func: FuncId) -> (&Program, Graph) {
        self.out.locs = IdxVec::new();
        self.out.edges = IdxVec::new();
        self.out.vars.truncate(self.source.vars.len());
        self.out.exprs.truncate(self.source.exprs.len());
        self.out.places.truncate(self.source.places.len());
        self.out.funcs.iter_mut().for_each(|f| f.body = None);
        self.out.entry = func;
        let body = self.source.body(func);
        let entry = self.out.add_loc(func, Span::NONE);
        let exit = self.out.add_loc(func, Span::NONE);
        let mut locals: Vec<VarId> = body.params.iter().chain(&body.locals).copied().collect();
        let mut room = BUDGET;
        // The nearest callees first.
        let names = Rewriter::default();
        let mut pending = VecDeque::from([Pending { func, entry, exit, result: None, names }]);
        let mut copied = FxHashSet::default();
        while let Some(mut next) = pending.pop_front() {
            let first = pending.len();
            self.copy(&mut next, &mut room, &mut pending, &mut copied);
            for callee in pending.range(first..) {
                let body = self.source.body(callee.func);
                locals.extend(body.params.iter().chain(&body.locals).map(|&v| callee.names.var(v)));
            }
        }
        locals.sort_unstable();
        self.out.funcs[func].body = Some(Body { params: Vec::new(), locals, entry, exit });
        let graph = self.out.analyse();
        (&self.out, graph)
    }

    fn copy(
        &mut self,
        this: &mut Pending,
        room: &mut usize,
        pending: &mut VecDeque<Pending>,
        copied: &mut FxHashSet<FuncId>,
    ) {
        let source = self.source;
        let body = source.body(this.func);
        let mut map = FxHashMap::from_iter([(body.entry, this.entry), (body.exit, this.exit)]);
        let mut todo = vec![body.entry];
        while let Some(loc) = todo.pop() {
            let src = map[&loc];
            for &id in &source.locs[loc].out {
                let edge = &source.edges[id];
                let dst = *map.entry(edge.dst).or_insert_with(|| {
                    todo.push(edge.dst);
                    self.out.add_loc(self.out.entry, source.locs[edge.dst].span)
                });
                match &this.names.op(&mut self.out, &edge.op) {
                    Op::Call { dst: result, callee: Callee::Direct(f), args }
                        if self.fits(*f, args, *room) =>
                    {
                        *room -= self.sizes[*f];
                        let names = if copied.insert(*f) { Rewriter::default() } else { self.own_names(*f) };
                        let entry = self.enter(src, *f, args, &names, edge.span);
                        pending.push_back(Pending { func: *f, entry, exit: dst, result: *result, names });
                    }
                    Op::Return { value } if this.func != self.out.entry => {
                        let op = match (this.result, value) {
                            (Some(dst), Some(Arg::Scalar(src))) => Op::Assign { dst, src: *src },
                            (Some(dst), Some(Arg::Aggregate(src))) => Op::Copy { dst, src: *src },
                            (Some(dst), None) => Op::Havoc { dst, input: false },
                            (None, _) => Op::Skip,
                        };
                        self.out.add_edge(src, op, dst, edge.span);
                    }
                    op => {
                        self.out.add_edge(src, op.clone(), dst, edge.span);
                    }
                }
            }
        }
    }

    /// Whether a callee is copied.
    fn fits(&self, func: FuncId, args: &[Arg], room: usize) -> bool {
        let Some(body) = &self.source.funcs[func].body else { return false };
        !self.recursive[func.0 as usize] && self.sizes[func] <= room && args.len() == body.params.len()
    }

    /// Variables of its own for another copy of a function, as they have registers of their own.
    fn own_names(&mut self, func: FuncId) -> Rewriter {
        let mut names = Rewriter::default();
        let body = self.source.body(func);
        for &var in body.params.iter().chain(&body.locals) {
            let own = self.out.vars.push(self.source.vars[var].clone());
            names.vars.insert(var, own);
        }
        names
    }

    /// Passes arguments; returns where the body of the callee starts. Its variables come to life there.
    fn enter(&mut self, from: LocId, func: FuncId, args: &[Arg], names: &Rewriter, span: Span) -> LocId {
        let body = self.source.body(func);
        let mut at = from;
        let mut ops = Vec::new();
        for (&param, arg) in body.params.iter().zip(args) {
            let dst = self.out.var_place(names.var(param));
            ops.push(match *arg {
                Arg::Scalar(src) => Op::Assign { dst, src },
                Arg::Aggregate(src) => Op::Copy { dst, src },
            });
        }
        for op in ops {
            let to = self.out.add_loc(self.out.entry, span);
            self.out.add_edge(at, op, to, span);
            at = to;
        }
        let entry = self.out.add_loc(self.out.entry, span);
        self.out.add_edge(at, Op::Skip, entry, span);
        entry
    }
}
