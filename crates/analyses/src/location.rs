//! The location analysis (section 4.1): where control is, and which steps there are.

use palisade_base::IdxVec;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::{EdgeId, FuncId, Graph, LocId, Op, Program};
use palisade_cpa::*;
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};

/// The program counter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Position {
    /// At a location.
    At(LocId),
    /// The check of this edge failed.
    Failed(EdgeId),
    /// Not known (⊤).
    Anywhere,
}

/// How calls of functions with a body are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Calls {
    /// Into the body and back out of it.
    Follow,
    /// As one step with unknown effects on everything the callee could change.
    StepOver,
}

/// The location analysis.
pub struct Location<'p> {
    program: &'p Program,
    forward: bool,
    calls: Calls,
    /// For each call edge, the functions with a body it may enter and whether it may reach others.
    targets: IdxVec<EdgeId, Option<(Vec<FuncId>, bool)>>,
    /// For each function with a body, the calls that may enter it.
    callers: IdxVec<FuncId, Vec<EdgeId>>,
    errors: Vec<LocId>,
    /// The blocks that begin at a cut point, where steps are blocks.
    blocks: Option<FxHashMap<LocId, Vec<Step>>>,
}

impl<'p> Location<'p> {
    /// Follows edges forward; `errors` are the locations that must not be reached, in addition to
    /// failing checks.
    pub fn new(program: &'p Program, calls: Calls, errors: &[LocId]) -> Self {
        let graph = CallGraph::new(program);
        let mut callers = IdxVec::filled(Vec::new(), program.funcs.len());
        let mut targets = IdxVec::filled(None, program.edges.len());
        for (id, edge) in program.edges.iter_enumerated() {
            if matches!(edge.op, Op::Call { .. }) {
                let all = graph.targets(program, id);
                let bodies: Vec<FuncId> =
                    all.iter().copied().filter(|&f| program.funcs[f].body.is_some()).collect();
                bodies.iter().for_each(|&f| callers[f].push(id));
                let others = bodies.len() < all.len() || all.is_empty();
                targets[id] = Some((bodies, others));
            }
        }
        Location { program, forward: true, calls, targets, callers, errors: errors.to_vec(), blocks: None }
    }

    /// The locations of a task by large blocks: the program's start, loop heads, and what must not be reached;
    /// a step takes all loop-free paths from one to the next.
    pub fn of_blocks(task: &'p Task, graph: &Graph) -> Self {
        let program = &task.program;
        let mut errors: Vec<LocId> = task.errors.iter().map(|e| e.loc).collect();
        errors.extend(&task.cuts);
        let mut blocks = FxHashMap::default();
        let mut open = vec![task.body().entry];
        while let Some(start) = open.pop() {
            if blocks.contains_key(&start) {
                continue;
            }
            let mut ends = Vec::new();
            let mut seen = FxHashSet::default();
            // A block leaves its start even if that is a loop head.
            let mut work = if task.is_end(start) { Vec::new() } else { vec![start] };
            while let Some(loc) = work.pop() {
                for (_, edge) in program.out_edges(loc) {
                    if !seen.insert(edge.dst) {
                    } else if graph.is_loop_head(edge.dst) || task.is_end(edge.dst) {
                        ends.push(edge.dst);
                    } else {
                        work.push(edge.dst);
                    }
                }
            }
            // Errors first: they end a search.
            ends.sort_unstable_by_key(|&end| (!task.is_end(end), end));
            open.extend(ends.iter().filter(|&&end| !task.is_end(end)));
            let first = program.locs[start].out.first();
            let step = |to| first.map(|&edge| Step { edge, kind: StepKind::Block(to) });
            blocks.insert(start, ends.into_iter().filter_map(step).collect());
        }
        Location { blocks: Some(blocks), ..Location::new(program, Calls::StepOver, &errors) }
    }

    /// Follows edges backward inside functions, taking calls as one step.
    pub fn backward(program: &'p Program) -> Self {
        Location { forward: false, ..Location::new(program, Calls::StepOver, &[]) }
    }

    /// Where the program starts.
    pub fn initial(&self) -> Position {
        Position::At(self.program.body(self.program.entry).entry)
    }

