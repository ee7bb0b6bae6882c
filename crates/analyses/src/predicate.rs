//! Predicate analysis (section 4.4): which Boolean combination of given predicates holds.
//!
//! Cartesian abstraction keeps the strongest conjunction of predicates, Boolean abstraction the
//! strongest Boolean combination; both are one BDD over the predicates, so a state is a node.
//! Predicates are truth-valued expressions of the program; successors are computed by the solver on
//! the encoding of the edge, bit-precise. Works inside one function: entering and leaving a function
//! with a body forgets everything, so programs are inlined before.

use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_dd::{Bdd, Node, OutOfBudget, Var};
use palisade_encode::{Encoder, State};
use palisade_logic::services::{self, Implied};
use palisade_logic::{Answer, BvSolver, Solver, Term, Terms, Unknown, Value};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Boolean abstraction gives up beyond this many combinations of predicates at one step.
const MAX_COMBINATIONS: usize = 1 << 14;

/// How successors are abstracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abstraction {
    /// (φ)_C: the strongest conjunction of predicates.
    Cartesian,
    /// (φ)_B: the strongest Boolean combination of predicates.
    Boolean,
}

/// The precision π: predicates by the number of [`Predicate::track`], everywhere or at a location.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Predicates {
    everywhere: Rc<BTreeSet<u32>>,
    at: Rc<BTreeMap<LocId, BTreeSet<u32>>>,
}

impl Predicates {
    /// The same predicates everywhere.
    pub fn everywhere(predicates: impl IntoIterator<Item = u32>) -> Self {
        Predicates { everywhere: Rc::new(predicates.into_iter().collect()), ..Self::default() }
    }
    /// The same with one more predicate at a location.
    pub fn with(&self, loc: LocId, predicate: u32) -> Self {
        let mut at = (*self.at).clone();
        at.entry(loc).or_default().insert(predicate);
        Predicates { everywhere: self.everywhere.clone(), at: Rc::new(at) }
    }
    /// The predicates of a location, ascending.
    pub fn of(&self, loc: LocId) -> Vec<u32> {
        match self.at.get(&loc) {
            None => self.everywhere.iter().copied().collect(),
            Some(here) => self.everywhere.union(here).copied().collect(),
        }
    }
}

/// The formula of a step: the state after it, started in the arbitrary state.
struct StepFormula {
    after: State,
    guard: Term,
}

/// The predicate analysis.
pub struct Predicate<'p> {
    program: &'p Program,
    terms: Terms,
    encoder: Encoder<'p>,
    solver: BvSolver,
    bdd: Bdd,
    abstraction: Abstraction,
    /// The state before every step.
    before: State,
    predicates: Vec<ExprId>,
    vars: Vec<Var>,
    /// The predicates in the state before a step.
    held: Vec<Term>,
    steps: FxHashMap<Step, Option<Rc<StepFormula>>>,
    /// The predicates in the state after a step.
    after: FxHashMap<(Step, u32), Term>,
    /// A region as a term over the state before a step.
    regions: FxHashMap<Node, Term>,
    cache: FxHashMap<(Node, Step, Vec<u32>), Option<Node>>,
}

fn out_of_nodes(why: OutOfBudget) -> Halt {
    match why {
        OutOfBudget::Nodes | OutOfBudget::Work => Halt::Limit(why.to_string()),
        OutOfBudget::Stopped(stop) => Halt::Stopped(stop),
    }
}

fn no_answer(why: Unknown) -> Halt {
    match why {
        Unknown::Stopped(stop) => Halt::Stopped(stop),
        other => Halt::Limit(other.to_string()),
    }
}

impl<'p> Predicate<'p> {
    /// An analysis without predicates; [`Predicate::track`] adds them.
    pub fn new(program: &'p Program, abstraction: Abstraction, budget: &Budget) -> Self {
        let mut terms = Terms::new();
        let encoder = Encoder::new(program, &mut terms);
        let before = encoder.arbitrary_state(&mut terms);
        let mut solver = BvSolver::new();
        solver.set_limits(palisade_logic::Limits { budget: budget.clone(), ..Default::default() });
        let limits = palisade_dd::Limits { budget: budget.clone(), ..Default::default() };
        let mut regions = FxHashMap::default();
        regions.insert(Node::TRUE, terms.tru());
        regions.insert(Node::FALSE, terms.fls());
        Predicate {
            program,
            encoder,
            solver,
            bdd: Bdd::new(limits),
            abstraction,
            before,
            predicates: Vec::new(),
            vars: Vec::new(),
            held: Vec::new(),
            steps: FxHashMap::default(),
            after: FxHashMap::default(),
            regions,
            cache: FxHashMap::default(),
            terms,
        }
    }

