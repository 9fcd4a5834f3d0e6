// Prints how many MiB are kept after URLs that were cut out of 100 requests of half a MiB each went through what remembers URLs.
import { TargetCache } from '../../../src/target-cache.ts'
import { loopbackTargets } from '../../../src/targets/target-policy.ts'

const REQUESTS = 100
const MEBIBYTE = 1024 * 1024

declare const gc: () => void

const policy = loopbackTargets()
const cache = new TargetCache(
  1_000,
  (text) => policy.resolve(text),
  (url, text) => ({ url, text }),
)

for (let n = 0; n < REQUESTS; n++) {
  const url = `http://127.0.0.1:3000/a-path-that-is-not-too-short/${n}`
  const request = JSON.parse(`"${url}${'x'.repeat(MEBIBYTE / 2)}"`) as string
  const slice = request.slice(0, url.length)
  if (policy.check(slice) !== undefined) throw new Error('refused')
  cache.get(slice)
}
gc()
process.stdout.write(String(Math.round(process.memoryUsage().heapUsed / MEBIBYTE)))
