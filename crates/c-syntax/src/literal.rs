//! Numbers, characters and strings: from their spelling to their value.

use crate::ast::{BasicType, Encoding, FloatSuffix, IntBase, StringUnits};
use crate::lexer::universal_name;

/// A decoded number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number<'a> {
    Int {
        value: u64,
        base: IntBase,
        unsigned: bool,
        longs: u8,
        imaginary: bool,
        bit_precise: bool,
        /// The digits did not fit into 64 bits.
        overflow: bool,
    },
    Float {
        /// The spelling without the suffix.
        digits: &'a str,
        suffix: FloatSuffix,
        imaginary: bool,
    },
}

/// Reads a preprocessing number; the error says what is wrong with it.
pub(crate) fn number(text: &str) -> Result<Number<'_>, String> {
    let bytes = text.as_bytes();
    let (base, radix, start) = match bytes {
        [b'0', b'x' | b'X', ..] => (IntBase::Hex, 16, 2),
        [b'0', b'b' | b'B', ..] => (IntBase::Binary, 2, 2),
        [b'0', ..] => (IntBase::Octal, 8, 1),
        _ => (IntBase::Decimal, 10, 0),
    };
    let is_digit = |b: u8| if radix == 16 { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let mut end = start;
    while bytes.get(end).is_some_and(|&b| is_digit(b)) {
        end += 1;
    }
    let exponent = if radix == 16 { b'p' } else { b'e' };
    if radix != 2 && bytes.get(end).is_some_and(|&b| b == b'.' || b.to_ascii_lowercase() == exponent) {
        return float(text, start, is_digit, exponent);
    }
    if start == 2 && end == start {
        return Err(format!("no digits in constant `{text}`"));
    }
    let (mut value, mut overflow) = (0u64, false);
    for &b in &bytes[start..end] {
        // Every digit byte is a hexadecimal digit.
        let digit = (b as char).to_digit(16).unwrap_or(0);
        if digit >= radix {
            let kind = if radix == 2 { "binary" } else { "octal" };
            return Err(format!("invalid digit `{}` in {kind} constant", b as char));
        }
        let (product, o1) = value.overflowing_mul(radix.into());
        let (sum, o2) = product.overflowing_add(digit.into());
        value = sum;
        overflow |= o1 | o2;
    }
    // `wb` (C23 6.4.4.1) stands in the place of `l`.
    let suffix = text[end..].replace("wb", "").replace("WB", "");
    let bit_precise = suffix.len() + 2 == text.len() - end;
    let (unsigned, longs, imaginary) = int_suffix(&suffix)
        .filter(|&(_, longs, _)| !bit_precise || longs == 0)
        .ok_or_else(|| format!("invalid suffix `{}` on integer constant", &text[end..]))?;
    Ok(Number::Int { value, base, unsigned, longs, imaginary, bit_precise, overflow })
}

/// `u`, `l` or `ll` and `i` or `j`, each at most once and in any order.
fn int_suffix(suffix: &str) -> Option<(bool, u8, bool)> {
    let (mut unsigned, mut longs, mut imaginary) = (false, 0, false);
    let mut rest = suffix.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match first {
            b'u' | b'U' if !unsigned => unsigned = true,
            b'i' | b'I' | b'j' | b'J' if !imaginary => imaginary = true,
            b'l' | b'L' if longs == 0 => {
                longs = 1;
                // The two letters of `ll` have the same case.
                if tail.first() == Some(first) {
                    longs = 2;
                    rest = &tail[1..];
                }
            }
            _ => return None,
        }
    }
    Some((unsigned, longs, imaginary))
}

