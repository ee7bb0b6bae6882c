//! The call stack: which calls have not returned yet.
//!
//! Stacks are k-limited call strings: the innermost `limit` calls are known exactly; what lies
//! below is "unknown callers" once more calls were made, so that recursion of any depth is covered.

use palisade_cfa::{EdgeId, Program};
use palisade_cpa::*;
use rustc_hash::FxHashMap;

/// A call stack, hash-consed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stack(u32);

impl Stack {
    /// Nothing was called.
    pub const EMPTY: Stack = Stack(0);
    /// Nobody knows who called (⊤).
    pub const UNKNOWN: Stack = Stack(1);
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    site: EdgeId,
    below: Stack,
    depth: u32,
}

/// The call stack analysis.
pub struct CallStack<'p> {
    program: &'p Program,
    /// The two bottoms have frames too, which nobody looks at.
    frames: Vec<Frame>,
    index: FxHashMap<(Stack, EdgeId), Stack>,
    limit: u32,
}

impl<'p> CallStack<'p> {
    /// Knows the innermost `limit` calls exactly; 0 is a context-insensitive analysis.
    pub fn new(program: &'p Program, limit: u32) -> Self {
        let bottom = Frame { site: EdgeId(u32::MAX), below: Stack::UNKNOWN, depth: 0 };
        CallStack { program, frames: vec![bottom; 2], index: FxHashMap::default(), limit }
    }

    fn frame(&self, stack: Stack) -> Option<&Frame> {
        (stack.0 > 1).then(|| &self.frames[stack.0 as usize])
    }

    fn push_exact(&mut self, below: Stack, site: EdgeId) -> Stack {
        if let Some(&stack) = self.index.get(&(below, site)) {
            return stack;
        }
        let depth = self.depth(below) + 1;
        let stack = Stack(self.frames.len() as u32);
        self.frames.push(Frame { site, below, depth });
        self.index.insert((below, site), stack);
        stack
    }

    fn depth(&self, stack: Stack) -> u32 {
        self.frame(stack).map_or(0, |f| f.depth)
    }

    /// The calls, innermost first.
    pub fn sites(&self, stack: Stack) -> Vec<EdgeId> {
        let mut sites = Vec::new();
        let mut at = stack;
        while let Some(frame) = self.frame(at) {
            sites.push(frame.site);
            at = frame.below;
        }
        sites
    }

    fn push(&mut self, stack: Stack, site: EdgeId) -> Stack {
        if self.depth(stack) < self.limit {
            return self.push_exact(stack, site);
        }
        let kept = self.sites(stack);
        let mut result = Stack::UNKNOWN;
        let keep = (self.limit as usize).saturating_sub(1);
        for &s in kept[..keep.min(kept.len())].iter().rev() {
            result = self.push_exact(result, s);
        }
        if self.limit > 0 { self.push_exact(result, site) } else { result }
    }
}

impl AbstractDomain for CallStack<'_> {
    type State = Stack;

    /// A stack is below every one that forgot more of its outer calls.
    fn leq(&mut self, a: &Stack, b: &Stack) -> Result<bool, Halt> {
        let (mut a, mut b) = (*a, *b);
        loop {
            if a == b || b == Stack::UNKNOWN {
                return Ok(true);
            }
            match (self.frame(a), self.frame(b)) {
                (Some(x), Some(y)) if x.site == y.site => (a, b) = (x.below, y.below),
                _ => return Ok(false),
            }
        }
    }

    fn join(&mut self, a: &Stack, b: &Stack) -> Result<Stack, Halt> {
        if a == b {
            return Ok(*a);
        }
        let (x, y) = (self.sites(*a), self.sites(*b));
        let common = x.iter().zip(&y).take_while(|(p, q)| p == q).count();
        let mut result = Stack::UNKNOWN;
        for &site in x[..common].iter().rev() {
            result = self.push_exact(result, site);
        }
        Ok(result)
    }

    fn describe(&self, state: &Stack) -> String {
        let mut names: Vec<String> = self
            .sites(*state)
            .iter()
            .map(|&e| self.program.funcs[self.program.locs[self.program.edges[e].src].func].name.to_string())
            .collect();
        names.reverse();
        names.join(" > ")
    }
}

impl Cpa for CallStack<'_> {
    type Precision = ();
    type Key = Stack;
    type Class = ();

    fn key(&self, state: &Stack) -> Stack {
        *state
    }
    fn class(&self, _: &Stack) {}
    fn digest(&mut self, _: &Stack, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Stack,
        (): &(),
        step: &Step,
        out: &mut Successors<Stack>,
    ) -> Result<(), Halt> {
        match step.kind {
            StepKind::Local | StepKind::Fail | StepKind::Block(_) => out.push(*state),
            StepKind::Enter(_) => out.push(self.push(*state, step.edge)),
            StepKind::Leave(_) => match self.frame(*state) {
                Some(frame) if frame.site == step.edge => out.push(frame.below),
                Some(_) => {}
                None if *state == Stack::UNKNOWN => out.push(Stack::UNKNOWN),
                None => {}
            },
        }
        Ok(())
    }

    fn return_site(&self, state: &Stack) -> ReturnSite {
        match self.frame(*state) {
            Some(frame) => ReturnSite::Call(frame.site),
            None if *state == Stack::UNKNOWN => ReturnSite::Unknown,
            None => ReturnSite::Nowhere,
        }
    }

    fn call_depth(&self, state: &Stack) -> u32 {
        self.depth(*state)
    }
}
