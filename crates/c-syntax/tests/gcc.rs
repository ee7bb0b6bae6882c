//! The compiler as the oracle: mutated programs that gcc takes must be taken here, and those in
//! which gcc finds a syntax error must be rejected. Skipped where there is no gcc.

mod common;

use common::read;
use palisade_testkit::Mutator;
use std::process::{Command, Stdio};

/// A program that gcc accepts, with most of the grammar in it and without directives, about
/// whose broken forms the two may differ.
const PROGRAM: &str = r#"
typedef unsigned long size_t;
typedef struct node { int a : 3, b; union { char c[4]; float f; }; struct node *next; }
    __attribute__((packed)) node_t;
static node_t v = { .a = 1, .c = { [0 ... 2] = 'x' }, };
enum e { A = 1, B, C = sizeof(int[3]) };
extern int printf(const char *__restrict fmt, ...) __attribute__((format(printf, 1, 2)));
static inline int f(node_t *p, size_t n, ...) {
    __builtin_va_list ap;
    for (size_t i = 0; i < n; i++) { if (p->a) p = p->next; else if (i) continue; else break; }
    __builtin_va_start(ap, n);
    int z = __builtin_va_arg(ap, int);
    return ({ int t = p ? p->b : -1; t; }) + z;
}
int g(a, b) int a; char *b; {
    switch (a) {
    case A: case 2 ... 5: goto out;
    default: do a--; while (a > 0x10u && *b++ != '\n');
    }
out: __asm__ volatile ("nop" : "=r"(a) : "r"(b) : "memory");
    return _Generic(a, int: 1, default: 2) + __builtin_offsetof(node_t, c[1]);
}
void (*signal(int, void (*)(int)))(int);
__typeof__(1.5e-3f) *x[10][20];
_Static_assert(sizeof(L"ab" "c") == 16, "m");
int main(int argc, char **argv) {
    static void *t[] = { &&l, &&m };
    const size_t node_t = 3;
    unsigned long long int *const volatile q = 0;
    int vla[argc], (*arr)[3] = (int (*)[3])0;
    goto *t[0];
l: m: ;
    size_t w = (size_t)-1 + node_t * argc;
    for (;;) { { int y = (argc, 3); y += y << 2, y >>= 1; if (!y) break; } while (w--) ; }
    return (int){ 3 } ?: 07 ? sizeof argv : sizeof(struct { int k; }) + __alignof__(int);
}
"#;

/// gcc's messages about a text; `None` where there is no gcc.
fn gcc_errors(text: &[u8]) -> Option<String> {
    let mut child = Command::new("gcc")
        .args(["-fsyntax-only", "-w", "-std=gnu11", "-x", "cpp-output", "-"])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    // gcc may stop reading early; what it said is what counts.
    let _ = std::io::Write::write_all(&mut child.stdin.take()?, text);
    let output = child.wait_with_output().ok()?;
    let messages = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { String::new() } else { messages })
}

#[test]
fn gcc_and_the_parser_agree_on_mutated_programs() {
    let corpus = [PROGRAM.as_bytes().to_vec()];
    assert!(read(PROGRAM).diags.is_empty());
    let mut mutator = Mutator::new(&corpus, 3);
    for _ in 0..150 {
        let text = mutator.next_text();
        // Directives and null characters are outside the grammar.
        if text.len() > 20_000 || text.iter().any(|&b| b == b'#' || b == 0) {
            continue;
        }
        let Some(gcc) = gcc_errors(&text) else { return };
        let text = String::from_utf8_lossy(&text);
        let parsed = read(&text);
        let errors: Vec<_> = parsed.diags.iter().filter(|d| d.is_error()).collect();
        if gcc.is_empty() {
            assert!(errors.is_empty(), "gcc accepts\n{text}\n{errors:?}");
        } else if gcc.contains("error: expected") || gcc.contains("error: stray") {
            assert!(!errors.is_empty(), "accepted\n{text}\n{gcc}");
        }
    }
}
