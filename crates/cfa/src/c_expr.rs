//! Expressions of the automaton as C text.
//!
//! The automaton's operators wrap at their width; C's signed operators must not overflow, and C
//! converts operands before it compares them. Each piece of text therefore carries the C type it has
//! and the range its value lies in: where a C operator in the operands' own types gives the same
//! value it is written plainly, otherwise operands are cast.

use crate::{ir::*, types::*};

/// Operators nested deeper than this are not written.
const MAX_DEPTH: usize = 200;

/// Writes expressions of a program about variables that `name` knows.
pub struct CWriter<'a> {
    program: &'a Program,
    name: &'a dyn Fn(VarId) -> Option<String>,
    /// Integers of the text that the program does not have, each any value of its type. With one, elements are
    /// written whatever their index is: the text is for people.
    ghosts: &'a [VarId],
}

/// A piece of C text.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    /// How tightly it binds.
    level: Level,
    /// The type of the text in C, after promotion.
    ty: IntTy,
    /// The smallest and the largest value.
    lo: i128,
    hi: i128,
}

/// Binding strength, the weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Conditional,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

const I64: IntTy = IntTy { bits: 64, signed: true };
const U64: IntTy = IntTy { bits: 64, signed: false };
const I128: IntTy = IntTy { bits: 128, signed: true };

impl<'a> CWriter<'a> {
    /// A writer. `name` gives the C text of a variable, if it can be named where the text will
    /// stand.
    pub fn new(program: &'a Program, name: &'a dyn Fn(VarId) -> Option<String>) -> Self {
        CWriter { program, name, ghosts: &[] }
    }

    /// A writer of texts that people read, about some ghosts too, which `name` knows.
    pub fn about(
        program: &'a Program,
        name: &'a dyn Fn(VarId) -> Option<String>,
        ghosts: &'a [VarId],
    ) -> Self {
        CWriter { program, name, ghosts }
    }

    /// The exact text of a truth value.
    pub fn truth(&self, e: ExprId) -> Option<String> {
        Some(self.piece(e, 0)?.within(Level::And))
    }

    /// The text of an integer.
    pub fn integer(&self, e: ExprId) -> Option<String> {
        Some(self.piece(e, 0)?.within(Level::Sum))
    }

    /// The parts of a conjunction that can be written; each holds where the whole does.
    pub fn conjuncts(&self, truth: ExprId) -> Vec<String> {
        let parts = self.chain(BinOp::And, truth);
        let mut texts: Vec<String> = Vec::new();
        for part in parts {
            if let Some(piece) = self.weaker(part, 0)
                && piece.lo != 1
            {
                let text = piece.within(Level::And);
                // `gcc -m32` does not have the type.
                let known = self.program.data_model == DataModel::Lp64 || !text.contains("__int128");
                if known && !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        texts
    }

    /// The operands of a chain of one operator on truth values, from left to right.
    pub fn chain(&self, op: BinOp, e: ExprId) -> Vec<ExprId> {
        let mut parts = Vec::new();
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match self.program.exprs[e] {
                Expr { ty: Scalar::BOOL, kind: ExprKind::Binary(o, a, b) } if o == op => todo.extend([b, a]),
                _ => parts.push(e),
            }
        }
        parts
    }

    /// A truth value that is true wherever `e` is.
    fn weaker(&self, e: ExprId, depth: usize) -> Option<Piece> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.program.exprs[e] {
            Expr { ty: Scalar::BOOL, kind: ExprKind::Binary(BinOp::And, ..) } => {
                let parts = self.chain(BinOp::And, e);
                let parts: Vec<Piece> = parts
                    .into_iter()
                    .filter_map(|p| self.weaker(p, depth + 1))
                    .filter(|p| p.lo != 1)
                    .collect();
                join(" && ", Level::And, parts)
            }
            Expr { ty: Scalar::BOOL, kind: ExprKind::Binary(BinOp::Or, ..) } => {
                let parts: Option<Vec<Piece>> =
                    self.chain(BinOp::Or, e).into_iter().map(|p| self.weaker(p, depth + 1)).collect();
                let parts: Vec<Piece> = parts?.into_iter().filter(|p| p.hi != 0).collect();
                join(" || ", Level::Or, parts)
            }
            _ => self.piece(e, depth),
        }
    }

