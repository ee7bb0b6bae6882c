//! Facts as C expressions.
//!
//! What is written means the same in C: where a sum could leave its type, its variables are cast to
//! a type that holds it. Signed arithmetic wraps, as everywhere in Palisade.

use super::linear::{Linear, Relation};
use crate::trees::machine;
use palisade_base::Span;
use palisade_cfa::c_expr::{self, CWriter};
use palisade_cfa::*;
use palisade_domains::{Dim, LinCons, Rel};
use palisade_num::Int;
use rustc_hash::FxHashMap;

/// Which variable each name means at a place of the source.
pub struct Names<'p> {
    program: &'p Program,
    visible: FxHashMap<&'p str, VarId>,
}

impl<'p> Names<'p> {
    /// The names inside of a function at a position.
    pub fn at(program: &'p Program, func: FuncId, at: Span) -> Self {
        let mut visible: FxHashMap<&str, VarId> = FxHashMap::default();
        for (id, var) in program.vars.iter_enumerated() {
            let here = match var.kind {
                VarKind::Global => true,
                VarKind::Param(f) | VarKind::Local(f) => f == func,
                VarKind::Temp(_) => false,
            };
            let in_scope = !at.is_none() && var.scope.lo <= at.lo && at.lo < var.scope.hi;
            if !here || !in_scope || var.name.starts_with('.') {
                continue;
            }
            // The innermost declaration starts last.
            let known = visible.entry(&var.name).or_insert(id);
            if program.vars[*known].scope.lo < var.scope.lo {
                *known = id;
            }
        }
        Names { program, visible }
    }

    /// The name of a variable, if that is what the name means.
    pub fn of(&self, var: VarId) -> Option<&'p str> {
        let name = &*self.program.vars.get(var)?.name;
        (self.visible.get(name) == Some(&var)).then_some(name)
    }
}

/// What can be said about a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// It holds for all values of the types.
    Always,
    /// It holds for none.
    Never,
    /// As a C expression.
    Text(String),
    /// Nothing: a variable has no name here, or a number is too large.
    Nothing,
}

/// `Σ kᵢ·xᵢ + c` over named integer variables.
#[derive(Clone, Debug)]
pub struct Sum {
    terms: Vec<Item>,
    constant: Int,
}

#[derive(Clone, Debug)]
struct Item {
    name: String,
    ty: IntTy,
    k: Int,
}

/// What is said about a [`Sum`].
#[derive(Clone, PartialEq, Eq, Debug)]
enum Is {
    AtMostZero,
    Zero,
    NotZero,
    Multiple(Int),
}

/// Coefficients with more bits are not shown.
const MAX_COEFFICIENT_BITS: u32 = 16;
/// Constants in relations between variables with more bits are not shown.
const MAX_CONSTANT_BITS: u32 = 29;

/// An integer as a literal of a type that holds it.
fn literal(value: &Int) -> Option<String> {
    c_expr::literal(value.to_i128()?)
}

/// The terms of one side of a comparison, all positive, with a constant.
fn side<'a>(terms: impl Iterator<Item = &'a Item>, constant: &Int, cast: &str) -> Option<String> {
    let mut parts = Vec::new();
    for item in terms {
        let size = item.k.abs();
        let value = format!("{cast}{}", item.name);
        parts.push(if size.is_one() { value } else { format!("{} * {value}", literal(&size)?) });
    }
    if !constant.is_zero() || parts.is_empty() {
        parts.push(literal(constant)?);
    }
    Some(parts.join(" + "))
}

impl Sum {
    fn say(mut self, is: Is) -> Said {
        self.terms.retain(|t| !t.k.is_zero());
        if let Is::Multiple(m) = is {
            return self.multiple(m);
        }
        let (mut low, mut high) = (self.constant.clone(), self.constant.clone());
        for item in &self.terms {
            let (a, b) = (&item.k * &machine(item.ty).min(), &item.k * &machine(item.ty).max());
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            low += a;
            high += b;
        }
        let (always, never) = match is {
            Is::AtMostZero => (!high.is_positive(), low.is_positive()),
            Is::Zero => (low.is_zero() && high.is_zero(), low.is_positive() || high.is_negative()),
            _ => (low.is_positive() || high.is_negative(), low.is_zero() && high.is_zero()),
        };
        if always {
            return Said::Always;
        }
        if never {
            return Said::Never;
        }
        if self.is_noise() {
            return Said::Nothing;
        }
        let symbol = match is {
            Is::AtMostZero => "<=",
            Is::Zero => "==",
            _ => "!=",
        };
        self.compare(symbol).map_or(Said::Nothing, Said::Text)
    }

