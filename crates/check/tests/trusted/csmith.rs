//! Programs made by csmith, compared edge by edge like the random ones. `PALISADE_ENCODED_CSMITH` says how
//! many are tried, `PALISADE_ENCODED_FROM` the first of them.

use crate::common::{compile, size};
use crate::encoders::{compare_run, edges};
use palisade_cfa::DataModel;
use palisade_property::Property;
use palisade_task::Task;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Where csmith's own header lies.
fn header() -> Option<String> {
    let folders = std::env::var("CSMITH_INCLUDE").ok().into_iter();
    let mut folders = folders.chain(["/usr/include/csmith".into(), "/usr/local/include/csmith".into()]);
    folders.find(|f| Path::new(f).join("csmith.h").exists())
}

/// A preprocessed program of a seed.
fn program(seed: u64, include: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let scratch = folder.join(format!("encoded{seed}.c"));
    let options: &[&str] = match seed % 3 {
        0 => &["--max-funcs", "2", "--max-block-depth", "2"],
        1 => {
            &["--max-funcs", "3", "--max-block-size", "2", "--packed-struct", "--max-array-len-per-dim", "4"]
        }
        _ => &["--max-funcs", "2", "--max-block-size", "3", "--max-expr-complexity", "6", "--float"],
    };
    // It leaves a file about the machine where it runs.
    let mut csmith = Command::new("csmith");
    csmith.current_dir(folder).args(["--no-argc", "--seed", &seed.to_string()]);
    let made = csmith.args(options).output();
    std::fs::write(&scratch, made.expect("csmith can be started").stdout)
        .expect("the scratch folder is ours");
    let text = Command::new("gcc").args(["-E", "-P", "-w", "-I", include]).arg(&scratch).output();
    std::fs::remove_file(&scratch).expect("the file was written");
    String::from_utf8_lossy(&text.expect("gcc can be started").stdout).into_owned()
}

#[test]
fn programs_of_csmith_are_models_of_both_encodings() {
    let available = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    let (true, true, Some(include)) = (available("csmith"), available("gcc"), header()) else {
        eprintln!("skipped: csmith, its header or gcc is not installed");
        return;
    };
    let (first, count) = (size("PALISADE_ENCODED_FROM", 0), size("PALISADE_ENCODED_CSMITH", 3));
    let mut compared = [0, 0];
    let mut large = 0;
    let mut failures = Vec::new();
    for seed in first + 1..=first + count {
        let text = program(seed, &include);
        let source = Arc::new(compile(&text, &Property::assertions(), DataModel::Lp64));
        let Ok(task) = Task::whole(&source, 2, 5_000) else {
            large += 1;
            continue;
        };
        for plain in [true, false] {
            match compare_run(&task, plain, seed, 50_000) {
                Ok(n) => compared[usize::from(plain)] += n,
                Err(why) => failures.push(format!("seed {seed}: {why}\n{}", edges(&task, &why))),
            }
        }
    }
    let small = count - large;
    eprintln!(
        "{small} programs of csmith ({large} are too large): {} values compared, {} with the fast encoder",
        compared[1], compared[0]
    );
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(compared.iter().all(|n| *n >= 100 * small), "{compared:?}");
}
