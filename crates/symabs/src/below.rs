//! α̂ from below, and from both sides.
//!
//! From below (King and Søndergaard 2010, Elder et al. 2011 for affine relations; Reps, Sagiv, Yorsh 2004
//! for any domain): models of φ are joined until what the element says follows from φ. Stopped early it has
//! only a lower bound, so the answer is ⊤.
//!
//! From both sides (after Thakur, Elder, Reps, "Bilateral algorithms for symbolic abstraction", 2012): an upper
//! bound is kept as well. Something the lower bound says and the upper does not (an abstract consequence) is
//! put to the solver: if φ implies it the upper bound improves, else the model improves the lower one. The
//! upper bound is sound at any time, and the best element when the two meet.

use crate::element;
use crate::operations::has_inequalities;
use crate::terms::Vocabulary;
use palisade_domains::{Dynamic, Lattice, LinCons, LinExpr, NumericDomain, Rel};
use palisade_logic::{Answer, Solver, Term, Terms};
use palisade_num::{Int, Rat};
use rustc_hash::{FxHashMap, FxHashSet};

/// What came out.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Above the best element.
    pub upper: Dynamic,
    /// Below the best element.
    pub lower: Dynamic,
    /// Are the two the same, hence the best?
    pub complete: bool,
    /// Questions put to the solver.
    pub queries: u64,
}

/// The models of a formula over a vocabulary, as a solver tells them.
pub struct Models<'a> {
    /// Where the formula lives.
    pub terms: &'a mut Terms,
    /// Finds the models. Its limits hold for each question.
    pub solver: &'a mut dyn Solver,
    /// Which variables are which dimensions.
    pub voc: &'a Vocabulary,
}

enum Found {
    Model(Dynamic),
    None,
    GaveUp,
}

impl Models<'_> {
    /// The best element for φ; ⊤ if the solver gives up on any question or `queries` are not enough.
    pub fn from_below(&mut self, phi: Term, top: &Dynamic, queries: u64) -> Bounds {
        let found = self.search(phi, top.clone(), false, queries);
        let upper = if found.complete { found.lower.clone() } else { top.clone() };
        Bounds { upper, ..found }
    }

    /// Improves an element that is above the best one until the bounds meet or nothing more can be
    /// decided. `queries` bounds the questions.
    pub fn bilateral(&mut self, phi: Term, upper: Dynamic, queries: u64) -> Bounds {
        self.search(phi, upper, true, queries)
    }

    fn model(&mut self, like: &Dynamic, question: &[Term]) -> Found {
        match self.solver.check(self.terms, question) {
            Answer::Unsat => Found::None,
            Answer::Unknown(_) => Found::GaveUp,
            Answer::Sat => {
                let Some(model) = self.solver.model(self.terms) else { return Found::GaveUp };
                let state = self.voc.state(|v| Some(self.terms.evaluate(v, &model)));
                Found::Model(element::point(like, &state))
            }
        }
    }

    /// The common loop. `upper` collects what φ is known to imply; with `bisect` its bounds also guide
    /// the questions.
    fn search(&mut self, phi: Term, mut upper: Dynamic, bisect: bool, limit: u64) -> Bounds {
        self.solver.push();
        self.solver.assert(self.terms, phi);
        let mut lower = element::bottom(&upper);
        let mut queries = 0;
        let mut asked = Asked::default();
        let split = has_inequalities(&upper);
        // Directions in which a model was beyond the lower bound.
        let mut beyond: FxHashMap<LinExpr, u32> = FxHashMap::default();
        let complete = loop {
            if lower.is_bottom() {
                if upper.is_bottom() {
                    break true;
                }
                queries += 1;
                match self.model(&lower, &[]) {
                    Found::Model(m) => lower = m,
                    Found::None => {
                        upper = element::bottom(&upper);
                        break true;
                    }
                    Found::GaveUp => break false,
                }
                continue;
            }
            if queries >= limit {
                break false;
            }
            match self.consequence(&lower, &upper, &asked, bisect, split, &beyond) {
                Next::Same => {
                    // If φ implies all that the lower bound says, it is the best element.
                    let open = |c: &LinCons| asked.undecided.contains(c);
                    let decided = !parts(&lower, split).iter().flatten().any(open);
                    if decided {
                        upper.meet_with(&lower);
                    }
                    if decided && !upper.leq(&lower) {
                        upper = lower.clone();
                    }
                    break decided;
                }
                Next::Constraint(c) => {
                    let Some(term) = self.voc.constraint(self.terms, &c) else {
                        asked.undecided.insert(c);
                        continue;
                    };
                    let negated = self.terms.not(term);
                    queries += 1;
                    match self.model(&lower, &[negated]) {
                        Found::Model(m) => {
                            let direction = LinExpr::new(c.expr.terms().iter().cloned(), 0);
                            *beyond.entry(direction).or_default() += 1;
                            lower.join_with(&m);
                        }
                        Found::None => {
                            upper.assume(&c);
                            asked.implied.insert(c);
                        }
                        Found::GaveUp => {
                            asked.undecided.insert(c);
                            if !bisect {
                                break false;
                            }
                        }
                    }
                }
                Next::Whole => {
                    let disjuncts = lower.to_constraints();
                    let Some(all) = self.voc.exactly(self.terms, &disjuncts) else { break false };
                    let negated = self.terms.not(all);
                    queries += 1;
                    match self.model(&lower, &[negated]) {
                        Found::Model(m) => {
                            let before = lower.clone();
                            lower.join_with(&m);
                            if lower.leq(&before) {
                                break false;
                            }
                        }
                        Found::None => {
                            upper.meet_with(&lower);
                            break upper.leq(&lower);
                        }
                        Found::GaveUp => break false,
                    }
                }
            }
        };
        self.solver.pop();
        Bounds { upper, lower, complete, queries }
    }

    /// Something that holds in `lower` and is not known in `upper`.
    fn consequence(
        &self,
        lower: &Dynamic,
        upper: &Dynamic,
        asked: &Asked,
        bisect: bool,
        split: bool,
        beyond: &FxHashMap<LinExpr, u32>,
    ) -> Next {
        let Some(parts) = parts(lower, split) else {
            return if upper.leq(lower) { Next::Same } else { Next::Whole };
        };
        let settled = |c: &LinCons| asked.knows(c) || known(upper, c);
        for c in parts {
            if settled(&c) {
                continue;
            }
            let direction = LinExpr::new(c.expr.terms().iter().cloned(), 0);
            if bisect && beyond.contains_key(&direction) && c.rel == Rel::Le {
                // Between the bounds: halving them needs few questions where a step at a time needs many.
                if let Some(room) =
                    upper.bounds(&c.expr).hi.map(|h| h.value.floor()).filter(|r| r.is_positive())
                {
                    let middle = Rat::from(room.div_floor(&Int::from(2)));
                    let c = LinCons { expr: c.expr.add_constant(&-middle), rel: Rel::Le };
                    if !settled(&c) {
                        return Next::Constraint(c);
                    }
                }
            }
            return Next::Constraint(c);
        }
        Next::Same
    }
}

