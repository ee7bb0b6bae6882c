//! Exact evaluation of expressions over partial knowledge.
//!
//! Expressions and places are compiled once to straight-line code over registers, in which every
//! shared subexpression occurs once, so that evaluation needs no recursion. `None` is "any value".

use palisade_base::IdxVec;
use palisade_cfa::eval::*;
use palisade_cfa::*;
use palisade_cpa::{Constant, Object};
use smallvec::SmallVec;

/// A scalar in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    /// The object.
    pub object: Object,
    /// Its first bit, counted from the object's start.
    pub bit: i64,
    /// Its width in bits.
    pub width: u32,
}

/// Where a place lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// Exactly there (a bit offset).
    At(Object, i64),
    /// Somewhere in this object.
    Within(Object),
    /// Anywhere a pointer can point to.
    Anywhere,
}

/// What evaluation needs to know about memory.
pub trait Memory {
    /// The value of a scalar variable.
    fn variable(&self, var: VarId) -> Option<Constant>;
    /// The value of a cell, read as the given scalar.
    fn read(&self, cell: Cell, ty: Scalar) -> Option<Constant>;
    /// Bytes of an object.
    fn size(&self, object: Object) -> Option<u64>;
    /// Whether an object that a known pointer points to is alive.
    fn alive(&self, object: Object) -> Option<bool>;
    /// Whether the address of a variable names one object at a time.
    fn has_address(&self, var: VarId) -> bool;
}

type Reg = u32;

#[derive(Clone, Debug)]
struct PlaceCode {
    var: Option<VarId>,
    /// The register with the pointer, without a variable.
    pointer: Reg,
    /// Constant part of the offset, in bits.
    bits: i64,
    /// Index registers with their types and strides in bytes.
    indices: SmallVec<[(Reg, IntTy, u64); 1]>,
    width: u32,
}

#[derive(Clone, Debug)]
enum Instr {
    Const(Constant),
    Unknown,
    /// A scalar variable as a whole.
    Variable(VarId),
    Load(PlaceCode, Scalar),
    Addr(PlaceCode),
    Unary(UnOp, Scalar, Reg),
    Binary(BinOp, Scalar, Reg, IntTy, Reg),
    Cmp(CmpOp, Scalar, Reg, Reg),
    Ite(Reg, Reg, Reg),
    Convert(Scalar, Scalar, Reg),
    PtrAdd(Reg, Reg, IntTy, u64),
    PtrDiff(Reg, Reg, u64),
    Overflow(BinOp, IntTy, Reg, IntTy, Reg),
    Valid(Reg, Reg),
    Freeable(Reg),
    ObjectSize(Reg),
    ReadOnly(Reg),
}

/// What an assumption tells about memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Assumed {
    /// It cannot hold.
    Impossible,
    /// It may hold, and then these cells have these values.
    Possible(SmallVec<[(Cell, Constant); 2]>),
}

/// Compiled expressions and places of a program.
pub struct Evaluator<'p> {
    program: &'p Program,
    codes: Vec<Box<[Instr]>>,
    /// For each expression one more than its place in `codes`.
    exprs: IdxVec<ExprId, u32>,
    places: IdxVec<PlaceId, u32>,
    regs: Vec<Option<Constant>>,
}

