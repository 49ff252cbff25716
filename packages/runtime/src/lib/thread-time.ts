/**
 * CPU time of this thread in milliseconds, from a beginning of its own: what a busy machine gives to others does not count.
 * Before Node 24, which first can tell, the time of the wall.
 */
export function threadMs(): number {
  const usage = (process as { threadCpuUsage?: () => NodeJS.CpuUsage }).threadCpuUsage?.();
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1_000;
}
