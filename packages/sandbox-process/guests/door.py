"""The inner end of a guest's way out: listens on the guest's own loopback and passes bytes to the host's proxy.

Started as `door.py SOCKET PORT COMMAND...`: it listens, leaves a process behind that serves, and becomes COMMAND. It
decides nothing: who goes around it to SOCKET meets the same proxy. Standard library only, CPython 3.9 or newer.
"""

import os
import selectors
import socket
import sys

CHUNK = 65_536


def serve(listener, path):
    poll = selectors.DefaultSelector()
    listener.setblocking(False)
    poll.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in poll.select():
            if key.fileobj is listener:
                accept(poll, listener, path)
            else:
                key.data(key.fileobj)


def accept(poll, listener, path):
    try:
        inner, _ = listener.accept()
    except OSError:
        return
    outer = socket.socket(socket.AF_UNIX)
    try:
        outer.connect(path)
    except OSError:
        inner.close()
        outer.close()
        return
    Pair(poll, inner, outer)


class Pair:
    """Two sockets, each read only while what came before could be written to the other."""

    def __init__(self, poll, inner, outer):
        self.poll = poll
        self.other = {inner: outer, outer: inner}
        self.waiting = {inner: b"", outer: b""}  # To be written to this one.
        self.ended = set()  # Nothing more comes from this one.
        for one in self.other:
            one.setblocking(False)
            poll.register(one, selectors.EVENT_READ, self.ready)

    def ready(self, one):
        if one not in self.other:
            return
        try:
            if self.waiting[one]:
                self.write(one)
            elif one not in self.ended:
                self.read(one)
        except BlockingIOError:
            pass
        except OSError:
            return self.close()
        if len(self.ended) == 2 and not any(self.waiting.values()):
            return self.close()
        for each, opposite in self.other.items():
            events = selectors.EVENT_WRITE if self.waiting[each] else 0
            if each not in self.ended and not self.waiting[opposite] and not self.waiting[each]:
                events |= selectors.EVENT_READ
            self.watch(each, events)

    def read(self, one):
        data = one.recv(CHUNK)
        opposite = self.other[one]
        if data:
            self.waiting[opposite] = data
            self.write(opposite)
        else:
            self.ended.add(one)
            opposite.shutdown(socket.SHUT_WR)

    def write(self, one):
        self.waiting[one] = self.waiting[one][one.send(self.waiting[one]) :]

    def watch(self, one, events):
        known = one in self.poll.get_map()
        if not events and known:
            self.poll.unregister(one)
        elif events and known:
            self.poll.modify(one, events, self.ready)
        elif events:
            self.poll.register(one, events, self.ready)

    def close(self):
        for one in self.other:
            self.watch(one, 0)
            one.close()
        self.other = {}


def main(path, port, command):
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    if os.fork() == 0:
        # Twice, so that no program finds a child that it did not start.
        if os.fork() == 0:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            kept = listener.fileno()
            os.closerange(3, kept)
            os.closerange(kept + 1, 256)
            serve(listener, path)
        os._exit(0)
    os.wait()
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
