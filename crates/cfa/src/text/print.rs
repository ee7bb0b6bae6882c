//! From an automaton to its text form.

use super::{is_numbered, is_plain};
use crate::effect::Effect;
use crate::ir::*;
use crate::types::*;
use palisade_base::IdxVec;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Writes a well-formed program (see [`mod@crate::verify`]) in the text form. Parsing it gives an
/// equal program up to numbering, positions and unused parts.
pub fn print(program: &Program) -> String {
    let mut printer = Printer::new(program);
    printer.program();
    printer.out
}

struct Printer<'a> {
    p: &'a Program,
    out: String,
    types: IdxVec<TypeId, String>,
    vars: IdxVec<VarId, String>,
    funcs: IdxVec<FuncId, String>,
    taken: IdxVec<VarId, bool>,
}

/// What remains to be written; expressions may nest deeper than our own stack allows.
enum Item {
    Text(String),
    Expr(ExprId, Option<Scalar>, bool),
    Place(PlaceId),
}

impl From<&str> for Item {
    fn from(s: &str) -> Item {
        Item::Text(s.to_owned())
    }
}

/// Numbers repeated names and quotes those that need it.
struct Names {
    used: FxHashMap<String, u32>,
}

impl Names {
    fn name(&mut self, name: &str) -> String {
        let count = self.used.entry(name.to_owned()).or_insert(0);
        *count += 1;
        let clean = name.replace(['`', '\n'], "?");
        let text = if is_plain(&clean) { clean } else { format!("`{clean}`") };
        if *count == 1 { text } else { format!("{text}#{count}") }
    }
}

impl<'a> Printer<'a> {
    fn new(p: &'a Program) -> Self {
        let mut names = Names { used: FxHashMap::default() };
        let records: FxHashMap<TypeId, String> = p
            .types
            .iter_enumerated()
            .filter_map(|(id, ty)| match ty {
                Type::Record(r) => Some((id, record_name(&mut names, r))),
                _ => None,
            })
            .collect();
        let types = p.types.ids().map(|t| type_text(p, &records, t)).collect();
        let mut names = Names { used: FxHashMap::default() };
        let funcs = p.funcs.iter().map(|f| names.name(&f.name)).collect();
        let mut globals = Names { used: FxHashMap::default() };
        let mut vars = IdxVec::filled(String::new(), p.vars.len());
        for (id, v) in p.vars.iter_enumerated().filter(|(_, v)| v.kind == VarKind::Global) {
            vars[id] = globals.name(&v.name);
        }
        for body in p.funcs.iter().filter_map(|f| f.body.as_ref()) {
            let mut names = Names { used: globals.used.clone() };
            for &v in body.params.iter().chain(&body.locals) {
                vars[v] = names.name(&p.vars[v].name);
            }
        }
        Printer { p, out: String::new(), types, vars, funcs, taken: p.addresses_taken() }
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        writeln!(self.out, "{text}").expect("writing to a string cannot fail");
    }

    fn program(&mut self) {
        let p = self.p;
        let model = match p.data_model {
            DataModel::Ilp32 => "ilp32",
            DataModel::Lp64 => "lp64",
        };
        self.line(format_args!("model {model};"));
        for (id, ty) in p.types.iter_enumerated() {
            if let Type::Record(r) = ty {
                self.record(id, r);
            }
        }
        for (id, v) in p.vars.iter_enumerated().filter(|(_, v)| v.kind == VarKind::Global) {
            self.global(id, v);
        }
        for id in p.funcs.ids() {
            self.func(id);
        }
        if p.funcs.get(p.entry).is_some() {
            self.line(format_args!("entry {};", self.funcs[p.entry].clone()));
        }
    }

    fn record(&mut self, id: TypeId, r: &Record) {
        let mut text = format!("{} {{", self.types[id]);
        for f in &r.fields {
            let name = plain_or_quoted(&f.name);
            let _ = write!(text, " {} {name}", self.types[f.ty]);
            let _ = match f.bits {
                None => write!(text, " @{};", f.offset),
                Some(b) => write!(text, ":{} @{}.{};", b.width, f.offset, b.first),
            };
        }
        let overlapping = if r.union && !r.name.starts_with("union ") { "overlapping " } else { "" };
        self.line(format_args!("{text} }} {overlapping}size {} align {};", r.size, r.align));
    }

