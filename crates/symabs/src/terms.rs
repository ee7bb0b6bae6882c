//! Between the solver's terms and the numeric domains, in both directions.
//!
//! A [`Vocabulary`] says which bit-vector or Boolean variable is which dimension and how its bits are
//! read as an integer. With it
//!
//! * [`Vocabulary::constraint`] and [`Vocabulary::disjunction`] are γ̂, the symbolic concretisation of
//!   section 6: what a constraint or an element says, as a term with the same meaning;
//! * [`Vocabulary::tree`] reads a term as an expression over dimensions, with a wrap wherever machine
//!   arithmetic may leave the range; [`NumericDomain::assume_tree`] then is a μα̃ for any domain;
//! * [`Vocabulary::state`] is β: a model as a concrete state.
//!
//! [`NumericDomain::assume_tree`]: palisade_domains::NumericDomain::assume_tree

use palisade_domains::{BinOp, CmpOp, Dim, Interval, LinCons, LinExpr, MachineInt, Node, NodeId, Rel, Tree};
use palisade_logic::{BitVec, Op, Sort, Term, Terms, Value};
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

/// A variable of a formula that a domain knows as a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The dimension; it is integral.
    pub dim: Dim,
    /// A variable: a bit-vector of the type's width, or a Boolean (which counts as one unsigned bit).
    pub term: Term,
    /// How the bits are read as an integer.
    pub ty: MachineInt,
}

/// Which variables are which dimensions.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    entries: Vec<Entry>,
    by_term: FxHashMap<Term, usize>,
    by_dim: FxHashMap<Dim, usize>,
}

impl Vocabulary {
    /// No variables yet.
    pub fn new() -> Vocabulary {
        Vocabulary::default()
    }

    /// Makes a variable a dimension. An entry for the same variable or dimension is replaced.
    ///
    /// # Panics
    /// When the dimension is not integral, or the term has another width than the type.
    pub fn insert(&mut self, terms: &Terms, dim: Dim, term: Term, ty: MachineInt) {
        let width = match terms.sort(term) {
            Sort::Bool => 1,
            sort => sort.width().unwrap_or(0),
        };
        assert!(dim.is_int() && width == ty.width, "an entry is a variable and a dimension for its bits");
        assert!(width > 1 || !terms.is_bool(term) || !ty.signed, "a truth value is 0 or 1");
        let at = self.entries.len();
        self.entries.push(Entry { dim, term, ty });
        self.by_term.insert(term, at);
        self.by_dim.insert(dim, at);
    }

    /// Makes a variable the next dimension that is not in use.
    pub fn add(&mut self, terms: &Terms, term: Term, signed: bool) -> Dim {
        let next = self.entries.iter().map(|e| e.dim.index() + 1).max().unwrap_or(0);
        let width = terms.sort(term).width().unwrap_or(1);
        self.insert(terms, Dim::int(next), term, MachineInt { width, signed });
        Dim::int(next)
    }

    /// The entries in the order in which they were made.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry of a variable.
    pub fn of_term(&self, term: Term) -> Option<&Entry> {
        self.by_term.get(&term).map(|i| &self.entries[*i])
    }

    /// The entry of a dimension.
    pub fn of_dim(&self, dim: Dim) -> Option<&Entry> {
        self.by_dim.get(&dim).map(|i| &self.entries[*i])
    }

