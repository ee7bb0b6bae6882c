//! Types of objects, with the layout already decided.
//!
//! Expressions have a [`Scalar`] type only; an object (a variable, a heap block seen through a
//! pointer) has a [`Type`] that says where its scalars lie.

use std::fmt;
use std::sync::Arc;

palisade_base::idx! {
    /// An object type of the program.
    pub struct TypeId = "t";
}

/// Sizes that depend on the machine: `gcc -m32` or `gcc -m64` on x86.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum DataModel {
    /// 32-bit `int`, `long` and pointers.
    Ilp32,
    /// 32-bit `int`, 64-bit `long` and pointers.
    Lp64,
}

impl DataModel {
    /// Bits of a pointer, of `size_t` and of `long`.
    pub fn ptr_bits(self) -> u16 {
        match self {
            DataModel::Ilp32 => 32,
            DataModel::Lp64 => 64,
        }
    }
    /// `size_t`.
    pub fn size_t(self) -> IntTy {
        IntTy { bits: self.ptr_bits(), signed: false }
    }
    /// `ptrdiff_t`.
    pub fn ptrdiff_t(self) -> IntTy {
        IntTy { bits: self.ptr_bits(), signed: true }
    }
    /// Bytes that a `long double` occupies (its value has 80 bits).
    pub fn long_double_bytes(self) -> u64 {
        match self {
            DataModel::Ilp32 => 12,
            DataModel::Lp64 => 16,
        }
    }
}

/// A machine integer: two's complement, 1 to 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct IntTy {
    /// Width in bits.
    pub bits: u16,
    /// Whether the top bit is a sign.
    pub signed: bool,
}

impl IntTy {
    /// A truth value: 0 or 1. Comparisons and predicates have this type.
    pub const BOOL: IntTy = IntTy { bits: 1, signed: false };
    /// `int`.
    pub const I32: IntTy = IntTy { bits: 32, signed: true };

    /// The value bits as the mathematical integer, for types other than unsigned 128-bit;
    /// The name of the type in C; `None` for widths that C has no type for.
    pub fn c_name(self) -> Option<&'static str> {
        Some(match (self.bits, self.signed) {
            (8, true) => "signed char",
            (8, false) => "unsigned char",
            (16, true) => "short",
            (16, false) => "unsigned short",
            (32, true) => "int",
            (32, false) => "unsigned int",
            (64, true) => "long long",
            (64, false) => "unsigned long long",
            (128, true) => "__int128",
            (128, false) => "unsigned __int128",
            _ => return None,
        })
    }

    /// those above `i128::MAX` come out wrapped.
    pub fn decode(self, bits: u128) -> i128 {
        let bits = self.truncate(bits);
        if self.signed && self.bits < 128 && bits >> (self.bits - 1) & 1 == 1 {
            (bits | (u128::MAX << self.bits)) as i128
        } else {
            bits as i128
        }
    }
    /// The low `self.bits` bits.
    pub fn truncate(self, bits: u128) -> u128 {
        if self.bits >= 128 { bits } else { bits & ((1u128 << self.bits) - 1) }
    }
    /// The smallest value, as value bits.
    pub fn min_bits(self) -> u128 {
        if self.signed { 1u128 << (self.bits - 1) } else { 0 }
    }
    /// The largest value, as value bits.
    pub fn max_bits(self) -> u128 {
        self.truncate(if self.signed { self.min_bits().wrapping_sub(1) } else { u128::MAX })
    }
}

impl fmt::Display for IntTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.signed { 'i' } else { 'u' }, self.bits)
    }
}

/// An IEEE 754 format, or the x87 extended one for `long double`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum FloatTy {
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// `long double`: x87 80-bit.
    F80,
}

impl FloatTy {
    /// Bits of the value representation.
    pub fn bits(self) -> u16 {
        match self {
            FloatTy::F32 => 32,
            FloatTy::F64 => 64,
            FloatTy::F80 => 80,
        }
    }
}

impl fmt::Display for FloatTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.bits())
    }
}

/// The type of an expression's value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Scalar {
    /// An integer.
    Int(IntTy),
    /// A floating-point number.
    Float(FloatTy),
    /// A pointer: an object and a byte offset, or a function.
    Ptr,
}

impl Scalar {
    /// A truth value.
    pub const BOOL: Scalar = Scalar::Int(IntTy::BOOL);

    /// The integer type, if it is one.
    pub fn int(self) -> Option<IntTy> {
        match self {
            Scalar::Int(t) => Some(t),
            _ => None,
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Int(t) => t.fmt(f),
            Scalar::Float(t) => t.fmt(f),
            Scalar::Ptr => f.write_str("ptr"),
        }
    }
}

/// One member of a [`Record`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name; empty for an anonymous member.
    pub name: Arc<str>,
    /// Its type; for a bit-field the declared type.
    pub ty: TypeId,
    /// Byte offset in the record; for a bit-field that of the byte holding its first bit.
    pub offset: u64,
    /// For a bit-field: which bits, counted from the low bit of the byte at `offset`.
    pub bits: Option<BitRange>,
}

/// Bits of a bit-field, counted from the least significant bit of a byte position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct BitRange {
    /// First bit, 0 to 7.
    pub first: u16,
    /// Number of bits, at least 1.
    pub width: u16,
}

/// A struct or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Its tag with the keyword, as in `struct list`; made up where there is none.
    pub name: Arc<str>,
    /// Whether members overlap.
    pub union: bool,
    /// Members in order of declaration.
    pub fields: Vec<Field>,
    /// Size in bytes, with padding.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
}

/// The type of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// Nothing: the result of a function without one, or an incomplete pointee.
    Void,
    /// A machine integer stored in `bits / 8` bytes (rounded up to a power of two).
    Int(IntTy),
    /// A floating-point number.
    Float(FloatTy),
    /// A pointer; the pointee is a hint for people and for analyses, never relied on.
    Ptr(TypeId),
    /// `len` elements one after the other; `None` when the length is not static.
    Array(TypeId, Option<u64>),
    /// A struct or union.
    Record(Record),
    /// A function.
    Func(Signature),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// Result type, possibly [`Type::Void`].
    pub ret: TypeId,
    /// Fixed parameters. For a variadic function with a body the last one is the hidden pointer
    /// to the area of variable arguments.
    pub params: Vec<TypeId>,
    /// Whether more arguments may follow in the source.
    pub variadic: bool,
}
