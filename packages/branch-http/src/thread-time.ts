const MICROSECONDS_PER_MS = 1_000

/**
 * Returns the time that this thread has computed, in milliseconds. The pause of a process that gets no processor is not in it. Before
 * Node 23.9 it is the time of the clock.
 */
export function readThreadMs(): number {
  if (process.threadCpuUsage === undefined) return performance.now()
  const { user, system } = process.threadCpuUsage()
  return (user + system) / MICROSECONDS_PER_MS
}
