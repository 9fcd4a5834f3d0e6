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
  readonly #program: string
  readonly #config: string

  private constructor(program: string, config: string) {
    this.#program = program
    this.#config = config
  }

  /** Makes and fills its tables in an empty database. */
  static async prepare(program: string, databaseUrl: string, folder: string): Promise<Sysbench> {
    const config = join(folder, 'sysbench.conf')
    // The settings are in a file, since others on the machine can read a command line and its password.
    writeFileSync(config, toConfig(new URL(databaseUrl)), { mode: 0o600 })
    const prepared = new Sysbench(program, config)
    await prepared.#output(['prepare'])
    return prepared
  }

  /** It measures whole seconds. */
  async run(seconds: number): Promise<SysbenchResult> {
    return parseSysbench(await this.#output([`--time=${Math.max(1, Math.round(seconds))}`, 'run']))
  }

  #output(command: readonly string[]): Promise<string> {
    const args = ['oltp_write_only', `--config-file=${this.#config}`, ...command]
    return new Promise((resolve, reject) => {
      const child = spawn(this.#program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
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
}

function toConfig({ hostname, port, username, password, pathname }: URL): string {
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

export function parseSysbench(text: string): SysbenchResult {
  const [, transactions, perSecond] = /transactions:\s+(\d+)\s+\(([\d.]+) per sec/.exec(text) ?? []
  if (transactions === undefined) throw new Error(`sysbench printed no figures: ${text.slice(-500)}`)
  return {
    transactions: Number(transactions),
    perSecond: Number(perSecond),
    latencyMs: latencyOfHistogram(text),
  }
}
