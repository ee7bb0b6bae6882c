//! What both encoders say about memory and floating-point numbers: for each kind of check a program that is right and
//! the like that is wrong, both without a loop, so that the certificate says nothing and the encoders decide.

use crate::common::compile;
use palisade_base::Budget;
use palisade_cfa::DataModel;
use palisade_check::court::Court;
use palisade_check::{Rejection, plain, reduced};
use palisade_evidence::Certificate;
use palisade_property::Property;
use std::sync::Arc;

const HEAD: &str =
    "typedef unsigned long size_t; void *malloc(size_t); void *calloc(size_t, size_t); void free(void *);
    int __VERIFIER_nondet_int(void); double __VERIFIER_nondet_double(void); void reach_error(void); 
    struct pair { int first, second; }; int g[4]; int *to_g = g; struct link { struct link *next; int value; };
    void *memset(void *, int, size_t); void *memcpy(void *, const void *, size_t);
    int lone, *both[2] = { g, g + 2 }; struct link u, v, to_u = { &u }, to_v = { &v };
    struct large { int first; char rest[600]; int last; } large, *to_large = &large;
    int one(void) { return 1; } int two(void) { return 2; } int (*table[2])(void) = { one, two };";

/// What both checkers, and the first with proofs, say of the body of `main`.
fn checked(property: &str, body: &str) -> [Result<(), Rejection>; 3] {
    let property = match property {
        "assertions" => Property::assertions(),
        name => Property::named(name).expect("there is such a property"),
    };
    let text = format!("{HEAD} int main(void) {{ int in = __VERIFIER_nondet_int(); {body} return 0; }}");
    let source = Arc::new(compile(&text, &property, DataModel::Lp64));
    let task = palisade_reduce::task(&source, 2, 10_000).expect("small");
    let certificate = Certificate::Unrolling { bounds: Default::default() };
    let budget = Budget::unlimited();
    [
        reduced(&task, &certificate, &Court::new(&budget)),
        plain::check(&task, &certificate, &Court::plain(&budget)),
        reduced(&task, &certificate, &Court::confirming(&budget)),
    ]
}

#[track_caller]
fn decided(property: &str, right: &str, wrong: &str) {
    assert_eq!(checked(property, right), [Ok(()), Ok(()), Ok(())], "{right}");
    for result in checked(property, wrong) {
        assert!(matches!(result, Err(Rejection::Wrong(_))), "{result:?}: {wrong}");
    }
}

#[test]
fn objects_end() {
    let made = "int *p = malloc(8); if (!p) return 0; p[0] = 0; p[1] = 0;";
    decided(
        "valid-deref",
        &format!("{made} if (in) free(p); if (!in) p[1] = 1;"),
        &format!("{made} if (in) free(p); p[1] = 1;"),
    );
    decided("valid-deref", &format!("{made} p[in & 1] = 1;"), &format!("{made} p[in & 3] = 1;"));
    // Variables of a block live as long as it.
    decided(
        "valid-deref",
        "int *p = g; { int x = 0; if (in) p = &x; *p = 1; }",
        "int *p = g; { int x = 0; if (in) p = &x; *p = 1; } *p = 2;",
    );
    // And have the size of their type.
    decided(
        "valid-deref",
        "int *p = g; { struct pair x = {0}; if (in) p = &x.first; p[1] = 1; }",
        "int *p = g; { struct pair x = {0}; if (in) p = &x.first; p[2] = 1; }",
    );
    decided("valid-deref", "int *p = in ? g : &g[3]; *p = 1;", "int *p = in ? g : &g[4]; *p = 1;");
}

#[test]
fn what_can_be_freed() {
    let either = "int x = 0; int *p = malloc(8), *q = in ? p : 0;";
    decided("valid-free", &format!("{either} free(q);"), &format!("{either} free(in ? q : &x);"));
    decided(
        "valid-free",
        &format!("{either} free(q); if (!in) free(p);"),
        &format!("{either} free(q); free(p);"),
    );
    decided("valid-free", &format!("{either} free(p);"), &format!("{either} if (p) free(p + (in & 1));"));
    decided("valid-free", "free(in ? malloc(4) : 0);", "free(in ? malloc(4) : g);");
}

