//! Lifetimes of automatic objects, and jumps across blocks.
//!
//! A jump ends the lives of the objects in the blocks that it leaves and starts those in the
//! blocks that it enters. Where a label stands is known only once it was seen, so every `goto` and
//! `case` is finished at the end of the function.

use crate::Lowerer;
use crate::graph::Node;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_cfa::*;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

palisade_base::idx! {
    /// A block with automatic objects.
    pub struct ScopeId = "scope";
}

/// A block with automatic objects.
#[derive(Debug, Default)]
pub(crate) struct ScopeData {
    parent: Option<ScopeId>,
    /// What comes to life when the block is jumped into.
    enters: Vec<VarId>,
    /// What came to life when the block was entered, before its declaration.
    entered: FxHashSet<VarId>,
    /// Pointers to the variable length arrays of the block; null until the declaration.
    vlas: Vec<VarId>,
    /// What is to be done when the block is left, last first; grows with each declaration.
    exits: Vec<Exit>,
}

/// Something to do when a block is left.
#[derive(Clone, Copy, Debug)]
enum Exit {
    Leave(VarId),
    FreeArray(VarId),
    Cleanup(ObjId, FnId),
}

/// Where `break` or `continue` leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) node: Node,
    pub(crate) scope: Option<ScopeId>,
}

/// A label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelAt {
    node: Node,
    scope: Option<ScopeId>,
}

/// A jump whose target was not yet seen.
#[derive(Debug)]
pub(crate) struct Goto {
    from: Node,
    label: LabelId,
    /// The scopes around it, innermost first, with the number of exits they had then.
    chain: SmallVec<[(ScopeId, usize); 4]>,
    span: Span,
}

