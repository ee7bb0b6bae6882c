//! Constants and copies: a register that holds a known value gives way to it.
//!
//! A *fact* says that a register holds a constant, the address of a variable, or the value of
//! another register, because it was assigned just that. Facts that hold on all paths to a location
//! (the textbook's available copies) are used there: expressions get smaller, conditions fold, and
//! a variable whose address was only taken to pass it to an inlined function becomes a register.

use crate::available::{Set, affordable, available};
use palisade_base::IdxVec;
use palisade_cfa::*;
use palisade_task::Task;
use palisade_task::rewrite::Rewriter;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A register and the value it holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Fact {
    var: VarId,
    value: Known,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Known {
    /// These value bits.
    Bits(u128),
    /// The address of this place, which lies at a fixed offset in a variable.
    Addr(PlaceId),
    /// What this register holds.
    Copy(VarId),
}

/// Uses all facts. Tells whether something changed.
pub fn propagate(task: &mut Task) -> bool {
    let homes = pointed_at_first(&mut task.program);
    let program = &task.program;
    let Some(facts) = Facts::collect(program, &homes) else { return false };
    let graph = program.analyse();
    let at = facts.solve(program, &graph, task.body().entry);
    let heads: Vec<LocId> = graph.loop_heads(program.entry).collect();
    let mut used: BTreeSet<usize> = BTreeSet::new();
    let mut changed = false;
    for edge in task.program.edges.ids() {
        let Some(holds) = &at[task.program.edges[edge].src] else { continue };
        let mut rewriter = Rewriter::default();
        let mut mentioned = Vec::new();
        task.program.visit_op(&task.program.edges[edge].op, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = task.program.places[place].base
            {
                mentioned.push(var);
            }
        });
        for var in mentioned {
            let mut known = facts.of_lhs(var).iter().filter(|&&f| holds.contains(f));
            if let Some(&fact) = known.next() {
                let value = facts.expr(&mut task.program, fact);
                rewriter.values.insert(var, value);
                used.insert(fact);
            }
        }
        if rewriter.values.is_empty() && rewriter.vars.is_empty() {
            continue;
        }
        let op = task.program.edges[edge].op.clone();
        let new = rewriter.op(&mut task.program, &op);
        if new != op {
            task.program.edges[edge].op = new;
            changed = true;
        }
    }
    note_used(task, &facts, &at, &heads, &used);
    changed
}

/// Notes the facts that were used and that hold at loop heads: a proof about the reduced task takes
/// them for granted there.
fn note_used(
    task: &mut Task,
    facts: &Facts,
    at: &IdxVec<LocId, Option<Set>>,
    heads: &[LocId],
    used: &BTreeSet<usize>,
) {
    for &fact in used {
        let holds = |head: &&LocId| at[**head].as_ref().is_some_and(|set| set.contains(fact));
        let heads: Vec<LocId> = heads.iter().filter(holds).copied().collect();
        if heads.is_empty() {
            continue;
        }
        let value = facts.expr(&mut task.program, fact);
        let place = task.program.var_place(facts.all[fact].var);
        let held = task.program.load(place);
        let equal = task.program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, held, value));
        let origin = &mut task.origin;
        origin.known.extend(heads.iter().map(|&h| (origin.frames_of[h], origin.locs[h], equal)));
    }
}

#[derive(Default)]
struct Facts {
    all: Vec<Fact>,
    number: FxHashMap<Fact, usize>,
    /// Facts about a register, and those that use a variable's value or address.
    lhs: FxHashMap<VarId, Vec<usize>>,
    rhs: FxHashMap<VarId, Vec<usize>>,
    /// Facts that hold at the start.
    initial: Vec<usize>,
}

impl Facts {
    /// All facts of a program, given the places of variables that pointers hold at the start; `None` if they are too
    /// many to be solved.
    fn collect(program: &Program, homes: &FxHashMap<VarId, PlaceId>) -> Option<Facts> {
        let mut facts = Facts::default();
        for (var, v) in program.vars.iter_enumerated() {
            if let (Init::Image(items), Some(scalar)) = (&v.init, program.register(var)) {
                let value = match items.as_slice() {
                    [] => Some(Known::Bits(0)),
                    // The image does not know of signs.
                    [InitItem { offset: 0, value: InitValue::Int(t, bits) }]
                        if scalar.int().is_some_and(|own| own.bits == t.bits) =>
                    {
                        Some(Known::Bits(*bits))
                    }
                    [InitItem { offset: 0, value: InitValue::Addr(to, 0) }] if scalar == Scalar::Ptr => {
                        homes.get(to).copied().map(Known::Addr)
                    }
                    _ => None,
                };
                if let Some(value) = value {
                    let number = facts.add(program, Fact { var, value });
                    facts.initial.push(number);
                }
            }
        }
        for edge in &program.edges {
            if let Some(fact) = fact_of(program, &edge.op) {
                facts.add(program, fact);
            }
        }
        affordable(program, facts.all.len()).then_some(facts)
    }

