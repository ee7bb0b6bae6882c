//! The graph of one function while it is being made.
//!
//! Lowering joins control flow with empty edges wherever that is simplest; [`Graph::install`]
//! contracts them and drops what cannot be reached, so that the finished automaton has neither.

use palisade_base::Span;
use palisade_cfa::{FuncId, LocId, Op, Program};
use smallvec::SmallVec;
use std::sync::Arc;

/// A location of a graph under construction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Node(u32);

#[derive(Clone, Debug)]
struct NodeData {
    span: Span,
    loop_stmt: Option<Span>,
    label: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
struct Arrow {
    src: Node,
    dst: Node,
    op: Op,
    span: Span,
}

/// A graph with a current location, where the next operation starts.
#[derive(Debug)]
pub(crate) struct Graph {
    nodes: Vec<NodeData>,
    arrows: Vec<Arrow>,
    /// `None` where control cannot be.
    current: Option<Node>,
}

impl Graph {
    /// Node of a function's entry.
    const ENTRY: Node = Node(0);
    /// Node of a function's exit.
    const EXIT: Node = Node(1);

    /// A graph whose current location is the entry.
    pub(crate) fn new(span: Span) -> Self {
        let mut graph = Graph { nodes: Vec::new(), arrows: Vec::new(), current: Some(Self::ENTRY) };
        graph.node(span);
        graph.node(Span::new(span.hi, span.hi));
        graph
    }

    /// A location that nothing leads to yet.
    pub(crate) fn node(&mut self, span: Span) -> Node {
        let id = Node(self.nodes.len() as u32);
        self.nodes.push(NodeData { span, loop_stmt: None, label: None });
        id
    }

    /// Whether control can be at the current location.
    pub(crate) fn reachable(&self) -> bool {
        self.current.is_some()
    }

    /// The current location, to come back to.
    pub(crate) fn current(&self) -> Option<Node> {
        self.current
    }

    /// Goes on at `node`.
    pub(crate) fn move_to(&mut self, node: Option<Node>) {
        self.current = node;
    }

    /// Adds an operation and goes on behind it.
    pub(crate) fn emit(&mut self, op: Op, span: Span) {
        if let Some(src) = self.current {
            let dst = self.node(span);
            self.nodes[src.0 as usize].span = span;
            self.arrows.push(Arrow { src, dst, op, span });
            self.current = Some(dst);
        }
    }

    /// Adds an operation from the current location to `dst`; the current location stays, for the
    /// other branch.
    pub(crate) fn branch(&mut self, op: Op, dst: Node, span: Span) {
        if let Some(src) = self.current {
            self.nodes[src.0 as usize].span = span;
            self.arrows.push(Arrow { src, dst, op, span });
        }
    }

    /// Adds an operation to `dst`, after which control is nowhere.
    pub(crate) fn emit_to(&mut self, op: Op, dst: Node, span: Span) {
        self.branch(op, dst, span);
        self.current = None;
    }

    /// Passes control to `dst`; afterwards it is nowhere.
    pub(crate) fn jump(&mut self, dst: Node) {
        if let Some(src) = self.current {
            let span = self.nodes[src.0 as usize].span;
            self.arrows.push(Arrow { src, dst, op: Op::Skip, span });
            self.current = None;
        }
    }

    /// Passes control to `node` and goes on there.
    pub(crate) fn enter(&mut self, node: Node) {
        self.jump(node);
        self.current = Some(node);
    }

    /// Leaves the function.
    pub(crate) fn leave(&mut self, op: Op, span: Span) {
        self.emit_to(op, Self::EXIT, span);
    }

    /// Ends the program: the destination has no way out.
    pub(crate) fn halt(&mut self, op: Op, span: Span) {
        self.emit(op, span);
        self.current = None;
    }

    /// Marks the location before the controlling expression of a loop.
    pub(crate) fn mark_loop(&mut self, node: Node, keyword: Span) {
        self.nodes[node.0 as usize].loop_stmt = Some(keyword);
    }

    /// Marks the location of a label.
    pub(crate) fn mark_label(&mut self, node: Node, name: Arc<str>) {
        self.nodes[node.0 as usize].label = Some(name);
    }

