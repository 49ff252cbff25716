"""The Python guest of Callgate: runs inside a sandbox, CPython 3.9 or newer, standard library only.

It reads jobs from descriptor 3 and writes frames to descriptor 4 (docs/reference/guest-protocol.md). A frame is two
big-endian 32-bit lengths, a JSON object (the head) and raw bytes (the payload). Nothing here is a wall: the launcher
is. What a program does to this file it does to itself, and the host believes nothing of what it reads.
"""

import ast
import base64
import builtins
import difflib
import faulthandler
import gc
import io
import json
import linecache
import math
import os
import select
import signal
import stat
import struct
import sys
import threading
import traceback
import types

PROTOCOL = 1
PROGRAM = "program.py"
TAG = "$cg"
SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 200
MAX_DIGITS = 100_000
MAX_MESSAGE = 16_384
MAX_NAME = 200
MAIN_THREAD = threading.get_ident()


class ToolError(Exception):
    """A call that did not end ok: `.code`, `.tool`, `.retryable`, `.details`."""

    def __init__(self, message, code="TOOL_FAILED", tool="", retryable=False, details=None):
        super().__init__(message)
        self.code, self.tool, self.retryable, self.details = code, tool, retryable, details


class ToolNotFound(ToolError, AttributeError):
    """There is no such tool or namespace; also an AttributeError, so that `hasattr` works."""


class ValueUnsupported(ToolError, TypeError):
    """A value that cannot cross; `.details["path"]` points to it."""


class RemoteError(Exception):
    """An error that a tool returned as a value."""


# ---------------------------------------------------------------------------------------------------------------- values


def encode(value):
    """A value as (JSON text, tagged): the codec of @callgate/contract. Raises ValueUnsupported with a JSON Pointer."""
    walk = _Walk()
    return walk.write(value, 0), walk.tagged


