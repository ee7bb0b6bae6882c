//! The whole way from text to automaton, with the library source that the program needs.

use crate::contract::Contracts;
use crate::link::{lower_linked, with_deep_stack};
use crate::options::Options;
use crate::prelude::{self, Unit};
use palisade_base::{Diagnostic, FileId, Idx, SourceMap};
use palisade_c_syntax::ast::{Arithmetic, ExprKind, FunctionDef, Item, Storage, TranslationUnit};
use palisade_c_syntax::{Interner, Symbol, parse, parse_annotated};
use palisade_c_types::check_program;
use palisade_cfa::{DataModel, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// What became of some C text.
#[derive(Debug)]
pub struct Compiled {
    /// The automaton, unless there were errors.
    pub program: Option<Program>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads preprocessed C files as one program and lowers it. The C library functions that it uses
/// and does not define are added to `map` and to the program.
///
/// ```
/// use palisade_base::SourceMap;
/// use palisade_cfa::DataModel;
/// use palisade_lower::{Options, compile};
///
/// let mut map = SourceMap::new();
/// let text = "unsigned long strlen(const char *); int main(void) { return strlen(\"abc\"); }";
/// let file = map.add("main.i", text.into()).unwrap();
/// let compiled = compile(&mut map, &[file], DataModel::Lp64, &Options::default());
/// let program = compiled.program.unwrap();
/// assert!(palisade_cfa::verify(&program).is_empty());
/// let strlen = program.func_named("strlen").unwrap();
/// assert!(program.funcs[strlen].body.is_some());
/// ```
pub fn compile(map: &mut SourceMap, files: &[FileId], data_model: DataModel, options: &Options) -> Compiled {
    with_deep_stack(|| compile_here(map, files, data_model, options))
        .unwrap_or_else(|error| Compiled { program: None, diagnostics: vec![error] })
}

fn compile_here(map: &mut SourceMap, files: &[FileId], data_model: DataModel, options: &Options) -> Compiled {
    let mut names = Interner::new();
    let mut diagnostics = Vec::new();
    let mut units = Vec::new();
    for &file in files {
        let read = if options.annotations { parse_annotated } else { parse };
        let (unit, found) = read(map, file, &mut names);
        units.push(unit);
        diagnostics.extend(found);
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Compiled { program: None, diagnostics };
    }
    let contracts = Contracts::new();
    let library_from = add_library(map, &mut units, &mut names, &contracts, data_model);
    let (typed, found) = check_program(&units, &mut names, data_model);
    // What is odd about the library source does not concern the program.
    let of_program = |d: &Diagnostic| d.span.lo < library_from || d.span.is_none() || d.is_error();
    diagnostics.extend(found.into_iter().filter(of_program));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Compiled { program: None, diagnostics };
    }
    match lower_linked(&typed, &names, options, &contracts, library_from) {
        Ok((program, found)) => {
            diagnostics.extend(found);
            Compiled { program: Some(program), diagnostics }
        }
        Err(found) => {
            diagnostics.extend(found);
            Compiled { program: None, diagnostics }
        }
    }
}

/// Library source that is added as one translation unit.
#[derive(Clone, Copy)]
enum Wanted {
    Unit(Unit),
    /// What the table says about a function.
    Line(&'static str),
}

/// Adds the library units that the program needs, directly or through one another. Returns the
/// offset in the source map where they start.
fn add_library(
    map: &mut SourceMap,
    units: &mut Vec<TranslationUnit>,
    names: &mut Interner,
    contracts: &Contracts,
    model: DataModel,
) -> u32 {
    let mut wanted: FxHashMap<&str, Unit> = FxHashMap::default();
    for unit in prelude::units() {
        // A program that uses the marked name itself does without the library's function.
        let marked = |name: &str| names.lookup(&format!("${}", name.trim_start_matches('$'))).is_some();
        if !unit.names().any(marked) {
            wanted.extend(unit.names().map(|name| (name, unit)));
        }
    }
    let find = |name: &str, inside: bool| {
        let mut found = Vec::new();
        // Inside the library `$f` is the source of `f`, and `$direct_f` is a call of `f`.
        let own = name.strip_prefix('$').filter(|_| inside);
        let keys = [Some(plain_name(name)), own, inside.then_some(name)];
        for key in keys.into_iter().flatten() {
            found.extend(wanted.get(key).map(|&unit| Wanted::Unit(unit)));
        }
        let contract = contracts.get(name).or_else(|| own.and_then(|n| contracts.get(n)));
        if let Some(contract) = contract {
            found.push(Wanted::Line(contract.name));
        }
        found
    };
    let mut used = vec![false; names.len()];
    for unit in &mut *units {
        mark_used(unit, &mut used);
        let known = |name: Symbol| !find(names.name(name), false).is_empty();
        leave_to_library(unit, names, known);
    }
    let mut library_from = u32::MAX;
    // Functions that the program has itself are not looked for.
    for unit in &*units {
        for item in &unit.items {
            if let Item::Function(def) = item
                && let Some(name) = def.declarator.name
            {
                used[name.name.index()] = false;
            }
        }
    }
    let mut work: Vec<Wanted> = Vec::new();
    // The 128-bit format is computed in 128-bit integers, which only 64-bit machines have.
    let soft: &[&str] = match model {
        DataModel::Lp64 => &["__extendhfsf2", "__truncdfhf2", "__addtf3"],
        DataModel::Ilp32 => &["__extendhfsf2", "__truncdfhf2"],
    };
    let uses = |wanted: fn(&Arithmetic) -> bool| {
        let called = |(name, a): &(Symbol, Arithmetic)| used[name.index()] && wanted(a);
        units.iter().any(|u| wanted(&u.uses) || u.prototypes.iter().any(called))
    };
    for (is_used, names) in
        [(uses(|a| a.complex), &["__mulsc3", "__muldc3", "__mulxc3"][..]), (uses(|a| a.soft_float), soft)]
    {
        if is_used {
            work.extend(names.iter().filter_map(|name| wanted.get(name)).map(|&unit| Wanted::Unit(unit)));
        }
    }
    for (i, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        work.extend(find(names.name(Symbol::new(i)), false));
    }
    let mut added: FxHashSet<*const u8> = FxHashSet::default();
    while let Some(wanted_source) = work.pop() {
        let (key, file, source) = match wanted_source {
            Wanted::Unit(unit) => (unit.source_start(), unit.file, Some(unit.source())),
            Wanted::Line(name) => {
                let Some(contract) = contracts.get(name) else { continue };
                let text = [contract.source(model), contract.pointer_source()];
                let text: String = text.into_iter().flatten().collect();
                work.extend(contract.helpers().flat_map(|h| find(h, true)));
                (name.as_ptr(), "functions.txt", (!text.is_empty()).then(|| prelude::made_source(&text)))
            }
        };
        let (true, Some(source)) = (added.insert(key), source) else { continue };
        let Some(file) = map.add(&format!("<library>/{file}"), source) else { break };
        library_from = library_from.min(map.start(file));
        let (tree, _) = parse(map, file, names);
        let mut used = vec![false; names.len()];
        mark_used(&tree, &mut used);
        for (i, _) in used.iter().enumerate().filter(|(_, used)| **used) {
            work.extend(find(names.name(Symbol::new(i)), true));
        }
        units.push(tree);
    }
    library_from
}

/// The library function behind a builtin, or behind the library's own call of it.
pub(crate) fn plain_name(name: &str) -> &str {
    if let Some(rest) = name.strip_prefix("$direct_") {
        return rest;
    }
    let Some(rest) = name.strip_prefix("__builtin_") else { return name };
    rest.strip_prefix("__").and_then(|r| r.strip_suffix("_chk")).unwrap_or(rest)
}

/// Removes the definitions of headers that are for inlining only (`extern inline` as GNU C89 means it) and stand for
/// functions that the library has: there they call the function itself by another name.
fn leave_to_library(unit: &mut TranslationUnit, names: &Interner, known: impl Fn(Symbol) -> bool) {
    let declarations = unit.items.iter().filter_map(|item| match item {
        Item::Declaration(id) => Some(&unit.decls[*id].declarators),
        _ => None,
    });
    let declared = declarations.flatten().filter_map(|d| d.declarator.name.map(|name| name.name));
    let declared: FxHashSet<Symbol> = declared.filter(|&name| known(name)).collect();
    let is_for_inlining = |def: &FunctionDef| {
        let attrs = [&def.specs.attrs, &def.declarator.attrs, &def.attrs].into_iter().flatten();
        let storage = def.specs.storage == Some(Storage::Extern);
        storage && def.specs.inline && attrs.into_iter().any(|a| names.name(a.name) == "gnu_inline")
    };
    unit.items.retain(|item| match item {
        Item::Function(def) => {
            let replaced = def.declarator.name.is_some_and(|name| declared.contains(&name.name));
            !(replaced && is_for_inlining(def))
        }
        _ => true,
    });
}

fn mark_used(unit: &TranslationUnit, used: &mut [bool]) {
    for expr in &unit.exprs {
        if let ExprKind::Name(name) = expr.kind {
            used[name.index()] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the library's own floating point is compiled along.
    fn has_soft_floats(text: &str) -> bool {
        let mut map = SourceMap::new();
        let file = map.add("main.i", text.into()).expect("it is short");
        let compiled = compile(&mut map, &[file], DataModel::Lp64, &Options::default());
        let program = compiled.program.expect("it is correct");
        assert!(palisade_cfa::verify(&program).is_empty());
        map.files().any(|f| map.name(f) == "<library>/softfloat.c")
    }

    #[test]
    fn soft_floats_are_compiled_for_programs_that_compute_with_them() {
        let header = "typedef unsigned u8 __attribute__((__mode__(__QI__))); \
                      _Float128 strtof128(const char *, char **); ";
        assert!(!has_soft_floats(&format!("{header} int main(void) {{ u8 x = 1; return x; }}")));
        for program in [
            "int main(void) { return strtof128(\"1\", 0) + 1.0 > 0; }",
            "typedef float quad __attribute__((mode(TF))); int main(void) { quad x = 1; return x > 0; }",
            "typedef __float128 reader(void); reader read_it; int main(void) { return read_it() > 0; }",
            "int main(void) { return 1.0q > 0; }",
            "__float128 twice(__float128 x) { return x + x; } int main(void) { return 0; }",
        ] {
            assert!(has_soft_floats(&format!("{header} {program}")), "{program}");
        }
    }

    #[test]
    fn definitions_for_inlining_give_way_to_the_library() {
        let text = "extern unsigned long strlen(const char *); extern unsigned long alias(const char *) __asm__(\"strlen\");
            extern inline __attribute__((gnu_inline)) unsigned long strlen(const char *s) { return alias(s); }
            extern int own(int); extern inline __attribute__((gnu_inline)) int own(int x) { return x; }
            int main(void) { return strlen(\"a\") + own(0); }";
        let mut map = SourceMap::new();
        let file = map.add("main.i", text.into()).expect("it is short");
        let compiled = compile(&mut map, &[file], DataModel::Lp64, &Options::default());
        let program = compiled.program.expect("it is correct");
        let file_of = |name: &str| {
            let f = program.func_named(name).expect("it is called");
            assert!(program.funcs[f].body.is_some());
            map.name(map.file_of(program.funcs[f].span.lo).expect("it stands somewhere")).to_owned()
        };
        assert_eq!(file_of("strlen"), "<library>/string.c");
        assert_eq!(file_of("own"), "main.i");
    }
}
