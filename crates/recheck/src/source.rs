//! C files and what the preprocessor makes of them.

use palisade_cfa::DataModel;
use std::path::Path;
use std::process::Command;

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
    /// The C that the files are written in, as compilers name it.
    pub std: Option<String>,
}

impl How {
    /// Reads a file and preprocesses it with `cc -E`.
    pub fn load(&self, path: &Path) -> Result<Text, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let is_preprocessed = path.extension().is_none_or(|e| e != "i");
        let seen = if is_preprocessed { self.preprocess(path)? } else { bytes.clone() };
        let mut preprocessed = text(seen);
        // The text itself says which C it is, for all who read it.
        if self.std.as_deref().is_some_and(is_c23) {
            let name = path.to_string_lossy();
            preprocessed = format!("#pragma palisade c23\n# 1 {name:?}\n{preprocessed}");
        }
        Ok(Text { bytes, preprocessed, is_preprocessed })
    }

    fn preprocess(&self, path: &Path) -> Result<Vec<u8>, String> {
        let mut cc = Command::new("cc");
        cc.arg("-E").arg(match self.data_model {
            DataModel::Ilp32 => "-m32",
            DataModel::Lp64 => "-m64",
        });
        if let Some(std) = &self.std {
            // Compilers that do not know the final names know these.
            let std = std.replace("23", "2x");
            cc.arg(format!("-std={std}"));
        }
        cc.args(self.include.iter().flat_map(|d| ["-I", d.as_str()]));
        cc.args(self.define.iter().map(|d| format!("-D{d}")));
        // A path that starts with a dash would be taken for an option.
        cc.arg(Path::new(".").join(path));
        let output = cc.output().map_err(|e| {
            format!("{}: cannot run `cc -E` ({e}); install a C compiler or pass a .i file", path.display())
        })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr);
        Err(format!("{}: `cc -E` failed:\n{}", path.display(), message.trim_end()))
    }
}

/// Whether a name of a standard means C23 (or what comes after it).
fn is_c23(std: &str) -> bool {
    matches!(std, "c23" | "gnu23" | "c2x" | "gnu2x" | "c2y" | "gnu2y" | "iso9899:2024")
}

/// Bytes as text; what is none is replaced.
pub fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
