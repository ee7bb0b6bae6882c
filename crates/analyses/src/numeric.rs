//! Numeric analysis over any domain of the library: what is known about the integer cells of a
//! program, as mathematical integers; machine arithmetic enters as wrap. The domain is a value
//! ([`Dynamic`]), so that the analysis is compiled once for all of them.

use crate::cells::Located;
use crate::effects::{Effect, Effects, Source};
use crate::live::Liveness;
use crate::thresholds::groups;
use crate::trees::{self, integer, machine};
use palisade_cfa::wto::Graph;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_domains::{
    self as num, Dim, Dynamic, DynamicCtx, Lattice, LinCons, LinExpr, NumericDomain, Tree,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// An element of a numeric domain, shared between states.
#[derive(Clone, Debug)]
pub struct Element(Rc<Dynamic>);

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.equiv(&other.0)
    }
}

impl Element {
    /// The element of the domain.
    pub fn get(&self) -> &Dynamic {
        &self.0
    }
}

/// How states are merged.
#[derive(Clone, Debug)]
pub enum NumericMerge {
    /// Never: one state for each path.
    Separate,
    /// Joined where control flow meets; widened at loop heads and recursive functions after this
    /// many joins there.
    Widening {
        /// Joins before the first widening at a location.
        delay: u32,
        /// Where widening tries to stop.
        thresholds: num::Thresholds,
    },
}

/// The numeric analysis.
pub struct Numeric<'p> {
    program: &'p Program,
    effects: Effects<'p>,
    context: DynamicCtx,
    merge: NumericMerge,
    /// Locations on every cycle: loop heads, entries and exits of recursive functions.
    widening_points: Vec<bool>,
    trees: FxHashMap<ExprId, Rc<Tree>>,
    /// What is not live is forgotten after its last use.
    live: Option<Liveness<'p>>,
}

impl<'p> Numeric<'p> {
    /// An analysis with the elements of a context.
    pub fn new(program: &'p Program, graph: &Graph, context: DynamicCtx, merge: NumericMerge) -> Self {
        let effects = Effects::new(program);
        let mut widening_points: Vec<bool> = program.locs.ids().map(|l| graph.is_loop_head(l)).collect();
        for (f, func) in program.funcs.iter_enumerated() {
            if let (true, Some(body)) = (effects.is_recursive(f), &func.body) {
                widening_points[body.entry.0 as usize] = true;
                widening_points[body.exit.0 as usize] = true;
            }
        }
        Numeric { program, effects, context, merge, widening_points, trees: FxHashMap::default(), live: None }
    }

    /// The same that knows nothing about variables from their last use on: what has fewer dimensions is faster.
    #[must_use]
    pub fn forgetting(self, live: Liveness<'p>) -> Self {
        Numeric { live: Some(live), ..self }
    }

    /// The same in which the widening of a variable stops only at constants that it meets.
    #[must_use]
    pub fn stopping_where_variables_meet(mut self) -> Self {
        if let NumericMerge::Widening { thresholds, .. } = &mut self.merge {
            for (vars, values) in groups(self.program) {
                let slots = vars.iter().flat_map(|v| self.effects.cells.of_var(*v));
                thresholds.narrow_down(slots.map(Dim::int), values);
            }
        }
        self
    }

    /// Globals have their initial values; everything else is unknown.
    pub fn initial(&self) -> Element {
        let mut d = Dynamic::top(&self.context);
        for (slot, bits) in self.effects.initial() {
            if let Some(Scalar::Int(t)) = self.effects.cells.scalar_type(self.program, slot) {
                let value = LinExpr::constant(palisade_num::Rat::from(integer(t, bits)));
                d.assign(Dim::int(slot), &value);
            }
        }
        Element(Rc::new(d))
    }

    /// The integers in these variables are of their types; nothing else is known.
    pub fn any_of_types(&self, vars: &[VarId]) -> Element {
        let mut d = Dynamic::top(&self.context);
        for slot in vars.iter().flat_map(|v| self.effects.cells.of_var(*v)) {
            self.forget(&mut d, slot);
        }
        Element(Rc::new(d))
    }

    /// The variable that the cell of a dimension is in.
    pub fn var_of(&self, dim: Dim) -> Option<VarId> {
        self.effects.cells.info(dim.index()).map(|c| c.var)
    }

