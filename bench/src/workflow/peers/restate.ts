import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startKept } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { readCpuSeconds } from '../../harness/cpu-time.ts'
import type { Harness } from '../../harness/harness.ts'
import { processPath } from '../../harness/paths.ts'
import type { Worker } from '../../rounds.ts'
import { auditAccounts, createAccounts } from '../accounts.ts'
import type { Transfer } from '../move.ts'
import { peerJob } from '../transfer-jobs.ts'
import type { Peer } from './peer.ts'

const NAME = 'restate'
const READY_MS_MAX = 60_000
const STOP_MS_MAX = 60_000
const LOG_CHARACTERS_SHOWN = 500
const HANDLER_ENVIRONMENT = { NODE_ENV: 'production', RESTATE_LOGGING: 'ERROR' }

export const restate: Peer = {
  name: NAME,
  packages: { '@restatedev/restate-server': '1.7.12', '@restatedev/restate-sdk': '1.17.2' },
  note: 'one server with its defaults, whose journal it flushes to its own files; the handler is a process beside it. The effect and the record of a step are two commits, so a step may run more than once: it has no barrier, and thus one write less',
  async open({ harness, settings }, postgres, folder) {
    const url = await postgres.newDatabase(NAME)
    await createAccounts(url, settings.accounts)
    const server = await startRestate(harness, folder)
    const handler = harness.start({
      name: 'restate handler',
      script: processPath('restate-handler'),
      args: [folder, String(settings.accounts)],
      environment: { ...HANDLER_ENVIRONMENT, SERVICES_DATABASE: url },
    })
    const uri = await handler.url()
    await until('Restate takes the handler', READY_MS_MAX, () => {
      server.assertRuns()
      return isAccepted(`${server.adminUrl}/deployments`, { uri })
    })
    const runUrl = `${server.ingressUrl}/transfer/run`
    // It knows the handler a little later than it takes it.
    const nothing: Transfer = { transfer: '', steps: 0 }
    await until('Restate runs the handler', READY_MS_MAX, () => isAccepted(runUrl, nothing))
    return {
      plan: {
        name: NAME,
        job: peerJob(runUrl, settings),
        workers: [server.worker, handler, postgres.worker],
      },
      async audit(transfers) {
        return { moves: await auditAccounts(NAME, url, { transfers, steps: settings.branches }) }
      },
    }
  },
}

interface RestateServer {
  readonly worker: Worker
  readonly ingressUrl: string
  readonly adminUrl: string
  /** Throws with the end of its log if it has ended. */
  assertRuns(): void
}

async function startRestate(harness: Harness, folder: string): Promise<RestateServer> {
  const packages = join(folder, 'node_modules', '@restatedev')
  const program = join(
    packages,
    `restate-server-${process.platform}-${process.arch}`,
    'bin',
    'restate-server',
  )
  const place = join(folder, 'server')
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
  return {
    worker: { name: NAME, cpuSeconds: () => readCpuSeconds(kept.pid) },
    ingressUrl: `http://127.0.0.1:${ingress}`,
    adminUrl: `http://127.0.0.1:${admin}`,
    assertRuns() {
      if (kept.hasEnded())
        throw new Error(`its server has ended: ${readFileSync(log, 'utf8').slice(-LOG_CHARACTERS_SHOWN)}`)
    },
  }
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
