//! Contracts of functions: calls give way to what is claimed about them.
//!
//! A [`Contract`] of a function says what its callers guarantee and how its result, and what it leaves in global
//! registers, depends on its parameters and on what it finds there. It is for functions that cannot be followed
//! wherever they are called: recursive ones, and those whose calls multiply. [`Weaving`] makes of a program and
//! contracts programs without these calls, one for each function with a contract and one for the entry:
//!
//! * it calls the function on arbitrary arguments that its callers may pass, after which the claims about its result
//!   are checked; or it calls the old entry;
//! * every other call of a function with a contract checks the claims about the arguments, and takes an arbitrary
//!   result about which the claims hold.
//!
//! If no check fails in any run of the woven programs, none fails in the old one. For assume that one does, and look
//! at the first moment in that run at which a check fails, an argument is not as claimed, or a result is not as
//! claimed. Let A be the call of a function with a contract (or of the entry) that is being executed then and that is
//! not waiting for another such call. Its arguments were as claimed, since this moment is the first, and so were the
//! results of the calls that it made. So the program woven for its function has a run that does what A did, up to that
//! moment, and fails there.
//!
//! The argument needs that a call does nothing but return a result and set global registers, and depends on nothing
//! else. Either the functions, and all that they call, use no memory and no globals ([`candidates`]); or memory is
//! [forgotten](mod@crate::forget): every read gives any value. It is about failing checks only, so checks of the heap
//! are not allowed.

mod weave;

pub use weave::{Weaving, Woven};

use palisade_base::{Idx, IdxVec};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// What is claimed about a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contract {
    /// The function.
    pub func: FuncId,
    /// What holds of the arguments of every call.
    pub requires: Vec<Clause>,
    /// What holds of arguments and result whenever a call returns.
    pub ensures: Vec<Clause>,
    /// Every call is one of these cases; if there are none, nothing more is claimed.
    pub cases: Vec<Case>,
}

/// A kind of calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// All of these hold when it begins.
    pub given: Vec<Atom>,
    /// One of these holds, all atoms of it, if it returns.
    pub ends: Vec<Vec<Atom>>,
}

/// If all of `given` hold, so does `then`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Clause {
    /// The conditions.
    pub given: Vec<Atom>,
    /// The conclusion.
    pub then: Atom,
}

/// A comparison of a sum with zero, computed in a machine integer type: operands are converted to
/// it, and the sum wraps.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Atom {
    /// What is added up besides the constant.
    pub terms: Vec<Term>,
    /// The constant.
    pub constant: i64,
    /// How the sum compares with zero.
    pub relation: Relation,
    /// The type of the computation.
    pub ty: IntTy,
}

/// How a sum compares with zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// It is zero.
    Zero,
    /// It is not zero.
    NonZero,
    /// It is zero or more.
    AtLeastZero,
}

/// A multiple of a value, or of its remainder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Term {
    /// The factor.
    pub factor: i64,
    /// The value.
    pub value: Value,
    /// Divides the value first and goes on with the remainder; at least 2.
    pub modulus: Option<u32>,
}

/// What claims speak about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Value {
    /// The parameter of this number.
    Param(usize),
    /// The result.
    Result,
    /// What a global register holds when the call begins.
    Before(VarId),
    /// What a global register holds when the call returns.
    After(VarId),
}

/// A clause of a contract among several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Claim {
    /// Number of the contract.
    pub contract: usize,
    /// Whether it is one of [`Contract::ensures`].
    pub ensures: bool,
    /// Number of the clause.
    pub clause: usize,
}

/// From so many edges on, each call followed, a program is too large to follow its calls.
const LARGE: u64 = 10_000;

/// A program of which calls, followed, make so many times its edges, and so many at least, is one whose calls multiply.
const MULTIPLY: (u64, u64) = (16, 2_000);

/// The functions that a run may call, that should have a contract and that can, in order; or why
/// contracts cannot be used for the program.
pub fn candidates(p: &Program) -> Result<Vec<FuncId>, String> {
    let calls = CallGraph::new(p);
    let reachable: Vec<FuncId> = p.funcs.ids().filter(|&f| calls.is_reachable(f)).collect();
    let mut unfit: Vec<FuncId> = reachable.iter().copied().filter(|&f| calls.is_recursive(f)).collect();
    if unfit.is_empty() && calls_are_many(p, &calls) {
        unfit = called_again(p, &calls);
    }
    let fit: Vec<FuncId> = unfit.into_iter().filter(|&f| fits(p, &calls, f)).collect();
    if fit.is_empty() {
        return Err(
            "there is no recursive or often called function that computes with its arguments alone".into()
        );
    }
    let strange = p.edges.iter().find_map(|e| match e.op {
        Op::Check { kind, .. } if !local(kind) => Some(kind),
        _ => None,
    });
    match strange {
        Some(kind) => Err(format!("contracts say nothing about a check of {kind}")),
        None => Ok(fit),
    }
}

