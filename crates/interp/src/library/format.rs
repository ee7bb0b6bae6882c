//! `printf`: formats, flags, widths and precisions as the C standard and glibc define them.

use super::decimal::Decimal;
use crate::code::Slot;
use crate::f80::{self, Parts};
use crate::machine::{Machine, Step, slot_bits};
use crate::memory::Pointer;
use crate::outcome::Outcome;
use palisade_cfa::*;
use std::collections::VecDeque;

/// Where the arguments come from.
pub(super) enum Args {
    /// Passed to the function itself.
    Given(VecDeque<(Scalar, Slot)>),
    /// In slots of 16 bytes from here on.
    Area(Pointer),
}

/// Bytes of a variable argument's slot.
const SLOT: u64 = 16;
/// Output of one call beyond this is refused.
const MAX_OUTPUT: usize = 1 << 26;

/// The length modifier of a conversion.
#[derive(Clone, Copy, PartialEq)]
enum Length {
    Char,
    Short,
    Int,
    Long,
    LongLong,
    /// `z`, `t`: as wide as a pointer.
    Size,
    LongDouble,
}

#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// Formats. `%n` writes to memory.
pub(super) fn format(m: &mut Machine<'_>, format: &[u8], args: &mut Args) -> Step<Vec<u8>> {
    let mut out = Vec::new();
    let mut i = 0;
    while i < format.len() {
        if format[i] != b'%' {
            out.push(format[i]);
            i += 1;
            continue;
        }
        i += 1;
        let (spec, length, conversion, next) = read_spec(m, format, i, args)?;
        i = next;
        conversion_of(m, &spec, length, conversion, args, &mut out)?;
        if out.len() > MAX_OUTPUT {
            return Err(Outcome::MemoryLimit);
        }
    }
    Ok(out)
}

fn read_spec(m: &Machine<'_>, f: &[u8], mut i: usize, args: &mut Args) -> Step<(Spec, Length, u8, usize)> {
    let mut spec = Spec::default();
    let at = |i: usize| f.get(i).copied().unwrap_or(0);
    loop {
        match at(i) {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            b'\'' | b'I' => {}
            _ => break,
        }
        i += 1;
    }
    let number = |i: &mut usize| {
        let mut n = 0usize;
        while at(*i).is_ascii_digit() {
            n = (n * 10 + usize::from(at(*i) - b'0')).min(MAX_OUTPUT);
            *i += 1;
        }
        n
    };
    if at(i) == b'*' {
        i += 1;
        let n = args.int(m)? as i32;
        spec.left |= n < 0;
        spec.width = (n.unsigned_abs() as usize).min(MAX_OUTPUT);
    } else {
        spec.width = number(&mut i);
        if at(i) == b'$' {
            return Err(Outcome::Unsupported("positional arguments of printf".into()));
        }
    }
    if at(i) == b'.' {
        i += 1;
        if at(i) == b'*' {
            i += 1;
            let n = args.int(m)? as i32;
            spec.precision = usize::try_from(n).ok().map(|n| n.min(MAX_OUTPUT));
        } else {
            spec.precision = Some(number(&mut i));
        }
    }
    let mut length = Length::Int;
    loop {
        length = match (at(i), length) {
            (b'h', Length::Short) => Length::Char,
            (b'h', _) => Length::Short,
            (b'l', Length::Long) => Length::LongLong,
            (b'l', _) => Length::Long,
            (b'q' | b'j', _) => Length::LongLong,
            (b'z' | b'Z' | b't', _) => Length::Size,
            (b'L', _) => Length::LongDouble,
            _ => break,
        };
        i += 1;
    }
    Ok((spec, length, at(i), (i + 1).min(f.len())))
}

