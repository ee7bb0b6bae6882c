//! One self-contained page: the verdict and what it rests on, the source with what was found beside its lines,
//! and the run step by step.

use crate::finding::Finding;
use palisade_portfolio::{Settled, Tried, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Notes that one line shows at most.
const NOTES: usize = 12;
/// Steps that are on the page at most: the first and the last.
const STEPS: usize = 5000;

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/steps.js");

/// The part of the page that shows a step of the run.
const STEP: &str = r#"<aside>
<p id="where"></p><p id="what"></p>
<p><button id="first">first</button><button id="back">back</button><button id="next">next</button><button id="error">to the end</button></p>
<p class="keys"><kbd>&larr;</kbd> <kbd>&rarr;</kbd> step, <kbd>Home</kbd> first, <kbd>e</kbd> to the end</p>
<h2>calls</h2><table id="stack"></table>
<h2>values</h2><table id="values"></table>
</aside>
"#;

/// How the tool was asked.
pub struct Asked {
    /// The command line.
    pub command: String,
    /// The limits.
    pub limits: String,
}

/// The page.
pub fn page(finding: &Finding<'_>, asked: &Asked) -> String {
    let (class, verdict) = match &finding.settled.verdict {
        Verdict::True => ("true", "true".to_owned()),
        Verdict::False(goal) => ("false", format!("false({goal})")),
        Verdict::Unknown(reason) => ("unknown", format!("unknown ({reason})")),
    };
    let names: Vec<&str> = finding.input.files.iter().map(|f| f.name.as_str()).collect();
    let title = escape(&names.join(", "));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <title>Palisade: {title}</title><style>{STYLE}</style></head><body>\n\
         <header><h1>{title}: <span class=\"{class}\">{}</span></h1>\n",
        escape(&verdict)
    );
    let what = match finding.settled_by() {
        Some(_) => "undefined, before the property is reached",
        None => "violation",
    };
    if let Some(story) = &finding.story {
        let _ = writeln!(page, "<p><b>{what}:</b> {}</p>", escape(&story.described.text));
    }
    for line in finding.obstacles.iter().flat_map(|o| o.text().lines().map(str::to_owned).collect::<Vec<_>>())
    {
        let _ = writeln!(page, "<p>{}</p>", escape(&line));
    }
    page.push_str("<details><summary>how it was asked and what it rests on</summary><dl>");
    let mut item = |name: &str, value: &str| {
        // Writing to a string does not fail.
        let _ = write!(page, "<dt>{name}</dt><dd>{}</dd>", escape(value));
    };
    item("property", &finding.property.to_string());
    item("command", &asked.command);
    item("limits", &asked.limits);
    item("version", concat!("Palisade ", env!("CARGO_PKG_VERSION")));
    item("evidence", finding.evidence());
    if let Some(engine) = &finding.settled.engine {
        item("settled by", engine);
    }
    for line in &finding.why {
        item("why", line);
    }
    for assumption in &finding.settled.assumptions {
        item("assuming", &assumption.text(finding.program));
    }
    for why in finding.settled.rejected.iter().chain(&finding.settled.unchecked) {
        item("not accepted", why);
    }
    if let Some(property) = finding.settled_by() {
        item("try", &format!("--property {property}: this is what the run violates"));
    }
    if let Some(story) = &finding.story {
        item("inputs in order", &story.inputs().join(", "));
        if let Some(arguments) = story.arguments() {
            item("arguments", &arguments.join(" "));
        }
    }
    page.push_str("</dl></details></header>\n");
    let tried = tried(finding.settled);
    let steps = steps(finding);
    let alone = if steps.is_empty() { " class=\"alone\"" } else { "" };
    let _ = writeln!(page, "<main{alone}>\n<div class=\"source\">");
    page.push_str(&tried);
    source(&mut page, finding, what);
    page.push_str("</div>\n");
    if !steps.is_empty() {
        page.push_str(STEP);
    }
    // Nothing in the data may look like the end of the script.
    let data = Value::Array(steps).to_string().replace('<', "\\u003c");
    let _ = writeln!(
        page,
        "</main>\n<script id=\"steps\" type=\"application/json\">{data}</script>\n<script>{SCRIPT}</script>\n\
         </body></html>"
    );
    page
}

