//! What a user may ask of a program, and how the question becomes reachability.
//!
//! * [`Property`]: a question, by name or from an SV-COMP `.prp` file ([`prp`]);
//! * [`spc`]: observer automata, for questions that are about the order of events;
//! * [`instrument()`]: leaves in a program exactly the checks that the question is about, so that
//!   each engine answers one question only: can a check fail?

pub mod instrument;
pub mod prp;
pub mod spc;

pub use instrument::instrument;
pub use prp::{Goal, PrpError};

use palisade_cfa::{CheckKind, EdgeId};
use std::fmt;

/// Whose meaning the words of a property have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// The C standard's (C11).
    Standard,
    /// That of the verification competition, whose tasks `.prp` files come from. Its labels do not
    /// agree on whether a left shift that leaves its signed type is an overflow
    /// ([`Property::disputed`]), and functions without a body change nothing.
    Competition,
}

/// A question about a program: from `entry` on, every goal holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// The function that is called first.
    pub entry: String,
    /// What must hold, all of it.
    pub goals: Vec<Goal>,
    /// In whose sense.
    pub reading: Reading,
}

impl Property {
    /// The default question: no assertion fails, and nobody calls `reach_error` or
    /// `__VERIFIER_error`.
    pub fn assertions() -> Self {
        let mut goals = vec![Goal::Assertions];
        goals.extend(["reach_error", "__VERIFIER_error"].map(|f| Goal::NoCall(f.into())));
        Property { entry: "main".into(), goals, reading: Reading::Standard }
    }

    /// The question a name on the command line stands for.
    pub fn named(name: &str) -> Option<Self> {
        let goals = match name {
            "unreach-call" => return Some(Self::assertions()),
            "valid-memsafety" => vec![Goal::ValidFree, Goal::ValidDeref, Goal::ValidMemtrack],
            "valid-free" => vec![Goal::ValidFree],
            "valid-deref" => vec![Goal::ValidDeref],
            "valid-memtrack" => vec![Goal::ValidMemtrack],
            "valid-memcleanup" => vec![Goal::ValidMemcleanup],
            "no-overflow" => vec![Goal::NoOverflow],
            "no-arithmetic-overflow" => vec![Goal::NoArithmeticOverflow],
            "no-shift-overflow" => vec![Goal::NoShiftOverflow],
            "def-behavior" => vec![Goal::DefBehavior],
            "termination" => vec![Goal::Termination],
            "no-data-race" => vec![Goal::NoDataRace],
            _ => return None,
        };
        Some(Property { entry: "main".into(), goals, reading: Reading::Standard })
    }

    /// The names [`Property::named`] knows.
    pub const NAMES: &'static [&'static str] = &[
        "unreach-call",
        "valid-memsafety",
        "valid-free",
        "valid-deref",
        "valid-memtrack",
        "valid-memcleanup",
        "no-overflow",
        "no-arithmetic-overflow",
        "no-shift-overflow",
        "def-behavior",
        "termination",
        "no-data-race",
    ];

    /// The goal that a failing check of this kind violates, if any does.
    pub fn violated_by(&self, kind: CheckKind) -> Option<&Goal> {
        self.goals.iter().find(|g| self.counts(g, kind))
    }

    /// The goal that a failing check violates, if any does.
    pub fn violated_at(&self, kind: CheckKind, check: EdgeId) -> Option<&Goal> {
        self.goals.iter().find(|g| match g {
            Goal::Observer { errors, .. } => errors.iter().any(|(e, _)| *e == check),
            other => self.counts(other, kind),
        })
    }

    fn counts(&self, goal: &Goal, kind: CheckKind) -> bool {
        let left_out = *goal == Goal::NoOverflow
            && kind == CheckKind::ShiftOverflow
            && self.reading == Reading::Competition;
        goal.is_violated_by(kind) && !left_out
    }

    /// The undefined behaviour that lowering must keep visible for this question.
    pub fn checks(&self) -> impl Iterator<Item = CheckKind> + '_ {
        CheckKind::ALL.iter().copied().filter(|&k| self.violated_by(k).is_some())
    }

    /// What must hold as well before the property can be said to hold, because the competition's
    /// labels do not agree whether it belongs to it: a left shift that leaves its signed type is an
    /// overflow in some tasks and none in others.
    pub fn disputed(&self) -> Option<Property> {
        let disputed = self.reading == Reading::Competition && self.goals.contains(&Goal::NoOverflow);
        disputed.then(|| Property {
            entry: self.entry.clone(),
            goals: vec![Goal::NoShiftOverflow],
            reading: self.reading,
        })
    }

    /// The first goal that no engine can decide, for an honest `unknown`.
    pub fn unsupported(&self) -> Option<&Goal> {
        self.goals.iter().find(|g| matches!(g, Goal::Termination | Goal::NoDataRace))
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, goal) in self.goals.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            goal.fmt(f)?;
        }
        Ok(())
    }
}
