import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { GuestExit, LaunchedGuest, LaunchSpec, ResourceUse } from "../launcher.ts";
import { createChannelStreams, createPipeFolder } from "./channel.ts";
import type { Channel, PipeFolder } from "./channel.ts";
import { carryScript, containerRequest, heardSignal, labels, writableVolumes } from "./container-request.ts";
import type { RequestOptions } from "./container-request.ts";
import { EngineError } from "./engine-client.ts";
import type { EngineClient } from "./engine-client.ts";
import { splitEngineStream } from "./engine-stream.ts";
import { exitOf as exitOfCode } from "../started-process.ts";
import { findLocalContainer } from "./local-container.ts";
import type { LocalContainer } from "./local-container.ts";

export interface ContainerGuestOptions extends Omit<RequestOptions, "channelFolder" | "volumes"> {
  readonly client: EngineClient;
  readonly spec: LaunchSpec;
  /** Name for what belongs to this guest, unique on the engine. */
  readonly name: string;
  /** Where the folder of its pipes is made; undefined carries frames through the engine. */
  readonly channelFolder: string | undefined;
  /** Told of what goes on after the end: the container is removed. */
  readonly cleaning: (removal: Promise<void>) => void;
}

interface Running {
  readonly id: string;
  readonly local: LocalContainer | undefined;
}

/** How often a dead process is looked for after it was killed. */
const lookMs = 4;
/** How often one of Podman's that may end by itself is looked at: one small file of /proc. */
const idleLookMs = 20;
/** Output of a dead container is not waited for longer. */
const drainMs = 250;

/** Makes and starts a container for one guest. Whatever happens to it, it is removed. */
export function startContainerGuest(options: ContainerGuestOptions): LaunchedGuest {
  const { client, cleaning } = options;
  const channel = createChannelStreams();
  const { promise: exited, resolve } = Promise.withResolvers<GuestExit>();
  const made: Made = { id: undefined, volumes: [], pipes: undefined };
  const making = make(options, made);
  let running: Running | undefined;
  let isStarted = false;
  let isKilled = false;
  let isOver = false;
  let seen: ResourceUse | undefined;

  function finish(exit: GuestExit): void {
    if (isOver) return;
    isOver = true;
    cleaning(tidy());
    resolve(exit);
  }

  async function tidy(): Promise<void> {
    await making.catch(() => undefined);
    // Who could write is dead, so what is on its way ends by itself.
    if (isStarted) await channel.drained(drainMs);
    channel.close();
    await remove(client, made);
  }

  async function live(): Promise<void> {
    await making;
    const id = made.id;
    if (isOver || id === undefined) return;
    const { lastWord } = await connect(options, made, channel);
    if (isOver) return;
    isStarted = true;
    await client.call("POST", `/containers/${id}/start`);
    // Where it fails because the container has ended already, that is told by its end.
    if (made.pipes === undefined) carryFrames(client, id, channel).catch(end);
    running = { id, local: findLocalContainer(pidOf(await client.call("GET", `/containers/${id}/json`)), id) };
    const ended = untilEnded(options, running);
    if (isKilled) end();
    else if (running.local === undefined) watchStats(client, id, (use) => (seen = use)).catch(() => undefined);
    await ended;
    finish(await exitOf(client, id, lastWord));
  }

  /** Ends what runs: at once where it is a process of this machine, through the engine else. */
  function end(): void {
    if (running === undefined || isOver) return;
    const { id, local } = running;
    if (local?.kill() === true) return void lookUntilDead(local, lookMs).then(() => finish(killedExit));
    client.call("POST", `/containers/${id}/kill`).catch(() => undefined);
  }

  live().catch((fault: unknown) => finish(isKilled ? killedExit : failedExit(client, fault)));

  return {
    ...channel.streams,
    exited,
    use: () => running?.local?.use() ?? seen,
    interrupt() {
      if (running !== undefined && running.local?.interrupt() !== true) interruptInside(client, running.id).catch(() => undefined);
    },
    kill() {
      isKilled = true;
      if (isStarted) end();
      else finish(killedExit);
    },
  };
}

const killedExit: GuestExit = { code: undefined, signal: "SIGKILL", outOfMemory: false };

function failedExit({ socketPath }: EngineClient, fault: unknown): GuestExit {
  const what = fault instanceof EngineError && fault.status === undefined ? "does not answer" : "refused the container";
  return { code: undefined, signal: undefined, outOfMemory: false, failure: `the engine at ${socketPath} ${what}: ${fault instanceof Error ? fault.message : String(fault)}` };
}

/**
 * Resolves when a started container has ended, or its engine has. Podman's wait looks again and again, which at 20 ms costs
 * half a processor for each container: where the process can be seen from here it is asked only once that is dead.
 */
async function untilEnded({ client, kind }: Pick<ContainerGuestOptions, "client" | "kind">, { id, local }: Running): Promise<void> {
  if (kind === "podman" && local !== undefined) await lookUntilDead(local, idleLookMs);
  try {
    const response = await client.open("POST", `/containers/${id}/wait`, { query: { condition: "not-running", ...(kind === "podman" ? { interval: "20ms" } : {}) } });
    await text(response);
  } catch {} // What became of it is asked next.
}

/** What has to be removed again. */
interface Made {
  id: string | undefined;
  volumes: { readonly name: string; readonly place: string }[];
  pipes: PipeFolder | undefined;
}

