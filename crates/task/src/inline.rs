//! Inlining: every call of a function with a body is replaced by a copy of the body.
//!
//! Two activations of a function that is not recursive never overlap, so their copies share the
//! function's variables, expressions and places; only locations and edges are copied. An
//! activation below another one of the same function gets variables of its own.

use crate::rewrite::Rewriter;
use crate::{ErrorLoc, Frame, FrameId, Origin, Task, TooLarge};
use palisade_base::{Idx, IdxVec, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A function body still to be copied.
struct Pending {
    frame: FrameId,
    func: FuncId,
    entry: LocId,
    /// Where a return leads, and where its value goes; `None` in the entry function.
    ret: Option<(LocId, Option<PlaceId>)>,
    renaming: Rewriter,
    /// For each edge that makes an object which dies on return: the variable that remembers it.
    stacked: Vec<(EdgeId, VarId)>,
}

/// Inlines all calls. Recursive calls are followed until `recursion` further activations of the
/// same function are active; there a cut is left.
pub fn inline(source: &Arc<Program>, recursion: usize, max_edges: usize) -> Result<Task, TooLarge> {
    let mut program = Program::clone(source);
    program.locs = IdxVec::new();
    program.edges = IdxVec::new();
    for func in program.funcs.iter_mut() {
        func.body = None;
    }
    let mut inliner = Inliner {
        source,
        out: Task {
            source: source.clone(),
            program,
            errors: Vec::new(),
            cuts: Vec::new(),
            recursion,
            recursion_cut: false,
            outlined: false,
            unfollowed: false,
            origin: Origin::default(),
        },
        recursion,
        calls: CallGraph::new(source),
        pending: Vec::new(),
        locals: Vec::new(),
        seen_locals: vec![false; source.funcs.len()],
        stacks: Stacks::of(source),
    };
    inliner.run(max_edges)?;
    inliner.out.errors.sort();
    inliner.out.cuts.sort_unstable();
    Ok(inliner.out)
}

struct Inliner<'a> {
    source: &'a Program,
    out: Task,
    recursion: usize,
    calls: CallGraph,
    pending: Vec<Pending>,
    locals: Vec<VarId>,
    seen_locals: Vec<bool>,
    stacks: FxHashMap<FuncId, Stacks>,
}

/// What a function makes that lives until it returns. An array of variable length is not among it: its
/// block ends its life.
#[derive(Default)]
struct Stacks {
    /// The edges that make an object.
    made: Vec<EdgeId>,
    /// Whether there is no end to them: nobody remembers all objects that a loop makes.
    looping: bool,
}

impl Stacks {
    /// By function; of none where it does not matter when objects die.
    fn of(source: &Program) -> FxHashMap<FuncId, Stacks> {
        use CheckKind::{Bounds, Deref, Free, MemCleanup, MemTrack};
        let matters = |edge: &Edge| {
            matches!(edge.op, Op::Check { kind: Deref | Bounds | Free | MemTrack | MemCleanup, .. })
        };
        let mut found: FxHashMap<FuncId, Stacks> = FxHashMap::default();
        if !source.edges.iter().any(matters) {
            return found;
        }
        let variable = |place: PlaceId| match &source.places[place] {
            Place { base: Base::Var(var), path, .. } if path.is_empty() => Some(*var),
            _ => None,
        };
        let freed = |edge: &Edge| match edge.op {
            Op::Free { ptr } => match source.exprs[ptr].kind {
                ExprKind::Load(place) => variable(place),
                _ => None,
            },
            _ => None,
        };
        let freed: FxHashSet<VarId> = source.edges.iter().filter_map(freed).collect();
        for (id, edge) in source.edges.iter_enumerated() {
            if let Op::Alloc { dst, kind: AllocKind::Stack, .. } = edge.op
                && variable(dst).is_none_or(|var| !freed.contains(&var))
            {
                let stacks = found.entry(source.locs[edge.src].func).or_default();
                stacks.made.push(id);
                stacks.looping |= leads_back(source, edge);
            }
        }
        found
    }
}

