//! A run that was seen step by step: what changed, and what the program was given.

use crate::describe::{self, Violation};
use crate::objects::{Names, Objects, named};
use crate::places::Places;
use palisade_base::Span;
use palisade_cfa::*;
use palisade_interp::{
    Config, Discard, Inputs, Interp, ObjectId, Observer, Outcome, Run, State, Taken, Value,
};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::collections::VecDeque;

/// Something that a person wants to know of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub edge: EdgeId,
    /// How many calls were active.
    pub depth: usize,
    /// What happened.
    pub event: Event,
    /// How many passes of a loop that do the same were leapt over before it.
    pub leapt: u64,
}

/// What happens in a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A value was stored: the variable with the way into it, and the value.
    Stored(String, String),
    /// A variable was read before anything was stored in it.
    Uninitialised(String, String),
    /// A condition was true or false.
    Branch(bool),
    /// A function of the program was called: its name, and its parameters with their values.
    Call(String, Vec<(String, String)>),
    /// A function of the program returned, with its result.
    Return(String, Option<String>),
}

/// The steps of a run; of a very long one the first and the last.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    /// From the start on.
    pub first: Vec<Step>,
    /// Steps left out between the two.
    pub left_out: u64,
    /// Up to the end.
    pub last: VecDeque<Step>,
    /// Values that the program did not determine, in order: inputs, results of functions without
    /// a body, variables that are not initialised. The operation and the value.
    pub open: Vec<(EdgeId, Value)>,
    /// The arguments that the program was started with, if it takes any: the contents of `argv`.
    /// Where the program does not look at them, only their number counts.
    pub arguments: Option<Vec<Vec<u8>>>,
    /// How the entry function is called, if it is not `main` and gets arguments.
    pub call: Option<EntryCall>,
    /// How the run goes wrong, if it does.
    pub violation: Option<Violation>,
}

/// How a run calls the entry function.
#[derive(Clone, Debug, Default)]
pub struct EntryCall {
    /// The operations before it, which make the arguments, and the call.
    pub edges: Vec<EdgeId>,
    /// What the arguments are, and what they point to: places as expressions over the parameters, in the order
    /// in which they were set.
    pub given: Vec<(String, Value)>,
}

impl Steps {
    /// All steps that were kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.first.iter().chain(&self.last)
    }
}

/// How many steps are kept at each end.
const KEPT: usize = 20_000;
/// The longest run in which the step is looked for that loses an object.
const SEARCHED: u64 = 200_000;

/// Runs a program and notes what happens. The inputs are asked for again if the run has to be looked at
/// more than once.
pub fn observe<I: Inputs>(
    program: &Program,
    places: &Places,
    inputs: impl Fn() -> I,
    config: Config,
) -> (Run, Steps) {
    let mut recorder = Recorder::new(program, places, u64::MAX);
    let run = Interp::new(program, config.clone()).run_observed(&mut inputs(), &mut Discard, &mut recorder);
    let mut steps = recorder.steps;
    if let Outcome::Trap(trap) = run.outcome {
        // Only its end tells that an operation is bad: now the state before it is looked at.
        let mut again = Recorder::new(program, places, run.steps);
        let mut described = None;
        let mut look = |edge: EdgeId, state: &State<'_>| {
            let go_on = again.on_edge(edge, state);
            if !go_on {
                described = Some(describe::trap(again.names(), trap, edge, state));
            }
            go_on
        };
        Interp::new(program, config).run_observed(&mut inputs(), &mut Discard, &mut look);
        steps.violation = described;
    } else if let Some(violation) = &mut steps.violation
        && let Some(lost) = violation.lost
        && run.steps <= SEARCHED
        && let Some(at) = loss(program, places, lost, &inputs, &config, run.steps)
        && let Some(location) = places.locate(at.lo)
    {
        violation.text.push_str(&format!(" after {}:{}", location.file_name, location.line));
        violation.notes.push((at, "lost here"));
    }
    (run, steps)
}

