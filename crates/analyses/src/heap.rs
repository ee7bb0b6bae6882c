//! Explicit heap (section 4.5): concrete instances of data structures up to a depth.
//!
//! A state (v, h) gives values to the cells of variables and to the cells of allocated objects.
//! Objects are numbered from 1 in the order in which they are first met from the variables, so that
//! equal structures are equal states. A pointer variable whose structure is deeper than the bound
//! becomes unknown, and objects that no known pointer leads to any more are dropped.

use crate::cells::Cells;
use crate::explicit::{owner, reinterpret};
use crate::values::{Assumed, Cell, Evaluator, Memory, Where};
use palisade_base::IdxVec;
use palisade_cfa::callgraph::CallGraph;
use palisade_cfa::*;
use palisade_cpa::*;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A scalar in an allocated object; `None` is any value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Content {
    width: u32,
    scalar: Scalar,
    value: Option<Constant>,
}

/// A structure cell h(a).
#[derive(Clone, PartialEq, Eq, Debug)]
struct Allocated {
    size: Option<u64>,
    /// Whether it was freed; `None` if it may have been.
    freed: Option<bool>,
    /// Whether bytes without content are zero rather than unknown.
    zeroed: bool,
    /// Contents by their first bit; they do not overlap.
    contents: BTreeMap<i64, Content>,
}

/// An explicit heap (v, h).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Heap {
    vars: BTreeMap<u32, Constant>,
    objects: BTreeMap<u32, Allocated>,
}

/// The explicit-heap analysis.
pub struct ExplicitHeap<'p> {
    program: &'p Program,
    evaluator: Evaluator<'p>,
    cells: Cells,
    recursive: IdxVec<FuncId, bool>,
    addressed: Vec<VarId>,
    /// The maximal depth c of structures that are tracked.
    depth: usize,
}

struct View<'a> {
    program: &'a Program,
    cells: &'a Cells,
    recursive: &'a IdxVec<FuncId, bool>,
    heap: &'a Heap,
}

impl Memory for View<'_> {
    fn variable(&self, var: VarId) -> Option<Constant> {
        self.heap.vars.get(&self.cells.scalar(var)?).copied()
    }
    fn read(&self, cell: Cell, ty: Scalar) -> Option<Constant> {
        match cell.object {
            Object::Var(var) => {
                let slot = self.cells.exact(var, cell.bit, cell.width)?;
                reinterpret(self.cells.info(slot)?.scalar, ty, *self.heap.vars.get(&slot)?)
            }
            Object::Heap(n) => {
                let object = self.heap.objects.get(&n)?;
                let end = cell.bit + i64::from(cell.width);
                let mut near = object.contents.range(..end).rev();
                match near.next() {
                    Some((&bit, c)) if bit == cell.bit && c.width == cell.width => {
                        reinterpret(c.scalar, ty, c.value?)
                    }
                    Some((&bit, c)) if bit + i64::from(c.width) > cell.bit => None,
                    _ => object.zeroed.then_some(Constant::Bits(0)),
                }
            }
        }
    }
    fn size(&self, object: Object) -> Option<u64> {
        match object {
            Object::Var(v) => self.program.size_of(self.program.vars[v].ty),
            Object::Heap(n) => self.heap.objects.get(&n)?.size,
        }
    }
    fn alive(&self, object: Object) -> Option<bool> {
        match object {
            Object::Var(_) => Some(true),
            Object::Heap(n) => self.heap.objects.get(&n)?.freed.map(|f| !f),
        }
    }
    fn has_address(&self, var: VarId) -> bool {
        owner(self.program, var).is_none_or(|f| !self.recursive[f])
    }
}

/// Paths of a structure that are looked at before its depth counts as too large.
const MAX_PATHS: usize = 10_000;

