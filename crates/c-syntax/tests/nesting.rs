//! Deep and long inputs: what is bounded gets a clean error, what is not goes through, and
//! neither needs more stack than a test thread has.

use palisade_base::{Diagnostic, SourceMap};
use palisade_c_syntax::{Interner, MAX_EXPR_HEIGHT, MAX_NESTING, MAX_STATEMENT_NESTING, parse};

fn errors(text: String) -> Vec<Diagnostic> {
    let mut map = SourceMap::new();
    let file = map.add("t.c", text).unwrap();
    let (_, diags) = parse(&mut map, file, &mut Interner::new());
    diags.into_iter().filter(|d| d.is_error()).collect()
}

/// `make(n)` nests `n` constructs, each of which may take several levels: a quarter of the limit
/// is read, more than every limit is one error.
fn check_depth(name: &str, make: &dyn Fn(usize) -> String) {
    let limit = MAX_NESTING;
    let shallow = errors(make(limit / 4));
    assert!(shallow.is_empty(), "{name}: {shallow:?}");
    for n in [MAX_EXPR_HEIGHT + 1, limit * 100] {
        let deep = errors(make(n));
        assert_eq!(deep.len(), 1, "{name}: {deep:?}");
        assert!(deep[0].message.contains("nesting too deep"), "{name}: {deep:?}");
    }
    // Just below the limit, wherever it is for this construct, there must be stack enough.
    for n in (0..=limit).step_by(8) {
        errors(make(n));
    }
}

fn wrap(open: &str, n: usize, middle: &str, close: &str) -> String {
    open.repeat(n) + middle + &close.repeat(n)
}

#[test]
fn nested_constructs_are_bounded() {
    type Make = fn(usize) -> String;
    let cases: &[(&str, Make)] = &[
        ("parentheses", |n| format!("int x = {};", wrap("(", n, "1", ")"))),
        ("operands", |n| format!("int x = {};", wrap("1||2&&3|4^5&6==7<8<<9+1*(", n, "1", ")"))),
        ("unary", |n| format!("int x = {}1;", "- ".repeat(n))),
        ("casts", |n| format!("int x = {}1;", "(int)".repeat(n))),
        ("sizeof", |n| format!("int x = {}1;", "sizeof ".repeat(n))),
        ("sizeof types", |n| format!("int x = {};", wrap("sizeof(int[", n, "1", "])"))),
        ("calls", |n| format!("int x = {};", wrap("f(1,", n, "1", ")"))),
        ("call chain", |n| format!("int x = f{};", "()".repeat(n))),
        ("members", |n| format!("int x = s{};", ".m".repeat(n))),
        ("subscripts", |n| format!("int x = {};", wrap("a[", n, "1", "]"))),
        ("conditional then", |n| format!("int x = {};", wrap("1?", n, "1", ":2"))),
        ("conditional else", |n| format!("int x = {}1;", "1?2:".repeat(n))),
        ("assignments", |n| format!("int x = {}1;", "a=".repeat(n))),
        ("generic", |n| format!("int x = {};", wrap("_Generic(1,int:", n, "1", ")"))),
        ("statement expressions", |n| format!("int x = {};", wrap("({", n, "1", ";})"))),
        ("statement expressions in declarations", |n| {
            format!("int x = {};", wrap("({for(;;) if (1) { int y[] = {", n, "1", "};} })"))
        }),
        ("compound literals", |n| format!("int x = {};", wrap("(int){", n, "1", "}"))),
        ("initialisers", |n| format!("int x = {};", wrap("{", n, "1", "}"))),
        ("records", |n| format!("{};", wrap("struct{", n, "int a;", "};"))),
        ("enumerations", |n| format!("{};", wrap("enum{A=sizeof(", n, "1", ")}"))),
        ("typeof", |n| format!("{} x;", wrap("typeof(", n, "int", ")"))),
        ("typeof expressions", |n| format!("{} x;", wrap("typeof((", n, "int", ")0)"))),
        ("declarators", |n| format!("int {};", wrap("(", n, "x", ")"))),
        ("pointers in declarators", |n| format!("int {};", wrap("(*", n, "x", ")"))),
        ("pointers", |n| format!("int {}x;", "*".repeat(n))),
        ("arrays", |n| format!("int x{};", "[1]".repeat(n))),
        ("parameters", |n| format!("int {};", wrap("f(int ", n, "x", ")"))),
        ("parameters of pointers", |n| format!("int f({});", wrap("int (*)(", n, "int", ")"))),
        ("array sizes", |n| format!("int x {};", wrap("[sizeof(int", n, "[1]", ")]"))),
        ("attributes", |n| format!("{} x;", wrap("int __attribute__((aligned(sizeof(", n, "int", "))))"))),
        ("alignas", |n| format!("{} x;", wrap("_Alignas(", n, "int", ") int"))),
        ("atomic", |n| format!("{} x;", wrap("_Atomic(", n, "int", ")"))),
        ("extension", |n| format!("int x = {}1;", "__extension__ ".repeat(n))),
        ("offsetof", |n| format!("int x = {};", wrap("__builtin_offsetof(struct s, a[", n, "1", "])"))),
    ];
    for (name, make) in cases {
        check_depth(name, make);
    }
}

