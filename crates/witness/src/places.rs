//! The places of a program that a witness can speak of, and how it names them.
//!
//! A witness names lines and columns of the file that was given: the physical ones of a `.i` file;
//! for a file that went through the preprocessor those of the original text, found by the line
//! markers and by aligning the two lines.

use crate::columns::original_column;
use crate::macros;
use crate::model::Location;
use palisade_base::{SourceMap, Span};
use palisade_c_syntax::ast::*;
use palisade_c_syntax::{Interner, parse};
use rustc_hash::FxHashMap;

/// A text that belongs to the program.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name as it was given.
    pub name: String,
    /// What the compiler read: preprocessed text.
    pub text: String,
    /// The text before preprocessing, unless it came preprocessed.
    pub original: Option<String>,
}

/// What a statement is, as far as witnesses care.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StmtShape {
    /// A loop with its controlling expression.
    Loop(Span),
    /// A `for` without one: the last semicolon before this offset ends its place.
    Forever(u32),
    /// `if`, with its condition.
    If(Span),
    /// `switch`, with its value.
    Switch(Span),
    /// Anything else.
    Plain,
}

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct StmtPlace {
    /// The whole statement.
    pub span: Span,
    /// What it is.
    pub shape: StmtShape,
    /// Whether it stands directly in a block, so that a statement may be put before it.
    pub in_block: bool,
    /// Whether it is a declaration.
    pub declares: bool,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct CallPlace {
    /// The whole call.
    pub span: Span,
    /// Offset of the closing parenthesis.
    pub rparen: u32,
}

/// A conditional expression with both branches.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalPlace {
    /// The condition.
    pub cond: Span,
    /// Offset of the question mark.
    pub question: u32,
}

/// The places of a program.
pub struct Places {
    /// The texts, with the same offsets as in the map the program was compiled from.
    map: SourceMap,
    files: Vec<SourceFile>,
    originals: Vec<Vec<String>>,
    functions: Nest<String>,
    /// All statements but blocks and labels.
    pub stmts: Nest<StmtPlace>,
    /// Full expressions: those that are part of no other.
    pub full: Nest<()>,
    /// All calls, by their span.
    calls: FxHashMap<Span, CallPlace>,
    /// All conditional expressions.
    pub conditionals: Vec<ConditionalPlace>,
}

/// Spans that nest, each with a value.
#[derive(Clone, Debug)]
pub struct Nest<T> {
    items: Vec<(Span, T)>,
    parents: Vec<Option<usize>>,
}

impl<T> Nest<T> {
    fn new(mut items: Vec<(Span, T)>) -> Self {
        items.sort_by_key(|(s, _)| (s.lo, std::cmp::Reverse(s.hi)));
        let mut parents = Vec::with_capacity(items.len());
        let mut open: Vec<usize> = Vec::new();
        for (i, (span, _)) in items.iter().enumerate() {
            while open.last().is_some_and(|&o| items[o].0.hi <= span.lo) {
                open.pop();
            }
            parents.push(open.last().copied());
            open.push(i);
        }
        Nest { items, parents }
    }

    /// The smallest span that contains another, with its value.
    pub fn innermost(&self, span: Span) -> Option<(Span, &T)> {
        let mut at = self.items.partition_point(|(s, _)| s.lo <= span.lo).checked_sub(1);
        while let Some(i) = at {
            let (found, value) = &self.items[i];
            if found.hi >= span.hi {
                return Some((*found, value));
            }
            at = self.parents[i];
        }
        None
    }

    /// All spans with their values, by their starts, the larger first.
    pub fn iter(&self) -> impl Iterator<Item = (Span, &T)> {
        self.items.iter().map(|(s, t)| (*s, t))
    }
}

impl Places {
    /// The places of a program. The files are the ones it was compiled from, in the same order.
    pub fn new(files: Vec<SourceFile>) -> Places {
        let mut map = SourceMap::new();
        let mut names = Interner::new();
        let mut found = Collector::default();
        let ids: Vec<_> = files.iter().filter_map(|f| map.add(&f.name, f.text.clone())).collect();
        for id in ids {
            let (unit, _) = parse(&mut map, id, &mut names);
            found.unit(&unit, &names);
        }
        let originals = files
            .iter()
            .map(|f| f.original.as_deref().unwrap_or_default().lines().map(str::to_owned).collect())
            .collect();
        Places {
            map,
            files,
            originals,
            functions: Nest::new(found.functions),
            stmts: Nest::new(found.stmts),
            full: Nest::new(found.full),
            calls: found.calls,
            conditionals: found.conditionals,
        }
    }

    /// The files.
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The offsets where texts start, and one past the end of the last.
    pub fn bounds(&self) -> Vec<u32> {
        let ends = self.map.files().map(|f| self.map.start(f) + self.map.text(f).len() as u32 + 1);
        std::iter::once(0).chain(ends).collect()
    }

    /// The start of the first function between two offsets.
    pub fn first_function(&self, from: u32, to: u32) -> Option<u32> {
        self.functions.iter().map(|(s, _)| s.lo).find(|lo| (from..to).contains(lo))
    }

