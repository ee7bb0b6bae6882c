//! The command `validate`: checks somebody's witness.
//!
//! A violation witness is confirmed by a run that follows it to its target: the run its values
//! determine, or else one that the engines find among those that follow it. A correctness witness
//! is confirmed by a proof that its invariants hold where they are stated, and with them the
//! property.

use crate::args::{SourceArgs, ValidateArgs};
use crate::input::{self, Texts};
use crate::progress::ProgressLine;
use crate::question::Question;
use crate::{USAGE, check, report, watchdog};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::*;
use palisade_interp::{Config, Discard, Inputs, Interp, Outcome, State};
use palisade_portfolio::{Settled, Verdict, settle};
use palisade_property::{Goal, Property, Reading};
use palisade_witness::marks::{Marked, Marks};
use palisade_witness::model::*;
use palisade_witness::monitor::{Monitor, Number, ResultOp, ResultTest, Woven, fixed_variable, marks_of};
use palisade_witness::places::Places;
use palisade_witness::{graphml, yaml};
use std::cell::Cell;
use std::sync::Arc;

/// More waypoints than this are followed by replay only.
const MAX_SEARCHED: usize = 400;

/// What is wrong with a witness before it is looked at closely; the exit status is that of a
/// usage error.
type Malformed = String;

/// Checks a witness and prints the verdict line.
pub fn validate(args: &ValidateArgs) -> u8 {
    let budget = Budget::unlimited();
    watchdog::watch(&budget, args.time_limit, args.memory_limit);
    let last_word = check::LastWord::new(&budget, false);
    let entries = match read_witness(args) {
        Ok(entries) => entries,
        Err(message) => return malformed(args, &message),
    };
    let mut source = args.source(&entries[0].metadata.task.data_model);
    // Where annotations do not count they are comments.
    let Some(texts) = input::load_all(&source, true) else { return USAGE };
    let property = match about(args, &entries, &texts) {
        Ok(property) => property,
        Err(message) => return malformed(args, &message),
    };
    source.entry.get_or_insert_with(|| property.entry.clone());
    let violation = entries.iter().find_map(|e| match &e.content {
        Content::Violation(segments) => Some(segments),
        _ => None,
    });
    let facts: Vec<&Invariant> = entries
        .iter()
        .filter_map(|e| match &e.content {
            Content::Invariants(facts) => Some(facts),
            _ => None,
        })
        .flatten()
        .collect();
    let known = entries.iter().any(|e| !matches!(e.content, Content::Other(_)));
    let validator = Validator { source, property, places: Places::new(texts.files), budget: &budget };
    let (text, verdict) = match violation {
        _ if !known => unknown("no entry of a kind that is supported"),
        _ if validator.property.unsupported().is_some() => unknown("the property is not supported"),
        Some(segments) => validator.violation(segments),
        None => validator.correctness(&facts),
    };
    last_word.say(&text, &verdict)
}

fn unknown(why: &str) -> (String, Verdict) {
    (String::new(), Verdict::Unknown(format!("not confirmed: {why}")))
}

fn rejected(why: &str) -> (String, Verdict) {
    (String::new(), Verdict::Unknown(format!("rejected: {why}")))
}

fn malformed(args: &ValidateArgs, message: &str) -> u8 {
    error!("{}:{message}", args.witness.display());
    USAGE
}

fn read_witness(args: &ValidateArgs) -> Result<Vec<Entry>, Malformed> {
    let bytes = std::fs::read(&args.witness).map_err(|e| format!(" {e}"))?;
    let text = String::from_utf8(bytes).map_err(|_| " not UTF-8".to_owned())?;
    if graphml::is_graphml(&text) {
        return graphml::read(&text).map_err(|e| format!(" {e}"));
    }
    yaml::read(&text).map_err(|e| e.to_string())
}

/// Whether the witness is about this program and this question; tells the question.
fn about(args: &ValidateArgs, entries: &[Entry], texts: &Texts) -> Result<Property, Malformed> {
    let last = |name: &str| name.rsplit('/').next().map(str::to_owned);
    let task = &entries[0].metadata.task;
    for (file, hash) in texts.files.iter().zip(&texts.hashes) {
        let stated: Vec<_> =
            task.input_file_hashes.iter().filter(|(name, _)| last(name) == last(&file.name)).collect();
        if stated.is_empty() && !task.input_file_hashes.is_empty() {
            return Err(format!(" the witness is not about `{}`", file.name));
        }
        if let Some((_, other)) = stated.iter().find(|(_, h)| !h.eq_ignore_ascii_case(hash)) {
            return Err(format!(
                " the witness is about another `{}`: its SHA-256 is {other}, not {hash}",
                file.name
            ));
        }
    }
    let given: Vec<_> = texts.files.iter().map(|file| last(&file.name)).collect();
    if let Some(missing) = task.input_files.iter().find(|name| !given.contains(&last(name))) {
        return Err(format!(" the witness is also about `{missing}`, which is not given"));
    }
    let model = &task.data_model;
    if let Some(given) = args.data_model
        && !model.is_empty()
        && !model.eq_ignore_ascii_case(given.name())
    {
        return Err(format!(" the witness is about the data model {model}"));
    }
    let stated = stated_property(&task.specification).map_err(|e| format!(" specification: {e}"))?;
    let Some(name) = &args.property else { return Ok(stated) };
    let question = Question::read(name).ok_or(" the property cannot be read")?;
    let asked = question.property;
    if asked.goals.iter().any(|g| stated.goals.contains(g)) {
        Ok(asked)
    } else {
        Err(format!(" the witness is about another property: {stated}"))
    }
}

