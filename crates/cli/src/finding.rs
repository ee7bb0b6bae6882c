//! What `check` found, ready to be shown: the text, JSON, SARIF, HTML and witness outputs all
//! start from here.

use crate::input::Input;
use palisade_base::{Budget, Span};
use palisade_cfa::Program;
use palisade_check::replay::{Replay, forced};
use palisade_interp::{Config, Run};
use palisade_portfolio::{Settled, Verdict};
use palisade_property::Property;
use palisade_witness::correctness::{LoopFact, loop_facts};
use palisade_witness::places::Places;
use palisade_witness::run::{Steps, observe, value_text};
use palisade_witness::violation::violation_span;

/// A settled question with everything there is to say about it.
pub struct Finding<'a> {
    /// The verdict and its evidence.
    pub settled: &'a Settled,
    /// The instrumented program.
    pub program: &'a Program,
    /// The question.
    pub property: &'a Property,
    /// The texts.
    pub input: &'a Input,
    /// The places of the program, if there is something to say about them.
    pub places: Option<Places>,
    /// Invariants of the loops that a proof gives.
    pub facts: Vec<LoopFact>,
    /// The run that goes wrong.
    pub story: Option<Story>,
}

/// A run that goes wrong, told by source lines.
pub struct Story {
    /// The run.
    pub run: Run,
    /// All that was stored on the way.
    pub steps: Steps,
    /// The lines it passes, with what changed there.
    pub lines: Vec<TraceLine>,
    /// Where it goes wrong.
    pub violation: Option<Span>,
}

/// A source line that a run passes.
#[derive(Clone, Debug)]
pub struct TraceLine {
    /// What is executed.
    pub span: Span,
    /// The file, as it was given.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: Option<u32>,
    /// The function.
    pub function: String,
    /// How many calls are active.
    pub depth: usize,
    /// What was stored: places and values.
    pub changes: Vec<(String, String)>,
}

/// Steps of a run that are looked at if only its start is going to be shown.
const SHOWN_STEPS: u64 = 2_000_000;

impl<'a> Finding<'a> {
    /// Gathers what there is to say. A run that takes long is told to its end only if that is
    /// wanted.
    pub fn new(
        settled: &'a Settled,
        program: &'a Program,
        property: &'a Property,
        input: &'a Input,
        to_the_end: bool,
        budget: &Budget,
    ) -> Self {
        let mut finding =
            Finding { settled, program, property, input, places: None, facts: Vec::new(), story: None };
        if matches!(settled.verdict, Verdict::Unknown(_)) {
            return finding;
        }
        let places = Places::new(input.files.clone());
        if let (Some(task), Some(certificate)) = (&settled.task, &settled.certificate) {
            finding.facts = loop_facts(task, certificate, &places);
        }
        let step_limit = if to_the_end { u64::MAX } else { SHOWN_STEPS };
        finding.story = settled.replay.as_ref().map(|r| Story::new(r, program, &places, step_limit, budget));
        finding.places = Some(places);
        finding
    }

    /// How the evidence for the verdict looks, in words.
    pub fn evidence(&self) -> &'static str {
        use palisade_engines::Certificate;
        match (&self.settled.certificate, &self.settled.replay) {
            (_, Some(_)) => "replayed run",
            (Some(Certificate::Unrolling { .. }), _) => "complete unrolling",
            (Some(Certificate::KInduction { .. }), _) => "k-induction",
            (Some(Certificate::Cover(_)), _) => "cover of all states",
            (Some(Certificate::OnlyRun), _) => "the only run",
            (Some(Certificate::Contracts { .. }), _) => "contracts",
            (Some(_), _) => "invariants",
            (None, None) => "none",
        }
    }
}

impl Story {
    fn new(replay: &Replay, program: &Program, places: &Places, step_limit: u64, budget: &Budget) -> Story {
        let config =
            Config { step_limit, budget: Some(budget.clone()), memory_limit: 1 << 30, ..Config::default() };
        // The same values lead through the same run; now its states are looked at.
        let (_, steps) = observe(program, &mut forced(&replay.bug), config);
        let run = replay.run.clone();
        let violation = violation_span(program, places, &run);
        let mut lines: Vec<TraceLine> = Vec::new();
        for step in steps.iter() {
            let span = program.edges[step.edge].span;
            if step.change.is_none() || !places.contains(span) {
                continue;
            }
            let Some(location) = places.locate(span.lo) else { continue };
            let change = step.change.iter().map(|c| (c.name.clone(), value_text(c.value.ty, c.value.bits)));
            let same = |l: &TraceLine| {
                l.line == location.line && l.depth == step.depth && l.file == location.file_name
            };
            match lines.last_mut() {
                // One more operation of the same line; a second pass stores the same place again.
                Some(last)
                    if same(last) && !change.clone().any(|c| last.changes.iter().any(|k| k.0 == c.0)) =>
                {
                    last.changes.extend(change);
                }
                _ => lines.push(TraceLine {
                    span,
                    file: location.file_name,
                    line: location.line,
                    column: location.column,
                    function: location.function.unwrap_or_default(),
                    depth: step.depth,
                    changes: change.collect(),
                }),
            }
        }
        Story { run, steps, lines, violation }
    }

    /// The inputs of the run, as one would write them in C.
    pub fn inputs(&self) -> Vec<String> {
        self.run.inputs.iter().map(|i| value_text(i.ty, i.bits)).collect()
    }

    /// The arguments that the program was started with, as one would write them in C.
    pub fn arguments(&self) -> Option<Vec<String>> {
        let quoted = |bytes: &Vec<u8>| format!("\"{}\"", bytes.escape_ascii());
        Some(self.steps.arguments.as_ref()?.iter().map(quoted).collect())
    }

    /// The lines to show if there is room for so many: the first, how many are left out, and the
    /// last.
    pub fn abbreviated(&self, room: usize) -> (&[TraceLine], u64, &[TraceLine]) {
        let n = self.lines.len();
        if n <= room {
            return (&self.lines, 0, &[]);
        }
        let (head, tail) = (room / 2, room - room / 2);
        (&self.lines[..head], (n - room) as u64 + self.steps.left_out, &self.lines[n - tail..])
    }
}
