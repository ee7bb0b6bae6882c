//! The result for machines: one JSON object.

use crate::finding::Finding;
use crate::open::Told;
use crate::trace::{Note, TraceLine};
use crate::{message, watchdog};
use palisade_cfa::Assumption;
use palisade_engines::board::Taken;
use palisade_portfolio::{Tried, Verdict};
use palisade_witness::model::Location;
use palisade_witness::run::value_text;
use serde_json::{Value, json};

/// The version of the format, which `docs/json.md` describes.
const FORMAT: &str = "1.0";

/// Trace lines that are written at most.
const TRACE_LINES: usize = 2000;

/// What is said where there is no answer, only messages.
pub fn nothing() -> Value {
    json!({"version": FORMAT, "verdict": "error", "messages": message::told()})
}

/// What is said where there is no time to say more.
pub fn bare(verdict: &Verdict) -> Value {
    let mut object = json!({
        "version": FORMAT,
        "cpu_seconds": watchdog::cpu_time().as_secs_f64(),
        "messages": message::told(),
    });
    put_verdict(&mut object, verdict);
    object
}

fn put_verdict(object: &mut Value, verdict: &Verdict) {
    let (name, detail) = match verdict {
        Verdict::True => ("true", None),
        Verdict::False(goal) => ("false", Some(("violated", goal))),
        Verdict::Unknown(reason) => ("unknown", Some(("reason", reason))),
    };
    object["verdict"] = json!(name);
    if let Some((member, text)) = detail {
        object[member] = json!(text);
    }
}

/// The result as one object.
pub fn result(finding: &Finding<'_>) -> Value {
    let mut object = json!({
        "version": FORMAT,
        "property": finding.property.to_string(),
        "engine": finding.settled.engine,
        "class": finding.settled.class.map(|c| c.name()),
        "evidence": finding.evidence(),
        "assumptions": assumptions(finding),
        "unsat_answers": {
            "proved": finding.settled.tally.proved,
            "searched": finding.settled.tally.searched,
            "cross_checked": finding.settled.tally.crossed,
            "not_cross_checked": finding.settled.tally.not_crossed,
        },
        "checked": finding.settled.checked.map(|c| c.to_string()),
        "unfinished_checks": finding.settled.unchecked.len(),
        "failed_checks": finding.settled.rejected.len(),
        "failed_check_reasons": finding.settled.rejected,
        "cpu_seconds": watchdog::cpu_time().as_secs_f64(),
        "found_after": finding.settled.found_after.map(|d| d.as_secs_f64()),
        "messages": message::told(),
        "tried": tried(&finding.settled.tried),
        "taken": taken(&finding.settled.taken),
    });
    put_verdict(&mut object, &finding.settled.verdict);
    object["why"] = json!(finding.why);
    if let Some(places) = &finding.places {
        let invariants = finding.facts.iter().filter_map(|fact| {
            let at = places.locate(fact.span.lo)?;
            Some(json!({
                "file": at.file_name, "line": at.line, "column": at.column, "function": at.function,
                "loop": fact.keyword, "invariant": fact.text, "quantified": fact.quantified,
            }))
        });
        object["invariants"] = invariants.collect();
    }
    if let Some(obstacles) = &finding.obstacles {
        object["open"] = obstacles.told.iter().map(open).collect();
        object["open_left_out"] = json!(obstacles.more);
    }
    if let Some(story) = &finding.story {
        let (first, left_out, last) = story.abbreviated(TRACE_LINES);
        if let Some(replay) = &finding.settled.replay {
            object["violation"] = json!(replay.kind.to_string());
        }
        if let Some(property) = finding.settled_by() {
            object["undefined"] = json!({"settled_by": property});
        }
        object["description"] = json!(story.described.text);
        let related = story.described.notes.iter().filter_map(|(span, what)| {
            let at = finding.places.as_ref()?.locate(span.lo)?;
            Some(json!({"file": at.file_name, "line": at.line, "column": at.column, "what": what}))
        });
        object["related"] = related.collect();
        object["inputs"] = json!(story.inputs());
        if let Some(arguments) = story.arguments() {
            object["arguments"] = json!(arguments);
        }
        if let Some(call) = &story.steps.call {
            let given = |(place, value): &(String, palisade_interp::Value)| json!({"place": place, "value": value_text(value.ty, value.bits)});
            object["entry_arguments"] = call.given.iter().map(given).collect();
        }
        object["trace"] = first.iter().chain(last).map(line).collect();
        object["trace_left_out"] = json!(left_out);
        let at = story.violation.and_then(|span| finding.places.as_ref()?.locate(span.lo));
        object["violation_at"] = at.map_or(
            Value::Null,
            |at| json!({"file": at.file_name, "line": at.line, "column": at.column, "function": at.function}),
        );
    }
    object
}

fn tried(all: &[Tried]) -> Value {
    all.iter().map(|t| json!({"engine": t.engine, "seconds": t.time.as_secs_f64(), "said": t.said})).collect()
}

/// What nobody could exclude.
fn open(told: &Told) -> Value {
    let place = |at: &Location| json!({"file": at.file_name, "line": at.line, "column": at.column});
    let loops: Vec<Value> = told.loops.iter().map(place).collect();
    json!({"what": told.what, "at": told.at.as_ref().map(place), "loops": loops})
}

/// What engines took from each other.
fn taken(all: &[Taken]) -> Value {
    all.iter().map(|t| json!({"by": t.by, "from": t.from, "facts": t.facts})).collect()
}

/// What the verdict rests on besides the evidence.
pub fn assumptions(finding: &Finding<'_>) -> Value {
    let object = |a: &Assumption| {
        let mut object = json!({"kind": a.what.name(), "text": a.text(finding.program)});
        if a.what.is_missing() {
            object["function"] = json!(&*finding.program.funcs[a.func].name);
        }
        object
    };
    finding.settled.assumptions.iter().map(object).collect()
}

fn line(line: &TraceLine) -> Value {
    let changes: serde_json::Map<String, Value> =
        line.changes().map(|(name, value)| (name.clone(), json!(value))).collect();
    let mut object = json!({
        "file": line.file, "line": line.line, "column": line.column, "function": line.function,
        "depth": line.depth, "changes": changes, "text": line.text(),
    });
    let branches = line.notes.iter().filter_map(|n| match n {
        Note::Branch(condition, taken) => Some(json!({"condition": condition, "taken": taken})),
        _ => None,
    });
    object["branches"] = branches.collect();
    if let Some(folded) = line.folded {
        object["passes_left_out"] = json!(folded.passes);
    }
    object
}
