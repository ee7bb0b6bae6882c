//! Witness files: YAML lists of entries, format 2.0 (and what later versions add, as far as it
//! can be understood as 2.0).

use crate::model::*;
use serde::{Deserialize, Serialize};
use serde_saphyr::Spanned;

/// What is wrong with a witness file, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// Line, counted from 1; 0 if unknown.
    pub line: u64,
    /// Column, counted from 1; 0 if unknown.
    pub column: u64,
    /// What was expected.
    pub message: String,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "{line}:{}: {}", self.column, self.message),
        }
    }
}

impl std::error::Error for Malformed {}

#[derive(Serialize, Deserialize)]
struct RawEntry {
    entry_type: String,
    metadata: RawMetadata,
    content: RawContent,
}

#[derive(Serialize, Deserialize)]
struct RawMetadata {
    format_version: String,
    #[serde(default)]
    uuid: String,
    #[serde(default)]
    creation_time: String,
    producer: Option<RawProducer>,
    task: RawTask,
}

#[derive(Serialize, Deserialize)]
struct RawProducer {
    name: String,
    #[serde(default)]
    version: String,
}

#[derive(Serialize, Deserialize)]
struct RawTask {
    #[serde(default)]
    input_files: Vec<String>,
    #[serde(default)]
    input_file_hashes: Hashes,
    specification: String,
    #[serde(default)]
    data_model: String,
    #[serde(default)]
    language: String,
}

/// A map that keeps its order.
#[derive(Default)]
struct Hashes(Vec<(String, String)>);

impl Serialize for Hashes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(file, hash)| (file, hash)))
    }
}

impl<'de> Deserialize<'de> for Hashes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Hashes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map from files to hashes")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Hashes, A::Error> {
                let mut hashes = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    hashes.push(pair);
                }
                Ok(Hashes(hashes))
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// A list of items, or the map that some kinds of entries have there.
enum RawContent {
    Items(Vec<Spanned<RawItem>>),
    Map,
}

impl Serialize for RawContent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            RawContent::Items(items) => serializer.collect_seq(items.iter().map(|i| &i.value)),
            RawContent::Map => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for RawContent {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = RawContent;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of segments or of invariants")
            }
            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<RawContent, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(RawContent::Items(items))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<RawContent, A::Error> {
                while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
                Ok(RawContent::Map)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[derive(Serialize, Deserialize)]
struct RawItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    segment: Option<Vec<Spanned<RawStep>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invariant: Option<RawInvariant>,
}

#[derive(Serialize, Deserialize)]
struct RawStep {
    waypoint: RawWaypoint,
}

#[derive(Serialize, Deserialize)]
struct RawWaypoint {
    #[serde(rename = "type")]
    kind: String,
    action: String,
    location: RawLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    constraint: Option<RawConstraint>,
}

#[derive(Serialize, Deserialize)]
struct RawConstraint {
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct RawLocation {
    file_name: String,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct RawInvariant {
    #[serde(rename = "type")]
    kind: String,
    location: RawLocation,
    /// Absent in function contracts, which some write under this key too.
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
}

/// Reads a witness file.
pub fn read(text: &str) -> Result<Vec<Entry>, Malformed> {
    let raw: Vec<Spanned<RawEntry>> =
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
            let at = error.location();
            let message = error.to_string();
            Malformed {
                line: at.map_or(0, |l| l.line()),
                column: at.map_or(0, |l| l.column()),
                message: message.lines().next().unwrap_or_default().to_owned(),
            }
        })?;
    if raw.is_empty() {
        return Err(Malformed { line: 1, column: 1, message: "a witness has at least one entry".into() });
    }
    raw.into_iter().map(|entry| self::entry(position(&entry), entry.value)).collect()
}

/// Long witnesses are fine; aliases and depth stay bounded.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: usize::MAX,
            max_nodes: usize::MAX,
            max_total_scalar_bytes: usize::MAX,
        },
    }
}

type At = (u64, u64);

fn position<T>(node: &Spanned<T>) -> At {
    (node.referenced.line(), node.referenced.column())
}

