//! A program that grows by the predicates that refinement makes: conditions of branches, and what must hold before
//! an edge for them to hold after it.

use palisade_cfa::*;
use rustc_hash::FxHashMap;

/// Larger preconditions are not followed further back.
const MAX_SIZE: usize = 60;

/// A program that grows by expressions, of which equal ones are the same.
pub struct Pool {
    /// The program so far.
    pub program: Program,
    known: FxHashMap<Expr, ExprId>,
    /// The one place that is a register.
    places: FxHashMap<VarId, PlaceId>,
}

impl Pool {
    /// One that is a program to begin with.
    pub fn new(program: &Program) -> Self {
        let mut pool =
            Pool { program: program.clone(), known: FxHashMap::default(), places: FxHashMap::default() };
        for (id, _) in program.places.iter_enumerated() {
            if let Some((var, _)) = program.whole_integer(id) {
                pool.places.entry(var).or_insert(id);
            }
        }
        for (id, expr) in program.exprs.iter_enumerated() {
            pool.known.entry(expr.clone()).or_insert(id);
        }
        pool
    }

    fn intern(&mut self, ty: Scalar, kind: ExprKind) -> ExprId {
        let kind = self.folded(ty, kind);
        let expr = Expr { ty, kind };
        if let Some(&known) = self.known.get(&expr) {
            return known;
        }
        let id = self.program.exprs.push(expr.clone());
        self.known.insert(expr, id);
        id
    }

    /// `x - k` as `x + -k` and `(x + j) + k` as `x + (j + k)`: what going back through a loop gives.
    fn folded(&mut self, ty: Scalar, kind: ExprKind) -> ExprKind {
        if let (ExprKind::Binary(BinOp::Sub, a, b), Scalar::Int(t)) = (&kind, ty)
            && let ExprKind::Int(k) = self.program.exprs[*b].kind
        {
            let minus = self.intern(ty, ExprKind::Int(t.truncate(k.wrapping_neg())));
            return self.folded(ty, ExprKind::Binary(BinOp::Add, *a, minus));
        }
        let exprs = &self.program.exprs;
        if let (ExprKind::Binary(BinOp::Add, a, b), Scalar::Int(t)) = (&kind, ty)
            && let ExprKind::Int(k) = exprs[*b].kind
            && let ExprKind::Binary(BinOp::Add, x, c) = exprs[*a].kind
            && let ExprKind::Int(j) = exprs[c].kind
        {
            let sum = self.intern(ty, ExprKind::Int(t.truncate(j.wrapping_add(k))));
            return ExprKind::Binary(BinOp::Add, x, sum);
        }
        kind
    }

    /// The negation of a truth value.
    pub fn negation(&mut self, e: ExprId) -> ExprId {
        match self.program.exprs[e].kind {
            ExprKind::Unary(UnOp::Not, inner) => inner,
            _ => self.intern(Scalar::BOOL, ExprKind::Unary(UnOp::Not, e)),
        }
    }

