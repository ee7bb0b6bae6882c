//! CPU time of the thread that is measured: other programs on the machine do not count.

use palisade_base::{Budget, Stop};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

/// The CPU clock of one thread; other threads can read it while that one lives.
#[derive(Clone, Copy)]
pub struct Clock(libc::clockid_t);

impl Clock {
    /// The clock of this thread.
    pub fn of_this_thread() -> Clock {
        let mut clock = libc::CLOCK_THREAD_CPUTIME_ID;
        // SAFETY: `clock` is a live value of the right type; if the call fails it stays what it was.
        unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) };
        Clock(clock)
    }

    /// The time so far.
    pub fn now(self) -> Duration {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `now` is a live value of the right type; if there is no such clock it stays zero.
        unsafe { libc::clock_gettime(self.0, &raw mut now) };
        Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
    }
}

/// The CPU time of all programs that this one has started and waited for.
pub fn of_children() -> Duration {
    // SAFETY: all bytes zero is a value of the type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a live value of the right type; if the call fails it stays zero.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let part =
        |t: libc::timeval| Duration::new(t.tv_sec.unsigned_abs(), t.tv_usec.unsigned_abs() as u32 * 1000);
    part(usage.ru_utime) + part(usage.ru_stime)
}

/// Runs something and measures it.
pub fn timed<R>(run: impl FnOnce() -> R) -> (R, Duration) {
    let clock = Clock::of_this_thread();
    let start = clock.now();
    let out = run();
    (out, clock.now().saturating_sub(start))
}

/// Runs something under a budget that is stopped after a time, and measures it.
pub fn within<R>(limit: Duration, run: impl FnOnce(&Budget) -> R) -> (R, Duration) {
    let budget = Budget::unlimited();
    let alarm = Mutex::new(Some((budget.clone(), limit + Clock::of_this_thread().now())));
    watched(limit, &alarm, || timed(|| run(&budget)))
}

/// A budget and the time of the watched thread at which it is to be stopped.
pub type Alarm = Mutex<Option<(Budget, Duration)>>;

/// Runs something that may set the alarm again and again. It goes off on time if it is always set for at least
/// `least` from then on.
pub fn watched<R>(least: Duration, alarm: &Alarm, run: impl FnOnce() -> R) -> R {
    let clock = Clock::of_this_thread();
    let (done, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut left = least;
            while wait.recv_timeout(left.max(SHORTEST)) == Err(mpsc::RecvTimeoutError::Timeout) {
                let now = clock.now();
                let mut alarm = alarm.lock().unwrap_or_else(PoisonError::into_inner);
                left = match &*alarm {
                    Some((_, at)) if *at > now => *at - now,
                    Some((budget, _)) => {
                        budget.stop(Stop::Time);
                        *alarm = None;
                        least
                    }
                    None => least,
                };
            }
        });
        let out = run();
        drop(done);
        out
    })
}

/// The watcher sleeps at least this long.
const SHORTEST: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_stopped_in_time() {
        // Starting the watcher is part of the limit, but not of what is measured inside.
        let ((stopped, _), time) = timed(|| {
            within(Duration::from_millis(20), |budget| {
                while budget.stopped().is_none() {
                    std::thread::yield_now();
                }
                true
            })
        });
        assert!(stopped && time >= Duration::from_millis(20));
        let (fine, _) = within(Duration::from_secs(100), |budget| budget.stopped().is_none());
        assert!(fine);
    }

    #[test]
    fn each_alarm_goes_off_once() {
        let alarm = Alarm::default();
        let limit = Duration::from_millis(10);
        let stopped = watched(limit, &alarm, || {
            (0..3)
                .map(|_| {
                    let budget = Budget::unlimited();
                    let at = Clock::of_this_thread().now() + limit;
                    *alarm.lock().expect("nobody panics") = Some((budget.clone(), at));
                    while budget.stopped().is_none() {
                        std::thread::yield_now();
                    }
                })
                .count()
        });
        assert_eq!(stopped, 3);
    }
}
