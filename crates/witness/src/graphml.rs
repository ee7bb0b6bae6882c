//! Witnesses of format 1.0: automata in GraphML.
//!
//! Of a correctness witness the invariants of nodes are read, at the line of the edges that leave the node. Of a
//! violation witness one path to the violation is read: the values that functions return on it
//! (`assumption.resultfunction`), and the line where it ends. Other assumptions are left out: the format does not say
//! before which statement they hold. What is read is checked as every other witness is.

use crate::model::*;
use std::collections::{BTreeMap, VecDeque};

/// A node or an edge: its attributes and its data by key.
#[derive(Clone, Debug, Default)]
struct Part {
    attributes: BTreeMap<String, String>,
    data: BTreeMap<String, String>,
}

impl Part {
    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }

    fn data(&self, key: &str) -> Option<&str> {
        self.data.get(key).map(String::as_str)
    }

    fn is(&self, key: &str) -> bool {
        self.data(key) == Some("true")
    }

    fn line(&self) -> Option<u32> {
        self.data("startline")?.parse().ok()
    }
}

#[derive(Debug, Default)]
struct Automaton {
    graph: Part,
    nodes: Vec<Part>,
    edges: Vec<Part>,
}

/// Whether a text looks like GraphML.
pub fn is_graphml(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with("<?xml") || text.starts_with("<graphml")
}

/// Reads a witness; what is wrong with it, otherwise.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    let automaton = automaton(text)?;
    let about = |key: &str| automaton.graph.data(key).unwrap_or("").trim().to_owned();
    let file = about("programfile");
    let hash = about("programhash");
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let task = TaskInfo {
        input_files: if file.is_empty() { Vec::new() } else { vec![name(&file)] },
        // Older witnesses have other sums.
        input_file_hashes: if hash.len() == 64 { vec![(name(&file), hash)] } else { Vec::new() },
        specification: about("specification"),
        data_model: if about("architecture") == "32bit" { "ILP32".into() } else { "LP64".into() },
        language: "C".into(),
    };
    let at = |line: u32| Location { file_name: name(&file), line, column: None, function: None };
    let content = match about("witness-type").as_str() {
        "violation_witness" => Content::Violation(automaton.path(&at)?),
        "correctness_witness" => Content::Invariants(automaton.invariants(&at)),
        other => return Err(format!("`{other}` is no type of witness")),
    };
    let producer = Producer { name: about("producer"), version: String::new() };
    let metadata = Metadata { format_version: "1.0".into(), producer, task, ..Metadata::default() };
    Ok(vec![Entry { metadata, content }])
}

impl Automaton {
    /// The invariants of nodes, where they hold.
    fn invariants(&self, at: &dyn Fn(u32) -> Location) -> Vec<Invariant> {
        let mut invariants = Vec::new();
        for node in &self.nodes {
            let Some(value) = node.data("invariant").filter(|v| !matches!(v.trim(), "true" | "1" | "(1)"))
            else {
                continue;
            };
            let id = node.attribute("id");
            let Some(line) = self.edges.iter().filter(|e| e.attribute("source") == id).find_map(Part::line)
            else {
                continue;
            };
            let head = self.edges.iter().any(|e| e.attribute("target") == id && e.is("enterLoopHead"));
            let kind = if head { InvariantKind::Loop } else { InvariantKind::Location };
            invariants.push(Invariant { kind, location: at(line), value: value.trim().into(), at: None });
        }
        invariants
    }

    /// The shortest way from the entry to the violation.
    fn path(&self, at: &dyn Fn(u32) -> Location) -> Result<Vec<Segment>, String> {
        let entry = self.nodes.iter().find(|n| n.is("entry")).ok_or("the automaton has no entry")?;
        let mut came: BTreeMap<&str, Option<usize>> = BTreeMap::from([(entry.attribute("id"), None)]);
        let mut work = VecDeque::from([entry.attribute("id")]);
        while let Some(id) = work.pop_front() {
            for (i, edge) in self.edges.iter().enumerate().filter(|(_, e)| e.attribute("source") == id) {
                if !came.contains_key(edge.attribute("target")) {
                    came.insert(edge.attribute("target"), Some(i));
                    work.push_back(edge.attribute("target"));
                }
            }
        }
        let mut violations = self.nodes.iter().filter(|n| n.is("violation")).map(|n| n.attribute("id"));
        let mut node = violations.find(|id| came.contains_key(id)).ok_or("no violation can be reached")?;
        let mut edges = Vec::new();
        while let Some(Some(i)) = came.get(node) {
            edges.push(&self.edges[*i]);
            node = self.edges[*i].attribute("source");
        }
        edges.reverse();
        let mut segments = Vec::new();
        for edge in &edges {
            let (Some(text), Some(line)) = (edge.data("assumption"), edge.line()) else { continue };
            if edge.data("assumption.resultfunction").is_some() && text.contains("\\result") {
                let constraint = Some(text.trim().trim_end_matches(';').trim().to_owned());
                let kind = WaypointKind::FunctionReturn;
                let follow = Waypoint { kind, location: at(line), constraint, at: None };
                segments.push(Segment { avoid: Vec::new(), follow });
            }
        }
        let last = edges.iter().rev().find_map(|e| e.line()).ok_or("nothing says where the violation is")?;
        let follow = Waypoint { kind: WaypointKind::Target, location: at(last), constraint: None, at: None };
        segments.push(Segment { avoid: Vec::new(), follow });
        Ok(segments)
    }
}

