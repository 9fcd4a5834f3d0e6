import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, type KeptProcess, keptFolder, startKept } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'

const START_MS_MAX = 20_000

export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  /** Pairs of an instant in seconds and a number as text. */
  readonly values: readonly (readonly [number, string])[]
}

export interface RuleState {
  readonly name: string
  readonly health: string
  readonly lastError?: string
}

/** Runs a real Prometheus, which scrapes one server several times a second. */
export class PrometheusServer {
  readonly url: string
  readonly #process: KeptProcess

  private constructor(url: string, process: KeptProcess) {
    this.url = url
    this.#process = process
  }

  /** `target` is host:port of the server, and `keyFile` has the API key that a scrape shows. */
  static async start(
    program: string,
    { target, keyFile, rules }: { readonly target: string; readonly keyFile: string; readonly rules: string },
  ): Promise<PrometheusServer> {
    const folder = await keptFolder('prometheus')
    const config = {
      global: { scrape_interval: '250ms', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [
        {
          job_name: 'counterstep',
          authorization: { credentials_file: keyFile },
          static_configs: [{ targets: [target] }],
        },
      ],
    }
    // YAML is a superset of JSON.
    writeFileSync(join(folder, 'prometheus.yaml'), JSON.stringify(config))
    const port = await freePort()
    const args = [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]
    const process = await startKept(program, args, join(folder, 'log'))
    const url = `http://127.0.0.1:${port}`
    await until('Prometheus answers', START_MS_MAX, () => isReady(url))
    const server = new PrometheusServer(url, process)
    // It takes some seconds to begin. The server that it scrapes need not be there yet.
    await until('Prometheus scrapes', START_MS_MAX, () => server.hasScraped())
    return server
  }

  async query(expr: string, { from, to }: { readonly from: number; readonly to: number }) {
    const parameters = { query: expr, start: String(from), end: String(to), step: '0.5' }
    const data = await this.#get<{ readonly result: readonly Sample[] }>('query_range', parameters)
    return data.result
  }

  async hasScraped(): Promise<boolean> {
    const { result } = await this.#get<{ readonly result: readonly unknown[] }>('query', { query: 'up' })
    return result.length > 0
  }

  async readRules(): Promise<readonly RuleState[]> {
    const { groups } = await this.#get<{
      readonly groups: readonly { readonly rules: readonly RuleState[] }[]
    }>('rules')
    return groups.flatMap(({ rules }) => rules)
  }

  async stop(): Promise<void> {
    await this.#process.signal('SIGTERM')
    await this.#process.end(START_MS_MAX)
  }

  async #get<Data>(path: string, parameters: Readonly<Record<string, string>> = {}): Promise<Data> {
    const answer = await fetch(`${this.url}/api/v1/${path}?${new URLSearchParams(parameters)}`)
    const body = (await answer.json()) as { readonly data: Data; readonly error?: string }
    if (body.error !== undefined) throw new Error(`${path}: ${body.error} (${parameters.query})`)
    return body.data
  }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/-/ready`).catch((error: unknown) => {
    // It does not listen yet.
    if (error instanceof TypeError) return undefined
    throw error
  })
  return answer?.ok === true
}
