//! From the text form to an automaton: operations, expressions and places.
//!
//! An expression is first read as it stands and then elaborated, because a constant's type comes
//! from its surroundings.

use super::super::lex::Tok;
use super::{Parser, Res, parse_int, scalar_word};
use crate::ir::*;
use crate::types::*;
use smallvec::SmallVec;

/// An expression as written.
pub(super) struct Ast {
    at: usize,
    /// Nesting, bounded so that elaboration needs little stack.
    depth: u32,
    kind: Kind,
}

enum Kind {
    Number { text: String, negative: bool, ty: Option<Scalar> },
    Bits(u128, Option<Scalar>),
    Null,
    Load(PlaceAst),
    Addr(PlaceAst),
    Func(FuncId),
    Unary(UnOp, Box<Ast>),
    Binary(BinOp, Box<Ast>, Box<Ast>),
    Cmp(CmpOp, Box<Ast>, Box<Ast>),
    Ite(Box<Ast>, Box<Ast>, Box<Ast>),
    Convert(Scalar, Box<Ast>),
    PtrAdd(Box<Ast>, Box<Ast>, u64),
    PtrDiff(Box<Ast>, Box<Ast>, u64),
    Overflow(Box<Ast>),
    Valid(Box<Ast>, Box<Ast>),
    Freeable(Box<Ast>),
    ObjectSize(Box<Ast>),
    ReadOnly(Box<Ast>),
    Overlap(Box<Ast>, Box<Ast>, Box<Ast>),
    HeapEmpty,
    HeapTracked,
}

struct PlaceAst {
    at: usize,
    base: BaseAst,
    steps: Vec<StepAst>,
}

enum BaseAst {
    Var(VarId),
    Deref(Box<Ast>, Option<TypeId>),
}

enum StepAst {
    Field(String),
    FieldNumber(u64),
    Index(Box<Ast>, Option<u64>),
    As(TypeId, Option<BitRange>),
}

const MAX_DEPTH: u32 = 300;

