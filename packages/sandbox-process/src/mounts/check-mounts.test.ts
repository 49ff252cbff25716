import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CallgateError } from "@callgate/contract";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createProcessDriver } from "../driver.ts";
import type { Launcher, Mount } from "../launcher/launcher.ts";
import { createGuestServer } from "../remote/guest-server.ts";
import { checkMounts, currentMounts } from "./check-mounts.ts";
import type { MountRules } from "./check-mounts.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-mounts-")));
const at = (name: string): string => join(folder, name);
const server = createServer();

function refused(host: string, rules: MountRules = {}, mount: Partial<Mount> = {}): CallgateError {
  try {
    checkMounts([{ host, guest: "/x", mode: "ro", ...mount }], rules);
  } catch (fault) {
    if (CallgateError.is(fault)) return fault;
    throw fault;
  }
  throw new Error(`${host} was mounted`);
}

beforeAll(async () => {
  for (const name of ["data", "home/.ssh", "home/project", "state", "other/.config/gcloud", "project/.docker"]) mkdirSync(at(name), { recursive: true });
  writeFileSync(at("file.txt"), "x");
  writeFileSync(at("home/.netrc"), "x");
  writeFileSync(at("state/journal.db"), "x");
  symlinkSync("/var/run", at("innocent"));
  symlinkSync(at("home/.ssh"), at("keys"));
  symlinkSync("/", at("root"));
  symlinkSync(at("data"), at("link"));
  await new Promise((done) => server.listen(at("a.sock"), () => done(undefined)));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});
afterEach(() => vi.unstubAllEnvs());

describe("checkMounts", () => {
  test("takes folders and files, and names them by where they are", () => {
    const mounts: readonly Mount[] = [{ host: at("link"), guest: "/data", mode: "rw" }, { host: `${folder}/data/../file.txt`, guest: "/data/file", mode: "ro" }, { host: at("data"), guest: "/workspace/own", mode: "overlay" }, { host: at("home/project"), guest: "/p", mode: "ro" }, { host: at("project"), guest: "/q", mode: "ro" }];
    expect(checkMounts(mounts).map(({ host }) => host)).toEqual([at("data"), at("file.txt"), at("data"), at("home/project"), at("project")]);
  });

  test("refuses an engine's socket, every folder above one, and links that lead there", () => {
    for (const host of ["/var/run/docker.sock", "/var/run", "/run", "/var/", "/run/podman", "/run/containerd/", at("innocent"), at("innocent/docker.sock"), `${folder}/../../../../../../run`]) refused(host);
    for (const host of ["/srv/engines", "/srv/engines/a/docker.sock"]) expect(refused(host, { sockets: ["/srv/engines/a/docker.sock"] }).message).toMatch(/socket that gives/);
    vi.stubEnv("DOCKER_HOST", `unix://${at("data/engine.sock")}`);
    expect(refused(at("data")).message).toMatch(/socket that gives/);
  });

  test("refuses any socket, and what is neither file nor folder", () => {
    expect(refused(at("a.sock")).message).toMatch(/neither a folder nor a file/);
    expect(refused(at("nowhere")).message).toMatch(/no such file/);
  });

  test.each(["/", "/proc", "/proc/1", "/proc/self/root", "/sys/fs", "/dev", "/dev/shm", "/etc", "/etc/passwd", "/boot", "/run/user/1000", "/home", "/root", "/usr/../etc"])("refuses %s of the system", (host) => {
    expect(refused(host)).toMatchObject({ code: "MOUNT_REFUSED" });
  });

  test("refuses the home folder of this user and what is above it", () => {
    for (let host = homedir(); ; host = dirname(host)) {
      refused(host);
      if (host === dirname(host)) break;
    }
    vi.stubEnv("HOME", at("data"));
    expect(refused(folder).message).toMatch(/whole home folder/);
    expect(refused(at("link")).message).toMatch(/whole home folder/);
  });

  test("refuses credentials of any user, what is in them, folders that hold them, and links to them", () => {
    for (const name of ["home/.ssh", "home/.ssh/id_ed25519", "keys", "home", "other", "other/.config/gcloud", "project/.docker", "home/.netrc"]) expect(refused(at(name)).message, name).toMatch(/credentials/);
    for (const name of [".aws", ".gnupg", ".kube", ".azure"]) expect(refused(join(homedir(), name)).message).toMatch(/credentials/);
  });

  test("refuses Callgate's own places, above and below, whatever link names them", () => {
    for (const host of [at("state"), at("state/journal.db"), folder]) expect(refused(host, { ownPlaces: [at("state/journal.db")] }).message).toMatch(/Callgate's own files/);
    expect(refused(at("state/blobs"), { ownPlaces: [at("state")] }).message).toMatch(/Callgate's own files/);
    expect(refused(at("data"), { ownPlaces: [at("link")] }).message).toMatch(/Callgate's own files/);
  });

  test("a refusal is said before it is looked at whether the place is there", () => {
    expect(refused("/root/.ssh/no-such-key").message).toMatch(/credentials/);
  });

  test.each([["data"], ["/x/../proc"], ["/proc"], ["/proc/sys"], ["/"], ["/sys"], ["/dev/shm"], ["/run/callgate"], ["/run/callgate/door"], ["/run"], ["/x/"], ["/x//y"], ["/a\nb"], ["/a\0--bind\0/\0/host"]])("refuses the place %j in the guest", (guest) => {
    expect(refused(at("data"), {}, { guest }).message).toMatch(/its place in the guest/);
  });

  test("refuses two mounts at one place, paths that are none, and an overlay of a file", () => {
    expect(() => checkMounts([{ host: at("data"), guest: "/x", mode: "ro" }, { host: at("home/project"), guest: "/x", mode: "ro" }])).toThrow(/two mounts/);
    for (const host of ["data", "", `${folder}/a\0b`]) expect(refused(host).message).toMatch(/no absolute path/);
    expect(refused(at("file.txt"), {}, { mode: "overlay" }).message).toMatch(/only a folder/);
  });

  test("says what to do, with the host's path for who configures, without it for who runs programs", () => {
    const fault = refused(at("home/.ssh"));
    expect(fault.message).toContain(at("home/.ssh"));
    expect(fault.message).toMatch(/Mount the folder that holds the files a program needs/);
    expect(fault.details).toEqual({ guest: "/x", why: "it is a folder of credentials" });
    expect(() => currentMounts([{ host: at("home/.ssh"), guest: "/x", mode: "ro" }])).toThrow(/^the mount \/x cannot be made: it is a folder of credentials$/);
  });
});

describe("where mounts are given", () => {
  const launcher: Launcher = { name: "never", probe: () => Promise.resolve({ kind: "ready", missing: [] }), launch: () => { throw new Error("launched"); } };
  const mounts: readonly Mount[] = [{ host: "/etc", guest: "/x", mode: "ro" }];

  test("a driver refuses one when it is made, but of another host; a server of guests those it may give", () => {
    expect(() => createProcessDriver({ launcher, mounts })).toThrow(expect.objectContaining({ code: "MOUNT_REFUSED" }) as Error);
    const server = (host: string): unknown => createGuestServer({ launcher, token: "a token of 16 characters", unsafePlainLoopback: true, mounts: [{ host, mode: "ro" }], mountRules: { ownPlaces: [at("state")] } });
    for (const host of ["/etc", at("state"), folder]) expect(() => server(host)).toThrow(expect.objectContaining({ code: "MOUNT_REFUSED" }) as Error);
    expect(server(at("data"))).toBeDefined();
    expect(createProcessDriver({ launcher: { ...launcher, isElsewhere: true }, mounts }).name).toBe("never");
  });
});
