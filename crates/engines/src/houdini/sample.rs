//! Candidates that a run of the program contradicts are no invariants: a few random runs spare the
//! solver most of its models.

use super::refine::Candidate;
use palisade_analyses::samples::{Runs, Samples};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_interp::{Registers, State};
use palisade_task::Task;
use rustc_hash::FxHashSet;

/// Drops what a run contradicts: `alive` tells for each of the loop heads which candidates are
/// believed.
///
/// Those about registers alone are looked at in the samples that there are; for what memory holds, and for ghosts,
/// which take a random value in each run, there are runs of their own. A candidate that has no value, because it reads
/// where nothing is, stays.
pub fn contradict(
    task: &Task,
    samples: &Samples,
    candidates: &[Candidate],
    ghosts: &[VarId],
    heads: &[LocId],
    alive: &mut [Vec<bool>],
    budget: &Budget,
) {
    let mut registers = Registers::new(&task.program, task.program.entry);
    let sampled: FxHashSet<VarId> =
        samples.vars().iter().copied().filter(|&var| registers.set(var, 0)).collect();
    let plain: Vec<bool> = candidates.iter().map(|c| reads_only(&task.program, c.expr, &sampled)).collect();
    for (head, alive) in heads.iter().zip(&mut *alive) {
        for values in samples.at(*head) {
            if budget.stopped().is_some() {
                return;
            }
            for (var, bits) in samples.vars().iter().zip(values) {
                registers.set(*var, *bits);
            }
            let state = registers.state();
            for ((candidate, alive), _) in
                candidates.iter().zip(&mut *alive).zip(&plain).filter(|(_, plain)| **plain)
            {
                *alive = *alive && !contradicts(&state, candidate);
            }
        }
    }
    if alive.iter().all(|alive| alive.iter().zip(&plain).all(|(alive, plain)| *plain || !alive)) {
        return;
    }
    let mut program = task.program.clone();
    for &ghost in ghosts {
        // An unknown that is chosen once, before the run.
        program.vars[ghost].kind = VarKind::Global;
    }
    Runs::to_heads(&program, budget).watch_heads(task, heads, |head, state| {
        for ((candidate, alive), _) in
            candidates.iter().zip(&mut alive[head]).zip(&plain).filter(|(_, plain)| !**plain)
        {
            *alive = *alive && !contradicts(state, candidate);
        }
    });
}

fn contradicts(state: &State<'_>, candidate: &Candidate) -> bool {
    state.eval(candidate.expr).is_ok_and(|value| value.bits == 0)
}

/// Whether the value of an expression depends on nothing but some variables.
fn reads_only(program: &Program, expr: ExprId, vars: &FxHashSet<VarId>) -> bool {
    let mut only = true;
    program.visit_op(&Op::Assume { cond: expr }, &mut |used| {
        only &= match used {
            Use::Read(place) => matches!(program.places[place].base, Base::Var(v) if vars.contains(&v)),
            Use::Address(_) | Use::Write(_) => false,
            Use::Expr(e) => {
                let kind = &program.exprs[e].kind;
                !kind.asks_about_objects() && !matches!(kind, ExprKind::ReadOnly(_) | ExprKind::Overlap(..))
            }
        }
    });
    only
}
