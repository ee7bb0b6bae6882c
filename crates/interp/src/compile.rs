//! From the graph of a function to register code: control flow and operations.
//!
//! Locations are laid out along their edges, so that a chain of edges is straight-line code. Until
//! the function is finished, jumps carry the number of a label.

mod expr;

pub(crate) use expr::cell;

use crate::code::*;
use crate::layout::{Layout, VarLoc};
use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Why a function has no code: what it uses is not supported.
pub(crate) type Unsupported = String;
type Res<T> = Result<T, Unsupported>;

/// Expressions deeper than this are refused; lowering keeps far below it.
const MAX_DEPTH: u32 = 2000;

type Label = u32;

pub(crate) struct Compiler<'a> {
    p: &'a Program,
    layout: &'a Layout,
    code: &'a mut Code,
    observed: bool,
    edge: EdgeId,
    next_reg: Reg,
    max_reg: Reg,
    /// Registers that hold expressions already computed on this edge.
    memo: FxHashMap<ExprId, Reg>,
    depth: u32,
    labels: Vec<Option<u32>>,
    locs: FxHashMap<LocId, Label>,
    /// Failing checks, whose code follows the function's.
    fails: Vec<(Label, CheckKind, EdgeId)>,
    /// Where no assumption holds, likewise.
    blocked: Vec<(Label, EdgeId)>,
    /// The tick of the current chain: where it stands and how many edges it counts.
    tick: Option<(usize, u32)>,
}

/// Compiles a function with a body. `observed` code announces every edge.
pub(crate) fn compile(
    p: &Program,
    layout: &Layout,
    code: &mut Code,
    func: FuncId,
    observed: bool,
) -> Res<Entry> {
    let body = p.body(func);
    let start = code.instrs.len();
    let first = layout.frames[func].regs;
    let mut compiler = Compiler {
        p,
        layout,
        code,
        observed,
        edge: EdgeId(0),
        next_reg: first,
        max_reg: first,
        memo: FxHashMap::default(),
        depth: 0,
        labels: Vec::new(),
        locs: FxHashMap::default(),
        fails: Vec::new(),
        blocked: Vec::new(),
        tick: None,
    };
    compiler.graph(body.entry)?;
    let regs = compiler.max_reg;
    let labels = std::mem::take(&mut compiler.labels);
    for instr in &mut code.instrs[start..] {
        if let Some(to) = instr.target() {
            *to = labels[*to as usize].expect("every label that is jumped to is placed");
        }
    }
    Ok(Entry { pc: start as u32, regs })
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
        self.code.instrs.push(instr);
        self.code.edges.push(self.edge);
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        self.labels.len() as Label - 1
    }

    fn place_label(&mut self, label: Label) {
        self.labels[label as usize] = Some(self.code.instrs.len() as u32);
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
                    self.tick = Some((self.code.instrs.len(), 0));
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
            self.code.instrs[*at] = Instr::Tick(*n);
        }
    }

    /// Starts an edge: its temporaries and known values are its own.
    fn start(&mut self, edge: EdgeId, first_temp: Reg) {
        self.edge = edge;
        self.next_reg = first_temp;
        self.memo.clear();
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
            let last = i + 1 == out.len();
            if last && i > 0 && self.complement(out[i - 1], cond) {
                self.mark();
                return Ok(Some(edge.dst));
            }
            if last {
                let blocked = self.label();
                self.blocked.push((blocked, e));
                self.jump_if(cond, false, blocked)?;
                self.mark();
                return Ok(Some(edge.dst));
            }
            if self.observed {
                let other = self.label();
                self.jump_if(cond, false, other)?;
                self.mark();
                let label = self.loc_label(edge.dst);
                self.emit(Instr::Jump { to: label });
                self.place_label(other);
            } else {
                let label = self.loc_label(edge.dst);
                self.jump_if(cond, true, label)?;
            }
            pending.push(edge.dst);
        }
        // Nothing leads on from here.
        self.edge = p.locs[loc].inc.first().copied().unwrap_or(self.edge);
        self.emit(Instr::Blocked);
        Ok(None)
    }

    /// Whether `cond` holds exactly if the assumption of `edge` does not.
    fn complement(&self, edge: EdgeId, cond: ExprId) -> bool {
        let Op::Assume { cond: other } = self.p.edges[edge].op else { return false };
        // Of more than two branches only the last two are compared, which is not enough.
        if self.p.locs[self.p.edges[edge].src].out.len() != 2 {
            return false;
        }
        let kind = |e: ExprId| &self.p.exprs[e].kind;
        match (kind(other), kind(cond)) {
            (_, ExprKind::Unary(UnOp::Not, a)) => self.same(*a, other, 0),
            (ExprKind::Unary(UnOp::Not, a), _) => self.same(*a, cond, 0),
            (ExprKind::Cmp(x, a, b), ExprKind::Cmp(y, c, d)) => {
                let ordered = !matches!(self.p.exprs[*a].ty, Scalar::Float(_));
                match (x, y) {
                    (CmpOp::Eq, CmpOp::Ne) | (CmpOp::Ne, CmpOp::Eq) => {
                        self.same(*a, *c, 0) && self.same(*b, *d, 0)
                    }
                    (CmpOp::Lt, CmpOp::Le) | (CmpOp::Le, CmpOp::Lt) => {
                        ordered && self.same(*a, *d, 0) && self.same(*b, *c, 0)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// Whether two expressions are certainly the same; gives up on deep ones.
    fn same(&self, a: ExprId, b: ExprId, depth: u32) -> bool {
        if a == b {
            return true;
        }
        let (x, y) = (&self.p.exprs[a], &self.p.exprs[b]);
        if x.ty != y.ty || depth > 8 {
            return false;
        }
        let same = |a: ExprId, b: ExprId| self.same(a, b, depth + 1);
        match (&x.kind, &y.kind) {
            (ExprKind::Load(p), ExprKind::Load(q)) => {
                let (p, q) = (&self.p.places[*p], &self.p.places[*q]);
                p == q
            }
            (ExprKind::Unary(o, a), ExprKind::Unary(r, b)) => o == r && same(*a, *b),
            (ExprKind::Convert(a), ExprKind::Convert(b)) => same(*a, *b),
            (ExprKind::Binary(o, a, b), ExprKind::Binary(r, c, d)) => o == r && same(*a, *c) && same(*b, *d),
            (ExprKind::Cmp(o, a, b), ExprKind::Cmp(r, c, d)) => o == r && same(*a, *c) && same(*b, *d),
            (x, y) => x == y,
        }
    }

    /// The code of an operation. Returns whether control goes on to the next location.
    fn op(&mut self, op: &Op) -> Res<bool> {
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
            Op::Leave { var } => {
                if let VarLoc::Object(k) = self.layout.vars[*var] {
                    self.emit(Instr::LeaveObj { k });
                }
            }
            Op::Check { kind, cond } => {
                let fail = self.label();
                self.fails.push((fail, *kind, self.edge));
                self.jump_if(*cond, false, fail)?;
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
        let site = self.code.sites.len() as u32;
        self.code.sites.push(Site { edge: self.edge, callee: func, args: types.into(), result });
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
        // The call may have changed what was computed before it.
        self.memo.clear();
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
