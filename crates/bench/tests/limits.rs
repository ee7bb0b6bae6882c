//! Limits on a piece of work. A program of one thread, because the work runs in a copy of the process.

use palisade_bench::child::{Ended, Limits, run};
use std::time::Duration;

fn main() {
    let limits = Limits { time: Duration::from_millis(300), memory: 64 << 20 };
    let ends = |work: fn() -> String| run(limits, work).expect("processes can be made");
    assert_eq!(ends(|| "7 8".into()), Ended::Done("7 8".into()));
    let panics: fn() -> String = || panic!("on purpose");
    assert_eq!(ends(panics), Ended::Failed("panic".into()));
    let crashes: fn() -> String = || {
        // SAFETY: ends the process by a signal, which is what is tested.
        unsafe { libc::raise(libc::SIGKILL) };
        String::new()
    };
    assert_eq!(ends(crashes), Ended::Failed("signal 9".into()));
    let works_forever: fn() -> String = || {
        let mut n = 0u64;
        while std::hint::black_box(n) < u64::MAX {
            n += 1;
        }
        String::new()
    };
    assert_eq!(ends(works_forever), Ended::OutOfTime);
    let takes_all: fn() -> String = || {
        let mut all: Vec<Vec<u8>> = Vec::new();
        loop {
            all.push(std::hint::black_box(vec![1; 1 << 20]));
        }
    };
    assert_eq!(ends(takes_all), Ended::OutOfMemory);
}