    fn add(&mut self, program: &Program, fact: Fact) -> usize {
        if let Some(&known) = self.number.get(&fact) {
            return known;
        }
        let number = self.all.len();
        self.all.push(fact);
        self.number.insert(fact, number);
        self.lhs.entry(fact.var).or_default().push(number);
        match fact.value {
            Known::Bits(_) => {}
            Known::Copy(var) => self.rhs.entry(var).or_default().push(number),
            Known::Addr(place) => {
                if let Base::Var(var) = program.places[place].base {
                    self.rhs.entry(var).or_default().push(number);
                }
            }
        }
        number
    }

    fn of_lhs(&self, var: VarId) -> &[usize] {
        self.lhs.get(&var).map_or(&[], Vec::as_slice)
    }

    /// The value of a fact as an expression.
    fn expr(&self, program: &mut Program, fact: usize) -> ExprId {
        let Fact { var, value } = self.all[fact];
        let ty = program.scalar_of(program.vars[var].ty).expect("facts are about registers");
        match value {
            Known::Bits(bits) if matches!(ty, Scalar::Float(_)) => {
                program.add_expr(ty, ExprKind::Float(bits))
            }
            Known::Bits(bits) => program.add_expr(ty, ExprKind::Int(bits)),
            Known::Addr(place) => program.add_expr(Scalar::Ptr, ExprKind::Addr(place)),
            Known::Copy(other) => {
                let place = Place {
                    base: Base::Var(other),
                    path: Default::default(),
                    ty: program.vars[other].ty,
                    bits: None,
                };
                let place = program.places.push(place);
                program.add_expr(ty, ExprKind::Load(place))
            }
        }
    }

    /// The facts that hold at each location that the entry reaches.
    fn solve(&self, program: &Program, graph: &Graph, entry: LocId) -> IdxVec<LocId, Option<Set>> {
        let mut first = Set::empty(self.all.len());
        for &fact in &self.initial {
            first.insert(fact);
        }
        available(program, graph, entry, first, |op, set| self.step(program, op, set))
    }

    /// What an operation does to the facts.
    fn step(&self, program: &Program, op: &Op, set: &mut Set) {
        let mut kill = |var: VarId, and_value: bool| {
            for &fact in self.of_lhs(var) {
                set.remove(fact);
            }
            if and_value {
                for &fact in self.rhs.get(&var).map_or(&[][..], Vec::as_slice) {
                    set.remove(fact);
                }
            }
        };
        if let Op::Enter { var } | Op::Leave { var } = *op {
            kill(var, true);
        }
        program.visit_op(op, &mut |used| {
            if let Use::Write(place) = used
                && let Base::Var(var) = program.places[place].base
            {
                // The address of a variable survives a write to it, the value does not.
                kill(var, program.register(var).is_some());
            }
        });
        if let Some(fact) = fact_of(program, op) {
            set.insert(self.number[&fact]);
        }
    }
}

/// The places of the variables whose addresses registers hold at the start.
fn pointed_at_first(program: &mut Program) -> FxHashMap<VarId, PlaceId> {
    let mut wanted: BTreeSet<VarId> = BTreeSet::new();
    for (var, v) in program.vars.iter_enumerated() {
        if let (Init::Image(items), Some(Scalar::Ptr)) = (&v.init, program.register(var))
            && let [InitItem { offset: 0, value: InitValue::Addr(to, 0) }] = items.as_slice()
        {
            wanted.insert(*to);
        }
    }
    let mut homes = FxHashMap::default();
    for (id, place) in program.places.iter_enumerated() {
        if let Base::Var(var) = place.base
            && wanted.contains(&var)
            && place.path.is_empty()
            && place.bits.is_none()
            && place.ty == program.vars[var].ty
        {
            homes.entry(var).or_insert(id);
        }
    }
    for var in wanted {
        homes.entry(var).or_insert_with(|| program.var_place(var));
    }
    homes
}

/// The fact that an operation establishes.
fn fact_of(program: &Program, op: &Op) -> Option<Fact> {
    let Op::Assign { dst, src } = *op else { return None };
    let (var, ty) = program.whole_register(dst)?;
    let value = match program.exprs[src].kind {
        ExprKind::Int(bits) | ExprKind::Float(bits) => Known::Bits(bits),
        ExprKind::Addr(place) if fixed(program, place) => Known::Addr(place),
        ExprKind::Load(place) => {
            let (other, t) = program.whole_register(place)?;
            if other == var || t != ty {
                return None;
            }
            Known::Copy(other)
        }
        _ => return None,
    };
    (program.exprs[src].ty == ty).then_some(Fact { var, value })
}

/// Whether a place lies at a fixed offset in a variable.
fn fixed(program: &Program, place: PlaceId) -> bool {
    let place = &program.places[place];
    matches!(place.base, Base::Var(_))
        && place.path.iter().all(|step| match *step {
            Proj::Field { .. } => true,
            Proj::Index { index, .. } => matches!(program.exprs[index].kind, ExprKind::Int(_)),
        })
}
