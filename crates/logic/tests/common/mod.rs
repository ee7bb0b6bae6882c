//! What the differential tests share: random scripts and solvers that run many of them.

pub mod generate;
pub mod peer;
