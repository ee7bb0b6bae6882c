//! Linear programs with arrays (section 3): expressions, statements, control flow graphs.

use std::fmt;

/// A numeric variable, an index into [`Program::vars`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Var(pub usize);

/// An array, an index into [`Program::arrays`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Array(pub usize);

/// A vertex of the control flow graph: 0 models the failure of an `assert`, 1 is the start.
pub type Vertex = usize;

/// A linear expression with arrays; indexes hold no arrays themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// `u`, an arbitrary value.
    Undefined,
    /// A numeral.
    Int(i64),
    /// The value of a variable.
    Var(Var),
    /// A multiple.
    Scale(i64, Box<Expr>),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// `(b ? e1 : e2)`.
    Ite(Box<Cond>, Box<Expr>, Box<Expr>),
    /// An element of an array.
    Element(Array, Box<Expr>),
}

/// How two numbers compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rel {
    /// `<=`
    Le,
    /// `<`
    Lt,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `>=`
    Ge,
    /// `>`
    Gt,
}

/// A Boolean linear expression with arrays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cond {
    /// The comparison.
    pub rel: Rel,
    /// Its left side.
    pub left: Expr,
    /// Its right side.
    pub right: Expr,
}

/// The statement of a vertex, with its successors. `None` is the end of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// `;`
    Skip(Option<Vertex>),
    /// A parallel assignment.
    Assign(Vec<(Var, Expr)>, Option<Vertex>),
    /// `a[e1] = e2;`
    Store(Array, Expr, Expr, Option<Vertex>),
    /// All elements of an array get a value; if `u` occurs in it, each its own.
    Fill(Array, Expr, Option<Vertex>),
    /// `assume(c);`
    Assume(Cond, Option<Vertex>),
    /// `if`, `while` and `assert`: the successors when the condition holds and when it does not.
    Branch(Cond, Option<Vertex>, Option<Vertex>),
}

/// A numeric variable of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The least and the largest value that can be assigned to it: its domain, if that is not ℤ.
    pub range: Option<(i64, i64)>,
}

/// A linear program with arrays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The numeric variables.
    pub vars: Vec<Variable>,
    /// The names of the arrays and their dimensions.
    pub arrays: Vec<(String, i64)>,
    /// The statements of the vertexes from 1 on.
    pub stmts: Vec<Stmt>,
}

impl Rel {
    /// The comparison that holds when this one does not.
    pub fn negated(self) -> Rel {
        match self {
            Rel::Le => Rel::Gt,
            Rel::Lt => Rel::Ge,
            Rel::Eq => Rel::Ne,
            Rel::Ne => Rel::Eq,
            Rel::Ge => Rel::Lt,
            Rel::Gt => Rel::Le,
        }
    }

    /// Whether it holds between two numbers.
    pub fn holds<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Rel::Le => a <= b,
            Rel::Lt => a < b,
            Rel::Eq => a == b,
            Rel::Ne => a != b,
            Rel::Ge => a >= b,
            Rel::Gt => a > b,
        }
    }
}

impl From<&str> for Variable {
    /// A variable with all numbers as its domain.
    fn from(name: &str) -> Variable {
        Variable { name: name.into(), range: None }
    }
}

impl Expr {
    /// A sum of two expressions.
    pub fn plus(self, other: Expr) -> Expr {
        Expr::Add(Box::new(self), Box::new(other))
    }

    /// A multiple of an expression.
    pub fn times(self, factor: i64) -> Expr {
        Expr::Scale(factor, Box::new(self))
    }

    /// A choice between two expressions.
    pub fn choose(cond: Cond, then: Expr, other: Expr) -> Expr {
        Expr::Ite(Box::new(cond), Box::new(then), Box::new(other))
    }

    /// An element of an array.
    pub fn element(array: Array, index: Expr) -> Expr {
        Expr::Element(array, Box::new(index))
    }

    /// Calls `see` on this expression and all parts of it.
    pub fn visit<'e>(&'e self, see: &mut dyn FnMut(&'e Expr)) {
        see(self);
        match self {
            Expr::Undefined | Expr::Int(_) | Expr::Var(_) => {}
            Expr::Scale(_, e) | Expr::Element(_, e) => e.visit(see),
            Expr::Add(a, b) => {
                a.visit(see);
                b.visit(see);
            }
            Expr::Ite(c, a, b) => {
                c.visit(see);
                a.visit(see);
                b.visit(see);
            }
        }
    }
}

