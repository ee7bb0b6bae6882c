//! Sums of dimensions over the integers, spans of their values, and expressions read as such sums.

use crate::dim::Dim;
use crate::expr::{BinOp, Node, NodeId, Tree};
use crate::interval::{End, Interval};
use crate::machine::MachineInt;
use palisade_num::{Int, Rat};

/// What is at least this large, or small, counts as unbounded.
const INFINITE: i128 = 1 << 120;

/// The numbers between two bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub lo: i128,
    pub hi: i128,
}

impl Span {
    pub const ALL: Span = Span { lo: -INFINITE, hi: INFINITE };

    pub fn point(v: i128) -> Span {
        Span { lo: v, hi: v }
    }

    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    pub fn is_bounded(self) -> bool {
        self.lo > -INFINITE && self.hi < INFINITE
    }

    pub fn contains(self, other: Span) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    pub fn meet(self, other: Span) -> Span {
        Span { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) }
    }

    pub fn join(self, other: Span) -> Span {
        Span { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    pub fn add(self, other: Span) -> Span {
        let sum = |a: i128, b: i128, infinite: i128| match a == infinite || b == infinite {
            true => infinite,
            false => (a + b).clamp(-INFINITE, INFINITE),
        };
        Span { lo: sum(self.lo, other.lo, -INFINITE), hi: sum(self.hi, other.hi, INFINITE) }
    }

    pub fn scale(self, k: i128) -> Span {
        let times = |a: i128| {
            let sign = if (a < 0) == (k < 0) { INFINITE } else { -INFINITE };
            match (k, a.abs()) {
                (0, _) => 0,
                (_, INFINITE) => sign,
                _ => a.checked_mul(k).map_or(sign, |p| p.clamp(-INFINITE, INFINITE)),
            }
        };
        let (a, b) = (times(self.lo), times(self.hi));
        Span { lo: a.min(b), hi: a.max(b) }
    }

    /// The numbers whose product with `k` is in the span.
    pub fn divide(self, k: i128) -> Span {
        let (low, high) = if k > 0 { (self.lo, self.hi) } else { (self.hi, self.lo) };
        let out = |a: i128| a.abs() == INFINITE;
        let (down, up) = (|a: i128| a.div_euclid(k), |a: i128| -(-a).div_euclid(k));
        let sign = k.signum();
        // With a negative divisor `div_euclid` rounds up.
        let (floor, ceil) = if k > 0 { (down(high), up(low)) } else { (up(high), down(low)) };
        Span { lo: if out(low) { low * sign } else { ceil }, hi: if out(high) { high * sign } else { floor } }
    }

    /// Where results of bitwise operations on numbers of two spans are.
    pub fn bits(self, other: Span) -> Span {
        let all = self.join(other);
        match all.lo >= 0 && all.is_bounded() {
            true => Span { lo: 0, hi: ((all.hi + 1) as u128).next_power_of_two() as i128 - 1 },
            false => Span::ALL,
        }
    }

    pub fn of_type(ty: MachineInt) -> Span {
        let end = |v: Int| v.to_i128().filter(|v| v.abs() < INFINITE);
        match (end(ty.min()), end(ty.max())) {
            (Some(lo), Some(hi)) => Span { lo, hi },
            _ => Span::ALL,
        }
    }

    /// The integers of an interval.
    pub fn of_interval(i: &Interval) -> Span {
        let i = i.tighten_int();
        let end = |e: &Option<End>| e.as_ref().and_then(|e| e.value.to_int()?.to_i128());
        Span {
            lo: end(&i.lo).map_or(-INFINITE, |v| v.clamp(-INFINITE, INFINITE)),
            hi: end(&i.hi).map_or(INFINITE, |v| v.clamp(-INFINITE, INFINITE)),
        }
    }

    pub fn to_interval(self) -> Interval {
        let end = |v: i128| (v.abs() < INFINITE).then(|| End::closed(Rat::from(Int::from(v))));
        Interval { lo: end(self.lo), hi: end(self.hi) }
    }
}

/// `Σ cᵢ·dᵢ + c`, dimensions ascending.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Form {
    pub terms: Vec<(Dim, i128)>,
    pub constant: i128,
}

