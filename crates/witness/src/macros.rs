//! Text as it was written: a line before preprocessing beside the same line after it, with the macros in
//! between found by aligning the two.

use std::ops::Range;

/// Tokens of a line that are aligned at most: the cost grows with the cube of this.
const TOKENS: usize = 120;

/// A stretch of the preprocessed line and of the original one that belong together: a token that both have,
/// or a macro and what it became.
struct Pair {
    read: Range<usize>,
    written: Range<usize>,
}

/// What was written in `original` for the bytes `part` of the preprocessed line `read`. `None` where the two
/// lines cannot be aligned, or where the part begins or ends inside of what a macro became.
pub fn written<'a>(read: &str, part: Range<usize>, original: &'a str) -> Option<&'a str> {
    let (read_tokens, tokens) = (tokens(read), tokens(original));
    if read_tokens.len() > TOKENS || tokens.len() > TOKENS {
        return None;
    }
    let inside = |t: &Range<usize>| part.start <= t.start && t.end <= part.end;
    let first = read_tokens.iter().position(inside)?;
    let end = first + read_tokens[first..].iter().take_while(|t| inside(t)).count();
    let pairs = align(read, &read_tokens, original, &tokens)?;
    // Parentheses that a macro puts around what it becomes are not part of an expression's text.
    let shed = |r: &Range<usize>| {
        let mut r = r.clone();
        while r.len() > 2 && !(first <= r.start && r.end <= end) {
            if &read[read_tokens[r.start].clone()] != "(" || &read[read_tokens[r.end - 1].clone()] != ")" {
                break;
            }
            r = r.start + 1..r.end - 1;
        }
        r
    };
    let mut found: Option<Range<usize>> = None;
    for pair in pairs {
        let r = shed(&pair.read);
        if r.end <= first || end <= r.start {
            continue;
        }
        if r.start < first || end < r.end {
            return None;
        }
        let start = found.as_ref().map_or(pair.written.start, |f| f.start);
        found = Some(start..pair.written.end);
    }
    let found = found?;
    Some(&original[tokens[found.start].start..tokens[found.end - 1].end])
}

/// The alignment in which as little as possible is macros. A macro is a name, or a name with arguments in
/// parentheses, that stands for any number of tokens in which parentheses match.
fn align(read: &str, r: &[Range<usize>], original: &str, w: &[Range<usize>]) -> Option<Vec<Pair>> {
    let word = |i: usize| &original[w[i].clone()];
    let is_name = |i: usize| word(i).starts_with(|c: char| c.is_alphabetic() || c == '_');
    // How far a macro that begins with a token may reach: the name, and its arguments.
    let reach = |i: usize| -> Vec<usize> {
        let mut ends = vec![i + 1];
        let mut depth = 0;
        for j in i + 1..w.len() {
            depth += nesting(word(j));
            if depth <= 0 {
                ends.extend((j > i + 1 && depth == 0).then_some(j + 1));
                break;
            }
        }
        ends
    };
    // For the rest of both lines: how little is macros, and the step that leads there.
    let mut best: Vec<Vec<Option<(usize, usize, usize)>>> = vec![vec![None; r.len() + 1]; w.len() + 1];
    best[w.len()][r.len()] = Some((0, w.len(), r.len()));
    for i in (0..w.len()).rev() {
        let ends = if is_name(i) { reach(i) } else { Vec::new() };
        for j in (0..=r.len()).rev() {
            let mut here: Option<(usize, usize, usize)> = None;
            if j < r.len() && read[r[j].clone()] == *word(i) {
                here = best[i + 1][j + 1].map(|(n, ..)| (n, i + 1, j + 1));
            }
            for &to in &ends {
                let mut depth = 0;
                for (k, rest) in best[to].iter().enumerate().skip(j) {
                    if let Some((n, ..)) = *rest
                        && depth == 0
                        && here.is_none_or(|(least, ..)| n + to - i < least)
                    {
                        here = Some((n + to - i, to, k));
                    }
                    depth += nesting(r.get(k).map_or("", |token| &read[token.clone()]));
                    if depth < 0 {
                        break;
                    }
                }
            }
            best[i][j] = here;
        }
    }
    let mut pairs = Vec::new();
    let mut at = (0, 0);
    while at != (w.len(), r.len()) {
        let (_, i, j) = best[at.0][at.1]?;
        pairs.push(Pair { read: at.1..j, written: at.0..i });
        at = (i, j);
    }
    Some(pairs)
}

/// How much deeper a token leads.
fn nesting(token: &str) -> i32 {
    match token {
        "(" => 1,
        ")" => -1,
        _ => 0,
    }
}

/// Where the tokens of a line are: names and numbers, literals, and single characters. Comments are left out.
fn tokens(line: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        let rest = &line[at..];
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let length = if rest.starts_with("//") {
            break;
        } else if let Some(comment) = rest.strip_prefix("/*") {
            at += comment.find("*/").map_or(rest.len(), |end| end + 4);
            continue;
        } else if word(c) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if c == '"' || c == '\'' {
            literal(rest, c)
        } else {
            c.len_utf8()
        };
        if !c.is_whitespace() {
            found.push(at..at + length);
        }
        at += length;
    }
    found
}

/// The length of a literal at the beginning of a text.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        if !escaped && c == quote {
            return i + 1;
        }
        escaped = !escaped && c == '\\';
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(read: &str, part: &str, original: &str) -> Option<String> {
        let start = read.find(part).unwrap();
        written(read, start..start + part.len(), original).map(str::to_string)
    }

    #[test]
    fn macros_are_shown_by_name() {
        let original = "for (n = list; n != NULL; n = n->next) /* NULL ends it */";
        let read = "for (n = list; n != ((void *)0); n = n->next)";
        assert_eq!(of(read, "n != ((void *)0)", original).as_deref(), Some("n != NULL"));
        assert_eq!(of(read, "n = n->next", original).as_deref(), Some("n = n->next"));
        let original = "  if (p != NULL && ISDIGIT(p[0]) && c != 'x')";
        let read = " if (p != ((void *)0) && (p[0] >= '0' && p[0] <= '9') && c != 'x')";
        assert_eq!(of(read, "p != ((void *)0)", original).as_deref(), Some("p != NULL"));
        assert_eq!(of(read, "c != 'x'", original).as_deref(), Some("c != 'x'"));
        assert_eq!(of(read, "p[0] >= '0' && p[0] <= '9'", original).as_deref(), Some("ISDIGIT(p[0])"));
    }

    #[test]
    fn a_part_of_a_macro_has_no_text_of_its_own() {
        let read = "if ((a < b && b < 3))";
        assert_eq!(of(read, "a < b", "if (ORDERED(a, b, 3))"), None);
        assert_eq!(of(read, "a < b", "something else"), None);
        assert_eq!(of("x = 1 + 1 ;", "1 + 1", "x = TWO;").as_deref(), Some("TWO"));
    }

    #[test]
    fn literals_and_comments_are_tokens() {
        let line = r#"f("a \" b", '\'') /* c */ + x // y"#;
        let texts: Vec<&str> = tokens(line).into_iter().map(|t| &line[t]).collect();
        assert_eq!(texts, ["f", "(", r#""a \" b""#, ",", r"'\''", ")", "+", "x"]);
    }
}
