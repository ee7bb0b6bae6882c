//! `abstract(P, V, R)` (section 4): the program over some variables and array elements only.

use crate::program::*;
use std::collections::BTreeSet;

/// What an abstraction keeps, the pair ⟨V, R⟩: variables, and for each array some of its indexes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// V
    pub vars: BTreeSet<Var>,
    /// R, by array.
    pub elements: Vec<BTreeSet<i64>>,
}

/// What a variable of an abstraction stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The variable of the same name.
    Var(Var),
    /// aᵏ, the element of an array with a fixed index.
    Element(Array, i64),
}

/// A program without arrays that has all traces of another one (theorem 1).
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// The abstract program P̂, with the control flow graph of the concrete one.
    pub program: Program,
    /// What each of its variables stands for.
    pub origins: Vec<Origin>,
}

impl Kept {
    /// Nothing: the start of AR.
    pub fn none(program: &Program) -> Kept {
        Kept { vars: BTreeSet::new(), elements: vec![BTreeSet::new(); program.arrays.len()] }
    }

    /// Everything, ⟨V_P, R_P⟩: the abstraction is exact.
    pub fn all(program: &Program) -> Kept {
        Kept {
            vars: (0..program.vars.len()).map(Var).collect(),
            elements: program.arrays.iter().map(|(_, dim)| (0..*dim).collect()).collect(),
        }
    }

    /// All variables, and the elements that the program names by numerals.
    pub fn named(program: &Program) -> Kept {
        let mut kept = Kept { vars: (0..program.vars.len()).map(Var).collect(), ..Kept::none(program) };
        let mut name = |array: Array, index: &Expr| {
            if let Expr::Int(k) = *index
                && (0..program.arrays[array.0].1).contains(&k)
            {
                kept.elements[array.0].insert(k);
            }
        };
        for stmt in &program.stmts {
            if let Stmt::Store(array, index, ..) = stmt {
                name(*array, index);
            }
            stmt.visit(&mut |e| {
                if let Expr::Element(array, index) = e {
                    name(*array, index);
                }
            });
        }
        kept
    }

    /// ⟨V, R⟩ ≼ ⟨V', R'⟩
    pub fn within(&self, other: &Kept) -> bool {
        self.vars.is_subset(&other.vars)
            && self.elements.iter().zip(&other.elements).all(|(a, b)| a.is_subset(b))
    }

    /// The number of array elements that are kept.
    pub fn count(&self) -> usize {
        self.elements.iter().map(BTreeSet::len).sum()
    }
}

impl Abstraction {
    /// The abstraction of a program with respect to V and R, in time linear in the program and |R|.
    pub fn new(program: &Program, kept: &Kept) -> Abstraction {
        let mut this = Abstraction { program: Program::default(), origins: Vec::new() };
        for &var in &kept.vars {
            this.program.vars.push(program.vars[var.0].clone());
            this.origins.push(Origin::Var(var));
        }
        for (a, indexes) in kept.elements.iter().enumerate() {
            for &k in indexes {
                this.program.vars.push(format!("{}^{k}", program.arrays[a].0).as_str().into());
                this.origins.push(Origin::Element(Array(a), k));
            }
        }
        for stmt in &program.stmts {
            let stmt = this.stmt(stmt);
            this.program.stmts.push(stmt);
        }
        this
    }

    /// The elements of an array that are kept, as index and variable.
    fn elements(&self, array: Array) -> impl DoubleEndedIterator<Item = (i64, Var)> + '_ {
        self.origins.iter().enumerate().filter_map(move |(i, o)| match *o {
            Origin::Element(a, k) if a == array => Some((k, Var(i))),
            _ => None,
        })
    }

    /// ê
    pub fn expr(&self, e: &Expr) -> Expr {
        match e {
            Expr::Undefined => Expr::Undefined,
            Expr::Int(n) => Expr::Int(*n),
            Expr::Var(v) => match self.origins.iter().position(|o| *o == Origin::Var(*v)) {
                Some(i) => Expr::Var(Var(i)),
                None => Expr::Undefined,
            },
            Expr::Scale(n, e) => self.expr(e).times(*n),
            Expr::Add(a, b) => self.expr(a).plus(self.expr(b)),
            Expr::Ite(c, a, b) => match (self.expr(a), self.expr(b)) {
                (Expr::Undefined, Expr::Undefined) => Expr::Undefined,
                (a, b) => Expr::choose(self.cond(c), a, b),
            },
            // abs(a[e], [k1, .., kn])
            Expr::Element(a, index) => {
                let index = self.expr(index);
                self.elements(*a).rev().fold(Expr::Undefined, |rest, (k, var)| {
                    Expr::choose(Cond::new(Rel::Eq, index.clone(), Expr::Int(k)), Expr::Var(var), rest)
                })
            }
        }
    }

    fn cond(&self, c: &Cond) -> Cond {
        Cond { rel: c.rel, left: self.expr(&c.left), right: self.expr(&c.right) }
    }

    fn stmt(&self, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Skip(next) => Stmt::Skip(*next),
            Stmt::Assign(assigned, next) => {
                let kept: Vec<(Var, Expr)> = assigned
                    .iter()
                    .filter_map(|(v, e)| {
                        let i = self.origins.iter().position(|o| *o == Origin::Var(*v))?;
                        Some((Var(i), self.expr(e)))
                    })
                    .collect();
                if kept.is_empty() { Stmt::Skip(*next) } else { Stmt::Assign(kept, *next) }
            }
            Stmt::Store(a, index, value, next) => {
                let (index, value) = (self.expr(index), self.expr(value));
                let kept: Vec<(Var, Expr)> = self
                    .elements(*a)
                    .map(|(k, var)| {
                        let here = Cond::new(Rel::Eq, index.clone(), Expr::Int(k));
                        (var, Expr::choose(here, value.clone(), Expr::Var(var)))
                    })
                    .collect();
                if kept.is_empty() { Stmt::Skip(*next) } else { Stmt::Assign(kept, *next) }
            }
            Stmt::Fill(a, value, next) => {
                let value = self.expr(value);
                let kept: Vec<(Var, Expr)> = self.elements(*a).map(|(_, var)| (var, value.clone())).collect();
                if kept.is_empty() { Stmt::Skip(*next) } else { Stmt::Assign(kept, *next) }
            }
            Stmt::Assume(c, next) => Stmt::Assume(self.cond(c), *next),
            Stmt::Branch(c, yes, no) => Stmt::Branch(self.cond(c), *yes, *no),
        }
    }
}
