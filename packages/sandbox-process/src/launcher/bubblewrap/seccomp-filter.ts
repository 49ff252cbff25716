import type { Architecture } from "./system-calls.ts";
import { auditArchitecture, deniedCalls, judgedCalls } from "./system-calls.ts";

// Classic BPF, as seccomp takes it: linux/bpf_common.h and linux/seccomp.h.
const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const jumpEqual = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const jumpAtLeast = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const jumpAnyBit = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const and = 0x54; // BPF_ALU | BPF_AND | BPF_K
const answer = 0x06; // BPF_RET | BPF_K

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const fail = (errno: number): number => 0x00050000 | errno;
const errors = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;

/** Offsets in `struct seccomp_data`. */
const at = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24, thirdArgument: 32 } as const;
/** CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET. */
const newNamespaces = 0x7e020000;
const families = [1 /* AF_UNIX */, 2 /* AF_INET */, 10 /* AF_INET6 */];
/** SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET; never raw or packet sockets. */
const socketTypes = [1, 2, 5];
const socketTypeMask = 0xf;
/** Both put bytes into a terminal's input. */
const terminalInput = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];

interface Instruction {
  readonly code: number;
  readonly k: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
}

/**
 * The system calls a guest never gets, as the bytes of a `struct sock_filter` array, for `bwrap --seccomp`.
 *
 * A list of what is denied, not of what is allowed: real Python and Node use more than can be listed. It narrows the
 * kernel; namespaces, the absence of capabilities and mounts are the walls. A foreign architecture (x32, 32-bit) ends the
 * process: its numbers mean other calls. Errors, not kills, else: runtimes fall back, e.g. from clone3 to clone.
 */
export function seccompFilter(architecture: Architecture): Buffer {
  const program = [
    ...checkArchitecture(architecture),
    { code: load, k: at.number },
    ...deniedCalls.flatMap(([, x64, arm64]) => refuseCall(architecture === "x64" ? x64 : arm64)),
    ...when(judgedCalls.clone3[architecture], [{ code: answer, k: fail(errors.ENOSYS) }]),
    ...when(judgedCalls.clone[architecture], [{ code: load, k: at.firstArgument }, { code: jumpAnyBit, k: newNamespaces, ifFalse: 1 }, { code: answer, k: fail(errors.EPERM) }, { code: answer, k: allow }]),
    ...when(judgedCalls.ioctl[architecture], [{ code: load, k: at.secondArgument }, ...terminalInput.flatMap((request) => refuseEqual(request)), { code: answer, k: allow }]),
    ...when(judgedCalls.socket[architecture], judgeSocket()),
    ...when(judgedCalls.socketpair[architecture], judgeSocket()),
    ...when(judgedCalls.mknod[architecture], judgeNode(at.secondArgument)),
    ...when(judgedCalls.mknodat[architecture], judgeNode(at.thirdArgument)),
    { code: answer, k: allow },
  ];
  return Buffer.concat(program.map(bytesOf));
}

function checkArchitecture(architecture: Architecture): Instruction[] {
  const wrong = { code: answer, k: killProcess };
  const same: Instruction[] = [{ code: load, k: at.architecture }, { code: jumpEqual, k: auditArchitecture[architecture], ifTrue: 1 }, wrong];
  // x32 is x86-64 with this bit in the number.
  return architecture === "x64" ? [...same, { code: load, k: at.number }, { code: jumpAtLeast, k: 0x40000000, ifFalse: 1 }, wrong] : same;
}

function refuseCall(number: number | undefined): Instruction[] {
  return number === undefined ? [] : refuseEqual(number);
}

function refuseEqual(value: number): Instruction[] {
  return [{ code: jumpEqual, k: value, ifFalse: 1 }, { code: answer, k: fail(errors.EPERM) }];
}

/** Runs `then` for one call. Every way through `then` must end in an answer. */
function when(number: number | undefined, then: readonly Instruction[]): Instruction[] {
  return number === undefined ? [] : [{ code: jumpEqual, k: number, ifFalse: then.length }, ...then];
}

/** Pipes, sockets and files may be made, devices not: S_IFCHR and S_IFBLK share this bit, the others do not have it. */
function judgeNode(mode: number): Instruction[] {
  return [{ code: load, k: mode }, { code: jumpAnyBit, k: 0o020000, ifFalse: 1 }, { code: answer, k: fail(errors.EPERM) }, { code: answer, k: allow }];
}

/** Allows the three families and three types; anything else does not exist here. */
function judgeSocket(): Instruction[] {
  const refuse: Instruction = { code: answer, k: fail(errors.EAFNOSUPPORT) };
  return [
    { code: load, k: at.firstArgument },
    ...families.map((family, index): Instruction => ({ code: jumpEqual, k: family, ifTrue: families.length - index })),
    refuse,
    { code: load, k: at.secondArgument },
    { code: and, k: socketTypeMask },
    ...socketTypes.map((type, index): Instruction => ({ code: jumpEqual, k: type, ifTrue: socketTypes.length - index })),
    refuse,
    { code: answer, k: allow },
  ];
}

function bytesOf({ code, k, ifTrue = 0, ifFalse = 0 }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(k >>> 0, 4);
  return bytes;
}
