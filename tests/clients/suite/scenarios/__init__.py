"""What is checked: one file a scenario, each with `CLIENTS`, `PLAIN_KAFKA` and `run(cell)`.

A scenario asks and compares; how a client does a thing stands in that client's folder. Whoever is in `CANNOT` is not asked, for
the reason told there. The order here is the order of a whole run: first what each client of the list must do, then what Klamm adds.
"""

from . import (alerts, assignment, big, codecs, commit_resume, consumer_protocol, crash, delete_records, differential, dump,
               exactly_once, filtered, group, groups_admin, idempotence, keys, left_alone, records, seek_pause, timestamp, tools,
               topics)

ALL = {
    "topics": topics,
    "records": records,
    "big": big,
    "codecs": codecs,
    "idempotence": idempotence,
    "assignment": assignment,
    "timestamp": timestamp,
    "seek-pause": seek_pause,
    "group": group,
    "commit-resume": commit_resume,
    "consumer-protocol": consumer_protocol,
    "groups-admin": groups_admin,
    "delete-records": delete_records,
    "dump": dump,
    "left-alone": left_alone,
    "keys": keys,
    "filtered": filtered,
    "exactly-once": exactly_once,
    "crash": crash,
    "alerts": alerts,
    "tools": tools,
    "differential": differential,
}


def cannot(scenario):
    """Clients that cannot do what a scenario asks, and why."""
    return getattr(ALL[scenario], "CANNOT", {})
