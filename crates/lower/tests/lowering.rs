//! C in, automaton out: control flow, evaluation order, lifetimes and places.

mod common;

use common::{check, function, program};
use palisade_base::SourceMap;
use palisade_cfa::{CheckKind, DataModel, Op};
use palisade_lower::{Options, compile};

#[test]
fn loops_have_their_head_before_the_condition() {
    check(
        "int a[10]; int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }",
        &[],
        "L0 -> L1: s = 0;
         L1 -> loop L2: i = 0;
         L2 -> L3: assume i < n;
         L2 -> L4: assume n <= i;
         L3 -> L5: s = s + a[i];
         L5 -> L2: i = i + 1;
         L4 -> L6: return s;",
    );
    check(
        "int f(int n) { do n--; while (n > 0); while (1) { if (n++ > 5) break; } return n; }",
        &[],
        "L0 -> L1: skip;
         L1 -> loop L2: n = n - 1;
         L2 -> L1: assume 0 < n;
         L2 -> loop L3: assume n <= 0;
         L3 -> L4: `.0` = n;
         L4 -> L5: n = `.0` + 1;
         L5 -> L6: assume 5 < `.0`;
         L5 -> L3: assume `.0` <= 5;
         L6 -> L7: return n;",
    );
}

#[test]
fn loop_heads_know_their_keyword() {
    let text =
        "int main(void) { int i = 0; while (i < 3) i++; do i--; while (i); for (;;) { if (i) break; i = 1; }
        do i++; while (0); return i; }";
    let mut map = SourceMap::new();
    let file = map.add("test.c", text.to_owned()).expect("a small file fits");
    let program =
        compile(&mut map, &[file], DataModel::Lp64, &Options::default()).program.expect("it is fine");
    let keywords: Vec<&str> =
        program.locs.iter().filter_map(|l| l.loop_stmt).filter_map(|s| map.snippet(s)).collect();
    assert_eq!(keywords, ["while", "do", "for"]);
    let labelled = program.edges.iter().filter_map(|e| map.snippet(e.span)).collect::<Vec<_>>();
    assert!(labelled.contains(&"i++") && labelled.contains(&"return i;"), "{labelled:?}");
}

#[test]
fn several_files_are_one_program() {
    let mut map = SourceMap::new();
    let texts = [
        "static int n = 1; int shared; int other(int); int main(void) { return other(n) + shared; }",
        "static int n = 2; extern int shared; int other(int x) { shared = n; return x + n; }",
    ];
    let files: Vec<_> =
        texts.iter().map(|t| map.add("part.c", (*t).to_owned()).expect("a small file fits")).collect();
    let compiled = compile(&mut map, &files, DataModel::Lp64, &Options::default());
    let program = compiled.program.expect("it is fine");
    assert_eq!(compiled.diagnostics, []);
    let globals = |name: &str| program.vars.iter().filter(|v| &*v.name == name).count();
    assert_eq!((globals("n"), globals("shared")), (2, 1));
    let other = program.func_named("other").expect("it is called");
    assert!(program.funcs[other].body.is_some());
}

#[test]
fn a_program_without_entry_is_an_error() {
    let mut map = SourceMap::new();
    let file = map.add("test.c", "int f(void) { return 0; }".to_owned()).expect("a small file fits");
    let compiled = compile(&mut map, &[file], DataModel::Lp64, &Options::default());
    assert!(compiled.program.is_none());
    assert_eq!(compiled.diagnostics[0].message, "there is no function `main` to start with");
    let options = Options { entry: "f".into(), ..Options::default() };
    let mut map = SourceMap::new();
    let file = map.add("test.c", "int f(void) { return 0; }".to_owned()).expect("a small file fits");
    assert!(compile(&mut map, &[file], DataModel::Lp64, &options).program.is_some());
    // Code that is only looked at starts nowhere.
    let options = Options { entry: String::new(), ..Options::default() };
    let mut map = SourceMap::new();
    let file = map.add("test.c", "int f(int a) { return a; }".to_owned()).expect("a small file fits");
    let program = compile(&mut map, &[file], DataModel::Lp64, &options).program.expect("it is fine");
    assert_eq!(palisade_cfa::verify(&program), []);
    assert!(program.func_named("f").is_some_and(|f| f != program.entry));
}

