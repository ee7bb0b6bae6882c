//! Any function can be the entry: its arguments are inputs, in every form of output.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Reads behind its array if `n` is not inside of it.
const GET: &str = "int get(int *a, int n) {\n  if (!a)\n    return 0;\n  return a[n];\n}\n";

fn folder(test: &str, program: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("palisade-entry-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("p.c"), program).expect("written");
    folder
}

fn palisade(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_palisade")).current_dir(folder).args(args).output().expect("it runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn verdict(test: &str, program: &str, args: &[&str]) -> (String, String) {
    let folder = folder(test, program);
    let output = palisade(&folder, &[&["check"], args, &["p.c"]].concat());
    std::fs::remove_dir_all(folder).expect("removed");
    let text = said(&output);
    let last = text.lines().last().unwrap_or("").to_owned();
    (last, text + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn arguments_are_inputs_everywhere() {
    let folder = folder("inputs", GET);
    let asked = ["check", "--entry", "get", "--property", "valid-deref"];
    let files = ["--witness", "w.yml", "--harness", "h.c", "p.c"];
    let text = said(&palisade(&folder, &[&asked[..], &["p.c"]].concat()));
    assert!(text.ends_with("verdict: false(valid-deref)\n"), "{text}");
    assert!(
        text.contains("assuming: `get` is called with any arguments; a pointer among them is null"),
        "{text}"
    );
    assert!(text.contains("calls get(a = heap#1"), "{text}");
    let json = palisade(&folder, &[&asked[..], &["--json"], &files[..]].concat());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let given = json["entry_arguments"].as_array().expect("what it was called with");
    let n = given.iter().find(|g| g["place"] == "n").expect("the number")["value"].as_str().expect("text");
    let n: i64 = n.parse().expect("a number");
    assert!(!(0..8).contains(&n), "{n}");

    let inputs = text.lines().find_map(|l| l.strip_prefix("inputs: ")).expect("inputs").replace(' ', "");
    let run = palisade(&folder, &["run", "--entry", "get", "--input", &inputs, "p.c"]);
    assert_eq!(run.status.code(), Some(1), "{}{}", said(&run), String::from_utf8_lossy(&run.stderr));

    let witness = std::fs::read_to_string(folder.join("w.yml")).expect("written");
    assert!(witness.contains(&format!("n == {n}")) && witness.contains("init(get())"), "{witness}");
    let validated = said(&palisade(&folder, &["validate", "p.c", "w.yml"]));
    assert!(validated.ends_with("verdict: false(valid-deref)\n"), "{validated}");

    let cc = ["-w", "-fsanitize=address", "-o", "a.out", "p.c", "h.c"];
    let built = Command::new("cc").current_dir(&folder).args(cc).output().expect("there is a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(folder.join("a.out")).output().expect("it runs");
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(error.contains("AddressSanitizer"), "{error}");
    std::fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn where_pointers_lead_can_be_chosen() {
    let guarded = "int get(int *a, int n) { return a && 0 <= n && n < 5 ? a[n] : 0; }";
    let asked = ["--entry", "get", "--property", "valid-deref"];
    let with = |more: &[&str]| verdict("pointers", guarded, &[&asked[..], more].concat());
    assert_eq!(with(&[]).0, "verdict: true");
    assert_eq!(with(&["--pointer-size", "5"]).0, "verdict: true");
    assert_eq!(with(&["--pointer-size", "4"]).0, "verdict: false(valid-deref)");
    let unguarded = "int get(int *a) { return *a; }";
    assert_eq!(verdict("null", unguarded, &asked).0, "verdict: false(valid-deref)");
    let nonnull = [&asked[..], &["--pointers", "nonnull"]].concat();
    let (last, text) = verdict("nonnull", unguarded, &nonnull);
    assert_eq!(last, "verdict: true");
    assert!(text.contains("a pointer among them points to the start of an object"), "{text}");
    let (any, text) = with(&["--pointers", "any"]);
    assert_eq!(any, "verdict: false(valid-deref)");
    assert!(text.contains("pointers among them lead to no object"), "{text}");
}

#[test]
fn structures_and_functions_are_led_to() {
    let list = "struct node { int value; struct node *next; };
        int sum(struct node *l) { int s = 0; for (; l; l = l->next) s ^= l->value; return s; }";
    assert_eq!(
        verdict("list", list, &["--entry", "sum", "--property", "valid-memsafety"]).0,
        "verdict: true"
    );
    let call = "int twice(int (*f)(int), int x) { return f ? f(f(x)) : 0; }";
    assert_eq!(verdict("call", call, &["--entry", "twice", "--property", "valid-deref"]).0, "verdict: true");
    let null = "int once(int (*f)(int), int x) { return f(x); }";
    let (last, _) = verdict("null", null, &["--entry", "once", "--property", "valid-deref"]);
    assert_eq!(last, "verdict: false(valid-deref)");
    let freed = "void free(void *); struct s { int *data; }; void done(struct s s) { free(s.data); }";
    assert_eq!(verdict("freed", freed, &["--entry", "done", "--property", "valid-free"]).0, "verdict: true");
}

/// The sum of the elements of an array, with a contract.
const SUM: &str = r"/*@ requires 0 <= n <= 4;
  @ requires \valid_read(a + (0 .. n - 1));
  @ requires n >= 1 ==> a[0] == 7;
  @ ensures n == 0 ==> \result == 0;
  @ ensures \result == \old(n) || n > 0;
  @*/
int first(const int *a, int n) {
  int r = 0;
  /*@ loop invariant 0 <= i <= n; */
  for (int i = 0; i < n; i++)
    if (i == 0)
      r = a[i];
  //@ assert n > 0 ==> r == 7;
  n = 9;
  return r;
}
";

#[test]
fn contracts_are_taken_for_granted_and_checked() {
    let (last, text) = verdict("contract", SUM, &["--entry", "first"]);
    assert_eq!(last, "verdict: true", "{text}");
    assert!(text.contains("assuming: `first` is called as its contract requires"), "{text}");
    assert!(!text.contains("not understood"), "{text}");
    assert_eq!(verdict("memory", SUM, &["--entry", "first", "--property", "valid-deref"]).0, "verdict: true");
    for (right, wrong) in [
        (r"requires n >= 1 ==> a[0] == 7;", r"requires \true;"),
        (r"ensures n == 0 ==> \result == 0;", r"ensures \result == 0;"),
        (r"ensures \result == \old(n) || n > 0;", r"ensures n == 9;"),
        (r"loop invariant 0 <= i <= n;", r"loop invariant 0 <= i < n;"),
        (r"assert n > 0 ==> r == 7;", r"assert r == 7;"),
    ] {
        let program = SUM.replace(right, wrong);
        assert_ne!(program, SUM, "{right}");
        let (last, text) = verdict("wrong", &program, &["--entry", "first"]);
        assert_eq!(last, "verdict: false(unreach-call)", "{wrong}: {text}");
    }
    let unguarded = SUM.replace(r"requires \valid_read(a + (0 .. n - 1));", r"requires \true;");
    let (last, _) = verdict("unguarded", &unguarded, &["--entry", "first", "--property", "valid-deref"]);
    assert_eq!(last, "verdict: true", "what is read in `requires` can be read");
    let no_read = unguarded.replace(r"requires n >= 1 ==> a[0] == 7;", r"requires \true;");
    let (last, _) = verdict("no-read", &no_read, &["--entry", "first", "--property", "valid-deref"]);
    assert_eq!(last, "verdict: false(valid-deref)");
}

#[test]
fn callers_have_to_keep_to_contracts() {
    let program = "/*@ requires x > 0; ensures \\result >= 0; */
        int half(int x) { return x / 2; }
        int main(void) { return half(ARG); }";
    assert_eq!(verdict("kept", program, &["-D", "ARG=2"]).0, "verdict: true");
    assert_eq!(verdict("broken", program, &["-D", "ARG=0"]).0, "verdict: false(unreach-call)");
    let recursive = "/*@ requires x > 0; */ int down(int x) { return down(x - 1); }";
    assert_eq!(verdict("recursive", recursive, &["--entry", "down"]).0, "verdict: false(unreach-call)");
}

#[test]
fn numbers_in_formulas_have_no_bounds() {
    let program = "/*@ ensures x < x + 1; ensures a * b == b * a; ensures \\result > u - 1; */
        unsigned same(int x, int a, int b, unsigned u) { return u; }";
    assert_eq!(verdict("bounds", program, &["--entry", "same"]).0, "verdict: true");
    let wrong = program.replace("x < x + 1", "x + 1 <= 2147483647");
    assert_eq!(verdict("bound", &wrong, &["--entry", "same"]).0, "verdict: false(unreach-call)");
}

#[test]
fn functions_assign_what_they_say() {
    let program = "int g, h[4];
        /*@ requires \\valid(p) && \\valid(a + (0 .. 3)) && 0 <= i < 4; assigns CLAUSE; */
        int f(int *p, int *a, int i) { int local = i; local++; g = local; *p = 2; a[i] = 3; return local; }";
    let all = &["--entry", "f", "--pointers", "valid"];
    for (clause, expected) in [
        (r"g, *p, a[0 .. 3]", "true"),
        (r"*p, g, *(a + (0 .. 3))", "true"),
        (r"g, *p, a[i]", "true"),
        (r"g, h[0 .. 3], *p, a[i]", "true"),
        (r"\nothing", "false(unreach-call)"),
        (r"*p, a[i]", "false(unreach-call)"),
        (r"g, a[i]", "false(unreach-call)"),
        (r"g, *p, a[1 .. 3]", "false(unreach-call)"),
    ] {
        let (last, text) = verdict("assigns", &program.replace("CLAUSE", clause), all);
        assert_eq!(last, format!("verdict: {expected}"), "{clause}: {text}");
        if expected == "true" {
            assert!(text.contains("assuming: what `f` assigns beside globals"), "{text}");
        }
    }
    // What is put back is not changed, and neither is what nobody else can see.
    let same = "int g; /*@ assigns \\nothing; */ int f(int x) { static const int c = 1; g += x; g -= x; int y = c; y++; return y; }";
    assert_eq!(verdict("assigns-same", same, &["--entry", "f"]).0, "verdict: true");
    // Of a function that is called, too.
    let called = "int g; /*@ assigns g; */ void f(int *p) { g = 1; *p = 2; } int main(void) { int x = 0; f(&x); return x; }";
    assert_eq!(verdict("assigns-called", called, &[]).0, "verdict: false(unreach-call)");
    let called = called.replace("assigns g;", "assigns g, *p;");
    assert_eq!(verdict("assigns-called", &called, &[]).0, "verdict: true");
}

#[test]
fn what_is_not_understood_is_said() {
    for clause in [
        r"requires \forall integer i; 0 <= i < n ==> n > i;",
        r"assigns n \from n;",
        r"requires separated(n);",
        r"ensures \result == (n & 1);",
        r"requires unknown_name > n;",
        r"behavior small: assumes n < 3; ensures \result == n;",
    ] {
        let program = format!("/*@ {clause} */\nint same(int n) {{ return n; }}\n");
        let (last, text) = verdict("left-out", &program, &["--entry", "same"]);
        assert_eq!(last, "verdict: true", "{clause}: {text}");
        assert!(text.contains("this annotation is not understood and left out"), "{clause}: {text}");
        assert!(text.contains("assuming: annotations of `same` that are not understood"), "{clause}: {text}");
    }
    // A comment that counts for nobody.
    let folder = folder("competition", "/*@ ensures \\result == 1; */\nint main(void) { return 0; }\n");
    std::fs::write(folder.join("p.prp"), "CHECK( init(main()), LTL(G ! call(reach_error())) )\n")
        .expect("written");
    let text = said(&palisade(&folder, &["check", "--property", "p.prp", "p.c"]));
    assert!(text.ends_with("verdict: true\n"), "{text}");
    assert!(said(&palisade(&folder, &["check", "p.c"])).ends_with("verdict: false(unreach-call)\n"));
    std::fs::remove_dir_all(folder).expect("removed");
}

/// What a pointer is converted to tells what it leads to.
#[test]
fn hidden_structures_are_led_to() {
    let program = "struct state { int mode, level; int *counts; };
        int level(void *h) { struct state *s = h; if (!s) return -1; if (s->counts) s->counts[7]++; return s->level; }
        struct first { int x; }; struct whole { struct first f; int y[4]; };
        int at(struct first *p, int i) { return p ? ((struct whole *)p)->y[i & 3] : 0; }
        int behind(struct first *p) { return p ? ((struct whole *)p)->y[4] : 0; }";
    let folder = folder("hidden", program);
    for (entry, verdict) in [("level", "true"), ("at", "true"), ("behind", "false(valid-deref)")] {
        let text = said(&palisade(&folder, &["check", "--entry", entry, "--property", "valid-deref", "p.c"]));
        assert!(text.ends_with(&format!("verdict: {verdict}\n")), "{entry}: {text}");
    }
    std::fs::remove_dir_all(folder).expect("removed");
}
