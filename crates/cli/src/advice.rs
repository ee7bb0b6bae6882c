//! What to try when a question was not settled.

use crate::args::CheckArgs;
use crate::finding::Finding;
use palisade_base::Stop;
use palisade_portfolio::Verdict;
use std::time::Duration;

/// What to try, with the flags to type; nothing if the question was settled.
pub fn advice(args: &CheckArgs, finding: &Finding<'_>, stopped: Option<Stop>) -> Vec<String> {
    let mut advice = Vec::new();
    if !matches!(finding.settled.verdict, Verdict::Unknown(_)) {
        return advice;
    }
    match stopped {
        Some(Stop::Time) => {
            let more = |flag: &str, now: Duration| {
                format!("{flag} {}s: it was {}s", (now * 5).as_secs().max(1), now.as_secs_f64())
            };
            advice.extend(args.wall_limit.map(|wall| more("--wall-limit", wall)));
            advice.push(more("--time-limit", args.time_limit));
        }
        Some(Stop::Memory) => {
            let now = args.memory_limit >> 20;
            advice.push(format!("--memory-limit {}MB: it was {now}MB", now.saturating_mul(2)));
        }
        _ => {}
    }
    if let Some(property) = finding.settled_by() {
        advice.push(format!("--property {property}: this is what the run violates"));
    }
    let program = finding.program;
    let mut missing: Vec<&str> = program
        .assumptions
        .iter()
        .filter(|a| a.what.is_missing())
        .map(|a| &*program.funcs[a.func].name)
        .collect();
    missing.sort_unstable();
    missing.dedup();
    if let [first, rest @ ..] = &missing[..] {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more have", rest.len()) };
        let has = if rest.is_empty() { " has" } else { "" };
        advice.push(format!(
            "the file that defines it, or --missing pure: `{first}`{has}{more} no body and may do anything"
        ));
    }
    if finding.settled.open.len() > 1 && !args.all {
        advice.push(format!(
            "--all: each of the {} open checks is asked about alone",
            finding.settled.open.len()
        ));
    }
    if args.analysis != "auto" {
        advice.push(format!("--analysis auto: only `{}` was asked", args.analysis));
    }
    advice
}

/// The lines to print.
pub fn text(advice: &[String]) -> String {
    advice.iter().map(|line| format!("try: {line}\n")).collect()
}
