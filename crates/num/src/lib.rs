//! Exact numbers for the abstract domains: [`Int`] and [`Rat`].
//!
//! Both keep small values inline (an `i64`, with `i128` intermediates) and fall back to the big
//! integers of `dashu` when a result does not fit, so that no operation ever overflows or rounds.
//! Representations are canonical: equal values are equal, hash alike and compare fast.

mod int;
mod rat;

pub use int::Int;
pub use rat::Rat;

/// The text was not a number of the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseNumError;

impl std::fmt::Display for ParseNumError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a number")
    }
}

impl std::error::Error for ParseNumError {}

/// Implements the four owned/borrowed combinations of a binary operator, and its assigning form,
/// from one function on references.
macro_rules! forward_binop {
    ($ty:ty, $tr:ident, $m:ident, $tra:ident, $ma:ident, $f:path) => {
        impl std::ops::$tr<&$ty> for &$ty {
            type Output = $ty;
            #[inline]
            fn $m(self, rhs: &$ty) -> $ty {
                $f(self, rhs)
            }
        }
        impl std::ops::$tr<$ty> for &$ty {
            type Output = $ty;
            #[inline]
            fn $m(self, rhs: $ty) -> $ty {
                $f(self, &rhs)
            }
        }
        impl std::ops::$tr<&$ty> for $ty {
            type Output = $ty;
            #[inline]
            fn $m(self, rhs: &$ty) -> $ty {
                $f(&self, rhs)
            }
        }
        impl std::ops::$tr<$ty> for $ty {
            type Output = $ty;
            #[inline]
            fn $m(self, rhs: $ty) -> $ty {
                $f(&self, &rhs)
            }
        }
        impl std::ops::$tra<&$ty> for $ty {
            #[inline]
            fn $ma(&mut self, rhs: &$ty) {
                *self = $f(self, rhs);
            }
        }
        impl std::ops::$tra<$ty> for $ty {
            #[inline]
            fn $ma(&mut self, rhs: $ty) {
                *self = $f(self, &rhs);
            }
        }
    };
}
pub(crate) use forward_binop;
