//! The traits: what an analysis must say to be run by the one algorithm.

use crate::facts::{Facts, Query};
use crate::step::Step;
use palisade_base::Stop;
use palisade_cfa::{EdgeId, LocId};
use smallvec::SmallVec;
use std::fmt;
use std::hash::Hash;

/// Why a step could not be made. The exploration keeps the state it was working on, so that it can
/// go on later, and is not complete until then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The budget ran out.
    Stopped(Stop),
    /// A limit of the analysis itself (nodes of a diagram, steps of a solver), in words.
    Limit(String),
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Self {
        Halt::Stopped(stop)
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Halt::Stopped(stop) => stop.fmt(f),
            Halt::Limit(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Halt {}

/// The abstract domain D = (C, E, ⟦·⟧) of an analysis (section 3.1 of "Combining Model Checking
/// and Data-Flow Analysis"): a semi-lattice whose elements stand for sets of concrete states.
pub trait AbstractDomain {
    /// An element of the lattice.
    type State: Clone + PartialEq;

    /// The partial order ⊑. `true` implies ⟦a⟧ ⊆ ⟦b⟧.
    fn leq(&mut self, a: &Self::State, b: &Self::State) -> Result<bool, Halt>;

    /// An upper bound of both; the least one unless the analysis says otherwise.
    fn join(&mut self, a: &Self::State, b: &Self::State) -> Result<Self::State, Halt>;

    /// The state for a reader, as the paper prints it.
    fn describe(&self, state: &Self::State) -> String;
}

/// Where a function that ends goes back to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReturnSite {
    /// Nobody knows: to every call that may have called it.
    Unknown,
    /// To the destination of this call.
    Call(EdgeId),
    /// The function was not called: the program (or the analysed part of it) ends.
    Nowhere,
}

/// In which way a state is an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// The check of this edge failed.
    Check(EdgeId),
    /// A location that the property forbids.
    Location(LocId),
    /// An observer automaton is in an error state; the text is its message.
    Observer(String),
}

/// Abstract successors along one step; rarely more than one.
pub type Successors<S> = SmallVec<[S; 2]>;

/// What a merge operator may know besides the two states.
#[derive(Clone, Copy, Debug)]
pub struct MergeContext {
    /// The location of the reached state, if the analysis tracks it.
    pub location: Option<LocId>,
    /// How often the reached state was replaced by a merge so far: what widening delays count.
    pub updates: u32,
}

/// States of one partition of the reached set, seen by one component of a composite.
pub trait Section<S> {
    /// Calls `f` for every state; stops when it answers `false`.
    fn visit(&self, f: &mut dyn FnMut(&S) -> bool);
}

/// What dynamic precision adjustment gives back.
pub struct Adjusted<S, P> {
    /// The state, abstracted to the new precision; it must cover the one that was given.
    pub state: S,
    /// The new precision, if it changed.
    pub precision: Option<P>,
}

/// The termination check stop (section 3.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StopOp {
    /// stop^sep: one reached state covers the new one.
    Separate,
    /// stop^join: the join of all reached states of the partition covers the new one. Only for
    /// power-set domains, in which a join stands for the union.
    Joined,
    /// Never stops: every path is explored on its own.
    Never,
}

/// A configurable program analysis with dynamic precision adjustment: transfer relation, merge,
/// stop and prec over an [`AbstractDomain`].
///
/// Soundness contract: the successors that [`Cpa::transfer`] gives for all [`Cpa::steps`] together
/// stand for at least the concrete successors of ⟦state⟧; the result of [`Cpa::merge`] covers the
/// reached state; the result of [`Cpa::adjust`] covers the given state.
pub trait Cpa: AbstractDomain {
    /// How coarse the abstraction is. Every reached state carries one.
    type Precision: Clone + PartialEq;

    /// States with different keys neither merge nor cover each other; the reached set is
    /// partitioned by it.
    type Key: Clone + Eq + Hash;

