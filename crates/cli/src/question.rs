//! What `check` is asked: a property by name, a `.prp` file, or observers from a `.spc` file.

use crate::input;
use palisade_cfa::Program;
use palisade_property::spc::{self, Automaton, EventKind, SpcError};
use palisade_property::{Property, Reading};

/// A question.
pub struct Question {
    /// The property; for observers its goals are known once they are in the program.
    pub property: Property,
    observers: Option<Specification>,
}

/// A `.spc` file.
struct Specification {
    file: String,
    text: String,
    automata: Vec<Automaton>,
}

impl Question {
    /// Reads what all `--property` name together. Errors are printed; they are usage errors.
    pub fn read_all(names: &[String]) -> Option<Question> {
        let (first, others) = match names {
            [] => return Some(Property::assertions().into()),
            [first, others @ ..] => (first, others),
        };
        let mut question = Question::read(first)?;
        for name in others {
            let other = Question::read(name)?;
            let apart = question.observers.is_some() || other.observers.is_some();
            if apart || question.property.reading != other.property.reading {
                error!("`{first}` and `{name}` cannot be asked together; ask one after the other");
                return None;
            }
            if question.property.entry != other.property.entry {
                error!("`{first}` and `{name}` start in different functions");
                return None;
            }
            let goals = other.property.goals.into_iter();
            let new: Vec<_> = goals.filter(|g| !question.property.goals.contains(g)).collect();
            question.property.goals.extend(new);
        }
        Some(question)
    }

    /// Reads what a `--property` names. Errors are printed; they are usage errors.
    pub fn read(name: &str) -> Option<Question> {
        if let Some(property) = Property::named(name) {
            return Some(property.into());
        }
        if !name.ends_with(".prp") && !name.ends_with(".spc") {
            let names = Property::NAMES.join(", ");
            error!("unknown property `{name}`; give a .prp or .spc file or one of {names}");
            return None;
        }
        let text = match std::fs::read_to_string(name) {
            Ok(text) => text,
            Err(error) => {
                error!("{name}: {error}");
                return None;
            }
        };
        if name.ends_with(".prp") {
            let property = Property::parse_prp(&text);
            let fail = |e: palisade_property::PrpError| {
                input::report_at(name, &text, e.line as u32, e.column as u32, &e.message);
            };
            return property.map_err(fail).ok().map(Question::from);
        }
        let automata = spc::parse(&text).map_err(|e| complain(name, &text, &e)).ok()?;
        let property = Property { entry: "main".into(), goals: Vec::new(), reading: Reading::Standard };
        Some(Question { property, observers: Some(Specification { file: name.into(), text, automata }) })
    }

    /// Leaves in a program exactly the checks that the question is about. `false` after an error,
    /// which is printed.
    pub fn instrument(&mut self, program: &mut Program) -> bool {
        palisade_property::instrument(program, &self.property);
        let Some(specification) = &self.observers else { return true };
        let bound = observable(&specification.automata, program)
            .and_then(|()| spc::bind(&specification.automata, program));
        match bound {
            Ok(observers) => {
                self.property.goals = spc::weave(program, &observers);
                true
            }
            Err(error) => {
                complain(&specification.file, &specification.text, &error);
                false
            }
        }
    }
}

impl From<Property> for Question {
    fn from(property: Property) -> Question {
        Question { property, observers: None }
    }
}

fn complain(file: &str, text: &str, error: &SpcError) {
    input::report_at(file, text, error.at.line, error.at.column, &error.message);
}

/// Calls that lowering has turned into operations cannot be seen any more.
fn observable(automata: &[Automaton], program: &Program) -> Result<(), SpcError> {
    let events = automata.iter().flat_map(|a| &a.states).flat_map(|s| &s.rules).map(|r| &r.event);
    for event in events.filter(|e| e.kind == EventKind::Call) {
        let defined = program.func_named(&event.name).is_some_and(|f| program.funcs[f].body.is_some());
        if !defined && palisade_lower::is_operation(&event.name) {
            let message = format!("calls of `{}` are built in and cannot be observed", event.name);
            return Err(SpcError { at: event.at, message });
        }
    }
    Ok(())
}
