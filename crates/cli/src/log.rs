//! The log: warnings and errors of all parts, and what engines do.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The exit status of a process that a closed pipe ends, as shells show it.
const CLOSED_PIPE: i32 = 141;

/// Starts the log: errors, and with `-v` more, to standard error; everything to a file if one is named.
/// Panics are part of it, with their place: one of an engine does not end the process.
pub fn start(verbose: u8, file: Option<&Path>) -> std::io::Result<()> {
    let level = match verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let format = tracing_subscriber::fmt::layer().with_target(false).without_time();
    let screen = format.with_writer(std::io::stderr).with_ansi(false).with_filter(level);
    let file = match file {
        Some(path) => {
            let writer = Mutex::new(File::create(path)?);
            let format = tracing_subscriber::fmt::layer().with_ansi(false).with_thread_names(true);
            Some(format.with_writer(writer).with_filter(LevelFilter::DEBUG))
        }
        None => None,
    };
    tracing_subscriber::registry().with(screen).with(file).init();
    std::panic::set_hook(Box::new(|info| {
        // Who reads our output may have enough of it, as `head` has.
        let why = info.payload().downcast_ref::<String>();
        if why.is_some_and(|why| why.starts_with("failed printing to stdout")) {
            std::process::exit(CLOSED_PIPE);
        }
        tracing::error!("{info}");
    }));
    Ok(())
}
