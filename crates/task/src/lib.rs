//! The question that engines answer and evidence speaks about.
//!
//! A [`Task`] is one function with error locations. [`Task::whole`] makes it of an instrumented
//! program: all calls are inlined ([`inline`]), every check has become an error location, and
//! locations that do nothing are gone ([`compact`]). The task remembers where each edge came from,
//! so that traces and invariants speak about the program the user wrote. [`contracts`] of recursive
//! functions stand in for calls that no inlining would end, and in large programs, whose memory is then [forgotten](mod@forget),
//! for calls that are too many.
//!
//! [`rewrite`] is the tool of everything that changes operations.

pub mod compact;
pub mod contracts;
pub mod forget;
pub mod inline;
pub mod rewrite;

use palisade_base::{Idx, IdxVec, Span};
use palisade_cfa::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

palisade_base::idx! {
    /// One activation of a function in the inlined program.
    pub struct FrameId = "frame";
}

/// A question in the form all engines answer: can one of the error locations be reached from the
/// entry of a program that consists of one function?
#[derive(Clone, Debug)]
pub struct Task {
    /// The instrumented program this task was made of; its checks are the errors.
    pub source: Arc<Program>,
    /// The program; only its entry function has a body, so remaining calls are external.
    pub program: Program,
    /// Locations that violate the property, sorted.
    pub errors: Vec<ErrorLoc>,
    /// Locations where a call was not followed: it recurses too deep, or does what the automaton
    /// cannot show. A proof must show them unreachable. Sorted.
    pub cuts: Vec<LocId>,
    /// How many further activations of a recursive function were followed.
    pub recursion: usize,
    /// Whether some cut is a recursive call, so that following deeper may help.
    pub recursion_cut: bool,
    /// Whether functions that cannot fail do here whatever they might: runs of the task need not be runs of the
    /// program.
    pub outlined: bool,
    /// Whether nothing of the program is followed ([`Task::unfollowed`]).
    pub unfollowed: bool,
    /// Where locations and edges came from.
    pub origin: Origin,
}

/// A location that must not be reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ErrorLoc {
    /// The location, without outgoing edges.
    pub loc: LocId,
    /// What is wrong there.
    pub kind: CheckKind,
    /// The [`Op::Check`] edge of the original program.
    pub check: EdgeId,
}

/// The way back from the task to the program it was made of.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The original edge of each edge; parameter passing and resolved calls map to the call.
    pub edges: IdxVec<EdgeId, EdgeId>,
    /// The activation each location belongs to.
    pub frames_of: IdxVec<LocId, FrameId>,
    /// The original location; error locations map to the start of their check.
    pub locs: IdxVec<LocId, LocId>,
    /// All activations; the first is the entry's.
    pub frames: IdxVec<FrameId, Frame>,
    /// Registers that stand for a member of an object: the variable that was split, and the offset
    /// of the member there.
    pub pieces: FxHashMap<VarId, (VarId, u64)>,
    /// Variables that stand for an object that is allocated once: the activation that does it, and its original
    /// edge.
    pub made: FxHashMap<VarId, (FrameId, EdgeId)>,
    /// What reductions used and what holds at loop heads, so that nobody else says it: activation,
    /// original location, and a truth value.
    pub known: Vec<(FrameId, LocId, ExprId)>,
}

/// An activation of a function.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The function.
    pub func: FuncId,
    /// Who called it, and by which original edge; `None` for the entry.
    pub caller: Option<(FrameId, EdgeId)>,
}

/// Why a task could not be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the program is too large once its calls are inlined")
    }
}

impl Task {
    /// Makes a task of an instrumented program, following recursive calls `recursion` levels deep.
    /// Calls that do what the automaton cannot show are cut. Nothing is left out, whether it can lead
    /// to an error or not.
    pub fn whole(source: &Arc<Program>, recursion: usize, max_edges: usize) -> Result<Task, TooLarge> {
        let mut task = inline::inline(source, recursion, max_edges)?;
        compact::compact(&mut task);
        Ok(task)
    }

