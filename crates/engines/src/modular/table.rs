//! Tables: what functions leave in global registers, for each case in which they are called.
//!
//! A *case* of a function is what the tracked global registers hold when it is called, as far as the function uses
//! them, and the arguments that are constants. Each case is looked at once, however many calls fall into it: ranges of
//! registers are followed through the body, kept apart by what the tracked registers hold, and a call inside of it
//! takes what the table says about its own case so far. If that becomes more, the call is looked at again.

use crate::parts::range::Range;
use crate::parts::steps::{Steps, Store};
use palisade_base::{Budget, IdxVec};
use palisade_cfa::*;
use palisade_task::forget::Touched;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// A state that grew so often gives up what still changes.
const GROWTH: u32 = 4;
/// States of one location in one case.
const MAX_STATES: usize = 512;
/// Cases of a function that differ in arguments, and all cases of a function.
const MAX_CASES: [usize; 2] = [48, 256];
/// Functions of a way that are told.
const WAY: usize = 12;
/// Steps between two looks at the budget.
const LOOK: usize = 1024;

/// What is known of registers: those whose values are not all possible, by their numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Known(Vec<(u32, Range)>);

impl Store for Known {
    fn get(&self, register: u32, all: Range) -> Range {
        match self.0.binary_search_by_key(&register, |(r, _)| *r) {
            Ok(at) => self.0[at].1,
            Err(_) => all,
        }
    }

    fn set(&mut self, register: u32, range: Range, all: Range) {
        match self.0.binary_search_by_key(&register, |(r, _)| *r) {
            Ok(at) if range == all => {
                self.0.remove(at);
            }
            Ok(at) => self.0[at].1 = range,
            Err(_) if range == all => {}
            Err(at) => self.0.insert(at, (register, range)),
        }
    }
}

impl Known {
    /// Takes in another state; tells whether that is more. What grows is given up if `wide`.
    fn join(&mut self, other: &Known, wide: bool) -> bool {
        let mut grown = false;
        self.0.retain_mut(|(register, range)| {
            let Ok(at) = other.0.binary_search_by_key(register, |(r, _)| *r) else {
                grown = true;
                return false;
            };
            let hull = range.hull(other.0[at].1);
            let more = hull != *range;
            grown |= more;
            *range = hull;
            !(more && wide)
        });
        grown
    }
}

/// What tracked registers hold, in the order in which a function has them; `None` if that is not one value.
type Tracked = Vec<Option<i128>>;

/// How the calls of a case may end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct End {
    /// What the tracked registers of the function hold.
    pub globals: Tracked,
    /// The result; `None` if it may be anything.
    pub result: Option<Range>,
}

/// What is known of the calls of one case.
pub struct Case {
    /// The function.
    pub func: FuncId,
    /// What its tracked registers hold at the start.
    pub globals: Tracked,
    /// Parameters that are constants.
    pub params: Vec<(usize, i128)>,
    /// How its calls end.
    pub ends: Vec<End>,
    states: FxHashMap<LocId, Vec<State>>,
    /// Where it is called: the case, and the location.
    callers: FxHashSet<(usize, LocId)>,
}

struct State {
    globals: Tracked,
    known: Known,
    grown: u32,
    waiting: bool,
}

/// The table of a program without memory.
pub struct Table<'p> {
    program: &'p Program,
    steps: &'p Steps<'p>,
    touched: &'p Touched,
    asked: &'p FxHashSet<VarId>,
    /// The tracked registers of each function: what it, or what it calls, uses.
    pub tracked: IdxVec<FuncId, Vec<VarId>>,
    /// All cases.
    pub cases: Vec<Case>,
    by_func: FxHashMap<FuncId, Vec<usize>>,
    waiting: VecDeque<(usize, LocId)>,
}

