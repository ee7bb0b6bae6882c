//! C types, interned: equal types have equal ids.
//!
//! A [`CTypeId`] names an unqualified type; a [`QType`] adds qualifiers. Records and enumerations
//! are nominal: each definition has its own entry, which is filled in when the type is completed,
//! so that an id stays valid from the first mention of a tag on.

use palisade_base::{IdxVec, Span};
use palisade_c_syntax::{Interner, Symbol};
use palisade_cfa::{BitRange, DataModel, FloatTy, IntTy};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

use crate::tast::{ObjId, TExprId};

palisade_base::idx! {
    /// An unqualified type.
    pub struct CTypeId = "ct";
    /// A `struct` or `union`.
    pub struct RecordTyId = "rec";
    /// An enumeration.
    pub struct EnumTyId = "en";
    /// The type of a function.
    pub struct SigId = "sig";
    /// The length of one variable length array type.
    pub struct VlaId = "vla";
}

/// A set of type qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Quals(pub u8);

impl Quals {
    /// No qualifier.
    pub const NONE: Quals = Quals(0);
    /// `const`
    pub const CONST: Quals = Quals(1);
    /// `volatile`
    pub const VOLATILE: Quals = Quals(2);
    /// `restrict`
    pub const RESTRICT: Quals = Quals(4);
    /// `_Atomic`
    pub const ATOMIC: Quals = Quals(8);

    /// Whether every qualifier of `other` is in `self`.
    pub fn contains(self, other: Quals) -> bool {
        self.0 & other.0 == other.0
    }
    /// The qualifiers of both.
    pub fn union(self, other: Quals) -> Quals {
        Quals(self.0 | other.0)
    }
    /// Whether `const` is there.
    pub fn is_const(self) -> bool {
        self.contains(Quals::CONST)
    }
}

/// A type with its qualifiers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct QType {
    /// The type.
    pub ty: CTypeId,
    /// Its qualifiers.
    pub quals: Quals,
}

impl From<CTypeId> for QType {
    fn from(ty: CTypeId) -> QType {
        QType { ty, quals: Quals::NONE }
    }
}

impl QType {
    /// The same type with more qualifiers.
    pub fn with(self, quals: Quals) -> QType {
        QType { ty: self.ty, quals: self.quals.union(quals) }
    }
}

/// The integer types with keywords.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // each name is the type it names
pub enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

impl IntKind {
    /// All of them, in the order of their declaration.
    pub const ALL: [IntKind; 14] = [
        IntKind::Bool,
        IntKind::Char,
        IntKind::SChar,
        IntKind::UChar,
        IntKind::Short,
        IntKind::UShort,
        IntKind::Int,
        IntKind::UInt,
        IntKind::Long,
        IntKind::ULong,
        IntKind::LongLong,
        IntKind::ULongLong,
        IntKind::Int128,
        IntKind::UInt128,
    ];

    /// Whether values have a sign; plain `char` is signed on x86.
    pub fn signed(self) -> bool {
        use IntKind::*;
        matches!(self, Char | SChar | Short | Int | Long | LongLong | Int128)
    }
    /// Bits of storage: 8 for `_Bool`, whose value has one bit.
    pub fn storage_bits(self, dm: DataModel) -> u16 {
        use IntKind::*;
        match self {
            Bool | Char | SChar | UChar => 8,
            Short | UShort => 16,
            Int | UInt => 32,
            Long | ULong => dm.ptr_bits(),
            LongLong | ULongLong => 64,
            Int128 | UInt128 => 128,
        }
    }
    /// Width and signedness of the value; `_Bool` is one unsigned bit.
    pub fn int_ty(self, dm: DataModel) -> IntTy {
        if self == IntKind::Bool {
            return IntTy::BOOL;
        }
        IntTy { bits: self.storage_bits(dm), signed: self.signed() }
    }
    /// Conversion rank (C11 6.3.1.1).
    pub fn rank(self) -> u8 {
        use IntKind::*;
        match self {
            Bool => 0,
            Char | SChar | UChar => 1,
            Short | UShort => 2,
            Int | UInt => 3,
            Long | ULong => 4,
            LongLong | ULongLong => 5,
            Int128 | UInt128 => 6,
        }
    }
    /// The unsigned type of the same rank.
    pub fn to_unsigned(self) -> IntKind {
        use IntKind::*;
        match self {
            Char | SChar => UChar,
            Short => UShort,
            Int => UInt,
            Long => ULong,
            LongLong => ULongLong,
            Int128 => UInt128,
            other => other,
        }
    }
    /// How it is written.
    pub fn name(self) -> &'static str {
        use IntKind::*;
        match self {
            Bool => "_Bool",
            Char => "char",
            SChar => "signed char",
            UChar => "unsigned char",
            Short => "short",
            UShort => "unsigned short",
            Int => "int",
            UInt => "unsigned int",
            Long => "long",
            ULong => "unsigned long",
            LongLong => "long long",
            ULongLong => "unsigned long long",
            Int128 => "__int128",
            UInt128 => "unsigned __int128",
        }
    }
}

