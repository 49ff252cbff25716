// Tries to get through each wall from inside Deno, outside the realm of programs: what a program that got there could do.
// Arguments: a file and a port of the host, both made for this. One line for each wall: what it is, OPEN or HOLDS, and what
// was found. Read by src/doctor/check-deno-walls.ts.

const [canary, port] = Deno.args;
const say = (line) => Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
const node = (name) => import(`node:${name}`);
const refuse = () => {
  throw new Error("nothing");
};

/** Each gives something of the host, or throws. */
const attempts = {
  "files of the host": {
    "Deno.readTextFileSync": () => Deno.readTextFileSync(canary),
    "node:fs": async () => (await node("fs")).readFileSync(canary, "utf8"),
    "a listing of /": () => [...Deno.readDirSync("/")].length,
    "/proc": () => Deno.readTextFileSync("/proc/self/environ"),
    "import of text": async () => (await import(`${canary}`, { with: { type: "text" } })).default,
    "import of a module": async () => (await import(`file://${canary}`)).default,
    "fetch of a file": async () => await (await fetch(`file://${canary}`)).text(),
    "an open descriptor": () => Deno.openSync("/dev/fd/0"),
  },
  "changes to files": {
    "Deno.writeTextFileSync": () => Deno.writeTextFileSync(`${canary}.owned`, "x"),
    "node:fs": async () => (await node("fs")).writeFileSync(`${canary}.owned`, "x"),
    "a temporary file": () => Deno.makeTempFileSync(),
  },
  "what lasts between runs": {
    localStorage: () => localStorage.setItem("a", "b"),
    caches: () => caches.open("a"),
  },
  network: {
    "Deno.connect": () => Deno.connect({ hostname: "127.0.0.1", port: Number(port) }),
    "node:net": async () => {
      const { connect } = await node("net");
      return await new Promise((resolve, reject) => connect(Number(port), "127.0.0.1").once("connect", () => resolve("connected")).once("error", reject));
    },
    fetch: async () => await (await fetch(`http://127.0.0.1:${port}/`)).text(),
    WebSocket: () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
        socket.addEventListener("open", resolve);
        socket.addEventListener("error", reject);
      }),
    "Deno.listen": () => Deno.listen({ port: 0 }),
    names: () => Deno.resolveDns("localhost", "A"),
    "a socket file": () => Deno.connect({ transport: "unix", path: "/run/x" }),
  },
  "foreign code": {
    npm: () => import(["npm", "chalk"].join(":")),
    "the web": () => import(`http://127.0.0.1:${port}/x.js`),
    "Deno.dlopen": () => Deno.dlopen("libc.so.6", {}),
    "process.dlopen": async () => (await node("process")).default.dlopen({ exports: {} }, canary),
  },
  environment: {
    "Deno.env": () => Deno.env.toObject(),
    "node:process": async () => (await node("process")).default.env["CALLGATE_CANARY"] ?? refuse(),
  },
  "processes of the host": {
    "Deno.Command": () => new Deno.Command("/bin/true").outputSync(),
    "node:child_process": async () => (await node("child_process")).execFileSync("/bin/true"),
    "Deno.kill": () => Deno.kill(1, "SIGCONT"),
    inspector: async () => (await node("inspector")).open(0),
    "Deno.hostname": () => Deno.hostname(),
  },
  "a way to more permissions": {
    request: async () => ((await Deno.permissions.request({ name: "read" })).state === "granted" ? "granted" : refuse()),
  },
};

for (const [wall, tries] of Object.entries(attempts)) {
  const open = [];
  for (const [what, attempt] of Object.entries(tries)) {
    try {
      await attempt();
      open.push(what);
    } catch {} // It holds.
  }
  say(`${wall}\t${open.length === 0 ? `HOLDS\t${Object.keys(tries).length} ways were tried` : `OPEN\t${open.join(", ")}`}`);
}

// Last, as it ends the process where the kernel bounds it.
say("memory\tHOLDS\tthe process ended");
const kept = [];
try {
  while (kept.length < 1024) kept.push(new Uint8Array(1 << 20).fill(1));
  say("memory\tOPEN\t1024 MiB with a bound of 64");
} catch {
  say("memory\tHOLDS\tends at its bound");
}
Deno.exit(0);
