//! From a certificate to the invariants of a correctness witness.
//!
//! Engines speak about the program with all calls inlined, so one loop of the source may be there
//! several times, once for each way it is reached: what holds at the loop is the disjunction of
//! what holds at its copies. What cannot be said in C about variables in scope is left out, and so
//! is what speaks about values that the task was relieved of.

use crate::minimise::minimised;
use crate::model::{Invariant, InvariantKind, Location};
use crate::places::Places;
use crate::quantified;
use palisade_base::Span;
use palisade_cfa::c_expr::{CWriter, literal};
use palisade_cfa::*;
use palisade_evidence::{Bounds, Certificate, Cover, Invariants};
use palisade_task::{FrameId, Task};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Longer invariants are left out.
const MAX_TEXT: usize = 1 << 16;
/// A cover becomes a disjunction of at most this many states.
const MAX_STATES: usize = 24;
/// The values of one variable are listed up to this many.
const MAX_VALUES: usize = 16;

/// An invariant of a loop of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopFact {
    /// The loop's keyword, or the statement that the loop comes back to.
    pub span: Span,
    /// Whether the loop has a keyword.
    pub keyword: bool,
    /// A C expression; where it is about all elements of an array, a sentence that people read.
    pub text: String,
    /// Whether it is about all elements of an array, which no C expression says.
    pub quantified: bool,
}

/// The invariants that a certificate gives for the loops of the source, in source order.
pub fn loop_facts(task: &Task, certificate: &Certificate, places: &Places) -> Vec<LoopFact> {
    match certificate {
        Certificate::Invariants(invariants) | Certificate::KInduction { invariants, .. } => {
            from_invariants(task, invariants, places)
        }
        Certificate::Cover(cover) => from_cover(task, cover, places),
        _ => Vec::new(),
    }
}

/// The entries of a witness for invariants of loops.
pub fn invariants(facts: &[LoopFact], places: &Places) -> Vec<Invariant> {
    facts
        .iter()
        .filter(|fact| !fact.quantified)
        .filter_map(|fact| {
            let location: Location = places.locate(fact.span.lo)?;
            let kind = if fact.keyword { InvariantKind::Loop } else { InvariantKind::Location };
            Some(Invariant { kind, location, value: fact.text.clone(), at: None })
        })
        .collect()
}

/// The loop heads of a task by the place in the source that an invariant of theirs is stated at.
fn heads(task: &Task, places: &Places) -> BTreeMap<(u32, bool), (Span, Vec<LocId>)> {
    let graph = task.program.analyse();
    let mut heads: BTreeMap<(u32, bool), (Span, Vec<LocId>)> = BTreeMap::new();
    for head in graph.loop_heads(task.program.entry) {
        let loc = &task.program.locs[head];
        let (span, keyword) = match loc.loop_stmt {
            Some(span) => (span, true),
            None => {
                // A loop made by `goto`, or the body of `do`: it comes back to the start of a
                // statement.
                let next = loc.span;
                match places.stmts.innermost(next) {
                    Some((stmt, _)) if stmt.lo == next.lo => (stmt, false),
                    _ => match places.stmts.iter().find(|(s, _)| s.lo > next.lo && s.hi <= next.hi) {
                        // The first statement of a block.
                        Some((stmt, _)) => (stmt, false),
                        None => continue,
                    },
                }
            }
        };
        if places.contains(span) {
            heads.entry((span.lo, keyword)).or_insert((span, Vec::new())).1.push(head);
        }
    }
    // A copy that was cut away because it leads to no error was not looked at by the engine, so
    // nothing is known about the loop as a whole.
    let mut activations: FxHashMap<FuncId, usize> = FxHashMap::default();
    for frame in &task.origin.frames {
        *activations.entry(frame.func).or_default() += 1;
    }
    heads.retain(|_, (_, copies)| {
        let frames: FxHashSet<FrameId> = copies.iter().map(|&h| task.origin.frames_of[h]).collect();
        let func = copies.first().map(|&h| task.origin.frames[task.origin.frames_of[h]].func);
        func.and_then(|f| activations.get(&f)) == Some(&frames.len())
    });
    heads
}

