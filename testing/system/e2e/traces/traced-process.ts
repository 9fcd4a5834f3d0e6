import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Spans are sent soon, so that a test need not wait, and a process that is killed has sent those that had ended. */
export const SOON = { OTEL_BSP_SCHEDULE_DELAY: '20' }

/** Runs a bank whose framework is instrumented. */
export class TracedBank {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(url: string, child: ChildProcess) {
    this.url = url
    this.#child = child
  }

  static async start(framework: 'express' | 'fastify', otlp: string): Promise<TracedBank> {
    const program = join(import.meta.dirname, 'traced-bank.ts')
    const child = spawn(process.execPath, [program, framework, otlp], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...SOON },
    })
    const ended = once(child, 'close').then(() => {
      throw new Error(`the bank on ${framework} has ended`)
    })
    const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [
      string,
    ]
    ended.catch(() => undefined)
    return new TracedBank((JSON.parse(line) as { readonly url: string }).url, child)
  }

  /** It may be called again. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    await ended
  }
}
