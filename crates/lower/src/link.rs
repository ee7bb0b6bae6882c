//! Lowering a typed program together with the library source that was compiled along.

use crate::contract::Contracts;
use crate::lowerer::Lowerer;
use crate::misfit::{check_callees, fit_calls};
use crate::options::Options;
use crate::prelude;
use palisade_base::{Diagnostic, IdxVec, Span};
use palisade_c_syntax::Interner;
use palisade_c_types::tast::{FnId, ObjId, ObjKind, TypedProgram};
use palisade_c_types::types::{CType, CTypeId};
use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Nesting in programs is bounded, but the bounds allow more recursion than a small stack holds.
/// Memory is only used as far as the stack grows.
const STACK_BYTES: usize = 512 << 20;

/// Runs `work` on a stack that is deep enough for all nesting that the parser admits.
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Diagnostic> {
    std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work) {
            Ok(thread) => match thread.join() {
                Ok(result) => Ok(result),
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(error) => {
                Err(Diagnostic::error(Span::NONE, format!("there is no memory for a deep stack: {error}")))
            }
        }
    })
}

/// Lowers a typed program in which everything from the offset `library_from` on is library
/// source.
pub(crate) fn lower_linked(
    typed: &TypedProgram,
    names: &Interner,
    options: &Options,
    contracts: &Contracts,
    library_from: u32,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let library = Library::new(typed, names, contracts, library_from);
    let mut lowerer = Lowerer::new(typed, names, options, contracts, library);
    // Functions and variables are numbered in source order.
    let own = |lowerer: &Lowerer, f: FnId| typed.funcs[f].body.is_some() && !lowerer.is_library(f);
    for f in typed.funcs.ids().filter(|&f| own(&lowerer, f)).collect::<Vec<_>>() {
        lowerer.func_of(f);
    }
    for (obj, object) in typed.objects.iter_enumerated() {
        let of_library = object.span.lo >= library_from && !object.span.is_none();
        if object.kind == ObjKind::Global && object.image.is_some() && !of_library {
            lowerer.var_of(obj);
        }
    }
    for f in typed.funcs.ids().filter(|&f| own(&lowerer, f)).collect::<Vec<_>>() {
        lowerer.function(f);
    }
    lowerer.make_images();
    let entry = lowerer.entry();
    lowerer.library_bodies();
    match entry {
        Some(entry) if !lowerer.diagnostics.iter().any(Diagnostic::is_error) => {
            let mut program = lowerer.pool.program;
            program.entry = entry;
            if options.checks.contains(CheckKind::Deref) {
                check_callees(&mut program);
            }
            fit_calls(&mut program, options.checks.contains(CheckKind::CallType));
            let errors = nested_pointers(typed, &program, &lowerer.funcs);
            if !errors.is_empty() {
                return Err(errors);
            }
            drop_idle_checks(&mut program);
            Ok((program, lowerer.diagnostics))
        }
        _ => Err(lowerer.diagnostics),
    }
}

/// Takes out the checks of writes to read-only objects where nothing can point to one.
fn drop_idle_checks(program: &mut Program) {
    let read_only = |program: &Program, place: PlaceId| match program.places[place].base {
        Base::Var(var) => program.vars[var].read_only,
        Base::Deref(_) => false,
    };
    let mut pointed = program.vars.iter().any(|var| match &var.init {
        Init::Image(items) => items.iter().any(|item| match item.value {
            InitValue::Addr(to, _) => program.vars[to].read_only,
            _ => false,
        }),
        Init::Unknown => false,
    });
    for edge in &program.edges {
        // What is only given away to be printed comes back from nowhere.
        let given = matches!(edge.op, Op::Call { dst: None, callee: Callee::Direct(f), .. }
            if program.funcs[f].body.is_none());
        if !given {
            program.visit_op(&edge.op, &mut |used| {
                pointed |= matches!(used, Use::Address(place) if read_only(program, place));
            });
        }
    }
    if pointed {
        return;
    }
    for i in program.edges.ids().collect::<Vec<_>>() {
        if let Op::Check { kind: CheckKind::ReadOnly, cond } = program.edges[i].op
            && !matches!(program.exprs[cond].kind, ExprKind::Int(_))
        {
            program.edges[i].op = Op::Skip;
        }
    }
}

/// A pointer to a nested function reaches the variables of the one activation that there is of the
/// function around it: that must not call itself.
fn nested_pointers(
    typed: &TypedProgram,
    program: &Program,
    funcs: &IdxVec<FnId, Option<FuncId>>,
) -> Vec<Diagnostic> {
    if typed.nested_pointers.is_empty() {
        return Vec::new();
    }
    let calls = CallGraph::new(program);
    let may_call_itself = |f: FnId| funcs[f].is_some_and(|f| calls.is_recursive(f));
    let message = "a pointer to a nested function of a function that may call itself is not supported \
                   (call it directly, or pass what it needs)";
    let bad = typed.nested_pointers.iter().filter(|(f, _)| may_call_itself(*f));
    bad.map(|&(_, span)| Diagnostic::error(span, message)).collect()
}

/// The library functions that run what a program registered for its end, where it may have done so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AtEnd {
    /// By `atexit` and `on_exit`; gets the status.
    pub(crate) exit: Option<FnId>,
    /// By `at_quick_exit`.
    pub(crate) quick_exit: Option<FnId>,
    /// By `signal` for `abort`.
    pub(crate) abort: Option<FnId>,
}

