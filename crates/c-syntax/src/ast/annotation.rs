//! Annotations of ACSL, as far as they are understood.

use super::ExprId;
use palisade_base::Span;

/// What a clause demands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClauseKind {
    /// `requires`: of those who call the function.
    Requires,
    /// `ensures`: of the function when it returns.
    Ensures,
    /// `assigns`: of the function, that it changes nothing but this; there is one clause for each location.
    Assigns,
    /// `assert`: here.
    Assert,
    /// `loop invariant`: whenever the condition of the loop is evaluated.
    Invariant,
}

/// A clause of an annotation.
///
/// Its formula is an expression of C with numbers that have no bounds. `a ==> b` is written `a ? b : true`,
/// `a < b < c` is written `a < b && b < c`, and what starts with a backslash is a name that starts with `$`:
/// `$result`, or calls of `$valid`, `$valid_read`, `$old`; a set of numbers `(a .. b)` is a call `$range(a, b)`.
/// What may be assigned is an object, the elements `p[a .. b]` are written `*(p + $range(a, b))`, and `\nothing`
/// is false.
#[derive(Clone, Copy, Debug)]
pub struct Clause {
    /// What it demands.
    pub kind: ClauseKind,
    /// What must hold.
    pub formula: ExprId,
    /// From its keyword to its semicolon.
    pub span: Span,
}
