//! Expressions of the automaton as trees over dimensions, with machine arithmetic as wrap.

use palisade_cfa::*;
use palisade_domains::{self as num, Dim, Interval, MachineInt, Tree};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An expression as a tree. `dim` tells the dimension that holds a place's value, which it is asked to
/// find as an integer of the given type; what has none may be any value of its type.
pub fn tree(program: &Program, root: ExprId, dim: &dyn Fn(PlaceId, IntTy) -> Option<Dim>) -> Tree {
    tree_over(program, root, &|_| None, dim)
}

/// [`tree`], where parts of the expression may have been computed before: `known` tells the dimensions that
/// hold their values.
pub fn tree_over(
    program: &Program,
    root: ExprId,
    known: &dyn Fn(ExprId) -> Option<Dim>,
    dim: &dyn Fn(PlaceId, IntTy) -> Option<Dim>,
) -> Tree {
    let mut tree = Tree::new();
    let mut done: FxHashMap<ExprId, num::NodeId> = FxHashMap::default();
    let mut work = vec![(root, false)];
    while let Some((e, ready)) = work.pop() {
        if done.contains_key(&e) {
            continue;
        }
        if let Some(d) = known(e) {
            done.insert(e, tree.dim(d));
            continue;
        }
        let below = operands(program, e);
        if ready {
            let args: SmallVec<[num::NodeId; 3]> = below.iter().map(|x| done[x]).collect();
            done.insert(e, node(program, &mut tree, e, &args, dim));
        } else {
            work.push((e, true));
            work.extend(below.into_iter().rev().map(|x| (x, false)));
        }
    }
    tree
}

/// The operands that matter: those of expressions with a meaning in integers.
pub fn operands(program: &Program, e: ExprId) -> SmallVec<[ExprId; 3]> {
    let int = |x: &ExprId| program.exprs[*x].ty.int().is_some();
    let all: SmallVec<[ExprId; 3]> = match program.exprs[e].kind {
        ExprKind::Unary(_, a) | ExprKind::Convert(a) => SmallVec::from_slice(&[a]),
        ExprKind::Binary(_, a, b) | ExprKind::Cmp(_, a, b) | ExprKind::Overflow(_, a, b) => {
            SmallVec::from_slice(&[a, b])
        }
        ExprKind::Ite(c, a, b) => SmallVec::from_slice(&[c, a, b]),
        _ => SmallVec::new(),
    };
    if int(&e) && all.iter().all(int) { all } else { SmallVec::new() }
}

fn node(
    program: &Program,
    tree: &mut Tree,
    e: ExprId,
    args: &[num::NodeId],
    dim: &dyn Fn(PlaceId, IntTy) -> Option<Dim>,
) -> num::NodeId {
    let expr = &program.exprs[e];
    let Scalar::Int(t) = expr.ty else {
        return tree.push(num::Node::Range(Interval::TOP, true));
    };
    let any = |tree: &mut Tree| tree.push(num::Node::Range(machine(t).range(), true));
    let boolean = t == IntTy::BOOL;
    match (&expr.kind, args) {
        (ExprKind::Int(bits), _) => tree.int(integer(t, *bits)),
        (ExprKind::Load(place), _) => match dim(*place, t) {
            Some(d) => tree.dim(d),
            None => any(tree),
        },
        (ExprKind::Unary(UnOp::Not, _), [a]) if boolean => tree.push(num::Node::IsZero(*a)),
        (ExprKind::Unary(op, _), [a]) => {
            let raw = match op {
                UnOp::Neg => tree.push(num::Node::Neg(*a)),
                UnOp::Not => tree.push(num::Node::Not(*a)),
            };
            tree.wrap(machine(t), raw)
        }
        (ExprKind::Binary(BinOp::And, ..), [a, b]) if boolean => tree.push(num::Node::All(*a, *b)),
        (ExprKind::Binary(BinOp::Or, ..), [a, b]) if boolean => tree.push(num::Node::Any(*a, *b)),
        (ExprKind::Binary(op, ..), [a, b]) => {
            let raw = tree.bin(operator(*op), *a, *b);
            tree.wrap(machine(t), raw)
        }
        (ExprKind::Cmp(op, ..), [a, b]) => tree.cmp(comparison(*op), *a, *b),
        (ExprKind::Overflow(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl), x, _), [a, b]) => {
            let Scalar::Int(operand) = program.exprs[*x].ty else { return any(tree) };
            let raw = tree.bin(operator(*op), *a, *b);
            let wrapped = tree.wrap(machine(operand), raw);
            tree.cmp(num::CmpOp::Ne, raw, wrapped)
        }
        (ExprKind::Ite(..), [c, a, b]) => tree.push(num::Node::Ite(*c, *a, *b)),
        (ExprKind::Convert(_), [a]) => tree.wrap(machine(t), *a),
        _ => any(tree),
    }
}

/// The machine type of the domains for a type of the automaton.
pub fn machine(t: IntTy) -> MachineInt {
    MachineInt { width: u32::from(t.bits), signed: t.signed }
}

/// The mathematical integer that value bits stand for.
pub fn integer(t: IntTy, bits: u128) -> palisade_num::Int {
    if t.signed { t.decode(bits).into() } else { t.truncate(bits).into() }
}

fn operator(op: BinOp) -> num::BinOp {
    match op {
        BinOp::Add => num::BinOp::Add,
        BinOp::Sub => num::BinOp::Sub,
        BinOp::Mul => num::BinOp::Mul,
        BinOp::Div => num::BinOp::Div,
        BinOp::Rem => num::BinOp::Rem,
        BinOp::And => num::BinOp::And,
        BinOp::Or => num::BinOp::Or,
        BinOp::Xor => num::BinOp::Xor,
        BinOp::Shl => num::BinOp::Shl,
        BinOp::Shr => num::BinOp::Shr,
    }
}

fn comparison(op: CmpOp) -> num::CmpOp {
    match op {
        CmpOp::Eq => num::CmpOp::Eq,
        CmpOp::Ne => num::CmpOp::Ne,
        CmpOp::Lt => num::CmpOp::Lt,
        CmpOp::Le => num::CmpOp::Le,
    }
}
