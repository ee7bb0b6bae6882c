//! The command line of Palisade.
fn main() {}
