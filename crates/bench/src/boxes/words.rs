//! Expressions over dimensions as terms of the solver. A mathematical integer becomes a signed word that is
//! wide enough for it, so that nothing is lost where arithmetic does not wrap.

use palisade_domains::{BinOp, CmpOp, Dim, Interval, MachineInt, Node, Tree};
use palisade_logic::{Sort, Term, Terms};
use palisade_num::Int;
use palisade_symabs::terms::to_bits;

/// Words that would have to be wider are not made.
const MAX_WIDTH: u32 = 1 << 10;

/// The value of a node.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    /// A signed word of some width.
    Word(Term),
    /// 1 or 0, as the Boolean term says.
    Truth(Term),
    /// Something that no word is wide enough for.
    Unknown,
}

/// Makes terms.
pub struct Words {
    /// The pool.
    pub terms: Terms,
    /// What is known about unknown values. It holds for some choice of them whatever the rest is.
    pub facts: Vec<Term>,
    /// Whether a value was taken for unknown that is not: what the terms say may be less than what is so.
    pub weakened: bool,
}

impl Words {
    /// No terms yet.
    pub fn new() -> Words {
        Words { terms: Terms::new(), facts: Vec::new(), weakened: false }
    }

    /// A number as a word, as short as possible.
    pub fn number(&mut self, n: &Int) -> Term {
        self.terms.bv_const(&to_bits(n, bits(n)))
    }

    /// Any integer of an interval.
    pub fn any(&mut self, range: &Interval) -> Value {
        let Some((lo, hi)) = range.int_ends() else { return Value::Unknown };
        let width = bits(&lo).max(bits(&hi));
        let signed = MachineInt::signed(width);
        let unsigned = MachineInt::unsigned((width - 1).max(1));
        if (&lo, &hi) == (&unsigned.min(), &unsigned.max()) {
            let bits = self.terms.fresh_var("any", Sort::BitVec(unsigned.width));
            return Value::Word(self.terms.zero_extend(bits, 1));
        }
        let word = self.terms.fresh_var("any", Sort::BitVec(width));
        if (&lo, &hi) != (&signed.min(), &signed.max()) {
            let within = self.within(word, &lo, &hi);
            self.facts.push(within);
        }
        Value::Word(word)
    }

    /// Whether a word lies between two numbers.
    pub fn within(&mut self, word: Term, lo: &Int, hi: &Int) -> Term {
        let (lo, hi) = (self.number(lo), self.number(hi));
        let (above, below) = (self.compare(CmpOp::Le, lo, word), self.compare(CmpOp::Le, word, hi));
        self.terms.and(above, below)
    }

    /// A word in more bits, or the low bits of it.
    fn resized(&mut self, word: Term, width: u32) -> Term {
        match width.checked_sub(self.terms.width(word)) {
            Some(more) => self.terms.sign_extend(word, more),
            None => self.terms.extract(word, width - 1, 0),
        }
    }

    /// Two words in the same number of bits, `more` than the wider one has.
    fn aligned(&mut self, a: Term, b: Term, more: u32) -> (Term, Term) {
        let width = self.terms.width(a).max(self.terms.width(b)) + more;
        (self.resized(a, width), self.resized(b, width))
    }

    /// The comparison of two words.
    pub fn compare(&mut self, op: CmpOp, a: Term, b: Term) -> Term {
        let (a, b) = self.aligned(a, b, 0);
        match op {
            CmpOp::Eq => self.terms.eq(a, b),
            CmpOp::Ne => self.terms.ne(a, b),
            CmpOp::Lt => self.terms.slt(a, b),
            CmpOp::Le => self.terms.sle(a, b),
        }
    }

    /// The first word where the condition holds, else the second.
    pub fn choice(&mut self, condition: Term, a: Term, b: Term) -> Term {
        let (a, b) = self.aligned(a, b, 0);
        self.terms.ite(condition, a, b)
    }

