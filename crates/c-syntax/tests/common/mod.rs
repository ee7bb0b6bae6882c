//! Prints syntax trees as S-expressions, so that tests can say what a text means.

#![allow(dead_code)] // each test program uses its part of this module

use palisade_base::{Diagnostic, SourceMap};
use palisade_c_syntax::ast::*;
use palisade_c_syntax::{Interner, Symbol, parse};

/// A parsed text with all that is needed to look into it.
pub struct Parsed {
    pub map: SourceMap,
    pub interner: Interner,
    pub unit: TranslationUnit,
    pub diags: Vec<Diagnostic>,
}

/// Parses a text.
pub fn read(text: &str) -> Parsed {
    let mut map = SourceMap::new();
    let file = map.add("t.c", text.to_owned()).unwrap();
    let mut interner = Interner::new();
    let (unit, diags) = parse(&mut map, file, &mut interner);
    Parsed { map, interner, unit, diags }
}

/// The S-expressions of all items of a text, which must have no error.
pub fn dump(text: &str) -> String {
    let parsed = read(text);
    let errors: Vec<_> = parsed.diags.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let items: Vec<String> = parsed.unit.items.iter().map(|i| parsed.item(i)).collect();
    items.join(" ")
}

fn list<T>(items: impl IntoIterator<Item = T>, f: impl Fn(T) -> String) -> String {
    items.into_iter().map(|t| format!(" {}", f(t))).collect()
}

impl Parsed {
    fn name(&self, s: Symbol) -> String {
        self.interner.name(s).to_owned()
    }

    fn item(&self, item: &Item) -> String {
        match item {
            Item::Declaration(id) => self.decl(*id),
            Item::StaticAssert(a) => self.static_assert(a),
            Item::Asm { text, .. } => format!("(asm {})", self.string(*text)),
            Item::Function(f) => self.function(f),
        }
    }

    fn function(&self, f: &FunctionDef) -> String {
        format!(
            "(function {} {}{}{} {})",
            self.specs(&f.specs),
            self.declarator(&f.declarator),
            self.attrs(&f.attrs),
            list(&f.knr_decls, |d| self.decl(*d)),
            self.stmt(f.body)
        )
    }

    fn static_assert(&self, a: &StaticAssert) -> String {
        format!("(static-assert {}{})", self.expr(a.cond), list(a.message, |m| self.string(m)))
    }

    fn decl(&self, id: DeclId) -> String {
        let d = &self.unit.decls[id];
        let declarators = list(&d.declarators, |i| {
            let mut out = self.declarator(&i.declarator);
            out += &list(i.asm_label, |s| format!("(asm {})", self.string(s)));
            out += &self.attrs(&i.attrs);
            out += &list(i.init, |v| format!("= {}", self.init(v)));
            out
        });
        format!("(decl {}{declarators})", self.specs(&d.specs))
    }

    fn quals(q: Quals) -> String {
        let words = [(q.is_const, "const"), (q.is_volatile, "volatile"), (q.is_restrict, "restrict")];
        let words = words.into_iter().chain([(q.is_atomic, "atomic")]);
        words.filter(|w| w.0).map(|w| format!("{} ", w.1)).collect()
    }

    fn attrs(&self, attrs: &[Attribute]) -> String {
        list(attrs, |a| {
            let args = list(&a.args, |arg| match arg {
                AttrArg::Ident(i) => format!("'{}", self.name(i.name)),
                AttrArg::Expr(e) => self.expr(*e),
                AttrArg::Type(t) => self.type_name(*t),
            });
            format!("@{}{args}", self.name(a.name))
        })
    }

