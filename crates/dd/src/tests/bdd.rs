//! BDDs and multi-terminal diagrams against truth tables.

use palisade_num::Int;
use rustc_hash::FxHashMap;

use super::Rng;
use crate::{Bdd, Limits, Manager, Mtbdd, Node, OutOfBudget, Var};

/// The diagram of a truth table over `vars`: bit `a` of `table` is the value where variable `i` is bit
/// `i` of `a`.
fn build(bdd: &mut Bdd, vars: &[Var], table: u64) -> Node {
    let mut f = Node::FALSE;
    for a in 0..1usize << vars.len() {
        if table >> a & 1 == 1 {
            let cube: Vec<(Var, bool)> =
                vars.iter().enumerate().map(|(i, &v)| (v, a >> i & 1 == 1)).collect();
            let cube = bdd.cube(&cube).unwrap();
            f = bdd.or(f, cube).unwrap();
        }
    }
    f
}

fn table(bdd: &Bdd, vars: &[Var], f: Node) -> u64 {
    let value = |a: usize, v: Var| a >> vars.iter().position(|&w| w == v).unwrap() & 1 == 1;
    (0..1usize << vars.len()).filter(|&a| bdd.eval(f, |v| value(a, v))).map(|a| 1 << a).sum()
}

/// The table of `f` with variable `i` set to `value`.
fn cofactor(table: u64, n: usize, i: usize, value: bool) -> u64 {
    let at = |a: usize| if value { a | 1 << i } else { a & !(1 << i) };
    (0..1usize << n).filter(|&a| table >> at(a) & 1 == 1).map(|a| 1 << a).sum()
}

#[test]
fn all_operations_on_all_functions_of_up_to_three_variables() {
    for n in 0..=3usize {
        let mut bdd = Bdd::new(Limits::default());
        let vars: Vec<Var> = (0..n).map(|_| bdd.new_var().unwrap()).collect();
        let mask = if n == 3 { 0xff } else { (1u64 << (1 << n)) - 1 };
        let all: Vec<Node> = (0..=mask).map(|t| build(&mut bdd, &vars, t)).collect();
        for (t, &f) in all.iter().enumerate() {
            let t = t as u64;
            assert_eq!(table(&bdd, &vars, f), t);
            assert!(bdd.k.is_canonical(f));
            assert_eq!(bdd.not(f).unwrap(), all[(!t & mask) as usize]);
            assert_eq!(bdd.sat_count(f), Int::from(i64::from(t.count_ones())));
            let cubes: Vec<_> = bdd.cubes(f).collect();
            let mut union = 0;
            for c in &cubes {
                let c = bdd.cube(c).unwrap();
                let part = table(&bdd, &vars, c);
                assert_eq!(part & union, 0);
                union |= part;
            }
            assert_eq!(union, t);
            match bdd.pick_cube(f) {
                None => assert_eq!(t, 0),
                Some(c) => {
                    let c = bdd.cube(&c).unwrap();
                    assert!(bdd.leq(c, f).unwrap());
                    assert_ne!(c, Node::FALSE);
                }
            }
            for (i, &v) in vars.iter().enumerate() {
                let (c0, c1) = (cofactor(t, n, i, false), cofactor(t, n, i, true));
                assert_eq!(bdd.restrict(f, &[(v, true)]).unwrap(), all[c1 as usize]);
                assert_eq!(bdd.restrict(f, &[(v, false)]).unwrap(), all[c0 as usize]);
                assert_eq!(bdd.exists(f, &[v]).unwrap(), all[(c0 | c1) as usize]);
                assert_eq!(bdd.forall(f, &[v]).unwrap(), all[(c0 & c1) as usize]);
            }
            for (u, &g) in all.iter().enumerate() {
                let u = u as u64;
                assert_eq!(bdd.and(f, g).unwrap(), all[(t & u) as usize]);
                assert_eq!(bdd.or(f, g).unwrap(), all[(t | u) as usize]);
                assert_eq!(bdd.xor(f, g).unwrap(), all[(t ^ u) as usize]);
                assert_eq!(bdd.diff(f, g).unwrap(), all[(t & !u) as usize]);
                assert_eq!(bdd.iff(f, g).unwrap(), all[(!(t ^ u) & mask) as usize]);
                assert_eq!(bdd.leq(f, g).unwrap(), t & !u == 0);
                for (i, &v) in vars.iter().enumerate() {
                    let both = t & u;
                    let e = cofactor(both, n, i, false) | cofactor(both, n, i, true);
                    assert_eq!(bdd.and_exists(f, g, &[v]).unwrap(), all[e as usize]);
                    let (c0, c1) = (cofactor(t, n, i, false), cofactor(t, n, i, true));
                    let composed = bdd.compose(f, &[(v, g)]).unwrap();
                    assert_eq!(composed, all[((u & c1) | (!u & mask & c0)) as usize]);
                }
            }
        }
    }
}

