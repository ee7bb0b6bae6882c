//! The checker.

use std::fmt;

/// A literal as in DIMACS: a variable, or its negation; never zero.
pub type Lit = i32;

/// A clause that the checker knows, numbered from zero in the order of arrival.
pub type Clause = u32;

/// Why a step was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// A literal is zero or out of range.
    Literal(Lit),
    /// The step names a clause that is not known.
    UnknownClause(Clause),
    /// When its turn comes, a named clause is neither unit nor false.
    NotUnit(Clause),
    /// All named clauses were used, and no contradiction was met.
    NoConflict,
    /// The clause that was shown says something else than what was to be shown.
    OtherClause,
    /// More clauses or literals than can be numbered.
    TooLarge,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Literal(l) => write!(f, "{l} is no literal"),
            Refusal::UnknownClause(c) => write!(f, "clause {c} is not known"),
            Refusal::NotUnit(c) => write!(f, "clause {c} is not unit when its turn comes"),
            Refusal::NoConflict => f.write_str("no contradiction is met"),
            Refusal::OtherClause => f.write_str("another clause is shown than the one in question"),
            Refusal::TooLarge => f.write_str("the proof is too large"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Variables are numbered up to here, so that a table of them stays small.
const MAX_VARIABLE: Lit = 1 << 28;

/// Clauses that are given or were shown to follow from those given.
#[derive(Clone, Debug, Default)]
pub struct Checker {
    /// All literals, clause after clause.
    lits: Vec<Lit>,
    /// Where each clause ends in `lits`.
    ends: Vec<usize>,
    /// By variable: 1 if assigned true in the current step, -1 if false, 0 if open.
    values: Vec<i8>,
    /// What is assigned in the current step.
    trail: Vec<Lit>,
}

impl Checker {
    /// A checker that knows no clause.
    pub fn new() -> Self {
        Checker::default()
    }

    /// The number of clauses known.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no clause is known.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The literals of a clause that is known.
    pub fn clause(&self, clause: Clause) -> Option<&[Lit]> {
        let i = clause as usize;
        let end = *self.ends.get(i)?;
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        Some(&self.lits[start..end])
    }

    /// An estimate of the bytes held.
    pub fn bytes(&self) -> u64 {
        (self.lits.capacity() * 4 + self.ends.capacity() * 8 + self.values.capacity()) as u64
    }

    /// Takes a clause as given.
    pub fn input(&mut self, lits: &[Lit]) -> Result<Clause, Refusal> {
        self.make_room(lits)?;
        self.push(lits)
    }

    /// Takes a clause that follows: with its literals false, the hints become unit one after the
    /// other, and the last one false. After a refusal the checker knows what it knew before.
    pub fn derive(&mut self, lits: &[Lit], hints: &[Clause]) -> Result<Clause, Refusal> {
        self.make_room(lits)?;
        let shown = self.propagate(lits, hints);
        for lit in self.trail.drain(..) {
            self.values[lit.unsigned_abs() as usize] = 0;
        }
        shown?;
        self.push(lits)
    }

    fn propagate(&mut self, lits: &[Lit], hints: &[Clause]) -> Result<(), Refusal> {
        for &lit in lits {
            match self.value(lit) {
                0 => self.assign(-lit),
                // The clause has a literal and its negation, and holds by itself.
                1 => return Ok(()),
                _ => {}
            }
        }
        for &hint in hints {
            if hint as usize >= self.ends.len() {
                return Err(Refusal::UnknownClause(hint));
            }
            match self.unit(hint)? {
                Some(lit) => self.assign(lit),
                None => return Ok(()),
            }
        }
        Err(Refusal::NoConflict)
    }

    /// The only open literal of a clause all of whose others are false; `None` if all are.
    fn unit(&self, clause: Clause) -> Result<Option<Lit>, Refusal> {
        let mut open = None;
        for &lit in self.clause(clause).unwrap_or_default() {
            match self.value(lit) {
                -1 => {}
                0 if open.is_none() || open == Some(lit) => open = Some(lit),
                _ => return Err(Refusal::NotUnit(clause)),
            }
        }
        Ok(open)
    }

    /// Whether a literal is true (1), false (-1) or open (0).
    fn value(&self, lit: Lit) -> i8 {
        let value = self.values[lit.unsigned_abs() as usize];
        if lit < 0 { -value } else { value }
    }

    fn assign(&mut self, lit: Lit) {
        self.values[lit.unsigned_abs() as usize] = if lit < 0 { -1 } else { 1 };
        self.trail.push(lit);
    }

    /// Literals are in range, and their variables in the table.
    fn make_room(&mut self, lits: &[Lit]) -> Result<(), Refusal> {
        for &lit in lits {
            if lit == 0 || !(-MAX_VARIABLE..=MAX_VARIABLE).contains(&lit) {
                return Err(Refusal::Literal(lit));
            }
            let variable = lit.unsigned_abs() as usize;
            if variable >= self.values.len() {
                self.values.resize(variable + 1, 0);
            }
        }
        Ok(())
    }

    fn push(&mut self, lits: &[Lit]) -> Result<Clause, Refusal> {
        let clause = Clause::try_from(self.ends.len()).map_err(|_| Refusal::TooLarge)?;
        self.lits.extend_from_slice(lits);
        self.ends.push(self.lits.len());
        Ok(clause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(clauses: &[&[Lit]]) -> Checker {
        let mut checker = Checker::new();
        for c in clauses {
            checker.input(c).expect("literals in range");
        }
        checker
    }

    /// All four clauses over two variables are contradictory.
    #[test]
    fn two_steps_to_the_empty_clause() {
        let mut checker = with(&[&[1, 2], &[1, -2], &[-1, 2], &[-1, -2]]);
        assert_eq!(checker.derive(&[1], &[0, 1]), Ok(4));
        assert_eq!(checker.derive(&[], &[4, 2, 3]), Ok(5));
        assert_eq!(checker.clause(5), Some(&[][..]));
    }

    #[test]
    fn what_does_not_follow_is_refused_and_leaves_no_trace() {
        let mut checker = with(&[&[1, 2], &[-1, 3]]);
        let before = checker.len();
        assert_eq!(checker.derive(&[], &[]), Err(Refusal::NoConflict));
        assert_eq!(checker.derive(&[1], &[0]), Err(Refusal::NoConflict));
        assert_eq!(checker.derive(&[3], &[0]), Err(Refusal::NotUnit(0)));
        assert_eq!(checker.derive(&[2, 3], &[1, 7]), Err(Refusal::UnknownClause(7)));
        assert_eq!(checker.derive(&[1, 0], &[]), Err(Refusal::Literal(0)));
        assert_eq!(checker.derive(&[Lit::MIN], &[]), Err(Refusal::Literal(Lit::MIN)));
        // A clause that is already true shows nothing, although the rest would.
        assert_eq!(checker.derive(&[-1, 2, 3], &[0, 1]), Err(Refusal::NotUnit(0)));
        assert_eq!(checker.len(), before);
        assert_eq!(checker.derive(&[2, 3], &[1, 0]), Ok(2));
    }

    #[test]
    fn doubled_literals_and_tautologies() {
        let mut checker = with(&[&[1, 1], &[-1, 2, 2]]);
        assert_eq!(checker.derive(&[2, 2], &[0, 1]), Ok(2));
        assert_eq!(checker.derive(&[5, -5], &[]), Ok(3));
        // A tautology as a hint is never unit.
        assert_eq!(checker.derive(&[6], &[3]), Err(Refusal::NotUnit(3)));
    }
}
