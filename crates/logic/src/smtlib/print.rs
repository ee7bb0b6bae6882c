//! Printing terms and scripts as SMT-LIB 2.
//!
//! A term is a graph; what it shares is named once, by `let` or by `define-fun`, so the text has
//! about the size of the graph.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::term::{Func, Op, Sort, Term, Terms};
use crate::value::Value;

use super::operators;
use super::sexpr::is_simple;

/// Deeper terms are cut by naming parts of them: other solvers' parsers may recurse.
const MAX_HEIGHT: u32 = 16;

/// Which version of the standard to write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// Version 2.6: overflow of products is spelled out.
    V26,
    /// Version 2.7, with overflow predicates.
    V27,
}

/// A sort in SMT-LIB syntax.
pub fn print_sort(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_owned(),
        Sort::BitVec(w) => format!("(_ BitVec {w})"),
        Sort::Array { index, elem } => format!("(Array (_ BitVec {index}) (_ BitVec {elem}))"),
    }
}

/// A name as an SMT-LIB symbol: between bars if it must be. A name that has its bars is kept, and
/// characters that no symbol can have become underscores.
pub fn print_symbol(name: &str) -> String {
    if is_simple(name) {
        return name.to_owned();
    }
    let inner = name.strip_prefix('|').and_then(|n| n.strip_suffix('|')).unwrap_or(name);
    let inner: String = inner.chars().map(|c| if c == '|' || c == '\\' { '_' } else { c }).collect();
    if is_simple(&inner) { inner } else { format!("|{inner}|") }
}

/// The definition of a constant or function by its value in a model.
pub(super) fn print_definition(symbol: &str, params: &[(String, Sort)], range: Sort, body: &str) -> String {
    let params: Vec<String> = params.iter().map(|(n, s)| format!("({n} {})", print_sort(*s))).collect();
    format!("(define-fun {symbol} ({}) {} {body})", params.join(" "), print_sort(range))
}

/// The body of a function's definition: a choice between its listed results.
pub(super) fn print_entries(
    params: &[(String, Sort)],
    entries: &[(Vec<Value>, Value)],
    range: Sort,
) -> String {
    let mut out = String::new();
    for (args, result) in entries {
        let tests: Vec<String> = params.iter().zip(args).map(|((n, _), v)| format!("(= {n} {v})")).collect();
        let test = if let [one] = &tests[..] { one.clone() } else { format!("(and {})", tests.join(" ")) };
        let _ = write!(out, "(ite {test} {result} ");
    }
    let _ = write!(out, "{}", Value::default_of(range));
    out.push_str(&")".repeat(entries.len()));
    out
}

/// A term on its own, shared parts bound by `let`.
pub fn print_term(terms: &Terms, t: Term) -> String {
    let mut writer = Writer::new(Dialect::V27);
    let parts = writer.write(terms, t);
    let mut out = String::new();
    for (name, _, body) in &parts.definitions {
        let _ = write!(out, "(let (({name} {body})) ");
    }
    out.push_str(&parts.root);
    out.push_str(&")".repeat(parts.definitions.len()));
    out
}

/// A script that declares what occurs in the assertions, asserts them and checks them.
pub fn print_script(terms: &Terms, assertions: &[Term], dialect: Dialect) -> String {
    let mut writer = Writer::new(dialect);
    let mut out = String::from("(set-logic QF_AUFBV)\n");
    for t in assertions {
        let parts = writer.write(terms, *t);
        parts.print_to(&mut out);
        let _ = writeln!(out, "(assert {})", parts.root);
    }
    out.push_str("(check-sat)\n");
    out
}

/// What must be said before a term can be named, and the term itself.
pub(crate) struct Parts {
    pub(crate) declarations: Vec<String>,
    pub(crate) definitions: Vec<(String, Sort, String)>,
    pub(crate) root: String,
}

