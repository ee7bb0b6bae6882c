//! The refinement of section 6: what to keep so that a trace that the program does not have is no
//! trace of the abstraction either.

use crate::abstraction::{Abstraction, Kept};
use crate::program::*;
use crate::trace::{self, encode};
use palisade_base::{Budget, Stop};
use palisade_logic::{Answer, Solver, Term, Terms, Value};

/// At most this many values of an index are told apart; beyond, all elements of the array are kept.
const MAX_VALUES: usize = 64;
/// Arrays of more elements are never kept as a whole.
const MAX_WHOLE: i64 = 4096;

/// `refine(τ, Π, V, R)` of figure 3: V' are all variables of the proof's leaves, which are the steps of the
/// core; R' is such that in each trace of the new abstraction every placeholder `Q(e, a)` holds: `e` is one
/// of the indexes `R'(a)` (condition 2). `None` if the solver cannot tell, or too much would be kept.
pub fn refine(
    program: &Program,
    trace: &[Vertex],
    core: &[usize],
    kept: &Kept,
    budget: &Budget,
) -> Result<Option<Kept>, Stop> {
    let mut new = kept.clone();
    // The placeholders: step, array and index.
    let mut placeholders: Vec<(usize, Array, &Expr)> = Vec::new();
    for &step in core {
        let stmt = program.stmt(trace[step]);
        stmt.visit(&mut |e| match e {
            Expr::Var(v) => {
                new.vars.insert(*v);
            }
            Expr::Element(a, index) => placeholders.push((step, *a, index)),
            _ => {}
        });
        if let Stmt::Assign(assigned, _) = stmt {
            new.vars.extend(assigned.iter().map(|(v, _)| *v));
        }
    }
    loop {
        budget.check()?;
        let abstraction = Abstraction::new(program, &new);
        let mut terms = Terms::new();
        let encoding = encode(&mut terms, &abstraction.program, trace);
        let formulas: Vec<Term> =
            encoding.formulas.iter().flatten().chain(&encoding.domains).copied().collect();
        let mut solver = trace::solver(budget);
        let mut changed = false;
        for &(step, array, index) in &placeholders {
            let e = trace::expr(&mut terms, &encoding.before[step], &abstraction.expr(index));
            let mut question = formulas.clone();
            for &k in &new.elements[array.0] {
                let k = terms.bv_signed(64, i128::from(k));
                question.push(terms.ne(e, k));
            }
            match solver.check(&mut terms, &question) {
                Answer::Unsat => continue,
                Answer::Unknown(_) => {
                    budget.check()?;
                    return Ok(None);
                }
                Answer::Sat => {}
            }
            let value = match solver.value(&mut terms, e) {
                Some(Value::BitVec(bits)) => bits.to_u128().map(|b| b as u64 as i64),
                _ => None,
            };
            let Some(value) = value else { return Ok(None) };
            let dim = program.arrays[array.0].1;
            let elements = &mut new.elements[array.0];
            let many = elements.len() > kept.elements[array.0].len() + MAX_VALUES;
            if (0..dim).contains(&value) && !many {
                elements.insert(value);
            } else if (elements.len() as i64) < dim && dim <= MAX_WHOLE {
                *elements = (0..dim).collect();
            } else if (elements.len() as i64) < dim {
                return Ok(None);
            } else {
                // All elements are kept, and the index is outside: no trace of the program does that
                // without failing before.
                continue;
            }
            changed = true;
            break;
        }
        if !changed {
            return Ok(Some(new));
        }
    }
}
