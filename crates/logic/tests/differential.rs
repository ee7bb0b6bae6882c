//! Random scripts against z3 and cvc5: the answers must agree, every model must satisfy its
//! assertions and every core must be unsatisfiable, both in z3's eyes.
//!
//! z3 4.8.12 is wrong about constant arrays over few indices, so a disagreement is settled by the
//! model of the side that says `sat`: if z3 itself finds that the model does not satisfy the
//! assertions, that answer is withdrawn.
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
    /// Answers of the others that their own model refutes.
    withdrawn: usize,
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
    let limits = Limits { conflicts: Some(10_000), memory: Some(1 << 30), ..Limits::default() };
    let status = smtlib::run(text.as_bytes(), "fuzz", &mut out, &limits);
    let out = String::from_utf8(out).expect("output is UTF-8");
    assert_eq!(status, smtlib::OK, "{out}\n{text}");
    out.lines().map(str::to_owned).collect()
}

/// The assertions and literals that are in force at each check.
fn contexts(script: &Script) -> Vec<(Vec<usize>, &[String])> {
    let mut out = Vec::new();
    let mut active: Vec<Vec<usize>> = vec![Vec::new()];
    for (i, step) in script.steps.iter().enumerate() {
        match step {
            Step::Assert(_) => active.last_mut().expect("a level").push(i),
            Step::Push => active.push(Vec::new()),
            Step::Pop => drop(active.pop()),
            Step::Check(literals) => out.push((active.concat(), literals.as_slice())),
        }
    }
    out
}

/// Assertions by their step numbers and literals, as a script without declarations.
fn claim(script: &Script, steps: &[usize], literals: &[String]) -> String {
    let mut out = String::new();
    for i in steps {
        match &script.steps[*i] {
            Step::Assert(t) => out += &format!("(assert {})\n", t.old),
            _ => unreachable!("an assertion"),
        }
    }
    literals.iter().for_each(|l| out += &format!("(assert {l})\n"));
    out + "(check-sat)\n"
}

/// For each check, a claim that must be satisfiable with the definitions of a model, or
/// unsatisfiable for a core; what comes before the claim is second.
fn verifications(script: &Script, output: &[String]) -> Vec<Option<(bool, String, String)>> {
    let answers = output.split(|line| line == "\"finished\"");
    let list = |line: &str| line[1..line.len() - 1].to_owned();
    let verify = |((steps, literals), answer): ((Vec<usize>, &[String]), &[String])| match answer[0].as_str()
    {
        "sat" => {
            let model = answer[2..answer.len() - 1].join("\n");
            Some((true, model, claim(script, &steps, literals)))
        }
        "unsat" => {
            let names = list(&answer[1]);
            let steps: Vec<usize> =
                names.split_whitespace().map(|n| n[1..].parse().expect("a name of ours")).collect();
            let literals = [format!("(and {} true)", list(&answer[2]))];
            Some((false, script.declarations.clone(), claim(script, &steps, &literals)))
        }
        _ => None,
    };
    contexts(script).into_iter().zip(answers).map(verify).collect()
}

/// The claim with the model that `peer` has for it in place of the declarations.
fn with_model(peer: &mut Peer, prelude: &str, declarations: &str, claim: &str) -> Option<String> {
    let question = format!("{declarations}{claim}(get-model)");
    peer.send(&format!("(set-option :produce-models true)\n{prelude}"), &question);
    let lines = peer.lines(&question)?;
    let model = lines.get(1..)?.join("\n");
    let model = model.trim().strip_prefix('(')?.strip_suffix(')')?;
    // What the model leaves out may be anything.
    let free = declarations.lines().filter(|line| {
        let name = line.split_whitespace().nth(1).expect("a declaration has a name");
        !model.contains(&format!("(define-fun {name} "))
    });
    Some(format!("{}\n{model}\n{claim}", free.collect::<Vec<_>>().join("\n")))
}

/// Whether z3 answers a script with one check as given.
fn z3_says(z3: &mut Peer, question: &str, answer: &str) -> bool {
    z3.send(Z3, question);
    z3.answers(question).is_some_and(|answers| answers == [answer])
}

