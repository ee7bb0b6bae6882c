//! Loops: a weak topological order of every function, loop heads, nesting, reverse post-order.
//!
//! The order is Bourdoncle's (*Efficient chaotic iteration strategies with widenings*, 1993,
//! Figure 4), run with an explicit stack so that functions of any size are fine. It takes time
//! linear in the edges for each level of loop nesting.

use crate::ir::*;
use palisade_base::IdxVec;

/// The weak topological order of one function: its reachable locations in an order in which every
/// edge that leads backwards leads to the head of a component that contains its source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wto {
    /// Reachable locations in the order; a component is a contiguous run that its head starts.
    pub order: Vec<LocId>,
    /// For each position: one past the component that the location there heads; 0 if it heads none.
    ends: Vec<u32>,
    /// Reachable locations in reverse post-order of a depth-first search.
    pub rpo: Vec<LocId>,
}

/// One step in walking through a [`Wto`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A location outside of the components that are not open.
    Plain(LocId),
    /// A component starts with its head.
    Open(LocId),
    /// The component of this head ends.
    Close(LocId),
}

impl Wto {
    /// The order with its parentheses: `1 2 (3 4 (5 6) 7) 8` in Bourdoncle's notation.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::with_capacity(self.order.len() * 2);
        let mut open: Vec<(u32, LocId)> = Vec::new();
        for (i, &loc) in self.order.iter().enumerate() {
            while open.last().is_some_and(|&(end, _)| end as usize <= i) {
                steps.extend(open.pop().map(|(_, head)| Step::Close(head)));
            }
            match self.ends[i] {
                0 => steps.push(Step::Plain(loc)),
                end => {
                    steps.push(Step::Open(loc));
                    open.push((end, loc));
                }
            }
        }
        steps.extend(open.into_iter().rev().map(|(_, head)| Step::Close(head)));
        steps
    }

    /// The end (exclusive) of the component that the location at this position heads.
    pub fn component_end(&self, position: usize) -> Option<usize> {
        match self.ends[position] {
            0 => None,
            end => Some(end as usize),
        }
    }
}

/// What is computed once about the graphs of a program.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The order of each function; empty for those without a body.
    pub wto: IdxVec<FuncId, Wto>,
    /// Position of each location in its function's order; `u32::MAX` if it is unreachable.
    position: IdxVec<LocId, u32>,
    innermost: IdxVec<LocId, Option<LocId>>,
    parent: IdxVec<LocId, Option<LocId>>,
    depth: IdxVec<LocId, u32>,
}

impl Program {
    /// Computes loops and orders of all functions.
    pub fn analyse(&self) -> Graph {
        let n = self.locs.len();
        let mut graph = Graph {
            wto: IdxVec::new(),
            position: IdxVec::filled(u32::MAX, n),
            innermost: IdxVec::filled(None, n),
            parent: IdxVec::filled(None, n),
            depth: IdxVec::filled(0, n),
        };
        let mut numbers = IdxVec::filled(0, n);
        for func in &self.funcs {
            let wto = match &func.body {
                None => Wto::default(),
                Some(body) => {
                    let (order, ends) = bourdoncle(self, body.entry, &mut numbers);
                    Wto { order, ends, rpo: reverse_post_order(self, body.entry) }
                }
            };
            graph.place(&wto);
            graph.wto.push(wto);
        }
        graph
    }
}

impl Graph {
    /// Records the positions and loops of one function.
    fn place(&mut self, wto: &Wto) {
        let mut open: Vec<(u32, LocId)> = Vec::new();
        for (i, &loc) in wto.order.iter().enumerate() {
            while open.last().is_some_and(|&(end, _)| end as usize <= i) {
                open.pop();
            }
            self.position[loc] = i as u32;
            if wto.ends[i] != 0 {
                self.parent[loc] = open.last().map(|&(_, head)| head);
                open.push((wto.ends[i], loc));
            }
            self.innermost[loc] = open.last().map(|&(_, head)| head);
            self.depth[loc] = open.len() as u32;
        }
    }

    /// Whether the location can be reached from its function's entry along edges.
    pub fn is_reachable(&self, loc: LocId) -> bool {
        self.position[loc] != u32::MAX
    }

    /// Position of a reachable location in its function's [`Wto::order`].
    pub fn position(&self, loc: LocId) -> Option<usize> {
        self.is_reachable(loc).then_some(self.position[loc] as usize)
    }

    /// Whether the location heads a loop; every cycle of the graph passes through a loop head.
    pub fn is_loop_head(&self, loc: LocId) -> bool {
        self.innermost[loc] == Some(loc)
    }

    /// All loop heads of a function in its order.
    pub fn loop_heads(&self, func: FuncId) -> impl Iterator<Item = LocId> {
        let wto = &self.wto[func];
        wto.order.iter().zip(&wto.ends).filter(|(_, end)| **end != 0).map(|(loc, _)| *loc)
    }

