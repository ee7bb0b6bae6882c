//! What is worth believing at a loop head: facts about variables that are still read from there on,
//! and about those that no loop changes. What is said about the counters and pointers of loops that
//! are over stays true for ever, and would only burden every query.

use super::refine::Candidate;
use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Reads and writes of variables, and where edges come from.
pub struct Relevance<'p> {
    program: &'p Program,
    reads: FxHashMap<VarId, Vec<LocId>>,
    writes: FxHashMap<VarId, FxHashSet<EdgeId>>,
    incoming: FxHashMap<LocId, Vec<EdgeId>>,
    /// Locations in loops.
    looping: FxHashSet<LocId>,
    /// Where a variable is live, as far as somebody asked.
    live: FxHashMap<VarId, FxHashSet<LocId>>,
}

impl<'p> Relevance<'p> {
    /// Looks at a program without calls and its loop heads.
    pub fn new(program: &'p Program, graph: &wto::Graph, heads: &[LocId]) -> Self {
        let looping = heads.iter().flat_map(|&h| graph.loop_body(program, h).iter().copied()).collect();
        let mut this = Relevance {
            program,
            reads: FxHashMap::default(),
            writes: FxHashMap::default(),
            incoming: FxHashMap::default(),
            live: FxHashMap::default(),
            looping,
        };
        for (id, edge) in program.edges.iter_enumerated() {
            this.incoming.entry(edge.dst).or_default().push(id);
            program.visit_op(&edge.op, &mut |used| match used {
                Use::Read(place) => {
                    if let Base::Var(v) = program.places[place].base {
                        this.reads.entry(v).or_default().push(edge.src);
                    }
                }
                Use::Write(place) => {
                    if let Base::Var(v) = program.places[place].base {
                        this.writes.entry(v).or_default().insert(id);
                    }
                }
                Use::Expr(_) | Use::Address(_) => {}
            });
        }
        this
    }

    /// Whether a candidate speaks only about what matters at a loop head.
    pub fn matters(&mut self, candidate: &Candidate, head: LocId) -> bool {
        let mut vars = Vec::new();
        let program = self.program;
        program.visit_op(&Op::Assume { cond: candidate.expr }, &mut |used| {
            if let Use::Read(place) = used
                && let Base::Var(var) = program.places[place].base
                && program.register(var).is_some()
            {
                vars.push(var);
            }
        });
        vars.into_iter().all(|var| self.is_fixed(var) || self.live(var).contains(&head))
    }

    /// Written in no loop: a length, the start of an object, a ghost.
    fn is_fixed(&self, var: VarId) -> bool {
        let loops = |e: &EdgeId| self.looping.contains(&self.program.edges[*e].src);
        self.writes.get(&var).is_none_or(|edges| !edges.iter().any(loops))
    }

    fn live(&mut self, var: VarId) -> &FxHashSet<LocId> {
        let Relevance { program, reads, writes, incoming, live, .. } = self;
        live.entry(var).or_insert_with(|| {
            let mut found = FxHashSet::default();
            let mut work: Vec<LocId> = reads.get(&var).cloned().unwrap_or_default();
            while let Some(loc) = work.pop() {
                if !found.insert(loc) {
                    continue;
                }
                for edge in incoming.get(&loc).into_iter().flatten() {
                    // A register is written as a whole.
                    if !writes.get(&var).is_some_and(|w| w.contains(edge)) {
                        work.push(program.edges[*edge].src);
                    }
                }
            }
            found
        })
    }
}
