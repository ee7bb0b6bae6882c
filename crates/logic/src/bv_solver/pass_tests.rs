//! The preprocessing passes and the normal form of sums, each against brute force.

use super::*;
use crate::bitvec::BitVec;
use crate::eval::Evaluator;
use crate::testing::{self, Random, Signature, random_term};

fn small_signature(s: &mut Terms) -> Signature {
    let vars = vec![
        s.var("x", Sort::BitVec(3)),
        s.var("y", Sort::BitVec(2)),
        s.var("a", Sort::Array { index: 1, elem: 1 }),
        s.var("p", Sort::Bool),
    ];
    Signature { vars, funcs: Vec::new(), widths: vec![1, 2, 3, 5] }
}

/// A random formula, often a comparison with a constant, so that there are bounds to propagate.
fn random_assertion(s: &mut Terms, g: &Signature, r: &mut Random, depth: u32) -> Term {
    if r.below(2) == 0 {
        return random_term(s, g, r, Sort::Bool, depth);
    }
    let w = g.widths[r.below(g.widths.len())];
    let t = random_term(s, g, r, Sort::BitVec(w), depth.min(2) - 1);
    let c = r.bits(w);
    let c = s.bv_const(&c);
    let (a, b) = if r.below(2) == 0 { (t, c) } else { (c, t) };
    testing::PREDICATES[r.below(7)](s, a, b)
}

fn truths(s: &Terms, models: &[Model], t: Term) -> Vec<bool> {
    models.iter().map(|m| Evaluator::new(m).truth(s, t)).collect()
}

/// Assertions keep their meaning together, and other formulas keep theirs wherever the assertions
/// hold, also after levels were popped.
#[test]
fn facts_against_brute_force() {
    let mut s = Terms::new();
    let g = small_signature(&mut s);
    let models = testing::all_models(&s, &g);
    let mut changed = 0;
    for seed in 0..500 {
        let r = &mut Random::new(seed);
        let mut facts = Facts::default();
        let mut holds: Vec<Vec<bool>> = vec![vec![true; models.len()]];
        for _ in 0..6 {
            if r.below(4) == 0 {
                let keep = r.below(holds.len());
                holds.truncate(keep + 1);
                facts.close_until(keep);
            }
            let assertions: Vec<Term> =
                (0..1 + r.below(3)).map(|_| random_assertion(&mut s, &g, r, 3)).collect();
            facts.open_until(holds.len());
            let mut expected = holds.last().expect("the first level stays").clone();
            let mut actual = expected.clone();
            let also = |all: &mut Vec<bool>, s: &Terms, t: Term| {
                all.iter_mut().zip(truths(s, &models, t)).for_each(|(a, b)| *a &= b);
            };
            assertions.iter().for_each(|t| also(&mut expected, &s, *t));
            facts.absorb(&mut s, assertions).into_iter().for_each(|t| also(&mut actual, &s, t));
            assert_eq!(expected, actual, "seed {seed}");
            holds.push(expected);

            let t = random_assertion(&mut s, &g, r, 4);
            let rewritten = facts.rewrite(&mut s, t);
            changed += usize::from(rewritten != t);
            let (before, after) = (truths(&s, &models, t), truths(&s, &models, rewritten));
            let asserted = holds.last().expect("just pushed");
            assert!((0..models.len()).all(|i| !asserted[i] || before[i] == after[i]), "seed {seed}");
        }
    }
    assert!(changed > 400, "only {changed} formulas were rewritten");
}

