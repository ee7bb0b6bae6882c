//! What went wrong, in a sentence: one description of a violation, made from the state in which it happens.

use crate::objects::{Known, Names, What, bytes, named, number};
use palisade_base::Span;
use palisade_cfa::*;
use palisade_interp::{ObjectId, State, Trap, Value};

/// A violation in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// What happened.
    pub text: String,
    /// Other places that belong to it, each with what happened there.
    pub notes: Vec<(Span, &'static str)>,
    /// The object that nothing points to any more, if that is the violation.
    pub lost: Option<ObjectId>,
}

/// Characters of an expression that are quoted at most.
const QUOTED: usize = 60;
/// Operations that are looked at to find out what a check is about.
const AHEAD: usize = 12;
/// Variables of a failed assertion whose values are told.
const OPERANDS: usize = 6;
/// Addresses below this are null pointers with something added.
const NULL: u128 = 4096;

/// Describes a check that fails.
pub fn violation(names: Names<'_>, edge: EdgeId, state: &State<'_>) -> Violation {
    let Op::Check { kind, cond } = names.program.edges[edge].op else {
        return plain("something undefined happens".into());
    };
    Describe { names, edge, state }.check(kind, cond)
}

/// Describes how an operation that no check guards ends a run.
pub fn trap(names: Names<'_>, trap: Trap, edge: EdgeId, state: &State<'_>) -> Violation {
    let described = match trap {
        Trap::Access(_) => Describe { names, edge, state }.bad_access(),
        _ => None,
    };
    described.unwrap_or_else(|| plain(trap.to_string()))
}

fn plain(text: String) -> Violation {
    Violation { text, notes: Vec::new(), lost: None }
}

struct Describe<'a> {
    names: Names<'a>,
    edge: EdgeId,
    state: &'a State<'a>,
}

