//! Initialisers (C11 6.7.9): braces, elided braces, designators and ranges become a flat list of
//! parts with their values.

use palisade_base::Span;
use palisade_c_syntax::ast::{self, Designator, ExprKind, Init, InitItem as Item};
use palisade_cfa::BitRange;
use rustc_hash::FxHashMap;

use super::Checker;
use crate::tast::*;
use crate::types::*;

/// The most parts that the ranges of one initialiser may set.
const MAX_PARTS: usize = 1 << 20;

/// One initialised part.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub path: Box<[InitStep]>,
    pub offset: u64,
    pub bits: Option<BitRange>,
    /// Declared type of the part.
    pub ty: QType,
    pub value: PartValue,
}

#[derive(Clone, Debug)]
pub(super) enum PartValue {
    /// A value of the part's type.
    Expr(TExprId),
    /// Bytes of a string literal, no more than the part has, with the element type.
    Bytes(Vec<u8>, CTypeId, Span),
}

/// The state of one initialiser.
pub(super) struct InitCx {
    pub parts: Vec<Part>,
    /// Whether the object has static storage; paths are not needed then.
    is_static: bool,
    path: Vec<InitStep>,
    /// The expression that was checked last, so that it is not checked again when it turns out to
    /// belong to a part of the current one.
    checked: Option<(ast::ExprId, TExprId)>,
    /// The end of what was initialised of a flexible array member, from the object's start.
    pub flexible_end: u64,
    /// The object itself, an lvalue.
    root: TExprId,
    too_large: bool,
    /// The member of each union that was initialised last, by the union's type and offset.
    active: FxHashMap<(RecordTyId, u64), usize>,
    /// The start of the first part and the end of the part that reaches farthest.
    start: u64,
    end: u64,
}

/// Where in an object the initialiser is: a part with its type.
#[derive(Clone, Copy)]
struct Target {
    ty: QType,
    offset: u64,
    bits: Option<BitRange>,
}

/// The items of a list and which of them is next.
struct Cursor<'a> {
    items: &'a [Item],
    next: usize,
    span: Span,
}

impl<'a> Cursor<'a> {
    fn new(list: &'a ast::InitList) -> Self {
        Cursor { items: &list.items, next: 0, span: list.span }
    }
    fn item(&self) -> Option<&'a Item> {
        self.items.get(self.next)
    }
    /// The designators of the next item; `None` if there is no item, or if it must be left to an
    /// outer aggregate because it has designators.
    fn designators(&self, braced: bool) -> Option<&'a [Designator]> {
        let designators = &self.item()?.designators;
        (designators.is_empty() || braced).then_some(designators)
    }
}

impl<'a> Checker<'a> {
    /// The initialiser of an automatic object. Completes the object's type if that is an array of
    /// unknown size.
    pub(super) fn auto_init(&mut self, obj: ObjId, init: Init) -> InitId {
        let cx = self.init_object(obj, init, false);
        let ty = self.prog.objects[obj].ty.ty;
        let whole = matches!(&cx.parts[..], [part] if part.path.is_empty() && matches!(part.value, PartValue::Expr(_)));
        let zero = !whole && !self.covers(&cx.parts, ty);
        let mut items = Vec::with_capacity(cx.parts.len());
        for part in cx.parts {
            let value = match part.value {
                PartValue::Expr(e) => InitValue::Expr(e),
                PartValue::Bytes(bytes, elem, span) => {
                    InitValue::String(self.string_object(bytes, elem.into(), span))
                }
            };
            items.push(InitItem {
                path: part.path,
                offset: part.offset,
                bits: part.bits,
                ty: part.ty,
                value,
            });
        }
        self.prog.inits.push(InitPlan { zero, items })
    }

