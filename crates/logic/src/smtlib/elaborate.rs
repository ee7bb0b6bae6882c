//! From s-expressions to sorts and terms, with an explicit stack instead of recursion.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::bitvec::BitVec;
use crate::term::{Func, Sort, Term, Terms};

use super::WIDTH_LIMIT;
use super::operators::{self, IndexedOperator, Misfit, Operator};
use super::sexpr::{Error, Id, Kind, Tree};

/// A function that stands for its body: `define-fun` with parameters.
pub(super) struct Macro {
    /// Fresh variables that occur in the body.
    pub(super) parameters: Vec<Term>,
    pub(super) body: Term,
}

/// What a symbol means.
#[derive(Clone)]
pub(super) enum Symbol {
    /// A declared constant, a definition without parameters, or a named term.
    Term(Term),
    Func(Func),
    Macro(Rc<Macro>),
}

/// The symbols and sorts that a script has introduced.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) table: FxHashMap<String, Symbol>,
    pub(super) sorts: FxHashMap<String, Sort>,
}

/// Reads terms of one expression tree.
pub(super) struct Elaborator<'e, 'a> {
    pub(super) terms: &'e mut Terms,
    pub(super) symbols: &'e Symbols,
    pub(super) tree: &'e Tree<'a>,
    /// Parameters and `let` variables in scope; the innermost is last.
    locals: FxHashMap<&'a str, Vec<Term>>,
    /// Names given by `:named`, with their places; `None` where names are not allowed.
    pub(super) named: Option<Vec<(&'a str, Id, Term)>>,
}

/// What is applied.
enum Head {
    Operator(Operator),
    Indexed(IndexedOperator, Vec<u32>),
    ConstArray { index: u32, elem: u32 },
    Func(Func),
    Macro(Rc<Macro>),
}

/// What remains to be done for a term; values wait on a second stack.
enum Work<'a> {
    /// Read an expression.
    Read(Id),
    /// Apply the head of a list to the last `count` values.
    Apply { list: Id, head: Head, count: usize },
    /// Bind the last values to the names of a `let`, then read its body.
    Bind { names: Vec<&'a str>, body: Id },
    /// Leave a `let`.
    Unbind(Vec<&'a str>),
    /// Note the attributes of an annotated term.
    Annotate(Id),
}

impl<'e, 'a> Elaborator<'e, 'a> {
    pub(super) fn new(terms: &'e mut Terms, symbols: &'e Symbols, tree: &'e Tree<'a>) -> Self {
        Elaborator { terms, symbols, tree, locals: FxHashMap::default(), named: Some(Vec::new()) }
    }

    /// Brings a parameter into scope.
    pub(super) fn bind(&mut self, name: &'a str, value: Term) {
        self.locals.entry(name).or_default().push(value);
    }

    fn children(&self, list: Id) -> &'e [Id] {
        self.tree.list(list).unwrap_or(&[])
    }

    /// A sort: `Bool`, `(_ BitVec n)`, `(Array s t)` or a defined name.
    pub(super) fn sort(&self, id: Id) -> Result<Sort, Error> {
        let tree = self.tree;
        if let Some(name) = tree.symbol(id) {
            return match self.symbols.sorts.get(name) {
                Some(sort) => Ok(*sort),
                None if name == "Bool" => Ok(Sort::Bool),
                None => tree.error(id, format!("unknown sort `{name}`")),
            };
        }
        match *self.children(id) {
            [underscore, name, width]
                if tree.word(underscore) == Some("_") && tree.symbol(name) == Some("BitVec") =>
            {
                match tree.numeral(width) {
                    Some(w) if 0 < w && w <= WIDTH_LIMIT => Ok(Sort::BitVec(w)),
                    _ => tree.error(width, format!("the width must be between 1 and {WIDTH_LIMIT}")),
                }
            }
            [name, index, elem] if tree.symbol(name) == Some("Array") => {
                Ok(Sort::Array { index: self.array_part(index)?, elem: self.array_part(elem)? })
            }
            _ => tree.error(id, "a sort is needed here: Bool, (_ BitVec n) or (Array s t)"),
        }
    }

    fn array_part(&self, id: Id) -> Result<u32, Error> {
        // Only one level of nesting is possible, so this does not recurse further.
        if self.children(id).first().is_some_and(|h| self.tree.symbol(*h) == Some("Array")) {
            return self.tree.error(id, "only arrays from bit-vectors to bit-vectors are supported");
        }
        match self.sort(id)? {
            Sort::BitVec(w) => Ok(w),
            _ => self.tree.error(id, "only arrays from bit-vectors to bit-vectors are supported"),
        }
    }

    /// The Boolean term of an expression.
    pub(super) fn formula(&mut self, id: Id) -> Result<Term, Error> {
        let t = self.term(id)?;
        if self.terms.is_bool(t) { Ok(t) } else { self.tree.error(id, "a Boolean term is needed here") }
    }

    /// The term of an expression.
    pub(super) fn term(&mut self, id: Id) -> Result<Term, Error> {
        let mut work = vec![Work::Read(id)];
        let mut values: Vec<Term> = Vec::new();
        while let Some(item) = work.pop() {
            match item {
                Work::Read(id) => {
                    if let Some(t) = self.read(id, &mut work)? {
                        values.push(t);
                    }
                }
                Work::Apply { list, head, count } => {
                    let args = values.split_off(values.len() - count);
                    values.push(self.apply(list, head, &args)?);
                }
                Work::Bind { names, body } => {
                    let from = values.len() - names.len();
                    for (name, value) in names.iter().zip(values.drain(from..)) {
                        self.locals.entry(name).or_default().push(value);
                    }
                    work.push(Work::Unbind(names));
                    work.push(Work::Read(body));
                }
                Work::Unbind(names) => {
                    for name in names {
                        if let Some(stack) = self.locals.get_mut(name) {
                            stack.pop();
                        }
                    }
                }
                Work::Annotate(list) => {
                    let t = *values.last().expect("the annotated term was read before");
                    self.annotate(list, t)?;
                }
            }
        }
        Ok(values.pop().expect("reading a term leaves its value"))
    }

    /// Reads a leaf, or plans the work for a list.
    fn read(&mut self, id: Id, work: &mut Vec<Work<'a>>) -> Result<Option<Term>, Error> {
        let tree = self.tree;
        match tree.kind(id) {
            Kind::Symbol | Kind::Quoted => return self.constant(id).map(Some),
            Kind::Binary => {
                let bits = tree.digits(id).as_bytes();
                return self.literal(id, bits.len(), |i| bits[bits.len() - 1 - i] == b'1').map(Some);
            }
            Kind::Hexadecimal => {
                let nibbles: Vec<u32> =
                    tree.digits(id).chars().rev().filter_map(|c| c.to_digit(16)).collect();
                return self.literal(id, 4 * nibbles.len(), |i| nibbles[i / 4] >> (i % 4) & 1 == 1).map(Some);
            }
            Kind::List => {}
            _ => return tree.error(id, "a term is needed here"),
        }
        let children = self.children(id);
        let Some((&first, rest)) = children.split_first() else {
            return tree.error(id, "a term is needed here, not an empty list");
        };
        match tree.word(first) {
            Some("let") => return self.read_let(id, rest, work).map(|()| None),
            Some("!") => {
                let Some(&inner) = rest.first() else { return tree.error(id, "`!` without a term") };
                work.push(Work::Annotate(id));
                work.push(Work::Read(inner));
                return Ok(None);
            }
            Some("_") => return self.indexed_constant(id, rest).map(Some),
            Some("as") => return tree.error(id, "a qualified symbol has no meaning here"),
            Some(word @ ("forall" | "exists" | "match")) => {
                return tree
                    .error(first, format!("`{word}` is not supported: the logics are quantifier-free"));
            }
            _ => {}
        }
        let head = self.head(first)?;
        work.push(Work::Apply { list: id, head, count: rest.len() });
        work.extend(rest.iter().rev().map(|c| Work::Read(*c)));
        Ok(None)
    }

    fn literal(&mut self, id: Id, width: usize, bit: impl Fn(usize) -> bool) -> Result<Term, Error> {
        if width > WIDTH_LIMIT as usize {
            return self.tree.error(id, format!("literal with more than {WIDTH_LIMIT} bits"));
        }
        let value = BitVec::from_bits(width as u32, |i| bit(i as usize));
        Ok(self.terms.bv_const(&value))
    }

    /// A symbol as a term.
    fn constant(&mut self, id: Id) -> Result<Term, Error> {
        let Some(name) = self.tree.symbol(id) else { return self.tree.error(id, "a symbol is needed here") };
        if let Some(t) = self.locals.get(name).and_then(|stack| stack.last()) {
            return Ok(*t);
        }
        match (name, self.symbols.table.get(name)) {
            (_, Some(Symbol::Term(t))) => Ok(*t),
            (_, Some(_)) => self.tree.error(id, format!("function `{name}` without its arguments")),
            ("true", None) => Ok(self.terms.tru()),
            ("false", None) => Ok(self.terms.fls()),
            (_, None) if operators::is_fixed(name) => {
                self.tree.error(id, format!("operator `{name}` without its arguments"))
            }
            (_, None) => self.tree.error(id, format!("unknown symbol `{name}`")),
        }
    }

    /// `(_ bvN w)`.
    fn indexed_constant(&mut self, id: Id, rest: &[Id]) -> Result<Term, Error> {
        let tree = self.tree;
        let digits = rest.first().and_then(|n| tree.symbol(*n)).and_then(|n| n.strip_prefix("bv"));
        let (Some(digits), [_, width]) = (digits, rest) else {
            return tree.error(id, "unknown indexed constant; (_ bvN w) is one");
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return tree.error(id, "unknown indexed constant; (_ bvN w) is one");
        }
        let Some(w) = tree.numeral(*width).filter(|w| 0 < *w && *w <= WIDTH_LIMIT) else {
            return tree.error(*width, format!("the width must be between 1 and {WIDTH_LIMIT}"));
        };
        let digits = digits.trim_start_matches('0');
        // A decimal digit is worth more than three bits.
        let fits = digits.len() as u64 * 3 <= u64::from(w) + 3;
        // Four more bits than the digits can fill, so that nothing is cut unseen.
        let value = fits.then(|| BitVec::from_digits(w + 64, &format!("0{digits}"), 10)).flatten();
        match value.filter(|v| v.extract(w + 63, w).is_zero()) {
            Some(v) => Ok(self.terms.bv_const(&v.extract(w - 1, 0))),
            None => tree.error(rest[0], format!("the value does not fit into {w} bits")),
        }
    }

    fn read_let(&mut self, id: Id, rest: &[Id], work: &mut Vec<Work<'a>>) -> Result<(), Error> {
        let tree = self.tree;
        let &[bindings, body] = rest else {
            return tree.error(id, "`let` takes a list of bindings and a term");
        };
        let Some(bindings) = tree.list(bindings).filter(|b| !b.is_empty()) else {
            return tree.error(bindings, "a list of bindings is needed here");
        };
        let mut names = Vec::with_capacity(bindings.len());
        let mut seen = FxHashSet::default();
        let mut values = Vec::with_capacity(bindings.len());
        for binding in bindings {
            let (name, value) = match tree.list(*binding) {
                Some(&[name, value]) => (tree.symbol(name), value),
                _ => (None, *binding),
            };
            let Some(name) = name else { return tree.error(*binding, "a binding is a symbol and a term") };
            if !seen.insert(name) {
                return tree.error(*binding, format!("`{name}` is bound twice"));
            }
            names.push(name);
            values.push(Work::Read(value));
        }
        work.push(Work::Bind { names, body });
        work.extend(values.into_iter().rev());
        Ok(())
    }

    /// The head of an application.
    fn head(&self, id: Id) -> Result<Head, Error> {
        let tree = self.tree;
        if let Some(name) = tree.symbol(id) {
            let local = self.locals.get(name).is_some_and(|stack| !stack.is_empty());
            return match self.symbols.table.get(name) {
                _ if local => tree.error(id, format!("`{name}` is no function")),
                Some(Symbol::Func(f)) => Ok(Head::Func(*f)),
                Some(Symbol::Macro(m)) => Ok(Head::Macro(m.clone())),
                Some(Symbol::Term(_)) => tree.error(id, format!("`{name}` is no function")),
                None => match operators::operator(name) {
                    Some(op) => Ok(Head::Operator(op)),
                    None => tree.error(id, format!("unknown function `{name}`")),
                },
            };
        }
        match *self.children(id) {
            [underscore, name, ref indices @ ..] if tree.word(underscore) == Some("_") => {
                let op = tree.symbol(name).and_then(operators::indexed_operator);
                let Some(op) = op else { return tree.error(name, "unknown indexed operator") };
                let mut numbers = Vec::with_capacity(indices.len());
                for index in indices {
                    match tree.numeral(*index) {
                        Some(n) => numbers.push(n),
                        None => return tree.error(*index, "a numeral below 2^32 is needed here"),
                    }
                }
                Ok(Head::Indexed(op, numbers))
            }
            [word, name, sort] if tree.word(word) == Some("as") && tree.symbol(name) == Some("const") => {
                match self.sort(sort)? {
                    Sort::Array { index, elem } => Ok(Head::ConstArray { index, elem }),
                    _ => tree.error(sort, "a constant array has an array sort"),
                }
            }
            _ => tree.error(id, "a function is needed here"),
        }
    }

    fn apply(&mut self, list: Id, head: Head, args: &[Term]) -> Result<Term, Error> {
        let result = match head {
            Head::Operator(op) => operators::apply(self.terms, op, args),
            Head::Indexed(op, indices) => operators::apply_indexed(self.terms, op, &indices, args),
            Head::ConstArray { index, elem } => {
                self.fit(&[Sort::BitVec(elem)], args).map(|()| self.terms.const_array(index, args[0]))
            }
            Head::Func(f) => {
                let domain = self.terms.decl(f).domain.clone();
                self.fit(&domain, args).map(|()| self.terms.apply(f, args))
            }
            Head::Macro(m) => {
                let domain: Vec<Sort> = m.parameters.iter().map(|p| self.terms.sort(*p)).collect();
                self.fit(&domain, args).map(|()| {
                    let map = m.parameters.iter().copied().zip(args.iter().copied()).collect();
                    self.terms.substitute(m.body, &map)
                })
            }
        };
        result.map_err(|misfit| {
            let place = misfit.argument.map_or(list, |i| self.children(list)[i + 1]);
            Error::new(self.tree.at(place), misfit.message)
        })
    }

    fn fit(&self, domain: &[Sort], args: &[Term]) -> Result<(), Misfit> {
        if domain.len() != args.len() {
            let message = format!("{} arguments where {} are needed", args.len(), domain.len());
            return Err(Misfit { argument: None, message });
        }
        domain.iter().enumerate().try_for_each(|(i, s)| operators::expect(self.terms, args, i, *s))
    }

    /// Notes the name that an annotation gives; other attributes have no meaning here.
    fn annotate(&mut self, list: Id, t: Term) -> Result<(), Error> {
        let tree = self.tree;
        let attributes = &self.children(list)[2..];
        if attributes.is_empty() {
            return tree.error(list, "annotation without an attribute");
        }
        if tree.keyword(attributes[0]).is_none() {
            return tree.error(attributes[0], "a keyword is needed here");
        }
        for (i, attribute) in attributes.iter().enumerate() {
            if tree.keyword(*attribute) != Some(":named") {
                continue;
            }
            let Some((name, place)) = attributes.get(i + 1).and_then(|n| Some((tree.symbol(*n)?, *n))) else {
                return tree.error(*attribute, "`:named` without a symbol");
            };
            match &mut self.named {
                Some(named) => named.push((name, place, t)),
                None => return tree.error(*attribute, "a term with parameters cannot be named"),
            }
        }
        Ok(())
    }
}
