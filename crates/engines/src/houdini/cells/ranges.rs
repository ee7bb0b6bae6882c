//! Sets of elements that facts may be about.

use super::Cells;
use crate::houdini::passes::Subst;
use palisade_cfa::*;
use palisade_evidence::Invariants;

/// At most this many ends of ranges by constants.
const MAX_ENDS: usize = 6;

impl Cells<'_> {
    /// Further ends of ranges in arrays of one dimension: an index of the program where a register in it has a
    /// constant that it is set to, such as the first value of the counter of an inner loop.
    fn further_ends(&self, pool: &mut Invariants) -> Vec<ExprId> {
        let mut found = Vec::new();
        for tuple in self.tuples.iter().filter(|t| t.len() == 1 && !self.reads_memory(t[0])) {
            let registers = self.registers(tuple[0]);
            if registers.len() < 2 {
                continue;
            }
            for edge in &self.program.edges {
                if let Op::Assign { dst, src } = edge.op
                    && let Some((var, _)) = self.program.whole_integer(dst)
                    && registers.contains(&var)
                    && self.constant(src).is_some()
                    && found.len() < MAX_ENDS
                {
                    let values = [(var, src)];
                    let mut subst =
                        Subst { program: self.program, pool, values: &values, index: None, element: None };
                    found.push(subst.expr(tuple[0]));
                }
            }
        }
        found
    }

    /// Sets of elements by where another access is: `f * k + c` below a bound, where the program accesses `a[x]` and
    /// `b[f * x + c]`.
    fn scaled(&self, pool: &mut Invariants, k: ExprId, bounds: &[ExprId]) -> Vec<ExprId> {
        let wide = Scalar::Int(Invariants::GHOST);
        let mut found = Vec::new();
        for tuple in self.tuples.iter().filter(|t| t.len() == 1) {
            let Some((var, factor @ 2..)) = self.linear(tuple[0]) else { continue };
            let Some(rest) = self.value_at_zero(tuple[0]) else { continue };
            if !self.tuples.iter().any(|t| t.len() == 1 && self.register(t[0]) == Some(var)) {
                continue;
            }
            let (factor, rest) = (pool.int(Invariants::GHOST, factor), pool.int(Invariants::GHOST, rest));
            let product = pool.expr(wide, ExprKind::Binary(BinOp::Mul, k, factor));
            let there = pool.expr(wide, ExprKind::Binary(BinOp::Add, product, rest));
            for &bound in bounds {
                // The index itself is below the bound as well, so nothing wraps around.
                let below = [k, there].map(|e| pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, e, bound)));
                found.push(pool.all(BinOp::And, &below));
            }
        }
        found
    }

    /// Sets of elements, as conditions on the ghosts.
    pub(super) fn ranges(&self, pool: &mut Invariants, ghosts: &[VarId]) -> Vec<ExprId> {
        let k: Vec<ExprId> = ghosts.iter().map(|&g| pool.ghost_value(g)).collect();
        let zero = pool.int(Invariants::GHOST, 0);
        let compare = |pool: &mut Invariants, op, a, b| pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, b));
        let both = |pool: &mut Invariants, a, b| pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::And, a, b));
        let mut inside = compare(pool, CmpOp::Le, zero, k[0]);
        for &k in &k[1..] {
            let low = compare(pool, CmpOp::Le, zero, k);
            inside = both(pool, inside, low);
        }
        let bounds: Vec<ExprId> = self.bounds.iter().map(|&b| self.wide(pool, b)).collect();
        // Bounds of all dimensions but the first: an element beyond them is in another row.
        let mut rows: Vec<ExprId> = vec![inside];
        for &k in &k[1..] {
            let mut next = Vec::new();
            for &row in &rows {
                for &bound in &bounds {
                    let below = compare(pool, CmpOp::Lt, k, bound);
                    next.push(both(pool, row, below));
                }
            }
            if !next.is_empty() {
                rows = next;
            }
        }
        rows.truncate(9);
        let mut ranges = rows.clone();
        for &row in &rows {
            for &bound in &bounds {
                let below = compare(pool, CmpOp::Lt, k[0], bound);
                ranges.push(both(pool, row, below));
            }
            for tuple in self.tuples.iter().filter(|t| t.len() == k.len()) {
                let mut prefix = row;
                for (level, &index) in tuple.iter().enumerate() {
                    if matches!(self.program.exprs[index].kind, ExprKind::Int(_)) || self.reads_memory(index)
                    {
                        continue;
                    }
                    let i = self.wide(pool, index);
                    let ops: &[_] = match level {
                        0 => &[(CmpOp::Lt, true), (CmpOp::Le, true), (CmpOp::Le, false), (CmpOp::Lt, false)],
                        _ => &[(CmpOp::Lt, true)],
                    };
                    for &(op, below) in ops {
                        let (a, b) = if below { (k[level], i) } else { (i, k[level]) };
                        let range = compare(pool, op, a, b);
                        let range = both(pool, prefix, range);
                        ranges.push(range);
                        for &bound in bounds.iter().filter(|_| !below) {
                            let end = compare(pool, CmpOp::Lt, k[level], bound);
                            ranges.push(both(pool, range, end));
                        }
                    }
                    let here = compare(pool, CmpOp::Eq, k[level], i);
                    prefix = both(pool, prefix, here);
                }
            }
        }
        // With several steps, each residue is a set of its own.
        let mut stepped = Vec::new();
        for &step in self.steps.iter().filter(|_| k.len() == 1) {
            for rest in 0..step {
                let m = pool.int(Invariants::GHOST, step);
                let residue =
                    pool.expr(Scalar::Int(Invariants::GHOST), ExprKind::Binary(BinOp::Rem, k[0], m));
                let rest = pool.int(Invariants::GHOST, rest);
                let residue = compare(pool, CmpOp::Eq, residue, rest);
                stepped.extend(ranges.iter().map(|&range| both(pool, range, residue)));
            }
        }
        if let [k] = k[..] {
            for end in self.further_ends(pool) {
                let end = self.wide(pool, end);
                let below = compare(pool, CmpOp::Lt, k, end);
                ranges.push(both(pool, inside, below));
            }
            for below in self.scaled(pool, k, &bounds) {
                ranges.push(both(pool, inside, below));
            }
        }
        ranges.extend(stepped);
        ranges
    }
}
