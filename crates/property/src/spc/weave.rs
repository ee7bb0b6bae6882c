//! Weaves observers into a program, for the engines that know no observers.
//!
//! Each automaton becomes a global variable that holds its state. After every step that is an event
//! (before a `return`, which changes nothing that a condition could see) a ladder of branches over
//! the state takes the transitions; one into an error state is a check that fails. Where several
//! transitions can be taken at once, an arbitrary number chooses, so that a violation found in the
//! woven program replays on the interpreter.

use super::bind::{Moment, Observer, Transition, Trigger};
use crate::Goal;
use palisade_base::Span;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;

/// The type of state variables and of choices.
const STATE: IntTy = IntTy { bits: 32, signed: true };

/// Weaves all observers in; the goals say which check belongs to which observer.
pub fn weave(program: &mut Program, observers: &[Observer]) -> Vec<Goal> {
    let ty = program.types.push(Type::Int(STATE));
    let states = observers.iter().map(|o| {
        let value = InitValue::Int(STATE, o.initial as u128);
        let init = Init::Image(vec![InitItem { offset: 0, value }]);
        program.vars.push(variable(&format!(".{}", o.name), ty, VarKind::Global, init))
    });
    let states = states.collect();
    let mut weaver = Weaver { observers, states, ty, errors: vec![Vec::new(); observers.len()], program };
    weaver.expose_external_targets();
    weaver.edges();
    weaver.entries();
    let errors = weaver.errors;
    observers.iter().zip(errors).map(|(o, errors)| Goal::Observer { name: o.name.clone(), errors }).collect()
}

fn variable(name: &str, ty: TypeId, kind: VarKind, init: Init) -> Var {
    Var {
        name: name.into(),
        ty,
        kind,
        address_taken: false,
        init,
        read_only: false,
        span: Span::NONE,
        scope: Span::NONE,
    }
}

/// What one observer does at a step: for each of its states that has any, the transitions.
type Moves = Vec<(usize, Vec<Transition>)>;

struct Weaver<'a> {
    program: &'a mut Program,
    observers: &'a [Observer],
    /// The variable with the state of each observer.
    states: Vec<VarId>,
    ty: TypeId,
    /// For each observer the checks that fail in its error states, with the messages.
    errors: Vec<Vec<(EdgeId, String)>>,
}

