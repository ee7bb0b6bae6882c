//! Modules of vectors over the integers modulo `2^w`, in Howell form.
//!
//! A matrix in Howell form has leading entries that are powers of two, in different columns, and
//! whatever its rows span with zeros in the first columns is spanned by the rows that start after
//! those columns (Howell 1986). That is what makes elimination, intersection and inclusion
//! read off the rows, though `2^w` has zero divisors.

/// A module of row vectors, by its reduced Howell form, which is unique: equal modules are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Module {
    width: u32,
    columns: usize,
    /// The row that leads in each column, if any.
    rows: Vec<Option<Vec<u64>>>,
}

/// The inverse of an odd number modulo `2^64`, by Newton's iteration.
fn inverse(a: u64) -> u64 {
    // Correct to 3 bits; each step doubles them.
    let mut x = a;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(a.wrapping_mul(x)));
    }
    x
}

impl Module {
    /// The zero module. The width is between 1 and 64.
    pub fn zero(width: u32, columns: usize) -> Module {
        Module { width, columns, rows: vec![None; columns] }
    }

    /// The module spanned by rows.
    pub fn span(width: u32, columns: usize, rows: impl IntoIterator<Item = Vec<u64>>) -> Module {
        let mut m = Module::zero(width, columns);
        for r in rows {
            m.insert(r);
        }
        m.reduce();
        m
    }

    fn mask(&self) -> u64 {
        if self.width >= 64 { u64::MAX } else { (1 << self.width) - 1 }
    }

    /// `row := row - k·other`.
    fn subtract(&self, row: &mut [u64], k: u64, other: &[u64]) {
        let mask = self.mask();
        for (x, y) in row.iter_mut().zip(other) {
            *x = x.wrapping_sub(k.wrapping_mul(*y)) & mask;
        }
    }

    /// Adds a row, keeping the Howell property.
    fn insert(&mut self, row: Vec<u64>) {
        let mask = self.mask();
        let mut work = vec![row];
        while let Some(mut v) = work.pop() {
            v.iter_mut().for_each(|x| *x &= mask);
            while let Some(c) = v.iter().position(|x| *x != 0) {
                let t = v[c].trailing_zeros();
                let unit = inverse(v[c] >> t);
                v.iter_mut().for_each(|x| *x = x.wrapping_mul(unit) & mask);
                match self.rows[c].take() {
                    Some(p) if p[c].trailing_zeros() <= t => {
                        self.subtract(&mut v, 1 << (t - p[c].trailing_zeros()), &p);
                        self.rows[c] = Some(p);
                    }
                    old => {
                        // The multiple that kills the leading entry leads further right.
                        if t > 0 {
                            let k = 1u64 << (self.width - t);
                            work.push(v.iter().map(|x| x.wrapping_mul(k)).collect());
                        }
                        let lead = v[c].trailing_zeros();
                        if let Some(mut p) = old {
                            let k = 1 << (p[c].trailing_zeros() - lead);
                            self.subtract(&mut p, k, &v);
                            work.push(p);
                        }
                        self.rows[c] = Some(v);
                        break;
                    }
                }
            }
        }
    }

    /// Makes entries above a leading entry smaller than it, so that the form is unique.
    fn reduce(&mut self) {
        for c in (0..self.columns).rev() {
            let Some(mut v) = self.rows[c].take() else { continue };
            for d in c + 1..self.columns {
                if let Some(p) = &self.rows[d] {
                    let k = v[d] >> p[d].trailing_zeros();
                    self.subtract(&mut v, k, p);
                }
            }
            self.rows[c] = Some(v);
        }
    }

    /// The rows, by leading column.
    pub fn rows(&self) -> impl Iterator<Item = &Vec<u64>> {
        self.rows.iter().flatten()
    }

    /// The row that leads in a column.
    pub fn leading(&self, column: usize) -> Option<&Vec<u64>> {
        self.rows[column].as_ref()
    }

