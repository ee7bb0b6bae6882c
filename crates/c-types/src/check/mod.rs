//! The type checker: one pass over the syntax tree in source order.
//!
//! * `decl`: specifiers and declarators to types; `record`: structs, unions, enumerations;
//!   `attr`: attributes;
//! * `global`: functions and objects with linkage, across files; `local`: declarations in blocks;
//! * `init`: initialisers; `image`: constant images of objects with static storage;
//! * `expr`: expressions; `ops`: operators; `convert`: conversions; `call`: calls; `builtin` and
//!   `atomic`: operations of the compiler; `parts`, `complex`, `vector` and `softfloat`: numbers
//!   that are laid out as records;
//! * `nested`: functions inside functions;
//! * `konst`: constant expressions; `compat`: compatible and composite types;
//! * `stmt`: statements; `contract`: annotations.
//!
//! The checker goes on after an error with the type [`TypeTable::ERROR`], which agrees with
//! everything and is never complained about again.

mod atomic;
mod attr;
mod builtin;
mod call;
mod compat;
mod complex;
mod contract;
mod convert;
mod decl;
mod expr;
mod global;
mod image;
mod init;
mod konst;
mod library;
mod local;
mod nested;
mod ops;
mod parts;
mod primary;
mod record;
mod softfloat;
mod stmt;
mod variable;
mod vector;

use palisade_base::{Diagnostic, IdxVec, Span};
use palisade_c_syntax::ast::{self, Item, TranslationUnit};
use palisade_c_syntax::{Interner, Symbol};
use palisade_cfa::DataModel;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::scope::Scopes;
use crate::tast::*;
use crate::types::{CTypeId, QType, TypeTable};
use builtin::BuiltinFn;

/// The most messages that are kept; what follows is rarely news.
const MAX_DIAGNOSTICS: usize = 1000;

/// The most expressions, statements or objects of a typed program.
const MAX_NODES: usize = 1 << 30;

/// How deep expressions, statements, declarators, records and initialisers may nest, counted
/// together.
const MAX_DEPTH: u32 = 16_384;

/// The stack that [`MAX_DEPTH`] levels need without optimisation, with room to spare. Only what
/// is used of it ever becomes memory.
const STACK_BYTES: usize = 512 << 20;

/// How deep they may nest on the stack of the caller. Programs that people write stay below.
const SHALLOW_DEPTH: u32 = 100;

/// Types the translation units of a program and links them.
///
/// Always returns a program; it is complete and consistent unless some diagnostic is an error.
pub fn check_program(
    units: &[TranslationUnit],
    interner: &mut Interner,
    data_model: DataModel,
) -> (TypedProgram, Vec<Diagnostic>) {
    let known = Known::new(interner);
    let interner = &*interner;
    let Some(first) = units.first() else { return (empty_program(data_model), Vec::new()) };
    let run = |max_depth| {
        let mut checker = Checker::new(first, interner, &known, data_model, max_depth);
        checker.check_units(units);
        checker
    };
    let shallow = run(SHALLOW_DEPTH);
    if !shallow.too_deep {
        return (shallow.prog, shallow.diags);
    }
    // The checker recurses on nested statements, which the parser admits by the thousand; then it
    // runs again, on a stack that is made for that.
    let deep = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("type checker".into())
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || {
                let deep = run(MAX_DEPTH);
                (deep.prog, deep.diags)
            });
        match thread.map(|t| t.join()) {
            Ok(Ok(result)) => Some(result),
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => None,
        }
    });
    // Without such a stack the message about the nesting stands.
    deep.unwrap_or((shallow.prog, shallow.diags))
}

fn empty_program(dm: DataModel) -> TypedProgram {
    TypedProgram {
        types: TypeTable::new(dm),
        objects: IdxVec::new(),
        funcs: IdxVec::new(),
        exprs: IdxVec::new(),
        stmts: IdxVec::new(),
        labels: IdxVec::new(),
        inits: IdxVec::new(),
        nested_pointers: Vec::new(),
        kept_lengths: FxHashMap::default(),
    }
}

/// Names that the checker itself must recognise.
pub(crate) struct Known {
    /// Operations of the compiler by name.
    builtins: FxHashMap<Symbol, BuiltinFn>,
    /// Library functions that gcc knows without a declaration, with their types in short.
    library: FxHashMap<Symbol, &'static str>,
    /// The record behind `va_list` and its members.
    va_list: [Symbol; 5],
    /// `__func__` and its older spellings.
    func_names: [Symbol; 3],
}