#[test]
fn what_new_objects_hold() {
    decided(
        "assertions",
        "int *p = calloc(2, 4); if (p && p[in & 1] != 0) reach_error();",
        "int *p = malloc(8); if (p && p[in & 1] != 0) reach_error();",
    );
    decided(
        "assertions",
        "struct pair x = {0}; struct pair *p = in ? &x : (struct pair *)g; if (p->second != 0) reach_error();",
        "struct pair x = {0, 1}; struct pair *p = in ? &x : (struct pair *)g; if (p->second != 0) reach_error();",
    );
    decided(
        "assertions",
        "struct pair *p = calloc(1, sizeof *p); if (p && p->second != 0) reach_error();",
        "struct pair *p = malloc(sizeof *p); if (p && p->second != 0) reach_error();",
    );
    // Members of a record that nobody points to.
    decided(
        "assertions",
        "struct pair x = {0}; if (in) x.first = in; if (x.second != 0) reach_error();",
        "struct pair x; if (in) x.first = in; if (x.second != 0) reach_error();",
    );
    decided(
        "assertions",
        "if (to_large->last != 0) reach_error();",
        "to_large->last = in; if (to_large->last != 0) reach_error();",
    );
    decided(
        "assertions",
        "if (g[in & 3] != 0) reach_error();",
        "g[2] = 1; if (g[in & 3] != 0) reach_error();",
    );
}

#[test]
fn floating_point_numbers_compare_as_such() {
    let numbers = "double a = __VERIFIER_nondet_double(), b = __VERIFIER_nondet_double();";
    // Only a NaN differs from itself, and zero has two forms.
    decided(
        "assertions",
        &format!("{numbers} if (a < 1 && !(a == a)) reach_error();"),
        &format!("{numbers} if (!(a == a)) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{numbers} if (a == 0 && !(-a == 0)) reach_error();"),
        &format!("{numbers} if (a == 0 && 1 / a < 0) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{numbers} if (a == b && a < b) reach_error();"),
        &format!("{numbers} if (a == b && a <= b) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{numbers} if (a < b && !(a <= b)) reach_error();"),
        &format!("{numbers} if (!(a < b) && !(b <= a)) reach_error();"),
    );
}

#[test]
fn blocks_begin_and_end_inside_of_scalars() {
    let ints = "int x = in & 1, y = in;";
    decided(
        "assertions",
        &format!("{ints} memset((char *)&x + 2, 255, 2); if (x >= 0) reach_error();"),
        &format!("{ints} memset((char *)&x + 2, 127, 2); if (x >= 0) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{ints} memset((char *)&x + 2, 255, 2); if ((x & 65535) > 1) reach_error();"),
        &format!("{ints} memset((char *)&x + 1, 255, 2); if ((x & 65535) > 1) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{ints} memcpy((char *)&x + 1, (char *)&y + 2, 2); if ((x & 255) > 1) reach_error();"),
        &format!("{ints} memcpy((char *)&x + 1, (char *)&y + 2, 2); if ((x & 65535) > 1) reach_error();"),
    );
    decided(
        "assertions",
        &format!("{ints} g[1] = 7; memset((char *)g + 5, in, 2); if ((g[1] & 255) != 7) reach_error();"),
        &format!("{ints} g[1] = 7; memset((char *)g + 3, in, 2); if ((g[1] & 255) != 7) reach_error();"),
    );
    decided(
        "assertions",
        "long l = 0; char *c = (char *)&l; memset(c + 3, in, 1); c[5] = 1; if (l < 1099511627776) reach_error();",
        "long l = 0; char *c = (char *)&l; memset(c + 3, in, 1); c[5] = 1; if (l > 1099511627776) reach_error();",
    );
}

#[test]
fn where_pointers_lead() {
    decided(
        "assertions",
        "int x = 0, y = 0; int *p = in ? &x : &y; *p = 1; if (x + y != 1) reach_error();",
        "int x = 0, y = 0; int *p = in ? &x : &y; *p = 1; if (x != 1) reach_error();",
    );
    decided(
        "assertions",
        "int *p = g, *q = g + 1; int **pp = in ? &p : &q; **pp = 1; if (g[0] + g[1] != 1) reach_error();",
        "int *p = g, *q = g + 1; int **pp = in ? &p : &q; **pp = 1; if (g[1] != 1) reach_error();",
    );
    decided(
        "assertions",
        "*to_g = in; if (g[0] != in) reach_error();",
        "to_g[1] = in; if (g[0] != in) reach_error();",
    );
    decided(
        "assertions",
        "struct link a = {0}, b = {0}; a.next = &b; struct link c = a; c.next->value = in; if (b.value != in) reach_error();",
        "struct link a = {0}, b = {0}; a.next = &b; struct link c = a; c.next->value = in; if (a.value != in) reach_error();",
    );
    decided(
        "assertions",
        "struct pair x = {0}, *p = in ? &x : (struct pair *)g; int *s = &p->second; *s = 1; if (p->first) reach_error();",
        "struct pair x = {0}, *p = in ? &x : (struct pair *)g; int *s = &p->first; *s = 1; if (p->first) reach_error();",
    );
}