impl Weaver<'_> {
    /// Gives a call through a pointer a branch of its own for every observed function without a
    /// body that it may reach: only there is it known who is called.
    fn expose_external_targets(&mut self) {
        let graph = CallGraph::new(self.program);
        let triggers = self.observers.iter().flat_map(|o| &o.states).flat_map(|s| &s.transitions);
        let mut called: Vec<FuncId> = triggers
            .filter_map(|t| match t.trigger {
                Trigger::Call(f) if self.program.funcs[f].body.is_none() => Some(f),
                _ => None,
            })
            .collect();
        called.sort_unstable();
        called.dedup();
        for id in self.program.edges.ids().collect::<Vec<_>>() {
            let Edge { dst, ref op, span, .. } = self.program.edges[id];
            let Op::Call { dst: result, callee: Callee::Indirect(pointer), args } = op.clone() else {
                continue;
            };
            let targets = graph.targets(self.program, id);
            for &f in called.iter().filter(|f| targets.contains(f)) {
                // The call itself moves down with every function that is tried before it.
                let from = self.program.edges[id].src;
                let address = self.program.add_expr(Scalar::Ptr, ExprKind::Func(f));
                let compare = |op| ExprKind::Cmp(op, pointer, address);
                let is = self.program.add_expr(Scalar::BOOL, compare(CmpOp::Eq));
                let is_not = self.program.add_expr(Scalar::BOOL, compare(CmpOp::Ne));
                self.move_start(id, Op::Assume { cond: is_not });
                let taken = self.fresh(from, span);
                self.program.add_edge(from, Op::Assume { cond: is }, taken, span);
                let call = Op::Call { dst: result, callee: Callee::Direct(f), args: args.clone() };
                self.program.add_edge(taken, call, dst, span);
            }
        }
    }

    /// A new location of the same function.
    fn fresh(&mut self, near: LocId, span: Span) -> LocId {
        self.program.add_loc(self.program.locs[near].func, span)
    }

    /// Puts a step before an edge, which then starts at a new location; returns the step.
    fn move_start(&mut self, id: EdgeId, op: Op) -> EdgeId {
        let Edge { src, span, .. } = self.program.edges[id];
        let middle = self.fresh(src, span);
        let first = self.program.edges.push(Edge { src, dst: middle, op, span });
        for out in &mut self.program.locs[src].out {
            if *out == id {
                *out = first;
            }
        }
        self.program.locs[middle].inc.push(first);
        self.program.locs[middle].out.push(id);
        self.program.edges[id].src = middle;
        first
    }

    /// What all observers do at a step.
    fn moves(&self, edge: EdgeId, moment: Moment) -> Vec<(usize, Moves)> {
        let mut all = Vec::new();
        for (i, observer) in self.observers.iter().enumerate() {
            let mut moves = Moves::new();
            for (q, state) in observer.states.iter().enumerate() {
                let happens = |t: &&Transition| t.trigger.happens(self.program, edge, moment);
                let taken: Vec<Transition> = state.transitions.iter().filter(happens).cloned().collect();
                if !taken.is_empty() {
                    moves.push((q, taken));
                }
            }
            if !moves.is_empty() {
                all.push((i, moves));
            }
        }
        all
    }

    /// Steps inside functions, and the return from calls.
    fn edges(&mut self) {
        for id in self.program.edges.ids().collect::<Vec<_>>() {
            let Edge { dst, ref op, span, .. } = self.program.edges[id];
            let (halts, returns) = (matches!(op, Op::Halt { .. }), matches!(op, Op::Return { .. }));
            let entered = match op {
                Op::Call { callee: Callee::Direct(f), .. } => self.program.funcs[*f].body.is_some(),
                Op::Call { callee: Callee::Indirect(_), .. } => true,
                _ => false,
            };
            let moves = self.moves(id, if entered { Moment::Leave } else { Moment::Whole });
            if moves.is_empty() || halts {
                continue;
            }
            if returns {
                let skip = self.move_start(id, Op::Skip);
                let before = self.program.edges[id].src;
                let first = self.fresh(dst, span);
                self.lead_to(skip, first);
                self.ladders(first, before, &moves, span);
            } else {
                let first = self.fresh(dst, span);
                self.lead_to(id, first);
                self.ladders(first, dst, &moves, span);
            }
        }
    }

    /// Calls of functions with a body, whoever calls them: at the start of the body the parameters
    /// have their values.
    fn entries(&mut self) {
        for f in self.program.funcs.ids().collect::<Vec<_>>() {
            let Some(body) = &self.program.funcs[f].body else { continue };
            if f == self.program.entry {
                continue;
            }
            let (entry, span) = (body.entry, self.program.funcs[f].span);
            // Triggers of a call look at the function only.
            let moves = self.moves(EdgeId(0), Moment::Enter(f));
            if moves.is_empty() {
                continue;
            }
            let first = self.fresh(entry, span);
            self.ladders(first, entry, &moves, span);
            if let Some(body) = &mut self.program.funcs[f].body {
                body.entry = first;
            }
        }
    }

    fn lead_to(&mut self, edge: EdgeId, to: LocId) {
        let old = self.program.edges[edge].dst;
        self.program.locs[old].inc.retain(|e| *e != edge);
        self.program.locs[to].inc.push(edge);
        self.program.edges[edge].dst = to;
    }

    fn ladders(&mut self, from: LocId, to: LocId, moves: &[(usize, Moves)], span: Span) {
        let mut at = from;
        for (observer, moves) in moves {
            at = self.ladder(at, *observer, moves, span);
        }
        self.program.add_edge(at, Op::Skip, to, span);
    }

    /// One rung for each state: if the observer is in it, its transitions, otherwise the next
    /// rung. Returns where all ways meet again.
    fn ladder(&mut self, from: LocId, observer: usize, moves: &Moves, span: Span) -> LocId {
        let end = self.fresh(from, span);
        let mut at = from;
        for (q, transitions) in moves {
            let (is, is_not) = self.state_is(observer, *q);
            let inside = self.fresh(from, span);
            self.program.add_edge(at, Op::Assume { cond: is }, inside, span);
            let below = self.fresh(from, span);
            self.program.add_edge(at, Op::Assume { cond: is_not }, below, span);
            self.transitions(inside, end, observer, transitions, span);
            at = below;
        }
        self.program.add_edge(at, Op::Skip, end, span);
        end
    }

    /// Truth values: whether the observer is, or is not, in a state.
    fn state_is(&mut self, observer: usize, state: usize) -> (ExprId, ExprId) {
        let place = self.program.var_place(self.states[observer]);
        let (now, q) = (self.program.load(place), self.program.int(STATE, state as i128));
        let mut compare = |op| self.program.add_expr(Scalar::BOOL, ExprKind::Cmp(op, now, q));
        (compare(CmpOp::Eq), compare(CmpOp::Ne))
    }

    fn transitions(
        &mut self,
        from: LocId,
        to: LocId,
        observer: usize,
        transitions: &[Transition],
        span: Span,
    ) {
        let mut starts: Vec<LocId> = Vec::new();
        if self.exclusive(transitions) {
            starts.extend(transitions.iter().map(|_| from));
        } else {
            self.choose(from, transitions.len(), &mut starts, span);
        }
        for (t, start) in transitions.iter().zip(starts) {
            let mut at = start;
            if let Some(cond) = t.condition {
                let next = self.fresh(from, span);
                self.program.add_edge(at, Op::Assume { cond }, next, span);
                at = next;
            }
            let observer_to = &self.observers[observer].states[t.to];
            match &observer_to.error {
                Some(message) => {
                    let never = self.program.int(IntTy::BOOL, 0);
                    let dead = self.fresh(from, span);
                    let op = Op::Check { kind: CheckKind::Observer, cond: never };
                    let edge = self.program.add_edge(at, op, dead, span);
                    self.errors[observer].push((edge, message.clone()));
                }
                None => {
                    let (dst, src) = (
                        self.program.var_place(self.states[observer]),
                        self.program.int(STATE, t.to as i128),
                    );
                    self.program.add_edge(at, Op::Assign { dst, src }, to, span);
                }
            }
        }
    }

    /// Whether at most one of the transitions can be taken: there is only one, or there are two and
    /// one has the negated condition of the other.
    fn exclusive(&self, transitions: &[Transition]) -> bool {
        let negates = |a: Option<ExprId>, b: Option<ExprId>| match (a, b) {
            (Some(a), Some(b)) => self.program.exprs[a].kind == ExprKind::Unary(UnOp::Not, b),
            _ => false,
        };
        match transitions {
            [_] => true,
            [a, b] => negates(a.condition, b.condition) || negates(b.condition, a.condition),
            _ => false,
        }
    }

    /// `n` branches, any of which may be taken.
    fn choose(&mut self, from: LocId, n: usize, starts: &mut Vec<LocId>, span: Span) {
        let func = self.program.locs[from].func;
        let choice = self.program.vars.push(variable(".choice", self.ty, VarKind::Temp(func), Init::Unknown));
        if let Some(body) = &mut self.program.funcs[func].body {
            body.locals.push(choice);
        }
        let place = self.program.var_place(choice);
        let mut at = self.fresh(from, span);
        self.program.add_edge(from, Op::Havoc { dst: place, input: false }, at, span);
        for i in 0..n {
            if i + 1 == n {
                starts.push(at);
                break;
            }
            let (value, number) = (self.program.load(place), self.program.int(STATE, i as i128));
            let mut compare = |op| self.program.add_expr(Scalar::BOOL, ExprKind::Cmp(op, value, number));
            let (is, is_not) = (compare(CmpOp::Eq), compare(CmpOp::Ne));
            let (here, below) = (self.fresh(from, span), self.fresh(from, span));
            self.program.add_edge(at, Op::Assume { cond: is }, here, span);
            self.program.add_edge(at, Op::Assume { cond: is_not }, below, span);
            starts.push(here);
            at = below;
        }
    }
}
