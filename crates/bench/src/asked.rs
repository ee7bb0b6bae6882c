//! This program, asked about a file as a user asks it: a process of its own, and what it says as JSON.

use serde_json::Value;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What it says.
#[derive(Clone, PartialEq, Debug)]
pub struct Answer {
    /// `true`, `false`, `unknown` or `error`.
    pub verdict: String,
    /// Who found it.
    pub engine: Option<String>,
    /// The class of the program.
    pub class: Option<String>,
    /// CPU seconds, of all engines together.
    pub seconds: f64,
    /// The same without the second opinion.
    pub found: f64,
    /// CPU seconds that each engine had.
    pub tried: Vec<(String, f64)>,
    /// Who took how many facts from whom.
    pub taken: Vec<(String, String, u64)>,
}

/// Runs `palisade check` on a file.
pub fn ask(palisade: &Path, options: &[&str], file: &Path, limit: Duration) -> io::Result<Answer> {
    let limit = format!("{}ms", limit.as_millis());
    let output = Command::new(palisade)
        .args(["check", "--json", "--time-limit", &limit])
        .args(options)
        .arg(file)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    Answer::read(&output.stdout)
        .ok_or_else(|| io::Error::other(format!("no result for {}: {}", file.display(), output.status)))
}

/// A task, settled with one analysis and with another.
pub type Twice = Asked<2>;

/// A task, settled with some analyses.
pub struct Asked<const N: usize> {
    /// Its category.
    pub category: String,
    /// Its file.
    pub name: String,
    /// Whether the property holds.
    pub expected: bool,
    /// What is said about it.
    pub answers: [Answer; N],
}

impl<const N: usize> Asked<N> {
    /// Whether one of the answers is a verdict, but not the right one.
    pub fn is_wrong(&self, which: usize) -> bool {
        let answer = &self.answers[which];
        answer.is_settled() && (answer.verdict == "true") != self.expected
    }

    /// The points of one of the answers as competitions count them.
    pub fn points(&self, which: usize) -> i32 {
        match (self.answers[which].verdict.as_str(), self.expected) {
            ("true", true) => 2,
            ("false", false) => 1,
            ("true", false) => -32,
            ("false", true) => -16,
            _ => 0,
        }
    }
}

impl Answer {
    fn read(text: &[u8]) -> Option<Answer> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let list = |name: &str| value[name].as_array().map_or(&[][..], Vec::as_slice).iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Some(Answer {
            verdict: value["verdict"].as_str()?.into(),
            engine: value["engine"].as_str().map(Into::into),
            class: value["class"].as_str().map(Into::into),
            seconds: value["cpu_seconds"].as_f64().unwrap_or(0.0),
            found: value["found_after"].as_f64().unwrap_or(0.0),
            tried: list("tried")
                .map(|t| (text(&t["engine"]), t["seconds"].as_f64().unwrap_or(0.0)))
                .collect(),
            taken: list("taken")
                .map(|t| (text(&t["by"]), text(&t["from"]), t["facts"].as_u64().unwrap_or(0)))
                .collect(),
        })
    }

    /// Whether it is a verdict.
    pub fn is_settled(&self) -> bool {
        self.verdict == "true" || self.verdict == "false"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_from_json() {
        let text =
            br#"{"verdict": "true", "engine": "bmc", "class": "loop", "cpu_seconds": 1.5, "found_after": 1,
            "tried": [{"engine": "bmc",
            "seconds": 0.2, "said": ""}], "taken": [{"by": "houdini", "from": "octagon", "facts": 3}]}"#;
        let answer = Answer::read(text).expect("a result");
        assert!(answer.is_settled());
        assert_eq!((answer.engine.as_deref(), answer.class.as_deref()), (Some("bmc"), Some("loop")));
        assert_eq!((answer.seconds, answer.found), (1.5, 1.0));
        assert_eq!(answer.tried, [("bmc".to_owned(), 0.2)]);
        assert_eq!(answer.taken, [("houdini".to_owned(), "octagon".to_owned(), 3)]);
        assert_eq!(Answer::read(b"no JSON"), None);
    }
}
