//! Every construct, with the tree it must give.

mod common;

use common::{dump, read};
use palisade_base::Span;
use palisade_c_syntax::ast::*;

#[track_caller]
fn check(text: &str, tree: &str) {
    assert_eq!(dump(text), tree, "{text}");
}

/// Checks an expression, in the scope of `typedef int T;`.
#[track_caller]
fn check_expr(text: &str, tree: &str) {
    let all = dump(&format!("typedef int T; int v = {text};"));
    assert_eq!(all, format!("(decl typedef Int T) (decl Int v = {tree})"), "{text}");
}

/// Checks statements, in the scope of `typedef int T;`.
#[track_caller]
fn check_stmts(text: &str, tree: &str) {
    let all = dump(&format!("typedef int T; void f() {{ {text} }}"));
    assert_eq!(all, format!("(decl typedef Int T) (function Void f() {{ {tree} }})"), "{text}");
}

#[test]
fn basic_types_from_keywords_in_any_order() {
    for (text, ty) in [
        ("char", "Char"),
        ("signed char", "SChar"),
        ("char unsigned", "UChar"),
        ("short", "Short"),
        ("int short unsigned", "UShort"),
        ("signed", "Int"),
        ("unsigned", "UInt"),
        ("long", "Long"),
        ("int unsigned long", "ULong"),
        ("long int long", "LongLong"),
        ("unsigned long long int", "ULongLong"),
        ("__int128", "Int128"),
        ("unsigned __int128", "UInt128"),
        ("__uint128_t", "UInt128"),
        ("float", "Float"),
        ("double", "Double"),
        ("double long", "LongDouble"),
        ("_Bool", "Bool"),
        ("_Float128", "Float128"),
        ("__float128", "Float128"),
        ("_Float64x", "Float64x"),
        ("_Complex", "(complex Double)"),
        ("float _Complex", "(complex Float)"),
        ("__complex__ long double", "(complex LongDouble)"),
        ("__signed__ int", "Int"),
        ("__builtin_va_list", "VaList"),
        ("void", "Void"),
    ] {
        check(&format!("extern {text} x;"), &format!("(decl extern {ty} x)"));
    }
}

#[test]
fn specifiers_in_all_spellings_and_orders() {
    check("int static const long volatile x;", "(decl static const volatile Long x)");
    check("static __inline__ _Noreturn void f(void);", "(decl static inline noreturn Void f(proto))");
    check(
        "extern __thread int x; static _Thread_local int y;",
        "(decl extern thread Int x) (decl static thread Int y)",
    );
    check("int *__restrict p, * __const q;", "(decl Int p*(restrict) q*(const))");
    check("_Atomic int a; _Atomic(int) b;", "(decl atomic Int a) (decl (atomic <Int>) b)");
    check("_Alignas(16) _Alignas(double) char c;", "(decl Char (alignas 16) (alignas <Double>) c)");
    check("__extension__ typedef long long ll;", "(decl typedef LongLong ll)");
    check("typeof(1 + 2) x; __typeof__(int *) y;", "(decl (typeof (Add 1 2)) x) (decl (typeof <Int*>) y)");
    check_stmts("__auto_type x = 1;", "(decl AutoType x = 1)");
    check("typedef double _Float64; _Float64 x;", "(decl typedef Double _Float64) (decl Float64 x)");
}

#[test]
fn declarators_read_from_the_name_outwards() {
    check("int *(*f[3])(void);", "(decl Int f[3]*(proto)*)");
    check("int (*(*g)(int))[4];", "(decl Int g*(proto Int _)*[4])");
    check("int ((x)), *(y);", "(decl Int x y*)");
    check("char *const *volatile p;", "(decl Char p*(volatile)*(const))");
    check(
        "int f(int a[static const 3], int b[*], int [], int (*)(int), ...);",
        "(decl Int f(proto Int a[const static 3] Int b[*] Int _[] Int _*(proto Int _) ...))",
    );
    check(
        "void (*signal(int s, void (*h)(int)))(int);",
        "(decl Void signal(proto Int s Void h*(proto Int _))*(proto Int _))",
    );
    check("int a[2][3], z[0], e[];", "(decl Int a[2][3] z[0] e[])");
    check("int f(void), g();", "(decl Int f(proto) g())");
}

