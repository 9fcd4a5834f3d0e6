import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startKept } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { readCpuSeconds } from '../harness/cpu-time.ts'
import type { Harness } from '../harness/harness.ts'
import { readTreePssBytes } from '../harness/memory.ts'
import type { Worker } from '../rounds.ts'

const READY_MS_MAX = 60_000
const STOP_MS_MAX = 60_000
const LOG_CHARACTERS_SHOWN = 500
/** Those that decide what an answered call survives, and how many calls are served at once. */
const SETTINGS_SHOWN = [
  'default-num-partitions',
  'default-replication',
  'bifrost.default-provider',
  'log-server.rocksdb-disable-wal-fsync',
]

export interface RestateServer {
  readonly worker: Worker
  /** It takes the calls of services. */
  readonly ingressUrl: string
  /** The settings that it says it has. */
  readonly settings: Readonly<Record<string, string>>
  /** Makes a process that serves handlers known to it. `firstCall` is a call that one of them answers. */
  register(handlerUrl: string, firstCall: { readonly path: string; readonly body: object }): Promise<void>
}

/** Starts Restate on free ports, with its files in the run's folder. It does not outlive the harness. */
export async function startRestate(harness: Harness, packages: string): Promise<RestateServer> {
  const machine = `${process.platform}-${process.arch}`
  const program = join(
    packages,
    'node_modules/@restatedev',
    `restate-server-${machine}`,
    'bin/restate-server',
  )
  const place = join(harness.folder, 'restate')
  mkdirSync(place)
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()]
  const config = join(place, 'restate.toml')
  writeFileSync(config, toConfig(place, { ingress, admin, node }))
  const log = join(place, 'log')
  const kept = await startKept(program, ['--config-file', config, '--no-logo'], log)
  harness.atEnd(async () => {
    await kept.signal('SIGTERM')
    await kept.end(STOP_MS_MAX)
  })
  const ingressUrl = `http://127.0.0.1:${ingress}`
  return {
    worker: {
      name: 'restate',
      cpuSeconds: () => readCpuSeconds(kept.pid),
      pssBytes: () => readTreePssBytes(kept.pid),
    },
    ingressUrl,
    settings: pickSettings(
      (await promisify(execFile)(program, ['--config-file', config, '--dump-config'])).stdout,
    ),
    async register(handlerUrl, { path, body }) {
      await until('Restate takes the handler', READY_MS_MAX, () => {
        if (kept.hasEnded())
          throw new Error(`its server has ended: ${readFileSync(log, 'utf8').slice(-LOG_CHARACTERS_SHOWN)}`)
        return isAccepted(`http://127.0.0.1:${admin}/deployments`, { uri: handlerUrl })
      })
      // It knows the handler a little later than it takes it.
      await until('Restate runs the handler', READY_MS_MAX, () => isAccepted(`${ingressUrl}${path}`, body))
    },
  }
}

/** Reads the settings that a report shows from a configuration in TOML. */
export function pickSettings(toml: string): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {}
  let table = ''
  for (const line of toml.split('\n')) {
    table = /^\[(.+)\]$/.exec(line)?.[1] ?? table
    const { key = '', value = '' } = /^(?<key>[a-z_-]+) = (?<value>.+)$/.exec(line)?.groups ?? {}
    const name = table === '' ? key : `${table}.${key}`
    if (SETTINGS_SHOWN.includes(name)) settings[name] = value.replaceAll('"', '')
  }
  return settings
}

/** Changes places and what is logged or sent elsewhere, and nothing else. */
function toConfig(
  place: string,
  { ingress, admin, node }: { readonly ingress: number; readonly admin: number; readonly node: number },
): string {
  return [
    `base-dir = ${JSON.stringify(join(place, 'data'))}`,
    'node-name = "bench"',
    'listen-mode = "tcp"',
    'bind-ip = "127.0.0.1"',
    `bind-port = ${node}`,
    'advertised-host = "127.0.0.1"',
    'log-filter = "warn"',
    'disable-telemetry = true',
    '[ingress]',
    `bind-port = ${ingress}`,
    '[admin]',
    `bind-port = ${admin}`,
    '',
  ].join('\n')
}

/** Tells whether a POST is answered with success. While nothing listens yet, it is not. */
async function isAccepted(url: string, body: object): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    await response.text()
    return response.ok
  } catch (error: unknown) {
    const cause = error instanceof Error ? error.cause : undefined
    if (cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED') return false
    throw error
  }
}