fn conversion_of(
    m: &mut Machine<'_>,
    spec: &Spec,
    length: Length,
    conversion: u8,
    args: &mut Args,
    out: &mut Vec<u8>,
) -> Step<()> {
    let start = out.len();
    match conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let t = int_type(m, length, true);
            let value = t.decode(args.take(m, Scalar::Int(t))?.1);
            integer(spec, sign(spec, value < 0), "", &value.unsigned_abs().to_string(), out);
        }
        b'u' | b'x' | b'X' | b'o' => {
            let t = int_type(m, length, false);
            let value = args.take(m, Scalar::Int(t))?.1;
            let (prefix, digits) = match conversion {
                b'u' => ("", value.to_string()),
                b'x' => (if spec.alternate && value != 0 { "0x" } else { "" }, format!("{value:x}")),
                b'X' => (if spec.alternate && value != 0 { "0X" } else { "" }, format!("{value:X}")),
                _ => {
                    let digits = format!("{value:o}");
                    let zero = spec.alternate && value != 0 && spec.precision.unwrap_or(0) <= digits.len();
                    ("", if zero { format!("0{digits}") } else { digits })
                }
            };
            // An alternate octal zero keeps its digit even with no precision.
            let keep = conversion == b'o' && spec.alternate && value == 0;
            let precision = if keep { Some(spec.precision.unwrap_or(1).max(1)) } else { spec.precision };
            let spec = Spec {
                precision,
                ..Spec { left: spec.left, zero: spec.zero, width: spec.width, ..Spec::default() }
            };
            integer(&spec, "", prefix, &digits, out);
        }
        b'c' | b'C' => {
            let value = args.int(m)?;
            let mut text = Vec::new();
            if length == Length::Long || conversion == b'C' {
                push_wide(value as u32, &mut text);
            } else {
                text.push(value as u8);
            }
            padded(spec, &text, out);
        }
        b's' | b'S' => {
            let p = args.pointer(m)?;
            let text = if p.addr == 0 {
                // What glibc prints.
                let null: &[u8] = if spec.precision.is_some_and(|n| n < 6) { b"" } else { b"(null)" };
                null.to_vec()
            } else if length == Length::Long || conversion == b'S' {
                wide_string(m, p, spec.precision)?
            } else {
                m.c_string_up_to(p, spec.precision)?
            };
            padded(spec, &text, out);
        }
        b'p' => {
            let p = args.pointer(m)?;
            match p.addr {
                0 => padded(spec, b"(nil)", out),
                addr => {
                    let sign = sign(spec, false);
                    padded(spec, format!("{sign}{addr:#x}").as_bytes(), out);
                }
            }
        }
        b'n' => {
            let t = int_type(m, length, true);
            let p = args.pointer(m)?;
            let size = usize::from(t.bits) / 8;
            let (id, at) = m.writable(p, size as u64)?;
            m.mem.write(id, at, size, start as u128);
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let ty = if length == Length::LongDouble { FloatTy::F80 } else { FloatTy::F64 };
            let bits = args.take(m, Scalar::Float(ty))?.1;
            floating(spec, ty, bits, conversion, out);
        }
        b'm' => padded(spec, b"Success", out),
        0 => return Err(Outcome::Unsupported("a format that ends within a conversion".into())),
        other => {
            return Err(Outcome::Unsupported(format!("the conversion %{} of printf", other as char)));
        }
    }
    Ok(())
}

