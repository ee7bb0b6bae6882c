//! Elements of a domain that is chosen at run time, made from one at hand.
//!
//! Section 3 asks of a domain: join, meet, and μα̃ of a literal. The algorithms of this crate work on
//! [`Dynamic`] elements, so that they are compiled once and a new domain costs them nothing.

use palisade_domains::{Dim, Dynamic, LinCons, LinExpr, NumericDomain};
use palisade_num::Int;

/// ⊤ of the domain of an element.
pub fn top(like: &Dynamic) -> Dynamic {
    Dynamic::top(&like.ctx())
}

/// ⊥ of the domain of an element.
pub fn bottom(like: &Dynamic) -> Dynamic {
    Dynamic::bottom(&like.ctx())
}

/// β: the element of the domain of another that stands for one state.
pub fn point(like: &Dynamic, state: &[(Dim, Int)]) -> Dynamic {
    let mut out = top(like);
    for (d, v) in state {
        out.assume(&LinCons::eq(*d, LinExpr::constant(v.clone())));
    }
    out
}