/// The place whose execution loses an object: it stays lost from then on, so that bisection finds it.
fn loss<I: Inputs>(
    program: &Program,
    places: &Places,
    object: ObjectId,
    inputs: &impl Fn() -> I,
    config: &Config,
    steps: u64,
) -> Option<Span> {
    let mut interp = Interp::new(program, config.clone());
    let mut lost_at = |step: u64| {
        let mut recorder = Recorder::new(program, places, step);
        let mut found = None;
        let mut look = |edge: EdgeId, state: &State<'_>| {
            let before = recorder.before.map(|(edge, _)| edge);
            let go_on = recorder.on_edge(edge, state);
            if !go_on {
                let site = before.and_then(|e| recorder.site(e)).or_else(|| recorder.site(edge));
                found = Some((state.lost().contains(&object), site));
            }
            go_on
        };
        interp.run_observed(&mut inputs(), &mut Discard, &mut look);
        found
    };
    let (mut low, mut high) = (1, steps);
    while low < high {
        let middle = low + (high - low) / 2;
        match lost_at(middle)?.0 {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    lost_at(low).filter(|(lost, _)| *lost)?.1
}

/// The call of the entry function with arguments, in the function that lowering puts before it, and whether it
/// is `main`.
fn start_call(program: &Program, places: &Places) -> Option<(EdgeId, bool)> {
    let entry = program.entry;
    let made = &*program.funcs[entry].name == ".start";
    let call = |(id, e): (EdgeId, &Edge)| match &e.op {
        // What ends the program is called there too.
        Op::Call { callee: Callee::Direct(f), args, .. }
            if program.locs[e.src].func == entry && places.contains(program.funcs[*f].span) =>
        {
            let is_main = &*program.funcs[*f].name == "main";
            (args.len() >= if is_main { 2 } else { 1 }).then_some((id, is_main))
        }
        _ => None,
    };
    program.edges.iter_enumerated().filter(|_| made).find_map(call)
}

/// More arguments than this are not told.
const MAX_ARGUMENTS: i128 = 1000;

/// What `argv` holds when `main` is called.
fn arguments(program: &Program, call: EdgeId, state: &State<'_>) -> Option<Vec<Vec<u8>>> {
    let Op::Call { args, .. } = &program.edges[call].op else { return None };
    let (Arg::Scalar(count), Arg::Scalar(vector)) = (args[0], args[1]) else { return None };
    let count = state.eval(count).ok()?.as_int().filter(|n| (0..=MAX_ARGUMENTS).contains(n))?;
    let vector = state.eval(vector).ok()?;
    if vector.ty != Scalar::Ptr {
        return None;
    }
    let string = |i| state.string(state.pointer_at(vector, i)?).map(Cow::into_owned);
    Some((0..count as u64).map(|i| string(i).unwrap_or_default()).collect())
}

struct Recorder<'p> {
    program: &'p Program,
    places: &'p Places,
    /// The call of `main` with arguments.
    start: Option<EdgeId>,
    /// The call of an entry function that is not `main`, until it was made.
    to_enter: Option<EdgeId>,
    steps: Steps,
    objects: Objects,
    /// Variables of a function that may live in memory.
    in_memory: FxHashMap<FuncId, Vec<VarId>>,
    /// Variables of the active calls in which nothing has been stored yet, by the depth.
    fresh: Vec<(usize, VarId)>,
    /// The operation whose effect the next state shows, with the depth it was executed at.
    before: Option<(EdgeId, usize)>,
    /// Calls that have not returned, with the depth of the caller.
    calls: Vec<(EdgeId, usize)>,
    /// Operations to go.
    to_go: u64,
    /// Operations so far.
    seen: usize,
    /// Passes that were leapt over since the last step.
    leapt: u64,
}

impl Observer for Recorder<'_> {
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool {
        let (func, depth) = state.function();
        if self.before.is_none() {
            let globals = self.program.vars.iter_enumerated().filter(|(_, v)| v.kind == VarKind::Global);
            globals.for_each(|(var, _)| self.objects.variable(var, state));
            self.entered(func, state);
        }
        if self.start == Some(edge) {
            self.steps.arguments = arguments(self.program, edge, state);
        }
        if self.to_enter.is_some() && func == self.program.entry {
            self.steps.call.get_or_insert_default().edges.push(edge);
        }
        if let Some((done, at)) = self.before.take() {
            if depth > at {
                self.calls.push((done, at));
                self.entered(func, state);
                self.called(done, at, func, state);
            } else if depth == at {
                self.note(done, state, depth);
            }
        }
        while let Some(&(call, at)) = self.calls.last()
            && at >= depth
        {
            self.calls.pop();
            if at == depth {
                self.note(call, state, depth);
            }
        }
        while self.fresh.last().is_some_and(|(at, _)| *at > depth) {
            self.fresh.pop();
        }
        self.about_to(edge, state, depth);
        self.before = Some((edge, depth));
        self.to_go -= 1;
        self.seen += 1;
        self.to_go > 0
    }

    fn may_skip(&self) -> bool {
        self.seen > KEPT
    }

    fn on_leap(&mut self, passes: u64) {
        self.leapt = self.leapt.saturating_add(passes);
    }
}

