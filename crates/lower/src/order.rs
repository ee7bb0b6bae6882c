//! What the evaluation of an expression touches, so that operands whose order C leaves open
//! (C11 6.5p3) can be shown not to interfere.
//!
//! A [`Footprint`] is taken of the expressions below an operand, which stand before it in the typed
//! program and inside its source text, with the footprints of all functions that they call.

use crate::contract::Contracts;
use crate::library;
use crate::scan::{Scan, Traits, base_object};
use palisade_base::{IdxVec, Span};
use palisade_c_syntax::Interner;
use palisade_c_types::tast::*;
use palisade_c_types::types::{CType, CTypeId};
use rustc_hash::FxHashSet;

/// More variables than this are as good as all.
const MAX_NAMED: usize = 200;

/// How often footprints are computed anew before they are given up.
const MAX_ROUNDS: usize = 100;

/// What an evaluation reads, writes and may do besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Footprint {
    /// Variables that are read by name.
    reads: FxHashSet<ObjId>,
    /// Variables that are written by name.
    writes: FxHashSet<ObjId>,
    /// Those of `writes` that the operand writes itself, not in a function it calls.
    own_writes: FxHashSet<ObjId>,
    /// Those of `reads` that the operand reads itself.
    own_reads: FxHashSet<ObjId>,
    /// Something whose address is taken is read or written by name.
    reads_taken: bool,
    writes_taken: bool,
    /// Something is read or written through a pointer.
    reads_pointed: bool,
    writes_pointed: bool,
    /// A variable that is not the function's own is read or written by name.
    touches_outer: bool,
    /// Any variable that is not the function's own may be read or written.
    touches_all: bool,
    /// It may end the run, or not come back.
    ends: bool,
    /// It may violate the property.
    fails: bool,
    /// Steps that the program does not spell out belong to it, whose place in the source says nothing.
    composite: bool,
    /// It cannot be lowered twice.
    pub(crate) once: bool,
}

impl Footprint {
    /// That of a call of nobody knows what.
    fn anything() -> Footprint {
        Footprint {
            reads_pointed: true,
            writes_pointed: true,
            touches_all: true,
            ends: true,
            fails: true,
            ..Footprint::default()
        }
    }

    fn add(&mut self, other: &Footprint) {
        self.reads.extend(&other.reads);
        self.writes.extend(&other.writes);
        self.reads_taken |= other.reads_taken;
        self.writes_taken |= other.writes_taken;
        self.reads_pointed |= other.reads_pointed;
        self.writes_pointed |= other.writes_pointed;
        self.touches_outer |= other.touches_outer;
        self.touches_all |= other.touches_all;
        self.ends |= other.ends;
        self.fails |= other.fails;
        if self.writes.len() > MAX_NAMED || self.reads.len() > MAX_NAMED {
            self.touches_all = true;
            self.touches_outer = true;
            self.writes.clear();
            self.reads.clear();
        }
    }

    /// Whether the order of two evaluations can matter.
    pub(crate) fn interferes(&self, other: &Footprint) -> bool {
        self.disturbs(other) || other.disturbs(self)
    }

    fn disturbs(&self, other: &Footprint) -> bool {
        let touches = |f: &Footprint| f.reads_pointed || f.writes_pointed;
        let named = |f: &Footprint| f.reads_taken || f.writes_taken;
        self.writes.iter().any(|o| other.reads.contains(o) || other.writes.contains(o))
            || self.writes_pointed && (touches(other) || named(other))
            || self.writes_taken && touches(other)
            || self.touches_all
                && (touches(other) || named(other) || other.touches_outer || other.touches_all)
            || self.ends && other.fails
    }

    /// Whether both evaluations touch a variable themselves, with no function call in between, and
    /// one writes it: undefined (C11 6.5p2).
    pub(crate) fn collides(&self, other: &Footprint) -> bool {
        let hits = |a: &Footprint, b: &Footprint| {
            a.own_writes.iter().any(|o| b.own_reads.contains(o) || b.own_writes.contains(o))
        };
        !(self.composite || other.composite) && (hits(self, other) || hits(other, self))
    }

    /// The contents of an lvalue are read too.
    pub(crate) fn read(&mut self, known: Known, place: TExprId) {
        match base_object(known.typed, place) {
            Some(obj) => {
                self.reads.insert(obj);
                self.reads_taken |= known.scan.taken[obj];
            }
            None => self.reads_pointed = true,
        }
    }

