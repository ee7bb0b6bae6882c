//! Linearisation: tree expressions become a linear form plus an interval of noise, in the
//! current abstract state, so that every domain can assign and assume any expression.
//!
//! The method is Miné's ("Symbolic methods to enhance the precision of numerical abstract
//! domains", VMCAI 2006) with scalar coefficients: an operand of a product is replaced by its
//! range, a rounding becomes noise.

use crate::dim::Dim;
use crate::expr::{BinOp, CmpOp, MAX_SHIFT, Node, NodeId, Tree, eval_bin};
use crate::interval::{End, Interval};
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::NumericDomain;
use palisade_num::{Int, Rat};

/// What is known of a subexpression in some abstract state: in each concrete state its value is
/// `expr + n` for some `n` in `noise`, and lies in `range`. An empty range means that no state
/// gives it a value.
#[derive(Clone, Debug)]
pub struct LinForm {
    /// The linear part.
    pub expr: LinExpr,
    /// What is added to it.
    pub noise: Interval,
    /// Bounds of the whole.
    pub range: Interval,
    /// Is the value always an integer?
    pub integral: bool,
    /// Has the range been intersected with the domain's bounds of the linear part?
    refined: bool,
}

impl LinForm {
    /// Only the range is known.
    fn of_range(range: Interval, integral: bool) -> LinForm {
        let range = if integral { range.tighten_int() } else { range };
        let expr = LinExpr::constant(0);
        LinForm { expr, noise: range.clone(), range, integral, refined: true }
    }

    fn exact(expr: LinExpr, integral: bool) -> LinForm {
        let (range, refined) = match expr.is_constant() {
            true => (Interval::point(expr.constant_term().clone()), true),
            false => (Interval::TOP, false),
        };
        LinForm { expr, noise: Interval::point(Rat::ZERO), range, integral, refined }
    }

    /// The range, as good as the domain can make it.
    fn refine<D: NumericDomain>(&mut self, dom: &D) {
        if !self.refined {
            let i = dom.bounds(&self.expr).add(&self.noise);
            self.range = self.range.meet(&i);
            if self.integral {
                self.range = self.range.tighten_int();
            }
            self.refined = true;
        }
    }

    fn scale(&self, k: &Rat) -> LinForm {
        LinForm {
            expr: self.expr.scale(k),
            noise: self.noise.scale(k),
            range: self.range.scale(k),
            integral: self.integral && k.is_int(),
            refined: self.refined,
        }
    }

    fn add(&self, other: &LinForm, sign: &Rat) -> LinForm {
        LinForm {
            expr: self.expr.add_scaled(&other.expr, sign),
            noise: self.noise.add(&other.noise.scale(sign)),
            range: self.range.add(&other.range.scale(sign)),
            integral: self.integral && other.integral,
            // Cancellation may make the bounds of the sum better than the sum of the bounds.
            refined: self.expr.is_constant() && other.expr.is_constant(),
        }
    }

    fn with_range(mut self, range: &Interval) -> LinForm {
        self.range = self.range.meet(range);
        self
    }

    fn with_noise(mut self, noise: &Interval) -> LinForm {
        self.noise = self.noise.add(noise);
        self.range = self.range.add(noise);
        self
    }
}

/// The forms of a tree's nodes, computed on demand. They stay valid while the state shrinks.
struct Forms<'t> {
    tree: &'t Tree,
    memo: Vec<Option<LinForm>>,
}

