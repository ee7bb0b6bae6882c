//! Live variables: which variables may still be read before they are written. A backward analysis,
//! run function by function with [`Location::backward`].
//!
//! ```text
//! LiveVarsAt(l) = UsedAt(l) ∪ (NotModifiedAt(l) ∩ ⋃ LiveVarsAt(l'))
//! ```

use crate::location::{Location, Position};
use crate::trie::{Map, Tries};
use palisade_base::{Budget, Idx, IdxVec};
use palisade_cfa::*;
use palisade_cpa::*;

/// The live-variables analysis. Its state is a set of variables.
pub struct LiveVariables<'p> {
    program: &'p Program,
    tries: Tries,
    /// Variables that code outside of the function may read: globals, and those with an address.
    shared: Map,
}

impl<'p> LiveVariables<'p> {
    /// The analysis of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut tries = Tries::new(program.vars.len());
        let mut shared = Map::EMPTY;
        for (v, var) in program.vars.iter_enumerated() {
            if var.address_taken || var.kind == VarKind::Global {
                shared = tries.set(shared, v.0, 1);
            }
        }
        LiveVariables { program, tries, shared }
    }

    /// What is live where a function ends (its exit, or a location that a run never leaves).
    pub fn at_end(&self) -> Map {
        self.shared
    }

    /// Whether a variable is in a state.
    pub fn is_live(&self, state: Map, var: VarId) -> bool {
        self.tries.get(state, var.0) != 0
    }

    fn use_all(&mut self, live: Map, op: &Op) -> Map {
        let mut live = live;
        let mut shared = matches!(op, Op::Call { .. } | Op::MemCopy { .. } | Op::Free { .. });
        let program = self.program;
        program.visit_op(op, &mut |used| {
            // Taking an address or writing through it needs indices and pointers only; they are
            // visited as reads of their own.
            if let Use::Read(p) = used {
                match program.places[p].base {
                    Base::Var(v) => live = self.tries.set(live, v.0, 1),
                    Base::Deref(_) => shared = true,
                }
            }
        });
        if shared { self.tries.overlay(live, self.shared) } else { live }
    }
}

impl AbstractDomain for LiveVariables<'_> {
    type State = Map;

    fn leq(&mut self, a: &Map, b: &Map) -> Result<bool, Halt> {
        Ok(self.tries.includes(*b, *a))
    }
    fn join(&mut self, a: &Map, b: &Map) -> Result<Map, Halt> {
        Ok(self.tries.overlay(*a, *b))
    }
    fn describe(&self, state: &Map) -> String {
        let names = self.tries.entries(*state).into_iter();
        names.map(|(v, _)| self.program.vars[VarId(v)].name.to_string()).collect::<Vec<_>>().join(" ")
    }
}

impl Cpa for LiveVariables<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Map) {}
    fn class(&self, _: &Map) {}
    fn digest(&mut self, _: &Map, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(&mut self, state: &Map, (): &(), step: &Step, out: &mut Successors<Map>) -> Result<(), Halt> {
        let op = &self.program.edges[step.edge].op;
        let mut live = *state;
        let whole = match op {
            Op::Assign { dst, .. }
            | Op::Copy { dst, .. }
            | Op::Zero { dst }
            | Op::Havoc { dst, .. }
            | Op::Alloc { dst, .. }
            | Op::Call { dst: Some(dst), .. } => {
                let place = &self.program.places[*dst];
                match place.base {
                    Base::Var(v) if place.path.is_empty() && place.bits.is_none() => Some(v),
                    _ => None,
                }
            }
            Op::Enter { var } | Op::Leave { var } => Some(*var),
            _ => None,
        };
        if let Some(v) = whole {
            live = self.tries.set(live, v.0, 0);
        }
        out.push(self.use_all(live, op));
        Ok(())
    }

    fn merges(&self) -> bool {
        true
    }
    fn merge(&mut self, new: &Map, reached: &Map, _: &MergeContext) -> Result<Option<Map>, Halt> {
        let union = self.tries.overlay(*reached, *new);
        Ok((union != *reached).then_some(union))
    }
}

/// The variables that are live at each location of a program.
pub struct Liveness<'p> {
    analysis: LiveVariables<'p>,
    at: IdxVec<LocId, Map>,
}

impl<'p> Liveness<'p> {
    /// Runs the analysis over all functions.
    pub fn of(program: &'p Program, budget: &Budget) -> Result<Self, Halt> {
        let live = LiveVariables::new(program);
        let end = live.at_end();
        let cpa = Product::new(Location::backward(program), live);
        // A run may stay in a loop for ever, so every location is a start; only ends have content.
        let starts = program
            .locs
            .iter_enumerated()
            .map(|(loc, l)| (Position::At(loc), if l.out.is_empty() { end } else { Map::EMPTY }));
        let mut exploration = Exploration::from_states(cpa, starts.map(|s| (s, ((), ()))), Order::DepthFirst);
        match exploration.run(budget, Limits::NONE) {
            Status::Stopped(halt) => return Err(halt),
            Status::Complete | Status::TargetReached(_) => {}
        }
        let mut at = IdxVec::filled(Map::EMPTY, program.locs.len());
        for (_, (position, map)) in exploration.reached().iter() {
            if let Position::At(loc) = position {
                at[*loc] = *map;
            }
        }
        Ok(Liveness { analysis: exploration.into_cpa().right, at })
    }

    /// Whether a variable is live at a location.
    pub fn is_live(&self, loc: LocId, var: VarId) -> bool {
        self.analysis.is_live(self.at[loc], var)
    }

    /// The variables that are live at a location.
    pub fn live(&self, loc: LocId) -> Vec<VarId> {
        self.analysis.tries.entries(self.at[loc]).into_iter().map(|(v, _)| VarId::new(v as usize)).collect()
    }
}