    fn global(&mut self, id: VarId, v: &Var) {
        let mut text = format!("global {}{}: {}", self.var_marks(id), self.vars[id], self.types[v.ty]);
        match &v.init {
            Init::Unknown => text.push_str(" = ?"),
            Init::Image(items) if items.is_empty() => {}
            Init::Image(items) => {
                let parts: Vec<String> =
                    items.iter().map(|i| format!("@{} {}", i.offset, self.init(&i.value))).collect();
                let _ = write!(text, " = {{ {} }}", parts.join(", "));
            }
        }
        self.line(format_args!("{text};"));
    }

    fn var_marks(&self, id: VarId) -> String {
        let v = &self.p.vars[id];
        // Mostly it follows from the program that an address is taken.
        let addressed = v.address_taken && !self.taken[id];
        format!("{}{}", if v.read_only { "readonly " } else { "" }, if addressed { "addressed " } else { "" })
    }

    fn init(&self, value: &InitValue) -> String {
        match value {
            InitValue::Bytes(bytes) => quoted_bytes(bytes),
            InitValue::Int(t, bits) => format!("{}:{t}", int_text(*t, *bits)),
            InitValue::Float(t, bits) => format!("{}:{t}", float_text(*t, *bits)),
            InitValue::Addr(v, 0) => format!("&{}", self.vars[*v]),
            InitValue::Addr(v, n) if *n < 0 => format!("&{} - {}", self.vars[*v], n.unsigned_abs()),
            InitValue::Addr(v, n) => format!("&{} + {n}", self.vars[*v]),
            InitValue::Func(f) => format!("func {}", self.funcs[*f]),
            InitValue::Absolute(n) => format!("{n:#x}:ptr"),
        }
    }

    fn func(&mut self, id: FuncId) {
        let p = self.p;
        let func = &p.funcs[id];
        let Type::Func(sig) = &p.types[func.ty] else { return };
        let mut params: Vec<String> = match &func.body {
            None => sig.params.iter().map(|t| self.types[*t].clone()).collect(),
            Some(body) => {
                let param = |v: &VarId| {
                    let var = &p.vars[*v];
                    format!("{}{}: {}", self.var_marks(*v), self.vars[*v], self.types[var.ty])
                };
                body.params.iter().map(param).collect()
            }
        };
        if sig.variadic {
            params.push("...".into());
        }
        let head = format!("fn {}({}) -> {}", self.funcs[id], params.join(", "), self.types[sig.ret]);
        let Some(body) = &func.body else {
            return match func.effect {
                Effect::Pure => self.line(format_args!("{head};")),
                effect => self.line(format_args!("{head} does {effect};")),
            };
        };
        self.line(format_args!("\n{head} {{"));
        for &v in &body.locals {
            let var = &p.vars[v];
            let word = if matches!(var.kind, VarKind::Temp(_)) { "temp" } else { "local" };
            let marks = self.var_marks(v);
            let text = format!("  {word} {marks}{}: {};", self.vars[v], self.types[var.ty]);
            self.line(format_args!("{text}"));
        }
        self.edges(id, body);
        self.line(format_args!("}}"));
    }

    /// Edges by their source in depth-first order, which numbering of a parsed program repeats.
    fn edges(&mut self, id: FuncId, body: &Body) {
        let p = self.p;
        let order = locations(p, id, body);
        let mut names: FxHashMap<LocId, String> = FxHashMap::default();
        let mut used = FxHashSet::default();
        let mut marked = FxHashSet::default();
        let mut lines = Vec::new();
        let mut count = 0;
        let mut mention = |loc: LocId| {
            let first = !names.contains_key(&loc);
            let name = names.entry(loc).or_insert_with(|| {
                let label = p.locs[loc].label.as_deref().map(|l| l.replace(['`', '\n'], "?"));
                match label {
                    Some(l) if !is_numbered(&l) && !l.contains('#') && used.insert(l.clone()) => loc_name(&l),
                    _ => {
                        count += 1;
                        format!("L{}", count - 1)
                    }
                }
            });
            let looping = first && p.locs[loc].loop_stmt.is_some() && marked.insert(loc);
            format!("{}{name}", if looping { "loop " } else { "" })
        };
        if order.iter().all(|l| p.locs[*l].out.is_empty()) {
            lines.push((format!("at {}", mention(body.entry)), None));
        }
        for loc in order {
            for &e in &p.locs[loc].out {
                let (src, dst) = (mention(loc), mention(p.edges[e].dst));
                lines.push((format!("{src} -> {dst}"), Some(e)));
            }
        }
        for (head, edge) in lines {
            match edge {
                None => self.line(format_args!("  {head};")),
                Some(e) => {
                    let op = self.op(&p.edges[e].op, p.locs[p.edges[e].src].func);
                    self.line(format_args!("  {head}: {op};"));
                }
            }
        }
    }