impl<'t> Forms<'t> {
    fn new(tree: &'t Tree) -> Forms<'t> {
        Forms { tree, memo: vec![None; tree.nodes().len()] }
    }

    fn get<D: NumericDomain>(&mut self, dom: &D, id: NodeId) -> LinForm {
        let mut stack = vec![(id, false)];
        while let Some((n, ready)) = stack.pop() {
            if self.memo[n.index()].is_some() {
                continue;
            }
            if ready {
                let form = self.compute(dom, n);
                self.memo[n.index()] = Some(form);
                continue;
            }
            stack.push((n, true));
            match self.tree.node(n) {
                Node::Const(_) | Node::Dim(_) | Node::Range(..) => {}
                Node::Neg(a) | Node::Not(a) | Node::Wrap(_, a) | Node::IsZero(a) => stack.push((*a, false)),
                Node::Bin(_, a, b) | Node::Cmp(_, a, b) | Node::All(a, b) | Node::Any(a, b) => {
                    stack.extend([(*a, false), (*b, false)]);
                }
                Node::Ite(a, b, c) => stack.extend([(*a, false), (*b, false), (*c, false)]),
            }
        }
        let form = self.memo[id.index()].as_mut().expect("computed by the loop above");
        form.refine(dom);
        form.clone()
    }

    /// An operand's form with its range refined.
    fn operand<D: NumericDomain>(&mut self, dom: &D, id: NodeId) -> LinForm {
        let form = self.memo[id.index()].as_mut().expect("operands are computed before their users");
        form.refine(dom);
        form.clone()
    }

    /// An operand's form as it is.
    fn raw(&self, id: NodeId) -> &LinForm {
        self.memo[id.index()].as_ref().expect("operands are computed before their users")
    }

    fn compute<D: NumericDomain>(&mut self, dom: &D, id: NodeId) -> LinForm {
        let boolean = || LinForm::of_range(Interval::closed(0, 1), true);
        match self.tree.node(id).clone() {
            Node::Const(c) => {
                let integral = c.is_int();
                LinForm::exact(LinExpr::constant(c), integral)
            }
            Node::Dim(d) => LinForm::exact(LinExpr::dim(d), d.is_int()),
            Node::Range(i, integral) => LinForm::of_range(i, integral),
            Node::Neg(a) => self.raw(a).scale(&-Rat::ONE),
            Node::Not(a) => {
                self.raw(a).scale(&-Rat::ONE).add(&LinForm::exact(LinExpr::constant(-1), true), &Rat::ONE)
            }
            Node::Bin(BinOp::Add, a, b) => self.raw(a).add(self.raw(b), &Rat::ONE),
            Node::Bin(BinOp::Sub, a, b) => self.raw(a).add(self.raw(b), &-Rat::ONE),
            Node::Bin(op, a, b) => {
                let (a, b) = (self.operand(dom, a), self.operand(dom, b));
                binary(dom, op, &a, &b)
            }
            Node::Wrap(ty, a) => wrap(&self.operand(dom, a), ty),
            Node::Cmp(op, a, b) => {
                let (a, b) = (self.operand(dom, a), self.operand(dom, b));
                match decide(op, &a.range, &b.range) {
                    Some(v) => LinForm::exact(LinExpr::constant(i64::from(v)), true),
                    None => boolean(),
                }
            }
            Node::All(..) | Node::Any(..) | Node::IsZero(_) => boolean(),
            Node::Ite(_, a, b) => {
                let (a, b) = (self.operand(dom, a), self.operand(dom, b));
                join(a, b)
            }
        }
    }
}

/// A form that covers both.
fn join(a: LinForm, b: LinForm) -> LinForm {
    if a.range.is_empty() {
        return b;
    }
    if b.range.is_empty() {
        return a;
    }
    let range = a.range.join(&b.range);
    let integral = a.integral && b.integral;
    if a.expr == b.expr {
        let noise = a.noise.join(&b.noise);
        return LinForm { expr: a.expr, noise, range, integral, refined: true };
    }
    LinForm::of_range(range, integral)
}

/// The truth of a comparison when the ranges alone decide it.
fn decide(op: CmpOp, a: &Interval, b: &Interval) -> Option<bool> {
    let d = a.sub(b);
    if d.is_empty() {
        return None;
    }
    let negative = d.hi.as_ref().is_some_and(|h| h.value.is_negative() || (h.strict && h.value.is_zero()));
    let positive = d.lo.as_ref().is_some_and(|l| l.value.is_positive() || (l.strict && l.value.is_zero()));
    let not_positive = d.hi.as_ref().is_some_and(|h| !h.value.is_positive());
    let not_negative = d.lo.as_ref().is_some_and(|l| !l.value.is_negative());
    let zero = d.as_point().is_some_and(Rat::is_zero);
    let pick = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match op {
        CmpOp::Eq => pick(zero, negative || positive),
        CmpOp::Ne => pick(negative || positive, zero),
        CmpOp::Lt => pick(negative, not_negative),
        CmpOp::Le => pick(not_positive, positive),
    }
}

fn wrap(a: &LinForm, ty: MachineInt) -> LinForm {
    if a.range.leq(&ty.range()) && a.integral {
        return a.clone();
    }
    if !a.integral {
        return LinForm::of_range(ty.range(), true);
    }
    if let Some((lo, hi)) = a.range.int_ends() {
        let k = ty.period(&lo);
        if k == ty.period(&hi) {
            let shift = LinForm::exact(LinExpr::constant(-k.shl(ty.width)), true);
            let mut out = a.add(&shift, &Rat::ONE);
            out.refined = true;
            return out;
        }
    }
    LinForm::of_range(ty.wrap_interval(&a.range), true)
}

/// The products, quotients and bit operations; both operands have refined ranges.
fn binary<D: NumericDomain>(dom: &D, op: BinOp, a: &LinForm, b: &LinForm) -> LinForm {
    if a.range.is_empty() || b.range.is_empty() {
        return LinForm::of_range(Interval::EMPTY, true);
    }
    if op == BinOp::Mul {
        return product(dom, a, b);
    }
    if !a.integral || !b.integral {
        return LinForm::of_range(Interval::TOP, false);
    }
    if let (Some(x), Some(y)) = (a.range.as_point(), b.range.as_point())
        && let Some(v) = eval_bin(op, x, y)
    {
        return LinForm::exact(LinExpr::constant(v), true);
    }
    match op {
        BinOp::Div => quotient(a, b),
        BinOp::Rem => remainder(a, b),
        BinOp::Shl => shift_left(a, b),
        BinOp::Shr => shift_right(a, b),
        BinOp::And => bit_and(a, b),
        BinOp::Or | BinOp::Xor => bit_or_xor(op, a, b),
        // Handled by the caller.
        BinOp::Add | BinOp::Sub | BinOp::Mul => LinForm::of_range(Interval::TOP, false),
    }
}

fn product<D: NumericDomain>(dom: &D, a: &LinForm, b: &LinForm) -> LinForm {
    if let Some(k) = b.range.as_point() {
        return a.scale(k);
    }
    if let Some(k) = a.range.as_point() {
        return b.scale(k);
    }
    let integral = a.integral && b.integral;
    let range = a.range.mul(&b.range);
    // Replace the operand with the narrower range by its middle plus noise.
    let width = |f: &LinForm| Some(&f.range.hi.as_ref()?.value - &f.range.lo.as_ref()?.value);
    let (linear, flat, w) = match (width(a), width(b)) {
        (Some(x), Some(y)) if x < y => (b, a, x),
        (_, Some(y)) => (a, b, y),
        (Some(x), None) => (b, a, x),
        (None, None) => return LinForm::of_range(range, integral),
    };
    let half = &w / &Rat::from(2);
    // The width exists, so the lower end does.
    let Some(lo) = &flat.range.lo else { return LinForm::of_range(range, integral) };
    let middle = &lo.value + &half;
    let noise = Interval::closed(-&half, half).mul(&linear.range);
    let mut out = linear.scale(&middle).with_noise(&noise);
    out.refined = false;
    out.integral = integral;
    let mut out = out.with_range(&range);
    out.refine(dom);
    out
}

/// The part of `b` above zero as reciprocals `1/b`.
fn reciprocal(b: &Interval) -> Interval {
    let positive = b.meet(&Interval::at_least(1));
    if positive.is_empty() {
        return Interval::EMPTY;
    }
    let inverse = |e: &Option<End>| e.as_ref().map(|e| End::closed(e.value.recip()));
    Interval { lo: inverse(&positive.hi).or(Some(End::closed(0))), hi: inverse(&positive.lo) }
}

/// Rounds both ends towards zero; truncation is monotone.
fn truncate(i: &Interval) -> Interval {
    let t = |e: &Option<End>| e.as_ref().map(|e| End::closed(e.value.numer().div_trunc(e.value.denom())));
    if i.is_empty() { Interval::EMPTY } else { Interval { lo: t(&i.lo), hi: t(&i.hi) } }
}

fn quotient(a: &LinForm, b: &LinForm) -> LinForm {
    let above = truncate(&a.range.mul(&reciprocal(&b.range)));
    let below = truncate(&a.range.neg().mul(&reciprocal(&b.range.neg())));
    let range = above.join(&below);
    let Some(c) = b.range.as_point().filter(|c| !c.is_zero()) else {
        return LinForm::of_range(range, true);
    };
    // a/c minus the truncated part, which has the sign of a/c and is below one.
    let real = a.scale(&c.recip());
    let slack = Rat::ONE - c.abs().recip();
    let down = Interval::closed(-&slack, Rat::ZERO);
    let up = Interval::closed(Rat::ZERO, slack);
    let noise = match (&real.range.lo, &real.range.hi) {
        (Some(l), _) if !l.value.is_negative() => down,
        (_, Some(h)) if !h.value.is_positive() => up,
        _ => down.join(&up),
    };
    let mut out = real.with_noise(&noise);
    out.integral = true;
    out.range = out.range.meet(&range).tighten_int();
    out
}

fn remainder(a: &LinForm, b: &LinForm) -> LinForm {
    let size = |i: &Interval| {
        let lo = i.lo.as_ref()?.value.abs();
        let hi = i.hi.as_ref()?.value.abs();
        Some(lo.max(hi))
    };
    let zero = || Interval::point(Rat::ZERO);
    // |r| ≤ |a|, |r| < |b|, and r has the sign of a.
    let mut range = a.range.join(&zero());
    if let Some(m) = size(&b.range) {
        if m.is_zero() {
            return LinForm::of_range(Interval::EMPTY, true);
        }
        let m = m - Rat::ONE;
        range = range.meet(&Interval::closed(-&m, m));
    }
    if let Some(c) = b.range.as_point() {
        let below = c.abs() - Rat::ONE;
        if a.range.leq(&Interval::closed(-&below, below)) {
            return a.clone();
        }
    }
    LinForm::of_range(range, true)
}

/// The powers of two for a range of shift amounts, when all are allowed and not absurd.
fn powers(b: &Interval) -> Option<(u32, u32)> {
    let (lo, hi) = b.int_ends()?;
    let amount = |v: &Int| v.to_i64().and_then(|v| u32::try_from(v).ok()).filter(|v| *v <= MAX_SHIFT);
    Some((amount(&lo)?, amount(&hi)?))
}

fn shift_left(a: &LinForm, b: &LinForm) -> LinForm {
    let Some((lo, hi)) = powers(&b.range) else { return LinForm::of_range(Interval::TOP, true) };
    if lo == hi {
        return a.scale(&Rat::from(Int::pow2(lo)));
    }
    LinForm::of_range(a.range.mul(&Interval::closed(Int::pow2(lo), Int::pow2(hi))), true)
}

fn shift_right(a: &LinForm, b: &LinForm) -> LinForm {
    let Some((lo, hi)) = powers(&b.range) else { return LinForm::of_range(Interval::TOP, true) };
    let (small, large) = (Rat::from(Int::pow2(hi)).recip(), Rat::from(Int::pow2(lo)).recip());
    let floor = |e: &Option<End>| e.as_ref().map(|e| End::closed(e.value.floor()));
    let real = a.range.mul(&Interval::closed(small, large.clone()));
    let range = Interval { lo: floor(&real.lo), hi: floor(&real.hi) };
    if lo != hi {
        return LinForm::of_range(range, true);
    }
    let mut out = a.scale(&large).with_noise(&Interval::closed(large - Rat::ONE, Rat::ZERO));
    out.integral = true;
    out.range = out.range.meet(&range).tighten_int();
    out
}

/// `k` when the value is `2^k - 1`.
fn mask_bits(i: &Interval) -> Option<u32> {
    let v = i.as_point()?.to_int()?;
    let n = v.bit_len();
    (!v.is_negative() && Int::pow2(n) == v + Int::ONE).then_some(n)
}

/// The least `n` with `-2^n ≤ i < 2^n`.
fn magnitude_bits(i: &Interval) -> Option<u32> {
    let (lo, hi) = i.int_ends()?;
    let bits = |v: &Int| if v.is_negative() { (v + Int::ONE).bit_len() } else { v.bit_len() };
    Some(bits(&lo).max(bits(&hi)))
}

fn is_natural(i: &Interval) -> bool {
    i.lo.as_ref().is_some_and(|l| !l.value.is_negative())
}

fn bit_and(a: &LinForm, b: &LinForm) -> LinForm {
    for (x, mask) in [(a, b), (b, a)] {
        if let Some(n) = mask_bits(&mask.range) {
            return wrap(x, MachineInt::unsigned(n));
        }
    }
    let cut = |i: &Interval| Interval { lo: Some(End::closed(0)), hi: i.hi.clone() };
    let range = match (is_natural(&a.range), is_natural(&b.range)) {
        (true, true) => cut(&a.range).meet(&cut(&b.range)),
        (true, false) => cut(&a.range),
        (false, true) => cut(&b.range),
        (false, false) => signed_bits(a, b),
    };
    LinForm::of_range(range, true)
}

fn bit_or_xor(op: BinOp, a: &LinForm, b: &LinForm) -> LinForm {
    let mut range = signed_bits(a, b);
    if is_natural(&a.range) && is_natural(&b.range) {
        range.lo = Some(End::closed(0));
        if op == BinOp::Or {
            let least = |i: &Interval| Interval { lo: i.lo.clone(), hi: None };
            range = range.meet(&least(&a.range)).meet(&least(&b.range));
        }
    }
    LinForm::of_range(range, true)
}

/// All numbers of as many bits as the operands have.
fn signed_bits(a: &LinForm, b: &LinForm) -> Interval {
    match (magnitude_bits(&a.range), magnitude_bits(&b.range)) {
        (Some(m), Some(n)) => {
            let limit = Int::pow2(m.max(n));
            Interval::closed(-&limit, limit - Int::ONE)
        }
        _ => Interval::TOP,
    }
}

/// The linear form of a tree's root in the given state.
pub fn linearize<D: NumericDomain>(dom: &D, tree: &Tree) -> LinForm {
    match tree.root() {
        Some(root) => Forms::new(tree).get(dom, root),
        None => LinForm::exact(LinExpr::constant(0), true),
    }
}

/// How many nested case splits one operation makes before it gives up precision.
const MAX_SPLITS: u32 = 4;

/// `d := tree` for any domain.
pub(crate) fn assign_tree<D: NumericDomain>(dom: &mut D, d: Dim, tree: &Tree) {
    match tree.root() {
        Some(root) => assign_node(dom, d, tree, root, MAX_SPLITS),
        None => dom.assign(d, &LinExpr::constant(0)),
    }
}

fn assign_node<D: NumericDomain>(dom: &mut D, d: Dim, tree: &Tree, id: NodeId, splits: u32) {
    if dom.is_bottom() {
        return;
    }
    match tree.node(id) {
        Node::Wrap(ty, a) if splits > 0 && d.is_int() => {
            let (ty, a) = (*ty, *a);
            assign_node(dom, d, tree, a, splits - 1);
            dom.wrap(d, ty);
        }
        Node::Ite(c, a, b) if splits > 0 => {
            let mut other = dom.clone();
            assume_node(dom, tree, *c, true, splits - 1);
            assign_node(dom, d, tree, *a, splits - 1);
            assume_node(&mut other, tree, *c, false, splits - 1);
            assign_node(&mut other, d, tree, *b, splits - 1);
            dom.join_with(&other);
        }
        Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::IsZero(_) if splits > 0 => {
            let mut other = dom.clone();
            assume_node(dom, tree, id, true, splits - 1);
            dom.assign(d, &LinExpr::constant(1));
            assume_node(&mut other, tree, id, false, splits - 1);
            other.assign(d, &LinExpr::constant(0));
            dom.join_with(&other);
        }
        _ => {
            let form = Forms::new(tree).get(dom, id);
            assign_form(dom, d, &form);
        }
    }
}

/// `d := form`.
fn assign_form<D: NumericDomain>(dom: &mut D, d: Dim, form: &LinForm) {
    if form.range.is_empty() {
        return dom.assume(&LinCons::contradiction());
    }
    if let Some(k) = form.noise.as_point() {
        return dom.assign(d, &form.expr.add_constant(k));
    }
    if form.expr.is_constant() {
        return dom.assign_interval(d, &form.range);
    }
    // A fresh dimension takes the value, related to the old state, and then becomes `d`.
    let fresh = d.fresh();
    for c in form.noise.constraints_on(&(&LinExpr::dim(fresh) - &form.expr)) {
        dom.assume(&c);
    }
    for c in form.range.constraints_on(&LinExpr::dim(fresh)) {
        dom.assume(&c);
    }
    dom.rename(&[(fresh, d)]);
}

/// Keeps the states where the tree is (not) zero, for any domain.
pub(crate) fn assume_tree<D: NumericDomain>(dom: &mut D, tree: &Tree, truth: bool) {
    match tree.root() {
        Some(root) => assume_node(dom, tree, root, truth, MAX_SPLITS),
        None if truth => dom.assume(&LinCons::contradiction()),
        None => {}
    }
}

/// Is the node 0 or 1 by construction?
fn is_boolean(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(id), Node::Cmp(..) | Node::All(..) | Node::Any(..) | Node::IsZero(_))
}

