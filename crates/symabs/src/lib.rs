//! Symbolic abstraction: for a formula and an abstract domain, the element for its models.
//!
//! After A. Thakur and T. Reps, "A method for symbolic computation of abstract operations" (CAV 2012):
//!
//! * [`terms`]: between terms of the solver and dimensions of the domains, both ways (γ̂, β);
//! * [`element`]: elements of any domain behind one face;
//! * [`equations`]: equals replaced by equals before anything else;
//! * [`integrity`], [`formula`]: integrity constraints, their literals, and the Cartesian domain;
//! * [`assume`]: Assume[φ](A) from above, in the style of Stålmarck's method;
//! * [`below`]: α̂ from below by models, and from both sides;
//! * [`operations`]: what section 6 builds from them: containment, reduced products, conversion between
//!   domains, transformers;
//! * [`stalmarck`], [`lra`]: satisfiability on the side; [`chi`]: the formulas of section 5.

pub mod assume;
pub mod below;
mod builder;
pub mod chi;
pub mod element;
pub mod equations;
pub mod formula;
pub mod integrity;
pub mod lra;
pub mod operations;
#[cfg(test)]
mod paper_tests;
mod parts;
pub mod stalmarck;
pub mod terms;
#[cfg(test)]
mod testing;

pub use assume::{Assume, Config, Pair, Reach};
pub use below::{Bounds, Models};
pub use formula::{Formula, Leaf, Reading};
pub use operations::Abstraction;
pub use terms::{Entry, Vocabulary};
