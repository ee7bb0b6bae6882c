//! What the steps of a program do to ranges of its integer registers.

use super::range::Range;
use palisade_base::IdxVec;
use palisade_cfa::*;

/// The ranges of all registers that are looked at, by their numbers.
pub type Ranges = Vec<Range>;

/// Ranges of registers by their numbers.
pub trait Store {
    /// The range of a register, of which it is known what all its values are.
    fn get(&self, register: u32, all: Range) -> Range;
    /// Sets it.
    fn set(&mut self, register: u32, range: Range, all: Range);
}

impl Store for Ranges {
    fn get(&self, register: u32, _: Range) -> Range {
        self[register as usize]
    }

    fn set(&mut self, register: u32, range: Range, _: Range) {
        self[register as usize] = range;
    }
}

/// An expression with more parts than this may have any value.
const MAX_PARTS: u32 = 10_000;

/// The integer registers of a program, and where its conditions cut their values into parts.
pub struct Steps<'p> {
    program: &'p Program,
    /// The registers with their types.
    pub registers: Vec<(VarId, IntTy)>,
    number: IdxVec<VarId, Option<u32>>,
    /// What is known of each expression without looking at ranges.
    leaves: IdxVec<ExprId, Leaf>,
    /// All values of each register.
    all: Ranges,
    /// The first values of all parts of each register but the first part, ascending.
    cuts: Vec<Vec<i128>>,
}

/// An expression, as far as it can be told beforehand.
#[derive(Clone, Copy)]
enum Leaf {
    /// No integer that is looked at.
    Nothing,
    /// A constant, or what may have any value of its type.
    Range(Range),
    /// The value of a register.
    Register(u32),
    /// More to compute, and all values of its type.
    Inner(Range),
}

impl<'p> Steps<'p> {
    /// Looks at a program.
    pub fn new(program: &'p Program) -> Self {
        let mut this = Steps {
            program,
            registers: Vec::new(),
            number: IdxVec::filled(None, program.vars.len()),
            leaves: IdxVec::new(),
            all: Vec::new(),
            cuts: Vec::new(),
        };
        for edge in &program.edges {
            program.visit_op(&edge.op, &mut |used| {
                if let Use::Read(place) | Use::Write(place) = used {
                    this.add(place);
                }
            });
        }
        this.leaves = program.exprs.iter().map(|e| this.leaf(e)).collect();
        this.cuts = vec![Vec::new(); this.registers.len()];
        for edge in &program.edges {
            if let Op::Assign { dst, src } = edge.op
                && let Some(r) = this.register(dst)
                && let ExprKind::Int(bits) = program.exprs[src].kind
            {
                let value = this.registers[r as usize].1.decode(bits);
                this.cuts[r as usize].extend([value, value + 1]);
            }
            program.visit_op(&edge.op, &mut |used| {
                if let Use::Expr(e) = used {
                    this.cut(e);
                }
            });
        }
        for cuts in &mut this.cuts {
            cuts.sort_unstable();
            cuts.dedup();
        }
        this
    }

    fn add(&mut self, place: PlaceId) {
        if let Some((var, ty)) = whole_register(self.program, place)
            && let (None, Some(all)) = (self.number[var], Range::of(ty))
        {
            self.number[var] = Some(self.registers.len() as u32);
            self.registers.push((var, ty));
            self.all.push(all);
        }
    }

    fn leaf(&self, expr: &Expr) -> Leaf {
        let Expr { ty: Scalar::Int(ty), kind } = expr else { return Leaf::Nothing };
        let Some(all) = Range::of(*ty) else { return Leaf::Nothing };
        match *kind {
            ExprKind::Int(bits) => Leaf::Range(Range::point(ty.decode(bits))),
            ExprKind::Load(place) => self.register(place).map_or(Leaf::Range(all), Leaf::Register),
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cmp(..)
            | ExprKind::Overflow(..)
            | ExprKind::Ite(..)
            | ExprKind::Convert(_) => Leaf::Inner(all),
            _ => Leaf::Range(all),
        }
    }

    /// The number of a register; `None` if it is not looked at.
    pub fn number(&self, var: VarId) -> Option<u32> {
        self.number[var]
    }

    /// The number of the register that a place is.
    pub fn register(&self, place: PlaceId) -> Option<u32> {
        self.number[whole_register(self.program, place)?.0]
    }

    /// The number that an expression is.
    fn constant(&self, e: ExprId) -> Option<i128> {
        match (&self.program.exprs[e].kind, self.leaves[e]) {
            (ExprKind::Int(_), Leaf::Range(range)) => range.as_point(),
            _ => None,
        }
    }