#[test]
fn conditions_branch_and_values_compute() {
    check(
        "int f(int a, int b) { return a && b || !a; }",
        &[],
        "L0 -> L1: return (i32)(((a != 0) & (b != 0)) | (a == 0));",
    );
    check(
        "int f(int *p, int q) { if (p && *p > q) return 1; return q ? q : *p; }",
        &[],
        "L0 -> L1: assume p != null;
         L0 -> L2: assume p == null;
         L1 -> L3: assume q < *(p: i32);
         L1 -> L2: assume *(p: i32) <= q;
         L3 -> L4: return 1;
         L2 -> L5: assume q != 0;
         L2 -> L6: assume q == 0;
         L5 -> L7: `.0` = q;
         L7 -> L4: return `.0`;
         L6 -> L7: `.0` = *(p: i32);",
    );
}

#[test]
fn a_value_is_saved_only_if_a_later_operand_changes_it() {
    check(
        "int g; int h(void); int f(int i) { return g + h() + i; }",
        &[],
        "L0 -> L1: `.0` = g;
         L1 -> L2: `.1` = call h();
         L2 -> L3: return (`.0` + `.1`) + i;",
    );
    check(
        "void f(int *p, int *q) { *p++ = *q++; }",
        &[],
        "L0 -> L1: `.0` = p;
         L1 -> L2: p = ptradd(`.0`, 1, 4);
         L2 -> L3: `.1` = q;
         L3 -> L4: q = ptradd(`.1`, 1, 4);
         L4 -> L5: *(`.0`: i32) = *(`.1`: i32);
         L5 -> L6: return;",
    );
}

#[test]
fn checks_stay_on_the_branch_where_the_operand_is_evaluated() {
    check(
        "int f(int a, int b) { return a && 7 / b; }",
        &[CheckKind::DivByZero],
        "L0 -> L1: assume a != 0;
         L0 -> L2: assume a == 0;
         L1 -> L3: check div_by_zero b != 0;
         L3 -> L4: assume (7 / b) != 0;
         L3 -> L2: assume (7 / b) == 0;
         L4 -> L5: `.0` = 1;
         L5 -> L6: return (i32)`.0`;
         L2 -> L5: `.0` = 0;",
    );
    check(
        "int f(int a, int b) { int c = a ? a + b : b; return c; }",
        &[CheckKind::SignedOverflow],
        "L0 -> L1: assume a != 0;
         L0 -> L2: assume a == 0;
         L1 -> L3: check overflow !overflow(a + b);
         L3 -> L4: `.0` = a + b;
         L4 -> L5: c = `.0`;
         L5 -> L6: return c;
         L2 -> L4: `.0` = b;",
    );
}

#[test]
fn arithmetic_is_checked_in_the_promoted_type() {
    let checks =
        [CheckKind::SignedOverflow, CheckKind::ShiftRange, CheckKind::ShiftOverflow, CheckKind::DivByZero];
    check(
        "int f(short s, int i, unsigned u) { s++; i += s * s; i = -i; u = u + 1; return i % 7 / 2; }",
        &checks,
        "L0 -> L1: s = (i16)((i32)s + 1);
         L1 -> L2: check overflow !overflow(i + ((i32)s * (i32)s));
         L2 -> L3: i = i + ((i32)s * (i32)s);
         L3 -> L4: check overflow !overflow(0 - i);
         L4 -> L5: i = -i;
         L5 -> L6: u = u + 1;
         L6 -> L7: return (i % 7) / 2;",
    );
    check(
        "int f(int i, int s) { return i << s >> 3; }",
        &checks,
        "L0 -> L1: check shift_range 0 <= s;
         L1 -> L2: check shift_range s <= 31;
         L2 -> L3: check shift_overflow !overflow(i << s);
         L3 -> L4: check shift_overflow 0 <= i;
         L4 -> L5: return (i << s) >> 3;",
    );
    check(
        "int f(int a, int b) { return a / b; }",
        &checks,
        "L0 -> L1: check div_by_zero b != 0;
         L1 -> L2: check overflow !overflow(a / b);
         L2 -> L3: return a / b;",
    );
}

