//! The abstract reachability graph for people (Graphviz) and programs (JSON).

use crate::algorithm::Exploration;
use crate::cpa::Cpa;
use crate::reached::NodeId;
use crate::step::{Step, StepKind};
use palisade_cfa::Program;
use serde_json::{Value, json};
use std::fmt::Write;

/// What a step does, in words.
fn label(program: &Program, step: &Step) -> String {
    let op = program.show_op(&program.edges[step.edge].op).to_string();
    match step.kind {
        StepKind::Local => op,
        StepKind::Fail => format!("fails: {op}"),
        StepKind::Enter(f) => format!("enter {}: {op}", program.funcs[f].name),
        StepKind::Leave(f) => format!("leave {}: {op}", program.funcs[f].name),
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The graph for Graphviz: solid edges are first ways, dashed ones lead to the state that covers
/// the successor; error states are red, states that still wait are grey.
pub fn to_dot<C: Cpa>(program: &Program, exploration: &Exploration<C>) -> String {
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
        let text = quoted(&format!("{id}: {}", cpa.describe(state)));
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

/// The graph as JSON: `nodes` with their states, `edges` with the CFA edge of each step.
pub fn to_json<C: Cpa>(program: &Program, exploration: &Exploration<C>) -> Value {
    let (cpa, reached) = (exploration.cpa(), exploration.reached());
    let node = |id: NodeId| json!(id.0);
    let nodes: Vec<Value> = reached
        .iter()
        .map(|(id, state)| {
            json!({
                "id": node(id),
                "location": cpa.location(state).map(|l| l.0),
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
