//! A C file that, linked with the program, feeds it the inputs of a violating run on the real machine.
//!
//! It defines the functions that give inputs, the functions without a body whose results the run
//! chose, and those that end a run; before `main` it puts the standard input and the arguments of
//! the run in place, and fresh memory has the contents that the run chose. What local variables hold before
//! they are written stays up to the machine.

use crate::entry_call;
use crate::finding::Finding;
use palisade_cfa::*;
use palisade_interp::Taken;
use std::collections::BTreeSet;
use std::fmt::Write;

/// How many bytes of standard input a harness gives.
const READ: usize = 1 << 24;

/// Ends the run where the violation is.
const REACHED: &str = "{ fputs(\"violation reached\\n\", stderr); abort(); }";

const START: &str = r#"/* Inputs of a run that violates the property. Compile it with the program:
   cc program.c this.c && ./a.out
   with -fsanitize=address for errors of memory, and with -fsanitize=undefined
   -fno-sanitize-recover for overflows. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each value comes with how often it is given. */
static void take(const unsigned long long (*values)[3], unsigned count, unsigned long long *next,
                 void *to, unsigned size) {
  memset(to, 0, size);
  if (next[0] >= count) return;
  memcpy(to, values[next[0]], size < 16 ? size : 16);
  if (++next[1] < values[next[0]][2]) return;
  ++next[0];
  next[1] = 0;
}

"#;

/// The standard input of the run takes the place of that of the process.
const INPUT: &str = r#"
__attribute__((constructor)) static void give_input(void) {
  FILE *file = tmpfile();
  if (!file) return;
  fwrite(input, 1, sizeof input - 1, file);
  fflush(file);
  lseek(fileno(file), 0, SEEK_SET);
  dup2(fileno(file), 0);
}
"#;

/// The process starts again with the arguments of the run.
const ARGUMENTS: &str = r#"
__attribute__((constructor)) static void give_arguments(void) {
  if (getenv("PALISADE_STARTED")) return;
  setenv("PALISADE_STARTED", "1", 1);
  execv("/proc/self/exe", arguments);
}
"#;

/// Memory that the program allocates gets the contents of the run; what libraries allocate does not.
const CONTENTS: &str = r#"
#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t);
extern char __executable_start, etext;
void *malloc(size_t size) {
  static unsigned next;
  char *block = __libc_malloc(size), *caller = __builtin_return_address(0);
  if (block && &__executable_start <= caller && caller < &etext && next < sizeof contents / sizeof *contents) {
    size_t known = contents[next].size;
    memcpy(block, contents[next].bytes, known < size ? known : size);
    next++;
  }
  return block;
}
#endif
"#;

/// The file; `None` if there is no violating run.
pub fn file(finding: &Finding<'_>) -> Option<String> {
    let (replay, story) = (finding.settled.replay.as_ref()?, finding.story.as_ref()?);
    let (p, places) = (finding.program, finding.places.as_ref()?);
    let mut text = String::from(START);
    let asked = |input: &&Taken| places.contains(p.edges[input.edge].span);
    let (given, read): (Vec<&Taken>, Vec<&Taken>) = story.run.inputs.iter().partition(asked);
    values(&mut text, "inputs", given.iter().map(|i| (i.bits, i.times)));
    let mut names: BTreeSet<&str> = finding.input.files.iter().flat_map(|f| words(&f.text)).collect();
    // The property may have given them bodies; the program as it was read counts.
    let written = &finding.input.program;
    names.retain(|name| written.func_named(name).is_none_or(|f| written.funcs[f].body.is_none()));
    for name in &names {
        let _ = match *name {
            "reach_error" | "__VERIFIER_error" => writeln!(text, "void {name}(void) {REACHED}"),
            "__VERIFIER_assume" => writeln!(text, "void {name}(int holds) {{ if (!holds) _exit(0); }}"),
            _ => match name.strip_prefix("__VERIFIER_nondet_") {
                Some(kind) => {
                    giver(&mut text, input_type(kind), name, "void", "inputs");
                    Ok(())
                }
                None => Ok(()),
            },
        };
    }
    for &f in &story.run.unknown_functions {
        let func = &p.funcs[f];
        if let (false, Some(ty), Some(params)) =
            (names.contains(&*func.name), result_type(p, func), parameters(p, func))
        {
            let of_call = |edge: EdgeId| matches!(p.edges[edge].op, Op::Call { callee: Callee::Direct(g), .. } if g == f);
            let chosen = replay.bug.unknowns.iter().filter(|c| !c.input && of_call(c.edge));
            let list = format!("of_{}", func.name);
            values(&mut text, &list, chosen.map(|c| (c.bits, c.times)));
            giver(&mut text, ty, &func.name, &params, &list);
        }
    }
    // Functions that nobody has and the run does not call: their addresses may be asked for.
    for (f, func) in p.funcs.iter_enumerated() {
        let missing = func.body.is_none() && matches!(func.effect, Effect::Pure | Effect::Arbitrary);
        if let (true, false, Some(ty), Some(params)) = (
            missing && !names.contains(&*func.name) && written.func_named(&func.name).is_some(),
            story.run.unknown_functions.contains(&f),
            result_type(p, func),
            parameters(p, func),
        ) {
            let _ = writeln!(text, "__attribute__((weak)) {ty} {}({params}) {{ abort(); }}", func.name);
        }
    }
    if !read.is_empty() {
        let bytes = read.iter().map_while(|i| Some((u8::try_from(i.bits).ok()?, i.times as usize)));
        let bytes: Vec<u8> =
            bytes.flat_map(|(byte, times)| std::iter::repeat_n(byte, times)).take(READ).collect();
        let _ = write!(text, "static const char input[] = {};{INPUT}", quoted(&bytes));
    }
    if let Some(arguments) = &story.steps.arguments {
        text.push_str("static char *const arguments[] = {");
        arguments.iter().for_each(|a| text.push_str(&format!("(char *){}, ", quoted(a))));
        let _ = write!(text, "0}};{ARGUMENTS}");
    }
    let blocks = replay.bug.contents.iter().filter(|(e, _)| matches!(p.edges[*e].op, Op::Alloc { .. }));
    let blocks: Vec<String> = blocks.map(|(_, b)| format!("{{{}, {}}}", b.len(), quoted(b))).collect();
    if !blocks.is_empty() {
        let _ = write!(
            text,
            "static const struct {{ size_t size; const char *bytes; }} contents[] = {{{}}};{CONTENTS}",
            blocks.join(", ")
        );
    }
    if let Some(call) = &story.steps.call {
        let has_main = written.func_named("main").is_some_and(|f| written.funcs[f].body.is_some());
        match entry_call::text(p, call, &replay.bug, has_main) {
            Ok(call) => text.push_str(&call),
            Err(why) => {
                warning!("no harness is written for `{}`: {why}", finding.property.entry);
                return None;
            }
        }
    }
    Some(text)
}