    fn op(&self, op: &Op, func: FuncId) -> String {
        let p = self.p;
        let size_t = Some(Scalar::Int(p.data_model.size_t()));
        let ptr = Some(Scalar::Ptr);
        let flag = Some(Scalar::BOOL);
        let expr = |e: ExprId, hint| self.write(vec![Item::Expr(e, hint, false)]);
        let place = |x: PlaceId| self.write(vec![Item::Place(x)]);
        let arg = |a: &Arg, hint: Option<TypeId>| match a {
            Arg::Scalar(e) => expr(*e, hint.and_then(|t| p.scalar_of(t))),
            Arg::Aggregate(x) => format!("{{{}}}", place(*x)),
        };
        match op {
            Op::Skip => "skip".into(),
            Op::Assign { dst, src } => format!("{} = {}", place(*dst), expr(*src, p.place_scalar(*dst))),
            Op::Copy { dst, src } => format!("copy {} = {}", place(*dst), place(*src)),
            Op::Zero { dst } => format!("zero {}", place(*dst)),
            Op::Assume { cond } => format!("assume {}", expr(*cond, flag)),
            Op::Havoc { dst, input: false } => format!("havoc {}", place(*dst)),
            Op::Havoc { dst, input: true } => format!("input {}", place(*dst)),
            Op::Call { dst, callee, args } => {
                let dst = dst.map_or(String::new(), |d| format!("{} = ", place(d)));
                let (callee, sig) = match callee {
                    Callee::Indirect(e) => (format!("({})", expr(*e, ptr)), None),
                    Callee::Direct(f) => match &p.types[p.funcs[*f].ty] {
                        Type::Func(sig) => (self.funcs[*f].clone(), Some(sig)),
                        _ => (self.funcs[*f].clone(), None),
                    },
                };
                let hint = |i: usize| sig.and_then(|s| s.params.get(i).copied());
                let args: Vec<String> = args.iter().enumerate().map(|(i, a)| arg(a, hint(i))).collect();
                format!("{dst}call {callee}({})", args.join(", "))
            }
            Op::Return { value: None } => "return".into(),
            Op::Return { value: Some(a) } => {
                let ret = match &p.types[p.funcs[func].ty] {
                    Type::Func(sig) => Some(sig.ret),
                    _ => None,
                };
                format!("return {}", arg(a, ret))
            }
            Op::Alloc { dst, size, kind, zeroed } => {
                let kind = match kind {
                    AllocKind::Heap => "heap",
                    AllocKind::Stack => "stack",
                };
                let zeroed = if *zeroed { " zeroed" } else { "" };
                format!("{} = alloc {kind}{zeroed} {}", place(*dst), expr(*size, size_t))
            }
            Op::Free { ptr: e } => format!("free {}", expr(*e, ptr)),
            Op::MemCopy { dst, src, len } => {
                format!("memcopy {}, {}, {}", expr(*dst, ptr), expr(*src, ptr), expr(*len, size_t))
            }
            Op::MemSet { dst, byte, len } => {
                let byte_ty = Some(Scalar::Int(IntTy { bits: 8, signed: false }));
                format!("memset {}, {}, {}", expr(*dst, ptr), expr(*byte, byte_ty), expr(*len, size_t))
            }
            Op::Enter { var } => format!("enter {}", self.vars[*var]),
            Op::Leave { var } => format!("leave {}", self.vars[*var]),
            Op::Check { kind, cond } => format!("check {kind} {}", expr(*cond, flag)),
            Op::Halt { kind: HaltKind::Exit(e) } => format!("exit {}", expr(*e, None)),
            Op::Halt { kind: HaltKind::Abort } => "abort".into(),
        }
    }

