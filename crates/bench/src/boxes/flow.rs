//! What the analysis sees of a function: its integer variables that live in registers, and what happens
//! to them between the points where control meets or parts.

use palisade_analyses::trees::{self, machine};
use palisade_cfa::wto::Graph;
use palisade_cfa::*;
use palisade_domains::{Dim, Interval, Tree};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// One thing that happens to the variables. Memory, pointers and other functions cannot touch them:
/// nobody has their address.
#[derive(Debug)]
pub enum Action {
    /// The variable gets the value of the tree.
    Assign(Dim, Tree),
    /// The variable gets any value of the interval, which is that of its type.
    Any(Dim, Interval),
    /// Only states in which the tree is not zero go on.
    Assume(Tree),
    /// The values of these variables are read for something that is not analysed.
    Read(Vec<Dim>),
    /// The values of these variables are not needed any more.
    Forget(Vec<Dim>),
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
    /// The variables that are live at its head, with their types' ranges.
    pub live: Vec<(Dim, Interval)>,
}

/// The part of a function that the analysis sees. Blocks are numbered in weak topological order; block 0
/// is the entry.
#[derive(Debug)]
pub struct Flow {
    /// The number of variables, which are `Dim::int(0)` and so on in the order of their first use.
    pub vars: usize,
    /// What holds at the entry: whatever is read later has a value of its type.
    pub start: Vec<(Dim, Interval)>,
    /// All ways between blocks.
    pub ways: Vec<Way>,
    /// The ways that leave each block.
    pub out: Vec<Vec<usize>>,
    /// The ways that lead to each block.
    pub inc: Vec<Vec<usize>>,
    /// The loops by head, outer ones first.
    pub loops: Vec<Loop>,
}

/// The variables of a function that are tracked.
struct Vars<'p> {
    program: &'p Program,
    dims: FxHashMap<VarId, Dim>,
}

impl Vars<'_> {
    fn range(&self, var: VarId) -> Interval {
        let ty = self.program.scalar_of(self.program.vars[var].ty).and_then(|s| s.int());
        ty.map_or(Interval::TOP, |t| machine(t).range())
    }

    /// The tracked variable that a place is, or is a part of.
    fn at(&self, place: PlaceId) -> Option<(VarId, Dim)> {
        let Base::Var(var) = self.program.places[place].base else { return None };
        Some((var, *self.dims.get(&var)?))
    }

    /// The type of the variable that a place is.
    fn whole(&self, place: PlaceId) -> Option<IntTy> {
        let place = &self.program.places[place];
        let Base::Var(var) = place.base else { return None };
        let whole = place.path.is_empty() && place.bits.is_none();
        self.program.scalar_of(self.program.vars[var].ty).filter(|_| whole)?.int()
    }

    fn tree(&self, e: ExprId) -> Tree {
        trees::tree(self.program, e, &|place, t| {
            (self.whole(place) == Some(t)).then(|| self.at(place))?.map(|found| found.1)
        })
    }

    /// The place takes the value of an expression; any value if it is not the whole variable.
    fn write(&self, place: PlaceId, value: Option<ExprId>) -> Option<Action> {
        let (var, d) = self.at(place)?;
        let fits =
            |e: &ExprId| self.whole(place).is_some_and(|t| self.program.exprs[*e].ty == Scalar::Int(t));
        Some(match value.filter(fits) {
            Some(e) => Action::Assign(d, self.tree(e)),
            None => Action::Any(d, self.range(var)),
        })
    }

    /// The tracked variables that an operation reads.
    fn reads(&self, op: &Op) -> Vec<Dim> {
        let mut dims = Vec::new();
        self.program.visit_op(op, &mut |used| {
            if let Use::Read(place) = used {
                dims.extend(self.at(place).map(|found| found.1));
            }
        });
        dims
    }

    /// What an operation does to the variables.
    fn actions(&self, op: &Op) -> impl Iterator<Item = Action> + use<> {
        let reads = self.reads(op);
        let read = (!reads.is_empty()).then_some(Action::Read(reads));
        read.into_iter().chain(self.effect(op))
    }

    fn effect(&self, op: &Op) -> Option<Action> {
        match op {
            Op::Assign { dst, src } => self.write(*dst, Some(*src)),
            Op::Havoc { dst, .. } | Op::Alloc { dst, .. } | Op::Copy { dst, .. } | Op::Zero { dst } => {
                self.write(*dst, None)
            }
            Op::Call { dst, .. } => self.write((*dst)?, None),
            Op::Enter { var } => Some(Action::Any(*self.dims.get(var)?, self.range(*var))),
            Op::Assume { cond } | Op::Check { cond, .. } => Some(Action::Assume(self.tree(*cond))),
            _ => None,
        }
    }
}