/// Values stay within the ranges of terms.
#[test]
fn ranges_against_brute_force() {
    let mut s = Terms::new();
    let g = small_signature(&mut s);
    let models = testing::all_models(&s, &g);
    let mut narrow = 0;
    for seed in 0..1500 {
        let r = &mut Random::new(seed);
        let mut ranges = ranges::Ranges::default();
        let mut allowed: Vec<&Model> = models.iter().collect();
        for _ in 0..r.below(3) {
            let t = random_assertion(&mut s, &g, r, 2);
            let (atom, truth) = s.as_not(t).map_or((t, true), |atom| (atom, false));
            ranges.learn(&s, atom, truth);
            allowed.retain(|m| Evaluator::new(*m).truth(&s, t));
        }
        let w = g.widths[r.below(g.widths.len())];
        let t = random_term(&mut s, &g, r, Sort::BitVec(w), 4);
        let range = ranges.range(&s, t).expect("a narrow word has a range");
        narrow += usize::from(range.low > 0 || range.high + 1 < 1 << w);
        let t_less = random_term(&mut s, &g, r, Sort::Bool, 3);
        let decided = ranges.decide(&s, t_less);
        for m in allowed {
            let value = s.evaluate(t, m).as_bv().expect("a bit-vector").to_u64().expect("small");
            assert!(range.low <= value && value <= range.high, "seed {seed}: {value} is not in {range:?}");
            assert!(decided.is_none_or(|d| d == Evaluator::new(m).truth(&s, t_less)), "seed {seed}");
        }
    }
    assert!(narrow > 200, "only {narrow} ranges say something");
}

/// Random sums of parts of one word, for all its values.
#[test]
fn sums_of_bits_against_brute_force() {
    let mut s = Terms::new();
    let x = s.var("x", Sort::BitVec(6));
    for seed in 0..60 {
        let r = &mut Random::new(seed);
        let mut pool = vec![s.zero_extend(x, 6)];
        for i in 0..6 {
            let bit = s.extract(x, i, i);
            pool.push(s.zero_extend(bit, 11));
        }
        for _ in 0..12 {
            let (a, b) = (pool[r.below(pool.len())], pool[r.below(pool.len())]);
            let c = r.bits(12);
            let c = s.bv_const(&c);
            let by = s.bv(12, r.below(5) as u64);
            let t = match r.below(7) {
                0..=2 => s.add(a, b),
                3 => s.sub(a, b),
                4 => s.and(a, c),
                5 => s.lshr(a, by),
                _ => s.mul(a, c),
            };
            pool.push(t);
        }
        let mut solver = BvSolver::new();
        for t in pool.into_iter().rev().take(4) {
            let low = r.below(8) as u32;
            let t = s.extract(t, low + 4, low);
            for value in 0..64 {
                let mut model = Model::new();
                model.set(x, Value::BitVec(BitVec::new(6, value)));
                let result = s.evaluate(t, &model).as_bv().expect("a bit-vector").clone();
                let (value, result) = (s.bv(6, value), s.bv_const(&result));
                let (fixed, differs) = (s.eq(x, value), s.ne(t, result));
                assert_eq!(solver.check(&mut s, &[fixed, differs]), Answer::Unsat, "seed {seed}");
                assert_eq!(solver.check(&mut s, &[fixed]), Answer::Sat, "seed {seed}");
            }
        }
    }
}

/// Three ways to count bits are the same gates, so hardly any search is needed.
#[test]
fn counts_of_bits_have_a_normal_form() {
    let mut s = Terms::new();
    let x = s.var("x", Sort::BitVec(32));
    let bits: Vec<Term> = (0..32).map(|i| s.extract(x, i, i)).collect();
    let mut upwards = s.bv(32, 0);
    for b in &bits {
        let b = s.zero_extend(*b, 31);
        upwards = s.add(upwards, b);
    }
    let mut tree: Vec<Term> = bits.iter().rev().map(|b| s.zero_extend(*b, 31)).collect();
    while tree.len() > 1 {
        tree = tree.chunks(2).map(|pair| s.add(pair[0], pair[1])).collect();
    }
    let mut fields = x;
    for (shift, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
        let (by, mask) = (s.bv(32, shift), s.bv(32, mask));
        let moved = s.lshr(fields, by);
        let (low, high) = (s.and(fields, mask), s.and(moved, mask));
        fields = s.add(low, high);
    }
    let (ones, by) = (s.bv(32, 0x0101_0101), s.bv(32, 24));
    let product = s.mul(fields, ones);
    let multiplied = s.lshr(product, by);
    for other in [tree[0], multiplied] {
        let differs = s.ne(upwards, other);
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { conflicts: Some(3), ..Limits::default() });
        assert_eq!(solver.check(&mut s, &[differs]), Answer::Unsat);
    }
}

