//! Scripts with their expected answers, errors with their positions, and round trips.

use super::*;
use crate::bv_solver::BvSolver;
use crate::solver::{Answer, Solver};
use crate::term::{Sort, Term};
use crate::testing::{Random, Signature, random_term};

fn run_text(text: &str) -> (u8, String) {
    let mut out = Vec::new();
    let status = run(text.as_bytes(), "t.smt2", &mut out, &Limits::default());
    (status, String::from_utf8(out).expect("output is UTF-8"))
}

fn check(text: &str, expected: &str) {
    let (status, out) = run_text(text);
    assert_eq!((status, out.trim_end()), (OK, expected.trim()), "{text}");
}

fn check_error(text: &str, expected: &str) {
    let (status, out) = run_text(text);
    let last = out.lines().last().unwrap_or("");
    assert_eq!((status, last), (ERROR, format!("(error \"t.smt2:{expected}\")").as_str()), "{text}");
}

#[test]
fn models_values_and_levels() {
    check(
        "; a comment\n(set-logic QF_AUFBV)(set-info :source |any ; thing|)(set-option :produce-models true)
         (declare-const x (_ BitVec 8))
         (declare-fun |y z| () (_ BitVec 8))
         (declare-fun f ((_ BitVec 8) Bool) (_ BitVec 4))
         (define-fun twice ((a (_ BitVec 8))) (_ BitVec 8) (bvadd a a))
         (define-const k (_ BitVec 8) (twice #x15))
         (assert (= x k))
         (assert (= (f x true) #xc))
         (assert (= |y z| (twice (bvadd x x))))
         (check-sat)
         (get-value (x (twice x) (f x  true)))
         (get-model)
         (push 1)
         (declare-const b Bool)
         (assert (=> b (bvult x #x03)))
         (check-sat-assuming (b))
         (get-unsat-assumptions)
         (pop 1)
         (declare-const b (_ BitVec 2))
         (check-sat)
         (echo \"a \"\"string\"\"\")
         (exit)
         (nonsense",
        "sat
((x #x2a)
 ((twice x) #x54)
 ((f x true) #xc))
(
  (define-fun x () (_ BitVec 8) #x2a)
  (define-fun |y z| () (_ BitVec 8) #xa8)
  (define-fun f ((x!0 (_ BitVec 8)) (x!1 Bool)) (_ BitVec 4) (ite (and (= x!0 #x2a) (= x!1 true)) #xc #x0))
)
unsat
(b)
sat
\"a \"\"string\"\"\"",
    );
}

#[test]
fn let_is_parallel_and_shadows() {
    check(
        "(declare-const x Bool)(declare-const y Bool)
         (assert (let ((x y) (y x)) (and x (not y))))
         (assert (let ((or x)) (let ((x true)) (and x (not or)))))
         (check-sat)(get-value (x y))",
        "sat\n((x false)\n (y true))",
    );
    check_error("(declare-const x Bool)\n(assert (let ((a x) (a x)) a))", "2:21: `a` is bound twice");
    check_error("(assert (let ((a true)) true))(assert a)", "1:39: unknown symbol `a`");
}

#[test]
fn cores_name_assertions() {
    check(
        "(set-option :produce-unsat-cores true)
         (declare-const x (_ BitVec 4))
         (declare-const p Bool)
         (assert (! (bvult x #x3) :named low))
         (assert (! p :named |just p|))
         (assert (! (bvult #x8 x) :named high))
         (check-sat)
         (get-unsat-core)
         (check-sat-assuming ((not p) p))
         (get-unsat-assumptions)
         (assert (not low))",
        "unsat\n(low high)\nunsat\n()",
    );
}

/// Six of eight elements are `x`, and only one element of the other array is not zero.
#[test]
fn constant_arrays_are_counted() {
    let array = "(as const (Array (_ BitVec 3) (_ BitVec 3)))";
    check(
        &format!(
            "(declare-const x (_ BitVec 3))(declare-const i (_ BitVec 3))(declare-const j (_ BitVec 3))
             (declare-const k (_ BitVec 3))(declare-const v (_ BitVec 3))
             (assert (= (store (store ({array} x) i #b100) j v) (store ({array} #b000) k #b011)))
             (check-sat)(assert (distinct x #b000))(check-sat)"
        ),
        "sat\nunsat",
    );
}

#[test]
fn every_operator_has_its_meaning() {
    // Each line is true by the definitions of the theories.
    for valid in [
        "(= (bvsdiv #x9 #x2) #xd)",
        "(= (bvsrem #x9 #x2) #xf)",
        "(= (bvsmod #x9 #x2) #x1)",
        "(= (bvudiv #x9 #x0) #xf)",
        "(= (bvurem #x9 #x0) #x9)",
        "(= (bvcomp #x9 #x9) #b1)",
        "(= (bvnand #xc #xa) #x7)",
        "(= (bvnor #xc #xa) #x1)",
        "(= (bvxnor #xc #xa) #x9)",
        "(= (bvxor #xc #xa #x1) #x7)",
        "(= (bvadd #x1 #x2 #x3) #x6 (_ bv6 4))",
        "(= (concat #b1 #x0 #b01) #b1000001)",
        "(= ((_ extract 2 1) #xd) #b10)",
        "(= ((_ repeat 3) #b10) #b101010)",
        "(= ((_ zero_extend 2) #b11) #x3)",
        "(= ((_ sign_extend 2) #b10) #xe)",
        "(= ((_ rotate_left 5) #x8) #x1)",
        "(= ((_ rotate_right 1) #x1) #x8)",
        "(= (bvshl #x3 #x2) #xc)",
        "(= (bvlshr #x8 #x3) #x1)",
        "(= (bvashr #x8 #x1) #xc)",
        "(and (bvule #x3 #x3) (bvugt #x8 #x7) (bvuge #x8 #x8) (bvsgt #x7 #x8) (bvsge #x7 #x7) (bvsle #x8 #x7))",
        "(and (bvnego #x8) (not (bvnego #x7)) (bvuaddo #x8 #x8) (not (bvsaddo #x4 #x3)) (bvsaddo #x4 #x4))",
        "(and (bvumulo #x4 #x4) (bvsmulo #x4 #x2) (not (bvsmulo #xc #x2)) (bvusubo #x1 #x2) (bvssubo #x8 #x1))",
        "(and (bvsdivo #x8 #xf) (not (bvsdivo #x8 #xe)))",
        "(distinct #x1 #x2 #x3)",
        "(=> true false false)",
        "(xor true true true)",
        "(= (select (store ((as const (Array (_ BitVec 4) (_ BitVec 8))) #x07) #x1 #x02) #x2) #x07)",
    ] {
        check(&format!("(assert (not {valid}))(check-sat)"), "unsat");
    }
}

#[test]
fn errors_have_positions() {
    check_error("(assert true", "1:1: parenthesis is never closed");
    check_error("\n  )", "2:3: closing parenthesis without an opening one");
    check_error("(assert |x)", "1:9: quoted symbol is never closed");
    check_error("(echo \"abc)", "1:7: string is never closed");
    check_error("(assert #b)", "1:9: literal without digits");
    check_error("(assert #", "1:9: `#` starts a literal only before `b` or `x`");
    check_error("(assert é)", "1:9: unexpected character 'Ã'");
    check_error("(assert 12x)", "1:9: malformed number");
    check_error("(assert (= #b0 #x0))", "1:16: this has sort (_ BitVec 4) where (_ BitVec 1) is needed");
    check_error("(assert (bvadd #b0 true))", "1:20: this has sort Bool where (_ BitVec 1) is needed");
    check_error("(assert #b1)", "1:9: a Boolean term is needed here");
    check_error("(assert (_ bv8 3))", "1:12: the value does not fit into 3 bits");
    check_error("(assert (not))", "1:9: 0 arguments where 1 are needed");
    check_error("(assert (f true))", "1:10: unknown function `f`");
    check_error("(declare-const x Int)", "1:18: unknown sort `Int`");
    check_error("(declare-const x (_ BitVec 0))", "1:28: the width must be between 1 and 65536");
    check_error("(declare-const true Bool)", "1:16: `true` has a fixed meaning and cannot be declared");
    check_error("(declare-const x Bool)(declare-const |x| Bool)", "1:38: `x` is declared already");
    check_error("(declare-sort S 0)", "1:1: `declare-sort` is not supported");
    check_error("(frobnicate)", "1:1: unknown command `frobnicate`");
    check_error("(check-sat true)", "1:1: wrong arguments for `check-sat`");
    check_error("(pop 2)", "1:6: only 0 levels are open");
    check_error("(push 4000000000)", "1:7: more than 65536 open levels");
    check_error("(get-model)", "1:1: there is no model: the last command that matters was no `sat`");
    check_error(
        "(set-logic LIA)",
        "1:12: logic `LIA` is not supported; QF_BV, QF_ABV, QF_UFBV and QF_AUFBV are",
    );
    check_error(
        "(assert (forall ((x Bool)) x))",
        "1:10: `forall` is not supported: the logics are quantifier-free",
    );
    check_error(
        "(assert (= ((_ extract 4 0) #x1) #x1))",
        "1:12: bits 4 to 0 are not bits of a term with 4 bits",
    );
    check_error(
        "(assert (= ((_ repeat 4000000000) #x1) #x1))",
        "1:12: a width of 16000000000 bits is more than the 65536 supported",
    );
    check_error("(assert |a\nb|)", "1:9: unknown symbol `a b`");
    // Answers before the error stay.
    let (status, out) = run_text("(check-sat)(oops)");
    assert_eq!((status, out.as_str()), (ERROR, "sat\n(error \"t.smt2:1:12: unknown command `oops`\")\n"));
}

#[test]
fn nesting_costs_no_stack() {
    let n = 200_000;
    check(&format!("(assert {}true{})(check-sat)", "(not ".repeat(n), ")".repeat(n)), "sat");
    check(&format!("(assert {}true{})(check-sat)", "(let ((x true)) ".repeat(n), ")".repeat(n)), "sat");
    for op in ["bvor", "bvlshr", "bvsub"] {
        let n = 20_000;
        let (open, close) = (format!("({op} x ").repeat(n), ")".repeat(n));
        let declare = "(declare-const x (_ BitVec 3))(declare-const y (_ BitVec 3))";
        check(&format!("{declare}(assert (= {open}y{close} x))(check-sat)"), "sat");
    }
    let (status, _) = run_text(&"(".repeat(n));
    assert_eq!(status, ERROR);
}

#[test]
fn names_of_scripts_and_of_the_pool_stay_apart() {
    // An array disequality invents an index; the script's own `diff!0` must be another variable.
    check(
        "(declare-const a (Array (_ BitVec 2) (_ BitVec 2)))(declare-const b (Array (_ BitVec 2) (_ BitVec 2)))
         (assert (not (= a b)))(check-sat)
         (declare-const diff!0 (_ BitVec 2))(declare-const diff!1 (_ BitVec 2))
         (assert (= (select a diff!0) (select b diff!0)))(assert (= (select a diff!1) (select b diff!1)))
         (check-sat)(reset)(declare-const a Bool)(check-sat)",
        "sat\nsat\nsat",
    );
}

#[test]
fn limits_end_in_unknown() {
    let text = "(declare-const a (_ BitVec 48))(declare-const b (_ BitVec 48))
        (assert (= (bvmul ((_ zero_extend 48) a) ((_ zero_extend 48) b)) (_ bv24279941279083123456781 96)))
        (assert (bvult #x000000010000 a))(assert (bvult #x000000010000 b))(check-sat)(get-info :reason-unknown)";
    let mut out = Vec::new();
    let limits = Limits { conflicts: Some(10), ..Limits::default() };
    let status = run(text.as_bytes(), "t", &mut out, &limits);
    assert_eq!(status, OK);
    assert_eq!(String::from_utf8_lossy(&out), "unknown\n(:reason-unknown \"conflict limit\")\n");
}

/// Printing and reading again must give an equivalent term.
#[test]
fn printed_terms_read_back() {
    for seed in 0..300 {
        let s = &mut Terms::new();
        let mut vars: Vec<Term> = Vec::new();
        for (name, sort) in [
            ("x", Sort::BitVec(3)),
            ("x", Sort::BitVec(5)),
            ("and", Sort::Bool),
            ("p q", Sort::Bool),
            ("a!1", Sort::Array { index: 3, elem: 5 }),
        ] {
            vars.push(s.var(name, sort));
        }
        let funcs = vec![s.func("x", &[Sort::BitVec(3), Sort::Bool], Sort::BitVec(5))];
        let g = Signature { vars, funcs, widths: vec![1, 3, 5] };
        let r = &mut Random::new(seed);
        let t = random_term(s, &g, r, Sort::Bool, 5);
        for dialect in [Dialect::V26, Dialect::V27] {
            let text = print_script(s, &[t], dialect);
            let (status, out) = run_text(&text);
            let mut solver = BvSolver::new();
            solver.assert(s, t);
            let expected = if solver.check(s, &[]) == Answer::Sat { "sat\n" } else { "unsat\n" };
            assert_eq!((status, out.as_str()), (OK, expected), "seed {seed}: {text}");
        }
        // The same term over declarations with the same names is printed again by `get-assertions`.
        let script = print_script(s, &[t], Dialect::V27);
        let (_, out) = run_text(&script.replace("(check-sat)", "(get-assertions)"));
        let again = out.trim().strip_prefix('(').and_then(|o| o.strip_suffix(')')).expect("a list");
        let both = script.replace("(check-sat)\n", &format!("(assert (not {again}))(check-sat)\n"));
        assert_eq!(run_text(&both), (OK, "unsat\n".to_owned()), "seed {seed}: {both}");
    }
}

/// A graph with exponentially many paths is printed in linear size.
#[test]
fn sharing_keeps_the_text_small() {
    let s = &mut Terms::new();
    let mut t = s.var("x", Sort::BitVec(8));
    for i in 0..2000 {
        let y = s.var(&format!("y{}", i % 7), Sort::BitVec(8));
        let u = s.mul(t, y);
        let v = s.bvxor(t, y);
        t = s.udiv(u, v);
    }
    let x = s.var("x", Sort::BitVec(8));
    let goal = s.ult(t, x);
    assert!(print_term(s, goal).len() < 400_000);
    assert!(print_script(s, &[goal], Dialect::V26).len() < 600_000);
}
