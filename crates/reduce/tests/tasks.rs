//! Tasks made of small programs.

use palisade_cfa::Op;
use palisade_task::Task;
use std::sync::Arc;

fn task(text: &str, recursion: usize) -> Task {
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(palisade_cfa::verify(&program), []);
    let task = palisade_reduce::task(&Arc::new(program), recursion, 100_000).expect("small");
    assert_eq!(task.origin.edges.len(), task.program.edges.len());
    assert_eq!(task.origin.locs.len(), task.program.locs.len());
    assert_eq!(task.origin.frames_of.len(), task.program.locs.len());
    task
}

/// A recursive function that calls through a pointer: the arguments of inner activations are
/// expressions that the source does not have.
const INDIRECT: &str = "model lp64; global g: *fn(i32) -> i32 = { @0 func leaf };
    fn leaf(x: i32) -> i32 { a -> exit: return x; }
    fn f(n: i32) -> i32 { temp .r: i32;
      a -> b: assume n <= 0; b -> exit: return 0;
      a -> c: assume !(n <= 0); c -> d: .r = call (g)(n); d -> e: .r = call f(n - 1); e -> exit: return .r; }
    fn main() -> i32 { local x: i32; a -> b: x = call f(2); b -> exit: return x; } entry main;";

#[test]
fn calls_through_pointers_are_resolved_in_every_activation() {
    for depth in 0..4 {
        let task = task(INDIRECT, depth);
        assert!(task.recursion_cut);
        let calls = task.program.edges.iter().filter(|e| matches!(e.op, Op::Call { .. })).count();
        assert_eq!(calls, 0, "all targets have bodies");
    }
}

#[test]
fn a_check_becomes_an_error_location() {
    let task = task(
        "fn main() -> i32 { local x: i32; a -> b: input x; b -> c: check assertion x < 5;
           c -> d: check assertion 1:u1; d -> exit: return 0; } entry main;",
        0,
    );
    assert_eq!(task.errors.len(), 1, "a check that always holds leaves nothing behind");
    assert!(task.program.locs[task.errors[0].loc].out.is_empty());
    assert!(task.is_end(task.errors[0].loc));
}