class _Walk:
    def __init__(self):
        self.tagged = False
        self.path = []
        self.open = set()

    def refuse(self, what, code="VALUE_UNSUPPORTED"):
        path = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in self.path)
        raise ValueUnsupported(f"{what} (at {path or 'the top'})", code=code, details={"path": path})

    def tag(self, name, payload=None):
        self.tagged = True
        return f'{{"{TAG}":"{name}"}}' if payload is None else f'{{"{TAG}":"{name}","v":{payload}}}'

    def write(self, value, depth):
        kind = type(value)
        if kind is str:
            return _text(value)
        if value is None:
            return "null"
        if kind is bool:
            return "true" if value else "false"
        if kind is int:
            return self.integer(value)
        if kind is float:
            return self.real(value)
        if depth >= MAX_DEPTH:
            self.refuse(f"The value is nested deeper than {MAX_DEPTH}", "VALUE_TOO_LARGE")
        if id(value) in self.open:
            self.refuse("The value contains itself; a cycle cannot cross")
        self.open.add(id(value))
        written = self.compound(value, kind, depth + 1)
        self.open.discard(id(value))
        return written

    def integer(self, value):
        if -SAFE_INTEGER <= value <= SAFE_INTEGER:
            return int.__repr__(value)
        if value.bit_length() > MAX_DIGITS * 3.32:
            self.refuse(f"An int of more than {MAX_DIGITS} digits cannot cross", "VALUE_TOO_LARGE")
        return self.tag("bigint", f'"{_digits(value)}"')

    def real(self, value):
        if value != value:
            return self.tag("nan")
        if value in (math.inf, -math.inf):
            return self.tag("inf" if value > 0 else "-inf")
        if value == 0 and math.copysign(1, value) < 0:
            return self.tag("-0")
        return float.__repr__(value)

    def compound(self, value, kind, depth):
        if isinstance(value, dict):
            return self.mapping(value, depth)
        if isinstance(value, (list, tuple)):
            return f"[{self.items(value, depth)}]"
        if isinstance(value, (set, frozenset)):
            return self.tag("set", f"[{self.items(value, depth)}]")
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self.tag("bytes", f'"{base64.b64encode(value).decode()}"')
        if isinstance(value, BaseException):
            code = getattr(value, "code", None)
            parts = [type(value).__name__, str(value)] + ([code] if isinstance(code, str) else [])
            return self.tag("error", json.dumps(parts))
        if isinstance(value, (str, bool, int, float)):  # subclasses, such as members of an enumeration
            return self.write({str: str.__str__, int: int.__int__, float: float.__float__}[_base(value)](value), depth)
        return self.other(value, kind, depth)

    def items(self, values, depth):
        parts = []
        self.path.append(0)
        for index, item in enumerate(values):
            self.path[-1] = index
            parts.append(self.write(item, depth))
        self.path.pop()
        return ",".join(parts)

    def mapping(self, value, depth):
        parts = []
        named = all(type(key) is str for key in value)
        pairs = not named or TAG in value
        self.path.append("")
        for key, item in value.items():
            self.path[-1] = key
            written = self.write(item, depth)
            if not pairs:
                parts.append(f"{_text(key)}:{written}")
            else:
                parts.append(f"[{self.write(key, depth)},{written}]")
        self.path.pop()
        if not pairs:
            return "{" + ",".join(parts) + "}"
        return self.tag("object" if named else "map", "[" + ",".join(parts) + "]")

    def other(self, value, kind, depth):
        module = kind.__module__.split(".")[0]
        if module == "datetime" and kind.__name__ == "datetime":
            return self.tag("date", self.moment(value))
        if module == "datetime" and kind.__name__ in ("date", "time"):
            return _text(value.isoformat())
        if module == "numpy" and kind.__name__ == "ndarray":
            return self.write(value.tolist(), depth)
        if module == "numpy" and hasattr(value, "item"):
            return self.write(value.item(), depth)
        name = kind.__qualname__
        if name == "coroutine":
            self.refuse("A coroutine cannot cross; await it first")
        hint = {"DataFrame": 'pass frame.to_dict("records")', "Series": "pass series.tolist()", "Decimal": "pass float(x) or str(x)"}.get(name)
        self.refuse(f"A {name} cannot cross; {hint or 'pass a dict, a list or a string'}")

    def moment(self, value):
        import datetime

        aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.timezone.utc)
        delta = aware - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return str((delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000)


def _base(value):
    return str if isinstance(value, str) else float if isinstance(value, float) else int


def _digits(value):
    limit = getattr(sys, "get_int_max_str_digits", lambda: 0)()
    if limit:
        sys.set_int_max_str_digits(0)
    try:
        return str(value)
    finally:
        if limit:
            sys.set_int_max_str_digits(limit)


def _text(value):
    """A JSON string. Lone surrogates are escaped, so that the text is UTF-8."""
    try:
        value.encode()
        return json.dumps(value, ensure_ascii=False)
    except UnicodeEncodeError:
        return json.dumps(value)


def decode(text, tagged):
    """The value that the host wrote."""
    tree = json.loads(text)
    return _revive(tree) if tagged else tree


def _revive(tree):
    if type(tree) is list:
        return [_revive(item) for item in tree]
    if type(tree) is not dict:
        return tree
    if TAG not in tree:
        return {key: _revive(item) for key, item in tree.items()}
    return _from_tag(tree[TAG], tree.get("v"))


def _from_tag(name, payload):
    constants = {"undefined": None, "hole": None, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "-0": -0.0}
    if name in constants:
        return constants[name]
    if name == "bigint":
        sign = -1 if payload.startswith("-") else 1
        return sign * _parse_digits(payload.lstrip("-"))
    if name == "date":
        import datetime

        zero = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return None if payload is None else zero + datetime.timedelta(milliseconds=payload)
    if name in ("bytes", "buffer"):
        return base64.b64decode(payload)
    if name == "view":
        return _view(*payload)
    if name == "object":
        return {key: _revive(item) for key, item in payload}
    if name == "map":
        pairs = [(_key(_revive(key)), _revive(item)) for key, item in payload]
        return dict(pairs) if all(_hashable(key) for key, _ in pairs) else pairs
    if name == "set":
        items = [_key(_revive(item)) for item in payload]
        return set(items) if all(map(_hashable, items)) else items
    if name == "error":
        error = RemoteError(payload[1])
        error.name, error.code = payload[0], payload[2] if len(payload) > 2 else None
        return error
    raise ValueError("not a value of the codec")


def _parse_digits(digits):
    limit = getattr(sys, "get_int_max_str_digits", lambda: 0)()
    if limit:
        sys.set_int_max_str_digits(0)
    try:
        return int(digits)
    finally:
        if limit:
            sys.set_int_max_str_digits(limit)


def _view(kind, text):
    import array

    codes = {"Int8Array": "b", "Uint8ClampedArray": "B", "Int16Array": "h", "Uint16Array": "H", "Int32Array": "i", "Uint32Array": "I"}
    codes.update({"Float32Array": "f", "Float64Array": "d", "BigInt64Array": "q", "BigUint64Array": "Q"})
    data = base64.b64decode(text)
    return array.array(codes[kind], data) if kind in codes else data


def _key(value):
    """A list as a key is a tuple, as which it was sent."""
    return tuple(map(_key, value)) if type(value) is list else value


def _hashable(value):
    try:
        hash(value)
        return True
    except TypeError:
        return False


# --------------------------------------------------------------------------------------------------------------- channel


def frame(head, payload=b""):
    text = json.dumps(head, separators=(",", ":")).encode()
    return struct.pack(">II", len(text), len(payload)) + text + payload


class Channel:
    """Frames to and from the host. Any thread may call tools; one of those that wait reads for all."""

    def __init__(self):
        self.limits = {}
        self.closed = False
        self.sending = threading.RLock()
        self.waiting = threading.Condition(threading.Lock())
        self.reading = False
        self.results = {}
        self.futures = {}
        self.loops = {}
        self.abandoned = set()
        self.buffer = bytearray()
        self.next_seq = 0
        self.delivered = 0
        self.is_idle = True  # No program runs, or no block of a session.
        self.is_writing = False  # The main thread is in the middle of a frame.
        self.is_interrupted = False
        self.interrupted_block = 0  # The last block that the host asked to interrupt.

    def send(self, data):
        """Writes whole frames: an interrupt waits until the last byte is out."""
        is_main = threading.get_ident() == MAIN_THREAD
        with self.sending:
            outer = self.is_writing
            self.is_writing = outer or is_main
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(4, view) :]
            finally:
                if is_main:
                    self.is_writing = outer
        if is_main and not outer and self.is_interrupted:
            self.is_interrupted = False
            raise KeyboardInterrupt()

    def interrupt(self, _signal, frame):
        """SIGINT: ends what the program does; what it defined stays."""
        if self.is_idle:
            return
        if frame is not None and frame.f_code is _Stream.write.__code__ and not self.is_writing:
            return self.interrupt_soon()
        if self.is_writing:
            self.is_interrupted = True
            return
        raise KeyboardInterrupt()

    def interrupt_soon(self):
        """The signal again, from outside of what the main thread is in the middle of."""
        self.is_interrupted = False
        threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT)).start()

    def begin(self, block):
        """A program starts. An interrupt of this block that came before it began counts, although its signal did not."""
        self.is_idle = False
        if block is None:
            return  # Of a session only; and not every platform can tell whether something is there to be read.
        while self.buffer or select.select([3], [], [], 0)[0]:
            self.take(*self.receive())
        if self.interrupted_block >= block:
            raise KeyboardInterrupt()

    def receive(self):
        """One frame. Blocks. Bytes that came are kept, whatever interrupts."""
        while True:
            if len(self.buffer) >= 8:
                head_size, size = struct.unpack_from(">II", self.buffer)
                total = 8 + head_size + size
                if len(self.buffer) >= total:
                    head = json.loads(bytes(self.buffer[8 : 8 + head_size]))
                    payload = bytes(self.buffer[8 + head_size : total])
                    del self.buffer[:total]
                    return head, payload
            data = os.read(3, 1 << 20)
            if not data:
                os._exit(0)  # The host is gone.
            self.buffer += data

    def take_next(self):
        """Takes one frame, and those that came with it: no event of an event loop would tell of them."""
        self.take(*self.receive())
        while self.futures and len(self.buffer) >= 8 and len(self.buffer) >= 8 + sum(struct.unpack_from(">II", self.buffer)):
            self.take(*self.receive())

    def issue(self, kind, name, args, blocking):
        """Sends a call; returns its number. Raises before anything is sent when the arguments cannot cross."""
        if self.closed:
            raise ToolError("Tools cannot be called from a forked process; call them in the program itself", "CALL_IN_CHILD", name)
        try:
            text, tagged = encode(args)
        except ValueUnsupported as error:
            error.tool = name
            raise
        payload = text.encode()
        bound = self.limits.get("argumentBytes", 1 << 22)
        if len(payload) > bound:
            details = {"limit": "argumentBytes", "limitValue": bound}
            raise ToolError(f"The arguments are {len(payload)} bytes, the limit is {bound} (argumentBytes). Send less", "LIMIT_EXCEEDED", name, details=details)
        output.flush()
        with self.sending:
            if self.is_idle:
                raise ToolError("No block of the session is under way; call tools in a block", "NO_BLOCK", name)
            seq = self.next_seq
            self.next_seq += 1
            data = frame({"k": kind, "seq": seq, "name": name, "tagged": tagged}, payload)
            self.send(data + frame({"k": "blocked", "delivered": self.delivered}) if blocking else data)
        return seq

    def take(self, head, payload):
        if head["k"] == "interrupt":
            self.interrupted_block = head["block"]
            return
        seq = head["seq"]
        self.delivered += 1
        answer = (head, payload)
        future = self.futures.pop(seq, None)
        if future is None:
            if seq in self.abandoned:
                self.abandoned.discard(seq)
            else:
                self.results[seq] = answer
            return
        loop = future.get_loop()
        settle = lambda: future.done() or _settle(future, answer)
        if self.loops.get(loop) == threading.get_ident():
            settle()
        else:
            loop.call_soon_threadsafe(settle)
        if not any(other.get_loop() is loop for other in self.futures.values()):
            loop.call_soon_threadsafe(lambda: loop.remove_reader(3) if not self.futures else None)

    def wait(self, seq):
        """The answer to a call, read by whichever thread is first."""
        while True:
            with self.waiting:
                if seq in self.results:
                    return self.results.pop(seq)
                if self.reading:
                    self.waiting.wait()
                    continue
                self.reading = True
            try:
                self.take_next()
            except BaseException:
                self.abandoned.add(seq)
                raise
            finally:
                with self.waiting:
                    self.reading = False
                    self.waiting.notify_all()

    def call(self, kind, name, args):
        return _value(self.wait(self.issue(kind, name, args, True)))

    async def call_async(self, kind, name, args):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()
        self.loops[loop] = threading.get_ident()
        with self.waiting:
            self.futures[self.issue(kind, name, args, False)] = future
        loop.add_reader(3, self.readable)
        return _value(await future)

    def readable(self):
        with self.waiting:
            if self.reading:
                return
            self.take_next()


