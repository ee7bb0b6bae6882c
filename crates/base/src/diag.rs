//! Messages to the person who wrote the program: what is wrong and where.
//!
//! Stages collect [`Diagnostic`]s; only the command line renders them.

use crate::source::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// Worth knowing; the analysis goes on (an external function without a body, ignored `asm`).
    Warning,
    /// The program cannot be taken as it is.
    Error,
}

/// One message with its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Where; [`Span::NONE`] when it concerns the whole input.
    pub span: Span,
    /// What is wrong, in one line.
    pub message: String,
    /// What to do about it, or what else one must know.
    pub notes: Vec<(Option<Span>, String)>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Error, span, message: message.into(), notes: Vec::new() }
    }
    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, span, message: message.into(), notes: Vec::new() }
    }
    /// Adds a note, at a position or without one.
    pub fn note(mut self, span: Option<Span>, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }
    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
