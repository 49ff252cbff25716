/**
 * What a started server inherits: enough to find programs, a home folder and a language, nothing that holds a secret.
 * (security mcp-009: a server that dumps its environment must show no other server's key.)
 */
const inherited = [
  "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
  // Windows
  "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE",
  "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
  "USERNAME", "USERPROFILE", "WINDIR",
] as const;

/** The environment of a child process: the short list above from `host`, then what the configuration gives. */
export function childEnv(host: Readonly<Record<string, string | undefined>>, configured: Readonly<Record<string, string>> = {}): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of inherited) {
    const value = host[name];
    // A value that starts with `()` is an exported shell function: code, not data.
    if (value !== undefined && !value.startsWith("()")) env[name] = value;
  }
  return { ...env, ...configured };
}
