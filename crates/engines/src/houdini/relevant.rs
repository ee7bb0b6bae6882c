//! What is worth believing at a loop head: facts about variables that are still read from there on,
//! and about those that no loop changes. What is said about the counters and pointers of loops that
//! are over stays true for ever, and would only burden every query.

use super::refine::Candidate;
use palisade_analyses::live::{AtEnd, Liveness};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use rustc_hash::FxHashSet;

/// Which variables matter at loop heads.
pub struct Relevance<'p> {
    program: &'p Program,
    live: Liveness<'p>,
    /// Variables that a loop writes.
    changing: FxHashSet<VarId>,
}

impl<'p> Relevance<'p> {
    /// Looks at a program without calls and its loop heads.
    pub fn new(
        program: &'p Program,
        graph: &wto::Graph,
        heads: &[LocId],
        budget: &Budget,
    ) -> Result<Self, Halt> {
        let live = Liveness::with(program, AtEnd::Nothing, budget)?;
        let looping: FxHashSet<LocId> =
            heads.iter().flat_map(|&h| graph.loop_body(program, h).iter().copied()).collect();
        let mut changing = FxHashSet::default();
        for edge in program.edges.iter().filter(|edge| looping.contains(&edge.src)) {
            program.visit_op(&edge.op, &mut |used| {
                if let Use::Write(place) = used
                    && let Base::Var(var) = program.places[place].base
                {
                    changing.insert(var);
                }
            });
        }
        Ok(Relevance { program, live, changing })
    }

    /// Whether a candidate speaks only about what matters at a loop head: what no loop changes (a
    /// length, the start of an object, a ghost), or what is live there.
    pub fn matters(&self, candidate: &Candidate, head: LocId) -> bool {
        let mut matters = true;
        let program = self.program;
        program.visit_op(&Op::Assume { cond: candidate.expr }, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = program.places[place].base
                && program.register(var).is_some()
            {
                matters &= !self.changing.contains(&var) || self.live.is_live(head, var);
            }
        });
        matters
    }
}
