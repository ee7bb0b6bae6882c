//! Contracts of functions: calls give way to what is claimed about them.
//!
//! A [`Contract`] of a function says what its callers guarantee and how its result depends on its
//! parameters. It is for functions that cannot be followed wherever they are called: recursive
//! ones, and those whose calls multiply. [`weave`] makes of a program and contracts a program
//! without these calls:
//!
//! * it starts with a choice: either the old entry is called, or one of the functions with a
//!   contract, on arbitrary arguments that its callers may pass, after which the claims about its
//!   result are checked;
//! * every other call of such a function checks the claims about the arguments, and takes an
//!   arbitrary result about which the claims hold.
//!
//! If no check fails in any run of the woven program, none fails in the old one. For assume that
//! one does, and look at the first moment in that run at which a check fails, an argument is
//! not as claimed, or a result is not as claimed. Let A be the call of a function with a contract
//! (or of the entry) that is being executed then and that is not waiting for another such call.
//! Its arguments were as claimed, since this moment is the first, and so were the results of the
//! calls that it made. So the woven program has a run that does what A did, up to that moment,
//! and fails there.
//!
//! The argument needs that a call does nothing but return a result, and depends on nothing but
//! its arguments: the functions, and all that they call, use no memory and no globals
//! ([`candidates`]). It is about failing checks only, so checks of the heap are not allowed.

use palisade_base::IdxVec;
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
}

/// A program with contracts in place of calls.
pub struct Woven {
    /// The program.
    pub program: Program,
    /// The checks that stand for claims.
    pub claims: Vec<(EdgeId, Claim)>,
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

/// The functions that a run may call, that should have a contract and that can, in order; or why
/// contracts cannot be used for the program.
pub fn candidates(p: &Program) -> Result<Vec<FuncId>, String> {
    let calls = CallGraph::new(p);
    let reachable: Vec<FuncId> = p.funcs.ids().filter(|&f| calls.is_reachable(f)).collect();
    let mut unfit: Vec<FuncId> = reachable.iter().copied().filter(|&f| calls.is_recursive(f)).collect();
    if unfit.is_empty() && calls.sizes(p)[p.entry] >= LARGE {
        // Without the functions that are called more than once no function has two copies.
        let mut called = IdxVec::filled(0u32, p.funcs.len());
        for edge in p.edges.ids().filter(|&e| calls.is_reachable(p.locs[p.edges[e].src].func)) {
            calls.targets(p, edge).into_iter().for_each(|f| called[f] += 1);
        }
        unfit = reachable.into_iter().filter(|&f| called[f] > 1).collect();
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

/// Whether a check depends on nothing but the values that its condition mentions.
fn local(kind: CheckKind) -> bool {
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
    let integer = |ty: TypeId| matches!(p.scalar_of(ty), Some(Scalar::Int(t)) if t.bits <= 64);
    let register = |&v: &VarId| integer(p.vars[v].ty) && !p.vars[v].address_taken;
    if func == p.entry || sig.variadic || !integer(sig.ret) || !body.params.iter().all(register) {
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
                    | ExprKind::HeapEmpty
                    | ExprKind::HeapTracked
            ),
        }
    });
    inside
}

/// Puts contracts in the place of calls.
pub fn weave(source: &Program, contracts: &[Contract]) -> Result<Woven, String> {
    let fit = candidates(source)?;
    for (i, contract) in contracts.iter().enumerate() {
        let twice = contracts[..i].iter().any(|c| c.func == contract.func);
        if twice || !fit.contains(&contract.func) || !contract.is_well_formed(source) {
            return Err("a contract that says nothing meaningful".into());
        }
    }
    let mut weaver = Weaver { p: source.clone(), contracts, claims: Vec::new() };
    for edge in source.edges.ids() {
        weaver.replace_call(edge)?;
    }
    weaver.entry();
    Ok(Woven { program: weaver.p, claims: weaver.claims })
}

impl Contract {
    fn is_well_formed(&self, p: &Program) -> bool {
        let params = p.body(self.func).params.len();
        let atom = |a: &Atom, result: bool| {
            (1..=128).contains(&a.ty.bits)
                && a.terms.iter().all(|t| {
                    t.modulus.is_none_or(|m| m >= 2)
                        && match t.value {
                            Value::Param(i) => i < params,
                            Value::Result => result,
                        }
                })
        };
        let clause =
            |c: &Clause, result: bool| c.given.iter().all(|a| atom(a, result)) && atom(&c.then, result);
        self.requires.iter().all(|c| clause(c, false)) && self.ensures.iter().all(|c| clause(c, true))
    }