    /// Head of the innermost loop around a location; a head is in its own loop.
    pub fn innermost_loop(&self, loc: LocId) -> Option<LocId> {
        self.innermost[loc]
    }

    /// Head of the loop around the loop of this head.
    pub fn outer_loop(&self, head: LocId) -> Option<LocId> {
        self.parent[head]
    }

    /// How many loops there are around a location; a head counts its own.
    pub fn depth(&self, loc: LocId) -> u32 {
        self.depth[loc]
    }

    /// Whether `loc` belongs to the loop of `head`.
    pub fn in_loop(&self, program: &Program, loc: LocId, head: LocId) -> bool {
        let (Some(at), Some(start)) = (self.position(loc), self.position(head)) else { return false };
        let func = program.locs[head].func;
        let end = self.wto[func].component_end(start);
        program.locs[loc].func == func && end.is_some_and(|end| start <= at && at < end)
    }

    /// The locations of the loop of `head`, the head first.
    pub fn loop_body(&self, program: &Program, head: LocId) -> &[LocId] {
        let wto = &self.wto[program.locs[head].func];
        match self.position(head).and_then(|at| Some((at, wto.component_end(at)?))) {
            Some((at, end)) => &wto.order[at..end],
            None => &[],
        }
    }

    /// Whether an edge leads back to the head of a loop that contains its source.
    pub fn is_back_edge(&self, program: &Program, edge: EdgeId) -> bool {
        let edge = &program.edges[edge];
        self.in_loop(program, edge.src, edge.dst)
    }
}

enum Frame {
    /// `visit`: vertex, next edge, smallest number seen, its own number, whether it is in a loop.
    Visit { v: LocId, next: usize, head: u32, own: u32, in_loop: bool },
    /// `component`: vertex, next edge, length of the output when it started.
    Component { v: LocId, next: usize, start: u32 },
}

/// Bourdoncle's algorithm. The output is built from its end: a vertex is written once all that
/// follows it is. `number` is 0 for all locations of the function.
fn bourdoncle(p: &Program, entry: LocId, number: &mut IdxVec<LocId, u32>) -> (Vec<LocId>, Vec<u32>) {
    const DONE: u32 = u32::MAX;
    // Vertices backwards; for a head, the length of the output before its component.
    let mut out: Vec<(LocId, Option<u32>)> = Vec::new();
    let mut stack = Vec::new();
    let mut frames = Vec::new();
    let mut count = 0;
    let mut visit = |v: LocId, number: &mut IdxVec<LocId, u32>, stack: &mut Vec<LocId>| {
        stack.push(v);
        count += 1;
        number[v] = count;
        Frame::Visit { v, next: 0, head: count, own: count, in_loop: false }
    };
    frames.push(visit(entry, number, &mut stack));
    let mut result = None;
    while let Some(frame) = frames.last_mut() {
        match frame {
            Frame::Visit { v, next, head, own, in_loop } => {
                let v = *v;
                let mut take = |min: u32, head: &mut u32| {
                    if min <= *head {
                        *head = min;
                        *in_loop = true;
                    }
                };
                if let Some(min) = result.take() {
                    take(min, head);
                }
                let mut child = None;
                while let Some(&e) = p.locs[v].out.get(*next) {
                    *next += 1;
                    let w = p.edges[e].dst;
                    match number[w] {
                        0 => {
                            child = Some(w);
                            break;
                        }
                        min => take(min, head),
                    }
                }
                if let Some(w) = child {
                    frames.push(visit(w, number, &mut stack));
                    continue;
                }
                result = Some(*head);
                if *head != *own {
                    frames.pop();
                    continue;
                }
                number[v] = DONE;
                let looping = *in_loop;
                while let Some(w) = stack.pop() {
                    if w == v {
                        break;
                    }
                    number[w] = 0;
                }
                if looping {
                    result = None;
                    *frame = Frame::Component { v, next: 0, start: out.len() as u32 };
                } else {
                    out.push((v, None));
                    frames.pop();
                }
            }
            Frame::Component { v, next, start } => {
                let v = *v;
                result = None;
                let mut child = None;
                while let Some(&e) = p.locs[v].out.get(*next) {
                    *next += 1;
                    let w = p.edges[e].dst;
                    if number[w] == 0 {
                        child = Some(w);
                        break;
                    }
                }
                match child {
                    Some(w) => frames.push(visit(w, number, &mut stack)),
                    None => {
                        out.push((v, Some(*start)));
                        // Numbers grow, so a finished component never lowers its parent's head.
                        result = Some(DONE);
                        frames.pop();
                    }
                }
            }
        }
    }
    let n = out.len() as u32;
    let ends = out.iter().rev().map(|(_, start)| start.map_or(0, |s| n - s)).collect();
    (out.into_iter().rev().map(|(v, _)| v).collect(), ends)
}

