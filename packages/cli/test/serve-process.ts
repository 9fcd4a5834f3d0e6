import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { canary } from '@counterstep/test-servers/canary'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'

const PROCESS_MS_MAX = 25_000

export interface Ending {
  readonly code: number | null
  readonly tookMs: number
}

/** Runs a real `counterstep serve` and keeps every line that it prints. */
export class ServeProcess {
  readonly stdout: string[] = []
  readonly stderr: string[] = []
  readonly #watch = new SecretWatch()
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  readonly #limit: NodeJS.Timeout

  constructor(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [COUNTERSTEP_PROGRAM, ...args], {
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        SECRET_OF_ANOTHER: canary('environment'),
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#watch.follow(this.#child, 'counterstep')
    this.#ended = this.#end()
    // A failed test must leave no process behind.
    this.#limit = setTimeout(() => this.#child.kill('SIGKILL'), PROCESS_MS_MAX)
  }

  static async listening(dataFolder: string, ...more: readonly string[]) {
    const process = new ServeProcess(['serve', '--ready-json', '--port', '0', '--data', dataFolder, ...more])
    return { process, url: await process.url() }
  }

  async url(): Promise<string> {
    for (;;) {
      const ready = this.stdout.find((line) => line.startsWith('{"url":'))
      if (ready !== undefined) return (JSON.parse(ready) as { readonly url: string }).url
      await this.#nextLine()
    }
  }

  /** Resolves when a log line with this message has been printed. */
  logged(message: string): Promise<void> {
    return this.printed(`"msg":"${message}`)
  }

  /** Resolves when this text has been printed. */
  async printed(text: string): Promise<void> {
    while (!this.output.includes(text)) await this.#nextLine()
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('it did not start')
    return this.#child.pid
  }

  /** Returns everything that the process has printed. */
  get output(): string {
    return [...this.stdout, ...this.stderr].join('\n')
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Waits until the process has ended. Throws if it has printed a secret that it was given. */
  async ended(): Promise<Ending> {
    const startedAt = performance.now()
    const code = await this.#ended
    return { code, tookMs: performance.now() - startedAt }
  }

  async #nextLine(): Promise<void> {
    const streams = [this.#child.stdout, this.#child.stderr].filter((stream) => stream !== null)
    const ended = this.#ended.then((code) => {
      // The last line, which says why, comes first: a report of many tests shows no more than the first line.
      throw new Error(`it has ended (${code}): ${this.output.split('\n').at(-1)}\n${this.output}`)
    })
    await Promise.race([...streams.map((stream) => once(stream, 'data')), ended])
    await new Promise((resolve) => setImmediate(resolve))
  }

  async #end(): Promise<number | null> {
    for (const [stream, lines] of [
      [this.#child.stdout, this.stdout],
      [this.#child.stderr, this.stderr],
    ] as const) {
      if (stream !== null) createInterface({ input: stream }).on('line', (line) => lines.push(line))
    }
    const [code] = (await once(this.#child, 'close')) as [number | null]
    clearTimeout(this.#limit)
    this.#watch.assertNone()
    return code
  }
}
