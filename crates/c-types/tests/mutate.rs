//! Damaged programs must be answered with messages, never with a panic.

mod common;

use common::programs::{INVALID, NEWER, VALID};
use common::{Rng, check};
use palisade_cfa::DataModel;

const ROUNDS: usize = 20_000;

/// Splits a text roughly into tokens; what separates them stays with the token before.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let end = end + rest[end..].find(|c: char| !c.is_whitespace()).unwrap_or(rest.len() - end);
        out.push(&rest[..end]);
        rest = &rest[end..];
    }
    out
}

#[test]
fn damaged_programs_do_not_panic() {
    let mut rng = Rng(0x5eed_5eed_5eed_5eed);
    let sources: Vec<Vec<&str>> = VALID.iter().chain(NEWER).chain(INVALID).map(|t| tokens(t)).collect();
    for round in 0..ROUNDS {
        let mut program = sources[rng.below(sources.len())].clone();
        for _ in 0..1 + rng.below(4) {
            let other = &sources[rng.below(sources.len())];
            let at = rng.below(program.len() + 1);
            match rng.below(5) {
                0 if at < program.len() => {
                    program.remove(at);
                }
                1 if at < program.len() => program[at] = other[rng.below(other.len())],
                2 => program.insert(at, other[rng.below(other.len())]),
                3 if at < program.len() => {
                    let with = rng.below(program.len());
                    program.swap(at, with);
                }
                _ => {
                    let from = rng.below(other.len());
                    let to = from + rng.below(other.len() - from + 1);
                    program.splice(at..at, other[from..to].iter().copied());
                }
            }
        }
        let text: String = program.concat();
        let model = if round % 2 == 0 { DataModel::Lp64 } else { DataModel::Ilp32 };
        if std::panic::catch_unwind(|| check(&[&text], model)).is_err() {
            panic!("round {round}: {text}");
        }
    }
}
