import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'

const READY_MS_MAX = 30_000
const LOG_LINES_MAX = 200

export type NodeFlags = Readonly<Record<string, string | number>>

/** The program of today, without further arguments, unless it says more. */
export interface NodeProgram {
  readonly program?: string | undefined
  readonly args?: readonly string[]
}

export interface Ending {
  readonly code: number | null
  readonly tookMs: number
}

/** A real `counterstep serve` on loopback, stopped and hurt by its own process id. */
export class NodeProcess {
  readonly #watch = new SecretWatch()
  readonly #child: ChildProcess
  readonly #exited: Promise<number | null>
  readonly #log: string[] = []
  readonly #errors: string[] = []
  #url = ''

  private constructor(flags: NodeFlags, { program = COUNTERSTEP_PROGRAM, args: more = [] }: NodeProgram) {
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#child = spawn(process.execPath, [program, 'serve', '--ready-json', ...args, ...more], {
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#watch.follow(this.#child, 'a node')
    this.#exited = once(this.#child, 'close').then(([code]) => code as number | null)
    // No test leaves a process behind, however it ends.
    const killIt = () => this.#child.kill('SIGKILL')
    process.once('exit', killIt)
    void this.#exited.finally(() => process.off('exit', killIt))
  }

  static async start(flags: NodeFlags, program: NodeProgram = {}): Promise<NodeProcess> {
    const node = new NodeProcess({ port: 0, 'dtm-port': 'off', 'log-level': 'warn', ...flags }, program)
    node.#url = await node.#ready()
    return node
  }

  get url(): string {
    return this.#url
  }

  get port(): number {
    return Number(new URL(this.#url).port)
  }

  /** The errors that it logged: bugs, or events that a sound node never logs. Also each secret that it printed. */
  get errors(): readonly string[] {
    return [...this.#errors, ...this.#watch.shown]
  }

  /** The last lines that it wrote. */
  get log(): readonly string[] {
    return this.#log
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('it did not start')
    return this.#child.pid
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }

  /** Asks it to stop, and waits for its end. */
  async stop(): Promise<Ending> {
    const startedAt = performance.now()
    this.#child.kill('SIGTERM')
    const code = await this.#exited
    return { code, tookMs: performance.now() - startedAt }
  }

  #ready(): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`a node ${why}\n${this.#log.join('\n')}`))
      const timer = setTimeout(() => {
        this.#child.kill('SIGKILL')
        fail('was not ready in time')
      }, READY_MS_MAX)
      const onLine = (line: string) => {
        if (this.#log.push(line) > LOG_LINES_MAX) this.#log.shift()
        if (line.startsWith('{"level":50')) this.#errors.push(line)
        if (!line.startsWith('{"url":')) return
        clearTimeout(timer)
        resolve((JSON.parse(line) as { readonly url: string }).url)
      }
      for (const stream of [this.#child.stdout, this.#child.stderr]) {
        if (stream !== null) createInterface({ input: stream }).on('line', onLine)
      }
      void this.#exited.then((code) => {
        clearTimeout(timer)
        fail(`exited with ${code}`)
      })
    })
  }
}
