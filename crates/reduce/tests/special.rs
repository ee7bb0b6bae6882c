//! Programs of which one reduction must keep its hands off, or which it must treat with care: the reduced task
//! reaches an error in the runs in which the program does.

mod common;

use common::compile;
use palisade_cfa::EdgeId;
use palisade_interp::{Config, Discard, Interp, Outcome, Random, State};
use palisade_property::Property;
use std::sync::Arc;

const HEAD: &str = "int __VERIFIER_nondet_int(void); void reach_error(void); void *malloc(unsigned long);
    void *calloc(unsigned long, unsigned long); void free(void *);
    struct pair { int a; int b; struct pair *next; };\n";

/// Compares runs of a program and of its reduced task. What is not initialised is zero in both.
#[track_caller]
fn same(globals: &str, body: &str, property: &Property) {
    let text = format!("{HEAD}{globals} int main(void) {{ {body} return 0; }}");
    let source = Arc::new(compile(&text, property));
    let task = palisade_reduce::task(&source, 2, 10_000).expect("small");
    let mut ever = false;
    for inputs in 0..40 {
        let run = Interp::new(&source, Config::default()).run(&mut Random::new(inputs), &mut Discard);
        let goes_wrong = matches!(run.outcome, Outcome::Violation(_));
        let mut last = task.body().entry;
        let mut watch = |edge: EdgeId, _: &State<'_>| {
            last = task.program.edges[edge].dst;
            true
        };
        let mut interp = Interp::new(&task.program, Config::default());
        interp.run_observed(&mut Random::new(inputs), &mut Discard, &mut watch);
        assert_eq!(task.error_at(last).is_some(), goes_wrong, "inputs {inputs}\n{text}");
        ever |= goes_wrong;
    }
    assert!(ever, "no run goes wrong\n{text}");
}

/// Every body goes wrong in some run.
#[track_caller]
fn all(globals: &str, bodies: &[&str]) {
    for body in bodies {
        same(globals, body, &Property::assertions());
    }
}

#[test]
fn objects_on_the_heap() {
    all(
        "",
        &[
            "struct pair *k[2]; for (int i = 0; i < 2; i++) { k[i] = malloc(sizeof(struct pair)); k[i]->a = i; }
             if (k[0]->a == 0 && k[1]->a == 1) reach_error();",
            "struct pair *first = 0; for (int i = 0; i < 3; i++) { struct pair *n = malloc(sizeof *n); n->a = i;
             n->next = first; first = n; } if (first->next->a == 1) reach_error();",
            "struct pair *h = malloc(2 * sizeof *h); h[1].a = 5; h[0].a = 4; if (h[1].a == 5) reach_error();",
            "struct pair *h = calloc(1, sizeof *h); if (h->b == 0) reach_error();",
            "struct pair *h = malloc(sizeof *h); struct pair *o = h; o->a = 3; if (h->a == 3) reach_error();",
        ],
    );
    let named = |name| Property::named(name).expect("there is such a property");
    let sometimes = "struct pair *h = malloc(sizeof *h); h->a = __VERIFIER_nondet_int() & 1; ";
    same("", &format!("{sometimes} if (h->a) free(h);"), &named("valid-memcleanup"));
    same("", &format!("{sometimes} if (h->a) free(h); free(h);"), &named("valid-free"));
    same("", &format!("{sometimes} int x = h->a; free(h); if (x) h->b = 2;"), &named("valid-deref"));
}

