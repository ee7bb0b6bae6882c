//! Clauses that may hold of a function, judged by observed calls.
//!
//! A clause is a linear equation or bound about the result, under a condition about the
//! parameters that the function itself asks for, or about their signs. Equations are tried in the
//! result's own type, where sums wrap as the program's do, and as such between integers.

use super::calls::Calls;
use palisade_cfa::*;
use palisade_task::contracts::{Atom, Clause, Contract, Relation, Term, Value};
use std::collections::BTreeSet;

/// Clauses about the result that are kept, the most telling ones.
const MAX_ENSURES: usize = 48;
/// Functions of more parameters have clauses about single parameters only.
const MAX_PARAMS: usize = 3;
/// Bounds of a parameter that are tried on each side: a constant of the program and its neighbours.
const NEIGHBOURS: usize = 3;
/// Bounds of the result that are tried on each side.
const BOUNDS: usize = 4;
/// Constants beyond this do not take part.
const LARGEST: i128 = 1 << 40;

/// What is known about the function for which clauses are guessed.
struct Guess {
    params: Vec<IntTy>,
    result: IntTy,
    /// A type in which sums of a few values do not wrap.
    wide: IntTy,
    /// Constants of the program and their neighbours.
    constants: BTreeSet<i128>,
    moduli: BTreeSet<u32>,
}

/// Which clauses about the result are guessed. Few are checked faster, and often suffice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Equations.
    Equations,
    /// Also bounds by constants.
    Constants,
    /// Also bounds by parameters.
    All,
}

impl Level {
    /// All levels, in the order in which they are tried.
    pub const ALL: [Level; 3] = [Level::Equations, Level::Constants, Level::All];
}

/// The contract of a function that the observed calls do not contradict.
pub fn contract(program: &Program, func: FuncId, calls: &Calls, level: Level) -> Contract {
    let nothing = BTreeSet::new();
    let called = calls.called.get(&func).unwrap_or(&nothing);
    let returned = calls.returned.get(&func).unwrap_or(&nothing);
    let mut contract = Contract::new(func, Vec::new(), Vec::new());
    if let Some(guess) = Guess::new(program, func) {
        contract.requires = guess.requires(called);
        let conditions = guess.conditions(program, func);
        contract.ensures = guess.ensures(&conditions, returned, level);
    }
    contract
}

impl Guess {
    fn new(program: &Program, func: FuncId) -> Option<Guess> {
        let int = |ty: TypeId| program.scalar_of(ty)?.int();
        let params: Vec<IntTy> =
            program.body(func).params.iter().map(|&p| int(program.vars[p].ty)).collect::<Option<_>>()?;
        let Type::Func(sig) = &program.types[program.funcs[func].ty] else { return None };
        let result = int(sig.ret)?;
        let widest = params.iter().chain([&result]).map(|t| t.bits).max()?;
        let wide = IntTy { bits: if widest <= 32 { 64 } else { 128 }, signed: true };
        let mut constants: BTreeSet<i128> = (-1..=1).collect();
        let mut moduli = BTreeSet::from([2]);
        for expr in &program.exprs {
            match expr.kind {
                ExprKind::Int(bits) => {
                    let Some(ty) = expr.ty.int() else { continue };
                    let value = ty.decode(bits);
                    constants.extend([value - 1, value, value + 1]);
                }
                ExprKind::Binary(BinOp::Rem, _, b) => {
                    if let ExprKind::Int(bits) = program.exprs[b].kind
                        && let Ok(modulus) = u32::try_from(bits)
                        && modulus >= 2
                        && moduli.len() < 4
                    {
                        moduli.insert(modulus);
                    }
                }
                _ => {}
            }
        }
        constants.retain(|c| c.abs() < LARGEST);
        Some(Guess { params, result, wide, constants, moduli })
    }

    fn atom(&self, terms: Vec<Term>, constant: i128, relation: Relation) -> Atom {
        Atom { terms, constant: constant as i64, relation, ty: self.wide }
    }

    /// `p >= c`
    fn at_least(&self, param: usize, c: i128) -> Atom {
        self.atom(vec![term(1, Value::Param(param))], -c, Relation::AtLeastZero)
    }

    /// `p <= c`
    fn at_most(&self, param: usize, c: i128) -> Atom {
        self.atom(vec![term(-1, Value::Param(param))], c, Relation::AtLeastZero)
    }

