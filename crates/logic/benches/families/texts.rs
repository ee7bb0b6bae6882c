//! The families of formulas, as SMT-LIB texts of version 2.6.

use std::fmt::Write as _;

/// A family: its name, and its queries by size.
pub type Family = (&'static str, Vec<(u32, String)>);

/// All families.
pub fn families() -> Vec<Family> {
    let sizes = |sizes: &[u32], text: fn(u32) -> String| sizes.iter().map(|n| (*n, text(*n))).collect();
    vec![
        ("mul-commutes", sizes(&[8, 16, 32], mul_commutes)),
        ("mul-distributes", sizes(&[4, 5, 6], mul_distributes)),
        ("factoring", sizes(&[12, 16, 20], factoring)),
        ("division", sizes(&[6, 8, 10], division)),
        ("signed-division", sizes(&[6, 8, 10], signed_division)),
        ("mul-div", sizes(&[6, 8, 10], mul_div)),
        ("popcount", sizes(&[16, 32, 64], popcount)),
        ("sorting", sizes(&[4, 5, 6], sorting)),
        ("array-swap", sizes(&[4, 6, 8], array_swap)),
        ("swap-order", sizes(&[4, 8, 16], swap_order)),
        ("store-chain", sizes(&[4, 8, 12], store_chain)),
        ("memcpy", sizes(&[4, 8, 16], memcpy)),
        ("crc-equal", sizes(&[1, 2, 4], crc_equal)),
        ("crc-inverse", sizes(&[2, 3, 4], crc_inverse)),
        ("add-overflow", sizes(&[16, 32, 64], add_overflow)),
        ("mul-overflow", sizes(&[8, 12, 16], mul_overflow)),
        ("average", sizes(&[16, 32, 64], average)),
        ("shifts", sizes(&[16, 32, 64], shifts)),
        ("functions", sizes(&[4, 8, 16], functions)),
    ]
}

fn declare(names: &[&str], w: u32) -> String {
    let lines = names.iter().map(|n| format!("(declare-const {n} (_ BitVec {w}))\n"));
    format!("(set-logic QF_AUFBV)\n{}", lines.collect::<String>())
}

fn bv(value: u64, w: u32) -> String {
    format!("(_ bv{} {w})", if w < 64 { value & ((1 << w) - 1) } else { value })
}

fn query(head: &str, formula: &str) -> String {
    format!("{head}(assert {formula})\n(check-sat)\n")
}

fn mul_commutes(w: u32) -> String {
    // Through a sum, so that ordering the operands is not the whole proof.
    query(&declare(&["a", "b", "c"], w), "(distinct (bvmul (bvadd a c) b) (bvmul b (bvsub c (bvneg a))))")
}

fn mul_distributes(w: u32) -> String {
    query(&declare(&["a", "b", "c"], w), "(distinct (bvmul a (bvadd b c)) (bvadd (bvmul a b) (bvmul a c)))")
}

fn factoring(w: u32) -> String {
    let primes: u64 = match w {
        12 => 4093 * 3967,
        16 => 64_499 * 62_501,
        _ => 1_048_573 * 999_983,
    };
    let (x, y) = (format!("((_ zero_extend {w}) a)"), format!("((_ zero_extend {w}) b)"));
    let (n, one) = (bv(primes, 2 * w), bv(1, w));
    query(&declare(&["a", "b"], w), &format!("(and (= (bvmul {x} {y}) {n}) (bvult {one} a) (bvult a b))"))
}

fn division(w: u32) -> String {
    query(&declare(&["a", "b"], w), "(distinct (bvadd (bvmul (bvudiv a b) b) (bvurem a b)) a)")
}

fn signed_division(w: u32) -> String {
    query(&declare(&["a", "b"], w), "(distinct (bvadd (bvmul (bvsdiv a b) b) (bvsrem a b)) a)")
}

fn mul_div(w: u32) -> String {
    let (x, y) = (format!("((_ zero_extend {w}) a)"), format!("((_ zero_extend {w}) b)"));
    let fits = format!("(= ((_ extract {} {w}) (bvmul {x} {y})) {})", 2 * w - 1, bv(0, w));
    query(
        &declare(&["a", "b"], w),
        &format!("(and {fits} (distinct b {}) (distinct (bvudiv (bvmul a b) b) a))", bv(0, w)),
    )
}

fn popcount(w: u32) -> String {
    let mut naive = bv(0, w);
    for i in 0..w {
        naive = format!("(bvadd {naive} ((_ zero_extend {}) ((_ extract {i} {i}) a)))", w - 1);
    }
    let k = |v: u64| bv(v, w);
    let (m1, m2, m4) = (k(0x5555_5555_5555_5555), k(0x3333_3333_3333_3333), k(0x0f0f_0f0f_0f0f_0f0f));
    let text = format!(
        "(let ((s1 (bvsub a (bvand (bvlshr a {}) {m1}))))
          (let ((s2 (bvadd (bvand s1 {m2}) (bvand (bvlshr s1 {}) {m2}))))
           (let ((s3 (bvand (bvadd s2 (bvlshr s2 {})) {m4})))
            (distinct (bvlshr (bvmul s3 {}) {}) {naive}))))",
        k(1),
        k(2),
        k(4),
        k(0x0101_0101_0101_0101),
        k(u64::from(w) - 8)
    );
    query(&declare(&["a"], w), &text)
}

