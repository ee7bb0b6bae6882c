//! From text to [`Automaton`]s.

use super::*;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Number(i128),
    Text(String),
    Mark(&'static str),
    End,
}

/// Longer marks first.
const MARKS: [&str; 23] = [
    "->", "||", "&&", "==", "!=", "<=", ">=", "::", "<", ">", "!", "+", "-", "*", "(", ")", "{", "}", ";",
    ",", "=", "|", "&",
];

/// Nesting of conditions beyond this is refused, so that no input exhausts the stack.
const MAX_DEPTH: u32 = 200;

fn tokens(text: &str) -> Result<Vec<(Token, At)>, SpcError> {
    let mut out = Vec::new();
    let (mut at, mut rest) = (At { line: 1, column: 1 }, text);
    let advance = |at: &mut At, s: &str| {
        for c in s.chars() {
            if c == '\n' {
                *at = At { line: at.line + 1, column: 1 };
            } else {
                at.column += 1;
            }
        }
    };
    while let Some(c) = rest.chars().next() {
        let start = at;
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("//") || c == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if c.is_ascii_digit() {
            let n = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
            let digits = &rest[..n];
            let value = match digits.strip_prefix("0x") {
                Some(hex) => i128::from_str_radix(hex, 16),
                None => digits.parse(),
            };
            let value = value.map_err(|_| SpcError::new(start, format!("`{digits}` is not a number")))?;
            out.push((Token::Number(value), start));
            n
        } else if word(c) {
            let n = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
            out.push((Token::Word(rest[..n].into()), start));
            n
        } else if c == '"' {
            let end = rest[1..].find(['"', '\n']).map(|i| i + 1);
            match end.filter(|&i| rest[i..].starts_with('"')) {
                Some(end) => {
                    out.push((Token::Text(rest[1..end].into()), start));
                    end + 1
                }
                None => return Err(SpcError::new(start, "the text does not end on its line")),
            }
        } else if let Some(mark) = MARKS.iter().find(|m| rest.starts_with(**m)) {
            out.push((Token::Mark(mark), start));
            mark.len()
        } else {
            return Err(SpcError::new(start, format!("unexpected character `{c}`")));
        };
        advance(&mut at, &rest[..length]);
        rest = &rest[length..];
    }
    out.push((Token::End, at));
    Ok(out)
}

/// Reads a specification: any number of automata.
pub fn parse(text: &str) -> Result<Vec<Automaton>, SpcError> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0, depth: 0 };
    let mut automata: Vec<Automaton> = Vec::new();
    while parser.peek() != &Token::End {
        let automaton = parser.automaton()?;
        if automata.iter().any(|a| a.name == automaton.name) {
            return Err(SpcError::new(automaton.at, format!("observer `{}` is there twice", automaton.name)));
        }
        automata.push(automaton);
    }
    if automata.is_empty() {
        return Err(SpcError::new(At { line: 1, column: 1 }, "expected `observer`"));
    }
    Ok(automata)
}

struct Parser {
    tokens: Vec<(Token, At)>,
    next: usize,
    depth: u32,
}

/// Where a rule leads, before all states are known.
enum Goal {
    State(String, At),
    Error(String, At),
}