impl Heap {
    /// The objects that the contents of an object point to, in order of their place.
    fn next(&self, object: u32) -> impl Iterator<Item = u32> + '_ {
        let contents = self.objects.get(&object).into_iter().flat_map(|o| o.contents.values());
        contents.filter_map(|c| match c.value {
            Some(Constant::Addr(Object::Heap(n), _)) => Some(n),
            _ => None,
        })
    }

    /// depth(H, a) > bound: whether some acyclic path from the object has more nodes.
    fn deeper(&self, from: u32, bound: usize) -> bool {
        let mut paths = 0;
        let mut stack: Vec<Vec<u32>> = vec![vec![from]];
        while let Some(path) = stack.pop() {
            paths += 1;
            if path.len() > bound || paths > MAX_PATHS {
                return true;
            }
            let last = path[path.len() - 1];
            for n in self.next(last) {
                if !path.contains(&n) {
                    let mut longer = path.clone();
                    longer.push(n);
                    stack.push(longer);
                }
            }
        }
        false
    }

    /// Forgets pointers to deep structures, drops unreachable objects and numbers the others.
    fn normalise(&mut self, bound: usize) {
        let deep: Vec<u32> = self
            .vars
            .iter()
            .filter(|(_, v)| matches!(v, Constant::Addr(Object::Heap(n), _) if self.deeper(*n, bound)))
            .map(|(slot, _)| *slot)
            .collect();
        deep.iter().for_each(|slot| {
            self.vars.remove(slot);
        });
        let mut order: Vec<u32> = Vec::new();
        let roots = self.vars.values().filter_map(|v| match v {
            Constant::Addr(Object::Heap(n), _) => Some(*n),
            _ => None,
        });
        for root in roots {
            let mut work = vec![root];
            while let Some(n) = work.pop() {
                if self.objects.contains_key(&n) && !order.contains(&n) {
                    order.push(n);
                    let mut next: Vec<u32> = self.next(n).collect();
                    next.reverse();
                    work.extend(next);
                }
            }
        }
        let number = |n: u32| order.iter().position(|&o| o == n).map(|i| i as u32 + 1);
        let rename = |value: Constant| match value {
            Constant::Addr(Object::Heap(n), offset) => {
                number(n).map(|n| Constant::Addr(Object::Heap(n), offset))
            }
            other => Some(other),
        };
        let mut objects = BTreeMap::new();
        for (i, n) in (1u32..).zip(&order) {
            if let Some(mut object) = self.objects.remove(n) {
                for content in object.contents.values_mut() {
                    content.value = content.value.and_then(rename);
                }
                objects.insert(i, object);
            }
        }
        self.objects = objects;
        self.vars = std::mem::take(&mut self.vars)
            .into_iter()
            .filter_map(|(slot, v)| Some((slot, rename(v)?)))
            .collect();
    }

    fn forget_slots(&mut self, range: std::ops::Range<u32>) {
        if range.is_empty() {
            return;
        }
        let gone: Vec<u32> = self.vars.range(range).map(|(s, _)| *s).collect();
        gone.iter().for_each(|s| {
            self.vars.remove(s);
        });
    }
}

impl Allocated {
    /// Forgets what lies in the bits; `false` for a write whose place is not known.
    fn clear(&mut self, bit: i64, width: i64) {
        let overlap = |(b, c): (&i64, &Content)| *b < bit + width && bit < b + i64::from(c.width);
        let touched: Vec<i64> = self.contents.iter().filter(|e| overlap(*e)).map(|(b, _)| *b).collect();
        let partly = touched.iter().any(|b| {
            let c = self.contents[b];
            *b < bit || b + i64::from(c.width) > bit + width
        });
        for b in &touched {
            if partly {
                // The rest of a torn scalar has no value of its own.
                if let Some(c) = self.contents.get_mut(b) {
                    c.value = None;
                }
            } else {
                self.contents.remove(b);
            }
        }
        if partly {
            self.zeroed = false;
        }
    }

    fn write(&mut self, bit: i64, width: u32, scalar: Option<Scalar>, value: Option<Constant>) {
        self.clear(bit, i64::from(width));
        let torn =
            self.contents.iter().any(|(b, c)| *b < bit + i64::from(width) && bit < b + i64::from(c.width));
        match scalar {
            Some(scalar) if !torn => {
                self.contents.insert(bit, Content { width, scalar, value });
            }
            _ if !torn && self.zeroed => self.spoil(),
            _ => {}
        }
    }

    /// Any byte may have any value.
    fn spoil(&mut self) {
        self.contents.clear();
        self.zeroed = false;
    }
}

impl<'p> ExplicitHeap<'p> {
    /// An analysis that tracks structures up to a depth.
    pub fn new(program: &'p Program, depth: usize) -> Self {
        let graph = CallGraph::new(program);
        let recursive: IdxVec<FuncId, bool> = program.funcs.ids().map(|f| graph.is_recursive(f)).collect();
        let one =
            |v: VarId| !program.vars[v].address_taken || owner(program, v).is_none_or(|f| !recursive[f]);
        let cells = Cells::new(program, one);
        let addressed = program.vars.iter_enumerated().filter(|(_, v)| v.address_taken);
        let addressed = addressed.map(|(id, _)| id).collect();
        ExplicitHeap { program, evaluator: Evaluator::new(program), cells, recursive, addressed, depth }
    }

    /// Nothing is known about the values of variables; no object is allocated that is known.
    pub fn initial(&self) -> Rc<Heap> {
        Rc::new(Heap::default())
    }

