import { parseArgs } from 'node:util'
import { freePort } from '@counterstep/test-servers'
import { PoweredRedis } from './powered-redis.ts'
import { poweredSqlite } from './powered-sqlite.ts'
import type { PoweredStore } from './powered-store.ts'
import { runPowerLoss } from './run-power-loss.ts'

const CUTS_MAX = 100_000
const ACKNOWLEDGED_PER_CUT = 40

const HELP = `Cuts the power of a store under load, again and again, and audits what is left.

  --store S    sqlite (class A), sqlite-normal, redis (appendfsync always), redis-everysec; default sqlite
  --cuts N     default 100
  --seed S     default 1
  --redis FILE the program; default redis-server
`

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    cuts: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    redis: { type: 'string', default: 'redis-server' },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) process.stdout.write(HELP)
else await main()

async function main(): Promise<void> {
  const seed = wholeNumber('seed', values.seed, 2 ** 32 - 1)
  const cuts = wholeNumber('cuts', values.cuts, CUTS_MAX)
  const store = await storeNamed(values.store)
  const report = await runPowerLoss({ store, cuts, acknowledgedPerCut: ACKNOWLEDGED_PER_CUT, seed })
  if ('type' in report) {
    process.stderr.write(`power-loss: ${report.reason}\n`)
    process.exitCode = 2
    return
  }
  const { lost, faults, refused } = report
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  if (refused !== undefined) process.stderr.write(`the store did not open: ${refused}\n`)
  const isRight = lost.length === 0 && faults.length === 0 && refused === undefined
  const counted = { ...report, lost: lost.length, faults: faults.length, refused: refused !== undefined }
  process.stdout.write(`${JSON.stringify({ store: store.name, seed, ...counted, ok: isRight })}\n`)
  process.exitCode = isRight && report.cutsBetweenWriteAndSync > 0 ? 0 : 1
}

async function storeNamed(name: string): Promise<PoweredStore> {
  switch (name) {
    case 'sqlite':
      return poweredSqlite('full')
    case 'sqlite-normal':
      return poweredSqlite('normal')
    case 'redis':
      return new PoweredRedis({ binary: values.redis, port: await freePort(), appendfsync: 'always' })
    case 'redis-everysec':
      return new PoweredRedis({ binary: values.redis, port: await freePort(), appendfsync: 'everysec' })
    default:
      throw new RangeError(`--store ${name} is none of those in --help`)
  }
}

function wholeNumber(name: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > max) throw new RangeError(`--${name} must be a number from 0 to ${max}`)
  return value
}
