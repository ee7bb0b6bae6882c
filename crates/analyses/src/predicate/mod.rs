//! Predicate analysis (section 4.4): which Boolean combination of given predicates holds.
//!
//! Cartesian abstraction keeps the strongest conjunction of predicates, Boolean abstraction the
//! strongest Boolean combination; both are one BDD over the predicates, so a state is a node.
//! Predicates are truth-valued expressions of the program; successors are computed by the solver on
//! the formula of the step ([`steps`]), bit-precise: that of an edge, or of a block of all loop-free paths
//! between two locations. Works inside one function: entering and leaving a function
//! with a body forgets everything, so programs are inlined before.
//!
//! Which predicates are tracked where is the [`precision`]. It starts empty, and paths to errors that are
//! no runs of the program say what it lacks ([`refine`], section 6.2). [`search`] is the whole of it for predicates
//! alone; composites have the analysis as a component and the refinement in a loop of their own.

pub mod pool;
pub mod precision;
pub mod refine;
pub mod search;
pub mod steps;
mod successors;

use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_dd::{Bdd, Node, OutOfBudget, Var};
use palisade_encode::{Encoder, State};
use palisade_logic::{Answer, BvSolver, Solver, Term, Terms, Unknown, Value};
use palisade_task::Task;
pub use precision::Predicates;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use steps::Steps;
use successors::StepFormula;

/// How successors are abstracted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Abstraction {
    /// (φ)_C: the strongest conjunction of predicates.
    Cartesian,
    /// (φ)_B: the strongest Boolean combination of predicates.
    Boolean,
    /// (φ)_B taken apart: a successor for each valuation of the predicates, none of which covers another.
    Valuations,
}

