//! Tiny formats exhaustively against exact rationals, and the machine's formats against the
//! machine.

use std::cmp::Ordering;

use super::*;
use crate::bitvec::BitVec;
use crate::eval::Evaluator;
use crate::term::{Sort, Term, Terms};
use crate::testing::Random;
use crate::value::{Model, Value};

const ROUNDINGS: [Rounding; 5] = [
    Rounding::NearestEven,
    Rounding::NearestAway,
    Rounding::TowardPositive,
    Rounding::TowardNegative,
    Rounding::TowardZero,
];

const TINY: [Format; 4] = [
    Format { exponent: 3, fraction: 3 },
    Format { exponent: 2, fraction: 3 },
    Format { exponent: 3, fraction: 2 },
    Format { exponent: 4, fraction: 2 },
];

/// A number for the reference: the exact value `numerator / denominator`, or something special.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Number {
    Nan,
    Infinite { negative: bool },
    Zero { negative: bool },
    Finite { numerator: i128, denominator: i128 },
}

/// Decodes a pattern by the definition of the formats.
fn decode(format: Format, pattern: u64) -> Number {
    let (e, f) = (format.exponent, format.fraction);
    let negative = pattern >> (e + f) & 1 == 1;
    let exponent = pattern >> f & ((1 << e) - 1);
    let fraction = (pattern & ((1 << f) - 1)) as i128;
    if exponent == (1 << e) - 1 {
        return if fraction == 0 { Number::Infinite { negative } } else { Number::Nan };
    }
    let (significand, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction + (1 << f), exponent as i128) };
    if significand == 0 {
        return Number::Zero { negative };
    }
    let scale = exponent - ((1 << (e - 1)) - 1) - i128::from(f);
    let sign = if negative { -1 } else { 1 };
    let numerator = sign * significand * if scale > 0 { 1 << scale } else { 1 };
    Number::Finite { numerator, denominator: if scale < 0 { 1 << -scale } else { 1 } }
}

/// The magnitudes of the format, by pattern; one more stands for infinity, where the next number
/// would be. The list is scaled by a power of two to integers.
fn magnitudes(format: Format) -> (Vec<i128>, i128) {
    let scale = 1i128 << (format.bias() + i128::from(format.fraction));
    let infinity = ((1u64 << format.exponent) - 1) << format.fraction;
    let mut list: Vec<i128> = (0..infinity)
        .map(|pattern| match decode(format, pattern) {
            Number::Finite { numerator, denominator } => numerator * (scale / denominator),
            _ => 0,
        })
        .collect();
    let step = list[list.len() - 1] - list[list.len() - 2];
    list.push(list[list.len() - 1] + step);
    (list, scale)
}

/// Rounds by searching the neighbours of the exact magnitude, which `compare` compares with a
/// scaled candidate (`exact ? candidate`, and twice the exact one with a sum of two).
fn round_by_search(
    format: Format,
    rounding: Rounding,
    negative: bool,
    exact_is: impl Fn(i128) -> Ordering,
    twice_exact_is: impl Fn(i128) -> Ordering,
) -> u64 {
    let (list, _) = magnitudes(format);
    let sign = u64::from(negative) << (format.width() - 1);
    let infinity = list.len() - 1;
    // The greatest candidate that is not above the exact value.
    let below =
        (0..list.len()).rev().find(|i| exact_is(list[*i]) != Ordering::Less).expect("zero is not above");
    if exact_is(list[below]) == Ordering::Equal && below != infinity {
        return sign | below as u64;
    }
    let above = (below + 1).min(infinity);
    let away = match rounding {
        Rounding::TowardZero => false,
        Rounding::TowardPositive => !negative,
        Rounding::TowardNegative => negative,
        _ if below == infinity => true,
        nearest => match twice_exact_is(list[below] + list[above]) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => nearest == Rounding::NearestAway || below % 2 == 1,
        },
    };
    let chosen = if away { above } else { below.min(infinity - 1) };
    sign | chosen as u64
}

