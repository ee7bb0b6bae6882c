//! Formats of `printf` and `scanf`: what a call does with each of its arguments.
//!
//! Where the format is a string literal, the steps for each conversion are made here (C11 7.21.6.1,
//! 7.21.6.2); otherwise a library function walks through it.

use crate::Lowerer;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_cfa::*;
use std::iter::{Copied, Peekable};
use std::slice::Iter;
use std::sync::Arc;

/// A width or a precision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    None,
    Known(u64),
    /// The next argument.
    Argument,
}

/// A conversion of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Conversion {
    /// Whether nothing is stored (`%*d` of `scanf`).
    suppressed: bool,
    /// Whether a flag may change the length of a number.
    flags: bool,
    width: Number,
    precision: Number,
    /// Bytes of the length modifier's integer type, if one is given; 16 for `L`.
    size: Option<u64>,
    letter: u8,
    /// The characters of `%[`.
    set: Set,
    /// What stands between the conversion before and this one.
    before: Between,
}

/// What stands between two conversions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Between {
    Nothing,
    /// White space, last of all: `scanf` skips any there.
    Blanks,
    Others,
}

/// What is known of the character behind what `scanf` took (`$after_scan` in the library).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// Nothing.
    Any = 0,
    /// It does not continue a number.
    NoNumber = 1,
    /// Something, that is not told.
    Some = 2,
    /// It is not white space.
    NoBlank = 3,
}

/// Which characters `%[` of `scanf` takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    /// Those of a range.
    Range(u8, u8),
    /// All but one.
    AllBut(u8),
    /// Some that are not told.
    Some,
}

impl Set {
    fn of(others: bool, chars: &[u8]) -> Set {
        match (others, chars) {
            (false, &[c]) => Set::Range(c, c),
            (false, &[low, b'-', high]) if low <= high => Set::Range(low, high),
            (true, &[c]) => Set::AllBut(c),
            _ => Set::Some,
        }
    }
}

/// The number of characters of a format between conversions, the conversions, and what stands behind them; `None` if
/// it has something that is not understood.
fn parse(format: &[u8], model: DataModel, scanning: bool) -> Option<(u64, Vec<Conversion>, Between)> {
    let format = &format[..format.iter().position(|b| *b == 0).unwrap_or(format.len())];
    let word = u64::from(model.ptr_bits() / 8);
    let (mut plain, mut found) = (0, Vec::new());
    let mut before = Between::Nothing;
    let mut rest = format.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            plain += 1;
            before = if byte.is_ascii_whitespace() || byte == 11 { Between::Blanks } else { Between::Others };
            continue;
        }
        let mut c = Conversion {
            suppressed: false,
            flags: false,
            width: Number::None,
            precision: Number::None,
            size: None,
            letter: 0,
            set: Set::Some,
            before,
        };
        if scanning {
            c.suppressed = rest.next_if_eq(&b'*').is_some();
        } else {
            while rest.next_if(|b| b"-+ #0'".contains(b)).is_some() {
                c.flags = true;
            }
        }
        let number = |rest: &mut Peekable<Copied<Iter<'_, u8>>>| {
            if !scanning && rest.next_if_eq(&b'*').is_some() {
                return Number::Argument;
            }
            let mut value = Number::None;
            while let Some(digit) = rest.next_if(u8::is_ascii_digit) {
                let old = if let Number::Known(n) = value { n } else { 0 };
                value = Number::Known(old.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
            }
            value
        };
        c.width = number(&mut rest);
        if !scanning && rest.next_if_eq(&b'.').is_some() {
            c.precision = match number(&mut rest) {
                Number::None => Number::Known(0),
                some => some,
            };
        }
        c.size = match rest.peek() {
            Some(b'h') => {
                rest.next();
                Some(if rest.next_if_eq(&b'h').is_some() { 1 } else { 2 })
            }
            Some(b'l') => {
                rest.next();
                Some(if rest.next_if_eq(&b'l').is_some() { 8 } else { word })
            }
            Some(b'q' | b'j') => rest.next().map(|_| 8),
            Some(b'z' | b't') => rest.next().map(|_| word),
            Some(b'L') => rest.next().map(|_| 16),
            _ => None,
        };
        c.letter = rest.next()?;
        match c.letter {
            b'%' => {
                plain += 1;
                before = Between::Others;
                continue;
            }
            b'[' if scanning => {
                let others = rest.next_if_eq(&b'^').is_some();
                let mut chars: Vec<u8> = rest.next_if_eq(&b']').into_iter().collect();
                loop {
                    match rest.next()? {
                        b']' => break,
                        c => chars.push(c),
                    }
                }
                c.set = Set::of(others, &chars);
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'n' | b'p' => {}
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {}
            b'm' if !scanning => {}
            _ => return None,
        }
        found.push(c);
        before = Between::Nothing;
    }
    Some((plain, found, before))
}