    /// The number of a predicate, a truth-valued expression of the program.
    pub fn track(&mut self, predicate: ExprId) -> Result<u32, Halt> {
        if let Some(known) = self.predicates.iter().position(|p| *p == predicate) {
            return Ok(known as u32);
        }
        let var = self.bdd.new_var().map_err(out_of_nodes)?;
        let term = self.encoder.cond(&mut self.terms, &self.before, predicate);
        self.predicates.push(predicate);
        self.vars.push(var);
        self.held.push(term);
        Ok(self.predicates.len() as u32 - 1)
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// No knowledge (⊤).
    pub fn top(&self) -> Node {
        Node::TRUE
    }

    /// The predicates that hold in the initial states of the program.
    pub fn initial(&mut self, precision: &Predicates) -> Result<Node, Halt> {
        let start = self.encoder.initial_state(&mut self.terms);
        let guard = start.guard(&mut self.terms);
        let tracked = precision.of(self.program.body(self.program.entry).entry);
        let terms: Vec<Term> = tracked
            .iter()
            .map(|&p| self.encoder.cond(&mut self.terms, &start, self.predicates[p as usize]))
            .collect();
        let region = self.abstracted(guard, &tracked, &terms)?;
        Ok(region.unwrap_or(Node::FALSE))
    }

    /// The predicates that hold in every state of a region, as expressions.
    pub fn conjuncts(&mut self, region: Node) -> Result<Vec<ExprId>, Halt> {
        let mut out = Vec::new();
        for i in 0..self.predicates.len() {
            let literal = self.bdd.literal(self.vars[i], true).map_err(out_of_nodes)?;
            if region != Node::FALSE && self.bdd.leq(region, literal).map_err(out_of_nodes)? {
                out.push(self.predicates[i]);
            }
        }
        Ok(out)
    }

    /// A region as a disjunction of conjunctions of predicates that hold or do not.
    pub fn cubes(&self, region: Node) -> Vec<Vec<(ExprId, bool)>> {
        let predicate = |var: Var| self.vars.iter().position(|v| *v == var).map(|i| self.predicates[i]);
        let cube = |c: Vec<(Var, bool)>| c.iter().filter_map(|(v, b)| Some((predicate(*v)?, *b))).collect();
        self.bdd.cubes(region).map(cube).collect()
    }

    /// Whether a region holds for given truth values of the predicates.
    pub fn holds(&self, region: Node, value: &dyn Fn(ExprId) -> bool) -> bool {
        self.bdd.eval(region, |var| {
            self.vars.iter().position(|v| *v == var).is_some_and(|i| value(self.predicates[i]))
        })
    }

    /// A region as a term over the state before a step.
    fn region(&mut self, region: Node) -> Term {
        let mut work = vec![region];
        while let Some(&node) = work.last() {
            if self.regions.contains_key(&node) {
                work.pop();
                continue;
            }
            // Constants are known from the start, so this is a decision.
            let Some((var, yes, no)) = self.bdd.decision(node) else { break };
            match (self.regions.get(&yes), self.regions.get(&no)) {
                (Some(&yes), Some(&no)) => {
                    let i = self.vars.iter().position(|v| *v == var).unwrap_or(0);
                    let term = self.terms.ite(self.held[i], yes, no);
                    self.regions.insert(node, term);
                }
                (None, _) => work.push(yes),
                (_, None) => work.push(no),
            }
        }
        self.regions.get(&region).copied().unwrap_or_else(|| self.terms.tru())
    }

    /// The abstraction of a formula to predicates; `None` if it has no model.
    fn abstracted(&mut self, formula: Term, tracked: &[u32], terms: &[Term]) -> Result<Option<Node>, Halt> {
        match self.solver.check(&mut self.terms, &[formula]) {
            Answer::Unsat => return Ok(None),
            Answer::Sat => {}
            Answer::Unknown(why) => return Err(no_answer(why)),
        }
        match self.abstraction {
            Abstraction::Cartesian => {
                let verdicts = services::implications(&mut self.solver, &mut self.terms, &[formula], terms);
                let mut region = Node::TRUE;
                for (&p, verdict) in tracked.iter().zip(verdicts) {
                    match verdict {
                        Implied::Yes => {
                            let literal =
                                self.bdd.literal(self.vars[p as usize], true).map_err(out_of_nodes)?;
                            region = self.bdd.and(region, literal).map_err(out_of_nodes)?;
                        }
                        Implied::No => {}
                        Implied::Unknown(why) => return Err(no_answer(why)),
                    }
                }
                Ok(Some(region))
            }
            Abstraction::Boolean => self.combinations(formula, tracked, terms).map(Some),
        }
    }

    /// The truth values that predicates can have together in a satisfiable formula: those with only
    /// one first, then every combination of the others.
    fn combinations(&mut self, formula: Term, tracked: &[u32], terms: &[Term]) -> Result<Node, Halt> {
        let negated: Vec<Term> = terms.iter().map(|t| self.terms.not(*t)).collect();
        let yes = services::implications(&mut self.solver, &mut self.terms, &[formula], terms);
        let no = services::implications(&mut self.solver, &mut self.terms, &[formula], &negated);
        let (mut region, mut free) = (Node::TRUE, Vec::new());
        for (i, verdicts) in yes.into_iter().zip(no).enumerate() {
            match verdicts {
                (Implied::Yes, _) => region = self.literal(region, tracked[i], true)?,
                (_, Implied::Yes) => region = self.literal(region, tracked[i], false)?,
                (Implied::Unknown(why), _) | (_, Implied::Unknown(why)) => return Err(no_answer(why)),
                (Implied::No, Implied::No) => free.push(i),
            }
        }
        if free.is_empty() {
            return Ok(region);
        }
        self.solver.push();
        let combinations = self.enumerate(formula, tracked, terms, &free);
        self.solver.pop();
        self.bdd.and(region, combinations?).map_err(out_of_nodes)
    }

    fn enumerate(
        &mut self,
        formula: Term,
        tracked: &[u32],
        terms: &[Term],
        free: &[usize],
    ) -> Result<Node, Halt> {
        let mut region = Node::FALSE;
        for _ in 0..MAX_COMBINATIONS {
            match self.solver.check(&mut self.terms, &[formula]) {
                Answer::Unsat => return Ok(region),
                Answer::Unknown(why) => return Err(no_answer(why)),
                Answer::Sat => {}
            }
            let mut values = Vec::with_capacity(free.len());
            for &i in free {
                let holds = self.solver.value(&mut self.terms, terms[i]) == Some(Value::Bool(true));
                values.push((i, holds));
            }
            let cube: Vec<(Var, bool)> =
                values.iter().map(|&(i, v)| (self.vars[tracked[i] as usize], v)).collect();
            let cube = self.bdd.cube(&cube).map_err(out_of_nodes)?;
            region = self.bdd.or(region, cube).map_err(out_of_nodes)?;
            let mut block = self.terms.fls();
            for (i, holds) in values {
                let differs = if holds { self.terms.not(terms[i]) } else { terms[i] };
                block = self.terms.or(block, differs);
            }
            self.solver.assert(&mut self.terms, block);
        }
        Err(Halt::Limit(format!("more than {MAX_COMBINATIONS} combinations of predicates")))
    }

    /// What a step does, from the arbitrary state; `None` if it is impossible.
    fn formula(&mut self, step: &Step) -> Option<Rc<StepFormula>> {
        if let Some(known) = self.steps.get(step) {
            return known.clone();
        }
        let formula = match (step.kind, &self.program.edges[step.edge].op) {
            (kind, Op::Check { cond, .. }) => {
                let mut after = self.before.clone();
                let cond = self.encoder.cond(&mut self.terms, &self.before, *cond);
                let cond = if kind == StepKind::Fail { self.terms.not(cond) } else { cond };
                after.assume(&self.terms, cond).then_some(after)
            }
            (StepKind::Enter(_) | StepKind::Leave(_), _) => {
                Some(self.encoder.arbitrary_state(&mut self.terms))
            }
            _ => self.encoder.step(&mut self.terms, &self.before, step.edge),
        };
        let formula = formula.map(|after| {
            let guard = after.guard(&mut self.terms);
            Rc::new(StepFormula { after, guard })
        });
        self.steps.insert(*step, formula.clone());
        formula
    }

    fn term_after(&mut self, step: &Step, formula: &StepFormula, predicate: u32) -> Term {
        if let Some(&term) = self.after.get(&(*step, predicate)) {
            return term;
        }
        let expr = self.predicates[predicate as usize];
        let term = self.encoder.cond(&mut self.terms, &formula.after, expr);
        self.after.insert((*step, predicate), term);
        term
    }

    fn post(&mut self, region: Node, step: &Step, tracked: &[u32]) -> Result<Option<Node>, Halt> {
        let key = (region, *step, tracked.to_vec());
        if let Some(known) = self.cache.get(&key) {
            return Ok(*known);
        }
        let result = match self.formula(step) {
            None => None,
            Some(formula) => {
                let held = self.region(region);
                let all = self.terms.and(held, formula.guard);
                let terms: Vec<Term> = tracked.iter().map(|&p| self.term_after(step, &formula, p)).collect();
                self.abstracted(all, tracked, &terms)?
            }
        };
        self.cache.insert(key, result);
        Ok(result)
    }

    fn literal(&mut self, region: Node, predicate: u32, value: bool) -> Result<Node, Halt> {
        let literal = self.bdd.literal(self.vars[predicate as usize], value).map_err(out_of_nodes)?;
        self.bdd.and(region, literal).map_err(out_of_nodes)
    }

    /// The term of a register in the state before a step.
    fn register(&self, var: VarId) -> Option<Term> {
        self.encoder.layout().register(var).map(|slot| self.before.slots.get(slot))
    }

    fn equals(&mut self, var: VarId, value: Constant) -> Option<Term> {
        let (term, Constant::Bits(bits)) = (self.register(var)?, value) else { return None };
        let ty = self.program.scalar_of(self.program.vars[var].ty)?;
        let width = match ty {
            Scalar::Int(t) => u32::from(t.bits),
            _ => return None,
        };
        let value = self.terms.bv_signed(width, bits as i128);
        Some(self.terms.eq(term, value))
    }

    /// The only value of a register in the states of a region with the known values.
    fn unique(&mut self, region: Node, var: VarId, known: &[(VarId, Constant)]) -> Result<Unique, Halt> {
        let (Some(term), Some(Scalar::Int(t))) =
            (self.register(var), self.program.scalar_of(self.program.vars[var].ty))
        else {
            return Ok(Unique::Unknown);
        };
        let mut assumptions = vec![self.region(region)];
        for &(v, value) in known {
            assumptions.extend(self.equals(v, value));
        }
        match self.solver.check(&mut self.terms, &assumptions) {
            Answer::Unsat => return Ok(Unique::None),
            Answer::Unknown(why) => return Err(no_answer(why)),
            Answer::Sat => {}
        }
        let value = self.solver.value(&mut self.terms, term);
        let Some(bits) = value.as_ref().and_then(Value::as_bv).and_then(|b| b.to_u128()) else {
            return Ok(Unique::Unknown);
        };
        let value = Constant::Bits(t.truncate(bits));
        let Some(same) = self.equals(var, value) else { return Ok(Unique::Unknown) };
        assumptions.push(self.terms.not(same));
        match self.solver.check(&mut self.terms, &assumptions) {
            Answer::Unsat => Ok(Unique::Value(value)),
            Answer::Sat => Ok(Unique::Unknown),
            Answer::Unknown(why) => Err(no_answer(why)),
        }
    }
}

impl AbstractDomain for Predicate<'_> {
    type State = Node;

