//! Both encoders against the interpreter: every executed edge, pushed through an encoder with the
//! run's unknowns bound, has a true guard, and every register, byte and pointer is what the run has.
//! `PALISADE_ENCODED` says how many random programs are tried, `PALISADE_ENCODED_FROM` the first of them, so
//! that a long run can be split.

use crate::binder::{Binder, Meaning};
use crate::common::{Generator, compile, size};
use crate::sides::{After, FastSide, Known, PlainSide, Side, bits};
use crate::world::{Book, World};
use palisade_cfa::*;
use palisade_interp::{Config, Discard, Interp, Random, State};
use palisade_logic::eval::Memo;
use palisade_logic::value::{ArrayValue, Value};
use palisade_logic::{Answer, BitVec, BvSolver, Func, Limits, Solver, Sort, Term, Terms};
use palisade_property::Property;
use palisade_task::Task;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// The values of all slots that are known.
fn slots(sorts: &[Sort], known: &[Known]) -> FxHashMap<usize, Value> {
    let mut out: FxHashMap<usize, Value> = FxHashMap::default();
    for Known { slot, index, value, .. } in known {
        match (index, sorts[*slot]) {
            (None, _) => {
                out.insert(*slot, Value::BitVec(value.clone()));
            }
            (Some(at), Sort::Array { index, elem }) => {
                let array = out
                    .entry(*slot)
                    .or_insert_with(|| Value::Array(ArrayValue::constant(index, bits(elem, 0))));
                if let Value::Array(a) = array {
                    *a = a.store(at.clone(), value.clone());
                }
            }
            _ => unreachable!("only arrays have indices"),
        }
    }
    out
}

/// What is known before an edge is executed; before the start of a run that is nothing.
#[derive(Default)]
struct Before {
    edge: Option<EdgeId>,
    values: FxHashMap<usize, Value>,
    /// Indices of arrays that have a value.
    indices: FxHashSet<(usize, BitVec)>,
    /// Where the objects are, by number.
    starts: FxHashMap<u64, (u64, u64)>,
}

/// So many times at most an edge is compared in one run.
const VISITS: u32 = 2;

struct Comparison<'s> {
    side: Box<dyn Side + 's>,
    terms: Terms,
    sorts: Vec<Sort>,
    start: Vec<Term>,
    base: Func,
    /// The state after an edge, or the first one.
    encoded: FxHashMap<Option<EdgeId>, Option<After>>,
    before: Option<Before>,
    last: Option<EdgeId>,
    visits: FxHashMap<EdgeId, u32>,
    book: Book,
    next: u64,
    compared: u64,
}

