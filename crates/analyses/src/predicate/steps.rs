//! The formulas of steps: of an edge, or of a block of all loop-free paths between two locations (large-block
//! encoding).

use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_cpa::{Step, StepKind};
use palisade_encode::segment::{self, End};
use palisade_encode::{Encoder, State};
use palisade_logic::Terms;
use palisade_task::Task;

/// Follows steps.
#[derive(Clone)]
pub struct Steps<'p> {
    program: &'p Program,
    /// What blocks are made of.
    blocks: Option<(&'p Task, &'p Graph)>,
    budget: Budget,
}

impl<'p> Steps<'p> {
    /// Steps along edges.
    pub fn of_edges(program: &'p Program, budget: &Budget) -> Self {
        Steps { program, blocks: None, budget: budget.clone() }
    }

    /// Steps over the blocks of a task, as [`Location::of_blocks`](crate::location::Location::of_blocks) has them.
    pub fn of_blocks(task: &'p Task, graph: &'p Graph, budget: &Budget) -> Self {
        Steps { program: &task.program, blocks: Some((task, graph)), budget: budget.clone() }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// What stops long formulas.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Where a step leads to.
    pub fn end(&self, step: &Step) -> LocId {
        match step.kind {
            StepKind::Enter(f) => self.program.body(f).entry,
            StepKind::Block(to) => to,
            _ => self.program.edges[step.edge].dst,
        }
    }

    /// Whether all runs are in an initial state of the program at a location: nothing but the start leads there.
    pub fn is_start(&self, loc: LocId) -> bool {
        let entry = self.program.body(self.program.entry).entry;
        self.blocks.is_some_and(|(_, graph)| loc == entry && !graph.is_loop_head(loc))
    }

    /// The states after the blocks that begin at a location.
    pub fn blocks(
        &self,
        encoder: &mut Encoder<'_>,
        terms: &mut Terms,
        start: LocId,
        state: State,
    ) -> Result<Vec<End>, Stop> {
        let Some((task, graph)) = self.blocks else { return Ok(Vec::new()) };
        segment::run(task, graph, encoder, terms, start, state, &self.budget)
    }

    /// The states after a step; `None` if it is impossible.
    pub fn after(
        &self,
        encoder: &mut Encoder<'_>,
        terms: &mut Terms,
        before: &State,
        step: &Step,
    ) -> Result<Option<State>, Stop> {
        let edge = &self.program.edges[step.edge];
        Ok(match (step.kind, &edge.op) {
            (StepKind::Block(to), _) => {
                let ends = self.blocks(encoder, terms, edge.src, before.clone())?;
                ends.into_iter().find(|end| end.loc == to).map(|end| end.state)
            }
            (kind, Op::Check { cond, .. }) => {
                let mut after = before.clone();
                let cond = encoder.cond(terms, before, *cond);
                let cond = if kind == StepKind::Fail { terms.not(cond) } else { cond };
                after.assume(terms, cond).then_some(after)
            }
            (StepKind::Enter(_) | StepKind::Leave(_), _) => Some(encoder.arbitrary_state(terms)),
            _ => encoder.step(terms, before, step.edge),
        })
    }
}
