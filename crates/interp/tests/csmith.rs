//! Random programs made by csmith print the same checksum on the interpreter as when gcc compiles
//! them. `PALISADE_CSMITH` says how many are tried.

mod common;

use common::*;
use palisade_interp::{Config, Outcome};
use palisade_lower::CheckSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where csmith's own header lies.
fn header_folder() -> Option<PathBuf> {
    if let Ok(path) = std::env::var("CSMITH_INCLUDE") {
        return Some(path.into());
    }
    let roots = ["/usr/include", "/usr/local/include"];
    let folders = roots.iter().filter_map(|r| std::fs::read_dir(r).ok()).flatten().flatten();
    let mut found: Vec<PathBuf> = folders.map(|e| e.path()).filter(|p| p.join("csmith.h").exists()).collect();
    found.extend(roots.iter().map(PathBuf::from).filter(|p| p.join("csmith.h").exists()));
    found.sort();
    found.pop()
}

#[test]
fn csmith_programs_have_gccs_checksum() {
    let (true, true, Some(include)) = (available("gcc"), available("csmith"), header_folder()) else {
        eprintln!("skipped: csmith, its header or gcc is not installed");
        return;
    };
    let count: u64 = std::env::var("PALISADE_CSMITH").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let include = format!("-I{}", include.display());
    // With floating point, csmith makes conversions that C leaves undefined; they are executed as
    // the processor does.
    let checks = CheckSet::ALL.without(palisade_cfa::CheckKind::FloatToInt);
    let options = Options { checks, ..Options::default() };
    let (mut compared, mut slow, mut wrong) = (0, 0, Vec::new());
    let mut seed = 1;
    while compared < count && slow < count + 20 {
        seed += 1;
        let file = scratch.join(format!("csmith{seed}.c"));
        let size: &[&str] = match seed % 3 {
            0 => &["--max-funcs", "3", "--max-block-depth", "3"],
            1 => &["--max-funcs", "5", "--max-block-size", "3", "--packed-struct"],
            _ => &["--max-funcs", "2", "--max-expr-complexity", "15", "--float"],
        };
        // It leaves a file about the machine where it runs.
        let mut csmith = Command::new("csmith");
        let made = csmith.current_dir(scratch).args(["--seed", &seed.to_string()]).args(size).output();
        let made = made.expect("csmith can be started");
        std::fs::write(&file, &made.stdout).expect("the scratch folder can be written");
        let want = with_gcc(&file, &[&include], scratch);
        let outcome = want.map(|want| {
            let (program, map) = lowered(&file, &[&include], &options);
            let config = Config { step_limit: 40_000_000, approximate: true, ..Config::default() };
            let (run, output) = interpreted(&program, config);
            let same = as_result(&run, &output) == want;
            let text = explain(&program, &map, &run);
            (run.outcome, same, text, want, output)
        });
        std::fs::remove_file(&file).expect("the program can be removed");
        match outcome {
            // Programs that run for long, or forever, are left out.
            None | Some((Outcome::StepLimit, ..)) => slow += 1,
            Some((_, same, text, want, output)) => {
                compared += 1;
                if !same {
                    let have = String::from_utf8_lossy(&output.out).into_owned();
                    wrong.push(format!("seed {seed} {size:?}: {text}\n  we:  {have}  gcc: {}", want.out));
                }
            }
        }
    }
    eprintln!("{compared} programs compared, {slow} left out because they run for long");
    assert!(wrong.is_empty(), "{} of {compared} differ\n{}", wrong.len(), wrong.join("\n"));
}
