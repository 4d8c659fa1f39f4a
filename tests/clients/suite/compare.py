"""Two answers field by field, and the differences that are allowed, each for a reason: `tests/clients/differential/allowed.json`."""

import json
import re
from typing import NamedTuple

from .script import FOLDER

ABSENT = "absent"
UNSET = [ABSENT, None, "", 0, "AAAAAAAAAAAAAAAAAAAAAA"]


class Difference(NamedTuple):
    """Paths are such as `topics/0/topicId`; elements of a list without order go by their key."""

    path: str
    kafka: object
    klamm: object

    def __str__(self):
        return f"{self.path}: Kafka {_short(self.kafka)}, Klamm {_short(self.klamm)}"


class Rules:
    def __init__(self):
        read = json.loads((FOLDER / "allowed.json").read_text())
        self._unordered = read["unordered"]
        self._allowed = read["allowed"]
        self._used = set()

    def differences(self, api, step, kafka, klamm):
        """Those that nothing allows."""
        pairs = _walk("", self._keyed(api, "", kafka), self._keyed(api, "", klamm))
        return [pair for pair in pairs if not self._is_allowed(api, step, pair)]

    def unused(self):
        """Rules that allowed nothing, and ordered no list, in a whole run: they are out of date, unless it was by chance."""
        rules = [rule for rule in self._allowed + self._unordered if id(rule) not in self._used and not rule.get("chance")]
        return [f"{rule['api']} {rule['path']}" for rule in rules]

    def _is_allowed(self, api, step, pair):
        rule = next((rule for rule in self._allowed if _applies(rule, api, step, pair)), None)
        if rule:
            self._used.add(id(rule))
        return bool(rule)

    def _keyed(self, api, path, tree):
        """Lists without order as objects by key."""
        if isinstance(tree, dict):
            return {key: self._keyed(api, f"{path}/{key}", part) for key, part in tree.items()}
        if not isinstance(tree, list):
            return tree
        for rule in self._unordered:
            if _matches(rule["api"], api) and _matches(rule["path"], path[1:]):
                if len(tree) > 1:
                    self._used.add(id(rule))
                return _by_key([self._keyed(api, f"{path}/*", part) for part in tree], rule["by"])
        return [self._keyed(api, f"{path}/{index}", part) for index, part in enumerate(tree)]


def _applies(rule, api, step, pair):
    both_set = not rule.get("both set") or not (pair.kafka in UNSET or pair.klamm in UNSET)
    return (_matches(rule["api"], api) and _matches(rule.get("step", "**"), step) and _matches(rule["path"], pair.path)
            and rule.get("kafka", pair.kafka) == pair.kafka and rule.get("klamm", pair.klamm) == pair.klamm and both_set)


def _matches(pattern, text):
    """`*` is anything within a part of a path, `**` anything, `|` parts alternatives."""
    expression = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*").replace(r"\|", "|")
    return re.fullmatch(expression, text) is not None


def _by_key(parts, by):
    """What is there twice is compared twice."""
    keyed = {}
    for part in parts:
        key = str(part) if by == "itself" else "/".join(str(part.get(field)) for field in by.split(","))
        while key in keyed:
            key += " again"
        keyed[key] = part
    # So that a part which is a key itself, as an entity of a quota, reads the same.
    return dict(sorted(keyed.items()))


def _walk(path, kafka, klamm):
    if isinstance(kafka, dict) and isinstance(klamm, dict):
        for key in dict.fromkeys([*kafka, *klamm]):
            yield from _walk(f"{path}/{key}", kafka.get(key, ABSENT), klamm.get(key, ABSENT))
    elif isinstance(kafka, list) and isinstance(klamm, list):
        for index in range(max(len(kafka), len(klamm))):
            yield from _walk(f"{path}/{index}", *(side[index] if index < len(side) else ABSENT for side in (kafka, klamm)))
    elif kafka != klamm:
        yield Difference(path[1:], kafka, klamm)


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
