//! From a run that goes wrong to a violation witness.

use crate::model::*;
use crate::places::Places;
use crate::run::Steps;
use palisade_base::Span;
use palisade_cfa::c_expr::literal;
use palisade_cfa::*;
use palisade_interp::{Run, Value};

/// Where a run went wrong, in the text of the program: the statement that starts the operation
/// or, if the operation is the library's, its call.
pub fn violation_span(program: &Program, places: &Places, run: &Run) -> Option<Span> {
    violation_edges(program, run).map(|e| program.edges[e].span).find(|&s| places.contains(s))
}

/// The edges at which a violation can be said to be, the innermost first. A call that is forbidden
/// is the violation, not what the function would do.
pub fn violation_edges<'a>(program: &'a Program, run: &'a Run) -> impl Iterator<Item = EdgeId> + 'a {
    let innermost = run.stack.first();
    let forbidden = innermost.is_some_and(|&(func, edge)| {
        matches!(program.edges[edge].op, Op::Check { kind: CheckKind::ForbiddenCall, .. })
            && program.edges[edge].span == program.funcs[func].span
            && run.stack.len() > 1
    });
    run.stack.iter().skip(usize::from(forbidden)).map(|(_, edge)| *edge)
}

/// The segments of a witness that lead to the end of a run: what each open value was, in order, and
/// the target.
pub fn segments(program: &Program, places: &Places, run: &Run, steps: &Steps) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    if let Some(waypoint) = entry_call(program, places, steps) {
        segments.push(Segment { avoid: Vec::new(), follow: waypoint });
    }
    for &(edge, value) in &steps.open {
        if let Some(waypoint) = open_value(program, places, edge, value) {
            segments.push(Segment { avoid: Vec::new(), follow: waypoint });
        }
    }
    let span = violation_span(program, places, run)?;
    let place = *places.targets(span).first()?;
    let location = places.locate(place)?;
    let follow = Waypoint { kind: WaypointKind::Target, location, constraint: None, at: None };
    segments.push(Segment { avoid: Vec::new(), follow });
    Some(segments)
}

/// A waypoint at the first statement of an entry function that says what it was called with.
fn entry_call(program: &Program, places: &Places, steps: &Steps) -> Option<Waypoint> {
    let call = steps.call.as_ref()?;
    let Op::Call { callee: Callee::Direct(entry), .. } = program.edges[*call.edges.last()?].op else {
        return None;
    };
    let name = program.funcs[entry].span;
    let first = places.stmts.iter().find(|(s, p)| s.lo >= name.hi && p.in_block && !p.declares)?.0;
    let fact = |(place, value): &(String, Value)| match value.ty {
        Scalar::Ptr if value.bits == 0 => Some(format!("{place} == 0")),
        Scalar::Ptr => Some(format!("{place} != 0")),
        _ => Some(format!("{place} == {}", number(*value)?)),
    };
    let facts: Vec<String> = call.given.iter().filter_map(fact).collect();
    (!facts.is_empty()).then_some(Waypoint {
        kind: WaypointKind::Assumption,
        location: places.locate(first.lo)?,
        constraint: Some(facts.join(" && ")),
        at: None,
    })
}

/// A waypoint that fixes a value that the program does not determine.
fn open_value(program: &Program, places: &Places, edge: EdgeId, value: Value) -> Option<Waypoint> {
    let Edge { ref op, span, .. } = program.edges[edge];
    match *op {
        Op::Havoc { .. } | Op::Call { .. } => {
            let call = places.call(span)?;
            let constraint = format!("\\result == {}", number(value)?);
            Some(Waypoint {
                kind: WaypointKind::FunctionReturn,
                location: places.locate(call.rparen)?,
                constraint: Some(constraint),
                at: None,
            })
        }
        // Memory is zero where nothing else was said, and so is a variable.
        Op::Enter { var } if value.bits != 0 => {
            let name = &program.vars[var].name;
            let (stmt, place) = places.stmts.innermost(span)?;
            if name.starts_with('.') || !place.declares || !place.in_block {
                return None;
            }
            let next = places.stmts.iter().find(|(s, p)| s.lo >= stmt.hi && p.in_block)?.0;
            let scope = program.vars[var].scope;
            if next.lo < scope.lo || next.hi > scope.hi {
                return None;
            }
            Some(Waypoint {
                kind: WaypointKind::Assumption,
                location: places.locate(next.lo)?,
                constraint: Some(format!("{name} == {}", number(value)?)),
                at: None,
            })
        }
        _ => None,
    }
}

/// A number that C reads back exactly.
fn number(value: Value) -> Option<String> {
    match value.ty {
        Scalar::Int(IntTy { bits: 128, signed: false }) | Scalar::Ptr => None,
        Scalar::Int(_) => value.as_int().and_then(literal),
        Scalar::Float(FloatTy::F32) => finite(f32::from_bits(value.bits as u32).into()),
        Scalar::Float(FloatTy::F64) => finite(f64::from_bits(value.bits as u64)),
        Scalar::Float(FloatTy::F80) => None,
    }
}

fn finite(value: f64) -> Option<String> {
    // Zeroes of either sign are equal; the program may tell them apart.
    (value.is_finite() && (value != 0.0 || value.is_sign_positive())).then(|| format!("{value:?}"))
}
