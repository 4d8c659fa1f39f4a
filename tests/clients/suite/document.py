"""The table of clients in docs/compatibility.md: written after a whole run in which nothing failed, so that it cannot promise more."""

import json
import re
import subprocess

from .client import NAMES
from .install import REQUIREMENTS
from .paths import BUILD, GO, NODE, REPO
from .scenarios import ALL, cannot

DOCUMENT = REPO / "docs" / "compatibility.md"
TITLES = {"platformatic": "@platformatic/kafka", "java": "kafka-clients (Java)", "kafka-go": "segmentio/kafka-go"}
MODULES = {"franz-go": "github.com/twmb/franz-go", "sarama": "github.com/IBM/sarama", "kafka-go": "github.com/segmentio/kafka-go"}
BEGIN, END = "<!-- generated: clients -->\n", "<!-- generated: end -->"


def write(cells):
    before, rest = DOCUMENT.read_text().split(BEGIN)
    after = rest[rest.index(END):]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{_table(cells)}\n{_reasons()}\n{after}")


def _table(cells):
    passed = {(cell.scenario, cell.client_name): len(cell.passed) for cell in cells}
    scenarios = dict.fromkeys(cell.scenario for cell in cells)
    rows = [["", *(f"{TITLES.get(name, name)} {_version(name)}" for name in NAMES)], ["---", *["--:"] * len(NAMES)]]
    rows += [[scenario, *(_entry(passed, scenario, name) for name in NAMES)] for scenario in scenarios]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _entry(passed, scenario, name):
    return "cannot" if name in cannot(scenario) else str(passed.get((scenario, name), ""))


def _reasons():
    """Who cannot what, a line a reason."""
    whose = {}
    for scenario in ALL:
        for name, why in cannot(scenario).items():
            whose.setdefault((name, why), []).append(f"`{scenario}`")
    return "".join(f"- {', '.join(scenarios)}: {TITLES.get(name, name)} {why}.\n" for (name, why), scenarios in whose.items())


def _version(name):
    if name == "kcat":
        said = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
        return re.search(r"Version ([\d.]+).*librdkafka ([\d.]+)", said).expand(r"\1 (librdkafka \2)")
    if name in ("kafkajs", "platformatic"):
        return json.loads((NODE / "package.json").read_text())["dependencies"][TITLES.get(name, name)]
    if name in MODULES:
        return re.search(rf"{MODULES[name]} v(\S+)", (GO / "go.mod").read_text())[1]
    if name == "java":
        return next((BUILD / "java" / "lib").glob("kafka-clients-*.jar")).stem.removeprefix("kafka-clients-")
    return re.search(rf"^{name}==(.*)$", REQUIREMENTS.read_text(), re.MULTILINE)[1]
