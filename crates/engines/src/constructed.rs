//! Invariants constructed by the methods of section 6 of "Combining Model Checking and Data-Flow Analysis", as
//! engines: `backward` (6.1), `template` (6.3) and `learning` (6.5). Refinement of predicates (6.2) is the
//! composite `location+predicate`; bounds of loops (6.4) say nothing about errors.

use crate::board::Board;
use crate::numeric::{Atoms, constraint};
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_analyses::invariants::inductive::{Candidates, Clause};
use palisade_analyses::invariants::linear::{Linear, Relation};
use palisade_analyses::invariants::{backward, learning, template};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_domains::{Dim, Domain, LinCons, LinExpr, Rel};
use palisade_evidence::Invariants;
use palisade_num::Rat;
use palisade_task::Task;

/// The method, and the engine of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Constructed {
    /// From the errors backward, over polyhedra.
    Backward,
    /// Linear templates, by Farkas' lemma.
    Template,
    /// Candidates from concrete runs.
    Learning,
}

impl Engine for Constructed {
    fn name(&self) -> &str {
        match self {
            Constructed::Backward => "backward",
            Constructed::Template => "template",
            Constructed::Learning => "learning",
        }
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, _: &Progress<'_>) -> Outcome {
        match self.invariants(task, board, budget) {
            Ok(Some(found)) => Outcome::Proof(Certificate::Invariants(found)),
            Ok(None) => Outcome::Unknown("the invariants do not exclude the errors".into()),
            Err(halt) => Outcome::Unknown(halt.to_string()),
        }
    }
}

impl Constructed {
    /// Invariants that exclude the errors.
    fn invariants(self, task: &Task, board: &Board, budget: &Budget) -> Result<Option<Invariants>, Halt> {
        let alone = |facts: Candidates| -> Candidates<Clause> {
            let clauses = |facts: Vec<Linear>| facts.into_iter().map(|f| Clause(vec![f])).collect();
            facts.into_iter().map(|(head, facts)| (head, clauses(facts))).collect()
        };
        let (facts, proved) = match self {
            Constructed::Backward => {
                let context = (Domain::polyhedra().context)(budget);
                let (_, checked) = backward::invariants(task, context, budget)?;
                (checked.invariants, checked.proved)
            }
            Constructed::Template => {
                let checked = template::invariants(task, budget)?;
                (alone(checked.invariants), checked.proved)
            }
            Constructed::Learning => {
                let checked = learning::invariants(task, &board.samples(self.name(), task, budget), budget)?;
                (alone(checked.invariants), checked.proved)
            }
        };
        if !proved {
            return Ok(None);
        }
        let mut pool = Invariants::none(&task.program);
        for (head, clauses) in facts {
            for Clause(literals) in clauses {
                let said: Option<Vec<ExprId>> =
                    literals.iter().map(|l| expression(&task.program, &mut pool, l)).collect();
                if let Some(said) = said {
                    let any = pool.all(BinOp::Or, &said);
                    pool.at.push((head, any));
                }
            }
        }
        Ok(Some(pool))
    }
}

/// A linear fact as an expression, in the arithmetic in which it is meant.
fn expression(program: &Program, pool: &mut Invariants, fact: &Linear) -> Option<ExprId> {
    if let Some(width) = fact.machine_width(program) {
        let word = IntTy { bits: u16::try_from(width).ok()?, signed: false };
        let mut sum = pool.int(word, fact.constant.to_i128()?);
        for (v, k) in &fact.terms {
            let value = pool.var(program, *v);
            let value = pool.expr(Scalar::Int(word), ExprKind::Convert(value));
            let k = pool.int(word, k.to_i128()?);
            let term = pool.expr(Scalar::Int(word), ExprKind::Binary(BinOp::Mul, k, value));
            sum = pool.expr(Scalar::Int(word), ExprKind::Binary(BinOp::Add, sum, term));
        }
        let zero = pool.int(word, 0);
        return Some(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, sum, zero)));
    }
    let mut atoms = Atoms::default();
    let mut terms = Vec::new();
    for (v, k) in &fact.terms {
        let ty = program.scalar_of(program.vars[*v].ty)?.int()?;
        let dim = Dim::int(v.0);
        atoms.insert(dim, (pool.var(program, *v), ty));
        // Σ ≥ 0 is -Σ ≤ 0.
        terms.push((dim, -Rat::from(k.clone())));
    }
    let rel = match fact.relation {
        Relation::Zero => Rel::Eq,
        Relation::NonNegative => Rel::Le,
    };
    let expr = LinExpr::new(terms, -Rat::from(fact.constant.clone()));
    constraint(pool, &atoms, &LinCons { expr, rel })
}
