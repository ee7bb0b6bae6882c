//! The small commands: `cfa`, `run`, `solve`, `analyses`.

use crate::args::{Arguments as CommandLine, CfaArgs, Format, RunArgs, SolveArgs, SolveMethod, SourceArgs};
use crate::input::Input;
use crate::{USAGE, input, picture, report};
use clap::CommandFactory;
use palisade_analyses::invariants::functions::Method;
use palisade_cfa::{CheckKind, EdgeId, Scalar};
use palisade_interp::{Arguments, Config, Inputs, Interp, Listed, Outcome, Output, Random, Stream};
use palisade_lower::{CheckSet, Options};
use palisade_property::Property;
use palisade_witness::places::Places;
use std::collections::VecDeque;
use std::io::Write;
use std::path::Path;

/// Shows the automaton of a program.
pub fn cfa(args: &CfaArgs) -> u8 {
    if let Some(name) = &args.function {
        return function(args, name);
    }
    let Some(input) = read(&args.source) else { return USAGE };
    let text = match args.format {
        Format::Svg => {
            error!("a picture shows one function: say which with --function");
            return USAGE;
        }
        Format::Text => palisade_cfa::text::print(&input.program),
        Format::Dot => palisade_cfa::dot::to_dot(&input.program, &input.program.analyse()),
        Format::Json => {
            palisade_cfa::json::to_json(&input.program, &input.program.analyse(), Some(&input.sources))
                .to_string()
        }
    };
    // A closed pipe is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// Shows the automaton of one function.
fn function(args: &CfaArgs, name: &str) -> u8 {
    // Nobody has to call it.
    let options = Options { entry: String::new(), ..args.source.options(&Property::assertions()) };
    let Some(input) = input::read(&args.source, &options) else { return USAGE };
    let places = Places::new(input.files.clone());
    let text = match (input.program.func_named(name), args.format) {
        (Some(func), Format::Dot) => picture::dot(&input.program, &places, func),
        (Some(func), Format::Svg) => picture::svg(&input.program, &places, func),
        (Some(_), _) => {
            error!("one function is shown as a picture: use --format svg or --format dot");
            return USAGE;
        }
        (None, _) => None,
    };
    let Some(text) = text else {
        error!("there is no function `{name}` with a body");
        return USAGE;
    };
    // A closed pipe is no error of ours.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

/// Executes a program with all checks; its exit status is ours unless it goes wrong.
pub fn run(args: &RunArgs) -> u8 {
    let Some(input) = read(&args.source) else { return USAGE };
    let program = &input.program;
    let stdin = match args.stdin.as_ref().map(std::fs::read).transpose() {
        Ok(stdin) => stdin,
        Err(error) => {
            error!("{}: {error}", args.stdin.as_deref().unwrap_or(Path::new("")).display());
            return USAGE;
        }
    };
    let values = Given {
        listed: Listed::new(args.input.iter().copied()),
        random: Random::new(args.seed),
        input: &input,
        stdin: stdin.map(VecDeque::from),
    };
    let name = args.argv0.clone().unwrap_or_else(|| args.source.files[0].to_string_lossy().into_owned());
    let arguments: Vec<&[u8]> =
        std::iter::once(&name).chain(&args.args).map(|argument| argument.as_bytes()).collect();
    let mut values = Arguments::new(program, &arguments, values);
    let run = Interp::new(program, Config { approximate: true, ..Config::default() })
        .run(&mut values, &mut Streams);
    match run.outcome {
        Outcome::Exit(status) => return status as u8,
        Outcome::Abort => eprintln!("aborted"),
        ref other => eprintln!("{other}"),
    }
    print!("{}", report::stack(program, &input.sources, &run.stack));
    println!("inputs: {}", report::inputs(&run));
    match run.outcome {
        Outcome::Violation(_) | Outcome::Trap(_) => 1,
        _ => 3,
    }
}

/// Inputs from the command line, then pseudo-random ones. What the library asks for are characters
/// of the standard input: they come from a file if there is one, and after the last one it ends.
struct Given<'i> {
    listed: Listed,
    random: Random,
    input: &'i Input,
    stdin: Option<VecDeque<u8>>,
}

impl Inputs for Given<'_> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        let at = self.input.sources.position(self.input.program.edges[edge].span);
        if at.is_none_or(|p| !p.file.starts_with("<library>/")) {
            return self.listed.input(ty, edge).or_else(|| self.random.input(ty, edge));
        }
        let end = ty.int().map_or(0, |t| t.truncate(u128::MAX));
        Some(match &mut self.stdin {
            Some(bytes) => bytes.pop_front().map_or(end, u128::from),
            None => self.listed.input(ty, edge).unwrap_or(end),
        })
    }
}

