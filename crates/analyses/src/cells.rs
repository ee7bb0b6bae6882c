//! The scalars inside the variables of a program, numbered.
//!
//! A variable is split into cells by its type: itself if it is a scalar, the scalars in its
//! members and elements otherwise. Globals come first, then the variables of each function
//! together, so that "all variables of this function" is a range of numbers.

use palisade_base::IdxVec;
use palisade_cfa::*;
use std::ops::Range;

/// One scalar of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CellInfo {
    /// The variable.
    pub var: VarId,
    /// First bit in the variable.
    pub bit: u32,
    /// Width in bits, of the storage or of the bit-field.
    pub width: u32,
    /// Type of the value.
    pub scalar: Scalar,
}

/// Where a place lies, see [`Cells::locate`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Located {
    /// It is this cell.
    Cell(u32),
    /// It is some part of these cells.
    Among(Range<u32>),
    /// It is wherever a pointer may point.
    Anywhere,
}

/// The cells of a program.
#[derive(Debug)]
pub struct Cells {
    cells: Vec<CellInfo>,
    vars: IdxVec<VarId, Range<u32>>,
    funcs: IdxVec<FuncId, Range<u32>>,
    /// The first number after all cells; results of functions are kept from there on.
    results: u32,
}

/// Variables with more scalars than this are not split: nothing is known about them.
const MAX_CELLS: usize = 1024;

impl Cells {
    /// Splits the variables for which `tracked` holds.
    pub fn new(program: &Program, tracked: impl Fn(VarId) -> bool) -> Cells {
        let mut this = Cells {
            cells: Vec::new(),
            vars: IdxVec::filled(0..0, program.vars.len()),
            funcs: IdxVec::filled(0..0, program.funcs.len()),
            results: 0,
        };
        let global = |v: &VarId| program.vars[*v].kind == VarKind::Global;
        for var in program.vars.ids().filter(global) {
            this.add(program, var, &tracked);
        }
        for (f, func) in program.funcs.iter_enumerated() {
            let start = this.cells.len() as u32;
            for &var in func.body.iter().flat_map(|b| b.params.iter().chain(&b.locals)) {
                this.add(program, var, &tracked);
            }
            this.funcs[f] = start..this.cells.len() as u32;
        }
        this.results = this.cells.len() as u32;
        this
    }

    fn add(&mut self, program: &Program, var: VarId, tracked: &impl Fn(VarId) -> bool) {
        if !tracked(var) {
            return;
        }
        let start = self.cells.len();
        if !self.split(program, var) {
            self.cells.truncate(start);
        }
        self.cells[start..].sort_by_key(|c| c.bit);
        self.vars[var] = start as u32..self.cells.len() as u32;
    }

    /// Appends the cells of a variable; `false` if there are too many.
    fn split(&mut self, program: &Program, var: VarId) -> bool {
        let start = self.cells.len();
        let mut work: Vec<(TypeId, u64)> = vec![(program.vars[var].ty, 0)];
        while let Some((ty, byte)) = work.pop() {
            if self.cells.len() - start + work.len() > MAX_CELLS {
                return false;
            }
            let (Ok(bit), Some(size)) = (u32::try_from(byte.saturating_mul(8)), program.size_of(ty)) else {
                return false;
            };
            if let Some(scalar) = program.scalar_of(ty) {
                self.cells.push(CellInfo { var, bit, width: size as u32 * 8, scalar });
                continue;
            }
            match &program.types[ty] {
                Type::Array(elem, Some(len)) => {
                    let Some(stride) = program.size_of(*elem) else { return false };
                    if *len > MAX_CELLS as u64 {
                        return false;
                    }
                    work.extend((0..*len).map(|i| (*elem, byte + i * stride)));
                }
                // Members of a union lie over each other: nothing is known about them.
                Type::Record(r) if !r.union => {
                    for field in &r.fields {
                        let Some(bits) = field.bits else {
                            work.push((field.ty, byte + field.offset));
                            continue;
                        };
                        let Some(Scalar::Int(t)) = program.scalar_of(field.ty) else { return false };
                        self.cells.push(CellInfo {
                            var,
                            bit: ((byte + field.offset) * 8) as u32 + u32::from(bits.first),
                            width: u32::from(bits.width),
                            scalar: Scalar::Int(IntTy { bits: bits.width, signed: t.signed }),
                        });
                    }
                }
                _ => {}
            }
        }
        true
    }

