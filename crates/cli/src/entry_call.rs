//! The part of a harness that calls a function other than `main`: the operations that made the arguments in
//! the run, one after the other, in C over bytes, so that no type of the program has to be named.

use crate::harness::{c_type, quoted};
use palisade_cfa::*;
use palisade_engines::Counterexample;
use palisade_witness::run::EntryCall;
use std::collections::BTreeSet;
use std::fmt::Write;

/// C text that makes the arguments of a run and calls the entry function; why there is none, otherwise. The
/// run's inputs are those of the list `inputs`.
pub fn text(p: &Program, call: &EntryCall, bug: &Counterexample, has_main: bool) -> Result<String, String> {
    let mut maker = Maker { p, vars: BTreeSet::new(), code: String::new() };
    let Some((&last, before)) = call.edges.split_last() else { return Err("there is no call".into()) };
    let mut contents = bug.contents.iter().filter(|(e, _)| matches!(p.edges[*e].op, Op::Havoc { .. }));
    for &edge in before {
        maker.operation(&p.edges[edge].op, &mut contents).ok_or("its arguments cannot be made in C")?;
    }
    let (declaration, call) =
        maker.call(last).ok_or("structures cannot be passed to it from another file")?;
    let mut text = format!("{declaration}\n");
    for &var in &maker.vars {
        let size = p.size_of(p.vars[var].ty).unwrap_or(1).max(1);
        let _ = writeln!(text, "static char v{}[{size}] __attribute__((aligned(16)));", var.0);
    }
    let head = match has_main {
        true => "__attribute__((constructor)) static void call_entry(void)",
        false => "int main(void)",
    };
    let _ = writeln!(text, "{head} {{\n{}  {call}\n  _exit(0);\n}}", maker.code);
    Ok(text)
}

struct Maker<'p> {
    p: &'p Program,
    /// Variables that arguments are made in.
    vars: BTreeSet<VarId>,
    code: String,
}

impl Maker<'_> {
    fn operation<'b>(
        &mut self,
        op: &Op,
        contents: &mut impl Iterator<Item = &'b (EdgeId, Vec<u8>)>,
    ) -> Option<()> {
        let line = match *op {
            // What others define has its contents from them.
            Op::Havoc { dst, .. } if self.is_global(dst) => return Some(()),
            Op::Havoc { dst, input: true } => {
                let size = self.p.size_of(self.p.places[dst].ty)?;
                let to = self.address(dst)?;
                format!("take(inputs, sizeof inputs / sizeof *inputs - 1, next_inputs, {to}, {size});")
            }
            Op::Havoc { dst, input: false } => {
                let to = self.address(dst)?;
                match (self.p.place_scalar(dst), contents.next()) {
                    (None, Some((_, bytes))) => format!("memcpy({to}, {}, {});", quoted(bytes), bytes.len()),
                    _ => return Some(()),
                }
            }
            Op::Alloc { dst, size, .. } => {
                let ExprKind::Int(size) = self.p.exprs[size].kind else { return None };
                format!("*(void **)({}) = malloc({size});", self.address(dst)?)
            }
            Op::Assign { dst, src } => {
                let value = match self.p.exprs[src].kind {
                    ExprKind::Int(0) => "0".to_owned(),
                    ExprKind::Load(from) => format!("*(void **)({})", self.address(from)?),
                    ExprKind::Func(f) => format!("(void *){}", self.p.funcs[f].name),
                    _ => return None,
                };
                format!("*(void **)({}) = {value};", self.address(dst)?)
            }
            // Constructors run by themselves.
            _ => return Some(()),
        };
        let _ = writeln!(self.code, "  {line}");
        Some(())
    }

    fn is_global(&self, place: PlaceId) -> bool {
        matches!(self.p.places[place].base, Base::Var(v) if self.p.vars[v].kind == VarKind::Global)
    }

    /// The address of a place as an expression of type `char *`.
    fn address(&mut self, place: PlaceId) -> Option<String> {
        let place = &self.p.places[place];
        let mut offset = 0;
        for step in &place.path {
            offset += match *step {
                Proj::Field { record, field } => self.p.field(record, field).offset,
                Proj::Index { index, stride } => match self.p.exprs[index].kind {
                    ExprKind::Int(i) => u64::try_from(i).ok()?.checked_mul(stride)?,
                    _ => return None,
                },
            };
        }
        let base = match place.base {
            Base::Var(var) => {
                self.vars.insert(var);
                format!("v{}", var.0)
            }
            Base::Deref(e) => match self.p.exprs[e].kind {
                ExprKind::Load(from) => format!("*(char **)({})", self.address(from)?),
                _ => return None,
            },
        };
        Some(format!("{base} + {offset}"))
    }

    /// The declaration of the entry function, and its call.
    fn call(&mut self, edge: EdgeId) -> Option<(String, String)> {
        let Op::Call { callee: Callee::Direct(f), args, .. } = &self.p.edges[edge].op else { return None };
        let func = &self.p.funcs[*f];
        let Type::Func(sig) = &self.p.types[func.ty] else { return None };
        let fixed = sig.params.len() - usize::from(sig.variadic);
        let (mut params, mut values) = (Vec::new(), Vec::new());
        for (param, arg) in sig.params.iter().zip(args).take(fixed) {
            let ty = c_type(self.p, *param)?;
            let Arg::Scalar(value) = *arg else { return None };
            let ExprKind::Load(from) = self.p.exprs[value].kind else { return None };
            values.push(format!("*({ty} *)({})", self.address(from)?));
            params.push(ty);
        }
        if sig.variadic {
            params.push("...");
        }
        let name = &func.name;
        let ret = c_type(self.p, sig.ret)?;
        let note = format!("/* If `{name}` is static, compile with -Dstatic= as well. */");
        let declaration = format!("{note}\n{ret} {name}({});", params.join(", "));
        Some((declaration, format!("{name}({});", values.join(", "))))
    }
}
