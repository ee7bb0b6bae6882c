//! SV-COMP property files: lines of the form `CHECK( init(main()), LTL(G ! overflow) )`.

use crate::{Property, Reading};
use palisade_cfa::{CheckKind, EdgeId};
use std::fmt;

/// One thing that must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Goal {
    /// No `assert` fails.
    Assertions,
    /// The function of this name is never called.
    NoCall(String),
    /// The label of this name is never reached.
    NoLabel(String),
    /// No signed integer operation leaves its type; left shifts (C11 6.5.7) are such operations,
    /// but see [`Reading`](crate::Reading).
    NoOverflow,
    /// No signed `+ - * / %` or unary minus leaves its type.
    NoArithmeticOverflow,
    /// No left shift of a signed integer leaves its type.
    NoShiftOverflow,
    /// Only what can be freed is freed.
    ValidFree,
    /// Every access lies in a live object, and every write in one that can be written.
    ValidDeref,
    /// No heap object becomes unreachable.
    ValidMemtrack,
    /// No heap object is alive at the end.
    ValidMemcleanup,
    /// No undefined behaviour of the kinds that checks know.
    DefBehavior,
    /// Every run ends.
    Termination,
    /// No two threads race.
    NoDataRace,
    /// An observer automaton that was woven into the program never comes into an error state.
    Observer {
        /// Its name.
        name: String,
        /// The checks that fail in its error states, and the messages of these.
        errors: Vec<(EdgeId, String)>,
    },
}

impl Goal {
    /// The name used in verdicts, as in `false(no-overflow)`.
    pub fn name(&self) -> &str {
        match self {
            Goal::Assertions | Goal::NoCall(_) | Goal::NoLabel(_) => "unreach-call",
            Goal::NoOverflow => "no-overflow",
            Goal::NoArithmeticOverflow => "no-arithmetic-overflow",
            Goal::NoShiftOverflow => "no-shift-overflow",
            Goal::ValidFree => "valid-free",
            Goal::ValidDeref => "valid-deref",
            Goal::ValidMemtrack => "valid-memtrack",
            Goal::ValidMemcleanup => "valid-memcleanup",
            Goal::DefBehavior => "def-behavior",
            Goal::Termination => "termination",
            Goal::NoDataRace => "no-data-race",
            Goal::Observer { name, .. } => name,
        }
    }

    /// Whether a failing check of this kind violates the goal.
    pub fn is_violated_by(&self, kind: CheckKind) -> bool {
        use CheckKind::*;
        match self {
            Goal::Assertions => kind == Assertion,
            Goal::NoCall(_) | Goal::NoLabel(_) => kind == ForbiddenCall,
            Goal::NoOverflow => matches!(kind, SignedOverflow | ShiftOverflow),
            Goal::NoArithmeticOverflow => kind == SignedOverflow,
            Goal::NoShiftOverflow => kind == ShiftOverflow,
            Goal::ValidFree => kind == Free,
            // What cannot be written may be read.
            Goal::ValidDeref => matches!(kind, Deref | ReadOnly),
            Goal::ValidMemtrack => kind == MemTrack,
            Goal::ValidMemcleanup => kind == MemCleanup,
            Goal::DefBehavior => {
                !matches!(kind, Assertion | ForbiddenCall | MemTrack | MemCleanup | Observer)
            }
            Goal::Termination | Goal::NoDataRace => false,
            Goal::Observer { .. } => kind == Observer,
        }
    }

    /// The formula of a property file that asks for this goal.
    pub fn formula(&self) -> String {
        match self {
            Goal::Assertions => "G ! call(__assert_fail())".into(),
            Goal::NoCall(f) => format!("G ! call({f}())"),
            Goal::NoLabel(l) => format!("G ! label({l})"),
            Goal::NoOverflow => "G ! overflow".into(),
            Goal::NoArithmeticOverflow => "G ! arithmetic-overflow".into(),
            Goal::NoShiftOverflow => "G ! shift-overflow".into(),
            Goal::Termination => "F end".into(),
            Goal::NoDataRace => "G ! data-race".into(),
            Goal::Observer { name, .. } => format!("G ! error({name})"),
            other => format!("G {}", other.name()),
        }
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.formula())
    }
}

/// What is wrong with a property file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PrpError {
    /// Line, counted from 1.
    pub line: usize,
    /// Column, counted from 1.
    pub column: usize,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for PrpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for PrpError {}

impl Property {
    /// Reads a property file, in the competition's sense. Blank lines and lines that start with `#`
    /// are skipped; all others must be `CHECK` lines about the same entry function.
    pub fn parse_prp(text: &str) -> Result<Property, PrpError> {
        let mut property: Option<Property> = None;
        for (i, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let mut p = Scanner { line, at: 0, number: i + 1 };
            let (entry, goal) = p.check_line()?;
            match &mut property {
                None => property = Some(Property { entry, goals: vec![goal], reading: Reading::Competition }),
                Some(known) if known.entry == entry => known.goals.push(goal),
                Some(known) => {
                    return Err(p.error(&format!("all lines must start at `{}()`", known.entry)));
                }
            }
        }
        property.ok_or(PrpError { line: 1, column: 1, message: "no CHECK line in the property file".into() })
    }
}

