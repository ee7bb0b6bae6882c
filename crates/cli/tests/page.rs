//! The page of `--report` in a browser: Chromium, without a window. Where it is not installed the test says so and
//! is skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace is there")
}

fn browser() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()));
    if found.is_none() {
        eprintln!("skipped: there is no Chromium to show the page");
    }
    found
}

/// What a page is after its scripts ran, with what the test script found out.
fn shown(browser: &str, page: &Path, folder: &Path) -> String {
    let output = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--window-size=1280,800", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Notes errors, and at the end whether the marked row is visible, and what the keys do.
const PROBE: &str = r#"<script>
const errors = [];
window.addEventListener("error", (e) => errors.push(e.message));
window.addEventListener("load", () => {
  const result = { errors };
  const row = document.querySelector("tr.bad");
  if (row) {
    const box = row.getBoundingClientRect();
    result.visible = box.top >= 0 && box.bottom <= window.innerHeight;
    result.where = document.getElementById("where").textContent;
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
    result.first = document.getElementById("where").textContent;
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "e" }));
    result.again = document.getElementById("where").textContent;
  }
  result.wide = document.documentElement.scrollWidth > window.innerWidth;
  document.title = "RESULT" + JSON.stringify(result);
});
</script>"#;

#[test]
fn pages_work_in_a_browser() {
    let Some(browser) = browser() else { return };
    let folder = std::env::temp_dir().join(format!("palisade-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let long = folder.join("long.c");
    let filler = "int filler;\n".repeat(400);
    let text = format!("{filler}int main(void) {{\n  int a[2] = {{0}};\n  int i = 5;\n  return a[i];\n}}\n");
    std::fs::write(&long, text).expect("written");
    let long = long.to_string_lossy().into_owned();
    let pages: [(&[&str], &str); 5] = [
        (&["examples/use_after_free.c", "--property", "valid-memsafety"], "false(valid-deref)"),
        (&["examples/counter.c"], "true"),
        (&["examples/sort.c", "--property", "termination"], "unknown (termination is not supported)"),
        (&["examples/sort.c", "--analysis", "interval"], "what was tried"),
        (&[&long, "--property", "valid-deref"], "false(valid-deref)"),
    ];
    for (i, (args, verdict)) in pages.into_iter().enumerate() {
        let page = folder.join(format!("{i}.html"));
        Command::new(env!("CARGO_BIN_EXE_palisade"))
            .current_dir(root())
            .arg("check")
            .args(args)
            .arg("--report")
            .arg(&page)
            .output()
            .expect("the binary runs");
        let text = std::fs::read_to_string(&page).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert!(text.contains(verdict) && !text.contains("src="), "{args:?}: a page on its own");
        std::fs::write(&page, text.replace("<style>", &format!("{PROBE}<style>"))).expect("written");
        let dom = shown(browser, &page, &folder);
        let title = dom.split("<title>RESULT").nth(1).and_then(|t| t.split("</title>").next());
        let title = title.unwrap_or_else(|| panic!("{args:?}: {dom}")).replace("&amp;", "&");
        let result: serde_json::Value = serde_json::from_str(&title).expect("JSON");
        assert_eq!(result["errors"], serde_json::json!([]), "{args:?}");
        assert_eq!(result["wide"], false, "{args:?}: {result}");
        if verdict.starts_with("false") {
            assert_eq!(result["visible"], true, "{args:?}: {result}");
            assert!(result["first"].as_str().is_some_and(|w| w.starts_with("step 1 of ")), "{result}");
            assert_eq!(result["where"], result["again"], "{result}");
        }
    }
    let _ = std::fs::remove_dir_all(folder);
}