    /// Whether it relates variables by numbers of the size of their types: what is left of them
    /// after a possible overflow tells a reader nothing.
    fn is_noise(&self) -> bool {
        let coefficient = self.terms.iter().any(|t| t.k.bit_len() > MAX_COEFFICIENT_BITS);
        coefficient || (self.terms.len() > 1 && self.constant.bit_len() > MAX_CONSTANT_BITS)
    }

    /// `Σ <= 0`, `== 0` or `!= 0` as a comparison of two sides.
    fn compare(&self, symbol: &str) -> Option<String> {
        if let [only] = self.terms.as_slice()
            && only.k.abs().is_one()
        {
            // x + c <= 0 is x <= -c, and -x + c <= 0 is x >= c.
            let turned = only.k.is_negative();
            let bound = if turned { self.constant.clone() } else { -&self.constant };
            let symbol = if turned && symbol == "<=" { ">=" } else { symbol };
            return Some(format!("{} {symbol} {}", only.name, literal(&bound)?));
        }
        if let [a, b] = self.terms.as_slice()
            && a.ty == b.ty
            && a.k.abs().is_one()
            && a.k == -&b.k
        {
            let (a, b) = if a.k.is_one() { (a, b) } else { (b, a) };
            match (symbol, self.constant.to_i64()) {
                (_, Some(0)) => return Some(format!("{} {symbol} {}", a.name, b.name)),
                ("<=", Some(1)) => return Some(format!("{} < {}", a.name, b.name)),
                _ => {}
            }
        }
        self.sides(symbol, self.wide()?)
    }

