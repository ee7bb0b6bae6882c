//! What an automaton must fulfil in itself: every state can be reached, and no rule restricts the
//! program (the note on soundness in section 5.4 of the CPA chapter): for every state and event
//! the conditions of the rules together always hold.

use super::*;

/// Conditions of one event with more atoms than this are refused.
const MAX_ATOMS: usize = 12;

impl Automaton {
    /// Checks reachability of states and completeness of conditions.
    pub fn check(&self) -> Result<(), SpcError> {
        let mut reached = vec![false; self.states.len()];
        let mut work = vec![self.initial];
        while let Some(s) = work.pop() {
            if !std::mem::replace(&mut reached[s], true) {
                work.extend(self.states[s].rules.iter().map(|r| r.to));
            }
        }
        for (state, reached) in self.states.iter().zip(reached) {
            if !reached {
                return Err(SpcError::new(state.at, format!("state `{}` cannot be reached", state.name)));
            }
        }
        self.states.iter().try_for_each(complete)
    }
}

/// For each event that a state mentions: whether some rule always applies.
fn complete(state: &State) -> Result<(), SpcError> {
    for (i, rule) in state.rules.iter().enumerate() {
        let same = |r: &&Rule| r.event.kind == rule.event.kind && r.event.name == rule.event.name;
        if state.rules[..i].iter().any(|r| same(&r)) {
            continue;
        }
        let group: Vec<&Rule> = state.rules.iter().filter(same).collect();
        if group.iter().any(|r| r.condition.is_none()) {
            continue;
        }
        let conditions: Vec<&Cond> = group.iter().filter_map(|r| r.condition.as_ref()).collect();
        let mut atoms = Vec::new();
        conditions.iter().for_each(|c| collect(c, &mut atoms));
        if atoms.len() > MAX_ATOMS {
            let message = format!("more than {MAX_ATOMS} comparisons for one event");
            return Err(SpcError::new(rule.at, message));
        }
        let holds = |row: u32| conditions.iter().any(|c| truth(c, &atoms, row));
        if !(0..1u32 << atoms.len()).all(holds) {
            let message = "the rules for this event do not cover all cases; an `else` is missing";
            return Err(SpcError::new(rule.at, message));
        }
    }
    Ok(())
}

/// A comparison up to negation and exchange of sides: `a == b` or `a < b`, and whether the
/// condition is its negation.
fn atom(op: Operator, a: &Cond, b: &Cond) -> ((bool, Cond, Cond), bool) {
    let (a, b) = (unplaced(a), unplaced(b));
    let ordered = |a: Cond, b: Cond| if format!("{a:?}") <= format!("{b:?}") { (a, b) } else { (b, a) };
    match op {
        Operator::Lt => ((false, a, b), false),
        Operator::Ge => ((false, a, b), true),
        Operator::Gt => ((false, b, a), false),
        Operator::Le => ((false, b, a), true),
        _ => {
            let (a, b) = ordered(a, b);
            ((true, a, b), op == Operator::Ne)
        }
    }
}

/// The same expression without positions, so that equal ones are equal.
fn unplaced(c: &Cond) -> Cond {
    let go = |c: &Cond| Box::new(unplaced(c));
    match c {
        Cond::Number(n) => Cond::Number(*n),
        Cond::Name(name, _) => Cond::Name(name.clone(), At { line: 0, column: 0 }),
        Cond::Neg(a) => Cond::Neg(go(a)),
        Cond::Not(a) => Cond::Not(go(a)),
        Cond::Binary(op, a, b) => Cond::Binary(*op, go(a), go(b)),
    }
}

fn is_logical(op: Operator) -> bool {
    matches!(op, Operator::And | Operator::Or)
}

fn is_comparison(op: Operator) -> bool {
    !is_logical(op) && !matches!(op, Operator::Add | Operator::Sub | Operator::Mul)
}

type Atoms = Vec<(bool, Cond, Cond)>;

/// A number or arithmetic expression as a condition is a comparison with zero.
fn as_atom(c: &Cond) -> ((bool, Cond, Cond), bool) {
    match c {
        Cond::Binary(op, a, b) if is_comparison(*op) => atom(*op, a, b),
        other => atom(Operator::Ne, other, &Cond::Number(0)),
    }
}

fn collect(c: &Cond, atoms: &mut Atoms) {
    match c {
        Cond::Number(_) => {}
        Cond::Not(a) => collect(a, atoms),
        Cond::Binary(op, a, b) if is_logical(*op) => {
            collect(a, atoms);
            collect(b, atoms);
        }
        other => {
            let (atom, _) = as_atom(other);
            if !atoms.contains(&atom) {
                atoms.push(atom);
            }
        }
    }
}

fn truth(c: &Cond, atoms: &Atoms, row: u32) -> bool {
    match c {
        Cond::Number(n) => *n != 0,
        Cond::Not(a) => !truth(a, atoms, row),
        Cond::Binary(Operator::And, a, b) => truth(a, atoms, row) && truth(b, atoms, row),
        Cond::Binary(Operator::Or, a, b) => truth(a, atoms, row) || truth(b, atoms, row),
        other => {
            let (atom, negated) = as_atom(other);
            let value = atoms.iter().position(|a| *a == atom).is_some_and(|i| row >> i & 1 == 1);
            value != negated
        }
    }
}
