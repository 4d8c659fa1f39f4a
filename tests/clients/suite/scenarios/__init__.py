"""What is checked: one file a scenario, each with `CLIENTS`, `PLAIN_KAFKA` and `run(cell)`.

A scenario asks and compares; how a client does a thing stands in that client's folder. The order here is the order of a
whole run.
"""

from . import (admin, alerts, crash, differential, dump, exactly_once, fidelity, filtered, groups, keys, left_alone, offsets,
               roundtrip, tools)

ALL = {
    "roundtrip": roundtrip,
    "fidelity": fidelity,
    "offsets": offsets,
    "admin": admin,
    "dump": dump,
    "groups": groups,
    "left-alone": left_alone,
    "keys": keys,
    "filtered": filtered,
    "exactly-once": exactly_once,
    "crash": crash,
    "alerts": alerts,
    "tools": tools,
    "differential": differential,
}
