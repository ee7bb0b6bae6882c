//! Measurements that need several crates, from C text to an analysis.
//!
//! [`arrays`], [`boxes`], [`numpred`] and [`symabs`] regenerate tables and figures of papers; [`growth`] and
//! [`portfolio`] measure this program as a whole; [`weights`] learns from that who should have how much of the time. All are reached by `palisade bench`; smaller measurements are in
//! `benches/`.

pub mod arrays;
pub mod asked;
pub mod boxes;
pub mod child;
pub mod fit;
pub mod growth;
pub mod numpred;
pub mod portfolio;
pub mod symabs;
pub mod weights;

use palisade_base::SourceMap;
use palisade_cfa::{DataModel, Program};
use palisade_lower::{CheckSet, Missing, Options, compile};
use palisade_property::Property;

/// A preprocessed program with the property that no error function is called and no assertion fails, read as
/// competitions read programs: functions without a body change nothing. `None` if it cannot be read.
pub fn program(name: &str, text: String, data_model: DataModel) -> Option<Program> {
    let mut map = SourceMap::new();
    let file = map.add(name, text)?;
    let property = Property::assertions();
    let checks = property.checks().collect::<CheckSet>();
    let missing = Missing::Pure;
    let options = Options { checks, entry: property.entry.clone(), missing, ..Options::default() };
    let mut program = compile(&mut map, &[file], data_model, &options).program?;
    palisade_property::instrument(&mut program, &property);
    Some(program)
}
