//! Expressions of the automaton as C, compiled and run.

use palisade_base::SourceMap;
use palisade_cfa::c_expr::CWriter;
use palisade_cfa::*;
use palisade_evidence::Invariants;
use palisade_interp::{Config, Discard, Interp, Listed, Outcome, State};
use palisade_lower::{Options, compile};

const VARS: &str = "
    signed char c = __VERIFIER_nondet_char(); unsigned char uc = __VERIFIER_nondet_uchar();
    short s = __VERIFIER_nondet_short(); int i = __VERIFIER_nondet_int(); int j = __VERIFIER_nondet_int();
    unsigned u = __VERIFIER_nondet_uint(); long long l = __VERIFIER_nondet_longlong();
    unsigned long long ul = __VERIFIER_nondet_ulonglong();";

fn program(body: &str) -> Program {
    let text = format!(
        "signed char __VERIFIER_nondet_char(void); unsigned char __VERIFIER_nondet_uchar(void);
         short __VERIFIER_nondet_short(void); int __VERIFIER_nondet_int(void);
         unsigned __VERIFIER_nondet_uint(void); long long __VERIFIER_nondet_longlong(void);
         unsigned long long __VERIFIER_nondet_ulonglong(void);
         int main(void) {{ {VARS} {body} return 0; }}"
    );
    let mut map = SourceMap::new();
    let file = map.add("t.i", text).expect("small");
    let compiled = compile(&mut map, &[file], DataModel::Lp64, &Options::default());
    let errors: Vec<_> = compiled.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{body}");
    compiled.program.expect("no errors")
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn int(&mut self) -> i128 {
        let edges =
            [0, 1, -1, 2, 3, 7, 127, 128, 255, 32767, 65535, 2_147_483_647, -2_147_483_648, 4_294_967_295];
        match self.below(3) {
            0 => edges[self.below(edges.len())],
            1 => self.below(40) as i128 - 20,
            _ => i128::from((self.0 ^ self.0 << 17) as i64 >> self.below(60)),
        }
    }
}

/// Makes expressions as engines may: every operator in every width, conversions everywhere.
struct Maker<'a> {
    random: Random,
    program: &'a Program,
    pool: Invariants,
    vars: Vec<(VarId, IntTy)>,
}

impl Maker<'_> {
    fn number(&mut self, ty: IntTy, depth: usize) -> ExprId {
        let int = Scalar::Int(ty);
        match if depth == 0 { self.random.below(2) } else { self.random.below(7) } {
            0 => {
                let value = self.random.int();
                self.pool.int(ty, value)
            }
            1 | 2 => {
                let (var, from) = self.vars[self.random.below(self.vars.len())];
                let value = self.pool.var(self.program, var);
                if from == ty { value } else { self.pool.expr(int, ExprKind::Convert(value)) }
            }
            3 => {
                let from = self.width();
                let a = self.number(from, depth - 1);
                if from == ty { a } else { self.pool.expr(int, ExprKind::Convert(a)) }
            }
            4 => {
                let op = [UnOp::Neg, UnOp::Not][self.random.below(2)];
                let a = self.number(ty, depth - 1);
                self.pool.expr(int, ExprKind::Unary(op, a))
            }
            5 => {
                let c = self.truth(depth - 1);
                let (a, b) = (self.number(ty, depth - 1), self.number(ty, depth - 1));
                self.pool.expr(int, ExprKind::Ite(c, a, b))
            }
            _ => {
                use BinOp::*;
                let op = [Add, Sub, Mul, Div, Rem, And, Or, Xor, Shl, Shr][self.random.below(10)];
                let a = self.number(ty, depth - 1);
                let b = match op {
                    Div | Rem => {
                        let divisor = 1 + self.random.below(9) as i128;
                        self.pool.int(ty, divisor)
                    }
                    Shl | Shr => {
                        let count = self.random.below(usize::from(ty.bits)) as i128;
                        self.pool.int(IntTy::I32, count)
                    }
                    _ => self.number(ty, depth - 1),
                };
                self.pool.expr(int, ExprKind::Binary(op, a, b))
            }
        }
    }

    fn width(&mut self) -> IntTy {
        let bits = [8, 16, 32, 64, 128][self.random.below(5)];
        IntTy { bits, signed: bits == 128 || self.random.below(2) == 0 }
    }

    fn truth(&mut self, depth: usize) -> ExprId {
        if depth > 1 && self.random.below(3) == 0 {
            let (a, b) = (self.truth(depth - 1), self.truth(depth - 1));
            let op = [BinOp::And, BinOp::Or, BinOp::Xor][self.random.below(3)];
            return self.pool.expr(Scalar::BOOL, ExprKind::Binary(op, a, b));
        }
        if depth > 1 && self.random.below(4) == 0 {
            let a = self.truth(depth - 1);
            return self.pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, a));
        }
        let ty = self.width();
        let (a, b) = (self.number(ty, depth.min(3)), self.number(ty, depth.min(3)));
        let op = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le][self.random.below(4)];
        self.pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, b))
    }
}

