//! The examples of "Combining Model Checking and Data-Flow Analysis", with the states it prints.

mod common;

use common::*;
use palisade_analyses::definitions::ReachingDefinitions;
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::live::Liveness;
use palisade_cfa::Program;
use palisade_cpa::*;

type Constants<'p> = Product<palisade_analyses::location::Location<'p>, Explicit<'p>>;

fn constants(program: &Program, joining: bool) -> Exploration<Constants<'_>> {
    let location = location(program);
    let mut explicit = if joining { Explicit::joining(program) } else { Explicit::separate(program) };
    let initial = (location.initial(), explicit.initial());
    explore(Product::new(location, explicit), initial, ((), Tracked::all()), Order::BreadthFirst)
}

/// Example 4: data-flow analysis joins at location 9 and cannot rule out the division by zero.
#[test]
fn example_4_constants_joined() {
    let p = program(FIGURE_1);
    let run = constants(&p, true);
    for (label, state) in
        [("l2", ""), ("l3", "x=0"), ("l4", "x=0 z=0"), ("l5", "x=0 y=1 z=0"), ("l7", "x=0 z=0"), ("l9", "")]
    {
        assert_eq!(states_at(&p, &run, label), [state], "{label}");
    }
    assert!(fails(&run));
}

/// Examples 5 to 7: model checking keeps the two states at location 9 apart and proves it.
#[test]
fn examples_5_to_7_constants_separate() {
    let p = program(FIGURE_1);
    let run = constants(&p, false);
    for (label, states) in [
        ("l2", &[""][..]),
        ("l3", &["x=0"]),
        ("l4", &["x=0 z=0"]),
        ("l5", &["x=0 y=1 z=0"]),
        ("l7", &["x=0 z=0"]),
        ("l9", &["x=1 y=1 z=0", "x=0 z=1"]),
    ] {
        assert_eq!(states_at(&p, &run, label), states, "{label}");
    }
    assert!(!fails(&run));
}

/// Section 2.2: z = 5 on both paths, but not after the join.
#[test]
fn maximal_fixed_point_and_meet_over_all_paths() {
    let p = program(
        "fn main() {
           local x: i32; local y: i32; local z: i32; local c: i32;
           l1 -> l2: assume c == 0;
           l1 -> l4: assume !(c == 0);
           l2 -> l3: x = 2;
           l3 -> l6: y = 3;
           l4 -> l5: x = 3;
           l5 -> l6: y = 2;
           l6 -> l7: z = x + y;
           l7 -> end: return;
         }
         entry main;",
    );
    let mfp = constants(&p, true);
    assert_eq!(states_at(&p, &mfp, "l6"), [""]);
    assert_eq!(states_at(&p, &mfp, "l7"), [""]);
    let mop = constants(&p, false);
    assert_eq!(states_at(&p, &mop, "l6"), ["x=2 y=3 c=0", "x=3 y=2"]);
    assert_eq!(states_at(&p, &mop, "l7"), ["x=2 y=3 z=5 c=0", "x=3 y=2 z=5"]);
}

/// Example 8: the reaching definitions of x at location 9.
#[test]
fn example_8_reaching_definitions() {
    let p = program(FIGURE_1);
    let location = location(&p);
    let definitions = ReachingDefinitions::new(&p);
    let initial = (location.initial(), definitions.initial());
    let run = explore(Product::new(location, definitions), initial, ((), ()), Order::BreadthFirst);
    assert_eq!(states_at(&p, &run, "l9"), ["(x, l2, l3) (x, l5, l9) (z, l3, l4) (z, l7, l9)"]);
}

/// Section 2.3: live variables of Figure 1, by the equation.
#[test]
fn live_variables_of_figure_1() {
    let p = program(FIGURE_1);
    let live = Liveness::of(&p, &palisade_base::Budget::unlimited()).unwrap();
    let names = |label| -> Vec<String> {
        live.live(at(&p, label)).into_iter().map(|v| p.vars[v].name.to_string()).collect()
    };
    assert_eq!(names("l2"), ["y"]);
    assert_eq!(names("l3"), ["x", "y"]);
    assert_eq!(names("l4"), ["x", "y", "z"]);
    assert_eq!(names("l5"), ["z"]);
    assert_eq!(names("l7"), ["x"]);
    assert_eq!(names("l9"), ["x", "z"]);
    assert_eq!(names("l10"), [".r"]);
}
