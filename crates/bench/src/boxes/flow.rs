//! What the analysis sees of a function: every integer that a compiler would keep in a register, and what
//! happens to them between the points where control meets or parts.
//!
//! Tracked are the integers in variables whose address nobody has, members of structures and elements of
//! arrays included; globals among them, which a call and a store through a pointer may change; and the
//! temporaries of three-address form: the value of each operator and of each load from memory.

use palisade_analyses::cells::{Cells, Located};
use palisade_analyses::trees::{self, machine};
use palisade_cfa::wto::Graph;
use palisade_cfa::*;
use palisade_domains::{Dim, Interval, Tree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// One thing that happens to the variables.
#[derive(Debug)]
pub enum Action {
    /// The variable gets the value of the tree.
    Assign(Dim, Tree),
    /// The variable gets any value of the interval, which is that of its type.
    Any(Dim, Interval),
    /// Only states in which the tree is not zero go on.
    Assume(Tree),
    /// The same; states in which it is zero are errors. With the number of the check.
    Check(usize, Tree),
}

/// A way from one block to another, without branches.
#[derive(Debug)]
pub struct Way {
    /// The block it leaves.
    pub from: usize,
    /// The block it leads to.
    pub to: usize,
    /// What happens on it, in order.
    pub actions: Vec<Action>,
}

/// A loop in the order of the blocks.
#[derive(Clone, Debug)]
pub struct Loop {
    /// The blocks that belong to it; the first is its head.
    pub blocks: Range<usize>,
    /// The variables that may change in it.
    pub changed: Vec<Dim>,
}

/// The part of a function that the analysis sees. Blocks are numbered in weak topological order; block 0
/// is the entry.
#[derive(Debug)]
pub struct Flow {
    /// The ranges of the types of the variables `Dim::int(0)` and so on. At the entry each has any value
    /// of its type.
    pub ranges: Vec<Interval>,
    /// All ways between blocks.
    pub ways: Vec<Way>,
    /// The ways that leave each block.
    pub out: Vec<Vec<usize>>,
    /// The ways that lead to each block.
    pub inc: Vec<Vec<usize>>,
    /// The loops by head, outer ones first.
    pub loops: Vec<Loop>,
    /// The number of checks.
    pub checks: usize,
}

/// What is tracked.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    /// An integer in a variable.
    Cell(u32),
    /// The value of an expression when it was computed last.
    Value(ExprId),
}

/// The tracked integers of a function.
struct Registers<'p> {
    program: &'p Program,
    cells: Cells,
    dims: FxHashMap<Key, Dim>,
    ranges: Vec<Interval>,
    /// Those that others may change: in globals.
    shared: Vec<Dim>,
    checks: usize,
}

impl<'p> Registers<'p> {
    fn new(program: &'p Program, graph: &Graph, func: FuncId) -> Self {
        let cells = Cells::new(program, |v| !program.vars[v].address_taken && !program.vars[v].read_only);
        let mut this = Registers {
            program,
            cells,
            dims: FxHashMap::default(),
            ranges: Vec::new(),
            shared: Vec::new(),
            checks: 0,
        };
        for &loc in &graph.wto[func].order {
            for &edge in &program.locs[loc].out {
                let op = &program.edges[edge].op;
                program.visit_op(op, &mut |used| {
                    if let Use::Read(place) | Use::Write(place) = used
                        && let Located::Cell(slot) = this.cells.locate(program, place)
                    {
                        this.add(Key::Cell(slot));
                    }
                });
                for value in this.values(op) {
                    this.add(Key::Value(value));
                }
            }
        }
        this
    }

    fn int_type(&self, key: Key) -> Option<IntTy> {
        match key {
            Key::Cell(slot) => self.cells.info(slot)?.scalar.int(),
            Key::Value(e) => self.program.exprs[e].ty.int(),
        }
    }

    fn add(&mut self, key: Key) {
        let Some(ty) = self.int_type(key) else { return };
        let next = Dim::int(self.ranges.len() as u32);
        if *self.dims.entry(key).or_insert(next) == next {
            self.ranges.push(machine(ty).range());
            if let Key::Cell(slot) = key
                && self.cells.info(slot).is_some_and(|c| self.program.vars[c.var].kind == VarKind::Global)
            {
                self.shared.push(next);
            }
        }
    }

    fn range(&self, d: Dim) -> Interval {
        self.ranges[d.index() as usize].clone()
    }

