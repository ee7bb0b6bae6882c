//! What is said about a violation: the third line of each file in `tests/c/violations` is printed when the
//! command in its second line runs there. The same sentence is in JSON, SARIF, the page and the witness.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/c/violations").canonicalize().expect("is there")
}

fn stdout(arguments: &[&str]) -> String {
    let command = Command::new(env!("CARGO_BIN_EXE_palisade")).current_dir(folder()).args(arguments).output();
    String::from_utf8(command.expect("the binary runs").stdout).expect("UTF-8")
}

#[test]
fn every_violation_has_a_description() {
    let mut complaints = Vec::new();
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).expect("the folder is there") {
        let path = entry.expect("readable").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let mut lines = text.lines().skip(1).filter_map(|l| l.strip_prefix("// "));
        let command = lines.next().and_then(|l| l.strip_prefix("palisade ")).expect("a command");
        let want = lines.next().expect("a violation");
        let shown = stdout(&command.split_whitespace().collect::<Vec<_>>());
        if !shown.lines().any(|l| l == want) {
            complaints.push(format!("{}: want\n{want}\nin\n{shown}", path.display()));
        }
        files += 1;
    }
    assert!(files > 20 && complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn all_outputs_have_the_same_description() {
    let out = std::env::temp_dir().join(format!("palisade-violations-{}", std::process::id()));
    std::fs::create_dir_all(&out).expect("a folder for outputs");
    let file = |name: &str| out.join(name).to_string_lossy().into_owned();
    let (sarif, page, witness) = (file("log.sarif"), file("page.html"), file("witness.yml"));
    let property = ["check", "use_after_free.c", "--property", "valid-memsafety", "--json"];
    let outputs = ["--sarif", &sarif, "--report", &page, "--witness", &witness];
    let text = stdout(&[&property[..], &outputs[..]].concat());
    let what = "heap#1 (16 bytes, allocated at use_after_free.c:10), freed at use_after_free.c:12";
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(json["description"].as_str().is_some_and(|d| d.contains(what)), "{json}");
    assert_eq!(json["related"][0]["what"], "allocated here");
    assert_eq!(json["related"][1]["line"], 12);
    for path in [&sarif, &page, &witness] {
        let written = std::fs::read_to_string(path).expect("the output is there");
        assert!(written.contains(what), "{path}: {written}");
    }
    std::fs::remove_dir_all(&out).expect("removed");
}

#[test]
fn the_run_tells_what_happens_and_nothing_else() {
    let file = std::env::temp_dir().join(format!("palisade-run-{}.c", std::process::id()));
    let program = "#include <stdlib.h>
#define TWICE(x) ((x) + (x))
static int total(int n, const char *name) {
    int sum;
    sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return TWICE(sum);
}
int main(void) {
    char c = 'x';
    int *p = malloc(8);
    p[1] = total(100, \"abc\");
    int *last = p + 1;
    if (*last > 3 && last != NULL && c == 'x')
        return *(last + 1);
    return 0;
}
";
    std::fs::write(&file, program).expect("written");
    let text = stdout(&["check", "--property", "valid-memsafety", &file.to_string_lossy()]);
    std::fs::remove_file(&file).expect("removed");
    let name = file.to_string_lossy();
    let text = text.replace(&*name, "f.c");
    for want in [
        "  f.c:11: char c = 'x';  // c = 120 'x'\n",
        "  f.c:12: int *p = malloc(8);  // p = heap#1 (f.c:12)\n",
        "  f.c:13: p[1] = total(100, \"abc\");  // calls total(n = 100, name = \"abc\")\n    f.c:5: ",
        "    ... 97 more passes like the one before\n",
        "    f.c:8: return TWICE(sum);  // returns 9900\n  f.c:13: ",
        "// last = heap#1 (f.c:12) + 4\n",
        "// *last > 3: true, last != NULL: true, c == 'x': true\n",
    ] {
        assert!(text.contains(want), "want\n{want}\nin\n{text}");
    }
    assert!(!text.contains("f.c:4:") && text.lines().count() < 30, "{text}");
}

#[test]
fn values_are_shown_by_their_types() {
    let file = std::env::temp_dir().join(format!("palisade-values-{}.c", std::process::id()));
    let program = "#include <stdlib.h>
#include <assert.h>
enum color { RED, GREEN = 5, BLUE };
struct point { int x; enum color c; char name[8]; struct point *next; };
static int weight(struct point *p, enum color want) { return p->c == want ? p->x * 2 : -1; }
int main(void) {
    struct point a = { 3, GREEN, \"abc\", 0 };
    struct point *q = malloc(sizeof *q);
    if (!q) return 0;
    q->x = 7; q->c = BLUE; q->next = &a;
    int list[4] = {1, 2, 3, 4}, undefined;
    int *third = list + 2;
    double half = 1.5;
    int r = weight(q, BLUE);
    enum color other = 77;
    undefined = undefined + 1;
    assert(r == 13 && *third == 3 && half > 1 && other && a.x);
}
";
    std::fs::write(&file, program).expect("written");
    let text = stdout(&["check", &file.to_string_lossy()]);
    std::fs::remove_file(&file).expect("removed");
    let text = text.replace(&*file.to_string_lossy(), "f.c");
    for want in [
        "// a.x = 3, a.c = GREEN",
        "// q = heap#1 (f.c:8)\n",
        "// q->x = 7, q->c = BLUE, q->next = &a\n",
        "// list[0] = 1, list[1] = 2, list[2] = 3, list[3] = 4\n",
        "// third = list + 2\n",
        "// half = 1.5\n",
        "// calls weight(p = heap#1 (f.c:8), want = BLUE)",
        "// other = 77\n",
        "// undefined is not initialised, here ",
        "// r == 13: false\n",
    ] {
        assert!(text.contains(want), "want\n{want}\nin\n{text}");
    }
}
