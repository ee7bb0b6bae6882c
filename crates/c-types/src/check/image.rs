//! Initial images of objects with static storage.

use palisade_base::Span;
use palisade_c_syntax::ast::Init;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Checker;
use super::init::{Part, PartValue};
use super::konst::{AddrBase, Const};
use crate::tast::*;
use crate::types::*;

/// A constant at its place.
struct Entry {
    offset: u64,
    size: u64,
    value: ConstValue,
    /// How many parts came before it.
    order: usize,
}

/// Bits of a bit-field at their place.
struct BitEntry {
    /// Position in bits from the object's start.
    position: u64,
    width: u16,
    bits: u128,
    /// How many parts came before it.
    order: usize,
}

impl Checker<'_> {
    /// Sets the image of an object with static storage from its initialiser.
    pub(super) fn static_init(&mut self, obj: ObjId, init: Init) {
        let cx = self.init_object(obj, init, true);
        let mut entries = Vec::with_capacity(cx.parts.len());
        let mut bit_fields = Vec::new();
        let outer = std::mem::replace(&mut self.in_static_init, true);
        for (order, part) in cx.parts.into_iter().enumerate() {
            self.constant_part(part, order, &mut entries, &mut bit_fields);
        }
        self.in_static_init = outer;
        let size = self.prog.types.size_of(self.prog.objects[obj].ty.ty).unwrap_or(0);
        let ptr_bytes = u64::from(self.prog.types.dm.ptr_bits() / 8);
        let flexible = self.prog.types.record_of(self.prog.objects[obj].ty.ty).is_some_and(|r| r.flexible);
        let mut image = build_image(entries, bit_fields);
        let object = &mut self.prog.objects[obj];
        if flexible && cx.flexible_end > size {
            object.extra = cx.flexible_end - size;
            // Who measures the object by its image finds its end even if the last elements are 0.
            let last = cx.flexible_end - 1;
            if image.items.last().is_none_or(|item| item.offset + value_size(&item.value, ptr_bytes) <= last)
            {
                let zero = ConstValue::Bytes(Arc::from([0u8]));
                image.items.push(ImageItem { offset: last, value: zero });
            }
        }
        object.image = Some(image);
    }

    fn constant_part(
        &mut self,
        part: Part,
        order: usize,
        entries: &mut Vec<Entry>,
        bit_fields: &mut Vec<BitEntry>,
    ) {
        let Part { offset, bits, ty, value, .. } = part;
        let e = match value {
            PartValue::Bytes(bytes, ..) => {
                let size = bytes.len() as u64;
                entries.push(Entry { offset, size, value: ConstValue::Bytes(bytes.into()), order });
                return;
            }
            PartValue::Expr(e) => e,
        };
        let span = self.span(e);
        if let TExprKind::Parts(parts) = &self.prog.exprs[e].kind {
            let mut offset = offset;
            for e in parts.clone() {
                let ty = self.qty(e);
                let value = PartValue::Expr(e);
                let part = Part { path: Box::default(), offset, bits: None, ty, value };
                offset += self.prog.types.size_of(ty.ty).unwrap_or(0);
                self.constant_part(part, order, entries, bit_fields);
            }
            return;
        }
        let Some(constant) = self.const_eval(e) else {
            self.error(span, "the initialiser is not constant");
            return;
        };
        if let Some(range) = bits {
            let Const::Int(bits) = constant else {
                self.error(span, "the initialiser of a bit-field is not an integer constant");
                return;
            };
            let position = offset * 8 + u64::from(range.first);
            bit_fields.push(BitEntry { position, width: range.width, bits, order });
            return;
        }
        let size = self.prog.types.size_of(ty.ty).unwrap_or(0);
        let Some(value) = self.constant_value(constant, ty.ty, size, span) else { return };
        entries.push(Entry { offset, size, value, order });
    }

    fn constant_value(&mut self, constant: Const, ty: CTypeId, size: u64, span: Span) -> Option<ConstValue> {
        let is_pointer = matches!(self.prog.types.get(ty), CType::Ptr(_));
        match constant {
            Const::Int(bits) if is_pointer => Some(ConstValue::Absolute(bits as u64)),
            Const::Int(bits) => Some(ConstValue::Int { size: size as u8, bits }),
            Const::LabelDiff(a, b) => Some(ConstValue::LabelDiff { size: size as u8, a, b }),
            Const::Float(bits) => Some(ConstValue::Float(self.prog.types.float_ty(ty)?, bits)),
            Const::Addr(base, offset) => {
                if size * 8 != u64::from(self.prog.types.dm.ptr_bits()) {
                    self.unsupported(span, "an address in an integer of another size in an initialiser");
                    return None;
                }
                match (base, offset) {
                    (AddrBase::Object(obj), _) => Some(ConstValue::Addr(obj, offset)),
                    (AddrBase::Func(f), 0) => Some(ConstValue::Func(f)),
                    (AddrBase::Label(l), 0) => Some(ConstValue::Label(l)),
                    _ => {
                        self.unsupported(span, "an address inside a function in an initialiser");
                        None
                    }
                }
            }
        }
    }
}

/// Bytes that a constant takes.
fn value_size(value: &ConstValue, ptr_bytes: u64) -> u64 {
    match value {
        ConstValue::Bytes(bytes) => bytes.len() as u64,
        ConstValue::Int { size, .. } | ConstValue::LabelDiff { size, .. } => (*size).into(),
        ConstValue::Float(ty, _) => u64::from(ty.bits() / 8),
        ConstValue::Absolute(_) | ConstValue::Addr(..) | ConstValue::Func(_) | ConstValue::Label(_) => {
            ptr_bytes
        }
    }
}

