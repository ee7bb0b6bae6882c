//! Calls through pointers to functions whose parameters or result the call does not fit.
//!
//! C leaves them undefined (C11 6.5.2.2); compilers make them calls all the same: arguments that
//! are too many are ignored, missing ones and those of another kind are arbitrary. The automaton's
//! own indirect calls reach functions that fit ([`Program::may_call`]); before such a call this
//! pass branches to a direct, fitted call for every other function whose address may get there.

use crate::flow::FunctionFlow;
use palisade_base::Span;
use palisade_cfa::*;
use std::collections::BTreeSet;

/// Checks that the pointers of indirect calls point to functions.
pub(crate) fn check_callees(program: &mut Program) {
    let mut functions: BTreeSet<FuncId> = BTreeSet::new();
    functions.extend(program.exprs.iter().filter_map(|e| match e.kind {
        ExprKind::Func(f) => Some(f),
        _ => None,
    }));
    for var in &program.vars {
        if let Init::Image(items) = &var.init {
            functions.extend(items.iter().filter_map(|item| match item.value {
                InitValue::Func(f) => Some(f),
                _ => None,
            }));
        }
    }
    for id in indirect_calls(program) {
        let Edge { src, span, .. } = program.edges[id];
        let Op::Call { callee: Callee::Indirect(pointer), .. } = program.edges[id].op else { continue };
        let mut cond = program.add_expr(Scalar::BOOL, ExprKind::Int(0));
        for &f in &functions {
            let target = program.add_expr(Scalar::Ptr, ExprKind::Func(f));
            let is = program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, pointer, target));
            cond = program.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, cond, is));
        }
        let checked = program.add_loc(program.locs[src].func, span);
        program.locs[src].out.retain(|e| *e != id);
        program.add_edge(src, Op::Check { kind: CheckKind::Deref, cond }, checked, span);
        program.edges[id].src = checked;
        program.locs[checked].out.push(id);
    }
}

fn indirect_calls(program: &Program) -> Vec<EdgeId> {
    let indirect = |edge: &Edge| matches!(edge.op, Op::Call { callee: Callee::Indirect(_), .. });
    program.edges.iter_enumerated().filter(|(_, edge)| indirect(edge)).map(|(id, _)| id).collect()
}

/// Puts fitted calls beside the indirect calls of a program. `check` says whether they are to be
/// reported.
pub(crate) fn fit_calls(program: &mut Program, check: bool) {
    let indirect = indirect_calls(program);
    if indirect.is_empty() {
        return;
    }
    let flow = FunctionFlow::new(program);
    for id in indirect {
        let Op::Call { dst, callee: Callee::Indirect(pointer), args } = program.edges[id].op.clone() else {
            continue;
        };
        let misfits = flow.reaching(program, pointer).into_iter();
        for func in misfits.filter(|&f| !program.may_call(f, dst, &args)).collect::<Vec<_>>() {
            fitted_call(program, id, func, (dst, pointer, &args), check);
        }
    }
}

/// Branches to a direct call of `func` before the call `id`.
fn fitted_call(
    program: &mut Program,
    id: EdgeId,
    func: FuncId,
    (dst, pointer, args): (Option<PlaceId>, ExprId, &[Arg]),
    check: bool,
) {
    let Type::Func(sig) = program.types[program.funcs[func].ty].clone() else { return };
    let Edge { src, dst: after, span, .. } = program.edges[id];
    let owner = program.locs[src].func;
    let target = program.add_expr(Scalar::Ptr, ExprKind::Func(func));
    let is = program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, pointer, target));
    let is_not = program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, pointer, target));
    let mut path = Path { program, owner, at: src, span };
    path.then(Op::Assume { cond: is });
    if check {
        let never = path.program.add_expr(Scalar::BOOL, ExprKind::Int(0));
        path.then(Op::Check { kind: CheckKind::CallType, cond: never });
    }
    let fitted =
        sig.params.iter().enumerate().map(|(i, &ty)| path.argument(args.get(i).copied(), ty)).collect();
    let want = dst.and_then(|place| path.program.place_scalar(place));
    let have = path.program.scalar_of(sig.ret);
    let callee = Callee::Direct(func);
    match (dst, want, have) {
        (Some(place), Some(want), Some(have)) if fits(path.program, have, want) => {
            let result = path.temp(sig.ret);
            path.then(Op::Call { dst: Some(result), callee, args: fitted });
            let value = path.program.load(result);
            let src = path.program.add_expr(want, ExprKind::Convert(value));
            path.last(Op::Assign { dst: place, src }, after);
        }
        (Some(place), ..) => {
            path.then(Op::Call { dst: None, callee, args: fitted });
            path.last(Op::Havoc { dst: place, input: false }, after);
        }
        (None, ..) => path.last(Op::Call { dst: None, callee, args: fitted }, after),
    }
    // The call itself is left for all other pointers.
    let program = path.program;
    let otherwise = program.add_loc(owner, span);
    program.locs[src].out.retain(|e| *e != id);
    program.add_edge(src, Op::Assume { cond: is_not }, otherwise, span);
    program.edges[id].src = otherwise;
    program.locs[otherwise].out.push(id);
}

/// Whether a value of one type tells a value of the other, as compilers pass them.
fn fits(program: &Program, have: Scalar, want: Scalar) -> bool {
    let bits = |s: Scalar| match s {
        Scalar::Int(t) => Some(t.bits),
        Scalar::Ptr => Some(program.data_model.ptr_bits()),
        Scalar::Float(_) => None,
    };
    match (bits(have), bits(want)) {
        (Some(have), Some(want)) => have >= want,
        _ => have == want,
    }
}

/// Steps that are put into a program one after the other.
struct Path<'p> {
    program: &'p mut Program,
    owner: FuncId,
    at: LocId,
    span: Span,
}

impl Path<'_> {
    fn then(&mut self, op: Op) {
        let next = self.program.add_loc(self.owner, self.span);
        self.program.add_edge(self.at, op, next, self.span);
        self.at = next;
    }

    fn last(&mut self, op: Op, to: LocId) {
        self.program.add_edge(self.at, op, to, self.span);
    }

    /// A new temporary of the function.
    fn temp(&mut self, ty: TypeId) -> PlaceId {
        let var = self.program.vars.push(Var::made_up(".fit", ty, VarKind::Temp(self.owner)));
        if let Some(body) = &mut self.program.funcs[self.owner].body {
            body.locals.push(var);
        }
        self.program.var_place(var)
    }

    /// What a parameter gets for an argument, if there is one.
    fn argument(&mut self, given: Option<Arg>, ty: TypeId) -> Arg {
        match (given, self.program.scalar_of(ty)) {
            (Some(Arg::Scalar(e)), Some(want)) if fits(self.program, self.program.exprs[e].ty, want) => {
                Arg::Scalar(self.program.add_expr(want, ExprKind::Convert(e)))
            }
            (Some(Arg::Aggregate(place)), None)
                if self.program.size_of(self.program.places[place].ty) == self.program.size_of(ty) =>
            {
                Arg::Aggregate(place)
            }
            (_, scalar) => {
                let dst = self.temp(ty);
                self.then(Op::Havoc { dst, input: false });
                match scalar {
                    Some(_) => Arg::Scalar(self.program.load(dst)),
                    None => Arg::Aggregate(dst),
                }
            }
        }
    }
}
