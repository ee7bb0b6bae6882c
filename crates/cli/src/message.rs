//! Errors and warnings: told on standard error, and kept for the JSON document.

use palisade_base::Position;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Everything that was told, in order.
static TOLD: Mutex<Vec<Value>> = Mutex::new(Vec::new());

/// Tells that something cannot be done.
macro_rules! error {
    ($($what:tt)*) => { $crate::message::tell("error", format_args!($($what)*)) };
}

/// Tells what a user should know.
macro_rules! warning {
    ($($what:tt)*) => { $crate::message::tell("warning", format_args!($($what)*)) };
}

/// Tells something that has no place in a source text.
pub fn tell(severity: &str, what: fmt::Arguments<'_>) {
    eprintln!("{severity}: {what}");
    keep(severity, &what.to_string(), None);
}

/// Keeps what was told already.
pub fn keep(severity: &str, text: &str, at: Option<Position>) {
    let mut message = json!({"severity": severity, "text": text});
    if let Some(at) = at {
        message["at"] = json!({"file": &*at.file, "line": at.line, "column": at.column});
    }
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).push(message);
}

/// All that was told so far.
pub fn told() -> Value {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).clone().into()
}