    /// Is the vector in the module?
    pub fn contains(&self, row: &[u64]) -> bool {
        let mut v = row.to_vec();
        for c in 0..self.columns {
            if v[c] == 0 {
                continue;
            }
            match &self.rows[c] {
                Some(p) if p[c].trailing_zeros() <= v[c].trailing_zeros() => {
                    let k = v[c] >> p[c].trailing_zeros();
                    self.subtract(&mut v, k, p);
                }
                _ => return false,
            }
        }
        true
    }

    /// The sum: everything both span together.
    pub fn sum(&self, other: &Module) -> Module {
        let mut m = self.clone();
        other.rows().for_each(|r| m.insert(r.clone()));
        m.reduce();
        m
    }

    /// The intersection: from the rows `(x, x)` and `(y, 0)` those that begin with zeros, since
    /// `x + y = 0` on the left leaves an `x` that is also a `-y` on the right.
    pub fn intersection(&self, other: &Module) -> Module {
        let n = self.columns;
        let doubled = self.rows().map(|r| [r.as_slice(), r].concat());
        let padded = other.rows().map(|r| [r.as_slice(), &vec![0; n]].concat());
        let m = Module::span(self.width, 2 * n, doubled.chain(padded));
        Module::span(self.width, n, m.rows[n..].iter().flatten().map(|r| r[n..].to_vec()))
    }

    /// The vectors that are zero in the given column, without that column.
    pub fn eliminate(&self, column: usize) -> Module {
        let moved = self.rows().map(|r| {
            let mut v = r.clone();
            let x = v.remove(column);
            v.insert(0, x);
            v
        });
        let m = Module::span(self.width, self.columns, moved);
        Module::span(self.width, self.columns - 1, m.rows[1..].iter().flatten().map(|r| r[1..].to_vec()))
    }

    /// The module with columns rearranged: new column `i` is old column `from[i]`, or zero.
    pub fn arrange(&self, from: &[Option<usize>]) -> Module {
        let moved = self.rows().map(|r| from.iter().map(|f| f.map_or(0, |c| r[c])).collect());
        Module::span(self.width, from.len(), moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Rng;
    use std::collections::BTreeSet;

    /// Every vector of the module, by closing under addition.
    fn elements(width: u32, columns: usize, rows: &[Vec<u64>]) -> BTreeSet<Vec<u64>> {
        let mask = (1u64 << width) - 1;
        let mut all = BTreeSet::from([vec![0; columns]]);
        loop {
            let more: BTreeSet<Vec<u64>> = all
                .iter()
                .flat_map(|v| {
                    rows.iter().map(move |r| v.iter().zip(r).map(|(x, y)| (x + y) & mask).collect())
                })
                .collect();
            let before = all.len();
            all.extend(more);
            if all.len() == before {
                return all;
            }
        }
    }

    #[test]
    fn modules_agree_with_enumeration() {
        let mut rng = Rng::new(13);
        for round in 0..400 {
            let width = 1 + round % 3;
            let mut random = |n: u64| -> Vec<Vec<u64>> {
                (0..rng.below(n)).map(|_| (0..3).map(|_| rng.below(1 << width)).collect()).collect()
            };
            let (ra, rb) = (random(4), random(4));
            let (a, b) = (Module::span(width, 3, ra.clone()), Module::span(width, 3, rb.clone()));
            let (ea, eb) = (elements(width, 3, &ra), elements(width, 3, &rb));
            let of = |m: &Module| elements(width, m.columns, &m.rows().cloned().collect::<Vec<_>>());
            assert_eq!(of(&a), ea);
            assert_eq!(a == b, ea == eb, "the form is unique");
            assert_eq!(of(&a.sum(&b)), elements(width, 3, &[ra, rb].concat()));
            assert_eq!(of(&a.intersection(&b)), ea.intersection(&eb).cloned().collect());
            for c in 0..3 {
                let want: BTreeSet<Vec<u64>> = ea
                    .iter()
                    .filter(|v| v[c] == 0)
                    .map(|v| (0..3).filter(|i| *i != c).map(|i| v[i]).collect())
                    .collect();
                assert_eq!(of(&a.eliminate(c)), want);
            }
            for v in elements(width, 3, &[vec![1, 0, 0], vec![0, 1, 0], vec![0, 0, 1]]) {
                assert_eq!(a.contains(&v), ea.contains(&v));
            }
        }
    }
}
