//! Template- and constraint-based invariants (section 6.3).
//!
//! At each loop head the invariant is guessed to be `Σ aᵥ·v + d = 0` or `≥ 0` with unknown
//! coefficients. That it holds at first, is preserved by the loop and rules out the error are
//! implications between linear facts that hold for all values of the variables; Farkas' lemma
//! replaces each by the existence of multipliers. The multiplier of the template itself is fixed to
//! 1, so that the constraints on all unknowns are linear.

use super::farkas;
use super::inductive::{Candidates, Checked, houdini};
use super::linear::{Linear, Relation};
use super::matrix::{null_space, reduce};
use super::paths::{Affine, mentioned, paths};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::Halt;
use palisade_domains::{Dim, LinExpr};
use palisade_num::Rat;
use palisade_task::Task;
use std::collections::BTreeMap;

/// Variables of one template beyond this number are left out.
const MAX_VARS: usize = 12;

/// The implications about one loop head.
struct System {
    vars: Vec<VarId>,
    /// Ways to the head from the start of the program.
    init: Vec<Affine>,
    /// Ways around the loop.
    step: Vec<Affine>,
    /// Ways from the head to an error.
    wrong: Vec<Affine>,
}

/// Template invariants of all loops, checked by the solver.
pub fn invariants(task: &Task, budget: &Budget) -> Result<Checked, Halt> {
    let program = &task.program;
    let graph = program.analyse();
    let entry = task.body().entry;
    let mut candidates = Candidates::new();
    for head in graph.loop_heads(program.entry) {
        budget.check()?;
        let all = |found: Vec<Vec<EdgeId>>, initial| -> Vec<Affine> {
            found.iter().map(|p| Affine::of_path(program, p, initial)).collect()
        };
        let around = paths(program, head, head, &[]);
        let to_errors: Vec<Vec<EdgeId>> =
            task.errors.iter().flat_map(|e| paths(program, head, e.loc, &[head])).collect();
        let to_head = if head == entry { vec![Vec::new()] } else { paths(program, entry, head, &[head]) };
        let mut vars = mentioned(program, &around);
        vars.extend(mentioned(program, &to_errors));
        vars.sort_unstable();
        vars.dedup();
        vars.truncate(MAX_VARS);
        let system =
            System { vars, init: all(to_head, true), step: all(around, false), wrong: all(to_errors, false) };
        let mut found = system.equations();
        found.extend(system.inequality());
        candidates.insert(head, found);
    }
    houdini(task, candidates, budget)
}

/// For each dimension (and the constant, `None`), which unknown has which coefficient.
type Matching = BTreeMap<Option<Dim>, Vec<(usize, Rat)>>;

fn add(matching: &mut Matching, unknown: usize, expr: &LinExpr, scale: &Rat) {
    for (d, k) in expr.terms() {
        matching.entry(Some(*d)).or_default().push((unknown, k * scale));
    }
    matching.entry(None).or_default().push((unknown, expr.constant_term() * scale));
}

impl System {
    /// The template over the values at the end of a path, unknown by unknown.
    fn at_end(&self, path: &Affine) -> Vec<LinExpr> {
        let one = LinExpr::constant(Rat::ONE);
        self.vars.iter().map(|v| path.value(*v)).chain([one]).collect()
    }

    /// The template over the values at the start.
    fn at_start(&self) -> Vec<LinExpr> {
        let one = LinExpr::constant(Rat::ONE);
        self.vars.iter().map(|v| LinExpr::dim(Dim::int(v.0))).chain([one]).collect()
    }

    /// A basis of the equations `Σ aᵥ·v + d = 0` that hold at first and are preserved: a linear
    /// system in the coefficients and the multipliers of the equations on the paths.
    fn equations(&self) -> Vec<Linear> {
        let unknowns = self.vars.len() + 1;
        let mut width = unknowns;
        let mut matchings = Vec::new();
        for (path, preserved) in
            self.init.iter().map(|p| (p, false)).chain(self.step.iter().map(|p| (p, true)))
        {
            let mut matching = Matching::new();
            for (u, expr) in self.at_end(path).iter().enumerate() {
                add(&mut matching, u, expr, &Rat::ONE);
            }
            if preserved {
                for (u, expr) in self.at_start().iter().enumerate() {
                    add(&mut matching, u, expr, &-Rat::ONE);
                }
            }
            for guard in path.guards.iter().filter(|g| g.equal) {
                add(&mut matching, width, &guard.expr, &-Rat::ONE);
                width += 1;
            }
            matchings.push(matching);
        }
        let mut rows = Vec::new();
        for equation in matchings.into_iter().flat_map(Matching::into_values) {
            let mut row = vec![Rat::ZERO; width];
            for (u, k) in equation {
                row[u] = &row[u] + &k;
            }
            rows.push(row);
        }
        let mut basis: Vec<Vec<Rat>> =
            null_space(rows, width).into_iter().map(|v| v[..unknowns].to_vec()).collect();
        // Each fact should speak about few variables: the later ones by the earlier ones and the
        // constant.
        reduce(&mut basis, (0..unknowns - 1).rev().chain([unknowns - 1]));
        basis.iter().filter_map(|row| self.linear(row, Relation::Zero)).collect()
    }

    fn linear(&self, coefficients: &[Rat], relation: Relation) -> Option<Linear> {
        let terms: Vec<(VarId, Rat)> = self.vars.iter().copied().zip(coefficients.iter().cloned()).collect();
        Linear::new(&terms, &coefficients[self.vars.len()], relation)
    }

    /// One inequality that holds at first, is preserved and excludes every way to an error.
    fn inequality(&self) -> Option<Linear> {
        if self.wrong.is_empty() {
            return None;
        }
        let mut program = farkas::Program::default();
        let unknowns: Vec<usize> = (0..=self.vars.len()).map(|_| program.unknown(false)).collect();
        // template ∘ path - [template] = multipliers · guards + non-negative constant.
        for (path, preserved) in
            self.init.iter().map(|p| (p, false)).chain(self.step.iter().map(|p| (p, true)))
        {
            let mut matching = Matching::new();
            for (u, expr) in unknowns.iter().zip(self.at_end(path)) {
                add(&mut matching, *u, &expr, &Rat::ONE);
            }
            if preserved {
                for (u, expr) in unknowns.iter().zip(self.at_start()) {
                    add(&mut matching, *u, &expr, &-Rat::ONE);
                }
            }
            combine(&mut program, matching, path, Rat::ZERO);
        }
        // template + multipliers · guards + non-negative constant = -1: a contradiction.
        for path in &self.wrong {
            let mut matching = Matching::new();
            for (u, expr) in unknowns.iter().zip(self.at_start()) {
                add(&mut matching, *u, &expr, &-Rat::ONE);
            }
            combine(&mut program, matching, path, Rat::ONE);
        }
        let solution = program.solve()?;
        let coefficients: Vec<Rat> = unknowns.iter().map(|u| solution[*u].clone()).collect();
        self.linear(&coefficients, Relation::NonNegative)
    }
}

/// Requires that what is matched is a non-negative combination of the guards plus a non-negative
/// constant (plus `extra`).
fn combine(program: &mut farkas::Program, mut matching: Matching, path: &Affine, extra: Rat) {
    for guard in &path.guards {
        let multiplier = program.unknown(!guard.equal);
        add(&mut matching, multiplier, &guard.expr, &-Rat::ONE);
    }
    let rest = program.unknown(true);
    matching.entry(None).or_default().push((rest, -Rat::ONE));
    for (dim, left) in matching {
        program.equation(left, if dim.is_none() { extra.clone() } else { Rat::ZERO });
    }
}