    /// Whether the parts fill an object of this type without gaps.
    fn covers(&self, parts: &[Part], ty: CTypeId) -> bool {
        let mut end = 0;
        for part in parts {
            let size = match &part.value {
                PartValue::Expr(_) => self.prog.types.size_of(part.ty.ty),
                PartValue::Bytes(bytes, ..) => Some(bytes.len() as u64),
            };
            match size {
                Some(size) if part.bits.is_none() && part.offset == end => end += size,
                _ => return false,
            }
        }
        Some(end) == self.prog.types.size_of(ty)
    }

    /// Flattens the initialiser of an object.
    pub(super) fn init_object(&mut self, obj: ObjId, init: Init, is_static: bool) -> InitCx {
        let ty = self.prog.objects[obj].ty;
        let span = match init {
            Init::Expr(e) => self.unit.exprs[e].span,
            Init::List(l) => self.unit.init_lists[l].span,
        };
        let root = self.push(TExprKind::Object(obj), ty, span);
        let mut cx = InitCx {
            parts: Vec::new(),
            is_static,
            path: Vec::new(),
            checked: None,
            flexible_end: 0,
            root,
            too_large: false,
            active: FxHashMap::default(),
            start: u64::MAX,
            end: 0,
        };
        if ty.ty == TypeTable::ERROR {
            self.check_init_exprs(init);
            return cx;
        }
        if !self.prog.types.is_complete(ty.ty)
            && !matches!(self.prog.types.get(ty.ty), CType::Array(_, ArrayLen::Unknown))
        {
            self.error(span, format!("initialiser of incomplete type '{}'", self.type_name(ty)));
            return cx;
        }
        let target = Target { ty, offset: 0, bits: None };
        let count = match init {
            Init::List(list) => self.braced(&mut cx, target, list),
            Init::Expr(e) => self.whole(&mut cx, target, e),
        };
        if let CType::Array(elem, ArrayLen::Unknown) = self.prog.types.get(ty.ty) {
            let complete = self.types().intern(CType::Array(elem, ArrayLen::Known(count)));
            self.prog.objects[obj].ty.ty = complete;
            self.prog.exprs[root].ty.ty = complete;
        }
        cx
    }

    /// Checks the expressions of an initialiser whose object is in error.
    fn check_init_exprs(&mut self, init: Init) {
        if let Init::Expr(e) = init {
            self.rvalue(e);
        }
    }

    fn part(&mut self, cx: &mut InitCx, target: Target, value: PartValue) {
        let size = match &value {
            PartValue::Expr(_) => self.prog.types.size_of(target.ty.ty).unwrap_or(0),
            PartValue::Bytes(bytes, ..) => bytes.len() as u64,
        };
        cx.start = cx.start.min(target.offset);
        cx.end = cx.end.max(target.offset.saturating_add(size));
        let path = if cx.is_static { Box::default() } else { cx.path.clone().into_boxed_slice() };
        cx.parts.push(Part { path, offset: target.offset, bits: target.bits, ty: target.ty, value });
    }

    /// Forgets what was said about a part before: it is initialised anew.
    fn forget(&mut self, cx: &mut InitCx, target: Target) {
        if target.offset < cx.end {
            let size = self.prog.types.size_of(target.ty.ty).unwrap_or(0);
            let range = target.offset..target.offset.saturating_add(size);
            if range.end > cx.start {
                cx.parts.retain(|part| !range.contains(&part.offset));
            }
        }
    }

    /// The type that a value for this part must have: for a bit-field that of its width.
    fn value_type(&mut self, target: Target) -> CTypeId {
        match (target.bits, self.prog.types.int_ty(target.ty.ty)) {
            (Some(bits), Some(int)) if bits.width != int.bits => {
                let narrow = palisade_cfa::IntTy { bits: bits.width, signed: int.signed };
                self.types().intern(CType::BitField(narrow))
            }
            _ => target.ty.ty,
        }
    }

    /// Whether a record is initialised as one number: complex numbers and software numbers, but
    /// not vectors.
    fn is_number(&self, ty: CTypeId) -> bool {
        matches!(self.prog.types.form(ty), Form::Complex(_) | Form::Soft(_))
    }

