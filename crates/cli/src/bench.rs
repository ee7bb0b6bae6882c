//! The command `bench`: regenerates papers' tables and figures, and measures this program as a whole.

use crate::args::{
    ArraysArgs, BenchArgs, BenchName, GrowthArgs, Model, NumpredArgs, PortfolioArgs, SourceArgs, SymabsArgs,
};
use crate::boxes::{Measured, boxes};
use crate::{USAGE, input};
use palisade_bench::arrays::{self, Family};
use palisade_bench::asked::{Asked, ask};
use palisade_bench::boxes::Limits;
use palisade_bench::numpred::{Picture, counting, figure, flags, own, programs, svg};
use palisade_bench::weights::Learnt;
use palisade_bench::{growth, portfolio, symabs};
use palisade_portfolio::class::Class;
use palisade_portfolio::registry;
use rustc_hash::FxHashMap;
use serde_json::Value;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs the measurement.
pub fn bench(args: &BenchArgs) -> u8 {
    match &args.name {
        BenchName::Arrays(args) => arrays(args),
        BenchName::Boxes(args) => {
            let measured = boxes(args);
            let defects = measured.as_ref().is_ok_and(Measured::has_defects);
            report(measured).max(u8::from(defects))
        }
        BenchName::Growth(args) => growth(args),
        BenchName::Portfolio(args) => report(portfolio(args)),
        BenchName::Weights(args) => report(weights(args)),
        BenchName::Numpred(args) => numpred(args),
        BenchName::Symabs(args) => symabs(args),
    }
}

/// Table 4 of the EUREKA paper.
fn arrays(args: &ArraysArgs) -> u8 {
    let wanted = |f: &Family| f.name().to_lowercase().contains(&args.row.to_lowercase());
    let families: Vec<Family> = Family::ALL.into_iter().filter(wanted).collect();
    if let Some(n) = args.program {
        families.iter().for_each(|f| println!("/* {} */\n{}", f.name(), f.program(n)));
        return 0;
    }
    if let Some(dir) = &args.tasks {
        return report(array_tasks(args, dir));
    }
    let measured = in_a_folder(|palisade, folder| {
        let setup = arrays::Setup { palisade, folder, limit: args.time_limit, largest: args.largest };
        arrays::measure(&setup, &families, &mut |line| eprintln!("{line}"))
    });
    report(measured.map_err(|error| error.to_string()))
}

/// Runs a measurement of this program, with a folder of its own for the programs.
fn in_a_folder<T>(measure: impl FnOnce(&Path, &Path) -> io::Result<T>) -> io::Result<T> {
    let folder = std::env::temp_dir().join(format!("palisade-bench-{}", std::process::id()));
    let measured = std::env::current_exe().and_then(|palisade| {
        std::fs::create_dir_all(&folder)?;
        measure(&palisade, &folder)
    });
    // What is left there is of no use to anybody.
    let _ = std::fs::remove_dir_all(&folder);
    measured
}

/// Prints a table, or why there is none.
fn report(table: Result<impl Display, String>) -> u8 {
    match table {
        Ok(table) => {
            println!("{table}");
            0
        }
        Err(why) => {
            error!("{why}");
            USAGE
        }
    }
}

/// How time grows with the size of programs.
fn growth(args: &GrowthArgs) -> u8 {
    let families = growth::Family::ALL.into_iter().filter(|f| f.name().contains(&args.row));
    if let Some(n) = args.program {
        families.for_each(|f| println!("/* {} */\n{}", f.name(), f.program(n)));
        return 0;
    }
    for family in families {
        let row = in_a_folder(|palisade, folder| growth::measure(palisade, folder, family, args.time_limit));
        let code = report(row.map_err(|error| error.to_string()));
        if code != 0 {
            return code;
        }
    }
    0
}

/// The race of engines over tasks.
fn portfolio(args: &PortfolioArgs) -> Result<portfolio::Table, String> {
    let rows = ask_about(
        &args.tasks,
        &|category| args.wants(category),
        args.one_in,
        ["auto", "apart"],
        args.time_limit,
    )?;
    let weight = |class: &str, engine: &str| {
        Class::ALL.into_iter().find(|c| c.name() == class).map_or(1, |c| c.share(engine).weight)
    };
    Ok(portfolio::Table { rows, engines: racing()?, weight })
}

/// The names of the engines of the race.
fn racing() -> Result<Vec<String>, String> {
    Ok(registry::chosen("auto")?.iter().map(|a| a.engine.name().to_owned()).collect())
}

