//! A run told by source lines: what happened in each, with the passes of long loops folded.

use palisade_base::Span;
use palisade_cfa::Program;
use palisade_witness::places::Places;
use palisade_witness::run::{Event, Steps};
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a run does in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Note {
    /// A value was stored in a place.
    Stored(String, String),
    /// A place was read before anything was stored in it.
    Uninitialised(String, String),
    /// A condition was true or false.
    Branch(String, bool),
    /// A function was called: its name, and its parameters with their values.
    Call(String, Vec<(String, String)>),
    /// The function returned, with its result.
    Return(String, Option<String>),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Stored(name, value) => write!(f, "{name} = {value}"),
            Note::Uninitialised(name, value) => write!(f, "{name} is not initialised, here {value}"),
            Note::Branch(condition, taken) => write!(f, "{condition}: {taken}"),
            Note::Call(name, parameters) => {
                let parameters: Vec<String> = parameters.iter().map(|(p, v)| format!("{p} = {v}")).collect();
                write!(f, "calls {name}({})", parameters.join(", "))
            }
            Note::Return(_, Some(value)) => write!(f, "returns {value}"),
            Note::Return(..) => f.write_str("returns"),
        }
    }
}

/// A source line that a run passes.
#[derive(Clone, Debug)]
pub struct TraceLine {
    /// What is executed.
    pub span: Span,
    /// The file, as it was given.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// Its column.
    pub column: Option<u32>,
    /// The function.
    pub function: String,
    /// How many calls are active.
    pub depth: usize,
    /// What happened.
    pub notes: Vec<Note>,
    /// How many passes through this line and those before it were left out before it.
    pub folded: Option<Folded>,
}

/// Passes of a loop that are not told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Folded {
    /// How many.
    pub passes: usize,
    /// Lines of each.
    pub lines: usize,
}

impl TraceLine {
    /// The notes in one line.
    pub fn text(&self) -> String {
        self.notes.iter().map(Note::to_string).collect::<Vec<_>>().join(", ")
    }

    /// What was stored: places and values.
    pub fn changes(&self) -> impl Iterator<Item = (&String, &String)> {
        self.notes.iter().filter_map(|note| match note {
            Note::Stored(name, value) | Note::Uninitialised(name, value) => Some((name, value)),
            _ => None,
        })
    }

    /// Whether one more thing that happens belongs to the same pass through the line.
    fn takes(&self, note: &Note) -> bool {
        if self.notes.iter().any(|n| matches!(n, Note::Return(..))) {
            return false;
        }
        !self.notes.iter().any(|n| match (n, note) {
            (Note::Stored(a, _), Note::Stored(b, _)) | (Note::Branch(a, _), Note::Branch(b, _)) => a == b,
            _ => false,
        })
    }

    /// What two passes of a loop have in common: the way, not the values.
    fn way(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.file, self.line, self.depth, self.folded.map(|f| f.lines)).hash(&mut hasher);
        for note in &self.notes {
            match note {
                Note::Stored(..) => 0u8.hash(&mut hasher),
                Note::Uninitialised(..) => 1u8.hash(&mut hasher),
                Note::Branch(condition, taken) => (condition, taken).hash(&mut hasher),
                Note::Call(name, _) => (2u8, name).hash(&mut hasher),
                Note::Return(name, _) => (3u8, name).hash(&mut hasher),
            }
        }
        hasher.finish()
    }
}

