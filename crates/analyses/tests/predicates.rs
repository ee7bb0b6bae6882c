//! Predicate analysis and the combinations of section 5.

mod common;

use common::*;
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::heap::ExplicitHeap;
use palisade_analyses::location::Location;
use palisade_analyses::observer::Observers;
use palisade_analyses::predicate::{Abstraction, Predicate, Predicates, linear_only};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;

/// Adds `name op value` to a program, for an `i32` variable.
fn atom(p: &mut Program, name: &str, op: &str, value: i128) -> ExprId {
    let var = p.vars.iter_enumerated().find(|(_, v)| &*v.name == name).unwrap().0;
    let place = p.var_place(var);
    let (x, k) = (p.load(place), p.int(IntTy::I32, value));
    let kind = match op {
        "=" => ExprKind::Cmp(CmpOp::Eq, x, k),
        "<=" => ExprKind::Cmp(CmpOp::Le, x, k),
        "<" => ExprKind::Cmp(CmpOp::Lt, x, k),
        ">=" => ExprKind::Cmp(CmpOp::Le, k, x),
        ">" => ExprKind::Cmp(CmpOp::Lt, k, x),
        other => panic!("{other}"),
    };
    p.add_expr(Scalar::BOOL, kind)
}

const FIGURE_5: &str = "
fn foo() -> i32 {
  local x: i32; local y: i32; local z: i32; temp .r: i32;
  l2 -> l3: x = 1;
  l3 -> l4: z = 1;
  l4 -> l5: assume y < 1;
  l4 -> l7: assume !(y < 1);
  l5 -> end: return 0;
  l7 -> l8: assume y > 1;
  l7 -> l10: assume !(y > 1);
  l8 -> l12: x = 5;
  l10 -> l11: z = 5 * x * y;
  l11 -> l12: skip;
  l12 -> div: check div_by_zero !(x - z == 0);
  div -> l13: .r = 10 / (x - z);
  l13 -> end: return .r;
}
entry foo;
";

/// Figure 5 with the products forgotten for the predicates, and the precision of Example 11.
fn figure_5() -> (Program, Program, Vec<ExprId>) {
    let mut p = program(FIGURE_5);
    let atoms = [("x", "=", 1), ("z", "=", 1), ("z", "=", 5), ("y", ">=", 1), ("y", "<=", 1)];
    let predicates = atoms.map(|(v, op, k)| atom(&mut p, v, op, k)).to_vec();
    let linear = linear_only(&p);
    (p, linear, predicates)
}

fn predicate<'p>(p: &'p Program, atoms: &[ExprId], kind: Abstraction) -> (Predicate<'p>, Predicates) {
    let mut predicate = Predicate::new(p, kind, &Budget::unlimited());
    let numbers: Vec<u32> = atoms.iter().map(|&a| predicate.track(a).unwrap()).collect();
    (predicate, Predicates::everywhere(numbers))
}

/// Example 11, first part: predicates alone, with linear arithmetic only.
#[test]
fn example_11_predicates_alone() {
    let (p, linear, atoms) = figure_5();
    let location = location(&p);
    let (predicate, pi) = predicate(&linear, &atoms, Abstraction::Cartesian);
    let initial = (location.initial(), predicate.top());
    let run = explore(Product::new(location, predicate), initial, ((), pi), Order::BreadthFirst);
    assert_eq!(states_at(&p, &run, "l7"), ["x == 1 && z == 1 && 1 <= y"]);
    assert_eq!(states_at(&p, &run, "l10"), ["x == 1 && z == 1 && 1 <= y && y <= 1"]);
    assert_eq!(states_at(&p, &run, "l11"), ["x == 1 && 1 <= y && y <= 1"]);
    assert!(fails(&run));
}

/// Constants alone do not know y.
#[test]
fn example_11_constants_alone() {
    let (p, ..) = figure_5();
    for separate in [true, false] {
        let location = location(&p);
        let mut explicit = if separate { Explicit::separate(&p) } else { Explicit::joining(&p) };
        let initial = (location.initial(), explicit.initial());
        let run =
            explore(Product::new(location, explicit), initial, ((), Tracked::all()), Order::BreadthFirst);
        assert!(fails(&run));
    }
}

/// Locations and predicates, which decide what is kept apart, with a data-flow analysis.
type Predicated<'p, D> = Product<Product<Location<'p>, Predicate<'p>>, D>;

fn predicated<'p>(
    p: &'p Program,
    linear: &'p Program,
    atoms: &[ExprId],
    reduced: bool,
) -> Exploration<Predicated<'p, Explicit<'p>>> {
    let location = location(p);
    let (predicate, pi) = predicate(linear, atoms, Abstraction::Cartesian);
    let mut explicit = Explicit::joining(p);
    let initial = ((location.initial(), predicate.top()), explicit.initial());
    let product = Product::new(Product::new(location, predicate), explicit).merging(ProductMerge::EqualLeft);
    let cpa = if reduced { product } else { product.direct() };
    explore(cpa, initial, (((), pi), Tracked::all()), Order::BreadthFirst)
}

/// The predicated lattice without strengthening (5.1) fails, with strengthening (5.2) it proves.
#[test]
fn example_11_predicated_lattice_with_and_without_strengthening() {
    let (p, linear, atoms) = figure_5();
    let direct = predicated(&p, &linear, &atoms, false);
    assert_eq!(states_at(&p, &direct, "l10"), ["x=1 z=1"]);
    assert!(fails(&direct));
    let reduced = predicated(&p, &linear, &atoms, true);
    assert_eq!(states_at(&p, &reduced, "l10"), ["x=1 y=1 z=1"]);
    assert_eq!(states_at(&p, &reduced, "l11"), ["x=1 y=1 z=5"]);
    assert!(!fails(&reduced));
}

