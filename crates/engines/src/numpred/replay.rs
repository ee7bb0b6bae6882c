//! Abstract counterexamples: the abstract interpreter replayed backwards (section 6.1, step 4).
//!
//! Where paths meet their values are joined, so the way on which a state was first reached need not be one that
//! the abstraction allows. The interpreter remembers which step added what; from the error the replay goes
//! back over these steps, each time with one valuation of the predicates from which the step leads on. What
//! it finds is a path that the predicates allow; the numbers may still have been joined from several.

use super::cpa::{Combined, halt};
use palisade_cfa::{EdgeId, LocId, Program};
use palisade_cpa::{Halt, Step};
use palisade_numpred::{Literal, Value};
use rustc_hash::FxHashMap;

/// A step that the interpreter took.
struct Taken {
    edge: EdgeId,
    before: Value,
    after: Value,
}

/// The steps that the interpreter took, in order.
#[derive(Default)]
pub struct History {
    steps: Vec<Taken>,
    /// The steps that lead to a location.
    into: FxHashMap<LocId, Vec<usize>>,
}

impl History {
    /// Remembers a step.
    pub fn push(&mut self, program: &Program, edge: EdgeId, before: &Value, after: &Value) {
        self.into.entry(program.edges[edge].dst).or_default().push(self.steps.len());
        self.steps.push(Taken { edge, before: before.clone(), after: after.clone() });
    }
}

impl Combined<'_, '_> {
    /// A path to the location, on which the last of the steps to it was taken.
    pub fn replay(&mut self, target: LocId) -> Result<Vec<EdgeId>, Halt> {
        let history = std::mem::take(&mut self.history);
        let path = self.back(&history, target);
        self.history = history;
        path
    }

    fn back(&mut self, history: &History, target: LocId) -> Result<Vec<EdgeId>, Halt> {
        let program = self.abstraction.program();
        let entry = program.body(program.entry).entry;
        let initial = self.initial()?.value;
        let mut path = Vec::new();
        let last = history.into.get(&target).and_then(|steps| steps.last());
        let Some(mut i) = last.copied() else { return Ok(path) };
        let mut goal = history.steps[i].after.clone();
        loop {
            let Taken { edge, before, .. } = &history.steps[i];
            path.push(*edge);
            goal = self.leading_to(*edge, before, &goal)?;
            let here = program.edges[*edge].src;
            if here == entry && self.meets(&initial, &goal)? {
                break;
            }
            // What was reached first took the fewest rounds through loops.
            let earlier = history.into.get(&here).into_iter().flatten().take_while(|&&j| j < i);
            let mut from = None;
            for &j in earlier {
                if self.meets(&history.steps[j].after, &goal)? {
                    from = Some(j);
                    break;
                }
                // Widening may have made up what no step added.
                from = from.or(Some(j));
            }
            match from {
                Some(j) => i = j,
                None => break,
            }
        }
        path.reverse();
        Ok(path)
    }

    fn meets(&mut self, a: &Value, b: &Value) -> Result<bool, Halt> {
        let both = halt(self.dom.meet(a, b))?;
        Ok(!self.dom.is_bot(&both))
    }

    /// The part of a value with one valuation of the predicates from which a step leads into `goal`.
    fn leading_to(&mut self, edge: EdgeId, before: &Value, goal: &Value) -> Result<Value, Halt> {
        let tau = self.abstraction.transformer(&Step::local(edge))?;
        let mut part = before.clone();
        let preds: Vec<_> = self.dom.space().names.preds().collect();
        for p in preds {
            for positive in [false, true] {
                let literal = halt(self.dom.alpha_cube(&[Literal::Pred(p, false, positive)]))?;
                let half = halt(self.dom.meet(&literal, &part))?;
                if half == part {
                    break;
                }
                if self.dom.is_bot(&half) {
                    continue;
                }
                let after = halt(self.dom.post(&tau, &half))?;
                if self.meets(&after, goal)? {
                    part = half;
                    break;
                }
            }
        }
        Ok(part)
    }
}
