//! Proofs of programs with unbounded loops, each certificate checked.

use palisade_base::Budget;
use palisade_check::court::Court;
use palisade_domains::Domain;
use palisade_engines::bmc::Bmc;
use palisade_engines::board::Board;
use palisade_engines::composite::Composite;
use palisade_engines::kinduction::KInduction;
use palisade_engines::numeric::AbstractInterpretation;
use palisade_engines::predicate::Predicates;
use palisade_engines::{Certificate, Engine, Outcome};
use palisade_task::Task;
use std::sync::Arc;

fn task(text: &str) -> Task {
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(palisade_cfa::verify(&program), []);
    palisade_reduce::task(&std::sync::Arc::new(program), 4, 100_000).expect("small")
}

fn outcome(engine: &dyn Engine, text: &str) -> Outcome {
    let task = task(text);
    let outcome = engine.run(&task, &Board::default(), &Budget::unlimited(), &|_| {});
    if let Outcome::Proof(certificate) = &outcome {
        palisade_check::certificate(&task, certificate, &Court::new(&Budget::unlimited())).unwrap();
    }
    outcome
}

fn interval() -> AbstractInterpretation {
    AbstractInterpretation { domain: Domain::interval(), delay: 2 }
}

/// Counts up to an unknown bound; the counter stays in range.
const COUNT: &str = "model ilp32; fn main() -> i32 { local i: i32; local n: i32;
    a -> b: input n; b -> c: assume n <= 1000; c -> head: i = 0;
    loop head -> body: assume i < n; head -> done: assume !(i < n);
    body -> head: i = i + 1;
    done -> end: check assertion i <= 1000; end -> exit: return 0; } entry main;";

/// Two counters that run in step: not an interval fact.
const IN_STEP: &str = "model ilp32; fn main() -> i32 { local i: u32; local j: u32; local more: i32;
    a -> b: i = 0; b -> head: j = 0;
    loop head -> body: input more;
    body -> c: assume more != 0; body -> done: assume !(more != 0);
    c -> d: i = i + 1; d -> head: j = j + 1;
    done -> end: check assertion i == j; end -> exit: return 0; } entry main;";

#[test]
fn intervals_prove_a_counter() {
    assert!(matches!(outcome(&interval(), COUNT), Outcome::Proof(Certificate::Invariants(_))));
    assert!(matches!(outcome(&interval(), IN_STEP), Outcome::Unknown(_)));
}

#[test]
fn octagons_find_no_wrap_that_is_not_there() {
    // The counters wrap together, which octagons over the integers lose at the wrap: whatever they
    // answer must survive the check.
    let engine = AbstractInterpretation { domain: Domain::octagon(), delay: 2 };
    let _ = outcome(&engine, IN_STEP);
    assert!(matches!(outcome(&engine, COUNT), Outcome::Proof(_)));
}

#[test]
fn k_induction_needs_k_greater_than_zero_for_a_delayed_fact() {
    // x takes the values 0, 1, 2, 0, 1, 2, ...; y follows one step behind.
    let text = "model ilp32; fn main() -> i32 { local x: i32; local y: i32; local more: i32;
        a -> b: x = 0; b -> head: y = 2;
        loop head -> m: input more; m -> body: assume more != 0; m -> done: assume !(more != 0);
        body -> c: y = x; c -> d: assume x == 2; c -> e: assume !(x == 2);
        d -> head: x = 0; e -> head: x = x + 1;
        done -> end: check assertion x != y; end -> exit: return 0; } entry main;";
    match outcome(&KInduction, text) {
        Outcome::Proof(Certificate::KInduction { k, .. }) => assert!(k >= 1),
        other => panic!("{other:?}"),
    }
    assert!(matches!(outcome(&KInduction, IN_STEP), Outcome::Unknown(_) | Outcome::Proof(_)));
    assert!(matches!(outcome(&KInduction, COUNT), Outcome::Proof(_)));
}

#[test]
fn a_wrong_program_is_never_proved() {
    let wrong = COUNT.replace("i <= 1000;", "i < 1000;");
    assert!(matches!(outcome(&interval(), &wrong), Outcome::Unknown(_)));
    assert!(matches!(outcome(&KInduction, &wrong), Outcome::Unknown(_)));
}

