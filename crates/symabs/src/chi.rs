//! The unsatisfiable formulas χ_d of section 5: `d` diamonds of strict inequalities, closed to a cycle.
//!
//! χ_d = (a_d < a_0) ∧ ⋀_{i<d} (a_i < b_i) ∧ (a_i < c_i) ∧ ((b_i < a_{i+1}) ∨ (c_i < a_{i+1}))

use crate::formula::Formula;
use crate::integrity::Lit;
use palisade_domains::{Dim, LinCons, LinExpr};

/// The dimensions of a_i, b_i and c_i.
pub fn points(i: u32) -> [Dim; 3] {
    [Dim::rat(3 * i), Dim::rat(3 * i + 1), Dim::rat(3 * i + 2)]
}

/// χ_d as a formula.
pub fn formula(d: u32) -> Formula {
    let mut f = Formula::new();
    let mut less = |a: Dim, b: Dim| f.linear(&LinCons::lt(a, LinExpr::dim(b)));
    let mut conjuncts: Vec<Lit> = Vec::new();
    let mut either: Vec<[Lit; 2]> = Vec::new();
    for i in 0..d {
        let ([a, b, c], [next, ..]) = (points(i), points(i + 1));
        conjuncts.extend([less(a, b), less(a, c)]);
        either.push([less(b, next), less(c, next)]);
    }
    conjuncts.push(less(points(d)[0], points(0)[0]));
    for pair in either {
        conjuncts.push(f.integrity.or(pair));
    }
    f.root = Some(f.integrity.and(conjuncts));
    f
}

/// χ_d as an SMT-LIB script.
pub fn script(d: u32) -> String {
    let mut text = String::from("(set-logic QF_LRA)\n");
    for i in 0..d {
        text += &format!("(declare-fun a{i} () Real)(declare-fun b{i} () Real)(declare-fun c{i} () Real)\n");
    }
    text += &format!("(declare-fun a{d} () Real)\n(assert (< a{d} a0))\n");
    for i in 0..d {
        let n = i + 1;
        text += &format!(
            "(assert (< a{i} b{i}))(assert (< a{i} c{i}))(assert (or (< b{i} a{n}) (< c{i} a{n})))\n"
        );
    }
    text + "(check-sat)\n"
}