    /// The exact value of an integer expression.
    fn piece(&self, e: ExprId, depth: usize) -> Option<Piece> {
        if depth > MAX_DEPTH {
            return None;
        }
        let depth = depth + 1;
        let Expr { ty, ref kind } = self.program.exprs[e];
        let ty = ty.int()?;
        match *kind {
            ExprKind::Int(bits) => {
                constant(ty.decode(bits)).filter(|_| ty != IntTy { bits: 128, signed: false })
            }
            ExprKind::Load(place) => self.load(place, ty),
            ExprKind::Convert(a) => {
                // A pointer's number is nothing to speak about.
                let ghost = self.is_ghost(a);
                let a = self.piece(a, depth)?;
                let (lo, hi) = range(ty)?;
                if ghost {
                    return Some(Piece { ty: promoted(ty)?, lo, hi, ..a });
                }
                if lo <= a.lo && a.hi <= hi { Some(a) } else { a.cast(ty) }
            }
            ExprKind::Unary(UnOp::Not, a) if ty == IntTy::BOOL => self.negation(a, depth),
            ExprKind::Unary(op, a) => self.unary(op, a, ty, depth),
            ExprKind::Binary(op, ..) if ty == IntTy::BOOL => self.connective(op, e, depth),
            ExprKind::Binary(op, a, b) => self.binary(op, a, b, ty, depth),
            ExprKind::Cmp(op, a, b) => self.comparison(op, a, b, depth),
            ExprKind::Ite(c, a, b) => {
                let (c, a, b) = (self.piece(c, depth)?, self.piece(a, depth)?, self.piece(b, depth)?);
                let (lo, hi) = (a.lo.min(b.lo), a.hi.max(b.hi));
                let (a, b, ty) = common(a, b, lo, hi)?;
                let text = format!(
                    "{} ? {} : {}",
                    c.within(Level::Or),
                    a.within(Level::Or),
                    b.within(Level::Conditional)
                );
                Some(Piece { text, level: Level::Conditional, ty, lo, hi })
            }
            _ => None,
        }
    }

    /// Whether an expression is the value of a ghost.
    pub fn is_ghost(&self, e: ExprId) -> bool {
        let ExprKind::Load(place) = self.program.exprs[e].kind else { return false };
        matches!(self.program.places[place].base, Base::Var(var) if self.ghosts.contains(&var))
    }

    fn load(&self, place: PlaceId, ty: IntTy) -> Option<Piece> {
        let p = &self.program.places[place];
        let Base::Var(var) = p.base else { return None };
        let mut text = (self.name)(var)?;
        let mut at = self.program.vars[var].ty;
        for step in &p.path {
            match *step {
                Proj::Field { record, field } => {
                    let field = self.program.field(record, field);
                    if field.name.is_empty() || field.name.starts_with('.') {
                        return None;
                    }
                    text = format!("{text}.{}", field.name);
                    at = field.ty;
                }
                Proj::Index { index, .. } if !self.ghosts.is_empty() => {
                    let Type::Array(element, _) = self.program.types[at] else { return None };
                    text = format!("{text}[{}]", self.piece(index, 0)?.text);
                    at = element;
                }
                Proj::Index { index, .. } => {
                    // An index that may lie outside would make the expression undefined.
                    let Type::Array(element, Some(len)) = self.program.types[at] else { return None };
                    let Expr { ty: Scalar::Int(ity), kind: ExprKind::Int(bits) } = self.program.exprs[index]
                    else {
                        return None;
                    };
                    let i = ity.decode(bits);
                    if !(0..i128::from(len)).contains(&i) {
                        return None;
                    }
                    text = format!("{text}[{i}]");
                    at = element;
                }
            }
        }
        let (lo, hi) = range(ty)?;
        Some(Piece { text, level: Level::Primary, ty: promoted(ty)?, lo, hi })
    }

