//! The command `check`.

use crate::args::CheckArgs;
use crate::{USAGE, input, report, watchdog};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::Program;
use palisade_lower::{CheckSet, Options};
use palisade_portfolio::{Settled, Verdict, settle};
use palisade_property::Property;
use std::sync::Arc;

/// Exit status of each verdict.
const TRUE: u8 = 0;
const FALSE: u8 = 1;
const UNKNOWN: u8 = 3;

/// Settles a property and prints the verdict line.
pub fn check(args: &CheckArgs) -> u8 {
    let budget = Budget::unlimited();
    watchdog::watch(&budget, args.time_limit, args.memory_limit);
    let mut property = match property(args.property.as_deref()) {
        Ok(property) => property,
        Err(message) => {
            eprintln!("error: {message}");
            return USAGE;
        }
    };
    if let Some(entry) = &args.source.entry {
        property.entry.clone_from(entry);
    }
    let options = Options { checks: property.checks().collect::<CheckSet>(), entry: property.entry.clone() };
    let Some(input) = input::read(&args.source, &options) else { return USAGE };
    if let Some(goal) = property.unsupported() {
        return verdict(&Verdict::Unknown(format!("{} is not supported", goal.name())));
    }
    let mut program = input.program;
    palisade_property::instrument(&mut program, &property);
    let program = Arc::new(program);
    let settled = settle(&program, &property, &args.analysis, &budget, &|engine, note| {
        tracing::info!("{engine}: {note}");
    });
    show(&settled, &program, &input.sources);
    verdict(&settled.verdict)
}

fn property(name: Option<&str>) -> Result<Property, String> {
    let Some(name) = name else { return Ok(Property::assertions()) };
    if let Some(property) = Property::named(name) {
        return Ok(property);
    }
    if !name.ends_with(".prp") {
        return Err(format!(
            "unknown property `{name}`; give a .prp file or one of {}",
            Property::NAMES.join(", ")
        ));
    }
    let text = std::fs::read_to_string(name).map_err(|e| format!("{name}: {e}"))?;
    Property::parse_prp(&text).map_err(|e| format!("{name}:{e}"))
}

fn show(settled: &Settled, program: &Program, sources: &SourceMap) {
    for why in &settled.rejected {
        eprintln!("warning: evidence did not pass its check: {why}");
    }
    if let Some(engine) = settled.engine {
        println!("settled by {engine}");
    }
    if let Some(replay) = &settled.replay {
        println!("violation: {}", replay.kind);
        print!("{}", report::stack(program, sources, &replay.run.stack));
        println!("inputs: {}", report::inputs(&replay.run));
    }
}

fn verdict(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::True => println!("verdict: true"),
        Verdict::False(goal) => println!("verdict: false({goal})"),
        Verdict::Unknown(reason) => println!("verdict: unknown ({reason})"),
    }
    match verdict {
        Verdict::True => TRUE,
        Verdict::False(_) => FALSE,
        Verdict::Unknown(_) => UNKNOWN,
    }
}
