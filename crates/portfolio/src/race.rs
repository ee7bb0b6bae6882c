//! Several computations race, and share the processors by turns.
//!
//! Each has a thread of its own. As many as there are processors run at a time; the others wait in the
//! next look at their budget ([`Budget::pause`]), so a turn that ends loses no work. Those who often settle a task at
//! once have a short turn first, one after the other, so that what is easily found is found by the same one every
//! time. Then turns are given by stride scheduling: the next is who had the least time in relation to its weight. Who
//! goes on after its turn pays for that, too. A processor is rather left alone than given to who already had its
//! share: time limits are about processor time, and there may be many to share it. Who is about to finish may ask the
//! others to wait.

use palisade_base::{Budget, Stop};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What somebody who takes part does, with its own budget; `Some` wins the race. The function that it is given
/// asks the others to wait, for a while.
pub type Work<'a, T> = Box<dyn FnOnce(&Budget, &dyn Fn()) -> Option<T> + Send + 'a>;

/// Somebody who takes part.
pub struct Runner<'a, T> {
    /// For the thread.
    pub name: &'a str,
    /// Its share of the time in relation to the others'.
    pub weight: u32,
    /// Those who have any of this have their first turn before others, those who have more the earlier.
    pub at_once: u32,
    /// What it does.
    pub work: Work<'a, T>,
}

/// The length of a turn, and of the first, in processor time.
const TURN: Duration = Duration::from_millis(100);
const FIRST: Duration = Duration::from_millis(20);
/// A turn takes at most so many times its length, for who waits for somebody or finds the processors busy.
const LATE: u32 = 4;
/// How many turns the others wait for somebody who asks them to: as many as it had, within these bounds.
const TURNS_ALONE: (u32, u32) = (10, 40);
/// The stack of a thread: encoding recurses over the nesting of expressions, which the parser bounds.
const STACK_BYTES: usize = 64 << 20;

/// What somebody tells.
enum Report<T> {
    /// The others should wait.
    Alone,
    /// It is over.
    Done(Option<T>),
}

/// Where somebody stands.
enum State<'a, T> {
    /// Not started.
    New(&'a str, Work<'a, T>),
    Waiting,
    Running,
    Done,
}

/// The processor time of a thread, where the system tells.
#[derive(Clone, Default)]
pub struct Meter(Arc<Mutex<Metered>>);

#[derive(Default)]
enum Metered {
    #[default]
    Nothing,
    /// The thread runs, and its time stands there.
    In(PathBuf),
    /// It has ended after this time.
    Ended(Duration),
}

impl Meter {
    /// Measures this thread while it does something.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        // Some systems have no such file; then nothing is told.
        let file =
            std::fs::read_link("/proc/thread-self").map(|l| PathBuf::from("/proc").join(l).join("schedstat"));
        let before = file.as_ref().ok().and_then(read).unwrap_or_default();
        if let Ok(file) = file {
            self.set(Metered::In(file));
        }
        let result = work();
        if let Some(time) = self.time() {
            self.set(Metered::Ended(time.saturating_sub(before)));
        }
        result
    }

    fn set(&self, metered: Metered) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = metered;
    }

    /// The time of the thread until now, or that of the work once it is over.
    pub fn time(&self) -> Option<Duration> {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Metered::Nothing => None,
            Metered::In(file) => read(file),
            Metered::Ended(time) => Some(*time),
        }
    }
}

/// The first number of the file is nanoseconds on a processor.
fn read(file: &PathBuf) -> Option<Duration> {
    let text = std::fs::read_to_string(file).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

struct Racer<'a, T> {
    state: State<'a, T>,
    /// The turns it was given.
    given: Duration,
    meter: Meter,
    /// What the meter said when its turn began.
    before: Duration,
    weight: f64,
    at_once: u32,
    budget: Budget,
}

impl<T> Racer<'_, T> {
    fn is_new(&self) -> bool {
        matches!(self.state, State::New(..))
    }

    fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }

    /// Whether it has used up a turn of this length, as far as that can be told.
    fn has_used(&self, turn: Duration) -> bool {
        self.meter.time().is_none_or(|now| now.saturating_sub(self.before) >= turn)
    }

    /// What it paid after another turn, by its weight: the time that it used, or what it was given, for who waits
    /// for others must not keep them from running.
    fn price(&self) -> f64 {
        let used = self.meter.time().unwrap_or_default().max(self.given);
        let turn = if self.is_new() { FIRST } else { TURN };
        (used + turn).as_secs_f64() / self.weight
    }
}

