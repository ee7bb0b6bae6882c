//! The solver inside the binary: word-level preprocessing, bit-blasting, CaDiCaL.
//!
//! New assertions go through three passes, each of which looks at what is new only and stays right
//! when levels are pushed and popped:
//!
//! 1. `preprocess` replaces variables by what asserted equations say they are;
//! 2. `facts` replaces what is asserted elsewhere, and what `ranges` and `equations` decide, by constants;
//! 3. `unconstrained` replaces terms that can take every value by variables.
//!
//! It comes last of these because the others make variables disappear. In what remains, `choices` takes comparisons of
//! copied values apart. The rest is blasted; `theory` adds what arrays and functions mean by lemmas on demand.

mod choices;
mod equations;
mod facts;
mod preprocess;
mod ranges;
mod relevant;
mod rows;
mod theory;
mod unconstrained;

#[cfg(test)]
mod pass_tests;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use crate::blast::cnf::Sat;
use crate::blast::{Blaster, Exhausted};
use crate::eval::{Interpretation, Leaf, Memo};
use crate::solver::{Answer, Limits, Solver, Unknown};
use crate::term::{Func, Op, Sort, Term, Terms};
use crate::value::{Model, Value};
use choices::Choices;
use facts::Facts;
use preprocess::Definitions;
use relevant::Relevant;
use theory::Consistency;
use unconstrained::Unconstrained;

/// The embedded solver for bit-vectors, arrays and uninterpreted functions.
///
/// The same calls give the same answers and the same models every time. Levels are implemented
/// with activation literals, so what was learned stays across [`Solver::pop`].
pub struct BvSolver {
    definitions: Definitions,
    facts: Facts,
    unconstrained: Unconstrained,
    choices: Choices,
    relevant: Relevant,
    blaster: Blaster,
    sat: Sat,
    limits: Limits,
    /// Assertions that no check has seen, with their levels.
    pending: VecDeque<(usize, Term)>,
    /// Preprocessed assertions that the search does not have yet, with their levels.
    ready: VecDeque<(usize, Term)>,
    level: usize,
    /// Activation literals of the open levels, as far as they have assertions in the search.
    activation: Vec<Option<i32>>,
    /// Whether assertions without assumptions were found inconsistent, by level.
    refuted: Option<usize>,
    outcome: Outcome,
    /// Values under the current model, as far as they were asked for.
    values: Memo,
}

enum Outcome {
    None,
    /// Values of array variables and functions; those of bits are in the SAT solver.
    Sat(Model),
    Unsat(Vec<Term>),
}

impl Default for BvSolver {
    fn default() -> Self {
        BvSolver::new()
    }
}

/// The model of the bits: variables and whatever the theories constrain later are free.
struct Bits<'a> {
    blaster: &'a Blaster,
    sat: &'a Sat,
}

impl Bits<'_> {
    fn read(&self, terms: &Terms, t: Term) -> Option<Value> {
        let bits = self.blaster.bits(terms, t)?;
        Some(match terms.sort(t) {
            Sort::Bool => Value::Bool(self.sat.input_value(bits[0])),
            Sort::BitVec(w) => {
                let bit = |i: u32| self.sat.input_value(bits[i as usize]);
                Value::BitVec(crate::bitvec::BitVec::from_bits(w, bit))
            }
            Sort::Array { .. } => return None,
        })
    }
}

impl Interpretation for Bits<'_> {
    fn var(&self, terms: &Terms, var: Term) -> Leaf {
        let value = self.read(terms, var);
        Leaf::Value(value.unwrap_or_else(|| Value::default_of(terms.sort(var))))
    }

    fn apply(&self, terms: &Terms, f: Func, _args: &[Value]) -> Value {
        // Applications are inputs, see `known`; one without bits is free.
        Value::default_of(terms.decl(f).range)
    }

    fn known(&self, terms: &Terms, t: Term) -> Option<Value> {
        let free = match terms.op(t) {
            Op::Select | Op::Apply => true,
            Op::Eq => terms.sort(terms.arg(t, 0)).is_array(),
            _ => false,
        };
        if !free {
            return None;
        }
        Some(self.read(terms, t).unwrap_or_else(|| Value::default_of(terms.sort(t))))
    }
}

/// The whole model: bits for variables, the theories' values for arrays and functions, and
/// definitions for what was substituted or eliminated.
struct Whole<'a> {
    bits: Bits<'a>,
    theories: &'a Model,
    definitions: &'a Definitions,
    unconstrained: &'a Unconstrained,
}

