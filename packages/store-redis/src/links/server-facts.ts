import type { DurabilityClass } from '@counterstep/core'
import { ServerRefusal } from './command-errors.ts'
import type { ServerLink } from './server-link.ts'

/** This is a server's own facts and settings. One that the server hides is absent. */
export interface ServerFacts {
  readonly server: string
  readonly version?: string
  readonly isClusterNode?: boolean
  readonly role?: string
  readonly replicas?: number
  readonly settings: Settings
}

type Setting = 'appendonly' | 'appendfsync' | 'no-appendfsync-on-rewrite' | 'maxmemory-policy'
export type Settings = Readonly<Partial<Record<Setting, string>>>

const SETTINGS: readonly Setting[] = [
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
  'maxmemory-policy',
]

export async function readFacts(link: ServerLink): Promise<ServerFacts> {
  const [info, config] = await Promise.all([readInfo(link), readConfig(link)])
  const version = info.get('redis_version')
  const cluster = info.get('cluster_enabled')
  const role = info.get('role')
  const replicas = info.get('connected_slaves')
  return {
    server: `${link.endpoint.host}:${link.endpoint.port}`,
    ...(version !== undefined && { version }),
    ...(cluster !== undefined && { isClusterNode: cluster === '1' }),
    ...(role !== undefined && { role }),
    ...(replicas !== undefined && { replicas: Number(replicas) }),
    settings: { ...readInfoSettings(info), ...config },
  }
}

/** Managed services forbid CONFIG. INFO tells fewer settings, but is allowed. */
function readInfoSettings(info: ReadonlyMap<string, string>): Settings {
  const aof = info.get('aof_enabled')
  const policy = info.get('maxmemory_policy')
  return {
    ...(aof !== undefined && { appendonly: aof === '1' ? 'yes' : 'no' }),
    ...(policy !== undefined && { 'maxmemory-policy': policy }),
  }
}

async function readConfig(link: ServerLink): Promise<Settings> {
  const answer = await ignoreHidden(link.send('config', ['GET', ...SETTINGS]))
  const values = (answer ?? []) as readonly string[]
  return Object.fromEntries(
    SETTINGS.flatMap((name) => {
      const at = values.indexOf(name)
      return at < 0 || at % 2 !== 0 ? [] : [[name, values[at + 1] ?? '']]
    }),
  )
}

async function readInfo(link: ServerLink): Promise<ReadonlyMap<string, string>> {
  const answer = await ignoreHidden(link.send('info', []))
  return new Map(
    String(answer ?? '')
      .split('\r\n')
      .map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon), line.slice(colon + 1)] as const
      }),
  )
}

/** Returns undefined if the user lacks the right, or if the service has renamed or removed the command. */
async function ignoreHidden(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error: unknown) {
    if (error instanceof ServerRefusal && (error.word === 'NOPERM' || error.word === 'ERR')) return undefined
    throw error
  }
}

export interface ClassVerdict {
  readonly durabilityClass: DurabilityClass
  /** The setting and the value that make the class C. */
  readonly reason?: string
}

/** Returns undefined if the server hides the setting that decides. */
export function readClass({ settings }: ServerFacts): ClassVerdict | undefined {
  const policy = settings['maxmemory-policy']
  if (policy !== undefined && policy !== 'noeviction') return toClassC('maxmemory-policy', policy)
  if (settings.appendonly === 'no') return toClassC('appendonly', 'no')
  if (settings.appendonly === undefined) return undefined
  const { appendfsync } = settings
  if (appendfsync === 'no') return toClassC('appendfsync', 'no')
  // During a rewrite it leaves all writes to the kernel, so more may be lost than class A or B allows.
  if (settings['no-appendfsync-on-rewrite'] === 'yes') return toClassC('no-appendfsync-on-rewrite', 'yes')
  // Managed services hide it. It is then the default, everysec.
  return { durabilityClass: appendfsync === 'always' ? 'A' : 'B' }
}

function toClassC(setting: Setting, value: string): ClassVerdict {
  return { durabilityClass: 'C', reason: `${setting} is ${value}` }
}
