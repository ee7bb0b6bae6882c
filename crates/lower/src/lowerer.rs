//! The state of lowering, and the steps that all its parts share.

use crate::contract::Contracts;
use crate::graph::Graph;
use crate::link::Library;
use crate::options::Options;
use crate::order::Footprints;
use crate::pool::{MAX_DEPTH, Pool};
use crate::scan::{Scan, Traits};
use crate::scope::{Goto, LabelAt, ScopeData, ScopeId, Target};
use crate::types::TypeMap;
use palisade_base::{Diagnostic, IdxVec, Span};
use palisade_c_syntax::{Interner, Symbol};
use palisade_c_types::tast::*;
use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// Names as shared strings, made once each.
#[derive(Debug, Default)]
pub(crate) struct ArcNames(FxHashMap<Symbol, Arc<str>>);

impl ArcNames {
    pub(crate) fn get(&mut self, names: &Interner, symbol: Symbol) -> Arc<str> {
        self.0.entry(symbol).or_insert_with(|| names.name(symbol).into()).clone()
    }
}

/// The function that is being lowered.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) func: FuncId,
    pub(crate) graph: Graph,
    pub(crate) locals: Vec<VarId>,
    /// The hidden parameter of a variadic function.
    pub(crate) varargs: Option<VarId>,
    /// Whether jumps can pass by declarations.
    pub(crate) has_labels: bool,
    pub(crate) scopes: IdxVec<ScopeId, ScopeData>,
    /// The innermost scope.
    pub(crate) scope: Option<ScopeId>,
    pub(crate) breaks: Vec<Target>,
    pub(crate) continues: Vec<Target>,
    pub(crate) labels: FxHashMap<LabelId, LabelAt>,
    pub(crate) gotos: Vec<Goto>,
    /// How many operands around are lowered in several orders.
    pub(crate) orders: usize,
    /// Labels of this function whose address is taken.
    pub(crate) addressed_labels: Vec<LabelId>,
    temps: usize,
    /// What annotations demand of the loop that comes next.
    pub(crate) invariants: Vec<TExprId>,
    /// What they demand when the function returns, and where they look for the result.
    pub(crate) ensures: Vec<TExprId>,
    pub(crate) result: Option<ObjId>,
    /// A byte that the function may not change.
    pub(crate) watched: Option<Watched>,
    /// Whether checks are taken for granted: they are part of what is.
    pub(crate) assuming: bool,
}

/// A byte that should stay as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched {
    /// Where; a null pointer for none.
    pub(crate) at: VarId,
    /// What it was.
    pub(crate) was: VarId,
    /// Who says so.
    pub(crate) span: Span,
}

/// Everything that lowering knows.
pub(crate) struct Lowerer<'a> {
    pub(crate) typed: &'a TypedProgram,
    pub(crate) names: &'a Interner,
    pub(crate) options: &'a Options,
    pub(crate) scan: Scan,
    /// What functions touch, once somebody wants to know.
    pub(crate) footprints: OnceCell<Footprints>,
    pub(crate) pool: Pool,
    pub(crate) types: TypeMap,
    pub(crate) arc_names: ArcNames,
    pub(crate) empty_name: Arc<str>,
    /// `.0`, `.1`, … for temporaries.
    temp_names: Vec<Arc<str>>,
    pub(crate) funcs: IdxVec<FnId, Option<FuncId>>,
    /// The table of the C library.
    pub(crate) contracts: &'a Contracts,
    /// What library source stands for.
    pub(crate) library: Library,
    /// Functions that stand for effects only.
    pub(crate) effect_functions: Vec<(Effect, FuncId)>,
    /// Variables that are string literals.
    pub(crate) literal_vars: FxHashSet<VarId>,
    pub(crate) vars: IdxVec<ObjId, Option<VarId>>,
    /// The objects of globals whose contents may be larger than their type.
    pub(crate) objects: FxHashMap<VarId, ObjId>,
    /// For weak functions that nobody defines here: whether somebody else does.
    pub(crate) weak: FxHashMap<FnId, VarId>,
    /// Variables whose address the program takes somewhere.
    pub(crate) taken: IdxVec<VarId, bool>,
    /// Globals whose contents are still to be made.
    pub(crate) waiting_images: Vec<(ObjId, VarId)>,
    /// Numbers that stand for the addresses of labels.
    pub(crate) label_numbers: FxHashMap<LabelId, u64>,
    pub(crate) at: Current,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// What was already reported and is reported only once.
    pub(crate) reported: FxHashSet<Reported>,
}