    /// What the types of the variables say about the dimensions.
    pub fn ranges(&self) -> impl Iterator<Item = LinCons> + '_ {
        self.entries.iter().flat_map(|e| e.ty.range().constraints_on(&LinExpr::dim(e.dim)))
    }

    /// The value of a dimension's variable, as the domains see it.
    pub fn number(ty: MachineInt, value: &Value) -> Int {
        match value {
            Value::Bool(b) => Int::from(i64::from(*b)),
            Value::BitVec(v) => of_bits(v, ty.signed),
            Value::Array(_) => Int::ZERO,
        }
    }

    /// β: the state of a model, whose values `value` tells.
    pub fn state(&self, mut value: impl FnMut(Term) -> Option<Value>) -> Vec<(Dim, Int)> {
        let number = |e: &Entry| Some((e.dim, Self::number(e.ty, &value(e.term)?)));
        self.entries.iter().filter_map(number).collect()
    }

    // ---- γ̂ ----

    /// A linear constraint as a term over the variables: true exactly in the states that satisfy it.
    /// `None` when it mentions a dimension that is no entry.
    pub fn constraint(&self, terms: &mut Terms, c: &LinCons) -> Option<Term> {
        if let Some(truth) = c.truth() {
            return Some(terms.bool_const(truth));
        }
        let scale =
            c.expr.terms().iter().fold(c.expr.constant_term().denom().clone(), |q, t| q.lcm(t.1.denom()));
        let expr = c.expr.scale(&Rat::from(&scale));
        let mut operands = Vec::new();
        for (d, k) in expr.terms() {
            operands.push((*self.of_dim(*d)?, k.to_int()?.clone()));
        }
        let constant = expr.constant_term().to_int()?.clone();
        // In this many bits no sum wraps: a bit for the sign, one for each doubling.
        let size = |e: &Entry| Int::pow2(e.ty.width);
        let largest = operands.iter().fold(constant.abs(), |sum, (e, k)| sum + k.abs() * size(e));
        let exact = largest.bit_len() + 2;
        if let Rel::Mod(m) = &c.rel {
            return Some(congruence(terms, &operands, &constant, &(m * &scale), exact));
        }
        let sum = sum(terms, &operands, &constant, exact);
        let zero = terms.bv_const(&BitVec::zero(exact));
        Some(match c.rel {
            Rel::Le => terms.sle(sum, zero),
            Rel::Lt => terms.slt(sum, zero),
            Rel::Eq => terms.eq(sum, zero),
            Rel::Ne | Rel::Mod(_) => terms.ne(sum, zero),
        })
    }

    /// A disjunction of conjunctions, as the domains give their elements, as a term. Conjuncts that
    /// mention other dimensions are left out: the term is implied by the element.
    pub fn disjunction(&self, terms: &mut Terms, disjuncts: &[Vec<LinCons>]) -> Term {
        let mut any = terms.fls();
        for conjunction in disjuncts {
            let parts: Vec<Term> = conjunction.iter().filter_map(|c| self.constraint(terms, c)).collect();
            let all = terms.and_all(parts);
            any = terms.or(any, all);
        }
        any
    }

    /// The same where nothing has to be left out.
    pub fn exactly(&self, terms: &mut Terms, disjuncts: &[Vec<LinCons>]) -> Option<Term> {
        let all = disjuncts.iter().flatten().flat_map(|c| c.expr.dims()).all(|d| self.of_dim(d).is_some());
        all.then(|| self.disjunction(terms, disjuncts))
    }

    // ---- terms as trees ----

    /// Whether a term is better read as a signed number, by the variables at its heart.
    pub fn is_signed(&self, terms: &Terms, t: Term) -> bool {
        let mut at = t;
        loop {
            match terms.op(at) {
                Op::Var => return self.of_term(at).is_some_and(|e| e.ty.signed),
                Op::SignExtend => return true,
                Op::Add | Op::Neg | Op::Mul | Op::Not | Op::Xor | Op::And => {
                    let args = terms.args(at);
                    at = *args.iter().find(|a| !terms.is_const(**a)).unwrap_or(&args[0]);
                }
                Op::Ite => {
                    let [_, a, b] = *terms.args(at) else { return false };
                    at = if terms.is_const(a) { b } else { a };
                }
                _ => return false,
            }
        }
    }

    /// A term as an expression over dimensions, and the dimensions it reads. In each state the tree may
    /// take the value of the term, read as the given type of its width (a truth value is 0 or 1);
    /// where a part has no counterpart (an array, a function, a variable that is no entry, a quotient by
    /// a variable) the tree may also take other values.
    pub fn tree(&self, terms: &Terms, root: Term, signed: bool) -> (Tree, Vec<Dim>) {
        let mut reader = Reader { voc: self, terms, tree: Tree::new(), memo: FxHashMap::default() };
        let wanted = (root, signed && !terms.is_bool(root));
        let mut stack = vec![wanted];
        // No recursion: terms may be deep.
        while let Some(&at) = stack.last() {
            if reader.memo.contains_key(&at) {
                stack.pop();
                continue;
            }
            let missing: Vec<(Term, bool)> =
                reader.operands(at).into_iter().filter(|o| !reader.memo.contains_key(o)).collect();
            if missing.is_empty() {
                let node = reader.node(at);
                reader.memo.insert(at, node);
            } else {
                stack.extend(missing);
            }
        }
        let last = reader.memo[&wanted];
        let mut dims: Vec<Dim> = Vec::new();
        dims.extend(reader.tree.nodes().iter().filter_map(|n| match n {
            Node::Dim(d) => Some(*d),
            _ => None,
        }));
        dims.sort_unstable();
        dims.dedup();
        let mut tree = reader.tree;
        if tree.root() != Some(last) {
            // The root is the last node: a difference that changes nothing.
            let zero = tree.int(0);
            tree.bin(BinOp::Sub, last, zero);
        }
        (tree, dims)
    }
}