    /// The value of an item's expression, checked once.
    fn item_value(&mut self, cx: &mut InitCx, expr: ast::ExprId) -> TExprId {
        if let Some((id, e)) = cx.checked
            && id == expr
        {
            return e;
        }
        let e = self.rvalue(expr);
        cx.checked = Some((expr, e));
        e
    }

    fn scalar(&mut self, cx: &mut InitCx, target: Target, expr: ast::ExprId) {
        let e = self.item_value(cx, expr);
        cx.checked = None;
        let ty = self.value_type(target);
        let value = self.assign_convert(e, ty, "initialiser");
        if !self.is_error(value) {
            self.part(cx, target, PartValue::Expr(value));
        }
    }

    /// An initialiser without braces for a whole object; returns the number of elements of an
    /// array.
    fn whole(&mut self, cx: &mut InitCx, target: Target, expr: ast::ExprId) -> u64 {
        let span = self.unit.exprs[expr].span;
        match self.prog.types.get(target.ty.ty) {
            CType::Array(elem, _) => {
                if let Some(count) = self.string_part(cx, target, elem, expr) {
                    return count;
                }
                if let Some(list) = self.literal_list(expr, target.ty.ty) {
                    return self.braced(cx, target, list);
                }
                self.error(span, "an array needs an initialiser in braces");
                0
            }
            CType::Record(_) if !self.is_number(target.ty.ty) => {
                if cx.is_static
                    && let Some(list) = self.literal_list(expr, target.ty.ty)
                {
                    return self.braced(cx, target, list);
                }
                self.scalar(cx, target, expr);
                0
            }
            _ => {
                self.scalar(cx, target, expr);
                0
            }
        }
    }

    /// The braces of a compound literal of (nearly) the given type: GNU allows it as the
    /// initialiser of an array or a static object.
    fn literal_list(&mut self, expr: ast::ExprId, ty: CTypeId) -> Option<ast::InitListId> {
        let ExprKind::CompoundLiteral { ty: name, init } = self.unit.exprs[expr].kind else { return None };
        let literal = self.type_of_name(name).ty;
        self.compatible_unqualified(literal, ty).then_some(init)
    }

    /// Initialises a character array from a string literal, if that is what both are; returns the
    /// number of elements.
    fn string_part(
        &mut self,
        cx: &mut InitCx,
        target: Target,
        elem: QType,
        expr: ast::ExprId,
    ) -> Option<u64> {
        let unit = self.unit;
        let ExprKind::Str(id) = unit.exprs[expr].kind else { return None };
        let elem_bits = self.prog.types.int_ty(elem.ty)?.bits;
        let (mut bytes, literal) = self.string_bytes(&unit.strings[id]);
        let literal_bits = self.prog.types.int_ty(literal)?.bits;
        if elem_bits != literal_bits || matches!(self.prog.types.get(elem.ty), CType::Int(IntKind::Bool)) {
            return None;
        }
        let size = self.prog.types.size_of(elem.ty)?.max(1);
        let count = bytes.len() as u64 / size;
        if let CType::Array(_, ArrayLen::Known(n)) = self.prog.types.get(target.ty.ty)
            && count > n
        {
            if count > n + 1 {
                self.warn(unit.exprs[expr].span, "the string is longer than the array");
            }
            bytes.truncate((n * size) as usize);
        }
        if let CType::Array(_, ArrayLen::Unknown) = self.prog.types.get(target.ty.ty) {
            cx.flexible_end = cx.flexible_end.max(target.offset + bytes.len() as u64);
        }
        if !bytes.is_empty() {
            self.part(cx, target, PartValue::Bytes(bytes, elem.ty, unit.exprs[expr].span));
        }
        Some(count)
    }

