//! Parses the files given on the command line and reports what was accepted, and how fast.
//!
//! `cargo run --release -p palisade-c-syntax --example parse -- [-v] [-r REPEAT] FILES…`; `-v`
//! prints every diagnostic, `-r` parses each file several times and takes the best time.

use palisade_base::SourceMap;
use palisade_c_syntax::{Interner, parse};
use std::time::{Duration, Instant};

fn main() {
    let (mut verbose, mut repeat, mut files) = (false, 1, Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-v" => verbose = true,
            "-r" => repeat = args.next().and_then(|n| n.parse().ok()).unwrap_or(1),
            _ => files.push(arg),
        }
    }
    let (mut accepted, mut rejected, mut bytes, mut time) = (0, 0, 0, Duration::ZERO);
    for name in &files {
        let text = match std::fs::read(name) {
            Ok(raw) => String::from_utf8_lossy(&raw).into_owned(),
            Err(error) => {
                eprintln!("{name}: {error}");
                rejected += 1;
                continue;
            }
        };
        bytes += text.len();
        let mut best = Duration::MAX;
        let mut result = None;
        for _ in 0..repeat {
            let mut map = SourceMap::new();
            let Some(file) = map.add(name, text.clone()) else { continue };
            let mut interner = Interner::new();
            let start = Instant::now();
            let (_unit, diags) = parse(&mut map, file, &mut interner);
            best = best.min(start.elapsed());
            result = Some((map, diags));
        }
        let Some((map, diags)) = result else { continue };
        time += best;
        if diags.iter().any(|d| d.is_error()) {
            rejected += 1;
            println!("rejected {name}");
        } else {
            accepted += 1;
        }
        for diag in diags.iter().filter(|d| verbose || d.is_error()) {
            let at = map
                .position(diag.span)
                .map_or(String::new(), |p| format!("{}:{}:{}", p.file, p.line, p.column));
            println!("  {at}: {:?}: {}", diag.severity, diag.message);
        }
    }
    let speed = bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    println!("{accepted} accepted, {rejected} rejected, {bytes} bytes, {speed:.1} MB/s");
}