#[test]
fn a_typedef_name_in_a_parameter_is_a_type() {
    check(
        "typedef int T; int f(int (T), int T);",
        "(decl typedef Int T) (decl Int f(proto Int _(proto type:T _) Int T))",
    );
}

#[test]
fn records() {
    check(
        "struct s { int a, *b; unsigned c : 3, : 0, d:1; };",
        "(decl (struct s { [Int a b*] [UInt c : 3 _ : 0 d : 1] }))",
    );
    check(
        "union { struct { int x; }; int y[]; } u;",
        "(decl (union { [(struct { [Int x] })] [Int y[]] }) u)",
    );
    check("struct {} e; struct s *p;", "(decl (struct { }) e) (decl (struct s) p*)");
    check(
        "struct __attribute__((packed)) s { char c; ; int i __attribute__((aligned(2))); } __attribute__((__aligned__(8))) v;",
        "(decl (struct s { [Char c] [Int i @aligned 2] } @packed @aligned 8) v)",
    );
    check(
        "struct s { _Static_assert(1, \"m\"); int a; };",
        "(decl (struct s { (static-assert 1 \"m\") [Int a] }))",
    );
    check(
        "struct s { __extension__ union { int a; }; const int *b; };",
        "(decl (struct s { [(union { [Int a] })] [const Int b*] }))",
    );
    check(
        "#pragma pack(push, 1)\nstruct s { int a; };\n#pragma pack(pop)\nstruct t { int a; };",
        "(decl (struct s { [Int a] } pack:1)) (decl (struct t { [Int a] }))",
    );
    check(
        "typedef int T; struct s { T T; }; T x;",
        "(decl typedef Int T) (decl (struct s { [type:T T] })) (decl type:T x)",
    );
}

#[test]
fn enumerations() {
    check(
        "enum e { A, B = 3, C __attribute__((unused)) = A, }; enum e x;",
        "(decl (enum e { A B = 3 C = A })) (decl (enum e) x)",
    );
    check("enum __attribute__((packed)) { Z } y;", "(decl (enum { Z } @packed) y)");
}

#[test]
fn function_definitions() {
    check("int main(void) { return 0; }", "(function Int main(proto) { (return 0) })");
    check("main() { }", "(function ImplicitInt main() { })");
    check(
        "static f(a, b) char *b; int a, c; { }",
        "(function static ImplicitInt f(knr a b) (decl Char b*) (decl Int a c) { })",
    );
    check("int (*f(void))[3] { }", "(function Int f(proto)*[3] { })");
    check(
        "void __attribute__((noreturn)) f(void) __attribute__((cold));",
        "(decl Void @noreturn f(proto) @cold)",
    );
    check("void f(int x __attribute__((unused))) { }", "(function Void f(proto Int x @unused) { })");
    check(
        "int f(void) __asm__(\"real_f\") __attribute__((nothrow));",
        "(decl Int f(proto) (asm \"real_f\") @nothrow)",
    );
    check("asm(\".globl x\"); ; _Static_assert(1);", "(asm \".globl x\") (static-assert 1)");
    check("", "");
}

#[test]
fn attributes_wherever_gcc_takes_them() {
    check("int __attribute__((mode(SI))) x;", "(decl Int @mode 'SI x)");
    check("__attribute__((section(\"a\" \"b\"), , const)) int x;", "(decl Int @section \"ab\" @const x)");
    check("int x __attribute__((aligned)), __attribute__((a)) y;", "(decl Int x @aligned y @a)");
    check("int * __attribute__((b)) p; int (__attribute__((c)) *q);", "(decl Int p*(@b)) (decl Int q* @c)");
    check(
        "void p(const char *, ...) __attribute__((format(__printf__, 1, 2)));",
        "(decl Void p(proto const Char _* ...) @format '__printf__ 1 2)",
    );
    check("int x __attribute__((aligned(sizeof(int) * 2)));", "(decl Int x @aligned (Mul (sizeof <Int>) 2))");
    check(
        "[[noreturn]] void f(void); [[gnu::packed]] int x;",
        "(decl Void @noreturn f(proto)) (decl Int @packed x)",
    );
    check_stmts(
        "switch (1) { case 1: __attribute__((fallthrough)); default: ; }",
        "(switch 1 { (case 1: ;) (default: ;) })",
    );
    check_stmts("out: __attribute__((unused)); return;", "(out @unused: ;) (return -)");
    check_stmts(
        "__attribute__((unused)) int x; __attribute__((unused)) T y;",
        "(decl Int @unused x) (decl type:T @unused y)",
    );
}

