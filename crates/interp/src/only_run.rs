//! Programs that depend on nothing: they have one run, and executing it tells all.
//!
//! [`only_run`] executes a program with inputs that refuse every question. Two arguments about the
//! text of the program go with it, both on the safe side:
//!
//! * *Uninitialised variables.* A variable that comes to life has any value, which does not matter
//!   if nothing reads it before it is set. A data-flow analysis ([`Setting`]) finds out where that
//!   is so for the variables of each function; only there a question is ignored.
//! * *Addresses.* Where objects lie is not determined. Pointers stay in registers, are never made
//!   of integers or into them, and are compared with the null pointer at most, so that no value
//!   depends on an address.

use crate::compile::{Canon, complementary};
use crate::inputs::{Discard, Inputs};
use crate::layout::{Layout, VarLoc};
use crate::outcome::Run;
use crate::{Config, Interp};
use palisade_base::{Budget, Stop};
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// Locations times variables of a function beyond which it is not looked at.
const MAX_SETTINGS: usize = 10_000_000;

/// Executes the program if it has no other run than this one. Otherwise, or if that is not clear,
/// tells why.
///
/// A run that ends by a limit is the start of the only run.
pub fn only_run(program: &Program, config: Config) -> Result<Run, String> {
    let ignored = Closed { p: program, layout: Layout::new(program), facts: Facts::default() }.check()?;
    let budget = config.budget.as_ref().map_or_else(Budget::unlimited, Budget::child);
    let mut inputs = Refusing { ignored, asked: false, budget: budget.clone() };
    let run = Interp::new(program, Config { budget: Some(budget), ..config }).run(&mut inputs, &mut Discard);
    if inputs.asked {
        return Err("the run depends on a value that is not determined".into());
    }
    match run.unknown_functions.first() {
        Some(&f) => Err(format!("the run calls `{}`, which is not known", program.funcs[f].name)),
        None => Ok(run),
    }
}

/// Answers nothing. A question that matters ends the run.
struct Refusing {
    ignored: FxHashSet<EdgeId>,
    asked: bool,
    budget: Budget,
}

impl Refusing {
    fn refuse(&mut self, edge: EdgeId) {
        if !self.ignored.contains(&edge) {
            self.asked = true;
            self.budget.stop(Stop::Cancelled);
        }
    }
}

/// The edge that stands for the start of the program.
const START: EdgeId = EdgeId(u32::MAX);

impl Inputs for Refusing {
    fn input(&mut self, _ty: Scalar, _edge: EdgeId) -> Option<u128> {
        self.asked = true;
        None
    }

    fn unknown(&mut self, _ty: Scalar, edge: EdgeId) -> u128 {
        self.refuse(edge);
        0
    }

    fn unknown_bytes(&mut self, edge: EdgeId, bytes: &mut [u8]) {
        if !bytes.is_empty() {
            self.refuse(edge);
        }
    }
}

/// What the functions that may be called do somewhere.
#[derive(Default)]
struct Facts {
    compares_with_null: bool,
    moves_pointers: bool,
    allocates: bool,
    asks_for_leaks: bool,
}

struct Closed<'p> {
    p: &'p Program,
    layout: Layout,
    facts: Facts,
}