impl<'p> Evaluator<'p> {
    /// An evaluator without compiled code yet.
    pub fn new(program: &'p Program) -> Self {
        Evaluator {
            program,
            codes: Vec::new(),
            exprs: IdxVec::filled(0, program.exprs.len()),
            places: IdxVec::filled(0, program.places.len()),
            regs: Vec::new(),
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    fn code_of(&mut self, expr: ExprId) -> usize {
        if self.exprs[expr] == 0 {
            let mut code = Vec::new();
            compile(self.program, &[expr], &mut code);
            self.codes.push(code.into());
            self.exprs[expr] = self.codes.len() as u32;
        }
        self.exprs[expr] as usize - 1
    }

    fn code_of_place(&mut self, place: PlaceId) -> usize {
        if self.places[place] == 0 {
            let mut code = Vec::new();
            let operands = place_operands(self.program, place);
            let regs = compile(self.program, &operands, &mut code);
            code.push(Instr::Addr(place_code(self.program, place, &|e| {
                regs.iter().find(|(x, _)| *x == e).map_or(0, |(_, r)| *r)
            })));
            self.codes.push(code.into());
            self.places[place] = self.codes.len() as u32;
        }
        self.places[place] as usize - 1
    }

    /// The value of an expression.
    pub fn eval(&mut self, expr: ExprId, memory: &impl Memory) -> Option<Constant> {
        let code = self.code_of(expr);
        run(self.program, &self.codes[code], &mut self.regs, memory);
        self.regs.last().copied().flatten()
    }

    /// Where a place lies.
    pub fn locate(&mut self, place: PlaceId, memory: &impl Memory) -> Where {
        let code = self.code_of_place(place);
        let code = &self.codes[code];
        run(self.program, &code[..code.len() - 1], &mut self.regs, memory);
        match &code[code.len() - 1] {
            Instr::Addr(place) => locate(place, &self.regs),
            _ => Where::Anywhere,
        }
    }

    /// What holds if a truth value is `truth`: the assume case of the transfer relation of
    /// constant propagation. Every cell with only one value left is listed.
    pub fn assume(&mut self, cond: ExprId, truth: bool, memory: &impl Memory) -> Assumed {
        let code = self.code_of(cond);
        let code = &self.codes[code];
        run(self.program, code, &mut self.regs, memory);
        solve(code, &self.regs, Constant::Bits(u128::from(truth)))
    }
}

/// The operand expressions of an expression, in order.
fn operands(program: &Program, expr: ExprId) -> SmallVec<[ExprId; 3]> {
    match program.exprs[expr].kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Func(_) => SmallVec::new(),
        ExprKind::HeapEmpty | ExprKind::HeapTracked => SmallVec::new(),
        ExprKind::Load(p) | ExprKind::Addr(p) => place_operands(program, p),
        ExprKind::Unary(_, a)
        | ExprKind::Convert(a)
        | ExprKind::Freeable(a)
        | ExprKind::ObjectSize(a)
        | ExprKind::ReadOnly(a) => SmallVec::from_slice(&[a]),
        ExprKind::Binary(_, a, b) | ExprKind::Cmp(_, a, b) | ExprKind::Overflow(_, a, b) => {
            SmallVec::from_slice(&[a, b])
        }
        ExprKind::Ite(a, b, c) | ExprKind::Overlap(a, b, c) => SmallVec::from_slice(&[a, b, c]),
        ExprKind::PtrAdd { ptr, index, .. } => SmallVec::from_slice(&[ptr, index]),
        ExprKind::PtrDiff { left, right, .. } => SmallVec::from_slice(&[left, right]),
        ExprKind::Valid { ptr, size } => SmallVec::from_slice(&[ptr, size]),
    }
}

fn place_operands(program: &Program, place: PlaceId) -> SmallVec<[ExprId; 3]> {
    let place = &program.places[place];
    let mut out = SmallVec::new();
    if let Base::Deref(e) = place.base {
        out.push(e);
    }
    out.extend(place.path.iter().filter_map(|p| match p {
        Proj::Index { index, .. } => Some(*index),
        Proj::Field { .. } => None,
    }));
    out
}

/// Appends code for expressions, operands first and each once; returns the registers of the roots.
fn compile(program: &Program, roots: &[ExprId], code: &mut Vec<Instr>) -> Vec<(ExprId, Reg)> {
    let mut regs: rustc_hash::FxHashMap<ExprId, Reg> = Default::default();
    let mut work: Vec<(ExprId, bool)> = Vec::new();
    for &root in roots {
        work.push((root, false));
        while let Some((expr, ready)) = work.pop() {
            if regs.contains_key(&expr) {
                continue;
            }
            if ready {
                let instr = instr(program, expr, &|e| regs[&e]);
                regs.insert(expr, code.len() as Reg);
                code.push(instr);
            } else {
                work.push((expr, true));
                work.extend(operands(program, expr).into_iter().rev().map(|e| (e, false)));
            }
        }
    }
    roots.iter().map(|e| (*e, regs[e])).collect()
}

fn int_of(program: &Program, expr: ExprId) -> IntTy {
    // Indices and shift distances are integers; the verifier sees to it.
    program.exprs[expr].ty.int().unwrap_or(IntTy::I32)
}

fn place_code(program: &Program, id: PlaceId, reg: &dyn Fn(ExprId) -> Reg) -> PlaceCode {
    let place = &program.places[id];
    let (var, pointer) = match place.base {
        Base::Var(v) => (Some(v), 0),
        Base::Deref(e) => (None, reg(e)),
    };
    let mut bytes = 0i64;
    let mut indices = SmallVec::new();
    for proj in &place.path {
        match *proj {
            Proj::Field { record, field } => {
                bytes = bytes.wrapping_add(program.field(record, field).offset as i64);
            }
            Proj::Index { index, stride } => indices.push((reg(index), int_of(program, index), stride)),
        }
    }
    let (first, width) = match place.bits {
        Some(b) => (i64::from(b.first), u32::from(b.width)),
        None => (0, program.size_of(place.ty).map_or(0, |s| u32::try_from(s * 8).unwrap_or(0))),
    };
    PlaceCode { var, pointer, bits: bytes.wrapping_mul(8).wrapping_add(first), indices, width }
}

fn instr(program: &Program, expr: ExprId, reg: &dyn Fn(ExprId) -> Reg) -> Instr {
    let e = &program.exprs[expr];
    let ty = |x: ExprId| program.exprs[x].ty;
    match e.kind {
        ExprKind::Int(bits) => Instr::Const(Constant::Bits(match e.ty {
            Scalar::Int(t) => t.truncate(bits),
            _ => bits,
        })),
        ExprKind::Float(bits) => Instr::Const(Constant::Bits(bits)),
        ExprKind::Func(f) => Instr::Const(Constant::Func(f)),
        ExprKind::Load(p) => {
            let place = &program.places[p];
            match place.base {
                Base::Var(v)
                    if place.path.is_empty()
                        && place.bits.is_none()
                        && program.scalar_of(program.vars[v].ty) == Some(e.ty) =>
                {
                    Instr::Variable(v)
                }
                _ => Instr::Load(place_code(program, p, reg), e.ty),
            }
        }
        ExprKind::Addr(p) => Instr::Addr(place_code(program, p, reg)),
        ExprKind::Unary(op, a) => Instr::Unary(op, e.ty, reg(a)),
        ExprKind::Binary(op, a, b) => {
            let shift = match op {
                BinOp::Shl | BinOp::Shr => int_of(program, b),
                _ => IntTy::I32,
            };
            Instr::Binary(op, e.ty, reg(a), shift, reg(b))
        }
        ExprKind::Cmp(op, a, b) => Instr::Cmp(op, ty(a), reg(a), reg(b)),
        ExprKind::Ite(c, a, b) => Instr::Ite(reg(c), reg(a), reg(b)),
        ExprKind::Convert(a) => Instr::Convert(ty(a), e.ty, reg(a)),
        ExprKind::PtrAdd { ptr, index, stride } => {
            Instr::PtrAdd(reg(ptr), reg(index), int_of(program, index), stride)
        }
        ExprKind::PtrDiff { left, right, stride } => Instr::PtrDiff(reg(left), reg(right), stride),
        ExprKind::Overflow(op, a, b) => {
            Instr::Overflow(op, int_of(program, a), reg(a), int_of(program, b), reg(b))
        }
        ExprKind::Valid { ptr, size } => Instr::Valid(reg(ptr), reg(size)),
        ExprKind::Freeable(p) => Instr::Freeable(reg(p)),
        ExprKind::ObjectSize(p) => Instr::ObjectSize(reg(p)),
        ExprKind::ReadOnly(p) => Instr::ReadOnly(reg(p)),
        ExprKind::Overlap(..) | ExprKind::HeapEmpty | ExprKind::HeapTracked => Instr::Unknown,
    }
}

fn locate(place: &PlaceCode, regs: &[Option<Constant>]) -> Where {
    let (object, start) = match place.var {
        Some(v) => (Object::Var(v), 0i64),
        None => match regs[place.pointer as usize] {
            Some(Constant::Addr(o, offset)) => (o, offset),
            _ => return Where::Anywhere,
        },
    };
    let Some(mut bit) = start.checked_mul(8).and_then(|b| b.checked_add(place.bits)) else {
        return Where::Within(object);
    };
    for &(index, ty, stride) in &place.indices {
        let step = bits(regs[index as usize])
            .and_then(|i| i64::try_from(ty.decode(i)).ok())
            .and_then(|i| i.checked_mul(i64::try_from(stride).ok()?)?.checked_mul(8));
        match step.and_then(|s| bit.checked_add(s)) {
            Some(b) => bit = b,
            None => return Where::Within(object),
        }
    }
    Where::At(object, bit)
}

fn bits(value: Option<Constant>) -> Option<u128> {
    match value {
        Some(Constant::Bits(b)) => Some(b),
        _ => None,
    }
}

fn truth(value: bool) -> Option<Constant> {
    Some(Constant::Bits(u128::from(value)))
}

fn run(program: &Program, code: &[Instr], regs: &mut Vec<Option<Constant>>, memory: &impl Memory) {
    regs.clear();
    for instr in code {
        let value = execute(program, instr, regs, memory);
        regs.push(value);
    }
}

#[inline]
fn execute(
    program: &Program,
    instr: &Instr,
    regs: &[Option<Constant>],
    memory: &impl Memory,
) -> Option<Constant> {
    let at = |r: Reg| regs[r as usize];
    match instr {
        Instr::Const(c) => Some(*c),
        Instr::Unknown => None,
        Instr::Variable(v) => memory.variable(*v),
        Instr::Load(place, ty) => match locate(place, regs) {
            Where::At(object, bit) => memory.read(Cell { object, bit, width: place.width }, *ty),
            _ => None,
        },
        Instr::Addr(place) => match locate(place, regs) {
            Where::At(Object::Var(v), _) if !memory.has_address(v) => None,
            Where::At(object, bit) if bit % 8 == 0 => Some(Constant::Addr(object, bit / 8)),
            _ => None,
        },
        Instr::Unary(op, ty, a) => eval_unary(*op, *ty, bits(at(*a))?).map(Constant::Bits),
        Instr::Binary(op, ty, a, shift, b) => binary(*op, *ty, at(*a), *shift, at(*b)),
        Instr::Cmp(op, ty, a, b) => compare(*op, *ty, at(*a)?, at(*b)?, memory).and_then(truth),
        Instr::Ite(c, a, b) => match at(*c) {
            Some(Constant::Bits(1)) => at(*a),
            Some(_) => at(*b),
            None if at(*a) == at(*b) => at(*a),
            None => None,
        },
        Instr::Convert(from, to, a) => match at(*a)? {
            Constant::Bits(b) => {
                eval_convert(*from, *to, b, program.data_model.ptr_bits()).map(Constant::Bits)
            }
            pointer if *to == Scalar::Ptr => Some(pointer),
            _ => None,
        },
        Instr::PtrAdd(p, index, ty, stride) => {
            let step = i128::from(*stride).checked_mul(ty.decode(bits(at(*index))?))?;
            match at(*p)? {
                Constant::Addr(object, offset) => {
                    Some(Constant::Addr(object, i64::try_from(step.checked_add(i128::from(offset))?).ok()?))
                }
                Constant::Bits(b) => {
                    Some(Constant::Bits(program.data_model.size_t().truncate(b.wrapping_add(step as u128))))
                }
                Constant::Func(_) => None,
            }
        }
        Instr::PtrDiff(a, b, stride) => {
            let difference = match (at(*a)?, at(*b)?) {
                (Constant::Addr(x, i), Constant::Addr(y, j)) if x == y => i128::from(i) - i128::from(j),
                (Constant::Bits(x), Constant::Bits(y)) => (x as i128).wrapping_sub(y as i128),
                _ => return None,
            };
            let ty = program.data_model.ptrdiff_t();
            // An inexact quotient is undefined.
            let exact = *stride != 0 && difference % i128::from(*stride) == 0;
            exact.then(|| Constant::Bits(ty.truncate((difference / i128::from(*stride)) as u128)))
        }
        Instr::Overflow(op, ty, a, shift, b) => {
            eval_overflow(*op, *ty, bits(at(*a))?, *shift, bits(at(*b))?).and_then(truth)
        }
        Instr::Valid(p, size) => {
            let size = bits(at(*size))?;
            match at(*p)? {
                Constant::Addr(object, offset) => {
                    let end = u128::try_from(offset).ok().and_then(|o| o.checked_add(size));
                    let inside = end.is_some_and(|e| e <= u128::from(u64::MAX));
                    match (memory.alive(object), memory.size(object)) {
                        (Some(false), _) => truth(false),
                        (Some(true), Some(total)) => {
                            truth(inside && end.is_some_and(|e| e <= u128::from(total)))
                        }
                        _ => None,
                    }
                }
                Constant::Bits(0) | Constant::Func(_) => truth(false),
                Constant::Bits(_) => None,
            }
        }
        Instr::Freeable(p) => match at(*p)? {
            Constant::Bits(0) => truth(true),
            Constant::Func(_) | Constant::Addr(Object::Var(_), _) => truth(false),
            Constant::Addr(object, 0) => memory.alive(object).and_then(truth),
            Constant::Addr(..) => truth(false),
            Constant::Bits(_) => None,
        },
        Instr::ObjectSize(p) => match at(*p)? {
            Constant::Addr(object, _) if memory.alive(object) == Some(true) => {
                memory.size(object).map(|s| Constant::Bits(u128::from(s)))
            }
            _ => None,
        },
        Instr::ReadOnly(p) => match at(*p)? {
            Constant::Addr(Object::Var(v), _) => truth(program.vars[v].read_only),
            Constant::Addr(Object::Heap(_), _) => truth(false),
            _ => None,
        },
    }
}

/// A binary operator that knows what one operand alone decides.
fn binary(op: BinOp, ty: Scalar, a: Option<Constant>, shift: IntTy, b: Option<Constant>) -> Option<Constant> {
    match (bits(a), bits(b)) {
        (Some(x), Some(y)) => eval_binary(op, ty, x, shift, y).map(Constant::Bits),
        (Some(x), None) | (None, Some(x)) => {
            let Scalar::Int(t) = ty else { return None };
            match op {
                BinOp::And | BinOp::Mul if x == 0 => Some(Constant::Bits(0)),
                BinOp::Or if x == t.truncate(u128::MAX) => Some(Constant::Bits(x)),
                _ => None,
            }
        }
        (None, None) => None,
    }
}

fn compare(op: CmpOp, ty: Scalar, a: Constant, b: Constant, memory: &impl Memory) -> Option<bool> {
    use Constant::*;
    let by_order = |o: std::cmp::Ordering| match op {
        CmpOp::Eq => o.is_eq(),
        CmpOp::Ne => o.is_ne(),
        CmpOp::Lt => o.is_lt(),
        CmpOp::Le => o.is_le(),
    };
    let unequal = match (a, b) {
        (Bits(x), Bits(y)) => return eval_cmp(op, ty, x, y),
        (Addr(x, i), Addr(y, j)) if x == y => return Some(by_order(i.cmp(&j))),
        (Func(x), Func(y)) if x == y => return Some(by_order(std::cmp::Ordering::Equal)),
        (Func(_), Func(_)) => true,
        // An address just past an object may be the start of another one.
        (Addr(x, i), Addr(y, j)) => {
            let inside = |o, at: i64| {
                memory.alive(o) == Some(true)
                    && u64::try_from(at).is_ok_and(|at| memory.size(o).is_some_and(|s| at < s))
            };
            inside(x, i) && inside(y, j)
        }
        (Addr(o, _), Func(_)) | (Func(_), Addr(o, _)) => memory.alive(o) == Some(true),
        (Addr(o, _), Bits(0)) | (Bits(0), Addr(o, _)) => memory.alive(o) == Some(true),
        (Func(_), Bits(0)) | (Bits(0), Func(_)) => true,
        _ => false,
    };
    match op {
        CmpOp::Eq if unequal => Some(false),
        CmpOp::Ne if unequal => Some(true),
        _ => None,
    }
}

/// Works backward from the value of the last register to cells with only one possible value.
fn solve(code: &[Instr], regs: &[Option<Constant>], wanted: Constant) -> Assumed {
    let mut found = SmallVec::new();
    let mut work: SmallVec<[(Reg, Constant); 4]> = SmallVec::new();
    work.push((code.len() as Reg - 1, wanted));
    while let Some((r, v)) = work.pop() {
        if let Some(known) = regs[r as usize] {
            if let (Constant::Bits(x), Constant::Bits(y)) = (known, v)
                && x != y
            {
                return Assumed::Impossible;
            }
            continue;
        }
        match step_back(&code[r as usize], regs, v, &mut work) {
            Back::Impossible => return Assumed::Impossible,
            Back::Cell(cell) => found.push((cell, v)),
            Back::Done => {}
        }
    }
    Assumed::Possible(found)
}

enum Back {
    Impossible,
    Cell(Cell),
    Done,
}

/// What must hold of the operands of an instruction whose value is `v`.
fn step_back(
    instr: &Instr,
    regs: &[Option<Constant>],
    v: Constant,
    work: &mut SmallVec<[(Reg, Constant); 4]>,
) -> Back {
    let known = |r: Reg| bits(regs[r as usize]);
    match (instr, v) {
        (Instr::Variable(var), _) => return Back::Cell(Cell { object: Object::Var(*var), bit: 0, width: 0 }),
        (Instr::Load(place, _), _) => {
            if let Where::At(object, bit) = locate(place, regs) {
                return Back::Cell(Cell { object, bit, width: place.width });
            }
        }
        (Instr::Unary(op, ty @ Scalar::Int(_), a), Constant::Bits(b)) => {
            // Both operators undo themselves.
            work.extend(eval_unary(*op, *ty, b).map(|x| (*a, Constant::Bits(x))));
        }
        (Instr::Convert(Scalar::Int(f), Scalar::Int(t), a), Constant::Bits(b)) if t.bits >= f.bits => {
            let inner = f.truncate(b);
            if eval_convert(Scalar::Int(*f), Scalar::Int(*t), inner, 64) != Some(b) {
                return Back::Impossible;
            }
            work.push((*a, Constant::Bits(inner)));
        }
        (Instr::Convert(Scalar::Ptr, Scalar::Ptr, a), _) => work.push((*a, v)),
        (Instr::Binary(op, Scalar::Int(t), a, _, b), Constant::Bits(r)) => {
            let put = |work: &mut SmallVec<_>, reg: Reg, x: u128| {
                work.push((reg, Constant::Bits(t.truncate(x))));
            };
            match (op, known(*a), known(*b)) {
                (BinOp::Add, Some(x), _) => put(work, *b, r.wrapping_sub(x)),
                (BinOp::Add, _, Some(y)) => put(work, *a, r.wrapping_sub(y)),
                (BinOp::Sub, Some(x), _) => put(work, *b, x.wrapping_sub(r)),
                (BinOp::Sub, _, Some(y)) => put(work, *a, r.wrapping_add(y)),
                (BinOp::Xor, Some(x), _) => put(work, *b, r ^ x),
                (BinOp::Xor, _, Some(y)) => put(work, *a, r ^ y),
                (BinOp::And, ..) if r == t.truncate(u128::MAX) => {
                    put(work, *a, r);
                    put(work, *b, r);
                }
                (BinOp::Or, ..) if r == 0 => {
                    put(work, *a, 0);
                    put(work, *b, 0);
                }
                (BinOp::And, Some(1), _) if *t == IntTy::BOOL => put(work, *b, r),
                (BinOp::And, _, Some(1)) if *t == IntTy::BOOL => put(work, *a, r),
                (BinOp::Or, Some(0), _) => put(work, *b, r),
                (BinOp::Or, _, Some(0)) => put(work, *a, r),
                _ => {}
            }
        }
        (Instr::Cmp(op, ty, a, b), Constant::Bits(truth)) => {
            return compare_back(
                *op,
                *ty,
                (*a, regs[*a as usize]),
                (*b, regs[*b as usize]),
                truth == 1,
                work,
            );
        }
        (Instr::Ite(c, a, b), Constant::Bits(r)) => {
            if let (Some(x), Some(y)) = (known(*a), known(*b))
                && x != y
            {
                if r == x || r == y {
                    work.push((*c, Constant::Bits(u128::from(r == x))));
                } else {
                    return Back::Impossible;
                }
            }
        }
        _ => {}
    }
    Back::Done
}

type Operand = (Reg, Option<Constant>);

fn compare_back(
    op: CmpOp,
    ty: Scalar,
    a: Operand,
    b: Operand,
    truth: bool,
    work: &mut SmallVec<[(Reg, Constant); 4]>,
) -> Back {
    // -0.0 == 0.0, so equality of floating-point numbers does not give the value.
    if matches!(ty, Scalar::Float(_)) {
        return Back::Done;
    }
    match (op, truth) {
        (CmpOp::Eq, true) | (CmpOp::Ne, false) => match (a, b) {
            ((_, Some(x)), (r, None)) | ((r, None), (_, Some(x))) => work.push((r, x)),
            _ => {}
        },
        (CmpOp::Eq, false) | (CmpOp::Ne, true) => match (a, b) {
            ((_, Some(Constant::Bits(x))), (r, None)) | ((r, None), (_, Some(Constant::Bits(x))))
                if ty == Scalar::BOOL =>
            {
                work.push((r, Constant::Bits(x ^ 1)));
            }
            _ => {}
        },
        (CmpOp::Lt, true) => return less(ty, a, b, true, work),
        (CmpOp::Le, true) => return less(ty, a, b, false, work),
        (CmpOp::Lt, false) => return less(ty, b, a, false, work),
        (CmpOp::Le, false) => return less(ty, b, a, true, work),
    }
    Back::Done
}

/// `a < b` or `a <= b` where one side is at the end of the type.
fn less(ty: Scalar, a: Operand, b: Operand, strict: bool, work: &mut SmallVec<[(Reg, Constant); 4]>) -> Back {
    let Scalar::Int(t) = ty else { return Back::Done };
    let (min, max) = (t.min_bits(), t.max_bits());
    match (a, b) {
        ((r, None), (_, Some(Constant::Bits(y)))) => {
            if strict && y == min {
                return Back::Impossible;
            }
            if y == if strict { t.truncate(min.wrapping_add(1)) } else { min } {
                work.push((r, Constant::Bits(min)));
            }
        }
        ((_, Some(Constant::Bits(x))), (r, None)) => {
            if strict && x == max {
                return Back::Impossible;
            }
            if x == if strict { t.truncate(max.wrapping_sub(1)) } else { max } {
                work.push((r, Constant::Bits(max)));
            }
        }
        _ => {}
    }
    Back::Done
}
