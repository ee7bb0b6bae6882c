//! Columns of the original text: the preprocessor keeps lines, but shortens white space and
//! removes comments.

/// The column in `original` of what stands at a column of the preprocessed line; both are counted
/// from 1. `None` if the lines differ up to there in more than white space and comments: a macro
/// was expanded.
pub fn original_column(read: &str, column: u32, original: &str) -> Option<u32> {
    let column = column as usize;
    let mut kept = kept(original).into_iter();
    for (i, c) in read.chars().enumerate().filter(|(_, c)| !c.is_whitespace()) {
        let (at, same) = kept.next()?;
        if c != same {
            return None;
        }
        if i + 1 >= column {
            return (i + 1 == column).then_some(at);
        }
    }
    None
}

/// The characters of a line that the preprocessor keeps, with their columns.
fn kept(line: &str) -> Vec<(u32, char)> {
    let mut kept = Vec::new();
    let mut quote = None;
    let mut chars = (1..).zip(line.chars()).peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (Some(_), '\\') => {
                kept.push((at, c));
                kept.extend(chars.next().filter(|(_, c)| !c.is_whitespace()));
                continue;
            }
            (Some(q), c) if c == q => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '/') => match chars.peek() {
                Some((_, '/')) => break,
                Some((_, '*')) => {
                    chars.next();
                    let mut last = ' ';
                    for (_, c) in chars.by_ref() {
                        if last == '*' && c == '/' {
                            break;
                        }
                        last = c;
                    }
                    continue;
                }
                _ => {}
            },
            _ => {}
        }
        if !c.is_whitespace() {
            kept.push((at, c));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_comments_are_seen_through() {
        assert_eq!(original_column("    x = f( 1 );", 15, "\tx   = f( 1 ); // one"), Some(14));
        assert_eq!(original_column("a = b;", 5, "a /* * / */ = b;"), Some(15));
        assert_eq!(original_column("s = \"//\"; t;", 11, "s  =  \"//\";  t;"), Some(14));
    }

    #[test]
    fn an_expanded_macro_gives_no_column() {
        assert_eq!(original_column("int x = 5 + y;", 13, "int x = FIVE + y;"), None);
        assert_eq!(original_column("int x = 5 + y;", 5, "int x = FIVE + y;"), Some(5));
        assert_eq!(original_column("a", 3, "a"), None);
    }
}
