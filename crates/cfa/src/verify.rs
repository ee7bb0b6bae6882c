//! Well-formedness of an automaton: what every pass may rely on and must keep.
//!
//! [`verify`] returns all findings instead of stopping at the first. It checks indices before it
//! follows them, so that it can be run on anything.

use crate::ir::*;
use crate::types::*;
use palisade_base::{Idx, IdxVec};
use std::fmt;

/// What a finding is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// The program as a whole.
    Program,
    /// A type.
    Type(TypeId),
    /// A variable.
    Var(VarId),
    /// A function.
    Func(FuncId),
    /// A location.
    Loc(LocId),
    /// An edge.
    Edge(EdgeId),
    /// An expression.
    Expr(ExprId),
    /// A place.
    Place(PlaceId),
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Where.
    pub subject: Subject,
    /// What.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subject {
            Subject::Program => f.write_str("program")?,
            Subject::Type(x) => x.fmt(f)?,
            Subject::Var(x) => x.fmt(f)?,
            Subject::Func(x) => x.fmt(f)?,
            Subject::Loc(x) => x.fmt(f)?,
            Subject::Edge(x) => x.fmt(f)?,
            Subject::Expr(x) => x.fmt(f)?,
            Subject::Place(x) => x.fmt(f)?,
        }
        write!(f, ": {}", self.message)
    }
}

/// All findings; empty if the program is well-formed.
pub fn verify(program: &Program) -> Vec<Finding> {
    let mut v = Verifier { p: program, findings: Vec::new() };
    v.indices();
    if v.findings.is_empty() {
        v.acyclic();
    }
    // The typing rules follow indices, so they must hold first.
    if v.findings.is_empty() {
        v.types();
        v.vars();
        program.exprs.ids().for_each(|e| v.expr(e));
        program.places.ids().for_each(|x| v.place(x));
        program.edges.ids().for_each(|e| v.edge(e));
        v.funcs();
        v.locs();
    }
    v.findings
}

struct Verifier<'a> {
    p: &'a Program,
    findings: Vec<Finding>,
}

