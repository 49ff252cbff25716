/** What can stand around Python and shell programs, as configuration and `--sandbox` name it. */
export const launcherNames = ["auto", "bubblewrap", "docker", "podman", "deno", "remote", "local-unsafe"] as const;
