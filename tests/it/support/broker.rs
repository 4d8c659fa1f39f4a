//! A broker in a process of its own, on free ports and a folder of its own.
//!
//! Rule: a broker that logs at WARN or ERROR, or panics, without the test having announced it, fails the test.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use tempfile::TempDir;

use super::{Client, PATIENCE, eventually};

/// Begins what a broker logs when it serves.
const READY: &str = "klamm is ready:";

/// Settings that keep a broker to itself; a test's own win over them.
const OF_ITS_OWN: [(&str, &str); 6] = [
    ("listeners", "PLAINTEXT://127.0.0.1:0"),
    ("klamm.http.listen", "127.0.0.1:0"),
    ("log.dirs", "data"),
    ("klamm.plugin.dir", "plugins"),
    // Both are wall time, of which a busy machine takes a lot; what must end sooner says so in its own `.toml`.
    ("klamm.plugin.load.timeout.ms", "120000"),
    ("klamm.plugin.call.timeout.ms", "60000"),
];

pub(crate) struct Broker {
    folder: TempDir,
    settings: Vec<(String, String)>,
    /// How many files it may hold open; `None` for as many as this process may.
    open_files: Option<u32>,
    process: Process,
    announced: Vec<String>,
}

/// One life of a broker.
struct Process {
    child: Child,
    kafka: SocketAddr,
    http: SocketAddr,
    log: Log,
}

/// Lines of standard error so far.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Broker {
    /// With the default settings.
    #[track_caller]
    pub(crate) fn start() -> Self {
        Self::with(&[])
    }

    /// With settings as `--set` takes them.
    #[track_caller]
    pub(crate) fn with(settings: &[(&str, &str)]) -> Self {
        Self::under(None, settings)
    }

    /// That may hold no more files open than so many.
    #[track_caller]
    pub(crate) fn with_open_files(open_files: u32, settings: &[(&str, &str)]) -> Self {
        Self::under(Some(open_files), settings)
    }

    #[track_caller]
    fn under(open_files: Option<u32>, settings: &[(&str, &str)]) -> Self {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        let settings: Vec<_> = OF_ITS_OWN.iter().chain(settings).map(owned).collect();
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("plugins")).unwrap();
        share_plugin_cache(folder.path());
        let process = Process::start(folder.path(), &settings, open_files);
        Self { folder, settings, open_files, process, announced: Vec::new() }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.process.kafka
    }

    pub(crate) fn http_address(&self) -> SocketAddr {
        self.process.http
    }

    /// Where `log.dirs` is.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The watched folder.
    pub(crate) fn plugin_dir(&self) -> PathBuf {
        self.folder.path().join("plugins")
    }

    /// Lines at WARN or ERROR that hold `text` are what the test wants to see.
    pub(crate) fn announce(&mut self, text: &str) {
        self.announced.push(text.to_owned());
    }

    /// Waits for a line that holds `text`.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, text: &str) -> String {
        let found = || self.process.log.lines().into_iter().find(|line| line.contains(text));
        eventually(&format!("the log says {text:?}"), found)
    }

    /// kill −9, and again on the same data. The ports are others.
    #[track_caller]
    pub(crate) fn kill_and_restart(&mut self) {
        self.kill();
        self.restart();
    }

    /// kill −9.
    pub(crate) fn kill(&mut self) {
        // The system may end a write between two pages.
        self.announce("cut a torn tail off a segment");
        self.announce("cut off the end of the metadata log");
        self.process.child.kill().unwrap();
        self.process.child.wait().unwrap();
    }

    /// Starts it again after its end and kills it, as soon as it serves or, if that takes longer, `after` a time.
    pub(crate) fn kill_in_start(&mut self, after: Duration) {
        self.assert_quiet();
        let (mut child, log, ready) =
            Process::spawn(self.folder.path(), &self.settings, self.open_files);
        // Either way it is killed.
        let _ = ready.recv_timeout(after);
        child.kill().unwrap();
        child.wait().unwrap();
        self.process.log = log;
    }

    /// Starts it on the same data after its end.
    #[track_caller]
    pub(crate) fn start_again(&mut self) {
        self.restart();
    }

    /// SIGTERM, and again on the same data. The ports are others.
    #[track_caller]
    pub(crate) fn terminate_and_restart(&mut self) {
        let status = self.process.terminate();
        assert!(status.success(), "a clean stop ended with {status}\n{}", self.process.log.text());
        self.restart();
    }

    /// SIGTERM; how it ended.
    #[track_caller]
    pub(crate) fn terminate(&mut self) -> ExitStatus {
        self.process.terminate()
    }

    /// From now on a file of the broker's grows to so many bytes and no further, as on a full disk.
    pub(crate) fn limit_file_size(&self, bytes: u64) {
        let id = rustix::process::Pid::from_child(&self.process.child);
        let limit = rustix::process::Rlimit { current: Some(bytes), maximum: None };
        rustix::process::prlimit(Some(id), rustix::process::Resource::Fsize, limit).unwrap();
    }

    /// How it ends by itself.
    #[track_caller]
    pub(crate) fn end(&mut self) -> ExitStatus {
        eventually("the broker ends", || self.process.child.try_wait().unwrap())
    }

    /// On the same data, with one setting changed.
    #[track_caller]
    pub(crate) fn terminate_and_restart_with(&mut self, key: &str, value: &str) {
        self.settings.push((key.to_owned(), value.to_owned()));
        self.terminate_and_restart();
    }

    #[track_caller]
    fn restart(&mut self) {
        self.assert_quiet();
        self.process = Process::start(self.folder.path(), &self.settings, self.open_files);
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.process.child.try_wait().unwrap().is_none()
    }

    /// What the system tells of its process.
    pub(crate) fn proc(&self, name: &str) -> PathBuf {
        Path::new("/proc").join(self.process.child.id().to_string()).join(name)
    }

    /// Bytes that have ever been resident at once.
    pub(crate) fn peak_resident_bytes(&self) -> u64 {
        let status = fs::read_to_string(self.proc("status"));
        let status = status.expect("the broker lives, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
        kilobytes * 1024
    }

    #[track_caller]
    fn assert_quiet(&self) {
        let lines = self.process.log.lines();
        let loud: Vec<_> = lines
            .iter()
            .filter(|line| is_loud(line))
            .filter(|line| !self.announced.iter().any(|text| line.contains(text)))
            .collect();
        assert!(loud.is_empty(), "the broker logged {loud:#?}\n{}", self.process.log.text());
    }
}

