//! The C library functions that Palisade brings along, as C source.
//!
//! A file is a sequence of units, each opened by a line `//@ name name …` that lists the functions
//! it defines. In the source a function `f` is called `$f`, so that nothing here can collide with
//! what a program declares: when a program uses `f` without defining it, the unit of `f` is
//! compiled along and `f` becomes another name of `$f`, provided that both have the same machine
//! types. A unit is a translation unit of its own and declares what it uses of others.
//!
//! Besides `__builtin_` functions, units use these operations, which no program can name by
//! accident:
//!
//! * `$unknown_…()`: any value of its type, chosen by the model and not an input;
//! * `$assume(c)`: goes on only if `c` holds;
//! * `$check_freeable(p)`: `p` may be handed to `free`;
//! * `$object_size(p)`: bytes of the object that `p` points into;
//! * `$unmodelled()`: what happens from here on is not followed.

/// The source files, by name.
const FILES: [(&str, &str); 5] = [
    ("string.c", include_str!("string.c")),
    ("stdlib.c", include_str!("stdlib.c")),
    ("ctype.c", include_str!("ctype.c")),
    ("math.c", include_str!("math.c")),
    ("signal.c", include_str!("signal.c")),
];

/// Declarations of the operations that units use.
const OPERATIONS: &str = "int $unknown_int(void); void $assume(int); void $check_freeable(const void *); \
                          unsigned long $object_size(const void *); void $unmodelled(void);\n";

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
    /// The functions it defines, without `$`.
    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }

    /// Tells units apart.
    pub(crate) fn source_start(self) -> *const u8 {
        self.text.as_ptr()
    }

    /// The source of the unit as a translation unit.
    pub(crate) fn source(self) -> String {
        [OPERATIONS, self.text].concat()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use rustc_hash::FxHashSet;

    #[test]
    fn every_function_is_defined_once_in_its_unit() {
        let mut seen = FxHashSet::default();
        for unit in units() {
            for name in unit.names() {
                assert!(seen.insert(name), "{name} is in two units");
                assert!(unit.text.contains(&format!("${name}(")), "{name} is not defined in its unit");
            }
        }
        assert!(seen.len() > 150, "{} functions", seen.len());
    }
}
