//! Random terms for tests, and the enumeration of all models over small sorts.

use crate::bitvec::BitVec;
use crate::eval::Evaluator;
use crate::solver::{Answer, Solver};
use crate::term::{Func, Sort, Term, Terms};
use crate::value::{ArrayValue, Model, Value};

/// A small deterministic generator, so that failures repeat.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    pub(crate) fn bits(&mut self, width: u32) -> BitVec {
        BitVec::from_bits(width, |_| self.next() >> 40 & 1 == 1)
    }
}

/// What random formulas are made of.
pub(crate) struct Signature {
    pub(crate) vars: Vec<Term>,
    pub(crate) funcs: Vec<Func>,
    /// Widths that intermediate terms may have.
    pub(crate) widths: Vec<u32>,
}

/// All binary operators on bit-vectors of one width.
pub(crate) const BINARY: &[fn(&mut Terms, Term, Term) -> Term] = &[
    Terms::and,
    Terms::or,
    Terms::bvxor,
    Terms::bvnand,
    Terms::bvnor,
    Terms::bvxnor,
    Terms::add,
    Terms::sub,
    Terms::mul,
    Terms::udiv,
    Terms::urem,
    Terms::sdiv,
    Terms::srem,
    Terms::smod,
    Terms::shl,
    Terms::lshr,
    Terms::ashr,
];

/// All predicates on two bit-vectors of one width.
pub(crate) const PREDICATES: &[fn(&mut Terms, Term, Term) -> Term] = &[
    Terms::eq,
    Terms::eq,
    Terms::ne,
    Terms::ult,
    Terms::ule,
    Terms::slt,
    Terms::sle,
    Terms::uaddo,
    Terms::saddo,
    Terms::umulo,
    Terms::smulo,
    Terms::usubo,
    Terms::ssubo,
    Terms::sdivo,
];

/// A random term of the sort, of about the given depth.
pub(crate) fn random_term(s: &mut Terms, g: &Signature, r: &mut Random, sort: Sort, depth: u32) -> Term {
    let leaf = depth == 0 || r.below(8) == 0;
    let candidates: Vec<Term> = g.vars.iter().copied().filter(|v| s.sort(*v) == sort).collect();
    match sort {
        Sort::Bool => {
            if leaf && !candidates.is_empty() {
                return candidates[r.below(candidates.len())];
            }
            if depth == 0 {
                return s.bool_const(r.below(2) == 0);
            }
            random_bool(s, g, r, depth - 1)
        }
        Sort::BitVec(w) => {
            if leaf {
                if candidates.is_empty() || r.below(4) == 0 {
                    let v = r.bits(w);
                    return s.bv_const(&v);
                }
                return candidates[r.below(candidates.len())];
            }
            random_bv(s, g, r, w, depth - 1)
        }
        Sort::Array { index, elem } => {
            if leaf {
                if candidates.is_empty() || r.below(5) == 0 {
                    let v = random_term(s, g, r, Sort::BitVec(elem), 0);
                    return s.const_array(index, v);
                }
                return candidates[r.below(candidates.len())];
            }
            let a = random_term(s, g, r, sort, depth - 1);
            if r.below(4) == 0 {
                let c = random_term(s, g, r, Sort::Bool, depth - 1);
                let b = random_term(s, g, r, sort, depth - 1);
                return s.ite(c, a, b);
            }
            let i = random_term(s, g, r, Sort::BitVec(index), (depth - 1).min(1));
            let v = random_term(s, g, r, Sort::BitVec(elem), depth - 1);
            s.store(a, i, v)
        }
    }
}

fn random_bool(s: &mut Terms, g: &Signature, r: &mut Random, depth: u32) -> Term {
    let array_sorts: Vec<Sort> = g.vars.iter().map(|v| s.sort(*v)).filter(|t| t.is_array()).collect();
    match r.below(12) {
        0 => {
            let a = random_term(s, g, r, Sort::Bool, depth);
            s.not(a)
        }
        n @ 1..=4 => {
            let a = random_term(s, g, r, Sort::Bool, depth);
            let b = random_term(s, g, r, Sort::Bool, depth);
            match n {
                1 => s.and(a, b),
                2 => s.or(a, b),
                3 => s.xor(a, b),
                _ => s.implies(a, b),
            }
        }
        5 => {
            let c = random_term(s, g, r, Sort::Bool, depth);
            let a = random_term(s, g, r, Sort::Bool, depth);
            let b = random_term(s, g, r, Sort::Bool, depth);
            s.ite(c, a, b)
        }
        6 | 7 if !array_sorts.is_empty() => {
            let sort = array_sorts[r.below(array_sorts.len())];
            let a = random_term(s, g, r, sort, depth.min(2));
            let b = random_term(s, g, r, sort, depth.min(2));
            s.eq(a, b)
        }
        _ => {
            let w = g.widths[r.below(g.widths.len())];
            let a = random_term(s, g, r, Sort::BitVec(w), depth);
            let b = random_term(s, g, r, Sort::BitVec(w), depth);
            PREDICATES[r.below(PREDICATES.len())](s, a, b)
        }
    }
}

