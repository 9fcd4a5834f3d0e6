import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { REPOSITORY } from '../../repository/source-tree.ts'
import { type StartedProcess, startProcess } from './started-process.ts'

const BANK = join(REPOSITORY, 'examples/bank/src/main.ts')
const ALL_SCOPES = 'submit,read,payloads,signal,operate,admin'
const OWN_URL = /http:\/\/127\.0\.0\.1:\d+/

export interface ConsoleServer extends AsyncDisposable {
  readonly url: string
  /** The text of a key with all scopes, if the server was started with keys. */
  readonly key: string | undefined
  /** The texts of `moreKeys`, by their names. */
  readonly keys: Readonly<Record<string, string>>
  readonly process: StartedProcess
}

export interface ConsoleServerOptions {
  /** The server asks for keys. By default it asks for none. */
  readonly hasKeys?: boolean
  /** The scopes of further keys, by their names. */
  readonly moreKeys?: Readonly<Record<string, string>>
  /** The default is `counterstep serve` with keys, and `counterstep dev` without. */
  readonly kind?: 'serve' | 'dev'
  /** The default is a free one. */
  readonly port?: number
  /** The default is an embedded store of its own. */
  readonly storeUrl?: string
  readonly more?: readonly string[]
}

/** Starts a server with the console, on a store of its own unless one is named. */
export async function startConsoleServer(options: ConsoleServerOptions = {}): Promise<ConsoleServer> {
  const { hasKeys = false, kind = hasKeys ? 'serve' : 'dev', storeUrl, port = 0, more = [] } = options
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-browser-'))
  const keysFile = join(folder, 'keys.json')
  const key = hasKeys ? await createKey(keysFile, 'ops', ALL_SCOPES) : undefined
  const keys: Record<string, string> = {}
  for (const [name, scopes] of Object.entries(options.moreKeys ?? {}))
    keys[name] = await createKey(keysFile, name, scopes)
  const place = storeUrl === undefined ? ['--data', folder] : ['--store', storeUrl]
  const access = hasKeys ? ['--keys-file', keysFile] : []
  const args = [kind, ...access, ...place, '--port', String(port), '--ready-json', ...more]
  const process = startProcess([COUNTERSTEP_PROGRAM, ...args])
  const dispose = async () => {
    await process[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const ready = await process.find(/^\{"url":.*/)
    const { url } = JSON.parse(ready) as { readonly url: string }
    return { url, key, keys, process, [Symbol.asyncDispose]: dispose }
  } catch (error: unknown) {
    await dispose()
    throw error
  }
}

/** Starts one of the example's banks, and resolves to its URL. */
export async function startBank(
  name: string,
  folder: string,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const data = join(folder, `${name}.db`)
  const process = startProcess([BANK, '--name', name, '--data', data, '--port', '0'])
  const url = await process.find(OWN_URL)
  return { url, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() }
}

async function createKey(keysFile: string, name: string, scopes: string): Promise<string> {
  const args = ['keys', 'create', '--keys-file', keysFile, '--name', name, '--scopes', scopes]
  await using process = startProcess([COUNTERSTEP_PROGRAM, ...args])
  return await process.find(/cs_[a-z0-9]{12}_[A-Za-z0-9_-]{43}/)
}
