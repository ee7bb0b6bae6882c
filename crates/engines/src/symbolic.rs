//! Abstract interpretation with transformers by symbolic abstraction: one step for each piece of the program
//! between loop heads, in a numeric domain.
//!
//! What holds at the loop heads is the certificate if the solver finds no way from there to an error.

use crate::board::Board;
use crate::numeric::{Cell, atoms, holds_at};
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_analyses::invariants::symbolic;
use palisade_base::Budget;
use palisade_cfa::{IntTy, VarId};
use palisade_domains::{Dim, Domain, Dynamic, NumericDomain};
use palisade_evidence::Invariants;
use palisade_task::Task;
use rustc_hash::FxHashMap;

/// The engine over a numeric domain.
pub struct SymbolicTransformers {
    /// Its name.
    pub name: &'static str,
    /// The domain.
    pub domain: Domain,
}

impl Engine for SymbolicTransformers {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, task: &Task, board: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        progress(format_args!("fixed point"));
        let top = Dynamic::top(&(self.domain.context)(budget));
        let found = match symbolic::invariants(task, &top, budget) {
            Ok(found) => found,
            Err(why) => return Outcome::Unknown(why.to_string()),
        };
        let invariants = certificate(task, &found);
        if !found.proved {
            board.post(self.name, invariants);
            return Outcome::Unknown("too coarse for some checks".into());
        }
        Outcome::Proof(Certificate::Invariants(invariants))
    }
}

fn certificate(task: &Task, found: &symbolic::Symbolic) -> Invariants {
    let program = &task.program;
    let of =
        |(d, v): (&Dim, &VarId)| Some((*d, Cell::whole(*v, program.scalar_of(program.vars[*v].ty)?.int()?)));
    let dims: FxHashMap<Dim, Cell> = found.registers.iter().filter_map(of).collect();
    let mut out = Invariants::none(program);
    let atoms = atoms(program, &mut out, &dims);
    for head in program.analyse().loop_heads(program.entry) {
        match found.at.get(&head) {
            Some(element) => holds_at(&mut out, &atoms, head, &element.to_constraints()),
            None => {
                let never = out.int(IntTy::BOOL, 0);
                out.at.push((head, never));
            }
        }
    }
    out
}
