//! Sizes, alignments and the placement of members: the System V ABI for i386 and x86-64 as gcc
//! implements it.
//!
//! In 32 bits `double` and `long long` are aligned to 8 bytes as variables but to 4 as members;
//! `_Alignof` says the latter, `__alignof__` the former.

use palisade_c_syntax::Symbol;
use palisade_cfa::{BitRange, DataModel, FloatTy};

use crate::types::{ArrayLen, CType, CTypeId, Field, Form, QType, TypeTable};

/// The largest object that a program may declare, in bytes; one of the data model's address space
/// would overflow offsets.
pub const MAX_OBJECT: u64 = i64::MAX as u64;

/// A member before it has a place.
#[derive(Clone, Debug)]
pub struct FieldDecl {
    /// Its name; `None` for anonymous members and unnamed bit-fields.
    pub name: Option<Symbol>,
    /// Its type.
    pub ty: QType,
    /// The alignment that a typedef gives the type (attribute `aligned`), if any.
    pub type_align: Option<u64>,
    /// The width of a bit-field.
    pub width: Option<u16>,
    /// The alignment that the member's own attributes demand (`aligned`, `_Alignas`).
    pub align: Option<u64>,
    /// Attribute `packed` on the member.
    pub packed: bool,
}

/// What the attributes of a record and `#pragma pack` say about its layout.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordAttrs {
    /// Attribute `packed`.
    pub packed: bool,
    /// Attribute `aligned`, in bytes.
    pub align: Option<u64>,
    /// The limit of `#pragma pack`, in bytes.
    pub pack: Option<u8>,
    /// Whether it is a union.
    pub union: bool,
}

/// A laid out record.
#[derive(Clone, Debug)]
pub struct RecordLayout {
    /// Members with their places, unnamed bit-fields left out.
    pub fields: Vec<Field>,
    /// Bytes, with padding.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether `aligned` was applied to it or to a member.
    pub user_align: bool,
}

impl TypeTable {
    /// Bytes of an object; `None` for incomplete types, functions and types of variable size, and
    /// where the size passes [`MAX_OBJECT`].
    pub fn size_of(&self, ty: CTypeId) -> Option<u64> {
        let mut ty = ty;
        let mut count: u64 = 1;
        loop {
            let size = match self.get(ty) {
                CType::Void | CType::Func(_) | CType::Error => return None,
                CType::Int(kind) => u64::from(kind.storage_bits(self.dm)) / 8,
                CType::BitField(int) | CType::BitInt(int) => {
                    u64::from(int.bits).div_ceil(8).next_power_of_two()
                }
                CType::Enum(id) => u64::from(self.enums[id].underlying.storage_bits(self.dm)) / 8,
                CType::Float(FloatTy::F32) => 4,
                CType::Float(FloatTy::F64) => 8,
                CType::Float(FloatTy::F80) => self.dm.long_double_bytes(),
                CType::Ptr(_) => u64::from(self.dm.ptr_bits()) / 8,
                CType::Array(elem, ArrayLen::Known(n)) => {
                    count = count.checked_mul(n)?;
                    ty = elem.ty;
                    continue;
                }
                CType::Array(..) => return None,
                CType::Record(id) if self.records[id].complete && self.records[id].variable.is_none() => {
                    self.records[id].size
                }
                CType::Record(_) => return None,
            };
            return size.checked_mul(count).filter(|&s| s <= MAX_OBJECT);
        }
    }

    /// The alignment of a variable of this type (`__alignof__`); 1 for incomplete types and
    /// functions.
    pub fn preferred_align(&self, ty: CTypeId) -> u64 {
        let mut ty = ty;
        loop {
            return match self.get(ty) {
                CType::Array(elem, _) => {
                    ty = elem.ty;
                    continue;
                }
                CType::Record(id) => self.records[id].align.max(1),
                CType::Float(FloatTy::F80) => self.long_double_align(),
                // Wide ones consist of words.
                CType::BitInt(int) if int.bits > 64 => u64::from(self.dm.ptr_bits() / 8),
                _ => self.size_of(ty).unwrap_or(1).max(1),
            };
        }
    }

    fn long_double_align(&self) -> u64 {
        match self.dm {
            DataModel::Ilp32 => 4,
            DataModel::Lp64 => 16,
        }
    }

    /// The alignment of a member of this type (`_Alignof`).
    pub fn align_of(&self, ty: CTypeId) -> u64 {
        self.member_align(ty, self.preferred_align(ty))
    }

