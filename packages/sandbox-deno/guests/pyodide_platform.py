"""What the Python guest of Callgate needs to know about Pyodide: no processes, no threads, no signals, one blocking channel.

The guest itself is callgate_guest.py, as it runs in CPython. Everything waits in one place, the channel to the host: a
tool's answer, a timer, an event loop. Waiting is the host's time and costs no CPU.
"""

import asyncio
import time

import callgate_guest as guest

channel = guest.channel


def issue_timer(seconds):
    """Asks the host to answer after a while; returns the number of the call."""
    guest.output.flush()
    seq = channel.next_seq
    channel.next_seq += 1
    channel.send(guest.frame({"k": "timer", "seq": seq, "delayMs": max(0, min(seconds * 1000, 2**31 - 1))}) + blocked())
    return seq


def blocked():
    return guest.frame({"k": "blocked", "delivered": channel.delivered})


def sleep(seconds):
    """`time.sleep`, as the host's timer."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    channel.wait(issue_timer(seconds))


class _Waiter:
    """The selector of an event loop: waits for the host, and for nothing else."""

    def __init__(self):
        self.timer = None  # The call that will end the wait, and when.

    def select(self, timeout):
        if timeout is not None and timeout <= 0:
            return []
        if timeout is None:
            if not channel.futures:
                raise guest.Stalled()
            channel.send(blocked())
        else:
            self.await_timer(time.monotonic() + timeout)
        channel.take_next()
        if self.timer is not None and self.timer[0] not in channel.abandoned:
            self.timer = None  # It was answered; the loop looks for itself whether it is time.
        return []

    def await_timer(self, ends):
        """Asks for a timer unless one is under way that ends as early."""
        if self.timer is not None and self.timer[1] <= ends + 0.001:
            return channel.send(blocked())
        self.timer = (issue_timer(ends - time.monotonic()), ends)
        channel.abandoned.add(self.timer[0])

    def close(self):
        pass


class GuestLoop(asyncio.BaseEventLoop):
    """An event loop that blocks, as loops do: its waiting is a read of the channel."""

    def __init__(self):
        super().__init__()
        self._selector = _Waiter()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def add_reader(self, descriptor, callback, *given):
        pass

    def remove_reader(self, descriptor):
        return False


class _Policy(asyncio.events._BaseDefaultEventLoopPolicy):
    _loop_factory = GuestLoop


class Output(guest.Output):
    """No pipes and no thread: what is not printed by Python comes to the host by itself."""

    def start(self):
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            buffer = guest.io.BufferedWriter(guest._Stream(self, descriptor), 8192)
            stream = guest.io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True)
            setattr(guest.sys, name, stream)
            setattr(guest.sys, f"__{name}__", stream)


def bound_resources(bounds):
    import callgate_host

    if bounds.get("dataBytes"):
        callgate_host.bound(bounds["dataBytes"])


class _NoFaults:
    """Stands for faulthandler while the guest starts: there are no signals to handle."""

    @staticmethod
    def enable(*given, **named):
        pass


def start():
    guest.Output = Output
    guest.output = Output()
    guest.bound_resources = bound_resources
    guest.faulthandler = _NoFaults
    guest.os.register_at_fork = lambda **named: None
    time.sleep = sleep
    asyncio.events._set_running_loop(None)  # Pyodide says that the browser's loop runs.
    asyncio.events._set_event_loop_policy(_Policy())
    guest._new_loop = asyncio.new_event_loop = asyncio.events.new_event_loop = GuestLoop
    guest.main()
