import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateFolder } from "@callgate/runtime/journal";

/** What is known of processes that live on, by name: a file each that only this user reads. */
export interface PrivateRecords<Value> {
  /** A file that is none of ours is left out. */
  list(): readonly Value[];
  read(name: string): Value | undefined;
  write(name: string, value: Value): void;
  remove(name: string): void;
  /** A place for the socket of such a process; no longer than systems allow. */
  socketFor(name: string): string;
  logFor(name: string): string;
}

export interface PrivateRecordsOptions<Value> {
  /** Made private when first written to. */
  readonly folder: string;
  /** Undefined for what is no record. */
  readonly parse: (value: unknown) => Value | undefined;
  /** Of named pipes, where a system has those in place of sockets. */
  readonly pipePrefix: string;
}

const nameShape = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
/** Of what a socket's path may have, on the systems there are: 104 to 108. */
const maxSocketChars = 100;

/** Names are of letters, digits, - and _, at most 64: whoever takes one from outside checks it with `isRecordName`. */
export function createPrivateRecords<Value>({ folder, parse, pipePrefix }: PrivateRecordsOptions<Value>): PrivateRecords<Value> {
  const fileOf = (name: string, ending: string): string => join(folder, `${name}.${ending}`);
  const prepare = (): void => {
    makePrivateFolder(folder);
    chmodSync(folder, 0o700);
  };
  const read = (name: string): Value | undefined => {
    try {
      return parse(JSON.parse(readFileSync(fileOf(name, "json"), "utf8")));
    } catch {
      return undefined; // It is not there, or was left half by a machine that went down.
    }
  };
  return {
    read,
    list() {
      let files: readonly string[] = [];
      try {
        files = readdirSync(folder);
      } catch {} // Nobody has written one.
      const names = files.filter((file) => file.endsWith(".json")).map((file) => file.slice(0, -".json".length)).filter(isRecordName);
      return names.flatMap((name) => read(name) ?? []);
    },
    write(name, value) {
      prepare();
      const file = fileOf(name, "json");
      writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    remove(name) {
      for (const ending of ["json", "sock", "log"]) rmSync(fileOf(name, ending), { force: true });
    },
    socketFor(name) {
      if (process.platform === "win32") return `\\\\.\\pipe\\${pipePrefix}-${name}`;
      prepare();
      const path = fileOf(name, "sock");
      return path.length <= maxSocketChars ? path : join(mkdtempSync(join(tmpdir(), "callgate-")), "s");
    },
    logFor(name) {
      prepare();
      return fileOf(name, "log");
    },
  };
}

export function isRecordName(name: string): boolean {
  return nameShape.test(name);
}
