//! From gates to clauses: the Tseitin encoding of the part of the graph that is asked for, in
//! CaDiCaL.
//!
//! Definitions are equivalences, so they stay right whatever is added later. Exclusive ors,
//! if-then-elses and majorities built from several gates become one variable each.

use palisade_base::Budget;

use super::aig::{Kind, Lit};
use super::{Blaster, Exhausted};
use crate::solver::{Limits, Unknown};

/// Asks the SAT solver to stop when the budget is.
struct StopOnBudget(Budget);

impl cadical::Callbacks for StopOnBudget {
    fn terminate(&mut self) -> bool {
        self.0.stopped().is_some()
    }
}

/// Longest clause that an asserted disjunction is flattened to.
const LONGEST_CLAUSE: usize = 64;

/// Cost in CaDiCaL of a variable and of a clause beside its literals, watches and growth of its
/// arrays included: measured on products of 64 bits with ten million gates, then rounded up.
const BYTES_PER_VARIABLE: u64 = 320;
const BYTES_PER_CLAUSE: u64 = 90;

/// Bits of all remembered assignments together, and their greatest number.
const REMEMBERED_BITS: usize = 1 << 25;
const REMEMBERED: usize = 1 << 10;

/// Remembered cores, and the longest worth remembering.
const CORES: usize = 1 << 8;
const LONGEST_CORE: usize = 32;

/// An assignment of all variables, one bit each.
struct Assignment {
    bits: Vec<u64>,
    variables: i32,
}

impl Assignment {
    /// Makes a variable false.
    fn clear(&mut self, v: i32) {
        if v < self.variables {
            self.bits[v as usize / 64] &= !(1 << (v % 64));
        }
    }

    /// Whether the literal is true; variables that are newer than the assignment are not.
    fn satisfies(&self, lit: i32) -> bool {
        let v = lit.unsigned_abs() as usize;
        lit.abs() < self.variables && (self.bits[v / 64] >> (v % 64) & 1 == 1) == (lit > 0)
    }
}

pub(crate) struct Sat {
    solver: cadical::Solver<StopOnBudget>,
    /// Assignments that satisfy all clauses, the current one last. Queries under changing assumptions
    /// often have one of them as their answer, without a search.
    models: Vec<Assignment>,
    /// Sets of assumptions that were refuted, newest last. Clauses are only ever added, so they
    /// stay refuted.
    cores: Vec<Vec<i32>>,
    /// The core of the last answer, if it was unsatisfiable.
    core: Vec<i32>,
    /// The SAT variable of each node of the graph; zero for none yet.
    variable: Vec<i32>,
    next: i32,
    bytes: u64,
    /// Groups of inputs whose side conditions were added.
    groups: Vec<bool>,
    /// Nodes whose variable waits for its definition.
    work: Vec<u32>,
    /// Groups whose side conditions wait.
    waiting_groups: Vec<u32>,
}

impl Sat {
    pub(crate) fn new() -> Self {
        Sat::on(cadical::Solver::new())
    }

    /// For questions that are expected to have no model: CaDiCaL then never stops deriving clauses to walk towards a
    /// model.
    pub(crate) fn for_proofs() -> Self {
        Sat::on(cadical::Solver::with_config("unsat").unwrap_or_else(|_| cadical::Solver::new()))
    }

    fn on(solver: cadical::Solver<StopOnBudget>) -> Self {
        let mut sat = Sat {
            solver,
            models: Vec::new(),
            cores: Vec::new(),
            core: Vec::new(),
            variable: vec![1],
            next: 2,
            bytes: 0,
            groups: Vec::new(),
            work: Vec::new(),
            waiting_groups: Vec::new(),
        };
        // Node 0 of the graph is false, and so is variable 1.
        sat.clause(&[-1]);
        sat
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + (self.variable.capacity() * 4) as u64
    }

    /// A variable that stands for no gate.
    pub(crate) fn fresh(&mut self) -> i32 {
        let v = self.next;
        assert!(v < i32::MAX - 1, "more variables than the SAT solver can number");
        self.next += 1;
        self.bytes += BYTES_PER_VARIABLE;
        v
    }

    /// Adds a clause that may exclude assignments: a requirement, not a definition.
    fn requirement(&mut self, lits: &[i32], unless: Option<i32>) {
        self.models.retain_mut(|m| {
            let holds = lits.iter().any(|l| m.satisfies(*l));
            match unless {
                // Such literals occur in requirements only, so they may be made true.
                Some(lit) if !holds => m.clear(-lit),
                _ => return holds,
            }
            true
        });
        self.clause(lits);
    }