    /// No knowledge.
    pub fn top(&self) -> Element {
        Element(Rc::new(Dynamic::top(&self.context)))
    }

    /// The dimension of a scalar integer variable.
    pub fn dim(&self, var: VarId) -> Option<Dim> {
        let slot = self.effects.cells.scalar(var)?;
        self.int_type(slot).map(|_| Dim::int(slot))
    }

    /// The integers in a variable that have an address: dimension, first byte, and type.
    pub fn integers_of(&self, var: VarId) -> impl Iterator<Item = (Dim, u64, IntTy)> {
        let cells = &self.effects.cells;
        cells.of_var(var).filter_map(move |slot| {
            let info = cells.info(slot)?;
            let ty = info.scalar.int().filter(|_| info.bit.is_multiple_of(8))?;
            Some((Dim::int(slot), u64::from(info.bit / 8), ty))
        })
    }

    /// The type of a scalar integer variable.
    pub fn int_type_of(&self, var: VarId) -> Option<IntTy> {
        self.int_type(self.effects.cells.scalar(var)?)
    }

    /// The cell a dimension stands for, as one would write it in C.
    pub fn name(&self, dim: Dim) -> String {
        self.effects.cells.name(self.program, dim.index())
    }

    fn int_type(&self, slot: u32) -> Option<IntTy> {
        self.effects.cells.scalar_type(self.program, slot)?.int()
    }

    fn forget(&self, d: &mut Dynamic, slot: u32) {
        if let Some(t) = self.int_type(slot) {
            d.assign_interval(Dim::int(slot), &machine(t).range());
        }
    }

    /// An expression as a tree over dimensions.
    fn tree(&mut self, expr: ExprId) -> Rc<Tree> {
        if let Some(tree) = self.trees.get(&expr) {
            return tree.clone();
        }
        let tree = Rc::new(trees::tree(self.program, expr, &|place, t| match self
            .effects
            .cells
            .locate(self.program, place)
        {
            Located::Cell(slot) if self.int_type(slot) == Some(t) => Some(Dim::int(slot)),
            _ => None,
        }));
        self.trees.insert(expr, tree.clone());
        tree
    }

    /// Several assignments at once, through fresh dimensions where there is more than one.
    fn assign(&mut self, d: &mut Dynamic, assigned: &[(u32, Source)]) {
        let several = assigned.len() > 1;
        let spare = self.effects.cells.len(self.program) as u32;
        let mut renamed = Vec::new();
        for (i, &(slot, source)) in (0u32..).zip(assigned) {
            let Some(t) = self.int_type(slot) else { continue };
            let to = if several { Dim::int(spare + i) } else { Dim::int(slot) };
            match source {
                Source::Zero => d.assign(to, &LinExpr::constant(palisade_num::Rat::ZERO)),
                Source::Cell(from) if self.int_type(from) == Some(t) => {
                    d.assign(to, &LinExpr::dim(Dim::int(from)));
                }
                Source::Expr(e) if self.program.exprs[e].ty == Scalar::Int(t) => {
                    let tree = self.tree(e);
                    d.assign_tree(to, &tree);
                }
                _ => d.assign_interval(to, &machine(t).range()),
            }
            if several {
                renamed.push((to, Dim::int(slot)));
            }
        }
        if several {
            d.rename(&renamed);
        }
    }

    /// The element after a step, `None` if the step is impossible.
    fn step(&mut self, d: &Dynamic, step: &Step) -> Option<Dynamic> {
        let mut d = d.clone();
        for effect in self.effects.of(step).iter() {
            match effect {
                Effect::Assume(cond, truth) => {
                    let tree = self.tree(*cond);
                    d.assume_tree(&tree, *truth);
                }
                Effect::Assign(assigned) => self.assign(&mut d, assigned),
                Effect::Forget(range) => range.clone().for_each(|slot| self.forget(&mut d, slot)),
                Effect::ForgetIn(place, range) => {
                    let narrow = self.written(&d, *place).unwrap_or(range.clone());
                    narrow.for_each(|slot| self.forget(&mut d, slot));
                }
            }
            if d.is_bottom() {
                return None;
            }
        }
        if let (StepKind::Local, Some(live)) = (step.kind, &self.live) {
            let Edge { op, dst, .. } = &self.program.edges[step.edge];
            let mut dead: Vec<Dim> = Vec::new();
            self.program.visit_op(op, &mut |used| {
                if let Use::Read(place) | Use::Write(place) = used
                    && let Base::Var(var) = self.program.places[place].base
                    && !live.is_live(*dst, var)
                {
                    dead.extend(self.dim(var));
                }
            });
            d.forget(&dead);
        }
        Some(d)
    }