    fn leq(&mut self, a: &Node, b: &Node) -> Result<bool, Halt> {
        self.bdd.leq(*a, *b).map_err(out_of_nodes)
    }

    /// Of conjunctions the common predicates, of Boolean combinations the disjunction.
    fn join(&mut self, a: &Node, b: &Node) -> Result<Node, Halt> {
        if self.abstraction == Abstraction::Boolean {
            return self.bdd.or(*a, *b).map_err(out_of_nodes);
        }
        let mut region = Node::TRUE;
        for i in 0..self.vars.len() {
            let literal = self.bdd.literal(self.vars[i], true).map_err(out_of_nodes)?;
            let both = self.bdd.leq(*a, literal).map_err(out_of_nodes)?
                && self.bdd.leq(*b, literal).map_err(out_of_nodes)?;
            if both {
                region = self.bdd.and(region, literal).map_err(out_of_nodes)?;
            }
        }
        Ok(region)
    }

    fn describe(&self, state: &Node) -> String {
        let show = |cube: Vec<(Var, bool)>| {
            let literals = cube.iter().map(|(var, value)| {
                let i = self.vars.iter().position(|v| v == var).unwrap_or(0);
                let text = self.program.show_expr(self.predicates[i]).to_string();
                if *value { text } else { format!("!({text})") }
            });
            literals.collect::<Vec<_>>().join(" && ")
        };
        match *state {
            Node::TRUE => "true".into(),
            Node::FALSE => "false".into(),
            region => self.bdd.cubes(region).map(show).collect::<Vec<_>>().join(" || "),
        }
    }
}