async function make(options: ContainerGuestOptions, made: Made): Promise<void> {
  const { client, spec, name, channelFolder, owner } = options;
  if (channelFolder !== undefined) made.pipes = await createPipeFolder(channelFolder, spec.guestFile);
  for (const [index, { place, options: mountOptions }] of writableVolumes(options, channelFolder !== undefined).entries()) {
    const volume = `${name}-${index}`;
    made.volumes.push({ name: volume, place });
    await client.call("POST", "/volumes/create", { body: { Name: volume, Driver: "local", Labels: { [labels.mark]: "1", [labels.owner]: owner }, DriverOpts: { type: "tmpfs", device: "tmpfs", o: mountOptions } } });
  }
  const created = await client.call("POST", "/containers/create", { query: { name }, body: containerRequest({ ...options, channelFolder, volumes: made.volumes }) });
  made.id = (created as { readonly Id: string }).Id;
}

/** Resolves when the guest can be started, with the promise of its last word where there is a pipe for it. */
async function connect({ client }: ContainerGuestOptions, { id, pipes }: Made, channel: Channel): Promise<{ readonly lastWord: Promise<string> }> {
  if (pipes !== undefined) {
    const { opened, lastWord } = pipes.open(channel.streams);
    opened.then((sink) => channel.connect(sink), () => undefined);
    return { lastWord };
  }
  const { stdout, stderr } = channel.streams;
  const output = await client.hijack(`/containers/${id}/attach?stream=1&stdout=1&stderr=1`);
  output.on("error", () => undefined);
  output.once("close", () => [stdout, stderr].forEach((stream) => stream.end()));
  splitEngineStream(output, { stdout: (bytes) => void stdout.write(bytes), stderr: (bytes) => void stderr.write(bytes) });
  return { lastWord: Promise.resolve("") };
}

/** Frames through an exec: its input are commands, its output is what comes. */
async function carryFrames(client: EngineClient, id: string, channel: Channel): Promise<void> {
  const created = await client.call("POST", `/containers/${id}/exec`, { body: { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false, Cmd: ["/bin/sh", "-c", carryScript] } });
  const stream = await client.hijack(`/exec/${(created as { readonly Id: string }).Id}/start`, { Detach: false, Tty: false });
  stream.on("error", () => undefined);
  stream.once("close", () => {
    channel.streams.frames.end();
    client.call("POST", `/containers/${id}/kill`, { query: { signal: heardSignal } }).catch(() => undefined);
  });
  splitEngineStream(stream, { stdout: (bytes) => void channel.streams.frames.write(bytes), stderr: () => undefined });
  channel.connect({ stream, end: () => void stream.end() });
}

async function interruptInside(client: EngineClient, id: string): Promise<void> {
  // All but the first process and the shell that says so; what carries frames does not listen.
  const created = await client.call("POST", `/containers/${id}/exec`, { body: { Cmd: ["/bin/sh", "-c", "kill -s INT -- -1"] } });
  await client.call("POST", `/exec/${(created as { readonly Id: string }).Id}/start`, { body: { Detach: true } });
}

async function lookUntilDead(local: LocalContainer, everyMs: number): Promise<void> {
  while (!local.isDead()) await setTimeout(everyMs);
}

async function remove(client: EngineClient, { id, volumes, pipes }: Made): Promise<void> {
  const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => undefined);
  // A refusal means that it is being removed already, or was never made; what stays is found by its label at the next start.
  if (id !== undefined) await quietly(client.call("DELETE", `/containers/${id}`, { query: { force: "1", v: "1" } }));
  for (const { name: volume } of volumes) await quietly(client.call("DELETE", `/volumes/${volume}`, { query: { force: "1" } }));
  await quietly(pipes?.remove() ?? Promise.resolve());
}

interface Inspected {
  readonly State?: { readonly Pid?: number; readonly ExitCode?: number; readonly OOMKilled?: boolean; readonly Error?: string };
}

function pidOf(inspected: unknown): number {
  return (inspected as Inspected).State?.Pid ?? 0;
}

/** How an ended container ended, by its engine's word and its own last one. */
async function exitOf(client: EngineClient, id: string, lastWord: Promise<string>): Promise<GuestExit> {
  const { ExitCode: code = 0, OOMKilled: isOutOfMemory = false, Error: failure = "" } = ((await client.call("GET", `/containers/${id}/json`)) as Inspected).State ?? {};
  const said = await Promise.race([lastWord, setTimeout(drainMs, "")]);
  return { ...exitOfCode(code), outOfMemory: isOutOfMemory || said === "memory", ...(failure === "" ? {} : { failure }) };
}

/** Where processes of a container cannot be seen from here: what the engine says, once a second. */
async function watchStats(client: EngineClient, id: string, tell: (use: ResourceUse) => void): Promise<void> {
  const response = await client.open("GET", `/containers/${id}/stats`, { query: { stream: "1" } });
  let rest = "";
  for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const said = JSON.parse(line) as { readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }; readonly memory_stats?: { readonly usage?: number } };
      tell({ cpuMs: (said.cpu_stats?.cpu_usage?.total_usage ?? 0) / 1e6, memoryMiB: (said.memory_stats?.usage ?? 0) / 1024 / 1024 });
    }
  }
}
