// Numbers from the kernel's own headers: asm/unistd_64.h and asm-generic/unistd.h. `undefined` where an architecture
// never had the call. No npm package offers a filter without a native addon; this table and seccomp-filter.ts are all of it.

export type Architecture = "x64" | "arm64";

/** Calls a program has no use for and a kernel exploit has: name, x86-64, arm64. Each fails with EPERM. */
export const deniedCalls: readonly (readonly [name: string, x64: number, arm64: number | undefined])[] = [
  // Other processes' memory and descriptors.
  ["ptrace", 101, 117], ["process_vm_readv", 310, 270], ["process_vm_writev", 311, 271], ["process_madvise", 440, 440], ["kcmp", 312, 272], ["pidfd_getfd", 438, 438],
  // Large and often broken kernel interfaces.
  ["userfaultfd", 323, 282], ["perf_event_open", 298, 241], ["bpf", 321, 280], ["io_uring_setup", 425, 425], ["io_uring_enter", 426, 426], ["io_uring_register", 427, 427],
  ["keyctl", 250, 219], ["add_key", 248, 217], ["request_key", 249, 218], ["memfd_secret", 447, 447], ["fanotify_init", 300, 262],
  // Modules, boot, system state.
  ["kexec_load", 246, 104], ["kexec_file_load", 320, 294], ["init_module", 175, 105], ["finit_module", 313, 273], ["delete_module", 176, 106], ["reboot", 169, 142],
  ["swapon", 167, 224], ["swapoff", 168, 225], ["acct", 163, 89], ["quotactl", 179, 60], ["syslog", 103, 116], ["sethostname", 170, 161], ["setdomainname", 171, 162],
  ["settimeofday", 164, 170], ["clock_settime", 227, 112], ["adjtimex", 159, 171], ["clock_adjtime", 305, 266], ["vhangup", 153, 58], ["nfsservctl", 180, 42],
  // Namespaces and mounts.
  ["mount", 165, 40], ["umount2", 166, 39], ["pivot_root", 155, 41], ["chroot", 161, 51], ["unshare", 272, 97], ["setns", 308, 268], ["open_tree", 428, 428], ["move_mount", 429, 429],
  ["fsopen", 430, 430], ["fsconfig", 431, 431], ["fsmount", 432, 432], ["fspick", 433, 433], ["mount_setattr", 442, 442], ["name_to_handle_at", 303, 264], ["open_by_handle_at", 304, 265],
  // Memory placement, execution domains, history.
  ["mbind", 237, 235], ["migrate_pages", 256, 238], ["move_pages", 279, 239], ["personality", 135, 92], ["lookup_dcookie", 212, 18], ["iopl", 172, undefined], ["ioperm", 173, undefined],
  ["modify_ldt", 154, undefined], ["uselib", 134, undefined], ["ustat", 136, undefined], ["sysfs", 139, undefined], ["_sysctl", 156, undefined], ["create_module", 174, undefined],
  ["get_kernel_syms", 177, undefined], ["query_module", 178, undefined],
];

/** Calls that depend on their arguments. */
export const judgedCalls: Readonly<Record<"clone" | "clone3" | "socket" | "socketpair" | "ioctl" | "mknod" | "mknodat", Readonly<Record<Architecture, number | undefined>>>> = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  ioctl: { x64: 16, arm64: 29 },
  mknod: { x64: 133, arm64: undefined },
  mknodat: { x64: 259, arm64: 33 },
};

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
export const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
