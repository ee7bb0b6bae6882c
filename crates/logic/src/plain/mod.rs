//! The plain solver: slower than [`crate::BvSolver`], and made to be believed.
//!
//! Nothing is rewritten: asserted terms become gates by the circuits of a textbook (`words`), gates
//! become clauses (`gates`), arrays and functions get the instances of their axioms that a
//! candidate model violates ([`axioms`]). CaDiCaL searches, and says for every clause it learns
//! from which ones it follows; that there is no model counts only when the checker of such proofs,
//! [`palisade_lrat`], has confirmed it (`sat`). A model counts only when all that was asserted is true
//! in it.
//!
//! With terms from [`Terms::plain`], which are built without rewriting too, an answer `unsat` rests on
//! the circuits, the axioms and the checker alone. A [`Refutation`] can be kept, and confirmed
//! again later without any search.

pub mod axioms;
mod blast;
mod gates;
mod sat;
mod words;

#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bitvec::BitVec;
use crate::eval::Evaluator;
use crate::solver::{Answer, Limits, Solver, Unknown};
use crate::term::{Func, Op, Term, Terms};
use crate::value::{ArrayValue, Model, Value};
use axioms::Axiom;
use blast::Blaster;
use palisade_lrat::{Lit, Malformed, Proof, coding};
use sat::ProofSat;

/// Why assertions and assumptions have no common model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refutation {
    /// Instances of axioms, in the order in which their clauses follow those of the assertions.
    pub axioms: Vec<Instance>,
    /// How the clauses exclude the assumptions.
    pub proof: Proof,
}

/// An instance of an axiom, by numbers: those of the terms count the terms that have bits, in the
/// order in which they got them, so that they mean the same whatever else is in a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instance {
    axiom: u8,
    terms: [u32; 2],
}

impl Refutation {
    /// Codes the refutation.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        coding::number(&mut out, self.axioms.len() as u32);
        for instance in &self.axioms {
            out.push(instance.axiom);
            instance.terms.iter().for_each(|t| coding::number(&mut out, *t));
        }
        out.extend(self.proof.to_bytes());
        out
    }

    /// Reads what [`Refutation::to_bytes`] wrote, and nothing else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Refutation, Malformed> {
        let mut rest = bytes;
        let mut axioms = Vec::new();
        for _ in 0..coding::length(&mut rest)? {
            let (&axiom, more) = rest.split_first().ok_or(Malformed)?;
            rest = more;
            let terms = [coding::read(&mut rest)?, coding::read(&mut rest)?];
            axioms.push(Instance { axiom, terms });
        }
        Ok(Refutation { axioms, proof: Proof::from_bytes(rest)? })
    }
}

/// The plain solver. See the [module](self).
pub struct PlainSolver {
    blaster: Blaster,
    sat: ProofSat,
    /// How much of the clauses the search has.
    given: usize,
    limits: Limits,
    /// Assertions of the open levels.
    levels: Vec<Vec<Term>>,
    /// How many assertions of each level have clauses.
    done: Vec<usize>,
    /// The literals that switch on the assertions of the levels above the first.
    activation: Vec<Lit>,
    axioms: Vec<Axiom>,
    known: FxHashSet<Axiom>,
    outcome: Outcome,
}

enum Outcome {
    None,
    Sat(Model),
    Unsat(Vec<Term>),
}

impl Default for PlainSolver {
    fn default() -> Self {
        PlainSolver::new()
    }
}

impl PlainSolver {
    /// A solver without assertions.
    pub fn new() -> Self {
        PlainSolver {
            blaster: Blaster::new(),
            sat: ProofSat::new(),
            given: 0,
            limits: Limits::default(),
            levels: vec![Vec::new()],
            done: vec![0],
            activation: Vec::new(),
            axioms: Vec::new(),
            known: FxHashSet::default(),
            outcome: Outcome::None,
        }
    }