#[test]
fn nested_statements_are_bounded() {
    type Make = fn(usize) -> String;
    let cases: &[(&str, Make)] = &[
        ("blocks", |n| format!("void f(void) {}", wrap("{", n + 1, "", "}"))),
        ("if", |n| format!("void f(void) {{ {} ; }}", "if(1) ".repeat(n))),
        ("if blocks", |n| format!("void f(void) {{ {} }}", wrap("if(1) {", n, "", "}"))),
        ("else blocks", |n| format!("void f(void) {{ {} }}", wrap("if(1) ; else {", n, "", "}"))),
        ("while", |n| format!("void f(void) {{ {} ; }}", "while(1) ".repeat(n))),
        ("for", |n| format!("void f(void) {{ {} ; }}", "for(int i;;) ".repeat(n))),
        ("do", |n| format!("void f(void) {{ {} }}", wrap("do ", n, "g();", " while(1);"))),
        ("switch", |n| format!("void f(void) {{ {} }}", wrap("switch(1) { case 1:", n, "", "}"))),
    ];
    for (name, make) in cases {
        let shallow = errors(make(MAX_STATEMENT_NESTING / 4));
        assert!(shallow.is_empty(), "{name}: {shallow:?}");
        let deep = errors(make(MAX_STATEMENT_NESTING * 10));
        assert_eq!(deep.len(), 1, "{name}: {deep:?}");
        assert!(deep[0].message.contains("nesting too deep"), "{name}: {deep:?}");
    }
}

#[test]
fn long_inputs_are_not_deep_ones() {
    let n = 100_000;
    let cases = [
        ("sums", format!("int x = 1{};", "+1".repeat(n))),
        ("logic", format!("int x = 1{};", "&&1||1".repeat(n))),
        ("commas", format!("int x = (1{});", ",1".repeat(n))),
        ("else if", format!("void f(int x) {{ {} ; }}", "if (x) g(); else ".repeat(n))),
        ("case labels", format!("void f(int x) {{ switch (x) {{ {} ; }} }}", "case 1:".repeat(n))),
        ("labels", format!("void f(int x) {{ {} }}", "a:".repeat(n))),
        ("initialiser", format!("int x[] = {{ {} }};", "1,".repeat(10 * n))),
        ("designators", format!("int x[] = {{ {} }};", "[1] = 1,".repeat(n))),
        ("declarators", format!("int x{};", ",x".repeat(n))),
        ("parameters", format!("int f(int{});", ",int".repeat(n))),
        ("arguments", format!("int x = f(1{});", ",1".repeat(n))),
        ("strings", format!("char *x = {};", "\"a\" ".repeat(n))),
        ("members", format!("struct s {{ {} }};", "int a;".repeat(n))),
        ("enumerators", format!("enum e {{ {} }};", "A,".repeat(n))),
        ("statements", format!("void f(void) {{ {} }}", "g();".repeat(n))),
        ("functions", "int f(int a) { return a; }".repeat(n)),
        ("semicolons", ";".repeat(n)),
        ("attributes", format!("int x {};", "__attribute__((a))".repeat(n))),
        ("specifiers", format!("{} int x;", "const ".repeat(n))),
    ];
    for (name, text) in cases {
        let found = errors(text);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}
