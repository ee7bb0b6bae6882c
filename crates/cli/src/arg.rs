//! `check --arg`: writes the abstract reachability graph of the engine that had the answer.

use palisade_base::{Budget, SourceMap};
use palisade_engines::Format;
use palisade_portfolio::{Settled, registry};
use std::path::Path;

/// The format that a file name asks for.
pub fn format(path: &str) -> Result<String, String> {
    match format_of(Path::new(path)) {
        Some(_) => Ok(path.into()),
        None => Err("the file must end in .dot or .json".into()),
    }
}

fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "dot" => Some(Format::Dot),
        "json" => Some(Format::Json),
        _ => None,
    }
}

/// Writes the graph of the engine that settled the task, or of the one that was asked for; says so
/// on standard error if there is none.
pub fn write(path: &str, settled: &Settled, analysis: &str, sources: &SourceMap, budget: &Budget) {
    if let Err(why) = try_write(path, settled, analysis, sources, budget) {
        warning!("no abstract reachability graph was written to {path}: {why}");
    }
}

fn try_write(
    path: &str,
    settled: &Settled,
    analysis: &str,
    sources: &SourceMap,
    budget: &Budget,
) -> Result<(), String> {
    let format = format_of(Path::new(path)).unwrap_or(Format::Dot);
    let name = settled.engine.as_deref().unwrap_or(analysis);
    if registry::is_race(name) || name.contains(',') {
        return Err("no engine settled the property".into());
    }
    let engine = registry::named(name)?.engine;
    let task = settled.task.as_ref().ok_or("the program was not analysed")?;
    let graph = engine.graph(task, format, sources, budget).ok_or_else(|| {
        format!(
            "engine `{name}` has none; try `--analysis value` or another one that explores abstract states"
        )
    })?;
    std::fs::write(path, graph?).map_err(|e| e.to_string())
}
