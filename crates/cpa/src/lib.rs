//! Configurable program analysis.