/// Variables that the task still reads. The values of others may have been cut away with the
/// assignments to them, so that what the engine says of them need not hold in the source.
fn read_variables(program: &Program) -> FxHashSet<VarId> {
    let mut read = FxHashSet::default();
    for edge in &program.edges {
        program.visit_op(&edge.op, &mut |used| {
            if let Use::Read(place) | Use::Address(place) = used
                && let Base::Var(var) = program.places[place].base
            {
                read.insert(var);
            }
        });
    }
    read
}

/// Which variables can be named where.
struct Names<'a> {
    task: &'a Task,
    /// All variables of a name.
    same: FxHashMap<&'a str, Vec<VarId>>,
    /// Functions with activations inside one another: their variables have copies.
    recursive: FxHashSet<FuncId>,
    /// Variables whose values are those of the source.
    kept: FxHashSet<VarId>,
}

impl<'a> Names<'a> {
    fn new(task: &'a Task) -> Self {
        let mut same: FxHashMap<&str, Vec<VarId>> = FxHashMap::default();
        for (id, var) in task.source.vars.iter_enumerated() {
            same.entry(&var.name).or_default().push(id);
        }
        let mut recursive = FxHashSet::default();
        let frames = &task.origin.frames;
        for frame in frames.ids() {
            let func = frames[frame].func;
            let mut at = frames[frame].caller;
            while let Some((caller, _)) = at {
                if frames[caller].func == func {
                    recursive.insert(func);
                    break;
                }
                at = frames[caller].caller;
            }
        }
        Names { task, same, recursive, kept: read_variables(&task.program) }
    }

    /// The text for a variable at an offset inside an activation.
    fn name(&self, var: VarId, frame: FrameId, offset: u32) -> Option<String> {
        let v = self.task.source.vars.get(var)?;
        let visible = |v: &Var| v.scope.lo <= offset && offset < v.scope.hi;
        if v.name.starts_with('.') || v.scope.is_none() || !visible(v) || !self.kept.contains(&var) {
            return None;
        }
        match v.kind {
            VarKind::Global => {}
            VarKind::Temp(_) => return None,
            VarKind::Param(f) | VarKind::Local(f) => {
                if f != self.task.origin.frames[frame].func || self.recursive.contains(&f) {
                    return None;
                }
            }
        }
        // A declaration further inside hides one further outside.
        let hidden = self.same[&*v.name].iter().any(|&other| {
            let o = &self.task.source.vars[other];
            other != var && !o.scope.is_none() && visible(o) && o.scope.lo >= v.scope.lo
        });
        (!hidden).then(|| v.name.to_string())
    }
}

/// Where the variables have to be visible that a fact at a loop names: at a keyword those that the loop itself declares
/// are, before a statement they are not.
fn scope(places: &Places, span: Span, keyword: bool) -> u32 {
    if keyword { places.condition_of(span) } else { span.lo }
}

fn from_invariants(task: &Task, invariants: &Invariants, places: &Places) -> Vec<LoopFact> {
    let program = invariants.extend(&task.program);
    let mut at: FxHashMap<LocId, Vec<ExprId>> = FxHashMap::default();
    for &(loc, fact) in &invariants.at {
        at.entry(loc).or_default().push(fact);
    }
    let names = Names::new(task);
    let ghosts = quantified::named(&program, invariants.ghosts());
    let (mut facts, mut all_elements) = (Vec::new(), Vec::new());
    for (span, keyword, copies) in heads(task, places).into_iter().map(|((_, k), (s, c))| (s, k, c)) {
        let scope = scope(places, span, keyword);
        let mut alternatives: Vec<String> = Vec::new();
        let mut complete = true;
        if let [head] = copies[..] {
            let name = |v: VarId| names.name(v, task.origin.frames_of[head], scope);
            let about_all = at.get(&head).into_iter().flatten();
            let about_all = about_all.filter_map(|&fact| quantified::text(&program, fact, &ghosts, &name));
            all_elements.extend(about_all.map(|text| LoopFact { span, keyword, text, quantified: true }));
        }
        for head in copies {
            let frame = task.origin.frames_of[head];
            let name = |v: VarId| names.name(v, frame, scope);
            let writer = CWriter::new(&program, &name);
            let mut parts: Vec<String> = Vec::new();
            for &fact in at.get(&head).into_iter().flatten() {
                for text in writer.conjuncts(fact) {
                    if !parts.contains(&text) {
                        parts.push(text);
                    }
                }
            }
            complete &= !parts.is_empty();
            push_new(&mut alternatives, minimised(parts).join(" && "));
        }
        if complete {
            facts.extend(disjunction(span, keyword, alternatives));
        }
        facts.append(&mut all_elements);
    }
    facts
}

