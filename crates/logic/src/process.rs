//! A back end that drives an SMT-LIB solver as a child process.
//!
//! Everything is sent at the next check, and the assertions are kept here, so a solver that was
//! stopped or died is started again for the next question. A model that the solver tells is
//! evaluated before it is handed on.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::eval::Evaluator;
use crate::smtlib::print::Writer;
use crate::smtlib::{Dialect, parse_symbols, parse_values, print_symbol};
use crate::solver::{Answer, Limits, Solver, Unknown};
use crate::term::{Func, Term, Terms};
use crate::value::{Model, Value};

/// How often a waiting check looks at its budget.
const POLL: Duration = Duration::from_millis(10);

/// How many values are asked for at once.
const BATCH: usize = 256;

/// A program that reads SMT-LIB 2 from its standard input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The file, or a name to look for on the `PATH`.
    pub path: String,
    /// The arguments that make it incremental and read its input.
    pub args: Vec<String>,
}

impl Program {
    /// The names that [`Program::named`] knows.
    pub const NAMES: &[&str] = &["z3", "cvc5", "bitwuzla", "yices"];

    /// A known solver.
    pub fn named(name: &str) -> Option<Program> {
        let (path, args): (&str, &[&str]) = match name {
            "z3" => ("z3", &["-in", "-smt2"]),
            "cvc5" => ("cvc5", &["--incremental", "--lang=smt2"]),
            "bitwuzla" => ("bitwuzla", &["--lang", "smt2"]),
            "yices" => ("yices-smt2", &["--incremental"]),
            _ => return None,
        };
        Some(Program { path: path.to_owned(), args: args.iter().map(|a| (*a).to_owned()).collect() })
    }
}

/// A solver in a child process. Conflict and memory limits are the program's own affair; the
/// budget is obeyed by ending the process.
pub struct ProcessSolver {
    program: Program,
    limits: Limits,
    /// The assertions by level; there is always one level.
    levels: Vec<Vec<Term>>,
    session: Option<Session>,
    outcome: Outcome,
}

enum Outcome {
    None,
    /// The assumptions of the check, and the model once it was asked for.
    Sat(Vec<Term>, Option<Option<Model>>),
    Unsat(Vec<Term>),
}

/// A running process and what it has been told.
struct Session {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Vec<u8>>,
    writer: Writer,
    /// How many assertions of each level were sent.
    sent: Vec<usize>,
    /// Boolean constants that stand for assumptions, with the levels that declared them.
    literals: FxHashMap<Term, String>,
    literal_levels: Vec<Vec<Term>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        // The process may be gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ProcessSolver {
    /// A solver without assertions. The program is started at the first check; if that fails, the
    /// check says so.
    pub fn new(program: Program) -> Self {
        ProcessSolver {
            program,
            limits: Limits::default(),
            levels: vec![Vec::new()],
            session: None,
            outcome: Outcome::None,
        }
    }

