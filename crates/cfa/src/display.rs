//! Operations and expressions as people read them: C, with a few predicates C has no words for.
//!
//! This form is for edge labels, reports and messages. It is short rather than complete (constants
//! carry no types, very deep expressions are cut with `…`); the complete form that parses back is
//! [`crate::text`].

use crate::ir::*;
use crate::types::*;
use std::fmt::{self, Display, Write};

/// Nesting below which an expression is cut.
const MAX_DEPTH: u32 = 40;

impl BinOp {
    /// C's operator.
    pub fn symbol(self) -> &'static str {
        match self {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::Div => "/",
            BinOp::Rem => "%",
            BinOp::And => "&",
            BinOp::Or => "|",
            BinOp::Xor => "^",
            BinOp::Shl => "<<",
            BinOp::Shr => ">>",
        }
    }
}

impl CmpOp {
    /// C's operator.
    pub fn symbol(self) -> &'static str {
        match self {
            CmpOp::Eq => "==",
            CmpOp::Ne => "!=",
            CmpOp::Lt => "<",
            CmpOp::Le => "<=",
        }
    }
}

impl CheckKind {
    /// The word for it in the text form and in exports.
    pub fn name(self) -> &'static str {
        match self {
            CheckKind::Assertion => "assertion",
            CheckKind::ForbiddenCall => "forbidden_call",
            CheckKind::Unreachable => "unreachable",
            CheckKind::SignedOverflow => "overflow",
            CheckKind::ShiftOverflow => "shift_overflow",
            CheckKind::ShiftRange => "shift_range",
            CheckKind::DivByZero => "div_by_zero",
            CheckKind::Deref => "deref",
            CheckKind::Bounds => "bounds",
            CheckKind::Free => "free",
            CheckKind::MemTrack => "memtrack",
            CheckKind::MemCleanup => "memcleanup",
            CheckKind::ReadOnly => "read_only",
            CheckKind::FloatToInt => "float_to_int",
            CheckKind::ArrayLength => "array_length",
            CheckKind::CallType => "call_type",
            CheckKind::Overlap => "overlap",
            CheckKind::Observer => "observer",
        }
    }
}

impl fmt::Display for CheckKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Something of a program, ready to be written.
#[derive(Clone, Copy)]
pub struct Shown<'a, T> {
    program: &'a Program,
    item: T,
}

impl Program {
    /// An expression as C.
    pub fn show_expr(&self, expr: ExprId) -> Shown<'_, ExprId> {
        Shown { program: self, item: expr }
    }
    /// A place as C.
    pub fn show_place(&self, place: PlaceId) -> Shown<'_, PlaceId> {
        Shown { program: self, item: place }
    }
    /// An operation as C, without a semicolon.
    pub fn show_op<'a>(&'a self, op: &'a Op) -> Shown<'a, &'a Op> {
        Shown { program: self, item: op }
    }
    /// A type, written after the name it declares: `[i32; 4]`, `*struct node`.
    pub fn show_type(&self, ty: TypeId) -> Shown<'_, TypeId> {
        Shown { program: self, item: ty }
    }
}

impl fmt::Display for Shown<'_, ExprId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        expr(self.program, f, self.item, false, 0)
    }
}
impl fmt::Display for Shown<'_, PlaceId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(self.program, f, self.item, 0)
    }
}
impl fmt::Display for Shown<'_, &Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        op(self.program, f, self.item)
    }
}
impl fmt::Display for Shown<'_, TypeId> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        type_(self.program, f, self.item, 0)
    }
}

type Out<'a, 'b> = &'a mut fmt::Formatter<'b>;

fn int(f: Out<'_, '_>, ty: IntTy, bits: u128) -> fmt::Result {
    if ty.signed { write!(f, "{}", ty.decode(bits)) } else { write!(f, "{}", ty.truncate(bits)) }
}

fn float(f: Out<'_, '_>, ty: FloatTy, bits: u128) -> fmt::Result {
    match ty {
        FloatTy::F32 => write!(f, "{:?}f", f32::from_bits(bits as u32)),
        FloatTy::F64 => write!(f, "{:?}", f64::from_bits(bits as u64)),
        FloatTy::F80 => write!(f, "{:#x}L", bits),
    }
}

