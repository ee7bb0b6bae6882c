//! Runs engines until one of them has something that passes its check.

use crate::class::{Class, LARGE, Share};
use crate::open::{self, Obstacle, Open};
use crate::race::{Meter, Runner, race};
use crate::registry::{self, Analysis};
use palisade_base::{Budget, Stop};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::{Assumed, Assumption, Program};
use palisade_check::court::{Court, Tally};
use palisade_check::replay::{Otherwise, Replay};
use palisade_check::{Checked, Rejection};
use palisade_engines::board::{Board, Taken};
use palisade_engines::{Certificate, Engine, Outcome};
use palisade_logic::process::Program as OtherSolver;
use palisade_property::Property;
use palisade_task::{Task, TooLarge};
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Receives short notes about where an engine stands: its name and the note.
pub type Progress<'a> = dyn Fn(&str, fmt::Arguments<'_>) + Sync + 'a;

/// The answer.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// The property holds.
    True,
    /// It does not; the name of the violated goal, as in `false(no-overflow)`.
    False(String),
    /// Not settled, and why.
    Unknown(String),
}

/// A verdict with its evidence, which was checked.
pub struct Settled {
    /// The verdict.
    pub verdict: Verdict,
    /// The engine that found it.
    pub engine: Option<String>,
    /// The task the evidence speaks about.
    pub task: Option<Task>,
    /// The class of the program, as far as it was looked at.
    pub class: Option<Class>,
    /// What shows that the property holds.
    pub certificate: Option<Certificate>,
    /// What the answers `unsat` of the second opinion rest on.
    pub tally: Tally,
    /// What that was checked with in the end.
    pub checked: Option<Checked>,
    /// The run that violates it.
    pub replay: Option<Replay>,
    /// A run that does something undefined before it violates the property; the question is not settled then.
    pub undefined: Option<Box<Otherwise>>,
    /// What stood in the way, as far as is known, where the question is not settled.
    pub open: Vec<Open>,
    /// What the verdict rests on besides the evidence.
    pub assumptions: Vec<Assumption>,
    /// Evidence of engines that did not pass its check, in words; each is a defect of an engine.
    pub rejected: Vec<String>,
    /// Evidence of engines that could not be checked in the time there was, in words.
    pub unchecked: Vec<String>,
    /// What every engine did.
    pub tried: Vec<Tried>,
    /// What engines took from each other.
    pub taken: Vec<Taken>,
    /// The CPU time until then, without the second opinion, as told by who has a clock.
    pub found_after: Option<Duration>,
}

/// What an engine did.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Its name.
    pub engine: String,
    /// The time it had.
    pub time: Duration,
    /// Why it has no answer, or else where it stood in the end.
    pub said: String,
}

impl Settled {
    /// Not settled, for a reason.
    pub fn unknown(reason: impl Into<String>) -> Settled {
        Settled {
            verdict: Verdict::Unknown(reason.into()),
            engine: None,
            task: None,
            class: None,
            certificate: None,
            tally: Tally::default(),
            checked: None,
            replay: None,
            undefined: None,
            open: Vec::new(),
            assumptions: Vec::new(),
            rejected: Vec::new(),
            unchecked: Vec::new(),
            tried: Vec::new(),
            taken: Vec::new(),
            found_after: None,
        }
    }

    /// The same without faith: a property that holds only under assumptions is not known to hold.
    pub fn strictly(self, program: &Program) -> Settled {
        if !matches!(self.verdict, Verdict::True) || self.assumptions.is_empty() {
            return self;
        }
        let texts: Vec<String> = self.assumptions.iter().map(|a| a.text(program)).collect();
        let Settled { rejected, tried, taken, .. } = self;
        Settled { rejected, tried, taken, ..Settled::unknown(format!("true if {}", texts.join("; if "))) }
    }

    /// Confirms the certificate of a property that holds; see [`palisade_check::second_opinion`]. If two
    /// solvers contradict each other, nothing is known.
    pub fn confirm(&mut self, other: Option<&OtherSolver>, budget: &Budget) {
        let (Verdict::True, Some(task), Some(certificate)) = (&self.verdict, &self.task, &self.certificate)
        else {
            return;
        };
        match palisade_check::second_opinion(task, certificate, other, budget) {
            Ok(opinion) => {
                self.checked = Some(opinion.checked);
                self.tally = opinion.tally;
            }
            Err(dispute) => {
                tracing::error!("{dispute}");
                self.rejected.push(dispute.clone());
                self.verdict = Verdict::Unknown(dispute);
            }
        }
    }

