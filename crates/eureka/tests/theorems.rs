//! The lemmas and theorems of sections 4 to 6 on random small programs.

use palisade_base::Budget;
use palisade_eureka::*;
use palisade_testkit::Rng;
use std::collections::BTreeSet;

/// Programs tried for each property.
const PROGRAMS: u64 = 60;
/// Dimensions of the arrays.
const DIMS: [i64; 2] = [2, 3];

/// A valuation ω: values of the variables and of the elements.
#[derive(Clone, Debug)]
struct Valuation {
    vars: Vec<i64>,
    arrays: Vec<Vec<i64>>,
}

/// What an expression may evaluate to.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Values {
    Some(BTreeSet<i64>),
    Any,
}

impl Values {
    fn one(v: i64) -> Values {
        Values::Some([v].into())
    }

    fn combine(&self, other: &Values, f: impl Fn(i64, i64) -> i64) -> Values {
        match (self, other) {
            (Values::Some(a), Values::Some(b)) => Values::Some(
                a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).map(|(x, y)| f(x, y)).collect(),
            ),
            _ => Values::Any,
        }
    }

    fn within(&self, other: &Values) -> bool {
        match (self, other) {
            (_, Values::Any) => true,
            (Values::Any, _) => false,
            (Values::Some(a), Values::Some(b)) => a.is_subset(b),
        }
    }
}

/// ω̄ of figure 2.
fn eval(w: &Valuation, e: &Expr) -> Values {
    match e {
        Expr::Undefined => Values::Any,
        Expr::Int(n) => Values::one(*n),
        Expr::Var(v) => Values::one(w.vars[v.0]),
        Expr::Scale(n, e) => eval(w, e).combine(&Values::one(0), |x, _| n * x),
        Expr::Add(a, b) => eval(w, a).combine(&eval(w, b), |x, y| x + y),
        Expr::Ite(c, a, b) => {
            let (yes, no) = truth(w, c);
            match (yes, no, eval(w, a), eval(w, b)) {
                (true, true, Values::Some(a), Values::Some(b)) => {
                    Values::Some(a.union(&b).copied().collect())
                }
                (true, true, ..) => Values::Any,
                (true, false, a, _) => a,
                (_, _, _, b) => b,
            }
        }
        Expr::Element(a, index) => match eval(w, index) {
            Values::Some(at) => {
                let array = &w.arrays[a.0];
                let value = |i: &i64| usize::try_from(*i).ok().and_then(|i| array.get(i).copied());
                at.iter().map(value).collect::<Option<_>>().map_or(Values::Any, Values::Some)
            }
            Values::Any => Values::Any,
        },
    }
}

/// Whether a condition may hold and may fail.
fn truth(w: &Valuation, c: &Cond) -> (bool, bool) {
    match (eval(w, &c.left), eval(w, &c.right)) {
        (Values::Some(a), Values::Some(b)) => {
            let all: Vec<bool> = a.iter().flat_map(|x| b.iter().map(move |y| c.rel.holds(x, y))).collect();
            (all.contains(&true), all.contains(&false))
        }
        _ => (true, true),
    }
}

/// Random programs: two variables, two small arrays, a dozen vertexes.
struct Gen(Rng);

