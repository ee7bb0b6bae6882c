//! The examples and theorems of the paper.

use crate::assume::{Assume, Config, Pair, Reach};
use crate::below::Models;
use crate::chi;
use crate::element;
use crate::formula::{Formula, Leaf, Reading, within_types};
use crate::integrity::{Integrity, Lit};
use crate::operations::{Abstraction, apply};
use crate::terms::Vocabulary;
use crate::testing::{Rng, assignments, random_bool, small_vocabulary};
use palisade_domains::{
    Affine, Boxes, Congruences, Dim, Dynamic, Intervals, Lattice, LddCtx, LddLimits, Limits, LinCons,
    LinExpr, NumericDomain, Octagons, Polyhedra, Product, Rel, SparsePolyhedra, WordSize, Words,
};
use palisade_logic::{BitVec, BvSolver, Sort, Terms};
use palisade_num::{Int, Rat};

/// Example 1: the transformer of `cmp eax, 2; jz L4` from L1 to L4, in affine relations.
#[test]
fn example_1_step_by_step() {
    let mut terms = Terms::new();
    let mut voc = Vocabulary::new();
    let word = |terms: &mut Terms, voc: &mut Vocabulary, name: &str| {
        let v = terms.var(name, Sort::BitVec(32));
        (v, voc.add(terms, v, false))
    };
    let (eax, d_eax) = word(&mut terms, &mut voc, "eax");
    let (eax2, d_eax2) = word(&mut terms, &mut voc, "eax'");
    let (pc2, d_pc2) = word(&mut terms, &mut voc, "pc'");
    let zf = terms.var("zf", Sort::Bool);
    let number = |terms: &mut Terms, n: u64| terms.bv_const(&BitVec::new(32, n));
    let (two, l3, l4) = (number(&mut terms, 2), number(&mut terms, 103), number(&mut terms, 104));
    let is_two = terms.eq(eax, two);
    let flag = terms.eq(zf, is_two);
    let target = terms.ite(zf, l4, l3);
    let jump = terms.eq(pc2, target);
    let at_l4 = terms.eq(pc2, l4);
    let kept = terms.eq(eax2, eax);
    let phi = terms.and_all([flag, jump, at_l4, kept]);
    let formula = Formula::of_term(&mut terms, &mut voc, phi, Reading::Plain);

    // Steps 2 and 3: the literals give A₁ and A₂.
    let top = Dynamic::of(Affine::top(&WordSize::new(32)));
    let leaf = |terms: &Terms, t| {
        let (tree, _) = voc.tree(terms, t, false);
        let of = |l: &&Leaf| matches!(l, Leaf::Bits(b) if b.tree == tree);
        formula.leaves.iter().find(of).expect("a literal of the formula")
    };
    let text = |a: &Dynamic| {
        let name = |d: Dim| {
            let names = [(d_eax, "eax"), (d_eax2, "eax'"), (d_pc2, "pc'")];
            names.iter().find(|n| n.0 == d).map_or("?".into(), |n| n.1.to_string())
        };
        a.get::<Affine>().map_or(String::new(), |a| a.display_with(&name))
    };
    let mut a1 = top.clone();
    leaf(&terms, at_l4).meet(&mut a1, true);
    assert_eq!(text(&a1), "pc' = 104 mod 4294967296");
    let mut a2 = a1.clone();
    leaf(&terms, kept).meet(&mut a2, true);
    assert_eq!(text(&a2), "eax - eax' = 0 mod 4294967296 && pc' = 104 mod 4294967296");
    // Step 4: the other target contradicts A₂, so zf holds, so eax = 2.
    let elsewhere = terms.eq(pc2, l3);
    let mut other = a2.clone();
    leaf(&terms, elsewhere).meet(&mut other, true);
    assert!(other.is_bottom());
    // All of it by propagation alone.
    let a3 = Assume::new(&formula, Config::new(0)).run(top);
    assert_eq!(text(&a3), "eax = 2 mod 4294967296 && eax' = 2 mod 4294967296 && pc' = 104 mod 4294967296");
    assert!(a3.leq(&a2) && !a2.leq(&a3));
}

fn values(terms: &Terms, voc: &Vocabulary, t: palisade_logic::Term) -> Vec<Vec<(Dim, Int)>> {
    let mut models = assignments(terms, voc);
    models.retain(|m| terms.evaluate(t, m) == palisade_logic::Value::Bool(true));
    models.iter().map(|m| voc.state(|v| Some(terms.evaluate(v, m)))).collect()
}

fn inside(a: &Dynamic, state: &[(Dim, Int)]) -> bool {
    a.contains(&|d| Rat::from(state.iter().find(|s| s.0 == d).map_or(Int::ZERO, |s| s.1.clone())))
}