def _settle(future, answer):
    future.set_result(answer)


def _value(answer):
    head, payload = answer
    error = head.get("error")
    if error is None:
        return decode(payload.decode(), head.get("tagged", False))
    details = error.get("details")
    details = None if details is None else decode(details["json"], details["tagged"])
    raise ToolError(error.get("message", ""), error.get("code", "TOOL_FAILED"), error.get("tool", ""), error.get("retryable", False), details)


channel = Channel()


# ---------------------------------------------------------------------------------------------------------------- output


class Output:
    """What is printed, as frames in the order it was written.

    Descriptors 1 and 2 of the program are pipes that end here, for child processes and C code. They are emptied before
    each write of Python's own, so that order holds between them, and by a thread while the program is busy.
    """

    prompt_bytes = 65_536  # Up to here every line goes at once; later lines go in larger pieces.

    def __init__(self):
        self.lock = threading.RLock()
        self.pipes = {}
        self.pending = bytearray()
        self.pending_stream = 1
        self.sent = 0

    def start(self):
        for descriptor in (1, 2):
            reader, writer = os.pipe()
            os.dup2(writer, descriptor, inheritable=True)
            os.close(writer)
            os.set_blocking(reader, False)
            self.pipes[reader] = descriptor
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            stream = io.TextIOWrapper(io.BufferedWriter(_Stream(self, descriptor), 8192), "utf-8", "backslashreplace", line_buffering=True)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        before = threading.stack_size(262_144)
        threading.Thread(target=self.pump, daemon=True).start()
        threading.stack_size(before)

    def pump(self):
        poll = select.poll()
        for reader in self.pipes:
            poll.register(reader, select.POLLIN)
        while True:
            poll.poll()
            with self.lock:
                self.drain()

    def drain(self):
        for reader, descriptor in self.pipes.items():
            while True:
                try:
                    data = os.read(reader, 65_536)
                except BlockingIOError:
                    break
                if not data:
                    break
                self.add(descriptor, data)
                if len(data) < 65_536:
                    break

    def add(self, descriptor, data):
        if self.pending and self.pending_stream != descriptor:
            self.push()
        self.pending_stream = descriptor
        self.pending += data
        if self.sent < self.prompt_bytes or len(self.pending) >= 32_768:
            self.push()

    def push(self):
        if not self.pending:
            return
        data, self.pending = bytes(self.pending), bytearray()
        self.sent += len(data)
        for start in range(0, len(data), 1 << 20):
            channel.send(frame({"k": "stream", "stream": self.pending_stream}, data[start : start + (1 << 20)]))

    def write(self, descriptor, data):
        with self.lock:
            self.drain()
            self.add(descriptor, data)

    def flush(self):
        with self.lock:
            self.drain()
            self.push()