impl<'s> Comparison<'s> {
    fn new(task: &'s Task, plain: bool) -> Self {
        let mut terms = if plain { Terms::plain() } else { Terms::new() };
        let side: Box<dyn Side + 's> = if plain {
            Box::new(PlainSide::new(task, &mut terms))
        } else {
            Box::new(FastSide::new(task, &mut terms))
        };
        let (base, _) = side.functions(&mut terms);
        let (sorts, start, next) = (side.sorts(), side.start_slots(), side.first_made());
        Comparison {
            side,
            terms,
            sorts,
            start,
            base,
            encoded: FxHashMap::default(),
            before: Some(Before::default()),
            last: None,
            visits: FxHashMap::default(),
            book: Book::default(),
            next,
            compared: 0,
        }
    }

    /// The run is about to execute an edge; what it did with the last one is compared.
    fn observe(&mut self, edge: EdgeId, state: &State<'_>) -> Result<(), String> {
        let wanted = self.visits.get(&edge).is_none_or(|visits| *visits < VISITS);
        let last = self.last.replace(edge).map(|e| (e, &state.program().edges[e].op));
        match last {
            Some((_, Op::Enter { var })) => {
                self.book.entered.insert(*var);
                self.book.left.remove(var);
            }
            Some((_, Op::Leave { var })) => _ = self.book.left.insert(*var),
            _ => {}
        }
        let makes = last.is_none_or(|(_, op)| matches!(op, Op::Enter { .. } | Op::Alloc { .. }));
        if !wanted && !makes && self.before.is_none() {
            return Ok(());
        }
        let world = World::of(state, &mut self.book);
        let entered = match last {
            Some((_, Op::Enter { var })) => Some(*var),
            _ => None,
        };
        for object in &world.objects {
            match object.var {
                Some(v) if !self.side.moves(v) => continue,
                // Before its first life a variable has the number that it is named by.
                Some(v) if entered != Some(v) => {
                    self.book.made.entry(object.id).or_insert(self.side.variable(v));
                    continue;
                }
                None if self.book.made.contains_key(&object.id) => continue,
                _ => {}
            }
            self.book.made.insert(object.id, self.next);
            self.next += 1;
            self.book.sites.extend(last.map(|(e, _)| (object.id, e)));
        }
        *self.visits.entry(edge).or_default() += 1;
        let before = self.before.take();
        if wanted || before.is_some() {
            let mut known = self.side.known(&world, &self.book);
            let compared = self.side.object_bits();
            let (slot, value) = (self.side.next_slot(), bits(compared, self.next.into()));
            known.push(Known { slot, index: None, value, compared });
            let values = slots(&self.sorts, &known);
            let starts = self.starts(&world);
            if let Some(before) = before {
                self.compare(Before { starts: starts.clone(), ..before }, &known, &values)?;
            }
            if wanted {
                let indices = known.iter().filter_map(|k| Some((k.slot, k.index.clone()?))).collect();
                self.before = Some(Before { edge: Some(edge), values, indices, starts });
            }
        }
        Ok(())
    }

    /// The run is over. If it is because an error was reached, the condition of the last edge was true.
    fn finish(&mut self, task: &Task) -> Result<(), String> {
        let failed = |e: EdgeId| task.error_at(task.program.edges[e].dst).is_some();
        match self.before.take() {
            Some(before) if before.edge.is_some_and(failed) => {
                self.compare(before, &[], &FxHashMap::default())
            }
            _ => Ok(()),
        }
    }

    /// Where all objects are that there ever were, and functions.
    fn starts(&self, world: &World) -> FxHashMap<u64, (u64, u64)> {
        let mut starts = FxHashMap::default();
        for (key, number) in &self.book.made {
            starts.extend(self.book.bases.get(key).map(|&b| (*number, b)));
        }
        for object in &world.objects {
            if let (Some(n), Some(&b)) =
                (self.side.number(object, &self.book), self.book.bases.get(&object.id))
            {
                starts.insert(n, b);
            }
        }
        for f in 0..self.side.functions_declared() as u32 {
            starts.entry(self.side.function(FuncId(f))).or_insert((0x40_0000 + u64::from(f) * 16, 0));
        }
        starts
    }

    fn compare(
        &mut self,
        Before { edge, values: mut before, indices, starts }: Before,
        known: &[Known],
        values: &FxHashMap<usize, Value>,
    ) -> Result<(), String> {
        if !self.encoded.contains_key(&edge) {
            let made = match edge {
                Some(edge) => self.side.step(&mut self.terms, edge),
                None => Some(self.side.initial(&mut self.terms)),
            };
            self.encoded.insert(edge, made);
        }
        let name = self.side.name();
        let edge_name = edge.map_or("the start".into(), |e| e.to_string());
        let Some(Some((path, after))) = self.encoded.get(&edge) else {
            return Err(format!("{name}: {edge_name} cannot be executed"));
        };
        let mut meaning = Meaning {
            vars: FxHashMap::default(),
            parts: FxHashMap::default(),
            guessed: RefCell::default(),
            base: self.base,
            starts,
            width: self.side.width(),
            object_bits: self.side.object_bits(),
        };
        // The contents of what did not exist before are free too.
        for Known { slot, index, value, .. } in known {
            if let (Some(at), Some(Value::Array(array))) = (index, before.get_mut(slot))
                && !indices.contains(&(*slot, at.clone()))
            {
                *array = array.store(at.clone(), value.clone());
            }
        }
        for (slot, value) in &before {
            meaning.vars.insert(self.start[*slot], value.clone());
        }
        let mut binder =
            Binder { terms: &self.terms, meaning, memo: Memo::default(), seen: FxHashSet::default() };
        // Slots that were not known before keep a free value that is the one they have now, if nothing
        // happened to them.
        for (slot, value) in values {
            if !before.contains_key(slot) {
                binder.set(self.start[*slot], value.clone());
            }
            binder.bind(after[*slot], value);
        }
        let differs = evaluate(&mut binder, path, after, known);
        let Err(why) = differs else {
            self.compared += known.len() as u64;
            return Ok(());
        };
        // Unknowns may be hidden in operations that cannot be read backwards.
        let Meaning { starts, object_bits, width, base, .. } = binder.meaning;
        let goals = Goals { base, object_bits, width, path, start: &self.start, after };
        if goals.have_a_model(&self.terms, &before, &starts, known) {
            Ok(())
        } else {
            Err(format!("{name}: {edge_name}: {why}"))
        }
    }
}

