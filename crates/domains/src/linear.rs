//! Linear expressions and constraints with exact rational coefficients.

use crate::dim::Dim;
use palisade_num::{Int, Rat};
use std::fmt;
use std::ops::{Add, Neg, Sub};

/// `Σ cᵢ·xᵢ + c`, sparse: terms sorted by dimension, no zero coefficient.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LinExpr {
    terms: Vec<(Dim, Rat)>,
    constant: Rat,
}

impl LinExpr {
    /// The constant expression.
    pub fn constant(c: impl Into<Rat>) -> LinExpr {
        LinExpr { terms: Vec::new(), constant: c.into() }
    }

    /// The expression that is one dimension.
    pub fn dim(d: Dim) -> LinExpr {
        LinExpr { terms: vec![(d, Rat::ONE)], constant: Rat::ZERO }
    }

    /// From terms in any order, repetitions added up.
    pub fn new(terms: impl IntoIterator<Item = (Dim, Rat)>, constant: impl Into<Rat>) -> LinExpr {
        let mut terms: Vec<(Dim, Rat)> = terms.into_iter().collect();
        terms.sort_by_key(|t| t.0);
        terms.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 += &later.1;
            }
            same
        });
        terms.retain(|t| !t.1.is_zero());
        LinExpr { terms, constant: constant.into() }
    }

    /// The terms, sorted by dimension, without zero coefficients.
    pub fn terms(&self) -> &[(Dim, Rat)] {
        &self.terms
    }

    /// The constant part.
    pub fn constant_term(&self) -> &Rat {
        &self.constant
    }

    /// The coefficient of `d`, zero when it does not occur.
    pub fn coeff(&self, d: Dim) -> Rat {
        self.terms.binary_search_by_key(&d, |t| t.0).map_or(Rat::ZERO, |i| self.terms[i].1.clone())
    }

    /// Does `d` occur?
    pub fn mentions(&self, d: Dim) -> bool {
        self.terms.binary_search_by_key(&d, |t| t.0).is_ok()
    }

    /// The dimensions that occur, in order.
    pub fn dims(&self) -> impl Iterator<Item = Dim> + '_ {
        self.terms.iter().map(|t| t.0)
    }

    /// Does no dimension occur?
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The dimension, when the expression is just that.
    pub fn as_dim(&self) -> Option<Dim> {
        match self.terms.as_slice() {
            [(d, c)] if *c == Rat::ONE && self.constant.is_zero() => Some(*d),
            _ => None,
        }
    }

    /// `k · self`.
    pub fn scale(&self, k: &Rat) -> LinExpr {
        if k.is_zero() {
            return LinExpr::constant(Rat::ZERO);
        }
        LinExpr { terms: self.terms.iter().map(|(d, c)| (*d, c * k)).collect(), constant: &self.constant * k }
    }

    /// `self + k · other`.
    pub fn add_scaled(&self, other: &LinExpr, k: &Rat) -> LinExpr {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let c = &x.1 + &y.1 * k;
                    if !c.is_zero() {
                        terms.push((x.0, c));
                    }
                    a.next();
                    b.next();
                }
                (Some(x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    terms.push((*x).clone());
                    a.next();
                }
                (_, Some(y)) => {
                    let c = &y.1 * k;
                    if !c.is_zero() {
                        terms.push((y.0, c));
                    }
                    b.next();
                }
                // The guards above leave only two exhausted sides.
                _ => break,
            }
        }
        LinExpr { terms, constant: &self.constant + &other.constant * k }
    }

    /// `self + c`.
    pub fn add_constant(&self, c: &Rat) -> LinExpr {
        LinExpr { terms: self.terms.clone(), constant: &self.constant + c }
    }

    /// `self` with `d` replaced by `e`.
    pub fn substitute(&self, d: Dim, e: &LinExpr) -> LinExpr {
        let c = self.coeff(d);
        if c.is_zero() {
            return self.clone();
        }
        let mut rest = self.clone();
        rest.terms.retain(|t| t.0 != d);
        rest.add_scaled(e, &c)
    }

    /// `self` with every dimension renamed.
    pub fn rename(&self, f: impl Fn(Dim) -> Dim) -> LinExpr {
        LinExpr::new(self.terms.iter().map(|(d, c)| (f(*d), c.clone())), self.constant.clone())
    }

    /// The value in a state.
    pub fn eval(&self, state: &dyn Fn(Dim) -> Rat) -> Rat {
        self.terms.iter().fold(self.constant.clone(), |acc, (d, c)| acc + c * state(*d))
    }

    /// Does the expression only take integer values (all dimensions and coefficients integer)?
    pub fn is_integral(&self) -> bool {
        self.constant.is_int() && self.terms.iter().all(|(d, c)| d.is_int() && c.is_int())
    }

    /// The positive rational that makes all coefficients (not the constant) coprime integers;
    /// `None` for a constant expression.
    pub fn integer_scale(&self) -> Option<Rat> {
        if self.terms.is_empty() {
            return None;
        }
        let (mut num, mut den) = (Int::ZERO, Int::ONE);
        for (_, c) in &self.terms {
            num = num.gcd(c.numer());
            den = den.lcm(c.denom());
        }
        Some(Rat::new(den, num))
    }

    /// Writes the expression with the given names.
    pub fn display_with<'a>(&'a self, name: &'a dyn Fn(Dim) -> String) -> impl fmt::Display + 'a {
        WithNames(self, name)
    }
}

