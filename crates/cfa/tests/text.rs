//! The text form: what people write is read, and what is printed reads back the same.

use palisade_base::{Idx, Span};
use palisade_cfa::*;
use smallvec::SmallVec;

const EXAMPLE: &str = "
model lp64;
struct node { i32 val @0; *struct node next @8; u32 flag:3 @4.0; } size 16 align 8;
union pair { i32 a @0; f32 b @0; } size 4 align 4;
global n: i32 = 10;
global table: [i32; 4] = { @0 1:i32, @8 -7:i32 };
global link: struct node = { @0 5:i32, @8 &link + 0 };
global hook: *fn() -> i32 = { @0 func main };
global far: *void = 0x10:ptr;
global readonly text: [i8; 3] = { @0 \"h\\\"\\x00\" };
global any: i32 = ?;
fn putchar(i32) -> i32;
fn printf(*i8, ...) -> i32;

fn sum(p: *i32, k: i64) -> i64 {
  local s: i64;
  local i: i64;
  temp .t: i32;
  a -> L1: enter s;
  L1 -> L2: s = 0;
  L2 -> head: i = 0;
  loop head -> body: assume i < k;
  head -> out: assume !(i < k);
  body -> b1: check deref valid(ptradd(p, i, 4), 4);
  b1 -> b2: .t = *(p)[i: 4] as i32;
  b2 -> b3: check overflow !overflow(s + (i64).t);
  b3 -> b4: s = s + (i64).t;
  b4 -> head: i = i + 1;
  out -> exit: return s;
}

fn main() -> i32 {
  local x: i32;
  local nd: struct node;
  local r: i64;
  local d: f64;
  local q: *void;
  s -> L1: input x;
  L1 -> L2: nd.val = (x > 3 ? x : -(4));
  L2 -> L3: nd.flag = 5;
  L3 -> L4: nd.next = &nd;
  L4 -> L5: *(nd.next: struct node).val = table[2] + x;
  L5 -> L6: r = call sum(&table as i32, 4);
  L6 -> L7: d = (f64)r * 1.5 + #7ff0000000000000;
  L7 -> L8: q = alloc heap 16;
  L8 -> L9: memset q, 255, 16;
  L9 -> L10: free q;
  L10 -> L11: call putchar(65);
  L11 -> L12: call (func main)();
  L12 -> L13: call printf(&text as i8, 1:u64, {nd});
  L13 -> L14: copy link = nd;
  L14 -> L15: check memcleanup heap_empty;
  L15 -> done: return x << 2:u8;
}
entry main;
";

#[test]
fn people_can_write_it() {
    let p = text::parse(EXAMPLE).unwrap();
    assert_eq!(verify(&p), []);
    let main = p.entry;
    assert_eq!(&*p.funcs[main].name, "main");
    let sum = p.func_named("sum").unwrap();
    let graph = p.analyse();
    let heads: Vec<LocId> = graph.loop_heads(sum).collect();
    assert_eq!(heads.len(), 1);
    assert_eq!(p.locs[heads[0]].label.as_deref(), Some("head"));
    assert!(p.locs[heads[0]].loop_stmt.is_some());
    let calls = CallGraph::new(&p);
    assert!(calls.is_reachable(sum) && calls.is_recursive(main) && !calls.is_recursive(sum));
    assert_eq!(calls.address_taken, [main]);
    // Spans point into the text.
    let edge = &p.edges[EdgeId(0)];
    assert_eq!(&EXAMPLE[edge.span.lo as usize..edge.span.hi as usize], "a -> L1: enter s;");
    round_trip(&p);
}

#[test]
fn it_is_shown_as_c() {
    let p = text::parse(EXAMPLE).unwrap();
    let shown: Vec<String> = p.edges.iter().map(|e| p.show_op(&e.op).to_string()).collect();
    assert!(shown.contains(&"nd.next->val = table[2] + x".to_owned()), "{shown:#?}");
    assert!(shown.contains(&"check overflow: !overflow(s + (i64).t)".to_owned()));
    assert!(shown.contains(&".t = p[i]".to_owned()));
    let graph = p.analyse();
    let dot = dot::to_dot(&p, &graph);
    assert!(dot.contains("r = sum(&table, 4)"));
    assert_eq!(dot.matches(" -> L").count(), p.edges.len());
    let json = json::to_json(&p, &graph, None);
    assert_eq!(json["functions"][2]["edges"].as_array().unwrap().len(), 11);
    assert_eq!(json["entry"], "main");
}

#[test]
fn errors_have_positions() {
    for (text, line, column, word) in [
        ("fn f() {\n  a -> b: x = 1;\n}", 2, 11, "no variable `x`"),
        ("fn f() {\n  local x: i32;\n  a -> b: x = 1 + ;\n}", 3, 19, "expected a name"),
        ("global g: struct s;", 1, 11, "never defined"),
        ("fn f() {\n a -> b: check nothing 1;\n}", 2, 16, "kinds of check"),
        ("fn f() { local x: u8; a -> b: x = 256; }", 1, 35, "does not fit"),
        ("fn f() { local x: u8; local y: i8; a -> b: assume x < y; }", 1, 51, "types u8 and i8"),
        ("fn f() { a -> b: skip;", 1, 4, "does not end"),
        ("global \u{e9}: i32;", 1, 8, "no meaning"),
        ("", 1, 1, "no function"),
    ] {
        let e = text::parse(text).unwrap_err();
        assert!(e.message.contains(word), "{text}: {e}");
        assert_eq!((e.line, e.column), (line, column), "{text}: {e}");
    }
    let deep = format!("fn f() {{ local x: i32; a -> b: x = {}1; }}", "-(".repeat(100_000));
    assert!(text::parse(&deep).unwrap_err().message.contains("deep"));
    let long = format!("fn f() {{ local x: i32; a -> b: x = x{}; }}", " + x".repeat(100_000));
    assert!(text::parse(&long).unwrap_err().message.contains("deep"));
}

/// Every prefix and every single deletion of a token-sized piece is read or refused, never more.
#[test]
fn damaged_texts_do_no_harm() {
    for i in (0..EXAMPLE.len()).filter(|i| EXAMPLE.is_char_boundary(*i)) {
        let _ = text::parse(&EXAMPLE[..i]);
        for cut in 1..4 {
            if let Some(rest) = EXAMPLE.get(i + cut..)
                && let Ok(p) = text::parse(&format!("{}{rest}", &EXAMPLE[..i]))
            {
                verify(&p);
            }
        }
    }
}

fn round_trip(p: &Program) {
    let once = text::print(p);
    let again = text::parse(&once).unwrap_or_else(|e| panic!("{e}\n{once}"));
    let findings: Vec<String> = verify(&again).iter().map(ToString::to_string).collect();
    assert_eq!(findings, Vec::<String>::new(), "{once}");
    assert_eq!(again.edges.len(), p.edges.len());
    assert_eq!(again.vars.len(), p.vars.len());
    assert_eq!(text::print(&again), once);
    // The same operations, whatever their numbers: compare what people see, and the order of edges
    // out of each location by a walk in step.
    let mut pairs = vec![(p.body(p.entry).entry, again.body(again.entry).entry)];
    let mut seen = std::collections::HashSet::new();
    while let Some((a, b)) = pairs.pop() {
        if !seen.insert(a) {
            continue;
        }
        assert_eq!(p.locs[a].out.len(), again.locs[b].out.len());
        assert_eq!(p.locs[a].loop_stmt.is_some(), again.locs[b].loop_stmt.is_some());
        for (&x, &y) in p.locs[a].out.iter().zip(&again.locs[b].out) {
            let (x, y) = (&p.edges[x], &again.edges[y]);
            assert_eq!(p.show_op(&x.op).to_string(), again.show_op(&y.op).to_string());
            pairs.push((x.dst, y.dst));
        }
    }
}

/// A small deterministic generator of well-formed programs.
struct Gen {
    seed: u64,
    p: Program,
    vars: Vec<VarId>,
    func: FuncId,
}

impl Gen {
    fn below(&mut self, n: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    fn scalar(&mut self) -> Scalar {
        let bits = self.pick(&[1, 8, 16, 32, 32, 64, 128, 7]);
        let signed = self.below(2) == 0;
        match self.below(6) {
            0 => Scalar::Ptr,
            1 => Scalar::Float(self.pick(&[FloatTy::F32, FloatTy::F64, FloatTy::F80])),
            _ => Scalar::Int(IntTy { bits, signed }),
        }
    }

    fn var_name(&mut self) -> String {
        self.pick(&["x", "y", "i32", "loop", ".t", "a b", "é", "x", ".str.1"]).to_owned()
    }

    fn place(&mut self, depth: u32) -> PlaceId {
        let v = self.pick(&self.vars.clone());
        let mut ty = self.p.vars[v].ty;
        let mut base = Base::Var(v);
        if depth > 0 && self.below(4) == 0 {
            base = Base::Deref(self.expr(Scalar::Ptr, depth - 1));
        }
        let mut path = SmallVec::new();
        let mut bits = None;
        if matches!(base, Base::Deref(_)) && self.below(3) == 0 {
            let index = self.int_expr(depth.saturating_sub(1));
            path.push(Proj::Index { index, stride: 12 });
        }
        loop {
            match self.p.types[ty].clone() {
                Type::Record(r) if self.below(4) > 0 => {
                    let field = self.below(r.fields.len());
                    path.push(Proj::Field { record: ty, field: field as u32 });
                    ty = r.fields[field].ty;
                    bits = r.fields[field].bits;
                }
                Type::Array(elem, _) if self.below(4) > 0 => {
                    let index = self.int_expr(depth.saturating_sub(1));
                    let stride = if self.below(5) == 0 { 3 } else { self.p.size_of(elem).unwrap() };
                    path.push(Proj::Index { index, stride });
                    ty = elem;
                    bits = None;
                }
                Type::Int(_) if bits.is_none() && !path.is_empty() && self.below(4) == 0 => {
                    bits = Some(BitRange { first: 2, width: 3 });
                    break;
                }
                _ => break,
            }
        }
        self.p.places.push(Place { base, path, ty, bits })
    }

    fn int_expr(&mut self, depth: u32) -> ExprId {
        let t = Scalar::Int(IntTy { bits: self.pick(&[8, 32, 64]), signed: self.below(2) == 0 });
        self.expr(t, depth)
    }

    fn expr(&mut self, ty: Scalar, depth: u32) -> ExprId {
        if depth > 0 {
            for _ in 0..3 {
                if let Some(kind) = self.inner(ty, depth - 1) {
                    return self.p.add_expr(ty, kind);
                }
            }
        }
        let raw = (self.below(1 << 31) as u128) << 97
            | (self.below(1 << 31) as u128) << 60
            | self.below(1 << 31) as u128;
        let kind = match ty {
            Scalar::Int(t) => {
                let pick = self.pick(&[0, 1, 5, t.max_bits(), t.min_bits(), raw]);
                ExprKind::Int(t.truncate(pick))
            }
            Scalar::Ptr => ExprKind::Int(self.pick(&[0, 0x10])),
            Scalar::Float(FloatTy::F32) => {
                ExprKind::Float(u128::from(self.pick(&[1.5f32, -0.0, f32::NAN]).to_bits()))
            }
            Scalar::Float(FloatTy::F64) => {
                ExprKind::Float(u128::from(self.pick(&[1e300, -2.5, 5e-324, f64::INFINITY, 3.0]).to_bits()))
            }
            Scalar::Float(FloatTy::F80) => ExprKind::Float(0x3fff_8000_0000_0000_0000),
        };
        self.p.add_expr(ty, kind)
    }

    fn inner(&mut self, ty: Scalar, d: u32) -> Option<ExprKind> {
        let size_t = Scalar::Int(self.p.data_model.size_t());
        Some(match self.below(12) {
            0 | 1 => {
                let place = self.place(d);
                (self.p.place_scalar(place) == Some(ty)).then_some(ExprKind::Load(place))?
            }
            2 => match ty {
                Scalar::Ptr => return None,
                Scalar::Int(_) if self.below(2) == 0 => ExprKind::Unary(UnOp::Not, self.expr(ty, d)),
                _ => ExprKind::Unary(UnOp::Neg, self.expr(ty, d)),
            },
            3 | 4 => match ty {
                Scalar::Ptr => {
                    let ptr = self.expr(ty, d);
                    ExprKind::PtrAdd { ptr, index: self.int_expr(d), stride: 8 }
                }
                Scalar::Float(_) => {
                    let op = self.pick(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Div]);
                    ExprKind::Binary(op, self.expr(ty, d), self.expr(ty, d))
                }
                Scalar::Int(_) => {
                    let op =
                        self.pick(&[BinOp::Add, BinOp::Rem, BinOp::Xor, BinOp::Shl, BinOp::Shr, BinOp::Or]);
                    let b = match op {
                        BinOp::Shl | BinOp::Shr => self.int_expr(d),
                        _ => self.expr(ty, d),
                    };
                    ExprKind::Binary(op, self.expr(ty, d), b)
                }
            },
            5 => {
                let c = self.expr(Scalar::BOOL, d);
                ExprKind::Ite(c, self.expr(ty, d), self.expr(ty, d))
            }
            6 => {
                let from = self.scalar();
                match (from, ty) {
                    (Scalar::Ptr, Scalar::Float(_)) | (Scalar::Float(_), Scalar::Ptr) => return None,
                    _ => ExprKind::Convert(self.expr(from, d)),
                }
            }
            7 if ty == Scalar::Ptr => {
                let place = self.place(d);
                if self.p.places[place].bits.is_some() {
                    return None;
                }
                if let Base::Var(v) = self.p.places[place].base {
                    self.p.vars[v].address_taken = true;
                }
                ExprKind::Addr(place)
            }
            7 if ty == size_t => ExprKind::ObjectSize(self.expr(Scalar::Ptr, d)),
            8 if ty == Scalar::Ptr => ExprKind::Func(self.func),
            _ if ty == Scalar::BOOL => match self.below(8) {
                0 => ExprKind::HeapEmpty,
                1 => ExprKind::HeapTracked,
                2 => ExprKind::Valid { ptr: self.expr(Scalar::Ptr, d), size: self.expr(size_t, d) },
                3 => ExprKind::Freeable(self.expr(Scalar::Ptr, d)),
                5 => {
                    let (a, b) = (self.expr(Scalar::Ptr, d), self.expr(Scalar::Ptr, d));
                    ExprKind::Overlap(a, b, self.expr(size_t, d))
                }
                4 => {
                    let t = Scalar::Int(IntTy { bits: self.pick(&[8, 32, 64]), signed: true });
                    let op = self.pick(&[BinOp::Add, BinOp::Mul, BinOp::Shl]);
                    let b = if op == BinOp::Shl { self.int_expr(d) } else { self.expr(t, d) };
                    ExprKind::Overflow(op, self.expr(t, d), b)
                }
                _ => {
                    let t = self.scalar();
                    let op = self.pick(&[CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le]);
                    ExprKind::Cmp(op, self.expr(t, d), self.expr(t, d))
                }
            },
            _ => return None,
        })
    }

    fn op(&mut self) -> Op {
        let size_t = Scalar::Int(self.p.data_model.size_t());
        let place = self.place(2);
        let scalar = self.p.place_scalar(place);
        match (self.below(10), scalar) {
            (0..=3, Some(ty)) => Op::Assign { dst: place, src: self.expr(ty, 4) },
            (4, Some(Scalar::Ptr)) => Op::Alloc {
                dst: place,
                size: self.expr(size_t, 2),
                kind: AllocKind::Heap,
                zeroed: self.below(2) == 0,
            },
            (4, _) if self.p.places[place].bits.is_none() => Op::Copy { dst: place, src: place },
            (5, _) => Op::Havoc { dst: place, input: self.below(2) == 0 },
            (6, _) => Op::Check { kind: self.pick(&CheckKind::ALL), cond: self.expr(Scalar::BOOL, 3) },
            (7, _) => Op::MemCopy {
                dst: self.expr(Scalar::Ptr, 2),
                src: self.expr(Scalar::Ptr, 2),
                len: self.expr(size_t, 2),
            },
            (8, _) => Op::Free { ptr: self.expr(Scalar::Ptr, 2) },
            (9, _) => {
                Op::Call { dst: None, callee: Callee::Indirect(self.expr(Scalar::Ptr, 2)), args: [].into() }
            }
            _ => Op::Zero { dst: place },
        }
    }

    fn program(seed: u64) -> Program {
        let model = if seed.is_multiple_of(2) { DataModel::Lp64 } else { DataModel::Ilp32 };
        let mut g = Gen { seed, p: Program::new(model), vars: vec![], func: FuncId(0) };
        let i32_ = g.p.types.push(Type::Int(IntTy::I32));
        let u8_ = g.p.types.push(Type::Int(IntTy { bits: 8, signed: false }));
        let f64_ = g.p.types.push(Type::Float(FloatTy::F64));
        let ptr = g.p.types.push(Type::Ptr(i32_));
        let record = |name: &str, fields: Vec<(&str, TypeId, u64, Option<BitRange>)>| {
            let fields = fields
                .into_iter()
                .map(|(n, ty, offset, bits)| Field { name: n.into(), ty, offset, bits })
                .collect();
            Type::Record(Record {
                name: name.into(),
                union: name.starts_with("union"),
                fields,
                size: 16,
                align: 4,
            })
        };
        let bits = Some(BitRange { first: 1, width: 5 });
        let inner = g
            .p
            .types
            .push(record("struct s", vec![("a", i32_, 0, None), ("b", i32_, 4, bits), ("", u8_, 8, None)]));
        let arr = g.p.types.push(Type::Array(inner, Some(4)));
        let other = g.p.types.push(record("union s", vec![("p", ptr, 0, None), ("fn", inner, 0, None)]));
        let twice = g.p.types.push(record("struct s", vec![("q", ptr, 0, None)]));
        let void = g.p.types.push(Type::Void);
        let sig = g.p.types.push(Type::Func(Signature { ret: void, params: vec![], variadic: false }));
        let name = |g: &mut Gen| g.var_name().into();
        let tys = [i32_, u8_, f64_, ptr, inner, arr, other, twice];
        for k in 0..9 {
            let ty = g.pick(&tys);
            let kind = if k < 3 { VarKind::Global } else { VarKind::Local(FuncId(0)) };
            let init = if k == 0 { Init::Image(vec![]) } else { Init::Unknown };
            let name = name(&mut g);
            let v = Var {
                name,
                ty,
                kind,
                address_taken: false,
                init,
                read_only: false,
                span: Span::NONE,
                scope: Span::NONE,
            };
            let id = g.p.vars.push(v);
            g.vars.push(id);
        }
        let f = g.p.funcs.push(Function {
            name: "fn".into(),
            ty: sig,
            span: Span::NONE,
            body: None,
            effect: Effect::Pure,
        });
        let locs: Vec<LocId> = (0..8).map(|_| g.p.add_loc(f, Span::NONE)).collect();
        let exit = g.p.add_loc(f, Span::NONE);
        let locals = g.vars[3..].to_vec();
        g.p.funcs[f].body = Some(Body { params: vec![], locals, entry: locs[0], exit });
        for (i, &l) in locs.iter().enumerate() {
            if g.below(3) == 0 {
                g.p.locs[l].label = Some(g.pick(&["again", "exit", "loop", "x y", "L7"]).into());
            }
            if g.below(4) == 0 {
                g.p.locs[l].loop_stmt = Some(Span::NONE);
            }
            if g.below(3) == 0 {
                for _ in 0..2 {
                    let cond = g.expr(Scalar::BOOL, 3);
                    let to = g.below(locs.len());
                    g.p.add_edge(l, Op::Assume { cond }, locs[to], Span::NONE);
                }
            } else if i + 1 < locs.len() {
                let op = g.op();
                g.p.add_edge(l, op, locs[i + 1], Span::NONE);
            } else {
                g.p.add_edge(l, Op::Return { value: None }, exit, Span::NONE);
            }
        }
        g.p.entry = f;
        g.p
    }
}

#[test]
fn random_programs_round_trip() {
    for seed in 0..400 {
        let p = Gen::program(seed);
        let findings: Vec<String> = verify(&p).iter().map(ToString::to_string).collect();
        assert_eq!(findings, Vec::<String>::new(), "seed {seed}");
        round_trip(&p);
    }
}

/// Each damage to a well-formed program is found.
#[test]
fn the_verifier_finds_damage() {
    let p = text::parse(EXAMPLE).unwrap();
    type Harm = Box<dyn Fn(&mut Program)>;
    let damage: Vec<(&str, Harm)> = vec![
        ("there is no", Box::new(|p| p.entry = FuncId(99))),
        ("there is no", Box::new(|p| p.edges[EdgeId(1)].dst = LocId(999))),
        ("leaves its function", Box::new(|p| p.edges[EdgeId(1)].dst = LocId::new(p.locs.len() - 2))),
        (
            "contains itself",
            Box::new(|p| {
                let e = p.exprs.ids().find(|e| matches!(p.exprs[*e].kind, ExprKind::Convert(_))).unwrap();
                p.exprs[e].kind = ExprKind::Convert(e);
            }),
        ),
        ("not marked so", Box::new(|p| p.vars.iter_mut().for_each(|v| v.address_taken = false))),
        (
            "a condition is a truth value",
            Box::new(|p| {
                let one = p.int(IntTy::I32, 1);
                let e = p.edges.iter_mut().find(|e| matches!(e.op, Op::Assume { .. })).unwrap();
                e.op = Op::Assume { cond: one };
            }),
        ),
        (
            "of the value's type",
            Box::new(|p| {
                let one = p.int(IntTy { bits: 16, signed: true }, 1);
                for e in p.edges.iter_mut() {
                    if let Op::Assign { src, .. } = &mut e.op {
                        *src = one;
                    }
                }
            }),
        ),
        (
            "number of arguments",
            Box::new(|p| {
                for e in p.edges.iter_mut() {
                    if let Op::Call { args, .. } = &mut e.op {
                        *args = [].into();
                    }
                }
            }),
        ),
        (
            "a return leads to",
            Box::new(|p| {
                let f = p.func_named("sum").unwrap();
                let fresh = p.add_loc(f, Span::NONE);
                p.funcs[f].body.as_mut().unwrap().exit = fresh;
            }),
        ),
        (
            "belongs to another function",
            Box::new(|p| {
                let foreign = p.func_named("sum").map(|f| p.body(f).locals[0]).unwrap();
                let dst = p.var_place(foreign);
                let e = p.body(p.entry).entry;
                let e = p.locs[e].out[0];
                p.edges[e].op = Op::Zero { dst };
            }),
        ),
        ("the entry takes parameters", Box::new(|p| p.entry = p.func_named("sum").unwrap())),
        ("has no body", Box::new(|p| p.entry = p.func_named("putchar").unwrap())),
        (
            "operands have the type",
            Box::new(|p| {
                for e in 0..p.exprs.len() {
                    if let ExprKind::Binary(op, a, _) = p.exprs[ExprId::new(e)].kind {
                        let b = p.int(IntTy { bits: 3, signed: false }, 1);
                        p.exprs[ExprId::new(e)].kind = ExprKind::Binary(op, a, b);
                    }
                }
            }),
        ),
        (
            "stops here for no reason",
            Box::new(|p| {
                let f = p.entry;
                let l = p.add_loc(f, Span::NONE);
                let e = p.locs[p.body(f).entry].out[0];
                let old = p.edges[e].dst;
                p.locs[old].inc.clear();
                p.locs[l].inc.push(e);
                p.edges[e].dst = l;
            }),
        ),
    ];
    for (word, harm) in damage {
        let mut q = p.clone();
        harm(&mut q);
        let findings = verify(&q);
        assert!(findings.iter().any(|f| f.message.contains(word)), "{word}: {findings:?}");
    }
}
