//! Ways to construct invariants (section 6), each an algorithm of its own.
//!
//! * [`forward`]: iteration from the start with widening and narrowing (6.1);
//! * [`backward`]: from the error, with under-approximated preconditions (6.1);
//! * counterexample-guided refinement is the loop [`palisade_cpa::cegar()`] (6.2);
//! * [`template`]: unknown coefficients, eliminated quantifiers (6.3), on the exact linear
//!   arithmetic of [`farkas`];
//! * [`bounds`]: proof rules for loop bounds (6.4);
//! * [`learning`]: candidates from concrete samples (6.5).
//!
//! What [`template`] and [`learning`] guess over mathematical integers is only returned after
//! [`inductive`] has shown it with the bit-precise solver.

pub mod backward;
pub mod bounds;
pub mod farkas;
pub mod forward;
pub mod inductive;
pub mod learning;
pub mod linear;
pub mod matrix;
pub mod paths;
pub mod template;