struct WithNames<'a>(&'a LinExpr, &'a dyn Fn(Dim) -> String);

impl fmt::Display for WithNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WithNames(e, name) = self;
        let mut first = true;
        for (d, c) in &e.terms {
            let sign = match (first, c.is_negative()) {
                (true, false) => "",
                (true, true) => "-",
                (false, false) => " + ",
                (false, true) => " - ",
            };
            let a = c.abs();
            if a == Rat::ONE {
                write!(f, "{sign}{}", name(*d))?;
            } else {
                write!(f, "{sign}{a}*{}", name(*d))?;
            }
            first = false;
        }
        if first {
            write!(f, "{}", e.constant)
        } else if e.constant.is_zero() {
            Ok(())
        } else {
            write!(f, " {} {}", if e.constant.is_negative() { '-' } else { '+' }, e.constant.abs())
        }
    }
}

impl fmt::Display for LinExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WithNames(self, &|d| d.to_string()).fmt(f)
    }
}

impl From<Dim> for LinExpr {
    fn from(d: Dim) -> LinExpr {
        LinExpr::dim(d)
    }
}

impl From<i64> for LinExpr {
    fn from(c: i64) -> LinExpr {
        LinExpr::constant(c)
    }
}

impl Add for &LinExpr {
    type Output = LinExpr;
    fn add(self, rhs: &LinExpr) -> LinExpr {
        self.add_scaled(rhs, &Rat::ONE)
    }
}

impl Sub for &LinExpr {
    type Output = LinExpr;
    fn sub(self, rhs: &LinExpr) -> LinExpr {
        self.add_scaled(rhs, &-Rat::ONE)
    }
}

impl Neg for &LinExpr {
    type Output = LinExpr;
    fn neg(self) -> LinExpr {
        self.scale(&-Rat::ONE)
    }
}

/// How the expression of a constraint relates to zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Rel {
    /// `e ≤ 0`
    Le,
    /// `e < 0`
    Lt,
    /// `e = 0`
    Eq,
    /// `e ≠ 0`
    Ne,
    /// `e` is an integer multiple of the modulus, which is positive. Domains without congruences
    /// may ignore it.
    Mod(Int),
}

/// A linear constraint: an expression and its relation to zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LinCons {
    /// The left side.
    pub expr: LinExpr,
    /// The relation to zero.
    pub rel: Rel,
}

impl LinCons {
    /// `a ≤ b`.
    pub fn le(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons { expr: &a.into() - &b.into(), rel: Rel::Le }
    }

    /// `a ≥ b`.
    pub fn ge(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons::le(b, a)
    }

    /// `a < b`.
    pub fn lt(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons { expr: &a.into() - &b.into(), rel: Rel::Lt }
    }

    /// `a > b`.
    pub fn gt(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons::lt(b, a)
    }

    /// `a = b`.
    pub fn eq(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons { expr: &a.into() - &b.into(), rel: Rel::Eq }
    }

    /// `a ≠ b`.
    pub fn ne(a: impl Into<LinExpr>, b: impl Into<LinExpr>) -> LinCons {
        LinCons { expr: &a.into() - &b.into(), rel: Rel::Ne }
    }

