//! The progress line on a terminal: which engine is where.

use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::fmt;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A line on standard error that is rewritten as engines go on; nothing where that is no terminal.
#[derive(Clone)]
pub struct ProgressLine {
    bar: ProgressBar,
    notes: Arc<Mutex<BTreeMap<String, String>>>,
}

impl ProgressLine {
    /// Starts the line.
    pub fn start() -> Self {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        } else {
            ProgressBar::hidden()
        };
        ProgressLine { bar, notes: Arc::default() }
    }

    /// An engine says where it is.
    pub fn note(&self, engine: &str, note: fmt::Arguments<'_>) {
        if self.bar.is_hidden() {
            return;
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(engine.to_owned(), note.to_string());
        let parts: Vec<String> = notes.iter().map(|(engine, note)| format!("{engine}: {note}")).collect();
        self.bar.set_message(parts.join(" | "));
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
