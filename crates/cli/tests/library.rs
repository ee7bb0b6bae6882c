//! Every function of the C library's table, used rightly and wrongly: `check` must not say `true` where
//! `run`, or the compiled program under the address sanitizer, finds a violation, and must not say
//! `false` to a right use that these are content with.
//!
//! The uses are made from the table. A small sample runs by default, all of them with
//! `PALISADE_LIBRARY_USES=all`; any other value is a part of the names that are wanted. A compiler with a
//! sanitizer is used if there is one.

use palisade_lower::{Contract, Meaning, Role, contracts};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a use gets wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    None,
    /// The memory or string of this parameter is too short or has no end.
    Short(usize),
    /// This parameter points to memory that was released.
    Dangling(usize),
    /// Nothing, and a stream is a file that the program opens.
    NoneOpened,
}

impl Fault {
    fn is_none(self) -> bool {
        matches!(self, Fault::None | Fault::NoneOpened)
    }
}

struct Use {
    name: String,
    text: String,
    right: bool,
    /// Whether the compiled program may be run.
    harmless: bool,
}

fn is_pointer(role: Role<'_>) -> bool {
    matches!(role, Role::Text(_) | Role::WideText | Role::Memory { .. })
}

/// A program that calls the function once.
fn program(contract: &Contract<'_>, fault: Fault) -> Option<String> {
    let used_in_size = |name: &str| {
        contract.params.iter().any(|p| match p.role {
            Role::Memory { size, .. } => size.split(['*', '+']).any(|part| part == name),
            _ => false,
        })
    };
    let mut body = String::new();
    let mut names = Vec::new();
    // Numbers first, because sizes are made of them.
    for p in &contract.params {
        if let Role::Number(example) = p.role {
            let value = match example {
                "" if used_in_size(p.name) => "4",
                "" => "1",
                example => example,
            };
            let _ = writeln!(body, "    {} {} = {value};", p.ty, p.name);
        }
    }
    for (i, p) in contract.params.iter().enumerate() {
        let name = p.name;
        let short = fault == Fault::Short(i);
        names.push(name);
        match p.role {
            Role::Number(_) => continue,
            Role::Text(example) => {
                let text = if example.is_empty() { "ab" } else { example.trim_matches('"') };
                let (n, end) = (text.len() + 1, if short { "120" } else { "0" });
                let _ = writeln!(body, "    char *{name} = malloc({n});");
                for (k, c) in text.bytes().enumerate() {
                    let _ = writeln!(body, "    {name}[{k}] = {c};");
                }
                let _ = writeln!(body, "    {name}[{}] = {end};", n - 1);
            }
            Role::WideText => {
                let end = if short { "120" } else { "0" };
                let _ = writeln!(body, "    int *{name} = malloc(8); {name}[0] = 97; {name}[1] = {end};");
            }
            Role::Memory { size, .. } => {
                let size = size.split_once(':').map_or(size, |(wide, _)| wide);
                let less = if short { " - 1" } else { "" };
                let _ = writeln!(body, "    char *{name} = calloc(1, (unsigned long)({size}){less});");
            }
            Role::File => {
                let stream = if contract.params.iter().any(|p| p.name == "f") && writes(contract) {
                    "stdout"
                } else {
                    "stdin"
                };
                if fault == Fault::NoneOpened {
                    let _ =
                        writeln!(body, "    void *{name} = fopen(\"ab\", \"r+\"); if (!{name}) return 0;");
                } else {
                    let _ = writeln!(body, "    void *{name} = {stream};");
                }
            }
            Role::Pointer => {
                let _ = writeln!(body, "    void *{name} = calloc(1, 64);");
            }
            Role::Function | Role::List | Role::Format => return None,
        }
        if fault == Fault::Dangling(i) {
            let _ = writeln!(body, "    free({name});");
        }
    }
    let own = ["malloc", "calloc", "free", "fopen"].contains(&contract.name);
    let declaration = if own { String::new() } else { format!("{};\n", contract.declaration(contract.name)) };
    Some(format!(
        "extern void *malloc(unsigned long);\nextern void *calloc(unsigned long, unsigned long);\n\
         extern void free(void *);\nextern void *stdin, *stdout;\n\
         extern void *fopen(const char *, const char *);\n{declaration}int main(void)\n{{\n{body}    \
         {}({});\n    return 0;\n}}\n",
        contract.name,
        names.join(", "),
    ))
}

fn writes(contract: &Contract<'_>) -> bool {
    matches!(contract.meaning, Meaning::Effect(_))
}

