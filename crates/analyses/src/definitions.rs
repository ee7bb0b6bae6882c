//! Reaching definitions (section 4.3): which assignments may have given a variable its value.
//! Calls are followed into their bodies.

use crate::trie::{Map, Tries};
use palisade_base::IdxVec;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_cpa::*;
use std::ops::Range;

/// An assignment that defines a variable: (x, l, l′) in the paper.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Definition {
    /// The variable.
    pub var: VarId,
    /// The defining edge.
    pub edge: EdgeId,
}

/// The variables an operation writes, and whether all of the variable is written for certain.
/// `Use::Write` through a pointer writes any variable whose address is taken.
fn written(program: &Program, op: &Op) -> Vec<(VarId, bool)> {
    let mut vars = Vec::new();
    let mut anything = matches!(op, Op::MemCopy { .. } | Op::MemSet { .. });
    let mut place = |p: PlaceId| {
        let place = &program.places[p];
        match place.base {
            Base::Var(v) => vars.push((v, place.path.is_empty() && place.bits.is_none())),
            Base::Deref(_) => anything = true,
        }
    };
    match op {
        Op::Assign { dst, .. }
        | Op::Copy { dst, .. }
        | Op::Zero { dst }
        | Op::Havoc { dst, .. }
        | Op::Alloc { dst, .. }
        | Op::Call { dst: Some(dst), .. } => place(*dst),
        _ => {}
    }
    if anything {
        vars.extend(addressed(program).map(|v| (v, false)));
    }
    vars
}

fn addressed(program: &Program) -> impl Iterator<Item = VarId> + '_ {
    program.vars.iter_enumerated().filter(|(_, v)| v.address_taken).map(|(id, _)| id)
}

/// The reaching-definitions analysis. Its state is a set of [`Definition`]s.
pub struct ReachingDefinitions<'p> {
    program: &'p Program,
    tries: Tries,
    /// All definitions, sorted.
    definitions: Vec<Definition>,
    of_var: IdxVec<VarId, Range<u32>>,
    written: IdxVec<EdgeId, Vec<(VarId, bool)>>,
}

impl<'p> ReachingDefinitions<'p> {
    /// Collects all definitions of a program.
    pub fn new(program: &'p Program) -> Self {
        let graph = CallGraph::new(program);
        let mut definitions = Vec::new();
        let mut writes: IdxVec<EdgeId, Vec<(VarId, bool)>> = IdxVec::new();
        for (edge, e) in program.edges.iter_enumerated() {
            let mut vars = written(program, &e.op);
            if let Op::Call { args, .. } = &e.op {
                let targets = graph.targets(program, edge);
                let bodies = targets.iter().filter_map(|&f| program.funcs[f].body.as_ref());
                definitions.extend(bodies.flat_map(|b| &b.params).map(|&var| Definition { var, edge }));
                let pointer = |a: &Arg| matches!(a, Arg::Scalar(x) if program.exprs[*x].ty == Scalar::Ptr);
                if args.iter().any(pointer) {
                    // A library function may write through the pointers it gets.
                    vars.extend(addressed(program).map(|v| (v, false)));
                }
            }
            definitions.extend(vars.iter().map(|&(var, _)| Definition { var, edge }));
            writes.push(vars);
        }
        definitions.sort_unstable();
        definitions.dedup();
        let of_var = program
            .vars
            .ids()
            .map(|v| {
                let start = definitions.partition_point(|d| d.var < v) as u32;
                let end = definitions.partition_point(|d| d.var <= v) as u32;
                start..end
            })
            .collect();
        let tries = Tries::new(definitions.len());
        ReachingDefinitions { program, tries, definitions, of_var, written: writes }
    }

    /// No definition has been passed yet.
    pub fn initial(&self) -> Map {
        Map::EMPTY
    }

    /// The definitions in a state.
    pub fn definitions(&self, state: Map) -> Vec<Definition> {
        self.tries.entries(state).iter().map(|&(i, _)| self.definitions[i as usize]).collect()
    }

    /// The definitions of one variable in a state.
    pub fn of(&self, state: Map, var: VarId) -> Vec<Definition> {
        self.definitions(state).into_iter().filter(|d| d.var == var).collect()
    }

    fn kill(&mut self, state: Map, var: VarId) -> Map {
        let range = self.of_var[var].clone();
        self.tries.restrict(state, range.start, range.end, false)
    }

    fn define(&mut self, state: Map, var: VarId, edge: EdgeId) -> Map {
        match self.definitions.binary_search(&Definition { var, edge }) {
            Ok(i) => self.tries.set(state, i as u32, 1),
            Err(_) => state,
        }
    }
}

impl AbstractDomain for ReachingDefinitions<'_> {
    type State = Map;

    fn leq(&mut self, a: &Map, b: &Map) -> Result<bool, Halt> {
        Ok(self.tries.includes(*b, *a))
    }
    fn join(&mut self, a: &Map, b: &Map) -> Result<Map, Halt> {
        Ok(self.tries.overlay(*a, *b))
    }
    fn describe(&self, state: &Map) -> String {
        let show = |d: Definition| {
            let edge = &self.program.edges[d.edge];
            let name = |l: LocId| {
                self.program.locs[l].label.as_ref().map_or_else(|| l.to_string(), |s| s.to_string())
            };
            format!("({}, {}, {})", self.program.vars[d.var].name, name(edge.src), name(edge.dst))
        };
        self.definitions(*state).into_iter().map(show).collect::<Vec<_>>().join(" ")
    }
}

impl Cpa for ReachingDefinitions<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Map) {}
    fn class(&self, _: &Map) {}
    fn digest(&mut self, _: &Map, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(&mut self, state: &Map, (): &(), step: &Step, out: &mut Successors<Map>) -> Result<(), Halt> {
        let mut next = *state;
        let program = self.program;
        match (step.kind, &program.edges[step.edge].op) {
            (StepKind::Fail, _) => {}
            (StepKind::Enter(f), _) => {
                for &param in &program.body(f).params {
                    next = self.kill(next, param);
                    next = self.define(next, param, step.edge);
                }
            }
            (StepKind::Leave(_), Op::Call { dst, .. }) => {
                // What the body wrote was seen there; here only the result is stored.
                let place = dst.map(|d| &program.places[d]);
                if let Some(place) = place
                    && let Base::Var(v) = place.base
                {
                    if place.path.is_empty() && place.bits.is_none() {
                        next = self.kill(next, v);
                    }
                    next = self.define(next, v, step.edge);
                } else if place.is_some() {
                    for v in addressed(program) {
                        next = self.define(next, v, step.edge);
                    }
                }
            }
            (_, Op::Enter { var }) => next = self.kill(next, *var),
            _ => {
                for i in 0..self.written[step.edge].len() {
                    let (var, whole) = self.written[step.edge][i];
                    if whole {
                        next = self.kill(next, var);
                    }
                    next = self.define(next, var, step.edge);
                }
            }
        }
        out.push(next);
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
