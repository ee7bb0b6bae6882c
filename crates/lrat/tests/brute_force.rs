//! The checker against truth tables: on small random problems whatever it accepts follows, the proofs of a
//! simple complete search are accepted, and damaged proofs are refused unless they are proofs.

use palisade_lrat::{Checker, Clause, Lit, Log, Proof};
use palisade_testkit::Rng;

const VARIABLES: u32 = 5;

fn random_clause(rng: &mut Rng, longest: usize) -> Vec<Lit> {
    let len = 1 + rng.below(longest);
    (0..len)
        .map(|_| {
            let v = 1 + rng.below(VARIABLES as usize) as Lit;
            if rng.below(2) == 0 { v } else { -v }
        })
        .collect()
}

fn holds(clause: &[Lit], assignment: u32) -> bool {
    clause.iter().any(|l| (assignment >> (l.unsigned_abs() - 1) & 1 == 1) == (*l > 0))
}

/// Whether every assignment that satisfies the clauses satisfies the clause.
fn follows(clauses: &[Vec<Lit>], clause: &[Lit]) -> bool {
    (0..1 << VARIABLES).all(|a| holds(clause, a) || !clauses.iter().all(|c| holds(c, a)))
}

#[test]
fn what_is_accepted_follows() {
    let mut rng = Rng::new(1);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let clauses: Vec<Vec<Lit>> = (0..1 + rng.below(12)).map(|_| random_clause(&mut rng, 3)).collect();
        let mut checker = Checker::new();
        for c in &clauses {
            checker.input(c).expect("literals in range");
        }
        for _ in 0..8 {
            let clause = if rng.below(4) == 0 { Vec::new() } else { random_clause(&mut rng, 3) };
            let known = checker.len();
            let hints: Vec<Clause> = (0..rng.below(6)).map(|_| rng.below(known + 1) as Clause).collect();
            match checker.derive(&clause, &hints) {
                Ok(_) => {
                    accepted += 1;
                    assert!(follows(&clauses, &clause), "{clauses:?} {clause:?} {hints:?}");
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 1_000 && refused > 1_000, "{accepted} accepted, {refused} refused");
}

/// Splits on variables in order; every refuted branch is a derived clause: the negation of its decisions.
fn search(clauses: &[Vec<Lit>], decided: &mut Vec<Lit>, log: &mut Log, next: &mut u64) -> Option<u64> {
    let negated: Vec<Lit> = decided.iter().map(|l| -l).collect();
    let is_false = |c: &Vec<Lit>| c.iter().all(|l| negated.contains(l));
    if let Some(i) = clauses.iter().position(is_false) {
        *next += 1;
        log.derived(*next, &negated, &[i as u64]).expect("names ascend");
        return Some(*next);
    }
    if decided.len() == VARIABLES as usize {
        return None;
    }
    let v = decided.len() as Lit + 1;
    let mut hints = Vec::new();
    for l in [v, -v] {
        decided.push(l);
        let refuted = search(clauses, decided, log, next);
        decided.pop();
        hints.push(refuted?);
    }
    *next += 1;
    log.derived(*next, &negated, &hints).expect("names ascend");
    Some(*next)
}

/// A random problem without a model, and the proof of a search.
fn refutation(rng: &mut Rng) -> (Vec<Vec<Lit>>, Log, u64) {
    loop {
        let clauses: Vec<Vec<Lit>> = (0..24).map(|_| random_clause(rng, 3)).collect();
        let mut log = Log::new();
        for (name, c) in clauses.iter().enumerate() {
            log.input(Some(name as u64), c).expect("literals in range");
        }
        let mut next = clauses.len() as u64;
        if let Some(name) = search(&clauses, &mut Vec::new(), &mut log, &mut next) {
            return (clauses, log, name);
        }
    }
}

fn inputs(clauses: &[Vec<Lit>]) -> impl Iterator<Item = &[Lit]> {
    clauses.iter().map(Vec::as_slice)
}

#[test]
fn proofs_of_a_search_are_accepted_and_survive_their_coding() {
    let mut rng = Rng::new(2);
    for _ in 0..300 {
        let (clauses, mut log, name) = refutation(&mut rng);
        assert_eq!(log.confirm(name, &[]), Ok(()));
        // Once confirmed, always confirmed; and nothing else is.
        assert_eq!(log.confirm(name, &[1, 2]), Ok(()));
        assert!(log.confirm(name + 1, &[]).is_err());
        let proof = log.proof(name).expect("all hints are known");
        assert_eq!(proof.check(inputs(&clauses), &[]), Ok(()));
        assert_eq!(Proof::from_bytes(&proof.to_bytes()).as_ref(), Ok(&proof));
        assert!(proof.check(inputs(&clauses[1..]), &[]).is_err(), "fewer inputs than the proof says");
    }
}

#[test]
fn damaged_proofs_are_refused_unless_they_are_proofs() {
    let mut rng = Rng::new(3);
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..300 {
        let (clauses, log, name) = refutation(&mut rng);
        let bytes = log.proof(name).expect("all hints are known").to_bytes();
        for _ in 0..20 {
            let mut damaged = bytes.clone();
            let at = rng.below(damaged.len());
            match rng.below(3) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => drop(damaged.remove(at)),
                _ => damaged.truncate(at),
            }
            if damaged == bytes {
                continue;
            }
            // The inputs may be satisfiable without some of their clauses: what is accepted must follow
            // from those that are really there.
            let Ok(proof) = Proof::from_bytes(&damaged) else {
                refused += 1;
                continue;
            };
            match proof.check(inputs(&clauses[..20]), &[]) {
                Ok(()) => assert!(follows(&clauses[..20], &[])),
                Err(_) => refused += 1,
            }
            match proof.check(inputs(&clauses), &[]) {
                Ok(()) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 4_000, "{refused} refused, {accepted} accepted");
}

#[test]
fn assumptions_are_what_the_last_clause_negates() {
    let clauses = vec![vec![-1, 2], vec![-2, 3]];
    let mut log = Log::new();
    for (name, c) in clauses.iter().enumerate() {
        log.input(Some(name as u64), c).expect("literals in range");
    }
    log.derived(7, &[-1, 3], &[0, 1]).expect("a new name");
    assert_eq!(log.confirm(7, &[1, -3, 5]), Ok(()));
    assert!(log.confirm(7, &[1]).is_err());
    assert!(log.confirm(7, &[1, 3]).is_err());
    let proof = log.proof(7).expect("all hints are known");
    assert_eq!(proof.check(inputs(&clauses), &[1, -3]), Ok(()));
    assert!(proof.check(inputs(&clauses), &[-3]).is_err());
    // Later inputs change nothing about what was shown.
    log.input(Some(8), &[4]).expect("literals in range");
    assert_eq!(log.confirm(7, &[1, -3]), Ok(()));
    // A name is not given twice, once it is confirmed.
    assert!(log.derived(7, &[], &[]).is_err());
}

/// Each rule alone: what it refuses, nothing else does.
#[test]
fn every_rule_refuses_something() {
    let clauses = vec![vec![1], vec![-1], vec![2, 3]];
    let proof = |steps: &[(&[Lit], &[Clause])]| Proof {
        inputs: 3,
        steps: steps.iter().map(|(lits, hints)| (lits.to_vec(), hints.to_vec())).collect(),
    };
    let right = proof(&[(&[], &[0, 1])]);
    assert_eq!(right.check(inputs(&clauses), &[]), Ok(()));
    assert!(right.check(inputs(&clauses[..2]), &[]).is_err(), "another number of inputs");
    assert!(proof(&[]).check(inputs(&clauses), &[]).is_err(), "nothing is shown");
    assert!(proof(&[(&[], &[2])]).check(inputs(&clauses), &[]).is_err(), "a step that does not follow");
    assert!(proof(&[(&[2], &[2])]).check(inputs(&clauses), &[-2]).is_err(), "the same with assumptions");
    let mut log = Log::new();
    for (name, c) in clauses.iter().enumerate() {
        log.input(Some(name as u64), c).expect("literals in range");
    }
    log.derived(5, &[], &[2]).expect("a new name");
    assert!(log.confirm(5, &[]).is_err(), "a step that does not follow");
    log.derived(6, &[3], &[2]).expect("a new name");
    log.derived(7, &[], &[0, 1]).expect("a new name");
    assert_eq!(log.confirm(7, &[]), Ok(()));
    // There is one coding of each proof, and of each number.
    let bytes = right.to_bytes();
    assert_eq!(Proof::from_bytes(&bytes).as_ref(), Ok(&right));
    assert!(Proof::from_bytes(&[&bytes[..], &[0]].concat()).is_err(), "something is left over");
    assert!(Proof::from_bytes(&[&[bytes[0] | 0x80, 0], &bytes[1..]].concat()).is_err(), "a longer coding");
    assert!(Proof::from_bytes(&[0xff, 0xff, 0xff, 0xff, 0x1f, 0]).is_err(), "a number that is too large");
    assert!(Proof::from_bytes(&[0xff, 0xff, 0xff, 0xff, 0x0f, 0]).is_ok(), "the largest one");
}
