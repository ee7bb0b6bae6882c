//! Random scripts over all operators.

use palisade_testkit::Rng;

/// A sort of the generated language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Bool,
    Bv(u32),
    Array(u32, u32),
}

impl Sort {
    fn text(self) -> String {
        match self {
            Sort::Bool => "Bool".to_owned(),
            Sort::Bv(w) => format!("(_ BitVec {w})"),
            Sort::Array(i, e) => format!("(Array (_ BitVec {i}) (_ BitVec {e}))"),
        }
    }
}

/// A term in two spellings: version 2.7, and without its overflow predicates.
#[derive(Clone)]
pub struct Text {
    pub new: String,
    pub old: String,
}

impl Text {
    fn same(text: impl Into<String>) -> Text {
        let new = text.into();
        Text { old: new.clone(), new }
    }

    fn apply(head: &str, args: &[Text]) -> Text {
        let join = |f: fn(&Text) -> &String| {
            let args: Vec<&str> = args.iter().map(|a| f(a).as_str()).collect();
            format!("({head} {})", args.join(" "))
        };
        Text { new: join(|t| &t.new), old: join(|t| &t.old) }
    }
}

/// One step of a script after its declarations.
pub enum Step {
    Assert(Text),
    Push,
    Pop,
    /// A check under literals.
    Check(Vec<String>),
}

/// A script: declarations, then steps.
pub struct Script {
    pub declarations: String,
    pub steps: Vec<Step>,
}

struct Generator {
    rng: Rng,
    vars: Vec<(String, Sort)>,
    funcs: Vec<(String, Vec<Sort>, Sort)>,
    widths: Vec<u32>,
    locals: usize,
    /// Multiplications and divisions left: too many make every solver give up.
    costly: usize,
}

const CHEAP: &[&str] =
    &["bvand", "bvor", "bvxor", "bvnand", "bvnor", "bvxnor", "bvadd", "bvsub", "bvshl", "bvlshr", "bvashr"];
const COSTLY: &[&str] = &["bvmul", "bvudiv", "bvurem", "bvsdiv", "bvsrem", "bvsmod"];
const COMPARE: &[&str] = &[
    "bvult", "bvule", "bvugt", "bvuge", "bvslt", "bvsle", "bvsgt", "bvsge", "=", "distinct", "=", "distinct",
];
const OVERFLOW: &[&str] = &["bvuaddo", "bvsaddo", "bvusubo", "bvssubo", "bvsdivo", "bvumulo", "bvsmulo"];

/// The script of a seed.
pub fn script(seed: u64) -> Script {
    let mut rng = Rng::new(seed);
    let count = 1 + rng.below(3);
    // Small widths meet their special cases often; large ones cross the words of constants.
    let widths: Vec<u32> = (0..count)
        .map(|_| match rng.below(3) {
            0 => 1 + rng.below(4) as u32,
            1 => 1 + rng.below(16) as u32,
            _ => 1 + rng.below(64) as u32,
        })
        .collect();
    let costly = rng.below(4);
    let mut g = Generator { rng, vars: Vec::new(), funcs: Vec::new(), widths, locals: 0, costly };
    let declarations = g.declare();
    let steps = g.steps();
    Script { declarations, steps }
}

impl Generator {
    fn width(&mut self) -> u32 {
        let i = self.rng.below(self.widths.len());
        self.widths[i]
    }

    fn declare(&mut self) -> String {
        let mut out = String::new();
        for i in 0..2 {
            self.vars.push((format!("p{i}"), Sort::Bool));
        }
        for (i, w) in self.widths.clone().into_iter().enumerate() {
            for v in ["x", "y"] {
                self.vars.push((format!("{v}{i}"), Sort::Bv(w)));
            }
        }
        if self.rng.below(2) == 0 {
            let sort = Sort::Array(self.width().min(16), self.width());
            self.widths.push(match sort {
                Sort::Array(i, _) => i,
                _ => unreachable!("an array was made"),
            });
            for v in ["a", "b"] {
                self.vars.push((v.to_owned(), sort));
            }
        }
        for (name, sort) in &self.vars {
            out += &format!("(declare-fun {name} () {})\n", sort.text());
        }
        if self.rng.below(2) == 0 {
            let (a, b, c) = (self.width(), self.width(), self.width());
            self.funcs.push(("f".to_owned(), vec![Sort::Bv(a)], Sort::Bv(b)));
            self.funcs.push(("g".to_owned(), vec![Sort::Bv(c), Sort::Bool], Sort::Bool));
            for (name, domain, range) in &self.funcs {
                let domain: Vec<String> = domain.iter().map(|s| s.text()).collect();
                out += &format!("(declare-fun {name} ({}) {})\n", domain.join(" "), range.text());
            }
        }
        out
    }

