//! A domain that is chosen at run time.
//!
//! [`NumericDomain`] is made for static use: contexts and binary operations know their type. A
//! client with a dozen domains would be compiled a dozen times. [`Dynamic`] hides the domain behind
//! a table of functions, so that such a client is compiled once and the choice is a value. The price
//! is a virtual call and an allocation per element, small beside the operations themselves.

use crate::dim::Dim;
use crate::expr::Tree;
use crate::interval::Interval;
use crate::lattice::Lattice;
use crate::linear::{LinCons, LinExpr};
use crate::machine::MachineInt;
use crate::numeric::{NumericDomain, Thresholds};
use palisade_num::Rat;
use std::any::Any;
use std::fmt;
use std::rc::Rc;

/// The context of a domain that is chosen at run time.
#[derive(Clone)]
pub struct DynamicCtx(Rc<dyn Context>);

impl DynamicCtx {
    /// The context of a particular domain.
    pub fn of<D: NumericDomain + 'static>(ctx: D::Ctx) -> DynamicCtx
    where
        D::Ctx: 'static,
    {
        DynamicCtx(Rc::new(ContextOf::<D>(ctx)))
    }
}

impl fmt::Debug for DynamicCtx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DynamicCtx")
    }
}

/// An element of a domain that is chosen at run time.
///
/// ```
/// use palisade_domains::{Dim, Dynamic, DynamicCtx, Intervals, LinExpr, NumericDomain};
/// use palisade_num::Rat;
///
/// let mut element = Dynamic::top(&DynamicCtx::of::<Intervals>(()));
/// element.assign(Dim::int(0), &LinExpr::constant(Rat::from(7)));
/// assert_eq!(element.bounds_of(Dim::int(0)).as_point(), Some(&Rat::from(7)));
/// ```
pub struct Dynamic(Box<dyn Element>);

impl Dynamic {
    /// An element of a particular domain.
    pub fn of<D: NumericDomain + 'static>(element: D) -> Dynamic
    where
        D::Ctx: 'static,
    {
        Dynamic(Box::new(element))
    }

    /// The element inside, if it is one of this domain.
    pub fn get<D: 'static>(&self) -> Option<&D> {
        self.0.any().downcast_ref()
    }
}

/// [`NumericDomain::top`] and [`NumericDomain::bottom`] as methods.
trait Context {
    fn top(&self) -> Dynamic;
    fn bottom(&self) -> Dynamic;
}

struct ContextOf<D: NumericDomain>(D::Ctx);

impl<D: NumericDomain + 'static> Context for ContextOf<D>
where
    D::Ctx: 'static,
{
    fn top(&self) -> Dynamic {
        Dynamic(Box::new(D::top(&self.0)))
    }
    fn bottom(&self) -> Dynamic {
        Dynamic(Box::new(D::bottom(&self.0)))
    }
}

/// What a [`Dynamic`] asks of the element inside: the methods of [`Lattice`] and [`NumericDomain`],
/// the provided ones too, for a domain may have its own.
trait Element {
    fn any(&self) -> &dyn Any;
    fn boxed(&self) -> Dynamic;
    fn context(&self) -> DynamicCtx;
    fn debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    fn is_bottom(&self) -> bool;
    fn leq(&self, other: &Dynamic) -> bool;
    fn join_with(&mut self, other: &Dynamic) -> bool;
    fn meet_with(&mut self, other: &Dynamic);
    fn widen_with(&mut self, next: &Dynamic) -> bool;
    fn narrow_with(&mut self, next: &Dynamic);
    fn equiv(&self, other: &Dynamic) -> bool;
    fn support(&self) -> Vec<Dim>;
    fn assign(&mut self, d: Dim, e: &LinExpr);
    fn assume(&mut self, c: &LinCons);
    fn forget(&mut self, dims: &[Dim]);
    fn rename(&mut self, map: &[(Dim, Dim)]);
    fn bounds(&self, e: &LinExpr) -> Interval;
    fn to_constraints(&self) -> Vec<Vec<LinCons>>;
    fn contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool;
    fn widen_with_thresholds(&mut self, next: &Dynamic, thresholds: &Thresholds) -> bool;
    fn assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]);
    fn assign_interval(&mut self, d: Dim, range: &Interval);
    fn expand(&mut self, original: Dim, copy: Dim);
    fn wrap(&mut self, d: Dim, ty: MachineInt);
    fn assign_tree(&mut self, d: Dim, e: &Tree);
    fn assume_tree(&mut self, e: &Tree, truth: bool);
    fn bounds_of(&self, d: Dim) -> Interval;
    fn entails(&self, c: &LinCons) -> bool;
    fn constraints_on(&self, dims: &[Dim]) -> Vec<LinCons>;
    fn certificate(&self) -> Option<Vec<u64>>;
    fn is_top(&self) -> bool;
    fn display_with(&self, name: &dyn Fn(Dim) -> String) -> String;
}

/// The other operand of a binary operation.
///
/// # Panics
/// If it is of another domain: elements that meet in one operation come from the same context.
fn same<D: 'static>(other: &Dynamic) -> &D {
    other.0.any().downcast_ref().expect("elements of one context are of one domain")
}

