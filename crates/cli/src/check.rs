//! The command `check`.

use crate::all::{self, Findings};
use crate::args::{CheckArgs, CrossCheck};
use crate::finding::Finding;
use crate::input::Input;
use crate::progress::ProgressLine;
use crate::question::Question;
use crate::{USAGE, advice, arg, certificate, harness, html, input, json, report, sarif, watchdog, witness};
use palisade_base::Budget;
use palisade_cfa::Program;
use palisade_lower::{CheckSet, Options};
use palisade_portfolio::{Settled, Verdict, registry, settle};
use palisade_property::{Goal, Property};
use std::cell::Cell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Exit status of each verdict.
const TRUE: u8 = 0;
const FALSE: u8 = 1;
const UNKNOWN: u8 = 3;

/// Why a property that holds is not said to hold; see [`Property::disputed`].
pub const DISPUTED: &str = "a left shift may leave its signed type: an overflow in some tasks of the \
    competition and none in others; `--property no-overflow` asks in the sense of C11";

/// Settles a property and prints the verdict line, or with `--json` a document that is never missing.
pub fn check(args: &CheckArgs) -> u8 {
    let budget = Budget::unlimited();
    watchdog::watch(&budget, args.time_limit, args.memory_limit);
    if let Some(wall) = args.wall_limit {
        watchdog::watch_clock(&budget, wall);
    }
    let last_word = LastWord::new(&budget, args.json);
    let code = answer(args, &budget, &last_word);
    if code == USAGE {
        last_word.say_nothing();
    }
    code
}

/// The analysis that is asked for, with the options of a composite in its name.
fn analysis(args: &CheckArgs) -> Option<String> {
    let mut name = args.analysis.clone();
    if let Some(domain) = &args.numeric {
        name = format!("{name}+{}", domain.name);
    }
    let options = [("merge", &args.merge), ("stop", &args.stop), ("product", &args.product)];
    for (option, value) in options {
        if let Some(value) = value {
            name = format!("{name} {option}={value}");
        }
    }
    if let Err(why) = registry::chosen(&name) {
        error!("--analysis {}: {why}", args.analysis);
        return None;
    }
    Some(name)
}

