//! The threads on which guests run. A caller waits for its answer and never blocks its runtime.
//!
//! Each thread keeps its own guests, one a version, and uses them again: a fresh one for each batch would cost ten
//! times the call. A guest is dropped after any failure, after many calls, and when its version runs no more.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread::JoinHandle,
    time::Instant,
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::{
    engine::{GUESTS_PER_THREAD_MAX, PluginEngine},
    failure::{CallFailure, FailureKind},
    fair_queue::{FairQueue, Taken},
    guest::{Answer, Call, Guest},
    load::Loaded,
    quarantine::Admission,
    slot::Slot,
};

/// Calls after which a guest is replaced: its memory never shrinks by itself.
const CALLS_PER_GUEST_MAX: u32 = 10_000;

/// The room's threads.
pub(super) struct Guests {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Shared {
    engine: Arc<PluginEngine>,
    queue: Mutex<Queue>,
    wake: Condvar,
}

struct Queue {
    jobs: FairQueue<Job>,
    /// Counts the sweeps asked for.
    sweeps: u64,
    /// Threads that make guests of new versions now, and how many may: the others go on with calls meanwhile.
    refreshing: usize,
    refreshing_max: usize,
    ended: bool,
}

struct Job {
    slot: Arc<Slot>,
    loaded: Arc<Loaded>,
    call: Call,
    is_probe: bool,
    asked_at: Instant,
    reply: oneshot::Sender<Result<Answer, CallFailure>>,
}

/// What a thread does next.
enum Next {
    Run(Taken<Job>),
    Sweep(u64),
    End,
}

impl Guests {
    pub(super) fn start(engine: Arc<PluginEngine>, threads: usize) -> std::io::Result<Self> {
        let queue = Queue {
            jobs: FairQueue::new(threads),
            sweeps: 0,
            refreshing: 0,
            refreshing_max: (threads / 2).max(1),
            ended: false,
        };
        let shared = Arc::new(Shared { engine, queue: Mutex::new(queue), wake: Condvar::new() });
        let started = Self { shared: shared.clone(), threads: Mutex::default() };
        for index in 0..threads {
            let shared = shared.clone();
            let thread = std::thread::Builder::new()
                .name(format!("plugin-{index}"))
                .spawn(move || Thread::new(shared).work())?;
            started.threads.lock().push(thread);
        }
        Ok(started)
    }

    /// Asks a version of a plugin. The end is noted at its slot.
    pub(super) async fn call(
        &self,
        slot: &Arc<Slot>,
        loaded: &Arc<Loaded>,
        call: Call,
    ) -> Result<Answer, CallFailure> {
        let now = Instant::now();
        let (reply, answer) = oneshot::channel();
        let result = match slot.admit(now) {
            Admission::Refuse => Err(quarantined()),
            admission => self.enqueue(Job {
                slot: slot.clone(),
                loaded: loaded.clone(),
                call,
                is_probe: admission == Admission::Probe,
                asked_at: now,
                reply,
            }),
        };
        if let Err(failure) = result {
            slot.metrics.failed(failure.kind);
            return Err(failure);
        }
        answer
            .await
            .unwrap_or_else(|_| Err(CallFailure::new(FailureKind::Busy, "the broker stops")))
    }

    fn enqueue(&self, job: Job) -> Result<(), CallFailure> {
        let mut queue = self.shared.queue.lock();
        if queue.ended {
            return Err(CallFailure::new(FailureKind::Busy, "the broker stops"));
        }
        let name = job.slot.name.clone();
        queue
            .jobs
            .push(&name, job)
            .map_err(|_| CallFailure::new(FailureKind::Busy, "too many of its calls wait"))?;
        drop(queue);
        self.shared.wake.notify_one();
        Ok(())
    }

    /// Lets each thread drop the guests of versions that run no more.
    pub(super) fn sweep(&self) {
        self.shared.queue.lock().sweeps += 1;
        self.shared.wake.notify_all();
    }