    /// Limits an alignment as i386 does for members that are 64-bit numbers or arrays of them.
    fn member_align(&self, ty: CTypeId, align: u64) -> u64 {
        if self.dm == DataModel::Lp64 {
            return align;
        }
        let mut ty = ty;
        while let CType::Array(elem, _) = self.get(ty) {
            ty = elem.ty;
        }
        if let Form::Complex(part) = self.form(ty) {
            ty = part;
        }
        match self.get(ty) {
            CType::Int(_) | CType::BitInt(_) | CType::Enum(_) | CType::Float(FloatTy::F64) => align.min(4),
            _ => align,
        }
    }

    /// Whether `aligned` shaped this type.
    fn has_user_align(&self, ty: CTypeId) -> bool {
        let mut ty = ty;
        loop {
            match self.get(ty) {
                CType::Array(elem, _) => ty = elem.ty,
                CType::Record(id) => return self.records[id].user_align,
                _ => return false,
            }
        }
    }

    /// Places the members of a record. `None` if it becomes larger than [`MAX_OBJECT`].
    pub fn layout_record(&self, decls: &[FieldDecl], attrs: RecordAttrs) -> Option<RecordLayout> {
        let mut record_align = attrs.align.unwrap_or(1).max(1);
        let mut user_align = attrs.align.is_some();
        let pack = attrs.pack.map(u64::from).filter(|&p| p > 0);
        let mut fields = Vec::with_capacity(decls.len());
        // The end of what was placed so far, in bits; for a union the size of the largest member.
        let mut end: u64 = 0;
        for decl in decls {
            let ty = decl.ty.ty;
            let natural = decl.type_align.unwrap_or_else(|| self.preferred_align(ty));
            let type_user_align = decl.type_align.is_some() || self.has_user_align(ty);
            let packed = (attrs.packed && (decl.width.is_some() || natural > 1))
                || (decl.packed && (decl.width.is_some() || natural > 1));
            let limited = if type_user_align { natural } else { self.member_align(ty, natural) };
            let start = if attrs.union { 0 } else { end };

            let position = match decl.width {
                None => {
                    let mut align = match decl.align {
                        Some(own) if packed => own,
                        // An alignment below the type's own counts for nothing.
                        Some(own) if own >= natural => own,
                        None if packed => 1,
                        _ => limited,
                    };
                    if let Some(pack) = pack {
                        align = align.min(pack);
                    }
                    record_align = record_align.max(align);
                    user_align |= decl.align.is_some_and(|own| packed || own >= natural)
                        || (type_user_align && !packed);
                    round_up(start, align.checked_mul(8)?)?
                }
                Some(0) => {
                    // It only moves the next member; neither `packed` nor `#pragma pack` matters.
                    let align = decl.align.map_or(limited, |own| own.max(natural));
                    end = if attrs.union { end } else { round_up(start, align.checked_mul(8)?)? };
                    continue;
                }
                Some(width) => {
                    let mut position = start;
                    // The alignment of the bit-field itself is one bit unless attributes say more.
                    let own = decl.align.map(|own| pack.map_or(own, |p| own.min(p)));
                    if let Some(own) = own {
                        position = round_up(position, own.checked_mul(8)?)?;
                    }
                    if decl.name.is_some() {
                        let type_align = match pack {
                            Some(pack) => limited.min(pack),
                            None if packed => 1,
                            None => limited,
                        };
                        record_align = record_align.max(type_align).max(own.unwrap_or(1));
                        user_align |= decl.align.is_some() || type_user_align;
                    }
                    // A bit-field may not span more units of its type's alignment than its type.
                    if !packed && pack.is_none() {
                        let unit = limited.checked_mul(8)?;
                        let type_bits = self.size_of(ty)?.checked_mul(8)?;
                        if (position % unit + u64::from(width)).div_ceil(unit) > type_bits / unit {
                            position = round_up(position, unit)?;
                        }
                    }
                    position
                }
            };

            let (bits, length) = match decl.width {
                Some(width) => (Some(BitRange { first: (position % 8) as u16, width }), u64::from(width)),
                // A flexible array member takes no room.
                None => (None, self.size_of(ty).unwrap_or(0).checked_mul(8)?),
            };
            let this_end = position.checked_add(length)?;
            end = if attrs.union { end.max(this_end) } else { this_end };
            if decl.width.is_none() || decl.name.is_some() {
                fields.push(Field { name: decl.name, ty: decl.ty, offset: position / 8, bits });
            }
        }
        let size = round_up(end.div_ceil(8), record_align)?;
        (size <= MAX_OBJECT / 8).then_some(RecordLayout { fields, size, align: record_align, user_align })
    }
}

fn round_up(value: u64, to: u64) -> Option<u64> {
    value.checked_next_multiple_of(to)
}