    /// The assumptions of the program that the verdict rests on. All of them stand behind a proof;
    /// behind a run only those about what the run did.
    fn assuming(self, program: &Program) -> Settled {
        let mut assumptions = match self.verdict {
            Verdict::Unknown(_) => Vec::new(),
            _ => program.assumptions_that_matter(),
        };
        if let Some(replay) = &self.replay {
            assumptions.retain(|a| match a.what {
                Assumed::MissingIsPure | Assumed::MissingHavocs => {
                    replay.run.unknown_functions.contains(&a.func)
                }
                Assumed::AllocationSucceeds | Assumed::PointersLeadOutside | Assumed::VolatileIsOwn => false,
                _ => true,
            });
        }
        Settled { assumptions, ..self }
    }
}

/// A program of more edges than this after inlining is not analysed.
const MAX_EDGES: usize = 1_500_000;
/// From so many edges on, each call followed, engines that need no task come first.
const FOLLOWED: u64 = 100_000;
/// How deep recursive calls are followed, one attempt after the other.
const RECURSION: [usize; 5] = [2, 6, 12, 25, 50];

/// Steps for which a run of the smaller form of a program is repeated in the program: functions that were not followed
/// may go anywhere, and never end.
const REPEATED: u64 = 20_000_000;

/// How much more time the smaller form of a program gets.
const SMALLER: u32 = 4;

