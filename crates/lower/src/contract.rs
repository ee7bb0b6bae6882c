//! The table of the C library: how each function is called and what it does (`functions.txt`).
//!
//! A line is `result name(parameter, …) = meaning ; remarks`. Parameters tell what the function
//! does with memory:
//!
//! * `int c`, `size n`, …: a number; `int:10 base` with a value that is a good example;
//! * `str s`, `wstr s`: a terminated string (of wide characters) is read; `fmt format`: a format;
//! * `in(N) p`, `out(N) p`, `inout(N) p`: `N` bytes are read, written, or both, where `N` is made of
//!   other parameters and may be `A:B` for 64-bit and 32-bit pointers; `outstr(N)`: a string of less
//!   than `N` characters is written; `outmost(N)`: up to `N` bytes;
//! * `file f`, `out f`: an open stream (to write to); `va list`: variable arguments; `ptr p`, `fn f`:
//!   pointers of which the table says no more;
//! * with `?` (`str? s`): or a null pointer.
//!
//! Meanings:
//!
//! * `C`: there is C source (`prelude/*.c`);
//! * `operation`: the automaton has operations for it (`library.rs`);
//! * `scan`: it becomes steps by its format (`formats.rs`);
//! * `native …`, `opaque`, `unmodelled`, `pure`: an [`Effect`] of the automaton;
//! * otherwise the alternatives for its result: a number, a range `0..n`, `any`, a parameter, `null`,
//!   `string` or `static(N)` (memory of the library), `descriptor` (a new one), with `!` if `errno`
//!   tells why. Of such a line C source is made: [`Contract::source`].
//!
//! Remarks: `errno` may change; `checked`: callers check strings and streams, though there is C source;
//! `stops`: a success never comes back; `determined`: the result follows from what is not modelled, so that no
//! run gets past it; `norun`, `notest`, `gnu` concern
//! tests only.

use palisade_cfa::{DataModel, Effect, FloatTy, Native};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::fmt::Write;

const TABLE: &str = include_str!("library/functions.txt");

/// Names of the library's other functions.
const OTHERS: &str = include_str!("library/others.txt");

/// What the names of variants for formats of floating-point numbers end in.
const FORMATS: [&str; 6] = ["f16", "f32", "f32x", "f64", "f64x", "f128"];

/// What a parameter is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role<'t> {
    /// A number, with an example.
    Number(&'t str),
    /// A terminated string, with an example.
    Text(&'t str),
    /// A terminated string of wide characters.
    WideText,
    /// A format.
    Format,
    /// Memory of this many bytes.
    Memory {
        /// Whether it is read.
        read: bool,
        /// Whether and how it is written.
        write: Store,
        /// How many bytes.
        size: &'t str,
    },
    /// An open stream.
    File,
    /// Some pointer.
    Pointer,
    /// A function.
    Function,
    /// Variable arguments.
    List,
}

/// How memory is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Store {
    /// It is not.
    No,
    /// All of it.
    All,
    /// A part at the start.
    Most,
    /// A terminated string.
    Text,
}

/// A parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Param<'t> {
    /// Its name.
    pub name: &'t str,
    /// Its C type.
    pub ty: &'static str,
    /// What it is for.
    pub role: Role<'t>,
    /// Whether it may be a null pointer.
    pub optional: bool,
}

/// What a function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning<'t> {
    /// There is C source.
    Source,
    /// The automaton has operations for it.
    Operation,
    /// Its format says.
    Scan,
    /// An effect of the automaton.
    Effect(Effect),
    /// Alternatives for the result.
    Alternatives(Vec<&'t str>),
}

/// A line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contract<'t> {
    /// The function.
    pub name: &'t str,
    /// The C type of its result.
    pub ret: &'static str,
    /// Its fixed parameters.
    pub params: Vec<Param<'t>>,
    /// Whether more arguments may follow.
    pub variadic: bool,
    /// What it does.
    pub meaning: Meaning<'t>,
    /// Whether it may change `errno`, besides what the alternatives say.
    pub errno: bool,
    remarks: &'t str,
}

