//! BDD analysis (section 4.6): sets of values of the integer cells, exactly, as one BDD over their
//! bits.
//!
//! An operator that has no small circuit (products of unknowns, division) makes its result unknown.

use crate::cells::Located;
use crate::effects::{Effect, Effects, Source};
use palisade_base::Budget;
use palisade_cfa::*;
use palisade_cpa::*;
use palisade_dd::{Bdd, Node, OutOfBudget, Var};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The bits of a value, least significant first; `None` is any value.
type Bits = Option<Rc<[Node]>>;

/// Operands of a product are summed up to this width only.
const MAX_PRODUCT_BITS: usize = 8;

/// The BDD analysis.
pub struct BddAnalysis<'p> {
    program: &'p Program,
    effects: Effects<'p>,
    bdd: Bdd,
    /// The variables for the bits of each cell, made when it is first mentioned.
    bits: FxHashMap<u32, Rc<[Var]>>,
    /// Spare variables for the new values of an assignment.
    spare: Vec<Var>,
    join: bool,
}

fn out_of_nodes(why: OutOfBudget) -> Halt {
    match why {
        OutOfBudget::Nodes | OutOfBudget::Work => Halt::Limit(why.to_string()),
        OutOfBudget::Stopped(stop) => Halt::Stopped(stop),
    }
}

impl<'p> BddAnalysis<'p> {
    /// The analysis as the paper defines it: joined where control flow meets.
    pub fn new(program: &'p Program, budget: &Budget) -> Self {
        let limits = palisade_dd::Limits { budget: budget.clone(), ..Default::default() };
        BddAnalysis {
            program,
            effects: Effects::new(program),
            bdd: Bdd::new(limits),
            bits: FxHashMap::default(),
            spare: Vec::new(),
            join: true,
        }
    }

    /// The same without joins.
    pub fn separate(self) -> Self {
        BddAnalysis { join: false, ..self }
    }

    /// All values of all cells but the globals, which have their initial values.
    pub fn initial(&mut self) -> Result<Node, Halt> {
        let mut state = Node::TRUE;
        for (slot, value) in self.effects.initial() {
            if self.int_type(slot).is_some() {
                let is = self.equals_constant(slot, value)?;
                state = self.bdd.and(state, is).map_err(out_of_nodes)?;
            }
        }
        Ok(state)
    }

    fn int_type(&self, slot: u32) -> Option<IntTy> {
        self.effects.cells.scalar_type(self.program, slot)?.int()
    }

    fn vars_of(&mut self, slot: u32, width: u16) -> Result<Rc<[Var]>, Halt> {
        if let Some(vars) = self.bits.get(&slot) {
            return Ok(vars.clone());
        }
        // The most significant bit on top: comparisons are decided there.
        let mut vars = Vec::with_capacity(usize::from(width));
        for _ in 0..width {
            vars.push(self.bdd.new_var().map_err(out_of_nodes)?);
        }
        vars.reverse();
        let vars: Rc<[Var]> = vars.into();
        self.bits.insert(slot, vars.clone());
        Ok(vars)
    }

    fn spare_vars(&mut self, count: usize) -> Result<Vec<Var>, Halt> {
        while self.spare.len() < count {
            self.spare.push(self.bdd.new_var().map_err(out_of_nodes)?);
        }
        Ok(self.spare[..count].to_vec())
    }

    fn equals_constant(&mut self, slot: u32, value: u128) -> Result<Node, Halt> {
        let Some(t) = self.int_type(slot) else { return Ok(Node::TRUE) };
        let vars = self.vars_of(slot, t.bits)?;
        let cube: Vec<(Var, bool)> =
            vars.iter().enumerate().map(|(i, v)| (*v, value >> i & 1 == 1)).collect();
        self.bdd.cube(&cube).map_err(out_of_nodes)
    }