fn malformed<T>(at: At, message: impl Into<String>) -> Result<T, Malformed> {
    Err(Malformed { line: at.0, column: at.1, message: message.into() })
}

fn entry(at: At, raw: RawEntry) -> Result<Entry, Malformed> {
    let RawEntry { entry_type, metadata, content } = raw;
    if !metadata.format_version.starts_with("2.") {
        return malformed(at, format!("format version `{}` is not supported", metadata.format_version));
    }
    let content = match (entry_type.as_str(), content) {
        ("violation_sequence", RawContent::Items(items)) => Content::Violation(segments(at, items)?),
        ("invariant_set", RawContent::Items(items)) => Content::Invariants(invariants(items)?),
        ("violation_sequence" | "invariant_set", RawContent::Map) => {
            return malformed(at, format!("the content of `{entry_type}` is a list"));
        }
        _ => Content::Other(entry_type),
    };
    let producer =
        metadata.producer.map_or_else(Producer::default, |p| Producer { name: p.name, version: p.version });
    let RawTask { input_files, input_file_hashes, specification, data_model, language } = metadata.task;
    Ok(Entry {
        metadata: Metadata {
            format_version: metadata.format_version,
            uuid: metadata.uuid,
            creation_time: metadata.creation_time,
            producer,
            task: TaskInfo {
                input_files,
                input_file_hashes: input_file_hashes.0,
                specification,
                data_model,
                language,
            },
        },
        content,
    })
}

/// Each segment: waypoints to avoid, then exactly one to follow; the last one follows the only
/// target.
fn segments(at: At, items: Vec<Spanned<RawItem>>) -> Result<Vec<Segment>, Malformed> {
    let mut segments = Vec::new();
    let last = items.len().saturating_sub(1);
    for (i, item) in items.into_iter().enumerate() {
        let at = position(&item);
        let Some(steps) = item.value.segment else { return malformed(at, "expected `segment`") };
        let mut avoid = Vec::new();
        let mut follow = None;
        for step in steps {
            let at = position(&step);
            let raw = step.value.waypoint;
            if follow.is_some() {
                return malformed(at, "a segment ends with the waypoint to follow");
            }
            let action = raw.action.clone();
            let waypoint = waypoint(at, raw)?;
            if waypoint.kind == WaypointKind::Target && (i != last || action != "follow") {
                return malformed(at, "the target is followed in the last segment only");
            }
            match action.as_str() {
                "avoid" => avoid.push(waypoint),
                "follow" => follow = Some(waypoint),
                other => return malformed(at, format!("action `{other}` is not supported")),
            }
        }
        let Some(follow) = follow else { return malformed(at, "a segment has a waypoint to follow") };
        segments.push(Segment { avoid, follow });
    }
    match segments.last() {
        Some(end) if end.follow.kind == WaypointKind::Target => Ok(segments),
        _ => malformed(at, "the last segment ends in a target"),
    }
}

fn waypoint(at: At, raw: RawWaypoint) -> Result<Waypoint, Malformed> {
    let Some((kind, _)) = WaypointKind::NAMES.into_iter().find(|(_, name)| *name == raw.kind) else {
        return malformed(at, format!("there is no waypoint of type `{}`", raw.kind));
    };
    let needs = matches!(kind, WaypointKind::Assumption | WaypointKind::Branching);
    if needs && raw.constraint.is_none() {
        return malformed(at, format!("a waypoint of type `{}` has a constraint", raw.kind));
    }
    let constraint = raw.constraint.map(|c| c.value);
    Ok(Waypoint { kind, location: location(raw.location), constraint, at: Some(at) })
}

fn invariants(items: Vec<Spanned<RawItem>>) -> Result<Vec<Invariant>, Malformed> {
    let mut invariants = Vec::new();
    for item in items {
        let at = position(&item);
        // Contracts and ghost code of later versions say more than is asked; they are left out.
        let Some(raw) = item.value.invariant else { continue };
        let kind = match raw.kind.as_str() {
            "loop_invariant" => InvariantKind::Loop,
            "location_invariant" => InvariantKind::Location,
            "loop_transition_invariant" | "location_transition_invariant" | "function_contract" => continue,
            other => return malformed(at, format!("there is no invariant of type `{other}`")),
        };
        let Some(value) = raw.value else { return malformed(at, "an invariant has a value") };
        invariants.push(Invariant { kind, location: location(raw.location), value, at: Some(at) });
    }
    Ok(invariants)
}

