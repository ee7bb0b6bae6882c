//! Questions about objects that have an answer: whether a variable in its life holds what is accessed, whether it can
//! be written, and whether the heap of a program without allocations is empty.
//!
//! A pointer to a variable is checked like any other when the program is made. Once
//! [propagation](crate::propagate) knows what it points to, the index decides alone, and the variable may become a
//! register.

use crate::available::{Set, affordable, available};
use palisade_cfa::*;
use palisade_task::Task;
use palisade_task::rewrite::Rewriter;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Answers what can be answered. Tells whether something changed.
pub fn lives(task: &mut Task) -> bool {
    let asked = asked(&task.program);
    if asked.is_empty() {
        return false;
    }
    let p = &task.program;
    let heapless = !p.edges.iter().any(|e| matches!(e.op, Op::Alloc { kind: AllocKind::Heap, .. }));
    let mut locals: FxHashMap<VarId, usize> = FxHashMap::default();
    for &(_, e) in &asked {
        if let Some((var, _)) = variable(p, e)
            && p.vars[var].kind != VarKind::Global
        {
            let next = locals.len();
            locals.entry(var).or_insert(next);
        }
    }
    if !affordable(p, locals.len()) {
        return false;
    }
    let graph = p.analyse();
    let step = |op: &Op, set: &mut Set| match op {
        Op::Enter { var } => locals.get(var).into_iter().for_each(|&i| set.insert(i)),
        Op::Leave { var } => locals.get(var).into_iter().for_each(|&i| set.remove(i)),
        _ => {}
    };
    let at = available(p, &graph, task.body().entry, Set::empty(locals.len()), step);
    let heap_asked = |e: ExprId| matches!(p.exprs[e].kind, ExprKind::HeapEmpty | ExprKind::HeapTracked);
    let empty = heapless && asked.iter().any(|&(_, e)| heap_asked(e));
    let mut used: BTreeSet<VarId> = BTreeSet::new();
    let mut answers: FxHashMap<EdgeId, Vec<(ExprId, ExprId)>> = FxHashMap::default();
    for (edge, e) in asked {
        let p = &mut task.program;
        let answer = match p.exprs[e].kind {
            ExprKind::HeapEmpty | ExprKind::HeapTracked if heapless => Some(p.int(IntTy::BOOL, 1)),
            ExprKind::ReadOnly(_) => match variable(p, e) {
                Some((var, place)) if inside(p, var, place, 1) == Some(Inside::Always) => {
                    let is = i128::from(p.vars[var].read_only);
                    Some(p.int(IntTy::BOOL, is))
                }
                _ => None,
            },
            ExprKind::Valid { size, .. } => {
                let alive = |var: VarId, p: &Program| match locals.get(&var) {
                    Some(&i) => at[p.edges[edge].src].as_ref().is_some_and(|set| set.contains(i)),
                    None => true,
                };
                match (variable(p, e), &p.exprs[size].kind) {
                    (Some((var, place)), &ExprKind::Int(size)) if alive(var, p) => {
                        let answer = inside(p, var, place, size).map(|inside| inside.expr(p));
                        used.extend(answer.filter(|_| locals.contains_key(&var)).map(|_| var));
                        answer
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if let Some(answer) = answer {
            answers.entry(edge).or_default().push((e, answer));
        }
    }
    let changed = !answers.is_empty();
    for (edge, answers) in answers {
        let mut rewriter = Rewriter::default();
        for (question, answer) in answers {
            rewriter.replace_expr(question, answer);
        }
        let op = task.program.edges[edge].op.clone();
        task.program.edges[edge].op = rewriter.op(&mut task.program, &op);
    }
    let heads: Vec<LocId> = graph.loop_heads(task.program.entry).collect();
    if empty {
        let fact = task.program.add_expr(Scalar::BOOL, ExprKind::HeapEmpty);
        let origin = &mut task.origin;
        origin.known.extend(heads.iter().map(|&h| (origin.frames_of[h], origin.locs[h], fact)));
    }
    for var in used {
        let alive = |head: &&LocId| at[**head].as_ref().is_some_and(|set| set.contains(locals[&var]));
        let heads: Vec<LocId> = heads.iter().filter(alive).copied().collect();
        if let (false, Some(fact)) = (heads.is_empty(), is_alive(&mut task.program, var)) {
            let origin = &mut task.origin;
            origin.known.extend(heads.iter().map(|&h| (origin.frames_of[h], origin.locs[h], fact)));
        }
    }
    changed
}

/// All questions about objects, with the edges that ask.
fn asked(p: &Program) -> Vec<(EdgeId, ExprId)> {
    let mut asked = Vec::new();
    for (edge, e) in p.edges.iter_enumerated() {
        p.visit_op(&e.op, &mut |used| {
            if let Use::Expr(e) = used
                && matches!(
                    p.exprs[e].kind,
                    ExprKind::Valid { .. }
                        | ExprKind::ReadOnly(_)
                        | ExprKind::HeapEmpty
                        | ExprKind::HeapTracked
                )
            {
                asked.push((edge, e));
            }
        });
    }
    asked
}

/// The variable that a question is about, and the place in it.
fn variable(p: &Program, question: ExprId) -> Option<(VarId, PlaceId)> {
    let (ExprKind::Valid { ptr, .. } | ExprKind::ReadOnly(ptr)) = p.exprs[question].kind else { return None };
    let ExprKind::Addr(place) = p.exprs[ptr].kind else { return None };
    match p.places[place].base {
        Base::Var(var) => Some((var, place)),
        Base::Deref(_) => None,
    }
}

/// Whether some bytes lie inside of a variable.
#[derive(PartialEq, Eq)]
enum Inside {
    Always,
    Never,
    /// If an index is between these.
    If(ExprId, IntTy, i128, i128),
}

/// Whether so many bytes from a place of a variable on lie inside of it; unless it depends on several indices. An
/// index so large that the address wraps is outside.
fn inside(p: &Program, var: VarId, place: PlaceId, size: u128) -> Option<Inside> {
    // The initialiser of a flexible array member makes an object larger than its type.
    let whole = p.size_of(p.vars[var].ty)?;
    if let Type::Record(record) = &p.types[p.vars[var].ty]
        && let Some(last) = record.fields.last()
        && p.size_of(last.ty).is_none_or(|size| size == 0)
    {
        return None;
    }
    let mut fixed: i128 = 0;
    let mut index = None;
    for step in &p.places[place].path {
        match *step {
            Proj::Field { record, field } => fixed += i128::from(p.field(record, field).offset),
            Proj::Index { index: i, stride } => match p.exprs[i] {
                Expr { ty: Scalar::Int(ty), kind: ExprKind::Int(bits) } => {
                    fixed = fixed.checked_add(ty.decode(bits).checked_mul(stride.into())?)?;
                }
                Expr { ty: Scalar::Int(ty), .. } if index.is_none() && stride > 0 => {
                    index = Some((i, ty, i128::from(stride)));
                }
                _ => return None,
            },
        }
    }
    let last = i128::from(whole) - i128::try_from(size).ok()? - fixed;
    Some(match index {
        None if fixed >= 0 && last >= 0 => Inside::Always,
        None => Inside::Never,
        Some((index, ty, stride)) => {
            let low = -fixed.div_euclid(stride);
            let high = last.div_euclid(stride);
            let (min, max) = (ty.decode(ty.min_bits()), ty.decode(ty.max_bits()));
            match low > high || max < low || min > high {
                true => Inside::Never,
                false => Inside::If(index, ty, low.max(min), high.min(max)),
            }
        }
    })
}

impl Inside {
    fn expr(self, p: &mut Program) -> ExprId {
        match self {
            Inside::Always => p.int(IntTy::BOOL, 1),
            Inside::Never => p.int(IntTy::BOOL, 0),
            Inside::If(index, ty, low, high) => {
                let [low, high] = [low, high].map(|bound| p.int(ty, bound));
                let above = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, low, index));
                let below = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, index, high));
                p.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::And, above, below))
            }
        }
    }
}

/// That a variable is alive.
fn is_alive(p: &mut Program, var: VarId) -> Option<ExprId> {
    let size = p.size_of(p.vars[var].ty)?;
    let place = p.var_place(var);
    let ptr = p.add_expr(Scalar::Ptr, ExprKind::Addr(place));
    let size = p.int(p.data_model.size_t(), size.into());
    Some(p.add_expr(Scalar::BOOL, ExprKind::Valid { ptr, size }))
}
