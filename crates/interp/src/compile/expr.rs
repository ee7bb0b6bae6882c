//! From expressions and places to register code.

use super::{Compiler, Deps, Label, MAX_DEPTH, Res};
use crate::code::*;
use crate::layout::VarLoc;
use palisade_cfa::*;

/// A place in memory: an object or pointer, an index into it, and a constant offset.
#[derive(Clone, Copy)]
struct Memory {
    from: Start,
    index: Option<(Reg, u32)>,
    offset: i64,
}

enum Target {
    Reg(Reg),
    GlobalReg(u32),
    Memory(Memory),
}

impl Compiler<'_> {
    /// The register variable that a place is the whole of.
    pub(super) fn register_of(&self, place: PlaceId) -> Option<VarLoc> {
        match self.p.places[place].base {
            Base::Var(v) => match self.layout.vars[v] {
                loc @ (VarLoc::Reg(_) | VarLoc::GlobalReg(_)) => Some(loc),
                _ => None,
            },
            Base::Deref(_) => None,
        }
    }

    fn narrow(&self, e: ExprId) -> Option<IntTy> {
        self.p.exprs[e].ty.int().filter(|t| is_narrow(*t))
    }

    /// The canonical form of a narrow constant.
    fn constant(&self, e: ExprId) -> Option<i64> {
        match (&self.p.exprs[e].kind, self.narrow(e)) {
            (ExprKind::Int(bits), Some(t)) => Some(t.decode(*bits) as i64),
            _ => None,
        }
    }

    fn small_constant(&self, e: ExprId) -> Option<i32> {
        self.constant(e).and_then(|c| i32::try_from(c).ok())
    }

    /// Computes an expression, into `target` if one is given. Without one, the register may be a
    /// variable's own and must not be written.
    pub(super) fn expr(&mut self, e: ExprId, target: Option<Reg>) -> Res<Reg> {
        let canon = self.canon.expr(self.p, e);
        if let Some((a, deps)) = self.facts.computed(canon) {
            self.deps.add(deps);
            return Ok(self.moved(a, target));
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("an expression nested too deeply".into());
        }
        let outer = std::mem::replace(&mut self.deps, Deps::NONE);
        let reg = self.fresh_expr(e, target)?;
        if target.is_none() {
            self.facts.remember(canon, reg, self.deps);
        }
        self.deps.add(outer);
        self.depth -= 1;
        Ok(reg)
    }

    fn moved(&mut self, a: Reg, target: Option<Reg>) -> Reg {
        match target {
            Some(d) if d != a => {
                self.emit(Instr::Mov { d, a });
                d
            }
            _ => a,
        }
    }

    fn dest(&mut self, target: Option<Reg>) -> Reg {
        target.unwrap_or_else(|| self.temp())
    }

    fn fresh_expr(&mut self, e: ExprId, target: Option<Reg>) -> Res<Reg> {
        let p = self.p;
        let expr = &p.exprs[e];
        match &expr.kind {
            ExprKind::Int(bits) | ExprKind::Float(bits) => {
                let d = self.dest(target);
                match expr.ty {
                    Scalar::Int(t) if is_narrow(t) => {
                        self.emit(Instr::Const { d, v: t.decode(*bits) as u64 })
                    }
                    Scalar::Int(_) | Scalar::Float(FloatTy::F80) => {
                        let at = self.tables.wide.len() as u32;
                        self.tables.wide.push(*bits);
                        self.emit(Instr::Wide { d, at });
                    }
                    _ => self.emit(Instr::Const { d, v: *bits as u64 }),
                }
                Ok(d)
            }
            ExprKind::Load(place) => self.load(*place, target),
            ExprKind::Addr(place) => {
                let a = self.address(*place)?;
                Ok(self.moved(a, target))
            }
            ExprKind::Func(f) => {
                let d = self.dest(target);
                self.emit(Instr::Const { d, v: crate::memory::Memory::function_address(f.0) });
                Ok(d)
            }
            ExprKind::Unary(op, a) => {
                let reg = self.expr(*a, None)?;
                let d = self.dest(target);
                match self.narrow(*a) {
                    Some(t) => {
                        let (sh, signed) = (shift_of(t), t.signed);
                        self.emit(match op {
                            UnOp::Neg => Instr::Neg { d, a: reg, sh, signed },
                            UnOp::Not => Instr::Not { d, a: reg, sh, signed },
                        });
                    }
                    None => self.general1(GenOp::Unary(*op, expr.ty), d, reg),
                }
                Ok(d)
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, *a, *b, target),
            ExprKind::Cmp(op, a, b) => {
                let (x, y) = (self.expr(*a, None)?, self.expr(*b, None)?);
                let d = self.dest(target);
                match p.exprs[*a].ty {
                    Scalar::Float(FloatTy::F64) => self.emit(Instr::F64Cmp { op: *op, d, a: x, b: y }),
                    ty => match rel(*op, ty) {
                        Some(rel) => self.emit(Instr::Cmp { rel, d, a: x, b: y }),
                        None => self.general2(GenOp::Cmp(*op, ty), d, x, y),
                    },
                }
                Ok(d)
            }
            ExprKind::Ite(c, a, b) => self.choice(*c, *a, *b, target),
            ExprKind::Convert(a) => self.convert(p.exprs[*a].ty, expr.ty, *a, target),
            ExprKind::PtrAdd { ptr, index, stride } => {
                let base = self.expr(*ptr, None)?;
                if let Some(c) = self.constant(*index) {
                    let d = self.dest(target);
                    self.emit(Instr::PtrAddImm { d, p: base, imm: c.wrapping_mul(*stride as i64) });
                    return Ok(d);
                }
                let (i, stride) = self.index(*index, *stride)?;
                let d = self.dest(target);
                self.emit(Instr::PtrAdd { d, p: base, i, stride });
                Ok(d)
            }
            ExprKind::PtrDiff { left, right, stride } => {
                let (a, b) = (self.expr(*left, None)?, self.expr(*right, None)?);
                let d = self.dest(target);
                let stride = u32::try_from(*stride).map_err(|_| "a huge array element".to_owned())?;
                self.emit(Instr::PtrDiff { d, a, b, stride });
                Ok(d)
            }
            ExprKind::Overflow(op, a, b) => {
                let (x, y) = (self.expr(*a, None)?, self.expr(*b, None)?);
                let d = self.dest(target);
                let (Some(t), Some(s)) = (p.exprs[*a].ty.int(), p.exprs[*b].ty.int()) else {
                    return Err("overflow of what is no integer".into());
                };
                self.general2(GenOp::Overflow(*op, t, s), d, x, y);
                Ok(d)
            }
            ExprKind::Valid { ptr, size } => {
                self.deps.add(Deps::MEMORY);
                let (x, size) = (self.expr(*ptr, None)?, self.expr(*size, None)?);
                let d = self.dest(target);
                self.emit(Instr::Valid { d, p: x, size });
                Ok(d)
            }
            ExprKind::Freeable(a) => {
                self.deps.add(Deps::MEMORY);
                let x = self.expr(*a, None)?;
                let d = self.dest(target);
                self.emit(Instr::Freeable { d, p: x });
                Ok(d)
            }
            ExprKind::ObjectSize(a) => {
                self.deps.add(Deps::MEMORY);
                let x = self.expr(*a, None)?;
                let d = self.dest(target);
                self.emit(Instr::ObjectSize { d, p: x });
                Ok(d)
            }
            ExprKind::ReadOnly(a) => {
                self.deps.add(Deps::MEMORY);
                let x = self.expr(*a, None)?;
                let d = self.dest(target);
                self.emit(Instr::IsReadOnly { d, p: x });
                Ok(d)
            }
            ExprKind::HeapEmpty => {
                self.deps.add(Deps::MEMORY);
                let d = self.dest(target);
                self.emit(Instr::HeapEmpty { d });
                Ok(d)
            }
            ExprKind::Overlap(a, b, n) => {
                self.deps.add(Deps::MEMORY);
                let (x, y, size) = (self.expr(*a, None)?, self.expr(*b, None)?, self.expr(*n, None)?);
                let d = self.dest(target);
                self.emit(Instr::Overlap { d, p: x, q: y, size });
                Ok(d)
            }
            ExprKind::HeapTracked => {
                self.deps.add(Deps::MEMORY);
                let d = self.dest(target);
                self.emit(Instr::HeapTracked { d });
                Ok(d)
            }
        }
    }

    fn general(&mut self, op: GenOp) -> u32 {
        self.tables.gens.push(op);
        self.tables.gens.len() as u32 - 1
    }

    fn general1(&mut self, op: GenOp, d: Reg, a: Reg) {
        let op = self.general(op);
        self.emit(Instr::Gen1 { op, d, a });
    }

    fn general2(&mut self, op: GenOp, d: Reg, a: Reg, b: Reg) {
        let op = self.general(op);
        self.emit(Instr::Gen2 { op, d, a, b });
    }

    fn binary(&mut self, op: BinOp, a: ExprId, b: ExprId, target: Option<Reg>) -> Res<Reg> {
        let ty = self.p.exprs[a].ty;
        let x = self.expr(a, None)?;
        let Some(t) = self.narrow(a).filter(|_| self.narrow(b).is_some()) else {
            let y = self.expr(b, None)?;
            let d = self.dest(target);
            if ty == Scalar::Float(FloatTy::F64) {
                self.emit(Instr::F64 { op, d, a: x, b: y });
            } else {
                let shift = self.p.exprs[b].ty.int().unwrap_or(IntTy::I32);
                self.general2(GenOp::Binary(op, ty, shift), d, x, y);
            }
            return Ok(d);
        };
        let (sh, signed) = (shift_of(t), t.signed);
        if let Some(imm) = self.small_constant(b) {
            let negated = imm.checked_neg();
            let instr = match (op, negated) {
                (BinOp::Add, _) => Some((imm, true)),
                (BinOp::Sub, Some(imm)) => Some((imm, true)),
                (BinOp::Mul, _) => Some((imm, false)),
                _ => None,
            };
            if let Some((imm, add)) = instr {
                let d = self.dest(target);
                self.emit(match (add, signed) {
                    (true, true) => Instr::AddImmS { d, a: x, imm, sh },
                    (true, false) => Instr::AddImmU { d, a: x, imm, sh },
                    (false, true) => Instr::MulImmS { d, a: x, imm, sh },
                    (false, false) => Instr::MulImmU { d, a: x, imm, sh },
                });
                return Ok(d);
            }
            if op == BinOp::And && (imm >= 0 || signed) {
                let d = self.dest(target);
                self.emit(Instr::AndImm { d, a: x, imm });
                return Ok(d);
            }
        }
        let y = self.expr(b, None)?;
        let d = self.dest(target);
        let (a, b) = (x, y);
        self.emit(match op {
            BinOp::Add if signed => Instr::AddS { d, a, b, sh },
            BinOp::Add => Instr::AddU { d, a, b, sh },
            BinOp::Sub if signed => Instr::SubS { d, a, b, sh },
            BinOp::Sub => Instr::SubU { d, a, b, sh },
            BinOp::Mul if signed => Instr::MulS { d, a, b, sh },
            BinOp::Mul => Instr::MulU { d, a, b, sh },
            BinOp::Div => Instr::Div { d, a, b, sh, signed },
            BinOp::Rem => Instr::Rem { d, a, b, signed },
            BinOp::And => Instr::And { d, a, b },
            BinOp::Or => Instr::Or { d, a, b },
            BinOp::Xor => Instr::Xor { d, a, b },
            BinOp::Shl => Instr::Shl { d, a, b, sh, signed },
            BinOp::Shr => Instr::Shr { d, a, b, sh, signed },
        });
        Ok(d)
    }

    /// Only the chosen operand is computed: the other one may be undefined.
    fn choice(&mut self, c: ExprId, a: ExprId, b: ExprId, target: Option<Reg>) -> Res<Reg> {
        // A fresh register, because the operands may read the target.
        let d = self.temp();
        let (other, end) = (self.label(), self.label());
        self.jump_if(c, false, other)?;
        let known = self.facts.clone();
        let x = self.expr(a, None)?;
        self.moved(x, Some(d));
        self.emit(Instr::Jump { to: end });
        self.place_label(other);
        self.facts = known.clone();
        let y = self.expr(b, None)?;
        self.moved(y, Some(d));
        self.place_label(end);
        self.facts = known;
        Ok(self.moved(d, target))
    }

    fn convert(&mut self, from: Scalar, to: Scalar, a: ExprId, target: Option<Reg>) -> Res<Reg> {
        let x = self.expr(a, None)?;
        let address = self.p.data_model.size_t();
        let int = |s: Scalar| if s == Scalar::Ptr { Some(address) } else { s.int() };
        let (Some(f), Some(t)) = (int(from), int(to)) else {
            let d = self.dest(target);
            self.general1(GenOp::Convert(from, to), d, x);
            return Ok(d);
        };
        if from == Scalar::Ptr && to == Scalar::Ptr {
            return Ok(self.moved(x, target));
        }
        if is_narrow(t) && to != Scalar::Ptr {
            // The lower half is the canonical form already, or is extended anew.
            let fits = is_narrow(f)
                && (t.bits == 64 || t.signed == f.signed && t.bits >= f.bits || t.signed && t.bits > f.bits);
            if fits {
                return Ok(self.moved(x, target));
            }
            let d = self.dest(target);
            let sh = shift_of(t);
            self.emit(if t.signed { Instr::NormS { d, a: x, sh } } else { Instr::NormU { d, a: x, sh } });
            return Ok(d);
        }
        let d = self.dest(target);
        if to == Scalar::Ptr {
            self.deps.add(Deps::MEMORY);
            self.emit(Instr::IntToPtr { d, a: x });
        } else if is_narrow(f) {
            self.emit(Instr::Extend { d, a: x, signed: f.signed });
        } else {
            self.emit(Instr::Mov { d, a: x });
        }
        Ok(d)
    }

    /// Jumps to `label` if the truth value is `sense`.
    pub(super) fn jump_if(&mut self, cond: ExprId, sense: bool, to: Label) -> Res<()> {
        let p = self.p;
        let canon = self.canon.expr(p, cond);
        if let Some((known, deps)) = self.facts.known(canon) {
            self.deps.add(deps);
            if known == sense {
                self.emit(Instr::Jump { to });
            }
            return Ok(());
        }
        match &p.exprs[cond].kind {
            ExprKind::Int(bits) => {
                if (*bits == 1) == sense {
                    self.emit(Instr::Jump { to });
                }
                return Ok(());
            }
            ExprKind::Unary(UnOp::Not, a) if p.exprs[*a].ty == Scalar::BOOL => {
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err("an expression nested too deeply".into());
                }
                self.jump_if(*a, !sense, to)?;
                self.depth -= 1;
                return Ok(());
            }
            ExprKind::Cmp(op, a, b) => {
                if let Some(rel) = rel(*op, p.exprs[*a].ty) {
                    return self.jump_cmp(rel, *a, *b, sense, to);
                }
            }
            ExprKind::Overflow(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                if let Some(t) = self.narrow(*a) {
                    let (a, b) = (self.expr(*a, None)?, self.expr(*b, None)?);
                    let (sh, signed, op) = (shift_of(t), t.signed, *op);
                    self.emit(match sense {
                        true => Instr::JOverflow { op, a, b, sh, signed, to },
                        false => Instr::JNoOverflow { op, a, b, sh, signed, to },
                    });
                    return Ok(());
                }
            }
            ExprKind::Valid { ptr, size } if !sense => {
                if let Some(size) = self.constant(*size).and_then(|s| u32::try_from(s).ok()) {
                    self.deps.add(Deps::MEMORY);
                    let x = self.expr(*ptr, None)?;
                    self.emit(Instr::JInvalid { p: x, size, to });
                    return Ok(());
                }
            }
            _ => {}
        }
        let a = self.expr(cond, None)?;
        self.emit(if sense { Instr::JumpNonZero { a, to } } else { Instr::JumpZero { a, to } });
        Ok(())
    }

    fn jump_cmp(&mut self, rel: Rel, a: ExprId, b: ExprId, sense: bool, to: Label) -> Res<()> {
        let (x, y) = (self.small_constant(a), self.small_constant(b));
        if let (Some(imm), None) = (y, x) {
            let a = self.expr(a, None)?;
            let instr = match (rel, sense) {
                (Rel::Eq, true) | (Rel::Ne, false) => Some(Instr::JEqImm { a, imm, to }),
                (Rel::Ne, true) | (Rel::Eq, false) => Some(Instr::JNeImm { a, imm, to }),
                (Rel::LtS, true) => Some(Instr::JLtSImm { a, imm, to }),
                (Rel::LtS, false) => Some(Instr::JGeSImm { a, imm, to }),
                (Rel::LeS, true) => Some(Instr::JLeSImm { a, imm, to }),
                (Rel::LeS, false) => Some(Instr::JGtSImm { a, imm, to }),
                (Rel::LtU | Rel::LeU, _) => u32::try_from(imm).ok().map(|imm| match (rel, sense) {
                    (Rel::LtU, true) => Instr::JLtUImm { a, imm, to },
                    (Rel::LtU, false) => Instr::JGeUImm { a, imm, to },
                    (_, true) => Instr::JLeUImm { a, imm, to },
                    (_, false) => Instr::JGtUImm { a, imm, to },
                }),
            };
            if let Some(instr) = instr {
                self.emit(instr);
                return Ok(());
            }
        }
        if let (Some(imm), None) = (x, y) {
            // constant < b is b > constant, and so on.
            let a = self.expr(b, None)?;
            let instr = match (rel, sense) {
                (Rel::Eq, true) | (Rel::Ne, false) => Some(Instr::JEqImm { a, imm, to }),
                (Rel::Ne, true) | (Rel::Eq, false) => Some(Instr::JNeImm { a, imm, to }),
                (Rel::LtS, true) => Some(Instr::JGtSImm { a, imm, to }),
                (Rel::LtS, false) => Some(Instr::JLeSImm { a, imm, to }),
                (Rel::LeS, true) => Some(Instr::JGeSImm { a, imm, to }),
                (Rel::LeS, false) => Some(Instr::JLtSImm { a, imm, to }),
                (Rel::LtU | Rel::LeU, _) => u32::try_from(imm).ok().map(|imm| match (rel, sense) {
                    (Rel::LtU, true) => Instr::JGtUImm { a, imm, to },
                    (Rel::LtU, false) => Instr::JLeUImm { a, imm, to },
                    (_, true) => Instr::JGeUImm { a, imm, to },
                    (_, false) => Instr::JLtUImm { a, imm, to },
                }),
            };
            if let Some(instr) = instr {
                self.emit(instr);
                return Ok(());
            }
        }
        let (a, b) = (self.expr(a, None)?, self.expr(b, None)?);
        self.emit(match (rel, sense) {
            (Rel::Eq, true) | (Rel::Ne, false) => Instr::JEq { a, b, to },
            (Rel::Ne, true) | (Rel::Eq, false) => Instr::JNe { a, b, to },
            (Rel::LtS, true) => Instr::JLtS { a, b, to },
            (Rel::LtS, false) => Instr::JLeS { a: b, b: a, to },
            (Rel::LeS, true) => Instr::JLeS { a, b, to },
            (Rel::LeS, false) => Instr::JLtS { a: b, b: a, to },
            (Rel::LtU, true) => Instr::JLtU { a, b, to },
            (Rel::LtU, false) => Instr::JLeU { a: b, b: a, to },
            (Rel::LeU, true) => Instr::JLeU { a, b, to },
            (Rel::LeU, false) => Instr::JLtU { a: b, b: a, to },
        });
        Ok(())
    }

    // ---- places -----------------------------------------------------------------------------

    /// An index register and a stride that fits an instruction.
    fn index(&mut self, index: ExprId, stride: u64) -> Res<(Reg, u32)> {
        let stride = i32::try_from(stride).map_err(|_| "a huge array element".to_owned())? as u32;
        // Of a wider integer the lower half is enough: addresses wrap.
        Ok((self.expr(index, None)?, stride))
    }

    fn add_index(&mut self, m: &mut Memory, index: ExprId, stride: u64) -> Res<()> {
        if let Some(c) = self.constant(index) {
            m.offset = m.offset.wrapping_add(c.wrapping_mul(stride as i64));
            return Ok(());
        }
        let (i, stride) = self.index(index, stride)?;
        m.index = Some(match m.index {
            None => (i, stride),
            Some((first, first_stride)) => {
                // first * s1 + i * s2, as an offset of its own.
                let mut a = first;
                if first_stride != 1 {
                    a = self.temp();
                    self.emit(Instr::MulImmS { d: a, a: first, imm: first_stride as i32, sh: 0 });
                }
                let d = self.temp();
                self.emit(Instr::Offset { d, a, i, stride });
                (d, 1)
            }
        });
        Ok(())
    }

    fn target(&mut self, place: PlaceId) -> Res<Target> {
        let pl = &self.p.places[place];
        // Objects come and go, and a pointer to one is as good as its contents.
        if self.register_of(place).is_none() {
            self.deps.add(Deps::MEMORY);
        }
        let mut m = match pl.base {
            Base::Var(v) => match self.layout.vars[v] {
                VarLoc::Reg(r) => {
                    self.deps.add(Deps::reg(r));
                    return Ok(Target::Reg(r));
                }
                VarLoc::GlobalReg(g) => {
                    self.deps.add(Deps::MEMORY);
                    return Ok(Target::GlobalReg(g));
                }
                VarLoc::Object(k) => Memory { from: Start::Local(k), index: None, offset: 0 },
                VarLoc::GlobalObject(o) => Memory { from: Start::Global(o), index: None, offset: 0 },
            },
            Base::Deref(e) => self.pointee(e)?,
        };
        for proj in &pl.path {
            match *proj {
                Proj::Field { record, field } => {
                    m.offset = m.offset.wrapping_add(self.p.field(record, field).offset as i64);
                }
                Proj::Index { index, stride } => self.add_index(&mut m, index, stride)?,
            }
        }
        // The offset must fit an instruction.
        if i32::try_from(m.offset).is_err() {
            let d = self.temp();
            let (from, index) = (m.from, m.index);
            let (i, stride) = index.unwrap_or((NO_INDEX, 0));
            self.emit(Instr::Lea { from, d, i, stride, off: 0 });
            let p = self.temp();
            self.emit(Instr::PtrAddImm { d: p, p: d, imm: m.offset });
            m = Memory { from: Start::Ptr(p), index: None, offset: 0 };
        }
        Ok(Target::Memory(m))
    }

    /// What a pointer points to, without making the pointer where an address is taken in place.
    fn pointee(&mut self, e: ExprId) -> Res<Memory> {
        let p = self.p;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("an expression nested too deeply".into());
        }
        let canon = self.canon.expr(p, e);
        let memory = match &p.exprs[e].kind {
            ExprKind::Addr(place) if self.facts.computed(canon).is_none() => match self.target(*place)? {
                Target::Memory(m) => m,
                _ => return Err("the address of a register".into()),
            },
            ExprKind::PtrAdd { ptr, index, stride } if self.facts.computed(canon).is_none() => {
                let mut m = self.pointee(*ptr)?;
                self.add_index(&mut m, *index, *stride)?;
                m
            }
            _ => Memory { from: Start::Ptr(self.expr(e, None)?), index: None, offset: 0 },
        };
        self.depth -= 1;
        Ok(memory)
    }

    fn load(&mut self, place: PlaceId, target: Option<Reg>) -> Res<Reg> {
        let m = match self.target(place)? {
            Target::Reg(r) => return Ok(self.moved(r, target)),
            Target::GlobalReg(g) => {
                let d = self.dest(target);
                self.emit(Instr::GetGlobal { d, g });
                return Ok(d);
            }
            Target::Memory(m) => m,
        };
        let Some(ty) = self.p.place_scalar(place) else { return Err("the value of an aggregate".into()) };
        let first = self.p.places[place].bits.map(|b| b.first);
        match (cell(ty), first) {
            (Some(cell), None) => {
                let d = self.dest(target);
                let (i, stride) = m.index.unwrap_or((NO_INDEX, 0));
                self.emit(Instr::Load { cell, from: m.from, d, i, stride, off: m.offset as i32 });
                Ok(d)
            }
            (_, first) => {
                let p = self.lea(m);
                let d = self.dest(target);
                let Some(ty) = ty.int() else { return Err("a bit-field that is no integer".into()) };
                self.emit(Instr::LoadBits { d, p, first: first.unwrap_or(0), ty });
                Ok(d)
            }
        }
    }

    /// Stores a register's value of the place's type.
    pub(super) fn store(&mut self, place: PlaceId, a: Reg) -> Res<()> {
        let m = match self.target(place)? {
            Target::Reg(d) => {
                self.emit(Instr::Mov { d, a });
                self.facts.forget(Deps::reg(d));
                return Ok(());
            }
            Target::GlobalReg(g) => {
                self.emit(Instr::SetGlobal { g, a });
                self.facts.forget(Deps::MEMORY);
                return Ok(());
            }
            Target::Memory(m) => m,
        };
        let Some(ty) = self.p.place_scalar(place) else { return Err("the value of an aggregate".into()) };
        let first = self.p.places[place].bits.map(|b| b.first);
        match (cell(ty), first) {
            (Some(cell), None) => {
                let (i, stride) = m.index.unwrap_or((NO_INDEX, 0));
                self.emit(Instr::Store { cell, from: m.from, a, i, stride, off: m.offset as i32 });
            }
            (_, first) => {
                let p = self.lea(m);
                let Some(ty) = ty.int() else { return Err("a bit-field that is no integer".into()) };
                self.emit(Instr::StoreBits { p, a, first: first.unwrap_or(0), ty });
            }
        }
        self.facts.forget(Deps::MEMORY);
        Ok(())
    }

    fn lea(&mut self, m: Memory) -> Reg {
        if let (Start::Ptr(p), None, 0) = (m.from, m.index, m.offset) {
            return p;
        }
        let d = self.temp();
        let (i, stride) = m.index.unwrap_or((NO_INDEX, 0));
        self.emit(Instr::Lea { from: m.from, d, i, stride, off: m.offset as i32 });
        d
    }

    /// A pointer to a place in memory.
    pub(super) fn address(&mut self, place: PlaceId) -> Res<Reg> {
        match self.target(place)? {
            Target::Memory(m) => Ok(self.lea(m)),
            _ => Err("the address of a register".into()),
        }
    }
}

