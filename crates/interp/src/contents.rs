//! What objects hold: bytes side by side, or for large blocks that were asked for at run time pages of which most hold one
//! byte throughout.

use std::borrow::Cow;

/// Blocks of at least so many bytes are paged, unless they are variables of a known size.
pub(crate) const LARGE: u64 = 1 << 24;
/// Bytes of a page.
const PAGE: usize = 1 << 14;

/// The contents of an object.
#[derive(Debug)]
pub(crate) enum Contents {
    Flat(Vec<u8>),
    Paged(Pages),
}

/// Contents by pages.
#[derive(Debug)]
pub(crate) struct Pages {
    len: usize,
    pages: Vec<Page>,
    /// How many pages have bytes of their own.
    own: usize,
}

/// A page; the last one of an object may be longer than what is left of it.
#[derive(Clone, Debug)]
enum Page {
    /// All its bytes are the same.
    All(u8),
    Each(Box<[u8]>),
}

impl Default for Contents {
    fn default() -> Self {
        Contents::Flat(Vec::new())
    }
}

impl Contents {
    /// Zeros side by side.
    pub fn flat(len: u64) -> Contents {
        Contents::Flat(vec![0; len as usize])
    }

    /// Zeros by pages.
    pub fn paged(len: u64) -> Contents {
        let len = len as usize;
        Contents::Paged(Pages { len, pages: vec![Page::All(0); len.div_ceil(PAGE)], own: 0 })
    }