    /// Whether an expression reads nothing.
    pub fn is_constant(&self, e: ExprId) -> bool {
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            let expr = &self.program.exprs[e];
            if matches!(expr.kind, ExprKind::Load(_)) {
                return false;
            }
            expr.operands(|x| work.push(x), |_| {});
        }
        true
    }

    fn size(&self, e: ExprId) -> usize {
        let (mut work, mut size) = (vec![e], 0);
        while let Some(e) = work.pop() {
            size += 1;
            if size > MAX_SIZE {
                break;
            }
            self.program.exprs[e].operands(|x| work.push(x), |_| {});
        }
        size
    }

    /// The comparisons in all conditions of the program, up to negation.
    pub fn conditions(&mut self, program: &Program) -> Vec<ExprId> {
        let mut found = Vec::new();
        for edge in program.edges.ids() {
            found.extend(self.atoms(program, edge));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The comparisons in the condition of a branch, up to negation.
    pub fn atoms(&mut self, program: &Program, edge: EdgeId) -> Vec<ExprId> {
        let Op::Assume { cond } = program.edges[edge].op else { return Vec::new() };
        let (mut work, mut atoms) = (vec![cond], Vec::new());
        while let Some(e) = work.pop() {
            let expr = &program.exprs[e];
            match expr.kind.clone() {
                ExprKind::Unary(UnOp::Not, a) if expr.ty == Scalar::BOOL => work.push(a),
                ExprKind::Binary(BinOp::And | BinOp::Or, a, b) if expr.ty == Scalar::BOOL => {
                    work.extend([b, a]);
                }
                kind => {
                    let atom = match kind {
                        ExprKind::Cmp(CmpOp::Le, a, b) => self.comparison(CmpOp::Lt, b, a),
                        ExprKind::Cmp(CmpOp::Ne, a, b) => self.comparison(CmpOp::Eq, a, b),
                        _ => self.replaced(e, None),
                    };
                    if !atoms.contains(&atom) {
                        atoms.push(atom);
                    }
                }
            }
        }
        atoms
    }

    fn comparison(&mut self, op: CmpOp, a: ExprId, b: ExprId) -> ExprId {
        let (a, b) = (self.replaced(a, None), self.replaced(b, None));
        self.intern(Scalar::BOOL, ExprKind::Cmp(op, a, b))
    }

    /// What must hold before an edge for a predicate to hold after it; `None` if that depends on
    /// what is not known before, or grows too large.
    pub fn before(&mut self, program: &Program, edge: EdgeId, predicate: ExprId) -> Option<ExprId> {
        let before = match program.edges[edge].op {
            Op::Assign { dst, src } => match program.whole_integer(dst) {
                Some((var, _)) => self.replaced(predicate, Some((var, src))),
                None => predicate,
            },
            Op::Havoc { dst, .. } => match program.whole_integer(dst) {
                Some((var, _)) if self.mentions(predicate, var) => return None,
                _ => predicate,
            },
            Op::Enter { var } if self.mentions(predicate, var) => return None,
            _ => predicate,
        };
        (self.size(before) <= MAX_SIZE).then_some(before)
    }

    fn mentions(&self, e: ExprId, var: VarId) -> bool {
        let mut work = vec![e];
        while let Some(e) = work.pop() {
            let expr = &self.program.exprs[e];
            if let ExprKind::Load(place) = expr.kind
                && self.program.whole_integer(place).is_some_and(|(read, _)| read == var)
            {
                return true;
            }
            expr.operands(|x| work.push(x), |_| {});
        }
        false
    }

    /// The expression with a register replaced by another expression, made of the pool's own parts.
    /// The depth of expressions is bounded by lowering and by [`MAX_SIZE`].
    fn replaced(&mut self, e: ExprId, by: Option<(VarId, ExprId)>) -> ExprId {
        let Expr { ty, kind } = self.program.exprs[e].clone();
        let kind = match kind {
            ExprKind::Load(place) => match (self.program.whole_integer(place), by) {
                (Some((var, _)), Some((replaced, value))) if var == replaced => {
                    return self.replaced(value, None);
                }
                (Some((var, _)), _) => ExprKind::Load(self.places.get(&var).copied().unwrap_or(place)),
                (None, _) => kind,
            },
            ExprKind::Unary(op, a) => ExprKind::Unary(op, self.replaced(a, by)),
            ExprKind::Convert(a) => ExprKind::Convert(self.replaced(a, by)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(op, self.replaced(a, by), self.replaced(b, by)),
            ExprKind::Cmp(op, a, b) => ExprKind::Cmp(op, self.replaced(a, by), self.replaced(b, by)),
            ExprKind::Overflow(op, a, b) => {
                ExprKind::Overflow(op, self.replaced(a, by), self.replaced(b, by))
            }
            ExprKind::Ite(c, a, b) => {
                ExprKind::Ite(self.replaced(c, by), self.replaced(a, by), self.replaced(b, by))
            }
            other => other,
        };
        self.intern(ty, kind)
    }
}