    /// The cells that a place may be: those between the smallest and the largest value of its only index, if all of
    /// them lie in the variable, so that no address wraps.
    fn written(&mut self, d: &Dynamic, place: PlaceId) -> Option<std::ops::Range<u32>> {
        let (var, fixed, index, stride) = self.effects.cells.indexed(self.program, place)?;
        let spare = Dim::int(self.spare_dim());
        let tree = self.tree(index);
        let mut d = d.clone();
        d.assign_tree(spare, &tree);
        let bounds = d.bounds_of(spare).tighten_int();
        let offset = |index: &palisade_num::Int| index.to_i128()?.checked_mul(stride)?.checked_add(fixed);
        let (from, last) = (offset(bounds.min_int()?)?, offset(bounds.max_int()?)?);
        let size_of = |ty: TypeId| self.program.size_of(ty).map(i128::from);
        let to = last.checked_add(size_of(self.program.places[place].ty)?)?;
        if from < 0 || to < from || to > size_of(self.program.vars[var].ty)? {
            return None;
        }
        let [bit, end] = [from, to].map(|byte| i64::try_from(byte * 8).ok());
        Some(self.effects.cells.overlapping(var, bit?, end? - bit?))
    }

    /// Keeps the states of an element in which a truth value is `truth`.
    pub(crate) fn assume_into(&mut self, d: &mut Dynamic, cond: ExprId, truth: bool) {
        let tree = self.tree(cond);
        d.assume_tree(&tree, truth);
    }

    /// Keeps the states in which a dimension has the value that is assigned to a cell.
    pub(crate) fn assume_equal(&mut self, d: &mut Dynamic, dim: Dim, slot: u32, source: Source) {
        let Some(t) = self.int_type(slot) else { return };
        let mut tree: Tree = match source {
            Source::Zero => {
                let mut tree = Tree::new();
                tree.int(palisade_num::Int::ZERO);
                tree
            }
            Source::Cell(from) if self.int_type(from) == Some(t) => {
                let mut tree = Tree::new();
                tree.dim(Dim::int(from));
                tree
            }
            Source::Expr(e) if self.program.exprs[e].ty == Scalar::Int(t) => (*self.tree(e)).clone(),
            _ => return,
        };
        // What a cell holds is of its type, which a state that came backward need not say.
        for node in tree.nodes().to_vec() {
            if let num::Node::Dim(cell) = node
                && let Some(t) = self.int_type(cell.index())
            {
                let range = machine(t);
                d.assume(&LinCons::ge(cell, LinExpr::constant(palisade_num::Rat::from(range.min()))));
                d.assume(&LinCons::le(cell, LinExpr::constant(palisade_num::Rat::from(range.max()))));
            }
        }
        let Some(root) = tree.root() else { return };
        let whole = d.clone();
        let equal = |d: &mut Dynamic, tree: &mut Tree, value: num::NodeId| {
            let cell = tree.dim(dim);
            tree.cmp(num::CmpOp::Eq, cell, value);
            d.assume_tree(tree, true);
        };
        let num::Node::Wrap(ty, inner) = *tree.node(root) else { return equal(d, &mut tree, root) };
        // Period by period the wrap is a shift; beyond the nearest ones it stays a wrap.
        let mut union: Option<Dynamic> = None;
        let mut piece = |low: Option<palisade_num::Int>, high: Option<palisade_num::Int>, k: Option<i64>| {
            let mut part = whole.clone();
            for (bound, below) in [(low, true), (high, false)] {
                let Some(bound) = bound else { continue };
                let mut limit = tree.clone();
                let bound = limit.int(bound);
                if below {
                    limit.cmp(num::CmpOp::Le, bound, inner);
                } else {
                    limit.cmp(num::CmpOp::Le, inner, bound);
                }
                part.assume_tree(&limit, true);
            }
            let mut value = tree.clone();
            let shifted = match k {
                Some(k) => {
                    let by = value.int(palisade_num::Int::from(k) * palisade_num::Int::pow2(ty.width));
                    value.bin(num::BinOp::Sub, inner, by)
                }
                None => root,
            };
            equal(&mut part, &mut value, shifted);
            if !part.is_bottom() {
                match &mut union {
                    Some(u) => {
                        u.join_with(&part);
                    }
                    None => union = Some(part),
                }
            }
        };
        let period = |k: i64| palisade_num::Int::from(k) * palisade_num::Int::pow2(ty.width);
        for k in -1..=1 {
            piece(Some(ty.min() + period(k)), Some(ty.max() + period(k)), Some(k));
        }
        piece(None, Some(ty.min() - period(1) - palisade_num::Int::ONE), None);
        piece(Some(ty.max() + period(1) + palisade_num::Int::ONE), None, None);
        match union {
            Some(u) => *d = u,
            None => d.assume(&LinCons::contradiction()),
        }
    }

