//! Collection, node limits and shared handles.

use super::{Grid, Rng, manager, rat};
use crate::{Interval, Kind, Ldd, Limits, Manager, Node, OutOfBudget, Shared};

#[test]
fn collection_keeps_roots_and_frees_the_rest() {
    let mut ldd = Ldd::new(Limits::default());
    let grid = Grid::new(&mut ldd);
    let mut rng = Rng(81);
    let mut kept = Vec::new();
    for round in 0..200 {
        for _ in 0..20 {
            grid.random(&mut ldd, &mut rng, 8);
        }
        let (f, m) = grid.random(&mut ldd, &mut rng, 8);
        ldd.protect(f);
        kept.push((f, m));
        if round % 10 == 9 {
            for (f, _) in kept.drain(..kept.len() / 2) {
                ldd.release(f);
            }
            ldd.collect();
            let roots: Vec<Node> = kept.iter().map(|k| k.0).collect();
            assert_eq!(ldd.stats().nodes, ldd.k.size(&[&roots[..], &[Node::FALSE, Node::TRUE]].concat()));
            for (f, m) in &kept {
                assert_eq!(grid.of(&ldd, *f), *m);
                assert!(ldd.k.is_canonical(*f));
            }
        }
    }
}

#[test]
fn a_long_run_stays_bounded() {
    let shared = Shared::new({
        let (ldd, _) = manager(Kind::Int, 2);
        ldd
    });
    let x = crate::Var(0);
    let mut f = shared.op(|m| m.interval(x, &Interval::closed(rat(0), rat(3)))).unwrap();
    // Every step makes bounds that were never seen before.
    for i in 0..200_000i64 {
        let node = f.node();
        f = shared.op(|m| m.assign(node, x, &[(rat(1), x)], &Interval::point(rat(1 + i % 5)))).unwrap();
    }
    let stats = shared.with(|m| m.stats());
    assert!(stats.peak < 140_000, "{stats:?}");
    assert!(stats.collections > 2);
    assert!(shared.with(|m| m.labels_in_memory()) < 150_000);
    let bounds = shared.with(|m| m.bounds(f.node(), x)).unwrap();
    assert_eq!(bounds, Interval::closed(rat(600_000), rat(600_003)));
}

#[test]
fn an_operation_that_fails_is_tried_again_without_the_garbage() {
    let (mut ldd, vars) = manager(Kind::Int, 6);
    ldd.set_limits(Limits { nodes: 300, ..Limits::default() });
    let shared = Shared::new(ldd);
    let mut rng = Rng(5);
    // Each box needs up to 12 nodes: without collection the limit is reached at once.
    let mut last = None;
    for _ in 0..400 {
        let a = rng.range(-1000, 1000);
        let sides: Vec<_> = vars.iter().map(|&v| (v, Interval::closed(rat(a), rat(a + 1)))).collect();
        last = Some(shared.op(|m| m.product(&sides)).unwrap());
    }
    let f = last.unwrap();
    assert_eq!(shared.with(|m| m.size(f.node())), 14);
    // What does not fit even so is an error.
    let blow_up = shared.op(|m| {
        let mut f = Node::TRUE;
        for &v in &vars {
            let mut g = Node::FALSE;
            for i in 0..60 {
                let p = m.interval(v, &Interval::point(rat(2 * i)))?;
                g = m.or(g, p)?;
            }
            f = m.and(f, g)?;
        }
        Ok(f)
    });
    assert_eq!(blow_up.err(), Some(OutOfBudget::Nodes));
    assert!(shared.with(|m| m.eval(f.node(), |_| Box::leak(Box::new(rat(0))))) || f.node() != Node::TRUE);
}

#[test]
fn handles_may_be_dropped_and_cloned_while_the_manager_is_in_use() {
    let (ldd, vars) = manager(Kind::Int, 1);
    let shared = Shared::new(ldd);
    let f = shared.op(|m| m.interval(vars[0], &Interval::at_most(rat(3)))).unwrap();
    let g = f.clone();
    assert_eq!(f, g);
    shared.with(|m| {
        let h = g.clone();
        drop(g);
        assert!(m.size(h.node()) == 3);
    });
    shared.collect();
    assert_eq!(shared.with(|m| m.size(f.node())), 3);
    drop(f);
    shared.collect();
    assert_eq!(shared.with(|m| m.stats().nodes), 2);
}

#[test]
fn managers_and_handles_move_between_threads() {
    fn is_send<T: Send>() {}
    is_send::<Ldd>();
    is_send::<Shared<Ldd>>();
    is_send::<crate::Root<Ldd>>();
    is_send::<crate::Root<crate::Mtbdd<String>>>();
}
