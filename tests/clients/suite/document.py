"""The tables of clients and of Kafka's tools in docs/compatibility.md: written after a whole run in which nothing failed, so that it cannot promise more."""

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
CLIENTS, TOOLS, END = "<!-- generated: clients -->\n", "<!-- generated: tools -->\n", "<!-- generated: end -->"
# They ask what no client asks; the first has a table of its own.
NO_CLIENTS = ["tools", "differential"]


def write(cells):
    of_clients = [cell for cell in cells if cell.scenario not in NO_CLIENTS]
    _put(CLIENTS, f"{_table(of_clients)}\n{_reasons(of_clients)}")
    _put(TOOLS, _tools([cell for cell in cells if cell.scenario == "tools"]))


def _put(begin, text):
    before, rest = DOCUMENT.read_text().split(begin)
    after = rest[rest.index(END):]
    DOCUMENT.write_text(f"{before}{begin}\n{text}\n{after}")


def _tools(cells):
    """A row a tool: what passed, and what was not asked because it is not served."""
    rows = {}
    for cell in cells:
        for name in cell.passed:
            tool, _, what = name.partition(": ")
            rows.setdefault(tool, ([], []))[0].append(what)
        for name, why in cell.skipped:
            tool, _, what = name.partition(": ")
            rows.setdefault(tool, ([], []))[1].append(f"{what} ({why})")
    table = [["tool", "works", "not yet"], ["---"] * 3]
    table += [[f"`{tool}`", "; ".join(works), "; ".join(missing)] for tool, (works, missing) in sorted(rows.items())]
    return "".join(f"| {' | '.join(row)} |\n" for row in table)


def _table(cells):
    passed = {(cell.scenario, cell.client_name): len(cell.passed) for cell in cells}
    scenarios = dict.fromkeys(cell.scenario for cell in cells)
    rows = [["", *(f"{TITLES.get(name, name)} {_version(name)}" for name in NAMES)], ["---", *["--:"] * len(NAMES)]]
    rows += [[scenario, *(_entry(passed, scenario, name) for name in NAMES)] for scenario in scenarios]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _entry(passed, scenario, name):
    return "cannot" if name in cannot(scenario) else str(passed.get((scenario, name), ""))


def _reasons(cells):
    """Who cannot what, wholly or in part, a line a reason."""
    whose = {}
    for scenario in ALL:
        for name, why in cannot(scenario).items():
            whose.setdefault((name, why), {})[f"`{scenario}`"] = None
    for cell in cells:
        for _, why in cell.skipped:
            reason = (cell.client_name, why.removeprefix(f"{cell.client_name} "))
            whose.setdefault(reason, {})[f"a part of `{cell.scenario}`"] = None
    return "".join(f"- {', '.join(parts)}: {TITLES.get(name, name)} {why}.\n" for (name, why), parts in whose.items())


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