    /// A kind of state within a partition, see [`Cpa::digest`].
    type Class: Copy + Eq + Hash;

    /// The partition a state belongs to.
    fn key(&self, state: &Self::State) -> Self::Key;

    /// The class of a state.
    fn class(&self, state: &Self::State) -> Self::Class;

    /// The state as seen through a class, as a number such that `s ⊑ t` implies
    /// `digest(s, class(t)) == digest(t, class(t))`; `None` if no state of that class can cover
    /// `s`. It makes the search for a covering state a table lookup; an analysis without such a
    /// number answers a constant.
    fn digest(&mut self, state: &Self::State, class: Self::Class) -> Option<u64>;

    /// The steps that may be possible in a state, in source order. Only a component that tracks
    /// locations answers; the others follow.
    fn steps(&mut self, _state: &Self::State, _site: ReturnSite, _out: &mut Vec<Step>) {}

    /// The abstract successors along one step. None means that the step is impossible.
    fn transfer(
        &mut self,
        state: &Self::State,
        precision: &Self::Precision,
        step: &Step,
        out: &mut Successors<Self::State>,
    ) -> Result<(), Halt>;

    /// The strengthening operator ↓ (section 3.6): a state below the given one that uses what the
    /// other components of the composite know about the same successor. `None` if together they
    /// stand for no concrete state.
    fn strengthen(
        &mut self,
        state: Self::State,
        _precision: &Self::Precision,
        _step: &Step,
        _others: &mut dyn Facts,
    ) -> Result<Option<Self::State>, Halt> {
        Ok(Some(state))
    }

    /// The compare relation ≼ (section 3.6): whether what the other components of a composite know
    /// already implies this state. `true` implies that all their concrete states are in ⟦state⟧.
    fn compare(&mut self, _state: &Self::State, _others: &mut dyn Facts) -> Result<bool, Halt> {
        Ok(false)
    }

    /// Whether [`Cpa::merge`] may ever change a state. A `false` spares the search for partners.
    fn merges(&self) -> bool {
        false
    }

    /// The merge operator: weakens the reached state with the new one; `None` if it stays as it
    /// is (merge^sep).
    fn merge(
        &mut self,
        _new: &Self::State,
        _reached: &Self::State,
        _cx: &MergeContext,
    ) -> Result<Option<Self::State>, Halt> {
        Ok(None)
    }

    /// The termination check.
    fn stop_op(&self) -> StopOp {
        StopOp::Separate
    }

    /// Whether [`Cpa::adjust`] may ever change anything.
    fn adjusts(&self) -> bool {
        false
    }

    /// Dynamic precision adjustment (prec): may weaken a new state and change its precision,
    /// looking at the reached states of its partition.
    fn adjust(
        &mut self,
        state: Self::State,
        _precision: &Self::Precision,
        _reached: &dyn Section<Self::State>,
    ) -> Result<Adjusted<Self::State, Self::Precision>, Halt> {
        Ok(Adjusted { state, precision: None })
    }

    /// A state between `lower` and `upper` (`lower ⊑ upper`) such that descending chains end.
    fn narrow(&mut self, upper: &Self::State, _lower: &Self::State) -> Result<Self::State, Halt> {
        Ok(upper.clone())
    }

    /// The location, for components that track it.
    fn location(&self, _state: &Self::State) -> Option<LocId> {
        None
    }

    /// Where the current function returns to, for components that track calls.
    fn return_site(&self, _state: &Self::State) -> ReturnSite {
        ReturnSite::Unknown
    }

    /// The number of calls that have not returned, for components that track calls.
    fn call_depth(&self, _state: &Self::State) -> u32 {
        0
    }

    /// Whether the state is an error.
    fn target(&self, _state: &Self::State) -> Option<Target> {
        None
    }

    /// Answers what another component asks about a state; see [`Query`].
    fn answer(&mut self, _state: &Self::State, _query: &mut Query<'_>) -> Result<(), Halt> {
        Ok(())
    }
}