    /// The value of a scalar variable.
    pub fn value_of(&self, state: &Heap, var: VarId) -> Option<Constant> {
        state.vars.get(&self.cells.scalar(var)?).copied()
    }

    fn eval(&mut self, heap: &Heap, expr: ExprId) -> Option<Constant> {
        let view = View { program: self.program, cells: &self.cells, recursive: &self.recursive, heap };
        self.evaluator.eval(expr, &view)
    }

    fn locate(&mut self, heap: &Heap, place: PlaceId) -> Where {
        let view = View { program: self.program, cells: &self.cells, recursive: &self.recursive, heap };
        self.evaluator.locate(place, &view)
    }

    fn assume(&mut self, heap: &mut Heap, cond: ExprId, truth: bool) -> bool {
        let view = View { program: self.program, cells: &self.cells, recursive: &self.recursive, heap };
        match self.evaluator.assume(cond, truth, &view) {
            Assumed::Impossible => false,
            Assumed::Possible(cells) => {
                for (cell, value) in cells {
                    let Object::Var(var) = cell.object else { continue };
                    let slot = match cell.width {
                        0 => self.cells.scalar(var),
                        width => self.cells.exact(var, cell.bit, width),
                    };
                    if let Some(slot) = slot {
                        heap.vars.insert(slot, value);
                    }
                }
                true
            }
        }
    }

    /// A pointer may have pointed anywhere: variables with an address and all objects change.
    fn spoil_all(&self, heap: &mut Heap) {
        self.addressed.iter().for_each(|&v| heap.forget_slots(self.cells.of_var(v)));
        heap.objects.values_mut().for_each(Allocated::spoil);
    }

    fn store(&self, heap: &mut Heap, at: Where, width: u32, scalar: Option<Scalar>, value: Option<Constant>) {
        match at {
            Where::At(Object::Var(var), bit) => {
                heap.forget_slots(self.cells.overlapping(var, bit, i64::from(width)));
                if let (Some(slot), Some(value)) = (self.cells.exact(var, bit, width), value)
                    && (matches!(value, Constant::Bits(_))
                        || self.cells.info(slot).is_some_and(|c| c.scalar == Scalar::Ptr))
                {
                    heap.vars.insert(slot, value);
                }
            }
            Where::At(Object::Heap(n), bit) => {
                if let Some(object) = heap.objects.get_mut(&n) {
                    object.write(bit, width, scalar, value);
                }
            }
            Where::Within(Object::Var(var)) => heap.forget_slots(self.cells.of_var(var)),
            Where::Within(Object::Heap(n)) => {
                if let Some(object) = heap.objects.get_mut(&n) {
                    object.spoil();
                }
            }
            Where::Anywhere => self.spoil_all(heap),
        }
    }

    fn assign(&mut self, heap: &mut Heap, dst: PlaceId, value: Option<Constant>) {
        let at = self.locate(heap, dst);
        let place = &self.program.places[dst];
        let width = match place.bits {
            Some(b) => u32::from(b.width),
            None => {
                let size = self.program.size_of(place.ty);
                match size.and_then(|s| u32::try_from(s * 8).ok()) {
                    Some(width) => width,
                    None => return self.spoil_all(heap),
                }
            }
        };
        self.store(heap, at, width, self.program.place_scalar(dst), value);
    }

    fn enter(&mut self, heap: &mut Heap, func: FuncId, args: &[Arg]) {
        let params = &self.program.body(func).params;
        let values: Vec<(VarId, Option<Constant>)> = params
            .iter()
            .zip(args)
            .map(|(&p, arg)| match arg {
                Arg::Scalar(e) => (p, self.eval(heap, *e)),
                Arg::Aggregate(_) => (p, None),
            })
            .collect();
        heap.forget_slots(self.cells.of_func(func));
        for (param, value) in values {
            if let (Some(slot), Some(value)) = (self.cells.scalar(param), value) {
                heap.vars.insert(slot, value);
            }
        }
    }

    fn leave(&mut self, heap: &mut Heap, func: FuncId, dst: Option<PlaceId>) {
        let program = self.program;
        let dangling =
            |v: &Constant| matches!(v, Constant::Addr(Object::Var(x), _) if owner(program, *x) == Some(func));
        let value = heap.vars.remove(&self.cells.result(func)).filter(|v| !dangling(v));
        heap.forget_slots(self.cells.of_func(func));
        self.forget_pointers(heap, dangling);
        if let Some(dst) = dst {
            self.assign(heap, dst, value);
        }
    }

