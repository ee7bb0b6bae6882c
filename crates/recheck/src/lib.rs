//! Verdicts checked again, in another process, from a file.
//!
//! [`Dossier`] is what the file holds: the question, and for each program that was looked at what
//! settles it: a certificate with the proofs of all answers that its check rests on, or the values
//! that lead to a violation. [`recheck`] reads the C files again, makes the program of them, and repeats
//! the check; of the solvers it needs the plain one, which follows the proofs and searches only where
//! a check looks for a model.
//!
//! This crate uses what checks and nothing that finds: no engine, no domain, no analysis.

pub mod coding;
pub mod evidence;
pub mod source;

use coding::{Damaged, Reader, Writer, damaged, sum};
use palisade_base::{Budget, SourceMap};
use palisade_cfa::{DataModel, Program};
use palisade_check::court::Court;
use palisade_evidence::{Certificate, Counterexample};
use palisade_logic::plain::Refutation;
use palisade_lower::{Missing, Options, Pointers};
use palisade_property::Property;
use palisade_task::contracts::{Contract, Weaving};
use palisade_task::{Task, TooLarge};
use source::How;
use std::path::PathBuf;
use std::sync::Arc;

/// What was asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// The name of a property, or the text of a property file.
    pub property: String,
    /// The function that is called first, if the property does not say.
    pub entry: Option<String>,
    /// How the files are read.
    pub source: How,
    /// What is taken for functions that nobody has.
    pub missing: Missing,
    /// Whether allocations may fail.
    pub malloc_may_fail: bool,
    /// Where pointers lead that the function gets that is called first.
    pub pointers: Pointers,
}

/// What settles the question for one program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settlement {
    /// A sum of the instrumented program.
    pub program: [u64; 2],
    /// How deep recursive calls were followed; nothing for a violation.
    pub recursion: Option<usize>,
    /// Whether functions that cannot fail were not followed.
    pub outlined: bool,
    /// Whether the plain twin repeats the check, on the program as it was written.
    pub plain: bool,
    /// The coding of the certificate, or of the counterexample.
    pub evidence: Vec<u8>,
    /// The answers of the plain solver in a check of the certificate.
    pub record: Vec<Option<Vec<u8>>>,
}

/// The content of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dossier {
    /// What was asked.
    pub question: Question,
    /// The answer: for the program with the checks of the property, and, where it holds, for the one
    /// with the checks that are disputed if there are such.
    pub settlements: Vec<Settlement>,
}

/// A program of more edges than this after inlining is not analysed.
pub const MAX_EDGES: usize = 1_500_000;

/// What names an instrumented program: sums of its text form.
fn fingerprint(program: &Program) -> [u64; 2] {
    let text = palisade_cfa::text::print(program);
    [sum(2, text.as_bytes()), sum(3, text.as_bytes())]
}

impl Settlement {
    /// That a task is right, by a certificate. The check is done once more, by the plain solver alone,
    /// whose answers are kept; why it fails, otherwise.
    pub fn holds(task: &Task, certificate: &Certificate, budget: &Budget) -> Result<Settlement, String> {
        let mut court = Court::recording(budget);
        let plain = palisade_check::plain::check(task, certificate, &court).is_ok();
        if !plain {
            court = Court::recording(budget);
            palisade_check::certificate(task, certificate, &court).map_err(|r| r.to_string())?;
        }
        let mut writer = Writer::default();
        evidence::write(&mut writer, certificate);
        let code = |r: &Option<Refutation>| r.as_ref().map(Refutation::to_bytes);
        Ok(Settlement {
            program: fingerprint(&task.source),
            recursion: Some(task.recursion),
            outlined: task.outlined,
            plain,
            evidence: writer.0,
            record: court.record().iter().map(code).collect(),
        })
    }

    /// That a program is wrong, by a run.
    pub fn fails(program: &Program, bug: &Counterexample) -> Settlement {
        let mut writer = Writer::default();
        evidence::write_bug(&mut writer, bug);
        let program = fingerprint(program);
        Settlement {
            program,
            recursion: None,
            outlined: false,
            plain: false,
            evidence: writer.0,
            record: Vec::new(),
        }
    }
}

