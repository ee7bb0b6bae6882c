//! Tokens: kinds, keywords and how they are named in messages.

use palisade_base::Span;

/// One token; its text is the source text of its span.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Tok,
    /// For names and keywords the symbol; for character and string literals the length of the
    /// encoding prefix.
    pub data: u32,
    pub lo: u32,
    pub hi: u32,
}

impl Token {
    pub fn span(&self) -> Span {
        Span::new(self.lo, self.hi)
    }
}

/// Defines [`Tok`] with the spelling of each kind for messages.
macro_rules! tokens {
    ($($name:ident $text:literal,)*) => {
        /// The kind of a token.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub(crate) enum Tok { $($name,)* }

        impl Tok {
            /// How messages name the kind.
            pub fn text(self) -> &'static str {
                match self { $(Tok::$name => $text,)* }
            }
        }
    };
}

tokens! {
    Eof "end of file", Ident "identifier", Number "number", Char "character constant", Str "string literal",
    LParen "(", RParen ")", LBracket "[", RBracket "]", LBrace "{", RBrace "}",
    Semi ";", Comma ",", Colon ":", Question "?", Ellipsis "...", Dot ".", Arrow "->",
    Inc "++", Dec "--", Not "!", Tilde "~",
    Star "*", Slash "/", Percent "%", Plus "+", Minus "-", Shl "<<", Shr ">>",
    Lt "<", Gt ">", Le "<=", Ge ">=", EqEq "==", Ne "!=", Amp "&", Caret "^", Pipe "|",
    AmpAmp "&&", PipePipe "||",
    Assign "=", StarAssign "*=", SlashAssign "/=", PercentAssign "%=", PlusAssign "+=",
    MinusAssign "-=", ShlAssign "<<=", ShrAssign ">>=", AmpAssign "&=", CaretAssign "^=",
    PipeAssign "|=",
    // Statements.
    Break "break", Case "case", Continue "continue", Default "default", Do "do", Else "else",
    For "for", Goto "goto", If "if", Return "return", Switch "switch", While "while",
    LabelDecl "__label__", Asm "asm",
    // Storage classes, qualifiers and function specifiers.
    Auto "auto", Extern "extern", Register "register", Static "static", Typedef "typedef",
    ThreadLocal "_Thread_local", Constexpr "constexpr", Const "const", Volatile "volatile", Restrict "restrict",
    Atomic "_Atomic", Inline "inline", Noreturn "_Noreturn", Alignas "_Alignas",
    Attribute "__attribute__", Extension "__extension__",
    // Type specifiers.
    Void "void", Bool "_Bool", CharKw "char", Short "short", Int "int", Long "long",
    Signed "signed", Unsigned "unsigned", Float "float", Double "double", Complex "_Complex",
    Imaginary "_Imaginary", Int128 "__int128", Int128T "__int128_t", UInt128T "__uint128_t",
    Float16 "_Float16", BFloat16 "__bf16", Float32 "_Float32", Float64 "_Float64",
    Float128 "_Float128", Float32x "_Float32x", Float64x "_Float64x", Float80 "__float80",
    Decimal32 "_Decimal32", Decimal64 "_Decimal64", Decimal128 "_Decimal128",
    VaList "__builtin_va_list", AutoType "__auto_type", BitInt "_BitInt",
    Struct "struct", Union "union", Enum "enum", Typeof "typeof", TypeofUnqual "typeof_unqual",
    // Expressions.
    Sizeof "sizeof", Alignof "_Alignof", GnuAlignof "__alignof__", Generic "_Generic",
    Real "__real__", Imag "__imag__", True "true", False "false", Nullptr "nullptr",
    StaticAssert "_Static_assert",
    BuiltinVaArg "__builtin_va_arg", BuiltinOffsetof "__builtin_offsetof",
    BuiltinTypesCompatible "__builtin_types_compatible_p",
    BuiltinChooseExpr "__builtin_choose_expr", BuiltinHasAttribute "__builtin_has_attribute",
    BuiltinConvertVector "__builtin_convertvector",
}

