//! Attributes that change the meaning of a declaration; all others are ignored, as compilers do.

use palisade_base::Span;
use palisade_c_syntax::Symbol;
use palisade_c_syntax::ast::{Alignas, AttrArg, Attribute, DeclSpecs};
use palisade_cfa::{DataModel, FloatTy};

use super::Checker;
use crate::types::{CType, CTypeId, Form, IntKind, QType, SoftFloat, TypeTable};

/// The largest alignment that an attribute may demand, in bytes.
const MAX_ALIGN: u128 = 1 << 28;

/// What the attributes of one declaration say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attrs {
    /// `aligned` and `_Alignas`: the largest, in bytes.
    pub align: Option<u64>,
    pub packed: bool,
    pub noreturn: bool,
    pub transparent_union: bool,
    pub weak: bool,
    pub gnu_inline: bool,
    /// The machine mode and where it was demanded.
    pub mode: Option<(Mode, Span)>,
    /// `vector_size` in bytes.
    pub vector: Option<(u32, Span)>,
    pub alias: Option<(Symbol, Span)>,
    pub cleanup: Option<(Symbol, Span)>,
    /// `constructor` and its priority.
    pub constructor: Option<u32>,
    /// `destructor` and its priority.
    pub destructor: Option<u32>,
}

/// A machine mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    /// An integer of this many bits.
    Int(u16),
    Float(FloatTy),
    Form(Form),
}

