//! Random small automata over registers of a few bits, and all their concrete states.
#![allow(dead_code)]

use palisade_base::Span;
use palisade_cfa::*;
use std::collections::{BTreeSet, VecDeque};

/// A deterministic source of choices.
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What a random automaton may contain.
#[derive(Clone, Copy)]
pub struct Shape {
    pub vars: usize,
    pub locs: usize,
    pub bits: u16,
    /// Whether there are calls of a second function.
    pub calls: bool,
}

const ARITHMETIC: [BinOp; 6] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor];

fn value(p: &mut Program, rng: &mut Rng, vars: &[PlaceId], ty: IntTy, depth: usize) -> ExprId {
    match rng.below(if depth == 0 { 2 } else { 4 }) {
        0 => {
            let v = rng.below(1 << ty.bits) as i128;
            p.int(ty, v)
        }
        1 => {
            let v = rng.pick(vars);
            p.load(v)
        }
        2 => {
            let (op, a, b) = (
                rng.pick(&ARITHMETIC),
                value(p, rng, vars, ty, depth - 1),
                value(p, rng, vars, ty, depth - 1),
            );
            p.add_expr(Scalar::Int(ty), ExprKind::Binary(op, a, b))
        }
        _ => {
            let a = value(p, rng, vars, ty, depth - 1);
            let op = rng.pick(&[UnOp::Neg, UnOp::Not]);
            p.add_expr(Scalar::Int(ty), ExprKind::Unary(op, a))
        }
    }
}

fn condition(p: &mut Program, rng: &mut Rng, vars: &[PlaceId], ty: IntTy, depth: usize) -> ExprId {
    let bool_ty = Scalar::BOOL;
    match rng.below(if depth == 0 { 1 } else { 4 }) {
        0 | 1 => {
            let op = rng.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le]);
            let (a, b) = (value(p, rng, vars, ty, 1), value(p, rng, vars, ty, 1));
            p.add_expr(bool_ty, ExprKind::Cmp(op, a, b))
        }
        2 => {
            let a = condition(p, rng, vars, ty, depth - 1);
            p.add_expr(bool_ty, ExprKind::Unary(UnOp::Not, a))
        }
        _ => {
            let (a, b) = (condition(p, rng, vars, ty, depth - 1), condition(p, rng, vars, ty, depth - 1));
            let op = rng.pick(&[BinOp::And, BinOp::Or]);
            p.add_expr(bool_ty, ExprKind::Binary(op, a, b))
        }
    }
}

/// A random automaton. Every location but the last has one assignment, or two branches on a
/// condition; the variables are globals that start at zero.
pub fn automaton(rng: &mut Rng, shape: Shape) -> Program {
    let mut p = Program::new(DataModel::Lp64);
    let ty = IntTy { bits: shape.bits, signed: rng.below(2) == 0 };
    let t = p.types.push(Type::Int(ty));
    let void = p.types.push(Type::Void);
    let func_ty = p.types.push(Type::Func(Signature { ret: void, params: Vec::new(), variadic: false }));
    let places: Vec<PlaceId> = (0..shape.vars)
        .map(|i| {
            let v = p.vars.push(Var {
                name: format!("v{i}").into(),
                ty: t,
                kind: VarKind::Global,
                address_taken: false,
                init: Init::Image(Vec::new()),
                read_only: false,
                span: Span::NONE,
                scope: Span::NONE,
            });
            p.var_place(v)
        })
        .collect();
    let functions = if shape.calls { 2 } else { 1 };
    for f in 0..functions {
        let func = FuncId(f);
        let locs: Vec<LocId> = (0..shape.locs).map(|_| p.add_loc(func, Span::NONE)).collect();
        let exit = p.add_loc(func, Span::NONE);
        for (i, &loc) in locs.iter().enumerate() {
            let last = i + 1 == locs.len();
            let next = |rng: &mut Rng| {
                if rng.below(4) == 0 { rng.pick(&locs) } else { locs[(i + 1).min(locs.len() - 1)] }
            };
            match rng.below(6) {
                _ if last => {
                    p.add_edge(loc, Op::Return { value: None }, exit, Span::NONE);
                }
                0..2 => {
                    let (dst, src) = (rng.pick(&places), value(&mut p, rng, &places, ty, 2));
                    let to = next(rng);
                    p.add_edge(loc, Op::Assign { dst, src }, to, Span::NONE);
                }
                2 => {
                    let (dst, to) = (rng.pick(&places), next(rng));
                    p.add_edge(loc, Op::Havoc { dst, input: true }, to, Span::NONE);
                }
                3 if shape.calls && f == 0 => {
                    let callee = Callee::Direct(FuncId(1));
                    let to = next(rng);
                    let op = Op::Call { dst: None, callee, args: Box::new([]) };
                    p.add_edge(loc, op, to, Span::NONE);
                }
                _ => {
                    let cond = condition(&mut p, rng, &places, ty, 2);
                    let not = p.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, cond));
                    let (yes, no) = (next(rng), next(rng));
                    p.add_edge(loc, Op::Assume { cond }, yes, Span::NONE);
                    p.add_edge(loc, Op::Assume { cond: not }, no, Span::NONE);
                }
            }
        }
        p.funcs.push(Function {
            name: format!("f{f}").into(),
            ty: func_ty,
            span: Span::NONE,
            body: Some(Body { params: Vec::new(), locals: Vec::new(), entry: locs[0], exit }),
            effect: Effect::Pure,
        });
    }
    let findings = verify::verify(&p);
    assert!(findings.is_empty(), "{findings:?}");
    p
}

