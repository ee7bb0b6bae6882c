//! Expressions and places of an automaton in the terms of a linear program with arrays.
//!
//! Integers are mathematical ones: where the machine's result may differ, it is `u`.

use palisade_analyses::trees::integer;
use palisade_cfa::*;
use palisade_eureka as linear;
use palisade_eureka::{Array, Cond, Expr as Linear, Rel, Var};
use rustc_hash::FxHashMap;

/// Deeper expressions are `u`.
const MAX_DEPTH: u32 = 60;

/// The least and the largest value.
type Range = (i128, i128);

/// A variable that is an array of integers.
#[derive(Clone, Copy)]
pub struct Indexed {
    /// The array; rows of several dimensions follow each other.
    pub array: Array,
    /// Type of the elements.
    pub elem: IntTy,
    /// Bytes of an element.
    pub stride: u64,
}

/// What a place is.
pub enum Located {
    /// A numeric variable.
    Var(Var),
    /// An element of an array.
    Element(Array, Linear),
    /// All of an array.
    Whole(Array),
    /// Something in an array.
    Within(Array),
    /// Nothing that the linear program has.
    Elsewhere,
    /// Whatever has an address.
    Anywhere,
}

/// A truth value as a formula over comparisons.
#[derive(Clone)]
pub enum Formula {
    /// Always this.
    Constant(bool),
    /// Nobody knows.
    Unknown,
    /// A comparison.
    Cond(Cond),
    /// Both.
    And(Box<Formula>, Box<Formula>),
    /// One of both.
    Or(Box<Formula>, Box<Formula>),
}

impl Formula {
    /// The opposite; what is unknown stays so.
    pub fn negated(self) -> Formula {
        match self {
            Formula::Constant(b) => Formula::Constant(!b),
            Formula::Unknown => Formula::Unknown,
            Formula::Cond(c) => Formula::Cond(c.negated()),
            Formula::And(a, b) => Formula::Or(Box::new(a.negated()), Box::new(b.negated())),
            Formula::Or(a, b) => Formula::And(Box::new(a.negated()), Box::new(b.negated())),
        }
    }

    /// `(b ? then : other)`
    fn choose(self, then: Linear, other: Linear) -> Linear {
        match self {
            Formula::Constant(true) => then,
            Formula::Constant(false) => other,
            Formula::Unknown => {
                Linear::choose(Cond::new(Rel::Ne, Linear::Undefined, Linear::Int(0)), then, other)
            }
            Formula::Cond(c) => Linear::choose(c, then, other),
            Formula::And(a, b) => a.choose(b.choose(then, other.clone()), other),
            Formula::Or(a, b) => a.choose(then.clone(), b.choose(then, other)),
        }
    }

    fn both(self, other: Formula) -> Formula {
        Formula::And(Box::new(self), Box::new(other))
    }

    fn either(self, other: Formula) -> Formula {
        Formula::Or(Box::new(self), Box::new(other))
    }
}

/// Reads expressions of a program.
pub struct Reader<'a> {
    /// The program.
    pub program: &'a Program,
    /// The integer variables.
    pub vars: FxHashMap<VarId, Var>,
    /// The arrays of integers.
    pub arrays: FxHashMap<VarId, Indexed>,
}

/// The values of a type; of 64-bit unsigned numbers only those that a numeral can be. What is concluded from
/// that is checked for all of them.
pub fn range(t: IntTy) -> Range {
    let (least, most) = match t.signed {
        true => (t.decode(t.min_bits()), t.decode(t.max_bits())),
        false => (0, t.max_bits().min(i128::MAX as u128) as i128),
    };
    (least.max(i128::from(i64::MIN)), most.min(i128::from(i64::MAX)))
}

/// The numeral of a number.
pub fn numeral(n: i128) -> Linear {
    i64::try_from(n).map_or(Linear::Undefined, Linear::Int)
}

