import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type KeptProcess, startKept } from '@counterstep/test-servers'

/** Only tells stuck from slow: a busy machine takes its time to start a process. */
const READY_MS_MAX = 90_000
const STOP_MS_MAX = 20_000
const KILL_MS_MAX = 10_000
const POLL_EVERY_MS = 20

export interface ProcessSpec {
  readonly name: string
  /** A program of the repository and its arguments. */
  readonly args: readonly string[]
  /** The file to which the output of all its lives is appended. */
  readonly log: string
  /** Answers 200 when it is ready. */
  readonly readyUrl: string
}

/** A process of the run, hurt by its own process id alone. It dies with the run, however that ends. */
export class OwnProcess {
  readonly #spec: ProcessSpec
  #kept: KeptProcess
  #isPaused = false

  private constructor(spec: ProcessSpec, kept: KeptProcess) {
    this.#spec = spec
    this.#kept = kept
  }

  static async start(spec: ProcessSpec): Promise<OwnProcess> {
    const started = new OwnProcess(spec, await launch(spec))
    await started.#ready()
    return started
  }

  get name(): string {
    return this.#spec.name
  }

  get isRunning(): boolean {
    return !this.#kept.hasEnded()
  }

  /** SIGKILL; the next life begins with `restart`. */
  async kill(): Promise<void> {
    await this.#kept.signal('SIGKILL')
    await this.#kept.end(KILL_MS_MAX)
    this.#isPaused = false
  }

  /** Waits until it ends by itself. False: it still runs after the time. */
  async untilEnded(limitMs: number): Promise<boolean> {
    const endAt = performance.now() + limitMs
    while (this.isRunning && performance.now() < endAt) await delay(POLL_EVERY_MS)
    return !this.isRunning
  }

  async restart(): Promise<void> {
    this.#kept = await launch(this.#spec)
    await this.#ready()
  }

  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#kept.signal('SIGSTOP')
  }

  async resume(): Promise<void> {
    if (!this.#isPaused) return
    this.#isPaused = false
    await this.#kept.signal('SIGCONT')
  }

  /** SIGTERM; throws if it does not end well. */
  async stop(): Promise<void> {
    await this.#kept.signal('SIGTERM')
    const how = await this.#kept.end(STOP_MS_MAX)
    if (how !== 'exit code 0') throw new Error(`${this.#spec.name} ended with ${how}; see ${this.#spec.log}`)
  }

  async #ready(): Promise<void> {
    const endAt = performance.now() + READY_MS_MAX
    while (!(await answers(this.#spec.readyUrl))) {
      if (!this.isRunning || performance.now() > endAt) {
        const log = await readFile(this.#spec.log, 'utf8')
        throw new Error(`${this.#spec.name} does not get ready; the end of its log:\n${log.slice(-2_000)}`)
      }
      await delay(POLL_EVERY_MS)
    }
  }
}

function launch({ args, log }: ProcessSpec): Promise<KeptProcess> {
  return startKept(process.execPath, args, log)
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    // The process does not listen there yet.
    return false
  }
}
