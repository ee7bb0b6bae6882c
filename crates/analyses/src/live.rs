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
    /// Those that may be read through a pointer.
    addressed: Map,
    /// Those that may hold the only pointer to something.
    pointers: Map,
}

/// What is live where the run of a program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtEnd {
    /// What the program leaves to others: its globals, and what has an address.
    Globals,
    /// Nothing: what is asked for is whether a check still reads a variable.
    Nothing,
}

impl<'p> LiveVariables<'p> {
    /// The analysis of a program.
    pub fn new(program: &'p Program) -> Self {
        let mut tries = Tries::new(program.vars.len());
        let mut those = |which: &dyn Fn(&Var) -> bool| {
            let those = program.vars.iter_enumerated().filter(|(_, var)| which(var));
            those.fold(Map::EMPTY, |map, (v, _)| tries.set(map, v.0, 1))
        };
        let shared = those(&|var| var.address_taken || var.kind == VarKind::Global);
        let addressed = those(&|var| var.address_taken);
        let pointers = those(&|var| program.scalar_of(var.ty).is_none_or(|ty| ty == Scalar::Ptr));
        LiveVariables { program, tries, shared, addressed, pointers }
    }

    /// What is live where a function ends (its exit, or a location that a run never leaves).
    pub fn at_end(&self, func: FuncId, end: AtEnd) -> Map {
        let calls = |edge: &Edge| matches!(edge.op, Op::Call { .. });
        let last = func == self.program.entry && !self.program.edges.iter().any(calls);
        if end == AtEnd::Nothing && last { Map::EMPTY } else { self.shared }
    }

    /// Whether a variable is in a state.
    pub fn is_live(&self, state: Map, var: VarId) -> bool {
        self.tries.get(state, var.0) != 0
    }

    fn use_all(&mut self, live: Map, op: &Op) -> Map {
        let mut live = live;
        let program = self.program;
        match op {
            Op::Call { .. } => live = self.tries.overlay(live, self.shared),
            Op::MemCopy { .. } => live = self.tries.overlay(live, self.addressed),
            _ => {}
        }
        program.visit_op(op, &mut |used| {
            // Taking an address or writing through it needs indices and pointers only; they are
            // visited as reads of their own.
            live = match used {
                Use::Read(p) => match program.places[p].base {
                    Base::Var(v) => self.tries.set(live, v.0, 1),
                    Base::Deref(_) => self.tries.overlay(live, self.addressed),
                },
                // Whether something is lost depends on every pointer there is.
                Use::Expr(e) if program.exprs[e].kind == ExprKind::HeapTracked => {
                    self.tries.overlay(live, self.pointers)
                }
                Use::Expr(_) | Use::Write(_) | Use::Address(_) => live,
            };
        });
        live
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
        Self::with(program, AtEnd::Globals, budget)
    }

    /// Runs the analysis over all functions, with something or nothing that is live where the run ends.
    pub fn with(program: &'p Program, end: AtEnd, budget: &Budget) -> Result<Self, Halt> {
        let live = LiveVariables::new(program);
        let ends: IdxVec<FuncId, Map> = program.funcs.ids().map(|f| live.at_end(f, end)).collect();
        let cpa = Product::new(Location::backward(program), live);
        // A run may stay in a loop for ever, so every location is a start; only ends have content.
        let starts = program
            .locs
            .iter_enumerated()
            .map(|(loc, l)| (Position::At(loc), if l.out.is_empty() { ends[l.func] } else { Map::EMPTY }));
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