#[test]
fn floats_are_checked_before_they_become_integers() {
    check(
        "int f(double d) { return d; }",
        &[CheckKind::FloatToInt],
        "L0 -> L1: check float_to_int -2147483649.0 < d;
         L1 -> L2: check float_to_int d < 2147483648.0;
         L2 -> L3: return (i32)d;",
    );
}

#[test]
fn accesses_are_checked_unless_they_are_certainly_inside() {
    let source = "struct s { int x; int a[3]; unsigned b : 5; } v[4];
        int f(struct s *p, int i) { p->a[i] = 1; p->b = 2; v[2].a[1] = v[i].x; return v[i].a[i]; }";
    check(
        source,
        &[CheckKind::Deref],
        "L0 -> L1: check deref valid(&*(p: struct s).a[i], 4);
         L1 -> L2: *(p: struct s).a[i] = 1;
         L2 -> L3: check deref valid(&*(p: struct s).b as u8, 1);
         L3 -> L4: *(p: struct s).b = 2;
         L4 -> L5: check deref 0 <= i;
         L5 -> L6: check deref i <= 3;
         L6 -> L7: v[2].a[1] = v[i].x;
         L7 -> L8: check deref -4 <= (((i64)i * 20) + ((i64)i * 4));
         L8 -> L9: check deref (((i64)i * 20) + ((i64)i * 4)) <= 72;
         L9 -> L10: return v[i].a[i];",
    );
    check(
        "int a[2][3]; int f(unsigned char i) { return a[1][2] + a[i][0]; }",
        &[CheckKind::Bounds],
        "L0 -> L1: check bounds i <= 1;
         L1 -> L2: return a[1][2] + a[i][0];",
    );
    check(
        "int a[2]; int f(void) { return a[2]; }",
        &[CheckKind::Deref],
        "L0 -> L1: check deref 0;
         L1 -> L2: return a[2];",
    );
}

#[test]
fn subscripts_do_not_take_the_address_of_an_array() {
    let source = "int f(int i) { int a[4]; int b[4]; int *p = b; *(a + i) = 1; return a[i] + *p; }
                  int main(void) { return f(1); }";
    let (program, _) = program(source, &[], DataModel::Lp64);
    let taken: Vec<(&str, bool)> = program
        .vars
        .iter()
        .filter(|v| ["a", "b", "p"].contains(&&*v.name))
        .map(|v| (&*v.name, v.address_taken))
        .collect();
    assert_eq!(taken, [("a", false), ("b", true), ("p", false)]);
    assert!(function(&program, "f").contains("a[i] = 1"));
}

#[test]
fn lives_end_on_every_way_out_of_a_block() {
    check(
        "void h(int *); int g; void f(void) {
            while (g) { int z; h(&z); if (g > 1) break; if (g > 2) continue; { int y = 1; h(&y); goto out; } }
            out: ; }",
        &[],
        "L0 -> loop L1: skip;
         L1 -> L2: assume g != 0;
         L1 -> out: assume g == 0;
         L2 -> L3: enter z;
         L3 -> L4: call h(&z);
         L4 -> L5: assume 1 < g;
         L4 -> L6: assume g <= 1;
         L5 -> out: leave z;
         out -> L7: return;
         L6 -> L8: assume 2 < g;
         L6 -> L9: assume g <= 2;
         L8 -> L1: leave z;
         L9 -> L10: enter y;
         L10 -> L11: y = 1;
         L11 -> L12: call h(&y);
         L12 -> L13: leave y;
         L13 -> out: leave z;",
    );
}

#[test]
fn an_object_that_its_own_initialiser_reads_is_arbitrary() {
    check(
        "int f(void) { int x = x, y = 1; return x + y; }",
        &[],
        "L0 -> L1: enter x;
         L1 -> L2: x = x;
         L2 -> L3: y = 1;
         L3 -> L4: return x + y;",
    );
}

#[test]
fn a_jump_into_a_block_brings_its_objects_to_life() {
    check(
        "void h(int *); void f(int n) { if (n) goto in; { int w = 5; h(&w); in: w = 1; } }",
        &[],
        "L0 -> L1: assume n != 0;
         L0 -> L2: assume n == 0;
         L1 -> in: enter w;
         in -> L3: w = 1;
         L3 -> L4: leave w;
         L4 -> L5: return;
         L2 -> L6: enter w;
         L6 -> L7: w = 5;
         L7 -> in: call h(&w);",
    );
}