/// The property of a specification: `CHECK` lines, or a bare formula.
fn stated_property(specification: &str) -> Result<Property, String> {
    let text = if specification.contains("CHECK") {
        specification.replace("CHECK", "\nCHECK")
    } else {
        format!("CHECK( init(main()), LTL({}) )", specification.trim())
    };
    let mut property = Property::parse_prp(&text).map_err(|e| e.message)?;
    property.reading = Reading::Standard;
    for goal in &mut property.goals {
        // How failing assertions are written as a call.
        if *goal == Goal::NoCall("__assert_fail".into()) {
            *goal = Goal::Assertions;
        }
    }
    Ok(property)
}

struct Validator<'b> {
    source: SourceArgs,
    property: Property,
    places: Places,
    budget: &'b Budget,
}

impl Validator<'_> {
    /// Compiles marked texts. The error names the mark that the compiler refuses, if it is one.
    fn compile(
        &self,
        marked: &Marked,
        property: &Property,
    ) -> Result<(SourceMap, Program), (Option<usize>, String)> {
        let options = self.source.options(property);
        let Some((sources, compiled)) = input::compile(&marked.files, &self.source, &options) else {
            return Err((None, "the program is too large".into()));
        };
        let mut errors = compiled.diagnostics.iter().filter(|d| d.is_error());
        if let Some(error) = errors.next() {
            return Err((marked.old_offset(error.span.lo).err().flatten(), error.message.clone()));
        }
        let Some(mut program) = compiled.program else { return Err((None, "the program has errors".into())) };
        palisade_property::instrument(&mut program, property);
        Ok((sources, program))
    }

    fn settle(&self, program: Arc<Program>, property: &Property) -> Settled {
        let line = ProgressLine::start();
        let settled =
            settle(&program, property, "auto", self.budget, &|engine, note| line.note(engine, note));
        line.clear();
        settled
    }

    fn correctness(&self, facts: &[&Invariant]) -> (String, Verdict) {
        let named = |f: &Invariant| format!("the invariant `{}` at {}", f.value, f.location);
        let mut marks = Marks::new(&self.places);
        for (k, fact) in facts.iter().enumerate() {
            let put = match fact.kind {
                InvariantKind::Loop => marks.at_loop(k, &fact.location, &fact.value),
                InvariantKind::Location => marks.before(k, &fact.location, &fact.value),
            };
            if let Err(why) = put {
                return rejected(&format!("{}: {why}", named(fact)));
            }
        }
        let marked = marks.finish();
        if let Some((k, what)) = marked.effect() {
            return rejected(&format!("{} {what}", facts.get(k).map_or_else(String::new, |f| named(f))));
        }
        // What is disputed must hold too before the property is said to hold.
        let mut property = self.property.clone();
        let disputed = property.disputed().map_or_else(Vec::new, |p| p.goals);
        property.goals.extend(disputed.iter().cloned());
        let (_, mut program) = match self.compile(&marked, &property) {
            Ok(compiled) => compiled,
            Err((Some(k), why)) => {
                return rejected(&format!("{}: {why}", facts.get(k).map_or_else(String::new, |f| named(f))));
            }
            Err((None, why)) => return unknown(&why),
        };
        let mut claims = Vec::new();
        for (edge, k, holds) in marks_of(&mut program) {
            program.edges[edge].op = Op::Check { kind: CheckKind::Assertion, cond: holds };
            claims.push((edge, k));
        }
        if !property.goals.contains(&Goal::Assertions) {
            property.goals.push(Goal::Assertions);
        }
        let program = Arc::new(program);
        let settled = self.settle(program.clone(), &property);
        let how = settled.engine.as_ref().map_or_else(String::new, |e| format!("confirmed by {e}\n"));
        match (&settled.verdict, &settled.replay) {
            (Verdict::True, _) => (how, Verdict::True),
            (Verdict::False(goal), _) if disputed.iter().any(|d| d.name() == goal) => {
                unknown(check::DISPUTED)
            }
            (Verdict::False(goal), Some(replay)) => {
                let at = replay.run.stack.first().map(|(_, edge)| *edge);
                let claim =
                    claims.iter().find(|(edge, _)| Some(*edge) == at).map(|(_, k)| *k).or_else(|| {
                        // The expression itself is undefined.
                        marked.old_offset(program.edges[at?].span.lo).err().flatten()
                    });
                let inputs = report::inputs(&replay.run);
                match claim.and_then(|k| facts.get(k)) {
                    Some(fact) => rejected(&format!("{} does not hold on the inputs {inputs}", named(fact))),
                    None => rejected(&format!("the program violates {goal} on the inputs {inputs}")),
                }
            }
            (Verdict::Unknown(why), _) => unknown(why),
            (Verdict::False(_), None) => unknown("the violation has no run"),
        }
    }

    fn violation(&self, segments: &[Segment]) -> (String, Verdict) {
        let mut marks = Marks::new(&self.places);
        let monitor = match Monitor::new(segments, &self.places, &mut marks) {
            Ok(monitor) => monitor,
            Err(why) => return rejected(&why),
        };
        let marked = marks.finish();
        if let Some((_, what)) = marked.effect() {
            return rejected(&format!("a constraint {what}"));
        }
        let (_, mut program) = match self.compile(&marked, &self.property) {
            Ok(compiled) => compiled,
            Err((Some(_), why)) => return rejected(&format!("a constraint: {why}")),
            Err((None, why)) => return unknown(&why),
        };
        let woven = match monitor.weave(&mut program, &self.places, &marked) {
            Ok(woven) => woven,
            Err(why) => return rejected(&why),
        };
        if let Some(kind) = self.follow(&program, &woven, segments, &monitor, &marked)
            && let Some(goal) = self.property.violated_by(kind)
        {
            return ("confirmed by replay\n".into(), Verdict::False(goal.name().into()));
        }
        if monitor.len() > MAX_SEARCHED {
            return unknown(
                "the values do not determine a run to the target, and there are too many waypoints to search",
            );
        }
        let program = Arc::new(program);
        let settled = self.settle(program.clone(), &self.property);
        match (settled.verdict, settled.replay) {
            (Verdict::False(goal), Some(replay)) => {
                if monitor.ends_at_target(&program, &replay.run, &self.places, &marked) {
                    let how = settled.engine.as_deref().unwrap_or_default();
                    (format!("confirmed by {how}\n"), Verdict::False(goal))
                } else {
                    unknown("a run follows the witness, but goes wrong elsewhere")
                }
            }
            (Verdict::True, _) => rejected("no run follows the witness to its target"),
            (Verdict::Unknown(why), _) => unknown(&why),
            (Verdict::False(_), None) => unknown("the violation has no run"),
        }
    }

    /// Runs the program on the values that the witness gives, where it asks for them.
    fn follow(
        &self,
        program: &Program,
        woven: &Woven,
        segments: &[Segment],
        monitor: &Monitor<'_>,
        marked: &Marked,
    ) -> Option<CheckKind> {
        let at = Cell::new(0);
        let mut guide = Guide { program, woven, segments, at: &at };
        let mut observer = |_: EdgeId, state: &State<'_>| {
            at.set(state.var(woven.counter).map_or(0, |v| v.bits as usize));
            true
        };
        let config = Config { budget: Some(self.budget.clone()), memory_limit: 1 << 30, ..Config::default() };
        let run = Interp::new(program, config).run_observed(&mut guide, &mut Discard, &mut observer);
        match run.outcome {
            Outcome::Violation(kind) if monitor.ends_at_target(program, &run, &self.places, marked) => {
                Some(kind)
            }
            _ => None,
        }
    }
}

