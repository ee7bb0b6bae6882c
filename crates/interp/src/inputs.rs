//! Where the values come from that a program does not determine, and where its output goes.

use palisade_cfa::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Chooses what the program leaves open.
pub trait Inputs {
    /// The value bits of the next input of the program; `None` if there is none left.
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128>;

    /// The value bits of an unknown of the model: an uninitialised variable, the result of an
    /// external function.
    fn unknown(&mut self, _ty: Scalar, _edge: EdgeId) -> u128 {
        0
    }

    /// The next answer to this question, and how often it would be given again and again; `None` where answers vary.
    fn steady(&mut self, _ty: Scalar, _edge: EdgeId, _input: bool) -> Option<(u128, u64)> {
        None
    }

    /// Gives the steady answer up to so many times at once, and tells how often.
    fn again(&mut self, _ty: Scalar, _edge: EdgeId, _input: bool, _times: u64) -> u64 {
        0
    }

    /// Fills bytes that the program leaves open; they are zero before.
    fn unknown_bytes(&mut self, _edge: EdgeId, _bytes: &mut [u8]) {}
}

/// Inputs from a list; unknowns are zero.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    values: VecDeque<i128>,
}

impl Listed {
    /// These values in order. Integers and pointers take their low bits; floating-point inputs
    /// take the value, not the bits.
    pub fn new(values: impl IntoIterator<Item = i128>) -> Listed {
        Listed { values: values.into_iter().collect() }
    }
}

impl Inputs for Listed {
    fn input(&mut self, ty: Scalar, _edge: EdgeId) -> Option<u128> {
        let value = self.values.pop_front()?;
        let wide = Scalar::Int(IntTy { bits: 128, signed: true });
        Some(match ty {
            Scalar::Int(t) => t.truncate(value as u128),
            Scalar::Float(_) => crate::scalar::convert(wide, ty, value as u128, 64),
            Scalar::Ptr => value as u128,
        })
    }
}

/// Pseudo-random inputs: often small, zero or at the ends of their type's range.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    random_unknowns: bool,
}

impl Random {
    /// The inputs of a seed; unknowns are zero.
    pub fn new(seed: u64) -> Random {
        Random { state: seed ^ 0x9e37_79b9_7f4a_7c15, random_unknowns: false }
    }

    /// The same, with random unknowns and random contents of uninitialised memory.
    pub fn with_unknowns(seed: u64) -> Random {
        Random { random_unknowns: true, ..Random::new(seed) }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `n`, which is not zero.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn value(&mut self, ty: Scalar) -> u128 {
        let choice = self.next() % 16;
        let raw = u128::from(self.next()) << 64 | u128::from(self.next());
        let small = (raw % 21) as i128 - 4;
        match ty {
            Scalar::Int(t) => t.truncate(match choice {
                0..=1 => 0,
                2..=8 => small as u128,
                9 => t.max_bits(),
                10 => t.min_bits(),
                11 => 1u128 << (raw % u128::from(t.bits)),
                12 => t.max_bits() >> (raw % u128::from(t.bits)),
                _ => raw,
            }),
            Scalar::Float(FloatTy::F32) => match choice {
                0..=7 => (small as f32 / 2.0).to_bits().into(),
                8 => f32::INFINITY.to_bits().into(),
                9 => f32::NAN.to_bits().into(),
                10 => (-0.0f32).to_bits().into(),
                _ => raw & u128::from(u32::MAX),
            },
            Scalar::Float(FloatTy::F64) => match choice {
                0..=7 => (small as f64 / 2.0).to_bits().into(),
                8 => f64::INFINITY.to_bits().into(),
                9 => f64::NAN.to_bits().into(),
                10 => (-0.0f64).to_bits().into(),
                _ => raw & u128::from(u64::MAX),
            },
            Scalar::Float(FloatTy::F80) => crate::f80::from_f64(match choice {
                0..=9 => small as f64 / 2.0,
                _ => f64::from_bits(raw as u64),
            }),
            Scalar::Ptr => 0,
        }
    }
}

impl Inputs for Random {
    fn input(&mut self, ty: Scalar, _edge: EdgeId) -> Option<u128> {
        Some(self.value(ty))
    }

    fn unknown(&mut self, ty: Scalar, _edge: EdgeId) -> u128 {
        if self.random_unknowns { self.value(ty) } else { 0 }
    }

    fn unknown_bytes(&mut self, _edge: EdgeId, bytes: &mut [u8]) {
        if self.random_unknowns {
            for chunk in bytes.chunks_mut(8) {
                let random = self.next().to_le_bytes();
                chunk.copy_from_slice(&random[..chunk.len()]);
            }
        }
    }
}

/// Values fixed from outside for each edge, in the order of its executions, as a solver's
/// counterexample gives them; whatever is not fixed is zero.
#[derive(Clone, Debug, Default)]
pub struct Forced {
    queues: FxHashMap<EdgeId, VecDeque<(u128, u64)>>,
    bytes: FxHashMap<EdgeId, VecDeque<Vec<u8>>>,
}

impl Forced {
    /// Nothing is fixed.
    pub fn new() -> Forced {
        Forced::default()
    }

    /// Fixes the value bits at the next executions of an edge that asks for a scalar.
    pub fn push(&mut self, edge: EdgeId, bits: u128, times: u64) {
        let queue = self.queues.entry(edge).or_default();
        match queue.back_mut() {
            Some(last) if last.0 == bits => last.1 = last.1.saturating_add(times),
            _ => queue.push_back((bits, times)),
        }
    }

