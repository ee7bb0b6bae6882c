//! What lowering must know about expressions before it comes to them, found in one pass over all
//! expressions of the program (operands stand before their users).

use crate::options::CheckSet;
use palisade_base::IdxVec;
use palisade_c_types::tast::*;
use palisade_c_types::types::{ArrayLen, CType};
use palisade_cfa::CheckKind;

/// What the evaluation of an expression can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Traits(u8);

impl Traits {
    /// It needs operations of its own, besides checks.
    pub(crate) const EFFECT: Traits = Traits(1);
    /// It may change memory: globals, and whatever a pointer can reach.
    pub(crate) const MEMORY: Traits = Traits(2);
    /// It may change local variables whose address is not taken.
    pub(crate) const REGISTERS: Traits = Traits(4);
    /// It may fail, or wants a check, so it must not be evaluated unless C says so.
    pub(crate) const UNSAFE: Traits = Traits(8);

    const OPERATION: Traits = Traits(1 | 2 | 8);
    const ANY: Traits = Traits(15);

    pub(crate) fn has(self, other: Traits) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn or(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }

    /// Whether it can be evaluated anywhere, with no one noticing.
    pub(crate) fn harmless(self) -> bool {
        self == Traits(0)
    }
}

/// The result of the scan.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) traits: IdxVec<TExprId, Traits>,
    /// Objects whose address is taken.
    pub(crate) taken: IdxVec<ObjId, bool>,
    /// The first expression that uses an object. Expressions are numbered in source order.
    pub(crate) used: IdxVec<ObjId, Option<TExprId>>,
    /// Functions with labels, so that declarations may be jumped over.
    pub(crate) has_labels: IdxVec<FnId, bool>,
}

impl Scan {
    pub(crate) fn new(typed: &TypedProgram, checks: CheckSet) -> Scan {
        let mut has_labels = IdxVec::filled(false, typed.funcs.len());
        for label in &typed.labels {
            has_labels[label.func] = true;
        }
        let mut scan = Scan {
            traits: IdxVec::filled(Traits::default(), typed.exprs.len()),
            taken: IdxVec::filled(false, typed.objects.len()),
            used: IdxVec::filled(None, typed.objects.len()),
            has_labels,
        };
        scan.find_taken(typed);
        for (id, expr) in typed.exprs.iter_enumerated() {
            scan.traits[id] = scan.traits_of(typed, checks, expr);
        }
        scan
    }

    /// An address is taken by `&` and by array decay, except right below a dereference or a
    /// subscript, where lowering goes back to the object.
    fn find_taken(&mut self, typed: &TypedProgram) {
        let mut undone = IdxVec::<TExprId, bool>::filled(false, typed.exprs.len());
        for (id, expr) in typed.exprs.iter_enumerated() {
            match expr.kind {
                TExprKind::Deref(ptr) => {
                    undone[ptr] = true;
                    if let TExprKind::PtrAdd { ptr: base, .. } = typed.exprs[ptr].kind {
                        undone[base] = subscript_of_array(typed, ptr).is_some();
                    }
                }
                TExprKind::Load(operand)
                | TExprKind::AddrOf(operand)
                | TExprKind::Decay(operand)
                | TExprKind::Member { base: operand, .. }
                | TExprKind::Index { base: operand, .. }
                | TExprKind::Assign { lhs: operand, .. }
                | TExprKind::CompoundAssign { lhs: operand, .. }
                | TExprKind::PtrAssign { lhs: operand, .. }
                | TExprKind::IncDec { operand, .. } => {
                    if let TExprKind::Object(obj) = typed.exprs[operand].kind {
                        self.used[obj].get_or_insert(id);
                    }
                }
                _ => {}
            }
        }
        for (id, expr) in typed.exprs.iter_enumerated() {
            if let TExprKind::AddrOf(place) | TExprKind::Decay(place) = expr.kind
                && !undone[id]
                && let Some(obj) = base_object(typed, place)
            {
                self.taken[obj] = true;
            }
        }
        for object in &typed.objects {
            if let Some(image) = &object.image {
                for item in &image.items {
                    if let ConstValue::Addr(to, _) = item.value {
                        self.taken[to] = true;
                    }
                }
            }
        }
        for (id, object) in typed.objects.iter_enumerated() {
            // Its clean-up function gets a pointer to it.
            if object.cleanup.is_some() {
                self.taken[id] = true;
            }
        }
    }