impl Interpretation for Whole<'_> {
    fn var(&self, terms: &Terms, var: Term) -> Leaf {
        if let Some(t) = self.definitions.definition(var).or_else(|| self.unconstrained.value(var)) {
            return Leaf::Same(t);
        }
        if terms.sort(var).is_array() { self.theories.var(terms, var) } else { self.bits.var(terms, var) }
    }

    fn apply(&self, terms: &Terms, f: Func, args: &[Value]) -> Value {
        self.theories.apply(terms, f, args)
    }
}

impl BvSolver {
    /// A solver without assertions.
    pub fn new() -> Self {
        BvSolver::on(Sat::new())
    }

    /// A solver for the steps of proofs: questions that are expected to have no model. What it answers is as true as
    /// with any other; only the search is another.
    pub fn for_proofs() -> Self {
        BvSolver::on(Sat::for_proofs())
    }

    fn on(sat: Sat) -> Self {
        BvSolver {
            definitions: Definitions::new(),
            facts: Facts::default(),
            unconstrained: Unconstrained::default(),
            choices: Choices::default(),
            relevant: Relevant::new(),
            blaster: Blaster::new(),
            sat,
            limits: Limits::default(),
            pending: VecDeque::new(),
            ready: VecDeque::new(),
            level: 0,
            activation: Vec::new(),
            refuted: None,
            outcome: Outcome::None,
            values: Memo::default(),
        }
    }

    /// The number of gates made so far.
    pub fn gates(&self) -> usize {
        self.blaster.aig.len()
    }

    /// An estimate of the bytes held, CaDiCaL included.
    pub fn bytes(&self) -> u64 {
        self.blaster.bytes() + self.sat.bytes()
    }