/// A state machine that input drives and that never gets stuck in state 3.
const MACHINE: &str = "model ilp32; global state: i32 = 1; fn main() -> i32 { local in: i32;
    a -> head: skip;
    loop head -> h0: check assertion state != 3; h0 -> b: input in; b -> c: assume in == 1; b -> d: assume !(in == 1);
    c -> e: assume state == 1; c -> f: assume !(state == 1); e -> head: state = 2; f -> head: state = 1;
    d -> g: assume in == 2; d -> head: assume !(in == 2);
    g -> h: assume state == 2; g -> head: assume !(state == 2); h -> head: state = 4; } entry main;";

#[test]
fn explicit_values_cover_a_state_machine() {
    match outcome(&palisade_engines::value::ExplicitValues, MACHINE) {
        Outcome::Proof(Certificate::Cover(cover)) => assert!(cover.states.len() >= 3),
        other => panic!("{other:?}"),
    }
    let wrong = MACHINE.replace("state != 3", "state != 4");
    assert!(matches!(outcome(&palisade_engines::value::ExplicitValues, &wrong), Outcome::Bug(_)));
}

/// One loop head that is the entry, with any values to begin with.
const AT_ENTRY: &str = "model ilp32; global x: i32 = ?; global y: i32 = 0; fn main() -> i32 { local in: i32;
    loop head -> h0: check assertion y != 1; h0 -> b: input in; b -> c: assume in == x; b -> d: assume !(in == x);
    c -> head: y = 2; d -> head: skip; } entry main;";

#[test]
fn predicates_over_blocks_and_along_edges_agree() {
    let count = COUNT.replace("1000", "3");
    let wrong = [count.replace("i <= 3;", "i < 3;"), MACHINE.replace("state != 3", "state != 4")];
    let programs =
        [(&*count, true), (MACHINE, true), (AT_ENTRY, true), (&wrong[0], false), (&wrong[1], false)];
    let composite = |text: &str| Box::new(Composite::parse(text).unwrap()) as Box<dyn Engine>;
    for (text, safe) in programs {
        let engines = [
            Box::new(Predicates::default()) as Box<dyn Engine>,
            composite("location+predicate"),
            composite("location+predicate stop=join"),
            composite("location+cartesian"),
            // What looks at single operations makes steps of edges.
            composite("location+predicate+sign"),
            composite("location+cartesian+explicit merge=equal"),
        ];
        for engine in engines {
            match outcome(&*engine, text) {
                Outcome::Proof(_) => assert!(safe, "{}: {text}", engine.name()),
                Outcome::Bug(_) => assert!(!safe, "{}: {text}", engine.name()),
                Outcome::Unknown(_) => {}
            }
        }
    }
    for text in [COUNT, MACHINE, AT_ENTRY] {
        assert!(matches!(outcome(&Predicates::default(), text), Outcome::Proof(_)), "{text}");
    }
}

/// A state machine with a number that takes many values, of which the program asks for one bound only.
const NUMBERS: &str = "model ilp32; global state: i32 = 1; global n: i32 = 0; fn main() -> i32 { local in: i32;
    a -> head: skip;
    loop head -> h0: check assertion state != 3; h0 -> b: input in; b -> c: assume in == 1; b -> d: assume !(in == 1);
    c -> e: assume n <= 100100; c -> f: assume !(n <= 100100); e -> g: n = n * 7 % 100000 + 5; f -> head: state = 3;
    g -> head: state = 2; d -> head: n = n / 2; } entry main;";

#[test]
fn numbers_that_nobody_tells_apart_are_joined() {
    let parts = palisade_engines::parts::Parts;
    match outcome(&parts, NUMBERS) {
        Outcome::Proof(Certificate::Cover(cover)) => assert!(cover.states.len() < 10, "{cover:?}"),
        other => panic!("{other:?}"),
    }
    // One that is reached after some passes.
    for bound in ["5", "30", "50000", "98000"] {
        assert!(matches!(outcome(&parts, &NUMBERS.replace("100100", bound)), Outcome::Bug(_)), "{bound}");
    }
    assert!(matches!(outcome(&parts, MACHINE), Outcome::Proof(_)));
    assert!(matches!(outcome(&parts, COUNT), Outcome::Proof(_)));
}

