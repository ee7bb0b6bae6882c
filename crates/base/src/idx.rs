//! Newtyped indices and the vectors they index, so that a location can never be
//! used where a variable is meant.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A small integer that names an element of an [`IdxVec`].
pub trait Idx: Copy + Eq + Ord + fmt::Debug + 'static {
    /// The index for position `i`; panics past `u32::MAX` elements, which no input of ours reaches
    /// because source offsets are 32-bit too.
    fn new(i: usize) -> Self;
    /// The position this index names.
    fn index(self) -> usize;
}

/// Defines a newtyped index: `idx! { /// A location. pub struct LocId = "l"; }`; the string is
/// the prefix used when it is printed.
#[macro_export]
macro_rules! idx {
    ($($(#[$m:meta])* pub struct $name:ident = $prefix:literal;)*) => {$(
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
        impl $crate::idx::Idx for $name {
            fn new(i: usize) -> Self {
                $name(u32::try_from(i).expect("more than u32::MAX elements"))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

/// A vector indexed by `I` only.
#[derive(Clone, PartialEq, Eq)]
pub struct IdxVec<I, T> {
    raw: Vec<T>,
    marker: PhantomData<fn(I)>,
}

impl<I: Idx, T> IdxVec<I, T> {
    /// An empty vector.
    pub const fn new() -> Self {
        IdxVec { raw: Vec::new(), marker: PhantomData }
    }
    /// `n` copies of `value`.
    pub fn filled(value: T, n: usize) -> Self
    where
        T: Clone,
    {
        IdxVec { raw: vec![value; n], marker: PhantomData }
    }
    /// Appends `value` and returns its index.
    pub fn push(&mut self, value: T) -> I {
        let id = I::new(self.raw.len());
        self.raw.push(value);
        id
    }
    /// Drops all elements but the first `len`.
    pub fn truncate(&mut self, len: usize) {
        self.raw.truncate(len);
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.raw.len()
    }
    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    /// The index that the next `push` will return.
    pub fn next_id(&self) -> I {
        I::new(self.raw.len())
    }
    /// The element, if the index is in range.
    pub fn get(&self, i: I) -> Option<&T> {
        self.raw.get(i.index())
    }
    /// All elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }
    /// All elements in order, mutably.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }
    /// All indices in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }
    /// All elements with their indices.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.raw.iter().enumerate().map(|(i, t)| (I::new(i), t))
    }
    /// The elements as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
    /// Grows with `value` until `i` is in range.
    pub fn ensure(&mut self, i: I, value: T)
    where
        T: Clone,
    {
        if i.index() >= self.raw.len() {
            self.raw.resize(i.index() + 1, value);
        }
    }
}

impl<I: Idx, T> Default for IdxVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx, T> Index<I> for IdxVec<I, T> {
    type Output = T;
    fn index(&self, i: I) -> &T {
        &self.raw[i.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IdxVec<I, T> {
    fn index_mut(&mut self, i: I) -> &mut T {
        &mut self.raw[i.index()]
    }
}

impl<I: Idx, T> FromIterator<T> for IdxVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        IdxVec { raw: iter.into_iter().collect(), marker: PhantomData }
    }
}

impl<I: Idx, T: fmt::Debug> fmt::Debug for IdxVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.raw).finish()
    }
}

impl<'a, I: Idx, T> IntoIterator for &'a IdxVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.raw.iter()
    }
}
