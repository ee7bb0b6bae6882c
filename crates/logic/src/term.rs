//! Terms: typed, hash-consed formulas in one arena.
//!
//! A [`Term`] is a 4-byte handle into the pool [`Terms`] that made it; equal terms have equal
//! handles. Terms are made by the builder methods (modules under `build`), which simplify, so a
//! term in the pool is in a normal form over the few operators of [`Op`]:
//!
//! - `or`, `=>`, `xor` on Booleans become `not`, `and` and `=`; `bvor` becomes `not` and `and`;
//! - `bvsub` becomes `bvadd` of a `bvneg`; signed division and remainder become unsigned ones;
//! - comparisons become `bvult` and `bvslt`; zero extension becomes concatenation with zeros;
//! - shifts and rotations by constants become concatenations and extractions;
//! - the overflow predicates of sums and quotients become comparisons.

use rustc_hash::FxHashMap;
use std::sync::Arc;

use crate::bitvec::BitVec;
use crate::intern::{InternTable, mix};

/// A handle to a term of one pool. The order is the order of creation: arguments come before the
/// terms that use them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// The position in the pool, dense from zero: an index for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The sort of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Bit-vectors of the given positive width.
    BitVec(u32),
    /// Arrays from bit-vectors of width `index` to bit-vectors of width `elem`.
    Array {
        /// Width of the indices.
        index: u32,
        /// Width of the elements.
        elem: u32,
    },
}

impl Sort {
    /// The width of a bit-vector sort.
    pub fn width(self) -> Option<u32> {
        match self {
            Sort::BitVec(w) => Some(w),
            _ => None,
        }
    }

    /// Whether this is an array sort.
    pub fn is_array(self) -> bool {
        matches!(self, Sort::Array { .. })
    }
}

/// A declared function of one pool.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Func(pub(crate) u32);

/// Name and signature of a declared function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FuncDecl {
    /// The name.
    pub name: String,
    /// The sorts of the arguments: Booleans and bit-vectors.
    pub domain: Vec<Sort>,
    /// The sort of the result: Boolean or bit-vector.
    pub range: Sort,
}

/// The operator at the root of a term. What [`Terms::args`] returns is given in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum Op {
    /// A Boolean or bit-vector constant (no arguments); see [`Terms::value_of`].
    Const,
    /// A free variable of any sort (no arguments); see [`Terms::name_of`].
    Var,
    /// Complement of a Boolean or of each bit (`a`).
    Not,
    /// Conjunction of Booleans or bit by bit (`a`, `b`).
    And,
    /// Equality of two terms of one sort, arrays included (`a`, `b`).
    Eq,
    /// If-then-else of any sort (`condition`, `then`, `else`).
    Ite,
    /// Bitwise exclusive or (`a`, `b`).
    Xor,
    /// Two's complement negation (`a`).
    Neg,
    /// Sum (`a`, `b`).
    Add,
    /// Product (`a`, `b`).
    Mul,
    /// Unsigned quotient (`a`, `b`).
    Udiv,
    /// Unsigned remainder (`a`, `b`).
    Urem,
    /// Shift left (`a`, `by`).
    Shl,
    /// Logical shift right (`a`, `by`).
    Lshr,
    /// Arithmetic shift right (`a`, `by`).
    Ashr,
    /// Concatenation (`high`, `low`).
    Concat,
    /// Part of a bit-vector (`a`); see [`Terms::extract_bounds`].
    Extract,
    /// Sign extension (`a`) to the width of the term's sort.
    SignExtend,
    /// Unsigned less-than (`a`, `b`).
    Ult,
    /// Signed less-than (`a`, `b`).
    Slt,
    /// Unsigned multiplication overflows (`a`, `b`).
    Umulo,
    /// Signed multiplication overflows (`a`, `b`).
    Smulo,
    /// Element of an array (`array`, `index`).
    Select,
    /// Array with one element replaced (`array`, `index`, `element`).
    Store,
    /// Array with all elements the same (`element`).
    ConstArray,
    /// Application of an uninterpreted function (its arguments); see [`Terms::func_of`].
    Apply,
}

