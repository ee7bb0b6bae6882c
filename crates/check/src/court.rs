//! Where the questions of a check are decided, and what their answers rest on.
//!
//! Most answers only say where to look next; that something is impossible is what a verdict rests on. A
//! court *searches* with the fast solver. It *confirms* by letting the plain solver find the same, with
//! a proof that is checked ([`palisade_logic::plain`]), as long as that does not take too much; and
//! another solver has to agree, if one was named. A *plain* court asks the plain solver alone, and stops when its
//! budget does.
//!
//! A check can be *recorded* and *repeated*: then too the plain solver alone decides, and the proofs that
//! it found the first time serve the second time instead of a search.

use palisade_base::Budget;
use palisade_logic::plain::Refutation;
use palisade_logic::process::Program;
use palisade_logic::{
    Answer, BvSolver, Limits, Model, PlainSolver, ProcessSolver, Solver, Term, Terms, Unknown,
};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the plain solver may use for one question, beside the budget: conflicts where it confirms what the fast one
/// found, and memory.
const CONFLICTS: u64 = 20_000;
const BYTES: u64 = 256 << 20;

/// How many answers `unsat` rest on what.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Found by the plain solver, with a checked proof.
    pub proved: usize,
    /// Found by the fast solver alone: the plain one did not come to an end.
    pub searched: usize,
    /// Confirmed by another solver.
    pub crossed: usize,
    /// Not settled by the other solver.
    pub not_crossed: usize,
}

/// How questions are decided.
enum Mode {
    /// The fast solver answers.
    Search,
    /// The fast solver answers, the plain one confirms.
    Confirm,
    /// The plain solver answers.
    Plain,
    /// The plain solver answers; its refutations are kept, and `None` for other answers.
    Record(Vec<Option<Refutation>>),
    /// As in the recording.
    Repeat(VecDeque<Option<Refutation>>),
}

/// Decides the questions of checks.
pub struct Court {
    budget: Budget,
    other: Option<Program>,
    tally: Mutex<Tally>,
    mode: Mutex<Mode>,
    dispute: Mutex<Option<String>>,
}