/// A message that is given once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reported {
    NoBody(FnId),
    NoLength(ObjId),
    AsmMemory,
}

impl Current {
    pub(crate) fn new(func: FuncId, span: Span) -> Current {
        Current {
            func,
            graph: Graph::new(span),
            locals: Vec::new(),
            varargs: None,
            has_labels: false,
            scopes: IdxVec::new(),
            scope: None,
            breaks: Vec::new(),
            continues: Vec::new(),
            labels: FxHashMap::default(),
            gotos: Vec::new(),
            orders: 0,
            addressed_labels: Vec::new(),
            invariants: Vec::new(),
            ensures: Vec::new(),
            result: None,
            watched: None,
            assuming: false,
            temps: 0,
        }
    }
}

impl<'a> Lowerer<'a> {
    pub(crate) fn new(
        typed: &'a TypedProgram,
        names: &'a Interner,
        options: &'a Options,
        contracts: &'a Contracts,
        library: Library,
    ) -> Self {
        Lowerer {
            typed,
            names,
            options,
            scan: Scan::new(typed, options.checks),
            footprints: OnceCell::new(),
            pool: Pool::new(typed.types.dm),
            types: TypeMap::default(),
            arc_names: ArcNames::default(),
            empty_name: "".into(),
            temp_names: Vec::new(),
            funcs: IdxVec::filled(None, typed.funcs.len()),
            contracts,
            library,
            effect_functions: Vec::new(),
            literal_vars: FxHashSet::default(),
            vars: IdxVec::filled(None, typed.objects.len()),
            objects: FxHashMap::default(),
            weak: FxHashMap::default(),
            taken: IdxVec::new(),
            waiting_images: Vec::new(),
            label_numbers: FxHashMap::default(),
            at: Current::new(FuncId(0), Span::NONE),
            diagnostics: Vec::new(),
            reported: FxHashSet::default(),
        }
    }

    pub(crate) fn name(&mut self, symbol: Symbol) -> Arc<str> {
        self.arc_names.get(self.names, symbol)
    }