impl Dossier {
    /// The file.
    pub fn to_file(&self) -> Vec<u8> {
        let mut w = Writer::default();
        let Question { property, entry, source, missing, malloc_may_fail, pointers } = &self.question;
        let How { data_model, include, define, flags, std, annotations } = source;
        w.bytes(property.as_bytes());
        w.list(entry.as_slice(), |w, e| w.bytes(e.as_bytes()));
        w.number(match data_model {
            DataModel::Ilp32 => 0,
            DataModel::Lp64 => 1,
        });
        w.list(std.as_slice(), |w, s| w.bytes(s.as_bytes()));
        w.number(u128::from(*annotations));
        w.number(match missing {
            Missing::Havoc => 0,
            Missing::Pure => 1,
            Missing::Error => 2,
        });
        w.number(u128::from(*malloc_may_fail));
        w.number(match pointers {
            Pointers::Any => 0,
            Pointers::Valid { null, elements } => 1 + 2 * u128::from(*elements) + u128::from(*null),
        });
        w.list(include, |w, i| w.bytes(i.as_bytes()));
        w.list(define, |w, d| w.bytes(d.as_bytes()));
        w.list(flags, |w, f| w.bytes(f.as_bytes()));
        w.list(&self.settlements, |w, s| {
            s.program.iter().for_each(|n| w.number(u128::from(*n)));
            w.list(s.recursion.as_slice(), |w, n| w.number(*n as u128));
            w.number(u128::from(s.outlined));
            w.number(u128::from(s.plain));
            w.bytes(&s.evidence);
            w.list(&s.record, |w, answer| w.list(answer.as_slice(), |w, bytes| w.bytes(bytes)));
        });
        coding::seal(&w.0)
    }

    /// Reads a file.
    pub fn of_file(file: &[u8]) -> Result<Dossier, Damaged> {
        let content = coding::unseal(file)?;
        let mut r = Reader(&content);
        let property = r.text()?;
        let entry = optional(r.list(Reader::text)?)?;
        let data_model = match r.number::<u8>()? {
            0 => DataModel::Ilp32,
            1 => DataModel::Lp64,
            _ => return damaged("an unknown data model"),
        };
        let std = optional(r.list(Reader::text)?)?;
        let annotations = r.below(2)? == 1;
        let missing = match r.number::<u8>()? {
            0 => Missing::Havoc,
            1 => Missing::Pure,
            2 => Missing::Error,
            _ => return damaged("an unknown choice"),
        };
        let malloc_may_fail = r.below(2)? == 1;
        let pointers = match r.number::<u32>()?.checked_sub(1) {
            None => Pointers::Any,
            Some(n) => Pointers::Valid { null: n % 2 == 1, elements: n / 2 },
        };
        let (include, define) = (r.list(Reader::text)?, r.list(Reader::text)?);
        let flags = r.list(Reader::text)?;
        let source = How { data_model, include, define, flags, std, annotations };
        let question = Question { property, entry, source, missing, malloc_may_fail, pointers };
        let settlements = r.list(|r| {
            Ok(Settlement {
                program: [r.number()?, r.number()?],
                recursion: optional(r.list(Reader::number)?)?,
                outlined: r.below(2)? == 1,
                plain: r.below(2)? == 1,
                evidence: r.bytes()?.to_vec(),
                record: r.list(|r| optional(r.list(|r| Ok(r.bytes()?.to_vec()))?))?,
            })
        })?;
        r.end()?;
        Ok(Dossier { question, settlements })
    }
}

/// A list of at most one.
fn optional<T>(mut list: Vec<T>) -> Result<Option<T>, Damaged> {
    if list.len() > 1 { damaged("a list is too long") } else { Ok(list.pop()) }
}

/// What was confirmed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Confirmed {
    /// The property holds; so many proofs were followed.
    Holds(usize),
    /// It is violated, in this way.
    Fails(String),
}

/// Checks a dossier against C files; why it is refused, otherwise.
pub fn recheck(dossier: &Dossier, files: &[PathBuf], budget: &Budget) -> Result<Confirmed, String> {
    let question = &dossier.question;
    let property = match Property::named(&question.property) {
        Some(property) => property,
        None => {
            Property::parse_prp(&question.property).map_err(|e| format!("the property: {}", e.message))?
        }
    };
    let property = Property { entry: question.entry.clone().unwrap_or(property.entry), ..property };
    if property.unsupported().is_some() {
        return Err("the property is not supported".into());
    }
    let disputed = property.disputed();
    let checks = property.checks().chain(disputed.iter().flat_map(Property::checks)).collect();
    let options = Options {
        checks,
        entry: property.entry.clone(),
        missing: question.missing,
        malloc_may_fail: question.malloc_may_fail,
        pointers: question.pointers,
        annotations: question.source.annotations,
    };
    let program = compile(question, files, &options)?;
    let instrumented = |property: &Property| {
        let mut program = program.clone();
        palisade_property::instrument(&mut program, property);
        Arc::new(program)
    };
    let Some((first, others)) = dossier.settlements.split_first() else {
        return Err("it settles nothing".into());
    };
    let main = instrumented(&property);
    if first.recursion.is_none() {
        if !others.is_empty() {
            return Err("more follows a violation".into());
        }
        return violation(first, &main, &property, budget).map(Confirmed::Fails);
    }
    let mut proofs = proof(first, &main, budget)?;
    match (&disputed, others) {
        (None, []) => {}
        (Some(disputed), [other]) => proofs += proof(other, &instrumented(disputed), budget)?,
        _ => return Err("it settles something else than what is asked".into()),
    }
    Ok(Confirmed::Holds(proofs))
}

