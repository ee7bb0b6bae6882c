//! What every crate of Palisade shares and nothing else: typed indices, source
//! positions, diagnostics and the budget that bounds every long computation.
//!
//! This crate does no input or output and reads no clock.

pub mod budget;
pub mod diag;
pub mod idx;
pub mod source;

pub use budget::{Budget, Stop};
pub use diag::{Diagnostic, Severity};
pub use idx::{Idx, IdxVec};
pub use source::{FileId, Position, SourceMap, Span};