/// Whether it takes too much to follow every call.
fn calls_are_many(p: &Program, calls: &CallGraph) -> bool {
    let own = p.edges.iter().filter(|e| calls.is_reachable(p.locs[e.src].func)).count() as u64;
    let followed = calls.sizes(p)[p.entry];
    followed >= LARGE || followed >= u64::max(MULTIPLY.0 * own, MULTIPLY.1)
}

/// The functions that are called more than once. Without them no function has two copies.
fn called_again(p: &Program, calls: &CallGraph) -> Vec<FuncId> {
    let mut called = IdxVec::filled(0u32, p.funcs.len());
    for edge in p.edges.ids().filter(|&e| calls.is_reachable(p.locs[p.edges[e].src].func)) {
        calls.targets(p, edge).into_iter().for_each(|f| called[f] += 1);
    }
    p.funcs.ids().filter(|&f| called[f] > 1).collect()
}

/// Whether contracts take the place of all calls that multiply, so that what is left is as large as its text.
pub fn leave_no_copies(p: &Program) -> bool {
    let calls = CallGraph::new(p);
    candidates(p).is_ok_and(|fit| called_again(p, &calls).iter().all(|f| fit.contains(f)))
}

/// Whether a check depends on nothing but the values that its condition mentions.
pub(crate) fn local(kind: CheckKind) -> bool {
    matches!(
        kind,
        CheckKind::Assertion
            | CheckKind::ForbiddenCall
            | CheckKind::Unreachable
            | CheckKind::SignedOverflow
            | CheckKind::ShiftOverflow
            | CheckKind::ShiftRange
            | CheckKind::DivByZero
    )
}

/// Whether a function maps integers to an integer and, with all that it calls, touches neither
/// memory nor globals.
fn fits(p: &Program, calls: &CallGraph, func: FuncId) -> bool {
    let (Some(body), Type::Func(sig)) = (&p.funcs[func].body, &p.types[p.funcs[func].ty]) else {
        return false;
    };
    let word = |ty: Option<IntTy>| ty.is_some_and(|t| t.bits <= 64);
    let returned = p.scalar_of(sig.ret).and_then(Scalar::int);
    let words = word(returned) && body.params.iter().all(|v| word(p.integer_register(*v)));
    if func == p.entry || sig.variadic || !words {
        return false;
    }
    let mut seen = FxHashSet::from_iter([func]);
    let mut work = vec![func];
    while let Some(f) = work.pop() {
        work.extend(calls.callees[f].iter().filter(|&&g| p.funcs[g].body.is_some() && seen.insert(g)));
    }
    p.edges.iter().filter(|e| seen.contains(&p.locs[e.src].func)).all(|e| stays_inside(p, &e.op))
}