impl Known {
    fn new(interner: &mut Interner) -> Known {
        softfloat::intern_names(interner);
        let mut library = FxHashMap::default();
        for &(name, sig) in library::LIBRARY {
            library.insert(interner.intern(name), sig);
        }
        Known {
            builtins: builtin::table(interner),
            library,
            va_list: ["__va_list_tag", "gp_offset", "fp_offset", "overflow_arg_area", "reg_save_area"]
                .map(|n| interner.intern(n)),
            func_names: ["__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"].map(|n| interner.intern(n)),
        }
    }
}

/// An entity with external linkage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entity {
    Object(ObjId),
    Func(FnId),
}

/// What is known about the function whose body is being checked.
pub(crate) struct FuncCtx {
    id: FnId,
    ret: CTypeId,
    variadic: bool,
    params: Vec<ObjId>,
    /// Named labels: the function's, and those of blocks with `__label__`.
    labels: Vec<FxHashMap<Symbol, LabelState>>,
    addressed_labels: Vec<LabelId>,
    /// The `switch` statements around the current statement, innermost last.
    switches: Vec<SwitchCtx>,
    /// How many loops, and loops or switches, are around.
    loops: u32,
    breakable: u32,
    /// Objects of the blocks that are open, innermost last, and where those blocks end.
    blocks: Vec<(Vec<ObjId>, u32)>,
    /// The object of `__func__`.
    func_name: Option<ObjId>,
    /// Whether it hands its variable arguments on (`__builtin_va_arg_pack`), so that only calls
    /// that are inlined could use its body.
    passes_pack: bool,
    /// Assignments of lengths of variable length array types that wait for the next statement.
    pending: Vec<TExprId>,
    /// Whether annotations were left out.
    left_out: bool,
}

/// A label that was mentioned.
#[derive(Clone, Copy)]
pub(crate) struct LabelState {
    id: LabelId,
    defined: bool,
    span: Span,
}

/// An open `switch`.
pub(crate) struct SwitchCtx {
    /// Promoted type of the value.
    ty: CTypeId,
    cases: Vec<(SwitchCase, Span)>,
    default: Option<LabelId>,
}

/// The state of the pass.
pub(crate) struct Checker<'a> {
    unit: &'a TranslationUnit,
    names: &'a Interner,
    known: &'a Known,
    /// How many expressions and statements are open, and how many may be.
    depth: u32,
    max_depth: u32,
    /// Whether they were too many.
    too_deep: bool,
    prog: TypedProgram,
    diags: Vec<Diagnostic>,
    scopes: Scopes,
    /// Functions and objects with external linkage, of all units.
    externals: FxHashMap<Symbol, Entity>,
    /// Objects with static storage that have an initialiser.
    defined: FxHashSet<ObjId>,
    /// Objects of the current unit with a tentative definition.
    tentative: Vec<ObjId>,
    /// Functions with attribute `alias`, and the names they stand for.
    aliases: Vec<(FnId, Symbol, Span)>,
    /// Functions whose definition gives way to another one: inline or weak.
    replaceable: FxHashSet<FnId>,
    /// Variables with attribute `alias`, which may be declared but not used.
    aliased_objects: FxHashSet<ObjId>,
    /// Names that were called without a declaration, to say so once.
    implicit: FxHashSet<Symbol>,
    func: Option<FuncCtx>,
    /// The state in which `ensures` is read, while that is done.
    after: Option<contract::After>,
    /// What is demanded of the loop that comes next.
    invariants: &'a [ast::Clause],
    /// The functions around it, outermost first.
    outer: Vec<FuncCtx>,
    nest: nested::Nest,
    /// Values of `constexpr` variables.
    constexprs: FxHashMap<ObjId, konst::Const>,
    /// Enumerations that are complete because their type is given, but not defined so far.
    forward_enums: FxHashSet<crate::types::EnumTyId>,
    /// How many prototypes are open; lengths of arrays in them are not evaluated.
    prototypes: u32,
    /// Whether constants of a static initialiser are being evaluated.
    in_static_init: bool,
    /// The whole text of the current unit, as far as it is known.
    unit_span: Span,
}

impl<'a> Checker<'a> {
    /// A checker that has seen nothing; `first` is the first unit it will see.
    fn new(
        first: &'a TranslationUnit,
        interner: &'a Interner,
        known: &'a Known,
        data_model: DataModel,
        max_depth: u32,
    ) -> Self {
        Checker {
            unit: first,
            names: interner,
            known,
            depth: 0,
            max_depth,
            too_deep: false,
            prog: empty_program(data_model),
            diags: Vec::new(),
            scopes: Scopes::new(interner.len()),
            externals: FxHashMap::default(),
            defined: FxHashSet::default(),
            tentative: Vec::new(),
            aliases: Vec::new(),
            replaceable: FxHashSet::default(),
            aliased_objects: FxHashSet::default(),
            implicit: FxHashSet::default(),
            func: None,
            after: None,
            invariants: &[],
            outer: Vec::new(),
            nest: nested::Nest::default(),
            constexprs: FxHashMap::default(),
            forward_enums: FxHashSet::default(),
            prototypes: 0,
            in_static_init: false,
            unit_span: Span::NONE,
        }
    }