#[test]
fn ite_on_all_triples_of_two_variable_functions_and_random_triples_of_three() {
    for (n, triples) in [(2usize, 4096), (3, 60_000)] {
        let mut bdd = Bdd::new(Limits::default());
        let vars: Vec<Var> = (0..n).map(|_| bdd.new_var().unwrap()).collect();
        let tables = 1u64 << (1 << n);
        let all: Vec<Node> = (0..tables).map(|t| build(&mut bdd, &vars, t)).collect();
        let mut rng = Rng(3);
        for i in 0..triples {
            let (a, b, c) = if n == 2 {
                (i & 15, i >> 4 & 15, i >> 8)
            } else {
                (rng.next() % tables, rng.next() % tables, rng.next() % tables)
            };
            let r = bdd.ite(all[a as usize], all[b as usize], all[c as usize]).unwrap();
            assert_eq!(r, all[((a & b) | (!a & (tables - 1) & c)) as usize]);
        }
    }
}

#[test]
fn simultaneous_substitution_and_several_quantifiers() {
    let mut bdd = Bdd::new(Limits::default());
    let vars: Vec<Var> = (0..4).map(|_| bdd.new_var().unwrap()).collect();
    let mut rng = Rng(11);
    for _ in 0..2000 {
        let (t, u) = (rng.next() & 0xffff, rng.next() & 0xffff);
        let (f, g) = (build(&mut bdd, &vars, t), build(&mut bdd, &vars, u));
        // Exchanging two variables exchanges two bits of the argument.
        let swapped = bdd.rename(f, &[(vars[0], vars[3]), (vars[3], vars[0])]).unwrap();
        let at = |a: u64| (a & 0b0110) | a >> 3 | (a & 1) << 3;
        let expected = (0..16u64).filter(|&a| t >> at(a) & 1 == 1).map(|a| 1 << a).sum();
        assert_eq!(table(&bdd, &vars, swapped), expected);
        let two = [vars[2], vars[1]];
        let product = bdd.and_exists(f, g, &two).unwrap();
        let both = bdd.and(f, g).unwrap();
        assert_eq!(product, bdd.exists(both, &two).unwrap());
        let step = bdd.exists(both, &[vars[1]]).unwrap();
        assert_eq!(product, bdd.exists(step, &[vars[2]]).unwrap());
        let not = bdd.not(f).unwrap();
        let dual = bdd.exists(not, &two).unwrap();
        assert_eq!(bdd.forall(f, &two).unwrap(), bdd.not(dual).unwrap());
    }
}

