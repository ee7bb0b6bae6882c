//! The components that a composite can be made of, by name, and what the state of each says.

use super::Merge;
use super::component::{Component, Erased, Opaque, Part};
use crate::numeric::{DELAY, atoms, dims, disjunction};
use palisade_analyses::bdd::BddAnalysis;
use palisade_analyses::callstack::{CallStack, Stack};
use palisade_analyses::definitions::ReachingDefinitions;
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::heap::ExplicitHeap;
use palisade_analyses::location::{Calls, Location};
use palisade_analyses::numeric::{Numeric, NumericMerge};
use palisade_analyses::predicate::refine::Tracked as TrackedPredicates;
use palisade_analyses::predicate::{Abstraction, Predicate};
use palisade_analyses::sign::SignAnalysis;
use palisade_analyses::thresholds::thresholds;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::{Constant, Halt};
use palisade_domains::{Domain, NumericDomain};
use palisade_evidence::Invariants;

/// A component, with what it tracks in one line.
pub struct Named {
    /// The name used on the command line.
    pub name: &'static str,
    /// What it tracks.
    pub summary: &'static str,
}

const fn named(name: &'static str, summary: &'static str) -> Named {
    Named { name, summary }
}

/// The components. Every numeric domain is one, too.
pub const COMPONENTS: [Named; 9] = [
    named("location", "the program counter (4.1)"),
    named("explicit", "constants of all variables (4.2)"),
    named("definitions", "reaching definitions: which assignment a variable has its value from (4.3)"),
    named("cartesian", "the strongest conjunction of predicates that counterexamples ask for (4.4)"),
    named("predicate", "the strongest combination of predicates that counterexamples ask for"),
    named("heap", "explicit heaps to a depth (4.5)"),
    named("bdd", "sets of values as decision diagrams (4.6)"),
    named("sign", "the signs of variables: the worked example"),
    named("callstack", "the calls that have not returned, to a depth"),
];

/// Whether a component tracks predicates, which are refined.
pub fn is_refined(name: &str) -> bool {
    matches!(name, "cartesian" | "predicate")
}

/// Whether the join of two states of a component stands for their union.
pub fn is_power_set(name: &str) -> bool {
    matches!(name, "location" | "callstack" | "predicate" | "bdd")
}

/// Whether there is a component of this name.
pub fn exists(name: &str) -> bool {
    COMPONENTS.iter().any(|c| c.name == name) || Domain::named(name).is_some()
}

/// What components are made for.
pub struct Context<'p> {
    /// The program, without calls.
    pub program: &'p Program,
    /// Its loops.
    pub graph: &'p Graph,
    /// The locations that are errors.
    pub errors: &'p [LocId],
    /// Predicates, by location.
    pub tracked: &'p TrackedPredicates,
    /// How states are merged.
    pub merge: Merge,
    /// Stops long operations.
    pub budget: &'p Budget,
}

/// A component with its initial state and precision.
pub struct Start<'p> {
    /// The component.
    pub component: Erased<'p>,
    /// Where it starts.
    pub state: Opaque,
    /// How precise it is.
    pub precision: Opaque,
}

impl<'p> Start<'p> {
    /// A component that starts here.
    pub fn new(
        component: impl Component + 'p,
        state: impl PartialEq + 'static,
        precision: impl PartialEq + 'static,
    ) -> Self {
        let (state, precision) = (Opaque::new(state), Opaque::new(precision));
        Start { component: Erased(Box::new(component)), state, precision }
    }
}

/// Calls of which a stack knows the place exactly.
const CALL_DEPTH: u32 = 20;
/// Objects of a heap that are followed from a variable.
const HEAP_DEPTH: usize = 8;
/// An invariant of more cases is not written down.
pub const MAX_CASES: usize = 1000;

