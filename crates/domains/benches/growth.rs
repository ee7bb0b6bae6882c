//! How octagon closure and polyhedra join grow with the number of variables, 2 to 64: times, and the
//! exponent of the fitted power law. Run with `cargo bench -p palisade-domains --bench growth`.

use palisade_domains::{
    Dim, Interval, Lattice, Limits, LinCons, LinExpr, NumericDomain, Octagons, Polyhedra,
};
use palisade_num::Rat;
use std::time::Instant;

const SIZES: [u32; 6] = [2, 4, 8, 16, 32, 64];
/// Only the sizes from here on enter the fit; below, fixed costs dominate.
const FIT_FROM: u32 = 8;

fn limits() -> Limits {
    Limits { dims: 64, rows: 100_000, ..Limits::STANDARD }
}

fn var(i: u32) -> Dim {
    Dim::int(i)
}

/// `a - b`, plus a constant.
fn difference(a: u32, b: u32, c: i64) -> LinExpr {
    LinExpr::new([(var(a), Rat::from(1)), (var(b), Rat::from(-1))], c)
}

/// The median time of one call, in seconds.
fn time(mut f: impl FnMut()) -> f64 {
    let mut runs: Vec<f64> = Vec::new();
    let started = Instant::now();
    while runs.len() < 5 || (runs.len() < 200 && started.elapsed().as_secs_f64() < 0.2) {
        let t = Instant::now();
        f();
        runs.push(t.elapsed().as_secs_f64());
    }
    runs.sort_by(f64::total_cmp);
    runs[runs.len() / 2]
}

/// The slope of the least-squares line through the logarithms.
fn exponent(points: &[(u32, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().filter(|p| p.0 >= FIT_FROM).map(|(n, t)| (f64::from(*n).ln(), t.ln())).collect();
    let n = logs.len() as f64;
    let (sx, sy) = logs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let (mx, my) = (sx / n, sy / n);
    let top: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let bottom: f64 = logs.iter().map(|(x, _)| (x - mx) * (x - mx)).sum();
    top / bottom
}

fn report(name: &str, run: impl Fn(u32) -> f64) {
    let points: Vec<(u32, f64)> = SIZES.iter().map(|n| (*n, run(*n))).collect();
    println!("{name}");
    for (n, t) in &points {
        println!("  {n:>3} variables  {:>12.2} us", t * 1e6);
    }
    println!("  fitted exponent from {FIT_FROM} variables on: {:.2}\n", exponent(&points));
}

/// One block of `n` variables in a ring of differences, each bounded.
fn octagon(n: u32, slack: i64) -> Octagons {
    let mut a = Octagons::top(&limits());
    for k in 0..n {
        a.assume(&LinCons::le(difference(k, (k + 1) % n, 0), slack + i64::from(k % 3)));
        a.assume(&LinCons::le(var(k), 100 + slack));
    }
    a
}

/// `0 ≤ x₀ ≤ x₁ ≤ … ≤ 10`: a simplex with `n + 1` vertices and facets.
fn simplex(n: u32) -> Polyhedra {
    let mut a = Polyhedra::top(&limits());
    a.assume(&LinCons::ge(var(0), 0));
    for k in 1..n {
        a.assume(&LinCons::le(difference(k - 1, k, 0), 0));
    }
    a.assume(&LinCons::le(var(n - 1), 10));
    a
}

fn main() {
    report("octagon: full closure (meet of two blocks)", |n| {
        let (a, b) = (octagon(n, 5), octagon(n, 7));
        time(|| {
            std::hint::black_box(a.meet(&b));
        })
    });
    report("octagon: incremental closure (one more constraint)", |n| {
        let a = octagon(n, 5);
        let c = LinCons::le(difference(0, n - 1, 0), -1);
        time(|| {
            let mut b = a.clone();
            b.assume(&c);
            std::hint::black_box(b);
        })
    });
    report("polyhedra: join of two points (one block of n variables)", |n| {
        let at = |c: i64| {
            let mut p = Polyhedra::top(&limits());
            (0..n).for_each(|k| p.assign(var(k), &LinExpr::constant(c * i64::from(k + 1))));
            p
        };
        let (a, b) = (at(0), at(1));
        time(|| {
            std::hint::black_box(a.join(&b));
        })
    });
    report("polyhedra: join of a simplex and its shift (one block of n variables)", |n| {
        let a = simplex(n);
        let mut b = a.clone();
        b.assign(var(n - 1), &LinExpr::dim(var(n - 1)).add_constant(&Rat::from(3)));
        time(|| {
            std::hint::black_box(a.join(&b));
        })
    });
    report("polyhedra: the same join of two variables among n in blocks of two", |n| {
        let mut a = Polyhedra::top(&limits());
        for k in 0..n / 2 {
            a.assign_interval(var(2 * k), &Interval::closed(0, 9));
            a.assign(var(2 * k + 1), &LinExpr::new([(var(2 * k), Rat::from(3))], 1));
        }
        let mut b = a.clone();
        b.assign(var(1), &LinExpr::new([(var(0), Rat::from(3))], 2));
        time(|| {
            std::hint::black_box(a.join(&b));
        })
    });
}
