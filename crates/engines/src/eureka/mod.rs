//! The engine `eureka`: abstraction refinement over variables and array elements, after "Abstraction
//! Refinement of Linear Programs with Arrays".
//!
//! The task becomes a linear program with arrays ([`translate`]). A program may name the elements that matter,
//! as the one that ends a string; if what it names is not enough, the procedure AR of the crate `eureka` finds
//! the variables and elements, by traces that get longer with the arrays. What the model checker holds at the loop heads is the certificate,
//! and a feasible trace is solved as a path of the task.

mod linear;
mod translate;

use crate::board::Board;
use crate::numeric::{Atoms, holds_at};
use crate::path::solve_path;
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_domains::NumericDomain;
use palisade_eureka::model_check::dim;
use palisade_eureka::{
    Abstraction, Answer, Checked, Kept, Mode, Origin, Reached, Var as Numeric, model_check,
};
use palisade_evidence::Invariants;
use palisade_task::Task;
use translate::{Translated, translate};

/// The engine.
pub struct Eureka;

/// A loop head reached with more sets of states has no fact that anybody would check.
const MAX_SETS: usize = 2000;

/// With more variables and elements nothing is guessed.
const MAX_GUESS: usize = 30;

impl Engine for Eureka {
    fn name(&self) -> &str {
        "eureka"
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        let Some(translated) = translate(task) else {
            return Outcome::Unknown("the program is too large".into());
        };
        let program = &translated.program;
        if program.arrays.is_empty() {
            return Outcome::Unknown("the program has no arrays of integers".into());
        }
        let named = Kept::named(program);
        progress(format_args!("named: {} variables, {} array elements", named.vars.len(), named.count()));
        match guess(program, &named, budget) {
            Err(stop) => return Outcome::Unknown(stop.to_string()),
            Ok(Some((abstraction, reached))) => return proof(task, &translated, &abstraction, &reached),
            Ok(None) => {}
        }
        let mut round = 0;
        let observe = &mut |kept: &Kept| {
            round += 1;
            progress(format_args!(
                "round {round}: {} variables, {} array elements",
                kept.vars.len(),
                kept.count()
            ));
        };
        match palisade_eureka::check(program, Kept::none(program), budget, observe) {
            Err(stop) => Outcome::Unknown(stop.to_string()),
            Ok(Answer::Unknown(why)) => Outcome::Unknown(why),
            Ok(Answer::Safe(abstraction, reached)) => proof(task, &translated, &abstraction, &reached),
            Ok(Answer::Trace(trace)) => {
                let path = translated.path(&trace);
                let end = path.last().map(|&e| task.program.edges[e].dst);
                if end.is_none_or(|loc| task.error_at(loc).is_none()) {
                    return Outcome::Unknown("a call that is not followed is reached".into());
                }
                match solve_path(task, &path, budget) {
                    Ok(Some(counterexample)) => Outcome::Bug(counterexample),
                    Ok(None) => Outcome::Unknown("a path that its linear part does not exclude".into()),
                    Err(why) => Outcome::Unknown(why),
                }
            }
        }
    }
}

/// Whether the elements that the program names are enough, and what is reached then.
fn guess(
    program: &palisade_eureka::Program,
    kept: &Kept,
    budget: &Budget,
) -> Result<Option<(Abstraction, Reached)>, Stop> {
    if kept.vars.len() + kept.count() > MAX_GUESS {
        return Ok(None);
    }
    let abstraction = Abstraction::new(program, kept);
    Ok(match model_check(&abstraction.program, Mode::Widening, budget)? {
        Checked::Safe(reached) => Some((abstraction, reached)),
        Checked::Trace(_) | Checked::TooLarge => None,
    })
}

/// What is reached at the loop heads, in terms of variables and elements.
fn proof(task: &Task, translated: &Translated, abstraction: &Abstraction, reached: &Reached) -> Outcome {
    let program = &task.program;
    let mut pool = Invariants::none(program);
    let mut atoms = Atoms::default();
    for (i, origin) in abstraction.origins.iter().enumerate() {
        let atom = match *origin {
            Origin::Var(v) => {
                let var = translated.vars[v.0];
                let ty = program.scalar_of(program.vars[var].ty).and_then(Scalar::int);
                ty.map(|ty| (pool.var(program, var), ty))
            }
            Origin::Element(a, k) => element(program, &mut pool, translated, a.0, k),
        };
        if let Some(atom) = atom {
            atoms.insert(dim(Numeric(i)), atom);
        }
    }
    for head in program.analyse().loop_heads(program.entry) {
        let Some(&vertex) = translated.vertex.get(&head) else { continue };
        let sets = &reached.at[vertex];
        if sets.len() > MAX_SETS {
            return Outcome::Unknown("the invariant has too many cases".into());
        }
        let disjuncts: Vec<_> = sets.iter().flat_map(NumericDomain::to_constraints).collect();
        holds_at(&mut pool, &atoms, head, &disjuncts);
    }
    Outcome::Proof(Certificate::Invariants(pool))
}

/// The value of an element of an array.
fn element(
    program: &Program,
    pool: &mut Invariants,
    translated: &Translated,
    array: usize,
    index: i64,
) -> Option<(ExprId, IntTy)> {
    let (var, indexed) = translated.arrays[array];
    let mut ty = program.vars[var].ty;
    let mut rest = u64::try_from(index).ok()?.checked_mul(indexed.stride)?;
    let mut path = Vec::new();
    // Rows first.
    while let Type::Array(elem, _) = program.types[ty] {
        let stride = program.size_of(elem).filter(|&n| n > 0)?;
        let index = pool.int(Invariants::GHOST, i128::from(rest / stride));
        path.push(Proj::Index { index, stride });
        rest %= stride;
        ty = elem;
    }
    let place = pool.place(Place { base: Base::Var(var), path: path.into_iter().collect(), ty, bits: None });
    Some((pool.expr(Scalar::Int(indexed.elem), ExprKind::Load(place)), indexed.elem))
}
