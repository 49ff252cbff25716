import type { ArtifactBounds } from "../host/artifact-bounds.ts";
import type { GuestLanguage } from "./guest-language.ts";

/**
 * Tells the regular files of `out/`, by name, as far as bytes and number go. LC_ALL=C, so that lengths are bytes.
 *
 * A file is read without following a link or waiting for a pipe where `dd` can. One that changed meanwhile is `spoilt`: it
 * is filled up, so that what comes after it can be read.
 */
function filesCommand(bound: { readonly bytes: string; readonly files: string }, which = ""): string {
  return `[ ! -d out ] || [ -h out ] || LC_ALL=C find out -type f ${which} -print0 </dev/null 2>/dev/null | LC_ALL=C sort -z | LC_ALL=C xargs -0 -r sh -c '
left="$1"; files="$2"; shift 2
if dd --version 2>/dev/null | grep -q coreutils; then take() { dd if="$1" iflag=nofollow,nonblock,count_bytes count="$2" bs=65536 status=none; }; else take() { head -c "$2" -- "$1"; }; fi
for f; do
  was=$(stat -c "%s %i %F" -- "$f") || continue; n="\${was%% *}"; name="\${f#out/}"
  case "$was" in *regular*) [ -r "$f" ] || continue ;; *) continue ;; esac
  if [ "$files" -le 0 ]; then echo omitted; exit 255; fi
  if [ "$n" -gt "$left" ]; then echo omitted; continue; fi
  left=$((left - n)); files=$((files - 1)); printf "file %d %d\\n%s" "$n" "\${#name}" "$name"
  if [ "$n" -gt 0 ]; then { take "$f" "$n"; head -c "$n" /dev/zero; } | head -c "$n"; fi
  [ "$(stat -c "%s %i %F" -- "$f")" = "$was" ] || echo spoilt
done' sh ${bound.bytes} ${bound.files} 2>/dev/null`;
}

/**
 * Where `out/` has files already, as a user's folder may: what is changed from here on can be told from them. Changes are
 * noted to the tick of the kernel's clock, so the mark has to be a tick older than the program.
 */
const markOldFiles = [
  'since="${TMPDIR:-.}/.callgate-since"; only=',
  'if [ -d out ] && [ ! -h out ] && [ -n "$(find out -type f 2>/dev/null | head -n 1)" ]; then : >"$since"; sleep 0.02 2>/dev/null || sleep 1; only=-newer; if find "$since" -cnewer "$since" >/dev/null 2>&1; then only=-cnewer; fi; fi',
].join("; ");

/**
 * Runs a plain program: a command in whose arguments `{file}` stands for the program's file. The text comes on descriptor 3
 * and ends with it; output goes through `cat`, because what Node gives a child are sockets, which a program cannot open
 * again as /dev/stdout. After the program's own, both streams get the mark: what came before it is all there is. Descriptor
 * 4 gets the exit code, then the regular files of `out/` as far as the bound goes, then `end`: see
 * docs/reference/guest-protocol.md. The text is no file of the working folder, which may be a user's. A command that is not
 * there is said instead of an exit code.
 */
const plainBoot = [
  'file="${TMPDIR:-.}/$1"; left="$2"; most="$3"; mark="$4"; shift 4; mkdir -p out; cat <&3 >"$file" || exit 126; slot="{file}"',
  'command -v "$1" >/dev/null 2>&1 || { echo missing >&4; exit 127; }',
  'for part do shift; filled=; while case $part in *"$slot"*) :;; *) false;; esac; do filled="$filled${part%%"$slot"*}$file"; part="${part#*"$slot"}"; done; set -- "$@" "$filled$part"; done',
  markOldFiles,
  `files() { ${filesCommand({ bytes: '"$left"', files: '"$most"' }, '${only:+"$only" "$since"}')}; }`,
  '{ { { "$@" 3<&- 4>&- 7>&- </dev/null; code=$?; printf "\\0%s\\0" "$mark"; printf "\\0%s\\0" "$mark" >&2; { echo "$code"; files; echo end; } >&4; } 2>&1 >&7 | cat >&2; } 7>&1 | cat; }',
].join("\n");