    /// Bounds of the parameters by constants of the program.
    fn requires(&self, called: &BTreeSet<Vec<i128>>) -> Vec<Clause> {
        let mut clauses = Vec::new();
        for (i, ty) in self.params.iter().enumerate() {
            let values = called.iter().filter_map(|c| c.get(i).copied());
            let (Some(min), Some(max)) = (values.clone().min(), values.max()) else { continue };
            let mut lower: Vec<i128> = self.constants.range(..=min).rev().take(NEIGHBOURS).copied().collect();
            if min >= 0 {
                lower.push(0);
            }
            lower.sort_unstable();
            lower.dedup();
            lower.retain(|c| *c > ty.decode(ty.min_bits()));
            let upper = self.constants.range(max..).take(NEIGHBOURS);
            let upper = upper.filter(|c| **c < ty.decode(ty.max_bits()));
            clauses.extend(lower.iter().map(|c| self.at_least(i, *c)));
            clauses.extend(upper.map(|c| self.at_most(i, *c)));
        }
        clauses.into_iter().map(|then| Clause { given: Vec::new(), then }).collect()
    }

    /// Conditions about parameters under which the function may behave differently.
    fn conditions(&self, program: &Program, func: FuncId) -> Vec<Vec<Atom>> {
        let params = &program.body(func).params;
        let mut found: Vec<Vec<Atom>> = vec![Vec::new()];
        let trivial = |a: &Atom| match a.terms[..] {
            [Term { factor: 1, value: Value::Param(i), .. }] if a.relation == Relation::AtLeastZero => {
                i128::from(-a.constant) <= self.params[i].decode(self.params[i].min_bits())
            }
            _ => false,
        };
        let mut add = |mut atoms: Vec<Atom>| {
            atoms.retain(|a| !trivial(a));
            if !found.contains(&atoms) {
                found.push(atoms);
            }
        };
        let constant = |e: ExprId| match program.exprs[e] {
            Expr { ty: Scalar::Int(ty), kind: ExprKind::Int(bits) } => Some(ty.decode(bits)),
            _ => None,
        };
        let param = |e: ExprId| match program.exprs[e].kind {
            ExprKind::Load(place) => match &program.places[place] {
                Place { base: Base::Var(v), path, .. } if path.is_empty() => {
                    params.iter().position(|p| p == v)
                }
                _ => None,
            },
            _ => None,
        };
        for all in [1, 0] {
            add((0..params.len()).map(|i| self.at_least(i, all)).collect());
        }
        for expr in &program.exprs {
            let ExprKind::Cmp(op, a, b) = expr.kind else { continue };
            let (Some((i, c)), left) = (match (param(a), param(b)) {
                (Some(i), _) => (constant(b).map(|c| (i, c)), true),
                (_, Some(i)) => (constant(a).map(|c| (i, c)), false),
                _ => (None, true),
            }) else {
                continue;
            };
            if c.abs() >= LARGEST {
                continue;
            }
            // `p < c` and its negation `p >= c`, and likewise the others.
            let border = match (op, left) {
                (CmpOp::Lt, true) | (CmpOp::Le, false) => Some(c),
                (CmpOp::Le, true) | (CmpOp::Lt, false) => Some(c + 1),
                _ => None,
            };
            match border {
                Some(border) => {
                    add(vec![self.at_most(i, border - 1)]);
                    add(vec![self.at_least(i, border)]);
                }
                None => {
                    for c in [c, c + 1, c + 2] {
                        add(vec![self.atom(vec![term(1, Value::Param(i))], -c, Relation::Zero)]);
                    }
                    add(vec![self.at_least(i, c)]);
                    add(vec![self.at_least(i, c + 1)]);
                }
            }
        }
        found
    }

    /// Factors of the parameters in sums.
    fn factors(&self) -> Vec<Vec<i64>> {
        let n = self.params.len();
        let mut all = vec![vec![0; n]];
        if n > MAX_PARAMS {
            for i in 0..n {
                for factor in [1, -1] {
                    let mut one = vec![0; n];
                    one[i] = factor;
                    all.push(one);
                }
            }
            return all;
        }
        for i in 0..n {
            let choices: &[i64] = if n < MAX_PARAMS { &[1, -1, 2] } else { &[1, -1] };
            for k in 0..all.len() {
                for &factor in choices {
                    let mut more = all[k].clone();
                    more[i] = factor;
                    all.push(more);
                }
            }
        }
        all.sort_by_key(|v| v.iter().map(|f| f.abs()).sum::<i64>());
        all
    }

