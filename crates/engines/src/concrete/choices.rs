//! Everything a run leaves open, chosen so that runs can be continued and varied.

use palisade_cfa::*;
use palisade_interp::{Inputs, Random};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// One value that the program did not determine.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Who asked.
    pub edge: EdgeId,
    /// Of this type.
    pub ty: Scalar,
    /// The answer.
    pub bits: u128,
    /// The number that it is, of an integer.
    pub value: i128,
    /// Whether it is an input rather than an unknown of the model.
    pub input: bool,
}

/// What a run was told.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// Scalars in order.
    pub choices: Vec<Choice>,
    /// What new objects hold, where it is not zero.
    pub contents: Vec<(EdgeId, Vec<u8>)>,
}

/// The constants of a program that inputs are likely to meet.
pub struct Dictionary {
    /// By the edge that takes an input: what it is compared with.
    compared: FxHashMap<EdgeId, Vec<u128>>,
    /// All of them.
    all: Vec<u128>,
}

impl Dictionary {
    pub fn new(program: &Program) -> Dictionary {
        let mut all: Vec<u128> = program
            .exprs
            .iter()
            .filter_map(|e| match (e.ty, &e.kind) {
                (Scalar::Int(ty), ExprKind::Int(bits)) => Some(ty.decode(*bits) as u128),
                _ => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        Dictionary { compared: compared(program), all }
    }

    /// A value that an input is compared with, or else one of the program's constants, or any.
    pub fn likely(&self, random: &mut Random, ty: Scalar, edge: EdgeId) -> u128 {
        match self.compared.get(&edge) {
            Some(values) => values[random.below(values.len())],
            // A result may be compared with what is far from it in the text.
            None if !self.all.is_empty() && random.below(4) == 0 => self.all[random.below(self.all.len())],
            None => random.input(ty, edge).unwrap_or(0),
        }
    }
}

/// How many numbers above the least bound of a variable are tried beside the bounds.
const ABOVE: i128 = 3;

/// The constants that variables are compared with which take an input. Where such a variable has bounds, numbers right
/// above the least one are among them: of a range whose other end is far away they make the shortest runs.
fn compared(program: &Program) -> FxHashMap<EdgeId, Vec<u128>> {
    let mut by_variable: FxHashMap<VarId, Vec<u128>> = FxHashMap::default();
    let mut least: FxHashMap<VarId, (i128, IntTy)> = FxHashMap::default();
    let variable = |e: ExprId| match program.exprs[e].kind {
        ExprKind::Load(place) => match &program.places[place] {
            Place { base: Base::Var(var), path, .. } if path.is_empty() => Some(*var),
            _ => None,
        },
        _ => None,
    };
    for expr in &program.exprs {
        let ExprKind::Cmp(op, a, b) = expr.kind else { continue };
        for (x, c) in [(a, b), (b, a)] {
            if let (Some(var), &ExprKind::Int(bits)) = (variable(x), &program.exprs[c].kind) {
                by_variable.entry(var).or_default().push(bits);
                if let (CmpOp::Lt | CmpOp::Le, Scalar::Int(ty)) = (op, program.exprs[c].ty) {
                    let bound = ty.decode(bits);
                    let known = least.entry(var).or_insert((bound, ty));
                    known.0 = known.0.min(bound);
                }
            }
        }
    }
    for (var, (bound, ty)) in least {
        let above = (1..=ABOVE)
            .map(|by| bound.saturating_add(by))
            .filter(|v| ty.decode(ty.truncate(*v as u128)) == *v);
        by_variable.entry(var).or_default().extend(above.map(|v| ty.truncate(v as u128)));
    }
    let mut found = FxHashMap::default();
    for (id, edge) in program.edges.iter_enumerated() {
        if let Op::Havoc { dst, .. } = edge.op
            && let Base::Var(var) = program.places[dst].base
            && let Some(values) = by_variable.get(&var)
        {
            let mut values = values.clone();
            values.sort_unstable();
            values.dedup();
            found.insert(id, values);
        }
    }
    found
}

/// Answers that start as given and go on from the dictionary where it has something, else randomly.
pub struct Chooser<'a> {
    pub start: &'a [u128],
    pub random: Random,
    pub dictionary: &'a Dictionary,
    /// Whether values come from the dictionary whenever it has some, or half of the time.
    pub faithful: bool,
    /// Whether unknowns of the model are anything but zero.
    pub unknowns: bool,
    /// What was answered so far.
    pub record: &'a RefCell<Record>,
}

impl Chooser<'_> {
    fn fresh(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        let random = &mut self.random;
        if self.dictionary.compared.contains_key(&edge)
            && random.below(256) < if self.faithful { 1 } else { 128 }
        {
            return random.input(ty, edge).unwrap_or(0);
        }
        self.dictionary.likely(random, ty, edge)
    }

    fn choose(&mut self, ty: Scalar, edge: EdgeId, input: bool) -> u128 {
        let at = self.record.borrow().choices.len();
        let bits = match self.start.get(at) {
            Some(&bits) => bits,
            // Pointers that nobody made are null.
            None if ty == Scalar::Ptr || !input && !self.unknowns => 0,
            None => self.fresh(ty, edge),
        };
        let (bits, value) = match ty {
            Scalar::Int(t) => (t.truncate(bits), t.decode(bits)),
            _ => (bits, 0),
        };
        self.record.borrow_mut().choices.push(Choice { edge, ty, bits, value, input });
        bits
    }
}

impl Inputs for Chooser<'_> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        Some(self.choose(ty, edge, true))
    }

    fn unknown(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        self.choose(ty, edge, false)
    }

    fn unknown_bytes(&mut self, edge: EdgeId, bytes: &mut [u8]) {
        if self.unknowns && bytes.len() <= 1 << 16 {
            for byte in bytes.iter_mut() {
                *byte = self.random.below(256) as u8;
            }
            self.record.borrow_mut().contents.push((edge, bytes.to_vec()));
        }
    }
}
