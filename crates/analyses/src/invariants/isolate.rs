//! One function on its own, as a task for the methods that ask the solver: it starts in any
//! state, memory holds anything, and calls change what they may change.
//!
//! Only integer registers are kept. What an expression reads elsewhere (memory, pointers,
//! floating-point numbers) becomes an unknown value, every time anew, so the task has more runs
//! than the function: what holds in all of its runs holds in the function.

use palisade_base::{IdxVec, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_task::{ErrorLoc, Frame, FrameId, Origin, Task};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Makes tasks of the functions of a program.
pub struct Isolator<'p> {
    program: &'p Arc<Program>,
    graph: CallGraph,
    /// The global registers that a call of each function may change.
    writes: IdxVec<FuncId, BTreeSet<VarId>>,
}

impl<'p> Isolator<'p> {
    /// For an instrumented program; its checks become the errors of the tasks.
    pub fn new(program: &'p Arc<Program>) -> Self {
        let graph = CallGraph::new(program);
        let mut writes: IdxVec<FuncId, BTreeSet<VarId>> =
            IdxVec::filled(BTreeSet::new(), program.funcs.len());
        for edge in &program.edges {
            let func = program.locs[edge.src].func;
            program.visit_op(&edge.op, &mut |used| {
                if let Use::Write(place) = used
                    && let Base::Var(var) = program.places[place].base
                    && program.vars[var].kind == VarKind::Global
                    && program.integer_register(var).is_some()
                {
                    writes[func].insert(var);
                }
            });
        }
        // Callees have smaller or equal component numbers, so one pass in their order suffices but
        // for recursion, which goes on until nothing changes.
        let mut order: Vec<FuncId> = program.funcs.ids().collect();
        order.sort_by_key(|f| graph.scc[*f]);
        let mut changed = true;
        while changed {
            changed = false;
            for &f in &order {
                let mut all = std::mem::take(&mut writes[f]);
                let before = all.len();
                for &g in graph.callees[f].iter().filter(|g| **g != f) {
                    all.extend(&writes[g]);
                }
                changed |= all.len() > before;
                writes[f] = all;
            }
        }
        Isolator { program, graph, writes }
    }

    /// The task of a function with a body.
    pub fn task(&self, func: FuncId) -> Task {
        let mut program = Program::new(self.program.data_model);
        program.types = self.program.types.clone();
        program.vars = self.program.vars.clone();
        program.funcs = self.program.funcs.clone();
        program.exprs = self.program.exprs.clone();
        program.places = self.program.places.clone();
        program.entry = func;
        program.vars.iter_mut().for_each(|v| v.init = Init::Unknown);
        program.funcs.iter_mut().for_each(|f| f.body = None);
        let mut origin = Origin::default();
        origin.frames.push(Frame { func, caller: None });
        let task = Task {
            source: self.program.clone(),
            program,
            errors: Vec::new(),
            cuts: Vec::new(),
            recursion: 0,
            recursion_cut: false,
            outlined: false,
            unfollowed: false,
            origin,
        };
        let mut builder = Builder { isolator: self, task, temps: FxHashMap::default(), used: Vec::new() };
        builder.build(func);
        builder.task
    }

    /// The global registers that a call may change.
    fn written_by(&self, call: EdgeId) -> BTreeSet<VarId> {
        let targets = self.graph.targets(self.program, call);
        targets.iter().flat_map(|f| self.writes[*f].iter().copied()).collect()
    }
}

struct Builder<'a> {
    isolator: &'a Isolator<'a>,
    task: Task,
    /// Registers for unknown values; those of one operation are all different.
    temps: FxHashMap<IntTy, Vec<VarId>>,
    /// The temporaries that the operation at hand uses, by the expression they stand for.
    used: Vec<(ExprId, VarId)>,
}