/// Rounds an exact rational other than zero.
fn round_rational(format: Format, rounding: Rounding, numerator: i128, denominator: i128) -> u64 {
    let (_, scale) = magnitudes(format);
    let negative = (numerator < 0) != (denominator < 0);
    let (n, d) = (numerator.abs() * scale, denominator.abs());
    round_by_search(format, rounding, negative, |c| n.cmp(&(c * d)), |c| (2 * n).cmp(&(c * d)))
}

fn zero_pattern(format: Format, negative: bool) -> u64 {
    u64::from(negative) << (format.width() - 1)
}

fn infinity_pattern(format: Format, negative: bool) -> u64 {
    format.infinity(negative).to_u64().expect("narrow")
}

fn negative(format: Format, pattern: u64) -> bool {
    pattern >> (format.width() - 1) & 1 == 1
}

/// `None` stands for NaN.
fn reference_add(format: Format, rounding: Rounding, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (decode(format, a), decode(format, b));
    match (x, y) {
        (Number::Nan, _) | (_, Number::Nan) => None,
        (Number::Infinite { negative: p }, Number::Infinite { negative: q }) => (p == q).then_some(a),
        (Number::Infinite { .. }, _) => Some(a),
        (_, Number::Infinite { .. }) => Some(b),
        (Number::Zero { negative: p }, Number::Zero { negative: q }) => {
            let down = rounding == Rounding::TowardNegative;
            Some(zero_pattern(format, if p == q { p } else { down }))
        }
        (Number::Zero { .. }, _) => Some(b),
        (_, Number::Zero { .. }) => Some(a),
        (
            Number::Finite { numerator: n, denominator: d },
            Number::Finite { numerator: m, denominator: e },
        ) => {
            let sum = n * e + m * d;
            if sum == 0 {
                return Some(zero_pattern(format, rounding == Rounding::TowardNegative));
            }
            Some(round_rational(format, rounding, sum, d * e))
        }
    }
}

fn reference_mul(format: Format, rounding: Rounding, a: u64, b: u64) -> Option<u64> {
    let sign = negative(format, a) != negative(format, b);
    match (decode(format, a), decode(format, b)) {
        (Number::Nan, _) | (_, Number::Nan) => None,
        (Number::Infinite { .. }, Number::Zero { .. }) | (Number::Zero { .. }, Number::Infinite { .. }) => {
            None
        }
        (Number::Infinite { .. }, _) | (_, Number::Infinite { .. }) => Some(infinity_pattern(format, sign)),
        (Number::Zero { .. }, _) | (_, Number::Zero { .. }) => Some(zero_pattern(format, sign)),
        (
            Number::Finite { numerator: n, denominator: d },
            Number::Finite { numerator: m, denominator: e },
        ) => Some(round_rational(format, rounding, n * m, d * e)),
    }
}

fn reference_div(format: Format, rounding: Rounding, a: u64, b: u64) -> Option<u64> {
    let sign = negative(format, a) != negative(format, b);
    match (decode(format, a), decode(format, b)) {
        (Number::Nan, _) | (_, Number::Nan) => None,
        (Number::Infinite { .. }, Number::Infinite { .. }) | (Number::Zero { .. }, Number::Zero { .. }) => {
            None
        }
        (Number::Infinite { .. }, _) | (_, Number::Zero { .. }) => Some(infinity_pattern(format, sign)),
        (Number::Zero { .. }, _) | (_, Number::Infinite { .. }) => Some(zero_pattern(format, sign)),
        (
            Number::Finite { numerator: n, denominator: d },
            Number::Finite { numerator: m, denominator: e },
        ) => Some(round_rational(format, rounding, n * e, d * m)),
    }
}