fn answer(args: &CheckArgs, budget: &Budget, last_word: &LastWord) -> u8 {
    let Some(mut question) = Question::read_all(&args.property) else { return USAGE };
    if let Some(entry) = &args.source.entry {
        question.property.entry.clone_from(entry);
    }
    let property = &question.property;
    let disputed = property.disputed();
    let checks = property.checks().chain(disputed.iter().flat_map(Property::checks));
    if args.all && disputed.is_some() {
        error!("--all is about properties by name: ask for no-overflow or no-arithmetic-overflow");
        return USAGE;
    }
    let options = Options { checks: checks.collect::<CheckSet>(), ..args.source.options(property) };
    let Some(input) = input::read(&args.source, &options) else { return USAGE };
    let other = args.cross_check.map(CrossCheck::program);
    if let Some(program) = &other
        && let Err(error) = std::process::Command::new(&program.path).arg("--version").output()
    {
        error!("{}: {error}", program.path);
        return USAGE;
    }
    let line = ProgressLine::start();
    let Some(analysis) = analysis(args) else { return USAGE };
    let settle_in = |program: &Arc<Program>, property: &Property, budget: &Budget| {
        if let Some(goal) = property.unsupported() {
            return Settled::unknown(format!("{} is not supported", goal.name()));
        }
        settle(program, property, &analysis, budget, &|engine, note| {
            tracing::info!("{engine}: {note}");
            line.note(engine, note);
        })
    };
    let settle = |program: &Arc<Program>, property: &Property| settle_in(program, property, budget);
    let mut program = input.program.clone();
    if !question.instrument(&mut program) {
        return USAGE;
    }
    let (program, property) = (Arc::new(program), &question.property);
    if args.all {
        let ask = |program: &Arc<Program>, part: &Budget| {
            let mut settled = settle_in(program, property, part);
            settled.confirm(other.as_ref(), &watchdog::slice(budget, LEAST));
            if let Verdict::False(_) = settled.verdict {
                last_word.know_first(&settled.verdict);
            }
            if args.strict { settled.strictly(program) } else { settled }
        };
        let left = || args.time_limit.saturating_sub(watchdog::cpu_time());
        let findings = all::find(&program, property, &input.sources, budget, &left, &ask);
        line.clear();
        return tell_all(args, property, &input, findings, budget, last_word);
    }
    let mut settled = settle(&program, property);
    let mut also = None;
    if let (Verdict::True, Some(disputed)) = (&settled.verdict, &disputed) {
        let mut program = input.program.clone();
        palisade_property::instrument(&mut program, disputed);
        let program = Arc::new(program);
        let settled_also = settle(&program, disputed);
        if !matches!(settled_also.verdict, Verdict::True) {
            settled = Settled {
                rejected: settled.rejected,
                tried: settled.tried,
                taken: settled.taken,
                ..Settled::unknown(DISPUTED)
            };
        }
        also = Some((program, settled_also));
    }
    line.clear();
    if args.strict {
        settled = settled.strictly(&program);
    }
    last_word.know(&settled.verdict);
    let found_after = watchdog::cpu_time();
    // Another solver is asked after the plain twin.
    let opinions = if other.is_some() { 2 } else { 1 };
    let some_more = watchdog::slice(budget, (found_after * MORE).max(LEAST) * opinions);
    settled.found_after = Some(found_after);
    settled.confirm(other.as_ref(), &some_more);
    if let (Verdict::True, Some((_, also))) = (&settled.verdict, &mut also) {
        also.confirm(other.as_ref(), &some_more);
        if let Verdict::Unknown(why) = &also.verdict {
            settled.verdict = Verdict::Unknown(why.clone());
        }
    }
    last_word.know(&settled.verdict);
    let to_the_end = args.witness.is_some()
        || args.harness.is_some()
        || args.sarif.is_some()
        || args.report.is_some()
        || args.json;
    let finding = Finding::new(&settled, &program, property, &input, to_the_end, budget);
    let mut written = write_files(args, std::slice::from_ref(&finding));
    if let Some(path) = &args.certificate {
        let mut found = vec![(&*program, &settled)];
        found.extend(also.iter().map(|(program, settled)| (&**program, settled)));
        written &= certificate::write(path, args, &options, &found, budget);
    }
    for why in &settled.rejected {
        warning!("evidence did not pass its check: {why}");
    }
    let tally = settled.tally;
    if tally.not_crossed > 0 {
        warning!("the other solver did not settle {} of the questions", tally.not_crossed);
    }
    let advice = advice::advice(args, &finding, budget.stopped());
    let text = if args.json {
        let mut result = json::result(&finding);
        result["advice"] = advice.into();
        format!("{result}\n")
    } else if args.quiet {
        String::new()
    } else {
        report::text(&finding) + &advice::text(&advice)
    };
    let code = last_word.say(&text, &settled.verdict);
    if let Some(path) = &args.arg {
        arg::write(path, &settled, &analysis, &input.sources, budget);
    }
    if written { code } else { USAGE }
}

/// Says all that `--all` found: the violations one after the other, then the table.
fn tell_all(
    args: &CheckArgs,
    property: &Property,
    input: &Input,
    mut findings: Findings,
    budget: &Budget,
    last_word: &LastWord,
) -> u8 {
    let verdict = findings.verdict();
    last_word.know(&verdict);
    if findings.violations.is_empty() {
        findings.last.1.verdict = verdict.clone();
    }
    let finding = |(program, settled)| Finding::new(settled, program, property, input, true, budget);
    let mut told: Vec<Finding<'_>> =
        findings.violations.iter().map(|(program, settled)| finding((&**program, settled))).collect();
    if told.is_empty() {
        told.push(finding((&*findings.last.0, &findings.last.1)));
    }
    if args.certificate.is_some() {
        warning!("no certificate is written: it is about one answer, and not about all");
    }
    let written = write_files(args, &told);
    let described: Vec<String> =
        told.iter().filter_map(|f| Some(f.story.as_ref()?.described.text.clone())).collect();
    let mut text = String::new();
    if args.json {
        let mut result = json::result(&told[0]);
        result["violations"] = told.iter().filter(|f| f.story.is_some()).map(json::result).collect();
        result["checks"] = findings.json();
        text = format!("{result}\n");
    } else if !args.quiet {
        let count = findings.violations.len();
        for (i, finding) in told.iter().enumerate() {
            if count > 1 {
                text.push_str(&format!("--- violation {} of {count}\n", i + 1));
            }
            text.push_str(&report::text(finding));
        }
        text.push_str(&findings.table(&described));
    }
    let code = last_word.say(&text, &verdict);
    if written { code } else { USAGE }
}

