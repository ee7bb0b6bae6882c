//! The combined domains as a component of the CPA algorithm.

use super::abstraction::Abstraction;
use super::replay::History;
use palisade_cfa::{EdgeId, LocId};
use palisade_cpa::*;
use palisade_dd::{Node, OutOfBudget, Outcome};
use palisade_numpred::{NumPredDom, Value};

/// Joins at a loop head before widening starts there.
const DELAY: u32 = 3;

/// What the time of a run goes into: the columns of Table 4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operation {
    /// γ: invariants as formulas.
    Gamma,
    /// Joins and widenings.
    Join,
    /// Making the abstract transformers of steps.
    Post,
    /// Applying them to values.
    Apply,
}

/// Something that happens in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// A round of this number begins, with this many numeric variables and predicates.
    Round(usize, usize, usize),
    /// An operation begins.
    Begin(Operation),
    /// It ends.
    End(Operation),
}

/// Is told what happens in a run; measurements have clocks, engines have none.
pub type Observer<'o> = &'o dyn Fn(Event);

/// Tells an observer about an operation.
pub fn observed<T>(observer: Observer<'_>, operation: Operation, f: impl FnOnce() -> T) -> T {
    observer(Event::Begin(operation));
    let result = f();
    observer(Event::End(operation));
    result
}

/// What is joined where paths meet, and widened at loop heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joins {
    /// Values.
    All,
    /// Numbers: states with different predicates are kept apart, so that the way to each of them is one that
    /// the predicates allow.
    Numbers,
    /// Nothing: one state for each path.
    Nothing,
}

/// An abstract state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// The value.
    pub value: Value,
    /// What it is kept apart from others by; true for all if they are not kept apart.
    part: Node,
}

/// Values of one of the combined domains, moved by the abstract transformers of a program.
pub struct Combined<'p, 'o> {
    /// The domain.
    pub dom: Box<dyn NumPredDom>,
    /// α^τ.
    pub abstraction: Abstraction<'p>,
    /// The loop heads, by location.
    heads: Vec<bool>,
    /// What is joined where paths meet.
    pub joins: Joins,
    /// The steps taken while values are joined.
    pub history: History,
    observer: Observer<'o>,
}

/// What does not fit into the limits of the diagrams ends an exploration.
pub fn halt<T>(result: Outcome<T>) -> Result<T, Halt> {
    result.map_err(|why| match why {
        OutOfBudget::Stopped(stop) => Halt::Stopped(stop),
        OutOfBudget::Nodes | OutOfBudget::Work => Halt::Limit(why.to_string()),
    })
}

impl<'p, 'o> Combined<'p, 'o> {
    /// A component; `heads` are the loop heads.
    pub fn new(
        dom: Box<dyn NumPredDom>,
        abstraction: Abstraction<'p>,
        heads: Vec<bool>,
        observer: Observer<'o>,
    ) -> Self {
        Combined { dom, abstraction, heads, joins: Joins::All, history: History::default(), observer }
    }

    /// The state that a program starts in. It is not taken apart: it is no part of another.
    pub fn initial(&mut self) -> Result<State, Halt> {
        let start = self.abstraction.initial()?;
        Ok(State { value: halt(self.dom.alpha(&start))?, part: Node::TRUE })
    }

    /// Whether the abstraction allows a path.
    pub fn allows(&mut self, path: &[EdgeId]) -> Result<bool, Halt> {
        let mut value = self.initial()?.value;
        for &edge in path {
            let tau = self.abstraction.transformer(&Step::local(edge))?;
            value = halt(self.dom.post(&tau, &value))?;
            if self.dom.is_bot(&value) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a location is a loop head.
    pub fn is_head(&self, loc: Option<LocId>) -> bool {
        loc.is_some_and(|l| self.heads[l.0 as usize])
    }
}

impl AbstractDomain for Combined<'_, '_> {
    type State = State;

    fn leq(&mut self, a: &State, b: &State) -> Result<bool, Halt> {
        if a == b { Ok(true) } else { halt(self.dom.leq(&a.value, &b.value)) }
    }
    fn join(&mut self, a: &State, b: &State) -> Result<State, Halt> {
        let value = observed(self.observer, Operation::Join, || {
            let joined = self.dom.join(&a.value, &b.value);
            halt(joined.and_then(|v| self.dom.bounded(v)))
        })?;
        Ok(State { value, part: a.part })
    }
    fn describe(&self, state: &State) -> String {
        format!("{state:?}")
    }
}

impl Cpa for Combined<'_, '_> {
    type Precision = ();
    type Key = Node;
    type Class = ();

    fn key(&self, state: &State) -> Node {
        state.part
    }
    fn class(&self, _: &State) {}
    fn digest(&mut self, _: &State, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &State,
        (): &(),
        step: &Step,
        out: &mut Successors<State>,
    ) -> Result<(), Halt> {
        let tau = observed(self.observer, Operation::Post, || self.abstraction.transformer(step))?;
        let next = observed(self.observer, Operation::Apply, || {
            let next = self.dom.post(&tau, &state.value);
            halt(next.and_then(|v| self.dom.bounded(v)))
        })?;
        if self.dom.is_bot(&next) {
            return Ok(());
        }
        if self.joins != Joins::All {
            for (part, value) in halt(self.dom.split(&next))? {
                out.push(State { value, part });
            }
        } else {
            self.history.push(self.abstraction.program(), step.edge, &state.value, &next);
            out.push(State { value: next, part: Node::TRUE });
        }
        Ok(())
    }

    fn merges(&self) -> bool {
        self.joins != Joins::Nothing
    }

    fn merge(&mut self, new: &State, reached: &State, cx: &MergeContext) -> Result<Option<State>, Halt> {
        if self.joins == Joins::Nothing || self.leq(new, reached)? {
            return Ok(None);
        }
        let widens = cx.updates >= DELAY && self.is_head(cx.location);
        let merged = match widens {
            true => {
                let widen = || halt(self.dom.widen(&reached.value, &new.value));
                State { value: observed(self.observer, Operation::Join, widen)?, part: reached.part }
            }
            false => self.join(reached, new)?,
        };
        Ok(Some(merged))
    }

    fn narrow(&mut self, _: &State, lower: &State) -> Result<State, Halt> {
        Ok(lower.clone())
    }
}
