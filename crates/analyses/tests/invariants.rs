//! The ways of section 6 to construct invariants, on the paper's examples and a few more.

mod common;

use common::program;
use palisade_analyses::invariants::{backward, bounds, forward, learning, template};
use palisade_analyses::samples::Samples;
use palisade_base::Budget;
use palisade_cfa::LocId;
use palisade_domains::{Domain, DynamicCtx};
use palisade_task::Task;
use std::sync::Arc;

fn task(text: &str) -> Task {
    Task::whole(&Arc::new(program(text)), 0, 10_000).unwrap()
}

/// The example of section 6.3.
const TEMPLATE: &str = "
fn main() {
  local n: i32; local x: i32; local y: i32;
  a -> b: input n;
  b -> done: assume n <= 0;
  b -> c: assume !(n <= 0);
  c -> d: x = 0;
  d -> head: y = 1;
  loop head -> e: assume x != n;
  head -> out: assume !(x != n);
  e -> f: x = x + 1;
  f -> head: y = y + 2;
  out -> done: check assertion y == 2 * n + 1;
  done -> end: return;
}
entry main;
";

fn texts(task: &Task, checked: &palisade_analyses::invariants::inductive::Checked) -> Vec<String> {
    checked.invariants.values().flatten().map(|l| l.display(&task.program)).collect()
}

#[test]
fn template_example_of_section_6_3() {
    let task = task(TEMPLATE);
    let found = template::invariants(&task, &Budget::unlimited()).unwrap();
    assert!(texts(&task, &found).contains(&"y = 2*x + 1".to_string()), "{:?}", texts(&task, &found));
    assert!(found.proved);
}

/// An inequality is needed, and found through the multipliers of Farkas' lemma.
#[test]
fn template_inequality() {
    let task = task(
        "fn main() {
           local x: i32; local y: i32;
           a -> b: x = 0;
           b -> head: y = 10;
           loop head -> c: assume x < y;
           head -> out: assume !(x < y);
           c -> d: x = x + 1;
           d -> head: y = y - 1;
           out -> done: check assertion x <= 20;
           done -> end: return;
         }
         entry main;",
    );
    let found = template::invariants(&task, &Budget::unlimited()).unwrap();
    assert!(texts(&task, &found).contains(&"y = -x + 10".to_string()), "{:?}", texts(&task, &found));
}

#[test]
fn learning_finds_the_same_equation() {
    let task = task(TEMPLATE);
    let samples = Samples::collect(&task, &Budget::unlimited());
    let found = learning::invariants(&task, &samples, &Budget::unlimited()).unwrap();
    assert!(texts(&task, &found).contains(&"y = 2*x + 1".to_string()), "{:?}", texts(&task, &found));
    assert!(found.proved);
}

const COUNT: &str = "
fn main() {
  local i: i32;
  a -> head: i = 0;
  loop head -> c: assume i < 10;
  head -> out: assume !(i < 10);
  c -> head: i = i + 1;
  out -> done: check assertion i == 10;
  done -> end: return;
}
entry main;
";

fn intervals() -> DynamicCtx {
    (Domain::interval().context)(&Budget::unlimited())
}

fn head(task: &Task) -> LocId {
    task.program.analyse().loop_heads(task.program.entry).next().unwrap()
}

#[test]
fn forward_iteration_widens_and_narrows() {
    let task = task(COUNT);
    let found = forward::invariants(&task, intervals(), &Budget::unlimited()).unwrap();
    assert_eq!(found.text[&head(&task)], "i >= 0 && i <= 10");
    assert!(found.proved);
}

#[test]
fn backward_iteration_gives_sufficient_preconditions() {
    // Once i > 10 the error is certain; the weakest precondition at the head is i <= 10.
    let task = task(COUNT);
    let found = backward::preconditions(&task, intervals(), &Budget::unlimited()).unwrap();
    assert!(found.unsafe_states.contains_key(&head(&task)), "{:?}", found.text);
    // Straight-line code needs no loop invariant: the precondition is exact.
    let straight = super_straight(3);
    let found = backward::preconditions(&straight, intervals(), &Budget::unlimited()).unwrap();
    assert!(found.proved, "{:?}", found.text);
    let found = backward::preconditions(&super_straight(5), intervals(), &Budget::unlimited()).unwrap();
    assert!(!found.proved);
}

fn super_straight(limit: i32) -> Task {
    task(&format!(
        "global g: i32 = 2;
         fn main() {{
           a -> b: g = g + {limit};
           b -> c: check assertion g <= 6;
           c -> end: return;
         }}
         entry main;"
    ))
}

/// Example 13: LSB(x) for both updates.
#[test]
fn example_13_least_significant_bit() {
    for update in ["x << 1", "x & (x - 1:u32)"] {
        let task = task(&format!(
            "fn main() {{
               local x: u32;
               a -> head: input x;
               loop head -> b: assume x != 0:u32;
               head -> out: assume !(x != 0:u32);
               b -> head: x = {update};
               out -> end: return;
             }}
             entry main;"
        ));
        let found = bounds::bounds(&task, &Budget::unlimited()).unwrap();
        assert_eq!(found.iter().map(|b| b.bound.as_str()).collect::<Vec<_>>(), ["LSB(x)"], "{update}");
    }
}

/// Example 13: two ways around the loop, each with its own ranking function.
#[test]
fn example_13_disjunctive_bound() {
    let text = |second: &str| {
        format!(
            "fn main() {{
               local x: i32; local y: i32; local n: i32; local m: i32; local c: i32;
               a -> b: input n;
               b -> d: input m;
               d -> e: x = 0;
               e -> head: y = 0;
               loop head -> one: assume x < n & y < m;
               head -> out: assume !(x < n & y < m);
               one -> two: input c;
               two -> left: assume c == 0;
               two -> right: assume !(c == 0);
               left -> head: x = x + 1;
               right -> head: {second};
               out -> end: return;
             }}
             entry main;"
        )
    };
    let found = bounds::bounds(&task(&text("y = y + 1")), &Budget::unlimited()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].bound, "Max(0, n - x) + Max(0, m - y)");
    // The second way makes no progress: no bound.
    let found = bounds::bounds(&task(&text("x = x - 1")), &Budget::unlimited()).unwrap();
    assert!(found.is_empty());
}
