//! Deciding a constraint in the neighbourhood of its dimensions.
//!
//! A system of many constraints with a known point, and one more constraint: usually a few dimensions around the new
//! constraint settle whether both have a solution. The neighbourhood grows step by step; in each, a relaxation may
//! show that there is none and a restriction may find one.

use super::system::{Point, Row, holds_at, solve};
use crate::blocks::Limits;
use crate::dim::Dim;
use crate::linear::{LinCons, LinExpr};
use palisade_num::Rat;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Neighbourhoods that are tried before the whole system.
const ROUNDS: usize = 3;

/// Whether a system, of which `witness` is a point, has a solution with one more constraint, and one if it is easy
/// to tell: as [`solve`], in terms of dimensions whose values change.
pub(super) fn decide(
    rows: &[Row],
    c: &LinCons,
    witness: Option<&Point>,
    limits: &Limits,
) -> Option<Option<Point>> {
    if let Some(witness) = witness {
        if holds_at(c, witness) {
            return Some(Some(Point::default()));
        }
        let mut free: FxHashSet<Dim> = c.expr.dims().collect();
        for _ in 0..ROUNDS {
            let mut near: Vec<Row> =
                rows.iter().filter(|r| r.expr.dims().any(|d| free.contains(&d))).cloned().collect();
            near.push(Arc::new(c.clone()));
            // All that is not near holds at the witness, and does not notice when free dimensions change.
            let restricted: Vec<Row> = near.iter().map(|r| Arc::new(fix(r, &free, witness))).collect();
            if let Some(Some(point)) = solve(&restricted, limits) {
                return Some(Some(point));
            }
            solve(&near, limits)?;
            let all: FxHashSet<Dim> = near.iter().flat_map(|r| r.expr.dims()).collect();
            if all.len() == free.len() {
                break;
            }
            free = all;
        }
    }
    let mut concerned = connected(rows, c.expr.dims());
    concerned.push(Arc::new(c.clone()));
    solve(&concerned, limits)
}

/// A constraint in which all but some dimensions have their values.
fn fix(c: &LinCons, free: &FxHashSet<Dim>, at: &Point) -> LinCons {
    let zero = Rat::ZERO;
    let (mut terms, mut constant) = (Vec::new(), c.expr.constant_term().clone());
    for (d, k) in c.expr.terms() {
        if free.contains(d) {
            terms.push((*d, k.clone()));
        } else {
            constant += k * at.get(d).unwrap_or(&zero);
        }
    }
    LinCons { expr: LinExpr::new(terms, constant), rel: c.rel.clone() }.normalize()
}

/// The rows that are connected to some dimensions.
pub(super) fn connected(rows: &[Row], dims: impl IntoIterator<Item = Dim>) -> Vec<Row> {
    let mut by_dim: FxHashMap<Dim, Vec<usize>> = FxHashMap::default();
    for (i, r) in rows.iter().enumerate() {
        for d in r.expr.dims() {
            by_dim.entry(d).or_default().push(i);
        }
    }
    let mut seen: FxHashSet<Dim> = dims.into_iter().collect();
    let mut work: Vec<Dim> = seen.iter().copied().collect();
    let mut taken = vec![false; rows.len()];
    while let Some(d) = work.pop() {
        for &i in by_dim.get(&d).into_iter().flatten() {
            if !std::mem::replace(&mut taken[i], true) {
                work.extend(rows[i].expr.dims().filter(|x| seen.insert(*x)));
            }
        }
    }
    rows.iter().zip(&taken).filter(|(_, t)| **t).map(|(r, _)| r.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;
    use crate::linear::Rel;

    /// Random systems that grow by one constraint at a time: the same answer as the whole system gives, and what is
    /// found is a point of it.
    #[test]
    fn neighbourhoods_decide_what_the_whole_system_decides() {
        let mut rng = Rng::new(41);
        let limits = Limits::STANDARD;
        for _ in 0..300 {
            let (mut rows, mut witness) = (Vec::<Row>::new(), Some(Point::default()));
            for _ in 0..12 {
                let at = rng.below(6) as u32;
                let terms = [0, 1].map(|i| (Dim::rat((at + i) % 7), Rat::from(rng.range(-2, 2))));
                let rel = if rng.below(2) == 0 { Rel::Lt } else { Rel::Le };
                let c = LinCons { expr: LinExpr::new(terms, rng.range(-3, 3)), rel }.normalize();
                if c.truth().is_some() {
                    continue;
                }
                let mut all = rows.clone();
                all.push(Arc::new(c.clone()));
                let found = decide(&rows, &c, witness.as_ref(), &limits);
                assert_eq!(found.is_some(), solve(&all, &limits).is_some(), "{all:?}");
                let Some(point) = found else { continue };
                witness = match (witness, point) {
                    (Some(mut old), Some(new)) => {
                        old.extend(new);
                        Some(old)
                    }
                    _ => None,
                };
                rows = all;
                let holds = |w: &Point| rows.iter().all(|r| holds_at(r, w));
                assert!(witness.as_ref().is_none_or(holds), "{witness:?} in {rows:?}");
            }
        }
    }
}
