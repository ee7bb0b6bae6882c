//! How runs are shown to people.

use palisade_base::SourceMap;
use palisade_cfa::{EdgeId, FloatTy, FuncId, Program, Scalar};
use palisade_interp::Run;
use std::fmt::Write;

/// The active functions, innermost first, with their positions; one line each.
pub fn stack(program: &Program, sources: &SourceMap, stack: &[(FuncId, EdgeId)]) -> String {
    let mut text = String::new();
    for &(func, edge) in stack {
        let name = &program.funcs[func].name;
        // Writing to a string does not fail.
        let _ = match sources.position(program.edges[edge].span) {
            Some(p) => writeln!(text, "  in {name} at {}:{}:{}", p.file, p.line, p.column),
            None => writeln!(text, "  in {name}"),
        };
    }
    text
}

/// The inputs of a run in order.
pub fn inputs(run: &Run) -> String {
    let values: Vec<String> = run.inputs.iter().map(|i| value(i.ty, i.bits)).collect();
    values.join(", ")
}

/// A value as one would write it in C.
fn value(ty: Scalar, bits: u128) -> String {
    match ty {
        Scalar::Int(t) if t.signed => t.decode(bits).to_string(),
        Scalar::Int(t) => t.truncate(bits).to_string(),
        Scalar::Float(FloatTy::F32) => f32::from_bits(bits as u32).to_string(),
        Scalar::Float(FloatTy::F64) => f64::from_bits(bits as u64).to_string(),
        Scalar::Float(FloatTy::F80) | Scalar::Ptr => format!("{bits:#x}"),
    }
}
