//! Plain BDD operations on this kernel and on the `oxidd` crate, one thread each:
//! `cargo bench -p palisade-dd --bench oxidd`.
//!
//! Every workload checks a number that it knows by other means, so that nobody is fast and wrong.

use std::hint::black_box;
use std::time::{Duration, Instant};

use oxidd::util::AllocResult;
use oxidd::{BooleanFunction, BooleanFunctionQuant, BooleanOperator, Manager as _, ManagerRef};
use palisade_dd::{Bdd, Limits, Node, Root, Shared, Var};

/// What the workloads need from a BDD package.
trait Package {
    type F: Clone;
    fn new(vars: u32) -> Self;
    fn var(&self, i: u32) -> Self::F;
    fn constant(&self, value: bool) -> Self::F;
    fn and(&self, f: &Self::F, g: &Self::F) -> Self::F;
    fn or(&self, f: &Self::F, g: &Self::F) -> Self::F;
    fn xor(&self, f: &Self::F, g: &Self::F) -> Self::F;
    fn not(&self, f: &Self::F) -> Self::F;
    fn ite(&self, f: &Self::F, g: &Self::F, h: &Self::F) -> Self::F;
    fn exists(&self, f: &Self::F, vars: &[u32]) -> Self::F;
    fn and_exists(&self, f: &Self::F, g: &Self::F, vars: &[u32]) -> Self::F;
    fn count(&self, f: &Self::F, vars: u32) -> f64;
}

/// This kernel, through the handles that its users hold.
struct Ours(Shared<Bdd>);

impl Package for Ours {
    type F = Root<Bdd>;

    fn new(vars: u32) -> Self {
        let mut bdd = Bdd::new(Limits { nodes: 1 << 24, ..Limits::default() });
        for _ in 0..vars {
            bdd.new_var().expect("few variables");
        }
        Ours(Shared::new(bdd))
    }
    fn var(&self, i: u32) -> Self::F {
        self.0.op(|m| m.literal(Var(i), true)).expect("within limits")
    }
    fn constant(&self, value: bool) -> Self::F {
        self.0.root(if value { Node::TRUE } else { Node::FALSE })
    }
    fn and(&self, f: &Self::F, g: &Self::F) -> Self::F {
        self.0.op(|m| m.and(f.node(), g.node())).expect("within limits")
    }
    fn or(&self, f: &Self::F, g: &Self::F) -> Self::F {
        self.0.op(|m| m.or(f.node(), g.node())).expect("within limits")
    }
    fn xor(&self, f: &Self::F, g: &Self::F) -> Self::F {
        self.0.op(|m| m.xor(f.node(), g.node())).expect("within limits")
    }
    fn not(&self, f: &Self::F) -> Self::F {
        self.0.op(|m| m.not(f.node())).expect("within limits")
    }
    fn ite(&self, f: &Self::F, g: &Self::F, h: &Self::F) -> Self::F {
        self.0.op(|m| m.ite(f.node(), g.node(), h.node())).expect("within limits")
    }
    fn exists(&self, f: &Self::F, vars: &[u32]) -> Self::F {
        let vars: Vec<Var> = vars.iter().map(|&v| Var(v)).collect();
        self.0.op(|m| m.exists(f.node(), &vars)).expect("within limits")
    }
    fn and_exists(&self, f: &Self::F, g: &Self::F, vars: &[u32]) -> Self::F {
        let vars: Vec<Var> = vars.iter().map(|&v| Var(v)).collect();
        self.0.op(|m| m.and_exists(f.node(), g.node(), &vars)).expect("within limits")
    }
    fn count(&self, f: &Self::F, _: u32) -> f64 {
        self.0.with(|m| m.sat_count(f.node())).to_f64()
    }
}

