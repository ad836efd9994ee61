//! Tests that the simulation of `examples/steal_simulation` does all the work once and in order, and keeps
//! the theoretical bounds.

#[path = "../../examples/steal_simulation/costs.rs"]
#[allow(unreachable_pub, dead_code)] // they read like modules of a library
mod costs;
#[path = "../../examples/steal_simulation/granularity.rs"]
#[allow(unreachable_pub)]
mod granularity;
#[path = "../../examples/steal_simulation/joins.rs"]
#[allow(unreachable_pub)]
mod joins;
#[path = "../../examples/steal_simulation/log.rs"]
#[allow(unreachable_pub)]
mod log;
#[path = "../../examples/steal_simulation/pool.rs"]
#[allow(unreachable_pub)]
mod pool;
#[path = "../../examples/steal_simulation/seat.rs"]
#[allow(unreachable_pub)]
mod seat;
#[path = "../../examples/steal_simulation/thieves.rs"]
#[allow(unreachable_pub)]
mod thieves;
#[path = "../../examples/steal_simulation/tree.rs"]
#[allow(unreachable_pub, dead_code)]
mod tree;

use costs::{Costs, Offers, ROUND};
use log::{Run, What};
use pool::simulate;
use tree::{Piece, Tree};

/// The costs of a pool in which only the work takes time. In such a pool, the result depends only on which
/// worker takes which piece.
const FREE: Costs =
    Costs { call: 0, offer: 0, steal: 0, look: 1, patience: 0, wake: 0, wake_up: 0, offers: Offers::All };

/// Returns a random tree that has halves of different sizes, and work before and after the halves.
fn drawn(seed: u64) -> Tree {
    let hash =
        |n: u64| (n ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd134_2543_de82_ef95) >> 33;
    Tree::grow((1_u64, 60 + hash(0) % 400), &|(name, size)| {
        if size == 1 {
            return Piece::Leaf(1 + hash(name) % 3_000);
        }
        let (first, names) = (1 + hash(name) % (size - 1), 2 * name % (1 << 40));
        let halves = [(names + 1, first), (names + 2, size - first)];
        Piece::Join { before: hash(name + 7) % 100, halves, after: hash(name + 9) % 200 }
    })
}

fn joins_of(tree: &Tree) -> u64 {
    tree.0.iter().filter(|node| node.second.is_some()).count() as u64
}

/// Calls `check` with each tree, each number of workers and each set of costs, and with the result of the
/// run.
fn for_each_run(check: impl Fn(&Tree, usize, Costs, &Run)) {
    for seed in 1..60 {
        let tree = drawn(seed);
        for workers in [1, 2, 3, 8, 64] {
            for costs in [FREE, ROUND, Costs { offers: Offers::All, ..ROUND }] {
                check(&tree, workers, costs, &simulate(&tree, workers, costs, seed, true));
            }
        }
    }
}

#[test]
fn all_work_is_done_and_none_of_it_twice() {
    for_each_run(|tree, workers, _, run| {
        assert_eq!(run.worked, tree.work(), "{workers} workers");
        let mut turns = vec![0; tree.0.len()];
        run.log.iter().for_each(|event| {
            if let What::Works(node, _) = event.what {
                turns[node] += 1;
            }
        });
        for (node, turns) in tree.0.iter().zip(turns) {
            assert_eq!(turns, if node.second.is_some() { 2 } else { 1 }); // before and after the join
        }
    });
}

#[test]
fn no_piece_begins_before_its_join_and_no_join_ends_before_its_pieces() {
    for_each_run(|tree, _, _, run| {
        let (mut begun, mut ended) = (vec![u64::MAX; tree.0.len()], vec![0; tree.0.len()]);
        let mut split = vec![u64::MAX; tree.0.len()];
        for event in &run.log {
            let What::Works(node, time) = event.what else { continue };
            if begun[node] == u64::MAX {
                begun[node] = event.at;
                split[node] = event.at + time;
            } else {
                let second = tree.0[node].second.expect("only joins work twice");
                assert!(event.at >= ended[node + 1].max(ended[second]), "a join ends before its halves");
            }
            ended[node] = event.at + time;
        }
        for (number, node) in tree.0.iter().enumerate() {
            if let Some(second) = node.second {
                assert!(
                    begun[number + 1].min(begun[second]) >= split[number],
                    "a half begins before its join"
                );
            }
        }
    });
}