/// Pointers to different places in different objects, or to objects that hold pointers.
#[test]
fn pointers_that_lead_to_one_of_several_places() {
    decided(
        "assertions",
        "*both[in & 1] = 1; if (g[0] + g[2] != 1) reach_error();",
        "*both[in & 1] = 1; if (g[2] != 1) reach_error();",
    );
    decided(
        "assertions",
        "struct pair x = {0}, y = {0}; int *p = in ? &x.second : &y.first; *p = 1;
         if (x.second + y.first != 1) reach_error();",
        "struct pair x = {0}, y = {0}; int *p = in ? &x.second : &y.first; *p = 1;
         if (x.first + y.first != 1) reach_error();",
    );
    decided(
        "assertions",
        "struct pair x = {0}; int *p = in ? &x.first : &x.second; *p = 1;
         if (in ? x.second != 0 : x.second != 1) reach_error();",
        "struct pair x = {0}; int *p = in ? &x.first : &x.second; *p = 1; if (x.second != 1) reach_error();",
    );
    decided(
        "assertions",
        "struct link *p = in ? &to_u : &to_v; p->next->value = 1; if (in ? u.value != 1 : v.value != 1) reach_error();",
        "struct link *p = in ? &to_u : &to_v; p->next->value = 1; if (u.value != 1) reach_error();",
    );
}

/// Pointers as numbers, and pointers that are made of bytes.
#[test]
fn pointers_and_numbers() {
    decided(
        "assertions",
        "int *p = in ? (int *)16 : g; if (in && (long)p != 16) reach_error();",
        "int *p = in ? (int *)16 : g; if ((long)p != 16) reach_error();",
    );
    decided(
        "assertions",
        "long l = (long)g; int *p = 0; memcpy(&p, &l, 8); if ((long)p != l) reach_error();",
        "long l = (long)g; int *p = 0; memcpy(&p, &l, 8); if (p == g) reach_error();",
    );
    let two = "int *p = g, *q = &lone; lone = 7; g[0] = 0;";
    decided(
        "assertions",
        &format!("{two} memcpy((char *)&p + 4, (char *)&q + 4, 4); p = g; if (*p == 7) reach_error();"),
        &format!("{two} memcpy((char *)&p + 4, (char *)&q + 4, 4); if (*p == 7) reach_error();"),
    );
    decided(
        "assertions",
        "int *p = g; memset((char *)&p + 1, in, 2); p = g; if (p != g) reach_error();",
        "int *p = g; memset((char *)&p + 1, in, 2); if (p != g) reach_error();",
    );
}

/// A distance that C does not define is another matter than a result that does not fit.
#[test]
fn shifts_that_leave_the_type() {
    decided(
        "no-shift-overflow",
        "int n = in & 63; if (n != 31) g[0] = 1 << n;",
        "int n = in & 63; if (n != 30) g[0] = 1 << n;",
    );
}

/// Which NaN an operation gives is open, its sign included.
#[test]
fn bits_of_numbers_that_are_none() {
    let none = "union { double d; long l; } u; u.d = __VERIFIER_nondet_double(); u.d = u.d - u.d;";
    for sign in ["<", ">="] {
        decided(
            "assertions",
            &format!("{none} if (u.d != u.d && u.l == 0) reach_error();"),
            &format!("{none} if (u.d != u.d && u.l {sign} 0) reach_error();"),
        );
    }
}

#[test]
fn functions_in_tables() {
    decided(
        "assertions",
        "if (table[in & 1]() > 2) reach_error();",
        "if (table[in & 1]() > 1) reach_error();",
    );
    decided(
        "assertions",
        "int (*f)(void) = in ? one : two; if (f != table[0] && f != table[1]) reach_error();",
        "int (*f)(void) = in ? one : two; if (f != table[0]) reach_error();",
    );
}
