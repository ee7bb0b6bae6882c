//! A function with its callees copied into it, as far as a budget goes: what a compiler's inliner would do.

use palisade_base::{IdxVec, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::wto::Graph;
use palisade_cfa::*;
use rustc_hash::FxHashMap;
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
        self.out.funcs.iter_mut().for_each(|f| f.body = None);
        self.out.entry = func;
        let body = self.source.body(func);
        let entry = self.out.add_loc(func, Span::NONE);
        let exit = self.out.add_loc(func, Span::NONE);
        let mut locals: Vec<VarId> = body.params.iter().chain(&body.locals).copied().collect();
        let mut room = BUDGET;
        // The nearest callees first.
        let mut pending = VecDeque::from([Pending { func, entry, exit, result: None }]);
        while let Some(next) = pending.pop_front() {
            if next.func != func {
                let body = self.source.body(next.func);
                locals.extend(body.params.iter().chain(&body.locals));
            }
            self.copy(&next, &mut room, &mut pending);
        }
        locals.sort_unstable();
        locals.dedup();
        self.out.funcs[func].body = Some(Body { params: Vec::new(), locals, entry, exit });
        let graph = self.out.analyse();
        (&self.out, graph)
    }

    fn copy(&mut self, this: &Pending, room: &mut usize, pending: &mut VecDeque<Pending>) {
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
                match &edge.op {
                    Op::Call { dst: result, callee: Callee::Direct(f), args }
                        if self.fits(*f, args, *room) =>
                    {
                        *room -= self.sizes[*f];
                        let entry = self.enter(src, *f, args, edge.span);
                        pending.push_back(Pending { func: *f, entry, exit: dst, result: *result });
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

    /// Passes arguments; returns where the body of the callee starts. Its variables come to life there. Two
    /// activations of a function that is not recursive never overlap, so copies of it share them.
    fn enter(&mut self, from: LocId, func: FuncId, args: &[Arg], span: Span) -> LocId {
        let body = self.source.body(func);
        let mut at = from;
        let mut ops = Vec::new();
        for (&param, arg) in body.params.iter().zip(args) {
            let dst = self.out.var_place(param);
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