    /// Fixes the contents at the next execution of an edge that asks for bytes (an allocation, an
    /// aggregate); missing bytes are zero.
    pub fn push_bytes(&mut self, edge: EdgeId, bytes: Vec<u8>) {
        self.bytes.entry(edge).or_default().push_back(bytes);
    }

    fn take(&mut self, edge: EdgeId) -> u128 {
        let bits = self.next(edge).0;
        self.advance(edge, 1);
        bits
    }

    /// The next value of an edge, and how often it comes.
    fn next(&self, edge: EdgeId) -> (u128, u64) {
        let front = self.queues.get(&edge).and_then(VecDeque::front);
        front.copied().unwrap_or((0, u64::MAX))
    }

    /// Takes that value as often, at most.
    fn advance(&mut self, edge: EdgeId, times: u64) -> u64 {
        let Some(queue) = self.queues.get_mut(&edge) else { return times };
        let Some(front) = queue.front_mut() else { return times };
        let taken = times.min(front.1);
        front.1 -= taken;
        if front.1 == 0 {
            queue.pop_front();
        }
        taken
    }
}

impl Inputs for Forced {
    fn input(&mut self, _ty: Scalar, edge: EdgeId) -> Option<u128> {
        Some(self.take(edge))
    }

    fn unknown(&mut self, _ty: Scalar, edge: EdgeId) -> u128 {
        self.take(edge)
    }

    fn steady(&mut self, _ty: Scalar, edge: EdgeId, _input: bool) -> Option<(u128, u64)> {
        Some(self.next(edge))
    }

    fn again(&mut self, _ty: Scalar, edge: EdgeId, _input: bool, times: u64) -> u64 {
        self.advance(edge, times)
    }

    fn unknown_bytes(&mut self, edge: EdgeId, bytes: &mut [u8]) {
        if let Some(forced) = self.bytes.get_mut(&edge).and_then(VecDeque::pop_front) {
            let n = forced.len().min(bytes.len());
            bytes[..n].copy_from_slice(&forced[..n]);
        }
    }
}

/// Answers the questions of the function `.start`, which lowering puts before a `main` with
/// parameters, such that `main` gets these arguments; everything else is asked of `inner`.
///
/// `.start` asks for the number of arguments, then for each one for its size and its contents. If
/// it asks for an environment, that is empty.
#[derive(Clone, Debug)]
pub struct Arguments<I> {
    inner: I,
    count: Option<u128>,
    strings: VecDeque<Vec<u8>>,
    /// The string whose size was asked for last.
    current: Option<Vec<u8>>,
    start: FxHashSet<EdgeId>,
}

impl<I: Inputs> Arguments<I> {
    /// The arguments from the program's name on.
    pub fn new(program: &Program, arguments: &[&[u8]], inner: I) -> Arguments<I> {
        let entry = program.entry;
        let calls_main = |e: &Edge| match e.op {
            Op::Call { callee: Callee::Direct(f), .. } => {
                program.locs[e.src].func == entry && &*program.funcs[f].name == "main"
            }
            _ => false,
        };
        let made = &*program.funcs[entry].name == ".start" && program.edges.iter().any(calls_main);
        let edges = program.edges.iter_enumerated();
        let start = edges.filter(|(_, e)| made && program.locs[e.src].func == entry).map(|(id, _)| id);
        Arguments {
            inner,
            count: Some(arguments.len() as u128),
            strings: arguments.iter().map(|s| s.to_vec()).collect(),
            current: None,
            start: start.collect(),
        }
    }
}

impl<I: Inputs> Inputs for Arguments<I> {
    fn input(&mut self, ty: Scalar, edge: EdgeId) -> Option<u128> {
        self.inner.input(ty, edge)
    }

    fn unknown(&mut self, ty: Scalar, edge: EdgeId) -> u128 {
        if !self.start.contains(&edge) {
            return self.inner.unknown(ty, edge);
        }
        // The count is an int, sizes are unsigned.
        if ty == Scalar::Int(IntTy::I32) {
            return self.count.take().unwrap_or(0);
        }
        let string = self.strings.pop_front().unwrap_or_default();
        let size = string.len() as u128 + 1;
        self.current = Some(string);
        size
    }

    fn steady(&mut self, ty: Scalar, edge: EdgeId, input: bool) -> Option<(u128, u64)> {
        if self.start.contains(&edge) { None } else { self.inner.steady(ty, edge, input) }
    }

    fn again(&mut self, ty: Scalar, edge: EdgeId, input: bool, times: u64) -> u64 {
        self.inner.again(ty, edge, input, times)
    }

    fn unknown_bytes(&mut self, edge: EdgeId, bytes: &mut [u8]) {
        if !self.start.contains(&edge) {
            return self.inner.unknown_bytes(edge, bytes);
        }
        if let Some(string) = self.current.take() {
            let n = string.len().min(bytes.len());
            bytes[..n].copy_from_slice(&string[..n]);
        }
    }
}

/// A standard stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Takes what the program prints.
pub trait Output {
    /// Takes bytes.
    fn write(&mut self, stream: Stream, bytes: &[u8]);
}

/// Forgets all output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl Output for Discard {
    fn write(&mut self, _stream: Stream, _bytes: &[u8]) {}
}

/// Keeps the output.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    /// What went to standard output.
    pub out: Vec<u8>,
    /// What went to standard error.
    pub err: Vec<u8>,
}

impl Output for Captured {
    fn write(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => self.out.extend_from_slice(bytes),
            Stream::Err => self.err.extend_from_slice(bytes),
        }
    }
}
