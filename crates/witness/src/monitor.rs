//! Weaves a violation witness into a program: a counter says how many segments a run has followed,
//! and only a run that follows them all may go wrong, at the target.

use crate::marks::{MARK, Marked, Marks};
use crate::model::{Segment, Waypoint, WaypointKind};
use crate::places::{CallPlace, Places};
use crate::violation::violation_edges;
use palisade_base::Span;
use palisade_cfa::*;
use palisade_interp::Run;
use rustc_hash::FxHashMap;

/// A waypoint of a witness by its segment.
#[derive(Clone, Copy, Debug)]
struct Step<'w> {
    segment: usize,
    avoid: bool,
    waypoint: &'w Waypoint,
}

/// What a witness asks of a run, ready to be woven in.
pub struct Monitor<'w> {
    segments: &'w [Segment],
    steps: Vec<Step<'w>>,
    /// The calls of function waypoints.
    calls: FxHashMap<usize, CallPlace>,
}

/// A condition on the result of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ResultTest {
    /// The comparison, `\result` on the left.
    pub op: ResultOp,
    /// The number on the right.
    pub number: Number,
}

/// A comparison with a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A floating-point number.
    Float(f64),
}

impl<'w> Monitor<'w> {
    /// Finds the places of a witness and marks its expressions in the text. The error says which
    /// waypoint does not fit the program, and why.
    pub fn new(segments: &'w [Segment], places: &Places, marks: &mut Marks<'_>) -> Result<Self, String> {
        let mut steps = Vec::new();
        for (segment, s) in segments.iter().enumerate() {
            steps.extend(s.avoid.iter().map(|waypoint| Step { segment, avoid: true, waypoint }));
            steps.push(Step { segment, avoid: false, waypoint: &s.follow });
        }
        let mut monitor = Monitor { segments, steps, calls: FxHashMap::default() };
        monitor.mark(places, marks)?;
        Ok(monitor)
    }

    fn mark(&mut self, places: &Places, marks: &mut Marks<'_>) -> Result<(), String> {
        let mut branches: Vec<(&Waypoint, Vec<(usize, bool)>)> = Vec::new();
        let mut cases: Vec<(&Waypoint, Vec<(usize, String)>)> = Vec::new();
        for (k, step) in self.steps.iter().enumerate() {
            let w = step.waypoint;
            let named = |why: String| format!("{} at {}: {why}", w.kind.name(), w.location);
            let constraint = w.constraint.as_deref().unwrap_or_default();
            match w.kind {
                WaypointKind::Assumption => marks.before(k, &w.location, constraint).map_err(named)?,
                WaypointKind::Branching if marks.is_switch(&w.location) => {
                    let value: i128 = constraint
                        .trim()
                        .parse()
                        .map_err(|_| named("only numbered cases are supported".into()))?;
                    group(&mut cases, w).push((k, value.to_string()));
                }
                WaypointKind::Branching => {
                    let branch = match constraint.trim() {
                        "true" => true,
                        "false" => false,
                        _ => return Err(named("the branch is `true` or `false`".into())),
                    };
                    group(&mut branches, w).push((k, branch));
                }
                WaypointKind::FunctionEnter | WaypointKind::FunctionReturn => {
                    let mut here: Vec<&CallPlace> =
                        places.calls().filter(|c| places.is_at(&w.location, c.rparen)).collect();
                    here.sort_by_key(|c| c.rparen);
                    let Some(&&call) = here.first() else {
                        return Err(named("there is no call".into()));
                    };
                    if w.kind == WaypointKind::FunctionReturn
                        && w.constraint.is_some()
                        && result_test(constraint).is_none()
                    {
                        return Err(named(format!("`{constraint}` is no condition on a result")));
                    }
                    self.calls.insert(k, call);
                }
                WaypointKind::Target => {}
            }
        }
        for (w, list) in branches {
            marks
                .branches(&w.location, &list)
                .map_err(|why| format!("branching at {}: {why}", w.location))?;
        }
        for (w, list) in cases {
            marks.cases(&w.location, &list).map_err(|why| format!("branching at {}: {why}", w.location))?;
        }
        Ok(())
    }

