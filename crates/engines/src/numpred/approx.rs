//! Approx (section 6.1, step 2): what a formula about the state before a step says about predicates, by the
//! solver, remembered from round to round.

use super::abstraction::Tracked;
use palisade_base::{Budget, Stop};
use palisade_cfa::EdgeId;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Term, Terms, Value};
use palisade_numpred::{Expr as Formula, Pred};
use rustc_hash::{FxHashMap, FxHashSet};

/// A formula is only projected onto this many predicates.
const MAX_RELEVANT: usize = 24;
/// Predicates that only share variables with relevant ones are relevant too, if they are not more than this.
const MAX_WIDER: usize = 12;
/// If a projection has more disjuncts, only the literals that the formula implies are kept.
const MAX_CUBES: usize = 40;

/// What a projection is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Asked {
    /// The guard of a step.
    Guard,
    /// That a predicate is true, or false, after a step.
    After(u32, bool),
}

/// A step and what is asked about it: the same formula in every round.
pub type Question = (EdgeId, Asked);

/// What is known about formulas.
#[derive(Default)]
pub struct Known {
    /// Which value of a predicate one implies, if any.
    implied: FxHashMap<(Question, usize), Option<bool>>,
    /// What it says about predicates, beside the literals that it implies.
    cubes: FxHashMap<(Question, Vec<usize>), Formula>,
}

/// Projects formulas onto predicates.
pub struct Approx {
    solver: BvSolver,
    budget: Budget,
    /// What was found out, in earlier rounds too.
    pub known: Known,
}

impl Approx {
    /// With what is known from earlier rounds.
    pub fn new(known: Known, budget: &Budget) -> Approx {
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        Approx { solver, budget: budget.clone(), known }
    }

    /// Has the formula no model?
    pub fn refuted(&mut self, terms: &mut Terms, formula: Term) -> Result<bool, Stop> {
        self.budget.check()?;
        Ok(match terms.bool_value(formula) {
            Some(value) => !value,
            None => self.solver.check(terms, &[formula]) == Answer::Unsat,
        })
    }

    /// The strongest formula over the predicates `here` (those of them that matter) that a formula about the
    /// state before a step implies: ¬Approx(¬e).
    ///
    /// Valuations of predicates that no state has may or may not satisfy it, and abstract values may have them.
    /// So all literals that the formula implies are said, whether others of them imply the formula or not.
    pub fn project(
        &mut self,
        terms: &mut Terms,
        preds: &[Tracked],
        here: &[usize],
        of: Question,
        formula: Term,
    ) -> Result<Formula, Stop> {
        self.budget.check()?;
        if let Some(value) = terms.bool_value(formula) {
            return Ok(Formula::Const(value));
        }
        let direct = relevant(preds, here, terms.variables(&[formula]).into_iter().collect());
        let mut all = self.onto(terms, preds, &direct, of, formula)?;
        // What others say about the variables of these may matter too.
        let mut wider = direct.clone();
        let mut known = 0;
        while known < wider.len() && wider.len() <= MAX_WIDER {
            known = wider.len();
            let vars = wider.iter().flat_map(|&p| preds[p].vars.iter().copied()).collect();
            wider = relevant(preds, here, vars);
        }
        if direct.len() < wider.len() && wider.len() <= MAX_WIDER {
            all = Formula::and([all, self.onto(terms, preds, &wider, of, formula)?]);
        }
        Ok(all)
    }

