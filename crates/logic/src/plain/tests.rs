//! The circuits against evaluation, the solver against brute force and another solver, and
//! refutations against damage.

use super::gates::{Gates, TRUE};
use super::*;
use crate::process::{ProcessSolver, Program};
use crate::term::Sort;
use crate::testing::{self, BINARY, PREDICATES, Random, Signature, random_term, scripts};

/// Values of all variables that the clauses give when the inputs have theirs: every gate is forced
/// by the clauses that define it, and all clauses hold.
fn propagate(clauses: &[Lit], count: usize, inputs: &[(Lit, bool)]) -> Vec<bool> {
    let mut values: Vec<Option<bool>> = vec![None; count + 1];
    for &(lit, value) in inputs {
        values[lit.unsigned_abs() as usize] = Some(value == (lit > 0));
    }
    let truth = |values: &[Option<bool>], l: Lit| values[l.unsigned_abs() as usize].map(|v| v == (l > 0));
    for clause in clauses.split(|l| *l == 0) {
        let open: Vec<Lit> = clause.iter().copied().filter(|l| truth(&values, *l).is_none()).collect();
        let holds = clause.iter().any(|l| truth(&values, *l) == Some(true));
        if let (false, [unit]) = (holds, &open[..]) {
            values[unit.unsigned_abs() as usize] = Some(*unit > 0);
        }
    }
    for clause in clauses[..clauses.len() - 1].split(|l| *l == 0) {
        assert!(clause.iter().any(|l| truth(&values, *l) == Some(true)), "a clause fails: {clause:?}");
    }
    values.into_iter().map(|v| v.unwrap_or(false)).collect()
}

/// Every operator on the given operands: the gates say what evaluation says.
fn circuits(width: u32, operands: impl Fn(&mut Random, usize) -> Option<(BitVec, BitVec)>) {
    let unary: &[fn(&mut Terms, Term) -> Term] = &[
        Terms::not,
        Terms::neg,
        Terms::abs,
        Terms::nego,
        |s, t| s.sign_extend(t, 3),
        |s, t| s.zero_extend(t, 2),
        |s, t| s.bit(t, 0),
        |s, t| {
            let w = s.width(t);
            s.extract(t, w - 1, w / 2)
        },
        |s, t| s.rotate_left(t, 1),
    ];
    let mut s = Terms::plain();
    let (x, y) = (s.var("x", Sort::BitVec(width)), s.var("y", Sort::BitVec(width)));
    let mut all: Vec<Term> = BINARY.iter().chain(PREDICATES).map(|f| f(&mut s, x, y)).collect();
    all.extend(unary.iter().map(|f| f(&mut s, x)));
    all.push(s.concat(x, y));
    let less = s.ult(x, y);
    all.push(s.ite(less, x, y));
    for (n, t) in all.into_iter().enumerate() {
        let mut blaster = Blaster::new();
        for t in [x, y, t] {
            assert_eq!(blaster.blast(&s, t, &Limits::default()), Ok(()));
        }
        let r = &mut Random::new(u64::from(width));
        for round in 0.. {
            let Some((a, b)) = operands(r, round) else { break };
            let mut inputs = vec![(TRUE, true)];
            let mut model = Model::new();
            for (var, value) in [(x, a), (y, b)] {
                let word = blaster.word(var).expect("blasted");
                inputs.extend(word.iter().enumerate().map(|(i, l)| (*l, value.bit(i as u32))));
                model.set(var, Value::BitVec(value));
            }
            let values = propagate(&blaster.gates.clauses, blaster.gates.len(), &inputs);
            let word = blaster.word(t).expect("blasted");
            let bit = |i: u32| values[word[i as usize].unsigned_abs() as usize] == (word[i as usize] > 0);
            let found = match s.sort(t) {
                Sort::Bool => Value::Bool(bit(0)),
                _ => Value::BitVec(BitVec::from_bits(s.width(t), bit)),
            };
            assert_eq!(found, s.evaluate(t, &model), "operator {n} at {width} with {model:?}");
        }
    }
}

#[test]
fn circuits_agree_with_evaluation_on_all_small_operands() {
    for width in 1..=4u32 {
        circuits(width, |_, round| {
            let (a, b) = (round as u64 >> width, round as u64 & ((1 << width) - 1));
            (a < 1 << width).then(|| (BitVec::new(width, a), BitVec::new(width, b)))
        });
    }
}

#[test]
fn circuits_agree_with_evaluation_on_random_operands() {
    for width in [5, 8, 13, 31, 32, 33, 64] {
        circuits(width, |r, round| {
            let mut value = |kind: usize| match kind {
                0 => BitVec::from_i128(width, r.below(5) as i128 - 2),
                1 => BitVec::new(width, r.below(2 * width as usize) as u64),
                _ => r.bits(width),
            };
            (round < 24).then(|| (value(round % 3), value(round / 3 % 3)))
        });
    }
}

