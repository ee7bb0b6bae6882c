//! Reads C files, types them and prints how many were accepted, rejected or made us panic.
//!
//! `typecheck [--lp64] [--verbose] FILE…`: one program per file; directories are searched for `.c` and `.i`.
//! A `tasks.json` in a directory says the data model of the programs it lists.

use palisade_base::{Diagnostic, SourceMap};
use palisade_c_syntax::{Interner, parse};
use palisade_c_types::check_program;
use palisade_cfa::DataModel;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Messages and times of one program.
struct Outcome {
    errors: Vec<String>,
    warnings: Vec<String>,
    bytes: usize,
    parsing: Duration,
    typing: Duration,
}

fn main() {
    let mut default = DataModel::Ilp32;
    let mut files = Vec::new();
    let mut models = HashMap::new();
    let mut verbose = false;
    for arg in std::env::args().skip(1) {
        match arg.as_str() {
            "--lp64" => default = DataModel::Lp64,
            "--verbose" => verbose = true,
            path => collect(Path::new(path), &mut files, &mut models),
        }
    }
    files.sort();
    let (mut accepted, mut rejected, mut panicked) = (0, 0, 0);
    let (mut bytes, mut parsing, mut typing) = (0, Duration::ZERO, Duration::ZERO);
    for file in files {
        let model = models.get(&file).copied().unwrap_or(default);
        let result = std::panic::catch_unwind(|| check_file(&file, model));
        match result {
            Ok(Some(out)) => {
                if out.errors.is_empty() {
                    accepted += 1;
                } else {
                    rejected += 1;
                    println!("{}: {}", file.display(), out.errors[0]);
                }
                if verbose {
                    println!("{}: {} bytes, typed in {:?}", file.display(), out.bytes, out.typing);
                    for warning in &out.warnings {
                        println!("  warning: {warning}");
                    }
                }
                bytes += out.bytes;
                parsing += out.parsing;
                typing += out.typing;
            }
            Ok(None) => println!("{}: cannot be read", file.display()),
            Err(_) => {
                panicked += 1;
                println!("{}: panicked", file.display());
            }
        }
    }
    let rate = |t: Duration| bytes as f64 / 1e6 / t.as_secs_f64().max(1e-9);
    println!("accepted {accepted}, rejected {rejected}, panicked {panicked}");
    println!(
        "{bytes} bytes: parsing {parsing:.1?} ({:.0} MB/s), typing {typing:.1?} ({:.0} MB/s)",
        rate(parsing),
        rate(typing)
    );
}

/// Adds a file, or all C files below a directory.
fn collect(path: &Path, files: &mut Vec<PathBuf>, models: &mut HashMap<PathBuf, DataModel>) {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return;
    }
    if let Ok(text) = std::fs::read_to_string(path.join("tasks.json")) {
        read_models(path, &text, models);
    }
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let is_c = path.extension().is_some_and(|e| e == "c" || e == "i");
        if path.is_dir() || is_c {
            collect(&path, files, models);
        }
    }
}

/// The pairs of `"program"` and `"data_model"` in a list of tasks.
fn read_models(dir: &Path, text: &str, models: &mut HashMap<PathBuf, DataModel>) {
    let field = |object: &str, key: &str| {
        let rest = object.split_once(&format!("\"{key}\":"))?.1;
        Some(rest.split('"').nth(1)?.to_string())
    };
    for object in text.split('{').skip(1) {
        if let (Some(program), Some(model)) = (field(object, "program"), field(object, "data_model")) {
            let model = if model == "LP64" { DataModel::Lp64 } else { DataModel::Ilp32 };
            models.insert(dir.join(program), model);
        }
    }
}

fn check_file(path: &Path, model: DataModel) -> Option<Outcome> {
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let bytes = text.len();
    let mut map = SourceMap::new();
    let file = map.add(&path.display().to_string(), text)?;
    let mut interner = Interner::new();
    let start = Instant::now();
    let (unit, mut diags) = parse(&mut map, file, &mut interner);
    let parsing = start.elapsed();
    let start = Instant::now();
    let (_, more) = check_program(&[unit], &mut interner, model);
    let typing = start.elapsed();
    diags.extend(more);
    let messages = |errors: bool| {
        let wanted = diags.iter().filter(|d| d.is_error() == errors);
        let with_position = |d: &Diagnostic| match map.position(d.span) {
            Some(p) => format!("{}:{}:{}: {}", p.file, p.line, p.column, d.message),
            None => d.message.clone(),
        };
        wanted.map(with_position).collect()
    };
    Some(Outcome { errors: messages(true), warnings: messages(false), bytes, parsing, typing })
}
