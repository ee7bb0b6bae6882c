//! Figures 5, 6 and 7(a): affine relations modulo 2^64 for every basic block of real functions, from above,
//! from below and from both sides.
//!
//! A block is a sequence of operations with one way through it, and the branch at its end if there is one: its
//! transformer relates the integer registers before and after. Memory holds anything. From below, each question
//! to the solver may take 3 seconds, and the answer is ⊤ when one does not end; from above the whole block has a time
//! limit, and the value in hand counts.

use super::clock::{Alarm, Clock, timed, watched, within};
use palisade_analyses::invariants::isolate::Isolator;
use palisade_analyses::trees::machine;
use palisade_base::{Budget, Diagnostic, Idx, SourceMap};
use palisade_cfa::{DataModel, EdgeId, LocId, Program};
use palisade_domains::{Affine, Dim, Dynamic, Lattice, NumericDomain, WordSize};
use palisade_encode::Encoder;
use palisade_logic::{Answer, BvSolver, Limits, Model, Solver, Term, Terms};
use palisade_lower::{CheckSet, Options, compile};
use palisade_symabs::{Abstraction, Config, Models, Vocabulary};
use palisade_task::Task;
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The paper's limits for a block from above, in seconds.
pub const LIMITS: [f64; 3] = [1.0, 0.7, 0.4];
/// The paper's limit for one question to the solver from below.
const QUESTION: Duration = Duration::from_secs(3);
/// Questions for one block at most: a chain of affine relations is not longer.
const QUERIES: u64 = 10_000;
/// Operations of one block at most; longer ones are cut.
const MAX_LENGTH: usize = 200;

/// What was measured of one block.
pub struct Block {
    /// Operations in it.
    pub length: usize,
    /// From above, with each of [`LIMITS`].
    pub above: [Duration; 3],
    /// From below.
    pub below: Duration,
    /// Did a question from below not end?
    pub gave_up: bool,
    /// From both sides, with the computation from above that it starts from.
    pub both: Duration,
    /// With each of [`LIMITS`]: from above as precise as from below or better; strictly better.
    pub precise: [(bool, bool); 3],
    /// Is the result from both sides below both others?
    pub both_best: bool,
}

/// What was measured of one project.
#[derive(Default)]
pub struct Project {
    /// Its name.
    pub name: String,
    /// Functions.
    pub functions: usize,
    /// Their blocks.
    pub blocks: Vec<Block>,
    /// Files that were not accepted.
    pub rejected: usize,
}

/// A solver with a time limit for each question.
struct Timed<'a> {
    solver: BvSolver,
    alarm: &'a Alarm,
}

impl Timed<'_> {
    /// Runs something with such a solver, and measures it.
    fn run<R>(run: impl FnOnce(&mut dyn Solver) -> R) -> (R, Duration) {
        let alarm = Alarm::default();
        watched(QUESTION, &alarm, || timed(|| run(&mut Timed { solver: BvSolver::new(), alarm: &alarm })))
    }

    fn set(&self, to: Option<(Budget, Duration)>) {
        *self.alarm.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }
}

impl Solver for Timed<'_> {
    fn assert(&mut self, terms: &mut Terms, t: Term) {
        self.solver.assert(terms, t);
    }
    fn push(&mut self) {
        self.solver.push();
    }
    fn pop(&mut self) {
        self.solver.pop();
    }
    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        let budget = Budget::unlimited();
        self.set(Some((budget.clone(), Clock::of_this_thread().now() + QUESTION)));
        self.solver.set_limits(Limits { budget, ..Limits::default() });
        let answer = self.solver.check(terms, assumptions);
        self.set(None);
        answer
    }
    fn model(&mut self, terms: &mut Terms) -> Option<Model> {
        self.solver.model(terms)
    }
    fn unsat_core(&self) -> Vec<Term> {
        self.solver.unsat_core()
    }
    fn set_limits(&mut self, _: Limits) {}
}

/// Measures all functions of a preprocessed file. `seen` knows where the functions so far are defined: those of
/// headers are measured once.
pub fn measure(
    project: &mut Project,
    data_model: DataModel,
    name: &str,
    text: String,
    seen: &mut FxHashSet<String>,
) -> Result<(), String> {
    let mut map = SourceMap::new();
    let file = map.add(name, text).ok_or("larger than 4 GB")?;
    let options = Options { checks: CheckSet::NONE, entry: String::new(), ..Options::default() };
    let compiled = compile(&mut map, &[file], data_model, &options);
    let Some(program) = compiled.program else {
        project.rejected += 1;
        let first = compiled.diagnostics.iter().find(|d: &&Diagnostic| d.is_error());
        return Err(first.map_or_else(String::new, |d| d.message.clone()));
    };
    let program = Arc::new(program);
    let isolator = Isolator::new(&program);
    let own = map.start(file)..map.start(file) + map.text(file).len() as u32;
    for (id, func) in program.funcs.iter_enumerated() {
        if func.body.is_none() || !own.contains(&func.span.lo) || id == program.entry {
            continue;
        }
        let place = map.position(func.span).map_or_else(String::new, |p| format!("{}:{}", p.file, p.line));
        if seen.insert(format!("{place} {}", func.name)) {
            project.functions += 1;
            let task = isolator.task(id);
            project.blocks.extend(paths(&task.program).iter().filter_map(|p| block(&task, p)));
        }
    }
    Ok(())
}

