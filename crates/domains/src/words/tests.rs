use super::*;
use crate::expr::BinOp;
use crate::laws::Rng;

mod narrow_words {
    use super::*;
    crate::laws::laws!(Words, WordSize::new(3));
}

mod machine_words {
    use super::*;
    crate::laws::laws!(Words, WordSize::new(64));
}

const X: u32 = 0;
const Y: u32 = 1;

fn byte(signed: bool) -> MachineInt {
    MachineInt { width: 8, signed }
}

/// `y = (type)(x + k)` for bytes.
fn sum(k: i64, ty: MachineInt) -> Tree {
    let mut t = Tree::new();
    let (x, y, k) = (t.dim(Dim::int(X)), t.dim(Dim::int(Y)), t.int(k));
    let sum = t.bin(BinOp::Add, x, k);
    let wrapped = t.wrap(ty, sum);
    t.cmp(CmpOp::Eq, y, wrapped);
    t
}

fn bytes(signed: bool) -> Words {
    let mut a = Words::top(&WordSize::new(64));
    for d in [X, Y] {
        a.assume_tree(&in_type(Dim::int(d), byte(signed)), true);
    }
    a
}

fn in_type(d: Dim, ty: MachineInt) -> Tree {
    let mut t = Tree::new();
    let (x, lo, hi) = (t.dim(d), t.int(ty.min()), t.int(ty.max()));
    let (above, below) = (t.cmp(CmpOp::Le, lo, x), t.cmp(CmpOp::Le, x, hi));
    t.push(Node::All(above, below));
    t
}

fn exactly(a: &Words, k: i64) -> bool {
    let mut with = Affine::top(&WordSize::new(64));
    with.assume(&LinCons::eq(Dim::int(Y), LinExpr::dim(Dim::int(X)).add_constant(&Rat::from(k))));
    a.relations().leq(&with)
}

#[test]
fn a_sum_that_cannot_wrap_is_exact() {
    for signed in [false, true] {
        let mut a = bytes(signed);
        a.assume_tree(&sum(1, byte(signed)), true);
        assert!(!exactly(&a, 1), "255 + 1 = 0");
        // Below the largest number on either side of the equation.
        let mut below = a.clone();
        below.assume(&LinCons::le(Dim::int(X), LinExpr::constant(byte(signed).max() - Int::ONE)));
        below.assume_tree(&sum(1, byte(signed)), true);
        assert!(exactly(&below, 1), "{below:?}");
        let mut above = a;
        above.assume(&LinCons::ge(Dim::int(Y), LinExpr::constant(byte(signed).min() + Int::ONE)));
        above.assume_tree(&sum(1, byte(signed)), true);
        assert!(exactly(&above, 1), "{above:?}");
    }
}

#[test]
fn a_bit_that_is_not_one_is_zero() {
    let mut a = Words::top(&WordSize::new(64));
    a.assume_tree(&in_type(Dim::int(X), MachineInt::unsigned(1)), true);
    let mut t = Tree::new();
    let (x, one) = (t.dim(Dim::int(X)), t.int(1));
    t.cmp(CmpOp::Eq, x, one);
    a.assume_tree(&t, false);
    assert_eq!(a.relations().to_constraints()[0].len(), 1);
    assert!(a.contains(&|_| Rat::ZERO) && !a.contains(&|_| Rat::ONE));
}

/// Random literals over two words of 3 bits: no state that satisfies one is lost, and the result never grows.
#[test]
fn literals_keep_their_models() {
    let mut rng = Rng::new(77);
    let ty = [MachineInt::unsigned(3), MachineInt::signed(3)];
    let dims = [Dim::int(X), Dim::int(Y)];
    for _ in 0..3000 {
        let mut a = Words::top(&WordSize::new(if rng.below(2) == 0 { 64 } else { 4 }));
        dims.iter().zip(ty).for_each(|(d, ty)| a.assume_tree(&in_type(*d, ty), true));
        let mut kept: Vec<(i64, i64)> = (0..8).flat_map(|x| (-4..4).map(move |y| (x, y))).collect();
        for _ in 0..3 {
            let (tree, truth) = (literal(&mut rng), rng.below(2) == 0);
            let holds = |s: &(i64, i64)| {
                let at = |d: Dim| Rat::from(if d == dims[0] { s.0 } else { s.1 });
                tree.eval(&at, &|_| Rat::ZERO).is_some_and(|v| v.is_zero() != truth)
            };
            kept.retain(holds);
            let before = a.clone();
            a.assume_tree(&tree, truth);
            assert!(a.leq(&before), "{a:?} after {before:?}");
            for s in &kept {
                let at = |d: Dim| Rat::from(if d == dims[0] { s.0 } else { s.1 });
                assert!(a.contains(&at), "{s:?} lost by {:?} {truth}: {before:?} to {a:?}", tree.nodes());
            }
        }
    }
}

fn literal(rng: &mut Rng) -> Tree {
    let mut t = Tree::new();
    let mut side = |t: &mut Tree| {
        let mut at = t.dim(Dim::int(rng.below(2) as u32));
        for _ in 0..rng.below(4) {
            let other = match rng.below(2) {
                0 => t.dim(Dim::int(rng.below(2) as u32)),
                _ => t.int(rng.range(-4, 7)),
            };
            at = match rng.below(13) {
                9 => t.bin(BinOp::Or, at, other),
                10 => t.bin(BinOp::Rem, at, other),
                11 => t.bin(BinOp::Div, at, other),
                12 => t.bin(BinOp::Shr, at, other),
                0 => t.bin(BinOp::Sub, at, other),
                1 => t.bin(BinOp::Mul, at, other),
                2 => t.bin(BinOp::And, at, other),
                3 => t.bin(BinOp::Xor, at, other),
                4 => t.push(Node::Not(at)),
                5 | 6 => t.wrap(MachineInt { width: 3, signed: rng.below(2) == 0 }, at),
                7 => t.push(Node::Neg(at)),
                _ => t.bin(BinOp::Add, at, other),
            };
        }
        at
    };
    let (a, b) = (side(&mut t), side(&mut t));
    t.cmp([CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le][rng.below(4) as usize], a, b);
    t
}