    fn start(&self) -> Result<Session, Unknown> {
        let Program { path, args } = &self.program;
        let mut child = Command::new(path)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| Unknown::Failed(format!("cannot start `{path}`: {e}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Unknown::Failed(format!("cannot talk to `{path}`")));
        };
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let mut splitter = Splitter::default();
            let mut output = output;
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = output.read(&mut buffer) {
                for byte in &buffer[..n] {
                    if let Some(answer) = splitter.feed(*byte)
                        && send.send(answer).is_err()
                    {
                        return;
                    }
                }
            }
        });
        let mut session = Session {
            child,
            input,
            answers,
            writer: Writer::new(Dialect::V26),
            sent: vec![0],
            literals: FxHashMap::default(),
            literal_levels: vec![Vec::new()],
        };
        let prelude = "(set-option :print-success false)\n(set-option :produce-models true)\n\
                       (set-option :produce-unsat-assumptions true)\n(set-logic QF_AUFBV)\n";
        session.send(prelude, path)?;
        Ok(session)
    }

    /// Asks one check, in a session that is kept only if all goes well.
    fn ask(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Result<Outcome, Unknown> {
        self.limits.budget.check().map_err(Unknown::Stopped)?;
        let mut session = match self.session.take() {
            Some(session) => session,
            None => self.start()?,
        };
        let path = self.program.path.as_str();
        let mut text = String::new();
        session.align(&self.levels, terms, &mut text);
        let names: Vec<String> = assumptions.iter().map(|t| session.literal(terms, *t, &mut text)).collect();
        if names.is_empty() {
            text.push_str("(check-sat)\n");
        } else {
            let _ = writeln!(text, "(check-sat-assuming ({}))", names.join(" "));
        }
        session.send(&text, path)?;
        let answer = session.receive(path, &self.limits)?;
        let outcome = match answer.as_slice() {
            b"sat" => Outcome::Sat(assumptions.to_vec(), None),
            b"unsat" if names.is_empty() => Outcome::Unsat(Vec::new()),
            b"unsat" => {
                session.send("(get-unsat-assumptions)\n", path)?;
                let answer = session.receive(path, &self.limits)?;
                let Some(core) = parse_symbols(&answer) else { return Err(nonsense(path, &answer)) };
                let core: FxHashSet<String> = core.iter().map(|s| print_symbol(s)).collect();
                let kept = assumptions.iter().zip(&names).filter(|(_, n)| core.contains(*n));
                Outcome::Unsat(kept.map(|(t, _)| *t).collect())
            }
            b"unknown" => {
                self.session = Some(session);
                return Err(Unknown::Failed(format!("`{path}` does not know")));
            }
            _ => return Err(nonsense(path, &answer)),
        };
        self.session = Some(session);
        Ok(outcome)
    }

    /// Reads the values of all variables and applications that occur, and checks them.
    fn read_model(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Result<Option<Model>, Unknown> {
        let mut formulas: Vec<Term> = self.levels.iter().flatten().copied().collect();
        formulas.extend(assumptions);
        let parts = terms.subterms(&formulas);
        let mut wanted: Vec<Term> = terms.variables(&formulas);
        let applications: Vec<(Func, Term)> =
            parts.iter().filter_map(|t| Some((terms.func_of(*t)?, *t))).collect();
        for (_, t) in &applications {
            wanted.push(*t);
            wanted.extend(terms.args(*t));
        }
        wanted.sort_unstable();
        wanted.dedup();
        let Some(session) = &mut self.session else { return Ok(None) };
        let path = self.program.path.as_str();
        let mut values: FxHashMap<Term, Value> = FxHashMap::default();
        for batch in wanted.chunks(BATCH) {
            // All parts are declared, and whatever has no name of its own is written out.
            let texts: Vec<String> = batch.iter().map(|t| session.inline(terms, *t)).collect();
            session.send(&format!("(get-value ({}))\n", texts.join(" ")), path)?;
            let answer = session.receive(path, &self.limits)?;
            let Some(found) = parse_values(terms, &answer).filter(|v| v.len() == batch.len()) else {
                return Ok(None);
            };
            values.extend(batch.iter().copied().zip(found));
        }
        let mut model = Model::new();
        for (t, value) in &values {
            if terms.name_of(*t).is_some() && value.sort() == terms.sort(*t) {
                model.set(*t, value.clone());
            }
        }
        for (f, t) in applications {
            let args = terms.args(t).iter().map(|a| values[a].clone()).collect();
            model.func_mut(f).insert(args, values[&t].clone());
        }
        let mut evaluator = Evaluator::new(&model);
        let holds = formulas.iter().all(|t| evaluator.truth(terms, *t));
        Ok(holds.then_some(model))
    }
}

fn nonsense(path: &str, answer: &[u8]) -> Unknown {
    let shown: String = String::from_utf8_lossy(answer).chars().take(200).collect();
    Unknown::Failed(format!("`{path}` answered {shown}"))
}

impl Session {
    fn send(&mut self, text: &str, path: &str) -> Result<(), Unknown> {
        let written = self.input.write_all(text.as_bytes()).and_then(|()| self.input.flush());
        written.map_err(|_| self.ended(path))
    }

    fn ended(&mut self, path: &str) -> Unknown {
        match self.child.try_wait() {
            Ok(Some(status)) => Unknown::Failed(format!("`{path}` ended with {status}")),
            _ => Unknown::Failed(format!("`{path}` closed its input or output")),
        }
    }

    fn receive(&mut self, path: &str, limits: &Limits) -> Result<Vec<u8>, Unknown> {
        loop {
            limits.budget.check().map_err(Unknown::Stopped)?;
            match self.answers.recv_timeout(POLL) {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // The output is closed; give the process a moment to have a status.
                    std::thread::sleep(POLL);
                    return Err(self.ended(path));
                }
            }
        }
    }

    /// Brings the process to the given levels and assertions.
    fn align(&mut self, levels: &[Vec<Term>], terms: &Terms, text: &mut String) {
        for (i, assertions) in levels.iter().enumerate() {
            if i == self.sent.len() {
                text.push_str("(push 1)\n");
                self.writer.push();
                self.sent.push(0);
                self.literal_levels.push(Vec::new());
            }
            for t in &assertions[self.sent[i]..] {
                let parts = self.writer.write(terms, *t);
                parts.print_to(text);
                let _ = writeln!(text, "(assert {})", parts.root);
            }
            self.sent[i] = assertions.len();
        }
    }

    /// Drops the levels above the given number.
    fn pop_to(&mut self, levels: usize) -> String {
        let mut text = String::new();
        while self.sent.len() > levels {
            text.push_str("(pop 1)\n");
            self.writer.pop();
            self.sent.pop();
            for t in self.literal_levels.pop().unwrap_or_default() {
                self.literals.remove(&t);
            }
        }
        text
    }

    /// The constant that stands for an assumption.
    fn literal(&mut self, terms: &Terms, t: Term, text: &mut String) -> String {
        if let Some(name) = self.literals.get(&t) {
            return name.clone();
        }
        let parts = self.writer.write(terms, t);
        parts.print_to(text);
        let name = self.writer.fresh("_a");
        let _ = writeln!(text, "(declare-fun {name} () Bool)\n(assert (= {name} {}))", parts.root);
        self.literals.insert(t, name.clone());
        if let Some(level) = self.literal_levels.last_mut() {
            level.push(t);
        }
        name
    }

    /// A term all of whose symbols are declared, as text.
    fn inline(&mut self, terms: &Terms, t: Term) -> String {
        self.writer.push();
        let parts = self.writer.write(terms, t);
        self.writer.pop();
        let mut out = String::new();
        for (name, _, body) in &parts.definitions {
            let _ = write!(out, "(let (({name} {body})) ");
        }
        out.push_str(&parts.root);
        out.push_str(&")".repeat(parts.definitions.len()));
        out
    }
}

