//! Ways to construct invariants (section 6), each an algorithm of its own.
//!
//! * [`forward`]: iteration from the start with widening and narrowing (6.1);
//! * [`symbolic`]: the same with transformers by symbolic abstraction, from loop head to loop head;
//! * [`backward`]: from the error, with under-approximated preconditions (6.1);
//! * [`template`]: unknown coefficients, eliminated quantifiers (6.3), on the exact linear
//!   arithmetic of [`farkas`];
//! * [`bounds`]: proof rules for loop bounds (6.4);
//! * [`learning`]: candidates from concrete samples (6.5).
//!
//! What [`template`] and [`learning`] guess over mathematical integers is only returned after
//! [`inductive`] has shown it with the bit-precise solver.
//!
//! [`functions`] runs any of them on a function of a C program, on its own ([`isolate`]), over one of
//! the numeric [`palisade_domains::DOMAINS`] where the method needs one, and writes what it finds as C ([`c_text`]).

pub mod backward;
pub mod bounds;
pub mod c_text;
pub mod farkas;
pub mod fixed_point;
pub mod forward;
pub mod functions;
pub mod inductive;
pub mod isolate;
pub mod learning;
pub mod linear;
pub mod matrix;
pub mod paths;
pub mod symbolic;
pub mod template;