/// Every spelling of every keyword; their order is the order of their symbols. Those of GNU C11
/// come first, then those that only C23 has.
pub(crate) const KEYWORDS: &[(&str, Tok)] = &[
    ("break", Tok::Break),
    ("case", Tok::Case),
    ("continue", Tok::Continue),
    ("default", Tok::Default),
    ("do", Tok::Do),
    ("else", Tok::Else),
    ("for", Tok::For),
    ("goto", Tok::Goto),
    ("if", Tok::If),
    ("return", Tok::Return),
    ("switch", Tok::Switch),
    ("while", Tok::While),
    ("__label__", Tok::LabelDecl),
    ("asm", Tok::Asm),
    ("__asm", Tok::Asm),
    ("__asm__", Tok::Asm),
    ("auto", Tok::Auto),
    ("extern", Tok::Extern),
    ("register", Tok::Register),
    ("static", Tok::Static),
    ("typedef", Tok::Typedef),
    ("_Thread_local", Tok::ThreadLocal),
    ("__thread", Tok::ThreadLocal),
    ("const", Tok::Const),
    ("__const", Tok::Const),
    ("__const__", Tok::Const),
    ("volatile", Tok::Volatile),
    ("__volatile", Tok::Volatile),
    ("__volatile__", Tok::Volatile),
    ("restrict", Tok::Restrict),
    ("__restrict", Tok::Restrict),
    ("__restrict__", Tok::Restrict),
    ("_Atomic", Tok::Atomic),
    ("inline", Tok::Inline),
    ("__inline", Tok::Inline),
    ("__inline__", Tok::Inline),
    ("_Noreturn", Tok::Noreturn),
    ("_Alignas", Tok::Alignas),
    ("__attribute__", Tok::Attribute),
    ("__attribute", Tok::Attribute),
    ("__extension__", Tok::Extension),
    ("void", Tok::Void),
    ("_Bool", Tok::Bool),
    ("char", Tok::CharKw),
    ("short", Tok::Short),
    ("int", Tok::Int),
    ("long", Tok::Long),
    ("signed", Tok::Signed),
    ("__signed", Tok::Signed),
    ("__signed__", Tok::Signed),
    ("unsigned", Tok::Unsigned),
    ("float", Tok::Float),
    ("double", Tok::Double),
    ("_Complex", Tok::Complex),
    ("__complex", Tok::Complex),
    ("__complex__", Tok::Complex),
    ("_Imaginary", Tok::Imaginary),
    ("__int128", Tok::Int128),
    ("__int128_t", Tok::Int128T),
    ("__uint128_t", Tok::UInt128T),
    ("_Float16", Tok::Float16),
    ("__bf16", Tok::BFloat16),
    ("_Float32", Tok::Float32),
    ("_Float64", Tok::Float64),
    ("_Float128", Tok::Float128),
    ("__float128", Tok::Float128),
    ("_Float32x", Tok::Float32x),
    ("_Float64x", Tok::Float64x),
    ("__float80", Tok::Float80),
    ("_Decimal32", Tok::Decimal32),
    ("_Decimal64", Tok::Decimal64),
    ("_Decimal128", Tok::Decimal128),
    ("__builtin_va_list", Tok::VaList),
    ("__auto_type", Tok::AutoType),
    ("_BitInt", Tok::BitInt),
    ("struct", Tok::Struct),
    ("union", Tok::Union),
    ("enum", Tok::Enum),
    ("typeof", Tok::Typeof),
    ("__typeof", Tok::Typeof),
    ("__typeof__", Tok::Typeof),
    ("__typeof_unqual", Tok::TypeofUnqual),
    ("__typeof_unqual__", Tok::TypeofUnqual),
    ("sizeof", Tok::Sizeof),
    ("_Alignof", Tok::Alignof),
    ("__alignof", Tok::GnuAlignof),
    ("__alignof__", Tok::GnuAlignof),
    ("_Generic", Tok::Generic),
    ("__real", Tok::Real),
    ("__real__", Tok::Real),
    ("__imag", Tok::Imag),
    ("__imag__", Tok::Imag),
    ("_Static_assert", Tok::StaticAssert),
    ("__builtin_va_arg", Tok::BuiltinVaArg),
    ("__builtin_offsetof", Tok::BuiltinOffsetof),
    ("__builtin_types_compatible_p", Tok::BuiltinTypesCompatible),
    ("__builtin_choose_expr", Tok::BuiltinChooseExpr),
    ("__builtin_has_attribute", Tok::BuiltinHasAttribute),
    ("__builtin_convertvector", Tok::BuiltinConvertVector),
    ("alignas", Tok::Alignas),
    ("alignof", Tok::Alignof),
    ("bool", Tok::Bool),
    ("constexpr", Tok::Constexpr),
    ("false", Tok::False),
    ("nullptr", Tok::Nullptr),
    ("static_assert", Tok::StaticAssert),
    ("thread_local", Tok::ThreadLocal),
    ("true", Tok::True),
    ("typeof_unqual", Tok::TypeofUnqual),
];

/// How many of the keywords C23 alone has.
const C23_ONLY: usize = 10;

/// The keyword that a symbol is, if it is one.
#[inline]
pub(crate) fn keyword(symbol: u32, c23: bool) -> Option<Tok> {
    let (_, kind) = KEYWORDS.get(symbol as usize)?;
    (c23 || (symbol as usize) < KEYWORDS.len() - C23_ONLY).then_some(*kind)
}

impl Tok {
    /// Whether the token is a name that the program chose, or a keyword (as attribute names and
    /// `#pragma` words may be).
    pub fn is_word(self) -> bool {
        self == Tok::Ident || self as u8 >= Tok::Break as u8
    }

    /// Whether the token starts a declaration or a type name whatever the typedefs in scope.
    pub fn starts_specifiers(self) -> bool {
        (Tok::Auto as u8..=Tok::TypeofUnqual as u8).contains(&(self as u8)) && self != Tok::Extension
    }

    /// Keywords that name a whole type by themselves. Headers written for compilers that lack
    /// them declare them as typedefs, so they may also be declared names.
    pub fn is_soft_type(self) -> bool {
        use Tok::*;
        matches!(
            self,
            Int128T
                | UInt128T
                | Float16
                | BFloat16
                | Float32
                | Float64
                | Float128
                | Float32x
                | Float64x
                | Float80
                | Decimal32
                | Decimal64
                | Decimal128
                | VaList
        )
    }
}