/// Names of the functions that a harness defines if the program does not.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|w| w.starts_with("__VERIFIER_") || *w == "reach_error")
}

/// Bytes as a string literal; octal numbers end by themselves.
pub fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    bytes.iter().for_each(|b| text.push_str(&format!("\\{b:03o}")));
    text + "\""
}

/// The type of an input, by the end of its function's name.
fn input_type(kind: &str) -> &'static str {
    match kind {
        "bool" => "_Bool",
        "char" => "char",
        "uchar" | "unsigned_char" | "u8" => "unsigned char",
        "short" => "short",
        "ushort" | "u16" => "unsigned short",
        "int" => "int",
        "uint" | "unsigned" | "unsigned_int" | "u32" => "unsigned",
        "long" | "loff_t" => "long",
        "ulong" | "size_t" | "sector_t" => "unsigned long",
        "longlong" => "long long",
        "float" => "float",
        "double" => "double",
        "pointer" | "pchar" => "void *",
        _ => "unsigned long long",
    }
}

fn values(text: &mut String, name: &str, bits: impl Iterator<Item = (u128, u64)>) {
    let _ = write!(text, "static const unsigned long long {name}[][3] = {{");
    for (b, times) in bits {
        let _ = write!(text, "{{{:#x}ull, {:#x}ull, {times}}}, ", b as u64, (b >> 64) as u64);
    }
    let _ = writeln!(text, "{{0, 0, 0}}}};\nstatic unsigned long long next_{name}[2];");
}

/// A function that gives the values of a list one after the other.
fn giver(text: &mut String, ty: &str, name: &str, params: &str, list: &str) {
    let body = if ty == "void" {
        String::new()
    } else {
        format!(
            " {ty} value; take({list}, sizeof {list} / sizeof *{list} - 1, next_{list}, &value, sizeof value); \
             return value; "
        )
    };
    let _ = writeln!(text, "{ty} {name}({params}) {{{body}}}");
}

fn result_type(p: &Program, func: &Function) -> Option<&'static str> {
    match &p.types[func.ty] {
        Type::Func(sig) => c_type(p, sig.ret),
        _ => None,
    }
}

fn parameters(p: &Program, func: &Function) -> Option<String> {
    let Type::Func(sig) = &p.types[func.ty] else { return None };
    if sig.params.is_empty() {
        return Some("void".into());
    }
    let names = sig.params.iter().enumerate().map(|(i, ty)| Some(format!("{} p{i}", c_type(p, *ty)?)));
    let mut list = names.collect::<Option<Vec<String>>>()?.join(", ");
    if sig.variadic {
        list.push_str(", ...");
    }
    Some(list)
}

/// How C names a type, if it is none of the program's.
pub fn c_type(p: &Program, ty: TypeId) -> Option<&'static str> {
    match &p.types[ty] {
        Type::Void => Some("void"),
        Type::Int(IntTy { bits: 1, .. }) => Some("_Bool"),
        Type::Int(t) => t.c_name(),
        Type::Float(FloatTy::F32) => Some("float"),
        Type::Float(FloatTy::F64) => Some("double"),
        Type::Float(FloatTy::F80) => Some("long double"),
        Type::Ptr(_) => Some("void *"),
        _ => None,
    }
}