fn location(raw: RawLocation) -> Location {
    Location { file_name: raw.file_name, line: raw.line, column: raw.column, function: raw.function }
}

/// Writes a witness file.
pub fn write(entries: &[Entry]) -> String {
    let raw: Vec<RawEntry> = entries.iter().map(raw_entry).collect();
    // Strings, numbers, lists and maps with string keys can always be written.
    serde_saphyr::to_string(&raw).unwrap_or_default()
}

fn raw_entry(entry: &Entry) -> RawEntry {
    let (entry_type, items) = match &entry.content {
        Content::Violation(segments) => ("violation_sequence", segments.iter().map(raw_segment).collect()),
        Content::Invariants(facts) => ("invariant_set", facts.iter().map(raw_invariant).collect()),
        Content::Other(name) => (name.as_str(), Vec::new()),
    };
    let m = &entry.metadata;
    RawEntry {
        entry_type: entry_type.to_owned(),
        metadata: RawMetadata {
            format_version: m.format_version.clone(),
            uuid: m.uuid.clone(),
            creation_time: m.creation_time.clone(),
            producer: Some(RawProducer {
                name: m.producer.name.clone(),
                version: m.producer.version.clone(),
            }),
            task: RawTask {
                input_files: m.task.input_files.clone(),
                input_file_hashes: Hashes(m.task.input_file_hashes.clone()),
                specification: m.task.specification.clone(),
                data_model: m.task.data_model.clone(),
                language: m.task.language.clone(),
            },
        },
        content: RawContent::Items(items),
    }
}

fn spanned<T>(value: T) -> Spanned<T> {
    Spanned { value, referenced: serde_saphyr::Location::UNKNOWN, defined: serde_saphyr::Location::UNKNOWN }
}

fn raw_segment(segment: &Segment) -> Spanned<RawItem> {
    let step = |action: &str, w: &Waypoint| {
        let format = match w.kind {
            WaypointKind::Assumption => Some("c_expression".to_owned()),
            WaypointKind::FunctionReturn => Some("acsl_expression".to_owned()),
            _ => None,
        };
        spanned(RawStep {
            waypoint: RawWaypoint {
                kind: w.kind.name().to_owned(),
                action: action.to_owned(),
                location: raw_location(&w.location),
                constraint: w.constraint.clone().map(|value| RawConstraint { value, format }),
            },
        })
    };
    let avoid = segment.avoid.iter().map(|w| step("avoid", w));
    let steps = avoid.chain([step("follow", &segment.follow)]).collect();
    spanned(RawItem { segment: Some(steps), invariant: None })
}

fn raw_invariant(fact: &Invariant) -> Spanned<RawItem> {
    let kind = match fact.kind {
        InvariantKind::Loop => "loop_invariant",
        InvariantKind::Location => "location_invariant",
    };
    let invariant = RawInvariant {
        kind: kind.to_owned(),
        location: raw_location(&fact.location),
        value: Some(fact.value.clone()),
        format: Some("c_expression".to_owned()),
    };
    spanned(RawItem { segment: None, invariant: Some(invariant) })
}

