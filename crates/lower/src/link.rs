//! Lowering a typed program together with the library source that was compiled along.

use crate::lowerer::Lowerer;
use crate::misfit::fit_calls;
use crate::options::Options;
use palisade_base::{Diagnostic, Span};
use palisade_c_syntax::Interner;
use palisade_c_types::tast::{FnId, ObjKind, TypedProgram};
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
    library_from: u32,
) -> Result<(Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let library = Library::new(typed, names, library_from);
    let mut lowerer = Lowerer::new(typed, names, options, library.instead, library.functions, library.at_end);
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
            fit_calls(&mut program, options.checks.contains(CheckKind::CallType));
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

/// Which functions of the program the library source stands for.
struct Library {
    instead: FxHashMap<FnId, FnId>,
    functions: FxHashSet<FnId>,
    at_end: AtEnd,
}

impl Library {
    fn new(typed: &TypedProgram, names: &Interner, library_from: u32) -> Library {
        let mut library = Library {
            instead: FxHashMap::default(),
            functions: FxHashSet::default(),
            at_end: AtEnd::default(),
        };
        if library_from == u32::MAX {
            return library;
        }
        let mut by_name: FxHashMap<&str, FnId> = FxHashMap::default();
        for (f, func) in typed.funcs.iter_enumerated() {
            let name = names.name(func.name);
            if func.body.is_some()
                && func.span.lo >= library_from
                && let Some(name) = name.strip_prefix('$')
            {
                library.functions.insert(f);
                by_name.insert(name, f);
                match name {
                    "run_atexit" => library.at_end.exit = Some(f),
                    "run_at_quick_exit" => library.at_end.quick_exit = Some(f),
                    "run_abort" => library.at_end.abort = Some(f),
                    _ => {}
                }
            }
        }
        for (f, func) in typed.funcs.iter_enumerated() {
            if func.body.is_none()
                && let Some(&other) = by_name.get(names.name(func.name))
                && same_machine_type(typed, func.ty, typed.funcs[other].ty)
            {
                library.instead.insert(f, other);
            }
        }
        library
    }
}

/// Whether two function types pass the same machine values.
fn same_machine_type(typed: &TypedProgram, a: CTypeId, b: CTypeId) -> bool {
    let types = &typed.types;
    let (Some(a), Some(b)) = (types.callable_sig(a), types.callable_sig(b)) else { return false };
    let (a, b) = (types.sig(a), types.sig(b));
    let same = |x: CTypeId, y: CTypeId| match (types.get(x), types.get(y)) {
        (CType::Void, CType::Void) | (CType::Ptr(_), CType::Ptr(_)) => true,
        (CType::Float(x), CType::Float(y)) => x == y,
        (CType::Record(_), CType::Record(_)) => {
            types.size_of(x).is_some() && types.size_of(x) == types.size_of(y)
        }
        _ => types.int_ty(x).is_some() && types.int_ty(x) == types.int_ty(y),
    };
    // Without a prototype the arguments are fitted to the parameters at each call.
    let params = !a.prototype && a.params.is_empty()
        || a.params.len() == b.params.len() && a.params.iter().zip(&b.params).all(|(&x, &y)| same(x, y));
    params && a.variadic == b.variadic && same(a.ret, b.ret)
}
