//! Ranges of machine integers, with C's arithmetic on them.
//!
//! Numbers are the mathematical ones of types of at most 64 bits, so that sums never leave `i128`; a product
//! that does may be anything.

use palisade_cfa::{BinOp, CmpOp, IntTy, UnOp};

/// All integers from the first to the last; never empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// The first.
    pub lo: i128,
    /// The last.
    pub hi: i128,
}

/// Types whose numbers are looked at have at most this many bits.
const MAX_BITS: u16 = 64;

impl Range {
    /// One number.
    pub fn point(value: i128) -> Range {
        Range { lo: value, hi: value }
    }

    /// All numbers of a type; `None` if it is too wide.
    pub fn of(ty: IntTy) -> Option<Range> {
        (ty.bits <= MAX_BITS).then(|| Range { lo: ty.decode(ty.min_bits()), hi: ty.decode(ty.max_bits()) })
    }

    /// The number, if there is one only.
    pub fn as_point(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Whether all numbers of the other are here.
    pub fn contains(self, other: Range) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The smallest range with all numbers of both.
    pub fn hull(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The numbers of both.
    pub fn meet(self, other: Range) -> Option<Range> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Range { lo, hi })
    }

    /// What becomes of the numbers in a type; all of them if they do not stay together.
    fn wrap(self, all: Range) -> Range {
        if all.contains(self) {
            return self;
        }
        let size = all.hi - all.lo + 1;
        let shift = (self.lo - all.lo).div_euclid(size) * size;
        let moved = Range { lo: self.lo - shift, hi: self.hi.saturating_sub(shift) };
        if all.contains(moved) { moved } else { all }
    }

    /// The numbers converted to a type.
    pub fn convert(self, ty: IntTy) -> Option<Range> {
        Some(self.wrap(Range::of(ty)?))
    }

    /// An operator on numbers of a type.
    pub fn unary(op: UnOp, ty: IntTy, a: Range) -> Option<Range> {
        let all = Range::of(ty)?;
        let raw = match op {
            UnOp::Neg => Range { lo: -a.hi, hi: -a.lo },
            UnOp::Not if ty.signed => Range { lo: -1 - a.hi, hi: -1 - a.lo },
            UnOp::Not => Range { lo: all.hi - a.hi, hi: all.hi - a.lo },
        };
        Some(raw.wrap(all))
    }

    /// An operator on numbers of a type.
    pub fn binary(op: BinOp, ty: IntTy, a: Range, b: Range) -> Option<Range> {
        let all = Range::of(ty)?;
        Some(Range::exact(op, ty, a, b).map_or(all, |raw| raw.wrap(all)))
    }

    /// Whether the result of an operator leaves the type, if that is the same for all numbers.
    pub fn overflow(op: BinOp, ty: IntTy, a: Range, b: Range) -> Option<bool> {
        let all = Range::of(ty)?;
        if !matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
            return None;
        }
        let raw = Range::exact(op, ty, a, b)?;
        if all.contains(raw) {
            return Some(false);
        }
        raw.meet(all).is_none().then_some(true)
    }

    /// The result before it is wrapped; `None` if nothing is known about it.
    fn exact(op: BinOp, ty: IntTy, a: Range, b: Range) -> Option<Range> {
        let corners = |f: &dyn Fn(i128, i128) -> Option<i128>| {
            let all = [f(a.lo, b.lo)?, f(a.lo, b.hi)?, f(a.hi, b.lo)?, f(a.hi, b.hi)?];
            let (lo, hi) = all.iter().fold((all[0], all[0]), |(lo, hi), &v| (lo.min(v), hi.max(v)));
            Some(Range { lo, hi })
        };
        let natural = a.lo >= 0 && b.lo >= 0;
        match op {
            BinOp::Add => Some(Range { lo: a.lo + b.lo, hi: a.hi + b.hi }),
            BinOp::Sub => Some(Range { lo: a.lo - b.hi, hi: a.hi - b.lo }),
            BinOp::Mul => corners(&i128::checked_mul),
            BinOp::Div | BinOp::Rem if b.lo <= 0 && 0 <= b.hi => None,
            BinOp::Div => corners(&i128::checked_div),
            BinOp::Rem => Some(remainder(a, b)),
            BinOp::Shl | BinOp::Shr => {
                let by = b.as_point().filter(|by| (0..i128::from(ty.bits)).contains(by))?;
                match op {
                    BinOp::Shl => {
                        Some(Range { lo: a.lo.checked_mul(1 << by)?, hi: a.hi.checked_mul(1 << by)? })
                    }
                    _ => Some(Range { lo: a.lo >> by, hi: a.hi >> by }),
                }
            }
            BinOp::And | BinOp::Or | BinOp::Xor => match (a.as_point(), b.as_point(), op) {
                (Some(a), Some(b), BinOp::And) => Some(Range::point(a & b)),
                (Some(a), Some(b), BinOp::Or) => Some(Range::point(a | b)),
                (Some(a), Some(b), _) => Some(Range::point(a ^ b)),
                // A mask without a sign keeps no more than its own bits.
                (_, _, BinOp::And) if a.lo >= 0 || b.lo >= 0 => {
                    let mask = |r: Range| if r.lo >= 0 { r.hi } else { i128::MAX };
                    // Of truth values nothing is lost.
                    let lo = i128::from(natural && ty == IntTy::BOOL && a.lo == 1 && b.lo == 1);
                    Some(Range { lo, hi: mask(a).min(mask(b)) })
                }
                (_, _, BinOp::Or) if natural => {
                    Some(Range { lo: a.lo.max(b.lo), hi: all_ones(a.hi.max(b.hi)) })
                }
                (_, _, BinOp::Xor) if natural => Some(Range { lo: 0, hi: all_ones(a.hi.max(b.hi)) }),
                _ => None,
            },
        }
    }

    /// A comparison, if it has the same result for all numbers.
    pub fn compare(op: CmpOp, a: Range, b: Range) -> Option<bool> {
        match op {
            CmpOp::Eq if a.meet(b).is_none() => Some(false),
            CmpOp::Eq => (a.as_point().is_some() && a == b).then_some(true),
            CmpOp::Ne => Range::compare(CmpOp::Eq, a, b).map(|equal| !equal),
            CmpOp::Lt if a.hi < b.lo => Some(true),
            CmpOp::Lt => (a.lo >= b.hi).then_some(false),
            CmpOp::Le => Range::compare(CmpOp::Lt, b, a).map(|less| !less),
        }
    }
}