    /// A cast to a signed type in which neither side can overflow.
    fn wide(&self) -> Option<&'static str> {
        let mut size = self.constant.abs();
        for item in &self.terms {
            size += item.k.abs() * Int::pow2(u32::from(item.ty.bits));
        }
        match size.bit_len() {
            0..63 => Some("(long long)"),
            63..127 => Some("(__int128)"),
            _ => None,
        }
    }

    fn sides(&self, symbol: &str, cast: &str) -> Option<String> {
        let (c, none) = (&self.constant, Int::ZERO);
        let (left_constant, right_constant) = if c.is_negative() { (none, -c) } else { (c.clone(), none) };
        let left = side(self.terms.iter().filter(|t| t.k.is_positive()), &left_constant, cast)?;
        let right = side(self.terms.iter().filter(|t| t.k.is_negative()), &right_constant, cast)?;
        Some(format!("{left} {symbol} {right}"))
    }

    /// `Σ` is a multiple of `m`.
    fn multiple(mut self, mut m: Int) -> Said {
        let common = self.terms.iter().fold(m.gcd(&self.constant), |g, t| g.gcd(&t.k));
        if common.is_positive() && !common.is_one() {
            m = m.div_exact(&common);
            self.constant = self.constant.div_exact(&common);
            self.terms.iter_mut().for_each(|t| t.k = t.k.div_exact(&common));
        }
        // The representatives nearest to zero.
        let half = m.div_floor(&Int::from(2));
        let near = |k: &Int| {
            let k = k.modulo(&m);
            if k > half { k - &m } else { k }
        };
        self.constant = near(&self.constant);
        self.terms.iter_mut().for_each(|t| t.k = near(&t.k));
        self.terms.retain(|t| !t.k.is_zero());
        if m.is_one() {
            return Said::Always;
        }
        if self.terms.is_empty() {
            return if self.constant.is_zero() { Said::Always } else { Said::Never };
        }
        let power = m.trailing_zeros().filter(|w| m == Int::pow2(*w));
        if power.is_some() {
            self = self.simplest(&m);
        }
        let text = match power {
            Some(w @ (32 | 64)) if self.terms.len() > 1 => {
                // Unsigned arithmetic of that width counts modulo m.
                let narrow = self.terms.iter().all(|t| u32::from(t.ty.bits) <= w);
                let cast = if w == 32 { "(unsigned int)" } else { "(unsigned long long)" };
                // A literal beyond an int would make the whole sum wider.
                let small = self.terms.iter().map(|t| &t.k).chain([&self.constant]).all(|k| k.bit_len() < 32);
                if narrow && (small || w == 64) { self.sides("==", cast) } else { self.remainder(&m, true) }
            }
            Some(0..64) => self.remainder(&m, true),
            _ => self.remainder(&m, false),
        };
        text.map_or(Said::Nothing, Said::Text)
    }

    /// The multiple by a unit modulo a power of two that has the smallest coefficients.
    fn simplest(self, m: &Int) -> Sum {
        let half = m.div_floor(&Int::from(2));
        let near = |k: Int| {
            let k = k.modulo(m);
            if k > half { k - m } else { k }
        };
        let bits = |s: &Sum| s.terms.iter().map(|t| t.k.bit_len()).sum::<u32>();
        let mut best = self.clone();
        for item in self.terms.iter().filter(|t| !t.k.is_even()) {
            let (_, inverse, _) = item.k.ext_gcd(m);
            let scaled = |k: &Int| near(k * &inverse);
            let terms = self.terms.iter().map(|t| Item { k: scaled(&t.k), ..t.clone() }).collect();
            let other = Sum { terms, constant: scaled(&self.constant) };
            if bits(&other) < bits(&best) {
                best = other;
            }
        }
        best
    }

    fn remainder(&self, m: &Int, power: bool) -> Option<String> {
        if let [only] = self.terms.as_slice()
            && only.k.abs().is_one()
        {
            let residue = (&only.k * &-&self.constant).modulo(m);
            let (m, r) = (literal(m)?, literal(&residue)?);
            let name = &only.name;
            return Some(match (only.ty.signed, power) {
                (false, _) => format!("{name} % {m} == {r}"),
                (true, true) => format!("(unsigned long long){name} % {m} == {r}"),
                (true, false) if residue.is_zero() => format!("{name} % {m} == 0"),
                (true, false) if only.ty.bits <= 32 => format!("((long long){name} - {r}) % {m} == 0"),
                (true, false) => format!("((__int128){name} - {r}) % {m} == 0"),
            });
        }
        let cast = if power { "(unsigned long long)" } else { self.wide()? };
        let mut sum = side(self.terms.iter().filter(|t| t.k.is_positive()), &Int::ZERO, cast)?;
        for item in self.terms.iter().filter(|t| t.k.is_negative()) {
            sum += &format!(" - {}", side([item].into_iter(), &Int::ZERO, cast)?);
        }
        let c = &self.constant;
        if c.is_negative() {
            sum += &format!(" - {}", literal(&c.abs())?);
        } else if c.is_positive() {
            sum += &format!(" + {}", literal(c)?);
        }
        Some(format!("({sum}) % {} == 0", literal(m)?))
    }
}

/// What a linear constraint over dimensions says.
pub fn constraint(c: &LinCons, name: &dyn Fn(Dim) -> Option<(String, IntTy)>) -> Said {
    // The least multiple with integers.
    let numbers = || c.expr.terms().iter().map(|(_, k)| k).chain([c.expr.constant_term()]);
    let scale = numbers().fold(Int::ONE, |q, k| q.lcm(k.denom()));
    let expr = c.expr.scale(&palisade_num::Rat::from(&scale));
    let mut terms = Vec::new();
    for (dim, k) in expr.terms() {
        let (Some((name, ty)), Some(k)) = (name(*dim), k.to_int()) else { return Said::Nothing };
        terms.push(Item { name, ty, k: k.clone() });
    }
    let Some(mut constant) = expr.constant_term().to_int().cloned() else { return Said::Nothing };
    let is = match &c.rel {
        Rel::Le => Is::AtMostZero,
        // Over the integers.
        Rel::Lt => {
            constant += Int::ONE;
            Is::AtMostZero
        }
        Rel::Eq => Is::Zero,
        Rel::Ne => Is::NotZero,
        Rel::Mod(m) => Is::Multiple(m * &scale),
    };
    Sum { terms, constant }.say(is)
}

