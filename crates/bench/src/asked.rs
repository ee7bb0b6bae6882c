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
    /// CPU seconds, of all engines together.
    pub seconds: f64,
    /// The same without the second opinion.
    pub found: f64,
    /// CPU seconds that each engine had, to the nearest turn.
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

impl Answer {
    fn read(text: &[u8]) -> Option<Answer> {
        let value: Value = serde_json::from_slice(text).ok()?;
        let list = |name: &str| value[name].as_array().map_or(&[][..], Vec::as_slice).iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Some(Answer {
            verdict: value["verdict"].as_str()?.into(),
            engine: value["engine"].as_str().map(Into::into),
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
        let text = br#"{"verdict": "true", "engine": "bmc", "cpu_seconds": 1.5, "found_after": 1,
            "tried": [{"engine": "bmc",
            "seconds": 0.2, "said": ""}], "taken": [{"by": "houdini", "from": "octagon", "facts": 3}]}"#;
        let answer = Answer::read(text).expect("a result");
        assert!(answer.is_settled());
        assert_eq!(answer.engine.as_deref(), Some("bmc"));
        assert_eq!((answer.seconds, answer.found), (1.5, 1.0));
        assert_eq!(answer.tried, [("bmc".to_owned(), 0.2)]);
        assert_eq!(answer.taken, [("houdini".to_owned(), "octagon".to_owned(), 3)]);
        assert_eq!(Answer::read(b"no JSON"), None);
    }
}
