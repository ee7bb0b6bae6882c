//! Watches time, memory and Ctrl-C, and stops the budget before a limit is reached.

use palisade_base::{Budget, Stop};
use std::time::{Duration, Instant};

/// Starts watching. CPU time counts from the start of the process, over all threads.
pub fn watch(budget: &Budget, cpu: Duration, memory: u64) {
    let on_interrupt = budget.clone();
    // Without a handler Ctrl-C ends the process as usual, which is fine too.
    let _ = ctrlc::set_handler(move || on_interrupt.stop(Stop::Interrupt));
    let cpu = cpu.saturating_sub(reserve(cpu));
    let memory = memory.min(address_space_limit()) / 100 * 88;
    stop_when(budget, move || {
        let late = (cpu_time() >= cpu).then_some(Stop::Time);
        late.or_else(|| (memory_in_use() >= memory).then_some(Stop::Memory))
    });
}

/// Stops the budget when so much time has passed on the clock.
pub fn watch_clock(budget: &Budget, wall: Duration) {
    let start = Instant::now();
    let wall = wall.saturating_sub(reserve(wall));
    stop_when(budget, move || (start.elapsed() >= wall).then_some(Stop::Time));
}

/// A budget for a part of a computation: so much CPU time from now on. It ends with the whole too.
pub fn slice(budget: &Budget, cpu: Duration) -> Budget {
    let part = budget.child();
    let end = cpu_time() + cpu;
    stop_when(&part, move || (cpu_time() >= end).then_some(Stop::Time));
    part
}

/// Looks every now and then whether a budget has a reason to end.
fn stop_when(budget: &Budget, reason: impl Fn() -> Option<Stop> + Send + 'static) {
    let budget = budget.clone();
    let watch = move || {
        while budget.stopped().is_none() {
            if let Some(stop) = reason() {
                budget.stop(stop);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    if let Err(error) = std::thread::Builder::new().name("watchdog".into()).spawn(watch) {
        tracing::warn!("limits are not watched: {error}");
    }
}

/// Time kept back for checking what was found and for ending cleanly.
fn reserve(cpu: Duration) -> Duration {
    (cpu / 12).clamp(Duration::from_millis(100), Duration::from_secs(3))
}

/// CPU time of this process so far.
pub fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec, and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32)
}

/// Bytes of memory this process holds: what counts against an address-space limit, or, without
/// one, what is resident.
fn memory_in_use() -> u64 {
    let Ok(text) = std::fs::read_to_string("/proc/self/statm") else { return 0 };
    let mut fields = text.split_whitespace().map(|f| f.parse::<u64>().unwrap_or(0));
    let (size, resident) = (fields.next().unwrap_or(0), fields.next().unwrap_or(0));
    let pages = if address_space_limit() == u64::MAX { resident } else { size };
    pages * 4096
}

/// The limit on the address space that somebody set for this process.
fn address_space_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a live rlimit.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if known && limit.rlim_cur != libc::RLIM_INFINITY { limit.rlim_cur } else { u64::MAX }
}
