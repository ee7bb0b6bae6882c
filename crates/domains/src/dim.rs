//! Dimensions: the names under which a domain knows a client's variables.

use std::fmt;

/// A variable of the abstract state space. The client maps its variables to dimensions as it
/// likes, densely or sparsely; a domain element constrains some of them and leaves all others free,
/// so there is no environment to declare.
///
/// The sort is part of the name: [`Dim::int`] dimensions only take integer values (domains
/// tighten bounds accordingly), [`Dim::rat`] dimensions take any rational.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(u32);

const RATIONAL: u32 = 1 << 31;
const SCRATCH: u32 = 1 << 30;

impl Dim {
    /// The integer-valued dimension number `index`.
    ///
    /// # Panics
    /// When `index` is `2^30` or more.
    pub fn int(index: u32) -> Dim {
        assert!(index < SCRATCH, "dimension index out of range");
        Dim(index)
    }

    /// The rational-valued dimension number `index`. It is different from `Dim::int(index)`.
    ///
    /// # Panics
    /// When `index` is `2^30` or more.
    pub fn rat(index: u32) -> Dim {
        assert!(index < SCRATCH, "dimension index out of range");
        Dim(index | RATIONAL)
    }

    /// A dimension of the same sort as `self` that no client can name: room for intermediate
    /// values inside one operation. An operation that uses it forgets it before it returns.
    pub fn scratch(self, index: u32) -> Dim {
        assert!(index < SCRATCH, "dimension index out of range");
        Dim(index | SCRATCH | (self.0 & RATIONAL))
    }

    /// The scratch dimension in which a single assignment builds its new value; apart from those
    /// that [`Dim::scratch`] is asked for elsewhere, so that the two may be used together.
    pub(crate) fn fresh(self) -> Dim {
        self.scratch(SCRATCH - 1)
    }

    /// Does this dimension only take integer values?
    #[inline]
    pub fn is_int(self) -> bool {
        self.0 & RATIONAL == 0
    }

    /// The bits that identify it, in the order of the dimensions.
    #[inline]
    pub(crate) fn raw(self) -> u32 {
        self.0
    }

    /// The number it was made with.
    #[inline]
    pub fn index(self) -> u32 {
        self.0 & !(RATIONAL | SCRATCH)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match (self.is_int(), self.0 & SCRATCH != 0) {
            (true, false) => "x",
            (false, false) => "r",
            (true, true) => "_x",
            (false, true) => "_r",
        };
        write!(f, "{prefix}{}", self.index())
    }
}

impl fmt::Debug for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
