//! The commands of SMT-LIB scripts, carried out on the embedded solver.

use std::io::Write;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::solver::{Answer, Solver};
use crate::term::{Sort, Term, Terms};

use super::elaborate::{Elaborator, Macro, Symbol, Symbols};
use super::operators;
use super::print::{print_definition, print_entries, print_sort, print_symbol, print_term};
use super::sexpr::{Error, Id, Kind, Reader, Tree};

/// More open levels than any script needs; a mistyped numeral must not exhaust the memory.
const MAX_LEVELS: usize = 1 << 16;

/// Why a run ended early.
pub(super) enum Failure {
    /// The output cannot be written.
    Output,
    /// The script has an error.
    Script(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Script(error)
    }
}

/// What the last check said.
enum Last {
    None,
    Sat,
    Unsat,
    Unknown(String),
}

/// An assertion, with its name if cores may mention it.
struct Assertion {
    name: Option<String>,
    term: Term,
}

/// The sizes to return to when a level is popped.
struct Level {
    assertions: usize,
    declared: usize,
    defined: usize,
}

/// A script being run.
pub(super) struct Script<'s> {
    /// Makes solvers.
    solvers: &'s dyn Fn() -> Box<dyn Solver>,
    terms: Terms,
    solver: Box<dyn Solver>,
    symbols: Symbols,
    /// Declared constants and functions, in order.
    declared: Vec<String>,
    /// All symbols and sorts introduced, in order.
    defined: Vec<Introduced>,
    assertions: Vec<Assertion>,
    levels: Vec<Level>,
    last: Last,
    /// The assumptions of the last check, as written.
    assumptions: Vec<(String, Term)>,
    cores: bool,
    print_success: bool,
    global: bool,
}

enum Introduced {
    Symbol(String),
    Sort(String),
}

enum Next {
    /// Go on; print `success` if that is wanted.
    Silent,
    /// Go on; the answer was printed.
    Answered,
    Exit,
}

impl<'s> Script<'s> {
    pub(super) fn new(solvers: &'s dyn Fn() -> Box<dyn Solver>) -> Self {
        let solver = solvers();
        Script {
            solvers,
            terms: Terms::new(),
            solver,
            symbols: Symbols::default(),
            declared: Vec::new(),
            defined: Vec::new(),
            assertions: Vec::new(),
            levels: Vec::new(),
            last: Last::None,
            assumptions: Vec::new(),
            cores: false,
            print_success: false,
            global: false,
        }
    }

    pub(super) fn run(mut self, text: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
        let mut reader = Reader::new(text);
        let mut tree = Tree::new(text);
        while let Some(command) = reader.next(&mut tree)? {
            match self.command(&tree, command, out)? {
                Next::Exit => break,
                Next::Silent if self.print_success => say(out, "success")?,
                _ => {}
            }
        }
        Ok(())
    }

