//! The arguments that the entry function gets.
//!
//! `main` gets what systems give to programs. Any other function gets inputs: numbers of any value, and
//! pointers that are null or lead to objects that hold inputs again.

use crate::Lowerer;
use crate::options::{Missing, Pointers};
use palisade_base::Span;
use palisade_c_types::tast::{ObjId, TExpr, TExprKind};
use palisade_c_types::types::CType;
use palisade_cfa::*;
use smallvec::SmallVec;

/// No system passes more arguments, or longer ones, to a program.
const MAX_ARGUMENTS: i128 = 1 << 20;
const MAX_ARGUMENT_BYTES: u64 = 1 << 20;

/// How many pointers in a row lead to objects.
const DEPTH: u32 = 2;
/// Numbers of an object that are inputs one by one. The contents of larger objects are chosen as a whole.
const MAX_NUMBERS: u64 = 64;
/// Names of functions that pointers to functions lead to.
const CALLBACK: &str = "palisade_callback_";

/// How much more there may be.
pub(crate) struct Room {
    /// Pointers that lead to objects.
    objects: u32,
    /// Pointers that are set.
    pointers: u32,
}

impl Default for Room {
    fn default() -> Self {
        Room { objects: 200, pointers: 4000 }
    }
}

impl Lowerer<'_> {
    /// Notes what is taken for granted about a call of an entry function that is not `main`.
    pub(crate) fn assume_about_entry(&mut self, entry: FuncId, params: &[ObjId], span: Span) {
        let types: Vec<TypeId> = params.iter().map(|&p| self.type_id(self.typed.objects[p].ty.ty)).collect();
        if types.into_iter().any(|ty| self.has_pointers(ty)) {
            let what = match self.options.pointers {
                Pointers::Any => Assumed::ArgumentsLeadNowhere,
                Pointers::Valid { null, elements } => {
                    Assumed::ArgumentsPointTo { null, elements, depth: DEPTH }
                }
            };
            self.pool.program.assume(what, entry, span);
        }
        let changes = |v: &Var| v.kind == VarKind::Global && !v.read_only && !v.name.starts_with('.');
        if self.pool.program.vars.iter().any(changes) {
            self.pool.program.assume(Assumed::GlobalsAreInitial, entry, span);
        }
    }

    /// An argument for a parameter, in a variable of the same name.
    pub(crate) fn entry_argument(&mut self, obj: ObjId, param: VarId, room: &mut Room, span: Span) -> Arg {
        let Var { ref name, ty, .. } = self.pool.program.vars[param];
        let name = name.clone();
        let var = self.temp(ty);
        self.pool.program.vars[var].name = name;
        let place = self.pool.var(var);
        if self.pool.program.scalar_of(ty).is_some() {
            match self.meant(obj) {
                Some(to) => self.fill_pointer(place, to, 0, room, span),
                None => self.fill(place, ty, true, 0, room, span),
            }
            return Arg::Scalar(self.pool.load(place));
        }
        self.emit(Op::Havoc { dst: place, input: false }, span);
        let one_by_one = self.numbers(ty) <= MAX_NUMBERS;
        self.fill(place, ty, one_by_one, 0, room, span);
        Arg::Aggregate(place)
    }

    /// The largest structure that the program takes the object behind a pointer for, where its declaration says
    /// less: who hides a type behind `void *` or behind its first members converts the pointer before it uses it.
    fn meant(&mut self, param: ObjId) -> Option<TypeId> {
        let (typed, types) = (self.typed, &self.typed.types);
        let declared = types.size_of(types.pointee(typed.objects[param].ty.ty)?.ty).unwrap_or(0);
        let is_param = |e: &TExpr| match e.kind {
            TExprKind::Convert(inner) => match typed.exprs[inner].kind {
                TExprKind::Load(place) => {
                    matches!(typed.exprs[place].kind, TExprKind::Object(obj) if obj == param)
                }
                _ => false,
            },
            _ => false,
        };
        let found = typed.exprs.iter().filter(|e| is_param(e)).filter_map(|e| types.pointee(e.ty.ty));
        let records = found.filter(|to| matches!(types.get(to.ty), CType::Record(_)));
        let sized = records.filter_map(|to| Some((types.size_of(to.ty)?, to.ty)));
        let (_, ty) = sized.filter(|(size, _)| *size > declared).max_by_key(|(size, _)| *size)?;
        Some(self.type_id(ty))
    }

    /// Gives pointers in a place something to point to, and makes its numbers inputs, if they are few. It has
    /// arbitrary contents already, so that what is left out is arbitrary.
    fn fill(&mut self, place: PlaceId, ty: TypeId, numbers: bool, depth: u32, room: &mut Room, span: Span) {
        match self.pool.program.types[ty].clone() {
            Type::Int(_) | Type::Float(_) if numbers => {
                self.emit(Op::Havoc { dst: place, input: true }, span)
            }
            Type::Ptr(to) if room.pointers > 0 => {
                room.pointers -= 1;
                self.fill_pointer(place, to, depth, room, span);
            }
            // Members of unions lie over each other.
            Type::Record(record) if !record.union && (numbers || self.has_pointers(ty)) => {
                for (i, field) in record.fields.iter().enumerate().filter(|(_, f)| f.bits.is_none()) {
                    let step = Proj::Field { record: ty, field: i as u32 };
                    let part = self.part(place, step, field.ty);
                    self.fill(part, field.ty, numbers, depth, room, span);
                }
            }
            Type::Array(elem, Some(len)) if numbers || self.has_pointers(elem) => {
                let stride = self.pool.program.size_of(elem).unwrap_or(0);
                for i in 0..len {
                    if !numbers && room.pointers == 0 {
                        break;
                    }
                    let index = self.pool.size(i);
                    let part = self.part(place, Proj::Index { index, stride }, elem);
                    self.fill(part, elem, numbers, depth, room, span);
                }
            }
            _ => {}
        }
    }

    fn part(&mut self, place: PlaceId, step: Proj, ty: TypeId) -> PlaceId {
        let mut part = self.pool.program.places[place].clone();
        part.path.push(step);
        part.ty = ty;
        self.pool.place(part)
    }

    /// A pointer that is null or leads to an object of its own.
    fn fill_pointer(&mut self, place: PlaceId, to: TypeId, depth: u32, room: &mut Room, span: Span) {
        let Pointers::Valid { null: may_be_null, elements } = self.options.pointers else {
            return self.emit(Op::Havoc { dst: place, input: false }, span);
        };
        let null = self.pool.null();
        if depth >= DEPTH || room.objects == 0 {
            return self.assign(place, null, span);
        }
        room.objects -= 1;
        if !may_be_null {
            return self.lead(place, to, elements, depth, room, span);
        }
        let leads = self.havoc(Scalar::BOOL, true, span);
        let (yes, no, after) = (self.at.graph.node(span), self.at.graph.node(span), self.at.graph.node(span));
        self.split(leads, yes, no, span);
        self.at.graph.move_to(Some(no));
        self.assign(place, null, span);
        self.at.graph.jump(after);
        self.at.graph.move_to(Some(yes));
        self.lead(place, to, elements, depth, room, span);
        self.at.graph.enter(after);
    }

    /// A pointer that leads to an object of its own, or to a function.
    fn lead(&mut self, place: PlaceId, to: TypeId, elements: u32, depth: u32, room: &mut Room, span: Span) {
        if let Type::Func(_) = self.pool.program.types[to] {
            let func = self.callback(to, span);
            let func = self.pool.push(Scalar::Ptr, ExprKind::Func(func));
            self.assign(place, func, span);
        } else {
            self.fill_object(place, to, elements, depth, room, span);
        }
    }

    /// An object of its own for a pointer.
    fn fill_object(
        &mut self,
        place: PlaceId,
        to: TypeId,
        elements: u32,
        depth: u32,
        room: &mut Room,
        span: Span,
    ) {
        // Of what is not known there is one byte; so of `void`.
        let known = self.pool.program.size_of(to).filter(|size| *size > 0);
        let count = match self.pool.program.types[to] {
            Type::Record(_) => 1,
            _ => u64::from(elements),
        };
        let stride = known.unwrap_or(1);
        let Some(size) = stride.checked_mul(count).filter(|size| *size <= 1 << 40) else { return };
        let size = self.pool.size(size);
        let leaks = [CheckKind::MemTrack, CheckKind::MemCleanup];
        // Who calls the function frees what the function does not.
        let kind = match leaks.into_iter().any(|kind| self.wants(kind)) {
            true => AllocKind::Stack,
            false => AllocKind::Heap,
        };
        let var = self.scalar_temp(Scalar::Ptr);
        let dst = self.pool.var(var);
        self.emit(Op::Alloc { dst, size, kind, zeroed: false }, span);
        let object = self.pool.load(dst);
        self.assign(place, object, span);
        if known.is_none() {
            return;
        }
        let numbers = self.numbers(to).saturating_mul(count) <= MAX_NUMBERS;
        if !numbers && !self.has_pointers(to) {
            return;
        }
        let pointer = self.pool.load(place);
        for i in 0..count {
            let mut path = SmallVec::new();
            if count > 1 {
                let index = self.pool.size(i);
                path.push(Proj::Index { index, stride });
            }
            let element = self.pool.place(Place { base: Base::Deref(pointer), path, ty: to, bits: None });
            self.fill(element, to, numbers, depth + 1, room, span);
        }
    }

    /// A function that nobody has, for pointers to functions of a type.
    fn callback(&mut self, ty: TypeId, span: Span) -> FuncId {
        let program = &mut self.pool.program;
        let made = |f: &Function| f.ty == ty && f.name.starts_with(CALLBACK);
        if let Some((id, _)) = program.funcs.iter_enumerated().find(|(_, f)| made(f)) {
            return id;
        }
        let n = program.funcs.iter().filter(|f| f.name.starts_with(CALLBACK)).count() + 1;
        let (effect, assumed) = match self.options.missing {
            Missing::Pure => (Effect::Pure, Assumed::MissingIsPure),
            Missing::Havoc | Missing::Error => (Effect::Arbitrary, Assumed::MissingHavocs),
        };
        let name = format!("{CALLBACK}{n}").into();
        let id = program.funcs.push(Function { name, ty, span, body: None, effect });
        program.assume(assumed, id, span);
        id
    }

    /// How many numbers an object of a type holds.
    fn numbers(&self, ty: TypeId) -> u64 {
        match &self.pool.program.types[ty] {
            Type::Int(_) | Type::Float(_) => 1,
            Type::Record(record) => {
                record.fields.iter().fold(0, |sum, f| self.numbers(f.ty).saturating_add(sum))
            }
            Type::Array(elem, len) => self.numbers(*elem).saturating_mul(len.unwrap_or(0)),
            Type::Void | Type::Ptr(_) | Type::Func(_) => 0,
        }
    }

    /// Whether an object of a type holds pointers.
    fn has_pointers(&self, ty: TypeId) -> bool {
        match &self.pool.program.types[ty] {
            Type::Ptr(_) => true,
            Type::Record(record) => record.fields.iter().any(|f| self.has_pointers(f.ty)),
            Type::Array(elem, _) => self.has_pointers(*elem),
            _ => false,
        }
    }

    pub(crate) fn argument_count(&mut self, span: Span) -> ExprId {
        let count = self.havoc(Scalar::Int(IntTy::I32), false, span);
        let none = self.pool.int(IntTy::I32, 0);
        let most = self.pool.int(IntTy::I32, MAX_ARGUMENTS);
        for cond in [self.pool.cmp(CmpOp::Le, none, count), self.pool.cmp(CmpOp::Le, count, most)] {
            self.emit(Op::Assume { cond }, span);
        }
        count
    }

    /// `count` strings of any lengths and contents, and a null pointer after them.
    pub(crate) fn argument_strings(&mut self, count: ExprId, span: Span) -> ExprId {
        let size_t = self.size_t();
        let pointer = self.type_id(self.typed.types.char_ptr());
        let character = self.type_id(palisade_c_types::types::TypeTable::CHAR);
        let stride = u64::from(size_t.bits / 8);
        let one = self.pool.int(IntTy::I32, 1);

        let slots = self.pool.binary(BinOp::Add, count, one);
        let slots = self.pool.convert_int(slots, size_t);
        let width = self.pool.size(stride);
        let size = self.pool.binary(BinOp::Mul, slots, width);
        let vector = self.allocate(size, span);

        let i = self.scalar_temp(Scalar::Int(IntTy::I32));
        let i_place = self.pool.var(i);
        let i = self.pool.load(i_place);
        let zero = self.pool.int(IntTy::I32, 0);
        self.assign(i_place, zero, span);
        let (head, inside, after) =
            (self.at.graph.node(span), self.at.graph.node(span), self.at.graph.node(span));
        self.at.graph.enter(head);
        let more = self.pool.cmp(CmpOp::Lt, i, count);
        self.split(more, inside, after, span);
        self.at.graph.move_to(Some(inside));
        let length = self.havoc(Scalar::Int(size_t), false, span);
        let least = self.pool.size(1);
        let most = self.pool.size(MAX_ARGUMENT_BYTES);
        for cond in [self.pool.cmp(CmpOp::Le, least, length), self.pool.cmp(CmpOp::Le, length, most)] {
            self.emit(Op::Assume { cond }, span);
        }
        let string = self.allocate(length, span);
        let last = self.pool.binary(BinOp::Sub, length, least);
        let end = self.slot(string, last, 1, character);
        let nul = self.pool.int(IntTy { bits: 8, signed: true }, 0);
        self.assign(end, nul, span);
        let slot = self.slot(vector, i, stride, pointer);
        self.assign(slot, string, span);
        let next = self.pool.binary(BinOp::Add, i, one);
        self.assign(i_place, next, span);
        self.at.graph.jump(head);
        self.at.graph.move_to(Some(after));
        let slot = self.slot(vector, count, stride, pointer);
        let null = self.pool.null();
        self.assign(slot, null, span);
        vector
    }

    fn allocate(&mut self, size: ExprId, span: Span) -> ExprId {
        let var = self.scalar_temp(Scalar::Ptr);
        let dst = self.pool.var(var);
        self.emit(Op::Alloc { dst, size, kind: AllocKind::Stack, zeroed: false }, span);
        self.pool.load(dst)
    }

    fn slot(&mut self, base: ExprId, index: ExprId, stride: u64, ty: TypeId) -> PlaceId {
        let path = SmallVec::from_elem(Proj::Index { index, stride }, 1);
        self.pool.place(Place { base: Base::Deref(base), path, ty, bits: None })
    }
}
