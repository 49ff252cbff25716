// Starts CPython, as WebAssembly, in Deno without permissions but to read its own files, which it gives up before any
// program runs. Arguments: what to do (`snapshot` or `run`), the folder of Pyodide, our Python files, and for `run` the
// snapshot and the folder of wheels, each empty where there is none.
//
// Python is the guest of @callgate/sandbox-process, as it runs in CPython; pyodide_platform.py replaces what this platform
// lacks. Its descriptors 3 and 4 are stdin and stdout of this process.
//
// Nothing here is a wall: Deno's permissions are. Python reaches all of this file's world through `import js`.

const { args, exit, permissions, readDirSync, readFileSync, stdin, stdout } = Deno;
const [task, folder, guestFile, platformFile, snapshotFile = "", wheelFolder = ""] = args;
const encoder = new TextEncoder();
const pageBytes = 65_536;

function write(bytes) {
  for (let at = 0; at < bytes.length; ) at += stdout.writeSync(bytes.subarray(at));
}

function send(head, body = new Uint8Array()) {
  const text = encoder.encode(JSON.stringify(head));
  const bytes = new Uint8Array(8 + text.length + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, text.length);
  view.setUint32(4, body.length);
  bytes.set(text, 8);
  bytes.set(body, 8 + text.length);
  write(bytes);
}

/** The interpreter tells of its own failure at length, about its own code. */
let isFailing = false;

/** What anything prints is output of the program: stdout itself belongs to the frames. */
const print = (stream) => (bytes) => {
  if (task === "run" && !isFailing) send({ k: "stream", stream }, bytes.slice());
  return bytes.length;
};

for (const [name, stream] of [["log", 1], ["info", 1], ["debug", 1], ["warn", 2], ["error", 2], ["trace", 2]]) {
  console[name] = (...parts) => {
    isFailing ||= `${parts[0]}`.startsWith("Pyodide has suffered a fatal error");
    print(stream)(encoder.encode(`${parts.map(String).join(" ")}\n`));
  };
}

// ----------------------------------------------------------------------------------------------------------- memory

/** Wrapped before anything has a memory: the engine grows it through this method alone. */
const { grow } = WebAssembly.Memory.prototype;
let maxBytes = Number.POSITIVE_INFINITY;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * pageBytes > maxBytes) throw new RangeError("The program is at its memoryMiB");
  return Reflect.apply(grow, this, [pages]);
};

// ----------------------------------------------------------------------------------------------------------- Python

async function load(extra) {
  const { loadPyodide } = await import(`file://${folder.startsWith("/") ? "" : "/"}${folder.replaceAll("\\", "/")}pyodide.mjs`);
  return await loadPyodide({ indexURL: folder, env: { HOME: "/home/pyodide", TMPDIR: "/tmp", LANG: "C.UTF-8", TZ: "UTC", MPLBACKEND: "Agg" }, ...extra });
}

const text = (file) => new TextDecoder().decode(readFileSync(file));

/** Both modules, and the parts of the standard library that programs reach for, are in memory before a run. */
const preload = `
import asyncio, base64, bisect, collections, contextlib, csv, dataclasses, datetime, decimal, difflib, enum, functools, hashlib
import heapq, io, itertools, json, math, operator, pathlib, random, re, statistics, string, struct, textwrap, traceback, typing, uuid
import callgate_guest, pyodide_platform
`;

function addModules(py) {
  const place = "/lib/callgate";
  py.FS.mkdirTree(place);
  py.FS.writeFile(`${place}/callgate_guest.py`, text(guestFile));
  py.FS.writeFile(`${place}/pyodide_platform.py`, text(platformFile));
  py.runPython(`import sys\nsys.path.insert(0, "${place}")\nsys.dont_write_bytecode = True\n${preload}\nsys.path.remove("${place}")`);
}

/** Descriptors 3 and 4 of Python. */
function openChannel({ FS }) {
  // Of (stream, buffer, offset, length, position).
  const part = ([, buffer, offset, length]) => new Uint8Array(buffer.buffer, buffer.byteOffset + offset, length);
  const operations = {
    read: (...asked) => stdin.readSync(part(asked)) ?? exit(0),
    write(...asked) {
      write(part(asked).slice());
      return asked[3];
    },
  };
  const device = FS.makedev(90, 0);
  FS.registerDevice(device, operations);
  FS.mkdev("/dev/callgate", device);
  for (const wanted of [3, 4]) {
    const { fd } = FS.open("/dev/callgate", 2);
    if (fd !== wanted) throw new Error(`descriptor ${wanted} is taken`);
  }
  FS.unlink("/dev/callgate");
}

function addWheels(py) {
  if (wheelFolder === "") return;
  const wheels = [...readDirSync(wheelFolder)].filter(({ name, isFile }) => isFile && name.endsWith(".whl"));
  for (const { name } of wheels) py.unpackArchive(readFileSync(`${wheelFolder}/${name}`), "wheel");
}

async function run() {
  const snapshot = snapshotFile === "" ? undefined : readFileSync(snapshotFile);
  // The first 32 bytes are the digest, which the host looked at.
  const py = await load(snapshot === undefined ? {} : { _loadSnapshot: snapshot.subarray(32) });
  if (snapshot === undefined) addModules(py);
  addWheels(py);
  await permissions.revoke({ name: "read" });
  py.setStdin({ stdin: () => null });
  py.setStdout({ write: print(1) });
  py.setStderr({ write: print(2) });
  openChannel(py);
  py.registerJsModule("callgate_host", {
    bound(bytes) {
      maxBytes = py._module.HEAP8.length + bytes;
    },
  });
  try {
    py.runPython("import pyodide_platform\npyodide_platform.start()");
  } catch (error) {
    die(error);
  }
}

/** The interpreter itself failed: its state is lost. What is known of why is told. */
function die(error) {
  const message = `${error?.message ?? error}`;
  if (/Maximum call stack size exceeded/.test(message)) send({ k: "limit", limit: "stackKiB" });
  else if (/memoryMiB|out of memory|Cannot enlarge memory/i.test(message)) send({ k: "limit", limit: "memoryMiB" });
  else send({ k: "stream", stream: 2 }, encoder.encode("The Python interpreter failed.\n"));
  // As a shell says of a process that aborted.
  exit(134);
}

async function makeSnapshot() {
  const py = await load({ _makeSnapshot: true });
  addModules(py);
  write(py.makeMemorySnapshot());
}

await (task === "snapshot" ? makeSnapshot() : run());
