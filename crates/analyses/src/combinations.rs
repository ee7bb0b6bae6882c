//! The combinations of section 5, by name.

use crate::explicit::Explicit;
use crate::heap::ExplicitHeap;
use crate::location::Location;
use crate::observer::Observers;
use crate::predicate::Predicate;
use palisade_cpa::{Cpa, Product, ProductMerge};

/// Locations and predicates, which decide what is kept apart, with a data-flow analysis.
pub type Predicated<'p, D> = Product<Product<Location<'p>, Predicate<'p>>, D>;

/// The predicated lattice (5.1): states of the data-flow analysis are merged where the predicates
/// agree; successors are those of the direct product.
pub fn predicated_lattice<'p, D: Cpa>(
    location: Location<'p>,
    predicate: Predicate<'p>,
    data: D,
) -> Predicated<'p, D> {
    Product::new(Product::new(location, predicate), data).merging(ProductMerge::EqualLeft).direct()
}

/// Predicates and constants with strengthening (5.2): a variable for which the predicates leave
/// only one value gets it.
pub fn predicates_with_constants<'p>(
    location: Location<'p>,
    predicate: Predicate<'p>,
    constants: Explicit<'p>,
) -> Predicated<'p, Explicit<'p>> {
    Product { reduced: true, ..predicated_lattice(location, predicate, constants) }
}

/// Predicates with a component beside the location that they learn from.
pub type Informed<'p, D> = Product<Product<Location<'p>, D>, Predicate<'p>>;

/// Predicates and an explicit heap (5.3): what the heap knows about a predicate is added to the
/// predicates' state. The threshold of the heap should be small.
pub fn predicates_with_heap<'p>(
    location: Location<'p>,
    heap: ExplicitHeap<'p>,
    predicate: Predicate<'p>,
) -> Informed<'p, ExplicitHeap<'p>> {
    Product::new(Product::new(location, heap), predicate).merging(ProductMerge::Separate)
}

/// Predicates and observers with conditions (5.4): a transition whose condition contradicts the
/// predicates is not taken, and the predicates are restricted to the condition of one that is.
pub fn predicates_with_observers<'p>(
    location: Location<'p>,
    observers: Observers<'p>,
    predicate: Predicate<'p>,
) -> Informed<'p, Observers<'p>> {
    Product::new(Product::new(location, observers), predicate).merging(ProductMerge::Separate)
}