/// Forwards methods to the implementation of the domain inside.
macro_rules! forward {
    ($($name:ident(&self $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?;)*
     @mut $($mname:ident(&mut self $(, $marg:ident: $mty:ty)*);)*) => {
        $(fn $name(&self $(, $arg: $ty)*) $(-> $ret)? { NumericDomain::$name(self $(, $arg)*) })*
        $(fn $mname(&mut self $(, $marg: $mty)*) { NumericDomain::$mname(self $(, $marg)*) })*
    };
}

impl<D: NumericDomain + 'static> Element for D
where
    D::Ctx: 'static,
{
    fn any(&self) -> &dyn Any {
        self
    }
    fn boxed(&self) -> Dynamic {
        Dynamic(Box::new(self.clone()))
    }
    fn context(&self) -> DynamicCtx {
        DynamicCtx::of::<D>(self.ctx())
    }
    fn debug(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
    fn is_bottom(&self) -> bool {
        Lattice::is_bottom(self)
    }
    fn leq(&self, other: &Dynamic) -> bool {
        Lattice::leq(self, same(other))
    }
    fn join_with(&mut self, other: &Dynamic) -> bool {
        Lattice::join_with(self, same(other))
    }
    fn meet_with(&mut self, other: &Dynamic) {
        Lattice::meet_with(self, same(other));
    }
    fn widen_with(&mut self, next: &Dynamic) -> bool {
        Lattice::widen_with(self, same(next))
    }
    fn narrow_with(&mut self, next: &Dynamic) {
        Lattice::narrow_with(self, same(next));
    }
    fn equiv(&self, other: &Dynamic) -> bool {
        Lattice::equiv(self, same(other))
    }
    fn widen_with_thresholds(&mut self, next: &Dynamic, thresholds: &Thresholds) -> bool {
        NumericDomain::widen_with_thresholds(self, same(next), thresholds)
    }
    forward! {
        support(&self) -> Vec<Dim>;
        bounds(&self, e: &LinExpr) -> Interval;
        to_constraints(&self) -> Vec<Vec<LinCons>>;
        contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool;
        bounds_of(&self, d: Dim) -> Interval;
        entails(&self, c: &LinCons) -> bool;
        constraints_on(&self, dims: &[Dim]) -> Vec<LinCons>;
        certificate(&self) -> Option<Vec<u64>>;
        is_top(&self) -> bool;
        display_with(&self, name: &dyn Fn(Dim) -> String) -> String;
        @mut
        assign(&mut self, d: Dim, e: &LinExpr);
        assume(&mut self, c: &LinCons);
        forget(&mut self, dims: &[Dim]);
        rename(&mut self, map: &[(Dim, Dim)]);
        assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]);
        assign_interval(&mut self, d: Dim, range: &Interval);
        expand(&mut self, original: Dim, copy: Dim);
        wrap(&mut self, d: Dim, ty: MachineInt);
        assign_tree(&mut self, d: Dim, e: &Tree);
        assume_tree(&mut self, e: &Tree, truth: bool);
    }
}

impl Clone for Dynamic {
    fn clone(&self) -> Dynamic {
        self.0.boxed()
    }
}

impl fmt::Debug for Dynamic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.debug(f)
    }
}

impl Lattice for Dynamic {
    fn is_bottom(&self) -> bool {
        self.0.is_bottom()
    }
    fn leq(&self, other: &Dynamic) -> bool {
        self.0.leq(other)
    }
    fn join_with(&mut self, other: &Dynamic) -> bool {
        self.0.join_with(other)
    }
    fn meet_with(&mut self, other: &Dynamic) {
        self.0.meet_with(other);
    }
    fn widen_with(&mut self, next: &Dynamic) -> bool {
        self.0.widen_with(next)
    }
    fn narrow_with(&mut self, next: &Dynamic) {
        self.0.narrow_with(next);
    }
    fn equiv(&self, other: &Dynamic) -> bool {
        self.0.equiv(other)
    }
}

/// Forwards methods to the element in the box.
macro_rules! unbox {
    ($($name:ident(&self $(, $arg:ident: $ty:ty)*) $(-> $ret:ty)?;)*
     @mut $($mname:ident(&mut self $(, $marg:ident: $mty:ty)*) $(-> $mret:ty)?;)*) => {
        $(fn $name(&self $(, $arg: $ty)*) $(-> $ret)? { self.0.$name($($arg),*) })*
        $(fn $mname(&mut self $(, $marg: $mty)*) $(-> $mret)? { self.0.$mname($($marg),*) })*
    };
}

impl NumericDomain for Dynamic {
    type Ctx = DynamicCtx;

    fn top(ctx: &DynamicCtx) -> Dynamic {
        ctx.0.top()
    }
    fn bottom(ctx: &DynamicCtx) -> Dynamic {
        ctx.0.bottom()
    }
    fn ctx(&self) -> DynamicCtx {
        self.0.context()
    }
    unbox! {
        support(&self) -> Vec<Dim>;
        bounds(&self, e: &LinExpr) -> Interval;
        to_constraints(&self) -> Vec<Vec<LinCons>>;
        contains(&self, state: &dyn Fn(Dim) -> Rat) -> bool;
        bounds_of(&self, d: Dim) -> Interval;
        entails(&self, c: &LinCons) -> bool;
        constraints_on(&self, dims: &[Dim]) -> Vec<LinCons>;
        certificate(&self) -> Option<Vec<u64>>;
        is_top(&self) -> bool;
        display_with(&self, name: &dyn Fn(Dim) -> String) -> String;
        @mut
        assign(&mut self, d: Dim, e: &LinExpr);
        assume(&mut self, c: &LinCons);
        forget(&mut self, dims: &[Dim]);
        rename(&mut self, map: &[(Dim, Dim)]);
        widen_with_thresholds(&mut self, next: &Dynamic, thresholds: &Thresholds) -> bool;
        assign_parallel(&mut self, assignments: &[(Dim, LinExpr)]);
        assign_interval(&mut self, d: Dim, range: &Interval);
        expand(&mut self, original: Dim, copy: Dim);
        wrap(&mut self, d: Dim, ty: MachineInt);
        assign_tree(&mut self, d: Dim, e: &Tree);
        assume_tree(&mut self, e: &Tree, truth: bool);
    }
}