impl Cond {
    /// A comparison.
    pub fn new(rel: Rel, left: Expr, right: Expr) -> Cond {
        Cond { rel, left, right }
    }

    /// The condition that holds when this one does not.
    pub fn negated(&self) -> Cond {
        Cond { rel: self.rel.negated(), ..self.clone() }
    }

    /// Calls `see` on all expressions of the condition.
    pub fn visit<'e>(&'e self, see: &mut dyn FnMut(&'e Expr)) {
        self.left.visit(see);
        self.right.visit(see);
    }
}

impl Stmt {
    /// Where control may go.
    pub fn successors(&self) -> impl Iterator<Item = Option<Vertex>> {
        let (first, second) = match self {
            Stmt::Skip(next)
            | Stmt::Assign(_, next)
            | Stmt::Store(_, _, _, next)
            | Stmt::Fill(_, _, next)
            | Stmt::Assume(_, next) => (*next, None),
            Stmt::Branch(_, yes, no) => (*yes, Some(*no)),
        };
        std::iter::once(first).chain(second)
    }

    /// Calls `see` on all expressions that the statement reads.
    pub fn visit<'e>(&'e self, see: &mut dyn FnMut(&'e Expr)) {
        match self {
            Stmt::Skip(_) => {}
            Stmt::Assign(assigned, _) => assigned.iter().for_each(|(_, e)| e.visit(see)),
            Stmt::Store(_, index, value, _) => {
                index.visit(see);
                value.visit(see);
            }
            Stmt::Fill(_, value, _) => value.visit(see),
            Stmt::Assume(c, _) | Stmt::Branch(c, ..) => c.visit(see),
        }
    }
}

impl Program {
    /// The statement of a vertex other than 0.
    pub fn stmt(&self, vertex: Vertex) -> &Stmt {
        &self.stmts[vertex - 1]
    }

    /// An expression as text.
    pub fn show(&self, e: &Expr) -> String {
        match e {
            Expr::Undefined => "u".into(),
            Expr::Int(n) => n.to_string(),
            Expr::Var(v) => self.vars[v.0].name.clone(),
            Expr::Scale(n, e) => format!("{n}*{}", self.show(e)),
            Expr::Add(a, b) => format!("{}+{}", self.show(a), self.show(b)),
            Expr::Ite(c, a, b) => format!("(({})?{}:{})", self.show_cond(c), self.show(a), self.show(b)),
            Expr::Element(a, e) => format!("{}[{}]", self.arrays[a.0].0, self.show(e)),
        }
    }

    fn show_cond(&self, c: &Cond) -> String {
        format!("{}{}{}", self.show(&c.left), c.rel, self.show(&c.right))
    }

    /// The statement of a vertex as text, without its successors.
    pub fn show_stmt(&self, vertex: Vertex) -> String {
        match self.stmt(vertex) {
            Stmt::Skip(_) => ";".into(),
            Stmt::Assign(assigned, _) => {
                let left: Vec<_> = assigned.iter().map(|(v, _)| self.vars[v.0].name.clone()).collect();
                let right: Vec<_> = assigned.iter().map(|(_, e)| self.show(e)).collect();
                format!("{} = {};", left.join(", "), right.join(", "))
            }
            Stmt::Store(a, i, e, _) => {
                format!("{}[{}] = {};", self.arrays[a.0].0, self.show(i), self.show(e))
            }
            Stmt::Fill(a, e, _) => format!("{}[*] = {};", self.arrays[a.0].0, self.show(e)),
            Stmt::Assume(c, _) => format!("assume({});", self.show_cond(c)),
            Stmt::Branch(c, ..) => format!("if({})", self.show_cond(c)),
        }
    }
}

impl fmt::Display for Rel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rel::Le => "<=",
            Rel::Lt => "<",
            Rel::Eq => "==",
            Rel::Ne => "!=",
            Rel::Ge => ">=",
            Rel::Gt => ">",
        })
    }
}