    /// `{ … }` for a part; returns the number of elements of an array.
    fn braced(&mut self, cx: &mut InitCx, target: Target, list: ast::InitListId) -> u64 {
        let unit = self.unit;
        let list = &unit.init_lists[list];
        if !self.enter(list.span) {
            return 0;
        }
        let count = self.braced_items(cx, target, list);
        self.leave();
        count
    }

    fn braced_items(&mut self, cx: &mut InitCx, target: Target, list: &'a ast::InitList) -> u64 {
        if target.bits.is_none() {
            self.forget(cx, target);
        }
        match self.prog.types.get(target.ty.ty) {
            CType::Array(elem, _) => {
                if let [Item { designators, value: Init::Expr(e) }] = &list.items[..]
                    && designators.is_empty()
                    && let Some(count) = self.string_part(cx, target, elem, *e)
                {
                    return count;
                }
                self.fill(cx, target, &mut Cursor::new(list), true, None)
            }
            CType::Record(_) if !self.is_number(target.ty.ty) => {
                self.fill(cx, target, &mut Cursor::new(list), true, None)
            }
            CType::Error => 0,
            _ => {
                if let Some(first) = list.items.first() {
                    match first.value {
                        Init::Expr(e) => self.scalar(cx, target, e),
                        Init::List(inner) => {
                            self.braced(cx, target, inner);
                        }
                    }
                }
                if list.items.len() > 1 {
                    self.warn(list.span, "excess elements in the initialiser of a scalar");
                }
                0
            }
        }
    }

    /// Initialises a part from the next item (whose designators are used up), and from the
    /// items after it if the part is an aggregate and has no braces of its own.
    fn elided(&mut self, cx: &mut InitCx, target: Target, cursor: &mut Cursor<'a>) {
        let Some(item) = cursor.item() else { return };
        let expr = match item.value {
            Init::List(list) => {
                cursor.next += 1;
                self.braced(cx, target, list);
                return;
            }
            Init::Expr(e) => e,
        };
        match self.prog.types.get(target.ty.ty) {
            CType::Array(elem, _) => {
                if self.string_part(cx, target, elem, expr).is_some() {
                    cursor.next += 1;
                    return;
                }
                if let Some(list) = self.literal_list(expr, target.ty.ty) {
                    cursor.next += 1;
                    self.braced(cx, target, list);
                    return;
                }
                self.fill(cx, target, cursor, false, Some(&[]));
            }
            CType::Record(_) if !self.is_number(target.ty.ty) => {
                if cx.is_static
                    && let Some(list) = self.literal_list(expr, target.ty.ty)
                {
                    cursor.next += 1;
                    self.braced(cx, target, list);
                    return;
                }
                let e = self.item_value(cx, expr);
                if self.is_error(e) || self.same_record(self.ty(e), target.ty.ty) {
                    cursor.next += 1;
                    self.scalar(cx, target, expr);
                    return;
                }
                self.fill(cx, target, cursor, false, Some(&[]));
            }
            _ => {
                cursor.next += 1;
                self.scalar(cx, target, expr);
            }
        }
    }

    /// Initialises the parts of an aggregate from the next item on. Inside its own
    /// braces it takes all of them, otherwise as many as it has parts, up to the next designator.
    /// `first` replaces the designators of the first item. Returns the number of elements.
    fn fill(
        &mut self,
        cx: &mut InitCx,
        target: Target,
        cursor: &mut Cursor<'a>,
        braced: bool,
        first: Option<&'a [Designator]>,
    ) -> u64 {
        match self.prog.types.get(target.ty.ty) {
            CType::Array(elem, len) => self.fill_array(cx, target, (elem, len), cursor, braced, first),
            _ => {
                self.fill_record(cx, target, cursor, braced, first);
                0
            }
        }
    }

