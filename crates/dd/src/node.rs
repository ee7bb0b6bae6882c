//! Names of diagram nodes, decisions and variables.

use std::fmt;

/// A node of a diagram, which stands for the function rooted in it.
///
/// Nodes belong to the manager that made them. Within one manager equal functions have equal
/// nodes, so `==` decides equivalence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub(crate) u32);

impl Node {
    /// The terminal **0**: the empty set.
    pub const FALSE: Node = Node(0);
    /// The terminal **1**: everything.
    pub const TRUE: Node = Node(1);
    /// No node; never a function.
    pub(crate) const NIL: Node = Node(u32::MAX);

    /// Whether this is one of the two Boolean terminals.
    #[inline]
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// A number that identifies the node within its manager.
    #[inline]
    pub fn id(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Node::FALSE => f.write_str("F"),
            Node::TRUE => f.write_str("T"),
            Node(i) => write!(f, "n{i}"),
        }
    }
}

/// A variable of a diagram: a proposition in a BDD, a dimension in an LDD.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

impl fmt::Debug for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

/// The decision taken at a node: a variable of a BDD, an interned constraint of an LDD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Label(pub(crate) u32);

impl Label {
    /// The label of terminals, which comes after every decision.
    pub(crate) const TERMINAL: Label = Label(0);
    /// Marks a cell on the free list.
    pub(crate) const FREE: Label = Label(u32::MAX);
}

/// What a node stores: its decision and its two children, `(C(u), H(u), L(u))` in the papers.
///
/// A terminal has the label [`Label::TERMINAL`] and its value in `high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cell {
    pub(crate) label: Label,
    pub(crate) high: Node,
    pub(crate) low: Node,
}
