//! Which memory may a pointer reach? A unification-based points-to analysis.
//!
//! Every object belongs to a *node*; a pointer value is abstracted by a [`Cell`]: a node and a
//! byte offset in it. An assignment unifies the cells of both sides (Steensgaard), so each value
//! has one cell and the analysis is near linear. Offsets are tracked modulo the node's *stride*:
//! a node that is indexed with elements of `s` bytes, or reached at two different offsets, forgets
//! what it cannot tell apart. Stride 0 means that all offsets are exact, stride 1 that none is.
//!
//! A pointer whose origin is unknown (an external function's result, an integer made a pointer)
//! points to the start of an object of the one *external* node, with which everything that is
//! handed to an unknown external function is unified.

use palisade_base::IdxVec;
use palisade_cfa::*;
use std::collections::{BTreeMap, BTreeSet};

palisade_base::idx! {
    /// A set of objects that are not told apart.
    pub struct NodeId = "n";
}

/// A byte position in the objects of a node, modulo the node's stride.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Cell {
    /// The objects.
    pub node: NodeId,
    /// The offset.
    pub off: i64,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Set once the node was merged: its offset `o` is offset `o + shift` there.
    parent: Option<(NodeId, i64)>,
    stride: u64,
    /// What the pointers stored at each offset point to.
    links: BTreeMap<i64, Cell>,
}

/// The result of the analysis.
#[derive(Clone, Debug)]
pub struct PointsTo {
    nodes: IdxVec<NodeId, Node>,
    /// What a scalar variable's value points to.
    pointee: IdxVec<VarId, Option<Cell>>,
    /// The node of a variable that lives in memory.
    home: IdxVec<VarId, Option<NodeId>>,
    /// The node of each allocation.
    sites: BTreeMap<EdgeId, NodeId>,
    external: NodeId,
    changes: usize,
}

/// An index that is a product with a constant as the other factor and more bytes for each step, if
/// the product cannot wrap: the rows of an array whose dimensions are not constants in the source.
fn scaled_index(program: &Program, index: ExprId, stride: u64) -> (ExprId, u64) {
    let narrow = |e: ExprId| match program.exprs[e].kind {
        ExprKind::Convert(inner) => program.exprs[inner].ty.int().is_some_and(|t| t.bits <= 32),
        _ => false,
    };
    if let ExprKind::Binary(BinOp::Mul, a, b) = program.exprs[index].kind
        && program.exprs[index].ty.int().is_some_and(|t| t.bits >= 64 && t.signed)
    {
        for (factor, constant) in [(a, b), (b, a)] {
            if narrow(factor)
                && let ExprKind::Int(n @ 1..0x7fff_ffff) = program.exprs[constant].kind
                && let Some(bytes) = stride.checked_mul(n as u64)
            {
                return (factor, bytes);
            }
        }
    }
    (index, stride)
}

impl PointsTo {
    /// Analyses a program.
    pub fn new(program: &Program) -> Self {
        let mut nodes = IdxVec::new();
        let external = nodes.push(Node::default());
        let home = program
            .vars
            .ids()
            .map(|v| program.register(v).is_none().then(|| nodes.push(Node::default())))
            .collect();
        let mut this = PointsTo {
            nodes,
            pointee: IdxVec::filled(None, program.vars.len()),
            home,
            sites: BTreeMap::new(),
            external,
            changes: 0,
        };
        for (id, edge) in program.edges.iter_enumerated() {
            if let Op::Alloc { .. } = edge.op {
                let node = this.nodes.push(Node::default());
                this.sites.insert(id, node);
            }
        }
        this.globals(program);
        // Unification only ever merges, so this ends; a second round is needed where an integer
        // was read before a pointer was written to it.
        loop {
            let before = this.changes;
            for (id, edge) in program.edges.iter_enumerated() {
                this.op(program, id, &edge.op);
            }
            if this.changes == before {
                return this;
            }
        }
    }

