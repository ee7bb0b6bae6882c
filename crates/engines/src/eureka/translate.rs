//! A task as a linear program with arrays (section 3), with the way back to its locations and edges.
//!
//! What is not linear, and memory that is neither an integer variable nor an array of integers, is `u`.

use super::linear::{Formula, Indexed, Located, Reader, numeral};
use palisade_analyses::trees::integer;
use palisade_cfa::*;
use palisade_eureka as linear;
use palisade_eureka::{Cond, Expr as Linear, Rel, Stmt, Var, Vertex};
use palisade_task::Task;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// More initial values of an array are not written down.
const MAX_INIT: usize = 4096;
/// Larger tasks are not translated.
const MAX_VERTEXES: usize = 50_000;

/// A task, translated.
pub struct Translated {
    /// The linear program.
    pub program: linear::Program,
    /// The vertex of each location.
    pub vertex: FxHashMap<LocId, Vertex>,
    /// The edge that is complete when control leaves a vertex from 1 on to its first or second successor.
    edges: Vec<[Option<EdgeId>; 2]>,
    /// The variable of the task of each variable.
    pub vars: Vec<VarId>,
    /// The variable of the task of each array.
    pub arrays: Vec<(VarId, Indexed)>,
}

impl Translated {
    /// The edges of a trace.
    pub fn path(&self, trace: &[Vertex]) -> Vec<EdgeId> {
        let step = |pair: &[Vertex]| {
            let second = match self.program.stmt(pair[0]) {
                Stmt::Branch(_, yes, _) => *yes != Some(pair[1]),
                _ => false,
            };
            self.edges[pair[0] - 1][usize::from(second)]
        };
        trace.windows(2).filter_map(step).collect()
    }
}

/// Translates a task; `None` if it is too large.
pub fn translate(task: &Task) -> Option<Translated> {
    let (reader, program) = Reader::new(&task.program);
    let locs: Vec<LocId> = task.program.locs.ids().filter(|&l| !task.is_end(l)).collect();
    if locs.len() > MAX_VERTEXES || task.is_end(task.body().entry) {
        return None;
    }
    let mut this = Translator { task, reader, program, edges: Vec::new(), vertex: FxHashMap::default() };
    // Vertex 1 is the start, then come the locations, then what else edges need.
    this.add(Stmt::Skip(None));
    for &loc in &locs {
        let vertex = this.add(Stmt::Skip(None));
        this.vertex.insert(loc, vertex);
    }
    for &loc in &locs {
        this.location(loc);
        if this.program.stmts.len() > MAX_VERTEXES {
            return None;
        }
    }
    this.start();
    let mut vars: Vec<(Var, VarId)> = this.reader.vars.iter().map(|(id, v)| (*v, *id)).collect();
    vars.sort_unstable();
    let mut arrays: Vec<(VarId, Indexed)> = this.reader.arrays.iter().map(|(id, a)| (*id, *a)).collect();
    arrays.sort_unstable_by_key(|(_, a)| a.array);
    Some(Translated {
        program: this.program,
        vertex: this.vertex,
        edges: this.edges,
        vars: vars.into_iter().map(|(_, id)| id).collect(),
        arrays,
    })
}

struct Translator<'a> {
    task: &'a Task,
    reader: Reader<'a>,
    program: linear::Program,
    edges: Vec<[Option<EdgeId>; 2]>,
    vertex: FxHashMap<LocId, Vertex>,
}

/// A condition about which nothing is known.
fn any() -> Cond {
    Cond::new(Rel::Ne, Linear::Undefined, Linear::Int(0))
}

