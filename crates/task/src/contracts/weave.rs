//! Contracts in the place of calls.

use super::{Atom, Case, Claim, Clause, Contract, Relation, Value, candidates, result_type};
use crate::forget::{Touched, forget};
use palisade_cfa::*;
use std::collections::{BTreeMap, BTreeSet};

/// A program with contracts in place of calls.
pub struct Woven {
    /// The program.
    pub program: Program,
    /// The checks that stand for claims.
    pub claims: Vec<(EdgeId, Claim)>,
}

/// A program in which all calls of functions with contracts gave way to these.
pub struct Weaving<'a> {
    p: Program,
    contracts: &'a [Contract],
    claims: Vec<(EdgeId, Claim)>,
    /// The global registers that functions use: by all that they call, as it was.
    touched: Touched,
}

impl<'a> Weaving<'a> {
    /// Puts contracts in the place of calls; with `forgetful`, in the program without its memory.
    pub fn new(source: &Program, contracts: &'a [Contract], forgetful: bool) -> Result<Weaving<'a>, String> {
        let p = match forgetful {
            true => {
                let followed: BTreeSet<FuncId> = contracts.iter().map(|c| c.func).collect();
                forget(source, &followed)?
            }
            false => source.clone(),
        };
        let fit = if forgetful { Vec::new() } else { candidates(source)? };
        let mut seen = BTreeSet::new();
        for contract in contracts {
            let func = contract.func;
            let fits = match forgetful {
                true => func != p.entry && p.funcs.get(func).is_some_and(|f| f.body.is_some()),
                false => fit.contains(&func),
            };
            if !fits || !seen.insert(func) || !contract.is_well_formed(&p) {
                return Err("a contract that says nothing meaningful".into());
            }
        }
        let touched = Touched::of(&p);
        let mut weaving = Weaving { p, contracts, claims: Vec::new(), touched };
        let number: BTreeMap<FuncId, usize> =
            contracts.iter().enumerate().map(|(i, contract)| (contract.func, i)).collect();
        for edge in weaving.p.edges.ids() {
            weaving.replace_call(edge, &number)?;
        }
        Ok(weaving)
    }

    /// The program that shows what a contract claims, or, without one, that the entry does nothing wrong.
    pub fn program_of(&self, contract: Option<usize>) -> Woven {
        let mut weaving = Weaving {
            p: self.p.clone(),
            contracts: self.contracts,
            claims: self.claims.clone(),
            touched: self.touched.clone(),
        };
        weaving.entry(contract);
        Woven { program: weaving.p, claims: weaving.claims }
    }

    /// A new variable of a function.
    fn variable(&mut self, func: FuncId, ty: TypeId) -> VarId {
        let name = format!(".contract{}", self.p.vars.len());
        let var = self.p.vars.push(Var::made_up(name, ty, VarKind::Temp(func)));
        if let Some(body) = &mut self.p.funcs[func].body {
            body.locals.push(var);
        }
        var
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

    fn havoc(&mut self, at: LocId, var: VarId) -> LocId {
        let dst = self.p.var_place(var);
        self.step(at, Op::Havoc { dst, input: false }).1
    }

    fn atom(&mut self, atom: &Atom, call: &Call) -> ExprId {
        let ty = Scalar::Int(atom.ty);
        let mut sum = None;
        for term in &atom.terms {
            let mut value = self.value(call.variable(term.value));
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
            sum = Some(match sum {
                None => value,
                Some(sum) => self.p.add_expr(ty, ExprKind::Binary(BinOp::Add, sum, value)),
            });
        }
        let zero = self.p.int(atom.ty, 0);
        let sum = sum.unwrap_or(zero);
        // Sums wrap, so that the constant may stand on either side of an equation.
        let comparison = match atom.relation {
            Relation::Zero | Relation::NonZero => {
                let op = if atom.relation == Relation::Zero { CmpOp::Eq } else { CmpOp::Ne };
                ExprKind::Cmp(op, sum, self.p.int(atom.ty, -i128::from(atom.constant)))
            }
            Relation::AtLeastZero => {
                let constant = self.p.int(atom.ty, i128::from(atom.constant));
                let sum = match atom.constant {
                    0 => sum,
                    _ => self.p.add_expr(ty, ExprKind::Binary(BinOp::Add, sum, constant)),
                };
                ExprKind::Cmp(CmpOp::Le, zero, sum)
            }
        };
        self.p.add_expr(Scalar::BOOL, comparison)
    }

    fn clause(&mut self, clause: &Clause, call: &Call) -> ExprId {
        let mut holds = self.atom(&clause.then, call);
        for atom in &clause.given {
            let given = self.atom(atom, call);
            let not = self.p.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, given));
            holds = self.p.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, not, holds));
        }
        holds
    }

    /// Whether all atoms of one of the lists hold.
    fn one_of<'l>(&mut self, lists: impl Iterator<Item = &'l Vec<Atom>>, call: &Call) -> ExprId {
        let lists: Vec<ExprId> = lists
            .map(|list| {
                let atoms: Vec<ExprId> = list.iter().map(|atom| self.atom(atom, call)).collect();
                self.joined(BinOp::And, atoms)
            })
            .collect();
        self.joined(BinOp::Or, lists)
    }

    fn joined(&mut self, op: BinOp, truths: Vec<ExprId>) -> ExprId {
        let whole =
            truths.into_iter().reduce(|a, b| self.p.add_expr(Scalar::BOOL, ExprKind::Binary(op, a, b)));
        let empty = u128::from(op == BinOp::And);
        whole.unwrap_or_else(|| self.p.add_expr(Scalar::BOOL, ExprKind::Int(empty)))
    }

    fn assume_all(&mut self, mut at: LocId, all: &[Clause], call: &Call) -> LocId {
        for clause in all {
            let cond = self.clause(clause, call);
            at = self.step(at, Op::Assume { cond }).1;
        }
        at
    }

    /// Goes on if all atoms hold.
    fn assume_atoms(&mut self, mut at: LocId, atoms: &[Atom], call: &Call) -> LocId {
        for atom in atoms {
            let cond = self.atom(atom, call);
            at = self.step(at, Op::Assume { cond }).1;
        }
        at
    }

    fn check(&mut self, at: LocId, cond: ExprId, claim: Option<Claim>) -> LocId {
        let (edge, next) = self.step(at, Op::Check { kind: CheckKind::Assertion, cond });
        self.claims.extend(claim.map(|claim| (edge, claim)));
        next
    }

    /// A way for each of some things, freely chosen; all lead to the same place.
    fn ways<T>(
        &mut self,
        mut at: LocId,
        things: &[T],
        mut way: impl FnMut(&mut Self, LocId, &T) -> LocId,
    ) -> LocId {
        let (func, span) = (self.p.locs[at].func, self.p.locs[at].span);
        let end = self.p.add_loc(func, span);
        for (i, thing) in things.iter().enumerate() {
            let start = if i + 1 < things.len() {
                let (chosen, other) = self.choice(at);
                at = other;
                chosen
            } else {
                at
            };
            let last = way(self, start, thing);
            self.p.add_edge(last, Op::Skip, end, span);
        }
        if things.is_empty() {
            let cond = self.p.add_expr(Scalar::BOOL, ExprKind::Int(0));
            self.p.add_edge(at, Op::Assume { cond }, end, span);
        }
        end
    }

    /// A free choice between two ways.
    fn choice(&mut self, at: LocId) -> (LocId, LocId) {
        let int = self.p.types.push(Type::Int(IntTy::I32));
        let var = self.variable(self.p.locs[at].func, int);
        let at = self.havoc(at, var);
        let (value, zero) = (self.value(var), self.p.int(IntTy::I32, 0));
        let yes = self.p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, value, zero));
        let no = self.p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, value, zero));
        (self.step(at, Op::Assume { cond: yes }).1, self.step(at, Op::Assume { cond: no }).1)
    }

    /// Remembers what global registers hold, as far as the contract asks for that.
    fn remember(&mut self, mut at: LocId, contract: &Contract, call: &mut Call) -> LocId {
        let mut asked = BTreeSet::new();
        contract.for_each_value(|value| {
            if let Value::Before(var) = value {
                asked.insert(var);
            }
        });
        for global in asked {
            let var = self.variable(self.p.locs[at].func, self.p.vars[global].ty);
            let (dst, src) = (self.p.var_place(var), self.value(global));
            at = self.step(at, Op::Assign { dst, src }).1;
            call.before.insert(global, var);
        }
        at
    }

    /// Has a call of a function with a contract give way to the contract.
    fn replace_call(&mut self, edge: EdgeId, number: &BTreeMap<FuncId, usize>) -> Result<(), String> {
        let Op::Call { dst, callee: Callee::Direct(func), args } = self.p.edges[edge].op.clone() else {
            return Ok(());
        };
        let Some(&number) = number.get(&func) else { return Ok(()) };
        let contracts = self.contracts;
        let contract = &contracts[number];
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
        let mut call = Call::default();
        for (&param, arg) in params.iter().zip(&args) {
            let Arg::Scalar(src) = *arg else { return Err("a call with other parameters".into()) };
            let ty = self.p.vars[param].ty;
            if Some(self.p.exprs[src].ty) != self.p.scalar_of(ty) {
                return Err("a call with other parameters".into());
            }
            let var = self.variable(caller, ty);
            call.params.push(var);
            let dst = self.p.var_place(var);
            at = self.step(at, Op::Assign { dst, src }).1;
        }
        at = self.remember(at, contract, &mut call);
        for (clause, requirement) in contract.requires.iter().enumerate() {
            let cond = self.clause(requirement, &call);
            at = self.check(at, cond, Some(Claim { contract: number, ensures: false, clause }));
        }
        if !contract.cases.is_empty() {
            let cond = self.one_of(contract.cases.iter().map(|case| &case.given), &call);
            at = self.check(at, cond, None);
        }
        for global in self.touched.written[func].clone() {
            at = self.havoc(at, global);
        }
        if let Some(ty) = result_type(&self.p, func) {
            let result = self.variable(caller, ty);
            at = self.havoc(at, result);
            call.result = Some(result);
        }
        at = self.assume_all(at, &contract.ensures, &call);
        if !contract.cases.is_empty() {
            at = self.ways(at, &contract.cases, |this, at, case: &Case| {
                let at = this.assume_atoms(at, &case.given, &call);
                this.ways(at, &case.ends, |this, at, end| this.assume_atoms(at, end, &call))
            });
        }
        let last = match (dst, call.result) {
            (None, _) => Op::Skip,
            (Some(dst), Some(result))
                if self.p.place_scalar(dst) == self.p.scalar_of(self.p.vars[result].ty) =>
            {
                Op::Assign { dst, src: self.value(result) }
            }
            _ => return Err("a call with another result".into()),
        };
        self.p.add_edge(at, last, after, span);
        Ok(())
    }

    /// The new entry: the old one, or a function with a contract.
    fn entry(&mut self, contract: Option<usize>) {
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
        let body = Body { params: Vec::new(), locals: Vec::new(), entry, exit };
        self.p.funcs[func].body = Some(body);
        let end = match contract {
            Some(number) => self.examine(entry, func, number),
            None => {
                let call = Op::Call { dst: None, callee: Callee::Direct(old), args: Box::new([]) };
                self.step(entry, call).1
            }
        };
        self.p.add_edge(end, Op::Halt { kind: HaltKind::Abort }, halted, span);
        self.p.entry = func;
    }

    /// Calls a function on arguments that its contract allows and checks what it ensures: one
    /// clause, freely chosen, so that none hides another.
    fn examine(&mut self, mut at: LocId, func: FuncId, number: usize) -> LocId {
        let contract = &self.contracts[number];
        let mut call = Call::default();
        for param in self.p.body(contract.func).params.clone() {
            let var = self.variable(func, self.p.vars[param].ty);
            call.params.push(var);
            at = self.havoc(at, var);
        }
        let mut globals = self.touched.read[contract.func].clone();
        globals.extend(&self.touched.written[contract.func]);
        // Whatever the function does with it, a claim about a register is about all calls.
        contract.for_each_value(|value| {
            if let Value::Before(var) | Value::After(var) = value {
                globals.insert(var);
            }
        });
        for global in globals {
            at = self.havoc(at, global);
        }
        at = self.remember(at, contract, &mut call);
        at = self.assume_all(at, &contract.requires, &call);
        // Whoever looks at one case at a time finds constants there.
        if !contract.cases.is_empty() {
            at = self.ways(at, &contract.cases, |this, at, case| this.assume_atoms(at, &case.given, &call));
        }
        let args = call.params.clone().into_iter().map(|v| Arg::Scalar(self.value(v))).collect();
        let dst = result_type(&self.p, contract.func).map(|ty| {
            let result = self.variable(func, ty);
            call.result = Some(result);
            self.p.var_place(result)
        });
        at = self.step(at, Op::Call { dst, callee: Callee::Direct(contract.func), args }).1;
        let claims: Vec<Promise> = (0..contract.ensures.len())
            .map(Promise::Clause)
            .chain((0..contract.cases.len()).map(Promise::Case))
            .collect();
        if claims.is_empty() {
            return at;
        }
        self.ways(at, &claims, |this, at, promise| match *promise {
            Promise::Clause(clause) => {
                let cond = this.clause(&contract.ensures[clause], &call);
                this.check(at, cond, Some(Claim { contract: number, ensures: true, clause }))
            }
            Promise::Case(case) => {
                let Case { given, ends } = &contract.cases[case];
                let at = this.assume_atoms(at, given, &call);
                let cond = this.one_of(ends.iter(), &call);
                this.check(at, cond, None)
            }
        })
    }
}

/// Something that a contract says of calls that return, by its number.
enum Promise {
    Clause(usize),
    Case(usize),
}

/// The variables that stand for what a contract speaks about.
#[derive(Default)]
struct Call {
    params: Vec<VarId>,
    result: Option<VarId>,
    before: BTreeMap<VarId, VarId>,
}

impl Call {
    fn variable(&self, value: Value) -> VarId {
        match value {
            Value::Param(i) => self.params[i],
            Value::Result => self.result.expect("well-formed claims about arguments mention no result"),
            Value::Before(var) => self.before[&var],
            Value::After(var) => var,
        }
    }
}