    /// The value as a word.
    pub fn word(&mut self, value: Value) -> Option<Term> {
        match value {
            Value::Word(word) => Some(word),
            Value::Truth(truth) => {
                let (one, zero) = (self.terms.bv(2, 1), self.terms.bv(2, 0));
                Some(self.terms.ite(truth, one, zero))
            }
            Value::Unknown => None,
        }
    }

    /// Whether the value is not zero.
    pub fn truth(&mut self, value: Value) -> Term {
        match value {
            Value::Word(word) => {
                let zero = self.number(&Int::ZERO);
                self.compare(CmpOp::Ne, word, zero)
            }
            Value::Truth(truth) => truth,
            Value::Unknown => {
                self.weakened = true;
                self.terms.fresh_var("any", Sort::Bool)
            }
        }
    }

    /// The value of a tree in a state, and whether it has one, as [`Tree::eval`] says.
    pub fn tree(&mut self, tree: &Tree, state: &dyn Fn(Dim) -> Term) -> (Value, Term) {
        let yes = self.terms.tru();
        let mut done: Vec<(Value, Term)> = Vec::with_capacity(tree.nodes().len());
        for node in tree.nodes() {
            let next = match *node {
                Node::Const(ref c) => {
                    (c.to_int().map_or(Value::Unknown, |n| Value::Word(self.number(n))), yes)
                }
                Node::Dim(d) => (Value::Word(state(d)), yes),
                Node::Range(ref range, true) => (self.any(range), yes),
                Node::Range(_, false) => (Value::Unknown, yes),
                Node::Neg(a) => {
                    let (a, defined) = done[a.index()];
                    let zero = Value::Word(self.number(&Int::ZERO));
                    (self.arithmetic(BinOp::Sub, zero, a), defined)
                }
                Node::Not(a) => {
                    let (a, defined) = done[a.index()];
                    let minus_one = Value::Word(self.number(&-Int::ONE));
                    (self.arithmetic(BinOp::Sub, minus_one, a), defined)
                }
                Node::Bin(op, a, b) => {
                    let ((a, first), (b, second)) = (done[a.index()], done[b.index()]);
                    let mut defined = self.terms.and(first, second);
                    if matches!(op, BinOp::Div | BinOp::Rem) {
                        let divides = self.truth(b);
                        defined = self.terms.and(defined, divides);
                    }
                    (self.arithmetic(op, a, b), defined)
                }
                Node::Wrap(ty, a) => {
                    let (value, defined) = done[a.index()];
                    let low = match *tree.node(a) {
                        Node::Bin(op, x, y) => {
                            self.low_bits(op, done[x.index()].0, done[y.index()].0, ty.width)
                        }
                        _ => None,
                    };
                    (self.wrapped(ty, low, value), defined)
                }
                Node::Cmp(op, a, b) => {
                    let ((a, first), (b, second)) = (done[a.index()], done[b.index()]);
                    let words = self.word(a).zip(self.word(b));
                    let value = match words {
                        Some((a, b)) => Value::Truth(self.compare(op, a, b)),
                        None => Value::Truth(self.truth(Value::Unknown)),
                    };
                    (value, self.terms.and(first, second))
                }
                Node::All(a, b) | Node::Any(a, b) => {
                    let ((a, first), (b, second)) = (done[a.index()], done[b.index()]);
                    let (a, b) = (self.truth(a), self.truth(b));
                    // Where the first operand decides, the second is not asked.
                    let (both, decides) = match node {
                        Node::All(..) => (self.terms.and(a, b), self.terms.not(a)),
                        _ => (self.terms.or(a, b), a),
                    };
                    let rest = self.terms.or(decides, second);
                    (Value::Truth(both), self.terms.and(first, rest))
                }
                Node::IsZero(a) => {
                    let (a, defined) = done[a.index()];
                    let truth = self.truth(a);
                    (Value::Truth(self.terms.not(truth)), defined)
                }
                Node::Ite(c, a, b) => {
                    let ((c, first), (a, then)) = (done[c.index()], done[a.index()]);
                    let (b, other) = done[b.index()];
                    let c = self.truth(c);
                    let value = match self.word(a).zip(self.word(b)) {
                        Some((a, b)) => Value::Word(self.choice(c, a, b)),
                        None => Value::Unknown,
                    };
                    let branch = self.terms.ite(c, then, other);
                    (value, self.terms.and(first, branch))
                }
            };
            done.push(next);
        }
        done.pop().unwrap_or((Value::Word(self.terms.bv(1, 0)), yes))
    }

