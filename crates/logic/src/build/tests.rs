//! Every builder method against a reference in machine arithmetic, on all assignments at small
//! widths, with operands that have all the shapes the rules look for.

use crate::bitvec::BitVec;
use crate::eval::Evaluator;
use crate::term::{Sort, Term, Terms};
use crate::testing::{Signature, all_models};
use crate::value::{ArrayValue, Model, Value};

/// A small deterministic generator (xorshift), so that failures repeat.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }
}

type Unary = (&'static str, fn(&mut Terms, Term) -> Term, fn(u32, u64) -> u64);
type Binary = (&'static str, fn(&mut Terms, Term, Term) -> Term, fn(u32, u64, u64) -> u64);
type Predicate = (&'static str, fn(&mut Terms, Term, Term) -> Term, fn(u32, u64, u64) -> bool);

fn mask(w: u32) -> u64 {
    (1 << w) - 1
}

fn signed(w: u32, v: u64) -> i64 {
    (v << (64 - w)) as i64 >> (64 - w)
}

fn fits(w: u32, v: i64) -> bool {
    -(1 << (w - 1)) <= v && v < 1 << (w - 1)
}

const UNARY: &[Unary] = &[
    ("bvnot", Terms::not, |_, a| !a),
    ("bvneg", Terms::neg, |_, a| a.wrapping_neg()),
    ("abs", Terms::abs, |w, a| signed(w, a).unsigned_abs()),
    ("rotate_left 1", |s, a| s.rotate_left(a, 1), |w, a| a << 1 | a >> (w - 1)),
    (
        "rotate_right 5",
        |s, a| s.rotate_right(a, 5),
        |w, a| {
            let n = 5 % w;
            if n == 0 { a } else { a >> n | a << (w - n) }
        },
    ),
];

const BINARY: &[Binary] = &[
    ("bvand", Terms::and, |_, a, b| a & b),
    ("bvor", Terms::or, |_, a, b| a | b),
    ("bvxor", Terms::bvxor, |_, a, b| a ^ b),
    ("bvnand", Terms::bvnand, |_, a, b| !(a & b)),
    ("bvnor", Terms::bvnor, |_, a, b| !(a | b)),
    ("bvxnor", Terms::bvxnor, |_, a, b| !(a ^ b)),
    ("bvadd", Terms::add, |_, a, b| a.wrapping_add(b)),
    ("bvsub", Terms::sub, |_, a, b| a.wrapping_sub(b)),
    ("bvmul", Terms::mul, |_, a, b| a.wrapping_mul(b)),
    ("bvudiv", Terms::udiv, |w, a, b| a.checked_div(b).unwrap_or(mask(w))),
    ("bvurem", Terms::urem, |_, a, b| a.checked_rem(b).unwrap_or(a)),
    ("bvsdiv", Terms::sdiv, |w, a, b| {
        let (a, b) = (signed(w, a), signed(w, b));
        a.checked_div(b).unwrap_or(if a < 0 { 1 } else { -1 }) as u64
    }),
    ("bvsrem", Terms::srem, |w, a, b| {
        let (a, b) = (signed(w, a), signed(w, b));
        a.checked_rem(b).unwrap_or(a) as u64
    }),
    ("bvsmod", Terms::smod, |w, a, b| {
        let (a, b) = (signed(w, a), signed(w, b));
        let r = a.checked_rem(b).unwrap_or(a);
        (if b != 0 && r != 0 && (r < 0) != (b < 0) { r + b } else { r }) as u64
    }),
    ("bvshl", Terms::shl, |w, a, b| if b >= u64::from(w) { 0 } else { a << b }),
    ("bvlshr", Terms::lshr, |w, a, b| if b >= u64::from(w) { 0 } else { a >> b }),
    ("bvashr", Terms::ashr, |w, a, b| (signed(w, a) >> b.min(63)) as u64),
];

const PREDICATES: &[Predicate] = &[
    ("=", Terms::eq, |_, a, b| a == b),
    ("distinct", |s, a, b| s.distinct(&[a, b]), |_, a, b| a != b),
    ("bvult", Terms::ult, |_, a, b| a < b),
    ("bvule", Terms::ule, |_, a, b| a <= b),
    ("bvugt", Terms::ugt, |_, a, b| a > b),
    ("bvuge", Terms::uge, |_, a, b| a >= b),
    ("bvslt", Terms::slt, |w, a, b| signed(w, a) < signed(w, b)),
    ("bvsle", Terms::sle, |w, a, b| signed(w, a) <= signed(w, b)),
    ("bvsgt", Terms::sgt, |w, a, b| signed(w, a) > signed(w, b)),
    ("bvsge", Terms::sge, |w, a, b| signed(w, a) >= signed(w, b)),
    ("bvnego", |s, a, _| s.nego(a), |w, a, _| !fits(w, -signed(w, a))),
    ("bvuaddo", Terms::uaddo, |w, a, b| a + b > mask(w)),
    ("bvsaddo", Terms::saddo, |w, a, b| !fits(w, signed(w, a) + signed(w, b))),
    ("bvumulo", Terms::umulo, |w, a, b| a * b > mask(w)),
    ("bvsmulo", Terms::smulo, |w, a, b| !fits(w, signed(w, a) * signed(w, b))),
    ("bvusubo", Terms::usubo, |_, a, b| a < b),
    ("bvssubo", Terms::ssubo, |w, a, b| !fits(w, signed(w, a) - signed(w, b))),
    ("bvsdivo", Terms::sdivo, |w, a, b| signed(w, b) != 0 && !fits(w, signed(w, a) / signed(w, b))),
    (
        "sign of sum",
        |s, a, b| {
            let t = s.add(a, b);
            s.sign_bit(t)
        },
        |w, a, b| signed(w, a.wrapping_add(b)) < 0,
    ),
];

/// A term with its values under all assignments, computed by the reference.
struct Known {
    term: Term,
    width: u32,
    table: Vec<u64>,
}

struct Universe<'m> {
    terms: Terms,
    evaluators: Vec<Evaluator<'m, Model>>,
    /// Width 0 holds the Booleans.
    pool: Vec<Vec<Known>>,
    random: Random,
}

const WIDEST: usize = 9;

impl Universe<'_> {
    fn add(&mut self, what: &str, term: Term, width: u32, table: Vec<u64>) {
        let sort = if width == 0 { Sort::Bool } else { Sort::BitVec(width) };
        assert_eq!(self.terms.sort(term), sort, "{what}");
        let table: Vec<u64> = table.into_iter().map(|v| v & mask(width.max(1))).collect();
        for (assignment, expected) in table.iter().enumerate() {
            let value = match self.evaluators[assignment].value(&self.terms, term) {
                Value::Bool(b) => u64::from(b),
                Value::BitVec(v) => v.to_u64().expect("narrow"),
                Value::Array(_) => unreachable!("no arrays here"),
            };
            assert_eq!(value, *expected, "{what} gave the wrong term, assignment {assignment}");
        }
        let pool = &mut self.pool[width as usize];
        if pool.len() < 60 {
            pool.push(Known { term, width, table });
        } else {
            // Keep the leaves, replace the rest, so that terms of all depths stay around.
            let at = 12 + self.random.below(48);
            pool[at] = Known { term, width, table };
        }
    }

    /// A random operand of the width: one from the pool or a constant.
    fn pick(&mut self, width: u32) -> (Term, Vec<u64>) {
        let count = self.evaluators.len();
        if width > 0 && (self.pool[width as usize].is_empty() || self.random.below(5) == 0) {
            let v = self.random.next() & mask(width);
            return (self.terms.bv(width, v), vec![v; count]);
        }
        let pool = &self.pool[width as usize];
        let known = &pool[self.random.below(pool.len())];
        assert_eq!(known.width, width);
        (known.term, known.table.clone())
    }

    fn step(&mut self) {
        let width = 1 + self.random.below(WIDEST - 1) as u32;
        let (a, ta) = self.pick(width);
        let (b, tb) = if self.random.below(8) == 0 { (a, ta.clone()) } else { self.pick(width) };
        let zip = |f: &dyn Fn(u64, u64) -> u64| ta.iter().zip(&tb).map(|(x, y)| f(*x, *y)).collect();
        match self.random.below(12) {
            0 => {
                let (name, build, reference) = UNARY[self.random.below(UNARY.len())];
                let t = build(&mut self.terms, a);
                self.add(name, t, width, ta.iter().map(|v| reference(width, *v)).collect());
            }
            1..=4 => {
                let (name, build, reference) = BINARY[self.random.below(BINARY.len())];
                let t = build(&mut self.terms, a, b);
                let table = zip(&|x, y| reference(width, x, y));
                self.add(name, t, width, table);
            }
            5 | 6 => {
                let (name, build, reference) = PREDICATES[self.random.below(PREDICATES.len())];
                let t = build(&mut self.terms, a, b);
                let table = zip(&|x, y| u64::from(reference(width, x, y)));
                self.add(name, t, 0, table);
            }
            7 => {
                let (c, tc) = self.pick(0);
                let t = self.terms.ite(c, a, b);
                let table =
                    tc.iter().zip(ta.iter().zip(&tb)).map(|(c, (x, y))| if *c == 1 { *x } else { *y });
                let table = table.collect();
                self.add("ite", t, width, table);
            }
            8 => {
                let low = self.random.below(width as usize) as u32;
                let high = low + self.random.below((width - low) as usize) as u32;
                let t = self.terms.extract(a, high, low);
                self.add("extract", t, high - low + 1, ta.iter().map(|v| v >> low).collect());
            }
            9 => {
                let n = self.random.below(WIDEST - width as usize) as u32;
                if self.random.below(2) == 0 {
                    let t = self.terms.sign_extend(a, n);
                    self.add(
                        "sign_extend",
                        t,
                        width + n,
                        ta.iter().map(|v| signed(width, *v) as u64).collect(),
                    );
                } else {
                    let t = self.terms.zero_extend(a, n);
                    self.add("zero_extend", t, width + n, ta.clone());
                }
            }
            10 => {
                let low = 1 + self.random.below(WIDEST - 1) as u32;
                if width + low < WIDEST as u32 {
                    let (c, tc) = self.pick(low);
                    let t = self.terms.concat(a, c);
                    let table = ta.iter().zip(&tc).map(|(x, y)| x << low | y).collect();
                    self.add("concat", t, width + low, table);
                }
            }
            _ => self.boolean_step(),
        }
    }

    fn boolean_step(&mut self) {
        type Rule = (&'static str, fn(&mut Terms, Term, Term, Term) -> Term, fn(bool, bool, bool) -> bool);
        const RULES: &[Rule] = &[
            ("not", |s, p, _, _| s.not(p), |p, _, _| !p),
            ("and", |s, p, q, _| s.and(p, q), |p, q, _| p && q),
            ("or", |s, p, q, _| s.or(p, q), |p, q, _| p || q),
            ("=>", |s, p, q, _| s.implies(p, q), |p, q, _| !p || q),
            ("xor", |s, p, q, _| s.xor(p, q), |p, q, _| p != q),
            ("= bool", |s, p, q, _| s.eq(p, q), |p, q, _| p == q),
            ("ite bool", |s, p, q, r| s.ite(p, q, r), |p, q, r| if p { q } else { r }),
            ("and_all", |s, p, q, r| s.and_all([p, q, r]), |p, q, r| p && q && r),
            ("or_all", |s, p, q, r| s.or_all([p, q, r]), |p, q, r| p || q || r),
        ];
        let (p, tp) = self.pick(0);
        let (q, tq) = self.pick(0);
        let (r, tr) = self.pick(0);
        for _ in 0..3 {
            let (name, build, reference) = RULES[self.random.below(RULES.len())];
            let t = build(&mut self.terms, p, q, r);
            let table =
                (0..tp.len()).map(|i| u64::from(reference(tp[i] == 1, tq[i] == 1, tr[i] == 1))).collect();
            self.add(name, t, 0, table);
        }
        let t = self.terms.bool_to_bv(p);
        self.add("bool_to_bv", t, 1, tp);
    }
}

/// Variables `x` and `y` of the width and a Boolean `p`, under all assignments; then random
/// operator applications, each compared with the reference.
fn exhaust(width: u32, rounds: usize, seed: u64) {
    let mut terms = Terms::new();
    let (x, y) = (terms.var("x", Sort::BitVec(width)), terms.var("y", Sort::BitVec(width)));
    let p = terms.var("p", Sort::Bool);
    let count = 1u64 << (2 * width + 1);
    let value = |a: u64, name: u32| match name {
        0 => a & mask(width),
        1 => a >> width & mask(width),
        _ => a >> (2 * width),
    };
    let models: Vec<Model> = (0..count)
        .map(|a| {
            let mut m = Model::new();
            m.set(x, Value::BitVec(BitVec::new(width, value(a, 0))));
            m.set(y, Value::BitVec(BitVec::new(width, value(a, 1))));
            m.set(p, Value::Bool(value(a, 2) == 1));
            m
        })
        .collect();
    let mut universe = Universe {
        terms,
        evaluators: models.iter().map(Evaluator::new).collect(),
        pool: (0..WIDEST).map(|_| Vec::new()).collect(),
        random: Random(seed),
    };
    let table = |name: u32| (0..count).map(|a| value(a, name)).collect::<Vec<u64>>();
    universe.add("x", x, width, table(0));
    universe.add("y", y, width, table(1));
    universe.add("p", p, 0, table(2));
    for _ in 0..rounds {
        universe.step();
    }
}

#[test]
fn every_rule_at_widths_1_to_4() {
    for seed in 0..6 {
        exhaust(1, 4000, 0x9E37_79B9 + seed);
        exhaust(2, 4000, 0x1234_5678 + seed);
        exhaust(3, 3000, 0x0BAD_CAFE + seed);
        exhaust(4, 1000, 0x00C0_FFEE + seed);
    }
}

/// All pairs of constants and all mixes of a constant and a variable, for each operator.
#[test]
fn constants_at_widths_1_to_4() {
    for width in 1..=4 {
        let mut terms = Terms::new();
        let x = terms.var("x", Sort::BitVec(width));
        for a in 0..=mask(width) {
            let model = {
                let mut m = Model::new();
                m.set(x, Value::BitVec(BitVec::new(width, a)));
                m
            };
            for b in 0..=mask(width) {
                let (ca, cb) = (terms.bv(width, a), terms.bv(width, b));
                for (name, build, reference) in BINARY {
                    let expected = Value::BitVec(BitVec::new(width, reference(width, a, b)));
                    for (l, r) in [(ca, cb), (x, cb)] {
                        let t = build(&mut terms, l, r);
                        assert_eq!(terms.evaluate(t, &model), expected, "{name} {a} {b} at {width}");
                    }
                    let t = build(&mut terms, cb, x);
                    let expected = Value::BitVec(BitVec::new(width, reference(width, b, a)));
                    assert_eq!(terms.evaluate(t, &model), expected, "{name} {b} {a} at {width}");
                }
                for (name, build, reference) in PREDICATES {
                    let t = build(&mut terms, x, cb);
                    let expected = Value::Bool(reference(width, a, b));
                    assert_eq!(terms.evaluate(t, &model), expected, "{name} {a} {b} at {width}");
                    let t = build(&mut terms, cb, x);
                    let expected = Value::Bool(reference(width, b, a));
                    assert_eq!(terms.evaluate(t, &model), expected, "{name} {b} {a} at {width}");
                }
            }
        }
    }
}

/// Equations that hold, or fail, by the laws of arithmetic alone.
#[test]
fn polynomial_equations_are_decided() {
    let mut s = Terms::new();
    let [a, b, c] = ["a", "b", "c"].map(|n| s.var(n, Sort::BitVec(32)));
    let (ab, ac, bc) = (s.mul(a, b), s.mul(a, c), s.mul(b, c));
    let (sum, left) = (s.add(b, c), s.add(ab, ac));
    let right = s.mul(a, sum);
    assert_eq!(s.eq(left, right), s.tru(), "distributivity");
    let (left, right) = (s.mul(ab, c), s.mul(a, bc));
    assert_eq!(s.eq(left, right), s.tru(), "associativity");
    let (sum, difference) = (s.add(a, b), s.sub(a, b));
    let product = s.mul(sum, difference);
    let (aa, bb) = (s.mul(a, a), s.mul(b, b));
    let squares = s.sub(aa, bb);
    assert_eq!(s.eq(product, squares), s.tru(), "difference of squares");
    let one = s.bv(32, 1);
    let more = s.add(squares, one);
    assert_eq!(s.eq(product, more), s.fls());
    // Even numbers are not odd.
    let (four, six) = (s.bv(32, 4), s.bv(32, 6));
    let (x, y) = (s.mul(a, four), s.mul(b, six));
    let (x, y) = (s.add(x, y), s.add(y, one));
    assert_eq!(s.eq(x, y), s.fls());
    // What both sides share goes.
    let (left, right) = (s.add(a, ab), s.add(ab, b));
    let (left, right) = (s.add(left, c), s.add(c, right));
    assert_eq!(s.eq(left, right), s.eq(a, b));
}

/// Operators nested deeply under an equation or a comparison must not recurse.
#[test]
fn deep_operands_need_no_stack() {
    let mut s = Terms::new();
    let x = s.var("x", Sort::BitVec(32));
    let (three, seven) = (s.bv(32, 3), s.bv(32, 7));
    let mut t = x;
    for i in 0..200_000 {
        t = s.mul(t, three);
        t = s.add(t, seven);
        let mask = s.bv(32, i);
        t = s.bvxor(t, mask);
    }
    let e = s.eq(t, seven);
    assert!(s.len() > 400_000 && s.args(e).contains(&x), "solved for x");
    let mut choice = x;
    for i in 0..200_000 {
        let p = s.var(&format!("p{i}"), Sort::Bool);
        let k = s.bv(32, 8 + i);
        choice = s.ite(p, k, choice);
    }
    s.eq(choice, seven);
    let mut narrow = s.var("n", Sort::BitVec(1));
    let mut other = s.var("m", Sort::BitVec(1));
    for _ in 0..3_000 {
        narrow = s.sign_extend(narrow, 1);
        narrow = s.not(narrow);
        other = s.sign_extend(other, 1);
        other = s.not(other);
    }
    s.ult(narrow, other);
    s.slt(narrow, other);
    s.extract(narrow, 1, 0);
}

/// The normal forms that the documentation promises and other code relies on.
#[test]
fn normal_forms() {
    let mut s = Terms::new();
    let (x, y) = (s.var("x", Sort::BitVec(32)), s.var("y", Sort::BitVec(32)));
    let b = s.var("b", Sort::BitVec(8));
    // Commutative operands are ordered; differences cancel.
    assert_eq!(s.add(x, y), s.add(y, x));
    let sum = s.add(x, y);
    assert_eq!(s.sub(sum, y), x);
    // Bytes put together again are the word.
    let parts: Vec<Term> = (0..4).map(|i| s.extract(x, 8 * i + 7, 8 * i)).collect();
    let shifted: Vec<Term> = parts
        .iter()
        .zip([0u64, 8, 16, 24])
        .map(|(p, n)| {
            let wide = s.zero_extend(*p, 24);
            let n = s.bv(32, n);
            s.shl(wide, n)
        })
        .collect();
    let mut word = shifted[0];
    for t in &shifted[1..] {
        word = s.or(word, *t);
    }
    assert_eq!(word, x);
    // A masked word is a zero-extended byte, and comparisons see it.
    let mask = s.bv(32, 0xff);
    let low = s.and(x, mask);
    let limit = s.bv(32, 256);
    assert_eq!(s.ult(low, limit), s.tru());
    // C's truth values: (p ? 1 : 0) != 0 is p.
    let p = s.var("p", Sort::Bool);
    let (one, zero) = (s.bv(32, 1), s.bv(32, 0));
    let int = s.ite(p, one, zero);
    assert_eq!(s.ne(int, zero), p);
    // Promotion and truncation of a char cancel.
    let (wide, two) = (s.sign_extend(b, 24), s.bv(32, 2));
    let t = s.add(wide, two);
    let narrow = s.extract(t, 7, 0);
    let two = s.bv(8, 2);
    assert_eq!(narrow, s.add(b, two));
    // Reads look past writes to other places.
    let a = s.var("a", Sort::Array { index: 32, elem: 8 });
    let (i1, i2) = (s.add(x, one), s.sub(x, one));
    let written = s.store(a, i1, b);
    assert_eq!(s.select(written, i2), s.select(a, i2));
    assert_eq!(s.select(written, i1), b);
    // An exchange of two elements is the same whichever is written first.
    let (at_x, at_y) = (s.select(a, x), s.select(a, y));
    let first = s.store(a, x, at_y);
    let exchanged = s.store(first, y, at_x);
    let first = s.store(a, y, at_x);
    assert_eq!(s.store(first, x, at_y), exchanged);
    // Arrays with a common origin are compared where they were written.
    let same = s.eq(written, a);
    let element = s.select(a, i1);
    assert_eq!(same, s.eq(element, b));
}

/// The rules for arrays, on all arrays with two and four elements.
#[test]
fn array_rules_against_brute_force() {
    for (index, elem) in [(1, 2), (2, 1)] {
        let mut s = Terms::new();
        let a = s.var("a", Sort::Array { index, elem });
        let (i, j, v) = (
            s.var("i", Sort::BitVec(index)),
            s.var("j", Sort::BitVec(index)),
            s.var("v", Sort::BitVec(elem)),
        );
        let (at_i, at_j) = (s.select(a, i), s.select(a, j));
        let g = Signature { vars: vec![a, i, j, v], funcs: Vec::new(), widths: vec![1, 2] };
        let models = all_models(&s, &g);
        let writes = [(i, at_j), (j, at_i), (i, v), (j, v), (j, at_j)];
        for (first, second) in writes.iter().flat_map(|w| writes.iter().map(move |u| (w, u))) {
            let once = s.store(a, first.0, first.1);
            let twice = s.store(once, second.0, second.1);
            let back = s.store(a, second.0, second.1);
            let back = s.store(back, first.0, first.1);
            let (same, read) = (s.eq(twice, back), s.select(twice, i));
            for m in &models {
                let bv = |t: Term| s.evaluate(t, m).as_bv().expect("a bit-vector").clone();
                let Value::Array(array) = s.evaluate(a, m) else { unreachable!("an array") };
                let write = |array: &ArrayValue, w: &(Term, Term)| array.store(bv(w.0), bv(w.1));
                let expected = write(&write(&array, first), second);
                assert_eq!(s.evaluate(twice, m), Value::Array(expected.clone()));
                let other = write(&write(&array, second), first);
                assert_eq!(s.evaluate(same, m), Value::Bool(expected == other));
                assert_eq!(bv(read), *expected.select(&bv(i)));
            }
        }
    }
}