/// A bit-vector as an integer.
pub fn of_bits(v: &BitVec, signed: bool) -> Int {
    let mut n = Int::ZERO;
    for (i, word) in (0u32..).zip(v.words()) {
        n += Int::from(*word).shl(64 * i);
    }
    n.wrap(v.width(), signed)
}

/// The bits of an integer modulo `2^width`.
pub fn to_bits(n: &Int, width: u32) -> BitVec {
    let mut rest = n.mod_pow2(width);
    let mut words = Vec::new();
    for _ in 0..width.div_ceil(64) {
        let word = rest.mod_pow2(64).to_i128().and_then(|w| u64::try_from(w).ok());
        // Reduced modulo 2^64, so it fits.
        words.push(word.unwrap_or(0));
        rest = rest.shr(64);
    }
    BitVec::from_words(width, &words)
}

/// `Σ kᵢ·xᵢ + c` in words of `width` bits.
fn sum(terms: &mut Terms, operands: &[(Entry, Int)], constant: &Int, width: u32) -> Term {
    let mut total = terms.bv_const(&to_bits(constant, width));
    for (e, k) in operands {
        let value = if terms.is_bool(e.term) { terms.bool_to_bv(e.term) } else { e.term };
        let wide = match (width.checked_sub(e.ty.width), e.ty.signed) {
            (None, _) => terms.extract(value, width - 1, 0),
            (Some(by), true) => terms.sign_extend(value, by),
            (Some(by), false) => terms.zero_extend(value, by),
        };
        let factor = terms.bv_const(&to_bits(k, width));
        let product = terms.mul(factor, wide);
        total = terms.add(total, product);
    }
    total
}

