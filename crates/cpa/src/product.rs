//! Composition of two analyses (section 3.6). More components are nested products.

use crate::cpa::*;
use crate::facts::{Alone, Beside, Facts, Query};
use crate::step::Step;
use palisade_cfa::LocId;
use std::hash::{Hash, Hasher};

/// The composite merge operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ProductMerge {
    /// merge^sep.
    Separate,
    /// Both components merge, if afterwards both cover the new state; otherwise nothing changes.
    /// With a component that never merges, such as locations, the other one merges exactly where
    /// that component is already covered.
    Agree,
    /// The right components merge where the left ones are equal: predicated lattices (5.1).
    EqualLeft,
}

/// The composite of two analyses over the product domain D₁ × D₂.
#[derive(Clone, Debug)]
pub struct Product<A, B> {
    /// The first component.
    pub left: A,
    /// The second component.
    pub right: B,
    /// The composite merge operator.
    pub merge: ProductMerge,
    /// Whether successors are strengthened; otherwise the transfer relation is that of the direct
    /// product.
    pub reduced: bool,
    /// Whether a left component also covers what the right one implies: the order uses ≼.
    pub compares: bool,
    /// The termination check, if it is not what the components ask for.
    pub stop: Option<StopOp>,
}

impl<A: Cpa, B: Cpa> Product<A, B> {
    /// A composite that strengthens and merges where both components agree.
    pub fn new(left: A, right: B) -> Self {
        Product { left, right, merge: ProductMerge::Agree, reduced: true, compares: false, stop: None }
    }
    /// The same with another merge operator.
    pub fn merging(self, merge: ProductMerge) -> Self {
        Product { merge, ..self }
    }
    /// The same with an order that uses the compare relation. The left component must not tell its
    /// states apart by key, class or digest.
    pub fn comparing(self) -> Self {
        Product { compares: true, ..self }
    }
    /// The same with another termination check. stop^join asks for joins that are unions, see
    /// [`StopOp::Joined`]; components whose states are told apart by key need not.
    pub fn stopping(self, stop: StopOp) -> Self {
        Product { stop: Some(stop), ..self }
    }
    /// The same without strengthening.
    pub fn direct(self) -> Self {
        Product { reduced: false, ..self }
    }
}

impl<A: Cpa, B: Cpa> AbstractDomain for Product<A, B> {
    type State = (A::State, B::State);

    fn leq(&mut self, a: &Self::State, b: &Self::State) -> Result<bool, Halt> {
        if !self.right.leq(&a.1, &b.1)? {
            return Ok(false);
        }
        if self.left.leq(&a.0, &b.0)? {
            return Ok(true);
        }
        // ⟦a⟧ = ⟦a₁⟧ ∩ ⟦a₂⟧ ⊆ ⟦a₂⟧, which ≼ puts into ⟦b₁⟧.
        let mut beside = Beside { cpa: &mut self.right, state: &a.1, outer: &mut Alone };
        Ok(self.compares && self.left.compare(&b.0, &mut beside)?)
    }
    fn join(&mut self, a: &Self::State, b: &Self::State) -> Result<Self::State, Halt> {
        Ok((self.left.join(&a.0, &b.0)?, self.right.join(&a.1, &b.1)?))
    }
    fn describe(&self, state: &Self::State) -> String {
        let (a, b) = (self.left.describe(&state.0), self.right.describe(&state.1));
        if b.is_empty() || a.is_empty() { a + &b } else { format!("{a}, {b}") }
    }
}

struct Left<'a, A, B>(&'a dyn Section<(A, B)>);

impl<A, B> Section<A> for Left<'_, A, B> {
    fn visit(&self, f: &mut dyn FnMut(&A) -> bool) {
        self.0.visit(&mut |(a, _)| f(a));
    }
}

struct Right<'a, A, B>(&'a dyn Section<(A, B)>);

impl<A, B> Section<B> for Right<'_, A, B> {
    fn visit(&self, f: &mut dyn FnMut(&B) -> bool) {
        self.0.visit(&mut |(_, b)| f(b));
    }
}

impl<A: Cpa, B: Cpa> Cpa for Product<A, B> {
    type Precision = (A::Precision, B::Precision);
    type Key = (A::Key, B::Key);
    type Class = (A::Class, B::Class);

    fn key(&self, state: &Self::State) -> Self::Key {
        (self.left.key(&state.0), self.right.key(&state.1))
    }
    fn class(&self, state: &Self::State) -> Self::Class {
        (self.left.class(&state.0), self.right.class(&state.1))
    }
    fn digest(&mut self, state: &Self::State, class: Self::Class) -> Option<u64> {
        let a = self.left.digest(&state.0, class.0)?;
        let b = self.right.digest(&state.1, class.1)?;
        let mut hasher = rustc_hash::FxHasher::default();
        (a, b).hash(&mut hasher);
        Some(hasher.finish())
    }

    fn steps(&mut self, state: &Self::State, site: ReturnSite, out: &mut Vec<Step>) {
        self.left.steps(&state.0, site, out);
        if out.is_empty() {
            self.right.steps(&state.1, site, out);
        }
    }

