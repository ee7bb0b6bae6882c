//! The table of crates in ARCHITECTURE.md says what each may use; the manifests must agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Crates in the order of the table, with what each may use.
fn allowed(map: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut seen: Vec<String> = Vec::new();
    let mut allowed = BTreeMap::new();
    for line in map.lines().filter(|l| l.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [names, _, uses] = cells[..] else { continue };
        let uses: BTreeSet<String> = match uses {
            "everything above" => seen.iter().cloned().collect(),
            list => list.split(',').map(|u| u.trim().to_string()).filter(|u| !u.is_empty()).collect(),
        };
        for name in names.split(',').map(|n| n.trim().trim_matches('`').to_string()) {
            seen.push(name.clone());
            allowed.insert(name, uses.clone());
        }
    }
    allowed
}

/// Palisade crates in the `[dependencies]` of a manifest.
fn used(manifest: &str) -> BTreeSet<String> {
    let dependencies = manifest.split("\n[").find(|s| s.starts_with("dependencies]")).unwrap_or("");
    dependencies
        .lines()
        .filter_map(|l| l.strip_prefix("palisade-"))
        .filter_map(|l| l.split(['.', ' ', '=']).next())
        .map(String::from)
        .collect()
}

#[test]
fn manifests_follow_the_map() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let map = std::fs::read_to_string(root.join("ARCHITECTURE.md")).expect("the map is there");
    let allowed = allowed(&map);
    let mut crates = 0;
    for entry in std::fs::read_dir(root.join("crates")).expect("crates").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(manifest) = std::fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let may = allowed.get(&name).unwrap_or_else(|| panic!("`{name}` is not in the map"));
        if name != "testkit" {
            let more: Vec<_> = used(&manifest).difference(may).cloned().collect();
            assert!(more.is_empty(), "`{name}` uses {more:?}, which the map does not allow");
        }
        crates += 1;
    }
    assert_eq!(crates, allowed.len(), "the map names a crate that is not there");
}

#[test]
fn a_forbidden_arrow_is_seen() {
    let allowed = allowed("| `a` | x | |\n| `b` | y | a |\n| `c`, `d` | z | everything above |\n");
    assert_eq!(allowed["b"], ["a".to_string()].into());
    assert_eq!(allowed["d"].len(), 2);
    let manifest = "[package]\n[dependencies]\npalisade-a.workspace = true\nlibc = \"1\"\n[dev-dependencies]\npalisade-z = 1\n";
    assert_eq!(used(manifest), ["a".to_string()].into());
}

/// What checks verdicts again uses nothing that finds them, not even through others.
#[test]
fn recheck_uses_nothing_that_finds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut reached: BTreeSet<String> = ["recheck".to_string()].into();
    let mut work = vec!["recheck".to_string()];
    while let Some(name) = work.pop() {
        let manifest = root.join("crates").join(&name).join("Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("every crate has a manifest");
        work.extend(used(&manifest).into_iter().filter(|u| reached.insert(u.clone())));
    }
    let expected = [
        "base", "c-syntax", "c-types", "cfa", "check", "encode", "evidence", "interp", "logic", "lower",
        "lrat", "property", "recheck", "reduce", "task",
    ];
    assert_eq!(reached.iter().map(String::as_str).collect::<Vec<_>>(), expected);
}
