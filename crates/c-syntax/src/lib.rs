//! C text to tokens to a syntax tree.
//!
//! [`parse`] reads one preprocessed file of C11 with the GNU extensions that real code uses. It
//! never fails: it returns what it could read together with every error it found. Types are
//! left as syntax; the type checker gives them meaning.
//!
//! A text is C23 from the line `#pragma palisade c23` on: then the keywords that only C23 has are
//! keywords, `auto` infers types, `()` declares no parameters, and quotes separate digits.

pub mod ast;
mod intern;
mod lexer;
mod literal;
mod parser;
mod token;

pub use intern::{Interner, Symbol};

use ast::TranslationUnit;
use palisade_base::{Diagnostic, FileId, SourceMap};

/// The deepest nesting of parentheses, declarators, records, initialisers and prefix operators.
/// The parser recurses on these; its stack for this many levels fits into the 2 MB of a thread
/// (a level takes 1.7 kB at most when optimised, and 3.2 kB otherwise).
pub const MAX_NESTING: usize = 512;

/// The highest expression tree, where the left spine of binary operators counts once. One level
/// of parentheses can add several operators to the height.
pub const MAX_EXPR_HEIGHT: usize = 2048;

/// The deepest nesting of blocks and other statements inside statements. The parser does not
/// recurse on them, but those who walk the tree may; machine-made programs nest hundreds deep.
pub const MAX_STATEMENT_NESTING: usize = 8192;

/// Reads the preprocessed C text of `file`. Line markers are recorded in `map`.
///
/// The diagnostics are in source order. If none is an error, the tree holds the whole file and no
/// error node.
///
/// ```
/// use palisade_base::SourceMap;
/// use palisade_c_syntax::{Interner, parse};
///
/// let mut map = SourceMap::new();
/// let file = map.add("a.i", "# 7 \"a.c\"\nint x = 1".into()).unwrap();
/// let (unit, diagnostics) = parse(&mut map, file, &mut Interner::new());
/// assert_eq!(unit.items.len(), 1);
/// let first = &diagnostics[0];
/// assert_eq!(first.message, "expected `;` after the declaration, found end of file");
/// assert_eq!(map.position(first.span).unwrap().line, 7);
/// ```
pub fn parse(
    map: &mut SourceMap,
    file: FileId,
    interner: &mut Interner,
) -> (TranslationUnit, Vec<Diagnostic>) {
    read(map, file, interner, false)
}

/// Like [`parse`], with the annotations of ACSL in the text: comments that start with `@`.
pub fn parse_annotated(
    map: &mut SourceMap,
    file: FileId,
    interner: &mut Interner,
) -> (TranslationUnit, Vec<Diagnostic>) {
    read(map, file, interner, true)
}

fn read(
    map: &mut SourceMap,
    file: FileId,
    interner: &mut Interner,
    annotated: bool,
) -> (TranslationUnit, Vec<Diagnostic>) {
    let text = map.text(file);
    let base = map.start(file);
    let mut lexed = lexer::lex(&text, base, interner, annotated);
    let mut current = map.name(file).to_owned();
    for (at, line, name) in std::mem::take(&mut lexed.markers) {
        if let Some(name) = name {
            current = name;
        }
        map.add_marker(file, at, &current, line);
    }
    parser::translation_unit(file, &text, base, lexed, interner)
}
