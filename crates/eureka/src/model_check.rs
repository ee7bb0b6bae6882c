//! The model checker for linear programs: symbolic states are convex polyhedra.
//!
//! Each vertex has the polyhedra it was reached with, over the variables that are live there. What a known one
//! contains is not followed again.

use crate::live::Live;
use crate::program::*;
use palisade_base::{Budget, Stop};
use palisade_domains::{Dim, Lattice, Limits, LinCons, LinExpr, NumericDomain, Polyhedra, Thresholds};
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

/// Searches for a trace to vertex 0 in a program without arrays.
pub fn model_check(program: &Program, mode: Mode, budget: &Budget) -> Result<Checked, Stop> {
    let heads = heads(program);
    let thresholds = thresholds(program);
    let live = Live::of(program);
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
            if next != 0 {
                live.restrict(&mut after, next);
            }
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
    let mut see = |c: &Cond| {
        if let (Some(a), Some(b)) = (linear(&c.left), linear(&c.right)) {
            for rel in [c.rel, c.rel.negated()] {
                found.extend(alternatives(rel, &a, &b));
            }
        }
    };
    for stmt in &program.stmts {
        if let Stmt::Assume(c, _) | Stmt::Branch(c, ..) = stmt {
            see(c);
        }
        stmt.visit(&mut |e| {
            if let Expr::Ite(c, ..) = e {
                see(c);
            }
        });
    }
    found.retain(|c| c.truth().is_none());
    found.dedup();
    Thresholds::new([], found)
}

/// An expression without conditions, as a sum.
fn linear(e: &Expr) -> Option<LinExpr> {
    match e {
        Expr::Int(n) => Some(LinExpr::constant(*n)),
        Expr::Var(v) => Some(LinExpr::dim(dim(*v))),
        Expr::Scale(n, e) => Some(linear(e)?.scale(&(*n).into())),
        Expr::Add(a, b) => Some(&linear(a)? + &linear(b)?),
        Expr::Undefined | Expr::Ite(..) | Expr::Element(..) => None,
    }
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
                for (states, known, arbitrary) in found {
                    for (states, value) in values(&states, e) {
                        let (mut known, mut arbitrary) = (Vec::clone(&known), Vec::clone(&arbitrary));
                        match value {
                            Some(value) => known.push((dim(*var), value)),
                            None => arbitrary.push(dim(*var)),
                        }
                        more.push((states, known, arbitrary));
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
                    let ranged = assigned.iter().filter(|(v, _)| arbitrary.contains(&dim(*v)));
                    for (var, (least, most)) in
                        ranged.filter_map(|(v, _)| Some((*v, program.vars[v.0].range?)))
                    {
                        states.assume(&LinCons::ge(LinExpr::dim(dim(var)), LinExpr::constant(least)));
                        states.assume(&LinCons::le(LinExpr::dim(dim(var)), LinExpr::constant(most)));
                    }
                    (*next, states)
                })
                .collect()
        }
        Stmt::Store(..) | Stmt::Fill(..) => unreachable!("a linear program has no arrays"),
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
    let mut add = |states: Polyhedra| {
        if !states.is_bottom() && !found.iter().any(|f| states.leq(f)) {
            found.push(states);
        }
    };
    for (states, left) in values(states, &c.left) {
        for (states, right) in values(&states, &c.right) {
            let (Some(a), Some(b)) = (&left, &right) else {
                add(states);
                continue;
            };
            for c in alternatives(c.rel, a, b) {
                if c.truth() == Some(false) {
                    continue;
                }
                let mut states = states.clone();
                if !states.entails(&c) {
                    states.assume(&c);
                }
                add(states);
            }
        }
    }
    found
}

/// A comparison as constraints of which one holds.
fn alternatives(rel: Rel, a: &LinExpr, b: &LinExpr) -> Vec<LinCons> {
    let (a, b) = (a.clone(), b.clone());
    let found = match rel {
        Rel::Le => vec![LinCons::le(a, b)],
        Rel::Lt => vec![LinCons::lt(a, b)],
        Rel::Eq => vec![LinCons::eq(a, b)],
        Rel::Ne => vec![LinCons::lt(a.clone(), b.clone()), LinCons::gt(a, b)],
        Rel::Ge => vec![LinCons::ge(a, b)],
        Rel::Gt => vec![LinCons::gt(a, b)],
    };
    found.iter().map(LinCons::normalize).collect()
}

/// The values of an expression: conditions split the states into those with one value each; `None` is an
/// arbitrary value.
fn values(states: &Polyhedra, e: &Expr) -> Vec<(Polyhedra, Option<LinExpr>)> {
    match e {
        Expr::Undefined => vec![(states.clone(), None)],
        Expr::Int(n) => vec![(states.clone(), Some(LinExpr::constant(*n)))],
        Expr::Var(v) => vec![(states.clone(), Some(LinExpr::dim(dim(*v))))],
        Expr::Scale(n, e) => {
            let n = (*n).into();
            values(states, e).into_iter().map(|(s, v)| (s, v.map(|v| v.scale(&n)))).collect()
        }
        Expr::Add(a, b) => {
            let mut found = Vec::new();
            for (states, left) in values(states, a) {
                for (states, right) in values(&states, b) {
                    found.push((states, left.as_ref().zip(right.as_ref()).map(|(a, b)| a + b)));
                }
            }
            found
        }
        Expr::Ite(c, a, b) => {
            let yes = assume(states, c).into_iter().flat_map(|s| values(&s, a));
            let no = assume(states, &c.negated()).into_iter().flat_map(|s| values(&s, b));
            yes.chain(no).collect()
        }
        Expr::Element(..) => unreachable!("a linear program has no arrays"),
    }
}