fn is_zero(value: &ConstValue) -> bool {
    match value {
        ConstValue::Bytes(bytes) => bytes.iter().all(|&b| b == 0),
        ConstValue::Int { bits, .. } | ConstValue::Float(_, bits) => *bits == 0,
        ConstValue::Absolute(address) => *address == 0,
        ConstValue::Addr(..) | ConstValue::Func(_) | ConstValue::Label(_) | ConstValue::LabelDiff { .. } => {
            false
        }
    }
}

/// Puts constants into an image; a later one wins where they overlap.
fn build_image(mut entries: Vec<Entry>, bit_fields: Vec<BitEntry>) -> Image {
    let bit_bytes = bit_field_bytes(&bit_fields);
    let sorted = entries.windows(2).all(|w| w[0].offset + w[0].size <= w[1].offset);
    if !sorted {
        // Designators may jump back without overlap.
        let mut order: Vec<(u64, u64)> = entries.iter().map(|e| (e.offset, e.size)).collect();
        order.sort_unstable();
        if order.windows(2).any(|w| w[0].0 + w[0].1 > w[1].0) {
            return bytewise_image(entries, bit_fields);
        }
        entries.sort_by_key(|e| e.offset);
    }
    let overlaps_bits = !bit_bytes.is_empty()
        && entries.iter().any(|e| bit_bytes.range(e.offset..e.offset + e.size).next().is_some());
    if overlaps_bits {
        return bytewise_image(entries, bit_fields);
    }
    let mut items: Vec<ImageItem> = entries
        .into_iter()
        .filter(|e| !is_zero(&e.value))
        .map(|e| ImageItem { offset: e.offset, value: e.value })
        .collect();
    if !bit_bytes.is_empty() {
        items.extend(runs(&bit_bytes));
        items.sort_by_key(|i| i.offset);
    }
    Image { items }
}

/// The bytes that bit-fields touch.
fn bit_field_bytes(bit_fields: &[BitEntry]) -> BTreeMap<u64, u8> {
    let mut bytes = BTreeMap::new();
    for field in bit_fields {
        set_bits(&mut bytes, field);
    }
    bytes
}

fn set_bits(bytes: &mut BTreeMap<u64, u8>, field: &BitEntry) {
    for i in 0..u64::from(field.width) {
        let position = field.position + i;
        let byte = bytes.entry(position / 8).or_insert(0);
        let mask = 1u8 << (position % 8);
        if field.bits >> i & 1 == 1 {
            *byte |= mask;
        } else {
            *byte &= !mask;
        }
    }
}

/// Runs of bytes that are not all zero.
fn runs(bytes: &BTreeMap<u64, u8>) -> Vec<ImageItem> {
    let mut out: Vec<(u64, Vec<u8>)> = Vec::new();
    for (&offset, &byte) in bytes {
        match out.last_mut() {
            Some((start, run)) if *start + run.len() as u64 == offset => run.push(byte),
            _ => out.push((offset, vec![byte])),
        }
    }
    out.into_iter()
        .filter(|(_, run)| run.iter().any(|&b| b != 0))
        .map(|(offset, run)| ImageItem { offset, value: ConstValue::Bytes(Arc::from(run)) })
        .collect()
}

/// The slow way for initialisers that overwrite parts of themselves: byte by byte, in order.
fn bytewise_image(mut entries: Vec<Entry>, bit_fields: Vec<BitEntry>) -> Image {
    let mut bytes: BTreeMap<u64, u8> = BTreeMap::new();
    let mut addresses: BTreeMap<u64, (u64, ConstValue)> = BTreeMap::new();
    let mut bit_fields = bit_fields.into_iter().peekable();
    entries.sort_by_key(|e| e.order);
    for entry in entries {
        while let Some(field) = bit_fields.next_if(|f| f.order < entry.order) {
            set_bits(&mut bytes, &field);
        }
        let (start, end) = (entry.offset, entry.offset + entry.size);
        // Addresses are never longer than 8 bytes.
        let overlapped: Vec<u64> = addresses
            .range(start.saturating_sub(8)..end)
            .filter(|(at, (size, _))| **at + size > start)
            .map(|(at, _)| *at)
            .collect();
        for at in overlapped {
            addresses.remove(&at);
        }
        let plain: Vec<u8> = match &entry.value {
            ConstValue::Bytes(b) => b.to_vec(),
            ConstValue::Int { bits, .. } | ConstValue::Float(_, bits) => bits.to_le_bytes().to_vec(),
            ConstValue::Absolute(address) => address.to_le_bytes().to_vec(),
            ConstValue::Addr(..)
            | ConstValue::Func(_)
            | ConstValue::Label(_)
            | ConstValue::LabelDiff { .. } => {
                let covered: Vec<u64> = bytes.range(start..end).map(|(at, _)| *at).collect();
                for at in covered {
                    bytes.remove(&at);
                }
                addresses.insert(start, (entry.size, entry.value));
                continue;
            }
        };
        for i in 0..entry.size {
            bytes.insert(start + i, plain.get(i as usize).copied().unwrap_or(0));
        }
    }
    for field in bit_fields {
        set_bits(&mut bytes, &field);
    }
    let mut items = runs(&bytes);
    items.extend(addresses.into_iter().map(|(offset, (_, value))| ImageItem { offset, value }));
    items.sort_by_key(|i| i.offset);
    Image { items }
}