    fn negation(&self, a: ExprId, depth: usize) -> Option<Piece> {
        if let ExprKind::Cmp(op, x, y) = self.program.exprs[a].kind
            && self.program.exprs[x].ty.int().is_some()
        {
            return match op {
                CmpOp::Eq => self.comparison(CmpOp::Ne, x, y, depth),
                CmpOp::Ne => self.comparison(CmpOp::Eq, x, y, depth),
                CmpOp::Lt => self.comparison(CmpOp::Le, y, x, depth),
                CmpOp::Le => self.comparison(CmpOp::Lt, y, x, depth),
            };
        }
        let a = self.piece(a, depth)?;
        let text = format!("!{}", a.within(Level::Unary));
        Some(Piece { text, level: Level::Unary, ty: IntTy::I32, lo: 0, hi: 1 })
    }

    fn connective(&self, op: BinOp, e: ExprId, depth: usize) -> Option<Piece> {
        let (sign, level) = match op {
            BinOp::And => (" && ", Level::And),
            BinOp::Or => (" || ", Level::Or),
            BinOp::Xor => {
                let ExprKind::Binary(_, a, b) = self.program.exprs[e].kind else { return None };
                let (a, b) = (self.piece(a, depth)?, self.piece(b, depth)?);
                let text = format!("{} != {}", a.within(Level::Relation), b.within(Level::Relation));
                return Some(Piece { text, level: Level::Equality, ty: IntTy::I32, lo: 0, hi: 1 });
            }
            _ => return None,
        };
        let parts: Option<Vec<Piece>> = self.chain(op, e).into_iter().map(|p| self.piece(p, depth)).collect();
        join(sign, level, parts?)
    }

    fn unary(&self, op: UnOp, a: ExprId, ty: IntTy, depth: usize) -> Option<Piece> {
        let a = self.piece(a, depth)?;
        let (min, max) = range(ty)?;
        let (sign, lo, hi) = match op {
            UnOp::Neg => ('-', a.hi.checked_neg()?, a.lo.checked_neg()?),
            UnOp::Not if ty.signed => ('~', !a.hi, !a.lo),
            UnOp::Not => return a.cast(ty)?.prefixed('~', promoted(ty)?)?.cast(ty),
        };
        if min <= lo && hi <= max && ty.signed {
            let least = lo.min(a.lo);
            let most = hi.max(a.hi);
            let a = a.fit(least, most)?;
            let ty = a.ty;
            return Some(a.prefixed(sign, ty)?.ranged(lo, hi));
        }
        // Wraps: computed without a sign.
        let unsigned = wrapping(ty);
        a.cast(unsigned)?.prefixed(sign, unsigned)?.cast(ty)
    }