#[test]
fn a_cover_with_a_hole_is_rejected() {
    refuses_holes(&palisade_engines::value::ExplicitValues, MACHINE);
    refuses_holes(&palisade_engines::parts::Parts, MACHINE);
    refuses_holes(&palisade_engines::parts::Parts, NUMBERS);
}

fn refuses_holes(engine: &dyn Engine, text: &str) {
    let task = task(text);
    let Outcome::Proof(Certificate::Cover(mut cover)) =
        engine.run(&task, &Board::default(), &Budget::unlimited(), &|_| {})
    else {
        panic!("not proved")
    };
    for hole in 0..cover.states.len() {
        let removed = cover.states.remove(hole);
        let verdict = palisade_check::certificate(
            &task,
            &Certificate::Cover(cover.clone()),
            &Court::new(&Budget::unlimited()),
        );
        assert!(verdict.is_err(), "without {removed:?}");
        cover.states.insert(hole, removed);
    }
}

/// A few hundred steps in which a variable stays between -9 and 9, with a check at the end.
fn long(bound: i32) -> String {
    let mut text =
        String::from("model ilp32; fn main() -> i32 { local x: i32; local in: i32; s0 -> p0: input x;\n");
    text += "p0 -> q0: x = x % 10;";
    for i in 0..150 {
        let next = i + 1;
        text += &format!(
            "q{i} -> b{i}: input in; b{i} -> c{i}: assume in == {i}; b{i} -> d{i}: assume !(in == {i});\n"
        );
        text += &format!("c{i} -> e{i}: x = x / 2; d{i} -> e{i}: x = x % 10; e{i} -> q{next}: skip;\n");
    }
    text + &format!("q150 -> end: check assertion x <= {bound}; end -> exit: return 0; }} entry main;")
}

#[test]
fn long_programs_are_proved_piece_by_piece() {
    let task = task(&long(9));
    let outcome = interval().run(&task, &Board::default(), &Budget::unlimited(), &|_| {});
    let Outcome::Proof(Certificate::Invariants(mut facts)) = outcome else { panic!("{outcome:?}") };
    assert!(facts.at.len() > 3, "there is no loop, and a proof in {} pieces", facts.at.len());
    let budget = Budget::unlimited();
    let check = |facts: &palisade_evidence::Invariants| {
        palisade_check::certificate(&task, &Certificate::Invariants(facts.clone()), &Court::new(&budget))
    };
    check(&facts).expect("all pieces hold");
    // A fact between two pieces is no assumption: one that does not hold is noticed, and so is one too few.
    for piece in [0, facts.at.len() / 2, facts.at.len() - 1] {
        for claim in [0, 1] {
            let wrong = facts.int(palisade_cfa::IntTy::BOOL, claim);
            let right = std::mem::replace(&mut facts.at[piece].1, wrong);
            assert!(check(&facts).is_err(), "piece {piece} with {claim}");
            facts.at[piece].1 = right;
        }
    }
    assert!(matches!(self::outcome(&interval(), &long(8)), Outcome::Unknown(_)));
}

