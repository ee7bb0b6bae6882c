//! The solver against brute force and against evaluation.

use palisade_base::{Budget, Stop};

use super::*;
use crate::bitvec::BitVec;
use crate::testing::{self, Random, Signature, random_term, scripts};

#[test]
fn bit_vectors_against_brute_force() {
    let mut s = Terms::new();
    let vars = vec![
        s.var("x", Sort::BitVec(3)),
        s.var("y", Sort::BitVec(3)),
        s.var("z", Sort::BitVec(2)),
        s.var("p", Sort::Bool),
        s.var("q", Sort::Bool),
    ];
    let g = Signature { vars, funcs: Vec::new(), widths: vec![1, 2, 3, 4, 5] };
    assert_eq!(scripts::<BvSolver>(&mut s, &g, 400, 4), 0);
}

#[test]
fn arrays_against_brute_force() {
    for (index, elem, seeds) in [(1, 2, 250), (2, 1, 250)] {
        let mut s = Terms::new();
        let sort = Sort::Array { index, elem };
        let vars = vec![
            s.var("a", sort),
            s.var("b", sort),
            s.var("i", Sort::BitVec(index)),
            s.var("v", Sort::BitVec(elem)),
            s.var("p", Sort::Bool),
        ];
        let g = Signature { vars, funcs: Vec::new(), widths: vec![1, 2] };
        assert_eq!(scripts::<BvSolver>(&mut s, &g, seeds, 4), 0);
    }
}

#[test]
fn functions_and_arrays_against_brute_force() {
    let mut s = Terms::new();
    let vars = vec![s.var("a", Sort::Array { index: 1, elem: 1 }), s.var("x", Sort::BitVec(2))];
    let funcs = vec![
        s.func("f", &[Sort::BitVec(2)], Sort::BitVec(1)),
        s.func("g", &[Sort::BitVec(1)], Sort::BitVec(2)),
    ];
    let g = Signature { vars, funcs, widths: vec![1, 2] };
    assert_eq!(scripts::<BvSolver>(&mut s, &g, 150, 4), 0);
}

/// Each circuit at larger widths: with the operands fixed by assumptions, the result must be what
/// evaluation says, and nothing else.
#[test]
fn circuits_agree_with_evaluation() {
    for width in [1, 2, 3, 5, 8, 13, 32, 33, 64, 65] {
        let mut s = Terms::new();
        let r = &mut Random::new(u64::from(width));
        let (x, y) = (s.var("x", Sort::BitVec(width)), s.var("y", Sort::BitVec(width)));
        let operators: Vec<Term> =
            testing::BINARY.iter().chain(testing::PREDICATES).map(|f| f(&mut s, x, y)).collect();
        for (n, t) in operators.into_iter().enumerate() {
            let mut solver = if n % 2 == 0 { BvSolver::new() } else { BvSolver::for_proofs() };
            let rounds = if width > 32 { 4 } else { 12 };
            for round in 0..rounds {
                let mut model = Model::new();
                let mut assumptions = Vec::new();
                for v in [x, y] {
                    let mut value = r.bits(width);
                    if round % 3 == 1 {
                        let by = BitVec::new(width, r.next() % u64::from(width));
                        value = value.lshr(&by);
                    } else if round % 4 == 2 {
                        value = BitVec::from_i128(width, r.below(5) as i128 - 2);
                    }
                    model.set(v, Value::BitVec(value.clone()));
                    let c = s.bv_const(&value);
                    assumptions.push(s.eq(v, c));
                }
                let result = match s.evaluate(t, &model) {
                    Value::Bool(b) => s.bool_const(b),
                    Value::BitVec(v) => s.bv_const(&v),
                    Value::Array(_) => unreachable!("no arrays here"),
                };
                let same = s.eq(t, result);
                assumptions.push(same);
                assert_eq!(solver.check(&mut s, &assumptions), Answer::Sat, "operator {n} at {width}");
                *assumptions.last_mut().expect("not empty") = s.not(same);
                assert_eq!(solver.check(&mut s, &assumptions), Answer::Unsat, "operator {n} at {width}");
            }
        }
    }
}

/// The definition of `x` leads back to `x` through another definition.
#[test]
fn circular_definitions_stay_equations() {
    let mut s = Terms::new();
    let (x, y) = (s.var("x", Sort::BitVec(8)), s.var("y", Sort::BitVec(8)));
    let (one, two) = (s.bv(8, 1), s.bv(8, 2));
    let mut solver = BvSolver::new();
    let (x1, y2) = (s.mul(x, two), s.add(y, one));
    let (e1, e2) = (s.eq(y, x1), s.eq(x, y2));
    solver.assert(&mut s, e1);
    solver.assert(&mut s, e2);
    assert_eq!(solver.check(&mut s, &[]), Answer::Sat);
    // y = 2x and x = y + 1 only for x = -1.
    let minus_one = BitVec::ones(8);
    assert_eq!(solver.value(&mut s, x), Some(Value::BitVec(minus_one)));
}