    fn command(&mut self, tree: &Tree, id: Id, out: &mut dyn Write) -> Result<Next, Failure> {
        let Some((&head, args)) = tree.list(id).and_then(<[Id]>::split_first) else {
            return Ok(tree.error(id, "a command is needed here")?);
        };
        let Some(name) = tree.word(head) else { return Ok(tree.error(head, "a command is needed here")?) };
        match (name, args) {
            ("set-logic", [logic]) => self.set_logic(tree, *logic)?,
            ("set-option", [key, ..]) => self.set_option(tree, *key, &args[1..])?,
            ("set-info", [key, ..]) => {
                if tree.keyword(*key).is_none() {
                    tree.error(*key, "a keyword is needed here")?;
                }
            }
            ("declare-const", [symbol, sort]) => self.declare(tree, *symbol, &[], *sort)?,
            ("declare-fun", [symbol, domain, range]) => {
                let Some(domain) = tree.list(*domain) else {
                    return Ok(tree.error(*domain, "a list of sorts is needed here")?);
                };
                self.declare(tree, *symbol, domain, *range)?;
            }
            ("define-const", [symbol, sort, body]) => self.define(tree, *symbol, &[], *sort, *body)?,
            ("define-fun", [symbol, params, sort, body]) => {
                let Some(params) = tree.list(*params) else {
                    return Ok(tree.error(*params, "a list of parameters is needed here")?);
                };
                self.define(tree, *symbol, params, *sort, *body)?;
            }
            ("define-sort", [symbol, params, sort]) => self.define_sort(tree, *symbol, *params, *sort)?,
            ("assert", [formula]) => self.assert(tree, *formula)?,
            ("push", []) => self.push(tree, id, 1)?,
            ("pop", []) => self.pop(tree, id, 1)?,
            ("push" | "pop", [count]) => {
                let Some(n) = tree.numeral(*count) else {
                    return Ok(tree.error(*count, "a number of levels is needed here")?);
                };
                if name == "push" { self.push(tree, *count, n)? } else { self.pop(tree, *count, n)? }
            }
            ("reset", []) => *self = Script::new(self.solvers),
            ("reset-assertions", []) => self.reset_assertions(),
            ("exit", []) => return Ok(Next::Exit),
            _ => return self.question(tree, id, name, args, out),
        }
        Ok(Next::Silent)
    }

    /// The commands that print an answer.
    fn question(
        &mut self,
        tree: &Tree,
        id: Id,
        name: &str,
        args: &[Id],
        out: &mut dyn Write,
    ) -> Result<Next, Failure> {
        match (name, args) {
            ("check-sat", []) => self.check(tree, &[], out)?,
            ("check-sat-assuming", [list]) => {
                let Some(list) = tree.list(*list) else {
                    return Ok(tree.error(*list, "a list of literals is needed here")?);
                };
                self.check(tree, list, out)?;
            }
            ("get-model", []) => self.get_model(tree, id, out)?,
            ("get-value", [list]) => self.get_value(tree, id, *list, out)?,
            ("get-unsat-core", []) => self.get_unsat_core(tree, id, out)?,
            ("get-unsat-assumptions", []) => {
                self.need_unsat(tree, id)?;
                let core = self.solver.unsat_core();
                // What a named assertion says needs no assumption.
                let named: FxHashSet<Term> = self.tracked().collect();
                let mut seen = FxHashSet::default();
                let texts: Vec<&str> = self
                    .assumptions
                    .iter()
                    .filter(|(_, t)| core.contains(t) && !named.contains(t) && seen.insert(*t))
                    .map(|(text, _)| text.as_str())
                    .collect();
                say(out, &format!("({})", texts.join(" ")))?;
            }
            ("get-assertions", []) => {
                let lines: Vec<String> =
                    self.assertions.iter().map(|a| print_term(&self.terms, a.term)).collect();
                say(out, &format!("({})", lines.join("\n ")))?;
            }
            ("get-info", [key]) => self.get_info(tree, *key, out)?,
            ("get-option", [key]) => self.get_option(tree, *key, out)?,
            ("echo", [text]) if tree.kind(*text) == Kind::String => say(out, &tree.show(*text))?,
            (
                "declare-sort"
                | "declare-datatype"
                | "declare-datatypes"
                | "define-fun-rec"
                | "define-funs-rec"
                | "define-sort-parameter"
                | "get-proof"
                | "get-assignment",
                _,
            ) => return Ok(tree.error(id, format!("`{name}` is not supported"))?),
            (
                "set-logic"
                | "set-option"
                | "set-info"
                | "declare-const"
                | "declare-fun"
                | "define-const"
                | "define-fun"
                | "define-sort"
                | "assert"
                | "push"
                | "pop"
                | "reset"
                | "reset-assertions"
                | "exit"
                | "check-sat"
                | "check-sat-assuming"
                | "get-model"
                | "get-value"
                | "get-unsat-core"
                | "get-unsat-assumptions"
                | "get-assertions"
                | "get-info"
                | "get-option"
                | "echo",
                _,
            ) => return Ok(tree.error(id, format!("wrong arguments for `{name}`"))?),
            _ => return Ok(tree.error(id, format!("unknown command `{name}`"))?),
        }
        Ok(Next::Answered)
    }

