// `npm run lambda:local` runs the functions of the template on this machine, until Ctrl-C.
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { ServerMissingError } from '@counterstep/test-servers'
import { RuntimeClientMissingError } from '../errors.ts'
import { type LocalAccount, startLocalAccount } from './local-account.ts'

const USAGE = `npm run lambda:local [-- --services bank=http://127.0.0.1:3001]

It runs api, worker and sweeper under Amazon's own runtime client (Linux), with a Redis, an ElasticMQ and a schedule.
Without --services there is one service, bank, which takes every call. What is missing is named; TEST_INSTALL=yes lets
it be built and installed.`

const tell = (line: string) => void process.stderr.write(`${line}\n`)

/** Returns undefined if something is missing on this machine. Its name has then been printed. */
async function open(services: string | undefined): Promise<LocalAccount | undefined> {
  try {
    return await startLocalAccount({ services, tell })
  } catch (error: unknown) {
    if (!(error instanceof RuntimeClientMissingError || error instanceof ServerMissingError)) throw error
    tell(error.message)
    return undefined
  }
}

const { values } = parseArgs({
  options: { help: { type: 'boolean', default: false }, services: { type: 'string' } },
})
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
} else {
  const account = await open(values.services)
  if (account === undefined) process.exitCode = 1
  else {
    process.stdout.write(`URL=${account.url}\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await account.stop()
  }
}