impl<'p> Recorder<'p> {
    /// Watches so many operations.
    fn new(program: &'p Program, places: &'p Places, to_go: u64) -> Self {
        let call = start_call(program, places);
        Recorder {
            program,
            places,
            start: call.filter(|(_, is_main)| *is_main).map(|(call, _)| call),
            to_enter: call.filter(|(_, is_main)| !is_main).map(|(call, _)| call),
            steps: Steps::default(),
            objects: Objects::default(),
            in_memory: FxHashMap::default(),
            fresh: Vec::new(),
            before: None,
            calls: Vec::new(),
            to_go: to_go.max(1),
            seen: 0,
            leapt: 0,
        }
    }

    fn names(&self) -> Names<'_> {
        Names { program: self.program, places: self.places, objects: &self.objects }
    }

    /// The place in the program that an operation belongs to: its own or, if it is the library's, that of the
    /// call.
    fn site(&self, edge: EdgeId) -> Option<Span> {
        let calls = self.calls.iter().rev().map(|(call, _)| *call);
        let mut spans = std::iter::once(edge).chain(calls).map(|e| self.program.edges[e].span);
        spans.find(|s| self.places.contains(*s))
    }

    /// A function has been entered: its variables come to life.
    fn entered(&mut self, func: FuncId, state: &State<'_>) {
        let p = self.program;
        let vars = self.in_memory.entry(func).or_insert_with(|| {
            let all = p.funcs[func].body.iter().flat_map(|b| b.params.iter().chain(&b.locals)).copied();
            all.filter(|v| p.vars[*v].address_taken || p.scalar_of(p.vars[*v].ty).is_none()).collect()
        });
        vars.iter().for_each(|v| self.objects.variable(*v, state));
    }

    fn called(&mut self, call: EdgeId, depth: usize, func: FuncId, state: &State<'_>) {
        let p = self.program;
        self.to_enter = self.to_enter.filter(|entering| *entering != call);
        if !self.places.contains(p.funcs[func].span) {
            return;
        }
        let params = p.body(func).params.iter();
        let shown = params.filter_map(|&var| {
            let text = self.names().value(Some(p.vars[var].ty), state.var(var)?, state);
            Some((named(p, var)?, text))
        });
        let event = Event::Call(p.funcs[func].name.to_string(), shown.collect());
        self.push(call, depth, event);
    }

    /// What can be told before an operation is executed.
    fn about_to(&mut self, edge: EdgeId, state: &State<'_>, depth: usize) {
        let p = self.program;
        if self.fresh.last().is_some_and(|(at, _)| *at == depth) {
            self.first_use(edge, state, depth);
        }
        match &p.edges[edge].op {
            // Which arguments there are is told with the call.
            Op::Assume { .. } if self.to_enter.is_none() && p.locs[p.edges[edge].src].out.len() > 1 => {
                let taken = p.locs[p.edges[edge].src].out.first() == Some(&edge);
                self.push(edge, depth, Event::Branch(taken));
            }
            Op::Return { value } => {
                let func = &p.funcs[state.function().0];
                if self.places.contains(func.span) {
                    let Type::Func(signature) = &p.types[func.ty] else { return };
                    let text = value.and_then(|value| match value {
                        Arg::Scalar(e) => state.eval(e).ok(),
                        Arg::Aggregate(_) => None,
                    });
                    let text = text.map(|v| self.names().value(Some(signature.ret), v, state));
                    self.push(edge, depth, Event::Return(func.name.to_string(), text));
                }
            }
            Op::Free { ptr } => {
                if let Ok(pointer) = state.eval(*ptr) {
                    let site = self.site(edge);
                    self.objects.freed(pointer, site);
                }
            }
            Op::Check { cond, .. } if state.eval(*cond).is_ok_and(|v| v.bits == 0) => {
                self.steps.violation = Some(describe::violation(self.names(), edge, state));
            }
            _ => {}
        }
    }

    /// Notes variables that are read although nothing was stored in them.
    fn first_use(&mut self, edge: EdgeId, state: &State<'_>, depth: usize) {
        let p = self.program;
        let mut used: Vec<(VarId, bool)> = Vec::new();
        p.visit_op(&p.edges[edge].op, &mut |use_| match use_ {
            Use::Read(x) | Use::Write(x) | Use::Address(x) => {
                if let Base::Var(var) = p.places[x].base {
                    used.push((var, matches!(use_, Use::Read(_))));
                }
            }
            Use::Expr(_) => {}
        });
        for &(var, read) in &used {
            let Some(at) = self.fresh.iter().position(|f| *f == (depth, var)) else { continue };
            let read = read || used.contains(&(var, true));
            self.fresh.remove(at);
            if let (true, Some(value), Some(name)) = (read, state.var(var), named(p, var)) {
                let text = self.names().value(Some(p.vars[var].ty), value, state);
                self.push(edge, depth, Event::Uninitialised(name, text));
            }
        }
    }

    fn note(&mut self, edge: EdgeId, state: &State<'_>, depth: usize) {
        let p = self.program;
        let (stored, open) = match p.edges[edge].op {
            Op::Assign { dst, .. } => (Some(dst), false),
            Op::Alloc { dst, kind, .. } => {
                if let Ok(pointer) = state.load_place(dst) {
                    let site = self.site(edge);
                    self.objects.allocated(pointer, kind, site, state);
                }
                (Some(dst), false)
            }
            Op::Havoc { dst, .. } => (Some(dst), true),
            Op::Call { dst: Some(dst), callee, .. } => {
                let open = matches!(callee, Callee::Direct(f) if p.funcs[f].body.is_none());
                (Some(dst), open)
            }
            Op::Enter { var } => {
                self.objects.variable(var, state);
                if let Some(value) = state.var(var) {
                    self.fresh.retain(|f| *f != (depth, var));
                    self.fresh.push((depth, var));
                    self.steps.open.push((edge, value));
                }
                return;
            }
            _ => return,
        };
        let Some(place) = stored else { return };
        if p.place_scalar(place).is_none() {
            return;
        }
        let Ok(value) = state.load_place(place) else { return };
        if open {
            self.steps.open.push((edge, value));
        }
        if let Some(name) = place_text(p, place, state) {
            if self.to_enter.is_some() {
                self.steps.call.get_or_insert_default().given.push((name.clone(), value));
            }
            let text = self.names().value(Some(p.places[place].ty), value, state);
            self.push(edge, depth, Event::Stored(name, text));
        }
    }

    /// Notes an event of the program; what happens inside of the library does not matter.
    fn push(&mut self, edge: EdgeId, depth: usize, event: Event) {
        if !self.places.contains(self.program.edges[edge].span) {
            return;
        }
        let step = Step { edge, depth, event, leapt: std::mem::take(&mut self.leapt) };
        if self.steps.first.len() < KEPT {
            return self.steps.first.push(step);
        }
        self.steps.last.push_back(step);
        if self.steps.last.len() > KEPT {
            self.steps.last.pop_front();
            self.steps.left_out += 1;
        }
    }
}