    /// How many waypoints there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Weaves the witness into an instrumented program made of the marked text. Afterwards only
    /// the checks at the target are left, and they fail only for runs that follow the witness.
    /// The error says that nothing in the program can be the target.
    pub fn weave(&self, program: &mut Program, places: &Places, marked: &Marked) -> Result<Woven, String> {
        let counter = counter(program);
        let mut weaver = Weaver { program, counter };
        self.weave_target(&mut weaver, places, marked)?;
        let mut before: FxHashMap<EdgeId, Vec<(usize, ExprId, bool)>> = FxHashMap::default();
        let mut after: FxHashMap<EdgeId, Vec<(usize, ExprId, bool)>> = FxHashMap::default();
        for (edge, k, holds) in marks_of(weaver.program) {
            weaver.program.edges[edge].op = Op::Skip;
            if let Some(step) = self.steps.get(k) {
                after.entry(edge).or_default().push((step.segment, holds, step.avoid));
            }
        }
        let mut by_span: FxHashMap<Span, Vec<usize>> = FxHashMap::default();
        for (&k, call) in &self.calls {
            by_span.entry(marked.new_span(call.span)).or_default().push(k);
        }
        let mut asked: FxHashMap<EdgeId, Vec<(usize, ResultTest)>> = FxHashMap::default();
        for edge in weaver.program.edges.ids() {
            let Some(list) = by_span.get(&weaver.program.edges[edge].span) else { continue };
            let (result, is_call) = match weaver.program.edges[edge].op {
                Op::Call { dst, .. } => (dst, true),
                Op::Havoc { dst, .. } => (Some(dst), true),
                _ => (None, false),
            };
            if !is_call {
                continue;
            }
            let mut list = list.clone();
            list.sort_unstable();
            for k in list {
                let Step { segment, avoid, waypoint } = self.steps[k];
                if waypoint.kind == WaypointKind::FunctionEnter {
                    let yes = weaver.program.int(IntTy::BOOL, 1);
                    before.entry(edge).or_default().push((segment, yes, avoid));
                    continue;
                }
                let test = waypoint.constraint.as_deref().and_then(result_test);
                if let (Some(test), false) = (test, avoid) {
                    asked.entry(edge).or_default().push((segment, test));
                }
                let holds = match (test, result) {
                    (Some(test), Some(result)) => weaver.result_holds(result, test),
                    // A condition on a result that nobody takes cannot be seen.
                    (Some(_), None) => None,
                    (None, _) => Some(weaver.program.int(IntTy::BOOL, 1)),
                };
                if let Some(holds) = holds {
                    after.entry(edge).or_default().push((segment, holds, avoid));
                }
            }
        }
        let mut edges: Vec<EdgeId> = before.keys().copied().collect();
        edges.sort_unstable();
        for edge in edges {
            before.entry(edge).and_modify(|tests| tests.sort_by_key(|(segment, ..)| *segment));
            weaver.chain_before(edge, &before[&edge]);
        }
        let mut edges: Vec<EdgeId> = after.keys().copied().collect();
        edges.sort_unstable();
        for edge in edges {
            after.entry(edge).and_modify(|tests| tests.sort_by_key(|(segment, ..)| *segment));
            weaver.chain_after(edge, &after[&edge]);
        }
        Ok(Woven { counter, asked })
    }

    /// Whether a run of the woven program went wrong at the target.
    pub fn ends_at_target(&self, program: &Program, run: &Run, places: &Places, marked: &Marked) -> bool {
        let Some(last) = self.segments.last() else { return false };
        let span = violation_edges(program, run)
            .map(|e| program.edges[e].span)
            .find(|&s| marked.in_program(s))
            .and_then(|s| marked.old_span(s));
        span.is_some_and(|s| places.targets(s).into_iter().any(|o| places.is_at(&last.follow.location, o)))
    }