/// The smallest number of ones only that is not smaller.
fn all_ones(n: i128) -> i128 {
    ((1u128 << (128 - n.leading_zeros())) - 1) as i128
}

/// The remainder has the sign of the dividend and is smaller than the divisor, which is not 0.
fn remainder(a: Range, b: Range) -> Range {
    let (least, most) = (b.lo.abs().min(b.hi.abs()), b.lo.abs().max(b.hi.abs()));
    // A dividend that is smaller than the divisor stays as it is.
    if -least < a.lo && a.hi < least {
        return a;
    }
    // Between two multiples of one divisor remainders are as far apart as dividends.
    if least == most && a.lo / most == a.hi / most && (a.lo >= 0 || a.hi <= 0) {
        return Range { lo: a.lo % most, hi: a.hi % most };
    }
    Range { lo: a.lo.clamp(1 - most, 0), hi: a.hi.clamp(0, most - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_cfa::Scalar;
    use palisade_cfa::eval::*;

    const OPS: [BinOp; 10] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Rem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::Shr,
    ];

    fn numbers(ty: IntTy, r: Range) -> impl Iterator<Item = u128> {
        (r.lo..=r.hi).map(move |v| ty.truncate(v as u128))
    }

    fn ranges(ty: IntTy) -> Vec<Range> {
        let all = Range::of(ty).expect("narrow");
        (all.lo..=all.hi).flat_map(|lo| (lo..=all.hi).map(move |hi| Range { lo, hi })).collect()
    }

    /// Every operator on every pair of ranges of three bits covers what it does to the numbers; a single pair of
    /// numbers has a single result, where there is one.
    #[test]
    fn operators_cover_the_numbers() {
        for signed in [true, false] {
            let ty = IntTy { bits: 3, signed };
            let scalar = Scalar::Int(ty);
            for a in ranges(ty) {
                for op in [UnOp::Neg, UnOp::Not] {
                    let out = Range::unary(op, ty, a).expect("narrow");
                    for x in numbers(ty, a) {
                        let value = ty.decode(eval_unary(op, scalar, x).expect("total"));
                        assert!(out.contains(Range::point(value)), "{op:?} {a:?}");
                    }
                }
                for to in [IntTy { bits: 2, signed: true }, IntTy { bits: 4, signed: false }, IntTy::BOOL] {
                    let out = a.convert(to).expect("narrow");
                    for x in numbers(ty, a) {
                        let value = eval_convert(scalar, Scalar::Int(to), x, 32).expect("total");
                        assert!(out.contains(Range::point(to.decode(value))), "{to} {a:?}");
                    }
                }
                for b in ranges(ty) {
                    for op in OPS {
                        let out = Range::binary(op, ty, a, b).expect("narrow");
                        let leaves = Range::overflow(op, ty, a, b);
                        for (x, y) in numbers(ty, a).flat_map(|x| numbers(ty, b).map(move |y| (x, y))) {
                            let Some(value) = eval_binary(op, scalar, x, ty, y) else { continue };
                            let value = ty.decode(value);
                            assert!(out.contains(Range::point(value)), "{op:?} {ty} {a:?} {b:?}");
                            let both = a.as_point().is_some() && b.as_point().is_some();
                            assert!(!both || out == Range::point(value), "{op:?} {ty} {a:?} {b:?}");
                            if let Some(leaves) = leaves {
                                assert_eq!(
                                    eval_overflow(op, ty, x, ty, y),
                                    Some(leaves),
                                    "{op:?} {a:?} {b:?}"
                                );
                            }
                        }
                    }
                    for op in [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le] {
                        let pairs = numbers(ty, a).flat_map(|x| numbers(ty, b).map(move |y| (x, y)));
                        let found: Vec<bool> =
                            pairs.filter_map(|(x, y)| eval_cmp(op, scalar, x, y)).collect();
                        let same = found.iter().all(|f| *f == found[0]).then_some(found[0]);
                        assert_eq!(Range::compare(op, a, b), same, "{op:?} {a:?} {b:?}");
                    }
                }
            }
        }
    }
}
