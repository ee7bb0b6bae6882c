//! The command `bench`: regenerates a paper's table.

use crate::USAGE;
use crate::args::{BenchArgs, BenchName, BoxesArgs, NumpredArgs};
use palisade_bench::boxes::{Domain, Limits, Row, Setup, Table, Trouble, measure};
use palisade_bench::numpred::{counting, figure, flags, svg};
use std::io;
use std::path::{Path, PathBuf};

/// Runs the measurement.
pub fn bench(args: &BenchArgs) -> u8 {
    match &args.name {
        BenchName::Boxes(args) => boxes(args),
        BenchName::Numpred(args) => numpred(args),
    }
}

/// Figure 14 of the paper on predicates and numbers.
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
    if let Some(path) = &args.plot
        && let Err(error) = std::fs::write(path, svg(&figures))
    {
        eprintln!("error: {}: {error}", path.display());
        return USAGE;
    }
    0
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