    /// Comparisons of a register with a constant cut its values.
    fn cut(&mut self, e: ExprId) {
        let ExprKind::Cmp(op, a, b) = self.program.exprs[e].kind else { return };
        let (side, value, left) = match (self.constant(a), self.constant(b)) {
            (None, Some(value)) => (a, value, true),
            (Some(value), None) => (b, value, false),
            _ => return,
        };
        let Some((r, offset)) = self.shifted(side) else { return };
        let value = value - offset;
        match (op, left) {
            (CmpOp::Eq | CmpOp::Ne, _) => self.cuts[r as usize].extend([value, value + 1]),
            (CmpOp::Lt, true) | (CmpOp::Le, false) => self.cuts[r as usize].push(value),
            (CmpOp::Le, true) | (CmpOp::Lt, false) => self.cuts[r as usize].push(value + 1),
        }
    }

    /// The register that an expression is, but for conversions, and what is added to it.
    fn shifted(&self, e: ExprId) -> Option<(u32, i128)> {
        let expr = &self.program.exprs[e];
        match expr.kind {
            ExprKind::Load(place) => Some((self.register(place)?, 0)),
            ExprKind::Convert(a) => self.shifted(a),
            ExprKind::Binary(BinOp::Add, a, b) => {
                let (r, offset) = self.shifted(a)?;
                Some((r, offset + self.constant(b)?))
            }
            ExprKind::Binary(BinOp::Sub, a, b) => {
                let (r, offset) = self.shifted(a)?;
                Some((r, offset - self.constant(b)?))
            }
            _ => None,
        }
    }

    /// The part of a register's values that a value is in.
    pub fn part(&self, register: usize, value: i128) -> usize {
        self.cuts[register].partition_point(|&first| first <= value)
    }

    /// Whether the value before is in the same part.
    pub fn is_inside(&self, register: usize, value: i128) -> bool {
        self.cuts[register].binary_search(&value).is_err()
    }

    /// Cuts the values of a register in front of one.
    pub fn refine(&mut self, register: usize, value: i128) {
        if let Err(place) = self.cuts[register].binary_search(&value) {
            self.cuts[register].insert(place, value);
        }
    }

    /// The first and the last value of a part.
    pub fn part_ends(&self, register: usize, part: usize) -> Range {
        let (cuts, all) = (&self.cuts[register], self.all[register]);
        let lo = part.checked_sub(1).map_or(all.lo, |i| cuts[i].max(all.lo));
        Range { lo, hi: cuts.get(part).map_or(all.hi, |&next| (next - 1).min(all.hi)) }
    }

    /// The range of all values of a register.
    pub fn all(&self, register: usize) -> Range {
        self.all[register]
    }

    /// The ranges at the start of the program.
    pub fn initial(&self) -> Ranges {
        let value = |&(var, ty): &(VarId, IntTy)| {
            let info = &self.program.vars[var];
            match (&info.init, info.kind) {
                (Init::Image(items), VarKind::Global) => match items.as_slice() {
                    [] => Some(Range::point(0)),
                    [InitItem { offset: 0, value: InitValue::Int(t, bits) }] if t.bits == ty.bits => {
                        Some(Range::point(ty.decode(*bits)))
                    }
                    _ => None,
                },
                _ => None,
            }
        };
        self.registers.iter().zip(&self.all).map(|(r, all)| value(r).unwrap_or(*all)).collect()
    }

    /// Whether a condition has the same value in all states of the ranges, and which.
    pub fn decide<S: Store>(&self, ranges: &S, cond: ExprId) -> Option<bool> {
        self.eval(ranges, cond, &mut MAX_PARTS.clone())?.as_point().map(|value| value != 0)
    }

