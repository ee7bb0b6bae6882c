//! One self-contained page: the verdict, and the source with what was found beside its lines.

use crate::finding::Finding;
use palisade_portfolio::Verdict;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Notes that one line shows at most.
const NOTES: usize = 12;
/// Steps that are numbered on the page at most.
const STEPS: usize = 5000;

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2em;max-width:110em;color:#1b1f24}\
h1{font-size:1.5em}.true{color:#116329}.false{color:#a40e26}.unknown{color:#7d4e00}\
table{border-collapse:collapse;font:13px/1.45 ui-monospace,monospace;width:100%}\
td{padding:0 .8em;vertical-align:top;white-space:pre-wrap}td.n{color:#8c959f;text-align:right;width:4em}\
td.note{color:#0550ae;border-left:1px solid #d0d7de;width:45%}tr.hit{background:#fff8c5}tr.bad{background:#ffd8d3}\
dt{font-weight:600}dd{margin:0 0 .4em 0}";

/// The page.
pub fn page(finding: &Finding<'_>) -> String {
    let (class, verdict) = match &finding.settled.verdict {
        Verdict::True => ("true", "true".to_owned()),
        Verdict::False(goal) => ("false", format!("false({goal})")),
        Verdict::Unknown(reason) => ("unknown", format!("unknown ({reason})")),
    };
    let names: Vec<&str> = finding.input.files.iter().map(|f| f.name.as_str()).collect();
    let title = escape(&names.join(", "));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>Palisade: {title}</title><style>{STYLE}</style></head><body>\n\
         <h1>{title}: <span class=\"{class}\">{}</span></h1>\n<dl>",
        escape(&verdict)
    );
    let mut item = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    };
    item("property", &finding.property.to_string());
    item("evidence", finding.evidence());
    if let Some(engine) = finding.settled.engine {
        item("settled by", engine);
    }
    for assumption in &finding.settled.assumptions {
        item("assuming", &assumption.text(finding.program));
    }
    if let Some(story) = &finding.story {
        item("violation", &story.described.text);
        item("inputs in order", &story.inputs().join(", "));
        if let Some(arguments) = story.arguments() {
            item("arguments", &arguments.join(" "));
        }
    }
    page.push_str("</dl>\n");
    let notes = notes(finding);
    for file in &finding.input.files {
        let _ = writeln!(page, "<h2>{}</h2>\n<table>", escape(&file.name));
        let text = file.original.as_deref().unwrap_or(&file.text);
        for (i, line) in text.lines().enumerate() {
            let note = notes.get(&(file.name.as_str(), i as u32 + 1));
            let class = match note {
                Some(n) if n.bad => " class=\"bad\"",
                Some(_) => " class=\"hit\"",
                None => "",
            };
            let note = note.map_or_else(String::new, Note::text);
            let _ = writeln!(
                page,
                "<tr{class}><td class=\"n\">{}</td><td>{}</td><td class=\"note\">{}</td></tr>",
                i + 1,
                escape(line),
                escape(&note)
            );
        }
        page.push_str("</table>\n");
    }
    page.push_str("</body></html>\n");
    page
}

#[derive(Default)]
struct Note {
    lines: Vec<String>,
    more: usize,
    bad: bool,
}

impl Note {
    fn add(&mut self, line: String) {
        if self.lines.len() < NOTES {
            self.lines.push(line);
        } else {
            self.more += 1;
        }
    }

    fn text(&self) -> String {
        let mut text = self.lines.join("\n");
        if self.more > 0 {
            let _ = write!(text, "\n... {} more", self.more);
        }
        text
    }
}

/// What to say beside each line.
fn notes<'f>(finding: &'f Finding<'_>) -> BTreeMap<(&'f str, u32), Note> {
    let mut notes: BTreeMap<(&str, u32), Note> = BTreeMap::new();
    let known = |name: &str| finding.input.files.iter().map(|f| f.name.as_str()).find(|n| *n == name);
    let Some(places) = &finding.places else { return notes };
    for fact in &finding.facts {
        if let Some(at) = places.locate(fact.span.lo)
            && let Some(file) = known(&at.file_name)
        {
            notes.entry((file, at.line)).or_default().add(format!("invariant: {}", fact.text));
        }
    }
    let Some(story) = &finding.story else { return notes };
    for (i, line) in story.lines.iter().take(STEPS).enumerate() {
        if let Some(file) = known(&line.file) {
            notes.entry((file, line.line)).or_default().add(format!("{}. {}", i + 1, line.text()));
        }
    }
    if let Some(at) = story.violation.and_then(|span| places.locate(span.lo))
        && let Some(file) = known(&at.file_name)
    {
        let note = notes.entry((file, at.line)).or_default();
        note.bad = true;
        note.lines.push(format!("violation: {}", story.described.text));
    }
    notes
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