    // ---- settings ----

    fn set_logic(&self, tree: &Tree, id: Id) -> Result<(), Error> {
        match tree.symbol(id) {
            Some("QF_BV" | "QF_ABV" | "QF_UFBV" | "QF_AUFBV" | "QF_UF" | "QF_AX" | "ALL") => Ok(()),
            Some(other) => tree.error(
                id,
                format!("logic `{other}` is not supported; QF_BV, QF_ABV, QF_UFBV and QF_AUFBV are"),
            ),
            None => tree.error(id, "the name of a logic is needed here"),
        }
    }

    fn set_option(&mut self, tree: &Tree, key: Id, value: &[Id]) -> Result<(), Error> {
        let Some(name) = tree.keyword(key) else { return tree.error(key, "a keyword is needed here") };
        let flag = match name {
            ":produce-unsat-cores" => &mut self.cores,
            ":print-success" => &mut self.print_success,
            ":global-declarations" => &mut self.global,
            // Other options change nothing that can be seen here.
            _ => return Ok(()),
        };
        match value.first().and_then(|v| tree.symbol(*v)) {
            Some("true") => *flag = true,
            Some("false") => *flag = false,
            _ => return tree.error(key, format!("`{name}` is true or false")),
        }
        if name == ":produce-unsat-cores" && !self.assertions.is_empty() {
            return tree.error(key, "cores must be asked for before the first assertion");
        }
        Ok(())
    }

    fn get_info(&self, tree: &Tree, key: Id, out: &mut dyn Write) -> Result<(), Failure> {
        let answer = match tree.keyword(key) {
            Some(":name") => "(:name \"Palisade\")".to_owned(),
            Some(":version") => format!("(:version \"{}\")", env!("CARGO_PKG_VERSION")),
            Some(":authors") => "(:authors \"the Palisade authors\")".to_owned(),
            Some(":error-behavior") => "(:error-behavior immediate-exit)".to_owned(),
            Some(":assertion-stack-levels") => format!("(:assertion-stack-levels {})", self.levels.len()),
            Some(":reason-unknown") => match &self.last {
                Last::Unknown(why) => format!("(:reason-unknown \"{}\")", why.replace('"', "\"\"")),
                _ => return Ok(tree.error(key, "the last answer was not `unknown`")?),
            },
            Some(_) => "unsupported".to_owned(),
            None => return Ok(tree.error(key, "a keyword is needed here")?),
        };
        say(out, &answer)
    }

    fn get_option(&self, tree: &Tree, key: Id, out: &mut dyn Write) -> Result<(), Failure> {
        let flag = match tree.keyword(key) {
            Some(":produce-unsat-cores") => self.cores,
            Some(":print-success") => self.print_success,
            Some(":global-declarations") => self.global,
            Some(":produce-models" | ":produce-unsat-assumptions" | ":produce-assertions") => true,
            Some(_) => return say(out, "unsupported"),
            None => return Ok(tree.error(key, "a keyword is needed here")?),
        };
        say(out, &flag.to_string())
    }

    // ---- declarations ----