    /// The contract as C text over the names of the parameters and `\result`: what it requires
    /// and what it ensures, one expression for each clause.
    pub fn text(&self, p: &Program) -> (Vec<String>, Vec<String>) {
        let name = |value: Value| match value {
            Value::Param(i) => p.vars[p.body(self.func).params[i]].name.to_string(),
            Value::Result => "\\result".to_owned(),
        };
        let all = |clauses: &[Clause]| clauses.iter().map(|c| c.text(&name)).collect();
        (all(&self.requires), all(&self.ensures))
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

struct Weaver<'a> {
    p: Program,
    contracts: &'a [Contract],
    claims: Vec<(EdgeId, Claim)>,
}

impl Weaver<'_> {
    /// A new variable of a function.
    fn variable(&mut self, func: FuncId, ty: TypeId) -> VarId {
        let name = format!(".contract{}", self.p.vars.len());
        self.p.vars.push(Var::made_up(name, ty, VarKind::Temp(func)))
    }

    fn value(&mut self, var: VarId) -> ExprId {
        let place = self.p.var_place(var);
        self.p.load(place)
    }

    /// One more step from a location; returns where it leads.
    fn step(&mut self, at: LocId, op: Op) -> (EdgeId, LocId) {
        let (func, span) = (self.p.locs[at].func, self.p.locs[at].span);
        let next = self.p.add_loc(func, span);
        (self.p.add_edge(at, op, next, span), next)
    }

    fn atom(&mut self, atom: &Atom, params: &[VarId], result: Option<VarId>) -> ExprId {
        let ty = Scalar::Int(atom.ty);
        let mut sum = self.p.int(atom.ty, i128::from(atom.constant));
        for term in &atom.terms {
            let var = match term.value {
                Value::Param(i) => params[i],
                Value::Result => result.expect("well-formed claims about arguments mention no result"),
            };
            let mut value = self.value(var);
            if self.p.exprs[value].ty != ty {
                value = self.p.add_expr(ty, ExprKind::Convert(value));
            }
            if let Some(modulus) = term.modulus {
                let modulus = self.p.int(atom.ty, i128::from(modulus));
                value = self.p.add_expr(ty, ExprKind::Binary(BinOp::Rem, value, modulus));
            }
            if term.factor != 1 {
                let factor = self.p.int(atom.ty, i128::from(term.factor));
                value = self.p.add_expr(ty, ExprKind::Binary(BinOp::Mul, value, factor));
            }
            sum = self.p.add_expr(ty, ExprKind::Binary(BinOp::Add, sum, value));
        }
        let zero = self.p.int(atom.ty, 0);
        let comparison = match atom.relation {
            Relation::Zero => ExprKind::Cmp(CmpOp::Eq, sum, zero),
            Relation::NonZero => ExprKind::Cmp(CmpOp::Ne, sum, zero),
            Relation::AtLeastZero => ExprKind::Cmp(CmpOp::Le, zero, sum),
        };
        self.p.add_expr(Scalar::BOOL, comparison)
    }

