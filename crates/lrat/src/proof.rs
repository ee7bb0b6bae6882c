//! A proof of one clause, as data that can be written down.

use crate::checker::{Checker, Clause, Lit, Refusal};
use crate::coding::{length, number, read};
use std::fmt;

/// Steps that lead to a clause. Hints number the clauses: first the inputs, in the order in which
/// they were given, then the steps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Proof {
    /// How many inputs come before the first step.
    pub inputs: Clause,
    /// Derived clauses with their hints; the last one is what is shown.
    pub steps: Vec<(Vec<Lit>, Vec<Clause>)>,
}

/// A text that is no proof.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the coding of a proof is damaged")
    }
}

impl std::error::Error for Malformed {}

impl Proof {
    /// Checks that the clauses exclude that all assumptions hold: the last step is a clause of
    /// negated assumptions. The inputs must be exactly those the proof was made for.
    pub fn check<'c>(
        &self,
        inputs: impl IntoIterator<Item = &'c [Lit]>,
        assumptions: &[Lit],
    ) -> Result<(), Refusal> {
        let mut checker = Checker::new();
        for clause in inputs {
            checker.input(clause)?;
        }
        if checker.len() != self.inputs as usize {
            return Err(Refusal::UnknownClause(self.inputs));
        }
        for (lits, hints) in &self.steps {
            checker.derive(lits, hints)?;
        }
        let Some((last, _)) = self.steps.last() else { return Err(Refusal::NoConflict) };
        let assumed = |lit: &Lit| assumptions.contains(&-lit);
        if last.iter().all(assumed) { Ok(()) } else { Err(Refusal::OtherClause) }
    }

    /// Codes the proof: numbers of seven bits a byte, hints as distances to the step.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.inputs);
        number(&mut out, self.steps.len() as u32);
        let mut own = self.inputs;
        for (lits, hints) in &self.steps {
            number(&mut out, lits.len() as u32);
            lits.iter().for_each(|l| number(&mut out, ((l << 1) ^ (l >> 31)) as u32));
            number(&mut out, hints.len() as u32);
            hints.iter().for_each(|h| number(&mut out, own.wrapping_sub(*h)));
            own = own.wrapping_add(1);
        }
        out
    }

    /// Reads what [`Proof::to_bytes`] wrote, and nothing else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Proof, Malformed> {
        let mut rest = bytes;
        let inputs = read(&mut rest)?;
        let count = length(&mut rest)?;
        let mut own: Clause = inputs;
        let mut steps = Vec::new();
        for _ in 0..count {
            let mut lits = Vec::new();
            for _ in 0..length(&mut rest)? {
                let code = read(&mut rest)?;
                lits.push((code >> 1) as Lit ^ -((code & 1) as Lit));
            }
            let mut hints = Vec::new();
            for _ in 0..length(&mut rest)? {
                hints.push(own.wrapping_sub(read(&mut rest)?));
            }
            steps.push((lits, hints));
            own = own.wrapping_add(1);
        }
        if rest.is_empty() { Ok(Proof { inputs, steps }) } else { Err(Malformed) }
    }
}