/// A poisoned lock means that a check panicked; counts and lists are still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Court {
    fn with_mode(budget: &Budget, mode: Mode) -> Self {
        Court {
            budget: budget.clone(),
            other: None,
            tally: Mutex::default(),
            mode: Mutex::new(mode),
            dispute: Mutex::default(),
        }
    }

    /// Decides with the fast solver, until the budget is stopped.
    pub fn new(budget: &Budget) -> Self {
        Court::with_mode(budget, Mode::Search)
    }

    /// Decides with the fast solver, and confirms by the plain one.
    pub fn confirming(budget: &Budget) -> Self {
        Court::with_mode(budget, Mode::Confirm)
    }

    /// Decides with the plain solver.
    pub fn plain(budget: &Budget) -> Self {
        Court::with_mode(budget, Mode::Plain)
    }

    /// Asks another solver as well.
    #[must_use]
    pub fn with_other(self, other: Option<Program>) -> Self {
        Court { other, ..self }
    }

    /// Decides with the plain solver alone and keeps its refutations.
    pub fn recording(budget: &Budget) -> Self {
        Court::with_mode(budget, Mode::Record(Vec::new()))
    }

    /// Repeats a recorded check.
    pub fn repeating(budget: &Budget, record: Vec<Option<Refutation>>) -> Self {
        Court::with_mode(budget, Mode::Repeat(record.into()))
    }

    /// What a check that is over has recorded, or left over of what was recorded.
    pub fn record(self) -> Vec<Option<Refutation>> {
        match self.mode.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Mode::Search | Mode::Confirm | Mode::Plain => Vec::new(),
            Mode::Record(record) => record,
            Mode::Repeat(rest) => rest.into(),
        }
    }

    /// Stops checks.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// What the answers so far rest on.
    pub fn tally(&self) -> Tally {
        *lock(&self.tally)
    }

    /// How two solvers contradict each other, if they do.
    pub fn dispute(&self) -> Option<String> {
        lock(&self.dispute).clone()
    }

    fn limits(&self) -> Limits {
        Limits { budget: self.budget.clone(), ..Limits::default() }
    }

    fn plain_limits(&self) -> Limits {
        Limits { conflicts: Some(CONFLICTS), memory: Some(BYTES), ..self.limits() }
    }

    /// A solver that decides as this court does.
    pub fn solver(&self) -> Juror<'_> {
        self.juror(None)
    }

    /// The same where a question that takes more conflicts is not worth it, as far as a search is made for it.
    pub fn hasty_solver(&self, conflicts: u64) -> Juror<'_> {
        self.juror(Some(conflicts))
    }

    fn juror(&self, conflicts: Option<u64>) -> Juror<'_> {
        let who = match *lock(&self.mode) {
            Mode::Search | Mode::Confirm => {
                let mut fast = BvSolver::for_proofs();
                fast.set_limits(Limits { conflicts, ..self.limits() });
                Who::Fast(Box::new(fast))
            }
            Mode::Plain => {
                let mut plain = PlainSolver::new();
                plain.set_limits(Limits { memory: Some(BYTES), ..self.limits() });
                Who::Plain(Box::new(plain))
            }
            Mode::Record(_) | Mode::Repeat(_) => Who::Record(None),
        };
        Juror { court: self, who, levels: vec![Vec::new()] }
    }

    /// Notes that a solver has a model where the fast one has none.
    fn disputed(&self, who: &str) -> Unknown {
        let dispute = format!("{who} has a model of what the fast solver finds impossible");
        *lock(&self.dispute) = Some(dispute.clone());
        Unknown::Failed(dispute)
    }

    /// Whether there is no model of the assertions and assumptions, which the fast solver said.
    fn confirmed(&self, terms: &mut Terms, asserted: &[Term], assumptions: &[Term]) -> Result<(), Unknown> {
        let mut plain = PlainSolver::new();
        plain.set_limits(self.plain_limits());
        asserted.iter().for_each(|t| plain.assert(terms, *t));
        match plain.check(terms, assumptions) {
            Answer::Unsat => lock(&self.tally).proved += 1,
            Answer::Unknown(Unknown::Stopped(stop)) => return Err(Unknown::Stopped(stop)),
            Answer::Unknown(_) => lock(&self.tally).searched += 1,
            Answer::Sat => return Err(self.disputed("the plain solver")),
        }
        self.crossed(terms, asserted, assumptions)
    }

    /// The same question to another solver, if one was named.
    fn crossed(&self, terms: &mut Terms, asserted: &[Term], assumptions: &[Term]) -> Result<(), Unknown> {
        let Some(program) = &self.other else { return Ok(()) };
        let mut other = ProcessSolver::new(program.clone());
        other.set_limits(self.limits());
        asserted.iter().for_each(|t| other.assert(terms, *t));
        match other.check(terms, assumptions) {
            Answer::Unsat => lock(&self.tally).crossed += 1,
            Answer::Unknown(Unknown::Stopped(stop)) => return Err(Unknown::Stopped(stop)),
            Answer::Unknown(why) => {
                tracing::warn!("cross-check: {why}");
                lock(&self.tally).not_crossed += 1;
            }
            Answer::Sat => return Err(self.disputed(&format!("`{}`", program.path))),
        }
        Ok(())
    }

    /// Decides a question by the plain solver alone, in a pool of its own: whether a proof is searched
    /// or repeated leaves no trace in the terms.
    fn plainly(&self, terms: &Terms, asserted: &[Term], assumptions: &[Term]) -> Result<Decided, Unknown> {
        let mut own = terms.clone();
        let mut plain = PlainSolver::new();
        plain.set_limits(self.plain_limits());
        asserted.iter().for_each(|t| plain.assert(&mut own, *t));
        let given = match &mut *lock(&self.mode) {
            Mode::Repeat(record) => match record.pop_front() {
                None => return Err(Unknown::Failed("the record ends too early".into())),
                Some(given) => given,
            },
            _ => None,
        };
        if let Some(refutation) = given {
            plain.confirm(&mut own, assumptions, &refutation)?;
            lock(&self.tally).proved += 1;
            return Ok(Decided::Unsat(assumptions.to_vec()));
        }
        let answer = plain.check(&mut own, assumptions);
        if let Mode::Record(record) = &mut *lock(&self.mode) {
            record.push(plain.refutation());
        }
        match answer {
            Answer::Unsat => {
                lock(&self.tally).proved += 1;
                Ok(Decided::Unsat(assumptions.to_vec()))
            }
            Answer::Sat => Ok(Decided::Sat(plain.model(&mut own).unwrap_or_default())),
            Answer::Unknown(why) => Err(why),
        }
    }
}