    /// The name of a symbol that may be introduced.
    fn new_name<'a>(&self, tree: &Tree<'a>, id: Id) -> Result<&'a str, Error> {
        let Some(name) = tree.symbol(id) else { return tree.error(id, "a symbol is needed here") };
        if operators::is_fixed(name) {
            return tree.error(id, format!("`{name}` has a fixed meaning and cannot be declared"));
        }
        if self.symbols.table.contains_key(name) {
            return tree.error(id, format!("`{name}` is declared already"));
        }
        Ok(name)
    }

    fn introduce(&mut self, name: &str, symbol: Symbol) {
        self.symbols.table.insert(name.to_owned(), symbol);
        self.defined.push(Introduced::Symbol(name.to_owned()));
    }

    fn sort(&mut self, tree: &Tree, id: Id) -> Result<Sort, Error> {
        Elaborator::new(&mut self.terms, &self.symbols, tree).sort(id)
    }

    fn declare(&mut self, tree: &Tree, symbol: Id, domain: &[Id], range: Id) -> Result<(), Error> {
        let name = self.new_name(tree, symbol)?;
        let sorts: Vec<Sort> = domain.iter().map(|s| self.sort(tree, *s)).collect::<Result<_, _>>()?;
        let sort = self.sort(tree, range)?;
        // Names with an exclamation mark are invented by the pool; bars keep the script's apart.
        let pool_name = if name.contains('!') { format!("|{name}|") } else { name.to_owned() };
        let meaning = if domain.is_empty() {
            Symbol::Term(self.terms.var(&pool_name, sort))
        } else {
            let arrays = domain.iter().zip(&sorts).find(|(_, s)| s.is_array()).map(|(id, _)| *id);
            if let Some(place) = arrays.or(sort.is_array().then_some(range)) {
                return tree.error(place, "functions from or to arrays are not supported");
            }
            Symbol::Func(self.terms.func(&pool_name, &sorts, sort))
        };
        self.introduce(name, meaning);
        self.declared.push(name.to_owned());
        Ok(())
    }

    fn define(&mut self, tree: &Tree, symbol: Id, params: &[Id], sort: Id, body: Id) -> Result<(), Error> {
        let name = self.new_name(tree, symbol)?;
        let wanted = self.sort(tree, sort)?;
        let mut parameters: Vec<(&str, Term)> = Vec::with_capacity(params.len());
        for param in params {
            let Some(&[param_name, param_sort]) = tree.list(*param) else {
                return tree.error(*param, "a parameter is a symbol and a sort");
            };
            let Some(param_name) = tree.symbol(param_name) else {
                return tree.error(*param, "a parameter is a symbol and a sort");
            };
            if parameters.iter().any(|(n, _)| *n == param_name) {
                return tree.error(*param, format!("parameter `{param_name}` is there twice"));
            }
            let sort = self.sort(tree, param_sort)?;
            parameters.push((param_name, self.terms.fresh_var("param", sort)));
        }
        let mut elaborator = Elaborator::new(&mut self.terms, &self.symbols, tree);
        if !parameters.is_empty() {
            elaborator.named = None;
        }
        for (param_name, t) in &parameters {
            elaborator.bind(param_name, *t);
        }
        let t = elaborator.term(body)?;
        let named = elaborator.named.take();
        let has = self.terms.sort(t);
        if has != wanted {
            let message = format!("the body has sort {}, not {}", print_sort(has), print_sort(wanted));
            return tree.error(body, message);
        }
        self.introduce_named(tree, named.unwrap_or_default())?;
        // Only now, since the body may have used up the name.
        self.new_name(tree, symbol)?;
        let meaning = if parameters.is_empty() {
            Symbol::Term(t)
        } else {
            let parameters = parameters.into_iter().map(|(_, t)| t).collect();
            Symbol::Macro(Rc::new(Macro { parameters, body: t }))
        };
        self.introduce(name, meaning);
        Ok(())
    }

    fn define_sort(&mut self, tree: &Tree, symbol: Id, params: Id, sort: Id) -> Result<(), Error> {
        let Some(name) = tree.symbol(symbol) else { return tree.error(symbol, "a symbol is needed here") };
        if tree.list(params).is_none_or(|p| !p.is_empty()) {
            return tree.error(params, "sorts with parameters are not supported");
        }
        if matches!(name, "Bool" | "BitVec" | "Array") || self.symbols.sorts.contains_key(name) {
            return tree.error(symbol, format!("sort `{name}` is there already"));
        }
        let sort = self.sort(tree, sort)?;
        self.symbols.sorts.insert(name.to_owned(), sort);
        self.defined.push(Introduced::Sort(name.to_owned()));
        Ok(())
    }

    fn introduce_named(&mut self, tree: &Tree, named: Vec<(&str, Id, Term)>) -> Result<(), Error> {
        for (_, place, t) in named {
            let name = self.new_name(tree, place)?;
            self.introduce(name, Symbol::Term(t));
        }
        Ok(())
    }

    // ---- assertions ----

    fn assert(&mut self, tree: &Tree, id: Id) -> Result<(), Error> {
        let mut elaborator = Elaborator::new(&mut self.terms, &self.symbols, tree);
        let term = elaborator.formula(id)?;
        let named = elaborator.named.take().unwrap_or_default();
        // The outermost annotation is finished last; only it names the assertion.
        let outer = tree.list(id).and_then(|l| l.first()).is_some_and(|h| tree.word(*h) == Some("!"));
        let name = named.last().filter(|_| outer).map(|(n, _, _)| (*n).to_owned());
        let name = name.filter(|_| self.names_assertion(tree, id));
        self.introduce_named(tree, named)?;
        self.last = Last::None;
        if !(self.cores && name.is_some()) {
            self.solver.assert(&mut self.terms, term);
        }
        self.assertions.push(Assertion { name, term });
        Ok(())
    }

    /// Whether the outermost annotation has a name.
    fn names_assertion(&self, tree: &Tree, id: Id) -> bool {
        tree.list(id).is_some_and(|l| l.iter().skip(2).any(|a| tree.keyword(*a) == Some(":named")))
    }

    /// The named assertions, which are assumptions of each check if cores are wanted.
    fn tracked(&self) -> impl Iterator<Item = Term> + '_ {
        self.assertions.iter().filter(|a| self.cores && a.name.is_some()).map(|a| a.term)
    }

    fn push(&mut self, tree: &Tree, at: Id, n: u32) -> Result<(), Error> {
        if self.levels.len() + n as usize > MAX_LEVELS {
            return tree.error(at, format!("more than {MAX_LEVELS} open levels"));
        }
        for _ in 0..n {
            self.solver.push();
            self.levels.push(Level {
                assertions: self.assertions.len(),
                declared: self.declared.len(),
                defined: self.defined.len(),
            });
        }
        Ok(())
    }

    fn pop(&mut self, tree: &Tree, at: Id, n: u32) -> Result<(), Error> {
        if self.levels.len() < n as usize {
            return tree.error(at, format!("only {} levels are open", self.levels.len()));
        }
        for _ in 0..n {
            let level = self.levels.pop().expect("counted above");
            self.solver.pop();
            self.last = Last::None;
            self.assertions.truncate(level.assertions);
            self.forget(level.declared, level.defined);
        }
        Ok(())
    }

    /// Takes back declarations, unless they are global.
    fn forget(&mut self, declared: usize, defined: usize) {
        if self.global {
            return;
        }
        self.declared.truncate(declared);
        for introduced in self.defined.drain(defined..) {
            match introduced {
                Introduced::Symbol(name) => drop(self.symbols.table.remove(&name)),
                Introduced::Sort(name) => drop(self.symbols.sorts.remove(&name)),
            }
        }
    }

    fn reset_assertions(&mut self) {
        self.solver = (self.solvers)();
        self.assertions.clear();
        self.levels.clear();
        self.last = Last::None;
        self.forget(0, 0);
    }

    // ---- answers ----

    fn check(&mut self, tree: &Tree, literals: &[Id], out: &mut dyn Write) -> Result<(), Failure> {
        let mut elaborator = Elaborator::new(&mut self.terms, &self.symbols, tree);
        let mut given = Vec::with_capacity(literals.len());
        for literal in literals {
            given.push((tree.show(*literal), elaborator.formula(*literal)?));
        }
        let named = elaborator.named.take().unwrap_or_default();
        self.introduce_named(tree, named)?;
        let mut assumptions: Vec<Term> = self.tracked().collect();
        assumptions.extend(given.iter().map(|(_, t)| *t));
        self.assumptions = given;
        let (last, text) = match self.solver.check(&mut self.terms, &assumptions) {
            Answer::Sat => (Last::Sat, "sat"),
            Answer::Unsat => (Last::Unsat, "unsat"),
            Answer::Unknown(why) => (Last::Unknown(why.to_string()), "unknown"),
        };
        self.last = last;
        say(out, text)
    }

    fn need_sat(&self, tree: &Tree, id: Id) -> Result<(), Error> {
        match self.last {
            Last::Sat => Ok(()),
            _ => tree.error(id, "there is no model: the last command that matters was no `sat`"),
        }
    }

    fn need_unsat(&self, tree: &Tree, id: Id) -> Result<(), Error> {
        match self.last {
            Last::Unsat => Ok(()),
            _ => tree.error(id, "there is no core: the last command that matters was no `unsat`"),
        }
    }

    fn get_unsat_core(&self, tree: &Tree, id: Id, out: &mut dyn Write) -> Result<(), Failure> {
        if !self.cores {
            return Ok(tree.error(id, "cores need (set-option :produce-unsat-cores true)")?);
        }
        self.need_unsat(tree, id)?;
        let core = self.solver.unsat_core();
        let mut seen = FxHashSet::default();
        let names: Vec<String> = self
            .assertions
            .iter()
            .filter(|a| core.contains(&a.term))
            .filter_map(|a| a.name.as_ref().filter(|_| seen.insert(a.term)))
            .map(|name| print_symbol(name))
            .collect();
        say(out, &format!("({})", names.join(" ")))
    }

    fn get_value(&mut self, tree: &Tree, id: Id, list: Id, out: &mut dyn Write) -> Result<(), Failure> {
        let Some(items) = tree.list(list).filter(|l| !l.is_empty()) else {
            return Ok(tree.error(list, "a list of terms is needed here")?);
        };
        self.need_sat(tree, id)?;
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            let t = Elaborator::new(&mut self.terms, &self.symbols, tree).term(*item)?;
            let value = self.solver.value(&mut self.terms, t);
            let Some(value) = value else { return Ok(tree.error(*item, "the value is not known")?) };
            pairs.push(format!("({} {value})", tree.show(*item)));
        }
        say(out, &format!("({})", pairs.join("\n ")))
    }

    fn get_model(&mut self, tree: &Tree, id: Id, out: &mut dyn Write) -> Result<(), Failure> {
        self.need_sat(tree, id)?;
        let Some(model) = self.solver.model(&mut self.terms) else {
            return Ok(tree.error(id, "the model is not known")?);
        };
        say(out, "(")?;
        for name in &self.declared {
            let symbol = print_symbol(name);
            let line = match &self.symbols.table[name] {
                Symbol::Term(t) => {
                    let value = self.terms.evaluate(*t, &model);
                    print_definition(&symbol, &[], self.terms.sort(*t), &value.to_string())
                }
                Symbol::Func(f) => {
                    let decl = self.terms.decl(*f);
                    let params: Vec<(String, Sort)> =
                        decl.domain.iter().enumerate().map(|(i, s)| (format!("x!{i}"), *s)).collect();
                    let entries = model.func(*f).map_or(&[][..], |v| v.entries());
                    let body = print_entries(&params, entries, decl.range);
                    print_definition(&symbol, &params, decl.range, &body)
                }
                Symbol::Macro(_) => continue,
            };
            say(out, &format!("  {line}"))?;
        }
        say(out, ")")
    }
}

fn say(out: &mut dyn Write, line: &str) -> Result<(), Failure> {
    writeln!(out, "{line}").map_err(|_| Failure::Output)
}
