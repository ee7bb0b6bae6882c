//! Structs whose address nobody takes are split: each member that is used becomes a register.

use palisade_cfa::*;
use palisade_task::Task;
use palisade_task::rewrite::Rewriter;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// The members of a variable by offset: type of the member and the register that takes over.
type Members = BTreeMap<u64, TypeId>;

/// Splits all structs that can be split. Tells whether there was one.
pub fn split(task: &mut Task) -> bool {
    let mut members = candidates(&task.program);
    members.retain(|&var, members| initial_values(&task.program, var, members).is_some());
    if members.is_empty() {
        return false;
    }
    let mut vars: Vec<VarId> = members.keys().copied().collect();
    vars.sort_unstable();
    let mut registers: FxHashMap<VarId, Vec<(u64, VarId)>> = FxHashMap::default();
    for &var in &vars {
        let inits = initial_values(&task.program, var, &members[&var]).expect("kept only if it has them");
        let list = registers.entry(var).or_default();
        for ((&offset, &ty), init) in members[&var].iter().zip(inits) {
            let old = &task.program.vars[var];
            let new = Var { name: format!("{}.{offset}", old.name).into(), ty, init, ..old.clone() };
            let local = new.kind != VarKind::Global;
            let new = task.program.vars.push(new);
            let entry = task.program.entry;
            if let (true, Some(body)) = (local, &mut task.program.funcs[entry].body) {
                body.locals.push(new);
            }
            let (whole, start) = task.origin.pieces.get(&var).map_or((var, 0), |&piece| piece);
            task.origin.pieces.insert(new, (whole, start + offset));
            list.push((offset, new));
        }
    }
    rewrite_places(task, &registers);
    for edge in task.program.edges.ids() {
        expand(task, edge, &registers);
    }
    true
}

/// Variables of which only scalar members are used, with these members.
fn candidates(p: &Program) -> FxHashMap<VarId, Members> {
    let mut found: FxHashMap<VarId, Members> = FxHashMap::default();
    let mut excluded: FxHashSet<VarId> = FxHashSet::default();
    for edge in &p.edges {
        p.visit_op(&edge.op, &mut |used| {
            let (Use::Read(place) | Use::Write(place) | Use::Address(place)) = used else { return };
            let Base::Var(var) = p.places[place].base else { return };
            if p.vars[var].address_taken || !matches!(p.types[p.vars[var].ty], Type::Record(_)) {
                return;
            }
            // Setting the whole to zero is setting all members to zero.
            if matches!(edge.op, Op::Zero { dst } if dst == place) && p.places[place].path.is_empty() {
                return;
            }
            match member(p, place) {
                Some((offset, ty)) if !matches!(used, Use::Address(_)) => {
                    let known = found.entry(var).or_default().insert(offset, ty);
                    if known.is_some_and(|k| p.types[k] != p.types[ty]) {
                        excluded.insert(var);
                    }
                }
                _ => {
                    excluded.insert(var);
                }
            }
        });
    }
    found.retain(|var, members| {
        let mut end = 0;
        !excluded.contains(var)
            && members.iter().all(|(&offset, &ty)| {
                let apart = offset >= end;
                end = offset + p.size_of(ty).unwrap_or(0);
                apart
            })
    });
    found
}

/// Offset and type of a scalar member that is reached by names only.
fn member(p: &Program, place: PlaceId) -> Option<(u64, TypeId)> {
    let place = &p.places[place];
    if place.bits.is_some() || place.path.is_empty() || p.scalar_of(place.ty).is_none() {
        return None;
    }
    let mut offset = 0;
    for step in &place.path {
        match *step {
            Proj::Field { record, field } => offset += p.field(record, field).offset,
            Proj::Index { .. } => return None,
        }
    }
    Some((offset, place.ty))
}

