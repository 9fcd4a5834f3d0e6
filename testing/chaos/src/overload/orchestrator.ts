import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'

const READY_MS_MAX = 60_000
/** The server cuts its own stop at 10 s. */
const STOP_MS_MAX = 30_000
const KEPT_CHARACTERS = 8_000

export interface OrchestratorSettings {
  readonly dataFolder: string
  /** Flags of `counterstep serve` without their dashes. */
  readonly flags: Readonly<Record<string, string | number>>
  readonly environment?: Readonly<Record<string, string>>
}

interface Heard {
  readonly process: ChildProcess
  readonly watch: SecretWatch
}

/** A real `counterstep serve` on sqlite, ended by its own process id. */
export class Orchestrator {
  readonly url: string
  readonly pid: number
  /** Hears what it prints. Who asks it lets it hear the answers. */
  readonly watch: SecretWatch
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>
  readonly #output: () => string

  private constructor(child: Heard, pid: number, url: string, output: () => string) {
    this.#child = child.process
    this.watch = child.watch
    this.pid = pid
    this.url = url
    this.#output = output
    this.#ended = this.isRunning ? once(this.#child, 'close') : Promise.resolve()
  }

  static async start({ dataFolder, flags, environment = {} }: OrchestratorSettings): Promise<Orchestrator> {
    const args = Object.entries({ port: 0, data: dataFolder, ...flags }).flatMap(([flag, value]) => [
      `--${flag}`,
      String(value),
    ])
    const child = spawn(process.execPath, [COUNTERSTEP_PROGRAM, 'serve', '--ready-json', ...args], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const watch = new SecretWatch()
    watch.follow(child, 'the server')
    let printed = ''
    const keep = (line: string) => {
      printed = `${printed}${line}\n`.slice(-KEPT_CHARACTERS)
    }
    createInterface({ input: child.stderr }).on('line', keep)
    const url = await readyUrl(child, keep, () => printed)
    if (child.pid === undefined) throw new Error('a server that answers has a process id')
    return new Orchestrator({ process: child, watch }, child.pid, url, () => printed)
  }

  /** The end of what it printed. */
  get output(): string {
    return this.#output()
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /**
   * Resolves when the process is gone: by its own stop, and killed if that takes too long. Throws if a secret was shown.
   */
  async stop(): Promise<void> {
    if (this.isRunning) await this.#end()
    this.watch.assertNone()
  }

  async #end(): Promise<void> {
    this.#child.kill('SIGTERM')
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX)
    await this.#ended
    clearTimeout(limit)
  }
}

function readyUrl(
  child: ReturnType<typeof spawn>,
  keep: (line: string) => void,
  output: () => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const { stdout } = child
    if (stdout === null) throw new Error('the server has no output')
    const fail = (why: string) => reject(new Error(`the server ${why}\n${output()}`))
    const limit = setTimeout(() => {
      child.kill('SIGKILL')
      fail('was not ready in time')
    }, READY_MS_MAX)
    child.once('exit', (code) => fail(`ended with ${code}`))
    createInterface({ input: stdout }).on('line', (line) => {
      const url = /^\{"url":"(http:\/\/[^"]+)"/.exec(line)?.[1]
      if (url === undefined) return keep(line)
      clearTimeout(limit)
      resolve(url)
    })
  })
}
