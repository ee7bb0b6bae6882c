//! Exploration: from the states at a loop head to those at the next ones.
//!
//! Between loop heads paths are followed apart, as ranges of the registers. States at one head are *alike* if the
//! ends of all ranges are in the same parts of the registers' values. What happens to these is the [`Policy`].

use super::range::Range;
use super::steps::{Ranges, Steps};
use palisade_analyses::live::Liveness;
use palisade_base::{Budget, Stop};
use palisade_cfa::*;
use palisade_task::Task;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};

/// What happens to a state if there are others that are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// It is joined to the one there is: all reachable states are in the ranges.
    Join {
        /// A state that grew this often takes in the whole of its parts.
        growth: u32,
    },
    /// It is left out: what is found can be reached, as far as ranges tell.
    Drop {
        /// So many are enough.
        keep: usize,
    },
}

/// How an exploration ends.
pub enum Found {
    /// Nothing is left to do, and no error was reached.
    Complete,
    /// An error or a cut is reached from a state.
    Reached(Reached),
    /// Too many states.
    TooMany,
}

/// How an error or a cut is reached.
pub struct Reached {
    /// The location.
    pub at: LocId,
    /// The state at the last loop head.
    from: usize,
    /// The edges from there.
    tail: Vec<EdgeId>,
}

/// So many states of one location are kept apart on the way between two heads.
const MAX_WIDTH: usize = 512;
/// At most this many states at heads.
const MAX_STATES: usize = 400_000;
/// Steps between two looks at the budget.
const LOOK: u32 = 256;
/// So far back the cause of an error is looked for.
const MAX_BACK: usize = 64;

/// A state at a loop head, or that at the entry.
struct Node {
    at: LocId,
    ranges: Ranges,
    parent: usize,
    grown: u32,
    waiting: bool,
}

/// On the way between two heads.
struct Flight {
    at: LocId,
    ranges: Ranges,
    /// The last edge, by its number in the trail.
    trail: u32,
}

/// No edge yet.
const START: u32 = u32::MAX;

/// One exploration of a task.
pub struct Exploration<'t> {
    task: &'t Task,
    steps: &'t Steps<'t>,
    graph: &'t Graph,
    live: &'t Liveness<'t>,
    budget: &'t Budget,
    policy: Policy,
    /// Whether a state was left out.
    pub dropped: bool,
    nodes: Vec<Node>,
    alike: FxHashMap<(LocId, Vec<u32>), SmallVec<[usize; 2]>>,
    waiting: VecDeque<usize>,
    /// The registers that nobody will read, by location, as far as somebody asked.
    dead: FxHashMap<LocId, Box<[u32]>>,
    /// The edges of the segment, each with the one before it.
    trail: Vec<(u32, EdgeId)>,
    until_look: u32,
}

/// What leaves a segment.
struct Segment {
    /// States at heads, with their trails.
    arrived: Vec<Flight>,
    /// The first error or cut.
    error: Option<Flight>,
}

impl<'t> Exploration<'t> {
    /// Nothing is explored yet.
    pub fn new(
        task: &'t Task,
        steps: &'t Steps<'t>,
        graph: &'t Graph,
        live: &'t Liveness<'t>,
        budget: &'t Budget,
        policy: Policy,
    ) -> Self {
        let mut this = Exploration {
            task,
            steps,
            graph,
            live,
            budget,
            policy,
            dropped: false,
            nodes: Vec::new(),
            alike: FxHashMap::default(),
            waiting: VecDeque::new(),
            dead: FxHashMap::default(),
            trail: Vec::new(),
            until_look: LOOK,
        };
        let entry = task.body().entry;
        this.arrive(Flight { at: entry, ranges: steps.initial(), trail: START }, 0);
        this
    }

    /// Explores until there is nothing left or an error is reached; may go on after that.
    pub fn run(&mut self) -> Result<Found, Stop> {
        while let Some(node) = self.waiting.pop_front() {
            self.nodes[node].waiting = false;
            let Node { at, ranges, .. } = &self.nodes[node];
            let Segment { arrived, error } = self.segment(*at, ranges.clone())?;
            let tail = error.map(|error| (error.at, self.edges(error.trail)));
            for flight in arrived {
                self.arrive(flight, node);
            }
            if let Some((at, tail)) = tail {
                return Ok(Found::Reached(Reached { at, from: node, tail }));
            }
            if self.nodes.len() > MAX_STATES {
                return Ok(Found::TooMany);
            }
        }
        Ok(Found::Complete)
    }

