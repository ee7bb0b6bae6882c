//! Facts about all elements of an array, as people read them: `for all k in [0, i): a[k] == 0`.
//!
//! In a certificate such a fact speaks about a ghost: it lies outside of a range, or something holds of the element
//! there.

use crate::minimise::minimised;
use palisade_cfa::c_expr::CWriter;
use palisade_cfa::*;

/// Names that ghosts get, unless the program has them.
const NAMES: [&str; 8] = ["k", "l", "m", "k1", "l1", "m1", "k2", "l2"];

/// Ghosts with names that no variable has.
pub fn named(program: &Program, ghosts: impl Iterator<Item = VarId>) -> Vec<(VarId, &'static str)> {
    let ghosts: Vec<VarId> = ghosts.collect();
    let used = |name: &str| {
        program.vars.iter_enumerated().any(|(v, var)| &*var.name == name && !ghosts.contains(&v))
    };
    ghosts.iter().copied().zip(NAMES.into_iter().filter(|name| !used(name))).collect()
}

/// The range of one ghost.
#[derive(Default)]
struct Range {
    /// The least value, and the first one behind the largest.
    from: Option<String>,
    to: Option<String>,
    /// Its only value.
    only: Option<String>,
}

/// The text of a fact about ghosts; nothing if it is not of that kind, or cannot be written.
pub fn text(
    program: &Program,
    fact: ExprId,
    ghosts: &[(VarId, &str)],
    name: &dyn Fn(VarId) -> Option<String>,
) -> Option<String> {
    let ids: Vec<VarId> = ghosts.iter().map(|g| g.0).collect();
    let all = |var: VarId| {
        let ghost = ghosts.iter().find(|g| g.0 == var);
        ghost.map_or_else(|| name(var), |g| Some(g.1.to_owned()))
    };
    let writer = CWriter::about(program, &all, &ids);
    let mut mentioned = Vec::new();
    program.visit_op(&Op::Assume { cond: fact }, &mut |used| {
        if let Use::Read(place) = used
            && let Base::Var(var) = program.places[place].base
            && ids.contains(&var)
            && !mentioned.contains(&var)
        {
            mentioned.push(var);
        }
    });
    if mentioned.is_empty() {
        return None;
    }
    mentioned.sort_unstable();
    let mut ranges: Vec<Range> = mentioned.iter().map(|_| Range::default()).collect();
    let (mut conditions, mut conclusions) = (Vec::new(), Vec::new());
    for part in writer.chain(BinOp::Or, fact) {
        let ExprKind::Unary(UnOp::Not, premise) = program.exprs[part].kind else {
            conclusions.push(writer.truth(part)?);
            continue;
        };
        for condition in writer.chain(BinOp::And, premise) {
            if !bound(program, &writer, condition, &mentioned, &mut ranges)? {
                conditions.push(writer.truth(condition)?);
            }
        }
    }
    let mut heads = Vec::new();
    for (range, var) in ranges.into_iter().zip(&mentioned) {
        let name = ghosts.iter().find(|g| g.0 == *var)?.1;
        heads.push(match (range.only, range.from, range.to) {
            (Some(only), from, to) => {
                conditions.extend(from.map(|from| format!("{from} <= {name}")));
                conditions.extend(to.map(|to| format!("{name} < {to}")));
                format!("{name} == {only}")
            }
            (None, Some(from), Some(to)) => format!("{name} in [{from}, {to})"),
            (None, Some(from), None) => format!("{name} >= {from}"),
            (None, None, Some(to)) => format!("{name} < {to}"),
            (None, None, None) => name.to_owned(),
        });
    }
    let with = match minimised(conditions) {
        none if none.is_empty() => String::new(),
        some => format!(" with {}", some.join(" && ")),
    };
    let conclusion = if conclusions.is_empty() { "never".to_owned() } else { conclusions.join(" || ") };
    Some(format!("for all {}{with}: {conclusion}", heads.join(", ")))
}

/// Notes a condition that is a bound of a ghost by something without one; tells whether it is.
fn bound(
    program: &Program,
    writer: &CWriter<'_>,
    condition: ExprId,
    ghosts: &[VarId],
    ranges: &mut [Range],
) -> Option<bool> {
    let ExprKind::Cmp(op, a, b) = program.exprs[condition].kind else { return Some(false) };
    let ghost = |e: ExprId| {
        let ExprKind::Load(place) = program.exprs[e].kind else { return None };
        let Base::Var(var) = program.places[place].base else { return None };
        ghosts.iter().position(|&g| g == var)
    };
    let plus_one = |text: String| match text.parse::<i64>() {
        Ok(n) => n.checked_add(1).map(|n| n.to_string()),
        Err(_) => Some(format!("{text} + 1")),
    };
    Some(match (op, ghost(a), ghost(b)) {
        // Said before.
        (CmpOp::Le, None, Some(k)) if ranges[k].from.is_some() && ranges[k].from == writer.integer(a) => true,
        (CmpOp::Le, None, Some(k)) if ranges[k].from.is_none() => {
            ranges[k].from = Some(writer.integer(a)?);
            true
        }
        (CmpOp::Lt, None, Some(k)) if ranges[k].from.is_none() => {
            ranges[k].from = Some(plus_one(writer.integer(a)?)?);
            true
        }
        (CmpOp::Lt, Some(k), None) if ranges[k].to.is_none() => {
            ranges[k].to = Some(writer.integer(b)?);
            true
        }
        (CmpOp::Le, Some(k), None) if ranges[k].to.is_none() => {
            ranges[k].to = Some(plus_one(writer.integer(b)?)?);
            true
        }
        (CmpOp::Eq, Some(k), None) if ranges[k].only.is_none() => {
            ranges[k].only = Some(writer.integer(b)?);
            true
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_evidence::Invariants;

    /// No premise gets lost: what is said of one element holds only where the bounds hold, too.
    #[test]
    fn all_premises_are_told() {
        let program = Program::new(DataModel::Lp64);
        let mut pool = Invariants::none(&program);
        let ghost = pool.ghost(&program, "k");
        let k = pool.ghost_value(ghost);
        let [zero, five, seven, nine] = [0, 5, 7, 9].map(|n| pool.int(Invariants::GHOST, n));
        let mut fact = |premises: &[(CmpOp, ExprId, ExprId)]| {
            let all: Vec<ExprId> =
                premises.iter().map(|&(op, a, b)| pool.expr(Scalar::BOOL, ExprKind::Cmp(op, a, b))).collect();
            let premise = pool.all(BinOp::And, &all);
            let outside = pool.expr(Scalar::BOOL, ExprKind::Unary(UnOp::Not, premise));
            let differs = pool.expr(Scalar::BOOL, ExprKind::Cmp(CmpOp::Ne, k, seven));
            pool.expr(Scalar::BOOL, ExprKind::Binary(BinOp::Or, outside, differs))
        };
        let (low, high) = ((CmpOp::Le, zero, k), (CmpOp::Le, k, five));
        let cases = [
            (fact(&[low, high]), "for all k in [0, 6): k != 7"),
            (fact(&[low, low, high]), "for all k in [0, 6): k != 7"),
            (fact(&[(CmpOp::Eq, k, five), low]), "for all k == 5 with 0 <= k: k != 7"),
            (fact(&[low, (CmpOp::Lt, k, nine), high]), "for all k in [0, 9) with k <= 5: k != 7"),
        ];
        let program = pool.extend(&program);
        let ghosts = named(&program, pool.ghosts());
        for (fact, want) in cases {
            assert_eq!(text(&program, fact, &ghosts, &|_| None).as_deref(), Some(want));
        }
    }
}
