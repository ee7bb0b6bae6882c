//! Component analyses.
