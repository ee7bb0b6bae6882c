//! SMT-LIB scripts in linear real arithmetic, read as formulas with half-spaces as literals.
//!
//! Reading never recurses on the nesting of the text. The answer to `check-sat` is `unsat` or `unknown`.

use crate::assume::{Assume, Config};
use crate::formula::Formula;
use crate::integrity::{Integrity, Lit};
use palisade_domains::{
    Dim, Dynamic, Lattice, Limits, LinCons, LinExpr, NumericDomain, Rel, SparsePolyhedra,
};
use palisade_logic::smtlib::sexpr::{Error, Id, Kind, Reader, Tree};
use palisade_num::Rat;
use rustc_hash::FxHashMap;
use std::io::Write;

/// What an expression means.
#[derive(Clone, Debug)]
enum Meaning {
    Truth(Lit),
    Number(LinExpr),
}

/// A script being run.
struct Script {
    formula: Formula,
    /// Meanings of names, inner bindings last.
    names: FxHashMap<String, Vec<Meaning>>,
    dims: u32,
    asserted: Vec<Lit>,
    /// What defines the values of if-then-else terms.
    definitions: Vec<Lit>,
    levels: Vec<usize>,
}

/// A step of reading an expression.
enum Step {
    Read(Id),
    /// Apply the operator of the list to the meanings of its arguments.
    Apply(Id),
    /// Bind the names of a `let` to their meanings, then read its body.
    Bind(Id),
    Unbind(Id),
}

/// Runs a script and writes the answers.
pub fn run(text: &[u8], out: &mut dyn Write, config: &Config) -> Result<(), Error> {
    let mut script = Script {
        formula: Formula::new(),
        names: FxHashMap::default(),
        dims: 0,
        asserted: Vec::new(),
        definitions: Vec::new(),
        levels: Vec::new(),
    };
    let mut reader = Reader::new(text);
    let mut tree = Tree::new(text);
    while let Some(id) = reader.next(&mut tree)? {
        let Some((head, args)) = tree.list(id).and_then(<[Id]>::split_first) else {
            return tree.error(id, "a command is needed here");
        };
        match (tree.word(*head).unwrap_or(""), args) {
            ("set-logic" | "set-info" | "set-option", _) => {}
            ("declare-fun", [name, domain, sort]) if tree.list(*domain).is_some_and(<[Id]>::is_empty) => {
                script.declare(&tree, *name, *sort)?;
            }
            ("declare-const", [name, sort]) => script.declare(&tree, *name, *sort)?,
            ("define-fun", [name, params, _, body]) if tree.list(*params).is_some_and(<[Id]>::is_empty) => {
                script.define(&tree, *name, *body)?;
            }
            ("define-const", [name, _, body]) => script.define(&tree, *name, *body)?,
            ("assert", [body]) => match script.read(&tree, *body)? {
                Meaning::Truth(l) => script.asserted.push(l),
                Meaning::Number(_) => return tree.error(*body, "a truth value is needed here"),
            },
            ("push" | "pop", [n]) if tree.numeral(*n).is_some_and(|n| n < 1 << 16) => {
                for _ in 0..tree.numeral(*n).unwrap_or(0) {
                    script.level(tree.word(*head) == Some("push"));
                }
            }
            ("push", []) => script.level(true),
            ("pop", []) => script.level(false),
            ("check-sat", []) => {
                let answer = if script.refuted(config) { "unsat" } else { "unknown" };
                // A closed pipe is no error of the script.
                let _ = writeln!(out, "{answer}");
            }
            ("exit", []) => break,
            _ => return tree.error(id, "this command is not supported in linear real arithmetic"),
        }
    }
    let _ = out.flush();
    Ok(())
}

impl Script {
    fn level(&mut self, push: bool) {
        if push {
            self.levels.push(self.asserted.len());
        } else if let Some(n) = self.levels.pop() {
            self.asserted.truncate(n);
        }
    }

    fn bind(&mut self, tree: &Tree<'_>, name: Id, meaning: Meaning) -> Result<(), Error> {
        match tree.symbol(name) {
            Some(text) => self.names.entry(text.to_owned()).or_default().push(meaning),
            None => return tree.error(name, "a name is needed here"),
        }
        Ok(())
    }

    fn real(&mut self) -> LinExpr {
        self.dims += 1;
        LinExpr::dim(Dim::rat(self.dims - 1))
    }

    fn declare(&mut self, tree: &Tree<'_>, name: Id, sort: Id) -> Result<(), Error> {
        let meaning = match tree.word(sort) {
            Some("Real") => Meaning::Number(self.real()),
            Some("Bool") => Meaning::Truth(self.formula.free()),
            _ => return tree.error(sort, "the sort is neither Real nor Bool"),
        };
        self.bind(tree, name, meaning)
    }