impl Form {
    pub fn constant(c: i128) -> Form {
        Form { terms: Vec::new(), constant: c }
    }

    pub fn dim(d: Dim) -> Form {
        Form { terms: vec![(d, 1)], constant: 0 }
    }

    /// `self + k·other`; `None` if a coefficient is too large.
    pub fn add(&self, other: &Form, k: i128) -> Option<Form> {
        let small = |v: i128| (v.abs() < INFINITE).then_some(v);
        let sum = |a: i128, b: i128| a.checked_add(b.checked_mul(k)?).and_then(small);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => break,
            };
            let left = if order.is_le() { a.next() } else { None };
            let right = if order.is_ge() { b.next() } else { None };
            let Some(&(d, _)) = left.or(right) else { break };
            let c = sum(left.map_or(0, |t| t.1), right.map_or(0, |t| t.1))?;
            if c != 0 {
                terms.push((d, c));
            }
        }
        Some(Form { terms, constant: sum(self.constant, other.constant)? })
    }

    /// The span of the values, given those of the dimensions.
    pub fn span(&self, of: &dyn Fn(Dim) -> Span) -> Span {
        self.terms.iter().fold(Span::point(self.constant), |sum, (d, c)| sum.add(of(*d).scale(*c)))
    }
}

/// A number equals its form.
pub(super) const EXACT: u32 = u32::MAX;

/// What is known of a number: it is in the span, and it equals the form modulo `2^bits`, or exactly.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub form: Form,
    pub bits: u32,
    pub span: Span,
}

impl Value {
    fn within(span: Span) -> Value {
        if span.lo == span.hi {
            return Value::exact(Form::constant(span.lo), span);
        }
        Value { form: Form::constant(0), bits: 0, span }
    }

    fn exact(form: Form, span: Span) -> Value {
        Value { form, bits: EXACT, span }
    }

    /// `self + k·other`.
    fn add(&self, other: &Value, k: i128) -> Value {
        let span = self.span.add(other.span.scale(k));
        // A factor of two makes one more bit known.
        let more = if k == 0 { EXACT } else { other.bits.saturating_add(k.trailing_zeros()) };
        let bits = if other.bits == EXACT { EXACT } else { more };
        match self.form.add(&other.form, k) {
            Some(form) => Value { form, bits: self.bits.min(bits), span },
            None => Value::within(span),
        }
    }

    fn scale(&self, k: i128) -> Value {
        Value::exact(Form::constant(0), Span::point(0)).add(self, k)
    }

    /// How many low bits are certainly zero.
    fn zeros(&self) -> u32 {
        let terms = self.form.terms.iter().map(|t| t.1).chain([self.form.constant]).filter(|c| *c != 0);
        terms.map(i128::trailing_zeros).min().unwrap_or(EXACT).min(self.bits)
    }

    fn as_constant(&self) -> Option<i128> {
        (self.span.lo == self.span.hi).then_some(self.span.lo)
    }

    /// The number, given that only its low bits count and it is in `span`: [`Node::Wrap`] and masks of ones.
    fn low(&self, width: u32, span: Span) -> Value {
        if span.contains(self.span) {
            return self.clone();
        }
        let period = 1i128.checked_shl(width).filter(|_| width < 120);
        if let Some(period) = period
            && self.span.is_bounded()
            && (self.span.lo - span.lo).div_euclid(period) == (self.span.hi - span.lo).div_euclid(period)
        {
            // The whole span is in one period.
            let shift = (self.span.lo - span.lo).div_euclid(period) * period;
            return self.add(&Value::exact(Form::constant(shift), Span::point(shift)), -1);
        }
        Value { form: self.form.clone(), bits: self.bits.min(width), span }
    }
}