fn compile(question: &Question, files: &[PathBuf], options: &Options) -> Result<Program, String> {
    let mut sources = SourceMap::new();
    let mut ids = Vec::new();
    for path in files {
        let text = question.source.load(path)?;
        let name = path.to_string_lossy();
        ids.push(sources.add(&name, text.preprocessed).ok_or("the inputs are larger than 4 GB")?);
    }
    let compiled = palisade_lower::compile(&mut sources, &ids, question.source.data_model, options);
    compiled.program.ok_or_else(|| "the files do not compile".into())
}

fn same_program(settlement: &Settlement, program: &Program) -> Result<(), String> {
    if settlement.program == fingerprint(program) {
        Ok(())
    } else {
        Err("it is about another program".into())
    }
}

/// Repeats the check of a certificate; returns how many proofs were followed.
fn proof(settlement: &Settlement, program: &Arc<Program>, budget: &Budget) -> Result<usize, String> {
    same_program(settlement, program)?;
    let Some(recursion) = settlement.recursion.filter(|n| *n <= 1000) else {
        return Err("recursion is followed too deep".into());
    };
    let task = match settlement.outlined {
        true => palisade_reduce::outlined_task(program, recursion, MAX_EDGES),
        false => palisade_reduce::task(program, recursion, MAX_EDGES),
    };
    // Contracts speak about programs of any size.
    let task = task.unwrap_or_else(|TooLarge| Task::unfollowed(program));
    let mut reader = Reader(&settlement.evidence);
    let weave = |task: &Task, contracts: &[Contract], forgetful: bool| {
        let weaving = Weaving::new(&task.source, contracts, forgetful)?;
        let woven = |contract| {
            palisade_reduce::woven_task(weaving.program_of(contract).program).map_err(|e| e.to_string())
        };
        [None].into_iter().chain((0..contracts.len()).map(Some)).map(woven).collect()
    };
    let certificate = evidence::read(&mut reader, &task, &weave).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    let mut record = Vec::new();
    for answer in &settlement.record {
        let read = answer.as_ref().map(|bytes| Refutation::from_bytes(bytes)).transpose();
        record.push(read.map_err(|e| e.to_string())?);
    }
    let court = Court::repeating(budget, record);
    let checked = match settlement.plain {
        true => palisade_check::plain::check(&task, &certificate, &court),
        false => palisade_check::certificate(&task, &certificate, &court),
    };
    checked.map_err(|r| r.to_string())?;
    let proved = court.tally().proved;
    if court.record().is_empty() { Ok(proved) } else { Err("it has proofs that nothing needs".into()) }
}

/// Repeats the run that goes wrong; returns in which way.
fn violation(
    settlement: &Settlement,
    program: &Program,
    property: &Property,
    budget: &Budget,
) -> Result<String, String> {
    same_program(settlement, program)?;
    if settlement.outlined || settlement.plain || !settlement.record.is_empty() {
        return Err("it has proofs that nothing needs".into());
    }
    let mut reader = Reader(&settlement.evidence);
    let bug = evidence::read_bug(&mut reader, program).map_err(|e| e.to_string())?;
    reader.end().map_err(|e| e.to_string())?;
    let replay =
        palisade_check::replay::replay(program, &bug, u64::MAX, budget).map_err(|e| e.to_string())?;
    let check = replay.run.stack.first().map(|(_, edge)| *edge);
    let goal = check.and_then(|edge| property.violated_at(replay.kind, edge));
    goal.map(|goal| goal.name().to_string()).ok_or_else(|| "the run violates something else".into())
}

/// The command: prints what was confirmed or why not, and returns the exit status: 0 and 1 for what
/// holds and what fails, 2 for files that cannot be read, 3 for what is refused.
pub fn command(certificate: &std::path::Path, files: &[PathBuf]) -> u8 {
    let file = match std::fs::read(certificate) {
        Ok(file) if !files.is_empty() => file,
        Ok(_) => {
            eprintln!("error: no C file is given");
            return 2;
        }
        Err(error) => {
            eprintln!("error: {}: {error}", certificate.display());
            return 2;
        }
    };
    let dossier = Dossier::of_file(&file).map_err(|e| e.to_string());
    match dossier.and_then(|dossier| recheck(&dossier, files, &Budget::unlimited())) {
        Ok(Confirmed::Holds(proofs)) => {
            println!("{proofs} proofs followed");
            println!("verdict: true");
            0
        }
        Ok(Confirmed::Fails(goal)) => {
            println!("verdict: false({goal})");
            1
        }
        Err(why) => {
            println!("verdict: unknown ({why})");
            3
        }
    }
}