/// One node: 20 bytes. The meaning of `args` depends on the operator: the first
/// [`Node::arity`] ones are terms, the others raw data (constant words, extract bounds).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node {
    op: Op,
    /// Whether arrays or functions occur in the term.
    theory: bool,
    /// 0 for Bool, the width of a bit-vector, or `ARRAY` plus an index into `Terms::arrays`.
    sort: u32,
    args: [Term; 3],
}

const ARRAY: u32 = 1 << 31;
pub(crate) const NONE: Term = Term(0);

/// Widths are kept well below the range of the sort encoding, so sums of widths cannot wrap.
pub const MAX_WIDTH: u32 = 1 << 24;

impl Op {
    fn arity(self) -> usize {
        match self {
            Op::Const | Op::Var | Op::Apply => 0,
            Op::Not | Op::Neg | Op::Extract | Op::SignExtend | Op::ConstArray => 1,
            Op::Ite | Op::Store => 3,
            _ => 2,
        }
    }
}

/// The pool of terms, variables and functions. Every builder method simplifies; ill-sorted
/// arguments are a mistake of the caller and panic.
#[derive(Clone)]
pub struct Terms {
    nodes: Vec<Node>,
    table: InternTable,
    /// Array sorts by index, with their inverse.
    arrays: Vec<(u32, u32)>,
    /// Constants wider than 64 bits, with their inverse.
    wide: Vec<BitVec>,
    wide_index: FxHashMap<BitVec, u32>,
    names: Vec<Arc<str>>,
    name_index: FxHashMap<Arc<str>, u32>,
    funcs: Vec<FuncDecl>,
    func_index: FxHashMap<FuncDecl, Func>,
    /// Argument lists of applications, back to back.
    lists: Vec<Term>,
    fresh: u32,
    stand_ins: FxHashMap<Term, Term>,
    plain: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Terms::new()
    }
}

impl Terms {
    /// An empty pool.
    pub fn new() -> Self {
        let mut terms = Terms {
            nodes: Vec::new(),
            table: InternTable::new(),
            arrays: Vec::new(),
            wide: Vec::new(),
            wide_index: FxHashMap::default(),
            names: Vec::new(),
            name_index: FxHashMap::default(),
            funcs: Vec::new(),
            func_index: FxHashMap::default(),
            lists: Vec::new(),
            fresh: 0,
            stand_ins: FxHashMap::default(),
            plain: false,
        };
        // The first two terms are the truth values; `fls` and `tru` rely on it.
        for value in 0..2 {
            terms.intern(Op::Const, Sort::Bool, [Term(value), NONE, NONE]);
        }
        terms
    }

    /// An empty pool whose builder methods fold constants and simplify nothing else: what is
    /// built is what was said.
    pub fn plain() -> Self {
        Terms { plain: true, ..Terms::new() }
    }

    /// Whether the builder methods fold constants only.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// The number of terms made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never true: the truth values are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// An estimate of the bytes held.
    pub fn bytes(&self) -> u64 {
        (self.nodes.capacity() * size_of::<Node>() + self.lists.capacity() * 4) as u64 + self.table.bytes()
    }

    // ---- reading terms ----

    /// The root operator.
    pub fn op(&self, t: Term) -> Op {
        self.nodes[t.index()].op
    }

    /// The arguments that are terms, in order.
    pub fn args(&self, t: Term) -> &[Term] {
        let node = &self.nodes[t.index()];
        match node.op {
            Op::Apply => {
                let (start, len) = (node.args[1].index(), node.args[2].index());
                &self.lists[start..start + len]
            }
            op => &node.args[..op.arity()],
        }
    }

    /// Argument `i`; the operator must have it.
    pub(crate) fn arg(&self, t: Term, i: usize) -> Term {
        self.args(t)[i]
    }