fn int_type(m: &Machine<'_>, length: Length, signed: bool) -> IntTy {
    let bits = match length {
        Length::Char => 8,
        Length::Short => 16,
        Length::Int => 32,
        Length::Long | Length::Size => m.p.data_model.ptr_bits(),
        Length::LongLong | Length::LongDouble => 64,
    };
    IntTy { bits, signed }
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

fn padded(spec: &Spec, text: &[u8], out: &mut Vec<u8>) {
    let fill = spec.width.saturating_sub(text.len());
    if !spec.left {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if spec.left {
        out.resize(out.len() + fill, b' ');
    }
}

/// Sign, prefix, zeros and digits of an integer.
fn integer(spec: &Spec, sign: &str, prefix: &str, digits: &str, out: &mut Vec<u8>) {
    let digits = if spec.precision == Some(0) && digits == "0" { "" } else { digits };
    let mut zeros = spec.precision.unwrap_or(1).saturating_sub(digits.len());
    if spec.zero && !spec.left && spec.precision.is_none() {
        zeros = zeros.max(spec.width.saturating_sub(sign.len() + prefix.len() + digits.len()));
    }
    let mut text = format!("{sign}{prefix}").into_bytes();
    text.resize(text.len() + zeros, b'0');
    text.extend_from_slice(digits.as_bytes());
    padded(spec, &text, out);
}

fn floating(spec: &Spec, ty: FloatTy, bits: u128, conversion: u8, out: &mut Vec<u8>) {
    let wide = match ty {
        FloatTy::F80 => bits,
        _ => f80::from_f64(f64::from_bits(bits as u64)),
    };
    let upper = conversion.is_ascii_uppercase();
    let negative = wide >> 79 & 1 == 1;
    let sign = sign(spec, negative);
    let (prefix, body) = match f80::parts(wide) {
        Parts::Nan | Parts::Infinite { .. } => {
            let word = if f80::parts(wide) == Parts::Nan { "nan" } else { "inf" };
            let word = if upper { word.to_uppercase() } else { word.to_owned() };
            return padded(spec, format!("{sign}{word}").as_bytes(), out);
        }
        Parts::Finite { mant, exp, .. } => match conversion.to_ascii_lowercase() {
            b'f' => ("", Decimal::new(mant, exp).fixed(spec.precision.unwrap_or(6), spec.alternate)),
            b'e' => {
                let (mantissa, e) =
                    Decimal::new(mant, exp).scientific(spec.precision.unwrap_or(6), spec.alternate);
                ("", format!("{mantissa}{}", exponent_text(e)))
            }
            b'g' => ("", general(spec, mant, exp)),
            _ => ("0x", hexadecimal(spec, ty, bits)),
        },
    };
    let body = if upper { format!("{prefix}{body}").to_uppercase() } else { format!("{prefix}{body}") };
    let (prefix, digits) = body.split_at(prefix.len());
    let fill = spec.width.saturating_sub(sign.len() + body.len());
    let mut text = format!("{sign}{prefix}").into_bytes();
    if spec.zero && !spec.left {
        text.resize(text.len() + fill, b'0');
    }
    text.extend_from_slice(digits.as_bytes());
    padded(spec, &text, out);
}

fn exponent_text(e: i32) -> String {
    format!("e{}{:02}", if e < 0 { '-' } else { '+' }, e.unsigned_abs())
}

/// `%g`.
fn general(spec: &Spec, mant: u64, exp: i32) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let decimal = Decimal::new(mant, exp);
    let (mantissa, e) = decimal.clone().scientific(precision - 1, spec.alternate);
    let strip = |text: String| match spec.alternate || !text.contains('.') {
        true => text,
        false => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    if e < -4 || e >= precision as i32 {
        format!("{}{}", strip(mantissa), exponent_text(e))
    } else {
        strip(decimal.fixed((precision as i32 - 1 - e) as usize, spec.alternate))
    }
}

/// `%a` without sign and `0x`, in glibc's normalisation: a leading 1 for a double (0 if it is
/// subnormal), four leading bits for a long double.
fn hexadecimal(spec: &Spec, ty: FloatTy, bits: u128) -> String {
    let (lead, mut fraction, digits, mut exponent) = if ty == FloatTy::F80 {
        let mant = bits as u64;
        let exp = (bits >> 64) as i32 & 0x7fff;
        let e = if mant == 0 { 0 } else { exp.max(1) - 16383 - 3 };
        ((mant >> 60), mant << 4, 15, e)
    } else {
        let exp = (bits >> 52) as i32 & 0x7ff;
        let frac = (bits as u64) << 12;
        let e = match (exp, frac) {
            (0, 0) => 0,
            (0, _) => -1022,
            _ => exp - 1023,
        };
        (u64::from(exp != 0), frac, 13, e)
    };
    let mut lead = lead;
    let count = match spec.precision {
        Some(n) if n < digits => {
            let keep = 64 - 4 * n as u32;
            let (kept, cut) =
                if n == 0 { (0, fraction) } else { (fraction >> keep, fraction << (64 - keep)) };
            let half = 1u64 << 63;
            let odd = if n == 0 { lead & 1 == 1 } else { kept & 1 == 1 };
            let up = cut > half || cut == half && odd;
            let (kept, over) = if n == 0 {
                (0, up)
            } else {
                let sum = kept + u64::from(up);
                (sum & (u64::MAX >> keep), sum >> (64 - keep) != 0)
            };
            lead += u64::from(over);
            if lead == 16 {
                lead = 8;
                exponent += 1;
            }
            fraction = if n == 0 { 0 } else { kept << keep };
            n
        }
        Some(n) => n,
        None => (0..=digits)
            .find(|n| *n == 16 || fraction << (4 * n).min(63) == 0 || *n == digits)
            .unwrap_or(digits),
    };
    let mut out = format!("{lead:x}");
    if count > 0 || spec.alternate {
        out.push('.');
    }
    for i in 0..count {
        let digit = if i < 16 { fraction >> (60 - 4 * i) & 15 } else { 0 };
        out.push(char::from_digit(digit as u32, 16).unwrap_or('0'));
    }
    format!("{out}p{}{}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
}

fn push_wide(c: u32, out: &mut Vec<u8>) {
    let c = char::from_u32(c).unwrap_or('?');
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn wide_string(m: &Machine<'_>, p: Pointer, limit: Option<usize>) -> Step<Vec<u8>> {
    let mut out = Vec::new();
    let mut at = p;
    loop {
        let mut one = Vec::new();
        if limit.is_some_and(|n| out.len() >= n) {
            return Ok(out);
        }
        let (id, offset) = m.mem.resolve(at, 4)?;
        match m.mem.read(id, offset, 4) as u32 {
            0 => return Ok(out),
            c => push_wide(c, &mut one),
        }
        // A character is printed as a whole or not at all.
        if limit.is_some_and(|n| out.len() + one.len() > n) {
            return Ok(out);
        }
        out.extend(one);
        at.addr = at.addr.wrapping_add(4) & m.mem.mask;
    }
}

impl Machine<'_> {
    /// The bytes of a string, at most `limit` of them: further ones are not looked at.
    fn c_string_up_to(&self, p: Pointer, limit: Option<usize>) -> Step<Vec<u8>> {
        self.c_string(p, limit)
    }
}

impl Args {
    /// The next argument as value bits of a type, and its register.
    fn take(&mut self, m: &Machine<'_>, want: Scalar) -> Step<(Slot, u128)> {
        match self {
            Args::Given(list) => {
                let Some((ty, slot)) = list.pop_front() else {
                    return Err(Outcome::Unsupported("printf with too few arguments".into()));
                };
                let bits = slot_bits(ty, slot);
                let bits = match (ty, want) {
                    // Narrower integers are promoted; the conversion cuts them back.
                    (Scalar::Int(have), Scalar::Int(t)) => t.truncate(have.decode(bits) as u128),
                    (Scalar::Ptr, Scalar::Int(t)) => t.truncate(bits),
                    (Scalar::Float(_), Scalar::Float(_)) => crate::scalar::convert(ty, want, bits, 64),
                    (_, Scalar::Float(_)) | (Scalar::Float(_), _) => {
                        return Err(Outcome::Unsupported("printf with an argument of another kind".into()));
                    }
                    _ => bits,
                };
                Ok((slot, bits))
            }
            Args::Area(p) => {
                let at = *p;
                let size = match want {
                    // Narrow integers are passed as int.
                    Scalar::Int(t) => usize::from(t.bits.max(32)) / 8,
                    Scalar::Float(t) => usize::from(t.bits()) / 8,
                    Scalar::Ptr => m.mem.ptr_bytes,
                };
                let (id, offset) = m.mem.resolve(at, size as u64)?;
                p.addr = p.addr.wrapping_add(SLOT) & m.mem.mask;
                let bits = m.mem.read(id, offset, size);
                let slot = match want {
                    Scalar::Ptr => m.mem.read_pointer(id, offset).into(),
                    _ => Slot::default(),
                };
                Ok(match want {
                    Scalar::Int(t) => (slot, t.truncate(bits)),
                    _ => (slot, bits),
                })
            }
        }
    }

    fn int(&mut self, m: &Machine<'_>) -> Step<i64> {
        Ok(IntTy::I32.decode(self.take(m, Scalar::Int(IntTy::I32))?.1) as i64)
    }

    fn pointer(&mut self, m: &Machine<'_>) -> Step<Pointer> {
        let from_int = matches!(self, Args::Given(list) if !matches!(list.front(), Some((Scalar::Ptr, _))));
        let (slot, bits) = self.take(m, Scalar::Ptr)?;
        Ok(if from_int { m.mem.pointer_to(bits as u64) } else { slot.into() })
    }
}