    /// The same with an end to the parts that are looked at.
    fn eval<S: Store>(&self, ranges: &S, e: ExprId, fuel: &mut u32) -> Option<Range> {
        let all = match self.leaves[e] {
            Leaf::Nothing => return None,
            Leaf::Range(range) => return Some(range),
            Leaf::Register(r) => return Some(ranges.get(r, self.all[r as usize])),
            Leaf::Inner(all) => all,
        };
        if *fuel == 0 {
            return Some(all);
        }
        *fuel -= 1;
        let Expr { ty: Scalar::Int(ty), kind } = &self.program.exprs[e] else { return None };
        let truth = |known: Option<bool>| known.map(|t| Range::point(i128::from(t)));
        let found = match *kind {
            ExprKind::Unary(op, a) => self.eval(ranges, a, fuel).and_then(|a| Range::unary(op, *ty, a)),
            ExprKind::Binary(op, a, b) => match (self.eval(ranges, a, fuel), self.eval(ranges, b, fuel)) {
                (Some(a), Some(b)) => Range::binary(op, *ty, a, b),
                _ => None,
            },
            ExprKind::Cmp(op, a, b) => match (self.eval(ranges, a, fuel), self.eval(ranges, b, fuel)) {
                (Some(a), Some(b)) => truth(Range::compare(op, a, b)),
                _ => None,
            },
            ExprKind::Overflow(op, a, b) => {
                match (self.program.exprs[a].ty, self.eval(ranges, a, fuel), self.eval(ranges, b, fuel)) {
                    (Scalar::Int(of), Some(a), Some(b)) => truth(Range::overflow(op, of, a, b)),
                    _ => None,
                }
            }
            ExprKind::Ite(c, a, b) => {
                let which = self.eval(ranges, c, fuel).and_then(Range::as_point);
                let yes = which.is_none_or(|c| c != 0).then(|| self.eval(ranges, a, fuel));
                let no = which.is_none_or(|c| c == 0).then(|| self.eval(ranges, b, fuel));
                match (yes, no) {
                    (Some(Some(a)), Some(Some(b))) => Some(a.hull(b)),
                    (Some(one), None) | (None, Some(one)) => one,
                    _ => None,
                }
            }
            ExprKind::Convert(a) => self.eval(ranges, a, fuel).and_then(|a| a.convert(*ty)),
            _ => None,
        };
        Some(found.unwrap_or(all))
    }

    /// Goes on only where a condition has this value. Tells whether there is anything left.
    pub fn assume<S: Store>(&self, ranges: &mut S, cond: ExprId, value: bool) -> bool {
        match self.decide(ranges, cond) {
            Some(known) => return known == value,
            None if self.program.exprs[cond].ty != Scalar::BOOL => return true,
            None => {}
        }
        match (&self.program.exprs[cond].kind, value) {
            (ExprKind::Unary(UnOp::Not, a), _) => self.assume(ranges, *a, !value),
            (ExprKind::Binary(BinOp::And, a, b), true) | (ExprKind::Binary(BinOp::Or, a, b), false) => {
                self.assume(ranges, *a, value) && self.assume(ranges, *b, value)
            }
            // One operand is to blame if the other one is not.
            (ExprKind::Binary(BinOp::And | BinOp::Or, a, b), _) => {
                if self.decide(ranges, *a) == Some(!value) {
                    self.assume(ranges, *b, value)
                } else if self.decide(ranges, *b) == Some(!value) {
                    self.assume(ranges, *a, value)
                } else {
                    true
                }
            }
            (ExprKind::Cmp(op, a, b), _) => match (op, value) {
                (CmpOp::Eq, true) | (CmpOp::Ne, false) => self.equal(ranges, *a, *b),
                (CmpOp::Eq, false) | (CmpOp::Ne, true) => {
                    self.differ(ranges, *a, *b) && self.differ(ranges, *b, *a)
                }
                (CmpOp::Lt, true) => self.less(ranges, *a, *b, 1),
                (CmpOp::Lt, false) => self.less(ranges, *b, *a, 0),
                (CmpOp::Le, true) => self.less(ranges, *a, *b, 0),
                (CmpOp::Le, false) => self.less(ranges, *b, *a, 1),
            },
            (ExprKind::Load(_) | ExprKind::Convert(_), _) => {
                self.restrict(ranges, cond, Range::point(i128::from(value)))
            }
            _ => true,
        }
    }

    /// The values of an expression; `None` if it is no integer that is looked at.
    pub fn value<S: Store>(&self, ranges: &S, e: ExprId) -> Option<Range> {
        self.eval(ranges, e, &mut MAX_PARTS.clone())
    }

    fn equal<S: Store>(&self, ranges: &mut S, a: ExprId, b: ExprId) -> bool {
        let (Some(x), Some(y)) = (self.value(ranges, a), self.value(ranges, b)) else { return true };
        let Some(both) = x.meet(y) else { return false };
        self.restrict(ranges, a, both) && self.restrict(ranges, b, both)
    }

