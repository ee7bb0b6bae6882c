//! Memory as regions: sets of equal-sized cells that no other region overlaps.
//!
//! The nodes of the [points-to analysis](crate::pointsto) are cut into *regions*: a region holds
//! the cells at one offset of a node (modulo its stride) that are always accessed with one size.
//! Where accesses of different sizes overlap, the region's cells are single bytes. An access then
//! concerns one region, and formulas about different regions do not interfere.

use crate::pointsto::{Cell, NodeId, PointsTo};
use palisade_base::IdxVec;
use palisade_cfa::*;
use std::collections::{BTreeMap, BTreeSet};

palisade_base::idx! {
    /// A set of cells that are accessed alike.
    pub struct RegionId = "r";
}

/// What a region's cells hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// Integers and floating-point numbers of this many bytes.
    Bits(u64),
    /// Pointers.
    Ptr,
    /// Single bytes of whatever is stored there.
    Byte,
}

/// A region.
#[derive(Clone, Debug)]
pub struct Region {
    /// What its cells hold.
    pub kind: CellKind,
    /// Where its cells lie: the node and the first offset.
    pub at: Cell,
    /// One past the last offset at which a cell begins (one offset except for bytes).
    pub end: i64,
    /// Whether the region is one single cell: its contents are then a plain value.
    pub single: bool,
    /// Whether all cells of the node belong to one object whose address is never taken, so that
    /// the offset alone tells cells apart.
    pub one_object: bool,
    /// A global whose bytes are known at the start lies here and has many cells.
    pub zero_base: bool,
    /// Objects with unknown contents lie here too.
    pub unknown_base: bool,
}

/// The regions of a program.
#[derive(Clone, Debug)]
pub struct Regions {
    /// Where pointers lead.
    pub points_to: PointsTo,
    /// All regions.
    pub regions: IdxVec<RegionId, Region>,
    /// Regions of a node, sorted by first offset.
    of_node: BTreeMap<NodeId, Vec<RegionId>>,
    /// The cell of each place that the program uses and that is not a register.
    place_cells: BTreeMap<PlaceId, Cell>,
    /// The cell each dereferenced or copied pointer expression has.
    pointer_cells: BTreeMap<ExprId, Cell>,
    /// The objects of each node.
    inside: BTreeMap<NodeId, Vec<Inside>>,
}

/// What is known about where a pointer points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Target {
    /// Whether it may point past the end of its object.
    pub may_leave: bool,
    /// Whether it may point into a string literal.
    pub literal: bool,
}

/// An object of a node: its first offset there and its size, where that is static.
type Inside = (i64, Option<u64>, bool);

/// Cells of more than this many elements are not initialised one by one.
pub const MANY_CELLS: u64 = 512;

impl Regions {
    /// Cuts the memory of a program into regions.
    pub fn new(program: &Program) -> Self {
        let mut points_to = PointsTo::new(program);
        let mut place_cells = BTreeMap::new();
        let mut pointer_cells = BTreeMap::new();
        let mut scalar_places = BTreeSet::new();
        for edge in &program.edges {
            program.visit_op(&edge.op, &mut |used| match used {
                Use::Read(p) | Use::Write(p) | Use::Address(p) => {
                    if let std::collections::btree_map::Entry::Vacant(slot) = place_cells.entry(p)
                        && let Some(cell) = points_to.place(program, p)
                    {
                        slot.insert(cell);
                    }
                    if !matches!(used, Use::Address(_)) && program.place_scalar(p).is_some() {
                        scalar_places.insert(p);
                    }
                }
                Use::Expr(_) => {}
            });
            if let Op::MemCopy { dst, src, .. } = edge.op {
                for e in [dst, src] {
                    if let Some(cell) = points_to.value(program, e) {
                        pointer_cells.insert(e, cell);
                    }
                }
            }
            if let Op::Call { args, .. } = &edge.op {
                for arg in args {
                    if let Arg::Scalar(e) = *arg
                        && let Some(cell) = points_to.value(program, e)
                    {
                        pointer_cells.insert(e, cell);
                    }
                }
            }
            if let Op::MemSet { dst, .. } = edge.op
                && let Some(cell) = points_to.value(program, dst)
            {
                pointer_cells.insert(dst, cell);
            }
        }
        let mut accesses: BTreeMap<NodeId, BTreeSet<(i64, u64, bool)>> = BTreeMap::new();
        for place in scalar_places {
            let Some(&cell) = place_cells.get(&place) else { continue };
            let cell = points_to.find(cell);
            let (skip, size, pointer) = extent(program, place);
            let cell = points_to.find(Cell { off: cell.off + skip as i64, ..cell });
            accesses.entry(cell.node).or_default().insert((cell.off, size, pointer));
        }
        let mut this = Regions {
            points_to,
            regions: IdxVec::new(),
            of_node: BTreeMap::new(),
            place_cells,
            pointer_cells,
            inside: BTreeMap::new(),
        };
        for (node, accesses) in accesses {
            this.cut(node, &accesses);
        }
        this.describe(program);
        this
    }

