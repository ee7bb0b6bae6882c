//! Images of assignments and guards (BOXES, section 3 and Table 2).
//!
//! By Theorem 1 a transformer of BOXES is the union of the transformer of BOX over the boxes of the
//! diagram, that is over its 1-paths. One traversal computes it: it collects, as *context*, the
//! intervals of the variables that the command reads, and at the end of every such path adds the box
//! that the transformer of BOX gives. Paths with the same context share their work. For two
//! variables this is XPY of Figure 3 (the tests keep the figure's own recursion as a twin).

use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

use super::{Cut, Interval, Kind, Ldd};
use crate::kernel::{OutOfBudget, Outcome};
use crate::node::{Label, Node, Var};
use crate::run::{Operation, Step, run};
use crate::tables::OpCode;

/// How a linear form compares to a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// At most.
    Le,
    /// Less than.
    Lt,
    /// Equal.
    Eq,
    /// Different.
    Ne,
}

/// A linear constraint `Σ aᵢ·xᵢ ∼ k`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Guard {
    /// Coefficients and variables.
    pub terms: Vec<(Rat, Var)>,
    /// The comparison.
    pub relation: Relation,
    /// The constant.
    pub k: Rat,
}

/// Contexts that one transformer may distinguish before it falls back to bounds of the whole set.
const MAX_CONTEXTS: usize = 1 << 12;

/// The partitions of the read variables along a path; `Label::TERMINAL` is no bound.
type Context = Box<[(Label, Label)]>;

struct Paths<L> {
    /// The read variables from top to bottom.
    vars: Vec<Var>,
    /// A variable whose old value is projected out on the way.
    dropped: Option<Var>,
    /// The box that the transformer of BOX adds for given intervals of `vars`.
    leaf: L,
    /// No leaf constrains a variable above this level.
    hoist: u32,
    last: u32,
    ids: FxHashMap<Context, u32>,
    contexts: Vec<(Context, Node)>,
    overflow: bool,
    instance: u32,
}

impl<L: FnMut(&mut Ldd, &[Interval]) -> Outcome> Paths<L> {
    fn run(
        ldd: &mut Ldd,
        f: Node,
        mut vars: Vec<Var>,
        dropped: Option<Var>,
        hoist: u32,
        leaf: L,
    ) -> PathResult {
        vars.sort_by_key(|&v| ldd.k.var_level(v));
        let last = vars.iter().chain(&dropped).map(|&v| ldd.k.var_level(v)).max().unwrap_or(0);
        let start: Context = vec![(Label::TERMINAL, Label::TERMINAL); vars.len()].into();
        let mut op = Paths {
            vars,
            dropped,
            leaf,
            hoist,
            last,
            ids: FxHashMap::from_iter([(start.clone(), 0)]),
            contexts: vec![(start, Node::NIL)],
            overflow: false,
            instance: ldd.k.fresh_instance(),
        };
        match run(ldd, &mut op, (f, 0)) {
            Err(OutOfBudget::Nodes) if op.overflow => PathResult::TooMany,
            Err(e) => PathResult::Failed(e),
            Ok(r) => PathResult::Done(r),
        }
    }

    /// The context that differs from `from` in one variable.
    fn with(&mut self, from: u32, at: usize, side: (Label, Label)) -> Outcome<u32> {
        let mut context = self.contexts[from as usize].0.clone();
        context[at] = side;
        if let Some(&id) = self.ids.get(&context) {
            return Ok(id);
        }
        if self.contexts.len() >= MAX_CONTEXTS {
            self.overflow = true;
            return Err(OutOfBudget::Nodes);
        }
        let id = self.contexts.len() as u32;
        self.ids.insert(context.clone(), id);
        self.contexts.push((context, Node::NIL));
        Ok(id)
    }

    fn leaf(&mut self, ldd: &mut Ldd, id: u32) -> Outcome {
        let (context, node) = &self.contexts[id as usize];
        if *node != Node::NIL {
            return Ok(*node);
        }
        let label = |l: Label| (l != Label::TERMINAL).then_some(l);
        let sides = context.iter().zip(&self.vars);
        let sides: Vec<Interval> =
            sides.map(|(&(lo, hi), &v)| ldd.between(v, label(lo), label(hi))).collect();
        let node = (self.leaf)(ldd, &sides)?;
        self.contexts[id as usize].1 = node;
        Ok(node)
    }
}

enum PathResult {
    Done(Node),
    /// More than [`MAX_CONTEXTS`] contexts.
    TooMany,
    Failed(OutOfBudget),
}

impl<L: FnMut(&mut Ldd, &[Interval]) -> Outcome> Operation<Ldd> for Paths<L> {
    type Args = (Node, u32);

