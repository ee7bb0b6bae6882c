//! `check --all`: every violation once, what is proved, and what stays open, by property and place.
//!
//! When a violation is found, its check becomes an assumption, and the question is asked again: what is found
//! then are runs that violate something else first. When that has no answer, the places that are left are asked
//! about one by one, each in runs that violate nothing else before.

use crate::watchdog;
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_portfolio::{Settled, Verdict};
use palisade_property::{Goal, Property};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// What is known about the checks at a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// A run violates one of them; the number of the violation, counted from 0.
    Violated(usize),
    /// No run does, unless it violates something else before.
    Proved,
    /// Neither is known, and why.
    Open(String),
}

/// The checks of one goal at one place.
pub struct Row {
    /// The name of the goal.
    pub goal: String,
    /// The file and line, or the function of the library.
    pub place: String,
    /// What is checked there.
    pub kinds: BTreeSet<String>,
    /// The checks, and calls of functions that must not be called.
    edges: BTreeSet<EdgeId>,
    /// What is known.
    pub status: Status,
}

/// Everything that was found.
pub struct Findings {
    /// The violations with the programs that they were found in.
    pub violations: Vec<(Arc<Program>, Settled)>,
    /// What is known about each place.
    pub rows: Vec<Row>,
    /// The answer about the last program that was asked about as a whole.
    pub last: (Arc<Program>, Settled),
}

/// How a question about a program is settled in some time.
pub type Ask<'a> = dyn Fn(&Arc<Program>, &Budget) -> Settled + 'a;

/// The least CPU time for one question.
const LEAST: Duration = Duration::from_millis(500);

/// Looks for every violation. `left` tells how much CPU time is left.
pub fn find(
    program: &Arc<Program>,
    property: &Property,
    sources: &SourceMap,
    budget: &Budget,
    left: &dyn Fn() -> Duration,
    ask: &Ask<'_>,
) -> Findings {
    let mut rows = rows(program, property, sources);
    let mut violations = Vec::new();
    let mut current = program.clone();
    let last = loop {
        let settled = ask(&current, &watchdog::slice(budget, (left() / 2).max(LEAST)));
        match (&settled.verdict, guilty(&current, &settled)) {
            (Verdict::False(_), Some(edge)) => {
                note(&mut rows, edge, violations.len(), &current, sources, &settled);
                let next = Arc::new(without(&current, &[edge].into()));
                violations.push((current, settled));
                current = next;
            }
            _ => break settled,
        }
    };
    if matches!(last.verdict, Verdict::True) {
        rows.iter_mut().filter(|r| open(r)).for_each(|row| row.status = Status::Proved);
    } else {
        one_by_one(&mut rows, &mut violations, &mut current, sources, budget, left, ask);
    }
    Findings { violations, rows, last: (current, last) }
}

fn open(row: &Row) -> bool {
    matches!(row.status, Status::Open(_))
}

/// Asks about each open row alone.
fn one_by_one(
    rows: &mut Vec<Row>,
    violations: &mut Vec<(Arc<Program>, Settled)>,
    current: &mut Arc<Program>,
    sources: &SourceMap,
    budget: &Budget,
    left: &dyn Fn() -> Duration,
    ask: &Ask<'_>,
) {
    let count = rows.len();
    for i in 0..count {
        if !open(&rows[i]) {
            continue;
        }
        let others = rows.iter().enumerate().filter(|(j, _)| *j != i).flat_map(|(_, r)| &r.edges);
        let own = rows[i].edges.clone();
        let others: BTreeSet<EdgeId> = others.copied().filter(|e| !own.contains(e)).collect();
        let program = Arc::new(without(current, &others));
        let share = left() / u32::try_from(count - i).unwrap_or(u32::MAX);
        let settled = ask(&program, &watchdog::slice(budget, share.max(LEAST)));
        match (&settled.verdict, guilty(&program, &settled)) {
            (Verdict::True, _) => rows[i].status = Status::Proved,
            (Verdict::False(_), Some(edge)) => {
                note(rows, edge, violations.len(), &program, sources, &settled);
                *current = Arc::new(without(current, &[edge].into()));
                violations.push((program, settled));
            }
            (Verdict::Unknown(why), _) => rows[i].status = Status::Open(why.clone()),
            _ => {}
        }
        if budget.stopped().is_some() {
            return;
        }
    }
}

/// The check that a run fails, or the call that it must not make.
fn guilty(program: &Program, settled: &Settled) -> Option<EdgeId> {
    let stack = &settled.replay.as_ref()?.run.stack;
    let (_, check) = *stack.first()?;
    let forbidden = matches!(program.edges[check].op, Op::Check { kind: CheckKind::ForbiddenCall, .. });
    match stack.get(1) {
        Some((_, call)) if forbidden => Some(*call),
        _ => Some(check),
    }
}

/// The program in which only runs are left that do not fail these checks, and do not make these calls.
fn without(program: &Program, edges: &BTreeSet<EdgeId>) -> Program {
    let mut program = program.clone();
    for &edge in edges {
        program.edges[edge].op = match program.edges[edge].op {
            Op::Check { cond, .. } => Op::Assume { cond },
            Op::Call { .. } => Op::Assume { cond: program.int(IntTy::BOOL, 0) },
            _ => continue,
        };
    }
    program
}

