//! Variables, functions and initial contents.

use crate::Lowerer;
use crate::either::Order;
use crate::scan::Traits;
use palisade_base::Span;
use palisade_c_types::tast::{self, *};
use palisade_c_types::types::{CType, CTypeId, QType, Quals};
use palisade_cfa::{self as cfa, *};
use std::sync::Arc;

/// Constant initialisers of automatic objects with more items than this are copied from a table.
const MAX_STORES: usize = 16;

impl Lowerer<'_> {
    /// The variable of an object.
    pub(crate) fn var_of(&mut self, obj: ObjId) -> VarId {
        let obj = self.library.objects.get(&obj).copied().unwrap_or(obj);
        if let Some(var) = self.vars[obj] {
            return var;
        }
        let object = &self.typed.objects[obj];
        let func = self.at.func;
        let (kind, made_up) = match object.kind {
            ObjKind::Global | ObjKind::StaticLocal(_) => (VarKind::Global, ".global"),
            ObjKind::StaticLiteral => (VarKind::Global, ".literal"),
            ObjKind::String => (VarKind::Global, ".string"),
            ObjKind::Local(_) => (VarKind::Local(func), ".local"),
            ObjKind::Param(_) => (VarKind::Param(func), ".param"),
            ObjKind::CompoundLiteral(_) => (VarKind::Temp(func), ".literal"),
            ObjKind::Hidden(_) => (VarKind::Temp(func), ".hidden"),
        };
        if kind == VarKind::Global && self.qualifiers(object.ty) & Quals::VOLATILE.0 != 0 {
            self.pool.program.assume(Assumed::VolatileIsOwn, func, object.span);
        }
        let name: Arc<str> = match object.name {
            Some(name) => self.name(name),
            None => format!("{made_up}{}", obj.0).into(),
        };
        // A variable length array is a pointer to its memory.
        let ty = match object.vla_size {
            None => self.type_id(object.ty.ty),
            Some(_) => self.array_pointer(object.ty.ty),
        };
        let var = self.pool.program.vars.push(Var {
            name,
            ty,
            kind,
            address_taken: false,
            init: Init::Unknown,
            read_only: object.read_only || object.image.is_some() && self.is_const(object.ty),
            span: object.span,
            scope: object.scope,
        });
        self.vars[obj] = Some(var);
        if object.kind == ObjKind::String {
            self.literal_vars.insert(var);
        }
        self.taken.ensure(var, false);
        self.taken[var] = self.scan.taken[obj];
        match kind {
            VarKind::Global if object.image.is_some() => {
                self.waiting_images.push((obj, var));
                if self.typed.types.record_of(object.ty.ty).is_some_and(|r| r.flexible) {
                    self.objects.insert(var, obj);
                }
            }
            VarKind::Local(_) | VarKind::Temp(_) => self.at.locals.push(var),
            _ => {}
        }
        var
    }

    /// Qualifiers of an object of this type, or of the elements of an array.
    fn qualifiers(&self, ty: QType) -> u8 {
        let mut ty = ty;
        while let CType::Array(elem, _) = self.typed.types.get(ty.ty) {
            ty = QType { ty: elem.ty, quals: Quals(ty.quals.0 | elem.quals.0) };
        }
        ty.quals.0
    }

    /// Whether a static object of this type lies where nothing can be written.
    fn is_const(&self, ty: QType) -> bool {
        self.qualifiers(ty) & (Quals::CONST.0 | Quals::VOLATILE.0) == Quals::CONST.0
    }

    /// The type of a pointer to an array's elements.
    fn array_pointer(&mut self, array: CTypeId) -> TypeId {
        match self.typed.types.get(array) {
            CType::Array(elem, _) => {
                let elem = self.type_id(elem.ty);
                self.pool.program.types.push(Type::Ptr(elem))
            }
            _ => {
                let record = self.type_id(array);
                self.pool.program.types.push(Type::Ptr(record))
            }
        }
    }

    /// Where the contents of an object end; beyond its type if a flexible array member has some.
    pub(crate) fn image_end(&self, obj: ObjId) -> u64 {
        let image = self.typed.objects[obj].image.as_ref();
        let Some(last) = image.and_then(|i| i.items.last()) else { return 0 };
        let ptr = u64::from(self.typed.types.dm.ptr_bits()) / 8;
        let size = match last.value {
            ConstValue::Bytes(ref bytes) => bytes.len() as u64,
            ConstValue::Int { size, .. } | ConstValue::LabelDiff { size, .. } => size.into(),
            ConstValue::Float(ty, _) => u64::from(ty.bits() / 8),
            _ => ptr,
        };
        last.offset + size
    }

    /// Makes the contents of all globals that are mentioned so far, and of those these mention.
    pub(crate) fn make_images(&mut self) {
        while let Some((obj, var)) = self.waiting_images.pop() {
            let Some(image) = &self.typed.objects[obj].image else { continue };
            let items = image.items.iter().map(|item| self.image_item(item)).collect();
            self.pool.program.vars[var].init = Init::Image(items);
        }
    }

    fn image_item(&mut self, item: &ImageItem) -> cfa::InitItem {
        let value = match item.value {
            ConstValue::Bytes(ref bytes) => cfa::InitValue::Bytes(bytes.clone()),
            ConstValue::Int { size, bits } => {
                let ty = IntTy { bits: u16::from(size) * 8, signed: false };
                cfa::InitValue::Int(ty, ty.truncate(bits))
            }
            ConstValue::Float(ty, bits) => cfa::InitValue::Float(ty, bits),
            ConstValue::Addr(obj, offset) => {
                let var = self.var_of(obj);
                self.pool.program.vars[var].address_taken = true;
                cfa::InitValue::Addr(var, offset)
            }
            ConstValue::Func(f) => cfa::InitValue::Func(self.func_at(f)),
            ConstValue::LabelDiff { size, a, b } => {
                let distance = self.label_number(a).wrapping_sub(self.label_number(b));
                let ty = IntTy { bits: u16::from(size) * 8, signed: false };
                cfa::InitValue::Int(ty, ty.truncate(distance as i64 as i128 as u128))
            }
            ConstValue::Label(label) => cfa::InitValue::Absolute(self.label_number(label)),
            ConstValue::Absolute(address) => cfa::InitValue::Absolute(address),
        };
        cfa::InitItem { offset: item.offset, value }
    }

    /// The number that stands for the address of a label.
    pub(crate) fn label_number(&mut self, label: LabelId) -> u64 {
        let next = self.label_numbers.len() as u64 + 1;
        *self.label_numbers.entry(label).or_insert(next)
    }

    /// The function that a call of `f` really reaches.
    pub(crate) fn real_function(&self, f: FnId) -> FnId {
        // Aliases were checked to lead to definitions, so there is no chain to follow for long.
        let mut f = f;
        for _ in 0..16 {
            match self.typed.funcs[f].alias {
                Some(other) => f = other,
                None => break,
            }
        }
        f
    }

    /// What a pointer to a function points to: where calls become operations or check their
    /// arguments, a function of the library that makes such a call.
    pub(crate) fn func_at(&mut self, f: FnId) -> FuncId {
        let f = self.real_function(f);
        match self.library.pointers.get(&f) {
            Some(&other) => self.func_of(other),
            None => self.func_of(f),
        }
    }

    /// The function of the automaton.
    pub(crate) fn func_of(&mut self, f: FnId) -> FuncId {
        let f = self.real_function(f);
        let f = self.library.instead.get(&f).copied().unwrap_or(f);
        if let Some(func) = self.funcs[f] {
            return func;
        }
        let func = &self.typed.funcs[f];
        let name = self.names.name(func.name);
        let name: Arc<str> = match name.strip_prefix('$') {
            Some(name) if self.is_library(f) => name.into(),
            Some(_) => crate::compile::plain_name(name).into(),
            None => self.name(func.name),
        };
        let effect = if func.body.is_some() { Effect::Pure } else { self.effect_of(f) };
        let mut ty = self.type_id(func.ty);
        if let (Some(body), Some(sig)) = (&func.body, self.typed.types.callable_sig(func.ty)) {
            // The definition decides, also where the declared type does not say the parameters.
            let sig = self.typed.types.sig(sig);
            let mut params: Vec<TypeId> =
                body.params.iter().map(|&p| self.type_id(self.typed.objects[p].ty.ty)).collect();
            if sig.variadic {
                params.push(self.scalar_type(Scalar::Ptr));
            }
            let ret = self.type_id(sig.ret);
            let sig = Signature { ret, params, variadic: sig.variadic };
            ty = self.pool.program.types.push(Type::Func(sig));
        }
        let missing = func.body.is_none() && !self.is_known(f);
        let id = self.pool.program.funcs.push(Function { name, ty, span: func.span, body: None, effect });
        if missing {
            let assumed = match effect {
                Effect::Arbitrary => Assumed::MissingHavocs,
                _ => Assumed::MissingIsPure,
            };
            self.pool.program.assume(assumed, id, func.span);
            let p = &self.pool.program;
            if matches!(&p.types[ty], Type::Func(sig) if p.scalar_of(sig.ret) == Some(Scalar::Ptr)) {
                self.pool.program.assume(Assumed::PointersLeadOutside, id, func.span);
            }
        }
        self.funcs[f] = Some(id);
        id
    }

    /// Runs the initialiser of an automatic object.
    pub(crate) fn initialise(&mut self, obj: ObjId, init: InitId, span: Span) {
        let plan = &self.typed.inits[init];
        let var = self.var_of(obj);
        let whole = self.pool.var(var);
        self.check_item_order(plan, span);
        let in_order = plan.items.windows(2).all(|w| ends_before(self.typed, &w[0], &w[1]));
        let constants = plan.items.iter().filter(|item| self.constant(item).is_some()).count();
        let table = in_order && constants > MAX_STORES;
        if table {
            let src = self.constant_table(obj, plan);
            self.emit(Op::Copy { dst: whole, src }, span);
        } else if plan.zero {
            self.emit(Op::Zero { dst: whole }, span);
        }
        for item in &plan.items {
            if table && self.constant(item).is_some() {
                continue;
            }
            self.store_item(obj, whole, item, plan.zero && in_order, span);
        }
    }

    /// The items of an initialiser are evaluated in any order (C11 6.7.9p23).
    fn check_item_order(&mut self, plan: &InitPlan, span: Span) {
        let effects: Vec<TExprId> = plan
            .items
            .iter()
            .filter_map(|item| match item.value {
                tast::InitValue::Expr(e) => Some(e),
                tast::InitValue::String(_) => None,
            })
            .collect();
        if effects.iter().filter(|&&e| self.traits(e).has(Traits::EFFECT)).count() == 0 || effects.len() > 64
        {
            return;
        }
        let clash = |a: TExprId, b: TExprId| self.order(a, b) != Order::Free;
        if effects.iter().enumerate().any(|(i, &a)| effects[..i].iter().any(|&b| clash(a, b))) {
            self.report(Order::Lost, span);
        }
    }

    fn store_item(&mut self, obj: ObjId, whole: PlaceId, item: &tast::InitItem, zeroed: bool, span: Span) {
        let mut part = whole;
        let mut ty = self.typed.objects[obj].ty.ty;
        for step in &item.path {
            match *step {
                InitStep::Field(field) => {
                    let record = self.type_id(ty);
                    part = self.field_place(part, record, field);
                    let Some(record) = self.typed.types.record_of(ty) else { return };
                    ty = record.fields[field as usize].ty.ty;
                }
                InitStep::Index(index) => {
                    let CType::Array(elem, _) = self.typed.types.get(ty) else { return };
                    let index_ty = if index < 1 << 31 { IntTy::I32 } else { self.size_t() };
                    let index = self.pool.int(index_ty, index.into());
                    part = self.index_place(part, elem.ty, index);
                    ty = elem.ty;
                }
            }
        }
        match item.value {
            tast::InitValue::Expr(e) if self.scalar_of(e).is_some() => {
                let span = if item.path.is_empty() { span } else { self.span(e) };
                let call = self.same_machine_value(e);
                if let (TExprKind::Call { .. }, true) = (self.kind(call), item.path.is_empty())
                    && self.pool.program.place_scalar(part) == self.scalar_of(call)
                {
                    self.call(call, crate::call::Into::Place(part, span));
                    return;
                }
                let value = self.value(e);
                if !(zeroed && self.pool.constant(value) == Some(0)) {
                    let value = self.bound(value, span);
                    self.assign(part, value, span);
                }
            }
            tast::InitValue::Expr(e) => {
                self.record(e, Some(part));
            }
            tast::InitValue::String(string) => {
                let src = self.var_of(string);
                let src = self.pool.var(src);
                let ty = self.pool.program.places[src].ty;
                let mut dst = self.pool.program.places[part].clone();
                dst.ty = ty;
                let dst = self.pool.place(dst);
                self.emit(Op::Copy { dst, src }, span);
            }
        }
    }

    /// The constant that an item stores, if it is one that fits a table.
    fn constant(&self, item: &tast::InitItem) -> Option<ConstValue> {
        let tast::InitValue::Expr(e) = item.value else { return None };
        if item.bits.is_some() {
            return None;
        }
        let size = self.typed.types.size_of(item.ty.ty)?;
        match (self.kind(e), self.scalar_of(e)?) {
            (&TExprKind::Int(bits), Scalar::Int(ty)) => {
                Some(ConstValue::Int { size: u8::try_from(size).ok()?, bits: ty.truncate(bits) })
            }
            (&TExprKind::Int(bits), Scalar::Ptr) => Some(ConstValue::Absolute(bits as u64)),
            (&TExprKind::Float(bits), Scalar::Float(ty)) => Some(ConstValue::Float(ty, bits)),
            (&TExprKind::FuncAddr(f), Scalar::Ptr) => Some(ConstValue::Func(f)),
            (&TExprKind::Decay(place) | &TExprKind::AddrOf(place), Scalar::Ptr) => match *self.kind(place) {
                TExprKind::Object(obj) if self.is_static(obj) => Some(ConstValue::Addr(obj, 0)),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_static(&self, obj: ObjId) -> bool {
        matches!(
            self.typed.objects[obj].kind,
            ObjKind::Global | ObjKind::StaticLocal(_) | ObjKind::StaticLiteral | ObjKind::String
        )
    }

    /// A read-only global with the constants of an initialiser.
    fn constant_table(&mut self, obj: ObjId, plan: &InitPlan) -> PlaceId {
        let mut items = Vec::new();
        for item in &plan.items {
            if let Some(value) = self.constant(item) {
                items.push(self.image_item(&ImageItem { offset: item.offset, value }));
            }
        }
        let ty = self.type_id(self.typed.objects[obj].ty.ty);
        let var = self.pool.program.vars.push(Var {
            init: Init::Image(items),
            read_only: true,
            ..Var::made_up(format!(".table{}", obj.0), ty, VarKind::Global)
        });
        self.pool.var(var)
    }
}

/// Whether an item ends where or before the next one begins.
fn ends_before(typed: &TypedProgram, a: &tast::InitItem, b: &tast::InitItem) -> bool {
    let size = match a.value {
        tast::InitValue::Expr(_) => typed.types.size_of(a.ty.ty),
        tast::InitValue::String(obj) => typed.types.size_of(typed.objects[obj].ty.ty),
    };
    match (a.bits, b.bits) {
        // Bit-fields of one unit share bytes.
        (Some(x), Some(y)) => {
            let first = |offset: u64, bits: BitRange| offset * 8 + u64::from(bits.first);
            first(a.offset, x) + u64::from(x.width) <= first(b.offset, y)
        }
        (Some(x), None) => a.offset + u64::from(x.first + x.width).div_ceil(8) <= b.offset,
        (None, _) => size.is_some_and(|s| a.offset + s <= b.offset),
    }
}