/// C types of numbers and results.
const TYPES: [(&str, &str); 19] = [
    ("void", "void"),
    ("char", "char"),
    ("short", "short"),
    ("ushort", "unsigned short"),
    ("int", "int"),
    ("uint", "unsigned"),
    ("long", "long"),
    ("ulong", "unsigned long"),
    ("llong", "long long"),
    ("ullong", "unsigned long long"),
    ("size", "unsigned long"),
    ("ssize", "long"),
    ("float", "float"),
    ("double", "double"),
    ("ldouble", "long double"),
    ("ptr", "void *"),
    ("char*", "char *"),
    ("int*", "int *"),
    ("fn", "void *"),
];

fn c_type(word: &str) -> Option<&'static str> {
    TYPES.iter().find(|(name, _)| *name == word).map(|(_, c)| *c)
}

/// The functions of the C library, in the order of the table.
pub fn contracts() -> impl Iterator<Item = Contract<'static>> {
    lines().filter_map(Contract::parse)
}

fn lines() -> impl Iterator<Item = &'static str> {
    TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

impl<'t> Contract<'t> {
    fn parse(line: &'t str) -> Option<Contract<'t>> {
        let (head, tail) = line.split_once(" =")?;
        let (ret, rest) = head.split_once(' ')?;
        let (name, params) = rest.strip_suffix(')')?.split_once('(')?;
        let (meaning, remarks) = match tail.split_once(';') {
            Some((meaning, remarks)) => (meaning.trim(), remarks.trim()),
            None => (tail.trim(), ""),
        };
        let mut contract = Contract {
            name,
            ret: c_type(ret)?,
            params: Vec::new(),
            variadic: false,
            meaning: Meaning::parse(meaning)?,
            errno: false,
            remarks,
        };
        contract.errno = contract.has("errno");
        for param in params.split(", ").filter(|p| !p.is_empty()) {
            if param == "..." {
                contract.variadic = true;
            } else {
                contract.params.push(Param::parse(param)?);
            }
        }
        Some(contract)
    }

    /// Whether a remark stands in its line.
    pub fn has(&self, remark: &str) -> bool {
        self.remarks.split_ascii_whitespace().any(|r| r == remark)
    }

    /// Whether callers check some arguments before they call the function.
    pub(crate) fn has_caller_checks(&self) -> bool {
        let checked = |p: &Param<'_>| match p.role {
            Role::Text(_) | Role::WideText | Role::Format | Role::File => true,
            Role::Memory { .. } => matches!(self.meaning, Meaning::Effect(_)),
            _ => false,
        };
        let callers = !matches!(self.meaning, Meaning::Source) || self.has("checked");
        callers && self.params.iter().any(checked)
    }

