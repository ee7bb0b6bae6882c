//! Who calls whom: direct calls, possible targets of indirect calls, recursion, reachability.

use crate::ir::*;
use crate::types::*;
use palisade_base::{Idx, IdxVec};

/// The call graph of a program.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// Functions whose address some expression or initialiser takes, in order.
    pub address_taken: Vec<FuncId>,
    /// For each function the functions its calls may reach, in order, without repetition.
    pub callees: IdxVec<FuncId, Vec<FuncId>>,
    /// Number of the strongly connected component of each function; a component's callees have
    /// smaller or equal numbers, so that ascending order is bottom-up.
    pub scc: IdxVec<FuncId, u32>,
    recursive: IdxVec<FuncId, bool>,
    reachable: IdxVec<FuncId, bool>,
}

impl CallGraph {
    /// Builds the graph.
    pub fn new(program: &Program) -> CallGraph {
        let address_taken = address_taken(program);
        let mut callees = IdxVec::filled(Vec::new(), program.funcs.len());
        for edge in &program.edges {
            let Op::Call { dst, callee, args } = &edge.op else { continue };
            let from = program.locs[edge.src].func;
            match callee {
                Callee::Direct(f) => callees[from].push(*f),
                Callee::Indirect(_) => {
                    let fits = |f: &&FuncId| program.may_call(**f, *dst, args);
                    callees[from].extend(address_taken.iter().filter(fits));
                }
            }
        }
        for list in callees.iter_mut() {
            list.sort_unstable();
            list.dedup();
        }
        let scc = components(&callees);
        let mut size = vec![0u32; callees.len()];
        scc.iter().for_each(|&c| size[c as usize] += 1);
        let recursive =
            callees.iter_enumerated().map(|(f, to)| size[scc[f] as usize] > 1 || to.contains(&f)).collect();
        let mut reachable = IdxVec::filled(false, callees.len());
        let mut work = Vec::new();
        if program.entry.index() < callees.len() {
            reachable[program.entry] = true;
            work.push(program.entry);
        }
        while let Some(f) = work.pop() {
            for &g in &callees[f] {
                if !std::mem::replace(&mut reachable[g], true) {
                    work.push(g);
                }
            }
        }
        CallGraph { address_taken, callees, scc, recursive, reachable }
    }

    /// Whether the function may, directly or not, call itself.
    pub fn is_recursive(&self, func: FuncId) -> bool {
        self.recursive[func]
    }

    /// Whether the function may be called in a run of the program.
    pub fn is_reachable(&self, func: FuncId) -> bool {
        self.reachable[func]
    }

    /// The edges of each function together with all that it calls, each call counted; the calls of recursive
    /// functions among themselves are not followed.
    pub fn sizes(&self, program: &Program) -> IdxVec<FuncId, u64> {
        let mut own: IdxVec<FuncId, (u64, Vec<FuncId>)> = IdxVec::filled((0, Vec::new()), self.callees.len());
        for id in program.edges.ids() {
            let (edges, called) = &mut own[program.locs[program.edges[id].src].func];
            *edges += 1;
            called.extend(self.targets(program, id));
        }
        let mut sizes = IdxVec::filled(0u64, self.callees.len());
        let mut order: Vec<FuncId> = sizes.ids().collect();
        order.sort_by_key(|&f| self.scc[f]);
        for f in order {
            let (edges, called) = &own[f];
            let inner = called.iter().filter(|&&g| self.scc[g] != self.scc[f]).map(|&g| sizes[g]);
            sizes[f] = inner.fold(*edges, u64::saturating_add);
        }
        sizes
    }