    /// Leaves the checks that are at the target.
    fn weave_target(&self, weaver: &mut Weaver<'_>, places: &Places, marked: &Marked) -> Result<(), String> {
        let Some(last) = self.segments.last() else { return Err("there is no target".into()) };
        let target = &last.follow.location;
        let at_target = |span: Span| {
            let Some(old) = marked.old_span(span) else { return false };
            places.targets(old).into_iter().any(|offset| places.is_at(target, offset))
        };
        let p = &mut *weaver.program;
        // A function that must not be called fails for its caller.
        let fails = |p: &Program, edge: &Edge| {
            matches!(edge.op, Op::Check { kind: CheckKind::ForbiddenCall, .. })
                && edge.span == p.funcs[p.locs[edge.src].func].span
        };
        let forbidden: Vec<FuncId> =
            p.edges.iter().filter(|e| fails(p, e)).map(|e| p.locs[e.src].func).collect();
        let calls_target = |p: &Program, edge: &Edge| match edge.op {
            Op::Call { callee: Callee::Direct(f), .. } => forbidden.contains(&f) || p.funcs[f].body.is_some(),
            Op::Call { callee: Callee::Indirect(_), .. } => true,
            _ => false,
        };
        // Checks of library functions are at the target if the call that leads there is.
        let target_calls = p.edges.iter().any(|e| calls_target(p, e) && at_target(e.span));
        let mut checks = Vec::new();
        for id in p.edges.ids() {
            let edge = p.edges[id].clone();
            match edge.op {
                Op::Check { cond, .. } => {
                    let below = fails(p, &edge) || !marked.in_program(edge.span);
                    if at_target(edge.span) || below && target_calls {
                        checks.push(id);
                    } else {
                        p.edges[id].op = Op::Assume { cond };
                    }
                }
                Op::Call { callee: Callee::Direct(f), .. }
                    if forbidden.contains(&f) && !at_target(edge.span) =>
                {
                    let never = p.int(IntTy::BOOL, 0);
                    p.edges[id].op = Op::Assume { cond: never };
                }
                _ => {}
            }
        }
        for &check in &checks {
            weaver.only_when(check, self.segments.len() - 1);
        }
        if checks.is_empty() { Err(format!("nothing at {target} can violate the property")) } else { Ok(()) }
    }
}

/// The marks of a compiled program: the edge, which mark, and the condition under which its
/// expression is true.
pub fn marks_of(program: &mut Program) -> Vec<(EdgeId, usize, ExprId)> {
    let Some(func) = program.func_named(MARK) else { return Vec::new() };
    let mut found = Vec::new();
    for (id, edge) in program.edges.iter_enumerated() {
        if let Op::Call { callee: Callee::Direct(f), ref args, .. } = edge.op
            && f == func
            && let [Arg::Scalar(k), Arg::Scalar(not)] = **args
            && let ExprKind::Int(k) = program.exprs[k].kind
        {
            found.push((id, k as usize, not));
        }
    }
    found
        .into_iter()
        .map(|(edge, k, not)| {
            let zero = program.int(IntTy::I32, 0);
            let holds = program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, not, zero));
            (edge, k, holds)
        })
        .collect()
}

fn group<'v, 'w, T>(groups: &'v mut Vec<(&'w Waypoint, Vec<T>)>, w: &'w Waypoint) -> &'v mut Vec<T> {
    let same = |g: &(&Waypoint, Vec<T>)| {
        g.0.location.line == w.location.line && g.0.location.column == w.location.column
    };
    let i = groups.iter().position(same).unwrap_or(groups.len());
    if i == groups.len() {
        groups.push((w, Vec::new()));
    }
    &mut groups[i].1
}

/// A program with a witness woven in.
pub struct Woven {
    /// Counts the segments that were followed.
    pub counter: VarId,
    /// What waypoints ask of the results of operations: the segment and the condition.
    pub asked: FxHashMap<EdgeId, Vec<(usize, ResultTest)>>,
}

/// Tests that are made one after the other.
const MAX_CHAIN: usize = 8;
const COUNTER: IntTy = IntTy { bits: 32, signed: false };

fn counter(program: &mut Program) -> VarId {
    let ty = program.types.push(Type::Int(COUNTER));
    program.vars.push(Var::made_up_global(".segment", ty))
}

struct Weaver<'p> {
    program: &'p mut Program,
    counter: VarId,
}