/// Floating-point formats that the automaton does not know: a number is the record of its bits,
/// and the functions of the compiler's run-time library compute with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SoftFloat {
    /// `_Float16`: IEEE 754 binary16.
    Half,
    /// `__bf16`: the upper half of a `float`.
    Brain,
    /// `__float128` and `_Float128`: IEEE 754 binary128.
    Quad,
    /// `_Decimal32`
    Decimal32,
    /// `_Decimal64`
    Decimal64,
    /// `_Decimal128`
    Decimal128,
}

impl SoftFloat {
    /// How it is written.
    pub fn name(self) -> &'static str {
        match self {
            SoftFloat::Half => "_Float16",
            SoftFloat::Brain => "__bf16",
            SoftFloat::Quad => "_Float128",
            SoftFloat::Decimal32 => "_Decimal32",
            SoftFloat::Decimal64 => "_Decimal64",
            SoftFloat::Decimal128 => "_Decimal128",
        }
    }
    /// Whether it has radix 10.
    pub fn is_decimal(self) -> bool {
        matches!(self, SoftFloat::Decimal32 | SoftFloat::Decimal64 | SoftFloat::Decimal128)
    }
    /// The integer type that holds its bits.
    pub fn carrier(self) -> IntKind {
        match self {
            SoftFloat::Half | SoftFloat::Brain => IntKind::UShort,
            SoftFloat::Decimal32 => IntKind::UInt,
            SoftFloat::Decimal64 => IntKind::ULongLong,
            SoftFloat::Quad | SoftFloat::Decimal128 => IntKind::UInt128,
        }
    }
}

/// What a record stands for. Numbers that are no scalars of the automaton lie in memory, are
/// copied, passed and returned as records; only operators and conversions know better.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// A `struct` or `union`.
    Plain,
    /// `_Complex`: two members of this type, the real and the imaginary part.
    Complex(CTypeId),
    /// A vector: one member, an array of this many elements.
    Vector(CTypeId, u32),
    /// A floating-point number: one member, an unsigned integer.
    Soft(SoftFloat),
}

/// How many elements an array has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArrayLen {
    /// This many; zero is a GNU zero-length array.
    Known(u64),
    /// Not said: an incomplete array or a flexible array member.
    Unknown,
    /// A number that is computed when the declaration is reached.
    Vla(VlaId),
    /// `[*]` in a prototype.
    Star,
}

/// An unqualified type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CType {
    /// The type of something that was in error; compatible with everything.
    Error,
    /// `void`
    Void,
    /// An integer type other than an enumeration.
    Int(IntKind),
    /// The type of a bit-field whose width is not that of its declared type.
    BitField(IntTy),
    /// `_BitInt(N)` (C23 6.2.5): as wide as it says, and never promoted.
    BitInt(IntTy),
    /// `float`, `double` or `long double`.
    Float(FloatTy),
    /// A pointer to a type.
    Ptr(QType),
    /// An array of a type. Qualifiers of an array are those of its elements.
    Array(QType, ArrayLen),
    /// A function.
    Func(SigId),
    /// A `struct` or `union`.
    Record(RecordTyId),
    /// An enumeration.
    Enum(EnumTyId),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Sig {
    /// What it returns.
    pub ret: CTypeId,
    /// Its parameters, adjusted (arrays and functions are pointers) and without qualifiers.
    pub params: Box<[CTypeId]>,
    /// Whether `...` follows.
    pub variadic: bool,
    /// Whether the parameters are known; not so for `f()`, and for K&R definitions, whose
    /// `params` are those of the definition but do not convert arguments.
    pub prototype: bool,
}

impl Sig {
    /// Whether it is the type of a K&R definition, which has parameters but no prototype.
    pub fn is_definition(&self) -> bool {
        !self.prototype && !self.params.is_empty()
    }
}

