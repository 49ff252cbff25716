import type { GuestLanguage } from "./guest-language.ts";

/** Tells the regular files of `out/` up to a number of bytes. LC_ALL=C, so that lengths are bytes. */
function filesCommand(bytes: string, which = ""): string {
  return `[ ! -d out ] || [ -h out ] || LC_ALL=C find out -type f ${which} -exec sh -c '
left="$1"; shift
for f; do
  n=$(stat -c %s -- "$f") || continue; name="\${f#out/}"
  if [ "$n" -gt "$left" ]; then echo omitted; continue; fi
  left=$((left - n)); printf "file %d %d\\n%s" "$n" "\${#name}" "$name"; head -c "$n" -- "$f"
done' sh ${bytes} {} + </dev/null 2>/dev/null`;
}

/**
 * Runs a plain program: a command in whose arguments `{file}` stands for the program's file. The text comes on descriptor 3 and ends with it; output goes through `cat`, because what Node
 * gives a child are sockets, which a program cannot open again as /dev/stdout. Descriptor 4 gets the exit code, then the
 * regular files of `out/` as far as the bound goes, then `end`: see docs/reference/guest-protocol.md. The text is no file
 * of the working folder, which may be a user's. A command that is not there is said instead of an exit code.
 */
const plainBoot = [
  'file="${TMPDIR:-.}/$1"; left="$2"; shift 2; mkdir -p out; cat <&3 >"$file" || exit 126; slot="{file}"',
  'command -v "$1" >/dev/null 2>&1 || { echo missing >&4; exit 127; }',
  'for part do shift; filled=; while case $part in *"$slot"*) :;; *) false;; esac; do filled="$filled${part%%"$slot"*}$file"; part="${part#*"$slot"}"; done; set -- "$@" "$filled$part"; done',
  `files() { ${filesCommand('"$left"')}; }`,
  '{ { { "$@" 3<&- 4>&- 7>&- </dev/null; { echo "$?"; files; echo end; } >&4; } 2>&1 >&7 | cat >&2; } 7>&1 | cat; }',
].join("\n");

/**
 * The same for a session: one interactive shell that reads blocks from descriptor 3, so that what they define stays and an
 * interrupt ends a block, not the shell. What it says at its start, that there is no terminal, goes nowhere. What only
 * copies output is deaf to interrupts.
 */
const shellSessionBoot = [
  "mkdir -p out; trap : INT",
  `{ { PS1= PS2= bash --noprofile --norc --noediting +H -i <&3 3<&- 2>&1 >&7 7>&- 8>&2 2>/dev/null | (trap '' INT; exec cat) >&2; } 7>&1 | (trap '' INT; exec cat); }`,
].join("\n");

/** What a session's shell is told first. */
export const shellSessionStart = "exec 2>&8 8>&-; set +o history; shopt -u checkwinsize; __callgate_home=$PWD\n";

/**
 * One block for a session's shell, as one quoted word, run with no input; then both streams get the mark, and descriptor 4
 * what a plain guest says. `$?` of the block before is there as at a terminal. An interrupted shell throws away what it has
 * read and not yet run: `finish` may be sent again, and does what it does once.
 */
export function shellBlock(text: string, mark: string, artifactBytes: number): { readonly begin: string; readonly finish: string } {
  const since = '"${TMPDIR:-.}/.callgate-since"';
  const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
  const finish = [
    `__callgate_last=$?; [ "$__callgate_done" = ${mark} ] || { __callgate_status=$__callgate_last; printf '\\0%s\\0' ${mark}; printf '\\0%s\\0' ${mark} >&2;`,
    `{ echo "$__callgate_status"; (cd "$__callgate_home" && { ${filesCommand(`${artifactBytes}`, `-newer ${since}`)}; }); echo end; } >&4; __callgate_done=${mark}; }`,
  ].join(" ");
  return {
    begin: `touch -d "@$(($(date +%s) - 1))" ${since}; (exit \${__callgate_status:-0}); eval ${quoted} </dev/null 4>&-\n`,
    finish: `${finish}\n`,
  };
}

/** The command that a launcher starts for a language. */
export function launchCommand({ kind, command, extension }: GuestLanguage, bounds: { readonly memoryMiB: number; readonly artifactMiB: number; readonly isSession: boolean }): readonly string[] {
  const filled = command.map((part) => part.replaceAll("{memoryMiB}", `${bounds.memoryMiB}`));
  const whole = kind === "framed" || filled.some((part) => part.includes("{file}")) ? filled : [...filled, "{file}"];
  if (kind === "framed") return whole;
  if (bounds.isSession) return ["/bin/sh", "-c", shellSessionBoot];
  return ["/bin/sh", "-c", plainBoot, "sh", `program.${extension ?? "txt"}`, `${bounds.artifactMiB * 1024 * 1024}`, ...whole];
}
