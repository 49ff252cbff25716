import envPaths from "env-paths";

/** Where Callgate keeps what belongs to a user of this machine. */
export interface UserFolders {
  /** Journal, keys, trust, and beside them what is kept compiled, for that is run unread. XDG state on Linux. */
  readonly state: string;
  /** The user's own configuration. */
  readonly config: string;
}

/** Finds the user's folders after the custom of the operating system; XDG variables are honoured. */
export function userFolders(platform: NodeJS.Platform = process.platform): UserFolders {
  const paths = envPaths("callgate", { suffix: "" });
  // env-paths has no word for XDG state; on Linux its log folder is exactly that.
  return { state: platform === "linux" ? paths.log : paths.data, config: paths.config };
}
