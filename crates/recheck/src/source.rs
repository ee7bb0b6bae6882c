//! C files and what the preprocessor makes of them.

use palisade_cfa::DataModel;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// A C file.
pub struct Text {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// What the compiler sees; `.i` files are taken as they are.
    pub preprocessed: String,
    /// Whether the preprocessor was asked.
    pub is_preprocessed: bool,
}

/// How C files are read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct How {
    /// Sizes of `long` and pointers.
    pub data_model: DataModel,
    /// Directories for the preprocessor.
    pub include: Vec<String>,
    /// Definitions for the preprocessor.
    pub define: Vec<String>,
    /// Other arguments for the preprocessor, as they are.
    pub flags: Vec<String>,
    /// The C that the files are written in, as compilers name it.
    pub std: Option<String>,
    /// Whether annotations of ACSL are kept: comments that start with `@`.
    pub annotations: bool,
}

impl How {
    /// Reads a file and preprocesses it with `cc -E`. `-` is the standard input.
    pub fn load(&self, path: &Path) -> Result<Text, String> {
        let mut bytes = Vec::new();
        let read = match is_stdin(path) {
            true => std::io::stdin().read_to_end(&mut bytes).map(drop),
            false => std::fs::read(path).map(|read| bytes = read),
        };
        read.map_err(|e| format!("{}: {e}", path.display()))?;
        let is_preprocessed = path.extension().is_none_or(|e| e != "i");
        let seen = if is_preprocessed { self.preprocess(path, &bytes)? } else { bytes.clone() };
        let mut preprocessed = text(seen);
        // The text itself says which C it is, for all who read it.
        if self.std.as_deref().is_some_and(is_c23) {
            let name = path.to_string_lossy();
            preprocessed = format!("#pragma palisade c23\n# 1 {name:?}\n{preprocessed}");
        }
        Ok(Text { bytes, preprocessed, is_preprocessed })
    }

    fn preprocess(&self, path: &Path, text: &[u8]) -> Result<Vec<u8>, String> {
        let mut cc = Command::new("cc");
        cc.arg("-E").args(match self.data_model {
            // Floating-point numbers as they are computed here: each operator in its own type.
            DataModel::Ilp32 => &["-m32", "-msse2", "-mfpmath=sse"][..],
            DataModel::Lp64 => &["-m64"],
        });
        if let Some(std) = &self.std {
            // Compilers that do not know the final names know these.
            let std = std.replace("23", "2x");
            cc.arg(format!("-std={std}"));
        }
        let annotated = text.windows(3).any(|w| w == b"/*@" || w == b"//@");
        if self.annotations && annotated {
            cc.arg("-C");
        }
        cc.args(self.include.iter().flat_map(|d| ["-I", d.as_str()]));
        cc.args(self.define.iter().map(|d| format!("-D{d}")));
        cc.args(&self.flags);
        let cannot = |e: std::io::Error| {
            format!("{}: cannot run `cc -E` ({e}); install a C compiler or pass a .i file", path.display())
        };
        let output = if is_stdin(path) {
            cc.args(["-x", "c", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = cc.spawn().map_err(cannot)?;
            let mut input = child.stdin.take();
            std::thread::scope(|scope| {
                // A compiler that does not read to the end has its reasons, and tells them.
                scope.spawn(move || input.as_mut().map(|input| input.write_all(text)));
                child.wait_with_output()
            })
            .map_err(cannot)?
        } else {
            // A path that starts with a dash would be taken for an option.
            cc.arg(Path::new(".").join(path)).output().map_err(cannot)?
        };
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: `cc -E` failed:\n{}", path.display(), message.trim_end()))
    }
}

/// Whether a path stands for the standard input.
fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Whether a name of a standard means C23 (or what comes after it).
fn is_c23(std: &str) -> bool {
    matches!(std, "c23" | "gnu23" | "c2x" | "gnu2x" | "c2y" | "gnu2y" | "iso9899:2024")
}

/// Bytes as text; what is none is replaced.
pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
