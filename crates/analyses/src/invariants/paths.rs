//! Paths between locations as affine maps over mathematical integers: what template- and
//! sample-based methods guess from. Nothing here is trusted: wrap-around, memory and other loops
//! are ignored, and what is guessed is checked afterwards.

use palisade_cfa::*;
use palisade_domains::{Dim, LinExpr};
use palisade_num::{Int, Rat};
use std::collections::BTreeMap;

/// Paths beyond this number are left out.
const MAX_PATHS: usize = 64;
/// Longer paths are left out.
const MAX_LENGTH: usize = 2000;

/// The acyclic paths from one location to another, as lists of edges; a cycle if they are the same.
pub fn paths(program: &Program, from: LocId, to: LocId, stop_at: &[LocId]) -> Vec<Vec<EdgeId>> {
    let mut found = Vec::new();
    let mut visits = 0usize;
    // Each entry: the path so far and where it stands.
    let mut work: Vec<(Vec<EdgeId>, LocId)> = vec![(Vec::new(), from)];
    while let Some((path, at)) = work.pop() {
        visits += 1;
        if found.len() >= MAX_PATHS || visits > MAX_PATHS * MAX_LENGTH {
            break;
        }
        if at == to && !path.is_empty() {
            found.push(path);
            continue;
        }
        let seen = |loc: LocId| path.iter().any(|e| program.edges[*e].src == loc);
        if path.len() >= MAX_LENGTH || (!path.is_empty() && (seen(at) || stop_at.contains(&at))) {
            continue;
        }
        for &edge in program.locs[at].out.iter().rev() {
            let mut longer = path.clone();
            longer.push(edge);
            work.push((longer, program.edges[edge].dst));
        }
    }
    found
}

/// A condition on a path: the expression is zero, or not negative.
#[derive(Clone, Debug)]
pub struct Guard {
    /// The expression over the values at the start of the path.
    pub expr: LinExpr,
    /// Whether it is zero rather than not negative.
    pub equal: bool,
}

/// What a path does to registers, over their values at its start. Dimensions with the number of a
/// variable are those values; larger ones are unknowns met on the way.
#[derive(Clone, Debug)]
pub struct Affine {
    values: BTreeMap<VarId, LinExpr>,
    /// What must hold for the path to be taken.
    pub guards: Vec<Guard>,
    next_unknown: u32,
}

impl Affine {
    /// Runs a path. With `initial` it starts at the beginning of the program.
    pub fn of_path(program: &Program, path: &[EdgeId], initial: bool) -> Affine {
        let mut this =
            Affine { values: BTreeMap::new(), guards: Vec::new(), next_unknown: program.vars.len() as u32 };
        if initial {
            for (var, info) in program.vars.iter_enumerated() {
                if let (Some(t), Init::Image(items), VarKind::Global) =
                    (program.integer_register(var), &info.init, info.kind)
                {
                    let value = match items.first().map(|i| &i.value) {
                        None => Some(Int::ZERO),
                        Some(InitValue::Int(_, bits)) => Some(crate::trees::integer(t, *bits)),
                        Some(_) => None,
                    };
                    if let Some(value) = value {
                        this.values.insert(var, LinExpr::constant(Rat::from(value)));
                    }
                }
            }
        }
        path.iter().for_each(|e| this.step(program, &program.edges[*e].op));
        this
    }

    /// The value of a register at the end of the path.
    pub fn value(&self, var: VarId) -> LinExpr {
        self.values.get(&var).cloned().unwrap_or_else(|| LinExpr::dim(Dim::int(var.0)))
    }

    fn unknown(&mut self) -> LinExpr {
        self.next_unknown += 1;
        LinExpr::dim(Dim::int(self.next_unknown - 1))
    }

    fn step(&mut self, program: &Program, op: &Op) {
        match op {
            Op::Assign { dst, src } => {
                if let Some((var, _)) = program.whole_integer(*dst) {
                    let value = self.expr(program, *src);
                    self.values.insert(var, value);
                }
            }
            Op::Havoc { dst, .. } | Op::Call { dst: Some(dst), .. } => {
                if let Some((var, _)) = program.whole_integer(*dst) {
                    let value = self.unknown();
                    self.values.insert(var, value);
                }
            }
            Op::Enter { var } => {
                let value = self.unknown();
                self.values.insert(*var, value);
            }
            Op::Assume { cond } | Op::Check { cond, .. } => self.assume(program, *cond, true),
            _ => {}
        }
    }