    /// The library's own functions that callers of the function call.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = &'static str> {
        const FORMAT: &[&str] = &[
            "$check_format",
            "$check_string",
            "$check_string_within",
            "$check_wide_string",
            "$text_length",
            "$text_length_within",
            "$signed_length",
            "$copy_text",
            "$scan_string",
            "$scan_set",
            "$scan_begins",
            "$scan_goes_on",
            "$scan_ends",
            "$read_bytes",
            "$check_open",
        ];
        let checked = self.has_caller_checks();
        self.params
            .iter()
            .filter(move |_| checked)
            .flat_map(|p| match p.role {
                Role::Text(_) if p.optional => &["$check_optional_string"],
                Role::Text(_) => &["$check_string"],
                Role::WideText => &["$check_wide_string"],
                Role::Format => FORMAT,
                Role::File => &["$check_open"],
                _ => &[] as &[&str],
            })
            .copied()
    }

    /// The effect that its line says.
    pub(crate) fn effect(&self) -> Option<Effect> {
        match self.meaning {
            Meaning::Effect(effect) => Some(effect),
            _ => None,
        }
    }

    /// The declaration of a function with this contract under a name.
    pub fn declaration(&self, name: &str) -> String {
        let mut params: Vec<String> = self.params.iter().map(|p| format!("{} {}", p.ty, p.name)).collect();
        if self.variadic {
            params.push("...".into());
        }
        let params = if params.is_empty() { "void".into() } else { params.join(", ") };
        format!("{} {name}({params})", self.ret)
    }

    /// The body of a function that passes its arguments on to `name`.
    fn passing_on(&self, name: &str) -> String {
        let args: Vec<&str> = self.params.iter().map(|p| p.name).collect();
        let word = if self.ret == "void" { "" } else { "return " };
        format!("{word}{name}({});", args.join(", "))
    }

    /// C source of the function, if its line says all about it.
    pub(crate) fn source(&self, model: DataModel) -> Option<String> {
        let alternatives = match &self.meaning {
            Meaning::Alternatives(alternatives) => alternatives.as_slice(),
            Meaning::Effect(Effect::Opaque) if self.errno || self.params.iter().any(Param::is_memory) => {
                &["opaque"]
            }
            _ => return None,
        };
        let mut text = format!("{}\n{{\n", self.declaration(&format!("${}", self.name)));
        for p in &self.params {
            if let Role::Memory { read: true, size, .. } = p.role {
                let guard = if p.optional { format!("if ({}) ", p.name) } else { String::new() };
                let _ = writeln!(text, "    {guard}$readable({}, {});", p.name, bytes(size, model));
            }
        }
        if self.errno {
            text += "    if ($unknown_int()) $set_errno();\n";
        }
        if self.has("determined") {
            text += "    $opaque_int();\n";
        }
        for (i, alternative) in alternatives.iter().enumerate() {
            let last = i + 1 == alternatives.len();
            if !last {
                text += "    if ($unknown_int()) {\n";
            }
            self.alternative(&mut text, alternative, model);
            if !last {
                text += "    }\n";
            }
        }
        if alternatives.is_empty() {
            self.outputs(&mut text, model);
        }
        text += "}\n";
        Some(text)
    }

    /// One way the function may end.
    fn alternative(&self, text: &mut String, alternative: &str, model: DataModel) {
        let value = alternative.trim_end_matches('!');
        if value.len() == alternative.len() {
            self.outputs(text, model);
            if self.has("stops") {
                text.push_str("    __builtin_exit(0);\n");
            }
        } else {
            text.push_str("    $set_errno();\n");
        }
        let ty = self.ret;
        let word = TYPES.iter().find(|(_, c)| *c == ty).map_or("int", |(w, _)| *w);
        let result = match value {
            "any" => format!("return $unknown_{word}();"),
            "opaque" => format!("return $opaque_{}();", word.trim_end_matches('*')),
            "null" => "return 0;".into(),
            "string" => "return $library_string();".into(),
            "descriptor" => "return $new_descriptor();".into(),
            _ => match (
                value.split_once(".."),
                value.strip_prefix("static(").and_then(|v| v.strip_suffix(')')),
            ) {
                (Some((low, high)), _) => {
                    let high = if high == "9223372036854775807" {
                        format!("({ty})(~0ul >> 1)")
                    } else {
                        high.into()
                    };
                    format!(
                        "{{ {ty} r = $unknown_{word}(); if (r < ({ty}){low} || r > ({ty}){high}) r = {low}; return r; }}"
                    )
                }
                (None, Some(size)) => {
                    let n = bytes(size, model);
                    format!("{{ static long r[({n} + 7) / 8]; $scramble(r, {n}); return r; }}")
                }
                (None, None) => format!("return ({ty}){value};"),
            },
        };
        let _ = writeln!(text, "    {result}");
    }

    /// The memory that the function fills.
    fn outputs(&self, text: &mut String, model: DataModel) {
        for p in &self.params {
            let Role::Memory { write, size, .. } = p.role else { continue };
            let name = p.name;
            let n = bytes(size, model);
            let fill = match write {
                Store::No => continue,
                Store::All => format!("$writable({name}, {n}); $scramble({name}, {n});"),
                Store::Most => format!("$fill_some({name}, {n});"),
                Store::Text => format!("$fill_string({name}, {n});"),
            };
            let guard = if p.optional { format!("if ({name}) ") } else { String::new() };
            let _ = writeln!(text, "    {guard}{{ {fill} }}");
        }
    }

    /// C source of the function that a pointer to the function points to, if calls of it are more
    /// than calls of a body.
    pub(crate) fn pointer_source(&self) -> Option<String> {
        let name = self.name;
        let head = self.declaration(&format!("$pointer_{name}"));
        match self.meaning {
            Meaning::Scan | Meaning::Effect(Effect::Unmodelled | Effect::Pure) => None,
            _ if self.variadic => self.variadic_pointer(&head),
            _ if self.is_operation() || self.has_caller_checks() => {
                let direct = format!("$direct_{name}");
                Some(format!("{};\n{head} {{ {} }}\n", self.declaration(&direct), self.passing_on(&direct)))
            }
            _ => None,
        }
    }

    /// `printf` through a pointer is `vprintf` on its list.
    fn variadic_pointer(&self, head: &str) -> Option<String> {
        let Meaning::Effect(Effect::Native(_)) = self.meaning else { return None };
        let name = match self.name.strip_prefix("__") {
            Some(rest) => format!("$direct___v{rest}"),
            None => format!("$direct_v{}", self.name),
        };
        let (last, args) = (self.params.last()?.name, self.params.iter().map(|p| p.name).collect::<Vec<_>>());
        let params: Vec<String> = self.params.iter().map(|p| format!("{} {}", p.ty, p.name)).collect();
        let (ret, params, args) = (self.ret, params.join(", "), args.join(", "));
        Some(format!(
            "{ret} {name}({params}, __builtin_va_list);\n{head} {{ __builtin_va_list list; int r = 0; \
             __builtin_va_start(list, {last}); {} {name}({args}, list); __builtin_va_end(list); {} }}\n",
            if ret == "void" { "" } else { "r =" },
            if ret == "void" { "" } else { "return r;" },
        ))
    }

    fn is_operation(&self) -> bool {
        self.meaning == Meaning::Operation
    }
}

