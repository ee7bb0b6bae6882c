//! What the parser says about malformed programs, where it says it, and that it goes on.

mod common;

use common::read;
use std::process::{Command, Stdio};

/// Programs with the errors they must get, as `line:column message`.
const CASES: &[(&str, &[&str])] = &[
    ("int x = 1\nint y;", &["1:9 expected `;` after the declaration, found `int`"]),
    ("int x", &["1:5 expected `;` after the declaration, found end of file"]),
    ("int x y;", &["1:7 expected `=`, `,` or `;` after the declarator, found `y`"]),
    ("int 5;", &["1:5 expected identifier or `(`, found `5`"]),
    ("int a[3;", &["1:8 expected `]` after the array size, found `;`"]),
    ("int f(int a, ;", &["1:14 expected a parameter declaration, found `;`"]),
    ("int f(int a b);", &["1:13 expected `)` or `,` in the parameter list, found `b`"]),
    ("foo_t x; foo_t y;", &["1:1 unknown type name `foo_t`"]),
    ("int f(foo_t *x) { return 0; }", &["1:7 unknown type name `foo_t`"]),
    ("void f(void) { foo_t x; }", &["1:16 unknown type name `foo_t`"]),
    ("short float x;", &["1:1 `short float` is not a type"]),
    ("long char x;", &["1:1 `long char` is not a type"]),
    ("unsigned signed x;", &["1:10 `signed` does not fit to the type specifiers before it"]),
    ("long long long x;", &["1:11 `long` does not fit to the type specifiers before it"]),
    (
        "struct s { int a; } int x;",
        &["1:21 expected `;` or a declarator after the `struct` or `union`, found `int`"],
    ),
    ("static extern int x;", &["1:8 more than one storage class in the declaration"]),
    ("struct { int a b }; int x;", &["1:16 expected `;` after the member, found `b`"]),
    ("struct s { static int a; };", &["1:12 storage class `static` in a member"]),
    ("struct s { int a; } x, ;", &["1:24 expected identifier or `(`, found `;`"]),
    ("struct ;", &["1:8 expected a tag or `{` after `struct`, found `;`"]),
    ("enum e { A B };", &["1:12 expected `,` or `}` after the enumeration constant, found `B`"]),
    ("enum e { A, 1 };", &["1:13 expected identifier as an enumeration constant, found `1`"]),
    ("int x = ;", &["1:9 expected an expression, found `;`"]),
    ("typedef int T; int x = 1 + T;", &["1:28 expected an expression, found the type name `T`"]),
    ("int x = 1 + ;", &["1:13 expected an expression, found `;`"]),
    ("int x = (1 + 2;", &["1:15 expected `)` to match `(`, found `;`"]),
    ("int x = { 1, 2;", &["1:15 expected `}` or `,` in the initialiser list, found `;`"]),
    ("int x = 08;", &["1:9 invalid digit `8` in octal constant"]),
    ("int x = 1.5e;", &["1:9 exponent has no digits"]),
    ("int x = 12abc;", &["1:9 invalid suffix `abc` on integer constant"]),
    ("int x = '';", &["1:9 empty character constant"]),
    (
        "int x = 'a;\nint y;",
        &["1:9 unterminated character constant", "1:11 expected `;` after the declaration, found `int`"],
    ),
    (
        "char *s = \"ab\nc\";",
        &[
            "1:11 unterminated string literal",
            "1:13 expected `;` after the declaration, found `c`",
            "2:2 unterminated string literal",
            "2:2 expected `=`, `,` or `;` after the declarator, found string literal",
        ],
    ),
    ("char *s = \"\\xz\";", &["1:11 `\\x` used with no following hex digits"]),
    ("char *s = L\"a\" u\"b\";", &["1:16 string literals with different prefixes cannot be joined"]),
    ("/* int x;", &["1:1 unterminated comment"]),
    (
        "int x @ y;",
        &[
            "1:7 stray character `@` in program",
            "1:9 expected `=`, `,` or `;` after the declarator, found `y`",
        ],
    ),
    ("}", &["1:1 extraneous `}` outside any block"]),
    (
        "int f(void) { } }\nint g(void) { return 1 }",
        &["1:17 extraneous `}` outside any block", "2:24 expected `;` after `return`, found `}`"],
    ),
    ("int f(void) {", &["1:14 expected `}`, found end of file"]),
    ("void f(void) { if x; }", &["1:19 expected `(` after `if`, found `x`"]),
    (
        "void f(void) { if (x y) z; a b; }",
        &["1:22 expected `)` after the condition, found `y`", "1:28 unknown type name `a`"],
    ),
    ("void f(void) { if (x) }", &["1:23 expected an expression, found `}`"]),
    ("void f(void) { else ; }", &["1:16 `else` without `if`"]),
    ("void f(void) { if (1) int x; }", &["1:23 a declaration is not allowed here; enclose it in braces"]),
    ("void f(void) { while (1 { } }", &["1:25 expected `)` after the condition, found `{`"]),
    (
        "void f(void) { for (i = 0; i < ; i++) { a( } for (i) ; }",
        &[
            "1:32 expected an expression, found `;`",
            "1:44 expected an expression, found `}`",
            "1:52 expected `;` after the first part of `for`, found `)`",
        ],
    ),
    ("void f(void) { do x; }", &["1:22 expected `while` after the body of `do`, found `}`"]),
    ("void f(void) { switch (1) { case 1 2: ; } }", &["1:36 expected `:` after the `case` value, found `2`"]),
    ("void f(void) { goto 1; }", &["1:21 expected identifier or `*` after `goto`, found `1`"]),
    ("void f(void) { g(1, 2; }", &["1:22 expected `,` or `)` in the call, found `;`"]),
    (
        "void f(void) { a[1; b.; c->2; }",
        &[
            "1:19 expected `]` after the subscript, found `;`",
            "1:23 expected identifier as the member's name, found `;`",
            "1:28 expected identifier as the member's name, found `2`",
        ],
    ),
    (
        "void f(void) { x = 1\n  y = 2;\n  return 3\n}",
        &["1:20 expected `;` after the expression, found `y`", "3:10 expected `;` after `return`, found `}`"],
    ),
    ("int f(a, b) int a { return a; }", &["1:19 expected `=`, `,` or `;` after the declarator, found `{`"]),
    ("int f(int a) int b; { }", &["1:14 expected `=`, `,` or `;` after the declarator, found `int`"]),
    ("int x __attribute__((aligned(4));", &["1:33 expected `)` to close `__attribute__`, found `;`"]),
    ("int x = _Generic(1);", &["1:19 expected `,` and an association in `_Generic`, found `)`"]),
    ("int x = sizeof(int;", &["1:19 expected `)` after the type name, found `;`"]),
    ("int x = a ? b;", &["1:14 expected `:` of the conditional operator, found `;`"]),
    ("_Static_assert(1, 2);", &["1:19 expected string literal as the assertion's message, found `2`"]),
    ("struct s v = { .a 1 };", &["1:19 expected `=` after the designation, found `1`"]),
    ("void f(void) { asm(1); }", &["1:20 expected string literal as the assembler template, found `1`"]),
    ("# 5 \"x.h\" 1\nint ]", &["5:5 expected identifier or `(`, found `]`"]),
    (
        "#include <x.h>\nint x;",
        &["1:1 preprocessor directive `#include` in text that should be preprocessed"],
    ),
];