/// Writes an expression; `inner` asks for parentheses around operators.
fn expr(p: &Program, f: Out<'_, '_>, id: ExprId, inner: bool, depth: u32) -> fmt::Result {
    if depth > MAX_DEPTH {
        return f.write_char('…');
    }
    let d = depth + 1;
    let e = &p.exprs[id];
    let (open, close) = if inner { ("(", ")") } else { ("", "") };
    match &e.kind {
        ExprKind::Int(bits) => match e.ty {
            Scalar::Int(t) => int(f, t, *bits),
            _ if *bits == 0 => f.write_str("NULL"),
            _ => write!(f, "{bits:#x}"),
        },
        ExprKind::Float(bits) => match e.ty {
            Scalar::Float(t) => float(f, t, *bits),
            _ => write!(f, "{bits:#x}"),
        },
        ExprKind::Load(x) => place(p, f, *x, d),
        ExprKind::Addr(x) => {
            f.write_char('&')?;
            place(p, f, *x, d)
        }
        ExprKind::Func(x) => f.write_str(&p.funcs[*x].name),
        ExprKind::Unary(UnOp::Not, x) if e.ty == Scalar::BOOL => {
            f.write_char('!')?;
            expr(p, f, *x, true, d)
        }
        ExprKind::Unary(o, x) => {
            f.write_char(if *o == UnOp::Neg { '-' } else { '~' })?;
            expr(p, f, *x, true, d)
        }
        ExprKind::Binary(o, a, b) => binary(p, f, (*a, o.symbol(), *b), inner, d),
        ExprKind::Cmp(o, a, b) => binary(p, f, (*a, o.symbol(), *b), inner, d),
        ExprKind::Ite(c, a, b) => {
            f.write_str(open)?;
            expr(p, f, *c, true, d)?;
            f.write_str(" ? ")?;
            expr(p, f, *a, true, d)?;
            f.write_str(" : ")?;
            expr(p, f, *b, true, d)?;
            f.write_str(close)
        }
        ExprKind::Convert(x) => {
            write!(f, "({})", e.ty)?;
            expr(p, f, *x, true, d)
        }
        ExprKind::PtrAdd { ptr, index, stride } => {
            f.write_str(open)?;
            expr(p, f, *ptr, true, d)?;
            f.write_str(" + ")?;
            expr(p, f, *index, true, d)?;
            if *stride != 1 {
                write!(f, " * {stride}")?;
            }
            f.write_str(close)
        }
        ExprKind::PtrDiff { left, right, stride } => {
            write!(f, "{open}(")?;
            binary(p, f, (*left, "-", *right), false, d)?;
            write!(f, ") / {stride}{close}")
        }
        ExprKind::Overflow(o, a, b) => {
            f.write_str("overflow(")?;
            binary(p, f, (*a, o.symbol(), *b), false, d)?;
            f.write_char(')')
        }
        ExprKind::Valid { ptr, size } => calls(p, f, "valid", &[*ptr, *size], d),
        ExprKind::Freeable(x) => calls(p, f, "freeable", &[*x], d),
        ExprKind::ObjectSize(x) => calls(p, f, "object_size", &[*x], d),
        ExprKind::ReadOnly(x) => calls(p, f, "read_only", &[*x], d),
        ExprKind::Overlap(x, y, n) => calls(p, f, "overlap", &[*x, *y, *n], d),
        ExprKind::HeapEmpty => f.write_str("heap_empty"),
        ExprKind::HeapTracked => f.write_str("heap_tracked"),
    }
}

fn binary(
    p: &Program,
    f: Out<'_, '_>,
    (a, symbol, b): (ExprId, &str, ExprId),
    inner: bool,
    depth: u32,
) -> fmt::Result {
    if inner {
        f.write_char('(')?;
    }
    expr(p, f, a, true, depth)?;
    write!(f, " {symbol} ")?;
    expr(p, f, b, true, depth)?;
    if inner {
        f.write_char(')')?;
    }
    Ok(())
}

fn calls(p: &Program, f: Out<'_, '_>, name: &str, args: &[ExprId], depth: u32) -> fmt::Result {
    write!(f, "{name}(")?;
    for (i, &a) in args.iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        expr(p, f, a, false, depth)?;
    }
    f.write_char(')')
}

fn place(p: &Program, f: Out<'_, '_>, id: PlaceId, depth: u32) -> fmt::Result {
    if depth > MAX_DEPTH {
        return f.write_char('…');
    }
    let pl = &p.places[id];
    let mut path = &pl.path[..];
    match pl.base {
        Base::Var(v) => f.write_str(&p.vars[v].name)?,
        Base::Deref(e) => match path.first() {
            None => {
                f.write_char('*')?;
                expr(p, f, e, true, depth + 1)?;
            }
            Some(Proj::Index { .. }) => expr(p, f, e, true, depth + 1)?,
            Some(Proj::Field { record, field }) => {
                expr(p, f, e, true, depth + 1)?;
                write!(f, "->{}", field_name(p, *record, *field))?;
                path = &path[1..];
            }
        },
    }
    for proj in path {
        match proj {
            Proj::Field { record, field } => write!(f, ".{}", field_name(p, *record, *field))?,
            Proj::Index { index, .. } => {
                f.write_char('[')?;
                expr(p, f, *index, false, depth + 1)?;
                f.write_char(']')?;
            }
        }
    }
    Ok(())
}