/// A number of bytes as C source.
fn bytes(size: &str, model: DataModel) -> String {
    match (size.split_once(':'), model) {
        (Some((size, _)), DataModel::Lp64) | (Some((_, size)), DataModel::Ilp32) => size.into(),
        (None, _) => format!("(unsigned long)({size})"),
    }
}

impl<'t> Param<'t> {
    fn parse(text: &'t str) -> Option<Param<'t>> {
        let (kind, name) = text.rsplit_once(' ')?;
        let (word, example) = kind.split_once(':').filter(|_| !kind.contains('(')).unwrap_or((kind, ""));
        let (word, size) = match word.split_once('(') {
            Some((word, size)) => (word, Some(size.strip_suffix(')')?)),
            None => (word, None),
        };
        let optional = word.ends_with('?');
        let word = word.trim_end_matches('?');
        let memory = |read, write| Some(Role::Memory { read, write, size: size? });
        let (ty, role) = match word {
            "str" => ("const char *", Role::Text(example)),
            "wstr" => ("const int *", Role::WideText),
            "fmt" => ("const char *", Role::Format),
            "in" => ("const void *", memory(true, Store::No)?),
            "inout" => ("void *", memory(true, Store::All)?),
            "out" if size.is_none() => ("void *", Role::File),
            "out" => ("void *", memory(false, Store::All)?),
            "outmost" => ("void *", memory(false, Store::Most)?),
            "outstr" => ("char *", memory(false, Store::Text)?),
            "file" => ("void *", Role::File),
            "ptr" => ("void *", Role::Pointer),
            "fn" => ("void *", Role::Function),
            "va" => ("__builtin_va_list", Role::List),
            _ => (c_type(word)?, Role::Number(example)),
        };
        Some(Param { name, ty, role, optional })
    }

    fn is_memory(&self) -> bool {
        matches!(self.role, Role::Memory { .. } | Role::Text(_) | Role::WideText | Role::File)
    }
}

impl<'t> Meaning<'t> {
    fn parse(text: &'t str) -> Option<Meaning<'t>> {
        Some(match text {
            "C" => Meaning::Source,
            "operation" => Meaning::Operation,
            "scan" => Meaning::Scan,
            "opaque" | "unmodelled" | "pure" => Meaning::Effect(Effect::parse(&[text])?),
            _ => match text.strip_prefix("native ") {
                Some(native) => Meaning::Effect(Effect::parse(&native.split(' ').collect::<Vec<_>>())?),
                None => Meaning::Alternatives(text.split(" | ").filter(|a| !a.is_empty()).collect()),
            },
        })
    }
}

/// The table by names, and the names that are not in it.
#[derive(Clone, Debug)]
pub(crate) struct Contracts(FxHashMap<&'static str, Line>, FxHashSet<&'static str>);

/// A line of the table, and what it says once somebody asks.
#[derive(Clone, Debug)]
struct Line(&'static str, OnceCell<Option<Contract<'static>>>);

impl Contracts {
    pub(crate) fn new() -> Contracts {
        let others = OTHERS.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
        let named = |line: &'static str| {
            let name = line.split_once('(')?.0.split_once(' ')?.1;
            Some((name, Line(line, OnceCell::new())))
        };
        Contracts(lines().filter_map(named).collect(), others.collect())
    }

