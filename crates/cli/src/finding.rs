//! What `check` found, ready to be shown: the text, JSON, SARIF, HTML and witness outputs all
//! start from here.

use crate::input::Input;
use crate::open::Obstacles;
use crate::trace::{TraceLine, lines};
use crate::why;
use palisade_base::{Budget, Span};
use palisade_cfa::Program;
use palisade_check::replay::forced;
use palisade_engines::Counterexample;
use palisade_interp::{Config, Run, Trap};
use palisade_portfolio::{Settled, Verdict};
use palisade_property::{Goal, Property};
use palisade_witness::correctness::{LoopFact, loop_facts};
use palisade_witness::describe::Violation;
use palisade_witness::places::Places;
use palisade_witness::run::{Steps, input_text, observe};
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
    /// Why the property holds, besides invariants and contracts.
    pub why: Vec<String>,
    /// Invariants of the loops that a proof gives.
    pub facts: Vec<LoopFact>,
    /// The run that goes wrong.
    pub story: Option<Story>,
    /// What stood in the way where nothing is settled.
    pub obstacles: Option<Obstacles>,
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
    /// In which way.
    pub described: Violation,
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
        let mut finding = Finding {
            settled,
            program,
            property,
            input,
            places: None,
            why: Vec::new(),
            facts: Vec::new(),
            story: None,
            obstacles: None,
        };
        let unknown = matches!(settled.verdict, Verdict::Unknown(_));
        if unknown && settled.undefined.is_none() && settled.open.is_empty() {
            return finding;
        }
        let places = Places::new(input.files.clone());
        finding.obstacles = unknown.then(|| Obstacles::new(settled, program, &places));
        if let (Some(task), Some(certificate)) = (&settled.task, &settled.certificate) {
            finding.why = why::why(task, certificate, &places);
            finding.facts = loop_facts(task, certificate, &places);
        }
        let step_limit = if to_the_end { u64::MAX } else { SHOWN_STEPS };
        let violation = settled.replay.as_ref().map(|r| (&r.bug, &r.run, r.kind.to_string()));
        let undefined = settled.undefined.as_ref().map(|r| (&r.bug, &r.run, r.run.outcome.to_string()));
        finding.story = violation.or(undefined).map(|(bug, run, kind)| {
            let tale = Tale { program, property, places: &places, bug, run };
            Story::new(&tale, &kind, step_limit, budget)
        });
        finding.places = Some(places);
        finding
    }

    /// The property that a run violates which does something undefined before it reaches what was asked.
    pub fn settled_by(&self) -> Option<&'static str> {
        Some(match self.settled.undefined.as_ref()?.undefined()? {
            Trap::Access(_) => "valid-deref",
            Trap::Free => "valid-free",
            Trap::DivByZero | Trap::Shift | Trap::Call => "def-behavior",
        })
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
            (Some(Certificate::Contracts(_)), _) => "contracts",
            (Some(_), _) => "invariants",
            (None, None) => "none",
        }
    }
}

/// What a story is made of.
struct Tale<'a> {
    program: &'a Program,
    property: &'a Property,
    places: &'a Places,
    bug: &'a Counterexample,
    run: &'a Run,
}

impl Story {
    fn new(tale: &Tale<'_>, kind: &str, step_limit: u64, budget: &Budget) -> Story {
        let Tale { program, places, bug, .. } = *tale;
        let config =
            Config { step_limit, budget: Some(budget.clone()), memory_limit: 1 << 30, ..Config::default() };
        // The same values lead through the same run; now its states are looked at.
        let (_, steps) = observe(program, places, || forced(bug), config);
        let run = tale.run.clone();
        let violation = violation_span(program, places, &run);
        let lines = lines(program, places, &steps);
        let described = described(tale, kind, &steps);
        Story { run, steps, lines, violation, described }
    }

    /// The inputs of the run, as one would write them in C.
    pub fn inputs(&self) -> Vec<String> {
        self.run.inputs.iter().map(input_text).collect()
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

/// In which way a run goes wrong: what the observer says whose check failed, or what happened; inside of the
/// library, in which function.
fn described(tale: &Tale<'_>, kind: &str, steps: &Steps) -> Violation {
    let Tale { program, property, places, run, .. } = *tale;
    let at = run.stack.first();
    let errors = property.goals.iter().filter_map(|g| match g {
        Goal::Observer { errors, .. } => Some(errors),
        _ => None,
    });
    let said = errors.flatten().find(|(edge, _)| at.is_some_and(|(_, e)| e == edge));
    let text = said.map_or_else(|| kind.to_owned(), |(_, message)| message.clone());
    let plain = Violation { text, notes: Vec::new(), lost: None };
    if said.is_some() {
        return plain;
    }
    let mut violation = steps.violation.clone().unwrap_or(plain);
    if let Some((func, _)) = at
        && !places.contains(program.funcs[*func].span)
        && violation.lost.is_none()
        && !program.funcs[*func].name.starts_with('.')
    {
        violation.text = format!("in `{}`: {}", program.funcs[*func].name, violation.text);
    }
    violation
}