/// The weights of the engines, learnt anew.
fn weights(args: &PortfolioArgs) -> Result<Learnt, String> {
    let asked =
        ask_about(&args.tasks, &|category| args.wants(category), args.one_in, ["auto"], args.time_limit)?;
    let answers = asked.into_iter().map(|Asked { answers: [answer], .. }| answer).collect();
    Ok(Learnt { answers, engines: racing()?, classes: Class::ALL.map(Class::name).into() })
}

/// Tasks about arrays, with the analyses of arrays and without them.
fn array_tasks(args: &ArraysArgs, dir: &Path) -> Result<arrays::Tasks, String> {
    let others = registry::chosen("auto")?.into_iter().map(|a| a.engine.name().to_owned());
    let others: Vec<String> = others.filter(|name| !arrays::ENGINES.contains(&name.as_str())).collect();
    let about = |category: &str| category.ends_with("-Arrays");
    ask_about(dir, &about, 1, ["auto", &others.join(",")], args.time_limit).map(arrays::Tasks)
}

/// Settles one task in so many of some categories with some analyses.
fn ask_about<const N: usize>(
    dir: &Path,
    wanted: &dyn Fn(&str) -> bool,
    one_in: u32,
    analyses: [&str; N],
    limit: Duration,
) -> Result<Vec<Asked<N>>, String> {
    let palisade = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let mut seen: FxHashMap<String, u32> = FxHashMap::default();
    for task in listed(dir)? {
        let text = |name: &str| task[name].as_str().unwrap_or_default();
        let (category, name) = (text("category"), text("program"));
        let number = seen.entry(category.to_owned()).or_default();
        *number += 1;
        if !wanted(category) || !(*number - 1).is_multiple_of(one_in) {
            continue;
        }
        let property = dir.join("properties").join(format!("{}.prp", text("property")));
        let model = text("data_model").to_lowercase();
        let options = ["--property", &property.display().to_string(), "--data-model", &model];
        let ask = |analysis| {
            let options = [&options[..], &["--analysis", analysis]].concat();
            ask(&palisade, &options, &dir.join(name), limit).map_err(|error| error.to_string())
        };
        let answers = analyses.iter().map(|analysis| ask(analysis)).collect::<Result<Vec<_>, _>>()?;
        let told: Vec<String> =
            answers.iter().map(|a| format!("{} in {:.1} s", a.verdict, a.seconds)).collect();
        eprintln!("{name}: {}", told.join(", otherwise "));
        let Ok(answers) = answers.try_into() else { continue };
        rows.push(Asked {
            category: category.into(),
            name: name.into(),
            expected: task["expected"] == true,
            answers,
        });
    }
    Ok(rows)
}

/// Figure 14, Table 4 and Figure 15 of the paper on predicates and numbers.
fn numpred(args: &NumpredArgs) -> u8 {
    let measure = |title, sizes: &[usize], template| {
        figure(title, sizes, template, args.numeric, args.time_limit, &mut |line| eprintln!("{line}"))
    };
    let figures = measure("Figure 14(a)", &[10, 30, 100, 300, 1000, 3000, 10_000], counting)
        .and_then(|a| Ok([a, measure("Figure 14(b)", &[2, 5, 10, 15, 20, 30, 40], flags)?]));
    let figures = match figures {
        Ok(figures) => figures,
        Err(why) => {
            error!("{why}");
            return USAGE;
        }
    };
    for figure in &figures {
        println!("{}\n", figure.table());
    }
    let rows = match programs(args) {
        Ok(rows) => rows,
        Err(why) => {
            error!("{why}");
            return USAGE;
        }
    };
    println!("{}", programs::table(&rows));
    let mut pictures: Vec<Picture<'_>> = figures.iter().map(Picture::Growth).collect();
    pictures.push(Picture::Bars(&rows));
    if let Some(path) = &args.plot
        && let Err(error) = std::fs::write(path, svg(&pictures))
    {
        error!("{}: {error}", path.display());
        return USAGE;
    }
    0
}