    fn traits_of(&self, typed: &TypedProgram, checks: CheckSet, expr: &TExpr) -> Traits {
        let at = |e: TExprId| self.traits[e];
        let all = |es: &[TExprId]| es.iter().fold(Traits::default(), |t, &e| t.or(at(e)));
        let signed_check = |e: TExprId, kind| {
            let signed = typed.types.int_ty(typed.exprs[e].ty.ty).is_some_and(|t| t.signed);
            if signed && checks.contains(kind) { Traits::UNSAFE } else { Traits::default() }
        };
        let literal = |e: TExprId| match typed.exprs[e].kind {
            TExprKind::Int(v) => Some(v),
            _ => None,
        };
        let store =
            |place: TExprId| at(place).or(Traits::EFFECT).or(Traits::UNSAFE).or(self.stores_to(typed, place));
        match expr.kind {
            TExprKind::Int(_)
            | TExprKind::Float(_)
            | TExprKind::FuncAddr(_)
            | TExprKind::Func(_)
            | TExprKind::LabelAddr(_) => Traits::default(),
            TExprKind::Error => Traits::ANY,
            TExprKind::Object(obj) => {
                if typed.objects[obj].vla_size.is_some() || is_of_unknown_length(typed, obj) {
                    Traits::UNSAFE
                } else {
                    Traits::default()
                }
            }
            TExprKind::Deref(ptr) => at(ptr).or(Traits::UNSAFE),
            TExprKind::Member { base, .. } => at(base),
            TExprKind::Index { base, index } => {
                let len = match typed.types.get(typed.exprs[base].ty.ty) {
                    CType::Array(_, ArrayLen::Known(n)) => n,
                    _ => 0,
                };
                let inside = literal(index).is_some_and(|i| i < u128::from(len));
                at(base).or(at(index)).or(if inside { Traits::default() } else { Traits::UNSAFE })
            }
            TExprKind::CompoundLiteral { .. } | TExprKind::StmtExpr { .. } | TExprKind::Call { .. } => {
                Traits::ANY
            }
            TExprKind::VaStart { .. }
            | TExprKind::VaArg { .. }
            | TExprKind::VaEnd { .. }
            | TExprKind::VaCopy { .. } => Traits::ANY,
            TExprKind::Parts(ref parts) => all(parts).or(Traits::EFFECT),
            TExprKind::ToUnion { operand, .. } => at(operand).or(Traits::EFFECT).or(Traits::UNSAFE),
            TExprKind::Load(e) | TExprKind::Decay(e) | TExprKind::AddrOf(e) | TExprKind::LogNot(e) => at(e),
            TExprKind::BitNot(e) => at(e),
            TExprKind::Convert(e) => {
                let from_float = typed.types.float_ty(typed.exprs[e].ty.ty).is_some();
                let to_int = typed.types.is_integer(expr.ty.ty);
                at(e).or(if from_float && to_int { Traits::UNSAFE } else { Traits::default() })
            }
            TExprKind::Neg(e) => at(e).or(signed_check(e, CheckKind::SignedOverflow)),
            TExprKind::Binary { op, lhs, rhs } => {
                let float = typed.types.float_ty(expr.ty.ty).is_some();
                let own = match op {
                    _ if float => Traits::default(),
                    ArithOp::Add | ArithOp::Sub | ArithOp::Mul => {
                        signed_check(lhs, CheckKind::SignedOverflow)
                    }
                    ArithOp::Div | ArithOp::Rem => match literal(rhs) {
                        Some(v) if v != 0 && v >> 31 == 0 => Traits::default(),
                        _ => Traits::UNSAFE,
                    },
                    ArithOp::Shl | ArithOp::Shr => {
                        let width = typed.types.int_ty(expr.ty.ty).map_or(0, |t| t.bits);
                        let fits = literal(rhs).is_some_and(|v| v < u128::from(width));
                        match op {
                            _ if !fits => Traits::UNSAFE,
                            ArithOp::Shl => signed_check(lhs, CheckKind::ShiftOverflow),
                            _ => Traits::default(),
                        }
                    }
                    ArithOp::And | ArithOp::Xor | ArithOp::Or => Traits::default(),
                };
                at(lhs).or(at(rhs)).or(own)
            }
            TExprKind::Compare { op, lhs, rhs } => {
                let pointers = matches!(typed.types.get(typed.exprs[lhs].ty.ty), CType::Ptr(_));
                let ordered = !matches!(op, CompareOp::Eq | CompareOp::Ne);
                at(lhs).or(at(rhs)).or(if pointers && ordered { Traits::UNSAFE } else { Traits::default() })
            }
            TExprKind::PtrAdd { ptr, index, .. } => at(ptr).or(at(index)),
            TExprKind::PtrDiff { lhs, rhs, .. } => at(lhs).or(at(rhs)).or(Traits::UNSAFE),
            TExprKind::Logical { lhs, rhs, .. } => at(lhs).or(at(rhs)),
            TExprKind::Cond { cond, then, otherwise } => {
                at(cond).or(then.map_or(Traits::default(), at)).or(at(otherwise))
            }
            TExprKind::Comma { lhs, rhs } => at(lhs).or(at(rhs)),
            TExprKind::Assign { lhs, rhs } => store(lhs).or(at(rhs)),
            TExprKind::CompoundAssign { lhs, rhs, .. } => store(lhs).or(at(rhs)),
            TExprKind::PtrAssign { lhs, index, .. } => store(lhs).or(at(index)),
            TExprKind::IncDec { operand, step, .. } => store(operand).or(match step {
                IncStep::Dynamic(e) => at(e),
                _ => Traits::default(),
            }),
            TExprKind::Builtin { op, ref args } => all(args).or(match op {
                Builtin::Expect
                | Builtin::Valid { .. }
                | Builtin::IsNan
                | Builtin::IsInf
                | Builtin::IsFinite
                | Builtin::FloatCompare(_)
                | Builtin::IsLessGreater
                | Builtin::IsUnordered => Traits::default(),
                _ => Traits::OPERATION,
            }),
        }
    }