/// Whether an edge lies on a cycle.
fn leads_back(source: &Program, edge: &Edge) -> bool {
    let mut seen = FxHashSet::default();
    let mut pending = vec![edge.dst];
    while let Some(loc) = pending.pop() {
        if loc == edge.src {
            return true;
        }
        if seen.insert(loc) {
            pending.extend(source.locs[loc].out.iter().map(|&e| source.edges[e].dst));
        }
    }
    false
}

impl Inliner<'_> {
    fn run(&mut self, max_edges: usize) -> Result<(), TooLarge> {
        let func = self.source.entry;
        let body = self.source.body(func);
        let frame = self.out.origin.frames.push(Frame { func, caller: None });
        let entry = self.loc(frame, body.entry);
        let exit = self.loc(frame, body.exit);
        self.note_locals(func);
        self.pending.push(Pending {
            frame,
            func,
            entry,
            ret: None,
            renaming: Rewriter::default(),
            stacked: Vec::new(),
        });
        while let Some(next) = self.pending.pop() {
            self.copy_body(next, exit);
            if self.out.program.edges.len() > max_edges {
                return Err(TooLarge);
            }
        }
        let locals = std::mem::take(&mut self.locals);
        self.out.program.funcs[func].body = Some(Body { params: Vec::new(), locals, entry, exit });
        Ok(())
    }

    fn note_locals(&mut self, func: FuncId) {
        if !std::mem::replace(&mut self.seen_locals[func.index()], true) {
            let body = self.source.body(func);
            self.locals.extend(body.params.iter().chain(&body.locals));
        }
    }

    /// A new location of the output that stands for `original` in `frame`.
    fn loc(&mut self, frame: FrameId, original: LocId) -> LocId {
        let id = self.out.program.add_loc(self.source.entry, self.source.locs[original].span);
        self.out.program.locs[id].loop_stmt = self.source.locs[original].loop_stmt;
        self.out.program.locs[id].label = self.source.locs[original].label.clone();
        self.out.origin.frames_of.push(frame);
        self.out.origin.locs.push(original);
        id
    }

    /// A new location inside the step of an original edge.
    fn middle(&mut self, frame: FrameId, original: EdgeId) -> LocId {
        let id = self.loc(frame, self.source.edges[original].src);
        self.out.program.locs[id].span = self.source.edges[original].span;
        self.out.program.locs[id].loop_stmt = None;
        self.out.program.locs[id].label = None;
        id
    }

    fn edge(&mut self, src: LocId, op: Op, dst: LocId, original: EdgeId) {
        self.out.program.add_edge(src, op, dst, self.source.edges[original].span);
        self.out.origin.edges.push(original);
    }

    fn copy_body(&mut self, mut this: Pending, program_exit: LocId) {
        let body = self.source.body(this.func);
        let mut map: FxHashMap<LocId, LocId> = FxHashMap::default();
        map.insert(body.entry, this.entry);
        map.insert(body.exit, this.ret.map_or(program_exit, |(site, _)| site));
        let mut todo = vec![body.entry];
        while let Some(loc) = todo.pop() {
            let src = map[&loc];
            for &id in &self.source.locs[loc].out {
                let edge = &self.source.edges[id];
                let dst = *map.entry(edge.dst).or_insert_with(|| {
                    todo.push(edge.dst);
                    self.loc(this.frame, edge.dst)
                });
                self.copy_edge(&mut this, id, src, dst);
            }
        }
    }

    fn copy_edge(&mut self, this: &mut Pending, id: EdgeId, src: LocId, dst: LocId) {
        let op = this.renaming.op(&mut self.out.program, &self.source.edges[id].op);
        match op {
            Op::Check { kind, cond } => self.check(this.frame, id, src, kind, cond, dst),
            Op::Call { callee: Callee::Direct(func), .. } if self.is_unmodelled(func) => {
                self.cut(this.frame, id, src);
            }
            Op::Return { value } => self.ret(this, id, src, value, dst),
            Op::Call { dst: result, callee: Callee::Direct(func), args }
                if self.source.funcs[func].body.is_some() =>
            {
                self.call(this.frame, id, src, func, &args, result, dst);
            }
            Op::Call { dst: result, callee: Callee::Indirect(pointer), args } => {
                self.indirect_call(this.frame, id, src, pointer, &args, result, dst);
            }
            Op::Alloc { dst: place, size, kind, zeroed } => {
                let Some(&(_, object)) = this.stacked.iter().find(|(made, _)| *made == id) else {
                    return self.edge(src, Op::Alloc { dst: place, size, kind, zeroed }, dst, id);
                };
                let remembered = self.out.program.var_place(object);
                let op = Op::Alloc { dst: remembered, size, kind, zeroed };
                let at = self.then(this.frame, id, src, op);
                let value = self.out.program.add_expr(Scalar::Ptr, ExprKind::Load(remembered));
                self.edge(at, Op::Assign { dst: place, src: value }, dst, id);
            }
            op => self.edge(src, op, dst, id),
        }
    }

    /// A check becomes a branch to an error location.
    fn check(&mut self, frame: FrameId, id: EdgeId, src: LocId, kind: CheckKind, cond: ExprId, dst: LocId) {
        let known = match self.out.program.exprs[cond].kind {
            ExprKind::Int(bit) => Some(bit == 1),
            _ => None,
        };
        if known != Some(false) {
            let op = if known == Some(true) { Op::Skip } else { Op::Assume { cond } };
            self.edge(src, op, dst, id);
        }
        if known != Some(true) {
            let error = self.middle(frame, id);
            let op = if known == Some(false) {
                Op::Skip
            } else {
                let cond = self.out.program.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, cond));
                Op::Assume { cond }
            };
            self.edge(src, op, error, id);
            self.out.errors.push(ErrorLoc { loc: error, kind, check: id });
        }
    }

    fn ret(&mut self, this: &mut Pending, id: EdgeId, src: LocId, value: Option<Arg>, dst: LocId) {
        let Some((_, result)) = this.ret else {
            return self.edge(src, Op::Return { value }, dst, id);
        };
        let mut at = src;
        if let (Some(place), Some(value)) = (result, value) {
            let op = self.assign(place, value);
            at = self.then(this.frame, id, at, op);
        }
        let body = self.source.body(this.func);
        for &var in body.params.iter().chain(&body.locals) {
            let var = this.renaming.var(var);
            if self.out.program.vars[var].address_taken {
                at = self.then(this.frame, id, at, Op::Leave { var });
            }
        }
        if self.stacks.get(&this.func).is_some_and(|stacks| stacks.looping) {
            return self.cut(this.frame, id, at);
        }
        for &(_, object) in &this.stacked {
            let place = self.out.program.var_place(object);
            let ptr = self.out.program.add_expr(Scalar::Ptr, ExprKind::Load(place));
            at = self.then(this.frame, id, at, Op::Free { ptr });
        }
        self.edge(at, Op::Skip, dst, id);
    }

    /// One more step inside the original edge; returns where it leads.
    fn then(&mut self, frame: FrameId, id: EdgeId, at: LocId, op: Op) -> LocId {
        let next = self.middle(frame, id);
        self.edge(at, op, next, id);
        next
    }

    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        frame: FrameId,
        id: EdgeId,
        src: LocId,
        func: FuncId,
        args: &[Arg],
        result: Option<PlaceId>,
        dst: LocId,
    ) {
        let active = self.activations(frame, func);
        if active > self.recursion {
            self.out.recursion_cut = true;
            return self.cut(frame, id, src);
        }
        self.note_locals(func);
        let body = self.source.body(func);
        let mut renaming = Rewriter::default();
        if active > 0 {
            for &var in body.params.iter().chain(&body.locals) {
                let copy = self.out.program.vars[var].clone();
                let fresh = self.out.program.vars.push(copy);
                self.locals.push(fresh);
                renaming.vars.insert(var, fresh);
            }
        }
        let mut at = src;
        let params: Vec<VarId> = body.params.iter().map(|&p| renaming.var(p)).collect();
        for (i, &param) in params.iter().enumerate() {
            if self.out.program.vars[param].address_taken || i >= args.len() {
                at = self.then(frame, id, at, Op::Enter { var: param });
            }
            if let Some(&value) = args.get(i) {
                let place = self.out.program.var_place(param);
                let op = self.assign(place, value);
                at = self.then(frame, id, at, op);
            }
        }
        let made = self.stacks.get(&func).filter(|s| !s.looping).map_or(Vec::new(), |s| s.made.clone());
        let mut stacked = Vec::new();
        for made in made {
            let Op::Alloc { dst, .. } = self.source.edges[made].op else { continue };
            let object = self.out.program.vars.push(Var {
                name: ".stacked".into(),
                ty: self.source.places[dst].ty,
                kind: VarKind::Temp(self.source.entry),
                address_taken: false,
                init: Init::Unknown,
                read_only: false,
                span: Span::NONE,
                scope: Span::NONE,
            });
            self.locals.push(object);
            let place = self.out.program.var_place(object);
            let none = self.out.program.add_expr(Scalar::Ptr, ExprKind::Int(0));
            at = self.then(frame, id, at, Op::Assign { dst: place, src: none });
            stacked.push((made, object));
        }
        let callee = self.out.origin.frames.push(Frame { func, caller: Some((frame, id)) });
        let entry = self.loc(callee, body.entry);
        self.edge(at, Op::Skip, entry, id);
        self.pending.push(Pending {
            frame: callee,
            func,
            entry,
            ret: Some((dst, result)),
            renaming,
            stacked,
        });
    }

    fn is_unmodelled(&self, func: FuncId) -> bool {
        let func = &self.source.funcs[func];
        func.body.is_none() && func.effect.stops_proofs()
    }

    /// The call is not followed.
    fn cut(&mut self, frame: FrameId, id: EdgeId, src: LocId) {
        let cut = self.middle(frame, id);
        self.edge(src, Op::Skip, cut, id);
        self.out.cuts.push(cut);
    }

    fn activations(&self, mut frame: FrameId, func: FuncId) -> usize {
        let mut n = 0;
        loop {
            let f = &self.out.origin.frames[frame];
            n += usize::from(f.func == func);
            match f.caller {
                Some((caller, _)) => frame = caller,
                None => return n,
            }
        }
    }

    /// A branch for every function the pointer may hold. A pointer to none of them behaves like an
    /// external function: any result, no effect.
    #[allow(clippy::too_many_arguments)]
    fn indirect_call(
        &mut self,
        frame: FrameId,
        id: EdgeId,
        src: LocId,
        pointer: ExprId,
        args: &[Arg],
        result: Option<PlaceId>,
        dst: LocId,
    ) {
        let mut at = src;
        for func in self.calls.targets(self.source, id) {
            let p = &mut self.out.program;
            let target = p.add_expr(Scalar::Ptr, ExprKind::Func(func));
            let is = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, pointer, target));
            let is_not = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, pointer, target));
            let taken = self.then(frame, id, at, Op::Assume { cond: is });
            if self.is_unmodelled(func) {
                self.cut(frame, id, taken);
            } else if self.source.funcs[func].body.is_some() {
                self.call(frame, id, taken, func, args, result, dst);
            } else {
                let op = Op::Call { dst: result, callee: Callee::Direct(func), args: args.into() };
                self.edge(taken, op, dst, id);
            }
            at = self.then(frame, id, at, Op::Assume { cond: is_not });
        }
        let op = result.map_or(Op::Skip, |dst| Op::Havoc { dst, input: false });
        self.edge(at, op, dst, id);
    }

    /// Passes a value. A call through a pointer may pass a scalar as another one of the same size.
    fn assign(&mut self, dst: PlaceId, value: Arg) -> Op {
        let program = &mut self.out.program;
        match value {
            Arg::Scalar(src) => match program.place_scalar(dst) {
                Some(want) if want != program.exprs[src].ty => {
                    Op::Assign { dst, src: program.add_expr(want, ExprKind::Convert(src)) }
                }
                _ => Op::Assign { dst, src },
            },
            Arg::Aggregate(src) => Op::Copy { dst, src },
        }
    }
}