    /// Writes items from first to last, replacing each by what it consists of.
    fn write(&self, items: Vec<Item>) -> String {
        let mut out = String::new();
        let mut stack = items;
        stack.reverse();
        while let Some(item) = stack.pop() {
            let parts = match item {
                Item::Text(t) => {
                    out.push_str(&t);
                    continue;
                }
                Item::Expr(e, hint, inner) => self.expr(e, hint, inner),
                Item::Place(x) => self.place(x),
            };
            stack.extend(parts.into_iter().rev());
        }
        out
    }

    fn is_constant(&self, e: ExprId) -> bool {
        matches!(self.p.exprs[e].kind, ExprKind::Int(_) | ExprKind::Float(_))
    }

    /// The hints for two operands of one type: the expected type if there is one; otherwise that
    /// of the operand that is no constant.
    fn pair(&self, a: ExprId, b: ExprId, hint: Option<Scalar>) -> (Option<Scalar>, Option<Scalar>) {
        match hint {
            Some(_) => (hint, hint),
            None if self.is_constant(a) && !self.is_constant(b) => (Some(self.p.exprs[b].ty), None),
            None => (None, Some(self.p.exprs[a].ty)),
        }
    }

    fn expr(&self, id: ExprId, hint: Option<Scalar>, inner: bool) -> Vec<Item> {
        let p = self.p;
        let e = &p.exprs[id];
        let typed = |text: String| match hint.unwrap_or(Scalar::Int(IntTy::I32)) == e.ty {
            true => Item::Text(text),
            false => Item::Text(format!("{text}:{}", e.ty)),
        };
        let infix = |a: ExprId, op: &str, b: ExprId, (ha, hb): (Option<Scalar>, Option<Scalar>)| {
            vec![Item::Expr(a, ha, true), Item::Text(format!(" {op} ")), Item::Expr(b, hb, true)]
        };
        let wrap = |mut items: Vec<Item>| {
            if inner {
                items.insert(0, "(".into());
                items.push(")".into());
            }
            items
        };
        let size_t = Some(Scalar::Int(p.data_model.size_t()));
        let (ptr, flag) = (Some(Scalar::Ptr), Some(Scalar::BOOL));
        match &e.kind {
            ExprKind::Int(0) if e.ty == Scalar::Ptr => vec!["null".into()],
            ExprKind::Int(bits) => vec![match e.ty {
                Scalar::Int(t) => typed(int_text(t, *bits)),
                _ => Item::Text(format!("{bits:#x}:ptr")),
            }],
            ExprKind::Float(bits) => vec![match e.ty {
                Scalar::Float(t) => typed(float_text(t, *bits)),
                _ => typed(format!("#{bits:x}")),
            }],
            ExprKind::Load(x) => vec![Item::Place(*x)],
            ExprKind::Addr(x) => vec!["&".into(), Item::Place(*x)],
            ExprKind::Func(f) => vec![Item::Text(format!("func {}", self.funcs[*f]))],
            ExprKind::Unary(op, a) => {
                let sign = match op {
                    UnOp::Not if e.ty == Scalar::BOOL => "!",
                    UnOp::Not => "~",
                    UnOp::Neg => "-",
                };
                // A constant in parentheses, so that `-5` is always one constant.
                if self.is_constant(*a) {
                    vec![Item::Text(format!("{sign}(")), Item::Expr(*a, hint, false), ")".into()]
                } else {
                    vec![sign.into(), Item::Expr(*a, hint, true)]
                }
            }
            ExprKind::Binary(op @ (BinOp::Shl | BinOp::Shr), a, b) => {
                wrap(infix(*a, op.symbol(), *b, (hint, None)))
            }
            ExprKind::Binary(op, a, b) => wrap(infix(*a, op.symbol(), *b, self.pair(*a, *b, hint))),
            ExprKind::Cmp(op, a, b) => wrap(infix(*a, op.symbol(), *b, self.pair(*a, *b, None))),
            ExprKind::Ite(c, a, b) => {
                let (ha, hb) = self.pair(*a, *b, hint);
                vec![
                    "(".into(),
                    Item::Expr(*c, flag, true),
                    " ? ".into(),
                    Item::Expr(*a, ha, true),
                    " : ".into(),
                    Item::Expr(*b, hb, true),
                    ")".into(),
                ]
            }
            ExprKind::Convert(a) => vec![Item::Text(format!("({})", e.ty)), Item::Expr(*a, None, true)],
            ExprKind::PtrAdd { ptr: a, index, stride } => vec![
                "ptradd(".into(),
                Item::Expr(*a, ptr, false),
                ", ".into(),
                Item::Expr(*index, None, false),
                Item::Text(format!(", {stride})")),
            ],
            ExprKind::PtrDiff { left, right, stride } => vec![
                "ptrdiff(".into(),
                Item::Expr(*left, ptr, false),
                ", ".into(),
                Item::Expr(*right, ptr, false),
                Item::Text(format!(", {stride})")),
            ],
            ExprKind::Overflow(op, a, b) => {
                let hints = match op {
                    BinOp::Shl => (None, None),
                    _ => self.pair(*a, *b, None),
                };
                let mut items = vec!["overflow(".into()];
                items.extend(infix(*a, op.symbol(), *b, hints));
                items.push(")".into());
                items
            }
            ExprKind::Valid { ptr: a, size } => vec![
                "valid(".into(),
                Item::Expr(*a, ptr, false),
                ", ".into(),
                Item::Expr(*size, size_t, false),
                ")".into(),
            ],
            ExprKind::Freeable(a) => vec!["freeable(".into(), Item::Expr(*a, ptr, false), ")".into()],
            ExprKind::ObjectSize(a) => vec!["object_size(".into(), Item::Expr(*a, ptr, false), ")".into()],
            ExprKind::ReadOnly(a) => vec!["read_only(".into(), Item::Expr(*a, ptr, false), ")".into()],
            ExprKind::Overlap(a, b, size) => vec![
                "overlap(".into(),
                Item::Expr(*a, ptr, false),
                ", ".into(),
                Item::Expr(*b, ptr, false),
                ", ".into(),
                Item::Expr(*size, size_t, false),
                ")".into(),
            ],
            ExprKind::HeapEmpty => vec!["heap_empty".into()],
            ExprKind::HeapTracked => vec!["heap_tracked".into()],
        }
    }

