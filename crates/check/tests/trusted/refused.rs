//! No certificate whatever is accepted for a program that a run shows to be wrong, by either checker;
//! and the plain twin accepts what is right. `PALISADE_REFUSED` says how many random programs are tried.

use crate::common::{Generator, compile, size};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_check::court::Court;
use palisade_check::{Rejection, plain, reduced};
use palisade_evidence::{Bounds, Certificate, Cover, Invariants};
use palisade_interp::{Config, Discard, Interp, Outcome, Random};
use palisade_property::Property;
use palisade_task::Task;
use palisade_testkit::Rng;
use std::sync::Arc;

/// Facts that compare registers with constants and with one another, at loop heads and elsewhere.
fn random_invariants(task: &Task, rng: &mut Rng) -> Invariants {
    let p = &task.program;
    let mut pool = Invariants::none(p);
    let mut places: Vec<LocId> = p.analyse().loop_heads(p.entry).collect();
    let all: Vec<LocId> = p.locs.ids().collect();
    places.extend((0..rng.below(3)).map(|_| all[rng.below(all.len())]));
    let is_int = |v: &VarId| matches!(p.scalar_of(p.vars[*v].ty), Some(Scalar::Int(t)) if t == IntTy::I32);
    let vars: Vec<VarId> = p.vars.ids().filter(is_int).collect();
    if vars.is_empty() {
        return pool;
    }
    for head in places {
        for _ in 0..rng.below(4) {
            let left = pool.var(p, vars[rng.below(vars.len())]);
            let right = match rng.below(3) {
                0 => pool.var(p, vars[rng.below(vars.len())]),
                _ => pool.int(IntTy::I32, rng.below(6) as i128 - 1),
            };
            let op = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le][rng.below(4)];
            let fact = pool.expr(Scalar::BOOL, ExprKind::Cmp(op, left, right));
            pool.at.push((head, fact));
        }
    }
    pool
}

fn random_cover(task: &Task, rng: &mut Rng) -> Cover {
    let p = &task.program;
    let heads: Vec<LocId> = p.analyse().loop_heads(p.entry).collect();
    let register =
        |v: &VarId| p.scalar_of(p.vars[*v].ty) == Some(Scalar::Int(IntTy::I32)) && !p.vars[*v].address_taken;
    let vars: Vec<VarId> = p.vars.ids().filter(register).collect();
    let mut cover = Cover::default();
    for head in heads {
        for _ in 0..1 + rng.below(4) {
            let some = (rng.below(3) > 0 && !vars.is_empty()).then(|| {
                let first = rng.below(4) as u128;
                (vars[rng.below(vars.len())], Bounds { first, last: first + rng.below(3) as u128 })
            });
            cover.states.push((head, some.into_iter().collect()));
        }
    }
    cover
}

fn certificates(task: &Task, rng: &mut Rng) -> Vec<Certificate> {
    let p = &task.program;
    let bounds = |n: u32| p.analyse().loop_heads(p.entry).map(|h| (h, n)).collect();
    vec![
        Certificate::Unrolling { bounds: bounds(0) },
        Certificate::Unrolling { bounds: bounds(2) },
        Certificate::Unrolling { bounds: bounds(4) },
        Certificate::Invariants(random_invariants(task, rng)),
        Certificate::KInduction { k: rng.below(3) as u32, invariants: random_invariants(task, rng) },
        Certificate::Cover(random_cover(task, rng)),
        Certificate::OnlyRun,
    ]
}

#[test]
fn what_is_wrong_has_no_certificate() {
    let count = size("PALISADE_REFUSED", 25);
    let property = Property::assertions();
    let (mut wrong, mut right, mut accepted) = (0, 0, 0);
    for seed in 0..count {
        let mut rng = Rng::new(seed);
        let text = Generator::loops(seed);
        let source = Arc::new(compile(&text, &property, DataModel::Lp64));
        let task = palisade_reduce::task(&source, 2, 100_000).expect("small");
        let goes_wrong = (0..20).any(|inputs| {
            let config = Config { step_limit: 10_000, ..Config::default() };
            let run = Interp::new(&source, config).run(&mut Random::with_unknowns(inputs), &mut Discard);
            matches!(run.outcome, Outcome::Violation(_))
        });
        for certificate in certificates(&task, &mut rng) {
            let budget = Budget::unlimited();
            let by_twin = plain::check(&task, &certificate, &Court::plain(&budget));
            if goes_wrong {
                assert!(by_twin.is_err(), "seed {seed}: the twin accepts {certificate:?}\n{text}");
                let by_fast = reduced(&task, &certificate, &Court::new(&Budget::unlimited()));
                assert!(by_fast.is_err(), "seed {seed}: accepted: {certificate:?}\n{text}");
            } else {
                accepted += usize::from(by_twin.is_ok());
            }
        }
        if goes_wrong { wrong += 1 } else { right += 1 }
    }
    eprintln!("{count} programs: {wrong} go wrong, {right} do not and had {accepted} certificates accepted");
    assert!(wrong * 5 > count && accepted > 0, "{wrong} wrong, {accepted} accepted");
}

