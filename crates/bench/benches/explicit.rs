//! How fast and how compact the location + call stack + explicit-value analysis (never join) is:
//! abstract states a second in one thread, and bytes a state (all memory that the run holds at its
//! end, divided by the states).
//!
//! `cargo bench -p palisade-bench --bench explicit -- FILE.c ..` measures preprocessed C programs
//! (ILP32); without files, a generated event-condition-action system.

use palisade_analyses::callstack::{CallStack, Stack};
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::location::{Calls, Location};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::{DataModel, Program};
use palisade_cpa::*;
use palisade_property::Property;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
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
const LIMIT: usize = 3_000_000;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    println!("{:>10} {:>12} {:>8}  program", "states", "states/s", "bytes");
    if files.is_empty() {
        measure("generated event-condition-action system", generated(40, 400));
    }
    for file in files {
        match std::fs::read_to_string(&file) {
            Ok(text) => measure(&file, text),
            Err(e) => println!("{file}: {e}"),
        }
    }
}

/// Seconds of processor time that this thread had, where the system tells; else wall-clock time.
fn seconds(start: Instant) -> f64 {
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = on_cpu.and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |n| n / 1e9)
}

fn compile(name: &str, text: String) -> Option<Program> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text)?;
    let options = palisade_lower::Options::default();
    let compiled = palisade_lower::compile(&mut sources, &[file], DataModel::Ilp32, &options);
    if compiled.program.is_none() {
        let first = compiled.diagnostics.iter().find(|d| d.is_error());
        println!("{name}: {}", first.map_or("no program", |d| &d.message));
    }
    let mut program = compiled.program?;
    palisade_property::instrument(&mut program, &Property::assertions());
    Some(program)
}

fn measure(name: &str, text: String) {
    let Some(program) = compile(name, text) else { return };
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