macro_rules! oxidd_package {
    ($name:ident, $module:ident, $manager:ident, $function:ident) => {
        struct $name(oxidd::$module::$manager);

        impl $name {
            fn cube(&self, vars: &[u32]) -> oxidd::$module::$function {
                let all = vars.iter().map(|&v| self.var(v));
                all.fold(self.constant(true), |c, v| self.and(&c, &v))
            }
            fn done<T>(r: AllocResult<T>) -> T {
                r.expect("within limits")
            }
        }

        impl Package for $name {
            type F = oxidd::$module::$function;

            fn new(vars: u32) -> Self {
                let manager = oxidd::$module::new_manager(1 << 24, 1 << 22, 1);
                manager.with_manager_exclusive(|m| m.add_vars(vars));
                $name(manager)
            }
            fn var(&self, i: u32) -> Self::F {
                Self::done(self.0.with_manager_shared(|m| oxidd::$module::$function::var(m, i)))
            }
            fn constant(&self, value: bool) -> Self::F {
                self.0.with_manager_shared(|m| {
                    if value { oxidd::$module::$function::t(m) } else { oxidd::$module::$function::f(m) }
                })
            }
            fn and(&self, f: &Self::F, g: &Self::F) -> Self::F {
                Self::done(f.and(g))
            }
            fn or(&self, f: &Self::F, g: &Self::F) -> Self::F {
                Self::done(f.or(g))
            }
            fn xor(&self, f: &Self::F, g: &Self::F) -> Self::F {
                Self::done(f.xor(g))
            }
            fn not(&self, f: &Self::F) -> Self::F {
                Self::done(f.not())
            }
            fn ite(&self, f: &Self::F, g: &Self::F, h: &Self::F) -> Self::F {
                Self::done(f.ite(g, h))
            }
            fn exists(&self, f: &Self::F, vars: &[u32]) -> Self::F {
                Self::done(f.exists(&self.cube(vars)))
            }
            fn and_exists(&self, f: &Self::F, g: &Self::F, vars: &[u32]) -> Self::F {
                Self::done(f.apply_exists(BooleanOperator::And, g, &self.cube(vars)))
            }
            fn count(&self, f: &Self::F, vars: u32) -> f64 {
                let mut cache: oxidd::util::SatCountCache<
                    oxidd::util::num::F64,
                    std::hash::BuildHasherDefault<rustc_hash::FxHasher>,
                > = Default::default();
                f.sat_count(vars, &mut cache).0
            }
        }
    };
}

oxidd_package!(OxiBdd, bdd, BDDManagerRef, BDDFunction);
oxidd_package!(OxiBcdd, bcdd, BCDDManagerRef, BCDDFunction);

/// Placements of `n` queens that do not attack each other.
fn queens<P: Package>(n: u32) -> f64 {
    let p = P::new(n * n);
    let at = |r: u32, c: u32| p.var(r * n + c);
    let mut board = p.constant(true);
    for r in 0..n {
        let mut row = p.constant(false);
        for c in 0..n {
            row = p.or(&row, &at(r, c));
        }
        board = p.and(&board, &row);
        for c in 0..n {
            let mut free = p.constant(true);
            for r2 in 0..n {
                for c2 in 0..n {
                    let attacks = r == r2 || c == c2 || r.abs_diff(r2) == c.abs_diff(c2);
                    if attacks && (r, c) != (r2, c2) {
                        free = p.and(&free, &p.not(&at(r2, c2)));
                    }
                }
            }
            let rule = p.or(&p.not(&at(r, c)), &free);
            board = p.and(&board, &rule);
        }
    }
    p.count(&board, n * n)
}

/// The middle output bits of an array multiplier of two `n`-bit numbers, with interleaved inputs.
fn multiplier<P: Package>(n: u32) -> f64 {
    let p = P::new(2 * n);
    let (a, b) = (|i: u32| p.var(2 * i), |i: u32| p.var(2 * i + 1));
    let mut sum: Vec<P::F> = vec![p.constant(false); 2 * n as usize];
    for i in 0..n {
        let mut carry = p.constant(false);
        for j in 0..n {
            let bit = p.and(&a(j), &b(i));
            let s = &sum[(i + j) as usize];
            let half = p.xor(s, &bit);
            let both = p.and(s, &bit);
            let out = p.xor(&half, &carry);
            carry = p.or(&both, &p.and(&half, &carry));
            sum[(i + j) as usize] = out;
        }
        sum[(i + n) as usize] = carry;
    }
    // Each output decides how many products have that bit; the lowest is a·b odd.
    p.count(&sum[0], 2 * n) + p.count(&sum[n as usize - 1], 2 * n)
}

/// Whether two `n`-bit adders, one with exchanged operands, agree, with the inputs side by side.
fn adders<P: Package>(n: u32) -> f64 {
    let p = P::new(2 * n);
    let add = |first: u32| {
        let (mut carry, mut out) = (p.constant(false), Vec::new());
        for i in 0..n {
            let (a, b) = (p.var(2 * i + first), p.var(2 * i + 1 - first));
            let half = p.xor(&a, &b);
            out.push(p.xor(&half, &carry));
            carry = p.ite(&half, &carry, &a);
        }
        out.push(carry);
        out
    };
    let mut same = p.constant(true);
    for (x, y) in add(0).iter().zip(&add(1)) {
        same = p.and(&same, &p.not(&p.xor(x, y)));
    }
    p.count(&same, 2 * n).log2()
}

