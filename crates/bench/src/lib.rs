//! Measurements that need several crates, from C text to an analysis.
//!
//! [`boxes`] regenerates a table of a paper and is reached by `palisade bench`; smaller measurements
//! are in `benches/`.

pub mod boxes;
