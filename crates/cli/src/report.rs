//! How results are shown to people.

use crate::finding::{Finding, TraceLine};
use palisade_base::SourceMap;
use palisade_cfa::{EdgeId, FuncId, Program};
use palisade_check::replay::Replay;
use palisade_engines::Certificate;
use palisade_interp::Run;
use palisade_property::{Goal, Property};
use palisade_task::contracts::Contract;
use palisade_witness::run::value_text;
use std::fmt::Write;

/// Trace lines that are printed at most.
const TRACE_LINES: usize = 60;
/// Inputs that are printed at most.
const INPUTS: usize = 100;
/// Changes that a trace line shows at most.
const CHANGES: usize = 8;
/// Characters of source, and of an invariant, that are printed at most.
const SOURCE: usize = 120;
const INVARIANT: usize = 1000;

/// The active functions, innermost first, with their positions; one line each.
pub fn stack(program: &Program, sources: &SourceMap, stack: &[(FuncId, EdgeId)]) -> String {
    let mut text = String::new();
    for &(func, edge) in stack {
        let name = &program.funcs[func].name;
        // Writing to a string does not fail.
        let _ = match sources.position(program.edges[edge].span) {
            Some(p) => {
                // The preprocessor was given the file in this way.
                let file = p.file.strip_prefix("./").unwrap_or(&p.file);
                writeln!(text, "  in {name} at {file}:{}:{}", p.line, p.column)
            }
            None => writeln!(text, "  in {name}"),
        };
    }
    text
}

/// The inputs of a run in order.
pub fn inputs(run: &Run) -> String {
    let shown = run.inputs.iter().take(INPUTS).map(|i| value_text(i.ty, i.bits));
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if run.inputs.len() > INPUTS {
        let _ = write!(text, ", and {} more", run.inputs.len() - INPUTS);
    }
    text
}

/// In which way a run goes wrong: what the observer says whose check failed, or the kind of check.
pub fn violation(property: &Property, replay: &Replay) -> String {
    let check = replay.run.stack.first().map(|(_, edge)| *edge);
    let errors = property.goals.iter().filter_map(|g| match g {
        Goal::Observer { errors, .. } => Some(errors),
        _ => None,
    });
    let said = errors.flatten().find(|(edge, _)| Some(*edge) == check);
    said.map_or_else(|| replay.kind.to_string(), |(_, message)| message.clone())
}

/// What `check` prints before the verdict line.
pub fn text(finding: &Finding<'_>) -> String {
    let mut text = String::new();
    if let Some(engine) = finding.settled.engine {
        let _ = writeln!(text, "settled by {engine}");
    }
    if let Some(places) = &finding.places {
        for fact in &finding.facts {
            let Some(at) = places.locate(fact.span.lo) else { continue };
            let fact = cropped(&fact.text, INVARIANT);
            let _ = writeln!(text, "  {}:{}: invariant {fact}", at.file_name, at.line);
        }
    }
    if let Some(Certificate::Contracts { contracts, .. }) = &finding.settled.certificate {
        text.extend(contracts.iter().map(|c| contract(finding.program, c)));
    }
    for assumption in &finding.settled.assumptions {
        let _ = writeln!(text, "assuming: {}", assumption.text(finding.program));
    }
    if let (Some(replay), Some(story)) = (&finding.settled.replay, &finding.story) {
        let (first, left_out, last) = story.abbreviated(TRACE_LINES);
        if !first.is_empty() {
            text.push_str("trace:\n");
        }
        text.extend(first.iter().map(|l| trace_line(finding, l)));
        if left_out > 0 {
            let _ = writeln!(text, "  ... {left_out} more");
        }
        text.extend(last.iter().map(|l| trace_line(finding, l)));
        let _ = writeln!(text, "violation: {}", violation(finding.property, replay));
        text.push_str(&stack(finding.program, &finding.input.sources, &replay.run.stack));
        if let Some(arguments) = story.arguments() {
            let _ = writeln!(text, "arguments: {}", arguments.join(" "));
        }
        let _ = writeln!(text, "inputs: {}", inputs(&replay.run));
    }
    text
}

/// What is claimed about a function, one line for each clause.
fn contract(program: &Program, contract: &Contract) -> String {
    let name = &program.funcs[contract.func].name;
    let (requires, ensures) = contract.text(program);
    let line = |what: &str, clause: &String| format!("  {name}: {what} {clause}\n");
    requires.iter().map(|c| line("requires", c)).chain(ensures.iter().map(|c| line("ensures", c))).collect()
}

fn trace_line(finding: &Finding<'_>, l: &TraceLine) -> String {
    let shown = l.changes.iter().take(CHANGES).map(|(name, value)| format!("{name} = {value}"));
    let mut changes = shown.collect::<Vec<_>>().join(", ");
    if l.changes.len() > CHANGES {
        let _ = write!(changes, ", and {} more", l.changes.len() - CHANGES);
    }
    let source = finding.input.sources.line_text(l.span).unwrap_or_default().trim();
    format!("  {}:{}: {}  // {changes}\n", l.file, l.line, cropped(source, SOURCE))
}

/// A text that may be too long to show.
fn cropped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