/// A member of a record. Unnamed bit-fields are no members.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; `None` for an anonymous `struct` or `union`.
    pub name: Option<Symbol>,
    /// Its declared type.
    pub ty: QType,
    /// Byte offset; for a bit-field that of the byte that holds its first bit.
    pub offset: u64,
    /// For a bit-field: its bits, counted from the low bit of the byte at `offset`.
    pub bits: Option<BitRange>,
}

/// A `struct` or `union`.
#[derive(Clone, Debug)]
pub struct RecordType {
    /// What it stands for.
    pub form: Form,
    /// The tag.
    pub tag: Option<Symbol>,
    /// Whether it is a union.
    pub union: bool,
    /// Whether its members are known.
    pub complete: bool,
    /// Its members in order.
    pub fields: Vec<Field>,
    /// Bytes, with padding; 0 while incomplete.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether `aligned` was applied to it or to a member.
    pub user_align: bool,
    /// Whether its last member is a flexible array, or a record that ends in one.
    pub flexible: bool,
    /// `transparent_union`
    pub transparent: bool,
    /// Whether some member, at any depth, is `const`.
    pub const_member: bool,
    /// Where members lie if some have a variable size.
    pub variable: Option<VariableLayout>,
    /// Where it is defined, or else first mentioned.
    pub span: Span,
}

/// The layout of a record with members of variable size, as far as it is computed when the definition is reached.
/// The record's own `size` and `fields` say what it would be if these members had no bytes.
#[derive(Clone, Debug)]
pub struct VariableLayout {
    /// So many of the first members are like those of any record; all others are reached by their offsets.
    pub fixed: usize,
    /// The hidden variable that holds the size.
    pub size: ObjId,
    /// For each member the hidden variable that holds its offset, where that is not constant.
    pub offsets: Vec<Option<ObjId>>,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct EnumType {
    /// The tag.
    pub tag: Option<Symbol>,
    /// Whether its enumerators are known.
    pub complete: bool,
    /// The integer type that represents it.
    pub underlying: IntKind,
    /// Its enumerators with their values, in order.
    pub enumerators: Vec<(Symbol, i128)>,
    /// Where it is defined, or else first mentioned.
    pub span: Span,
}

/// The length of a variable length array type.
#[derive(Clone, Copy, Debug)]
pub struct Vla {
    /// The hidden variable of type `size_t` that holds the number of elements once the
    /// declaration was reached.
    pub len: ObjId,
    /// The number of elements, converted to `size_t`.
    pub expr: TExprId,
}

/// All types of a program.
#[derive(Clone, Debug)]
pub struct TypeTable {
    /// Sizes of pointers and `long`.
    pub dm: DataModel,
    types: IdxVec<CTypeId, CType>,
    interned: FxHashMap<CType, CTypeId>,
    sigs: IdxVec<SigId, Sig>,
    interned_sigs: FxHashMap<Sig, SigId>,
    forms: FxHashMap<Form, CTypeId>,
    /// All records.
    pub records: IdxVec<RecordTyId, RecordType>,
    /// All enumerations.
    pub enums: IdxVec<EnumTyId, EnumType>,
    /// The lengths of all variable length array types.
    pub vlas: IdxVec<VlaId, Vla>,
    va_list: CTypeId,
    char_ptr: CTypeId,
    void_ptr: CTypeId,
}

impl TypeTable {
    /// The type of things in error.
    pub const ERROR: CTypeId = CTypeId(0);
    /// `void`
    pub const VOID: CTypeId = CTypeId(1);
    /// `int`
    pub const INT: CTypeId = Self::int_id(IntKind::Int);
    /// `unsigned int`
    pub const UINT: CTypeId = Self::int_id(IntKind::UInt);
    /// `char`
    pub const CHAR: CTypeId = Self::int_id(IntKind::Char);
    /// `_Bool`
    pub const BOOL: CTypeId = Self::int_id(IntKind::Bool);
    /// `float`
    pub const FLOAT: CTypeId = CTypeId(16);
    /// `double`
    pub const DOUBLE: CTypeId = CTypeId(17);
    /// `long double`
    pub const LONG_DOUBLE: CTypeId = CTypeId(18);

    /// The id of an integer type.
    pub const fn int_id(kind: IntKind) -> CTypeId {
        CTypeId(2 + kind as u32)
    }

