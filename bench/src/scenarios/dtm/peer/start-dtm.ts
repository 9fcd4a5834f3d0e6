import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, startKept } from '@counterstep/test-servers'
import { until } from '@counterstep/test-servers/until'
import { readCpuSeconds } from '../../../harness/cpu-time.ts'
import { databaseWorker } from '../../../harness/database-worker.ts'
import type { Harness } from '../../../harness/harness.ts'
import { readTreePssBytes } from '../../../harness/memory.ts'
import { speaksDtm } from '../dtm-job.ts'
import type { DtmServer } from '../dtm-row.ts'
import type { DtmStore } from './open-dtm-store.ts'

const READY_MS_MAX = 60_000
const STOP_MS_MAX = 30_000
const LOG_CHARACTERS_SHOWN = 500

export interface StartedDtm extends Omit<Required<DtmServer>, 'name'> {
  /** The settings that it says it has. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** Starts DTM on free ports, in a folder of that name. It does not outlive the harness. */
export async function startDtm(
  harness: Harness,
  program: string,
  store: DtmStore,
  name = 'dtm',
): Promise<StartedDtm> {
  const folder = join(harness.folder, name)
  mkdirSync(folder)
  const [http, grpc, jsonRpc] = [await freePort(), await freePort(), await freePort()]
  const config = join(folder, 'conf.yml')
  writeFileSync(
    config,
    // JSON is YAML, too.
    JSON.stringify({
      Store: store.settings,
      HttpPort: http,
      GrpcPort: grpc,
      JsonRpcPort: jsonRpc,
      LogLevel: 'warn',
    }),
  )
  const log = join(folder, 'log')
  // Its own store is a file of the folder in which it runs.
  const inFolder = ['-c', 'cd "$0" && exec "$@"', folder]
  const kept = await startKept('/bin/sh', [...inFolder, program, '-c', config], log)
  harness.atEnd(async () => {
    if (kept.hasEnded()) return
    await kept.signal('SIGTERM')
    await kept.end(STOP_MS_MAX)
  })
  const url = `http://127.0.0.1:${http}`
  await until('DTM answers', READY_MS_MAX, async () => {
    if (kept.hasEnded())
      throw new Error(`it has ended: ${readFileSync(log, 'utf8').slice(-LOG_CHARACTERS_SHOWN)}`)
    return await speaksDtm(url).catch(() => false)
  })
  return {
    url,
    grpcAddress: `127.0.0.1:${grpc}`,
    workers: [
      { name: 'dtm', cpuSeconds: () => readCpuSeconds(kept.pid), pssBytes: () => readTreePssBytes(kept.pid) },
      ...(store.host === undefined ? [] : databaseWorker(store.host)),
    ],
    settings: readLoggedSettings(readFileSync(log, 'utf8')),
  }
}

const CONFIG_TITLE = 'loaded config is: '

/** Reads the configuration that it logs when it starts, with all of its defaults. Throws if it logs none. */
export function readLoggedSettings(log: string): Readonly<Record<string, unknown>> {
  const line = log.split('\n').find((each) => each.startsWith('{') && each.includes(CONFIG_TITLE))
  if (line === undefined) throw new Error('it does not log its configuration')
  const { msg } = JSON.parse(line) as { readonly msg: string }
  const { Store, UpdateBranchSync, TransCronInterval, RetryInterval, LogLevel } = JSON.parse(
    msg.slice(msg.indexOf(CONFIG_TITLE) + CONFIG_TITLE.length),
  ) as LoggedConfig
  const { Driver, MaxOpenConns } = Store
  return { Driver, MaxOpenConns, UpdateBranchSync, TransCronInterval, RetryInterval, LogLevel }
}

interface LoggedConfig {
  readonly Store: { readonly Driver: string; readonly MaxOpenConns: number }
  readonly UpdateBranchSync: number
  readonly TransCronInterval: number
  readonly RetryInterval: number
  readonly LogLevel: string
}
