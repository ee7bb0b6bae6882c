//! From the graph of a function to register code: control flow and operations.
//!
//! Locations are laid out along their edges, so that a chain of edges is straight-line code. Until
//! the function is finished, jumps carry the number of a label.

mod expr;
mod facts;

pub(crate) use expr::cell;
pub(crate) use facts::Canon;

use crate::code::*;
use crate::compile::facts::{Deps, Facts};
use crate::layout::{Layout, VarLoc};
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Why a function has no code: what it uses is not supported.
pub(crate) type Unsupported = String;
type Res<T> = Result<T, Unsupported>;

/// Expressions deeper than this are refused; lowering keeps far below it.
const MAX_DEPTH: u32 = 2000;
/// Temporaries of a frame after which what is known is forgotten.
const MAX_TEMPS: u32 = 128;

type Label = u32;

pub(crate) struct Compiler<'a> {
    p: &'a Program,
    layout: &'a Layout,
    tables: &'a mut Tables,
    instrs: Vec<Instr>,
    edges: Vec<EdgeId>,
    observed: bool,
    edge: EdgeId,
    next_reg: Reg,
    max_reg: Reg,
    /// What is known on the current chain of edges.
    facts: Facts,
    canon: Canon,
    /// What the expression that is being computed depends on.
    deps: Deps,
    depth: u32,
    labels: Vec<Option<u32>>,
    locs: FxHashMap<LocId, Label>,
    /// Failing checks, whose code follows the function's.
    fails: Vec<(Label, CheckKind, EdgeId)>,
    /// Where no assumption holds, likewise.
    blocked: Vec<(Label, EdgeId)>,
    /// In observed code: branches that announce their edge before they jump.
    stubs: Vec<(Label, EdgeId, Label)>,
    /// The tick of the current chain: where it stands and how many edges it counts.
    tick: Option<(usize, u32)>,
}

/// Compiles a function with a body. `observed` code announces every edge.
pub(crate) fn compile(
    p: &Program,
    layout: &Layout,
    tables: &mut Tables,
    func: FuncId,
    observed: bool,
) -> Res<FuncCode> {
    let body = p.body(func);
    let first = layout.frames[func].regs;
    let mut compiler = Compiler {
        p,
        layout,
        tables,
        instrs: Vec::new(),
        edges: Vec::new(),
        observed,
        edge: EdgeId(0),
        next_reg: first,
        max_reg: first,
        facts: Facts::default(),
        canon: Canon::default(),
        deps: Deps::NONE,
        depth: 0,
        labels: Vec::new(),
        locs: FxHashMap::default(),
        fails: Vec::new(),
        blocked: Vec::new(),
        stubs: Vec::new(),
        tick: None,
    };
    compiler.graph(body.entry)?;
    let Compiler { mut instrs, edges, labels, max_reg, .. } = compiler;
    for instr in &mut instrs {
        if let Some(to) = instr.target() {
            *to = labels[*to as usize].expect("every label that is jumped to is placed");
        }
    }
    Ok(FuncCode { instrs: instrs.into(), edges: edges.into(), regs: max_reg })
}

impl Instr {
    /// Where a jump leads.
    fn target(&mut self) -> Option<&mut u32> {
        match self {
            Instr::Jump { to }
            | Instr::JumpZero { to, .. }
            | Instr::JumpNonZero { to, .. }
            | Instr::JEq { to, .. }
            | Instr::JNe { to, .. }
            | Instr::JLtS { to, .. }
            | Instr::JLeS { to, .. }
            | Instr::JLtU { to, .. }
            | Instr::JLeU { to, .. }
            | Instr::JEqImm { to, .. }
            | Instr::JNeImm { to, .. }
            | Instr::JLtSImm { to, .. }
            | Instr::JLeSImm { to, .. }
            | Instr::JGtSImm { to, .. }
            | Instr::JGeSImm { to, .. }
            | Instr::JLtUImm { to, .. }
            | Instr::JLeUImm { to, .. }
            | Instr::JGtUImm { to, .. }
            | Instr::JGeUImm { to, .. }
            | Instr::JOverflow { to, .. }
            | Instr::JNoOverflow { to, .. }
            | Instr::JInvalid { to, .. } => Some(to),
            _ => None,
        }
    }
}

