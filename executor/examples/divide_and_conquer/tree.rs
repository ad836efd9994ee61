//! A search in a tree. Each node is a task of one scope. The task that finds the value cancels the scope.

use executor::fork_join::ForkJoinPool;
use executor::{ExecutorExt, Scope, ScopeError};
use std::sync::Mutex;

pub struct Node {
    pub value: u32,
    pub children: Vec<Node>,
}

/// Returns a tree with `levels` levels, in which node `n` has the children `2n` and `2n + 1`.
pub fn of_depth(levels: u32, value: u32) -> Node {
    let below = if levels > 1 { vec![2 * value, 2 * value + 1] } else { Vec::new() };
    Node { value, children: below.into_iter().map(|value| of_depth(levels - 1, value)).collect() }
}

type Found<'tree> = Mutex<Option<&'tree Node>>;

// ANCHOR: find
/// # Errors
/// Returns an error if the search was cancelled from outside.
pub fn find<'tree>(
    pool: &ForkJoinPool,
    root: &'tree Node,
    wanted: u32,
) -> Result<Option<&'tree Node>, ScopeError> {
    let found = Found::default();
    let ended = pool.scope(|scope| visit(scope, root, wanted, &found));
    match found.into_inner().expect("no task panics with the lock") {
        Some(node) => Ok(Some(node)), // tasks that had not begun were dropped
        None => ended.map(|()| None),
    }
}

fn visit<'scope, 'tree>(
    scope: &'scope Scope<'scope, '_>,
    node: &'tree Node,
    wanted: u32,
    found: &'scope Found<'tree>,
) where
    'tree: 'scope,
{
    if node.value == wanted {
        *found.lock().expect("no task panics with the lock") = Some(node);
        return scope.cancel();
    }
    for child in &node.children {
        let _ = scope.spawn(move || visit(scope, child, wanted, found)); // refused: the pool is shut down
    }
}
// ANCHOR_END: find
