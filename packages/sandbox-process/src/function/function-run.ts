import { createHash } from "node:crypto";
import type { GuestCompletion, GuestEnd, GuestHost, GuestJob, GuestRun } from "@callgate/contract";
import { createFrameSplitter, frameBytes, FrameError, maxHeadBytes, writeFrame } from "../frames/frame-splitter.ts";
import type { RawFrame } from "../frames/frame-splitter.ts";
import { parseGuestFrame, parseHead } from "../frames/guest-frame.ts";
import type { ArtifactBounds } from "../host/artifact-bounds.ts";
import { createGuestCalls } from "../host/guest-calls.ts";
import { brokenEnd, createHearing } from "../host/guest-hearing.ts";
import { createOutputCapture } from "../output/output-capture.ts";
import type { FunctionClient, RoundAnswer } from "./function-client.ts";
import { FunctionError } from "./function-client.ts";
import { functionProtocolVersion } from "./round-frames.ts";

export interface FunctionRunOptions {
  readonly job: GuestJob;
  readonly host: GuestHost;
  readonly client: FunctionClient;
  readonly artifacts: ArtifactBounds;
}

/** Runs one program in a function, a request for each round of calls. */
export function runInFunction(options: FunctionRunOptions): GuestRun {
  const run = new FunctionRun(options);
  return { ended: run.ended, deliver: (completions) => run.deliver(completions), cancel: () => run.cancel() };
}

class FunctionRun {
  readonly ended: Promise<GuestEnd>;
  readonly #client: FunctionClient;
  readonly #settle: (end: GuestEnd) => void;
  readonly #stop = new AbortController();
  readonly #capture: ReturnType<typeof createOutputCapture>;
  readonly #calls: ReturnType<typeof createGuestCalls>;
  readonly #hear: (raw: RawFrame) => void;
  /** The job, and all the answers there are, as they are sent. */
  readonly #request: Buffer[];
  readonly #heard = createHash("sha256");
  #heardFrames = 0;
  #end: GuestEnd | undefined;
  #wake: () => void = () => undefined;

  constructor({ job, host, client, artifacts }: FunctionRunOptions) {
    const { promise, resolve } = Promise.withResolvers<GuestEnd>();
    this.ended = promise;
    this.#settle = resolve;
    this.#client = client;
    this.#capture = createOutputCapture({ maxBytes: job.limits.consoleBytes * consoleSlack, tell: (output) => output.length > 0 && host.onOutput(output) });
    this.#calls = createGuestCalls(job.limits);
    const hear = createHearing({ job, host, artifacts, capture: this.#capture, calls: this.#calls, finish: (end) => this.#finish(end) });
    this.#hear = (raw) => {
      const head = parseHead(raw.head);
      if (head["k"] === "omitted") return this.#capture.drop(typeof head["bytes"] === "number" && head["bytes"] > 0 ? head["bytes"] : 0);
      if (head["k"] === "crashed") return this.#finish({ kind: "crashed", message: typeof head["message"] === "string" ? head["message"].slice(0, 4_000) : "the function's sandbox failed" });
      return hear(parseGuestFrame(raw));
    };
    const { code, ...rest } = job;
    this.#request = [writeFrame({ k: "job", protocol: functionProtocolVersion, ...rest }, code)];
    this.#rounds().catch(() => this.#finish({ kind: "crashed", message: "the function could not be asked" })).finally(() => this.#tell()).catch(() => undefined);
  }

  deliver(completions: readonly GuestCompletion[]): void {
    for (const completion of completions) {
      if (this.#end !== undefined) return;
      const answer = this.#calls.answer(completion);
      if (answer === undefined) return this.#finish({ kind: "crashed", message: `the host answered call ${completion.seq}, which is not open` });
      this.#request.push(writeFrame(answer.head, answer.payload));
    }
    this.#wake();
  }

  cancel(): void {
    this.#finish({ kind: "cancelled" });
  }

  /** Decides the end. A request that is under way is aborted, which ends its program. */
  #finish(end: GuestEnd): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#stop.abort();
    this.#wake();
  }

  #tell(): void {
    this.#capture.end();
    this.#settle(this.#end ?? { kind: "crashed", message: "the function said no end" });
  }

  async #rounds(): Promise<void> {
    while (this.#end === undefined) {
      const sent = this.#request.length;
      const more = new Promise<void>((resolve) => (this.#wake = resolve));
      try {
        this.#take(await this.#client.run(Buffer.concat(this.#request), { after: this.#heardFrames, signal: this.#stop.signal }));
      } catch (fault) {
        return this.#finish(fault instanceof FrameError ? brokenEnd(fault.message) : { kind: "crashed", message: `the function that was to run the program: ${fault instanceof FunctionError ? fault.message : "the request failed"}` });
      }
      if (this.#isOpen() && this.#calls.waiting === 0 && this.#request.length === sent) return this.#finish(brokenEnd("it neither ended nor waits for anything"));
      // Answers may have come while the request was under way.
      if (this.#request.length === sent && this.#isOpen()) await more;
    }
  }

  /** A method, because hearing the answer may have ended the run, which the compiler cannot know. */
  #isOpen(): boolean {
    return this.#end === undefined;
  }

  #take({ frames, digest }: RoundAnswer): void {
    if (this.#end !== undefined) return;
    if (digest !== this.#heard.copy().digest("hex")) throw new FrameError("the program did not do the same twice: what it said before is not what it says now");
    for (const raw of createFrameSplitter({ headBytes: maxHeadBytes, payloadBytes: maxFramePayload }).push(frames)) {
      this.#heard.update(frameBytes(raw.head, raw.payload));
      this.#heardFrames += 1;
      if (this.#end === undefined) this.#hear(raw);
    }
  }
}

/** The function's own driver bounds the console. This holds one that does not, and must not cut where that did not. */
const consoleSlack = 4;

/** As the guest protocol has it. */
const maxFramePayload = 64 * 1024 * 1024;
