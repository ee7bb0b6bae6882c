//! Automata in their text form, executed.

use palisade_cfa::*;
use palisade_interp::*;

fn program(text: &str) -> Program {
    let p = text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    let findings: Vec<String> = verify(&p).iter().map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new());
    p
}

fn run_with(text: &str, inputs: &[i128]) -> (Run, Captured) {
    let p = program(text);
    let mut out = Captured::default();
    let config = Config { step_limit: 10_000_000, ..Config::default() };
    let run = Interp::new(&p, config).run(&mut Listed::new(inputs.iter().copied()), &mut out);
    (run, out)
}

fn outcome(text: &str, inputs: &[i128]) -> Outcome {
    run_with(text, inputs).0.outcome
}

const SUM: &str = "
fn main() -> i32 {
  local n: i32; local i: i32; local s: i32; local a: [i32; 100];
  s0 -> s1: input n;
  s1 -> s2: i = 0;
  s2 -> head: s = 0;
  head -> b0: assume i < n;
  head -> done: assume !(i < n);
  b0 -> b1: check bounds i < 100;
  b1 -> b2: a[i] = i * 3;
  b2 -> b3: check overflow !overflow(s + a[i]);
  b3 -> b4: s = s + a[i];
  b4 -> head: i = i + 1;
  done -> end: return s;
}";

#[test]
fn loops_and_arrays() {
    assert_eq!(outcome(SUM, &[10]), Outcome::Exit(135));
    assert_eq!(outcome(SUM, &[-3]), Outcome::Exit(0));
    assert_eq!(outcome(SUM, &[101]), Outcome::Violation(CheckKind::Bounds));
    assert_eq!(outcome(SUM, &[]), Outcome::NeedInput);
}

#[test]
fn traces_inputs_and_steps_are_recorded() {
    let p = program(SUM);
    let config = Config { trace_cap: Some(1000), ..Config::default() };
    let mut interp = Interp::new(&p, config.clone());
    let run = interp.run(&mut Listed::new([2]), &mut Discard);
    assert_eq!(run.steps, 3 + 2 * 6 + 2);
    assert_eq!(run.trace.len() as u64, run.steps);
    assert!(run.trace.windows(2).all(|w| p.edges[w[0]].dst == p.edges[w[1]].src), "the trace is a path");
    assert_eq!((run.inputs.len(), run.inputs[0].bits), (1, 2));
    let short = Config { trace_cap: Some(5), ..config };
    let run = Interp::new(&p, short).run(&mut Listed::new([2]), &mut Discard);
    assert!(run.trace_cut && run.trace.len() == 5);
    // The same run once more on the same interpreter, and unobserved.
    assert_eq!(interp.run(&mut Listed::new([3]), &mut Discard).outcome, Outcome::Exit(9));
    let run = Interp::new(&p, Config { step_limit: 100, ..Config::default() })
        .run(&mut Listed::new([90]), &mut Discard);
    assert_eq!(run.outcome, Outcome::StepLimit);
}

#[test]
fn a_violation_says_where() {
    let text = "
fn inner(p: *i32) -> i32 {
  a -> b: check deref valid(p, 4);
  b -> c: return *(p: i32);
}
fn main() -> i32 {
  local x: i32; local r: i32;
  a -> b: enter x;
  b -> c: x = 7;
  c -> d: r = call inner(&x);
  d -> e: r = call inner(null);
  e -> f: return r;
}";
    let p = program(text);
    let run = Interp::new(&p, Config::default()).run(&mut Listed::default(), &mut Discard);
    assert_eq!(run.outcome, Outcome::Violation(CheckKind::Deref));
    let names: Vec<&str> = run.stack.iter().map(|(f, _)| &*p.funcs[*f].name).collect();
    assert_eq!(names, ["inner", "main"]);
    let shown: Vec<String> = run.stack.iter().map(|(_, e)| p.show_op(&p.edges[*e].op).to_string()).collect();
    assert_eq!(shown, ["check deref: valid(p, 4)", "r = inner(NULL)"]);
}

