//! The invariants of the loops of one function, as C expressions, by any method of section 6.

use super::bounds::{self, Ranking};
use super::c_text::{self, Names, Said};
use super::inductive::{Candidates, Clause};
use super::isolate::Isolator;
use super::linear::{Linear, Relation};
use super::{backward, learning, symbolic, template};
use crate::live::Liveness;
use crate::location::{Calls, Location, Position};
use crate::numeric::{Numeric, NumericMerge};
use crate::predicate::Abstraction;
use crate::predicate::pool::Pool;
use crate::predicate::search::{Found, Question, search};
use crate::samples::Samples;
use crate::thresholds::thresholds;
use crate::trees::integer;
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_domains::{Dim, Domain, Dynamic, LinCons, NumericDomain};
use palisade_task::Task;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known about a loop.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LoopFacts {
    /// Holds whenever control is at the loop head; `None` if nothing is known.
    pub invariant: Option<String>,
    /// From states that fulfil it no error can be reached; only the backward method looks for it.
    pub precondition: Option<String>,
    /// How often the loop is taken at most, by the values with which it is entered; only the proof
    /// rules look for it.
    pub bound: Option<String>,
}

/// Facts by loop head.
pub type Loops = BTreeMap<LocId, LoopFacts>;

/// A way to construct invariants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Forward iteration over a numeric domain.
    Forward,
    /// Backward iteration from the errors over a numeric domain.
    Backward,
    /// Predicates, refined by infeasible error paths.
    Cegar,
    /// Templates with unknown coefficients.
    Template,
    /// Proof rules for loop bounds.
    Bounds,
    /// Candidates from concrete runs.
    Learning,
}

impl Method {
    /// All methods, with their names and what they do in one line.
    pub const ALL: [(Method, &'static str, &'static str); 6] = [
        (Method::Forward, "forward", "iteration from the start with widening and narrowing, over a domain"),
        (Method::Backward, "backward", "iteration from the assertions backward, over a domain"),
        (Method::Cegar, "cegar", "predicates, refined by infeasible paths to assertions"),
        (Method::Template, "template", "linear templates solved with Farkas' lemma"),
        (Method::Bounds, "bounds", "proof rules for ranking functions and loop bounds"),
        (Method::Learning, "learning", "candidates from concrete runs, checked by the solver"),
    ];

    /// The domain to use unless another one is asked for. Backward, the condition of a branch comes
    /// after what follows it, and only a domain with disjunctions keeps what it says until then.
    pub fn usual_domain(self) -> &'static str {
        if self == Method::Backward { "boxes" } else { "octagon" }
    }

    /// The method of a name.
    pub fn named(name: &str) -> Option<Method> {
        Self::ALL.iter().find(|(_, n, _)| *n == name).map(|(method, ..)| *method)
    }
}

/// How the effect of operations on elements of a domain is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transformers {
    /// Operation by operation, following the syntax of expressions.
    Syntactic,
    /// Piece by piece between loop heads, by symbolic abstraction.
    Symbolic,
}

/// The loops of a function: what a method finds out about them. Loops about which it has nothing to
/// say have no facts.
pub fn of_function(
    program: &Arc<Program>,
    isolator: &Isolator<'_>,
    func: FuncId,
    method: Method,
    domain: &Domain,
    transformers: Transformers,
    budget: &Budget,
) -> Result<Loops, Halt> {
    if (method, transformers) == (Method::Forward, Transformers::Syntactic) {
        return forward(program, func, domain, budget);
    }
    let task = isolator.task(func);
    let found = match method {
        Method::Forward => {
            let top = Dynamic::top(&(domain.context)(budget));
            by_pieces(program, &task, &top, budget)?
        }
        Method::Backward => backward_clauses(program, &task, domain, budget)?,
        Method::Cegar => predicates(program, &task, budget)?,
        Method::Bounds => loop_bounds(program, &task, budget)?,
        Method::Template => conjunctions(program, &task, &template::invariants(&task, budget)?.invariants),
        Method::Learning => {
            let samples = Samples::collect(&task, budget);
            conjunctions(program, &task, &learning::invariants(&task, &samples, budget)?.invariants)
        }
    };
    Ok(found.into_iter().map(|(head, facts)| (task.origin.locs[head], facts)).collect())
}

/// Joins at a loop head before it is widened.
const DELAY: u32 = 2;
/// Decreasing iterations at most.
const NARROWING: usize = 3;