/**
 * The same for a session: one interactive shell that reads blocks from descriptor 3, so that what they define stays and an
 * interrupt ends a block, not the shell. What it says at its start, that there is no terminal, goes nowhere. What only
 * copies output is deaf to interrupts, and what only waits lives through them: without it, nobody would find the shell again.
 */
const shellSessionBoot = [
  "mkdir -p out; trap : INT",
  `{ { trap : INT; PS1= PS2= bash --noprofile --norc --noediting +H -i <&3 3<&- 2>&1 >&7 7>&- 8>&2 2>/dev/null | (trap '' INT; exec cat) >&2; } 7>&1 | (trap '' INT; exec cat); }`,
].join("\n");

/**
 * What a session's shell is told first. `__callgate_begin` notes what files there are, and gives `$?` of the block before;
 * `__callgate_finish MARK BYTES FILES` says that a block is over, once, and is deaf to interrupts meanwhile: both streams get
 * the mark, and descriptor 4 what a plain guest says. A program that is started costs more than a block: as long as `out/` is
 * empty, which the shell itself can see unless it was told to expand no names, none is.
 */
export const shellSessionStart = [
  'exec 2>&8 8>&-; set +o history; shopt -u checkwinsize; __callgate_home=$PWD; __callgate_since="${TMPDIR:-$PWD}/.callgate-since"; __callgate_status=0',
  `__callgate_has_files() { case $- in *f*) return 0 ;; esac; if [ -n "\${GLOBIGNORE-}" ] || shopt -q failglob; then return 0; fi; local f; for f in "$__callgate_home"/out/* "$__callgate_home"/out/.[!.]* "$__callgate_home"/out/..?*; do if [ -e "$f" ] || [ -h "$f" ]; then return 0; fi; done; return 1; }`,
  `__callgate_begin() { __callgate_only=; if __callgate_has_files; then touch -d "@$(($(date +%s) - 1))" "$__callgate_since"; __callgate_only=-newer; fi; return "$__callgate_status"; }`,
  `__callgate_finish() { __callgate_last=$?; if [ "$__callgate_done" != "$1" ]; then __callgate_trap=$(trap -p INT); trap '' INT; __callgate_status=$__callgate_last; printf '\\0%s\\0' "$1"; printf '\\0%s\\0' "$1" >&2`,
  `{ echo "$__callgate_status"; if __callgate_has_files; then (cd "$__callgate_home" && { ${filesCommand({ bytes: '"$2"', files: '"$3"' }, '${__callgate_only:+"$__callgate_only" "$__callgate_since"}')}; }); fi; echo end; } >&4; __callgate_done=$1; trap - INT; eval "$__callgate_trap"; fi; }`,
  "",
].join("\n");

/**
 * One block for a session's shell, as one quoted word, run with no input, once it has said on descriptor 4 that it begins.
 * `$?` of the block before is there as at a terminal. An interrupted shell throws away what it is reading: before a block
 * has begun it must not be interrupted, and `finish`, which is a line that may be cut anywhere, may be sent again.
 */
export function shellBlock(text: string, mark: string, { artifactMiB, artifacts }: ArtifactBounds): { readonly begin: string; readonly finish: string } {
  const quoted = `'${text.replaceAll("'", `'\\''`)}'`;
  return {
    begin: `echo begun >&4; __callgate_begin; eval ${quoted} </dev/null 4>&-\n`,
    finish: `__callgate_finish ${mark} ${artifactMiB * 1024 * 1024} ${artifacts}\n`,
  };
}

/** The command that a launcher starts for a language. */
export function launchCommand({ kind, command, extension }: GuestLanguage, bounds: ArtifactBounds & { readonly memoryMiB: number; readonly isSession: boolean; /** What a plain program's output is followed by. */ readonly mark: string }): readonly string[] {
  const filled = command.map((part) => part.replaceAll("{memoryMiB}", `${bounds.memoryMiB}`));
  const whole = kind === "framed" || filled.some((part) => part.includes("{file}")) ? filled : [...filled, "{file}"];
  if (kind === "framed") return whole;
  if (bounds.isSession) return ["/bin/sh", "-c", shellSessionBoot];
  return ["/bin/sh", "-c", plainBoot, "sh", `program.${extension ?? "txt"}`, `${bounds.artifactMiB * 1024 * 1024}`, `${bounds.artifacts}`, bounds.mark, ...whole];
}