    fn specs(&self, s: &DeclSpecs) -> String {
        let mut out = String::new();
        out += &s.storage.map_or(String::new(), |s| format!("{s:?} ").to_lowercase());
        for (flag, word) in [(s.thread_local, "thread "), (s.inline, "inline "), (s.noreturn, "noreturn ")] {
            out += if flag { word } else { "" };
        }
        out += &Self::quals(s.quals);
        out += &match s.ty {
            TypeSpec::Basic(b) => format!("{b:?}"),
            TypeSpec::BitInt { width, unsigned } => {
                format!("({}bit-int {})", if unsigned { "unsigned " } else { "" }, self.expr(width))
            }
            TypeSpec::Complex(b) => format!("(complex {b:?})"),
            TypeSpec::Typedef(n) => format!("type:{}", self.name(n)),
            TypeSpec::Record(id) => self.record(id),
            TypeSpec::Enum(id) => self.enumeration(id),
            TypeSpec::TypeofExpr { expr, .. } => format!("(typeof {})", self.expr(expr)),
            TypeSpec::TypeofType { ty, .. } => format!("(typeof {})", self.type_name(ty)),
            TypeSpec::Atomic(ty) => format!("(atomic {})", self.type_name(ty)),
            other => format!("{other:?}"),
        };
        for alignas in &s.alignas {
            out += &match alignas {
                Alignas::Expr(e) => format!(" (alignas {})", self.expr(*e)),
                Alignas::Type(t) => format!(" (alignas {})", self.type_name(*t)),
            };
        }
        out + &self.attrs(&s.attrs)
    }

    fn record(&self, id: RecordId) -> String {
        let r = &self.unit.records[id];
        let kind = format!("{:?}", r.kind).to_lowercase();
        let members = r.members.as_ref().map(|members| {
            let members = list(members, |m| match m {
                Member::StaticAssert(a) => self.static_assert(a),
                Member::Field { specs, declarators, .. } => {
                    let declarators = list(declarators, |f| {
                        let width = list(f.width, |w| format!(": {}", self.expr(w)));
                        format!("{}{width}{}", self.declarator(&f.declarator), self.attrs(&f.attrs))
                    });
                    format!("[{}{declarators}]", self.specs(specs))
                }
            });
            format!(" {{{members} }}")
        });
        let pack = r.pack.map_or(String::new(), |p| format!(" pack:{p}"));
        let tag = list(r.tag, |t| self.name(t.name));
        format!("({kind}{tag}{}{pack}{})", members.unwrap_or_default(), self.attrs(&r.attrs))
    }

    fn enumeration(&self, id: EnumId) -> String {
        let e = &self.unit.enums[id];
        let tag = list(e.tag, |t| self.name(t.name));
        let body = e.enumerators.as_ref().map(|all| {
            let all = list(all, |c| {
                format!("{}{}", self.name(c.name.name), list(c.value, |v| format!("= {}", self.expr(v))))
            });
            format!(" {{{all} }}")
        });
        format!("(enum{tag}{}{})", body.unwrap_or_default(), self.attrs(&e.attrs))
    }

    /// The name, then the derivation from it outwards.
    fn declarator(&self, d: &Declarator) -> String {
        let mut out = d.name.map_or("_".into(), |n| self.name(n.name));
        for step in &d.derived {
            out += &match step {
                Derived::Pointer { quals, attrs } => {
                    let text = format!("{}{}", Self::quals(*quals), self.attrs(attrs));
                    if text.is_empty() { "*".into() } else { format!("*({})", text.trim()) }
                }
                Derived::Array { size, quals, is_static, .. } => {
                    let size = match size {
                        ArraySize::Unspecified => String::new(),
                        ArraySize::Star => "*".into(),
                        ArraySize::Expr(e) => self.expr(*e),
                    };
                    format!("[{}{}{size}]", Self::quals(*quals), if *is_static { "static " } else { "" })
                }
                Derived::Function(f) => match &f.params {
                    Params::Unspecified => "()".into(),
                    Params::Identifiers(names) => {
                        format!("(knr{})", list(names, |n| self.name(n.name)))
                    }
                    Params::Prototype { params, variadic } => {
                        let params = list(params, |p| {
                            let attrs = self.attrs(&p.attrs);
                            format!("{} {}{attrs}", self.specs(&p.specs), self.declarator(&p.declarator))
                        });
                        format!("(proto{params}{})", if *variadic { " ..." } else { "" })
                    }
                },
            };
        }
        out + &self.attrs(&d.attrs)
    }

    fn type_name(&self, id: TypeNameId) -> String {
        let t = &self.unit.type_names[id];
        let declarator = self.declarator(&t.declarator);
        format!("<{}{}>", self.specs(&t.specs), declarator.strip_prefix('_').unwrap_or(&declarator))
    }

