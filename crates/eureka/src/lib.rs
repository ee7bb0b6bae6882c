//! Linear programs with arrays, checked by abstraction refinement over variables and array elements.
//!
//! After A. Armando, M. Benerecetti and J. Mantovani, "Abstraction refinement of linear programs with
//! arrays" (TACAS 2007), the procedure AR of figure 1:
//!
//! * [`program`]: linear programs with arrays (section 3);
//! * [`mod@abstraction`]: `abstract(P, V, R)`, which keeps some variables and elements (section 4);
//! * [`model_check`]: the model checker for linear programs, over polyhedra;
//! * [`trace`]: `encode` and `decide`, feasibility of traces (section 5);
//! * [`refine`](mod@refine): which variables and elements to keep in addition (section 6).

pub mod abstraction;
mod live;
pub mod model_check;
pub mod program;
pub mod refine;
pub mod trace;

pub use abstraction::{Abstraction, Kept, Origin};
pub use model_check::{Checked, Mode, Reached, model_check};
pub use program::{Array, Cond, Expr, Program, Rel, Stmt, Var, Variable, Vertex};
pub use refine::refine;
pub use trace::{Decision, decide};

use palisade_base::{Budget, Stop};

/// What AR says about a program.
#[derive(Debug)]
pub enum Answer {
    /// Vertex 0 cannot be reached: what an abstraction reaches shows it.
    Safe(Abstraction, Reached),
    /// A trace that ends with vertex 0.
    Trace(Vec<Vertex>),
    /// A trace of the abstraction that nobody could decide, or a search that became too large.
    Unknown(String),
}

/// The procedure AR of figure 1, from `kept` on.
///
/// The model checker first over-approximates loops by widening: if that excludes the failure, so
/// does every longer search. Only then it looks for a trace, exactly. `observe` sees what each round keeps.
pub fn check(
    program: &Program,
    mut kept: Kept,
    budget: &Budget,
    observe: &mut dyn FnMut(&Kept),
) -> Result<Answer, Stop> {
    loop {
        observe(&kept);
        let abstraction = Abstraction::new(program, &kept);
        if let Checked::Safe(reached) = model_check(&abstraction.program, Mode::Widening, budget)? {
            return Ok(Answer::Safe(abstraction, reached));
        }
        let trace = match model_check(&abstraction.program, Mode::Exact, budget)? {
            Checked::Safe(reached) => return Ok(Answer::Safe(abstraction, reached)),
            Checked::TooLarge => return Ok(Answer::Unknown("too many states".into())),
            Checked::Trace(trace) => trace,
        };
        if kept == Kept::all(program) {
            return Ok(Answer::Trace(trace));
        }
        match decide(program, &trace, budget)? {
            Decision::Feasible => return Ok(Answer::Trace(trace)),
            Decision::Unknown(why) => return Ok(Answer::Unknown(why)),
            Decision::Core(core) => match refine(program, &trace, &core, &kept, budget)? {
                Some(more) if more != kept => kept = more,
                _ => return Ok(Answer::Unknown("a refinement keeps nothing new".into())),
            },
        }
    }
}