    /// The functions that a call edge may reach.
    pub fn targets(&self, program: &Program, edge: EdgeId) -> Vec<FuncId> {
        match &program.edges[edge].op {
            Op::Call { callee: Callee::Direct(f), .. } => vec![*f],
            Op::Call { dst, args, .. } => {
                self.address_taken.iter().copied().filter(|&f| program.may_call(f, *dst, args)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl Program {
    /// The calls, direct ones and those through pointers, that may do what the automaton cannot
    /// show.
    pub fn unmodelled_calls(&self) -> impl Iterator<Item = EdgeId> {
        let unmodelled = move |f: FuncId| self.funcs[f].body.is_none() && self.funcs[f].effect.stops_proofs();
        let calls = CallGraph::new(self);
        self.edges.ids().filter(move |&id| calls.targets(self, id).into_iter().any(unmodelled))
    }

    /// Whether a call with these arguments and this use of the result can reach a function through
    /// a pointer. Types must agree as far as the machine can tell them apart: in number, size and
    /// in being floating-point. Any other call is undefined and ends the run in the interpreter.
    pub fn may_call(&self, func: FuncId, dst: Option<PlaceId>, args: &[Arg]) -> bool {
        let Type::Func(sig) = &self.types[self.funcs[func].ty] else { return false };
        let more = sig.variadic && self.funcs[func].body.is_none();
        if args.len() < sig.params.len() || (args.len() > sig.params.len() && !more) {
            return false;
        }
        let fits = |arg: &Arg, ty: &TypeId| match arg {
            Arg::Scalar(e) => {
                self.scalar_of(*ty).is_some_and(|want| self.shape(self.exprs[*e].ty) == self.shape(want))
            }
            Arg::Aggregate(p) => {
                self.scalar_of(*ty).is_none() && self.size_of(self.places[*p].ty) == self.size_of(*ty)
            }
        };
        let result = match dst {
            None => true,
            Some(p) => match (self.place_scalar(p), self.scalar_of(sig.ret)) {
                (Some(have), Some(want)) => self.shape(have) == self.shape(want),
                (None, None) => self.size_of(self.places[p].ty) == self.size_of(sig.ret),
                _ => false,
            },
        };
        result && args.iter().zip(&sig.params).all(|(a, t)| fits(a, t))
    }

    /// Bits of a scalar and whether it is floating-point.
    fn shape(&self, scalar: Scalar) -> (u16, bool) {
        match scalar {
            Scalar::Int(t) => (t.bits, false),
            Scalar::Float(t) => (t.bits(), true),
            Scalar::Ptr => (self.data_model.ptr_bits(), false),
        }
    }
}

/// Functions whose address is taken somewhere.
fn address_taken(program: &Program) -> Vec<FuncId> {
    let in_exprs = program.exprs.iter().filter_map(|e| match e.kind {
        ExprKind::Func(f) => Some(f),
        _ => None,
    });
    let in_globals = program.vars.iter().flat_map(|v| match &v.init {
        Init::Image(items) => &items[..],
        Init::Unknown => &[],
    });
    let in_globals = in_globals.filter_map(|i| match i.value {
        InitValue::Func(f) => Some(f),
        _ => None,
    });
    let mut all: Vec<FuncId> = in_exprs.chain(in_globals).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Tarjan's algorithm with an explicit stack; components are numbered bottom-up.
fn components(succ: &IdxVec<FuncId, Vec<FuncId>>) -> IdxVec<FuncId, u32> {
    const UNSEEN: u32 = u32::MAX;
    let n = succ.len();
    let mut number = IdxVec::<FuncId, u32>::filled(UNSEEN, n);
    let mut low = number.clone();
    let mut scc = number.clone();
    let (mut next, mut components) = (0, 0);
    let mut stack = Vec::new();
    let mut frames: Vec<(FuncId, usize)> = Vec::new();
    for root in succ.ids() {
        if number[root] != UNSEEN {
            continue;
        }
        frames.push((root, 0));
        while let Some((f, i)) = frames.last_mut() {
            let f = *f;
            if *i == 0 {
                number[f] = next;
                low[f] = next;
                next += 1;
                stack.push(f);
            }
            if let Some(&g) = succ[f].get(*i) {
                *i += 1;
                if number[g] == UNSEEN {
                    frames.push((g, 0));
                } else if scc[g] == UNSEEN {
                    low[f] = low[f].min(number[g]);
                }
                continue;
            }
            frames.pop();
            if let Some(&(parent, _)) = frames.last() {
                low[parent] = low[parent].min(low[f]);
            }
            if low[f] == number[f] {
                while let Some(g) = stack.pop() {
                    scc[g] = components;
                    if g == f {
                        break;
                    }
                }
                components += 1;
            }
        }
    }
    scc
}
