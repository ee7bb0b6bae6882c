//! Invariants learned from concrete samples (section 6.5).
//!
//! The interpreter runs the program with random inputs; what it shows at a loop head ([`Samples`]) is a sample of
//! the desired invariant. The hypothesis is the strongest conjunction of linear equations and of bounds on
//! variables, sums and differences that no sample contradicts; the solver answers whether it is
//! one, and takes out what is not.

use super::inductive::{Candidates, Checked, houdini};
use super::linear::{Linear, Relation};
use super::matrix::{null_space, reduce};
use crate::samples::Samples;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_num::{Int, Rat};
use palisade_task::Task;

/// Variables of a hypothesis beyond this number are left out.
const MAX_VARS: usize = 12;

/// Learned invariants of all loops, checked by the solver.
pub fn invariants(task: &Task, samples: &Samples, budget: &Budget) -> Result<Checked, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let mut candidates = Candidates::new();
    for head in graph.loop_heads(program.entry) {
        budget.check()?;
        let vars = variables(program, &graph, head);
        candidates.insert(head, hypothesis(program, &vars, &samples.integers(program, head, &vars)));
    }
    houdini(task, candidates, budget)
}

/// The registers that the loop of a head mentions.
fn variables(program: &Program, graph: &wto::Graph, head: LocId) -> Vec<VarId> {
    let mut vars = Vec::new();
    for &loc in graph.loop_body(program, head) {
        for (_, edge) in program.out_edges(loc) {
            program.visit_op(&edge.op, &mut |used| {
                if let Use::Read(p) | Use::Write(p) = used
                    && let Base::Var(v) = program.places[p].base
                    && program.places[p].path.is_empty()
                    && program.integer_register(v).is_some()
                {
                    vars.push(v);
                }
            });
        }
    }
    vars.retain(|v| !program.vars[*v].name.starts_with('.'));
    vars.sort_unstable();
    vars.dedup();
    vars.truncate(MAX_VARS);
    vars
}

/// The strongest hypothesis that no sample contradicts.
fn hypothesis(program: &Program, vars: &[VarId], samples: &[Vec<i128>]) -> Vec<Linear> {
    if samples.is_empty() || vars.is_empty() {
        return Vec::new();
    }
    let rat = |x: i128| Rat::from(Int::from(x));
    // Equations: the coefficients that every sample, with a 1 for the constant, maps to zero.
    let rows: Vec<Vec<Rat>> =
        samples.iter().map(|s| s.iter().map(|x| rat(*x)).chain([Rat::ONE]).collect()).collect();
    let width = vars.len() + 1;
    let mut basis = null_space(rows, width);
    // The later variables by the earlier ones and the constant.
    reduce(&mut basis, (0..vars.len()).rev().chain([vars.len()]));
    let linear = |k: &[(usize, i128)], constant: &Rat, relation| {
        let terms: Vec<(VarId, Rat)> = k.iter().map(|(i, k)| (vars[*i], rat(*k))).collect();
        Linear::new(&terms, constant, relation)
    };
    let mut found: Vec<Linear> = basis
        .iter()
        .filter_map(|row| {
            let terms: Vec<(VarId, Rat)> = vars.iter().copied().zip(row.iter().cloned()).collect();
            Linear::new(&terms, &row[vars.len()], Relation::Zero)
        })
        .collect();
    // Bounds: the least value of x, -x, x + y, x - y, ..., except the ends of a type.
    let mut bound = |k: &[(usize, i128)]| {
        let least = samples.iter().map(|s| k.iter().map(|(i, k)| k * s[*i]).sum::<i128>()).min();
        if let Some(least) = least {
            let trivial = matches!(k, [(i, k)] if at_end(program, vars[*i], k * least));
            if !trivial {
                found.extend(linear(k, &rat(-least), Relation::NonNegative));
                // Weaker ones that often hold when the sampled one does not.
                if least > 0 {
                    found.extend(linear(k, &Rat::ZERO, Relation::NonNegative));
                }
            }
        }
    };
    for i in 0..vars.len() {
        for k in [1, -1] {
            bound(&[(i, k)]);
            for j in i + 1..vars.len() {
                for l in [1, -1] {
                    bound(&[(i, k), (j, l)]);
                }
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether a value is an end of a variable's type.
fn at_end(program: &Program, var: VarId, value: i128) -> bool {
    program.integer_register(var).is_some_and(|t| {
        let bits = t.truncate(value as u128);
        bits == t.min_bits() || bits == t.max_bits()
    })
}