    fn place(&self, id: PlaceId) -> Vec<Item> {
        let p = self.p;
        let place = &p.places[id];
        let mut items = Vec::new();
        // The type of what has been written so far, where it is known.
        let mut ty = match place.base {
            Base::Var(v) => {
                items.push(Item::Text(self.vars[v].clone()));
                Some(p.vars[v].ty)
            }
            Base::Deref(e) => {
                let ty = match place.path.first() {
                    None => Some(place.ty),
                    Some(Proj::Field { record, .. }) => Some(*record),
                    Some(Proj::Index { .. }) => None,
                };
                items.push("*(".into());
                items.push(Item::Expr(e, Some(Scalar::Ptr), false));
                items.push(Item::Text(match ty {
                    Some(t) => format!(": {})", self.types[t]),
                    None => ")".into(),
                }));
                ty
            }
        };
        let mut bits = None;
        for proj in &place.path {
            match proj {
                Proj::Field { record, field } => {
                    if ty.is_none_or(|t| self.types[t] != self.types[*record]) {
                        items.push(Item::Text(format!(" as {}", self.types[*record])));
                    }
                    let Type::Record(r) = &p.types[*record] else { continue };
                    let f = &r.fields[*field as usize];
                    let same = r.fields.iter().filter(|g| g.name == f.name).count();
                    items.push(Item::Text(match f.name.is_empty() || same > 1 {
                        true => format!(".{field}"),
                        false => format!(".{}", plain_or_quoted(&f.name)),
                    }));
                    ty = Some(f.ty);
                    bits = f.bits;
                }
                Proj::Index { index, stride } => {
                    let elem = match ty.map(|t| &p.types[t]) {
                        Some(Type::Array(elem, _)) if p.size_of(*elem) == Some(*stride) => Some(*elem),
                        _ => None,
                    };
                    items.push("[".into());
                    items.push(Item::Expr(*index, None, false));
                    items.push(Item::Text(match elem {
                        Some(_) => "]".into(),
                        None => format!(": {stride}]"),
                    }));
                    ty = elem;
                    bits = None;
                }
            }
        }
        if ty.is_none_or(|t| self.types[t] != self.types[place.ty]) || bits != place.bits {
            items.push(Item::Text(format!(" as {}", self.types[place.ty])));
            if let Some(b) = place.bits {
                items.push(Item::Text(format!(" bits {} {}", b.first, b.width)));
            }
        }
        items
    }
}

