//! Large programs function by function: the engine `modular`.
//!
//! What makes a driver right is often the state of a few global registers: whether a lock is held, how often something
//! was opened. The memory of the program is [forgotten](mod@palisade_task::forget), and a [`table`] is made of what each
//! function leaves in these registers, for each case in which it is called. Nothing is inlined but small functions, so
//! that it does not matter how often functions are called. The lines of the table are the contracts of the functions,
//! which are proved one by one.

mod table;

use crate::bmc::Bmc;
use crate::board::Board;
use crate::houdini::Houdini;
use crate::parts::Parts;
use crate::parts::range::Range;
use crate::parts::steps::Steps;
use crate::summaries::{has_loops, prove_one};
use crate::{Certificate, Engine, Outcome, Progress};
use palisade_base::{Budget, IdxVec};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_evidence::Contracts;
use palisade_task::Task;
use palisade_task::contracts::{Atom, Case, Clause, Contract, Relation, Term, Value, Weaving};
use palisade_task::forget::{SMALL, Touched, forget, sizes};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use table::{End, Table};

/// The engine `modular`.
pub struct Modular {
    /// Functions of at most so many edges, together with all that they call, need no contract.
    pub small: usize,
}

impl Default for Modular {
    fn default() -> Self {
        Modular { small: SMALL }
    }
}

impl Engine for Modular {
    fn name(&self) -> &str {
        "modular"
    }

    fn looks_at_source(&self) -> bool {
        true
    }

    fn comes_first(&self, _: &Program) -> bool {
        true
    }

    fn run(&self, task: &Task, _: &Board, budget: &Budget, progress: &Progress<'_>) -> Outcome {
        match self.search(&task.source, budget, progress) {
            Ok(found) => Outcome::Proof(Certificate::Contracts(found)),
            Err(why) => Outcome::Unknown(why),
        }
    }
}

impl Modular {
    /// Tracks the registers that the checks ask for first, then all that conditions ask for.
    fn search(
        &self,
        source: &Program,
        budget: &Budget,
        progress: &Progress<'_>,
    ) -> Result<Contracts, String> {
        let everything: BTreeSet<FuncId> = source.funcs.ids().collect();
        let whole = forget(source, &everything)?;
        let few = asked(&whole, true);
        let many = asked(&whole, false);
        let mut reason = String::new();
        for asked in [&few, &many] {
            progress(format_args!("{} registers", asked.registers.len()));
            match self.attempt(source, &whole, asked, budget, progress) {
                Ok(found) => return Ok(found),
                Err(why) => reason = why,
            }
            if few == many {
                break;
            }
            budget.check().map_err(|stop| stop.to_string())?;
        }
        Err(reason)
    }

    fn attempt(
        &self,
        source: &Program,
        whole: &Program,
        asked: &Asked,
        budget: &Budget,
        progress: &Progress<'_>,
    ) -> Result<Contracts, String> {
        let calls = CallGraph::new(source);
        let sizes = sizes(source, &calls);
        let touched = Touched::of(whole);
        // What is small is inlined. The others are either forgotten, or have a contract.
        let sets = |f: FuncId| touched.written[f].iter().any(|var| asked.registers.contains(var));
        let large = |f: &FuncId| {
            *f != source.entry
                && source.funcs[*f].body.is_some()
                && calls.is_reachable(*f)
                && sizes[*f] > self.small
        };
        let fails = failing(whole);
        let followed: BTreeSet<FuncId> = source
            .funcs
            .ids()
            .filter(large)
            .filter(|&f| fails[f] || sets(f) || asked.results.contains(&f))
            .collect();
        if followed.is_empty() {
            return Err("there are no large functions that matter".into());
        }
        let program = forget(source, &followed)?;
        let touched = Touched::of(&program);
        let steps = Steps::new(&program);
        let table = Table::fill(&program, &steps, &touched, &asked.registers, budget)?;
        let contracts: Vec<Contract> =
            followed.iter().map(|&f| contract(&program, &touched, &table, f)).collect();
        let weaving = Weaving::new(source, &contracts, true)?;
        let mut proofs = Vec::new();
        for function in [None].into_iter().chain((0..contracts.len()).map(Some)) {
            progress(format_args!(
                "{} registers, function {} of {}",
                asked.registers.len(),
                proofs.len(),
                contracts.len()
            ));
            budget.check().map_err(|stop| stop.to_string())?;
            let woven = palisade_reduce::woven_task(weaving.program_of(function).program);
            let woven = woven.map_err(|error| error.to_string())?;
            let engines: &[&dyn Engine] = if has_loops(&woven) { &[&Parts, &Houdini] } else { &[&Bmc] };
            let name = function.map_or(source.entry, |i| contracts[i].func);
            let proof = prove_one(woven, engines, budget, progress);
            proofs.push(proof.map_err(|why| format!("{}: {why}", source.funcs[name].name))?);
        }
        Ok(Contracts { contracts, forgetful: true, proofs })
    }
}

