//! The shape of the typed program: what lowering relies on.

mod common;

use common::{MODELS, check, errors, has_warning, image_bytes};
use palisade_c_syntax::Interner;
use palisade_c_types::tast::*;
use palisade_c_types::types::{ArrayLen, CType, IntKind, TypeTable};
use palisade_cfa::{DataModel, IntTy};

struct Checked {
    program: TypedProgram,
    names: Interner,
}

impl Checked {
    fn new(texts: &[&str], model: DataModel) -> Checked {
        let (program, diags, names) = check(texts, model);
        let errors: Vec<_> = diags.iter().filter(|d| d.is_error()).collect();
        assert!(errors.is_empty(), "{texts:?}: {errors:?}");
        Checked { program, names }
    }
    fn objects(&self, name: &str) -> Vec<&Object> {
        let named = |o: &&Object| o.name.is_some_and(|n| self.names.name(n) == name);
        self.program.objects.iter().filter(named).collect()
    }
    fn object(&self, name: &str) -> &Object {
        let found = self.objects(name);
        assert_eq!(found.len(), 1, "objects named {name}");
        found[0]
    }
    fn funcs(&self, name: &str) -> Vec<&Func> {
        self.program.funcs.iter().filter(|f| self.names.name(f.name) == name).collect()
    }
    fn func(&self, name: &str) -> &Func {
        let found = self.funcs(name);
        assert_eq!(found.len(), 1, "functions named {name}");
        found[0]
    }
    /// The statements of a function's body.
    fn body(&self, name: &str) -> &[TStmtId] {
        let body = self.func(name).body.as_ref().expect("the function has a body");
        match &self.program.stmts[body.body].kind {
            TStmtKind::Block { stmts, .. } => stmts,
            other => panic!("a body is a block, not {other:?}"),
        }
    }
    fn stmt(&self, id: TStmtId) -> &TStmtKind {
        &self.program.stmts[id].kind
    }
    fn kind(&self, id: TExprId) -> &TExprKind {
        &self.program.exprs[id].kind
    }
    fn ty(&self, id: TExprId) -> CType {
        self.program.types.get(self.program.exprs[id].ty.ty)
    }
    /// The value that a function's last statement returns.
    fn returned(&self, name: &str) -> TExprId {
        match self.stmt(*self.body(name).last().expect("the body is not empty")) {
            TStmtKind::Return(Some(e)) => *e,
            other => panic!("{name} ends with {other:?}"),
        }
    }
    /// The initialiser of the only declaration of a local.
    fn plan(&self, name: &str) -> &InitPlan {
        let init = self.program.stmts.iter().find_map(|s| match s.kind {
            TStmtKind::Decl { obj, init } => {
                let object = &self.program.objects[obj];
                object.name.is_some_and(|n| self.names.name(n) == name).then_some(init?)
            }
            _ => None,
        });
        &self.program.inits[init.expect("the local has an initialiser")]
    }
}

fn one(text: &str) -> Checked {
    Checked::new(&[text], DataModel::Lp64)
}