    /// The offset of the last semicolon before another offset.
    pub fn semicolon_before(&self, offset: u32) -> Option<u32> {
        let file = self.map.file_of(offset)?;
        let start = self.map.start(file);
        let text = self.map.text(file);
        text.get(..(offset - start) as usize)?.rfind(';').map(|i| start + i as u32)
    }

    /// Where a loop's condition stands, or would stand: what the loop itself declares is visible there, what its body
    /// declares is not.
    pub fn condition_of(&self, loop_stmt: Span) -> u32 {
        let found = self.stmts.innermost(loop_stmt).filter(|(span, _)| span.lo == loop_stmt.lo);
        match found.map(|(_, place)| place.shape) {
            Some(StmtShape::Loop(cond)) => cond.lo,
            Some(StmtShape::Forever(before)) => self.semicolon_before(before).unwrap_or(loop_stmt.lo),
            _ => loop_stmt.lo,
        }
    }

    /// All calls.
    pub fn calls(&self) -> impl Iterator<Item = &CallPlace> {
        self.calls.values()
    }

    /// The call with this span.
    pub fn call(&self, span: Span) -> Option<&CallPlace> {
        self.calls.get(&span)
    }

    /// Whether a span belongs to the program rather than to the library that was added to it.
    pub fn contains(&self, span: Span) -> bool {
        self.map.file_of(span.lo).is_some()
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.map.snippet(span).unwrap_or_default()
    }

    /// The text of a span as it was written, with macros by their names; what the preprocessor made of it
    /// where that cannot be told.
    pub fn written(&self, span: Span) -> &str {
        let original = || {
            let mut read = String::new();
            let mut part = None..None;
            for piece in self.map.line_pieces(span.lo)? {
                let at = |offset| {
                    (piece.lo <= offset && offset <= piece.hi)
                        .then(|| read.len() + (offset - piece.lo) as usize)
                };
                part = part.start.or(at(span.lo))..at(span.hi).or(part.end);
                read += self.text(piece);
                read.push(' ');
            }
            macros::written(&read, part.start?..part.end?, self.written_line(span.lo)?)
        };
        original().unwrap_or_else(|| self.text(span))
    }

    /// How a witness names an offset. The column is left out where a macro makes it uncertain.
    pub fn locate(&self, offset: u32) -> Option<Location> {
        let span = Span::new(offset, offset);
        let file = self.map.file_of(offset)?;
        let index = self.map.files().position(|f| f == file)?;
        let given = &self.files[index];
        let function = self.functions.innermost(span).map(|(_, name)| name.clone());
        if given.original.is_none() {
            let p = self.map.physical_position(span)?;
            let file_name = given.name.clone();
            return Some(Location { file_name, line: p.line, column: Some(p.column), function });
        }
        let p = self.map.position(span)?;
        if !same_file(&p.file, &given.name) {
            return Some(Location { file_name: p.file.to_string(), line: p.line, column: None, function });
        }
        let original = self.originals[index].get((p.line as usize).checked_sub(1)?);
        let read = self.map.line_text(span).unwrap_or_default();
        let column = original.and_then(|line| original_column(read, p.column, line));
        Some(Location { file_name: given.name.clone(), line: p.line, column, function })
    }

    /// The line of an offset as it was written, before preprocessing.
    pub fn written_line(&self, offset: u32) -> Option<&str> {
        let span = Span::new(offset, offset);
        let file = self.map.file_of(offset)?;
        let index = self.map.files().position(|f| f == file)?;
        let p = self.map.position(span)?;
        let given = &self.files[index];
        if given.original.is_some() && same_file(&p.file, &given.name) {
            return self.originals[index].get((p.line as usize).checked_sub(1)?).map(String::as_str);
        }
        self.map.line_text(span)
    }

    /// Whether a witness's location is the place at an offset. A column that is missing on either
    /// side does not tell them apart.
    pub fn is_at(&self, location: &Location, offset: u32) -> bool {
        self.locate(offset).is_some_and(|here| {
            here.line == location.line
                && same_file(&here.file_name, &location.file_name)
                && match (here.column, location.column) {
                    (Some(a), Some(b)) => a == b,
                    _ => true,
                }
        })
    }

    /// Where a violation by an operation with this span may be said to be: its statement, its
    /// full expression, and the operation itself.
    pub fn targets(&self, span: Span) -> Vec<u32> {
        let stmt = self.stmts.innermost(span).map(|(s, _)| s.lo);
        let full = self.full.innermost(span).map(|(s, _)| s.lo);
        let mut targets: Vec<u32> = stmt.into_iter().chain(full).chain([span.lo]).collect();
        targets.dedup();
        targets
    }
}

/// Whether two names mean the same file: witnesses come with paths of other machines, so the last
/// part decides.
fn same_file(a: &str, b: &str) -> bool {
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    last(a) == last(b)
}

