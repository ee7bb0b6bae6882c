//! The examples and theorems of the paper.

use crate::assume::{Assume, Config, Pair};
use crate::element::Value;
use crate::formula::{Formula, Leaf};
use crate::terms::Vocabulary;
use crate::testing::{Rng, assignments, random_bool, small_vocabulary};
use palisade_domains::{
    Affine, Boxes, Congruences, Dim, Intervals, LddCtx, LddLimits, Limits, NumericDomain, Octagons,
    Polyhedra, Product, WordSize,
};
use palisade_logic::{BitVec, Sort, Terms};
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
    let formula = Formula::of_term(&mut terms, &mut voc, phi, false);

    // Steps 2 and 3: the literals give A₁ and A₂.
    let top = Value::of(Affine::top(&WordSize::new(32)));
    let leaf = |t| {
        let of = |l: &&Leaf| matches!(l, Leaf::Bits(b) if b.term == t);
        formula.leaves.iter().find(of).expect("a literal of the formula")
    };
    let text = |a: &Value| {
        let name = |d: Dim| {
            let names = [(d_eax, "eax"), (d_eax2, "eax'"), (d_pc2, "pc'")];
            names.iter().find(|n| n.0 == d).map_or("?".into(), |n| n.1.to_string())
        };
        a.get::<Affine>().map_or(String::new(), |a| a.display_with(&name))
    };
    let mut a1 = top.clone();
    leaf(at_l4).meet(&mut a1, true);
    assert_eq!(text(&a1), "pc' = 104 mod 4294967296");
    let mut a2 = a1.clone();
    leaf(kept).meet(&mut a2, true);
    assert_eq!(text(&a2), "eax - eax' = 0 mod 4294967296 && pc' = 104 mod 4294967296");
    // Step 4: the other target contradicts A₂, so zf holds, so eax = 2.
    let elsewhere = terms.eq(pc2, l3);
    let mut other = a2.clone();
    leaf(elsewhere).meet(&mut other, true);
    assert!(other.is_bottom());
    // All of it by propagation alone.
    let a3 = Assume::new(&formula, Config::new(0)).run(top);
    assert_eq!(text(&a3), "eax = 2 mod 4294967296 && eax' = 2 mod 4294967296 && pc' = 104 mod 4294967296");
    assert!(a3.leq(&*a2) && !a2.leq(&*a3));
}

fn values(terms: &Terms, voc: &Vocabulary, t: palisade_logic::Term) -> Vec<Vec<(Dim, Int)>> {
    let mut models = assignments(terms, voc);
    models.retain(|m| terms.evaluate(t, m) == palisade_logic::Value::Bool(true));
    models.iter().map(|m| voc.state(|v| Some(terms.evaluate(v, m)))).collect()
}

fn inside(a: &Value, state: &[(Dim, Int)]) -> bool {
    a.contains(&|d| Rat::from(state.iter().find(|s| s.0 == d).map_or(Int::ZERO, |s| s.1.clone())))
}

/// Every domain, with an element to start from.
fn tops() -> Vec<(&'static str, Value)> {
    vec![
        ("intervals", Value::of(Intervals::top(&()))),
        ("congruences", Value::of(Congruences::top(&()))),
        ("octagons", Value::of(Octagons::top(&Limits::STANDARD))),
        ("polyhedra", Value::of(Polyhedra::top(&Limits::STANDARD))),
        ("boxes", Value::of(Boxes::top(&LddCtx::new(LddLimits::default())))),
        ("affine", Value::of(Affine::top(&WordSize::new(8)))),
        ("product", Value::of(Product::<Intervals, Congruences>::top(&((), ())))),
    ]
}

/// Theorems 1 to 3 by enumeration at width 3: γ is preserved on φ and the result never grows, for
/// 0-assume, each k-assume and each single application of the Dilemma rule, in every domain.
#[test]
fn theorems_1_to_3() {
    let rounds = std::env::var("PALISADE_SYMABS_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let mut rng = Rng::new(7);
    for round in 0..rounds {
        for (name, top) in tops() {
            let mut terms = Terms::new();
            let mut voc = small_vocabulary(&mut terms, 3);
            let plain = voc.clone();
            let phi = random_bool(&mut terms, &voc, &mut rng, 3);
            let formula = Formula::of_term(&mut terms, &mut voc, phi, round % 2 == 0);
            let mut a = top.clone();
            crate::formula::within_types(&voc, &mut a);
            // A starting point that is not top.
            let first = plain.entries()[(round % 2) as usize];
            a.assume(&palisade_domains::LinCons::le(first.dim, rng.range(-1, 6)));
            let states = values(&terms, &plain, phi);
            let start_states: Vec<_> = states.iter().filter(|s| inside(&a, s)).collect();
            let check = |what: &str, mut result: Value, before: &Value| {
                assert!(result.leq(&**before), "{name}: {what} grew");
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
                    assert!(result.leq(&*last), "{name}: 1-assume is above 0-assume");
                }
                last = result;
            }
        }
    }
}

/// Section 4: x ≠ 0 ∧ x ≠ 1 ∧ x ≠ 2 over two bits. From above nothing is found.
#[test]
fn incompleteness_for_affine_relations() {
    let (formula, _, _, _) = not_0_1_2();
    let top = Value::of(Affine::top(&WordSize::new(2)));
    for k in 0..4 {
        let a = Assume::new(&formula, Config::new(k)).run(top.clone());
        assert!(top.leq(&*a), "{a:?}");
    }
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
    let formula = Formula::of_term(&mut terms, &mut voc, phi, false);
    (formula, terms, voc, phi)
}
