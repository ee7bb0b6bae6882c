//! Operands whose order matters, evaluated in every order that C leaves open.
//!
//! Operands that do not interfere ([`crate::order`]) are evaluated from left to right. Otherwise
//! the model chooses: an operand without effects is evaluated before or after the other one, and
//! two operands with effects are lowered twice, once for each order. Where both change one variable
//! with no sequence point between, the behaviour is undefined and is not followed.

use crate::Lowerer;
use crate::order::{Footprint, Footprints, Known};
use crate::scan::Traits;
use palisade_base::Span;
use palisade_c_types::tast::*;
use palisade_cfa::*;
use smallvec::SmallVec;

/// Operands inside one another that are lowered more than once.
const MAX_DEPTH: usize = 2;
/// Arguments that interfere with one another and are evaluated in all orders.
const MAX_PERMUTED: usize = 3;

/// Whether the order of two evaluations matters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// It does not.
    Free,
    /// It does, and any is right.
    Open,
    /// It does, and cannot be followed.
    Lost,
    /// Both touch one variable and one writes it.
    Undefined,
}

impl Lowerer<'_> {
    fn with_known<T>(&self, work: impl FnOnce(&Footprints, Known) -> T) -> T {
        let real = |f: FnId| {
            let f = self.real_function(f);
            self.library.instead.get(&f).copied().unwrap_or(f)
        };
        let known = Known {
            typed: self.typed,
            names: self.names,
            contracts: self.contracts,
            scan: &self.scan,
            real: &real,
        };
        let local = [CheckKind::Assertion, CheckKind::ForbiddenCall, CheckKind::Observer];
        let checks = CheckKind::ALL.iter().any(|k| self.options.checks.contains(*k) && !local.contains(k));
        work(self.footprints.get_or_init(|| Footprints::new(known, checks)), known)
    }

    fn footprint(&self, e: TExprId) -> Footprint {
        self.with_known(|footprints, known| footprints.of(known, e))
    }

    /// Whether the order of two operands matters.
    pub(crate) fn order(&self, a: TExprId, b: TExprId) -> Order {
        let effect = |e: TExprId| self.traits(e).has(Traits::EFFECT);
        let constant = |e: TExprId| {
            matches!(self.kind(e), TExprKind::Int(_) | TExprKind::Float(_) | TExprKind::FuncAddr(_))
        };
        if !(effect(a) || effect(b)) || constant(a) || constant(b) {
            return Order::Free;
        }
        self.order_of(&self.footprint(a), &self.footprint(b))
    }

    fn order_of(&self, a: &Footprint, b: &Footprint) -> Order {
        if a.collides(b) {
            Order::Undefined
        } else if !a.interferes(b) {
            Order::Free
        } else if a.once || b.once || self.at.orders >= MAX_DEPTH {
            Order::Lost
        } else {
            Order::Open
        }
    }

    /// The operands of a binary expression.
    pub(crate) fn operands(&self, e: TExprId) -> Option<(TExprId, TExprId)> {
        match *self.kind(e) {
            TExprKind::Binary { lhs, rhs, .. }
            | TExprKind::Compare { lhs, rhs, .. }
            | TExprKind::PtrDiff { lhs, rhs, .. }
            | TExprKind::PtrAdd { ptr: lhs, index: rhs, .. } => Some((lhs, rhs)),
            _ => None,
        }
    }

    /// The values of two scalar operands whose order matters, in any order.
    pub(crate) fn either_order(&mut self, lhs: TExprId, rhs: TExprId, span: Span) -> (ExprId, ExprId) {
        match self.order(lhs, rhs) {
            Order::Open => {}
            order => {
                self.report(order, span);
                let left = self.value(lhs);
                let left = self.save(left, span);
                return (left, self.value(rhs));
            }
        }
        let effect = |e: TExprId| self.traits(e).has(Traits::EFFECT);
        match (effect(lhs), effect(rhs)) {
            (false, _) => self.around(lhs, rhs, false, span),
            (_, false) => {
                let (right, left) = self.around(rhs, lhs, true, span);
                (left, right)
            }
            _ => {
                let places = [lhs, rhs].map(|e| self.operand_temp(e));
                self.permuted(&[lhs, rhs], &places, span);
                (self.pool.load(places[0]), self.pool.load(places[1]))
            }
        }
    }

    fn operand_temp(&mut self, e: TExprId) -> PlaceId {
        let ty = self.scalar_of(e).unwrap_or(Scalar::Int(IntTy::I32));
        let var = self.scalar_temp(ty);
        self.pool.var(var)
    }

    /// Evaluates an operand without effects before or after one with effects; before, if the choice
    /// is `before`.
    fn around(&mut self, pure: TExprId, other: TExprId, before: bool, span: Span) -> (ExprId, ExprId) {
        let choice = self.havoc(Scalar::BOOL, false, span);
        let place = self.operand_temp(pure);
        let evaluate = |this: &mut Self| {
            let value = this.value(pure);
            this.assign(place, value, span);
        };
        self.when(choice, before, span, evaluate);
        let value = self.value(other);
        let value = self.save(value, span);
        self.when(choice, !before, span, evaluate);
        (self.pool.load(place), value)
    }

    /// Does something only if a truth value is as wanted.
    fn when(&mut self, choice: ExprId, wanted: bool, span: Span, work: impl FnOnce(&mut Self)) {
        let (inside, join) = (self.at.graph.node(span), self.at.graph.node(span));
        if wanted {
            self.split(choice, inside, join, span);
        } else {
            self.split(choice, join, inside, span);
        }
        self.at.graph.move_to(Some(inside));
        work(self);
        self.at.graph.enter(join);
    }

    /// Evaluates scalar operands in all orders and stores their values.
    fn permuted(&mut self, operands: &[TExprId], places: &[PlaceId], span: Span) {
        self.at.orders += 1;
        let join = self.at.graph.node(span);
        let orders = permutations(operands.len());
        for (i, order) in orders.iter().enumerate() {
            let next = self.at.graph.node(span);
            if i + 1 < orders.len() {
                let choice = self.havoc(Scalar::BOOL, false, span);
                let this = self.at.graph.node(span);
                // Unless something else is chosen, operands are evaluated from left to right.
                self.split(choice, next, this, span);
                self.at.graph.move_to(Some(this));
            }
            for &k in order {
                let value = self.value(operands[k]);
                self.assign(places[k], value, span);
            }
            self.at.graph.jump(join);
            self.at.graph.move_to(Some(next));
        }
        self.at.graph.move_to(Some(join));
        self.at.orders -= 1;
    }

    /// Arguments of a call some of which interfere; `None` if they can be evaluated from left to
    /// right.
    pub(crate) fn open_arguments(&mut self, args: &[TExprId]) -> Option<Vec<Arg>> {
        let effect = |e: TExprId| self.traits(e).has(Traits::EFFECT);
        if args.len() < 2 || !args.iter().any(|&a| effect(a)) {
            return None;
        }
        let span = self.span(args[0]);
        let mut hot = vec![false; args.len()];
        let mut worst = Order::Free;
        for i in 0..args.len() {
            for j in i + 1..args.len() {
                let order = self.order(args[i], args[j]);
                if order != Order::Free {
                    hot[i] = true;
                    hot[j] = true;
                    worst = match (worst, order) {
                        (Order::Undefined, _) | (_, Order::Undefined) => Order::Undefined,
                        (Order::Lost, _) | (_, Order::Lost) => Order::Lost,
                        _ => Order::Open,
                    };
                }
            }
        }
        let chosen: Vec<TExprId> = (0..args.len()).filter(|&i| hot[i]).map(|i| args[i]).collect();
        if worst == Order::Open
            && (chosen.len() > MAX_PERMUTED || args.iter().any(|&a| self.scalar_of(a).is_none()))
        {
            worst = Order::Lost;
        }
        match worst {
            Order::Free => return None,
            Order::Open => {}
            order => {
                self.report(order, span);
                return None;
            }
        }
        let places: Vec<PlaceId> = args.iter().map(|&a| self.operand_temp(a)).collect();
        for (i, &arg) in args.iter().enumerate().filter(|(i, _)| !hot[*i]) {
            let value = self.value(arg);
            self.assign(places[i], value, span);
        }
        let chosen_places: Vec<PlaceId> = (0..args.len()).filter(|&i| hot[i]).map(|i| places[i]).collect();
        self.permuted(&chosen, &chosen_places, span);
        Some(places.into_iter().map(|p| Arg::Scalar(self.pool.load(p))).collect())
    }

    /// The order of an lvalue, whose old value may be read too, and a value that is stored there.
    pub(crate) fn store_order(&self, lhs: TExprId, rhs: TExprId, reads: bool) -> Order {
        let effect = |e: TExprId| self.traits(e).has(Traits::EFFECT);
        if !(effect(lhs) || effect(rhs)) {
            return Order::Free;
        }
        let right = self.footprint(rhs);
        let mut left = self.with_known(|footprints, known| footprints.of_lvalue(known, lhs));
        if reads {
            self.with_known(|_, known| left.read(known, lhs));
        }
        // The store comes after the value, but not after changes that the value makes itself.
        if let TExprKind::Object(obj) = *self.kind(lhs)
            && self.scalar_of(lhs).is_some()
            && right.writes_itself(obj)
            && self.changes_unsequenced(rhs)
        {
            return Order::Undefined;
        }
        match self.order_of(&left, &right) {
            Order::Open if effect(lhs) => Order::Lost,
            order => order,
        }
    }

    /// Whether changes in an expression are not followed by a sequence point before its value is used.
    fn changes_unsequenced(&self, e: TExprId) -> bool {
        match *self.kind(e) {
            TExprKind::IncDec { .. } | TExprKind::Assign { .. } | TExprKind::CompoundAssign { .. } => true,
            TExprKind::Convert(a) | TExprKind::Neg(a) | TExprKind::BitNot(a) => self.changes_unsequenced(a),
            _ => match self.operands(e) {
                Some((a, b)) => self.changes_unsequenced(a) || self.changes_unsequenced(b),
                None => false,
            },
        }
    }

    /// An lvalue without effects that is found before or after a value with effects, with its old
    /// contents if these are wanted.
    pub(crate) fn place_around(
        &mut self,
        lhs: TExprId,
        rhs: TExprId,
        reads: bool,
        span: Span,
    ) -> (PlaceId, Option<ExprId>, ExprId) {
        let choice = self.havoc(Scalar::BOOL, false, span);
        let mut temps: SmallVec<[PlaceId; 4]> = SmallVec::new();
        let mut place = None;
        let mut value = None;
        for before in [true, false] {
            let mut found = None;
            let mut taken = std::mem::take(&mut temps);
            self.when(choice, before, span, |this| {
                let at = this.place(lhs);
                let mut parts = this.parts(at);
                if reads {
                    this.check_read(at, span);
                    parts.push(this.pool.load(at));
                }
                for (i, &part) in parts.iter().enumerate() {
                    if taken.len() <= i {
                        let var = this.scalar_temp(this.pool.ty(part));
                        taken.push(this.pool.var(var));
                    }
                    this.assign(taken[i], part, span);
                }
                found = Some(at);
            });
            temps = taken;
            place = found;
            if before {
                let v = self.value(rhs);
                value = Some(self.save(v, span));
            }
        }
        let (Some(place), Some(value)) = (place, value) else { unreachable!("both ways were taken") };
        let loads: Vec<ExprId> = temps.iter().map(|&t| self.pool.load(t)).collect();
        let old = if reads { loads.last().copied() } else { None };
        (self.with_parts(place, &loads), old, value)
    }

    /// The expressions that a place is made of.
    fn parts(&self, place: PlaceId) -> SmallVec<[ExprId; 4]> {
        let place = &self.pool.program.places[place];
        let mut parts = SmallVec::new();
        if let Base::Deref(ptr) = place.base {
            parts.push(ptr);
        }
        for step in &place.path {
            if let Proj::Index { index, .. } = *step {
                parts.push(index);
            }
        }
        parts
    }

    /// A place made of other expressions.
    fn with_parts(&mut self, place: PlaceId, parts: &[ExprId]) -> PlaceId {
        let mut place = self.pool.program.places[place].clone();
        let mut parts = parts.iter();
        let mut replace = |e: &mut ExprId| *e = *parts.next().unwrap_or(e);
        if let Base::Deref(ptr) = &mut place.base {
            replace(ptr);
        }
        for step in &mut place.path {
            if let Proj::Index { index, .. } = step {
                replace(index);
            }
        }
        self.pool.place(place)
    }

    /// Says of operands that their order cannot be followed.
    pub(crate) fn report(&mut self, order: Order, span: Span) {
        match order {
            Order::Free | Order::Open => {}
            Order::Lost => self.call_effect(Effect::Unordered, span),
            Order::Undefined => self.call_effect(Effect::Unmodelled, span),
        }
    }
}

/// All orders of the numbers below `n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for k in 0..n {
        all = all
            .iter()
            .flat_map(|order: &Vec<usize>| {
                (0..=order.len()).rev().map(|i| {
                    let mut more = order.clone();
                    more.insert(i, k);
                    more
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_orders_are_there_once_and_the_usual_one_first() {
        let mut all = super::permutations(3);
        assert_eq!(all[0], [0, 1, 2]);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 6);
    }
}