    fn binary(&self, op: BinOp, a: ExprId, b: ExprId, ty: IntTy, depth: usize) -> Option<Piece> {
        let (a, b) = (self.piece(a, depth)?, self.piece(b, depth)?);
        let (min, max) = range(ty)?;
        let (sign, level) = match op {
            BinOp::Add => ("+", Level::Sum),
            BinOp::Sub => ("-", Level::Sum),
            BinOp::Mul => ("*", Level::Product),
            BinOp::Div => ("/", Level::Product),
            BinOp::Rem => ("%", Level::Product),
            BinOp::And => ("&", Level::BitAnd),
            BinOp::Or => ("|", Level::BitOr),
            BinOp::Xor => ("^", Level::BitXor),
            BinOp::Shl => ("<<", Level::Shift),
            BinOp::Shr => (">>", Level::Shift),
        };
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let corners = match op {
                    BinOp::Add => [a.lo.checked_add(b.lo), a.hi.checked_add(b.hi)].to_vec(),
                    BinOp::Sub => [a.lo.checked_sub(b.hi), a.hi.checked_sub(b.lo)].to_vec(),
                    _ => [(a.lo, b.lo), (a.lo, b.hi), (a.hi, b.lo), (a.hi, b.hi)]
                        .map(|(x, y)| x.checked_mul(y))
                        .to_vec(),
                };
                let corners: Option<Vec<i128>> = corners.into_iter().collect();
                let mut bounds = corners.and_then(|c| Some((*c.iter().min()?, *c.iter().max()?)));
                // People know that `i + 1` is no overflow where a fact speaks of it.
                if ty.signed && !self.ghosts.is_empty() {
                    bounds = bounds.map(|(lo, hi)| (lo.max(min), hi.min(max)));
                }
                if let Some((lo, hi)) = bounds.filter(|(lo, hi)| min <= *lo && *hi <= max)
                    && let Some((a, b, ty)) = common(a.clone(), b.clone(), lo, hi)
                {
                    return Some(infix(a, sign, level, b, ty).ranged(lo, hi));
                }
                let unsigned = wrapping(ty);
                let (a, b) = (a.cast(unsigned)?, b.cast(unsigned)?);
                infix(a, sign, level, b, unsigned).cast(ty)
            }
            BinOp::Div | BinOp::Rem => {
                // Division by what may be zero, or by -1, could be undefined.
                if b.lo < 1 {
                    return None;
                }
                let (lo, hi) = match op {
                    BinOp::Div => (a.lo.min(0), a.hi.max(0)),
                    _ => (if a.lo < 0 { -(b.hi - 1) } else { 0 }, if a.hi > 0 { b.hi - 1 } else { 0 }),
                };
                let (a, b, ty) = common(a, b, lo, hi)?;
                Some(infix(a, sign, level, b, ty).ranged(lo, hi))
            }
            BinOp::And | BinOp::Or | BinOp::Xor => {
                // Narrow operands are computed as `int`, which sign extension makes the same.
                let (a, b) = (a.cast(ty)?, b.cast(ty)?);
                Some(infix(a, sign, level, b, promoted(ty)?).ranged(min, max))
            }
            BinOp::Shl | BinOp::Shr => {
                if b.lo < 0 || b.hi >= i128::from(ty.bits) {
                    return None;
                }
                if op == BinOp::Shr {
                    return Some(infix(a.cast(ty)?, sign, level, b, promoted(ty)?).ranged(min, max));
                }
                let unsigned = wrapping(ty);
                infix(a.cast(unsigned)?, sign, level, b, unsigned).cast(ty)
            }
        }
    }

    fn comparison(&self, op: CmpOp, a: ExprId, b: ExprId, depth: usize) -> Option<Piece> {
        let (sign, level) = match op {
            CmpOp::Eq => ("==", Level::Equality),
            CmpOp::Ne => ("!=", Level::Equality),
            CmpOp::Lt => ("<", Level::Relation),
            CmpOp::Le => ("<=", Level::Relation),
        };
        if self.program.exprs[a].ty == Scalar::Ptr {
            return self.null_test(sign, level, a, b);
        }
        let (a, b) = (self.piece(a, depth)?, self.piece(b, depth)?);
        let always = match op {
            CmpOp::Lt => (a.hi < b.lo, a.lo < b.hi),
            CmpOp::Le => (a.hi <= b.lo, a.lo <= b.hi),
            CmpOp::Eq => (a.lo == b.hi && a.hi == b.lo, a.lo <= b.hi && b.lo <= a.hi),
            CmpOp::Ne => (a.hi < b.lo || b.hi < a.lo, true),
        };
        let (lo, hi) = (a.lo.min(b.lo), a.hi.max(b.hi));
        let (a, b, _) = common(a, b, lo, hi)?;
        Some(infix(a, sign, level, b, IntTy::I32).ranged(always.0.into(), always.1.into()))
    }

    /// Pointers are compared with null only.
    fn null_test(&self, sign: &str, level: Level, a: ExprId, b: ExprId) -> Option<Piece> {
        let (&ExprKind::Load(place), &ExprKind::Int(0)) =
            (&self.program.exprs[a].kind, &self.program.exprs[b].kind)
        else {
            return None;
        };
        let p = &self.program.places[place];
        let (Base::Var(var), true, Level::Equality) = (p.base, p.path.is_empty(), level) else { return None };
        let text = format!("{} {sign} 0", (self.name)(var)?);
        Some(Piece { text, level, ty: IntTy::I32, lo: 0, hi: 1 })
    }
}