/// Compiling the shipped plugins is most of a start: all brokers of these tests share what was compiled once.
fn share_plugin_cache(folder: &Path) {
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin-cache");
    fs::create_dir_all(&shared).unwrap();
    fs::create_dir(folder.join("data")).unwrap();
    symlink(shared, folder.join("data/plugin-cache")).unwrap();
}

impl Drop for Broker {
    fn drop(&mut self) {
        let failed = thread::panicking();
        if failed || !self.is_alive() {
            // The child may be gone already.
            let _ = self.process.child.kill();
        } else {
            self.process.terminate();
        }
        let _ = self.process.child.wait();
        if failed {
            eprintln!("the broker's log:\n{}", self.process.log.text());
        } else {
            self.assert_quiet();
        }
    }
}

/// At WARN or ERROR, by the level's place after the time; or a panic.
fn is_loud(line: &str) -> bool {
    let level = line.split_whitespace().nth(1);
    matches!(level, Some("WARN" | "ERROR")) || line.contains("panicked at")
}

impl Process {
    #[track_caller]
    fn start(folder: &Path, settings: &[(String, String)], open_files: Option<u32>) -> Self {
        let (mut child, log, ready) = Self::spawn(folder, settings, open_files);
        let Ok(line) = ready.recv_timeout(PATIENCE) else {
            let _ = child.kill();
            let status = child.wait();
            panic!("the broker did not become ready ({status:?})\n{}", log.text());
        };
        let (kafka, http) = addresses(&line);
        Self { child, kafka, http, log }
    }

    /// Begins a start; what comes last hands on the line that says that it is ready.
    fn spawn(
        folder: &Path,
        settings: &[(String, String)],
        open_files: Option<u32>,
    ) -> (Child, Log, mpsc::Receiver<String>) {
        let binary = env::var_os("KLAMM_BIN").unwrap_or_else(|| env!("CARGO_BIN_EXE_klamm").into());
        let mut command = match open_files {
            None => Command::new(binary),
            Some(limit) => limited(limit, &binary),
        };
        command.arg("serve").current_dir(folder).env("NO_COLOR", "1");
        for (key, value) in settings {
            command.arg("--set").arg(format!("{key}={value}"));
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let log = Log::default();
        let ready = log.collect(child.stderr.take().unwrap());
        (child, log, ready)
    }

    #[track_caller]
    fn terminate(&mut self) -> ExitStatus {
        let id = rustix::process::Pid::from_child(&self.child);
        // It may have ended by itself; then waiting tells.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        eventually("the broker stops", || self.child.try_wait().unwrap())
    }
}

/// The limit is a shell's to set, which the binary takes the place of.
fn limited(open_files: u32, binary: &OsStr) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {open_files}; exec \"$0\" \"$@\"")]).arg(binary);
    command
}

/// The addresses of the ready line, `… PLAINTEXT://127.0.0.1:40001 http://127.0.0.1:40002`.
#[track_caller]
fn addresses(line: &str) -> (SocketAddr, SocketAddr) {
    let (_, listed) = line.split_once(READY).unwrap();
    let find = |protocol: &str| {
        let address = listed.split_whitespace().find_map(|it| it.strip_prefix(protocol));
        address.unwrap_or_else(|| panic!("no {protocol} in {line:?}")).parse().unwrap()
    };
    (find("PLAINTEXT://"), find("http://"))
}

impl Log {
    /// Collects lines as they come, and hands on the one that says that the broker is ready.
    fn collect(&self, stderr: ChildStderr) -> mpsc::Receiver<String> {
        let (ready, receiver) = mpsc::channel();
        let log = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if line.contains(READY) {
                    // Nobody waits for it a second time.
                    let _ = ready.send(line.clone());
                }
                log.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        receiver
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn text(&self) -> String {
        self.lines().join("\n")
    }
}