/// Answers what the program asks with what the current segment wants; zero where it says nothing.
struct Guide<'a> {
    program: &'a Program,
    woven: &'a Woven,
    segments: &'a [Segment],
    at: &'a Cell<usize>,
}

impl Guide<'_> {
    fn wanted(&self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        let at = self.at.get();
        // What is unknown before the first step has no edge.
        if let Op::Enter { var } = self.program.edges.get(edge)?.op {
            let (name, number) = fixed_variable(&self.segments.get(at)?.follow)?;
            return (*name == *self.program.vars[var].name).then(|| bits(ty, number)).flatten();
        }
        let (_, test) = self.woven.asked.get(&edge)?.iter().find(|(segment, _)| *segment == at)?;
        bits(ty, satisfying(*test)?)
    }
}

impl Inputs for Guide<'_> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        Some(self.wanted(ty, edge).unwrap_or(0))
    }

    fn unknown(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        self.wanted(ty, edge).unwrap_or(0)
    }
}

/// A number that passes a test.
fn satisfying(test: ResultTest) -> Option<Number> {
    let step: i128 = match test.op {
        ResultOp::Eq | ResultOp::Le | ResultOp::Ge => 0,
        ResultOp::Lt => -1,
        ResultOp::Gt | ResultOp::Ne => 1,
    };
    match test.number {
        Number::Int(n) => n.checked_add(step).map(Number::Int),
        Number::Float(x) => Some(Number::Float(x + step as f64)),
    }
}

/// The value bits of a number in a type.
fn bits(ty: Scalar, number: Number) -> Option<u128> {
    match (ty, number) {
        (Scalar::Int(t), Number::Int(n)) => Some(t.truncate(n as u128)),
        (Scalar::Ptr, Number::Int(n)) => Some(n as u128),
        (Scalar::Float(FloatTy::F64), n) => Some(float(n).to_bits().into()),
        (Scalar::Float(FloatTy::F32), n) => Some((float(n) as f32).to_bits().into()),
        _ => None,
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Int(n) => n as f64,
        Number::Float(x) => x,
    }
}
