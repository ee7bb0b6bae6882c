//! Bounded model checking on small automata, each certificate checked, each bug's inputs read.

use palisade_base::Budget;
use palisade_check::court::Court;
use palisade_engines::board::Board;
use palisade_engines::{Certificate, Engine, Outcome, bmc::Bmc};
use palisade_interp::{Captured, Config, Interp, Listed, Outcome as Ended};
use palisade_task::Task;

fn task(text: &str) -> Task {
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(palisade_cfa::verify(&program), []);
    palisade_reduce::task(&std::sync::Arc::new(program), 4, 100_000).expect("small")
}

fn run(text: &str) -> (Task, Outcome) {
    let task = task(text);
    let outcome = Bmc.run(&task, &Board::default(), &Budget::unlimited(), &|_| {});
    (task, outcome)
}

fn proved(text: &str) {
    match run(text) {
        (task, Outcome::Proof(certificate)) => {
            palisade_check::certificate(&task, &certificate, &Court::new(&Budget::unlimited())).unwrap();
        }
        (_, other) => panic!("not proved: {other:?}"),
    }
}

/// The inputs that lead to the error.
fn wrong(text: &str) -> Vec<u128> {
    match run(text) {
        (task, Outcome::Bug(bug)) => {
            let replay = palisade_check::replay::replay(&task.source, &bug, u64::MAX, &Budget::unlimited());
            assert!(replay.is_ok(), "{:?}", replay.err());
            bug.unknowns.iter().filter(|u| u.input).map(|u| u.bits).collect()
        }
        (_, other) => panic!("no bug: {other:?}"),
    }
}

#[test]
fn a_loop_with_a_known_bound_is_unrolled_to_its_end() {
    proved(
        "model ilp32; fn main() -> i32 { local i: i32; local s: i32;
           a -> b: i = 0; b -> head: s = 0;
           loop head -> body: assume i < 100; head -> done: assume !(i < 100);
           body -> c: s = s + i; c -> head: i = i + 1;
           done -> end: check assertion s == 4950; end -> exit: return 0; } entry main;",
    );
}

#[test]
fn a_loop_whose_bound_is_an_input_is_unrolled_as_far_as_the_solver_says() {
    proved(
        "model ilp32; fn main() -> i32 { local i: i32; local n: i32;
           a -> b: input n; b -> c: assume n < 7; c -> head: i = 0;
           loop head -> body: assume i < n; head -> done: assume !(i < n);
           body -> head: i = i + 1;
           done -> end: check assertion i < 7; end -> exit: return 0; } entry main;",
    );
}

#[test]
fn a_bug_deep_in_a_loop_comes_with_its_input() {
    let inputs = wrong(
        "model ilp32; fn main() -> i32 { local i: i32; local n: u32;
           a -> b: input n; b -> head: i = 0;
           loop head -> body: assume i < 20; head -> done: assume !(i < 20);
           body -> c: check assertion (n ^ (u32)i) != 4660; c -> d: n = n + 3; d -> head: i = i + 1;
           done -> exit: return 0; } entry main;",
    );
    let n = inputs[0] as u32;
    assert!((0..20u32).any(|i| n.wrapping_add(3 * i) ^ i == 4660), "{n}");
}

#[test]
fn arrays_keep_their_elements_apart() {
    let program = |bad: &str| {
        format!(
            "model ilp32; global a: [i32; 8]; fn main() -> i32 {{ local i: u32; local j: u32;
               a0 -> a1: input i; a1 -> a2: input j; a2 -> a3: assume i < 8; a3 -> a4: assume j < 8;
               a4 -> a5: assume {bad}; a5 -> a6: a[i] = 1; a6 -> a7: a[j] = 2;
               a7 -> end: check assertion a[i] == 1; end -> exit: return 0; }} entry main;"
        )
    };
    proved(&program("i != j"));
    let inputs = wrong(&program("i <= j"));
    assert_eq!(inputs[0], inputs[1]);
}

#[test]
fn pointers_reach_the_objects_they_point_to() {
    let list = |check: &str| {
        format!(
            "model lp64; struct node {{ i32 val @0; *struct node next @8; }} size 16 align 8;
             fn main() -> i32 {{ local p: *struct node; local q: *struct node; local x: i32;
               a -> b: p = alloc heap 16; b -> c: q = alloc heap 16; c -> d: input x;
               d -> e: *(p: struct node).val = x; e -> f: *(q: struct node).val = 7;
               f -> g: *(p: struct node).next = q; g -> h: p = *(p: struct node).next;
               h -> end: check assertion {check}; end -> exit: return 0; }} entry main;"
        )
    };
    proved(&list("*(p: struct node).val == 7"));
    wrong(&list("*(p: struct node).val == 8"));
}