impl Parts {
    /// Writes declarations and definitions as commands.
    pub(crate) fn print_to(&self, out: &mut String) {
        for line in &self.declarations {
            out.push_str(line);
            out.push('\n');
        }
        for (name, sort, body) in &self.definitions {
            let _ = writeln!(out, "(define-fun {name} () {} {body})", print_sort(*sort));
        }
    }
}

/// Writes terms into one script: remembers what has been declared and defined, by level.
pub(crate) struct Writer {
    dialect: Dialect,
    known: FxHashMap<Term, String>,
    funcs: FxHashMap<Func, String>,
    taken: FxHashSet<String>,
    /// What was made known, in order, with the open levels as positions in it.
    trail: Vec<Entry>,
    levels: Vec<usize>,
    next: u64,
}

enum Entry {
    Term(Term),
    Func(Func),
}

impl Writer {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Writer {
            dialect,
            known: FxHashMap::default(),
            funcs: FxHashMap::default(),
            taken: FxHashSet::default(),
            trail: Vec::new(),
            levels: Vec::new(),
            next: 0,
        }
    }

    /// Opens a level of declarations.
    pub(crate) fn push(&mut self) {
        self.levels.push(self.trail.len());
    }

    /// Forgets what was declared since the matching `push`.
    pub(crate) fn pop(&mut self) {
        let from = self.levels.pop().unwrap_or(0);
        for entry in self.trail.drain(from..) {
            let name = match entry {
                Entry::Term(t) => self.known.remove(&t),
                Entry::Func(f) => self.funcs.remove(&f),
            };
            if let Some(name) = name {
                self.taken.remove(&name);
            }
        }
    }

    /// A symbol that nothing else has yet.
    pub(crate) fn fresh(&mut self, prefix: &str) -> String {
        loop {
            let name = format!("{prefix}{}", self.next);
            self.next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    fn symbol(&mut self, name: &str) -> String {
        let symbol = print_symbol(name);
        if !operators::is_fixed(&symbol) && self.taken.insert(symbol.clone()) {
            return symbol;
        }
        // Another variable has the same name and another sort, or the name means an operator.
        let stem = symbol.trim_matches('|').to_owned();
        let mut n = 1;
        loop {
            let symbol = print_symbol(&format!("{stem}@{n}"));
            if self.taken.insert(symbol.clone()) {
                return symbol;
            }
            n += 1;
        }
    }

    fn know(&mut self, t: Term, name: String) {
        self.known.insert(t, name);
        self.trail.push(Entry::Term(t));
    }

    /// The parts of `t` that are not known yet, and `t` by name.
    pub(crate) fn write(&mut self, terms: &Terms, t: Term) -> Parts {
        let (order, uses) = self.unknown_parts(terms, t);
        let mut parts = Parts { declarations: Vec::new(), definitions: Vec::new(), root: String::new() };
        // Symbols come first, so that invented names avoid them.
        for &t in &order {
            if let Some(name) = terms.name_of(t) {
                let symbol = self.symbol(name);
                parts.declarations.push(format!("(declare-fun {symbol} () {})", print_sort(terms.sort(t))));
                self.know(t, symbol);
            } else if let Some(f) = terms.func_of(t)
                && !self.funcs.contains_key(&f)
            {
                let decl = terms.decl(f);
                let symbol = self.symbol(&decl.name);
                let domain: Vec<String> = decl.domain.iter().map(|s| print_sort(*s)).collect();
                let range = print_sort(decl.range);
                parts.declarations.push(format!("(declare-fun {symbol} ({}) {range})", domain.join(" ")));
                self.funcs.insert(f, symbol);
                self.trail.push(Entry::Func(f));
            }
        }
        let mut inline: FxHashMap<Term, (String, u32)> = FxHashMap::default();
        for &t in &order {
            if self.known.contains_key(&t) {
                continue;
            }
            let mut height = 0;
            let mut args = Vec::new();
            for a in terms.args(t) {
                if let Some(name) = self.known.get(a) {
                    args.push(name.clone());
                } else {
                    // Used here only, except for constants.
                    let leaf = terms.is_const(*a);
                    let text = if leaf { inline.get(a).cloned() } else { inline.remove(a) };
                    let (text, h) = text.expect("arguments come first");
                    height = height.max(h);
                    args.push(text);
                }
            }
            let text = self.expression(terms, t, &args);
            let shared = uses.get(&t).is_some_and(|n| *n > 1) || height >= MAX_HEIGHT;
            if shared && !terms.is_const(t) {
                let name = self.fresh("_t");
                parts.definitions.push((name.clone(), terms.sort(t), text));
                self.know(t, name);
            } else {
                inline.insert(t, (text, height + 1));
            }
        }
        parts.root = match self.known.get(&t) {
            Some(name) => name.clone(),
            None => inline.remove(&t).expect("the root was written last").0,
        };
        parts
    }

    /// The subterms that are not known, arguments first, and how often each is used.
    fn unknown_parts(&self, terms: &Terms, t: Term) -> (Vec<Term>, FxHashMap<Term, u32>) {
        let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if self.known.contains_key(&t) {
                continue;
            }
            let count = uses.entry(t).or_insert(0);
            *count += 1;
            if *count == 1 {
                stack.extend(terms.args(t));
            }
        }
        let mut order: Vec<Term> = uses.keys().copied().collect();
        order.sort_unstable();
        (order, uses)
    }

    fn expression(&self, terms: &Terms, t: Term, args: &[String]) -> String {
        let boolean = terms.is_bool(t);
        let name = match terms.op(t) {
            Op::Const => {
                return match terms.value_of(t) {
                    Some(v) => v.to_string(),
                    None => (t == terms.tru()).to_string(),
                };
            }
            Op::Var => unreachable!("variables are known"),
            Op::Not if boolean => "not",
            Op::Not => "bvnot",
            Op::And if boolean => "and",
            Op::And => "bvand",
            Op::Eq => "=",
            Op::Ite => "ite",
            Op::Xor => "bvxor",
            Op::Neg => "bvneg",
            Op::Add => "bvadd",
            Op::Mul => "bvmul",
            Op::Udiv => "bvudiv",
            Op::Urem => "bvurem",
            Op::Shl => "bvshl",
            Op::Lshr => "bvlshr",
            Op::Ashr => "bvashr",
            Op::Concat => "concat",
            Op::Extract => {
                let (high, low) = terms.extract_bounds(t).expect("an extraction has bounds");
                return format!("((_ extract {high} {low}) {})", args[0]);
            }
            Op::SignExtend => {
                let n = terms.width(t) - terms.width(terms.arg(t, 0));
                return format!("((_ sign_extend {n}) {})", args[0]);
            }
            Op::Ult => "bvult",
            Op::Slt => "bvslt",
            Op::Umulo | Op::Smulo if self.dialect == Dialect::V26 => {
                return product_overflow(terms, t, &args[0], &args[1]);
            }
            Op::Umulo => "bvumulo",
            Op::Smulo => "bvsmulo",
            Op::Select => "select",
            Op::Store => "store",
            Op::ConstArray => return format!("((as const {}) {})", print_sort(terms.sort(t)), args[0]),
            Op::Apply => {
                let f = terms.func_of(t).expect("an application has a function");
                &self.funcs[&f]
            }
        };
        if args.is_empty() { name.to_owned() } else { format!("({name} {})", args.join(" ")) }
    }
}

/// Overflow of a product by the product at twice the width.
fn product_overflow(terms: &Terms, t: Term, a: &str, b: &str) -> String {
    let w = terms.width(terms.arg(t, 0));
    let extend = if terms.op(t) == Op::Umulo { "zero_extend" } else { "sign_extend" };
    let low = w - 1;
    format!(
        "(let ((_p (bvmul ((_ {extend} {w}) {a}) ((_ {extend} {w}) {b})))) \
         (not (= _p ((_ {extend} {w}) ((_ extract {low} 0) _p)))))"
    )
}
