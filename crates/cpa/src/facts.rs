//! What the components of a composite may ask each other.
//!
//! A query is a typed value that carries room for its answer. It goes to every component; each one
//! that knows something writes it in, and what is there stays: all answers hold at once. No
//! component ever looks at another one's state.

use crate::cpa::{Cpa, Halt};
use palisade_cfa::{ExprId, FuncId, LocId, VarId};

/// Something a pointer can point to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// A variable (of its only living activation).
    Var(VarId),
    /// An allocated object, by the number the analysis gave it.
    Heap(u32),
}

/// A value known exactly.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Constant {
    /// The value bits of an integer, a floating-point number or an absolute address.
    Bits(u128),
    /// The address of a function.
    Func(FuncId),
    /// A pointer: an object and a byte offset.
    Addr(Object, i64),
}

/// A question about the concrete states of one abstract state.
#[derive(Debug)]
pub enum Query<'a> {
    /// The location.
    Location(&'a mut Option<LocId>),
    /// The only value an expression has in all of them.
    Value(ExprId, &'a mut Option<Constant>),
    /// Truth values that are 1 in all of them, among them the conditions under which an observer
    /// took its transition.
    Conditions(&'a mut Vec<ExprId>),
    /// The only value that a register can have in those in which the other registers have the
    /// given values (the ↓ of section 5.2). [`Unique::None`] if there is no such state.
    UniqueValue {
        /// The register asked for.
        var: VarId,
        /// What the asker knows.
        known: &'a [(VarId, Constant)],
        /// The answer.
        answer: &'a mut Unique,
    },
}

/// An answer to [`Query::UniqueValue`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unique {
    /// Nobody knows, or there are several.
    Unknown,
    /// Exactly this one.
    Value(Constant),
    /// There is no concrete state at all.
    None,
}

/// The other components of a composite state.
pub trait Facts {
    /// Passes a query to all of them.
    fn ask(&mut self, query: &mut Query<'_>) -> Result<(), Halt>;

    /// The only value of an expression, if somebody knows it.
    fn value(&mut self, expr: ExprId) -> Result<Option<Constant>, Halt> {
        let mut answer = None;
        self.ask(&mut Query::Value(expr, &mut answer))?;
        Ok(answer)
    }

    /// The conditions that hold.
    fn conditions(&mut self) -> Result<Vec<ExprId>, Halt> {
        let mut answer = Vec::new();
        self.ask(&mut Query::Conditions(&mut answer))?;
        Ok(answer)
    }

    /// The only value of a register under assumptions.
    fn unique_value(&mut self, var: VarId, known: &[(VarId, Constant)]) -> Result<Unique, Halt> {
        let mut answer = Unique::Unknown;
        self.ask(&mut Query::UniqueValue { var, known, answer: &mut answer })?;
        Ok(answer)
    }
}

/// Nobody else is there.
pub struct Alone;

impl Facts for Alone {
    fn ask(&mut self, _query: &mut Query<'_>) -> Result<(), Halt> {
        Ok(())
    }
}

/// A component's state and whatever lies further out.
pub(crate) struct Beside<'a, C: Cpa> {
    pub(crate) cpa: &'a mut C,
    pub(crate) state: &'a C::State,
    pub(crate) outer: &'a mut dyn Facts,
}

impl<C: Cpa> Facts for Beside<'_, C> {
    fn ask(&mut self, query: &mut Query<'_>) -> Result<(), Halt> {
        self.cpa.answer(self.state, query)?;
        self.outer.ask(query)
    }
}
