//! How results are shown to people.

use crate::finding::{Finding, Story};
use crate::trace::{Note, TraceLine};
use palisade_base::SourceMap;
use palisade_cfa::{EdgeId, FuncId, Op, Program};
use palisade_engines::Certificate;
use palisade_interp::Run;
use palisade_portfolio::Verdict;
use palisade_task::contracts::Contract;
use palisade_task::forget;
use palisade_witness::places::Places;
use palisade_witness::run::input_text;
use std::fmt::Write;

/// Trace lines that are printed at most.
const TRACE_LINES: usize = 60;
/// Inputs that are printed at most.
const INPUTS: usize = 100;
/// Changes that a trace line shows at most.
const CHANGES: usize = 8;
/// Calls that are indented at most.
const INDENT: usize = 20;
/// Characters of source, and of an invariant, that are printed at most.
const SOURCE: usize = 120;
const INVARIANT: usize = 1000;
/// Functions whose contracts are printed at most.
const CONTRACTS: usize = 20;

/// The active functions, innermost first, with their positions; one line each.
pub fn stack(program: &Program, sources: &SourceMap, stack: &[(FuncId, EdgeId)]) -> String {
    let mut text = String::new();
    for &(func, edge) in stack {
        let name = &program.funcs[func].name;
        // What calls the entry function is nobody's.
        if name.starts_with('.') {
            continue;
        }
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
    let shown = run.inputs.iter().take(INPUTS).map(input_text);
    let mut text = shown.collect::<Vec<_>>().join(", ");
    if run.inputs.len() > INPUTS {
        let _ = write!(text, ", and {} more", run.inputs.len() - INPUTS);
    }
    text
}

/// What `check` prints before the verdict line.
pub fn text(finding: &Finding<'_>) -> String {
    let mut text = String::new();
    if let Some(engine) = &finding.settled.engine {
        let _ = writeln!(text, "settled by {engine}");
    }
    for line in &finding.why {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(places) = &finding.places {
        for fact in &finding.facts {
            let Some(at) = places.locate(fact.span.lo) else { continue };
            let fact = cropped(&fact.text, INVARIANT);
            let _ = writeln!(text, "  {}:{}: invariant {fact}", at.file_name, at.line);
        }
    }
    if let Some(Certificate::Contracts(found)) = &finding.settled.certificate {
        let told = found.contracts.iter().take(CONTRACTS);
        text.extend(told.map(|c| contract(finding.program, c, found.forgetful)));
        if let Some(more) = found.contracts.len().checked_sub(CONTRACTS + 1) {
            let _ = writeln!(text, "  and contracts of {} more functions", more + 1);
        }
    }
    for assumption in &finding.settled.assumptions {
        let _ = writeln!(text, "assuming: {}", assumption.text(finding.program));
    }
    let nothing = !finding.program.edges.iter().any(|e| matches!(e.op, Op::Check { .. }));
    if nothing && matches!(finding.settled.verdict, Verdict::True) {
        let _ = writeln!(
            text,
            "note: nothing in the program could violate the property: there is nothing to check"
        );
    }
    if let Some(obstacles) = &finding.obstacles {
        text.push_str(&obstacles.text());
    }
    if let (Some(story), Some(places)) = (&finding.story, &finding.places) {
        text.push_str(&run(story, places));
        let what = match finding.settled_by() {
            Some(_) => "undefined, before the property is reached",
            None => "violation",
        };
        let _ = writeln!(text, "{what}: {}", story.described.text);
        text.push_str(&stack(finding.program, &finding.input.sources, &story.run.stack));
        if let Some(arguments) = story.arguments() {
            let _ = writeln!(text, "arguments: {}", arguments.join(" "));
        }
        let _ = writeln!(text, "inputs: {}", inputs(&story.run));
    }
    text
}

/// What is claimed about a function, one line for each clause.
fn contract(program: &Program, contract: &Contract, forgetful: bool) -> String {
    let name = &program.funcs[contract.func].name;
    let params = match forgetful {
        true => forget::params(program, contract.func),
        false => program.body(contract.func).params.clone(),
    };
    let (requires, ensures) = contract.text(program, &params);
    let line = |what: &str, clause: &String| format!("  {name}: {what} {}\n", cropped(clause, INVARIANT));
    requires.iter().map(|c| line("requires", c)).chain(ensures.iter().map(|c| line("ensures", c))).collect()
}

/// The run line by line, calls indented.
fn run(story: &Story, places: &Places) -> String {
    let (first, left_out, last) = story.abbreviated(TRACE_LINES);
    let mut text = if first.is_empty() { String::new() } else { "trace:\n".into() };
    let shallowest = first.iter().chain(last).map(|l| l.depth).min().unwrap_or(0);
    let indent = |l: &TraceLine| "  ".repeat(1 + (l.depth - shallowest).min(INDENT));
    let line = |l: &TraceLine| {
        let folded = l.folded.map_or_else(String::new, |f| {
            format!("{}... {} more passes like the one before\n", indent(l), f.passes)
        });
        let source = cropped(places.written_line(l.span.lo).unwrap_or_default().trim(), SOURCE);
        // A call says most about its line.
        let (calls, others): (Vec<&Note>, Vec<&Note>) =
            l.notes.iter().partition(|n| matches!(n, Note::Call(..)));
        let notes = calls.into_iter().chain(others).take(CHANGES);
        let mut notes = notes.map(Note::to_string).collect::<Vec<_>>().join(", ");
        if l.notes.len() > CHANGES {
            let _ = write!(notes, ", and {} more", l.notes.len() - CHANGES);
        }
        format!("{folded}{}{}:{}: {source}  // {notes}\n", indent(l), l.file, l.line)
    };
    text.extend(first.iter().map(line));
    if left_out > 0 {
        let _ = writeln!(text, "  ... {left_out} more");
    }
    text.extend(last.iter().map(line));
    text
}

/// A text that may be too long to show.
pub fn cropped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_owned(),
    }
}
