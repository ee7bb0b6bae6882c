//! Gates as clauses: every gate is a variable that its clauses make equal to the function of its
//! inputs (Tseitin's encoding). Constants are folded, and nothing else is done.

use palisade_lrat::Lit;

/// The variable that is true.
pub(super) const TRUE: Lit = 1;
/// Its negation.
pub(super) const FALSE: Lit = -1;

/// Clauses that define gates, in the order in which the gates were made.
#[derive(Default)]
pub(super) struct Gates {
    /// Clauses that nobody has taken yet: literals, each clause ended by a zero.
    pub(super) clauses: Vec<Lit>,
    variables: Lit,
}

impl Gates {
    pub(super) fn new() -> Self {
        let mut gates = Gates { clauses: Vec::new(), variables: TRUE };
        gates.clause(&[TRUE]);
        gates
    }

    /// The number of variables.
    pub(super) fn len(&self) -> usize {
        self.variables as usize
    }

    pub(super) fn clause(&mut self, lits: &[Lit]) {
        self.clauses.extend_from_slice(lits);
        self.clauses.push(0);
    }

    pub(super) fn constant(value: bool) -> Lit {
        if value { TRUE } else { FALSE }
    }

    /// A variable that nothing is said about.
    pub(super) fn input(&mut self) -> Lit {
        assert!(self.variables < 1 << 28, "more variables than the checker of proofs can number");
        self.variables += 1;
        self.variables
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, x) | (x, TRUE) => x,
            _ if a == b => a,
            _ if a == -b => FALSE,
            _ => {
                let g = self.input();
                self.clause(&[-g, a]);
                self.clause(&[-g, b]);
                self.clause(&[g, -a, -b]);
                g
            }
        }
    }

    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        -self.and(-a, -b)
    }

    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        match (a, b) {
            (FALSE, x) | (x, FALSE) => x,
            (TRUE, x) | (x, TRUE) => -x,
            _ if a == b => FALSE,
            _ if a == -b => TRUE,
            _ => {
                let g = self.input();
                self.clause(&[-g, a, b]);
                self.clause(&[-g, -a, -b]);
                self.clause(&[g, -a, b]);
                self.clause(&[g, a, -b]);
                g
            }
        }
    }

    /// `c ? a : b`.
    pub(super) fn ite(&mut self, c: Lit, a: Lit, b: Lit) -> Lit {
        match (c, a, b) {
            (TRUE, ..) => a,
            (FALSE, ..) => b,
            _ if a == b => a,
            (_, TRUE, _) => self.or(c, b),
            (_, FALSE, _) => self.and(-c, b),
            (_, _, TRUE) => self.or(-c, a),
            (_, _, FALSE) => self.and(c, a),
            _ => {
                let g = self.input();
                self.clause(&[-c, -g, a]);
                self.clause(&[-c, g, -a]);
                self.clause(&[c, -g, b]);
                self.clause(&[c, g, -b]);
                // Implied, but they let a value pass while the condition is open.
                self.clause(&[g, -a, -b]);
                self.clause(&[-g, a, b]);
                g
            }
        }
    }

    /// Whether at least two of three hold: the carry of an adder.
    pub(super) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        match (a, b, c) {
            (FALSE, x, y) | (x, FALSE, y) | (x, y, FALSE) => self.and(x, y),
            (TRUE, x, y) | (x, TRUE, y) | (x, y, TRUE) => self.or(x, y),
            _ => {
                let g = self.input();
                for (x, y) in [(a, b), (a, c), (b, c)] {
                    self.clause(&[-x, -y, g]);
                    self.clause(&[x, y, -g]);
                }
                g
            }
        }
    }
}
