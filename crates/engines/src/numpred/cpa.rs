//! The combined domains as a component of the CPA algorithm.

use super::abstraction::Abstraction;
use palisade_cfa::LocId;
use palisade_cpa::*;
use palisade_dd::{OutOfBudget, Outcome};
use palisade_numpred::{NumPredDom, Value};

/// Joins at a loop head before widening starts there.
const DELAY: u32 = 3;

/// Values of one of the combined domains, moved by the abstract transformers of a program.
pub struct Combined<'p> {
    /// The domain.
    pub dom: Box<dyn NumPredDom>,
    /// α^τ.
    pub abstraction: Abstraction<'p>,
    /// The loop heads, by location.
    heads: Vec<bool>,
    /// Whether values are joined where paths meet, and widened at loop heads; otherwise each path is
    /// followed on its own.
    pub joins: bool,
}

fn halt<T>(result: Outcome<T>) -> Result<T, Halt> {
    result.map_err(|why| match why {
        OutOfBudget::Stopped(stop) => Halt::Stopped(stop),
        OutOfBudget::Nodes => Halt::Limit(why.to_string()),
    })
}

impl<'p> Combined<'p> {
    /// A component; `heads` are the loop heads.
    pub fn new(dom: Box<dyn NumPredDom>, abstraction: Abstraction<'p>, heads: Vec<bool>) -> Self {
        Combined { dom, abstraction, heads, joins: true }
    }

    /// The value that a program starts with.
    pub fn initial(&mut self) -> Result<Value, Halt> {
        let start = self.abstraction.initial()?;
        halt(self.dom.alpha(&start))
    }

    fn is_head(&self, loc: Option<LocId>) -> bool {
        loc.is_some_and(|l| self.heads[l.0 as usize])
    }
}

impl AbstractDomain for Combined<'_> {
    type State = Value;

    fn leq(&mut self, a: &Value, b: &Value) -> Result<bool, Halt> {
        if a == b { Ok(true) } else { halt(self.dom.leq(a, b)) }
    }
    fn join(&mut self, a: &Value, b: &Value) -> Result<Value, Halt> {
        halt(self.dom.join(a, b))
    }
    fn describe(&self, state: &Value) -> String {
        format!("{state:?}")
    }
}

impl Cpa for Combined<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Value) {}
    fn class(&self, _: &Value) {}
    fn digest(&mut self, _: &Value, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Value,
        (): &(),
        step: &Step,
        out: &mut Successors<Value>,
    ) -> Result<(), Halt> {
        let tau = self.abstraction.transformer(step)?;
        let next = halt(self.dom.post(&tau, state))?;
        if !self.dom.is_bot(&next) {
            out.push(next);
        }
        Ok(())
    }

    fn merges(&self) -> bool {
        self.joins
    }

    fn merge(&mut self, new: &Value, reached: &Value, cx: &MergeContext) -> Result<Option<Value>, Halt> {
        if !self.joins || self.leq(new, reached)? {
            return Ok(None);
        }
        let widens = cx.updates >= DELAY && self.is_head(cx.location);
        Ok(Some(if widens { halt(self.dom.widen(reached, new))? } else { self.join(reached, new)? }))
    }

    fn narrow(&mut self, _: &Value, lower: &Value) -> Result<Value, Halt> {
        Ok(lower.clone())
    }
}
