//! Numeric abstract domains.
//!
//! One trait, [`NumericDomain`], over one notion of state: a function from [`Dim`]s to integers or
//! rationals. Elements constrain the dimensions they mention and leave all others free, so clients
//! declare nothing. Arithmetic is exact; machine integers enter through [`NumericDomain::wrap`] and
//! the wrap nodes of [`Tree`] expressions.
//!
//! Each domain is one module and passes the same law tests. A new domain needs
//! the required methods of the trait, a line here and a call of the law kit.

mod blocks;
mod congruence;
mod dim;
mod expr;
mod interval;
mod intervals;
mod lattice;
pub mod laws;
mod linear;
mod linearize;
mod machine;
mod numeric;
mod octagon;
mod pmap;
mod pointwise;

pub use blocks::{Blocks, Factor, Limits, TooBig};
pub use congruence::{Congruence, Congruences};
pub use dim::Dim;
pub use expr::{BinOp, CmpOp, MAX_SHIFT, Node, NodeId, Tree, eval_bin};
pub use interval::{End, Interval};
pub use intervals::Intervals;
pub use lattice::Lattice;
pub use linear::{LinCons, LinExpr, Rel};
pub use linearize::{LinForm, linearize};
pub use machine::MachineInt;
pub use numeric::{NumericDomain, Thresholds, up_to, wrap_by_periods};
pub use octagon::{Octagon, Octagons};
pub use pointwise::{Pointwise, Value};
