//! Certificates and counterexamples as bytes. They name locations, variables and expressions by their
//! numbers in the program that the front end makes of the source; a sum of that program's text goes
//! with them. Expressions that evidence adds are written out.
//!
//! What is read names only what is there; whether it makes sense is the business of the verifier and of
//! the check.

use crate::coding::{Damaged, Reader, Writer, damaged};
use palisade_cfa::verify::Subject;
use palisade_cfa::*;
use palisade_evidence::{
    Added, Bounds, Certificate, Chosen, Contracts, Counterexample, Cover, History, Invariants,
};
use palisade_task::Task;
use palisade_task::contracts::{Atom, Case, Clause, Contract, Relation, Term, Value};
use smallvec::SmallVec;

/// Makes the tasks of a program, without its memory or with it, with contracts: of the entry, and of each contract.
pub type Weave<'w> = &'w dyn Fn(&Task, &[Contract], bool) -> Result<Vec<Task>, String>;

/// Writes a certificate.
pub fn write(w: &mut Writer, certificate: &Certificate) {
    match certificate {
        Certificate::Unrolling { bounds } => {
            w.number(0);
            w.list(bounds, |w, (loc, n)| [loc.0, *n].iter().for_each(|n| w.number(u128::from(*n))));
        }
        Certificate::KInduction { k, invariants } => {
            w.number(1);
            w.number(u128::from(*k));
            write_invariants(w, invariants);
        }
        Certificate::Invariants(invariants) => {
            w.number(2);
            write_invariants(w, invariants);
        }
        Certificate::Cover(cover) => {
            w.number(3);
            w.list(&cover.states, |w, (loc, values)| {
                w.number(u128::from(loc.0));
                w.list(values, |w, (var, bounds)| {
                    [u128::from(var.0), bounds.first, bounds.last].iter().for_each(|n| w.number(*n));
                });
            });
        }
        Certificate::OnlyRun => w.number(4),
        Certificate::Contracts(Contracts { contracts, forgetful, proofs }) => {
            w.number(5);
            w.list(contracts, write_contract);
            w.number(u128::from(*forgetful));
            proofs.iter().for_each(|(_, proof)| write(w, proof));
        }
    }
}

/// Reads a certificate about a task.
pub fn read(r: &mut Reader<'_>, task: &Task, weave: Weave<'_>) -> Result<Certificate, Damaged> {
    let p = &task.program;
    Ok(match r.number::<u8>()? {
        0 => Certificate::Unrolling { bounds: r.list(|r| Ok((LocId(r.below(p.locs.len())?), r.number()?)))? },
        1 => Certificate::KInduction { k: r.number()?, invariants: read_invariants(r, p)? },
        2 => Certificate::Invariants(read_invariants(r, p)?),
        3 => Certificate::Cover(Cover {
            states: r.list(|r| {
                let loc = LocId(r.below(p.locs.len())?);
                let bounds = |r: &mut Reader<'_>| Ok(Bounds { first: r.wide()?, last: r.wide()? });
                Ok((loc, r.list(|r| Ok((VarId(r.below(p.vars.len())?), bounds(r)?)))?))
            })?,
        }),
        4 => Certificate::OnlyRun,
        5 => {
            let contracts = r.list(|r| read_contract(r, &task.source))?;
            let forgetful = r.number::<u8>()? != 0;
            let mut proofs = Vec::new();
            for woven in weave(task, &contracts, forgetful).map_err(Damaged)? {
                // Contracts about a program with contracts would be woven for ever.
                if r.0.first() == Some(&5) {
                    return damaged("contracts within contracts");
                }
                let proof = read(r, &woven, weave)?;
                proofs.push((woven, proof));
            }
            Certificate::Contracts(Contracts { contracts, forgetful, proofs })
        }
        _ => return damaged("an unknown kind of proof"),
    })
}

fn write_invariants(w: &mut Writer, invariants: &Invariants) {
    let (exprs, places) = invariants.pool();
    let added: Vec<Added> = invariants.added().map(|(_, added)| added).collect();
    w.list(&added, |w, added| match added {
        Added::Ghost => w.number(0),
        Added::History(History { head, index, value }) => {
            [1, head.0, index.0, value.0].iter().for_each(|n| w.number(u128::from(*n)));
        }
    });
    w.list(places, write_place);
    w.list(exprs, write_expr);
    w.list(&invariants.at, |w, (loc, fact)| [loc.0, fact.0].iter().for_each(|n| w.number(u128::from(*n))));
}