impl Gen {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn expr(&mut self, depth: usize, arrays: bool) -> Expr {
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 => Expr::Int(self.below(4) as i64 - 1),
            1 => Expr::Var(Var(self.below(2))),
            2 => self.expr(depth - 1, arrays).times(self.below(5) as i64 - 2),
            3 => self.expr(depth - 1, arrays).plus(self.expr(depth - 1, arrays)),
            4 => {
                let cond = self.cond(depth - 1, arrays);
                Expr::choose(cond, self.expr(depth - 1, arrays), self.expr(depth - 1, arrays))
            }
            _ if arrays => {
                let array = Array(self.below(2));
                let index = self.index(array);
                Expr::element(array, index)
            }
            _ => Expr::Undefined,
        }
    }

    /// An index within the bounds of an array, as the paper assumes.
    fn index(&mut self, array: Array) -> Expr {
        let dim = DIMS[array.0];
        match self.below(2) {
            0 => Expr::Int(self.below(dim as usize) as i64),
            _ => {
                let x = || Expr::Var(Var(0));
                let below = Expr::choose(Cond::new(Rel::Lt, x(), Expr::Int(dim)), x(), Expr::Int(0));
                Expr::choose(Cond::new(Rel::Ge, x(), Expr::Int(0)), below, Expr::Int(dim - 1))
            }
        }
    }

    fn cond(&mut self, depth: usize, arrays: bool) -> Cond {
        let rel = *self.0.pick(&[Rel::Le, Rel::Lt, Rel::Eq, Rel::Ne, Rel::Ge, Rel::Gt]).unwrap();
        Cond::new(rel, self.expr(depth, arrays), self.expr(depth, arrays))
    }

    fn program(&mut self) -> Program {
        let n = 4 + self.below(6);
        let mut stmts = Vec::new();
        for v in 1..=n {
            let next = (v < n).then_some(v + 1);
            let back = 1 + self.below(n);
            stmts.push(match self.below(7) {
                0 | 1 => Stmt::Assign(vec![(Var(self.below(2)), self.expr(2, true))], next),
                2 => {
                    let (a, b) = (self.expr(2, true), self.expr(2, true));
                    Stmt::Assign(vec![(Var(0), a), (Var(1), b)], next)
                }
                3 => {
                    let array = Array(self.below(2));
                    Stmt::Store(array, self.index(array), self.expr(2, true), next)
                }
                4 => Stmt::Branch(self.cond(1, true), next, Some(back)),
                5 => Stmt::Fill(Array(self.below(2)), self.expr(1, false), next),
                _ => Stmt::Branch(self.cond(1, true), next, Some(0)),
            });
        }
        let arrays = vec![("a".into(), DIMS[0]), ("b".into(), DIMS[1])];
        Program { vars: vec!["x".into(), "y".into()], arrays, stmts }
    }

    fn kept(&mut self, program: &Program) -> Kept {
        let mut kept = Kept::all(program);
        kept.vars.retain(|_| self.below(2) == 0);
        kept.elements.iter_mut().for_each(|r| r.retain(|_| self.below(2) == 0));
        kept
    }

    fn valuation(&mut self) -> Valuation {
        let mut value = || self.0.below(5) as i64 - 1;
        Valuation {
            vars: vec![value(), value()],
            arrays: vec![vec![value(), value()], vec![value(), value(), value()]],
        }
    }

    fn choose(&mut self, values: &Values) -> i64 {
        match values {
            Values::Some(all) => *all.iter().nth(self.below(all.len())).expect("never empty"),
            Values::Any => self.below(5) as i64 - 1,
        }
    }

    /// A trace of the program by a run from a random state.
    fn run(&mut self, program: &Program) -> Vec<Vertex> {
        let mut w = self.valuation();
        let mut trace = vec![1];
        while trace.len() < 12 {
            let v = *trace.last().expect("not empty");
            if v == 0 {
                break;
            }
            let next = match program.stmt(v) {
                Stmt::Skip(next) => *next,
                Stmt::Assign(assigned, next) => {
                    let values: Vec<i64> = assigned.iter().map(|(_, e)| self.choose(&eval(&w, e))).collect();
                    assigned.iter().zip(values).for_each(|((v, _), d)| w.vars[v.0] = d);
                    *next
                }
                Stmt::Store(a, i, e, next) => {
                    let (i, d) = (self.choose(&eval(&w, i)), self.choose(&eval(&w, e)));
                    w.arrays[a.0][i as usize] = d;
                    *next
                }
                Stmt::Fill(a, e, next) => {
                    let filled: Vec<i64> = match eval(&w, e) {
                        Values::Any => w.arrays[a.0].iter().map(|_| self.choose(&Values::Any)).collect(),
                        values => vec![self.choose(&values); w.arrays[a.0].len()],
                    };
                    w.arrays[a.0] = filled;
                    *next
                }
                Stmt::Assume(..) => unreachable!("not generated"),
                Stmt::Branch(c, yes, no) => match truth(&w, c) {
                    (true, false) => *yes,
                    (false, _) => *no,
                    (true, true) => [*yes, *no][self.below(2)],
                },
            };
            match next {
                Some(next) => trace.push(next),
                None => break,
            }
        }
        trace
    }

    /// Any path of the control flow graph.
    fn path(&mut self, program: &Program) -> Vec<Vertex> {
        let mut trace = vec![1];
        while trace.len() < 9 && trace.last() != Some(&0) {
            let next: Vec<_> = program.stmt(trace[trace.len() - 1]).successors().collect();
            match next[self.below(next.len())] {
                Some(next) => trace.push(next),
                None => break,
            }
        }
        trace
    }
}

/// The abstraction ω̂ of a valuation.
fn abstracted(abstraction: &Abstraction, w: &Valuation) -> Valuation {
    let value = |o: &Origin| match *o {
        Origin::Var(v) => w.vars[v.0],
        Origin::Element(a, k) => w.arrays[a.0][k as usize],
    };
    Valuation { vars: abstraction.origins.iter().map(value).collect(), arrays: Vec::new() }
}

