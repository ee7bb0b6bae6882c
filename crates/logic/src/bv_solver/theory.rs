//! Arrays and uninterpreted functions by lemmas on demand.
//!
//! After Brummayer and Biere, *Lemmas on Demand for the Extensional Theory of Arrays* (JSAT
//! 2009): a model of the bits assigns values to reads as if they were free. Each read, and each
//! written element, is an *access* of its array; accesses travel to the arrays that must agree at
//! their index (through writes to other indices, chosen branches, true equalities). Two accesses
//! that meet at one array with one index but different elements give a lemma: the conditions of
//! both ways and equal indices imply equal elements. Functions get the congruence lemmas
//! (Ackermann's) that the model violates.

use rustc_hash::{FxHashMap, FxHashSet};

use super::rows;
use crate::bitvec::BitVec;
use crate::eval::{Interpretation, Memo};
use crate::term::{Op, Sort, Term, Terms};
use crate::value::{ArrayValue, Model, Value};

/// A read or written element: at `index`, the array has `element`.
#[derive(Clone)]
struct Access {
    index: Term,
    element: Term,
    index_value: BitVec,
    element_value: BitVec,
}

/// Why an access travels from one array to the next.
#[derive(Clone, Copy)]
enum Condition {
    /// The index is not the one written.
    Differs(Term),
    Holds(Term),
    Fails(Term),
}

/// An access at an array, and how it came there.
struct Arrival {
    array: Term,
    access: usize,
    from: Option<(usize, Condition)>,
}

/// The outcome of checking a model of the bits.
pub(super) enum Consistency {
    /// Values of array variables and functions that agree with all bits.
    Model(Model),
    /// Valid formulas that the model violates; at least one.
    Lemmas(Vec<Term>),
}

struct Checker<'a, I> {
    terms: &'a mut Terms,
    bits: &'a I,
    memo: &'a mut Memo,
    accesses: Vec<Access>,
    arrivals: Vec<Arrival>,
    /// For each array and index value, the first arrival.
    table: FxHashMap<(Term, BitVec), usize>,
    /// Array terms that have an array as an argument, and true equalities; only filled when an
    /// equality is true, since else no access needs to travel upward.
    parents: FxHashMap<Term, Vec<Term>>,
    lemmas: Vec<Term>,
    seen_lemmas: FxHashSet<Term>,
}

/// Checks the values that `bits` gives to the relevant terms.
pub(super) fn check<I: Interpretation>(
    terms: &mut Terms,
    relevant: &[Term],
    bits: &I,
    memo: &mut Memo,
) -> Consistency {
    let mut checker = Checker {
        terms,
        bits,
        memo,
        accesses: Vec::new(),
        arrivals: Vec::new(),
        table: FxHashMap::default(),
        parents: FxHashMap::default(),
        lemmas: Vec::new(),
        seen_lemmas: FxHashSet::default(),
    };
    checker.functions(relevant);
    let components = checker.arrays(relevant);
    if checker.lemmas.is_empty() {
        Consistency::Model(checker.model(relevant, components))
    } else {
        Consistency::Lemmas(checker.lemmas)
    }
}