/// Whether the guard is true and all values are there.
fn evaluate(binder: &mut Binder<'_>, path: &[Term], after: &[Term], known: &[Known]) -> Result<(), String> {
    for &cond in path {
        if *binder.value(cond) != Value::Bool(true) {
            return Err("the guard is false".into());
        }
    }
    for Known { slot, index, value, compared } in known {
        let found = match (binder.value(after[*slot]), index) {
            (Value::BitVec(v), None) => v,
            (Value::Array(a), Some(at)) => a.select(at),
            _ => unreachable!("indices belong to arrays"),
        };
        if found.extract(compared - 1, 0) != value.extract(compared - 1, 0) {
            return Err(format!("{found:?} in slot {slot} at {index:?}, the run has {value:?}"));
        }
    }
    Ok(())
}

/// Unknowns that are not found in so many conflicts are not there, as far as tests are concerned.
const MANY_CONFLICTS: u64 = 2_000;

/// A step in terms of the state before.
struct Goals<'a> {
    base: Func,
    object_bits: u32,
    width: u32,
    path: &'a [Term],
    start: &'a [Term],
    after: &'a [Term],
}

impl Goals<'_> {
    /// Asks a solver for unknowns with which the step leads from what was known to what is known.
    fn have_a_model(
        &self,
        terms: &Terms,
        before: &FxHashMap<usize, Value>,
        starts: &FxHashMap<u64, (u64, u64)>,
        known: &[Known],
    ) -> bool {
        let t = &mut terms.clone();
        let mut held = FxHashMap::default();
        for (&slot, value) in before {
            let term = match value {
                Value::BitVec(bits) => t.bv_const(bits),
                Value::Array(array) => {
                    let any = t.fresh_var("any", t.sort(self.start[slot]));
                    array.entries().fold(any, |all, (index, element)| {
                        let (index, element) = (t.bv_const(index), t.bv_const(element));
                        t.store(all, index, element)
                    })
                }
                Value::Bool(_) => continue,
            };
            held.insert(self.start[slot], term);
        }
        let mut solver = BvSolver::new();
        solver.set_limits(Limits { conflicts: Some(MANY_CONFLICTS), ..Limits::default() });
        for (&number, &(address, _)) in starts {
            let number = bits(self.object_bits, number.into());
            let address = bits(self.width, address.into());
            let (number, address) = (t.bv_const(&number), t.bv_const(&address));
            let found = t.apply(self.base, &[number]);
            let equal = t.eq(found, address);
            solver.assert(t, equal);
        }
        for &cond in self.path {
            let cond = t.substitute_with(cond, &mut held);
            solver.assert(t, cond);
        }
        for Known { slot, index, value, compared } in known {
            let mut found = t.substitute_with(self.after[*slot], &mut held);
            if let Some(at) = index {
                let at = t.bv_const(at);
                found = t.select(found, at);
            }
            let low = t.extract(found, compared - 1, 0);
            let value = t.bv_const(&value.extract(compared - 1, 0));
            let equal = t.eq(low, value);
            solver.assert(t, equal);
        }
        solver.check(t, &[]) == Answer::Sat
    }
}