/// The outermost of nested unconstrained terms is replaced, until a variable under it is used.
#[test]
fn unconstrained_terms_are_replaced_until_they_are_used() {
    let mut s = Terms::new();
    let (x, y, z) = (s.var("x", Sort::BitVec(8)), s.var("y", Sort::BitVec(8)), s.var("z", Sort::BitVec(8)));
    let product = s.mul(y, z);
    let sum = s.add(x, product);
    let equal = s.eq(sum, y);
    let p = s.var("p", Sort::Bool);
    let either = s.or(equal, p);
    let mut pass = Unconstrained::default();
    // Both the equation and `p` may be anything, and so may the disjunction of the two.
    assert_eq!(pass.absorb(&mut s, &[(0, vec![either])], &[]), [(0, s.stand_in(either))]);
    assert!(pass.value(x).is_some() && pass.value(p).is_some() && pass.value(z).is_none());
    let mut equations = Vec::new();
    pass.open_until(1);
    assert_eq!(pass.rewrite(&mut s, x, &mut equations), x);
    let stand_in = s.stand_in(either);
    assert_eq!(equations, [s.eq(stand_in, either)]);
    assert!(pass.value(x).is_none() && pass.value(p).is_none());
    pass.close_until(0);
    assert!(pass.value(x).is_some() && pass.value(p).is_some());
    // What is about to be used is spared.
    let mut pass = Unconstrained::default();
    assert_eq!(pass.absorb(&mut s, &[(0, vec![equal])], &[x]), [(0, equal)]);
    // So is what occurs at two levels.
    let mut pass = Unconstrained::default();
    let batches = [(0, vec![equal]), (1, vec![s.ne(x, z)])];
    assert_eq!(pass.absorb(&mut s, &batches, &[]), [(0, equal), (1, batches[1].1[0])]);
}

/// Assertions with many variables, each used about once, in all incremental ways.
#[test]
fn scattered_variables_against_brute_force() {
    let mut s = Terms::new();
    let mut vars = Vec::new();
    for i in 0..3 {
        vars.push(s.var(&format!("x{i}"), Sort::BitVec(2)));
        vars.push(s.var(&format!("p{i}"), Sort::Bool));
    }
    vars.push(s.var("y", Sort::BitVec(1)));
    vars.push(s.var("a", Sort::Array { index: 1, elem: 1 }));
    let g = Signature { vars, funcs: Vec::new(), widths: vec![1, 2, 2, 3] };
    assert_eq!(testing::scripts::<BvSolver>(&mut s, &g, 400, 3), 0);
}

/// Random systems of equations between sums and products of few variables: what the rules decide is so in all
/// models of the equations, also after levels were popped, and sums of the equations are decided.
#[test]
fn equations_against_brute_force() {
    let mut s = Terms::new();
    let vars: Vec<Term> = ["x", "y", "z"].iter().map(|n| s.var(n, Sort::BitVec(3))).collect();
    let g = Signature { vars: vars.clone(), funcs: Vec::new(), widths: vec![3] };
    let models = testing::all_models(&s, &g);
    let side = |s: &mut Terms, r: &mut Random| {
        let mut sum = s.bv(3, r.below(8) as u64);
        for _ in 0..r.below(4) {
            let coefficient = s.bv(3, r.below(8) as u64);
            let mut product = s.mul(vars[r.below(3)], coefficient);
            if r.below(3) == 0 {
                product = s.mul(vars[r.below(3)], product);
            }
            sum = s.add(sum, product);
        }
        sum
    };
    let mut decided = 0;
    for seed in 0..2000 {
        let r = &mut Random::new(seed);
        let mut equations = equations::Equations::default();
        let mut known: Vec<(Term, Term)> = Vec::new();
        for _ in 0..4 {
            if r.below(4) == 0 {
                let keep = r.below(known.len() + 1);
                // Every equation makes at most one rule.
                let mut fresh = equations::Equations::default();
                known.truncate(keep);
                known.iter().for_each(|(a, b)| fresh.learn(&s, *a, *b));
                equations.undo(fresh.len());
            }
            let (a, b) = (side(&mut s, r), side(&mut s, r));
            equations.learn(&s, a, b);
            known.push((a, b));
            let (mut c, mut d) = (side(&mut s, r), side(&mut s, r));
            if r.below(2) == 0 {
                let (i, j) = (r.below(known.len()), r.below(known.len()));
                (c, d) = (s.add(known[i].0, known[j].1), s.add(known[i].1, known[j].0));
            }
            let Some(truth) = equations.decide(&s, c, d) else { continue };
            let equal = |m: &Model, a, b| {
                let mut e = Evaluator::new(m);
                e.value(&s, a) == e.value(&s, b)
            };
            for m in models.iter().filter(|m| known.iter().all(|(a, b)| equal(m, *a, *b))) {
                assert_eq!(equal(m, c, d), truth, "seed {seed}");
            }
            decided += 1;
        }
    }
    assert!(decided > 2000, "{decided}");
}

