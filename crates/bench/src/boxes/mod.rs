//! Table 3 of "BOXES: A Symbolic Abstract Domain of Boxes": the invariants of all loop heads of every
//! function of real programs, by the four domains of the paper, finite sets of intervals and octagons.
//!
//! The analysis is that of section 6, over every integer that a compiler would keep in a register (there:
//! SSA variables) of a function and of the callees that fit a budget. Arguments and memory are unknown, a
//! call may return anything, and arithmetic wraps as the types say. Times are those of the domain's
//! operations; copying elements does not count. Checks of array bounds, division, overflow and assertions
//! are tried in passing, and random runs must stay inside the invariants. Those of LDD Boxes are checked by the
//! solver as well, on a sample.

mod analysis;
mod flow;
mod inline;
mod proof;
mod row;
mod runs;
mod table;
mod words;

pub use crate::child::Limits;
pub use proof::Proof;
pub use row::{Outcome, Row, Solved};
pub use table::Table;

use crate::child::{self, Ended};
use analysis::{Found, analyse};
use flow::Flow;
use inline::Inliner;
use palisade_base::{Diagnostic, SourceMap};
use palisade_cfa::{CheckKind, DataModel};
use palisade_domains::{
    Boxes, Intervals, LddBox, LddCtx, LddLimits, NumericDomain, Octagons, Powerset, PowersetCtx,
    PowersetWidening,
};
use palisade_lower::{Options, compile};
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
    /// Our finite sets of intervals.
    IntervalSets,
    /// Our octagons.
    Octagons,
}

impl Domain {
    /// The four of the paper in the order of its table, then ours.
    pub const ALL: [Domain; 6] = [
        Domain::LddBox,
        Domain::PplBox,
        Domain::LddBoxes,
        Domain::PplBoxes,
        Domain::IntervalSets,
        Domain::Octagons,
    ];

    /// The name in the paper's table.
    pub fn name(self) -> &'static str {
        match self {
            Domain::LddBox => "LDD Box",
            Domain::PplBox => "PPL Box",
            Domain::LddBoxes => "LDD Boxes",
            Domain::PplBoxes => "PPL Boxes",
            Domain::IntervalSets => "intervals",
            Domain::Octagons => "octagons",
        }
    }

    /// Whether it is not ours.
    pub fn is_peer(self) -> bool {
        matches!(self, Domain::PplBox | Domain::PplBoxes)
    }

    /// Whether others are compared with it, for which some functions are enough.
    pub fn is_sampled(self) -> bool {
        !matches!(self, Domain::LddBox | Domain::LddBoxes)
    }

    /// Whether this build can run it: PPL needs the feature `ppl`.
    pub fn is_built(self) -> bool {
        cfg!(feature = "ppl") || !self.is_peer()
    }
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
    /// The time for the domains of PPL.
    pub peer_time: Duration,
    /// The domains to run.
    pub domains: Vec<Domain>,
    /// One function in so many is measured, chosen by its name.
    pub one_in: u64,
    /// On one in so many of these the domains that others are compared with are run as well.
    pub peers_one_in: u64,
    /// One in so many of them has the invariants of LDD Boxes checked by the solver, if it has loops; 0: none.
    pub proofs_one_in: u64,
    /// The names of functions that have been measured. A function in a header is measured once.
    pub seen: FxHashSet<String>,
}

/// The number of a function in a sample of one in so many; `None` if it does not belong to it. Larger samples
/// contain smaller ones if they take one in a divisor.
pub fn in_sample(name: &str, one_in: u64) -> Option<u64> {
    // FNV-1a, of which the low bits are weak.
    let hash = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    let number = name.bytes().fold(0xcbf2_9ce4_8422_2325, hash) >> 20;
    let one_in = one_in.max(1);
    number.is_multiple_of(one_in).then_some(number / one_in)
}

/// Time for the solver on the invariants of one function.
const PROOF_TIME: Duration = Duration::from_secs(10);

/// What is checked: array bounds, division, overflow, assertions.
const CHECKS: [CheckKind; 4] =
    [CheckKind::Assertion, CheckKind::SignedOverflow, CheckKind::DivByZero, CheckKind::Bounds];

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
    let options =
        Options { checks: CHECKS.into_iter().collect(), entry: String::new(), ..Options::default() };
    let compiled = compile(&mut map, &[file], setup.data_model, &options);
    let Some(program) = compiled.program else {
        let errors = compiled.diagnostics.iter().filter(|d| d.is_error());
        let message = |d: &Diagnostic| match map.position(d.span) {
            Some(p) => format!("{}:{}:{}: {}", p.file, p.line, p.column, d.message),
            None => d.message.clone(),
        };
        return Err(Trouble::Rejected(errors.map(message).collect()));
    };
    // What follows in the source map is the library that we added.
    let own = map.start(file)..map.start(file) + map.text(file).len() as u32;
    let mut inliner = None;
    for (id, func) in program.funcs.iter_enumerated() {
        if func.body.is_none() || !own.contains(&func.span.lo) || id == program.entry {
            continue;
        }
        let Some(at) = map.position(func.span) else { continue };
        let relative = if at.file.starts_with('/') { String::new() } else { format!("{folder}/") };
        let name = format!("{relative}{}:{}:{}", at.file.trim_start_matches("./"), at.line, func.name);
        let Some(number) = in_sample(&name, setup.one_in) else { continue };
        if !setup.seen.insert(name.clone()) {
            continue;
        }
        let (program, graph) = inliner.get_or_insert_with(|| Inliner::new(&program)).function(id);
        let flow = Flow::new(program, &graph, id);
        let outcomes = outcomes(&flow, setup, number).map_err(Trouble::System)?;
        let (vars, loops, checks) = (flow.ranges.len(), flow.loops.len(), flow.checks);
        let mut row = Row { name, vars, loops, checks, proof: None, outcomes };
        let asked = setup.proofs_one_in > 0 && number.is_multiple_of(setup.proofs_one_in);
        if asked && loops > 0 && row.solved(Domain::LddBoxes).is_some() {
            row.proof = Some(proof(&flow, setup.limits).map_err(Trouble::System)?);
        }
        found(row);
    }
    Ok(())
}

