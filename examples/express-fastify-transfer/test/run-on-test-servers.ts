// Runs the demo on a MariaDB and a PostgreSQL of its own. It is in `test`, because only tests may use these servers.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { ServerMissingError, startMariadb, startPostgres } from '@counterstep/test-servers'
import { createDatabases } from './databases.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

async function run(): Promise<number> {
  const { values } = parseArgs({ options: { install: { type: 'boolean' } } })
  if (values.install === true) process.env.TEST_INSTALL = 'yes'
  process.stdout.write('Starting a MariaDB and a PostgreSQL of its own.\n')
  const starting = [startMariadb(), startPostgres()] as const
  try {
    const [mariadb, postgres] = await Promise.all(starting)
    const { mysqlUrl, postgresUrl } = await createDatabases({ mysql: mariadb.url, postgres: postgres.url })
    return await runMain({ ...process.env, MYSQL_URL: mysqlUrl, POSTGRES_URL: postgresUrl })
  } finally {
    for (const each of await Promise.allSettled(starting)) {
      if (each.status === 'fulfilled') await each.value.stop()
    }
  }
}

/** Answers its exit code. A signal is its to obey; we stop the servers after it. */
async function runMain(env: NodeJS.ProcessEnv): Promise<number> {
  const main = spawn(process.execPath, [MAIN], { env, stdio: 'inherit' })
  process.on('SIGTERM', () => main.kill('SIGTERM'))
  // The terminal sends it to both.
  process.on('SIGINT', () => undefined)
  const [code] = await once(main, 'exit')
  return typeof code === 'number' ? code : 1
}

try {
  process.exitCode = await run()
} catch (error: unknown) {
  if (!(error instanceof ServerMissingError)) throw error
  const advice =
    'npm run example:transfer -- --install installs them by apt-get, as root on Debian and Ubuntu'
  process.stderr.write(`${error.message}\n${advice}\n`)
  process.exitCode = 1
}
