//! The small commands: `cfa`, `run`, `solve`, `analyses`.

use crate::args::{CfaArgs, Format, RunArgs, SolveArgs};
use crate::{USAGE, input};
use palisade_lower::Options;

/// Shows the automaton of a program.
pub fn cfa(args: &CfaArgs) -> u8 {
    let mut options = Options::default();
    if let Some(entry) = &args.source.entry {
        options.entry.clone_from(entry);
    }
    let Some(input) = input::read(&args.source, &options) else { return USAGE };
    let text = match args.format {
        Format::Text => palisade_cfa::text::print(&input.program),
        Format::Dot => palisade_cfa::dot::to_dot(&input.program, &input.program.analyse()),
        Format::Json => {
            palisade_cfa::json::to_json(&input.program, &input.program.analyse(), Some(&input.sources))
                .to_string()
        }
    };
    use std::io::Write;
    // A closed pipe is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// Executes a program.
pub fn run(_args: &RunArgs) -> u8 {
    USAGE
}

/// Runs the embedded solver.
pub fn solve(_args: &SolveArgs) -> u8 {
    USAGE
}

/// Lists the analyses.
pub fn analyses() -> u8 {
    for analysis in palisade_portfolio::registry::analyses() {
        println!("{:12} {}", analysis.engine.name(), analysis.summary);
    }
    0
}