/// What the plain solver says alone.
enum Decided {
    Sat(Model),
    /// To blame are all assumptions, whether a proof was searched or repeated.
    Unsat(Vec<Term>),
}

/// Who answers.
enum Who {
    Fast(Box<BvSolver>),
    Plain(Box<PlainSolver>),
    /// The plain solver, which starts anew for each question, and what it said last.
    Record(Option<Decided>),
}

/// A solver of a [`Court`].
pub struct Juror<'c> {
    court: &'c Court,
    who: Who,
    /// Assertions of the open levels.
    levels: Vec<Vec<Term>>,
}

impl Juror<'_> {
    /// The solver that keeps its assertions, if one does.
    fn solver(&mut self) -> Option<&mut dyn Solver> {
        match &mut self.who {
            Who::Fast(fast) => Some(fast.as_mut()),
            Who::Plain(plain) => Some(plain.as_mut()),
            Who::Record(_) => None,
        }
    }
}

impl Solver for Juror<'_> {
    fn assert(&mut self, terms: &mut Terms, t: Term) {
        self.levels.last_mut().expect("there is always a level").push(t);
        if let Some(solver) = self.solver() {
            solver.assert(terms, t);
        }
    }

    fn push(&mut self) {
        self.levels.push(Vec::new());
        if let Some(solver) = self.solver() {
            solver.push();
        }
    }

    fn pop(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
            if let Some(solver) = self.solver() {
                solver.pop();
            }
        }
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        let asserted = || -> Vec<Term> { self.levels.iter().flatten().copied().collect() };
        match &mut self.who {
            Who::Fast(fast) => {
                let answer = fast.check(terms, assumptions);
                if answer != Answer::Unsat || !matches!(*lock(&self.court.mode), Mode::Confirm) {
                    return answer;
                }
                match self.court.confirmed(terms, &asserted(), assumptions) {
                    Ok(()) => Answer::Unsat,
                    Err(why) => Answer::Unknown(why),
                }
            }
            Who::Plain(plain) => {
                let answer = plain.check(terms, assumptions);
                lock(&self.court.tally).proved += usize::from(answer == Answer::Unsat);
                answer
            }
            Who::Record(last) => match self.court.plainly(terms, &asserted(), assumptions) {
                Ok(decided) => {
                    let answer = if matches!(decided, Decided::Sat(_)) { Answer::Sat } else { Answer::Unsat };
                    *last = Some(decided);
                    answer
                }
                Err(why) => Answer::Unknown(why),
            },
        }
    }

    fn model(&mut self, terms: &mut Terms) -> Option<Model> {
        match &mut self.who {
            Who::Fast(fast) => fast.model(terms),
            Who::Plain(plain) => plain.model(terms),
            Who::Record(Some(Decided::Sat(model))) => Some(model.clone()),
            Who::Record(_) => None,
        }
    }

    fn unsat_core(&self) -> Vec<Term> {
        match &self.who {
            Who::Fast(fast) => fast.unsat_core(),
            Who::Plain(plain) => plain.unsat_core(),
            Who::Record(Some(Decided::Unsat(core))) => core.clone(),
            Who::Record(_) => Vec::new(),
        }
    }

    fn set_limits(&mut self, limits: Limits) {
        if let Some(solver) = self.solver() {
            solver.set_limits(limits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_logic::Sort;

    /// A question without a model, one with one, and one without again, which needs arrays.
    fn ask(court: &Court) -> Vec<Answer> {
        let s = &mut Terms::new();
        let (x, y) = (s.var("x", Sort::BitVec(16)), s.var("y", Sort::BitVec(16)));
        let a = s.var("a", Sort::Array { index: 16, elem: 16 });
        let (below, above) = (s.ult(x, y), s.ult(y, x));
        let (b, c) = (s.store(a, x, y), s.store(a, y, x));
        let (u, v) = (s.select(b, y), s.select(c, x));
        let (far, same) = (s.ne(x, y), s.eq(u, v));
        let differ = s.not(same);
        let swapped = s.eq(u, x);
        let mut solver = court.solver();
        let mut answers = vec![solver.check(s, &[below, above])];
        solver.push();
        solver.assert(s, far);
        answers.push(solver.check(s, &[differ]));
        if answers[1] == Answer::Sat {
            let model = solver.model(s).expect("there is a model");
            assert_eq!(s.evaluate(differ, &model), palisade_logic::Value::Bool(true));
        }
        solver.pop();
        let near = s.not(far);
        let other = s.not(swapped);
        answers.push(solver.check(s, &[near, other]));
        answers
    }

    #[test]
    fn answers_are_confirmed_recorded_and_repeated() {
        let budget = Budget::unlimited();
        let expected = [Answer::Unsat, Answer::Sat, Answer::Unsat];
        let court = Court::new(&budget);
        assert_eq!(ask(&court), expected);
        assert_eq!(court.tally(), Tally::default());
        for court in [Court::confirming(&budget), Court::plain(&budget)] {
            assert_eq!(ask(&court), expected);
            assert_eq!(court.tally(), Tally { proved: 2, ..Tally::default() });
        }
        let court = Court::recording(&budget);
        assert_eq!(ask(&court), expected);
        let record = court.record();
        assert_eq!(record.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);
        let court = Court::repeating(&budget, record.clone());
        assert_eq!(ask(&court), expected);
        assert_eq!(court.tally().proved, 2);
        assert!(court.record().is_empty(), "all of it was used");
        // Proofs of other questions are refused, and so is a record that is too short.
        let exchanged = vec![record[2].clone(), None, record[0].clone()];
        let answers = ask(&Court::repeating(&budget, exchanged));
        assert!(matches!(answers[0], Answer::Unknown(_)) && matches!(answers[2], Answer::Unknown(_)));
        assert!(matches!(ask(&Court::repeating(&budget, record[..2].to_vec()))[2], Answer::Unknown(_)));
    }

    /// What the fast solver is said to have found impossible has a model.
    #[test]
    fn contradiction_by_the_plain_solver_is_noticed() {
        let s = &mut Terms::new();
        let (x, y) = (s.var("x", Sort::BitVec(16)), s.var("y", Sort::BitVec(16)));
        let below = s.ult(x, y);
        let court = Court::confirming(&Budget::unlimited());
        assert!(court.confirmed(s, &[below], &[]).is_err());
        assert!(court.dispute().is_some());
    }

    #[test]
    fn another_solver_is_asked_and_contradiction_is_noticed() {
        let program = |text: &str| Program { path: "sh".into(), args: vec!["-c".into(), text.into()] };
        let budget = Budget::unlimited();
        // Programs that read all and always say the same.
        let always = |word: &str| {
            program(&format!(
                "while read l; do case $l in *check-sat*) echo {word};; *get-unsat*) echo '()';; esac; done"
            ))
        };
        let court = Court::confirming(&budget).with_other(Some(always("unsat")));
        assert_eq!(ask(&court), [Answer::Unsat, Answer::Sat, Answer::Unsat]);
        assert_eq!(court.tally().crossed, 2);
        let court = Court::confirming(&budget).with_other(Some(always("sat")));
        assert!(matches!(&ask(&court)[..], [Answer::Unknown(_), Answer::Sat, Answer::Unknown(_)]));
        assert!(court.dispute().is_some());
        let court = Court::confirming(&budget).with_other(Some(always("unknown")));
        assert_eq!(ask(&court), [Answer::Unsat, Answer::Sat, Answer::Unsat]);
        assert_eq!((court.tally().crossed, court.tally().not_crossed), (0, 2));
    }
}
