//! Tests of what verdicts rest on: both encoders against the interpreter, and both checkers against runs.

mod binder;
mod common;
mod contracts;
mod csmith;
mod encoders;
mod memory;
mod refused;
mod replays;
mod rules;
mod sides;
mod world;
