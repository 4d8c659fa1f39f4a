"""How a run is told: a line when a cell ends, then a table of clients and scenarios, then what failed and why."""

from .client import NAMES
from .scenarios import cannot


def print_cell(cell):
    print(f"{cell.scenario:>12}  {cell.client_name:<15} {_sum(cell):<24} {cell.seconds:6.1f} s", flush=True)


def print_all(cells):
    names = [name for name in NAMES if any(cell.client_name == name for cell in cells)]
    scenarios = list(dict.fromkeys(cell.scenario for cell in cells))
    sums = {(cell.scenario, cell.client_name): _sum(cell) for cell in cells}
    print("\n" + "".join(f"{title:<22}" for title in ["", *names]).rstrip())
    for scenario in scenarios:
        sums |= {(scenario, name): "cannot" for name in cannot(scenario)}
        print("".join(f"{text:<22}" for text in [scenario, *(sums.get((scenario, name), "") for name in names)]).rstrip())
    _print_reasons("skipped", [(cell, *skip) for cell in cells for skip in cell.skipped])
    _print_reasons("FAILED", [(cell, *failure) for cell in cells for failure in cell.failed])


def print_closing_line(cells):
    passed, failed, skipped = (sum(len(getattr(cell, kind)) for cell in cells) for kind in ("passed", "failed", "skipped"))
    print(f"{passed} passed, {failed} failed, {skipped} skipped")


def _print_reasons(title, reasons):
    if reasons:
        print()
    for cell, name, why in reasons:
        print(f"{title}: {cell.scenario} {cell.client_name} {name}: {why}")


def _sum(cell):
    parts = [f"{len(cell.passed)} ok" if cell.passed else "", f"{len(cell.failed)} FAILED" if cell.failed else "",
             f"{len(cell.skipped)} skipped" if cell.skipped else ""]
    return ", ".join(filter(None, parts)) or "nothing"
