//! Which variables of a program without arrays still matter at a vertex.
//!
//! States that differ in others only have the same traces from there on, so these can be forgotten.

use crate::model_check::dim;
use crate::program::*;
use palisade_domains::{NumericDomain, Polyhedra};

/// The live variables, by vertex from 1 on.
pub struct Live(Vec<Vec<bool>>);

impl Live {
    /// The usual backward analysis.
    pub fn of(program: &Program) -> Live {
        let mut live = vec![vec![false; program.vars.len()]; program.stmts.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (i, stmt) in program.stmts.iter().enumerate().rev() {
                let mut now = vec![false; program.vars.len()];
                for next in stmt.successors().flatten().filter(|&next| next != 0) {
                    now.iter_mut().zip(&live[next - 1]).for_each(|(n, after)| *n |= after);
                }
                if let Stmt::Assign(assigned, _) = stmt {
                    let needed: Vec<&Expr> =
                        assigned.iter().filter(|(v, _)| now[v.0]).map(|(_, e)| e).collect();
                    assigned.iter().for_each(|(v, _)| now[v.0] = false);
                    needed.into_iter().for_each(|e| read(e, &mut now));
                } else {
                    stmt.visit(&mut |e| mark(e, &mut now));
                }
                if now != live[i] {
                    live[i] = now;
                    changed = true;
                }
            }
        }
        Live(live)
    }

    /// Forgets what does not matter at a vertex.
    pub fn restrict(&self, states: &mut Polyhedra, vertex: Vertex) {
        let live = &self.0[vertex - 1];
        let dead = |v: &usize| !live[*v];
        let support = states.support();
        let dead: Vec<_> =
            (0..live.len()).filter(dead).map(|v| dim(Var(v))).filter(|d| support.contains(d)).collect();
        if !dead.is_empty() {
            states.forget(&dead);
        }
    }
}

fn read(e: &Expr, live: &mut [bool]) {
    e.visit(&mut |e| mark(e, live));
}

fn mark(e: &Expr, live: &mut [bool]) {
    if let Expr::Var(v) = e {
        live[v.0] = true;
    }
}
