import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describeOwn } from '@counterstep/test-servers/vitest'
import { expect, it, onTestFinished } from 'vitest'
import { startCounterstep } from '../../src/demo/start-counterstep.ts'
import { audit } from './audit.ts'
import { describeOnBoth, openPools } from './both-servers.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const RUN_ON_TEST_SERVERS = fileURLToPath(new URL('../run-on-test-servers.ts', import.meta.url))
const LAST_LINE = '✓ Money is conserved: 100010.00 before and after.'
const LIMIT_MS = 120_000

interface Run {
  readonly exitCode: number | null
  readonly output: readonly string[]
  readonly errors: readonly string[]
}

/** Resolves to the whole output when the program has ended; `onLine` gets each line as it comes. */
async function run(
  program: string,
  env: Readonly<Record<string, string>>,
  onLine: (line: string, child: ChildProcess) => void = () => undefined,
): Promise<Run> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, COUNTERSTEP_URL: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const output: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    output.push(line)
    onLine(line, child)
  })
  createInterface({ input: child.stderr }).on('line', (line) => {
    errors.push(line)
    onLine(line, child)
  })
  const [exitCode] = await once(child, 'close')
  return { exitCode, output, errors }
}

describeOnBoth('the one command', (open) => {
  it(
    'The command of the example plays three transfers, tells what happened, and exits with 0',
    async () => {
      const { mysqlUrl, postgresUrl } = await open()
      const { exitCode, output, errors } = await run(MAIN, { MYSQL_URL: mysqlUrl, POSTGRES_URL: postgresUrl })
      expect(errors).toEqual([])
      expect(output.at(-1)).toBe(LAST_LINE)
      expect(exitCode).toBe(0)
      const text = output.join('\n')
      expect(text).toMatch(/debit +action +200 success\n.*credit +action +200 success\n.*succeeded/)
      expect(text).toMatch(/credit +action +409 failure ACCOUNT_CLOSED/)
      expect(text).toMatch(/debit +action +409 failure INSUFFICIENT_FUNDS/)
      expect(text).toMatch(/alice +100000.00 +99975.00/)
    },
    LIMIT_MS,
  )

  it(
    'The command of the example runs again on the same databases, with a Counterstep that runs already',
    async () => {
      const { mysqlUrl, postgresUrl } = await open()
      const counterstep = await startCounterstep()
      onTestFinished(counterstep.stop)
      const env = { MYSQL_URL: mysqlUrl, POSTGRES_URL: postgresUrl, COUNTERSTEP_URL: counterstep.url }
      for (const balance of [/bob +0.00 +25.00/, /bob +25.00 +50.00/]) {
        const { exitCode, output } = await run(MAIN, env)
        expect(output.join('\n')).toMatch(balance)
        expect(output.at(-1)).toBe(LAST_LINE)
        expect(exitCode).toBe(0)
      }
    },
    LIMIT_MS,
  )

  it(
    'The command of the example exits with 1 when a balance is not what it should be',
    async () => {
      const databases = await open()
      const { mysqlUrl, postgresUrl } = databases
      const { debitPool } = await openPools(databases)
      // The trigger adds a cent with each debit.
      await debitPool.query(
        'CREATE TRIGGER theft BEFORE UPDATE ON account FOR EACH ROW SET NEW.cents = NEW.cents + 1',
      )
      const env = { MYSQL_URL: mysqlUrl, POSTGRES_URL: postgresUrl }
      const { exitCode, output } = await run(MAIN, env)
      expect(output.at(-1)).toMatch(/^✗ alice should have 99975.00 and has 99975.03$/)
      expect(exitCode).toBe(1)
    },
    LIMIT_MS,
  )

  it(
    'The command of the example lets the transfer that is under way end when it is asked to stop',
    async () => {
      const databases = await open()
      const pools = await openPools(databases)
      await pools.creditPool.query("INSERT INTO account VALUES ('bob', 0)")
      const holder = await pools.creditPool.connect()
      await holder.query("BEGIN; SELECT * FROM account WHERE id = 'bob' FOR UPDATE")
      const { mysqlUrl, postgresUrl } = databases
      const env = { MYSQL_URL: mysqlUrl, POSTGRES_URL: postgresUrl }
      let released: Promise<unknown> | undefined
      const { exitCode, output, errors } = await run(MAIN, env, (line, child) => {
        if (line === 'alice sends bob 25.00') child.kill('SIGTERM')
        if (line.startsWith('Stopping')) released = holder.query('COMMIT')
      })
      await released
      holder.release()
      expect(output.join('\n')).toMatch(/ms {2}succeeded$/)
      expect(errors.at(-1)).toBe('stopped by SIGTERM')
      expect(exitCode).toBe(1)
      const { balances } = await audit(pools)
      expect([balances.get('alice'), balances.get('bob')]).toEqual([9_997_500, 2_500])
    },
    LIMIT_MS,
  )
})

it('The command of the example names every setting that is missing', async () => {
  const { exitCode, errors } = await run(MAIN, { MYSQL_URL: '', POSTGRES_URL: '' })
  expect(errors.join(' ')).toMatch(/MYSQL_URL.*POSTGRES_URL/)
  expect(exitCode).toBe(1)
})

describeOwn('mariadb', 'the one command in this repository', () => {
  describeOwn('postgres', 'and', () => {
    it(
      'The command of the example in this repository brings its own servers',
      async () => {
        const { exitCode, output } = await run(RUN_ON_TEST_SERVERS, {})
        expect(output.at(-1)).toBe(LAST_LINE)
        expect(exitCode).toBe(0)
      },
      LIMIT_MS,
    )
  })
})