#[test]
fn undefined_behaviour_traps_without_checks() {
    let with = |body: &str| {
        let text = format!(
            "fn f() -> i32 {{ a -> b: return 1; }}
             fn main() -> i32 {{ local x: i32; local y: i32; local p: *i32; local q: *i32; local a: [i32; 4];
               {body}
               e -> f: return x; }}"
        );
        outcome(&text, &[])
    };
    let access = |b| Outcome::Trap(Trap::Access(b));
    assert_eq!(with("a -> b: y = 0; b -> e: x = 1 / y;"), Outcome::Trap(Trap::DivByZero));
    assert_eq!(with("a -> b: y = 32; b -> e: x = 1 << y;"), Outcome::Trap(Trap::Shift));
    assert_eq!(with("a -> b: y = -1; b -> e: x = 1 >> y;"), Outcome::Trap(Trap::Shift));
    assert_eq!(with("a -> b: p = null; b -> e: x = *(p: i32);"), access(BadAccess::Null));
    assert_eq!(with("a -> b: y = 4; b -> e: x = a[y];"), access(BadAccess::OutOfBounds));
    assert_eq!(with("a -> b: y = -1; b -> e: a[y] = 0;"), access(BadAccess::OutOfBounds));
    // Far outside, where other objects live: still outside of its own.
    assert_eq!(
        with(
            "a -> b: p = alloc heap 4; b -> c: q = alloc heap 4; c -> d: y = (i32)ptrdiff(q, p, 4);
              d -> e: x = *(ptradd(p, y, 4): i32);"
        ),
        access(BadAccess::OutOfBounds)
    );
    assert_eq!(
        with("a -> b: p = alloc heap 4; b -> c: free p; c -> e: x = *(p: i32);"),
        access(BadAccess::Dangling)
    );
    assert_eq!(with("a -> b: p = alloc heap 4; b -> c: free p; c -> e: free p;"), Outcome::Trap(Trap::Free));
    assert_eq!(with("a -> b: p = alloc heap 4; b -> e: free ptradd(p, 1, 1);"), Outcome::Trap(Trap::Free));
    assert_eq!(with("a -> b: p = (ptr)12345:i64; b -> e: x = *(p: i32);"), access(BadAccess::Wild));
    assert_eq!(with("a -> b: p = null; b -> e: x = call (p)();"), Outcome::Trap(Trap::Call));
    assert_eq!(with("a -> b: p = func f; b -> e: x = call (p)();"), Outcome::Exit(1));
    assert_eq!(with("a -> b: p = func f; b -> e: x = call (p)(1);"), Outcome::Trap(Trap::Call));
    assert_eq!(with("a -> b: x = 5; b -> e: assume x < 5;"), Outcome::Blocked);
}

#[test]
fn a_local_dies_with_its_block() {
    let text = "
fn main() -> i32 {
  local p: *i32; local x: i32; local i: i32;
  a -> b: i = 0;
  b -> c: enter x;
  c -> d: x = i;
  d -> e: p = &x;
  e -> f: leave x;
  f -> g: enter x;
  g -> h: x = 9;
  h -> i: check deref valid(p, 4);
  i -> j: return *(p: i32);
}";
    assert_eq!(outcome(text, &[]), Outcome::Violation(CheckKind::Deref));
}

#[test]
fn bit_fields_unions_and_copies() {
    let text = "
struct s { i32 a:5 @0.0; u32 b:7 @0.5; u64 c:40 @2.3; *i32 p @8; } size 16 align 8;
union u { u32 whole @0; [u8; 4] byte @0; f32 f @0; } size 4 align 4;
fn pass(v: struct s) -> struct s {
  a -> b: v.a = v.a + 1;
  b -> c: return {v};
}
fn main() -> i32 {
  local x: struct s; local y: struct s; local u: union u; local n: i32; local r: i32;
  a -> b: zero x;
  b -> c: x.a = 15;
  c -> d: x.b = 100;
  d -> e: x.c = 1099511627775;
  e -> e1: enter n;
  e1 -> f: x.p = &n;
  f -> g: n = 77;
  g -> h: y = call pass({x});
  h -> i: check assertion y.a == -16;
  i -> j: check assertion x.a == 15;
  j -> k: check assertion y.b == 100;
  k -> l: check assertion y.c == 1099511627775;
  l -> m: check assertion *(y.p: i32) == 77;
  m -> o: u.f = 1.0;
  o -> q: check assertion u.whole == 1065353216;
  q -> s: check assertion u.byte[3] == 63;
  s -> t: memcopy &x, &y, 16;
  t -> w: memset &x as u8, 255, 1;
  w -> z: r = (i32)(i64)x.a + *(x.p: i32);
  z -> zz: return r;
}";
    assert_eq!(outcome(text, &[]), Outcome::Exit(76));
}

