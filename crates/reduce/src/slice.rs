//! The cone of influence: what cannot change whether an error is reached goes.

use palisade_cfa::*;
use palisade_task::Task;
use rustc_hash::FxHashSet;

/// Makes steps that do not matter [`Op::Skip`]s and unlinks edges that cannot lead to an error.
/// Tells whether something changed; [`compact`](palisade_task::compact) then tidies up.
pub fn slice(task: &mut Task) -> bool {
    let mut changed = drop_impossible(task);
    changed |= drop_safe(task);
    changed |= drop_unused(task);
    changed |= drop_choices(task);
    drop_images(&mut task.program);
    registers(&mut task.program);
    changed
}

/// Conditions that are constant.
fn drop_impossible(task: &mut Task) -> bool {
    let p = &mut task.program;
    let mut changed = false;
    for edge in p.edges.ids() {
        if let Op::Assume { cond } = p.edges[edge].op
            && let ExprKind::Int(value) = p.exprs[cond].kind
        {
            if value == 1 {
                p.edges[edge].op = Op::Skip;
                changed = true;
            } else {
                changed |= unlink(p, edge);
            }
        }
    }
    changed
}

fn unlink(p: &mut Program, edge: EdgeId) -> bool {
    let (src, dst) = (p.edges[edge].src, p.edges[edge].dst);
    let before = p.locs[src].out.len();
    p.locs[src].out.retain(|e| *e != edge);
    p.locs[dst].inc.retain(|e| *e != edge);
    p.locs[src].out.len() != before
}

/// Edges to locations from which no error can be reached.
fn drop_safe(task: &mut Task) -> bool {
    let p = &mut task.program;
    let mut todo: Vec<LocId> = task.errors.iter().map(|e| e.loc).chain(task.cuts.iter().copied()).collect();
    let mut dangerous: FxHashSet<LocId> = todo.iter().copied().collect();
    while let Some(loc) = todo.pop() {
        for &edge in &p.locs[loc].inc {
            let src = p.edges[edge].src;
            if dangerous.insert(src) {
                todo.push(src);
            }
        }
    }
    let mut changed = false;
    for edge in p.edges.ids() {
        if !dangerous.contains(&p.edges[edge].dst) {
            changed |= unlink(p, edge);
        }
    }
    changed
}

/// Assignments to variables that nothing depends on.
fn drop_unused(task: &mut Task) -> bool {
    let p = &mut task.program;
    let mut needed: FxHashSet<VarId> = FxHashSet::default();
    let linked: Vec<EdgeId> = p.edges.ids().filter(|&e| p.locs[p.edges[e].src].out.contains(&e)).collect();
    // Assignments that wait for their variable to be needed.
    let mut waiting: Vec<(VarId, EdgeId)> = Vec::new();
    for &edge in &linked {
        match written(p, &p.edges[edge].op) {
            Some(var) => waiting.push((var, edge)),
            None => read(p, edge, &mut needed),
        }
    }
    loop {
        let before = waiting.len();
        waiting.retain(|&(var, edge)| {
            let keep = !needed.contains(&var);
            if !keep {
                read(p, edge, &mut needed);
            }
            keep
        });
        if waiting.len() == before {
            break;
        }
    }
    for &(_, edge) in &waiting {
        p.edges[edge].op = Op::Skip;
    }
    !waiting.is_empty()
}

/// The variable that an operation assigns and does nothing else. Inputs are kept, so that
/// counterexamples list all of them.
fn written(p: &Program, op: &Op) -> Option<VarId> {
    let place = match *op {
        Op::Assign { dst, .. } | Op::Copy { dst, .. } | Op::Zero { dst } => dst,
        _ => return None,
    };
    match p.places[place].base {
        Base::Var(var) if !p.vars[var].address_taken => Some(var),
        _ => None,
    }
}

fn read(p: &Program, edge: EdgeId, needed: &mut FxHashSet<VarId>) {
    p.visit_op(&p.edges[edge].op, &mut |used| {
        if let Use::Read(place) | Use::Address(place) = used
            && let Base::Var(var) = p.places[place].base
        {
            needed.insert(var);
        }
    });
}

/// Choices whose alternatives are the same.
fn drop_choices(task: &mut Task) -> bool {
    let p = &mut task.program;
    let mut changed = false;
    for loc in p.locs.ids() {
        if let &[a, b] = p.locs[loc].out.as_slice()
            && p.edges[a].dst == p.edges[b].dst
            && [a, b].iter().all(|&e| matches!(p.edges[e].op, Op::Assume { .. } | Op::Skip))
        {
            p.edges[a].op = Op::Skip;
            unlink(p, b);
            changed = true;
        }
    }
    changed
}

/// What globals hold at the start that nothing uses any more, and that no pointer leads to. A pointer among them no
/// longer keeps what it points to from being a register. Functions that nobody has may know globals by name.
fn drop_images(p: &mut Program) {
    let unknown = |callee: Callee| match callee {
        Callee::Direct(f) => p.funcs[f].body.is_none() && !p.funcs[f].effect.is_harmless(),
        Callee::Indirect(_) => true,
    };
    if p.edges.iter().any(|e| matches!(e.op, Op::Call { callee, .. } if unknown(callee))) {
        return;
    }
    let mut used: FxHashSet<VarId> = FxHashSet::default();
    for edge in &p.edges {
        p.visit_op(&edge.op, &mut |u| {
            if let Use::Read(place) | Use::Write(place) | Use::Address(place) = u
                && let Base::Var(var) = p.places[place].base
            {
                used.insert(var);
            }
        });
    }
    let mut todo: Vec<VarId> = used.iter().copied().collect();
    while let Some(var) = todo.pop() {
        let Init::Image(items) = &p.vars[var].init else { continue };
        todo.extend(items.iter().filter_map(|item| match item.value {
            InitValue::Addr(to, _) if used.insert(to) => Some(to),
            _ => None,
        }));
    }
    for var in p.vars.ids() {
        if let Init::Image(items) = &mut p.vars[var].init
            && !used.contains(&var)
        {
            items.retain(|item| !matches!(item.value, InitValue::Addr(..)));
        }
    }
}

/// Variables whose address is no longer taken become registers.
fn registers(p: &mut Program) {
    let mut taken: FxHashSet<VarId> = FxHashSet::default();
    for edge in &p.edges {
        p.visit_op(&edge.op, &mut |used| {
            if let Use::Address(place) = used
                && let Base::Var(var) = p.places[place].base
            {
                taken.insert(var);
            }
        });
    }
    for var in &p.vars {
        if let Init::Image(items) = &var.init {
            taken.extend(items.iter().filter_map(|item| match item.value {
                InitValue::Addr(var, _) => Some(var),
                _ => None,
            }));
        }
    }
    for var in p.vars.ids() {
        p.vars[var].address_taken &= taken.contains(&var);
    }
    for edge in p.edges.iter_mut() {
        // A register has no lifetime that could be observed.
        if let Op::Leave { var } = edge.op
            && !p.vars[var].address_taken
            && matches!(p.types[p.vars[var].ty], Type::Int(_) | Type::Float(_) | Type::Ptr(_))
        {
            edge.op = Op::Skip;
        }
    }
}