impl Compiler<'_> {
    fn emit(&mut self, instr: Instr) {
        self.instrs.push(instr);
        self.edges.push(self.edge);
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        self.labels.len() as Label - 1
    }

    fn place_label(&mut self, label: Label) {
        self.labels[label as usize] = Some(self.instrs.len() as u32);
    }

    fn loc_label(&mut self, loc: LocId) -> Label {
        if let Some(&l) = self.locs.get(&loc) {
            return l;
        }
        let l = self.label();
        self.locs.insert(loc, l);
        l
    }

    fn temp(&mut self) -> Reg {
        self.next_reg += 1;
        self.max_reg = self.max_reg.max(self.next_reg);
        self.next_reg - 1
    }

    fn graph(&mut self, entry: LocId) -> Res<()> {
        let first_temp = self.next_reg;
        let mut pending = vec![entry];
        while let Some(loc) = pending.pop() {
            let label = self.loc_label(loc);
            if self.labels[label as usize].is_some() {
                continue;
            }
            self.tick = None;
            self.facts.clear();
            let mut next = Some(loc);
            while let Some(loc) = next {
                let label = self.loc_label(loc);
                if self.labels[label as usize].is_some() {
                    self.emit(Instr::Jump { to: label });
                    break;
                }
                self.place_label(label);
                // Every cycle has a location that two edges lead to, or the entry.
                if self.tick.is_none() || self.p.locs[loc].inc.len() > 1 || loc == entry {
                    // Others may jump here, so what was known need not hold.
                    self.facts.clear();
                    self.tick = Some((self.instrs.len(), 0));
                    self.emit(Instr::Tick(0));
                }
                next = self.location(loc, &mut pending, first_temp)?;
            }
        }
        for (label, kind, edge) in std::mem::take(&mut self.fails) {
            self.edge = edge;
            self.place_label(label);
            self.emit(Instr::Fail(kind));
        }
        for (label, edge, to) in std::mem::take(&mut self.stubs) {
            self.edge = edge;
            self.place_label(label);
            self.emit(Instr::Mark(edge));
            self.emit(Instr::Jump { to });
        }
        for (label, edge) in std::mem::take(&mut self.blocked) {
            self.edge = edge;
            self.place_label(label);
            self.emit(Instr::Blocked);
        }
        Ok(())
    }

    fn count(&mut self) {
        if let Some((at, n)) = &mut self.tick {
            *n += 1;
            self.instrs[*at] = Instr::Tick(*n);
        }
    }

    /// Starts an edge. Temporaries live as long as what they hold is known.
    fn start(&mut self, edge: EdgeId, first_temp: Reg) {
        self.edge = edge;
        self.deps = Deps::NONE;
        if self.facts.is_empty() || self.facts.is_large() || self.next_reg > first_temp + MAX_TEMPS {
            self.facts.clear();
            self.next_reg = first_temp;
        }
    }

    /// The condition, whose code was just made, holds from here on.
    fn learn(&mut self, cond: ExprId) {
        let deps = std::mem::replace(&mut self.deps, Deps::NONE);
        let mut canon = self.canon.expr(self.p, cond);
        let mut value = true;
        while let Some(ExprKind::Unary(UnOp::Not, a)) = self.canon.kind(canon) {
            canon = *a;
            value = !value;
        }
        self.facts.learn(canon, value, deps);
    }

    fn mark(&mut self) {
        if self.observed {
            self.emit(Instr::Mark(self.edge));
        }
    }

    /// The code of a location. Returns where the chain goes on.
    fn location(&mut self, loc: LocId, pending: &mut Vec<LocId>, first_temp: Reg) -> Res<Option<LocId>> {
        let p = self.p;
        let out = &p.locs[loc].out;
        for (i, &e) in out.iter().enumerate() {
            self.start(e, first_temp);
            let edge = &p.edges[e];
            let Op::Assume { cond } = edge.op else {
                // Unconditional: whatever stands behind it is never reached.
                self.mark();
                self.count();
                let goes_on = self.op(&edge.op)?;
                return Ok(goes_on.then_some(edge.dst));
            };
            self.count();
            if i + 1 == out.len() {
                let blocked = self.label();
                self.blocked.push((blocked, e));
                self.jump_if(cond, false, blocked)?;
                self.learn(cond);
                self.mark();
                return Ok(Some(edge.dst));
            }
            if out.len() == 2 && complementary(p, &mut self.canon, e, out[1]) {
                // The first branch goes on here, the second one is jumped to.
                let second = &p.edges[out[1]];
                let mut label = self.loc_label(second.dst);
                if self.observed {
                    let stub = self.label();
                    self.stubs.push((stub, out[1], label));
                    label = stub;
                }
                self.jump_if(cond, false, label)?;
                self.learn(cond);
                self.mark();
                pending.push(second.dst);
                return Ok(Some(edge.dst));
            }
            let mut label = self.loc_label(edge.dst);
            if self.observed {
                let stub = self.label();
                self.stubs.push((stub, e, label));
                label = stub;
            }
            self.jump_if(cond, true, label)?;
            pending.push(edge.dst);
        }
        // Nothing leads on from here.
        self.edge = p.locs[loc].inc.first().copied().unwrap_or(self.edge);
        self.emit(Instr::Blocked);
        Ok(None)
    }

    /// The code of an operation. Returns whether control goes on to the next location.
    fn op(&mut self, op: &Op) -> Res<bool> {
        let goes_on = self.op_code(op)?;
        match op {
            // What they write is told by `store`.
            Op::Skip | Op::Assume { .. } | Op::Check { .. } | Op::Assign { .. } => {}
            Op::Enter { var } | Op::Leave { var } => match self.layout.vars[*var] {
                VarLoc::Reg(r) => self.facts.forget(Deps::reg(r)),
                _ => self.facts.forget(Deps::MEMORY),
            },
            _ => self.facts.forget(Deps::MEMORY),
        }
        Ok(goes_on)
    }

    fn op_code(&mut self, op: &Op) -> Res<bool> {
        let p = self.p;
        match op {
            Op::Skip | Op::Assume { .. } => {}
            Op::Assign { dst, src } => self.assign(*dst, *src)?,
            Op::Copy { dst, src } => {
                let size = self.size(*dst)?;
                let (to, from) = (self.address(*dst)?, self.address(*src)?);
                self.emit(Instr::CopyBytes { to, from, size });
            }
            Op::Zero { dst } => match self.register_of(*dst) {
                Some(_) => {
                    let d = self.temp();
                    self.emit(Instr::Const { d, v: 0 });
                    self.store(*dst, d)?;
                }
                None => {
                    let size = self.size(*dst)?;
                    let p = self.address(*dst)?;
                    self.emit(Instr::ZeroBytes { p, size });
                }
            },
            Op::Havoc { dst, input } => match p.place_scalar(*dst) {
                Some(ty) => {
                    let d = self.temp();
                    self.emit(Instr::Havoc { d, ty, input: *input });
                    self.store(*dst, d)?;
                }
                None => {
                    let size = self.size(*dst)?;
                    let p = self.address(*dst)?;
                    self.emit(Instr::HavocBytes { p, size, input: *input });
                }
            },
            Op::Call { dst, callee, args } => self.call(*dst, *callee, args)?,
            Op::Return { value } => {
                match value {
                    None => self.emit(Instr::ReturnNothing),
                    Some(Arg::Scalar(e)) => {
                        let a = self.expr(*e, None)?;
                        self.emit(Instr::Return { a });
                    }
                    Some(Arg::Aggregate(x)) => {
                        let size = self.size(*x)?;
                        let p = self.address(*x)?;
                        self.emit(Instr::ReturnBytes { p, size });
                    }
                }
                return Ok(false);
            }
            Op::Alloc { dst, size, kind, zeroed } => {
                let size = self.expr(*size, None)?;
                let d = self.temp();
                self.emit(Instr::Alloc { d, size, kind: *kind, zeroed: *zeroed });
                self.store(*dst, d)?;
            }
            Op::Free { ptr } => {
                let p = self.expr(*ptr, None)?;
                self.emit(Instr::Free { p });
            }
            Op::MemCopy { dst, src, len } => {
                let (to, from) = (self.expr(*dst, None)?, self.expr(*src, None)?);
                let size = self.expr(*len, None)?;
                self.emit(Instr::MemCopy { to, from, size });
            }
            Op::MemSet { dst, byte, len } => {
                let (p, byte) = (self.expr(*dst, None)?, self.expr(*byte, None)?);
                let size = self.expr(*len, None)?;
                self.emit(Instr::MemSet { p, byte, size });
            }
            Op::Enter { var } => match self.layout.vars[*var] {
                VarLoc::Reg(d) => {
                    if let Some(ty) = p.scalar_of(p.vars[*var].ty) {
                        self.emit(Instr::Havoc { d, ty, input: false });
                    }
                }
                VarLoc::Object(k) => self.emit(Instr::EnterObj { k }),
                _ => {}
            },
            Op::Leave { var } => match self.layout.vars[*var] {
                VarLoc::Object(k) => self.emit(Instr::LeaveObj { k }),
                // Nothing reads it any more, and it no longer keeps what it points to.
                VarLoc::Reg(d) => self.emit(Instr::Const { d, v: 0 }),
                _ => {}
            },
            Op::Check { kind, cond } => {
                let fail = self.label();
                self.fails.push((fail, *kind, self.edge));
                self.jump_if(*cond, false, fail)?;
                self.learn(*cond);
            }
            Op::Halt { kind: HaltKind::Abort } => {
                self.emit(Instr::Abort);
                return Ok(false);
            }
            Op::Halt { kind: HaltKind::Exit(e) } => {
                let a = self.expr(*e, None)?;
                self.emit(Instr::Exit { a });
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn assign(&mut self, dst: PlaceId, src: ExprId) -> Res<()> {
        if let Some(VarLoc::Reg(d)) = self.register_of(dst) {
            self.expr(src, Some(d))?;
            self.facts.forget(Deps::reg(d));
            return Ok(());
        }
        let a = self.expr(src, None)?;
        self.store(dst, a)
    }

    fn size(&self, place: PlaceId) -> Res<u64> {
        self.p.size_of(self.p.places[place].ty).ok_or_else(|| "an object of unknown size".to_owned())
    }

    fn call(&mut self, dst: Option<PlaceId>, callee: Callee, args: &[Arg]) -> Res<()> {
        let p = self.p;
        let (func, pointer) = match callee {
            Callee::Direct(f) => (Some(f), None),
            Callee::Indirect(e) => (None, Some(self.expr(e, None)?)),
        };
        let mut regs = Vec::with_capacity(args.len());
        let mut types = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                Arg::Scalar(e) => {
                    regs.push(self.expr(*e, None)?);
                    types.push(ArgTy::Scalar(p.exprs[*e].ty));
                }
                Arg::Aggregate(x) => {
                    types.push(ArgTy::Aggregate);
                    regs.push(self.address(*x)?);
                }
            }
        }
        let result = match dst {
            None => None,
            Some(x) => Some(match p.place_scalar(x) {
                Some(ty) => ResultTy::Scalar(ty),
                None => ResultTy::Bytes(self.size(x)?),
            }),
        };
        let site = self.tables.sites.len() as u32;
        self.tables.sites.push(Site { edge: self.edge, callee: func, args: types.into(), result });
        // Arguments stand in a row.
        let first = self.next_reg;
        for a in regs {
            let d = self.temp();
            self.emit(Instr::Mov { d, a });
        }
        let d = self.temp();
        match pointer {
            None => self.emit(Instr::Call { site, first, d }),
            Some(p) => self.emit(Instr::CallPtr { site, p, first, d }),
        }
        // The call may have changed all but our own registers.
        self.facts.forget(Deps::MEMORY);
        match (dst, result) {
            (Some(x), Some(ResultTy::Scalar(_))) => self.store(x, d)?,
            (Some(x), Some(ResultTy::Bytes(size))) => {
                let p = self.address(x)?;
                self.emit(Instr::StoreResult { p, size });
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether exactly one of the assumptions of two edges holds.
pub(crate) fn complementary(p: &Program, canon: &mut Canon, a: EdgeId, b: EdgeId) -> bool {
    let (Op::Assume { cond: a }, Op::Assume { cond: b }) = (&p.edges[a].op, &p.edges[b].op) else {
        return false;
    };
    let (a, b) = (canon.expr(p, *a), canon.expr(p, *b));
    match (canon.kind(a), canon.kind(b)) {
        (_, Some(ExprKind::Unary(UnOp::Not, x))) if *x == a => true,
        (Some(ExprKind::Unary(UnOp::Not, x)), _) if *x == b => true,
        (Some(ExprKind::Cmp(o, x, y)), Some(ExprKind::Cmp(r, z, w))) => {
            let ordered = !matches!(p.exprs[*x].ty, Scalar::Float(_));
            match (o, r) {
                (CmpOp::Eq, CmpOp::Ne) | (CmpOp::Ne, CmpOp::Eq) => x == z && y == w,
                (CmpOp::Lt, CmpOp::Le) | (CmpOp::Le, CmpOp::Lt) => ordered && x == w && y == z,
                _ => false,
            }
        }
        _ => false,
    }
}