fn reverse_post_order(p: &Program, entry: LocId) -> Vec<LocId> {
    // A set, because a mark per location would cost a program-sized vector for each function.
    let mut seen = rustc_hash::FxHashSet::default();
    let mut order = Vec::new();
    let mut frames = vec![(entry, 0usize)];
    seen.insert(entry);
    while let Some((v, next)) = frames.last_mut() {
        match p.locs[*v].out.get(*next) {
            Some(&e) => {
                *next += 1;
                let w = p.edges[e].dst;
                if seen.insert(w) {
                    frames.push((w, 0));
                }
            }
            None => {
                order.push(*v);
                frames.pop();
            }
        }
    }
    order.reverse();
    order
}

/// A graph given by its edges, for tests: one function, location 0 is its entry.
#[cfg(test)]
pub(crate) fn graph_of(n: usize, edges: &[(usize, usize)]) -> Program {
    use palisade_base::{Idx, Span};
    let mut p = Program::new(crate::DataModel::Lp64);
    let void = p.types.push(crate::Type::Void);
    let sig = crate::Signature { ret: void, params: vec![], variadic: false };
    let ty = p.types.push(crate::Type::Func(sig));
    let f = p.funcs.push(Function {
        name: "f".into(),
        ty,
        span: Span::NONE,
        body: None,
        effect: crate::Effect::Pure,
    });
    for _ in 0..n {
        p.add_loc(f, Span::NONE);
    }
    let exit = p.add_loc(f, Span::NONE);
    p.funcs[f].body = Some(Body { params: vec![], locals: vec![], entry: LocId(0), exit });
    for &(a, b) in edges {
        p.add_edge(LocId::new(a), Op::Skip, LocId::new(b), Span::NONE);
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::Idx;

    fn notation(wto: &Wto) -> String {
        let words = wto.steps().into_iter().map(|s| match s {
            Step::Plain(l) => format!(" {}", l.0 + 1),
            Step::Open(l) => format!(" ({}", l.0 + 1),
            Step::Close(_) => ")".into(),
        });
        words.collect::<String>().trim().to_owned()
    }

    #[test]
    fn bourdoncles_example() {
        // Figure 1 of the paper: 1 2 (3 4 (5 6) 7) 8.
        let edges = [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 5), (6, 7), (7, 3), (7, 8), (2, 8), (4, 7)];
        let edges: Vec<_> = edges.iter().map(|&(a, b)| (a - 1, b - 1)).collect();
        let p = graph_of(8, &edges);
        let g = p.analyse();
        assert_eq!(notation(&g.wto[FuncId(0)]), "1 2 (3 4 (5 6) 7) 8");
        assert_eq!(g.depth(LocId(5)), 2);
        assert_eq!(g.innermost_loop(LocId(6)), Some(LocId(2)));
        assert_eq!(g.outer_loop(LocId(4)), Some(LocId(2)));
        assert_eq!(g.loop_body(&p, LocId(4)), [LocId(4), LocId(5)]);
        assert_eq!(g.loop_heads(FuncId(0)).collect::<Vec<_>>(), [LocId(2), LocId(4)]);
    }

    fn random(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) as usize
    }

    /// The definition of a weak topological order, checked edge by edge on random graphs.
    #[test]
    fn every_backward_edge_leads_to_a_head_around_its_source() {
        let mut seed = 1;
        for round in 0..3000 {
            let n = 1 + random(&mut seed) % 9;
            let m = random(&mut seed) % (2 * n + 1);
            let edges: Vec<_> = (0..m).map(|_| (random(&mut seed) % n, random(&mut seed) % n)).collect();
            let p = graph_of(n, &edges);
            let g = p.analyse();
            let wto = &g.wto[FuncId(0)];
            let mut sorted = wto.order.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), wto.order.len(), "each location once");
            let mut rpo = wto.rpo.clone();
            rpo.sort();
            assert_eq!(sorted, rpo, "the reachable locations");
            for &(a, b) in &edges {
                let (a, b) = (LocId::new(a), LocId::new(b));
                let (Some(x), Some(y)) = (g.position(a), g.position(b)) else { continue };
                let backward = y <= x;
                assert_eq!(backward, g.in_loop(&p, a, b), "round {round}: {edges:?} edge {a}->{b}");
            }
        }
    }

    #[test]
    fn large_functions_need_no_stack() {
        let n = 300_000;
        let mut edges: Vec<_> = (0..n - 1).map(|i| (i, i + 1)).collect();
        edges.push((n - 1, 0));
        let p = graph_of(n, &edges);
        let g = p.analyse();
        assert_eq!(g.loop_heads(FuncId(0)).count(), 1);
        assert_eq!(g.wto[FuncId(0)].rpo.len(), n);
    }
}