/// Odd-even transposition against bubble sort.
fn sorting(n: u32) -> String {
    let n = n as usize;
    let mut out = String::from("(set-logic QF_AUFBV)\n");
    for i in 0..n {
        let _ = writeln!(out, "(declare-const x{i} (_ BitVec 8))");
    }
    let mut fresh = 0;
    let mut exchange = |values: &mut [String], i: usize, out: &mut String| {
        let (a, b) = (values[i].clone(), values[i + 1].clone());
        for (k, op) in ["bvult", "bvuge"].iter().enumerate() {
            let _ = writeln!(out, "(define-fun v{fresh} () (_ BitVec 8) (ite ({op} {a} {b}) {a} {b}))");
            values[i + k] = format!("v{fresh}");
            fresh += 1;
        }
    };
    let inputs: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let (mut odd_even, mut bubble) = (inputs.clone(), inputs);
    for round in 0..n {
        (round % 2..n - 1).step_by(2).for_each(|i| exchange(&mut odd_even, i, &mut out));
        (0..n - 1 - round).for_each(|i| exchange(&mut bubble, i, &mut out));
    }
    let differ: Vec<String> =
        odd_even.iter().zip(&bubble).map(|(a, b)| format!("(distinct {a} {b})")).collect();
    query(&out, &format!("(or {})", differ.join(" ")))
}

const MEMORY: &str = "(Array (_ BitVec 32) (_ BitVec 8))";

/// Swapping pairs of elements, written in two orders.
fn array_swap(n: u32) -> String {
    let mut out = format!("(set-logic QF_AUFBV)\n(declare-const m {MEMORY})\n");
    let (mut a, mut b) = ("m".to_owned(), "m".to_owned());
    for i in 0..n {
        let _ = writeln!(out, "(declare-const p{i} (_ BitVec 32))(declare-const q{i} (_ BitVec 32))");
        for (name, array, p, q) in [("a", &mut a, "p", "q"), ("b", &mut b, "q", "p")] {
            let (p, q) = (format!("{p}{i}"), format!("{q}{i}"));
            let swap = format!("(store (store {array} {p} (select {array} {q})) {q} (select {array} {p}))");
            let _ = writeln!(out, "(define-fun {name}{i} () {MEMORY} {swap})");
            *array = format!("{name}{i}");
        }
    }
    query(&out, &format!("(distinct {a} {b})"))
}

/// Swapping pairs of elements at different places, forwards and backwards.
fn swap_order(n: u32) -> String {
    let mut out = format!("(set-logic QF_AUFBV)\n(declare-const m {MEMORY})\n");
    let mut places = Vec::new();
    for i in 0..n {
        let _ = writeln!(out, "(declare-const p{i} (_ BitVec 32))(declare-const q{i} (_ BitVec 32))");
        places.push(format!("p{i} q{i}"));
    }
    let mut chain = |name: &str, order: &mut dyn Iterator<Item = u32>| {
        order.fold("m".to_owned(), |array, i| {
            let swap =
                format!("(store (store {array} p{i} (select {array} q{i})) q{i} (select {array} p{i}))");
            let _ = writeln!(out, "(define-fun {name}{i} () {MEMORY} {swap})");
            format!("{name}{i}")
        })
    };
    let (forwards, backwards) = (chain("a", &mut (0..n)), chain("b", &mut (0..n).rev()));
    query(&out, &format!("(and (distinct {}) (distinct {forwards} {backwards}))", places.join(" ")))
}

/// Writes to different places, forwards and backwards.
fn store_chain(n: u32) -> String {
    let mut out = format!("(set-logic QF_AUFBV)\n(declare-const m {MEMORY})\n");
    for i in 0..n {
        let _ = writeln!(out, "(declare-const i{i} (_ BitVec 32))(declare-const v{i} (_ BitVec 8))");
    }
    let chain = |order: &mut dyn Iterator<Item = u32>| {
        order.fold("m".to_owned(), |array, i| format!("(store {array} i{i} v{i})"))
    };
    let places: Vec<String> = (0..n).map(|i| format!("i{i}")).collect();
    let (forwards, backwards) = (chain(&mut (0..n)), chain(&mut (0..n).rev()));
    query(&out, &format!("(and (distinct {}) (distinct {forwards} {backwards}))", places.join(" ")))
}