    /// The first dimension that stands for no cell.
    pub(crate) fn spare_dim(&self) -> u32 {
        self.effects.cells.len(self.program) as u32
    }

    /// The type of a cell that is an integer.
    pub fn int_type_at(&self, slot: u32) -> Option<IntTy> {
        self.int_type(slot)
    }

    /// A state from an element.
    pub(crate) fn element(&self, d: Dynamic) -> Element {
        Element(Rc::new(d))
    }

    /// The linear constraints that hold in a state.
    pub fn constraints(&self, state: &Element) -> Vec<Vec<LinCons>> {
        state.0.to_constraints()
    }
}

impl AbstractDomain for Numeric<'_> {
    type State = Element;

    fn leq(&mut self, a: &Element, b: &Element) -> Result<bool, Halt> {
        Ok(Rc::ptr_eq(&a.0, &b.0) || a.0.leq(&b.0))
    }
    fn join(&mut self, a: &Element, b: &Element) -> Result<Element, Halt> {
        Ok(Element(Rc::new(a.0.join(&b.0))))
    }
    fn describe(&self, state: &Element) -> String {
        state.0.display_with(&|d| self.name(d))
    }
}

impl Cpa for Numeric<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Element) {}
    fn class(&self, _: &Element) {}
    fn digest(&mut self, _: &Element, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Element,
        (): &(),
        step: &Step,
        out: &mut Successors<Element>,
    ) -> Result<(), Halt> {
        if self.effects.of(step).is_empty() {
            out.push(state.clone());
        } else if let Some(d) = self.step(&state.0, step) {
            out.push(Element(Rc::new(d)));
        }
        Ok(())
    }

    fn merges(&self) -> bool {
        matches!(self.merge, NumericMerge::Widening { .. })
    }

    fn merge(
        &mut self,
        new: &Element,
        reached: &Element,
        cx: &MergeContext,
    ) -> Result<Option<Element>, Halt> {
        let NumericMerge::Widening { delay, thresholds } = &self.merge else { return Ok(None) };
        if new.0.leq(&reached.0) {
            return Ok(None);
        }
        let widen = cx.updates >= *delay && cx.location.is_some_and(|l| self.widening_points[l.0 as usize]);
        let mut merged = (*reached.0).clone();
        if widen {
            merged.widen_with_thresholds(&new.0, thresholds);
        } else {
            merged.join_with(&new.0);
        }
        Ok(Some(Element(Rc::new(merged))))
    }

    fn narrow(&mut self, upper: &Element, lower: &Element) -> Result<Element, Halt> {
        let mut d = (*upper.0).clone();
        d.narrow_with(&lower.0);
        Ok(Element(Rc::new(d)))
    }

    fn answer(&mut self, state: &Element, query: &mut Query<'_>) -> Result<(), Halt> {
        match query {
            Query::UniqueValue { var, answer, .. } if **answer == Unique::Unknown => {
                if let Some(slot) = self.effects.cells.scalar(*var)
                    && let Some(t) = self.int_type(slot)
                    && let Some(value) = state.0.bounds_of(Dim::int(slot)).as_point()
                    && let Some(value) = value.to_int().and_then(|i| i.to_i128())
                {
                    **answer = Unique::Value(Constant::Bits(t.truncate(value as u128)));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