impl<'a> Reader<'a> {
    /// All integer variables and arrays of integers of a program, with the linear program's declarations.
    pub fn new(program: &'a Program) -> (Reader<'a>, linear::Program) {
        let mut this = Reader { program, vars: FxHashMap::default(), arrays: FxHashMap::default() };
        let mut declared = linear::Program::default();
        for (id, var) in program.vars.iter_enumerated() {
            let mut ty = var.ty;
            let name = format!("{}.{}", var.name, id.0);
            if let Type::Int(t) = program.types[ty] {
                let (least, most) = range(t);
                this.vars.insert(id, Var(declared.vars.len()));
                declared.vars.push(linear::Variable { name, range: Some((least as i64, most as i64)) });
                continue;
            }
            let size = program.size_of(ty);
            while let Type::Array(elem, _) = program.types[ty] {
                ty = elem;
            }
            if let (Type::Int(elem), Some(size)) = (&program.types[ty], size)
                && let Some(stride @ 1..) = program.size_of(ty)
                && let Ok(len) = i64::try_from(size / stride)
            {
                let array = Array(declared.arrays.len());
                declared.arrays.push((name, len));
                this.arrays.insert(id, Indexed { array, elem: *elem, stride });
            }
        }
        (this, declared)
    }

    /// The value of an integer expression, `u` if it is not linear.
    pub fn value(&self, e: ExprId) -> Linear {
        self.bounded(e, MAX_DEPTH).0
    }

    /// The value and a range around it.
    fn bounded(&self, e: ExprId, depth: u32) -> (Linear, Range) {
        let Scalar::Int(t) = self.program.exprs[e].ty else { return (Linear::Undefined, range(IntTy::BOOL)) };
        let unknown = (Linear::Undefined, range(t));
        let Some(depth) = depth.checked_sub(1) else { return unknown };
        match self.program.exprs[e].kind {
            ExprKind::Int(bits) => match integer(t, bits).to_i128() {
                Some(n) => (numeral(n), (n, n)),
                None => unknown,
            },
            ExprKind::Load(place) => match self.located(place, depth) {
                Located::Var(v) => (Linear::Var(v), range(t)),
                Located::Element(a, index) => (Linear::element(a, index), range(t)),
                _ => unknown,
            },
            ExprKind::Convert(a) => match self.program.exprs[a].ty {
                Scalar::Int(_) => {
                    let (value, within) = self.bounded(a, depth);
                    fit(value, within, t)
                }
                _ => unknown,
            },
            ExprKind::Unary(UnOp::Neg, a) => {
                let (a, (least, most)) = self.bounded(a, depth);
                fit(times(a, -1), (-most, -least), t)
            }
            ExprKind::Unary(UnOp::Not, a) if t != IntTy::BOOL => {
                // All bits inverted: -1 - a, or the largest value less a.
                let top = if t.signed { -1 } else { range(t).1 };
                let (a, (least, most)) = self.bounded(a, depth);
                fit(plus(times(a, -1), numeral(top)), (top - most, top - least), t)
            }
            ExprKind::Binary(op, a, b) if t != IntTy::BOOL => match self.exact(op, a, b, depth) {
                Some((value, within)) => fit(value, within, t),
                None => unknown,
            },
            ExprKind::Ite(c, a, b) => {
                let (a, (al, am)) = self.bounded(a, depth);
                let (b, (bl, bm)) = self.bounded(b, depth);
                let both = a == Linear::Undefined && b == Linear::Undefined;
                let value = if both { a } else { self.formula(c, depth).choose(a, b) };
                (value, (al.min(bl), am.max(bm)))
            }
            _ if t == IntTy::BOOL => match self.formula(e, depth) {
                Formula::Unknown => unknown,
                f => (f.choose(Linear::Int(1), Linear::Int(0)), (0, 1)),
            },
            _ => unknown,
        }
    }