class _Stream(io.RawIOBase):
    def __init__(self, target, descriptor):
        self.target, self.descriptor = target, descriptor

    def writable(self):
        return True

    def fileno(self):
        return self.descriptor

    def isatty(self):
        return False

    def write(self, data):
        """What is raised in here would make the buffer before it write the same again: an interrupt waits."""
        data = bytes(data)
        size = len(data)
        if threading.get_ident() != MAIN_THREAD:
            self.target.write(self.descriptor, data)
            return size
        outer, channel.is_writing = channel.is_writing, True
        try:
            self.target.write(self.descriptor, data)
            while channel.is_interrupted and not outer:
                channel.interrupt_soon()
        finally:
            channel.is_writing = outer
        return size


output = Output()


def _in_child():
    """A forked process prints to the pipes and calls no tools: two writers of one channel would garble it."""
    channel.closed = True
    for descriptor, name in ((1, "stdout"), (2, "stderr")):
        stream = io.TextIOWrapper(io.FileIO(descriptor, "w", closefd=False), "utf-8", "backslashreplace", write_through=True)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


# ----------------------------------------------------------------------------------------------------------------- tools


def _nearest(name, names):
    return difflib.get_close_matches(name, list(names), 1, 0.6)


class _Namespace(types.ModuleType):
    """`tools.<namespace>`: its members are the tools."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        space = self.__dict__["__name__"].rsplit(".", 1)[-1]
        if self.__dict__.get("__open__"):
            # Its tools are not known: the host answers the call, and says why it cannot be made.
            return _stub(f"{space}.{name}", self.__dict__["__name__"].startswith("tools.aio."))
        near = _nearest(name, self.__all__)
        hint = f'; did you mean "{near[0]}"?' if near else '; find tools with tools.search("what it should do")'
        raise ToolNotFound(f'There is no tool "{name}" in tools.{space}{hint}', "TOOL_NOT_FOUND", f"{space}.{name}", details={"nearest": near} if near else {})


class _Finder:
    """Says which namespaces there are when a program imports one that is not."""

    @staticmethod
    def find_spec(fullname, path=None, target=None):
        if not fullname.startswith("tools."):
            return None
        wanted = fullname.split(".")[-1]
        known = sys.modules["tools"].__all__
        near = _nearest(wanted, known)
        hint = f'did you mean "{near[0]}"?' if near else f"there are: {', '.join(known) or 'none'}"
        raise ImportError(f'There is no namespace "{wanted}" in tools; {hint}', name=fullname)


def _arguments(tool, given, named):
    if not given:
        return named
    if len(given) == 1 and isinstance(given[0], dict) and not named:
        return given[0]
    raise TypeError(f"{tool}() takes keyword arguments: {tool}(name=value)")


def _turned(tool, args, answer):
    """The page of an answer, and the arguments of the next call; None after the last."""
    if not isinstance(answer, dict) or "page" not in answer:
        raise ToolError(f"{tool} does not give its result in pages; call it alone", "INVALID_INPUT", tool)
    following = answer.get("next")
    return answer["page"], None if following is None else {**args, **following}


def _stub(tool, is_async):
    if is_async:

        async def call(*given, **named):
            return await channel.call_async("call", tool, _arguments(tool, given, named))

        async def pages(*given, **named):
            args = turn = _arguments(tool, given, named)
            while turn is not None:
                page, turn = _turned(tool, args, await channel.call_async("call", tool, turn))
                yield page
    else:

        def call(*given, **named):
            return channel.call("call", tool, _arguments(tool, given, named))

        def pages(*given, **named):
            args = turn = _arguments(tool, given, named)
            while turn is not None:
                page, turn = _turned(tool, args, channel.call("call", tool, turn))
                yield page

    call.pages = pages
    call.__name__ = tool.rsplit(".", 1)[-1]
    call.__qualname__ = tool
    call.__module__ = "tools"
    return call


def _module(name, members, kind=types.ModuleType):
    module = kind(name)
    module.__path__ = []
    module.__all__ = list(members)
    module.__dict__.update(members)
    sys.modules[name] = module
    return module


def define_tools(modules):
    """Puts `tools`, `tools.<namespace>` and `tools.aio.<namespace>` into sys.modules."""
    for name in [name for name in sys.modules if name == "tools" or name.startswith("tools.")]:
        del sys.modules[name]
    spaces, waiting = {}, {}
    for entry in modules:
        space = entry["namespace"]
        names = entry["tools"]
        spaces[space] = _module(f"tools.{space}", {name: _stub(f"{space}.{name}", False) for name in names}, _Namespace)
        waiting[space] = _module(f"tools.aio.{space}", {name: _stub(f"{space}.{name}", True) for name in names}, _Namespace)
        spaces[space].__open__ = waiting[space].__open__ = entry.get("open") is True
    aio = _module("tools.aio", waiting)

    def gather(*calls, return_exceptions=False):
        """`asyncio.gather`."""
        import asyncio

        return asyncio.gather(*calls, return_exceptions=return_exceptions)

    aio.gather = gather
    module = _module("tools", spaces)
    module.aio = aio
    module.ToolError, module.ToolNotFound = ToolError, ToolNotFound
    module.search = lambda query, **options: channel.call("builtin", "search", {**options, "query": query})
    module.describe = lambda *names: channel.call("builtin", "describe", {"names": list(names[0]) if len(names) == 1 and not isinstance(names[0], str) else list(names)})
    return module


class _Results:
    """Results kept by earlier runs."""

    @staticmethod
    def read(handle, **options):
        return channel.call("builtin", "read_result", {**options, "handle": handle})


def text(*parts):
    """Adds text to the result of the run."""
    output.flush()
    channel.send(frame({"k": "text"}, " ".join(map(str, parts)).encode("utf-8", "backslashreplace")))


def progress(message, fraction=None):
    """Says how far the program is; `fraction` from 0 to 1."""
    head = {"k": "progress", "message": str(message)[:1000]}
    if isinstance(fraction, (int, float)) and math.isfinite(fraction):
        head["fraction"] = fraction
    channel.send(frame(head))


# --------------------------------------------------------------------------------------------------------------- program


class _Place:
    """The file that the text under way is called: one a block of a session, so that tracebacks show the right lines."""

    def __init__(self):
        self.block, self.file = 0, PROGRAM

    def next_block(self, is_session):
        self.block += 1
        self.file = f"block-{self.block}.py" if is_session else PROGRAM

    def is_own(self, name):
        return name == PROGRAM or name.startswith("block-")


_place = _Place()


def run_program(source, namespace):
    """Executes the text; its value is that of its last expression, as in a notebook."""
    linecache.cache[_place.file] = (len(source), None, source.splitlines(True), _place.file)
    tree = compile(source, _place.file, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not source.rstrip().endswith(";"):
        tree.body.pop()
        _evaluate(tree, "exec", namespace)
        return _evaluate(ast.Expression(last.value), "eval", namespace)
    _evaluate(tree, "exec", namespace)
    return None


class Stalled(BaseException):
    """The program waits for what can no longer come."""


def _new_loop():
    """An event loop that notices when nothing can wake it: no callback, no timer, no call, no descriptor, no thread."""
    import asyncio
    import selectors

    class Selector(selectors.DefaultSelector):
        def select(self, timeout=None):
            # The one descriptor left is the loop's own, by which other threads wake it.
            if timeout is None and len(self.get_map()) <= 1 and threading.active_count() <= 2:
                raise Stalled()
            return super().select(timeout)

    return asyncio.SelectorEventLoop(Selector())


_loop = None


def _evaluate(tree, mode, namespace):
    code = compile(tree, _place.file, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    value = eval(code, namespace)
    if not code.co_flags & 0x80:  # inspect.CO_COROUTINE
        return value
    global _loop
    if _loop is None:
        _loop = _new_loop()
    try:
        return _loop.run_until_complete(value)
    except KeyboardInterrupt:
        _drop_tasks(_loop)
        raise


def _drop_tasks(loop):
    """What an interrupted block awaited must not go on in the next one."""
    import asyncio

    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))


def shown(value):
    """What stands for a value that cannot cross: a data frame's shape, types and first rows; otherwise its repr."""
    name = type(value).__name__
    try:
        if name == "DataFrame" and hasattr(value, "dtypes"):
            rows, columns = value.shape
            return {"type": name, "rows": int(rows), "columns": int(columns), "dtypes": {str(key): str(kind) for key, kind in value.dtypes.items()}, "head": value.head().to_string(max_cols=20)}
        return repr(value)[:MAX_MESSAGE]
    except Exception as error:
        return f"<{name} whose repr raised {type(error).__name__}>"