impl Parser<'_> {
    pub(super) fn op(&mut self) -> Res<Op> {
        let at = self.at();
        let size_t = Some(Scalar::Int(self.p.data_model.size_t()));
        let (ptr, flag) = (Some(Scalar::Ptr), Some(Scalar::BOOL));
        let Tok::Name { text: word, quoted } = self.peek().clone() else { return self.assignment() };
        if quoted {
            return self.assignment();
        }
        self.pos += 1;
        Ok(match &*word {
            "skip" => Op::Skip,
            "copy" => {
                let dst = self.place()?;
                self.expect("=")?;
                Op::Copy { dst, src: self.place()? }
            }
            "zero" => Op::Zero { dst: self.place()? },
            "assume" => Op::Assume { cond: self.typed_expr(flag)? },
            "havoc" => Op::Havoc { dst: self.place()?, input: false },
            "input" => Op::Havoc { dst: self.place()?, input: true },
            "call" => self.call(None)?,
            "return" => {
                let ret = match &self.p.types[self.p.funcs[self.func].ty] {
                    Type::Func(sig) => Some(sig.ret),
                    _ => None,
                };
                let value = if self.is(";") { None } else { Some(self.arg(ret)?) };
                Op::Return { value }
            }
            "free" => Op::Free { ptr: self.typed_expr(ptr)? },
            "memcopy" => {
                let dst = self.typed_expr(ptr)?;
                self.expect(",")?;
                let src = self.typed_expr(ptr)?;
                self.expect(",")?;
                Op::MemCopy { dst, src, len: self.typed_expr(size_t)? }
            }
            "memset" => {
                let dst = self.typed_expr(ptr)?;
                self.expect(",")?;
                let byte = self.typed_expr(Some(Scalar::Int(IntTy { bits: 8, signed: false })))?;
                self.expect(",")?;
                Op::MemSet { dst, byte, len: self.typed_expr(size_t)? }
            }
            "enter" => Op::Enter { var: self.var()? },
            "leave" => Op::Leave { var: self.var()? },
            "check" => {
                let at = self.at();
                let Tok::Name { text, .. } = self.bump() else { return self.error(at, "expected a kind") };
                match CheckKind::ALL.into_iter().find(|k| k.name() == text) {
                    Some(kind) => Op::Check { kind, cond: self.typed_expr(flag)? },
                    None => {
                        let names: Vec<_> = CheckKind::ALL.iter().map(|k| k.name()).collect();
                        return self.error(at, format!("the kinds of check are {}", names.join(", ")));
                    }
                }
            }
            "exit" => Op::Halt { kind: HaltKind::Exit(self.typed_expr(None)?) },
            "abort" => Op::Halt { kind: HaltKind::Abort },
            _ => {
                self.pos -= 1;
                if super::super::WORDS.contains(&&*word) {
                    return self.error(at, format!("`{word}` does not start an operation"));
                }
                self.assignment()?
            }
        })
    }

    fn assignment(&mut self) -> Res<Op> {
        let dst = self.place()?;
        self.expect("=")?;
        if self.eat_word("call") {
            return self.call(Some(dst));
        }
        if self.eat_word("alloc") {
            let at = self.at();
            let kind = match self.bump() {
                Tok::Name { text, .. } if text == "heap" => AllocKind::Heap,
                Tok::Name { text, .. } if text == "stack" => AllocKind::Stack,
                _ => return self.error(at, "an allocation is on the `heap` or on the `stack`"),
            };
            let zeroed = self.eat_word("zeroed");
            let size = self.typed_expr(Some(Scalar::Int(self.p.data_model.size_t())))?;
            return Ok(Op::Alloc { dst, size, kind, zeroed });
        }
        let hint = self.p.place_scalar(dst);
        Ok(Op::Assign { dst, src: self.typed_expr(hint)? })
    }

    fn call(&mut self, dst: Option<PlaceId>) -> Res<Op> {
        let at = self.at();
        let callee = if self.eat("(") {
            let e = self.typed_expr(Some(Scalar::Ptr))?;
            self.expect(")")?;
            Callee::Indirect(e)
        } else {
            let name = self.name()?;
            match self.funcs.get(&name) {
                Some(&f) => Callee::Direct(f),
                None => return self.error(at, format!("there is no function `{name}`")),
            }
        };
        let params = match callee {
            Callee::Direct(f) => match &self.p.types[self.p.funcs[f].ty] {
                Type::Func(sig) => sig.params.clone(),
                _ => Vec::new(),
            },
            Callee::Indirect(_) => Vec::new(),
        };
        self.expect("(")?;
        let mut args = Vec::new();
        while !self.eat(")") {
            args.push(self.arg(params.get(args.len()).copied())?);
            if !self.is(")") {
                self.expect(",")?;
            }
        }
        Ok(Op::Call { dst, callee, args: args.into() })
    }

    fn arg(&mut self, ty: Option<TypeId>) -> Res<Arg> {
        if self.eat("{") {
            let place = self.place()?;
            self.expect("}")?;
            return Ok(Arg::Aggregate(place));
        }
        let hint = ty.and_then(|t| self.p.scalar_of(t));
        Ok(Arg::Scalar(self.typed_expr(hint)?))
    }

    fn var(&mut self) -> Res<VarId> {
        let at = self.at();
        let name = self.name()?;
        match self.vars.get(&name).or_else(|| self.globals.get(&name)) {
            Some(&v) => Ok(v),
            None => self.error(at, format!("there is no variable `{name}`")),
        }
    }

    fn place(&mut self) -> Res<PlaceId> {
        let ast = self.place_ast()?;
        self.elaborate_place(&ast)
    }

    fn typed_expr(&mut self, hint: Option<Scalar>) -> Res<ExprId> {
        let ast = self.expr()?;
        self.elaborate(&ast, hint)
    }

    // ---- reading ----------------------------------------------------------------------------

    fn node(&self, at: usize, depth: u32, kind: Kind) -> Res<Ast> {
        if depth > MAX_DEPTH {
            return self.error(at, "this expression nests too deeply");
        }
        Ok(Ast { at, depth, kind })
    }

    fn expr(&mut self) -> Res<Ast> {
        self.deeper()?;
        let cond = self.binary(0)?;
        let ast = if self.eat("?") {
            let a = self.expr()?;
            self.expect(":")?;
            let b = self.expr()?;
            let depth = 1 + cond.depth.max(a.depth).max(b.depth);
            self.node(cond.at, depth, Kind::Ite(cond.into(), a.into(), b.into()))?
        } else {
            cond
        };
        self.depth -= 1;
        Ok(ast)
    }

    /// C's precedences, from `|` (0) to `*` (7).
    fn binary(&mut self, level: usize) -> Res<Ast> {
        const LEVELS: [&[&str]; 8] = [
            &["|"],
            &["^"],
            &["&"],
            &["==", "!="],
            &["<", "<=", ">", ">="],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "%"],
        ];
        if level == LEVELS.len() {
            return self.unary();
        }
        let mut left = self.binary(level + 1)?;
        loop {
            let Tok::Punct(op) = *self.peek() else { return Ok(left) };
            if !LEVELS[level].contains(&op) {
                return Ok(left);
            }
            self.pos += 1;
            let right = self.binary(level + 1)?;
            let (at, depth) = (left.at, 1 + left.depth.max(right.depth));
            let (l, r) = (Box::new(left), Box::new(right));
            let kind = match op {
                "==" => Kind::Cmp(CmpOp::Eq, l, r),
                "!=" => Kind::Cmp(CmpOp::Ne, l, r),
                "<" => Kind::Cmp(CmpOp::Lt, l, r),
                "<=" => Kind::Cmp(CmpOp::Le, l, r),
                ">" => Kind::Cmp(CmpOp::Lt, r, l),
                ">=" => Kind::Cmp(CmpOp::Le, r, l),
                "|" => Kind::Binary(BinOp::Or, l, r),
                "^" => Kind::Binary(BinOp::Xor, l, r),
                "&" => Kind::Binary(BinOp::And, l, r),
                "<<" => Kind::Binary(BinOp::Shl, l, r),
                ">>" => Kind::Binary(BinOp::Shr, l, r),
                "+" => Kind::Binary(BinOp::Add, l, r),
                "-" => Kind::Binary(BinOp::Sub, l, r),
                "*" => Kind::Binary(BinOp::Mul, l, r),
                "/" => Kind::Binary(BinOp::Div, l, r),
                _ => Kind::Binary(BinOp::Rem, l, r),
            };
            left = self.node(at, depth, kind)?;
        }
    }

    /// The scalar type in `(T)`, if that is what follows.
    fn cast(&self) -> Option<Scalar> {
        let (open, name, close) =
            (&self.toks[self.pos], self.toks.get(self.pos + 1)?, self.toks.get(self.pos + 2)?);
        match (&open.tok, &name.tok, &close.tok) {
            (Tok::Punct("("), Tok::Name { text, quoted: false }, Tok::Punct(")")) => scalar_word(text),
            _ => None,
        }
    }

    fn unary(&mut self) -> Res<Ast> {
        self.deeper()?;
        let at = self.at();
        let ast = if let Some(ty) = self.cast() {
            self.pos += 3;
            let a = self.unary()?;
            self.node(at, a.depth + 1, Kind::Convert(ty, a.into()))?
        } else if self.is("-") && matches!(self.toks[self.pos + 1].tok, Tok::Number(_)) {
            self.constant()?
        } else if self.is("-") || self.is("~") || self.is("!") {
            let op = if self.is("-") { UnOp::Neg } else { UnOp::Not };
            self.pos += 1;
            let a = self.unary()?;
            self.node(at, a.depth + 1, Kind::Unary(op, a.into()))?
        } else if self.eat("&") {
            let place = self.place_ast()?;
            let depth = place.depth();
            self.node(at, depth + 1, Kind::Addr(place))?
        } else {
            self.primary()?
        };
        self.depth -= 1;
        Ok(ast)
    }

    /// A number with its sign and type.
    pub(super) fn constant(&mut self) -> Res<Ast> {
        let at = self.at();
        let negative = self.eat("-");
        match self.bump() {
            Tok::Number(text) => {
                let ty = self.annotation();
                self.node(at, 1, Kind::Number { text, negative, ty })
            }
            Tok::Bits(bits) if !negative => {
                let ty = self.annotation();
                self.node(at, 1, Kind::Bits(bits, ty))
            }
            Tok::Name { text, quoted: false } if text == "null" && !negative => self.node(at, 1, Kind::Null),
            _ => self.error(at, "expected a constant"),
        }
    }

    fn annotation(&mut self) -> Option<Scalar> {
        if !self.is(":") {
            return None;
        }
        match &self.toks.get(self.pos + 1)?.tok {
            Tok::Name { text, quoted: false } => {
                let ty = scalar_word(text)?;
                self.pos += 2;
                Some(ty)
            }
            _ => None,
        }
    }

    fn primary(&mut self) -> Res<Ast> {
        let at = self.at();
        match self.peek().clone() {
            Tok::Number(_) | Tok::Bits(_) => self.constant(),
            Tok::Punct("(") => {
                self.pos += 1;
                let ast = self.expr()?;
                self.expect(")")?;
                Ok(ast)
            }
            Tok::Name { text, quoted: false } => match &*text {
                "null" => self.constant(),
                "heap_empty" => {
                    self.pos += 1;
                    self.node(at, 1, Kind::HeapEmpty)
                }
                "heap_tracked" => {
                    self.pos += 1;
                    self.node(at, 1, Kind::HeapTracked)
                }
                "func" => {
                    self.pos += 1;
                    let name = self.name()?;
                    match self.funcs.get(&name) {
                        Some(&f) => self.node(at, 1, Kind::Func(f)),
                        None => self.error(at, format!("there is no function `{name}`")),
                    }
                }
                "ptradd" | "ptrdiff" | "overflow" | "valid" | "freeable" | "object_size" | "read_only"
                | "overlap" => self.predicate(at, &text),
                _ => self.load(at),
            },
            _ => self.load(at),
        }
    }

    fn load(&mut self, at: usize) -> Res<Ast> {
        let place = self.place_ast()?;
        let depth = place.depth();
        self.node(at, depth + 1, Kind::Load(place))
    }

    fn predicate(&mut self, at: usize, word: &str) -> Res<Ast> {
        self.pos += 1;
        self.expect("(")?;
        let a = Box::new(self.expr()?);
        let mut depth = a.depth;
        let mut second = |parser: &mut Self| -> Res<Box<Ast>> {
            parser.expect(",")?;
            let b = Box::new(parser.expr()?);
            depth = depth.max(b.depth);
            Ok(b)
        };
        let kind = match word {
            "ptradd" | "ptrdiff" => {
                let b = second(self)?;
                self.expect(",")?;
                let stride = self.number()?;
                if word == "ptradd" { Kind::PtrAdd(a, b, stride) } else { Kind::PtrDiff(a, b, stride) }
            }
            "valid" => Kind::Valid(a, second(self)?),
            "overlap" => {
                let b = second(self)?;
                Kind::Overlap(a, b, second(self)?)
            }
            "overflow" => Kind::Overflow(a),
            "freeable" => Kind::Freeable(a),
            "object_size" => Kind::ObjectSize(a),
            _ => Kind::ReadOnly(a),
        };
        self.expect(")")?;
        self.node(at, depth + 1, kind)
    }

    fn place_ast(&mut self) -> Res<PlaceAst> {
        let at = self.at();
        let base = if self.eat("*") {
            self.expect("(")?;
            let e = self.expr()?;
            let ty = if self.eat(":") { Some(self.ty()?) } else { None };
            self.expect(")")?;
            BaseAst::Deref(e.into(), ty)
        } else {
            BaseAst::Var(self.var()?)
        };
        let mut steps = Vec::new();
        loop {
            let step = self.at();
            if self.eat(".") {
                steps.push(match self.bump() {
                    Tok::Name { text, .. } => StepAst::Field(text),
                    Tok::Number(n) => match n.parse() {
                        Ok(n) => StepAst::FieldNumber(n),
                        Err(_) => return self.error(step, "expected a member's name or number"),
                    },
                    _ => return self.error(step, "expected a member's name or number"),
                });
            } else if self.eat("[") {
                let index = self.expr()?;
                let stride = if self.eat(":") { Some(self.number()?) } else { None };
                self.expect("]")?;
                steps.push(StepAst::Index(index.into(), stride));
            } else if self.eat_word("as") {
                let ty = self.ty()?;
                let bits = if self.eat_word("bits") {
                    let first = self.number()? as u16;
                    Some(BitRange { first, width: self.number()? as u16 })
                } else {
                    None
                };
                steps.push(StepAst::As(ty, bits));
            } else {
                return Ok(PlaceAst { at, base, steps });
            }
        }
    }

    // ---- elaboration ------------------------------------------------------------------------

    /// The expression, with constants typed by `hint`. The printer omits types by the same rules.
    pub(super) fn elaborate(&mut self, ast: &Ast, hint: Option<Scalar>) -> Res<ExprId> {
        let size_t = Scalar::Int(self.p.data_model.size_t());
        let (ptr, flag) = (Some(Scalar::Ptr), Some(Scalar::BOOL));
        let (ty, kind) = match &ast.kind {
            Kind::Number { text, negative, ty } => {
                return self.number_expr(ast.at, text, *negative, ty.or(hint));
            }
            Kind::Bits(bits, ty) => match ty.or(hint) {
                Some(ty @ Scalar::Float(_)) => (ty, ExprKind::Float(*bits)),
                _ => {
                    return self.error(ast.at, "`#` gives the bits of a floating-point number; say its type");
                }
            },
            Kind::Null => (Scalar::Ptr, ExprKind::Int(0)),
            Kind::Load(place) => {
                let id = self.elaborate_place(place)?;
                match self.p.place_scalar(id) {
                    Some(ty) => (ty, ExprKind::Load(id)),
                    None => return self.error(ast.at, "this is not a scalar"),
                }
            }
            Kind::Addr(place) => (Scalar::Ptr, ExprKind::Addr(self.elaborate_place(place)?)),
            Kind::Func(f) => (Scalar::Ptr, ExprKind::Func(*f)),
            Kind::Unary(op, a) => {
                let a = self.elaborate(a, hint)?;
                (self.p.exprs[a].ty, ExprKind::Unary(*op, a))
            }
            Kind::Binary(op @ (BinOp::Shl | BinOp::Shr), a, b) => {
                let a = self.elaborate(a, hint)?;
                let b = self.elaborate(b, None)?;
                (self.p.exprs[a].ty, ExprKind::Binary(*op, a, b))
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = self.pair(ast.at, a, b, hint)?;
                (self.p.exprs[a].ty, ExprKind::Binary(*op, a, b))
            }
            Kind::Cmp(op, a, b) => {
                let (a, b) = self.pair(ast.at, a, b, None)?;
                (Scalar::BOOL, ExprKind::Cmp(*op, a, b))
            }
            Kind::Ite(c, a, b) => {
                let c = self.elaborate(c, flag)?;
                let (a, b) = self.pair(ast.at, a, b, hint)?;
                (self.p.exprs[a].ty, ExprKind::Ite(c, a, b))
            }
            Kind::Convert(ty, a) => (*ty, ExprKind::Convert(self.elaborate(a, None)?)),
            Kind::PtrAdd(a, b, stride) => {
                let (a, b) = (self.elaborate(a, ptr)?, self.elaborate(b, None)?);
                (Scalar::Ptr, ExprKind::PtrAdd { ptr: a, index: b, stride: *stride })
            }
            Kind::PtrDiff(a, b, stride) => {
                let (left, right) = (self.elaborate(a, ptr)?, self.elaborate(b, ptr)?);
                let ty = Scalar::Int(self.p.data_model.ptrdiff_t());
                (ty, ExprKind::PtrDiff { left, right, stride: *stride })
            }
            Kind::Overflow(inner) => match &inner.kind {
                Kind::Binary(BinOp::Shl, a, b) => {
                    let (a, b) = (self.elaborate(a, None)?, self.elaborate(b, None)?);
                    (Scalar::BOOL, ExprKind::Overflow(BinOp::Shl, a, b))
                }
                Kind::Binary(op, a, b) => {
                    let (a, b) = self.pair(inner.at, a, b, None)?;
                    (Scalar::BOOL, ExprKind::Overflow(*op, a, b))
                }
                _ => return self.error(inner.at, "`overflow` asks about one binary operator"),
            },
            Kind::Valid(a, b) => {
                let (p, size) = (self.elaborate(a, ptr)?, self.elaborate(b, Some(size_t))?);
                (Scalar::BOOL, ExprKind::Valid { ptr: p, size })
            }
            Kind::Freeable(a) => (Scalar::BOOL, ExprKind::Freeable(self.elaborate(a, ptr)?)),
            Kind::ObjectSize(a) => (size_t, ExprKind::ObjectSize(self.elaborate(a, ptr)?)),
            Kind::ReadOnly(a) => (Scalar::BOOL, ExprKind::ReadOnly(self.elaborate(a, ptr)?)),
            Kind::Overlap(a, b, n) => {
                let (a, b) = (self.elaborate(a, ptr)?, self.elaborate(b, ptr)?);
                (Scalar::BOOL, ExprKind::Overlap(a, b, self.elaborate(n, Some(size_t))?))
            }
            Kind::HeapEmpty => (Scalar::BOOL, ExprKind::HeapEmpty),
            Kind::HeapTracked => (Scalar::BOOL, ExprKind::HeapTracked),
        };
        Ok(self.p.add_expr(ty, kind))
    }

    /// Two operands of one type.
    fn pair(&mut self, at: usize, a: &Ast, b: &Ast, hint: Option<Scalar>) -> Res<(ExprId, ExprId)> {
        let (x, y);
        if hint.is_some() {
            x = self.elaborate(a, hint)?;
            y = self.elaborate(b, hint)?;
        } else if a.is_constant() && !b.is_constant() {
            y = self.elaborate(b, None)?;
            let ty = self.p.exprs[y].ty;
            x = self.elaborate(a, Some(ty))?;
        } else {
            x = self.elaborate(a, None)?;
            let ty = self.p.exprs[x].ty;
            y = self.elaborate(b, Some(ty))?;
        }
        let (tx, ty) = (self.p.exprs[x].ty, self.p.exprs[y].ty);
        if tx != ty {
            return self.error(at, format!("the operands have the types {tx} and {ty}"));
        }
        Ok((x, y))
    }

    fn number_expr(&mut self, at: usize, text: &str, negative: bool, ty: Option<Scalar>) -> Res<ExprId> {
        let decimal = text.contains(['.', 'e']) && !text.starts_with("0x");
        let default = if decimal { Scalar::Float(FloatTy::F64) } else { Scalar::Int(IntTy::I32) };
        let ty = ty.unwrap_or(default);
        let signed = format!("{}{text}", if negative { "-" } else { "" });
        let kind = match ty {
            Scalar::Float(FloatTy::F32) => match signed.parse::<f32>() {
                Ok(v) => ExprKind::Float(u128::from(v.to_bits())),
                Err(_) => return self.error(at, "this is not a number"),
            },
            Scalar::Float(FloatTy::F64) => match signed.parse::<f64>() {
                Ok(v) => ExprKind::Float(u128::from(v.to_bits())),
                Err(_) => return self.error(at, "this is not a number"),
            },
            Scalar::Float(FloatTy::F80) => {
                return self.error(at, "an f80 is given by its bits, as in `#3fff8000000000000000:f80`");
            }
            Scalar::Int(_) | Scalar::Ptr => {
                let t = ty.int().unwrap_or(self.p.data_model.size_t());
                let Some(value) = parse_int(text) else { return self.error(at, "this is not an integer") };
                let limit = if negative { 1u128 << (t.bits - 1) } else { t.truncate(u128::MAX) };
                if value > limit {
                    return self.error(at, format!("{signed} does not fit {ty}"));
                }
                ExprKind::Int(t.truncate(if negative { value.wrapping_neg() } else { value }))
            }
        };
        Ok(self.p.add_expr(ty, kind))
    }

    fn elaborate_place(&mut self, ast: &PlaceAst) -> Res<PlaceId> {
        let (base, mut ty) = match &ast.base {
            BaseAst::Var(v) => (Base::Var(*v), Some(self.p.vars[*v].ty)),
            BaseAst::Deref(e, ty) => (Base::Deref(self.elaborate(e, Some(Scalar::Ptr))?), *ty),
        };
        let mut path = SmallVec::new();
        let mut bits = None;
        for step in &ast.steps {
            match step {
                StepAst::As(t, b) => {
                    ty = Some(*t);
                    bits = *b;
                }
                StepAst::Field(_) | StepAst::FieldNumber(_) => {
                    let Some(record) = ty else {
                        return self.error(ast.at, "say `as struct ..` before a member");
                    };
                    let Type::Record(r) = &self.p.types[record] else {
                        return self.error(ast.at, "only a record has members");
                    };
                    let field = match step {
                        StepAst::Field(name) => r.fields.iter().position(|f| *f.name == **name),
                        StepAst::FieldNumber(n) => usize::try_from(*n).ok().filter(|n| *n < r.fields.len()),
                        _ => None,
                    };
                    let Some(field) = field else { return self.error(ast.at, "there is no such member") };
                    ty = Some(r.fields[field].ty);
                    bits = r.fields[field].bits;
                    path.push(Proj::Field { record, field: field as u32 });
                }
                StepAst::Index(index, stride) => {
                    let index = self.elaborate(index, None)?;
                    let elem = match ty.map(|t| &self.p.types[t]) {
                        Some(Type::Array(elem, _)) => Some(*elem),
                        _ => None,
                    };
                    let size = elem.and_then(|t| self.p.size_of(t));
                    let Some(stride) = stride.or(size) else {
                        return self.error(
                            ast.at,
                            "the stride does not follow from the type; say it as in `[i: 4]`",
                        );
                    };
                    ty = if size == Some(stride) { elem } else { None };
                    bits = None;
                    path.push(Proj::Index { index, stride });
                }
            }
        }
        match ty {
            Some(ty) => Ok(self.p.places.push(Place { base, path, ty, bits })),
            None => self.error(ast.at, "the type does not follow; say it with `as`"),
        }
    }
}

impl Ast {
    fn is_constant(&self) -> bool {
        matches!(self.kind, Kind::Number { .. } | Kind::Bits(..) | Kind::Null)
    }
}

impl PlaceAst {
    fn depth(&self) -> u32 {
        let base = match &self.base {
            BaseAst::Deref(e, _) => e.depth,
            BaseAst::Var(_) => 0,
        };
        let steps = self.steps.iter().map(|s| match s {
            StepAst::Index(e, _) => e.depth,
            _ => 0,
        });
        steps.fold(base, u32::max)
    }
}