/// The text means in C, without undefined behaviour, what the expression means in the
/// automaton: both are run.
#[test]
fn texts_mean_what_the_expressions_mean() {
    let plain = program("");
    let int = |v: VarId| plain.scalar_of(plain.vars[v].ty).and_then(Scalar::int);
    let vars: Vec<(VarId, IntTy)> = plain
        .vars
        .ids()
        .filter(|&v| !plain.vars[v].name.starts_with('.'))
        .filter_map(|v| Some((v, int(v)?)))
        .collect();
    assert_eq!(vars.len(), 8);
    let mut maker = Maker { random: Random(1), program: &plain, pool: Invariants::none(&plain), vars };
    let mut written = 0;
    for round in 0..12 {
        let exprs: Vec<ExprId> = (0..120).map(|_| maker.truth(4)).collect();
        let extended = maker.pool.extend(&plain);
        let name = |v: VarId| plain.vars.get(v).map(|v| v.name.to_string());
        let writer = CWriter::new(&extended, &name);
        let texts: Vec<Option<String>> = exprs.iter().map(|&e| writer.truth(e)).collect();
        written += texts.iter().flatten().count();
        let inputs: Vec<i128> = (0..8).map(|_| maker.random.int()).collect();
        let mut truths = Vec::new();
        let mut observer = |edge: EdgeId, state: &State<'_>| {
            if matches!(extended.edges[edge].op, Op::Return { .. }) {
                truths = exprs.iter().map(|&e| state.eval(e).ok().map(|v| v.bits == 1)).collect();
            }
            true
        };
        let mut interp = Interp::new(&extended, Config::default());
        interp.run_observed(&mut Listed::new(inputs.clone()), &mut Discard, &mut observer);
        let mut body = String::new();
        for (i, (text, truth)) in texts.iter().zip(&truths).enumerate() {
            if let (Some(text), Some(truth)) = (text, truth) {
                body += &format!("if ((({text}) != 0) != {}) return {};\n", u8::from(*truth), i + 1);
            }
        }
        let c = program(&body);
        let run = Interp::new(&c, Config::default()).run(&mut Listed::new(inputs.clone()), &mut Discard);
        let shown = match run.outcome {
            Outcome::Exit(i) if i > 0 => texts[i as usize - 1].clone(),
            _ => None,
        };
        assert_eq!(run.outcome, Outcome::Exit(0), "round {round}, inputs {inputs:?}: {shown:?}\n{body}");
    }
    assert!(written > 700, "only {written} of 1440 expressions were written");
}

#[test]
fn simple_facts_read_simply() {
    let plain = program("");
    let var = |name: &str| plain.vars.ids().find(|&v| *plain.vars[v].name == *name).expect("declared");
    let mut pool = Invariants::none(&plain);
    let wide = IntTy { bits: 64, signed: true };
    let i = pool.var(&plain, var("i"));
    let i = pool.expr(Scalar::Int(wide), ExprKind::Convert(i));
    let ten = pool.int(wide, 10);
    let le = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, i, ten));
    let u = pool.var(&plain, var("u"));
    let u = pool.expr(Scalar::Int(wide), ExprKind::Convert(u));
    let sum = pool.expr(Scalar::Int(wide), ExprKind::Binary(BinOp::Add, i, u));
    let lt = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, sum, ten));
    let hidden = pool.var(&plain, var("j"));
    let zero = pool.int(IntTy::I32, 0);
    let about_j = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, hidden, zero));
    let all = pool.all(BinOp::And, &[le, about_j, lt]);
    let either = pool.all(BinOp::Or, &[le, about_j]);
    let extended = pool.extend(&plain);
    let name = |v: VarId| (v != var("j")).then(|| plain.vars[v].name.to_string());
    let writer = CWriter::new(&extended, &name);
    assert_eq!(writer.conjuncts(all), ["i <= 10", "(long long)i + u < 10"]);
    assert!(writer.conjuncts(either).is_empty(), "a disjunction with an unknown part says nothing");
}
