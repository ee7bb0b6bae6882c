//! What was measured, and its text form: a run that is broken off goes on where it was.

use super::{Domain, Proof};
use std::time::Duration;

/// What one domain did with one function.
#[derive(Clone, PartialEq, Debug)]
pub enum Outcome {
    /// It found the invariants.
    Solved(Solved),
    /// It needed more time than allowed.
    OutOfTime,
    /// It needed more memory than allowed.
    OutOfMemory,
    /// It crashed, or a run contradicts an invariant: a defect.
    Failed(String),
}

/// The measurements of a solved function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Solved {
    /// CPU time of order, join and emptiness.
    pub basic: Duration,
    /// CPU time of assignments, guards and projection.
    pub image: Duration,
    /// CPU time of widening.
    pub widen: Duration,
    /// How often a loop head was widened.
    pub widenings: u64,
    /// The largest invariant, in nodes; 0 for domains without diagrams.
    pub nodes: u64,
    /// The largest invariant, in boxes: paths of a diagram, or elements of a powerset.
    pub boxes: f64,
    /// How often boxes were merged to stay within limits.
    pub merges: u64,
    /// Bytes that the analysis needed at most.
    pub memory: u64,
    /// States of random runs that were found inside the invariants.
    pub states: u64,
    /// Which checks cannot fail.
    pub proved: Vec<bool>,
}

impl Solved {
    /// CPU time of all operations of the domain.
    pub fn total(&self) -> Duration {
        self.basic + self.image + self.widen
    }

    /// Numbers in a row, without tabs.
    pub(super) fn encode(&self) -> String {
        let [basic, image, widen] = [self.basic, self.image, self.widen].map(|d| d.as_nanos());
        let Solved { widenings, nodes, boxes, merges, memory, states, .. } = self;
        let proved: String = self.proved.iter().map(|p| if *p { '1' } else { '0' }).collect();
        format!("{basic} {image} {widen} {widenings} {nodes} {boxes} {merges} {memory} {states} .{proved}")
    }

    pub(super) fn decode(text: &str) -> Option<Solved> {
        let fields: Vec<&str> = text.split(' ').collect();
        let [basic, image, widen, widenings, nodes, boxes, merges, memory, states, proved] = fields[..]
        else {
            return None;
        };
        let time = |nanos: &str| nanos.parse().ok().map(Duration::from_nanos);
        Some(Solved {
            basic: time(basic)?,
            image: time(image)?,
            widen: time(widen)?,
            widenings: widenings.parse().ok()?,
            nodes: nodes.parse().ok()?,
            boxes: boxes.parse().ok()?,
            merges: merges.parse().ok()?,
            memory: memory.parse().ok()?,
            states: states.parse().ok()?,
            proved: proved.strip_prefix('.')?.chars().map(|c| c == '1').collect(),
        })
    }
}

impl Proof {
    /// Text without tabs.
    pub(super) fn encode(self) -> String {
        match self {
            Proof::Shown => "shown".into(),
            Proof::Refuted(number) => format!("refuted {number}"),
            Proof::Open => "open".into(),
            Proof::Failed => "failed".into(),
        }
    }

    pub(super) fn decode(text: &str) -> Option<Proof> {
        Some(match text {
            "shown" => Proof::Shown,
            "open" => Proof::Open,
            "failed" => Proof::Failed,
            _ => Proof::Refuted(text.strip_prefix("refuted ")?.parse().ok()?),
        })
    }
}

/// A function and what the domains did with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Where the function is defined, and its name.
    pub name: String,
    /// Variables that are tracked.
    pub vars: usize,
    /// Loop heads.
    pub loops: usize,
    /// Checks.
    pub checks: usize,
    /// What the solver says about the invariants of LDD Boxes, if it was asked.
    pub proof: Option<Proof>,
    /// The outcome of each domain that was run, in the order of [`Domain::ALL`].
    pub outcomes: [Option<Outcome>; Domain::ALL.len()],
}

impl Row {
    /// One line of text.
    pub fn encode(&self) -> String {
        let proof = self.proof.map_or("-".into(), Proof::encode);
        let mut text = format!("{}\t{}\t{}\t{}\t{proof}", self.name, self.vars, self.loops, self.checks);
        for outcome in &self.outcomes {
            text.push('\t');
            match outcome {
                None => text.push('-'),
                Some(Outcome::Solved(s)) => text += &s.encode(),
                Some(Outcome::OutOfTime) => text.push_str("time"),
                Some(Outcome::OutOfMemory) => text.push_str("memory"),
                Some(Outcome::Failed(why)) => text += &format!("failed {}", why.replace(['\t', '\n'], " ")),
            }
        }
        text
    }

    /// The row of a line; `None` if that is no row, as when it was not finished.
    pub fn decode(line: &str) -> Option<Row> {
        let mut fields = line.split('\t');
        let name = fields.next()?.to_owned();
        let mut number = || fields.next()?.parse().ok();
        let (vars, loops, checks) = (number()?, number()?, number()?);
        let proof = match fields.next()? {
            "-" => None,
            text => Some(Proof::decode(text)?),
        };
        let mut outcomes = [const { None }; Domain::ALL.len()];
        for outcome in &mut outcomes {
            *outcome = match fields.next()? {
                "-" => None,
                "time" => Some(Outcome::OutOfTime),
                "memory" => Some(Outcome::OutOfMemory),
                text => Some(match text.strip_prefix("failed ") {
                    Some(why) => Outcome::Failed(why.to_owned()),
                    None => Outcome::Solved(Solved::decode(text)?),
                }),
            };
        }
        Some(Row { name, vars, loops, checks, proof, outcomes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_were_written() {
        let solved = Solved {
            basic: Duration::from_nanos(12),
            boxes: 2.5e9,
            proved: vec![true, false],
            ..Solved::default()
        };
        let outcomes = [
            None,
            Some(Outcome::Solved(solved.clone())),
            Some(Outcome::OutOfTime),
            Some(Outcome::OutOfMemory),
            Some(Outcome::Failed("signal 9".into())),
            Some(Outcome::Solved(Solved { proved: Vec::new(), ..solved })),
        ];
        for proof in
            [None, Some(Proof::Shown), Some(Proof::Refuted(3)), Some(Proof::Open), Some(Proof::Failed)]
        {
            let outcomes = outcomes.clone();
            let row = Row { name: "a/b.c:1:f".into(), vars: 7, loops: 2, checks: 2, proof, outcomes };
            let line = row.encode();
            assert_eq!(Row::decode(&line), Some(row));
            assert_eq!(Row::decode(&line[..line.len() / 2]), None);
        }
    }
}