def end_of(value):
    """The frame of a value."""
    try:
        written, tagged = encode(value)
    except ValueUnsupported as error:
        if error.code != "VALUE_UNSUPPORTED" or isinstance(value, (dict, list, tuple, set)) and "DataFrame" not in str(error):
            raise
        written, tagged = encode(shown(value))
    data = written.encode()
    bound = channel.limits.get("resultBytes", 1 << 25)
    return frame({"k": "limit", "limit": "resultBytes"}) if len(data) > bound else frame({"k": "returned", "tagged": tagged}, data)


def end_of_error(error):
    """The frame of what the program raised. Only the model's own lines are told."""
    if isinstance(error, SystemExit):
        return _exit_frame(error.code)
    if isinstance(error, MemoryError):
        return frame({"k": "limit", "limit": "memoryMiB"})
    if isinstance(error, Stalled):
        return frame({"k": "stalled"})
    told = {"name": type(error).__name__[:MAX_NAME], "message": _message(error)}
    if isinstance(error, ToolError):
        told.update(name="ToolError", code=str(error.code)[:MAX_NAME], tool=str(error.tool)[:MAX_NAME], retryable=bool(error.retryable))
    details = getattr(error, "details", None)
    own = [entry for entry in traceback.extract_tb(error.__traceback__) if _place.is_own(entry.filename)]
    here = [entry for entry in own if entry.filename == _place.file]
    if isinstance(error, SyntaxError) and error.filename == _place.file:
        told.update(line=error.lineno or 1, column=max(1, error.offset or 1))
    elif here:
        told.update(line=here[-1].lineno, column=(getattr(here[-1], "colno", None) or 0) + 1)
    if details is None and len(own) > 1:
        details = {"traceback": "".join(traceback.format_list(own[-12:]))[-4000:]}
    try:
        written, tagged = encode(details)
        if details is not None and len(written) <= 262_144:
            told["details"] = {"json": written, "tagged": tagged}
    except Exception:
        pass  # What cannot cross is left out; the error itself counts.
    return frame({"k": "threw", "error": told})