    fn enter(&mut self, ldd: &mut Ldd, &mut (f, context): &mut (Node, u32)) -> Outcome<Step<(Node, u32)>> {
        if f == Node::FALSE {
            return Ok(Step::Done(f));
        }
        let c = ldd.k.cell(f);
        if ldd.k.label_level(c.label) > self.last {
            let leaf = self.leaf(ldd, context)?;
            return Ok(Step::Done(ldd.k.and(leaf, f)?));
        }
        if let Some(r) = ldd.k.cache.get(OpCode::Image, f, context, self.instance) {
            return Ok(Step::Done(r));
        }
        let var = ldd.k.label_var(c.label);
        let (mut high, mut low) = (context, context);
        if let Some(at) = self.vars.iter().position(|&v| v == var) {
            let lo = self.contexts[context as usize].0[at].0;
            high = self.with(context, at, (lo, c.label))?;
            low = self.with(context, at, (c.label, Label::TERMINAL))?;
        }
        Ok(Step::Split { label: c.label, high: (c.high, high), low: (c.low, low) })
    }

    fn join(&mut self, ldd: &mut Ldd, _: &(Node, u32), label: Label, high: Node, low: Node) -> Outcome {
        if Some(ldd.k.label_var(label)) == self.dropped {
            ldd.k.or(high, low)
        } else if ldd.k.label_level(label) < self.hoist {
            ldd.k.mk(label, high, low)
        } else {
            ldd.k.decide(label, high, low)
        }
    }

    fn remember(&mut self, ldd: &mut Ldd, &(f, context): &(Node, u32), result: Node) {
        ldd.k.cache.put(OpCode::Image, f, context, self.instance, result);
    }
}

/// Adds up coefficients of the same variable and drops zeros.
fn collect_terms(terms: &[(Rat, Var)]) -> Vec<(Rat, Var)> {
    let mut out: Vec<(Rat, Var)> = Vec::with_capacity(terms.len());
    for (a, v) in terms {
        match out.iter_mut().find(|(_, w)| w == v) {
            Some((b, _)) => *b += a,
            None => out.push((a.clone(), *v)),
        }
    }
    out.retain(|(a, _)| !a.is_zero());
    out
}

/// `Σ aᵢ·Iᵢ` over all terms but one.
fn sums_of_others(scaled: &[Interval]) -> Vec<Interval> {
    let zero = Interval::point(Int::from(0));
    let mut after = vec![zero.clone()];
    for s in scaled.iter().rev() {
        let sum = after[after.len() - 1].add(s);
        after.push(sum);
    }
    let mut before = zero;
    let mut out = Vec::with_capacity(scaled.len());
    for (i, s) in scaled.iter().enumerate() {
        out.push(before.add(&after[scaled.len() - 1 - i]));
        before = before.add(s);
    }
    out
}

/// What a constraint leaves of the variables of its terms, when these lie in `sides`: for each the
/// intervals that are possible, given the others. This is the transformer of BOX for the guard.
fn tighten(
    terms: &[(Rat, Var)],
    relation: Relation,
    k: &Rat,
    sides: &[Interval],
) -> Vec<(Var, Vec<Interval>)> {
    let scaled: Vec<Interval> = terms.iter().zip(sides).map(|((a, _), s)| s.scale(a)).collect();
    let minus_one = Rat::from(Int::from(-1));
    let allowed = match relation {
        Relation::Le => Interval::at_most(k.clone()),
        Relation::Lt => Interval::below(Cut::lt(k.clone())),
        Relation::Eq | Relation::Ne => Interval::point(k.clone()),
    };
    let mut out = Vec::with_capacity(terms.len());
    for ((a, v), others) in terms.iter().zip(sums_of_others(&scaled)) {
        // a·x = (what is allowed) - (the other terms).
        let x = allowed.add(&others.scale(&minus_one)).scale(&a.recip());
        if relation != Relation::Ne {
            out.push((*v, vec![x]));
        } else if let Some(p) = x.as_point() {
            out.push((*v, vec![Interval::below(Cut::lt(p.clone())), Interval::above(Cut::le(p.clone()))]));
        }
    }
    out
}

impl Ldd {
    /// The image of `f` under `x := Σ aᵢ·xᵢ + v` for any `v` in `offset`: for every box of `f` the
    /// interval of the right-hand side becomes that of `x` (Table 2, Figure 3, equation 12).
    ///
    /// When `x` is an integer the right-hand side is taken to be one too.
    pub fn assign(&mut self, f: Node, x: Var, terms: &[(Rat, Var)], offset: &Interval) -> Outcome {
        let terms = collect_terms(terms);
        if offset.is_empty() {
            return Ok(Node::FALSE);
        }
        if let ([(a, y)], Some(p)) = (&terms[..], offset.as_point())
            && *y == x
            && *a == Rat::from(Int::from(1))
            && (self.kind(x) == Kind::Real || p.is_int())
        {
            return self.shift(f, x, p);
        }
        if terms.is_empty() {
            let free = self.exists(f, &[x])?;
            let side = self.interval(x, offset)?;
            return self.and(free, side);
        }
        let vars: Vec<Var> = self.by_level(&terms);
        let by_level: Vec<Rat> = coefficients(&terms, &vars);
        let hoist = self.k.var_level(x);
        let leaf = |ldd: &mut Ldd, sides: &[Interval]| {
            let sum = by_level.iter().zip(sides).fold(offset.clone(), |s, (a, i)| s.add(&i.scale(a)));
            ldd.interval(x, &sum)
        };
        match Paths::run(self, f, vars, Some(x), hoist, leaf) {
            PathResult::Done(r) => Ok(r),
            PathResult::Failed(e) => Err(e),
            PathResult::TooMany => {
                let Some(range) = self.range(f, &terms)? else { return Ok(Node::FALSE) };
                let free = self.exists(f, &[x])?;
                let side = self.interval(x, &range.add(offset))?;
                self.and(free, side)
            }
        }
    }