/// The blocks of the only function with a body: their edges.
fn paths(program: &Program) -> Vec<Vec<EdgeId>> {
    let mut into = vec![0usize; program.locs.len()];
    for e in &program.edges {
        into[e.dst.index()] += 1;
    }
    let single = |l: LocId| program.locs[l].out.len() == 1;
    // A block begins where ways meet or part.
    let mut leader: Vec<bool> = into.iter().map(|n| *n != 1).collect();
    for e in program.edges.iter().filter(|e| !single(e.src)) {
        leader[e.dst.index()] = true;
    }
    let mut out = Vec::new();
    for start in program.locs.ids().filter(|l| leader[l.index()]) {
        let (mut at, mut edges) = (start, Vec::new());
        while single(at) && edges.len() < MAX_LENGTH {
            let e = program.locs[at].out[0];
            edges.push(e);
            at = program.edges[e].dst;
            if leader[at.index()] {
                break;
            }
        }
        if leader[at.index()] && at != start || program.locs[at].out.is_empty() || single(at) {
            if !edges.is_empty() {
                out.push(edges);
            }
            continue;
        }
        // Each way on is a transformer of its own.
        for &branch in &program.locs[at].out {
            out.push(edges.iter().copied().chain([branch]).collect());
        }
    }
    out
}

/// Measures one block; `None` if it is impossible or says nothing about registers.
fn block(task: &Task, edges: &[EdgeId]) -> Option<Block> {
    let program = &task.program;
    let mut terms = Terms::new();
    let mut encoder = Encoder::new(program, &mut terms);
    let before = encoder.arbitrary_state(&mut terms);
    let mut state = before.clone();
    for e in edges {
        state = encoder.step(&mut terms, &state, *e)?;
    }
    let mut voc = Vocabulary::new();
    let mut phi = state.guard(&mut terms);
    let mut inputs = Vec::new();
    for v in program.vars.ids() {
        let Some(slot) = encoder.layout().register(v) else { continue };
        let Some(t) = program.scalar_of(program.vars[v].ty).and_then(|s| s.int()).filter(|t| t.bits <= 64)
        else {
            continue;
        };
        let (old, new) = (before.slots.get(slot), state.slots.get(slot));
        inputs.push((old, Dim::int(2 * v.index() as u32), machine(t)));
        if old != new {
            let after = terms.fresh_var("after", terms.sort(new));
            voc.insert(&terms, Dim::int(2 * v.index() as u32 + 1), after, machine(t));
            let same = terms.eq(after, new);
            phi = terms.and(phi, same);
        }
    }
    let used: FxHashSet<Term> = terms.variables(&[phi]).into_iter().collect();
    for (term, dim, ty) in inputs {
        if used.contains(&term) {
            voc.insert(&terms, dim, term, ty);
        }
    }
    if voc.entries().is_empty() {
        return None;
    }
    let top = Dynamic::of(Affine::top(&WordSize::new(64)));
    let (first, time) = above(&terms, &voc, phi, &top, LIMITS[0]);
    let mut results = vec![(first, time)];
    for limit in &LIMITS[1..] {
        // A run that ended before the limit is the same under it.
        let again = match time.as_secs_f64() < *limit {
            true => (results[0].0.clone(), time),
            false => above(&terms, &voc, phi, &top, *limit),
        };
        results.push(again);
    }
    let mut own = terms.clone();
    let (below, below_time) =
        Timed::run(|solver| Models { terms: &mut own, solver, voc: &voc }.from_below(phi, &top, QUERIES));
    let mut own = terms.clone();
    let start = results[0].0.clone();
    let (both, both_time) =
        Timed::run(|solver| Models { terms: &mut own, solver, voc: &voc }.bilateral(phi, start, QUERIES));
    let compare = |a: &Dynamic| {
        let precise = a.leq(&below.upper);
        (precise, precise && !below.upper.leq(a))
    };
    Some(Block {
        length: edges.len(),
        above: [results[0].1, results[1].1, results[2].1],
        below: below_time,
        gave_up: !below.complete,
        both: both_time + time,
        precise: [compare(&results[0].0), compare(&results[1].0), compare(&results[2].0)],
        both_best: both.upper.leq(&below.upper) && both.upper.leq(&results[0].0),
    })
}

fn above(terms: &Terms, voc: &Vocabulary, phi: Term, top: &Dynamic, limit: f64) -> (Dynamic, Duration) {
    let mut own = terms.clone();
    within(Duration::from_secs_f64(limit), |budget: &Budget| {
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        let config = Config { budget: budget.clone(), ..Config::new(1) };
        let mut abstraction = Abstraction { terms: &mut own, config, solver: Some(&mut solver), queries: 0 };
        abstraction.from_above(voc, phi, top)
    })
}

/// All projects.
pub struct Table(pub Vec<Project>);