/// What was tried, by which engine and for how long, where the question was not settled: who had most time first.
fn tried(settled: &Settled) -> String {
    if !matches!(settled.verdict, Verdict::Unknown(_)) || settled.tried.is_empty() {
        return String::new();
    }
    let mut all: Vec<&Tried> = settled.tried.iter().collect();
    all.sort_by_key(|t| std::cmp::Reverse(t.time));
    let mut table = "<h2>what was tried</h2>\n<table class=\"tried\">\n".to_owned();
    for Tried { engine, time, said } in all {
        let (time, said) = (time.as_secs_f64(), escape(said));
        let _ = writeln!(table, "<tr><td>{engine}</td><td>{time:.1} s</td><td>{said}</td></tr>");
    }
    table + "</table>\n"
}

/// The files line by line, with notes beside the lines.
fn source(page: &mut String, finding: &Finding<'_>, what: &str) {
    let notes = notes(finding, what);
    for (f, file) in finding.input.files.iter().enumerate() {
        let _ = writeln!(page, "<h2>{}</h2>\n<table>", escape(&file.name));
        let text = file.original.as_deref().unwrap_or(&file.text);
        for (i, line) in text.lines().enumerate() {
            let number = i + 1;
            let note = notes.get(&(file.name.as_str(), number as u32));
            let class = match note {
                Some(n) if n.bad => " class=\"bad\"",
                Some(_) => " class=\"hit\"",
                None => "",
            };
            let note = note.map_or_else(String::new, Note::text);
            let _ = writeln!(
                page,
                "<tr id=\"f{f}l{number}\"{class}><td class=\"n\">{number}</td><td>{}</td><td class=\"note\">{}</td></tr>",
                escape(line),
                escape(&note)
            );
        }
        page.push_str("</table>\n");
    }
}

/// The run for the script: where each step is, and what happens there.
fn steps(finding: &Finding<'_>) -> Vec<Value> {
    let (Some(story), Some(places)) = (&finding.story, &finding.places) else { return Vec::new() };
    let file_of = |name: &str| finding.input.files.iter().position(|f| f.name == name);
    let (first, _, last) = story.abbreviated(STEPS);
    let mut steps: Vec<Value> = Vec::new();
    for line in first.iter().chain(last) {
        let place = file_of(&line.file).map_or_else(String::new, |f| format!("f{f}l{}", line.line));
        let changes: Vec<_> = line.changes().map(|(name, value)| json!([name, value])).collect();
        steps.push(json!({
            "file": line.file, "line": line.line, "function": line.function, "depth": line.depth,
            "text": line.text(), "changes": changes, "place": place,
        }));
    }
    if let Some(at) = story.violation.and_then(|span| places.locate(span.lo)) {
        let place = file_of(&at.file_name).map_or_else(String::new, |f| format!("f{f}l{}", at.line));
        steps.push(json!({
            "file": at.file_name, "line": at.line, "function": at.function.unwrap_or_default(),
            "depth": story.run.stack.len(), "text": story.described.text, "changes": [], "place": place,
        }));
    }
    steps
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
fn notes<'f>(finding: &'f Finding<'_>, what: &str) -> BTreeMap<(&'f str, u32), Note> {
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
    for told in finding.obstacles.iter().flat_map(|o| &o.told) {
        if let Some(at) = &told.at
            && let Some(file) = known(&at.file_name)
        {
            notes.entry((file, at.line)).or_default().add(format!("open: {}", told.what));
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
        note.lines.push(format!("{what}: {}", story.described.text));
    }
    notes
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
