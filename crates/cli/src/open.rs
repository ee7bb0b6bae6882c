//! What stood in the way of a verdict, in words and with its place in the files.

use palisade_cfa::*;
use palisade_portfolio::{Obstacle, Open, Settled};
use palisade_witness::model::Location;
use palisade_witness::places::Places;

/// How many are told; the others are counted.
const TOLD: usize = 10;
/// Loops that are named at most.
const LOOPS: usize = 3;
/// Characters of source that are quoted at most.
const QUOTED: usize = 40;

/// What nobody could exclude.
pub struct Obstacles {
    /// The first of them.
    pub told: Vec<Told>,
    /// How many there are besides.
    pub more: usize,
}

/// One of them.
pub struct Told {
    /// What may happen.
    pub what: String,
    /// The check; a call that is not followed is none.
    pub check: Option<(CheckKind, EdgeId)>,
    /// Where, if that is known.
    pub at: Option<Location>,
    /// Loops that a run passes before: all that there are, if they are few.
    pub loops: Vec<Location>,
}

impl Obstacles {
    /// What is known about a question that was not settled.
    pub fn new(settled: &Settled, program: &Program, places: &Places) -> Obstacles {
        let mut told: Vec<Told> = Vec::new();
        let mut open = settled.open.iter();
        for open in open.by_ref() {
            let next = Told::new(settled, program, places, open);
            // Several checks of one access, or of one library function, say the same.
            if !told.iter().any(|t| (&t.what, &t.at) == (&next.what, &next.at)) {
                told.push(next);
            }
            if told.len() == TOLD {
                break;
            }
        }
        Obstacles { told, more: open.len() }
    }

    /// A line for each.
    pub fn text(&self) -> String {
        let mut text: String = self.told.iter().map(|t| format!("open: {}\n", t.text())).collect();
        if self.more > 0 {
            text.push_str(&format!("open: and {} more\n", self.more));
        }
        text
    }
}

impl Told {
    fn new(settled: &Settled, program: &Program, places: &Places, open: &Open) -> Told {
        let mut way = open.calls.iter().copied().chain([open.edge]).rev();
        let inside = way.find(|&edge| places.contains(program.edges[edge].span));
        let at = inside.and_then(|edge| places.locate(program.edges[edge].span.lo));
        let mut what = match open.what {
            Obstacle::Check(kind) => hazard(kind, program, open.edge, places),
            Obstacle::Call => unfollowed(program, open.edge),
        };
        if inside.is_some_and(|edge| edge != open.edge) {
            let name = &program.funcs[program.locs[program.edges[open.edge].src].func].name;
            what = format!("in `{name}`: {what}");
        }
        let heads = settled.task.as_ref().map_or_else(Vec::new, |task| open.loops(task));
        let written = heads.into_iter().map(|head| &program.locs[head]);
        let written = written.filter(|head| !program.funcs[head.func].name.starts_with('.'));
        let mut loops: Vec<Location> = written.filter_map(|head| places.locate(head.span.lo)).collect();
        loops.sort_by(|a, b| (&a.file_name, a.line).cmp(&(&b.file_name, b.line)));
        loops.dedup_by(|a, b| (&a.file_name, a.line) == (&b.file_name, b.line));
        let check = match open.what {
            Obstacle::Check(kind) => Some((kind, open.edge)),
            Obstacle::Call => None,
        };
        Told { what, check, at, loops }
    }

    /// All in one line.
    pub fn text(&self) -> String {
        let mut text = self.what.clone();
        if let Some(at) = &self.at {
            text.push_str(&format!(" at {at}"));
        }
        let lines: Vec<String> =
            self.loops.iter().take(LOOPS).map(|at| format!("{}:{}", at.file_name, at.line)).collect();
        match (lines.len(), self.loops.len()) {
            (0, _) => {}
            (1, 1) => text.push_str(&format!(", behind the loop at {}", lines[0])),
            (told, all) if told == all => {
                text.push_str(&format!(", behind the loops at {}", lines.join(", ")))
            }
            (told, all) => {
                text.push_str(&format!(", behind the loops at {} and {} more", lines.join(", "), all - told))
            }
        }
        text
    }
}

/// What may go wrong at a check.
fn hazard(kind: CheckKind, program: &Program, edge: EdgeId, places: &Places) -> String {
    let span = program.edges[edge].span;
    let quoted = places.written(span).trim();
    let short = !quoted.is_empty() && !quoted.contains('\n') && quoted.chars().count() <= QUOTED;
    let it = if short { format!("`{quoted}`") } else { "this".to_owned() };
    match (kind, &program.edges[edge].op) {
        (CheckKind::ForbiddenCall, Op::Call { callee: Callee::Direct(func), .. }) => {
            format!("`{}` may be called", program.funcs[*func].name)
        }
        (CheckKind::ForbiddenCall, _) => "a function that must not be called may be called".into(),
        (CheckKind::Assertion, _) => "an assertion may fail".into(),
        (CheckKind::Unreachable, _) => "what the program says is never reached may be reached".into(),
        (CheckKind::SignedOverflow | CheckKind::ShiftOverflow, _) => format!("{it} may overflow"),
        (CheckKind::ShiftRange, _) => format!("{it} may shift by too much"),
        (CheckKind::DivByZero, _) => format!("{it} may divide by zero"),
        (CheckKind::Deref, _) => format!("{it} may access what is no live object"),
        (CheckKind::Bounds, _) => format!("{it} may be outside of its array"),
        (CheckKind::Free, _) => format!("{it} may free what cannot be freed"),
        (CheckKind::MemTrack, _) => "memory may be lost".into(),
        (CheckKind::MemCleanup, _) => "memory may not be freed at the end".into(),
        (CheckKind::ReadOnly, _) => format!("{it} may write what is read-only"),
        (CheckKind::FloatToInt, _) => format!("{it} may not fit its integer type"),
        (CheckKind::ArrayLength, _) => "the length of an array may not be positive".into(),
        (CheckKind::Overlap, _) => format!("{it} may copy between places that overlap"),
        (CheckKind::CallType, _) => format!("{it} may call a function of another type"),
        (CheckKind::Observer, _) => "the observer may report an error".into(),
    }
}

/// Why a call is followed no further.
fn unfollowed(program: &Program, edge: EdgeId) -> String {
    match program.edges[edge].op {
        Op::Call { callee: Callee::Direct(func), .. } => {
            let func = &program.funcs[func];
            match func.effect {
                _ if func.body.is_some() => format!("`{}` calls itself deeper than is followed", func.name),
                Effect::Unordered => "the order of evaluation may matter".into(),
                _ => format!("what `{}` does is not modelled", func.name),
            }
        }
        Op::Call { .. } => "what is called through a pointer is not modelled".into(),
        _ => "memory of variable size in a loop is not followed".into(),
    }
}