def _message(error):
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, SyntaxError) and "'return' outside function" in message:
            message += "; the value of a program is its last expression: write it without return"
        return str(message)[:MAX_MESSAGE]
    except Exception:
        return "(its message cannot be read)"


def _exit_frame(code):
    if code is None or code == 0:
        return frame({"k": "returned", "tagged": False}, b"null")
    if not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    written, tagged = encode({"exitCode": code})
    return frame({"k": "threw", "error": {"name": "ExitError", "code": "EXIT_CODE", "message": f"The program exited with code {code}", "details": {"json": written, "tagged": tagged}}})


# ------------------------------------------------------------------------------------------------------------- artifacts


def files_of_out():
    """The files of `out/` as they stand: path to time and size. In a folder that lasts, only what a program wrote is its own."""
    found = {}
    for path in _walk_out():
        try:
            found[path] = _stamp(os.lstat(path))
        except OSError:
            pass
    return found


def _stamp(state):
    return state.st_mtime_ns, state.st_ctime_ns, state.st_size


def _walk_out():
    """Paths of the regular files of `out/`, those of a folder before those of folders in it, however deep; no links."""
    if os.path.islink("out"):
        return
    waiting = ["out"]
    while waiting:
        folder = waiting.pop()
        files, folders = [], []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        files.append(entry.path)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue  # It went away, or its path is longer than any may be.
        yield from sorted(files)
        waiting.extend(sorted(folders, reverse=True))