fn is_zero_const(tree: &Tree, id: NodeId) -> bool {
    matches!(tree.node(id), Node::Const(c) if c.is_zero())
}

fn assume_node<D: NumericDomain>(dom: &mut D, tree: &Tree, id: NodeId, truth: bool, splits: u32) {
    let mut forms = Forms::new(tree);
    // Conjuncts still to assume; disjunctions split the state, conjunctions do not.
    let mut work = vec![(id, truth)];
    while let Some((id, truth)) = work.pop() {
        if dom.is_bottom() {
            return;
        }
        match tree.node(id) {
            Node::IsZero(a) => work.push((*a, !truth)),
            Node::All(a, b) if truth => work.extend([(*b, true), (*a, true)]),
            Node::Any(a, b) if !truth => work.extend([(*b, false), (*a, false)]),
            Node::All(a, b) | Node::Any(a, b) => {
                if splits > 0 {
                    let mut other = dom.clone();
                    assume_node(dom, tree, *a, truth, splits - 1);
                    assume_node(&mut other, tree, *b, truth, splits - 1);
                    dom.join_with(&other);
                }
            }
            Node::Ite(c, a, b) => {
                if splits > 0 {
                    let mut other = dom.clone();
                    assume_node(dom, tree, *c, true, splits - 1);
                    assume_node(dom, tree, *a, truth, splits - 1);
                    assume_node(&mut other, tree, *c, false, splits - 1);
                    assume_node(&mut other, tree, *b, truth, splits - 1);
                    dom.join_with(&other);
                }
            }
            Node::Wrap(ty, a) if ty.width > u32::from(ty.signed) && is_boolean(tree, *a) => {
                work.push((*a, truth))
            }
            Node::Cmp(op @ (CmpOp::Eq | CmpOp::Ne), a, b)
                if is_zero_const(tree, *b) && !is_numeric(tree, *a) =>
            {
                work.push((*a, truth == (*op == CmpOp::Ne)));
            }
            Node::Cmp(op, a, b) => {
                let above = (splits > 0)
                    .then(|| boundary(&mut forms, dom, *a).or_else(|| boundary(&mut forms, dom, *b)));
                if let Some(Some(above)) = above {
                    let mut other = dom.clone();
                    other.assume(&LinCons { expr: -&above, rel: Rel::Le });
                    assume_node(&mut other, tree, id, truth, splits - 1);
                    dom.assume(&LinCons { expr: above, rel: Rel::Lt });
                    assume_node(dom, tree, id, truth, splits - 1);
                    dom.join_with(&other);
                    continue;
                }
                let (fa, fb) = (forms.get(dom, *a), forms.get(dom, *b));
                let (op, fa, fb) = match (truth, op) {
                    (true, op) => (*op, fa, fb),
                    (false, CmpOp::Eq) => (CmpOp::Ne, fa, fb),
                    (false, CmpOp::Ne) => (CmpOp::Eq, fa, fb),
                    (false, CmpOp::Lt) => (CmpOp::Le, fb, fa),
                    (false, CmpOp::Le) => (CmpOp::Lt, fb, fa),
                };
                assume_cmp(dom, op, &fa, &fb);
            }
            _ => {
                let form = forms.get(dom, id);
                let zero = LinForm::exact(LinExpr::constant(0), true);
                assume_cmp(dom, if truth { CmpOp::Ne } else { CmpOp::Eq }, &form, &zero);
            }
        }
    }
}

