//! The transformers of the domains on linear decision diagrams.

use palisade_dd::{self as dd, Guard, Node, Outcome, Relation, Var};
use palisade_num::{Int, Rat};

use crate::dim::Dim;
use crate::interval::{End, Interval};
use crate::lattice::Lattice;
use crate::ldd_domain::{OnLdd, Policy};
use crate::ldd_space::{LddCtx, Space, from_dd, to_dd, wrapped};
use crate::linear::{LinCons, LinExpr, Rel};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds, wrap_by_periods};

/// Disjuncts that `to_constraints` writes out; above, the hull stands for all.
const MAX_DISJUNCTS: i64 = 1 << 12;

/// The constraint over variables; `None` for a congruence, which bounds nothing.
fn guard(s: &mut Space, c: &LinCons) -> Outcome<Option<Guard>> {
    let relation = match c.rel {
        Rel::Le => Relation::Le,
        Rel::Lt => Relation::Lt,
        Rel::Eq => Relation::Eq,
        Rel::Ne => Relation::Ne,
        Rel::Mod(_) => return Ok(None),
    };
    Ok(Some(Guard { terms: s.terms(c.expr.terms())?, relation, k: -c.expr.constant_term() }))
}

fn assume(s: &mut Space, f: Node, c: &LinCons) -> Outcome<Node> {
    match guard(s, c)? {
        Some(guard) => s.ldd.assume(f, &guard),
        None => Ok(f),
    }
}

