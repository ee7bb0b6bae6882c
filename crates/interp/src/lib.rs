//! The reference interpreter: executes the control-flow automaton with exact C semantics.
//!
//! Functions are compiled to register code when they are first called. Memory is objects with
//! bytes and concrete addresses; pointers remember the object they were made for, wherever they
//! travel. A run ends with an [`Outcome`]; it stops at the first failing check and, whether or not
//! there are checks, before anything undefined happens.
//!
//! ```
//! use palisade_interp::{Captured, Config, Interp, Listed, Outcome};
//! let program = palisade_cfa::text::parse(
//!     "fn main() -> i32 { local x: i32; a -> b: input x; b -> c: return x + 1; }",
//! )
//! .unwrap();
//! let mut interp = Interp::new(&program, Config::default());
//! let run = interp.run(&mut Listed::new([41]), &mut Captured::default());
//! assert_eq!(run.outcome, Outcome::Exit(42));
//! ```

mod code;
mod compile;
mod contents;
mod exec;
mod f80;
mod inputs;
mod layout;
mod leap;
mod library;
mod machine;
mod memory;
mod only_run;
mod outcome;
mod registers;
mod scalar;
mod state;

pub use inputs::{Arguments, Captured, Discard, Forced, Inputs, Listed, Output, Random, Stream};
pub use memory::BadAccess;
pub use only_run::only_run;
pub use outcome::{Outcome, Run, Taken, Trap};
pub use registers::Registers;
pub use state::{Extent, ObjectId, Observer, Seen, State, Value};

use layout::Layout;
use machine::{CodeStore, Machine};
use palisade_base::Budget;
use palisade_cfa::Program;

/// Limits of a run and what it records.
#[derive(Clone, Debug)]
pub struct Config {
    /// Edges after which a run is stopped, about.
    pub step_limit: u64,
    /// Bytes of all live objects and of the call stack.
    pub memory_limit: u64,
    /// Records executed edges, up to this many.
    pub trace_cap: Option<usize>,
    /// Looked at now and then.
    pub budget: Option<Budget>,
    /// Whether results of functions like `sin`, whose last digits differ between libraries, are taken from the
    /// platform's own, and integers that cannot hold a floating-point number are what the processor makes of it.
    /// Otherwise a run goes no further than these.
    pub approximate: bool,
}

impl Default for Config {
    /// No step limit, 2 GB of memory, no recording, and nothing that another library may see otherwise.
    fn default() -> Self {
        Config {
            step_limit: u64::MAX,
            memory_limit: 2 << 30,
            trace_cap: None,
            budget: None,
            approximate: false,
        }
    }
}

/// An interpreter for one program; compiled code is kept from run to run.
#[derive(Debug)]
pub struct Interp<'p> {
    program: &'p Program,
    config: Config,
    layout: Layout,
    store: CodeStore,
}

impl<'p> Interp<'p> {
    /// An interpreter for a well-formed program.
    pub fn new(program: &'p Program, config: Config) -> Self {
        let layout = Layout::new(program);
        let store = CodeStore::new(program.funcs.len(), config.trace_cap.is_some());
        Interp { program, config, layout, store }
    }

    /// Runs the program from its entry.
    pub fn run(&mut self, inputs: &mut dyn Inputs, output: &mut dyn Output) -> Run {
        self.start(inputs, output, None)
    }

    /// Runs the program and shows every step to an observer.
    pub fn run_observed(
        &mut self,
        inputs: &mut dyn Inputs,
        output: &mut dyn Output,
        observer: &mut dyn Observer,
    ) -> Run {
        self.start(inputs, output, Some(observer))
    }

    fn start<'a>(
        &'a mut self,
        inputs: &'a mut dyn Inputs,
        output: &'a mut dyn Output,
        observer: Option<&'a mut dyn Observer>,
    ) -> Run {
        let observed = observer.is_some() || self.config.trace_cap.is_some();
        if observed != self.store.observed {
            self.store = CodeStore::new(self.program.funcs.len(), observed);
        }
        let mut machine = Machine {
            p: self.program,
            layout: &self.layout,
            config: &self.config,
            store: &mut self.store,
            mem: memory::Memory::new(self.program.data_model, self.config.memory_limit),
            globals: Vec::new(),
            frame_objects: Vec::new(),
            allocas: Vec::new(),
            frames: Vec::new(),
            stacked: 0,
            spare: Vec::new(),
            parcel: memory::Parcel::default(),
            inputs,
            output,
            observer,
            steps: 0,
            trace: Vec::new(),
            trace_cut: false,
            taken: Vec::new(),
            unknown_functions: Vec::new(),
        };
        let started = machine.set_up().and_then(|()| machine.enter(self.program.entry, &[]));
        let (outcome, stack) = match started {
            Err(outcome) => (outcome, Vec::new()),
            Ok(mut cpu) => {
                let outcome = machine.execute(&mut cpu);
                let ended = matches!(outcome, Outcome::Exit(_));
                (outcome, if ended { Vec::new() } else { machine.stack(&cpu) })
            }
        };
        Run {
            outcome,
            stack,
            steps: machine.steps,
            trace: machine.trace,
            trace_cut: machine.trace_cut,
            inputs: machine.taken,
            unknown_functions: machine.unknown_functions,
        }
    }
}
