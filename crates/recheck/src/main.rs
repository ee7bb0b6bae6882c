//! `palisade-recheck CERTIFICATE FILE..`: checks a verdict again, with the checking crates alone.

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Parsing and encoding recurse over the nesting of expressions, which the parser bounds.
    let worker = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            eprintln!("error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> u8 {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(certificate) = paths.next() else {
        eprintln!("usage: palisade-recheck CERTIFICATE FILE..");
        return 2;
    };
    palisade_recheck::command(&certificate, &paths.collect::<Vec<_>>())
}