/// Products with a constant on either side, and of two constants.
#[test]
fn products_with_constants_agree_with_evaluation() {
    let product = |width: u32, a: u64, b: u64| {
        let mut s = Terms::plain();
        let x = s.var("x", Sort::BitVec(width));
        let constant = s.bv(width, b);
        for t in [s.mul(x, constant), s.mul(constant, x)] {
            let mut blaster = Blaster::new();
            for t in [x, t] {
                assert_eq!(blaster.blast(&s, t, &Limits::default()), Ok(()));
            }
            let (value, word) = (BitVec::new(width, a), blaster.word(x).expect("blasted"));
            let mut inputs = vec![(TRUE, true)];
            inputs.extend(word.iter().enumerate().map(|(i, l)| (*l, value.bit(i as u32))));
            let values = propagate(&blaster.gates.clauses, blaster.gates.len(), &inputs);
            let word = blaster.word(t).expect("blasted");
            let bit = |i: u32| values[word[i as usize].unsigned_abs() as usize] == (word[i as usize] > 0);
            let expected = BitVec::new(width, a.wrapping_mul(b));
            assert_eq!(BitVec::from_bits(width, bit), expected, "{a} * {b} at {width}");
        }
    };
    for width in 1..=5u32 {
        (0..1 << (2 * width)).for_each(|ab: u64| product(width, ab >> width, ab & ((1 << width) - 1)));
    }
    let r = &mut Random::new(1);
    for width in [31, 32, 64] {
        for _ in 0..50 {
            let mut any = || r.bits(width).to_u128().expect("it fits") as u64;
            product(width, any(), any());
        }
        product(width, 12345, u64::MAX >> (64 - width));
    }
}

/// Quotients and remainders by a constant are the right ones and no others, all widths of the constant included.
#[test]
fn quotients_by_constants_are_the_only_ones() {
    let operators: [fn(&mut Terms, Term, Term) -> Term; 4] =
        [Terms::udiv, Terms::urem, Terms::sdiv, Terms::srem];
    let check = |width: u32, values: &[u64], constant: u64| {
        let mut s = Terms::plain();
        let x = s.var("x", Sort::BitVec(width));
        let divisor = s.bv(width, constant);
        let mut solver = PlainSolver::new();
        for operator in operators {
            let t = operator(&mut s, x, divisor);
            for &value in values {
                let value = s.bv(width, value);
                let expected = operator(&mut s, value, divisor);
                assert!(s.is_const(expected));
                let (given, same) = (s.eq(x, value), s.eq(t, expected));
                let differ = s.not(same);
                assert_eq!(solver.check(&mut s, &[given, same]), Answer::Sat, "{constant} at {width}");
                assert_eq!(solver.check(&mut s, &[given, differ]), Answer::Unsat, "{constant} at {width}");
            }
        }
    };
    for width in 1..=4 {
        let all: Vec<u64> = (0..1 << width).collect();
        all.iter().for_each(|&constant| check(width, &all, constant));
    }
    let r = &mut Random::new(2);
    for width in [13, 32, 64] {
        let mut any = || r.bits(width).to_u128().expect("it fits") as u64;
        let values = [any(), any() >> 7, u64::MAX >> (64 - width), 1 << (width - 1), 0];
        for constant in [1, 2, 3, 5, 299, any(), u64::MAX >> (64 - width), 1 << (width - 1)] {
            check(width, &values, constant);
        }
    }
}

#[test]
fn gates_of_constants_are_constants() {
    let mut g = Gates::new();
    for (a, b, c) in [(1, 1, -1), (-1, -1, 1), (1, -1, -1)] {
        let found = [g.and(a, b), g.or(a, c), g.xor(b, c), g.ite(a, b, c), g.majority(a, b, c)];
        assert!(found.iter().all(|l| l.abs() == TRUE));
    }
    assert_eq!(g.len(), 1);
}

#[test]
fn bit_vectors_against_brute_force() {
    let mut s = Terms::plain();
    let vars = vec![
        s.var("x", Sort::BitVec(3)),
        s.var("y", Sort::BitVec(3)),
        s.var("z", Sort::BitVec(2)),
        s.var("p", Sort::Bool),
    ];
    let g = Signature { vars, funcs: Vec::new(), widths: vec![1, 2, 3, 4, 5] };
    assert_eq!(scripts::<PlainSolver>(&mut s, &g, 200, 4), 0);
}