/// Where a value that is wrapped into a machine type lies in two periods of the type: how far it is
/// above the start of the upper one. In each period alone the wrapped value is linear, so that a
/// comparison tells all it can: `(unsigned)x < n` with a small `n` means that `x` is not negative.
fn boundary<D: NumericDomain>(forms: &mut Forms<'_>, dom: &D, id: NodeId) -> Option<LinExpr> {
    let &Node::Wrap(ty, a) = forms.tree.node(id) else { return None };
    let form = forms.get(dom, a);
    let k = form.noise.as_point().filter(|_| form.integral && !form.expr.is_constant())?;
    let (lo, hi) = form.range.int_ends()?;
    let next = ty.period(&lo) + Int::ONE;
    if ty.period(&hi) != next {
        return None;
    }
    let first = Rat::from(ty.min() + next.shl(ty.width));
    Some(form.expr.add_constant(&(k - &first)))
}

/// Is a comparison of this node with zero best left to the comparison itself?
fn is_numeric(tree: &Tree, id: NodeId) -> bool {
    match tree.node(id) {
        Node::Wrap(_, a) => !is_boolean(tree, *a),
        _ => !is_boolean(tree, id),
    }
}

/// Keeps the states where `a op b`, as far as the forms tell.
fn assume_cmp<D: NumericDomain>(dom: &mut D, op: CmpOp, a: &LinForm, b: &LinForm) {
    if a.range.is_empty() || b.range.is_empty() || decide(op, &a.range, &b.range) == Some(false) {
        return dom.assume(&LinCons::contradiction());
    }
    let expr = &a.expr - &b.expr;
    let noise = a.noise.sub(&b.noise);
    if let Some(k) = noise.as_point() {
        let rel = match op {
            CmpOp::Eq => Rel::Eq,
            CmpOp::Ne => Rel::Ne,
            CmpOp::Lt => Rel::Lt,
            CmpOp::Le => Rel::Le,
        };
        return dom.assume(&LinCons { expr: expr.add_constant(k), rel });
    }
    // Some n in the noise makes `expr + n op 0` true, so the best end does.
    let strict = |e: &End| if e.strict || op == CmpOp::Lt { Rel::Lt } else { Rel::Le };
    if let (CmpOp::Eq | CmpOp::Lt | CmpOp::Le, Some(lo)) = (op, &noise.lo) {
        dom.assume(&LinCons { expr: expr.add_constant(&lo.value), rel: strict(lo) });
    }
    if let (CmpOp::Eq, Some(hi)) = (op, &noise.hi) {
        dom.assume(&LinCons { expr: -&expr.add_constant(&hi.value), rel: strict(hi) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Intervals, Lattice, Limits, Octagons, Polyhedra};

    fn var(i: u32) -> Dim {
        Dim::int(i)
    }

    /// The element with `x0` in a range.
    fn within<D: NumericDomain>(ctx: &D::Ctx, lo: i64, hi: i64) -> D {
        let mut a = D::top(ctx);
        a.assign_interval(var(0), &Interval::closed(lo, hi));
        a
    }

    /// `x0 op k`.
    fn tree(op: BinOp, k: i64) -> Tree {
        let mut t = Tree::new();
        let (x, k) = (t.dim(var(0)), t.int(k));
        t.bin(op, x, k);
        t
    }

    #[test]
    fn a_cast_that_fits_keeps_the_relation() {
        let mut t = tree(BinOp::Add, 1);
        let root = t.root().unwrap();
        t.wrap(MachineInt::unsigned(8), root);
        let mut a: Octagons = within(&Limits::STANDARD, 0, 10);
        a.assign_tree(var(1), &t);
        assert_eq!(a.bounds(&(&LinExpr::dim(var(1)) - &LinExpr::dim(var(0)))), Interval::point(1));
        // One period further the shift is exact too.
        let mut a: Octagons = within(&Limits::STANDARD, 300, 310);
        a.assign_tree(var(1), &t);
        assert_eq!(a.bounds_of(var(1)), Interval::closed(45, 55));
    }

    #[test]
    fn a_comparison_of_a_cast_is_made_in_each_period() {
        // (u8)x0 <= x1 with -1 <= x0 and x1 <= 10: x0 is not negative, and not above x1.
        let mut t = Tree::new();
        let (x, y) = (t.dim(var(0)), t.dim(var(1)));
        let cast = t.wrap(MachineInt::unsigned(8), x);
        t.cmp(CmpOp::Le, cast, y);
        let mut a: Octagons = within(&Limits::STANDARD, -1, 100);
        a.assign_interval(var(1), &Interval::closed(0, 10));
        let mut above = a.clone();
        a.assume_tree(&t, true);
        assert_eq!(a.bounds_of(var(0)), Interval::closed(0, 10));
        assert!(a.entails(&LinCons::le(var(0), var(1))));
        // Otherwise x0 is -1, or above x1.
        above.assume_tree(&t, false);
        assert_eq!(above.bounds_of(var(0)), Interval::closed(-1, 100));
        // Three periods are too many to tell apart.
        let mut far: Intervals = within(&(), -300, 300);
        far.assign_interval(var(1), &Interval::closed(0, 10));
        far.assume_tree(&t, true);
        assert_eq!(far.bounds_of(var(0)), Interval::closed(-300, 300));
    }

    #[test]
    fn division_by_a_constant_is_linear_up_to_rounding() {
        let mut a: Polyhedra = within(&Limits::STANDARD, 0, 100);
        a.assign_tree(var(1), &tree(BinOp::Div, 4));
        assert_eq!(a.bounds_of(var(1)), Interval::closed(0, 25));
        let slack = LinExpr::new([(var(0), Rat::from(1)), (var(1), Rat::from(-4))], 0);
        assert_eq!(a.bounds(&slack), Interval::closed(0, 3));
        let mut a: Polyhedra = within(&Limits::STANDARD, -9, -1);
        a.assign_tree(var(1), &tree(BinOp::Shr, 2));
        assert_eq!(a.bounds_of(var(1)), Interval::closed(-3, -1));
    }

    #[test]
    fn masks_are_casts() {
        let mut a: Intervals = within(&(), 0, 100);
        a.assign_tree(var(1), &tree(BinOp::And, 7));
        assert_eq!(a.bounds_of(var(1)), Interval::closed(0, 7));
        let mut a: Octagons = within(&Limits::STANDARD, 0, 5);
        a.assign_tree(var(1), &tree(BinOp::And, 7));
        assert!(a.entails(&LinCons::eq(var(0), var(1))));
    }

    #[test]
    fn conditions_split_the_state() {
        // x1 = x0 < 0 ? -x0 : x0
        let mut t = Tree::new();
        let (x, zero) = (t.dim(var(0)), t.int(0));
        let negative = t.cmp(CmpOp::Lt, x, zero);
        let flipped = t.push(Node::Neg(x));
        t.push(Node::Ite(negative, flipped, x));
        let mut a: Octagons = within(&Limits::STANDARD, -5, 3);
        a.assign_tree(var(1), &t);
        assert_eq!(a.bounds_of(var(1)), Interval::closed(0, 5));
        assert!(a.entails(&LinCons::le(var(0), var(1))));
        // !(x0 < 0 || x0 > 2), as C lowers it: comparisons of comparisons with zero.
        let mut t = Tree::new();
        let (x, zero, two) = (t.dim(var(0)), t.int(0), t.int(2));
        let (low, high) = (t.cmp(CmpOp::Lt, x, zero), t.cmp(CmpOp::Lt, two, x));
        let either = t.push(Node::Any(low, high));
        t.cmp(CmpOp::Eq, either, zero);
        let mut a: Intervals = within(&(), -5, 30);
        a.assume_tree(&t, true);
        assert_eq!(a.bounds_of(var(0)), Interval::closed(0, 2));
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut t = Tree::new();
        let (x, one) = (t.dim(var(0)), t.int(1));
        let mut sum = x;
        for _ in 0..100_000 {
            sum = t.bin(BinOp::Add, sum, one);
        }
        let mut a: Intervals = within(&(), 0, 1);
        a.assign_tree(var(1), &t);
        assert_eq!(a.bounds_of(var(1)), Interval::closed(100_000, 100_001));
        // Alternating conditions, too.
        let mut c = t.cmp(CmpOp::Lt, x, one);
        for _ in 0..10_000 {
            let other = t.cmp(CmpOp::Le, x, one);
            let both = t.push(Node::All(c, other));
            c = t.push(Node::IsZero(both));
        }
        a.assume_tree(&t, true);
        assert!(!a.is_bottom());
    }
}