    fn push_steps(&self, id: EdgeId, out: &mut Vec<Step>) {
        match &self.program.edges[id].op {
            Op::Check { .. } if self.forward => {
                out.push(Step::local(id));
                out.push(Step { edge: id, kind: StepKind::Fail });
            }
            Op::Call { .. } if self.calls == Calls::Follow => {
                if let Some((bodies, others)) = &self.targets[id] {
                    out.extend(bodies.iter().map(|&f| Step { edge: id, kind: StepKind::Enter(f) }));
                    if *others {
                        out.push(Step::local(id));
                    }
                }
            }
            _ => out.push(Step::local(id)),
        }
    }

    fn push_returns(&self, func: FuncId, site: ReturnSite, out: &mut Vec<Step>) {
        let kind = StepKind::Leave(func);
        match site {
            ReturnSite::Nowhere => {}
            ReturnSite::Call(edge) => out.push(Step { edge, kind }),
            ReturnSite::Unknown => out.extend(self.callers[func].iter().map(|&edge| Step { edge, kind })),
        }
    }
}

impl AbstractDomain for Location<'_> {
    type State = Position;

    fn leq(&mut self, a: &Position, b: &Position) -> Result<bool, Halt> {
        Ok(a == b || *b == Position::Anywhere)
    }
    fn join(&mut self, a: &Position, b: &Position) -> Result<Position, Halt> {
        Ok(if a == b { *a } else { Position::Anywhere })
    }
    fn describe(&self, state: &Position) -> String {
        match state {
            Position::At(loc) => loc.to_string(),
            Position::Failed(edge) => format!("failed {edge}"),
            Position::Anywhere => "⊤".into(),
        }
    }
}

impl Cpa for Location<'_> {
    type Precision = ();
    type Key = Position;
    type Class = ();

    fn key(&self, state: &Position) -> Position {
        *state
    }
    fn class(&self, _: &Position) {}
    fn digest(&mut self, _: &Position, (): ()) -> Option<u64> {
        Some(0)
    }

    fn steps(&mut self, state: &Position, site: ReturnSite, out: &mut Vec<Step>) {
        match *state {
            Position::At(loc) if self.blocks.is_some() => {
                let blocks = self.blocks.iter().filter_map(|blocks| blocks.get(&loc));
                out.extend(blocks.flatten());
            }
            Position::At(loc) if self.forward => {
                let here = &self.program.locs[loc];
                here.out.iter().for_each(|&e| self.push_steps(e, out));
                if self.calls == Calls::Follow
                    && self.program.funcs[here.func].body.as_ref().is_some_and(|b| b.exit == loc)
                {
                    self.push_returns(here.func, site, out);
                }
            }
            Position::At(loc) => {
                self.program.locs[loc].inc.iter().for_each(|&e| self.push_steps(e, out));
            }
            Position::Failed(_) => {}
            Position::Anywhere => self.program.edges.ids().for_each(|e| self.push_steps(e, out)),
        }
    }

    fn transfer(
        &mut self,
        state: &Position,
        (): &(),
        step: &Step,
        out: &mut Successors<Position>,
    ) -> Result<(), Halt> {
        let edge = &self.program.edges[step.edge];
        let body = |f| self.program.body(f);
        let (from, to) = match step.kind {
            StepKind::Local if self.forward => (edge.src, Position::At(edge.dst)),
            StepKind::Local => (edge.dst, Position::At(edge.src)),
            StepKind::Fail => (edge.src, Position::Failed(step.edge)),
            StepKind::Enter(f) => (edge.src, Position::At(body(f).entry)),
            StepKind::Leave(f) => (body(f).exit, Position::At(edge.dst)),
            StepKind::Block(to) => (edge.src, Position::At(to)),
        };
        if *state == Position::Anywhere {
            out.push(Position::Anywhere);
        } else if *state == Position::At(from) {
            out.push(to);
        }
        Ok(())
    }

    fn location(&self, state: &Position) -> Option<LocId> {
        match *state {
            Position::At(loc) => Some(loc),
            Position::Failed(edge) => Some(self.program.edges[edge].src),
            Position::Anywhere => None,
        }
    }

    fn target(&self, state: &Position) -> Option<Target> {
        match *state {
            Position::Failed(edge) => Some(Target::Check(edge)),
            Position::At(loc) if !self.errors.is_empty() && self.errors.contains(&loc) => {
                Some(Target::Location(loc))
            }
            _ => None,
        }
    }

    fn answer(&mut self, state: &Position, query: &mut Query<'_>) -> Result<(), Halt> {
        if let Query::Location(answer) = query {
            **answer = self.location(state);
        }
        Ok(())
    }
}