/// How many values are compared in so many steps of a run, or what differs.
pub fn compare_run(task: &Task, plain: bool, seed: u64, steps: u64) -> Result<u64, String> {
    let mut comparison = Comparison::new(task, plain);
    let mut failure = None;
    let mut watch = |edge: EdgeId, state: &State<'_>| {
        if let Err(why) = comparison.observe(edge, state) {
            failure = Some(why);
        }
        failure.is_none()
    };
    let config = Config { step_limit: steps, ..Config::default() };
    Interp::new(&task.program, config).run_observed(
        &mut Random::with_unknowns(seed),
        &mut Discard,
        &mut watch,
    );
    failure.map_or(Ok(()), Err)?;
    comparison.finish(task)?;
    Ok(comparison.compared)
}

/// Properties that ask about all that states consist of.
fn properties() -> Vec<Property> {
    let named = |name| Property::named(name).expect("there is such a property");
    let more = ["valid-deref", "no-overflow", "valid-free", "valid-memcleanup", "valid-memtrack"];
    [Property::assertions()].into_iter().chain(more.map(named)).collect()
}

#[test]
fn executed_edges_are_models_of_both_encodings() {
    let (first, count) = (size("PALISADE_ENCODED_FROM", 0), size("PALISADE_ENCODED", 100));
    let properties = properties();
    let mut compared = [0, 0];
    for seed in first..first + count {
        let text = Generator::program(seed);
        let model = if seed % 4 == 3 { DataModel::Ilp32 } else { DataModel::Lp64 };
        let source = Arc::new(compile(&text, &properties[seed as usize / 2 % properties.len()], model));
        let task = Task::whole(&source, 2, 100_000).expect("small");
        for plain in [true, false] {
            match compare_run(&task, plain, seed, 400) {
                Ok(n) => compared[usize::from(plain)] += n,
                Err(why) => panic!("seed {seed}: {why}\n{}\n{text}", edges(&task, &why)),
            }
        }
    }
    eprintln!("{count} programs: {} values compared, {} with the fast encoder", compared[1], compared[0]);
    assert!(compared[0] > 100 * count && compared[1] > 100 * count, "{compared:?}");
}

/// Compares runs of a program.
fn agree(text: &str, property: &Property, model: DataModel, seeds: std::ops::Range<u64>) {
    agree_on(compile(text, property, model), text, seeds);
}

fn agree_on(program: Program, text: &str, seeds: std::ops::Range<u64>) {
    let source = Arc::new(program);
    let task = Task::whole(&source, 2, 10_000).expect("small");
    for (plain, seed) in seeds.flat_map(|seed| [(true, seed), (false, seed)]) {
        if let Err(why) = compare_run(&task, plain, seed, 2_000) {
            panic!("{why}\n{}\n{text}", edges(&task, &why));
        }
    }
}

/// What random programs do seldom, each in a program of its own for each property.
#[test]
fn every_statement() {
    for (i, line) in Generator::RARE.iter().enumerate() {
        for (seed, property) in (0..).zip(&properties()) {
            let model = if (i as u64 + seed) % 4 == 3 { DataModel::Ilp32 } else { DataModel::Lp64 };
            let odd = Generator::around(&format!("x = __VERIFIER_nondet_int() | 1; y = 3; {line} {line}"));
            agree(&odd, property, model, seed..seed + 1);
            let any =
                Generator::around(&format!("u = x = __VERIFIER_nondet_int() & 6; {line} u = 1; {line}"));
            agree(&any, property, model, seed..seed + 1);
        }
    }
}

/// Every operator on every type.
#[test]
fn every_operator() {
    let integers = ["char", "unsigned char", "short", "int", "unsigned", "long", "unsigned long", "_Bool"];
    let types = integers.into_iter().chain(["float", "double", "long double"]);
    for (i, ty) in types.enumerate() {
        let mut body = String::new();
        let operators: &[&str] = if i < integers.len() {
            &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "&&", "||"]
        } else {
            &["+", "-", "*", "/", "<", "<=", "==", "!=", "&&", "||"]
        };
        for op in operators {
            let right = match *op {
                "<<" | ">>" => "((long)b & 7)",
                "/" | "%" => "(b ? b : 1)",
                _ => "b",
            };
            body.push_str(&format!("r = a {op} {right}; v = r; if (a {op} {right}) w = (int)r + 1;\n"));
        }
        for to in ["char", "unsigned short", "int", "unsigned long", "float", "double", "_Bool"] {
            body.push_str(&format!("{{ {to} z = ({to})a; v = z; }}\n"));
        }
        body.push_str("r = -a; v = !a; r = a ? b : 2; r = a > 3 ? a : b;\n");
        if i < integers.len() {
            body.push_str("r = ~a; a++; --b; r = a; r += b;\n");
        }
        let text = format!(
            "int __VERIFIER_nondet_int(void); {ty} r; double v; int w;
             {ty} make(void) {{ int i = __VERIFIER_nondet_int(); return i & 1 ? i : i % 50 / 3.0; }}
             int main(void) {{ {ty} a = make(), b = make(); {body} return w; }}"
        );
        agree(&text, &Property::assertions(), DataModel::Lp64, 0..6);
        agree(
            &text,
            &Property::named("no-overflow").expect("there is such a property"),
            DataModel::Ilp32,
            0..6,
        );
    }
}