impl Lowerer<'_> {
    /// Starts a block with automatic objects. `declared_first` says which of them are declared
    /// before anything else happens.
    pub(crate) fn open_scope(&mut self, objects: &[ObjId], declared_first: &FxHashSet<ObjId>, span: Span) {
        let id = self.at.scopes.push(ScopeData { parent: self.at.scope, ..ScopeData::default() });
        self.at.scope = Some(id);
        for &obj in objects {
            let object = &self.typed.objects[obj];
            let var = self.var_of(obj);
            if object.vla_size.is_some() {
                self.at.scopes[id].vlas.push(var);
                self.at.scopes[id].exits.push(Exit::FreeArray(var));
                self.null_pointer(var, span);
                continue;
            }
            self.at.scopes[id].enters.push(var);
            let literal = matches!(object.kind, ObjKind::CompoundLiteral(_));
            if literal || self.at.has_labels && !declared_first.contains(&obj) {
                self.emit(Op::Enter { var }, object.span_or(span));
                self.at.scopes[id].entered.insert(var);
                self.note_leave(obj, var);
            }
        }
    }

    /// Whether an object already lives when its declaration is passed: it lives as long as its
    /// block (C11 6.2.4), and a jump back may have it declared again.
    pub(crate) fn lives_already(&self, var: VarId) -> bool {
        self.at.scope.is_some_and(|scope| self.at.scopes[scope].entered.contains(&var))
    }

    fn null_pointer(&mut self, var: VarId, span: Span) {
        let dst = self.pool.var(var);
        let null = self.pool.null();
        self.assign(dst, null, span);
    }

    /// An object came to life: if its address is taken, its end matters.
    fn note_leave(&mut self, obj: ObjId, var: VarId) {
        let Some(scope) = self.at.scope else { return };
        let exits = &mut self.at.scopes[scope].exits;
        if self.scan.taken[obj] && !exits.iter().any(|e| matches!(e, Exit::Leave(v) if *v == var)) {
            exits.push(Exit::Leave(var));
        }
    }

    /// A declaration was reached: from now on the object has an end, and its clean-up is due
    /// before that.
    pub(crate) fn note_exit(&mut self, obj: ObjId, var: VarId) {
        self.note_leave(obj, var);
        let (Some(scope), Some(f)) = (self.at.scope, self.typed.objects[obj].cleanup) else { return };
        let exits = &mut self.at.scopes[scope].exits;
        if !exits.iter().any(|e| matches!(e, Exit::Cleanup(o, _) if *o == obj)) {
            exits.push(Exit::Cleanup(obj, f));
        }
    }

    /// Ends the current block.
    pub(crate) fn close_scope(&mut self, span: Span) {
        let Some(scope) = self.at.scope else { return };
        let parent = self.at.scopes[scope].parent;
        let end = Span::new(span.hi.saturating_sub(1).max(span.lo), span.hi);
        self.leave_scopes(parent, end);
        self.at.scope = parent;
    }

    /// Does what leaving all blocks inside `outer` takes; lowering stays where it is.
    pub(crate) fn leave_scopes(&mut self, outer: Option<ScopeId>, span: Span) {
        let mut scope = self.at.scope;
        while let Some(id) = scope
            && scope != outer
        {
            self.leave_scope(id, self.at.scopes[id].exits.len(), span);
            scope = self.at.scopes[id].parent;
        }
    }

    /// Runs the clean-up functions of all blocks before a return.
    pub(crate) fn cleanups(&mut self, span: Span) {
        let mut scope = self.at.scope;
        while let Some(id) = scope {
            for i in (0..self.at.scopes[id].exits.len()).rev() {
                if let Exit::Cleanup(obj, f) = self.at.scopes[id].exits[i] {
                    self.clean_up(obj, f, span);
                }
            }
            scope = self.at.scopes[id].parent;
        }
    }

    /// Whether a return has clean-up functions to run.
    pub(crate) fn has_cleanups(&self) -> bool {
        let exits = |id: ScopeId| &self.at.scopes[id].exits;
        let mut scope = self.at.scope;
        while let Some(id) = scope {
            if exits(id).iter().any(|e| matches!(e, Exit::Cleanup(..))) {
                return true;
            }
            scope = self.at.scopes[id].parent;
        }
        false
    }

    fn leave_scope(&mut self, id: ScopeId, exits: usize, span: Span) {
        for i in (0..exits).rev() {
            match self.at.scopes[id].exits[i] {
                Exit::Leave(var) => self.emit(Op::Leave { var }, span),
                Exit::FreeArray(var) => {
                    let ptr = self.pool.load_var(var);
                    self.emit(Op::Free { ptr }, span);
                }
                Exit::Cleanup(obj, f) => self.clean_up(obj, f, span),
            }
        }
    }

    fn clean_up(&mut self, obj: ObjId, f: FnId, span: Span) {
        let var = self.var_of(obj);
        let place = self.pool.var(var);
        let ptr = self.pool.addr(place);
        let callee = Callee::Direct(self.func_of(f));
        self.emit(Op::Call { dst: None, callee, args: [Arg::Scalar(ptr)].into() }, span);
    }

    /// The node of a label, seen or not.
    fn label(&mut self, label: LabelId) -> Node {
        if let Some(at) = self.at.labels.get(&label) {
            return at.node;
        }
        let node = self.at.graph.node(self.typed.labels[label].span);
        self.at.labels.insert(label, LabelAt { node, scope: None });
        node
    }

    /// Control passes a label.
    pub(crate) fn place_label(&mut self, label: LabelId) {
        let node = self.label(label);
        self.at.labels.insert(label, LabelAt { node, scope: self.at.scope });
        if let Some(name) = self.typed.labels[label].name {
            let name = self.name(name);
            self.at.graph.mark_label(node, name);
        }
        self.at.graph.enter(node);
    }

    /// Jumps to a label; afterwards control is nowhere.
    pub(crate) fn goto(&mut self, label: LabelId, span: Span) {
        let Some(from) = self.at.graph.current() else { return };
        self.at.graph.move_to(None);
        let mut chain = SmallVec::new();
        let mut scope = self.at.scope;
        while let Some(id) = scope {
            chain.push((id, self.at.scopes[id].exits.len()));
            scope = self.at.scopes[id].parent;
        }
        self.at.gotos.push(Goto { from, label, chain, span });
    }

    /// Connects all jumps with their labels, at the end of the function.
    pub(crate) fn finish_gotos(&mut self) {
        for goto in std::mem::take(&mut self.at.gotos) {
            let target = self.label(goto.label);
            let mut entered = Vec::new();
            let mut scope = self.at.labels.get(&goto.label).and_then(|l| l.scope);
            while let Some(id) = scope {
                entered.push(id);
                scope = self.at.scopes[id].parent;
            }
            self.at.graph.move_to(Some(goto.from));
            for &(id, exits) in &goto.chain {
                if !entered.contains(&id) {
                    self.leave_scope(id, exits, goto.span);
                }
            }
            for &id in entered.iter().rev() {
                if !goto.chain.iter().any(|(s, _)| *s == id) {
                    self.enter_scope(id, goto.span);
                }
            }
            self.at.graph.jump(target);
        }
    }

    fn enter_scope(&mut self, id: ScopeId, span: Span) {
        for i in 0..self.at.scopes[id].enters.len() {
            let var = self.at.scopes[id].enters[i];
            self.emit(Op::Enter { var }, span);
        }
        for i in 0..self.at.scopes[id].vlas.len() {
            let var = self.at.scopes[id].vlas[i];
            self.null_pointer(var, span);
        }
    }
}

/// The position of an object, or else that of its block.
trait SpanOr {
    fn span_or(&self, other: Span) -> Span;
}

impl SpanOr for Object {
    fn span_or(&self, other: Span) -> Span {
        if self.span.is_none() { other } else { self.span }
    }
}