    /// After [`Answer::Unsat`]: why.
    pub fn refutation(&mut self) -> Option<Refutation> {
        if !matches!(self.outcome, Outcome::Unsat(_)) {
            return None;
        }
        let order = self.blaster.order.iter().enumerate();
        let number: FxHashMap<Term, u32> = order.map(|(i, t)| (*t, i as u32)).collect();
        let instance = |axiom: &Axiom| {
            let (axiom, t, u) = axiom.parts();
            Some(Instance { axiom, terms: [*number.get(&t)?, *number.get(&u)?] })
        };
        let axioms = self.axioms.iter().map(instance).collect::<Option<Vec<Instance>>>()?;
        Some(Refutation { axioms, proof: self.sat.proof()? })
    }

    /// Checks a refutation of the assertions with the given assumptions, without search. The same
    /// calls must have come before as when it was made.
    pub fn confirm(
        &mut self,
        terms: &mut Terms,
        assumptions: &[Term],
        refutation: &Refutation,
    ) -> Result<(), Unknown> {
        let lits = self.clauses(terms, assumptions)?;
        for &Instance { axiom, terms: numbers } in &refutation.axioms {
            let [t, u] = numbers.map(|n| self.blaster.order.get(n as usize).copied());
            let axiom = t.zip(u).and_then(|(t, u)| Axiom::of_parts(axiom, t, u));
            let unknown = || Unknown::Failed("an unknown axiom, or one about unknown terms".into());
            self.instance(terms, axiom.ok_or_else(unknown)?)?;
        }
        let clauses = self.blaster.gates.clauses.split(|l| *l == 0);
        let count = self.blaster.gates.clauses.iter().filter(|l| **l == 0).count();
        let checked = refutation.proof.check(clauses.take(count), &lits);
        checked.map_err(|why| Unknown::Failed(format!("a proof is refused: {why}")))
    }

    /// Makes the clauses of assertions and assumptions; returns the literals to assume.
    fn clauses(&mut self, terms: &Terms, assumptions: &[Term]) -> Result<Vec<Lit>, Unknown> {
        for level in 0..self.levels.len() {
            while let Some(&t) = self.levels[level].get(self.done[level]) {
                let lit = self.blaster.literal(terms, t, &self.limits)?;
                match level {
                    0 => self.blaster.gates.clause(&[lit]),
                    _ => self.blaster.gates.clause(&[-self.activation[level - 1], lit]),
                }
                self.done[level] += 1;
            }
        }
        let mut lits = self.activation.clone();
        for &t in assumptions {
            lits.push(self.blaster.literal(terms, t, &self.limits)?);
        }
        Ok(lits)
    }

    /// Requires an instance of an axiom, once.
    fn instance(&mut self, terms: &mut Terms, axiom: Axiom) -> Result<(), Unknown> {
        if !self.known.insert(axiom) {
            return Ok(());
        }
        let wrong = || Unknown::Failed(format!("{axiom:?} is no instance of an axiom"));
        let formula = axiom.formula(terms).ok_or_else(wrong)?;
        let lit = self.blaster.literal(terms, formula, &self.limits)?;
        self.blaster.gates.clause(&[lit]);
        self.axioms.push(axiom);
        Ok(())
    }

    /// Hands new clauses over to the SAT solver.
    fn hand_over(&mut self) -> Result<(), Unknown> {
        let clauses = &self.blaster.gates.clauses;
        for (i, clause) in clauses[self.given..].split_inclusive(|l| *l == 0).enumerate() {
            if i.is_multiple_of(CLAUSES_AT_ONCE) {
                self.limits.budget.check().map_err(Unknown::Stopped)?;
                if self.limits.memory.is_some_and(|limit| self.blaster.bytes() + self.sat.bytes() > limit) {
                    return Err(Unknown::Memory);
                }
            }
            self.sat.clause(&clause[..clause.len() - 1]);
            self.given += clause.len();
        }
        Ok(())
    }