#[test]
fn one_worker_takes_the_sum_of_the_costs() {
    for_each_run(|tree, workers, costs, run| {
        if workers == 1 {
            let plain = joins_of(tree) - run.offered;
            assert_eq!(run.time, tree.work() + costs.offer * run.offered + costs.call * plain);
            assert_eq!((run.stolen, run.wake_ups), (0, 0));
        }
    });
}

#[test]
fn no_run_is_faster_than_the_work_divided_or_than_the_longest_way() {
    for_each_run(|tree, workers, _, run| {
        assert!(run.time * workers as u64 >= tree.work());
        assert!(run.time >= tree.span());
    });
}

/// In theory, a run takes at most `T1/p + c · T∞` if thieves may take any piece. In this simulation a waiting
/// worker takes only pieces of the half that it waits for, and theory gives no bound for such workers. For
/// the trees of this test, `c` must be at least 3.94, and the test allows a `c` of 5.
#[test]
fn without_costs_a_run_is_not_much_slower_than_greedy() {
    for seed in 1..200 {
        let tree = drawn(seed);
        for workers in [2, 3, 8, 64] {
            let run = simulate(&tree, workers, FREE, seed, false);
            let bound = tree.work() / workers as u64 + 5 * tree.span();
            assert!(run.time <= bound, "seed {seed}, {workers} workers: {} > {bound}", run.time);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run_and_others_give_others() {
    let tree = drawn(1);
    let times = |seed| {
        let run = simulate(&tree, 8, ROUND, seed, true);
        run.log.iter().map(|event| (event.at, event.worker, event.what)).collect::<Vec<_>>()
    };
    assert_eq!(times(5), times(5));
    assert!((6..20).any(|seed| times(seed) != times(5)));
}

#[test]
fn a_waiting_worker_runs_only_pieces_of_what_it_waits_for() {
    let helped = std::cell::Cell::new(0);
    for_each_run(|tree, _, _, run| {
        for event in &run.log {
            if let What::Helps(piece, _, awaited) = event.what {
                assert!((awaited + 1..tree.0[awaited].end).contains(&piece));
                helped.set(helped.get() + 1);
            }
        }
    });
    assert!(helped.get() > 0, "no worker has helped");
}

#[test]
fn a_thief_takes_the_oldest_and_the_owner_the_youngest() {
    for_each_run(|_, workers, _, run| {
        let mut queues = vec![Vec::new(); workers];
        for event in &run.log {
            match event.what {
                What::Offers(half) => queues[event.worker].push(half),
                What::TakesBack(half) => assert_eq!(queues[event.worker].pop(), Some(half)),
                What::Steals(half, victim) => assert_eq!(queues[victim].remove(0), half),
                What::Helps(half, victim, _) => queues[victim].retain(|&other| other != half),
                _ => {}
            }
        }
        assert!(queues.concat().is_empty());
    });
}

#[test]
fn adaptive_offers_are_rare_for_fine_pieces_and_constant_for_coarse_ones() {
    let tree = |leaf| {
        Tree::grow(12, &|depth| match depth {
            0 => Piece::Leaf(leaf),
            _ => Piece::Join { before: 0, halves: [depth - 1; 2], after: 0 },
        })
    };
    let offered = |leaf| simulate(&tree(leaf), 1, ROUND, 1, false).offered;
    assert!(offered(10) < 4_095 / 6, "{}", offered(10));
    assert_eq!(offered(100_000), 4_095);
}