    /// The node of a variable in memory.
    pub fn home(&self, var: VarId) -> Option<Cell> {
        self.home[var].map(|node| self.find(Cell { node, off: 0 }))
    }

    /// The node of the objects that an [`Op::Alloc`] edge makes.
    pub fn site(&self, edge: EdgeId) -> Option<Cell> {
        self.sites.get(&edge).map(|&node| self.find(Cell { node, off: 0 }))
    }

    /// The stride of a node that is its own representative.
    pub fn stride(&self, node: NodeId) -> u64 {
        self.nodes[node].stride
    }

    /// The node of objects of the outside world.
    pub fn external(&self) -> NodeId {
        self.find(Cell { node: self.external, off: 0 }).node
    }

    /// The nodes that can be reached from some nodes over pointers in memory, these included.
    pub fn reachable(&self, from: &[NodeId]) -> BTreeSet<NodeId> {
        let mut seen = BTreeSet::new();
        let mut work = from.to_vec();
        while let Some(node) = work.pop() {
            let node = self.find(Cell { node, off: 0 }).node;
            if seen.insert(node) {
                work.extend(self.nodes[node].links.values().map(|cell| cell.node));
            }
        }
        seen
    }

    /// Whether a node may hold objects of the outside world.
    pub fn is_external(&self, node: NodeId) -> bool {
        self.external() == node
    }

    /// The representative of a cell.
    pub fn find(&self, mut cell: Cell) -> Cell {
        while let Some((parent, shift)) = self.nodes[cell.node].parent {
            cell = Cell { node: parent, off: cell.off + shift };
        }
        let stride = self.nodes[cell.node].stride;
        if stride > 0 {
            cell.off = cell.off.rem_euclid(stride as i64);
        }
        cell
    }

    /// The cell a place lies at; `None` for registers.
    pub fn place(&mut self, program: &Program, place: PlaceId) -> Option<Cell> {
        let place = &program.places[place];
        let mut cell = match place.base {
            Base::Var(var) => Cell { node: self.home[var]?, off: 0 },
            Base::Deref(pointer) => {
                let found = self.value(program, pointer);
                self.or_external(found)
            }
        };
        for step in &place.path {
            match *step {
                Proj::Field { record, field } => cell.off += program.field(record, field).offset as i64,
                Proj::Index { index, stride } => cell = self.advance(program, cell, index, stride),
            }
        }
        Some(self.find(cell))
    }

    /// The cell of a place that the program does not have but an invariant mentions; `None` where
    /// the program's own places do not tell.
    pub fn lookup(&self, program: &Program, place: PlaceId) -> Option<Cell> {
        let place = &program.places[place];
        let mut cell = match place.base {
            Base::Var(var) => self.home(var)?,
            Base::Deref(pointer) => self.lookup_value(program, pointer)?,
        };
        for step in &place.path {
            cell = self.find(match *step {
                Proj::Field { record, field } => {
                    Cell { off: cell.off + program.field(record, field).offset as i64, ..cell }
                }
                Proj::Index { index, stride } => self.lookup_element(program, cell, index, stride)?,
            });
        }
        Some(self.find(cell))
    }

    /// The cell that a pointer points to, without learning anything new; `None` where the program's
    /// own places do not tell.
    pub fn lookup_value(&self, program: &Program, pointer: ExprId) -> Option<Cell> {
        match program.exprs[pointer].kind {
            ExprKind::Load(place) => match program.places[place].base {
                Base::Var(var) if program.register(var).is_some() => self.pointee[var].map(|c| self.find(c)),
                _ => {
                    let cell = self.lookup(program, place)?;
                    self.nodes[cell.node].links.get(&cell.off).map(|&c| self.find(c))
                }
            },
            ExprKind::Convert(inner) if program.exprs[inner].ty == Scalar::Ptr => {
                self.lookup_value(program, inner)
            }
            ExprKind::Addr(place) => self.lookup(program, place),
            ExprKind::PtrAdd { ptr, index, stride } => {
                let cell = self.lookup_value(program, ptr)?;
                self.lookup_element(program, cell, index, stride)
            }
            _ => None,
        }
    }