/// Whether an operation touches nothing but variables of its function.
fn stays_inside(p: &Program, op: &Op) -> bool {
    let fine = match op {
        Op::Alloc { .. } | Op::Free { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => false,
        Op::Call { callee: Callee::Indirect(_), .. } => false,
        Op::Call { callee: Callee::Direct(f), args, .. } if p.funcs[*f].body.is_none() => args.iter().all(
            |a| matches!(a, Arg::Scalar(e) if matches!(p.exprs[*e].ty, Scalar::Int(_) | Scalar::Float(_))),
        ),
        _ => true,
    };
    let mut inside = fine;
    p.visit_op(op, &mut |used| {
        inside &= match used {
            Use::Address(_) => false,
            Use::Read(x) | Use::Write(x) => match p.places[x].base {
                Base::Var(v) => p.vars[v].kind != VarKind::Global && !p.vars[v].address_taken,
                Base::Deref(_) => false,
            },
            Use::Expr(e) => !matches!(
                p.exprs[e].kind,
                ExprKind::Addr(_)
                    | ExprKind::Func(_)
                    | ExprKind::Valid { .. }
                    | ExprKind::Freeable(_)
                    | ExprKind::ObjectSize(_)
                    | ExprKind::ReadOnly(_)
                    | ExprKind::Overlap(..)
                    | ExprKind::HeapEmpty
                    | ExprKind::HeapTracked
            ),
        }
    });
    inside
}

impl Contract {
    /// A contract without cases.
    pub fn new(func: FuncId, requires: Vec<Clause>, ensures: Vec<Clause>) -> Contract {
        Contract { func, requires, ensures, cases: Vec::new() }
    }

    /// Whether all that it speaks about is there when it does.
    fn is_well_formed(&self, p: &Program) -> bool {
        let params = p.body(self.func).params.len();
        let global = |v: VarId| {
            v.index() < p.vars.len() && p.vars[v].kind == VarKind::Global && p.integer_register(v).is_some()
        };
        let atom = |a: &Atom, returned: bool| {
            (1..=128).contains(&a.ty.bits)
                && a.terms.iter().all(|t| {
                    t.modulus.is_none_or(|m| m >= 2)
                        && match t.value {
                            Value::Param(i) => i < params,
                            Value::Result => returned && result_type(p, self.func).is_some(),
                            Value::Before(v) => global(v),
                            Value::After(v) => returned && global(v),
                        }
                })
        };
        let clause =
            |c: &Clause, returned: bool| c.given.iter().all(|a| atom(a, returned)) && atom(&c.then, returned);
        let case = |c: &Case| {
            c.given.iter().all(|a| atom(a, false)) && c.ends.iter().flatten().all(|a| atom(a, true))
        };
        self.requires.iter().all(|c| clause(c, false))
            && self.ensures.iter().all(|c| clause(c, true))
            && self.cases.iter().all(case)
    }

    /// Everything that it speaks about.
    fn for_each_value(&self, mut f: impl FnMut(Value)) {
        let clauses = self.requires.iter().chain(&self.ensures);
        let in_clauses = clauses.flat_map(|c| c.given.iter().chain([&c.then]));
        let in_cases = self.cases.iter().flat_map(|c| c.given.iter().chain(c.ends.iter().flatten()));
        in_clauses.chain(in_cases).flat_map(|atom| &atom.terms).for_each(|term| f(term.value));
    }

    /// The contract as C text over the names of the parameters and globals, `\result` and `\old(..)`: what it
    /// requires and what it ensures, one expression for each clause and case.
    pub fn text(&self, p: &Program, params: &[VarId]) -> (Vec<String>, Vec<String>) {
        let name = |value: Value, returned: bool| match value {
            Value::Param(i) => p.vars[params[i]].name.to_string(),
            Value::Result => "\\result".to_owned(),
            Value::Before(v) if returned => format!("\\old({})", p.vars[v].name),
            Value::Before(v) | Value::After(v) => p.vars[v].name.to_string(),
        };
        let all = |clauses: &[Clause], returned: bool| -> Vec<String> {
            clauses.iter().map(|c| c.text(&|value| name(value, returned))).collect()
        };
        let both = |atoms: &[Atom], returned: bool| match atoms {
            [] => "1".to_owned(),
            _ => {
                let atoms: Vec<String> =
                    atoms.iter().map(|a| a.text(&|value| name(value, returned))).collect();
                format!("({})", atoms.join(" && "))
            }
        };
        let (mut requires, mut ensures) = (all(&self.requires, false), all(&self.ensures, true));
        if !self.cases.is_empty() {
            let cases: Vec<String> = self.cases.iter().map(|c| both(&c.given, false)).collect();
            requires.push(cases.join(" || "));
            requires.retain(|text| text != "1");
        }
        for case in &self.cases {
            let ends: Vec<String> = case.ends.iter().map(|end| both(end, true)).collect();
            let ends = if ends.is_empty() { "0".to_owned() } else { ends.join(" || ") };
            match (&*both(&case.given, true), &*ends) {
                (_, "1") => {}
                ("1", ends) => ensures.push(ends.to_owned()),
                (given, ends) => ensures.push(format!("!{given} || {ends}")),
            }
        }
        (requires, ensures)
    }
}

/// The integer type of what a function returns.
fn result_type(p: &Program, func: FuncId) -> Option<TypeId> {
    match &p.types[p.funcs[func].ty] {
        Type::Func(sig) => Some(sig.ret).filter(|ty| matches!(p.scalar_of(*ty), Some(Scalar::Int(_)))),
        _ => None,
    }
}

impl Clause {
    fn text(&self, name: &dyn Fn(Value) -> String) -> String {
        let then = self.then.text(name);
        if self.given.is_empty() {
            return then;
        }
        let given: Vec<String> = self.given.iter().map(|a| a.text(name)).collect();
        format!("!({}) || {then}", given.join(" && "))
    }
}

impl Atom {
    /// Terms with a positive factor stand on the left, the others on the right.
    fn text(&self, name: &dyn Fn(Value) -> String) -> String {
        let mut sides = [String::new(), String::new()];
        let mut add = |factor: i64, text: &str| {
            let side = &mut sides[usize::from(factor < 0)];
            let separator = if side.is_empty() { "" } else { " + " };
            let _ = match (factor.unsigned_abs(), text) {
                (n, "") => write!(side, "{separator}{n}"),
                (1, text) => write!(side, "{separator}{text}"),
                (n, text) => write!(side, "{separator}{n} * {text}"),
            };
        };
        for term in &self.terms {
            let value = name(term.value);
            match term.modulus {
                Some(m) => add(term.factor, &format!("{value} % {m}")),
                None => add(term.factor, &value),
            }
        }
        if self.constant != 0 {
            add(self.constant, "");
        }
        let [left, right] = sides.map(|s| if s.is_empty() { "0".to_owned() } else { s });
        let relation = match self.relation {
            Relation::Zero => "==",
            Relation::NonZero => "!=",
            Relation::AtLeastZero => ">=",
        };
        format!("{left} {relation} {right}")
    }
}