#[test]
fn initialisers() {
    check(
        "int a[] = { 1, [3] = 2, [4 ... 6] = 3, [1][2] = 4, };",
        "(decl Int a[] = { 1 [3]=2 [4 ... 6]=3 [1][2]=4 })",
    );
    check(
        "struct s v = { .a = 1, .b.c[2] = { 3 }, d: 4, [0] 5 };",
        "(decl (struct s) v = { .a=1 .b.c[2]={ 3 } .d=4 [0]=5 })",
    );
    check(
        "struct s v = {}; char c[] = \"x\", d[] = { \"y\" };",
        "(decl (struct s) v = { }) (decl Char c[] = \"x\" d[] = { \"y\" })",
    );
}

#[test]
fn operators_bind_as_in_c() {
    check_expr("a + b * c - d", "(Sub (Add a (Mul b c)) d)");
    check_expr(
        "a || b && c | d ^ e & f == g < h << i + j * k",
        "(Or a (And b (BitOr c (BitXor d (BitAnd e (Eq f (Lt g (Shl h (Add i (Mul j k))))))))))",
    );
    check_expr(
        "a * b + c << d < e == f & g ^ h | i && j || k",
        "(Or (And (BitOr (BitXor (BitAnd (Eq (Lt (Shl (Add (Mul a b) c) d) e) f) g) h) i) j) k)",
    );
    check_expr("a - b - c / d % e", "(Sub (Sub a b) (Rem (Div c d) e))");
    check_expr("a = b += c ? d : e ? f : g", "(= a (Add= b (? c d (? e f g))))");
    check_expr("a ?: b", "(? a - b)");
    check_expr("a ? b, c : d", "(? a (, b c) d)");
    check_expr("(a, b, c)", "(, (, a b) c)");
    check_expr("-a * !b", "(Mul (Neg a) (Not b))");
    check_expr("*p++ + ++*q - -~r", "(Sub (Add (Deref (PostInc p)) (PreInc (Deref q))) (Neg (BitNot r)))");
    check_expr("&a[1].b->c", "(AddrOf (-> (. (index a 1) b) c))");
    check_expr("f(1, (2, 3))(x)--", "(PostDec (call (call f 1 (, 2 3)) x))");
    check_expr("a <= b != c >= d > e", "(Ne (Le a b) (Gt (Ge c d) e))");
    check_expr("a >> b * (c + d)", "(Shr a (Mul b (Add c d)))");
    check_expr(
        "x <<= y >>= z &= w ^= v |= u %= t /= s *= r -= q",
        "(Shl= x (Shr= y (BitAnd= z (BitXor= w (BitOr= v (Rem= u (Div= t (Mul= s (Sub= r q)))))))))",
    );
}

#[test]
fn casts_and_types_in_expressions() {
    check_expr("(T) -x", "(cast <type:T> (Neg x))");
    check_expr("(x) - y", "(Sub x y)");
    check_expr("(T)(x)(y)", "(cast <type:T> (call x y))");
    check_expr("(int (*)(void)) p", "(cast <Int*(proto)> p)");
    check_expr("sizeof (T) * 2", "(Mul (sizeof <type:T>) 2)");
    check_expr("sizeof x++", "(sizeof (PostInc x))");
    check_expr("sizeof (x)[1]", "(sizeof (index x 1))");
    check_expr("sizeof (T){1}.a", "(sizeof (. (literal <type:T> { 1 }) a))");
    check_expr("sizeof(int[3])", "(sizeof <Int[3]>)");
    check_expr("_Alignof(double) + __alignof__ x", "(Add (alignof false <Double>) (alignof true x))");
    check_expr("&(struct s){ .a = 1 }", "(AddrOf (literal <(struct s)> { .a=1 }))");
    check_expr("(const char[]){ \"x\" }[0]", "(index (literal <const Char[]> { \"x\" }) 0)");
    check_expr("_Generic(x, int: 1, T *: 2, default: 3)", "(generic x <Int>: 1 <type:T*>: 2 default: 3)");
    check_expr("__builtin_offsetof(struct s, a.b[2].c)", "(offsetof <(struct s)> .a.b[2].c)");
    check_expr("__builtin_types_compatible_p(int, T)", "(compatible <Int> <type:T>)");
    check_expr("__builtin_choose_expr(1, a, b)", "(choose 1 a b)");
    check_expr("__builtin_va_arg(ap, T *)", "(va-arg ap <type:T*>)");
    check_expr("__extension__ ({ 1; })", "(stmt-expr { 1 })");
    check_expr("({ int x = 1; x; }) + 1", "(Add (stmt-expr { (decl Int x = 1) x }) 1)");
    check_expr("&&lab", "(label-addr lab)");
    check_expr("__real__ x + __imag x", "(Add (Real x) (Imag x))");
}

