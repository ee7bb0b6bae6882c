//! Programs made smaller before analysis.