/// A constant array differs from another one with finitely many writes, and the solver must find
/// an index that no term mentions.
#[test]
fn constant_arrays_differ_somewhere() {
    let mut s = Terms::new();
    let (zero, one) = (s.bv(8, 0), s.bv(8, 1));
    let (zeros, ones) = (s.const_array(32, zero), s.const_array(32, one));
    let mut a = zeros;
    for name in ["i", "j", "k"] {
        let i = s.var(name, Sort::BitVec(32));
        a = s.store(a, i, one);
    }
    let same = s.eq(a, ones);
    let mut solver = BvSolver::new();
    assert_eq!(solver.check(&mut s, &[same]), Answer::Unsat);
    assert_eq!(solver.unsat_core(), [same]);
}

/// The Mersenne number 2^61 - 1 as a product of two factors: it is prime, so there are none, and no
/// SAT solver finds that out soon.
fn hard_problem(s: &mut Terms) -> Vec<Term> {
    let product = BitVec::new(80, (1 << 61) - 1);
    let mut factors = Vec::new();
    let mut out = Vec::new();
    for name in ["p", "q"] {
        let x = s.var(name, Sort::BitVec(40));
        let one = s.bv(40, 1);
        out.push(s.ult(one, x));
        factors.push(s.zero_extend(x, 40));
    }
    let (t, n) = (s.mul(factors[0], factors[1]), s.bv_const(&product));
    out.push(s.eq(t, n));
    out
}

#[test]
fn a_stopped_budget_ends_the_search() {
    let mut s = Terms::new();
    let mut solver = BvSolver::new();
    for t in hard_problem(&mut s) {
        solver.assert(&mut s, t);
    }
    let budget = Budget::unlimited();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        budget.stop(Stop::Time);
        std::time::Instant::now()
    });
    let answer = solver.check(&mut s, &[]);
    let ended = std::time::Instant::now();
    let stopped = stopper.join().expect("the stopper only sleeps");
    assert_eq!(answer, Answer::Unknown(Unknown::Stopped(Stop::Time)));
    assert!(ended.duration_since(stopped).as_secs() < 2, "the search must stop soon");
    // The solver stays usable: without the hard part there is an answer.
    solver.set_limits(Limits { conflicts: Some(10), ..Limits::default() });
    assert_eq!(solver.check(&mut s, &[]), Answer::Unknown(Unknown::Conflicts));
    let fls = s.fls();
    solver.set_limits(Limits::default());
    assert_eq!(solver.check(&mut s, &[fls]), Answer::Unsat);
}

#[test]
fn memory_runs_out_with_an_answer() {
    let mut s = Terms::new();
    let (x, y) = (s.var("x", Sort::BitVec(700)), s.var("y", Sort::BitVec(700)));
    let product = s.mul(x, y);
    let t = s.ult(product, x);
    let mut solver = BvSolver::new();
    solver.assert(&mut s, t);
    solver.set_limits(Limits { memory: Some(8 << 20), ..Limits::default() });
    assert_eq!(solver.check(&mut s, &[]), Answer::Unknown(Unknown::Memory));
    // With enough memory the same solver goes on where it stopped.
    solver.set_limits(Limits { memory: Some(8 << 30), conflicts: Some(0), ..Limits::default() });
    assert_ne!(solver.check(&mut s, &[]), Answer::Unknown(Unknown::Memory));
}

#[test]
fn deep_formulas_need_no_stack() {
    let mut s = Terms::new();
    let (x, y) = (s.var("x", Sort::BitVec(2)), s.var("y", Sort::BitVec(2)));
    let mut t = x;
    for _ in 0..50_000 {
        t = s.bvxor(t, y);
        t = s.add(t, x);
    }
    let zero = s.bv(2, 0);
    let mut solver = BvSolver::new();
    let e = s.eq(t, zero);
    solver.assert(&mut s, e);
    assert_eq!(solver.check(&mut s, &[]), Answer::Sat);
    assert_eq!(solver.value(&mut s, e), Some(Value::Bool(true)));
}

#[test]
fn the_same_questions_have_the_same_models() {
    let run = || {
        let mut s = Terms::new();
        let g = Signature {
            vars: vec![
                s.var("x", Sort::BitVec(16)),
                s.var("y", Sort::BitVec(16)),
                s.var("a", Sort::Array { index: 16, elem: 16 }),
            ],
            funcs: vec![s.func("f", &[Sort::BitVec(16)], Sort::BitVec(16))],
            widths: vec![8, 16],
        };
        let r = &mut Random::new(5);
        let mut log = String::new();
        for _ in 0..20 {
            let mut solver = BvSolver::new();
            for _ in 0..3 {
                let t = random_term(&mut s, &g, r, Sort::Bool, 5);
                solver.assert(&mut s, t);
                log += &format!("{:?}", solver.check(&mut s, &[]));
                for v in &g.vars {
                    log += &format!("{:?}", solver.value(&mut s, *v));
                }
            }
        }
        log
    };
    assert_eq!(run(), run());
}
