/** Reads the CPU time of this process since `before`. A bound on it does not count other work on the machine. */
export function readCpuMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
