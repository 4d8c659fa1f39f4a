//! Kills, power cuts and failing disks at each operation of a move.

use super::*;

/// Every operation of a move fails in turn; `check` looks at the node, and at what was acknowledged by it.
fn each_fails(
    configs: &[(&str, &str)],
    fault: Fault,
    failing: fn(Arc<Faults>) -> [Arc<Faults>; 2],
    check: fn(&Node, i32, &Arc<Faults>),
) {
    for operation in 0.. {
        let roots = Roots::new();
        let faults = Faults::none();
        let disks = failing(Arc::clone(&faults));
        let node = roots.node([&disks[0], &disks[1]], configs);
        let count = written(&node);
        let planned = faults.operations() + operation;
        faults.fail_after(operation, fault);
        let count = node.move_while_appending(1, count);
        let came_so_far = faults.operations() > planned;
        check(&node, count, &faults);
        drop(node);

        let node = roots.healthy(configs);
        assert_eq!(node.places().0.len(), 1, "operation {operation}");
        node.check(count);
        // What was interrupted goes on.
        while node.replicas.carry_out_move() {}
        let (lies_in, moves_to) = node.places();
        assert_eq!((lies_in.len(), moves_to), (1, vec![]));
        let folders: Vec<_> = [0, 1].iter().flat_map(|&it| roots.folders(it)).collect();
        assert_eq!(folders, ["a-0"], "operation {operation}: nothing is left behind");
        node.check(count);
        if !came_so_far {
            assert!(operation > 20, "{operation} operations");
            return;
        }
    }
}

#[test]
fn a_kill_at_any_moment_of_a_move_loses_nothing() {
    each_fails(SMALL, Fault::Crash, |it| [it.clone(), it], |_, _, _| {});
}

#[tokio::test]
async fn a_power_cut_at_any_moment_of_a_move_takes_nothing_that_waited_for_its_fsync() {
    each_fails(ACKED, Fault::Crash, |it| [it.clone(), it], |_, _, faults| faults.cut_the_power());
}

#[test]
fn a_failing_target_ends_the_move_and_the_log_goes_on_where_it_is() {
    for errno in [Errno::IO, Errno::NOSPC, Errno::MFILE] {
        let check: fn(&Node, i32, &Arc<Faults>) = |node, count, faults| {
            if node.places().0 == [0] {
                assert!(node.dirs[0].health.is_online());
                node.check(count);
            } else {
                faults.fail_no_more();
            }
        };
        each_fails(SMALL, Fault::Refused(errno), |it| [Faults::none(), it], check);
    }
}

#[test]
fn a_failing_source_ends_the_move_and_takes_its_own_directory_alone() {
    for errno in [Errno::IO, Errno::MFILE] {
        let check: fn(&Node, i32, &Arc<Faults>) = |node, count, _| {
            assert!(node.dirs[1].health.is_online());
            let again = |it: Arc<Partition>| it.append(vec![numbered(count - 1)], Acks::Leader);
            if node.at().is_ok_and(|it| again(it).is_ok()) {
                node.check(count);
            }
        };
        each_fails(SMALL, Fault::Refused(errno), |it| [it, Faults::none()], check);
    }
}