fn reference_sqrt(format: Format, rounding: Rounding, a: u64) -> Option<u64> {
    match decode(format, a) {
        Number::Nan | Number::Infinite { negative: true } => None,
        Number::Infinite { .. } | Number::Zero { .. } => Some(a),
        Number::Finite { numerator, .. } if numerator < 0 => None,
        Number::Finite { numerator: n, denominator: d } => {
            let (_, scale) = magnitudes(format);
            // sqrt(n / d) * scale ? c, squared.
            let squared = n * scale * scale;
            let exact = |c: i128| squared.cmp(&(c * c * d));
            let twice = |c: i128| (4 * squared).cmp(&(c * c * d));
            Some(round_by_search(format, rounding, false, exact, twice))
        }
    }
}

/// The integer a finite number rounds to.
fn reference_integer(rounding: Rounding, numerator: i128, denominator: i128) -> i128 {
    let floor = numerator.div_euclid(denominator);
    let rest = numerator.rem_euclid(denominator);
    let up = rest != 0
        && match rounding {
            Rounding::TowardPositive => true,
            Rounding::TowardNegative => false,
            Rounding::TowardZero => numerator < 0,
            nearest => match (2 * rest).cmp(&denominator) {
                Ordering::Greater => true,
                Ordering::Less => false,
                Ordering::Equal if nearest == Rounding::NearestAway => numerator > 0,
                Ordering::Equal => floor % 2 != 0,
            },
        };
    floor + i128::from(up)
}

/// A term in variables `a` and `b`, evaluated on patterns.
struct Circuit {
    terms: Terms,
    a: Term,
    b: Term,
}

impl Circuit {
    fn new(width: u32) -> Self {
        let mut terms = Terms::new();
        let (a, b) = (terms.var("a", Sort::BitVec(width)), terms.var("b", Sort::BitVec(width)));
        Circuit { terms, a, b }
    }

    fn values(&self, outputs: &[Term], a: BitVec, b: BitVec) -> Vec<Value> {
        let mut model = Model::new();
        model.set(self.a, Value::BitVec(a));
        model.set(self.b, Value::BitVec(b));
        let mut evaluator = Evaluator::new(&model);
        outputs.iter().map(|t| evaluator.value(&self.terms, *t)).collect()
    }
}

fn pattern(format: Format, expected: Option<u64>) -> Value {
    Value::BitVec(expected.map_or(format.nan(), |v| BitVec::new(format.width(), v)))
}

#[test]
fn tiny_formats_exhaustively() {
    for (n, format) in TINY.into_iter().enumerate() {
        let w = format.width();
        // All roundings for one format, the usual one for the others.
        for rounding in if n == 0 { &ROUNDINGS[..] } else { &ROUNDINGS[..1] } {
            let rounding = *rounding;
            let mut c = Circuit::new(w);
            let (a, b) = (c.a, c.b);
            let outputs = [
                add(&mut c.terms, format, rounding, a, b),
                sub(&mut c.terms, format, rounding, a, b),
                mul(&mut c.terms, format, rounding, a, b),
                div(&mut c.terms, format, rounding, a, b),
            ];
            for x in 0..1u64 << w {
                for y in 0..1u64 << w {
                    let minus_y = y ^ 1 << (w - 1);
                    let expected = [
                        reference_add(format, rounding, x, y),
                        reference_add(format, rounding, x, minus_y),
                        reference_mul(format, rounding, x, y),
                        reference_div(format, rounding, x, y),
                    ];
                    let got = c.values(&outputs, BitVec::new(w, x), BitVec::new(w, y));
                    for (i, (g, e)) in got.iter().zip(expected).enumerate() {
                        assert_eq!(*g, pattern(format, e), "{format:?} {rounding:?} op {i}: {x:b} {y:b}");
                    }
                }
            }
        }
    }
}

