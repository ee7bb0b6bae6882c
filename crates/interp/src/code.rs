//! The register code that functions are compiled to.
//!
//! A register holds one scalar in 16 bytes. Integers of up to 64 bits are kept extended to 64 bits
//! by their sign in the lower half, floats and doubles are their bits there; a pointer is its
//! address in the lower half and its provenance in the upper one; wider values use both.

use palisade_cfa::*;

/// A register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slot {
    pub lo: u64,
    pub hi: u64,
}

/// Number of a register in its frame.
pub(crate) type Reg = u32;

/// How a scalar lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cell {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    /// 64 bits of anything but a pointer.
    B64,
    Ptr,
    /// A `long double`: ten bytes are accessed.
    B80,
    B128,
    /// A truth value in a byte.
    Flag,
}

/// How narrow integers (and pointers, as unsigned) are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rel {
    Eq,
    Ne,
    LtS,
    LeS,
    LtU,
    LeU,
}

/// Where an access starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At an object of the frame.
    Local(u32),
    /// At a global object.
    Global(u32),
    /// At what a register points to.
    Ptr(Reg),
}

/// Marks that an access has no index.
pub(crate) const NO_INDEX: Reg = Reg::MAX;

/// An instruction. `d` is the destination register; `sh` is 64 less the bits of the result.
///
/// The tag is a byte of its own, which dispatch reads faster than a niche in some field.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Instr {
    /// An edge is about to be executed (only in observed code).
    Mark(EdgeId),
    /// This many edges follow up to the next tick or jump.
    Tick(u32),
    Mov {
        d: Reg,
        a: Reg,
    },
    Const {
        d: Reg,
        v: u64,
    },
    Wide {
        d: Reg,
        at: u32,
    },
    GetGlobal {
        d: Reg,
        g: u32,
    },
    SetGlobal {
        g: u32,
        a: Reg,
    },

    AddS {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    AddU {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    SubS {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    SubU {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    MulS {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    MulU {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
    },
    AddImmS {
        d: Reg,
        a: Reg,
        imm: i32,
        sh: u8,
    },
    AddImmU {
        d: Reg,
        a: Reg,
        imm: i32,
        sh: u8,
    },
    MulImmS {
        d: Reg,
        a: Reg,
        imm: i32,
        sh: u8,
    },
    MulImmU {
        d: Reg,
        a: Reg,
        imm: i32,
        sh: u8,
    },
    And {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Or {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Xor {
        d: Reg,
        a: Reg,
        b: Reg,
    },
    AndImm {
        d: Reg,
        a: Reg,
        imm: i32,
    },
    Div {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
        signed: bool,
    },
    Rem {
        d: Reg,
        a: Reg,
        b: Reg,
        signed: bool,
    },
    Shl {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
        signed: bool,
    },
    Shr {
        d: Reg,
        a: Reg,
        b: Reg,
        sh: u8,
        signed: bool,
    },
    NormS {
        d: Reg,
        a: Reg,
        sh: u8,
    },
    NormU {
        d: Reg,
        a: Reg,
        sh: u8,
    },
    Neg {
        d: Reg,
        a: Reg,
        sh: u8,
        signed: bool,
    },
    Not {
        d: Reg,
        a: Reg,
        sh: u8,
        signed: bool,
    },
    Cmp {
        rel: Rel,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// Integers to 128 bits.
    Extend {
        d: Reg,
        a: Reg,
        signed: bool,
    },
    F64 {
        op: BinOp,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    F64Cmp {
        op: CmpOp,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// Any other operator, from the table.
    Gen1 {
        op: u32,
        d: Reg,
        a: Reg,
    },
    Gen2 {
        op: u32,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    IntToPtr {
        d: Reg,
        a: Reg,
    },
    PtrAdd {
        d: Reg,
        p: Reg,
        i: Reg,
        stride: u32,
    },
    PtrAddImm {
        d: Reg,
        p: Reg,
        imm: i64,
    },
    PtrDiff {
        d: Reg,
        a: Reg,
        b: Reg,
        stride: u32,
    },
    /// `d = a + i * stride`, for the second index of a place on.
    Offset {
        d: Reg,
        a: Reg,
        i: Reg,
        stride: u32,
    },

    Jump {
        to: u32,
    },
    JumpZero {
        a: Reg,
        to: u32,
    },
    JumpNonZero {
        a: Reg,
        to: u32,
    },
    JEq {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JNe {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JLtS {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JLeS {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JLtU {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JLeU {
        a: Reg,
        b: Reg,
        to: u32,
    },
    JEqImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JNeImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JLtSImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JLeSImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JGtSImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JGeSImm {
        a: Reg,
        imm: i32,
        to: u32,
    },
    JLtUImm {
        a: Reg,
        imm: u32,
        to: u32,
    },
    JLeUImm {
        a: Reg,
        imm: u32,
        to: u32,
    },
    JGtUImm {
        a: Reg,
        imm: u32,
        to: u32,
    },
    JGeUImm {
        a: Reg,
        imm: u32,
        to: u32,
    },
    /// Jumps if the operator overflows; up to 64 bits.
    JOverflow {
        op: BinOp,
        a: Reg,
        b: Reg,
        sh: u8,
        signed: bool,
        to: u32,
    },
    JNoOverflow {
        op: BinOp,
        a: Reg,
        b: Reg,
        sh: u8,
        signed: bool,
        to: u32,
    },
    /// Jumps if the bytes at a pointer are not accessible.
    JInvalid {
        p: Reg,
        size: u32,
        to: u32,
    },
    Valid {
        d: Reg,
        p: Reg,
        size: Reg,
    },
    Freeable {
        d: Reg,
        p: Reg,
    },
    ObjectSize {
        d: Reg,
        p: Reg,
    },
    IsReadOnly {
        d: Reg,
        p: Reg,
    },
    Overlap {
        d: Reg,
        p: Reg,
        q: Reg,
        size: Reg,
    },
    HeapEmpty {
        d: Reg,
    },
    HeapTracked {
        d: Reg,
    },

    Load {
        cell: Cell,
        from: Start,
        d: Reg,
        i: Reg,
        stride: u32,
        off: i32,
    },
    Store {
        cell: Cell,
        from: Start,
        a: Reg,
        i: Reg,
        stride: u32,
        off: i32,
    },
    /// A pointer to the place.
    Lea {
        from: Start,
        d: Reg,
        i: Reg,
        stride: u32,
        off: i32,
    },
    /// A bit-field or an integer of an odd width: `first` bits into what `p` points to.
    LoadBits {
        d: Reg,
        p: Reg,
        first: u16,
        ty: IntTy,
    },
    StoreBits {
        p: Reg,
        a: Reg,
        first: u16,
        ty: IntTy,
    },
    CopyBytes {
        to: Reg,
        from: Reg,
        size: u64,
    },
    ZeroBytes {
        p: Reg,
        size: u64,
    },
    /// Copies or sets as many bytes as a register says.
    MemCopy {
        to: Reg,
        from: Reg,
        size: Reg,
    },
    MemSet {
        p: Reg,
        byte: Reg,
        size: Reg,
    },

    /// Any value of a scalar type, as input or as an unknown of the model.
    Havoc {
        d: Reg,
        ty: Scalar,
        input: bool,
    },
    HavocBytes {
        p: Reg,
        size: u64,
        input: bool,
    },
    Alloc {
        d: Reg,
        size: Reg,
        kind: AllocKind,
        zeroed: bool,
    },
    Free {
        p: Reg,
    },
    /// An object of the frame comes to life again, or its life ends.
    EnterObj {
        k: u32,
    },
    LeaveObj {
        k: u32,
    },
    Call {
        site: u32,
        first: Reg,
        d: Reg,
    },
    CallPtr {
        site: u32,
        p: Reg,
        first: Reg,
        d: Reg,
    },
    /// Stores the aggregate that a call returned.
    StoreResult {
        p: Reg,
        size: u64,
    },
    Return {
        a: Reg,
    },
    ReturnNothing,
    ReturnBytes {
        p: Reg,
        size: u64,
    },
    Exit {
        a: Reg,
    },
    Abort,
    /// A check has failed.
    Fail(CheckKind),
    /// No assumption holds, or the graph ends here.
    Blocked,
}

/// An operator that has no instruction of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GenOp {
    Unary(UnOp, Scalar),
    Binary(BinOp, Scalar, IntTy),
    Cmp(CmpOp, Scalar),
    Overflow(BinOp, IntTy, IntTy),
    Convert(Scalar, Scalar),
}

/// A call in the program.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub edge: EdgeId,
    /// For a direct call.
    pub callee: Option<FuncId>,
    /// Types of the arguments; aggregates are passed as pointers to their contents.
    pub args: Box<[ArgTy]>,
    /// Type and size of what the result goes to.
    pub result: Option<ResultTy>,
}

/// What a call passes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ArgTy {
    Scalar(Scalar),
    Aggregate,
}

/// What a call stores.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ResultTy {
    Scalar(Scalar),
    Bytes(u64),
}

/// A compiled function.
#[derive(Debug)]
pub(crate) struct FuncCode {
    pub instrs: Box<[Instr]>,
    /// For each instruction the edge it belongs to.
    pub edges: Box<[EdgeId]>,
    pub regs: u32,
}

/// What the code of all functions refers to.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub wide: Vec<u128>,
    pub gens: Vec<GenOp>,
    pub sites: Vec<Site>,
}

/// The lower half of a result, extended by its sign.
#[inline(always)]
pub(crate) fn norm_s(x: u64, sh: u8) -> u64 {
    (((x << sh) as i64) >> sh) as u64
}

/// The lower half of a result, extended by zeros.
#[inline(always)]
pub(crate) fn norm_u(x: u64, sh: u8) -> u64 {
    (x << sh) >> sh
}

/// Whether an integer type has a register's canonical form.
pub(crate) fn is_narrow(t: IntTy) -> bool {
    t.bits <= 64
}

/// 64 less the bits of a narrow type.
pub(crate) fn shift_of(t: IntTy) -> u8 {
    (64 - t.bits) as u8
}