fn push_new(list: &mut Vec<String>, text: String) {
    // A copy that is never reached adds nothing.
    if text != "0" && !list.contains(&text) {
        list.push(text);
    }
}

fn disjunction(span: Span, keyword: bool, alternatives: Vec<String>) -> Option<LoopFact> {
    let text = match alternatives.as_slice() {
        [] => "0".to_owned(),
        [only] => only.clone(),
        several => {
            let bracket = |t: &String| if t.contains(" && ") { format!("({t})") } else { t.clone() };
            several.iter().map(bracket).collect::<Vec<_>>().join(" || ")
        }
    };
    (text.len() <= MAX_TEXT).then_some(LoopFact { span, keyword, text, quantified: false })
}

/// A partial state: what it says about each of its variables, by their names.
type Named = Vec<(String, String)>;

fn from_cover(task: &Task, cover: &Cover, places: &Places) -> Vec<LoopFact> {
    let names = Names::new(task);
    let mut states: FxHashMap<LocId, Vec<&[(VarId, Bounds)]>> = FxHashMap::default();
    for (loc, values) in &cover.states {
        states.entry(*loc).or_default().push(values);
    }
    let mut facts = Vec::new();
    for (span, keyword, copies) in heads(task, places).into_iter().map(|((_, k), (s, c))| (s, k, c)) {
        let scope = scope(places, span, keyword);
        let mut named: BTreeSet<Named> = BTreeSet::new();
        for head in copies {
            let frame = task.origin.frames_of[head];
            // Names are looked up once for each variable, not for each of many states.
            let mut known: FxHashMap<VarId, Option<String>> = FxHashMap::default();
            for &values in states.get(&head).into_iter().flatten() {
                let mut state = Named::new();
                for &(var, bounds) in values {
                    let name = known.entry(var).or_insert_with(|| names.name(var, frame, scope));
                    let ty = task.program.scalar_of(task.program.vars[var].ty).and_then(Scalar::int);
                    if let (Some(name), Some(ty)) = (name, ty)
                        && ty.bits <= 64
                        && let (Some(first), Some(last)) =
                            (literal(ty.decode(bounds.first)), literal(ty.decode(bounds.last)))
                    {
                        state.push((
                            name.clone(),
                            match bounds.as_only() {
                                Some(_) => format!("{name} == {first}"),
                                None => format!("{first} <= {name} && {name} <= {last}"),
                            },
                        ));
                    }
                }
                state.sort();
                named.insert(state);
            }
        }
        if named.contains(&Named::new()) {
            continue;
        }
        let text = if named.len() <= MAX_STATES {
            let conjunction =
                |s: &Named| s.iter().map(|(_, fact)| fact.as_str()).collect::<Vec<_>>().join(" && ");
            disjunction(span, keyword, named.iter().map(conjunction).collect())
        } else {
            values_of_each(&named).and_then(|text| disjunction(span, keyword, vec![text]))
        };
        facts.extend(text);
    }
    facts
}

/// The values of each variable that every state has, where they are few.
fn values_of_each(states: &BTreeSet<Named>) -> Option<String> {
    let mut values: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for (name, fact) in states.iter().flatten() {
        let entry = values.entry(name).or_default();
        entry.0 += 1;
        entry.1.insert(fact);
    }
    let parts: Vec<String> = values
        .into_iter()
        .filter(|(_, (n, set))| *n == states.len() && set.len() <= MAX_VALUES)
        .map(|(_, (_, set))| {
            let parts: Vec<&str> = set.into_iter().collect();
            if parts.len() == 1 { parts.concat() } else { format!("({})", parts.join(" || ")) }
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(" && "))
}