impl Piece {
    /// The text as an operand of an operator of this level.
    fn within(&self, level: Level) -> String {
        // gcc warns of `a || b && c`; readers are grateful for the parentheses too.
        let mixed =
            level == Level::Or && self.level == Level::And || level == Level::And && self.level == Level::Or;
        if self.level < level || mixed { format!("({})", self.text) } else { self.text.clone() }
    }

    fn ranged(self, lo: i128, hi: i128) -> Piece {
        Piece { lo, hi, ..self }
    }

    fn prefixed(self, sign: char, ty: IntTy) -> Option<Piece> {
        let (lo, hi) = range(ty)?;
        // `- -1` and not `--1`.
        let operand = self.within(Level::Unary);
        let space = if operand.starts_with(sign) { " " } else { "" };
        Some(Piece { text: format!("{sign}{space}{operand}"), level: Level::Unary, ty, lo, hi })
    }

    /// The value converted to a type, written as a cast unless the text has that type already.
    fn cast(self, ty: IntTy) -> Option<Piece> {
        let (min, max) = range(ty)?;
        if self.ty == ty || promoted(ty)? == self.ty && min <= self.lo && self.hi <= max {
            return Some(self);
        }
        let keeps = min <= self.lo && self.hi <= max;
        let (lo, hi) = if keeps { (self.lo, self.hi) } else { (min, max) };
        let text = format!("({}){}", ty.c_name()?, self.within(Level::Unary));
        Some(Piece { text, level: Level::Unary, ty: promoted(ty)?, lo, hi })
    }

    /// A literal of type `long long`.
    fn long(self) -> Option<Piece> {
        Some(Piece { text: format!("{}LL", self.text), ty: I64, ..self })
    }

    /// The same value in a type that holds a range; cast only if the text's type does not.
    fn fit(self, lo: i128, hi: i128) -> Option<Piece> {
        let holds = |t: IntTy| range(t).is_some_and(|(min, max)| min <= lo && hi <= max);
        if holds(self.ty) {
            return Some(self);
        }
        let wide = [IntTy::I32, I64, U64, I128].into_iter().find(|&t| holds(t))?;
        self.cast(wide)
    }
}

/// Two operands and the type in which C computes with them, such that all values between `lo` and
/// `hi`, and theirs, are in that type.
fn common(a: Piece, b: Piece, lo: i128, hi: i128) -> Option<(Piece, Piece, IntTy)> {
    let (lo, hi) = (lo.min(a.lo).min(b.lo), hi.max(a.hi).max(b.hi));
    let holds = |t: IntTy| range(t).is_some_and(|(min, max)| min <= lo && hi <= max);
    let usual = usual(a.ty, b.ty);
    if holds(usual) {
        return Some((a, b, usual));
    }
    let wide = [I64, U64, I128].into_iter().find(|&t| holds(t))?;
    // One wide operand makes the other wide, unless its sign gets lost.
    let follows = |p: &Piece| self::usual(p.ty, wide) == wide;
    let is_literal = |p: &Piece| p.text.bytes().all(|b| b.is_ascii_digit());
    let wider = |p: Piece| if is_literal(&p) && wide == I64 { p.long() } else { p.cast(wide) };
    let (a, b) = match (follows(&a), follows(&b)) {
        (true, _) if is_literal(&b) => (a, wider(b)?),
        (_, true) => (wider(a)?, b),
        _ => (wider(a)?, wider(b)?),
    };
    Some((a, b, wide))
}