impl Solver for ProcessSolver {
    fn assert(&mut self, terms: &mut Terms, t: Term) {
        assert!(terms.is_bool(t), "assertions are Boolean");
        self.outcome = Outcome::None;
        self.levels.last_mut().expect("there is always a level").push(t);
    }

    fn push(&mut self) {
        self.levels.push(Vec::new());
    }

    fn pop(&mut self) {
        if self.levels.len() == 1 {
            return;
        }
        self.outcome = Outcome::None;
        self.levels.pop();
        if let Some(session) = &mut self.session {
            let text = session.pop_to(self.levels.len());
            if session.send(&text, &self.program.path).is_err() {
                // The next check starts the program again.
                self.session = None;
            }
        }
    }

    fn check(&mut self, terms: &mut Terms, assumptions: &[Term]) -> Answer {
        self.outcome = Outcome::None;
        match self.ask(terms, assumptions) {
            Ok(outcome) => {
                self.outcome = outcome;
                match self.outcome {
                    Outcome::Sat(..) => Answer::Sat,
                    _ => Answer::Unsat,
                }
            }
            Err(why) => Answer::Unknown(why),
        }
    }

    /// `None` also where the program tells its model in a form that is not standard, or tells one
    /// that does not satisfy the assertions.
    fn model(&mut self, terms: &mut Terms) -> Option<Model> {
        let Outcome::Sat(assumptions, model) = &self.outcome else { return None };
        if let Some(model) = model {
            return model.clone();
        }
        let assumptions = assumptions.clone();
        let found = self.read_model(terms, &assumptions);
        if found.is_err() {
            self.session = None;
        }
        let model = found.unwrap_or(None);
        self.outcome = Outcome::Sat(assumptions, Some(model.clone()));
        model
    }

    fn unsat_core(&self) -> Vec<Term> {
        match &self.outcome {
            Outcome::Unsat(core) => core.clone(),
            _ => Vec::new(),
        }
    }

    fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }
}

/// Splits a stream into top-level s-expressions.
#[derive(Default)]
struct Splitter {
    current: Vec<u8>,
    depth: usize,
    /// The delimiter of the string or quoted symbol that is open.
    quote: Option<u8>,
}