impl Weaver<'_> {
    fn counter_is(&mut self, segment: usize) -> ExprId {
        let place = self.program.var_place(self.counter);
        let value = self.program.load(place);
        let number = self.program.int(COUNTER, segment as i128);
        self.program.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Eq, value, number))
    }

    /// Gives an edge a source of its own; returns the old one and the new one, which nothing leads
    /// to yet.
    fn split_before(&mut self, edge: EdgeId) -> (LocId, LocId) {
        let p = &mut *self.program;
        let Edge { src, span, .. } = p.edges[edge];
        let middle = p.add_loc(p.locs[src].func, span);
        p.locs[src].out.retain(|e| *e != edge);
        p.edges[edge].src = middle;
        p.locs[middle].out.push(edge);
        (src, middle)
    }

    /// Lets a check fail in a segment only; a run that passes it earlier, as in a loop, goes on.
    fn only_when(&mut self, check: EdgeId, segment: usize) {
        let Op::Check { cond, .. } = self.program.edges[check].op else { return };
        let followed = self.counter_is(segment);
        let (from, to) = self.split_before(check);
        let p = &mut *self.program;
        p.add_edge(from, Op::Assume { cond: followed }, to, Span::NONE);
        let earlier = p.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, followed));
        let passes = p.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::And, earlier, cond));
        let next = p.edges[check].dst;
        p.add_edge(from, Op::Assume { cond: passes }, next, Span::NONE);
    }

    /// Puts tests before an edge that is the only one from its location.
    fn chain_before(&mut self, edge: EdgeId, tests: &[(usize, ExprId, bool)]) {
        let (from, to) = self.split_before(edge);
        self.chain(from, to, tests);
    }

    /// Puts tests behind an edge.
    fn chain_after(&mut self, edge: EdgeId, tests: &[(usize, ExprId, bool)]) {
        let p = &mut *self.program;
        let Edge { src, dst, span, .. } = p.edges[edge];
        let middle = p.add_loc(p.locs[src].func, span);
        p.locs[dst].inc.retain(|e| *e != edge);
        p.edges[edge].dst = middle;
        p.locs[middle].inc.push(edge);
        self.chain(middle, dst, tests);
    }

    /// Each test: in its segment, if the condition holds, the counter goes on, or, for what is to be
    /// avoided, the run ends. Tests are in the order of their segments.
    fn chain(&mut self, from: LocId, to: LocId, tests: &[(usize, ExprId, bool)]) {
        let span = Span::NONE;
        let func = self.program.locs[from].func;
        // A loop may be the place of a hundred thousand segments: search by halves.
        let middle = tests.get(tests.len() / 2).map_or(0, |(segment, ..)| *segment);
        let split = tests.partition_point(|(segment, ..)| *segment < middle);
        if tests.len() > MAX_CHAIN && split > 0 {
            let p = &mut *self.program;
            let place = p.var_place(self.counter);
            let value = p.load(place);
            let number = p.int(COUNTER, middle as i128);
            let below = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Lt, value, number));
            let above = p.add_expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Le, number, value));
            for (cond, half) in [(below, &tests[..split]), (above, &tests[split..])] {
                let next = self.program.add_loc(func, span);
                self.program.add_edge(from, Op::Assume { cond }, next, span);
                self.chain(next, to, half);
            }
            return;
        }
        let mut at = from;
        for &(segment, holds, avoid) in tests {
            let here = self.counter_is(segment);
            let p = &mut *self.program;
            let passed = p.add_expr(Scalar::BOOL, ExprKind::Binary(BinOp::And, here, holds));
            let missed = p.add_expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, passed));
            if !avoid {
                let yes = p.add_loc(func, span);
                p.add_edge(at, Op::Assume { cond: passed }, yes, span);
                let dst = p.var_place(self.counter);
                let src = p.int(COUNTER, segment as i128 + 1);
                p.add_edge(yes, Op::Assign { dst, src }, to, span);
            }
            let next = p.add_loc(func, span);
            p.add_edge(at, Op::Assume { cond: missed }, next, span);
            at = next;
        }
        self.program.add_edge(at, Op::Skip, to, span);
    }

    /// Whether what was stored passes a test.
    fn result_holds(&mut self, result: PlaceId, test: ResultTest) -> Option<ExprId> {
        let p = &mut *self.program;
        let scalar = p.place_scalar(result)?;
        let value = p.load(result);
        let (value, number) = match (scalar, test.number) {
            (Scalar::Int(_), Number::Int(n)) => {
                let wide = IntTy { bits: 128, signed: true };
                let value = p.add_expr(Scalar::Int(wide), ExprKind::Convert(value));
                (value, p.int(wide, n))
            }
            (Scalar::Float(FloatTy::F32 | FloatTy::F64), number) => {
                let ty = Scalar::Float(FloatTy::F64);
                let value = if scalar == ty { value } else { p.add_expr(ty, ExprKind::Convert(value)) };
                let number = match number {
                    Number::Float(x) => x,
                    Number::Int(n) => n as f64,
                };
                (value, p.add_expr(ty, ExprKind::Float(number.to_bits().into())))
            }
            (Scalar::Ptr, Number::Int(n)) => (value, p.add_expr(Scalar::Ptr, ExprKind::Int(n as u128))),
            _ => return None,
        };
        let (op, a, b) = match test.op {
            ResultOp::Eq => (CmpOp::Eq, value, number),
            ResultOp::Ne => (CmpOp::Ne, value, number),
            ResultOp::Lt => (CmpOp::Lt, value, number),
            ResultOp::Le => (CmpOp::Le, value, number),
            ResultOp::Gt => (CmpOp::Lt, number, value),
            ResultOp::Ge => (CmpOp::Le, number, value),
        };
        Some(p.add_expr(Scalar::BOOL, ExprKind::Cmp(op, a, b)))
    }
}

