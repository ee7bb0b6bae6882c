//! Two-vocabulary use of a domain: elements over pre-state and post-state dimensions are
//! relations between states, that is, abstract transformers.

use crate::dim::Dim;
use crate::linear::{LinCons, LinExpr, Rel};
use crate::numeric::NumericDomain;

/// The relation that leaves every dimension as it is. `vocabulary` pairs each dimension's name
/// before with its name after.
pub fn identity<D: NumericDomain>(ctx: &D::Ctx, vocabulary: &[(Dim, Dim)]) -> D {
    let mut r = D::top(ctx);
    for (before, after) in vocabulary {
        r.assume(&LinCons { expr: &LinExpr::dim(*after) - &LinExpr::dim(*before), rel: Rel::Eq });
    }
    r
}

/// First one relation, then the other.
pub fn compose<D: NumericDomain>(first: &D, second: &D, vocabulary: &[(Dim, Dim)]) -> D {
    let middle: Vec<Dim> = vocabulary.iter().zip(0..).map(|((_, after), i)| after.scratch(i)).collect();
    let pairs = |side: fn(&(Dim, Dim)) -> Dim| -> Vec<(Dim, Dim)> {
        vocabulary.iter().map(side).zip(middle.iter().copied()).collect()
    };
    let (mut a, mut b) = (first.clone(), second.clone());
    a.rename(&pairs(|v| v.1));
    b.rename(&pairs(|v| v.0));
    a.meet_with(&b);
    a.forget(&middle);
    a
}

/// The states that a relation leads to from the given ones, in the dimensions' names before.
pub fn image<D: NumericDomain>(states: &D, relation: &D, vocabulary: &[(Dim, Dim)]) -> D {
    let mut r = states.meet(relation);
    let back: Vec<(Dim, Dim)> = vocabulary.iter().map(|(before, after)| (*after, *before)).collect();
    r.rename(&back);
    r
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Interval, Lattice, Limits, Polyhedra};
    use palisade_num::Rat;

    #[test]
    fn polyhedral_relations_compose_and_apply() {
        let (x, after) = (Dim::int(0), Dim::int(1));
        let voc = [(x, after)];
        let mut grow = identity::<Polyhedra>(&Limits::STANDARD, &voc);
        grow.assign(after, &LinExpr::new([(x, Rat::from(1))], 1));
        let keep = identity::<Polyhedra>(&Limits::STANDARD, &voc);
        let maybe = grow.join(&keep);
        let twice = compose(&maybe, &maybe, &voc);
        let mut start = Polyhedra::top(&Limits::STANDARD);
        start.assign_interval(x, &Interval::closed(3, 5));
        assert_eq!(image(&start, &twice, &voc).bounds_of(x), Interval::closed(3, 7));
    }
}
