//! Lowers every C program of a directory and says how many were accepted.
//!
//! ```text
//! cargo run --release -p palisade-lower --example lower -- DIR [--gcc] [--text] [NAME…]
//! ```
//!
//! `DIR` holds `.c` and `.i` files in folders and, optionally, a `tasks.json` that names the data
//! model of each program (ILP32 otherwise). Every automaton is verified. With names, only programs
//! whose path contains one of them are tried, and their messages are shown. `--gcc` compares the
//! time with that of `gcc -fsyntax-only` on the ten largest programs; `--text` prints the automata.

use palisade_base::{Diagnostic, SourceMap};
use palisade_cfa::DataModel;
use palisade_lower::{Compiled, Options, compile};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(root) = args.next().map(PathBuf::from) else {
        eprintln!("usage: lower DIR [--gcc] [--text] [NAME…]");
        return ExitCode::from(2);
    };
    let (flags, names): (Vec<String>, Vec<String>) = args.partition(|a| a.starts_with("--"));
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    let models = models(&root);
    let (mut accepted, mut rejected, mut panicked, mut malformed) = (0, 0, 0, 0);
    let (mut bytes, mut edges, mut total) = (0, 0, Duration::ZERO);
    for file in &files {
        let shown = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        if !names.is_empty() && !names.iter().any(|n| shown.contains(n.as_str())) {
            continue;
        }
        let Ok(text) = std::fs::read(file).map(|b| String::from_utf8_lossy(&b).into_owned()) else {
            continue;
        };
        let model = models.get(&shown).copied().unwrap_or(DataModel::Ilp32);
        bytes += text.len();
        let start = Instant::now();
        let result = std::panic::catch_unwind(|| run(&shown, text, model));
        total += start.elapsed();
        match result {
            Err(_) => {
                panicked += 1;
                println!("panicked {shown}");
            }
            Ok((map, Compiled { program: Some(program), diagnostics })) => {
                accepted += 1;
                edges += program.edges.len();
                let findings = palisade_cfa::verify(&program);
                if !findings.is_empty() {
                    malformed += 1;
                    println!("malformed {shown}: {} findings, first: {}", findings.len(), findings[0]);
                }
                if flags.iter().any(|f| f == "--text") {
                    println!("{}", palisade_cfa::text::print(&program));
                }
                if !names.is_empty() {
                    diagnostics.iter().for_each(|d| show(&map, d));
                }
            }
            Ok((map, Compiled { program: None, diagnostics })) => {
                rejected += 1;
                println!("rejected {shown}");
                diagnostics.iter().filter(|d| d.is_error()).take(3).for_each(|d| show(&map, d));
            }
        }
    }
    println!("accepted {accepted}, rejected {rejected}, panicked {panicked}, malformed {malformed}");
    println!("{bytes} bytes, {edges} edges, {:.1} MB/s", bytes as f64 / 1e6 / total.as_secs_f64());
    if flags.iter().any(|f| f == "--gcc") {
        against_gcc(&root, files, &models);
    }
    if rejected + panicked + malformed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(name: &str, text: String, model: DataModel) -> (SourceMap, Compiled) {
    let mut map = SourceMap::new();
    let file = map.add(name, text).expect("the file is smaller than 4 GB");
    let compiled = compile(&mut map, &[file], model, &Options::default());
    (map, compiled)
}

fn show(map: &SourceMap, diagnostic: &Diagnostic) {
    let kind = if diagnostic.is_error() { "error" } else { "warning" };
    match map.position(diagnostic.span) {
        Some(p) => println!("  {}:{}:{}: {kind}: {}", p.file, p.line, p.column, diagnostic.message),
        None => println!("  {kind}: {}", diagnostic.message),
    }
}

fn find(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|e| e == "c" || e == "i") {
            files.push(path);
        }
    }
}

/// Data models by program, from `tasks.json`.
fn models(root: &Path) -> BTreeMap<String, DataModel> {
    let text = std::fs::read_to_string(root.join("tasks.json")).unwrap_or_default();
    let tasks: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let mut models = BTreeMap::new();
    for task in tasks.as_array().into_iter().flatten() {
        if let (Some(program), Some(model)) = (task["program"].as_str(), task["data_model"].as_str()) {
            let model = if model == "LP64" { DataModel::Lp64 } else { DataModel::Ilp32 };
            models.insert(program.to_owned(), model);
        }
    }
    models
}

/// Medians of seven runs, ours and gcc's, on the ten largest programs.
fn against_gcc(root: &Path, mut files: Vec<PathBuf>, models: &BTreeMap<String, DataModel>) {
    files.sort_by_key(|f| std::cmp::Reverse(std::fs::metadata(f).map_or(0, |m| m.len())));
    for file in files.iter().take(10) {
        let shown = file.strip_prefix(root).unwrap_or(file).display().to_string();
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let model = models.get(&shown).copied().unwrap_or(DataModel::Ilp32);
        let flag = if model == DataModel::Lp64 { "-m64" } else { "-m32" };
        let ours = median(|| drop(run(&shown, text.clone(), model)));
        let gcc = median(|| {
            let status = Command::new("gcc")
                .args(["-fsyntax-only", "-w", "-fpreprocessed", flag])
                .arg(file)
                .stderr(Stdio::null())
                .status();
            assert!(status.is_ok(), "gcc cannot be run");
        });
        let ratio = ours.as_secs_f64() / gcc.as_secs_f64();
        println!("{:>7.2} ms, gcc {:>7.2} ms, ratio {ratio:.2}  {shown}", ms(ours), ms(gcc));
    }
}

fn ms(d: Duration) -> f64 {
    d.as_secs_f64() * 1e3
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..7)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[3]
}
