//! What a run would have had to do otherwise: for a comparison that went the wrong way, by how much the
//! input would have to change on which it depends.
//!
//! Inputs often reach a comparison unchanged or with something added. So the difference of the two
//! sides is tried on inputs that have the value of a side, and on the latest ones: where the relation is linear this
//! solves the branch without a solver.

use super::choices::Choice;
use palisade_base::IdxVec;
use palisade_cfa::*;
use palisade_interp::State;

/// A condition without connectives, which shall have a value.
#[derive(Clone, Copy, Debug)]
enum Atom {
    /// A comparison of integers.
    Cmp(CmpOp, ExprId, ExprId, bool),
    /// An operation whose result shall leave its type.
    Overflow(BinOp, ExprId, ExprId),
}

/// Inputs that are looked at for the value of an operand, and those that are tried although they do not have it.
const WINDOW: usize = 100;
const LATEST: usize = 3;

/// By edge: what may enable an assumption, or violate a check.
pub struct Goals {
    atoms: IdxVec<EdgeId, Vec<Atom>>,
}

impl Goals {
    pub fn new(program: &Program) -> Goals {
        let mut atoms = IdxVec::filled(Vec::new(), program.edges.len());
        for (id, edge) in program.edges.iter_enumerated() {
            match edge.op {
                Op::Assume { cond } => collect(program, cond, true, &mut atoms[id]),
                Op::Check { cond, .. } => collect(program, cond, false, &mut atoms[id]),
                _ => {}
            }
        }
        Goals { atoms }
    }

    /// Whether anything can be said of an edge.
    pub fn any(&self, edge: EdgeId) -> bool {
        !self.atoms[edge].is_empty()
    }

    /// Changes of one choice each, by its position, that may bring a run to the edge (or violate its check)
    /// which is in front of it in this state.
    pub fn changes(&self, edge: EdgeId, state: &State<'_>, choices: &[Choice], out: &mut Vec<(usize, u128)>) {
        for atom in &self.atoms[edge] {
            match *atom {
                Atom::Cmp(op, a, b, wanted) => {
                    let Some((x, y)) = values(state, a, b) else { continue };
                    for by in differences(op, x, y, wanted) {
                        shift(choices, x, by, out);
                        shift(choices, y, by.wrapping_neg(), out);
                    }
                    // An index that is too large: the last one has been tried, the first one is next.
                    if wanted && matches!(op, CmpOp::Lt | CmpOp::Le) && 0 < y && y <= x {
                        clear(choices, x, out);
                    }
                }
                Atom::Overflow(op, a, b) => {
                    let Scalar::Int(ty) = state.program().exprs[a].ty else { continue };
                    let Some((x, y)) = values(state, a, b) else { continue };
                    if ty.bits > 64 {
                        continue;
                    }
                    let (min, max) = (ty.decode(ty.min_bits()), ty.decode(ty.max_bits()));
                    match op {
                        BinOp::Add | BinOp::Sub => {
                            let sum = if op == BinOp::Add { x + y } else { x - y };
                            for by in [max + 1 - sum, min - 1 - sum] {
                                shift(choices, x, by, out);
                                shift(choices, y, if op == BinOp::Add { by } else { -by }, out);
                            }
                        }
                        BinOp::Mul => {
                            for (one, other) in [(x, y), (y, x)] {
                                if other != 0 {
                                    shift(choices, one, max / other + other.signum() - one, out);
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// The atoms of a condition that shall have a value; how they are connected is left aside.
fn collect(program: &Program, cond: ExprId, wanted: bool, out: &mut Vec<Atom>) {
    let mut pending = vec![(cond, wanted)];
    while let Some((e, wanted)) = pending.pop() {
        if out.len() >= 8 {
            return;
        }
        let truth = |e: ExprId| match program.exprs[e].kind {
            ExprKind::Cmp(..) | ExprKind::Overflow(..) => true,
            ExprKind::Unary(UnOp::Not, _) | ExprKind::Convert(_) => {
                matches!(program.exprs[e].ty, Scalar::Int(t) if t.bits == 1)
            }
            _ => false,
        };
        match program.exprs[e].kind {
            ExprKind::Unary(UnOp::Not, a) => pending.push((a, !wanted)),
            ExprKind::Convert(a) => pending.push((a, wanted)),
            ExprKind::Binary(BinOp::And | BinOp::Or, a, b) => pending.extend([(a, wanted), (b, wanted)]),
            ExprKind::Ite(c, a, b) => pending.extend([(c, wanted), (a, wanted), (b, wanted)]),
            ExprKind::Cmp(op @ (CmpOp::Eq | CmpOp::Ne), a, b)
                if matches!(program.exprs[b].kind, ExprKind::Int(0)) && inner_truth(program, a, &truth) =>
            {
                pending.push((a, wanted == (op == CmpOp::Ne)));
            }
            ExprKind::Cmp(op, a, b) if matches!(program.exprs[a].ty, Scalar::Int(_)) => {
                out.push(Atom::Cmp(op, a, b, wanted));
            }
            ExprKind::Overflow(op, a, b) if wanted => out.push(Atom::Overflow(op, a, b)),
            _ => {}
        }
    }
}

/// Whether an expression is a truth value, possibly converted to a wider type.
fn inner_truth(program: &Program, mut e: ExprId, truth: &dyn Fn(ExprId) -> bool) -> bool {
    while let ExprKind::Convert(a) = program.exprs[e].kind {
        e = a;
    }
    truth(e)
}

fn values(state: &State<'_>, a: ExprId, b: ExprId) -> Option<(i128, i128)> {
    Some((state.eval(a).ok()?.as_int()?, state.eval(b).ok()?.as_int()?))
}

/// What to add to the left side `x` of a comparison with `y`.
fn differences(op: CmpOp, x: i128, y: i128, wanted: bool) -> Vec<i128> {
    let by = y.wrapping_sub(x);
    match (op, wanted) {
        (CmpOp::Eq, true) | (CmpOp::Ne, false) => vec![by],
        (CmpOp::Ne, true) | (CmpOp::Eq, false) => vec![1, -1],
        (CmpOp::Lt, true) => vec![by.wrapping_sub(1)],
        (CmpOp::Le, true) | (CmpOp::Lt, false) => vec![by],
        (CmpOp::Le, false) => vec![by.wrapping_add(1)],
    }
}

/// Makes the latest choice zero that has a value.
fn clear(choices: &[Choice], value: i128, out: &mut Vec<(usize, u128)>) {
    let from = choices.len().saturating_sub(WINDOW);
    let latest = choices.iter().enumerate().skip(from).rev().find(|(_, c)| c.value == value);
    if let Some((at, Choice { ty: Scalar::Int(_), .. })) = latest {
        out.push((at, 0));
    }
}

/// Adds to choices that have a value, and to the latest ones, what their types can hold.
fn shift(choices: &[Choice], value: i128, by: i128, out: &mut Vec<(usize, u128)>) {
    if by == 0 {
        return;
    }
    let from = choices.len().saturating_sub(WINDOW);
    let mut matches = 0;
    for (at, choice) in choices.iter().enumerate().skip(from).rev() {
        let (Scalar::Int(ty), now) = (choice.ty, choice.value) else { continue };
        let same = now == value;
        if !same && at + LATEST < choices.len() {
            continue;
        }
        let Some(then) = now.checked_add(by) else { continue };
        let bits = ty.truncate(then as u128);
        if ty.decode(bits) == then {
            out.push((at, bits));
        }
        matches += usize::from(same);
        if matches >= 4 {
            return;
        }
    }
}