    fn lookup_element(&self, program: &Program, cell: Cell, index: ExprId, stride: u64) -> Option<Cell> {
        if let Expr { kind: ExprKind::Int(bits), ty: Scalar::Int(t) } = &program.exprs[index] {
            let by = t.decode(*bits).checked_mul(i128::from(stride)).and_then(|by| i64::try_from(by).ok())?;
            return Some(self.find(Cell { off: cell.off.checked_add(by)?, ..cell }));
        }
        let (_, stride) = scaled_index(program, index, stride);
        let cell = self.find(cell);
        let known = self.nodes[cell.node].stride;
        (known > 0 && stride % known == 0).then_some(cell)
    }

    /// A null or absolute pointer that is dereferenced has no object of ours.
    fn or_external(&mut self, cell: Option<Cell>) -> Cell {
        cell.unwrap_or(Cell { node: self.external, off: 0 })
    }

    fn advance(&mut self, program: &Program, cell: Cell, index: ExprId, stride: u64) -> Cell {
        match &program.exprs[index] {
            Expr { kind: ExprKind::Int(bits), ty: Scalar::Int(t) } => {
                let by = t.decode(*bits).saturating_mul(i128::from(stride));
                match i64::try_from(by) {
                    Ok(by) if by.unsigned_abs() < 1 << 40 => Cell { off: cell.off + by, ..cell },
                    _ => self.set_stride(cell, 1),
                }
            }
            _ => self.set_stride(cell, scaled_index(program, index, stride).1),
        }
    }

