//! What the analyses ask of a solver beside satisfiability; each works with any [`Solver`].

use crate::bitvec::BitVec;
use crate::solver::{Answer, Solver, Unknown};
use crate::term::{Term, Terms};
use crate::value::Value;

/// A subset of `core` of which no element can be left out. `core` must be inconsistent with the
/// solver's assertions, as an unsat core is. Where the limits end a check, the element stays.
pub fn minimise_core(solver: &mut dyn Solver, terms: &mut Terms, core: &[Term]) -> Vec<Term> {
    let mut open: Vec<Term> = Vec::new();
    for t in core {
        if !open.contains(t) {
            open.push(*t);
        }
    }
    let distinct = open.clone();
    let mut kept: Vec<Term> = Vec::new();
    while let Some(t) = open.pop() {
        let rest: Vec<Term> = kept.iter().chain(&open).copied().collect();
        if solver.check(terms, &rest).is_unsat() {
            // The new core may be smaller still; what is already known to be needed stays in it.
            let smaller = solver.unsat_core();
            open.retain(|t| smaller.contains(t));
        } else {
            kept.push(t);
        }
    }
    // In the order of the given core.
    distinct.into_iter().filter(|t| kept.contains(t)).collect()
}

/// A conjunction of predicates and their complements: for each predicate whether it holds, fails,
/// or may do either.
pub type Cube = Vec<Option<bool>>;

/// Some of the answers were not found within the limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Incomplete<T> {
    /// What was found.
    pub found: T,
    /// Why there is no more.
    pub why: Unknown,
}

/// The truth values that the predicates can have together under the assertions and `formula`, as
/// cubes. The cubes cover exactly the combinations that occur, up to combinations that the
/// assertions exclude anyway.
///
/// A model gives a full cube. It is generalised by the unsat core of the cube with the complement
/// of the formula: the literals in the core alone imply the formula.
pub fn all_models(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    formula: Term,
    predicates: &[Term],
) -> Result<Vec<Cube>, Incomplete<Vec<Cube>>> {
    let mut cubes = Vec::new();
    let complement = terms.not(formula);
    solver.push();
    let why = loop {
        match solver.check(terms, &[formula]) {
            Answer::Unsat => break None,
            Answer::Unknown(why) => break Some(why),
            Answer::Sat => {}
        }
        let literals: Vec<(usize, bool, Term)> = predicates
            .iter()
            .enumerate()
            .map(|(i, p)| {
                let holds = solver.value(terms, *p) == Some(Value::Bool(true));
                (i, holds, if holds { *p } else { terms.not(*p) })
            })
            .collect();
        let mut assumptions: Vec<Term> = literals.iter().map(|l| l.2).collect();
        assumptions.push(complement);
        let kept = match solver.check(terms, &assumptions) {
            Answer::Unsat => solver.unsat_core(),
            // Other models of the same cube violate the formula, or nobody knows.
            _ => assumptions,
        };
        let mut cube = vec![None; predicates.len()];
        let mut block = terms.fls();
        for (i, holds, literal) in literals {
            if kept.contains(&literal) {
                cube[i] = Some(holds);
                let not = terms.not(literal);
                block = terms.or(block, not);
            }
        }
        cubes.push(cube);
        solver.assert(terms, block);
    };
    solver.pop();
    match why {
        None => Ok(cubes),
        Some(why) => Err(Incomplete { found: cubes, why }),
    }
}

/// How to compare bit-vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// As unsigned numbers.
    Unsigned,
    /// As signed numbers.
    Signed,
}

/// The smallest value of `t` under the assertions and `assumptions`; `None` if there is no model.
pub fn minimum(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    t: Term,
    order: Order,
    assumptions: &[Term],
) -> Result<Option<BitVec>, Unknown> {
    let not_t = terms.not(t);
    Ok(maximum(solver, terms, not_t, order, assumptions)?.map(|v| v.not()))
}