    /// Makes a literal that occurs only complemented, in requirements, false for good.
    pub(crate) fn retire(&mut self, lit: i32) {
        self.models.iter_mut().for_each(|m| m.clear(lit));
        self.clause(&[-lit]);
    }

    fn clause(&mut self, lits: &[i32]) {
        self.bytes += BYTES_PER_CLAUSE + 4 * lits.len() as u64;
        self.solver.add_clause(lits.iter().copied());
    }

    /// The SAT literal of a literal of the graph, with its definition to follow.
    fn reach(&mut self, l: Lit) -> i32 {
        let node = l.node();
        if self.variable.len() <= node {
            self.variable.resize(node + 1, 0);
        }
        if self.variable[node] == 0 {
            self.variable[node] = self.fresh();
            self.work.push(node as u32);
        }
        if l.is_complemented() { -self.variable[node] } else { self.variable[node] }
    }

    /// Encodes the cone of a literal and returns the SAT literal.
    pub(crate) fn literal(&mut self, blaster: &mut Blaster, l: Lit) -> Result<i32, Exhausted> {
        let lit = self.reach(l);
        self.define(blaster)?;
        Ok(lit)
    }

    /// Requires a literal of the graph, or only where the SAT literal `unless` is false.
    pub(crate) fn require(
        &mut self,
        blaster: &mut Blaster,
        l: Lit,
        unless: Option<i32>,
    ) -> Result<(), Exhausted> {
        self.require_clauses(blaster, l, unless);
        self.define(blaster)
    }

    /// The clauses of [`Sat::require`], with definitions to follow.
    fn require_clauses(&mut self, blaster: &Blaster, l: Lit, unless: Option<i32>) {
        let mut stack = vec![l];
        let mut clause = Vec::new();
        while let Some(l) = stack.pop() {
            clause.clear();
            clause.extend(unless);
            if let Some((c, t, e)) = blaster.aig.as_mux(l.node()) {
                let flip = |x: Lit| if l.is_complemented() { !x } else { x };
                let (c, t, e) = (self.reach(c), self.reach(flip(t)), self.reach(flip(e)));
                for (c, x) in [(-c, t), (c, e)] {
                    clause.truncate(usize::from(unless.is_some()));
                    clause.extend([c, x]);
                    self.requirement(&clause, unless);
                }
                continue;
            }
            if let Some((a, b)) = blaster.aig.fanins(l)
                && !l.is_complemented()
                && blaster.aig.as_majority(l.node()).is_none()
            {
                stack.extend([b, a]);
                continue;
            }
            for d in disjuncts(blaster, l) {
                clause.push(self.reach(d));
            }
            self.requirement(&clause, unless);
        }
    }

    /// Adds the definitions of all variables reached since. If the limits end this early, the
    /// next call goes on.
    fn define(&mut self, blaster: &mut Blaster) -> Result<(), Exhausted> {
        let mut count = 0u32;
        loop {
            if let Some(&node) = self.work.last() {
                count += 1;
                if count.is_multiple_of(1 << 14) {
                    blaster.other_bytes = self.bytes();
                    blaster.check_limits()?;
                }
                self.work.pop();
                self.define_node(blaster, node as usize);
            } else if let Some(group) = self.waiting_groups.pop() {
                for i in 0..blaster.side_conditions[group as usize].len() {
                    let l = blaster.side_conditions[group as usize][i];
                    self.require_clauses(blaster, l, None);
                }
            } else {
                blaster.other_bytes = self.bytes();
                return Ok(());
            }
        }
    }