/// The lines of a run.
pub fn lines(program: &Program, places: &Places, steps: &Steps) -> Vec<TraceLine> {
    let mut lines: Vec<TraceLine> = Vec::new();
    let mut conditions: FxHashMap<Span, String> = FxHashMap::default();
    for step in steps.iter() {
        let span = program.edges[step.edge].span;
        let Some(location) = places.locate(span.lo) else { continue };
        let note = match &step.event {
            Event::Stored(name, value) => Note::Stored(name.clone(), value.clone()),
            Event::Uninitialised(name, value) => Note::Uninitialised(name.clone(), value.clone()),
            Event::Branch(taken) => {
                let condition = conditions.entry(span).or_insert_with(|| one_line(places.written(span)));
                Note::Branch(condition.clone(), *taken)
            }
            Event::Call(name, parameters) => Note::Call(name.clone(), parameters.clone()),
            Event::Return(name, value) => Note::Return(name.clone(), value.clone()),
        };
        match lines.last_mut() {
            Some(last)
                if step.leapt == 0
                    && last.line == location.line
                    && last.depth == step.depth
                    && last.file == location.file_name
                    && last.takes(&note) =>
            {
                last.notes.push(note);
            }
            _ => lines.push(TraceLine {
                span,
                file: location.file_name,
                line: location.line,
                column: location.column,
                function: location.function.unwrap_or_default(),
                depth: step.depth,
                notes: vec![note],
                folded: (step.leapt > 0).then_some(Folded { passes: step.leapt as usize, lines: 1 }),
            }),
        }
    }
    fold(lines)
}

/// The longest pass of a loop that is recognised.
const LONGEST: usize = 64;
/// Passes that are told before a fold, and after it.
const BEFORE: usize = 2;
const AFTER: usize = 1;

/// Leaves out passes of a loop that go the same way as those before them. Short passes come first, so
/// that the passes of an outer loop are compared after its inner loops were folded.
fn fold(mut lines: Vec<TraceLine>) -> Vec<TraceLine> {
    let mut ways: Vec<u64> = lines.iter().map(TraceLine::way).collect();
    for period in 1..=LONGEST {
        let before = lines.len();
        let mut kept: Vec<TraceLine> = Vec::with_capacity(before);
        let mut rest = lines.into_iter();
        let mut at = 0;
        while at < ways.len() {
            let same =
                (at..ways.len() - period.min(ways.len() - at)).take_while(|i| ways[*i] == ways[i + period]);
            let passes = same.count() / period + 1;
            if passes > BEFORE + AFTER + 1 {
                let left_out = passes - BEFORE - AFTER;
                kept.extend(rest.by_ref().take(BEFORE * period));
                rest.by_ref().take(left_out * period).for_each(drop);
                let mut after: Vec<TraceLine> = rest.by_ref().take(AFTER * period).collect();
                if let Some(line) = after.first_mut() {
                    line.folded = Some(Folded { passes: left_out, lines: period });
                }
                kept.extend(after);
                at += passes * period;
            } else {
                kept.extend(rest.next());
                at += 1;
            }
        }
        if kept.len() < before {
            ways = kept.iter().map(TraceLine::way).collect();
        }
        lines = kept;
    }
    lines
}

/// Characters of a condition that are shown at most.
const CONDITION: usize = 60;

fn one_line(text: &str) -> String {
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    crate::report::cropped(text.trim_end_matches([' ', ':']), CONDITION)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32) -> TraceLine {
        TraceLine {
            span: Span::NONE,
            file: "f.c".into(),
            line,
            column: None,
            function: "f".into(),
            depth: 1,
            notes: vec![Note::Stored("i".into(), line.to_string())],
            folded: None,
        }
    }

    fn folded(numbers: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let lines = fold(numbers.iter().map(|n| line(*n)).collect());
        let passes = lines.iter().filter_map(|l| Some(l.folded?.passes)).collect();
        (lines.iter().map(|l| l.line).collect(), passes)
    }

    #[test]
    fn long_loops_are_folded_and_short_ones_are_not() {
        assert_eq!(folded(&[1, 2, 3, 2, 3, 2, 3, 4]), (vec![1, 2, 3, 2, 3, 2, 3, 4], vec![]));
        let mut long = vec![1];
        (0..100).for_each(|_| long.extend([2, 3]));
        long.extend([2, 4]);
        assert_eq!(folded(&long), (vec![1, 2, 3, 2, 3, 2, 3, 2, 4], vec![97]));
    }

    #[test]
    fn loops_in_loops_are_folded() {
        let mut nested = Vec::new();
        for _ in 0..10 {
            nested.push(1);
            nested.extend([2; 20]);
        }
        assert_eq!(folded(&nested), (vec![1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2], vec![17, 17, 7, 17]));
        assert_eq!(folded(&[]), (vec![], vec![]));
    }
}
