//! How fast and how compact the location + call stack + explicit-value analysis (never join) is:
//! abstract states a second in one thread, and bytes a state (all memory that the run holds at its
//! end, divided by the states).
//!
//! `cargo bench -p palisade-bench --bench explicit -- --tasks DIR` measures the programs of the
//! ReachSafety categories that are state machines in a folder of verification tasks: `DIR/tasks.json`
//! lists `program`, `category` and `data_model` of each. The folder can also be given by the
//! environment variable `PALISADE_TASKS`. `-- FILE.c ..` measures single preprocessed programs (ILP32).
//! Without either, a generated event-condition-action system.

use palisade_analyses::callstack::{CallStack, Stack};
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::location::{Calls, Location};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::{DataModel, Program};
use palisade_cpa::*;
use palisade_property::Property;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Counts the bytes that are in use.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as required of our caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as required of our caller.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// States after which a run ends.
const LIMIT: usize = 1_000_000;

/// Runs with fewer states say nothing about speed.
const ENOUGH: usize = 5_000;

/// The categories whose programs are state machines.
const CATEGORIES: [&str; 4] =
    ["ReachSafety-ECA", "ReachSafety-ProductLines", "ReachSafety-Sequentialized", "ReachSafety-ControlFlow"];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut files, mut tasks) = (Vec::new(), std::env::var("PALISADE_TASKS").ok());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tasks" => tasks = arguments.next(),
            // What cargo passes.
            option if option.starts_with('-') => {}
            _ => files.push(argument),
        }
    }
    println!("{:>10} {:>12} {:>8}  program", "states", "states/s", "bytes");
    if !files.is_empty() {
        for file in files {
            match std::fs::read_to_string(&file) {
                Ok(text) => drop(measure(&file, text, DataModel::Ilp32)),
                Err(e) => println!("{file}: {e}"),
            }
        }
    } else if let Some(folder) = tasks {
        if let Err(e) = categories(Path::new(&folder)) {
            println!("{folder}: {e}");
        }
    } else {
        measure("generated event-condition-action system", generated(40, 400), DataModel::Ilp32);
    }
}

/// A run's figures.
struct Figures {
    states: usize,
    seconds: f64,
    bytes: usize,
}

/// Measures all programs of a folder of tasks, then prints a line for each category.
fn categories(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(folder.join("tasks.json"))?;
    let tasks: Vec<serde_json::Value> = serde_json::from_str(&text)?;
    let mut lines = Vec::new();
    for category in CATEGORIES {
        let mut all: Vec<Figures> = Vec::new();
        let mut seen = Vec::new();
        for task in tasks.iter().filter(|t| t["category"] == category) {
            let Some(program) = task["program"].as_str() else { continue };
            if seen.contains(&program) {
                continue;
            }
            seen.push(program);
            let model = if task["data_model"] == "LP64" { DataModel::Lp64 } else { DataModel::Ilp32 };
            let text = String::from_utf8_lossy(&std::fs::read(folder.join(program))?).into_owned();
            all.extend(measure(program, text, model));
        }
        lines.push(summary(category, &all));
    }
    println!(
        "\n{:>10} {:>12} {:>12} {:>8} {:>8}  category",
        "states", "states/s", "slowest", "bytes", "most"
    );
    lines.iter().for_each(|l| println!("{l}"));
    Ok(())
}

/// All states of a category by all its time, the slowest run, and the bytes a state.
fn summary(category: &str, all: &[Figures]) -> String {
    let states: usize = all.iter().map(|f| f.states).sum();
    let seconds: f64 = all.iter().map(|f| f.seconds).sum();
    let bytes: usize = all.iter().map(|f| f.bytes * f.states).sum();
    let long = || all.iter().filter(|f| f.states >= ENOUGH);
    let slowest = long().map(|f| f.states as f64 / f.seconds).fold(f64::INFINITY, f64::min);
    let most = long().map(|f| f.bytes).max().unwrap_or(0);
    format!(
        "{states:>10} {:>12.0} {slowest:>12.0} {:>8} {most:>8}  {category} ({} programs, {} with {ENOUGH} states)",
        states as f64 / seconds,
        bytes / states.max(1),
        all.len(),
        long().count(),
    )
}

/// Seconds of processor time that this thread had, where the system tells; else wall-clock time.
fn seconds(start: Instant) -> f64 {
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = on_cpu.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn compile(name: &str, text: String, model: DataModel) -> Option<Program> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text)?;
    let options = palisade_lower::Options::default();
    let compiled = palisade_lower::compile(&mut sources, &[file], model, &options);
    if compiled.program.is_none() {
        let first = compiled.diagnostics.iter().find(|d| d.is_error());
        println!("{name}: {}", first.map_or("no program", |d| &d.message));
    }
    let mut program = compiled.program?;
    palisade_property::instrument(&mut program, &Property::assertions());
    Some(program)
}

fn measure(name: &str, text: String, model: DataModel) -> Option<Figures> {
    let program = compile(name, text, model)?;
    let location = Location::new(&program, Calls::Follow, &[]);
    let mut explicit = Explicit::separate(&program);
    let initial = ((location.initial(), Stack::EMPTY), explicit.initial());
    let cpa = Product::new(Product::new(location, CallStack::new(&program, 100)), explicit).direct();
    let before = IN_USE.load(Ordering::Relaxed);
    let start = Instant::now();
    let begin = seconds(start);
    let mut run = Exploration::new(cpa, initial, (((), ()), Tracked::all()), Order::BreadthFirst);
    let status = run.run(&Budget::unlimited(), Limits { first_target: true, states: LIMIT });
    let seconds = seconds(start) - begin;
    let states = run.reached().len();
    let bytes = IN_USE.load(Ordering::Relaxed).saturating_sub(before) / states;
    let end = match status {
        Status::Complete => "complete",
        Status::TargetReached(_) => "error reached",
        Status::Stopped(_) => "limit",
    };
    println!("{states:>10} {:>12.0} {bytes:>8}  {name} ({end})", states as f64 / seconds);
    Some(Figures { states, seconds, bytes })
}

/// An event-condition-action system as the RERS challenges have them: a loop reads an input, and a
/// chain of rules over `vars` variables reacts to it.
fn generated(vars: usize, rules: usize) -> String {
    let mut text = String::from("extern int __VERIFIER_nondet_int(void);\n");
    let mut seed = 1u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    for v in 0..vars {
        let _ = writeln!(text, "int a{v} = {};", random(4));
    }
    text += "int calculate_output(int input) {\n";
    for r in 0..rules {
        let (x, y, z) = (random(vars), random(vars), random(vars));
        let _ = writeln!(
            text,
            "  if (a{x} == {} && (input == {} && a{y} != {})) {{ a{z} = {}; a{x} = {}; return {}; }}",
            random(4),
            1 + random(6),
            random(4),
            random(4),
            random(4),
            20 + r % 7
        );
    }
    text += "  return -2;\n}\nint main(void) {\n  while (1) {\n    int input = __VERIFIER_nondet_int();\n";
    text += "    if (input < 1 || input > 6) return 0;\n";
    text += "    if (input != 1 && input != 2 && input != 3 && input != 4 && input != 5 && input != 6) return 1;\n";
    text + "    int output = calculate_output(input);\n  }\n}\n"
}