    /// `a ≡ b (mod m)` for a positive `m`.
    pub fn congruent(a: impl Into<LinExpr>, b: impl Into<LinExpr>, m: Int) -> LinCons {
        LinCons { expr: &a.into() - &b.into(), rel: Rel::Mod(m) }
    }

    /// A constraint that no state satisfies.
    pub fn contradiction() -> LinCons {
        LinCons { expr: LinExpr::constant(1), rel: Rel::Le }
    }

    /// Does the state satisfy the constraint?
    pub fn holds(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        self.holds_for(&self.expr.eval(state))
    }

    fn holds_for(&self, v: &Rat) -> bool {
        match &self.rel {
            Rel::Le => !v.is_positive(),
            Rel::Lt => v.is_negative(),
            Rel::Eq => v.is_zero(),
            Rel::Ne => !v.is_zero(),
            Rel::Mod(m) => (v / Rat::from(m)).is_int(),
        }
    }

    /// Whether every state (`Some(true)`) or no state (`Some(false)`) satisfies the constraint, when
    /// its form alone tells.
    pub fn truth(&self) -> Option<bool> {
        self.expr.is_constant().then(|| self.holds_for(&self.expr.constant))
    }

    /// Constraints whose disjunction holds exactly where `self` does not. A congruence has no such
    /// short form; for it the answer is a constraint that always holds, a sound weakening.
    pub fn negate(&self) -> Vec<LinCons> {
        let with = |expr: LinExpr, rel| LinCons { expr, rel };
        match self.rel {
            Rel::Le => vec![with(-&self.expr, Rel::Lt)],
            Rel::Lt => vec![with(-&self.expr, Rel::Le)],
            Rel::Eq => vec![with(self.expr.clone(), Rel::Lt), with(-&self.expr, Rel::Lt)],
            Rel::Ne => vec![with(self.expr.clone(), Rel::Eq)],
            Rel::Mod(_) => vec![with(LinExpr::constant(0), Rel::Le)],
        }
    }

    /// An equivalent constraint in normal form: coprime integer coefficients; over integer
    /// dimensions no strict inequality and the constant tightened to an integer (an equality or
    /// disequality that no integer can meet becomes constant). For `=` and `≠` the first
    /// coefficient is positive.
    pub fn normalize(&self) -> LinCons {
        let Some(scale) = self.expr.integer_scale() else { return self.clone() };
        if let Rel::Mod(m) = &self.rel {
            return self.normalize_congruence(m);
        }
        let mut expr = self.expr.scale(&scale);
        let mut rel = self.rel.clone();
        if matches!(rel, Rel::Eq | Rel::Ne) && expr.terms[0].1.is_negative() {
            expr = -&expr;
        }
        if expr.dims().all(Dim::is_int) {
            match rel {
                Rel::Le => expr.constant = expr.constant.ceil().into(),
                Rel::Lt => {
                    expr.constant = (expr.constant.floor() + Int::ONE).into();
                    rel = Rel::Le;
                }
                Rel::Eq if !expr.constant.is_int() => return LinCons::contradiction(),
                Rel::Ne if !expr.constant.is_int() => {
                    return LinCons { expr: LinExpr::constant(0), rel: Rel::Le };
                }
                _ => {}
            }
        }
        LinCons { expr, rel }
    }

    /// Integer coefficients reduced modulo `m`, when all dimensions are integers.
    fn normalize_congruence(&self, m: &Int) -> LinCons {
        if !self.expr.dims().all(Dim::is_int) {
            return self.clone();
        }
        let mut den = self.expr.constant.denom().clone();
        for (_, c) in &self.expr.terms {
            den = den.lcm(c.denom());
        }
        let (e, mut m) = (self.expr.scale(&Rat::from(&den)), m * &den);
        let reduce = |c: &Rat, m: &Int| c.numer().modulo(m);
        let mut terms: Vec<(Dim, Int)> = e.terms.iter().map(|(d, c)| (*d, reduce(c, &m))).collect();
        let mut k = reduce(&e.constant, &m);
        let g = terms.iter().fold(m.clone(), |g, t| g.gcd(&t.1));
        if !g.divides(&k) {
            return LinCons::contradiction();
        }
        if !g.is_one() {
            terms.iter_mut().for_each(|t| t.1 = t.1.div_exact(&g));
            k = k.div_exact(&g);
            m = m.div_exact(&g);
        }
        let expr = LinExpr::new(terms.into_iter().map(|(d, c)| (d, Rat::from(c))), Rat::from(k));
        LinCons { expr, rel: Rel::Mod(m) }
    }