#[test]
fn reordering_keeps_every_function() {
    let mut rng = Rng(5);
    for round in 0..300 {
        let mut bdd = Bdd::new(Limits::default());
        let vars: Vec<Var> = (0..5).map(|_| bdd.new_var().unwrap()).collect();
        let tables: Vec<u64> = (0..4).map(|_| rng.next() & 0xffff_ffff).collect();
        let nodes: Vec<Node> = tables.iter().map(|&t| build(&mut bdd, &vars, t)).collect();
        nodes.iter().for_each(|&f| bdd.protect(f));
        if round % 3 == 0 {
            bdd.reorder().unwrap();
        } else {
            for _ in 0..6 {
                bdd.swap_adjacent(rng.below(5)).unwrap();
            }
        }
        for (&f, &t) in nodes.iter().zip(&tables) {
            assert_eq!(table(&bdd, &vars, f), t);
            assert!(bdd.k.is_canonical(f));
            // Still hash-consed: building the function again finds the node.
            assert_eq!(build(&mut bdd, &vars, t), f);
        }
    }
}

#[test]
fn sifting_finds_the_order_that_makes_the_multiplexer_linear() {
    let mut bdd = Bdd::new(Limits::default());
    let n = 8;
    let vars: Vec<Var> = (0..2 * n).map(|_| bdd.new_var().unwrap()).collect();
    let mut f = Node::FALSE;
    for i in 0..n {
        let pair = bdd.cube(&[(vars[i], true), (vars[n + i], true)]).unwrap();
        f = bdd.or(f, pair).unwrap();
    }
    bdd.protect(f);
    assert!(bdd.size(f) > 500);
    bdd.reorder().unwrap();
    assert_eq!(bdd.size(f), 2 * n + 2);
    assert!(bdd.eval(f, |v| v == vars[3] || v == vars[n + 3]));
    assert!(!bdd.eval(f, |v| v == vars[3] || v == vars[n + 4]));
}

#[test]
fn deep_diagrams_need_no_call_stack() {
    let mut bdd = Bdd::new(Limits::default());
    let n = 100_000;
    let vars: Vec<Var> = (0..n).map(|_| bdd.new_var().unwrap()).collect();
    let cube = |bdd: &mut Bdd, b| {
        let lits: Vec<_> = vars.iter().map(|&v| (v, b)).collect();
        bdd.cube(&lits).unwrap()
    };
    let (f, g) = (cube(&mut bdd, true), cube(&mut bdd, false));
    let h = bdd.or(f, g).unwrap();
    assert_eq!(bdd.sat_count(h), Int::from(2));
    let e = bdd.exists(h, &[vars[n - 1]]).unwrap();
    assert!(bdd.leq(h, e).unwrap());
    let i = bdd.ite(h, f, g).unwrap();
    let not = bdd.not(i).unwrap();
    assert_eq!(bdd.and(not, i).unwrap(), Node::FALSE);
}

#[test]
fn the_node_limit_is_an_error_and_not_the_end() {
    let mut bdd = Bdd::new(Limits { nodes: 400, ..Limits::default() });
    let vars: Vec<Var> = (0..24).map(|_| bdd.new_var().unwrap()).collect();
    let mut f = Node::FALSE;
    let mut outcome = Ok(());
    for i in 0..12 {
        let step = bdd.cube(&[(vars[i], true), (vars[12 + i], true)]).and_then(|p| bdd.or(f, p));
        match step {
            Ok(g) => f = g,
            Err(e) => {
                outcome = Err(e);
                break;
            }
        }
    }
    assert_eq!(outcome, Err(OutOfBudget::Nodes));
    assert!(bdd.stats().nodes <= 400);
    bdd.collect();
    assert_eq!(bdd.stats().nodes, 2);
    assert!(bdd.cube(&[(vars[0], true), (vars[3], false)]).is_ok());
}

#[test]
fn a_stopped_budget_ends_a_long_operation() {
    let budget = palisade_base::Budget::unlimited();
    let mut bdd = Bdd::new(Limits { budget: budget.clone(), ..Limits::default() });
    let vars: Vec<Var> = (0..40).map(|_| bdd.new_var().unwrap()).collect();
    budget.stop(palisade_base::Stop::Time);
    let mut f = Node::FALSE;
    let mut error = None;
    for i in 0..20 {
        match bdd.cube(&[(vars[i], true), (vars[20 + i], true)]).and_then(|p| bdd.or(f, p)) {
            Ok(g) => f = g,
            Err(e) => {
                error = Some(e);
                break;
            }
        }
    }
    assert_eq!(error, Some(OutOfBudget::Stopped(palisade_base::Stop::Time)));
}