#[test]
fn recursion_is_followed_and_cut() {
    let factorial = |n: i32, check: &str| {
        format!(
            "model ilp32; fn f(n: i32) -> i32 {{ temp .r: i32;
               a -> b: assume n <= 1; b -> exit: return 1;
               a -> c: assume !(n <= 1); c -> d: .r = call f(n - 1); d -> exit: return n * .r; }}
             fn main() -> i32 {{ local x: i32;
               a -> b: x = call f({n}); b -> c: check assertion {check}; c -> exit: return 0; }} entry main;"
        )
    };
    proved(&factorial(4, "x == 24"));
    wrong(&factorial(4, "x == 25"));
    let (_, outcome) = run(&factorial(40, "x == 0"));
    assert!(matches!(outcome, Outcome::Unknown(_)), "the recursion is deeper than followed: {outcome:?}");
}

#[test]
fn use_after_free_and_leaks_are_seen() {
    let program = |free: &str, check: &str| {
        format!(
            "model lp64; fn main() -> i32 {{ local p: *i32; local n: i32;
               a -> b: p = alloc heap 40; b -> c: input n; c -> d: assume n >= 0; d -> e: assume n < 11;
               e -> f: {free}; f -> g: check {check}; g -> exit: return 0; }} entry main;"
        )
    };
    proved(&program("skip", "deref valid(p, 40)"));
    wrong(&program("free p", "deref valid(p, 4)"));
    assert_eq!(wrong(&program("skip", "deref valid(ptradd(p, n, 4), 4)")), [10]);
    proved(&program("free p", "memcleanup heap_empty"));
    wrong(&program("skip", "memcleanup heap_empty"));
    wrong(&program("free p", "free freeable(p)"));
}

/// The encoder and that of the check by a proof for all pieces of an object and of two, the interpreter by runs for each.
#[test]
fn pieces_overlap_where_they_have_a_byte_in_common() {
    let program = |q: &str, check: &str| {
        format!(
            "model lp64; fn main() -> i32 {{ local p: *i8; local q: *i8; local r: *i8;
               local i: u64; local j: u64; local n: u64;
               a -> b: p = alloc heap 5; b -> c: r = alloc heap 5; c -> c1: q = {q};
               c1 -> d: input i; d -> e: input j; e -> f: input n;
               f -> g: assume (i <= 5) & ((j <= 5) & (n <= 5)); g -> h: assume ((i + n) <= 5) & ((j + n) <= 5);
               h -> k: check assertion overlap(ptradd(p, i, 1), ptradd(q, j, 1), n) == ({check});
               k -> exit: return 0; }} entry main;"
        )
    };
    let near = "(i != j) & (((i <= j) & ((j - i) < n)) | ((j <= i) & ((i - j) < n)))";
    proved(&program("p", near));
    proved(&program("r", "0:u1"));
    wrong(&program("p", "(i < j) & ((j - i) < n)"));
    wrong(&program("r", near));
    for (q, check) in [("p", near), ("r", "0:u1")] {
        let p = palisade_cfa::text::parse(&program(q, check)).unwrap();
        let mut interp = Interp::new(&p, Config::default());
        for values in 0..6 * 6 * 6 {
            let inputs = [values % 6, values / 6 % 6, values / 36];
            let run = interp.run(&mut Listed::new(inputs), &mut Captured::default());
            assert!(matches!(run.outcome, Ended::Exit(0) | Ended::Blocked), "{q} {inputs:?}: {run:?}");
        }
    }
}

#[test]
fn a_certificate_with_too_small_bounds_is_rejected() {
    let (task, outcome) = run("model ilp32; fn main() -> i32 { local i: i32; local n: i32;
           a -> b: input n; b -> c: assume n < 7; c -> head: i = 0;
           loop head -> body: assume i < n; head -> done: assume !(i < n);
           body -> head: i = i + 1;
           done -> end: check assertion i < 7; end -> exit: return 0; } entry main;");
    let Outcome::Proof(Certificate::Unrolling { bounds }) = outcome else { panic!("{outcome:?}") };
    let small = bounds.iter().map(|&(l, _)| (l, 3)).collect();
    let verdict = palisade_check::certificate(
        &task,
        &Certificate::Unrolling { bounds: small },
        &Court::new(&Budget::unlimited()),
    );
    assert!(matches!(verdict, Err(palisade_check::Rejection::Wrong(_))), "{verdict:?}");
}
