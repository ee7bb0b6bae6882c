//! The command `bench boxes`: Table 3 of the BOXES paper over a folder of preprocessed files, by some processes
//! at the same time. All append to one file of rows, line by line, so a run that is broken off can go on.

use crate::args::BoxesArgs;
use crate::bench::preprocessed;
use palisade_bench::boxes::{Domain, Limits, Row, Setup, Table, Trouble, in_sample, measure};
use palisade_bench::child;
use rustc_hash::FxHashSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The table with what is to be known about the files.
pub struct Measured {
    files: usize,
    /// Lines about files that are not accepted as C.
    rejected: Vec<String>,
    table: Table,
}

impl Measured {
    /// Whether it shows a defect of ours.
    pub fn has_defects(&self) -> bool {
        self.table.has_defects()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rejected.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        writeln!(f, "{} files, {} rejected", self.files, self.rejected.len())?;
        if !Domain::PplBox.is_built() {
            writeln!(f, "PPL was left out: build with --features ppl")?;
        }
        write!(f, "{}", self.table)
    }
}

/// How lines about rejected files start in the file of rows.
const REJECTED: &str = "rejected ";

/// Measures all functions of the files that the rows do not have yet.
pub fn boxes(args: &BoxesArgs) -> Result<Measured, String> {
    let start = Instant::now();
    let at = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let mut files = Vec::new();
    preprocessed(&args.dir, &mut files).map_err(|e| at(&args.dir, e))?;
    if files.is_empty() {
        return Err(format!("{}: no .i files; scripts/corpus.sh makes some", args.dir.display()));
    }
    let own = std::env::temp_dir().join(format!("palisade-boxes-{}", std::process::id()));
    let path = args.rows.as_ref().unwrap_or(&own);
    let done = log(path).and_then(|log| {
        let seen: FxHashSet<String> = read(path)?.0.into_iter().map(|row| row.name).collect();
        let jobs = args.jobs.map_or_else(std::thread::available_parallelism, Ok)?;
        child::share(jobs.get(), files.len(), |next| part(args, &files, seen.clone(), &log, next))
    });
    let found = done.and_then(|()| read(path));
    if args.rows.is_none() {
        // It may not even have been made.
        let _ = std::fs::remove_file(path);
    }
    let (mut rows, rejected) = found.map_err(|e| at(path, e))?;
    // Runs with larger samples may have written to the same file.
    rows.retain(|row| in_sample(&row.name, args.one_in).is_some());
    eprintln!("{} functions, measured in {:.1} min", rows.len(), start.elapsed().as_secs_f64() / 60.0);
    Ok(Measured { files: files.len(), rejected, table: Table { rows } })
}

fn log(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

/// The rows of a file, each function once, and what it says about rejected files.
fn read(path: &Path) -> io::Result<(Vec<Row>, Vec<String>)> {
    let text = std::fs::read_to_string(path)?;
    let mut rows: Vec<Row> = text.lines().filter_map(Row::decode).collect();
    // Two processes may have measured the same function of a header.
    let mut seen = FxHashSet::default();
    rows.retain(|row| seen.insert(row.name.clone()));
    let mut rejected: Vec<String> =
        text.lines().filter(|l| l.starts_with(REJECTED)).map(Into::into).collect();
    rejected.sort_unstable();
    rejected.dedup();
    Ok((rows, rejected))
}

/// Measures the files that `next` gives to this process.
fn part(
    args: &BoxesArgs,
    files: &[PathBuf],
    seen: FxHashSet<String>,
    mut log: &File,
    next: &mut dyn FnMut() -> io::Result<Option<usize>>,
) -> io::Result<()> {
    let mut setup = Setup {
        data_model: args.data_model.into(),
        limits: Limits { time: args.time_limit, memory: args.memory_limit },
        peer_time: args.peer_time_limit.unwrap_or(args.time_limit),
        domains: Domain::ALL.into_iter().filter(|d| d.is_built()).collect(),
        one_in: args.one_in,
        peers_one_in: args.peers_one_in,
        proofs_one_in: args.proofs_one_in,
        seen,
    };
    while let Some(i) = next()? {
        let path = &files[i];
        let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
        let shown = path.strip_prefix(&args.dir).unwrap_or(path);
        let folder = shown.parent().map_or_else(String::new, |p| p.display().to_string());
        let name = shown.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let mut functions = 0;
        let mut written = Ok(());
        // In one piece, so that lines of two processes do not mix.
        let mut line = |text: String| log.write_all(format!("{text}\n").as_bytes());
        let done = measure(&mut setup, &folder, &name, text, &mut |row| {
            functions += 1;
            if written.is_ok() {
                written = line(row.encode());
            }
        });
        written?;
        match done {
            Ok(()) => {}
            Err(Trouble::Rejected(messages)) => {
                let why = messages.first().map_or("", |m| m);
                line(format!("{REJECTED}{}: {}", shown.display(), why.replace('\n', " ")))?;
            }
            Err(Trouble::System(error)) => return Err(error),
        }
        eprintln!("{} of {}: {}, {functions} functions", i + 1, files.len(), shown.display());
    }
    Ok(())
}
