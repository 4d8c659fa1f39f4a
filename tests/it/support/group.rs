//! What every member of a group does first.

use kafka_protocol::{
    messages::{FindCoordinatorRequest, HeartbeatRequest},
    protocol::StrBytes,
};

use super::{Client, eventually};

impl Client {
    /// Waits until the node coordinates the group: whoever asks first makes the topic of offsets.
    #[track_caller]
    pub(crate) fn wait_for_coordinator(&mut self, group: &str) {
        const COORDINATOR_LOAD_IN_PROGRESS: i16 = 14;
        const COORDINATOR_NOT_AVAILABLE: i16 = 15;
        let group = StrBytes::from_string(group.to_owned());
        eventually("the group has a coordinator", || {
            self.call(3, &FindCoordinatorRequest::default().with_key(group.clone()));
            let heartbeat = HeartbeatRequest::default().with_group_id(group.clone().into());
            let code = self.call(3, &heartbeat).error_code;
            let is_early =
                [COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE].contains(&code);
            (!is_early).then_some(())
        });
    }
}