/// A loop over an array in memory, with the bound of the loop and with invariants.
const FILL: &str = "int __VERIFIER_nondet_int(void); void reach_error(void);
    int a[4]; int *p = a;
    int main(void) { int n = __VERIFIER_nondet_int(), i = 0, s = 0;
      if (n < 0 || n > 4) return 0;
      while (i < n) { p[i] = i; s += i; i++; }
      if (s > 6) reach_error();
      return 0; }";

#[test]
fn the_twin_accepts_what_is_right() {
    let source = Arc::new(compile(FILL, &Property::assertions(), DataModel::Lp64));
    let task = palisade_reduce::task(&source, 2, 10_000).expect("small");
    let heads: Vec<LocId> = task.program.analyse().loop_heads(task.program.entry).collect();
    let court = Court::plain(&Budget::unlimited());
    let unrolling = |n: u32| Certificate::Unrolling { bounds: heads.iter().map(|&h| (h, n)).collect() };
    assert_eq!(plain::check(&task, &unrolling(4), &court), Ok(()));
    assert!(matches!(plain::check(&task, &unrolling(2), &court), Err(Rejection::Wrong(_))));
    // The sum is bounded by what the counter says.
    let p = &task.program;
    let mut pool = Invariants::none(p);
    let named = |name: &str| {
        p.vars.iter_enumerated().find(|(_, v)| &*v.name == name).map(|(id, _)| id).expect("there")
    };
    let (i, n, s) = (named("i"), named("n"), named("s"));
    let mut cases = Vec::new();
    for (k, sum) in [(0, 0), (1, 0), (2, 1), (3, 3), (4, 6)] {
        let (iv, kv) = (pool.var(p, i), pool.int(IntTy::I32, k));
        let (sv, mv) = (pool.var(p, s), pool.int(IntTy::I32, sum));
        let at = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, iv, kv));
        let is = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, sv, mv));
        cases.push(pool.all(BinOp::And, &[at, is]));
    }
    let cases = pool.all(BinOp::Or, &cases);
    let (nv, four) = (pool.var(p, n), pool.int(IntTy::I32, 4));
    let small = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, nv, four));
    pool.at = heads.iter().flat_map(|&h| [(h, cases), (h, small)]).collect();
    assert_eq!(plain::check(&task, &Certificate::Invariants(pool.clone()), &court), Ok(()));
    pool.at.retain(|(_, fact)| *fact == small);
    assert!(plain::check(&task, &Certificate::Invariants(pool), &court).is_err());
}

#[test]
fn expressions_of_a_certificate_must_be_well_formed() {
    let source = Arc::new(compile(FILL, &Property::assertions(), DataModel::Lp64));
    let task = palisade_reduce::task(&source, 2, 10_000).expect("small");
    let p = &task.program;
    let i = p.vars.iter_enumerated().find(|(_, v)| &*v.name == "i").map(|(id, _)| id).expect("there");
    let missing =
        |pool: &mut Invariants| ExprKind::Binary(BinOp::Add, ExprId(u32::MAX), pool.int(IntTy::BOOL, 1));
    let widths = |pool: &mut Invariants| {
        ExprKind::Cmp(CmpOp::Le, pool.int(IntTy { bits: 64, signed: true }, 0), pool.var(p, i))
    };
    for strange in [&missing as &dyn Fn(&mut Invariants) -> ExprKind, &widths] {
        let mut pool = Invariants::none(p);
        let kind = strange(&mut pool);
        let strange = pool.expr(Scalar::BOOL, kind);
        pool.at = p.analyse().loop_heads(p.entry).map(|h| (h, strange)).collect();
        let certificate = Certificate::Invariants(pool);
        for result in [
            reduced(&task, &certificate, &Court::new(&Budget::unlimited())),
            plain::check(&task, &certificate, &Court::plain(&Budget::unlimited())),
        ] {
            let Err(Rejection::Wrong(why)) = &result else { panic!("{result:?}") };
            assert!(why.contains("not well formed"), "{why}");
        }
    }
}