    fn search(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Result<Outcome, Unknown> {
        self.limits.budget.check().map_err(Unknown::Stopped)?;
        let lits = self.clauses(terms, assumptions)?;
        loop {
            self.hand_over()?;
            if !self.sat.solve(&lits, &self.limits)? {
                let own = &lits[self.activation.len()..];
                let blamed = assumptions.iter().zip(own).filter(|(_, l)| self.sat.failed(**l));
                return Ok(Outcome::Unsat(blamed.map(|(t, _)| *t).collect()));
            }
            let found = Candidate { blaster: &self.blaster, sat: &self.sat, known: &self.known };
            let violated = found.violated(terms);
            if violated.is_empty() {
                let model = found.model(terms);
                let mut evaluator = Evaluator::new(&model);
                let all = self.levels.iter().flatten().chain(assumptions);
                let holds = all.into_iter().all(|t| evaluator.truth(terms, *t));
                return if holds { Ok(Outcome::Sat(model)) } else { Err(Unknown::Failed(NO_MODEL.into())) };
            }
            for axiom in violated {
                self.instance(terms, axiom)?;
            }
        }
    }
}

/// How many clauses are handed over without a look at limits.
const CLAUSES_AT_ONCE: usize = 1 << 12;

const NO_MODEL: &str = "the plain solver found no model and no contradiction";

/// An assignment of the bits that the search has found.
struct Candidate<'a> {
    blaster: &'a Blaster,
    sat: &'a ProofSat,
    known: &'a FxHashSet<Axiom>,
}

/// What two terms share that give equal results for equal arguments.
#[derive(PartialEq, Eq, Hash)]
enum Shared {
    Array(Term),
    Function(Func),
}

/// The first read or application with each value of the arguments.
type First = FxHashMap<(Shared, Vec<BitVec>), Term>;

