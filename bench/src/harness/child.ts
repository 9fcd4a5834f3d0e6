import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { readTreeCpuSeconds } from './cpu-time.ts'
import { readTreePssBytes } from './memory.ts'
import { FOLLOW_PARENT } from './paths.ts'

const READY_MS_MAX = 20_000
/** The server cuts its own stop at 9.5 s. */
const STOP_MS_MAX = 12_000
/** A server that fails every request would write a line for each. */
const LINES_PASSED_MAX = 5

export interface ChildSpec {
  readonly name: string
  readonly script: string
  readonly args?: readonly string[]
  readonly nodeArgs?: readonly string[]
  /** These variables are added to this process's own. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A process of the bench: started, asked over its channel, stopped by its pid. It does not outlive the harness. */
export class Child {
  readonly name: string
  readonly #process: ChildProcess
  readonly #exited: Promise<string>
  #isStopping = false
  #linesPassed = 0

  constructor({ name, script, args = [], nodeArgs = [], environment = {} }: ChildSpec) {
    this.name = name
    const follow = ['--import', pathToFileURL(FOLLOW_PARENT).href]
    this.#process = spawn(process.execPath, [...nodeArgs, ...follow, script, ...args], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { ...process.env, ...environment },
    })
    this.#exited = new Promise((resolve) => {
      this.#process.on('error', (error) => resolve(error.message))
      this.#process.on('exit', (code, signal) => resolve(`exit code ${code ?? signal}`))
    })
    void this.#exited.then((reason) => {
      // The next request would only show that nothing answers.
      if (!this.#isStopping) process.stderr.write(`${name} has ended: ${reason}\n`)
    })
  }

  /** The URL that the process prints when it listens. */
  url(): Promise<string> {
    const { stdout } = this.#process
    if (stdout === null) throw new Error(`${this.name} has no output`)
    const printed = new Promise<string>((resolve) => {
      // Read to the end, so that the pipe never fills.
      createInterface({ input: stdout }).on('line', (line) => {
        const url = readUrl(line)
        if (url !== undefined) resolve(url)
        else this.#pass(line)
      })
    })
    return this.#within(READY_MS_MAX, 'is not ready', printed)
  }

  #pass(line: string): void {
    this.#linesPassed += 1
    if (this.#linesPassed > LINES_PASSED_MAX) return
    process.stderr.write(`${this.name}: ${line}\n`)
    if (this.#linesPassed === LINES_PASSED_MAX) process.stderr.write(`${this.name}: (no more is shown)\n`)
  }

  /** One question and its answer; questions must not overlap. */
  ask(question: object, limitMs: number): Promise<unknown> {
    const answer = new Promise((resolve) => this.#process.once('message', resolve))
    this.#process.send(question)
    return this.#within(limitMs, 'did not answer', answer)
  }

  /** The processes that it has started count, too. */
  cpuSeconds(): number | undefined {
    return this.#process.pid === undefined ? undefined : readTreeCpuSeconds(this.#process.pid)
  }

  /** The processes that it has started count, too. */
  pssBytes(): number | undefined {
    return this.#process.pid === undefined ? undefined : readTreePssBytes(this.#process.pid)
  }

  /** Ends the process the way a crash does: nothing is given back, nothing is closed. */
  async kill(): Promise<void> {
    this.#isStopping = true
    this.#process.kill('SIGKILL')
    await this.#exited
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), STOP_MS_MAX)
    this.#process.kill('SIGTERM')
    await this.#exited
    clearTimeout(kill)
  }

  async #within<T>(limitMs: number, fault: string, value: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      const end = () => reject(new Error(`${this.name} ${fault} after ${limitMs} ms`))
      timer = setTimeout(end, limitMs)
    })
    const gone = this.#exited.then((reason): never => {
      throw new Error(`${this.name} has ended: ${this.#isStopping ? 'it was stopped' : reason}`)
    })
    try {
      return await Promise.race([value, late, gone])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Log lines share the output; they have a level. */
function readUrl(line: string): string | undefined {
  if (!line.startsWith('{')) return undefined
  const value: { readonly url?: unknown; readonly level?: unknown } = JSON.parse(line)
  return typeof value.url === 'string' && value.level === undefined ? value.url : undefined
}
