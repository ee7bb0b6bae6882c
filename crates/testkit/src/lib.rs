//! What the tests of several crates share: a seeded random generator and a mutator that makes
//! broken texts out of real ones. For tests and examples only; no crate of the product uses it.

mod mutate;
mod rng;

pub use mutate::Mutator;
pub use rng::Rng;
