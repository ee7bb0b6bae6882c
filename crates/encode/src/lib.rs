//! Programs as formulas.
