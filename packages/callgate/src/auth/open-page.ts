import { spawn } from "node:child_process";

/** What opens a page, by system. Never through a shell: the URL is the authorization server's word (security mcp-011). */
const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Shows a page in the person's browser, where there is one. Never throws; the URL is printed beside. */
export function openPage(url: URL, platform: NodeJS.Platform = process.platform): void {
  const [command, ...args] = openers[platform] ?? [];
  if (command === undefined) return;
  spawn(command, [...args, url.href], { stdio: "ignore", detached: true }).once("error", () => undefined).unref();
}
