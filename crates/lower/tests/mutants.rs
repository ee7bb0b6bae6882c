//! Mutated programs are either rejected with an error or lowered to a well-formed automaton.

use palisade_base::SourceMap;
use palisade_cfa::DataModel;
use palisade_lower::{Options, compile};
use palisade_testkit::Mutator;
use std::path::Path;

#[test]
fn mutants_are_rejected_or_well_formed() {
    let mut files = Vec::new();
    for folder in ["tests/c", "../../tests/c/run"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        files.extend(std::fs::read_dir(folder).expect("it is there").flatten().map(|e| e.path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    // Nothing is preprocessed here; what the headers declare is declared implicitly.
    let plain = |text: String| -> String {
        text.lines().filter(|l| !l.starts_with("#include")).flat_map(|l| [l, "\n"]).collect()
    };
    let corpus: Vec<Vec<u8>> =
        files.iter().map(|f| plain(std::fs::read_to_string(f).expect("it is readable")).into()).collect();
    let mut mutator = Mutator::new(&corpus, 1);
    let mut accepted = 0;
    for round in 0..2500 {
        let text = String::from_utf8_lossy(&mutator.next_text()).into_owned();
        let model = if round % 2 == 0 { DataModel::Ilp32 } else { DataModel::Lp64 };
        let mut map = SourceMap::new();
        let file = map.add("mutant.c", text.clone()).expect("it is small");
        let compiled = compile(&mut map, &[file], model, &Options::default());
        match compiled.program {
            Some(program) => {
                accepted += 1;
                let findings = palisade_cfa::verify(&program);
                assert!(findings.is_empty(), "mutant {round}: {}\n{text}", findings[0]);
            }
            None => assert!(compiled.diagnostics.iter().any(|d| d.is_error()), "mutant {round}\n{text}"),
        }
    }
    assert!(accepted > 100, "only {accepted} mutants were accepted");
}
