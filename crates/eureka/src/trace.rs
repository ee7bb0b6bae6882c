//! Feasibility of traces (section 5): single assignment form, trace formulas, unsatisfiable cores.
//!
//! The domain of values is ℤ modulo 2⁶⁴, read as signed numbers.

use crate::program::*;
use palisade_base::{Budget, Stop};
use palisade_logic::{Answer, BvSolver, Limits, Solver, Sort, Term, Terms};

/// Bits of a value.
const WIDTH: u32 = 64;

/// The versions of all variables and arrays at a point of a trace.
#[derive(Clone)]
pub struct Versions {
    vars: Vec<Term>,
    arrays: Vec<Term>,
}

/// The trace formulas Φ(τ, P).
pub struct Encoding {
    /// One formula for each step; `None` where a statement adds none.
    pub formulas: Vec<Option<Term>>,
    /// The versions before each step.
    pub before: Vec<Versions>,
    /// That values which are assigned are in the domains of their variables.
    pub domains: Vec<Term>,
}

/// What `decide` finds out about a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The program has the trace.
    Feasible,
    /// It has not: the steps, counted from 0, whose formulas already contradict each other. No step
    /// can be left out.
    Core(Vec<usize>),
    /// The solver gave up.
    Unknown(String),
}

/// Puts a trace into single assignment form and encodes it (Table 3).
pub fn encode(terms: &mut Terms, program: &Program, trace: &[Vertex]) -> Encoding {
    let array = Sort::Array { index: WIDTH, elem: WIDTH };
    let mut now = Versions {
        vars: program.vars.iter().map(|n| terms.fresh_var(&n.name, Sort::BitVec(WIDTH))).collect(),
        arrays: program.arrays.iter().map(|(n, _)| terms.fresh_var(n, array)).collect(),
    };
    let mut encoding = Encoding { formulas: Vec::new(), before: Vec::new(), domains: Vec::new() };
    for (step, &vertex) in trace.iter().enumerate().filter(|(_, v)| **v != 0) {
        encoding.before.push(now.clone());
        let formula = match program.stmt(vertex) {
            Stmt::Skip(_) => None,
            Stmt::Assign(assigned, _) => {
                let mut equations = Vec::new();
                let old = now.clone();
                for (var, e) in assigned {
                    let value = expr(terms, &old, e);
                    let Variable { name, range } = &program.vars[var.0];
                    let new = terms.fresh_var(name, Sort::BitVec(WIDTH));
                    if let Some((least, most)) = range {
                        let [least, most] = [least, most].map(|n| terms.bv_signed(WIDTH, i128::from(*n)));
                        encoding.domains.extend([terms.sle(least, new), terms.sle(new, most)]);
                    }
                    equations.push(terms.eq(new, value));
                    now.vars[var.0] = new;
                }
                Some(terms.and_all(equations))
            }
            Stmt::Store(a, index, value, _) => {
                let (index, value) = (expr(terms, &now, index), expr(terms, &now, value));
                let stored = terms.store(now.arrays[a.0], index, value);
                let new = terms.fresh_var(&program.arrays[a.0].0, array);
                now.arrays[a.0] = new;
                Some(terms.eq(new, stored))
            }
            Stmt::Fill(a, value, _) => {
                let mut defined = true;
                value.visit(&mut |e| defined &= *e != Expr::Undefined);
                let filled = defined.then(|| {
                    let value = expr(terms, &now, value);
                    terms.const_array(WIDTH, value)
                });
                let new = terms.fresh_var(&program.arrays[a.0].0, array);
                now.arrays[a.0] = new;
                filled.map(|filled| terms.eq(new, filled))
            }
            Stmt::Assume(c, _) => Some(cond(terms, &now, c)),
            Stmt::Branch(c, yes, no) => {
                let holds = cond(terms, &now, c);
                // At the end of a trace nothing tells which way it goes, nor where both lead to one vertex.
                let next = trace.get(step + 1).copied();
                match next {
                    None => None,
                    _ if yes == no => None,
                    Some(next) if *yes == Some(next) => Some(holds),
                    Some(_) => Some(terms.not(holds)),
                }
            }
        };
        encoding.formulas.push(formula);
    }
    encoding
}

/// The value of an expression.
pub fn expr(terms: &mut Terms, now: &Versions, e: &Expr) -> Term {
    match e {
        Expr::Undefined => terms.fresh_var("u", Sort::BitVec(WIDTH)),
        Expr::Int(n) => terms.bv_signed(WIDTH, i128::from(*n)),
        Expr::Var(v) => now.vars[v.0],
        Expr::Scale(n, e) => {
            let (n, e) = (terms.bv_signed(WIDTH, i128::from(*n)), expr(terms, now, e));
            terms.mul(n, e)
        }
        Expr::Add(a, b) => {
            let (a, b) = (expr(terms, now, a), expr(terms, now, b));
            terms.add(a, b)
        }
        Expr::Ite(c, a, b) => {
            let (c, a, b) = (cond(terms, now, c), expr(terms, now, a), expr(terms, now, b));
            terms.ite(c, a, b)
        }
        Expr::Element(a, index) => {
            let index = expr(terms, now, index);
            terms.select(now.arrays[a.0], index)
        }
    }
}

fn cond(terms: &mut Terms, now: &Versions, c: &Cond) -> Term {
    let (a, b) = (expr(terms, now, &c.left), expr(terms, now, &c.right));
    match c.rel {
        Rel::Le => terms.sle(a, b),
        Rel::Lt => terms.slt(a, b),
        Rel::Eq => terms.eq(a, b),
        Rel::Ne => terms.ne(a, b),
        Rel::Ge => terms.sge(a, b),
        Rel::Gt => terms.sgt(a, b),
    }
}

/// A solver that the budget stops.
pub(crate) fn solver(budget: &Budget) -> BvSolver {
    let mut solver = BvSolver::new();
    solver.set_limits(Limits { budget: budget.clone(), ..Limits::default() });
    solver
}

/// Whether a program has a trace (theorem 3).
pub fn decide(program: &Program, trace: &[Vertex], budget: &Budget) -> Result<Decision, Stop> {
    let mut terms = Terms::new();
    let encoding = encode(&mut terms, program, trace);
    let mut core: Vec<usize> = (0..encoding.formulas.len()).collect();
    let mut left = core.clone();
    let mut asked = false;
    let mut solver = solver(budget);
    // Leaves out one step after the other that the contradiction does not need, the last ones first: what
    // is refuted early is refuted for more traces.
    while let Some(step) = if asked { left.pop() } else { Some(usize::MAX) } {
        budget.check()?;
        asked = true;
        if step != usize::MAX && !core.contains(&step) {
            continue;
        }
        let steps: Vec<usize> =
            core.iter().copied().filter(|&s| s != step && encoding.formulas[s].is_some()).collect();
        let mut formulas: Vec<Term> = steps.iter().filter_map(|&s| encoding.formulas[s]).collect();
        formulas.extend(&encoding.domains);
        match solver.check(&mut terms, &formulas) {
            Answer::Sat if step == usize::MAX => return Ok(Decision::Feasible),
            Answer::Sat => {}
            Answer::Unsat => {
                let needed = solver.unsat_core();
                core = steps
                    .into_iter()
                    .filter(|&s| encoding.formulas[s].is_some_and(|f| needed.contains(&f)))
                    .collect();
            }
            Answer::Unknown(why) => {
                budget.check()?;
                if step == usize::MAX {
                    return Ok(Decision::Unknown(why.to_string()));
                }
            }
        }
    }
    Ok(Decision::Core(core))
}