    fn clause(&mut self, clause: &Clause, params: &[VarId], result: Option<VarId>) -> ExprId {
        let mut holds = self.atom(&clause.then, params, result);
        for atom in &clause.given {
            let given = self.atom(atom, params, result);
            let not = self.p.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, given));
            holds = self.p.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, not, holds));
        }
        holds
    }

    fn assume_all(
        &mut self,
        mut at: LocId,
        all: &[Clause],
        params: &[VarId],
        result: Option<VarId>,
    ) -> LocId {
        for clause in all {
            let cond = self.clause(clause, params, result);
            at = self.step(at, Op::Assume { cond }).1;
        }
        at
    }

    fn check(&mut self, at: LocId, cond: ExprId, claim: Claim) -> LocId {
        let (edge, next) = self.step(at, Op::Check { kind: CheckKind::Assertion, cond });
        self.claims.push((edge, claim));
        next
    }

    fn result_type(&self, func: FuncId) -> TypeId {
        match &self.p.types[self.p.funcs[func].ty] {
            Type::Func(sig) => sig.ret,
            _ => unreachable!("functions with a contract have a signature"),
        }
    }

    /// Has a call of a function with a contract give way to the contract.
    fn replace_call(&mut self, edge: EdgeId) -> Result<(), String> {
        let Op::Call { dst, callee: Callee::Direct(func), args } = self.p.edges[edge].op.clone() else {
            return Ok(());
        };
        let Some(number) = self.contracts.iter().position(|c| c.func == func) else { return Ok(()) };
        let contract = &self.contracts[number];
        let caller = self.p.locs[self.p.edges[edge].src].func;
        let params = self.p.body(func).params.clone();
        if args.len() != params.len() {
            return Err("a call with other parameters".into());
        }
        // The edge of the call becomes the first step; the last one leads where it led.
        let (after, span) = (self.p.edges[edge].dst, self.p.edges[edge].span);
        let mut at = self.p.add_loc(caller, span);
        self.p.locs[after].inc.retain(|e| *e != edge);
        self.p.locs[at].inc.push(edge);
        self.p.edges[edge].op = Op::Skip;
        self.p.edges[edge].dst = at;
        let mut made = Vec::new();
        for (&param, arg) in params.iter().zip(&args) {
            let Arg::Scalar(src) = *arg else { return Err("a call with other parameters".into()) };
            let ty = self.p.vars[param].ty;
            if Some(self.p.exprs[src].ty) != self.p.scalar_of(ty) {
                return Err("a call with other parameters".into());
            }
            let var = self.variable(caller, ty);
            made.push(var);
            let dst = self.p.var_place(var);
            at = self.step(at, Op::Assign { dst, src }).1;
        }
        for (clause, requirement) in contract.requires.iter().enumerate() {
            let cond = self.clause(requirement, &made, None);
            at = self.check(at, cond, Claim { contract: number, ensures: false, clause });
        }
        let arguments = made.len();
        let last = match dst {
            None => Op::Skip,
            Some(dst) => {
                let ty = self.result_type(func);
                if self.p.place_scalar(dst) != self.p.scalar_of(ty) {
                    return Err("a call with another result".into());
                }
                let result = self.variable(caller, ty);
                made.push(result);
                let place = self.p.var_place(result);
                at = self.step(at, Op::Havoc { dst: place, input: false }).1;
                at = self.assume_all(at, &contract.ensures, &made[..arguments], Some(result));
                let src = self.value(result);
                Op::Assign { dst, src }
            }
        };
        self.p.add_edge(at, last, after, span);
        if let Some(body) = &mut self.p.funcs[caller].body {
            body.locals.extend(made);
        }
        Ok(())
    }

    /// The new entry: the old one, or a function with a contract.
    fn entry(&mut self) {
        let old = self.p.entry;
        let (ty, span) = (self.p.funcs[old].ty, self.p.funcs[old].span);
        let func = self.p.funcs.push(Function {
            name: ".contracts".into(),
            ty,
            span,
            body: None,
            effect: Effect::Pure,
        });
        let entry = self.p.add_loc(func, span);
        let exit = self.p.add_loc(func, span);
        let halted = self.p.add_loc(func, span);
        let int = self.p.types.push(Type::Int(IntTy::I32));
        let mut locals = Vec::new();
        let mut at = entry;
        for (number, contract) in self.contracts.iter().enumerate() {
            let (chosen, other) = self.choice(at, int, func, &mut locals);
            at = other;
            let end = self.examine(chosen, func, number, contract, int, &mut locals);
            self.p.add_edge(end, Op::Halt { kind: HaltKind::Abort }, halted, span);
        }
        let call = Op::Call { dst: None, callee: Callee::Direct(old), args: Box::new([]) };
        let end = self.step(at, call).1;
        self.p.add_edge(end, Op::Halt { kind: HaltKind::Abort }, halted, span);
        self.p.funcs[func].body = Some(Body { params: Vec::new(), locals, entry, exit });
        self.p.entry = func;
    }

    /// A free choice between two ways.
    fn choice(&mut self, at: LocId, int: TypeId, func: FuncId, locals: &mut Vec<VarId>) -> (LocId, LocId) {
        let var = self.variable(func, int);
        locals.push(var);
        let dst = self.p.var_place(var);
        let at = self.step(at, Op::Havoc { dst, input: false }).1;
        let (value, zero) = (self.value(var), self.p.int(IntTy::I32, 0));
        let yes = self.p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, value, zero));
        let no = self.p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, value, zero));
        (self.step(at, Op::Assume { cond: yes }).1, self.step(at, Op::Assume { cond: no }).1)
    }

    /// Calls a function on arguments that its contract allows and checks what it ensures: one
    /// clause, freely chosen, so that none hides another.
    fn examine(
        &mut self,
        mut at: LocId,
        func: FuncId,
        number: usize,
        contract: &Contract,
        int: TypeId,
        locals: &mut Vec<VarId>,
    ) -> LocId {
        let params = self.p.body(contract.func).params.clone();
        let mut given = Vec::new();
        for param in params {
            let var = self.variable(func, self.p.vars[param].ty);
            given.push(var);
            let dst = self.p.var_place(var);
            at = self.step(at, Op::Havoc { dst, input: false }).1;
        }
        at = self.assume_all(at, &contract.requires, &given, None);
        let result = self.variable(func, self.result_type(contract.func));
        let args = given.iter().map(|&v| Arg::Scalar(self.value(v))).collect();
        let dst = Some(self.p.var_place(result));
        at = self.step(at, Op::Call { dst, callee: Callee::Direct(contract.func), args }).1;
        locals.extend(given.iter().copied().chain([result]));
        let span = self.p.locs[at].span;
        let end = self.p.add_loc(func, span);
        for (clause, claim) in contract.ensures.iter().enumerate() {
            let (chosen, other) = self.choice(at, int, func, locals);
            let cond = self.clause(claim, &given, Some(result));
            let checked = self.check(chosen, cond, Claim { contract: number, ensures: true, clause });
            self.p.add_edge(checked, Op::Skip, end, span);
            at = other;
        }
        self.p.add_edge(at, Op::Skip, end, span);
        end
    }
}
