//! Source text, spans, and the way back from a byte offset to the position a person wrote.
//!
//! All inputs of a run live in one [`SourceMap`], one after the other, so that a [`Span`] is two
//! 32-bit offsets. Line markers (`# 12 "file.h"`) of preprocessed text are recorded while lexing;
//! [`SourceMap::position`] answers with the original file and line.

use crate::idx::{Idx, IdxVec};

crate::idx! {
    /// One input file of the run.
    pub struct FileId = "file";
}

/// A half-open range of bytes in the source map.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span {
    /// First byte.
    pub lo: u32,
    /// One past the last byte.
    pub hi: u32,
}

impl Span {
    /// The span of things the tool made up; it has no position.
    pub const NONE: Span = Span { lo: u32::MAX, hi: u32::MAX };

    /// The bytes from `lo` up to `hi`.
    pub fn new(lo: u32, hi: u32) -> Span {
        Span { lo, hi }
    }
    /// From the start of `self` to the end of `other`.
    pub fn to(self, other: Span) -> Span {
        if self == Span::NONE { other } else { Span { lo: self.lo, hi: other.hi.max(self.lo) } }
    }
    /// Whether this is [`Span::NONE`].
    pub fn is_none(self) -> bool {
        self == Span::NONE
    }
}

/// Where a person finds a byte: file, line and column, both counted from 1; a tab is one column.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Position {
    /// The file as the line marker, or else the command line, names it.
    pub file: std::sync::Arc<str>,
    /// The line in that file.
    pub line: u32,
    /// The column in that line.
    pub column: u32,
}

#[derive(Clone, Debug)]
struct Marker {
    /// Offset of the first byte of the line after the marker.
    at: u32,
    file: std::sync::Arc<str>,
    line: u32,
}

#[derive(Clone, Debug)]
struct File {
    name: std::sync::Arc<str>,
    text: std::sync::Arc<str>,
    start: u32,
    /// Offsets (in the source map) of the first byte of each line.
    lines: Vec<u32>,
    markers: Vec<Marker>,
}

impl File {
    /// The column of an offset in a row, counted from 1.
    fn column(&self, row: usize, offset: u32) -> u32 {
        let line = &self.text[(self.lines[row] - self.start) as usize..];
        1 + line.char_indices().take_while(|(i, _)| self.lines[row] + (*i as u32) < offset).count() as u32
    }
}

/// The texts of a run and their positions.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: IdxVec<FileId, File>,
}

impl SourceMap {
    /// A map without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. `None` if the inputs together would pass 4 GB.
    pub fn add(&mut self, name: &str, text: String) -> Option<FileId> {
        let start = self.files.iter().last().map_or(0, |f| f.start as usize + f.text.len() + 1);
        if start + text.len() + 1 >= u32::MAX as usize {
            return None;
        }
        let start = start as u32;
        let mut lines = vec![start];
        lines.extend(memchr_newlines(text.as_bytes()).map(|i| start + i as u32 + 1));
        Some(self.files.push(File {
            name: name.into(),
            text: text.into(),
            start,
            lines,
            markers: Vec::new(),
        }))
    }

    /// Records that the line starting at `at` is line `line` of `file` (a line marker said so).
    /// Markers of a file must be added in order.
    pub fn add_marker(&mut self, id: FileId, at: u32, file: &str, line: u32) {
        let last = self.files[id].markers.last().map(|m| m.file.clone());
        let file = match last {
            Some(name) if &*name == file => name,
            _ => file.into(),
        };
        self.files[id].markers.push(Marker { at, file, line });
    }