impl<I: Interpretation> Checker<'_, I> {
    fn value(&mut self, t: Term) -> Value {
        self.memo.value(self.terms, self.bits, t).clone()
    }

    fn bv(&mut self, t: Term) -> BitVec {
        self.value(t).as_bv().expect("a bit-vector term").clone()
    }

    fn holds(&mut self, t: Term) -> bool {
        self.value(t) == Value::Bool(true)
    }

    fn lemma(&mut self, t: Term) {
        if self.seen_lemmas.insert(t) {
            self.lemmas.push(t);
        }
    }

    // ---- functions ----

    fn functions(&mut self, relevant: &[Term]) {
        let mut first: FxHashMap<(crate::term::Func, Vec<BitVec>), Term> = FxHashMap::default();
        for &t in relevant {
            let Some(f) = self.terms.func_of(t) else { continue };
            let args = self.terms.args(t).to_vec();
            let key = args.iter().map(|a| self.as_bits(*a)).collect();
            let other = *first.entry((f, key)).or_insert(t);
            if self.value(other) != self.value(t) {
                let others = self.terms.args(other).to_vec();
                let mut same = self.terms.tru();
                for (a, b) in args.iter().zip(&others) {
                    let eq = self.terms.eq(*a, *b);
                    same = self.terms.and(same, eq);
                }
                let results = self.terms.eq(t, other);
                let lemma = self.terms.implies(same, results);
                self.lemma(lemma);
            }
        }
    }

    fn as_bits(&mut self, t: Term) -> BitVec {
        match self.value(t) {
            Value::Bool(b) => BitVec::new(1, u64::from(b)),
            Value::BitVec(v) => v,
            Value::Array(_) => unreachable!("functions take no arrays"),
        }
    }

    // ---- arrays ----

    fn arrays(&mut self, relevant: &[Term]) -> Components {
        let mut components = Components::default();
        let mut extensional = false;
        for &t in relevant {
            if self.terms.op(t) == Op::Eq && self.holds(t) {
                extensional = true;
                let (a, b) = (self.terms.arg(t, 0), self.terms.arg(t, 1));
                components.join(a, b);
                self.parents.entry(a).or_default().push(t);
                self.parents.entry(b).or_default().push(t);
            }
        }
        for &t in relevant {
            match self.terms.op(t) {
                Op::Store => {
                    let inner = self.terms.arg(t, 0);
                    components.join(t, inner);
                    if extensional {
                        self.parents.entry(inner).or_default().push(t);
                    }
                }
                Op::Ite if self.terms.sort(t).is_array() => {
                    let (branch, _) = self.chosen(t);
                    components.join(t, branch);
                    if extensional {
                        self.parents.entry(branch).or_default().push(t);
                    }
                }
                _ => {}
            }
        }
        // Written elements first: they sit at their own array and meet whatever arrives.
        for &t in relevant {
            if self.terms.op(t) == Op::Store {
                let (index, element) = (self.terms.arg(t, 1), self.terms.arg(t, 2));
                self.start(t, index, element);
            }
        }
        for &t in relevant {
            if self.terms.op(t) == Op::Select {
                let (array, index) = (self.terms.arg(t, 0), self.terms.arg(t, 1));
                self.start(array, index, t);
            }
        }
        if extensional {
            self.constants(relevant, &mut components);
        }
        components
    }

    /// The branch of an array if-then-else that the model takes.
    fn chosen(&mut self, t: Term) -> (Term, Condition) {
        let (c, then, other) = (self.terms.arg(t, 0), self.terms.arg(t, 1), self.terms.arg(t, 2));
        if self.holds(c) { (then, Condition::Holds(c)) } else { (other, Condition::Fails(c)) }
    }

    /// Different constant arrays that must agree: their elements meet at the indices in use and
    /// at one that is not.
    fn constants(&mut self, relevant: &[Term], components: &mut Components) {
        let mut by_component: FxHashMap<Term, Vec<Term>> = FxHashMap::default();
        let mut order = Vec::new();
        for &t in relevant {
            if self.terms.op(t) == Op::ConstArray {
                let root = components.find(t);
                let list = by_component.entry(root).or_default();
                if list.is_empty() {
                    order.push(root);
                }
                list.push(t);
            }
        }
        for root in order {
            let list = by_component[&root].clone();
            let elements: Vec<BitVec> = list
                .iter()
                .map(|t| {
                    let element = self.terms.arg(*t, 0);
                    self.bv(element)
                })
                .collect();
            if elements.iter().all(|e| *e == elements[0]) {
                continue;
            }
            let mut used: Vec<BitVec> = Vec::new();
            for arrival in &self.arrivals {
                if components.find(arrival.array) == root {
                    used.push(self.accesses[arrival.access].index_value.clone());
                }
            }
            used.sort_unstable();
            used.dedup();
            if let Some(free) = first_missing(&used, index_width(self.terms, root)) {
                used.push(free);
            }
            for t in list {
                let element = self.terms.arg(t, 0);
                for v in &used {
                    let index = self.terms.bv_const(v);
                    self.start(t, index, element);
                }
            }
        }
    }

    /// A new access at an array; it travels as far as it must.
    fn start(&mut self, array: Term, index: Term, element: Term) {
        let (index_value, element_value) = (self.bv(index), self.bv(element));
        let access = self.accesses.len();
        self.accesses.push(Access { index, element, index_value, element_value });
        let mut work = vec![(array, None)];
        while let Some((array, from)) = work.pop() {
            self.arrive(Arrival { array, access, from }, &mut work);
        }
    }

    fn arrive(&mut self, arrival: Arrival, work: &mut Vec<(Term, Option<(usize, Condition)>)>) {
        let array = arrival.array;
        let at = self.arrivals.len();
        let access = arrival.access;
        self.arrivals.push(arrival);
        let index_value = self.accesses[access].index_value.clone();
        if let Some(&first) = self.table.get(&(array, index_value.clone())) {
            let other = self.arrivals[first].access;
            if self.accesses[other].element_value != self.accesses[access].element_value {
                self.conflict(first, at);
            }
            return;
        }
        self.table.insert((array, index_value.clone()), at);
        match self.terms.op(array) {
            Op::Store => {
                let (inner, written) = (self.terms.arg(array, 0), self.terms.arg(array, 1));
                if self.bv(written) != index_value {
                    work.push((inner, Some((at, Condition::Differs(written)))));
                }
            }
            Op::Ite => {
                let (branch, condition) = self.chosen(array);
                work.push((branch, Some((at, condition))));
            }
            Op::ConstArray => {
                let element = self.terms.arg(array, 0);
                if self.bv(element) != self.accesses[access].element_value {
                    let mut premise = self.way(at);
                    let same = self.terms.eq(element, self.accesses[access].element);
                    premise = self.terms.implies(premise, same);
                    self.lemma(premise);
                }
            }
            _ => {}
        }
        for parent in self.parents.get(&array).cloned().unwrap_or_default() {
            match self.terms.op(parent) {
                Op::Store => {
                    let written = self.terms.arg(parent, 1);
                    if self.bv(written) != index_value {
                        work.push((parent, Some((at, Condition::Differs(written)))));
                    }
                }
                Op::Ite => {
                    let (branch, condition) = self.chosen(parent);
                    if branch == array {
                        work.push((parent, Some((at, condition))));
                    }
                }
                _ => {
                    let (a, b) = (self.terms.arg(parent, 0), self.terms.arg(parent, 1));
                    let other = if a == array { b } else { a };
                    work.push((other, Some((at, Condition::Holds(parent)))));
                }
            }
        }
    }

    /// The conjunction of the conditions under which an access came to where it arrived.
    fn way(&mut self, arrival: usize) -> Term {
        let index = self.accesses[self.arrivals[arrival].access].index;
        let mut acc = self.terms.tru();
        let mut at = self.arrivals[arrival].from;
        while let Some((previous, condition)) = at {
            let t = match condition {
                Condition::Differs(written) => {
                    self.rows(index, written);
                    self.terms.ne(index, written)
                }
                Condition::Holds(c) => c,
                Condition::Fails(c) => self.terms.not(c),
            };
            acc = self.terms.and(acc, t);
            at = self.arrivals[previous].from;
        }
        acc
    }

    fn conflict(&mut self, first: usize, second: usize) {
        let (a, b) = (self.way(first), self.way(second));
        let x = self.accesses[self.arrivals[first].access].clone();
        let y = self.accesses[self.arrivals[second].access].clone();
        self.rows(x.index, y.index);
        let same_index = self.terms.eq(x.index, y.index);
        let same_element = self.terms.eq(x.element, y.element);
        let both = self.terms.and(a, b);
        let premise = self.terms.and(both, same_index);
        let lemma = self.terms.implies(premise, same_element);
        self.lemma(lemma);
    }

    /// Says when places of an array with rows are the same: an adder hides that from a search.
    fn rows(&mut self, a: Term, b: Term) {
        let lemma = rows::same_place(self.terms, a, b);
        if let Some(lemma) = lemma {
            self.lemma(lemma);
        }
    }

    // ---- the model ----

    fn model(&mut self, relevant: &[Term], mut components: Components) -> Model {
        let mut model = Model::new();
        // Arrays that must agree share the element at indices nobody accesses.
        let mut defaults: FxHashMap<Term, BitVec> = FxHashMap::default();
        for &t in relevant {
            if self.terms.op(t) == Op::ConstArray {
                let element = self.terms.arg(t, 0);
                let value = self.bv(element);
                defaults.entry(components.find(t)).or_insert(value);
            }
        }
        let mut arrays: FxHashMap<Term, ArrayValue> = FxHashMap::default();
        for &t in relevant {
            if self.terms.op(t) == Op::Var
                && let Sort::Array { index, elem } = self.terms.sort(t)
            {
                let default = defaults.get(&components.find(t)).cloned();
                let default = default.unwrap_or_else(|| BitVec::zero(elem));
                arrays.insert(t, ArrayValue::constant(index, default));
            }
        }
        for arrival in &self.arrivals {
            if let Some(value) = arrays.get_mut(&arrival.array) {
                let access = &self.accesses[arrival.access];
                *value = value.store(access.index_value.clone(), access.element_value.clone());
            }
        }
        for (t, value) in arrays {
            model.set(t, Value::Array(value));
        }
        for &t in relevant {
            if let Some(f) = self.terms.func_of(t) {
                let args = self.terms.args(t).to_vec();
                let args = args.into_iter().map(|a| self.value(a)).collect();
                let result = self.value(t);
                model.func_mut(f).insert(args, result);
            }
        }
        model
    }
}

