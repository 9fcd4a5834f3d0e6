import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { latencyOfHistogram } from './latency-histogram.ts'

const TABLES = 10
const TABLE_ROWS = 10_000
const THREADS = 10

export interface SysbenchResult {
  readonly transactions: number
  readonly perSecond: number
  readonly latencyMs: { readonly p50: number; readonly p99: number }
}

/** `oltp_write_only`: per transaction BEGIN, two updates, a delete, an insert, COMMIT. */
export class Sysbench {
  readonly #config: string

  private constructor(config: string) {
    this.#config = config
  }

  /** Makes and fills its tables in an empty database. Undefined where there is no sysbench on the PATH. */
  static async prepare(databaseUrl: string, folder: string): Promise<Sysbench | undefined> {
    if (!(await hasSysbench())) return undefined
    const config = join(folder, 'sysbench.conf')
    // In a file, since others on the machine can read a command line and its password.
    writeFileSync(config, configOf(new URL(databaseUrl)), { mode: 0o600 })
    await sysbench(config, ['prepare'])
    return new Sysbench(config)
  }

  /** It measures whole seconds. */
  async run(seconds: number): Promise<SysbenchResult> {
    return parseSysbench(await sysbench(this.#config, [`--time=${Math.max(1, Math.round(seconds))}`, 'run']))
  }
}

function configOf({ hostname, port, username, password, pathname }: URL): string {
  const options = {
    'db-driver': 'mysql',
    'mysql-host': hostname,
    'mysql-port': port === '' ? '3306' : port,
    'mysql-user': decodeURIComponent(username),
    'mysql-password': decodeURIComponent(password),
    'mysql-db': pathname.slice(1),
    tables: TABLES,
    'table-size': TABLE_ROWS,
    threads: THREADS,
    histogram: 'on',
  }
  const set = Object.entries(options).filter(([, value]) => value !== '')
  return set.map(([name, value]) => `${name}=${value}\n`).join('')
}

async function hasSysbench(): Promise<boolean> {
  try {
    await output(['--version'])
    return true
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

function sysbench(config: string, command: readonly string[]): Promise<string> {
  return output(['oltp_write_only', `--config-file=${config}`, ...command])
}

function output(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sysbench', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    child.stderr.setEncoding('utf8').on('data', (part: string) => (text += part))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(text)
      else reject(new Error(`sysbench ended with ${code}: ${text.slice(-500)}`))
    })
  })
}

export function parseSysbench(text: string): SysbenchResult {
  const [, transactions, perSecond] = /transactions:\s+(\d+)\s+\(([\d.]+) per sec/.exec(text) ?? []
  if (transactions === undefined) throw new Error(`sysbench printed no figures: ${text.slice(-500)}`)
  return {
    transactions: Number(transactions),
    perSecond: Number(perSecond),
    latencyMs: latencyOfHistogram(text),
  }
}