    fn any(&self, d: Dim) -> Action {
        Action::Any(d, self.range(d))
    }

    /// The variable that a place of this type is.
    fn at(&self, place: PlaceId, t: IntTy) -> Option<Dim> {
        let Located::Cell(slot) = self.cells.locate(self.program, place) else { return None };
        self.dims.get(&Key::Cell(slot)).copied().filter(|_| self.int_type(Key::Cell(slot)) == Some(t))
    }

    /// Whether an expression reads memory that is not tracked.
    fn is_load(&self, e: ExprId) -> bool {
        let expr = &self.program.exprs[e];
        match (&expr.kind, expr.ty) {
            (ExprKind::Load(place), Scalar::Int(t)) => self.at(*place, t).is_none(),
            _ => false,
        }
    }

    /// The expressions that an operation computes, operands first, whose values become temporaries: loads
    /// and operators, but for conditions and for the value that is stored in a variable.
    fn values(&self, op: &Op) -> Vec<ExprId> {
        let mut roots: Vec<(ExprId, bool)> = Vec::new();
        let indices = |place: PlaceId, roots: &mut Vec<(ExprId, bool)>| {
            let path = &self.program.places[place].path;
            roots.extend(path.iter().filter_map(|p| match p {
                Proj::Index { index, .. } => Some((*index, true)),
                Proj::Field { .. } => None,
            }));
        };
        match op {
            Op::Assign { dst, src } => {
                indices(*dst, &mut roots);
                let stored = matches!(self.cells.locate(self.program, *dst), Located::Cell(_));
                roots.push((*src, !stored));
            }
            Op::Assume { cond } | Op::Check { cond, .. } => roots.push((*cond, false)),
            Op::Call { args, .. } => roots.extend(args.iter().filter_map(|a| match a {
                Arg::Scalar(e) => Some((*e, true)),
                Arg::Aggregate(_) => None,
            })),
            _ => {}
        }
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work: Vec<(ExprId, bool, bool)> =
            roots.into_iter().rev().map(|(e, k)| (e, k, false)).collect();
        while let Some((e, kept, ready)) = work.pop() {
            if ready {
                found.push(e);
                continue;
            }
            if !seen.insert(e) {
                continue;
            }
            let mut below: Vec<(ExprId, bool)> =
                trees::operands(self.program, e).into_iter().map(|x| (x, true)).collect();
            let operator = !below.is_empty();
            if let ExprKind::Load(place) = self.program.exprs[e].kind {
                indices(place, &mut below);
            }
            let integer = self.program.exprs[e].ty.int().is_some_and(|t| t != IntTy::BOOL);
            if integer && (self.is_load(e) || operator && kept) {
                work.push((e, kept, true));
            }
            work.extend(below.into_iter().rev().map(|(x, k)| (x, k, false)));
        }
        found
    }

    /// The tree of an expression over variables and those temporaries that `known` accepts.
    fn tree(&self, e: ExprId, known: impl Fn(ExprId) -> bool) -> Tree {
        let value = |x: ExprId| known(x).then(|| self.dims.get(&Key::Value(x)).copied()).flatten();
        trees::tree_over(self.program, e, &value, &|place, t| self.at(place, t))
    }

    /// What an operation does to the variables.
    fn actions(&mut self, op: &Op) -> Vec<Action> {
        let mut actions = Vec::new();
        for e in self.values(op) {
            let Some(&d) = self.dims.get(&Key::Value(e)) else { continue };
            actions.push(match self.is_load(e) {
                true => self.any(d),
                false => Action::Assign(d, self.tree(e, |x| x != e)),
            });
        }
        match op {
            Op::Assign { dst, src } => {
                match (self.cells.locate(self.program, *dst), self.program.exprs[*src].ty) {
                    (Located::Cell(_), Scalar::Int(t)) if self.at(*dst, t).is_some() => {
                        let value = self.at(*dst, t).map(|d| Action::Assign(d, self.tree(*src, |_| true)));
                        actions.extend(value);
                    }
                    _ => self.lose(*dst, &mut actions),
                }
            }
            Op::Havoc { dst, .. } | Op::Alloc { dst, .. } | Op::Copy { dst, .. } | Op::Zero { dst } => {
                self.lose(*dst, &mut actions);
            }
            Op::Call { dst, .. } => {
                actions.extend(self.shared.iter().map(|d| self.any(*d)));
                dst.iter().for_each(|dst| self.lose(*dst, &mut actions));
            }
            Op::Enter { var } => self.lose_cells(self.cells.of_var(*var), &mut actions),
            // What the condition says about variables is worth more than what it says about temporaries.
            Op::Assume { cond } => actions.push(Action::Assume(self.tree(*cond, |x| self.is_load(x)))),
            Op::Check { cond, .. } => {
                actions.push(Action::Check(self.checks, self.tree(*cond, |x| self.is_load(x))));
                self.checks += 1;
            }
            Op::MemCopy { .. } | Op::MemSet { .. } => {
                actions.extend(self.shared.iter().map(|d| self.any(*d)))
            }
            Op::Skip | Op::Return { .. } | Op::Halt { .. } | Op::Leave { .. } | Op::Free { .. } => {}
        }
        actions
    }

