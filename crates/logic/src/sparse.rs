//! Numbers that are known of some terms.
//!
//! Many solvers may share the terms of which each sees a few, so that what a solver knows must not grow with all.

/// Numbers of a page.
const PAGE: usize = 256;
/// What is not a number of anything.
pub(crate) const NONE: u32 = u32::MAX;

/// A map from indices to numbers, in pages that are there once something on them is known.
#[derive(Default)]
pub(crate) struct Sparse {
    pages: Vec<Option<Box<[u32; PAGE]>>>,
    /// How many are there.
    own: usize,
}

impl Sparse {
    /// What is known of an index, or [`NONE`].
    #[inline]
    pub(crate) fn get(&self, at: usize) -> u32 {
        match self.pages.get(at / PAGE) {
            Some(Some(page)) => page[at % PAGE],
            _ => NONE,
        }
    }

    /// Notes a number, which may be [`NONE`], and tells what was known before.
    #[inline]
    pub(crate) fn set(&mut self, at: usize, to: u32) -> u32 {
        if self.pages.len() <= at / PAGE {
            self.pages.resize_with(at / PAGE + 1, || None);
        }
        let own = &mut self.own;
        let page = self.pages[at / PAGE].get_or_insert_with(|| {
            *own += 1;
            Box::new([NONE; PAGE])
        });
        std::mem::replace(&mut page[at % PAGE], to)
    }

    /// What all this takes in memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.pages.capacity() * size_of::<Option<Box<[u32; PAGE]>>>() + self.own * PAGE * 4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;
    use std::collections::HashMap;

    #[test]
    fn it_is_a_map_that_takes_what_is_in_it() {
        let (mut sparse, mut map, mut r) = (Sparse::default(), HashMap::new(), Random::new(1));
        for i in 0..20_000 {
            let at = r.below(3_000) * if i % 2 == 0 { 1 } else { 300 };
            if r.below(3) > 0 {
                let to = if r.below(5) == 0 { NONE } else { r.below(1 << 20) as u32 };
                assert_eq!(sparse.set(at, to), map.insert(at, to).unwrap_or(NONE));
            }
            assert_eq!(sparse.get(at), map.get(&at).copied().unwrap_or(NONE));
        }
        let mut one = Sparse::default();
        one.set(10_000_000, 7);
        assert!(one.bytes() < 700_000 && one.get(usize::MAX) == NONE);
    }
}