/// The greatest value of `t` under the assertions and `assumptions`; `None` if there is no model.
pub fn maximum(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    t: Term,
    order: Order,
    assumptions: &[Term],
) -> Result<Option<BitVec>, Unknown> {
    let width = terms.width(t);
    match solver.check(terms, assumptions) {
        Answer::Sat => {}
        Answer::Unsat => return Ok(None),
        Answer::Unknown(why) => return Err(why),
    }
    let value = |solver: &mut dyn Solver, terms: &mut Terms| match solver.value(terms, t) {
        Some(Value::BitVec(v)) => Ok(v),
        _ => Err(Unknown::Failed("the solver told no value after sat".to_owned())),
    };
    let mut best = value(solver, terms)?;
    let mut fixed = assumptions.to_vec();
    for i in (0..width).rev() {
        let wanted = order == Order::Unsigned || i + 1 < width;
        let bit = terms.bit(t, i);
        let (good, bad) = if wanted { (bit, terms.not(bit)) } else { (terms.not(bit), bit) };
        // The bits above are those of `best`, so a model that has this bit right needs no check.
        fixed.push(good);
        if best.bit(i) != wanted {
            match solver.check(terms, &fixed) {
                Answer::Sat => best = value(solver, terms)?,
                Answer::Unsat => *fixed.last_mut().expect("just pushed") = bad,
                Answer::Unknown(why) => return Err(why),
            }
        }
    }
    Ok(Some(best))
}

/// The verdict on one conclusion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Implied {
    /// It follows.
    Yes,
    /// There is a counterexample.
    No,
    /// The limits ended the check.
    Unknown(Unknown),
}