    /// The text of a file.
    pub fn text(&self, id: FileId) -> std::sync::Arc<str> {
        self.files[id].text.clone()
    }
    /// The name under which a file was added.
    pub fn name(&self, id: FileId) -> &str {
        &self.files[id].name
    }
    /// The source-map offset of the file's first byte.
    pub fn start(&self, id: FileId) -> u32 {
        self.files[id].start
    }
    /// All files.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        self.files.ids()
    }

    /// The file that holds an offset.
    pub fn file_of(&self, offset: u32) -> Option<FileId> {
        let i = self.files.as_slice().partition_point(|f| f.start <= offset);
        let id = FileId::new(i.checked_sub(1)?);
        (offset <= self.files[id].start + self.files[id].text.len() as u32).then_some(id)
    }

    /// The original position of the span's first byte; `None` for [`Span::NONE`].
    pub fn position(&self, span: Span) -> Option<Position> {
        let f = &self.files[self.file_of(span.lo)?];
        let row = f.lines.partition_point(|&l| l <= span.lo) - 1;
        let column = f.column(row, span.lo);
        let m = f.markers.partition_point(|m| m.at <= span.lo);
        Some(match m.checked_sub(1).map(|m| &f.markers[m]) {
            None => Position { file: f.name.clone(), line: row as u32 + 1, column },
            Some(m) => {
                let marker_row = f.lines.partition_point(|&l| l <= m.at) - 1;
                Position { file: m.file.clone(), line: m.line + (row - marker_row) as u32, column }
            }
        })
    }

    /// The position of the span's first byte in the text as it was added, whatever line markers say.
    pub fn physical_position(&self, span: Span) -> Option<Position> {
        let f = &self.files[self.file_of(span.lo)?];
        let row = f.lines.partition_point(|&l| l <= span.lo) - 1;
        Some(Position { file: f.name.clone(), line: row as u32 + 1, column: f.column(row, span.lo) })
    }

    /// The whole line of text around the span's first byte, without its line end.
    pub fn line_text(&self, span: Span) -> Option<&str> {
        let f = &self.files[self.file_of(span.lo)?];
        let row = f.lines.partition_point(|&l| l <= span.lo) - 1;
        let from = (f.lines[row] - f.start) as usize;
        Some(f.text[from..].lines().next().unwrap_or(""))
    }

    /// The pieces of text around an offset that line markers say are one line of the original: a preprocessor
    /// breaks a line where a macro of a system header is expanded.
    pub fn line_pieces(&self, offset: u32) -> Option<Vec<Span>> {
        let f = &self.files[self.file_of(offset)?];
        let here = f.lines.partition_point(|&l| l <= offset) - 1;
        let piece = |row: usize| {
            let from = (f.lines[row] - f.start) as usize;
            let line = f.text[from..].lines().next().unwrap_or("");
            let span = Span::new(f.lines[row], f.lines[row] + line.len() as u32);
            (!line.starts_with('#')).then_some(span)
        };
        let original = |span: Span| self.position(span).map(|p| (p.file, p.line));
        let at = original(piece(here)?)?;
        // A marker between two pieces is a line without a place of its own.
        let same = |row: &usize| piece(*row).is_none_or(|span| original(span).as_ref() == Some(&at));
        let before = (0..here).rev().take_while(same).last().unwrap_or(here);
        Some((before..f.lines.len()).take_while(|row| *row <= here || same(row)).filter_map(piece).collect())
    }

    /// The bytes of a span.
    pub fn snippet(&self, span: Span) -> Option<&str> {
        let f = &self.files[self.file_of(span.lo)?];
        f.text.get((span.lo - f.start) as usize..(span.hi.checked_sub(f.start)?) as usize)
    }
}

fn memchr_newlines(bytes: &[u8]) -> impl Iterator<Item = usize> + '_ {
    bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_line_markers() {
        let mut map = SourceMap::new();
        let a = map.add("a.i", "x\n# 10 \"b.h\"\nyy\n\tz\n".into()).unwrap();
        map.add_marker(a, 13, "b.h", 10);
        let at = |lo| {
            let p = map.position(Span::new(lo, lo + 1)).unwrap();
            (p.file.to_string(), p.line, p.column)
        };
        assert_eq!(at(0), ("a.i".into(), 1, 1));
        assert_eq!(at(14), ("b.h".into(), 10, 2));
        assert_eq!(at(17), ("b.h".into(), 11, 2));
        assert_eq!(map.line_text(Span::new(17, 18)), Some("\tz"));
        let physical = map.physical_position(Span::new(17, 18)).unwrap();
        assert_eq!((&*physical.file, physical.line, physical.column), ("a.i", 4, 2));
        assert_eq!(map.position(Span::NONE), None);
    }

    #[test]
    fn offsets_of_several_files_do_not_overlap() {
        let mut map = SourceMap::new();
        let a = map.add("a.c", "int a;".into()).unwrap();
        let b = map.add("b.c", "int b;".into()).unwrap();
        assert_eq!(map.file_of(map.start(a)), Some(a));
        assert_eq!(map.file_of(map.start(b)), Some(b));
        assert_eq!(map.snippet(Span::new(map.start(b) + 4, map.start(b) + 5)), Some("b"));
    }

    #[test]
    fn a_line_that_the_preprocessor_broke_is_put_together() {
        let text = "x;\n# 2 \"s.c\"\nif (p !=\n# 2 \"s.c\" 3 4\n ((void *)0)\n# 2 \"s.c\"\n )\nnext;\n";
        let mut map = SourceMap::new();
        let file = map.add("s.i", text.into()).unwrap();
        for (at, _) in text.match_indices('#') {
            let next = at + text[at..].find('\n').unwrap() + 1;
            map.add_marker(file, next as u32, "s.c", 2);
        }
        let pieces = |at: &str| {
            let pieces = map.line_pieces(text.find(at).unwrap() as u32).unwrap().into_iter();
            pieces.map(|p| map.snippet(p).unwrap()).collect::<Vec<_>>()
        };
        for at in ["if", "void", " )\n"] {
            assert_eq!(pieces(at), ["if (p !=", " ((void *)0)", " )"]);
        }
        assert_eq!(pieces("x;"), ["x;"]);
        assert_eq!(pieces("next;"), ["next;"]);
    }
}
