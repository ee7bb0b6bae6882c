//! Table 3 of "BOXES: A Symbolic Abstract Domain of Boxes": the invariants of all loop heads of every
//! function of real programs, by four domains.
//!
//! The analysis is that of section 6, over the integer variables of a function that live in registers
//! (there: SSA variables). Arguments and memory are unknown, a call may return anything, and arithmetic
//! wraps as the types say. Variables that nobody reads any more are forgotten, for all domains alike.
//! Times are those of the domain's operations; copying elements does not count.

mod analysis;
mod flow;
mod table;

pub use crate::child::Limits;
pub use table::Table;

use crate::child::{self, Ended};
use analysis::{Clock, Found, analyse};
use flow::Flow;
use palisade_base::{Diagnostic, SourceMap};
use palisade_cfa::DataModel;
use palisade_domains::{Boxes, LddBox, LddCtx, LddLimits, NumericDomain};
use palisade_lower::{CheckSet, Options, compile};
use rustc_hash::FxHashSet;
use std::io;
use std::time::Duration;

/// The domains that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Domain {
    /// BOX on linear decision diagrams.
    LddBox,
    /// PPL's `Rational_Box`.
    PplBox,
    /// BOXES.
    LddBoxes,
    /// PPL's `Pointset_Powerset<Rational_Box>`.
    PplBoxes,
}

impl Domain {
    /// All, in the order of the paper's table.
    pub const ALL: [Domain; 4] = [Domain::LddBox, Domain::PplBox, Domain::LddBoxes, Domain::PplBoxes];

    /// The name in the paper's table.
    pub fn name(self) -> &'static str {
        match self {
            Domain::LddBox => "LDD Box",
            Domain::PplBox => "PPL Box",
            Domain::LddBoxes => "LDD Boxes",
            Domain::PplBoxes => "PPL Boxes",
        }
    }

    /// Whether it is not ours.
    pub fn is_peer(self) -> bool {
        matches!(self, Domain::PplBox | Domain::PplBoxes)
    }

    /// Whether this build can run it: PPL needs the feature `ppl`.
    pub fn is_built(self) -> bool {
        cfg!(feature = "ppl") || !self.is_peer()
    }
}

/// What one domain did with one function.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It found the invariants.
    Solved(Solved),
    /// It needed more time than allowed.
    OutOfTime,
    /// It needed more memory than allowed.
    OutOfMemory,
    /// It crashed, which is a defect.
    Failed(String),
}

/// The measurements of a solved function.
#[derive(Clone, PartialEq, Debug)]
pub struct Solved {
    /// CPU time of order, join and emptiness.
    pub basic: Duration,
    /// CPU time of assignments, guards and projection.
    pub image: Duration,
    /// CPU time of widening.
    pub widen: Duration,
    /// How often a loop head was widened.
    pub widenings: u64,
    /// The largest invariant, in nodes; 0 for domains without diagrams.
    pub nodes: u64,
    /// The largest invariant, in boxes: paths of a diagram, or elements of a powerset.
    pub boxes: f64,
}

impl Solved {
    /// CPU time of all operations of the domain.
    pub fn total(&self) -> Duration {
        self.basic + self.image + self.widen
    }
}

/// A function and what the domains did with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// File and function.
    pub name: String,
    /// Variables that are tracked.
    pub vars: usize,
    /// Loop heads.
    pub loops: usize,
    /// An outcome for each of [`Domain::ALL`]; `None` if it was not run.
    pub outcomes: [Option<Outcome>; 4],
}

/// Why a file could not be measured.
#[derive(Debug)]
pub enum Trouble {
    /// It was not accepted as C.
    Rejected(Vec<String>),
    /// The operating system does not let us.
    System(io::Error),
}

/// What to measure how.
pub struct Setup {
    /// Sizes of `long` and pointers.
    pub data_model: DataModel,
    /// Limits for each domain and function.
    pub limits: Limits,
    /// Less time for the domains of PPL; none leaves them out.
    pub peer_time: Duration,
    /// Where the functions so far are defined. A function in a header is measured once.
    pub seen: FxHashSet<String>,
}

