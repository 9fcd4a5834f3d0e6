// Installs the servers, load programs, proxies and the browser that the machine lacks before the tests, so that no test waits for them.

import { progress } from '../progress.ts'
import { missingServers } from '../vitest/open-offer.ts'
import { bringProgram } from './bring-program.ts'

const missing = [...(await missingServers()), ...(await missingPrograms())]
// The tests that need a missing one name it.
for (const reason of missing) progress(reason)
process.stdout.write(missing.length === 0 ? 'all servers are here\n' : `${missing.length} are missing\n`)

async function missingPrograms(): Promise<readonly string[]> {
  const names = ['wrk', 'sysbench', 'chromium', 'prometheus', 'nginx', 'caddy'] as const
  const brought = []
  for (const name of names) brought.push(await bringProgram(name))
  return brought.flatMap((program) => (program.type === 'missing' ? [program.reason] : []))
}