fn read_invariants(r: &mut Reader<'_>, p: &Program) -> Result<Invariants, Damaged> {
    let mut invariants = Invariants::none(p);
    let added = r.list(|r| {
        Ok(match r.number::<u8>()? {
            0 => Added::Ghost,
            1 => {
                let head = LocId(r.below(p.locs.len())?);
                let [index, value] = [r.below(p.vars.len())?, r.below(p.vars.len())?].map(VarId);
                Added::History(History { head, index, value })
            }
            _ => return damaged("an unknown kind of variable"),
        })
    })?;
    if added.len() > 64 {
        return damaged("too many variables");
    }
    for (i, added) in added.into_iter().enumerate() {
        match added {
            Added::Ghost => Some(invariants.ghost(p, &format!("ghost{i}"))),
            Added::History(history) => invariants.history(p, &format!("H{i}"), history),
        }
        .ok_or_else(|| Damaged("a history is about integers".into()))?;
    }
    let places = r.list(read_place)?;
    let exprs = r.list(read_expr)?;
    for place in places {
        invariants.place(place);
    }
    for Expr { ty, kind } in exprs {
        invariants.expr(ty, kind);
    }
    let known = p.exprs.len() + invariants.pool().0.len();
    invariants.at = r.list(|r| Ok((LocId(r.below(p.locs.len())?), ExprId(r.below(known)?))))?;
    // The verifier looks at every index and type, in the program that the facts are read in.
    let extended = invariants.extend(p);
    let mut findings = verify(&extended);
    findings.retain(|f| matches!(f.subject, Subject::Expr(_) | Subject::Place(_)));
    if let Some(finding) = findings.first() {
        return damaged(format!("an expression is not well formed: {finding}"));
    }
    let is_truth = |fact: &ExprId| extended.exprs[*fact].ty == Scalar::BOOL;
    if invariants.at.iter().all(|(_, fact)| is_truth(fact)) {
        Ok(invariants)
    } else {
        damaged("a fact is no truth value")
    }
}

fn write_scalar(w: &mut Writer, ty: Scalar) {
    w.number(match ty {
        Scalar::Ptr => 0,
        Scalar::Float(FloatTy::F32) => 1,
        Scalar::Float(FloatTy::F64) => 2,
        Scalar::Float(FloatTy::F80) => 3,
        Scalar::Int(t) => 4 + 2 * u128::from(t.bits) + u128::from(t.signed),
    });
}

fn read_scalar(r: &mut Reader<'_>) -> Result<Scalar, Damaged> {
    Ok(match r.number::<u32>()? {
        0 => Scalar::Ptr,
        1 => Scalar::Float(FloatTy::F32),
        2 => Scalar::Float(FloatTy::F64),
        3 => Scalar::Float(FloatTy::F80),
        n if (6..4 + 2 * 129).contains(&n) => {
            Scalar::Int(IntTy { bits: ((n - 4) / 2) as u16, signed: n % 2 == 1 })
        }
        _ => return damaged("an unknown type"),
    })
}

fn write_place(w: &mut Writer, place: &Place) {
    match place.base {
        Base::Var(v) => [0, v.0].iter().for_each(|n| w.number(u128::from(*n))),
        Base::Deref(e) => [1, e.0].iter().for_each(|n| w.number(u128::from(*n))),
    }
    w.list(&place.path, |w, step| match *step {
        Proj::Field { record, field } => {
            [0, record.0, field].iter().for_each(|n| w.number(u128::from(*n)));
        }
        Proj::Index { index, stride } => {
            [1, u64::from(index.0), stride].iter().for_each(|n| w.number(u128::from(*n)));
        }
    });
    w.number(u128::from(place.ty.0));
    match place.bits {
        None => w.number(0),
        Some(bits) => [1, bits.first, bits.width].iter().for_each(|n| w.number(u128::from(*n))),
    }
}

fn read_place(r: &mut Reader<'_>) -> Result<Place, Damaged> {
    let base = match r.number::<u8>()? {
        0 => Base::Var(VarId(r.number()?)),
        1 => Base::Deref(ExprId(r.number()?)),
        _ => return damaged("an unknown kind of place"),
    };
    let path = r.list(|r| {
        Ok(match r.number::<u8>()? {
            0 => Proj::Field { record: TypeId(r.number()?), field: r.number()? },
            1 => Proj::Index { index: ExprId(r.number()?), stride: r.number()? },
            _ => return damaged("an unknown step"),
        })
    })?;
    let ty = TypeId(r.number()?);
    let bits = match r.number::<u8>()? {
        0 => None,
        1 => Some(BitRange { first: r.number()?, width: r.number()? }),
        _ => return damaged("an unknown kind of place"),
    };
    Ok(Place { base, path: SmallVec::from_vec(path), ty, bits })
}

