//! Certificates of small programs are accepted, and damaged ones refused: damaged files always, and
//! files that were damaged before they were sealed unless they still are evidence. None panics.

use palisade_base::{Budget, SourceMap};
use palisade_cfa::{BinOp, CmpOp, DataModel, ExprKind, Scalar};
use palisade_evidence::{Certificate, Counterexample, Invariants};
use palisade_lower::Options;
use palisade_property::Property;
use palisade_recheck::source::How;
use palisade_recheck::{Confirmed, Dossier, Question, Settlement, coding, recheck};
use palisade_testkit::Rng;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const START: &str = "extern void __assert_fail(const char *, const char *, unsigned, const char *);\n\
    extern int __VERIFIER_nondet_int(void);\n\
    int main(void) {\n";

/// The body of `main`, and what settles it.
const PROGRAMS: [(&str, Kind); 5] = [
    (
        "int n = __VERIFIER_nondet_int(), i = 0; if (n < 0 || n > 4) return 0; while (i < n) i++; if (i > 4) __assert_fail(\"i\", \"\", 1, \"\"); return 0;",
        Kind::Unrolling,
    ),
    (
        "unsigned x = __VERIFIER_nondet_int(); x %= 8; if (x * x > 49) __assert_fail(\"x\", \"\", 1, \"\"); return 0;",
        Kind::Unrolling,
    ),
    (
        "int i = 0; while (__VERIFIER_nondet_int()) { if (i < 100) i++; } if (i > 100) __assert_fail(\"i\", \"\", 1, \"\"); return 0;",
        Kind::Invariant,
    ),
    (
        "int i = 7; while (i > 3) i--; if (i != 3) __assert_fail(\"i\", \"\", 1, \"\"); return 0;",
        Kind::OnlyRun,
    ),
    ("int i = 7; if (i == 7) __assert_fail(\"i\", \"\", 1, \"\"); return 0;", Kind::Bug),
];

#[derive(Clone, Copy)]
enum Kind {
    Unrolling,
    /// That the only variable is at most 100 at every loop head.
    Invariant,
    OnlyRun,
    Bug,
}

/// A file for a program, and the dossier about it.
fn settled(number: usize) -> (PathBuf, Dossier) {
    let (body, kind) = PROGRAMS[number];
    let text = format!("{START}{body}\n}}\n");
    let path = std::env::temp_dir().join(format!("palisade-recheck-{}-{number}.i", std::process::id()));
    std::fs::write(&path, &text).expect("the folder for temporary files can be written");
    let property = Property::assertions();
    let options = Options { checks: property.checks().collect(), ..Options::default() };
    let mut sources = SourceMap::new();
    let id = sources.add(&path.to_string_lossy(), text).expect("small");
    let compiled = palisade_lower::compile(&mut sources, &[id], DataModel::Lp64, &options);
    let mut program = compiled.program.expect("the program is right");
    palisade_property::instrument(&mut program, &property);
    let program = Arc::new(program);
    let task = palisade_reduce::task(&program, 2, 10_000).expect("small");
    let certificate = match kind {
        Kind::Unrolling => {
            let heads = task.program.analyse();
            let heads = heads.loop_heads(task.program.entry);
            Some(Certificate::Unrolling { bounds: heads.map(|head| (head, 5)).collect() })
        }
        Kind::OnlyRun => Some(Certificate::OnlyRun),
        Kind::Invariant => {
            let p = &task.program;
            let mut invariants = Invariants::none(p);
            let named =
                |name: &str| p.vars.iter_enumerated().find(|(_, v)| &*v.name == name).map(|(id, _)| id);
            let i = named("i").expect("the variable is there");
            let value = invariants.var(p, i);
            let Scalar::Int(ty) = invariants.get(p, value).ty else { panic!("an integer") };
            let (zero, bound, one) = (invariants.int(ty, 0), invariants.int(ty, 101), invariants.int(ty, 1));
            let bound = invariants.expr(Scalar::Int(ty), ExprKind::Binary(BinOp::Sub, bound, one));
            let low = invariants.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, zero, value));
            let high = invariants.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, value, bound));
            let graph = p.analyse();
            let heads = graph.loop_heads(p.entry);
            invariants.at = heads.flat_map(|head| [(head, low), (head, high)]).collect();
            Some(Certificate::Invariants(invariants))
        }
        Kind::Bug => None,
    };
    let settlement = match certificate {
        Some(certificate) => {
            Settlement::holds(&task, &certificate, &Budget::unlimited()).expect("the certificate is right")
        }
        None => Settlement::fails(&program, &Counterexample { unknowns: Vec::new(), contents: Vec::new() }),
    };
    let question = Question {
        property: "unreach-call".into(),
        entry: None,
        source: How {
            data_model: DataModel::Lp64,
            include: Vec::new(),
            define: Vec::new(),
            flags: Vec::new(),
            std: None,
            annotations: false,
        },
        missing: options.missing,
        malloc_may_fail: false,
        pointers: options.pointers,
    };
    (path, Dossier { question, settlements: vec![settlement] })
}

fn accepted(file: &[u8], path: &Path) -> bool {
    let dossier = Dossier::of_file(file).map_err(|e| e.to_string());
    dossier.and_then(|d| recheck(&d, &[path.to_path_buf()], &Budget::unlimited())).is_ok()
}

#[test]
fn files_are_accepted_and_damaged_ones_refused() {
    let rounds: usize = std::env::var("PALISADE_MUTANTS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let mut rng = Rng::new(7);
    for (number, (_, kind)) in PROGRAMS.iter().enumerate() {
        let (path, dossier) = settled(number);
        let file = dossier.to_file();
        assert_eq!(Dossier::of_file(&file).as_ref(), Ok(&dossier));
        let confirmed = recheck(&dossier, std::slice::from_ref(&path), &Budget::unlimited());
        match kind {
            Kind::Bug => assert_eq!(confirmed, Ok(Confirmed::Fails("unreach-call".into()))),
            Kind::OnlyRun => assert_eq!(confirmed, Ok(Confirmed::Holds(0))),
            _ => assert!(matches!(confirmed, Ok(Confirmed::Holds(n)) if n > 0), "{confirmed:?}"),
        }
        for _ in 0..rounds / PROGRAMS.len() {
            let mut damaged = file.clone();
            let at = rng.below(file.len());
            match rng.below(4) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => drop(damaged.remove(at)),
                2 => damaged.truncate(at),
                _ => damaged.insert(at, rng.below(256) as u8),
            }
            assert!(damaged == file || !accepted(&damaged, &path), "byte {at} of program {number}");
        }
        // Sealed after the damage: what is accepted must be evidence of the same program.
        let content = coding::unseal(&file).expect("the file is whole");
        let (mut refused, mut kept) = (0, 0);
        for _ in 0..rounds / PROGRAMS.len() {
            let mut damaged = content.clone();
            let at = rng.below(content.len());
            match rng.below(3) {
                0 => damaged[at] ^= 1 << rng.below(8),
                1 => drop(damaged.remove(at)),
                _ => damaged[at] = damaged[at].wrapping_add(1),
            }
            match Dossier::of_file(&coding::seal(&damaged)) {
                Ok(d) if recheck(&d, std::slice::from_ref(&path), &Budget::unlimited()).is_ok() => kept += 1,
                _ => refused += 1,
            }
        }
        assert!(refused > kept, "program {number}: {refused} refused, {kept} accepted");
        // Of another program.
        let (other, _) = settled((number + 1) % PROGRAMS.len());
        assert!(!accepted(&file, &other));
    }
}
