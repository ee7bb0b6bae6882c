//! Resolves the names of automata in a program.

use super::*;
use palisade_cfa::*;

/// An automaton whose names are those of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observer {
    /// Its name.
    pub name: String,
    /// The state it starts in.
    pub initial: usize,
    /// All states.
    pub states: Vec<ObserverState>,
}

/// A control state of an [`Observer`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObserverState {
    /// Its name.
    pub name: String,
    /// For an error state, what went wrong.
    pub error: Option<String>,
    /// What leads out of it. Events without a transition leave the state as it is.
    pub transitions: Vec<Transition>,
}

/// A transition (q, (D, ψ), q′).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// The edges D, by what they do.
    pub trigger: Trigger,
    /// The condition ψ, a truth value; `None` is *true*.
    pub condition: Option<ExprId>,
    /// The next state q′.
    pub to: usize,
}

/// Which edges a transition is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trigger {
    /// Calls of a function.
    Call(FuncId),
    /// Return statements of a function.
    Return(FuncId),
    /// Assignments whose left side names the variable.
    Assign(VarId),
    /// Edges that lead to one of these locations.
    Locations(Vec<LocId>),
}

/// How an edge is taken: what an event may be about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// The operation as a whole; for a call one of a function without a body.
    Whole,
    /// A call enters this function.
    Enter(FuncId),
    /// A call comes back from a body.
    Leave,
}

impl Trigger {
    /// Whether a step is an event of this trigger. Of a call through a pointer, taken as a whole,
    /// it is not known who is called: that is no call event.
    pub fn happens(&self, program: &Program, edge: EdgeId, moment: Moment) -> bool {
        if let (Trigger::Call(f), Moment::Enter(g)) = (self, moment) {
            return *f == g;
        }
        let to = match moment {
            Moment::Enter(f) => program.body(f).entry,
            _ => program.edges[edge].dst,
        };
        let op = &program.edges[edge].op;
        match (self, moment) {
            (Trigger::Locations(locs), _) => locs.contains(&to),
            (_, Moment::Enter(_)) => false,
            (Trigger::Assign(v), _) => assigns(program, op, *v),
            (Trigger::Call(f), Moment::Whole) => {
                matches!(op, Op::Call { callee: Callee::Direct(g), .. } if f == g)
            }
            (Trigger::Return(f), Moment::Whole) => {
                matches!(op, Op::Return { .. }) && program.locs[program.edges[edge].src].func == *f
            }
            (Trigger::Call(_) | Trigger::Return(_), _) => false,
        }
    }

    /// The functions in which the state after an event is looked at.
    fn functions(&self, program: &Program) -> Vec<FuncId> {
        let sources = |happens: &dyn Fn(&Op) -> bool| {
            let edges = program.edges.iter().filter(|e| happens(&e.op));
            edges.map(|e| program.locs[e.src].func).collect()
        };
        match self {
            Trigger::Call(f) if program.funcs[*f].body.is_none() => sources(&|op| match op {
                Op::Call { callee: Callee::Direct(g), .. } => f == g,
                // Any of them may call it.
                Op::Call { callee: Callee::Indirect(_), .. } => true,
                _ => false,
            }),
            Trigger::Call(f) | Trigger::Return(f) => vec![*f],
            Trigger::Assign(v) => sources(&|op| assigns(program, op, *v)),
            Trigger::Locations(locs) => locs.iter().map(|l| program.locs[*l].func).collect(),
        }
    }
}

/// Whether the left side of an operation names a variable.
fn assigns(program: &Program, op: &Op, var: VarId) -> bool {
    match op {
        Op::Assign { dst, .. }
        | Op::Copy { dst, .. }
        | Op::Zero { dst }
        | Op::Havoc { dst, .. }
        | Op::Alloc { dst, .. }
        | Op::Call { dst: Some(dst), .. } => program.places[*dst].base == Base::Var(var),
        _ => false,
    }
}