#[test]
fn arrays_against_brute_force() {
    for (index, elem) in [(1, 2), (2, 1)] {
        let mut s = Terms::plain();
        let sort = Sort::Array { index, elem };
        let vars = vec![
            s.var("a", sort),
            s.var("b", sort),
            s.var("i", Sort::BitVec(index)),
            s.var("v", Sort::BitVec(elem)),
        ];
        let g = Signature { vars, funcs: Vec::new(), widths: vec![1, 2] };
        // A model of equal arrays may need another default than zero, which is not looked for.
        let unknown = scripts::<PlainSolver>(&mut s, &g, 150, 4);
        assert!(unknown < 60, "{unknown}");
    }
}

#[test]
fn functions_against_brute_force() {
    let mut s = Terms::plain();
    let vars = vec![s.var("a", Sort::Array { index: 1, elem: 1 }), s.var("x", Sort::BitVec(2))];
    let funcs = vec![
        s.func("f", &[Sort::BitVec(2)], Sort::BitVec(1)),
        s.func("g", &[Sort::BitVec(1)], Sort::BitVec(2)),
    ];
    let g = Signature { vars, funcs, widths: vec![1, 2] };
    let unknown = scripts::<PlainSolver>(&mut s, &g, 100, 4);
    assert!(unknown < 30, "{unknown}");
}

