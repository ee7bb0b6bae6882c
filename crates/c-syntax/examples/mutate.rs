//! Parses mutated programs: `mutate N SEED FILES…` makes `N` of them out of the files.
//!
//! A panic names the seed and number of the text that caused it; a text that takes longer than a
//! second per megabyte is reported as a hang.

use palisade_base::SourceMap;
use palisade_c_syntax::{Interner, parse};
use palisade_testkit::Mutator;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (Some(n), Some(seed)) = (number(args.next()), number(args.next())) else {
        eprintln!("usage: mutate N SEED FILES…");
        return ExitCode::from(2);
    };
    let corpus: Vec<Vec<u8>> = args.filter_map(|name| std::fs::read(name).ok()).collect();
    let mut mutator = Mutator::new(&corpus, seed);
    let (mut accepted, mut rejected, mut bad, mut bytes) = (0u64, 0u64, 0u64, 0);
    for i in 0..n {
        let text = String::from_utf8_lossy(&mutator.next_text()).into_owned();
        bytes += text.len();
        let limit = Duration::from_secs(1) + Duration::from_micros(text.len() as u64);
        let start = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| has_error(text))) {
            Ok(false) => accepted += 1,
            Ok(true) => rejected += 1,
            Err(_) => {
                eprintln!("seed {seed}, text {i}: panic");
                bad += 1;
            }
        }
        if start.elapsed() > limit {
            eprintln!("seed {seed}, text {i}: took {:?}", start.elapsed());
            bad += 1;
        }
    }
    println!("{n} texts, {bytes} bytes: {accepted} accepted, {rejected} rejected, {bad} panicked or hung");
    ExitCode::from(u8::from(bad > 0))
}

fn number(arg: Option<String>) -> Option<u64> {
    arg?.parse().ok()
}

fn has_error(text: String) -> bool {
    let mut map = SourceMap::new();
    let Some(file) = map.add("mutated.c", text) else { return true };
    let (_, diags) = parse(&mut map, file, &mut Interner::new());
    // Rendering needs every span to have a position.
    assert!(diags.iter().all(|d| map.position(d.span).is_some() && map.line_text(d.span).is_some()));
    diags.iter().any(|d| d.is_error())
}
