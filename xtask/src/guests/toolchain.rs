//! The compiler that makes core modules of guests.
//!
//! Two will do: Debian's `rustc-web`, which builds the standard library from source and is what the
//! committed components come from, or rustup's with its target `wasm32-unknown-unknown`. That target
//! has no WASI by construction, so a guest cannot import by accident what no plugin is granted.

use super::guest::Guest;
use super::{rustc_wrapper, sources};
use anyhow::{Context, Result, bail, ensure};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

const TARGET: &str = "wasm32-unknown-unknown";
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld-22"];
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_LINKER: &str = "/usr/bin/wasm-ld-22";
const DEBIAN_LIBRARY: &str = "/usr/lib/rustlib/src/rust/library";
const LIBRARIES: &str = "/usr/lib/rustlib/src/rust";

pub(crate) struct Toolchain {
    kind: Kind,
    version: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Debian,
    Rustup,
}

pub(crate) fn install() -> Result<()> {
    run(apt().arg("update"))?;
    run(apt().args(["install", "-y", "--no-install-recommends"]).args(PACKAGES))
}

/// Another one may hold the lock for a while, and mirrors fail now and then.
fn apt() -> Command {
    let mut apt = Command::new("apt-get");
    apt.args(["-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=300"]);
    apt
}

impl Toolchain {
    pub(crate) fn find() -> Result<Self> {
        let debian = [DEBIAN_RUSTC, DEBIAN_CARGO, DEBIAN_LINKER, DEBIAN_LIBRARY];
        if debian.iter().all(|path| Path::new(path).exists()) {
            return Ok(Self {
                kind: Kind::Debian,
                version: output(Command::new(DEBIAN_RUSTC).arg("-V"))?,
            });
        }
        let libraries =
            output(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
        if Path::new(&libraries).exists() {
            return Ok(Self {
                kind: Kind::Rustup,
                version: output(Command::new("rustc").arg("-V"))?,
            });
        }
        bail!(
            "no compiler for {TARGET}: run `rustup target add {TARGET}`, or on Debian \
             `cargo xtask guests install` as root"
        )
    }

    /// As `rustc -V` tells it.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Compiles a guest and tells where its core module is.
    pub(crate) fn compile(&self, root: &Path, guest: &Guest) -> Result<PathBuf> {
        let flags = rustflags(root)?;
        let target = self.build_folder(root, &flags)?;
        let mut cargo = self.cargo();
        cargo.current_dir(&guest.folder);
        cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_ENCODED_RUSTFLAGS", flags);
        rustc_wrapper::wrap(&mut cargo, root, guest)?;
        run(&mut cargo).with_context(|| format!("compile {}", guest.name))?;
        Ok(target
            .join(TARGET)
            .join("release")
            .join(format!("{}.wasm", guest.name.replace('-', "_"))))
    }

    /// A folder for this way of compiling alone: cargo notices changed sources, but neither a changed wrapper around its
    /// compiler nor another linker. This program's own bytes stand for whatever it tells cargo.
    fn build_folder(&self, root: &Path, flags: &str) -> Result<PathBuf> {
        let linker = match self.kind {
            Kind::Debian => output(Command::new(DEBIAN_LINKER).arg("--version"))?,
            Kind::Rustup => String::new(),
        };
        let this_program = fs::read(env::current_exe()?)?;
        let mut hash = Sha256::new();
        for part in [self.version.as_bytes(), linker.as_bytes(), flags.as_bytes(), &this_program] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let name = sources::hex(&hash.finalize());
        let folders = root.join("target/guests-build");
        let folder = folders.join(&name[..16]);
        if !folder.exists() {
            remove_if_there(&folders)?;
        }
        Ok(folder)
    }

    fn cargo(&self) -> Command {
        let debian = self.kind == Kind::Debian;
        let mut cargo = Command::new(if debian { DEBIAN_CARGO } else { "cargo" });
        cargo.args(["build", "--quiet", "--locked", "--release", "--target", TARGET]);
        // What `cargo xtask` itself runs under would reach the other compiler.
        for variable in ["CARGO", "LD_LIBRARY_PATH", "RUSTFLAGS", "RUSTC_WRAPPER"] {
            cargo.env_remove(variable);
        }
        if debian {
            cargo.args([
                "-Z",
                "build-std=std,panic_abort",
                "-Z",
                "build-std-features=optimize_for_size",
            ]);
            cargo.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", DEBIAN_LINKER);
        }
        cargo
    }
}

/// Without the machine's paths, which panics would carry into the component: the same bytes everywhere.
fn rustflags(root: &Path) -> Result<String> {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    let mut flags = vec![remap(root, "/klamm"), remap(Path::new(LIBRARIES), "/rust")];
    // One folder a registry, named after it.
    for registry in fs::read_dir(cargo_home()?.join("registry/src"))? {
        flags.push(remap(&registry?.path(), "/cargo"));
    }
    Ok(flags.join("\u{1f}"))
}

/// Builds in another way, which nobody will go on with.
fn remove_if_there(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

fn cargo_home() -> Result<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    home.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).context("no home directory")
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("run {command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
