//! Polyhedra against PPL's `C_Polyhedron`: the same random programs are run on both, every result is
//! compared, and the total times are printed. States that come from a widening that differs are left
//! out of the comparison. Run with
//! `cargo bench -p palisade-domains --features ppl --bench ppl`.

use palisade_domains::laws::Rng;
use palisade_domains::ppl::{CPolyhedron, Ppl, PplSpace};
use palisade_domains::{Dim, Interval, Lattice, Limits, LinCons, LinExpr, NumericDomain, Polyhedra, Rel};
use palisade_num::Rat;
use std::time::{Duration, Instant};

type Peer = Ppl<CPolyhedron>;

/// One step; states are numbered by the step that made them.
#[derive(Clone, Debug)]
enum Step {
    Assign(usize, Dim, LinExpr),
    Range(usize, Dim, Interval),
    Assume(usize, LinCons),
    Forget(usize, Dim),
    Join(usize, usize),
    Meet(usize, usize),
    Widen(usize, usize),
}

impl Step {
    /// The states it starts from.
    fn inputs(&self) -> Vec<usize> {
        match self {
            Step::Assign(a, ..) | Step::Range(a, ..) | Step::Assume(a, _) | Step::Forget(a, _) => vec![*a],
            Step::Join(a, b) | Step::Meet(a, b) | Step::Widen(a, b) => vec![*a, *b],
        }
    }
}

/// Rational dimensions: there both sides mean exactly the same.
fn var(i: u64) -> Dim {
    Dim::rat(i as u32)
}

fn linear(rng: &mut Rng, dims: u64) -> LinExpr {
    let mut e = LinExpr::constant(rng.range(-10, 10));
    for _ in 0..1 + rng.below(3) {
        e = e.add_scaled(&LinExpr::dim(var(rng.below(dims))), &Rat::from(rng.range(-3, 3)));
    }
    e
}

/// A program: initial values, then steps that resemble branches and loops.
fn program(rng: &mut Rng, dims: u64, length: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    for i in 0..length {
        // Mostly the newest state, so that effects build up.
        let mut state = || {
            let far = if rng.below(3) == 0 { i as u64 } else { 2.min(i as u64) };
            i - rng.below(far + 1) as usize
        };
        let (a, b) = (state(), state());
        let d = var(rng.below(dims));
        steps.push(match rng.below(20) {
            0..5 => Step::Assign(a, d, linear(rng, dims)),
            5..8 => {
                let lo = rng.range(-20, 20);
                Step::Range(a, d, Interval::closed(lo, lo + rng.range(0, 30)))
            }
            8..13 => Step::Assume(a, LinCons { expr: linear(rng, dims), rel: Rel::Le }),
            13 => Step::Assume(a, LinCons { expr: linear(rng, dims), rel: Rel::Eq }),
            14 => Step::Forget(a, d),
            15..18 => Step::Join(a, b),
            18 => Step::Meet(a, b),
            _ => Step::Widen(a, b),
        });
    }
    steps
}

/// Runs a program; the result of each step, and the time all steps took.
fn run<D: NumericDomain>(ctx: &D::Ctx, steps: &[Step]) -> (Vec<D>, Duration) {
    let mut states = vec![D::top(ctx)];
    let started = Instant::now();
    for s in steps {
        let mut x = states[s.inputs()[0]].clone();
        match s {
            Step::Assign(_, d, e) => x.assign(*d, e),
            Step::Range(_, d, i) => x.assign_interval(*d, i),
            Step::Assume(_, c) => x.assume(c),
            Step::Forget(_, d) => x.forget(&[*d]),
            Step::Meet(_, b) => x.meet_with(&states[*b]),
            Step::Join(_, b) => {
                x.join_with(&states[*b]);
            }
            Step::Widen(_, b) => {
                x.widen_with(&states[*b]);
            }
        }
        // Engines ask for emptiness after every step.
        std::hint::black_box(x.is_bottom());
        states.push(x);
    }
    (states, started.elapsed())
}

/// Our constraints as a PPL polyhedron, to compare with PPL's own result.
fn translate(space: &PplSpace, p: &Polyhedra) -> Peer {
    let mut out = Peer::bottom(space);
    for conj in p.to_constraints() {
        out = Peer::top(space);
        conj.iter().for_each(|c| out.assume(c));
    }
    out
}

fn main() {
    println!("random programs on both; all results compared");
    println!(
        "{:>5} {:>9} {:>7} {:>12} {:>12} {:>7} {:>9} {:>17}",
        "dims", "programs", "steps", "ours ms", "PPL ms", "ratio", "differing", "finer widenings"
    );
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    let mut wrong = 0;
    for (dims, programs, length) in [(3, 300, 40), (5, 150, 40), (8, 60, 40), (16, 30, 40), (40, 10, 60)] {
        let mut rng = Rng::new(dims);
        let (mut a, mut b) = (Duration::ZERO, Duration::ZERO);
        let (mut differing, mut finer) = (0, 0);
        for _ in 0..programs {
            let steps = program(&mut rng, dims, length);
            let space = PplSpace::new();
            // All dimensions exist from the start, as PPL wants it.
            let all = LinExpr::new((0..dims).map(|d| (var(d), Rat::from(1))), 0);
            std::hint::black_box(Peer::top(&space).bounds(&all));
            let (peer, time) = run::<Peer>(&space, &steps);
            b += time;
            let (mine, time) =
                run::<Polyhedra>(&Limits { dims: 100, rows: 1_000_000, bits: u32::MAX }, &steps);
            a += time;
            let same: Vec<bool> =
                mine.iter().zip(&peer).map(|(x, y)| translate(&space, x).equiv(y)).collect();
            for (i, s) in steps.iter().enumerate() {
                if same[i + 1] || !s.inputs().iter().all(|j| same[*j]) {
                    continue;
                }
                // Blocks let a widening drop variables before it compares constraints, which keeps
                // some consequences that H79 over the whole space loses.
                if matches!(s, Step::Widen(..)) && translate(&space, &mine[i + 1]).leq(&peer[i + 1]) {
                    finer += 1;
                } else {
                    differing += 1;
                    println!("differs at {s:?}\n  ours {:?}\n  PPL  {:?}", mine[i + 1], peer[i + 1]);
                }
            }
        }
        println!(
            "{dims:>5} {programs:>9} {length:>7} {:>12.2} {:>12.2} {:>7.2} {differing:>9} {finer:>17}",
            a.as_secs_f64() * 1e3,
            b.as_secs_f64() * 1e3,
            b.as_secs_f64() / a.as_secs_f64()
        );
        ours += a;
        theirs += b;
        wrong += differing;
    }
    println!(
        "total: ours {:.2} ms, PPL {:.2} ms, PPL/ours {:.2}; differing results {wrong}",
        ours.as_secs_f64() * 1e3,
        theirs.as_secs_f64() * 1e3,
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}
