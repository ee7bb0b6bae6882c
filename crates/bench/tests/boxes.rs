//! A fixed sample of 300 generated functions through `bench boxes`. A program of one thread, because every
//! function is analysed in a copy of the process.

use palisade_bench::boxes::{Domain, Limits, Outcome, Proof, Row, Setup, Table, measure};
use palisade_cfa::DataModel;
use std::fmt::Write;
use std::time::Duration;

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

const VARS: [&str; 8] = ["a", "b", "i", "j", "flag", "s.x", "s.y", "count"];

fn var(r: &mut Rng) -> &'static str {
    VARS[r.below(VARS.len() as u64) as usize]
}

fn value(r: &mut Rng) -> String {
    match r.below(6) {
        0 => format!("{} + {}", var(r), r.below(9)),
        1 => format!("{} - {}", var(r), var(r)),
        2 => "input()".into(),
        3 => format!("table[{} & 7]", var(r)),
        _ => format!("{}", r.below(20)),
    }
}

fn condition(r: &mut Rng) -> String {
    let op = ["<", "<=", "==", "!=", ">"][r.below(5) as usize];
    match r.below(4) {
        0 => format!("{} {op} {}", var(r), var(r)),
        1 => format!("{} {op} {} && {}", var(r), r.below(30), var(r)),
        _ => format!("{} {op} {}", var(r), r.below(30)),
    }
}

/// Statements of a nesting depth.
fn block(r: &mut Rng, depth: u64, out: &mut String) {
    for _ in 0..2 + r.below(3) {
        let (v, c) = (var(r), condition(r));
        match r.below(7) {
            0 if depth > 0 => {
                let _ = writeln!(out, "for ({v} = 0; {v} < {}; {v}++) {{", 1 + r.below(40));
                block(r, depth - 1, out);
                out.push_str("}\n");
            }
            1 if depth > 0 => {
                let _ = writeln!(out, "while ({c}) {{");
                block(r, depth - 1, out);
                out.push_str("}\n");
            }
            2 | 3 if depth > 0 => {
                let _ = writeln!(out, "if ({c}) {{");
                block(r, depth - 1, out);
                out.push_str("} else {\n");
                block(r, depth - 1, out);
                out.push_str("}\n");
            }
            4 => {
                let _ =
                    writeln!(out, "switch ({v}) {{ case 0: a = 1; break; case 1: a = 5; default: b = a; }}");
            }
            5 => {
                let _ = writeln!(out, "{v} = helper({}, {});", var(r), r.below(5));
            }
            _ => {
                let _ = writeln!(out, "{v} = {};", value(r));
            }
        }
    }
}

fn program(functions: usize) -> String {
    let mut out = String::from(
        "int input(void);\nstatic int count;\nstatic int table[8];\n\
         static int helper(int x, int y) { return x > y ? x - y : y; }\n",
    );
    let mut r = Rng(2010);
    for n in 0..functions {
        let _ = writeln!(
            out,
            "int f{n}(int a, int b) {{ int i = 0, j = 1, flag = 0; struct {{ int x, y; }} s = {{ 2, 3 }};"
        );
        let depth = 1 + r.below(2);
        block(&mut r, depth, &mut out);
        out.push_str("return a + flag; }\n");
    }
    out
}

fn main() {
    let mut setup = Setup {
        data_model: DataModel::Lp64,
        limits: Limits { time: Duration::from_secs(60), memory: 512 << 20 },
        peer_time: Duration::ZERO,
        domains: vec![Domain::LddBox, Domain::LddBoxes],
        one_in: 1,
        peers_one_in: 1,
        proofs_one_in: 3,
        seen: Default::default(),
    };
    let mut rows: Vec<Row> = Vec::new();
    measure(&mut setup, "sample", "sample.i", program(299), &mut |row| rows.push(row)).expect("it is C");
    // The functions and their helper.
    assert_eq!(rows.len(), 300);
    let mut states = 0;
    for row in &rows {
        for outcome in row.outcomes.iter().flatten() {
            assert!(!matches!(outcome, Outcome::Failed(_)), "{}: {outcome:?}", row.name);
        }
        for domain in [Domain::LddBox, Domain::LddBoxes] {
            let solved = row.solved(domain).unwrap_or_else(|| panic!("{} on {}", domain.name(), row.name));
            states += solved.states;
        }
    }
    assert!(states > 10_000, "{states} states of random runs");
    let proved = |d: Domain| -> usize {
        rows.iter().filter_map(|r| r.solved(d)).map(|s| s.proved.iter().filter(|p| **p).count()).sum()
    };
    assert!(proved(Domain::LddBoxes) >= proved(Domain::LddBox));
    let proofs: Vec<Proof> = rows.iter().filter_map(|r| r.proof).collect();
    let shown = proofs.iter().filter(|p| **p == Proof::Shown).count();
    assert!(proofs.iter().all(|p| matches!(p, Proof::Shown | Proof::Open)), "{proofs:?}");
    assert!(shown >= 50 && shown * 10 >= proofs.len() * 9, "{shown} of {} are shown", proofs.len());
    println!("{}", Table { rows });
}
