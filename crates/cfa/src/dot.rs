//! The automaton as a Graphviz drawing.

use crate::ir::*;
use crate::wto::Graph;
use std::fmt::Write;

/// The whole program, one cluster for each function with a body; loop heads are double circles.
pub fn to_dot(program: &Program, graph: &Graph) -> String {
    let mut out = String::from(
        "digraph cfa {\n  node [shape=circle, fontname=monospace];\n  edge [fontname=monospace];\n",
    );
    let mut by_func = palisade_base::IdxVec::filled(Vec::new(), program.funcs.len());
    for (loc, data) in program.locs.iter_enumerated() {
        by_func[data.func].push(loc);
    }
    for (id, func) in program.funcs.iter_enumerated() {
        let Some(body) = &func.body else { continue };
        line(&mut out, format_args!("  subgraph cluster_{} {{\n    label={};", id.0, quoted(&func.name)));
        for &loc in &by_func[id] {
            let data = &program.locs[loc];
            let label = match &data.label {
                Some(name) => format!("{loc}\n{name}"),
                None => loc.to_string(),
            };
            let shape = match () {
                () if loc == body.exit => ", shape=box",
                () if graph.is_loop_head(loc) => ", shape=doublecircle",
                () if loc == body.entry => ", style=bold",
                () => "",
            };
            line(&mut out, format_args!("    {loc} [label={}{shape}];", quoted(&label)));
        }
        line(&mut out, format_args!("  }}"));
    }
    for edge in &program.edges {
        let label = quoted(&program.show_op(&edge.op).to_string());
        line(&mut out, format_args!("  {} -> {} [label={label}];", edge.src, edge.dst));
    }
    out.push_str("}\n");
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}

fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