impl Cpa for Predicate<'_> {
    type Precision = Predicates;
    type Key = ();
    type Class = ();

    fn key(&self, _: &Node) {}
    fn class(&self, _: &Node) {}
    fn digest(&mut self, _: &Node, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Node,
        precision: &Predicates,
        step: &Step,
        out: &mut Successors<Node>,
    ) -> Result<(), Halt> {
        let to = match step.kind {
            StepKind::Enter(f) => self.program.body(f).entry,
            _ => self.program.edges[step.edge].dst,
        };
        let tracked = precision.of(to);
        out.extend(self.post(*state, step, &tracked)?);
        Ok(())
    }

    /// ↓ of sections 5.3 and 5.4: conditions that hold are conjoined, and predicates whose value
    /// another component knows are added.
    fn strengthen(
        &mut self,
        state: Node,
        precision: &Predicates,
        step: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Node>, Halt> {
        let tracked = precision.of(self.program.edges[step.edge].dst);
        let mut region = state;
        let conditions = others.conditions()?;
        if !conditions.is_empty() {
            let mut all = self.region(region);
            for condition in conditions {
                let term = self.encoder.cond(&mut self.terms, &self.before, condition);
                all = self.terms.and(all, term);
            }
            let terms: Vec<Term> = tracked.iter().map(|&p| self.held[p as usize]).collect();
            let Some(stronger) = self.abstracted(all, &tracked, &terms)? else { return Ok(None) };
            region = self.bdd.and(region, stronger).map_err(out_of_nodes)?;
        }
        for &p in &tracked {
            if let Some(Constant::Bits(value)) = others.value(self.predicates[p as usize])? {
                let both = self.literal(region, p, value == 1)?;
                if both == Node::FALSE {
                    return Ok(None);
                }
                // A Cartesian region has positive literals only.
                if value == 1 || self.abstraction == Abstraction::Boolean {
                    region = both;
                }
            }
        }
        Ok(Some(region))
    }

    /// The others know the value of every predicate the region depends on, and the region holds.
    fn compare(&mut self, state: &Node, others: &mut dyn Facts) -> Result<bool, Halt> {
        let mut values = FxHashMap::default();
        for var in self.bdd.support(*state) {
            let Some(i) = self.vars.iter().position(|v| *v == var) else { return Ok(false) };
            match others.value(self.predicates[i])? {
                Some(Constant::Bits(value)) => values.insert(var, value == 1),
                _ => return Ok(false),
            };
        }
        Ok(self.bdd.eval(*state, |var| values.get(&var) == Some(&true)))
    }

    fn answer(&mut self, state: &Node, query: &mut Query<'_>) -> Result<(), Halt> {
        match query {
            Query::Conditions(out) => out.extend(self.conjuncts(*state)?),
            Query::Value(expr, answer) if answer.is_none() => {
                if let Some(p) = self.predicates.iter().position(|q| q == expr) {
                    if self.literal(*state, p as u32, false)? == Node::FALSE {
                        **answer = Some(Constant::Bits(1));
                    } else if self.literal(*state, p as u32, true)? == Node::FALSE {
                        **answer = Some(Constant::Bits(0));
                    }
                }
            }
            Query::UniqueValue { var, known, answer } if **answer == Unique::Unknown => {
                **answer = self.unique(*state, *var, known)?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The program with every product of two unknowns forgotten: what a theory of linear arithmetic
/// with uninterpreted functions can say about it. An over-approximation.
pub fn linear_only(program: &Program) -> Program {
    let mut linear = program.clone();
    for edge in linear.edges.iter_mut() {
        if let Op::Assign { dst, src } = edge.op
            && multiplies_unknowns(program, src)
        {
            edge.op = Op::Havoc { dst, input: false };
        }
    }
    linear
}

fn multiplies_unknowns(program: &Program, root: ExprId) -> bool {
    let mut work = vec![root];
    while let Some(e) = work.pop() {
        let expr = &program.exprs[e];
        if let ExprKind::Binary(BinOp::Mul | BinOp::Div | BinOp::Rem, a, b) = expr.kind
            && [a, b].iter().all(|x| !matches!(program.exprs[*x].kind, ExprKind::Int(_)))
        {
            return true;
        }
        expr.operands(|x| work.push(x), |_| {});
    }
    false
}
