//! What engines that work on one task tell each other.
//!
//! A board holds what fixed points of numeric domains say about the loop heads, each computed once, what runs
//! showed there, and other facts that engines found on the way. Nothing there counts as shown: who uses a fact puts it into the certificate,
//! and the check of that shows it again.

use crate::numeric::{FixedPoint, fixed_point};
use palisade_analyses::samples::Samples;
use palisade_base::Budget;
use palisade_cfa::{LocId, Program};
use palisade_domains::Domain;
use palisade_evidence::Invariants;
use palisade_task::Task;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known about a task.
#[derive(Default)]
pub struct Board {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    notes: Vec<Note>,
    taken: Vec<Taken>,
    /// Errors and cuts that an analysis of all states did not exclude; for each analysis.
    open: Vec<Vec<LocId>>,
    /// What runs showed, and who made them.
    samples: Option<(Arc<Samples>, String)>,
    /// So many segments from the start reach neither errors nor cuts, and who found that.
    without_errors: Option<(u32, String)>,
}

/// What somebody found.
struct Note {
    by: String,
    /// The domain and the delay of its widening, where it is a fixed point.
    of: Option<(&'static str, u32)>,
    found: Arc<FixedPoint>,
}

/// An engine took what another one had found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Who took it.
    pub by: String,
    /// Who found it.
    pub from: String,
    /// How many facts.
    pub facts: usize,
}

impl Inner {
    fn take(&mut self, by: &str, note: usize) -> Arc<FixedPoint> {
        let Note { by: from, found, .. } = &self.notes[note];
        let found = Arc::clone(found);
        if from != by {
            let (by, from) = (by.into(), from.clone());
            self.taken.push(Taken { by, from, facts: found.invariants.at.len() });
        }
        found
    }
}

impl Board {
    /// A poisoned lock means that an engine panicked; the notes are still whole.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The fixed point of a domain. Who needs one that nobody has finished computes it for all.
    pub fn fixed_point(
        &self,
        by: &str,
        task: &Task,
        domain: &Domain,
        delay: u32,
        budget: &Budget,
    ) -> Result<Arc<FixedPoint>, String> {
        let of = Some((domain.name, delay));
        let known = |inner: &Inner| inner.notes.iter().position(|note| note.of == of);
        {
            let mut inner = self.lock();
            if let Some(note) = known(&inner) {
                return Ok(inner.take(by, note));
            }
        }
        // Nobody waits for it: who computes may wait for a turn.
        let found = Arc::new(fixed_point(task, domain, delay, budget)?);
        let mut inner = self.lock();
        if known(&inner).is_none() {
            inner.notes.push(Note { by: by.into(), of, found: Arc::clone(&found) });
            inner.open.push(found.open.clone());
        }
        Ok(found)
    }

    /// What runs show at loop heads. Who needs that first makes the runs for all.
    pub fn samples(&self, by: &str, task: &Task, budget: &Budget) -> Arc<Samples> {
        {
            let mut inner = self.lock();
            if let Some((samples, from)) = inner.samples.clone() {
                if from != by {
                    inner.taken.push(Taken { by: by.into(), from, facts: samples.states() });
                }
                return samples;
            }
        }
        let samples = Arc::new(Samples::collect(task, budget));
        self.lock().samples.get_or_insert_with(|| (Arc::clone(&samples), by.into()));
        samples
    }

    /// Tells facts about loop heads, about variables of the program alone.
    pub fn post(&self, by: &str, invariants: Invariants) {
        let found = Arc::new(FixedPoint { invariants, open: Vec::new() });
        self.lock().notes.push(Note { by: by.into(), of: None, found });
    }

    /// All facts that were told since `seen`, which is where the next call goes on.
    pub fn facts(&self, by: &str, program: &Program, seen: &mut usize) -> Invariants {
        let mut all = Invariants::none(program);
        let mut inner = self.lock();
        for note in *seen..inner.notes.len() {
            all.append(&inner.take(by, note).invariants);
        }
        *seen = inner.notes.len();
        all
    }

    /// Tells which errors and cuts an analysis of all states did not exclude.
    pub fn leave_open(&self, ends: Vec<LocId>) {
        self.lock().open.push(ends);
    }

    /// The errors and cuts that no analysis of all states excludes, in order; nothing is known before the first one
    /// is through.
    pub fn open(&self) -> Option<Vec<LocId>> {
        let inner = self.lock();
        let (first, others) = inner.open.split_first()?;
        let mut open = first.clone();
        open.retain(|loc| others.iter().all(|ends| ends.contains(loc)));
        open.sort_unstable();
        open.dedup();
        Some(open)
    }

    /// Tells that so many segments from the start, each from one loop head to the next, reach neither errors nor cuts.
    pub fn exclude_segments(&self, by: &str, segments: u32) {
        let known = &mut self.lock().without_errors;
        if known.as_ref().is_none_or(|(before, _)| *before < segments) {
            *known = Some((segments, by.into()));
        }
    }

    /// How many segments from the start reach no errors, for somebody who knows that of `known` ones.
    pub fn segments_without_errors(&self, by: &str, known: u32) -> u32 {
        let mut inner = self.lock();
        match inner.without_errors.clone() {
            Some((segments, from)) if segments > known => {
                inner.taken.push(Taken { by: by.into(), from, facts: 1 });
                segments
            }
            _ => known,
        }
    }

    /// Whether something was told since.
    pub fn has_news(&self, seen: usize) -> bool {
        self.lock().notes.len() > seen
    }

    /// Who took what so far.
    pub fn taken(&self) -> Vec<Taken> {
        self.lock().taken.clone()
    }
}
