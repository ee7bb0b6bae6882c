//! SARIF 2.1.0: violations for code scanning, with the way there as a code flow.

use crate::finding::{Finding, Story};
use crate::json;
use crate::open::Told;
use crate::trace::TraceLine;
use palisade_portfolio::Verdict;
use palisade_witness::sha256;
use serde_json::{Value, json};

/// The name of the folder that relative addresses start from.
const ROOT: &str = "%SRCROOT%";

/// Code scanning keeps this many locations of a flow.
const FLOW: usize = 1000;

/// Rules: identifier, name, what is violated, the goal in verdicts.
const RULES: [(&str, &str, &str, &str); 8] = [
    ("PAL0001", "Assertion", "An assertion fails or an error function is called", "unreach-call"),
    ("PAL0002", "ValidDeref", "Access outside of a live object", "valid-deref"),
    ("PAL0003", "NoOverflow", "Signed overflow", "no-overflow"),
    ("PAL0004", "ValidFree", "Free of what cannot be freed", "valid-free"),
    ("PAL0005", "ValidMemtrack", "A heap object is lost", "valid-memtrack"),
    ("PAL0006", "ValidMemcleanup", "A heap object is alive at the end", "valid-memcleanup"),
    ("PAL0007", "DefBehavior", "Undefined behaviour", "def-behavior"),
    ("PAL0008", "Observer", "An observer automaton reports an error", "observer"),
];

/// The log of one run of the tool: a result for each violation, and for each check that is open. The verdict is that
/// of the first finding.
pub fn log(findings: &[Finding<'_>]) -> Value {
    let rules: Vec<Value> = RULES.iter().map(rule).collect();
    let violation = |finding: &Finding<'_>| match (&finding.settled.verdict, &finding.story) {
        (Verdict::False(goal), Some(story)) => Some(result(finding, goal, story)),
        _ => None,
    };
    let mut results: Vec<Value> = findings.iter().filter_map(violation).collect();
    let finding = &findings[0];
    results.extend(finding.obstacles.iter().flat_map(|o| &o.told).filter_map(|told| open(finding, told)));
    let verdict = match &finding.settled.verdict {
        Verdict::True => "true",
        Verdict::False(_) => "false",
        Verdict::Unknown(_) => "unknown",
    };
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "Palisade",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "originalUriBaseIds": root(),
            "results": results,
            "properties": {"verdict": verdict, "assumptions": json::assumptions(finding)},
        }],
    })
}

fn rule(&(id, name, text, goal): &(&str, &str, &str, &str)) -> Value {
    let security = matches!(goal, "valid-deref" | "valid-free");
    json!({
        "id": id,
        "name": name,
        "shortDescription": {"text": text},
        "fullDescription": {"text": format!("{text}: a run was found and replayed that violates `{goal}`.")},
        "help": {"text": "The code flow shows a run of the program that goes wrong, with its inputs."},
        "defaultConfiguration": {"level": "error"},
        "properties": {
            "tags": if security { vec!["correctness", "security"] } else { vec!["correctness"] },
            "precision": "very-high",
            "problem.severity": "error",
        },
    })
}

