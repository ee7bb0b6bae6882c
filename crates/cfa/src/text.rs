//! The text form of an automaton: for people to read and write, and for tests of analyses that
//! want ten lines of automaton instead of C.
//!
//! ```text
//! model lp64;
//! struct node { i32 val @0; *struct node next @8; u32 flag:3 @4.0; } size 16 align 8;
//! global n: i32 = 10;
//! fn putchar(i32) -> i32;
//!
//! fn main() -> i32 {
//!   local i: i32;
//!   temp .t: i32;
//!   start -> head: i = 0;
//!   loop head -> body: assume i < n;
//!   head -> done: assume !(i < n);
//!   body -> L1: check overflow !overflow(i + 1);
//!   L1 -> head: i = i + 1;
//!   done -> exit: return i;
//! }
//! entry main;
//! ```
//!
//! * The first location that is mentioned is the entry. The exit is where returns lead; a function
//!   without a return has an exit that nothing leads to. `loop` before a location's name (wherever
//!   it is first mentioned) marks it as the place before a loop's condition. A name other than `L`
//!   and a number is kept as the location's label.
//! * Types: `i32`, `u1`, `f64`, `*T`, `[T; 10]`, `[T]`, `struct s`, `union u`, `void`,
//!   `fn(T, ...) -> T`.
//! * A global without `=` is zero, `= ?` makes it unknown, `= 5` sets a scalar, and
//!   `= { @0 5:i32, @8 &x + 4, @16 func f, @24 "bytes", @32 0x10:ptr }` an object.
//! * Constants take the type the context asks for, and `i32` where it asks for none; `5:u8` says
//!   it. `#7ff0000000000000:f64` is a floating-point number by its bits. `null` is the null pointer.
//! * `(i64)x` converts. Places: `x`, `a[i].f`, `*(p: T)` (what `p` points to, as a `T`), with
//!   `[i: 4]` for an index whose stride does not follow from the type and `as T` or
//!   `as T bits 3 5` (first bit, width) for a piece of another type. `&place` is an address,
//!   `func f` a function's.
//! * `ptradd(p, i, stride)`, `ptrdiff(p, q, stride)`, `overflow(a + b)`, `valid(p, n)`,
//!   `freeable(p)`, `object_size(p)`, `read_only(p)`, `heap_empty`, `heap_tracked`, `(c ? a : b)`.
//! * Operations: `skip`, `x = e`, `copy x = y`, `zero x`, `assume e`, `havoc x`, `input x`,
//!   `[x =] call f(e, {place})`, `[x =] call (e)(..)`, `return [e | {place}]`,
//!   `x = alloc heap|stack [zeroed] n`, `free p`, `memcopy d, s, n`, `memset d, b, n`, `enter x`,
//!   `leave x`, `check KIND e`, `exit e`, `abort`.
//! * A name that is no plain identifier, or a word of this language, is written in backquotes. Of
//!   several variables, functions or records with one name, the later ones carry `#2`, `#3`, ...
//! * `//` starts a comment.
//!
//! Positions are not part of the form: parsed programs carry spans into the text they came from.

mod lex;
mod parse;
mod print;

pub use parse::{ParseError, parse};
pub use print::print;

/// Words that cannot be plain names.
const WORDS: &[&str] = &[
    "abort",
    "alloc",
    "align",
    "as",
    "assume",
    "bits",
    "call",
    "check",
    "copy",
    "entry",
    "enter",
    "exit",
    "fn",
    "free",
    "func",
    "global",
    "havoc",
    "heap_empty",
    "heap_tracked",
    "input",
    "leave",
    "local",
    "loop",
    "memcopy",
    "memset",
    "model",
    "null",
    "param",
    "ptr",
    "record",
    "return",
    "size",
    "skip",
    "struct",
    "temp",
    "union",
    "void",
    "zero",
    "ptradd",
    "ptrdiff",
    "overflow",
    "valid",
    "freeable",
    "object_size",
    "read_only",
    "overlap",
    "readonly",
    "addressed",
    "at",
    "overlapping",
];

/// Whether a name can be written without backquotes.
fn is_plain(name: &str) -> bool {
    let rest = name.strip_prefix('.').unwrap_or(name);
    !rest.is_empty()
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$')
        && !rest.as_bytes()[0].is_ascii_digit()
        && (name.len() != rest.len() || (!WORDS.contains(&rest) && parse::scalar_word(rest).is_none()))
}

/// Whether a location's name is a made-up one: `L` and a number.
fn is_numbered(name: &str) -> bool {
    name.strip_prefix('L').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}