/// A copy of `n` bytes between places that do not overlap.
fn memcpy(n: u32) -> String {
    let mut out = declare(&["dst", "src", "k"], 32);
    let _ = writeln!(out, "(declare-const m0 {MEMORY})");
    for i in 0..n {
        let at = |base: &str| format!("(bvadd {base} {})", bv(u64::from(i), 32));
        let _ = writeln!(
            out,
            "(define-fun m{} () {MEMORY} (store m{i} {} (select m{i} {})))",
            i + 1,
            at("dst"),
            at("src")
        );
    }
    let size = bv(u64::from(n), 32);
    let apart = format!("(and (bvuge (bvsub dst src) {size}) (bvuge (bvsub src dst) {size}))");
    query(
        &out,
        &format!(
            "(and {apart} (bvult k {size}) (distinct (select m{n} (bvadd dst k)) (select m0 (bvadd src k))))"
        ),
    )
}

/// The CRC-32 of some bytes, by branches or by masks.
fn crc(out: &mut String, name: &str, bytes: u32, masks: bool) -> String {
    let mut state = "#xffffffff".to_owned();
    let mut step = 0;
    let mut define = |body: String, out: &mut String| {
        let _ = writeln!(out, "(define-fun {name}{step} () (_ BitVec 32) {body})");
        step += 1;
        format!("{name}{}", step - 1)
    };
    for i in 0..bytes {
        state = define(format!("(bvxor {state} (concat #x000000 d{i}))"), out);
        for _ in 0..8 {
            let shifted = format!("(bvlshr {state} #x00000001)");
            let body = if masks {
                format!("(bvxor {shifted} (bvand #xedb88320 (bvneg (bvand {state} #x00000001))))")
            } else {
                format!("(ite (= ((_ extract 0 0) {state}) #b1) (bvxor {shifted} #xedb88320) {shifted})")
            };
            state = define(body, out);
        }
    }
    state
}

fn crc_bytes(n: u32) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("d{i}")).collect();
    declare(&names.iter().map(String::as_str).collect::<Vec<_>>(), 8)
}

fn crc_equal(n: u32) -> String {
    let mut out = crc_bytes(n);
    let (a, b) = (crc(&mut out, "a", n, false), crc(&mut out, "b", n, true));
    query(&out, &format!("(distinct {a} {b})"))
}

fn crc_inverse(n: u32) -> String {
    let mut out = crc_bytes(n);
    let a = crc(&mut out, "a", n, false);
    query(&out, &format!("(= ((_ extract {} 0) {a}) {})", 8 * n - 5, bv(0x1234_5678, 8 * n - 4)))
}

/// The usual test for overflow of a signed sum against the sum with one more bit.
fn add_overflow(w: u32) -> String {
    let wide = "(bvadd ((_ sign_extend 1) a) ((_ sign_extend 1) b))";
    let by_width = format!("(distinct ((_ sign_extend 1) (bvadd a b)) {wide})");
    let zero = bv(0, w);
    let max = bv((1 << (w - 1)) - 1, w);
    let min = bv(1 << (w - 1), w);
    let by_test = format!(
        "(or (and (bvsgt a {zero}) (bvsgt b (bvsub {max} a))) (and (bvslt a {zero}) (bvslt b (bvsub {min} a))))"
    );
    query(&declare(&["a", "b"], w), &format!("(distinct {by_width} {by_test})"))
}

/// The test for overflow of an unsigned product by division against the double product.
fn mul_overflow(w: u32) -> String {
    let (x, y) = (format!("((_ zero_extend {w}) a)"), format!("((_ zero_extend {w}) b)"));
    let high = format!("(distinct ((_ extract {} {w}) (bvmul {x} {y})) {})", 2 * w - 1, bv(0, w));
    // With both operands below half the width there is none.
    let (half, limit) = (bv(1 << (w / 2), w), bv(1 << (w / 2 - 1), w));
    query(
        &declare(&["a", "b"], w),
        &format!("(and (bvult a {half}) (bvult b {half}) (bvugt b {limit}) {high})"),
    )
}

fn average(w: u32) -> String {
    let clever = format!("(bvadd (bvand a b) (bvlshr (bvxor a b) {}))", bv(1, w));
    let wide = "(bvadd ((_ zero_extend 1) a) ((_ zero_extend 1) b))";
    query(&declare(&["a", "b"], w), &format!("(distinct {clever} ((_ extract {w} 1) {wide}))"))
}

fn shifts(w: u32) -> String {
    let mask = format!("(bvlshr (bvnot {}) b)", bv(0, w));
    query(&declare(&["a", "b"], w), &format!("(distinct (bvlshr (bvshl a b) b) (bvand a {mask}))"))
}

/// If applying a function `n` and `n + 1` times gives the argument back, one time does.
fn functions(n: u32) -> String {
    let mut out = declare(&["x"], 16);
    out.push_str("(declare-fun f ((_ BitVec 16)) (_ BitVec 16))\n");
    let power = |n: u32| format!("{}x{}", "(f ".repeat(n as usize), ")".repeat(n as usize));
    query(&out, &format!("(and (= {} x) (= {} x) (distinct (f x) x))", power(n), power(n + 1)))
}