    /// Cuts one node into clusters of overlapping accesses.
    fn cut(&mut self, node: NodeId, accesses: &BTreeSet<(i64, u64, bool)>) {
        let stride = self.points_to.stride(node) as i64;
        let wraps = stride > 0 && accesses.iter().any(|&(off, size, _)| off + size as i64 > stride);
        let mut ids = Vec::new();
        if wraps {
            // An access reaches over the end of its element: nothing can be told apart.
            ids.push(self.add(node, 0, stride, CellKind::Byte));
        } else {
            let mut cluster: Vec<(i64, u64, bool)> = Vec::new();
            let mut end = i64::MIN;
            for &access in accesses {
                if access.0 >= end && !cluster.is_empty() {
                    ids.push(self.add_cluster(node, &cluster, end));
                    cluster.clear();
                }
                end = end.max(access.0 + access.1 as i64);
                cluster.push(access);
            }
            ids.push(self.add_cluster(node, &cluster, end));
        }
        self.of_node.insert(node, ids);
    }

    fn add_cluster(&mut self, node: NodeId, cluster: &[(i64, u64, bool)], end: i64) -> RegionId {
        let (off, size, _) = cluster[0];
        if cluster.iter().all(|&(o, s, _)| (o, s) == (off, size)) {
            let kind = if cluster.iter().any(|c| c.2) { CellKind::Ptr } else { CellKind::Bits(size) };
            self.add(node, off, off + 1, kind)
        } else {
            self.add(node, off, end, CellKind::Byte)
        }
    }

    fn add(&mut self, node: NodeId, off: i64, end: i64, kind: CellKind) -> RegionId {
        self.regions.push(Region {
            kind,
            at: Cell { node, off },
            end,
            single: false,
            one_object: false,
            zero_base: false,
            unknown_base: false,
        })
    }

    /// Finds out what lies in each region.
    fn describe(&mut self, program: &Program) {
        let mut objects: BTreeMap<NodeId, Vec<Option<VarId>>> = BTreeMap::new();
        for var in program.vars.ids() {
            if let Some(cell) = self.points_to.home(var) {
                objects.entry(cell.node).or_default().push(Some(var));
            }
        }
        for (id, edge) in program.edges.iter_enumerated() {
            if let Op::Alloc { .. } = edge.op
                && let Some(cell) = self.points_to.site(id)
            {
                objects.entry(cell.node).or_default().push(None);
            }
        }
        for var in program.vars.ids() {
            if let Some(cell) = self.points_to.home(var) {
                let v = &program.vars[var];
                let object = (cell.off, program.size_of(v.ty), v.read_only);
                self.inside.entry(cell.node).or_default().push(object);
            }
        }
        for id in program.edges.ids() {
            if let Some(cell) = self.points_to.site(id) {
                self.inside.entry(cell.node).or_default().push((cell.off, None, false));
            }
        }
        for region in self.regions.iter_mut() {
            let node = region.at.node;
            let inside = objects.get(&node).map_or(&[][..], Vec::as_slice);
            let external = self.points_to.is_external(node);
            let only = match inside {
                &[Some(var)] if !external => Some(var),
                _ => None,
            };
            region.single =
                only.is_some() && self.points_to.stride(node) == 0 && region.kind != CellKind::Byte;
            region.one_object = only.is_some_and(|v| !program.vars[v].address_taken);
            region.unknown_base = external;
            for object in inside {
                match object.map(|v| &program.vars[v]) {
                    Some(Var { init: Init::Image(_), ty, .. }) => {
                        region.zero_base |= program.size_of(*ty).is_none_or(|s| s > MANY_CELLS);
                    }
                    _ => region.unknown_base = true,
                }
            }
        }
    }