/// Operations on truth values that do not come out of C.
#[test]
fn truth_values() {
    let text = "fn main() -> i32 { local x: u2; local y: u2; local a: u1; local b: u1; local c: u1; local r: u1;
        s0 -> s1: input x; s1 -> s2: input y; s2 -> s3: a = x < y; s3 -> s4: b = x == 1; s4 -> s5: c = y != 2;
        s5 -> s6: r = (a ? (b == c) : (b != c)); s6 -> s7: r = a == b; s7 -> s8: r = b != c; s8 -> s9: r = a < b;
        s9 -> t1: r = b <= c; t1 -> t2: r = a ^ b; t2 -> t3: r = a & (b | !c); t3 -> t4: r = (u1)x;
        t4 -> t5: assume (a ? b : !c); t4 -> t6: assume !(a ? b : !c); t5 -> t7: assume a <= b;
        t5 -> t7: assume !(a <= b); t6 -> t7: assume a == c; t6 -> t7: assume !(a == c); t7 -> t8: x = (r ? x : y);
        t8 -> t9: assume (a ? 1 : c); t8 -> t9: assume !(a ? 1 : c); t9 -> u1: assume (b ? c : 0);
        t9 -> u1: assume !(b ? c : 0); u1 -> exit: return 0; } entry main;";
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    agree_on(program, text, 0..40);
}

/// Pieces of one object and of two.
#[test]
fn pieces_that_overlap() {
    let text =
        "fn main() -> i32 { local p: *i8; local q: *i8; local i: u2; local j: u2; local n: u2; local r: u1;
        a -> b: p = alloc heap 6; b -> c: q = alloc heap 6; c -> d: input i; d -> e: input j; e -> f: input n;
        f -> g: r = overlap(ptradd(p, i, 1), ptradd(p, j, 1), (u64)n);
        g -> h: r = overlap(ptradd(p, i, 1), ptradd(q, j, 1), (u64)n);
        h -> k: r = overlap(ptradd(q, j, 1), q, (u64)n); k -> exit: return 0; } entry main;";
    let program = palisade_cfa::text::parse(text).unwrap_or_else(|e| panic!("{e:?}"));
    agree_on(program, text, 0..80);
}

/// A number that does not fit becomes any integer, with which the program then computes.
#[test]
fn what_does_not_fit_into_an_integer() {
    for model in [DataModel::Lp64, DataModel::Ilp32] {
        let text = "int a; int main(void) { float f = (unsigned)-1; a = (char)((int)f / 3);
            if ((int)f + 5 > 7) a = (int)f % 2 - 1; return a; }";
        agree(text, &Property::assertions(), model, 0..3);
    }
}

/// An object that a global points to is reachable at the end, although it is alive.
#[test]
fn a_live_object_may_be_tracked() {
    let text = "void *malloc(unsigned long); int *kept; int main(void) { kept = malloc(4); return 0; }";
    let property = Property::named("valid-memtrack").expect("there is such a property");
    agree(text, &property, DataModel::Lp64, 0..2);
}

/// The edge that a failure names, as text.
pub fn edges(task: &Task, why: &str) -> String {
    let named = |id: &EdgeId| why.split([' ', ':']).any(|word| word == id.to_string());
    let found = task.program.edges.ids().find(named);
    found.map_or_else(String::new, |e| task.program.show_op(&task.program.edges[e].op).to_string())
}