impl Candidate<'_> {
    /// The bits of a term that has some; a Boolean has one.
    fn bits(&self, t: Term) -> Option<BitVec> {
        let word = self.blaster.word(t).filter(|w| !w.is_empty())?;
        Some(BitVec::from_bits(word.len() as u32, |i| self.sat.value(word[i as usize])))
    }

    fn holds(&self, t: Term) -> bool {
        self.bits(t).is_some_and(|v| v.is_one())
    }

    fn value(&self, terms: &Terms, t: Term) -> Option<Value> {
        let bits = self.bits(t)?;
        Some(if terms.is_bool(t) { Value::Bool(bits.is_one()) } else { Value::BitVec(bits) })
    }

    /// Instances of axioms that the assignment violates, or that are needed to see whether it does.
    fn violated(&self, terms: &mut Terms) -> Vec<Axiom> {
        let mut out = Vec::new();
        let mut first = First::default();
        for &t in &self.blaster.free {
            match terms.op(t) {
                Op::Select => self.follow(terms, t, &mut out, &mut first),
                Op::Apply => {
                    let values: Option<Vec<BitVec>> = terms.args(t).iter().map(|a| self.bits(*a)).collect();
                    if let (Some(f), Some(values)) = (terms.func_of(t), values) {
                        self.congruent(t, (Shared::Function(f), values), &mut out, &mut first);
                    }
                }
                _ => self.extensional(terms, t, &mut out),
            }
        }
        out
    }

    fn congruent(&self, t: Term, key: (Shared, Vec<BitVec>), out: &mut Vec<Axiom>, first: &mut First) {
        let other = *first.entry(key).or_insert(t);
        if self.bits(other) != self.bits(t) {
            out.push(Axiom::Congruence(other, t));
        }
    }

    /// Follows a read through writes and choices as the assignment has them.
    fn follow(&self, terms: &mut Terms, read: Term, out: &mut Vec<Axiom>, first: &mut First) {
        let mut t = read;
        loop {
            let (array, index) = (terms.args(t)[0], terms.args(t)[1]);
            let index_value = self.bits(index);
            let parts = terms.args(array).to_vec();
            let (axiom, below) = match terms.op(array) {
                Op::Store if self.bits(parts[1]) == index_value => (Axiom::Hit(t), parts[2]),
                Op::Store => (Axiom::Miss(t), terms.select(parts[0], index)),
                Op::Ite if self.holds(parts[0]) => (Axiom::Then(t), terms.select(parts[1], index)),
                Op::Ite => (Axiom::Else(t), terms.select(parts[2], index)),
                Op::ConstArray => (Axiom::Constant(t), parts[0]),
                _ => {
                    if let Some(value) = index_value.filter(|_| t == read) {
                        self.congruent(t, (Shared::Array(array), vec![value]), out, first);
                    }
                    return;
                }
            };
            let (value, below_value) = (self.bits(t), self.bits(below));
            let agree = value.is_some() && value == below_value;
            if !agree && !self.known.contains(&axiom) {
                out.push(axiom);
            }
            // What has bits is followed for its own sake.
            if below_value.is_some() || terms.op(below) != Op::Select {
                return;
            }
            t = below;
        }
    }

    /// Equal arrays agree at all indices in use; others differ somewhere.
    fn extensional(&self, terms: &Terms, equality: Term, out: &mut Vec<Axiom>) {
        let new = |a: &Axiom| !self.known.contains(a);
        if !self.holds(equality) {
            out.extend(Some(Axiom::Different(equality)).filter(new));
            return;
        }
        let sort = terms.sort(terms.args(equality)[0]);
        let mut indices = Vec::new();
        for &t in self.blaster.free.iter().chain(&self.blaster.arrays) {
            let args = terms.args(t);
            if matches!(terms.op(t), Op::Select | Op::Store) && terms.sort(args[0]) == sort {
                indices.push(args[1]);
            }
        }
        indices.sort_unstable();
        indices.dedup();
        out.extend(indices.into_iter().map(|i| Axiom::Equal(equality, i)).filter(new));
    }

    /// The model that the assignment describes if it violates no axiom.
    fn model(&self, terms: &Terms) -> Model {
        let mut model = Model::new();
        for &var in &self.blaster.variables {
            if let Some(value) = self.value(terms, var) {
                model.set(var, value);
            }
        }
        let mut arrays: FxHashMap<Term, ArrayValue> = FxHashMap::default();
        for &t in &self.blaster.free {
            let args = terms.args(t);
            match terms.op(t) {
                Op::Select if terms.op(args[0]) == Op::Var => {
                    let (Some(index), Some(element)) = (self.bits(args[1]), self.bits(t)) else { continue };
                    let zeros = || ArrayValue::constant(index.width(), BitVec::zero(element.width()));
                    let array = arrays.entry(args[0]).or_insert_with(zeros);
                    *array = array.store(index, element);
                }
                Op::Apply => {
                    let values: Option<Vec<Value>> = args.iter().map(|a| self.value(terms, *a)).collect();
                    if let (Some(f), Some(args), Some(result)) =
                        (terms.func_of(t), values, self.value(terms, t))
                    {
                        model.func_mut(f).insert(args, result);
                    }
                }
                _ => {}
            }
        }
        for (var, value) in arrays {
            model.set(var, Value::Array(value));
        }
        model
    }
}

impl Solver for PlainSolver {
    fn assert(&mut self, terms: &mut Terms, t: Term) {
        assert!(terms.is_bool(t), "assertions are Boolean");
        self.outcome = Outcome::None;
        self.levels.last_mut().expect("there is always a level").push(t);
    }

    fn push(&mut self) {
        self.levels.push(Vec::new());
        self.done.push(0);
        self.activation.push(self.blaster.gates.input());
    }

    fn pop(&mut self) {
        let Some(lit) = self.activation.pop() else { return };
        self.outcome = Outcome::None;
        self.levels.pop();
        self.done.pop();
        self.blaster.gates.clause(&[-lit]);
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        self.outcome = Outcome::None;
        match self.search(terms, assumptions) {
            Ok(outcome) => {
                self.outcome = outcome;
                match self.outcome {
                    Outcome::Sat(_) => Answer::Sat,
                    _ => Answer::Unsat,
                }
            }
            Err(why) => Answer::Unknown(why),
        }
    }

    fn model(&mut self, _terms: &mut Terms) -> Option<Model> {
        match &self.outcome {
            Outcome::Sat(model) => Some(model.clone()),
            _ => None,
        }
    }

    fn unsat_core(&self) -> Vec<Term> {
        match &self.outcome {
            Outcome::Unsat(core) => core.clone(),
            _ => Vec::new(),
        }
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }
}
