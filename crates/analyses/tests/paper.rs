//! The examples of "Combining Model Checking and Data-Flow Analysis", with the states it prints.

mod common;

use common::*;
use palisade_analyses::definitions::ReachingDefinitions;
use palisade_analyses::explicit::{Explicit, Tracked};
use palisade_analyses::heap::ExplicitHeap;
use palisade_analyses::live::Liveness;
use palisade_analyses::observer::Observers;
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

fn observers(p: &mut Program, text: &str) -> Vec<palisade_property::spc::Observer> {
    let automata = palisade_property::spc::parse(text).unwrap_or_else(|e| panic!("{e}"));
    palisade_property::spc::bind(&automata, p).unwrap_or_else(|e| panic!("{e}"))
}

const FIGURE_4: &str = "
observer validation {
  initial init;
  state init { on call scanf -> check; }
  state check {
    on call validate -> init;
    on call consume -> error \"consumed without validation\";
  }
}";

/// Example 10: the automaton of Figure 4 alone, with locations.
#[test]
fn example_10_observer() {
    let with = |validate: &str| {
        format!(
            "global v: i32;
             fn scanf(); fn consume(); fn validate();
             fn main() {{
               start -> read: call scanf();
               loop read -> ok: {validate};
               ok -> done: call consume();
               done -> start: skip;
             }}
             entry main;"
        )
    };
    for (validate, wrong) in [("call validate()", false), ("skip", true)] {
        let mut p = program(&with(validate));
        let observers = observers(&mut p, FIGURE_4);
        let location = location(&p);
        let watch = Observers::new(&p, observers).merging();
        let initial = (location.initial(), watch.initial());
        let run = explore(Product::new(location, watch), initial, ((), ()), Order::BreadthFirst);
        assert_eq!(fails(&run), wrong);
        assert_eq!(states_at(&p, &run, "ok")[0], if wrong { "validation:check" } else { "validation:init" });
        if wrong {
            let message = run.cpa().target(run.reached().state(run.targets()[0]));
            assert_eq!(message, Some(Target::Observer("consumed without validation".into())));
            let path = run.reached().path_to(run.targets()[0]);
            assert_eq!(path.len(), 3);
        }
    }
}

const FIGURE_6: &str = "
observer precondition {
  initial init;
  state init { on call foo split (x > 0 && y < 0, init, error \"precondition of foo\"); }
}";

/// Example 12 with explicit values: the condition of the transition is decided by the other
/// component.
#[test]
fn example_12_conditions_with_explicit_values() {
    for (y, wrong) in [(-1, false), (0, true)] {
        let mut p = program(&format!(
            "global x: i32; global y: i32;
             fn foo();
             fn main() {{ a -> b: x = 1; b -> c: y = {y}; c -> d: call foo(); d -> e: return; }}
             entry main;"
        ));
        let observers = observers(&mut p, FIGURE_6);
        let location = location(&p);
        let mut explicit = Explicit::separate(&p);
        let watch = Observers::new(&p, observers);
        let initial = ((location.initial(), watch.initial()), explicit.initial());
        let cpa = Product::new(Product::new(location, watch), explicit);
        let run = explore(cpa, initial, (((), ()), Tracked::all()), Order::BreadthFirst);
        assert_eq!(fails(&run), wrong);
    }
}

/// A doubly linked list of `n` elements, built from its end; `l1` points to the first.
fn list_of(n: usize) -> String {
    let mut body = String::from("start -> b0: l1 = null;\n");
    for i in 0..n {
        body += &format!(
            "b{i} -> c{i}: t = alloc heap 24;
             c{i} -> d{i}: *(t: struct elem).succ = l1;
             d{i} -> e{i}: *(t: struct elem).prev = null;
             e{i} -> f{i}: havoc *(t: struct elem).data;
             f{i} -> g{i}: assume l1 != null;
             f{i} -> h{i}: assume !(l1 != null);
             g{i} -> h{i}: *(l1: struct elem).prev = t;
             h{i} -> i{i}: l1 = t;
             i{i} -> b{}: havoc t;\n",
            i + 1
        );
    }
    format!(
        "struct elem {{ i32 data @0; *struct elem succ @8; *struct elem prev @16; }} size 24 align 8;
         fn main() {{
           local l1: *struct elem; local t: *struct elem;
           {body}
           b{n} -> end: return;
         }}
         entry main;"
    )
}

/// Example 9: the heap of Figure 3, and its loss beyond the depth bound.
#[test]
fn example_9_explicit_heap() {
    let p = program(&list_of(5));
    let run_with = |depth: usize| {
        let location = location(&p);
        let heap = ExplicitHeap::new(&p, depth);
        let initial = (location.initial(), heap.initial());
        let run = explore(Product::new(location, heap), initial, ((), ()), Order::BreadthFirst);
        states_at(&p, &run, "b5")
    };
    let figure_3 = "l1=1 | 1 {0:⊤ 8:2 16:0} | 2 {0:⊤ 8:3 16:1} | 3 {0:⊤ 8:4 16:2} \
                    | 4 {0:⊤ 8:5 16:3} | 5 {0:⊤ 8:0 16:4}";
    assert_eq!(run_with(5), [figure_3]);
    assert_eq!(run_with(4), [""]);
}
