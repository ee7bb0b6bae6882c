//! Lvalues and record values: where things are.
//!
//! Subscripts and members stay visible in the path of a place, and an array variable that is only
//! subscripted never has its address taken.

use crate::Lowerer;
use crate::lowerer::Reported;
use crate::scan::{Traits, subscript_of_array};
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_c_types::types::{CTypeId, Form};
use palisade_cfa::*;
use smallvec::SmallVec;

impl Lowerer<'_> {
    /// The place of an lvalue that is read or written, or of the contents of a record value.
    pub(crate) fn place(&mut self, e: TExprId) -> PlaceId {
        self.place_for(e, true)
    }

    /// The place of an lvalue of which only the address is wanted: it may be right behind an array.
    pub(crate) fn addressed_place(&mut self, e: TExprId) -> PlaceId {
        self.place_for(e, false)
    }

    fn place_for(&mut self, e: TExprId, access: bool) -> PlaceId {
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Object(obj) => {
                let elsewhere = !self.library.objects.contains_key(&obj);
                if elsewhere && crate::scan::is_of_unknown_length(self.typed, obj) {
                    // No access is known to be right or wrong.
                    let message = "nothing is known about this array: others define it and know its length";
                    self.warn_once(Reported::NoLength(obj), span, message);
                    self.call_effect(Effect::Unmodelled, span);
                }
                self.object_place(obj)
            }
            TExprKind::CompoundLiteral { obj, init } => {
                self.initialise(obj, init, span);
                self.object_place(obj)
            }
            TExprKind::Member { base, field } => {
                let base_ty = self.typed.exprs[base].ty.ty;
                let base = self.place_for(base, access);
                let record = self.type_id(base_ty);
                self.field_place(base, record, field)
            }
            TExprKind::Index { base: array, index } => {
                let elem = self.typed.exprs[e].ty.ty;
                let base = self.place(array);
                let place = self.element(base, elem, index, span);
                if access {
                    self.check_length(array, place, span);
                }
                place
            }
            TExprKind::Deref(ptr) => match *self.kind(ptr) {
                TExprKind::AddrOf(inner) => self.place_for(inner, access),
                TExprKind::Decay(array) if self.typed.is_lvalue(array) => {
                    let elem = self.typed.exprs[e].ty.ty;
                    let base = self.place(array);
                    let zero = self.pool.int(IntTy::I32, 0);
                    self.index_place(base, elem, zero)
                }
                TExprKind::PtrAdd { index, .. } if subscript_of_array(self.typed, ptr).is_some() => {
                    let array = subscript_of_array(self.typed, ptr).expect("just checked");
                    let elem = self.typed.exprs[e].ty.ty;
                    let base = self.place(array);
                    let place = self.element(base, elem, index, span);
                    if access {
                        self.check_length(array, place, span);
                    }
                    place
                }
                _ => {
                    let ptr = self.value(ptr);
                    let ty = self.type_id(self.typed.exprs[e].ty.ty);
                    self.pointed_to(ptr, ty)
                }
            },
            // A record value: it lives in an object of its own, which may have to have an address.
            _ => {
                let dst = self.record_temp(e);
                if let Base::Var(var) = self.pool.program.places[dst].base {
                    self.emit(Op::Enter { var }, span);
                }
                self.record(e, Some(dst))
            }
        }
    }

    fn object_place(&mut self, obj: ObjId) -> PlaceId {
        let var = self.var_of(obj);
        if self.typed.objects[obj].vla_size.is_some() {
            let ptr = self.pool.load_var(var);
            let ty = self.type_id(self.typed.objects[obj].ty.ty);
            return self.pool.place(Place { base: Base::Deref(ptr), path: SmallVec::new(), ty, bits: None });
        }
        self.pool.var(var)
    }

    fn element(&mut self, base: PlaceId, elem: CTypeId, index: TExprId, span: Span) -> PlaceId {
        let base = self.keep_place(base, self.traits(index), span);
        let index = self.value(index);
        self.index_place(base, elem, index)
    }

    /// An element of an array place.
    pub(crate) fn index_place(&mut self, base: PlaceId, elem: CTypeId, index: ExprId) -> PlaceId {
        let stride = self.typed.types.size_of(elem).unwrap_or(0);
        let ty = self.type_id(elem);
        let index = self.pool.same_integer(index);
        let mut place = self.pool.program.places[base].clone();
        place.path.push(Proj::Index { index, stride });
        place.ty = ty;
        self.pool.place(place)
    }

    /// A member of a record place.
    pub(crate) fn field_place(&mut self, base: PlaceId, record: TypeId, field: u32) -> PlaceId {
        let (ty, bits) = match &self.pool.program.types[record] {
            Type::Record(r) => (r.fields[field as usize].ty, r.fields[field as usize].bits),
            other => {
                unreachable!("the type checker admits members of complete records only, not of {other:?}")
            }
        };
        let mut place = self.pool.program.places[base].clone();
        place.path.push(Proj::Field { record, field });
        place.ty = ty;
        place.bits = bits;
        self.pool.place(place)
    }

    /// What a pointer points to, as a piece of type `ty`. A subscript stays visible in the path.
    pub(crate) fn pointed_to(&mut self, ptr: ExprId, ty: TypeId) -> PlaceId {
        let size = self.pool.program.size_of(ty);
        let (base, path) = match self.pool.program.exprs[ptr].kind {
            ExprKind::PtrAdd { ptr: base, index, stride } if Some(stride) == size => {
                (base, SmallVec::from_elem(Proj::Index { index, stride }, 1))
            }
            _ => (ptr, SmallVec::new()),
        };
        // The address of a place goes back to the place if that has the right type.
        if let (ExprKind::Addr(inner), true) = (&self.pool.program.exprs[base].kind, path.is_empty())
            && self.pool.program.places[*inner].ty == ty
        {
            return *inner;
        }
        self.pool.place(Place { base: Base::Deref(base), path, ty, bits: None })
    }

    /// A pointer to the first element of an array place.
    pub(crate) fn decay(&mut self, place: PlaceId) -> ExprId {
        let p = &self.pool.program.places[place];
        if let (Base::Deref(ptr), true) = (p.base, p.path.is_empty()) {
            return ptr;
        }
        let Type::Array(elem, _) = self.pool.program.types[p.ty] else { return self.pool.addr(place) };
        // `a[0]` instead of `a`, so that the type of what is pointed to shows.
        let stride = self.pool.program.size_of(elem).unwrap_or(0);
        let mut first = p.clone();
        let index = self.pool.int(IntTy::I32, 0);
        first.path.push(Proj::Index { index, stride });
        first.ty = elem;
        let first = self.pool.place(first);
        self.pool.addr(first)
    }

    /// The contents of a record expression: a place that holds them at the current location. If
    /// `into` is given they are (also) stored there, and it is the result.
    pub(crate) fn record(&mut self, e: TExprId, into: Option<PlaceId>) -> PlaceId {
        let span = self.span(e);
        match *self.kind(e) {
            TExprKind::Load(place) => {
                let place = self.place(place);
                self.check_read(place, span);
                self.copied(place, into, span)
            }
            TExprKind::Member { .. } | TExprKind::Index { .. } => {
                let place = self.place(e);
                self.check_read(place, span);
                self.copied(place, into, span)
            }
            TExprKind::Call { .. } => self.record_call(e, into),
            TExprKind::Assign { lhs, rhs } => {
                let place = self.assign_record(lhs, rhs, span);
                self.copied(place, into, span)
            }
            TExprKind::Comma { .. } => {
                let last = self.comma(e);
                self.record(last, into)
            }
            TExprKind::Cond { cond, then, otherwise } => {
                let dst = into.unwrap_or_else(|| self.record_temp(e));
                let (yes, no, join) = self.three_nodes(span);
                self.condition(cond, yes, no);
                for (node, branch) in [(yes, then), (no, Some(otherwise))] {
                    self.at.graph.move_to(Some(node));
                    if let Some(branch) = branch {
                        self.record(branch, Some(dst));
                    }
                    self.at.graph.jump(join);
                }
                self.at.graph.move_to(Some(join));
                dst
            }
            TExprKind::StmtExpr { body, value } => {
                let dst = into.unwrap_or_else(|| self.record_temp(e));
                self.open_block(body);
                if let Some(value) = value {
                    self.record(value, Some(dst));
                }
                self.close_block(body);
                dst
            }
            TExprKind::VaArg { list } => {
                let place = self.next_vararg(e, list);
                self.check_read(place, span);
                self.copied(place, into, span)
            }
            TExprKind::ToUnion { operand, field } => {
                // In a place of its own, because the operand may read what is assigned to.
                let made = self.record_temp(e);
                self.emit(Op::Havoc { dst: made, input: false }, span);
                let record = self.type_id(self.typed.exprs[e].ty.ty);
                let part = self.field_place(made, record, field);
                if self.scalar_of(operand).is_some() {
                    let value = self.value(operand);
                    self.assign(part, value, span);
                } else {
                    self.record(operand, Some(part));
                }
                self.copied(made, into, span)
            }
            TExprKind::Parts(ref parts) => {
                // In a place of its own, because the parts may read what is assigned to.
                let made = self.record_temp(e);
                let ty = self.typed.exprs[e].ty.ty;
                let record = self.type_id(ty);
                for (i, &part) in parts.iter().enumerate() {
                    let value = self.value(part);
                    let place = match self.typed.types.form(ty) {
                        Form::Vector(elem, _) => {
                            let array = self.field_place(made, record, 0);
                            let index = self.pool.int(IntTy::I32, i as i128);
                            self.index_place(array, elem, index)
                        }
                        _ => self.field_place(made, record, i as u32),
                    };
                    let value = self.bound(value, span);
                    self.assign(place, value, span);
                }
                self.copied(made, into, span)
            }
            _ if self.typed.is_lvalue(e) => {
                let place = self.place(e);
                self.copied(place, into, span)
            }
            // Nothing else makes a record; whatever it is, its contents are arbitrary.
            _ => {
                let dst = into.unwrap_or_else(|| self.record_temp(e));
                self.emit(Op::Havoc { dst, input: false }, span);
                dst
            }
        }
    }

    fn copied(&mut self, src: PlaceId, into: Option<PlaceId>, span: Span) -> PlaceId {
        match into {
            None => src,
            Some(dst) => {
                self.emit(Op::Copy { dst, src }, span);
                dst
            }
        }
    }

    fn record_temp(&mut self, e: TExprId) -> PlaceId {
        let ty = self.type_id(self.typed.exprs[e].ty.ty);
        let var = self.temp(ty);
        self.pool.var(var)
    }

    /// The contents of a record expression, safe from what comes next.
    pub(crate) fn record_kept(&mut self, e: TExprId, next: Traits) -> PlaceId {
        if !next.has(Traits::EFFECT) {
            return self.record(e, None);
        }
        let dst = self.record_temp(e);
        self.record(e, Some(dst))
    }
}
