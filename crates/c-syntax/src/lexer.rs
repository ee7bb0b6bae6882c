//! Text to tokens, in one pass over the bytes.
//!
//! Tokens carry positions, not strings: literals are decoded by the parser when it meets them.
//! Line markers and pragmas are taken out of the stream here.

use crate::intern::{Interner, finish_hash, step_hash};
use crate::parser::{AnnotationText, annotation_tokens};
use crate::token::{Tok, Token, keyword};
use palisade_base::{Diagnostic, Span};

/// What the lexer found in one file.
pub(crate) struct Lexed {
    /// The tokens; the last one is [`Tok::Eof`].
    pub tokens: Vec<Token>,
    /// Line markers: offset of the following line, line number, file name if it was given.
    pub markers: Vec<(u32, u32, Option<String>)>,
    /// The text of each `#pragma` after that word.
    pub pragmas: Vec<Span>,
    pub diags: Vec<Diagnostic>,
    /// Whether the text says that it is C23.
    pub c23: bool,
    /// Annotations: comments that start with `@`, if they are asked for.
    pub annotations: Vec<AnnotationText>,
}

/// Splits `text`, whose first byte has offset `base` in the source map. With `annotated` the annotations are
/// kept.
pub(crate) fn lex(text: &str, base: u32, interner: &mut Interner, annotated: bool) -> Lexed {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        base,
        // A byte order mark is no part of the text.
        pos: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
        interner,
        annotated,
        out: Lexed {
            tokens: Vec::with_capacity(text.len() / 4 + 16),
            markers: Vec::new(),
            pragmas: Vec::new(),
            diags: Vec::new(),
            c23: false,
            annotations: Vec::new(),
        },
    };
    lexer.run();
    lexer.out
}

/// The first word of a `#pragma` that gives types or names another meaning than they have without it.
fn changes_meaning(pragma: &str) -> Option<&str> {
    let mut words = pragma.split_ascii_whitespace();
    let (first, second) = (words.next()?, words.next().unwrap_or_default());
    match (first, second) {
        ("scalar_storage_order", "default" | "little-endian") | ("ms_struct", "off" | "reset") => None,
        ("scalar_storage_order" | "ms_struct" | "redefine_extname" | "weak", _) => Some(first),
        _ => None,
    }
}

/// The `#pragma` after which a text is C23 instead of GNU C11.
const C23_PRAGMA: &str = "palisade c23";

/// Errors reported by the lexer before it keeps silent; the parser stops much earlier.
const MAX_LEX_ERRORS: usize = 100;

const SPACE: u8 = 1;
const IDENT_START: u8 = 2;
const DIGIT: u8 = 4;
const HIGH: u8 = 8;

/// The class of each byte.
const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut b = 0;
    while b < 256 {
        let c = b as u8;
        table[b] = match c {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => SPACE,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'$' => IDENT_START,
            b'0'..=b'9' => DIGIT,
            0x80.. => HIGH,
            _ => 0,
        };
        b += 1;
    }
    table
};

