//! Satisfiability on the side: if Assume[φ](⊤) is ⊥ then φ has no model (section 2). The answers are
//! `unsat` and `unknown`.

use crate::assume::{Assume, Config};
use crate::formula::{Formula, Reading, within_types};
use crate::lra;
use crate::operations::wide;
use crate::terms::Vocabulary;
use palisade_base::Budget;
use palisade_domains::{
    Affine, Dynamic, Lattice, Limits as Blocks, NumericDomain, Polyhedra, Product, WordSize,
};
use palisade_logic::smtlib::{self, sexpr};
use palisade_logic::{Answer, Limits, Model, Op, Solver, Sort, Term, Terms, Unknown};
use std::io::Write;

/// Runs an SMT-LIB script by the method, with k-assume: QF_LRA over polyhedra, bit-vectors over
/// polyhedra with affine relations. Returns the exit status as [`smtlib::run`] does.
pub fn run(text: &[u8], file: &str, out: &mut dyn Write, k: u32) -> u8 {
    if is_real(text) {
        return match lra::run(text, out, &wide(k)) {
            Ok(()) => smtlib::OK,
            Err(error) => {
                smtlib::report(text, file, &error, out);
                smtlib::ERROR
            }
        };
    }
    smtlib::run_on(text, file, out, &|| Box::new(Stalmarck::new(k)))
}

/// Whether the script's logic is one of linear real arithmetic.
fn is_real(text: &[u8]) -> bool {
    let mut reader = sexpr::Reader::new(text);
    let mut tree = sexpr::Tree::new(text);
    while let Ok(Some(id)) = reader.next(&mut tree) {
        if let Some([head, logic]) = tree.list(id)
            && tree.word(*head) == Some("set-logic")
        {
            return matches!(tree.word(*logic), Some("QF_LRA" | "QF_RDL"));
        }
    }
    false
}

/// The method as a solver for bit-vectors.
pub struct Stalmarck {
    config: Config,
    assertions: Vec<Term>,
    levels: Vec<usize>,
    core: Vec<Term>,
}

impl Stalmarck {
    /// A solver by k-assume.
    pub fn new(k: u32) -> Stalmarck {
        Stalmarck { config: wide(k), assertions: Vec::new(), levels: Vec::new(), core: Vec::new() }
    }

    /// Is there provably no model?
    fn refutes(&self, terms: &mut Terms, phi: Term) -> bool {
        let mut voc = variables(terms, phi);
        let top = Dynamic::of(Product::<Polyhedra, Affine>::top(&(Blocks::STANDARD, WordSize::new(64))));
        let formula = Formula::of_term(terms, &mut voc, phi, Reading::Sides);
        let mut a = top;
        within_types(&voc, &mut a);
        Assume::new(&formula, self.config.clone()).run(a).is_bottom()
    }
}

/// All bit-vector variables of a formula; those that are compared or extended with their sign are signed.
pub fn variables(terms: &Terms, phi: Term) -> Vocabulary {
    let mut voc = Vocabulary::new();
    let all = terms.subterms(&[phi]);
    let mut signed: rustc_hash::FxHashSet<Term> = rustc_hash::FxHashSet::default();
    for t in &all {
        if matches!(terms.op(*t), Op::Slt | Op::SignExtend | Op::Smulo | Op::Ashr) {
            signed.extend(terms.args(*t));
        }
    }
    for t in all.into_iter().filter(|t| terms.op(*t) == Op::Var) {
        if let Sort::BitVec(_) = terms.sort(t) {
            voc.add(terms, t, signed.contains(&t));
        }
    }
    voc
}

impl Solver for Stalmarck {
    fn assert(&mut self, _: &mut Terms, t: Term) {
        self.assertions.push(t);
    }

    fn push(&mut self) {
        self.levels.push(self.assertions.len());
    }

    fn pop(&mut self) {
        if let Some(n) = self.levels.pop() {
            self.assertions.truncate(n);
        }
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        let phi = terms.and_all(self.assertions.iter().chain(assumptions).copied());
        if self.refutes(terms, phi) {
            self.core = assumptions.to_vec();
            return Answer::Unsat;
        }
        match self.config.budget.stopped() {
            Some(stop) => Answer::Unknown(Unknown::Stopped(stop)),
            None => Answer::Unknown(Unknown::Failed("the method only finds contradictions".into())),
        }
    }

    fn model(&mut self, _: &mut Terms) -> Option<Model> {
        None
    }

    fn unsat_core(&self) -> Vec<Term> {
        self.core.clone()
    }

    fn set_limits(&mut self, limits: Limits) {
        let budget: Budget = limits.budget;
        self.config.budget = budget;
    }
}