struct DraftRule {
    rule: Rule,
    goal: Goal,
}

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.next].0
    }
    fn at(&self) -> At {
        self.tokens[self.next].1
    }
    fn bump(&mut self) -> Token {
        let token = self.peek().clone();
        // The end stays the last token.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }
    fn error<T>(&self, expected: &str) -> Result<T, SpcError> {
        let found = match self.peek() {
            Token::Word(w) => format!("`{w}`"),
            Token::Number(n) => format!("`{n}`"),
            Token::Text(t) => format!("\"{t}\""),
            Token::Mark(m) => format!("`{m}`"),
            Token::End => "the end of the text".into(),
        };
        Err(SpcError::new(self.at(), format!("expected {expected}, found {found}")))
    }
    fn eat(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if found {
            self.bump();
        }
        found
    }
    fn mark(&mut self, mark: &str) -> Result<(), SpcError> {
        if self.eat(mark) { Ok(()) } else { self.error(&format!("`{mark}`")) }
    }
    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        if found {
            self.bump();
        }
        found
    }
    fn word(&mut self, word: &str) -> Result<(), SpcError> {
        if self.eat_word(word) { Ok(()) } else { self.error(&format!("`{word}`")) }
    }
    fn name(&mut self, what: &str) -> Result<String, SpcError> {
        match self.peek() {
            Token::Word(_) => match self.bump() {
                Token::Word(w) => Ok(w),
                _ => self.error(what),
            },
            _ => self.error(what),
        }
    }
    /// `x` or `f::x`.
    fn qualified(&mut self, what: &str) -> Result<String, SpcError> {
        let mut name = self.name(what)?;
        if self.eat("::") {
            name = format!("{name}::{}", self.name("a variable")?);
        }
        Ok(name)
    }

    fn automaton(&mut self) -> Result<Automaton, SpcError> {
        let at = self.at();
        self.word("observer")?;
        let name = self.name("a name for the observer")?;
        self.mark("{")?;
        self.word("initial")?;
        let initial_at = self.at();
        let initial = self.name("the initial state")?;
        self.mark(";")?;
        let mut states: Vec<State> = Vec::new();
        let mut drafts: Vec<Vec<DraftRule>> = Vec::new();
        while !self.eat("}") {
            self.word("state")?;
            let at = self.at();
            let name = self.name("a name for the state")?;
            if states.iter().any(|s| s.name == name) {
                return Err(SpcError::new(at, format!("state `{name}` is there twice")));
            }
            self.mark("{")?;
            let mut rules = Vec::new();
            while !self.eat("}") {
                self.rule(&mut rules)?;
            }
            states.push(State { name, at, error: None, rules: Vec::new() });
            drafts.push(rules);
        }
        let declared = states.len();
        let find = |states: &[State], name: &str, at: At| {
            let found = states[..declared].iter().position(|s| s.name == name);
            found.ok_or_else(|| SpcError::new(at, format!("there is no state `{name}`")))
        };
        let initial = find(&states, &initial, initial_at)?;
        for (i, rules) in drafts.into_iter().enumerate() {
            for DraftRule { mut rule, goal } in rules {
                rule.to = match goal {
                    Goal::State(name, at) => find(&states, &name, at)?,
                    Goal::Error(message, at) => {
                        let known =
                            states[declared..].iter().position(|s| s.error.as_ref() == Some(&message));
                        known.map_or_else(
                            || {
                                let name = format!("error {}", states.len() - declared + 1);
                                states.push(State { name, at, error: Some(message), rules: Vec::new() });
                                states.len() - 1
                            },
                            |k| k + declared,
                        )
                    }
                };
                states[i].rules.push(rule);
            }
        }
        let automaton = Automaton { name, at, initial, states };
        automaton.check()?;
        Ok(automaton)
    }

    fn rule(&mut self, out: &mut Vec<DraftRule>) -> Result<(), SpcError> {
        let at = self.at();
        self.word("on")?;
        let event = self.event()?;
        let mut add = |condition, goal| {
            out.push(DraftRule { rule: Rule { at, event: event.clone(), condition, to: 0 }, goal });
        };
        if self.eat_word("split") {
            self.mark("(")?;
            let condition = self.condition(0)?;
            self.mark(",")?;
            let yes = self.goal()?;
            self.mark(",")?;
            let no = self.goal()?;
            self.mark(")")?;
            add(Some(condition.clone()), yes);
            add(Some(Cond::Not(Box::new(condition))), no);
        } else if self.eat_word("if") {
            self.mark("(")?;
            let condition = self.condition(0)?;
            self.mark(")")?;
            self.mark("->")?;
            add(Some(condition.clone()), self.goal()?);
            if self.eat_word("else") {
                self.mark("->")?;
                add(Some(Cond::Not(Box::new(condition))), self.goal()?);
            }
        } else {
            self.mark("->")?;
            add(None, self.goal()?);
        }
        self.mark(";")
    }

    fn event(&mut self) -> Result<Event, SpcError> {
        let kind = match self.peek() {
            Token::Word(w) => match w.as_str() {
                "call" => EventKind::Call,
                "return" => EventKind::Return,
                "assign" => EventKind::Assign,
                "label" => EventKind::Label,
                _ => return self.error("`call`, `return`, `assign` or `label`"),
            },
            _ => return self.error("`call`, `return`, `assign` or `label`"),
        };
        self.bump();
        let at = self.at();
        let name =
            if kind == EventKind::Assign { self.qualified("a variable")? } else { self.name("a name")? };
        Ok(Event { kind, name, at })
    }

    fn goal(&mut self) -> Result<Goal, SpcError> {
        let at = self.at();
        if !self.eat_word("error") {
            return Ok(Goal::State(self.name("a state or `error`")?, at));
        }
        match self.peek().clone() {
            Token::Text(message) => {
                self.bump();
                Ok(Goal::Error(message, at))
            }
            _ => self.error("the message of the error in quotes"),
        }
    }

    /// Operator precedence climbing; levels as in C.
    fn condition(&mut self, level: u32) -> Result<Cond, SpcError> {
        const LEVELS: [&[(&str, Operator)]; 6] = [
            &[("||", Operator::Or)],
            &[("&&", Operator::And)],
            &[("==", Operator::Eq), ("!=", Operator::Ne)],
            &[("<=", Operator::Le), (">=", Operator::Ge), ("<", Operator::Lt), (">", Operator::Gt)],
            &[("+", Operator::Add), ("-", Operator::Sub)],
            &[("*", Operator::Mul)],
        ];
        let Some(operators) = LEVELS.get(level as usize) else { return self.unary() };
        let mut left = self.condition(level + 1)?;
        let mut chain = 0;
        while let Some((_, op)) = operators.iter().find(|(m, _)| self.peek() == &Token::Mark(m)) {
            chain += 1;
            if chain > MAX_DEPTH {
                return Err(SpcError::new(self.at(), "the condition is too long"));
            }
            self.bump();
            let right = self.condition(level + 1)?;
            left = Cond::Binary(*op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Cond, SpcError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SpcError::new(self.at(), "the condition is nested too deep"));
        }
        let at = self.at();
        let result = match self.peek().clone() {
            Token::Mark("!") => {
                self.bump();
                Cond::Not(Box::new(self.unary()?))
            }
            Token::Mark("-") => {
                self.bump();
                Cond::Neg(Box::new(self.unary()?))
            }
            Token::Mark("(") => {
                self.bump();
                let inner = self.condition(0)?;
                self.mark(")")?;
                inner
            }
            Token::Number(n) => {
                self.bump();
                Cond::Number(n)
            }
            Token::Word(_) => Cond::Name(self.qualified("a variable")?, at),
            _ => return self.error("a condition"),
        };
        self.depth -= 1;
        Ok(result)
    }
}
