//! The log: warnings and errors of all parts, and what engines do.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

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
    std::panic::set_hook(Box::new(|info| tracing::error!("{info}")));
    Ok(())
}