    fn ensures(&self, conditions: &[Vec<Atom>], returned: &BTreeSet<Vec<i128>>, level: Level) -> Vec<Clause> {
        let mut equations: Vec<Clause> = Vec::new();
        let mut bounds: Vec<Clause> = Vec::new();
        for given in conditions {
            let calls: Vec<&Vec<i128>> =
                returned.iter().filter(|c| given.iter().all(|a| holds(a, c))).collect();
            if calls.is_empty() {
                continue;
            }
            // A few calls lie on many lines.
            let few = calls.len() < 3;
            let clause = |then| Clause { given: given.clone(), then };
            for factors in self.factors() {
                let constant = factors.iter().all(|f| *f == 0);
                let fixed = |i: usize| given.iter().any(|a| a.relation == Relation::Zero && mentions(a, i));
                let about_fixed = factors.iter().enumerate().any(|(i, f)| *f != 0 && fixed(i));
                if few && !constant || about_fixed {
                    continue;
                }
                let mut terms = vec![term(1, Value::Result)];
                let used = factors.iter().enumerate().filter(|(_, f)| **f != 0);
                terms.extend(used.map(|(i, f)| term(-f, Value::Param(i))));
                let sums: Vec<i128> = calls.iter().map(|c| sum(&terms, c)).collect();
                match self.equation(&terms, &sums) {
                    // What always holds need not be said of a special case.
                    Some(then) if equations.iter().any(|e| e.given.is_empty() && e.then == then) => {}
                    Some(then) => equations.push(clause(then)),
                    None if terms.len() <= 2 && (constant || level == Level::All) => {
                        bounds.extend(self.bounds(&terms, &sums).into_iter().map(clause));
                    }
                    None => {}
                }
            }
            if !few {
                equations.extend(self.remainders(&calls).into_iter().map(clause));
            }
        }
        if equations.iter().any(|e| e.given.is_empty()) {
            equations.retain(|e| e.given.is_empty() || level == Level::All);
        }
        if level >= Level::Constants {
            // What holds under few conditions tells most.
            bounds.sort_by_key(|c| (c.given.len(), c.then.terms.len()));
            equations.extend(bounds);
        }
        equations.truncate(MAX_ENSURES);
        equations
    }

    /// That the sum is always the same, up to what the result's type cannot tell apart.
    fn equation(&self, terms: &[Term], sums: &[i128]) -> Option<Atom> {
        let wrapped = |s: &i128| self.result.decode(*s as u128);
        let first = wrapped(sums.first()?);
        let same = first.abs() < LARGEST && sums.iter().all(|s| wrapped(s) == first);
        same.then(|| Atom { ty: self.result, ..self.atom(terms.to_vec(), -first, Relation::Zero) })
    }

    /// The closest bounds of the sum among the constants. A bound of the result alone may be far off, and some
    /// more are tried: what was observed may not be all that there is.
    fn bounds(&self, terms: &[Term], sums: &[i128]) -> Vec<Atom> {
        let mut found = Vec::new();
        let (Some(&min), Some(&max)) = (sums.iter().min(), sums.iter().max()) else { return found };
        let alone = terms.len() == 1;
        let lowest = self.result.decode(self.result.min_bits());
        let count = if alone { BOUNDS } else { 1 };
        for &c in self.constants.range(..=min).rev().take(count) {
            if if alone { c > lowest } else { min - c < 2 } {
                found.push(self.atom(terms.to_vec(), -c, Relation::AtLeastZero));
            }
        }
        for &c in self.constants.range(max..).take(count) {
            if alone || c - max < 2 {
                let negated = terms.iter().map(|t| Term { factor: -t.factor, ..*t }).collect();
                found.push(self.atom(negated, c, Relation::AtLeastZero));
            }
        }
        found
    }

    /// The result as a remainder of a parameter, or opposite to it.
    fn remainders(&self, calls: &[&Vec<i128>]) -> Vec<Atom> {
        let mut found = Vec::new();
        for i in 0..self.params.len() {
            for &modulus in &self.moduli {
                for factor in [-1, 1] {
                    let rest = Term { factor, value: Value::Param(i), modulus: Some(modulus) };
                    let terms = vec![term(1, Value::Result), rest];
                    let first = sum(&terms, calls[0]);
                    let trivial = calls.iter().all(|c| sum(&[rest], c) == sum(&[rest], calls[0]));
                    if !trivial && first.abs() < LARGEST && calls.iter().all(|c| sum(&terms, c) == first) {
                        found.push(self.atom(terms, -first, Relation::Zero));
                    }
                }
            }
        }
        found
    }
}

fn term(factor: i64, value: Value) -> Term {
    Term { factor, value, modulus: None }
}

/// The sum of terms in a call, without wrapping.
fn sum(terms: &[Term], call: &[i128]) -> i128 {
    terms
        .iter()
        .map(|t| {
            let value = match t.value {
                Value::Param(i) => call[i],
                Value::Result => call[call.len() - 1],
                Value::Before(_) | Value::After(_) => {
                    unreachable!("what is observed is about functions that use no globals")
                }
            };
            i128::from(t.factor) * t.modulus.map_or(value, |m| value % i128::from(m))
        })
        .sum()
}

fn mentions(atom: &Atom, param: usize) -> bool {
    atom.terms.iter().any(|t| t.value == Value::Param(param))
}

/// Whether an atom whose sum does not wrap holds in a call.
pub(super) fn holds(atom: &Atom, call: &[i128]) -> bool {
    let sum = sum(&atom.terms, call) + i128::from(atom.constant);
    match atom.relation {
        Relation::Zero => sum == 0,
        Relation::NonZero => sum != 0,
        Relation::AtLeastZero => sum >= 0,
    }
}
