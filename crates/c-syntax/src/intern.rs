//! Names as 32-bit symbols.
//!
//! One [`Interner`] serves all files of a run, so that equal names are equal symbols. The C
//! keywords are interned first, so a symbol tells by its number alone whether it is a keyword.

use crate::token::KEYWORDS;

palisade_base::idx! {
    /// An interned string.
    pub struct Symbol = "sym";
}

/// The table of all names.
#[derive(Clone, Debug)]
pub struct Interner {
    /// All strings, one after the other.
    text: String,
    /// Where each symbol's string ends; it starts where the previous one ends.
    ends: Vec<u32>,
    /// Each symbol's hash, to rehash without reading the strings again.
    hashes: Vec<u32>,
    /// Open addressing with linear probing: symbol number plus one, 0 for a free slot. The length
    /// is a power of two and at least twice the number of symbols.
    slots: Vec<u32>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// A table with the keywords only.
    pub fn new() -> Self {
        let mut this =
            Interner { text: String::new(), ends: Vec::new(), hashes: Vec::new(), slots: vec![0; 4096] };
        for (name, _) in KEYWORDS {
            this.intern(name);
        }
        this
    }

    /// The symbol of a string.
    pub fn intern(&mut self, s: &str) -> Symbol {
        self.intern_hashed(s, hash(s.as_bytes()))
    }

    /// The symbol of a string whose [`hash`] the caller already has.
    pub(crate) fn intern_hashed(&mut self, s: &str, hash: u32) -> Symbol {
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        loop {
            match self.slots[i] {
                0 => break,
                n => {
                    let n = n as usize - 1;
                    if self.hashes[n] == hash && self.str_at(n) == s {
                        return Symbol(n as u32);
                    }
                }
            }
            i = (i + 1) & mask;
        }
        let n = self.ends.len() as u32;
        self.slots[i] = n + 1;
        self.text.push_str(s);
        // Symbols are substrings of source texts, which are 4 GB at most together, but literals
        // are interned by several spellings; give up cleanly instead of wrapping around.
        self.ends.push(u32::try_from(self.text.len()).expect("less than 4 GB of names"));
        self.hashes.push(hash);
        if self.ends.len() * 2 > self.slots.len() {
            self.grow();
        }
        Symbol(n)
    }

    /// The symbol of a string, if it was ever interned.
    pub fn lookup(&self, s: &str) -> Option<Symbol> {
        let hash = hash(s.as_bytes());
        let mask = self.slots.len() - 1;
        let mut i = hash as usize & mask;
        loop {
            let n = (self.slots[i] as usize).checked_sub(1)?;
            if self.hashes[n] == hash && self.str_at(n) == s {
                return Some(Symbol(n as u32));
            }
            i = (i + 1) & mask;
        }
    }

    /// The string of a symbol.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.str_at(symbol.0 as usize)
    }

    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Never true: the keywords are always there.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn str_at(&self, n: usize) -> &str {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.text[start as usize..self.ends[n] as usize]
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for (n, &h) in self.hashes.iter().enumerate() {
            let mut i = h as usize & mask;
            while slots[i] != 0 {
                i = (i + 1) & mask;
            }
            slots[i] = n as u32 + 1;
        }
        self.slots = slots;
    }
}

/// The hash of a name, computed byte by byte so that the lexer can fold it into its scan.
pub(crate) fn hash(bytes: &[u8]) -> u32 {
    finish_hash(bytes.iter().fold(0, |h, &b| step_hash(h, b)))
}

/// Adds one byte to a hash.
#[inline]
pub(crate) fn step_hash(h: u64, b: u8) -> u64 {
    (h.rotate_left(5) ^ u64::from(b)).wrapping_mul(0x517c_c1b7_2722_0a95)
}

/// The hash after the last byte; the high bits of a product are the good ones.
#[inline]
pub(crate) fn finish_hash(h: u64) -> u32 {
    (h >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_stable_while_the_table_grows() {
        let mut interner = Interner::new();
        let names: Vec<String> = (0..20_000).map(|i| format!("name_{i}")).collect();
        let symbols: Vec<Symbol> = names.iter().map(|n| interner.intern(n)).collect();
        for (name, &symbol) in names.iter().zip(&symbols) {
            assert_eq!(interner.name(symbol), name);
            assert_eq!(interner.intern(name), symbol);
            assert_eq!(interner.lookup(name), Some(symbol));
        }
        assert_eq!(interner.lookup("never seen"), None);
    }

    #[test]
    fn keywords_come_first_in_order() {
        let mut interner = Interner::new();
        for (i, (name, _)) in KEYWORDS.iter().enumerate() {
            assert_eq!(interner.intern(name).0 as usize, i, "{name}");
        }
    }
}
