import { setTimeout as pause } from 'node:timers/promises'
import { readMetrics, sumMetric } from '../../harness/metrics.ts'

const POLL_MS = 500
const BYTES_PER_MB = 1_000_000

/** Memory of a server's process, of all its threads, as the system counts it. */
export async function residentMb(url: string): Promise<number> {
  const bytes = sumMetric(await readMetrics(url), 'process_resident_memory_bytes')
  if (bytes === 0) throw new Error('the server does not know its memory here')
  return bytes / BYTES_PER_MB
}

/** Tells where the memory of its main thread is; the store's thread has its own. */
export async function heapFigures(url: string): Promise<Readonly<Record<string, number>>> {
  const metrics = await readMetrics(url)
  const megabytes = (name: string) => sumMetric(metrics, name) / BYTES_PER_MB
  return {
    'heap used MB': megabytes('nodejs_heap_size_used_bytes'),
    'heap total MB': megabytes('nodejs_heap_size_total_bytes'),
    'external MB': megabytes('nodejs_external_memory_bytes'),
  }
}

/** The most that was seen while something was done, and after it. */
export async function residentPeakMb<Result>(
  url: string,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly peakMb: number }> {
  let peakMb = 0
  const look = async () => {
    peakMb = Math.max(peakMb, await residentMb(url))
  }
  const ended = new AbortController()
  const [result] = await Promise.all([work().finally(() => ended.abort()), pollUntil(ended.signal, look)])
  await look()
  return { result, peakMb }
}

async function pollUntil(ended: AbortSignal, look: () => Promise<void>): Promise<void> {
  while (!ended.aborted) {
    await look()
    await pause(POLL_MS)
  }
}
