//! A run that was seen step by step: what changed, and what the program was given.

use palisade_cfa::*;
use palisade_interp::{Config, Discard, Inputs, Interp, Observer, Run, State, Value};
use std::collections::VecDeque;

/// One operation of a run that stored something.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub edge: EdgeId,
    /// How many calls were active.
    pub depth: usize,
    /// What was stored where, if it is a scalar with a name.
    pub change: Option<Change>,
    /// Whether the program did not determine the value.
    pub open: bool,
}

/// A value that was stored.
#[derive(Clone, Debug)]
pub struct Change {
    /// The variable, with the way into it.
    pub name: String,
    /// The value.
    pub value: Value,
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
}

impl Steps {
    /// All steps that were kept, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.first.iter().chain(&self.last)
    }
}

/// How many steps are kept at each end.
const KEPT: usize = 20_000;

/// Runs a program and notes what its operations store.
pub fn observe(program: &Program, inputs: &mut dyn Inputs, config: Config) -> (Run, Steps) {
    let start = start_call(program);
    let mut recorder = Recorder { program, start, steps: Steps::default(), before: None, calls: Vec::new() };
    let run = Interp::new(program, config).run_observed(inputs, &mut Discard, &mut recorder);
    (run, recorder.steps)
}

/// The call of `main` with arguments, in the function that lowering puts before it.
fn start_call(program: &Program) -> Option<EdgeId> {
    let entry = program.entry;
    let calls_main = |e: &Edge| match &e.op {
        Op::Call { callee: Callee::Direct(f), args, .. } => {
            program.locs[e.src].func == entry && &*program.funcs[*f].name == "main" && args.len() >= 2
        }
        _ => false,
    };
    let made = &*program.funcs[entry].name == ".start";
    program.edges.iter_enumerated().find(|(_, e)| made && calls_main(e)).map(|(id, _)| id)
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
    let string = |i| state.string(state.pointer_at(vector, i)?).map(<[u8]>::to_vec);
    Some((0..count as u64).map(|i| string(i).unwrap_or_default()).collect())
}

struct Recorder<'p> {
    program: &'p Program,
    start: Option<EdgeId>,
    steps: Steps,
    /// The operation whose effect the next state shows, with the depth it was executed at.
    before: Option<(EdgeId, usize)>,
    /// Calls that have not returned, with the depth of the caller.
    calls: Vec<(EdgeId, usize)>,
}

impl Observer for Recorder<'_> {
    fn on_edge(&mut self, edge: EdgeId, state: &State<'_>) -> bool {
        let (_, depth) = state.function();
        if self.start == Some(edge) {
            self.steps.arguments = arguments(self.program, edge, state);
        }
        if let Some((done, at)) = self.before.take() {
            if depth > at {
                self.calls.push((done, at));
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
        self.before = Some((edge, depth));
        true
    }
}

impl Recorder<'_> {
    fn note(&mut self, edge: EdgeId, state: &State<'_>, depth: usize) {
        let p = self.program;
        let (stored, open) = match p.edges[edge].op {
            Op::Assign { dst, .. } | Op::Alloc { dst, .. } => (Some(dst), false),
            Op::Havoc { dst, .. } => (Some(dst), true),
            Op::Call { dst: Some(dst), callee, .. } => {
                let open = matches!(callee, Callee::Direct(f) if p.funcs[f].body.is_none());
                (Some(dst), open)
            }
            Op::Enter { var } => {
                if let Some(value) = state.var(var) {
                    let change = named(p, var).map(|name| Change { name, value });
                    self.push(Step { edge, depth, change, open: true });
                    self.steps.open.push((edge, value));
                }
                return;
            }
            _ => return,
        };
        let Some(place) = stored else { return };
        if p.place_scalar(place).is_none() {
            return self.push(Step { edge, depth, change: None, open });
        }
        let Ok(value) = state.load_place(place) else { return };
        if open {
            self.steps.open.push((edge, value));
        }
        let change = place_text(p, place, state).map(|name| Change { name, value });
        self.push(Step { edge, depth, change, open });
    }

    fn push(&mut self, step: Step) {
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

/// The name of a variable that has one in the source.
fn named(program: &Program, var: VarId) -> Option<String> {
    let name = &program.vars[var].name;
    (!name.starts_with('.')).then(|| name.to_string())
}

/// A place as a person would write it, with the current values of its indices.
fn place_text(program: &Program, place: PlaceId, state: &State<'_>) -> Option<String> {
    let p = &program.places[place];
    let mut text = match p.base {
        Base::Var(var) => named(program, var)?,
        Base::Deref(e) => match program.exprs[e].kind {
            ExprKind::Load(inner) => {
                let inner = &program.places[inner];
                match (inner.base, inner.path.is_empty()) {
                    (Base::Var(var), true) => format!("(*{})", named(program, var)?),
                    _ => return None,
                }
            }
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