/// Forward iteration with symbolic transformers.
fn by_pieces(program: &Program, task: &Task, top: &Dynamic, budget: &Budget) -> Result<Loops, Halt> {
    let found = symbolic::invariants(task, top, budget)?;
    let graph = task.program.analyse();
    let mut loops = Loops::new();
    for head in graph.loop_heads(task.program.entry) {
        let names = names(program, task.program.entry, task.origin.locs[head]);
        let name = |d: Dim| {
            let var = *found.registers.get(&d)?;
            let ty = task.program.scalar_of(task.program.vars[var].ty)?.int()?;
            Some((names.of(var)?.to_string(), ty))
        };
        let invariant = match found.at.get(&head) {
            // A head that is not reached: there is no state.
            None => Some("0".into()),
            Some(element) => {
                let mut visible = element.clone();
                let unnamed: Vec<Dim> =
                    visible.support().into_iter().filter(|d| name(*d).is_none()).collect();
                visible.forget(&unnamed);
                said(&visible.to_constraints(), &name)
            }
        };
        loops.insert(head, LoopFacts { invariant, ..LoopFacts::default() });
    }
    Ok(loops)
}

/// The names at a loop head of a function.
fn names<'p>(program: &'p Program, func: FuncId, head: LocId) -> Names<'p> {
    Names::at(program, func, program.locs[head].span)
}

/// Forward iteration inside the function, memory included: calls are single steps.
fn forward(program: &Program, func: FuncId, domain: &Domain, budget: &Budget) -> Result<Loops, Halt> {
    let graph = program.analyse();
    let location = Location::new(program, Calls::StepOver, &[]);
    let merge = NumericMerge::Widening { delay: DELAY, thresholds: thresholds(program, Some(func)) };
    let numeric = Numeric::new(program, &graph, (domain.context)(budget), merge);
    let body = program.body(func);
    let initial = (Position::At(body.entry), numeric.any_of_types(&entry_variables(program, func)));
    let order = order::weak_topological(program, &graph);
    let mut run = Exploration::new(Product::new(location, numeric).direct(), initial, ((), ()), order);
    if let Status::Stopped(halt) = run.run(budget, Limits::NONE) {
        return Err(halt);
    }
    run.narrow(budget, NARROWING)?;
    let mut found = Loops::new();
    for (_, (position, element)) in run.reached().iter() {
        let Position::At(head) = *position else { continue };
        if !graph.is_loop_head(head) {
            continue;
        }
        let names = names(program, func, head);
        let numeric = &run.cpa().right;
        let name = |d: Dim| {
            let var = numeric.var_of(d)?;
            names.of(var)?;
            Some((numeric.name(d), numeric.int_type_at(d.index())?))
        };
        // What is said about variables without a name still relates the others.
        let mut visible = element.get().clone();
        let unnamed: Vec<Dim> = visible.support().into_iter().filter(|d| name(*d).is_none()).collect();
        visible.forget(&unnamed);
        let invariant = said(&visible.to_constraints(), &name);
        found.insert(head, LoopFacts { invariant, ..LoopFacts::default() });
    }
    for head in graph.loop_heads(func) {
        // A head that is not reached: there is no state.
        let never = || LoopFacts { invariant: Some("0".into()), ..LoopFacts::default() };
        found.entry(head).or_insert_with(never);
    }
    Ok(found)
}

fn said(disjuncts: &[Vec<LinCons>], name: &dyn Fn(Dim) -> Option<(String, IntTy)>) -> Option<String> {
    let said: Vec<Vec<Said>> =
        disjuncts.iter().map(|d| d.iter().map(|c| c_text::constraint(c, name)).collect()).collect();
    c_text::disjunction(&said)
}

/// The parameters of a function and the globals it mentions: what it may rely on to be of its type.
fn entry_variables(program: &Program, func: FuncId) -> Vec<VarId> {
    let mut vars = program.body(func).params.clone();
    for edge in program.edges.iter().filter(|e| program.locs[e.src].func == func) {
        program.visit_op(&edge.op, &mut |used| {
            if let Use::Read(place) | Use::Write(place) = used
                && let Base::Var(var) = program.places[place].base
                && program.vars[var].kind == VarKind::Global
            {
                vars.push(var);
            }
        });
    }
    vars.sort_unstable();
    vars.dedup();
    vars
}

/// Facts that hold together at each head.
fn conjunctions(program: &Program, task: &Task, facts: &Candidates) -> Loops {
    let say = |(head, facts): (&LocId, &Vec<Linear>)| {
        let names = names(program, task.program.entry, task.origin.locs[*head]);
        let said = strongest(facts).map(|f| c_text::linear(&task.program, &names, f)).collect();
        let invariant = c_text::disjunction(&[said]);
        (*head, LoopFacts { invariant, ..LoopFacts::default() })
    };
    facts.iter().map(say).collect()
}

/// The facts without those that another one with the same variables implies.
fn strongest(facts: &[Linear]) -> impl Iterator<Item = &Linear> {
    facts.iter().filter(move |f| {
        let weaker = |g: &Linear| {
            g.terms == f.terms
                && g.relation == Relation::NonNegative
                && f.relation == Relation::NonNegative
                && g.constant < f.constant
        };
        !facts.iter().any(weaker)
    })
}

