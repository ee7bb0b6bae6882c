//! Conjunctions without what their other parts say already: `1 < n && n != 0 && 0 <= n` is `1 < n`.
//!
//! Parts are compared as texts: comparisons of one expression with numbers, and of the same two expressions.
//! Everything else stays. Expressions in invariants are compared as numbers of their types, so that a comparison
//! with a number means what it says.

/// The orders of two values that a comparison allows: less, equal, greater.
type Orders = u8;
const LESS: Orders = 1;
const EQUAL: Orders = 2;
const GREATER: Orders = 4;

/// A comparison.
struct Comparison<'t> {
    left: &'t str,
    orders: Orders,
    right: &'t str,
}

/// The parts that are needed to say all that they say, in their order.
pub fn minimised(parts: Vec<String>) -> Vec<String> {
    let read: Vec<Option<Comparison<'_>>> = parts.iter().map(|part| comparison(part)).collect();
    let mut kept = vec![true; parts.len()];
    for i in 0..parts.len() {
        let Some(own) = &read[i] else { continue };
        let others =
            || read.iter().enumerate().filter(|(j, _)| *j != i && kept[*j]).filter_map(|(_, c)| c.as_ref());
        let implied = match number(own.right) {
            Some(n) => by_range(own, n, others()),
            None => others().any(|other| {
                let same = other.left == own.left && other.right == own.right;
                same && other.orders & !own.orders == 0
            }),
        };
        if implied {
            kept[i] = false;
        }
    }
    let mut kept = kept.into_iter();
    parts.into_iter().filter(|_| kept.next().unwrap_or(true)).collect()
}

/// Whether a comparison with a number follows from the range that others give the same expression.
fn by_range<'c>(own: &Comparison<'_>, n: i128, others: impl Iterator<Item = &'c Comparison<'c>>) -> bool {
    let (mut low, mut high) = (i128::MIN, i128::MAX);
    let mut unequal = false;
    for other in others.filter(|c| c.left == own.left) {
        let Some(m) = number(other.right) else { continue };
        let (from, to) = match other.orders {
            LESS => (i128::MIN, m - 1),
            GREATER => (m + 1, i128::MAX),
            EQUAL => (m, m),
            o if o == LESS | EQUAL => (i128::MIN, m),
            o if o == GREATER | EQUAL => (m, i128::MAX),
            _ => {
                unequal |= m == n;
                continue;
            }
        };
        (low, high) = (low.max(from), high.min(to));
    }
    // Nothing follows from what cannot be; that is worth seeing.
    if low > high {
        return false;
    }
    match own.orders {
        LESS => high < n,
        GREATER => low > n,
        EQUAL => low == n && high == n,
        o if o == LESS | EQUAL => high <= n,
        o if o == GREATER | EQUAL => low >= n,
        _ => unequal || n < low || n > high,
    }
}

/// A signed number as C writes it, small enough to be reckoned with.
fn number(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(['L', 'l']);
    let text = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text);
    text.parse::<i64>().ok().map(i128::from)
}

/// Reads a comparison; a number is on its right, and otherwise the smaller text on its left.
fn comparison(text: &str) -> Option<Comparison<'_>> {
    let bytes = text.as_bytes();
    let mut depth = 0;
    let mut found: Option<(usize, usize, Orders)> = None;
    let mut i = 0;
    while i < bytes.len() {
        let two = text.get(i..i + 2).unwrap_or("");
        let (width, orders) = match (bytes[i], two) {
            (b'(' | b'[', _) => {
                depth += 1;
                (1, 0)
            }
            (b')' | b']', _) => {
                depth -= 1;
                (1, 0)
            }
            _ if depth > 0 => (1, 0),
            (_, "&&" | "||") | (b'?' | b'"' | b'\'', _) => return None,
            (_, "<<" | ">>" | "->") => (2, 0),
            (_, "==") => (2, EQUAL),
            (_, "!=") => (2, LESS | GREATER),
            (_, "<=") => (2, LESS | EQUAL),
            (_, ">=") => (2, GREATER | EQUAL),
            (b'<', _) => (1, LESS),
            (b'>', _) => (1, GREATER),
            _ => (1, 0),
        };
        if orders != 0 && found.replace((i, width, orders)).is_some() {
            return None;
        }
        i += width;
    }
    let (at, width, orders) = found?;
    let (left, right) = (text[..at].trim(), text[at + width..].trim());
    let turned = orders & EQUAL | orders >> 2 & LESS | orders << 2 & GREATER;
    let turn = match (number(left), number(right)) {
        (Some(_), Some(_)) => return None,
        (Some(_), None) => true,
        (None, Some(_)) => false,
        (None, None) => right < left,
    };
    Some(match turn {
        true => Comparison { left: right, orders: turned, right: left },
        false => Comparison { left, orders, right },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str) -> String {
        minimised(text.split(" && ").map(str::to_owned).collect()).join(" && ")
    }

    #[test]
    fn what_follows_is_left_out() {
        assert_eq!(short("1 < SIZE && SIZE != 0 && 0 <= SIZE && SIZE != 1"), "1 < SIZE");
        assert_eq!(short("0 <= i && i <= 10 && i != 11 && i < 20 && -1 < i"), "i <= 10 && -1 < i");
        assert_eq!(short("x == 3 && x != 0 && x <= 7"), "x == 3");
        assert_eq!(short("i <= n && i < n && n != i && n > i"), "n > i");
        assert_eq!(short("x == x + 1 && f(a, b) && a[i < 3] == 0"), "x == x + 1 && f(a, b) && a[i < 3] == 0");
    }

    #[test]
    fn what_does_not_follow_stays() {
        for text in [
            "0 <= i && i != 0",
            "i <= n && n <= i",
            "x < 3 && x > 5 && x != 4",
            "a == b || c == d && a == b",
            "p->n < 3 && q->n != 7",
            "x >> 1 < 4 && x != 9",
        ] {
            assert_eq!(short(text), text);
        }
    }

    /// Over all small values a conjunction and its short form are true for the same.
    #[test]
    fn the_meaning_stays() {
        let ops = ["<", "<=", "==", "!=", ">", ">="];
        let holds = |x: i128, part: &str| {
            let words: Vec<&str> = part.split(' ').collect();
            let value = |w: &str| if w == "x" { x } else { w.parse().expect("a number") };
            let (a, b) = (value(words[0]), value(words[2]));
            match words[1] {
                "<" => a < b,
                "<=" => a <= b,
                "==" => a == b,
                "!=" => a != b,
                ">" => a > b,
                _ => a >= b,
            }
        };
        for seed in 0..2000usize {
            let part = |k: usize| {
                let n = seed * 31 + k * 17 + seed / 7 * k;
                let (op, c) = (ops[n % 6], n / 6 % 4);
                if n.is_multiple_of(5) { format!("{c} {op} x") } else { format!("x {op} {c}") }
            };
            let parts: Vec<String> = (0..4).map(part).collect();
            let few = minimised(parts.clone());
            for x in -2..6 {
                let (all, some) = (parts.iter().all(|p| holds(x, p)), few.iter().all(|p| holds(x, p)));
                assert_eq!(all, some, "{parts:?} is not {few:?} for {x}");
            }
        }
    }
}
