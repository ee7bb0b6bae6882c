//! Values of terms and the assignments (models) that give them.

use std::fmt;

use rpds::RedBlackTreeMap;
use rustc_hash::FxHashMap;

use crate::bitvec::BitVec;
use crate::term::{Func, Sort, Term};

/// The value of a term of any sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Of a Boolean.
    Bool(bool),
    /// Of a bit-vector.
    BitVec(BitVec),
    /// Of an array.
    Array(ArrayValue),
}

impl Value {
    /// The value of a term that nothing constrains: false, zero, or the array of zeros.
    pub fn default_of(sort: Sort) -> Self {
        match sort {
            Sort::Bool => Value::Bool(false),
            Sort::BitVec(w) => Value::BitVec(BitVec::zero(w)),
            Sort::Array { index, elem } => Value::Array(ArrayValue::constant(index, BitVec::zero(elem))),
        }
    }

    /// The sort of the value.
    pub fn sort(&self) -> Sort {
        match self {
            Value::Bool(_) => Sort::Bool,
            Value::BitVec(v) => Sort::BitVec(v.width()),
            Value::Array(a) => Sort::Array { index: a.index, elem: a.default.width() },
        }
    }

    /// The truth value of a Boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The value of a bit-vector.
    pub fn as_bv(&self) -> Option<&BitVec> {
        match self {
            Value::BitVec(v) => Some(v),
            _ => None,
        }
    }

    /// The value of an array.
    pub fn as_array(&self) -> Option<&ArrayValue> {
        match self {
            Value::Array(a) => Some(a),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    /// SMT-LIB syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(b) => write!(f, "{b}"),
            Value::BitVec(v) => write!(f, "{v}"),
            Value::Array(a) => write!(f, "{a}"),
        }
    }
}

/// A total array: finitely many entries over a default element. Copies share their structure.
#[derive(Clone, Debug)]
pub struct ArrayValue {
    index: u32,
    default: BitVec,
    /// Entries that differ from the default.
    entries: RedBlackTreeMap<BitVec, BitVec>,
}

impl ArrayValue {
    /// The array over indices of the given width with all elements the same.
    pub fn constant(index: u32, default: BitVec) -> Self {
        ArrayValue { index, default, entries: RedBlackTreeMap::new() }
    }

    /// The width of the indices.
    pub fn index_width(&self) -> u32 {
        self.index
    }

    /// The element at all indices without an entry.
    pub fn default_element(&self) -> &BitVec {
        &self.default
    }

    /// The entries that differ from the default, by increasing index.
    pub fn entries(&self) -> impl Iterator<Item = (&BitVec, &BitVec)> {
        self.entries.iter()
    }

    /// The element at an index.
    pub fn select(&self, index: &BitVec) -> &BitVec {
        self.entries.get(index).unwrap_or(&self.default)
    }

    /// The array with one element replaced.
    #[must_use]
    pub fn store(&self, index: BitVec, elem: BitVec) -> Self {
        let entries =
            if elem == self.default { self.entries.remove(&index) } else { self.entries.insert(index, elem) };
        ArrayValue { index: self.index, default: self.default.clone(), entries }
    }

    /// Whether the entries cover every index, so that the default does not matter.
    fn covered(&self) -> bool {
        self.index < 48 && self.entries.size() as u64 == 1 << self.index
    }
}

impl PartialEq for ArrayValue {
    /// Equality of functions: the same element at every index.
    fn eq(&self, other: &Self) -> bool {
        if self.index != other.index || self.default.width() != other.default.width() {
            return false;
        }
        let agree = |a: &Self, b: &Self| a.entries.iter().all(|(i, v)| b.select(i) == v);
        if self.default == other.default {
            return self.entries.size() == other.entries.size() && agree(self, other);
        }
        // Different defaults meet only at an index that neither lists.
        if self.covered() || other.covered() {
            return agree(self, other) && agree(other, self);
        }
        let extra = other.entries.iter().filter(|(i, _)| !self.entries.contains_key(i)).count();
        let listed = (self.entries.size() + extra) as u64;
        self.index < 48 && listed == 1 << self.index && agree(self, other) && agree(other, self)
    }
}