/// Backward iteration. The states from which an error may be reached give a sufficient precondition;
/// where its parts are inductive and hold at first, they are invariants.
fn backward_clauses(program: &Program, task: &Task, domain: &Domain, budget: &Budget) -> Result<Loops, Halt> {
    let (found, checked) = backward::invariants(task, (domain.context)(budget), budget)?;
    let mut loops = Loops::new();
    for &head in checked.invariants.keys() {
        let states = found.unsafe_states.get(&head).map_or(&[][..], Vec::as_slice);
        let names = names(program, task.program.entry, task.origin.locs[head]);
        let name = |d: Dim| {
            let var = *found.registers.get(&d)?;
            let ty = task.program.scalar_of(task.program.vars[var].ty)?.int()?;
            Some((names.of(var)?.to_string(), ty))
        };
        // Leaving conditions out makes the unsafe states more and the precondition stronger.
        let precondition = match said(states, &name) {
            Some(text) if text == "0" => None,
            Some(text) => Some(format!("!({text})")),
            None if states.is_empty() => None,
            None => Some("0".into()),
        };
        loops.insert(head, LoopFacts { precondition, ..LoopFacts::default() });
    }
    for (head, clauses) in &checked.invariants {
        let names = names(program, task.program.entry, task.origin.locs[*head]);
        let mut parts = Vec::new();
        for Clause(literals) in clauses {
            let said: Vec<Vec<Said>> =
                literals.iter().map(|l| vec![c_text::linear(&task.program, &names, l)]).collect();
            // A literal that cannot be said leaves nothing of its clause.
            let whole = said.iter().flatten().all(|s| !matches!(s, Said::Nothing | Said::Always));
            if let Some(text) = c_text::disjunction(&said).filter(|_| whole) {
                parts.push(if literals.len() > 1 { format!("({text})") } else { text });
            }
        }
        if let Some(facts) = loops.get_mut(head) {
            facts.invariant = (!parts.is_empty()).then(|| parts.join(" && "));
        }
    }
    Ok(loops)
}

/// Refined predicates, of those that the program branches on.
fn predicates(program: &Program, task: &Task, budget: &Budget) -> Result<Loops, Halt> {
    let live = Liveness::of(&task.program, budget)?;
    let mut pool = Pool::new(&task.program);
    let candidates = pool.conditions(&task.program);
    let extended = task.with_program(pool.program);
    let graph = extended.program.analyse();
    let question = Question {
        task: &extended,
        graph: &graph,
        live: &live,
        candidates: &candidates,
        abstraction: Abstraction::Valuations,
        stop: StopOp::Separate,
    };
    let (found, _) = search(&question, budget, &mut |_| {})?;
    let mut loops = Loops::new();
    let invariants = match found {
        Found::Proof(invariants) => invariants,
        Found::Error(_) => return Ok(loops),
        Found::Stuck => return Err(Halt::Limit("the predicates do not exclude the errors".into())),
    };
    for (head, cubes) in &invariants {
        let names = names(program, task.program.entry, task.origin.locs[*head]);
        let say = |&(e, holds): &(ExprId, bool)| match c_text::expression(&extended.program, &names, e) {
            Some(text) if holds => Said::Text(text),
            Some(text) => Said::Text(format!("!({text})")),
            None => Said::Nothing,
        };
        let said: Vec<Vec<Said>> = cubes.iter().map(|cube| cube.iter().map(say).collect()).collect();
        let invariant = c_text::disjunction(&said);
        loops.insert(*head, LoopFacts { invariant, ..LoopFacts::default() });
    }
    Ok(loops)
}

/// Bounds by proof rules, where all names are visible.
fn loop_bounds(program: &Program, task: &Task, budget: &Budget) -> Result<Loops, Halt> {
    let mut loops = Loops::new();
    for found in bounds::bounds(task, budget)? {
        let names = names(program, task.program.entry, task.origin.locs[found.head]);
        let ranking = |r: &Ranking| match *r {
            Ranking::Lsb(var) => Some(format!("LSB({})", names.of(var)?)),
            Ranking::Difference(a, b) => {
                // The difference is one of mathematical integers.
                let text = |e: ExprId| {
                    if let Expr { ty: Scalar::Int(t), kind: ExprKind::Int(bits) } = task.program.exprs[e] {
                        return Some(integer(t, bits).to_string());
                    }
                    let text = c_text::expression(&task.program, &names, e)?;
                    Some(if text.contains(' ') { format!("({text})") } else { text })
                };
                Some(format!("{} - {}", text(b)?, text(a)?))
            }
        };
        let rankings: Option<Vec<String>> = found.rankings.iter().map(ranking).collect();
        let bound = rankings.map(|r| bounds::total(&found.rankings, &r));
        loops.insert(found.head, LoopFacts { bound, ..LoopFacts::default() });
    }
    Ok(loops)
}
