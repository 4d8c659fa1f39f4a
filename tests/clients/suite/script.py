"""Scripts of raw requests: JSON, one file a subject, in `tests/clients/differential` (its README tells the form)."""

import base64
import json
import re
import time
from pathlib import Path

from .paths import HERE

FOLDER = HERE / "differential"
VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class Script:
    def __init__(self, path):
        read = json.loads(path.read_text())
        self.name = path.stem
        self.topics = read.get("topics", {})
        self.steps = read["steps"]


def scripts():
    return [Script(path) for path in sorted(Path(FOLDER).glob("*.json")) if not path.stem.startswith("allowed")]


def versions(step, common):
    """Those that both brokers announce, in the range that the step names: `3`, `3-`, `-3`, `3-5` or `last`; all without one."""
    if common is None:
        return []
    low, high = common
    asked = step.get("versions", "-")
    if asked == "last":
        return [high]
    first, dash, last = asked.partition("-")
    last = last if dash else first
    return list(range(max(low, int(first or low)), min(high, int(last or high)) + 1))


def filled(tree, values):
    """`tree` with variables by their values: `"$name"` becomes the value itself, within a longer text its text."""
    if isinstance(tree, list):
        return [filled(part, values) for part in tree]
    if isinstance(tree, dict):
        special = _special(tree, values)
        return {key: filled(part, values) for key, part in tree.items()} if special is None else special
    if not isinstance(tree, str):
        return tree
    whole = VARIABLE.fullmatch(tree)
    return values[whole[1]] if whole else VARIABLE.sub(lambda found: str(values[found[1]]), tree)


def _special(tree, values):
    """What JSON cannot say: long texts, and bytes, which the converters of Kafka take as base64."""
    if "$repeat" in tree:
        text, times = tree["$repeat"]
        return text * times
    if "$text" in tree:
        return base64.b64encode(filled(tree["$text"], values).encode()).decode()
    if "$hex" in tree:
        return base64.b64encode(bytes.fromhex(tree["$hex"])).decode()
    return None


def at(tree, path):
    """The part of `tree` at a path such as `topics/0/topicId`."""
    for part in path.split("/"):
        tree = tree[int(part)] if isinstance(tree, list) else tree[part]
    return tree


def first_values():
    """Variables that every script has. The moment is the same for both brokers."""
    return {"now": int(time.time() * 1000)}
