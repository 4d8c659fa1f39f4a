"""The table of clients in docs/compatibility.md: written after a whole run in which nothing failed, so that it cannot promise more."""

import json
import re
import subprocess

from .client import NAMES
from .install import REQUIREMENTS
from .paths import BUILD, NODE, REPO

DOCUMENT = REPO / "docs" / "compatibility.md"
BEGIN, END = "<!-- generated: clients -->\n", "<!-- generated: end -->"


def write(cells):
    before, rest = DOCUMENT.read_text().split(BEGIN)
    after = rest[rest.index(END):]
    DOCUMENT.write_text(f"{before}{BEGIN}\n{_table(cells)}\n{after}")


def _table(cells):
    passed = {(cell.scenario, cell.client_name): len(cell.passed) for cell in cells}
    scenarios = dict.fromkeys(cell.scenario for cell in cells)
    rows = [["", *(f"{name} {_version(name)}" for name in NAMES)], ["---", *["--:"] * len(NAMES)]]
    rows += [[scenario, *(str(passed.get((scenario, name), "")) for name in NAMES)] for scenario in scenarios]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _version(name):
    if name == "kcat":
        said = subprocess.run(["kcat", "-V"], capture_output=True, text=True, check=True).stdout
        return re.search(r"Version ([\d.]+).*librdkafka ([\d.]+)", said).expand(r"\1 (librdkafka \2)")
    if name == "kafkajs":
        return json.loads((NODE / "node_modules" / name / "package.json").read_text())["version"]
    if name == "java":
        return next((BUILD / "java" / "lib").glob("kafka-clients-*.jar")).stem.removeprefix("kafka-clients-")
    return re.search(rf"^{name}==(.*)$", REQUIREMENTS.read_text(), re.MULTILINE)[1]
