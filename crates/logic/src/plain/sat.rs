//! CaDiCaL with its proof tracer, by the shim `shim/proof.cc`: every `unsat` is confirmed by the
//! checker of LRAT proofs before it counts.

use std::ffi::{c_int, c_void};

use palisade_base::Budget;
use palisade_lrat::{Lit, Log, Proof, Refusal};

use crate::solver::{Limits, Unknown};

/// The solver on the other side.
#[repr(C)]
struct Raw {
    _private: [u8; 0],
}

/// What the other side calls.
#[repr(C)]
struct Events {
    user: *mut c_void,
    original: extern "C" fn(*mut c_void, u64),
    derived: extern "C" fn(*mut c_void, u64, *const c_int, usize, *const u64, usize),
    conclude: extern "C" fn(*mut c_void, u64),
    terminate: extern "C" fn(*mut c_void) -> c_int,
}

unsafe extern "C" {
    fn palisade_sat_new(events: *const Events) -> *mut Raw;
    fn palisade_sat_delete(solver: *mut Raw);
    fn palisade_sat_clause(solver: *mut Raw, lits: *const c_int, n: usize);
    fn palisade_sat_solve(solver: *mut Raw, assumptions: *const c_int, n: usize, conflicts: c_int) -> c_int;
    fn palisade_sat_value(solver: *mut Raw, lit: c_int) -> c_int;
    fn palisade_sat_failed(solver: *mut Raw, lit: c_int) -> c_int;
}

/// What the callbacks write to. They run only inside calls to the solver.
struct Shared {
    log: Log,
    /// The name that the solver gave to the clause being added.
    original: Option<u64>,
    /// The clause that shows the last answer `unsat`.
    conclusion: Option<u64>,
    /// The first report that the log could not take.
    refused: Option<Refusal>,
    budget: Budget,
}

extern "C" fn on_original(user: *mut c_void, id: u64) {
    // SAFETY: `user` is the `Shared` of a live solver, and nobody else uses it during the call.
    let shared = unsafe { &mut *user.cast::<Shared>() };
    shared.original = Some(id);
}

extern "C" fn on_derived(
    user: *mut c_void,
    id: u64,
    lits: *const c_int,
    n: usize,
    hints: *const u64,
    m: usize,
) {
    // SAFETY: as above; the lists are those of the solver, alive during the call. An empty one may
    // have no address.
    let (shared, lits, hints) = unsafe {
        let lits = if n == 0 { &[][..] } else { std::slice::from_raw_parts(lits, n) };
        let hints = if m == 0 { &[][..] } else { std::slice::from_raw_parts(hints, m) };
        (&mut *user.cast::<Shared>(), lits, hints)
    };
    if let Err(why) = shared.log.derived(id, lits, hints) {
        shared.refused.get_or_insert(why);
    }
}

extern "C" fn on_conclude(user: *mut c_void, id: u64) {
    // SAFETY: as in `on_original`.
    let shared = unsafe { &mut *user.cast::<Shared>() };
    shared.conclusion = Some(id);
}

extern "C" fn on_terminate(user: *mut c_void) -> c_int {
    // SAFETY: as in `on_original`.
    let shared = unsafe { &*user.cast::<Shared>() };
    c_int::from(shared.budget.stopped().is_some())
}

/// A SAT solver whose refutations are checked.
pub(super) struct ProofSat {
    raw: *mut Raw,
    shared: *mut Shared,
}

// SAFETY: the solver and what it writes to belong to this value alone, and neither is tied to a
// thread.
unsafe impl Send for ProofSat {}

impl Drop for ProofSat {
    fn drop(&mut self) {
        // SAFETY: both were made in `new` and are dropped nowhere else; the solver, which may call
        // back, goes first.
        unsafe {
            if !self.raw.is_null() {
                palisade_sat_delete(self.raw);
            }
            drop(Box::from_raw(self.shared));
        }
    }
}

impl ProofSat {
    pub(super) fn new() -> Self {
        let shared = Box::into_raw(Box::new(Shared {
            log: Log::new(),
            original: None,
            conclusion: None,
            refused: None,
            budget: Budget::unlimited(),
        }));
        let events = Events {
            user: shared.cast(),
            original: on_original,
            derived: on_derived,
            conclude: on_conclude,
            terminate: on_terminate,
        };
        // SAFETY: the events are copied, and `shared` lives as long as the solver.
        let raw = unsafe { palisade_sat_new(&raw const events) };
        ProofSat { raw, shared }
    }

    fn shared(&mut self) -> &mut Shared {
        // SAFETY: callbacks use it only inside calls to the solver, and none is under way while
        // `self` is borrowed here.
        unsafe { &mut *self.shared }
    }

    /// Whether the library is there in the version that the shim was written for.
    pub(super) fn is_usable(&self) -> bool {
        !self.raw.is_null()
    }

    /// Adds a clause.
    pub(super) fn clause(&mut self, lits: &[Lit]) {
        if self.is_usable() {
            // SAFETY: the solver is alive, and literals are neither zero nor the least integer.
            unsafe { palisade_sat_clause(self.raw, lits.as_ptr(), lits.len()) };
        }
        let shared = self.shared();
        let name = shared.original.take();
        if let Err(why) = shared.log.input(name, lits) {
            shared.refused.get_or_insert(why);
        }
    }

    /// An estimate of the bytes held for proofs.
    pub(super) fn bytes(&mut self) -> u64 {
        self.shared().log.bytes()
    }

    /// Whether there is a model; if there is none, that was confirmed.
    pub(super) fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Result<bool, Unknown> {
        if !self.is_usable() {
            return Err(Unknown::Failed("another version of the SAT solver is linked".into()));
        }
        let shared = self.shared();
        shared.budget = limits.budget.clone();
        shared.conclusion = None;
        let conflicts = limits.conflicts.map_or(-1, |n| c_int::try_from(n).unwrap_or(c_int::MAX));
        // SAFETY: the solver is alive, and the literals are of variables that clauses have.
        let status =
            unsafe { palisade_sat_solve(self.raw, assumptions.as_ptr(), assumptions.len(), conflicts) };
        match status {
            10 => Ok(true),
            20 => match self.confirm(assumptions) {
                Ok(()) => Ok(false),
                Err(why) => Err(Unknown::Failed(format!("a proof of the SAT solver is refused: {why}"))),
            },
            _ => Err(match limits.budget.stopped() {
                Some(stop) => Unknown::Stopped(stop),
                None => Unknown::Conflicts,
            }),
        }
    }

    fn confirm(&mut self, assumptions: &[Lit]) -> Result<(), Refusal> {
        let shared = self.shared();
        if let Some(why) = shared.refused {
            return Err(why);
        }
        let conclusion = shared.conclusion.ok_or(Refusal::NoConflict)?;
        shared.log.confirm(conclusion, assumptions)
    }

    /// After an answer without a model: its proof.
    pub(super) fn proof(&mut self) -> Option<Proof> {
        let shared = self.shared();
        shared.log.proof(shared.conclusion?)
    }

    /// After an answer with a model: whether a literal is true.
    pub(super) fn value(&self, lit: Lit) -> bool {
        // SAFETY: the solver is alive and has a model.
        unsafe { palisade_sat_value(self.raw, lit) != 0 }
    }

    /// After an answer without a model: whether an assumed literal is to blame.
    pub(super) fn failed(&self, lit: Lit) -> bool {
        // SAFETY: the solver is alive and has no model under the assumptions, of which this is one.
        unsafe { palisade_sat_failed(self.raw, lit) != 0 }
    }
}
