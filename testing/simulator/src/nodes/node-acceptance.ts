/** Handles a node's submits. Each gid has at most one create in flight, which is sent again until it is definite. */
import { acceptedRun, type Grant, newTransaction, newTransactionRow } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { Plan } from '../clients/plan.ts'
import { EVENT } from '../world/event-code.ts'
import { askStore } from '../world/store-link.ts'
import type { NodeHost } from './node-host.ts'
import type { Answer, Reply } from './reply.ts'
import type { RunHost } from './run-host.ts'

/** A create in flight, and the callers that wait for it. */
interface Creating {
  readonly digest: string
  readonly replies: Reply[]
  readonly after: (() => void)[]
}

export interface Submit {
  readonly plan: Plan
  readonly digest: string
  /** Whether the client is answered once more at the end. */
  readonly waits: boolean
  readonly reply: Reply
}

const RESEND_MS = 25

export class NodeAcceptance {
  readonly #node: NodeHost
  readonly #host: (plan: Plan, run: RunHost['run']) => RunHost
  readonly #creating = new Map<Gid, Creating>()

  constructor(node: NodeHost, host: (plan: Plan, run: RunHost['run']) => RunHost) {
    this.#node = node
    this.#host = host
  }

  clear(): void {
    this.#creating.clear()
  }

  submit(asked: Submit, host: RunHost | undefined): void {
    const { plan, digest, waits, reply } = asked
    const { flaw } = this.#node.world.wiring
    if (host?.mayTell === true) {
      if (digest !== plan.digest && flaw !== 'other-content-taken') reply('conflict')
      else {
        this.#node.reply(plan.gid, host.run.durableTransaction.status, reply)
        if (waits) this.#waitForEnd(host, reply)
      }
      return
    }
    const creating = this.#creating.get(plan.gid)
    if (creating === undefined) this.#create(asked)
    else if (creating.digest === digest) creating.replies.push(reply)
    // This submit waits until the other create is definite, which shows whose content is stored.
    else creating.after.push(() => this.submit(asked, undefined))
  }

  #create({ plan, digest, waits, reply }: Submit): void {
    const node = this.#node
    const { flaw } = node.world.wiring
    const ids = {
      gid: plan.gid,
      digest,
      token: `t${node.world.nextId()}`,
      writeId: `w${node.world.nextId()}`,
    }
    const row = newTransactionRow(plan.submission, ids, node.settings)
    const sentAt = node.now()
    const creating: Creating = { digest, replies: [reply], after: [] }
    this.#creating.set(plan.gid, creating)
    const answerAll = (answer: Answer) => {
      this.#creating.delete(plan.gid)
      for (const each of creating.replies) node.reply(plan.gid, answer, each)
      for (const next of creating.after) next()
    }
    const accept = (createdAt: number, storeNow: number) => {
      if (row.hold.type === 'waiting') return
      node.world.noteReading(storeNow)
      const grant: Grant = { sentAt, now: node.now(), storeNow }
      const transaction = newTransaction(plan.submission, ids, createdAt)
      const host = this.#host(plan, acceptedRun(transaction, ids.token, node.settings, grant))
      if (waits) this.#waitForEnd(host, reply)
    }
    if (flaw === 'act-before-accept') accept(node.world.storeNow, node.world.storeNow)
    if (flaw === 'ack-before-durable') node.reply(plan.gid, row.status, reply)
    let mayBeStored = false
    const send = () =>
      askStore(node.world, node, {
        about: plan.gid,
        apply: () => node.store.create(row),
        answered: (result) => {
          if (result.type === 'created') {
            answerAll(row.status)
            if (flaw !== 'act-before-accept') accept(result.createdAt, result.now)
            return
          }
          const isSame = result.digest === digest || flaw === 'other-content-taken'
          answerAll(isSame ? result.status : 'conflict')
          if (flaw === 'submit-restarts' && isSame) accept(result.now, result.now)
        },
        unavailable: (applied) => {
          if (applied === 'unknown' && flaw !== 'refused-though-stored') mayBeStored = true
          if (mayBeStored) node.world.after(RESEND_MS, EVENT.resend, send, node)
          else answerAll('not-accepted')
        },
      })
    send()
  }

  #waitForEnd(host: RunHost, reply: Reply): void {
    host.waitForEnd((status) => {
      if (status !== 'gone' && status !== 'refused') this.#node.reply(host.plan.gid, status, reply)
    })
  }
}