    fn string(&self, id: StrId) -> String {
        let s = &self.unit.strings[id];
        let prefix = match s.encoding {
            Encoding::Narrow => "",
            Encoding::Utf8 => "u8",
            Encoding::Wide => "L",
            Encoding::Utf16 => "u",
            Encoding::Utf32 => "U",
        };
        match &s.units {
            StringUnits::Bytes(b) => format!("{prefix}\"{}\"", b.escape_ascii()),
            StringUnits::Wide(w) => format!("{prefix}{w:x?}"),
        }
    }

    fn init(&self, init: Init) -> String {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List(id) => {
                let items = list(&self.unit.init_lists[id].items, |i| {
                    let path = self.path(&i.designators);
                    format!("{path}{}{}", if path.is_empty() { "" } else { "=" }, self.init(i.value))
                });
                format!("{{{items} }}")
            }
        }
    }

    fn path(&self, path: &[Designator]) -> String {
        path.iter()
            .map(|d| match d {
                Designator::Field(f) => format!(".{}", self.name(f.name)),
                Designator::Index(e) => format!("[{}]", self.expr(*e)),
                Designator::Range(a, b) => format!("[{} ... {}]", self.expr(*a), self.expr(*b)),
            })
            .collect()
    }

    fn expr(&self, id: ExprId) -> String {
        let e = |id: &ExprId| self.expr(*id);
        match &self.unit.exprs[id].kind {
            ExprKind::Error => "error".into(),
            ExprKind::Int(i) => {
                let suffix = format!("{}{}", if i.unsigned { "u" } else { "" }, "l".repeat(i.longs.into()));
                format!("{}{suffix}{}", i.value, if i.imaginary { "i" } else { "" })
            }
            ExprKind::Float(f) => format!("{}{:?}", self.name(f.text), f.suffix),
            ExprKind::Char(c) => format!("'{}", c.value),
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Nullptr => "nullptr".into(),
            ExprKind::Str(s) => self.string(*s),
            ExprKind::Name(n) => self.name(*n),
            ExprKind::Unary { op, operand } => format!("({op:?} {})", e(operand)),
            ExprKind::Binary { op, lhs, rhs, .. } => format!("({op:?} {} {})", e(lhs), e(rhs)),
            ExprKind::Comma { lhs, rhs } => format!("(, {} {})", e(lhs), e(rhs)),
            ExprKind::Assign { op: None, lhs, rhs, .. } => format!("(= {} {})", e(lhs), e(rhs)),
            ExprKind::Assign { op: Some(op), lhs, rhs, .. } => format!("({op:?}= {} {})", e(lhs), e(rhs)),
            ExprKind::Conditional { cond, then, otherwise, .. } => {
                format!("(? {} {} {})", e(cond), then.map_or("-".into(), |t| e(&t)), e(otherwise))
            }
            ExprKind::Call { callee, args, .. } => {
                format!("(call {}{})", e(callee), list(self.unit.expr_list(*args), e))
            }
            ExprKind::Index { base, index } => format!("(index {} {})", e(base), e(index)),
            ExprKind::Member { base, field, arrow, .. } => {
                format!("({} {} {})", if *arrow { "->" } else { "." }, e(base), self.name(*field))
            }
            ExprKind::Cast { ty, operand } => format!("(cast {} {})", self.type_name(*ty), e(operand)),
            ExprKind::CompoundLiteral { ty, init } => {
                format!("(literal {} {})", self.type_name(*ty), self.init(Init::List(*init)))
            }
            ExprKind::SizeofExpr(x) => format!("(sizeof {})", e(x)),
            ExprKind::SizeofType(t) => format!("(sizeof {})", self.type_name(*t)),
            ExprKind::AlignofExpr { operand, preferred } => format!("(alignof {preferred} {})", e(operand)),
            ExprKind::AlignofType { ty, preferred } => {
                format!("(alignof {preferred} {})", self.type_name(*ty))
            }
            ExprKind::Generic(g) => {
                let assocs = list(&g.assocs, |a| {
                    format!("{}: {}", a.ty.map_or("default".into(), |t| self.type_name(t)), e(&a.expr))
                });
                format!("(generic {}{assocs})", e(&g.control))
            }
            ExprKind::StmtExpr(s) => format!("(stmt-expr {})", self.stmt(*s)),
            ExprKind::LabelAddr(l) => format!("(label-addr {})", self.name(l.name)),
            ExprKind::VaArg { list, ty } => format!("(va-arg {} {})", e(list), self.type_name(*ty)),
            ExprKind::ConvertVector { operand, ty } => {
                format!("(convert-vector {} {})", e(operand), self.type_name(*ty))
            }
            ExprKind::Offsetof { ty, path } => {
                format!("(offsetof {} {})", self.type_name(*ty), self.path(path))
            }
            ExprKind::TypesCompatible(a, b) => {
                format!("(compatible {} {})", self.type_name(*a), self.type_name(*b))
            }
            ExprKind::ChooseExpr { cond, then, otherwise } => {
                format!("(choose {} {} {})", e(cond), e(then), e(otherwise))
            }
        }
    }

    fn stmt(&self, id: StmtId) -> String {
        let s = |id: &StmtId| self.stmt(*id);
        let opt = |e: &Option<ExprId>| e.map_or("-".into(), |e| self.expr(e));
        match &self.unit.stmts[id].kind {
            StmtKind::Error => "error".into(),
            StmtKind::Empty => ";".into(),
            StmtKind::Expr(e) => self.expr(*e),
            StmtKind::Decl(d) => self.decl(*d),
            StmtKind::Function(f) => self.function(f),
            StmtKind::StaticAssert(a) => self.static_assert(a),
            StmtKind::LocalLabels(names) => format!("(local{})", list(names, |n| self.name(n.name))),
            StmtKind::Block(stmts) => format!("{{{} }}", list(self.unit.stmt_list(*stmts), s)),
            StmtKind::Labeled { labels, stmt } => {
                let labels = list(labels, |l| match l {
                    Label::Name { name, attrs } => format!("{}{}:", self.name(name.name), self.attrs(attrs)),
                    Label::Case { lo, hi: None, .. } => format!("case {}:", self.expr(*lo)),
                    Label::Case { lo, hi: Some(hi), .. } => {
                        format!("case {} ... {}:", self.expr(*lo), self.expr(*hi))
                    }
                    Label::Default { .. } => "default:".into(),
                });
                format!("({} {})", labels.trim(), s(stmt))
            }
            StmtKind::If { cond, then, else_ } => {
                format!("(if {} {}{})", self.expr(*cond), s(then), list(*else_, |e| s(&e)))
            }
            StmtKind::Switch { value, body } => format!("(switch {} {})", self.expr(*value), s(body)),
            StmtKind::While { cond, body } => format!("(while {} {})", self.expr(*cond), s(body)),
            StmtKind::DoWhile { body, cond, .. } => format!("(do {} {})", s(body), self.expr(*cond)),
            StmtKind::For { init, cond, step, body } => {
                let init = match init {
                    ForInit::None => "-".into(),
                    ForInit::Expr(e) => self.expr(*e),
                    ForInit::Decl(d) => self.decl(*d),
                };
                format!("(for {init} {} {} {})", opt(cond), opt(step), s(body))
            }
            StmtKind::Goto(l) => format!("(goto {})", self.name(l.name)),
            StmtKind::GotoComputed(e) => format!("(goto* {})", self.expr(*e)),
            StmtKind::Continue => "continue".into(),
            StmtKind::Break => "break".into(),
            StmtKind::Return(e) => format!("(return {})", opt(e)),
            StmtKind::Asm(a) => self.asm(a),
            StmtKind::Demand(clauses) => {
                format!("(demand {})", list(clauses, |c| format!("{:?} {}", c.kind, self.expr(c.formula))))
            }
            StmtKind::Annotated { clauses, stmt } => {
                let clauses = list(clauses, |c| format!("{:?} {}", c.kind, self.expr(c.formula)));
                format!("(annotated {clauses} {})", s(stmt))
            }
        }
    }

    fn asm(&self, a: &AsmStmt) -> String {
        let operands = |ops: &[AsmOperand]| {
            list(ops, |o| {
                let name = o.name.map_or(String::new(), |n| format!("[{}]", self.name(n)));
                format!("{name}{} {}", self.string(o.constraint), self.expr(o.expr))
            })
        };
        let flags =
            format!("{}{}", if a.volatile { " volatile" } else { "" }, if a.goto { " goto" } else { "" });
        format!(
            "(asm{flags} {} (out{}) (in{}) (clobber{}) (labels{}))",
            self.string(a.template),
            operands(&a.outputs),
            operands(&a.inputs),
            list(&a.clobbers, |c| self.string(*c)),
            list(&a.labels, |l| self.name(l.name))
        )
    }
}