/// The value of every node of a tree.
pub(super) fn eval(tree: &Tree, range: &dyn Fn(Dim) -> Span) -> Vec<Value> {
    let mut vals: Vec<Value> = Vec::with_capacity(tree.nodes().len());
    for n in tree.nodes() {
        let get = |i: &NodeId| &vals[i.index()];
        let truth = Value::within(Span { lo: 0, hi: 1 });
        let v = match n {
            Node::Const(c) => match c.to_int().and_then(Int::to_i128).filter(|c| c.abs() < INFINITE) {
                Some(c) => Value::exact(Form::constant(c), Span::point(c)),
                None => Value::within(Span::ALL),
            },
            Node::Dim(d) if d.is_int() => Value::exact(Form::dim(*d), range(*d)),
            Node::Dim(_) => Value::within(Span::ALL),
            Node::Range(i, true) => Value::within(Span::of_interval(i)),
            Node::Range(..) => Value::within(Span::ALL),
            Node::Neg(a) => get(a).scale(-1),
            Node::Not(a) => Value::exact(Form::constant(-1), Span::point(-1)).add(get(a), -1),
            Node::Bin(op, a, b) => eval_bin(*op, get(a), get(b)),
            Node::Wrap(ty, a) => get(a).low(ty.width, Span::of_type(*ty)),
            Node::Ite(_, a, b) => {
                let (a, b) = (get(a), get(b));
                let span = a.span.join(b.span);
                match a.form == b.form {
                    true => Value { form: a.form.clone(), bits: a.bits.min(b.bits), span },
                    false => Value::within(span),
                }
            }
            Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::IsZero(_) => truth,
        };
        // The form of an exact value may know more than the parts.
        let known = if v.bits == EXACT { v.form.span(range) } else { Span::ALL };
        vals.push(Value { span: v.span.meet(known), ..v });
    }
    vals
}

fn eval_bin(op: BinOp, a: &Value, b: &Value) -> Value {
    let both = [(a, b.as_constant()), (b, a.as_constant())];
    match op {
        BinOp::Add => a.add(b, 1),
        BinOp::Sub => a.add(b, -1),
        BinOp::Mul => match both.into_iter().find_map(|(x, k)| Some(x.scale(k?))) {
            Some(product) => product,
            None => {
                let corners = [a.span.lo, a.span.hi].map(|k| b.span.scale(k));
                Value::within(corners[0].join(corners[1]))
            }
        },
        BinOp::And => match both.into_iter().find_map(|(x, k)| Some((x, k.filter(|k| *k >= 0)?))) {
            Some((x, mask)) => {
                let width = mask.trailing_ones();
                let low = x.low(width, Span { lo: 0, hi: (1 << width) - 1 });
                match mask >> width {
                    0 => low,
                    _ => Value {
                        bits: x.bits.min(width),
                        form: x.form.clone(),
                        span: Span { lo: 0, hi: mask },
                    },
                }
            }
            None if a.span.lo >= 0 && b.span.lo >= 0 => {
                Value::within(Span { lo: 0, hi: a.span.hi.min(b.span.hi) })
            }
            None => Value::within(Span::ALL),
        },
        // Up to the first bit that may be set in both, these are sums.
        BinOp::Or | BinOp::Xor => {
            let sum = a.add(b, 1);
            let below =
                |x: &Value, y: &Value| Span { lo: 0, hi: (1 << y.zeros().min(119)) - 1 }.contains(x.span);
            if below(a, b) || below(b, a) {
                return sum;
            }
            let zeros = a.zeros().max(b.zeros());
            let carry = if op == BinOp::Xor { 1 } else { 0 };
            Value { bits: sum.bits.min(zeros.saturating_add(carry)), span: a.span.bits(b.span), ..sum }
        }
        BinOp::Shl => match b.as_constant() {
            Some(k @ 0..120) => a.scale(1 << k),
            _ => Value::within(Span::ALL),
        },
        BinOp::Shr => match b.as_constant() {
            Some(k @ 0..120) if a.span.is_bounded() => {
                Value::within(Span { lo: a.span.lo >> k, hi: a.span.hi >> k })
            }
            _ => Value::within(Span::ALL),
        },
        BinOp::Div | BinOp::Rem => match b.as_constant() {
            Some(k @ 1..) if a.span.lo >= 0 && a.span.is_bounded() => Value::within(match op {
                BinOp::Div => Span { lo: a.span.lo / k, hi: a.span.hi / k },
                _ => Span { lo: 0, hi: a.span.hi.min(k - 1) },
            }),
            _ => Value::within(Span::ALL),
        },
    }
}