/// What decides whether checks fail.
#[derive(PartialEq, Eq)]
struct Asked {
    /// Global registers and parameters.
    registers: FxHashSet<VarId>,
    /// The results of functions.
    results: FxHashSet<FuncId>,
}

/// The functions during whose calls a check may fail.
fn failing(p: &Program) -> IdxVec<FuncId, bool> {
    let calls = CallGraph::new(p);
    let mut fails = IdxVec::filled(false, p.funcs.len());
    for edge in &p.edges {
        let unmodelled = |f: FuncId| p.funcs[f].body.is_none();
        fails[p.locs[edge.src].func] |= match edge.op {
            Op::Check { .. } => true,
            Op::Call { callee: Callee::Direct(f), .. } => unmodelled(f),
            _ => false,
        };
    }
    let mut order: Vec<FuncId> = p.funcs.ids().collect();
    order.sort_by_key(|&f| calls.scc[f]);
    loop {
        let before = fails.iter().filter(|f| **f).count();
        for &f in &order {
            fails[f] = fails[f] || calls.callees[f].iter().any(|&g| fails[g]);
        }
        if fails.iter().filter(|f| **f).count() == before {
            return fails;
        }
    }
}

/// The global registers and parameters that conditions ask for: in functions that may fail, and with `few`, in small ones of these
/// alone; and what their values are made of.
fn asked(p: &Program, few: bool) -> Asked {
    let calls = CallGraph::new(p);
    let (fails, sizes) = (failing(p), sizes(p, &calls));
    let mut asked: FxHashSet<VarId> = FxHashSet::default();
    let reads = |op: &Op, asked: &mut FxHashSet<VarId>| {
        p.visit_op(op, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = p.places[place].base
            {
                asked.insert(var);
            }
        });
    };
    let checks: FxHashSet<FuncId> =
        p.edges.iter().filter(|e| matches!(e.op, Op::Check { .. })).map(|e| p.locs[e.src].func).collect();
    for edge in &p.edges {
        let func = p.locs[edge.src].func;
        let here = fails[func] && (!few || sizes[func] <= SMALL || checks.contains(&func));
        if here && matches!(edge.op, Op::Assume { .. } | Op::Check { .. }) {
            reads(&edge.op, &mut asked);
        }
    }
    let mut edges_of = IdxVec::filled(Vec::new(), p.funcs.len());
    for (id, edge) in p.edges.iter_enumerated() {
        edges_of[p.locs[edge.src].func].push(id);
    }
    let mut decides: FxHashSet<FuncId> = FxHashSet::default();
    loop {
        let before = asked.len();
        for edge in &p.edges {
            match &edge.op {
                op @ Op::Assign { dst, .. } => {
                    if let Base::Var(var) = p.places[*dst].base
                        && asked.contains(&var)
                    {
                        reads(op, &mut asked);
                    }
                }
                Op::Call { dst, args, callee: Callee::Direct(f) } => {
                    let Some(body) = &p.funcs[*f].body else { continue };
                    // What a function returns depends on all its conditions.
                    let result = dst.map(|dst| p.places[dst].base);
                    if matches!(result, Some(Base::Var(var)) if asked.contains(&var)) && decides.insert(*f) {
                        for &e in &edges_of[*f] {
                            if let op @ (Op::Assume { .. } | Op::Return { .. }) = &p.edges[e].op {
                                reads(op, &mut asked);
                            }
                        }
                    }
                    for (param, arg) in body.params.iter().zip(args) {
                        if let Arg::Scalar(cond) = *arg
                            && asked.contains(param)
                        {
                            reads(&Op::Assume { cond }, &mut asked);
                        }
                    }
                }
                _ => {}
            }
        }
        if asked.len() == before {
            asked.retain(|var| matches!(p.vars[*var].kind, VarKind::Global | VarKind::Param(_)));
            return Asked { registers: asked, results: decides };
        }
    }
}