    /// The sort.
    pub fn sort(&self, t: Term) -> Sort {
        match self.nodes[t.index()].sort {
            0 => Sort::Bool,
            s if s & ARRAY != 0 => {
                let (index, elem) = self.arrays[(s & !ARRAY) as usize];
                Sort::Array { index, elem }
            }
            w => Sort::BitVec(w),
        }
    }

    /// The width of a bit-vector term; panics for other sorts.
    pub fn width(&self, t: Term) -> u32 {
        match self.sort(t) {
            Sort::BitVec(w) => w,
            other => panic!("a bit-vector is needed here, not a term of sort {other:?}"),
        }
    }

    /// Whether the term is Boolean.
    pub fn is_bool(&self, t: Term) -> bool {
        self.nodes[t.index()].sort == 0
    }

    /// Whether arrays or functions occur anywhere in the term.
    pub fn has_theory(&self, t: Term) -> bool {
        self.nodes[t.index()].theory
    }

    /// The value of a constant Boolean.
    pub fn bool_value(&self, t: Term) -> Option<bool> {
        (t.0 < 2).then_some(t.0 == 1)
    }

    /// The value of a constant bit-vector.
    pub fn value_of(&self, t: Term) -> Option<BitVec> {
        let node = &self.nodes[t.index()];
        if node.op != Op::Const || node.sort == 0 {
            return None;
        }
        Some(if node.sort <= 64 {
            BitVec::new(node.sort, u64::from(node.args[0].0) | u64::from(node.args[1].0) << 32)
        } else {
            self.wide[node.args[0].index()].clone()
        })
    }

    /// Whether the term is a constant Boolean or bit-vector.
    pub fn is_const(&self, t: Term) -> bool {
        self.op(t) == Op::Const
    }

    /// The name of a variable.
    pub fn name_of(&self, t: Term) -> Option<&str> {
        let node = &self.nodes[t.index()];
        (node.op == Op::Var).then(|| &*self.names[node.args[0].index()])
    }

    /// The highest and lowest bit taken by an extraction.
    pub fn extract_bounds(&self, t: Term) -> Option<(u32, u32)> {
        let node = &self.nodes[t.index()];
        (node.op == Op::Extract).then_some((node.args[1].0, node.args[2].0))
    }

    /// The function of an application.
    pub fn func_of(&self, t: Term) -> Option<Func> {
        let node = &self.nodes[t.index()];
        (node.op == Op::Apply).then_some(Func(node.args[0].0))
    }

    /// Name and signature of a function.
    pub fn decl(&self, f: Func) -> &FuncDecl {
        &self.funcs[f.0 as usize]
    }

    /// The operand of a complement.
    pub fn as_not(&self, t: Term) -> Option<Term> {
        (self.op(t) == Op::Not).then(|| self.arg(t, 0))
    }

    /// Splits a Boolean term into its conjuncts, left to right, without repetition of work on
    /// shared parts.
    pub fn conjuncts(&self, t: Term) -> Vec<Term> {
        let mut out = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = vec![t];
        while let Some(t) = stack.pop() {
            if !seen.insert(t) {
                continue;
            }
            if self.op(t) == Op::And && self.is_bool(t) {
                stack.extend(self.args(t).iter().rev());
            } else {
                out.push(t);
            }
        }
        out
    }

    /// The variables that occur in `roots`, in order of creation.
    pub fn variables(&self, roots: &[Term]) -> Vec<Term> {
        let mut out: Vec<Term> =
            self.subterms(roots).into_iter().filter(|t| self.op(*t) == Op::Var).collect();
        out.sort_unstable();
        out
    }

