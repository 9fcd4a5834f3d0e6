import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@counterstep/sdk'
import { freePort } from '@counterstep/test-servers'
import { type Container, type Mount, makeVolume, runContainer } from '../image/container.ts'
import type { RootFileSystem } from '../image/root-file-system.ts'
import { StartedContainers } from '../image/started-containers.ts'
import { waitUntilReady } from '../image/wait-until-ready.ts'

export interface Roots {
  readonly orchestrator: RootFileSystem
  readonly examples: RootFileSystem
}

/** Two banks and an orchestrator on the embedded store. Each is a container with a volume of its own. */
export interface EmbeddedWorld {
  readonly client: Client
  readonly bankUrls: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly volume: Mount
  readonly key: string
  readonly url: string
  /** Starts the orchestrator. Resolves when it is ready. */
  start(): Promise<{ readonly container: Container; readonly readyMs: number }>
  /** Ends the banks, and any container that a failed check has left running. */
  close(): Promise<void>
}

export async function openEmbeddedWorld(roots: Roots, folder: string): Promise<EmbeddedWorld> {
  const containers = new StartedContainers()
  try {
    return { ...(await openWorld(roots, folder, containers)), close: () => containers.end() }
  } catch (error: unknown) {
    await containers.end()
    throw error
  }
}

async function openWorld(
  { orchestrator, examples }: Roots,
  folder: string,
  containers: StartedContainers,
): Promise<Omit<EmbeddedWorld, 'close'>> {
  mkdirSync(folder, { recursive: true })
  const [port, ...bankPorts] = [await freePort(), await freePort(), await freePort()]
  const bankUrls = bankPorts.map((bankPort) => `http://127.0.0.1:${bankPort}`)
  const banks = bankPorts.map((bankPort, index) => {
    const name = `bank-${'ab'[index]}`
    const volume = makeVolume(examples, join(folder, name), '/data')
    const options = ['--port', String(bankPort), '--data', '/data/bank.db', '--name', name]
    return containers.start(examples, { command: ['node', 'dist/bank.js', ...options], mounts: [volume] })
  })
  for (const [index, bank] of banks.entries()) await waitUntilReady(bank, `${bankUrls[index]}/health`)
  const volume = makeVolume(orchestrator, join(folder, 'orchestrator'), '/data')
  const key = await makeKey(orchestrator, volume)
  const url = `http://127.0.0.1:${port}`
  const env = {
    COUNTERSTEP_PORT: String(port),
    COUNTERSTEP_DTM_PORT: 'off',
    COUNTERSTEP_KEYS_FILE: '/data/keys.json',
    COUNTERSTEP_SERVICES: bankUrls.map((bankUrl, index) => `bank-${'ab'[index]}=${bankUrl}`).join(','),
  }
  return {
    client: createClient({ url, apiKey: key }),
    ...{ bankUrls, env, volume, key, url },
    async start() {
      const container = containers.start(orchestrator, { env, mounts: [volume] })
      return { container, readyMs: await waitUntilReady(container, `${url}/health/ready`) }
    },
  }
}

async function makeKey(root: RootFileSystem, volume: Mount): Promise<string> {
  const options = ['--keys-file', '/data/keys.json', '--name', 'check', '--scopes', 'submit,read']
  const { code, output } = await runContainer(root, {
    command: ['keys', 'create', ...options],
    mounts: [volume],
  })
  const key = /^cs_\S+$/m.exec(output)?.[0]
  if (code !== 0 || key === undefined) throw new Error(`keys create ended with ${code}: ${output}`)
  return key
}