const Z3: &str = "(set-option :timeout 1000)";
const CVC5: &str = "(set-logic QF_AUFBV)";

fn one(seed: u64, z3: &mut Peer, cvc5: &mut Peer, tally: &mut Tally) {
    let script = script(seed);
    let (old, new) = (plain(&script, false), plain(&script, true));
    // Early versions of cvc5 have the new predicates except this one.
    let for_cvc5 = if new.contains("bvnego") { &old } else { &new };
    z3.send(Z3, &old);
    cvc5.send(CVC5, for_cvc5);
    let own = run(&new);
    let mut disputed: Vec<usize> = Vec::new();
    for is_z3 in [true, false] {
        let (peer, name, prelude, text) =
            if is_z3 { (&mut *z3, "z3", Z3, &old) } else { (&mut *cvc5, "cvc5", CVC5, for_cvc5) };
        let Some(theirs) = peer.answers(text) else {
            tally.undecided += own.len();
            continue;
        };
        assert_eq!(own.len(), theirs.len(), "seed {seed}, {name}: {theirs:?}\n{text}");
        for (i, (a, b)) in own.iter().zip(&theirs).enumerate() {
            match (a.as_str(), b.as_str()) {
                ("unknown", _) | (_, "unknown") => tally.undecided += 1,
                ("sat", "unsat") => disputed.push(i),
                ("unsat", "sat") => {
                    let (steps, literals) = contexts(&script).swap_remove(i);
                    let claim = claim(&script, &steps, literals);
                    let question = with_model(peer, prelude, &script.declarations, &claim);
                    let refuted = question.is_some_and(|q| z3_says(z3, &q, "unsat"));
                    assert!(refuted, "seed {seed}: check {i} is unsat, but not for {name}\n{text}");
                    tally.withdrawn += 1;
                    break;
                }
                _ => {}
            }
        }
    }
    tally.checks += own.len();
    tally.sat += own.iter().filter(|a| *a == "sat").count();
    tally.unsat += own.iter().filter(|a| *a == "unsat").count();
    let text = ours(&script, &own);
    for (i, verification) in verifications(&script, &run(&text)).into_iter().enumerate() {
        let Some((sat, declarations, claim)) = verification else { continue };
        let question = format!("{declarations}{claim}");
        z3.send(Z3, &question);
        let answer = z3.answers(&question).and_then(|a| a.first().cloned()).unwrap_or_default();
        match (sat, answer.as_str()) {
            (true, "sat") => {
                tally.models += 1;
                tally.withdrawn += usize::from(disputed.contains(&i));
            }
            (true, "unsat") => panic!("seed {seed}: the model is wrong\n{question}\n{text}"),
            (false, "unsat") => tally.cores += 1,
            (false, "sat") => {
                let again = with_model(z3, Z3, &declarations, &claim);
                let refuted = again.is_some_and(|q| z3_says(z3, &q, "unsat"));
                assert!(refuted, "seed {seed}: the core is wrong\n{question}\n{text}");
            }
            _ => assert!(!disputed.contains(&i), "seed {seed}: check {i} is not settled\n{text}"),
        }
    }
}

#[test]
fn answers_models_and_cores_agree_with_z3_and_cvc5() {
    let z3 = Peer::start("z3", &["-in"]);
    let cvc5 = Peer::start("cvc5", &["--incremental", "--lang=smt2", "--tlimit-per=1000"]);
    let (Some(mut z3), Some(mut cvc5)) = (z3, cvc5) else {
        eprintln!("skipped: z3 and cvc5 are not both installed");
        return;
    };
    let (count, first) = (setting("PALISADE_FUZZ", 300), setting("PALISADE_FUZZ_SEED", 0));
    let mut tally = Tally::default();
    for seed in first..first + count {
        one(seed, &mut z3, &mut cvc5, &mut tally);
    }
    let Tally { checks, sat, unsat, undecided, withdrawn, models, cores } = tally;
    println!(
        "{count} scripts, {checks} checks: {sat} sat, {unsat} unsat, no disagreement; \
         {models} models and {cores} cores verified; {undecided} comparisons undecided, {withdrawn} withdrawn"
    );
}