/// The constraints that were put to the solver.
#[derive(Default)]
struct Asked {
    /// φ implies them. The domain may not be able to say so.
    implied: FxHashSet<LinCons>,
    /// The solver gave up, or they cannot be asked.
    undecided: FxHashSet<LinCons>,
}

impl Asked {
    fn knows(&self, c: &LinCons) -> bool {
        self.implied.contains(c) || self.undecided.contains(c)
    }
}

/// What an element says, one by one; `None` for a disjunction.
fn parts(a: &Dynamic, split: bool) -> Option<Vec<LinCons>> {
    match a.to_constraints().as_slice() {
        [all] => Some(all.iter().flat_map(|c| if split { halves(c) } else { vec![c.clone()] }).collect()),
        _ => None,
    }
}

/// The next question.
enum Next {
    /// There is none: the bounds agree on everything that could be asked.
    Same,
    /// Does φ imply this?
    Constraint(LinCons),
    /// Does φ imply all that the lower bound says?
    Whole,
}

/// An equation between mathematical integers as two inequalities, which are asked one by one.
fn halves(c: &LinCons) -> Vec<LinCons> {
    match c.rel {
        Rel::Eq => {
            vec![LinCons { expr: c.expr.clone(), rel: Rel::Le }, LinCons { expr: -&c.expr, rel: Rel::Le }]
        }
        _ => vec![c.clone()],
    }
}

/// Does the element say so?
fn known(a: &Dynamic, c: &LinCons) -> bool {
    if matches!(c.rel, Rel::Le | Rel::Lt) {
        let range = a.bounds(&c.expr);
        let high = |h: &palisade_domains::End| {
            h.value.is_negative() || (h.value.is_zero() && (c.rel == Rel::Le || h.strict))
        };
        return range.is_empty() || range.hi.as_ref().is_some_and(high);
    }
    let mut with = a.clone();
    with.assume(c);
    a.leq(&with)
}
