"""The command line: which cells run, against what, and how the result is told."""

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from . import client, document, frames, table
from .broker import Kafka, Klamm
from .cell import TOOL, Cell
from .install import install
from .paths import KLAMM
from .scenarios import ALL, cannot


def main(arguments):
    options = _parse(arguments)
    # So that what was started here is stopped whichever way the run ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    install()
    if options.write_frames:
        frames.write()
    if options.install_only or options.write_frames:
        return 0
    run = Run(options)
    cells = []
    for scenario, name in _selected(options):
        cells.append(run.cell(scenario, name))
        table.print_cell(cells[-1])
    run.end()
    table.print_all(cells)
    failed = any(cell.failed for cell in cells)
    if options.write_docs and not failed:
        document.write(cells)
    if not (failed or options.keep):
        shutil.rmtree(run.folder)
    else:
        print(f"files of this run: {run.folder}")
    table.print_closing_line(cells)
    return 1 if failed or not cells else 0


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="tests/clients/run", description="Runs real Kafka clients against a broker.")
    parser.add_argument("scenario", nargs="*", choices=[[], *ALL], help="all when none is named")
    parser.add_argument("--client", action="append", choices=client.NAMES, help="only this one; may be repeated")
    parser.add_argument("--against", choices=["klamm", "kafka"], default="klamm",
                        help="kafka: Apache Kafka, for the checks that are plain Kafka")
    parser.add_argument("--long", action="store_true", help="the whole of the long checks: 20 crashes, more records")
    parser.add_argument("--seed", type=int, default=1, help="of the hostile proxy's schedule")
    parser.add_argument("--keep", action="store_true", help="keep the files of a run that passes")
    parser.add_argument("--write-docs", action="store_true",
                        help="write the table in docs/compatibility.md after a whole run without a failure")
    parser.add_argument("--write-frames", action="store_true",
                        help="write down what each client sends, for the test of the broker's decoder, and do nothing else")
    parser.add_argument("--install-only", action="store_true")
    options = parser.parse_args(arguments)
    if options.write_docs and (options.scenario or options.client or options.against != "klamm"):
        parser.error("--write-docs tells of whole runs against Klamm")
    return options


def _selected(options):
    for scenario in options.scenario or ALL:
        for name in ALL[scenario].CLIENTS:
            if (not options.client or name in options.client) and name not in cannot(scenario):
                yield scenario, name


class Run:
    def __init__(self, options):
        self.options = options
        self.folder = Path(tempfile.mkdtemp(prefix="klamm-clients-"))
        self._broker = None
        self._tool = None

    def cell(self, scenario, name):
        cell = Cell(scenario, name, self)
        why = self._why_not(ALL[scenario])
        if why:
            cell.skip("whole", why)
        else:
            cell.run(ALL[scenario])
        return cell

    def _why_not(self, scenario):
        if self.options.against == "kafka" and not scenario.PLAIN_KAFKA:
            return "not plain Kafka"
        if self.options.against == "klamm" and not KLAMM.exists():
            raise SystemExit(f"no broker at {KLAMM}: cargo build, or set KLAMM_BIN")
        return None

    def shared_broker(self):
        if not self._broker:
            kind = Klamm if self.options.against == "klamm" else Kafka
            self._broker = kind(self.folder / "shared").start()
        return self._broker

    def shared_tool(self):
        if not self._tool:
            self._tool = client.start(TOOL, self.shared_broker().bootstrap, self.folder)
        return self._tool

    def end(self):
        if self._tool:
            self._tool.close()
        if self._broker:
            self._broker.stop()
