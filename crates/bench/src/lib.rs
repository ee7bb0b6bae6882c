//! Measurements that need several crates, from C text to an analysis; see `benches/`.
