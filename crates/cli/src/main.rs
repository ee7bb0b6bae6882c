//! The command line of Palisade: the only place that touches files, the environment, the clock
//! and exit codes.

#[macro_use]
mod message;

mod advice;
mod all;
mod arg;
mod args;
mod bench;
mod boxes;
mod certificate;
mod check;
mod entry_call;
mod finding;
mod harness;
mod html;
mod input;
mod invariants;
mod json;
mod log;
mod open;
mod picture;
mod progress;
mod question;
mod report;
mod sarif;
mod show;
mod trace;
mod validate;
mod watchdog;
mod why;
mod witness;

use std::process::ExitCode;

/// Exit status for a usage or input error.
pub const USAGE: u8 = 2;

fn main() -> ExitCode {
    // Every engine has a thread; an arena of the allocator for each would use up the address space.
    // SAFETY: sets a parameter of the allocator, before there are threads.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, 4) };
    // Parsing and encoding recurse over the nesting of expressions, which the parser bounds; the
    // main thread's stack is too small for that bound.
    let worker = std::thread::Builder::new().name("palisade".into()).stack_size(256 << 20).spawn(run);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            error!("cannot start a thread: {error}");
            ExitCode::from(USAGE)
        }
    }
}

fn run() -> ExitCode {
    use clap::Parser;
    // Compilers write these with one dash.
    let words = std::env::args_os().map(|word| match word.to_str() {
        Some(text) if text.starts_with("-std=") || text == "-include" => format!("-{text}").into(),
        _ => word,
    });
    let arguments = args::Arguments::try_parse_from(words).unwrap_or_else(|error| {
        if error.use_stderr() && std::env::args_os().any(|word| word == "--json") {
            message::keep("error", error.to_string().trim_start_matches("error: ").trim_end(), None);
            println!("{}", json::nothing());
        }
        error.exit()
    });
    if let Err(error) = log::start(arguments.verbose, arguments.log.as_deref()) {
        error!("the log cannot be written: {error}");
        return ExitCode::from(USAGE);
    }
    let code = match arguments.command {
        args::Command::Check(args) => check::check(&args),
        args::Command::Invariants(args) => invariants::invariants(&args),
        args::Command::Cfa(args) => show::cfa(&args),
        args::Command::Run(args) => show::run(&args),
        args::Command::Recheck(args) => palisade_recheck::command(&args.certificate, &args.files),
        args::Command::Validate(args) => validate::validate(&args),
        args::Command::Solve(args) => show::solve(&args),
        args::Command::Analyses => show::analyses(),
        args::Command::Bench(args) => bench::bench(&args),
        args::Command::Completions { shell } => show::completions(shell),
        args::Command::Man => show::man(),
    };
    ExitCode::from(code)
}