impl Project {
    fn seconds(&self, time: impl Fn(&Block) -> Duration) -> f64 {
        self.blocks.iter().map(|b| time(b).as_secs_f64()).sum()
    }

    fn share(&self, holds: impl Fn(&Block) -> bool) -> f64 {
        100.0 * self.blocks.iter().filter(|b| holds(b)).count() as f64 / self.blocks.len().max(1) as f64
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "KS transformers of basic blocks: seconds, and blocks where from above is as precise as from below"
        )?;
        writeln!(
            f,
            "{:<12} {:>6} {:>6} {:>7} {:>9} {:>4} {:>9} {:>6} {:>7} {:>7} {:>7} {:>8} {:>9} {:>6}",
            "project",
            "funcs",
            "blocks",
            "ops",
            "below",
            "t/o",
            "above 1s",
            "ratio",
            "T=1",
            "T=0.7",
            "T=0.4",
            "strictly",
            "both",
            "best"
        )?;
        for p in &self.0 {
            self.line(f, p)?;
        }
        let used: Vec<&Project> = self.0.iter().filter(|p| !p.blocks.is_empty()).collect();
        let (below, above): (f64, f64) = (
            used.iter().map(|p| p.seconds(|b| b.below)).sum(),
            used.iter().map(|p| p.seconds(|b| b.above[0])).sum(),
        );
        let blocks: usize = used.iter().map(|p| p.blocks.len()).sum();
        let all = |holds: &dyn Fn(&Block) -> bool| {
            let n = used.iter().flat_map(|p| &p.blocks).filter(|b| holds(b)).count();
            100.0 * n as f64 / blocks.max(1) as f64
        };
        let ratios: Vec<f64> =
            used.iter().map(|p| (p.seconds(|b| b.below) / p.seconds(|b| b.above[0])).ln()).collect();
        let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
        writeln!(f, "{blocks} blocks, from below {below:.2} s, from above {above:.2} s")?;
        writeln!(
            f,
            "from above is {:.1} times faster in total, {mean:.1} times in the geometric mean of projects",
            below / above
        )?;
        writeln!(
            f,
            "as precise or better at {:.2} % of the blocks, strictly better at {:.2} %",
            all(&|b| b.precise[0].0),
            all(&|b| b.precise[0].1)
        )?;
        writeln!(
            f,
            "from both sides never less precise than either: {:.2} % of the blocks",
            all(&|b| b.both_best)
        )
    }
}

impl Table {
    fn line(&self, f: &mut fmt::Formatter<'_>, p: &Project) -> fmt::Result {
        let (below, above) = (p.seconds(|b| b.below), p.seconds(|b| b.above[0]));
        writeln!(
            f,
            "{:<12} {:>6} {:>6} {:>7} {below:>9.3} {:>4} {above:>9.3} {:>6.1} {:>7.2} {:>7.2} {:>7.2} {:>8.2} {:>9.3} {:>6.2}",
            p.name,
            p.functions,
            p.blocks.len(),
            p.blocks.iter().map(|b| b.length).sum::<usize>(),
            p.blocks.iter().filter(|b| b.gave_up).count(),
            below / above.max(1e-9),
            p.share(|b| b.precise[0].0),
            p.share(|b| b.precise[1].0),
            p.share(|b| b.precise[2].0),
            p.share(|b| b.precise[0].1),
            p.seconds(|b| b.both),
            p.share(|b| b.both_best),
        )
    }

    /// Figure 7(a): the time from below against that from above, a dot for each block, both axes logarithmic.
    pub fn scatter(&self) -> String {
        let (low, high, side) = (-5.0f64, 2.0f64, 420.0f64);
        let at = |t: Duration| {
            60.0 + (t.as_secs_f64().max(1e-5).log10().clamp(low, high) - low) / (high - low) * side
        };
        let flip = |y: f64| 540.0 - y;
        let mut svg = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"540\" height=\"540\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <rect width=\"540\" height=\"540\" fill=\"white\"/>\n",
        );
        for power in -5..=2 {
            let p = 60.0 + (f64::from(power) - low) / (high - low) * side;
            svg += &format!("<path d=\"M{p:.1} 60V480M60 {:.1}H480\" stroke=\"#ddd\"/>\n", flip(p));
            svg += &format!(
                "<text x=\"{:.1}\" y=\"496\">1e{power}</text><text x=\"28\" y=\"{:.1}\">1e{power}</text>\n",
                p - 8.0,
                flip(p) + 4.0
            );
        }
        svg += "<path d=\"M60 480L480 60\" stroke=\"#888\"/>\n";
        for b in self.0.iter().flat_map(|p| &p.blocks) {
            svg += &format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\" fill=\"#1f4e9c\" fill-opacity=\"0.5\"/>\n",
                at(b.below),
                flip(at(b.above[0]))
            );
        }
        svg += "<text x=\"220\" y=\"520\">from below, seconds</text>\n\
                <text x=\"16\" y=\"300\" transform=\"rotate(-90 16 300)\">from above, seconds</text>\n</svg>\n";
        svg
    }
}
