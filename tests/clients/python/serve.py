"""The loop of a client process: one JSON request a line on standard input, one JSON answer a line on standard output."""

import json
import sys
import traceback


class Cannot(Exception):
    """The client has no way to do this; the text says what it lacks."""


def serve(verbs, call=lambda verb, arguments: verb(**arguments)):
    """`verbs` are functions by the names that a request's `do` may have; what one returns is the answer."""
    by_name = {verb.__name__: verb for verb in verbs}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": call(by_name[request.pop("do")], request)}
        except Cannot as why:
            answer = {"cannot": str(why)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
            traceback.print_exc()
        print(json.dumps(answer), flush=True)
