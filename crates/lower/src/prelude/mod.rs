//! The C library functions that Palisade brings along, as C source.
//!
//! A file is a sequence of units, each opened by a line `//@ name name …` that lists the functions
//! it defines. In the source a function `f` is called `$f`, so that nothing here can collide with
//! what a program declares: when a program uses `f` without defining it, the unit of `f` is
//! compiled along and `f` becomes another name of `$f`, provided that both have the same machine
//! types. A unit is a translation unit of its own and declares what it uses of others.
//!
//! Names that start with `$` in the marker are for other units only. A unit may define objects, too
//! (`stdin`), for which the same holds as for functions.
//!
//! Besides `__builtin_` functions, units use these operations, which no program can name by
//! accident:
//!
//! * `$unknown_…()`: any value of its type, chosen by the model; `$input_…()`: an input of the
//!   program; `$opaque_…()`: a value that is not computed, so that no run gets past it;
//! * `$assume(c)`: goes on only if `c` holds;
//! * `$malloc(n)`: as `malloc`, but never fails;
//! * `$exhausted()`: whether an allocation fails now, if allocations may fail at all;
//! * `$readable(p, n)`, `$writable(p, n)`: `n` bytes may be read or written there; `$scramble(p, n)`: they
//!   become arbitrary;
//! * `$apart(p, q, n)`: `n` bytes from there on have none in common, unless `p` is `q`;
//! * `$check_freeable(p)`: `p` may be handed to `free`; `$check_free(c)`: `c` holds, or something is
//!   released or used after it was released;
//! * `$object_size(p)`: bytes of the object that `p` points into;
//! * `$set_errno()`: `errno` tells that something went wrong; `$maybe_errno()`: it may;
//! * `$unmodelled()`: what follows is not modelled;
//! * `$direct_f(…)`: a call of `f` as a program makes it.

use rustc_hash::FxHashSet;

/// The source files, by name.
const FILES: [(&str, &str); 14] = [
    ("string.c", include_str!("string.c")),
    ("stdlib.c", include_str!("stdlib.c")),
    ("ctype.c", include_str!("ctype.c")),
    ("math.c", include_str!("math.c")),
    ("stdio.c", include_str!("stdio.c")),
    ("posix.c", include_str!("posix.c")),
    ("report.c", include_str!("report.c")),
    ("search.c", include_str!("search.c")),
    ("time.c", include_str!("time.c")),
    ("pthread.c", include_str!("pthread.c")),
    ("wchar.c", include_str!("wchar.c")),
    ("signal.c", include_str!("signal.c")),
    ("complex.c", include_str!("complex.c")),
    ("softfloat.c", include_str!("softfloat.c")),
];

/// Declarations of the operations that units use.
const OPERATIONS: &str = "void $assume(int); void $check_freeable(const void *); void $check_free(int); \
    unsigned long $object_size(const void *); void $readable(const void *, unsigned long); \
    void $writable(const void *, unsigned long); void $apart(const void *, const void *, unsigned long); \
    void $scramble(void *, unsigned long); void $set_errno(void); void $maybe_errno(void); void $unmodelled(void); \
    int $unknown_int(void); unsigned $unknown_uint(void); long $unknown_long(void); \
    unsigned long $unknown_ulong(void); unsigned long $unknown_size(void); long $unknown_ssize(void); \
    long long $unknown_llong(void); double $unknown_double(void); float $unknown_float(void); \
    int $opaque_int(void); unsigned $opaque_uint(void); long $opaque_long(void); \
    unsigned long $opaque_ulong(void); unsigned long $opaque_size(void); double $opaque_double(void); \
    float $opaque_float(void); long double $opaque_ldouble(void); void *$opaque_ptr(void); \
    char *$opaque_char(void); int $input_int(void); \
    void *$malloc(unsigned long); int $exhausted(void);";

/// Helpers that made source calls.
const HELPERS: &str = "void $fill_some(void *, unsigned long); void $fill_string(char *, unsigned long); \
    char *$library_string(void); int $new_descriptor(void);";

/// What opens a unit.
const MARKER: &str = "//@ ";

/// A piece of library source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unit {
    /// The file it stands in.
    pub(crate) file: &'static str,
    /// The functions it defines, without `$`, separated by spaces.
    names: &'static str,
    text: &'static str,
}

impl Unit {
    /// What it defines, without `$` but for names that only other units may use.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }

    /// Tells units apart.
    pub(crate) fn source_start(self) -> *const u8 {
        self.text.as_ptr()
    }

    /// The source of the unit as a translation unit.
    pub(crate) fn source(self) -> String {
        with_declarations(&[OPERATIONS], self.text)
    }
}

/// The text behind the declarations that it needs: every unit would read all of them again.
fn with_declarations(declarations: &[&str], text: &str) -> String {
    let used: FxHashSet<&str> = marked(text).collect();
    let declarations = declarations.iter().flat_map(|d| d.split_inclusive(';'));
    let needed = declarations.filter(|d| marked(d).any(|name| used.contains(name)));
    needed.chain(["\n", text]).collect()
}

/// The names with `$`, without it.
fn marked(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c != '_' && !c.is_ascii_alphanumeric();
    text.split('$').skip(1).map(move |rest| rest.split(is_end).next().unwrap_or(rest))
}

/// All units, in order.
pub(crate) fn units() -> impl Iterator<Item = Unit> {
    FILES.into_iter().flat_map(|(file, text)| {
        // What stands before the first marker is the file's comment.
        text.split(MARKER).skip(1).map(move |unit| {
            let (names, text) = unit.split_once('\n').unwrap_or((unit, ""));
            Unit { file, names, text }
        })
    })
}

/// Source that was made of the table, as a translation unit.
pub(crate) fn made_source(text: &str) -> String {
    with_declarations(&[OPERATIONS, HELPERS], text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_defined_once_in_its_unit() {
        let mut seen = FxHashSet::default();
        for unit in units() {
            for name in unit.names() {
                assert!(seen.insert(name), "{name} is in two units");
                let name = name.trim_start_matches('$');
                let defined = |end: &str| unit.text.contains(&format!("${name}{end}"));
                assert!(["(", " =", ";"].into_iter().any(defined), "{name} is not defined in its unit");
            }
        }
        assert!(seen.len() > 150, "{} functions", seen.len());
    }
}
