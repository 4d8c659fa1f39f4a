"""Child processes: only those started here are ever signalled, by their own handle, and none outlives the run."""

import atexit
import signal
import subprocess

_started = []


def start(command, **options):
    child = subprocess.Popen([str(part) for part in command], **options)
    _started.append(child)
    return child


def stop(child, wait_seconds=15):
    """Asks with SIGTERM, insists with SIGKILL. Returns the exit status."""
    if child.poll() is None:
        child.send_signal(signal.SIGTERM)
        try:
            child.wait(wait_seconds)
        except subprocess.TimeoutExpired:
            child.kill()
    _forget(child)
    return child.wait()


def kill(child):
    child.kill()
    _forget(child)
    child.wait()


def _forget(child):
    if child in _started:
        _started.remove(child)


@atexit.register
def _stop_all():
    for child in list(_started):
        kill(child)
