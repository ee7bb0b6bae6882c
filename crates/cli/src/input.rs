//! Reads programs: files, preprocessing, diagnostics.

use crate::args::SourceArgs;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use palisade_base::{Diagnostic, FileId, Severity, SourceMap, Span};
use palisade_cfa::Program;
use palisade_lower::Options;
use std::path::Path;
use std::process::Command;

/// A program that was read without errors.
pub struct Input {
    /// Its texts.
    pub sources: SourceMap,
    /// Its automaton.
    pub program: Program,
}

/// Reads, preprocesses and compiles; prints all diagnostics. `None` after an error.
pub fn read(args: &SourceArgs, options: &Options) -> Option<Input> {
    let mut sources = SourceMap::new();
    let mut files = Vec::new();
    for path in &args.files {
        match load(&mut sources, path, args) {
            Ok(file) => files.push(file),
            Err(message) => {
                eprintln!("error: {}: {message}", path.display());
                return None;
            }
        }
    }
    let compiled = palisade_lower::compile(&mut sources, &files, args.data_model.into(), options);
    report(&sources, &compiled.diagnostics);
    Some(Input { program: compiled.program?, sources })
}

fn load(sources: &mut SourceMap, path: &Path, args: &SourceArgs) -> Result<FileId, String> {
    let bytes = if path.extension().is_some_and(|e| e == "i") {
        std::fs::read(path).map_err(|e| e.to_string())?
    } else {
        std::fs::metadata(path).map_err(|e| e.to_string())?;
        preprocess(path, args)?
    };
    let text =
        String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    sources.add(&path.to_string_lossy(), text).ok_or_else(|| "the inputs are larger than 4 GB".into())
}

fn preprocess(path: &Path, args: &SourceArgs) -> Result<Vec<u8>, String> {
    let mut cc = Command::new("cc");
    cc.arg("-E").arg(match args.data_model {
        crate::args::Model::Ilp32 => "-m32",
        crate::args::Model::Lp64 => "-m64",
    });
    cc.args(args.include.iter().flat_map(|d| [Path::new("-I"), d]));
    cc.args(args.define.iter().map(|d| format!("-D{d}")));
    // A path that starts with a dash would be taken for an option.
    cc.arg(Path::new(".").join(path));
    let output = cc
        .output()
        .map_err(|e| format!("cannot run `cc -E` ({e}); install a C compiler or pass a .i file"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("`cc -E` failed:\n{}", String::from_utf8_lossy(&output.stderr).trim_end()))
    }
}

/// Prints diagnostics to standard error, each with its source line.
pub fn report(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        eprintln!("{}", render(sources, diagnostic));
    }
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