def send_artifacts(value, bounds, before):
    """Files of `out/` that are not as `before`, open figures, pictures. Regular files only, opened without following links."""
    budget = [bounds.get("artifactBytes", 0), bounds.get("artifacts", 0)]

    def send(name, mime, data):
        budget[0] -= len(data)
        budget[1] -= 1
        if budget[0] >= 0 and budget[1] >= 0:
            channel.send(frame({"k": "artifact", "name": name, "mimeType": mime}, data))
        return budget[0] >= 0 and budget[1] >= 0

    _send_figures(send)
    _send_picture(value, send)
    _send_files(send, budget, before)
    if min(budget) < 0:
        print("Some files of out/ were left out: they are more than a run may bring back", file=sys.stderr)


def _send_figures(send):
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return
    for number in pyplot.get_fignums():
        data = io.BytesIO()
        pyplot.figure(number).savefig(data, format="png", bbox_inches="tight")
        send(f"figure-{number}.png", "image/png", data.getvalue())
    pyplot.close("all")


def _send_picture(value, send):
    module = type(value).__module__.split(".")[0]
    if module == "PIL" and hasattr(value, "save"):
        data = io.BytesIO()
        value.save(data, "PNG")
        send("picture.png", "image/png", data.getvalue())
    elif module == "plotly" and hasattr(value, "to_html"):
        send("figure.html", "text/html", value.to_html(include_plotlyjs="cdn").encode())


