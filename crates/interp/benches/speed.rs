//! How much slower the interpreter is than the binary of `gcc -O0`, measured in one run, in CPU time
//! (as Linux tells it under `/proc`), so that a busy machine does not blur the ratio.

#[path = "../tests/common/mod.rs"]
#[allow(dead_code)]
mod common;

use common::*;
use palisade_interp::Config;
use std::path::Path;

/// Name and source of a program, which prints a checksum.
const PROGRAMS: [(&str, &str); 4] = [
    (
        "registers and an array",
        "int printf(const char *, ...);
         int a[1024];
         int main(void) {
             unsigned s = 1;
             for (int round = 0; round < 4000; round++)
                 for (int i = 0; i < 1024; i++) {
                     a[i] = a[(i + 7) & 1023] / 3 + i * 2;
                     s = s * 31u + (unsigned)a[i];
                 }
             printf(\"%u\\n\", s);
             return 0;
         }",
    ),
    (
        "sieve of bytes",
        "int printf(const char *, ...);
         static char composite[2000001];
         int main(void) {
             int count = 0;
             for (int i = 2; i <= 2000000; i++) {
                 if (composite[i]) continue;
                 count++;
                 for (int j = i; j <= 2000000 - i; ) { j += i; composite[j] = 1; }
             }
             printf(\"%d\\n\", count);
             return 0;
         }",
    ),
    (
        "recursive calls",
        "int printf(const char *, ...);
         static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
         int main(void) { printf(\"%d\\n\", fib(30)); return 0; }",
    ),
    (
        "linked lists",
        "int printf(const char *, ...);
         void *malloc(unsigned long); void free(void *);
         struct node { struct node *next; int value; };
         int main(void) {
             long sum = 0;
             for (int round = 0; round < 20; round++) {
                 struct node *head = 0;
                 for (int i = 0; i < 20000; i++) {
                     struct node *n = malloc(sizeof *n);
                     n->next = head; n->value = i; head = n;
                 }
                 for (int k = 0; k < 5; k++)
                     for (struct node *n = head; n; n = n->next) sum += n->value;
                 while (head) { struct node *n = head->next; free(head); head = n; }
             }
             printf(\"%ld\\n\", sum);
             return 0;
         }",
    ),
];

/// The binary is run often, because its CPU time is told in hundredths of seconds.
const RUNS: u32 = 30;

/// CPU seconds of all children that ended.
fn cpu_of_children() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace().collect();
    let ticks = |i: usize| fields[i].parse::<f64>().unwrap_or(0.0);
    // Fields 16 and 17, counted from the one after the name as 3.
    (ticks(13) + ticks(14)) / 100.0
}

fn cpu_of_this_thread() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    let nanos = stat.split_ascii_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    nanos.unwrap_or(0.0) / 1e9
}

fn main() {
    if !available("gcc") {
        println!("skipped: gcc is not installed");
        return;
    }
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, source) in PROGRAMS {
        let file = scratch.join("speed.c");
        std::fs::write(&file, source).expect("the scratch folder can be written");
        let exe = scratch.join("speed.exe");
        let built = std::process::Command::new("gcc").args(["-O0", "-w", "-o"]).arg(&exe).arg(&file).status();
        assert!(built.is_ok_and(|s| s.success()));
        let mut want = Vec::new();
        let before = cpu_of_children();
        for _ in 0..RUNS {
            want = std::process::Command::new(&exe).output().expect("the program can be started").stdout;
        }
        let gcc = (cpu_of_children() - before) / f64::from(RUNS);
        let (program, map) = lowered(&file, &[], &Options::default());
        let mut steps = 0;
        let before = cpu_of_this_thread();
        for _ in 0..3 {
            let (run, output) = interpreted(&program, Config::default());
            steps = run.steps;
            assert_eq!(output.out, want, "{}", explain(&program, &map, &run));
        }
        let ours = (cpu_of_this_thread() - before) / 3.0;
        println!(
            "{name:24} gcc -O0 {:8.1} ms   interpreter {:8.1} ms   {:6.1} times slower   {:5.1} ns/edge",
            gcc * 1e3,
            ours * 1e3,
            ours / gcc,
            ours * 1e9 / steps as f64
        );
    }
}
