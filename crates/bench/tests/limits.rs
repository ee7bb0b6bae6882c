//! Limits on a piece of work, and work that processes share. A program of one thread, because the work runs in
//! copies of the process.

use palisade_bench::child::{Ended, Limits, run, share};
use std::io::{self, Write};
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
    sharing();
}

/// Every number is given to one process, and an error of one of them is told while the others go on.
fn sharing() {
    let path = std::env::temp_dir().join(format!("palisade-share-{}", std::process::id()));
    let log = std::fs::File::options().create(true).append(true).open(&path).expect("writable");
    let given = |fails: Option<usize>| {
        log.set_len(0).expect("writable");
        let shared = share(3, 20_000, |next| {
            while let Some(number) = next()? {
                if Some(number) == fails {
                    return Err(io::Error::other("number seven"));
                }
                (&log).write_all(format!("{number}\n").as_bytes())?;
            }
            Ok(())
        });
        let text = std::fs::read_to_string(&path).expect("it is there");
        let mut numbers: Vec<usize> = text.lines().map(|l| l.parse().expect("a number")).collect();
        numbers.sort_unstable();
        (shared.map_err(|e| e.to_string()), numbers)
    };
    assert_eq!(given(None), (Ok(()), (0..20_000).collect()));
    let but_seven = (0..20_000).filter(|n| *n != 7).collect();
    assert_eq!(given(Some(7)), (Err("number seven".into()), but_seven));
    std::fs::remove_file(&path).expect("it is there");
}
