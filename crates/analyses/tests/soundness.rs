//! On random small automata, for every analysis and every iteration order, the reached set covers
//! every concrete state; and textbook algorithms agree with the settings that stand for them.

mod random;

use palisade_analyses::bdd::BddAnalysis;
use palisade_analyses::callstack::{CallStack, Stack};
use palisade_analyses::definitions::ReachingDefinitions;
use palisade_analyses::explicit::{Explicit, Tracked, Values};
use palisade_analyses::heap::ExplicitHeap;
use palisade_analyses::live::{AtEnd, Liveness};
use palisade_analyses::location::{Calls, Location, Position};
use palisade_analyses::numeric::{Element, Numeric, NumericMerge};
use palisade_analyses::predicate::{Abstraction, Predicate, Predicates};
use palisade_analyses::sign::SignAnalysis;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_domains::{Domain, DynamicCtx, NumericDomain, Thresholds};
use palisade_num::Rat;
use random::*;
use std::collections::{BTreeMap, VecDeque};

const SMALL: Shape = Shape { vars: 3, locs: 7, bits: 2, calls: false };
const WITH_CALLS: Shape = Shape { calls: true, ..SMALL };

/// Whether an abstract state of an analysis stands for concrete values, among others.
trait Covers: Cpa {
    fn covers(&mut self, state: &Self::State, vars: &[u128]) -> bool;
}

impl Covers for Explicit<'_> {
    fn covers(&mut self, state: &Values, vars: &[u128]) -> bool {
        (0u32..)
            .zip(vars)
            .all(|(v, x)| self.value_of(state, VarId(v)).is_none_or(|k| k == Constant::Bits(*x)))
    }
}

impl Covers for Numeric<'_> {
    fn covers(&mut self, state: &Element, vars: &[u128]) -> bool {
        state.get().contains(&|d| {
            let var = VarId(d.index());
            let t = self.int_type_of(var).unwrap();
            Rat::from(palisade_num::Int::from(t.decode(vars[var.0 as usize])))
        })
    }
}

impl Covers for BddAnalysis<'_> {
    fn covers(&mut self, state: &palisade_dd::Node, vars: &[u128]) -> bool {
        self.contains(*state, &|slot| vars[slot as usize])
    }
}

impl Covers for SignAnalysis<'_> {
    fn covers(&mut self, state: &palisade_analyses::trie::Map, vars: &[u128]) -> bool {
        (0u32..).zip(vars).all(|(v, x)| self.may_be(*state, VarId(v), *x))
    }
}

impl Covers for Predicate<'_> {
    fn covers(&mut self, state: &palisade_dd::Node, vars: &[u128]) -> bool {
        let program = self.program();
        self.holds(*state, &|e| evaluate(program, e, vars) == 1)
    }
}

impl Covers for ExplicitHeap<'_> {
    fn covers(&mut self, state: &std::rc::Rc<palisade_analyses::heap::Heap>, vars: &[u128]) -> bool {
        (0u32..)
            .zip(vars)
            .all(|(v, x)| self.value_of(state, VarId(v)).is_none_or(|k| k == Constant::Bits(*x)))
    }
}

/// Runs an analysis with locations and call stacks in every order and checks the cover.
fn check<C: Covers>(
    p: &Program,
    stack_limit: u32,
    precision: C::Precision,
    make: impl Fn() -> (C, C::State),
) {
    let concrete = concrete_states(p);
    for (name, order) in orders(p) {
        let location = Location::new(p, Calls::Follow, &[]);
        let start = location.initial();
        let (cpa, initial) = make();
        let product = Product::new(Product::new(location, CallStack::new(p, stack_limit)), cpa);
        let initial = ((start, Stack::EMPTY), initial);
        let mut run = Exploration::new(product, initial, (((), ()), precision.clone()), order);
        assert_eq!(
            run.run(&Budget::unlimited(), Limits { states: 100_000, ..Limits::NONE }),
            Status::Complete
        );
        let (cpa, reached) = run.parts();
        let mut by_loc: BTreeMap<LocId, Vec<NodeId>> = BTreeMap::new();
        for (id, state) in reached.iter() {
            by_loc.entry(cpa.location(state).unwrap()).or_default().push(id);
        }
        for (loc, stack, vars) in &concrete {
            let covered = by_loc.get(loc).is_some_and(|nodes| {
                nodes.iter().any(|n| {
                    let ((_, calls), data) = reached.state(*n);
                    let mut sites = cpa.left.right.sites(*calls);
                    sites.reverse();
                    stack.ends_with(&sites) && cpa.right.covers(data, vars)
                })
            });
            assert!(covered, "{name}: {loc} {stack:?} {vars:?}\n{}", palisade_cfa::text::print(p));
        }
    }
}

