//! The command `bench`: regenerates papers' tables and figures.

use crate::args::{ArraysArgs, BenchArgs, BenchName, BoxesArgs, Model, NumpredArgs, SourceArgs, SymabsArgs};
use crate::question::Question;
use crate::{USAGE, input};
use palisade_bench::arrays::{self, Family};
use palisade_bench::boxes::{Domain, Limits, Row, Setup, Table, Trouble, measure};
use palisade_bench::numpred::{Picture, counting, figure, flags, programs, svg};
use palisade_bench::symabs;
use palisade_numpred::Structure;
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the measurement.
pub fn bench(args: &BenchArgs) -> u8 {
    match &args.name {
        BenchName::Arrays(args) => arrays(args),
        BenchName::Boxes(args) => boxes(args),
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
    let folder = std::env::temp_dir().join(format!("palisade-arrays-{}", std::process::id()));
    let measured = std::env::current_exe().and_then(|palisade| {
        std::fs::create_dir_all(&folder)?;
        let setup = arrays::Setup {
            palisade: &palisade,
            folder: &folder,
            limit: args.time_limit,
            largest: args.largest,
        };
        arrays::measure(&setup, &families, &mut |line| eprintln!("{line}"))
    });
    // What is left there is of no use to anybody.
    let _ = std::fs::remove_dir_all(&folder);
    match measured {
        Ok(table) => {
            println!("{table}");
            0
        }
        Err(error) => {
            eprintln!("error: {error}");
            USAGE
        }
    }
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
            eprintln!("error: {why}");
            return USAGE;
        }
    };
    for figure in &figures {
        println!("{}\n", figure.table());
    }
    let mut rows = Vec::new();
    if let Some(list) = &args.programs {
        match programs(args, list) {
            Ok(measured) => rows = measured,
            Err(why) => {
                eprintln!("error: {why}");
                return USAGE;
            }
        }
        println!("{}", programs::table(&rows));
    }
    let mut pictures: Vec<Picture<'_>> = figures.iter().map(Picture::Growth).collect();
    pictures.extend((!rows.is_empty()).then_some(Picture::Bars(&rows)));
    if let Some(path) = &args.plot
        && let Err(error) = std::fs::write(path, svg(&pictures))
    {
        eprintln!("error: {}: {error}", path.display());
        return USAGE;
    }
    0
}

/// Runs all structures on the programs of a list.
fn programs(args: &NumpredArgs, list: &Path) -> Result<Vec<programs::Row>, String> {
    let text = std::fs::read_to_string(list).map_err(|e| format!("{}: {e}", list.display()))?;
    let limits = Limits { time: args.time_limit, memory: args.memory_limit };
    let mut rows = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{}:{}", list.display(), i + 1);
        let (expected, name) = match line.trim().split_once(' ') {
            Some(("true", name)) => (true, name.trim()),
            Some(("false", name)) => (false, name.trim()),
            _ => return Err(format!("{}: expected `true` or `false` and a file", at())),
        };
        let path = list.parent().unwrap_or(Path::new("")).join(name);
        let source = SourceArgs::file(path, args.data_model);
        let mut question = Question::read(Some(&args.property)).ok_or("no such property")?;
        let options = source.options(&question.property);
        let mut program =
            input::read(&source, &options).ok_or_else(|| format!("{}: not read", at()))?.program;
        if !question.instrument(&mut program) {
            return Err(format!("{}: the property does not fit", at()));
        }
        let program = Arc::new(program);
        let mut row = programs::Row { name: name.into(), expected, runs: Vec::new() };
        for structure in Structure::ALL {
            let run = programs::run(&program, &question.property, structure, args.numeric, limits);
            row.runs.push(run.map_err(|e| e.to_string())?);
        }
        eprintln!("{}", row.line());
        rows.push(row);
    }
    Ok(rows)
}

/// Table 3 of the BOXES paper over a folder of preprocessed files.
fn boxes(args: &BoxesArgs) -> u8 {
    let mut files = Vec::new();
    if let Err(error) = preprocessed(&args.dir, &mut files) {
        eprintln!("error: {}: {error}", args.dir.display());
        return USAGE;
    }
    if files.is_empty() {
        eprintln!("error: {}: no .i files; scripts/corpus.sh makes some", args.dir.display());
        return USAGE;
    }
    let mut setup = Setup {
        data_model: args.data_model.into(),
        limits: Limits { time: args.time_limit, memory: args.memory_limit },
        peer_time: args.peer_time_limit.unwrap_or(args.time_limit),
        seen: Default::default(),
    };
    let (mut rows, mut rejected) = (Vec::new(), 0);
    for path in &files {
        let text = match std::fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => {
                eprintln!("error: {}: {error}", path.display());
                return USAGE;
            }
        };
        let shown = path.strip_prefix(&args.dir).unwrap_or(path);
        let folder = shown.parent().map_or_else(String::new, |p| p.display().to_string());
        let name = shown.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let done = measure(&mut setup, &folder, &name, text, &mut |row| {
            if args.functions {
                println!("{}", line(&row));
            }
            rows.push(row);
        });
        match done {
            Ok(()) => {}
            Err(Trouble::Rejected(messages)) => {
                rejected += 1;
                println!("rejected {}: {}", shown.display(), messages.first().map_or("", |m| m));
            }
            Err(Trouble::System(error)) => {
                eprintln!("error: {error}");
                return USAGE;
            }
        }
    }
    println!("{} files, {rejected} rejected", files.len());
    if !Domain::PplBox.is_built() {
        println!("PPL was left out: build with --features ppl");
    }
    println!("{}", Table { rows });
    0
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
            eprintln!("error: {message}");
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

/// Programs of a category whose property holds, by both kinds of transformers.
fn loops(args: &SymabsArgs, dir: &Path) -> Result<(), String> {
    let list = dir.join("tasks.json");
    let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let tasks: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", list.display()))?;
    let mut table = symabs::loops::Table(Vec::new());
    for task in tasks.as_array().into_iter().flatten() {
        let (Some(program), true) = (
            task["program"].as_str(),
            task["category"] == args.category.as_str() && task["expected"] == true,
        ) else {
            continue;
        };
        let model = if task["data_model"] == "LP64" { Model::Lp64 } else { Model::Ilp32 };
        let source = SourceArgs::file(dir.join(program), model);
        let Some(file) = input::load_all(&source).and_then(|texts| texts.files.into_iter().next()) else {
            continue;
        };
        match symabs::loops::measure(program, file.text, model.into(), args.time_limit) {
            Some(row) => table.0.push(row),
            None => println!("rejected {program}"),
        }
    }
    println!("{table}");
    Ok(())
}

/// A function's figures: variables, loop heads, then for each domain milliseconds and widenings.
fn line(row: &Row) -> String {
    let mut text = format!("{}\t{}\t{}", row.name, row.vars, row.loops);
    for domain in Domain::ALL {
        text += &match row.solved(domain) {
            Some(s) => format!("\t{:.3}\t{}", s.total().as_secs_f64() * 1e3, s.widenings),
            None => "\t-\t-".into(),
        };
    }
    text
}

/// The `.i` files below a folder, in order; what starts with a dot is left out.
fn preprocessed(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
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
