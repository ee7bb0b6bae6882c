//! Tree expressions over dimensions: what a client may assign or assume beyond linear forms.

use crate::dim::Dim;
use crate::interval::Interval;
use crate::machine::MachineInt;
use palisade_num::{Int, Rat};

/// A node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(u32);

impl NodeId {
    /// The position in the tree's node list.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An arithmetic operator with two operands, on mathematical integers (the first three also on rationals).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient rounded towards zero. A state with divisor zero has no successor.
    Div,
    /// Remainder with the sign of the dividend. A state with divisor zero has no successor.
    Rem,
    /// Bitwise and of infinite two's complement numbers.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// `a · 2^b`; any integer when `b` is negative.
    Shl,
    /// `⌊a / 2^b⌋`; any integer when `b` is negative.
    Shr,
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CmpOp {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
}

/// One node; operands are earlier nodes of the same tree. Comparisons and logical operators give
/// 0 or 1 and take anything but zero as true.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A number.
    Const(Rat),
    /// The value of a dimension.
    Dim(Dim),
    /// Any value of the interval (any integer of it, when the flag is set).
    Range(Interval, bool),
    /// `-a`.
    Neg(NodeId),
    /// Bitwise complement, `-a - 1`.
    Not(NodeId),
    /// An arithmetic operator.
    Bin(BinOp, NodeId, NodeId),
    /// The value a machine type gives to `a`.
    Wrap(MachineInt, NodeId),
    /// A comparison.
    Cmp(CmpOp, NodeId, NodeId),
    /// Logical and.
    All(NodeId, NodeId),
    /// Logical or.
    Any(NodeId, NodeId),
    /// Logical negation.
    IsZero(NodeId),
    /// The second operand when the first is not zero, else the third.
    Ite(NodeId, NodeId, NodeId),
}