fn result(finding: &Finding<'_>, goal: &str, story: &Story) -> Value {
    let index = RULES.iter().position(|r| r.3 == goal).unwrap_or(RULES.len() - 1);
    let what = &story.described.text;
    let inputs = story.inputs();
    let message = if inputs.is_empty() {
        format!("{}: {what}", RULES[index].2)
    } else {
        let shown = inputs.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
        format!("{}: {what}, on the inputs {shown}", RULES[index].2)
    };
    let at = story.violation.and_then(|span| {
        let places = finding.places.as_ref()?;
        let at = places.locate(span.lo)?;
        let text = places.written(span);
        // The end is told for what lies on one line.
        let width = (!text.contains('\n')).then(|| text.chars().count() as u32);
        let mut region = json!({"startLine": at.line});
        if let Some(column) = at.column {
            region["startColumn"] = json!(column);
            if let Some(width) = width {
                region["endColumn"] = json!(column + width);
            }
        }
        Some((at.file_name, region, text))
    });
    let (first, _, last) = story.abbreviated(FLOW - 1);
    let mut flow: Vec<Value> = first.iter().chain(last).map(step).collect();
    let mut result = json!({
        "ruleId": RULES[index].0,
        "ruleIndex": index,
        "level": "error",
        "message": {"text": message},
    });
    if let Some((file, region, text)) = at {
        let place = json!({"artifactLocation": artifact(&file), "region": region});
        let hash = sha256::hex(text.split_whitespace().collect::<String>().as_bytes());
        result["locations"] = json!([{"physicalLocation": place.clone()}]);
        result["partialFingerprints"] = json!({"primaryLocationLineHash": format!("{}:1", &hash[..16])});
        flow.push(json!({
            "location": {"physicalLocation": place, "message": {"text": what}},
            "nestingLevel": story.run.stack.len().saturating_sub(1),
        }));
    }
    let related = story.described.notes.iter().filter_map(|(span, what)| {
        let at = finding.places.as_ref()?.locate(span.lo)?;
        let artifact = artifact(&at.file_name);
        let place = json!({"artifactLocation": artifact, "region": {"startLine": at.line}});
        Some(json!({"physicalLocation": place, "message": {"text": what}}))
    });
    result["relatedLocations"] = related.collect();
    result["codeFlows"] = json!([{"threadFlows": [{"id": "main", "locations": flow}]}]);
    result
}

/// A check that is neither proved nor violated.
fn open(finding: &Finding<'_>, told: &Told) -> Option<Value> {
    let (kind, edge) = told.check?;
    let goal = finding.property.violated_at(kind, edge)?.name();
    let index = RULES.iter().position(|r| r.3 == goal).unwrap_or(RULES.len() - 1);
    let mut result = json!({
        "ruleId": RULES[index].0,
        "ruleIndex": index,
        "kind": "open",
        "level": "none",
        "message": {"text": told.text()},
    });
    if let Some(at) = &told.at {
        let artifact = artifact(&at.file_name);
        let place = json!({"artifactLocation": artifact, "region": {"startLine": at.line}});
        result["locations"] = json!([{"physicalLocation": place}]);
    }
    Some(result)
}

fn step(line: &TraceLine) -> Value {
    let state: serde_json::Map<String, Value> =
        line.changes().map(|(name, value)| (name.clone(), json!({"text": value}))).collect();
    json!({
        "location": {
            "physicalLocation": {
                "artifactLocation": artifact(&line.file),
                "region": {"startLine": line.line},
            },
            "message": {"text": line.text()},
        },
        "nestingLevel": line.depth.saturating_sub(1),
        "state": state,
    })
}

/// Where a file is: relative to the folder that the command ran in, or from the root where it lies elsewhere.
fn artifact(file: &str) -> Value {
    let outside = file.starts_with('/') || file.split('/').any(|part| part == "..");
    match outside.then(|| std::fs::canonicalize(file)) {
        Some(Ok(path)) => json!({"uri": format!("file://{}", uri(&path.to_string_lossy()))}),
        _ => json!({"uri": uri(file), "uriBaseId": ROOT}),
    }
}

/// The folder that the command ran in, as the base of relative addresses.
fn root() -> Value {
    let folder = std::env::current_dir().unwrap_or_default();
    let folder = uri(&folder.to_string_lossy());
    json!({ROOT: {"uri": format!("file://{}/", folder.trim_end_matches('/'))}})
}

/// A path without parts that say nothing, escaped.
fn uri(file: &str) -> String {
    let parts: Vec<&str> = file.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let mut text = if file.starts_with('/') { "/".to_owned() } else { String::new() };
    for byte in parts.join("/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                text.push(byte.into())
            }
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_escaped() {
        assert_eq!(uri("./src//a b.c"), "src/a%20b.c");
        assert_eq!(uri("/usr/./x.c"), "/usr/x.c");
    }

    #[test]
    fn addresses_lead_to_the_file() {
        assert_eq!(artifact("src/main.rs"), json!({"uri": "src/main.rs", "uriBaseId": ROOT}));
        let here = std::fs::canonicalize("src/main.rs").expect("is there");
        let absolute = format!("file://{}", here.display());
        assert_eq!(artifact("../cli/src/main.rs"), json!({"uri": absolute}));
        let base = root();
        let base = base[ROOT]["uri"].as_str().expect("a folder");
        assert_eq!(format!("{base}src/main.rs"), absolute);
    }
}