/// Reads `\result OP constant`.
pub fn result_test(text: &str) -> Option<ResultTest> {
    let rest = text.trim().strip_prefix("\\result")?.trim_start();
    const OPS: [(&str, ResultOp); 6] = [
        ("==", ResultOp::Eq),
        ("!=", ResultOp::Ne),
        ("<=", ResultOp::Le),
        (">=", ResultOp::Ge),
        ("<", ResultOp::Lt),
        (">", ResultOp::Gt),
    ];
    let (sign, op) = OPS.into_iter().find(|(sign, _)| rest.starts_with(sign))?;
    Some(ResultTest { op, number: number(&rest[sign.len()..])? })
}

/// Reads a constant as people and tools write it: with a sign, suffixes, parentheses, and the
/// smallest integers as a difference.
pub fn number(text: &str) -> Option<Number> {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        text = inner.trim();
    }
    if let Some(most) = text.strip_suffix("- 1").map(str::trim)
        && let Some(Number::Int(n)) = number(most)
    {
        return n.checked_sub(1).map(Number::Int);
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim()),
        None => (false, text),
    };
    let sign = |n: i128| if negative { n.checked_neg() } else { Some(n) };
    let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let plain = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hex) = hex {
        let hex = hex.trim_end_matches(['u', 'U', 'l', 'L']);
        return i128::from_str_radix(hex, 16)
            .ok()
            .filter(|_| !hex.starts_with('-'))
            .and_then(sign)
            .map(Number::Int);
    }
    if !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit()) {
        return plain.parse().ok().and_then(sign).map(Number::Int);
    }
    let float = digits.trim_end_matches(['f', 'F', 'l', 'L']);
    if !float.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let value: f64 = float.parse().ok()?;
    Some(Number::Float(if negative { -value } else { value }))
}

/// The value that a waypoint fixes for a variable: of an assumption `name == constant`.
pub fn fixed_variable(waypoint: &Waypoint) -> Option<(&str, Number)> {
    if waypoint.kind != WaypointKind::Assumption {
        return None;
    }
    let (name, value) = waypoint.constraint.as_deref()?.split_once("==")?;
    let name = name.trim();
    let word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (word && !name.contains(MARK)).then_some(())?;
    Some((name, number(value)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_on_results_are_read() {
        let test = |text| result_test(text).map(|t| (t.op, t.number));
        assert_eq!(test("\\result == 5"), Some((ResultOp::Eq, Number::Int(5))));
        assert_eq!(test("\\result==-5L"), Some((ResultOp::Eq, Number::Int(-5))));
        assert_eq!(test("\\result == (-2147483647 - 1)"), Some((ResultOp::Eq, Number::Int(-2_147_483_648))));
        assert_eq!(test("\\result >= 0x10u"), Some((ResultOp::Ge, Number::Int(16))));
        assert_eq!(test("\\result != 1.5"), Some((ResultOp::Ne, Number::Float(1.5))));
        assert_eq!(test("\\result == -0.25f"), Some((ResultOp::Eq, Number::Float(-0.25))));
        for bad in
            ["x == 1", "\\result", "\\result == x", "\\result == ", "\\result == inf", "\\result === 1"]
        {
            assert_eq!(test(bad), None, "{bad}");
        }
    }
}
