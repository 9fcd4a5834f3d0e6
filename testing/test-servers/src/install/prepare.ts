// Brings before the tests the servers and load programs that their machine may lack, so that no test waits for these.

import { progress } from '../progress.ts'
import { missingServers } from '../vitest/open-offer.ts'
import { bringProgram } from './bring-program.ts'

const missing = [...(await missingServers()), ...(await missingPrograms())]
// The tests that need one say so by name.
for (const reason of missing) progress(reason)
process.stdout.write(missing.length === 0 ? 'all servers are here\n' : `${missing.length} are missing\n`)

async function missingPrograms(): Promise<readonly string[]> {
  const brought = [await bringProgram('wrk'), await bringProgram('sysbench')]
  return brought.flatMap((program) => (program.type === 'missing' ? [program.reason] : []))
}
