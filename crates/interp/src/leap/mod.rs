//! Leaps over passes of a loop that all do the same.
//!
//! Where a run has stayed in a loop for long, the next pass is executed once for all that follow: every register,
//! global and place in memory holds `start + step · n` at pass `n`, in the machine's arithmetic. Branches then go the
//! same way, checks hold and accesses stay within their objects for `n` below some bound, which each instruction may
//! lower. If the pass ends in what the next one starts with, that is so for all passes below the bound, and their effect
//! is known without executing them. Whatever the arithmetic of lines does not show ends the attempt, and the passes are
//! executed one by one.

mod line;
mod pass;

use crate::machine::{Cpu, Machine};
use crate::outcome::Taken;
use line::Line;
use pass::{Access, Asked, Pass, Place};
use rustc_hash::FxHashMap;

/// Fewer passes are not worth a leap.
const WORTH: u64 = 64;
/// How often the steps of what a pass starts with are guessed anew: what depends on others' steps comes later.
const GUESSES: usize = 6;
/// How many places are written one by one in a leap.
const PLACES: u64 = 1 << 24;

/// The effect of passes.
struct Effect {
    passes: u64,
    held: Vec<(Place, Line)>,
    memory: Vec<Access>,
    asked: Option<Asked>,
}

impl Machine<'_> {
    /// Leaps over passes from an instruction back to itself, if they all do the same.
    #[cold]
    pub fn leap(&mut self, cpu: &mut Cpu, at: usize) -> bool {
        let Some(mut effect) = self.passes(cpu, at) else { return false };
        if let Some(Asked { ty, edge, bits, input }) = effect.asked {
            effect.passes = self.inputs.again(ty, edge, input, effect.passes).min(effect.passes);
            if effect.passes == 0 {
                return false;
            }
            if input {
                self.taken.push(Taken { edge, ty, bits, times: effect.passes });
            }
        }
        let last = effect.passes - 1;
        for access in effect.memory.iter().filter(|a| a.written) {
            self.leave(access, effect.passes);
        }
        for (place, line) in effect.held {
            match place {
                Place::Register(r) => cpu.regs[r as usize] = line.at(last),
                Place::Global(g) => self.globals[g as usize] = line.at(last),
                Place::Memory(..) => {}
            }
        }
        if let Some(observer) = &mut self.observer {
            observer.on_leap(effect.passes);
        }
        true
    }

    /// The effect of as many passes as are known to do the same.
    fn passes(&mut self, cpu: &Cpu, at: usize) -> Option<Effect> {
        let mut steps = FxHashMap::default();
        for _ in 0..GUESSES {
            let mut pass = Pass {
                m: &mut *self,
                cpu,
                steps: &steps,
                held: FxHashMap::default(),
                first: FxHashMap::default(),
                memory: Vec::new(),
                most: u64::MAX,
                asked: None,
            };
            pass.run(at)?;
            let Pass { held, first, memory, most, asked, .. } = pass;
            let end = |place: &Place| match *place {
                Place::Memory(object, offset, cell) => {
                    let same = |a: &&Access| (a.object, a.start, a.step, a.cell) == (object, offset, 0, cell);
                    memory.iter().find(same).map(|a| a.value)
                }
                _ => held.get(place).copied(),
            };
            let mut better = FxHashMap::default();
            let mut closed = true;
            for (place, start) in &first {
                let end = end(place).unwrap_or(*start);
                let step = end.start.wrapping_sub(start.start) as i64;
                closed &= end == Line { start: start.at(1).lo, ..*start };
                if end.hi != start.hi {
                    return None;
                }
                if step != 0 {
                    better.insert(*place, step);
                }
            }
            if closed {
                if most < WORTH {
                    return None;
                }
                let passes = apart(&memory, most)?;
                let held = held.into_iter().collect();
                return Some(Effect { passes, held, memory, asked });
            }
            if better == steps {
                return None;
            }
            steps = better;
        }
        None
    }

    /// Leaves in memory what the writes of so many passes leave there.
    fn leave(&mut self, access: &Access, passes: u64) {
        let &Access { object, start, step, cell, size, value, .. } = access;
        if step == 0 {
            let _ = self.write_cell(object, start as usize, cell, value.at(passes - 1));
            return;
        }
        if let Some(slot) = value.fixed()
            && step.unsigned_abs() == size
            && size <= 8
            && let Some(byte) = same_bytes(slot.lo, size)
        {
            let first = if step > 0 { start } else { start - size * (passes - 1) };
            self.mem.objects[object as usize].data.fill(first as usize, (size * passes) as usize, byte);
            return;
        }
        for n in 0..passes {
            let offset = start.wrapping_add((step as u64).wrapping_mul(n));
            let _ = self.write_cell(object, offset as usize, cell, value.at(n));
        }
    }
}

/// The byte that all of the lower ones are.
fn same_bytes(value: u64, size: u64) -> Option<u8> {
    let bytes = &value.to_le_bytes()[..size as usize];
    bytes.iter().all(|b| *b == bytes[0]).then_some(bytes[0])
}

/// In how many of `most` passes no access meets what another one writes, unless it is the same place in the same pass.
fn apart(memory: &[Access], most: u64) -> Option<u64> {
    let passes = match memory.iter().any(|a| a.written && a.step != 0 && !fills(a)) {
        true => most.min(PLACES),
        false => most,
    };
    let span = |a: &Access| {
        let last = i128::from(a.start) + i128::from(a.step) * i128::from(passes - 1);
        (last.min(a.start.into()), last.max(a.start.into()) + i128::from(a.size))
    };
    for (i, a) in memory.iter().enumerate() {
        // Places of different passes must not overlap where they are written.
        if a.written && a.step != 0 && a.step.unsigned_abs() < a.size {
            return None;
        }
        for b in &memory[..i] {
            if a.object != b.object || !(a.written || b.written) {
                continue;
            }
            let ((a_low, a_high), (b_low, b_high)) = (span(a), span(b));
            if a_high <= b_low || b_high <= a_low {
                continue;
            }
            // Members of the same elements.
            let stride = i128::from(a.step.unsigned_abs());
            let between = (i128::from(b.start) - i128::from(a.start)).rem_euclid(stride.max(1));
            let members = a.step == b.step
                && stride > 0
                && between >= i128::from(a.size)
                && between + i128::from(b.size) <= stride;
            if !members {
                return None;
            }
        }
    }
    Some(passes)
}

/// Whether what it writes is one byte throughout.
fn fills(a: &Access) -> bool {
    a.value.step == 0
        && a.step.unsigned_abs() == a.size
        && a.size <= 8
        && same_bytes(a.value.start, a.size).is_some()
}
