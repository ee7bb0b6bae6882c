//! What functions without a body do. Lowering decides it once for each of them; whoever meets a
//! call, however the function was reached, reads it here and knows no names.

use crate::types::FloatTy;
use std::fmt;

/// What a call of a function without a body does.
///
/// Its result is arbitrary unless more is said; a result that cannot be computed is a value the
/// model leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Effect {
    /// Changes nothing: what a function that nobody has is taken for on demand.
    #[default]
    Pure,
    /// May write any bytes to all memory that its arguments reach and to everything whose address
    /// it, or another such function, was ever given; and may keep what it is given.
    Arbitrary,
    /// The result depends on what is not modelled. A proof must hold for all results, but no run
    /// gets past the call.
    Opaque,
    /// Does what the automaton cannot show: a non-local jump, another thread, another process.
    Unmodelled,
    /// C leaves open in which order what follows happens, and only one order is in the automaton. A run
    /// that goes on is one of the program, but no proof gets past it.
    Unordered,
    /// Stores arbitrary bytes: as many as the second argument says from where the first one
    /// points to. Keeps nothing.
    Scramble,
    /// The interpreter has code for it. It keeps no pointer and changes no memory but that which
    /// [`Native::writes`] tells.
    Native(Native),
}

/// What the interpreter has code for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Native {
    /// A function of floating-point numbers that computes in this format.
    Math(Math, FloatTy),
    /// The `printf` family.
    Printf(Printf),
    /// `puts` and `fputs`.
    PutString {
        /// Whether a newline follows.
        newline: bool,
        /// Whether the second argument is the stream.
        stream: bool,
    },
    /// `putchar` and `fputc`.
    PutChar {
        /// Whether the second argument is the stream.
        stream: bool,
    },
    /// `fwrite`.
    WriteItems,
    /// `write`.
    WriteBytes,
    /// The number at the start of a string.
    ParseFloat(FloatTy),
}

/// A function of the `printf` family.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Printf {
    /// Where the text goes.
    pub to: To,
    /// Whether the arguments come as a `va_list`.
    pub list: bool,
    /// Arguments between the destination and the format that do not matter.
    pub skip: u8,
}

impl Printf {
    /// Which argument is the format.
    pub fn format_position(self) -> usize {
        let fixed = match self.to {
            To::Out | To::Nowhere => 0,
            To::Stream | To::Descriptor | To::String => 1,
            To::Bounded => 2,
        };
        fixed + usize::from(self.skip)
    }
}

/// Where formatted text goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum To {
    /// Standard output.
    Out,
    /// A stream, the first argument.
    Stream,
    /// A file descriptor, the first argument.
    Descriptor,
    /// A string, the first argument.
    String,
    /// A string of limited size, the first two arguments.
    Bounded,
    /// Nowhere: only the length is wanted.
    Nowhere,
}

impl Native {
    /// Whether it may store through pointers among its arguments, or among those of its `va_list`.
    pub fn writes(self) -> bool {
        matches!(self, Native::Printf(_))
    }
}

impl Effect {
    /// Whether it surely leaves memory alone and forgets what it was given.
    pub fn is_harmless(self) -> bool {
        match self {
            Effect::Pure | Effect::Opaque | Effect::Unordered => true,
            Effect::Native(native) => !native.writes(),
            Effect::Arbitrary | Effect::Unmodelled | Effect::Scramble => false,
        }
    }

    /// Whether a proof must show that it is never called.
    pub fn stops_proofs(self) -> bool {
        matches!(self, Effect::Unmodelled | Effect::Unordered)
    }

    /// Whether it may keep pointers that it is given, or hand them back.
    pub fn keeps(self) -> bool {
        matches!(self, Effect::Arbitrary | Effect::Unmodelled | Effect::Pure)
    }
}

macro_rules! math {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal),* $(,)?) => {
        /// Functions of floating-point numbers, by their C names.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[allow(missing_docs)]
        pub enum Math { $($(#[doc = $doc])* $variant),* }

        impl Math {
            /// All of them.
            pub const ALL: &'static [Math] = &[$(Math::$variant),*];

            /// The name, without the suffix of a format.
            pub fn name(self) -> &'static str {
                match self { $(Math::$variant => $name),* }
            }
        }
    };
}

math! {
    Sin = "sin", Cos = "cos", Tan = "tan", Asin = "asin", Acos = "acos", Atan = "atan", Sinh = "sinh",
    Cosh = "cosh", Tanh = "tanh", Asinh = "asinh", Acosh = "acosh", Atanh = "atanh", Exp = "exp",
    Exp2 = "exp2", Expm1 = "expm1", Log = "log", Log2 = "log2", Log10 = "log10", Log1p = "log1p",
    Cbrt = "cbrt", Pow = "pow", Atan2 = "atan2", Hypot = "hypot", Fmod = "fmod", Remainder = "remainder",
    Fmin = "fmin", Fmax = "fmax", Fdim = "fdim", Sqrt = "sqrt", Fma = "fma", Floor = "floor", Ceil = "ceil",
    Trunc = "trunc", Round = "round",
    /// To nearest, ties to even.
    Rint = "rint",
    /// To the result's integer type, ties away from zero.
    Lround = "lround",
    /// To the result's integer type, ties to even.
    Lrint = "lrint",
    Ldexp = "ldexp", Fabs = "fabs", CopySign = "copysign", SignBit = "signbit", Ilogb = "ilogb",
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Effect::Pure => f.write_str("pure"),
            Effect::Arbitrary => f.write_str("arbitrary"),
            Effect::Opaque => f.write_str("opaque"),
            Effect::Unmodelled => f.write_str("unmodelled"),
            Effect::Unordered => f.write_str("unordered"),
            Effect::Scramble => f.write_str("scramble"),
            Effect::Native(native) => native.fmt(f),
        }
    }
}

