//! The abstract reachability graph for people (Graphviz) and programs (JSON).

use crate::algorithm::Exploration;
use crate::cpa::Cpa;
use crate::reached::NodeId;
use crate::step::{Step, StepKind};
use palisade_base::SourceMap;
use palisade_cfa::{LocId, Program};
use serde_json::{Value, json};
use std::fmt::Write;

/// How a graph is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// For Graphviz, see [`to_dot`].
    Dot,
    /// As JSON, see [`to_json`].
    Json,
}

/// The graph in a format, with the positions of locations in the source.
pub fn write<C: Cpa>(
    program: &Program,
    exploration: &Exploration<C>,
    format: Format,
    sources: &SourceMap,
) -> String {
    match format {
        Format::Dot => to_dot(program, exploration, sources),
        Format::Json => to_json(program, exploration, sources).to_string(),
    }
}

/// Where a location is in the source: `file:line`.
fn position(program: &Program, sources: &SourceMap, loc: LocId) -> Option<String> {
    let position = sources.position(program.locs[loc].span)?;
    Some(format!("{}:{}", position.file, position.line))
}

/// What a step does, in words.
fn label(program: &Program, step: &Step) -> String {
    let op = program.show_op(&program.edges[step.edge].op).to_string();
    match step.kind {
        StepKind::Local => op,
        StepKind::Fail => format!("fails: {op}"),
        StepKind::Enter(f) => format!("enter {}: {op}", program.funcs[f].name),
        StepKind::Leave(f) => format!("leave {}: {op}", program.funcs[f].name),
        StepKind::Block(to) => format!("all paths to {to}"),
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The graph for Graphviz: solid edges are first ways, dashed ones lead to the state that covers
/// the successor; error states are red, states that still wait are grey.
pub fn to_dot<C: Cpa>(program: &Program, exploration: &Exploration<C>, sources: &SourceMap) -> String {
    let (cpa, reached) = (exploration.cpa(), exploration.reached());
    let mut out = String::from("digraph arg {\n  node [shape=box, fontname=monospace];\n");
    for (id, state) in reached.iter() {
        let look = if cpa.target(state).is_some() {
            ", color=red"
        } else if reached.is_waiting(id) {
            ", color=gray"
        } else {
            ""
        };
        let at = cpa.location(state).and_then(|l| position(program, sources, l));
        let at = at.map_or_else(String::new, |p| format!(" at {p}"));
        let text = quoted(&format!("{id}{at}\n{}", cpa.describe(state)));
        let _ = writeln!(out, "  {id} [label=\"{text}\"{look}];");
    }
    for id in reached.nodes() {
        if let Some((parent, step)) = reached.parent(id) {
            let _ = writeln!(out, "  {parent} -> {id} [label=\"{}\"];", quoted(&label(program, &step)));
        }
    }
    for link in reached.covered() {
        if let Some(by) = link.by {
            let text = quoted(&label(program, &link.step));
            let _ = writeln!(out, "  {} -> {by} [label=\"{text}\", style=dashed];", link.parent);
        }
    }
    out + "}\n"
}

/// The graph as JSON: `nodes` with their states, `edges` with the CFA edge of each step; an edge that
/// is `covered` leads to the state that covers the successor, `null` if only several together do.
pub fn to_json<C: Cpa>(program: &Program, exploration: &Exploration<C>, sources: &SourceMap) -> Value {
    let (cpa, reached) = (exploration.cpa(), exploration.reached());
    let node = |id: NodeId| json!(id.0);
    let nodes: Vec<Value> = reached
        .iter()
        .map(|(id, state)| {
            json!({
                "id": node(id),
                "location": cpa.location(state).map(|l| l.0),
                "position": cpa.location(state).and_then(|l| position(program, sources, l)),
                "state": cpa.describe(state),
                "error": cpa.target(state).is_some(),
                "waiting": reached.is_waiting(id),
            })
        })
        .collect();
    let edge = |from: NodeId, step: &Step, to: Option<NodeId>, covered: bool| {
        json!({
            "from": node(from),
            "to": to.map(node),
            "edge": step.edge.0,
            "operation": label(program, step),
            "covered": covered,
        })
    };
    let first = reached.nodes().filter_map(|id| {
        let (parent, step) = reached.parent(id)?;
        Some(edge(parent, &step, Some(id), false))
    });
    let covered = reached.covered().iter().map(|l| edge(l.parent, &l.step, l.by, true));
    json!({ "nodes": nodes, "edges": first.chain(covered).collect::<Vec<_>>() })
}