fn uses() -> Vec<Use> {
    let mut uses = Vec::new();
    for contract in contracts() {
        let skipped = contract.has("notest") || contract.variadic || contract.name.starts_with("__VERIFIER");
        let unmodelled = matches!(contract.meaning, Meaning::Effect(palisade_cfa::Effect::Unmodelled));
        if skipped || unmodelled {
            continue;
        }
        let mut add = |fault: Fault, word: &str| {
            if let Some(text) = program(&contract, fault) {
                let name = format!("{}_{word}", contract.name);
                let harmless = !contract.has("norun") && contract.name != "abort";
                uses.push(Use { name, text, right: fault.is_none(), harmless });
            }
        };
        add(Fault::None, "right");
        if contract.params.iter().any(|p| p.role == Role::File) {
            add(Fault::NoneOpened, "right_opened");
        }
        for (i, p) in contract.params.iter().enumerate().filter(|(_, p)| is_pointer(p.role)) {
            add(Fault::Short(i), &format!("short_{}", p.name));
            add(Fault::Dangling(i), &format!("dangling_{}", p.name));
        }
    }
    uses
}

fn status(command: &mut Command) -> Option<i32> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?.code()
}

/// Whether the compiled program reports a violation; `None` if that cannot be found out.
fn sanitizer(folder: &Path, file: &Path) -> Option<bool> {
    let binary = folder.join("a.out");
    let flags = ["-w", "-O0", "-fno-builtin", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    let made = status(Command::new("cc").args(flags).arg(file).arg("-o").arg(&binary).arg("-lm"))?;
    if made != 0 {
        return None;
    }
    let ran = Command::new("timeout")
        .arg("10")
        .arg(&binary)
        .current_dir(folder)
        .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&ran.stderr).contains("ERROR: AddressSanitizer"))
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("palisade-library-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

#[test]
fn check_is_never_content_where_a_run_is_not() {
    let wanted = std::env::var("PALISADE_LIBRARY_USES").unwrap_or_default();
    let all = uses();
    assert!(all.len() >= 500, "{} uses", all.len());
    let sample = ["puts_", "strlen_", "stat_", "fgetc_", "fgets_", "wcslen_", "memcpy_", "write_"];
    let chosen: Vec<&Use> = all
        .iter()
        .filter(|u| match &*wanted {
            "" => sample.iter().any(|s| u.name.starts_with(s)),
            "all" => true,
            part => u.name.contains(part),
        })
        .collect();
    let folder = folder();
    let (mut bad, mut counts) = (Vec::new(), [0; 4]);
    for one in &chosen {
        let file = folder.join("use.c");
        std::fs::write(&file, &one.text).expect("writable");
        let tool = || Command::new(env!("CARGO_BIN_EXE_palisade"));
        // What the uses allocate is not freed.
        let check = ["check", "--time-limit", "5s", "--property", "valid-deref", "--property", "valid-free"];
        let verdict = status(tool().args(check).arg(&file));
        let run = status(tool().args(["run"]).arg(&file)) == Some(1);
        let sanitizer = if one.harmless { sanitizer(&folder, &file) } else { None };
        let violation = run || sanitizer == Some(true);
        let slot = match verdict {
            Some(0) => 0,
            Some(1) => 1,
            Some(3) => 2,
            _ => 3,
        };
        counts[slot] += 1;
        let wrong = match verdict {
            Some(0) => violation,
            Some(1) => one.right && sanitizer == Some(false) && !run,
            Some(3) => false,
            _ => true,
        };
        if wrong {
            bad.push(format!("{}: check {verdict:?}, run {run}, sanitizer {sanitizer:?}", one.name));
        }
        // The library's own arithmetic is not the program's fault.
        let check = ["check", "--time-limit", "5s", "--property", "no-overflow"];
        if one.right && sanitizer != Some(true) && status(tool().args(check).arg(&file)) == Some(1) {
            bad.push(format!("{}: check finds an overflow", one.name));
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!(
        "{} uses: {} true, {} false, {} unknown, {} else",
        chosen.len(),
        counts[0],
        counts[1],
        counts[2],
        counts[3]
    );
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// What functions do is said by the automaton: nobody behind lowering knows their names.
#[test]
fn no_name_of_a_library_function_stands_behind_lowering() {
    let names: std::collections::BTreeSet<&str> = contracts().map(|c| c.name).collect();
    let mut found = Vec::new();
    for part in ["encode", "reduce", "task", "portfolio", "engines", "analyses", "check"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(part).join("src");
        let mut work = vec![root];
        while let Some(path) = work.pop() {
            if path.is_dir() {
                work.extend(std::fs::read_dir(&path).expect("readable").flatten().map(|e| e.path()));
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("readable");
            // Tests at the end of a file may call functions.
            let text = text.split("#[cfg(test)]").next().unwrap_or("");
            for literal in text.split('"').skip(1).step_by(2) {
                let word = |w: &&str| names.contains(w) && !ORDINARY.contains(w);
                found.extend(
                    literal
                        .split_whitespace()
                        .filter(word)
                        .filter(|w| literal.len() == w.len())
                        .map(|w| format!("{w} in {}", path.display())),
                );
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Words that are names of functions by accident.
const ORDINARY: [&str; 8] = ["time", "read", "write", "index", "exit", "signal", "round", "select"];