#[test]
fn explicit_values_cover() {
    for seed in 1..150 {
        let p = automaton(&mut Rng(seed * 7919), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        let limit = [0, 1, 10][seed as usize % 3];
        for variant in 0..3 {
            check(&p, limit, Tracked::all(), || {
                let mut e = match variant {
                    0 => Explicit::joining(&p),
                    1 => Explicit::separate(&p),
                    _ => Explicit::separate(&p).with_value_limit(2),
                };
                let initial = e.initial();
                (e, initial)
            });
        }
        check(&p, limit, Tracked::only(&p, [VarId(0)]), || {
            let mut e = Explicit::separate(&p);
            let initial = e.top();
            e.initial();
            (e, initial)
        });
    }
}

fn numeric_covers(domain: &str, seeds: std::ops::Range<u64>) {
    let domain = Domain::named(domain).expect("it is listed");
    covers_in(&(domain.context)(&Budget::unlimited()), seeds);
}

fn covers_in(context: &DynamicCtx, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let p = automaton(&mut Rng(seed * 6151), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        let graph = p.analyse();
        for merge in
            [NumericMerge::Widening { delay: 1, thresholds: Thresholds::none() }, NumericMerge::Separate]
        {
            check(&p, 2, (), || {
                let n = Numeric::new(&p, &graph, context.clone(), merge.clone());
                let initial = n.initial();
                (n, initial)
            });
        }
    }
}

#[test]
fn intervals_cover() {
    numeric_covers("interval", 1..60);
}

#[test]
fn congruences_cover() {
    numeric_covers("congruence", 1..60);
}

#[test]
fn octagons_cover() {
    numeric_covers("octagon", 1..16);
}

#[test]
fn polyhedra_cover() {
    numeric_covers("polyhedra", 1..8);
}

#[test]
fn modular_equations_cover() {
    let context = palisade_domains::WordSize::new(8);
    covers_in(&DynamicCtx::of::<palisade_domains::Affine>(context), 1..30);
}

#[test]
fn boxes_cover() {
    numeric_covers("boxes", 1..12);
}

#[test]
fn bdds_cover_exactly() {
    for seed in 1..60 {
        let p = automaton(&mut Rng(seed * 1_299_709), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        for separate in [false, true] {
            check(&p, 2, (), || {
                let b = BddAnalysis::new(&p, &Budget::unlimited());
                let mut b = if separate { b.separate() } else { b };
                let initial = b.initial().unwrap();
                (b, initial)
            });
        }
    }
}

#[test]
fn signs_cover() {
    for seed in 1..60 {
        let p = automaton(&mut Rng(seed * 15_485_863), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        check(&p, 2, (), || {
            let mut s = SignAnalysis::new(&p);
            let initial = s.initial();
            (s, initial)
        });
    }
}

#[test]
fn explicit_heaps_cover() {
    for seed in 1..60 {
        let p = automaton(&mut Rng(seed * 32_452_843), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        check(&p, 2, (), || {
            let heap = ExplicitHeap::new(&p, 3);
            let initial = heap.initial();
            (heap, initial)
        });
    }
}

#[test]
fn predicates_cover() {
    for seed in 1..12 {
        let p = automaton(&mut Rng(seed * 49_979_687), SMALL);
        let conditions: Vec<ExprId> = p
            .edges
            .iter()
            .filter_map(|e| match e.op {
                Op::Assume { cond } => Some(cond),
                _ => None,
            })
            .take(4)
            .collect();
        for kind in [Abstraction::Cartesian, Abstraction::Boolean] {
            let precision = Predicates::everywhere(0..conditions.len() as u32);
            check(&p, 2, precision.clone(), || {
                let mut predicate = Predicate::new(&p, kind, &Budget::unlimited());
                for c in &conditions {
                    predicate.track(*c).unwrap();
                }
                // The variables are globals that start at zero: one state.
                let initial = predicate.initial(&precision).unwrap();
                (predicate, initial[0])
            });
        }
    }
}

/// Whether a variable may be read before it is written, by a search through the graph.
fn live_by_search(p: &Program, from: LocId, var: VarId, end: AtEnd) -> bool {
    let mut seen = vec![false; p.locs.len()];
    let mut work = vec![from];
    while let Some(loc) = work.pop() {
        if std::mem::replace(&mut seen[loc.0 as usize], true) {
            continue;
        }
        if p.locs[loc].out.is_empty() && end == AtEnd::Globals {
            return true; // the variables are globals
        }
        for (_, edge) in p.out_edges(loc) {
            let mut read = matches!(edge.op, Op::Call { .. });
            p.visit_op(&edge.op, &mut |used| {
                read |= matches!(used, Use::Read(q) if p.places[q].base == Base::Var(var));
            });
            let written = match edge.op {
                Op::Assign { dst, .. } | Op::Havoc { dst, .. } => p.places[dst].base == Base::Var(var),
                _ => false,
            };
            if read {
                return true;
            }
            if !written {
                work.push(edge.dst);
            }
        }
    }
    false
}

#[test]
fn live_variables_agree_with_a_search() {
    let mut fewer = 0;
    for seed in 1..100 {
        let p = automaton(&mut Rng(seed * 67_867_967), if seed % 2 == 0 { SMALL } else { WITH_CALLS });
        let calls = p.edges.iter().any(|edge| matches!(edge.op, Op::Call { .. }));
        let live = Liveness::of(&p, &Budget::unlimited()).unwrap();
        let read = Liveness::with(&p, AtEnd::Nothing, &Budget::unlimited()).unwrap();
        for loc in p.locs.ids() {
            // Where functions are called, their ends are not the end of the run.
            let last = !calls && p.locs[loc].func == p.entry;
            let end = if last { AtEnd::Nothing } else { AtEnd::Globals };
            for var in p.vars.ids() {
                let searched = live_by_search(&p, loc, var, AtEnd::Globals);
                assert_eq!(live.is_live(loc, var), searched, "{loc} {var}\n{}", text::print(&p));
                let searched = live_by_search(&p, loc, var, end);
                assert_eq!(read.is_live(loc, var), searched, "{loc} {var}\n{}", text::print(&p));
                fewer += usize::from(live.is_live(loc, var) && !read.is_live(loc, var));
            }
        }
    }
    assert!(fewer > 100, "{fewer}");
}

#[test]
fn reaching_definitions_agree_with_a_search() {
    for seed in 1..100 {
        let p = automaton(&mut Rng(seed * 86_028_121), SMALL);
        let location = Location::new(&p, Calls::Follow, &[]);
        let definitions = ReachingDefinitions::new(&p);
        let initial = (location.initial(), definitions.initial());
        let cpa = Product::new(location, definitions);
        let mut run = Exploration::new(cpa, initial, ((), ()), Order::BreadthFirst);
        assert_eq!(run.run(&Budget::unlimited(), Limits::NONE), Status::Complete);
        let mut found: Vec<(LocId, VarId, EdgeId)> = Vec::new();
        for (_, (at, state)) in run.reached().iter() {
            let Position::At(loc) = *at else { continue };
            found.extend(run.cpa().right.definitions(*state).iter().map(|d| (loc, d.var, d.edge)));
        }
        // From every reachable definition along edges that do not redefine the variable.
        let reachable: Vec<LocId> = run
            .reached()
            .iter()
            .filter_map(|(_, (at, _))| match at {
                Position::At(l) => Some(*l),
                _ => None,
            })
            .collect();
        let writes = |e: &Edge, v: VarId| match e.op {
            Op::Assign { dst, .. } | Op::Havoc { dst, .. } => p.places[dst].base == Base::Var(v),
            _ => false,
        };
        let mut expected = Vec::new();
        for (id, edge) in p.edges.iter_enumerated() {
            for var in p.vars.ids().filter(|v| writes(edge, *v) && reachable.contains(&edge.src)) {
                let (mut seen, mut work) = (Vec::new(), vec![edge.dst]);
                while let Some(loc) = work.pop() {
                    if seen.contains(&loc) {
                        continue;
                    }
                    seen.push(loc);
                    expected.push((loc, var, id));
                    work.extend(p.out_edges(loc).filter(|(_, e)| !writes(e, var)).map(|(_, e)| e.dst));
                }
            }
        }
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{}", text::print(&p));
    }
}

/// Successors of a location's data state, straight from the edges.
fn post(p: &Program, e: &mut Explicit, loc: LocId, data: &Values) -> Vec<(LocId, Values)> {
    let mut result = Vec::new();
    for (id, edge) in p.out_edges(loc) {
        let mut out = Successors::new();
        e.transfer(data, &Tracked::all(), &Step::local(id), &mut out).unwrap();
        result.extend(out.into_iter().map(|s| (edge.dst, s)));
    }
    result
}

/// Algorithm 1(a), as the paper writes it.
fn algorithm_dfa(p: &Program, e: &mut Explicit) -> BTreeMap<LocId, Values> {
    let l0 = p.body(p.entry).entry;
    let mut waitlist: VecDeque<LocId> = [l0].into();
    let mut reached: BTreeMap<LocId, Values> = [(l0, e.initial())].into();
    while let Some(l) = waitlist.pop_front() {
        let data = reached[&l];
        for (l2, e2) in post(p, e, l, &data) {
            match reached.get(&l2).copied() {
                Some(old) if e.leq(&e2, &old).unwrap() => {}
                old => {
                    let new = old.map_or(e2, |old| e.join(&old, &e2).unwrap());
                    reached.insert(l2, new);
                    if !waitlist.contains(&l2) {
                        waitlist.push_back(l2);
                    }
                }
            }
        }
    }
    reached
}

/// Algorithm 1(b), as the paper writes it.
fn algorithm_reach(p: &Program, e: &mut Explicit) -> Vec<(LocId, Values)> {
    let l0 = p.body(p.entry).entry;
    let mut reached = vec![(l0, e.initial())];
    let mut waitlist: VecDeque<(LocId, Values)> = reached.clone().into();
    while let Some((l, data)) = waitlist.pop_front() {
        for (l2, e2) in post(p, e, l, &data) {
            if !reached.iter().any(|(l3, e3)| *l3 == l2 && e.leq(&e2, e3).unwrap()) {
                reached.push((l2, e2));
                waitlist.push_back((l2, e2));
            }
        }
    }
    reached
}

/// Data-flow analysis and model checking are settings of the one algorithm.
#[test]
fn textbook_algorithms_are_settings() {
    for seed in 1..300 {
        let p = automaton(&mut Rng(seed * 104_729), SMALL);
        for joining in [true, false] {
            let location = Location::new(&p, Calls::Follow, &[]);
            let mut explicit = if joining { Explicit::joining(&p) } else { Explicit::separate(&p) };
            let initial = (location.initial(), explicit.initial());
            let cpa = Product::new(location, explicit);
            let mut run = Exploration::new(cpa, initial, ((), Tracked::all()), Order::BreadthFirst);
            assert_eq!(run.run(&Budget::unlimited(), Limits::NONE), Status::Complete);
            let ours: Vec<(LocId, String)> = run
                .reached()
                .iter()
                .map(|(_, (at, data))| match at {
                    Position::At(loc) => (*loc, run.cpa().right.describe(data)),
                    other => panic!("{other:?}"),
                })
                .collect();
            let mut twin = Explicit::separate(&p);
            let textbook: Vec<(LocId, Values)> = if joining {
                algorithm_dfa(&p, &mut twin).into_iter().collect()
            } else {
                algorithm_reach(&p, &mut twin)
            };
            let textbook: Vec<(LocId, String)> =
                textbook.iter().map(|(l, s)| (*l, twin.describe(s))).collect();
            let sorted = |mut v: Vec<(LocId, String)>| {
                v.sort();
                v
            };
            assert_eq!(sorted(ours), sorted(textbook), "{}", palisade_cfa::text::print(&p));
        }
    }
}

/// A run that stops after every few states and goes on reaches the same as one that does not.
#[test]
fn stopping_loses_no_state() {
    for seed in 1..60 {
        let p = automaton(&mut Rng(seed * 31_337), WITH_CALLS);
        let run_with = |limit: Option<usize>| {
            let location = Location::new(&p, Calls::Follow, &[]);
            let mut explicit = Explicit::separate(&p);
            let initial = ((location.initial(), Stack::EMPTY), explicit.initial());
            let cpa = Product::new(Product::new(location, CallStack::new(&p, 3)), explicit);
            let precision = (((), ()), Tracked::all());
            let mut run = Exploration::new(cpa, initial, precision, Order::BreadthFirst);
            let mut states = limit.unwrap_or(usize::MAX);
            while run.run(&Budget::unlimited(), Limits { first_target: false, states }) != Status::Complete {
                states += limit.unwrap_or(0);
            }
            run.reached().iter().map(|(_, s)| run.cpa().describe(s)).collect::<Vec<_>>()
        };
        assert_eq!(run_with(None), run_with(Some(2)));
    }
}
