//! Which names are typedef names right now: all that the grammar of C needs to know of scopes.

use crate::intern::Symbol;

/// The ordinary identifiers in scope, reduced to the question "is it a typedef name?".
#[derive(Default)]
pub(super) struct Scopes {
    /// By symbol number; missing means no.
    typedefs: Vec<bool>,
    /// What to restore at the end of each open scope: symbol and its old answer.
    undo: Vec<(Symbol, bool)>,
    /// Length of `undo` at the start of each open scope.
    marks: Vec<usize>,
}

impl Scopes {
    #[inline]
    pub fn is_typedef(&self, name: Symbol) -> bool {
        self.typedefs.get(name.0 as usize).copied().unwrap_or(false)
    }

    /// Opens a scope.
    pub fn open(&mut self) {
        self.marks.push(self.undo.len());
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for (name, old) in self.undo.drain(mark..).rev() {
            self.typedefs[name.0 as usize] = old;
        }
    }

    /// Declares a name in the innermost scope.
    #[inline]
    pub fn declare(&mut self, name: Symbol, is_typedef: bool) {
        let old = self.is_typedef(name);
        if old == is_typedef {
            return;
        }
        let i = name.0 as usize;
        if i >= self.typedefs.len() {
            self.typedefs.resize(i + 1, false);
        }
        self.typedefs[i] = is_typedef;
        if !self.marks.is_empty() {
            self.undo.push((name, old));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_declarations_hide_outer_ones_until_the_scope_ends() {
        let (t, u) = (Symbol(7), Symbol(9));
        let mut scopes = Scopes::default();
        scopes.declare(t, true);
        scopes.open();
        scopes.declare(t, false);
        scopes.declare(u, true);
        scopes.open();
        scopes.declare(t, true);
        scopes.declare(t, false);
        scopes.close();
        assert!(!scopes.is_typedef(t) && scopes.is_typedef(u));
        scopes.close();
        assert!(scopes.is_typedef(t) && !scopes.is_typedef(u));
    }
}
