//! Compatible and composite types (C11 6.2.7).

use palisade_cfa::FloatTy;

use super::Checker;
use crate::types::*;

/// Comparison stops here and says yes: only absurd types nest deeper.
const MAX_DEPTH: u32 = 64;

impl Checker<'_> {
    /// Whether two types are compatible, qualifiers included.
    pub(super) fn compatible(&self, a: QType, b: QType) -> bool {
        self.compatible_at(a, b, 0)
    }

    fn compatible_at(&self, a: QType, b: QType, depth: u32) -> bool {
        a.quals == b.quals && self.compatible_types(a.ty, b.ty, depth)
    }

    /// Whether two unqualified types are compatible.
    pub(super) fn compatible_unqualified(&self, a: CTypeId, b: CTypeId) -> bool {
        self.compatible_types(a, b, 0)
    }

    fn compatible_types(&self, a: CTypeId, b: CTypeId, depth: u32) -> bool {
        if a == b || depth > MAX_DEPTH {
            return true;
        }
        let types = &self.prog.types;
        match (types.get(a), types.get(b)) {
            (CType::Error, _) | (_, CType::Error) => true,
            (CType::Enum(e), CType::Int(k)) | (CType::Int(k), CType::Enum(e)) => {
                types.enums[e].underlying == k
            }
            (CType::Ptr(a), CType::Ptr(b)) => self.compatible_at(a, b, depth + 1),
            (CType::Array(a, n), CType::Array(b, m)) => {
                let lengths = match (n, m) {
                    (ArrayLen::Known(n), ArrayLen::Known(m)) => n == m,
                    _ => true,
                };
                lengths && self.compatible_at(a, b, depth + 1)
            }
            (CType::Record(_), CType::Record(_)) => self.same_record(a, b),
            (CType::Func(a), CType::Func(b)) => self.compatible_sigs(types.sig(a), types.sig(b), depth + 1),
            _ => false,
        }
    }

    fn compatible_sigs(&self, a: &Sig, b: &Sig, depth: u32) -> bool {
        if !self.compatible_types(a.ret, b.ret, depth) {
            return false;
        }
        match (a.prototype, b.prototype) {
            (true, true) => {
                a.variadic == b.variadic
                    && a.params.len() == b.params.len()
                    && a.params.iter().zip(&b.params).all(|(&x, &y)| self.compatible_types(x, y, depth))
            }
            // An unprototyped declaration goes with any prototype whose parameters need no
            // promotion; only a definition without prototype says more, and that is not checked.
            (false, false) => true,
            (true, false) => b.is_definition() || self.needs_no_promotion(a),
            (false, true) => a.is_definition() || self.needs_no_promotion(b),
        }
    }

    fn needs_no_promotion(&self, sig: &Sig) -> bool {
        let promoted = |p: CTypeId| match self.prog.types.get(p) {
            CType::Float(FloatTy::F32) => TypeTable::DOUBLE,
            CType::Enum(_) => p,
            _ => self.promoted_type(p),
        };
        !sig.variadic && sig.params.iter().all(|&p| promoted(p) == p)
    }

    /// The composite of two compatible types: what either says.
    pub(super) fn composite(&mut self, a: CTypeId, b: CTypeId) -> CTypeId {
        self.composite_at(a, b, 0)
    }

    fn composite_at(&mut self, a: CTypeId, b: CTypeId, depth: u32) -> CTypeId {
        if a == b || depth > MAX_DEPTH {
            return a;
        }
        match (self.prog.types.get(a), self.prog.types.get(b)) {
            (CType::Error, _) => b,
            (CType::Record(x), CType::Record(_)) if !self.prog.types.records[x].complete => b,
            (CType::Array(x, n), CType::Array(y, m)) => {
                let elem = QType { ty: self.composite_at(x.ty, y.ty, depth + 1), quals: x.quals };
                let len = match (n, m) {
                    (ArrayLen::Known(_), _) => n,
                    (_, ArrayLen::Known(_)) => m,
                    (ArrayLen::Vla(_), _) => n,
                    (_, ArrayLen::Vla(_)) => m,
                    _ => n,
                };
                self.types().intern(CType::Array(elem, len))
            }
            (CType::Ptr(x), CType::Ptr(y)) => {
                let to = QType { ty: self.composite_at(x.ty, y.ty, depth + 1), quals: x.quals };
                self.types().ptr_to(to)
            }
            (CType::Func(x), CType::Func(y)) => {
                let (x, y) = (self.prog.types.sig(x).clone(), self.prog.types.sig(y).clone());
                if !x.prototype {
                    return if y.prototype { b } else { a };
                }
                if !y.prototype || x.params.len() != y.params.len() {
                    return a;
                }
                let ret = self.composite_at(x.ret, y.ret, depth + 1);
                let params = x
                    .params
                    .iter()
                    .zip(&y.params)
                    .map(|(&p, &q)| self.composite_at(p, q, depth + 1))
                    .collect();
                self.types().func(Sig { ret, params, ..x })
            }
            _ => a,
        }
    }
}