    /// A table with the basic types.
    pub fn new(dm: DataModel) -> Self {
        let mut this = TypeTable {
            dm,
            types: IdxVec::new(),
            interned: FxHashMap::default(),
            sigs: IdxVec::new(),
            interned_sigs: FxHashMap::default(),
            forms: FxHashMap::default(),
            records: IdxVec::new(),
            enums: IdxVec::new(),
            vlas: IdxVec::new(),
            va_list: Self::ERROR,
            char_ptr: Self::ERROR,
            void_ptr: Self::ERROR,
        };
        this.intern(CType::Error);
        this.intern(CType::Void);
        for kind in IntKind::ALL {
            this.intern(CType::Int(kind));
        }
        for float in [FloatTy::F32, FloatTy::F64, FloatTy::F80] {
            this.intern(CType::Float(float));
        }
        this.char_ptr = this.ptr_to(Self::CHAR.into());
        this.void_ptr = this.ptr_to(Self::VOID.into());
        this
    }

    /// The id of a type.
    pub fn intern(&mut self, ty: CType) -> CTypeId {
        let types = &mut self.types;
        *self.interned.entry(ty).or_insert_with(|| types.push(ty))
    }
    /// The id of a function type.
    pub fn func(&mut self, sig: Sig) -> CTypeId {
        let id = match self.interned_sigs.get(&sig) {
            Some(&id) => id,
            None => {
                let id = self.sigs.push(sig.clone());
                self.interned_sigs.insert(sig, id);
                id
            }
        };
        self.intern(CType::Func(id))
    }
    /// A pointer type.
    pub fn ptr_to(&mut self, pointee: QType) -> CTypeId {
        self.intern(CType::Ptr(pointee))
    }
    /// `char *`
    pub fn char_ptr(&self) -> CTypeId {
        self.char_ptr
    }
    /// `void *`
    pub fn void_ptr(&self) -> CTypeId {
        self.void_ptr
    }
    /// `size_t`
    pub fn size_t(&self) -> CTypeId {
        Self::int_id(match self.dm {
            DataModel::Ilp32 => IntKind::UInt,
            DataModel::Lp64 => IntKind::ULong,
        })
    }
    /// `ptrdiff_t`
    pub fn ptrdiff_t(&self) -> CTypeId {
        Self::int_id(match self.dm {
            DataModel::Ilp32 => IntKind::Int,
            DataModel::Lp64 => IntKind::Long,
        })
    }
    /// `wchar_t`
    pub fn wchar_t(&self) -> CTypeId {
        Self::int_id(match self.dm {
            DataModel::Ilp32 => IntKind::Long,
            DataModel::Lp64 => IntKind::Int,
        })
    }

    /// `__builtin_va_list`: `char *` in 32 bits, an array of one 24-byte record in 64 bits.
    /// `names` are the names of that record and its members.
    pub fn va_list(&mut self, names: [Symbol; 5]) -> CTypeId {
        if self.va_list != Self::ERROR {
            return self.va_list;
        }
        self.va_list = match self.dm {
            DataModel::Ilp32 => self.char_ptr,
            DataModel::Lp64 => {
                let field =
                    |name, ty: CTypeId, offset| Field { name: Some(name), ty: ty.into(), offset, bits: None };
                let record = self.records.push(RecordType {
                    form: Form::Plain,
                    tag: Some(names[0]),
                    union: false,
                    complete: true,
                    fields: vec![
                        field(names[1], Self::UINT, 0),
                        field(names[2], Self::UINT, 4),
                        field(names[3], self.void_ptr, 8),
                        field(names[4], self.void_ptr, 16),
                    ],
                    size: 24,
                    align: 8,
                    user_align: false,
                    flexible: false,
                    transparent: false,
                    const_member: false,
                    variable: None,
                    span: Span::NONE,
                });
                let tag = self.intern(CType::Record(record));
                self.intern(CType::Array(tag.into(), ArrayLen::Known(1)))
            }
        };
        self.va_list
    }

