//! What the tests of reductions share.

use palisade_base::SourceMap;
use palisade_cfa::{DataModel, Program};
use palisade_lower::{CheckSet, Options};
use palisade_property::Property;

/// The program of a text with the checks of a property.
pub fn compile(text: &str, property: &Property) -> Program {
    let mut sources = SourceMap::default();
    let file = sources.add("program.c", text.to_string()).expect("small");
    let checks = property.checks().collect::<CheckSet>();
    let options = Options { checks, entry: property.entry.clone(), ..Options::default() };
    let compiled = palisade_lower::compile(&mut sources, &[file], DataModel::Lp64, &options);
    let mut program = compiled.program.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics));
    palisade_property::instrument(&mut program, property);
    program
}