impl Flow {
    /// The flow of a function with a body.
    pub fn new(program: &Program, graph: &Graph, func: FuncId) -> Flow {
        let vars = Vars { program, dims: tracked(program, graph, func) };
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
            vars: vars.dims.len(),
            start: Vec::new(),
            ways: Vec::new(),
            out: vec![Vec::new(); heads.len()],
            inc: vec![Vec::new(); heads.len()],
            loops: Vec::new(),
        };
        for (from, head) in heads.iter().enumerate() {
            for &first in &program.locs[*head].out {
                let mut actions = Vec::new();
                let mut edge = first;
                // Every cycle passes a loop head, which starts a block, so the way ends.
                let to = loop {
                    let e = &program.edges[edge];
                    actions.extend(vars.actions(&e.op));
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
        let live = flow.live();
        flow.forget_dead(&live);
        let mut ranges = vec![Interval::TOP; flow.vars];
        for (var, d) in &vars.dims {
            ranges[d.index() as usize] = vars.range(*var);
        }
        let with_ranges =
            |set: &Set| set.iter().map(|d| (d, ranges[d.index() as usize].clone())).collect::<Vec<_>>();
        flow.start = with_ranges(&live[0]);
        for (start, head) in heads.iter().enumerate().filter(|(_, h)| graph.is_loop_head(**h)) {
            let end = heads.partition_point(|l| graph.position(*l) < end_of(program, graph, *head));
            flow.loops.push(Loop { blocks: start..end, live: with_ranges(&live[start]) });
        }
        flow
    }

    /// The variables that are live at the start of each block.
    fn live(&self) -> Vec<Set> {
        let mut live = vec![Set::new(self.vars); self.out.len()];
        loop {
            let mut changed = false;
            for block in (0..self.out.len()).rev() {
                let mut at_start = live[block].clone();
                for &w in &self.out[block] {
                    let mut needed = live[self.ways[w].to].clone();
                    for action in self.ways[w].actions.iter().rev() {
                        match action {
                            Action::Assign(d, _) | Action::Any(d, _) => needed.remove(*d),
                            Action::Read(dims) => dims.iter().for_each(|d| needed.insert(*d)),
                            Action::Assume(_) | Action::Forget(_) => {}
                        }
                    }
                    at_start.union(&needed);
                }
                changed |= at_start != live[block];
                live[block] = at_start;
            }
            if !changed {
                return live;
            }
        }
    }

    /// Lets every way end by forgetting what nobody reads any more. Who reads what is not needed then.
    fn forget_dead(&mut self, live: &[Set]) {
        for way in &mut self.ways {
            let mut known = live[way.from].clone();
            for action in &way.actions {
                if let Action::Assign(d, _) | Action::Any(d, _) = action {
                    known.insert(*d);
                }
            }
            let dead: Vec<Dim> = known.iter().filter(|d| !live[way.to].contains(*d)).collect();
            way.actions.retain(|a| !matches!(a, Action::Read(_)));
            if !dead.is_empty() {
                way.actions.push(Action::Forget(dead));
            }
        }
    }
}

fn end_of(program: &Program, graph: &Graph, head: LocId) -> Option<usize> {
    let start = graph.position(head)?;
    graph.wto[program.locs[head].func].component_end(start)
}

/// The integer variables of a function whose address nobody has, in the order in which they are used.
fn tracked(program: &Program, graph: &Graph, func: FuncId) -> FxHashMap<VarId, Dim> {
    let mut dims = FxHashMap::default();
    let mut add = |var: VarId| {
        let info = &program.vars[var];
        let integer = program.scalar_of(info.ty).is_some_and(|s| s.int().is_some());
        if integer && !info.address_taken && info.kind != VarKind::Global {
            let next = Dim::int(dims.len() as u32);
            dims.entry(var).or_insert(next);
        }
    };
    for &loc in &graph.wto[func].order {
        for &edge in &program.locs[loc].out {
            program.visit_op(&program.edges[edge].op, &mut |used| {
                if let Use::Read(place) | Use::Write(place) = used
                    && let Base::Var(var) = program.places[place].base
                {
                    add(var);
                }
            });
        }
    }
    dims
}

/// A set of dimensions `Dim::int(0)` and so on.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn new(len: usize) -> Set {
        Set(vec![0; len.div_ceil(64)])
    }
    fn insert(&mut self, d: Dim) {
        self.0[d.index() as usize / 64] |= 1 << (d.index() % 64);
    }
    fn remove(&mut self, d: Dim) {
        self.0[d.index() as usize / 64] &= !(1 << (d.index() % 64));
    }
    fn contains(&self, d: Dim) -> bool {
        self.0[d.index() as usize / 64] >> (d.index() % 64) & 1 == 1
    }
    fn union(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
    fn iter(&self) -> impl Iterator<Item = Dim> + '_ {
        (0..self.0.len() as u32 * 64).map(Dim::int).filter(|d| self.contains(*d))
    }
}