fn random_bv(s: &mut Terms, g: &Signature, r: &mut Random, w: u32, depth: u32) -> Term {
    let arrays: Vec<Sort> = g
        .vars
        .iter()
        .map(|v| s.sort(*v))
        .filter(|t| matches!(t, Sort::Array { elem, .. } if *elem == w))
        .collect();
    let funcs: Vec<Func> = g.funcs.iter().copied().filter(|f| s.decl(*f).range == Sort::BitVec(w)).collect();
    match r.below(14) {
        0 => {
            let a = random_term(s, g, r, Sort::BitVec(w), depth);
            if r.below(2) == 0 { s.not(a) } else { s.neg(a) }
        }
        1 => {
            let c = random_term(s, g, r, Sort::Bool, depth);
            let a = random_term(s, g, r, Sort::BitVec(w), depth);
            let b = random_term(s, g, r, Sort::BitVec(w), depth);
            s.ite(c, a, b)
        }
        2 => {
            let wider = g.widths[r.below(g.widths.len())].max(w);
            let a = random_term(s, g, r, Sort::BitVec(wider), depth);
            let low = r.below((wider - w + 1) as usize) as u32;
            s.extract(a, low + w - 1, low)
        }
        3 if w > 1 => {
            let high = 1 + r.below((w - 1) as usize) as u32;
            let a = random_term(s, g, r, Sort::BitVec(high), depth);
            match r.below(3) {
                0 => s.sign_extend(a, w - high),
                1 => s.zero_extend(a, w - high),
                _ => {
                    let b = random_term(s, g, r, Sort::BitVec(w - high), depth);
                    s.concat(a, b)
                }
            }
        }
        4..=6 if !arrays.is_empty() => {
            let sort = arrays[r.below(arrays.len())];
            let Sort::Array { index, .. } = sort else { unreachable!("filtered") };
            let a = random_term(s, g, r, sort, depth.min(3));
            let i = random_term(s, g, r, Sort::BitVec(index), depth.min(2));
            s.select(a, i)
        }
        7 | 8 if !funcs.is_empty() => {
            let f = funcs[r.below(funcs.len())];
            let domain = s.decl(f).domain.clone();
            let args: Vec<Term> =
                domain.into_iter().map(|sort| random_term(s, g, r, sort, depth.min(2))).collect();
            s.apply(f, &args)
        }
        _ => {
            let a = random_term(s, g, r, Sort::BitVec(w), depth);
            let b = random_term(s, g, r, Sort::BitVec(w), depth);
            BINARY[r.below(BINARY.len())](s, a, b)
        }
    }
}

/// All values of a small sort.
fn all_values(sort: Sort) -> Vec<Value> {
    match sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::BitVec(w) => (0..1u64 << w).map(|v| Value::BitVec(BitVec::new(w, v))).collect(),
        Sort::Array { index, elem } => {
            let bits = (1u32 << index) * elem;
            (0..1u64 << bits)
                .map(|code| {
                    let mut a = ArrayValue::constant(index, BitVec::zero(elem));
                    for i in 0..1u64 << index {
                        a = a.store(BitVec::new(index, i), BitVec::new(elem, code >> (i * u64::from(elem))));
                    }
                    Value::Array(a)
                })
                .collect()
        }
    }
}

/// All models over the variables and unary functions of a signature with small sorts.
pub(crate) fn all_models(terms: &Terms, g: &Signature) -> Vec<Model> {
    let mut models = vec![Model::new()];
    for v in &g.vars {
        let values = all_values(terms.sort(*v));
        models = models
            .into_iter()
            .flat_map(|m| {
                values.iter().map(move |value| {
                    let mut m = m.clone();
                    m.set(*v, value.clone());
                    m
                })
            })
            .collect();
    }
    for f in &g.funcs {
        let decl = terms.decl(*f);
        for argument in all_values(decl.domain[0]) {
            let results = all_values(decl.range);
            models = models
                .into_iter()
                .flat_map(|m| {
                    let argument = argument.clone();
                    results.iter().map(move |result| {
                        let mut m = m.clone();
                        m.func_mut(*f).insert(vec![argument.clone()], result.clone());
                        m
                    })
                })
                .collect();
        }
    }
    models
}

