//! Tests of what verdicts rest on: both encoders against the interpreter, and both checkers against runs.

mod common;
mod encoders;
mod refused;