impl Lowerer<'_> {
    /// The text of a string literal.
    fn literal(&self, e: TExprId) -> Option<Arc<[u8]>> {
        let e = self.same_machine_value(e);
        let TExprKind::Decay(place) = *self.kind(e) else { return None };
        let TExprKind::Object(obj) = *self.kind(place) else { return None };
        let object = &self.typed.objects[obj];
        if object.kind != ObjKind::String {
            return None;
        }
        match &object.image.as_ref()?.items[..] {
            [] => Some([].into()),
            [item] if item.offset == 0 => match &item.value {
                ConstValue::Bytes(bytes) => Some(bytes[..].into()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an argument is a string literal, which needs no check.
    pub(crate) fn is_literal(&self, e: TExprId) -> bool {
        self.literal(e).is_some()
    }

    /// Checks the arguments of a call of the `printf` family. For a call that writes a string: the
    /// length of the text.
    pub(crate) fn check_printf(
        &mut self,
        printf: Printf,
        texprs: &[TExprId],
        args: &[Arg],
        span: Span,
    ) -> Option<ExprId> {
        let at = printf.format_position();
        let Some(&Arg::Scalar(format)) = args.get(at) else { return None };
        let wants_length = matches!(printf.to, To::String | To::Bounded);
        let text = texprs.get(at).and_then(|&e| self.literal(e));
        let model = self.pool.program.data_model;
        let parsed = text.and_then(|text| parse(&text, model, false));
        let mut length = None;
        if let (Some((plain, conversions, _)), false) = (&parsed, printf.list) {
            length = self.expand_printf(*plain, conversions, &args[at + 1..], wants_length, span);
        } else if self.options.checks.contains(CheckKind::Deref) {
            self.walk_format(printf, format, args, at, span);
        }
        if !wants_length {
            return None;
        }
        let least = parsed.map_or(0, |(plain, ..)| plain);
        Some(match length {
            Some(length) => self.save(length, span),
            None => self.measure(printf, args, at, least, span),
        })
    }

    /// Lets a library function check the arguments that a format asks for.
    fn walk_format(&mut self, printf: Printf, format: ExprId, args: &[Arg], at: usize, span: Span) {
        let (area, var) = if printf.list {
            let Some(&Arg::Scalar(list)) = args.get(at + 1) else { return };
            match self.pool.program.data_model {
                DataModel::Ilp32 => (list, None),
                DataModel::Lp64 => {
                    // `overflow_arg_area`, as in `list_pointer`.
                    let one = self.pool.int(IntTy::I32, 1);
                    let field = self.pool.ptr_add(list, one, 8);
                    let ty = self.scalar_type(Scalar::Ptr);
                    let place = self.pointed_to(field, ty);
                    (self.pool.load(place), None)
                }
            }
        } else {
            let mut more = args.to_vec();
            let var = self.pass_varargs(&mut more, at + 1, span);
            let Some(&Arg::Scalar(area)) = more.last() else { return };
            (area, var)
        };
        self.call_helper("check_format", &[format, area], span);
        if let Some(var) = var {
            self.emit(Op::Leave { var }, span);
        }
    }

    /// The length of a text that the interpreter computes and nobody else knows.
    fn measure(&mut self, printf: Printf, args: &[Arg], at: usize, least: u64, span: Span) -> ExprId {
        let effect = Effect::Native(Native::Printf(Printf { to: To::Nowhere, list: printf.list, skip: 0 }));
        let func = self.function_with(effect, if printf.list { 2 } else { 1 }, !printf.list);
        let var = self.scalar_temp(Scalar::Int(IntTy::I32));
        let dst = self.pool.var(var);
        let call = Op::Call { dst: Some(dst), callee: Callee::Direct(func), args: args[at..].into() };
        self.emit(call, span);
        let length = self.pool.load(dst);
        let least = self.pool.int(IntTy::I32, i128::from(least));
        let enough = self.pool.cmp(CmpOp::Le, least, length);
        self.emit(Op::Assume { cond: enough }, span);
        let size = self.size_t();
        self.pool.convert_int(length, size)
    }

    /// The steps of a literal format; the length of the text if each conversion tells its own.
    fn expand_printf(
        &mut self,
        plain: u64,
        conversions: &[Conversion],
        args: &[Arg],
        wants_length: bool,
        span: Span,
    ) -> Option<ExprId> {
        let mut given = args.iter().copied();
        let mut total = Some(self.pool.size(plain));
        for c in conversions {
            let mut number = |this: &mut Self, n: Number| match n {
                Number::None => Some(None),
                Number::Known(n) => Some(Some(this.pool.size(n))),
                Number::Argument => match given.next() {
                    Some(Arg::Scalar(e)) if matches!(this.pool.ty(e), Scalar::Int(_)) => {
                        // A negative one counts as none (precision) or as a flag (width).
                        let size = this.size_t();
                        let wide = this.pool.convert_int(e, size);
                        Some(Some(wide))
                    }
                    _ => None,
                },
            };
            let dynamic = c.width == Number::Argument || c.precision == Number::Argument;
            let (Some(width), Some(precision)) = (number(self, c.width), number(self, c.precision)) else {
                self.call_effect(Effect::Unmodelled, span);
                return None;
            };
            if c.letter == b'm' {
                total = None;
                continue;
            }
            // A missing argument, or a number for a pointer, is undefined; nothing is known then.
            let value = match given.next() {
                Some(Arg::Scalar(value)) => value,
                _ => {
                    self.call_effect(Effect::Unmodelled, span);
                    return None;
                }
            };
            if matches!(c.letter, b's' | b'n') && self.pool.ty(value) != Scalar::Ptr {
                self.call_effect(Effect::Unmodelled, span);
            }
            let length = match c.letter {
                b's' if c.size.is_none() && self.pool.ty(value) == Scalar::Ptr => {
                    let needed = wants_length && !dynamic;
                    self.text_length(value, precision, c.precision == Number::Argument, needed, span)
                }
                b's' => {
                    if self.pool.ty(value) == Scalar::Ptr && self.options.checks.contains(CheckKind::Deref) {
                        self.call_helper("check_wide_string", &[value], span);
                    }
                    None
                }
                b'n' => {
                    if self.pool.ty(value) == Scalar::Ptr {
                        let size = self.pool.size(c.size.unwrap_or(4));
                        self.check_bytes(value, size, true, span);
                    }
                    Some(self.pool.size(0))
                }
                b'c' if c.size.is_none() => Some(self.pool.size(1)),
                b'd' | b'i' | b'u' | b'x' | b'X' | b'o'
                    if wants_length && !c.flags && c.precision == Number::None && !dynamic =>
                {
                    self.number_length(c, value, span)
                }
                _ => None,
            };
            total = match (total, length, width) {
                (Some(total), Some(length), None) => Some(self.pool.binary(BinOp::Add, total, length)),
                (Some(total), Some(length), Some(width)) if !dynamic && c.letter != b'n' => {
                    let more = self.pool.cmp(CmpOp::Lt, length, width);
                    let length = self.pool.ite(more, width, length);
                    Some(self.pool.binary(BinOp::Add, total, length))
                }
                _ => None,
            };
            if let (true, Some(sum)) = (wants_length, total) {
                total = Some(self.save(sum, span));
            }
        }
        total
    }

    /// Checks the argument of `%s`; its length, if that is wanted.
    fn text_length(
        &mut self,
        text: ExprId,
        precision: Option<ExprId>,
        dynamic: bool,
        needed: bool,
        span: Span,
    ) -> Option<ExprId> {
        if needed {
            return match precision {
                None => self.helper_value("text_length", &[text], span),
                Some(max) => self.helper_value("text_length_within", &[text, max], span),
            };
        }
        if self.options.checks.contains(CheckKind::Deref) && !self.points_to_literal(text) {
            match precision {
                // A precision from an argument that is negative is none: as a size it is huge.
                Some(max) if dynamic || self.pool.constant(max).is_some() => {
                    self.call_helper("check_string_within", &[text, max], span);
                }
                _ => self.call_helper("check_string", &[text], span),
            }
        }
        None
    }

    fn points_to_literal(&self, text: ExprId) -> bool {
        let ExprKind::Addr(place) = self.pool.program.exprs[text].kind else { return false };
        let place = &self.pool.program.places[place];
        match place.base {
            Base::Var(var) => place.path.is_empty() && self.literal_vars.contains(&var),
            Base::Deref(_) => false,
        }
    }

    /// The number of digits and signs of an integer.
    fn number_length(&mut self, c: &Conversion, value: ExprId, span: Span) -> Option<ExprId> {
        let Scalar::Int(given) = self.pool.ty(value) else { return None };
        let bits = match c.size {
            Some(16) => return None,
            Some(size) => 8 * size as u16,
            None => 32,
        };
        if bits > 64 || given.bits < bits.max(32) {
            return None;
        }
        let signed = matches!(c.letter, b'd' | b'i');
        let value = self.pool.convert_int(value, IntTy { bits, signed });
        let wide = IntTy { bits: 64, signed };
        let value = self.pool.convert_int(value, wide);
        let helper = match c.letter {
            b'd' | b'i' => "signed_length",
            b'u' => "unsigned_length",
            b'o' => "octal_length",
            _ => "hex_length",
        };
        self.helper_value(helper, &[value], span)
    }

    /// A call of the `scanf` family by its format. `source` is the string that is read, `input` whether
    /// what is read is an input of the program. The number of stored values.
    pub(crate) fn expand_scanf(
        &mut self,
        format: TExprId,
        args: &[Arg],
        source: Option<ExprId>,
        input: bool,
        span: Span,
    ) -> Option<ExprId> {
        let model = self.pool.program.data_model;
        let (_, conversions, behind) = parse(&self.literal(format)?, model, true)?;
        let stored = conversions.iter().filter(|c| !c.suppressed && c.letter != b'n').count();
        if conversions.iter().any(|c| c.size.is_some() && matches!(c.letter, b's' | b'[' | b'c')) {
            return None;
        }
        if source.is_none() {
            self.call_helper("scan_begins", &[], span);
        }
        let int = Scalar::Int(IntTy::I32);
        let raw = self.scanned(int, source.is_some(), input, span);
        let (minus, most) = (self.pool.int(IntTy::I32, -1), self.pool.int(IntTy::I32, stored as i128));
        let low = self.pool.cmp(CmpOp::Lt, raw, minus);
        let high = self.pool.cmp(CmpOp::Lt, most, raw);
        let out = self.pool.or(low, high);
        let count = self.pool.ite(out, minus, raw);
        let count = self.save(count, span);
        let limit = match source {
            Some(text) => self.helper_value("text_length", &[text], span),
            None => None,
        };
        let limit = limit.map(|l| self.save(l, span));
        let mut given = args.iter();
        let mut done = 0;
        for c in &conversions {
            match c.before {
                Between::Blanks if source.is_none() => self.scan_goes_on(Next::NoBlank, span),
                Between::Others if source.is_none() => self.scan_goes_on(Next::Any, span),
                _ => {}
            }
            if c.suppressed {
                if source.is_none() {
                    self.scan_goes_on(Next::Some, span);
                }
                continue;
            }
            let Some(&Arg::Scalar(to)) = given.next() else { return None };
            let to = self.pool.convert(to, Scalar::Ptr);
            let index = self.pool.int(IntTy::I32, done);
            let mut happens = self.pool.cmp(CmpOp::Lt, index, count);
            if c.letter == b'n' {
                // Whether the input reached it is not told by what was converted before.
                let reached = self.scanned(Scalar::BOOL, true, false, span);
                happens = self.pool.or(happens, reached);
            }
            let (yes, no) = (self.at.graph.node(span), self.at.graph.node(span));
            self.split(happens, yes, no, span);
            self.at.graph.move_to(Some(yes));
            self.store_scanned(c, to, limit, input, span);
            if source.is_none() {
                let after = self.at.graph.node(span);
                self.at.graph.enter(after);
                self.at.graph.move_to(Some(no));
                if c.letter != b'n' {
                    self.scan_goes_on(Next::Some, span);
                }
                self.at.graph.enter(after);
            } else {
                self.at.graph.enter(no);
            }
            done += i128::from(c.letter != b'n');
        }
        match behind {
            Between::Blanks if source.is_none() => self.call_scan_helper("scan_ends", Next::NoBlank, span),
            Between::Others if source.is_none() => self.scan_goes_on(Next::Some, span),
            _ => {}
        }
        Some(count)
    }

    /// Tells the library what is known of the next character.
    fn scan_goes_on(&mut self, next: Next, span: Span) {
        self.call_scan_helper("scan_goes_on", next, span);
    }

    fn call_scan_helper(&mut self, helper: &str, next: Next, span: Span) {
        let next = self.pool.int(IntTy::I32, next as i128);
        self.call_helper(helper, &[next], span);
    }

    /// A value that is read: an input, an unknown, or what nobody computes.
    fn scanned(&mut self, ty: Scalar, opaque: bool, input: bool, span: Span) -> ExprId {
        if opaque {
            self.call_effect(Effect::Opaque, span);
        }
        self.havoc(ty, input, span)
    }

    fn store_scanned(&mut self, c: &Conversion, to: ExprId, limit: Option<ExprId>, input: bool, span: Span) {
        let width = match c.width {
            Number::Known(n) => Some(self.pool.size(n)),
            _ => None,
        };
        let ty = match (c.letter, c.size) {
            (b'[', _) if limit.is_none() => {
                let most = self.pool.int(self.size_t(), -1);
                let (low, high, others) = match c.set {
                    Set::Range(low, high) => (low, high, 0),
                    Set::AllBut(c) => (c, c, 1),
                    Set::Some => {
                        self.call_effect(Effect::Opaque, span);
                        (0, 255, 0)
                    }
                };
                let [low, high, others] = [low, high, others].map(|n| self.pool.int(IntTy::I32, n.into()));
                self.call_helper("scan_set", &[to, width.unwrap_or(most), low, high, others], span);
                return;
            }
            (b's' | b'[', _) => {
                let most = self.pool.int(self.size_t(), -1);
                let width = width.unwrap_or(most);
                match limit {
                    Some(limit) => self.call_helper("copy_text", &[to, width, limit], span),
                    None => self.call_helper("scan_string", &[to, width], span),
                }
                return;
            }
            (b'c', _) => {
                let n = width.unwrap_or_else(|| self.pool.size(1));
                self.check_bytes(to, n, true, span);
                self.call_helper("read_bytes", &[to, n], span);
                return;
            }
            (b'p', _) => Scalar::Ptr,
            (b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'n', size) => {
                let bits = 8 * size.unwrap_or(4) as u16;
                Scalar::Int(IntTy { bits: bits.min(64), signed: matches!(c.letter, b'd' | b'i' | b'n') })
            }
            (_, None) => Scalar::Float(FloatTy::F32),
            (_, Some(16)) => Scalar::Float(FloatTy::F80),
            (_, Some(_)) => Scalar::Float(FloatTy::F64),
        };
        // A width bounds the digits, and `%n` counts characters.
        let opaque = limit.is_some() || width.is_some() || c.letter == b'n';
        let value = self.scanned(ty, opaque, input, span);
        let ty = self.scalar_type(ty);
        let place = self.pointed_to(to, ty);
        self.check_write(place, span);
        self.assign(place, value, span);
        if limit.is_none() && c.letter != b'n' {
            self.scan_goes_on(if width.is_some() { Next::Some } else { Next::NoNumber }, span);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(format: &str, scanning: bool) -> Option<(u64, String)> {
        let (plain, found, _) = parse(format.as_bytes(), DataModel::Lp64, scanning)?;
        Some((plain, found.iter().map(|c| char::from(c.letter)).collect()))
    }

    #[test]
    fn formats_are_taken_apart() {
        assert_eq!(letters("a%5.2f %-*d%%%s\n", false), Some((4, "fds".into())));
        assert_eq!(letters("%hhd%lld%zu%Lf", false), Some((0, "dduf".into())));
        assert_eq!(letters("%*d %10[^]abc]x%c", true), Some((2, "d[c".into())));
        assert_eq!(letters("%1$d", false), None);
        assert_eq!(letters("%", false), None);
        let (_, found, _) = parse(b"%.*s|%08lx\0tail", DataModel::Ilp32, false).unwrap();
        assert_eq!(found[0].precision, Number::Argument);
        assert_eq!((found[1].size, found[1].width), (Some(4), Number::Known(8)));
    }
}
