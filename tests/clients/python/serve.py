"""The loop of a client process: one JSON request a line on standard input, one JSON answer a line on standard output."""

import json
import sys
import traceback


def serve(verbs):
    """`verbs` has a function for each name that a request's `do` may have; its result is the answer."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": verbs[request.pop("do")](**request)}
        except KeyError as unknown:
            answer = {"error": f"cannot {unknown}"}
            traceback.print_exc()
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
            traceback.print_exc()
        print(json.dumps(answer), flush=True)