/// Reads one line; white space between tokens does not matter.
struct Scanner<'a> {
    line: &'a str,
    at: usize,
    number: usize,
}

impl Scanner<'_> {
    fn error(&self, message: &str) -> PrpError {
        let column = self.line[..self.at].chars().count() + 1;
        PrpError { line: self.number, column, message: message.into() }
    }

    fn rest(&mut self) -> &str {
        self.at = self.line.len() - self.line[self.at..].trim_start().len();
        &self.line[self.at..]
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), PrpError> {
        if self.eat(token) { Ok(()) } else { Err(self.error(&format!("expected `{token}`"))) }
    }

    fn word(&mut self) -> Result<String, PrpError> {
        let word: String =
            self.rest().chars().take_while(|c| c.is_alphanumeric() || "_$-".contains(*c)).collect();
        if word.is_empty() {
            return Err(self.error("expected a name"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn check_line(&mut self) -> Result<(String, Goal), PrpError> {
        self.expect("CHECK")?;
        self.expect("(")?;
        self.expect("init")?;
        self.expect("(")?;
        let entry = self.word()?;
        for token in ["(", ")", ")", ",", "LTL", "("] {
            self.expect(token)?;
        }
        let goal = self.formula()?;
        self.expect(")")?;
        self.expect(")")?;
        if !self.rest().is_empty() {
            return Err(self.error("expected the end of the line"));
        }
        Ok((entry, goal))
    }

    fn formula(&mut self) -> Result<Goal, PrpError> {
        if self.eat("F") {
            self.expect("end")?;
            return Ok(Goal::Termination);
        }
        self.expect("G")?;
        let negated = self.eat("!");
        self.rest();
        let start = self.at;
        let word = self.word()?;
        let goal = match (negated, word.as_str()) {
            (true, "call") => {
                self.expect("(")?;
                let function = self.word()?;
                for token in ["(", ")", ")"] {
                    self.expect(token)?;
                }
                Goal::NoCall(function)
            }
            (true, "label") => {
                self.expect("(")?;
                let label = self.word()?;
                self.expect(")")?;
                Goal::NoLabel(label)
            }
            (true, "overflow") => Goal::NoOverflow,
            (true, "arithmetic-overflow") => Goal::NoArithmeticOverflow,
            (true, "shift-overflow") => Goal::NoShiftOverflow,
            (true, "data-race") => Goal::NoDataRace,
            (false, "valid-free") => Goal::ValidFree,
            (false, "valid-deref") => Goal::ValidDeref,
            (false, "valid-memtrack") => Goal::ValidMemtrack,
            (false, "valid-memcleanup") => Goal::ValidMemcleanup,
            (false, "def-behavior") => Goal::DefBehavior,
            _ => {
                self.at = start;
                return Err(self.error(&format!("unknown proposition `{word}`")));
            }
        };
        Ok(goal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_competition_files_are_read() {
        let p = Property::parse_prp("CHECK( init(main()), LTL(G ! call(reach_error())) )\n\n").unwrap();
        assert_eq!(p.goals, [Goal::NoCall("reach_error".into())]);
        let text =
            "CHECK( init(main()), LTL(G valid-free) )\n# c\nCHECK( init(main()), LTL(G valid-deref) )\n";
        assert_eq!(Property::parse_prp(text).unwrap().goals, [Goal::ValidFree, Goal::ValidDeref]);
        assert_eq!(
            Property::parse_prp("CHECK( init(main()), LTL(F end) )").unwrap().goals,
            [Goal::Termination]
        );
    }

    #[test]
    fn mistakes_name_their_position() {
        let at = |text: &str| {
            let e = Property::parse_prp(text).unwrap_err();
            (e.line, e.column)
        };
        assert_eq!(at(""), (1, 1));
        assert_eq!(at("\nCHECK( init(main()), LTL(G ! overflo) )"), (2, 30));
        assert_eq!(at("CHECK( init(main()), LTL(G ! overflow) ) x"), (1, 42));
        assert_eq!(
            at("CHECK( init(main()), LTL(F end) )\nCHECK( init(f()), LTL(F end) )"),
            (2, 31),
            "two entries"
        );
    }

    #[test]
    fn every_formula_reads_back() {
        for name in Property::NAMES {
            for goal in Property::named(name).unwrap().goals {
                let line = format!("CHECK( init(main()), LTL({}) )", goal.formula());
                let back = Property::parse_prp(&line).unwrap().goals;
                assert!(back == [goal.clone()] || goal == Goal::Assertions, "{line}");
            }
        }
    }
}