    fn define(&mut self, tree: &Tree<'_>, name: Id, body: Id) -> Result<(), Error> {
        let meaning = self.read(tree, body)?;
        self.bind(tree, name, meaning)
    }

    fn refuted(&mut self, config: &Config) -> bool {
        let mut formula = self.formula.clone();
        let all: Vec<Lit> = self.asserted.iter().chain(&self.definitions).copied().collect();
        formula.root = Some(formula.integrity.and(all));
        let top = Dynamic::of(SparsePolyhedra::top(&Limits::STANDARD));
        Assume::new(&formula, config.clone()).run(top).is_bottom()
    }

    /// The bindings of a `let`: pairs of a name and an expression.
    fn bindings(tree: &Tree<'_>, id: Id) -> Result<Vec<(Id, Id)>, Error> {
        let Some([_, list, _]) = tree.list(id) else {
            return tree.error(id, "a let has bindings and a body");
        };
        let Some(list) = tree.list(*list) else {
            return tree.error(*list, "a list of bindings is needed here");
        };
        let pair = |b: &Id| match tree.list(*b) {
            Some([name, value]) => Ok((*name, *value)),
            _ => tree.error(*b, "a binding is a name and an expression"),
        };
        list.iter().map(pair).collect()
    }

    fn read(&mut self, tree: &Tree<'_>, root: Id) -> Result<Meaning, Error> {
        let mut steps = vec![Step::Read(root)];
        let mut values: Vec<Meaning> = Vec::new();
        while let Some(step) = steps.pop() {
            match step {
                Step::Read(id) => match tree.list(id) {
                    None => values.push(self.atom(tree, id)?),
                    Some([]) => return tree.error(id, "an expression is needed here"),
                    Some([head, rest @ ..]) => match (tree.word(*head), rest) {
                        (Some("let"), _) => {
                            steps.push(Step::Bind(id));
                            steps.extend(Self::bindings(tree, id)?.iter().rev().map(|b| Step::Read(b.1)));
                        }
                        (Some("!"), [body, ..]) => steps.push(Step::Read(*body)),
                        _ => {
                            steps.push(Step::Apply(id));
                            steps.extend(rest.iter().rev().map(|a| Step::Read(*a)));
                        }
                    },
                },
                Step::Bind(id) => {
                    let bindings = Self::bindings(tree, id)?;
                    let meanings = values.split_off(values.len() - bindings.len());
                    for ((name, _), meaning) in bindings.iter().zip(meanings) {
                        self.bind(tree, *name, meaning)?;
                    }
                    steps.push(Step::Unbind(id));
                    let body = tree.list(id).and_then(|l| l.last().copied());
                    steps.extend(body.map(Step::Read));
                }
                Step::Unbind(id) => {
                    for (name, _) in Self::bindings(tree, id)? {
                        if let Some(list) = tree.symbol(name).and_then(|n| self.names.get_mut(n)) {
                            list.pop();
                        }
                    }
                }
                Step::Apply(id) => {
                    let Some([head, rest @ ..]) = tree.list(id) else { continue };
                    let args = values.split_off(values.len() - rest.len());
                    let meaning = self.apply(tree, id, *head, args)?;
                    values.push(meaning);
                }
            }
        }
        match values.pop() {
            Some(meaning) => Ok(meaning),
            None => tree.error(root, "an expression is needed here"),
        }
    }

    fn atom(&mut self, tree: &Tree<'_>, id: Id) -> Result<Meaning, Error> {
        match tree.kind(id) {
            Kind::Numeral | Kind::Decimal => match decimal(tree.digits(id)) {
                Some(n) => Ok(Meaning::Number(LinExpr::constant(n))),
                None => tree.error(id, "the number cannot be read"),
            },
            _ => {
                let Some(name) = tree.symbol(id) else {
                    return tree.error(id, "an expression is needed here");
                };
                match (self.names.get(name).and_then(|l| l.last()), name) {
                    (Some(meaning), _) => Ok(meaning.clone()),
                    (None, "true") => Ok(Meaning::Truth(Integrity::constant(true))),
                    (None, "false") => Ok(Meaning::Truth(Integrity::constant(false))),
                    _ => tree.error(id, format!("`{name}` is not declared")),
                }
            }
        }
    }

