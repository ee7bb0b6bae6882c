//! What one pass of a loop does to registers, as expressions over their values at the loop head.

use palisade_cfa::*;
use palisade_evidence::Invariants;
use std::collections::BTreeMap;

/// Puts expressions in the place of registers.
pub struct Subst<'a> {
    /// The program.
    pub program: &'a Program,
    /// Where new expressions go.
    pub pool: &'a mut Invariants,
    /// What registers become.
    pub values: &'a [(VarId, ExprId)],
    /// A register that becomes something else where it selects an element.
    pub index: Option<(VarId, ExprId)>,
    /// What everything that is read from memory becomes.
    pub element: Option<ExprId>,
}

/// The expression without conversions around it.
pub fn strip(program: &Program, pool: &Invariants, mut e: ExprId) -> ExprId {
    while let ExprKind::Convert(inner) = pool.get(program, e).kind {
        e = inner;
    }
    e
}

/// The register that an expression reads, up to conversions.
pub fn register_of(program: &Program, pool: &Invariants, e: ExprId) -> Option<VarId> {
    match pool.get(program, strip(program, pool, e)).kind {
        ExprKind::Load(place) => {
            let place = pool.get_place(program, place);
            match place.base {
                Base::Var(var) if place.path.is_empty() && is_integer(program, var) => Some(var),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether a variable is an integer in a register.
pub fn is_integer(program: &Program, var: VarId) -> bool {
    program.vars.get(var).is_some() && program.integer_register(var).is_some()
}

impl Subst<'_> {
    /// The expression with everything in its place.
    pub fn expr(&mut self, id: ExprId) -> ExprId {
        self.go(id, false)
    }

    fn converted(&mut self, e: ExprId, ty: Scalar) -> ExprId {
        if self.pool.get(self.program, e).ty == ty { e } else { self.pool.expr(ty, ExprKind::Convert(e)) }
    }

    fn go(&mut self, id: ExprId, selecting: bool) -> ExprId {
        let Expr { ty, kind } = self.pool.get(self.program, id).clone();
        let new = match kind {
            ExprKind::Load(place) => match register_of(self.program, self.pool, id) {
                Some(var) => {
                    let index = self.index.filter(|(v, _)| selecting && *v == var).map(|(_, e)| e);
                    let value = self.values.iter().find(|(v, _)| *v == var).map(|(_, e)| *e);
                    return match index.or(value) {
                        Some(e) => self.converted(e, ty),
                        None => id,
                    };
                }
                None => match self.element {
                    Some(e) if ty.int().is_some() && !selecting => return self.converted(e, ty),
                    _ => ExprKind::Load(self.place(place)),
                },
            },
            ExprKind::Addr(place) => ExprKind::Addr(self.place(place)),
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.go(a, selecting)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.go(a, selecting), self.go(b, selecting)),
            ExprKind::Cmp(op, a, b) => ExprKind::Cmp(op, self.go(a, selecting), self.go(b, selecting)),
            ExprKind::Ite(c, a, b) => {
                ExprKind::Ite(self.go(c, selecting), self.go(a, selecting), self.go(b, selecting))
            }
            ExprKind::Convert(a) => ExprKind::Convert(self.go(a, selecting)),
            ExprKind::PtrAdd { ptr, index, stride } => {
                ExprKind::PtrAdd { ptr: self.go(ptr, true), index: self.select(index), stride }
            }
            _ => return id,
        };
        self.pool.expr(ty, new)
    }

    /// An expression that selects an element: what stands for the counter stands there directly, so that no
    /// conversion is between it and the element.
    fn select(&mut self, id: ExprId) -> ExprId {
        match (self.index, register_of(self.program, self.pool, id)) {
            (Some((var, e)), Some(read)) if var == read => e,
            _ => self.go(id, true),
        }
    }

    fn place(&mut self, id: PlaceId) -> PlaceId {
        let mut place = self.pool.get_place(self.program, id).clone();
        if let Base::Deref(pointer) = place.base {
            place.base = Base::Deref(self.go(pointer, true));
        }
        for step in &mut place.path {
            if let Proj::Index { index, .. } = step {
                *index = self.select(*index);
            }
        }
        self.pool.place(place)
    }
}

/// Registers with new values, and the conditions on the way.
#[derive(Clone, Default)]
struct Way {
    values: Vec<(VarId, ExprId)>,
    path: Vec<ExprId>,
}

/// The registers that one pass changes and their values after it; `None` if the pass writes memory, asks for
/// inputs, or has loops inside.
pub fn pass(
    program: &Program,
    graph: &Graph,
    head: LocId,
    pool: &mut Invariants,
) -> Option<Vec<(VarId, ExprId)>> {
    let mut ways: BTreeMap<LocId, Way> = BTreeMap::new();
    ways.insert(head, Way::default());
    let mut end: Option<Way> = None;
    for &loc in graph.loop_body(program, head) {
        if loc != head && graph.is_loop_head(loc) {
            return None;
        }
        let Some(way) = ways.remove(&loc) else { continue };
        let inside: Vec<&Edge> =
            program.out_edges(loc).map(|(_, e)| e).filter(|e| graph.in_loop(program, e.dst, head)).collect();
        for edge in &inside {
            let mut next = way.clone();
            match edge.op {
                Op::Skip | Op::Enter { .. } | Op::Leave { .. } => {}
                Op::Assume { cond } => {
                    if inside.len() > 1 {
                        let values = &way.values;
                        let cond = Subst { program, pool, values, index: None, element: None }.expr(cond);
                        next.path.push(cond);
                    }
                }
                Op::Assign { dst, src } => {
                    let (var, _) = program.whole_integer(dst)?;
                    let values = &way.values;
                    let value = Subst { program, pool, values, index: None, element: None }.expr(src);
                    next.values.retain(|(v, _)| *v != var);
                    next.values.push((var, value));
                }
                _ => return None,
            }
            if edge.dst == head {
                end = Some(match end.take() {
                    Some(known) => merge(program, pool, &known, &next),
                    None => next,
                });
            } else {
                let known = ways.remove(&edge.dst);
                let merged = match known {
                    Some(known) => merge(program, pool, &known, &next),
                    None => next,
                };
                ways.insert(edge.dst, merged);
            }
        }
    }
    end.map(|way| way.values)
}

/// What holds after one of two ways. The conditions of the first tell which it was.
fn merge(program: &Program, pool: &mut Invariants, a: &Way, b: &Way) -> Way {
    let common = a.path.iter().zip(&b.path).take_while(|(x, y)| x == y).count();
    let first = pool.all(BinOp::And, &a.path[common..]);
    let mut merged = Way { values: Vec::new(), path: a.path[..common].to_vec() };
    let mut vars: Vec<VarId> = a.values.iter().chain(&b.values).map(|(v, _)| *v).collect();
    vars.sort_unstable();
    vars.dedup();
    for var in vars {
        let mut value = |way: &Way| match way.values.iter().find(|(v, _)| *v == var) {
            Some((_, e)) => *e,
            None => pool.var(program, var),
        };
        let (x, y) = (value(a), value(b));
        let ty = pool.get(program, x).ty;
        let value = if x == y { x } else { pool.expr(ty, ExprKind::Ite(first, x, y)) };
        merged.values.push((var, value));
    }
    merged
}