    /// What a scalar value points to, if it may be a pointer.
    pub fn value(&mut self, program: &Program, expr: ExprId) -> Option<Cell> {
        let found = match program.exprs[expr].kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Func(_) => None,
            ExprKind::Load(place) => self.loaded(program, place, program.exprs[expr].ty),
            ExprKind::Addr(place) => self.place(program, place),
            ExprKind::Unary(_, a) => self.value(program, a).map(|c| self.set_stride(c, 1)),
            ExprKind::Binary(_, a, b) => {
                let both = (self.value(program, a), self.value(program, b));
                self.either(both).map(|c| self.set_stride(c, 1))
            }
            ExprKind::Ite(_, a, b) => {
                let both = (self.value(program, a), self.value(program, b));
                self.either(both)
            }
            ExprKind::Convert(a) => {
                let from = self.value(program, a);
                let to_pointer = program.exprs[expr].ty == Scalar::Ptr && program.exprs[a].ty != Scalar::Ptr;
                match from {
                    None if to_pointer && !matches!(program.exprs[a].kind, ExprKind::Int(_)) => {
                        Some(self.or_external(None))
                    }
                    from => from,
                }
            }
            ExprKind::PtrAdd { ptr, index, stride } => {
                let base = self.value(program, ptr);
                base.map(|c| self.advance(program, c, index, stride))
            }
            ExprKind::Cmp(..)
            | ExprKind::PtrDiff { .. }
            | ExprKind::Overflow(..)
            | ExprKind::Valid { .. }
            | ExprKind::Freeable(_)
            | ExprKind::ObjectSize(_)
            | ExprKind::ReadOnly(_)
            | ExprKind::Overlap(..)
            | ExprKind::HeapEmpty
            | ExprKind::HeapTracked => None,
        };
        found.map(|c| self.find(c))
    }

    fn either(&mut self, both: (Option<Cell>, Option<Cell>)) -> Option<Cell> {
        match both {
            (Some(a), Some(b)) => {
                self.unify(a, b);
                Some(a)
            }
            (a, b) => a.or(b),
        }
    }

    /// What the contents of a place point to. A pointer always has a cell, so that all that is
    /// ever stored there meets in it.
    fn loaded(&mut self, program: &Program, place: PlaceId, ty: Scalar) -> Option<Cell> {
        let known = match self.place(program, place) {
            None => match program.places[place].base {
                Base::Var(var) => self.pointee[var],
                Base::Deref(_) => None,
            },
            Some(cell) => self.nodes[cell.node].links.get(&cell.off).copied(),
        };
        if known.is_none() && ty == Scalar::Ptr {
            let fresh = Cell { node: self.nodes.push(Node::default()), off: 0 };
            self.set_loaded(program, place, fresh);
            return Some(fresh);
        }
        known
    }

    fn set_loaded(&mut self, program: &Program, place: PlaceId, target: Cell) {
        match self.place(program, place) {
            None => {
                if let Base::Var(var) = program.places[place].base {
                    match self.pointee[var] {
                        Some(old) => self.unify(old, target),
                        None => {
                            self.pointee[var] = Some(target);
                            self.changes += 1;
                        }
                    }
                }
            }
            Some(cell) => self.link(cell, target),
        }
    }

    fn link(&mut self, at: Cell, target: Cell) {
        let at = self.find(at);
        match self.nodes[at.node].links.get(&at.off).copied() {
            Some(old) => self.unify(old, target),
            None => {
                self.nodes[at.node].links.insert(at.off, target);
                self.changes += 1;
            }
        }
    }

    fn set_stride(&mut self, cell: Cell, stride: u64) -> Cell {
        let at = self.find(cell);
        let old = self.nodes[at.node].stride;
        let new = gcd(old, stride);
        if new != old {
            self.nodes[at.node].stride = new;
            self.changes += 1;
            self.relink(at.node);
        }
        self.find(at)
    }

    /// Puts the links of a node back after its stride changed.
    fn relink(&mut self, node: NodeId) {
        for (off, target) in std::mem::take(&mut self.nodes[node].links) {
            self.link(Cell { node, off }, target);
        }
    }

    /// Makes two cells one.
    fn unify(&mut self, a: Cell, b: Cell) {
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a.node == b.node {
                let difference = a.off.abs_diff(b.off);
                if difference != 0 {
                    self.set_stride(a, difference);
                }
                continue;
            }
            self.changes += 1;
            let (sa, sb) = (self.nodes[a.node].stride, self.nodes[b.node].stride);
            self.nodes[b.node].parent = Some((a.node, a.off - b.off));
            let links = std::mem::take(&mut self.nodes[b.node].links);
            if gcd(sa, sb) != sa {
                self.set_stride(a, sb);
            }
            for (off, target) in links {
                let at = self.find(Cell { node: b.node, off });
                match self.nodes[at.node].links.get(&at.off).copied() {
                    Some(old) => todo.push((old, target)),
                    None => {
                        self.nodes[at.node].links.insert(at.off, target);
                    }
                }
            }
        }
    }

    fn globals(&mut self, program: &Program) {
        for (var, v) in program.vars.iter_enumerated() {
            let Init::Image(items) = &v.init else { continue };
            for item in items {
                let InitValue::Addr(target, off) = item.value else { continue };
                let Some(node) = self.home[target] else { continue };
                let target = Cell { node, off };
                match self.home[var] {
                    Some(home) => self.link(Cell { node: home, off: item.offset as i64 }, target),
                    None => match self.pointee[var] {
                        Some(old) => self.unify(old, target),
                        None => self.pointee[var] = Some(target),
                    },
                }
            }
        }
    }

    fn assign(&mut self, program: &Program, dst: PlaceId, value: Option<Cell>) {
        // Touch the place even when the value is no pointer: its indices shape the node.
        self.place(program, dst);
        if let Some(value) = value {
            self.set_loaded(program, dst, value);
        }
    }

    fn op(&mut self, program: &Program, id: EdgeId, op: &Op) {
        match *op {
            Op::Skip | Op::Enter { .. } | Op::Leave { .. } => {}
            Op::Assign { dst, src } => {
                let value = self.value(program, src);
                self.assign(program, dst, value);
            }
            Op::Copy { dst, src } => {
                if let (Some(a), Some(b)) = (self.place(program, dst), self.place(program, src)) {
                    self.unify(a, b);
                }
            }
            Op::Zero { dst } => {
                self.place(program, dst);
            }
            Op::Assume { cond } | Op::Check { cond, .. } => self.visit(program, cond),
            Op::Havoc { dst, .. } => {
                let external =
                    (program.place_scalar(dst) == Some(Scalar::Ptr)).then(|| self.or_external(None));
                self.assign(program, dst, external);
            }
            Op::Call { dst, callee, ref args } => {
                let effect = match callee {
                    Callee::Direct(f) => program.funcs[f].effect,
                    Callee::Indirect(_) => Effect::Arbitrary,
                };
                if matches!(effect, Effect::Arbitrary | Effect::Unmodelled) {
                    // It may store what it has anywhere in what it has.
                    let external = self.or_external(None);
                    let external = self.set_stride(external, 1);
                    self.link(external, external);
                }
                for arg in args {
                    let cell = match *arg {
                        Arg::Scalar(e) => self.value(program, e),
                        Arg::Aggregate(place) => self.place(program, place),
                    };
                    if let Some(cell) = cell
                        && effect.keeps()
                    {
                        let external = self.or_external(None);
                        self.unify(external, cell);
                    }
                }
                if let Some(dst) = dst {
                    let external = self.or_external(None);
                    let pointer = program.place_scalar(dst).is_none_or(|s| s == Scalar::Ptr);
                    self.assign(program, dst, pointer.then_some(external));
                }
            }
            Op::Return { value } => match value {
                Some(Arg::Scalar(e)) => self.visit(program, e),
                Some(Arg::Aggregate(place)) => {
                    self.place(program, place);
                }
                None => {}
            },
            Op::Alloc { dst, size, .. } => {
                self.visit(program, size);
                let site = self.sites.get(&id).map(|&node| Cell { node, off: 0 });
                self.assign(program, dst, site);
            }
            Op::Free { ptr } => self.visit(program, ptr),
            Op::MemCopy { dst, src, len } => {
                self.visit(program, len);
                let both = (self.value(program, dst), self.value(program, src));
                self.either(both);
            }
            Op::MemSet { dst, byte, len } => {
                for e in [dst, byte, len] {
                    self.visit(program, e);
                }
            }
            Op::Halt { kind } => {
                if let HaltKind::Exit(e) = kind {
                    self.visit(program, e);
                }
            }
        }
    }

    /// Visits an expression for the places inside it.
    fn visit(&mut self, program: &Program, expr: ExprId) {
        match program.exprs[expr].kind {
            ExprKind::Cmp(_, a, b) | ExprKind::Binary(_, a, b) | ExprKind::Overflow(_, a, b) => {
                self.visit(program, a);
                self.visit(program, b);
            }
            ExprKind::PtrDiff { left, right, .. } => {
                self.visit(program, left);
                self.visit(program, right);
            }
            ExprKind::Valid { ptr, size } => {
                self.visit(program, ptr);
                self.visit(program, size);
            }
            ExprKind::Unary(_, a)
            | ExprKind::Convert(a)
            | ExprKind::Freeable(a)
            | ExprKind::ObjectSize(a)
            | ExprKind::ReadOnly(a) => self.visit(program, a),
            ExprKind::Ite(c, a, b) | ExprKind::Overlap(c, a, b) => {
                for e in [c, a, b] {
                    self.visit(program, e);
                }
            }
            ExprKind::PtrAdd { ptr, index, .. } => {
                self.visit(program, index);
                self.visit(program, ptr);
            }
            ExprKind::Load(place) | ExprKind::Addr(place) => {
                for step in &program.places[place].path {
                    if let Proj::Index { index, .. } = step {
                        self.visit(program, *index);
                    }
                }
                if let Base::Deref(e) = program.places[place].base {
                    self.visit(program, e);
                }
            }
            _ => {}
        }
        self.value(program, expr);
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