    /// Copies what is reachable into the program, without empty edges where they say nothing.
    /// Returns entry and exit.
    pub(crate) fn install(mut self, program: &mut Program, func: FuncId) -> (LocId, LocId) {
        let mut out: Vec<SmallVec<[u32; 2]>> = vec![SmallVec::new(); self.nodes.len()];
        for (i, arrow) in self.arrows.iter().enumerate() {
            out[arrow.src.0 as usize].push(i as u32);
        }
        let reached = self.reached(&out);
        let mut forward = self.contract(&out, &reached);
        let mut place = vec![None; self.nodes.len()];
        for (i, node) in self.nodes.iter_mut().enumerate() {
            if reached[i] && forward[i].0 as usize == i {
                let loc = program.add_loc(func, node.span);
                program.locs[loc].loop_stmt = node.loop_stmt;
                program.locs[loc].label = node.label.take();
                place[i] = Some(loc);
            }
        }
        for arrow in self.arrows {
            // A contracted or unreachable source has no location; a reachable source's target is
            // reachable, and so is what it is contracted to.
            if let Some(src) = place[arrow.src.0 as usize]
                && let Some(dst) = place[root(&mut forward, arrow.dst).0 as usize]
            {
                program.add_edge(src, arrow.op, dst, arrow.span);
            }
        }
        let at = |node: Node| place[node.0 as usize].expect("entry and exit are never contracted");
        (at(Self::ENTRY), at(Self::EXIT))
    }

    fn reached(&self, out: &[SmallVec<[u32; 2]>]) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[Self::EXIT.0 as usize] = true;
        reached[Self::ENTRY.0 as usize] = true;
        let mut work = vec![Self::ENTRY];
        while let Some(node) = work.pop() {
            for &arrow in &out[node.0 as usize] {
                let dst = self.arrows[arrow as usize].dst;
                if !std::mem::replace(&mut reached[dst.0 as usize], true) {
                    work.push(dst);
                }
            }
        }
        reached
    }

    /// For every node the one it is the same as: a node whose only way out is an empty edge is
    /// the same as the next one. Plain nodes come first, so that a label or loop mark moves to
    /// the node where something happens; it moves only where it does not displace another, and a
    /// loop mark only to a node that nothing else leads to.
    fn contract(&mut self, out: &[SmallVec<[u32; 2]>], reached: &[bool]) -> Vec<Node> {
        let mut forward: Vec<Node> = (0..self.nodes.len() as u32).map(Node).collect();
        let target = |i: usize, arrows: &[Arrow]| match out[i].as_slice() {
            [only] if arrows[*only as usize].op == Op::Skip => Some(arrows[*only as usize].dst),
            _ => None,
        };
        let movable = |i: usize| reached[i] && Node(i as u32) != Self::ENTRY;
        for i in (0..self.nodes.len()).rev() {
            let plain = self.nodes[i].label.is_none() && self.nodes[i].loop_stmt.is_none();
            if let Some(dst) = target(i, &self.arrows).filter(|_| movable(i) && plain) {
                forward[i] = root(&mut forward, dst);
            }
        }
        let mut incoming = vec![0u32; self.nodes.len()];
        for (i, arrow) in self.arrows.iter().enumerate() {
            let src = arrow.src.0 as usize;
            let gone = forward[src].0 as usize != src && out[src].as_slice() == [i as u32];
            if reached[src] && !gone {
                incoming[root(&mut forward, arrow.dst).0 as usize] += 1;
            }
        }
        for i in (0..self.nodes.len()).rev() {
            let marked = self.nodes[i].label.is_some() || self.nodes[i].loop_stmt.is_some();
            let Some(dst) = target(i, &self.arrows).filter(|_| movable(i) && marked) else { continue };
            let dst = root(&mut forward, dst);
            let to = dst.0 as usize;
            let label_fits = self.nodes[i].label.is_none() || self.nodes[to].label.is_none();
            let loop_fits =
                self.nodes[i].loop_stmt.is_none() || self.nodes[to].loop_stmt.is_none() && incoming[to] == 1;
            if to != i && dst != Self::EXIT && label_fits && loop_fits {
                forward[i] = dst;
                incoming[to] += incoming[i].saturating_sub(1);
                if let Some(label) = self.nodes[i].label.take() {
                    self.nodes[to].label = Some(label);
                }
                if let Some(keyword) = self.nodes[i].loop_stmt.take() {
                    self.nodes[to].loop_stmt = Some(keyword);
                }
            }
        }
        forward
    }
}

/// The end of a chain of contracted nodes; the chain is halved on the way.
fn root(forward: &mut [Node], mut node: Node) -> Node {
    while forward[node.0 as usize] != node {
        let next = forward[forward[node.0 as usize].0 as usize];
        forward[node.0 as usize] = next;
        node = next;
    }
    node
}