/// `Σ kᵢ·xᵢ + c ≡ 0 (mod m)`.
fn congruence(terms: &mut Terms, operands: &[(Entry, Int)], constant: &Int, m: &Int, exact: u32) -> Term {
    let m = m.abs();
    let power = m.trailing_zeros().filter(|n| Int::pow2(*n) == m);
    match power {
        Some(0) => terms.tru(),
        // Machine arithmetic; a common factor 2^t leaves a relation modulo 2^(n-t).
        Some(n) => {
            let common =
                operands.iter().map(|o| &o.1).chain([constant]).filter_map(Int::trailing_zeros).min();
            let t = common.unwrap_or(n);
            if t >= n {
                return terms.tru();
            }
            let shifted: Vec<(Entry, Int)> = operands.iter().map(|(e, k)| (*e, k.shr(t))).collect();
            let sum = sum(terms, &shifted, &constant.shr(t), n - t);
            let zero = terms.bv_const(&BitVec::zero(n - t));
            terms.eq(sum, zero)
        }
        None => {
            // Positive summands, so that the unsigned remainder is the mathematical one.
            let reduced: Vec<(Entry, Int)> = operands.iter().map(|(e, k)| (*e, k.modulo(&m))).collect();
            let low = reduced.iter().fold(constant.modulo(&m), |sum, (e, k)| sum + k * e.ty.min());
            let shift = if low.is_negative() { m.clone() * (-low).div_ceil(&m) } else { Int::ZERO };
            let bits = exact + m.bit_len() + shift.bit_len() + 1;
            let sum = sum(terms, &reduced, &(constant.modulo(&m) + shift), bits);
            let divisor = terms.bv_const(&to_bits(&m, bits));
            let rest = terms.urem(sum, divisor);
            let zero = terms.bv_const(&BitVec::zero(bits));
            terms.eq(rest, zero)
        }
    }
}

/// Reads terms as trees; a bit-vector can be asked for as a signed or as an unsigned number.
struct Reader<'a> {
    voc: &'a Vocabulary,
    terms: &'a Terms,
    tree: Tree,
    memo: FxHashMap<(Term, bool), NodeId>,
}

