//! The simulated work: a tree whose inner nodes are joins, and whose leaves are plain work. All times are
//! nanoseconds.

/// A node. Nodes are numbered depth first: the first half of node `n` is node `n + 1`. The pieces of a node
/// are the nodes from the node itself up to (not including) its `end`.
pub struct Node {
    /// The work that a join does before it calls its halves, or all the work of a leaf.
    pub before: u64,
    /// The work that a join does after its halves have ended, such as a merge.
    pub after: u64,
    /// The node of the second half, if this node is a join.
    pub second: Option<usize>,
    pub end: usize,
}

pub struct Tree(pub Vec<Node>);

/// A part of the work: a leaf, or a join of two halves.
pub enum Piece<T> {
    Leaf(u64),
    Join { before: u64, halves: [T; 2], after: u64 },
}

impl Tree {
    pub fn grow<T>(whole: T, split: &impl Fn(T) -> Piece<T>) -> Self {
        let mut tree = Self(Vec::new());
        tree.add(whole, split);
        tree
    }

    fn add<T>(&mut self, piece: T, split: &impl Fn(T) -> Piece<T>) {
        let own = self.0.len();
        self.0.push(Node { before: 0, after: 0, second: None, end: 0 });
        match split(piece) {
            Piece::Leaf(work) => self.0[own].before = work,
            Piece::Join { before, halves: [first, second], after } => {
                self.add(first, split);
                (self.0[own].before, self.0[own].after) = (before, after);
                self.0[own].second = Some(self.0.len());
                self.add(second, split);
            }
        }
        self.0[own].end = self.0.len();
    }

    /// Returns a tree of this shape, with all times scaled so that the total work is `work`.
    pub fn scaled(&self, work: u64) -> Self {
        let (from, to) = (u128::from(self.work()), u128::from(work));
        let scaled =
            |time: u64| u64::try_from(u128::from(time) * to / from).expect("it is less than the work");
        let node = |node: &Node| Node { before: scaled(node.before), after: scaled(node.after), ..*node };
        Self(self.0.iter().map(node).collect())
    }

    /// T1: the time that one worker alone needs for the tree.
    pub fn work(&self) -> u64 {
        self.0.iter().map(|node| node.before + node.after).sum()
    }

    /// T∞: the length of the longest path through the tree. Any number of workers needs at least this
    /// time.
    pub fn span(&self) -> u64 {
        let mut spans = vec![0; self.0.len()];
        for (number, node) in self.0.iter().enumerate().rev() {
            let halves = node.second.map_or(0, |second| spans[second].max(spans[number + 1]));
            spans[number] = node.before + halves + node.after;
        }
        spans[0]
    }
}
