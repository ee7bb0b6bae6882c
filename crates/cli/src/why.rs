//! Why a property holds, in a few lines: what the certificate says besides invariants and contracts.

use palisade_cfa::LocId;
use palisade_engines::Certificate;
use palisade_task::Task;
use palisade_witness::places::Places;
use std::collections::BTreeMap;

/// Loops that are told of at most.
const LOOPS: usize = 20;

/// The lines.
pub fn why(task: &Task, certificate: &Certificate, places: &Places) -> Vec<String> {
    match certificate {
        Certificate::Unrolling { bounds } => unrolling(task, bounds, places),
        Certificate::KInduction { k, .. } => {
            let passes = match k {
                0 => return vec!["what holds at the loops rules out everything that could go wrong".into()],
                1 => "the pass".to_owned(),
                k => format!("{k} passes"),
            };
            vec![format!("no pass through a loop goes wrong if {passes} before it did not")]
        }
        Certificate::Cover(cover) => {
            let states = cover.states.len();
            vec![format!("all runs get to the loops in {states} known states, which are listed in part")]
        }
        Certificate::OnlyRun => {
            vec!["nothing is read from outside: the only run was followed to its end".into()]
        }
        Certificate::Contracts(found) => match &found.proofs[..] {
            [(woven, proof), ..] => why(woven, proof, places),
            [] => Vec::new(),
        },
        Certificate::Invariants(_) => Vec::new(),
    }
}

/// Where each loop of the source ends; a loop that is there several times is told of once.
fn unrolling(task: &Task, bounds: &[(LocId, u32)], places: &Places) -> Vec<String> {
    let mut loops: BTreeMap<(String, u32), u32> = BTreeMap::new();
    for &(head, passes) in bounds {
        let loc = &task.program.locs[head];
        if let Some(at) = places.locate(loc.loop_stmt.unwrap_or(loc.span).lo) {
            let most = loops.entry((at.file_name, at.line)).or_default();
            *most = passes.saturating_sub(1).max(*most);
        }
    }
    let mut lines = vec!["all ways to what could go wrong were followed to their ends".to_owned()];
    for ((file, line), times) in loops.iter().take(LOOPS) {
        let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
        lines.push(format!("{file}:{line}: the loop comes back to its start at most {times}"));
    }
    if loops.len() > LOOPS {
        lines.push(format!("and {} more loops end", loops.len() - LOOPS));
    }
    lines
}
