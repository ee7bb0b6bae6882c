//! Reads programs: files, preprocessing, diagnostics.

use crate::args::{Model, SourceArgs};
use crate::message;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use palisade_base::{Diagnostic, Severity, SourceMap, Span};
use palisade_cfa::Program;
use palisade_lower::{Compiled, Options};
use palisade_recheck::source;
use palisade_witness::places::SourceFile;
use palisade_witness::sha256;
use std::path::Path;

/// A program that was read without errors.
pub struct Input {
    /// Its texts.
    pub sources: SourceMap,
    /// Its automaton.
    pub program: Program,
    /// The files it was read from, before and after preprocessing.
    pub files: Vec<SourceFile>,
    /// The SHA-256 of each file.
    pub hashes: Vec<String>,
    /// What it was compiled for.
    pub data_model: Model,
}

/// The texts of a program.
pub struct Texts {
    /// Before and after preprocessing.
    pub files: Vec<SourceFile>,
    /// The SHA-256 of each file.
    pub hashes: Vec<String>,
}

/// Reads, preprocesses and compiles; prints all diagnostics. `None` after an error.
pub fn read(args: &SourceArgs, options: &Options) -> Option<Input> {
    let Texts { files, hashes } = load_all(args, options.annotations)?;
    let (sources, compiled) = compile(&files, args, options)?;
    report(&sources, &compiled.diagnostics);
    Some(Input { program: compiled.program?, sources, files, hashes, data_model: args.data_model })
}

/// Reads and preprocesses all files, with their annotations if they count; prints what went wrong.
pub fn load_all(args: &SourceArgs, annotated: bool) -> Option<Texts> {
    let mut texts = Texts { files: Vec::new(), hashes: Vec::new() };
    for path in &args.files {
        match load(path, args, annotated) {
            Ok((file, hash)) => {
                texts.files.push(file);
                texts.hashes.push(hash);
            }
            Err(message) => {
                error!("{message}");
                return None;
            }
        }
    }
    Some(texts)
}

/// Compiles texts.
pub fn compile(files: &[SourceFile], args: &SourceArgs, options: &Options) -> Option<(SourceMap, Compiled)> {
    let mut sources = SourceMap::new();
    let mut ids = Vec::new();
    for file in files {
        let Some(id) = sources.add(&file.name, file.text.clone()) else {
            error!("{}: the inputs are larger than 4 GB", file.name);
            return None;
        };
        ids.push(id);
    }
    let compiled = palisade_lower::compile(&mut sources, &ids, args.data_model.into(), options);
    Some((sources, compiled))
}

fn load(path: &Path, args: &SourceArgs, annotated: bool) -> Result<(SourceFile, String), String> {
    let file = args.how(annotated).load(path)?;
    let hash = sha256::hex(&file.bytes);
    let original = file.is_preprocessed.then(|| source::text(file.bytes));
    let name = path.to_string_lossy().into_owned();
    Ok((SourceFile { name, text: file.preprocessed, original }, hash))
}

/// Prints diagnostics to standard error, each with its source line.
pub fn report(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        eprintln!("{}", render(sources, diagnostic));
        let severity = match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        message::keep(severity, &diagnostic.message, sources.position(diagnostic.span));
    }
}

/// Prints an error at a position (counted from 1) of a text that is not C.
pub fn report_at(file: &str, text: &str, line: u32, column: u32, message: &str) {
    let mut sources = SourceMap::new();
    let before: usize = text.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
    let within = text[before..].chars().take(column as usize - 1).map(char::len_utf8).sum::<usize>();
    let span = match sources.add(file, text.into()) {
        Some(_) => Span::new((before + within) as u32, (before + within + 1) as u32),
        None => Span::NONE,
    };
    report(&sources, &[Diagnostic::error(span, message)]);
}

fn render(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let mut group =
        level.primary_title(diagnostic.message.as_str()).elements(line_snippet(sources, diagnostic.span));
    for (span, note) in &diagnostic.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
        group = group.elements(span.and_then(|s| line_snippet(sources, s)));
    }
    Renderer::plain().render(&[group])
}

/// The line of a span with carets below it.
fn line_snippet(sources: &SourceMap, span: Span) -> Option<Snippet<'_, annotate_snippets::Annotation<'_>>> {
    let position = sources.position(span)?;
    let line = sources.line_text(span)?;
    let start: usize = line.chars().take(position.column as usize - 1).map(char::len_utf8).sum();
    let length = (span.hi.saturating_sub(span.lo) as usize).max(1);
    let end = (start + length).min(line.len()).max(start);
    let end = (end..=line.len()).find(|&i| line.is_char_boundary(i)).unwrap_or(line.len());
    Some(
        Snippet::source(line)
            .path(position.file.to_string())
            .line_start(position.line as usize)
            .annotation(AnnotationKind::Primary.span(start..end)),
    )
}