impl Splitter {
    fn feed(&mut self, byte: u8) -> Option<Vec<u8>> {
        if let Some(quote) = self.quote {
            self.current.push(byte);
            if byte == quote {
                self.quote = None;
            }
            return None;
        }
        if byte.is_ascii_whitespace() && self.depth == 0 {
            let answer = std::mem::take(&mut self.current);
            return (!answer.is_empty()).then_some(answer);
        }
        self.current.push(byte);
        match byte {
            b'"' | b'|' => self.quote = Some(byte),
            b'(' => self.depth += 1,
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(std::mem::take(&mut self.current));
                }
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Sort;
    use palisade_base::{Budget, Stop};

    /// The known solvers that are installed.
    fn installed() -> Vec<Program> {
        let found: Vec<Program> = Program::NAMES
            .iter()
            .filter_map(|n| Program::named(n))
            .filter(|p| Command::new(&p.path).arg("--version").output().is_ok())
            .collect();
        if found.is_empty() {
            eprintln!("skipped: no SMT-LIB solver is installed");
        }
        found
    }

    #[test]
    fn answers_models_and_cores_of_a_child() {
        for program in installed() {
            let s = &mut Terms::new();
            let x = s.var("x", Sort::BitVec(8));
            let y = s.var("a strange |name|", Sort::BitVec(8));
            let m = s.var("m", Sort::Array { index: 8, elem: 8 });
            let f = s.func("f", &[Sort::BitVec(8), Sort::Bool], Sort::BitVec(8));
            let five = s.bv(8, 5);
            let p = s.ult(x, y);
            let fx = s.apply(f, &[x, p]);
            let read = s.select(m, x);
            let e1 = s.eq(fx, five);
            let e2 = s.eq(read, y);
            let mut solver = ProcessSolver::new(program.clone());
            solver.assert(s, e1);
            solver.assert(s, e2);
            assert_eq!(solver.check(s, &[p]), Answer::Sat, "{program:?}");
            let model = solver.model(s).expect("a model in standard form");
            for t in [e1, e2, p] {
                assert_eq!(s.evaluate(t, &model), Value::Bool(true), "{program:?}");
            }
            assert_eq!(solver.value(s, fx), Some(Value::BitVec(crate::BitVec::new(8, 5))));
            // A core leaves out what does not matter.
            let (q, r) = (s.ult(y, x), s.ult(five, x));
            solver.push();
            let o = s.umulo(x, y);
            solver.assert(s, o);
            assert_eq!(solver.check(s, &[]), Answer::Sat, "{program:?}");
            assert_eq!(solver.check(s, &[r, p, q]), Answer::Unsat, "{program:?}");
            let core = solver.unsat_core();
            assert!(core.contains(&p) && core.contains(&q), "{program:?} {core:?}");
            let zero = s.bv(8, 0);
            let none = s.eq(x, zero);
            assert_eq!(solver.check(s, &[none]), Answer::Unsat);
            solver.pop();
            assert_eq!(solver.check(s, &[none]), Answer::Sat, "{program:?}");
        }
    }

    #[test]
    fn a_missing_or_dying_program_is_a_clean_unknown() {
        let s = &mut Terms::new();
        let x = s.var("x", Sort::Bool);
        let programs: [(&str, &[&str], &str); 3] = [
            ("no-such-solver", &[], "cannot start `no-such-solver`"),
            ("sh", &["-c", "exit 3"], "`sh` "),
            ("sh", &["-c", "echo '(error \"no\")'; cat >/dev/null"], "`sh` answered (error \"no\")"),
        ];
        for (path, args, message) in programs {
            let args = args.iter().map(|a| (*a).to_owned()).collect();
            let mut solver = ProcessSolver::new(Program { path: path.to_owned(), args });
            solver.assert(s, x);
            for _ in 0..2 {
                let Answer::Unknown(Unknown::Failed(why)) = solver.check(s, &[]) else {
                    panic!("{path} cannot answer")
                };
                assert!(why.starts_with(message), "{why}");
            }
            assert!(solver.model(s).is_none());
            solver.push();
            solver.pop();
        }
    }

    #[test]
    fn a_budget_ends_a_child_that_does_not_answer() {
        let s = &mut Terms::new();
        let args = vec!["-c".to_owned(), "cat >/dev/null".to_owned()];
        let mut solver = ProcessSolver::new(Program { path: "sh".to_owned(), args });
        let budget = Budget::unlimited();
        solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
        let timer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            budget.stop(Stop::Time);
        });
        assert_eq!(solver.check(s, &[]), Answer::Unknown(Unknown::Stopped(Stop::Time)));
        timer.join().expect("the timer only sleeps");
    }

    #[test]
    fn answers_are_split_at_top_level() {
        let mut splitter = Splitter::default();
        let text = "sat\n((x \"a ) b\")\n (|y )| #b1))\nunknown\n";
        let parts: Vec<String> = text
            .bytes()
            .filter_map(|b| splitter.feed(b))
            .map(|p| String::from_utf8(p).expect("the text is UTF-8"))
            .collect();
        assert_eq!(parts, ["sat", "((x \"a ) b\")\n (|y )| #b1))", "unknown"]);
    }
}
