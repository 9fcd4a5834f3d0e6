import { setTimeout as delay } from 'node:timers/promises'
import type { ServerAsker } from '../clients/ask-server.ts'
import type { ClientAnswer, CommandNote } from '../evidence.ts'
import type { SeededRandom } from '../seeded-random.ts'
import type { PlannedCommand } from './plan-commands.ts'

const TRY_AGAIN_MS_MIN = 50
const TRY_AGAIN_MS_MAX = 300
/** The command is not refused for good: it was given too early, or met a call or another writer. */
const TRY_AGAIN: ReadonlySet<string> = new Set(['SAGA_OP_NOT_DUE', 'SAGA_OP_BUSY', 'SAGA_CONTENDED'])
const TOO_MANY_REQUESTS = 429

export interface OperatorDeps {
  readonly asker: ServerAsker
  /** The URLs of every server, through its proxy. */
  readonly urls: readonly string[]
  readonly random: SeededRandom
  readonly note: (note: CommandNote) => void
  /** Tells that there is no more time: the audit judges what has no answer by now. */
  readonly isOver: () => boolean
}

/** An operator as one should be: in doubt the same command goes to whichever server, under the same id. */
export class Operator {
  readonly #deps: OperatorDeps

  constructor(deps: OperatorDeps) {
    this.#deps = deps
  }

  /** Gives the commands one after the other. */
  async giveAll(gid: string, commands: readonly PlannedCommand[]): Promise<void> {
    for (const command of commands) {
      if (command.afterMs !== undefined) await delay(command.afterMs)
      if (!(await this.#give(gid, command))) return
    }
  }

  /** Returns false if there was no more time. */
  async #give(gid: string, planned: PlannedCommand): Promise<boolean> {
    const { isOver, note } = this.#deps
    const { command, op, body } = planned
    const askedAt = Date.now()
    let lost = 0
    while (!isOver()) {
      const answer = await this.#ask(gid, planned)
      if (answer.type === 'none') lost += 1
      const outcome = readOutcome(answer)
      if (outcome !== undefined) {
        const stamps = { askedAt, answeredAt: Date.now() }
        const again = planned.isRepeated ? await this.#ask(gid, planned) : undefined
        note({
          gid,
          id: body.commandId,
          command,
          ...(op && { op }),
          outcome,
          lost,
          ...(outcome === 'durable' && again?.type === 'view' && { isRepeated: true }),
          ...stamps,
          ...readLate(planned),
        })
        return true
      }
      await this.pause()
    }
    return false
  }

  #ask(gid: string, { path, body }: PlannedCommand): Promise<ClientAnswer> {
    const { asker, random, urls } = this.#deps
    return asker.ask({ method: 'POST', url: `${random.pick(urls)}/v1/transactions/${gid}${path}`, body })
  }

  pause(): Promise<void> {
    return delay(this.#deps.random.between(TRY_AGAIN_MS_MIN, TRY_AGAIN_MS_MAX))
  }
}

function readLate({ mayComeTooLate }: PlannedCommand): { readonly mayComeTooLate?: true } {
  return mayComeTooLate === undefined ? {} : { mayComeTooLate }
}

/** `durable`, or the code of a refusal. Undefined: the command is sent again. */
function readOutcome(answer: ClientAnswer): string | undefined {
  if (answer.type === 'view') return 'durable'
  if (answer.type !== 'problem' || answer.statusCode >= 500) return undefined
  const isEarly = answer.statusCode === TOO_MANY_REQUESTS || TRY_AGAIN.has(answer.code)
  return isEarly ? undefined : answer.code
}