    /// Preprocesses all pending assertions and the assumptions of a check; returns the latter.
    fn preprocess(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Vec<Term> {
        let mut batches = Vec::new();
        while let Some(&(level, _)) = self.pending.front() {
            let count = self.pending.iter().take_while(|(l, _)| *l == level).count();
            let batch: Vec<Term> = self.pending.drain(..count).map(|(_, t)| t).collect();
            self.definitions.open_until(level);
            self.facts.open_until(level);
            let batch = self.definitions.absorb(terms, &batch);
            batches.push((level, self.facts.absorb(terms, batch)));
        }
        self.definitions.open_until(self.level);
        self.facts.open_until(self.level);
        let rewrite = |t: &Term| {
            let t = self.definitions.rewrite(terms, *t);
            self.facts.rewrite(terms, t)
        };
        let mut assumptions: Vec<Term> = assumptions.iter().map(rewrite).collect();
        let mut ready = self.unconstrained.absorb(terms, &batches, &assumptions);
        self.unconstrained.open_until(self.level);
        let mut equations = Vec::new();
        for t in &mut assumptions {
            *t = self.unconstrained.rewrite(terms, *t, &mut equations);
        }
        ready.extend(equations.into_iter().map(|t| (self.level, t)));
        for t in ready.iter_mut().map(|(_, t)| t).chain(&mut assumptions) {
            *t = self.choices.rewrite(terms, *t);
        }
        self.ready.extend(ready);
        assumptions
    }

    /// Gives all preprocessed assertions to the search, unless they are refuted already. What the limits cut off
    /// stays ready.
    fn flush(&mut self, terms: &mut Terms) -> Result<(), Exhausted> {
        let false_at = self.ready.iter().filter(|(_, t)| *t == terms.fls()).map(|(level, _)| *level).min();
        self.refuted = self.refuted.into_iter().chain(false_at).min();
        if self.refuted.is_some() {
            return Ok(());
        }
        while let Some(&(level, t)) = self.ready.front() {
            self.require(terms, t, level)?;
            self.ready.pop_front();
        }
        Ok(())
    }

    fn require(&mut self, terms: &mut Terms, t: Term, level: usize) -> Result<(), Exhausted> {
        while self.relevant.level() < level {
            self.relevant.open();
        }
        self.mark(terms, t)?;
        let l = self.blaster.literal(terms, t)?;
        let unless = (level > 0).then(|| -self.activate(level));
        self.sat.require(&mut self.blaster, l, unless)
    }

    /// The literal that switches on the assertions of a level.
    fn activate(&mut self, level: usize) -> i32 {
        if self.activation.len() < level {
            self.activation.resize(level, None);
        }
        match self.activation[level - 1] {
            Some(lit) => lit,
            None => {
                let lit = self.sat.fresh();
                self.activation[level - 1] = Some(lit);
                lit
            }
        }
    }

    /// Marks what the theories must make consistent, and blasts it.
    fn mark(&mut self, terms: &mut Terms, t: Term) -> Result<(), Exhausted> {
        if !terms.has_theory(t) {
            return Ok(());
        }
        let from = self.relevant.terms().len();
        let axioms = self.relevant.mark(terms, t);
        for i in from..self.relevant.terms().len() {
            self.blaster.blast(terms, self.relevant.terms()[i])?;
        }
        self.require_valid(terms, &axioms)
    }

    /// Requires formulas that hold in every model of the theories, whatever the level.
    fn require_valid(&mut self, terms: &Terms, lemmas: &[Term]) -> Result<(), Exhausted> {
        for t in lemmas {
            let l = self.blaster.literal(terms, *t)?;
            self.sat.require(&mut self.blaster, l, None)?;
        }
        Ok(())
    }

    fn solve(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Result<Outcome, Unknown> {
        self.limits.budget.check().map_err(Unknown::Stopped)?;
        self.blaster.set_limits(self.limits.clone());
        let preprocessed = self.preprocess(terms, assumptions);
        self.flush(terms)?;
        if self.refuted.is_some() {
            return Ok(Outcome::Unsat(Vec::new()));
        }
        while self.relevant.level() < self.level {
            self.relevant.open();
        }
        // Assumptions are relevant for this check only.
        self.relevant.open();
        let outcome = self.solve_under(terms, assumptions, &preprocessed);
        self.relevant.close();
        outcome
    }

    fn solve_under(
        &mut self,
        terms: &mut Terms,
        assumptions: &[Term],
        preprocessed: &[Term],
    ) -> Result<Outcome, Unknown> {
        let mut lits: Vec<i32> = self.activation.iter().copied().flatten().collect();
        let first = lits.len();
        for (t, preprocessed) in assumptions.iter().zip(preprocessed) {
            if *preprocessed == terms.fls() {
                return Ok(Outcome::Unsat(vec![*t]));
            }
            self.mark(terms, *preprocessed)?;
            let l = self.blaster.literal(terms, *preprocessed)?;
            lits.push(self.sat.literal(&mut self.blaster, l)?);
        }
        loop {
            if !self.sat.solve(&lits, &self.limits)? {
                let core: Vec<Term> = assumptions
                    .iter()
                    .zip(&lits[first..])
                    .filter(|(_, l)| self.sat.failed(**l))
                    .map(|(t, _)| *t)
                    .collect();
                return Ok(Outcome::Unsat(core));
            }
            if self.relevant.terms().is_empty() {
                return Ok(Outcome::Sat(Model::new()));
            }
            let bits = Bits { blaster: &self.blaster, sat: &self.sat };
            let mut memo = Memo::default();
            match theory::check(terms, self.relevant.terms(), &bits, &mut memo) {
                Consistency::Model(model) => return Ok(Outcome::Sat(model)),
                Consistency::Lemmas(lemmas) => self.require_valid(terms, &lemmas)?,
            }
        }
    }
}

impl Solver for BvSolver {
    fn assert(&mut self, terms: &mut Terms, t: Term) {
        assert!(terms.is_bool(t), "assertions are Boolean");
        self.outcome = Outcome::None;
        self.pending.push_back((self.level, t));
    }

    fn push(&mut self) {
        self.level += 1;
    }

    fn pop(&mut self) {
        if self.level == 0 {
            return;
        }
        self.level -= 1;
        self.outcome = Outcome::None;
        self.pending.retain(|(level, _)| *level <= self.level);
        self.ready.retain(|(level, _)| *level <= self.level);
        self.definitions.close_until(self.level);
        self.facts.close_until(self.level);
        self.unconstrained.close_until(self.level);
        while self.relevant.level() > self.level {
            self.relevant.close();
        }
        for lit in self.activation.drain(self.level.min(self.activation.len())..).flatten() {
            self.sat.retire(lit);
        }
        self.refuted = self.refuted.filter(|level| *level <= self.level);
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        self.outcome = Outcome::None;
        self.values.clear();
        match self.solve(terms, assumptions) {
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

    fn model(&mut self, terms: &mut Terms) -> Option<Model> {
        let Outcome::Sat(theories) = &self.outcome else { return None };
        let bits = Bits { blaster: &self.blaster, sat: &self.sat };
        let (definitions, unconstrained) = (&self.definitions, &self.unconstrained);
        let whole = Whole { bits, theories, definitions, unconstrained };
        let mut model = theories.clone();
        let replaced = self.definitions.defined(terms);
        let replaced = replaced.iter().chain(self.unconstrained.eliminated());
        for &var in self.blaster.variables.iter().chain(replaced) {
            model.set(var, self.values.value(terms, &whole, var).clone());
        }
        Some(model)
    }

    fn value(&mut self, terms: &mut Terms, t: Term) -> Option<Value> {
        let Outcome::Sat(theories) = &self.outcome else { return None };
        let bits = Bits { blaster: &self.blaster, sat: &self.sat };
        let (definitions, unconstrained) = (&self.definitions, &self.unconstrained);
        let whole = Whole { bits, theories, definitions, unconstrained };
        Some(self.values.value(terms, &whole, t).clone())
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