    fn check_units(&mut self, units: &'a [TranslationUnit]) {
        for unit in units {
            self.unit = unit;
            self.scopes = Scopes::new(self.names.len());
            self.check_unit();
        }
        self.resolve_aliases();
    }

    /// Enters one level of nesting, unless there are too many; [`Checker::leave`] ends it.
    fn enter(&mut self, span: Span) -> bool {
        if self.depth < self.max_depth {
            self.depth += 1;
            return true;
        }
        self.too_deep = true;
        self.error(span, "the program is nested too deeply");
        false
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    fn check_unit(&mut self) {
        let unit = self.unit;
        self.tentative.clear();
        self.unit_span = match (unit.items.first(), unit.items.last()) {
            (Some(a), Some(b)) => self.item_span(a).to(self.item_span(b)),
            _ => Span::NONE,
        };
        for item in &unit.items {
            match item {
                Item::Function(def) => self.function_definition(def),
                Item::Declaration(id) => self.global_declaration(&unit.decls[*id]),
                Item::StaticAssert(assert) => self.static_assert(assert),
                Item::Asm { span, .. } => {
                    self.warn(*span, "assembler code outside functions is ignored");
                }
            }
            if self.prog.exprs.len() > MAX_NODES {
                self.error(self.item_span(item), "the program is too large");
                break;
            }
            if self.too_deep {
                break;
            }
        }
        self.finish_tentative();
    }

    fn item_span(&self, item: &Item) -> Span {
        match item {
            Item::Function(def) => def.span,
            Item::Declaration(id) => self.unit.decls[*id].span,
            Item::StaticAssert(assert) => assert.span,
            Item::Asm { span, .. } => *span,
        }
    }

    fn static_assert(&mut self, assert: &ast::StaticAssert) {
        let span = self.unit.exprs[assert.cond].span;
        match self.const_int_expr(assert.cond) {
            Some(0) => {
                let text = match assert.message.map(|m| &self.unit.strings[m].units) {
                    Some(ast::StringUnits::Bytes(b)) => format!(": {}", String::from_utf8_lossy(b)),
                    _ => String::new(),
                };
                self.error(assert.span, format!("static assertion failed{text}"));
            }
            Some(_) => {}
            None => self.error(span, "the condition of a static assertion must be an integer constant"),
        }
    }

    // Messages.

    fn error(&mut self, span: Span, message: impl Into<String>) {
        if self.diags.len() < MAX_DIAGNOSTICS {
            self.diags.push(Diagnostic::error(span, message));
        }
    }
    fn warn(&mut self, span: Span, message: impl Into<String>) {
        // Room is kept for errors: a program must never pass because its warnings were too many.
        if self.diags.len() < MAX_DIAGNOSTICS / 2 {
            self.diags.push(Diagnostic::warning(span, message));
        }
    }
    fn unsupported(&mut self, span: Span, what: &str) {
        self.error(span, format!("{what} is not supported"));
    }
    fn type_name(&self, ty: impl Into<QType>) -> String {
        self.prog.types.display(ty.into(), self.names)
    }
    fn name(&self, symbol: Symbol) -> &'a str {
        self.names.name(symbol)
    }

    // Nodes.

    fn push(&mut self, kind: TExprKind, ty: impl Into<QType>, span: Span) -> TExprId {
        self.prog.exprs.push(TExpr { kind, ty: ty.into(), span })
    }
    fn error_expr(&mut self, span: Span) -> TExprId {
        self.push(TExprKind::Error, TypeTable::ERROR, span)
    }
    fn int_const(&mut self, value: u128, ty: CTypeId, span: Span) -> TExprId {
        let value = self.prog.types.int_ty(ty).map_or(value, |t| t.truncate(value));
        self.push(TExprKind::Int(value), ty, span)
    }
    fn ty(&self, e: TExprId) -> CTypeId {
        self.prog.exprs[e].ty.ty
    }
    fn qty(&self, e: TExprId) -> QType {
        self.prog.exprs[e].ty
    }
    fn span(&self, e: TExprId) -> Span {
        self.prog.exprs[e].span
    }
    fn is_error(&self, e: TExprId) -> bool {
        self.ty(e) == TypeTable::ERROR
    }
    fn types(&mut self) -> &mut TypeTable {
        &mut self.prog.types
    }

    /// Where the innermost open scope ends.
    fn scope_end(&self) -> u32 {
        match &self.func {
            Some(f) => f.blocks.last().map_or(self.unit_span.hi, |b| b.1),
            None => self.unit_span.hi,
        }
    }
}