impl Closed<'_> {
    /// The edges whose questions do not matter, if nothing else stands in the way.
    fn check(mut self) -> Result<FxHashSet<EdgeId>, String> {
        self.globals()?;
        let p = self.p;
        let calls = CallGraph::new(p);
        let mut edges: FxHashMap<FuncId, Vec<EdgeId>> = FxHashMap::default();
        for (id, edge) in p.edges.iter_enumerated() {
            let func = p.locs[edge.src].func;
            if calls.is_reachable(func) {
                self.operation(func, &edge.op)?;
                edges.entry(func).or_default().push(id);
            }
        }
        let mut canon = Canon::default();
        for loc in p.locs.iter().filter(|l| calls.is_reachable(l.func)) {
            match loc.out.as_slice() {
                [] | [_] => {}
                [a, b] if complementary(p, &mut canon, *a, *b) => {}
                _ => return Err("a choice between several ways".into()),
            }
        }
        if self.facts.compares_with_null && self.facts.moves_pointers {
            return Err("pointers that are moved and compared".into());
        }
        if self.facts.asks_for_leaks && self.facts.allocates {
            return Err("what points to the heap is not determined".into());
        }
        // Nothing that is called reads a global without initial contents.
        let mut ignored = FxHashSet::from_iter([START]);
        for (func, edges) in &edges {
            ignored.extend(Setting::new(p, *func).ignored(edges)?);
        }
        Ok(ignored)
    }

    fn globals(&self) -> Result<(), String> {
        for (id, var) in self.p.vars.iter_enumerated() {
            let Init::Image(items) = &var.init else { continue };
            for item in items {
                match item.value {
                    InitValue::Bytes(_) | InitValue::Int(..) | InitValue::Float(..) => {}
                    InitValue::Absolute(0) => {}
                    InitValue::Addr(to, _)
                        if matches!(self.layout.vars[id], VarLoc::GlobalReg(_))
                            && self.p.vars[to].init != Init::Unknown => {}
                    _ => return Err(format!("an address in memory (`{}`)", var.name)),
                }
            }
        }
        Ok(())
    }

    /// Whether the place is a register as a whole.
    fn is_register(&self, place: PlaceId) -> bool {
        match self.p.places[place].base {
            Base::Var(v) => matches!(self.layout.vars[v], VarLoc::Reg(_) | VarLoc::GlobalReg(_)),
            Base::Deref(_) => false,
        }
    }

    fn pointers_in_registers(&self, place: PlaceId) -> Result<(), String> {
        match self.p.place_scalar(place) {
            Some(Scalar::Ptr) if !self.is_register(place) => Err("a pointer in memory".into()),
            _ => Ok(()),
        }
    }

    fn operation(&mut self, func: FuncId, op: &Op) -> Result<(), String> {
        let p = self.p;
        match op {
            Op::Call { callee: Callee::Indirect(_), .. } => return Err("a call through a pointer".into()),
            Op::Call { dst, callee: Callee::Direct(f), args } => self.call(*f, *dst, args)?,
            Op::Return { value: None } => {
                let void = match &p.types[p.funcs[func].ty] {
                    Type::Func(sig) => p.types[sig.ret] == Type::Void,
                    _ => false,
                };
                if !void {
                    return Err("a result that is not given".into());
                }
            }
            Op::Alloc { .. } => self.facts.allocates = true,
            _ => {}
        }
        let mut result = Ok(());
        p.visit_op(op, &mut |used| {
            let one = match used {
                Use::Expr(e) => self.expression(e),
                Use::Read(place) | Use::Address(place) => self.read(place),
                Use::Write(place) => self.pointers_in_registers(place),
            };
            if result.is_ok() {
                result = one;
            }
        });
        result
    }

    fn call(&self, func: FuncId, dst: Option<PlaceId>, args: &[Arg]) -> Result<(), String> {
        let f = &self.p.funcs[func];
        let Some(body) = &f.body else {
            // What prints is deterministic; what is not known is refused when it is called.
            let harmless = match f.effect {
                Effect::Native(_) => dst.is_none(),
                Effect::Pure | Effect::Arbitrary => true,
                _ => false,
            };
            return if harmless { Ok(()) } else { Err(format!("a call of `{}`", f.name)) };
        };
        if args.len() < body.params.len() {
            return Err("an argument that is not given".into());
        }
        for &param in &body.params {
            let pointer = self.p.scalar_of(self.p.vars[param].ty) == Some(Scalar::Ptr);
            if pointer && !matches!(self.layout.vars[param], VarLoc::Reg(_)) {
                return Err("a pointer in memory".into());
            }
        }
        Ok(())
    }

    fn read(&self, place: PlaceId) -> Result<(), String> {
        if let Base::Var(v) = self.p.places[place].base {
            let var = &self.p.vars[v];
            if var.kind == VarKind::Global && var.init == Init::Unknown {
                return Err(format!("`{}` has no initial contents", var.name));
            }
        }
        self.pointers_in_registers(place)
    }

    fn expression(&mut self, e: ExprId) -> Result<(), String> {
        let p = self.p;
        let pointer = |e: ExprId| p.exprs[e].ty == Scalar::Ptr;
        let zero = |e: ExprId| matches!(p.exprs[e].kind, ExprKind::Int(0));
        let null = |e: ExprId| match p.exprs[e].kind {
            ExprKind::Convert(a) => pointer(e) && zero(a),
            _ => pointer(e) && zero(e),
        };
        let fine = match p.exprs[e].kind {
            ExprKind::Int(bits) => !pointer(e) || bits == 0,
            ExprKind::Convert(a) => pointer(e) == pointer(a) || null(e),
            ExprKind::Cmp(op, a, b) if pointer(a) => {
                self.facts.compares_with_null = true;
                matches!(op, CmpOp::Eq | CmpOp::Ne) && (null(a) || null(b))
            }
            ExprKind::PtrAdd { .. } => {
                self.facts.moves_pointers = true;
                true
            }
            ExprKind::Addr(place) => {
                let place = &p.places[place];
                let index = place.path.iter().any(|step| matches!(step, Proj::Index { .. }));
                let inside = matches!(place.base, Base::Deref(_)) && !place.path.is_empty();
                self.facts.moves_pointers |= index || inside;
                true
            }
            ExprKind::HeapTracked => {
                self.facts.asks_for_leaks = true;
                true
            }
            ExprKind::Unary(..) | ExprKind::Binary(..) => !pointer(e),
            ExprKind::PtrDiff { .. } | ExprKind::Func(_) => false,
            ExprKind::Float(_)
            | ExprKind::Load(_)
            | ExprKind::Cmp(..)
            | ExprKind::Ite(..)
            | ExprKind::Overflow(..)
            | ExprKind::Valid { .. }
            | ExprKind::Freeable(_)
            | ExprKind::ObjectSize(_)
            | ExprKind::ReadOnly(_)
            | ExprKind::Overlap(..)
            | ExprKind::HeapEmpty => true,
        };
        if fine { Ok(()) } else { Err("a value that depends on an address".into()) }
    }
}

