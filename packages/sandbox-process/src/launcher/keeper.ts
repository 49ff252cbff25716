import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";

/** The descriptor of a keeper that ends when this process does. A program gets none of it. */
const aliveDescriptor = 5;

export interface KeeperSteps {
  /**
   * Run when this process is gone, again and again until the program is gone too. `$me` is the keeper, `$watch` what runs
   * this, `$program` what it keeps: empty while that has not been started, or has ended.
   */
  readonly whenGone: string;
  /** Run once the program has ended; `$gone` is set where this process is gone. */
  readonly atEnd: string;
}

/**
 * A shell script that keeps a program as long as this process lives: it waits for a line on `aliveDescriptor`, runs its
 * arguments, and exits as they do (128 and its number for a signal).
 *
 * The kernel's own signal at a parent's death is not enough: it reaches the process that was started, at whatever step of
 * its own that was, and none that it was just making.
 */
export function keeperScript({ whenGone, atEnd }: KeeperSteps): string {
  return [
    // What the shell itself says of signals goes nowhere; what the program says goes where it went.
    `read -r go <&${aliveDescriptor} || exit 125; exec 0<&2 2>/dev/null; gone=; trap gone=1 USR1; trap : INT PIPE; me=$$`,
    `{ read -r go; kill -USR1 $me; while kill -0 $me; do kids=; read -r kids </proc/$me/task/$me/children; watch="\${kids%% *}"; program="\${kids#"$watch"}"; ${whenGone}; sleep 0.02; done; } <&${aliveDescriptor} >/dev/null &`,
    `watch=$!; "$@" 2>&0 0</dev/null ${aliveDescriptor}<&-; code=$?; kill -KILL $watch; wait $watch; ${atEnd}; exit $code`,
  ].join("\n");
}

/** The other end of `aliveDescriptor`. */
export interface Keeper {
  /** The program begins. */
  begin(): void;
  /** It is ended as if this process had been killed. Idempotent. */
  leave(): void;
}

/** Of a child that was started with the script, and a pipe there. */
export function keeperOf(child: ChildProcess): Keeper {
  const alive = (child.stdio as readonly unknown[])[aliveDescriptor] as Writable;
  alive.on("error", () => undefined);
  return { begin: () => void alive.write("go\n"), leave: () => void alive.destroy() };
}
