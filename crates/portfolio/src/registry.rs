//! The analyses by name: the one list that a new analysis is added to.

use palisade_base::Budget;
use palisade_domains::{Boxes, Intervals, LddCtx, Limits, Octagons, Polyhedra};
use palisade_engines::Engine;
use palisade_engines::bmc::Bmc;
use palisade_engines::concrete::Concrete;
use palisade_engines::houdini::{Arrays, Houdini, Memory};
use palisade_engines::kinduction::KInduction;
use palisade_engines::numeric::{AbstractInterpretation, DELAY};
use palisade_engines::predicate::Predicates;
use palisade_engines::summaries::Summaries;
use palisade_engines::value::ExplicitValues;

/// An analysis that can be chosen on the command line.
pub struct Analysis {
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its share of the time in relation to the others'.
    pub weight: u32,
    /// The engine.
    pub engine: Box<dyn Engine + Send + Sync>,
}

/// All analyses, in the order in which they are listed.
pub fn analyses() -> Vec<Analysis> {
    let entry = |weight, summary, engine| Analysis { summary, weight, engine };
    vec![
        entry(
            2,
            "execution on pseudo-random inputs: shallow bugs in milliseconds, and the one run of closed programs",
            Box::new(Concrete),
        ),
        entry(
            5,
            "bounded model checking: unroll until a bug or the end of the program is found",
            Box::new(Bmc),
        ),
        entry(3, "contracts of recursive functions in place of their calls", Box::new(Summaries)),
        entry(
            2,
            "abstract interpretation with intervals",
            Box::new(AbstractInterpretation::<Intervals> { name: "interval", context: |_| (), delay: DELAY }),
        ),
        entry(
            4,
            "the largest inductive set of facts about all elements of arrays in a range",
            Box::new(Arrays),
        ),
        entry(8, "the largest inductive set of facts about where pointers point", Box::new(Memory)),
        entry(3, "k-induction over loop passes, helped by interval invariants", Box::new(KInduction)),
        entry(2, "explicit values of all variables, never joined: state machines", Box::new(ExplicitValues)),
        entry(2, "predicate abstraction over the program's own conditions", Box::new(Predicates)),
        entry(2, "the largest inductive set of many candidate invariants", Box::new(Houdini)),
        entry(
            1,
            "abstract interpretation with octagons",
            Box::new(AbstractInterpretation::<Octagons> {
                name: "octagon",
                context: |_| Limits::STANDARD,
                delay: DELAY,
            }),
        ),
        entry(
            1,
            "abstract interpretation with convex polyhedra",
            Box::new(AbstractInterpretation::<Polyhedra> {
                name: "polyhedra",
                context: |_| Limits::STANDARD,
                delay: DELAY,
            }),
        ),
        entry(
            2,
            "abstract interpretation with sets of boxes on linear decision diagrams",
            Box::new(AbstractInterpretation::<Boxes> {
                name: "boxes",
                context: boxes_context,
                delay: BOXES_DELAY,
            }),
        ),
    ]
}

/// Sets of boxes keep the states of a state machine apart, so widening waits until most are found.
const BOXES_DELAY: u32 = 300;

/// The analysis of this name.
pub fn named(name: &str) -> Option<Analysis> {
    analyses().into_iter().find(|a| a.engine.name() == name)
}

/// A manager of its own for every run, which stops with the run.
fn boxes_context(budget: &Budget) -> LddCtx {
    LddCtx::new(palisade_dd::Limits { budget: budget.clone(), ..Default::default() })
}
