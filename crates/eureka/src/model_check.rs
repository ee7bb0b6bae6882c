//! The model checker for linear programs: symbolic states are convex polyhedra.
//!
//! Each vertex has the polyhedra it was reached with. What a known one contains is not followed again.

use crate::program::*;
use palisade_base::{Budget, Stop};
use palisade_domains::{
    Dim, Lattice, Limits, LinCons, LinExpr, NumericDomain, Polyhedra, Rel as LinRel, Thresholds,
};
use std::collections::{BTreeSet, VecDeque};

/// How sets of states grow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Every state that is reached is followed by itself: traces are found, the search may be long.
    Exact,
    /// Where control comes back to, states are joined and widened: the search ends soon, and only
    /// [`Checked::Safe`] means something.
    Widening,
}

/// What was reached: for each vertex from 0 on the sets of states.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The sets, by vertex.
    pub at: Vec<Vec<Polyhedra>>,
}

/// What model checking finds.
#[derive(Debug)]
pub enum Checked {
    /// Vertex 0 cannot be reached.
    Safe(Reached),
    /// How it can be; a shortest trace if the search was exact.
    Trace(Vec<Vertex>),
    /// More states than anybody wants to follow.
    TooLarge,
}

/// Sets of states that one search follows at most.
const MAX_STATES: usize = 20_000;
/// Joins at a vertex before widening starts there.
const DELAY: usize = 2;

/// A symbolic state of the search, and the one before.
struct Node {
    vertex: Vertex,
    states: Polyhedra,
    parent: Option<usize>,
}

/// The dimension of a variable.
pub fn dim(var: Var) -> Dim {
    Dim::int(var.0 as u32)
}

/// A value under conditions; `None` is arbitrary.
type Case = (Vec<LinCons>, Option<LinExpr>);

/// Searches for a trace to vertex 0 in a program without arrays.
pub fn model_check(program: &Program, mode: Mode, budget: &Budget) -> Result<Checked, Stop> {
    let heads = heads(program);
    let thresholds = thresholds(program);
    let mut nodes: Vec<Node> = Vec::new();
    let mut at: Vec<Vec<usize>> = vec![Vec::new(); program.stmts.len() + 1];
    let mut joins = vec![0; program.stmts.len() + 1];
    let mut queue: VecDeque<usize> = VecDeque::new();
    if !program.stmts.is_empty() {
        nodes.push(Node { vertex: 1, states: Polyhedra::top(&Limits::STANDARD), parent: None });
        at[1].push(0);
        queue.push_back(0);
    }
    while let Some(n) = queue.pop_front() {
        budget.check()?;
        let vertex = nodes[n].vertex;
        // Somebody else covers it by now.
        if !at[vertex].contains(&n) {
            continue;
        }
        let states = nodes[n].states.clone();
        for (next, mut after) in post(program, vertex, &states) {
            let Some(next) = next else { continue };
            if after.is_bottom() || at[next].iter().any(|&m| after.leq(&nodes[m].states)) {
                continue;
            }
            if next == 0 {
                return Ok(Checked::Trace(path(&nodes, n)));
            }
            if mode == Mode::Widening
                && heads.contains(&next)
                && let Some(&m) = at[next].first()
            {
                let old = nodes[m].states.clone();
                after.join_with(&old);
                joins[next] += 1;
                if joins[next] > DELAY {
                    let mut wide = old;
                    wide.widen_with_thresholds(&after, &thresholds);
                    after = wide;
                }
            }
            at[next].retain(|&m| !nodes[m].states.leq(&after));
            at[next].push(nodes.len());
            queue.push_back(nodes.len());
            nodes.push(Node { vertex: next, states: after, parent: Some(n) });
            if nodes.len() > MAX_STATES {
                return Ok(Checked::TooLarge);
            }
        }
    }
    budget.check()?;
    let at = at.iter().map(|ns| ns.iter().map(|&n| nodes[n].states.clone()).collect()).collect();
    Ok(Checked::Safe(Reached { at }))
}

/// The vertexes from the start to a node, and the failure after it.
fn path(nodes: &[Node], mut n: usize) -> Vec<Vertex> {
    let mut trace = vec![0, nodes[n].vertex];
    while let Some(parent) = nodes[n].parent {
        n = parent;
        trace.push(nodes[n].vertex);
    }
    trace.reverse();
    trace
}

/// Vertexes that edges of a depth-first search lead back to: every cycle has one.
fn heads(program: &Program) -> BTreeSet<Vertex> {
    let mut heads = BTreeSet::new();
    // 0: new, 1: on the path, 2: done
    let mut colour = vec![0u8; program.stmts.len() + 1];
    let successors = |v: Vertex| -> Vec<Vertex> {
        program.stmt(v).successors().flatten().filter(|&next| next != 0).collect()
    };
    if program.stmts.is_empty() {
        return heads;
    }
    colour[1] = 1;
    let mut stack = vec![(1, successors(1))];
    while let Some((v, rest)) = stack.last_mut() {
        let v = *v;
        match rest.pop() {
            None => {
                colour[v] = 2;
                stack.pop();
            }
            Some(next) if colour[next] == 1 => {
                heads.insert(next);
            }
            Some(next) if colour[next] == 0 => {
                colour[next] = 1;
                stack.push((next, successors(next)));
            }
            Some(_) => {}
        }
    }
    heads
}