/// C's usual arithmetic conversions of promoted types.
fn usual(a: IntTy, b: IntTy) -> IntTy {
    let (small, large) = if a.bits <= b.bits { (a, b) } else { (b, a) };
    if small.bits == large.bits { IntTy { signed: a.signed && b.signed, ..large } } else { large }
}

fn infix(a: Piece, sign: &str, level: Level, b: Piece, ty: IntTy) -> Piece {
    let above = match level {
        Level::Sum => Level::Product,
        Level::Product => Level::Unary,
        Level::Relation | Level::Equality => Level::Shift,
        // The bit operators bind in ways nobody remembers.
        _ => Level::Unary,
    };
    let left = if matches!(level, Level::Sum | Level::Product) { level } else { above };
    let text = format!("{} {sign} {}", a.within(left), b.within(above));
    let (lo, hi) = range(ty).unwrap_or((i128::MIN, i128::MAX));
    Piece { text, level, ty, lo, hi }
}

/// Truth values joined; none is the neutral one.
fn join(sign: &str, level: Level, mut parts: Vec<Piece>) -> Option<Piece> {
    match parts.len() {
        0 => constant(i128::from(level == Level::And)),
        1 => parts.pop(),
        _ => {
            let texts: Vec<String> = parts.iter().map(|p| p.within(level)).collect();
            let (lo, hi) = if level == Level::And {
                (parts.iter().map(|p| p.lo.clamp(0, 1)).min()?, parts.iter().map(|p| p.hi.clamp(0, 1)).min()?)
            } else {
                (parts.iter().map(|p| p.lo.clamp(0, 1)).max()?, parts.iter().map(|p| p.hi.clamp(0, 1)).max()?)
            };
            Some(Piece { text: texts.join(sign), level, ty: IntTy::I32, lo, hi })
        }
    }
}

/// An integer as one writes it in C.
pub fn literal(value: i128) -> Option<String> {
    constant(value).map(|p| p.text)
}

fn constant(value: i128) -> Option<Piece> {
    let piece = |text: String, level, ty| Some(Piece { text, level, ty, lo: value, hi: value });
    let sign = if value < 0 { Level::Unary } else { Level::Primary };
    match value {
        -0x8000_0000 => piece("(-2147483647 - 1)".into(), Level::Primary, IntTy::I32),
        -0x8000_0000_0000_0000 => piece("(-9223372036854775807LL - 1)".into(), Level::Primary, I64),
        -0x7fff_ffff..=0x7fff_ffff => piece(value.to_string(), sign, IntTy::I32),
        -0x7fff_ffff_ffff_ffff..=0x7fff_ffff_ffff_ffff => piece(format!("{value}LL"), sign, I64),
        0x8000_0000_0000_0000..=0xffff_ffff_ffff_ffff => piece(format!("{value}ULL"), sign, U64),
        _ => None,
    }
}

/// The values of a type; `None` for those that are not handled.
fn range(ty: IntTy) -> Option<(i128, i128)> {
    match ty {
        IntTy { bits: 128, signed: true } => Some((i128::MIN, i128::MAX)),
        IntTy { bits: 0 | 128.., .. } => None,
        IntTy { bits, signed: true } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        IntTy { bits, signed: false } => Some((0, (1 << bits) - 1)),
    }
}

/// The type in which C computes with the low bits of this one: without a sign, and not narrower
/// than what C promotes to `int`.
fn wrapping(ty: IntTy) -> IntTy {
    IntTy { bits: ty.bits.max(32), signed: false }
}

/// The type of a value of this type in an expression.
fn promoted(ty: IntTy) -> Option<IntTy> {
    match ty.bits {
        0..=31 => Some(IntTy::I32),
        32 | 64 | 128 => Some(ty),
        _ => None,
    }
}
