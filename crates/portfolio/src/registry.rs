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
use palisade_engines::modular::Modular;
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
    /// Whether it takes part in races; otherwise it runs only when it is asked for.
    pub races: bool,
    /// The engine.
    pub engine: Box<dyn Engine + Send + Sync>,
}

/// Races of all analyses that take part in them, with what they do.
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
    let entry = |summary, engine| Analysis { summary, races: true, engine };
    let mut all = vec![
        entry(
            "execution on pseudo-random inputs: shallow bugs in milliseconds, and the one run of closed programs",
            Box::new(Concrete) as Box<dyn Engine + Send + Sync>,
        ),
        entry("bounded model checking: unroll until a bug or the end of the program is found", Box::new(Bmc)),
        entry(
            "contracts in place of calls: of recursive functions, and of those whose calls multiply",
            Box::new(Summaries),
        ),
        entry(
            "large programs without their memory, function by function: tables of global registers",
            Box::<Modular>::default(),
        ),
        numeric(true, Domain::interval(), DELAY),
        entry("the largest inductive set of facts about all elements of arrays in a range", Box::new(Arrays)),
        entry(
            "the largest inductive set of facts about sums and other folds over arrays",
            Box::new(Accumulations),
        ),
        entry("the largest inductive set of facts about where pointers point", Box::new(Memory)),
        entry("k-induction over loop passes, helped by interval invariants", Box::new(KInduction)),
        entry("explicit values of all variables, never joined: state machines", Box::new(ExplicitValues)),
        entry("ranges of all variables, joined where the program asks for no difference", Box::new(Parts)),
        entry("predicate abstraction over the program's own conditions", Box::<Predicates>::default()),
        entry("the largest inductive set of many candidate invariants", Box::new(Houdini)),
        numeric(true, Domain::octagon(), DELAY),
        numeric(true, Domain::polyhedra(), DELAY),
        numeric(true, Domain::boxes(), BOXES_DELAY),
        entry(
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
            all.push(numeric(false, domain, DELAY));
        }
    }
    let constructed = |method, summary| Analysis { summary, races: false, engine: Box::new(method) };
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
    Analysis { summary, races: false, engine: Box::new(NumPred { structure, numbers }) }
}

/// Abstract interpretation with a domain.
fn numeric(races: bool, domain: Domain, delay: u32) -> Analysis {
    Analysis { summary: domain.summary, races, engine: Box::new(AbstractInterpretation { domain, delay }) }
}

/// Abstract interpretation with transformers by symbolic abstraction, when it is asked for.
fn symbolic(name: &'static str, summary: &'static str, domain: Domain) -> Analysis {
    Analysis { summary, races: false, engine: Box::new(SymbolicTransformers { name, domain }) }
}

/// Sets of boxes keep the states of a state machine apart, so widening waits until most are found.
const BOXES_DELAY: u32 = 300;

/// The analyses that a name asks for: all that race, those between commas, or one; or why there are none.
pub fn chosen(name: &str) -> Result<Vec<Analysis>, String> {
    if is_race(name) {
        return Ok(analyses().into_iter().filter(|a| a.races).collect());
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
        return Ok(Analysis { summary: "a composite", races: false, engine });
    }
    Err(format!("there is no analysis `{name}`; `palisade analyses` lists them"))
}