impl Builder<'_> {
    fn build(&mut self, func: FuncId) {
        let source = self.isolator.program;
        let body = source.body(func);
        let own: Vec<LocId> =
            source.locs.iter_enumerated().filter(|(_, l)| l.func == func).map(|(id, _)| id).collect();
        let map: FxHashMap<LocId, LocId> = own.iter().map(|&l| (l, self.loc(l))).collect();
        let start = self.loc(body.entry);
        self.task.program.locs[start].loop_stmt = None;
        let mut mentioned: Vec<VarId> = body.params.clone();
        for &loc in &own {
            for (id, edge) in source.out_edges(loc) {
                source.visit_op(&edge.op, &mut |used| {
                    if let Use::Read(place) | Use::Write(place) = used
                        && let Base::Var(var) = source.places[place].base
                        && source.vars[var].kind == VarKind::Global
                    {
                        mentioned.push(var);
                    }
                });
                self.edge(id, map[&edge.src], map[&edge.dst]);
            }
        }
        mentioned.retain(|v| source.integer_register(*v).is_some());
        mentioned.sort_unstable();
        mentioned.dedup();
        let mut at = start;
        for var in mentioned {
            at = self.unknown_value(at, var, body.entry);
        }
        self.push(at, Op::Skip, map[&body.entry], None);
        let mut locals: Vec<VarId> = body.params.iter().chain(&body.locals).copied().collect();
        let mut temps: Vec<VarId> = self.temps.values().flatten().copied().collect();
        temps.sort_unstable();
        locals.extend(temps);
        self.task.program.funcs[func].body =
            Some(Body { params: Vec::new(), locals, entry: start, exit: map[&body.exit] });
        self.task.errors.sort();
    }

    /// A location that stands for one of the source.
    fn loc(&mut self, original: LocId) -> LocId {
        let like = &self.isolator.program.locs[original];
        let id = self.task.program.add_loc(like.func, like.span);
        self.task.program.locs[id].loop_stmt = like.loop_stmt;
        self.task.origin.locs.push(original);
        self.task.origin.frames_of.push(FrameId(0));
        id
    }

    /// A location inside a step that starts at one of the source.
    fn middle(&mut self, original: LocId) -> LocId {
        let id = self.loc(original);
        self.task.program.locs[id].loop_stmt = None;
        id
    }

    fn push(&mut self, from: LocId, op: Op, to: LocId, original: Option<EdgeId>) {
        let span = original.map_or(Span::NONE, |e| self.isolator.program.edges[e].span);
        self.task.program.add_edge(from, op, to, span);
        self.task.origin.edges.push(original.unwrap_or(EdgeId(0)));
    }

    /// Gives a register any value; returns where that leads.
    fn unknown_value(&mut self, from: LocId, var: VarId, original: LocId) -> LocId {
        let to = self.middle(original);
        let dst = self.task.program.var_place(var);
        self.push(from, Op::Havoc { dst, input: false }, to, None);
        to
    }

    fn edge(&mut self, id: EdgeId, src: LocId, dst: LocId) {
        let source = self.isolator.program;
        let edge = &source.edges[id];
        self.used.clear();
        let kept = |place: PlaceId| source.whole_integer(place);
        let (op, checked, changed): (Op, Option<CheckKind>, Vec<VarId>) = match edge.op {
            Op::Assign { dst, src } if kept(dst).is_some() => {
                (Op::Assign { dst, src: self.expr(src) }, None, Vec::new())
            }
            Op::Zero { dst } => match kept(dst) {
                Some((_, ty)) => {
                    let src = self.task.program.int(ty, 0);
                    (Op::Assign { dst, src }, None, Vec::new())
                }
                None => (Op::Skip, None, Vec::new()),
            },
            Op::Assume { cond } => (Op::Assume { cond: self.expr(cond) }, None, Vec::new()),
            Op::Check { kind, cond } => (Op::Assume { cond: self.expr(cond) }, Some(kind), Vec::new()),
            Op::Havoc { dst, input } if kept(dst).is_some() => (Op::Havoc { dst, input }, None, Vec::new()),
            Op::Enter { var } if source.integer_register(var).is_some() => {
                (Op::Enter { var }, None, Vec::new())
            }
            Op::Call { dst, .. } => {
                let mut changed = self.isolator.written_by(id);
                changed.extend(dst.and_then(kept).map(|(var, _)| var));
                (Op::Skip, None, changed.into_iter().collect())
            }
            Op::Return { .. } | Op::Halt { .. } => (Op::Halt { kind: HaltKind::Abort }, None, Vec::new()),
            _ => (Op::Skip, None, Vec::new()),
        };
        let mut at = src;
        for (_, temp) in std::mem::take(&mut self.used) {
            at = self.unknown_value(at, temp, edge.src);
        }
        for var in changed {
            at = self.unknown_value(at, var, edge.src);
        }
        if let (Some(kind), Op::Assume { cond }) = (checked, &op) {
            let not = ExprKind::Unary(UnOp::Not, *cond);
            let not = self.task.program.add_expr(Scalar::BOOL, not);
            let error = self.middle(edge.src);
            self.push(at, Op::Assume { cond: not }, error, Some(id));
            self.task.errors.push(ErrorLoc { loc: error, kind, check: id });
        }
        self.push(at, op, dst, Some(id));
    }

    /// The expression with unknown values for what is not kept. Lowering bounds the depth of
    /// expressions, so recursion is safe.
    fn expr(&mut self, id: ExprId) -> ExprId {
        let Expr { ty, kind } = self.task.program.exprs[id].clone();
        let int = |e: &ExprId| self.task.program.exprs[*e].ty.int().is_some();
        let new = match kind {
            ExprKind::Int(_) => return id,
            ExprKind::Load(place) if self.task.program.whole_integer(place).is_some() => return id,
            ExprKind::Unary(op, a) if int(&a) => ExprKind::Unary(op, self.expr(a)),
            ExprKind::Convert(a) if int(&a) => ExprKind::Convert(self.expr(a)),
            ExprKind::Binary(op, a, b) if int(&a) && int(&b) => {
                ExprKind::Binary(op, self.expr(a), self.expr(b))
            }
            ExprKind::Cmp(op, a, b) if int(&a) && int(&b) => ExprKind::Cmp(op, self.expr(a), self.expr(b)),
            ExprKind::Overflow(op, a, b) if int(&a) && int(&b) => {
                ExprKind::Overflow(op, self.expr(a), self.expr(b))
            }
            ExprKind::Ite(c, a, b) if int(&a) && int(&b) => {
                ExprKind::Ite(self.expr(c), self.expr(a), self.expr(b))
            }
            _ => return self.unknown(id, ty),
        };
        if new == kind { id } else { self.task.program.add_expr(ty, new) }
    }

    /// The value of a temporary in place of an integer expression.
    fn unknown(&mut self, id: ExprId, ty: Scalar) -> ExprId {
        let Scalar::Int(ty) = ty else { return id };
        let known = self.used.iter().find(|(e, _)| *e == id).map(|(_, v)| *v);
        let var = known.unwrap_or_else(|| {
            let temps = self.temps.entry(ty).or_default();
            let free = temps.iter().copied().find(|v| self.used.iter().all(|(_, u)| u != v));
            let var = free.unwrap_or_else(|| {
                let program = &mut self.task.program;
                let ty = program.types.push(Type::Int(ty));
                let var = program.vars.push(Var::made_up(".unknown", ty, VarKind::Temp(program.entry)));
                temps.push(var);
                var
            });
            self.used.push((id, var));
            var
        });
        let place = self.task.program.var_place(var);
        self.task.program.load(place)
    }
}