#[derive(Default)]
struct Collector {
    functions: Vec<(Span, String)>,
    stmts: Vec<(Span, StmtPlace)>,
    full: Vec<(Span, ())>,
    calls: FxHashMap<Span, CallPlace>,
    conditionals: Vec<ConditionalPlace>,
}

impl Collector {
    fn unit(&mut self, unit: &TranslationUnit, names: &Interner) {
        for item in &unit.items {
            if let Item::Function(def) = item
                && let Some(name) = def.declarator.name
            {
                self.functions.push((def.span, names.name(name.name).to_owned()));
            }
        }
        for expr in &unit.exprs {
            match expr.kind {
                ExprKind::Call { rparen, .. } => {
                    self.calls.insert(expr.span, CallPlace { span: expr.span, rparen });
                }
                ExprKind::Conditional { cond, question, then: Some(_), .. } => {
                    self.conditionals.push(ConditionalPlace { cond: unit.exprs[cond].span, question });
                }
                _ => {}
            }
        }
        let mut in_block = vec![false; unit.stmts.len()];
        for stmt in &unit.stmts {
            if let StmtKind::Block(list) = stmt.kind {
                for &child in unit.stmt_list(list) {
                    in_block[child.0 as usize] = true;
                }
            }
        }
        for (id, stmt) in unit.stmts.iter_enumerated() {
            self.stmt(unit, stmt, in_block[id.0 as usize]);
        }
    }

    fn stmt(&mut self, unit: &TranslationUnit, stmt: &Stmt, in_block: bool) {
        let span = |e: ExprId| unit.exprs[e].span;
        let mut full = |e: ExprId| self.full.push((unit.exprs[e].span, ()));
        let shape = match stmt.kind {
            StmtKind::Block(_) | StmtKind::Labeled { .. } | StmtKind::LocalLabels(_) => return,
            StmtKind::StaticAssert(_) | StmtKind::Error => return,
            StmtKind::Expr(e) | StmtKind::GotoComputed(e) | StmtKind::Return(Some(e)) => {
                full(e);
                StmtShape::Plain
            }
            StmtKind::If { cond, .. } => {
                full(cond);
                StmtShape::If(span(cond))
            }
            StmtKind::Switch { value, .. } => {
                full(value);
                StmtShape::Switch(span(value))
            }
            StmtKind::While { cond, .. } | StmtKind::DoWhile { cond, .. } => {
                full(cond);
                StmtShape::Loop(span(cond))
            }
            StmtKind::For { init, cond, step, body } => {
                if let ForInit::Expr(e) = init {
                    full(e);
                }
                cond.into_iter().chain(step).for_each(&mut full);
                match cond {
                    Some(c) => StmtShape::Loop(span(c)),
                    None => StmtShape::Forever(step.map_or(unit.stmts[body].span.lo, |s| span(s).lo)),
                }
            }
            StmtKind::Decl(decl) => {
                for d in &unit.decls[decl].declarators {
                    if let Some(Init::Expr(e)) = d.init {
                        full(e);
                    }
                }
                StmtShape::Plain
            }
            _ => StmtShape::Plain,
        };
        let declares = matches!(stmt.kind, StmtKind::Decl(_));
        self.stmts.push((stmt.span, StmtPlace { span: stmt.span, shape, in_block, declares }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str) -> Places {
        Places::new(vec![SourceFile { name: "a.i".into(), text: text.into(), original: None }])
    }

    #[test]
    fn statements_nest_and_calls_know_their_parenthesis() {
        let text = "int f(int);\nint main(void) {\n\tif (f(1))\n\t\tf((2) );\n\treturn f(f(3));\n}\n";
        let p = places(text);
        let at = text.find("f((2)").unwrap() as u32;
        let (stmt, place) = p.stmts.innermost(Span::new(at, at + 1)).unwrap();
        assert_eq!(p.text(stmt), "f((2) );");
        assert!(!place.in_block);
        let rparen = p.calls().map(|c| p.locate(c.rparen).unwrap()).find(|l| l.line == 4).unwrap();
        assert_eq!((rparen.column, rparen.function.as_deref()), (Some(9), Some("main")));
        assert_eq!(p.calls().count(), 4);
    }

    #[test]
    fn a_preprocessed_line_is_aligned_with_the_original() {
        let original = "int main(void) {\n    while (   1 /* always */ ) { }\n}\n";
        let text = "# 1 \"./x/a.c\"\nint main(void) {\n    while ( 1 ) { }\n}\n";
        let file = SourceFile { name: "x/a.c".into(), text: text.into(), original: Some(original.into()) };
        let p = Places::new(vec![file]);
        let brace = text.find("{ }").unwrap() as u32;
        let location = p.locate(brace).unwrap();
        assert_eq!((location.file_name.as_str(), location.line, location.column), ("x/a.c", 2, Some(32)));
        let given = Location { file_name: "/other/a.c".into(), line: 2, column: Some(5), function: None };
        assert!(p.is_at(&given, text.find("while").unwrap() as u32));
        assert!(!p.is_at(&given, brace));
    }
}