    /// Something unknown is written to a place.
    fn lose(&self, place: PlaceId, actions: &mut Vec<Action>) {
        match self.cells.locate(self.program, place) {
            Located::Cell(slot) => self.lose_cells(slot..slot + 1, actions),
            Located::Among(slots) => self.lose_cells(slots, actions),
            Located::Anywhere => actions.extend(self.shared.iter().map(|d| self.any(*d))),
        }
    }

    fn lose_cells(&self, slots: Range<u32>, actions: &mut Vec<Action>) {
        let dims = slots.filter_map(|slot| self.dims.get(&Key::Cell(slot)));
        actions.extend(dims.map(|d| self.any(*d)));
    }
}

impl Flow {
    /// The flow of a function with a body.
    pub fn new(program: &Program, graph: &Graph, func: FuncId) -> Flow {
        let mut registers = Registers::new(program, graph, func);
        let order = &graph.wto[func].order;
        let reachable = |e: &&EdgeId| graph.is_reachable(program.edges[**e].src);
        let starts_block = |loc: LocId| {
            let l = &program.locs[loc];
            loc == order[0]
                || graph.is_loop_head(loc)
                || l.out.len() != 1
                || l.inc.iter().filter(reachable).count() != 1
        };
        let heads: Vec<LocId> = order.iter().copied().filter(|l| starts_block(*l)).collect();
        let block: FxHashMap<LocId, usize> = heads.iter().zip(0..).map(|(l, i)| (*l, i)).collect();
        let mut flow = Flow {
            ranges: Vec::new(),
            ways: Vec::new(),
            out: vec![Vec::new(); heads.len()],
            inc: vec![Vec::new(); heads.len()],
            loops: Vec::new(),
            checks: 0,
        };
        for (from, head) in heads.iter().enumerate() {
            for &first in &program.locs[*head].out {
                let mut actions = Vec::new();
                let mut edge = first;
                // Every cycle passes a loop head, which starts a block, so the way ends.
                let to = loop {
                    let e = &program.edges[edge];
                    actions.extend(registers.actions(&e.op));
                    match block.get(&e.dst) {
                        Some(&to) => break to,
                        None => edge = program.locs[e.dst].out[0],
                    }
                };
                let way = flow.ways.len();
                flow.ways.push(Way { from, to, actions });
                flow.out[from].push(way);
                flow.inc[to].push(way);
            }
        }
        for (start, head) in heads.iter().enumerate().filter(|(_, h)| graph.is_loop_head(**h)) {
            let end = heads.partition_point(|l| graph.position(*l) < end_of(program, graph, *head));
            let blocks = start..end;
            let inside = flow.ways.iter().filter(|w| blocks.contains(&w.from));
            let mut changed: Vec<Dim> =
                inside.flat_map(|w| w.actions.iter().filter_map(Action::changes)).collect();
            changed.sort_unstable();
            changed.dedup();
            flow.loops.push(Loop { blocks, changed });
        }
        flow.ranges = registers.ranges;
        flow.checks = registers.checks;
        flow
    }
}

impl Action {
    /// The variable that gets a new value.
    fn changes(&self) -> Option<Dim> {
        match self {
            Action::Assign(d, _) | Action::Any(d, _) => Some(*d),
            Action::Assume(_) | Action::Check(..) => None,
        }
    }
}

fn end_of(program: &Program, graph: &Graph, head: LocId) -> Option<usize> {
    let start = graph.position(head)?;
    graph.wto[program.locs[head].func].component_end(start)
}