/// Writes the files that were asked for, and tells whether that was possible. What cannot be written does not
/// change the verdict, but the exit status says that something was wrong. Where a file is about one finding it
/// is the first.
fn write_files(args: &CheckArgs, findings: &[Finding<'_>]) -> bool {
    let Some(finding) = findings.first() else { return true };
    let written = Cell::new(true);
    let write = |path: &Path, text: Option<String>| {
        if let Some(text) = text
            && let Err(error) = std::fs::write(path, text)
        {
            error!("{}: {error}", path.display());
            written.set(false);
        }
    };
    if let Some(path) = &args.witness {
        let observed = finding.property.goals.iter().any(|g| matches!(g, Goal::Observer { .. }));
        if observed {
            warning!("no witness is written: the format cannot name an observer automaton");
        } else {
            write(path, witness::file(finding));
        }
    }
    if let Some(path) = &args.harness {
        write(path, harness::file(finding));
    }
    if let Some(path) = &args.sarif {
        write(path, Some(format!("{:#}\n", sarif::log(findings))));
    }
    if let Some(path) = &args.report {
        let words: Vec<String> = std::env::args_os().map(|w| w.to_string_lossy().into_owned()).collect();
        let limits =
            format!("{} s of CPU time, {} MB", args.time_limit.as_secs_f64(), args.memory_limit >> 20);
        let asked = html::Asked { command: words.join(" "), limits };
        write(path, Some(html::page(finding, &asked)));
    }
    written.get()
}

/// How long a stopped computation may take to come back.
const GRACE: Duration = Duration::from_millis(700);

/// A second opinion may take as much time as it took to find the proof, so many times, and at least some.
const MORE: u32 = 3;
const LEAST: Duration = Duration::from_secs(3);

/// The verdict line, or the JSON document: printed once in the life of the process.
pub struct LastWord(Arc<Spoken>);

#[derive(Default)]
struct Spoken {
    json: bool,
    printed: AtomicBool,
    known: Mutex<Option<Verdict>>,
}

impl LastWord {
    /// Ends the process with what is known if the budget was stopped and no verdict follows in time: an
    /// engine deep in one step must not make us late.
    pub fn new(budget: &Budget, json: bool) -> LastWord {
        let word = LastWord(Arc::new(Spoken { json, ..Spoken::default() }));
        let (budget, late) = (budget.clone(), LastWord(word.0.clone()));
        let wait = move || {
            while budget.stopped().is_none() {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(GRACE);
            let known = late.known().take();
            let unknown = || Verdict::Unknown(budget.stopped().map_or_else(String::new, |s| s.to_string()));
            let code = late.say("", &known.unwrap_or_else(unknown));
            std::process::exit(i32::from(code));
        };
        if let Err(error) = std::thread::Builder::new().name("insist".into()).spawn(wait) {
            tracing::warn!("limits are not enforced: {error}");
        }
        word
    }

    fn known(&self) -> MutexGuard<'_, Option<Verdict>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A verdict is known; the first one stays.
    pub fn know_first(&self, verdict: &Verdict) {
        self.known().get_or_insert_with(|| verdict.clone());
    }

    /// The verdict is known, whatever else may be said about it.
    pub fn know(&self, verdict: &Verdict) {
        *self.known() = Some(verdict.clone());
    }

    /// There is no verdict, for the question cannot be asked.
    fn say_nothing(&self) {
        if self.0.json && !self.0.printed.swap(true, Ordering::SeqCst) {
            println!("{}", json::nothing());
        }
    }

    /// Prints a text and the verdict line, and tells the exit status. With `--json` the text is the document
    /// that says the verdict, or nothing where there is no more to say than that.
    pub fn say(&self, text: &str, verdict: &Verdict) -> u8 {
        if self.0.printed.swap(true, Ordering::SeqCst) {
            // The other thread has the word and ends the process.
            loop {
                std::thread::park();
            }
        }
        let (line, code) = match verdict {
            Verdict::True => ("verdict: true".to_owned(), TRUE),
            Verdict::False(goal) => (format!("verdict: false({goal})"), FALSE),
            Verdict::Unknown(reason) => (format!("verdict: unknown ({reason})"), UNKNOWN),
        };
        match (self.0.json, text) {
            (true, "") => println!("{}", json::bare(verdict)),
            (true, _) => print!("{text}"),
            (false, _) => println!("{text}{line}"),
        }
        code
    }
}