def _send_files(send, budget, before):
    import mimetypes

    is_omitting = False
    for path in _walk_out():
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with open(descriptor, "rb", 0) as file:
            state = os.fstat(descriptor)
            if not stat.S_ISREG(state.st_mode) or before.get(path) == _stamp(state):
                continue
            if budget[1] <= 0 or state.st_size > budget[0]:
                is_omitting = True
                if budget[1] <= 0:
                    break
                continue
            shown_name = os.fsencode(path)[len("out/") :].decode("utf-8", "replace")
            if not send(shown_name, mimetypes.guess_type(shown_name)[0] or "application/octet-stream", _read(file, state.st_size)):
                break
    if is_omitting:
        budget[0] = -1


def _read(file, size):
    """So many bytes and no more: something may still write to the file."""
    pieces = []
    while size > 0:
        piece = file.read(size)
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


# ------------------------------------------------------------------------------------------------------------------ life


def bound_resources(bounds):
    """Limits of this job. They only ever go down, and hold for every process the program starts."""
    import resource

    def lower(which, value):
        hard = resource.getrlimit(which)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (value, hard if bounds.get("session") else value))

    if bounds.get("dataBytes"):
        lower(resource.RLIMIT_DATA, bounds["dataBytes"])
    if bounds.get("cpuSeconds") and not bounds.get("session"):
        used = resource.getrusage(resource.RUSAGE_SELF)
        lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + bounds["cpuSeconds"] + 1)


_defined = None


def prepare(head, namespace):
    """What changes from job to job; in a session most of it is done once."""
    global _defined

    _place.next_block(head.get("session") is True)
    channel.limits = head["limits"]
    if _place.block == 1:
        import random

        random.seed(int(head["seed"], 16))
        bound_resources({**head.get("bounds", {}), "session": head.get("session") is True})
    if head["modules"] != _defined:
        namespace["tools"] = define_tools(head["modules"])
        _defined = head["modules"]
    try:
        os.makedirs("out", exist_ok=True)
    except OSError:
        pass  # A working folder that cannot be written has none.


def run_job(head, source, namespace):
    before = files_of_out()
    prepare(head, namespace)
    value, failure = None, None
    try:
        try:
            channel.begin(head.get("block"))
            value = run_program(source, namespace)
        finally:
            channel.is_idle = True
    except BaseException as error:
        channel.is_idle = True
        failure = error
    if isinstance(failure, MemoryError):
        return out_of_memory(namespace)
    try:
        ending = end_of(value) if failure is None else end_of_error(failure)
    except MemoryError:
        return out_of_memory(namespace)
    except BaseException as error:
        ending = end_of_error(error)
    try:
        send_artifacts(value, head.get("bounds", {}), before)
    except Exception as error:
        print(f"Files could not be collected: {type(error).__name__}: {error}", file=sys.stderr)
    failure = value = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    output.flush()
    channel.send(ending)


def out_of_memory(namespace):
    """Lets go of all the program had, so that there is room to say so."""
    namespace.clear()
    gc.collect()
    output.flush()
    channel.send(frame({"k": "limit", "limit": "memoryMiB"}))


def main():
    os.set_inheritable(3, False)
    os.set_inheritable(4, False)
    faulthandler.enable(open(os.dup(2), "wb", 0), all_threads=False)
    output.start()
    os.register_at_fork(after_in_child=_in_child)
    program = types.ModuleType("__main__")
    names = {"text": text, "progress": progress, "results": _Results, "ToolError": ToolError}
    program.__dict__.update(names, __builtins__=builtins, __file__=PROGRAM)
    sys.modules["__main__"] = program
    sys.meta_path.insert(0, _Finder)
    sys.argv = [PROGRAM]
    sys.dont_write_bytecode = True  # A working folder is a user's: no __pycache__ there.
    # Python runs isolated (-I): of its own variables, the path that the host's configuration gives is honoured, and no other.
    sys.path[:0] = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    signal.signal(signal.SIGINT, channel.interrupt)
    for name in os.environ.get("CALLGATE_PRELOAD", "").split():
        __import__(name)
    gc.freeze()
    channel.send(frame({"k": "hello", "protocol": PROTOCOL, "language": "python", "version": sys.version.split()[0]}))
    while True:
        head, payload = channel.receive()
        if head["k"] == "job":
            run_job(head, payload.decode(), program.__dict__)


if __name__ == "__main__":
    main()