    /// The number of cells and results.
    pub fn len(&self, program: &Program) -> usize {
        self.results as usize + program.funcs.len()
    }
    /// The cell with a number; `None` for results.
    pub fn info(&self, slot: u32) -> Option<&CellInfo> {
        self.cells.get(slot as usize)
    }
    /// The cells of a variable.
    pub fn of_var(&self, var: VarId) -> Range<u32> {
        self.vars[var].clone()
    }
    /// The cells of a function's variables.
    pub fn of_func(&self, func: FuncId) -> Range<u32> {
        self.funcs[func].clone()
    }
    /// Where the result of a function is kept between its return and its caller.
    pub fn result(&self, func: FuncId) -> u32 {
        self.results + func.0
    }
    /// The function whose result has this number.
    pub fn result_of(&self, slot: u32) -> Option<FuncId> {
        slot.checked_sub(self.results).map(FuncId)
    }
    /// The cells that share a bit with the range.
    pub fn overlapping(&self, var: VarId, bit: i64, width: i64) -> Range<u32> {
        let range = self.of_var(var);
        let cells = &self.cells[range.start as usize..range.end as usize];
        // Cells do not overlap each other, so starts and ends are both ascending.
        let lo = cells.partition_point(|c| i64::from(c.bit + c.width) <= bit);
        let hi = cells.partition_point(|c| i64::from(c.bit) < bit.saturating_add(width));
        range.start + lo as u32..range.start + hi.max(lo) as u32
    }
    /// The cell that is exactly this range.
    pub fn exact(&self, var: VarId, bit: i64, width: u32) -> Option<u32> {
        let range = self.overlapping(var, bit, i64::from(width));
        let cell = self.info(range.start)?;
        (range.len() == 1 && i64::from(cell.bit) == bit && cell.width == width).then_some(range.start)
    }
    /// The only cell of a scalar variable.
    pub fn scalar(&self, var: VarId) -> Option<u32> {
        let range = &self.vars[var];
        (range.len() == 1).then_some(range.start)
    }

    /// The type of a cell or result; `None` for results that are no scalars.
    pub fn scalar_type(&self, program: &Program, slot: u32) -> Option<Scalar> {
        if let Some(cell) = self.info(slot) {
            return Some(cell.scalar);
        }
        match &program.types[program.funcs.get(self.result_of(slot)?)?.ty] {
            Type::Func(signature) => program.scalar_of(signature.ret),
            _ => None,
        }
    }

    /// Where a place lies, as far as constants tell.
    pub fn locate(&self, program: &Program, id: PlaceId) -> Located {
        let place = &program.places[id];
        let Base::Var(var) = place.base else { return Located::Anywhere };
        let mut byte = 0i128;
        for proj in &place.path {
            byte += match *proj {
                Proj::Field { record, field } => i128::from(program.field(record, field).offset),
                Proj::Index { index, stride } => {
                    match (&program.exprs[index].kind, program.exprs[index].ty) {
                        (ExprKind::Int(i), Scalar::Int(t)) => {
                            match t.decode(*i).checked_mul(i128::from(stride)) {
                                Some(step) => step,
                                None => return Located::Among(self.of_var(var)),
                            }
                        }
                        _ => return Located::Among(self.of_var(var)),
                    }
                }
            };
        }
        let Ok(bit) = i64::try_from(byte * 8) else { return Located::Among(self.of_var(var)) };
        let (bit, width) = match place.bits {
            Some(b) => (bit.saturating_add(i64::from(b.first)), i64::from(b.width)),
            None => (bit, program.size_of(place.ty).map_or(i64::MAX, |s| s as i64 * 8)),
        };
        let exact = u32::try_from(width).ok().and_then(|w| self.exact(var, bit, w));
        match exact {
            // A cell that is read as another type is not that cell's value.
            Some(slot) if program.place_scalar(id) == self.info(slot).map(|c| c.scalar) => {
                Located::Cell(slot)
            }
            _ => Located::Among(self.overlapping(var, bit, width)),
        }
    }

    /// A place in a variable with one index that is no constant: the variable, the bytes of all other steps, the
    /// index and the bytes of an element.
    pub fn indexed(&self, program: &Program, id: PlaceId) -> Option<(VarId, i128, ExprId, i128)> {
        let place = &program.places[id];
        let Base::Var(var) = place.base else { return None };
        let (mut fixed, mut variable) = (0i128, None);
        for proj in &place.path {
            match *proj {
                Proj::Field { record, field } => fixed += i128::from(program.field(record, field).offset),
                Proj::Index { index, stride } => match program.exprs[index] {
                    Expr { kind: ExprKind::Int(bits), ty: Scalar::Int(t) } => {
                        fixed = fixed.checked_add(t.decode(bits).checked_mul(stride.into())?)?;
                    }
                    _ if variable.is_none() => variable = Some((index, i128::from(stride))),
                    _ => return None,
                },
            }
        }
        let (index, stride) = variable?;
        Some((var, fixed, index, stride))
    }

    /// The cell as one would write it in C.
    pub fn name(&self, program: &Program, slot: u32) -> String {
        let Some(cell) = self.info(slot) else {
            return self
                .result_of(slot)
                .and_then(|f| program.funcs.get(f))
                .map_or("?".into(), |f| format!("return of {}", f.name));
        };
        let mut text = program.vars[cell.var].name.to_string();
        let (mut ty, mut byte) = (program.vars[cell.var].ty, u64::from(cell.bit / 8));
        loop {
            match &program.types[ty] {
                Type::Array(elem, _) => {
                    let stride = program.size_of(*elem).unwrap_or(1).max(1);
                    text += &format!("[{}]", byte / stride);
                    byte %= stride;
                    ty = *elem;
                }
                Type::Record(r) => {
                    let inside = |f: &&Field| match f.bits {
                        Some(b) => f.offset * 8 + u64::from(b.first) == byte * 8 + u64::from(cell.bit % 8),
                        None => f.offset <= byte && byte < f.offset + program.size_of(f.ty).unwrap_or(0),
                    };
                    let Some(field) = r.fields.iter().find(inside) else { return text };
                    text += &format!(".{}", field.name);
                    byte = byte.saturating_sub(field.offset);
                    ty = field.ty;
                }
                _ => return text,
            }
        }
    }
}