    fn steps(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        let depth = 2 + self.rng.below(4) as u32;
        for _ in 0..1 + self.rng.below(4) {
            steps.push(Step::Assert(self.formula(depth)));
        }
        steps.push(Step::Check(Vec::new()));
        if self.rng.below(2) == 0 {
            return steps;
        }
        let mut level = 0;
        for _ in 0..3 + self.rng.below(8) {
            match self.rng.below(6) {
                0 => {
                    steps.push(Step::Push);
                    level += 1;
                }
                1 if level > 0 => {
                    steps.push(Step::Pop);
                    level -= 1;
                }
                2 | 3 => steps.push(Step::Assert(self.formula(depth.min(3)))),
                _ => {
                    let mut literals = Vec::new();
                    for p in ["p0", "p1"] {
                        match self.rng.below(3) {
                            0 => literals.push(p.to_owned()),
                            1 => literals.push(format!("(not {p})")),
                            _ => {}
                        }
                    }
                    steps.push(Step::Check(literals));
                }
            }
        }
        steps.push(Step::Check(Vec::new()));
        steps
    }

    fn formula(&mut self, depth: u32) -> Text {
        self.term(Sort::Bool, depth)
    }

    fn leaf(&mut self, sort: Sort) -> Text {
        let fitting: Vec<String> = self.vars.iter().filter(|v| v.1 == sort).map(|v| v.0.clone()).collect();
        if !fitting.is_empty() && self.rng.below(4) != 0 {
            let i = self.rng.below(fitting.len());
            return Text::same(fitting[i].clone());
        }
        match sort {
            Sort::Bool => Text::same(if self.rng.below(2) == 0 { "true" } else { "false" }),
            Sort::Bv(w) => {
                let value = match self.rng.below(5) {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << (w - 1),
                    3 => self.rng.below(5) as u64,
                    _ => self.rng.next_u64(),
                };
                let value = if w == 64 { value } else { value & ((1 << w) - 1) };
                Text::same(format!("(_ bv{value} {w})"))
            }
            Sort::Array(_, e) => {
                // cvc5 takes only values here, so anything else is rare.
                let v = if self.rng.below(8) == 0 {
                    self.leaf(Sort::Bv(e))
                } else {
                    Text::same(format!("(_ bv{} {e})", self.rng.below(2)))
                };
                Text::apply(&format!("(as const {})", sort.text()), &[v])
            }
        }
    }

    fn many(&mut self, sort: Sort, depth: u32, n: usize) -> Vec<Text> {
        (0..n).map(|_| self.term(sort, depth)).collect()
    }

    fn term(&mut self, sort: Sort, depth: u32) -> Text {
        if depth == 0 || self.rng.below(10) == 0 {
            return self.leaf(sort);
        }
        let depth = depth - 1;
        match self.rng.below(24) {
            0 | 1 => {
                let mut args = self.many(Sort::Bool, depth, 1);
                args.extend(self.many(sort, depth, 2));
                return Text::apply("ite", &args);
            }
            2 => {
                let inner = if self.rng.below(2) == 0 { Sort::Bool } else { Sort::Bv(self.width()) };
                let value = self.term(inner, depth);
                let name = format!("l{}", self.locals);
                self.locals += 1;
                self.vars.push((name.clone(), inner));
                let body = self.term(sort, depth);
                self.vars.pop();
                return Text {
                    new: format!("(let (({name} {})) {})", value.new, body.new),
                    old: format!("(let (({name} {})) {})", value.old, body.old),
                };
            }
            _ => {}
        }
        match sort {
            Sort::Bool => self.boolean(depth),
            Sort::Bv(w) => self.bits(w, depth),
            Sort::Array(i, e) => {
                let args = [
                    self.term(sort, depth),
                    self.term(Sort::Bv(i), depth.min(2)),
                    self.term(Sort::Bv(e), depth.min(2)),
                ];
                Text::apply("store", &args)
            }
        }
    }

    fn boolean(&mut self, depth: u32) -> Text {
        let arrays: Vec<Sort> =
            self.vars.iter().map(|v| v.1).filter(|s| matches!(s, Sort::Array(..))).collect();
        match self.rng.below(12) {
            0 => Text::apply("not", &self.many(Sort::Bool, depth, 1)),
            n @ 1..=4 => {
                let count = 2 + self.rng.below(2);
                let args = self.many(Sort::Bool, depth, count);
                Text::apply(["and", "or", "xor", "=>"][n - 1], &args)
            }
            5 if !arrays.is_empty() => {
                let args = self.many(arrays[0], depth.min(2), 2);
                Text::apply("=", &args)
            }
            6 if !self.funcs.is_empty() => {
                let Sort::Bv(w) = self.funcs[1].1[0] else { unreachable!("declared so") };
                let args = [self.term(Sort::Bv(w), depth), self.term(Sort::Bool, depth)];
                Text::apply("g", &args)
            }
            7 | 8 => self.overflow(depth),
            9 => {
                let sort = if self.rng.below(3) == 0 { Sort::Bool } else { Sort::Bv(self.width()) };
                let args = self.many(sort, depth, 3);
                Text::apply(if self.rng.below(2) == 0 { "=" } else { "distinct" }, &args)
            }
            _ => {
                let w = self.width();
                let args = self.many(Sort::Bv(w), depth, 2);
                let op = COMPARE[self.rng.below(COMPARE.len())];
                Text::apply(op, &args)
            }
        }
    }

