//! Which variables are control: they only ever get constants, truth values, unknown values or those of each other,
//! and the program only ever compares them with constants, or with each other. All that a run sees of such a
//! variable is the truth of these comparisons. Those with constants, as predicates, say nearly all that there
//! is to say about it, and as a number it says little more.

use super::pool::Predicates;
use palisade_analyses::trees::integer;
use palisade_cfa::*;
use palisade_num::Int;
use rustc_hash::{FxHashMap, FxHashSet};

/// The control variables of a program.
#[derive(Default)]
pub struct Control {
    /// The comparisons of each with constants.
    atoms: FxHashMap<VarId, Vec<ExprId>>,
    /// Assignments from one to another: what is assigned, and from what.
    copies: Vec<(VarId, ExprId, VarId)>,
    /// Comparisons of one with another.
    pairs: Vec<(VarId, VarId)>,
    /// Those that are none.
    data: FxHashSet<VarId>,
}

impl Control {
    /// Those of a program.
    pub fn of(program: &Program) -> Control {
        let mut this = Control::default();
        for edge in program.edges.iter() {
            match edge.op {
                Op::Assign { dst, src } => this.assign(program, dst, src),
                Op::Assume { cond } => this.read(program, cond),
                Op::Havoc { dst, .. } => this.read_place(program, dst),
                ref op => program.visit_op(op, &mut |used| {
                    if let Use::Read(p) | Use::Write(p) | Use::Address(p) = used
                        && let Base::Var(var) = program.places[p].base
                    {
                        this.data.insert(var);
                    }
                }),
            }
        }
        // What is copied to or from data, or compared with it, is data.
        loop {
            let known = this.data.len();
            let copies = this.copies.iter().map(|&(to, _, from)| (to, from));
            for (a, b) in copies.chain(this.pairs.iter().copied()) {
                if this.data.contains(&a) || this.data.contains(&b) {
                    this.data.extend([a, b]);
                }
            }
            if this.data.len() == known {
                return this;
            }
        }
    }

    /// Whether a variable is one of them.
    pub fn contains(&self, var: VarId) -> bool {
        self.atoms.contains_key(&var) && !self.data.contains(&var)
    }

    /// The comparisons that say all there is to say about a variable: its own, and those of the variables that
    /// get their values from it.
    pub fn predicates(&self, program: &Program, pool: &mut Predicates, var: VarId) -> Vec<ExprId> {
        let mut found = Vec::new();
        self.collect(program, pool, var, &mut vec![var], &mut found);
        found
    }

    fn collect(
        &self,
        program: &Program,
        pool: &mut Predicates,
        var: VarId,
        way: &mut Vec<VarId>,
        found: &mut Vec<ExprId>,
    ) {
        for &atom in self.atoms.get(&var).into_iter().flatten() {
            let p = pool.intern(program, atom, None);
            if !found.contains(&p) {
                found.push(p);
            }
        }
        for &(to, src, from) in &self.copies {
            if from != var || way.contains(&to) {
                continue;
            }
            let mut of_copy = Vec::new();
            way.push(to);
            self.collect(program, pool, to, way, &mut of_copy);
            way.pop();
            for p in of_copy {
                let p = pool.intern(program, p, Some((to, src)));
                if !found.contains(&p) {
                    found.push(p);
                }
            }
        }
    }

    fn assign(&mut self, program: &Program, dst: PlaceId, src: ExprId) {
        let Some((var, _)) = program.whole_register(dst) else {
            self.read_place(program, dst);
            return self.read(program, src);
        };
        let expr = &program.exprs[src];
        match expr.kind {
            ExprKind::Int(_) => {}
            _ if expr.ty == Scalar::BOOL => self.read(program, src),
            ExprKind::Convert(a) if program.exprs[a].ty == Scalar::BOOL => self.read(program, a),
            _ => match loaded(program, src) {
                Some(from) => self.copies.push((var, src, from)),
                None => {
                    self.data.insert(var);
                    self.read(program, src);
                }
            },
        }
    }

    /// What an expression reads, but for comparisons with constants or among registers, is data.
    fn read(&mut self, program: &Program, e: ExprId) {
        let mut work = vec![e];
        let mut seen = FxHashSet::default();
        while let Some(e) = work.pop() {
            if !seen.insert(e) {
                continue;
            }
            if let Some(var) = compared(program, e) {
                let atoms = self.atoms.entry(var).or_default();
                if !atoms.contains(&e) {
                    atoms.push(e);
                }
                continue;
            }
            if let ExprKind::Cmp(_, a, b) = program.exprs[e].kind
                && let (Some(a), Some(b)) = (loaded(program, a), loaded(program, b))
            {
                self.pairs.push((a, b));
                continue;
            }
            let mut places = Vec::new();
            program.exprs[e].operands(|o| work.push(o), |p| places.push(p));
            for p in places {
                if let Base::Var(var) = program.places[p].base {
                    self.data.insert(var);
                }
                program.places[p].operands(|o| work.push(o));
            }
        }
    }

    fn read_place(&mut self, program: &Program, place: PlaceId) {
        if program.whole_register(place).is_none() {
            if let Base::Var(var) = program.places[place].base {
                self.data.insert(var);
            }
            program.places[place].operands(|e| self.read(program, e));
        }
    }
}

/// The register whose value, perhaps converted, an expression is.
fn loaded(program: &Program, mut e: ExprId) -> Option<VarId> {
    while let ExprKind::Convert(a) = program.exprs[e].kind {
        e = a;
    }
    match program.exprs[e].kind {
        ExprKind::Load(place) => program.whole_register(place).map(|(var, _)| var),
        _ => None,
    }
}

/// The register that a truth value compares with a constant.
pub fn compared(program: &Program, e: ExprId) -> Option<VarId> {
    let expr = &program.exprs[e];
    let constant = |e: ExprId| matches!(program.exprs[e].kind, ExprKind::Int(_));
    match expr.kind {
        _ if expr.ty != Scalar::BOOL => None,
        ExprKind::Cmp(_, a, b) if constant(b) => loaded(program, a),
        ExprKind::Cmp(_, a, b) if constant(a) => loaded(program, b),
        ExprKind::Cmp(..) => None,
        _ => loaded(program, e),
    }
}

/// What a truth value that compares a register with a constant is where the register is 0 or 1.
pub fn compared_at(program: &Program, e: ExprId, value: u8) -> Option<bool> {
    // Only one type of integers does not have both numbers.
    let has_both = |e: ExprId| matches!(program.exprs[e].ty, Scalar::Int(t) if t.bits > 1 || !t.signed);
    let number = |e: ExprId| match (&program.exprs[e].kind, program.exprs[e].ty) {
        (ExprKind::Int(bits), Scalar::Int(t)) => Some(integer(t, *bits)),
        _ => {
            let mut inner = e;
            while let ExprKind::Convert(a) = program.exprs[inner].kind {
                inner = a;
                has_both(inner).then_some(())?;
            }
            loaded(program, e).filter(|_| has_both(e)).map(|_| Int::from(value))
        }
    };
    match program.exprs[e].kind {
        ExprKind::Cmp(op, a, b) => {
            let (a, b) = (number(a)?, number(b)?);
            Some(match op {
                CmpOp::Eq => a == b,
                CmpOp::Ne => a != b,
                CmpOp::Lt => a < b,
                CmpOp::Le => a <= b,
            })
        }
        _ => number(e).map(|v| v != Int::from(0u8)),
    }
}