/// Every domain, with an element to start from.
fn tops() -> Vec<(&'static str, Dynamic)> {
    vec![
        ("intervals", Dynamic::of(Intervals::top(&()))),
        ("congruences", Dynamic::of(Congruences::top(&()))),
        ("octagons", Dynamic::of(Octagons::top(&Limits::STANDARD))),
        ("polyhedra", Dynamic::of(Polyhedra::top(&Limits::STANDARD))),
        ("boxes", Dynamic::of(Boxes::top(&LddCtx::new(LddLimits::default())))),
        ("affine", Dynamic::of(Affine::top(&WordSize::new(8)))),
        ("words", Dynamic::of(Words::top(&WordSize::new(8)))),
        ("product", Dynamic::of(Product::<Intervals, Congruences>::top(&((), ())))),
    ]
}

/// Theorems 1 to 3 by enumeration at width 3: γ is preserved on φ and the result never grows, for
/// 0-assume, each k-assume and each single application of the Dilemma rule, in every domain.
#[test]
fn theorems_1_to_3() {
    let rounds = std::env::var("PALISADE_SYMABS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    let mut rng = Rng::new(7);
    for round in 0..rounds {
        for (name, top) in tops() {
            let mut terms = Terms::new();
            let mut voc = small_vocabulary(&mut terms, 3);
            let plain = voc.clone();
            let phi = random_bool(&mut terms, &voc, &mut rng, 3);
            let reading = [Reading::Sums, Reading::Sides, Reading::Plain][round % 3];
            let formula = Formula::of_term(&mut terms, &mut voc, phi, reading);
            let mut a = top.clone();
            within_types(&voc, &mut a);
            // A starting point that is not top.
            let first = plain.entries()[round % 2];
            a.assume(&LinCons::le(first.dim, rng.range(-1, 6)));
            let states = values(&terms, &plain, phi);
            let start_states: Vec<_> = states.iter().filter(|s| inside(&a, s)).collect();
            let check = |what: &str, mut result: Dynamic, before: &Dynamic| {
                assert!(result.leq(before), "{name}: {what} grew");
                result.forget(&formula.hidden);
                for s in &start_states {
                    assert!(inside(&result, s), "{name}: {what} lost {s:?}: {result:?}");
                }
            };
            let mut assume = Assume::new(&formula, Config { splits: 200, ..Config::new(1) });
            let pair = assume.start(a.clone());
            check("0-assume", pair.a.clone(), &a);
            if let Some(u) = (0..formula.integrity.len() as u32).find(|u| pair.p.get(*u).is_none())
                && !pair.is_bottom()
            {
                let split: Pair = assume.dilemma(1, &pair, u);
                assert!(split.leq(&pair), "{name}: the Dilemma rule grew");
                check("the Dilemma rule", split.a, &pair.a);
            }
            let mut last = pair.a;
            for k in 1..=2 {
                let config = Config { splits: 300, ..Config::new(k) };
                let result = Assume::new(&formula, config).run(a.clone());
                check("k-assume", result.clone(), &a);
                if k == 1 {
                    assert!(result.leq(&last), "{name}: 1-assume is above 0-assume");
                }
                last = result;
            }
        }
    }
}

/// Section 4: x ≠ 0 ∧ x ≠ 1 ∧ x ≠ 2 over two bits. From above nothing is found.
#[test]
fn incompleteness_for_affine_relations() {
    let (formula, mut terms, voc, phi) = not_0_1_2();
    let top = Dynamic::of(Affine::top(&WordSize::new(2)));
    for k in 0..4 {
        let a = Assume::new(&formula, Config::new(k)).run(top.clone());
        assert!(top.leq(&a), "{a:?}");
    }
    // With ranges beside the relations three bounds move.
    let three = element::point(&top, &[(voc.entries()[0].dim, Int::from(3))]);
    let mut abstraction = Abstraction { terms: &mut terms, config: Config::new(0), solver: None, queries: 0 };
    assert!(abstraction.from_above(&voc, phi, &top).equiv(&three));
    // From below and from both sides the best value is found.
    let mut solver = BvSolver::new();
    let mut models = Models { terms: &mut terms, solver: &mut solver, voc: &voc };
    let below = models.from_below(phi, &top, 100);
    assert!(below.complete && below.upper.equiv(&three), "{below:?}");
    let both = models.bilateral(phi, top, 100);
    assert!(both.complete && both.upper.equiv(&three), "{both:?}");
}

/// The formula, its terms, its vocabulary and itself as a term.
pub(crate) fn not_0_1_2() -> (Formula, Terms, Vocabulary, palisade_logic::Term) {
    let mut terms = Terms::new();
    let mut voc = Vocabulary::new();
    let x = terms.var("x", Sort::BitVec(2));
    voc.add(&terms, x, false);
    let mut phi = terms.tru();
    for n in 0..3 {
        let c = terms.bv_const(&BitVec::new(2, n));
        let differs = terms.ne(x, c);
        phi = terms.and(phi, differs);
    }
    let formula = Formula::of_term(&mut terms, &mut voc, phi, Reading::Plain);
    (formula, terms, voc, phi)
}

/// Example 2: ψ = χ₂ is refuted by two applications of the Dilemma rule, each of which learns
/// a_i < a_{i+1} on both branches.
#[test]
fn example_2_step_by_step() {
    let psi = chi::formula(2);
    // The steps of the paper, which looks again only at literals next to a change.
    let mut assume = Assume::new(&psi, Config { reach: Reach::Neighbours, ..Config::new(1) });
    let ([a0, b0, c0], [a1, b1, c1], [a2, ..]) = (chi::points(0), chi::points(1), chi::points(2));
    let less = |a: Dim, b: Dim| LinCons::lt(a, LinExpr::dim(b));
    let top = Dynamic::of(SparsePolyhedra::top(&Limits::STANDARD));
    let element = |of: &[LinCons]| {
        let mut out = top.clone();
        of.iter().for_each(|c| out.assume(c));
        out
    };
    // (P₀, A₀): all conjuncts are true, the four alternatives are open.
    let pair0 = assume.start(top.clone());
    let conjuncts = [less(a0, b0), less(a0, c0), less(a1, b1), less(a1, c1), less(a2, a0)];
    assert!(pair0.a.equiv(&element(&conjuncts)), "{:?}", pair0.a);
    let leaf = |c: LinCons| {
        let at = psi.leaves.iter().position(|l| matches!(l, Leaf::Linear(x, _) if *x == c.normalize()));
        psi.integrity.leaves()[at.expect("a literal of the formula")]
    };
    let (u9, u10) = (leaf(less(b0, a1)), leaf(less(c0, a1)));
    let (u11, u12) = (leaf(less(b1, a2)), leaf(less(c1, a2)));
    assert_eq!(psi.leaves.len(), 9);
    for u in [u9, u10, u11, u12] {
        assert_eq!(pair0.p.get(u), None);
    }
    for c in &conjuncts {
        assert_eq!(pair0.p.get(leaf(c.clone())), Some(true));
    }
    // The branches of the split on u₉ before the join: u₉ = 0 makes u₁₀ true.
    let learned = element(&conjuncts.iter().cloned().chain([less(a0, a1)]).collect::<Vec<_>>());
    let pair3 = assume.dilemma(1, &pair0, u9);
    assert!(pair3.a.leq(&learned), "both branches know a0 < a1: {:?}", pair3.a);
    assert!(pair3.leq(&pair0) && !pair0.leq(&pair3));
    assert_eq!(pair3.p.get(u9), None);
    // The split of (P₃, A₃) on u₁₁ is empty on both branches.
    assert!(assume.dilemma(1, &pair3, u11).is_bottom());
    assert_eq!(assume.splits(), 2);
    // Looking at all literals again, one application is enough.
    let mut thorough = Assume::new(&psi, Config::new(1));
    let pair = thorough.start(top.clone());
    assert!(thorough.dilemma(1, &pair, u9).is_bottom());
    // The whole algorithm, and what 0-assume alone cannot do.
    assert!(!Assume::new(&psi, Config::new(0)).run(top.clone()).is_bottom());
    assert!(Assume::new(&psi, Config::new(1)).run(top).is_bottom());
}

/// Each χ_d is refuted by 1-assume, with any reach, and a χ_d without its closing edge is not.
#[test]
fn diamonds_of_any_number() {
    let top = Dynamic::of(SparsePolyhedra::top(&Limits::STANDARD));
    for d in 1..=20 {
        let f = chi::formula(d);
        for reach in [Reach::All, Reach::Neighbours] {
            if reach == Reach::All && d > 8 {
                continue;
            }
            let config = Config { reach, ..Config::new(1) };
            assert!(Assume::new(&f, config).run(top.clone()).is_bottom(), "{d} {reach:?}");
        }
    }
}

/// Section 4: for QF_LRA and polyhedra, k-assume with a large k gives the best value. The best value is the
/// hull of the conjunctions of literals of all Boolean models.
#[test]
fn completeness_for_linear_arithmetic() {
    let mut rng = Rng::new(23);
    for round in 0..15 {
        let mut f = Formula::new();
        let mut lits: Vec<Lit> = Vec::new();
        for i in 0..3 {
            let terms: Vec<(Dim, Rat)> = (0..2).map(|i| (Dim::rat(i), Rat::from(rng.range(-2, 2)))).collect();
            let rel = match rng.below(4) {
                0 => Rel::Lt,
                1 if i == 0 => Rel::Eq,
                _ => Rel::Le,
            };
            lits.push(f.linear(&LinCons { expr: LinExpr::new(terms, rng.range(-3, 3)), rel }));
        }
        while lits.len() < 7 {
            let pick = |rng: &mut Rng, lits: &[Lit]| {
                let l = lits[rng.below(lits.len() as u64) as usize];
                if rng.below(2) == 0 { l } else { !l }
            };
            let (a, b, c) = (pick(&mut rng, &lits), pick(&mut rng, &lits), pick(&mut rng, &lits));
            lits.push(match rng.below(4) {
                0 => f.integrity.and([a, b]),
                1 => f.integrity.or([a, b]),
                2 => f.integrity.iff(a, b),
                _ => f.integrity.ite(a, b, c),
            });
        }
        f.root = lits.last().copied();
        let top = Dynamic::of(SparsePolyhedra::top(&Limits::STANDARD));
        let mut best = element::bottom(&top);
        for model in 0..1u32 << f.leaves.len() {
            if truth(&f.integrity, f.whole(), model) {
                let mut region = top.clone();
                for (i, leaf) in f.leaves.iter().enumerate() {
                    leaf.meet(&mut region, model >> i & 1 == 1);
                }
                best.join_with(&region);
            }
        }
        let all = Assume::new(&f, Config::new(f.leaves.len() as u32)).run(top.clone());
        assert!(all.equiv(&best), "round {round}: {all:?} is not {best:?}");
        for k in 0..3 {
            let some = Assume::new(&f, Config::new(k)).run(top.clone());
            assert!(best.leq(&some), "round {round}, k = {k}");
        }
    }
}

/// The value of a formula when bit `i` of the model is that of leaf `i`.
fn truth(i: &Integrity, l: Lit, model: u32) -> bool {
    use crate::integrity::Node;
    let value = match i.get(l.var()) {
        Node::True => true,
        Node::Leaf(n) => model >> n & 1 == 1,
        Node::And(of) => of.iter().all(|x| truth(i, *x, model)),
        Node::Iff(a, b) => truth(i, *a, model) == truth(i, *b, model),
        Node::Ite(c, a, b) => truth(i, if truth(i, *c, model) { *a } else { *b }, model),
    };
    value == l.sign()
}

/// From both sides the best element is found in every domain, from below too, by enumeration at width 3;
/// from both sides is never above from above or from below.
#[test]
fn both_sides_meet_at_the_best_element() {
    let mut rng = Rng::new(31);
    for round in 0..12 {
        for (name, top) in tops() {
            let mut terms = Terms::new();
            let voc = small_vocabulary(&mut terms, 3);
            let phi = random_bool(&mut terms, &voc, &mut rng, 3);
            let mut best = element::bottom(&top);
            let states = values(&terms, &voc, phi);
            for s in &states {
                best.join_with(&element::point(&top, s));
            }
            let mut solver = BvSolver::new();
            let mut start = top.clone();
            within_types(&voc, &mut start);
            let mut abstraction = Abstraction {
                terms: &mut terms,
                config: Config { splits: 50, ..Config::new(1) },
                solver: None,
                queries: 1000,
            };
            let above = abstraction.from_above(&voc, phi, &start);
            let mut models = Models { terms: &mut terms, solver: &mut solver, voc: &voc };
            let below = models.from_below(phi, &start, 1000);
            let both = models.bilateral(phi, above.clone(), 1000);
            assert!(best.leq(&above), "{name} {round}");
            assert!(both.upper.leq(&above) && both.upper.leq(&below.upper), "{name} {round}: {both:?}");
            assert!(both.complete && below.complete, "{name} {round}: {both:?}, {below:?}");
            assert!(both.upper.equiv(&best), "{name} {round}: {:?} is not {best:?}", both.upper);
            assert!(below.upper.equiv(&best), "{name} {round}: {:?} is not {best:?}", below.upper);
        }
    }
}

/// Section 6: containment, semantic reduction, conversion, and a transformer that is applied.
#[test]
fn operations_of_section_6() {
    let mut terms = Terms::new();
    let mut voc = Vocabulary::new();
    let word = |terms: &mut Terms, voc: &mut Vocabulary, name: &str| {
        let v = terms.var(name, Sort::BitVec(8));
        (v, voc.add(terms, v, true))
    };
    let (x, dx) = word(&mut terms, &mut voc, "x");
    let (x2, dx2) = word(&mut terms, &mut voc, "x'");
    let mut solver = BvSolver::new();
    let mut abstraction =
        Abstraction { terms: &mut terms, config: Config::new(1), solver: Some(&mut solver), queries: 1000 };
    let between = |top: &Dynamic, lo: i64, hi: i64| {
        let mut a = top.clone();
        a.assume(&LinCons::ge(dx, LinExpr::constant(lo)));
        a.assume(&LinCons::le(dx, hi));
        a
    };
    let boxes = Dynamic::of(Intervals::top(&()));
    let octagons = Dynamic::of(Octagons::top(&Limits::STANDARD));
    let residues = Dynamic::of(Congruences::top(&()));
    // Containment across domains.
    let (narrow, wide) = (between(&boxes, 2, 5), between(&octagons, 0, 9));
    assert!(abstraction.is_contained(&voc, &narrow, &wide));
    assert!(!abstraction.is_contained(&voc, &wide, &narrow));
    // The reduced product of [1, 8] and x ≡ 3 (mod 4) is [3, 7].
    let mut third = residues.clone();
    third.assume(&LinCons::congruent(dx, LinExpr::constant(3), Int::from(4)));
    let (first, _) = abstraction.reduce(&voc, &between(&boxes, 1, 8), &third);
    assert_eq!(first.bounds(&LinExpr::dim(dx)), palisade_domains::Interval::closed(3, 7));
    // The best octagon for an interval, and the best residue class for a point.
    let converted = abstraction.convert(&voc, &between(&boxes, 2, 5), &octagons);
    assert_eq!(converted.bounds(&LinExpr::dim(dx)), palisade_domains::Interval::closed(2, 5));
    let point = abstraction.convert(&voc, &between(&boxes, 6, 6), &residues);
    assert!(
        point.equiv(&{
            let mut six = element::top(&residues);
            six.assume(&LinCons::eq(dx, LinExpr::constant(6)));
            within_types(&voc, &mut six);
            six
        }),
        "{point:?}"
    );
    // `if (x < 0) x = -x;` from [-3, 2]: applied to the states the transformer gives [0, 3].
    let zero = abstraction.terms.bv_const(&BitVec::zero(8));
    let negative = abstraction.terms.slt(x, zero);
    let negated = abstraction.terms.neg(x);
    let result = abstraction.terms.ite(negative, negated, x);
    let step = abstraction.terms.eq(x2, result);
    let from = between(&octagons, -3, 2);
    let transformer = abstraction.assume(&voc, step, &from);
    let after = apply(&transformer, &from, &[(dx, dx2)]);
    assert_eq!(after.bounds(&LinExpr::dim(dx)), palisade_domains::Interval::closed(0, 3), "{after:?}");
}

/// Scripts: QF_LRA and bit-vectors, unsat or unknown.
#[test]
fn scripts_are_refuted_or_left_open() {
    let answer = |text: &str, k: u32| {
        let mut out = Vec::new();
        crate::stalmarck::run(text.as_bytes(), "t", &mut out, k);
        String::from_utf8_lossy(&out).into_owned()
    };
    assert_eq!(answer(&chi::script(5), 1), "unsat\n");
    assert_eq!(answer(&chi::script(5), 0), "unknown\n");
    let real = "(set-logic QF_LRA)(declare-fun x () Real)(declare-const p Bool)(define-fun y () Real (* 2 x))
        (push 1)(assert (let ((z (ite p (+ y 1) (- y 1.5)))) (and (= z 0) (> x 1))))(check-sat)(pop 1)
        (assert (or p (distinct x 0.0)))(check-sat)(exit)";
    assert_eq!(answer(real, 1), "unsat\nunknown\n");
    let bits = "(set-logic QF_BV)(declare-fun x () (_ BitVec 8))(declare-fun y () (_ BitVec 8))
        (push)(assert (bvult x y))(assert (bvult y x))(check-sat)(pop)(assert (bvult x y))(check-sat)";
    assert_eq!(answer(bits, 1), "unsat\nunknown\n");
    assert!(answer("(set-logic QF_LRA)(assert (< x 1))", 1).contains("(error \"t:1:30: `x` is not declared"));
    let deep = format!(
        "(set-logic QF_LRA)(assert {}true{})(check-sat)",
        "(not ".repeat(100_000),
        ")".repeat(100_000)
    );
    assert_eq!(answer(&deep, 1), "unknown\n");
}