#[test]
fn switches_are_chains_into_their_bodies() {
    check(
        "int f(int n) { int c = 0;
            switch (n) { do { case 0: c++; case 3 ... 5: c++; } while (--n > 0); default: break; } return c; }",
        &[],
        "L0 -> L1: c = 0;
         L1 -> L2: assume n == 0;
         L1 -> L3: assume n != 0;
         L2 -> L4: c = c + 1;
         L4 -> loop L5: c = c + 1;
         L5 -> L6: n = n - 1;
         L6 -> L2: assume 0 < n;
         L6 -> L7: assume n <= 0;
         L7 -> L8: return c;
         L3 -> L4: assume (3 <= n) & (n <= 5);
         L3 -> L7: assume !((3 <= n) & (n <= 5));",
    );
}

#[test]
fn computed_goto_compares_with_the_numbers_of_labels() {
    check(
        "int f(int x) { static void *t[] = { &&a, &&b }; goto *t[x]; a: return 1; b: return 2; }",
        &[],
        "L0 -> L1: `.0` = t[x];
         L1 -> a: assume `.0` == 0x1:ptr;
         L1 -> L2: assume `.0` != 0x1:ptr;
         a -> L3: return 1;
         L2 -> b: assume `.0` == 0x2:ptr;
         L2 -> L4: assume `.0` != 0x2:ptr;
         b -> L3: return 2;
         L4 -> L5: abort;",
    );
}

#[test]
fn variable_arguments_are_an_object_of_the_caller() {
    let source = "int s(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n);
            double d = __builtin_va_arg(l, double); __builtin_va_end(l); return d; }
        int f(void) { int r = s(1, 2.0, 'c'); return r + s(0); }";
    check(
        source,
        &[],
        "L0 -> L1: enter `.0`;
         L1 -> L2: `.0`.`0` = 2.0;
         L2 -> L3: `.0`.`1` = 99;
         L3 -> L4: r = call s(1, &`.0`);
         L4 -> L5: leave `.0`;
         L5 -> L6: `.1` = r;
         L6 -> L7: `.2` = call s(0, null);
         L7 -> L8: return `.1` + `.2`;",
    );
    let (program, _) = program(&format!("{source} int main(void) {{ return f(); }}"), &[], DataModel::Lp64);
    assert_eq!(
        function(&program, "s"),
        "L0 -> L1: enter l;\n\
         L1 -> L2: l[0].overflow_arg_area = .varargs;\n\
         L2 -> L3: `.0` = l[0].overflow_arg_area;\n\
         L3 -> L4: l[0].overflow_arg_area = ptradd(`.0`, 1, 16);\n\
         L4 -> L5: `.1` = *(`.0`: f64);\n\
         L5 -> L6: d = `.1`;\n\
         L6 -> L7: return (i32)d;"
    );
}

#[test]
fn variable_length_arrays_are_stack_memory_of_their_block() {
    check(
        "int f(int n) { { int v[n]; v[0] = n; n = v[n - 1]; } return n; }",
        &[CheckKind::Deref],
        "L0 -> L1: v = null;
         L1 -> L2: .hidden1 = (u32)n;
         L2 -> L3: `.0` = .hidden1 * 4;
         L3 -> L4: v = alloc stack ((0 < (i32)`.0`) ? `.0` : 0);
         L4 -> L5: check deref valid(&*(v)[0: 4] as i32, 4);
         L5 -> L6: *(v)[0: 4] as i32 = n;
         L6 -> L7: check deref valid(&*(v)[n - 1: 4] as i32, 4);
         L7 -> L8: n = *(v)[n - 1: 4] as i32;
         L8 -> L9: free v;
         L9 -> L10: return n;",
    );
}

