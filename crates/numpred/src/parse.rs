//! Text of transformers and abstract programs, as in Figure 2(b).
//!
//! ```text
//! vars x, y;                          // V_N
//! preds p, q = (x > 0);               // V_P, with the meaning of those that have one
//! assume(x = y & !p);
//! { x := y + 1 & p := choice(x > 3, false); skip } | assume(!q);
//! (p ? x := 2*y & y := *) & q := choice(false, false);
//! while (x < 10) { x := x + 1; }
//! if (*) { skip; } else { x := 0; }
//! assert(0 <= x <= 10);
//! ```
//!
//! `∧ ∨ ¬`, `&& ||` and `==` are accepted for `& | !` and `=`.

use crate::expr::{Expr, Pred};
use crate::program::{Program, Stmt};
use crate::space::{Predicate, Variable, Vocabulary};
use crate::transformer::{Choice, NumExpr, NumStmt, Transformer};
use palisade_domains::{Dim, Interval, LinCons, LinExpr};
use palisade_num::{Int, Rat};
use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Parses a program.
pub fn program(text: &str) -> Result<Program, ParseError> {
    let mut p = Parser::new(text, Vocabulary::default())?;
    p.declarations()?;
    let body = p.statements(0)?;
    p.end()?;
    Ok(Program { names: p.names, body })
}

/// Parses a transformer over a vocabulary.
pub fn transformer(text: &str, names: &Vocabulary) -> Result<Transformer, ParseError> {
    let mut p = Parser::new(text, names.clone())?;
    let tau = p.sequence(0)?;
    p.end()?;
    Ok(tau)
}

/// Parses an expression over a vocabulary.
pub fn expr(text: &str, names: &Vocabulary) -> Result<Expr, ParseError> {
    let mut p = Parser::new(text, names.clone())?;
    let e = p.expr(0)?;
    p.end()?;
    Ok(e)
}

/// How deep texts may nest.
const MAX_DEPTH: usize = 100;

