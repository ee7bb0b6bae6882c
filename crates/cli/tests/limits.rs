//! Ctrl-C, the time limit and the memory limit end a check cleanly.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Collatz: nobody settles it in a few seconds.
const HARD: &str = "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);
int main(void) { unsigned long n = __VERIFIER_nondet_uint(); unsigned long steps = 0;
  while (n > 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; if (steps == 2000000000ul) reach_error(); }
  return 0; }
";

/// Products of products: each pass makes the solver hold more. No square has the remainder 3.
const LARGE: &str = "unsigned long __VERIFIER_nondet_ulong(void); void reach_error(void);
int main(void) { unsigned long x = __VERIFIER_nondet_ulong(), y = __VERIFIER_nondet_ulong(), n = __VERIFIER_nondet_ulong();
  for (unsigned long i = 0; i < n; i++) { x = x * y + (x ^ y) * 31; y = y * x + (y >> 3) * i; }
  if (x * x == 3) reach_error();
  return 0; }
";

fn start(name: &str, text: &str, options: &[&str]) -> Child {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("writable");
    Command::new(env!("CARGO_BIN_EXE_palisade"))
        .arg("check")
        .arg(&path)
        .args(options)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary runs")
}

/// The last line of a process that ends with `unknown`.
fn verdict(mut child: Child) -> String {
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("it was piped");
    stdout.read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "{text}");
    assert_eq!(text.matches("verdict:").count(), 1, "{text}");
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn an_interrupt_ends_it_soon() {
    let child = start("interrupt.i", HARD, &["--time-limit", "300s"]);
    std::thread::sleep(Duration::from_millis(1500));
    let sent = Instant::now();
    // SAFETY: sends a signal to a child that was not waited for, so its number is its own.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    assert_eq!(verdict(child), "verdict: unknown (interrupted)");
    assert!(sent.elapsed() < Duration::from_secs(10), "{:?}", sent.elapsed());
}

#[test]
fn the_time_limit_ends_it() {
    let child = start("time.i", HARD, &["--time-limit", "2s"]);
    assert_eq!(verdict(child), "verdict: unknown (time limit)");
}

#[test]
fn the_memory_limit_ends_it() {
    let child =
        start("memory.i", LARGE, &["--memory-limit", "200MB", "--time-limit", "300s", "--analysis", "bmc"]);
    assert_eq!(verdict(child), "verdict: unknown (memory limit)");
}