/// Notes a violation in its row, which may be new.
fn note(
    rows: &mut Vec<Row>,
    edge: EdgeId,
    number: usize,
    program: &Program,
    sources: &SourceMap,
    settled: &Settled,
) {
    match rows.iter_mut().find(|row| row.edges.contains(&edge)) {
        Some(row) => row.status = Status::Violated(number),
        None => {
            let Verdict::False(goal) = &settled.verdict else { return };
            rows.push(Row {
                goal: goal.clone(),
                place: place(program, edge, sources),
                kinds: BTreeSet::new(),
                edges: [edge].into(),
                status: Status::Violated(number),
            });
        }
    }
}

/// Where an operation is: its file and line, or the function of the library.
fn place(program: &Program, edge: EdgeId, sources: &SourceMap) -> String {
    let Edge { src, span, .. } = program.edges[edge];
    let name = &program.funcs[program.locs[src].func].name;
    match sources.position(span) {
        Some(at) if !at.file.starts_with("<library>/") => {
            format!("{}:{}", at.file.strip_prefix("./").unwrap_or(&at.file), at.line)
        }
        Some(_) => format!("in `{name}` of the library"),
        None if name.starts_with('.') => "at the end of the program".into(),
        None => format!("in `{name}`"),
    }
}

/// What is asked about at which place; nothing is known yet.
fn rows(program: &Program, property: &Property, sources: &SourceMap) -> Vec<Row> {
    let calls = CallGraph::new(program);
    let mut rows: BTreeMap<(String, String, u32), Row> = BTreeMap::new();
    for (edge, e) in program.edges.iter_enumerated() {
        if !calls.is_reachable(program.locs[e.src].func) {
            continue;
        }
        let (goal, kind) = match e.op {
            // A call of a function that must not be called is told where it is called.
            Op::Check { kind: CheckKind::ForbiddenCall, .. } => continue,
            Op::Check { kind, .. } => match property.violated_at(kind, edge) {
                Some(goal) => (goal.name(), kind.to_string()),
                None => continue,
            },
            Op::Call { callee: Callee::Direct(f), .. } => {
                let name = &*program.funcs[f].name;
                let forbidden = |g: &&Goal| matches!(g, Goal::NoCall(n) if n == name);
                match property.goals.iter().find(forbidden) {
                    Some(goal) => (goal.name(), format!("call of `{name}`")),
                    None => continue,
                }
            }
            _ => continue,
        };
        let place = place(program, edge, sources);
        let line = sources.position(e.span).map_or(0, |at| at.line);
        let file = place.rsplit_once(':').map_or(place.as_str(), |(file, _)| file).to_owned();
        let row = rows.entry((goal.to_owned(), file, line)).or_insert_with(|| Row {
            goal: goal.to_owned(),
            place,
            kinds: BTreeSet::new(),
            edges: BTreeSet::new(),
            status: Status::Open("not asked".into()),
        });
        row.edges.insert(edge);
        row.kinds.insert(kind);
    }
    rows.into_values().collect()
}

impl Findings {
    /// The verdict about the whole question.
    pub fn verdict(&self) -> Verdict {
        if let Some((_, first)) = self.violations.first() {
            return first.verdict.clone();
        }
        let open = self.rows.iter().filter(|r| open(r)).count();
        match &self.last.1.verdict {
            Verdict::Unknown(_) if open > 0 => {
                Verdict::Unknown(format!("{open} of {} places are open", self.rows.len()))
            }
            Verdict::Unknown(why) => {
                Verdict::Unknown(format!("each place is proved alone, and not all together: {why}"))
            }
            other => other.clone(),
        }
    }

    /// The table.
    pub fn table(&self, described: &[String]) -> String {
        let heads = ["property", "place", "result"];
        let width = |i: usize, of: &dyn Fn(&Row) -> usize| {
            self.rows.iter().map(of).max().unwrap_or(0).max(heads[i].len())
        };
        let (goal, place) = (width(0, &|r| r.goal.len()), width(1, &|r| r.place.len()));
        let mut text = format!("{:goal$}  {:place$}  {}\n", heads[0], heads[1], heads[2]);
        for row in &self.rows {
            let kinds = row.kinds.iter().cloned().collect::<Vec<_>>().join(", ");
            let result = match &row.status {
                Status::Violated(n) => format!("violated  {}", described.get(*n).map_or("", String::as_str)),
                Status::Proved => format!("proved    {kinds}"),
                Status::Open(why) => format!("open      {kinds}: {why}"),
            };
            let _ = writeln!(text, "{:goal$}  {:place$}  {result}", row.goal, row.place);
        }
        let count = |of: &dyn Fn(&Status) -> bool| self.rows.iter().filter(|r| of(&r.status)).count();
        let _ = writeln!(
            text,
            "{} places: {} violated, {} proved, {} open",
            self.rows.len(),
            count(&|s| matches!(s, Status::Violated(_))),
            count(&|s| *s == Status::Proved),
            count(&|s| matches!(s, Status::Open(_))),
        );
        text
    }

    /// The table for machines.
    pub fn json(&self) -> Value {
        let row = |row: &Row| {
            let (status, detail) = match &row.status {
                Status::Violated(n) => ("violated", json!({"violation": n})),
                Status::Proved => ("proved", json!({})),
                Status::Open(why) => ("open", json!({"reason": why})),
            };
            let mut object =
                json!({"property": row.goal, "place": row.place, "checks": row.kinds, "status": status});
            if let (Value::Object(object), Value::Object(detail)) = (&mut object, detail) {
                object.extend(detail);
            }
            object
        };
        self.rows.iter().map(row).collect()
    }
}
