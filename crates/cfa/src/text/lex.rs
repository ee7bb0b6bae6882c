//! Tokens of the text form.

use super::parse::ParseError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tok {
    /// A name, with its `#2`; quoted names are never words.
    Name { text: String, quoted: bool },
    /// A number as written, without sign.
    Number(String),
    /// `#` and hexadecimal digits.
    Bits(u128),
    /// A string of bytes.
    Bytes(Vec<u8>),
    /// Anything else.
    Punct(&'static str),
    /// The end.
    End,
}

/// A token, where it starts, and whether white space stands before it.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub tok: Tok,
    pub at: usize,
    pub end: usize,
}

const PUNCTS: &[&str] = &[
    "...", "->", "<<", ">>", "<=", ">=", "==", "!=", "(", ")", "{", "}", "[", "]", ",", ";", ":", "=", "+",
    "-", "*", "/", "%", "&", "|", "^", "<", ">", "!", "~", "?", ".", "@",
];

pub(super) fn lex(text: &str) -> Result<Vec<Token>, ParseError> {
    let b = text.as_bytes();
    let mut out = Vec::new();
    let mut i = 0;
    while i < b.len() {
        let at = i;
        if b[i].is_ascii_whitespace() {
            i += 1;
            continue;
        }
        if b[i..].starts_with(b"//") {
            while i < b.len() && b[i] != b'\n' {
                i += 1;
            }
            continue;
        }
        let tok = match b[i] {
            b'`' => {
                let len = b[i + 1..].iter().position(|&c| c == b'`');
                let Some(len) = len else {
                    return Err(ParseError::new(text, at, "a quoted name does not end"));
                };
                let mut name = text[i + 1..i + 1 + len].to_owned();
                i += len + 2;
                suffix(b, &mut i, &mut name);
                Tok::Name { text: name, quoted: true }
            }
            c if c.is_ascii_alphabetic() || c == b'_' || c == b'$' => {
                while i < b.len() && (b[i].is_ascii_alphanumeric() || b[i] == b'_' || b[i] == b'$') {
                    i += 1;
                }
                let mut name = text[at..i].to_owned();
                suffix(b, &mut i, &mut name);
                Tok::Name { text: name, quoted: false }
            }
            c if c.is_ascii_digit() => {
                i = number_end(b, i);
                Tok::Number(text[at..i].to_owned())
            }
            b'#' => {
                i += 1;
                while i < b.len() && b[i].is_ascii_hexdigit() {
                    i += 1;
                }
                match u128::from_str_radix(&text[at + 1..i], 16) {
                    Ok(bits) => Tok::Bits(bits),
                    Err(_) => return Err(ParseError::new(text, at, "`#` needs up to 32 hexadecimal digits")),
                }
            }
            b'"' => {
                let (bytes, end) = string(text, i)?;
                i = end;
                Tok::Bytes(bytes)
            }
            _ => match PUNCTS.iter().find(|p| b[i..].starts_with(p.as_bytes())) {
                Some(p) => {
                    i += p.len();
                    Tok::Punct(p)
                }
                None => return Err(ParseError::new(text, at, "this character has no meaning here")),
            },
        };
        out.push(Token { tok, at, end: i });
    }
    out.push(Token { tok: Tok::End, at: b.len(), end: b.len() });
    Ok(out)
}

/// Takes a `#2` that follows a name.
fn suffix(b: &[u8], i: &mut usize, name: &mut String) {
    if b.get(*i) == Some(&b'#') && b.get(*i + 1).is_some_and(u8::is_ascii_digit) {
        name.push('#');
        *i += 1;
        while *i < b.len() && b[*i].is_ascii_digit() {
            name.push(b[*i] as char);
            *i += 1;
        }
    }
}

fn number_end(b: &[u8], mut i: usize) -> usize {
    if b[i..].starts_with(b"0x") {
        i += 2;
        while i < b.len() && b[i].is_ascii_hexdigit() {
            i += 1;
        }
        return i;
    }
    let digits = |mut i: usize| {
        while i < b.len() && b[i].is_ascii_digit() {
            i += 1;
        }
        i
    };
    i = digits(i);
    if b.get(i) == Some(&b'.') && b.get(i + 1).is_some_and(u8::is_ascii_digit) {
        i = digits(i + 1);
    }
    if b.get(i) == Some(&b'e') {
        let sign = usize::from(matches!(b.get(i + 1), Some(b'-' | b'+')));
        if b.get(i + 1 + sign).is_some_and(u8::is_ascii_digit) {
            i = digits(i + 1 + sign);
        }
    }
    i
}

fn string(text: &str, start: usize) -> Result<(Vec<u8>, usize), ParseError> {
    let b = text.as_bytes();
    let mut out = Vec::new();
    let mut i = start + 1;
    loop {
        match b.get(i) {
            None | Some(b'\n') => return Err(ParseError::new(text, start, "a string does not end")),
            Some(b'"') => return Ok((out, i + 1)),
            Some(b'\\') => {
                let (byte, len) = match b.get(i + 1) {
                    Some(b'n') => (b'\n', 2),
                    Some(b't') => (b'\t', 2),
                    Some(b'0') => (0, 2),
                    Some(c @ (b'\\' | b'"')) => (*c, 2),
                    Some(b'x') => {
                        let hex = b.get(i + 2..i + 4).and_then(|h| std::str::from_utf8(h).ok());
                        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()) {
                            Some(v) => (v, 4),
                            None => return Err(ParseError::new(text, i, "`\\x` needs two digits")),
                        }
                    }
                    _ => return Err(ParseError::new(text, i, "unknown escape")),
                };
                out.push(byte);
                i += len;
            }
            Some(&c) => {
                out.push(c);
                i += 1;
            }
        }
    }
}