/// Runs the domains on every function of a preprocessed C file, each in a process of its own, and hands
/// over the rows as they come. `folder` and `name` are those of the file.
pub fn measure(
    setup: &mut Setup,
    folder: &str,
    name: &str,
    text: String,
    found: &mut dyn FnMut(Row),
) -> Result<(), Trouble> {
    let mut map = SourceMap::new();
    let too_large = || Trouble::Rejected(vec!["larger than 4 GB".into()]);
    let file = map.add(name, text).ok_or_else(too_large)?;
    let options = Options { checks: CheckSet::NONE, entry: String::new(), ..Options::default() };
    let compiled = compile(&mut map, &[file], setup.data_model, &options);
    let Some(program) = compiled.program else {
        let errors = compiled.diagnostics.iter().filter(|d| d.is_error());
        let message = |d: &Diagnostic| match map.position(d.span) {
            Some(p) => format!("{}:{}:{}: {}", p.file, p.line, p.column, d.message),
            None => d.message.clone(),
        };
        return Err(Trouble::Rejected(errors.map(message).collect()));
    };
    let graph = program.analyse();
    // What follows in the source map is the library that we added.
    let own = map.start(file)..map.start(file) + map.text(file).len() as u32;
    for (id, func) in program.funcs.iter_enumerated() {
        if func.body.is_none() || !own.contains(&func.span.lo) || id == program.entry {
            continue;
        }
        let defined = map.position(func.span).map_or_else(String::new, |p| {
            let relative = if p.file.starts_with('/') { "" } else { folder };
            format!("{relative} {}:{}:{}", p.file, p.line, func.name)
        });
        if setup.seen.insert(defined) {
            let flow = Flow::new(&program, &graph, id);
            let row = Row {
                name: format!("{folder}/{name}:{}", func.name),
                vars: flow.vars,
                loops: flow.loops.len(),
                outcomes: outcomes(&flow, setup).map_err(Trouble::System)?,
            };
            found(row);
        }
    }
    Ok(())
}

fn outcomes(flow: &Flow, setup: &Setup) -> io::Result<[Option<Outcome>; 4]> {
    let mut outcomes = [const { None }; 4];
    for (outcome, domain) in outcomes.iter_mut().zip(Domain::ALL).filter(|(_, d)| d.is_built()) {
        let time = if domain.is_peer() { setup.peer_time } else { setup.limits.time };
        if time.is_zero() {
            continue;
        }
        let limits = Limits { time, ..setup.limits };
        let ended = child::run(limits, || run(flow, domain))?;
        *outcome = Some(match ended {
            Ended::Done(text) => decode(&text).map_or(Outcome::Failed(text), Outcome::Solved),
            Ended::OutOfTime => Outcome::OutOfTime,
            Ended::OutOfMemory => Outcome::OutOfMemory,
            Ended::Failed(why) => Outcome::Failed(why),
        });
    }
    Ok(outcomes)
}

/// Elements are as large as they need to be: the limits of the process are the only ones.
fn diagrams() -> LddCtx {
    LddCtx::with_element_limit(LddLimits { nodes: 1 << 26, ..LddLimits::default() }, usize::MAX)
}

fn run(flow: &Flow, domain: Domain) -> String {
    match domain {
        Domain::LddBox => timed::<LddBox>(flow, &diagrams(), |e| {
            let (nodes, boxes) = e.size();
            (nodes as u64, boxes.to_f64())
        }),
        Domain::LddBoxes => timed::<Boxes>(flow, &diagrams(), |e| {
            let (nodes, boxes) = e.size();
            (nodes as u64, boxes.to_f64())
        }),
        #[cfg(feature = "ppl")]
        Domain::PplBox => {
            use palisade_domains::ppl::{Ppl, PplSpace, RationalBox};
            timed::<Ppl<RationalBox>>(flow, &PplSpace::new(), |e| (0, e.disjuncts() as f64))
        }
        #[cfg(feature = "ppl")]
        Domain::PplBoxes => {
            use palisade_domains::ppl::{PowerBox, Ppl, PplSpace};
            timed::<Ppl<PowerBox>>(flow, &PplSpace::new(), |e| (0, e.disjuncts() as f64))
        }
        #[cfg(not(feature = "ppl"))]
        Domain::PplBox | Domain::PplBoxes => String::new(),
    }
}

/// Runs an analysis and writes its measurements down.
fn timed<D: NumericDomain>(flow: &Flow, context: &D::Ctx, size: impl Fn(&D) -> (u64, f64)) -> String {
    let Found { invariants, clock, widenings } = analyse::<D>(flow, context);
    let (mut nodes, mut boxes) = (0, 0.0f64);
    for (n, b) in invariants.iter().flatten().map(size) {
        nodes = nodes.max(n);
        boxes = boxes.max(b);
    }
    let Clock { basic, image, widen } = clock;
    let times = [basic, image, widen].map(|d| d.as_nanos());
    format!("{} {} {} {widenings} {nodes} {boxes}", times[0], times[1], times[2])
}

fn decode(text: &str) -> Option<Solved> {
    let fields: Vec<f64> = text.split(' ').map(|f| f.parse().ok()).collect::<Option<_>>()?;
    let [basic, image, widen, widenings, nodes, boxes] = fields[..] else { return None };
    let time = |nanos: f64| Duration::from_nanos(nanos as u64);
    Some(Solved {
        basic: time(basic),
        image: time(image),
        widen: time(widen),
        widenings: widenings as u64,
        nodes: nodes as u64,
        boxes,
    })
}