/// A loop that multiplies by adding: its invariant is kept, which takes the laws of arithmetic and bounds that
/// rule out overflow, and no search.
#[test]
fn laws_of_arithmetic_need_no_search() {
    let mut s = Terms::new();
    let [i, n] = ["i", "n"].map(|name| s.var(name, Sort::BitVec(32)));
    let [p, m] = ["p", "m"].map(|name| s.var(name, Sort::BitVec(32)));
    let (zero, one, most) = (s.bv(32, 0), s.bv(32, 1), s.bv(32, 1000));
    let bounds = [s.sle(zero, i), s.slt(i, n), s.sle(n, most), s.sle(zero, m), s.sle(m, most)];
    let kept = |s: &mut Terms, p: Term, i: Term| {
        let [p, i, m] = [p, i, m].map(|t| s.sign_extend(t, 32));
        let product = s.mul(i, m);
        s.eq(p, product)
    };
    let before = kept(&mut s, p, i);
    let (next_p, next_i) = (s.add(p, m), s.add(i, one));
    let after = kept(&mut s, next_p, next_i);
    let broken = s.not(after);
    let small = s.bv(32, 2_000_000);
    let small = [s.sle(zero, p), s.sle(p, small)];
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { conflicts: Some(0), ..Limits::default() });
    for t in bounds.into_iter().chain(small).chain([before, broken]) {
        solver.assert(&mut s, t);
    }
    assert!(solver.check(&mut s, &[]).is_unsat());
}

/// What is known already can be asserted again, on another level too.
#[test]
fn bounds_are_asserted_twice() {
    let mut s = Terms::new();
    let x = s.var("x", Sort::BitVec(8));
    let (high, zeros, most) = (s.extract(x, 7, 4), s.bv(4, 0), s.bv(8, 9));
    let (bits, less) = (s.eq(high, zeros), s.ult(x, most));
    let mut facts = Facts::default();
    for level in 1..4 {
        facts.open_until(level);
        let kept = facts.absorb(&mut s, vec![bits, less, bits]);
        assert_eq!(kept.is_empty(), level > 1, "level {level}");
    }
}

/// Nested choices between variables and constants, under conditions that compare such choices.
fn copies(s: &mut Terms, r: &mut Random, ends: &[Term], conditions: &[Term]) -> Vec<Term> {
    let mut words = ends.to_vec();
    let mut conditions = conditions.to_vec();
    for _ in 0..30 {
        let (a, b) = (words[r.below(words.len())], words[r.below(words.len())]);
        match r.below(3) {
            0 => conditions.push(testing::PREDICATES[r.below(7)](s, a, b)),
            _ => words.push(s.ite(conditions[r.below(conditions.len())], a, b)),
        }
    }
    conditions
}

