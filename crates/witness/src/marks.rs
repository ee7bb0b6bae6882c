//! Puts the expressions of a witness into the text of a program, so that the front end gives
//! them their meaning: names, types and conversions as the place has them.
//!
//! At a place that a witness names, a call `$mark(k, !(e))` is put in for its `k`-th expression;
//! nothing else changes, and every offset can be translated to the new text and back. What a
//! mark means is decided on the automaton.

use crate::model::Location;
use crate::places::{Places, SourceFile, StmtPlace, StmtShape};
use palisade_base::{SourceMap, Span};
use palisade_c_syntax::ast::{ExprKind, UnaryOp};
use palisade_c_syntax::{Interner, parse};

/// The function that marks call.
pub const MARK: &str = "$mark";

/// A program text with marks.
pub struct Marks<'p> {
    places: &'p Places,
    insertions: Vec<Insertion>,
}

struct Insertion {
    at: u32,
    /// Of two insertions at one offset the one with the smaller rank stands before.
    rank: i8,
    text: String,
    mark: Option<usize>,
}

/// The texts with all marks, and the way between old and new offsets.
pub struct Marked {
    /// The new texts.
    pub files: Vec<SourceFile>,
    /// Old offset, length and mark of each insertion, in order.
    shifts: Vec<(u32, u32, Option<usize>)>,
    /// One past the last new offset.
    end: u32,
}

/// Why an expression cannot be put in.
pub type Refused = String;

impl<'p> Marks<'p> {
    /// No marks yet.
    pub fn new(places: &'p Places) -> Self {
        Marks { places, insertions: Vec::new() }
    }

    fn insert(&mut self, at: u32, rank: i8, text: String, mark: Option<usize>) {
        self.insertions.push(Insertion { at, rank, text, mark });
    }

    /// Where the annotations of a statement or function start: what stands between both would part them.
    fn before_annotations(&self, at: u32) -> u32 {
        let bounds = self.places.bounds();
        let Some(i) = bounds.windows(2).position(|b| (b[0]..b[1]).contains(&at)) else { return at };
        let mut text = &self.places.files()[i].text[..(at - bounds[i]) as usize];
        let mut start = at;
        loop {
            let before = text.trim_end();
            let line = before.rfind('\n').map_or(0, |n| n + 1);
            let comment = match before.strip_suffix("*/").and_then(|_| before.rfind("/*")) {
                Some(open) => Some(open),
                None => before[line..].trim_start().starts_with("//").then_some(line),
            };
            let Some(open) = comment.filter(|open| {
                let comment = before[*open..].trim_start();
                comment.starts_with("/*@") || comment.starts_with("//@")
            }) else {
                return start;
            };
            text = &text[..open];
            start = bounds[i] + open as u32;
        }
    }

