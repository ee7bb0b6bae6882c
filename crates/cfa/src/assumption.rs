//! What the automaton of a program takes for granted about the world that the program runs in.

use crate::callgraph::CallGraph;
use crate::ir::*;
use palisade_base::Span;

/// Something that is taken for granted, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// What.
    pub what: Assumed,
    /// The function that it is about, or in whose body it is made: it matters if a run may call it.
    pub func: FuncId,
    /// The source it is made for.
    pub span: Span,
}

/// What can be taken for granted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Assumed {
    /// A function without a body, about which nothing is known, changes nothing.
    MissingIsPure,
    /// Such a function changes only what its arguments lead to and globals whose address it may have.
    MissingHavocs,
    /// Allocations never fail.
    AllocationSucceeds,
    /// Pointers that come from outside lead to no object of the program that was not given away.
    PointersLeadOutside,
    /// Nobody but the program changes what is `volatile`.
    VolatileIsOwn,
    /// An `asm` statement changes its outputs and nothing else.
    AsmChangesOutputs,
    /// The entry function gets any arguments, and pointers among them lead nowhere.
    ArgumentsLeadNowhere,
    /// Pointers among the arguments of the entry function point to objects of their own.
    ArgumentsPointTo {
        /// Or are null.
        null: bool,
        /// Elements of an object that is no structure.
        elements: u32,
        /// How many pointers in a row lead to objects.
        depth: u32,
    },
    /// Globals hold their initial values when the entry function is called.
    GlobalsAreInitial,
    /// The entry function is called as its contract requires.
    EntryAsRequired,
    /// That a function changes only what it says is looked at in globals and where its parameters point to.
    AssignsNearby,
    /// Some annotations of a function are not understood, and not looked at.
    AnnotationsLeftOut,
}

impl Assumed {
    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Assumed::MissingIsPure => "missing-pure",
            Assumed::MissingHavocs => "missing-havoc",
            Assumed::AllocationSucceeds => "allocation",
            Assumed::PointersLeadOutside => "pointers-outside",
            Assumed::VolatileIsOwn => "volatile",
            Assumed::AsmChangesOutputs => "asm",
            Assumed::ArgumentsLeadNowhere => "arguments-any",
            Assumed::ArgumentsPointTo { .. } => "arguments-valid",
            Assumed::GlobalsAreInitial => "globals-initial",
            Assumed::EntryAsRequired => "requires",
            Assumed::AssignsNearby => "assigns",
            Assumed::AnnotationsLeftOut => "annotations",
        }
    }

    /// Whether it is about a function without a body.
    pub fn is_missing(self) -> bool {
        matches!(self, Assumed::MissingIsPure | Assumed::MissingHavocs)
    }
}

impl Assumption {
    /// The assumption as a sentence without its full stop.
    pub fn text(&self, program: &Program) -> String {
        let name = &program.funcs[self.func].name;
        match self.what {
            Assumed::MissingIsPure => {
                format!("`{name}` has no body: it changes nothing and returns any value")
            }
            Assumed::MissingHavocs => format!(
                "`{name}` has no body: it changes at most what it can reach from its arguments and from globals \
                 whose address is taken, and returns any value"
            ),
            Assumed::AllocationSucceeds => "memory is never exhausted: allocations succeed".into(),
            Assumed::PointersLeadOutside => {
                "pointers that come from outside point to no object of the program but to those whose address it \
                 gave away"
                    .into()
            }
            Assumed::VolatileIsOwn => "nobody but the program changes `volatile` objects".into(),
            Assumed::AsmChangesOutputs => {
                format!("`asm` in `{name}` changes its outputs, to any value, and nothing else")
            }
            Assumed::ArgumentsLeadNowhere => {
                format!("`{name}` is called with any arguments; pointers among them lead to no object")
            }
            Assumed::ArgumentsPointTo { null, elements, depth } => {
                let or_null = if null { "is null or " } else { "" };
                format!(
                    "`{name}` is called with any arguments; a pointer among them {or_null}points to the start of \
                     an object of its own: one structure, or {elements} elements of another type; so do pointers in \
                     these objects, and after {depth} in a row they are null"
                )
            }
            Assumed::GlobalsAreInitial => {
                format!("globals hold their initial values when `{name}` is called")
            }
            Assumed::EntryAsRequired => format!("`{name}` is called as its contract requires"),
            Assumed::AssignsNearby => format!(
                "what `{name}` assigns beside globals and the objects that its parameters point to is not looked at"
            ),
            Assumed::AnnotationsLeftOut => {
                format!("annotations of `{name}` that are not understood are left out")
            }
        }
    }
}

impl Program {
    /// Notes an assumption, once for each function.
    pub fn assume(&mut self, what: Assumed, func: FuncId, span: Span) {
        if !self.assumptions.iter().any(|a| a.what == what && a.func == func) {
            self.assumptions.push(Assumption { what, func, span });
        }
    }

    /// The assumptions that matter: those about functions that a run may call. Of those that say the
    /// same, the first.
    pub fn assumptions_that_matter(&self) -> Vec<Assumption> {
        let calls = CallGraph::new(self);
        let mut texts: Vec<String> = Vec::new();
        let mut matter = Vec::new();
        for assumption in &self.assumptions {
            // A property may have given the function a body.
            let gone = assumption.what.is_missing() && self.funcs[assumption.func].body.is_some();
            let text = assumption.text(self);
            if calls.is_reachable(assumption.func) && !gone && !texts.contains(&text) {
                texts.push(text);
                matter.push(assumption.clone());
            }
        }
        matter
    }
}