impl<P: Policy> OnLdd<P> {
    /// `Σ` of the given terms by their intervals.
    fn sum<'t>(&self, terms: impl Iterator<Item = &'t (Dim, Rat)>, start: Interval) -> Interval {
        terms.fold(start, |sum, (d, a)| sum.add(&self.interval_of(*d).scale(a)))
    }

    /// The terms whose dimensions are not simple, and the interval of the others and the constant.
    fn divide(&self, e: &LinExpr) -> (Vec<(Dim, Rat)>, Interval) {
        let (simple, other): (Vec<_>, Vec<_>) = e.terms().iter().partition(|(d, _)| self.is_simple(*d));
        let offset = self.sum(simple.into_iter(), Interval::point(e.constant_term().clone()));
        (other.into_iter().cloned().collect(), offset)
    }

    /// Lets `d` take any value.
    fn drop_dim(&mut self, d: Dim) {
        self.free_tied(&[d]);
        self.alone.remove(d);
    }

    /// Lets those of `dims` that are tied take any value.
    fn free_tied(&mut self, dims: &[Dim]) {
        let freed = self.attempt(|e| {
            let tied: Vec<Dim> = dims.iter().copied().filter(|d| e.is_tied(*d)).collect();
            if tied.is_empty() {
                return Ok(());
            }
            let f = e.rest.node();
            e.set_rest(|s| {
                let vars: Outcome<Vec<Var>> = tied.iter().map(|d| s.var(*d)).collect();
                s.ldd.exists(f, &vars?)
            })
        });
        // A hull ties nothing, so there was nothing left to do.
        debug_assert!(freed.is_ok());
    }

    /// `d := e`, exactly as Theorem 1 has it; `Err` when it outgrows the limits, with nothing changed.
    fn try_assign(&mut self, d: Dim, e: &LinExpr) -> Outcome<()> {
        let (terms, offset) = self.divide(e);
        if terms.is_empty() {
            let value = offset.tighten_for(d);
            if value.is_empty() {
                self.make_bottom();
            } else {
                self.drop_dim(d);
                self.set_interval(d, &value);
            }
            return Ok(());
        }
        let offset = to_dd(&offset);
        let mut next = self.clone();
        if terms.iter().all(|t| t.0 == d) && !self.is_tied(d) {
            // A function of itself (and of intervals) needs no company.
            let mapped = next.map_factor(d, |s, v, f| {
                let terms = s.terms(&terms)?;
                s.ldd.assign(f, v, &terms, &offset)
            });
            if !mapped {
                return Err(dd::OutOfBudget::Nodes);
            }
        } else {
            let factors = next.untie(terms.iter().map(|t| t.0));
            next.alone.remove(d);
            let f = self.rest.node();
            next.set_rest(|s| {
                let (x, terms) = (s.var(d)?, s.terms(&terms)?);
                let f = s.meet_all(f, &factors)?;
                s.ldd.assign(f, x, &terms, &offset)
            })?;
        }
        *self = next;
        Ok(())
    }

    /// Assumes a normalised constraint; `Err` when it outgrows the limits, with nothing changed.
    fn try_assume(&mut self, c: &LinCons) -> Outcome<()> {
        let dims: Vec<Dim> = c.expr.dims().collect();
        if let [d] = dims[..]
            && !self.is_tied(d)
        {
            let mapped = self.map_factor(d, |s, _, f| assume(s, f, c));
            return if mapped { Ok(()) } else { Err(dd::OutOfBudget::Nodes) };
        }
        if dims.iter().all(|d| self.is_simple(*d)) {
            self.assume_simple(c);
            return Ok(());
        }
        let mut next = self.clone();
        let factors = next.untie(dims);
        let f = self.rest.node();
        next.set_rest(|s| {
            let f = s.meet_all(f, &factors)?;
            assume(s, f, c)
        })?;
        *self = next;
        Ok(())
    }

    /// Replaces the values of the integer `d` by what is left of them in a machine type; `Err` when that
    /// outgrows the limits, with nothing changed.
    fn try_wrap(&mut self, d: Dim, ty: MachineInt) -> Outcome<()> {
        let image = |i: &dd::Interval| wrapped(&from_dd(i), ty).iter().map(to_dd).collect();
        if self.is_tied(d) {
            let f = self.rest.node();
            return self.set_rest(|s| {
                let v = s.var(d)?;
                s.ldd.map_var(f, v, image)
            });
        }
        let mapped = self.map_factor(d, |s, v, f| {
            let r = s.ldd.map_var(f, v, image)?;
            // One interval that passes the end of the type has no better hull than all values.
            if P::UNIONS || s.ldd.is_box(r) { Ok(r) } else { s.ldd.interval(v, &to_dd(&ty.range())) }
        });
        if mapped { Ok(()) } else { Err(dd::OutOfBudget::Nodes) }
    }

    /// Assumes a normalised constraint on simple dimensions, at least two: each is cut down by what
    /// the others allow.
    fn assume_simple(&mut self, c: &LinCons) {
        if c.rel == Rel::Ne {
            // Says something only when all but one have a single value.
            let value = |d: Dim| self.interval_of(d).as_point().cloned();
            let open: Vec<Dim> = c.expr.dims().filter(|d| value(*d).is_none()).collect();
            if open.len() <= 1 {
                let known = c.expr.terms().iter().filter(|t| !open.contains(&t.0));
                let expr = known.fold(c.expr.clone(), |e, (d, _)| match value(*d) {
                    Some(v) => e.substitute(*d, &LinExpr::constant(v)),
                    None => e,
                });
                self.assume(&LinCons { expr, rel: Rel::Ne });
            }
            return;
        }
        let allowed = match c.rel {
            Rel::Le => Interval::at_most(0),
            Rel::Lt => Interval { lo: None, hi: Some(End::open(0)) },
            _ => Interval::point(Rat::ZERO),
        };
        let mut sides = Vec::with_capacity(c.expr.terms().len());
        for (d, a) in c.expr.terms() {
            let others = c.expr.terms().iter().filter(|t| t.0 != *d);
            let others = self.sum(others, Interval::point(c.expr.constant_term().clone()));
            sides.push((*d, allowed.sub(&others).scale(&a.recip())));
        }
        for (d, i) in sides {
            if self.is_bottom() {
                return;
            }
            if !i.is_top() && !self.interval_of(d).leq(&i) {
                self.map_factor(d, |s, v, f| {
                    let side = s.ldd.interval(v, &to_dd(&i))?;
                    s.ldd.and(f, side)
                });
            }
        }
    }

    /// Assumes a bound on one dimension without looking for independent dimensions in the result.
    pub(crate) fn assume_tied(&mut self, c: &LinCons) {
        let Some(d) = c.expr.dims().next() else { return };
        if !self.is_tied(d) {
            return self.assume(c);
        }
        let f = self.rest.node();
        if let Ok(root) = self.shared().op(|s| assume(s, f, c)) {
            self.tied = self.shared().with(|s| s.dims_of(root.node())).into();
            self.rest = root;
        }
    }
}

impl<P: Policy> NumericDomain for OnLdd<P> {
    type Ctx = LddCtx;

    fn top(ctx: &LddCtx) -> Self {
        OnLdd::constant(&ctx.0, Node::TRUE)
    }

    fn bottom(ctx: &LddCtx) -> Self {
        OnLdd::constant(&ctx.0, Node::FALSE)
    }

    fn ctx(&self) -> LddCtx {
        self.context()
    }

    fn support(&self) -> Vec<Dim> {
        let mut dims: Vec<Dim> = self.alone.iter().map(|(d, _)| d).chain(self.tied.iter().copied()).collect();
        dims.sort_unstable();
        dims
    }

    fn assign(&mut self, d: Dim, e: &LinExpr) {
        self.spent = 0;
        if !self.is_bottom() && self.attempt(|x| x.try_assign(d, e)).is_err() {
            self.alone.remove(d);
        }
    }

    fn assign_interval(&mut self, d: Dim, range: &Interval) {
        self.spent = 0;
        if !self.is_bottom() {
            self.drop_dim(d);
            self.set_interval(d, &range.tighten_for(d));
        }
    }