/// Reachable locations in depth-first order, then the others that have edges.
fn locations(p: &Program, id: FuncId, body: &Body) -> Vec<LocId> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    let mut rest = p.locs.iter_enumerated().filter(|(_, l)| l.func == id).map(|(l, _)| l);
    let mut stack = vec![body.entry];
    loop {
        while let Some(loc) = stack.pop() {
            if seen.insert(loc) {
                order.push(loc);
                stack.extend(p.locs[loc].out.iter().rev().map(|e| p.edges[*e].dst));
            }
        }
        match rest.find(|l| !seen.contains(l)) {
            Some(loc) => stack.push(loc),
            None => return order,
        }
    }
}

fn plain_or_quoted(name: &str) -> String {
    if is_plain(name) && !name.starts_with('.') {
        name.to_owned()
    } else {
        format!("`{}`", name.replace(['`', '\n'], "?"))
    }
}

fn loc_name(label: &str) -> String {
    let words = ["loop", "at", "local", "temp"];
    let plain = is_plain(&format!(".{label}")) && !label.starts_with('.') && !words.contains(&label);
    if plain { label.to_owned() } else { format!("`{label}`") }
}

fn record_name(names: &mut Names, r: &Record) -> String {
    for word in ["struct ", "union "] {
        if let Some(tag) = r.name.strip_prefix(word) {
            // Numbered with its keyword, because struct and union tags are told apart here.
            let numbered = names.name(&r.name);
            let suffix = numbered.rfind('#').map_or("", |i| &numbered[i..]);
            return format!("{word}{}{suffix}", plain_or_quoted(tag));
        }
    }
    format!("record {}", names.name(&r.name))
}

fn type_text(p: &Program, records: &FxHashMap<TypeId, String>, id: TypeId) -> String {
    match &p.types[id] {
        Type::Void => "void".into(),
        Type::Int(t) => t.to_string(),
        Type::Float(t) => t.to_string(),
        Type::Ptr(t) => format!("*{}", type_text(p, records, *t)),
        Type::Array(t, Some(n)) => format!("[{}; {n}]", type_text(p, records, *t)),
        Type::Array(t, None) => format!("[{}]", type_text(p, records, *t)),
        Type::Record(_) => records[&id].clone(),
        Type::Func(sig) => {
            let mut params: Vec<String> = sig.params.iter().map(|t| type_text(p, records, *t)).collect();
            if sig.variadic {
                params.push("...".into());
            }
            format!("fn({}) -> {}", params.join(", "), type_text(p, records, sig.ret))
        }
    }
}

fn int_text(t: IntTy, bits: u128) -> String {
    if t.signed { t.decode(bits).to_string() } else { bits.to_string() }
}

fn float_text(t: FloatTy, bits: u128) -> String {
    let finite = |text: String| if text.contains(['N', 'i']) { None } else { Some(text) };
    let decimal = match t {
        FloatTy::F32 => finite(format!("{:?}", f32::from_bits(bits as u32))),
        FloatTy::F64 => finite(format!("{:?}", f64::from_bits(bits as u64))),
        FloatTy::F80 => None,
    };
    decimal.unwrap_or_else(|| format!("#{bits:x}"))
}

fn quoted_bytes(bytes: &[u8]) -> String {
    let mut out = String::from('"');
    for &b in bytes {
        match b {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            0x20..=0x7e => out.push(b as char),
            _ => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push('"');
    out
}