    /// The task of a program that is too large for [`Task::whole`]: its entry is a cut, so that whoever wants to show
    /// something has to look at the source.
    pub fn unfollowed(source: &Arc<Program>) -> Task {
        let mut program = Program { locs: IdxVec::new(), edges: IdxVec::new(), ..Program::clone(source) };
        program.funcs.iter_mut().for_each(|func| func.body = None);
        let (func, body) = (source.entry, source.body(source.entry));
        let mut origin = Origin::default();
        let frame = origin.frames.push(Frame { func, caller: None });
        let [entry, exit] = [body.entry, body.exit].map(|loc| {
            origin.frames_of.push(frame);
            origin.locs.push(loc);
            program.add_loc(func, source.locs[loc].span)
        });
        program.funcs[func].body = Some(Body { params: Vec::new(), locals: Vec::new(), entry, exit });
        Task {
            source: source.clone(),
            program,
            errors: Vec::new(),
            cuts: vec![entry],
            recursion: 0,
            recursion_cut: false,
            outlined: false,
            unfollowed: true,
            origin,
        }
    }

    /// A new location beside another one.
    pub fn add_loc_like(&mut self, other: LocId) -> LocId {
        let span = self.program.locs[other].span;
        let id = self.program.add_loc(self.program.entry, span);
        self.origin.frames_of.push(self.origin.frames_of[other]);
        self.origin.locs.push(self.origin.locs[other]);
        id
    }

    /// A new edge that stands for an edge of the original program.
    pub fn add_edge_from(&mut self, src: LocId, op: Op, dst: LocId, span: Span, origin: EdgeId) -> EdgeId {
        let id = self.program.add_edge(src, op, dst, span);
        self.origin.edges.push(origin);
        id
    }

    /// The same question about a program with more expressions in its pools, and steps that the program of
    /// [`Task::program`] is unaware of: nothing else may differ.
    pub fn with_program(&self, program: Program) -> Task {
        let mut origin = self.origin.clone();
        // A step that was added leads from a location with one way in, which is not new or was added before.
        for edge in self.program.edges.len()..program.edges.len() {
            let edge = &program.edges[EdgeId(edge as u32)];
            let before = origin.edges[program.locs[edge.src].inc[0]];
            origin.edges.push(before);
            // Several steps in a row lead to a location that is not new.
            let mut known = edge.dst;
            while known.index() >= self.program.locs.len() {
                known = program.edges[program.locs[known].out[0]].dst;
            }
            let (frame, loc) = (origin.frames_of[known], origin.locs[known]);
            origin.frames_of.push(frame);
            origin.locs.push(loc);
        }
        Task {
            source: self.source.clone(),
            program,
            errors: self.errors.clone(),
            cuts: self.cuts.clone(),
            recursion: self.recursion,
            recursion_cut: self.recursion_cut,
            outlined: self.outlined,
            unfollowed: self.unfollowed,
            origin,
        }
    }

    /// The body of the only function.
    pub fn body(&self) -> &Body {
        self.program.body(self.program.entry)
    }

    /// What is wrong at a location, if it is an error location.
    pub fn error_at(&self, loc: LocId) -> Option<&ErrorLoc> {
        self.errors.binary_search_by_key(&loc, |e| e.loc).ok().map(|i| &self.errors[i])
    }

    /// Whether a proof must show the location unreachable: it is an error or a cut.
    pub fn is_end(&self, loc: LocId) -> bool {
        self.error_at(loc).is_some() || self.cuts.binary_search(&loc).is_ok()
    }

    /// The calls that lead to a location, outermost first: the function and the original call edge
    /// of each activation but the entry's.
    pub fn call_stack(&self, loc: LocId) -> Vec<(FuncId, EdgeId)> {
        let mut stack = Vec::new();
        let mut frame = &self.origin.frames[self.origin.frames_of[loc]];
        while let Some((parent, call)) = frame.caller {
            stack.push((frame.func, call));
            frame = &self.origin.frames[parent];
        }
        stack.reverse();
        stack
    }
}