/// What of the program the library source stands for.
#[derive(Debug, Default)]
pub(crate) struct Library {
    /// Functions that have library source instead of a body.
    pub(crate) instead: FxHashMap<FnId, FnId>,
    /// What pointers to functions point to, where that is not what calls call.
    pub(crate) pointers: FxHashMap<FnId, FnId>,
    /// Objects that the library defines.
    pub(crate) objects: FxHashMap<ObjId, ObjId>,
    /// The functions of the library source.
    pub(crate) functions: FxHashSet<FnId>,
    /// These by their names, without `$`.
    pub(crate) by_name: FxHashMap<String, FnId>,
    /// Where `errno` is, if the program looks at it.
    pub(crate) errno: Option<ObjId>,
    /// The functions that run what a program registered for its end.
    pub(crate) at_end: AtEnd,
}

impl Library {
    fn new(typed: &TypedProgram, names: &Interner, contracts: &Contracts, library_from: u32) -> Library {
        let mut library = Library::default();
        if library_from == u32::MAX {
            return library;
        }
        for (f, func) in typed.funcs.iter_enumerated() {
            let name = names.name(func.name);
            if func.body.is_some()
                && func.span.lo >= library_from
                && let Some(name) = name.strip_prefix('$')
            {
                library.functions.insert(f);
                library.by_name.insert(name.into(), f);
                match name {
                    "run_atexit" => library.at_end.exit = Some(f),
                    "run_at_quick_exit" => library.at_end.quick_exit = Some(f),
                    "run_abort" => library.at_end.abort = Some(f),
                    _ => {}
                }
            }
        }
        // What only other units may use is marked where it is defined.
        let is_public =
            |name: &str| contracts.has(name) || prelude::units().any(|u| u.names().any(|n| n == name));
        for (f, func) in typed.funcs.iter_enumerated().filter(|(_, func)| func.body.is_none()) {
            let name = names.name(func.name);
            let fits = |&&other: &&FnId| same_machine_type(typed, func.ty, typed.funcs[other].ty);
            // The library's own call of a function goes where the program's calls go.
            let plain = name.strip_prefix("$direct_").unwrap_or(name);
            if let Some(&other) = library.by_name.get(plain).filter(fits).filter(|_| is_public(plain)) {
                library.instead.insert(f, other);
            }
            if let Some(&other) = library.by_name.get(&format!("pointer_{name}")).filter(fits) {
                library.pointers.insert(f, other);
            }
        }
        let mut objects: FxHashMap<&str, ObjId> = FxHashMap::default();
        let globals = || typed.objects.iter_enumerated().filter(|(_, o)| o.kind == ObjKind::Global);
        for (id, object) in globals() {
            let of_library = object.span.lo >= library_from && object.image.is_some();
            if let Some(name) = object.name.filter(|_| of_library)
                && let Some(name) = names.name(name).strip_prefix('$')
            {
                objects.insert(name, id);
            }
        }
        for (id, object) in globals().filter(|(_, o)| o.image.is_none()) {
            if let Some(name) = object.name
                && let Some(&other) = objects.get(names.name(name))
                && typed.types.size_of(object.ty.ty) == typed.types.size_of(typed.objects[other].ty.ty)
            {
                library.objects.insert(id, other);
            }
        }
        library.errno = objects.get("errno").copied();
        library
    }
}

/// Whether a function may be called as it is declared: it is given the same machine values, and what is returned is
/// among what it returns. Whether integers have a sign does not matter to who passes them in a register.
fn same_machine_type(typed: &TypedProgram, declared: CTypeId, defined: CTypeId) -> bool {
    let types = &typed.types;
    let (Some(a), Some(b)) = (types.callable_sig(declared), types.callable_sig(defined)) else {
        return false;
    };
    let (a, b) = (types.sig(a), types.sig(b));
    let bits = |ty: CTypeId| types.int_ty(ty).map(|t| t.bits);
    let same = |x: CTypeId, y: CTypeId| match (types.get(x), types.get(y)) {
        (CType::Void, CType::Void) | (CType::Ptr(_), CType::Ptr(_)) => true,
        (CType::Float(x), CType::Float(y)) => x == y,
        (CType::Record(_), CType::Record(_)) => {
            types.size_of(x).is_some() && types.size_of(x) == types.size_of(y)
        }
        _ => {
            let (x, y) = (types.int_ty(x), types.int_ty(y));
            x.is_some()
                && (x == y || x.map(|t| t.bits) == y.map(|t| t.bits) && x.is_some_and(|t| t.bits >= 32))
        }
    };
    // Without a prototype the arguments are fitted to the parameters at each call.
    let params = !a.prototype && a.params.is_empty()
        || a.params.len() == b.params.len() && a.params.iter().zip(&b.params).all(|(&x, &y)| same(x, y));
    let part = match types.get(a.ret) {
        // A record may be returned in memory that the caller must provide.
        CType::Void => !matches!(types.get(b.ret), CType::Record(_)),
        _ => bits(a.ret).zip(bits(b.ret)).is_some_and(|(part, whole)| part >= 32 && part <= whole),
    };
    params && (a.variadic == b.variadic || !a.prototype) && (part || same(a.ret, b.ret))
}
