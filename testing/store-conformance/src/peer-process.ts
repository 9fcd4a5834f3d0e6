import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FromPeer, ToPeer } from './race-messages.ts'

const PEER = fileURLToPath(new URL('./race-peer.ts', import.meta.url))
/** Bounds the answer to one message: an opening, or a batch of calls. A store that hangs fails here with a clear message. */
const ANSWER_MS_MAX = 20_000

/** A process with a store of its own that obeys messages. */
export class PeerProcess {
  readonly #name: string
  readonly #process: ChildProcess

  constructor(name: string) {
    this.#name = name
    // The process must not inherit the flags of the test runner.
    this.#process = fork(PEER, { execArgv: [] })
  }

  async ask<T extends FromPeer['type']>(
    message: ToPeer,
    expected: T,
  ): Promise<Extract<FromPeer, { type: T }>> {
    const settled = new AbortController()
    const late = AbortSignal.timeout(ANSWER_MS_MAX)
    const { signal } = settled
    const reply = once(this.#process, 'message', { signal })
    const exit = once(this.#process, 'exit', { signal }).then(([code]) => {
      throw new Error(`the ${this.#name} process ended with ${code} at "${message.type}"`)
    })
    const timeout = once(late, 'abort', { signal }).then(() => {
      throw new Error(`the ${this.#name} process did not answer "${message.type}" in ${ANSWER_MS_MAX} ms`)
    })
    this.#process.send(message)
    try {
      const [answer] = (await Promise.race([reply, exit, timeout])) as [FromPeer]
      assert.ok(answer.type === expected, JSON.stringify(answer))
      return answer as Extract<FromPeer, { type: T }>
    } finally {
      settled.abort()
      await Promise.allSettled([reply, exit, timeout])
    }
  }

  async close(): Promise<void> {
    await this.ask({ type: 'close' }, 'closed')
    const exited = once(this.#process, 'exit')
    this.#process.disconnect()
    await exited
  }

  /** Stops the process wherever it is, while time goes on. */
  freeze(): void {
    assert.ok(this.#process.kill('SIGSTOP'))
  }

  thaw(): void {
    assert.ok(this.#process.kill('SIGCONT'))
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}