    /// The image of `f` under `x := φ(x)`, where `φ` maps an interval to the union of intervals that
    /// its elements may become.
    pub fn map_var(&mut self, f: Node, x: Var, mut image: impl FnMut(&Interval) -> Vec<Interval>) -> Outcome {
        let hoist = self.k.var_level(x);
        let mut union = |ldd: &mut Ldd, side: &Interval| {
            let mut all = Node::FALSE;
            for part in image(side) {
                let part = ldd.interval(x, &part)?;
                all = ldd.or(all, part)?;
            }
            Ok(all)
        };
        let leaf = |ldd: &mut Ldd, sides: &[Interval]| union(ldd, &sides[0]);
        match Paths::run(self, f, vec![x], Some(x), hoist, leaf) {
            PathResult::Done(r) => Ok(r),
            PathResult::Failed(e) => Err(e),
            PathResult::TooMany => {
                let Some(range) = self.bounds(f, x) else { return Ok(Node::FALSE) };
                let free = self.exists(f, &[x])?;
                let side = union(self, &range)?;
                self.and(free, side)
            }
        }
    }

    /// The part of `f` where a linear constraint may hold: every box of `f` is cut down to the least
    /// box around its points that satisfy the constraint (Table 2, last row, for any number of
    /// variables). Exact when the constraint has one variable.
    pub fn assume(&mut self, f: Node, guard: &Guard) -> Outcome {
        let Guard { relation, k, .. } = guard;
        let terms = collect_terms(&guard.terms);
        let zero = Rat::from(Int::from(0));
        match &terms[..] {
            [] => {
                let holds = match relation {
                    Relation::Le => zero <= *k,
                    Relation::Lt => zero < *k,
                    Relation::Eq => zero == *k,
                    Relation::Ne => zero != *k,
                };
                return Ok(if holds { f } else { Node::FALSE });
            }
            [_] => {
                let leaf = self.leaf_of(&tighten(&terms, *relation, k, &[Interval::TOP]))?;
                return self.and(f, leaf);
            }
            _ => {}
        }
        let vars = self.by_level(&terms);
        let by_level: Vec<(Rat, Var)> = coefficients(&terms, &vars).into_iter().zip(vars.clone()).collect();
        let hoist = self.k.var_level(vars[0]);
        let leaf = |ldd: &mut Ldd, sides: &[Interval]| {
            let sum = by_level.iter().zip(sides);
            let sum = sum.fold(Interval::point(Int::from(0)), |s, ((a, _), i)| s.add(&i.scale(a)));
            if sum.as_point() == Some(k) && *relation == Relation::Ne {
                return Ok(Node::FALSE);
            }
            ldd.leaf_of(&tighten(&by_level, *relation, k, sides))
        };
        match Paths::run(self, f, vars.clone(), None, hoist, leaf) {
            PathResult::Done(r) => Ok(r),
            PathResult::Failed(e) => Err(e),
            PathResult::TooMany => {
                let mut sides = Vec::with_capacity(vars.len());
                for &v in &vars {
                    let Some(side) = self.bounds(f, v) else { return Ok(Node::FALSE) };
                    sides.push(side);
                }
                let leaf = self.leaf_of(&tighten(&by_level, *relation, k, &sides))?;
                self.and(f, leaf)
            }
        }
    }

    /// The product over variables of unions of intervals.
    fn leaf_of(&mut self, sides: &[(Var, Vec<Interval>)]) -> Outcome {
        let mut leaf = Node::TRUE;
        for (v, parts) in sides {
            let mut union = Node::FALSE;
            for part in parts {
                let part = self.interval(*v, part)?;
                union = self.or(union, part)?;
            }
            leaf = self.and(leaf, union)?;
        }
        Ok(leaf)
    }

    /// The variables of `terms` from top to bottom.
    fn by_level(&self, terms: &[(Rat, Var)]) -> Vec<Var> {
        let mut vars: Vec<Var> = terms.iter().map(|(_, v)| *v).collect();
        vars.sort_by_key(|&v| self.k.var_level(v));
        vars
    }
}

/// The coefficients of `vars` in `terms`.
fn coefficients(terms: &[(Rat, Var)], vars: &[Var]) -> Vec<Rat> {
    let of = |v: &Var| terms.iter().find(|(_, w)| w == v).map(|(a, _)| a.clone());
    vars.iter().filter_map(of).collect()
}