    fn apply(&mut self, tree: &Tree<'_>, id: Id, head: Id, args: Vec<Meaning>) -> Result<Meaning, Error> {
        let Some(op) = tree.word(head) else { return tree.error(head, "an operator is needed here") };
        if let [Meaning::Truth(c), a, b] = args.as_slice()
            && op == "ite"
        {
            return match (a, b) {
                (Meaning::Truth(a), Meaning::Truth(b)) => {
                    Ok(Meaning::Truth(self.formula.integrity.ite(*c, *a, *b)))
                }
                (Meaning::Number(a), Meaning::Number(b)) => {
                    // As in Example 1: a new value that equals one or the other.
                    let value = self.real();
                    let then = self.equal(&value, a);
                    let other = self.equal(&value, b);
                    let definition = self.formula.integrity.ite(*c, then, other);
                    self.definitions.push(definition);
                    Ok(Meaning::Number(value))
                }
                _ => tree.error(id, "the branches have different sorts"),
            };
        }
        let truths: Option<Vec<Lit>> =
            args.iter().map(|a| if let Meaning::Truth(l) = a { Some(*l) } else { None }).collect();
        let numbers: Option<Vec<LinExpr>> =
            args.iter().map(|a| if let Meaning::Number(e) = a { Some(e.clone()) } else { None }).collect();
        match (truths, numbers) {
            (Some(t), _) if !t.is_empty() => self.connective(tree, id, op, &t).map(Meaning::Truth),
            (_, Some(n)) if !n.is_empty() => self.arithmetic(tree, id, op, &n),
            _ => tree.error(id, format!("`{op}` cannot be applied to these operands")),
        }
    }

    fn equal(&mut self, a: &LinExpr, b: &LinExpr) -> Lit {
        self.formula.linear(&LinCons { expr: a - b, rel: Rel::Eq })
    }

    fn connective(&mut self, tree: &Tree<'_>, id: Id, op: &str, of: &[Lit]) -> Result<Lit, Error> {
        let i = &mut self.formula.integrity;
        Ok(match (op, of) {
            ("not", [a]) => !*a,
            ("and", _) => i.and(of.iter().copied()),
            ("or", _) => i.or(of.iter().copied()),
            ("=>", [premises @ .., last]) => {
                let all = premises.iter().map(|l| !*l).chain([*last]);
                i.or(all)
            }
            ("xor", [first, rest @ ..]) => rest.iter().fold(*first, |x, y| !i.iff(x, *y)),
            ("=", _) if of.len() > 1 => {
                let pairs: Vec<Lit> = of.windows(2).map(|w| i.iff(w[0], w[1])).collect();
                i.and(pairs)
            }
            ("distinct", [a, b]) => !i.iff(*a, *b),
            ("distinct", [_, _, _, ..]) => Integrity::constant(false),
            _ => return tree.error(id, format!("`{op}` cannot be applied to truth values")),
        })
    }

    fn arithmetic(&mut self, tree: &Tree<'_>, id: Id, op: &str, of: &[LinExpr]) -> Result<Meaning, Error> {
        let value = match (op, of) {
            ("+", _) => Some(of.iter().fold(LinExpr::constant(0), |sum, e| &sum + e)),
            ("-", [e]) => Some(-e),
            ("-", [first, rest @ ..]) => Some(rest.iter().fold(first.clone(), |sum, e| &sum - e)),
            ("*", _) => {
                let mut product = LinExpr::constant(1);
                for e in of {
                    product = match (product.is_constant(), e.is_constant()) {
                        (true, _) => e.scale(product.constant_term()),
                        (_, true) => product.scale(e.constant_term()),
                        _ => return tree.error(id, "the product is not linear"),
                    };
                }
                Some(product)
            }
            ("/", [first, rest @ ..]) => {
                let mut quotient = first.clone();
                for e in rest {
                    if !e.is_constant() || e.constant_term().is_zero() {
                        return tree.error(id, "the quotient is not linear");
                    }
                    quotient = quotient.scale(&e.constant_term().recip());
                }
                Some(quotient)
            }
            _ => None,
        };
        if let Some(value) = value {
            return Ok(Meaning::Number(value));
        }
        let mut pairs: Vec<(&LinExpr, &LinExpr)> = of.windows(2).map(|w| (&w[0], &w[1])).collect();
        if op == "distinct" {
            pairs = (0..of.len()).flat_map(|i| (0..i).map(move |j| (&of[j], &of[i]))).collect();
        }
        let mut all = Vec::new();
        for (a, b) in pairs {
            let (expr, rel) = match op {
                "<=" => (a - b, Rel::Le),
                "<" => (a - b, Rel::Lt),
                ">=" => (b - a, Rel::Le),
                ">" => (b - a, Rel::Lt),
                "=" => (a - b, Rel::Eq),
                "distinct" => (a - b, Rel::Ne),
                _ => return tree.error(id, format!("`{op}` is not an operator of linear arithmetic")),
            };
            all.push(self.formula.linear(&LinCons { expr, rel }));
        }
        Ok(Meaning::Truth(self.formula.integrity.and(all)))
    }
}

/// `12` or `1.25`.
fn decimal(text: &str) -> Option<Rat> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits: palisade_num::Int = format!("{whole}{part}").parse().ok()?;
    let mut scale = palisade_num::Int::ONE;
    for _ in 0..part.len() {
        scale *= palisade_num::Int::from(10);
    }
    Some(Rat::new(digits, scale))
}