    /// An operator on mathematical integers. Divisors are not zero.
    fn arithmetic(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let Some((a, b)) = self.word(a).zip(self.word(b)) else { return Value::Unknown };
        let (width_a, width_b) = (self.terms.width(a), self.terms.width(b));
        if width_a + width_b > MAX_WIDTH {
            return Value::Unknown;
        }
        let result = match op {
            BinOp::Add | BinOp::Sub | BinOp::Div => {
                let (a, b) = self.aligned(a, b, 1);
                match op {
                    BinOp::Add => self.terms.add(a, b),
                    BinOp::Sub => self.terms.sub(a, b),
                    _ => self.terms.sdiv(a, b),
                }
            }
            BinOp::Mul => {
                let (a, b) = (self.resized(a, width_a + width_b), self.resized(b, width_a + width_b));
                self.terms.mul(a, b)
            }
            BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor => {
                let (a, b) = self.aligned(a, b, 0);
                match op {
                    BinOp::Rem => self.terms.srem(a, b),
                    BinOp::And => self.terms.and(a, b),
                    BinOp::Or => self.terms.or(a, b),
                    _ => self.terms.bvxor(a, b),
                }
            }
            BinOp::Shl | BinOp::Shr => {
                let amount = self.terms.value_of(b).and_then(|b| u32::try_from(b.to_i128()?).ok());
                let Some(amount) = amount.filter(|by| width_a + by <= MAX_WIDTH) else {
                    return Value::Unknown;
                };
                let width = width_a + if op == BinOp::Shl { amount } else { 0 };
                let a = self.resized(a, width);
                let by = self.terms.bv(width, u64::from(amount.min(width)));
                if op == BinOp::Shl { self.terms.shl(a, by) } else { self.terms.ashr(a, by) }
            }
        };
        Value::Word(result)
    }

    /// The low bits of a result, where they take less than the whole. A shift by a negative amount may give
    /// anything.
    fn low_bits(&mut self, op: BinOp, a: Value, b: Value, width: u32) -> Option<Term> {
        let (a, b) = self.word(a).zip(self.word(b))?;
        Some(match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let (a, b) = (self.resized(a, width), self.resized(b, width));
                match op {
                    BinOp::Add => self.terms.add(a, b),
                    BinOp::Sub => self.terms.sub(a, b),
                    _ => self.terms.mul(a, b),
                }
            }
            BinOp::Shl | BinOp::Shr => {
                let zero = self.number(&Int::ZERO);
                let negative = self.compare(CmpOp::Lt, b, zero);
                // In so many bits the amount is itself, and one as large as that moves everything out.
                let wide = width.max(self.terms.width(a)).max(self.terms.width(b));
                let (a, b) = (self.resized(a, wide), self.resized(b, wide));
                let moved = if op == BinOp::Shl { self.terms.shl(a, b) } else { self.terms.ashr(a, b) };
                let moved = self.resized(moved, width);
                let anything = self.terms.fresh_var("any", Sort::BitVec(width));
                self.terms.ite(negative, anything, moved)
            }
            BinOp::Div | BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor => return None,
        })
    }

    /// The value that a type gives to a number, of which the low bits may be known already.
    fn wrapped(&mut self, ty: MachineInt, low: Option<Term>, value: Value) -> Value {
        let low = match (low, self.word(value)) {
            (Some(low), _) => low,
            (None, Some(word)) => self.resized(word, ty.width),
            (None, None) => {
                self.weakened = true;
                return self.any(&ty.range());
            }
        };
        Value::Word(if ty.signed { low } else { self.terms.zero_extend(low, 1) })
    }
}