    /// The mathematical result of an operator, if it is linear.
    fn exact(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Option<(Linear, Range)> {
        let ((a, (al, am)), (b, (bl, bm))) = (self.bounded(a, depth), self.bounded(b, depth));
        let by = |e: Linear, (least, most): Range, k: i64| {
            let ends = [least.checked_mul(k.into())?, most.checked_mul(k.into())?];
            Some((times(e, k), (ends[0].min(ends[1]), ends[0].max(ends[1]))))
        };
        Some(match (op, &a, &b) {
            (BinOp::Add, ..) => (plus(a, b), (al + bl, am + bm)),
            (BinOp::Sub, ..) => (plus(a, times(b, -1)), (al - bm, am - bl)),
            (BinOp::Mul, Linear::Int(k), _) => by(b.clone(), (bl, bm), *k)?,
            (BinOp::Mul, _, Linear::Int(k)) => by(a.clone(), (al, am), *k)?,
            (BinOp::Shl, _, Linear::Int(k @ 0..=62)) => by(a.clone(), (al, am), 1 << k)?,
            _ => return None,
        })
    }

    /// What a truth value says.
    pub fn truth(&self, e: ExprId) -> Formula {
        self.formula(e, MAX_DEPTH)
    }

    fn formula(&self, e: ExprId, depth: u32) -> Formula {
        let Some(depth) = depth.checked_sub(1) else { return Formula::Unknown };
        let sub = |e| self.formula(e, depth);
        match self.program.exprs[e].kind {
            ExprKind::Int(bits) => Formula::Constant(bits & 1 == 1),
            ExprKind::Unary(UnOp::Not, a) => sub(a).negated(),
            ExprKind::Binary(BinOp::And, a, b) => sub(a).both(sub(b)),
            ExprKind::Binary(BinOp::Or, a, b) => sub(a).either(sub(b)),
            ExprKind::Ite(c, a, b) => {
                let c = sub(c);
                c.clone().both(sub(a)).either(c.negated().both(sub(b)))
            }
            ExprKind::Cmp(op, a, b) => {
                let integers = matches!(self.program.exprs[a].ty, Scalar::Int(_));
                let rel = match op {
                    CmpOp::Eq => Rel::Eq,
                    CmpOp::Ne => Rel::Ne,
                    CmpOp::Lt => Rel::Lt,
                    CmpOp::Le => Rel::Le,
                };
                if !integers {
                    return Formula::Unknown;
                }
                let (a, b) = (self.bounded(a, depth).0, self.bounded(b, depth).0);
                compare(rel, a, b)
            }
            ExprKind::Overflow(op, a, b) => {
                let Scalar::Int(t) = self.program.exprs[a].ty else { return Formula::Unknown };
                let (least, most) = range(t);
                match self.exact(op, a, b, depth) {
                    Some((_, (l, m))) if least <= l && m <= most => Formula::Constant(false),
                    Some((value, _)) => compare(Rel::Lt, value.clone(), numeral(least)).either(compare(
                        Rel::Gt,
                        value,
                        numeral(most),
                    )),
                    None => Formula::Unknown,
                }
            }
            ExprKind::Load(_) | ExprKind::Convert(_) => {
                compare(Rel::Ne, self.bounded(e, depth).0, Linear::Int(0))
            }
            _ => Formula::Unknown,
        }
    }

    /// What a place is.
    pub fn place(&self, place: PlaceId) -> Located {
        self.located(place, MAX_DEPTH)
    }

    fn located(&self, place: PlaceId, depth: u32) -> Located {
        let ty = self.program.place_scalar(place);
        let Some((var, offset)) = self.offset(place, depth) else { return Located::Anywhere };
        self.at(var, offset, ty, self.program.places[place].bits.is_none())
    }

    /// The scalar of a type at an offset in a variable.
    fn at(&self, var: VarId, offset: Vec<(Linear, i128)>, ty: Option<Scalar>, whole_bytes: bool) -> Located {
        let here = offset.is_empty();
        if let Some(&v) = self.vars.get(&var) {
            let own = self.program.scalar_of(self.program.vars[var].ty);
            return if here && own == ty && whole_bytes { Located::Var(v) } else { Located::Anywhere };
        }
        let Some(&Indexed { array, elem, stride }) = self.arrays.get(&var) else {
            return Located::Elsewhere;
        };
        if here && ty.is_none() {
            return Located::Whole(array);
        }
        let aligned = offset.iter().all(|(_, n)| n % i128::from(stride) == 0);
        if ty != Some(Scalar::Int(elem)) || !whole_bytes || !aligned {
            return Located::Within(array);
        }
        let index = offset.into_iter().fold(Linear::Int(0), |sum, (e, n)| {
            match i64::try_from(n / i128::from(stride)) {
                Ok(k) => plus(sum, times(e, k)),
                Err(_) => Linear::Undefined,
            }
        });
        Located::Element(array, index)
    }

    /// The variable that a place lies in, and how many bytes from its start, as a sum of products.
    fn offset(&self, place: PlaceId, depth: u32) -> Option<(VarId, Vec<(Linear, i128)>)> {
        let depth = depth.checked_sub(1)?;
        let place = &self.program.places[place];
        let (var, mut sum) = match place.base {
            Base::Var(var) => (var, Vec::new()),
            Base::Deref(pointer) => self.target(pointer, depth)?,
        };
        for proj in &place.path {
            match *proj {
                Proj::Field { record, field } => match self.program.field(record, field).offset {
                    0 => {}
                    offset => sum.push((Linear::Int(1), offset.into())),
                },
                Proj::Index { index, stride } => self.moved(&mut sum, index, stride, depth),
            }
        }
        Some((var, sum))
    }

    fn moved(&self, sum: &mut Vec<(Linear, i128)>, index: ExprId, stride: u64, depth: u32) {
        match self.bounded(index, depth).0 {
            Linear::Int(0) => {}
            index => sum.push((index, stride.into())),
        }
    }

    /// The variable that a pointer points into, and how far from its start, if the expression says so.
    pub fn target(&self, pointer: ExprId, depth: u32) -> Option<(VarId, Vec<(Linear, i128)>)> {
        let depth = depth.checked_sub(1)?;
        match self.program.exprs[pointer].kind {
            ExprKind::Addr(place) => self.offset(place, depth),
            ExprKind::PtrAdd { ptr, index, stride } => {
                let (var, mut sum) = self.target(ptr, depth)?;
                self.moved(&mut sum, index, stride, depth);
                Some((var, sum))
            }
            ExprKind::Convert(a) if self.program.exprs[a].ty == Scalar::Ptr => self.target(a, depth),
            _ => None,
        }
    }

    /// What an operation on bytes behind a pointer may change.
    pub fn behind(&self, pointer: ExprId) -> Located {
        match self.target(pointer, MAX_DEPTH) {
            Some((var, _)) if self.vars.contains_key(&var) => Located::Anywhere,
            Some((var, _)) => match self.arrays.get(&var) {
                Some(indexed) => Located::Within(indexed.array),
                None => Located::Elsewhere,
            },
            None => Located::Anywhere,
        }
    }
}

/// A comparison; nothing is known about one with `u`.
fn compare(rel: Rel, a: Linear, b: Linear) -> Formula {
    match (&a, &b) {
        (Linear::Undefined, _) | (_, Linear::Undefined) => Formula::Unknown,
        (Linear::Int(x), Linear::Int(y)) => Formula::Constant(rel.holds(x, y)),
        _ => Formula::Cond(Cond::new(rel, a, b)),
    }
}

/// What the machine makes of a number within a range: the number itself, or `u` if it leaves the type.
fn fit(value: Linear, (least, most): Range, t: IntTy) -> (Linear, Range) {
    let (low, high) = range(t);
    if value == Linear::Undefined {
        return (value, (low, high));
    }
    let mut fitting = value.clone();
    if most > high {
        let fits = Cond::new(Rel::Le, value.clone(), numeral(high));
        fitting = Linear::choose(fits, fitting, Linear::Undefined);
    }
    if least < low {
        let fits = Cond::new(Rel::Ge, value, numeral(low));
        fitting = Linear::choose(fits, fitting, Linear::Undefined);
    }
    (fitting, (least.max(low), most.min(high)))
}

fn plus(a: Linear, b: Linear) -> Linear {
    match (a, b) {
        (Linear::Undefined, _) | (_, Linear::Undefined) => Linear::Undefined,
        (Linear::Int(0), e) | (e, Linear::Int(0)) => e,
        (Linear::Int(a), Linear::Int(b)) => a.checked_add(b).map_or(Linear::Undefined, Linear::Int),
        (a, b) => a.plus(b),
    }
}

fn times(e: Linear, factor: i64) -> Linear {
    match e {
        Linear::Undefined => Linear::Undefined,
        Linear::Int(n) => n.checked_mul(factor).map_or(Linear::Undefined, Linear::Int),
        e if factor == 1 => e,
        Linear::Scale(n, inner) => match n.checked_mul(factor) {
            Some(n) => inner.times(n),
            None => Linear::Undefined,
        },
        e => e.times(factor),
    }
}
