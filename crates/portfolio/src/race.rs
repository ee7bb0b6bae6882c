//! Several computations race, and share the processors by turns.
//!
//! Each has a thread of its own. As many as there are processors run at a time; the others wait in the
//! next look at their budget ([`Budget::pause`]), so a turn that ends loses no work. Turns are given
//! by stride scheduling: the next is who had the least time in relation to its weight. Who is about to
//! finish may ask the others to wait.

use palisade_base::{Budget, Stop};
use std::sync::mpsc::{self, RecvTimeoutError};
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
    /// What it does.
    pub work: Work<'a, T>,
}

/// The length of a turn.
const TURN: Duration = Duration::from_millis(100);
/// How many turns the others wait for somebody who asks them to.
const TURNS_ALONE: u32 = 40;
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

struct Racer<'a, T> {
    state: State<'a, T>,
    turns: u32,
    /// Turns had, divided by the weight.
    had: f64,
    weight: f64,
    budget: Budget,
}

impl<T> Racer<'_, T> {
    fn is_ready(&self) -> bool {
        matches!(self.state, State::New(..) | State::Waiting)
    }

    fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }
}

/// Runs all until the first result, or until the budget is stopped. Afterwards the budget is stopped. Tells also how
/// much time each had, to the nearest turn.
pub fn race<T: Send>(runners: Vec<Runner<'_, T>>, budget: &Budget) -> (Option<T>, Vec<Duration>) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let (report, reports) = mpsc::channel();
    std::thread::scope(|scope| {
        let racer = |Runner { name, weight, work }| Racer {
            state: State::New(name, work),
            had: 0.0,
            turns: 0,
            weight: f64::from(u32::max(weight, 1)),
            budget: budget.child(),
        };
        let mut all: Vec<Racer<'_, T>> = runners.into_iter().map(racer).collect();
        let mut result = None;
        // Who asked the others to wait, and for how many turns more they do.
        let mut alone: Option<(usize, u32)> = None;
        while result.is_none() && budget.stopped().is_none() {
            while alone.is_none() && all.iter().filter(|r| r.is_running()).count() < processors {
                let ready = all.iter_mut().enumerate().filter(|(_, r)| r.is_ready());
                let Some((i, next)) = ready.min_by(|(_, a), (_, b)| a.had.total_cmp(&b.had)) else { break };
                next.had += 1.0 / next.weight;
                next.turns += 1;
                next.budget.resume();
                if let State::New(name, work) = std::mem::replace(&mut next.state, State::Running) {
                    let (own, report) = (next.budget.clone(), report.clone());
                    let run = move || {
                        let tell = |what| drop(report.send((i, what)));
                        tell(Report::Done(work(&own, &|| tell(Report::Alone))));
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
            let rest = |all: &mut [Racer<'_, T>], but: Option<usize>| {
                let running = all.iter_mut().enumerate().filter(|(i, r)| r.is_running() && Some(*i) != but);
                for (_, r) in running {
                    r.state = State::Waiting;
                    r.budget.pause();
                }
            };
            match (reports.recv_timeout(TURN), &mut alone) {
                (Ok((i, Report::Done(found))), _) => {
                    all[i].state = State::Done;
                    result = found;
                    alone = alone.filter(|(who, _)| *who != i);
                }
                (Ok((i, Report::Alone)), None) => {
                    rest(&mut all, Some(i));
                    all[i].state = State::Running;
                    all[i].budget.resume();
                    alone = Some((i, TURNS_ALONE));
                }
                (Ok((_, Report::Alone)), Some(_)) => {}
                (Err(_), Some((who, turns))) if *turns > 0 => {
                    *turns -= 1;
                    all[*who].turns += 1;
                }
                (Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected), _) => {
                    alone = None;
                    rest(&mut all, None);
                }
            }
        }
        // Everybody goes on, to see that it is over.
        budget.stop(Stop::Cancelled);
        (result, all.iter().map(|r| TURN * r.turns).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn runner<'a, T>(weight: u32, work: impl FnOnce(&Budget) -> Option<T> + Send + 'a) -> Runner<'a, T> {
        Runner { name: "test", weight, work: Box::new(|budget, _| work(budget)) }
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
        let asks = Runner { name: "asks", weight: 1, work: asks };
        assert_eq!(race(vec![asks, other(), other(), other()], &Budget::unlimited()).0, Some(0));
        assert!(counter.load(Ordering::Relaxed) > 0);
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
                    std::thread::sleep(Duration::from_millis(1));
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
