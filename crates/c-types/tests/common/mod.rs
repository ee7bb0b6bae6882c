//! What the tests of this crate share.
#![allow(dead_code)] // each test file uses a part of it

pub mod elf;
pub mod programs;

use palisade_base::{Diagnostic, SourceMap};
use palisade_c_syntax::{Interner, parse};
use palisade_c_types::check_program;
use palisade_c_types::tast::TypedProgram;
use palisade_cfa::DataModel;
use std::process::Command;

/// Both data models.
pub const MODELS: [DataModel; 2] = [DataModel::Ilp32, DataModel::Lp64];

/// Parses and types the texts as the files of one program.
pub fn check(texts: &[&str], model: DataModel) -> (TypedProgram, Vec<Diagnostic>, Interner) {
    let mut map = SourceMap::new();
    let mut interner = Interner::new();
    let mut diags = Vec::new();
    let mut units = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let file = map.add(&format!("{i}.c"), text.to_string()).expect("small texts fit");
        let (unit, more) = parse(&mut map, file, &mut interner);
        units.push(unit);
        diags.extend(more);
    }
    let (program, more) = check_program(&units, &mut interner, model);
    diags.extend(more);
    (program, diags, interner)
}

/// The messages of the errors in a text.
pub fn errors(text: &str, model: DataModel) -> Vec<String> {
    let (_, diags, _) = check(&[text], model);
    diags.iter().filter(|d| d.is_error()).map(|d| d.message.clone()).collect()
}

/// How many messages a text gives.
pub fn warnings_and_errors(text: &str, model: DataModel) -> usize {
    check(&[text], model).1.len()
}

/// The first warning that contains the words.
pub fn has_warning(text: &str, model: DataModel, words: &str) -> bool {
    check(&[text], model).1.iter().any(|d| !d.is_error() && d.message.contains(words))
}

/// gcc's option for a data model.
pub fn gcc_flag(model: DataModel) -> &'static str {
    match model {
        DataModel::Ilp32 => "-m32",
        DataModel::Lp64 => "-m64",
    }
}

/// Whether there is a gcc for both data models; says so if not.
pub fn have_gcc() -> bool {
    let ok = MODELS.iter().all(|&m| gcc_accepts("int x;", m, "probe").is_ok());
    if !ok {
        eprintln!("skipped: this test needs gcc with -m32 and -m64");
    }
    ok
}

/// A file in the directory for temporary files, named by the test and this process.
pub fn scratch(name: &str, extension: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("palisade-c-types-{}-{name}.{extension}", std::process::id()))
}

/// Whether gcc accepts a text (`-fsyntax-only`); its messages if not.
pub fn gcc_accepts(text: &str, model: DataModel, name: &str) -> Result<(), String> {
    let path = scratch(&format!("{name}{}", gcc_flag(model)), "c");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    let out = Command::new("gcc")
        .args(["-std=gnu11", "-w", "-fsyntax-only", gcc_flag(model)])
        .arg(&path)
        .output()
        .map_err(|e| e.to_string());
    // A leftover file harms nobody.
    let _ = std::fs::remove_file(&path);
    let out = out?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// A small random number generator (xorshift), so that a failing case can be found again.
pub struct Rng(pub u64);

impl Rng {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 16) as usize % n
    }
    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
    /// One of them.
    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// The bytes of an object with static storage; `None` if they hold an address.
pub fn image_bytes(program: &TypedProgram, obj: &palisade_c_types::tast::Object) -> Option<Vec<u8>> {
    use palisade_c_types::tast::ConstValue;
    let size = program.types.size_of(obj.ty.ty)? + obj.extra;
    let mut bytes = vec![0; size as usize];
    for item in &obj.image.as_ref()?.items {
        let plain: Vec<u8> = match &item.value {
            ConstValue::Bytes(b) => b.to_vec(),
            ConstValue::Int { size, bits } => bits.to_le_bytes()[..usize::from(*size)].to_vec(),
            ConstValue::Float(ty, bits) => bits.to_le_bytes()[..usize::from(ty.bits() / 8)].to_vec(),
            ConstValue::Absolute(a) => {
                a.to_le_bytes()[..usize::from(program.types.dm.ptr_bits() / 8)].to_vec()
            }
            ConstValue::Addr(..)
            | ConstValue::Func(_)
            | ConstValue::Label(_)
            | ConstValue::LabelDiff { .. } => return None,
        };
        let at = item.offset as usize;
        bytes[at..at + plain.len()].copy_from_slice(&plain);
    }
    Some(bytes)
}