#[test]
fn values_that_are_known() {
    all(
        "int g = 1; int *gp = &g; int t[4] = {1, 2, 3, 4};",
        &[
            "int i = __VERIFIER_nondet_int() & 1; int *p = &t[i]; i = i + 1; if (*p == 2) reach_error();",
            "int i = __VERIFIER_nondet_int() & 1; int *p = &t[i]; i = i + 1; if (*p == 1) reach_error();",
            "*gp = __VERIFIER_nondet_int() & 1; if (g == 0) reach_error();",
            "g = __VERIFIER_nondet_int() & 1; if (*gp == 0) reach_error();",
            "if (__VERIFIER_nondet_int() & 1) gp = &t[1]; *gp = 7; if (g == 1 && t[1] == 7) reach_error();",
            "int h = 5; gp = &h; *gp = __VERIFIER_nondet_int() & 1; if (g == 1 && h == 0) reach_error();",
            "int **to_gp = &gp; *to_gp = &t[2]; *gp = 7; if (g == 1 && t[2] == 7) reach_error();",
            "int x = __VERIFIER_nondet_int() & 1, y = x; x = 3; if (y == 1) reach_error();",
            "int x = 2, y; if (__VERIFIER_nondet_int() & 1) x = 3; y = x; if (y == 3) reach_error();",
            "int x = 2; int *p = &x; *p = 4; if (x == 4) reach_error();",
            "int x = 0, y = 0; while (x < 3) { y = x; x = x + 1; } if (x == 3 && y == 2) reach_error();",
        ],
    );
}

#[test]
fn records_that_are_split_or_not() {
    all(
        "union number { int i; float f; struct { short low, high; } s; unsigned char b[4]; };
         union wide { long l; struct { int a, b; } s; } wide = {0x500000007}; struct pair gs = {6, 7}, *to_gs = &gs;
         struct nest { struct { int x, y; } in; int z; unsigned f1 : 3; unsigned f2 : 5; } nest = {{1, 2}, 3, 4, 5};",
        &[
            "union number u; u.f = 1.0f; if (u.i == 0x3f800000) reach_error();",
            "union number u; u.i = 0x10002; if (u.s.high == 1 && u.s.low == 2) reach_error();",
            "union number u; u.i = 0x10002; if (u.b[2] == 1) reach_error();",
            "if (wide.s.b == 5) reach_error();",
            "union wide w; w.l = 0x500000007; if (w.s.b == 5) reach_error();",
            "to_gs->b = 9; if (gs.b == 9) reach_error();",
            "if (gs.b == 7 && gs.a == 6) reach_error();",
            "if (nest.in.y == 2 && nest.in.x == 1 && nest.z == 3) reach_error();",
            "if (nest.f1 == 4 && nest.f2 == 5) reach_error();",
            "struct nest n; n.f1 = 1; n.f2 = 9; n.z = 3; if (n.f1 == 1 && n.f2 == 9) reach_error();",
            "struct nest n = {{0}}; n.in.x = __VERIFIER_nondet_int(); if (n.in.y == 0 && n.z == 0) reach_error();",
            "for (int i = 0; i < 2; i++) { struct pair s = {0}; if (i == 1 && s.a == 0) reach_error(); s.a = 5; }",
            "struct pair s = {1, 2}; int *p = &s.b; *p = 9; if (s.b == 9) reach_error();",
            "struct pair s = {1, 2}, r; r = s; s.a = 5; if (r.a == 1) reach_error();",
        ],
    );
}

#[test]
fn what_matters_is_kept() {
    all(
        "int g; void set(int *p) { *p = 4; } int twice(int n) { return 2 * n; }",
        &[
            "int x = 1; set(&x); if (x == 4) reach_error();",
            "int x = __VERIFIER_nondet_int() & 3; g = twice(x); if (g == 6) reach_error();",
            "int x = 0; if (__VERIFIER_nondet_int() & 1) x = 1; else g = 2; if (x == 1 && g == 0) reach_error();",
            "int x = 0; for (;;) { x++; if (x == 3) reach_error(); }",
            "if (__VERIFIER_nondet_int() & 1) { if (1) g = 1; else g = 2; } if (g == 1) reach_error();",
        ],
    );
}

/// The place where recursion is cut stays reachable.
#[test]
fn cuts_are_kept() {
    let text = "int f(int n) { if (n == 9) reach_error(); return f(n - __VERIFIER_nondet_int()); } int main(void) { return f(__VERIFIER_nondet_int()); }";
    let source = Arc::new(compile(&format!("{HEAD}{text}"), &Property::assertions()));
    for depth in 1..4 {
        let task = palisade_reduce::task(&source, depth, 10_000).expect("small");
        let reached = task.cuts.iter().any(|&cut| !task.program.locs[cut].inc.is_empty());
        assert!(reached, "depth {depth}");
    }
}