    /// The projection onto these predicates.
    fn onto(
        &mut self,
        terms: &mut Terms,
        preds: &[Tracked],
        relevant: &[usize],
        of: Question,
        formula: Term,
    ) -> Result<Formula, Stop> {
        let mut literals = Vec::new();
        let mut said = Vec::new();
        let mut open = Vec::new();
        for &p in relevant {
            match self.implied(terms, preds[p].term, (of, p), formula) {
                Some(holds) => {
                    let literal = Formula::pred(Pred(p as u32));
                    literals.push(if holds { literal } else { literal.negate() });
                    said.push(if holds { preds[p].term } else { terms.not(preds[p].term) });
                }
                None => open.push(p),
            }
        }
        self.budget.check()?;
        if !open.is_empty() {
            let key = (of, relevant.to_vec());
            let cubes = match self.known.cubes.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let cubes = self.cubes(terms, preds, &open, &said, formula);
                    self.budget.check()?;
                    self.known.cubes.insert(key, cubes.clone());
                    cubes
                }
            };
            literals.push(cubes);
        }
        Ok(Formula::and(literals))
    }

    /// The value of a predicate that a formula implies.
    fn implied(
        &mut self,
        terms: &mut Terms,
        pred: Term,
        asked: (Question, usize),
        formula: Term,
    ) -> Option<bool> {
        if let Some(&known) = self.known.implied.get(&asked) {
            return known;
        }
        let not = terms.not(pred);
        let found = if formula == pred || formula == not {
            Some(formula == pred)
        } else {
            let mut excluded = |literal| self.solver.check(terms, &[formula, literal]) == Answer::Unsat;
            match (excluded(not), excluded(pred)) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            }
        };
        self.known.implied.insert(asked, found);
        found
    }

    /// The projection of a formula onto the predicates `open`, as a disjunction of conjunctions, where the
    /// literals `said` are known to follow; true if it has too many, or the solver gives up.
    fn cubes(
        &mut self,
        terms: &mut Terms,
        preds: &[Tracked],
        open: &[usize],
        said: &[Term],
        formula: Term,
    ) -> Formula {
        let complement = terms.not(formula);
        let literal = |(&p, value): (&usize, Option<bool>)| {
            let p = Formula::pred(Pred(p as u32));
            value.map(|holds| if holds { p.clone() } else { p.negate() })
        };
        self.solver.push();
        let mut cubes = Vec::new();
        let complete = loop {
            // Literals without which the others still imply the formula are not needed.
            let kept = |this: &mut Approx, terms: &mut Terms, literals: &[Term]| {
                let mut assumed = said.to_vec();
                assumed.extend_from_slice(literals);
                assumed.push(complement);
                match this.solver.check(terms, &assumed) {
                    Answer::Unsat => Some(this.solver.unsat_core()),
                    _ => None,
                }
            };
            if cubes.is_empty() && kept(self, terms, &[]).is_some() {
                // What it implies says all.
                self.solver.pop();
                return Formula::TRUE;
            }
            match self.solver.check(terms, &[formula]) {
                Answer::Unsat => break true,
                Answer::Sat if cubes.len() < MAX_CUBES => {}
                _ => break false,
            }
            let mut literals = Vec::new();
            for &p in open {
                let holds = self.solver.value(terms, preds[p].term) == Some(Value::Bool(true));
                literals.push((holds, if holds { preds[p].term } else { terms.not(preds[p].term) }));
            }
            let all: Vec<Term> = literals.iter().map(|l| l.1).collect();
            let kept = kept(self, terms, &all).unwrap_or(all);
            let mut cube = Vec::new();
            let mut others = terms.fls();
            for (holds, literal) in literals {
                let keep = kept.contains(&literal);
                cube.push(keep.then_some(holds));
                if keep {
                    let not = terms.not(literal);
                    others = terms.or(others, not);
                }
            }
            cubes.push(cube);
            self.solver.assert(terms, others);
        };
        self.solver.pop();
        if !complete {
            return Formula::TRUE;
        }
        Formula::or(cubes.into_iter().map(|c| Formula::and(open.iter().zip(c).filter_map(literal))))
    }
}

/// The predicates that share one of the variables; if they are very many, those with least besides.
fn relevant(preds: &[Tracked], here: &[usize], vars: FxHashSet<Term>) -> Vec<usize> {
    let shares = |p: &&usize| !preds[**p].vars.is_disjoint(&vars);
    let mut found: Vec<usize> = here.iter().filter(shares).copied().collect();
    if found.len() > MAX_RELEVANT {
        found.sort_by_key(|&p| preds[p].vars.difference(&vars).count());
        found.truncate(MAX_RELEVANT);
        found.sort_unstable();
    }
    found
}