/// A variable may never have been set since its function was entered.
const FRESH: u8 = 1;
/// A variable may hold a value that the run asked for.
const ASKED: u8 = 2;

/// Which variables of a function are surely set where: a forward analysis that collects, for each
/// location and variable, what may be wrong with its value.
struct Setting<'p> {
    p: &'p Program,
    body: &'p Body,
    index: FxHashMap<VarId, usize>,
}

impl<'p> Setting<'p> {
    fn new(p: &'p Program, func: FuncId) -> Self {
        let body = p.body(func);
        let index = body.params.iter().chain(&body.locals).enumerate().map(|(i, v)| (*v, i)).collect();
        Setting { p, body, index }
    }

    /// The edges that leave a variable open which is set before it is read.
    fn ignored(&self, edges: &[EdgeId]) -> Result<Vec<EdgeId>, String> {
        let p = self.p;
        if edges.len().saturating_mul(self.index.len()) > MAX_SETTINGS {
            return Err("a function that is too large".into());
        }
        let mut first = vec![FRESH; self.index.len()];
        first[..self.body.params.len()].fill(0);
        let mut at: FxHashMap<LocId, Vec<u8>> = FxHashMap::from_iter([(self.body.entry, first)]);
        let mut work = vec![self.body.entry];
        while let Some(loc) = work.pop() {
            for &edge in &p.locs[loc].out {
                let mut state = at[&loc].clone();
                self.effect(&p.edges[edge].op, &mut state);
                let dst = p.edges[edge].dst;
                let changed = match at.get_mut(&dst) {
                    None => {
                        at.insert(dst, state);
                        true
                    }
                    Some(old) => old.iter_mut().zip(&state).fold(false, |changed, (o, n)| {
                        let more = *n & !*o != 0;
                        *o |= n;
                        changed | more
                    }),
                };
                if changed {
                    work.push(dst);
                }
            }
        }
        let mut open = vec![0; self.index.len()];
        for &edge in edges {
            let Some(state) = at.get(&p.edges[edge].src) else { continue };
            p.visit_op(&p.edges[edge].op, &mut |used| {
                if let Use::Read(place) | Use::Address(place) = used
                    && let Base::Var(v) = p.places[place].base
                    && let Some(&i) = self.index.get(&v)
                {
                    open[i] |= state[i];
                }
            });
        }
        if let Some((v, _)) = self.index.iter().find(|(_, i)| open[**i] & FRESH != 0) {
            return Err(format!("`{}` may be read before it is set", p.vars[*v].name));
        }
        let leaves_open = |edge: &&EdgeId| match p.edges[**edge].op {
            Op::Enter { var } => Some(var),
            Op::Havoc { dst, input: false } => self.whole(dst),
            _ => None,
        };
        let set = |v: VarId| self.index.get(&v).is_some_and(|&i| open[i] == 0);
        Ok(edges.iter().filter(|e| leaves_open(e).is_some_and(set)).copied().collect())
    }