    /// How many bytes there are.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Contents::Flat(bytes) => bytes.len(),
            Contents::Paged(pages) => pages.len,
        }
    }

    /// The memory that they take.
    pub fn cost(&self) -> u64 {
        match self {
            Contents::Flat(bytes) => bytes.len() as u64,
            Contents::Paged(p) => (p.pages.len() * size_of::<Page>() + p.own * PAGE) as u64,
        }
    }

    /// All bytes, where they lie side by side.
    pub fn as_flat(&self) -> Option<&[u8]> {
        match self {
            Contents::Flat(bytes) => Some(bytes),
            Contents::Paged(_) => None,
        }
    }

    /// So many bytes from a place on.
    pub fn bytes(&self, at: usize, n: usize) -> Cow<'_, [u8]> {
        match self {
            Contents::Flat(bytes) => Cow::Borrowed(&bytes[at..at + n]),
            Contents::Paged(_) => {
                let mut bytes = vec![0; n];
                self.read(at, &mut bytes);
                Cow::Owned(bytes)
            }
        }
    }

    /// Bytes of a small, known number.
    #[inline(always)]
    pub fn get<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut to = [0; N];
        match self {
            Contents::Flat(bytes) => to.copy_from_slice(&bytes[at..at + N]),
            Contents::Paged(_) => self.read(at, &mut to),
        }
        to
    }

    #[inline(always)]
    pub fn set<const N: usize>(&mut self, at: usize, from: [u8; N]) {
        match self {
            Contents::Flat(bytes) => bytes[at..at + N].copy_from_slice(&from),
            Contents::Paged(_) => self.write(at, &from),
        }
    }

    #[inline]
    pub fn read(&self, at: usize, to: &mut [u8]) {
        match self {
            Contents::Flat(bytes) => to.copy_from_slice(&bytes[at..at + to.len()]),
            Contents::Paged(pages) => pages.read(at, to),
        }
    }

    #[inline]
    pub fn write(&mut self, at: usize, from: &[u8]) {
        match self {
            Contents::Flat(bytes) => bytes[at..at + from.len()].copy_from_slice(from),
            Contents::Paged(pages) => pages.write(at, from),
        }
    }

    /// The same byte `n` times.
    pub fn fill(&mut self, at: usize, n: usize, byte: u8) {
        match self {
            Contents::Flat(bytes) => bytes[at..at + n].fill(byte),
            Contents::Paged(pages) => pages.fill(at, n, byte),
        }
    }

    /// Moves bytes within the object.
    pub fn copy_within(&mut self, from: usize, n: usize, to: usize) {
        match self {
            Contents::Flat(bytes) => bytes.copy_within(from..from + n, to),
            Contents::Paged(_) => {
                // Page by page of those that are written, from the end where nothing is overwritten that is still to be
                // read.
                let mut left = n;
                while left > 0 {
                    let (at, step) = match to <= from {
                        true => (n - left, left.min(PAGE - (to + n - left) % PAGE)),
                        false => {
                            let step = left.min((to + left - 1) % PAGE + 1);
                            (left - step, step)
                        }
                    };
                    let chunk = self.bytes(from + at, step).into_owned();
                    self.write(to + at, &chunk);
                    left -= step;
                }
            }
        }
    }

    /// Bytes of another object.
    pub fn copy_from(&mut self, to: usize, other: &Contents, from: usize, n: usize) {
        let mut done = 0;
        while done < n {
            let step = (n - done).min(PAGE - (to + done) % PAGE);
            self.write(to + done, &other.bytes(from + done, step));
            done += step;
        }
    }

    /// Where the first zero is from a place on, within so many bytes.
    pub fn zero(&self, at: usize, n: usize) -> Option<usize> {
        self.first(at, n, |byte| byte == 0)
    }

    /// How many of the bytes from a place on, of at most so many, are this one.
    pub fn repeats(&self, at: usize, n: usize, byte: u8) -> usize {
        self.first(at, n, |other| other != byte).unwrap_or(n)
    }

    /// The first byte of a kind, from a place on.
    fn first(&self, at: usize, n: usize, is: impl Fn(u8) -> bool) -> Option<usize> {
        match self {
            Contents::Flat(bytes) => bytes[at..at + n].iter().position(|b| is(*b)),
            Contents::Paged(pages) => {
                let mut done = 0;
                while done < n {
                    let (page, inside) = ((at + done) / PAGE, (at + done) % PAGE);
                    let step = (PAGE - inside).min(n - done);
                    let found = match &pages.pages[page] {
                        Page::All(byte) => is(*byte).then_some(0),
                        Page::Each(bytes) => bytes[inside..inside + step].iter().position(|b| is(*b)),
                    };
                    if let Some(found) = found {
                        return Some(done + found);
                    }
                    done += step;
                }
                None
            }
        }
    }

    /// Shows every `n` bytes that follow one another, each once at least.
    pub fn windows(&self, n: usize, mut show: impl FnMut(&[u8])) {
        match self {
            Contents::Flat(bytes) => bytes.windows(n).for_each(show),
            Contents::Paged(pages) => {
                for (i, page) in pages.pages.iter().enumerate() {
                    // What is one byte throughout is shown at its begin and at its end.
                    let near = &pages.pages[i.saturating_sub(1)..(i + 2).min(pages.pages.len())];
                    if let Page::All(byte) = page
                        && near.len() == 3
                        && near.iter().all(|p| matches!(p, Page::All(b) if b == byte))
                    {
                        continue;
                    }
                    let (start, end) = (i * PAGE, ((i + 1) * PAGE).min(pages.len));
                    match page {
                        Page::All(byte) if end - start >= n => show(&vec![*byte; n]),
                        Page::All(_) => {}
                        Page::Each(bytes) => bytes[..end - start].windows(n).for_each(&mut show),
                    }
                    // And those that begin here and end behind.
                    let from = end.saturating_sub(n - 1).max(start);
                    let to = (end + n - 1).min(pages.len);
                    self.bytes(from, to - from).windows(n).for_each(&mut show);
                }
            }
        }
    }
}

impl Pages {
    fn read(&self, at: usize, to: &mut [u8]) {
        assert!(at + to.len() <= self.len, "within the object");
        let mut done = 0;
        while done < to.len() {
            let (page, inside) = ((at + done) / PAGE, (at + done) % PAGE);
            let step = (PAGE - inside).min(to.len() - done);
            let part = &mut to[done..done + step];
            match &self.pages[page] {
                Page::All(byte) => part.fill(*byte),
                Page::Each(bytes) => part.copy_from_slice(&bytes[inside..inside + step]),
            }
            done += step;
        }
    }

    fn write(&mut self, at: usize, from: &[u8]) {
        assert!(at + from.len() <= self.len, "within the object");
        let mut done = 0;
        while done < from.len() {
            let (page, inside) = ((at + done) / PAGE, (at + done) % PAGE);
            let step = (PAGE - inside).min(from.len() - done);
            let part = &from[done..done + step];
            match &self.pages[page] {
                Page::All(byte) if part.iter().all(|b| b == byte) => {}
                _ if step == PAGE && part.iter().all(|b| *b == part[0]) => {
                    self.fill(at + done, PAGE, part[0])
                }
                _ => self.each(page)[inside..inside + step].copy_from_slice(part),
            }
            done += step;
        }
    }

