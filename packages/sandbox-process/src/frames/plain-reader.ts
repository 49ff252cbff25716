/** What a plain guest said beside its output. */
export interface PlainEars {
  file(name: string, bytes: Buffer): void;
  /** A file was left out, for its size. */
  omitted(): void;
  /** A block of a session has begun. */
  begun(): void;
  /** The last file changed while it was read: it is not what it was told as. */
  spoilt(): void;
  /** The command that was to run the program is not there. All is said. */
  missing(): void;
  /** All is said: the exit code of the program. */
  end(exitCode: number): void;
}

const maxLineBytes = 64;

/**
 * Reads what a plain guest writes to descriptor 4: the exit code, files, `end`. Hostile bytes make at most a wrong code, or
 * no end at all, which is the guest's own; at most one file is held, and a file no larger than `maxFileBytes`.
 */
export function createPlainReader(maxFileBytes: number, ears: PlainEars): { push(chunk: Buffer): void } {
  let parts: Buffer[] = [];
  let bytes = 0;
  /** Until so many bytes are there, nothing can be taken. */
  let needed = 1;
  let exitCode: number | undefined;
  let isOver = false;

  /** Takes one record off the front and gives what is left; undefined when more bytes are needed, or all is said. */
  function take(all: Buffer): Buffer | undefined {
    const end = all.indexOf(10);
    if (end < 0 || end > maxLineBytes) {
      isOver = all.length > maxLineBytes;
      needed = all.length + 1;
      return undefined;
    }
    const line = all.toString("latin1", 0, end);
    const file = /^file (\d{1,12}) (\d{1,4})$/.exec(line);
    if (file !== null) return takeFile(all, end + 1, { bytes: Number(file[1]), nameBytes: Number(file[2]) });
    if (exitCode === undefined && /^\d{1,3}$/.test(line)) exitCode = Number(line);
    else if (line === "omitted") ears.omitted();
    else if (line === "begun" && exitCode === undefined) ears.begun();
    else if (line === "spoilt") ears.spoilt();
    else {
      isOver = true;
      if (line === "missing" && exitCode === undefined) ears.missing();
      if (line === "end" && exitCode !== undefined) ears.end(exitCode);
      return undefined;
    }
    return all.subarray(end + 1);
  }

  function takeFile(all: Buffer, start: number, file: { readonly bytes: number; readonly nameBytes: number }): Buffer | undefined {
    const content = start + file.nameBytes;
    needed = content + file.bytes;
    if (file.bytes > maxFileBytes) isOver = true;
    if (isOver || all.length < needed) return undefined;
    ears.file(all.toString("utf8", start, content), all.subarray(content, needed));
    return all.subarray(needed);
  }

  return {
    push(chunk) {
      if (isOver) return;
      parts.push(chunk);
      bytes += chunk.length;
      if (bytes < needed) return;
      let all: Buffer = Buffer.concat(parts, bytes);
      needed = 1;
      for (let rest = take(all); rest !== undefined; rest = take(all)) {
        all = rest;
        needed = 1;
        if (all.length === 0) break;
      }
      parts = all.length === 0 ? [] : [all];
      bytes = all.length;
    },
  };
}
