//! The operators of the theories: names, indices, sort rules, and the builder method of each.

use crate::term::{Sort, Term, Terms};

use super::WIDTH_LIMIT;
use super::print::print_sort;

type Unary = fn(&mut Terms, Term) -> Term;
type Binary = fn(&mut Terms, Term, Term) -> Term;
type Indexed = fn(&mut Terms, Term, u32) -> Term;

/// An operator without indices.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    Not,
    /// `and`, `or`, `xor`: any number of Booleans, folded from the left.
    BoolFold(Binary),
    Implies,
    Eq,
    Distinct,
    Ite,
    /// One bit-vector.
    BvUnary(Unary),
    /// Two or more bit-vectors of one width, folded from the left.
    BvFold(Binary),
    /// Two bit-vectors of one width; a bit-vector or a Boolean.
    BvBinary(Binary),
    Concat,
    Select,
    Store,
}

/// An operator with numerals as indices.
#[derive(Clone, Copy)]
pub(super) enum IndexedOperator {
    Extract,
    Repeat,
    /// Adds the index to the width.
    Extend(Indexed),
    Rotate(Indexed),
}

/// What is wrong with an application; the number of the argument, if it is one that is.
pub(super) struct Misfit {
    pub(super) argument: Option<usize>,
    pub(super) message: String,
}

type Fit<T> = Result<T, Misfit>;

fn misfit<T>(argument: impl Into<Option<usize>>, message: impl Into<String>) -> Fit<T> {
    Err(Misfit { argument: argument.into(), message: message.into() })
}

/// The operator of a name.
pub(super) fn operator(name: &str) -> Option<Operator> {
    use Operator::{BoolFold, BvBinary, BvFold, BvUnary};
    Some(match name {
        "not" => Operator::Not,
        "and" => BoolFold(Terms::and),
        "or" => BoolFold(Terms::or),
        "xor" => BoolFold(Terms::xor),
        "=>" => Operator::Implies,
        "=" => Operator::Eq,
        "distinct" => Operator::Distinct,
        "ite" => Operator::Ite,
        "concat" => Operator::Concat,
        "bvnot" => BvUnary(Terms::not),
        "bvneg" => BvUnary(Terms::neg),
        "bvnego" => BvUnary(Terms::nego),
        "bvand" => BvFold(Terms::and),
        "bvor" => BvFold(Terms::or),
        "bvxor" => BvFold(Terms::bvxor),
        "bvadd" => BvFold(Terms::add),
        "bvmul" => BvFold(Terms::mul),
        "bvnand" => BvBinary(Terms::bvnand),
        "bvnor" => BvBinary(Terms::bvnor),
        "bvxnor" => BvBinary(Terms::bvxnor),
        "bvcomp" => BvBinary(Terms::bvcomp),
        "bvsub" => BvBinary(Terms::sub),
        "bvudiv" => BvBinary(Terms::udiv),
        "bvurem" => BvBinary(Terms::urem),
        "bvsdiv" => BvBinary(Terms::sdiv),
        "bvsrem" => BvBinary(Terms::srem),
        "bvsmod" => BvBinary(Terms::smod),
        "bvshl" => BvBinary(Terms::shl),
        "bvlshr" => BvBinary(Terms::lshr),
        "bvashr" => BvBinary(Terms::ashr),
        "bvult" => BvBinary(Terms::ult),
        "bvule" => BvBinary(Terms::ule),
        "bvugt" => BvBinary(Terms::ugt),
        "bvuge" => BvBinary(Terms::uge),
        "bvslt" => BvBinary(Terms::slt),
        "bvsle" => BvBinary(Terms::sle),
        "bvsgt" => BvBinary(Terms::sgt),
        "bvsge" => BvBinary(Terms::sge),
        "bvuaddo" => BvBinary(Terms::uaddo),
        "bvsaddo" => BvBinary(Terms::saddo),
        "bvumulo" => BvBinary(Terms::umulo),
        "bvsmulo" => BvBinary(Terms::smulo),
        "bvusubo" => BvBinary(Terms::usubo),
        "bvssubo" => BvBinary(Terms::ssubo),
        "bvsdivo" => BvBinary(Terms::sdivo),
        "select" => Operator::Select,
        "store" => Operator::Store,
        _ => return None,
    })
}

/// The indexed operator of a name.
pub(super) fn indexed_operator(name: &str) -> Option<IndexedOperator> {
    Some(match name {
        "extract" => IndexedOperator::Extract,
        "repeat" => IndexedOperator::Repeat,
        "zero_extend" => IndexedOperator::Extend(Terms::zero_extend),
        "sign_extend" => IndexedOperator::Extend(Terms::sign_extend),
        "rotate_left" => IndexedOperator::Rotate(Terms::rotate_left),
        "rotate_right" => IndexedOperator::Rotate(Terms::rotate_right),
        _ => return None,
    })
}

/// Whether a name has a fixed meaning, so that scripts cannot declare it.
pub(super) fn is_fixed(name: &str) -> bool {
    matches!(name, "true" | "false") || operator(name).is_some() || indexed_operator(name).is_some()
}

/// That argument `i` has the given sort.
pub(super) fn expect(terms: &Terms, args: &[Term], i: usize, sort: Sort) -> Fit<()> {
    let has = terms.sort(args[i]);
    if has == sort {
        return Ok(());
    }
    misfit(i, format!("this has sort {} where {} is needed", print_sort(has), print_sort(sort)))
}

fn expect_bv(terms: &Terms, args: &[Term], i: usize) -> Fit<u32> {
    match terms.sort(args[i]) {
        Sort::BitVec(width) => Ok(width),
        other => misfit(i, format!("this has sort {} where a bit-vector is needed", print_sort(other))),
    }
}

