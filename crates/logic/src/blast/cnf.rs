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

/// Rough cost in CaDiCaL of a variable and of a clause beside its literals.
const BYTES_PER_VARIABLE: u64 = 220;
const BYTES_PER_CLAUSE: u64 = 60;

pub(crate) struct Sat {
    solver: cadical::Solver<StopOnBudget>,
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
        let mut sat = Sat {
            solver: cadical::Solver::new(),
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

    pub(crate) fn clause(&mut self, lits: &[i32]) {
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
                    self.clause(&clause);
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
            self.clause(&clause);
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

    /// Searches for a model of the clauses and the assumed literals.
    pub(crate) fn solve(&mut self, assumptions: &[i32], limits: &Limits) -> Result<bool, Unknown> {
        self.solver.set_callbacks(Some(StopOnBudget(limits.budget.clone())));
        if let Some(conflicts) = limits.conflicts {
            let limit = i32::try_from(conflicts).unwrap_or(i32::MAX);
            self.solver.set_limit("conflicts", limit).expect("CaDiCaL has a limit of this name");
        }
        match self.solver.solve_with(assumptions.iter().copied()) {
            Some(sat) => Ok(sat),
            None => Err(match limits.budget.stopped() {
                Some(stop) => Unknown::Stopped(stop),
                None => Unknown::Conflicts,
            }),
        }
    }

    /// After unsatisfiability: whether an assumed literal is to blame.
    pub(crate) fn failed(&self, lit: i32) -> bool {
        self.solver.failed(lit)
    }

    /// After satisfiability: the value of an input of the graph. Inputs that no clause mentions
    /// are false.
    pub(crate) fn input_value(&self, l: Lit) -> bool {
        if l.is_const() {
            return l == Lit::TRUE;
        }
        let v = self.variable.get(l.node()).copied().unwrap_or(0);
        (v != 0 && self.solver.value(v) == Some(true)) != l.is_complemented()
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
