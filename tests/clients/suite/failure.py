"""How a check ends when it does not pass."""


class Failure(Exception):
    """The broker, or the client's talk with it, is not as it should be."""


class Gone(Failure):
    """The client has ended; nothing more can be asked of it, which ends the cell."""


class Skip(Exception):
    """The check does not apply here; the text says why."""


def expect(found, wanted, what):
    if found != wanted:
        raise Failure(f"{what}: {_short(found)} instead of {_short(wanted)}")


def require(condition, what):
    if not condition:
        raise Failure(what)


def refused(client, word, do, **arguments):
    """The client's error must say `word`."""
    try:
        client.ask(do, **arguments)
    except Gone:
        raise
    except Failure as failure:
        require(word in str(failure).lower(), f"refused for another reason: {failure}")
    else:
        raise Failure(f"{do} was not refused")


def expect_values(found, wanted, what):
    """Compares long lists and names the first difference only."""
    for index, (got, want) in enumerate(zip(found, wanted)):
        if got != want:
            raise Failure(f"{what}: record {index} is {_short(got)} instead of {_short(want)}")
    expect(len(found), len(wanted), f"{what}: number of records")


def _short(value):
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"