/// The comparison of registers for integers of up to 64 bits and pointers.
fn rel(op: CmpOp, ty: Scalar) -> Option<Rel> {
    let signed = match ty {
        Scalar::Int(t) if is_narrow(t) => t.signed,
        Scalar::Ptr => false,
        _ => return None,
    };
    Some(match (op, signed) {
        (CmpOp::Eq, _) => Rel::Eq,
        (CmpOp::Ne, _) => Rel::Ne,
        (CmpOp::Lt, true) => Rel::LtS,
        (CmpOp::Lt, false) => Rel::LtU,
        (CmpOp::Le, true) => Rel::LeS,
        (CmpOp::Le, false) => Rel::LeU,
    })
}

/// How a scalar lies in memory; `None` for integers of odd widths.
pub(crate) fn cell(ty: Scalar) -> Option<Cell> {
    Some(match ty {
        Scalar::Ptr => Cell::Ptr,
        Scalar::Float(FloatTy::F32) => Cell::U32,
        Scalar::Float(FloatTy::F64) => Cell::B64,
        Scalar::Float(FloatTy::F80) => Cell::B80,
        Scalar::Int(t) => match (t.bits, t.signed) {
            (1, false) => Cell::Flag,
            (8, true) => Cell::I8,
            (8, false) => Cell::U8,
            (16, true) => Cell::I16,
            (16, false) => Cell::U16,
            (32, true) => Cell::I32,
            (32, false) => Cell::U32,
            (64, _) => Cell::B64,
            (128, _) => Cell::B128,
            _ => return None,
        },
    })
}