    /// All distinct subterms of `roots`, arguments before the terms that use them.
    pub fn subterms(&self, roots: &[Term]) -> Vec<Term> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack = roots.to_vec();
        while let Some(t) = stack.pop() {
            if seen.insert(t) {
                stack.extend(self.args(t));
            }
        }
        let mut out: Vec<Term> = seen.into_iter().collect();
        out.sort_unstable();
        out
    }

    // ---- making nodes ----

    fn sort_code(&mut self, sort: Sort) -> u32 {
        match sort {
            Sort::Bool => 0,
            Sort::BitVec(w) => {
                assert!(0 < w && w <= MAX_WIDTH, "bit-vector width {w} out of range");
                w
            }
            Sort::Array { index, elem } => {
                assert!(0 < index && index <= MAX_WIDTH && 0 < elem && elem <= MAX_WIDTH);
                let at = self.arrays.iter().position(|s| *s == (index, elem)).unwrap_or_else(|| {
                    self.arrays.push((index, elem));
                    self.arrays.len() - 1
                });
                ARRAY | at as u32
            }
        }
    }

    fn hash(node: &Node, lists: &[Term]) -> u64 {
        let mut h = mix(u64::from(node.op as u8), u64::from(node.sort));
        if node.op == Op::Apply {
            h = mix(h, u64::from(node.args[0].0));
            let (start, len) = (node.args[1].index(), node.args[2].index());
            for t in &lists[start..start + len] {
                h = mix(h, u64::from(t.0));
            }
        } else {
            h = mix(h, u64::from(node.args[0].0) | u64::from(node.args[1].0) << 32);
            h = mix(h, u64::from(node.args[2].0));
        }
        h
    }

    fn intern_node(&mut self, node: Node) -> Term {
        let hash = Terms::hash(&node, &self.lists);
        let (nodes, lists) = (&self.nodes, &self.lists);
        let list = |n: &Node| &lists[n.args[1].index()..n.args[1].index() + n.args[2].index()];
        let same = |i: u32| {
            let other = &nodes[i as usize];
            if node.op == Op::Apply {
                other.op == Op::Apply && other.args[0] == node.args[0] && list(other) == list(&node)
            } else {
                *other == node
            }
        };
        if let Some(i) = self.table.find(hash, same) {
            return Term(i);
        }
        let index = self.nodes.len() as u32;
        assert!(index < u32::MAX - 1, "the term pool is full");
        self.nodes.push(node);
        let (nodes, lists) = (&self.nodes, &self.lists);
        self.table.insert(hash, index, |i| Terms::hash(&nodes[i as usize], lists));
        Term(index)
    }

    /// The node with exactly this operator, sort and arguments: no simplification, no checks.
    pub(crate) fn intern(&mut self, op: Op, sort: Sort, args: [Term; 3]) -> Term {
        let theory = matches!(op, Op::Apply | Op::Select | Op::Store | Op::ConstArray)
            || sort.is_array()
            || args[..op.arity()].iter().any(|t| self.has_theory(*t));
        let sort = self.sort_code(sort);
        self.intern_node(Node { op, theory, sort, args })
    }

    pub(crate) fn intern1(&mut self, op: Op, sort: Sort, a: Term) -> Term {
        self.intern(op, sort, [a, NONE, NONE])
    }

    pub(crate) fn intern2(&mut self, op: Op, sort: Sort, a: Term, b: Term) -> Term {
        self.intern(op, sort, [a, b, NONE])
    }

    pub(crate) fn intern_extract(&mut self, a: Term, high: u32, low: u32) -> Term {
        self.intern(Op::Extract, Sort::BitVec(high - low + 1), [a, Term(high), Term(low)])
    }

    // ---- leaves ----

    /// The constant `false`.
    pub fn fls(&self) -> Term {
        Term(0)
    }

    /// The constant `true`.
    pub fn tru(&self) -> Term {
        Term(1)
    }

    /// A Boolean constant.
    pub fn bool_const(&self, value: bool) -> Term {
        Term(u32::from(value))
    }

    /// The bit-vector constant with this value.
    pub fn bv_const(&mut self, value: &BitVec) -> Term {
        let width = value.width();
        let args = if width <= 64 {
            let v = value.words()[0];
            [Term(v as u32), Term((v >> 32) as u32), NONE]
        } else {
            let at = match self.wide_index.get(value) {
                Some(at) => *at,
                None => {
                    let at = self.wide.len() as u32;
                    self.wide.push(value.clone());
                    self.wide_index.insert(value.clone(), at);
                    at
                }
            };
            [Term(at), NONE, NONE]
        };
        self.intern(Op::Const, Sort::BitVec(width), args)
    }

    /// The bit-vector constant `value` modulo `2^width`.
    pub fn bv(&mut self, width: u32, value: u64) -> Term {
        self.bv_const(&BitVec::new(width, value))
    }

    /// The bit-vector constant `value` modulo `2^width`, in two's complement.
    pub fn bv_signed(&mut self, width: u32, value: i128) -> Term {
        self.bv_const(&BitVec::from_i128(width, value))
    }

    /// The variable with this name and sort, made at the first request. The same name with
    /// another sort is another variable.
    pub fn var(&mut self, name: &str, sort: Sort) -> Term {
        let at = match self.name_index.get(name) {
            Some(at) => *at,
            None => self.name(name.into()),
        };
        self.intern(Op::Var, sort, [Term(at), NONE, NONE])
    }

    /// A variable with a name that no other variable has yet.
    pub fn fresh_var(&mut self, prefix: &str, sort: Sort) -> Term {
        let mut name = String::with_capacity(prefix.len() + 11);
        loop {
            name.clear();
            name.push_str(prefix);
            name.push('!');
            push_number(&mut name, self.fresh);
            self.fresh += 1;
            if !self.name_index.contains_key(name.as_str()) {
                let at = self.name(name.as_str().into());
                return self.intern(Op::Var, sort, [Term(at), NONE, NONE]);
            }
        }
    }

    /// A number for a name that has none.
    fn name(&mut self, name: Arc<str>) -> u32 {
        let at = self.names.len() as u32;
        self.names.push(Arc::clone(&name));
        self.name_index.insert(name, at);
        at
    }

    /// The variable that stands for `t` where it is not to be looked into: always the same one,
    /// which nothing else uses.
    pub(crate) fn stand_in(&mut self, t: Term) -> Term {
        if let Some(variable) = self.stand_ins.get(&t) {
            return *variable;
        }
        let variable = self.fresh_var("any", self.sort(t));
        self.stand_ins.insert(t, variable);
        variable
    }

    /// The function with this name and signature, made at the first request. Arguments and
    /// result are Booleans or bit-vectors.
    pub fn func(&mut self, name: &str, domain: &[Sort], range: Sort) -> Func {
        assert!(domain.iter().all(|s| !s.is_array()) && !range.is_array(), "functions of arrays");
        let decl = FuncDecl { name: name.to_owned(), domain: domain.to_vec(), range };
        if let Some(f) = self.func_index.get(&decl) {
            return *f;
        }
        let f = Func(self.funcs.len() as u32);
        self.funcs.push(decl.clone());
        self.func_index.insert(decl, f);
        f
    }

    /// The application of a function to arguments of its domain's sorts.
    pub fn apply(&mut self, f: Func, args: &[Term]) -> Term {
        let decl = &self.funcs[f.0 as usize];
        let range = decl.range;
        assert!(
            decl.domain.len() == args.len() && decl.domain.iter().zip(args).all(|(s, t)| *s == self.sort(*t)),
            "arguments of {} do not fit its domain",
            decl.name
        );
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(args);
        let before = self.nodes.len();
        let t = self.intern(Op::Apply, range, [Term(f.0), Term(start), Term(args.len() as u32)]);
        if self.nodes.len() == before {
            self.lists.truncate(start as usize);
        }
        t
    }
}

/// Appends a number in decimal; fresh names are too many for the general formatting.
fn push_number(to: &mut String, number: u32) {
    if number >= 10 {
        push_number(to, number / 10);
    }
    to.push(char::from(b'0' + (number % 10) as u8));
}
