//! Configurable program analysis: one algorithm from data-flow analysis to model checking.
//!
//! After Beyer, Gulwani and Schmidt, *Combining Model Checking and Data-Flow Analysis* (section
//! 3), with dynamic precision adjustment. An analysis is a value that implements [`Cpa`]: an
//! [`AbstractDomain`], a transfer relation, the operators merge and stop, and a precision. Merging
//! by join where control flow meets makes it a data-flow analysis, never merging makes it a model
//! checker, and everything between is a setting.
//!
//! * [`cpa`]: the traits;
//! * [`facts`]: what the components of a composite ask each other;
//! * [`product`]: composition with strengthening;
//! * [`reached`]: the reached set, which is the abstract reachability graph;
//! * [`waitlist`], [`order`]: iteration orders;
//! * [`algorithm`]: the algorithm; [`mod@cegar`]: the loop over the precision around it;
//! * [`export`]: the graph as text.

pub mod algorithm;
pub mod cegar;
pub mod cpa;
pub mod export;
pub mod facts;
pub mod order;
pub mod product;
pub mod reached;
pub mod step;
pub mod waitlist;

pub use algorithm::{Exploration, Limits, Status};
pub use cegar::{Refinement, Refiner, Verdict, cegar};
pub use cpa::{
    AbstractDomain, Adjusted, Cpa, Halt, MergeContext, ReturnSite, Section, StopOp, Successors, Target,
};
pub use facts::{Constant, Facts, Object, Query, Unique};
pub use product::{Product, ProductMerge};
pub use reached::{CoverLink, NodeId, Reached};
pub use step::{Step, StepKind};
pub use waitlist::Order;
