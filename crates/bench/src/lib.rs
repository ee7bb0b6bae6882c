//! Measurements that need several crates, from C text to an analysis.
//!
//! [`arrays`], [`boxes`], [`numpred`] and [`symabs`] regenerate tables and figures of papers and are reached by
//! `palisade bench`; smaller measurements are in `benches/`.

pub mod arrays;
pub mod boxes;
pub mod child;
pub mod numpred;
pub mod symabs;