    fn fill_array(
        &mut self,
        cx: &mut InitCx,
        target: Target,
        (elem, len): (QType, ArrayLen),
        cursor: &mut Cursor<'a>,
        braced: bool,
        mut first: Option<&'a [Designator]>,
    ) -> u64 {
        let Some(stride) = self.prog.types.size_of(elem.ty) else {
            self.error(cursor.span, "an array of variable size cannot be initialised");
            cursor.next = cursor.items.len();
            return 0;
        };
        let limit = match len {
            ArrayLen::Known(n) => n,
            _ => u64::MAX,
        };
        let mut next: u64 = 0;
        let mut count: u64 = 0;
        while let Some(designators) = first.take().or_else(|| cursor.designators(braced)) {
            if cursor.item().is_none() || cx.too_large {
                break;
            }
            let (lo, hi, rest) = match designators.split_first() {
                None => {
                    if next >= limit {
                        if !braced {
                            break;
                        }
                        self.excess(cursor);
                        continue;
                    }
                    (next, next, designators)
                }
                Some((Designator::Index(e), rest)) => match self.index_value(*e, limit) {
                    Some(k) => (k, k, rest),
                    None => {
                        cursor.next += 1;
                        continue;
                    }
                },
                Some((Designator::Range(a, b), rest)) => {
                    match (self.index_value(*a, limit), self.index_value(*b, limit)) {
                        (Some(lo), Some(hi)) if lo <= hi => (lo, hi, rest),
                        _ => {
                            self.error(cursor.span, "a bad range in a designator");
                            cursor.next += 1;
                            continue;
                        }
                    }
                }
                Some((Designator::Field(field), _)) => {
                    self.error(field.span, "a member designator for an array");
                    cursor.next += 1;
                    continue;
                }
            };
            let Some(offset) = lo.checked_mul(stride).and_then(|o| o.checked_add(target.offset)) else {
                self.error(cursor.span, "the initialiser is too large");
                break;
            };
            let part = Target { ty: elem, offset, bits: None };
            let mark = cx.parts.len();
            let before = cursor.next;
            cx.path.push(InitStep::Index(lo));
            self.designated(cx, part, cursor, rest);
            cx.path.pop();
            if hi > lo {
                self.repeat(cx, mark, lo, hi, stride);
            }
            if cursor.next == before {
                // An element without parts took nothing.
                self.excess(cursor);
            }
            next = hi.saturating_add(1);
            count = count.max(next);
        }
        if len == ArrayLen::Unknown {
            let end = count.saturating_mul(stride).saturating_add(target.offset);
            cx.flexible_end = cx.flexible_end.max(end);
        }
        if cx.too_large {
            self.error(cursor.span, "the initialiser is too large");
            cursor.next = cursor.items.len();
        }
        count
    }

    fn excess(&mut self, cursor: &mut Cursor<'a>) {
        if let Some(item) = cursor.item() {
            let span = match item.value {
                Init::Expr(e) => self.unit.exprs[e].span,
                Init::List(l) => self.unit.init_lists[l].span,
            };
            self.warn(span, "excess element in initialiser");
        }
        cursor.next += 1;
    }

    fn index_value(&mut self, expr: ast::ExprId, limit: u64) -> Option<u64> {
        let span = self.unit.exprs[expr].span;
        let value = self.const_signed_expr(expr);
        match value {
            None => self.error(span, "an index in a designator must be an integer constant"),
            Some(v) if v < 0 || v >= i128::from(limit.min(u64::MAX / 2)) => {
                self.error(span, "an index in a designator is outside the array");
            }
            Some(v) => return Some(v as u64),
        }
        None
    }

    /// Follows the rest of a designation from a part.
    fn designated(
        &mut self,
        cx: &mut InitCx,
        target: Target,
        cursor: &mut Cursor<'a>,
        rest: &'a [Designator],
    ) {
        if rest.is_empty() {
            self.elided(cx, target, cursor);
        } else if matches!(self.prog.types.get(target.ty.ty), CType::Array(..) | CType::Record(_))
            && !self.is_number(target.ty.ty)
        {
            self.fill(cx, target, cursor, false, Some(rest));
        } else {
            self.error(cursor.span, "a designator for what has no parts");
            cursor.next += 1;
        }
    }

