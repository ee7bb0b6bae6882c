//! Just enough of ELF to read the bytes of a variable from an object file that gcc made.

use super::{gcc_flag, scratch};
use palisade_cfa::DataModel;
use std::collections::HashMap;
use std::process::Command;

/// Compiles a text and returns the bytes of every variable that it defines.
pub fn compile(text: &str, model: DataModel, name: &str) -> Result<HashMap<String, Vec<u8>>, String> {
    let (source, object) = (scratch(name, "c"), scratch(name, "o"));
    std::fs::write(&source, text).map_err(|e| e.to_string())?;
    let out = Command::new("gcc")
        .args(["-std=gnu11", "-w", "-c", "-fno-common", "-fno-pic", gcc_flag(model), "-o"])
        .args([&object, &source])
        .output()
        .map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let bytes = std::fs::read(&object).map_err(|e| e.to_string())?;
    for path in [source, object] {
        // A leftover file harms nobody.
        let _ = std::fs::remove_file(path);
    }
    Ok(variables(&bytes, model == DataModel::Lp64))
}

fn number(bytes: &[u8], at: usize, size: usize) -> usize {
    bytes[at..at + size].iter().rev().fold(0, |n, &b| n << 8 | usize::from(b))
}

struct Section {
    kind: usize,
    offset: usize,
    size: usize,
    link: usize,
}

fn variables(file: &[u8], wide: bool) -> HashMap<String, Vec<u8>> {
    let word = if wide { 8 } else { 4 };
    let (shoff, entsize, count) = if wide {
        (number(file, 40, 8), number(file, 58, 2), number(file, 60, 2))
    } else {
        (number(file, 32, 4), number(file, 46, 2), number(file, 48, 2))
    };
    let sections: Vec<Section> = (0..count)
        .map(|i| {
            let at = shoff + i * entsize;
            let field = |k: usize| at + 8 + k * word;
            Section {
                kind: number(file, at + 4, 4),
                offset: number(file, field(2), word),
                size: number(file, field(3), word),
                link: number(file, at + 8 + 4 * word, 4),
            }
        })
        .collect();
    let mut out = HashMap::new();
    for table in sections.iter().filter(|s| s.kind == 2) {
        let names = sections[table.link].offset;
        let size = if wide { 24 } else { 16 };
        for at in (table.offset..table.offset + table.size).step_by(size) {
            let name_at = names + number(file, at, 4);
            let end = file[name_at..].iter().position(|&b| b == 0).expect("names end with zero");
            let name = String::from_utf8_lossy(&file[name_at..name_at + end]).into_owned();
            let (section, value, length) = if wide {
                (number(file, at + 6, 2), number(file, at + 8, 8), number(file, at + 16, 8))
            } else {
                (number(file, at + 14, 2), number(file, at + 4, 4), number(file, at + 8, 4))
            };
            let Some(section) = sections.get(section).filter(|_| !name.is_empty()) else { continue };
            let bytes = match section.kind {
                // No bits: all zero.
                8 => vec![0; length],
                _ => file[section.offset + value..section.offset + value + length].to_vec(),
            };
            out.insert(name, bytes);
        }
    }
    out
}