const UNARY: [UnOp; 2] = [UnOp::Neg, UnOp::Not];
const BINARY: [BinOp; 10] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::Div,
    BinOp::Rem,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Shl,
    BinOp::Shr,
];
const COMPARE: [CmpOp; 4] = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le];

/// The number of an operator.
fn of<T: PartialEq>(all: &[T], op: &T) -> u32 {
    all.iter().position(|o| o == op).unwrap_or_default() as u32
}

fn write_expr(w: &mut Writer, expr: &Expr) {
    write_scalar(w, expr.ty);
    let mut tagged = |tag: u32, rest: &[u32]| {
        [tag].iter().chain(rest).for_each(|n| w.number(u128::from(*n)));
    };
    match expr.kind {
        ExprKind::Int(bits) => {
            tagged(0, &[]);
            w.number(bits);
        }
        ExprKind::Float(bits) => {
            tagged(1, &[]);
            w.number(bits);
        }
        ExprKind::Load(p) => tagged(2, &[p.0]),
        ExprKind::Addr(p) => tagged(3, &[p.0]),
        ExprKind::Func(f) => tagged(4, &[f.0]),
        ExprKind::Unary(op, a) => tagged(5, &[of(&UNARY, &op), a.0]),
        ExprKind::Binary(op, a, b) => tagged(6, &[of(&BINARY, &op), a.0, b.0]),
        ExprKind::Cmp(op, a, b) => tagged(7, &[of(&COMPARE, &op), a.0, b.0]),
        ExprKind::Ite(c, a, b) => tagged(8, &[c.0, a.0, b.0]),
        ExprKind::Convert(a) => tagged(9, &[a.0]),
        ExprKind::PtrAdd { ptr, index, stride } => {
            tagged(10, &[ptr.0, index.0]);
            w.number(u128::from(stride));
        }
        ExprKind::PtrDiff { left, right, stride } => {
            tagged(11, &[left.0, right.0]);
            w.number(u128::from(stride));
        }
        ExprKind::Overflow(op, a, b) => tagged(12, &[of(&BINARY, &op), a.0, b.0]),
        ExprKind::Valid { ptr, size } => tagged(13, &[ptr.0, size.0]),
        ExprKind::Freeable(a) => tagged(14, &[a.0]),
        ExprKind::ObjectSize(a) => tagged(15, &[a.0]),
        ExprKind::ReadOnly(a) => tagged(16, &[a.0]),
        ExprKind::HeapEmpty => tagged(17, &[]),
        ExprKind::HeapTracked => tagged(18, &[]),
        ExprKind::Overlap(a, b, n) => tagged(19, &[a.0, b.0, n.0]),
    }
}

fn read_expr(r: &mut Reader<'_>) -> Result<Expr, Damaged> {
    let ty = read_scalar(r)?;
    let tag = r.number::<u8>()?;
    let operator = |r: &mut Reader<'_>, all: usize| r.below(all).map(|n| n as usize);
    let kind = match tag {
        0 => ExprKind::Int(r.wide()?),
        1 => ExprKind::Float(r.wide()?),
        2 => ExprKind::Load(PlaceId(r.number()?)),
        3 => ExprKind::Addr(PlaceId(r.number()?)),
        4 => ExprKind::Func(FuncId(r.number()?)),
        5 => ExprKind::Unary(UNARY[operator(r, UNARY.len())?], ExprId(r.number()?)),
        6 => ExprKind::Binary(BINARY[operator(r, BINARY.len())?], ExprId(r.number()?), ExprId(r.number()?)),
        7 => ExprKind::Cmp(COMPARE[operator(r, COMPARE.len())?], ExprId(r.number()?), ExprId(r.number()?)),
        8 => ExprKind::Ite(ExprId(r.number()?), ExprId(r.number()?), ExprId(r.number()?)),
        9 => ExprKind::Convert(ExprId(r.number()?)),
        10 => ExprKind::PtrAdd { ptr: ExprId(r.number()?), index: ExprId(r.number()?), stride: r.number()? },
        11 => {
            ExprKind::PtrDiff { left: ExprId(r.number()?), right: ExprId(r.number()?), stride: r.number()? }
        }
        12 => {
            ExprKind::Overflow(BINARY[operator(r, BINARY.len())?], ExprId(r.number()?), ExprId(r.number()?))
        }
        13 => ExprKind::Valid { ptr: ExprId(r.number()?), size: ExprId(r.number()?) },
        14 => ExprKind::Freeable(ExprId(r.number()?)),
        15 => ExprKind::ObjectSize(ExprId(r.number()?)),
        16 => ExprKind::ReadOnly(ExprId(r.number()?)),
        17 => ExprKind::HeapEmpty,
        18 => ExprKind::HeapTracked,
        19 => ExprKind::Overlap(ExprId(r.number()?), ExprId(r.number()?), ExprId(r.number()?)),
        _ => return damaged("an unknown expression"),
    };
    Ok(Expr { ty, kind })
}