/// The standard streams of this process.
struct Streams;

impl Output for Streams {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        // A closed pipe is no error of ours.
        let _ = match stream {
            Stream::Out => std::io::stdout().write_all(bytes),
            Stream::Err => std::io::stderr().write_all(bytes),
        };
    }
}

/// Reads a program with all checks.
fn read(source: &SourceArgs) -> Option<Input> {
    // Whether something leaks is asked at the end, by properties.
    let checks = CheckSet::ALL.without(CheckKind::MemTrack).without(CheckKind::MemCleanup);
    let options = Options { checks, ..source.options(&Property::assertions()) };
    input::read(source, &options)
}

/// Runs the embedded solver on a script.
pub fn solve(args: &SolveArgs) -> u8 {
    let name = args.file.to_string_lossy();
    match std::fs::read(&args.file) {
        Ok(text) if args.method == SolveMethod::Stalmarck => {
            palisade_symabs::stalmarck::run(&text, &name, &mut std::io::stdout().lock(), args.depth)
        }
        Ok(text) => palisade_logic::smtlib::run(
            &text,
            &name,
            &mut std::io::stdout().lock(),
            &palisade_logic::Limits::default(),
        ),
        Err(error) => {
            error!("{name}: {error}");
            USAGE
        }
    }
}

/// Prints a script for a shell that completes the words of the command line.
pub fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "palisade", &mut script);
    // A closed pipe is no error of ours.
    let _ = std::io::stdout().write_all(&script);
    0
}

/// Prints the manual page: the command, then a section for each subcommand.
pub fn man() -> u8 {
    let command = CommandLine::command().disable_help_subcommand(true);
    let mut page = Vec::new();
    let mut rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    for sub in command.get_subcommands() {
        let name = format!("palisade {}", sub.get_name());
        let man = clap_mangen::Man::new(sub.clone().display_name(name.clone()).bin_name(name.clone()));
        let title = format!(".SH {}\n", name.to_uppercase());
        rendered = rendered.and_then(|()| {
            page.extend(title.as_bytes());
            man.render_synopsis_section(&mut page)?;
            man.render_description_section(&mut page)?;
            man.render_options_section(&mut page)
        });
    }
    if let Err(error) = rendered {
        error!("{error}");
        return USAGE;
    }
    // A closed pipe is no error of ours.
    let _ = std::io::stdout().write_all(&page);
    0
}

/// Lists what there is: engines, component analyses, numeric domains and methods for invariants.
pub fn analyses() -> u8 {
    let line = |kind: &str, name: &str, summary: &str| println!("{kind:9} {name:20} {summary}");
    for (name, summary) in palisade_portfolio::registry::RACES {
        line("engine", name, summary);
    }
    for analysis in palisade_portfolio::registry::analyses() {
        line("engine", analysis.engine.name(), analysis.summary);
    }
    for component in palisade_engines::composite::COMPONENTS {
        line("component", component.name, component.summary);
    }
    for domain in &palisade_domains::DOMAINS {
        line("domain", domain.name, domain.summary);
    }
    for (_, name, summary) in Method::ALL {
        line("method", name, summary);
    }
    0
}