/// The lines of the table that are about a function.
fn contract(p: &Program, touched: &Touched, table: &Table<'_>, func: FuncId) -> Contract {
    let tracked = &table.tracked[func];
    let int = |var: VarId| p.scalar_of(p.vars[var].ty).and_then(Scalar::int);
    let equals = |value: Value, ty: Option<IntTy>, number: i128| {
        Some(Atom {
            terms: vec![Term { factor: 1, value, modulus: None }],
            constant: number.wrapping_neg() as i64,
            relation: Relation::Zero,
            ty: ty?,
        })
    };
    let result = match &p.types[p.funcs[func].ty] {
        Type::Func(signature) => p.scalar_of(signature.ret).and_then(Scalar::int),
        _ => None,
    };
    let mut cases = Vec::new();
    for case in table.cases.iter().filter(|case| case.func == func) {
        let mut given = Vec::new();
        for (&var, value) in tracked.iter().zip(&case.globals) {
            given.extend(value.and_then(|value| equals(Value::Before(var), int(var), value)));
        }
        for &(i, value) in &case.params {
            given.extend(equals(Value::Param(i), int(p.body(func).params[i]), value));
        }
        let end = |end: &End| {
            let mut atoms = Vec::new();
            for (&var, value) in tracked.iter().zip(&end.globals) {
                if touched.written[func].contains(&var) {
                    atoms.extend(value.and_then(|value| equals(Value::After(var), int(var), value)));
                }
            }
            atoms.extend(end.result.zip(result).into_iter().flat_map(|(range, ty)| bounds(range, ty)));
            atoms
        };
        cases.push(Case { given, ends: case.ends.iter().map(end).collect() });
    }
    // What nobody calls need not do anything.
    let never = Atom { terms: Vec::new(), constant: 1, relation: Relation::Zero, ty: IntTy::I32 };
    let requires = cases.is_empty().then(|| Clause { given: Vec::new(), then: never });
    Contract { func, requires: requires.into_iter().collect(), ensures: Vec::new(), cases }
}

/// That the result, of a type, is in a range.
fn bounds(range: Range, ty: IntTy) -> Vec<Atom> {
    let atom = |factor: i64, constant: i128, relation: Relation, ty: IntTy| {
        let terms = vec![Term { factor, value: Value::Result, modulus: None }];
        Some(Atom { terms, constant: i64::try_from(constant).ok()?, relation, ty })
    };
    // Here a value and a constant add up without wrapping.
    let wide = IntTy { bits: if ty.bits <= 32 { 64 } else { 128 }, signed: true };
    let all = Range::of(ty);
    let atoms = match range.as_point() {
        Some(value) => [atom(1, -value, Relation::Zero, ty), None],
        None => [
            atom(1, -range.lo, Relation::AtLeastZero, wide).filter(|_| all.is_none_or(|a| a.lo < range.lo)),
            atom(-1, range.hi, Relation::AtLeastZero, wide).filter(|_| all.is_none_or(|a| range.hi < a.hi)),
        ],
    };
    atoms.into_iter().flatten().collect()
}
