// Process sandboxes: real interpreters behind a launcher's walls.

export { createGuestChecker } from "./check/guest-checker.ts";
export { checkWalls } from "./doctor/check-walls.ts";
export type { WallCheck } from "./doctor/check-walls.ts";
export { createProcessDriver, defaultSandboxBounds } from "./driver.ts";
export type { ProcessDriverOptions, SandboxBounds } from "./driver.ts";
export { writeFrame } from "./frames/frame-splitter.ts";
export { commandLanguage } from "./language/command-language.ts";
export type { CommandTemplate } from "./language/command-language.ts";
export { pythonLanguage, shellLanguage } from "./language/guest-language.ts";
export { nodeLanguage } from "./language/node-language.ts";
export type { GuestLanguage } from "./language/guest-language.ts";
export { createAutoLauncher } from "./launcher/auto-launcher.ts";
export { createBubblewrapLauncher } from "./launcher/bubblewrap/bubblewrap-launcher.ts";
export { openImageStore } from "./launcher/container/base-images.ts";
export type { BuildImageOptions, ImageReport, ImageStore } from "./launcher/container/base-images.ts";
export { createContainerLauncher } from "./launcher/container/container-launcher.ts";
export type { ContainerOptions } from "./launcher/container/container-options.ts";
export type { GuestExit, LaunchBounds, LaunchedGuest, Launcher, LauncherProbe, LaunchSpec, Mount, ResourceUse } from "./launcher/launcher.ts";
export { createGuestServer } from "./remote/guest-server.ts";
export type { GuestServer, GuestServerOptions } from "./remote/guest-server.ts";
export type { RemoteOptions } from "./remote/remote-connection.ts";
export { createRemoteLauncher } from "./remote/remote-launcher.ts";
export type { ServerBounds } from "./remote/server-bounds.ts";
export type { NetworkOptions } from "./network/network-policy.ts";
export { useOf } from "./launcher/process-tree.ts";
export { whenStarted } from "./launcher/started-process.ts";
export { createUnsafeLocalLauncher } from "./launcher/local/local-launcher.ts";
