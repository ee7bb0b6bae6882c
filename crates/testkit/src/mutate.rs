//! Broken texts made of real ones.
//!
//! The mutator knows no language: a token is a word, a run of blanks or a single other byte, which
//! is near enough for C, for SMT-LIB and for every other text that Palisade reads.

use crate::rng::Rng;
use std::ops::Range;

/// How many changes one mutated text has at most.
const MAX_CHANGES: usize = 4;

/// The longest run of repeated tokens.
const MAX_REPEAT: usize = 2000;

/// An endless source of mutated texts; equal corpora and seeds give equal texts.
#[derive(Clone, Debug)]
pub struct Mutator<'a> {
    corpus: &'a [Vec<u8>],
    rng: Rng,
}

impl<'a> Mutator<'a> {
    /// Mutates the texts of `corpus`.
    pub fn new(corpus: &'a [Vec<u8>], seed: u64) -> Self {
        Mutator { corpus, rng: Rng::new(seed) }
    }

    /// The next text: one of the corpus with up to four changes, each a flipped byte, a cut, or
    /// a token or range that is deleted, doubled, moved, or taken from another text. It need not
    /// be UTF-8.
    pub fn next_text(&mut self) -> Vec<u8> {
        let mut text = self.rng.pick(self.corpus).cloned().unwrap_or_default();
        for _ in 0..1 + self.rng.below(MAX_CHANGES) {
            self.change(&mut text);
        }
        text
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        if text.is_empty() {
            return text.push(self.rng.next_u64() as u8);
        }
        match self.rng.below(12) {
            0 | 1 => {
                let at = self.rng.below(text.len());
                text[at] ^= 1 << self.rng.below(8);
            }
            2 => {
                let at = self.rng.below(text.len());
                text[at] = self.rng.next_u64() as u8;
            }
            3 => {
                let at = self.rng.below(text.len());
                text.truncate(at);
            }
            4 | 5 => {
                let token = self.token(text);
                text.drain(token);
            }
            6 => {
                let token = self.token(text);
                self.repeat(text, token, 2);
            }
            7 => {
                // A long run of the same tokens: deep nesting or a long chain.
                let (start, end) = (self.token(text).start, self.token(text).end);
                let range = start.min(end)..end.min(start.min(end) + 20);
                let times = 1 + self.rng.below(MAX_REPEAT);
                self.repeat(text, range, times);
            }
            8 => {
                let (from, to) = (self.token(text), self.token(text).start);
                let moved = text[from].to_vec();
                text.splice(to..to, moved);
            }
            9 => {
                let range = self.range(text);
                text.drain(range);
            }
            10 => {
                let to = self.token(text).start;
                if let Some(other) = self.rng.pick(self.corpus).filter(|o| !o.is_empty()) {
                    let token = self.token(other);
                    text.splice(to..to, other[token].iter().copied());
                }
            }
            _ => {
                // The start of one text and the end of another.
                let cut = self.token(text).start;
                if let Some(other) = self.rng.pick(self.corpus).filter(|o| !o.is_empty()) {
                    let from = self.token(other).start;
                    text.truncate(cut);
                    text.extend_from_slice(&other[from..]);
                }
            }
        }
    }

    /// Replaces a range by `times` copies of it.
    fn repeat(&mut self, text: &mut Vec<u8>, range: Range<usize>, times: usize) {
        let copies = text[range.clone()].repeat(times);
        text.splice(range, copies);
    }

    /// A token somewhere in a text that is not empty.
    fn token(&mut self, text: &[u8]) -> Range<usize> {
        let at = self.rng.below(text.len());
        let class = class(text[at]);
        if class == Class::Other {
            return at..at + 1;
        }
        let same = |b: &&u8| self::class(**b) == class;
        let start = at - text[..at].iter().rev().take_while(same).count();
        let end = at + text[at..].iter().take_while(same).count();
        start..end
    }

    /// From one token to another one nearby.
    fn range(&mut self, text: &[u8]) -> Range<usize> {
        let start = self.token(text).start;
        let len = 1 + self.rng.below(200);
        start..(start + len).min(text.len())
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Blank,
    Other,
}

fn class(b: u8) -> Class {
    match b {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' | 0x80.. => Class::Word,
        b' ' | b'\t' | b'\r' | b'\n' => Class::Blank,
        _ => Class::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_texts_and_most_texts_differ() {
        let corpus = [b"int main(void) { return x1 + 22; }".to_vec(), b"(assert (= a b))".to_vec()];
        let texts = |seed| -> Vec<Vec<u8>> {
            let mut mutator = Mutator::new(&corpus, seed);
            (0..500).map(|_| mutator.next_text()).collect()
        };
        let all = texts(7);
        assert_eq!(all, texts(7));
        assert_ne!(all, texts(8));
        let changed = all.iter().filter(|t| !corpus.contains(t)).count();
        assert!(changed > 450, "{changed}");
        assert!(all.iter().all(|t| t.len() < 4 * 20 * MAX_REPEAT * 100));
    }

    #[test]
    fn empty_corpora_and_texts_are_fine() {
        let mut none = Mutator::new(&[], 1);
        let corpus = [Vec::new()];
        let mut empty = Mutator::new(&corpus, 1);
        for _ in 0..100 {
            none.next_text();
            empty.next_text();
        }
    }
}