/// Runs all until the first result, or until the budget is stopped. Afterwards the budget is stopped. Tells also how
/// much processor time each used.
pub fn race<T: Send>(runners: Vec<Runner<'_, T>>, budget: &Budget) -> (Option<T>, Vec<Duration>) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (report, reports) = mpsc::channel();
    let mut all: Vec<Racer<'_, T>> = Vec::new();
    for Runner { name, weight, at_once, work } in runners {
        all.push(Racer {
            state: State::New(name, work),
            given: Duration::ZERO,
            meter: Meter::default(),
            before: Duration::ZERO,
            weight: f64::from(u32::max(weight, 1)),
            at_once,
            budget: budget.child(),
        });
    }
    let result = std::thread::scope(|scope| {
        let mut result = None;
        // Who asked the others to wait, and for how many turns more they do.
        let mut alone: Option<(usize, u32)> = None;
        let mut late = 0;
        while result.is_none() && budget.stopped().is_none() {
            while let (None, Some(i)) = (alone, next(&all)) {
                let running = all.iter().filter(|r| r.is_running()).count();
                if running >= if all[i].is_new() { 1 } else { processors } || !is_due(&all, i) {
                    break;
                }
                late = 0;
                let next = &mut all[i];
                next.before = next.meter.time().unwrap_or_default();
                next.budget.resume();
                if let State::New(name, work) = std::mem::replace(&mut next.state, State::Running) {
                    let (own, report, meter) = (next.budget.clone(), report.clone(), next.meter.clone());
                    let run = move || {
                        let tell = |what| drop(report.send((i, what)));
                        let found = meter.during(|| work(&own, &|| tell(Report::Alone)));
                        tell(Report::Done(found));
                    };
                    let builder = std::thread::Builder::new().name(name.into()).stack_size(STACK_BYTES);
                    if let Err(error) = builder.spawn_scoped(scope, run) {
                        tracing::warn!("the engine {name} could not be started: {error}");
                        next.state = State::Done;
                    }
                }
            }
            if !all.iter().any(Racer::is_running) {
                break;
            }
            let first = all.iter().any(|r| r.is_running() && r.given.is_zero());
            let turn = if first && alone.is_none() { FIRST } else { TURN };
            let rest = |all: &mut [Racer<'_, T>], but: Option<usize>| {
                let running = all.iter_mut().enumerate().filter(|(i, r)| r.is_running() && Some(*i) != but);
                for (_, r) in running {
                    r.state = State::Waiting;
                    r.given += turn;
                    r.budget.pause();
                }
            };
            match (reports.recv_timeout(turn), &mut alone) {
                (Ok((i, Report::Done(found))), _) => {
                    all[i].state = State::Done;
                    result = found;
                    alone = alone.filter(|(who, _)| *who != i);
                }
                (Ok((i, Report::Alone)), None) => {
                    rest(&mut all, Some(i));
                    all[i].state = State::Running;
                    all[i].budget.resume();
                    let had = all[i].given.as_millis() / TURN.as_millis();
                    let turns = u32::try_from(had).unwrap_or(u32::MAX).clamp(TURNS_ALONE.0, TURNS_ALONE.1);
                    alone = Some((i, turns));
                }
                (Ok((_, Report::Alone)), Some(_)) => {}
                (Err(_), Some((_, turns))) if *turns > 0 => *turns -= 1,
                (Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected), _) => {
                    alone = None;
                    late += 1;
                    if late >= LATE || all.iter().any(|r| r.is_running() && r.has_used(turn)) {
                        rest(&mut all, None);
                    }
                }
            }
        }
        // Everybody goes on, to see that it is over.
        budget.stop(Stop::Cancelled);
        result
    });
    (result, all.iter().map(|r| r.meter.time().unwrap_or(r.given)).collect())
}