#[test]
fn files_are_linked_by_name() {
    let a = "extern int shared[]; static int mine = 1; int common; int get(void); static int helper(void) \
             { return 1; } int main(void) { return shared[1] + mine + get() + helper(); }";
    let b = "int shared[4] = { 1, 2 }; static int mine = 2; int common; static int helper(void) { return 2; } \
             int get(void) { return mine + common + helper(); }";
    for texts in [[a, b], [b, a]] {
        let c = Checked::new(&texts, DataModel::Ilp32);
        assert_eq!(c.objects("mine").len(), 2);
        assert!(c.objects("mine").iter().all(|o| o.linkage == Linkage::Internal));
        assert_eq!(c.funcs("helper").len(), 2);
        assert!(c.func("get").body.is_some());
        let shared = c.object("shared");
        let CType::Array(_, len) = c.program.types.get(shared.ty.ty) else { panic!("an array") };
        assert_eq!(len, ArrayLen::Known(4));
        assert_eq!(image_bytes(&c.program, shared).unwrap()[..8], [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(c.object("common").image, Some(Image::default()));
    }
    let undefined = one("extern int x; int f(void) { return x; }");
    assert_eq!(undefined.object("x").image, None);
    let hidden = ["struct s; extern struct s x; struct s *p = &x;", "struct s { int a; } x = { 1 };"];
    let c = Checked::new(&hidden, DataModel::Lp64);
    assert_eq!(c.program.types.size_of(c.object("x").ty.ty), Some(4));
    let twice = ["int x = 1;", "int x = 2;"];
    assert!(check(&twice, DataModel::Lp64).1.iter().any(|d| d.is_error()));
    let functions = ["int f(void) { return 1; }", "int f(void) { return 2; }"];
    assert!(check(&functions, DataModel::Lp64).1.iter().any(|d| d.is_error()));
    let records = "typedef struct { int a; } t; struct s { t x; }; t g(struct s, t *);";
    let first = format!("{records} t g(struct s s, t *p) {{ return s.x; }}");
    let second = format!("{records} int main(void) {{ struct s s; t y; y = g(s, &y); return y.a; }}");
    Checked::new(&[&first, &second], DataModel::Lp64);
}

#[test]
fn tentative_definitions_and_their_types() {
    let c = one("int a[]; int b[]; int b[7]; struct s x; struct s { int y; };");
    assert_eq!(c.program.types.size_of(c.object("a").ty.ty), Some(4));
    assert_eq!(c.program.types.size_of(c.object("b").ty.ty), Some(28));
    assert_eq!(c.program.types.size_of(c.object("x").ty.ty), Some(4));
}

#[test]
fn conversions_are_explicit() {
    let c = one("char c; unsigned short s; int f(void) { c += 1.5; return c + s; }");
    let TStmtKind::Expr(e) = *c.stmt(c.body("f")[0]) else { panic!("a statement") };
    let TExprKind::CompoundAssign { op: ArithOp::Add, computation, .. } = *c.kind(e) else {
        panic!("a compound assignment")
    };
    assert_eq!(computation, TypeTable::DOUBLE);
    let TExprKind::Binary { op: ArithOp::Add, lhs, rhs } = *c.kind(c.returned("f")) else { panic!("a sum") };
    for operand in [lhs, rhs] {
        let TExprKind::Convert(inner) = *c.kind(operand) else { panic!("a conversion") };
        assert_eq!(c.ty(operand), CType::Int(IntKind::Int));
        assert!(matches!(c.kind(inner), TExprKind::Load(_)));
    }
}

#[test]
fn bit_fields_have_types_of_their_width() {
    let c = one("struct { unsigned a : 3; long long b : 40; _Bool c : 1; int d : 32; } s;\
                 long f(void) { return s.a; } long g(void) { return s.b; } int h(void) { return s.d; }");
    let loaded = |name| {
        let mut e = c.returned(name);
        while let TExprKind::Convert(inner) = *c.kind(e) {
            e = inner;
        }
        c.ty(e)
    };
    assert_eq!(loaded("f"), CType::BitField(IntTy { bits: 3, signed: false }));
    assert_eq!(loaded("g"), CType::BitField(IntTy { bits: 40, signed: true }));
    assert_eq!(loaded("h"), CType::Int(IntKind::Int));
}

#[test]
fn places_keep_their_path() {
    let c = one("struct s { int a[3][4]; } *p; int f(int i, int j) { return p->a[i][j]; }");
    let TExprKind::Load(place) = *c.kind(c.returned("f")) else { panic!("a load") };
    let TExprKind::Index { base, .. } = *c.kind(place) else { panic!("[j]") };
    let TExprKind::Index { base, .. } = *c.kind(base) else { panic!("[i]") };
    let TExprKind::Member { base, field: 0 } = *c.kind(base) else { panic!("->a") };
    assert!(matches!(c.kind(base), TExprKind::Deref(_)));
    assert!(c.program.is_lvalue(place));
}

#[test]
fn constants_are_folded_but_undefined_behaviour_stays() {
    let c = one("int f(void) { return 2 * 3 + sizeof(int); } int g(void) { return 2147483647 + 1; }\
                 int h(void) { return 1 / 0; } int k(void) { return 1 ? 5 : 1 / 0; }");
    assert!(matches!(c.kind(c.returned("f")), TExprKind::Int(10)));
    assert!(matches!(c.kind(c.returned("g")), TExprKind::Binary { .. }));
    assert!(matches!(c.kind(c.returned("h")), TExprKind::Binary { .. }));
    assert!(matches!(c.kind(c.returned("k")), TExprKind::Cond { .. }));
    let c = one("double f(void) { return 1.5 + 2; } double g(void) { return 0.0 / 0.0; }");
    assert!(matches!(c.kind(c.returned("f")), TExprKind::Float(_)));
    assert!(matches!(c.kind(c.returned("g")), TExprKind::Binary { .. }));
    let huge = "int a[] = { [0 ... 99999999] = 1 };";
    assert_eq!(errors(huge, DataModel::Lp64), ["the initialiser is too large"]);
}

#[test]
fn switches_have_their_cases_resolved() {
    let c =
        one("int f(char x) { switch (x) { case 'a': return 1; { case -3 ... 5: ; } default: ; } return 0; }");
    let TStmtKind::Switch(switch) = c.stmt(c.body("f")[0]) else { panic!("a switch") };
    assert_eq!(c.ty(switch.value), CType::Int(IntKind::Int));
    let cases: Vec<(i128, i128)> =
        switch.cases.iter().map(|s| (IntTy::I32.decode(s.lo), IntTy::I32.decode(s.hi))).collect();
    assert_eq!(cases, [(97, 97), (-3, 5)]);
    assert!(switch.default.is_some());
}

#[test]
fn local_initialisers_are_flat() {
    let c = one("struct p { int x, y; }; struct q { struct p a[2]; char s[8]; int b : 3; };\
                 int g(void); void f(void) { struct q v = { .a[1].y = g(), .s = \"hi\", 5 }; }");
    let plan = c.plan("v");
    assert!(plan.zero);
    let summary: Vec<(u64, Vec<InitStep>)> = plan.items.iter().map(|i| (i.offset, i.path.to_vec())).collect();
    use InitStep::{Field, Index};
    let expected = [(12, vec![Field(0), Index(1), Field(1)]), (16, vec![Field(1)]), (24, vec![Field(2)])];
    assert_eq!(summary, expected);
    assert!(matches!(plan.items[1].value, InitValue::String(_)));
    assert_eq!(plan.items[2].bits.map(|b| b.width), Some(3));

    let c = one("void f(int n) { int a[3] = { 1, n, 3 }; int b[3] = { 1 }; int x = n; char s[] = \"abc\"; }");
    assert!(!c.plan("a").zero && c.plan("b").zero && !c.plan("x").zero && !c.plan("s").zero);
    assert_eq!(c.program.types.size_of(c.object("s").ty.ty), Some(4));

    // A range evaluates its expression once.
    let c = one("int g(void); void f(void) { int a[4] = { [0 ... 2] = g() }; }");
    let plan = c.plan("a");
    let calls = plan
        .items
        .iter()
        .filter(|i| matches!(i.value, InitValue::Expr(e) if matches!(c.kind(e), TExprKind::Call { .. })));
    assert_eq!((plan.items.len(), calls.count()), (3, 1));

    // A whole aggregate said again replaces what was said before.
    let c = one("struct p { int x, y; } a = { 1, 2 }, b[2] = { { 1, 2 }, { 3, 4 }, [0] = { .y = 9 } };");
    assert_eq!(image_bytes(&c.program, c.object("b")).unwrap()[..8], [0, 0, 0, 0, 9, 0, 0, 0]);
}

#[test]
fn images_hold_addresses() {
    let c = one(
        "int x[4]; int *p = &x[2]; int f(void); int (*q)(void) = f; char *s = \"str\"; long n = (long)(x + 1);\
                 void *g(int i) { static void *t[] = { &&a, &&b }; goto *t[i]; a: b: return 0; }\
                 struct flex { int n; short rest[]; } flex = { 1, { 2, 3, 0 } };",
    );
    let item = |name: &str| c.object(name).image.as_ref().unwrap().items[0].value.clone();
    assert!(matches!(item("p"), ConstValue::Addr(_, 8)));
    assert!(matches!(item("n"), ConstValue::Addr(_, 4)));
    assert!(matches!(item("q"), ConstValue::Func(_)));
    let ConstValue::Addr(literal, 0) = item("s") else { panic!("an address") };
    assert!(c.program.objects[literal].read_only);
    assert!(matches!(item("t"), ConstValue::Label(_)));
    assert_eq!(c.func("g").body.as_ref().unwrap().addressed_labels.len(), 2);
    let flex = c.object("flex");
    assert_eq!(flex.extra, 6);
    assert_eq!(flex.image.as_ref().unwrap().items.last().unwrap().offset, 9);
}

#[test]
fn variable_length_arrays_have_hidden_lengths() {
    let c = one("int f(int n, int m[n][n + 1]) { int a[n][3]; return sizeof a + sizeof m[0]; }");
    let body = c.func("f").body.as_ref().unwrap();
    assert_eq!(body.prologue.len(), 1, "the length n + 1 is computed on entry");
    assert!(c.object("a").vla_size.is_some());
    let stmts = c.body("f");
    assert!(matches!(c.stmt(stmts[0]), TStmtKind::Expr(_)), "the length n is stored first");
    assert!(matches!(c.stmt(stmts[1]), TStmtKind::Decl { .. }));
    let hidden = c.program.objects.iter().filter(|o| matches!(o.kind, ObjKind::Hidden(_))).count();
    assert_eq!(hidden, 2);
}

#[test]
fn statement_expressions_and_scopes() {
    let text = "int f(int x) { { int y = x; x = ({ int z = y; z + 1; }); } return x; }";
    let c = one(text);
    let scope = |name: &str| {
        let s = c.object(name).scope;
        &text[s.lo as usize..s.hi as usize]
    };
    assert_eq!(scope("z"), "z = y; z + 1; }");
    assert_eq!(scope("y"), "y = x; x = ({ int z = y; z + 1; }); }");
    let value = c.program.exprs.iter().find_map(|e| match e.kind {
        TExprKind::StmtExpr { value, .. } => value,
        _ => None,
    });
    assert!(matches!(c.kind(value.unwrap()), TExprKind::Binary { .. }));
}

#[test]
fn variable_arguments_are_places() {
    for model in MODELS {
        let text = "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); return __builtin_va_arg(l, int); }\
                    int g(__builtin_va_list l) { return __builtin_va_arg(l, int); }";
        let c = Checked::new(&[text], model);
        for name in ["f", "g"] {
            let TExprKind::VaArg { list } = *c.kind(c.returned(name)) else { panic!("va_arg") };
            assert!(c.program.is_lvalue(list));
            let ty = c.ty(list);
            assert!(matches!(
                (model, ty),
                (DataModel::Lp64, CType::Record(_)) | (DataModel::Ilp32, CType::Ptr(_))
            ));
        }
    }
}

#[test]
fn functions_know_their_attributes() {
    let c = one(
        "void die(void) __attribute__((noreturn)); _Noreturn void quit(void); int real(void) { return 1; }\
                 int other(void) __attribute__((weak, alias(\"real\"))); void undo(int *p);\
                 void f(void) { int x __attribute__((cleanup(undo))); }",
    );
    assert!(c.func("die").noreturn && c.func("quit").noreturn && !c.func("real").noreturn);
    let target = c.func("other").alias.expect("an alias");
    assert_eq!(c.names.name(c.program.funcs[target].name), "real");
    assert!(c.func("other").weak && c.object("x").cleanup.is_some());
}

#[test]
fn library_functions_are_known_without_declaration() {
    let c = one("void f(char *d) { __builtin_memcpy(d, \"x\", 2); __builtin___strcpy_chk(d, \"y\", 3); }");
    let calls: Vec<usize> = c
        .program
        .exprs
        .iter()
        .filter_map(|e| match &e.kind {
            TExprKind::Call { args, .. } => Some(args.len()),
            _ => None,
        })
        .collect();
    assert_eq!(calls, [3, 2]);
    assert!(c.func("memcpy").body.is_none() && c.func("strcpy").body.is_none());
    let text = "void *f(void) { return malloc(3); } int g(void) { return mystery(1) + mystery(2); }";
    assert!(has_warning(text, DataModel::Lp64, "implicit declaration of function 'mystery'"));
}

#[test]
fn structures_of_variable_size_are_no_values() {
    for (body, words) in [
        ("struct s { int a[n]; } x, y; x = y;", "copy it with memcpy"),
        ("struct { char a[n]; int b : 3; } x;", "declare it before that one"),
        ("union { char a[n]; int b : 3; } x;", "declare it before that one"),
        ("struct s { char a[n]; } x = { 1 };", "cannot be initialised"),
        ("struct s { char a[n]; }; static struct s x;", "a static variable of variable size"),
        ("struct s { char a[n]; } x; x.b = 1;", "has no member 'b'"),
    ] {
        let found = errors(&format!("void f(int n) {{ {body} }}"), DataModel::Lp64);
        assert!(found.len() == 1 && found[0].contains(words), "{body}: {found:?}");
    }
    let c = one("void f(int n) { struct s { int k; char a[n]; int z; } x; x.k = 1; x.a[0] = 2; x.z = 3; }");
    assert!(c.object("x").vla_size.is_some());
    // The length, where `z` lies, and the size.
    let hidden = c.program.objects.iter().filter(|o| matches!(o.kind, ObjKind::Hidden(_))).count();
    assert_eq!(hidden, 3);
}

#[test]
fn unsupported_constructs_are_named() {
    for (text, words) in [
        ("_Complex int f(_Complex int z) { return z / z; }", "complex integers"),
        ("typedef char v __attribute__((vector_size(512)));", "256 elements"),
        ("_BitInt(129) x;", "128 bits"),
        ("void f(void) { out: ; void g(void) { goto out; } g(); }", "jump out of a nested function"),
        ("int f(void) { return __builtin_ia32_rdtsc(); }", "__builtin_ia32_rdtsc"),
        ("int f(void) { return __builtin_setjmp(0); }", "__builtin_setjmp"),
        ("int f(void) __attribute__((ifunc(\"g\")));", "`ifunc`"),
        ("static int f(void) __attribute__((weakref(\"g\")));", "`weakref`"),
    ] {
        let found = errors(text, DataModel::Lp64);
        let named = found.iter().any(|e| e.contains(words) && e.contains("is not supported"));
        assert!(named, "{text}: {found:?}");
    }
}

#[test]
fn sections_that_run_by_themselves_are_refused() {
    let program = |section: &str| {
        format!(
            "static void f(void) {{}} static void (*p)(void) __attribute__((section(\"{section}\"))) = f;"
        )
    };
    for section in [".init_array", ".init_array.00101", ".fini_array", ".ctors", ".init"] {
        let found = errors(&program(section), DataModel::Lp64);
        assert!(found.len() == 1 && found[0].contains("constructor"), "{section}: {found:?}");
    }
    for section in [".init.text", ".initcall", ".data"] {
        assert!(errors(&program(section), DataModel::Lp64).is_empty(), "{section}");
    }
}