impl Translator<'_> {
    fn add(&mut self, stmt: Stmt) -> Vertex {
        self.program.stmts.push(stmt);
        self.edges.push([None; 2]);
        self.program.stmts.len()
    }

    fn set(&mut self, vertex: Vertex, stmt: Stmt) {
        self.program.stmts[vertex - 1] = stmt;
    }

    /// Where an edge leads; errors and cuts are vertex 0.
    fn end(&self, edge: EdgeId) -> Vertex {
        self.vertex.get(&self.task.program.edges[edge].dst).copied().unwrap_or(0)
    }

    /// Globals hold their images at the start. Arrays that nobody reads are left alone.
    fn start(&mut self) {
        let program = &self.task.program;
        let mut read = BTreeSet::new();
        for stmt in &self.program.stmts {
            stmt.visit(&mut |e| {
                if let Linear::Element(array, _) = e {
                    read.insert(*array);
                }
            });
        }
        let mut known = Vec::new();
        let mut next = self.vertex[&self.task.body().entry];
        for (id, var) in program.vars.iter_enumerated() {
            let Init::Image(items) = &var.init else { continue };
            if var.kind != VarKind::Global {
                continue;
            }
            if let Some(&v) = self.reader.vars.get(&id) {
                let value = match items.first().map(|item| &item.value) {
                    None => Linear::Int(0),
                    Some(InitValue::Int(t, bits)) => {
                        integer(*t, *bits).to_i128().map_or(Linear::Undefined, numeral)
                    }
                    Some(_) => Linear::Undefined,
                };
                known.push((v, value));
            } else if let Some(&indexed) = self.reader.arrays.get(&id)
                && read.contains(&indexed.array)
            {
                match elements(items, indexed) {
                    None => next = self.add(Stmt::Fill(indexed.array, Linear::Undefined, Some(next))),
                    Some(values) => {
                        for (k, value) in values {
                            next = self.add(Stmt::Store(
                                indexed.array,
                                Linear::Int(k),
                                numeral(value),
                                Some(next),
                            ));
                        }
                        next = self.add(Stmt::Fill(indexed.array, Linear::Int(0), Some(next)));
                    }
                }
            }
        }
        self.set(1, Stmt::Assign(known, Some(next)));
    }

    /// The statement of a location: what its edges do, or a choice between them.
    fn location(&mut self, loc: LocId) {
        let at = self.vertex[&loc];
        let out = self.task.program.locs[loc].out.clone();
        if let [yes, no] = out[..]
            && self.end(yes) != self.end(no)
            && let (Some(c), Some(d)) = (self.condition(yes), self.condition(no))
            && opposite(&c, &d)
        {
            self.edges[at - 1] = [Some(yes), Some(no)];
            self.set(at, Stmt::Branch(c, Some(self.end(yes)), Some(self.end(no))));
            return;
        }
        let Some((&last, rest)) = out.split_last() else { return };
        let mut from = at;
        for &edge in rest {
            let (this, other) = (self.add(Stmt::Skip(None)), self.add(Stmt::Skip(None)));
            self.set(from, Stmt::Branch(any(), Some(this), Some(other)));
            self.edge(this, edge);
            from = other;
        }
        self.edge(from, last);
    }

    /// The condition of an edge that is a single comparison.
    fn condition(&self, edge: EdgeId) -> Option<Cond> {
        let Op::Assume { cond } = self.task.program.edges[edge].op else { return None };
        match self.reader.truth(cond) {
            Formula::Cond(c) => Some(c),
            _ => None,
        }
    }

    /// Puts what an edge does at a vertex, and behind it what does not fit into one statement.
    fn edge(&mut self, at: Vertex, edge: EdgeId) {
        let next = Some(self.end(edge));
        let program = &self.task.program;
        let reader = &self.reader;
        let changes: Vec<Stmt> = match &program.edges[edge].op {
            Op::Assume { cond } => {
                // The last vertex is the one that completes the edge.
                let done = self.add(Stmt::Skip(next));
                self.edges[done - 1][0] = Some(edge);
                let first = self.assume(self.reader.truth(*cond), done);
                self.set(at, first.map_or(Stmt::Assume(never(), None), |first| Stmt::Skip(Some(first))));
                return;
            }
            Op::Assign { dst, src } => self.write(reader.place(*dst), reader.value(*src)),
            Op::Zero { dst } => self.write(reader.place(*dst), Linear::Int(0)),
            Op::Havoc { dst, .. } | Op::Alloc { dst, .. } => {
                self.write(reader.place(*dst), Linear::Undefined)
            }
            Op::Copy { dst, .. } => self.write(reader.place(*dst), Linear::Undefined),
            Op::Enter { var } => match (reader.vars.get(var), reader.arrays.get(var)) {
                (Some(&v), _) => vec![Stmt::Assign(vec![(v, Linear::Undefined)], None)],
                (_, Some(indexed)) => vec![Stmt::Fill(indexed.array, Linear::Undefined, None)],
                _ => Vec::new(),
            },
            Op::MemCopy { dst, .. } | Op::MemSet { dst, .. } => {
                self.write(reader.behind(*dst), Linear::Undefined)
            }
            Op::Call { dst, callee, .. } => {
                let harmless = match callee {
                    Callee::Direct(f) => program.funcs[*f].effect.is_harmless(),
                    Callee::Indirect(_) => false,
                };
                let mut all = if harmless { Vec::new() } else { self.clobber() };
                if let Some(dst) = dst {
                    all.extend(self.write(reader.place(*dst), Linear::Undefined));
                }
                all
            }
            Op::Skip
            | Op::Return { .. }
            | Op::Free { .. }
            | Op::Leave { .. }
            | Op::Check { .. }
            | Op::Halt { .. } => Vec::new(),
        };
        let mut at = at;
        let mut changes = changes.into_iter().peekable();
        if changes.peek().is_none() {
            self.set(at, Stmt::Skip(next));
        }
        while let Some(change) = changes.next() {
            let after = if changes.peek().is_some() { Some(self.add(Stmt::Skip(None))) } else { next };
            self.set(at, lead(change, after));
            at = match after {
                Some(vertex) if changes.peek().is_some() => vertex,
                _ => break,
            };
        }
        self.edges[at - 1][0] = Some(edge);
    }

    /// The first vertex of those that let only states pass in which a formula may hold; `None` if it never does.
    fn assume(&mut self, formula: Formula, next: Vertex) -> Option<Vertex> {
        match formula {
            Formula::Constant(false) => None,
            Formula::Constant(true) | Formula::Unknown => Some(next),
            Formula::Cond(c) => Some(self.add(Stmt::Assume(c, Some(next)))),
            Formula::And(a, b) => {
                let second = self.assume(*b, next)?;
                self.assume(*a, second)
            }
            Formula::Or(a, b) => match (self.assume(*a, next), self.assume(*b, next)) {
                (Some(first), Some(second)) => Some(self.add(Stmt::Branch(any(), Some(first), Some(second)))),
                (first, second) => first.or(second),
            },
        }
    }

    /// What storing a value does; successors come later.
    fn write(&self, place: Located, value: Linear) -> Vec<Stmt> {
        match place {
            Located::Var(v) => vec![Stmt::Assign(vec![(v, value)], None)],
            Located::Element(a, index) => vec![Stmt::Store(a, index, value, None)],
            Located::Whole(a) => vec![Stmt::Fill(a, value, None)],
            Located::Within(a) => vec![Stmt::Fill(a, Linear::Undefined, None)],
            Located::Elsewhere => Vec::new(),
            Located::Anywhere => self.clobber(),
        }
    }

    /// Everything with an address gets an arbitrary value.
    fn clobber(&self) -> Vec<Stmt> {
        let program = &self.task.program;
        let mut assigned = Vec::new();
        let mut all = Vec::new();
        for id in program.vars.ids().filter(|&v| program.vars[v].address_taken) {
            if let Some(&v) = self.reader.vars.get(&id) {
                assigned.push((v, Linear::Undefined));
            } else if let Some(indexed) = self.reader.arrays.get(&id) {
                all.push(Stmt::Fill(indexed.array, Linear::Undefined, None));
            }
        }
        if !assigned.is_empty() {
            all.push(Stmt::Assign(assigned, None));
        }
        all
    }
}

