//! Random scripts against z3 and cvc5: the answers must agree, every model must satisfy its
//! assertions and every core must be unsatisfiable, both in z3's eyes.
//!
//! `PALISADE_FUZZ=20000` runs that many formulas, `PALISADE_FUZZ_SEED` sets the first seed.

mod common;

use common::generate::{Script, Step, script};
use common::peer::Peer;
use palisade_logic::Limits;
use palisade_logic::smtlib;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// What one run did.
#[derive(Default)]
struct Tally {
    checks: usize,
    sat: usize,
    unsat: usize,
    undecided: usize,
    models: usize,
    cores: usize,
}

/// The script for the other solvers: old spelling or new, no names.
fn plain(script: &Script, new: bool) -> String {
    let mut out = script.declarations.clone();
    for step in &script.steps {
        out += &match step {
            Step::Assert(t) => format!("(assert {})\n", if new { &t.new } else { &t.old }),
            Step::Push => "(push 1)\n".to_owned(),
            Step::Pop => "(pop 1)\n".to_owned(),
            Step::Check(literals) if literals.is_empty() => "(check-sat)\n".to_owned(),
            Step::Check(literals) => format!("(check-sat-assuming ({}))\n", literals.join(" ")),
        };
    }
    out
}

/// The script for us: every assertion named, and after each check the question that fits.
fn ours(script: &Script, answers: &[String]) -> String {
    let mut out = format!("(set-option :produce-unsat-cores true)\n{}", script.declarations);
    let mut answers = answers.iter();
    for (i, step) in script.steps.iter().enumerate() {
        out += &match step {
            Step::Assert(t) => format!("(assert (! {} :named n{i}))\n", t.new),
            Step::Push => "(push 1)\n".to_owned(),
            Step::Pop => "(pop 1)\n".to_owned(),
            Step::Check(literals) => {
                let question = match answers.next().map(String::as_str) {
                    Some("sat") => "(get-model)",
                    Some("unsat") => "(get-unsat-core)(get-unsat-assumptions)",
                    _ => "",
                };
                format!("(check-sat-assuming ({})){question}\n(echo \"finished\")\n", literals.join(" "))
            }
        };
    }
    out
}

fn run(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let limits = Limits { conflicts: Some(30_000), memory: Some(1 << 30), ..Limits::default() };
    let status = smtlib::run(text.as_bytes(), "fuzz", &mut out, &limits);
    let out = String::from_utf8(out).expect("output is UTF-8");
    assert_eq!(status, smtlib::OK, "{out}\n{text}");
    out.lines().map(str::to_owned).collect()
}

/// For each check, the script that must be satisfiable (a model) or unsatisfiable (a core).
fn verifications(script: &Script, output: &[String]) -> Vec<(bool, String)> {
    let mut out = Vec::new();
    let mut checks = output.split(|line| line == "\"finished\"");
    let mut active: Vec<Vec<usize>> = vec![Vec::new()];
    for (i, step) in script.steps.iter().enumerate() {
        match step {
            Step::Assert(_) => active.last_mut().expect("a level").push(i),
            Step::Push => active.push(Vec::new()),
            Step::Pop => drop(active.pop()),
            Step::Check(literals) => {
                let answer = checks.next().expect("an answer for each check");
                let assertion = |i: usize| match &script.steps[i] {
                    Step::Assert(t) => format!("(assert {})\n", t.old),
                    _ => unreachable!("an assertion"),
                };
                match answer[0].as_str() {
                    "sat" => {
                        let mut text: String = answer[2..answer.len() - 1].join("\n");
                        active.iter().flatten().for_each(|i| text += &assertion(*i));
                        literals.iter().for_each(|l| text += &format!("(assert {l})\n"));
                        out.push((true, text + "(check-sat)\n"));
                    }
                    "unsat" => {
                        let mut text = script.declarations.clone();
                        let list = |line: &str| line[1..line.len() - 1].to_owned();
                        for name in list(&answer[1]).split_whitespace() {
                            text += &assertion(name[1..].parse().expect("a name of ours"));
                        }
                        let assumed = list(&answer[2]);
                        if !assumed.is_empty() {
                            text += &format!("(assert (and {assumed} true))\n");
                        }
                        out.push((false, text + "(check-sat)\n"));
                    }
                    _ => {}
                }
            }
        }
    }
    out
}

const Z3: &str = "(set-option :timeout 2000)";
const CVC5: &str = "(set-logic QF_AUFBV)";

fn one(seed: u64, z3: &mut Peer, cvc5: &mut Peer, tally: &mut Tally) {
    let script = script(seed);
    let (old, new) = (plain(&script, false), plain(&script, true));
    // Early versions of cvc5 have the new predicates except this one.
    let for_cvc5 = if new.contains("bvnego") { &old } else { &new };
    z3.send(Z3, &old);
    cvc5.send(CVC5, for_cvc5);
    let own = run(&new);
    for (peer, name, text) in [(&mut *z3, "z3", &old), (cvc5, "cvc5", for_cvc5)] {
        let Some(theirs) = peer.answers(text) else {
            tally.undecided += own.len();
            continue;
        };
        assert_eq!(own.len(), theirs.len(), "seed {seed}, {name}: {theirs:?}\n{text}");
        for (i, (a, b)) in own.iter().zip(&theirs).enumerate() {
            if a == "unknown" || b == "unknown" {
                tally.undecided += 1;
            } else {
                assert_eq!(a, b, "seed {seed}: check {i} against {name}\n{text}");
            }
        }
    }
    tally.checks += own.len();
    tally.sat += own.iter().filter(|a| *a == "sat").count();
    tally.unsat += own.iter().filter(|a| *a == "unsat").count();
    let text = ours(&script, &own);
    for (sat, check) in verifications(&script, &run(&text)) {
        z3.send(Z3, &check);
        let Some(answers) = z3.answers(&check) else { continue };
        match answers.first().map(String::as_str) {
            Some("unknown") => {}
            Some(answer) => {
                let what = if sat { "model" } else { "core" };
                assert_eq!(answer == "sat", sat, "seed {seed}: the {what} is wrong\n{check}\n{text}");
                *(if sat { &mut tally.models } else { &mut tally.cores }) += 1;
            }
            None => panic!("seed {seed}: z3 did not answer\n{check}"),
        }
    }
}

#[test]
fn answers_models_and_cores_agree_with_z3_and_cvc5() {
    let z3 = Peer::start("z3", &["-in"]);
    let cvc5 = Peer::start("cvc5", &["--incremental", "--lang=smt2", "--tlimit-per=2000"]);
    let (Some(mut z3), Some(mut cvc5)) = (z3, cvc5) else {
        eprintln!("skipped: z3 and cvc5 are not both installed");
        return;
    };
    let (count, first) = (setting("PALISADE_FUZZ", 300), setting("PALISADE_FUZZ_SEED", 0));
    let mut tally = Tally::default();
    for seed in first..first + count {
        one(seed, &mut z3, &mut cvc5, &mut tally);
    }
    let Tally { checks, sat, unsat, undecided, models, cores } = tally;
    println!(
        "{count} scripts, {checks} checks: {sat} sat, {unsat} unsat, no disagreement; \
         {models} models and {cores} cores verified; {undecided} comparisons undecided"
    );
}