    /// `self` with every dimension renamed.
    pub fn rename(&self, f: impl Fn(Dim) -> Dim) -> LinCons {
        LinCons { expr: self.expr.rename(f), rel: self.rel.clone() }
    }

    /// Writes the constraint with the given names, variables left and the constant right.
    pub fn display_with<'a>(&'a self, name: &'a dyn Fn(Dim) -> String) -> impl fmt::Display + 'a {
        ConsWithNames(self, name)
    }
}

struct ConsWithNames<'a>(&'a LinCons, &'a dyn Fn(Dim) -> String);

impl fmt::Display for ConsWithNames<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConsWithNames(c, name) = self;
        // `-x - y <= -3` reads better as `x + y >= 3`.
        let flip = !c.expr.terms.is_empty()
            && c.expr.terms.iter().all(|t| t.1.is_negative())
            && matches!(c.rel, Rel::Le | Rel::Lt);
        let e = if flip { -&c.expr } else { c.expr.clone() };
        let rhs = -&e.constant;
        let lhs = LinExpr { terms: e.terms, constant: Rat::ZERO };
        let op = match (&c.rel, flip) {
            (Rel::Le, false) => "<=",
            (Rel::Le, true) => ">=",
            (Rel::Lt, false) => "<",
            (Rel::Lt, true) => ">",
            (Rel::Eq, _) => "=",
            (Rel::Ne, _) => "!=",
            (Rel::Mod(m), _) => return write!(f, "{} = {rhs} mod {m}", WithNames(&lhs, name)),
        };
        write!(f, "{} {op} {rhs}", WithNames(&lhs, name))
    }
}

impl fmt::Display for LinCons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ConsWithNames(self, &|d| d.to_string()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r(n: i64, d: i64) -> Rat {
        Rat::new(Int::from(n), Int::from(d))
    }

    #[test]
    fn sums_cancel_and_print() {
        let (x, y) = (Dim::int(0), Dim::int(1));
        let e = LinExpr::new([(y, r(1, 2)), (x, r(2, 1)), (y, r(1, 2))], 3);
        assert_eq!(e.to_string(), "2*x0 + x1 + 3");
        assert_eq!((&e - &LinExpr::dim(y)).to_string(), "2*x0 + 3");
        assert_eq!(e.substitute(x, &LinExpr::new([(y, r(-1, 2))], 1)).to_string(), "5");
        assert_eq!((-&e).to_string(), "-2*x0 - x1 - 3");
    }

    #[test]
    fn integer_constraints_tighten() {
        let (x, y, q) = (Dim::int(0), Dim::int(1), Dim::rat(0));
        let c = LinCons::lt(LinExpr::new([(x, r(2, 1)), (y, r(4, 1))], 0), 7);
        assert_eq!(c.normalize().to_string(), "x0 + 2*x1 <= 3");
        let c = LinCons::lt(LinExpr::new([(q, r(2, 1))], 0), 7);
        assert_eq!(c.normalize().to_string(), "r0 < 7/2");
        let c = LinCons::eq(LinExpr::new([(x, r(2, 1))], 0), 7);
        assert_eq!(c.normalize().truth(), Some(false));
        let c = LinCons::congruent(LinExpr::new([(x, r(6, 1))], 3), 0, Int::from(9));
        assert_eq!(c.normalize().to_string(), "2*x0 = -1 mod 3");
    }

    #[test]
    fn negation_is_the_complement() {
        let x = Dim::int(0);
        for c in [LinCons::le(x, 1), LinCons::lt(x, 1), LinCons::eq(x, 1), LinCons::ne(x, 1)] {
            for v in -2..4i64 {
                let s = |_: Dim| Rat::from(v);
                assert_eq!(c.holds(&s), !c.negate().iter().any(|n| n.holds(&s)), "{c} at {v}");
                assert_eq!(c.holds(&s), c.normalize().holds(&s));
            }
        }
    }
}