impl fmt::Display for Native {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Native::Math(math, ty) => write!(f, "{} {}", math.name(), float_name(ty)),
            Native::Printf(Printf { to, list, skip }) => {
                let to = to.name();
                write!(f, "print {to}{}{}", if list { " list" } else { "" }, " skip".repeat(skip.into()))
            }
            Native::PutString { newline, stream } => {
                let (line, stream) =
                    (if newline { " line" } else { "" }, if stream { " stream" } else { "" });
                write!(f, "put_string{line}{stream}")
            }
            Native::PutChar { stream } => write!(f, "put_char{}", if stream { " stream" } else { "" }),
            Native::WriteItems => f.write_str("write_items"),
            Native::WriteBytes => f.write_str("write_bytes"),
            Native::ParseFloat(ty) => write!(f, "parse {}", float_name(ty)),
        }
    }
}

fn float_name(ty: FloatTy) -> &'static str {
    match ty {
        FloatTy::F32 => "f32",
        FloatTy::F64 => "f64",
        FloatTy::F80 => "f80",
    }
}

impl To {
    const ALL: [To; 6] = [To::Out, To::Stream, To::Descriptor, To::String, To::Bounded, To::Nowhere];

    fn name(self) -> &'static str {
        match self {
            To::Out => "out",
            To::Stream => "stream",
            To::Descriptor => "descriptor",
            To::String => "string",
            To::Bounded => "bounded",
            To::Nowhere => "nowhere",
        }
    }
}

impl Effect {
    /// The effect with this text, the words of its [`Display`](fmt::Display) form.
    pub fn parse(words: &[&str]) -> Option<Effect> {
        let float = |name: &str| {
            [FloatTy::F32, FloatTy::F64, FloatTy::F80].into_iter().find(|t| float_name(*t) == name)
        };
        Some(match *words {
            ["pure"] => Effect::Pure,
            ["arbitrary"] => Effect::Arbitrary,
            ["opaque"] => Effect::Opaque,
            ["unmodelled"] => Effect::Unmodelled,
            ["unordered"] => Effect::Unordered,
            ["scramble"] => Effect::Scramble,
            ["print", to, ref rest @ ..] => {
                let to = To::ALL.into_iter().find(|t| t.name() == to)?;
                let (list, rest) = match rest {
                    ["list", rest @ ..] => (true, rest),
                    rest => (false, rest),
                };
                let skip = u8::try_from(rest.len()).ok().filter(|_| rest.iter().all(|w| *w == "skip"))?;
                Effect::Native(Native::Printf(Printf { to, list, skip }))
            }
            ["put_string"] => Effect::Native(Native::PutString { newline: false, stream: false }),
            ["put_string", "line"] => Effect::Native(Native::PutString { newline: true, stream: false }),
            ["put_string", "stream"] => Effect::Native(Native::PutString { newline: false, stream: true }),
            ["put_string", "line", "stream"] => {
                Effect::Native(Native::PutString { newline: true, stream: true })
            }
            ["put_char"] => Effect::Native(Native::PutChar { stream: false }),
            ["put_char", "stream"] => Effect::Native(Native::PutChar { stream: true }),
            ["write_items"] => Effect::Native(Native::WriteItems),
            ["write_bytes"] => Effect::Native(Native::WriteBytes),
            ["parse", ty] => Effect::Native(Native::ParseFloat(float(ty)?)),
            [name, ty] => {
                let math = Math::ALL.iter().find(|m| m.name() == name)?;
                Effect::Native(Native::Math(*math, float(ty)?))
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let mut all = vec![
            Effect::Pure,
            Effect::Arbitrary,
            Effect::Opaque,
            Effect::Unmodelled,
            Effect::Unordered,
            Effect::Scramble,
        ];
        let printf = To::ALL.map(|to| Native::Printf(Printf { to, list: to == To::Out, skip: 2 }));
        all.extend(printf.map(Effect::Native));
        for both in [false, true] {
            all.push(Effect::Native(Native::PutString { newline: both, stream: !both }));
            all.push(Effect::Native(Native::PutChar { stream: both }));
        }
        for ty in [FloatTy::F32, FloatTy::F64, FloatTy::F80] {
            all.push(Effect::Native(Native::ParseFloat(ty)));
            all.extend(Math::ALL.iter().map(|m| Effect::Native(Native::Math(*m, ty))));
        }
        for effect in all {
            let text = effect.to_string();
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(Effect::parse(&words), Some(effect), "{text}");
        }
    }
}
