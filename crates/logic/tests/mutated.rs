//! Broken scripts end in an error line with its position, never in a panic.
//!
//! `PALISADE_FUZZ=100000` runs that many scripts, `PALISADE_FUZZ_SEED` sets the seed.

use palisade_logic::{Limits, smtlib};
use palisade_testkit::Mutator;

const CORPUS: &[&str] = &[
    "(set-logic QF_AUFBV)
(set-option :produce-unsat-cores true)
(declare-const x (_ BitVec 8)) ; a comment
(declare-fun |a b| () (_ BitVec 8))
(define-fun twice ((v (_ BitVec 8))) (_ BitVec 8) (bvadd v v))
(declare-fun f ((_ BitVec 8) Bool) (_ BitVec 4))
(assert (! (= (f (twice x) true) #xa) :named first))
(assert (! (let ((y (bvmul x |a b|)) (z #b00000011)) (distinct y z (_ bv17 8))) :named second))
(check-sat)
(get-value (x (f x false)))
(get-model)
(push 1)
(assert (bvult x #x10))
(assert (bvsgt x #x20))
(check-sat)
(get-unsat-core)
(pop 1)
(echo \"done \"\"here\"\"\")
(exit)
",
    "(declare-const m (Array (_ BitVec 4) (_ BitVec 8)))
(declare-const i (_ BitVec 4))
(declare-const p Bool)
(assert (=> p (= (select (store m i #x01) #x3) #x02)))
(assert (not (= m ((as const (Array (_ BitVec 4) (_ BitVec 8))) #x00))))
(check-sat-assuming (p (not (bvule i #x7))))
(get-value (m i))
(reset-assertions)
(declare-const q Bool)
(check-sat-assuming (q (not q)))
(get-unsat-assumptions)
(get-info :name)
(get-assertions)
(reset)
",
    "(define-sort Word () (_ BitVec 16))
(declare-const a Word)(declare-const b Word)
(assert (or (bvuaddo a b) (bvsmulo a b) (bvsdivo a b) (bvnego a)))
(assert (= ((_ extract 7 0) a) ((_ rotate_left 3) ((_ extract 15 8) b))))
(assert (= (concat ((_ repeat 2) #b10) ((_ zero_extend 4) #xf)) ((_ sign_extend 4) #x7f)
           (ite (= (bvcomp a b) #b1) #xfff #x000)))
(assert (= (bvudiv a #x0003) (bvashr b #x0002) (bvsmod a b)))
(check-sat)
",
];

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

#[test]
fn mutated_scripts_end_cleanly() {
    let corpus: Vec<Vec<u8>> = CORPUS.iter().map(|t| t.as_bytes().to_vec()).collect();
    let limits = Limits { conflicts: Some(200), memory: Some(1 << 28), ..Limits::default() };
    for text in &corpus {
        let mut out = Vec::new();
        let status = smtlib::run(text, "whole.smt2", &mut out, &limits);
        assert_eq!(status, smtlib::OK, "{}", String::from_utf8_lossy(&out));
    }
    let mut mutator = Mutator::new(&corpus, setting("PALISADE_FUZZ_SEED", 1));
    let count = setting("PALISADE_FUZZ", 3000);
    let mut errors = 0;
    for i in 0..count {
        let text = mutator.next_text();
        let mut out = Vec::new();
        let status = smtlib::run(&text, "fuzz.smt2", &mut out, &limits);
        let out = String::from_utf8(out).expect("output is UTF-8");
        let last = out.lines().last().unwrap_or("");
        let is_error = last.starts_with("(error \"fuzz.smt2:") && last.ends_with("\")");
        let expected = if is_error { smtlib::ERROR } else { smtlib::OK };
        assert_eq!(status, expected, "script {i}: {}\n{out}", String::from_utf8_lossy(&text));
        if is_error {
            let mut place = last["(error \"fuzz.smt2:".len()..].split(':');
            let mut number = || place.next().and_then(|n| n.parse::<usize>().ok());
            assert!(number().is_some() && number().is_some(), "{last}");
            errors += 1;
        }
    }
    assert!(errors > count / 4, "mutations break scripts");
    println!("{count} mutated scripts: {errors} ended in an error line");
}