    /// Ends the threads after the calls that run; those that wait fail. Blocks for at most one call's limit.
    pub(super) fn end(&self) {
        let mut queue = self.shared.queue.lock();
        queue.ended = true;
        queue.jobs.clear();
        drop(queue);
        self.shared.wake.notify_all();
        for thread in self.threads.lock().drain(..) {
            // A thread's panic was caught and told of already.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// False when enough threads do so.
    fn begin_refresh(&self) -> bool {
        let mut queue = self.queue.lock();
        let may = queue.refreshing < queue.refreshing_max;
        queue.refreshing += usize::from(may);
        may
    }

    fn next(&self, sweeps_seen: u64) -> Next {
        let mut queue = self.queue.lock();
        loop {
            if queue.ended {
                return Next::End;
            }
            if queue.sweeps != sweeps_seen {
                return Next::Sweep(queue.sweeps);
            }
            if let Some(taken) = queue.jobs.take(|job| job.slot.is_trusted()) {
                return Next::Run(taken);
            }
            self.wake.wait(&mut queue);
        }
    }
}

/// One thread with the guests that it keeps, the one used last at the end.
struct Thread {
    shared: Arc<Shared>,
    kept: VecDeque<Kept>,
}

struct Kept {
    slot: Arc<Slot>,
    load_id: u64,
    guest: Guest,
}

impl Thread {
    fn new(shared: Arc<Shared>) -> Self {
        Self { shared, kept: VecDeque::new() }
    }

    fn work(mut self) {
        let mut sweeps_seen = 0;
        loop {
            match self.shared.next(sweeps_seen) {
                Next::End => return,
                Next::Sweep(sweeps) => {
                    sweeps_seen = sweeps;
                    self.sweep();
                }
                Next::Run(Taken { job, suspect }) => {
                    self.answer(job);
                    self.shared.queue.lock().jobs.done(suspect);
                }
            }
        }
    }

    /// Drops the guests of versions that run no more; half of the threads make new ones at once, so that batches need not
    /// wait while a new version configures itself.
    fn sweep(&mut self) {
        let mut stale = Vec::new();
        for kept in std::mem::take(&mut self.kept) {
            match kept.slot.active_id() {
                Some(id) if id == kept.load_id => self.kept.push_back(kept),
                // The old guest leaves its place in the pool here.
                Some(_) => stale.push(kept.slot),
                None => {}
            }
        }
        if !stale.is_empty() && self.shared.begin_refresh() {
            for slot in stale {
                self.refresh(slot);
            }
            self.shared.queue.lock().refreshing -= 1;
        }
    }

    fn refresh(&mut self, slot: Arc<Slot>) {
        if self.shared.queue.lock().ended {
            return;
        }
        let Some(active) = slot.active() else { return };
        // A failure shows at the next call.
        if let Ok(guest) = active.guest(&self.shared.engine) {
            self.kept.push_back(Kept { slot, load_id: active.id, guest });
        }
    }

    fn answer(&mut self, job: Job) {
        // A caller that went away wants no answer, and nothing is stored by it.
        if job.reply.is_closed() {
            return;
        }
        let result = match refusal(&job) {
            Some(failure) => Err(failure),
            None => self.run(&job),
        };
        job.slot.finished(job.loaded.id, result.as_ref().err(), Instant::now());
        let _ = job.reply.send(result);
    }

    fn run(&mut self, job: &Job) -> Result<Answer, CallFailure> {
        let started = Instant::now();
        // A panic in a conversion would be a bug of ours; it costs this call, not the thread.
        let result = catch_unwind(AssertUnwindSafe(|| self.ask(job))).unwrap_or_else(|_| {
            Err(CallFailure::malformed("the broker could not convert the call or its answer"))
        });
        job.slot.metrics.called(job.call.records(), started.elapsed().as_secs_f64());
        result
    }

    /// The guest is put back only after a good answer.
    fn ask(&mut self, job: &Job) -> Result<Answer, CallFailure> {
        let fresh = job.call.wants_fresh_guest();
        let kept = if fresh { None } else { self.take(job.loaded.id) };
        let mut guest = match kept {
            Some(guest) => guest,
            None => job.loaded.guest(&self.shared.engine)?,
        };
        let timeout = job.loaded.manifest.limits.call_timeout;
        let answer = guest.call(&self.shared.engine, &job.call, timeout)?;
        let still_runs = job.slot.active_id() == Some(job.loaded.id);
        if !fresh && still_runs && guest.calls() < CALLS_PER_GUEST_MAX {
            self.keep(job, guest);
        }
        Ok(answer)
    }

    fn take(&mut self, load_id: u64) -> Option<Guest> {
        let at = self.kept.iter().position(|it| it.load_id == load_id)?;
        self.kept.remove(at).map(|it| it.guest)
    }

    /// The one used longest ago makes room.
    fn keep(&mut self, job: &Job, guest: Guest) {
        if self.kept.len() >= GUESTS_PER_THREAD_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(Kept { slot: job.slot.clone(), load_id: job.loaded.id, guest });
    }
}

/// Why a call that waited is not made any more.
fn refusal(job: &Job) -> Option<CallFailure> {
    if job.slot.is_confined() && !job.is_probe {
        return Some(quarantined());
    }
    let waited = job.asked_at.elapsed();
    (waited > job.loaded.manifest.limits.queue_timeout()).then(|| {
        CallFailure::new(
            FailureKind::Busy,
            format!("waited {} ms for a thread", waited.as_millis()),
        )
    })
}

fn quarantined() -> CallFailure {
    CallFailure::new(FailureKind::Quarantined, "is quarantined after failing again and again")
}