    /// The states at loop heads: for each the registers whose values are not all possible.
    pub fn states(&self) -> impl Iterator<Item = (LocId, Vec<(VarId, IntTy, Range)>)> {
        self.nodes.iter().filter(|n| self.graph.is_loop_head(n.at)).map(|node| {
            let registers = self.steps.registers.iter().zip(&node.ranges).enumerate();
            let known = registers.filter(|(r, (_, range))| **range != self.steps.all(*r));
            (node.at, known.map(|(_, (&(var, ty), &range))| (var, ty, range)).collect())
        })
    }

    /// Takes in a state at a head.
    fn arrive(&mut self, flight: Flight, parent: usize) {
        let Flight { at, mut ranges, .. } = flight;
        self.forget_dead(at, &mut ranges);
        let mut key = Vec::with_capacity(ranges.len());
        for (r, range) in ranges.iter().enumerate() {
            key.push((self.steps.part(r, range.lo) << 16 | self.steps.part(r, range.hi)) as u32);
        }
        let alike = self.alike.entry((at, key)).or_default();
        let inside = |n: &usize| self.nodes[*n].ranges.iter().zip(&ranges).all(|(a, b)| a.contains(*b));
        if alike.iter().any(inside) {
            return;
        }
        let keep = match self.policy {
            Policy::Join { .. } => 1,
            Policy::Drop { keep } => keep,
        };
        if alike.len() < keep {
            alike.push(self.nodes.len());
            self.waiting.push_back(self.nodes.len());
            self.nodes.push(Node { at, ranges, parent, grown: 0, waiting: true });
            return;
        }
        let (Policy::Join { growth }, Some(&chosen)) = (self.policy, alike.last()) else {
            self.dropped = true;
            return;
        };
        let node = &mut self.nodes[chosen];
        node.grown += 1;
        for (r, (known, new)) in node.ranges.iter_mut().zip(&ranges).enumerate() {
            let before = *known;
            *known = known.hull(*new);
            if node.grown > growth && *known != before {
                let ends = |value| self.steps.part_ends(r, self.steps.part(r, value));
                *known = ends(known.lo).hull(ends(known.hi));
            }
        }
        node.parent = parent;
        if !std::mem::replace(&mut node.waiting, true) {
            self.waiting.push_back(chosen);
        }
    }

    /// Registers that nobody will read are not looked at.
    fn forget_dead(&mut self, at: LocId, ranges: &mut [Range]) {
        let (steps, live) = (self.steps, self.live);
        let dead = self.dead.entry(at).or_insert_with(|| {
            let registers = steps.registers.iter().enumerate();
            registers.filter(|(_, (var, _))| !live.is_live(at, *var)).map(|(r, _)| r as u32).collect()
        });
        for &r in dead.iter() {
            ranges[r as usize] = steps.all(r as usize);
        }
    }

    /// Follows all paths from a state to the next heads and to errors.
    fn segment(&mut self, at: LocId, ranges: Ranges) -> Result<Segment, Stop> {
        self.trail.clear();
        let mut stack = vec![Flight { at, ranges, trail: START }];
        let mut joints: BTreeMap<usize, Vec<Flight>> = BTreeMap::new();
        let (mut arrived, mut error) = (Vec::new(), None);
        loop {
            let Some(flight) = stack.pop() else {
                match joints.pop_first() {
                    Some((_, flights)) => stack.extend(flights),
                    None => return Ok(Segment { arrived, error }),
                }
                continue;
            };
            self.until_look -= 1;
            if self.until_look == 0 {
                self.until_look = LOOK;
                self.budget.check()?;
            }
            if self.task.is_end(flight.at) {
                error.get_or_insert(flight);
                continue;
            }
            let program = &self.task.program;
            let out = &program.locs[flight.at].out;
            let Flight { ranges, trail, .. } = flight;
            let mut ranges = Some(ranges);
            for (i, &edge) in out.iter().enumerate() {
                let Edge { dst, op, .. } = &program.edges[edge];
                let Some(before) = &ranges else { break };
                // Most conditions are decided: nothing is copied for those that do not hold.
                let decided = match op {
                    Op::Assume { cond } => self.steps.decide(before, *cond),
                    _ => None,
                };
                if decided == Some(false) {
                    continue;
                }
                let next = if i + 1 == out.len() { ranges.take() } else { Some(before.clone()) };
                let Some(mut next) = next else { break };
                if decided.is_none() && !self.steps.step(&mut next, op) {
                    continue;
                }
                let flight = Flight { at: *dst, ranges: next, trail: self.trail.len() as u32 };
                self.trail.push((trail, edge));
                if self.graph.is_loop_head(*dst) && !self.task.is_end(*dst) {
                    arrived.push(flight);
                } else if program.locs[*dst].inc.len() > 1 {
                    self.meet(&mut joints, flight);
                } else {
                    stack.push(flight);
                }
            }
        }
    }

