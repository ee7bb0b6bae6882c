//! Exact linear programming, as Farkas' lemma needs it: `G ⇒ f ≥ 0` over the rationals exactly if
//! `f` is a sum of the constraints in `G` with multipliers, non-negative for inequalities, plus a
//! non-negative constant. With unknown coefficients in `f` and one unknown multiplier fixed, that is a
//! system of linear equations with sign conditions, which [`Program::solve`] solves.

use palisade_num::Rat;

/// A system of equations over unknowns, some of them non-negative.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// For each unknown, whether it must not be negative.
    signs: Vec<bool>,
    /// Coefficients by unknown, and the right side.
    rows: Vec<(Vec<(usize, Rat)>, Rat)>,
}

impl Program {
    /// A new unknown.
    pub fn unknown(&mut self, non_negative: bool) -> usize {
        self.signs.push(non_negative);
        self.signs.len() - 1
    }

    /// Requires `Σ k·unknown = right`. An unknown may occur several times.
    pub fn equation(&mut self, left: Vec<(usize, Rat)>, right: Rat) {
        self.rows.push((left, right));
    }

    /// Values that fulfil everything, if there are any: the first phase of the simplex method on
    /// exact numbers, with Bland's rule, which always ends.
    pub fn solve(&self) -> Option<Vec<Rat>> {
        // A free unknown is the difference of two non-negative ones.
        let mut column = Vec::with_capacity(self.signs.len());
        let mut columns = 0;
        for non_negative in &self.signs {
            column.push(columns);
            columns += if *non_negative { 1 } else { 2 };
        }
        let m = self.rows.len();
        let width = columns + m + 1;
        let mut table = vec![vec![Rat::ZERO; width]; m];
        for (row, (left, right)) in table.iter_mut().zip(&self.rows) {
            for (u, k) in left {
                let c = column[*u];
                row[c] = &row[c] + k;
                if !self.signs[*u] {
                    row[c + 1] = &row[c + 1] - k;
                }
            }
            row[width - 1] = right.clone();
            if right.is_negative() {
                row.iter_mut().for_each(|x| *x = -&*x);
            }
        }
        for (i, row) in table.iter_mut().enumerate() {
            row[columns + i] = Rat::ONE;
        }
        let mut basis: Vec<usize> = (columns..columns + m).collect();
        // The sum of the artificial unknowns, as its row of reduced costs.
        let mut cost = vec![Rat::ZERO; width];
        for row in &table {
            for (c, x) in cost.iter_mut().zip(row) {
                *c = &*c + x;
            }
        }
        // Bland: the first column that improves, the first row (by basis) that limits it.
        while let Some(enter) = (0..columns).find(|&c| cost[c].is_positive()) {
            let mut leave: Option<(usize, Rat)> = None;
            for (r, row) in table.iter().enumerate() {
                if row[enter].is_positive() {
                    let ratio = &row[width - 1] / &row[enter];
                    let better = match &leave {
                        None => true,
                        Some((l, best)) => ratio < *best || (ratio == *best && basis[r] < basis[*l]),
                    };
                    if better {
                        leave = Some((r, ratio));
                    }
                }
            }
            // The sum of the artificial unknowns is bounded below, so some row limits.
            let (leave, _) = leave?;
            pivot(&mut table, &mut cost, leave, enter);
            basis[leave] = enter;
        }
        if !cost[width - 1].is_zero() {
            return None;
        }
        let mut values = vec![Rat::ZERO; columns + m];
        for (row, &b) in table.iter().zip(&basis) {
            values[b] = row[width - 1].clone();
        }
        let value = |u: usize| {
            let c = column[u];
            if self.signs[u] { values[c].clone() } else { &values[c] - &values[c + 1] }
        };
        Some((0..self.signs.len()).map(value).collect())
    }
}

fn pivot(table: &mut [Vec<Rat>], cost: &mut [Rat], r: usize, c: usize) {
    let scale = table[r][c].recip();
    table[r].iter_mut().for_each(|x| *x = &*x * &scale);
    let row = table[r].clone();
    let eliminate = |other: &mut [Rat]| {
        if !other[c].is_zero() {
            let k = other[c].clone();
            for (x, p) in other.iter_mut().zip(&row) {
                *x = &*x - &(&k * p);
            }
        }
    };
    for (i, other) in table.iter_mut().enumerate() {
        if i != r {
            eliminate(other);
        }
    }
    eliminate(cost);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Systems over a grid: whether there is a solution agrees with a search for one on the grid,
    /// and solutions are solutions.
    #[test]
    fn solutions_are_solutions_and_none_is_missed() {
        let mut seed = 11u64;
        let mut random = |n: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as i64 % n
        };
        let (mut solved, mut refused) = (0, 0);
        for _ in 0..400 {
            let signs = [random(2) == 0, random(2) == 0, true];
            let rows: Vec<([i64; 3], i64)> =
                (0..2).map(|_| ([random(5) - 2, random(5) - 2, random(5) - 2], random(7) - 3)).collect();
            let mut p = Program::default();
            let unknowns = signs.map(|s| p.unknown(s));
            for (k, right) in &rows {
                p.equation(
                    unknowns.iter().zip(k).map(|(u, k)| (*u, Rat::from(*k))).collect(),
                    Rat::from(*right),
                );
            }
            match p.solve() {
                Some(v) => {
                    solved += 1;
                    assert!(signs.iter().zip(&v).all(|(s, x)| !s || !x.is_negative()));
                    for (k, right) in &rows {
                        let sum = k.iter().zip(&v).fold(Rat::ZERO, |s, (k, x)| &s + &(&Rat::from(*k) * x));
                        assert_eq!(sum, Rat::from(*right));
                    }
                }
                None => {
                    refused += 1;
                    let grid = -6i64..=6;
                    for x in grid.clone() {
                        for y in grid.clone() {
                            for z in grid.clone() {
                                let v = [x, y, z];
                                let signed = signs.iter().zip(&v).all(|(s, x)| !s || *x >= 0);
                                let fits = rows
                                    .iter()
                                    .all(|(k, r)| k.iter().zip(&v).map(|(k, x)| k * x).sum::<i64>() == *r);
                                assert!(!(signed && fits), "{rows:?} {v:?}");
                            }
                        }
                    }
                }
            }
        }
        assert!(solved > 50 && refused > 20, "{solved} {refused}");
    }
}
