//! The command `invariants`: what holds at the loop heads of every function.

use crate::args::{InvariantsArgs, TransformersArg, numeric_domain};
use crate::{USAGE, input, watchdog};
use palisade_analyses::invariants::functions::{LoopFacts, Method, Transformers, of_function};
use palisade_analyses::invariants::isolate::Isolator;
use palisade_base::{Budget, SourceMap, Span};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::{EdgeId, FuncId, LocId, Program};
use palisade_domains::Domain;
use palisade_lower::Options;
use palisade_property::Property;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use std::sync::Arc;

/// Exit status if something is left open: a limit was reached.
const INCOMPLETE: u8 = 3;

/// A loop of a function.
struct Loop<'p> {
    function: &'p str,
    /// File, line and column of the loop.
    position: Option<palisade_base::Position>,
    /// Its line of source.
    source: String,
    facts: LoopFacts,
    /// Why there are no facts.
    failure: Option<String>,
}

/// Prints the invariants.
pub fn invariants(args: &InvariantsArgs) -> u8 {
    let (method, domain) = match choice(args) {
        Ok(choice) => choice,
        Err(message) => {
            error!("{message}");
            return USAGE;
        }
    };
    let transformers = match args.transformers {
        TransformersArg::Syntactic => Transformers::Syntactic,
        TransformersArg::Symbolic => Transformers::Symbolic,
    };
    let budget = Budget::unlimited();
    watchdog::watch(&budget, args.time_limit, args.memory_limit);
    let property = Property::assertions();
    let options =
        Options { entry: args.source.entry.clone().unwrap_or_default(), ..args.source.options(&property) };
    let Some(input) = input::read(&args.source, &options) else { return USAGE };
    let place = |edge: EdgeId| {
        let at = input.sources.position(input.program.edges[edge].span);
        at.map_or_else(String::new, |p| format!("{}:{}:{}", p.file, p.line, p.column))
    };
    let not_followed: FxHashMap<FuncId, String> = match not_followed(&input.program) {
        Ok(functions) => functions.into_iter().map(|(f, edge)| (f, place(edge))).collect(),
        Err(edge) => {
            let at = place(edge);
            error!("{at}: the program jumps out of functions or starts threads, which is not supported");
            return INCOMPLETE;
        }
    };
    let mut program = input.program;
    palisade_property::instrument(&mut program, &property);
    let program = Arc::new(program);
    let functions = match functions(&program, &input.sources, args) {
        Ok(functions) => functions,
        Err(message) => {
            error!("{message}");
            return USAGE;
        }
    };
    let isolator = Isolator::new(&program);
    let graph = program.analyse();
    let mut loops = Vec::new();
    for func in functions {
        let heads: Vec<LocId> = graph.loop_heads(func).collect();
        if heads.is_empty() {
            continue;
        }
        let found = match not_followed.get(&func) {
            Some(at) => Err(format!("what happens at {at} is not followed")),
            None => of_function(&program, &isolator, func, method, &domain, transformers, &budget)
                .map_err(|halt| halt.to_string()),
        };
        let (mut found, failure) = match found {
            Ok(found) => (found, None),
            Err(why) => (Default::default(), Some(why)),
        };
        for head in heads {
            let facts = found.remove(&head).unwrap_or_default();
            loops.push(describe(&program, &input.sources, func, head, facts, failure.clone()));
        }
    }
    if args.json {
        println!("{}", json!(loops.iter().map(as_json).collect::<Vec<_>>()));
    } else {
        loops.iter().for_each(|l| print!("{}", as_text(l, method)));
    }
    if loops.iter().any(|l| l.failure.is_some()) { INCOMPLETE } else { 0 }
}

