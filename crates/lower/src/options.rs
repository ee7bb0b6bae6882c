//! What lowering is asked for.

use palisade_cfa::CheckKind;

/// A set of check kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckSet(u32);

impl CheckSet {
    /// No check.
    pub const NONE: CheckSet = CheckSet(0);
    /// Every check.
    pub const ALL: CheckSet = CheckSet(u32::MAX);

    /// Whether checks of this kind are wanted.
    pub fn contains(self, kind: CheckKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }
    /// The set with this kind.
    pub fn with(self, kind: CheckKind) -> CheckSet {
        CheckSet(self.0 | 1 << kind as u32)
    }
    /// The set without this kind.
    pub fn without(self, kind: CheckKind) -> CheckSet {
        CheckSet(self.0 & !(1 << kind as u32))
    }
}

impl FromIterator<CheckKind> for CheckSet {
    fn from_iter<I: IntoIterator<Item = CheckKind>>(kinds: I) -> CheckSet {
        kinds.into_iter().fold(CheckSet::NONE, CheckSet::with)
    }
}

/// What is taken for a function without a body about which nothing is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// It may change whatever it can reach through its arguments, and globals whose address is taken.
    Havoc,
    /// It changes nothing.
    Pure,
    /// An error: the program must be whole.
    Error,
}

/// Where pointers lead that the entry function gets, if it is not `main`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pointers {
    /// Nowhere: they have any value, and no object is there.
    Any,
    /// They point to the start of an object of their own: one structure, or so many elements of another type.
    Valid {
        /// Or they are null.
        null: bool,
        /// How many.
        elements: u32,
    },
}

impl Pointers {
    /// Elements of an object, if nothing else is said.
    pub const ELEMENTS: u32 = 8;
}

impl Default for Pointers {
    fn default() -> Self {
        Pointers::Valid { null: true, elements: Self::ELEMENTS }
    }
}

/// What lowering is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which kinds of undefined behaviour and assertions become [`Op::Check`](palisade_cfa::Op)
    /// edges.
    pub checks: CheckSet,
    /// The function in which execution starts. Empty for code that is only looked at function by
    /// function: its automaton starts in a function that returns at once.
    pub entry: String,
    /// What is taken for functions that nobody has.
    pub missing: Missing,
    /// Whether allocations may fail.
    pub malloc_may_fail: bool,
    /// Where pointers lead that the entry function gets.
    pub pointers: Pointers,
    /// Whether annotations of ACSL count: comments that start with `@`.
    pub annotations: bool,
}

impl Options {
    /// Whether the program is read as competitions read theirs: what is missing does nothing, `asm` changes its
    /// outputs alone, and every allocation succeeds.
    pub(crate) fn competition(&self) -> bool {
        self.missing == Missing::Pure
    }
}

impl Default for Options {
    /// All checks, from `main` on; nobody knows what missing functions do, and allocations succeed.
    fn default() -> Self {
        Options {
            checks: CheckSet::ALL,
            entry: "main".into(),
            missing: Missing::Havoc,
            malloc_may_fail: false,
            pointers: Pointers::default(),
            annotations: false,
        }
    }
}
