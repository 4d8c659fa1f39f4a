//! Applies committed entries to the image and publishes it; takes and keeps the snapshot that lets the log be purged.

use std::{io, sync::Arc};

use futures_util::{Stream, StreamExt};
use openraft::{
    EntryPayload, OptionalSend, RaftSnapshotBuilder,
    storage::{EntryResponder, RaftStateMachine},
};
use tokio::sync::watch;

use super::{
    consensus::{Change, Consensus, Entry, EntryId, Snapshot, SnapshotMeta, StoredMembership},
    files::Files,
    frame,
    log_store::damaged,
    stored::StoredSnapshot,
};
use crate::metadata::{MetadataImage, MetadataRecord};

/// The cluster's state on this member, in memory; a restart builds it from the snapshot and the log.
#[derive(Clone)]
pub(super) struct StateMachine {
    files: Files,
    applied: Option<EntryId>,
    membership: StoredMembership,
    image: MetadataImage,
    published: watch::Sender<Arc<MetadataImage>>,
}

impl StateMachine {
    /// Begins with the snapshot, if there is one.
    pub(super) fn open(
        files: &Files,
        published: watch::Sender<Arc<MetadataImage>>,
    ) -> io::Result<Self> {
        let mut machine = Self {
            files: files.clone(),
            applied: None,
            membership: StoredMembership::default(),
            image: MetadataImage::default(),
            published,
        };
        if let Some(snapshot) = machine.read_snapshot()? {
            machine.restore(&snapshot.meta, &snapshot.snapshot);
        }
        Ok(machine)
    }

    /// The last entry that is in the image.
    pub(super) fn applied(&self) -> Option<EntryId> {
        self.applied
    }

    fn read_snapshot(&self) -> io::Result<Option<Snapshot>> {
        let path = self.files.snapshot();
        let Some(bytes) = Files::read(&path)? else { return Ok(None) };
        let stored: StoredSnapshot = frame::decode_one(&bytes).map_err(|it| damaged(&path, &it))?;
        Ok(Some(Snapshot { meta: stored.meta(), snapshot: stored.records }))
    }

    fn save_snapshot(&self, snapshot: &StoredSnapshot) -> io::Result<()> {
        self.files.replace(&self.files.snapshot(), &frame::encode(snapshot)).map(drop)
    }

    fn restore(&mut self, meta: &SnapshotMeta, records: &[MetadataRecord]) {
        self.applied = meta.last_log_id;
        self.membership = meta.last_membership.clone();
        self.image = MetadataImage::default();
        self.image.replay_all(records);
        self.publish();
    }

    fn apply_entry(&mut self, entry: &Entry) {
        self.applied = Some(entry.log_id);
        match &entry.payload {
            EntryPayload::Blank => {}
            EntryPayload::Normal(Change(records)) => {
                self.image.replay_all(records);
            }
            EntryPayload::Membership(members) => {
                self.membership = StoredMembership::new(Some(entry.log_id), members.clone());
            }
        }
    }

    fn publish(&mut self) {
        self.image.version = self.applied.map_or(0, |it| it.index);
        self.published.send_replace(Arc::new(self.image.clone()));
    }

    fn meta(&self) -> SnapshotMeta {
        SnapshotMeta { last_log_id: self.applied, last_membership: self.membership.clone() }
    }
}

impl RaftStateMachine<Consensus> for StateMachine {
    type SnapshotData = Vec<MetadataRecord>;
    type SnapshotBuilder = Self;

    async fn applied_state(&mut self) -> io::Result<(Option<EntryId>, StoredMembership)> {
        Ok((self.applied, self.membership.clone()))
    }

    /// Publishes once for all entries, and answers after that: who proposed an entry finds it in the image.
    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = io::Result<EntryResponder<Consensus>>> + Unpin + OptionalSend,
    {
        let mut responders = Vec::new();
        while let Some(next) = entries.next().await {
            let (entry, responder) = next?;
            self.apply_entry(&entry);
            responders.extend(responder);
        }
        self.publish();
        for responder in responders {
            responder.send(());
        }
        Ok(())
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta,
        records: Vec<MetadataRecord>,
    ) -> io::Result<()> {
        self.restore(meta, &records);
        self.save_snapshot(&StoredSnapshot::new(meta, records))
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        self.read_snapshot()
    }
}

impl RaftSnapshotBuilder<Consensus> for StateMachine {
    type SnapshotData = Vec<MetadataRecord>;

    /// Runs on a copy of the machine, while the machine goes on.
    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        let records = self.image.to_records();
        let stored = StoredSnapshot::new(&self.meta(), records.clone());
        let this = self.clone();
        tokio::task::spawn_blocking(move || this.save_snapshot(&stored))
            .await
            .map_err(io::Error::other)??;
        Ok(Snapshot { meta: self.meta(), snapshot: records })
    }
}