fn field_name(p: &Program, record: TypeId, field: u32) -> String {
    match &*p.field(record, field).name {
        "" => format!("#{field}"),
        name => name.to_owned(),
    }
}

fn arg(p: &Program, f: Out<'_, '_>, a: &Arg) -> fmt::Result {
    match a {
        Arg::Scalar(e) => expr(p, f, *e, false, 0),
        Arg::Aggregate(x) => place(p, f, *x, 0),
    }
}

fn op(p: &Program, f: Out<'_, '_>, op: &Op) -> fmt::Result {
    match op {
        Op::Skip => f.write_str("skip"),
        Op::Assign { dst, src } => write!(f, "{} = {}", p.show_place(*dst), p.show_expr(*src)),
        Op::Copy { dst, src } => write!(f, "{} = {}", p.show_place(*dst), p.show_place(*src)),
        Op::Zero { dst } => write!(f, "{} = {{0}}", p.show_place(*dst)),
        Op::Assume { cond } => write!(f, "[{}]", p.show_expr(*cond)),
        Op::Havoc { dst, input } => {
            write!(f, "{} = {}()", p.show_place(*dst), if *input { "input" } else { "unknown" })
        }
        Op::Call { dst, callee, args } => {
            if let Some(dst) = dst {
                write!(f, "{} = ", p.show_place(*dst))?;
            }
            match callee {
                Callee::Direct(x) => f.write_str(&p.funcs[*x].name)?,
                Callee::Indirect(x) => write!(f, "(*{})", p.show_expr(*x))?,
            }
            f.write_char('(')?;
            for (i, a) in args.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                arg(p, f, a)?;
            }
            f.write_char(')')
        }
        Op::Return { value: None } => f.write_str("return"),
        Op::Return { value: Some(a) } => {
            f.write_str("return ")?;
            arg(p, f, a)
        }
        Op::Alloc { dst, size, kind, zeroed } => {
            let name = match (kind, zeroed) {
                (AllocKind::Heap, false) => "malloc",
                (AllocKind::Heap, true) => "zalloc",
                (AllocKind::Stack, _) => "alloca",
            };
            write!(f, "{} = {name}({})", p.show_place(*dst), p.show_expr(*size))
        }
        Op::Free { ptr } => write!(f, "free({})", p.show_expr(*ptr)),
        Op::MemCopy { dst, src, len } => calls(p, f, "memmove", &[*dst, *src, *len], 0),
        Op::MemSet { dst, byte, len } => calls(p, f, "memset", &[*dst, *byte, *len], 0),
        Op::Enter { var } => write!(f, "enter {}", p.vars[*var].name),
        Op::Leave { var } => write!(f, "leave {}", p.vars[*var].name),
        Op::Check { kind, cond } => write!(f, "check {kind}: {}", p.show_expr(*cond)),
        Op::Halt { kind: HaltKind::Exit(e) } => write!(f, "exit({})", p.show_expr(*e)),
        Op::Halt { kind: HaltKind::Abort } => f.write_str("abort()"),
    }
}

fn type_(p: &Program, f: Out<'_, '_>, id: TypeId, depth: u32) -> fmt::Result {
    if depth > MAX_DEPTH {
        return f.write_char('…');
    }
    let d = depth + 1;
    match &p.types[id] {
        Type::Void => f.write_str("void"),
        Type::Int(t) => t.fmt(f),
        Type::Float(t) => t.fmt(f),
        Type::Ptr(t) => {
            f.write_char('*')?;
            type_(p, f, *t, d)
        }
        Type::Array(t, len) => {
            f.write_char('[')?;
            type_(p, f, *t, d)?;
            match len {
                Some(n) => write!(f, "; {n}]"),
                None => f.write_char(']'),
            }
        }
        Type::Record(r) => f.write_str(&r.name),
        Type::Func(sig) => {
            f.write_str("fn(")?;
            for (i, &t) in sig.params.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                type_(p, f, t, d)?;
            }
            if sig.variadic {
                f.write_str(if sig.params.is_empty() { "..." } else { ", ..." })?;
            }
            f.write_str(") -> ")?;
            type_(p, f, sig.ret, d)
        }
    }
}