/// Legal C, or GNU C, that is not supported and must say so.
const UNSUPPORTED: &[(&str, &str)] =
    &[("int x = __builtin_has_attribute(x, packed);", "1:9 `__builtin_has_attribute` is not supported")];

fn messages(text: &str) -> Vec<String> {
    let parsed = read(text);
    let errors = parsed.diags.iter().filter(|d| d.is_error());
    let describe = |d: &palisade_base::Diagnostic| {
        let at = parsed.map.position(d.span).unwrap();
        format!("{}:{} {}", at.line, at.column, d.message)
    };
    errors.map(describe).collect()
}

#[test]
fn every_error_has_its_place_and_names_what_was_expected() {
    let mut wrong = String::new();
    for (text, expected) in CASES {
        let found = messages(text);
        if found != *expected {
            wrong += &format!("\n{text}\n  expected {expected:#?}\n  found {found:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn unsupported_constructs_are_named() {
    for (text, expected) in UNSUPPORTED {
        assert_eq!(messages(text), [*expected], "{text}");
    }
}

/// Whether gcc takes a text; `None` where there is no gcc.
fn gcc_accepts(text: &str) -> Option<bool> {
    let mut child = Command::new("gcc")
        .args(["-fsyntax-only", "-w", "-x", "cpp-output", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    std::io::Write::write_all(child.stdin.as_mut()?, text.as_bytes()).ok()?;
    Some(child.wait().ok()?.success())
}

#[test]
fn gcc_rejects_the_malformed_programs_too() {
    // The directive is the one thing that gcc's preprocessed mode takes in silence.
    let texts = CASES.iter().map(|c| c.0).filter(|t| !t.starts_with('#'));
    let accepted: Vec<&str> = texts.filter(|t| gcc_accepts(t) == Some(true)).collect();
    assert!(accepted.is_empty(), "{accepted:#?}");
    for (text, _) in UNSUPPORTED {
        assert_ne!(gcc_accepts(text), Some(false), "{text}");
    }
}

#[test]
fn old_habits_get_a_warning_only() {
    for (text, expected) in [
        ("main() { return 0; }", "type of `main` defaults to `int`"),
        ("static x;", "type of `x` defaults to `int`"),
        ("int f(register x) { return x; }", "type of `x` defaults to `int`"),
        ("struct s { int a };", "no semicolon at the end of the `struct` or `union`"),
        ("int x = 99999999999999999999;", "integer constant is too large for its type"),
        ("int x = 'abcde';", "character constant too long for its type"),
        ("char *s = \"\\q\";", "unknown escape sequence `\\q`"),
        ("char *s = \"\\400\";", "octal escape sequence out of range"),
        ("int x;\0", "null character ignored"),
    ] {
        let parsed = read(text);
        let all: Vec<_> = parsed.diags.iter().map(|d| (d.is_error(), d.message.as_str())).collect();
        assert_eq!(all, [(false, expected)], "{text}");
    }
}

#[test]
fn the_number_of_errors_is_capped() {
    let all = messages(&"int x = ;\n".repeat(1000));
    assert_eq!(all.len(), 51);
    assert!(all[50].ends_with("too many errors, giving up"));
    let stray = messages(&"@ ".repeat(100_000));
    assert!(stray.len() <= 101, "{}", stray.len());
}

#[test]
fn items_around_an_error_are_kept() {
    let parsed = read("int a; int b = ; int c; struct s { int x y; int z; } d; void f() { ( } int e;");
    let names: Vec<&str> = parsed
        .unit
        .decls
        .iter()
        .flat_map(|d| &d.declarators)
        .map(|d| parsed.interner.name(d.declarator.name.unwrap().name))
        .collect();
    assert_eq!(names, ["a", "c", "d", "e"]);
}

#[test]
fn an_unclosed_brace_is_shown_with_its_opening() {
    let parsed = read("void f(void) {\n  if (1) {\n  }\n");
    assert_eq!(parsed.diags.len(), 1);
    let (span, note) = &parsed.diags[0].notes[0];
    assert_eq!(note, "to match this `{`");
    assert_eq!(span.unwrap().lo, 13);
}
