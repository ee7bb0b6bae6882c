//! Work in a process of its own, with limits on its CPU time and memory that hold whatever code runs in
//! it, ours or a library's. To be used by programs whose other threads are at rest: what they hold
//! locked stays locked in the copy.

use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::time::Duration;

/// How much one piece of work may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// CPU time.
    pub time: Duration,
    /// Bytes of memory beyond what the process starts with.
    pub memory: u64,
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With this text as its result.
    Done(String),
    /// It needed more time.
    OutOfTime,
    /// It needed more memory.
    OutOfMemory,
    /// It crashed.
    Failed(String),
}

/// The CPU time of this process so far.
pub fn cpu_time() -> Duration {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live value of the right type; if there is no such clock it stays zero.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// The most memory that this process has held so far, in bytes.
pub fn peak_memory() -> u64 {
    // SAFETY: all bytes zero is a value of the type.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a live value of the right type; if the call fails it stays zero.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    usage.ru_maxrss.unsigned_abs() * 1024
}

/// Runs `work` in a copy of this process and returns what it wrote. The text must be short enough for the
/// buffer of a pipe.
pub fn run(limits: Limits, work: impl FnOnce() -> String) -> io::Result<Ended> {
    let (mut reader, mut writer) = pipe()?;
    // SAFETY: the child only runs code that needs no other thread: the caller's work, then `_exit`.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // A report of a panic would need memory that there may not be.
            std::panic::set_hook(Box::new(|_| {}));
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                restrict(limits);
                work()
            }));
            let code = match done {
                Ok(text) => i32::from(writer.write_all(text.as_bytes()).is_err()),
                Err(_) => 1,
            };
            // SAFETY: ends the child without running what the parent registered for its own end.
            unsafe { libc::_exit(code) }
        }
        child => {
            drop(writer);
            let mut text = String::new();
            let read = reader.read_to_string(&mut text);
            let mut status = 0;
            // SAFETY: `child` is our child and has not been waited for.
            while unsafe { libc::waitpid(child, &raw mut status, 0) } == -1 {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            read?;
            Ok(if libc::WIFSIGNALED(status) {
                match libc::WTERMSIG(status) {
                    libc::SIGPROF => Ended::OutOfTime,
                    // What every allocator here does when there is nothing left.
                    libc::SIGABRT => Ended::OutOfMemory,
                    signal => Ended::Failed(format!("signal {signal}")),
                }
            } else if libc::WEXITSTATUS(status) == 0 {
                Ended::Done(text)
            } else {
                Ended::Failed("panic".into())
            })
        }
    }
}

/// Shares the numbers below `count` among so many copies of this process: each runs `work`, which asks for the
/// next number that nobody has. The first error of a copy is the result.
pub fn share(
    copies: usize,
    count: usize,
    work: impl Fn(&mut dyn FnMut() -> io::Result<Option<usize>>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut numbers, mut giver) = pipe()?;
    let (mut errors, mut teller) = pipe()?;
    let mut children = Vec::new();
    for _ in 0..copies {
        // SAFETY: the child only runs code that needs no other thread: the caller's work, then `_exit`.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                drop(giver);
                let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    work(&mut || {
                        let mut number = [0; size_of::<usize>()];
                        // Numbers are written in one piece, and so they are read.
                        match numbers.read(&mut number)? {
                            0 => Ok(None),
                            _ => Ok(Some(usize::from_ne_bytes(number))),
                        }
                    })
                }));
                let message = match done {
                    Ok(Ok(())) => String::new(),
                    Ok(Err(error)) => error.to_string(),
                    Err(_) => "a process that measures crashed".into(),
                };
                let code = i32::from(teller.write_all(message.as_bytes()).is_err());
                // SAFETY: ends the child without running what the parent registered for its own end.
                unsafe { libc::_exit(code) }
            }
            child => children.push(child),
        }
    }
    drop((numbers, teller));
    for number in 0..count {
        // When nobody is left who reads, the reason is among the errors.
        if giver.write_all(&number.to_ne_bytes()).is_err() {
            break;
        }
    }
    drop(giver);
    let mut message = String::new();
    errors.read_to_string(&mut message)?;
    for child in children {
        let mut status = 0;
        // SAFETY: `child` is our child and has not been waited for.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        if status != 0 && message.is_empty() {
            message = format!("a process that measures ended with status {status}");
        }
    }
    if message.is_empty() { Ok(()) } else { Err(io::Error::other(message)) }
}

/// The ends of a pipe, to read from and to write to.
fn pipe() -> io::Result<(std::fs::File, std::fs::File)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are open and nobody else knows them.
    Ok(unsafe { (std::fs::File::from_raw_fd(ends[0]), std::fs::File::from_raw_fd(ends[1])) })
}

/// Sets the limits of this process and makes it silent: an allocator would report its end.
fn restrict(limits: Limits) {
    let now = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = now.split_whitespace().next().and_then(|p| p.parse().ok()).unwrap_or(0);
    let bytes = pages * 4096 + limits.memory;
    let space = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    let no_core = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: all pointers are to live values of the right types; the default action is a valid handler;
    // the descriptor of the null device is put in the place of standard error.
    unsafe {
        // A library may have a handler of its own.
        libc::signal(libc::SIGPROF, libc::SIG_DFL);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
        libc::setrlimit(libc::RLIMIT_AS, &raw const space);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY);
        libc::dup2(null, 2);
    }
    allow(limits.time);
}

/// Gives this process so much CPU time from now on, after which it ends.
pub fn allow(time: Duration) {
    let seconds = |d: Duration| libc::timeval {
        tv_sec: d.as_secs() as libc::time_t,
        tv_usec: libc::suseconds_t::from(d.subsec_micros()),
    };
    let timer = libc::itimerval { it_interval: seconds(Duration::ZERO), it_value: seconds(time) };
    // SAFETY: the pointer is to a live value of the right type.
    unsafe {
        libc::setitimer(libc::ITIMER_PROF, &raw const timer, std::ptr::null_mut());
        // Whoever waits without working is not waited for.
        libc::alarm(60 + 60 * time.as_secs().min(3600) as u32);
    }
}
