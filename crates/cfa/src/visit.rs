//! Everything an operation uses, down to the leaves of its expressions.

use crate::ir::*;

/// One use of an expression or a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// The value of an expression is computed.
    Expr(ExprId),
    /// The contents of a place are read.
    Read(PlaceId),
    /// A place is written.
    Write(PlaceId),
    /// The address of a place is taken.
    Address(PlaceId),
}

impl Program {
    /// Calls `f` for every expression and place that an operation uses, directly or inside of
    /// others; what is used twice may be reported once or twice.
    pub fn visit_op(&self, op: &Op, f: &mut dyn FnMut(Use)) {
        let mut work = Vec::new();
        match op {
            Op::Copy { dst, src } => work.extend([Use::Write(*dst), Use::Read(*src)]),
            Op::Call { dst, callee, args } => {
                work.extend(dst.map(Use::Write));
                if let Callee::Indirect(e) = callee {
                    work.push(Use::Expr(*e));
                }
                work.extend(args.iter().map(used_arg));
            }
            Op::Return { value } => work.extend(value.as_ref().map(used_arg)),
            // All other operations write the places they mention themselves.
            _ => {
                let mut exprs = Vec::new();
                op.operands(|e| exprs.push(Use::Expr(e)), |x| work.push(Use::Write(x)));
                work.extend(exprs);
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(used) = work.pop() {
            match used {
                Use::Expr(e) => {
                    let expr = &self.exprs[e];
                    let address = matches!(expr.kind, ExprKind::Addr(_));
                    let (before, mut places) = (work.len(), Vec::new());
                    expr.operands(|e| work.push(Use::Expr(e)), |x| places.push(x));
                    work.extend(
                        places.into_iter().map(|x| if address { Use::Address(x) } else { Use::Read(x) }),
                    );
                    // Most expressions are leaves, and need not be known again.
                    if work.len() > before && !seen.insert(e) {
                        work.truncate(before);
                        continue;
                    }
                }
                Use::Read(x) | Use::Write(x) | Use::Address(x) => {
                    self.places[x].operands(|e| work.push(Use::Expr(e)));
                }
            }
            f(used);
        }
    }

    /// Whether some operation asks for sizes or lifetimes of objects.
    pub fn asks_about_objects(&self) -> bool {
        let mut asked = false;
        for edge in &self.edges {
            self.visit_op(&edge.op, &mut |used| {
                if let Use::Expr(e) = used {
                    asked |= self.exprs[e].kind.asks_about_objects();
                }
            });
        }
        asked
    }
}

fn used_arg(arg: &Arg) -> Use {
    match arg {
        Arg::Scalar(e) => Use::Expr(*e),
        Arg::Aggregate(x) => Use::Read(*x),
    }
}

impl ExprKind {
    /// Whether the value depends on sizes or lifetimes of objects.
    pub fn asks_about_objects(&self) -> bool {
        matches!(
            self,
            ExprKind::Valid { .. }
                | ExprKind::Freeable(_)
                | ExprKind::ObjectSize(_)
                | ExprKind::HeapEmpty
                | ExprKind::HeapTracked
        )
    }
}