/// The program's conditions, where widening may stop.
fn thresholds(program: &Program) -> Thresholds {
    let mut found = Vec::new();
    for stmt in &program.stmts {
        let (Stmt::Assume(c, _) | Stmt::Branch(c, ..)) = stmt else { continue };
        for c in [c.clone(), c.negated()] {
            for (mut guard, constraint) in constraints(&c) {
                found.append(&mut guard);
                found.extend(constraint);
            }
        }
    }
    found.retain(|c| matches!(c.rel, LinRel::Le | LinRel::Lt | LinRel::Eq) && c.truth().is_none());
    found.dedup();
    Thresholds::new([], found)
}

/// The successors of a set of states; the sets of each successor are listed apart.
fn post(program: &Program, vertex: Vertex, states: &Polyhedra) -> Vec<(Option<Vertex>, Polyhedra)> {
    match program.stmt(vertex) {
        Stmt::Skip(next) => vec![(*next, states.clone())],
        Stmt::Assign(assigned, next) => {
            // Each assigned variable has its own cases; all their combinations that are possible.
            let mut found = vec![(states.clone(), Vec::new(), Vec::new())];
            for (var, e) in assigned {
                let mut more = Vec::new();
                for (guard, value) in cases(e) {
                    for (states, values, arbitrary) in &found {
                        let (mut states, mut values, mut arbitrary) =
                            (states.clone(), Vec::clone(values), Vec::clone(arbitrary));
                        guard.iter().for_each(|c| states.assume(c));
                        if states.is_bottom() {
                            continue;
                        }
                        match &value {
                            Some(value) => values.push((dim(*var), value.clone())),
                            None => arbitrary.push(dim(*var)),
                        }
                        more.push((states, values, arbitrary));
                    }
                }
                found = more;
            }
            found
                .into_iter()
                .map(|(mut states, values, arbitrary)| {
                    let values: Vec<_> = values.into_iter().filter(|(d, e)| e.as_dim() != Some(*d)).collect();
                    states.assign_parallel(&values);
                    states.forget(&arbitrary);
                    (*next, states)
                })
                .collect()
        }
        Stmt::Store(..) => unreachable!("a linear program has no arrays"),
        Stmt::Assume(c, next) => assume(states, c).into_iter().map(|s| (*next, s)).collect(),
        Stmt::Branch(c, yes, no) => {
            let mut found: Vec<_> = assume(states, c).into_iter().map(|s| (*yes, s)).collect();
            found.extend(assume(states, &c.negated()).into_iter().map(|s| (*no, s)));
            found
        }
    }
}

/// The states in which a condition may hold, as sets that are convex.
fn assume(states: &Polyhedra, c: &Cond) -> Vec<Polyhedra> {
    let mut found: Vec<Polyhedra> = Vec::new();
    for (guard, constraint) in constraints(c) {
        let mut states = states.clone();
        guard.iter().chain(&constraint).for_each(|c| states.assume(c));
        if !states.is_bottom() && !found.iter().any(|f| states.leq(f)) {
            found.push(states);
        }
    }
    found
}

/// A condition as alternatives: what must hold for the values to be as they are, and the comparison.
fn constraints(c: &Cond) -> Vec<(Vec<LinCons>, Option<LinCons>)> {
    let mut found = Vec::new();
    for (guard, left) in cases(&c.left) {
        for (more, right) in cases(&c.right) {
            let guard: Vec<LinCons> = guard.iter().chain(&more).cloned().collect();
            let (Some(a), Some(b)) = (left.clone(), right) else {
                found.push((guard, None));
                continue;
            };
            let alternatives = match c.rel {
                Rel::Le => vec![LinCons::le(a, b)],
                Rel::Lt => vec![LinCons::lt(a, b)],
                Rel::Eq => vec![LinCons::eq(a, b)],
                Rel::Ne => vec![LinCons::lt(a.clone(), b.clone()), LinCons::gt(a, b)],
                Rel::Ge => vec![LinCons::ge(a, b)],
                Rel::Gt => vec![LinCons::gt(a, b)],
            };
            found.extend(alternatives.into_iter().map(|c| (guard.clone(), Some(c.normalize()))));
        }
    }
    found.retain(|(guard, c)| guard.iter().chain(c).all(|c| c.truth() != Some(false)));
    found
}

/// The values of an expression.
fn cases(e: &Expr) -> Vec<Case> {
    match e {
        Expr::Undefined => vec![(Vec::new(), None)],
        Expr::Int(n) => vec![(Vec::new(), Some(LinExpr::constant(*n)))],
        Expr::Var(v) => vec![(Vec::new(), Some(LinExpr::dim(dim(*v))))],
        Expr::Scale(n, e) => {
            let n = (*n).into();
            cases(e).into_iter().map(|(g, v)| (g, v.map(|v| v.scale(&n)))).collect()
        }
        Expr::Add(a, b) => {
            let (a, b) = (cases(a), cases(b));
            let mut found = Vec::new();
            for (ga, va) in &a {
                for (gb, vb) in &b {
                    let value = va.as_ref().zip(vb.as_ref()).map(|(va, vb)| va + vb);
                    found.push((ga.iter().chain(gb).cloned().collect(), value));
                }
            }
            found
        }
        Expr::Ite(c, a, b) => {
            let mut found = Vec::new();
            for (c, e) in [((**c).clone(), a), (c.negated(), b)] {
                for (guard, constraint) in constraints(&c) {
                    for (more, value) in cases(e) {
                        let guard = guard.iter().chain(&constraint).chain(&more).cloned().collect();
                        found.push((guard, value));
                    }
                }
            }
            found
        }
        Expr::Element(..) => unreachable!("a linear program has no arrays"),
    }
}