#[test]
fn literals() {
    check_expr("0x7fUL + 017 + 0b11 + 12ll", "(Add (Add (Add 127ul 15) 3) 12ll)");
    check_expr("1.5f", "1.5F");
    check_expr("0x1p-3", "0x1p-3None");
    check_expr("'a' + L'b' + '\\n' + '\\377'", "(Add (Add (Add '97 '98) '10) '-1)");
    check_expr("\"a\\0\" \"1\" \"\\x41\" \"g\"", "\"a\\x001Ag\"");
    check_expr("L\"a\" \"é\"", "L[61, e9]");
    check_expr("\"a\" u8\"é\"", "u8\"a\\xc3\\xa9\"");
    check_expr("u\"😀\"", "u[d83d, de00]");
    check_expr("U\"\\xffffffff\"", "U[ffffffff]");
}

#[test]
fn statements() {
    check_stmts("if (a) if (b) c; else d;", "(if a (if b c d))");
    check_stmts("if (a) b; else if (c) d; else if (e) f; else { g; }", "(if a b (if c d (if e f { g })))");
    check_stmts("while (1) ;", "(while 1 ;)");
    check_stmts("do x++; while (x < 3);", "(do (PostInc x) (Lt x 3))");
    check_stmts("do if (a) b; else do c; while (d); while (e);", "(do (if a b (do c d)) e)");
    check_stmts("for (;;) break;", "(for - - - break)");
    check_stmts(
        "for (int i = 0, j; i < 3; i++, j++) continue;",
        "(for (decl Int i = 0 j) (Lt i 3) (, (PostInc i) (PostInc j)) continue)",
    );
    check_stmts("for (x = 0; ; ) {}", "(for (= x 0) - - { })");
    check_stmts(
        "switch (x) { case 1: case 2 ... 5: a; default: l: b; }",
        "(switch x { (case 1: case 2 ... 5: a) (default: l: b) })",
    );
    check_stmts("switch (x) while (1) { case 1: y; }", "(switch x (while 1 { (case 1: y) }))");
    check_stmts("goto l; goto *p; l: m: ;", "(goto l) (goto* p) (l: m: ;)");
    check_stmts("{ end: }", "{ (end: ;) }");
    check_stmts("case 1: int y; y;", "(case 1: (decl Int y)) y");
    check_stmts("__label__ a, b; a: b: ;", "(local a b) (a: b: ;)");
    check_stmts("return; return (1);", "(return -) (return 1)");
    check_stmts("_Static_assert(1, \"m\"); ;", "(static-assert 1 \"m\") ;");
    check_stmts(
        "asm(\"nop\"); __asm__ volatile (\"a\" \"b\" : \"=r\"(x), [n] \"+m\"(y) : \"r\"(1) : \"memory\", \"cc\");",
        "(asm \"nop\" (out) (in) (clobber) (labels)) (asm volatile \"ab\" (out \"=r\" x [n]\"+m\" y) (in \"r\" 1) (clobber \"memory\" \"cc\") (labels))",
    );
    check_stmts(
        "asm goto (\"j\" : : \"i\"(1) : : out, in); asm(\"x\"::);",
        "(asm goto \"j\" (out) (in \"i\" 1) (clobber) (labels out in)) (asm \"x\" (out) (in) (clobber) (labels))",
    );
}