/// Resolves all names; conditions become expressions of the program.
pub fn bind(automata: &[Automaton], program: &mut Program) -> Result<Vec<Observer>, SpcError> {
    automata
        .iter()
        .map(|automaton| {
            let states = automaton.states.iter().map(|state| {
                let mut before: Option<(&Cond, ExprId)> = None;
                let transitions = state.rules.iter().map(|rule| {
                    let (trigger, func) = trigger(&rule.event, program)?;
                    let condition = match (&rule.condition, before) {
                        // `else`, or the last part of a SPLIT: of the very same expression.
                        (Some(Cond::Not(c)), Some((d, id))) if **c == *d => {
                            Some(program.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, id)))
                        }
                        (Some(c), _) => {
                            let places = trigger.functions(program);
                            Some(Binder { program, func, places: &places }.truth(c)?)
                        }
                        (None, _) => None,
                    };
                    before = rule.condition.as_ref().zip(condition);
                    Ok(Transition { trigger, condition, to: rule.to })
                });
                Ok(ObserverState {
                    name: state.name.clone(),
                    error: state.error.clone(),
                    transitions: transitions.collect::<Result<_, SpcError>>()?,
                })
            });
            Ok(Observer {
                name: automaton.name.clone(),
                initial: automaton.initial,
                states: states.collect::<Result<_, SpcError>>()?,
            })
        })
        .collect()
}

/// What an event is about, and the function whose variables its condition may name.
fn trigger(event: &Event, program: &Program) -> Result<(Trigger, Option<FuncId>), SpcError> {
    let function = || {
        program
            .func_named(&event.name)
            .ok_or_else(|| SpcError::new(event.at, format!("the program has no function `{}`", event.name)))
    };
    match event.kind {
        EventKind::Call => {
            let f = function()?;
            if f == program.entry {
                let message = format!("the program starts in `{}`, which is not a call", event.name);
                return Err(SpcError::new(event.at, message));
            }
            Ok((Trigger::Call(f), Some(f)))
        }
        EventKind::Return => {
            let f = function()?;
            if program.funcs[f].body.is_none() {
                let message = format!("function `{}` has no body to return from", event.name);
                return Err(SpcError::new(event.at, message));
            }
            Ok((Trigger::Return(f), Some(f)))
        }
        EventKind::Assign => {
            let var = variable(&event.name, event.at, None, program)?;
            Ok((Trigger::Assign(var), owner(&program.vars[var])))
        }
        EventKind::Label => {
            let locs: Vec<LocId> = program
                .locs
                .iter_enumerated()
                .filter(|(_, l)| l.label.as_deref() == Some(&*event.name))
                .map(|(id, _)| id)
                .collect();
            let Some(&first) = locs.first() else {
                return Err(SpcError::new(event.at, format!("the program has no label `{}`", event.name)));
            };
            Ok((Trigger::Locations(locs), Some(program.locs[first].func)))
        }
    }
}

/// The function a variable belongs to.
fn owner(var: &Var) -> Option<FuncId> {
    match var.kind {
        VarKind::Global => None,
        VarKind::Param(f) | VarKind::Local(f) | VarKind::Temp(f) => Some(f),
    }
}

/// The variable behind `x` or `f::x`.
fn variable(name: &str, at: At, func: Option<FuncId>, program: &Program) -> Result<VarId, SpcError> {
    let unknown = || SpcError::new(at, format!("the program has no variable `{name}` here"));
    let named = |name: &str, scope: Option<FuncId>| {
        let mut found = program
            .vars
            .iter_enumerated()
            .filter(|(_, v)| &*v.name == name && owner(v) == scope)
            .map(|(id, _)| id);
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(SpcError::new(at, format!("there is more than one variable `{name}`"))),
            (found, _) => Ok(found),
        }
    };
    if let Some((f, x)) = name.split_once("::") {
        let func = program
            .func_named(f)
            .ok_or_else(|| SpcError::new(at, format!("the program has no function `{f}`")))?;
        return named(x, Some(func))?.ok_or_else(unknown);
    }
    if func.is_some()
        && let Some(local) = named(name, func)?
    {
        return Ok(local);
    }
    named(name, None)?.ok_or_else(unknown)
}

struct Binder<'a> {
    program: &'a mut Program,
    func: Option<FuncId>,
    /// Where the condition is evaluated.
    places: &'a [FuncId],
}

/// The type both operands of an operator are converted to, as in C.
fn common(a: IntTy, b: IntTy) -> IntTy {
    let promoted = |t: IntTy| if t.bits < 32 { IntTy::I32 } else { t };
    let (a, b) = (promoted(a), promoted(b));
    match a.bits.cmp(&b.bits) {
        std::cmp::Ordering::Less => b,
        std::cmp::Ordering::Greater => a,
        std::cmp::Ordering::Equal => IntTy { bits: a.bits, signed: a.signed && b.signed },
    }
}