/// Whose turn is next: those who may settle it at once, and then who pays least.
fn next<T>(all: &[Racer<'_, T>]) -> Option<usize> {
    let numbered = || all.iter().enumerate();
    // Of equals the heaviest, then the first.
    let heavier = |a: &Racer<'_, T>, b: &Racer<'_, T>| b.weight.total_cmp(&a.weight);
    let at_once = numbered().filter(|(_, r)| r.is_new() && r.at_once > 0);
    let first = at_once.min_by(|(_, a), (_, b)| b.at_once.cmp(&a.at_once).then(heavier(a, b)));
    let cheapest = || {
        let ready = numbered().filter(|(_, r)| matches!(r.state, State::New(..) | State::Waiting));
        let priced = ready.map(|(i, r)| (i, r, r.price()));
        priced.min_by(|(_, a, of_a), (_, b, of_b)| of_a.total_cmp(of_b).then(heavier(a, b))).map(|(i, ..)| i)
    };
    first.map(|(i, _)| i).or_else(cheapest)
}

/// Whether it would also be the next if there were one processor only, and who runs had had its turn.
fn is_due<T>(all: &[Racer<'_, T>], i: usize) -> bool {
    let after_this_turn = |r: &Racer<'_, T>| r.price() + TURN.as_secs_f64() / r.weight;
    all.iter().filter(|r| r.is_running()).all(|r| all[i].price() <= after_this_turn(r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn runner<'a, T>(weight: u32, work: impl FnOnce(&Budget) -> Option<T> + Send + 'a) -> Runner<'a, T> {
        Runner { name: "test", weight, at_once: 0, work: Box::new(|budget, _| work(budget)) }
    }

    #[test]
    fn the_first_result_ends_the_race() {
        let forever = || {
            runner(1, |budget: &Budget| {
                while budget.stopped().is_none() {
                    std::thread::yield_now();
                }
                None
            })
        };
        let quick = runner(1, |_: &Budget| Some(7));
        let budget = Budget::unlimited();
        let runners = vec![forever(), forever(), forever(), runner(1, |_| None), quick];
        assert_eq!(race(runners, &budget).0, Some(7));
        assert_eq!(budget.stopped(), Some(Stop::Cancelled));
    }

    #[test]
    fn a_race_without_a_result_ends_with_its_runners() {
        assert_eq!(
            race((0..9).map(|_| runner(1, |_: &Budget| None::<u8>)).collect(), &Budget::unlimited()).0,
            None
        );
    }

    #[test]
    fn the_others_wait_for_who_asks_them_to() {
        let counter = AtomicU64::new(0);
        let other = || {
            runner(9, |own: &Budget| {
                while own.stopped().is_none() {
                    counter.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                }
                None
            })
        };
        let asks = Box::new(|_: &Budget, alone: &dyn Fn()| {
            std::thread::sleep(3 * TURN);
            alone();
            std::thread::sleep(TURN);
            let before = counter.load(Ordering::Relaxed);
            std::thread::sleep(5 * TURN);
            Some(counter.load(Ordering::Relaxed) - before)
        });
        let asks = Runner { name: "asks", weight: 1, at_once: 0, work: asks };
        assert_eq!(race(vec![asks, other(), other(), other()], &Budget::unlimited()).0, Some(0));
        assert!(counter.load(Ordering::Relaxed) > 0);
    }

    /// Also where there is a processor for everybody.
    #[test]
    fn nobody_gets_more_than_its_share() {
        let budget = Budget::unlimited();
        let runners = [8, 1].map(|weight| {
            runner(weight, |own: &Budget| {
                while own.stopped().is_none() {
                    std::hint::spin_loop();
                }
                None::<()>
            })
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(4));
                budget.stop(Stop::Time);
            });
            let (_, times) = race(runners.into(), &budget);
            assert!(times[1] > Duration::ZERO && times[0] > 4 * times[1], "{times:?}");
        });
    }

    #[test]
    fn time_is_shared_by_weight() {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let counters: Vec<AtomicU64> = (0..2 * processors).map(|_| AtomicU64::new(0)).collect();
        let budget = Budget::unlimited();
        let runners = counters.iter().enumerate().map(|(i, counter)| {
            // Two kinds, one of which is to have four times as much.
            runner(if i % 2 == 0 { 4 } else { 1 }, |own: &Budget| {
                while own.stopped().is_none() {
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                None::<()>
            })
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_secs(4));
                budget.stop(Stop::Time);
            });
            let (_, times) = race(runners.collect(), &budget);
            assert!(times[0] > 2 * times[1], "{times:?}");
        });
        let sum = |odd| counters.iter().skip(odd).step_by(2).map(|c| c.load(Ordering::Relaxed)).sum::<u64>();
        let (heavy, light) = (sum(0), sum(1));
        assert!(light > 0 && heavy > 2 * light, "{heavy} and {light}");
    }
}
