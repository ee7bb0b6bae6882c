//! Counterexample-guided abstraction refinement (section 6.2): the loop over the precision. How a
//! spurious error path becomes a better precision is a [`Refiner`]'s business.

use crate::algorithm::{Exploration, Limits, Status};
use crate::cpa::{Cpa, Halt};
use crate::reached::NodeId;
use palisade_base::Budget;

/// What a refiner found out about an abstract error path.
pub enum Refinement<S, P> {
    /// The path is one of the program.
    Feasible,
    /// The path is spurious. The subtree from `from` on (a node of the path) is explored again with
    /// the precision; a root starts all over.
    Spurious {
        /// The first node whose abstraction was too coarse.
        from: NodeId,
        /// The precision for what is explored again.
        precision: P,
    },
    /// The path is spurious, and everything is explored again from these initial states with their precisions.
    Again(Vec<(S, P)>),
    /// The path is spurious or not known to be feasible, and the refiner has no better precision.
    Stuck(String),
}

/// Turns spurious error paths into precisions.
pub trait Refiner<C: Cpa> {
    /// Looks at the path to an error node.
    fn refine(
        &mut self,
        exploration: &mut Exploration<C>,
        target: NodeId,
        budget: &Budget,
    ) -> Result<Refinement<C::State, C::Precision>, Halt>;
}

/// How the loop ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The fixed point has no error: the reached set is a proof.
    Safe,
    /// The path to this node is one of the program.
    Unsafe(NodeId),
    /// Neither, and why.
    Unknown(Halt),
}

/// Explores and refines until there is no error path left or one is feasible.
pub fn cegar<C: Cpa>(
    exploration: &mut Exploration<C>,
    refiner: &mut dyn Refiner<C>,
    budget: &Budget,
    limits: Limits,
) -> Verdict {
    let limits = Limits { first_target: true, ..limits };
    loop {
        let target = match exploration.run(budget, limits) {
            // Errors that an earlier run left behind are still to be looked at.
            Status::Complete => match exploration.targets().first() {
                Some(&target) => target,
                None => return Verdict::Safe,
            },
            Status::TargetReached(target) => target,
            Status::Stopped(halt) => return Verdict::Unknown(halt),
        };
        match refiner.refine(exploration, target, budget) {
            Ok(Refinement::Feasible) => return Verdict::Unsafe(target),
            Ok(Refinement::Spurious { from, precision }) => exploration.remove_subtree(from, precision),
            Ok(Refinement::Again(initial)) => exploration.restart(initial),
            Ok(Refinement::Stuck(why)) => return Verdict::Unknown(Halt::Limit(why)),
            Err(halt) => return Verdict::Unknown(halt),
        }
    }
}