/// Reads the elements that matter: `graph`, `node`, `edge` and `data`.
fn automaton(text: &str) -> Result<Automaton, String> {
    let mut automaton = Automaton::default();
    let mut open: Option<(&str, Part)> = None;
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map(|end| &comment[end + 3..]).ok_or("a comment does not end")?;
            continue;
        }
        let end = rest.find('>').ok_or("a tag does not end")?;
        let (tag, after) = (&rest[1..end], &rest[end + 1..]);
        let whole = tag.ends_with('/');
        let tag = tag.trim_end_matches('/').trim();
        let (name, attributes) = tag.split_once(char::is_whitespace).unwrap_or((tag, ""));
        match name {
            "node" | "edge" => {
                let part = Part { attributes: read_attributes(attributes)?, data: BTreeMap::new() };
                open = Some((name, part));
                if whole {
                    close(&mut automaton, open.take());
                }
            }
            "/node" | "/edge" => close(&mut automaton, open.take()),
            "data" if !whole => {
                let key = read_attributes(attributes)?.remove("key").unwrap_or_default();
                let end = after.find("</data").ok_or("data do not end")?;
                let part = open.as_mut().map_or(&mut automaton.graph, |(_, part)| part);
                let value = plain(&after[..end]);
                // A specification may have several lines, each in an element of its own.
                let known = part.data.entry(key).or_default();
                *known = if known.is_empty() { value } else { format!("{known}\n{value}") };
            }
            _ => {}
        }
        rest = after;
    }
    if automaton.nodes.is_empty() { Err("there is no automaton".into()) } else { Ok(automaton) }
}

fn close(automaton: &mut Automaton, part: Option<(&str, Part)>) {
    match part {
        Some(("node", part)) => automaton.nodes.push(part),
        Some((_, part)) => automaton.edges.push(part),
        None => {}
    }
}

/// `name="value"`, separated by blanks.
fn read_attributes(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut attributes = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=').ok_or("an attribute has no value")?;
        let after = after.trim_start();
        let quote =
            after.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or("a value has no quotes")?;
        let (value, after) = after[1..].split_once(quote).ok_or("a value does not end")?;
        attributes.insert(name.trim().to_owned(), plain(value));
        rest = after.trim_start();
    }
    Ok(attributes)
}

/// Text without references to characters.
fn plain(text: &str) -> String {
    let replaced =
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    replaced.replace("&#10;", "\n").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIOLATION: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml><!-- made by hand -->
<key id="startline" for="edge"/>
<graph edgedefault="directed">
<data key="witness-type">violation_witness</data>
<data key="specification">CHECK( init(main()), LTL(G ! call(reach_error())) )</data>
<data key="programfile">/tmp/a.c</data>
<data key="architecture">32bit</data>
<node id="n0"><data key="entry">true</data></node>
<node id="sink"/>
<node id="n1"></node>
<node id="n2"><data key="violation">true</data></node>
<edge source="n0" target="sink"><data key="startline">2</data></edge>
<edge source="n0" target="n1"><data key="startline">3</data>
  <data key="assumption">\result == (-7);</data>
  <data key="assumption.resultfunction">__VERIFIER_nondet_int</data></edge>
<edge source="n1" target="n2"><data key="startline">5</data><data key="assumption">x &lt; 3;</data></edge>
</graph></graphml>"#;

    #[test]
    fn a_path_is_read() {
        let entries = read(VIOLATION).expect("a witness");
        assert_eq!(entries[0].metadata.task.data_model, "ILP32");
        let Content::Violation(segments) = &entries[0].content else { panic!("a violation") };
        let [value, target] = &segments[..] else { panic!("{segments:?}") };
        assert_eq!(value.follow.constraint.as_deref(), Some("\\result == (-7)"));
        assert_eq!((value.follow.location.line, target.follow.location.line), (3, 5));
        assert_eq!(target.follow.location.file_name, "a.c");
    }

    #[test]
    fn invariants_are_read_where_they_hold() {
        let text = VIOLATION
            .replace("violation_witness", "correctness_witness")
            .replace(
                r#"<node id="n1">"#,
                r#"<node id="n1"><data key="invariant">x &gt;= 0 &amp;&amp; x &lt; 9</data>"#,
            )
            .replace(
                "</edge>\n<edge source=\"n1\"",
                "<data key=\"enterLoopHead\">true</data></edge>\n<edge source=\"n1\"",
            );
        let entries = read(&text).expect("a witness");
        let Content::Invariants(invariants) = &entries[0].content else { panic!("invariants") };
        assert_eq!(invariants.len(), 1);
        assert_eq!((invariants[0].value.as_str(), invariants[0].location.line), ("x >= 0 && x < 9", 5));
        assert_eq!(invariants[0].kind, InvariantKind::Loop);
    }

    #[test]
    fn what_is_broken_is_refused() {
        assert!(is_graphml(VIOLATION) && !is_graphml("- entry_type: violation_sequence"));
        for (good, bad) in [
            ("<data key=\"violation\">true</data>", ""),
            ("violation_witness", "nothing"),
            ("</data></edge>\n</graph>", ""),
            ("id=\"n0\"", "id=n0"),
        ] {
            let text = VIOLATION.replacen(good, bad, 1);
            assert_ne!(text, VIOLATION, "{good}");
            assert!(read(&text).is_err(), "{bad}");
        }
        for end in 0..VIOLATION.len() {
            let _ = read(VIOLATION.get(..end).unwrap_or(""));
        }
    }
}