impl Eq for ArrayValue {}

impl fmt::Display for ArrayValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.entries.size() {
            f.write_str("(store ")?;
        }
        let (index, elem) = (self.index, self.default.width());
        write!(f, "((as const (Array (_ BitVec {index}) (_ BitVec {elem}))) {})", self.default)?;
        for (i, v) in self.entries.iter() {
            write!(f, " {i} {v})")?;
        }
        Ok(())
    }
}

/// A function value: finitely many entries over a default result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FuncValue {
    entries: Vec<(Vec<Value>, Value)>,
    index: FxHashMap<Vec<Vec<u64>>, usize>,
}

fn key(args: &[Value]) -> Vec<Vec<u64>> {
    args.iter()
        .map(|v| match v {
            Value::Bool(b) => vec![u64::from(*b)],
            Value::BitVec(v) => v.words().to_vec(),
            Value::Array(_) => unreachable!("functions take no arrays"),
        })
        .collect()
}

impl FuncValue {
    /// Sets the result for one list of arguments, unless it is set already.
    pub fn insert(&mut self, args: Vec<Value>, result: Value) {
        let next = self.entries.len();
        let at = *self.index.entry(key(&args)).or_insert(next);
        if at == next {
            self.entries.push((args, result));
        }
    }

    /// The result for a list of arguments, if it is listed.
    pub fn get(&self, args: &[Value]) -> Option<&Value> {
        self.index.get(&key(args)).map(|i| &self.entries[*i].1)
    }

    /// The listed arguments and results, in order of insertion.
    pub fn entries(&self) -> &[(Vec<Value>, Value)] {
        &self.entries
    }
}

/// An assignment of values to variables and functions. What is not listed has the default value
/// of its sort, so a model gives every term a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Model {
    vars: FxHashMap<Term, Value>,
    funcs: FxHashMap<Func, FuncValue>,
}

impl Model {
    /// The model with all defaults.
    pub fn new() -> Self {
        Model::default()
    }

    /// Sets the value of a variable.
    pub fn set(&mut self, var: Term, value: Value) {
        self.vars.insert(var, value);
    }

    /// The listed value of a variable.
    pub fn get(&self, var: Term) -> Option<&Value> {
        self.vars.get(&var)
    }

    /// The listed values of a function, to read.
    pub fn func(&self, f: Func) -> Option<&FuncValue> {
        self.funcs.get(&f)
    }

    /// The listed values of a function, to extend.
    pub fn func_mut(&mut self, f: Func) -> &mut FuncValue {
        self.funcs.entry(f).or_default()
    }

    /// The listed variables in order of creation, with their values.
    pub fn vars(&self) -> Vec<(Term, &Value)> {
        let mut out: Vec<_> = self.vars.iter().map(|(t, v)| (*t, v)).collect();
        out.sort_unstable_by_key(|(t, _)| *t);
        out
    }

    /// The listed functions in order of declaration.
    pub fn funcs(&self) -> Vec<(Func, &FuncValue)> {
        let mut out: Vec<_> = self.funcs.iter().map(|(f, v)| (*f, v)).collect();
        out.sort_unstable_by_key(|(f, _)| *f);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All arrays over two one-bit indices: equality must be equality of functions whatever the
    /// default.
    #[test]
    fn array_equality_is_pointwise() {
        let bit = |v| BitVec::new(1, v);
        let all: Vec<ArrayValue> = (0..8)
            .flat_map(|code: u64| {
                let base = ArrayValue::constant(1, bit(code & 1));
                [base.clone(), base.store(bit(0), bit(code >> 1)), base.store(bit(1), bit(code >> 2)), {
                    base.store(bit(0), bit(code >> 1)).store(bit(1), bit(code >> 2))
                }]
            })
            .collect();
        for a in &all {
            for b in &all {
                let same = (0..2).all(|i| a.select(&bit(i)) == b.select(&bit(i)));
                assert_eq!(a == b, same, "{a} {b}");
            }
        }
    }
}