/// A place as a person would write it, with the current values of its indices.
fn place_text(program: &Program, place: PlaceId, state: &State<'_>) -> Option<String> {
    let p = &program.places[place];
    let mut text = match p.base {
        Base::Var(var) => named(program, var)?,
        Base::Deref(e) => match program.exprs[e].kind {
            ExprKind::Load(inner) => format!("(*{})", place_text(program, inner, state)?),
            _ => return None,
        },
    };
    for step in &p.path {
        match *step {
            Proj::Field { record, field } => {
                let name = &program.field(record, field).name;
                if name.is_empty() {
                    continue;
                }
                text = match text.strip_prefix("(*").and_then(|t| t.strip_suffix(')')) {
                    Some(pointer) => format!("{pointer}->{name}"),
                    None => format!("{text}.{name}"),
                };
            }
            Proj::Index { index, .. } => {
                let i = state.eval(index).ok()?.as_int()?;
                text = match text.strip_prefix("(*").and_then(|t| t.strip_suffix(')')) {
                    Some(pointer) => format!("{pointer}[{i}]"),
                    None => format!("{text}[{i}]"),
                };
            }
        }
    }
    Some(match text.strip_prefix("(*").and_then(|t| t.strip_suffix(')')) {
        Some(pointer) => format!("*{pointer}"),
        None => text,
    })
}

/// An input as one would write it in C, and how often it was given if that is more than once.
pub fn input_text(input: &Taken) -> String {
    let value = value_text(input.ty, input.bits);
    if input.times == 1 { value } else { format!("{value} ({} times)", input.times) }
}

/// A value as one would write it in C.
pub fn value_text(ty: Scalar, bits: u128) -> String {
    match ty {
        Scalar::Int(t) if t.signed => t.decode(bits).to_string(),
        Scalar::Int(t) => t.truncate(bits).to_string(),
        Scalar::Float(FloatTy::F32) => format!("{:?}", f32::from_bits(bits as u32)),
        Scalar::Float(FloatTy::F64) => format!("{:?}", f64::from_bits(bits as u64)),
        Scalar::Float(FloatTy::F80) | Scalar::Ptr => format!("{bits:#x}"),
    }
}