    /// What a store to an lvalue changes.
    fn stores_to(&self, typed: &TypedProgram, place: TExprId) -> Traits {
        match base_object(typed, place) {
            Some(obj) if is_register(typed, self, obj) => Traits::REGISTERS,
            _ => Traits::MEMORY,
        }
    }
}

/// Whether an object is an array that others define, and declared here without its length.
pub(crate) fn is_of_unknown_length(typed: &TypedProgram, obj: ObjId) -> bool {
    let object = &typed.objects[obj];
    let array = matches!(typed.types.get(object.ty.ty), CType::Array(_, ArrayLen::Unknown));
    array && object.kind == ObjKind::Global && object.image.is_none()
}

/// Whether an object belongs to a function and nothing points to it.
pub(crate) fn is_register(typed: &TypedProgram, scan: &Scan, obj: ObjId) -> bool {
    let object = &typed.objects[obj];
    let automatic = matches!(object.kind, ObjKind::Local(_) | ObjKind::Param(_) | ObjKind::Hidden(_));
    automatic && !scan.taken[obj] && object.vla_size.is_none()
}

/// The object that an lvalue is a part of, if no pointer is followed.
pub(crate) fn base_object(typed: &TypedProgram, place: TExprId) -> Option<ObjId> {
    let mut place = place;
    loop {
        place = match typed.exprs[place].kind {
            TExprKind::Object(obj) | TExprKind::CompoundLiteral { obj, .. } => return Some(obj),
            TExprKind::Member { base, .. } | TExprKind::Index { base, .. } => base,
            TExprKind::Deref(ptr) => match typed.exprs[ptr].kind {
                TExprKind::AddrOf(inner) | TExprKind::Decay(inner) => inner,
                _ => subscript_of_array(typed, ptr)?,
            },
            _ => return None,
        }
    }
}

/// For a pointer `array + index` that steps by the array's elements: the array.
pub(crate) fn subscript_of_array(typed: &TypedProgram, ptr: TExprId) -> Option<TExprId> {
    let TExprKind::PtrAdd { ptr: base, stride, sub: false, .. } = typed.exprs[ptr].kind else { return None };
    let TExprKind::Decay(array) = typed.exprs[base].kind else { return None };
    let CType::Array(elem, _) = typed.types.get(typed.exprs[array].ty.ty) else { return None };
    (typed.types.size_of(elem.ty) == Some(stride) && typed.is_lvalue(array)).then_some(array)
}