/// Runs all structures on our own programs, and on tasks.
fn programs(args: &NumpredArgs) -> Result<Vec<programs::Row>, String> {
    let own = own::programs().map(|(name, expected, text)| TaskFile {
        name: name.into(),
        expected,
        model: Model::Ilp32,
        text: text.into(),
    });
    let mut all: Vec<TaskFile> = own.collect();
    if let Some(dir) = &args.tasks {
        all.extend(tasks(dir, &args.category)?.filter(|t| t.text.len() as u64 <= args.file_limit));
    }
    let limits = Limits { time: args.time_limit, memory: args.memory_limit };
    let mut rows = Vec::new();
    for t in all {
        let row = programs::measure(&t.name, t.expected, t.text, t.model.into(), args.numeric, limits);
        match row.map_err(|e| e.to_string())? {
            Some(row) => {
                eprintln!("{}", row.line());
                rows.push(row);
            }
            None => println!("rejected {}", t.name),
        }
    }
    Ok(rows)
}

/// A verification task.
struct TaskFile {
    name: String,
    expected: bool,
    model: Model,
    /// After preprocessing.
    text: String,
}

/// The tasks of categories in a folder with a list tasks.json; those that cannot be read are left out.
fn tasks<'a>(dir: &'a Path, categories: &'a [String]) -> Result<impl Iterator<Item = TaskFile> + 'a, String> {
    Ok(listed(dir)?.into_iter().filter_map(move |task| {
        let name = task["program"].as_str()?.to_owned();
        let category = task["category"].as_str()?;
        if !categories.iter().any(|c| c == category) {
            return None;
        }
        let model = if task["data_model"] == "LP64" { Model::Lp64 } else { Model::Ilp32 };
        let source = SourceArgs::file(dir.join(&name), model);
        let text = input::load_all(&source, false)?.files.into_iter().next()?.text;
        Some(TaskFile { name, expected: task["expected"] == true, model, text })
    }))
}

/// The list tasks.json of a folder.
fn listed(dir: &Path) -> Result<Vec<Value>, String> {
    let list = dir.join("tasks.json");
    let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", list.display()))
}

/// Section 5 of the symbolic abstraction paper.
fn symabs(args: &SymabsArgs) -> u8 {
    if args.diamonds > 0 {
        // All up to the paper's 25, then wider steps.
        let numbers: Vec<u32> = (1..=args.diamonds).filter(|d| *d <= 25 || d % 25 == 0).collect();
        println!("{}", symabs::diamonds::measure(&numbers, args.time_limit, &mut |_| {}));
    }
    let done = args.corpus.as_deref().map_or(Ok(()), |dir| blocks(args, dir)).and_then(|()| {
        let tasks = args.tasks.as_deref();
        tasks.map_or(Ok(()), |dir| loops(args, dir))
    });
    match done {
        Ok(()) => 0,
        Err(message) => {
            error!("{message}");
            USAGE
        }
    }
}

/// Transformers of basic blocks; each folder of the corpus is a project.
fn blocks(args: &SymabsArgs, dir: &Path) -> Result<(), String> {
    let at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let mut files = Vec::new();
    preprocessed(dir, &mut files).map_err(|e| at(dir, e))?;
    let mut table = symabs::blocks::Table(Vec::new());
    let mut seen = Default::default();
    for path in &files {
        let bytes = std::fs::read(path).map_err(|e| at(path, e))?;
        let shown = path.strip_prefix(dir).unwrap_or(path);
        let folder = shown.parent().map_or_else(String::new, |p| p.display().to_string());
        if table.0.last().is_none_or(|p| p.name != folder) {
            table.0.push(symabs::blocks::Project { name: folder, ..Default::default() });
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let name = shown.display().to_string();
        // There is a project for the folder of every file.
        let Some(project) = table.0.last_mut() else { continue };
        if let Err(why) = symabs::blocks::measure(project, args.data_model.into(), &name, text, &mut seen) {
            println!("rejected {name}: {why}");
        }
    }
    println!("{table}");
    match &args.svg {
        Some(path) => std::fs::write(path, table.scatter()).map_err(|e| at(path, e)),
        None => Ok(()),
    }
}

/// Programs of a category, by both kinds of transformers.
fn loops(args: &SymabsArgs, dir: &Path) -> Result<(), String> {
    let mut table = symabs::loops::Table(Vec::new());
    let categories = std::slice::from_ref(&args.category);
    for t in tasks(dir, categories)? {
        match symabs::loops::measure(&t.name, t.expected, t.text, t.model.into(), args.time_limit) {
            Some(row) => table.0.push(row),
            None => println!("rejected {}", t.name),
        }
    }
    println!("{table}");
    Ok(())
}

/// The `.i` files below a folder, in order; what starts with a dot is left out.
pub fn preprocessed(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            preprocessed(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "i") {
            files.push(path);
        }
    }
    Ok(())
}