    fn define_node(&mut self, blaster: &Blaster, node: usize) {
        let n = self.variable[node];
        let (x, y) = match blaster.aig.kind(node) {
            Kind::Constant | Kind::Input { group: None } => return,
            Kind::Input { group: Some(group) } => {
                if self.groups.len() <= group as usize {
                    self.groups.resize(group as usize + 1, false);
                }
                if !std::mem::replace(&mut self.groups[group as usize], true) {
                    self.waiting_groups.push(group);
                }
                return;
            }
            Kind::And(x, y) => (x, y),
        };
        if let Some((c, t, e)) = blaster.aig.as_mux(node) {
            let exclusive_or = t == !e;
            let (c, t, e) = (self.reach(c), self.reach(t), self.reach(e));
            self.clause(&[-c, -t, n]);
            self.clause(&[-c, t, -n]);
            self.clause(&[c, -e, n]);
            self.clause(&[c, e, -n]);
            if !exclusive_or {
                // Implied, but they let the value pass while the condition is open.
                self.clause(&[-t, -e, n]);
                self.clause(&[t, e, -n]);
            }
            return;
        }
        if let Some((a, b, c)) = blaster.aig.as_majority(node) {
            let (a, b, c) = (self.reach(a), self.reach(b), self.reach(c));
            for (x, y) in [(a, b), (a, c), (b, c)] {
                self.clause(&[-x, -y, -n]);
                self.clause(&[x, y, n]);
            }
            return;
        }
        let (a, b) = (self.reach(x), self.reach(y));
        self.clause(&[-n, a]);
        self.clause(&[-n, b]);
        self.clause(&[n, -a, -b]);
    }

    /// Finds a model of the clauses and the assumed literals.
    pub(crate) fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Result<bool, Unknown> {
        if let Some(i) = self.models.iter().rposition(|m| assumptions.iter().all(|l| m.satisfies(*l))) {
            self.models[i..].rotate_left(1);
            return Ok(true);
        }
        if let Some(i) = self.cores.iter().rposition(|c| c.iter().all(|l| assumptions.contains(l))) {
            self.core.clone_from(&self.cores[i]);
            self.cores[i..].rotate_left(1);
            return Ok(false);
        }
        self.search(assumptions, limits)
    }

    fn search(&mut self, assumptions: &[i32], limits: &Limits) -> Result<bool, Unknown> {
        self.solver.set_callbacks(Some(StopOnBudget(limits.budget.clone())));
        if let Some(conflicts) = limits.conflicts {
            let limit = i32::try_from(conflicts).unwrap_or(i32::MAX);
            self.solver.set_limit("conflicts", limit).expect("CaDiCaL has a limit of this name");
        }
        match self.solver.solve_with(assumptions.iter().copied()) {
            Some(true) => {
                self.remember();
                Ok(true)
            }
            Some(false) => {
                self.core = assumptions.iter().copied().filter(|l| self.solver.failed(*l)).collect();
                if self.core.len() <= LONGEST_CORE {
                    if self.cores.len() == CORES {
                        self.cores.remove(0);
                    }
                    self.cores.push(self.core.clone());
                }
                Ok(false)
            }
            None => Err(match limits.budget.stopped() {
                Some(stop) => Unknown::Stopped(stop),
                None => Unknown::Conflicts,
            }),
        }
    }

    /// Keeps the assignment that the search just found, as the current one.
    fn remember(&mut self) {
        let count = self.next as usize;
        let mut bits = vec![0u64; count.div_ceil(64)];
        for v in 1..self.next {
            if self.solver.value(v) == Some(true) {
                bits[v as usize / 64] |= 1 << (v % 64);
            }
        }
        let keep = (REMEMBERED_BITS / count).clamp(1, REMEMBERED);
        let surplus = (self.models.len() + 1).saturating_sub(keep);
        self.models.drain(..surplus);
        self.models.push(Assignment { bits, variables: self.next });
    }

    /// After unsatisfiability: whether an assumed literal is to blame.
    pub(crate) fn failed(&self, lit: i32) -> bool {
        self.core.contains(&lit)
    }

    /// After satisfiability: the value of an input of the graph. Inputs that no clause mentions
    /// are false.
    pub(crate) fn input_value(&self, l: Lit) -> bool {
        if l.is_const() {
            return l == Lit::TRUE;
        }
        let v = self.variable.get(l.node()).copied().unwrap_or(0);
        let holds = v != 0 && self.models.last().is_some_and(|m| m.satisfies(v));
        holds != l.is_complemented()
    }
}

/// The literals of a disjunction of gates, up to a length.
fn disjuncts(blaster: &Blaster, l: Lit) -> Vec<Lit> {
    let mut open = vec![l];
    let mut done = Vec::new();
    while let Some(l) = open.pop() {
        let parts = blaster.aig.fanins(l).filter(|_| {
            l.is_complemented()
                && open.len() + done.len() < LONGEST_CLAUSE
                && blaster.aig.as_mux(l.node()).is_none()
                && blaster.aig.as_majority(l.node()).is_none()
        });
        match parts {
            Some((a, b)) => open.extend([!b, !a]),
            None => done.push(l),
        }
    }
    done
}