/// What the members hold at the start.
fn initial_values(p: &Program, var: VarId, members: &Members) -> Option<Vec<Init>> {
    let items = match &p.vars[var].init {
        Init::Unknown => return Some(vec![Init::Unknown; members.len()]),
        Init::Image(items) => items,
    };
    let mut inits = Vec::new();
    for (&offset, &ty) in members {
        let end = offset + p.size_of(ty)?;
        let mut inside =
            items.iter().filter(|i| i.offset < end && i.offset + item_size(p, &i.value) > offset);
        inits.push(match (inside.next(), inside.next()) {
            (None, _) => Init::Image(Vec::new()),
            (Some(item), None) if item.offset == offset && !matches!(item.value, InitValue::Bytes(_)) => {
                Init::Image(vec![InitItem { offset: 0, value: item.value.clone() }])
            }
            _ => return None,
        });
    }
    Some(inits)
}

fn item_size(p: &Program, value: &InitValue) -> u64 {
    match value {
        InitValue::Bytes(bytes) => bytes.len() as u64,
        InitValue::Int(t, _) => u64::from(t.bits).div_ceil(8).next_power_of_two(),
        InitValue::Float(..) => 16,
        InitValue::Addr(..) | InitValue::Func(_) | InitValue::Absolute(_) => {
            u64::from(p.data_model.ptr_bits() / 8)
        }
    }
}

/// Members give way to registers in all operations.
fn rewrite_places(task: &mut Task, registers: &FxHashMap<VarId, Vec<(u64, VarId)>>) {
    let mut rewriter = Rewriter::default();
    for id in task.program.places.ids() {
        let place = &task.program.places[id];
        if let Base::Var(var) = place.base
            && let Some(list) = registers.get(&var)
            && let Some((offset, _)) = member(&task.program, id)
            && let Some(&(_, new)) = list.iter().find(|(o, _)| *o == offset)
        {
            let ty = task.program.vars[new].ty;
            let place = Place { base: Base::Var(new), path: Default::default(), ty, bits: None };
            let place = task.program.places.push(place);
            rewriter.replace_place(id, place);
        }
    }
    for edge in task.program.edges.ids() {
        let op = task.program.edges[edge].op.clone();
        task.program.edges[edge].op = rewriter.op(&mut task.program, &op);
    }
}

/// Operations on the whole become one operation for each member.
fn expand(task: &mut Task, edge: EdgeId, registers: &FxHashMap<VarId, Vec<(u64, VarId)>>) {
    let p = &mut task.program;
    let (var, zero) = match p.edges[edge].op {
        Op::Enter { var } => (var, false),
        Op::Leave { var } if registers.contains_key(&var) => {
            p.edges[edge].op = Op::Skip;
            return;
        }
        Op::Zero { dst } if p.places[dst].path.is_empty() => match p.places[dst].base {
            Base::Var(var) => (var, true),
            Base::Deref(_) => return,
        },
        _ => return,
    };
    let Some(list) = registers.get(&var) else { return };
    let mut ops = Vec::new();
    for &(_, new) in list {
        ops.push(if zero {
            let ty = p.vars[new].ty;
            let dst = p.places.push(Place { base: Base::Var(new), path: Default::default(), ty, bits: None });
            Op::Zero { dst }
        } else {
            Op::Enter { var: new }
        });
    }
    let (end, span, origin) = (p.edges[edge].dst, p.edges[edge].span, task.origin.edges[edge]);
    let Some(last) = ops.pop() else {
        p.edges[edge].op = Op::Skip;
        return;
    };
    let mut edge = edge;
    for op in ops {
        task.program.edges[edge].op = op;
        task.program.locs[end].inc.retain(|e| *e != edge);
        let middle = task.add_loc_like(end);
        task.program.edges[edge].dst = middle;
        task.program.locs[middle].inc.push(edge);
        edge = task.add_edge_from(middle, Op::Skip, end, span, origin);
    }
    task.program.edges[edge].op = last;
}