    /// The variable of this function that a place is all of.
    fn whole(&self, place: PlaceId) -> Option<VarId> {
        let place = &self.p.places[place];
        let Base::Var(v) = place.base else { return None };
        let size = self.p.size_of(place.ty);
        // A `long double` does not fill its object.
        let filled = self.p.scalar_of(place.ty) != Some(Scalar::Float(FloatTy::F80));
        let whole = (filled || !self.p.vars[v].address_taken)
            && place.path.is_empty()
            && place.bits.is_none()
            && size.is_some()
            && size == self.p.size_of(self.p.vars[v].ty);
        (whole && self.index.contains_key(&v)).then_some(v)
    }

    fn effect(&self, op: &Op, state: &mut [u8]) {
        let mut put = |v: Option<VarId>, value: u8| {
            if let Some(i) = v.and_then(|v| self.index.get(&v)) {
                state[*i] = value;
            }
        };
        match op {
            Op::Enter { var } => put(Some(*var), ASKED),
            Op::Leave { var } => put(Some(*var), FRESH),
            Op::Havoc { dst, input: false } => put(self.whole(*dst), ASKED),
            Op::Assign { dst, .. } | Op::Copy { dst, .. } | Op::Zero { dst } | Op::Alloc { dst, .. } => {
                put(self.whole(*dst), 0);
            }
            Op::Havoc { dst, input: true } | Op::Call { dst: Some(dst), .. } => put(self.whole(*dst), 0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn outcome(text: &str) -> Result<Outcome, String> {
        let program = palisade_cfa::text::parse(text).expect("the program is well-formed");
        only_run(&program, Config::default()).map(|run| run.outcome)
    }

    #[test]
    fn a_variable_that_is_set_before_it_is_read_is_determined() {
        let set = "fn main() -> i32 { local x: i32; a -> b: enter x; b -> c: x = 4; c -> d: return x; }";
        assert_eq!(outcome(set), Ok(Outcome::Exit(4)));
        let unset = "fn main() -> i32 { local x: i32; a -> b: enter x; b -> c: return x; }";
        assert!(outcome(unset).is_err());
        let never = "fn main() -> i32 { local x: i32; a -> b: skip; b -> c: return x; }";
        assert!(outcome(never).is_err());
    }

    #[test]
    fn inputs_and_free_choices_are_not_determined() {
        assert!(outcome("fn main() -> i32 { local x: i32; a -> b: input x; b -> c: return 0; }").is_err());
        let choice = "fn main() -> i32 { a -> b: skip; a -> c: skip; b -> d: return 0; c -> d: return 1; }";
        assert!(outcome(choice).is_err());
    }

    #[test]
    fn a_variable_set_in_one_branch_only_is_not_determined() {
        let text = "fn main() -> i32 { local x: i32; local y: i32; a -> b: y = 1; b -> c: enter x; \
                    c -> d: assume y == 1; c -> e: assume y != 1; e -> f: x = 1; d -> f: skip; f -> g: return x; }";
        assert!(outcome(text).is_err());
    }
}