/// For each conclusion, whether the assertions and `premises` imply it. One counterexample
/// refutes every conclusion that is false in it, so most refutations cost no check of their own.
pub fn implications(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    premises: &[Term],
    conclusions: &[Term],
) -> Vec<Implied> {
    let mut out: Vec<Option<Implied>> = vec![None; conclusions.len()];
    for i in 0..conclusions.len() {
        if out[i].is_some() {
            continue;
        }
        let mut assumptions = premises.to_vec();
        assumptions.push(terms.not(conclusions[i]));
        out[i] = Some(match solver.check(terms, &assumptions) {
            Answer::Unsat => Implied::Yes,
            Answer::Unknown(why) => Implied::Unknown(why),
            Answer::Sat => {
                for (j, conclusion) in conclusions.iter().enumerate().skip(i + 1) {
                    if out[j].is_none() && solver.value(terms, *conclusion) == Some(Value::Bool(false)) {
                        out[j] = Some(Implied::No);
                    }
                }
                Implied::No
            }
        });
    }
    out.into_iter().map(|v| v.expect("every conclusion got its verdict")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bv_solver::BvSolver;
    use crate::eval::Evaluator;
    use crate::term::Sort;
    use crate::testing::{self, Random, Signature, random_term};

    fn universe() -> (Terms, Signature) {
        let mut s = Terms::new();
        let vars = vec![s.var("x", Sort::BitVec(3)), s.var("y", Sort::BitVec(3)), s.var("p", Sort::Bool)];
        (s, Signature { vars, funcs: Vec::new(), widths: vec![2, 3, 4] })
    }

    #[test]
    fn cubes_cover_exactly_the_combinations_that_occur() {
        let (mut s, g) = universe();
        let models = testing::all_models(&s, &g);
        for seed in 0..150 {
            let r = &mut Random::new(seed);
            let context = random_term(&mut s, &g, r, Sort::Bool, 3);
            let predicates: Vec<Term> = (0..4).map(|_| random_term(&mut s, &g, r, Sort::Bool, 2)).collect();
            // Sometimes a formula over the predicates, where cores generalise; sometimes any.
            let formula = if seed % 2 == 0 {
                let both = s.and(predicates[0], predicates[1]);
                s.or(both, predicates[2])
            } else {
                random_term(&mut s, &g, r, Sort::Bool, 3)
            };
            let mut solver = BvSolver::new();
            solver.assert(&mut s, context);
            let cubes = all_models(&mut solver, &mut s, formula, &predicates).expect("no limits");
            let mut possible: std::collections::BTreeMap<Vec<bool>, bool> = Default::default();
            for m in &models {
                let mut e = Evaluator::new(m);
                if e.truth(&s, context) {
                    let key = predicates.iter().map(|p| e.truth(&s, *p)).collect();
                    *possible.entry(key).or_insert(false) |= e.truth(&s, formula);
                }
            }
            for (key, occurs) in possible {
                let covered = cubes
                    .iter()
                    .any(|c| c.iter().zip(&key).all(|(want, have)| want.is_none_or(|w| w == *have)));
                assert_eq!(covered, occurs, "seed {seed}");
            }
        }
    }

    #[test]
    fn bounds_are_attained_and_tight() {
        let (mut s, g) = universe();
        let models = testing::all_models(&s, &g);
        for seed in 0..150 {
            let r = &mut Random::new(seed);
            let context = random_term(&mut s, &g, r, Sort::Bool, 4);
            let assumption = random_term(&mut s, &g, r, Sort::Bool, 3);
            let t = random_term(&mut s, &g, r, Sort::BitVec(4), 3);
            let values: Vec<BitVec> = models
                .iter()
                .filter_map(|m| {
                    let mut e = Evaluator::new(m);
                    let holds = e.truth(&s, context) && e.truth(&s, assumption);
                    holds.then(|| e.value(&s, t).as_bv().expect("a bit-vector").clone())
                })
                .collect();
            let signed = |v: &&BitVec| v.to_i128();
            let mut solver = BvSolver::new();
            solver.assert(&mut s, context);
            let solver: &mut dyn Solver = &mut solver;
            let a = &[assumption];
            let low = minimum(solver, &mut s, t, Order::Unsigned, a).expect("no limits");
            assert_eq!(low.as_ref(), values.iter().min());
            let high = maximum(solver, &mut s, t, Order::Unsigned, a).expect("no limits");
            assert_eq!(high.as_ref(), values.iter().max());
            let low = minimum(solver, &mut s, t, Order::Signed, a).expect("no limits");
            assert_eq!(low.as_ref(), values.iter().min_by_key(signed));
            let high = maximum(solver, &mut s, t, Order::Signed, a).expect("no limits");
            assert_eq!(high.as_ref(), values.iter().max_by_key(signed));
        }
    }

    #[test]
    fn implications_and_minimal_cores() {
        let (mut s, g) = universe();
        let models = testing::all_models(&s, &g);
        for seed in 0..150 {
            let r = &mut Random::new(seed);
            let premise = random_term(&mut s, &g, r, Sort::Bool, 4);
            let conclusions: Vec<Term> = (0..6).map(|_| random_term(&mut s, &g, r, Sort::Bool, 3)).collect();
            let mut solver = BvSolver::new();
            let verdicts = implications(&mut solver, &mut s, &[premise], &conclusions);
            for (c, verdict) in conclusions.iter().zip(verdicts) {
                let follows = models.iter().all(|m| {
                    let mut e = Evaluator::new(m);
                    !e.truth(&s, premise) || e.truth(&s, *c)
                });
                assert_eq!(verdict, if follows { Implied::Yes } else { Implied::No }, "seed {seed}");
            }
            let satisfiable = |set: &[Term]| {
                models.iter().any(|m| {
                    let mut e = Evaluator::new(m);
                    set.iter().all(|t| e.truth(&s, *t))
                })
            };
            if !satisfiable(&conclusions) {
                let mut copy = s.clone();
                let core = minimise_core(&mut solver, &mut copy, &conclusions);
                assert!(!satisfiable(&core), "seed {seed}");
                for i in 0..core.len() {
                    let mut without = core.clone();
                    without.remove(i);
                    assert!(satisfiable(&without), "seed {seed}: not minimal");
                }
            }
        }
    }
}