/// The value of an expression over registers, computed over unbounded integers and cut off.
pub fn evaluate(p: &Program, e: ExprId, vars: &[u128]) -> u128 {
    let expr = &p.exprs[e];
    let cut = |e: ExprId, v: i128| p.exprs[e].ty.int().unwrap().truncate(v as u128);
    let int = |x: ExprId| p.exprs[x].ty.int().unwrap().decode(evaluate(p, x, vars));
    match expr.kind {
        ExprKind::Int(v) => v,
        ExprKind::Load(place) => match p.places[place].base {
            Base::Var(v) => vars[v.0 as usize],
            Base::Deref(_) => unreachable!(),
        },
        ExprKind::Unary(UnOp::Neg, a) => cut(e, -int(a)),
        ExprKind::Unary(UnOp::Not, a) => cut(e, !int(a)),
        ExprKind::Binary(op, a, b) => {
            let (x, y) = (int(a), int(b));
            cut(
                e,
                match op {
                    BinOp::Add => x + y,
                    BinOp::Sub => x - y,
                    BinOp::Mul => x * y,
                    BinOp::And => x & y,
                    BinOp::Or => x | y,
                    BinOp::Xor => x ^ y,
                    _ => unreachable!(),
                },
            )
        }
        ExprKind::Cmp(op, a, b) => {
            let (x, y) = (int(a), int(b));
            u128::from(match op {
                CmpOp::Eq => x == y,
                CmpOp::Ne => x != y,
                CmpOp::Lt => x < y,
                CmpOp::Le => x <= y,
            })
        }
        _ => unreachable!(),
    }
}

/// A concrete state: location, call sites of active calls, values.
pub type Concrete = (LocId, Vec<EdgeId>, Vec<u128>);

/// All concrete states a program can reach.
pub fn concrete_states(p: &Program) -> BTreeSet<Concrete> {
    let start = (p.body(p.entry).entry, Vec::new(), vec![0; p.vars.len()]);
    let mut seen: BTreeSet<Concrete> = [start.clone()].into();
    let mut work: VecDeque<Concrete> = [start].into();
    while let Some((loc, stack, vars)) = work.pop_front() {
        let mut next: Vec<Concrete> = Vec::new();
        for (id, edge) in p.out_edges(loc) {
            match &edge.op {
                Op::Assign { dst, src } => {
                    let Base::Var(v) = p.places[*dst].base else { unreachable!() };
                    let mut new = vars.clone();
                    new[v.0 as usize] = evaluate(p, *src, &vars);
                    next.push((edge.dst, stack.clone(), new));
                }
                Op::Havoc { dst, .. } => {
                    let Base::Var(v) = p.places[*dst].base else { unreachable!() };
                    let bits = p.scalar_of(p.vars[v].ty).unwrap().int().unwrap().bits;
                    for value in 0..1u128 << bits {
                        let mut new = vars.clone();
                        new[v.0 as usize] = value;
                        next.push((edge.dst, stack.clone(), new));
                    }
                }
                Op::Assume { cond } => {
                    if evaluate(p, *cond, &vars) == 1 {
                        next.push((edge.dst, stack.clone(), vars.clone()));
                    }
                }
                Op::Call { callee: Callee::Direct(f), .. } => {
                    let mut deeper = stack.clone();
                    deeper.push(id);
                    next.push((p.body(*f).entry, deeper, vars.clone()));
                }
                Op::Return { .. } => next.push((edge.dst, stack.clone(), vars.clone())),
                other => unreachable!("{other:?}"),
            }
        }
        if p.body(p.locs[loc].func).exit == loc
            && let Some((&site, rest)) = stack.split_last()
        {
            next.push((p.edges[site].dst, rest.to_vec(), vars.clone()));
        }
        for state in next {
            if seen.insert(state.clone()) {
                work.push_back(state);
            }
        }
    }
    seen
}

/// Every iteration order.
pub fn orders(p: &Program) -> Vec<(&'static str, palisade_cpa::Order)> {
    use palisade_cpa::{Order, order};
    let graph = p.analyse();
    vec![
        ("breadth first", Order::BreadthFirst),
        ("depth first", Order::DepthFirst),
        ("reverse post-order", order::reverse_post_order(p, &graph)),
        ("weak topological order", order::weak_topological(p, &graph)),
        ("call stack", order::call_stack(p, &graph)),
        ("random 1", Order::Random(1)),
        ("random 2", Order::Random(2)),
    ]
}