fn index_width(terms: &Terms, array: Term) -> u32 {
    match terms.sort(array) {
        Sort::Array { index, .. } => index,
        _ => unreachable!("components consist of arrays"),
    }
}

/// The smallest value of the width that is not in the sorted list.
fn first_missing(used: &[BitVec], width: u32) -> Option<BitVec> {
    let mut candidate = BitVec::zero(width);
    for v in used {
        if *v != candidate {
            return Some(candidate);
        }
        candidate = candidate.add(&BitVec::one(width));
        if candidate.is_zero() {
            return None;
        }
    }
    Some(candidate)
}

/// Arrays connected by writes, chosen branches and true equalities (union-find).
#[derive(Default)]
struct Components(FxHashMap<Term, Term>);

impl Components {
    fn find(&mut self, t: Term) -> Term {
        let mut root = t;
        while let Some(up) = self.0.get(&root) {
            root = *up;
        }
        let mut at = t;
        while let Some(up) = self.0.get(&at).copied() {
            self.0.insert(at, root);
            if up == root {
                break;
            }
            at = up;
        }
        root
    }

    fn join(&mut self, a: Term, b: Term) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            // Towards the older term, so that the outcome does not depend on the order.
            self.0.insert(a.max(b), a.min(b));
        }
    }
}