impl Verifier<'_> {
    fn find(&mut self, subject: Subject, message: impl Into<String>) {
        self.findings.push(Finding { subject, message: message.into() });
    }

    fn require(&mut self, subject: Subject, holds: bool, message: &str) {
        if !holds {
            self.find(subject, message);
        }
    }

    /// Every index names something.
    fn indices(&mut self) {
        let p = self.p;
        let mut bad: Vec<(Subject, String)> = Vec::new();
        fn check<I: Idx + fmt::Display, T>(
            bad: &mut Vec<(Subject, String)>,
            s: Subject,
            arena: &IdxVec<I, T>,
            id: I,
        ) {
            if id.index() >= arena.len() {
                bad.push((s, format!("there is no {id}")));
            }
        }
        for (id, ty) in p.types.iter_enumerated() {
            let s = Subject::Type(id);
            match ty {
                Type::Void | Type::Int(_) | Type::Float(_) => {}
                Type::Ptr(t) | Type::Array(t, _) => check(&mut bad, s, &p.types, *t),
                Type::Record(r) => r.fields.iter().for_each(|f| check(&mut bad, s, &p.types, f.ty)),
                Type::Func(sig) => {
                    check(&mut bad, s, &p.types, sig.ret);
                    sig.params.iter().for_each(|t| check(&mut bad, s, &p.types, *t));
                }
            }
        }
        for (id, var) in p.vars.iter_enumerated() {
            let s = Subject::Var(id);
            check(&mut bad, s, &p.types, var.ty);
            match var.kind {
                VarKind::Global => {}
                VarKind::Param(f) | VarKind::Local(f) | VarKind::Temp(f) => check(&mut bad, s, &p.funcs, f),
            }
            if let Init::Image(items) = &var.init {
                for item in items {
                    match item.value {
                        InitValue::Addr(v, _) => check(&mut bad, s, &p.vars, v),
                        InitValue::Func(f) => check(&mut bad, s, &p.funcs, f),
                        _ => {}
                    }
                }
            }
        }
        for (id, func) in p.funcs.iter_enumerated() {
            let s = Subject::Func(id);
            check(&mut bad, s, &p.types, func.ty);
            if let Some(body) = &func.body {
                body.params.iter().chain(&body.locals).for_each(|v| check(&mut bad, s, &p.vars, *v));
                check(&mut bad, s, &p.locs, body.entry);
                check(&mut bad, s, &p.locs, body.exit);
            }
        }
        for (id, loc) in p.locs.iter_enumerated() {
            check(&mut bad, Subject::Loc(id), &p.funcs, loc.func);
            loc.out.iter().chain(&loc.inc).for_each(|e| check(&mut bad, Subject::Loc(id), &p.edges, *e));
        }
        for (id, edge) in p.edges.iter_enumerated() {
            let s = Subject::Edge(id);
            check(&mut bad, s, &p.locs, edge.src);
            check(&mut bad, s, &p.locs, edge.dst);
            let (mut exprs, mut places) = (Vec::new(), Vec::new());
            edge.op.operands(|e| exprs.push(e), |x| places.push(x));
            exprs.into_iter().for_each(|e| check(&mut bad, s, &p.exprs, e));
            places.into_iter().for_each(|x| check(&mut bad, s, &p.places, x));
            match &edge.op {
                Op::Enter { var } | Op::Leave { var } => check(&mut bad, s, &p.vars, *var),
                Op::Call { callee: Callee::Direct(f), .. } => check(&mut bad, s, &p.funcs, *f),
                _ => {}
            }
        }
        for (id, expr) in p.exprs.iter_enumerated() {
            let s = Subject::Expr(id);
            let (mut exprs, mut places) = (Vec::new(), Vec::new());
            expr.operands(|e| exprs.push(e), |x| places.push(x));
            exprs.into_iter().for_each(|e| check(&mut bad, s, &p.exprs, e));
            places.into_iter().for_each(|x| check(&mut bad, s, &p.places, x));
            if let ExprKind::Func(f) = expr.kind {
                check(&mut bad, s, &p.funcs, f);
            }
        }
        for (id, place) in p.places.iter_enumerated() {
            let s = Subject::Place(id);
            check(&mut bad, s, &p.types, place.ty);
            place.operands(|e| check(&mut bad, s, &p.exprs, e));
            if let Base::Var(v) = place.base {
                check(&mut bad, s, &p.vars, v);
            }
            for proj in &place.path {
                if let Proj::Field { record, field } = proj {
                    let fits = match p.types.get(*record) {
                        Some(Type::Record(r)) => (*field as usize) < r.fields.len(),
                        _ => false,
                    };
                    if !fits {
                        bad.push((s, format!("{record} has no field {field}")));
                    }
                }
            }
        }
        check(&mut bad, Subject::Program, &p.funcs, p.entry);
        self.findings.extend(bad.into_iter().map(|(subject, message)| Finding { subject, message }));
    }

    /// No expression contains itself; no type has itself as a part other than through a pointer.
    fn acyclic(&mut self) {
        let p = self.p;
        let n = p.exprs.len();
        let cyclic = cycle(n + p.places.len(), |node, next| {
            if node < n {
                p.exprs[ExprId::new(node)].operands(
                    |e| next.borrow_mut().push(e.index()),
                    |x| next.borrow_mut().push(n + x.index()),
                );
            } else {
                p.places[PlaceId::new(node - n)].operands(|e| next.borrow_mut().push(e.index()));
            }
        });
        if let Some(node) = cyclic {
            let subject = match node.checked_sub(n) {
                None => Subject::Expr(ExprId::new(node)),
                Some(place) => Subject::Place(PlaceId::new(place)),
            };
            self.find(subject, "contains itself");
        }
        let cyclic = cycle(p.types.len(), |node, next| match &p.types[TypeId::new(node)] {
            Type::Array(t, _) => next.borrow_mut().push(t.index()),
            Type::Record(r) => next.borrow_mut().extend(r.fields.iter().map(|f| f.ty.index())),
            _ => {}
        });
        if let Some(node) = cyclic {
            self.find(Subject::Type(TypeId::new(node)), "contains itself");
        }
    }

    fn types(&mut self) {
        let p = self.p;
        for (id, ty) in p.types.iter_enumerated() {
            let s = Subject::Type(id);
            match ty {
                Type::Int(t) => self.require(s, (1..=128).contains(&t.bits), "an integer has 1 to 128 bits"),
                Type::Record(r) => {
                    self.require(s, r.align.is_power_of_two(), "the alignment is not a power of two");
                    for f in &r.fields {
                        if let Some(bits) = f.bits {
                            let is_int = matches!(p.types[f.ty], Type::Int(_));
                            self.require(s, is_int, "a bit-field is not an integer");
                            let fits = bits.first < 8 && (1..=128).contains(&bits.width);
                            self.require(s, fits, "a bit-field's bits are out of range");
                        }
                        let bytes = match f.bits {
                            Some(b) => Some(u64::from(b.first + b.width).div_ceil(8)),
                            None => p.size_of(f.ty),
                        };
                        let inside =
                            f.offset.checked_add(bytes.unwrap_or(0)).is_some_and(|end| end <= r.size);
                        self.require(s, inside, &format!("the member `{}` lies outside", f.name));
                    }
                }
                _ => {}
            }
        }
    }

    fn vars(&mut self) {
        let p = self.p;
        let taken = p.addresses_taken();
        let mut declared = IdxVec::<VarId, bool>::filled(false, p.vars.len());
        for f in &p.funcs {
            if let Some(b) = &f.body {
                b.params.iter().chain(&b.locals).for_each(|v| declared[*v] = true);
            }
        }
        for (id, v) in p.vars.iter_enumerated() {
            let s = Subject::Var(id);
            self.require(s, !taken[id] || v.address_taken, "its address is taken but it is not marked so");
            let global = v.kind == VarKind::Global;
            self.require(s, global || declared[id], "no function declares it");
            self.require(s, !(global && declared[id]), "a global is listed in a function");
            self.require(s, global || v.init == Init::Unknown, "only globals have initial contents");
            let Init::Image(items) = &v.init else { continue };
            let mut at = 0;
            for item in items {
                let len = match &item.value {
                    InitValue::Bytes(b) => b.len() as u64,
                    InitValue::Int(t, _) => u64::from(t.bits).div_ceil(8).next_power_of_two(),
                    InitValue::Float(FloatTy::F32, _) => 4,
                    InitValue::Float(FloatTy::F64, _) => 8,
                    InitValue::Float(FloatTy::F80, _) => p.data_model.long_double_bytes(),
                    InitValue::Addr(to, _) => {
                        let ok = p.vars[*to].kind == VarKind::Global;
                        self.require(s, ok, "the initial contents point to what is not a global");
                        u64::from(p.data_model.ptr_bits()) / 8
                    }
                    InitValue::Func(_) | InitValue::Absolute(_) => u64::from(p.data_model.ptr_bits()) / 8,
                };
                self.require(s, item.offset >= at, "initial contents overlap or are not sorted");
                at = item.offset.saturating_add(len);
            }
            // A flexible array member may be initialised beyond the type's size.
            let flexible = p.size_of(v.ty).is_none() || matches!(p.types[v.ty], Type::Record(_));
            let fits = flexible || p.size_of(v.ty).is_some_and(|n| at <= n);
            self.require(s, fits, "initial contents lie outside of the variable");
        }
    }

    fn ty(&self, e: ExprId) -> Scalar {
        self.p.exprs[e].ty
    }

    fn is_int(&self, e: ExprId) -> bool {
        self.ty(e).int().is_some()
    }

    fn expr(&mut self, id: ExprId) {
        let p = self.p;
        let e = &p.exprs[id];
        let s = Subject::Expr(id);
        let size_t = Scalar::Int(p.data_model.size_t());
        let int = e.ty.int();
        let (holds, rule) = match &e.kind {
            ExprKind::Int(bits) => (
                match e.ty {
                    Scalar::Int(t) => t.truncate(*bits) == *bits,
                    Scalar::Ptr => bits >> p.data_model.ptr_bits() == 0,
                    Scalar::Float(_) => false,
                },
                "an integer constant fits its integer or pointer type",
            ),
            ExprKind::Float(bits) => (
                matches!(e.ty, Scalar::Float(t) if bits >> t.bits() == 0),
                "a floating-point constant fits its type",
            ),
            ExprKind::Load(x) => {
                (p.place_scalar(*x) == Some(e.ty), "a load has the type of its scalar place")
            }
            ExprKind::Addr(x) => (
                e.ty == Scalar::Ptr && p.places[*x].bits.is_none(),
                "an address is a pointer, to no bit-field",
            ),
            ExprKind::Func(_) => (e.ty == Scalar::Ptr, "a function's address is a pointer"),
            ExprKind::Unary(op, a) => (
                self.ty(*a) == e.ty && (int.is_some() || *op == UnOp::Neg && e.ty != Scalar::Ptr),
                "an operand has the type of its result",
            ),
            ExprKind::Binary(op @ (BinOp::Shl | BinOp::Shr), a, b) => (
                int.is_some() && self.ty(*a) == e.ty && self.is_int(*b),
                match op {
                    BinOp::Shl => "a left shift is of integers",
                    _ => "a right shift is of integers",
                },
            ),
            ExprKind::Binary(op, a, b) => {
                let arithmetic = matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div);
                let fits = int.is_some() || arithmetic && e.ty != Scalar::Ptr;
                (
                    fits && self.ty(*a) == e.ty && self.ty(*b) == e.ty,
                    "operands have the type of their result, and one the operator knows",
                )
            }
            ExprKind::Cmp(_, a, b) => (
                e.ty == Scalar::BOOL && self.ty(*a) == self.ty(*b),
                "a comparison is a truth value of operands of one type",
            ),
            ExprKind::Ite(c, a, b) => (
                self.ty(*c) == Scalar::BOOL && self.ty(*a) == e.ty && self.ty(*b) == e.ty,
                "a choice is by a truth value between operands of its type",
            ),
            ExprKind::Convert(a) => (
                !matches!(
                    (self.ty(*a), e.ty),
                    (Scalar::Ptr, Scalar::Float(_)) | (Scalar::Float(_), Scalar::Ptr)
                ),
                "pointers and floating-point numbers do not convert",
            ),
            ExprKind::PtrAdd { ptr, index, .. } => (
                e.ty == Scalar::Ptr && self.ty(*ptr) == Scalar::Ptr && self.is_int(*index),
                "pointer arithmetic is of a pointer and an integer",
            ),
            ExprKind::PtrDiff { left, right, stride } => (
                e.ty == Scalar::Int(p.data_model.ptrdiff_t())
                    && self.ty(*left) == Scalar::Ptr
                    && self.ty(*right) == Scalar::Ptr
                    && *stride > 0,
                "a pointer difference is a ptrdiff_t of two pointers",
            ),
            ExprKind::Overflow(op, a, b) => (
                e.ty == Scalar::BOOL
                    && self.is_int(*a)
                    && self.is_int(*b)
                    && (self.ty(*a) == self.ty(*b) || *op == BinOp::Shl)
                    && !matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Shr),
                "overflow is a truth value about an arithmetic operator on integers of one type",
            ),
            ExprKind::Valid { ptr, size } => (
                e.ty == Scalar::BOOL && self.ty(*ptr) == Scalar::Ptr && self.ty(*size) == size_t,
                "validity is a truth value of a pointer and a size_t",
            ),
            ExprKind::Freeable(a) | ExprKind::ReadOnly(a) => (
                e.ty == Scalar::BOOL && self.ty(*a) == Scalar::Ptr,
                "a predicate on pointers is a truth value of a pointer",
            ),
            ExprKind::ObjectSize(a) => {
                (e.ty == size_t && self.ty(*a) == Scalar::Ptr, "an object's size is a size_t of a pointer")
            }
            ExprKind::Overlap(a, b, n) => (
                e.ty == Scalar::BOOL
                    && self.ty(*a) == Scalar::Ptr
                    && self.ty(*b) == Scalar::Ptr
                    && self.ty(*n) == size_t,
                "overlap is a truth value of two pointers and a size_t",
            ),
            ExprKind::HeapEmpty | ExprKind::HeapTracked => {
                (e.ty == Scalar::BOOL, "a predicate on the heap is a truth value")
            }
        };
        self.require(s, holds, rule);
    }

    fn place(&mut self, id: PlaceId) {
        let place = &self.p.places[id];
        let s = Subject::Place(id);
        if let Base::Deref(e) = place.base {
            self.require(s, self.ty(e) == Scalar::Ptr, "only a pointer can be dereferenced");
        }
        for proj in &place.path {
            if let Proj::Index { index, .. } = proj {
                self.require(s, self.is_int(*index), "an index is an integer");
            }
        }
        if let Some(bits) = place.bits {
            let is_int = matches!(self.p.types[place.ty], Type::Int(_));
            self.require(s, is_int, "a bit-field is an integer");
            let fits = bits.first < 8 && (1..=128).contains(&bits.width);
            self.require(s, fits, "a bit-field's bits are out of range");
        }
        if let (Base::Var(v), true) = (place.base, place.path.is_empty()) {
            let whole = self.p.size_of(self.p.vars[v].ty);
            let fits = match (whole, self.p.size_of(place.ty)) {
                (Some(whole), Some(part)) => part <= whole,
                _ => true,
            };
            self.require(s, fits, "the piece is larger than its variable");
        }
    }

    fn edge(&mut self, id: EdgeId) {
        let p = self.p;
        let edge = &p.edges[id];
        let s = Subject::Edge(id);
        let func = p.locs[edge.src].func;
        self.require(s, func == p.locs[edge.dst].func, "it leaves its function");
        let linked = p.locs[edge.src].out.contains(&id) && p.locs[edge.dst].inc.contains(&id);
        self.require(s, linked, "its ends do not know it");
        let (mut exprs, mut places) = (Vec::new(), Vec::new());
        edge.op.operands(|e| exprs.push(e), |x| places.push(x));
        self.foreign_vars(s, func, exprs, places);
        let size_t = Scalar::Int(p.data_model.size_t());
        match &edge.op {
            Op::Skip | Op::Zero { .. } => {}
            Op::Assign { dst, src } => {
                let same = p.place_scalar(*dst) == Some(self.ty(*src));
                self.require(s, same, "an assignment is to a scalar place of the value's type");
            }
            Op::Copy { dst, src } => {
                let (a, b) = (p.size_of(p.places[*dst].ty), p.size_of(p.places[*src].ty));
                self.require(s, a.is_some() && a == b, "a copy is between places of one size");
                let bits = p.places[*dst].bits.is_some() || p.places[*src].bits.is_some();
                self.require(s, !bits, "a copy is not of a bit-field");
            }
            Op::Havoc { dst, .. } => {
                let known = p.size_of(p.places[*dst].ty).is_some();
                self.require(s, known, "only a place of known size can be havocked");
            }
            Op::Assume { cond } | Op::Check { cond, .. } => {
                self.require(s, self.ty(*cond) == Scalar::BOOL, "a condition is a truth value");
            }
            Op::Call { dst, callee, args } => self.call(s, *dst, *callee, args),
            Op::Return { value } => {
                let body = p.funcs[func].body.as_ref();
                let to_exit = body.is_some_and(|b| b.exit == edge.dst);
                self.require(s, to_exit, "a return leads to the function's exit");
                let Type::Func(sig) = &p.types[p.funcs[func].ty] else { return };
                let fits = match (value, &p.types[sig.ret]) {
                    (None, _) => true,
                    (Some(_), Type::Void) => false,
                    (Some(arg), _) => self.fits(arg, sig.ret),
                };
                self.require(s, fits, "the result has the function's result type");
            }
            Op::Alloc { dst, size, .. } => {
                let ptr = p.place_scalar(*dst) == Some(Scalar::Ptr);
                self.require(s, ptr, "an allocation is stored in a pointer");
                self.require(s, self.ty(*size) == size_t, "a size is a size_t");
            }
            Op::Free { ptr } => {
                self.require(s, self.ty(*ptr) == Scalar::Ptr, "only a pointer can be freed");
            }
            Op::MemCopy { dst, src, len } => {
                let ok = self.ty(*dst) == Scalar::Ptr && self.ty(*src) == Scalar::Ptr;
                self.require(s, ok, "memory is copied between pointers");
                self.require(s, self.ty(*len) == size_t, "a size is a size_t");
            }
            Op::MemSet { dst, byte, len } => {
                self.require(s, self.ty(*dst) == Scalar::Ptr, "memory is set through a pointer");
                let byte_ty = Scalar::Int(IntTy { bits: 8, signed: false });
                self.require(s, self.ty(*byte) == byte_ty, "memory is set to an u8");
                self.require(s, self.ty(*len) == size_t, "a size is a size_t");
            }
            Op::Enter { var } | Op::Leave { var } => {
                let own = match p.vars[*var].kind {
                    VarKind::Global => false,
                    VarKind::Param(f) | VarKind::Local(f) | VarKind::Temp(f) => f == func,
                };
                self.require(s, own, "only the function's own variables come and go");
            }
            Op::Halt { kind } => {
                let last = p.locs[edge.dst].out.is_empty();
                self.require(s, last, "nothing follows the end of the program");
                if let HaltKind::Exit(e) = kind {
                    self.require(s, self.is_int(*e), "an exit status is an integer");
                }
            }
        }
    }

    /// No operation mentions a variable of another function.
    fn foreign_vars(&mut self, s: Subject, func: FuncId, mut exprs: Vec<ExprId>, mut places: Vec<PlaceId>) {
        let p = self.p;
        let mut seen = rustc_hash::FxHashSet::default();
        loop {
            if let Some(x) = places.pop() {
                if let Base::Var(v) = p.places[x].base {
                    let own = match p.vars[v].kind {
                        VarKind::Global => true,
                        VarKind::Param(f) | VarKind::Local(f) | VarKind::Temp(f) => f == func,
                    };
                    self.require(s, own, &format!("`{}` belongs to another function", p.vars[v].name));
                }
                p.places[x].operands(|e| exprs.push(e));
            } else if let Some(e) = exprs.pop() {
                if seen.insert(e) {
                    let mut more = Vec::new();
                    p.exprs[e].operands(|e| more.push(e), |x| places.push(x));
                    exprs.extend(more);
                }
            } else {
                return;
            }
        }
    }

    fn call(&mut self, s: Subject, dst: Option<PlaceId>, callee: Callee, args: &[Arg]) {
        let p = self.p;
        let func = match callee {
            Callee::Indirect(e) => {
                return self.require(s, self.ty(e) == Scalar::Ptr, "only a pointer can be called");
            }
            Callee::Direct(f) => f,
        };
        let Type::Func(sig) = &p.types[p.funcs[func].ty] else { return };
        let more = sig.variadic && p.funcs[func].body.is_none();
        let count = args.len() == sig.params.len() || args.len() > sig.params.len() && more;
        self.require(s, count, "the number of arguments is that of the parameters");
        for (arg, &ty) in args.iter().zip(&sig.params) {
            self.require(s, self.fits(arg, ty), "an argument has the type of its parameter");
        }
        if let Some(dst) = dst {
            let place = &p.places[dst];
            let fits = match (p.place_scalar(dst), p.scalar_of(sig.ret)) {
                (Some(a), Some(b)) => a == b,
                (None, None) => p.size_of(place.ty).is_some() && p.size_of(place.ty) == p.size_of(sig.ret),
                _ => false,
            };
            self.require(s, fits, "the result goes to a place of its type");
        }
    }

    fn fits(&self, arg: &Arg, ty: TypeId) -> bool {
        let p = self.p;
        match *arg {
            Arg::Scalar(e) => p.scalar_of(ty) == Some(self.ty(e)),
            Arg::Aggregate(x) => {
                let size = p.size_of(p.places[x].ty);
                p.scalar_of(ty).is_none() && size.is_some() && size == p.size_of(ty)
            }
        }
    }

    fn funcs(&mut self) {
        let p = self.p;
        for (id, f) in p.funcs.iter_enumerated() {
            let s = Subject::Func(id);
            let Type::Func(sig) = &p.types[f.ty] else {
                self.find(s, "its type is not a function's");
                continue;
            };
            let Some(body) = &f.body else { continue };
            for &v in &body.params {
                let ok = p.vars[v].kind == VarKind::Param(id);
                self.require(s, ok, &format!("`{}` is not a parameter of it", p.vars[v].name));
            }
            for &v in &body.locals {
                let ok = [VarKind::Local(id), VarKind::Temp(id)].contains(&p.vars[v].kind);
                self.require(s, ok, &format!("`{}` is not a local of it", p.vars[v].name));
            }
            let same = body.params.len() == sig.params.len()
                && body.params.iter().zip(&sig.params).all(|(v, t)| {
                    p.scalar_of(p.vars[*v].ty) == p.scalar_of(*t) && p.size_of(p.vars[*v].ty) == p.size_of(*t)
                });
            self.require(s, same, "its parameters are not those of its type");
            for loc in [body.entry, body.exit] {
                self.require(s, p.locs[loc].func == id, "its entry and exit lie in it");
            }
            self.require(s, p.locs[body.exit].out.is_empty(), "nothing follows its exit");
            let returns = p.locs[body.exit].inc.iter().all(|e| matches!(p.edges[*e].op, Op::Return { .. }));
            self.require(s, returns, "only returns lead to its exit");
        }
        match &p.funcs[p.entry] {
            Function { body: Some(body), .. } => {
                self.require(Subject::Program, body.params.is_empty(), "the entry takes parameters");
            }
            _ => self.find(Subject::Program, "the entry has no body"),
        }
    }

    /// Reachable locations without a way out are the exit, or follow what ends or blocks a run.
    fn locs(&mut self) {
        let p = self.p;
        for (id, loc) in p.locs.iter_enumerated() {
            let s = Subject::Loc(id);
            let linked = loc.out.iter().all(|e| p.edges[*e].src == id)
                && loc.inc.iter().all(|e| p.edges[*e].dst == id);
            self.require(s, linked, "it lists an edge that is not its own");
            let Some(body) = &p.funcs[loc.func].body else {
                self.find(s, "its function has no body");
                continue;
            };
            if loc.out.is_empty() && id != body.exit {
                let ends = |e: &EdgeId| {
                    matches!(p.edges[*e].op, Op::Halt { .. } | Op::Check { .. } | Op::Assume { .. })
                };
                self.require(s, loc.inc.iter().all(ends), "a run stops here for no reason");
            }
            if loc.out.len() > 1 {
                let branches = loc.out.iter().all(|e| matches!(p.edges[*e].op, Op::Assume { .. } | Op::Skip));
                self.require(s, branches, "only assumptions and skips stand beside other edges");
            }
        }
    }
}

/// A node on a cycle, if there is one. `succ` appends the successors of a node.
fn cycle(n: usize, succ: impl Fn(usize, &std::cell::RefCell<Vec<usize>>)) -> Option<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; n];
    for root in 0..n {
        if marks[root] != Mark::New {
            continue;
        }
        let mut frames = vec![(root, successors(root, &succ))];
        marks[root] = Mark::Open;
        while let Some((node, rest)) = frames.last_mut() {
            match rest.pop() {
                None => {
                    marks[*node] = Mark::Done;
                    frames.pop();
                }
                Some(next) => match marks[next] {
                    Mark::Open => return Some(next),
                    Mark::Done => {}
                    Mark::New => {
                        marks[next] = Mark::Open;
                        frames.push((next, successors(next, &succ)));
                    }
                },
            }
        }
    }
    None
}

fn successors(node: usize, succ: &impl Fn(usize, &std::cell::RefCell<Vec<usize>>)) -> Vec<usize> {
    let out = std::cell::RefCell::new(Vec::new());
    succ(node, &out);
    out.into_inner()
}