/// Settles the property of an instrumented program with the analysis of a name, with several between commas, or with
/// all of them, which share what they learn (`auto`) or do not (`apart`).
pub fn settle(
    program: &Arc<Program>,
    property: &Property,
    analysis: &str,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Settled {
    by_depth(program, property, analysis, budget, progress).assuming(program)
}

/// Follows recursive calls deeper and deeper until an engine has something to show.
fn by_depth(
    program: &Arc<Program>,
    property: &Property,
    analysis: &str,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Settled {
    let mut analyses = match registry::chosen(analysis) {
        Ok(analyses) => analyses,
        Err(why) => return Settled::unknown(why),
    };
    let share = analysis != "apart";
    let mut last = Settled::unknown("no engine ran");
    // To follow all calls of a program that is too large for that takes time in itself.
    if CallGraph::new(program).sizes(program)[program.entry] >= FOLLOWED {
        let (first, later) = analyses.into_iter().partition(|a| a.engine.comes_first(program));
        analyses = later;
        if !Vec::is_empty(&first) {
            last = run(property, vec![Task::unfollowed(program)], &first, share, budget, progress);
            if analyses.is_empty() || !matches!(last.verdict, Verdict::Unknown(_)) {
                return last;
            }
        }
    }
    for depth in RECURSION {
        let tasks = match tasks(program, depth) {
            Ok(tasks) => tasks,
            Err(error) if depth == RECURSION[0] => {
                last = run(property, vec![Task::unfollowed(program)], &analyses, share, budget, progress);
                if budget.stopped().is_none() && matches!(last.verdict, Verdict::Unknown(_)) {
                    last.verdict = Verdict::Unknown(error.to_string());
                }
                return last;
            }
            Err(_) => return last,
        };
        let recursive = tasks.iter().any(|task| task.recursion_cut);
        last = run(property, tasks, &analyses, share, budget, progress);
        if !recursive || budget.stopped().is_some() || !matches!(last.verdict, Verdict::Unknown(_)) {
            return last;
        }
    }
    last
}

/// The task, and for large programs a smaller one in which functions that cannot fail are not followed.
fn tasks(program: &Arc<Program>, depth: usize) -> Result<Vec<Task>, TooLarge> {
    let whole = palisade_reduce::task(program, depth, MAX_EDGES);
    if depth != RECURSION[0] || whole.as_ref().is_ok_and(|task| task.program.edges.len() < LARGE) {
        return whole.map(|task| vec![task]);
    }
    let outlined = palisade_reduce::outlined_task(program, depth, MAX_EDGES);
    if let (Err(error), Err(_)) = (&whole, &outlined) {
        return Err(*error);
    }
    Ok([whole, outlined].into_iter().flatten().collect())
}

fn run(
    property: &Property,
    tasks: Vec<Task>,
    analyses: &[Analysis],
    share: bool,
    budget: &Budget,
    progress: &Progress<'_>,
) -> Settled {
    let rejected: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let unchecked: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let reasons: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let undefined: Mutex<Option<Box<Otherwise>>> = Mutex::new(None);
    let boards: Vec<Board> = tasks.iter().map(|_| Board::default()).collect();
    // What an engine has to show, checked; otherwise the reason is noted.
    let said: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());
    let attempt = |engine: &(dyn Engine + Send + Sync),
                   (runner, number): (usize, usize),
                   turn: &Budget,
                   alone: Option<&dyn Fn()>| {
        let task = &tasks[number];
        let say = |what: String| lock(&said)[runner].1 = what;
        let steps = if task.outlined && !engine.looks_at_source() { REPEATED } else { u64::MAX };
        // A panic is a defect of an engine; it must not take the other engines along.
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let own = Board::default();
            let board = if share { &boards[number] } else { &own };
            let Some(alone) = alone else {
                let nothing = || Outcome::Unknown(String::new());
                let outcome = engine.first_look(task, board, turn).unwrap_or_else(nothing);
                return accept(property, task, outcome, steps, &Court::new(budget));
            };
            let outcome = engine.run(task, board, turn, &|note| {
                say(note.to_string());
                progress(engine.name(), note);
            });
            if let Outcome::Unknown(why) = &outcome
                && turn.stopped().is_none()
            {
                say(why.clone());
            }
            // Evidence is checked before anything else goes on, for a while.
            if !matches!(outcome, Outcome::Unknown(_)) {
                alone();
            }
            accept(property, task, outcome, steps, &Court::new(turn))
        }));
        let name = engine.name();
        match attempt {
            Ok(Ok(settled)) => return Some((number, Settled { engine: Some(name.into()), ..settled })),
            // What a first look does not settle is found, and told, again by the run.
            Ok(Err(_)) if alone.is_none() => {}
            Ok(Err(Refused::Nothing(_))) if turn.stopped().is_some() => {}
            // Somebody else was faster.
            Ok(Err(Refused::Unchecked(_))) if turn.stopped() == Some(Stop::Cancelled) => {}
            Ok(Err(Refused::Nothing(why))) => lock(&reasons).push(format!("{name}: {why}")),
            Ok(Err(Refused::Undefined(run))) => {
                lock(&reasons).push(format!("{name}: {run}"));
                // The shortest says most.
                let mut known = lock(&undefined);
                if known.as_ref().is_none_or(|known| run.run.steps < known.run.steps) {
                    *known = Some(run);
                }
            }
            Ok(Err(Refused::Rejected(why))) => lock(&rejected).push(format!("{name}: {why}")),
            Ok(Err(Refused::Unchecked(why))) => lock(&unchecked).push(format!("{name}: {why}")),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                tracing::error!("{name}: internal error: {text}");
                lock(&rejected).push(format!("{name}: internal error: {text}"));
            }
        }
        None
    };
    let (mut runners, mut looks) = (Vec::new(), Vec::new());
    // The smaller form of a program comes first and has more of the time: if it is enough, it is so soon.
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by_key(|&number| tasks[number].program.edges.len());
    let whole = tasks.iter().any(|task| !task.outlined);
    let classes: Vec<Class> = tasks.iter().map(Class::of).collect();
    for (rank, &number) in order.iter().enumerate() {
        let task = &tasks[number];
        let larger = if rank + 1 < tasks.len() { SMALLER } else { 1 };
        for Analysis { engine, .. } in analyses {
            if engine.looks_at_source() && task.outlined && whole
                || !engine.looks_at_source() && task.unfollowed
            {
                continue;
            }
            let attempt = &attempt;
            let which = (runners.len(), number);
            lock(&said).push((engine.name().into(), String::new()));
            looks.push((engine, which));
            let work =
                move |turn: &Budget, alone: &dyn Fn()| attempt(engine.as_ref(), which, turn, Some(alone));
            let Share { weight, at_once } = classes[number].share(engine.name());
            let weight = larger * weight;
            runners.push(Runner { name: engine.name(), weight, at_once, work: Box::new(work) });
        }
    }
    let look = budget.child();
    let mut looked = vec![Duration::ZERO; runners.len()];
    let found = looks.iter().find_map(|(engine, which)| {
        let meter = Meter::default();
        let found = meter.during(|| attempt(engine.as_ref(), *which, &look, None));
        looked[which.0] = meter.time().unwrap_or_default();
        found
    });
    let (winner, times) = match found {
        Some(found) => {
            drop(runners);
            (Some(found), looked)
        }
        None => {
            let (winner, raced) = race(runners, &budget.child());
            (winner, raced.into_iter().zip(looked).map(|(race, look)| race + look).collect())
        }
    };
    let said = said.into_inner().unwrap_or_default().into_iter();
    let tried = said.zip(times).map(|((engine, said), time)| Tried { engine, time, said }).collect();
    let taken = boards.iter().flat_map(Board::taken).collect();
    let rejected = rejected.into_inner().unwrap_or_default();
    let unchecked = unchecked.into_inner().unwrap_or_default();
    match winner {
        Some((number, settled)) => {
            let (class, task) = (Some(classes[number]), tasks.into_iter().nth(number));
            Settled { rejected, unchecked, tried, taken, class, task, ..settled }
        }
        None => {
            let class = classes.first().copied();
            let undefined = undefined.into_inner().unwrap_or_default();
            if let Some(trap) = undefined.as_ref().and_then(|run| run.undefined()) {
                let reason =
                    format!("a run meets undefined behaviour before it reaches the property: {trap}");
                return Settled {
                    rejected,
                    unchecked,
                    tried,
                    taken,
                    undefined,
                    class,
                    task: tasks.into_iter().next(),
                    ..Settled::unknown(reason)
                };
            }
            let (task, open) = open::open(tasks, &boards);
            let calls = open.iter().filter(|o| o.what == Obstacle::Call).count();
            let reason = match budget.stopped() {
                Some(stop) => stop.to_string(),
                None if !rejected.is_empty() => rejected.join("; "),
                None if !unchecked.is_empty() => unchecked.join("; "),
                None if calls > 0 && calls == open.len() => "a call cannot be followed".into(),
                None if analyses.len() > 1 => "no analysis is precise enough".into(),
                None => reasons.into_inner().unwrap_or_default().join("; "),
            };
            Settled { rejected, unchecked, tried, taken, class, task, open, ..Settled::unknown(reason) }
        }
    }
}

