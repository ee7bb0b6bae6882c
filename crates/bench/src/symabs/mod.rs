//! The measurements of section 5 of "A method for symbolic computation of abstract operations":
//! [`diamonds`] (Figure 7(b)), [`blocks`] (Figures 5, 6 and 7(a)), and what symbolic transformers prove that
//! syntax-directed ones do not: [`loops`].

pub mod blocks;
mod clock;
pub mod diamonds;
pub mod loops;
