//! Symbolic abstraction: for a formula and an abstract domain, the element for its models.
//!
//! After A. Thakur and T. Reps, "A method for symbolic computation of abstract operations" (CAV 2012):
//!
//! * [`terms`]: between terms of the solver and dimensions of the domains, both ways (γ̂, β);
//! * [`element`]: elements of any domain behind one face;
//! * [`integrity`], [`formula`]: integrity constraints, their literals, and the Cartesian domain;
//! * [`assume`]: Assume[φ](A) from above, in the style of Stålmarck's method.

pub mod assume;
pub mod element;
pub mod formula;
pub mod integrity;
#[cfg(test)]
mod paper_tests;
pub mod terms;
#[cfg(test)]
mod testing;

pub use assume::{Assume, Config, Pair, Reach};
pub use element::{Element, Value};
pub use formula::{Formula, Leaf};
pub use terms::{Entry, Vocabulary};