    /// The type of a form other than [`Form::Plain`].
    pub fn of_form(&mut self, form: Form) -> CTypeId {
        if let Some(&ty) = self.forms.get(&form) {
            return ty;
        }
        let field = |ty: CTypeId, offset| Field { name: None, ty: ty.into(), offset, bits: None };
        let (fields, align) = match form {
            Form::Plain => (Vec::new(), 1),
            Form::Complex(part) => {
                let size = self.size_of(part).unwrap_or(0);
                (vec![field(part, 0), field(part, size)], self.preferred_align(part))
            }
            Form::Vector(elem, count) => {
                let array = self.intern(CType::Array(elem.into(), ArrayLen::Known(count.into())));
                (vec![field(array, 0)], self.size_of(array).unwrap_or(1))
            }
            Form::Soft(float) => {
                let carrier = Self::int_id(float.carrier());
                (vec![field(carrier, 0)], self.size_of(carrier).unwrap_or(1))
            }
        };
        let size = fields.iter().map(|f| self.size_of(f.ty.ty).unwrap_or(0)).sum();
        let record = self.records.push(RecordType {
            form,
            tag: None,
            union: false,
            complete: true,
            fields,
            size,
            align,
            user_align: false,
            flexible: false,
            transparent: false,
            const_member: false,
            variable: None,
            span: Span::NONE,
        });
        let ty = self.intern(CType::Record(record));
        self.forms.insert(form, ty);
        ty
    }

    /// What a type stands for; [`Form::Plain`] for all types that are no records.
    pub fn form(&self, ty: CTypeId) -> Form {
        self.record_of(ty).map_or(Form::Plain, |r| r.form)
    }

    /// What an id stands for.
    pub fn get(&self, ty: CTypeId) -> CType {
        self.types[ty]
    }
    /// The parts of a function type.
    pub fn sig(&self, id: SigId) -> &Sig {
        &self.sigs[id]
    }
    /// The record a type is.
    pub fn record_of(&self, ty: CTypeId) -> Option<&RecordType> {
        match self.get(ty) {
            CType::Record(id) => Some(&self.records[id]),
            _ => None,
        }
    }
    /// What a pointer type points to.
    pub fn pointee(&self, ty: CTypeId) -> Option<QType> {
        match self.get(ty) {
            CType::Ptr(to) => Some(to),
            _ => None,
        }
    }
    /// The function a type is, or points to.
    pub fn callable_sig(&self, ty: CTypeId) -> Option<SigId> {
        match self.get(ty) {
            CType::Func(sig) => Some(sig),
            CType::Ptr(to) => match self.get(to.ty) {
                CType::Func(sig) => Some(sig),
                _ => None,
            },
            _ => None,
        }
    }
    /// Width and signedness of a type whose values are integers; an enumeration counts as the
    /// type that represents it.
    pub fn int_ty(&self, ty: CTypeId) -> Option<IntTy> {
        match self.get(ty) {
            CType::Int(kind) => Some(kind.int_ty(self.dm)),
            CType::BitField(int) | CType::BitInt(int) => Some(int),
            CType::Enum(id) => Some(self.enums[id].underlying.int_ty(self.dm)),
            _ => None,
        }
    }
    /// The format of a floating type.
    pub fn float_ty(&self, ty: CTypeId) -> Option<FloatTy> {
        match self.get(ty) {
            CType::Float(float) => Some(float),
            _ => None,
        }
    }
    /// Whether values are integers.
    pub fn is_integer(&self, ty: CTypeId) -> bool {
        matches!(self.get(ty), CType::Int(_) | CType::BitField(_) | CType::BitInt(_) | CType::Enum(_))
    }
    /// Whether values are integers or floating-point numbers.
    pub fn is_arithmetic(&self, ty: CTypeId) -> bool {
        self.is_integer(ty) || matches!(self.get(ty), CType::Float(_))
    }
    /// Whether values are numbers or pointers.
    pub fn is_scalar(&self, ty: CTypeId) -> bool {
        self.is_arithmetic(ty) || matches!(self.get(ty), CType::Ptr(_))
    }
    /// Whether it is a `struct` or `union`, or a number that is laid out as one.
    pub fn is_record(&self, ty: CTypeId) -> bool {
        matches!(self.get(ty), CType::Record(_))
    }

    /// Whether objects of this type have a size (that may have to be computed).
    pub fn is_complete(&self, ty: CTypeId) -> bool {
        match self.get(ty) {
            CType::Void | CType::Func(_) => false,
            CType::Array(elem, len) => {
                !matches!(len, ArrayLen::Unknown | ArrayLen::Star) && self.is_complete(elem.ty)
            }
            CType::Record(id) => self.records[id].complete,
            CType::Enum(id) => self.enums[id].complete,
            _ => true,
        }
    }
    /// Whether the size depends on values at run time.
    pub fn is_variably_sized(&self, ty: CTypeId) -> bool {
        let mut ty = ty;
        loop {
            match self.get(ty) {
                CType::Array(_, ArrayLen::Vla(_)) => return true,
                CType::Array(elem, _) => ty = elem.ty,
                CType::Record(id) => return self.records[id].variable.is_some(),
                _ => return false,
            }
        }
    }

