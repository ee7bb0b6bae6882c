//! Candidates about registers.

use palisade_cfa::*;
use palisade_evidence::Invariants;
use rustc_hash::FxHashMap;

/// At most this many variables take part in comparisons with each other.
const MAX_PAIRED: usize = 14;
/// At most this many variables are compared with constants.
const MAX_VARS: usize = 48;
/// At most this many candidates beside others.
const MAX_BOUNDS: usize = 400;
/// At most this many candidates.
const MAX_CANDIDATES: usize = 3000;

/// Makes candidates.
pub struct Guesses<'a> {
    program: &'a Program,
    pool: &'a mut Invariants,
    /// Integer registers, those that conditions mention most first.
    vars: Vec<(VarId, IntTy)>,
    /// Constants each variable is compared with or assigned.
    constants: FxHashMap<VarId, Vec<i128>>,
    /// The candidates so far.
    pub found: Vec<ExprId>,
    /// Conditions of the program over registers.
    pub conditions: Vec<ExprId>,
    /// Atoms that may stand on the left of an implication.
    premises: Vec<ExprId>,
}

impl<'a> Guesses<'a> {
    /// Looks at the program's conditions and constants.
    pub fn new(program: &'a Program, pool: &'a mut Invariants) -> Self {
        let mut counts: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut constants: FxHashMap<VarId, Vec<i128>> = FxHashMap::default();
        let mut conditions = Vec::new();
        for edge in &program.edges {
            match edge.op {
                Op::Assume { cond } => {
                    let mut plain = true;
                    let mut mentioned = Vec::new();
                    program.visit_op(&edge.op, &mut |used| match used {
                        Use::Read(place) => match program.whole_integer(place) {
                            Some((var, _)) => mentioned.push(var),
                            None => plain = false,
                        },
                        Use::Expr(e) => {
                            plain &= !matches!(
                                program.exprs[e].kind,
                                ExprKind::Valid { .. } | ExprKind::Freeable(_) | ExprKind::HeapEmpty
                            );
                            compared(program, e, &mut constants);
                        }
                        _ => plain = false,
                    });
                    for var in mentioned {
                        *counts.entry(var).or_default() += 1;
                    }
                    if plain {
                        conditions.push(cond);
                    }
                }
                Op::Assign { dst, src } => {
                    if let Some((var, ty)) = program.whole_integer(dst) {
                        counts.entry(var).or_default();
                        if let ExprKind::Int(bits) = program.exprs[src].kind {
                            constants.entry(var).or_default().push(ty.decode(bits));
                        }
                    }
                }
                _ => {}
            }
        }
        let int = |v: &VarId| Some((*v, program.scalar_of(program.vars[*v].ty)?.int()?));
        let mut vars: Vec<(VarId, IntTy)> =
            counts.keys().filter_map(int).filter(|(_, t)| t.bits > 1 && t.bits <= 64).collect();
        vars.sort_by_key(|(v, _)| (std::cmp::Reverse(counts[v]), *v));
        for list in constants.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        Guesses { program, pool, vars, constants, found: Vec::new(), conditions, premises: Vec::new() }
    }

    fn push(&mut self, kind: ExprKind) -> ExprId {
        let e = self.pool.expr(Scalar::BOOL, kind);
        self.found.push(e);
        e
    }

    /// Comparisons, remainders, and the program's conditions with their negations.
    pub fn atoms(&mut self) {
        for cond in self.conditions.clone() {
            self.found.push(cond);
            self.premises.push(cond);
            let negation = self.push(ExprKind::Unary(UnOp::Not, cond));
            self.premises.push(negation);
        }
        let vars: Vec<_> = self.vars.iter().copied().take(MAX_VARS).collect();
        for &(var, ty) in &vars {
            let x = self.pool.var(self.program, var);
            let mut constants = self.constants.get(&var).cloned().unwrap_or_default();
            constants.extend([0, 1]);
            constants.sort_unstable();
            constants.dedup();
            constants.truncate(24);
            for &c in &constants {
                let c = self.pool.int(ty, c);
                let equal = self.push(ExprKind::Cmp(CmpOp::Eq, x, c));
                self.premises.push(equal);
                self.push(ExprKind::Cmp(CmpOp::Ne, x, c));
                self.push(ExprKind::Cmp(CmpOp::Le, x, c));
                self.push(ExprKind::Cmp(CmpOp::Le, c, x));
            }
            for (modulus, rest) in [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)] {
                let unsigned = IntTy { signed: false, ..ty };
                let bits = self.pool.expr(Scalar::Int(unsigned), ExprKind::Convert(x));
                let m = self.pool.int(unsigned, modulus);
                let r = self.pool.expr(Scalar::Int(unsigned), ExprKind::Binary(BinOp::Rem, bits, m));
                let rest = self.pool.int(unsigned, rest);
                self.push(ExprKind::Cmp(CmpOp::Eq, r, rest));
            }
        }
        let paired: Vec<_> = vars.iter().copied().take(MAX_PAIRED).collect();
        for (i, &(a, ta)) in paired.iter().enumerate() {
            for &(b, tb) in &paired[i + 1..] {
                if ta == tb {
                    let (x, y) = (self.pool.var(self.program, a), self.pool.var(self.program, b));
                    self.push(ExprKind::Cmp(CmpOp::Eq, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Le, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Le, y, x));
                    self.push(ExprKind::Cmp(CmpOp::Lt, x, y));
                    self.push(ExprKind::Cmp(CmpOp::Lt, y, x));
                }
            }
        }
        self.found.truncate(MAX_CANDIDATES);
    }

    /// Equalities of variables with the constants they are compared with or given.
    pub fn constants_equal(&mut self) -> Vec<ExprId> {
        let mut found = Vec::new();
        for &(var, ty) in self.vars.iter().take(MAX_VARS) {
            let x = self.pool.var(self.program, var);
            for &c in self.constants.get(&var).map_or(&[][..], Vec::as_slice) {
                let c = self.pool.int(ty, c);
                found.push(self.pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, x, c)));
            }
        }
        found
    }

    /// Comparisons of variables with constants and each other, for a start.
    pub fn bounds(&mut self) {
        self.atoms();
        self.found.truncate(MAX_BOUNDS);
    }

    /// Implications between the atoms.
    pub fn implications(&mut self) {
        let atoms = self.found.clone();
        let premises = std::mem::take(&mut self.premises);
        let room = MAX_CANDIDATES.saturating_sub(atoms.len());
        let each = (room / premises.len().max(1)).max(8);
        for &premise in &premises {
            let not = self.pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, premise));
            for &conclusion in atoms.iter().filter(|&&a| a != premise).take(each) {
                self.push(ExprKind::Binary(BinOp::Or, not, conclusion));
            }
            if self.found.len() > 2 * MAX_CANDIDATES {
                return;
            }
        }
    }
}

/// Notes the constant that a variable is compared with.
fn compared(program: &Program, e: ExprId, constants: &mut FxHashMap<VarId, Vec<i128>>) {
    let ExprKind::Cmp(_, a, b) = program.exprs[e].kind else { return };
    for (x, c) in [(a, b), (b, a)] {
        if let (&ExprKind::Load(place), &ExprKind::Int(bits)) =
            (&program.exprs[x].kind, &program.exprs[c].kind)
            && let Some((var, ty)) = program.whole_integer(place)
        {
            let c = ty.decode(bits);
            constants.entry(var).or_default().extend([c - 1, c, c + 1]);
        }
    }
}