    fn fill(&mut self, at: usize, n: usize, byte: u8) {
        assert!(at + n <= self.len, "within the object");
        let mut done = 0;
        while done < n {
            let (page, inside) = ((at + done) / PAGE, (at + done) % PAGE);
            let step = (PAGE - inside).min(n - done);
            match &self.pages[page] {
                Page::All(held) if *held == byte => {}
                held if step == PAGE => {
                    self.own -= usize::from(matches!(held, Page::Each(_)));
                    self.pages[page] = Page::All(byte);
                }
                _ => self.each(page)[inside..inside + step].fill(byte),
            }
            done += step;
        }
    }

    /// A page with bytes of its own.
    fn each(&mut self, page: usize) -> &mut [u8] {
        let page = &mut self.pages[page];
        if let Page::All(byte) = *page {
            *page = Page::Each(vec![byte; PAGE].into());
            self.own += 1;
        }
        match page {
            Page::Each(bytes) => bytes,
            Page::All(_) => &mut [],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages do what bytes side by side do.
    #[test]
    fn pages_are_bytes() {
        let len = 5 * PAGE + 100;
        let (mut flat, mut paged) = (Contents::flat(len as u64), Contents::paged(len as u64));
        let mut state = 1u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for round in 0..2_000 {
            let n = 1 + below([4, 100, 3 * PAGE][round % 3]);
            let (at, other) = (below(len - n), below(len - n));
            let byte = [0, 0, 7, 255][below(4)];
            for contents in [&mut flat, &mut paged] {
                match round / 3 % 4 {
                    0 => contents.fill(at, n, byte),
                    1 => contents.write(at, &vec![byte; n]),
                    2 => contents.copy_within(at, n, other),
                    _ => contents.set(at, [byte]),
                }
            }
            assert_eq!(flat.zero(at, n), paged.zero(at, n));
            assert_eq!(flat.repeats(at, n, byte), paged.repeats(at, n, byte));
            assert_eq!(flat.get::<1>(other), paged.get::<1>(other));
            assert!(flat.bytes(at, n) == paged.bytes(at, n));
        }
        assert!(flat.bytes(0, len) == paged.bytes(0, len));
        let mut copy = Contents::paged(len as u64);
        copy.copy_from(3, &paged, 1, len - 5);
        assert!(copy.bytes(3, len - 5) == flat.bytes(1, len - 5));
        // What is one byte throughout stays so, wherever it is moved.
        let mut text = Contents::paged(1 << 27);
        text.fill(0, 1 << 27, b'x');
        let empty = text.cost();
        let mut moved = Contents::paged(1 << 27);
        moved.copy_from(3, &text, 1, (1 << 27) - 5);
        moved.copy_within(3, (1 << 27) - 100, 50);
        assert!(moved.cost() <= empty + 4 * PAGE as u64);
        assert_eq!((moved.repeats(3, 1 << 26, b'x'), moved.get(0)), (1 << 26, [0, 0, 0, b'x']));
        let seen = |contents: &Contents| {
            let mut all = std::collections::BTreeSet::new();
            contents.windows(4, |bytes| {
                all.insert(bytes.to_vec());
            });
            all
        };
        assert!(seen(&flat) == seen(&paged));
        let mut long = Contents::paged(6 * PAGE as u64);
        let mut same = Contents::flat(6 * PAGE as u64);
        for (at, n, byte) in [(PAGE, 4 * PAGE, 1), (4 * PAGE, PAGE, 2), (3 * PAGE - 1, 1, 3)] {
            [&mut long, &mut same].into_iter().for_each(|c| c.fill(at, n, byte));
            assert!(seen(&long) == seen(&same), "{byte}");
        }
        let mut shown = 0;
        text.windows(8, |_| shown += 1);
        assert!(shown < 50, "one byte throughout, shown {shown} times");
        assert!(paged.cost() <= (6 * (PAGE + size_of::<Page>())) as u64);
        assert_eq!(Contents::paged(1 << 31).cost(), (1 << 31) / PAGE as u64 * size_of::<Page>() as u64);
    }
}
