//! The order-theoretic side of every abstract domain.

/// An abstract domain as an ordered set. γ(x) is the set of states that `x` stands for.
///
/// There is deliberately no `Default`: top or bottom is always asked for by name.
///
/// Contracts every implementation keeps (the law kit tests them):
/// * [`leq`](Lattice::leq) is reflexive and transitive, and `a.leq(b)` implies γ(a) ⊆ γ(b);
/// * join and widening give upper bounds, meet keeps every common state.
pub trait Lattice: Clone {
    /// Does the element stand for no state at all? `true` implies γ(self) = ∅.
    fn is_bottom(&self) -> bool;

    /// The partial order.
    fn leq(&self, other: &Self) -> bool;

    /// Replaces `self` by an upper bound of both. Returns whether `self` grew; `false` means
    /// that `other` was already below.
    fn join_with(&mut self, other: &Self) -> bool;

    /// Replaces `self` by an element that stands for at least γ(self) ∩ γ(other), below `self`.
    fn meet_with(&mut self, other: &Self);

    /// Replaces `self` by an upper bound of both such that `x ∇ y₁ ∇ y₂ …` stabilises after
    /// finitely many steps, whatever the `yᵢ`. Returns whether `self` grew.
    ///
    /// The caller must pass as `self` the previous iterate *as the last widening left it*: some
    /// domains (octagons) keep a representation there that other operations would normalise away,
    /// and with it termination.
    fn widen_with(&mut self, next: &Self) -> bool;

    /// Given `next` ⊑ `self`, replaces `self` by an element between `next` and `self` such that
    /// descending chains stabilise. The caller guarantees the order of the arguments.
    fn narrow_with(&mut self, next: &Self);

    /// The join as a new element.
    fn join(&self, other: &Self) -> Self {
        let mut r = self.clone();
        r.join_with(other);
        r
    }

    /// The meet as a new element.
    fn meet(&self, other: &Self) -> Self {
        let mut r = self.clone();
        r.meet_with(other);
        r
    }

    /// Below each other: equal up to representation.
    fn equiv(&self, other: &Self) -> bool {
        self.leq(other) && other.leq(self)
    }
}