    fn assume(&mut self, c: &LinCons) {
        self.spent = 0;
        let c = c.normalize();
        match c.truth() {
            _ if self.is_bottom() => return,
            Some(true) => return,
            Some(false) => return self.make_bottom(),
            None if matches!(c.rel, Rel::Mod(_)) => return,
            None => {}
        }
        // A constraint that cannot be expressed within the limits is left out.
        let _ = self.attempt(|x| x.try_assume(&c));
    }

    fn forget(&mut self, dims: &[Dim]) {
        self.spent = 0;
        if self.is_bottom() {
            return;
        }
        self.free_tied(dims);
        dims.iter().for_each(|d| self.alone.remove(*d));
    }

    fn rename(&mut self, map: &[(Dim, Dim)]) {
        self.spent = 0;
        if self.is_bottom() {
            return;
        }
        let mut next = self.clone();
        for (from, to) in map {
            next.alone.remove(*from);
            next.alone.remove(*to);
        }
        if map.iter().any(|(from, to)| self.is_tied(*from) || self.is_tied(*to)) {
            let f = self.rest.node();
            let renamed = next.set_rest(|s| {
                let pairs: Outcome<Vec<(Var, Var)>> =
                    map.iter().map(|(from, to)| Ok((s.var(*from)?, s.var(*to)?))).collect();
                s.ldd.rename(f, &pairs?)
            });
            if renamed.is_err() {
                self.collapse();
                return self.rename(map);
            }
        }
        for (from, to) in map {
            if let Some(f) = self.alone.get(*from) {
                let node = f.root.node();
                next.map_factor(*to, |s, to, _| {
                    let from = s.var(*from)?;
                    s.ldd.rename(node, &[(from, to)])
                });
            }
        }
        *self = next;
    }

    fn bounds(&self, e: &LinExpr) -> Interval {
        if self.is_bottom() {
            return Interval::EMPTY;
        }
        let (tied, alone): (Vec<_>, Vec<_>) = e.terms().iter().cloned().partition(|(d, _)| self.is_tied(*d));
        let mut sum = self.sum(alone.iter(), Interval::point(e.constant_term().clone()));
        if !tied.is_empty() {
            let range = self.shared().with(|s| {
                let terms = s.terms(&tied)?;
                s.ldd.range(self.rest.node(), &terms)
            });
            // The set is not empty; what is not known in time is unbounded.
            sum = sum.add(&range.ok().flatten().map_or(Interval::TOP, |i| from_dd(&i)));
        }
        if e.is_integral() { sum.tighten_int() } else { sum }
    }

    fn to_constraints(&self) -> Vec<Vec<LinCons>> {
        if self.is_bottom() {
            return Vec::new();
        }
        let constraints = |sides: &[(Dim, Interval)]| -> Vec<LinCons> {
            sides.iter().flat_map(|(d, i)| i.constraints_on(&LinExpr::dim(*d))).collect()
        };
        let unions: Vec<_> =
            self.alone.iter().filter(|(_, f)| !f.single).map(|(_, f)| f.root.clone()).collect();
        let written = self.size().1 <= Int::from(MAX_DISJUNCTS);
        let f = self.rest.node();
        let Some(all) = written.then(|| self.shared().op(|s| s.meet_all(f, &unions)).ok()).flatten() else {
            return vec![constraints(&self.sides())];
        };
        let single: Vec<(Dim, Interval)> =
            self.alone.iter().filter(|(_, f)| f.single).map(|(d, f)| (d, f.hull.clone())).collect();
        self.shared().with(|s| {
            let boxes = s.ldd.boxes(all.node());
            boxes
                .map(|b| {
                    let mut sides = single.clone();
                    sides.extend(b.iter().map(|(v, i)| (s.dim(*v), from_dd(i))));
                    sides.sort_by_key(|side| side.0);
                    constraints(&sides)
                })
                .collect()
        })
    }

    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool {
        let roots = self.alone.iter().map(|(_, f)| f.root.node()).chain([self.rest.node()]);
        self.shared().with(|s| {
            roots.into_iter().all(|root| {
                let mut n = root;
                while let Some((v, cut, high, low)) = s.ldd.decision(n) {
                    n = if cut.admits(&state(s.dim(v))) { high } else { low };
                }
                n == Node::TRUE
            })
        })
    }

    fn widen_with_thresholds(&mut self, next: &Self, thresholds: &Thresholds) -> bool {
        self.widen(next, thresholds)
    }

    fn wrap(&mut self, d: Dim, ty: MachineInt) {
        self.spent = 0;
        if self.is_bottom() {
            return;
        }
        if !d.is_int() {
            return wrap_by_periods(self, d, ty, 2);
        }
        let range = self.interval_of(d);
        if range.leq(&ty.range()) {
            return;
        }
        if self.attempt(|x| x.try_wrap(d, ty)).is_err() {
            self.drop_dim(d);
            self.set_interval(d, &ty.range());
        }
    }

    fn is_top(&self) -> bool {
        self.rest.node() == Node::TRUE && self.alone.iter().next().is_none()
    }
}
