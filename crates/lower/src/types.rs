//! C types to object types of the automaton.

use crate::Lowerer;
use palisade_base::IdxVec;
use palisade_c_types::types::{ArrayLen, CType, CTypeId};
use palisade_cfa::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The object types made so far.
#[derive(Debug, Default)]
pub(crate) struct TypeMap {
    /// By C type.
    made: IdxVec<CTypeId, Option<TypeId>>,
    ints: FxHashMap<IntTy, TypeId>,
    /// Types that have a number but no contents yet. A list instead of recursion: records are
    /// cyclic, and chains of typedefs can be long.
    waiting: Vec<(CTypeId, TypeId)>,
}

impl Lowerer<'_> {
    /// The object type of a C type.
    pub(crate) fn type_id(&mut self, ty: CTypeId) -> TypeId {
        let id = self.reserve_type(ty);
        while let Some((ty, id)) = self.types.waiting.pop() {
            self.pool.program.types[id] = self.make_type(ty);
        }
        id
    }

    /// The type of an integer of the automaton.
    pub(crate) fn int_type(&mut self, ty: IntTy) -> TypeId {
        let types = &mut self.pool.program.types;
        *self.types.ints.entry(ty).or_insert_with(|| types.push(Type::Int(ty)))
    }

    /// The object type of a scalar.
    pub(crate) fn scalar_type(&mut self, ty: Scalar) -> TypeId {
        match ty {
            Scalar::Int(t) => self.int_type(t),
            Scalar::Float(f) => {
                let c = match f {
                    FloatTy::F32 => palisade_c_types::types::TypeTable::FLOAT,
                    FloatTy::F64 => palisade_c_types::types::TypeTable::DOUBLE,
                    FloatTy::F80 => palisade_c_types::types::TypeTable::LONG_DOUBLE,
                };
                self.type_id(c)
            }
            Scalar::Ptr => self.type_id(self.typed.types.void_ptr()),
        }
    }

    /// The scalar that a C type is, if it is one.
    pub(crate) fn scalar(&self, ty: CTypeId) -> Option<Scalar> {
        let types = &self.typed.types;
        match types.get(ty) {
            CType::Float(f) => Some(Scalar::Float(f)),
            CType::Ptr(_) => Some(Scalar::Ptr),
            _ => types.int_ty(ty).map(Scalar::Int),
        }
    }

    fn reserve_type(&mut self, ty: CTypeId) -> TypeId {
        if let Some(&Some(id)) = self.types.made.get(ty) {
            return id;
        }
        let id = match self.typed.types.int_ty(ty) {
            Some(int) => match self.enumerators(ty, int) {
                Some(enumerators) => {
                    let program = &mut self.pool.program;
                    let id = program.types.push(Type::Int(int));
                    program.enumerations.insert(id, enumerators);
                    id
                }
                None => self.int_type(int),
            },
            None => {
                let id = self.pool.program.types.push(Type::Void);
                self.types.waiting.push((ty, id));
                id
            }
        };
        self.types.made.ensure(ty, None);
        self.types.made[ty] = Some(id);
        id
    }

    /// The enumerators of an enumeration, by the bits of their values.
    fn enumerators(&mut self, ty: CTypeId, int: IntTy) -> Option<Vec<(u128, Arc<str>)>> {
        let CType::Enum(id) = self.typed.types.get(ty) else { return None };
        let all = &self.typed.types.enums[id].enumerators;
        let named = all
            .iter()
            .map(|&(name, value)| (int.truncate(value as u128), self.arc_names.get(self.names, name)));
        Some(named.collect())
    }

    fn make_type(&mut self, ty: CTypeId) -> Type {
        let table = &self.typed.types;
        match table.get(ty) {
            CType::Error | CType::Void => Type::Void,
            CType::Int(_) | CType::BitField(_) | CType::BitInt(_) | CType::Enum(_) => {
                Type::Int(table.int_ty(ty).unwrap_or(IntTy::I32))
            }
            CType::Float(f) => Type::Float(f),
            CType::Ptr(to) => Type::Ptr(self.reserve_type(to.ty)),
            CType::Array(elem, len) => {
                let elem = self.reserve_type(elem.ty);
                Type::Array(elem, if let ArrayLen::Known(n) = len { Some(n) } else { None })
            }
            CType::Func(sig) => {
                let sig = table.sig(sig).clone();
                Type::Func(Signature {
                    ret: self.reserve_type(sig.ret),
                    params: sig.params.iter().map(|&p| self.reserve_type(p)).collect(),
                    variadic: sig.variadic || !sig.prototype,
                })
            }
            CType::Record(id) => {
                let record = &table.records[id];
                if !record.complete {
                    return Type::Void;
                }
                let keyword = if record.union { "union" } else { "struct" };
                let name: Arc<str> = match record.tag {
                    Some(tag) => format!("{keyword} {}", self.names.name(tag)).into(),
                    None => format!("{keyword} .{}", id.0).into(),
                };
                // All others are reached by their offsets.
                let fixed = record.variable.as_ref().map_or(record.fields.len(), |v| v.fixed);
                let fields = record.fields[..fixed].iter().map(|f| Field {
                    name: f
                        .name
                        .map_or_else(|| self.empty_name.clone(), |n| self.arc_names.get(self.names, n)),
                    ty: TypeId(0),
                    offset: f.offset,
                    bits: f.bits,
                });
                let mut fields: Vec<Field> = fields.collect();
                for (i, field) in fields.iter_mut().enumerate() {
                    field.ty = self.reserve_type(record.fields[i].ty.ty);
                }
                Type::Record(Record {
                    name,
                    union: record.union,
                    fields,
                    size: record.size,
                    align: record.align.max(1),
                })
            }
        }
    }
}
