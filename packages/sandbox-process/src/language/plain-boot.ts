import type { GuestLanguage } from "./guest-language.ts";

/**
 * Runs a plain program. The text comes on descriptor 3 and ends with it; output goes through `cat`, because what Node
 * gives a child are sockets, which a program cannot open again as /dev/stdout. Descriptor 4 gets the exit code, then the
 * regular files of `out/` as far as the bound goes, then `end`: see docs/reference/guest-protocol.md. The text is no file
 * of the working folder, which may be a user's.
 */
const plainBoot = [
  'file="${TMPDIR:-.}/$1"; left="$2"; shift 2; mkdir -p out; cat <&3 >"$file" || exit 126',
  // LC_ALL=C, so that lengths are bytes. The files come while children of the program may still hold its output open.
  `files() { [ ! -d out ] || [ -h out ] || LC_ALL=C find out -type f -exec sh -c '
left="$1"; shift
for f; do
  n=$(stat -c %s -- "$f") || continue; name="\${f#out/}"
  if [ "$n" -gt "$left" ]; then echo omitted; continue; fi
  left=$((left - n)); printf "file %d %d\\n%s" "$n" "\${#name}" "$name"; head -c "$n" -- "$f"
done' sh "$left" {} + </dev/null 2>/dev/null; }`,
  '{ { { "$@" "$file" 3<&- 4>&- 7>&- </dev/null; { echo "$?"; files; echo end; } >&4; } 2>&1 >&7 | cat >&2; } 7>&1 | cat; }',
].join("\n");

/** The command that a launcher starts for a language. */
export function launchCommand({ kind, command, extension }: GuestLanguage, bounds: { readonly memoryMiB: number; readonly artifactMiB: number }): readonly string[] {
  const filled = command.map((part) => part.replaceAll("{memoryMiB}", `${bounds.memoryMiB}`));
  if (kind === "framed") return filled;
  return ["/bin/sh", "-c", plainBoot, "sh", `program.${extension ?? "txt"}`, `${bounds.artifactMiB * 1024 * 1024}`, ...filled];
}
