"""Where things are. Everything that a run makes is under `target/clients`."""

import os
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
REPO = HERE.parent.parent
BUILD = REPO / "target" / "clients"
VENV_PYTHON = BUILD / "venv" / "bin" / "python"
NODE = HERE / "node"
JAVA = HERE / "java"
GO = HERE / "go"
GO_CLIENTS = BUILD / "go" / "clients"
JAVA_CLASSPATH = f"{BUILD / 'java' / 'classes'}:{BUILD / 'java' / 'lib'}/*"
SHARED = Path(os.environ.get("KLAMM_SHARED", REPO.parent / "shared"))
LOGHUB = SHARED / "data" / "loghub"
EXAMPLE_LOGS = REPO / "examples" / "log-collection" / "logs"
KLAMM = Path(os.environ.get("KLAMM_BIN", REPO / "target" / "debug" / "klamm"))
# Starting quickly matters more than running fast: each scenario has its own processes.
JVM = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp", JAVA_CLASSPATH]