    fn cell(&mut self, slot: u32, t: IntTy) -> Result<Bits, Halt> {
        let vars = self.vars_of(slot, t.bits)?;
        let mut bits = Vec::with_capacity(vars.len());
        for v in vars.iter() {
            bits.push(self.bdd.literal(*v, true).map_err(out_of_nodes)?);
        }
        Ok(Some(bits.into()))
    }

    /// The bits of an expression over the bits of the cells.
    fn value(&mut self, root: ExprId) -> Result<Bits, Halt> {
        let mut done: FxHashMap<ExprId, Bits> = FxHashMap::default();
        let mut work = vec![(root, false)];
        while let Some((e, ready)) = work.pop() {
            if done.contains_key(&e) {
                continue;
            }
            if ready {
                let bits = self.operation(e, &done)?;
                done.insert(e, bits);
            } else {
                work.push((e, true));
                self.program.exprs[e].operands(|x| work.push((x, false)), |_| {});
            }
        }
        Ok(done.remove(&root).flatten())
    }

    fn operation(&mut self, e: ExprId, done: &FxHashMap<ExprId, Bits>) -> Result<Bits, Halt> {
        let expr = &self.program.exprs[e];
        let Scalar::Int(t) = expr.ty else { return Ok(None) };
        let at = |x: ExprId| done.get(&x).cloned().flatten();
        let signed = |x: ExprId| self.program.exprs[x].ty.int().is_some_and(|t| t.signed);
        match expr.kind {
            ExprKind::Int(bits) => Ok(Some(constant(bits, t.bits))),
            ExprKind::Load(place) => match self.effects.cells.locate(self.program, place) {
                Located::Cell(slot) if self.int_type(slot) == Some(t) => self.cell(slot, t),
                _ => Ok(None),
            },
            ExprKind::Unary(op, a) => match (op, at(a)) {
                (_, None) => Ok(None),
                (UnOp::Not, Some(a)) => self.map(&a, |bdd, x| bdd.not(x)),
                (UnOp::Neg, Some(a)) => {
                    let zero = constant(0, t.bits);
                    self.subtract(&zero, &a)
                }
            },
            ExprKind::Binary(op, a, b) => match (at(a), at(b)) {
                (Some(x), Some(y)) => self.binary(op, t, &x, &y),
                _ => Ok(None),
            },
            ExprKind::Cmp(op, a, b) => match (at(a), at(b)) {
                (Some(x), Some(y)) => {
                    let result = self.compare(op, signed(a), &x, &y)?;
                    Ok(Some([result].into()))
                }
                _ => Ok(None),
            },
            ExprKind::Ite(c, a, b) => match (at(c), at(a), at(b)) {
                (Some(c), Some(x), Some(y)) => self.zip(&x, &y, |bdd, x, y| bdd.ite(c[0], x, y)),
                _ => Ok(None),
            },
            ExprKind::Convert(a) => match at(a) {
                Some(x) => {
                    let fill = if signed(a) { x.last().copied().unwrap_or(Node::FALSE) } else { Node::FALSE };
                    let mut bits = x.to_vec();
                    bits.resize(usize::from(t.bits), fill);
                    Ok(Some(bits.into()))
                }
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn map(
        &mut self,
        a: &[Node],
        mut f: impl FnMut(&mut Bdd, Node) -> Result<Node, OutOfBudget>,
    ) -> Result<Bits, Halt> {
        let bits: Result<Vec<Node>, OutOfBudget> = a.iter().map(|x| f(&mut self.bdd, *x)).collect();
        Ok(Some(bits.map_err(out_of_nodes)?.into()))
    }

    fn zip(
        &mut self,
        a: &[Node],
        b: &[Node],
        mut f: impl FnMut(&mut Bdd, Node, Node) -> Result<Node, OutOfBudget>,
    ) -> Result<Bits, Halt> {
        let bits: Result<Vec<Node>, OutOfBudget> =
            a.iter().zip(b).map(|(x, y)| f(&mut self.bdd, *x, *y)).collect();
        Ok(Some(bits.map_err(out_of_nodes)?.into()))
    }

    fn binary(&mut self, op: BinOp, t: IntTy, a: &[Node], b: &[Node]) -> Result<Bits, Halt> {
        match op {
            BinOp::Add => self.add(a, b, Node::FALSE),
            BinOp::Sub => self.subtract(a, b),
            BinOp::And => self.zip(a, b, |bdd, x, y| bdd.and(x, y)),
            BinOp::Or => self.zip(a, b, |bdd, x, y| bdd.or(x, y)),
            BinOp::Xor => self.zip(a, b, |bdd, x, y| bdd.xor(x, y)),
            BinOp::Mul => self.multiply(a, b),
            BinOp::Shl | BinOp::Shr => {
                // Only by a constant distance that C defines.
                let Some(by) = known(b).filter(|n| *n < a.len() as u128) else { return Ok(None) };
                let by = by as usize;
                let fill = match a.last() {
                    Some(&top) if op == BinOp::Shr && t.signed => top,
                    _ => Node::FALSE,
                };
                let mut bits = vec![fill; a.len()];
                if op == BinOp::Shl {
                    bits[by..].copy_from_slice(&a[..a.len() - by]);
                } else {
                    bits[..a.len() - by].copy_from_slice(&a[by..]);
                }
                Ok(Some(bits.into()))
            }
            BinOp::Div | BinOp::Rem => match (known(a), known(b)) {
                (Some(x), Some(y)) => {
                    let value = palisade_cfa::eval::eval_binary(op, Scalar::Int(t), x, t, y);
                    Ok(value.map(|v| constant(v, t.bits)))
                }
                _ => Ok(None),
            },
        }
    }

    fn add(&mut self, a: &[Node], b: &[Node], carry: Node) -> Result<Bits, Halt> {
        let bdd = &mut self.bdd;
        let mut carry = carry;
        let mut sum = || -> Result<Vec<Node>, OutOfBudget> {
            let mut bits = Vec::with_capacity(a.len());
            for (x, y) in a.iter().zip(b) {
                let half = bdd.xor(*x, *y)?;
                bits.push(bdd.xor(half, carry)?);
                let both = bdd.and(*x, *y)?;
                let passed = bdd.and(half, carry)?;
                carry = bdd.or(both, passed)?;
            }
            Ok(bits)
        };
        Ok(Some(sum().map_err(out_of_nodes)?.into()))
    }

    fn subtract(&mut self, a: &[Node], b: &[Node]) -> Result<Bits, Halt> {
        match self.map(b, |bdd, x| bdd.not(x))? {
            Some(complement) => self.add(a, &complement, Node::TRUE),
            None => Ok(None),
        }
    }

    /// By shifting and adding, if one side is a constant or the words are short.
    fn multiply(&mut self, a: &[Node], b: &[Node]) -> Result<Bits, Halt> {
        let (a, b) = if known(a).is_some() { (b, a) } else { (a, b) };
        if known(b).is_none() && a.len() > MAX_PRODUCT_BITS {
            return Ok(None);
        }
        let mut sum: Rc<[Node]> = constant(0, a.len() as u16);
        for (i, &y) in b.iter().enumerate() {
            if y == Node::FALSE {
                continue;
            }
            let mut row = vec![Node::FALSE; a.len()];
            for (j, &x) in a[..a.len() - i].iter().enumerate() {
                row[i + j] = self.bdd.and(x, y).map_err(out_of_nodes)?;
            }
            match self.add(&sum, &row, Node::FALSE)? {
                Some(next) => sum = next,
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    fn compare(&mut self, op: CmpOp, signed: bool, a: &[Node], b: &[Node]) -> Result<Node, Halt> {
        let bdd = &mut self.bdd;
        let mut go = || -> Result<Node, OutOfBudget> {
            let mut equal = Node::TRUE;
            let mut less = Node::FALSE;
            for (i, (x, y)) in a.iter().zip(b).enumerate() {
                let same = bdd.iff(*x, *y)?;
                equal = bdd.and(equal, same)?;
                // Of signed numbers the one with the sign bit is the smaller one.
                let (low, high) = if signed && i + 1 == a.len() { (*y, *x) } else { (*x, *y) };
                let here = bdd.diff(high, low)?;
                less = bdd.ite(same, less, here)?;
            }
            match op {
                CmpOp::Eq => Ok(equal),
                CmpOp::Ne => bdd.not(equal),
                CmpOp::Lt => Ok(less),
                CmpOp::Le => bdd.or(less, equal),
            }
        };
        go().map_err(out_of_nodes)
    }

    /// (∃w : B) ∧ w = e, for several w at once; old values are those before.
    fn assign(&mut self, state: Node, assigned: &[(u32, Source)]) -> Result<Node, Halt> {
        let (mut old, mut renamed, mut relation) = (Vec::new(), Vec::new(), state);
        let mut next_spare = 0;
        for &(slot, source) in assigned {
            let Some(t) = self.int_type(slot) else { continue };
            let value = match source {
                Source::Zero => Some(constant(0, t.bits)),
                Source::Cell(from) if self.int_type(from) == Some(t) => self.cell(from, t)?,
                Source::Expr(e) if self.program.exprs[e].ty == Scalar::Int(t) => self.value(e)?,
                _ => None,
            };
            let vars = self.vars_of(slot, t.bits)?;
            old.extend(vars.iter().copied());
            let Some(value) = value else { continue };
            let spare = self.spare_vars(next_spare + vars.len())?[next_spare..].to_vec();
            next_spare += vars.len();
            for ((s, v), bit) in spare.iter().zip(vars.iter()).zip(value.iter()) {
                let literal = self.bdd.literal(*s, true).map_err(out_of_nodes)?;
                let is = self.bdd.iff(literal, *bit).map_err(out_of_nodes)?;
                relation = self.bdd.and(relation, is).map_err(out_of_nodes)?;
                renamed.push((*s, *v));
            }
        }
        let image = self.bdd.exists(relation, &old).map_err(out_of_nodes)?;
        self.bdd.rename(image, &renamed).map_err(out_of_nodes)
    }

    fn forget(&mut self, state: Node, range: std::ops::Range<u32>) -> Result<Node, Halt> {
        let vars: Vec<Var> =
            range.filter_map(|s| self.bits.get(&s)).flat_map(|v| v.iter().copied()).collect();
        if vars.is_empty() { Ok(state) } else { self.bdd.exists(state, &vars).map_err(out_of_nodes) }
    }

    /// A state as a disjunction of conjunctions of bits of variables that are set or not, at most so many; what is
    /// about other cells is left out.
    pub fn cubes(&self, state: Node, most: usize) -> Option<Vec<Vec<(VarId, u32, bool)>>> {
        let mut bits: FxHashMap<Var, (VarId, u32)> = FxHashMap::default();
        for v in self.program.vars.ids() {
            let vars = self.effects.cells.scalar(v).and_then(|slot| self.bits.get(&slot));
            bits.extend(vars.into_iter().flat_map(|all| all.iter().zip(0..)).map(|(var, i)| (*var, (v, i))));
        }
        let literal = |(var, set): (Var, bool)| bits.get(&var).map(|&(v, i)| (v, i, set));
        let mut cubes = Vec::new();
        for cube in self.bdd.cubes(state) {
            cubes.push(cube.into_iter().filter_map(literal).collect());
            if cubes.len() > most {
                return None;
            }
        }
        Some(cubes)
    }

    /// Whether the values of cells (all others being anything) are in a state.
    pub fn contains(&self, state: Node, value: &dyn Fn(u32) -> u128) -> bool {
        self.bdd.eval(state, |var| {
            let cell = self
                .bits
                .iter()
                .find_map(|(slot, vars)| vars.iter().position(|v| *v == var).map(|i| (*slot, i)));
            cell.is_some_and(|(slot, i)| value(slot) >> i & 1 == 1)
        })
    }
}

/// The bits of a constant.
fn constant(value: u128, width: u16) -> Rc<[Node]> {
    (0..width).map(|i| if value >> i & 1 == 1 { Node::TRUE } else { Node::FALSE }).collect()
}

/// The constant that bits are, if they are one.
fn known(bits: &[Node]) -> Option<u128> {
    bits.iter().enumerate().try_fold(0, |n, (i, b)| match *b {
        Node::TRUE => Some(n | 1 << i),
        Node::FALSE => Some(n),
        _ => None,
    })
}

impl AbstractDomain for BddAnalysis<'_> {
    type State = Node;

    fn leq(&mut self, a: &Node, b: &Node) -> Result<bool, Halt> {
        self.bdd.leq(*a, *b).map_err(out_of_nodes)
    }
    fn join(&mut self, a: &Node, b: &Node) -> Result<Node, Halt> {
        self.bdd.or(*a, *b).map_err(out_of_nodes)
    }

    /// The cells with only one value.
    fn describe(&self, state: &Node) -> String {
        let support = self.bdd.support(*state);
        let mut slots: Vec<u32> = self.bits.keys().copied().collect();
        slots.sort_unstable();
        let mut known = Vec::new();
        for slot in slots {
            let (vars, Some(t)) = (&self.bits[&slot], self.int_type(slot)) else { continue };
            if !vars.iter().all(|v| support.contains(v)) {
                continue;
            }
            let mut values = self.bdd.cubes(*state).map(|cube| {
                vars.iter().enumerate().try_fold(0u128, |n, (i, v)| {
                    let (_, bit) = cube.iter().find(|(w, _)| w == v)?;
                    Some(n | u128::from(*bit) << i)
                })
            });
            if let Some(Some(first)) = values.next()
                && values.all(|v| v == Some(first))
            {
                let name = self.effects.cells.name(self.program, slot);
                known.push(format!("{name}={}", t.decode(first)));
            }
        }
        known.join(" ")
    }
}

impl Cpa for BddAnalysis<'_> {
    type Precision = ();
    type Key = ();
    type Class = ();

    fn key(&self, _: &Node) {}
    fn class(&self, _: &Node) {}
    fn digest(&mut self, _: &Node, (): ()) -> Option<u64> {
        Some(0)
    }

    fn transfer(
        &mut self,
        state: &Node,
        (): &(),
        step: &Step,
        out: &mut Successors<Node>,
    ) -> Result<(), Halt> {
        let mut next = *state;
        for effect in self.effects.of(step).iter() {
            next = match effect {
                Effect::Assume(cond, truth) => match self.value(*cond)? {
                    Some(bits) if *truth => self.bdd.and(next, bits[0]).map_err(out_of_nodes)?,
                    Some(bits) => self.bdd.diff(next, bits[0]).map_err(out_of_nodes)?,
                    None => next,
                },
                Effect::Assign(assigned) => self.assign(next, assigned)?,
                Effect::Forget(range) | Effect::ForgetIn(_, range) => self.forget(next, range.clone())?,
            };
            if next == Node::FALSE {
                return Ok(());
            }
        }
        out.push(next);
        Ok(())
    }

    fn merges(&self) -> bool {
        self.join
    }
    fn merge(&mut self, new: &Node, reached: &Node, _: &MergeContext) -> Result<Option<Node>, Halt> {
        if !self.join {
            return Ok(None);
        }
        let union = self.bdd.or(*new, *reached).map_err(out_of_nodes)?;
        Ok((union != *reached).then_some(union))
    }

    fn answer(&mut self, state: &Node, query: &mut Query<'_>) -> Result<(), Halt> {
        if let Query::Value(expr, answer) = query
            && answer.is_none()
            && self.program.exprs[*expr].ty == Scalar::BOOL
            && let Some(bits) = self.value(*expr)?
        {
            if self.bdd.leq(*state, bits[0]).map_err(out_of_nodes)? {
                **answer = Some(Constant::Bits(1));
            } else if self.bdd.and(*state, bits[0]).map_err(out_of_nodes)? == Node::FALSE {
                **answer = Some(Constant::Bits(0));
            }
        }
        Ok(())
    }
}
