//! The component analyses that the CPA algorithm runs, one file each.

pub mod callstack;
pub mod cells;
pub mod definitions;
pub mod effects;
pub mod explicit;
pub mod heap;
pub mod live;
pub mod location;
pub mod numeric;
pub mod observer;
pub mod predicate;
pub mod trie;
pub mod values;
