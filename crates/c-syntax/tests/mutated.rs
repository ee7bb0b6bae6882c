//! A short run of mutated programs through the parser; `examples/mutate.rs` does longer ones on
//! real files.

mod common;

use common::read;
use palisade_testkit::Mutator;

/// Small programs that use most of the grammar.
const CORPUS: &[&str] = &[
    "# 1 \"a.c\"\ntypedef unsigned long size_t;\n#pragma pack(push, 1)\nstruct s { int a : 3, b; union { char c[4]; \
     float f; }; struct s *next; } __attribute__((packed)) v = { .a = 1, .c = { [0 ... 2] = 'x' } };\n#pragma pack(pop)\n\
     static inline int f(struct s *p, size_t n, ...) { for (size_t i = 0; i < n; i++) { if (p->a) p = p->next; else if \
     (i) continue; else break; } return ({ int t = p ? p->b : -1; t; }); }\n",
    "enum e { A = 1, B, C = sizeof(int[3]) }; int g(a, b) int a; char *b; { switch (a) { case A: case 2 ... 5: goto \
     out; default: do a--; while (a > 0x10u && *b++ != '\\n'); } out: asm volatile (\"nop\" : \"=r\"(a) : \"r\"(b) : \
     \"memory\"); return _Generic(a, int: 1, default: 2) + __builtin_offsetof(struct s, c[1]); }",
    "void (*signal(int, void (*)(int)))(int); typeof(1.5e-3f) *x[10][20]; _Static_assert(sizeof(L\"é\" \"\\u00e9\") \
     == 12, \"m\"); int main(void) { static void *t[] = { &&l, &&m }; goto *t[0]; l: m: return (int){ 3 } ?: 07; }",
];

#[test]
fn mutated_programs_neither_panic_nor_hang() {
    let corpus: Vec<Vec<u8>> = CORPUS.iter().map(|t| t.as_bytes().to_vec()).collect();
    for text in &corpus {
        let parsed = read(&String::from_utf8_lossy(text));
        assert!(parsed.diags.iter().all(|d| !d.is_error()), "{:?}", parsed.diags);
    }
    let mut mutator = Mutator::new(&corpus, 1);
    let mut rejected = 0;
    for _ in 0..20_000 {
        let text = String::from_utf8_lossy(&mutator.next_text()).into_owned();
        let parsed = read(&text);
        assert!(parsed.diags.iter().all(|d| parsed.map.position(d.span).is_some()), "{text}");
        rejected += u32::from(parsed.diags.iter().any(|d| d.is_error()));
    }
    assert!((10_000..20_000).contains(&rejected), "{rejected}");
}

#[test]
fn every_prefix_of_a_program_is_read() {
    for text in CORPUS {
        for (end, _) in text.char_indices() {
            read(&text[..end]);
        }
    }
}