    /// Forgets pointers to objects that die.
    fn forget_pointers(&self, heap: &mut Heap, dying: impl Fn(&Constant) -> bool) {
        heap.vars.retain(|_, v| !dying(v));
        for content in heap.objects.values_mut().flat_map(|o| o.contents.values_mut()) {
            content.value = content.value.filter(|v| !dying(v));
        }
    }

    /// A call as one step.
    fn call_over(&mut self, heap: &mut Heap, dst: Option<PlaceId>, callee: Callee, args: &[Arg]) {
        let effect = match callee {
            Callee::Direct(f) if self.program.funcs[f].body.is_none() => Some(self.program.funcs[f].effect),
            _ => None,
        };
        let pointer = |a: &Arg| match a {
            Arg::Scalar(e) => self.program.exprs[*e].ty == Scalar::Ptr,
            Arg::Aggregate(_) => true,
        };
        match effect {
            None => *heap = Heap::default(),
            Some(e) if e == Effect::Arbitrary || !e.is_harmless() && args.iter().any(pointer) => {
                self.spoil_all(heap);
            }
            Some(_) => {}
        }
        if let Some(dst) = dst {
            self.assign(heap, dst, None);
        }
    }

    fn allocate(&mut self, heap: &mut Heap, dst: PlaceId, size: ExprId, kind: AllocKind, zeroed: bool) {
        let size = match self.eval(heap, size) {
            Some(Constant::Bits(n)) => u64::try_from(n).ok(),
            _ => None,
        };
        let number = heap.objects.last_key_value().map_or(1, |(n, _)| n + 1);
        // A stack object dies with its function, which nobody here sees.
        let freed = (kind == AllocKind::Heap).then_some(false);
        let object = Allocated { size, freed, zeroed, contents: BTreeMap::new() };
        heap.objects.insert(number, object);
        self.assign(heap, dst, Some(Constant::Addr(Object::Heap(number), 0)));
    }

    fn free(&mut self, heap: &mut Heap, ptr: ExprId) {
        match self.eval(heap, ptr) {
            Some(Constant::Addr(Object::Heap(n), 0)) => {
                if let Some(object) = heap.objects.get_mut(&n) {
                    object.freed = Some(true);
                    object.spoil();
                }
            }
            // A null pointer is left alone; anything else but an object's start ends the run.
            Some(_) => {}
            None => heap.objects.values_mut().filter(|o| o.freed == Some(false)).for_each(|o| o.freed = None),
        }
    }

    fn local(&mut self, heap: &mut Heap, edge: &Edge) -> bool {
        match &edge.op {
            Op::Skip | Op::Halt { .. } => {}
            Op::Assign { dst, src } => {
                let value = self.eval(heap, *src);
                self.assign(heap, *dst, value);
            }
            Op::Copy { dst, .. } | Op::Havoc { dst, .. } | Op::Zero { dst } => self.assign(heap, *dst, None),
            Op::Assume { cond } | Op::Check { cond, .. } => return self.assume(heap, *cond, true),
            Op::Call { dst, callee, args } => self.call_over(heap, *dst, *callee, args),
            Op::Return { value: Some(Arg::Scalar(e)) } => {
                let slot = self.cells.result(self.program.locs[edge.src].func);
                match self.eval(heap, *e) {
                    Some(value) => heap.vars.insert(slot, value),
                    None => heap.vars.remove(&slot),
                };
            }
            Op::Return { .. } => {}
            Op::Alloc { dst, size, kind, zeroed } => self.allocate(heap, *dst, *size, *kind, *zeroed),
            Op::Free { ptr } => self.free(heap, *ptr),
            Op::MemCopy { .. } | Op::MemSet { .. } => self.spoil_all(heap),
            Op::Enter { var } | Op::Leave { var } => {
                heap.forget_slots(self.cells.of_var(*var));
                if self.program.vars[*var].address_taken {
                    self.forget_pointers(
                        heap,
                        |v| matches!(v, Constant::Addr(Object::Var(x), _) if x == var),
                    );
                }
            }
        }
        true
    }

    /// v and h as the paper writes them: pointers to allocated objects are their numbers.
    fn show(&self, value: Option<Constant>, scalar: Option<Scalar>) -> String {
        match (value, scalar) {
            (None, _) => "⊤".into(),
            (Some(Constant::Addr(Object::Heap(n), 0)), _) => n.to_string(),
            (Some(Constant::Addr(Object::Heap(n), o)), _) => format!("{n}+{o}"),
            (Some(Constant::Addr(Object::Var(v), o)), _) => format!("&{}+{o}", self.program.vars[v].name),
            (Some(Constant::Func(f)), _) => format!("&{}", self.program.funcs[f].name),
            (Some(Constant::Bits(b)), Some(Scalar::Int(t))) => t.decode(b).to_string(),
            (Some(Constant::Bits(b)), _) => b.to_string(),
        }
    }
}

