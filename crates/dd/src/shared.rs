//! Managers shared by the values that live in them.
//!
//! There is no global manager. A [`Shared`] manager is owned by its handles; a [`Root`] is a function
//! that stays alive as long as some clone of it does. Everything is `Send`, and one thread at a time
//! works in a manager.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::kernel::{OutOfBudget, Outcome};
use crate::node::Node;

/// What all diagram managers offer for the lifetime of nodes.
pub trait Manager {
    /// Keeps `f` alive through collections until it is released as often.
    fn protect(&mut self, f: Node);
    /// Takes back one `protect`.
    fn release(&mut self, f: Node);
    /// Frees every node that no protected one reaches.
    fn collect(&mut self);
    /// Whether a collection would pay.
    fn wants_collection(&self) -> bool;
    /// Called before each operation.
    fn begin(&mut self) {}
}

struct Inner<M> {
    manager: Mutex<M>,
    /// Roots whose last handle was dropped. They are released at the next operation: the manager may
    /// be locked, by the very thread that drops, when a handle goes.
    dropped: Mutex<Vec<Node>>,
}

/// Dropped roots that may wait for a collection.
const MAX_DROPPED: usize = 1 << 12;

/// A manager shared by handles to its functions.
pub struct Shared<M: Manager>(Arc<Inner<M>>);

impl<M: Manager> Clone for Shared<M> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<M: Manager> PartialEq for Shared<M> {
    /// Whether both are the same manager.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<M: Manager> fmt::Debug for Shared<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// A panic elsewhere leaves tables that are complete between operations, so a poisoned lock is taken.
fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<M: Manager> Shared<M> {
    /// Shares `manager`.
    pub fn new(manager: M) -> Self {
        Shared(Arc::new(Inner { manager: Mutex::new(manager), dropped: Mutex::new(Vec::new()) }))
    }

    /// Looks at the manager, or changes it in ways that need no collection. `f` must not use this
    /// handle, which is locked meanwhile; dropping and cloning roots is fine.
    pub fn with<T>(&self, f: impl FnOnce(&mut M) -> T) -> T {
        f(&mut lock(&self.0.manager))
    }

    /// Runs an operation and returns its result as a root. Operands must be held by roots: garbage is
    /// collected first when that pays, and when the operation runs out of nodes it is tried once more
    /// after a collection.
    pub fn op(&self, f: impl FnMut(&mut M) -> Outcome) -> Outcome<Root<M>> {
        let (mut manager, node) = self.attempt(f)?;
        Ok(self.root_in(&mut manager, node))
    }

    /// [`Shared::op`] for an operation with several results.
    pub fn ops(&self, f: impl FnMut(&mut M) -> Outcome<Vec<Node>>) -> Outcome<Vec<Root<M>>> {
        let (mut manager, nodes) = self.attempt(f)?;
        Ok(nodes.into_iter().map(|n| self.root_in(&mut manager, n)).collect())
    }

    fn attempt<T>(&self, mut f: impl FnMut(&mut M) -> Outcome<T>) -> Outcome<(MutexGuard<'_, M>, T)> {
        let mut manager = lock(&self.0.manager);
        if manager.wants_collection() {
            self.collect_in(&mut manager);
        } else if lock(&self.0.dropped).len() > MAX_DROPPED {
            self.release_dropped(&mut manager);
        }
        manager.begin();
        let result = match f(&mut manager) {
            Err(OutOfBudget::Nodes) => {
                self.collect_in(&mut manager);
                manager.begin();
                f(&mut manager)?
            }
            other => other?,
        };
        Ok((manager, result))
    }

    /// Keeps `node` alive.
    pub fn root(&self, node: Node) -> Root<M> {
        self.root_in(&mut lock(&self.0.manager), node)
    }

    fn root_in(&self, manager: &mut M, node: Node) -> Root<M> {
        manager.protect(node);
        Root(Arc::new(Pin { node, shared: self.clone() }))
    }

    /// Frees everything that no root reaches.
    pub fn collect(&self) {
        self.collect_in(&mut lock(&self.0.manager));
    }

    fn collect_in(&self, manager: &mut M) {
        self.release_dropped(manager);
        manager.collect();
    }

    fn release_dropped(&self, manager: &mut M) {
        for node in std::mem::take(&mut *lock(&self.0.dropped)) {
            manager.release(node);
        }
    }
}

struct Pin<M: Manager> {
    node: Node,
    shared: Shared<M>,
}

impl<M: Manager> Drop for Pin<M> {
    fn drop(&mut self) {
        if !self.node.is_constant() {
            lock(&self.shared.0.dropped).push(self.node);
        }
    }
}

/// A function of a shared manager. Cloning is cheap; equal functions of one manager are equal.
pub struct Root<M: Manager>(Arc<Pin<M>>);

impl<M: Manager> Root<M> {
    /// The node, for use in operations of the same manager.
    #[inline]
    pub fn node(&self) -> Node {
        self.0.node
    }

    /// The manager.
    #[inline]
    pub fn shared(&self) -> &Shared<M> {
        &self.0.shared
    }
}

impl<M: Manager> Clone for Root<M> {
    fn clone(&self) -> Self {
        Root(Arc::clone(&self.0))
    }
}

impl<M: Manager> PartialEq for Root<M> {
    fn eq(&self, other: &Self) -> bool {
        self.node() == other.node() && self.shared() == other.shared()
    }
}

impl<M: Manager> Eq for Root<M> {}

impl<M: Manager> fmt::Debug for Root<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.node().fmt(f)
    }
}
