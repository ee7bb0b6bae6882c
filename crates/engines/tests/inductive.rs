//! The largest inductive subset of facts, against brute force over all states of small programs.

use palisade_base::Budget;
use palisade_cfa::VarId;
use palisade_encode::inductive::{Fact, Segments};
use palisade_encode::{Encoder, State};
use palisade_logic::{Term, Terms};
use palisade_task::Task;
use palisade_testkit::Rng;
use std::sync::Arc;

/// A comparison of a variable with another one or a constant.
#[derive(Clone, Copy, Debug)]
struct Comparison {
    left: usize,
    less: bool,
    right: Result<usize, u64>,
    truth: bool,
}

impl Comparison {
    fn random(r: &mut Rng) -> Comparison {
        let left = r.below(2);
        let right = if r.below(4) == 0 { Ok(1 - left) } else { Err(r.below(8) as u64) };
        Comparison { left, less: r.below(2) == 0, right, truth: r.below(2) == 0 }
    }

    fn holds(&self, state: [u64; 2]) -> bool {
        let (a, b) = (state[self.left], self.right.map_or_else(|c| c, |v| state[v]));
        (if self.less { a < b } else { a == b }) == self.truth
    }
}

/// A comparison and the variables that it is about.
struct Said(Comparison, [VarId; 2]);

impl Fact for Said {
    fn term(&self, encoder: &mut Encoder<'_>, terms: &mut Terms, state: &State) -> Option<Term> {
        let Said(says, vars) = self;
        let value = |v: usize| encoder.layout().register(vars[v]).map(|slot| state.slots.get(slot));
        let a = value(says.left)?;
        let b = match says.right {
            Ok(v) => value(v)?,
            Err(c) => terms.bv(3, c),
        };
        let compared = if says.less { terms.ult(a, b) } else { terms.eq(a, b) };
        Some(if says.truth { compared } else { terms.not(compared) })
    }
}

/// Two loops, one after the other, over numbers below eight; an assertion in each.
struct Loops {
    first: [u64; 2],
    steps: [[u64; 4]; 2],
    errors: [u64; 2],
}

impl Loops {
    fn text(&self) -> String {
        let Loops { first: [x, y], steps: [s, t], errors: [e, f] } = self;
        format!(
            "model ilp32; fn main() -> i32 {{ local x: u3; local y: u3; local more: u1;
            entry -> b: x = {x}; b -> one: y = {y};
            loop one -> one1: check assertion x != {e}; one1 -> one2: x = x * {} + y * {};
            one2 -> one3: y = y * {} + {}; one3 -> one4: input more;
            one4 -> one: assume more != 0; one4 -> two: assume !(more != 0);
            loop two -> two1: check assertion y != {f}; two1 -> two2: x = x * {} + y * {};
            two2 -> two: y = y * {} + {}; }} entry main;",
            s[0], s[1], s[2], s[3], t[0], t[1], t[2], t[3]
        )
    }

    /// The state after a pass through a loop; `None` if the assertion fails.
    fn pass(&self, head: usize, [x, y]: [u64; 2]) -> Option<[u64; 2]> {
        let [a, b, c, d] = self.steps[head];
        ([x, y][head] != self.errors[head]).then_some([(x * a + y * b) % 8, (y * c + d) % 8])
    }

    /// What is left of facts at the two loops, and whether that excludes errors.
    fn largest(&self, facts: &[Comparison], mut alive: [Vec<bool>; 2]) -> ([Vec<bool>; 2], bool) {
        let all = || (0..8).flat_map(|x| (0..8).map(move |y| [x, y]));
        let believed = |alive: &[bool], state| facts.iter().zip(alive).all(|(f, a)| !a || f.holds(state));
        loop {
            let mut next = vec![(0, self.first)];
            let mut proved = true;
            for (head, alive) in alive.iter().enumerate() {
                for state in all().filter(|s| believed(alive, *s)) {
                    match self.pass(head, state) {
                        Some(after) => next.extend((head..2).map(|to| (to, after))),
                        None => proved = false,
                    }
                }
            }
            let before = alive.clone();
            for (head, state) in next {
                facts.iter().zip(&mut alive[head]).for_each(|(f, a)| *a &= f.holds(state));
            }
            if alive == before {
                return (alive, proved);
            }
        }
    }
}

#[test]
fn what_is_inductive_against_brute_force() {
    let (mut proofs, mut kept_in_all) = (0, 0);
    for seed in 0..1500 {
        let r = &mut Rng::new(seed);
        let mut number = || r.below(8) as u64;
        let loops = Loops {
            first: [number(), number()],
            steps: [0; 2].map(|_| [0; 4].map(|_| number())),
            errors: [number(), number()],
        };
        let mut facts: Vec<Comparison> = (0..14).map(|_| Comparison::random(r)).collect();
        let no_error = |left| Comparison { left, less: false, right: Err(loops.errors[left]), truth: false };
        facts.extend([0, 1].map(no_error));
        let program = palisade_cfa::text::parse(&loops.text()).unwrap_or_else(|e| panic!("{e:?}"));
        let task = Task::whole(&Arc::new(program), 1, 1000).expect("small");
        let vars = ["x", "y"].map(|name| {
            let mut all = task.program.vars.iter_enumerated();
            all.find(|(_, var)| &*var.name == name).expect("it is kept").0
        });
        let said: Vec<Said> = facts.iter().map(|f| Said(*f, vars)).collect();
        let budget = Budget::unlimited();
        let segments = || Segments::new(&task, Vec::new(), &budget).expect("no limit");
        let heads = segments().heads().to_vec();
        let alive = [0; 2].map(|_| facts.iter().map(|_| r.below(8) > 0).collect::<Vec<bool>>());
        let (left, proved) = loops.largest(&facts, alive.clone());

        let (kept, excluded) = segments().largest(&said, alive.to_vec()).expect("no limit");
        let count = |alive: &[Vec<bool>]| alive.iter().flatten().filter(|a| **a).count();
        assert!(
            kept.iter().all(|(at, i)| left[heads.iter().position(|h| h == at).expect("a head")][*i]),
            "{seed}"
        );
        assert_eq!((kept.len(), excluded), (count(&left), proved), "seed {seed}");
        kept_in_all += kept.len();

        let found = segments().prove(&said, alive.to_vec()).expect("no limit");
        assert_eq!(found.is_some(), proved, "seed {seed}");
        if let Some(found) = found {
            proofs += 1;
            let mut used = [vec![false; facts.len()], vec![false; facts.len()]];
            for (at, i) in found {
                used[heads.iter().position(|h| *h == at).expect("a head")][i] = true;
            }
            assert_eq!(loops.largest(&facts, used.clone()), (used, true), "seed {seed}: it is a proof alone");
        }
    }
    assert!(proofs > 40 && kept_in_all > 1000, "{proofs} proofs, {kept_in_all} facts kept");
}
