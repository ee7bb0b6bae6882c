//! Times of the embedded solver beside z3's and cvc5's on families of growing formulas, the rate
//! of small incremental checks, and the memory of ten million gates, in one run:
//!
//! ```text
//! cargo bench -p palisade-logic                    everything
//! cargo bench -p palisade-logic -- popcount crc    some families
//! ```
//!
//! Every solver runs in a process of its own on the same text. Times are CPU seconds, so other
//! load on the machine does not count; `PALISADE_BENCH_LIMIT` sets the limit per query (10). A
//! query that hits the limit counts twice the limit.

mod texts;

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use palisade_logic::smtlib;
use palisade_logic::{Answer, BvSolver, Limits, Solver, Sort, Term, Terms};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    match args.first().map(String::as_str) {
        Some("--solve") => {
            let text = std::fs::read(&args[1]).expect("the file was written by the parent");
            let status = smtlib::run(&text, &args[1], &mut std::io::stdout(), &Limits::default());
            std::process::exit(i32::from(status));
        }
        Some("--gates") => gates(),
        _ => {
            let dir = std::env::temp_dir().join(format!("palisade-families-{}", std::process::id()));
            std::fs::create_dir_all(&dir).expect("the temporary directory is writable");
            families(&args, &dir);
            if args.is_empty() || args.iter().any(|a| a == "flips") {
                flips(&dir);
            }
            if args.is_empty() || args.iter().any(|a| a == "gates") {
                run_gates();
            }
            let _ = std::fs::remove_dir_all(&dir);
        }
    }
}

/// How one solver did on one query.
struct Outcome {
    answer: String,
    /// CPU seconds.
    seconds: f64,
}

/// CPU seconds of this process, or of all children that have ended.
fn cpu_seconds(who: libc::c_int) -> f64 {
    // SAFETY: `usage` is a valid place for the one structure that the call writes, and a structure
    // of integers may be all zeros.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &raw mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Runs a command with a limit on its CPU time; its output.
fn measure(command: &mut Command, limit: u64) -> Option<(String, f64)> {
    command.stdin(Stdio::null()).stderr(Stdio::null());
    // SAFETY: between fork and exec the closure only makes one system call.
    unsafe {
        command.pre_exec(move || {
            let bound = libc::rlimit { rlim_cur: limit, rlim_max: limit + 1 };
            libc::setrlimit(libc::RLIMIT_CPU, &raw const bound);
            Ok(())
        });
    }
    let before = cpu_seconds(libc::RUSAGE_CHILDREN);
    let mut child = command.stdout(Stdio::piped()).spawn().ok()?;
    let mut pipe = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut output = Vec::new();
        let _ = pipe.read_to_end(&mut output);
        output
    });
    // Not every system enforces the limit on a program that catches its signal.
    let start = Instant::now();
    while child.try_wait().ok()?.is_none() {
        if start.elapsed() > Duration::from_secs(30 * limit) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = reader.join().ok()?;
    Some((String::from_utf8_lossy(&output).into_owned(), cpu_seconds(libc::RUSAGE_CHILDREN) - before))
}

fn solver_command(name: &str, file: &Path) -> Command {
    let mut command = match name {
        "palisade" => {
            let mut c = Command::new(std::env::current_exe().expect("a running program has a file"));
            c.arg("--solve");
            c
        }
        _ => Command::new(name),
    };
    if name == "cvc5" {
        command.args(["--incremental", "--lang=smt2"]);
    }
    command.arg(file);
    command
}

fn solve(name: &str, file: &Path, limit: u64) -> Option<Outcome> {
    let (output, seconds) = measure(&mut solver_command(name, file), limit)?;
    let answer = output.lines().find(|l| matches!(*l, "sat" | "unsat")).unwrap_or("-").to_owned();
    // Without an answer the limit was hit, which counts twice.
    let seconds = if answer == "-" { 2.0 * limit as f64 } else { seconds };
    Some(Outcome { answer, seconds })
}

