//! The part of an SV-COMP property that is about events, as observers. The other goals are checks
//! that the program carries already.

use super::*;
use crate::{Goal, Property};
use palisade_cfa::Program;

/// An observer for every forbidden call and label of the property that the program has.
pub fn observers_of(property: &Property, program: &Program) -> Vec<Automaton> {
    let at = At { line: 1, column: 1 };
    let mut automata = Vec::new();
    for goal in &property.goals {
        let (kind, name, message) = match goal {
            Goal::NoCall(f) if program.func_named(f).is_some() => {
                (EventKind::Call, f, format!("{f} is called"))
            }
            Goal::NoLabel(l) if program.locs.iter().any(|loc| loc.label.as_deref() == Some(l.as_str())) => {
                (EventKind::Label, l, format!("label {l} is reached"))
            }
            _ => continue,
        };
        let event = Event { kind, name: name.clone(), at };
        let watch = State {
            name: "watch".into(),
            at,
            error: None,
            rules: vec![Rule { at, event, condition: None, to: 1 }],
        };
        let error = State { name: "error".into(), at, error: Some(message), rules: Vec::new() };
        automata.push(Automaton { name: format!("no {name}"), at, initial: 0, states: vec![watch, error] });
    }
    automata
}