#[test]
fn deep_recursion_needs_no_stack_of_ours() {
    let text = "
fn down(n: i32) -> i32 {
  local r: i32;
  a -> z: assume n == 0;
  a -> b: assume n != 0;
  z -> e: return 0;
  b -> c: r = call down(n - 1);
  c -> e: return r + 1;
}
fn main() -> i32 {
  local n: i32; local r: i32;
  a -> b: input n;
  b -> c: r = call down(n);
  c -> d: return r;
}";
    assert_eq!(outcome(text, &[1_000_000]), Outcome::Exit(1_000_000));
    assert_eq!(outcome(text, &[-1]), Outcome::StepLimit);
    let p = program(text);
    let config = Config { memory_limit: 1 << 20, ..Config::default() };
    let run = Interp::new(&p, config).run(&mut Listed::new([-1]), &mut Discard);
    assert_eq!(run.outcome, Outcome::MemoryLimit);
}

#[test]
fn the_heap_is_watched() {
    let text = "
global keep: *i8;
fn main() -> i32 {
  local p: *i8; local c: i32;
  a -> b: input c;
  b -> d: p = alloc heap 10;
  d -> e: keep = p;
  e -> f: p = null;
  f -> g: assume c == 1;
  f -> h: assume c != 1;
  g -> h: keep = null;
  h -> i: check memtrack heap_tracked;
  i -> j: assume c == 2;
  i -> k: assume c != 2;
  j -> k: free keep;
  k -> l: check memcleanup heap_empty;
  l -> m: exit 3;
}";
    assert_eq!(outcome(text, &[0]), Outcome::Violation(CheckKind::MemCleanup));
    assert_eq!(outcome(text, &[1]), Outcome::Violation(CheckKind::MemTrack));
    assert_eq!(outcome(text, &[2]), Outcome::Exit(3));
}

#[test]
fn inputs_can_be_listed_random_or_forced() {
    let text = "
fn other() -> i32;
fn main() -> i32 {
  local x: i32; local y: i32; local z: i32;
  a -> b: input x;
  b -> c: havoc y;
  c -> d: z = call other();
  d -> e: return (x + y) + z;
}";
    let p = program(text);
    let mut interp = Interp::new(&p, Config::default());
    let run = interp.run(&mut Listed::new([5]), &mut Discard);
    assert_eq!(run.outcome, Outcome::Exit(5));
    assert_eq!(run.unknown_functions.len(), 1);
    let mut forced = Forced::new();
    for (i, v) in [100, 20, 3].into_iter().enumerate() {
        forced.push(EdgeId(i as u32), v, 1);
    }
    assert_eq!(interp.run(&mut forced, &mut Discard).outcome, Outcome::Exit(123));
    let once = |seed| interp_outcome(&p, seed);
    assert_eq!(once(1), once(1));
    assert!((0..50).map(once).any(|o| o != once(0)));
}

fn interp_outcome(p: &Program, seed: u64) -> Outcome {
    Interp::new(p, Config::default()).run(&mut Random::with_unknowns(seed), &mut Discard).outcome
}

#[test]
fn observers_see_values() {
    let p = program(SUM);
    let i = p.vars.ids().find(|v| &*p.vars[*v].name == "i").unwrap();
    let mut seen = Vec::new();
    let head = p.edges.ids().find(|e| matches!(p.edges[*e].op, Op::Assume { .. })).unwrap();
    let mut observer = |edge: EdgeId, state: &State<'_>| {
        if edge == head {
            seen.push(state.var(i).and_then(Value::as_int).unwrap());
        }
        seen.len() < 4
    };
    let run =
        Interp::new(&p, Config::default()).run_observed(&mut Listed::new([50]), &mut Discard, &mut observer);
    assert_eq!(run.outcome, Outcome::Observed);
    assert_eq!(seen, [0, 1, 2, 3]);
}

#[test]
fn wide_integers_and_long_doubles() {
    let text = "
fn main() -> i32 {
  local x: i128; local y: u128; local d: f80; local g: i128; local r: i32;
  a -> b: x = 170141183460469231731687303715884105727;
  b -> c: check overflow !overflow(x + 0);
  c -> d: y = (u128)x * 3;
  d -> e: check assertion y == 170141183460469231731687303715884105725;
  e -> f: check assertion overflow(x + 1);
  f -> g: x = x >> 100;
  g -> h: check assertion (i32)x == 134217727;
  h -> i: d = (f80)1 / (f80)3;
  i -> j: check assertion d == #3ffdaaaaaaaaaaaaaaab;
  j -> k: check assertion (f64)d == 0.3333333333333333;
  k -> l: r = (i32)(d * (f80)300);
  l -> m: return r;
}";
    assert_eq!(outcome(text, &[]), Outcome::Exit(100));
}