fn raw_location(location: &Location) -> RawLocation {
    let Location { file_name, line, column, function } = location.clone();
    RawLocation { file_name, line, column, function }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHERS: &str = r#"
- entry_type: violation_sequence
  metadata:
    format_version: "2.0"
    uuid: 7d1f0a52-3c44-4a5e-9c1b-0f7e55aa1e02
    creation_time: "2026-11-15T09:30:00Z"
    producer: {name: Somebody, version: 1.0, configuration: x}
    task:
      input_files: ["foo.c"]
      input_file_hashes: {"foo.c": "00"}
      specification: "CHECK( init(main()), LTL(G ! call(reach_error())) )"
      data_model: ILP32
      language: C
  content:
    - segment:
        - waypoint:
            type: function_return
            action: follow
            location: {file_name: foo.c, line: 7, column: 35, function: main}
            constraint: {value: "\\result == 5", format: acsl_expression}
    - segment:
        - waypoint: {type: branching, action: avoid, location: {file_name: foo.c, line: 9, column: 3}, constraint: {value: false}}
        - waypoint: {type: assumption, action: follow, location: {file_name: foo.c, line: 10, column: 5}, constraint: {value: 1, format: c_expression}}
    - segment:
        - waypoint: {type: target, action: follow, location: {file_name: foo.c, line: 12, column: 7, function: main}}
"#;

    #[test]
    fn files_of_others_are_read() {
        let entries = read(OTHERS).unwrap();
        let Content::Violation(segments) = &entries[0].content else { panic!("a violation") };
        assert_eq!(segments.len(), 3);
        assert_eq!(segments[0].follow.constraint.as_deref(), Some("\\result == 5"));
        assert_eq!(segments[1].avoid[0].constraint.as_deref(), Some("false"));
        assert_eq!(segments[1].follow.constraint.as_deref(), Some("1"));
        assert_eq!(entries[0].metadata.producer.version, "1.0");
    }

    #[test]
    fn what_is_written_reads_back() {
        let mut entries = read(OTHERS).unwrap();
        let mut facts = entries[0].clone();
        let at = Location { file_name: "a b: c.c".into(), line: 3, column: None, function: None };
        let value = "x == 0 || s[1] != '\\n' && \"#\" # odd: text".to_owned();
        facts.content = Content::Invariants(vec![Invariant {
            kind: InvariantKind::Location,
            location: at,
            value,
            at: None,
        }]);
        entries.push(facts);
        let forget = |mut entries: Vec<Entry>| {
            for entry in &mut entries {
                match &mut entry.content {
                    Content::Violation(segments) => segments
                        .iter_mut()
                        .flat_map(|s| s.avoid.iter_mut().chain([&mut s.follow]))
                        .for_each(|w| w.at = None),
                    Content::Invariants(facts) => facts.iter_mut().for_each(|f| f.at = None),
                    Content::Other(_) => {}
                }
            }
            entries
        };
        let text = write(&entries);
        assert_eq!(forget(read(&text).unwrap()), forget(entries), "{text}");
    }

    #[test]
    fn broken_files_name_a_position() {
        let broken = |from: &str, to: &str| {
            assert!(OTHERS.contains(from), "{from}");
            let error = read(&OTHERS.replacen(from, to, 1)).expect_err(to);
            assert!(error.line > 0, "{error}");
            error.line
        };
        assert_eq!(broken("type: target, action: follow", "type: target, action: avoid"), 25);
        assert_eq!(broken("type: branching, action: avoid", "type: branching, action: follow"), 23);
        broken("type: target", "type: nothing");
        broken("line: 12", "line: twelve");
        broken("\"2.0\"", "\"1.0\"");
        broken("content:", "contents:");
        broken("type: assumption", "type: target");
        broken(", constraint: {value: 1, format: c_expression}", "");
        broken("segment", "invariant");
        broken("metadata:\n", "metadata: [\n");
        assert!(read("").is_err() && read("[]").is_err() && read("x").is_err());
    }

    #[test]
    fn entries_of_later_versions_are_passed_over() {
        let later = OTHERS.replace("violation_sequence", "ghost_instrumentation");
        assert!(
            matches!(&read(&later).unwrap()[0].content, Content::Other(name) if name.starts_with("ghost"))
        );
        let start = later.find("  content:").unwrap();
        let map = format!("{}  content: {{ghost_variables: []}}\n", &later[..start]);
        assert!(matches!(read(&map).unwrap()[0].content, Content::Other(_)));
        let contract = format!(
            "{}  content:\n    - contract: {{type: function_contract, requires: x}}\n",
            &OTHERS[..start + "violation_sequence".len() - "ghost_instrumentation".len()]
        )
        .replace("violation_sequence", "invariant_set");
        assert_eq!(read(&contract).unwrap()[0].content, Content::Invariants(Vec::new()));
    }
}