#[derive(Clone, PartialEq, Debug)]
enum Token {
    Name(String),
    Number(Int),
    Sign(&'static str),
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    names: Vocabulary,
}

/// Signs with what they are read as; longer ones first.
const SIGNS: [(&str, &str); 28] = [
    (":=", ":="),
    ("<=", "<="),
    (">=", ">="),
    ("!=", "!="),
    ("==", "="),
    ("&&", "&"),
    ("||", "|"),
    ("∧", "&"),
    ("∨", "|"),
    ("¬", "!"),
    ("≤", "<="),
    ("≥", ">="),
    ("≠", "!="),
    ("<", "<"),
    (">", ">"),
    ("=", "="),
    ("&", "&"),
    ("|", "|"),
    ("!", "!"),
    ("(", "("),
    (")", ")"),
    ("{", "{"),
    ("}", "}"),
    (";", ";"),
    (",", ","),
    ("?", "?"),
    ("+", "+"),
    ("-", "-"),
];

impl Parser {
    fn new(text: &str, names: Vocabulary) -> Result<Parser, ParseError> {
        let mut tokens = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let mut rest = line.split("//").next().unwrap_or("");
            loop {
                rest = rest.trim_start();
                let Some(c) = rest.chars().next() else { break };
                let word = |f: fn(char) -> bool| rest.find(|c| !f(c)).unwrap_or(rest.len());
                let (token, len) = if c.is_ascii_digit() {
                    let len = word(|c| c.is_ascii_digit());
                    let message = || ParseError { line: i + 1, message: "a number".into() };
                    (Token::Number(rest[..len].parse().map_err(|_| message())?), len)
                } else if c.is_alphabetic() || c == '_' {
                    let len = word(|c| c.is_alphanumeric() || c == '_');
                    (Token::Name(rest[..len].into()), len)
                } else if c == '*' || c == '\'' {
                    (Token::Sign(if c == '*' { "*" } else { "'" }), 1)
                } else if let Some((sign, read)) = SIGNS.iter().find(|(s, _)| rest.starts_with(s)) {
                    (Token::Sign(read), sign.len())
                } else {
                    return Err(ParseError { line: i + 1, message: format!("unexpected {c:?}") });
                };
                tokens.push((token, i + 1));
                rest = &rest[len..];
            }
        }
        Ok(Parser { tokens, at: 0, names })
    }

    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let line = self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |t| t.1);
        Err(ParseError { line, message: message.into() })
    }

    fn deeper(&self, depth: usize) -> Result<usize, ParseError> {
        if depth >= MAX_DEPTH { self.fail("nested too deeply") } else { Ok(depth + 1) }
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Sign(s), _)) if *s == sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.sign(sign) { Ok(()) } else { self.fail(format!("expected {sign:?}")) }
    }

    fn word(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Name(n), _)) if n == word);
        self.at += usize::from(found);
        found
    }

    fn name(&mut self) -> Result<String, ParseError> {
        match self.tokens.get(self.at) {
            Some((Token::Name(n), _)) => {
                self.at += 1;
                Ok(n.clone())
            }
            _ => self.fail("expected a name"),
        }
    }

    fn end(&self) -> Result<(), ParseError> {
        if self.at < self.tokens.len() { self.fail("unexpected text") } else { Ok(()) }
    }

    fn declarations(&mut self) -> Result<(), ParseError> {
        loop {
            if self.word("vars") {
                loop {
                    let name = self.name()?;
                    let dim = Dim::int(self.names.variables.len() as u32);
                    self.names.variables.push(Variable { dim, name, range: None });
                    if !self.sign(",") {
                        break;
                    }
                }
            } else if self.word("preds") {
                loop {
                    let name = self.name()?;
                    let meaning = if self.sign("=") {
                        self.expect("(")?;
                        let Expr::Num(c) = self.comparison()?.nnf() else {
                            return self.fail("expected a numeric term");
                        };
                        self.expect(")")?;
                        Some(c)
                    } else {
                        None
                    };
                    self.names.predicates.push(Predicate { name, meaning });
                    if !self.sign(",") {
                        break;
                    }
                }
            } else {
                return Ok(());
            }
            self.expect(";")?;
        }
    }

    fn statements(&mut self, depth: usize) -> Result<Vec<Stmt>, ParseError> {
        let mut all = Vec::new();
        let closed = |p: &Parser| matches!(p.tokens.get(p.at), None | Some((Token::Sign("}"), _)));
        while !closed(self) {
            all.push(self.statement(depth)?);
        }
        Ok(all)
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Stmt>, ParseError> {
        self.expect("{")?;
        let all = self.statements(self.deeper(depth)?)?;
        self.expect("}")?;
        Ok(all)
    }

    fn condition(&mut self) -> Result<Option<Expr>, ParseError> {
        self.expect("(")?;
        let e = if self.sign("*") { None } else { Some(self.expr(0)?) };
        self.expect(")")?;
        Ok(e)
    }

    fn statement(&mut self, depth: usize) -> Result<Stmt, ParseError> {
        if self.word("while") {
            return Ok(Stmt::While(self.condition()?, self.block(depth)?));
        }
        if self.word("if") {
            let (cond, then) = (self.condition()?, self.block(depth)?);
            let otherwise = if !self.word("else") {
                Vec::new()
            } else if matches!(self.tokens.get(self.at), Some((Token::Name(n), _)) if n == "if") {
                vec![self.statement(self.deeper(depth)?)?]
            } else {
                self.block(depth)?
            };
            return Ok(Stmt::If(cond, then, otherwise));
        }
        let stmt = if self.word("assert") {
            self.expect("(")?;
            let e = self.expr(0)?;
            self.expect(")")?;
            Stmt::Assert(e)
        } else {
            Stmt::Apply(self.alternatives(depth)?)
        };
        self.expect(";")?;
        Ok(stmt)
    }

    fn sequence(&mut self, depth: usize) -> Result<Transformer, ParseError> {
        let mut parts = vec![self.alternatives(depth)?];
        while self.sign(";") {
            parts.push(self.alternatives(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Transformer::Seq(parts) })
    }

    fn alternatives(&mut self, depth: usize) -> Result<Transformer, ParseError> {
        let mut parts = vec![self.base(depth)?];
        while self.sign("|") {
            parts.push(self.base(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Transformer::Or(parts) })
    }

    fn base(&mut self, depth: usize) -> Result<Transformer, ParseError> {
        if self.sign("{") {
            let inner = self.sequence(self.deeper(depth)?)?;
            self.expect("}")?;
            return Ok(inner);
        }
        if self.word("skip") {
            return Ok(Transformer::skip());
        }
        if self.word("assume") {
            self.expect("(")?;
            let e = self.expr(0)?;
            self.expect(")")?;
            return Ok(Transformer::Assume(e));
        }
        let (mut guard, mut numeric, mut choices) = (None, Vec::new(), Vec::new());
        loop {
            if self.sign("(") {
                if guard.is_some() {
                    return self.fail("a second condition");
                }
                guard = Some(self.expr(0)?);
                self.expect("?")?;
                self.assignments(&mut numeric, &mut choices)?;
                self.expect(")")?;
            } else {
                self.assignment(&mut numeric, &mut choices)?;
            }
            if !self.sign("&") {
                break;
            }
        }
        let distinct = |dims: Vec<u32>| {
            let mut sorted = dims.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == dims.len()
        };
        if !distinct(numeric.iter().map(|a: &(Dim, NumExpr)| a.0.index()).collect())
            || !distinct(choices.iter().map(|c: &Choice| c.pred.0).collect())
        {
            return self.fail("assigned twice");
        }
        let s = NumStmt::Assign(numeric.clone());
        Ok(match (guard, numeric.is_empty(), choices.is_empty()) {
            (None, false, true) => Transformer::Num(s),
            (Some(e), false, true) => Transformer::Cond(e, s),
            (None, true, _) => Transformer::Pred(choices),
            (guard, ..) => Transformer::Both(guard.unwrap_or(Expr::TRUE), s, choices),
        })
    }

    fn assignments(
        &mut self,
        numeric: &mut Vec<(Dim, NumExpr)>,
        choices: &mut Vec<Choice>,
    ) -> Result<(), ParseError> {
        loop {
            self.assignment(numeric, choices)?;
            if !self.sign("&") {
                return Ok(());
            }
        }
    }

    fn assignment(
        &mut self,
        numeric: &mut Vec<(Dim, NumExpr)>,
        choices: &mut Vec<Choice>,
    ) -> Result<(), ParseError> {
        let name = self.name()?;
        self.expect(":=")?;
        if self.word("choice") {
            let Some(pred) = self.pred(&name) else { return self.fail("expected a predicate") };
            self.expect("(")?;
            let t = self.expr(0)?;
            self.expect(",")?;
            let f = self.expr(0)?;
            self.expect(")")?;
            choices.push(Choice { pred, t, f });
            return Ok(());
        }
        let Some(dim) = self.dim(&name) else { return self.fail("expected a variable") };
        let e = if self.sign("*") { NumExpr::Any(Interval::TOP) } else { NumExpr::Linear(self.linear()?) };
        numeric.push((dim, e));
        Ok(())
    }

    fn pred(&self, name: &str) -> Option<Pred> {
        let found = self.names.predicates.iter().position(|p| p.name == name)?;
        Some(Pred(found as u32))
    }

    fn dim(&self, name: &str) -> Option<Dim> {
        self.names.variables.iter().find(|v| v.name == name).map(|v| v.dim)
    }

    fn expr(&mut self, depth: usize) -> Result<Expr, ParseError> {
        let mut parts = vec![self.conjunction(depth)?];
        while self.sign("|") {
            parts.push(self.conjunction(depth)?);
        }
        Ok(Expr::or(parts))
    }

    fn conjunction(&mut self, depth: usize) -> Result<Expr, ParseError> {
        let mut parts = vec![self.factor(depth)?];
        while self.sign("&") {
            parts.push(self.factor(depth)?);
        }
        Ok(Expr::and(parts))
    }

    fn factor(&mut self, depth: usize) -> Result<Expr, ParseError> {
        if self.sign("!") {
            let e = self.factor(self.deeper(depth)?)?;
            return Ok(Expr::Not(Box::new(e)));
        }
        if self.sign("(") {
            let e = self.expr(self.deeper(depth)?)?;
            self.expect(")")?;
            return Ok(e);
        }
        for (word, value) in [("true", true), ("false", false)] {
            if self.word(word) {
                return Ok(Expr::Const(value));
            }
        }
        if let Some((Token::Name(name), _)) = self.tokens.get(self.at)
            && let Some(p) = self.pred(&name.clone())
        {
            self.at += 1;
            let primed = self.sign("'");
            return Ok(Expr::Pred(p, primed));
        }
        self.comparison()
    }

    /// `a ≤ b`, or several in a row.
    fn comparison(&mut self) -> Result<Expr, ParseError> {
        let mut left = self.linear()?;
        let mut parts = Vec::new();
        loop {
            type Make = fn(LinExpr, LinExpr) -> LinCons;
            let makes: [(&str, Make); 6] = [
                ("<=", |a, b| LinCons::le(a, b)),
                (">=", |a, b| LinCons::ge(a, b)),
                ("<", |a, b| LinCons::lt(a, b)),
                (">", |a, b| LinCons::gt(a, b)),
                ("=", |a, b| LinCons::eq(a, b)),
                ("!=", |a, b| LinCons::ne(a, b)),
            ];
            let Some((_, make)) = makes.into_iter().find(|(sign, _)| self.sign(sign)) else { break };
            let right = self.linear()?;
            parts.push(Expr::Num(make(left, right.clone())));
            left = right;
        }
        if parts.is_empty() { self.fail("expected a comparison") } else { Ok(Expr::and(parts)) }
    }

    fn linear(&mut self) -> Result<LinExpr, ParseError> {
        let mut sum = LinExpr::constant(0);
        let mut sign = if self.sign("-") { -Rat::ONE } else { Rat::ONE };
        loop {
            let term = match self.tokens.get(self.at) {
                Some((Token::Number(n), _)) => {
                    let n = Rat::from(n.clone());
                    self.at += 1;
                    if self.sign("*") {
                        let name = self.name()?;
                        let Some(d) = self.dim(&name) else { return self.fail("expected a variable") };
                        LinExpr::dim(d).scale(&n)
                    } else {
                        LinExpr::constant(n)
                    }
                }
                Some((Token::Name(name), _)) => {
                    let Some(d) = self.dim(&name.clone()) else {
                        return self.fail(format!("unknown name {name}"));
                    };
                    self.at += 1;
                    LinExpr::dim(d)
                }
                _ => return self.fail("expected a linear expression"),
            };
            sum = sum.add_scaled(&term, &sign);
            sign = if self.sign("+") {
                Rat::ONE
            } else if self.sign("-") {
                -Rat::ONE
            } else {
                return Ok(sum);
            };
        }
    }
}