fn families(filter: &[String], dir: &Path) {
    let limit = std::env::var("PALISADE_BENCH_LIMIT").ok().and_then(|l| l.parse().ok()).unwrap_or(10);
    let solvers = ["palisade", "z3", "cvc5"];
    let mut totals = [0.0; 3];
    let mut worst: Vec<(f64, &str)> = Vec::new();
    println!("{:20} {:>22} {:>18} {:>18}", "CPU seconds", solvers[0], solvers[1], solvers[2]);
    for (family, queries) in texts::families() {
        if !filter.is_empty() && !filter.iter().any(|f| family.contains(f.as_str())) {
            continue;
        }
        let mut sums = [0.0; 3];
        for (size, text) in queries {
            let file: PathBuf = dir.join("query.smt2");
            std::fs::write(&file, text).expect("the temporary directory is writable");
            let mut line = format!("{:20}", format!("{family} {size}"));
            let mut answers: Vec<String> = Vec::new();
            for (i, name) in solvers.iter().enumerate() {
                match solve(name, &file, limit) {
                    Some(outcome) => {
                        sums[i] += outcome.seconds;
                        let _ = write!(line, " {:>8} {:9.3}", outcome.answer, outcome.seconds);
                        answers.push(outcome.answer);
                    }
                    None => {
                        let _ = write!(line, " {:>18}", "not installed");
                    }
                }
            }
            answers.retain(|a| a != "-");
            answers.dedup();
            println!("{line}{}", if answers.len() > 1 { "  DISAGREE" } else { "" });
            let _ = std::io::stdout().flush();
        }
        // Starting a process takes this long; shorter sums say nothing.
        let floor = 0.05;
        let ratio = sums[0].max(floor) / sums[1].min(sums[2]).max(floor);
        worst.push((ratio, family));
        println!(
            "{:20} {:>18.3} {:>18.3} {:>18.3}  {ratio:.1} times the better of the two",
            family, sums[0], sums[1], sums[2]
        );
        totals.iter_mut().zip(sums).for_each(|(t, s)| *t += s);
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("{:20} {:>18.3} {:>18.3} {:>18.3}", "penalised total", totals[0], totals[1], totals[2]);
    if let Some((ratio, family)) = worst.first() {
        println!("slowest family in comparison: {family}, {ratio:.1} times the better of the two");
    }
}

/// The checks of the incremental test: predicates over forty words, six of them assumed each time.
const FLIPS: usize = 10_000;

fn flips(dir: &Path) {
    let terms = &mut Terms::new();
    let n = 40;
    let words: Vec<Term> = (0..n).map(|i| terms.var(&format!("x{i}"), Sort::BitVec(32))).collect();
    let mut predicates: Vec<Term> = Vec::new();
    let mut assertions = Vec::new();
    for i in 0..n - 1 {
        let offset = terms.bv(32, 17 * i as u64 + 3);
        let sum = terms.add(words[i], offset);
        let mixed = terms.bvxor(sum, words[(i * 7 + 1) % n]);
        let (below, less) = (terms.ult(mixed, words[i + 1]), terms.slt(words[i], words[i + 1]));
        predicates.extend([below, less]);
        assertions.push(terms.or(below, less));
    }
    let mut rng = palisade_testkit::Rng::new(7);
    let checks: Vec<Vec<(usize, bool)>> = (0..FLIPS)
        .map(|_| (0..6).map(|_| (rng.below(predicates.len()), rng.below(2) == 0)).collect())
        .collect();
    // The same questions as a script, for the others.
    let mut text =
        smtlib::print_script(terms, &assertions, smtlib::Dialect::V26).replace("(check-sat)\n", "");
    for (i, p) in predicates.iter().enumerate() {
        let _ =
            writeln!(text, "(declare-fun q{i} () Bool)\n(assert (= q{i} {}))", smtlib::print_term(terms, *p));
    }
    for check in &checks {
        let literals: Vec<String> =
            check.iter().map(|(i, on)| if *on { format!("q{i}") } else { format!("(not q{i})") }).collect();
        let _ = writeln!(text, "(check-sat-assuming ({}))", literals.join(" "));
    }
    let file = dir.join("flips.smt2");
    std::fs::write(&file, text).expect("the temporary directory is writable");

    let mut solver = BvSolver::new();
    for t in &assertions {
        solver.assert(terms, *t);
    }
    let (start, cpu) = (Instant::now(), cpu_seconds(libc::RUSAGE_SELF));
    let mut answers = Vec::with_capacity(FLIPS);
    for check in &checks {
        let assumptions: Vec<Term> = check
            .iter()
            .map(|(i, on)| if *on { predicates[*i] } else { terms.not(predicates[*i]) })
            .collect();
        answers.push(match solver.check(terms, &assumptions) {
            Answer::Sat => "sat",
            Answer::Unsat => "unsat",
            Answer::Unknown(_) => "unknown",
        });
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds(libc::RUSAGE_SELF) - cpu);
    let size = terms.len();
    println!(
        "{FLIPS} incremental checks over {size} terms, by calls: {cpu:.3} CPU s, {wall:.3} s of wall time"
    );
    for name in ["palisade", "z3", "cvc5"] {
        let Some((output, seconds)) = measure(&mut solver_command(name, &file), 600) else { continue };
        let theirs: Vec<&str> = output.lines().collect();
        let agree = if theirs == answers { "same answers" } else { "DIFFERENT ANSWERS" };
        let rate = FLIPS as f64 / seconds;
        println!("  {name:9} as a script: {seconds:8.3} CPU s, {rate:8.0} checks per second, {agree}");
    }
}

fn run_gates() {
    let exe = std::env::current_exe().expect("a running program has a file");
    if let Some((output, seconds)) = measure(Command::new(exe).arg("--gates"), 600) {
        print!("{output}");
        println!("  in {seconds:.1} CPU s");
    }
}

/// A solver that has blasted so many products of words.
fn products(count: usize) -> BvSolver {
    let terms = &mut Terms::new();
    let mut solver = BvSolver::new();
    // The search itself is not wanted.
    solver.set_limits(Limits { conflicts: Some(0), ..Limits::default() });
    let mut product = terms.var("x", Sort::BitVec(64));
    for i in 0..count {
        let y = terms.var(&format!("y{i}"), Sort::BitVec(64));
        let z = terms.var(&format!("z{i}"), Sort::BitVec(64));
        product = terms.mul(product, y);
        product = terms.bvxor(product, z);
        let below = terms.ult(y, product);
        solver.assert(terms, below);
    }
    solver.check(terms, &[]);
    solver
}

/// Blasts ten million gates in this process and prints its peak memory.
fn gates() {
    // One question: where no search meets a conflict, each would be answered by a model of all.
    let few = products(20).gates();
    let solver = products((20 * 10_000_000_usize).div_ceil(few));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).map_or("unknown", str::trim);
    let own = solver.bytes() / (1 << 20);
    println!("{} gates: peak memory {peak}, {own} MB by the solver's own account", solver.gates());
}