#[test]
fn multi_terminal_operations_agree_with_tables() {
    let mut rng = Rng(17);
    let n = 3;
    let mut m: Mtbdd<i64> = Mtbdd::new(Limits::default());
    let vars: Vec<Var> = (0..n).map(|_| m.new_var().unwrap()).collect();
    let build = |m: &mut Mtbdd<i64>, t: &[i64; 8]| {
        // Bottom up in any order of the variables: select does not need the order.
        let mut layer: Vec<Node> = t.iter().map(|&v| m.constant(v).unwrap()).collect();
        for &v in &vars {
            layer = layer.chunks(2).map(|p| m.select(v, p[1], p[0]).unwrap()).collect();
        }
        layer[0]
    };
    let value = |a: usize, v: Var| a >> v.0 & 1 == 1;
    let tables = |m: &Mtbdd<i64>, f: Node| -> Vec<i64> {
        (0..8).map(|a| *m.eval(f, |v| value(a, v)).unwrap()).collect()
    };
    let mut seen: FxHashMap<[i64; 8], Node> = FxHashMap::default();
    for round in 0..3000 {
        let t: [i64; 8] = std::array::from_fn(|_| rng.range(0, 3));
        let u: [i64; 8] = std::array::from_fn(|_| rng.range(0, 3));
        let (f, g) = (build(&mut m, &t), build(&mut m, &u));
        assert_eq!(tables(&m, f), t);
        assert_eq!(*seen.entry(t).or_insert(f), f);
        let sum = m.apply(f, g, |a, b| a + 10 * b).unwrap();
        assert_eq!(tables(&m, sum), (0..8).map(|a| t[a] + 10 * u[a]).collect::<Vec<_>>());
        let half = m.map(f, |a| a / 2).unwrap();
        assert_eq!(tables(&m, half), t.map(|a| a / 2));
        let max = m.quantify(f, &[vars[0], vars[2]], |a, b| *a.max(b)).unwrap();
        for a in 0..8usize {
            let expected = (0..8).filter(|b| b & 2 == a & 2).map(|b: usize| t[b]).max();
            assert_eq!(m.eval(max, |v| value(a, v)).copied(), expected);
        }
        let leq = m.all(f, g, |a, b| a <= b).unwrap();
        assert_eq!(leq, t.iter().zip(&u).all(|(a, b)| a <= b));
        let mut distinct = t.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(m.terminals(f).len(), distinct.len());
        if round % 500 == 499 {
            // Values of dead functions go, those of living ones stay.
            m.protect(sum);
            m.collect();
            assert_eq!(tables(&m, sum), (0..8).map(|a| t[a] + 10 * u[a]).collect::<Vec<_>>());
            m.reorder().unwrap();
            assert_eq!(tables(&m, sum), (0..8).map(|a| t[a] + 10 * u[a]).collect::<Vec<_>>());
            m.release(sum);
            m.collect();
            seen.clear();
        }
    }
}

#[test]
fn a_predicate_becomes_a_multi_terminal_function() {
    let mut bdd = Bdd::new(Limits::default());
    let mut m: Mtbdd<&str> = Mtbdd::new(Limits::default());
    let vars: Vec<Var> = (0..3).map(|_| bdd.new_var().unwrap()).collect();
    for _ in 0..3 {
        m.new_var().unwrap();
    }
    for t in 0..256 {
        let f = build(&mut bdd, &vars, t);
        let g = m.from_bdd(&bdd, f, "yes", "no").unwrap();
        for a in 0..8usize {
            let value = |v: Var| a >> v.0 & 1 == 1;
            assert_eq!(m.eval(g, value), Some(&if t >> a & 1 == 1 { "yes" } else { "no" }));
        }
    }
}
