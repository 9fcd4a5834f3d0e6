import type { ServerNode } from './server-node.ts'

const ANSWER_MS_MAX = 1_000
const SAMPLE_EVERY_MS = 250
const FENCED = /^counterstep_store_call_duration_seconds_count\{(?=[^}]*outcome="fenced")[^}]*\} (\d+)/gm

/** How many transactions this server holds now; 0 when it does not say. */
export async function readInFlight(server: ServerNode): Promise<number> {
  const text = await readText(server, '/health/ready')
  const count = /"inFlight":(\d+)/.exec(text ?? '')?.[1]
  return count === undefined ? 0 : Number(count)
}

/** Writes that the store refused because another server owns the row by now, summed over all lives of all servers. */
export class FencedWrites {
  readonly #servers: readonly ServerNode[]
  readonly #last = new Map<ServerNode, number>()
  readonly #timer: NodeJS.Timeout
  #ofEarlierLives = 0

  constructor(servers: readonly ServerNode[]) {
    this.#servers = servers
    this.#timer = setInterval(() => void this.sample(), SAMPLE_EVERY_MS)
  }

  get count(): number {
    return [...this.#last.values()].reduce((sum, each) => sum + each, this.#ofEarlierLives)
  }

  async sample(): Promise<void> {
    await Promise.all(this.#servers.map((server) => this.#sampleOne(server)))
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** A counter that is lower than before belongs to a new life. */
  async #sampleOne(server: ServerNode): Promise<void> {
    const text = await readText(server, '/metrics')
    if (text === undefined) return
    const fenced = [...text.matchAll(FENCED)].reduce((sum, [, value]) => sum + Number(value), 0)
    const before = this.#last.get(server) ?? 0
    if (fenced < before) this.#ofEarlierLives += before
    this.#last.set(server, fenced)
  }
}

/** Undefined: killed, paused or too busy to say. */
async function readText({ read }: ServerNode, path: string): Promise<string | undefined> {
  try {
    return (await read(path, ANSWER_MS_MAX)).text
  } catch {
    return undefined
  }
}
