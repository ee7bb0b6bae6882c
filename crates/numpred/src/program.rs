//! Abstract programs and their analysis: step 3 of section 6.1 for programs written in the language of
//! transformers.

use crate::domain::{NumPredDom, Value};
use crate::expr::Expr;
use crate::space::Vocabulary;
use crate::transformer::Transformer;
use palisade_dd::Outcome;
use palisade_domains::{LinCons, Rel, Thresholds};
use palisade_num::Rat;

/// A statement of an abstract program.
#[derive(Clone, PartialEq, Debug)]
pub enum Stmt {
    /// A transformer.
    Apply(Transformer),
    /// A branch; without a condition either way may be taken.
    If(Option<Expr>, Vec<Stmt>, Vec<Stmt>),
    /// A loop.
    While(Option<Expr>, Vec<Stmt>),
    /// What is to be shown.
    Assert(Expr),
}

/// An abstract program.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// V_P and V_N.
    pub names: Vocabulary,
    /// The statements.
    pub body: Vec<Stmt>,
}

/// What an analysis found.
#[derive(Clone, Debug)]
pub struct Found {
    /// For each assertion, in the order of the text, whether it was shown.
    pub asserts: Vec<bool>,
    /// The value at the end.
    pub end: Value,
    /// Passes through loop bodies.
    pub passes: usize,
}

impl Found {
    /// Are all assertions shown?
    pub fn safe(&self) -> bool {
        self.asserts.iter().all(|shown| *shown)
    }
}

/// Joins at a loop head before widening starts.
const DELAY: usize = 2;
/// Decreasing passes after the fixed point.
const NARROWINGS: usize = 2;
/// Conditions with more disjuncts are taken as a whole.
const MAX_DISJUNCTS: usize = 16;

struct Run<'d> {
    dom: &'d mut dyn NumPredDom,
    found: Found,
    /// Whether assertions count; inside loops only once the invariant is known.
    recording: bool,
    /// The number of the next assertion.
    next: usize,
}

/// Computes the invariants of a program and which assertions they show. The constants and conditions of
/// the program are where widening stops: this is what lets NDD, whose joins are exact, through loops
/// that count far.
pub fn analyse(program: &Program, dom: &mut dyn NumPredDom) -> Outcome<Found> {
    dom.space_mut().nums.thresholds = thresholds(&program.body);
    let top = dom.top();
    let mut asserts = 0;
    each(&program.body, &mut |s| asserts += usize::from(matches!(s, Stmt::Assert(_))));
    let found = Found { asserts: vec![true; asserts], end: top.clone(), passes: 0 };
    let mut run = Run { dom, found, recording: true, next: 0 };
    run.found.end = run.block(&program.body, top)?;
    Ok(run.found)
}

impl Run<'_> {
    fn assume(&mut self, cond: &Option<Expr>, holds: bool, v: &Value) -> Outcome<Value> {
        match cond {
            None => Ok(v.clone()),
            Some(e) => {
                let e = if holds { e.nnf() } else { e.negate() };
                self.dom.post(&Transformer::assume_each(&e, MAX_DISJUNCTS), v)
            }
        }
    }

    fn block(&mut self, stmts: &[Stmt], mut v: Value) -> Outcome<Value> {
        for s in stmts {
            v = match s {
                Stmt::Apply(tau) => self.dom.post(tau, &v)?,
                Stmt::If(cond, then, otherwise) => {
                    let (yes, no) = (self.assume(cond, true, &v)?, self.assume(cond, false, &v)?);
                    let (yes, no) = (self.block(then, yes)?, self.block(otherwise, no)?);
                    self.dom.join(&yes, &no)?
                }
                Stmt::While(cond, body) => self.fixed_point(cond, body, v)?,
                Stmt::Assert(e) => {
                    let wrong = self.assume(&Some(e.clone()), false, &v)?;
                    let wrong = self.dom.reduce(&wrong)?;
                    if self.recording && !self.dom.is_bot(&wrong) {
                        self.found.asserts[self.next] = false;
                    }
                    self.next += 1;
                    self.assume(&Some(e.clone()), true, &v)?
                }
            };
        }
        Ok(v)
    }

    fn pass(&mut self, cond: &Option<Expr>, body: &[Stmt], inv: &Value) -> Outcome<Value> {
        self.found.passes += 1;
        let v = self.assume(cond, true, inv)?;
        self.block(body, v)
    }

    fn fixed_point(&mut self, cond: &Option<Expr>, body: &[Stmt], entry: Value) -> Outcome<Value> {
        let (recording, first) = (std::mem::replace(&mut self.recording, false), self.next);
        let mut inv = entry.clone();
        for round in 0.. {
            self.next = first;
            let out = self.pass(cond, body, &inv)?;
            if self.dom.leq(&out, &inv)? {
                break;
            }
            inv = if round < DELAY { self.dom.join(&inv, &out)? } else { self.dom.widen(&inv, &out)? };
        }
        for _ in 0..NARROWINGS {
            self.next = first;
            let out = self.pass(cond, body, &inv)?;
            let lower = self.dom.join(&entry, &out)?;
            if !self.dom.leq(&lower, &inv)? || self.dom.leq(&inv, &lower)? {
                break;
            }
            inv = lower;
        }
        (self.recording, self.next) = (recording, first);
        if recording {
            self.pass(cond, body, &inv)?;
        } else {
            each(body, &mut |s| self.next += usize::from(matches!(s, Stmt::Assert(_))));
        }
        self.assume(cond, false, &inv)
    }
}

/// Calls `f` for all statements, in the order of the text.
fn each(stmts: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
    for s in stmts {
        f(s);
        match s {
            Stmt::If(_, a, b) => {
                each(a, f);
                each(b, f);
            }
            Stmt::While(_, body) => each(body, f),
            Stmt::Apply(_) | Stmt::Assert(_) => {}
        }
    }
}

/// The numeric terms of the conditions, their complements, and their constants.
fn thresholds(body: &[Stmt]) -> Thresholds {
    let mut constraints: Vec<LinCons> = Vec::new();
    let mut take = |e: &Expr| {
        e.atoms(&mut |atom| {
            if let Expr::Num(c) = atom {
                constraints.push(c.clone());
            }
        });
    };
    each(body, &mut |s| match s {
        Stmt::If(Some(e), ..) | Stmt::While(Some(e), _) | Stmt::Assert(e) => take(e),
        Stmt::Apply(Transformer::Assume(e)) => take(e),
        _ => {}
    });
    let mut values: Vec<Rat> = Vec::new();
    let mut both = Vec::new();
    for c in &constraints {
        if let [(_, k)] = c.expr.terms() {
            let bound = -(c.expr.constant_term() / k);
            values.extend([&bound - &Rat::ONE, bound.clone(), &bound + &Rat::ONE]);
        }
        both.extend(c.negate());
        match c.rel {
            Rel::Eq | Rel::Ne => {
                both.push(LinCons { expr: c.expr.clone(), rel: Rel::Le });
                both.push(LinCons { expr: -&c.expr, rel: Rel::Le });
            }
            _ => both.push(c.clone()),
        }
    }
    Thresholds::new(values, both)
}