    /// Takes the only value of `b` away from `a`, if it is at one end.
    fn differ<S: Store>(&self, ranges: &mut S, a: ExprId, b: ExprId) -> bool {
        let (Some(x), Some(y)) = (self.value(ranges, a), self.value(ranges, b)) else { return true };
        match y.as_point() {
            Some(y) if x == Range::point(y) => false,
            Some(y) if x.lo == y => self.restrict(ranges, a, Range { lo: y + 1, ..x }),
            Some(y) if x.hi == y => self.restrict(ranges, a, Range { hi: y - 1, ..x }),
            _ => true,
        }
    }

    /// At least `by` less.
    fn less<S: Store>(&self, ranges: &mut S, a: ExprId, b: ExprId, by: i128) -> bool {
        let (Some(x), Some(y)) = (self.value(ranges, a), self.value(ranges, b)) else { return true };
        let (Some(x), Some(y)) =
            (x.meet(Range { hi: y.hi - by, ..x.hull(y) }), y.meet(Range { lo: x.lo + by, ..x.hull(y) }))
        else {
            return false;
        };
        self.restrict(ranges, a, x) && self.restrict(ranges, b, y)
    }

    /// Goes on only where an expression is in a range, as far as that says something about a register.
    fn restrict<S: Store>(&self, ranges: &mut S, e: ExprId, to: Range) -> bool {
        let expr = &self.program.exprs[e];
        let (Scalar::Int(ty), Some(now)) = (expr.ty, self.value(ranges, e)) else { return true };
        let Some(to) = now.meet(to) else { return false };
        match expr.kind {
            ExprKind::Load(place) => {
                if let Some(r) = self.register(place) {
                    self.set(ranges, r, to);
                }
                true
            }
            // Only where no value changes.
            ExprKind::Convert(a) => match (self.value(ranges, a), Range::of(ty)) {
                (Some(from), Some(all)) if all.contains(from) => self.restrict(ranges, a, to),
                _ => true,
            },
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let (Some(x), Some(by)) = (self.value(ranges, a), self.constant(b)) else { return true };
                if Range::overflow(op, ty, x, Range::point(by)) != Some(false) {
                    return true;
                }
                let by = if op == BinOp::Add { by } else { -by };
                self.restrict(ranges, a, Range { lo: to.lo - by, hi: to.hi - by })
            }
            _ => true,
        }
    }

    /// What a step does to the ranges. Tells whether anything is left.
    pub fn step<S: Store>(&self, ranges: &mut S, op: &Op) -> bool {
        match op {
            Op::Assume { cond } | Op::Check { cond, .. } => return self.assume(ranges, *cond, true),
            Op::Assign { dst, src } => match self.register(*dst) {
                Some(r) => {
                    let value = self.value(ranges, *src);
                    self.set(ranges, r, value.unwrap_or(self.all[r as usize]));
                }
                None => self.forget(ranges, *dst),
            },
            Op::Zero { dst } => match self.register(*dst) {
                Some(r) => self.set(ranges, r, Range::point(0)),
                None => self.forget(ranges, *dst),
            },
            Op::Call { dst, callee, .. } => {
                let external = matches!(callee, Callee::Direct(f) if self.program.funcs[*f].body.is_none());
                for (r, (var, _)) in (0..).zip(&self.registers) {
                    if !external && self.program.vars[*var].kind == VarKind::Global {
                        self.set(ranges, r, self.all[r as usize]);
                    }
                }
                if let Some(dst) = dst {
                    self.forget(ranges, *dst);
                }
            }
            Op::Copy { dst, .. } | Op::Havoc { dst, .. } | Op::Alloc { dst, .. } => self.forget(ranges, *dst),
            Op::Enter { var } | Op::Leave { var } => {
                if let Some(r) = self.number[*var] {
                    self.set(ranges, r, self.all[r as usize]);
                }
            }
            Op::Skip
            | Op::Return { .. }
            | Op::Free { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Halt { .. } => {}
        }
        true
    }

    /// Anything may be in a place.
    fn forget<S: Store>(&self, ranges: &mut S, place: PlaceId) {
        if let Base::Var(var) = self.program.places[place].base
            && let Some(r) = self.number[var]
        {
            self.set(ranges, r, self.all[r as usize]);
        }
    }

    fn set<S: Store>(&self, ranges: &mut S, register: u32, range: Range) {
        ranges.set(register, range, self.all[register as usize]);
    }
}

/// The integer register that a place is the whole of.
fn whole_register(program: &Program, place: PlaceId) -> Option<(VarId, IntTy)> {
    program.whole_integer(place).filter(|(var, _)| program.places[place].ty == program.vars[*var].ty)
}
