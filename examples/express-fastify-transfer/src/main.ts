// Both services, and three transfers between them: see the README.
import { inspect } from 'node:util'
import { readAddresses } from './demo/addresses.ts'
import { playTransfers } from './demo/play-transfers.ts'
import { withServices } from './demo/with-services.ts'

async function main(): Promise<number> {
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      process.stderr.write('Stopping after this transfer; a second signal ends it at once.\n')
      stopping.abort(new Error(`stopped by ${name}`))
    })
  }
  try {
    const faults = await withServices(readAddresses(process.env), (services) =>
      playTransfers(services, (line) => process.stdout.write(`${line}\n`), stopping.signal),
    )
    return faults.length === 0 ? 0 : 1
  } catch (error: unknown) {
    // Where a name has several addresses and none answers, the error has no message.
    const text = error instanceof Error && error.message !== '' ? error.message : inspect(error)
    process.stderr.write(`${text}\n`)
    return 1
  }
}

process.exit(await main())