impl Reader<'_> {
    /// The reading in which two terms are compared for equality.
    fn common(&self, a: Term, b: Term) -> bool {
        let constant = |t| self.terms.is_const(t);
        self.voc.is_signed(self.terms, if constant(a) { b } else { a })
    }

    /// A divisor that is a constant other than zero.
    fn divisor(&self, t: Term) -> Option<Int> {
        self.terms.value_of(t).map(|v| of_bits(&v, false)).filter(|v| !v.is_zero())
    }

    /// The readings that a reading is made from.
    fn operands(&self, (t, signed): (Term, bool)) -> Vec<(Term, bool)> {
        let terms = self.terms;
        let args = terms.args(t);
        let boolean = terms.is_bool(t);
        match terms.op(t) {
            Op::Not | Op::And if boolean => args.iter().map(|a| (*a, false)).collect(),
            Op::Eq if terms.is_bool(args[0]) => vec![(args[0], false), (args[1], false)],
            Op::Eq if terms.sort(args[0]).is_array() => Vec::new(),
            Op::Eq => {
                let s = self.common(args[0], args[1]);
                vec![(args[0], s), (args[1], s)]
            }
            Op::Ult | Op::Umulo => vec![(args[0], false), (args[1], false)],
            Op::Slt | Op::Smulo => vec![(args[0], true), (args[1], true)],
            Op::Ite if terms.sort(t).is_array() => Vec::new(),
            Op::Ite if boolean => args.iter().map(|a| (*a, false)).collect(),
            Op::Ite => vec![(args[0], false), (args[1], signed), (args[2], signed)],
            Op::Not | Op::And | Op::Xor | Op::Neg | Op::Add | Op::Mul => {
                args.iter().map(|a| (*a, signed)).collect()
            }
            Op::Udiv | Op::Urem if self.divisor(args[1]).is_some() => vec![(args[0], false)],
            Op::Concat => vec![(args[0], signed), (args[1], false)],
            Op::Extract => {
                let top = terms.extract_bounds(t).is_some_and(|(high, _)| high + 1 == terms.width(args[0]));
                vec![(args[0], if top { signed } else { self.voc.is_signed(terms, args[0]) })]
            }
            Op::SignExtend => vec![(args[0], true)],
            _ => Vec::new(),
        }
    }

    fn wrap(&mut self, a: NodeId, ty: MachineInt) -> NodeId {
        self.tree.wrap(ty, a)
    }

    /// The node of a reading whose operands are there.
    fn node(&mut self, at: (Term, bool)) -> NodeId {
        let (t, signed) = at;
        let terms = self.terms;
        let args = terms.args(t).to_vec();
        let of: Vec<NodeId> = self.operands(at).iter().map(|o| self.memo[o]).collect();
        if terms.is_bool(t) {
            return self.truth(t, &of);
        }
        let Some(width) = terms.sort(t).width() else { return self.unknown(MachineInt::unsigned(1)) };
        let ty = MachineInt { width, signed };
        match terms.op(t) {
            Op::Const => {
                let v = terms.value_of(t).map_or(Int::ZERO, |v| of_bits(&v, signed));
                self.tree.int(v)
            }
            Op::Var => match self.voc.of_term(t).copied() {
                Some(e) => {
                    let d = self.tree.dim(e.dim);
                    if e.ty == ty { d } else { self.wrap(d, ty) }
                }
                None => self.unknown(ty),
            },
            Op::Ite => self.tree.push(Node::Ite(of[0], of[1], of[2])),
            // The infinite two's complement of the readings is the reading of the result.
            Op::And => self.tree.bin(BinOp::And, of[0], of[1]),
            Op::Xor => self.tree.bin(BinOp::Xor, of[0], of[1]),
            Op::Not if signed => self.tree.push(Node::Not(of[0])),
            Op::Not => {
                let ones = self.tree.int(ty.max());
                self.tree.bin(BinOp::Sub, ones, of[0])
            }
            Op::Neg => {
                let n = self.tree.push(Node::Neg(of[0]));
                self.wrap(n, ty)
            }
            Op::Add | Op::Mul => {
                let op = if terms.op(t) == Op::Add { BinOp::Add } else { BinOp::Mul };
                let n = self.tree.bin(op, of[0], of[1]);
                self.wrap(n, ty)
            }
            Op::Udiv | Op::Urem => {
                let Some(d) = self.divisor(args[1]) else { return self.unknown(ty) };
                let d = self.tree.int(d);
                let op = if terms.op(t) == Op::Udiv { BinOp::Div } else { BinOp::Rem };
                let n = self.tree.bin(op, of[0], d);
                if signed { self.wrap(n, ty) } else { n }
            }
            Op::Concat => {
                let low = terms.width(args[1]);
                if terms.value_of(args[0]).is_some_and(|v| v.is_zero()) {
                    return of[1];
                }
                let factor = self.tree.int(Int::pow2(low));
                let high = self.tree.bin(BinOp::Mul, of[0], factor);
                self.tree.bin(BinOp::Add, high, of[1])
            }
            Op::Extract => {
                let (high, low) = terms.extract_bounds(t).unwrap_or((width - 1, 0));
                let mut n = of[0];
                if low > 0 {
                    let by = self.tree.int(i64::from(low));
                    n = self.tree.bin(BinOp::Shr, n, by);
                }
                if high + 1 == terms.width(args[0]) { n } else { self.wrap(n, ty) }
            }
            Op::SignExtend if signed => of[0],
            Op::SignExtend => self.wrap(of[0], ty),
            _ => self.unknown(ty),
        }
    }

    /// The node of a truth value: 0 or 1.
    fn truth(&mut self, t: Term, of: &[NodeId]) -> NodeId {
        let terms = self.terms;
        match terms.op(t) {
            Op::Const => self.tree.int(i64::from(terms.bool_value(t) == Some(true))),
            Op::Var => match self.voc.of_term(t) {
                Some(e) => self.tree.dim(e.dim),
                None => self.unknown(MachineInt::unsigned(1)),
            },
            Op::Not => self.tree.push(Node::IsZero(of[0])),
            Op::And => self.tree.push(Node::All(of[0], of[1])),
            Op::Eq if of.len() == 2 => self.tree.cmp(CmpOp::Eq, of[0], of[1]),
            Op::Ult | Op::Slt => self.tree.cmp(CmpOp::Lt, of[0], of[1]),
            Op::Umulo | Op::Smulo => {
                let ty =
                    MachineInt { width: terms.width(terms.args(t)[0]), signed: terms.op(t) == Op::Smulo };
                let product = self.tree.bin(BinOp::Mul, of[0], of[1]);
                let wrapped = self.wrap(product, ty);
                self.tree.cmp(CmpOp::Ne, product, wrapped)
            }
            Op::Ite => self.tree.push(Node::Ite(of[0], of[1], of[2])),
            _ => self.unknown(MachineInt::unsigned(1)),
        }
    }

    /// Any value of the type.
    fn unknown(&mut self, ty: MachineInt) -> NodeId {
        let range: Interval = ty.range();
        self.tree.push(Node::Range(range, true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rng, assignments, random_bits, small_vocabulary};

    /// At width 3: a tree has the value of its term in every state, in both readings.
    #[test]
    fn trees_mean_what_their_terms_mean() {
        let mut rng = Rng::new(3);
        for _ in 0..400 {
            let mut terms = Terms::new();
            let voc = small_vocabulary(&mut terms, 3);
            let t = random_bits(&mut terms, &voc, &mut rng, 3, 4);
            for signed in [false, true] {
                let (tree, _) = voc.tree(&terms, t, signed);
                let exact = !tree.nodes().iter().any(|n| matches!(n, Node::Range(..)));
                for model in assignments(&terms, &voc) {
                    let value = terms.evaluate(t, &model);
                    let ty = MachineInt { width: terms.width(t), signed };
                    let state = voc.state(|v| Some(terms.evaluate(v, &model)));
                    let at = |d: Dim| {
                        Rat::from(state.iter().find(|s| s.0 == d).map_or(Int::ZERO, |s| s.1.clone()))
                    };
                    let got = tree.eval(&at, &|i| i.lo.as_ref().map_or(Rat::ZERO, |e| e.value.clone()));
                    if exact {
                        assert_eq!(
                            got,
                            Some(Rat::from(Vocabulary::number(ty, &value))),
                            "{:?}",
                            tree.nodes()
                        );
                    }
                }
            }
        }
    }

    /// At width 3: γ̂ of a constraint is true exactly where the constraint holds.
    #[test]
    fn constraints_mean_what_their_terms_mean() {
        let mut rng = Rng::new(5);
        for round in 0..600 {
            let mut terms = Terms::new();
            let voc = small_vocabulary(&mut terms, 3);
            let mut number = || Rat::new(Int::from(rng.range(-9, 9)), Int::from(rng.range(1, 3)));
            let expr =
                LinExpr::new(voc.entries().iter().map(|e| (e.dim, number())).collect::<Vec<_>>(), number());
            let rel = match round % 7 {
                0 => Rel::Le,
                1 => Rel::Lt,
                2 => Rel::Eq,
                3 => Rel::Ne,
                4 => Rel::Mod(Int::from(8)),
                5 => Rel::Mod(Int::from(rng.range(1, 12))),
                _ => Rel::Mod(Int::from(2)),
            };
            let c = LinCons { expr, rel };
            let t = voc.constraint(&mut terms, &c).expect("all dimensions are entries");
            for model in assignments(&terms, &voc) {
                let state = voc.state(|v| Some(terms.evaluate(v, &model)));
                let at =
                    |d: Dim| Rat::from(state.iter().find(|s| s.0 == d).map_or(Int::ZERO, |s| s.1.clone()));
                assert_eq!(terms.evaluate(t, &model), Value::Bool(c.holds(&at)), "{c} in {state:?}");
            }
        }
    }

    #[test]
    fn bits_and_integers_correspond() {
        for n in [0i64, 1, -1, 5, -128, i64::MIN] {
            assert_eq!(of_bits(&to_bits(&Int::from(n), 70), true), Int::from(n));
        }
        assert_eq!(of_bits(&to_bits(&Int::from(-1), 70), false), Int::pow2(70) - Int::ONE);
    }
}
