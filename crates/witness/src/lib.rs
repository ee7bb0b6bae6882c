//! Verification witnesses: what they say, their files, and the places of a program they speak of.
//!
//! * [`model`]: violation sequences and invariant sets as data; [`yaml`]: their files;
//! * [`places`]: statements, loops and calls of a program by the positions witnesses use;
//! * [`run`]: a run seen step by step; [`objects`]: names for what it made; [`describe`]: how it goes wrong,
//!   in words; [`violation`]: the witness of a run that goes wrong;
//! * [`correctness`]: the witness of a certificate;
//! * [`marks`] and [`monitor`]: the expressions and waypoints of a witness in a program, to check it;
//! * [`sha256`]: whether a witness is about the file at hand.

mod columns;
pub mod correctness;
pub mod describe;
pub mod graphml;
mod macros;
pub mod marks;
mod minimise;
pub mod model;
pub mod monitor;
pub mod objects;
pub mod places;
mod quantified;
pub mod run;
pub mod sha256;
pub mod violation;
pub mod yaml;