    /// Whether a variable is written in the expression itself.
    pub(crate) fn writes_itself(&self, obj: ObjId) -> bool {
        self.own_writes.contains(&obj)
    }
}

/// Whether a variable is not one of the activation that names it.
fn is_outer(typed: &TypedProgram, obj: ObjId) -> bool {
    !matches!(typed.objects[obj].kind, ObjKind::Local(_) | ObjKind::Param(_) | ObjKind::Hidden(_))
}

fn is_scalar(typed: &TypedProgram, ty: CTypeId) -> bool {
    let types = &typed.types;
    types.int_ty(ty).is_some() || types.float_ty(ty).is_some() || matches!(types.get(ty), CType::Ptr(_))
}

/// The footprints of all functions.
#[derive(Debug)]
pub(crate) struct Footprints {
    funcs: IdxVec<FnId, Footprint>,
    /// Whether conditions that are checked on the way can violate the property.
    checks: bool,
}

/// What footprints are computed from.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) typed: &'a TypedProgram,
    pub(crate) names: &'a Interner,
    pub(crate) contracts: &'a Contracts,
    pub(crate) scan: &'a Scan,
    /// The function that a call of this one reaches.
    pub(crate) real: &'a dyn Fn(FnId) -> FnId,
}

impl Footprints {
    pub(crate) fn new(known: Known, checks: bool) -> Footprints {
        let typed = known.typed;
        let mut this = Footprints { funcs: IdxVec::filled(Footprint::default(), typed.funcs.len()), checks };
        // Which function an expression belongs to shows in the source.
        let mut bodies: Vec<(Span, FnId)> = typed
            .funcs
            .iter_enumerated()
            .filter_map(|(f, func)| Some((func.body.as_ref()?.span, f)))
            .collect();
        bodies.sort_by_key(|(span, _)| span.lo);
        let mut inside: IdxVec<FnId, Vec<TExprId>> = IdxVec::filled(Vec::new(), typed.funcs.len());
        for (id, expr) in typed.exprs.iter_enumerated() {
            let i = bodies.partition_point(|(span, _)| span.lo <= expr.span.lo);
            if let Some(&(span, f)) = bodies[..i].last()
                && !expr.span.is_none()
                && expr.span.hi <= span.hi
            {
                inside[f].push(id);
            }
        }
        // Footprints grow from callees to callers; a chain of calls that is longer than this many
        // rounds take is rare, and then nothing is known.
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for (f, exprs) in inside.iter_enumerated() {
                let mut found = Footprint::default();
                for &e in exprs {
                    this.node(known, e, &mut found);
                }
                // Its own variables are of no concern to others.
                let outlives = |o: &ObjId| !matches!(typed.objects[*o].kind, ObjKind::Local(g) | ObjKind::Param(g) | ObjKind::Hidden(g) if g == f);
                found.reads.retain(outlives);
                found.writes.retain(outlives);
                found.own_reads.clear();
                found.own_writes.clear();
                found.once = false;
                found.composite = false;
                changed |= found != this.funcs[f];
                this.funcs[f] = found;
            }
            if !changed {
                return this;
            }
        }
        for found in this.funcs.iter_mut() {
            *found = Footprint::anything();
        }
        this
    }

    /// The footprint of finding an lvalue, whose contents are not read: of what its pointer and its indices read.
    pub(crate) fn of_lvalue(&self, known: Known, e: TExprId) -> Footprint {
        let mut contents = vec![e];
        let mut at = e;
        while let TExprKind::Member { base, .. } | TExprKind::Index { base, .. } = known.typed.exprs[at].kind
        {
            contents.push(base);
            at = base;
        }
        self.of_all_but(known, e, &contents)
    }

    /// The footprint of an operand.
    pub(crate) fn of(&self, known: Known, e: TExprId) -> Footprint {
        self.of_all_but(known, e, &[])
    }

    /// The footprint of an operand in which these objects are named but not read.
    fn of_all_but(&self, known: Known, e: TExprId, named: &[TExprId]) -> Footprint {
        let mut found = Footprint::default();
        let whole = known.typed.exprs[e].span;
        let mut at = e;
        loop {
            let span = known.typed.exprs[at].span;
            if !span.is_none() && (span.lo < whole.lo || span.hi > whole.hi) {
                return found;
            }
            let object = match known.typed.exprs[at].kind {
                TExprKind::Deref(_) => true,
                TExprKind::Object(obj) => !matches!(known.typed.objects[obj].kind, ObjKind::Hidden(_)),
                _ => false,
            };
            if object && named.contains(&at) {
                found.fails |= self.checks && known.scan.traits[at].has(Traits::UNSAFE);
            } else {
                self.node(known, at, &mut found);
            }
            if at.0 == 0 {
                return found;
            }
            at = TExprId(at.0 - 1);
        }
    }

    /// What an expression does besides its operands.
    fn node(&self, known: Known, e: TExprId, found: &mut Footprint) {
        let typed = known.typed;
        let read = |found: &mut Footprint, obj: ObjId| {
            let object = &typed.objects[obj];
            if object.kind == ObjKind::String {
                return;
            }
            found.reads.insert(obj);
            found.touches_outer |= is_outer(typed, obj);
            if is_scalar(typed, object.ty.ty) {
                found.own_reads.insert(obj);
            }
            found.reads_taken |= known.scan.taken[obj];
        };
        let write = |found: &mut Footprint, place: TExprId| match base_object(typed, place) {
            Some(obj) if typed.objects[obj].vla_size.is_none() => {
                found.writes.insert(obj);
                found.touches_outer |= is_outer(typed, obj);
                if is_scalar(typed, typed.objects[obj].ty.ty) {
                    found.own_writes.insert(obj);
                }
                found.writes_taken |= known.scan.taken[obj];
            }
            _ => found.writes_pointed = true,
        };
        found.fails |= self.checks && known.scan.traits[e].has(Traits::UNSAFE);
        match typed.exprs[e].kind {
            TExprKind::Parts(_) => found.composite = true,
            TExprKind::Object(obj) if matches!(typed.objects[obj].kind, ObjKind::Hidden(_)) => {
                found.composite = true;
            }
            TExprKind::Load(place) => match base_object(typed, place) {
                Some(obj) => read(found, obj),
                None => found.reads_pointed = true,
            },
            // A record is read without a load.
            TExprKind::Object(obj) if !is_scalar(typed, typed.exprs[e].ty.ty) => read(found, obj),
            TExprKind::Deref(_) => found.reads_pointed = true,
            TExprKind::Assign { lhs, .. } => write(found, lhs),
            TExprKind::CompoundAssign { lhs, .. } | TExprKind::PtrAssign { lhs, .. } => {
                write(found, lhs);
                if let Some(obj) = base_object(typed, lhs) {
                    read(found, obj);
                }
            }
            TExprKind::IncDec { operand, .. } => {
                write(found, operand);
                if let Some(obj) = base_object(typed, operand) {
                    read(found, obj);
                }
            }
            TExprKind::Call { callee, .. } => self.call(known, callee, found),
            TExprKind::VaArg { .. } | TExprKind::VaStart { .. } | TExprKind::VaCopy { .. } => {
                found.writes_pointed = true;
            }
            TExprKind::StmtExpr { .. } => {
                // It may hold labels.
                found.once = true;
            }
            TExprKind::Builtin { op, .. } => match op {
                Builtin::Trap | Builtin::Unreachable => found.ends = true,
                _ if known.scan.traits[e].has(Traits::MEMORY) => {
                    found.reads_pointed = true;
                    found.writes_pointed = true;
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn call(&self, known: Known, callee: TExprId, found: &mut Footprint) {
        let mut callee = callee;
        while let TExprKind::Convert(inner) = known.typed.exprs[callee].kind {
            callee = inner;
        }
        let TExprKind::FuncAddr(f) = known.typed.exprs[callee].kind else {
            return found.add(&Footprint::anything());
        };
        let f = (known.real)(f);
        if known.typed.funcs[f].body.is_some() {
            return found.add(&self.funcs[f]);
        }
        let func = &known.typed.funcs[f];
        let types = &known.typed.types;
        let pointers = types.callable_sig(func.ty).is_none_or(|sig| {
            let sig = types.sig(sig);
            let pointer = |&ty: &CTypeId| matches!(types.get(ty), CType::Ptr(_));
            !sig.prototype || sig.variadic || sig.params.iter().any(pointer)
        });
        match library::does(known.names.name(func.name), known.contracts, pointers) {
            library::Does::Nothing => {}
            library::Does::Ends => found.ends = true,
            library::Does::Fails => {
                found.ends = true;
                found.fails = true;
            }
            library::Does::Reads => found.reads_pointed = true,
            library::Does::Anything => {
                found.reads_pointed = true;
                found.writes_pointed = true;
                found.ends |= known.typed.funcs[f].noreturn;
            }
        }
    }
}