#[test]
fn tiny_formats_unary_and_conversions() {
    for format in TINY {
        let w = format.width();
        for rounding in ROUNDINGS {
            let mut c = Circuit::new(w);
            let a = c.a;
            let root = sqrt(&mut c.terms, format, rounding, a);
            let integral = round_to_integral(&mut c.terms, format, rounding, a);
            let mut ints = Vec::new();
            for width in [1, 3, 4, 7] {
                for signed in [true, false] {
                    let (value, fits) = to_int(&mut c.terms, format, rounding, a, width, signed);
                    ints.push((width, signed, value, fits));
                }
            }
            let others: Vec<Term> =
                TINY.iter().map(|to| to_format(&mut c.terms, format, *to, rounding, a)).collect();
            for x in 0..1u64 << w {
                let input = BitVec::new(w, x);
                let got = c.values(&[root, integral], input.clone(), BitVec::zero(w));
                assert_eq!(got[0], pattern(format, reference_sqrt(format, rounding, x)), "sqrt {x:b}");
                let number = decode(format, x);
                let whole = match number {
                    Number::Nan => None,
                    Number::Finite { numerator, denominator } => {
                        match reference_integer(rounding, numerator, denominator) {
                            0 => Some(zero_pattern(format, numerator < 0)),
                            n => Some(round_rational(format, rounding, n, 1)),
                        }
                    }
                    _ => Some(x),
                };
                assert_eq!(got[1], pattern(format, whole), "integral {format:?} {rounding:?} {x:b}");
                for (width, signed, value, fits) in &ints {
                    let exact = match number {
                        Number::Finite { numerator, denominator } => {
                            Some(reference_integer(rounding, numerator, denominator))
                        }
                        Number::Zero { .. } => Some(0),
                        _ => None,
                    };
                    let (low, high) = if *signed {
                        (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
                    } else {
                        (0, (1i128 << width) - 1)
                    };
                    let inside = exact.filter(|n| low <= *n && *n <= high);
                    let got = c.values(&[*value, *fits], input.clone(), BitVec::zero(w));
                    assert_eq!(
                        got[1],
                        Value::Bool(inside.is_some()),
                        "{format:?} {rounding:?} {x:b} {width}"
                    );
                    if let Some(n) = inside {
                        assert_eq!(got[0], Value::BitVec(BitVec::from_i128(*width, n)));
                    }
                }
                for (to, t) in TINY.iter().zip(&others) {
                    let expected = match number {
                        Number::Nan => None,
                        Number::Infinite { negative } => Some(infinity_pattern(*to, negative)),
                        Number::Zero { negative } => Some(zero_pattern(*to, negative)),
                        Number::Finite { numerator, denominator } => {
                            Some(round_rational(*to, rounding, numerator, denominator))
                        }
                    };
                    let got = c.values(&[*t], input.clone(), BitVec::zero(w));
                    // NaN of the same format passes unchanged.
                    if expected.is_some() || *to != format {
                        assert_eq!(got[0], pattern(*to, expected), "{format:?} to {to:?} {rounding:?} {x:b}");
                    }
                }
            }
            for width in [1, 2, 5, 8] {
                for signed in [true, false] {
                    let mut c = Circuit::new(width);
                    let a = c.a;
                    let t = from_int(&mut c.terms, format, rounding, a, signed);
                    for v in 0..1u64 << width {
                        let input = BitVec::new(width, v);
                        let n = if signed { input.to_i128().expect("narrow") } else { v as i128 };
                        let expected = if n == 0 { 0 } else { round_rational(format, rounding, n, 1) };
                        let got = c.values(&[t], input, BitVec::zero(width));
                        assert_eq!(got[0], pattern(format, Some(expected)), "{format:?} from {n}");
                    }
                }
            }
        }
    }
}

#[test]
fn comparisons_exhaustively() {
    let format = TINY[0];
    let w = format.width();
    let mut c = Circuit::new(w);
    let (a, b, s) = (c.a, c.b, &mut c.terms);
    let outputs = [lt(s, format, a, b), le(s, format, a, b), eq(s, format, a, b)];
    let classes = [
        is_nan(s, format, a),
        is_infinite(s, format, a),
        is_zero(s, format, a),
        is_normal(s, format, a),
        is_subnormal(s, format, a),
    ];
    for x in 0..1u64 << w {
        let magnitude = |n: Number| match n {
            Number::Finite { numerator, denominator } => Some(numerator * (1 << 20) / denominator),
            Number::Zero { .. } => Some(0),
            Number::Infinite { negative } => Some(if negative { -(1 << 60) } else { 1 << 60 }),
            Number::Nan => None,
        };
        for y in 0..1u64 << w {
            let order = match (magnitude(decode(format, x)), magnitude(decode(format, y))) {
                (Some(p), Some(q)) => Some(p.cmp(&q)),
                _ => None,
            };
            let expected = [
                order == Some(Ordering::Less),
                order.is_some_and(|o| o != Ordering::Greater),
                order == Some(Ordering::Equal),
            ];
            let got = c.values(&outputs, BitVec::new(w, x), BitVec::new(w, y));
            assert_eq!(got, expected.map(Value::Bool), "{x:b} {y:b}");
        }
        let exponent = x >> format.fraction & ((1 << format.exponent) - 1);
        let number = decode(format, x);
        let subnormal = exponent == 0 && matches!(number, Number::Finite { .. });
        let expected = [
            number == Number::Nan,
            matches!(number, Number::Infinite { .. }),
            matches!(number, Number::Zero { .. }),
            matches!(number, Number::Finite { .. }) && !subnormal,
            subnormal,
        ];
        let got = c.values(&classes, BitVec::new(w, x), BitVec::zero(w));
        assert_eq!(got, expected.map(Value::Bool), "{x:b}");
    }
}

/// Patterns with special values, close exponents and random ones.
fn interesting(r: &mut Random, format: Format) -> BitVec {
    let w = format.width();
    let f = format.fraction;
    match r.below(8) {
        0 => format.infinity(r.below(2) == 0),
        1 => format.greatest(r.below(2) == 0),
        2 => BitVec::from_bits(w, |i| i < f && r.below(2) == 0),
        3 => BitVec::from_i128(w, r.below(3) as i128),
        4 => format.nan(),
        _ if r.below(2) == 0 => {
            // Near one, where sums and quotients are interesting.
            let exponent = format.bias() + r.below(9) as i128 - 4;
            let base = BitVec::from_i128(w, exponent << f);
            let sparse = r.below(2) == 0;
            let random = BitVec::from_bits(w, |i| {
                (i < f && r.below(if sparse { 8 } else { 2 }) == 0) || (i + 1 == w && r.below(2) == 0)
            });
            base.or(&random)
        }
        _ => r.bits(w),
    }
}

/// One test per machine format, with native arithmetic as the oracle (round to nearest even).
macro_rules! against_machine {
    ($name:ident, $float:ty, $bits:ty, $format:expr, $other:ty, $other_format:expr, $rounds:expr) => {
        #[test]
        fn $name() {
            let format: Format = $format;
            let w = format.width();
            let mut c = Circuit::new(w);
            let (a, b, s) = (c.a, c.b, &mut c.terms);
            let near = Rounding::NearestEven;
            let (toward_zero, fits) = to_int(s, format, Rounding::TowardZero, a, 32, true);
            let outputs = [
                add(s, format, near, a, b),
                sub(s, format, near, a, b),
                mul(s, format, near, a, b),
                div(s, format, near, a, b),
                sqrt(s, format, near, a),
                to_format(s, format, $other_format, near, a),
                lt(s, format, a, b),
                le(s, format, a, b),
                eq(s, format, a, b),
                toward_zero,
                fits,
                round_to_integral(s, format, Rounding::TowardNegative, a),
                round_to_integral(s, format, Rounding::TowardPositive, a),
                round_to_integral(s, format, Rounding::TowardZero, a),
                round_to_integral(s, format, Rounding::NearestAway, a),
                round_to_integral(s, format, near, a),
            ];
            let r = &mut Random::new(11);
            for _ in 0..$rounds {
                let (x, y) = (interesting(r, format), interesting(r, format));
                let native = |v: &BitVec| <$float>::from_bits(v.to_u64().expect("narrow") as $bits);
                let (p, q) = (native(&x), native(&y));
                let got = c.values(&outputs, x.clone(), y.clone());
                let pack = |v: $float| {
                    if v.is_nan() { format.nan() } else { BitVec::from_words(w, &[u64::from(v.to_bits())]) }
                };
                let other = {
                    let v = p as $other;
                    let bits = BitVec::from_words($other_format.width(), &[u64::from(v.to_bits())]);
                    if v.is_nan() { $other_format.nan() } else { bits }
                };
                let floats = [p + q, p - q, p * q, p / q, p.sqrt()];
                for (i, v) in floats.into_iter().enumerate() {
                    assert_eq!(got[i], Value::BitVec(pack(v)), "op {i}: {p:e} {q:e}");
                }
                assert_eq!(got[5], Value::BitVec(other), "conversion of {p:e}");
                assert_eq!(got[6..9], [Value::Bool(p < q), Value::Bool(p <= q), Value::Bool(p == q)]);
                let inside = p.trunc() >= i32::MIN as $float && p.trunc() < 2147483648.0;
                assert_eq!(got[10], Value::Bool(inside), "{p:e} in range");
                if inside {
                    assert_eq!(got[9], Value::BitVec(BitVec::from_i128(32, i128::from(p as i32))));
                }
                let whole = [p.floor(), p.ceil(), p.trunc(), p.round(), p.round_ties_even()];
                for (i, v) in whole.into_iter().enumerate() {
                    assert_eq!(got[11 + i], Value::BitVec(pack(v)), "rounding {i} of {p:e}");
                }
            }
            // From integers.
            for width in [32, 64] {
                let mut c = Circuit::new(width);
                let a = c.a;
                let signed = from_int(&mut c.terms, format, near, a, true);
                let unsigned = from_int(&mut c.terms, format, near, a, false);
                for _ in 0..$rounds / 4 {
                    let by = BitVec::new(width, r.below(width as usize) as u64);
                    let v = r.bits(width).ashr(&by);
                    let n = v.to_i128().expect("narrow");
                    let u = v.to_u128().expect("narrow");
                    let got = c.values(&[signed, unsigned], v, BitVec::zero(width));
                    let pack = |v: $float| Value::BitVec(BitVec::from_words(w, &[u64::from(v.to_bits())]));
                    assert_eq!(got, [pack(n as $float), pack(u as $float)], "{n}");
                }
            }
        }
    };
}

against_machine!(single_precision_against_the_machine, f32, u32, F32, f64, F64, 4000);
against_machine!(double_precision_against_the_machine, f64, u64, F64, f32, F32, 4000);

/// The x87 format holds every double exactly, and rounds back to it.
#[test]
fn extended_precision_round_trips() {
    let mut c = Circuit::new(64);
    let (a, s) = (c.a, &mut c.terms);
    let near = Rounding::NearestEven;
    let extended = to_format(s, F64, X87, near, a);
    let back = to_format(s, X87, F64, near, extended);
    let memory = x87_to_memory(s, extended);
    let again = x87_from_memory(s, memory);
    let sum = add(s, X87, near, extended, extended);
    let sum = to_format(s, X87, F64, near, sum);
    let r = &mut Random::new(3);
    for _ in 0..2000 {
        let x = interesting(r, F64);
        let value = f64::from_bits(x.to_u64().expect("narrow"));
        let got = c.values(&[back, extended, again, sum, memory], x.clone(), BitVec::zero(64));
        let pack = |v: f64| Value::BitVec(if v.is_nan() { F64.nan() } else { BitVec::new(64, v.to_bits()) });
        assert_eq!(got[0], pack(value));
        assert_eq!(got[1], got[2]);
        assert_eq!(got[3], pack(value + value));
    }
    // One is 3FFF 8000 0000 0000 0000 in memory.
    let got = c.values(&[memory], BitVec::new(64, 1f64.to_bits()), BitVec::zero(64));
    assert_eq!(got[0].to_string(), "#x3fff8000000000000000");
}