/// An expression as a list of nodes in dependency order; the last one is the root. Being flat, it
/// is evaluated and dropped without recursion, however deep it is, and may share subterms.
///
/// ```
/// use palisade_domains::{BinOp, Dim, MachineInt, Tree};
/// let (x, mut t) = (Dim::int(0), Tree::new());
/// let (a, one) = (t.dim(x), t.int(1));
/// let sum = t.bin(BinOp::Add, a, one);
/// t.wrap(MachineInt::unsigned(8), sum); // (unsigned char)(x + 1)
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree without nodes; it means zero until something is pushed.
    #[allow(clippy::new_without_default)] // no element of this crate comes from nowhere
    pub fn new() -> Tree {
        Tree { nodes: Vec::new() }
    }

    /// Adds a node, which becomes the root.
    ///
    /// # Panics
    /// When an operand is not an earlier node of this tree.
    pub fn push(&mut self, node: Node) -> NodeId {
        let len = self.nodes.len();
        let earlier = |ids: &[NodeId]| ids.iter().all(|i| i.index() < len);
        let fine = match &node {
            Node::Const(_) | Node::Dim(_) | Node::Range(..) => true,
            Node::Neg(a) | Node::Not(a) | Node::Wrap(_, a) | Node::IsZero(a) => earlier(&[*a]),
            Node::Bin(_, a, b) | Node::Cmp(_, a, b) | Node::All(a, b) | Node::Any(a, b) => earlier(&[*a, *b]),
            Node::Ite(a, b, c) => earlier(&[*a, *b, *c]),
        };
        assert!(fine, "operand is not an earlier node");
        self.nodes.push(node);
        NodeId(u32::try_from(len).expect("a tree has fewer than 2^32 nodes"))
    }

    /// A dimension.
    pub fn dim(&mut self, d: Dim) -> NodeId {
        self.push(Node::Dim(d))
    }

    /// An integer.
    pub fn int(&mut self, v: impl Into<Int>) -> NodeId {
        self.push(Node::Const(Rat::from(v.into())))
    }

    /// An arithmetic operator.
    pub fn bin(&mut self, op: BinOp, a: NodeId, b: NodeId) -> NodeId {
        self.push(Node::Bin(op, a, b))
    }

    /// A comparison.
    pub fn cmp(&mut self, op: CmpOp, a: NodeId, b: NodeId) -> NodeId {
        self.push(Node::Cmp(op, a, b))
    }

    /// A conversion to a machine type.
    pub fn wrap(&mut self, ty: MachineInt, a: NodeId) -> NodeId {
        self.push(Node::Wrap(ty, a))
    }

    /// The nodes, operands before users.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node with this id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The last node, `None` for the empty tree.
    pub fn root(&self) -> Option<NodeId> {
        self.nodes.len().checked_sub(1).map(|i| NodeId(i as u32))
    }

    /// The values the root may take in a concrete state with `choose` picking from ranges; `None`
    /// when a division by zero or a shift by a negative or absurd amount leaves it undefined.
    pub fn eval(&self, state: &dyn Fn(Dim) -> Rat, choose: &dyn Fn(&Interval) -> Rat) -> Option<Rat> {
        let mut vals: Vec<Option<Rat>> = Vec::with_capacity(self.nodes.len());
        let flag = |b: bool| Some(if b { Rat::ONE } else { Rat::ZERO });
        for n in &self.nodes {
            let get = |i: &NodeId| vals[i.index()].clone();
            let v = match n {
                Node::Const(c) => Some(c.clone()),
                Node::Dim(d) => Some(state(*d)),
                Node::Range(i, _) => Some(choose(i)),
                Node::Neg(a) => get(a).map(|a| -a),
                Node::Not(a) => get(a).map(|a| -a - Rat::ONE),
                Node::Bin(op, a, b) => get(a).zip(get(b)).and_then(|(a, b)| eval_bin(*op, &a, &b)),
                Node::Wrap(ty, a) => get(a).and_then(|a| a.to_int().map(|a| Rat::from(ty.wrap(a)))),
                Node::Cmp(op, a, b) => get(a).zip(get(b)).and_then(|(a, b)| flag(op.holds(&a, &b))),
                Node::All(a, b) => match get(a) {
                    Some(a) if a.is_zero() => flag(false),
                    Some(_) => get(b).and_then(|b| flag(!b.is_zero())),
                    None => None,
                },
                Node::Any(a, b) => match get(a) {
                    Some(a) if !a.is_zero() => flag(true),
                    Some(_) => get(b).and_then(|b| flag(!b.is_zero())),
                    None => None,
                },
                Node::IsZero(a) => get(a).and_then(|a| flag(a.is_zero())),
                Node::Ite(c, a, b) => get(c).and_then(|c| if c.is_zero() { get(b) } else { get(a) }),
            };
            vals.push(v);
        }
        vals.pop().unwrap_or(Some(Rat::ZERO))
    }
}

impl CmpOp {
    /// The comparison of two numbers.
    pub fn holds(self, a: &Rat, b: &Rat) -> bool {
        match self {
            CmpOp::Eq => a == b,
            CmpOp::Ne => a != b,
            CmpOp::Lt => a < b,
            CmpOp::Le => a <= b,
        }
    }
}

/// Shifts by more than this many bits are not computed exactly: the result would not fit memory.
pub const MAX_SHIFT: u32 = 1 << 12;

/// The operator on two numbers; `None` where it is not defined.
pub fn eval_bin(op: BinOp, a: &Rat, b: &Rat) -> Option<Rat> {
    match op {
        BinOp::Add => return Some(a + b),
        BinOp::Sub => return Some(a - b),
        BinOp::Mul => return Some(a * b),
        _ => {}
    }
    let (a, b) = (a.to_int()?, b.to_int()?);
    let amount = || b.to_i64().and_then(|b| u32::try_from(b).ok()).filter(|b| *b <= MAX_SHIFT);
    let v = match op {
        BinOp::Div if b.is_zero() => return None,
        BinOp::Rem if b.is_zero() => return None,
        BinOp::Div => a.div_trunc(b),
        BinOp::Rem => a.rem_trunc(b),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => a.shl(amount()?),
        BinOp::Shr => a.shr(amount()?),
        BinOp::Add | BinOp::Sub | BinOp::Mul => return None,
    };
    Some(Rat::from(v))
}