/// The bits of the shortest signed word that holds a number.
fn bits(n: &Int) -> u32 {
    if n.is_negative() { (-n - Int::ONE).bit_len() + 1 } else { n.bit_len() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_domains::laws::Rng;
    use palisade_domains::{NodeId, eval_bin};
    use palisade_num::Rat;
    use palisade_symabs::terms::of_bits;

    const OPERATORS: [BinOp; 10] = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Div,
        BinOp::Rem,
        BinOp::And,
        BinOp::Or,
        BinOp::Xor,
        BinOp::Shl,
        BinOp::Shr,
    ];

    /// A tree of some nodes over three dimensions.
    fn tree(rng: &mut Rng) -> Tree {
        let mut tree = Tree::new();
        let mut nodes: Vec<NodeId> = (0..3).map(|d| tree.dim(Dim::int(d))).collect();
        for _ in 0..8 {
            let [a, b, c] = [(); 3].map(|()| *rng.pick(&nodes));
            let ty = MachineInt { width: 1 + rng.below(9) as u32, signed: rng.below(2) == 0 };
            nodes.push(match rng.below(11) {
                0 => tree.int(rng.range(-20, 20)),
                1 => tree.push(Node::Neg(a)),
                2 => tree.push(Node::Not(a)),
                3 | 4 => {
                    let raw = tree.bin(*rng.pick(&OPERATORS), a, b);
                    if rng.below(3) > 0 { tree.wrap(ty, raw) } else { raw }
                }
                5 => tree.wrap(ty, a),
                6 => tree.cmp(*rng.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le]), a, b),
                7 => tree.push(Node::All(a, b)),
                8 => tree.push(Node::Any(a, b)),
                9 => tree.push(Node::IsZero(a)),
                _ => tree.push(Node::Ite(a, b, c)),
            });
        }
        tree
    }

    /// Terms over constants are constants, which must be what the interpreter of trees says.
    #[test]
    fn terms_mean_what_trees_mean() {
        let mut rng = Rng::new(3);
        let (mut compared, mut undefined) = (0, 0);
        for round in 0..20_000 {
            let tree = tree(&mut rng);
            let values: Vec<i64> = (0..3).map(|_| rng.range(-40, 40)).collect();
            let mut words = Words::new();
            let state: Vec<Term> = values.iter().map(|v| words.number(&Int::from(*v))).collect();
            let (value, defined) = words.tree(&tree, &|d| state[d.index() as usize]);
            let expected = tree.eval(&|d| Rat::from(values[d.index() as usize]), &|_| Rat::ZERO);
            let defined = words.terms.bool_value(defined);
            let word = words.word(value).and_then(|w| words.terms.value_of(w));
            // Where a value was unknown there is nothing to compare.
            if words.weakened || defined.is_none() {
                continue;
            }
            match (expected, word) {
                (Some(expected), Some(word)) => {
                    assert_eq!(defined, Some(true), "round {round}: {tree:?} in {values:?}");
                    assert_eq!(
                        Rat::from(of_bits(&word, true)),
                        expected,
                        "round {round}: {tree:?} in {values:?}"
                    );
                    compared += 1;
                }
                // Shifts by negative amounts may give anything here, and end a run there.
                (None, _) if defined == Some(false) => undefined += 1,
                (None, _) => assert!(shifts(&tree), "round {round}: {tree:?} in {values:?}"),
                (Some(_), None) => {}
            }
        }
        assert!(compared > 10_000 && undefined > 100, "{compared} compared, {undefined} undefined");
        assert_eq!(eval_bin(BinOp::Shl, &Rat::ONE, &Rat::from(-1)), None);
    }

    fn shifts(tree: &Tree) -> bool {
        tree.nodes().iter().any(|n| matches!(n, Node::Bin(BinOp::Shl | BinOp::Shr, ..)))
    }
}