#[test]
fn choices_against_brute_force() {
    let mut s = Terms::new();
    let g = small_signature(&mut s);
    let x = g.vars[0];
    let p = g.vars[3];
    let y = s.zero_extend(g.vars[1], 1);
    let (two, six, sum) = (s.bv(3, 2), s.bv(3, 6), s.add(x, y));
    let odd = s.extract(sum, 0, 0);
    let bit = s.bv(1, 1);
    let odd = s.eq(odd, bit);
    let models: Vec<Model> = testing::all_models(&s, &g).into_iter().step_by(7).collect();
    let (mut changed, mut apart) = (0, 0);
    for seed in 0..150 {
        let r = &mut Random::new(seed);
        let mut pass = Choices::default();
        for t in copies(&mut s, r, &[x, y, two, six, sum], &[p, odd]).into_iter().skip(2) {
            let rewritten = pass.rewrite(&mut s, t);
            assert_eq!(truths(&s, &models, t), truths(&s, &models, rewritten), "seed {seed}");
            assert_eq!(pass.rewrite(&mut s, t), rewritten, "seed {seed}");
            changed += usize::from(rewritten != t);
            apart += usize::from(comparisons(&s, rewritten).iter().all(|c| !compares_choices(&s, *c)));
        }
    }
    assert!(changed > 400 && apart > 1000, "{changed} rewritten, {apart} without comparisons of choices");
}

fn comparisons(s: &Terms, t: Term) -> Vec<Term> {
    let compares =
        |t: Term| matches!(s.op(t), Op::Eq | Op::Ult | Op::Slt) && s.sort(s.arg(t, 0)) != Sort::Bool;
    s.subterms(&[t]).into_iter().filter(|t| compares(*t)).collect()
}

fn compares_choices(s: &Terms, t: Term) -> bool {
    s.args(t).iter().any(|a| s.op(*a) == Op::Ite)
}

/// A ring of copies, as large as those of programs: what is compared in the end are pairs of different ends.
#[test]
fn long_chains_of_copies_are_compared_by_their_ends() {
    let mut s = Terms::new();
    let ends: Vec<Term> = (0..4).map(|i| s.var(&format!("e{i}"), Sort::BitVec(32))).collect();
    let mut words = ends.clone();
    for i in 0..50_000 {
        let p = s.var(&format!("p{i}"), Sort::Bool);
        words[i % 4] = s.ite(p, words[i % 4], words[(i + 1) % 4]);
    }
    let equal = s.eq(words[0], words[2]);
    let rewritten = Choices::default().rewrite(&mut s, equal);
    let compared = comparisons(&s, rewritten);
    assert_eq!(compared.len(), 6);
    assert!(compared.iter().all(|t| s.args(*t).iter().all(|a| ends.contains(a))));
}

/// Comparisons that are more than the choices they replace are left alone, and so are those of too many ends.
#[test]
fn choices_make_no_more_comparisons_than_they_replace() {
    let mut s = Terms::new();
    let mut choice = |name: &str, n: usize| {
        let mut word = s.var(&format!("{name}0"), Sort::BitVec(8));
        for i in 1..n {
            let (p, e) =
                (s.var(&format!("{name}p{i}"), Sort::Bool), s.var(&format!("{name}{i}"), Sort::BitVec(8)));
            word = s.ite(p, e, word);
        }
        word
    };
    let (three, two, many, few) = (choice("a", 3), choice("b", 2), choice("c", 13), choice("d", 12));
    let one = s.var("x", Sort::BitVec(8));
    let mut pass = Choices::default();
    for (a, b, taken_apart) in [(three, two, false), (many, one, false), (few, one, true), (three, two, true)]
    {
        let t = s.ult(a, b);
        // A pass does not come back to what it has seen, so that each is asked for in another shape.
        let t = if taken_apart { s.ult(b, a) } else { t };
        let rewritten = pass.rewrite(&mut s, t);
        assert_eq!(rewritten != t, taken_apart);
        assert_eq!(comparisons(&s, rewritten).iter().all(|c| !compares_choices(&s, *c)), taken_apart);
    }
}