fn write_contract(w: &mut Writer, contract: &Contract) {
    w.number(u128::from(contract.func.0));
    for clauses in [&contract.requires, &contract.ensures] {
        w.list(clauses, |w, clause| {
            w.list(&clause.given, write_atom);
            write_atom(w, &clause.then);
        });
    }
    w.list(&contract.cases, |w, case| {
        w.list(&case.given, write_atom);
        w.list(&case.ends, |w, end| w.list(end, write_atom));
    });
}

fn read_contract(r: &mut Reader<'_>, source: &Program) -> Result<Contract, Damaged> {
    let func = FuncId(r.below(source.funcs.len())?);
    if source.funcs[func].body.is_none() {
        return damaged("a contract of a function without a body");
    }
    let atom = |r: &mut Reader<'_>| read_atom(r, source, func);
    let clause = |r: &mut Reader<'_>| Ok(Clause { given: r.list(atom)?, then: atom(r)? });
    let case = |r: &mut Reader<'_>| Ok(Case { given: r.list(atom)?, ends: r.list(|r| r.list(atom))? });
    Ok(Contract { func, requires: r.list(clause)?, ensures: r.list(clause)?, cases: r.list(case)? })
}

fn write_atom(w: &mut Writer, atom: &Atom) {
    w.list(&atom.terms, |w, term| {
        w.signed(term.factor);
        let (kind, which) = match term.value {
            Value::Result => (0, 0),
            Value::Param(i) => (1, i as u128),
            Value::Before(var) => (2, u128::from(var.0)),
            Value::After(var) => (3, u128::from(var.0)),
        };
        [kind, which].into_iter().for_each(|n| w.number(n));
        w.number(u128::from(term.modulus.unwrap_or(0)));
    });
    w.signed(atom.constant);
    w.number(match atom.relation {
        Relation::Zero => 0,
        Relation::NonZero => 1,
        Relation::AtLeastZero => 2,
    });
    write_scalar(w, Scalar::Int(atom.ty));
}

fn read_atom(r: &mut Reader<'_>, source: &Program, func: FuncId) -> Result<Atom, Damaged> {
    let terms = r.list(|r| {
        let factor = r.signed()?;
        let value = match (r.number::<u8>()?, source.vars.len()) {
            (0, _) => {
                r.below(1)?;
                Value::Result
            }
            (1, _) => Value::Param(r.below(source.body(func).params.len())? as usize),
            (2, vars) => Value::Before(VarId(r.below(vars)?)),
            (3, vars) => Value::After(VarId(r.below(vars)?)),
            _ => return damaged("an unknown kind of value"),
        };
        let modulus = match r.number::<u32>()? {
            0 => None,
            1 => return damaged("a remainder of a division by one"),
            n => Some(n),
        };
        Ok(Term { factor, value, modulus })
    })?;
    let constant = r.signed()?;
    let relation = match r.number::<u8>()? {
        0 => Relation::Zero,
        1 => Relation::NonZero,
        2 => Relation::AtLeastZero,
        _ => return damaged("an unknown relation"),
    };
    let Scalar::Int(ty) = read_scalar(r)? else { return damaged("a sum that is no integer") };
    Ok(Atom { terms, constant, relation, ty })
}

/// Writes a counterexample.
pub fn write_bug(w: &mut Writer, bug: &Counterexample) {
    w.list(&bug.unknowns, |w, chosen| {
        w.number(u128::from(chosen.edge.0));
        w.number(chosen.bits);
        w.number(u128::from(chosen.input));
        w.number(u128::from(chosen.times));
    });
    w.list(&bug.contents, |w, (edge, bytes)| {
        w.number(u128::from(edge.0));
        w.bytes(bytes);
    });
}

/// Reads a counterexample about an instrumented program.
pub fn read_bug(r: &mut Reader<'_>, p: &Program) -> Result<Counterexample, Damaged> {
    let unknowns = r.list(|r| {
        let edge = EdgeId(r.below(p.edges.len())?);
        let (bits, input) = (r.wide()?, r.below(2)? == 1);
        Ok(Chosen { edge, bits, input, times: r.number()? })
    })?;
    let contents = r.list(|r| Ok((EdgeId(r.below(p.edges.len())?), r.bytes()?.to_vec())))?;
    Ok(Counterexample { unknowns, contents })
}