/// The component of a name; `None` if there is none.
pub fn start<'p>(name: &str, cx: &Context<'p>) -> Result<Option<Start<'p>>, Halt> {
    let program = cx.program;
    let separate = cx.merge == Merge::Separate;
    Ok(Some(match name {
        "location" => {
            let location = Location::new(program, Calls::StepOver, cx.errors);
            let state = location.initial();
            Start::new(Part::new(location, |_: &mut _, _: &_, _: &mut _| None), state, ())
        }
        "callstack" => {
            let stack = CallStack::new(program, CALL_DEPTH);
            Start::new(Part::new(stack, |_: &mut _, _: &_, _: &mut _| None), Stack::EMPTY, ())
        }
        "definitions" => {
            let definitions = ReachingDefinitions::new(program);
            let state = definitions.initial();
            Start::new(Part::new(definitions, |_: &mut _, _: &_, _: &mut _| None), state, ())
        }
        "heap" => {
            let heap = ExplicitHeap::new(program, HEAP_DEPTH);
            let state = heap.initial();
            Start::new(Part::new(heap, |_: &mut _, _: &_, _: &mut _| None), state, ())
        }
        "explicit" => {
            let mut explicit =
                if separate { Explicit::separate(program) } else { Explicit::joining(program) };
            let state = explicit.initial();
            let says = move |explicit: &mut Explicit<'p>, state: &_, pool: &mut Invariants| {
                let value = |v| match explicit.value_of(state, v)? {
                    Constant::Bits(bits) => Some(bits),
                    _ => None,
                };
                let known = integers(program).filter_map(|(v, ty)| Some((v, ty, value(v)?)));
                let facts: Vec<ExprId> =
                    known.map(|(v, ty, bits)| comparison(program, pool, (v, ty), CmpOp::Eq, bits)).collect();
                conjunction(pool, &facts)
            };
            Start::new(Part::new(explicit, says), state, Tracked::all())
        }
        "sign" => {
            let mut signs = SignAnalysis::new(program);
            let state = signs.initial();
            let says = move |signs: &mut SignAnalysis<'p>, state: &_, pool: &mut Invariants| {
                let mut facts = Vec::new();
                for (v, ty) in integers(program) {
                    let [negative, zero, positive] = signs.signs_of(*state, v).possible();
                    let mut is = |op| comparison(program, pool, (v, ty), op, 0);
                    let mut cases = Vec::new();
                    cases.extend(negative.then(|| is(CmpOp::Lt)));
                    cases.extend(zero.then(|| is(CmpOp::Eq)));
                    if positive {
                        let not_above = is(CmpOp::Le);
                        cases.push(pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, not_above)));
                    }
                    if cases.len() < 3 {
                        facts.push(pool.all(BinOp::Or, &cases));
                    }
                }
                conjunction(pool, &facts)
            };
            Start::new(Part::new(signs, says), state, ())
        }
        "bdd" => {
            let mut bdd = BddAnalysis::new(program, cx.budget);
            let state = bdd.initial()?;
            let says = move |bdd: &mut BddAnalysis<'p>, state: &_, pool: &mut Invariants| {
                let bit = |pool: &mut Invariants, (v, bit, set): (VarId, u32, bool)| {
                    let ty = program.scalar_of(program.vars[v].ty)?.int()?;
                    let (value, by) = (pool.var(program, v), pool.int(ty, i128::from(bit)));
                    let shifted = pool.expr(Scalar::Int(ty), ExprKind::Binary(BinOp::Shr, value, by));
                    let one = pool.int(ty, 1);
                    let lowest = pool.expr(Scalar::Int(ty), ExprKind::Binary(BinOp::And, shifted, one));
                    let is = pool.int(ty, i128::from(set));
                    Some(pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, lowest, is)))
                };
                let cubes = bdd.cubes(*state, MAX_CASES)?;
                cases(pool, cubes, |pool, literal| bit(pool, literal))
            };
            Start::new(Part::new(bdd, says), state, ())
        }
        "predicate" | "cartesian" => {
            let kind = if name == "predicate" { Abstraction::Boolean } else { Abstraction::Cartesian };
            let mut predicate = Predicate::new(program, kind, cx.budget);
            let precision = predicate.precision(cx.tracked)?;
            let initial = predicate.initial(&precision)?;
            // Both abstractions make one region; a program has initial states.
            let state = initial.first().copied().unwrap_or_else(|| predicate.top());
            let says = |predicate: &mut Predicate<'p>, state: &_, pool: &mut Invariants| {
                let cubes = predicate.cubes(*state);
                if cubes.len() > MAX_CASES {
                    return None;
                }
                cases(pool, cubes, |pool, (e, holds): (ExprId, bool)| {
                    Some(if holds { e } else { pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, e)) })
                })
            };
            Start::new(Part::new(predicate, says), state, precision)
        }
        domain => {
            let Some(domain) = Domain::named(domain) else { return Ok(None) };
            let merge = match separate {
                true => NumericMerge::Separate,
                false => NumericMerge::Widening { delay: DELAY, thresholds: thresholds(program, None) },
            };
            let numeric = Numeric::new(program, cx.graph, (domain.context)(cx.budget), merge);
            let state = numeric.initial();
            let dims = dims(program, &numeric);
            let says =
                move |_: &mut Numeric<'p>, state: &palisade_analyses::numeric::Element, pool: &mut _| {
                    let atoms = atoms(program, pool, &dims);
                    disjunction(pool, &atoms, &state.get().to_constraints())
                };
            Start::new(Part::new(numeric, says), state, ())
        }
    }))
}

/// The integer variables that are registers.
fn integers(program: &Program) -> impl Iterator<Item = (VarId, IntTy)> + '_ {
    program.vars.ids().filter_map(|v| Some((v, program.integer_register(v)?)))
}

/// A variable in comparison with a constant.
fn comparison(
    program: &Program,
    pool: &mut Invariants,
    (v, ty): (VarId, IntTy),
    op: CmpOp,
    bits: u128,
) -> ExprId {
    let (value, constant) = (pool.var(program, v), pool.expr(Scalar::Int(ty), ExprKind::Int(bits)));
    pool.expr(Scalar::BOOL, ExprKind::Cmp(op, value, constant))
}

fn conjunction(pool: &mut Invariants, facts: &[ExprId]) -> Option<ExprId> {
    (!facts.is_empty()).then(|| pool.all(BinOp::And, facts))
}

/// A disjunction of conjunctions; a literal that cannot be expressed is left out.
fn cases<L>(
    pool: &mut Invariants,
    cubes: Vec<Vec<L>>,
    mut literal: impl FnMut(&mut Invariants, L) -> Option<ExprId>,
) -> Option<ExprId> {
    let mut parts = Vec::new();
    for cube in cubes {
        let facts: Vec<ExprId> = cube.into_iter().filter_map(|l| literal(pool, l)).collect();
        parts.push(conjunction(pool, &facts)?);
    }
    Some(pool.all(BinOp::Or, &parts))
}