/// What a linear fact about registers says.
pub fn linear(program: &Program, names: &Names<'_>, fact: &Linear) -> Said {
    let mut terms = Vec::new();
    for (var, k) in &fact.terms {
        let (Some(name), Some(ty)) = (names.of(*var), program.scalar_of(program.vars[*var].ty)) else {
            return Said::Nothing;
        };
        let Some(ty) = ty.int() else { return Said::Nothing };
        terms.push(Item { name: name.into(), ty, k: k.clone() });
    }
    let sum = Sum { terms, constant: fact.constant.clone() };
    match fact.relation {
        Relation::NonNegative => {
            let terms = sum.terms.into_iter().map(|t| Item { k: -t.k, ..t }).collect();
            Sum { terms, constant: -sum.constant }.say(Is::AtMostZero)
        }
        Relation::Zero => match fact.machine_width(program) {
            None => sum.say(Is::Zero),
            Some(width) => {
                let small = |k: &Int| k.bit_len() < 32;
                let plain = width >= 32 && fact.terms.iter().all(|(_, k)| small(k)) && small(&fact.constant);
                let text = if plain { equation(&sum) } else { None };
                text.map_or_else(|| sum.say(Is::Multiple(Int::pow2(width))), Said::Text)
            }
        },
    }
}

/// An equation in machine arithmetic, with a variable alone on the left where that is possible.
fn equation(sum: &Sum) -> Option<String> {
    let Some(at) = sum.terms.iter().rposition(|t| t.k.abs().is_one()) else { return sum.sides("==", "") };
    let left = &sum.terms[at];
    let turn = |k: &Int| if left.k.is_negative() { k.clone() } else { -k };
    let mut text = String::new();
    for (_, item) in sum.terms.iter().enumerate().filter(|(i, _)| *i != at) {
        let k = turn(&item.k);
        text += match (text.is_empty(), k.is_negative()) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        let size = k.abs();
        text += &if size.is_one() { item.name.clone() } else { format!("{size} * {}", item.name) };
    }
    let constant = turn(&sum.constant);
    text += &match (text.is_empty(), constant.signum()) {
        (true, _) => constant.to_string(),
        (false, 0) => String::new(),
        (false, 1) => format!(" + {constant}"),
        (false, _) => format!(" - {}", constant.abs()),
    };
    Some(format!("{} == {text}", left.name))
}

/// More disjuncts than this are not written out.
const MAX_DISJUNCTS: usize = 40;

/// A disjunction of conjunctions of facts; what cannot be said is left out, so that the text holds
/// wherever the facts do. `None` if nothing is left.
pub fn disjunction(disjuncts: &[Vec<Said>]) -> Option<String> {
    let mut parts: Vec<Vec<&str>> = Vec::new();
    for facts in disjuncts {
        if facts.contains(&Said::Never) {
            continue;
        }
        let texts = facts.iter().filter_map(|f| match f {
            Said::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let mut part: Vec<&str> = Vec::new();
        for text in texts {
            if !part.contains(&text) {
                part.push(text);
            }
        }
        if part.is_empty() {
            return None;
        }
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    if parts.len() > MAX_DISJUNCTS {
        // What all of them have in common.
        let (first, rest) = parts.split_first()?;
        let common: Vec<&str> =
            first.iter().copied().filter(|t| rest.iter().all(|p| p.contains(t))).collect();
        return (!common.is_empty()).then(|| common.join(" && "));
    }
    let several = parts.len() > 1;
    let texts: Vec<String> = parts
        .iter()
        .map(|p| if several && p.len() > 1 { format!("({})", p.join(" && ")) } else { p.join(" && ") })
        .collect();
    Some(if texts.is_empty() { "0".into() } else { texts.join(" || ") })
}

/// An expression over registers; `None` if it has no form in C or names what is not visible.
pub fn expression(program: &Program, names: &Names<'_>, e: ExprId) -> Option<String> {
    let name = |var: VarId| names.of(var).map(str::to_owned);
    let writer = CWriter::new(program, &name);
    if program.exprs[e].ty == Scalar::BOOL { writer.truth(e) } else { writer.integer(e) }
}