/// The predicate analysis.
pub struct Predicate<'p> {
    steps: Steps<'p>,
    terms: Terms,
    encoder: Encoder<'p>,
    solver: BvSolver,
    /// Predicate number n is variable n.
    bdd: Bdd,
    abstraction: Abstraction,
    /// The state before every step.
    before: State,
    predicates: Vec<ExprId>,
    numbers: FxHashMap<ExprId, u32>,
    /// The predicates in the state before a step.
    held: Vec<Term>,
    formulas: FxHashMap<Step, Option<Rc<StepFormula>>>,
    /// The predicates in the state after a step.
    after: FxHashMap<(Step, u32), Term>,
    /// A region as a term over the state before a step.
    regions: FxHashMap<Node, Term>,
    cache: FxHashMap<(Node, Step, Vec<u32>), Rc<[Node]>>,
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
    /// An analysis without predicates that steps along edges; [`Predicate::track`] adds predicates.
    pub fn new(program: &'p Program, abstraction: Abstraction, budget: &Budget) -> Self {
        Self::stepping(Steps::of_edges(program, budget), abstraction)
    }

    /// The same over the blocks of a task, for
    /// [`Location::of_blocks`](crate::location::Location::of_blocks).
    pub fn of_blocks(task: &'p Task, graph: &'p Graph, abstraction: Abstraction, budget: &Budget) -> Self {
        Self::stepping(Steps::of_blocks(task, graph, budget), abstraction)
    }

    fn stepping(steps: Steps<'p>, abstraction: Abstraction) -> Self {
        let budget = steps.budget();
        let mut terms = Terms::new();
        let encoder = Encoder::new(steps.program(), &mut terms);
        let before = encoder.arbitrary_state(&mut terms);
        let mut solver = BvSolver::new();
        solver.set_limits(palisade_logic::Limits { budget: budget.clone(), ..Default::default() });
        let limits = palisade_dd::Limits { budget: budget.clone(), ..Default::default() };
        let mut regions = FxHashMap::default();
        regions.insert(Node::TRUE, terms.tru());
        regions.insert(Node::FALSE, terms.fls());
        Predicate {
            steps,
            encoder,
            solver,
            bdd: Bdd::new(limits),
            abstraction,
            before,
            predicates: Vec::new(),
            numbers: FxHashMap::default(),
            held: Vec::new(),
            formulas: FxHashMap::default(),
            after: FxHashMap::default(),
            regions,
            cache: FxHashMap::default(),
            terms,
        }
    }

    /// The number of a predicate, a truth-valued expression of the program.
    pub fn track(&mut self, predicate: ExprId) -> Result<u32, Halt> {
        if let Some(&known) = self.numbers.get(&predicate) {
            return Ok(known);
        }
        let Var(number) = self.bdd.new_var().map_err(out_of_nodes)?;
        self.held.push(self.encoder.cond(&mut self.terms, &self.before, predicate));
        self.predicates.push(predicate);
        self.numbers.insert(predicate, number);
        Ok(number)
    }

    /// The precision of predicates at locations.
    pub fn precision<'a>(
        &mut self,
        tracked: impl IntoIterator<Item = &'a (LocId, ExprId)>,
    ) -> Result<Predicates, Halt> {
        let mut at = Vec::new();
        for &(loc, predicate) in tracked {
            at.push((loc, self.track(predicate)?));
        }
        Ok(Predicates::at(at))
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.steps.program()
    }

    /// No knowledge (⊤).
    pub fn top(&self) -> Node {
        Node::TRUE
    }

    /// The predicates of the initial states of the program: their abstraction.
    pub fn initial(&mut self, precision: &Predicates) -> Result<Vec<Node>, Halt> {
        let program = self.steps.program();
        let start = self.encoder.initial_state(&mut self.terms);
        let guard = start.guard(&mut self.terms);
        let tracked = precision.of(program.body(program.entry).entry);
        let predicates = tracked.iter().map(|&p| self.predicates[p as usize]);
        let terms: Vec<Term> = predicates.map(|e| self.encoder.cond(&mut self.terms, &start, e)).collect();
        self.abstracted(vec![guard], &tracked, &terms)
    }

    /// The predicates that hold in every state of a region, as expressions.
    pub fn conjuncts(&mut self, region: Node) -> Result<Vec<ExprId>, Halt> {
        let mut out = Vec::new();
        for i in 0..self.predicates.len() {
            let literal = self.bdd.literal(Var(i as u32), true).map_err(out_of_nodes)?;
            if region != Node::FALSE && self.bdd.leq(region, literal).map_err(out_of_nodes)? {
                out.push(self.predicates[i]);
            }
        }
        Ok(out)
    }

    /// A region as a disjunction of conjunctions of predicates that hold or do not.
    pub fn cubes(&self, region: Node) -> Vec<Vec<(ExprId, bool)>> {
        let literal = |(Var(p), holds): (Var, bool)| (self.predicates[p as usize], holds);
        self.bdd.cubes(region).map(|cube| cube.into_iter().map(literal).collect()).collect()
    }

    /// Whether a region holds for given truth values of the predicates.
    pub fn holds(&self, region: Node, value: &dyn Fn(ExprId) -> bool) -> bool {
        self.bdd.eval(region, |Var(p)| value(self.predicates[p as usize]))
    }

    /// A region over the state before a step, as a conjunction: the literals that it begins with one by one, so
    /// that the solver meets the same terms in all regions.
    fn literals(&mut self, mut region: Node) -> Vec<Term> {
        let mut parts = Vec::new();
        while let Some((Var(p), yes, no)) = self.bdd.decision(region) {
            let held = self.held[p as usize];
            (region, _) = if no == Node::FALSE {
                (yes, parts.push(held))
            } else if yes == Node::FALSE {
                (no, parts.push(self.terms.not(held)))
            } else {
                break;
            };
        }
        if region != Node::TRUE {
            parts.push(self.region(region));
        }
        parts
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
            let Some((Var(p), yes, no)) = self.bdd.decision(node) else { break };
            match (self.regions.get(&yes), self.regions.get(&no)) {
                (Some(&yes), Some(&no)) => {
                    let term = self.terms.ite(self.held[p as usize], yes, no);
                    self.regions.insert(node, term);
                }
                (None, _) => work.push(yes),
                (_, None) => work.push(no),
            }
        }
        self.regions.get(&region).copied().unwrap_or_else(|| self.terms.tru())
    }

    fn literal(&mut self, region: Node, predicate: u32, value: bool) -> Result<Node, Halt> {
        let literal = self.bdd.literal(Var(predicate), value).map_err(out_of_nodes)?;
        self.bdd.and(region, literal).map_err(out_of_nodes)
    }

    /// The term of a register in the state before a step.
    fn register(&self, var: VarId) -> Option<Term> {
        self.encoder.layout().register(var).map(|slot| self.before.slots.get(slot))
    }

    fn equals(&mut self, var: VarId, value: Constant) -> Option<Term> {
        let (term, Constant::Bits(bits)) = (self.register(var)?, value) else { return None };
        let ty = self.program().scalar_of(self.program().vars[var].ty)?;
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
            (self.register(var), self.program().scalar_of(self.program().vars[var].ty))
        else {
            return Ok(Unique::Unknown);
        };
        let mut assumptions = self.literals(region);
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
        if self.abstraction != Abstraction::Cartesian {
            return self.bdd.or(*a, *b).map_err(out_of_nodes);
        }
        let mut region = Node::TRUE;
        for i in 0..self.predicates.len() {
            let literal = self.bdd.literal(Var(i as u32), true).map_err(out_of_nodes)?;
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
            let literals = cube.iter().map(|(Var(p), value)| {
                let text = self.program().show_expr(self.predicates[*p as usize]).to_string();
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
    /// Valuations of the same predicates cover nothing but themselves.
    fn digest(&mut self, state: &Node, (): ()) -> Option<u64> {
        Some(if self.abstraction == Abstraction::Valuations { u64::from(state.id()) } else { 0 })
    }

    fn transfer(
        &mut self,
        state: &Node,
        precision: &Predicates,
        step: &Step,
        out: &mut Successors<Node>,
    ) -> Result<(), Halt> {
        let tracked = precision.of(self.steps.end(step));
        out.extend(self.post(*state, step, tracked)?.iter().copied());
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
        let tracked = precision.of(self.steps.end(step));
        let mut region = state;
        let conditions = others.conditions()?;
        if !conditions.is_empty() {
            let mut all = self.literals(region);
            for condition in conditions {
                all.push(self.encoder.cond(&mut self.terms, &self.before, condition));
            }
            let terms: Vec<Term> = tracked.iter().map(|&p| self.held[p as usize]).collect();
            let stronger = self.abstracted(all, &tracked, &terms)?;
            let Some(stronger) = self.union(stronger)? else { return Ok(None) };
            region = self.bdd.and(region, stronger).map_err(out_of_nodes)?;
        }
        for &p in &tracked {
            if let Some(Constant::Bits(value)) = others.value(self.predicates[p as usize])? {
                let both = self.literal(region, p, value == 1)?;
                if both == Node::FALSE {
                    return Ok(None);
                }
                // A Cartesian region has positive literals only.
                if value == 1 || self.abstraction != Abstraction::Cartesian {
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
            match others.value(self.predicates[var.0 as usize])? {
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
                if let Some(&p) = self.numbers.get(expr) {
                    if self.literal(*state, p, false)? == Node::FALSE {
                        **answer = Some(Constant::Bits(1));
                    } else if self.literal(*state, p, true)? == Node::FALSE {
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