#[test]
fn typedef_names_follow_scopes() {
    check_stmts("T * x;", "(decl type:T x*)");
    check_stmts("int T; T * x;", "(decl Int T) (Mul T x)");
    check_stmts("{ int T = 1; T * x; } T * y;", "{ (decl Int T = 1) (Mul T x) } (decl type:T y*)");
    check_stmts("T T = sizeof(T); T + 1;", "(decl type:T T = (sizeof T)) (Add T 1)");
    check_stmts("T: ; goto T;", "(T: ;) (goto T)");
    check_stmts(
        "x = (T) + 1; int T; x = (T) + 1;",
        "(= x (cast <type:T> (Plus 1))) (decl Int T) (= x (Add T 1))",
    );
    check_stmts("enum { T }; T * x;", "(decl (enum { T })) (Mul T x)");
    check_stmts(
        "for (int T = 0; T * x; ) T * y; T * z;",
        "(for (decl Int T = 0) (Mul T x) - (Mul T y)) (decl type:T z*)",
    );
    check_stmts(
        "typedef char U; U * u; s.T; s->T;",
        "(decl typedef Char U) (decl type:U u*) (. s T) (-> s T)",
    );
    check_stmts("const T; unsigned T; T * x;", "(decl const type:T) (decl UInt T) (Mul T x)");
    check_stmts("int f(int T); T * x;", "(decl Int f(proto Int T)) (decl type:T x*)");
    check(
        "typedef int T; void f(int T) { T * x; } T y;",
        "(decl typedef Int T) (function Void f(proto Int T) { (Mul T x) }) (decl type:T y)",
    );
    check(
        "typedef int T; void f(a, T) int T, a; { T * x; }",
        "(decl typedef Int T) (function Void f(knr a T) (decl Int T a) { (Mul T x) })",
    );
}

#[test]
fn several_files_share_symbols() {
    let mut map = palisade_base::SourceMap::new();
    let mut interner = palisade_c_syntax::Interner::new();
    let mut names = Vec::new();
    for text in ["typedef int shared;", "int shared;"] {
        let file = map.add("t.c", text.into()).unwrap();
        let (unit, diags) = palisade_c_syntax::parse(&mut map, file, &mut interner);
        // A typedef of one file does not reach into the next.
        assert!(diags.is_empty(), "{diags:?}");
        let declarator = &unit.decls[DeclId(0)].declarators[0].declarator;
        let name = declarator.name.unwrap();
        assert_eq!(map.snippet(name.span), Some("shared"));
        names.push(name.name);
    }
    assert_eq!(names[0], names[1]);
}

#[test]
fn positions_of_keywords_questions_and_parentheses() {
    let text = "int f(int x) { do { x = x ? g(x, 1) : (x + 2); } while (x); }";
    let parsed = read(text);
    let at = |needle: &str| text.find(needle).unwrap() as u32;
    for stmt in &parsed.unit.stmts {
        match stmt.kind {
            StmtKind::DoWhile { while_pos, .. } => {
                assert_eq!(while_pos, at("while"));
                assert_eq!(
                    stmt.span,
                    Span::new(at("do"), at(" }") + text[at(" }") as usize..].len() as u32 - 2)
                );
            }
            StmtKind::Expr(_) => assert_eq!(stmt.span, Span::new(at("x = x"), at("; }") + 1)),
            _ => {}
        }
    }
    for expr in &parsed.unit.exprs {
        match expr.kind {
            ExprKind::Conditional { question, .. } => assert_eq!(question, at("?")),
            ExprKind::Call { rparen, .. } => assert_eq!(rparen, at(") :")),
            ExprKind::Binary { op_pos, .. } => {
                assert_eq!(op_pos, at("+"));
                assert_eq!(parsed.map.snippet(expr.span), Some("(x + 2)"));
            }
            ExprKind::Assign { op_pos, .. } => assert_eq!(op_pos, at("=")),
            _ => {}
        }
    }
}

#[test]
fn line_markers_give_original_positions() {
    let parsed = read("# 1 \"a.c\"\nint x;\n# 40 \"inc/b.h\" 1\nint y\n# 3 \"a.c\" 2\nint z;\n");
    let error = parsed.diags.iter().find(|d| d.is_error()).unwrap();
    let at = parsed.map.position(error.span).unwrap();
    assert_eq!((&*at.file, at.line, at.column), ("inc/b.h", 40, 5));
    assert_eq!(parsed.unit.items.len(), 3);
}