/// Larger formulas of all operators, arrays included, against z3.
#[test]
fn answers_agree_with_z3() {
    let Some(program) = Program::named("z3") else { panic!("z3 is a known name") };
    if std::process::Command::new(&program.path).arg("--version").output().is_err() {
        eprintln!("skipped: z3 is not installed");
        return;
    }
    let rounds = std::env::var("PALISADE_PLAIN_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let mut s = Terms::plain();
    let bits = vec![s.var("x", Sort::BitVec(8)), s.var("y", Sort::BitVec(8)), s.var("z", Sort::BitVec(13))];
    let mut arrays = bits.clone();
    arrays.push(s.var("a", Sort::Array { index: 8, elem: 8 }));
    let mut z3 = ProcessSolver::new(program);
    for (vars, may_give_up) in [(bits, false), (arrays, true)] {
        let g = Signature { vars, funcs: Vec::new(), widths: vec![8, 13] };
        let (mut sat, mut unsat, mut unknown) = (0, 0, 0);
        for seed in 0..rounds {
            let r = &mut Random::new(seed);
            let goals: Vec<Term> = (0..4).map(|_| random_term(&mut s, &g, r, Sort::Bool, 4)).collect();
            let expected = z3.check(&mut s, &goals);
            match (PlainSolver::new().check(&mut s, &goals), expected) {
                (Answer::Sat, Answer::Sat) => sat += 1,
                (Answer::Unsat, Answer::Unsat) => unsat += 1,
                (Answer::Unknown(_), _) | (_, Answer::Unknown(_)) => unknown += 1,
                (ours, theirs) => panic!("seed {seed}: {ours:?} but z3 says {theirs:?}"),
            }
        }
        assert!(sat > 0 && unsat > 0 && (unknown == 0 || may_give_up), "{sat} {unsat} {unknown}");
    }
}

/// `a` is sorted after a step of sorting three elements: writes, reads and comparisons.
fn question(s: &mut Terms) -> Vec<Term> {
    let a = s.var("a", Sort::Array { index: 8, elem: 8 });
    let index: Vec<Term> = ["i", "j"].iter().map(|n| s.var(n, Sort::BitVec(8))).collect();
    let (x, y) = (s.select(a, index[0]), s.select(a, index[1]));
    let swap = s.ult(y, x);
    let (low, high) = (s.ite(swap, y, x), s.ite(swap, x, y));
    let b = s.store(a, index[0], low);
    let b = s.store(b, index[1], high);
    let (x, y) = (s.select(b, index[0]), s.select(b, index[1]));
    let wrong = s.ult(y, x);
    vec![wrong]
}

#[test]
fn a_refutation_is_confirmed_without_search_and_damaged_ones_are_refused() {
    let mut s = Terms::plain();
    let goals = question(&mut s);
    let mut solver = PlainSolver::new();
    assert_eq!(solver.check(&mut s, &goals), Answer::Unsat);
    let refutation = solver.refutation().expect("there is one after unsat");
    assert!(!refutation.axioms.is_empty() && !refutation.proof.steps.is_empty());
    // In another pool, with the same calls.
    let confirm = |refutation: &Refutation| {
        let mut s = Terms::plain();
        let goals = question(&mut s);
        PlainSolver::new().confirm(&mut s, &goals, refutation)
    };
    assert_eq!(confirm(&refutation), Ok(()));
    assert_eq!(Refutation::from_bytes(&refutation.to_bytes()).as_ref(), Ok(&refutation));
    for i in 0..refutation.axioms.len() {
        let mut damaged = refutation.clone();
        damaged.axioms.remove(i);
        assert!(confirm(&damaged).is_err(), "without axiom {i}");
        let [t, u] = refutation.axioms[i].terms;
        damaged.axioms.insert(i, Instance { axiom: 4, terms: [u, t] });
        assert!(confirm(&damaged).is_err(), "with another axiom {i}");
    }
    for cut in [0, refutation.proof.steps.len() / 2] {
        let mut damaged = refutation.clone();
        damaged.proof.steps.truncate(cut);
        assert!(confirm(&damaged).is_err(), "cut at {cut}");
    }
    // What has a model has no refutation.
    let mut s = Terms::plain();
    let goals = question(&mut s);
    let other = s.not(goals[0]);
    assert!(PlainSolver::new().confirm(&mut s, &[other], &refutation).is_err());
    assert!(PlainSolver::new().confirm(&mut s, &[], &refutation).is_err());
}

#[test]
fn limits_end_the_search() {
    let mut s = Terms::plain();
    let (x, y) = (s.var("x", Sort::BitVec(24)), s.var("y", Sort::BitVec(24)));
    let (p, q) = (s.mul(x, y), s.mul(y, x));
    let hard = s.ne(p, q);
    let mut solver = PlainSolver::new();
    solver.set_limits(Limits { conflicts: Some(100), ..Limits::default() });
    assert_eq!(solver.check(&mut s, &[hard]), Answer::Unknown(Unknown::Conflicts));
    let budget = palisade_base::Budget::unlimited();
    budget.stop(palisade_base::Stop::Time);
    solver.set_limits(Limits { budget, ..Limits::default() });
    let stopped = Unknown::Stopped(palisade_base::Stop::Time);
    assert_eq!(solver.check(&mut s, &[hard]), Answer::Unknown(stopped));
    let mut solver = PlainSolver::new();
    solver.set_limits(Limits { memory: Some(1000), ..Limits::default() });
    assert_eq!(solver.check(&mut s, &[hard]), Answer::Unknown(Unknown::Memory));
}

/// A plain pool builds the operators it is asked for.
/// Reads behind writes and choices, mostly at constant places: what is passed does not matter.
#[test]
fn reads_mean_what_they_mean_behind_writes_and_choices() {
    let mut passed = 0;
    for seed in 0..400 {
        let build = |s: &mut Terms| {
            let r = &mut Random::new(seed);
            let vars = vec![
                s.var("x", Sort::BitVec(2)),
                s.var("c", Sort::Bool),
                s.var("a", Sort::Array { index: 2, elem: 2 }),
            ];
            let mut arrays = vec![vars[2]];
            let place = |s: &mut Terms, r: &mut Random| match r.below(6) {
                0 => vars[0],
                _ => s.bv(2, r.below(4) as u64),
            };
            for _ in 0..6 {
                let some = |r: &mut Random| arrays[r.below(arrays.len())];
                let (one, other) = (some(r), some(r));
                let (at, element) = (place(s, r), place(s, r));
                arrays.push(if r.below(3) == 0 {
                    s.ite(vars[1], one, other)
                } else {
                    s.store(one, at, element)
                });
            }
            let (array, at) = (*arrays.last().expect("there is one"), place(s, r));
            let read = s.select(array, at);
            let goal = s.eq(read, vars[0]);
            (goal, Signature { vars, funcs: Vec::new(), widths: vec![2] }, read, array)
        };
        let (mut plain, mut simplified) = (Terms::plain(), Terms::new());
        let ((t, g, read, array), (u, h, ..)) = (build(&mut plain), build(&mut simplified));
        passed += usize::from(plain.op(read) != Op::Select || plain.args(read)[0] != array);
        let models = testing::all_models(&plain, &g);
        for (m, n) in models.iter().zip(&testing::all_models(&simplified, &h)) {
            assert_eq!(plain.evaluate(t, m), simplified.evaluate(u, n), "seed {seed}");
        }
    }
    assert!(passed > 100, "{passed}");
}

#[test]
fn plain_terms_mean_what_simplified_terms_mean() {
    let (mut plain, mut simplified) = (Terms::plain(), Terms::new());
    let signature = |s: &mut Terms| {
        let vars = vec![
            s.var("x", Sort::BitVec(3)),
            s.var("y", Sort::BitVec(2)),
            s.var("a", Sort::Array { index: 1, elem: 2 }),
        ];
        Signature { vars, funcs: Vec::new(), widths: vec![1, 2, 3] }
    };
    let (g, h) = (signature(&mut plain), signature(&mut simplified));
    let models = testing::all_models(&plain, &g);
    let others = testing::all_models(&simplified, &h);
    for seed in 0..300 {
        let t = random_term(&mut plain, &g, &mut Random::new(seed), Sort::Bool, 4);
        let u = random_term(&mut simplified, &h, &mut Random::new(seed), Sort::Bool, 4);
        for (m, n) in models.iter().zip(&others).step_by(7) {
            assert_eq!(plain.evaluate(t, m), simplified.evaluate(u, n), "seed {seed}");
        }
    }
}
