//! Observer automata (section 4.7): the control states of automata that watch the program.
//!
//! The condition of a transition is kept in the successor until the next step, so that other
//! components of a composite can strengthen themselves with it, and the observer drops successors
//! whose condition another component refutes (section 5.4).

use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_property::spc::{Moment, Observer, Trigger};
use smallvec::SmallVec;

/// The control states of all automata and the conditions of the transitions just taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Watch {
    states: SmallVec<[u16; 4]>,
    /// ψ: truth values that are 1, sorted.
    conditions: SmallVec<[ExprId; 1]>,
}

/// The observer analysis for one or several automata.
pub struct Observers<'p> {
    program: &'p Program,
    graph: CallGraph,
    observers: Vec<Observer>,
    merging: bool,
}

/// Whether a step is an event of a trigger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Matches {
    Yes,
    No,
    /// A call through a pointer of which nobody knows whom it reaches.
    Maybe,
}

impl<'p> Observers<'p> {
    /// The analysis for automata that were bound to the program.
    pub fn new(program: &'p Program, observers: Vec<Observer>) -> Self {
        Observers { program, graph: CallGraph::new(program), observers, merging: false }
    }

    /// The same with the merge operator of section 4.7, which gives up the conditions of
    /// transitions that meet.
    pub fn merging(self) -> Self {
        Observers { merging: true, ..self }
    }

    /// All automata are in their initial states.
    pub fn initial(&self) -> Watch {
        let states = self.observers.iter().map(|o| o.initial as u16).collect();
        Watch { states, conditions: SmallVec::new() }
    }

    fn matches(&self, trigger: &Trigger, step: &Step) -> Matches {
        let moment = match step.kind {
            StepKind::Fail => return Matches::No,
            StepKind::Local => Moment::Whole,
            StepKind::Enter(f) => Moment::Enter(f),
            StepKind::Leave(_) => Moment::Leave,
            StepKind::Block(_) => return Matches::Maybe,
        };
        if trigger.happens(self.program, step.edge, moment) {
            return Matches::Yes;
        }
        match (trigger, moment, &self.program.edges[step.edge].op) {
            (Trigger::Call(f), Moment::Whole, Op::Call { callee: Callee::Indirect(_), .. })
                if self.graph.targets(self.program, step.edge).contains(f) =>
            {
                Matches::Maybe
            }
            _ => Matches::No,
        }
    }

    /// The next states of one automaton with their conditions.
    fn next(&self, observer: &Observer, state: u16, step: &Step) -> SmallVec<[(u16, Option<ExprId>); 2]> {
        let mut next = SmallVec::new();
        let mut stays = true;
        for t in &observer.states[usize::from(state)].transitions {
            match self.matches(&t.trigger, step) {
                Matches::No => continue,
                Matches::Yes => stays = false,
                Matches::Maybe => {}
            }
            let edge = (t.to as u16, t.condition);
            if !next.contains(&edge) {
                next.push(edge);
            }
        }
        if stays && !next.contains(&(state, None)) {
            next.push((state, None));
        }
        next
    }
}

impl AbstractDomain for Observers<'_> {
    type State = Watch;

    /// Same control states, and the conditions of `b` are among those of `a`.
    fn leq(&mut self, a: &Watch, b: &Watch) -> Result<bool, Halt> {
        Ok(a.states == b.states && b.conditions.iter().all(|c| a.conditions.contains(c)))
    }

    /// Only states of one partition are joined, so the control states are the same.
    fn join(&mut self, a: &Watch, b: &Watch) -> Result<Watch, Halt> {
        if a.states != b.states {
            return Err(Halt::Limit("states of an observer are never joined".into()));
        }
        let conditions = a.conditions.iter().copied().filter(|c| b.conditions.contains(c)).collect();
        Ok(Watch { states: a.states.clone(), conditions })
    }

    fn describe(&self, state: &Watch) -> String {
        let names = self.observers.iter().zip(&state.states);
        let names = names.map(|(o, s)| format!("{}:{}", o.name, o.states[usize::from(*s)].name));
        names.collect::<Vec<_>>().join(" ")
    }
}

impl Cpa for Observers<'_> {
    type Precision = ();
    /// Different control states are kept apart.
    type Key = SmallVec<[u16; 4]>;
    type Class = ();

    fn key(&self, state: &Watch) -> Self::Key {
        state.states.clone()
    }
    fn class(&self, _: &Watch) {}
    fn digest(&mut self, _: &Watch, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Watch,
        (): &(),
        step: &Step,
        out: &mut Successors<Watch>,
    ) -> Result<(), Halt> {
        out.push(Watch { states: SmallVec::new(), conditions: SmallVec::new() });
        for (observer, &q) in self.observers.iter().zip(&state.states) {
            let next = self.next(observer, q, step);
            // One copy of every partial successor for each choice of this automaton.
            let partial = std::mem::take(out);
            for before in partial {
                for (to, condition) in &next {
                    let mut watch = before.clone();
                    watch.states.push(*to);
                    watch.conditions.extend(*condition);
                    watch.conditions.sort_unstable();
                    watch.conditions.dedup();
                    out.push(watch);
                }
            }
        }
        Ok(())
    }

    /// Drops a successor whose condition another component refutes, and conditions that it knows.
    fn strengthen(
        &mut self,
        mut state: Watch,
        (): &(),
        _: &Step,
        others: &mut dyn Facts,
    ) -> Result<Option<Watch>, Halt> {
        let mut open = SmallVec::new();
        for &condition in &state.conditions {
            match others.value(condition)? {
                Some(Constant::Bits(0)) => return Ok(None),
                Some(_) => {}
                None => open.push(condition),
            }
        }
        state.conditions = open;
        Ok(Some(state))
    }

    fn merges(&self) -> bool {
        self.merging
    }

    /// ψ ∨ ψ′ where the control states are equal.
    fn merge(&mut self, new: &Watch, reached: &Watch, _: &MergeContext) -> Result<Option<Watch>, Halt> {
        if !self.merging || new.states != reached.states {
            return Ok(None);
        }
        let merged = self.join(new, reached)?;
        Ok((merged != *reached).then_some(merged))
    }

    fn target(&self, state: &Watch) -> Option<Target> {
        let mut errors = self.observers.iter().zip(&state.states);
        errors.find_map(|(o, s)| o.states[usize::from(*s)].error.clone().map(Target::Observer))
    }

    fn answer(&mut self, state: &Watch, query: &mut Query<'_>) -> Result<(), Halt> {
        if let Query::Conditions(out) = query {
            out.extend(state.conditions.iter().copied());
        }
        Ok(())
    }
}