#[test]
fn large_constant_initialisers_come_from_a_table() {
    let source =
        "int f(int x) { int y[20] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17}; int z[4] = {[2] = x};
        char s[10] = \"abc\"; return y[x] + z[1] + s[0]; }
        int main(void) { return f(0); }";
    let (program, _) = program(source, &[], DataModel::Ilp32);
    let text = function(&program, "f");
    let copies: Vec<&str> = text.lines().filter(|l| l.contains("copy y = .table")).collect();
    assert_eq!(copies.len(), 1, "{text}");
    assert!(text.contains("zero z;") && text.contains("z[2] = x;"), "{text}");
    assert!(text.contains("zero s;") && text.contains("copy s as [i8; 4] = .string"), "{text}");
}

#[test]
fn inputs_assumptions_and_assertions() {
    check(
        "extern int __VERIFIER_nondet_int(void); extern _Bool __VERIFIER_nondet_bool(void);
         extern void __VERIFIER_assume(int); extern void exit(int);
         extern void __assert_fail(const char *, const char *, unsigned, const char *);
         int f(void) { int x = __VERIFIER_nondet_int(); _Bool b = __VERIFIER_nondet_bool();
            __VERIFIER_assume(x > 3 && b); if (x > 100) exit(3);
            ((x > 2) ? (void)0 : __assert_fail(\"x\", \"f\", 1, \"f\")); return x; }",
        &[CheckKind::Assertion],
        "L0 -> L1: input x;
         L1 -> L2: input b;
         L2 -> L3: assume 3 < x;
         L3 -> L4: assume b;
         L4 -> L5: assume 100 < x;
         L4 -> L6: assume x <= 100;
         L5 -> L7: exit 3;
         L6 -> L8: assume 2 < x;
         L6 -> L9: assume x <= 2;
         L8 -> L10: return x;
         L9 -> L11: check assertion 0;
         L11 -> L12: abort;",
    );
}

#[test]
fn the_heap_is_operations() {
    check(
        "typedef unsigned size_t; extern void *malloc(size_t); extern void *calloc(size_t, size_t);
         extern void free(void *); extern void *memcpy(void *, const void *, size_t);
         struct p { int x, y; };
         int f(int n) { int *p = (int *)malloc(8); struct p a, b; memcpy(&a, &b, sizeof a); memcpy(p, &a, n);
            p = calloc(2, 4); free(p); return a.x; }",
        &[CheckKind::Deref, CheckKind::Free],
        "L0 -> L1: p = alloc heap 8;
         L1 -> L2: enter a;
         L2 -> L3: enter b;
         L3 -> L4: copy a = b;
         L4 -> L5: check deref ((u32)n == 0) | valid(&a, (u32)n);
         L5 -> L6: check deref ((u32)n == 0) | valid(p, (u32)n);
         L6 -> L7: memcopy p, &a, (u32)n;
         L7 -> L8: p = alloc heap zeroed 8;
         L8 -> L9: check free freeable(p);
         L9 -> L10: free p;
         L10 -> L11: return a.x;",
    );
}

#[test]
fn functions_without_body_stay_visible_and_are_reported_once() {
    let source = "int h(int); int printf(const char *, ...); extern void __VERIFIER_error(void);
        int main(void) { int x = h(1) + h(2); printf(\"%d\", x); if (x) __VERIFIER_error(); return x; }";
    let (program, diagnostics) = program(source, &[], DataModel::Lp64);
    let messages: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(messages, ["`h` has no body"]);
    let text = function(&program, "main");
    assert!(text.contains("call printf(&.string"), "{text}");
    assert!(text.contains("call __VERIFIER_error();") && text.contains("abort;"), "{text}");
}

#[test]
fn what_the_automaton_cannot_say_is_marked() {
    let source = "typedef int jmp_buf[6]; int setjmp(jmp_buf); jmp_buf b;
        int main(void) { if (setjmp(b)) return 1; return 0; }";
    let (program, diagnostics) = program(source, &[], DataModel::Ilp32);
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].message, "`setjmp` is not supported: a run that reaches it cannot be followed");
    assert_eq!(program.unmodelled_calls().count(), 1);
}

#[test]
fn arguments_of_main_are_made_only_if_they_are_used() {
    let (unused, _) = program("int main(int argc, char **argv) { return argc; }", &[], DataModel::Lp64);
    assert_eq!(&*unused.funcs[unused.entry].name, ".start");
    assert!(!function(&unused, ".start").contains("alloc"));
    let (used, _) = program("int main(int argc, char **argv) { return argv[0][0]; }", &[], DataModel::Lp64);
    assert!(function(&used, ".start").contains("alloc stack"));
    let (none, _) = program("int main() { return 0; }", &[], DataModel::Lp64);
    assert_eq!(&*none.funcs[none.entry].name, "main");
}

#[test]
fn only_the_library_functions_that_are_used_are_linked() {
    let source = "unsigned strlen(const char *); unsigned strspn(const char *, const char *);
        char *strpbrk(const char *, const char *); int abs(int);
        int abs(int x) { return x; }
        int main(void) { char *p = strpbrk(\"ab\", \"b\"); return strlen(p) + abs(3); }";
    let (program, diagnostics) = program(source, &[], DataModel::Ilp32);
    assert_eq!(diagnostics, []);
    let with_body: Vec<&str> = program.funcs.iter().filter(|f| f.body.is_some()).map(|f| &*f.name).collect();
    assert_eq!(with_body.iter().filter(|n| **n == "abs").count(), 1);
    for name in ["strlen", "strpbrk", "strcspn", "main"] {
        assert!(with_body.contains(&name), "{name} is missing in {with_body:?}");
    }
    assert!(!with_body.contains(&"strspn"));
}

#[test]
fn a_declaration_with_other_machine_types_keeps_the_library_out() {
    let source = "float strlen(int); int main(void) { return strlen(3); }";
    let (program, diagnostics) = program(source, &[], DataModel::Lp64);
    let strlen = program.func_named("strlen").expect("it is called");
    assert!(program.funcs[strlen].body.is_none());
    assert!(diagnostics.iter().any(|d| d.message.starts_with("`strlen` has no body")));
}

#[test]
fn atexit_handlers_run_at_the_end() {
    let source = "int atexit(void (*)(void)); void exit(int); void bye(void) {}
        int main(void) { atexit(bye); if (atexit(bye)) exit(1); return 0; }";
    let (program, _) = program(source, &[], DataModel::Lp64);
    assert_eq!(&*program.funcs[program.entry].name, ".start");
    assert!(function(&program, ".start").contains("call run_atexit("), "{}", function(&program, ".start"));
    let exits = program.edges.iter().filter(|e| matches!(e.op, Op::Halt { .. })).count();
    assert_eq!(exits, 1);
    assert!(function(&program, "main").contains("call run_atexit("));
}

#[test]
fn unspecified_parameters_are_fitted_at_the_call() {
    check(
        "int g(); int f(void) { return g(3, 4.0); } int g(a, b, c) int a; float b; int c; { return a; }",
        &[],
        "L0 -> L1: havoc `.0`;
         L1 -> L2: `.1` = call g(3, 4.0, `.0`);
         L2 -> L3: return `.1`;",
    );
}

#[test]
fn long_chains_need_no_deep_stack_and_make_no_deep_expressions() {
    let sum = vec!["x"; 20_000].join(" + ");
    let or = vec!["x > 3"; 5_000].join(" || ");
    let mut ifs = String::new();
    for i in 0..5_000 {
        ifs.push_str(&format!("if (x == {i}) x = {}; else ", i + 1));
    }
    let blocks = format!("{}x = 1;{}", "{".repeat(5000), "}".repeat(5000));
    let source = format!(
        "int main(void) {{ unsigned x = 1; x = {sum}; if ({or}) x = 2; {ifs} x = 0; {blocks} return x; }}"
    );
    let (program, _) = program(&source, &[], DataModel::Lp64);
    let mut depth = vec![0u32; program.exprs.len()];
    for (id, expr) in program.exprs.iter_enumerated() {
        let mut below = 0;
        let (mut exprs, mut places) = (Vec::new(), Vec::new());
        expr.operands(|e| exprs.push(e), |p| places.push(p));
        places.iter().for_each(|p| program.places[*p].operands(|e| exprs.push(e)));
        for e in exprs {
            below = below.max(depth[e.0 as usize]);
        }
        depth[id.0 as usize] = below + 1;
    }
    assert!(depth.iter().max().is_some_and(|d| *d < 200));
}
