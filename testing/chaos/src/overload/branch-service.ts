import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { BranchAnswer, BranchQuestion, CallsOfGid } from './branch-question.ts'

const PROGRAM = join(import.meta.dirname, 'branch-process.ts')

/** The branch process, seen from the one that started it. Questions must not overlap. */
export class BranchService {
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string) {
    this.#child = child
    this.url = url
  }

  static async start(answerMs: number): Promise<BranchService> {
    const child = fork(PROGRAM, [String(answerMs)], { execArgv: [] })
    const ended = once(child, 'exit').then(() => {
      throw new Error('the branch process has ended')
    })
    const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
    // Its end is what `stop` asks for, from here on.
    ended.catch(() => undefined)
    return new BranchService(child, `http://127.0.0.1:${port}`)
  }

  async calls(): Promise<readonly CallsOfGid[]> {
    return (await this.#ask({ type: 'calls' })).calls
  }

  async hang(): Promise<void> {
    await this.#ask({ type: 'hang' })
  }

  async heal(): Promise<void> {
    await this.#ask({ type: 'heal' })
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }

  async #ask(question: BranchQuestion): Promise<BranchAnswer> {
    const answered = once(this.#child, 'message')
    this.#child.send(question)
    const [answer] = (await answered) as [BranchAnswer]
    return answer
  }
}
