//! Heap objects that are made once become variables.
//!
//! An allocation outside all loops happens at most once, so its object may as well be a variable
//! that comes to life there. Then [propagation](crate::propagate) finds out what pointers to it
//! point to, and [splitting](crate::split) makes registers of its members. That is left alone where
//! the program asks about lifetimes and sizes, which a variable would not have.

use palisade_base::Span;
use palisade_cfa::*;
use palisade_task::Task;

/// Makes variables of heap objects. Tells whether something changed.
pub fn promote(task: &mut Task) -> bool {
    if task.program.asks_about_objects() {
        return false;
    }
    let graph = task.program.analyse();
    let mut changed = false;
    for edge in task.program.edges.ids() {
        let Edge { src, op, .. } = &task.program.edges[edge];
        match *op {
            // Nobody will ask whether the object is alive.
            Op::Free { .. } => {
                task.program.edges[edge].op = Op::Skip;
                changed = true;
            }
            Op::Alloc { dst, size, zeroed, .. } if graph.innermost_loop(*src).is_none() => {
                if let Some(ty) = object_type(&task.program, dst, size) {
                    replace(task, edge, ty, dst, zeroed);
                    changed = true;
                }
            }
            _ => {}
        }
    }
    changed
}

/// The record type of an object of constant size: that of the pointer it is assigned to, at once or
/// by way of a temporary.
fn object_type(p: &Program, dst: PlaceId, size: ExprId) -> Option<TypeId> {
    let ExprKind::Int(size) = p.exprs[size].kind else { return None };
    let fitting = |place: PlaceId| match p.types[p.places[place].ty] {
        Type::Ptr(target) if matches!(p.types[target], Type::Record(_)) => {
            (p.size_of(target).map(u128::from) == Some(size)).then_some(target)
        }
        _ => None,
    };
    let temporary = p.places[dst].base;
    fitting(dst).or_else(|| {
        p.edges.iter().find_map(|edge| match edge.op {
            Op::Assign { dst, src } => match p.exprs[src].kind {
                ExprKind::Load(from)
                    if p.places[from].base == temporary && p.places[from].path.is_empty() =>
                {
                    fitting(dst)
                }
                _ => None,
            },
            _ => None,
        })
    })
}

/// Puts a new variable in the place of an allocation: it comes to life, is zeroed if asked for, and
/// its address is what the allocation gives.
fn replace(task: &mut Task, edge: EdgeId, ty: TypeId, dst: PlaceId, zeroed: bool) {
    let origin = task.origin.edges[edge];
    let p = &mut task.program;
    let entry = p.entry;
    let var = p.vars.push(Var {
        name: format!(".heap{}", edge.0).into(),
        ty,
        kind: VarKind::Local(entry),
        address_taken: true,
        init: Init::Unknown,
        read_only: false,
        span: Span::NONE,
        scope: Span::NONE,
    });
    if let Some(body) = &mut p.funcs[entry].body {
        body.locals.push(var);
    }
    let place = p.places.push(Place { base: Base::Var(var), path: Default::default(), ty, bits: None });
    let address = p.add_expr(Scalar::Ptr, ExprKind::Addr(place));
    task.origin.made.insert(var, (task.origin.frames_of[p.edges[edge].src], origin));
    let (end, span) = (p.edges[edge].dst, p.edges[edge].span);
    p.locs[end].inc.retain(|e| *e != edge);
    p.edges[edge].op = Op::Enter { var };
    let mut at = task.add_loc_like(end);
    task.program.edges[edge].dst = at;
    task.program.locs[at].inc.push(edge);
    if zeroed {
        let next = task.add_loc_like(end);
        task.add_edge_from(at, Op::Zero { dst: place }, next, span, origin);
        at = next;
    }
    task.add_edge_from(at, Op::Assign { dst, src: address }, end, span, origin);
}
