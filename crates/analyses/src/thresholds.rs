//! Where widening may stop.
//!
//! A variable grows towards constants that it is compared with or given. It meets those of the operations that mention
//! it, and through the other variables there those of others. All other constants of the program would only make it
//! stop more often: a loop over many variables would be passed once for each constant of each.

use palisade_base::Idx;
use palisade_cfa::*;
use palisade_domains::Thresholds;
use palisade_num::{Int, Rat};
use rustc_hash::FxHashMap;

/// For all variables alike: the constants of a program or of one of its functions with their neighbours, and the ends
/// of the types.
pub fn thresholds(program: &Program, func: Option<FuncId>) -> Thresholds {
    let mut values = ends_of_types();
    for edge in program.edges.iter().filter(|e| func.is_none_or(|f| program.locs[e.src].func == f)) {
        program.visit_op(&edge.op, &mut |used| values.extend(constant(program, used)));
    }
    Thresholds::new(rationals(values), [])
}

/// Variables that meet each other, with the constants that they meet.
pub(crate) fn groups(program: &Program) -> Vec<(Vec<VarId>, Vec<Rat>)> {
    // Memory that pointers lead to and functions may carry values between any variables.
    let elsewhere = program.vars.len();
    let mut sets = Sets((0..=elsewhere).collect());
    let mut constants: Vec<(usize, i128)> = Vec::new();
    for (var, _) in program.vars.iter_enumerated().filter(|(_, v)| matches!(v.kind, VarKind::Param(_))) {
        sets.unite(var.index(), elsewhere);
    }
    for edge in &program.edges {
        let (mut members, mut here) = (Vec::new(), Vec::new());
        if matches!(edge.op, Op::Call { .. } | Op::Return { .. }) {
            members.push(elsewhere);
        }
        program.visit_op(&edge.op, &mut |used| match used {
            Use::Read(x) | Use::Write(x) | Use::Address(x) => members.push(match program.places[x].base {
                Base::Var(var) => var.index(),
                Base::Deref(_) => elsewhere,
            }),
            Use::Expr(_) => here.extend(constant(program, used)),
        });
        let Some(&first) = members.first() else { continue };
        members.iter().for_each(|&other| sets.unite(first, other));
        constants.extend(here.into_iter().map(|value| (first, value)));
    }
    let mut groups: FxHashMap<usize, (Vec<VarId>, Vec<i128>)> = FxHashMap::default();
    for var in program.vars.ids() {
        groups.entry(sets.find(var.index())).or_insert_with(|| (Vec::new(), ends_of_types())).0.push(var);
    }
    for (member, value) in constants {
        if let Some(group) = groups.get_mut(&sets.find(member)) {
            group.1.push(value);
        }
    }
    let groups = groups.into_values();
    groups.map(|(vars, values)| (vars, rationals(values).collect())).collect()
}

/// Sets that are united; each number leads to another of its set.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
    }
}

fn ends_of_types() -> Vec<i128> {
    let ends = |bits: u32| [-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1, (1i128 << bits) - 1];
    [8, 16, 32, 64].into_iter().flat_map(ends).chain([0]).collect()
}

/// A constant with its neighbours.
fn constant(program: &Program, used: Use) -> impl Iterator<Item = i128> {
    let value = match used {
        Use::Expr(e) => match program.exprs[e] {
            Expr { kind: ExprKind::Int(bits), ty: Scalar::Int(t) } if t.bits <= 64 => Some(t.decode(bits)),
            _ => None,
        },
        _ => None,
    };
    value.into_iter().flat_map(|v| [v - 1, v, v + 1])
}

fn rationals(values: Vec<i128>) -> impl Iterator<Item = Rat> {
    values.into_iter().map(|v| Rat::from(Int::from(v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variables meet in comparisons and assignments, not because they are used one after the other.
    #[test]
    fn variables_meet_their_own_constants() {
        let text = "
            fn f() -> i32 {
              local a: i32; local b: i32; local c: i32;
              l0 -> l1: a = 3;
              l1 -> l2: b = 50;
              l2 -> l3: c = a;
              l3 -> l4: assume b < 90;
              l4 -> l5: assume c == 70;
              l5 -> end: return 0;
            }
            entry f;";
        let program = palisade_cfa::text::parse(text).expect("it is a program");
        let says = |name: &str, value: i128| {
            let has = |v: &VarId| &*program.vars[*v].name == name;
            let found = groups(&program).into_iter().find(|(vars, _)| vars.iter().any(has));
            found.expect("it is a variable").1.contains(&Rat::from(Int::from(value)))
        };
        for name in ["a", "c"] {
            assert!(says(name, 3) && says(name, 71) && !says(name, 50) && !says(name, 90), "{name}");
        }
        assert!(says("b", 50) && says("b", 89) && !says("b", 3) && !says("b", 70));
    }
}