    /// ↝₁ × ↝₂; strengthening follows once the successors of all components are known.
    fn transfer(
        &mut self,
        state: &Self::State,
        precision: &Self::Precision,
        step: &Step,
        out: &mut Successors<Self::State>,
    ) -> Result<(), Halt> {
        let (mut lefts, mut rights) = (Successors::new(), Successors::new());
        self.left.transfer(&state.0, &precision.0, step, &mut lefts)?;
        if lefts.is_empty() {
            return Ok(());
        }
        self.right.transfer(&state.1, &precision.1, step, &mut rights)?;
        for a in lefts {
            // The last pair moves `a`.
            if let Some((last, init)) = rights.split_last() {
                out.extend(init.iter().map(|b| (a.clone(), b.clone())));
                out.push((a, last.clone()));
            }
        }
        Ok(())
    }

    fn strengthen(
        &mut self,
        (a, b): Self::State,
        precision: &Self::Precision,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Self::State>, Halt> {
        if !self.reduced {
            return Ok(Some((a, b)));
        }
        let mut beside = Beside { cpa: &mut self.right, state: &b, outer: others };
        let Some(a) = self.left.strengthen(a, &precision.0, step, &mut beside)? else { return Ok(None) };
        let mut beside = Beside { cpa: &mut self.left, state: &a, outer: others };
        let Some(b) = self.right.strengthen(b, &precision.1, step, &mut beside)? else { return Ok(None) };
        Ok(Some((a, b)))
    }

    fn merges(&self) -> bool {
        match self.merge {
            ProductMerge::Separate => false,
            ProductMerge::Agree => self.left.merges() || self.right.merges(),
            ProductMerge::EqualLeft => self.right.merges(),
        }
    }

    fn merge(
        &mut self,
        new: &Self::State,
        reached: &Self::State,
        cx: &MergeContext,
    ) -> Result<Option<Self::State>, Halt> {
        match self.merge {
            ProductMerge::Separate => Ok(None),
            ProductMerge::EqualLeft if new.0 != reached.0 => Ok(None),
            ProductMerge::EqualLeft => {
                let b = self.right.merge(&new.1, &reached.1, cx)?;
                Ok(b.map(|b| (reached.0.clone(), b)))
            }
            ProductMerge::Agree => {
                let a = self.left.merge(&new.0, &reached.0, cx)?;
                if !self.left.leq(&new.0, a.as_ref().unwrap_or(&reached.0))? {
                    return Ok(None);
                }
                let b = self.right.merge(&new.1, &reached.1, cx)?;
                if (a.is_none() && b.is_none())
                    || !self.right.leq(&new.1, b.as_ref().unwrap_or(&reached.1))?
                {
                    return Ok(None);
                }
                Ok(Some((a.unwrap_or_else(|| reached.0.clone()), b.unwrap_or_else(|| reached.1.clone()))))
            }
        }
    }

    /// stop^join of the product would need a power-set product, so a component that joins only
    /// does so when it runs alone, or where it is known that it may.
    fn stop_op(&self) -> StopOp {
        if let Some(stop) = self.stop {
            return stop;
        }
        match (self.left.stop_op(), self.right.stop_op()) {
            (StopOp::Never, _) | (_, StopOp::Never) => StopOp::Never,
            _ => StopOp::Separate,
        }
    }

    fn adjusts(&self) -> bool {
        self.left.adjusts() || self.right.adjusts()
    }

    fn adjust(
        &mut self,
        (a, b): Self::State,
        precision: &Self::Precision,
        reached: &dyn Section<Self::State>,
    ) -> Result<Adjusted<Self::State, Self::Precision>, Halt> {
        let a = self.left.adjust(a, &precision.0, &Left(reached))?;
        let b = self.right.adjust(b, &precision.1, &Right(reached))?;
        let precision = match (a.precision, b.precision) {
            (None, None) => None,
            (p, q) => {
                Some((p.unwrap_or_else(|| precision.0.clone()), q.unwrap_or_else(|| precision.1.clone())))
            }
        };
        Ok(Adjusted { state: (a.state, b.state), precision })
    }

    fn narrow(&mut self, upper: &Self::State, lower: &Self::State) -> Result<Self::State, Halt> {
        Ok((self.left.narrow(&upper.0, &lower.0)?, self.right.narrow(&upper.1, &lower.1)?))
    }

    fn location(&self, state: &Self::State) -> Option<LocId> {
        self.left.location(&state.0).or_else(|| self.right.location(&state.1))
    }
    fn return_site(&self, state: &Self::State) -> ReturnSite {
        match self.left.return_site(&state.0) {
            ReturnSite::Unknown => self.right.return_site(&state.1),
            known => known,
        }
    }
    fn call_depth(&self, state: &Self::State) -> u32 {
        self.left.call_depth(&state.0).max(self.right.call_depth(&state.1))
    }
    fn target(&self, state: &Self::State) -> Option<Target> {
        self.left.target(&state.0).or_else(|| self.right.target(&state.1))
    }
    fn answer(&mut self, state: &Self::State, query: &mut Query<'_>) -> Result<(), Halt> {
        self.left.answer(&state.0, query)?;
        self.right.answer(&state.1, query)
    }
}