fn float(
    text: &str,
    start: usize,
    is_digit: impl Fn(u8) -> bool,
    exponent: u8,
) -> Result<Number<'_>, String> {
    let bytes = text.as_bytes();
    // An octal-looking prefix is part of a decimal float: start after `0x` only.
    let start = if exponent == b'p' { start } else { 0 };
    let mut end = start;
    let mut digits = 0;
    let mut seen_dot = false;
    while let Some(&b) = bytes.get(end) {
        if is_digit(b) {
            digits += 1;
        } else if b == b'.' && !seen_dot {
            seen_dot = true;
        } else {
            break;
        }
        end += 1;
    }
    if digits == 0 {
        return Err(format!("no digits in constant `{text}`"));
    }
    if bytes.get(end).is_some_and(|b| b.to_ascii_lowercase() == exponent) {
        let mut at = end + 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        let from = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        if at == from {
            return Err("exponent has no digits".into());
        }
        end = at;
    } else if exponent == b'p' {
        return Err("hexadecimal floating constant has no exponent".into());
    }
    let bad = || format!("invalid suffix `{}` on floating constant", &text[end..]);
    let mut suffix = text[end..].to_ascii_lowercase();
    // The suffix is ASCII: the lexer takes only ASCII bytes into numbers.
    let before = suffix.len();
    suffix.retain(|c| c != 'i' && c != 'j');
    let imaginary = match before - suffix.len() {
        0 => false,
        1 => true,
        _ => return Err(bad()),
    };
    let suffix = match suffix.as_str() {
        "" => FloatSuffix::None,
        "f" => FloatSuffix::F,
        "l" => FloatSuffix::L,
        "d" => FloatSuffix::None,
        "q" | "f128" => FloatSuffix::Type(BasicType::Float128),
        "w" => FloatSuffix::Type(BasicType::Float80),
        "f16" => FloatSuffix::Type(BasicType::Float16),
        "bf16" => FloatSuffix::Type(BasicType::BFloat16),
        "f32" => FloatSuffix::Type(BasicType::Float32),
        "f64" => FloatSuffix::Type(BasicType::Float64),
        "f32x" => FloatSuffix::Type(BasicType::Float32x),
        "f64x" => FloatSuffix::Type(BasicType::Float64x),
        "df" => FloatSuffix::Type(BasicType::Decimal32),
        "dd" => FloatSuffix::Type(BasicType::Decimal64),
        "dl" => FloatSuffix::Type(BasicType::Decimal128),
        _ => return Err(bad()),
    };
    Ok(Number::Float { digits: &text[..end], suffix, imaginary })
}

/// The encoding that a literal's prefix names.
pub(crate) fn encoding_of(prefix: &str) -> Encoding {
    match prefix {
        "L" => Encoding::Wide,
        "u8" => Encoding::Utf8,
        "u" => Encoding::Utf16,
        "U" => Encoding::Utf32,
        _ => Encoding::Narrow,
    }
}

/// What is between the quotes of a literal token; an unterminated one has no closing quote.
pub(crate) fn between_quotes(text: &str, prefix: usize) -> &str {
    let quote = text.as_bytes()[prefix];
    let inner = &text[prefix + 1..];
    match inner.as_bytes().last() {
        Some(&b) if b == quote && !ends_escaped(&inner[..inner.len() - 1]) => &inner[..inner.len() - 1],
        _ => inner,
    }
}

/// Whether the character after `s` would be escaped by `s`'s last backslash.
fn ends_escaped(s: &str) -> bool {
    s.bytes().rev().take_while(|&b| b == b'\\').count() % 2 == 1
}

/// The elements of a literal under construction.
#[derive(Debug)]
pub(crate) struct Units {
    encoding: Encoding,
    bytes: Vec<u8>,
    wide: Vec<u32>,
    /// What was odd; each is worth a warning.
    pub warnings: Vec<String>,
}

impl Units {
    pub fn new(encoding: Encoding) -> Self {
        Units { encoding, bytes: Vec::new(), wide: Vec::new(), warnings: Vec::new() }
    }

    fn is_narrow(&self) -> bool {
        matches!(self.encoding, Encoding::Narrow | Encoding::Utf8)
    }