    /// Linear parts exactly, everything else as an unknown. Deep expressions are cut off.
    fn expr(&mut self, program: &Program, e: ExprId) -> LinExpr {
        self.expr_at(program, e, 0)
    }

    fn expr_at(&mut self, program: &Program, e: ExprId, depth: u32) -> LinExpr {
        let expr = &program.exprs[e];
        let Scalar::Int(t) = expr.ty else { return self.unknown() };
        if depth > 200 {
            return self.unknown();
        }
        match expr.kind {
            ExprKind::Int(bits) => LinExpr::constant(Rat::from(crate::trees::integer(t, bits))),
            ExprKind::Load(place) => match program.whole_integer(place) {
                Some((var, _)) => self.value(var),
                None => self.unknown(),
            },
            ExprKind::Unary(UnOp::Neg, a) => self.expr_at(program, a, depth + 1).scale(&-Rat::ONE),
            ExprKind::Convert(a) => self.expr_at(program, a, depth + 1),
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let (a, b) = (self.expr_at(program, a, depth + 1), self.expr_at(program, b, depth + 1));
                a.add_scaled(&b, &if op == BinOp::Add { Rat::ONE } else { -Rat::ONE })
            }
            ExprKind::Binary(BinOp::Mul, a, b) => {
                let (a, b) = (self.expr_at(program, a, depth + 1), self.expr_at(program, b, depth + 1));
                if a.is_constant() {
                    b.scale(a.constant_term())
                } else if b.is_constant() {
                    a.scale(b.constant_term())
                } else {
                    self.unknown()
                }
            }
            _ => self.unknown(),
        }
    }

    fn assume(&mut self, program: &Program, cond: ExprId, truth: bool) {
        let mut work = vec![(cond, truth)];
        while let Some((e, truth)) = work.pop() {
            match program.exprs[e].kind {
                ExprKind::Unary(UnOp::Not, a) => work.push((a, !truth)),
                ExprKind::Binary(BinOp::And, a, b) if truth => work.extend([(a, true), (b, true)]),
                ExprKind::Binary(BinOp::Or, a, b) if !truth => work.extend([(a, false), (b, false)]),
                ExprKind::Cmp(op, a, b) => {
                    let int = |x: ExprId| program.exprs[x].ty.int().is_some();
                    if int(a) && int(b) {
                        let (a, b) = (self.expr(program, a), self.expr(program, b));
                        self.compare(op, truth, &a, &b);
                    }
                }
                _ => {}
            }
        }
    }

    fn compare(&mut self, op: CmpOp, truth: bool, a: &LinExpr, b: &LinExpr) {
        let minus = |x: &LinExpr, y: &LinExpr| x.add_scaled(y, &-Rat::ONE);
        let one_less = |e: LinExpr| e.add_constant(&-Rat::ONE);
        let (expr, equal) = match (op, truth) {
            (CmpOp::Eq, true) | (CmpOp::Ne, false) => (minus(a, b), true),
            (CmpOp::Lt, true) => (one_less(minus(b, a)), false),
            (CmpOp::Le, true) => (minus(b, a), false),
            (CmpOp::Lt, false) => (minus(a, b), false),
            (CmpOp::Le, false) => (one_less(minus(a, b)), false),
            // Different is no convex condition.
            (CmpOp::Eq, false) | (CmpOp::Ne, true) => return,
        };
        self.guards.push(Guard { expr, equal });
    }
}

/// The integer registers that a piece of the program mentions, except for made-up ones that are
/// never alive at its start.
pub fn mentioned(program: &Program, paths: &[Vec<EdgeId>]) -> Vec<VarId> {
    let mut vars = Vec::new();
    for edge in paths.iter().flatten() {
        program.visit_op(&program.edges[*edge].op, &mut |used| {
            if let Use::Read(p) | Use::Write(p) = used {
                vars.extend(program.whole_integer(p).map(|(var, _)| var));
            }
        });
    }
    vars.retain(|v| !program.vars[*v].name.starts_with('.'));
    vars.sort_unstable();
    vars.dedup();
    vars
}