    /// Whether the function itself stands in the table.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The contract of a function, or of the function behind a builtin.
    pub(crate) fn get(&self, name: &str) -> Option<&Contract<'static>> {
        let Line(line, contract) = self.0.get(crate::compile::plain_name(name))?;
        contract.get_or_init(|| Contract::parse(line)).as_ref()
    }

    /// What a function does that has no body.
    pub(crate) fn effect(&self, name: &str) -> Option<Effect> {
        if let Some(operation) = name.strip_prefix('$') {
            return match operation {
                "scramble" => Some(Effect::Scramble),
                "unmodelled" => Some(Effect::Unmodelled),
                "parse_float" => Some(Effect::Native(Native::ParseFloat(FloatTy::F32))),
                "parse_double" => Some(Effect::Native(Native::ParseFloat(FloatTy::F64))),
                "parse_long_double" => Some(Effect::Native(Native::ParseFloat(FloatTy::F80))),
                _ if operation.starts_with("opaque_") => Some(Effect::Opaque),
                _ => self.get(name).and_then(Contract::effect),
            };
        }
        match self.get(name) {
            Some(contract) => contract.effect(),
            // Arithmetic with decimal floating point: nobody computes it, but its results are not open.
            None if name.starts_with("__bid_") => Some(Effect::Opaque),
            // Headers call variants that know the size of their arguments.
            None if name.starts_with("__") && name.ends_with("_chk") => Some(Effect::Unmodelled),
            // `floorf64` is `floor` for `_Float64`.
            None if FORMATS.iter().any(|f| name.strip_suffix(f).is_some_and(|stem| self.has(stem))) => {
                Some(Effect::Unmodelled)
            }
            None => self.1.contains(name).then_some(Effect::Unmodelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood_and_no_function_stands_twice() {
        let lines: Vec<&str> = TABLE.lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
        let mut seen = FxHashMap::default();
        let table = Contracts::new();
        for line in &lines {
            let contract = Contract::parse(line).unwrap_or_else(|| panic!("not understood: {line}"));
            assert!(seen.insert(contract.name, line).is_none(), "twice: {line}");
            assert_eq!(table.get(contract.name).map(|c| c.name), Some(contract.name));
        }
        assert!(lines.len() > 600, "{}", lines.len());
    }

    #[test]
    fn what_has_c_source_is_in_the_prelude_and_nothing_else_is() {
        let units: FxHashMap<&str, ()> =
            crate::prelude::units().flat_map(|u| u.names().collect::<Vec<_>>()).map(|n| (n, ())).collect();
        for contract in contracts() {
            let source = contract.meaning == Meaning::Source;
            assert_eq!(units.contains_key(contract.name), source, "{}", contract.name);
        }
    }
}