impl<'p> Table<'p> {
    /// The table, if no call in it can fail; otherwise why it says too little. Tracked are the global registers, and the
    /// parameters, that are asked for.
    pub fn fill(
        program: &'p Program,
        steps: &'p Steps<'p>,
        touched: &'p Touched,
        asked: &'p FxHashSet<VarId>,
        budget: &Budget,
    ) -> Result<Table<'p>, String> {
        let used = |func: FuncId| {
            let both = touched.read[func].union(&touched.written[func]);
            both.copied().filter(|var| asked.contains(var) && steps.number(*var).is_some()).collect()
        };
        let mut table = Table {
            program,
            steps,
            touched,
            asked,
            tracked: program.funcs.ids().map(used).collect(),
            cases: Vec::new(),
            by_func: FxHashMap::default(),
            waiting: VecDeque::new(),
        };
        let initial = steps.initial();
        let held = |&var: &VarId| initial[steps.number(var)? as usize].as_point();
        let globals = table.tracked[program.entry].iter().map(held).collect();
        table.case(program.entry, globals, Vec::new())?;
        let mut rounds = 0usize;
        while let Some((case, at)) = table.waiting.pop_front() {
            rounds += 1;
            if rounds.is_multiple_of(LOOK) {
                budget.check().map_err(|stop| stop.to_string())?;
            }
            table.look(case, at)?;
        }
        Ok(table)
    }

    /// The number of a case, which is looked at if it is new.
    fn case(
        &mut self,
        func: FuncId,
        globals: Tracked,
        mut params: Vec<(usize, i128)>,
    ) -> Result<usize, String> {
        let there = self.by_func.entry(func).or_default();
        if there.len() >= MAX_CASES[0] {
            params.clear();
        }
        let same = |&&i: &&usize| self.cases[i].globals == globals && self.cases[i].params == params;
        if let Some(&found) = there.iter().find(same) {
            return Ok(found);
        }
        let number = self.cases.len();
        there.push(number);
        if there.len() > MAX_CASES[1] {
            return Err(format!("{} is called in too many ways", self.program.funcs[func].name));
        }
        let mut known = Known::default();
        let mut set = |var: VarId, value: i128| {
            if let Some(r) = self.steps.number(var) {
                known.set(r, Range::point(value), self.steps.all(r as usize));
            }
        };
        for (&var, value) in self.tracked[func].iter().zip(&globals) {
            value.iter().for_each(|&value| set(var, value));
        }
        let body = self.program.body(func);
        params.iter().for_each(|&(i, value)| set(body.params[i], value));
        self.cases.push(Case {
            func,
            globals,
            params,
            ends: Vec::new(),
            states: FxHashMap::default(),
            callers: FxHashSet::default(),
        });
        self.arrive(number, body.entry, known)?;
        Ok(number)
    }

    fn held(&self, func: FuncId, known: &Known) -> Tracked {
        let one = |&var: &VarId| {
            let r = self.steps.number(var)?;
            known.get(r, self.steps.all(r as usize)).as_point()
        };
        self.tracked[func].iter().map(one).collect()
    }

    /// A state gets to a location.
    fn arrive(&mut self, case: usize, at: LocId, known: Known) -> Result<(), String> {
        let func = self.cases[case].func;
        let globals = self.held(func, &known);
        let states = self.cases[case].states.entry(at).or_default();
        let wakes = match states.iter_mut().find(|s| s.globals == globals) {
            Some(state) => {
                let wide = state.grown >= GROWTH;
                if !state.known.join(&known, wide) {
                    return Ok(());
                }
                state.grown += 1;
                !std::mem::replace(&mut state.waiting, true)
            }
            None => {
                if states.len() >= MAX_STATES {
                    return Err(format!("too many states in {}", self.program.funcs[func].name));
                }
                states.push(State { globals, known, grown: 0, waiting: true });
                true
            }
        };
        if wakes {
            self.waiting.push_back((case, at));
        }
        Ok(())
    }

    /// Follows the states of a location that wait.
    fn look(&mut self, case: usize, at: LocId) -> Result<(), String> {
        let Some(states) = self.cases[case].states.get_mut(&at) else { return Ok(()) };
        let mut fresh = Vec::new();
        for state in states.iter_mut() {
            if std::mem::take(&mut state.waiting) {
                fresh.push(state.known.clone());
            }
        }
        let program = self.program;
        for known in fresh {
            for (_, edge) in program.out_edges(at) {
                self.step(case, at, edge, known.clone())?;
            }
        }
        Ok(())
    }

    fn step(&mut self, case: usize, at: LocId, edge: &Edge, mut known: Known) -> Result<(), String> {
        let func = self.cases[case].func;
        match &edge.op {
            Op::Check { cond, .. } if self.steps.decide(&known, *cond) != Some(true) => {
                Err(format!("a check may fail in {}", self.called(case)))
            }
            Op::Call { dst, callee: Callee::Direct(f), args } => match &self.program.funcs[*f].body {
                None => {
                    let unknown = &self.program.funcs[*f].name;
                    Err(format!("{unknown} is not modelled, called by {}", self.called(case)))
                }
                Some(_) => self.call(case, at, edge, known, *dst, *f, args),
            },
            Op::Return { value } => {
                let result = match value {
                    Some(Arg::Scalar(e)) => self.steps.value(&known, *e),
                    _ => None,
                };
                self.end(case, End { globals: self.held(func, &known), result });
                Ok(())
            }
            Op::Halt { .. } => Ok(()),
            op => match self.steps.step(&mut known, op) {
                true if edge.dst == self.program.body(func).exit => {
                    self.end(case, End { globals: self.held(func, &known), result: None });
                    Ok(())
                }
                true => self.arrive(case, edge.dst, known),
                false => Ok(()),
            },
        }
    }

    /// The function of a case, and a way to it.
    fn called(&self, mut case: usize) -> String {
        let mut text = String::new();
        for _ in 0..WAY {
            let Case { func, globals, callers, .. } = &self.cases[case];
            let name = |&var: &VarId| self.program.vars[var].name.clone();
            let held = self.tracked[*func].iter().map(name).zip(globals);
            let held: Vec<String> = held
                .map(|(name, value)| format!("{name}={}", value.map_or("?".into(), |v| v.to_string())))
                .collect();
            text += &format!("{}({})", self.program.funcs[*func].name, held.join(","));
            // The first that was found leads back to the start.
            match callers.iter().map(|(caller, _)| *caller).min() {
                Some(caller) if caller < case => case = caller,
                _ => break,
            }
            text += " < ";
        }
        text
    }

    /// A call of a case ends.
    fn end(&mut self, case: usize, end: End) {
        let this = &mut self.cases[case];
        match this.ends.iter_mut().find(|e| e.globals == end.globals) {
            Some(there) => {
                let both = match (there.result, end.result) {
                    (Some(a), Some(b)) => Some(a.hull(b)),
                    _ => None,
                };
                if both == there.result {
                    return;
                }
                // Results that keep growing may be anything.
                there.result = both.filter(|_| there.result.is_none_or(|r| r.as_point().is_some()));
            }
            None => this.ends.push(end),
        }
        for (caller, at) in this.callers.clone() {
            let Some(states) = self.cases[caller].states.get_mut(&at) else { continue };
            states.iter_mut().for_each(|state| state.waiting = true);
            self.waiting.push_back((caller, at));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn call(
        &mut self,
        case: usize,
        at: LocId,
        edge: &Edge,
        known: Known,
        dst: Option<PlaceId>,
        func: FuncId,
        args: &[Arg],
    ) -> Result<(), String> {
        let params = &self.program.body(func).params;
        let constant = |(i, arg): (usize, &Arg)| match arg {
            Arg::Scalar(e) if self.asked.contains(&params[i]) => {
                Some((i, self.steps.value(&known, *e)?.as_point()?))
            }
            _ => None,
        };
        let params = args.iter().enumerate().filter_map(constant).collect();
        let callee = self.case(func, self.held(func, &known), params)?;
        self.cases[callee].callers.insert((case, at));
        for End { globals, result } in self.cases[callee].ends.clone() {
            let mut after = known.clone();
            let mut set = |var: VarId, range: Option<Range>| {
                if let Some(r) = self.steps.number(var) {
                    let all = self.steps.all(r as usize);
                    after.set(r, range.unwrap_or(all), all);
                }
            };
            for &var in &self.touched.written[func] {
                set(var, None);
            }
            for (&var, value) in self.tracked[func].iter().zip(&globals) {
                if self.touched.written[func].contains(&var) {
                    set(var, value.map(Range::point));
                }
            }
            if let Some(r) = dst.and_then(|dst| self.steps.register(dst)) {
                let all = self.steps.all(r as usize);
                after.set(r, result.unwrap_or(all), all);
            }
            self.arrive(case, edge.dst, after)?;
        }
        Ok(())
    }
}