fn printed(body: &str) -> String {
    let text = format!(
        "fn printf(*i8, ...) -> i32 does print out;
         fn main() -> i32 {{ local n: i32; {body} z -> zz: return n; }}"
    );
    let (run, out) = run_with(&text, &[]);
    assert!(matches!(run.outcome, Outcome::Exit(_)), "{:?}", run.outcome);
    String::from_utf8(out.out).unwrap()
}

#[test]
fn printf_formats() {
    for (format, args, want) in [
        ("%d|%5d|%-5d|%05d|%+d|% d", "1, 2, 3, 4, 5, 6", "1|    2|3    |00004|+5| 6"),
        ("%x %X %#x %o %#o %u", "255, 255, 255, 8, 8, -1", "ff FF 0xff 10 010 4294967295"),
        ("%.3d %.0d|%8.3d|%-8.3d|", "5, 0, 7, 7", "005 |     007|007     |"),
        ("%c%c%%", "65, 66", "AB%"),
        ("%ld %lld %hd %hhd", "-5:i64, 5:i64, 65537, 257", "-5 5 1 1"),
        (
            "%f %.2f %.0f %e %g",
            "1.5:f64, 2.675:f64, 0.5:f64, 12345.678:f64, 0.0001:f64",
            "1.500000 2.67 0 1.234568e+04 0.0001",
        ),
        ("%g %g %g %G", "1000000.0:f64, 100000.0:f64, 1e-5:f64, 1e-10:f64", "1e+06 100000 1e-05 1E-10"),
        (
            "%10.3f|%-10.3f|%+010.3f",
            "3.14159:f64, 3.14159:f64, 3.14159:f64",
            "     3.142|3.142     |+00003.142",
        ),
        (
            "%f %F %05f",
            "#7ff0000000000000:f64, #fff8000000000000:f64, #fff0000000000000:f64",
            "inf -NAN  -inf",
        ),
        ("%a %a %.1a", "1.0:f64, 0.1:f64, 1.999:f64", "0x1p+0 0x1.999999999999ap-4 0x2.0p+0"),
        ("%Lf %Lg", "#3fff8000000000000000:f80, #4001a000000000000000:f80", "1.000000 5"),
        ("%*d|%-*d|%.*f", "5, 1, 5, 2, 2, 1.005:f64", "    1|2    |1.00"),
        ("%p", "null", "(nil)"),
        ("%#g %#.0f", "1.0:f64, 3.0:f64", "1.00000 3."),
    ] {
        let bytes: String = format.replace('"', "\\\"");
        let text = format!(
            "global f: [i8; 80] = {{ @0 \"{bytes}\" }};
             fn printf(*i8, ...) -> i32 does print out;
             fn main() -> i32 {{ local n: i32; a -> b: n = call printf(&f as i8, {args}); b -> c: return n; }}"
        );
        let (run, out) = run_with(&text, &[]);
        assert_eq!(run.outcome, Outcome::Exit(want.len() as i32), "{format}");
        assert_eq!(String::from_utf8(out.out).unwrap(), want, "{format}");
    }
    assert_eq!(printed("a -> z: n = 0;"), "");
}

#[test]
fn unsupported_functions_are_named() {
    let text = "
fn pthread_create(*void, *void, *void, *void) -> i32 does unmodelled;
fn main() -> i32 { local n: i32; a -> b: n = call pthread_create(null, null, null, null); b -> c: return n; }";
    match outcome(text, &[]) {
        Outcome::Unsupported(what) => assert!(what.contains("pthread_create")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn both_data_models_run() {
    for (model, size) in [("lp64", 8), ("ilp32", 4)] {
        let text = format!(
            "model {model};
             global cell: *i32;
             fn main() -> i32 {{
               local p: *i32; local k: u64; local x: [i32; 3];
               a -> b: p = &x as i32;
               b -> b1: x[2] = 42;
               b1 -> c: cell = ptradd(p, 2, 4);
               c -> d: k = (u64)cell;
               d -> e: check assertion object_size(cell) == 12;
               e -> f: p = (ptr)k;
               f -> g: check assertion (i32)ptrdiff(cell, &x as i32, 4) == 2;
               g -> h: check assertion p == cell;
               h -> i: return *(p: i32) + {size};
             }}"
        );
        assert_eq!(outcome(&text, &[]), Outcome::Exit(42 + size));
    }
}
