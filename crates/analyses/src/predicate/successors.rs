//! The successors of a region of predicates, computed by the solver: the one place where formulas are abstracted.

use super::{Abstraction, Predicate, no_answer, out_of_nodes};
use palisade_cpa::{Halt, Step, StepKind};
use palisade_dd::{Node, Var};
use palisade_encode::State;
use palisade_logic::services::{self, Implied};
use palisade_logic::{Answer, Evaluator, Solver, Term};
use std::rc::Rc;

/// Boolean abstraction gives up beyond this many valuations of predicates at one step.
const MAX_VALUATIONS: usize = 1 << 14;

/// The formula of a step: the state after it, started in the arbitrary state.
pub(super) struct StepFormula {
    pub(super) after: State,
    pub(super) guard: Term,
}

impl Predicate<'_> {
    /// The successors of a region along a step.
    pub(super) fn post(&mut self, region: Node, step: &Step, tracked: Vec<u32>) -> Result<Rc<[Node]>, Halt> {
        let key = (region, *step, tracked);
        if let Some(known) = self.cache.get(&key) {
            return Ok(known.clone());
        }
        let tracked = &key.2;
        let result = match self.formula(step)? {
            None => Vec::new(),
            Some(formula) => {
                let mut premises = self.literals(region);
                premises.push(formula.guard);
                let terms: Vec<Term> = tracked.iter().map(|&p| self.term_after(step, &formula, p)).collect();
                self.abstracted(premises, tracked, &terms)?
            }
        };
        Ok(self.cache.entry(key).or_insert(result.into()).clone())
    }

    /// The abstraction of a conjunction to predicates that are these terms: nothing if it has no model.
    pub(super) fn abstracted(
        &mut self,
        premises: Vec<Term>,
        tracked: &[u32],
        terms: &[Term],
    ) -> Result<Vec<Node>, Halt> {
        if self.abstraction == Abstraction::Cartesian {
            return Ok(self.implied(premises, tracked, terms)?.into_iter().collect());
        }
        let mut found = Vec::new();
        for valuation in self.valuations(premises, terms)? {
            let literals: Vec<(Var, bool)> = tracked.iter().map(|&p| Var(p)).zip(valuation).collect();
            found.push(self.bdd.cube(&literals).map_err(out_of_nodes)?);
        }
        if self.abstraction == Abstraction::Boolean {
            return Ok(self.union(found)?.into_iter().collect());
        }
        Ok(found)
    }

    /// The union of regions; `None` if there are none.
    pub(super) fn union(&mut self, regions: impl IntoIterator<Item = Node>) -> Result<Option<Node>, Halt> {
        let mut union = None;
        for region in regions {
            union = Some(match union {
                None => region,
                Some(others) => self.bdd.or(others, region).map_err(out_of_nodes)?,
            });
        }
        Ok(union)
    }

    /// (φ)_C: the predicates that hold in all models; `None` if there is no model.
    fn implied(
        &mut self,
        premises: Vec<Term>,
        tracked: &[u32],
        terms: &[Term],
    ) -> Result<Option<Node>, Halt> {
        let Some(first) = self.valuation(&premises, terms)? else { return Ok(None) };
        let hold = first.iter().enumerate().filter(|(_, holds)| **holds);
        let open: Vec<usize> = hold.map(|(i, _)| i).collect();
        let conclusions: Vec<Term> = open.iter().map(|&i| terms[i]).collect();
        let verdicts = services::implications(&mut self.solver, &mut self.terms, &premises, &conclusions);
        let mut region = Node::TRUE;
        for (i, verdict) in open.into_iter().zip(verdicts) {
            match verdict {
                Implied::Yes => region = self.literal(region, tracked[i], true)?,
                Implied::No => {}
                Implied::Unknown(why) => return Err(no_answer(why)),
            }
        }
        Ok(Some(region))
    }

    /// (φ)_B: the truth values that the terms have in the models.
    fn valuations(&mut self, mut premises: Vec<Term>, terms: &[Term]) -> Result<Vec<Vec<bool>>, Halt> {
        let mut found: Vec<Vec<bool>> = Vec::new();
        while let Some(valuation) = self.valuation(&premises, terms)? {
            let mut others = Vec::with_capacity(terms.len());
            for (&term, &holds) in terms.iter().zip(&valuation) {
                others.push(if holds { self.terms.not(term) } else { term });
            }
            premises.push(self.terms.or_all(others));
            found.push(valuation);
            if terms.is_empty() {
                break;
            }
            if found.len() > MAX_VALUATIONS {
                return Err(Halt::Limit(format!("more than {MAX_VALUATIONS} valuations of predicates")));
            }
        }
        Ok(found)
    }

    /// The truth values of the terms in some model.
    fn valuation(&mut self, premises: &[Term], terms: &[Term]) -> Result<Option<Vec<bool>>, Halt> {
        match self.solver.check(&mut self.terms, premises) {
            Answer::Unsat => return Ok(None),
            Answer::Unknown(why) => return Err(no_answer(why)),
            Answer::Sat => {}
        }
        if terms.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let Some(model) = self.solver.model(&mut self.terms) else {
            return Err(Halt::Limit("the solver gave no model".into()));
        };
        let mut evaluator = Evaluator::new(&model);
        Ok(Some(terms.iter().map(|&t| evaluator.truth(&self.terms, t)).collect()))
    }

    /// What a step does, from the arbitrary state; `None` if it is impossible.
    fn formula(&mut self, step: &Step) -> Result<Option<Rc<StepFormula>>, Halt> {
        if let Some(known) = self.formulas.get(step) {
            return Ok(known.clone());
        }
        if let StepKind::Block(_) = step.kind {
            // All blocks from a location are made at once.
            let start = self.steps.program().edges[step.edge].src;
            let before = match self.steps.is_start(start) {
                true => self.encoder.initial_state(&mut self.terms),
                false => self.before.clone(),
            };
            for end in self.steps.blocks(&mut self.encoder, &mut self.terms, start, before)? {
                let kind = StepKind::Block(end.loc);
                self.enter_formula(Step { edge: step.edge, kind }, Some(end.state));
            }
        } else {
            let after = self.steps.after(&mut self.encoder, &mut self.terms, &self.before, step)?;
            self.enter_formula(*step, after);
        }
        Ok(self.formulas.entry(*step).or_default().clone())
    }

    fn enter_formula(&mut self, step: Step, after: Option<State>) {
        let formula = after.map(|after| {
            let guard = after.guard(&mut self.terms);
            Rc::new(StepFormula { after, guard })
        });
        self.formulas.insert(step, formula);
    }

    fn term_after(&mut self, step: &Step, formula: &StepFormula, predicate: u32) -> Term {
        if let Some(&term) = self.after.get(&(*step, predicate)) {
            return term;
        }
        let expr = self.predicates[predicate as usize];
        let term = self.encoder.cond(&mut self.terms, &formula.after, expr);
        self.after.insert((*step, predicate), term);
        term
    }
}
