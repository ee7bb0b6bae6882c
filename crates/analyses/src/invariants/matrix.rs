//! Exact linear algebra over the rationals: row reduction and null spaces.

use palisade_num::Rat;

/// A row of numbers.
pub type Row = Vec<Rat>;

/// Brings rows to reduced echelon form, drops zero rows and returns the pivot columns. Pivots are
/// chosen from the columns in the given order.
pub fn reduce(rows: &mut Vec<Row>, columns: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut pivots = Vec::new();
    let mut next = 0;
    for c in columns {
        let Some(found) = (next..rows.len()).find(|&r| !rows[r][c].is_zero()) else { continue };
        rows.swap(next, found);
        let scale = rows[next][c].recip();
        rows[next].iter_mut().for_each(|x| *x = &*x * &scale);
        let pivot = rows[next].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            if r != next && !row[c].is_zero() {
                let k = row[c].clone();
                for (x, p) in row.iter_mut().zip(&pivot) {
                    *x = &*x - &(&k * p);
                }
            }
        }
        pivots.push(c);
        next += 1;
    }
    rows.truncate(next);
    pivots
}

/// A basis of the vectors that every row maps to zero.
pub fn null_space(mut rows: Vec<Row>, width: usize) -> Vec<Row> {
    let pivots = reduce(&mut rows, 0..width);
    let free = (0..width).filter(|c| !pivots.contains(c));
    free.map(|f| {
        let mut v = vec![Rat::ZERO; width];
        v[f] = Rat::ONE;
        for (row, &p) in rows.iter().zip(&pivots) {
            v[p] = -&row[f];
        }
        v
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_space_is_mapped_to_zero_and_has_full_dimension() {
        let mut seed = 3u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Rat::from((seed >> 33) as i64 % 5 - 2)
        };
        for (n, m) in [(1, 3), (2, 3), (3, 3), (4, 6), (2, 2)] {
            for _ in 0..50 {
                let rows: Vec<Row> = (0..n).map(|_| (0..m).map(|_| random()).collect()).collect();
                let basis = null_space(rows.clone(), m);
                for v in &basis {
                    for row in &rows {
                        let sum = row.iter().zip(v).fold(Rat::ZERO, |s, (a, b)| &s + &(a * b));
                        assert!(sum.is_zero());
                    }
                }
                let rank = reduce(&mut rows.clone(), 0..m).len();
                assert_eq!(basis.len() + rank, m);
                assert_eq!(reduce(&mut basis.clone(), 0..m).len(), basis.len(), "independent");
            }
        }
    }
}