/// The state of the pass.
pub(crate) struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    base: u32,
    pos: usize,
    interner: &'a mut Interner,
    annotated: bool,
    out: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        let bytes = self.bytes;
        while let Some(&b) = bytes.get(self.pos) {
            let class = CLASS[b as usize];
            if class & SPACE != 0 {
                self.pos += 1;
            } else if class & IDENT_START != 0 {
                self.word(b);
            } else if class & DIGIT != 0 {
                self.number();
            } else {
                self.other(b);
            }
        }
        self.push(Tok::Eof, self.pos, 0);
    }

    fn at(&self, ahead: usize) -> u8 {
        self.bytes.get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// Ends a token that started at `lo` at the current position.
    #[inline]
    fn push(&mut self, kind: Tok, lo: usize, data: u32) {
        let (lo, hi) = (self.base + lo as u32, self.base + self.pos as u32);
        self.out.tokens.push(Token { kind, data, lo, hi });
    }

    fn error(&mut self, lo: usize, hi: usize, message: impl Into<String>) {
        if self.out.diags.len() < MAX_LEX_ERRORS {
            let span = Span::new(self.base + lo as u32, self.base + hi as u32);
            self.out.diags.push(Diagnostic::error(span, message));
        }
    }

    fn warning(&mut self, lo: usize, hi: usize, message: &str) {
        if self.out.diags.len() < MAX_LEX_ERRORS {
            let span = Span::new(self.base + lo as u32, self.base + hi as u32);
            self.out.diags.push(Diagnostic::warning(span, message));
        }
    }

    /// A name, a keyword, or the prefix of a literal.
    #[inline]
    fn word(&mut self, first: u8) {
        let lo = self.pos;
        let bytes = self.bytes;
        let mut hash = step_hash(0, first);
        let mut pos = lo + 1;
        while let Some(&b) = bytes.get(pos) {
            if CLASS[b as usize] & (IDENT_START | DIGIT) == 0 {
                break;
            }
            hash = step_hash(hash, b);
            pos += 1;
        }
        self.pos = pos;
        let next = self.at(0);
        if next == b'"' || next == b'\'' {
            let prefix = &bytes[lo..pos];
            if matches!(prefix, b"L" | b"u" | b"U") || prefix == b"u8" {
                return self.quoted(lo, (pos - lo) as u32);
            }
        }
        if next >= 0x80 || next == b'\\' && matches!(self.at(1), b'u' | b'U') {
            return self.universal_word(lo);
        }
        let symbol = self.interner.intern_hashed(&self.text[lo..pos], finish_hash(hash));
        let kind = keyword(symbol.0, self.out.c23).unwrap_or(Tok::Ident);
        self.push(kind, lo, symbol.0);
    }

    /// A name with characters beyond ASCII, as such or as `\u…`. If it has none after all, the
    /// part before the odd character is the name.
    fn universal_word(&mut self, lo: usize) {
        let mut name = String::from(&self.text[lo..self.pos]);
        loop {
            let rest = &self.text[self.pos..];
            match rest.chars().next() {
                Some(c) if c.is_ascii_alphanumeric() || c == '_' || c == '$' => {
                    name.push(c);
                    self.pos += 1;
                }
                Some('\\') => match universal_name(rest.as_bytes()) {
                    Some((c, len)) if is_universal_ident(c) => {
                        name.push(c);
                        self.pos += len;
                    }
                    _ => break,
                },
                Some(c) if is_universal_ident(c) => {
                    name.push(c);
                    self.pos += c.len_utf8();
                }
                _ => break,
            }
        }
        if name.is_empty() {
            let c = self.text[lo..].chars().next().map_or(1, char::len_utf8);
            self.pos = lo + c;
            let shown = self.text[lo..self.pos].escape_debug().to_string();
            return self.error(lo, self.pos, format!("stray character `{shown}` in program"));
        }
        let symbol = self.interner.intern(&name);
        let kind = keyword(symbol.0, self.out.c23).unwrap_or(Tok::Ident);
        self.push(kind, lo, symbol.0);
    }

    /// A preprocessing number: checked and decoded by the parser.
    #[inline]
    fn number(&mut self) {
        let lo = self.pos;
        self.pos += 1;
        loop {
            let b = self.at(0);
            // C23 6.4.4.1: a quote between two digits separates them.
            let separator =
                b == b'\'' && self.out.c23 && CLASS[self.at(1) as usize] & (IDENT_START | DIGIT) != 0;
            if CLASS[b as usize] & (IDENT_START | DIGIT) == 0 && b != b'.' && !separator {
                break;
            }
            self.pos += 1;
            if matches!(b, b'e' | b'E' | b'p' | b'P') && matches!(self.at(0), b'+' | b'-') {
                self.pos += 1;
            }
        }
        self.push(Tok::Number, lo, 0);
    }

    /// A character or string literal whose token starts at `lo` and whose quote is here.
    fn quoted(&mut self, lo: usize, prefix: u32) {
        let quote = self.at(0);
        self.pos += 1;
        loop {
            match self.bytes.get(self.pos) {
                None | Some(b'\n') => {
                    let what = if quote == b'"' { "string literal" } else { "character constant" };
                    self.error(lo, self.pos, format!("unterminated {what}"));
                    break;
                }
                Some(b'\\') => {
                    // A backslash before a line end joins the lines, also before "\r\n".
                    let skip = if self.at(1) == b'\r' && self.at(2) == b'\n' { 3 } else { 2 };
                    self.pos = (self.pos + skip).min(self.bytes.len());
                }
                Some(&b) => {
                    self.pos += 1;
                    if b == quote {
                        break;
                    }
                }
            }
        }
        self.push(if quote == b'"' { Tok::Str } else { Tok::Char }, lo, prefix);
    }

    /// Everything that is not a space, a word or a digit.
    fn other(&mut self, b: u8) {
        let lo = self.pos;
        let (next, third) = (self.at(1), self.at(2));
        let (kind, len) = match (b, next) {
            (b'(', _) => (Tok::LParen, 1),
            (b')', _) => (Tok::RParen, 1),
            (b'[', _) => (Tok::LBracket, 1),
            (b']', _) => (Tok::RBracket, 1),
            (b'{', _) => (Tok::LBrace, 1),
            (b'}', _) => (Tok::RBrace, 1),
            (b';', _) => (Tok::Semi, 1),
            (b',', _) => (Tok::Comma, 1),
            (b':', b'>') => (Tok::RBracket, 2),
            (b':', _) => (Tok::Colon, 1),
            (b'?', _) => (Tok::Question, 1),
            (b'~', _) => (Tok::Tilde, 1),
            (b'.', b'.') if third == b'.' => (Tok::Ellipsis, 3),
            (b'.', b'0'..=b'9') => return self.number(),
            (b'.', _) => (Tok::Dot, 1),
            (b'-', b'>') => (Tok::Arrow, 2),
            (b'-', b'-') => (Tok::Dec, 2),
            (b'-', b'=') => (Tok::MinusAssign, 2),
            (b'-', _) => (Tok::Minus, 1),
            (b'+', b'+') => (Tok::Inc, 2),
            (b'+', b'=') => (Tok::PlusAssign, 2),
            (b'+', _) => (Tok::Plus, 1),
            (b'!', b'=') => (Tok::Ne, 2),
            (b'!', _) => (Tok::Not, 1),
            (b'*', b'=') => (Tok::StarAssign, 2),
            (b'*', _) => (Tok::Star, 1),
            (b'/', b'/') => return self.line_comment(),
            (b'/', b'*') => return self.block_comment(),
            (b'/', b'=') => (Tok::SlashAssign, 2),
            (b'/', _) => (Tok::Slash, 1),
            (b'%', b'=') => (Tok::PercentAssign, 2),
            (b'%', b'>') => (Tok::RBrace, 2),
            (b'%', _) => (Tok::Percent, 1),
            (b'<', b'<') if third == b'=' => (Tok::ShlAssign, 3),
            (b'<', b'<') => (Tok::Shl, 2),
            (b'<', b'=') => (Tok::Le, 2),
            (b'<', b':') => (Tok::LBracket, 2),
            (b'<', b'%') => (Tok::LBrace, 2),
            (b'<', _) => (Tok::Lt, 1),
            (b'>', b'>') if third == b'=' => (Tok::ShrAssign, 3),
            (b'>', b'>') => (Tok::Shr, 2),
            (b'>', b'=') => (Tok::Ge, 2),
            (b'>', _) => (Tok::Gt, 1),
            (b'=', b'=') => (Tok::EqEq, 2),
            (b'=', _) => (Tok::Assign, 1),
            (b'&', b'&') => (Tok::AmpAmp, 2),
            (b'&', b'=') => (Tok::AmpAssign, 2),
            (b'&', _) => (Tok::Amp, 1),
            (b'^', b'=') => (Tok::CaretAssign, 2),
            (b'^', _) => (Tok::Caret, 1),
            (b'|', b'|') => (Tok::PipePipe, 2),
            (b'|', b'=') => (Tok::PipeAssign, 2),
            (b'|', _) => (Tok::Pipe, 1),
            (b'"' | b'\'', _) => return self.quoted(lo, 0),
            (b'#', _) if self.at_line_start() => return self.directive(),
            (b'\\', b'\n') => {
                self.pos += 2;
                return;
            }
            (b'\\', b'\r') if third == b'\n' => {
                self.pos += 3;
                return;
            }
            (0, _) => {
                self.pos += 1;
                while self.bytes.get(self.pos) == Some(&0) {
                    self.pos += 1;
                }
                return self.warning(lo, self.pos, "null character ignored");
            }
            _ => return self.universal_word(lo),
        };
        self.pos += len;
        self.push(kind, lo, 0);
    }

    fn line_comment(&mut self) {
        let lo = self.pos;
        self.skip_line_comment();
        self.note_annotation(lo);
    }

    /// Keeps the comment from there to here if it is an annotation.
    fn note_annotation(&mut self, lo: usize) {
        let comment = &self.text[lo..self.pos];
        if self.annotated && comment.as_bytes().get(2) == Some(&b'@') {
            let base = self.base + lo as u32;
            let annotation = annotation_tokens(comment, base, self);
            self.out.annotations.push(annotation);
        }
    }

    /// The tokens of a text of its own; none if it is not made of tokens.
    pub(crate) fn sub_lex(&mut self, text: &str, base: u32) -> Vec<Token> {
        let lexed = lex(text, base, self.interner, false);
        if lexed.diags.is_empty() { lexed.tokens } else { Vec::new() }
    }

    fn skip_line_comment(&mut self) {
        loop {
            let Some(len) = self.bytes[self.pos..].iter().position(|&b| b == b'\n') else {
                self.pos = self.bytes.len();
                return;
            };
            self.pos += len;
            let line = self.bytes[..self.pos].strip_suffix(b"\r").unwrap_or(&self.bytes[..self.pos]);
            if line.last() != Some(&b'\\') {
                return;
            }
            self.pos += 1;
        }
    }

    fn block_comment(&mut self) {
        let lo = self.pos;
        match self.text[lo + 2..].find("*/") {
            Some(len) => {
                self.pos = lo + 2 + len + 2;
                self.note_annotation(lo);
            }
            None => {
                self.pos = self.bytes.len();
                self.error(lo, lo + 2, "unterminated comment");
            }
        }
    }

    /// Whether only blanks stand between the line's start and here.
    fn at_line_start(&self) -> bool {
        let before = self.bytes[..self.pos].iter().rev().find(|b| !matches!(b, b' ' | b'\t' | b'\r'));
        before.is_none_or(|&b| b == b'\n')
    }

    /// A line that starts with `#`.
    fn directive(&mut self) {
        let lo = self.pos;
        let mut end = lo;
        loop {
            end += self.bytes[end..].iter().position(|&b| b == b'\n').unwrap_or(self.bytes.len() - end);
            let line = self.bytes[..end].strip_suffix(b"\r").unwrap_or(&self.bytes[..end]);
            if end == self.bytes.len() || line.last() != Some(&b'\\') {
                break;
            }
            end += 1;
        }
        self.pos = end;
        let line = &self.text[lo + 1..end];
        let line = line.trim_ascii_start();
        let word_len = line.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let (word, rest) = line.split_at(word_len);
        match word {
            "pragma" => {
                let hi = lo + 1 + line.trim_ascii_end().len() + (end - lo - 1 - line.len());
                let from = end - rest.len();
                let span = Span::new(self.base + from as u32, self.base + hi.max(from) as u32);
                self.out.pragmas.push(span);
                self.out.c23 |= rest.trim_ascii() == C23_PRAGMA;
                if let Some(what) = changes_meaning(rest) {
                    self.error(
                        lo,
                        end,
                        format!("`#pragma {what}` is not supported: write out what it asks for"),
                    );
                }
            }
            "line" => self.marker(lo, rest.trim_ascii_start()),
            "ident" | "sccs" => {}
            "" if line.trim_ascii().is_empty() => {}
            _ if word.as_bytes().first().is_some_and(u8::is_ascii_digit) => self.marker(lo, line),
            "" => self.error(lo, end, "malformed preprocessor directive"),
            _ => self.error(
                lo,
                end,
                format!("preprocessor directive `#{word}` in text that should be preprocessed"),
            ),
        }
    }

    /// `12 "file.h" 1 3`
    fn marker(&mut self, lo: usize, line: &str) {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        // A number with other characters in it, or one past what compilers count, is no line.
        let number = line[..digits].parse::<u32>().ok().filter(|&n| n <= i32::MAX as u32);
        let rest = line[digits..].trim_ascii();
        let file = if rest.is_empty() { Some(None) } else { quoted_name(rest).map(Some) };
        let (Some(number), Some(file)) = (number, file) else {
            return self.error(lo, self.pos, "malformed line marker");
        };
        if self.pos < self.bytes.len() {
            self.out.markers.push((self.base + self.pos as u32 + 1, number, file));
        }
    }
}