impl Describe<'_> {
    fn check(&self, kind: CheckKind, cond: ExprId) -> Violation {
        let quoted = self.quoted();
        let it = quoted.clone().unwrap_or_else(|| "the expression".into());
        match kind {
            CheckKind::Assertion => plain(self.assertion(cond)),
            CheckKind::ForbiddenCall => plain(format!("`{}` is called", self.function())),
            CheckKind::Unreachable => plain("`__builtin_unreachable` is reached".into()),
            CheckKind::SignedOverflow | CheckKind::ShiftOverflow => plain(self.overflow(cond, &it)),
            CheckKind::ShiftRange => plain(match self.compared(cond) {
                Some((value, _)) => format!("{it} shifts by {}, outside of its type", decimal(value)),
                None => format!("{it} shifts by a negative amount, or by the width of its type or more"),
            }),
            CheckKind::Overlap => plain(format!("source and target overlap in {it}")),
            CheckKind::DivByZero => plain(format!("division by zero in {it}")),
            CheckKind::Deref | CheckKind::Bounds => self.access_check(cond),
            CheckKind::Free => self.free(cond),
            CheckKind::MemTrack => self.heap("lost: nothing points to it any more", self.state.lost(), true),
            CheckKind::MemCleanup => {
                self.heap("still allocated when the program ends", self.state.live_heap(), false)
            }
            CheckKind::ReadOnly => self.read_only(cond),
            CheckKind::FloatToInt => plain(match self.compared(cond) {
                Some((value, _)) => {
                    format!(
                        "{} does not fit the integer type it is converted to",
                        number(value.ty, value.bits)
                    )
                }
                None => format!("{it} does not fit the integer type it is converted to"),
            }),
            CheckKind::ArrayLength => plain(match self.compared(cond) {
                Some((value, _)) => format!("an array has a size of {} bytes", decimal(value)),
                None => "the length of an array is not positive".into(),
            }),
            CheckKind::CallType => {
                plain(format!("{it} calls what is not a function of the type it is called by"))
            }
            CheckKind::Observer => plain("an observer automaton is in an error state".into()),
        }
    }

    fn function(&self) -> &str {
        &self.names.program.funcs[self.state.function().0].name
    }

    /// The expression that is evaluated, as the compiler read it, if it is short enough to be read.
    fn quoted(&self) -> Option<String> {
        let source = self.source()?;
        let text = without_parentheses(&source);
        (text.chars().count() <= QUOTED && !text.is_empty()).then(|| format!("`{text}`"))
    }

    /// The text of the operation in one line; `None` for the library's.
    fn source(&self) -> Option<String> {
        let span = self.names.program.edges[self.edge].span;
        let text = self.names.places.contains(span).then(|| self.names.places.written(span))?;
        let lines = text.lines().filter(|l| !l.starts_with('#'));
        Some(lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" "))
    }

    fn assertion(&self, cond: ExprId) -> String {
        let p = self.names.program;
        let source = self.source().unwrap_or_default();
        // The macro of the C library passes its text on.
        let stated = source.strip_prefix("__assert_fail").and_then(first_string);
        let stated = stated.or_else(|| (source.chars().count() <= QUOTED).then_some(source));
        let mut text = match stated {
            Some(stated) if !stated.is_empty() => format!("assertion `{stated}` fails"),
            _ => "an assertion fails".into(),
        };
        // The condition is in the check, or in the branch that leads to it.
        let mut conds = vec![cond];
        if let [before] = p.locs[p.edges[self.edge].src].inc[..]
            && let Op::Assume { cond } = p.edges[before].op
        {
            conds.push(cond);
        }
        let mut vars: Vec<VarId> = Vec::new();
        for cond in conds {
            p.visit_op(&Op::Assume { cond }, &mut |used| {
                if let Use::Read(x) = used
                    && let Base::Var(var) = p.places[x].base
                    && p.places[x].path.is_empty()
                    && !vars.contains(&var)
                {
                    vars.push(var);
                }
            });
        }
        vars.sort_by_key(|v| p.vars[*v].span.lo);
        let value = |&var: &VarId| {
            let value = self.state.var(var)?;
            Some(format!(
                "{} is {}",
                named(p, var)?,
                self.names.value(Some(p.vars[var].ty), value, self.state)
            ))
        };
        let values: Vec<String> = vars.iter().filter_map(value).take(OPERANDS).collect();
        if !values.is_empty() {
            text.push_str(&format!(": {}", values.join(", ")));
        }
        text
    }

    fn overflow(&self, cond: ExprId, it: &str) -> String {
        let outside = |ty: IntTy, result: Option<i128>| {
            let ty_name = self.type_name(ty);
            match result {
                Some(r) if r > ty.decode(ty.max_bits()) => format!("is {r}, more than `{ty_name}` holds"),
                Some(r) => format!("is {r}, less than `{ty_name}` holds"),
                None => format!("does not fit `{ty_name}`"),
            }
        };
        let found = self.find(cond, &|kind| matches!(kind, ExprKind::Overflow(..)));
        if let Some(ExprKind::Overflow(op, a, b)) = found.map(|e| self.names.program.exprs[e].kind.clone())
            && let (Ok(a), Ok(b)) = (self.state.eval(a), self.state.eval(b))
            && let (Some(ty), Some(x), Some(y)) = (a.ty.int(), a.as_int(), b.as_int())
        {
            let result = match op {
                BinOp::Add => x.checked_add(y),
                BinOp::Sub => x.checked_sub(y),
                BinOp::Mul => x.checked_mul(y),
                BinOp::Div => x.checked_div(y),
                BinOp::Shl => u32::try_from(y).ok().filter(|y| *y < 63).and_then(|y| x.checked_mul(1 << y)),
                _ => None,
            };
            let sign = match op {
                BinOp::Add => "+",
                BinOp::Sub => "-",
                BinOp::Mul => "*",
                BinOp::Div => "/",
                BinOp::Shl => "<<",
                _ => "%",
            };
            return format!("{it} {}: {x} {sign} {}", outside(ty, result), operand(y));
        }
        match self.compared(cond).and_then(|(value, _)| value.as_int()) {
            Some(negative) => format!("{it} shifts {negative}, a negative number, to the left"),
            None => format!("{it} does not fit its type"),
        }
    }

    fn type_name(&self, ty: IntTy) -> String {
        let long = ty.bits == 64 && self.names.program.data_model == DataModel::Lp64;
        match (long, ty.c_name()) {
            (true, _) => "long".into(),
            (false, Some(name)) => name.into(),
            (false, None) => format!("a bit-field of {} bits", ty.bits),
        }
    }

    /// The first sub-expression of a kind.
    fn find(&self, expr: ExprId, wanted: &dyn Fn(&ExprKind) -> bool) -> Option<ExprId> {
        let exprs = &self.names.program.exprs;
        let mut work = vec![expr];
        while let Some(e) = work.pop() {
            if wanted(&exprs[e].kind) {
                return Some(e);
            }
            let at = work.len();
            exprs[e].operands(|e| work.push(e), |_| ());
            work[at..].reverse();
        }
        None
    }

    /// What a comparison that fails is about: the value of the operand that is not constant, and the operand.
    fn compared(&self, cond: ExprId) -> Option<(Value, ExprId)> {
        let p = self.names.program;
        let cmp = self.find(cond, &|kind| matches!(kind, ExprKind::Cmp(..)))?;
        let ExprKind::Cmp(_, a, b) = p.exprs[cmp].kind else { return None };
        let constant = |e: ExprId| matches!(p.exprs[e].kind, ExprKind::Int(_) | ExprKind::Float(_));
        let e = if constant(a) { b } else { a };
        Some((self.state.eval(e).ok()?, e))
    }

    /// The operations that the check stands before, as far as they follow one after the other.
    fn ahead(&self) -> impl Iterator<Item = &Op> {
        let p = self.names.program;
        let mut at = p.edges[self.edge].dst;
        let next = move || {
            let &edge = p.locs[at].out.first()?;
            at = p.edges[edge].dst;
            Some(&p.edges[edge].op)
        };
        std::iter::from_fn(next).take(AHEAD)
    }

    /// Whether what a check guards is read or written: told by the first operation that is no check.
    fn verb(&self, guarded: &dyn Fn(&Place) -> bool) -> &'static str {
        let p = self.names.program;
        let Some(op) = self.ahead().find(|op| !matches!(op, Op::Check { .. } | Op::Skip)) else {
            return "access";
        };
        let (mut read, mut written) = (false, false);
        p.visit_op(op, &mut |used| match used {
            Use::Read(x) => read |= guarded(&p.places[x]),
            Use::Write(x) => written |= guarded(&p.places[x]),
            _ => {}
        });
        match (read, written) {
            (true, false) => "read",
            (false, true) => "write",
            _ => "access",
        }
    }

    fn access_check(&self, cond: ExprId) -> Violation {
        let p = self.names.program;
        if let Some(valid) = self.find(cond, &|kind| matches!(kind, ExprKind::Valid { .. }))
            && let ExprKind::Valid { ptr, size } = p.exprs[valid].kind
            && let (Ok(pointer), Ok(size)) = (self.state.eval(ptr), self.state.eval(size))
        {
            let place = match p.exprs[ptr].kind {
                ExprKind::Addr(place) => Some(&p.places[place]),
                _ => None,
            };
            let same = |x: &Place| match place {
                Some(place) => x.base == place.base && x.path == place.path,
                None => x.base == Base::Deref(ptr) && x.path.is_empty(),
            };
            return self.access(self.verb(&same), pointer, size.bits as u64);
        }
        let it = self.by();
        let Some((value, index)) = self.compared(cond) else {
            return plain(format!("access outside of an object{it}"));
        };
        let indexed =
            |x: &Place| x.path.iter().any(|s| matches!(s, Proj::Index { index: i, .. } if *i == index));
        let verb = self.verb(&indexed);
        let mut array = None;
        for op in self.ahead() {
            p.visit_op(op, &mut |used| {
                if let Use::Read(x) | Use::Write(x) | Use::Address(x) = used
                    && array.is_none()
                    && indexed(&p.places[x])
                {
                    array = self.array(&p.places[x], index);
                }
            });
        }
        let array = array.unwrap_or_else(|| "the array".into());
        plain(format!("{verb} at index {}, outside of {array}{it}", decimal(value)))
    }

    /// The array that an index is applied to, with its length.
    fn array(&self, place: &Place, index: ExprId) -> Option<String> {
        let p = self.names.program;
        let Base::Var(var) = place.base else { return None };
        let mut ty = p.vars[var].ty;
        let mut name = named(p, var)?;
        for step in &place.path {
            match *step {
                Proj::Field { record, field } => {
                    let field = p.field(record, field);
                    name = format!("{name}.{}", field.name);
                    ty = field.ty;
                }
                Proj::Index { index: i, .. } => {
                    let Type::Array(elem, len) = p.types[ty] else { return None };
                    if i == index {
                        let len = len.map_or_else(String::new, |n| format!(" ({n} elements)"));
                        return Some(format!("`{name}`{len}"));
                    }
                    name.push_str("[..]");
                    ty = elem;
                }
            }
        }
        None
    }

    fn by(&self) -> String {
        self.quoted().map_or_else(String::new, |text| format!(": {text}"))
    }

    /// An access that is not inside of a live object.
    fn access(&self, verb: &str, pointer: Value, size: u64) -> Violation {
        let by = self.by();
        let what = format!("{verb} of {}", bytes(size));
        if pointer.object().is_none() && pointer.bits < NULL {
            let further = match pointer.bits {
                0 => String::new(),
                n => format!(", {n} bytes behind it"),
            };
            return plain(format!("{what} through a null pointer{further}{by}"));
        }
        if self.state.function_at(pointer).is_some() {
            return plain(format!("{what} of a function{by}"));
        }
        let Some(known) = self.names.objects.of(pointer) else {
            return plain(format!("{what} through a pointer to no object{by}"));
        };
        let object = self.names.object(known);
        if self.state.extent(known.id).is_none() {
            return self.with_notes(format!("{what} of {object}, {}{by}", self.death(known)), known);
        }
        let (offset, whole) = (self.names.offset(known, pointer), i128::from(known.extent.size));
        let place = if offset < 0 {
            format!("{} before the start of {object}", -offset)
        } else if offset == whole {
            format!("right behind the end of {object}")
        } else if offset > whole {
            format!("{} past the end of {object}", offset - whole)
        } else {
            let over = offset + i128::from(size) - whole;
            format!("of which {over} past the end of {object}")
        };
        self.with_notes(format!("{what}, {place}{by}"), known)
    }

    /// How the life of an object has ended.
    fn death(&self, known: &Known) -> String {
        let p = self.names.program;
        match (known.what, self.names.line(known.freed)) {
            (_, Some(at)) => format!("freed at {at}"),
            (What::Variable(var), None) => match p.vars[var].kind {
                VarKind::Param(f) | VarKind::Local(f) if named(p, var).is_some() => {
                    format!("a variable of `{}` whose life has ended", p.funcs[f].name)
                }
                _ => "whose life has ended".into(),
            },
            (_, None) => "whose life has ended".into(),
        }
    }

    fn with_notes(&self, text: String, known: &Known) -> Violation {
        let made = known.made.map(|at| (at, "allocated here"));
        let freed = known.freed.map(|at| (at, "freed here"));
        Violation { text, notes: made.into_iter().chain(freed).collect(), lost: None }
    }

    fn free(&self, cond: ExprId) -> Violation {
        let p = self.names.program;
        let found = self.find(cond, &|kind| matches!(kind, ExprKind::Freeable(_)));
        let by = self.by();
        let Some(ExprKind::Freeable(ptr)) = found.map(|e| p.exprs[e].kind.clone()) else {
            return plain(format!("free of what was not allocated{by}"));
        };
        let Ok(pointer) = self.state.eval(ptr) else { return plain(format!("free of a bad pointer{by}")) };
        let Some(known) = self.names.objects.of(pointer) else {
            return plain(format!("free of a pointer to no object{by}"));
        };
        let object = self.names.object(known);
        let text = match (known.what, self.state.extent(known.id)) {
            (What::Heap(_), None) => format!("free of {object}, already {}", self.death(known)),
            (What::Heap(_), Some(_)) => {
                format!("free of a pointer to byte {} of {object}", self.names.offset(known, pointer))
            }
            _ => format!("free of {object}, which is not on the heap"),
        };
        self.with_notes(text + &by, known)
    }

    fn heap(&self, how: &str, objects: Vec<ObjectId>, lost: bool) -> Violation {
        let Some((&id, known)) = objects.iter().find_map(|id| Some((id, self.names.objects.get(*id)?)))
        else {
            return plain(format!("leak: a heap object is {how}"));
        };
        let mut text = format!("leak: {} is {how}", self.names.object(known));
        match objects.len() {
            1 => {}
            2 => text.push_str(", and one more object"),
            n => text.push_str(&format!(", and {} more objects", n - 1)),
        }
        Violation { lost: lost.then_some(id), ..self.with_notes(text, known) }
    }

    fn read_only(&self, cond: ExprId) -> Violation {
        let p = self.names.program;
        let found = self.find(cond, &|kind| matches!(kind, ExprKind::ReadOnly(_)));
        let by = self.by();
        if let Some(ExprKind::ReadOnly(ptr)) = found.map(|e| p.exprs[e].kind.clone())
            && let Ok(pointer) = self.state.eval(ptr)
            && let Some(known) = self.names.objects.of(pointer)
        {
            return plain(format!("write to {}, which cannot be changed{by}", self.names.object(known)));
        }
        plain(format!("write to an object that cannot be changed{by}"))
    }

    /// The first access of the operation that is bad.
    fn bad_access(&self) -> Option<Violation> {
        let p = self.names.program;
        let mut accesses: Vec<(&'static str, Value, u64)> = Vec::new();
        p.visit_op(&p.edges[self.edge].op, &mut |used| {
            let (verb, place) = match used {
                Use::Read(place) => ("read", place),
                Use::Write(place) => ("write", place),
                _ => return,
            };
            let size = match p.places[place].bits {
                Some(bits) => Some(u64::from(bits.first + bits.width).div_ceil(8)),
                None => p.size_of(p.places[place].ty),
            };
            if let (Ok(pointer), Some(size)) = (self.state.address(place), size) {
                accesses.push((verb, pointer, size));
            }
        });
        let bad = accesses.into_iter().find(|(_, pointer, size)| {
            let object =
                pointer.object().and_then(|id| Some((self.names.objects.get(id)?, self.state.extent(id)?)));
            object.is_none_or(|(known, extent)| {
                let offset = self.names.offset(known, *pointer);
                offset < 0 || offset + i128::from(*size) > i128::from(extent.size)
            })
        });
        bad.map(|(verb, pointer, size)| self.access(verb, pointer, size))
    }
}

fn decimal(value: Value) -> String {
    crate::run::value_text(value.ty, value.bits)
}

/// A right operand as one would write it.
fn operand(n: i128) -> String {
    if n < 0 { format!("({n})") } else { n.to_string() }
}

/// An expression without parentheses around the whole of it.
fn without_parentheses(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    let closed = inner.chars().any(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    });
    if closed { text } else { inner }
}

/// The first string literal of a text, without its quotes.
fn first_string(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"')?;
    let mut string = String::new();
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return Some(string),
            '\\' => string.extend(chars.next()),
            c => string.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parentheses_around_the_whole() {
        assert_eq!(without_parentheses("(a + b)"), "a + b");
        assert_eq!(without_parentheses("(a) + (b)"), "(a) + (b)");
        assert_eq!(without_parentheses("f(a)"), "f(a)");
    }

    #[test]
    fn the_text_of_an_assertion() {
        assert_eq!(first_string("(\"s[0] == \\\"a\\\"\", \"f.c\", 3)").as_deref(), Some("s[0] == \"a\""));
        assert_eq!(first_string("(x)"), None);
        assert_eq!(first_string("(\"x"), None);
    }
}