    /// Marks the evaluation of a loop's controlling expression; the mark comes before it.
    pub fn at_loop(&mut self, k: usize, location: &Location, expr: &str) -> Result<(), Refused> {
        let expr = contained(expr)?;
        let found = self.stmt(location, |p| matches!(p.shape, StmtShape::Loop(_) | StmtShape::Forever(_)));
        let Some(place) = found else { return Err("there is no loop".into()) };
        match place.shape {
            StmtShape::Loop(cond) => {
                self.insert(cond.lo, 1, format!("({MARK}({k}, !({expr})), "), Some(k));
                self.insert(cond.hi, -1, ")".into(), None);
            }
            StmtShape::Forever(before) => {
                let Some(at) = self.places.semicolon_before(before) else {
                    return Err("the loop has no place for it".into());
                };
                // Several marks of one loop stand in one condition.
                let first = !self.insertions.iter().any(|i| i.at == at && i.rank == 0);
                let comma = if first { "" } else { ", " };
                self.insert(at, 0, format!("{comma}{MARK}({k}, !({expr}))"), Some(k));
                if first {
                    self.insert(at, 1, ", 1".into(), None);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Marks the point before a statement or declaration.
    pub fn before(&mut self, k: usize, location: &Location, expr: &str) -> Result<(), Refused> {
        let expr = contained(expr)?;
        let Some(place) = self.stmt(location, |_| true) else {
            return Err("there is no statement".into());
        };
        if place.in_block {
            let at = self.before_annotations(place.span.lo);
            self.insert(at, 0, format!("{MARK}({k}, !({expr})); "), Some(k));
        } else if place.declares {
            return Err("there is no place before the declaration".into());
        } else {
            self.insert(place.span.lo, 0, format!("{{ {MARK}({k}, !({expr})); "), Some(k));
            self.insert(place.span.hi, -1, " }".into(), None);
        }
        Ok(())
    }

    /// Marks the branches of a condition: for each waypoint whether it is passed on the true one.
    pub fn branches(&mut self, location: &Location, marks: &[(usize, bool)]) -> Result<(), Refused> {
        let Some(cond) = self.condition(location) else { return Err("there is no branching".into()) };
        let passed = |branch: bool| {
            let calls = marks.iter().filter(|m| m.1 == branch).map(|(k, _)| format!("{MARK}({k}, 0), "));
            calls.collect::<String>()
        };
        let (yes, no) = (passed(true), passed(false));
        match cond {
            Ok(cond) => {
                self.insert(cond.lo, 0, "(0, ".into(), None);
                self.insert(cond.hi, 0, format!(") ? ({yes}1) : ({no}0)"), None);
            }
            Err(semicolon) => self.insert(semicolon, 0, format!("{yes}1"), None),
        }
        Ok(())
    }

    /// Marks a `switch` for each waypoint whose value it is switched on.
    pub fn cases(&mut self, location: &Location, marks: &[(usize, String)]) -> Result<(), Refused> {
        let found = self.stmt(location, |p| matches!(p.shape, StmtShape::Switch(_)));
        let Some(StmtPlace { shape: StmtShape::Switch(value), .. }) = found else {
            return Err("there is no branching".into());
        };
        let text = self.places.text(value).to_owned();
        let calls: String = marks.iter().map(|(k, v)| format!("{MARK}({k}, !($value == ({v}))); ")).collect();
        self.insert(value.lo, 0, format!("({{ __typeof__((0, {text})) $value = (0, "), None);
        self.insert(value.hi, 0, format!("); {calls}$value; }})"), None);
        Ok(())
    }

    /// Whether a location is a `switch`.
    pub fn is_switch(&self, location: &Location) -> bool {
        self.stmt(location, |p| matches!(p.shape, StmtShape::Switch(_))).is_some()
    }

    /// The condition of a branching: its span, or where it would stand.
    fn condition(&self, location: &Location) -> Option<Result<Span, u32>> {
        let stmt = self.stmt(location, |p| !matches!(p.shape, StmtShape::Plain | StmtShape::Switch(_)));
        match stmt.map(|p| p.shape) {
            Some(StmtShape::If(cond) | StmtShape::Loop(cond)) => Some(Ok(cond)),
            Some(StmtShape::Forever(before)) => self.places.semicolon_before(before).map(Err),
            _ => {
                let mut found =
                    self.places.conditionals.iter().filter(|c| self.places.is_at(location, c.question));
                found.next().map(|c| Ok(c.cond))
            }
        }
    }

    /// The first statement at a location that suits.
    fn stmt(&self, location: &Location, suits: impl Fn(&StmtPlace) -> bool) -> Option<StmtPlace> {
        let here = |(span, place): (Span, &StmtPlace)| {
            (suits(place) && self.places.is_at(location, span.lo)).then_some(*place)
        };
        self.places.stmts.iter().find_map(here)
    }

    /// The texts with all marks.
    pub fn finish(mut self) -> Marked {
        let bounds = self.places.bounds();
        for pair in bounds.windows(2) {
            if let Some(at) = self.places.first_function(pair[0], pair[1]) {
                let at = self.before_annotations(at);
                self.insert(at, -2, format!("void {MARK}(int, int); "), None);
            }
        }
        self.insertions.sort_by_key(|i| (i.at, i.rank));
        let mut files = self.places.files().to_vec();
        for (file, pair) in files.iter_mut().zip(bounds.windows(2)) {
            let mut text = String::with_capacity(file.text.len());
            let mut done = 0;
            for i in self.insertions.iter().filter(|i| (pair[0]..pair[1]).contains(&i.at)) {
                let at = (i.at - pair[0]) as usize;
                text.push_str(&file.text[done..at]);
                text.push_str(&i.text);
                done = at;
            }
            text.push_str(&file.text[done..]);
            file.text = text;
        }
        let shifts: Vec<_> = self.insertions.iter().map(|i| (i.at, i.text.len() as u32, i.mark)).collect();
        let end = bounds.last().copied().unwrap_or(0) + shifts.iter().map(|s| s.1).sum::<u32>();
        Marked { files, shifts, end }
    }
}

impl Marked {
    /// The span in the new text of a span of the old one.
    pub fn new_span(&self, span: Span) -> Span {
        let shift = |keep: &dyn Fn(u32) -> bool| {
            self.shifts.iter().take_while(|s| keep(s.0)).map(|s| s.1).sum::<u32>()
        };
        Span::new(span.lo + shift(&|at| at <= span.lo), span.hi + shift(&|at| at < span.hi))
    }

    /// The old offset of a new one: itself, or the mark in whose text it lies.
    pub fn old_offset(&self, new: u32) -> Result<u32, Option<usize>> {
        let mut inserted = 0;
        for &(at, len, mark) in &self.shifts {
            let start = at + inserted;
            if new < start {
                break;
            }
            if new < start + len {
                return Err(mark);
            }
            inserted += len;
        }
        Ok(new - inserted)
    }

    /// Whether a new span lies in the program rather than in the library that was added to it.
    pub fn in_program(&self, span: Span) -> bool {
        span.lo < self.end
    }

    /// The old span of a new one that lies in the program and in no mark.
    pub fn old_span(&self, span: Span) -> Option<Span> {
        if !self.in_program(span) {
            return None;
        }
        let lo = self.old_offset(span.lo).ok()?;
        let last = self.old_offset(span.hi.saturating_sub(1).max(span.lo)).ok()?;
        Some(Span::new(lo, (last + 1).max(lo)))
    }

    /// A mark whose expression does more than compute a value, with what it does.
    pub fn effect(&self) -> Option<(usize, &'static str)> {
        let mut map = SourceMap::new();
        let mut names = Interner::new();
        let ids: Vec<_> = self.files.iter().filter_map(|f| map.add(&f.name, f.text.clone())).collect();
        for id in ids {
            let (unit, _) = parse(&mut map, id, &mut names);
            for expr in &unit.exprs {
                let what = match expr.kind {
                    ExprKind::Assign { .. } => "assigns",
                    ExprKind::Unary {
                        op: UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec,
                        ..
                    } => "assigns",
                    ExprKind::Call { callee, .. } => match unit.exprs[callee].kind {
                        ExprKind::Name(name) if names.name(name) == MARK => continue,
                        _ => "calls a function",
                    },
                    ExprKind::StmtExpr(_) | ExprKind::VaArg { .. } => "has side effects",
                    _ => continue,
                };
                if let Err(Some(k)) = self.old_offset(expr.span.lo) {
                    return Some((k, what));
                }
            }
        }
        None
    }
}

/// The text on one line, if it cannot reach out of the parentheses it is put into.
fn contained(expr: &str) -> Result<String, Refused> {
    let mut closers = Vec::new();
    let mut chars = expr.chars().peekable();
    let mut last = ' ';
    while let Some(c) = chars.next() {
        match c {
            '(' => closers.push(')'),
            '[' => closers.push(']'),
            ')' | ']' if closers.pop() != Some(c) => return Err("its brackets do not match".into()),
            ')' | ']' => {}
            '"' | '\'' => loop {
                match chars.next() {
                    Some('\\') => {
                        chars.next();
                    }
                    Some(d) if d == c => break,
                    Some('\n') | None => return Err("a quote is not closed".into()),
                    Some(_) => {}
                }
            },
            ';' | '{' | '}' | '#' | '\\' | '@' | '`' | '$' => {
                return Err(format!("`{c}` is not part of an expression"));
            }
            '/' | '*' if last == '/' => return Err("it has a comment".into()),
            _ => {}
        }
        last = c;
    }
    if !closers.is_empty() {
        return Err("its brackets do not match".into());
    }
    if expr.trim().is_empty() {
        return Err("it is empty".into());
    }
    Ok(expr.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Places {
        Places::new(vec![SourceFile { name: "a.i".into(), text: text.into(), original: None }])
    }

    fn at(line: u32, column: u32) -> Location {
        Location { file_name: "a.i".into(), line, column: Some(column), function: None }
    }

    const TEXT: &str =
        "int g;\nint main(void) {\n  int x = 0;\n  while (x < 3)\n    x++;\n  for (;;) { }\n}\n";

    #[test]
    fn marks_stand_where_expressions_are_evaluated() {
        let p = places(TEXT);
        let mut marks = Marks::new(&p);
        marks.at_loop(0, &at(4, 3), "x <= 3").unwrap();
        marks.before(1, &at(5, 5), "x < 3").unwrap();
        marks.before(2, &at(4, 3), "x == 0").unwrap();
        marks.at_loop(3, &at(6, 3), "x == 3").unwrap();
        marks.at_loop(4, &at(6, 3), "g == 0").unwrap();
        let marked = marks.finish();
        let text = &marked.files[0].text;
        assert!(text.contains("$mark(2, !(x == 0)); while (($mark(0, !(x <= 3)), x < 3))"), "{text}");
        assert!(text.contains("{ $mark(1, !(x < 3)); x++; }"), "{text}");
        assert!(text.contains("for (;$mark(3, !(x == 3)), $mark(4, !(g == 0)), 1;)"), "{text}");
        assert!(text.contains("void $mark(int, int); int main"), "{text}");
    }

    #[test]
    fn offsets_are_translated_both_ways() {
        let p = places(TEXT);
        let mut marks = Marks::new(&p);
        marks.at_loop(0, &at(4, 3), "x <= 3").unwrap();
        marks.before(1, &at(5, 5), "x < 3").unwrap();
        let marked = marks.finish();
        let new = &marked.files[0].text;
        for (lo, _) in TEXT.char_indices() {
            let span = marked.new_span(Span::new(lo as u32, lo as u32 + 1));
            assert_eq!(new.as_bytes()[span.lo as usize], TEXT.as_bytes()[lo], "{lo}");
            assert_eq!(marked.old_span(span), Some(Span::new(lo as u32, lo as u32 + 1)));
        }
        let inside = new.find("x <= 3").unwrap() as u32;
        assert_eq!(marked.old_offset(inside), Err(Some(0)));
    }

    #[test]
    fn nothing_reaches_out_of_its_parentheses() {
        for bad in ["1); abort(", "x; y", "0) || (1", "a[0)", "'", "1 // x", "1 /* x", "({1;})", "", " "] {
            assert!(contained(bad).is_err(), "{bad}");
        }
        for good in ["x == ')'", "a[i] >= (b)", "s[0] == '\\''", "x / 2 * 3"] {
            assert!(contained(good).is_ok(), "{good}");
        }
        let p = places(TEXT);
        assert!(Marks::new(&p).at_loop(0, &at(3, 3), "1").is_err());
        assert!(Marks::new(&p).before(0, &at(3, 4), "1").is_err());
    }

    #[test]
    fn effects_are_found() {
        for (expr, effect) in [("x = 1", true), ("x++ < 3", true), ("main()", true), ("x == g", false)] {
            let p = places(TEXT);
            let mut marks = Marks::new(&p);
            marks.at_loop(7, &at(4, 3), expr).unwrap();
            assert_eq!(marks.finish().effect().map(|e| e.0), effect.then_some(7), "{expr}");
        }
    }
}
