//! Puts a property into a program: afterwards a check is there exactly if its failure violates
//! the property.

use crate::{Goal, Property};
use palisade_base::Span;
use palisade_cfa::*;

/// Removes the checks that `property` does not ask for and adds the ones lowering cannot know:
/// calls of forbidden functions, forbidden labels, and what must hold of the heap at the end.
pub fn instrument(program: &mut Program, property: &Property) {
    for edge in program.edges.iter_mut() {
        if let Op::Check { kind, .. } = edge.op
            && property.violated_by(kind).is_none()
        {
            edge.op = Op::Skip;
        }
    }
    for goal in &property.goals {
        match goal {
            Goal::NoCall(name) => forbid_call(program, name),
            Goal::NoLabel(name) => forbid_label(program, name),
            Goal::ValidMemtrack => check_at_end(program, CheckKind::MemTrack, ExprKind::HeapTracked),
            Goal::ValidMemcleanup => check_at_end(program, CheckKind::MemCleanup, ExprKind::HeapEmpty),
            _ => {}
        }
    }
}

/// A check that always fails, from `loc` to a location without a way out.
fn fail_at(program: &mut Program, loc: LocId, span: Span) {
    let never = program.int(IntTy::BOOL, 0);
    let dead = program.add_loc(program.locs[loc].func, span);
    program.add_edge(loc, Op::Check { kind: CheckKind::ForbiddenCall, cond: never }, dead, span);
}

/// Every call of the function, direct or through a pointer, fails at once: its body is replaced.
fn forbid_call(program: &mut Program, name: &str) {
    let Some(func) = program.func_named(name) else { return };
    let span = program.funcs[func].span;
    let params = program.funcs[func].body.take().map_or_else(Vec::new, |b| b.params);
    let params = if params.is_empty() { fresh_params(program, func) } else { params };
    let entry = program.add_loc(func, span);
    let exit = program.add_loc(func, span);
    program.funcs[func].body = Some(Body { params, locals: Vec::new(), entry, exit });
    fail_at(program, entry, span);
}

fn fresh_params(program: &mut Program, func: FuncId) -> Vec<VarId> {
    let Type::Func(signature) = &program.types[program.funcs[func].ty] else { return Vec::new() };
    let types = signature.params.clone();
    let param = |(i, ty): (usize, TypeId)| Var::made_up(format!(".arg{i}"), ty, VarKind::Param(func));
    types.into_iter().enumerate().map(|p| program.vars.push(param(p))).collect()
}

fn forbid_label(program: &mut Program, name: &str) {
    let labelled: Vec<LocId> =
        program.locs.ids().filter(|&l| program.locs[l].label.as_deref() == Some(name)).collect();
    for loc in labelled {
        for edge in std::mem::take(&mut program.locs[loc].out) {
            let dst = program.edges[edge].dst;
            program.locs[dst].inc.retain(|e| *e != edge);
        }
        fail_at(program, loc, program.locs[loc].span);
    }
}

/// Checks a heap predicate where the program ends: when the entry function returns (its variables are gone by
/// then), before every `exit` and before every `abort`.
fn check_at_end(program: &mut Program, kind: CheckKind, predicate: ExprKind) {
    let entry = program.entry;
    let ends: Vec<EdgeId> = program
        .edges
        .iter_enumerated()
        .filter(|(_, e)| match e.op {
            Op::Return { .. } => program.locs[e.src].func == entry,
            Op::Halt { .. } => true,
            _ => false,
        })
        .map(|(id, _)| id)
        .collect();
    for id in ends {
        if matches!(predicate, ExprKind::HeapTracked) && matches!(program.edges[id].op, Op::Return { .. }) {
            forget_variables(program, id);
        }
        let cond = program.add_expr(Scalar::BOOL, predicate.clone());
        insert_before(program, id, Op::Check { kind, cond });
    }
}

/// What a function's variables point to is not tracked by them once it has returned: their lives end before the edge
/// that returns, after its value has been computed.
fn forget_variables(program: &mut Program, id: EdgeId) {
    let func = program.locs[program.edges[id].src].func;
    let Some(body) = program.funcs[func].body.as_ref() else { return };
    let pointer = u64::from(program.data_model.ptr_bits()) / 8;
    let holds = |var: &VarId| program.size_of(program.vars[*var].ty).is_none_or(|size| size >= pointer);
    let mut gone: Vec<VarId> = body.params.iter().chain(&body.locals).copied().filter(holds).collect();
    match program.edges[id].op {
        Op::Return { value: Some(Arg::Scalar(value)) } => {
            let result = fresh_result(program, func);
            let dst = program.var_place(result);
            insert_before(program, id, Op::Assign { dst, src: value });
            let value = program.load(dst);
            program.edges[id].op = Op::Return { value: Some(Arg::Scalar(value)) };
        }
        Op::Return { value: Some(Arg::Aggregate(_)) } => gone.clear(),
        _ => {}
    }
    for var in gone {
        insert_before(program, id, Op::Leave { var });
    }
}

/// A temporary for what a function returns.
fn fresh_result(program: &mut Program, func: FuncId) -> VarId {
    let Type::Func(signature) = &program.types[program.funcs[func].ty] else {
        unreachable!("the verifier admits functions of function type only")
    };
    let ty = signature.ret;
    let result = program.vars.push(Var::made_up(".result", ty, VarKind::Temp(func)));
    if let Some(body) = &mut program.funcs[func].body {
        body.locals.push(result);
    }
    result
}

/// Puts an operation on a new edge that is passed just before `id`.
fn insert_before(program: &mut Program, id: EdgeId, op: Op) {
    let Edge { src, span, .. } = program.edges[id];
    let middle = program.add_loc(program.locs[src].func, span);
    for out in &mut program.locs[src].out {
        if *out == id {
            *out = program.edges.next_id();
        }
    }
    let before = program.edges.push(Edge { src, dst: middle, op, span });
    program.locs[middle].inc.push(before);
    program.edges[id].src = middle;
    program.locs[middle].out.push(id);
}
