//! NUMPREDDOM: predicate and numeric abstraction in one domain.
//!
//! Gurfinkel and Chaki, *Combining Predicate and Numeric Abstraction for Software Model Checking*: an
//! abstract value is a formula over predicates V_P and linear constraints over numeric variables V_N, and
//! transformers let each side sharpen the other.
//!
//! * [`expr`]: the formulas; [`space`]: V_P and V_N, and the projections of section 4.1;
//! * [`transformer`]: the language of Figure 6; [`parse`] reads it, and whole abstract [`program`]s;
//! * [`domain`]: the interface of Figures 3 and 4, with what section 4 defines for all;
//! * [`nexpoint`], [`nex`], [`mtndd`], [`ndd`]: the data structures of section 5, and the two they
//!   combine;
//! * [`numeric`]: the numeric domain below them, any of the library;
//! * [`prover`]: projections by the solver instead of by syntax.
//!
//! The crate knows no C and no automaton.

pub mod domain;
pub mod expr;
pub mod mtndd;
pub mod ndd;
pub mod nex;
pub mod nexpoint;
pub mod numeric;
pub mod parse;
pub mod program;
pub mod prover;
pub mod space;
pub mod transformer;

pub use domain::{NumPredDom, Value};
pub use expr::{Expr, Literal, Pred};
pub use numeric::NumId;
pub use space::{Predicate, Space, Variable, Vocabulary};
pub use transformer::{Choice, NumExpr, NumStmt, Transformer};

use palisade_base::Budget;
use palisade_dd::Outcome;
use palisade_domains::Domain;

/// The six implementations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Structure {
    /// Numbers alone.
    Numeric,
    /// Predicates alone.
    Predicate,
    /// P × N.
    NexPoint,
    /// 2^P ↦ N as sets of pairs.
    Nex,
    /// 2^P ↦ N as multi-terminal diagrams.
    Mtndd,
    /// 2^(P × N) as diagrams.
    Ndd,
}

impl Structure {
    /// All, in the order of Table 4.
    pub const ALL: [Structure; 6] = [
        Structure::Numeric,
        Structure::Predicate,
        Structure::NexPoint,
        Structure::Nex,
        Structure::Mtndd,
        Structure::Ndd,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Structure::Numeric => "numeric",
            Structure::Predicate => "predicate-only",
            Structure::NexPoint => "nexpoint",
            Structure::Nex => "nex",
            Structure::Mtndd => "mtndd",
            Structure::Ndd => "ndd",
        }
    }

    /// A domain over a vocabulary, with the numeric domain N.
    pub fn domain(self, names: Vocabulary, numbers: Domain, budget: &Budget) -> Outcome<Box<dyn NumPredDom>> {
        let space = Space::new(names, numbers, budget)?;
        Ok(match self {
            Structure::Numeric => Box::new(nexpoint::NexPoint::numeric(space)),
            Structure::Predicate => Box::new(nexpoint::NexPoint::predicate(space)),
            Structure::NexPoint => Box::new(nexpoint::NexPoint::new(space)),
            Structure::Nex => Box::new(nex::Nex::new(space)),
            Structure::Mtndd => Box::new(mtndd::Mtndd::new(space, budget)?),
            Structure::Ndd => Box::new(ndd::Ndd::new(space, budget)?),
        })
    }
}