#[test]
fn k_induction_takes_what_octagons_find() {
    // That i <= n is an octagon and not k-inductive; that a != b is 2-inductive and no octagon.
    let text = "model ilp32; fn main() -> i32 {
        local i: i32; local n: i32; local a: i32; local b: i32; local c: i32; local t: i32; local more: i32;
        s -> s1: input n; s1 -> s2: assume n >= 0; s2 -> s3: i = 0; s3 -> s4: a = 1; s4 -> s5: b = 2; s5 -> head: c = 3;
        loop head -> h: check assertion a != b; h -> m: input more;
        m -> body: assume more != 0; m -> done: assume !(more != 0);
        body -> up: assume i < n; body -> turn: assume !(i < n); up -> turn: i = i + 1;
        turn -> t1: t = a; t1 -> t2: a = b; t2 -> t3: b = c; t3 -> head: c = t;
        done -> end: check assertion i <= n; end -> exit: return 0; } entry main;";
    let task = task(text);
    let (budget, board) = (Budget::unlimited(), Board::default());
    let octagons = AbstractInterpretation { domain: Domain::octagon(), delay: 2 };
    assert!(matches!(octagons.run(&task, &board, &budget, &|_| {}), Outcome::Unknown(_)));
    let proof = KInduction.run(&task, &board, &budget, &|_| {});
    let Outcome::Proof(certificate) = proof else { panic!("{proof:?}") };
    palisade_check::certificate(&task, &certificate, &Court::new(&budget))
        .expect("what it took is shown again");
    let taken = board.taken();
    assert!(taken.iter().any(|t| t.by == "kinduction" && t.from == "octagon" && t.facts > 0), "{taken:?}");
    assert!(matches!(KInduction.run(&task, &Board::default(), &budget, &|_| {}), Outcome::Unknown(_)));
}

/// A counter whose error is first reached in the given segment: the first one ends at the loop, and each pass is another.
fn counter(error_in: u32) -> String {
    format!(
        "model ilp32; fn main() -> i32 {{ local i: i32; local up: i32; entry -> head: i = 2;
        loop head -> a: check assertion i != {error_in}; a -> b: input up;
        b -> c: assume up != 0; b -> head: assume !(up != 0); c -> head: i = i + 1; }} entry main;"
    )
}

#[test]
fn unrolling_says_how_far_there_are_no_errors() {
    for error_in in 2..40 {
        let board = Board::default();
        let outcome = Bmc.run(&task(&counter(error_in)), &board, &Budget::unlimited(), &|_| {});
        assert!(matches!(outcome, Outcome::Bug(_)), "{outcome:?}");
        // All but the last unrolling, which is at most half as long again.
        let claimed = board.segments_without_errors("test", 0);
        assert!(
            claimed < error_in && (error_in < 5 || 3 * claimed + 6 >= 2 * error_in),
            "{claimed} of {error_in}"
        );
    }
}

#[test]
fn k_induction_takes_what_unrolling_excludes_and_the_check_does_not() {
    let board = Board::default();
    board.exclude_segments("bmc", 3);
    board.exclude_segments("bmc", 2);
    // The assertion holds by 1-induction.
    let text =
        "model ilp32; fn main() -> i32 { local i: i32; local j: i32; entry -> e: i = 0; e -> head: j = 0;
        loop head -> a: check assertion i == j; a -> b: i = i + 1; b -> head: j = j + 1; } entry main;";
    let right = task(text);
    let outcome = KInduction.run(&right, &board, &Budget::unlimited(), &|_| {});
    let Outcome::Proof(certificate) = outcome else { panic!("{outcome:?}") };
    palisade_check::certificate(&right, &certificate, &Court::new(&Budget::unlimited()))
        .expect("it is a proof");
    assert!(board.taken().iter().any(|t| t.by == "kinduction" && t.from == "bmc"));
    // The same with a wrong start, which the board hides.
    let wrong = task(&text.replace("i = 0", "i = 1"));
    let outcome = KInduction.run(&wrong, &board, &Budget::unlimited(), &|_| {});
    if let Outcome::Proof(certificate) = outcome {
        let checked = palisade_check::certificate(&wrong, &certificate, &Court::new(&Budget::unlimited()));
        assert!(checked.is_err(), "the check asks for itself");
    } else {
        panic!("{outcome:?}");
    }
}

#[test]
fn runs_are_made_once_for_all() {
    let task = task(COUNT);
    let (budget, board) = (Budget::unlimited(), Board::default());
    let first = board.samples("houdini", &task, &budget);
    assert!(first.states() > 10, "{}", first.states());
    assert!(board.taken().is_empty());
    assert!(Arc::ptr_eq(&first, &board.samples("learning", &task, &budget)));
    let taken = board.taken();
    assert_eq!((&*taken[0].by, &*taken[0].from, taken[0].facts), ("learning", "houdini", first.states()));
}