impl AbstractDomain for ExplicitHeap<'_> {
    type State = Rc<Heap>;

    /// Everything the larger heap knows, the smaller one knows too, under the same numbers.
    fn leq(&mut self, a: &Rc<Heap>, b: &Rc<Heap>) -> Result<bool, Halt> {
        if Rc::ptr_eq(a, b) {
            return Ok(true);
        }
        let vars = b.vars.iter().all(|(slot, v)| a.vars.get(slot) == Some(v));
        Ok(vars
            && b.objects.iter().all(|(n, y)| {
                a.objects.get(n).is_some_and(|x| {
                    (y.size.is_none() || x.size == y.size)
                        && (y.freed.is_none() || x.freed == y.freed)
                        && x.zeroed == y.zeroed
                        && x.contents.keys().eq(y.contents.keys())
                        && x.contents.values().zip(y.contents.values()).all(|(c, d)| {
                            (c.width, c.scalar) == (d.width, d.scalar)
                                && (d.value.is_none() || c.value == d.value)
                        })
                })
            }))
    }

    /// The common values of variables outside of the heap; structures are kept only when equal.
    fn join(&mut self, a: &Rc<Heap>, b: &Rc<Heap>) -> Result<Rc<Heap>, Halt> {
        if a == b {
            return Ok(a.clone());
        }
        let mut heap = Heap::default();
        let plain = |v: &Constant| !matches!(v, Constant::Addr(Object::Heap(_), _));
        let common = a.vars.iter().filter(|(slot, v)| plain(v) && b.vars.get(slot) == Some(v));
        heap.vars.extend(common.map(|(s, v)| (*s, *v)));
        Ok(Rc::new(heap))
    }

    fn describe(&self, state: &Rc<Heap>) -> String {
        let vars = state.vars.iter().map(|(slot, v)| {
            let scalar = self.cells.scalar_type(self.program, *slot);
            format!("{}={}", self.cells.name(self.program, *slot), self.show(Some(*v), scalar))
        });
        let mut text = vars.collect::<Vec<_>>().join(" ");
        for (n, object) in &state.objects {
            let contents = object
                .contents
                .iter()
                .map(|(bit, c)| format!("{}:{}", bit / 8, self.show(c.value, Some(c.scalar))));
            let freed = if object.freed == Some(true) { " freed" } else { "" };
            text += &format!(" | {n}{freed} {{{}}}", contents.collect::<Vec<_>>().join(" "));
        }
        text
    }
}

impl Cpa for ExplicitHeap<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Rc<Heap>) {}
    fn class(&self, _: &Rc<Heap>) {}
    fn digest(&mut self, _: &Rc<Heap>, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Rc<Heap>,
        (): &(),
        step: &Step,
        out: &mut Successors<Rc<Heap>>,
    ) -> Result<(), Halt> {
        let program = self.program;
        let edge = &program.edges[step.edge];
        let mut heap = (**state).clone();
        let possible = match (step.kind, &edge.op) {
            (StepKind::Fail, Op::Check { cond, .. }) => self.assume(&mut heap, *cond, false),
            (StepKind::Enter(f), Op::Call { callee, args, .. }) => {
                let called = match callee {
                    Callee::Direct(_) => true,
                    Callee::Indirect(e) => match self.eval(&heap, *e) {
                        Some(Constant::Func(g)) => f == g,
                        Some(_) => false,
                        None => true,
                    },
                };
                if called {
                    self.enter(&mut heap, f, args);
                }
                called
            }
            (StepKind::Leave(f), Op::Call { dst, .. }) => {
                self.leave(&mut heap, f, *dst);
                true
            }
            _ => self.local(&mut heap, edge),
        };
        if possible {
            heap.normalise(self.depth);
            out.push(if heap == **state { state.clone() } else { Rc::new(heap) });
        }
        Ok(())
    }

    fn answer(&mut self, state: &Rc<Heap>, query: &mut Query<'_>) -> Result<(), Halt> {
        match query {
            Query::Value(expr, answer) if answer.is_none() => **answer = self.eval(state, *expr),
            Query::UniqueValue { var, answer, .. } if **answer == Unique::Unknown => {
                let value = self.cells.scalar(*var).and_then(|s| state.vars.get(&s));
                if let Some(value @ Constant::Bits(_)) = value {
                    **answer = Unique::Value(*value);
                }
            }
            _ => {}
        }
        Ok(())
    }
}