/// Random incremental scripts: every answer is compared with all models over small sorts, every
/// model evaluated, every core checked. Returns how many checks have no answer.
pub(crate) fn scripts<S: Solver + Default>(
    terms: &mut Terms,
    g: &Signature,
    rounds: u64,
    depth: u32,
) -> usize {
    let models = all_models(terms, g);
    let mut unknown = 0;
    for seed in 0..rounds {
        let r = &mut Random::new(seed);
        let mut solver = S::default();
        let mut levels: Vec<Vec<Term>> = vec![Vec::new()];
        for _ in 0..8 {
            match r.below(8) {
                0 => {
                    solver.push();
                    levels.push(Vec::new());
                }
                1 if levels.len() > 1 => {
                    solver.pop();
                    levels.pop();
                }
                2..=4 => {
                    let t = random_term(terms, g, r, Sort::Bool, depth);
                    solver.assert(terms, t);
                    levels.last_mut().expect("the base level stays").push(t);
                }
                _ => {
                    let assumptions: Vec<Term> =
                        (0..r.below(3)).map(|_| random_term(terms, g, r, Sort::Bool, depth - 1)).collect();
                    let asserted: Vec<Term> = levels.iter().flatten().copied().collect();
                    let answered = if r.below(3) == 0 {
                        let goal = random_term(terms, g, r, Sort::Bool, depth);
                        ask_once(terms, &mut solver, &asserted, goal, &assumptions, &models, seed)
                    } else {
                        check_once(terms, &mut solver, &asserted, &assumptions, &models, seed)
                    };
                    unknown += usize::from(!answered);
                }
            }
        }
        let asserted: Vec<Term> = levels.iter().flatten().copied().collect();
        let answered = check_once(terms, &mut solver, &asserted, &[], &models, seed);
        unknown += usize::from(!answered);
    }
    unknown
}

fn satisfiable(terms: &Terms, models: &[Model], formulas: &[Term]) -> bool {
    models.iter().any(|m| {
        let mut evaluator = Evaluator::new(m);
        formulas.iter().all(|t| evaluator.truth(terms, *t))
    })
}

fn ask_once(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    asserted: &[Term],
    goal: Term,
    assumptions: &[Term],
    models: &[Model],
    seed: u64,
) -> bool {
    let together = |also: &[Term]| [asserted, &[goal], also].concat();
    match solver.ask(terms, goal, assumptions) {
        (Answer::Sat, core) => {
            assert!(
                core.is_empty() && satisfiable(terms, models, &together(assumptions)),
                "seed {seed}: wrong sat"
            );
        }
        (Answer::Unsat, core) => {
            assert!(core.iter().all(|t| assumptions.contains(t)), "seed {seed}: wrong core");
            assert!(!satisfiable(terms, models, &together(&core)), "seed {seed}: wrong unsat or core");
        }
        (Answer::Unknown(_), _) => return false,
    }
    true
}

fn check_once(
    terms: &mut Terms,
    solver: &mut dyn Solver,
    asserted: &[Term],
    assumptions: &[Term],
    models: &[Model],
    seed: u64,
) -> bool {
    let all: Vec<Term> = asserted.iter().chain(assumptions).copied().collect();
    match solver.check(terms, assumptions) {
        Answer::Sat => {
            let model = solver.model(terms).expect("there is a model");
            for t in &all {
                assert_eq!(terms.evaluate(*t, &model), Value::Bool(true), "seed {seed}: wrong model");
                assert_eq!(solver.value(terms, *t), Some(Value::Bool(true)), "seed {seed}: wrong value");
            }
        }
        Answer::Unsat => {
            assert!(!satisfiable(terms, models, &all), "seed {seed}: wrong unsat");
            let core = solver.unsat_core();
            assert!(core.iter().all(|t| assumptions.contains(t)));
            let with_core: Vec<Term> = asserted.iter().chain(&core).copied().collect();
            assert!(!satisfiable(terms, models, &with_core), "seed {seed}: wrong core");
        }
        Answer::Unknown(_) => return false,
    }
    true
}