/// Random clauses joined in pairs, with quantification of a third of the variables on the way.
fn random_quantified<P: Package>(vars: u32, clauses: usize) -> f64 {
    let p = P::new(vars);
    let mut state = 42u64;
    let mut next = |n: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    let mut layer: Vec<P::F> = (0..clauses)
        .map(|_| {
            let mut c = p.constant(false);
            for _ in 0..3 {
                let v = p.var(next(vars));
                let literal = if next(2) == 0 { p.not(&v) } else { v };
                c = p.or(&c, &literal);
            }
            c
        })
        .collect();
    while layer.len() > 1 {
        layer =
            layer.chunks(2).map(|c| if c.len() == 2 { p.and(&c[0], &c[1]) } else { c[0].clone() }).collect();
    }
    let bound: Vec<u32> = (0..vars).filter(|v| v % 3 == 0).collect();
    let shadow = p.exists(&layer[0], &bound);
    p.count(&shadow, vars).log2()
}

/// States reachable by `n` cells that pass tokens to their right neighbour when it has none.
fn reachable<P: Package>(n: u32) -> f64 {
    let p = P::new(2 * n);
    let (now, then) = (|i: u32| p.var(2 * i), |i: u32| p.var(2 * i + 1));
    let mut step = p.constant(false);
    for i in 0..n {
        let j = (i + 1) % n;
        let mut pass = p.and(&now(i), &p.not(&now(j)));
        pass = p.and(&pass, &p.and(&p.not(&then(i)), &then(j)));
        for k in (0..n).filter(|&k| k != i && k != j) {
            pass = p.and(&pass, &p.not(&p.xor(&now(k), &then(k))));
        }
        step = p.or(&step, &pass);
    }
    let mut reached = p.constant(true);
    for i in 0..n {
        let v = now(i);
        reached = p.and(&reached, &if i % 2 == 0 { v } else { p.not(&v) });
    }
    let current: Vec<u32> = (0..n).map(|i| 2 * i).collect();
    let mut count = 0.0;
    loop {
        let image = p.and_exists(&reached, &step, &current);
        // Back to the current variables: each is tied to its successor and the successor projected.
        let mut renamed = image;
        for i in 0..n {
            let tie = p.not(&p.xor(&now(i), &then(i)));
            renamed = p.and_exists(&renamed, &tie, &[2 * i + 1]);
        }
        reached = p.or(&reached, &renamed);
        let c = p.count(&reached, 2 * n);
        if c == count {
            return c / 2f64.powi(n as i32);
        }
        count = c;
    }
}

/// Processor time of all threads, so that a busy machine does not show; the clock where the system does
/// not tell.
fn now(start: Instant) -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|t| {
        let text = std::fs::read_to_string(t.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    match spent.sum::<u64>() {
        0 => start.elapsed(),
        nanos => Duration::from_nanos(nanos),
    }
}

fn time(run: impl Fn() -> f64) -> (f64, Duration) {
    let mut best = Duration::MAX;
    let mut value = 0.0;
    let clock = Instant::now();
    for _ in 0..5 {
        let start = now(clock);
        value = black_box(run());
        best = best.min(now(clock).saturating_sub(start));
    }
    (value, best)
}

fn row(
    name: &str,
    expected: Option<f64>,
    ours: impl Fn() -> f64,
    bdd: impl Fn() -> f64,
    bcdd: impl Fn() -> f64,
) {
    let (a, ours) = time(ours);
    let (b, bdd) = time(bdd);
    let (c, bcdd) = time(bcdd);
    assert!((a - b).abs() <= 1e-9 * a.abs() && (a - c).abs() <= 1e-9 * a.abs(), "{name}: {a} {b} {c}");
    assert!(expected.is_none_or(|e| e == a), "{name}: {a}, expected {expected:?}");
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    println!(
        "{name:<24} {:>10.2} {:>10.2} {:>10.2} {:>9.2} {:>9.2}",
        ms(ours),
        ms(bdd),
        ms(bcdd),
        ms(bdd) / ms(ours),
        ms(bcdd) / ms(ours)
    );
}

macro_rules! rows {
    ($($name:expr, $expected:expr, $f:ident($($arg:expr),*);)*) => {$(
        row($name, $expected, || $f::<Ours>($($arg),*), || $f::<OxiBdd>($($arg),*), || $f::<OxiBcdd>($($arg),*));
    )*};
}

fn main() {
    println!(
        "{:<24} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "workload", "ours ms", "bdd ms", "bcdd ms", "bdd/ours", "bcdd/ours"
    );
    rows! {
        "8 queens", Some(92.0), queens(8);
        "9 queens", Some(352.0), queens(9);
        "multiplier 8", None, multiplier(8);
        "multiplier 10", None, multiplier(10);
        "adders 200", Some(400.0), adders(200);
        "random quantified", None, random_quantified(36, 60);
        "token ring 24", Some(2_704_156.0), reachable(24);
    }
}