    /// Where paths meet, equal states are one.
    fn meet(&mut self, joints: &mut BTreeMap<usize, Vec<Flight>>, mut flight: Flight) {
        self.forget_dead(flight.at, &mut flight.ranges);
        let place = self.graph.position(flight.at).unwrap_or(usize::MAX);
        let there = joints.entry(place).or_default();
        let inside = |f: &Flight| f.ranges.iter().zip(&flight.ranges).all(|(a, b)| a.contains(*b));
        if there.iter().any(inside) {
            return;
        }
        let full = there.len() >= MAX_WIDTH;
        match there.last_mut() {
            Some(last) if full && matches!(self.policy, Policy::Join { .. }) => {
                last.ranges.iter_mut().zip(&flight.ranges).for_each(|(a, b)| *a = a.hull(*b));
            }
            Some(_) if full => self.dropped = true,
            _ => there.push(flight),
        }
    }

    /// The edges from the entry to an error, if no states were joined.
    pub fn path(&mut self, reached: &Reached) -> Result<Option<Vec<EdgeId>>, Stop> {
        let mut pieces = vec![reached.tail.clone()];
        let mut at = reached.from;
        // The first is its own parent.
        while at != 0 {
            let before = &self.nodes[self.nodes[at].parent];
            let Segment { arrived, .. } = self.segment(before.at, before.ranges.clone())?;
            let mut trail = None;
            for mut flight in arrived {
                self.forget_dead(flight.at, &mut flight.ranges);
                if flight.at == self.nodes[at].at && flight.ranges == self.nodes[at].ranges {
                    trail = Some(flight.trail);
                    break;
                }
            }
            let Some(trail) = trail else { return Ok(None) };
            pieces.push(self.edges(trail));
            at = self.nodes[at].parent;
        }
        Ok(Some(pieces.into_iter().rev().flatten().collect()))
    }

    /// The registers and values to cut in front of, so that states that lead to an error and others are no longer
    /// joined: from the error backward, the first state in which the values at one end of a range do not lead there.
    pub fn blame(&mut self, reached: &Reached) -> Result<Vec<(usize, i128)>, Stop> {
        let mut at = reached.from;
        let mut target = None;
        for _ in 0..MAX_BACK {
            let Node { at: start, ranges, parent, .. } = &self.nodes[at];
            let (start, ranges, parent) = (*start, ranges.clone(), *parent);
            let mut cuts = Vec::new();
            for r in 0..ranges.len() {
                let whole = ranges[r];
                if whole.as_point().is_some() {
                    continue;
                }
                if !self.leads(start, &ranges, r, Range::point(whole.lo), target.as_ref())? {
                    // The first that does, with all before it.
                    let (mut no, mut yes) = (whole.lo, whole.hi);
                    while yes - no > 1 {
                        let middle = no + (yes - no) / 2;
                        let leads =
                            self.leads(start, &ranges, r, Range { hi: middle, ..whole }, target.as_ref())?;
                        (no, yes) = if leads { (no, middle) } else { (middle, yes) };
                    }
                    cuts.push((r, yes));
                }
                if !self.leads(start, &ranges, r, Range::point(whole.hi), target.as_ref())? {
                    let (mut yes, mut no) = (whole.lo, whole.hi);
                    while no - yes > 1 {
                        let middle = yes + (no - yes) / 2;
                        let leads =
                            self.leads(start, &ranges, r, Range { lo: middle, ..whole }, target.as_ref())?;
                        (yes, no) = if leads { (middle, no) } else { (yes, middle) };
                    }
                    cuts.push((r, no));
                }
            }
            cuts.retain(|&(r, value)| self.steps.is_inside(r, value));
            if !cuts.is_empty() || at == 0 {
                return Ok(cuts);
            }
            target = Some((start, ranges));
            at = parent;
        }
        Ok(Vec::new())
    }

    /// Whether states with one register in another range lead to an error, or to the target in one segment.
    fn leads(
        &mut self,
        start: LocId,
        ranges: &Ranges,
        register: usize,
        range: Range,
        target: Option<&(LocId, Ranges)>,
    ) -> Result<bool, Stop> {
        let mut ranges = ranges.clone();
        ranges[register] = range;
        let Segment { mut arrived, error } = self.segment(start, ranges)?;
        let Some((at, target)) = target else { return Ok(error.is_some()) };
        arrived.retain(|flight| flight.at == *at);
        Ok(arrived.iter().any(|f| f.ranges.iter().zip(target).all(|(a, b)| a.meet(*b).is_some())))
    }

    /// The edges of a trail, in order.
    fn edges(&self, mut trail: u32) -> Vec<EdgeId> {
        let mut edges = Vec::new();
        while let Some(&(before, edge)) = self.trail.get(trail as usize) {
            edges.push(edge);
            trail = before;
        }
        edges.reverse();
        edges
    }
}
