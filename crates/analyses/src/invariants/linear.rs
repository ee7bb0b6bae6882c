//! Linear facts about variables.

use palisade_cfa::*;
use palisade_encode::Encoder;
use palisade_encode::state::State;
use palisade_logic::{Term, Terms};
use palisade_num::{Int, Rat};

/// What is said about the sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Relation {
    /// It is zero.
    Zero,
    /// It is zero or more.
    NonNegative,
}

/// `Σ kᵢ·xᵢ + c = 0` or `≥ 0` over integer registers, with coprime coefficients.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Linear {
    /// Variables with their coefficients, ascending, none of them zero.
    pub terms: Vec<(VarId, Int)>,
    /// The constant.
    pub constant: Int,
    /// What is said.
    pub relation: Relation,
}

/// Coefficients with more bits than this are refused, so that sums fit the solver's words.
const MAX_COEFFICIENT_BITS: u32 = 60;

impl Linear {
    /// The fact with rational coefficients; `None` if there is no variable in it or a coefficient
    /// is too large.
    pub fn new(terms: &[(VarId, Rat)], constant: &Rat, relation: Relation) -> Option<Linear> {
        let all = || terms.iter().map(|(_, k)| k).chain([constant]);
        let denominator = all().fold(Int::ONE, |d, k| d.lcm(k.denom()));
        let scaled = |k: &Rat| -> Int { k.numer() * &denominator.div_exact(k.denom()) };
        let common = all().fold(Int::ZERO, |g, k| g.gcd(&scaled(k)));
        if common.is_zero() {
            return None;
        }
        let mut terms: Vec<(VarId, Int)> = terms
            .iter()
            .map(|(v, k)| (*v, scaled(k).div_exact(&common)))
            .filter(|(_, k)| !k.is_zero())
            .collect();
        terms.sort();
        let mut constant = scaled(constant).div_exact(&common);
        let (_, last) = terms.last()?;
        if relation == Relation::Zero && last.is_negative() {
            terms.iter_mut().for_each(|(_, k)| *k = -&*k);
            constant = -constant;
        }
        let small = |k: &Int| k.bit_len() <= MAX_COEFFICIENT_BITS;
        (terms.iter().all(|(_, k)| small(k)) && small(&constant) && terms.len() < 256).then_some(Linear {
            terms,
            constant,
            relation,
        })
    }

    /// The width of the machine arithmetic in which an equation between variables of one width is
    /// meant; `None` for facts that are meant in mathematical integers.
    pub fn machine_width(&self, program: &Program) -> Option<u32> {
        let width = |v: &VarId| Some(u32::from(program.scalar_of(program.vars[*v].ty)?.int()?.bits));
        let first = width(&self.terms.first()?.0)?;
        let same = self.terms.iter().all(|(v, _)| width(v) == Some(first));
        (same && self.relation == Relation::Zero).then_some(first)
    }

    /// The fact as a term over a symbolic state. An equation between variables of one width is
    /// meant in that machine arithmetic, everything else in mathematical integers.
    pub fn term(
        &self,
        program: &Program,
        encoder: &Encoder<'_>,
        terms: &mut Terms,
        s: &State,
    ) -> Option<Term> {
        let mut operands = Vec::new();
        for (var, k) in &self.terms {
            let Scalar::Int(t) = program.scalar_of(program.vars[*var].ty)? else { return None };
            let value = s.slots.get(encoder.layout().register(*var)?);
            operands.push((value, t, k.to_i128()?));
        }
        let constant = self.constant.to_i128()?;
        let widest = operands.iter().map(|(_, t, _)| u32::from(t.bits)).max()?;
        let width = self.machine_width(program).unwrap_or(widest + 72);
        let mut sum = terms.bv_signed(width, constant);
        for (value, t, k) in operands {
            let by = width - u32::from(t.bits);
            let wide = if t.signed { terms.sign_extend(value, by) } else { terms.zero_extend(value, by) };
            let k = terms.bv_signed(width, k);
            let product = terms.mul(k, wide);
            sum = terms.add(sum, product);
        }
        let zero = terms.bv_signed(width, 0);
        Some(match self.relation {
            Relation::Zero => terms.eq(sum, zero),
            Relation::NonNegative => terms.sge(sum, zero),
        })
    }

    /// The fact as one would write it: `y = 2*x + 1`, `n - x >= 0`.
    pub fn display(&self, program: &Program) -> String {
        let name = |v: &VarId| program.vars[*v].name.to_string();
        let sum = |terms: &mut dyn Iterator<Item = (&VarId, Int)>, constant: &Int| {
            let mut text = String::new();
            for (v, k) in terms {
                let sign = match (text.is_empty(), k.is_negative()) {
                    (true, true) => "-",
                    (true, false) => "",
                    (false, true) => " - ",
                    (false, false) => " + ",
                };
                let size = k.abs();
                let factor = if size.is_one() { String::new() } else { format!("{size}*") };
                text += &format!("{sign}{factor}{}", name(v));
            }
            match (text.is_empty(), constant.signum()) {
                (true, _) => constant.to_string(),
                (false, 0) => text,
                (false, 1) => format!("{text} + {constant}"),
                (false, _) => format!("{text} - {}", constant.abs()),
            }
        };
        match self.relation {
            Relation::NonNegative => {
                let mut all = self.terms.iter().map(|(v, k)| (v, k.clone()));
                format!("{} >= 0", sum(&mut all, &self.constant))
            }
            Relation::Zero => match self.terms.iter().rev().find(|(_, k)| k.abs().is_one()) {
                Some((left, one)) => {
                    // x = -(rest) / k with k = ±1.
                    let turn = |k: &Int| if one.is_negative() { k.clone() } else { -k };
                    let mut rest = self.terms.iter().filter(|(v, _)| v != left).map(|(v, k)| (v, turn(k)));
                    format!("{} = {}", name(left), sum(&mut rest, &turn(&self.constant)))
                }
                None => {
                    let mut all = self.terms.iter().map(|(v, k)| (v, k.clone()));
                    format!("{} = 0", sum(&mut all, &self.constant))
                }
            },
        }
    }
}