/// The functions that do, themselves or in what they call, something that the automaton does not show: each with
/// where that is. Most of it, as inline assembly, happens in one place; calls of library functions that jump out
/// of functions or start threads concern all functions, and one of them is the error.
fn not_followed(program: &Program) -> Result<FxHashMap<FuncId, EdgeId>, EdgeId> {
    let calls = CallGraph::new(program);
    let mut found = FxHashMap::default();
    for edge in program.unmodelled_calls() {
        // Steps that are not calls in C have functions whose names C cannot have.
        let is_step =
            |f: &FuncId| program.funcs[*f].body.is_some() || program.funcs[*f].name.starts_with('.');
        if !calls.targets(program, edge).iter().all(is_step) {
            return Err(edge);
        }
        found.entry(program.locs[program.edges[edge].src].func).or_insert(edge);
    }
    loop {
        let before = found.len();
        for (func, callees) in calls.callees.iter_enumerated() {
            if let Some(&edge) = callees.iter().find_map(|f| found.get(f)) {
                found.entry(func).or_insert(edge);
            }
        }
        if found.len() == before {
            return Ok(found);
        }
    }
}

fn choice(args: &InvariantsArgs) -> Result<(Method, Domain), String> {
    let method = Method::named(&args.method).ok_or_else(|| {
        let names: Vec<&str> = Method::ALL.iter().map(|(_, name, _)| *name).collect();
        format!("there is no method `{}`; choose one of {}", args.method, names.join(", "))
    })?;
    let domain = args.domain.as_deref().unwrap_or(method.usual_domain());
    Ok((method, numeric_domain(domain)?))
}

/// The functions of the given files, or the one that was asked for.
fn functions(program: &Program, sources: &SourceMap, args: &InvariantsArgs) -> Result<Vec<FuncId>, String> {
    let given = args.source.files.len();
    let own = |span: Span| {
        let file = (!span.is_none()).then(|| sources.file_of(span.lo)).flatten();
        file.is_some_and(|file| sources.files().take(given).any(|f| f == file))
    };
    let functions = program
        .funcs
        .iter_enumerated()
        .filter(|(_, f)| f.body.is_some() && !f.name.starts_with('.') && own(f.span));
    let chosen: Vec<FuncId> = functions
        .filter(|(_, f)| args.function.as_ref().is_none_or(|name| **name == *f.name))
        .map(|(id, _)| id)
        .collect();
    match &args.function {
        Some(name) if chosen.is_empty() => Err(format!("no file defines a function `{name}`")),
        _ => Ok(chosen),
    }
}

fn describe<'p>(
    program: &'p Program,
    sources: &SourceMap,
    func: FuncId,
    head: LocId,
    facts: LoopFacts,
    failure: Option<String>,
) -> Loop<'p> {
    let loc = &program.locs[head];
    let span = loc.loop_stmt.unwrap_or(loc.span);
    Loop {
        function: &program.funcs[func].name,
        position: sources.position(span),
        source: sources.line_text(span).map_or_else(String::new, |line| line.trim().to_string()),
        facts,
        failure,
    }
}

fn as_text(l: &Loop<'_>, method: Method) -> String {
    let at = l.position.as_ref().map_or_else(|| l.function.to_string(), |p| format!("{}:{}", p.file, p.line));
    let mut text = format!("{at}: {}\n", l.source);
    if let Some(why) = &l.failure {
        return text + &format!("  nothing found: {why}\n");
    }
    if let Some(bound) = &l.facts.bound {
        text += &format!("  taken at most {bound} times\n");
    }
    if let Some(precondition) = &l.facts.precondition {
        text += &format!("  safe if {precondition}\n");
    }
    match &l.facts.invariant {
        Some(invariant) => text += &format!("  {invariant}\n"),
        None if method == Method::Bounds => {
            if l.facts.bound.is_none() {
                text += "  no bound found\n";
            }
        }
        None => text += "  1\n",
    }
    text
}

fn as_json(l: &Loop<'_>) -> Value {
    json!({
        "function": l.function,
        "file": l.position.as_ref().map(|p| p.file.to_string()),
        "line": l.position.as_ref().map(|p| p.line),
        "column": l.position.as_ref().map(|p| p.column),
        "source": l.source,
        "invariant": l.facts.invariant.as_deref().unwrap_or("1"),
        "precondition": l.facts.precondition,
        "bound": l.facts.bound,
        "failure": l.failure,
    })
}