/// The bit-precise solver needs no help: predicates over the exact program prove it alone.
#[test]
fn figure_5_is_proved_by_exact_predicates() {
    let (p, _, atoms) = figure_5();
    for kind in [Abstraction::Cartesian, Abstraction::Boolean] {
        let location = location(&p);
        let (predicate, pi) = predicate(&p, &atoms, kind);
        let initial = (location.initial(), predicate.top());
        let run = explore(Product::new(location, predicate), initial, ((), pi), Order::BreadthFirst);
        // x = 5 after line 8 is not a predicate, so the division needs z = 1 there and x = 1 ∧ z = 5
        // on the other path; the first one is only excluded by `x == 1` being false.
        let at_12 = states_at(&p, &run, "l12");
        assert_eq!(fails(&run), kind == Abstraction::Cartesian, "{kind:?}: {at_12:?}");
    }
}

const FIGURE_6: &str = "
observer precondition {
  initial init;
  state init { on call foo split (x > 0 && y < 0, init, error \"precondition of foo\"); }
}";

/// Example 12: predicates decide which transition the observer takes (5.4).
#[test]
fn example_12_predicates_with_observer() {
    for (guard, wrong) in [("x > 0 & y < 0", false), ("x > 0", true)] {
        let mut p = program(&format!(
            "global x: i32 = ?; global y: i32 = ?;
             fn foo();
             fn main() {{
               a -> b: assume {};
               b -> c: call foo();
               c -> d: return;
             }}
             entry main;",
            guard
        ));
        let automata = palisade_property::spc::parse(FIGURE_6).unwrap();
        let observers = palisade_property::spc::bind(&automata, &mut p).unwrap();
        let atoms = [atom(&mut p, "x", ">", 0), atom(&mut p, "y", "<", 0)];
        let location = location(&p);
        let watch = Observers::new(&p, observers);
        let (predicate, pi) = predicate(&p, &atoms, Abstraction::Cartesian);
        let initial = ((location.initial(), watch.initial()), predicate.top());
        let cpa = Product::new(Product::new(location, watch), predicate).merging(ProductMerge::Separate);
        let run = explore(cpa, initial, (((), ()), pi), Order::BreadthFirst);
        assert_eq!(fails(&run), wrong);
        // (b): the state that stays in init is restricted to the condition.
        assert_eq!(states_at(&p, &run, "c"), ["0 < x && y < 0"]);
    }
}

/// Section 5.3: what the heap knows decides a predicate that the predicates alone lose.
#[test]
fn predicates_learn_from_the_heap() {
    let mut p = program(
        "struct cell { i32 data @0; *struct cell next @8; } size 16 align 8;
         fn main() {
           local p: *struct cell; local q: *struct cell; local x: i32;
           a -> b: p = alloc heap 16;
           b -> c: q = alloc heap 16;
           c -> d: *(p: struct cell).next = q;
           d -> e: *(q: struct cell).data = 1;
           e -> f: x = *(*(p: struct cell).next: struct cell).data;
           f -> g: check assertion x == 1;
           g -> end: return;
         }
         entry main;",
    );
    let atoms = [atom(&mut p, "x", "=", 1)];
    let alone = {
        let location = location(&p);
        let (predicate, pi) = predicate(&p, &atoms, Abstraction::Cartesian);
        let initial = (location.initial(), predicate.top());
        explore(Product::new(location, predicate), initial, ((), pi), Order::BreadthFirst)
    };
    assert!(fails(&alone));
    let location = location(&p);
    let (predicate, pi) = predicate(&p, &atoms, Abstraction::Cartesian);
    let heap = ExplicitHeap::new(&p, 3);
    let initial = ((location.initial(), heap.initial()), predicate.top());
    let cpa = Product::new(Product::new(location, heap), predicate).merging(ProductMerge::Separate);
    let run = explore(cpa, initial, (((), ()), pi), Order::BreadthFirst);
    assert_eq!(states_at(&p, &run, "f"), ["x == 1"]);
    assert!(!fails(&run));
}

/// The order of a composite may use the compare relation: what the constants imply, a region of
/// predicates covers even if its own side of the new state is weaker.
#[test]
fn compare_relates_constants_and_predicates() {
    let mut p = program(FIGURE_5);
    let one = atom(&mut p, "x", "=", 1);
    let (mut predicate, _) = predicate(&p, &[one], Abstraction::Cartesian);
    let mut explicit = Explicit::separate(&p);
    let top = explicit.top();
    let edge = p.locs[at(&p, "l2")].out[0];
    let mut out = Successors::new();
    explicit.transfer(&top, &Tracked::all(), &Step::local(edge), &mut out).unwrap();
    let mut strong = Successors::new();
    let pi = Predicates::everywhere([0]);
    predicate.transfer(&predicate.top(), &pi, &Step::local(edge), &mut strong).unwrap();
    let (new, reached) = ((predicate.top(), out[0]), (strong[0], top));
    let mut plain = Product::new(predicate, explicit);
    assert!(!plain.leq(&new, &reached).unwrap());
    assert!(plain.comparing().leq(&new, &reached).unwrap());
}