    /// Adds the text between the quotes of one piece; the error says what is wrong with it.
    pub fn add(&mut self, inner: &str) -> Result<(), String> {
        if self.is_narrow() && !inner.as_bytes().contains(&b'\\') {
            self.bytes.extend_from_slice(inner.as_bytes());
            return Ok(());
        }
        let mut rest = inner;
        while let Some(c) = rest.chars().next() {
            if c == '\\' {
                rest = self.escape(rest)?;
            } else {
                self.push_char(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        Ok(())
    }

    /// Reads the escape sequence at the start of `text` and returns what follows it.
    fn escape<'t>(&mut self, text: &'t str) -> Result<&'t str, String> {
        let bytes = text.as_bytes();
        let simple = match bytes.get(1) {
            None => return Err("backslash at the end of a literal".into()),
            Some(b'\n') => return Ok(&text[2..]),
            Some(b'\r') if bytes.get(2) == Some(&b'\n') => return Ok(&text[3..]),
            Some(b'n') => 10,
            Some(b't') => 9,
            Some(b'r') => 13,
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'v') => 11,
            Some(b'e' | b'E') => 27,
            Some(&b @ (b'\\' | b'\'' | b'"' | b'?')) => b,
            Some(b'0'..=b'7') => {
                let digits = bytes[1..].iter().take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
                let value = bytes[1..=digits].iter().fold(0, |v, b| v * 8 + u32::from(b - b'0'));
                self.push_unit(value, "octal");
                return Ok(&text[1 + digits..]);
            }
            Some(b'x') => {
                let digits = bytes[2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
                if digits == 0 {
                    return Err("`\\x` used with no following hex digits".into());
                }
                let mut value = 0u32;
                let mut overflow = false;
                for &b in &bytes[2..2 + digits] {
                    overflow |= value >> 28 != 0;
                    value = value << 4 | (b as char).to_digit(16).unwrap_or(0);
                }
                if overflow {
                    self.warnings.push("hex escape sequence out of range".into());
                }
                self.push_unit(value, "hex");
                return Ok(&text[2 + digits..]);
            }
            Some(b'u' | b'U') => {
                let (c, len) = universal_name(bytes).ok_or("invalid universal character name")?;
                self.push_char(c);
                return Ok(&text[len..]);
            }
            Some(_) => {
                let c = text[1..].chars().next().unwrap_or('\\');
                self.warnings.push(format!("unknown escape sequence `\\{}`", c.escape_debug()));
                self.push_char(c);
                return Ok(&text[1 + c.len_utf8()..]);
            }
        };
        self.push_unit(simple.into(), "");
        Ok(&text[2..])
    }

    /// Adds a character of the source in the literal's encoding.
    fn push_char(&mut self, c: char) {
        if self.is_narrow() {
            self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else if self.encoding == Encoding::Utf16 {
            self.wide.extend(c.encode_utf16(&mut [0; 2]).iter().map(|&u| u32::from(u)));
        } else {
            self.wide.push(c.into());
        }
    }

    /// Adds one element given by number, reduced to the element's width.
    fn push_unit(&mut self, value: u32, how: &str) {
        let max = match self.encoding {
            Encoding::Narrow | Encoding::Utf8 => 0xff,
            Encoding::Utf16 => 0xffff,
            Encoding::Wide | Encoding::Utf32 => u32::MAX,
        };
        if value > max {
            self.warnings.push(format!("{how} escape sequence out of range"));
        }
        if self.is_narrow() {
            self.bytes.push(value as u8);
        } else {
            self.wide.push(value & max);
        }
    }

    /// The finished string.
    pub fn finish(self) -> StringUnits {
        if self.is_narrow() {
            StringUnits::Bytes(self.bytes.into())
        } else {
            StringUnits::Wide(self.wide.into())
        }
    }

    /// The value of the character constant with these elements, as gcc computes it on x86.
    pub fn char_value(&mut self) -> Result<i64, String> {
        if self.is_narrow() {
            let value = match self.bytes[..] {
                [] => return Err("empty character constant".into()),
                [b] if self.encoding == Encoding::Utf8 => i64::from(b),
                [b] => i64::from(b as i8),
                ref all if self.encoding == Encoding::Utf8 => {
                    return Err(format!("character constant of {} UTF-8 bytes", all.len()));
                }
                ref all => {
                    let message = if all.len() > 4 {
                        "character constant too long for its type"
                    } else {
                        "multi-character character constant"
                    };
                    self.warnings.push(message.into());
                    let packed = all.iter().fold(0u32, |v, &b| v << 8 | u32::from(b));
                    i64::from(packed as i32)
                }
            };
            return Ok(value);
        }
        let Some(&last) = self.wide.last() else {
            return Err("empty character constant".into());
        };
        if self.wide.len() > 1 {
            self.warnings.push("character constant too long for its type".into());
        }
        Ok(if self.encoding == Encoding::Wide { i64::from(last as i32) } else { i64::from(last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> (u64, bool, u8) {
        match number(text) {
            Ok(Number::Int { value, unsigned, longs, .. }) => (value, unsigned, longs),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn integers_in_all_bases_with_all_suffixes() {
        assert_eq!(int("0"), (0, false, 0));
        assert_eq!(int("0173u"), (123, true, 0));
        assert_eq!(int("0x7bUL"), (123, true, 1));
        assert_eq!(int("0b1111011LLU"), (123, true, 2));
        assert_eq!(int("123lLu".replace("lL", "ll").as_str()), (123, true, 2));
        assert_eq!(int("18446744073709551615"), (u64::MAX, false, 0));
        assert!(matches!(number("18446744073709551616"), Ok(Number::Int { overflow: true, value: 0, .. })));
        assert!(matches!(number("3i"), Ok(Number::Int { imaginary: true, .. })));
        for bad in ["08", "0b2", "0x", "1lL", "1uu", "1lll", "1x", "0b", "12abc"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn floats_keep_their_spelling() {
        let ok = |text| match number(text) {
            Ok(Number::Float { digits, suffix, .. }) => (digits, suffix),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(ok("1.5"), ("1.5", FloatSuffix::None));
        assert_eq!(ok("09.5e-3f"), ("09.5e-3", FloatSuffix::F));
        assert_eq!(ok(".5L"), (".5", FloatSuffix::L));
        assert_eq!(ok("1.e5"), ("1.e5", FloatSuffix::None));
        assert_eq!(ok("0x1.8p+3F"), ("0x1.8p+3", FloatSuffix::F));
        assert_eq!(ok("0x.8p0"), ("0x.8p0", FloatSuffix::None));
        assert_eq!(ok("1e5q"), ("1e5", FloatSuffix::Type(BasicType::Float128)));
        assert_eq!(ok("1.0f32x"), ("1.0", FloatSuffix::Type(BasicType::Float32x)));
        assert!(matches!(number("1.0fi"), Ok(Number::Float { imaginary: true, .. })));
        for bad in ["1e", "1.5e+", "0x1.8", "1.2.3", "1.5ff", "0x.p1", "1.0x", "1...5"] {
            assert!(number(bad).is_err(), "{bad}");
        }
    }

    fn chr(inner: &str, encoding: Encoding) -> Result<i64, String> {
        let mut units = Units::new(encoding);
        units.add(inner)?;
        units.char_value()
    }

    #[test]
    fn characters_as_gcc_values_them() {
        use Encoding::*;
        assert_eq!(chr("a", Narrow), Ok(97));
        assert_eq!(chr("\\xff", Narrow), Ok(-1));
        assert_eq!(chr("\\377", Narrow), Ok(-1));
        assert_eq!(chr("\\0", Narrow), Ok(0));
        assert_eq!(chr("ab", Narrow), Ok(0x6162));
        assert_eq!(chr("\\xff\\0\\0\\0", Narrow), Ok(-0x0100_0000));
        assert_eq!(chr("é", Narrow), Ok(0xc3a9));
        assert_eq!(chr("é", Wide), Ok(0xe9));
        assert_eq!(chr("\\xffffffff", Wide), Ok(-1));
        assert_eq!(chr("\\xffff", Utf16), Ok(0xffff));
        assert_eq!(chr("\\U0001F600", Utf32), Ok(0x1f600));
        assert_eq!(chr("\\e", Narrow), Ok(27));
        assert!(chr("", Narrow).is_err());
        assert!(chr("\\x", Narrow).is_err());
        assert!(chr("\\u12", Narrow).is_err());
    }

    #[test]
    fn strings_in_all_encodings() {
        let units = |inner, encoding| {
            let mut u = Units::new(encoding);
            u.add(inner).unwrap();
            u.finish()
        };
        let bytes = |b: &[u8]| StringUnits::Bytes(b.into());
        assert_eq!(units("a\\n\\\"\\101\\x41é", Encoding::Narrow), bytes(b"a\n\"AA\xc3\xa9"));
        assert_eq!(units("\\1234", Encoding::Narrow), bytes(&[0o123, b'4']));
        assert_eq!(units("\\u00e9", Encoding::Utf8), bytes("é".as_bytes()));
        assert_eq!(units("é😀", Encoding::Utf16), StringUnits::Wide([0xe9, 0xd83d, 0xde00].into()));
        assert_eq!(units("é😀", Encoding::Wide), StringUnits::Wide([0xe9, 0x1f600].into()));
        assert_eq!(units("a\\\nb", Encoding::Narrow), bytes(b"ab"));
    }

    #[test]
    fn quotes_are_stripped_from_broken_literals_too() {
        assert_eq!(between_quotes("\"ab\"", 0), "ab");
        assert_eq!(between_quotes("u8\"ab", 2), "ab");
        assert_eq!(between_quotes("\"", 0), "");
        assert_eq!(between_quotes("\"a\\\"", 0), "a\\\"");
        assert_eq!(between_quotes("\"a\\\\\"", 0), "a\\\\");
    }
}