impl Binder<'_> {
    fn convert(&mut self, e: ExprId, to: IntTy) -> ExprId {
        if self.program.exprs[e].ty == Scalar::Int(to) {
            e
        } else {
            self.program.add_expr(Scalar::Int(to), ExprKind::Convert(e))
        }
    }

    /// A condition as a truth value.
    fn truth(&mut self, c: &Cond) -> Result<ExprId, SpcError> {
        let kind = match c {
            Cond::Not(a) => ExprKind::Unary(UnOp::Not, self.truth(a)?),
            Cond::Binary(op @ (Operator::And | Operator::Or), a, b) => {
                let op = if *op == Operator::And { BinOp::And } else { BinOp::Or };
                ExprKind::Binary(op, self.truth(a)?, self.truth(b)?)
            }
            Cond::Binary(op, a, b) if comparison(*op).is_some() => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                let ty = common(self.int(x), self.int(y));
                let (x, y) = (self.convert(x, ty), self.convert(y, ty));
                match comparison(*op) {
                    Some((op, false)) => ExprKind::Cmp(op, x, y),
                    Some((op, true)) => ExprKind::Cmp(op, y, x),
                    None => ExprKind::Int(0),
                }
            }
            other => {
                let value = self.value(other)?;
                let ty = self.int(value);
                let zero = self.program.int(ty, 0);
                ExprKind::Cmp(CmpOp::Ne, value, zero)
            }
        };
        Ok(self.program.add_expr(Scalar::BOOL, kind))
    }

    fn int(&self, e: ExprId) -> IntTy {
        // Values are integers by construction.
        self.program.exprs[e].ty.int().unwrap_or(IntTy::I32)
    }

    /// An arithmetic expression as an integer.
    fn value(&mut self, c: &Cond) -> Result<ExprId, SpcError> {
        match c {
            Cond::Number(n) => {
                let fits = i32::try_from(*n).is_ok();
                Ok(self.program.int(IntTy { bits: if fits { 32 } else { 64 }, signed: true }, *n))
            }
            Cond::Name(name, at) => {
                let var = variable(name, *at, self.func, self.program)?;
                if !matches!(self.program.types[self.program.vars[var].ty], Type::Int(_)) {
                    return Err(SpcError::new(*at, format!("variable `{name}` is not an integer")));
                }
                if owner(&self.program.vars[var]).is_some_and(|f| self.places.iter().any(|g| *g != f)) {
                    let message = format!("variable `{name}` does not exist wherever this event happens");
                    return Err(SpcError::new(*at, message));
                }
                let place = self.program.var_place(var);
                Ok(self.program.load(place))
            }
            Cond::Neg(a) => {
                let a = self.value(a)?;
                let ty = common(self.int(a), IntTy::I32);
                let a = self.convert(a, ty);
                Ok(self.program.add_expr(Scalar::Int(ty), ExprKind::Unary(UnOp::Neg, a)))
            }
            Cond::Binary(op, a, b) if arithmetic(*op).is_some() => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                let ty = common(self.int(x), self.int(y));
                let (x, y) = (self.convert(x, ty), self.convert(y, ty));
                let op = arithmetic(*op).unwrap_or(BinOp::Add);
                Ok(self.program.add_expr(Scalar::Int(ty), ExprKind::Binary(op, x, y)))
            }
            logical => {
                let truth = self.truth(logical)?;
                Ok(self.convert(truth, IntTy::I32))
            }
        }
    }
}

fn arithmetic(op: Operator) -> Option<BinOp> {
    match op {
        Operator::Add => Some(BinOp::Add),
        Operator::Sub => Some(BinOp::Sub),
        Operator::Mul => Some(BinOp::Mul),
        _ => None,
    }
}

/// The comparison, and whether the operands change sides.
fn comparison(op: Operator) -> Option<(CmpOp, bool)> {
    match op {
        Operator::Eq => Some((CmpOp::Eq, false)),
        Operator::Ne => Some((CmpOp::Ne, false)),
        Operator::Lt => Some((CmpOp::Lt, false)),
        Operator::Le => Some((CmpOp::Le, false)),
        Operator::Gt => Some((CmpOp::Lt, true)),
        Operator::Ge => Some((CmpOp::Le, true)),
        _ => None,
    }
}
