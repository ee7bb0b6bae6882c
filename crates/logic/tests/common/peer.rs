//! Another solver, kept running for many scripts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A child process that reads SMT-LIB.
pub struct Peer {
    name: &'static str,
    args: &'static [&'static str],
    /// What comes before every script.
    prelude: &'static str,
    separation: Separation,
    running: Option<(Child, ChildStdin, Receiver<String>)>,
}

/// How scripts for one process are kept apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separation {
    /// By `(reset)`.
    Reset,
    /// By a level that is popped after the script, where starting afresh takes long.
    Level,
}

impl Peer {
    /// The solver, if it is installed.
    pub fn start(
        name: &'static str,
        args: &'static [&'static str],
        prelude: &'static str,
        separation: Separation,
    ) -> Option<Peer> {
        let mut peer = Peer { name, args, prelude, separation, running: None };
        peer.restart()?;
        Some(peer)
    }

    fn restart(&mut self) -> Option<()> {
        self.stop();
        let mut child = Command::new(self.name)
            .args(self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let (mut input, output) = (child.stdin.take()?, child.stdout.take()?);
        if self.separation == Separation::Level {
            writeln!(input, "{}", self.prelude).ok()?;
        }
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        self.running = Some((child, input, lines));
        Some(())
    }

    fn stop(&mut self) {
        if let Some((mut child, ..)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Sends a script. Its answers are read by [`Peer::answers`].
    pub fn send(&mut self, script: &str) {
        let text = match self.separation {
            Separation::Reset => format!("(reset)\n{}\n{script}\n", self.prelude),
            Separation::Level => {
                let count = |command: &str| script.matches(command).count();
                let open = 1 + count("(push 1)") - count("(pop 1)");
                format!("(push 1)\n{script}\n(pop {open})\n")
            }
        };
        let text = format!("{text}(echo \"finished\")\n");
        let written = self.running.as_mut().is_some_and(|(_, input, _)| {
            input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_ok()
        });
        if !written {
            self.restart();
        }
    }

    /// The lines of the answer to the last script; `None` if the solver gave up on it. An error
    /// that is not a known limitation is a mistake of the test.
    pub fn lines(&mut self, script: &str) -> Option<Vec<String>> {
        let mut out = Vec::new();
        loop {
            let patience = Duration::from_secs(120);
            let line = self.running.as_ref().and_then(|(_, _, lines)| lines.recv_timeout(patience).ok());
            match line {
                Some(line) if line.trim_matches('"') == "finished" => return Some(out),
                Some(line) if line.contains("(error") => {
                    // The last one is z3 stumbling over its own model of constant arrays.
                    let known = [
                        "does not yet support",
                        "expected a value",
                        "canceled",
                        "timeout",
                        "resource",
                        "fold-rec",
                    ];
                    assert!(known.iter().any(|k| line.contains(k)), "{}: {line}\n{script}", self.name);
                    self.restart();
                    return None;
                }
                Some(line) => out.push(line),
                None => {
                    self.restart();
                    return None;
                }
            }
        }
    }

    /// The answers to the checks of the last script; `None` if the solver gave up on it.
    pub fn answers(&mut self, script: &str) -> Option<Vec<String>> {
        let answer = |line: String| match line.trim() {
            answer @ ("sat" | "unsat" | "unknown") => Some(answer.to_owned()),
            "timeout" => Some("unknown".to_owned()),
            _ => None,
        };
        Some(self.lines(script)?.into_iter().filter_map(answer).collect())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}