    /// The type as C writes it, for messages.
    pub fn display(&self, ty: QType, names: &Interner) -> String {
        let mut inner = String::new();
        let mut ty = ty;
        // Declarators nest inside out; the loop builds them around `inner`. Types in messages are
        // cut off where nesting is absurd.
        for _ in 0..64 {
            let quals = qualifier_words(ty.quals);
            match self.get(ty.ty) {
                CType::Ptr(to) => {
                    let star = if quals.is_empty() { "*".into() } else { format!("*{}", quals.trim_end()) };
                    let needs_parens = matches!(self.get(to.ty), CType::Array(..) | CType::Func(_));
                    let space = if !quals.is_empty() && !inner.is_empty() { " " } else { "" };
                    inner = if needs_parens {
                        format!("({star}{space}{inner})")
                    } else {
                        format!("{star}{space}{inner}")
                    };
                    ty = to;
                }
                CType::Array(elem, len) => {
                    match len {
                        ArrayLen::Known(n) => write!(inner, "[{n}]"),
                        ArrayLen::Unknown => write!(inner, "[]"),
                        ArrayLen::Vla(_) | ArrayLen::Star => write!(inner, "[*]"),
                    }
                    .expect("writing to a string never fails");
                    ty = elem.with(ty.quals);
                }
                CType::Func(sig) => {
                    let sig = self.sig(sig);
                    let mut params: Vec<String> =
                        sig.params.iter().take(16).map(|&p| self.display_short(p.into(), names)).collect();
                    if sig.variadic {
                        params.push("...".into());
                    }
                    if params.is_empty() && sig.prototype {
                        params.push("void".into());
                    }
                    inner = format!("{inner}({})", params.join(", "));
                    ty = sig.ret.into();
                }
                base => {
                    let base = self.base_name(base, names);
                    let space = if inner.is_empty() { "" } else { " " };
                    return format!("{quals}{base}{space}{inner}");
                }
            }
        }
        format!("... {inner}")
    }

    /// Like [`TypeTable::display`], but without looking into parameters of parameters, so that
    /// the text stays short.
    fn display_short(&self, ty: QType, names: &Interner) -> String {
        match self.get(ty.ty) {
            CType::Ptr(to) if matches!(self.get(to.ty), CType::Func(_)) => "<function pointer>".into(),
            _ => self.display(ty, names),
        }
    }

    fn base_name(&self, ty: CType, names: &Interner) -> String {
        let tagged = |keyword: &str, tag: Option<Symbol>| match tag {
            Some(tag) => format!("{keyword} {}", names.name(tag)),
            None => format!("{keyword} <anonymous>"),
        };
        match ty {
            CType::Error => "<error>".into(),
            CType::Void => "void".into(),
            CType::Int(kind) => kind.name().into(),
            CType::BitField(int) => format!("{} bit-field of {} bits", sign_word(int.signed), int.bits),
            CType::BitInt(int) => {
                let sign = if int.signed { "" } else { "unsigned " };
                format!("{sign}_BitInt({})", int.bits)
            }
            CType::Float(FloatTy::F32) => "float".into(),
            CType::Float(FloatTy::F64) => "double".into(),
            CType::Float(FloatTy::F80) => "long double".into(),
            CType::Record(id) => {
                let record = &self.records[id];
                match record.form {
                    Form::Plain => tagged(if record.union { "union" } else { "struct" }, record.tag),
                    Form::Complex(part) => format!("_Complex {}", self.base_name(self.get(part), names)),
                    Form::Vector(elem, count) => {
                        format!("vector of {count} {}", self.base_name(self.get(elem), names))
                    }
                    Form::Soft(float) => float.name().into(),
                }
            }
            CType::Enum(id) => tagged("enum", self.enums[id].tag),
            CType::Ptr(_) | CType::Array(..) | CType::Func(_) => "<derived>".into(),
        }
    }
}

fn sign_word(signed: bool) -> &'static str {
    if signed { "signed" } else { "unsigned" }
}

fn qualifier_words(quals: Quals) -> String {
    let mut out = String::new();
    for (q, word) in [
        (Quals::CONST, "const "),
        (Quals::VOLATILE, "volatile "),
        (Quals::RESTRICT, "restrict "),
        (Quals::ATOMIC, "_Atomic "),
    ] {
        if quals.contains(q) {
            out.push_str(word);
        }
    }
    out
}