/// The file name at the start of a line marker's rest; `None` if it is not properly quoted.
fn quoted_name(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut chars = text.strip_prefix('"')?.chars();
    loop {
        match chars.next()? {
            '"' => return Some(name),
            '\\' => name.push(chars.next()?),
            c => name.push(c),
        }
    }
}

/// Reads `\uXXXX` or `\UXXXXXXXX`: the character and the length of its spelling.
pub(crate) fn universal_name(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = match bytes.get(..2)? {
        b"\\u" => 4,
        b"\\U" => 8,
        _ => return None,
    };
    let mut value = 0;
    for &b in bytes.get(2..2 + digits)? {
        value = value << 4 | (b as char).to_digit(16)?;
    }
    Some((char::from_u32(value)?, 2 + digits))
}

/// Whether a character beyond ASCII may be part of a name. The lossy replacement of invalid
/// UTF-8 is not alphanumeric, so it is reported as stray.
fn is_universal_ident(c: char) -> bool {
    !c.is_ascii() && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Tok> {
        let lexed = lex(text, 0, &mut Interner::new(), false);
        assert!(lexed.diags.is_empty(), "{:?}", lexed.diags);
        lexed.tokens.iter().map(|t| t.kind).collect()
    }

    #[test]
    fn operators_take_the_longest_match() {
        use Tok::*;
        assert_eq!(kinds("a+++b"), [Ident, Inc, Plus, Ident, Eof]);
        assert_eq!(kinds("a<<=b>>=c"), [Ident, ShlAssign, Ident, ShrAssign, Ident, Eof]);
        assert_eq!(kinds("x->y...z"), [Ident, Arrow, Ident, Ellipsis, Ident, Eof]);
        assert_eq!(kinds("a..b"), [Ident, Dot, Dot, Ident, Eof]);
        assert_eq!(kinds("<:%>:>"), [LBracket, RBrace, RBracket, Eof]);
        assert_eq!(kinds("1e+5-.5p-3+0x1e+1"), [Number, Minus, Number, Plus, Number, Eof]);
    }

    #[test]
    fn comments_and_joined_lines_separate_tokens() {
        use Tok::*;
        assert_eq!(kinds("a/* * / */b// c \\\n still\nd\\\ne"), [Ident, Ident, Ident, Ident, Eof]);
    }

    #[test]
    fn literal_prefixes_are_not_names() {
        use Tok::*;
        assert_eq!(kinds(r#"L"a" u8"b" u'c' U "d" x'e'"#), [Str, Str, Char, Ident, Str, Ident, Char, Eof]);
    }

    #[test]
    fn names_may_hold_dollars_and_universal_characters() {
        let mut interner = Interner::new();
        let lexed = lex("a$b caf\\u00e9 café", 0, &mut interner, false);
        assert!(lexed.diags.is_empty());
        let names: Vec<&str> =
            lexed.tokens[..3].iter().map(|t| interner.name(crate::Symbol(t.data))).collect();
        assert_eq!(names, ["a$b", "café", "café"]);
    }

    #[test]
    fn markers_and_pragmas_leave_the_token_stream() {
        let text = "# 7 \"a \\\"b\\\".h\" 1 3\nx\n#line 9\n#pragma pack(1) \n#ident \"v\"\n#\ny";
        let lexed = lex(text, 100, &mut Interner::new(), false);
        assert!(lexed.diags.is_empty(), "{:?}", lexed.diags);
        assert_eq!(lexed.markers[0], (120, 7, Some("a \"b\".h".into())));
        assert_eq!(lexed.markers[1], (130, 9, None));
        let p = lexed.pragmas[0];
        assert_eq!(&text[p.lo as usize - 100..p.hi as usize - 100], " pack(1)");
        assert_eq!(lexed.tokens.len(), 3);
    }

    #[test]
    fn bad_characters_are_reported_once_each() {
        let lexed = lex("a @ \u{fffd} \0\0 \" x\n'y\n/* z", 0, &mut Interner::new(), false);
        let messages: Vec<&str> = lexed.diags.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "stray character `@` in program",
                "stray character `\u{fffd}` in program",
                "null character ignored",
                "unterminated string literal",
                "unterminated character constant",
                "unterminated comment",
            ]
        );
    }
}