/// What the solver says about the invariants of LDD Boxes, which have been found before within the limits.
fn proof(flow: &Flow, limits: Limits) -> io::Result<Proof> {
    let ended = child::run(limits, || {
        let found = analyse::<Boxes>(flow, &diagrams());
        child::allow(PROOF_TIME);
        proof::prove(flow, &found.invariants).encode()
    })?;
    Ok(match ended {
        Ended::Done(text) => Proof::decode(&text).unwrap_or(Proof::Failed),
        Ended::OutOfTime | Ended::OutOfMemory => Proof::Open,
        Ended::Failed(_) => Proof::Failed,
    })
}

/// Runs the domains on the function with this number in the sample.
fn outcomes(flow: &Flow, setup: &Setup, number: u64) -> io::Result<[Option<Outcome>; Domain::ALL.len()]> {
    let mut outcomes = [const { None }; Domain::ALL.len()];
    let all = number.is_multiple_of(setup.peers_one_in.max(1));
    for (outcome, domain) in outcomes.iter_mut().zip(Domain::ALL) {
        if !setup.domains.contains(&domain) || domain.is_sampled() && !all {
            continue;
        }
        let time = if domain.is_peer() { setup.peer_time } else { setup.limits.time };
        let limits = Limits { time, ..setup.limits };
        let ended = child::run(limits, || run(flow, domain))?;
        *outcome = Some(match ended {
            Ended::Done(text) => Solved::decode(&text).map_or(Outcome::Failed(text), Outcome::Solved),
            Ended::OutOfTime => Outcome::OutOfTime,
            Ended::OutOfMemory => Outcome::OutOfMemory,
            Ended::Failed(why) => Outcome::Failed(why),
        });
    }
    Ok(outcomes)
}

/// Nodes of an element before its closest boxes are merged: some times those of the paper's invariants.
const ELEMENT_NODES: usize = 1 << 13;

/// Disjuncts of a set of intervals at most.
const MAX_DISJUNCTS: usize = 64;

/// What elements on diagrams are made from.
fn diagrams() -> LddCtx {
    LddCtx::with_element_limit(LddLimits::default(), ELEMENT_NODES)
}

fn run(flow: &Flow, domain: Domain) -> String {
    match domain {
        Domain::LddBox => {
            let context = diagrams();
            timed::<LddBox>(flow, &context, || context.merges(), |e| (e.size().0 as u64, 1.0))
        }
        Domain::LddBoxes => {
            let context = diagrams();
            timed::<Boxes>(
                flow,
                &context,
                || context.merges(),
                |e| {
                    let (nodes, boxes) = e.size();
                    (nodes as u64, boxes.to_f64())
                },
            )
        }
        Domain::IntervalSets => {
            let widening = PowersetWidening::Certificate;
            let context = PowersetCtx { base: (), max_disjuncts: MAX_DISJUNCTS, widening };
            let disjuncts = |e: &Powerset<Intervals>| (0, e.disjuncts().len() as f64);
            timed(flow, &context, || 0, disjuncts)
        }
        Domain::Octagons => timed::<Octagons>(flow, &palisade_domains::Limits::STANDARD, || 0, |_| (0, 1.0)),
        #[cfg(feature = "ppl")]
        Domain::PplBox => {
            use palisade_domains::ppl::{Ppl, PplSpace, RationalBox};
            timed::<Ppl<RationalBox>>(flow, &PplSpace::new(), || 0, |e| (0, e.disjuncts() as f64))
        }
        #[cfg(feature = "ppl")]
        Domain::PplBoxes => {
            use palisade_domains::ppl::{PowerBox, Ppl, PplSpace};
            timed::<Ppl<PowerBox>>(flow, &PplSpace::new(), || 0, |e| (0, e.disjuncts() as f64))
        }
        #[cfg(not(feature = "ppl"))]
        Domain::PplBox | Domain::PplBoxes => String::new(),
    }
}

/// Runs an analysis and writes its measurements down.
fn timed<D: NumericDomain>(
    flow: &Flow,
    context: &D::Ctx,
    merges: impl Fn() -> u64,
    size: impl Fn(&D) -> (u64, f64),
) -> String {
    let before = child::peak_memory();
    let Found { invariants, clock, widenings, proved } = analyse::<D>(flow, context);
    let memory = child::peak_memory().saturating_sub(before);
    let (mut nodes, mut boxes) = (0, 0.0f64);
    for (n, b) in invariants.iter().flatten().map(size) {
        nodes = nodes.max(n);
        boxes = boxes.max(b);
    }
    let merges = merges();
    match runs::check(flow, &invariants) {
        Ok(states) => Solved {
            basic: clock.basic,
            image: clock.image,
            widen: clock.widen,
            widenings,
            nodes,
            boxes,
            merges,
            memory,
            states,
            proved,
        }
        .encode(),
        Err(number) => format!("a run leaves the invariant of loop {number}"),
    }
}