/// `1 == 0`
fn never() -> Cond {
    Cond::new(Rel::Eq, Linear::Int(1), Linear::Int(0))
}

/// Does one comparison hold exactly when the other does not?
fn opposite(c: &Cond, d: &Cond) -> bool {
    let not = c.negated();
    let flipped = match d.rel {
        Rel::Le => Rel::Ge,
        Rel::Lt => Rel::Gt,
        Rel::Ge => Rel::Le,
        Rel::Gt => Rel::Lt,
        rel => rel,
    };
    not == *d || not == Cond::new(flipped, d.right.clone(), d.left.clone())
}

/// A statement with its successor.
fn lead(stmt: Stmt, to: Option<Vertex>) -> Stmt {
    match stmt {
        Stmt::Assign(assigned, _) => Stmt::Assign(assigned, to),
        Stmt::Store(a, index, value, _) => Stmt::Store(a, index, value, to),
        Stmt::Fill(a, value, _) => Stmt::Fill(a, value, to),
        Stmt::Skip(_) => Stmt::Skip(to),
        Stmt::Assume(c, _) => Stmt::Assume(c, to),
        branch @ Stmt::Branch(..) => branch,
    }
}

/// The elements that an image says are not zero; `None` if it has other things than elements, or too many.
fn elements(items: &[InitItem], indexed: Indexed) -> Option<Vec<(i64, i128)>> {
    let Indexed { elem, stride, .. } = indexed;
    let mut found = Vec::new();
    for item in items {
        let first = i64::try_from(item.offset / stride).ok()?;
        if item.offset % stride != 0 {
            return None;
        }
        match &item.value {
            InitValue::Int(t, bits) if t.bits == elem.bits => {
                found.push((first, integer(elem, *bits).to_i128()?));
            }
            InitValue::Bytes(bytes) => {
                for (i, chunk) in bytes.chunks(stride as usize).enumerate() {
                    let bits = chunk.iter().rev().fold(0u128, |bits, &b| bits << 8 | u128::from(b));
                    if chunk.len() as u64 != stride {
                        return None;
                    }
                    if bits != 0 {
                        found.push((first + i as i64, integer(elem, bits).to_i128()?));
                    }
                }
            }
            _ => return None,
        }
        if found.len() > MAX_INIT {
            return None;
        }
    }
    Some(found)
}