fn expect_array(terms: &Terms, args: &[Term]) -> Fit<(u32, u32)> {
    match terms.sort(args[0]) {
        Sort::Array { index, elem } => Ok((index, elem)),
        other => misfit(0, format!("this has sort {} where an array is needed", print_sort(other))),
    }
}

fn expect_count(args: &[Term], count: usize) -> Fit<()> {
    if args.len() == count {
        return Ok(());
    }
    misfit(None, format!("{} arguments where {count} are needed", args.len()))
}

fn expect_at_least(args: &[Term], count: usize) -> Fit<()> {
    if args.len() >= count {
        return Ok(());
    }
    misfit(None, format!("{} arguments where at least {count} are needed", args.len()))
}

fn expect_all(terms: &Terms, args: &[Term], sort: Sort) -> Fit<()> {
    (0..args.len()).try_for_each(|i| expect(terms, args, i, sort))
}

fn expect_width(width: u64) -> Fit<()> {
    if width <= u64::from(WIDTH_LIMIT) {
        return Ok(());
    }
    misfit(None, format!("a width of {width} bits is more than the {WIDTH_LIMIT} supported"))
}

/// The application of an operator.
pub(super) fn apply(terms: &mut Terms, operator: Operator, args: &[Term]) -> Fit<Term> {
    match operator {
        Operator::Not => {
            expect_count(args, 1)?;
            expect(terms, args, 0, Sort::Bool)?;
            Ok(terms.not(args[0]))
        }
        Operator::BoolFold(op) => {
            expect_at_least(args, 1)?;
            expect_all(terms, args, Sort::Bool)?;
            Ok(fold(terms, op, args))
        }
        Operator::Implies => {
            expect_at_least(args, 2)?;
            expect_all(terms, args, Sort::Bool)?;
            let (last, others) = args.split_last().expect("there are two or more");
            Ok(others.iter().rev().fold(*last, |acc, t| terms.implies(*t, acc)))
        }
        Operator::Eq => {
            expect_at_least(args, 2)?;
            expect_all(terms, args, terms.sort(args[0]))?;
            let mut all = terms.tru();
            for pair in args.windows(2) {
                let t = terms.eq(pair[0], pair[1]);
                all = terms.and(all, t);
            }
            Ok(all)
        }
        Operator::Distinct => {
            expect_at_least(args, 2)?;
            expect_all(terms, args, terms.sort(args[0]))?;
            Ok(terms.distinct(args))
        }
        Operator::Ite => {
            expect_count(args, 3)?;
            expect(terms, args, 0, Sort::Bool)?;
            expect(terms, args, 2, terms.sort(args[1]))?;
            Ok(terms.ite(args[0], args[1], args[2]))
        }
        Operator::BvUnary(op) => {
            expect_count(args, 1)?;
            expect_bv(terms, args, 0)?;
            Ok(op(terms, args[0]))
        }
        Operator::BvFold(op) => {
            expect_at_least(args, 2)?;
            let width = expect_bv(terms, args, 0)?;
            expect_all(terms, args, Sort::BitVec(width))?;
            Ok(fold(terms, op, args))
        }
        Operator::BvBinary(op) => {
            expect_count(args, 2)?;
            let width = expect_bv(terms, args, 0)?;
            expect(terms, args, 1, Sort::BitVec(width))?;
            Ok(op(terms, args[0], args[1]))
        }
        Operator::Concat => {
            expect_at_least(args, 2)?;
            let mut width = 0;
            for i in 0..args.len() {
                width += u64::from(expect_bv(terms, args, i)?);
            }
            expect_width(width)?;
            // From the right, which is how concatenations are kept.
            Ok(terms.concat_all(args))
        }
        Operator::Select => {
            expect_count(args, 2)?;
            let (index, _) = expect_array(terms, args)?;
            expect(terms, args, 1, Sort::BitVec(index))?;
            Ok(terms.select(args[0], args[1]))
        }
        Operator::Store => {
            expect_count(args, 3)?;
            let (index, elem) = expect_array(terms, args)?;
            expect(terms, args, 1, Sort::BitVec(index))?;
            expect(terms, args, 2, Sort::BitVec(elem))?;
            Ok(terms.store(args[0], args[1], args[2]))
        }
    }
}

fn fold(terms: &mut Terms, op: Binary, args: &[Term]) -> Term {
    let (first, rest) = args.split_first().expect("a fold has arguments");
    rest.iter().fold(*first, |acc, t| op(terms, acc, *t))
}

/// The application of an indexed operator.
pub(super) fn apply_indexed(
    terms: &mut Terms,
    operator: IndexedOperator,
    indices: &[u32],
    args: &[Term],
) -> Fit<Term> {
    expect_count(args, 1)?;
    let (a, width) = (args[0], expect_bv(terms, args, 0)?);
    let wanted = if matches!(operator, IndexedOperator::Extract) { 2 } else { 1 };
    if indices.len() != wanted {
        return misfit(None, format!("{} indices where {wanted} are needed", indices.len()));
    }
    let n = indices[0];
    match operator {
        IndexedOperator::Extract => {
            let low = indices[1];
            if low > n || n >= width {
                return misfit(None, format!("bits {n} to {low} are not bits of a term with {width} bits"));
            }
            Ok(terms.extract(a, n, low))
        }
        IndexedOperator::Repeat => {
            if n == 0 {
                return misfit(None, "a term cannot be repeated zero times");
            }
            expect_width(u64::from(n) * u64::from(width))?;
            Ok(terms.repeat(a, n))
        }
        IndexedOperator::Extend(op) => {
            expect_width(u64::from(n) + u64::from(width))?;
            Ok(op(terms, a, n))
        }
        IndexedOperator::Rotate(op) => Ok(op(terms, a, n)),
    }
}
