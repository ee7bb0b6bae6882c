//! The file of `check --certificate`.

use crate::args::CheckArgs;
use palisade_base::Budget;
use palisade_cfa::Program;
use palisade_lower::Options;
use palisade_portfolio::{Settled, Verdict};
use palisade_recheck::{Dossier, Question, Settlement};
use std::path::Path;

/// Writes what settles a question: what was found about each program that was looked at. Tells whether the file
/// could be written; a reason why there is nothing to write is printed, and is no mistake of the user's.
pub fn write(
    path: &Path,
    args: &CheckArgs,
    options: &Options,
    found: &[(&Program, &Settled)],
    budget: &Budget,
) -> bool {
    let settlements: Result<Vec<Settlement>, String> =
        found.iter().map(|(program, settled)| settlement(program, settled, budget)).collect();
    let dossier =
        settlements.and_then(|settlements| Ok(Dossier { question: question(args, options)?, settlements }));
    let written = match dossier {
        Ok(dossier) => std::fs::write(path, dossier.to_file()),
        Err(why) => {
            warning!("{}: no certificate is written: {why}", path.display());
            Ok(())
        }
    };
    written.inspect_err(|error| error!("{}: {error}", path.display())).is_ok()
}

fn settlement(program: &Program, settled: &Settled, budget: &Budget) -> Result<Settlement, String> {
    match (&settled.verdict, &settled.task, &settled.certificate, &settled.replay) {
        (Verdict::True, Some(task), Some(certificate), _) => Settlement::holds(task, certificate, budget),
        (Verdict::False(_), _, _, Some(replay)) => Ok(Settlement::fails(program, &replay.bug)),
        _ => Err("the question is not settled".into()),
    }
}

/// The question that was asked, with what lowering was asked for.
fn question(args: &CheckArgs, options: &Options) -> Result<Question, String> {
    let name = match &args.property[..] {
        [] => "unreach-call",
        [name] => name,
        _ => return Err("the file names one property, and several were asked".into()),
    };
    let property = if name.ends_with(".prp") {
        std::fs::read_to_string(name).map_err(|error| format!("{name}: {error}"))?
    } else if name.ends_with(".spc") {
        return Err("the file cannot name an observer automaton".into());
    } else {
        name.to_owned()
    };
    Ok(Question {
        property,
        entry: args.source.entry.clone(),
        source: args.source.how(options.annotations),
        missing: options.missing,
        malloc_may_fail: options.malloc_may_fail,
        pointers: options.pointers,
    })
}