/// A poisoned lock means that an engine panicked; its data is still whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

enum Refused {
    /// What it had does something undefined first.
    Undefined(Box<Otherwise>),
    /// The engine had nothing to show.
    Nothing(String),
    /// What it had did not pass its check.
    Rejected(String),
    /// What it had could not be checked in the time there was.
    Unchecked(String),
}

/// Lets a verdict out only with evidence that passes its check; a run is repeated for so many steps at most.
fn accept(
    property: &Property,
    task: &Task,
    outcome: Outcome,
    steps: u64,
    court: &Court,
) -> Result<Settled, Refused> {
    match outcome {
        Outcome::Unknown(why) => Err(Refused::Nothing(why)),
        Outcome::Proof(certificate) => {
            palisade_check::certificate(task, &certificate, court).map_err(|rejection| match rejection {
                Rejection::Wrong(_) => Refused::Rejected(rejection.to_string()),
                Rejection::GaveUp(_) => Refused::Unchecked(rejection.to_string()),
            })?;
            Ok(Settled {
                verdict: Verdict::True,
                certificate: Some(certificate),
                checked: Some(Checked::Reduced),
                ..Settled::unknown("")
            })
        }
        Outcome::Bug(bug) => {
            // The run is one of the whole program: what it does that is undefined, the program does.
            let refused = |run: Box<Otherwise>| match run.undefined() {
                Some(_) => Refused::Undefined(run),
                None if task.outlined => {
                    Refused::Nothing(format!("a run past functions that are not followed: {run}"))
                }
                None => Refused::Rejected(run.to_string()),
            };
            let replay =
                palisade_check::replay::replay(&task.source, &bug, steps, court.budget()).map_err(refused)?;
            let kind = replay.kind;
            let check = replay.run.stack.first().map(|(_, edge)| *edge);
            let goal = check.and_then(|edge| property.violated_at(kind, edge)).ok_or_else(|| {
                Refused::Rejected(format!("the run violates {kind:?}, which the property does not ask for"))
            })?;
            Ok(Settled {
                verdict: Verdict::False(goal.name().into()),
                replay: Some(replay),
                ..Settled::unknown("")
            })
        }
    }
}
