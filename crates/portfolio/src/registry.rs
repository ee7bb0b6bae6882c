//! The analyses by name: the one list that a new analysis is added to.

use palisade_domains::{DOMAINS, Domain};
use palisade_engines::Engine;
use palisade_engines::bmc::Bmc;
use palisade_engines::composite::Composite;
use palisade_engines::concrete::Concrete;
use palisade_engines::constructed::Constructed;
use palisade_engines::eureka::Eureka;
use palisade_engines::houdini::{Accumulations, Arrays, Houdini, Memory};
use palisade_engines::kinduction::KInduction;
use palisade_engines::numeric::{AbstractInterpretation, DELAY};
use palisade_engines::numpred::NumPred;
use palisade_engines::parts::Parts;
use palisade_engines::predicate::Predicates;
use palisade_engines::summaries::Summaries;
use palisade_engines::symbolic::SymbolicTransformers;
use palisade_engines::value::ExplicitValues;
use palisade_numpred::Structure;

/// An analysis that can be chosen on the command line.
pub struct Analysis {
    /// What it does, in one line.
    pub summary: &'static str,
    /// Its share of the time in relation to the others' in `auto`, where the task is not one that it is made
    /// for; without one it runs only when it is asked for.
    pub weight: Option<u32>,
    /// The engine.
    pub engine: Box<dyn Engine + Send + Sync>,
}

/// Races of all analyses that have a weight, with what they do.
pub const RACES: [(&str, &str); 2] = [
    ("auto", "a race of engines that tell each other what they learn"),
    ("apart", "the same race without a word between them, for comparison"),
];

/// Whether a name is that of a race.
pub fn is_race(name: &str) -> bool {
    RACES.iter().any(|(race, _)| *race == name)
}

/// All analyses, in the order in which they are listed.
pub fn analyses() -> Vec<Analysis> {
    let entry = |weight, summary, engine| Analysis { summary, weight: Some(weight), engine };
    let mut all = vec![
        entry(
            4,
            "execution on pseudo-random inputs: shallow bugs in milliseconds, and the one run of closed programs",
            Box::new(Concrete) as Box<dyn Engine + Send + Sync>,
        ),
        entry(
            5,
            "bounded model checking: unroll until a bug or the end of the program is found",
            Box::new(Bmc),
        ),
        entry(
            3,
            "contracts in place of calls: of recursive functions, and of those whose calls multiply",
            Box::new(Summaries),
        ),
        numeric(Some(2), Domain::interval(), DELAY),
        entry(
            4,
            "the largest inductive set of facts about all elements of arrays in a range",
            Box::new(Arrays),
        ),
        entry(
            4,
            "the largest inductive set of facts about sums and other folds over arrays",
            Box::new(Accumulations),
        ),
        entry(3, "the largest inductive set of facts about where pointers point", Box::new(Memory)),
        entry(3, "k-induction over loop passes, helped by interval invariants", Box::new(KInduction)),
        entry(2, "explicit values of all variables, never joined: state machines", Box::new(ExplicitValues)),
        entry(4, "ranges of all variables, joined where the program asks for no difference", Box::new(Parts)),
        entry(2, "predicate abstraction over the program's own conditions", Box::new(Predicates)),
        entry(2, "the largest inductive set of many candidate invariants", Box::new(Houdini)),
        numeric(Some(1), Domain::octagon(), DELAY),
        numeric(Some(1), Domain::polyhedra(), DELAY),
        numeric(Some(2), Domain::boxes(), BOXES_DELAY),
        entry(
            1,
            "the variables and array elements that counterexamples ask for, as sets of polyhedra",
            Box::new(Eureka),
        ),
    ];
    all.extend([
        symbolic("symbolic-octagon", "octagons, by best transformers of whole pieces", Domain::octagon()),
        symbolic(
            "symbolic-polyhedra",
            "polyhedra, by best transformers of whole pieces",
            Domain::polyhedra(),
        ),
    ]);
    for &domain in &DOMAINS {
        if all.iter().all(|a| a.engine.name() != domain.name) {
            all.push(numeric(None, domain, DELAY));
        }
    }
    let constructed = |method, summary| Analysis { summary, weight: None, engine: Box::new(method) };
    all.extend([
        constructed(
            Constructed::Backward,
            "what the errors need, backward over polyhedra, where it is inductive",
        ),
        constructed(Constructed::Template, "linear templates solved with Farkas' lemma"),
        constructed(Constructed::Learning, "candidates from concrete runs, checked by the solver"),
    ]);
    all.extend(Structure::ALL.map(|s| combined(s, Domain::polyhedra())));
    all
}

/// Predicates and numbers in one domain.
fn combined(structure: Structure, numbers: Domain) -> Analysis {
    let summary = match structure {
        Structure::Numeric => "numbers of the variables that counterexamples ask for",
        Structure::Predicate => "predicates that counterexamples ask for",
        Structure::NexPoint => "predicates and numbers, refined by counterexamples: one pair (NexPoint)",
        Structure::Nex => "the same: numbers for each valuation of the predicates, as sets (Nex)",
        Structure::Mtndd => "the same as multi-terminal decision diagrams (MTNDD)",
        Structure::Ndd => "the same with unions of numbers, as decision diagrams (NDD)",
    };
    Analysis { summary, weight: None, engine: Box::new(NumPred { structure, numbers }) }
}

/// Abstract interpretation with a domain.
fn numeric(weight: Option<u32>, domain: Domain, delay: u32) -> Analysis {
    Analysis { summary: domain.summary, weight, engine: Box::new(AbstractInterpretation { domain, delay }) }
}

/// Abstract interpretation with transformers by symbolic abstraction, when it is asked for.
fn symbolic(name: &'static str, summary: &'static str, domain: Domain) -> Analysis {
    Analysis { summary, weight: None, engine: Box::new(SymbolicTransformers { name, domain }) }
}

/// Sets of boxes keep the states of a state machine apart, so widening waits until most are found.
const BOXES_DELAY: u32 = 300;

/// The analyses that a name asks for: all that race, those between commas, or one; or why there are none.
pub fn chosen(name: &str) -> Result<Vec<Analysis>, String> {
    if is_race(name) {
        return Ok(analyses().into_iter().filter(|a| a.weight.is_some()).collect());
    }
    name.split(',').map(named).collect()
}

/// The analysis of this name, or why there is none. Those with predicates and numbers take the numeric domain
/// behind a plus sign, as in `nex+oct`; components with plus signs between them are a [`Composite`].
pub fn named(name: &str) -> Result<Analysis, String> {
    if let Some((first, kind)) = name.split_once('+')
        && let Some(structure) = Structure::ALL.into_iter().find(|s| s.name() == first)
    {
        let domain = Domain::named(kind).ok_or_else(|| format!("there is no numeric domain `{kind}`"))?;
        return Ok(combined(structure, domain));
    }
    if let Some(found) = analyses().into_iter().find(|a| a.engine.name() == name) {
        return Ok(found);
    }
    if name.contains('+') || name.starts_with("location") {
        let engine = Box::new(Composite::parse(name)?);
        return Ok(Analysis { summary: "a composite", weight: None, engine });
    }
    Err(format!("there is no analysis `{name}`; `palisade analyses` lists them"))
}