    /// What is known about where the value of a pointer expression points. A null pointer or a
    /// function points nowhere, and a pointer from outside is taken to point into an object.
    pub fn target(&self, program: &Program, pointer: ExprId) -> Target {
        if matches!(program.exprs[pointer].kind, ExprKind::Int(_) | ExprKind::Func(_)) {
            return Target { may_leave: false, literal: false };
        }
        if let ExprKind::Ite(_, a, b) = program.exprs[pointer].kind {
            let (a, b) = (self.target(program, a), self.target(program, b));
            return Target { may_leave: a.may_leave || b.may_leave, literal: a.literal || b.literal };
        }
        let Some(cell) = self.points_to.lookup_value(program, pointer) else {
            let literal = self.inside.values().flatten().any(|&(.., read_only)| read_only);
            return Target { may_leave: true, literal };
        };
        let inside = self.inside.get(&cell.node).map_or(&[][..], Vec::as_slice);
        let exact = self.points_to.stride(cell.node) == 0;
        let stays = |&(start, size, _): &Inside| {
            cell.off == start || cell.off > start && size.is_some_and(|s| ((cell.off - start) as u64) < s)
        };
        Target {
            may_leave: !(exact && inside.iter().all(stays)),
            literal: inside.iter().any(|&(.., read_only)| read_only),
        }
    }

    /// The cell at which a place of the program starts; `None` for registers.
    pub fn place_cell(&self, place: PlaceId) -> Option<Cell> {
        self.place_cells.get(&place).map(|&c| self.points_to.find(c))
    }

    /// The cell that the pointer operand of a block operation points to.
    pub fn pointer_cell(&self, expr: ExprId) -> Option<Cell> {
        self.pointer_cells.get(&expr).map(|&c| self.points_to.find(c))
    }

    /// The region a scalar access at a cell concerns.
    pub fn region_at(&self, cell: Cell) -> Option<RegionId> {
        let ids = self.of_node.get(&cell.node)?;
        let i = ids.partition_point(|&r| self.regions[r].at.off <= cell.off);
        ids[..i].last().copied().filter(|&r| cell.off < self.regions[r].end)
    }

    /// All regions of a node.
    pub fn regions_of(&self, node: NodeId) -> &[RegionId] {
        self.of_node.get(&node).map_or(&[], Vec::as_slice)
    }
}

/// The bytes a scalar access touches, counted from its place: how many to skip (bit-fields), how
/// many to touch, and whether they are a pointer.
pub fn extent(program: &Program, place: PlaceId) -> (u64, u64, bool) {
    let p = &program.places[place];
    match p.bits {
        Some(bits) => {
            let first = u64::from(bits.first);
            (first / 8, (first % 8 + u64::from(bits.width)).div_ceil(8), false)
        }
        None => {
            let size = program.size_of(p.ty).unwrap_or(1);
            (0, size, program.scalar_of(p.ty) == Some(Scalar::Ptr))
        }
    }
}

/// Whether a place is a register.
pub fn register_of(program: &Program, place: PlaceId) -> Option<VarId> {
    match program.places[place].base {
        Base::Var(v) if program.register(v).is_some() => Some(v),
        _ => None,
    }
}