impl Checker<'_> {
    pub(super) fn attrs(&mut self, lists: &[&[Attribute]]) -> Attrs {
        let mut out = Attrs::default();
        for attr in lists.iter().copied().flatten() {
            self.attr(attr, &mut out);
        }
        out
    }

    /// Attributes of specifiers with their `_Alignas` and `_Noreturn`, and of a declarator.
    pub(super) fn decl_attrs(&mut self, specs: &DeclSpecs, more: &[&[Attribute]]) -> Attrs {
        let mut out = Attrs { noreturn: specs.noreturn, ..Attrs::default() };
        for attr in specs.attrs.iter().chain(more.iter().copied().flatten()) {
            self.attr(attr, &mut out);
        }
        for &alignas in &specs.alignas {
            let value = match alignas {
                Alignas::Expr(e) => {
                    let span = self.unit.exprs[e].span;
                    match self.const_int_expr(e) {
                        Some(0) => None,
                        Some(v) => self.valid_align(v, span),
                        None => {
                            self.error(span, "an alignment must be an integer constant");
                            None
                        }
                    }
                }
                Alignas::Type(t) => {
                    let (ty, align) = self.type_name_aligned(t);
                    Some(align.unwrap_or_else(|| self.prog.types.align_of(ty.ty)))
                }
            };
            out.align = out.align.max(value);
        }
        out
    }

    fn valid_align(&mut self, value: u128, span: Span) -> Option<u64> {
        if value.is_power_of_two() && value <= MAX_ALIGN {
            return Some(value as u64);
        }
        self.error(span, "an alignment must be a power of two that is not too large");
        None
    }

    fn attr(&mut self, attr: &Attribute, out: &mut Attrs) {
        match self.name(attr.name) {
            "packed" => out.packed = true,
            name @ ("scalar_storage_order" | "ms_struct") => {
                let text =
                    format!("the attribute `{name}` is not supported: write out the layout it asks for");
                self.error(attr.span, &text);
            }
            // What stands there runs without a call.
            "section" if self.attr_text(attr).is_some_and(|name| runs_by_itself(&name)) => {
                let text = "code of this section runs before or after `main`: use the attributes `constructor` and \
                            `destructor`";
                self.error(attr.span, text);
            }
            name @ ("ifunc" | "weakref") => {
                let text =
                    format!("the attribute `{name}` is not supported: call the function that it stands for");
                self.error(attr.span, &text);
            }
            "noreturn" => out.noreturn = true,
            "transparent_union" => out.transparent_union = true,
            "weak" => out.weak = true,
            "gnu_inline" => out.gnu_inline = true,
            "constructor" => out.constructor = Some(self.start_priority(attr)),
            "destructor" => out.destructor = Some(self.start_priority(attr)),
            "aligned" => {
                let value = match attr.args.first() {
                    // The largest alignment that the target ever needs.
                    None => Some(16),
                    Some(_) => match self.attr_int(attr) {
                        Some(v) => self.valid_align(v, attr.span),
                        None => {
                            self.error(attr.span, "an alignment must be an integer constant");
                            None
                        }
                    },
                };
                out.align = out.align.max(value);
            }
            "mode" => match attr.args.first() {
                Some(AttrArg::Ident(id)) => match self.mode(self.name(id.name)) {
                    Some(mode) => out.mode = Some((mode, attr.span)),
                    None => self.unsupported(attr.span, &format!("mode({})", self.name(id.name))),
                },
                _ => self.error(attr.span, "attribute mode needs the name of a mode"),
            },
            "vector_size" => match self.attr_int(attr) {
                Some(v) if v.is_power_of_two() && v <= 1 << 16 => out.vector = Some((v as u32, attr.span)),
                _ => self.error(attr.span, "the size of a vector must be a power of two"),
            },
            "alias" => out.alias = self.attr_string(attr).map(|s| (s, attr.span)).or(out.alias),
            "cleanup" => {
                if let Some(AttrArg::Ident(id)) = attr.args.first() {
                    out.cleanup = Some((id.name, id.span));
                }
            }
            _ => {}
        }
    }

    /// The priority of a constructor or destructor; one without comes after all that have one.
    fn start_priority(&mut self, attr: &Attribute) -> u32 {
        let given = self.attr_int(attr).and_then(|p| u32::try_from(p).ok());
        given.unwrap_or(crate::tast::LAST_PRIORITY)
    }

    fn attr_int(&mut self, attr: &Attribute) -> Option<u128> {
        match *attr.args.first()? {
            AttrArg::Expr(e) => self.const_int_expr(e),
            AttrArg::Ident(id) => match self.scopes.lookup(id.name)? {
                crate::scope::Binding::EnumConst(_, value) => Some(value),
                _ => None,
            },
            AttrArg::Type(_) => None,
        }
    }

    /// The symbol that a string argument spells, if the program uses it at all.
    fn attr_string(&mut self, attr: &Attribute) -> Option<Symbol> {
        let text = self.attr_text(attr)?;
        self.names.lookup(&text)
    }

    /// A string argument.
    fn attr_text(&self, attr: &Attribute) -> Option<String> {
        use palisade_c_syntax::ast::{ExprKind, StringUnits};
        let AttrArg::Expr(e) = *attr.args.first()? else { return None };
        let ExprKind::Str(s) = self.unit.exprs[e].kind else { return None };
        let StringUnits::Bytes(bytes) = &self.unit.strings[s].units else { return None };
        Some(std::str::from_utf8(bytes).ok()?.to_owned())
    }

    fn mode(&self, name: &str) -> Option<Mode> {
        let word = self.prog.types.dm.ptr_bits();
        let name = name.strip_prefix("__").and_then(|n| n.strip_suffix("__")).unwrap_or(name);
        Some(match name {
            "QI" | "byte" => Mode::Int(8),
            "HI" => Mode::Int(16),
            "SI" => Mode::Int(32),
            "DI" => Mode::Int(64),
            "TI" => Mode::Int(128),
            "word" | "pointer" | "unwind_word" | "libgcc_cmp_return" | "libgcc_shift_count" => {
                Mode::Int(word)
            }
            "SF" => Mode::Float(FloatTy::F32),
            "DF" => Mode::Float(FloatTy::F64),
            "XF" => Mode::Float(FloatTy::F80),
            "TF" => Mode::Form(Form::Soft(SoftFloat::Quad)),
            "HF" => Mode::Form(Form::Soft(SoftFloat::Half)),
            "SC" => Mode::Form(Form::Complex(TypeTable::FLOAT)),
            "DC" => Mode::Form(Form::Complex(TypeTable::DOUBLE)),
            "XC" => Mode::Form(Form::Complex(TypeTable::LONG_DOUBLE)),
            _ => return None,
        })
    }

    /// Applies `mode` and `vector_size` to a type.
    pub(super) fn apply_mode(&mut self, ty: QType, attrs: &Attrs) -> QType {
        let mut ty = ty;
        if let Some((mode, span)) = attrs.mode {
            ty.ty = self.with_mode(ty.ty, mode, span);
        }
        if let Some((bytes, span)) = attrs.vector {
            ty.ty = self.vector_of(ty.ty, bytes, span);
        }
        ty
    }

    fn with_mode(&mut self, ty: CTypeId, mode: Mode, span: Span) -> CTypeId {
        match mode {
            Mode::Int(bits) => {
                if matches!(self.prog.types.get(ty), CType::Ptr(_)) && bits == self.prog.types.dm.ptr_bits() {
                    return ty;
                }
                let Some(int) = self.prog.types.int_ty(ty) else {
                    if ty != TypeTable::ERROR {
                        self.error(span, format!("mode does not fit the type '{}'", self.type_name(ty)));
                    }
                    return TypeTable::ERROR;
                };
                let kind = match (bits, self.prog.types.dm) {
                    (8, _) => IntKind::SChar,
                    (16, _) => IntKind::Short,
                    (32, _) => IntKind::Int,
                    (64, DataModel::Lp64) => IntKind::Long,
                    (64, DataModel::Ilp32) => IntKind::LongLong,
                    (_, DataModel::Lp64) => IntKind::Int128,
                    (_, DataModel::Ilp32) => {
                        self.unsupported(span, "a 128-bit integer in a 32-bit data model");
                        return TypeTable::ERROR;
                    }
                };
                TypeTable::int_id(if int.signed { kind } else { kind.to_unsigned() })
            }
            Mode::Float(float) => self.types().intern(CType::Float(float)),
            Mode::Form(form) => self.types().of_form(form),
        }
    }
}

/// Whether the run-time calls what stands in a section.
fn runs_by_itself(section: &str) -> bool {
    let tables = [".preinit_array", ".init_array", ".fini_array", ".ctors", ".dtors"];
    matches!(section, ".init" | ".fini") || tables.iter().any(|t| section.starts_with(t))
}