fn feasible(program: &Program, trace: &[Vertex]) -> bool {
    match decide(program, trace, &Budget::unlimited()).unwrap() {
        Decision::Feasible => true,
        Decision::Core(_) => false,
        Decision::Unknown(why) => panic!("{why}"),
    }
}

#[test]
fn lemma_1_abstract_expressions_have_all_values() {
    for seed in 0..20 * PROGRAMS {
        let mut g = Gen(Rng::new(seed));
        let (program, w) = (g.program(), g.valuation());
        let e = g.expr(3, true);
        let some = Abstraction::new(&program, &g.kept(&program));
        let (concrete, hat) = (eval(&w, &e), eval(&abstracted(&some, &w), &some.expr(&e)));
        assert!(concrete.within(&hat), "{}: {concrete:?} {hat:?}", program.show(&e));
        let all = Abstraction::new(&program, &Kept::all(&program));
        assert_eq!(concrete, eval(&abstracted(&all, &w), &all.expr(&e)), "{}", program.show(&e));
    }
}

#[test]
fn theorems_1_and_3_runs_are_traces_of_all_abstractions() {
    for seed in 0..PROGRAMS {
        let mut g = Gen(Rng::new(seed));
        let program = g.program();
        let trace = g.run(&program);
        assert!(feasible(&program, &trace), "{seed}: {trace:?}");
        let abstraction = Abstraction::new(&program, &g.kept(&program));
        assert!(feasible(&abstraction.program, &trace), "{seed}: {trace:?}");
    }
}

#[test]
fn theorem_2_keeping_more_means_fewer_traces() {
    for seed in 0..PROGRAMS {
        let mut g = Gen(Rng::new(seed));
        let program = g.program();
        let (mut less, more) = (g.kept(&program), g.kept(&program));
        less.vars.retain(|v| more.vars.contains(v));
        less.elements.iter_mut().zip(&more.elements).for_each(|(l, m)| l.retain(|k| m.contains(k)));
        assert!(less.within(&more));
        let trace = g.path(&program);
        if feasible(&Abstraction::new(&program, &more).program, &trace) {
            assert!(feasible(&Abstraction::new(&program, &less).program, &trace), "{seed}: {trace:?}");
        }
    }
}

#[test]
fn theorem_4_a_refined_abstraction_excludes_the_trace() {
    let budget = Budget::unlimited();
    let mut refined = 0;
    for seed in 0..PROGRAMS {
        let mut g = Gen(Rng::new(seed));
        let program = g.program();
        let kept = g.kept(&program);
        let trace = g.path(&program);
        if !feasible(&Abstraction::new(&program, &kept).program, &trace) {
            continue;
        }
        let Decision::Core(core) = decide(&program, &trace, &budget).unwrap() else { continue };
        let Some(more) = refine(&program, &trace, &core, &kept, &budget).unwrap() else { continue };
        assert!(kept.within(&more) && kept != more);
        let abstraction = Abstraction::new(&program, &more).program;
        assert!(!feasible(&abstraction, &trace), "{seed}: {trace:?} {more:?}");
        refined += 1;
    }
    assert!(refined > 3, "{refined}");
}

#[test]
fn corollary_1_what_is_safe_never_fails() {
    let mut settled = [0; 2];
    for seed in 0..PROGRAMS {
        let mut g = Gen(Rng::new(seed));
        let program = g.program();
        let checked = check_bounded(&program);
        match checked {
            Some(Answer::Safe(..)) => {
                settled[0] += 1;
                for _ in 0..200 {
                    let trace = g.run(&program);
                    assert_ne!(trace.last(), Some(&0), "{seed}: {trace:?}");
                }
            }
            Some(Answer::Trace(trace)) => {
                settled[1] += 1;
                assert_eq!(trace.last(), Some(&0));
            }
            _ => {}
        }
    }
    assert!(settled.iter().all(|&n| n > 3), "{settled:?}");
}

/// AR for as long as a test may take.
fn check_bounded(program: &Program) -> Option<Answer> {
    let budget = Budget::unlimited();
    let stopper = budget.clone();
    let watch = std::thread::spawn(move || {
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            if stopper.stopped().is_some() {
                return;
            }
        }
        stopper.stop(palisade_base::Stop::Time);
    });
    let found = check(program, Kept::none(program), &budget, &mut |_| {}).ok();
    budget.stop(palisade_base::Stop::Time);
    watch.join().expect("it only sleeps");
    found
}
