//! Numeric abstract domains.
//!
//! One trait, [`NumericDomain`], over one notion of state: a function from [`Dim`]s to integers or
//! rationals. Elements constrain the dimensions they mention and leave all others free, so clients
//! declare nothing. Arithmetic is exact; machine integers enter through [`NumericDomain::wrap`] and
//! the wrap nodes of [`Tree`] expressions.
//!
//! Each domain is one module and passes the same law tests. A new domain needs
//! the required methods of the trait, a line here, a call of the law kit, and a line in the list
//! [`DOMAINS`] that gives it a name on every command line.

mod blocks;
mod boxes;
mod congruence;
mod dim;
mod dynamic;
mod expr;
mod howell;
mod interval;
mod intervals;
mod ks;
mod lattice;
pub mod laws;
mod ldd_box;
mod ldd_domain;
mod ldd_space;
mod ldd_transfer;
mod linear;
mod linearize;
mod machine;
mod numeric;
mod octagon;
mod pmap;
mod pointwise;
mod poly;
mod powerset;
#[cfg(feature = "ppl")]
pub mod ppl;
mod product;
mod registry;
mod relation;
mod sparse;
mod words;

pub use blocks::{Blocks, Factor, Limits, TooBig};
pub use boxes::{Boxes, Union};
pub use congruence::{Congruence, Congruences};
pub use dim::Dim;
pub use dynamic::{Dynamic, DynamicCtx};
pub use expr::{BinOp, CmpOp, MAX_SHIFT, Node, NodeId, Tree, eval_bin};
pub use interval::{End, Interval};
pub use intervals::Intervals;
pub use ks::{Affine, WordSize};
pub use lattice::Lattice;
pub use ldd_box::{LddBox, Single};
pub use ldd_domain::{OnLdd, Policy};
pub use ldd_space::{LddCtx, Space};
pub use linear::{LinCons, LinExpr, Rel};
pub use linearize::{LinForm, linearize};
pub use machine::MachineInt;
pub use numeric::{NumericDomain, Thresholds, up_to, wrap_by_periods};
pub use octagon::{Octagon, Octagons};
pub use palisade_dd::Limits as LddLimits;
pub use pointwise::{Pointwise, Value};
pub use poly::{Polyhedra, Polyhedron};
pub use powerset::{Powerset, PowersetCtx, PowersetWidening};
pub use product::Product;
pub use registry::{DOMAINS, Domain};
pub use relation::{compose, identity, image};
pub use sparse::SparsePolyhedra;
pub use words::Words;