    /// Repeats the parts from `mark` on for the elements after the first of a range.
    fn repeat(&mut self, cx: &mut InitCx, mark: usize, lo: u64, hi: u64, stride: u64) {
        let made = cx.parts.len() - mark;
        let wanted = usize::try_from(hi - lo).unwrap_or(usize::MAX).checked_mul(made);
        if wanted.is_none_or(|w| w > MAX_PARTS - cx.parts.len().min(MAX_PARTS)) {
            cx.too_large = true;
            return;
        }
        let depth = cx.path.len();
        let mut template: Vec<Part> = cx.parts[mark..].to_vec();
        if !cx.is_static {
            for part in &mut template {
                if let PartValue::Expr(e) = part.value
                    && self.const_eval(e).is_none()
                {
                    // The expression is evaluated once; the other elements copy the first.
                    let first = self.part_place(cx.root, &part.path);
                    part.value = PartValue::Expr(self.value_of(first));
                }
            }
        }
        for k in lo + 1..=hi {
            for part in &template {
                let mut part = part.clone();
                part.offset += (k - lo) * stride;
                if let Some(step) = part.path.get_mut(depth) {
                    *step = InitStep::Index(k);
                }
                cx.parts.push(part);
            }
        }
    }

    /// The lvalue of a part of an object.
    fn part_place(&mut self, root: TExprId, path: &[InitStep]) -> TExprId {
        let span = self.span(root);
        let mut e = root;
        for step in path {
            e = match *step {
                InitStep::Field(field) => self.member_path(e, &[field], span),
                InitStep::Index(k) => {
                    let CType::Array(elem, _) = self.prog.types.get(self.ty(e)) else { return e };
                    let size_t = self.prog.types.size_t();
                    let index = self.int_const(k.into(), size_t, span);
                    self.push(TExprKind::Index { base: e, index }, elem, span)
                }
            };
        }
        e
    }

    fn fill_record(
        &mut self,
        cx: &mut InitCx,
        target: Target,
        cursor: &mut Cursor<'a>,
        braced: bool,
        mut first: Option<&'a [Designator]>,
    ) {
        let ty = target.ty.ty;
        let (count, union) = match self.prog.types.record_of(ty) {
            Some(record) => (record.fields.len(), record.union),
            None => return,
        };
        let mut next = 0;
        while let Some(designators) = first.take().or_else(|| cursor.designators(braced)) {
            if cursor.item().is_none() || cx.too_large {
                break;
            }
            let (field, rest) = match designators.split_first() {
                None => {
                    if next >= count {
                        if !braced {
                            break;
                        }
                        self.excess(cursor);
                        continue;
                    }
                    (next, designators)
                }
                Some((Designator::Field(name), rest)) => match self.find_field(ty, name.name).as_deref() {
                    // Inside an anonymous member the same designator goes on.
                    Some([field, _, ..]) => (*field as usize, designators),
                    Some([field]) => (*field as usize, rest),
                    _ => {
                        let (ty, name_text) = (self.type_name(ty), self.name(name.name));
                        self.error(name.span, format!("'{ty}' has no member '{name_text}'"));
                        cursor.next += 1;
                        continue;
                    }
                },
                Some(_) => {
                    self.error(cursor.span, "an array designator for a struct or union");
                    cursor.next += 1;
                    continue;
                }
            };
            let Some(f) = self.prog.types.record_of(ty).and_then(|r| r.fields.get(field)) else { break };
            let part = Target { ty: f.ty, offset: target.offset + f.offset, bits: f.bits };
            if union
                && let CType::Record(id) = self.prog.types.get(ty)
                && cx.active.insert((id, target.offset), field).is_some_and(|old| old != field)
            {
                self.forget(cx, target);
            }
            cx.path.push(InitStep::Field(field as u32));
            self.designated(cx, part, cursor, rest);
            cx.path.pop();
            next = if union { count } else { field + 1 };
        }
    }
}
