import type { CallgateError } from "@callgate/contract";
import { describe, expect, test } from "vitest";
import { checkContainerOptions } from "./container-options.ts";
import type { ContainerOptions } from "./container-options.ts";
import { containerRequest } from "./container-request.ts";
import { hardenedProfile } from "./seccomp-profile.ts";

const spec = { command: ["true"], environment: {}, bounds: { memoryMiB: 64, processes: 8, workspaceMiB: 8, workspaceFiles: 64, openFiles: 32 }, mounts: [] };
const request = (options: ContainerOptions): { readonly HostConfig: Record<string, unknown>; readonly User: string } =>
  containerRequest({ kind: "docker", image: "sha256:0", owner: "me", user: { uid: 1_000, gid: 1_000 }, spec, options, channelFolder: "/c", volumes: [], seccomp: undefined, maxUserProcesses: undefined }) as never;

describe("checkContainerOptions", () => {
  test.each([
    ["Privileged", true], ["CapAdd", ["ALL"]], ["CapDrop", []], ["SecurityOpt", ["seccomp=unconfined"]], ["NetworkMode", "host"], ["PidMode", "host"], ["IpcMode", "host"], ["UTSMode", "host"],
    ["UsernsMode", "host"], ["CgroupnsMode", "host"], ["Binds", ["/:/host"]], ["Mounts", []], ["Devices", []], ["DeviceCgroupRules", ["a *:* rwm"]], ["ReadonlyRootfs", false], ["MaskedPaths", []], ["ReadonlyPaths", []],
    ["Memory", 0], ["MemorySwap", -1], ["PidsLimit", -1], ["Ulimits", []], ["Runtime", "runc"], ["Tmpfs", {}], ["VolumesFrom", ["x"]], ["Sysctls", {}], ["LogConfig", {}], ["RestartPolicy", {}], ["GroupAdd", ["0"]],
    ["OomKillDisable", true], ["ShmSize", 1], ["Init", true], ["constructor", 1], ["__proto__", 1],
  ])("refuses extra.%s: it could open a wall", (field, value) => {
    const extra = Object.fromEntries([[field, value]]) as Record<string, string>;
    expect(() => checkContainerOptions({ extra })).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(`extra.${field}`) }) as CallgateError);
  });

  test.each<[string, ContainerOptions]>([
    ["image", { image: "what is this" }], ["image", { image: { python: "" } }], ["engines", { engines: ["tcp://far:2375"] }], ["labels", { labels: { "a=b": "c" } }], ["runtime", { runtime: "../x" }], ["cpus", { cpus: 0 }], ["gpus", { gpus: 1.5 }],
    ["extra.CpuShares", { extra: { CpuShares: "many" } }], ["extra.OomScoreAdj", { extra: { OomScoreAdj: -1000 } }],
  ])("refuses a wrong %s and says what it may be", (option, options) => {
    expect(() => checkContainerOptions(options)).toThrow(new RegExp(`sandbox\\.container\\.${option.replace(".", "\\.")}`));
  });

  test("takes what is right", () => {
    checkContainerOptions({ image: { python: `a/b@sha256:${"0".repeat(64)}` }, engines: ["unix:///run/x.sock", "/run/y.sock"], labels: { zone: "eu" }, runtime: "runsc", cpus: 0.5, gpus: ["0"], extra: { CpusetCpus: "0" } });
  });
});

describe("containerRequest", () => {
  test("what hardens stands, whatever slipped through the options", () => {
    const extra = { Privileged: 1, NetworkMode: "host", ReadonlyRootfs: 0, CapDrop: "", SecurityOpt: "", Memory: 0, MemorySwap: -1, PidsLimit: -1, IpcMode: "host", Tmpfs: "", Binds: "/:/host", Mounts: "", Ulimits: "", LogConfig: "", NanoCpus: 0 };
    expect(request({ extra })).toEqual(request({}));
    expect(request({ extra })).toMatchObject({ User: "1000:1000", HostConfig: { Privileged: false, NetworkMode: "none", ReadonlyRootfs: true, CapDrop: ["ALL"], SecurityOpt: ["no-new-privileges"], Memory: 136 * 1024 * 1024, MemorySwap: 136 * 1024 * 1024, PidsLimit: 14 } });
  });
});

describe("hardenedProfile", () => {
  test("allows neither namespaces nor mounts nor tracing, whatever the engine's own says", () => {
    const profile = hardenedProfile() as { readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string; readonly args?: readonly object[] }[] };
    const allowed = profile.syscalls.filter(({ action, args }) => action === "SCMP_ACT_ALLOW" && (args ?? []).length === 0).flatMap(({ names }) => names);
    const judged = profile.syscalls.filter(({ names }) => names.includes("socket")).map(({ action, args }) => [action, args]);
    expect(judged.length).toBeGreaterThan(2);
    expect(JSON.stringify(judged)).not.toContain('"SCMP_ACT_ALLOW",[]');
    for (const name of ["socket", "socketpair", "unshare", "setns", "mount", "ptrace", "keyctl", "bpf", "io_uring_setup", "clone", "clone3"]) expect(allowed).not.toContain(name);
  });
});
