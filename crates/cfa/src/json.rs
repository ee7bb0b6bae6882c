//! The automaton as JSON, for tools. The shape is a contract of its own, apart from the types of
//! [`crate::ir`]; operations are given as text and by their kind.

use crate::ir::*;
use crate::types::DataModel;
use crate::wto::Graph;
use palisade_base::{SourceMap, Span};
use serde_json::{Value, json};

/// The whole program. Positions are those of the original source if a source map is given.
pub fn to_json(program: &Program, graph: &Graph, sources: Option<&SourceMap>) -> Value {
    let position = |span: Span| match sources.and_then(|s| s.position(span)) {
        Some(p) => json!({ "file": &*p.file, "line": p.line, "column": p.column }),
        None => Value::Null,
    };
    let variable = |id: VarId| {
        let v = &program.vars[id];
        json!({
            "id": id.to_string(),
            "name": &*v.name,
            "type": program.show_type(v.ty).to_string(),
            "address_taken": v.address_taken,
            "temporary": matches!(v.kind, VarKind::Temp(_)),
            "position": position(v.span),
        })
    };
    let globals = program.vars.iter_enumerated().filter(|(_, v)| v.kind == VarKind::Global);
    let globals: Vec<Value> = globals.map(|(id, _)| variable(id)).collect();

    let mut locations = palisade_base::IdxVec::<FuncId, Vec<Value>>::filled(Vec::new(), program.funcs.len());
    for (id, loc) in program.locs.iter_enumerated() {
        locations[loc.func].push(json!({
            "id": id.to_string(),
            "position": position(loc.span),
            "label": loc.label.as_deref(),
            "reachable": graph.is_reachable(id),
            "loop_head": graph.is_loop_head(id),
            "loop": graph.innermost_loop(id).map(|h| h.to_string()),
            "loop_depth": graph.depth(id),
            "loop_statement": loc.loop_stmt.map(position),
        }));
    }
    let mut edges = palisade_base::IdxVec::<FuncId, Vec<Value>>::filled(Vec::new(), program.funcs.len());
    for (id, edge) in program.edges.iter_enumerated() {
        edges[program.locs[edge.src].func].push(json!({
            "id": id.to_string(),
            "source": edge.src.to_string(),
            "target": edge.dst.to_string(),
            "kind": kind(&edge.op),
            "text": program.show_op(&edge.op).to_string(),
            "position": position(edge.span),
        }));
    }
    let functions: Vec<Value> = program
        .funcs
        .iter_enumerated()
        .map(|(id, f)| {
            let mut value = json!({
                "id": id.to_string(),
                "name": &*f.name,
                "type": program.show_type(f.ty).to_string(),
                "position": position(f.span),
                "defined": f.body.is_some(),
            });
            if let Some(body) = &f.body {
                value["parameters"] = body.params.iter().map(|&v| variable(v)).collect();
                value["variables"] = body.locals.iter().map(|&v| variable(v)).collect();
                value["entry"] = body.entry.to_string().into();
                value["exit"] = body.exit.to_string().into();
                value["locations"] = std::mem::take(&mut locations[id]).into();
                value["edges"] = std::mem::take(&mut edges[id]).into();
            }
            value
        })
        .collect();
    json!({
        "data_model": match program.data_model {
            DataModel::Ilp32 => "ilp32",
            DataModel::Lp64 => "lp64",
        },
        "entry": program.funcs.get(program.entry).map(|f| &*f.name),
        "globals": globals,
        "functions": functions,
    })
}

/// The word for an operation's kind.
fn kind(op: &Op) -> &'static str {
    match op {
        Op::Skip => "skip",
        Op::Assign { .. } => "assign",
        Op::Copy { .. } => "copy",
        Op::Zero { .. } => "zero",
        Op::Assume { .. } => "assume",
        Op::Havoc { input: true, .. } => "input",
        Op::Havoc { input: false, .. } => "havoc",
        Op::Call { .. } => "call",
        Op::Return { .. } => "return",
        Op::Alloc { .. } => "alloc",
        Op::Free { .. } => "free",
        Op::MemCopy { .. } => "memcopy",
        Op::MemSet { .. } => "memset",
        Op::Enter { .. } => "enter",
        Op::Leave { .. } => "leave",
        Op::Check { .. } => "check",
        Op::Halt { .. } => "halt",
    }
}
