import { join } from 'node:path'
import type { Settings } from '../settings.ts'
import type { Harness, Service } from './harness.ts'
import { SERVER_MAIN } from './paths.ts'

export interface StoreFacts {
  readonly name: string
  readonly durabilityClass: string
  readonly failover: string
}

export interface Server extends Service {
  readonly store: StoreFacts
}

/** The real server on an empty store in the run's folder, with its default settings. */
export async function startServer(harness: Harness, settings: Settings): Promise<Server> {
  const child = harness.start({
    name: 'server',
    script: SERVER_MAIN,
    args: ['serve', '--ready-json', '--port', '0', '--log-level', 'warn', ...storeArgs(harness, settings)],
    nodeArgs: settings.cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${settings.cpuProf}`],
  })
  const url = await child.url()
  return { url, child, store: await readStoreFacts(url) }
}

function storeArgs(harness: Harness, { store }: Settings): readonly string[] {
  switch (store) {
    case 'sqlite':
      return ['--data', harness.folder, '--store', `sqlite:${join(harness.folder, 'bench.db')}`]
  }
}

async function readStoreFacts(url: string): Promise<StoreFacts> {
  const response = await fetch(`${url}/health/ready`)
  if (response.status !== 200) throw new Error(`/health/ready answered ${response.status}`)
  const { store } = (await response.json()) as { readonly store: StoreFacts }
  return store
}