    /// An overflow predicate; the old spelling computes with more bits.
    fn overflow(&mut self, depth: u32) -> Text {
        let w = self.width();
        if self.rng.below(8) == 0 {
            let a = self.term(Sort::Bv(w), depth);
            let minimum = format!("(_ bv{} {w})", 1u64 << (w - 1));
            return Text { new: format!("(bvnego {})", a.new), old: format!("(= {} {minimum})", a.old) };
        }
        let (a, b) = (self.term(Sort::Bv(w), depth), self.term(Sort::Bv(w), depth));
        let costly = self.costly > 0;
        let op = OVERFLOW[self.rng.below(if costly { OVERFLOW.len() } else { 5 })];
        if op.ends_with("mulo") {
            self.costly -= 1;
        }
        let (extend, wide) = match op {
            "bvuaddo" => ("zero_extend", "bvadd"),
            "bvsaddo" => ("sign_extend", "bvadd"),
            "bvusubo" => ("zero_extend", "bvsub"),
            "bvssubo" => ("sign_extend", "bvsub"),
            "bvumulo" => ("zero_extend", "bvmul"),
            "bvsmulo" => ("sign_extend", "bvmul"),
            _ => {
                let (minimum, all) = (1u64 << (w - 1), if w == 64 { u64::MAX } else { (1 << w) - 1 });
                let old = format!("(and (= {} (_ bv{minimum} {w})) (= {} (_ bv{all} {w})))", a.old, b.old);
                return Text { new: format!("(bvsdivo {} {})", a.new, b.new), old };
            }
        };
        let old = format!(
            "(let ((r ({wide} ((_ {extend} {w}) {}) ((_ {extend} {w}) {})))) \
             (distinct r ((_ {extend} {w}) ((_ extract {} 0) r))))",
            a.old,
            b.old,
            w - 1
        );
        Text { new: format!("({op} {} {})", a.new, b.new), old }
    }

    fn bits(&mut self, w: u32, depth: u32) -> Text {
        let array = self.vars.iter().find_map(|v| match v.1 {
            Sort::Array(i, e) if e == w => Some((i, v.1)),
            _ => None,
        });
        match self.rng.below(20) {
            0 => Text::apply("bvnot", &self.many(Sort::Bv(w), depth, 1)),
            1 => Text::apply("bvneg", &self.many(Sort::Bv(w), depth, 1)),
            2 | 3 if w > 1 => {
                let k = 1 + self.rng.below(w as usize - 1) as u32;
                let args = [self.term(Sort::Bv(w - k), depth), self.term(Sort::Bv(k), depth)];
                Text::apply("concat", &args)
            }
            4 | 5 => {
                let wide = self.widths.iter().copied().filter(|v| *v >= w).max().unwrap_or(w);
                let low = self.rng.below((wide - w) as usize + 1) as u32;
                let args = self.many(Sort::Bv(wide), depth, 1);
                Text::apply(&format!("(_ extract {} {low})", low + w - 1), &args)
            }
            6 | 7 => {
                let k = 1 + self.rng.below(w as usize) as u32;
                let op = if self.rng.below(2) == 0 { "zero_extend" } else { "sign_extend" };
                let args = self.many(Sort::Bv(k), depth, 1);
                Text::apply(&format!("(_ {op} {})", w - k), &args)
            }
            8 => {
                let op = if self.rng.below(2) == 0 { "rotate_left" } else { "rotate_right" };
                let n = self.rng.below(2 * w as usize);
                let args = self.many(Sort::Bv(w), depth, 1);
                Text::apply(&format!("(_ {op} {n})"), &args)
            }
            9 => {
                let divisors: Vec<u32> = (1..=w).filter(|d| w.is_multiple_of(*d)).collect();
                let d = divisors[self.rng.below(divisors.len())];
                let args = self.many(Sort::Bv(d), depth, 1);
                Text::apply(&format!("(_ repeat {})", w / d), &args)
            }
            10 if w == 1 => {
                let v = self.width();
                Text::apply("bvcomp", &self.many(Sort::Bv(v), depth, 2))
            }
            10 | 11 if array.is_some() => {
                let (i, sort) = array.expect("just seen");
                let args = [self.term(sort, depth.min(2)), self.term(Sort::Bv(i), depth)];
                Text::apply("select", &args)
            }
            12 | 13 if self.funcs.first().is_some_and(|f| f.2 == Sort::Bv(w)) => {
                let sort = self.funcs[0].1[0];
                Text::apply("f", &self.many(sort, depth, 1))
            }
            14..=16 if self.costly > 0 => {
                self.costly -= 1;
                let args = self.many(Sort::Bv(w), depth, 2);
                Text::apply(COSTLY[self.rng.below(COSTLY.len())], &args)
            }
            _ => {
                let args = self.many(Sort::Bv(w), depth, 2);
                Text::apply(CHEAP[self.rng.below(CHEAP.len())], &args)
            }
        }
    }
}