    pub(crate) fn kind(&self, e: TExprId) -> &'a TExprKind {
        &self.typed.exprs[e].kind
    }

    pub(crate) fn span(&self, e: TExprId) -> Span {
        self.typed.exprs[e].span
    }

    /// The scalar type of an expression, if it has one.
    pub(crate) fn scalar_of(&self, e: TExprId) -> Option<Scalar> {
        self.scalar(self.typed.exprs[e].ty.ty)
    }

    pub(crate) fn traits(&self, e: TExprId) -> Traits {
        self.scan.traits[e]
    }

    pub(crate) fn size_t(&self) -> IntTy {
        self.pool.program.data_model.size_t()
    }

    pub(crate) fn emit(&mut self, op: Op, span: Span) {
        self.at.graph.emit(op, span);
    }

    pub(crate) fn assign(&mut self, dst: PlaceId, src: ExprId, span: Span) {
        self.emit(Op::Assign { dst, src }, span);
    }

    pub(crate) fn warn_once(&mut self, what: Reported, span: Span, message: &str) {
        if self.reported.insert(what) {
            self.diagnostics.push(Diagnostic::warning(span, message));
        }
    }

    /// A new temporary of the function.
    pub(crate) fn temp(&mut self, ty: TypeId) -> VarId {
        let n = self.at.temps;
        self.at.temps += 1;
        while self.temp_names.len() <= n {
            self.temp_names.push(format!(".{}", self.temp_names.len()).into());
        }
        let var = self.pool.program.vars.push(Var::made_up(
            self.temp_names[n].clone(),
            ty,
            VarKind::Temp(self.at.func),
        ));
        self.at.locals.push(var);
        var
    }

    pub(crate) fn scalar_temp(&mut self, ty: Scalar) -> VarId {
        let ty = self.scalar_type(ty);
        self.temp(ty)
    }

    /// Saves a value as it is now.
    pub(crate) fn save(&mut self, e: ExprId, span: Span) -> ExprId {
        if self.pool.constant(e).is_some() {
            return e;
        }
        let var = self.scalar_temp(self.pool.ty(e));
        let dst = self.pool.var(var);
        self.assign(dst, e, span);
        self.pool.load(dst)
    }

    /// Saves a value if it is nested too deep.
    pub(crate) fn bound(&mut self, e: ExprId, span: Span) -> ExprId {
        if self.pool.depth(e) > MAX_DEPTH { self.save(e, span) } else { e }
    }

    /// Saves a value if what comes next may change it.
    pub(crate) fn keep(&mut self, e: ExprId, next: Traits, span: Span) -> ExprId {
        if next.has(Traits::EFFECT) && self.may_change(e, next) { self.save(e, span) } else { e }
    }

    /// Saves the parts of a place that what comes next may change.
    pub(crate) fn keep_place(&mut self, place: PlaceId, next: Traits, span: Span) -> PlaceId {
        if !next.has(Traits::EFFECT) {
            return place;
        }
        let mut new = self.pool.program.places[place].clone();
        let mut changed = false;
        let mut keep = |this: &mut Self, e: &mut ExprId| {
            let kept = this.keep(*e, next, span);
            changed |= kept != *e;
            *e = kept;
        };
        if let Base::Deref(ptr) = &mut new.base {
            keep(self, ptr);
        }
        for proj in &mut new.path {
            if let Proj::Index { index, .. } = proj {
                keep(self, index);
            }
        }
        if changed { self.pool.place(new) } else { place }
    }

    /// Whether an expression can have another value after something with these traits.
    pub(crate) fn may_change(&self, e: ExprId, next: Traits) -> bool {
        // Looking at more parts than this costs more than a temporary.
        let mut budget = 64;
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            budget -= 1;
            if budget == 0 {
                return true;
            }
            let expr = &self.pool.program.exprs[e];
            let mut places = Vec::new();
            expr.operands(|e| work.push(e), |p| places.push(p));
            let is_load = matches!(expr.kind, ExprKind::Load(_));
            for p in places {
                let place = &self.pool.program.places[p];
                place.operands(|e| work.push(e));
                if is_load && self.base_may_change(place.base, next) {
                    return true;
                }
            }
        }
        false
    }

    fn base_may_change(&self, base: Base, next: Traits) -> bool {
        let Base::Var(var) = base else { return next.has(Traits::MEMORY) };
        match self.pool.program.vars[var].kind {
            VarKind::Temp(_) if !self.pool.program.vars[var].address_taken => false,
            VarKind::Global => next.has(Traits::MEMORY),
            // Whether a local's address is taken may become known later; then a store through a
            // pointer is a change of memory.
            _ => next.has(Traits::REGISTERS) || next.has(Traits::MEMORY) && self.is_taken(var),
        }
    }

    /// Whether a function comes from the library source.
    pub(crate) fn is_library(&self, f: FnId) -> bool {
        self.library.functions.contains(&f)
    }

    /// Whether the address of a local is taken anywhere in its function.
    fn is_taken(&self, var: VarId) -> bool {
        self.pool.program.vars[var].address_taken || self.taken.get(var).is_some_and(|&t| t)
    }
}
