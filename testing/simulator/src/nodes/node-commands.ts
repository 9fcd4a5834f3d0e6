/** Handles commands and views: on the run of this node if there is one, else on the row. */
import {
  type Command,
  decodeTransaction,
  planCommand,
  type StoredTransaction,
  type Transaction,
  type TransactionUpdate,
} from '@counterstep/core'
import { type Gid, isFinalStatus } from '@counterstep/protocol'
import { takeSecondResult } from '../mutants/recorded-mutants.ts'
import { EVENT } from '../world/event-code.ts'
import { askStore } from '../world/store-link.ts'
import type { NodeHost } from './node-host.ts'
import { isStatus, type Reply } from './reply.ts'
import type { RunHost } from './run-host.ts'

const RESEND_MS = 25
const COMMAND_TRIES = 12

export class NodeCommands {
  readonly #node: NodeHost

  constructor(node: NodeHost) {
    this.#node = node
  }

  command(gid: Gid, command: Command, reply: Reply, host: RunHost | undefined): void {
    const { auditor, world } = this.#node
    const askedAt = world.now
    const answered: Reply = (answer) => {
      if (isStatus(answer)) {
        auditor.clients.checkCommandAnswer(gid, answer, askedAt)
        auditor.operators.checkAnswer(gid, command)
      }
      reply(answer)
    }
    if (host === undefined) {
      this.#commandRow(gid, command, answered, COMMAND_TRIES)
      return
    }
    world.counters.localCommands++
    host.command(command, (status) => {
      if (status === 'gone') this.#commandRow(gid, command, answered, COMMAND_TRIES)
      else {
        if (isStatus(status)) this.#checkSignal(command, host.run.durableTransaction)
        this.#node.reply(gid, status, answered)
      }
    })
  }

  view(gid: Gid, reply: Reply, host: RunHost | undefined): void {
    if (host?.mayTell === true) this.#node.reply(gid, host.run.durableTransaction.status, reply)
    else this.#read(gid, (row) => this.#node.reply(gid, row?.status ?? 'absent', reply))
  }

  #read(gid: Gid, answered: (row: StoredTransaction | undefined) => void): void {
    const { store, world } = this.#node
    askStore(world, this.#node, {
      about: gid,
      apply: () => store.read(gid),
      answered,
      unavailable: () => world.after(RESEND_MS, EVENT.resend, () => this.#read(gid, answered), this.#node),
    })
  }

  #commandRow(gid: Gid, command: Command, reply: Reply, tries: number): void {
    if (tries === 0) return
    const { world } = this.#node
    this.#read(gid, (row) => {
      if (row === undefined) {
        reply('absent')
        return
      }
      const settings = { retentionMs: 'never', storeNow: this.#node.storeNow(row) } as const
      const second = takeSecondResult(row, command, world.wiring.flaw)
      if (second !== undefined) {
        const write = { ...second, writeId: `w${world.nextId()}` }
        this.#write(write, reply, () => this.#commandRow(gid, command, reply, tries - 1))
        return
      }
      const plan = planCommand(world.wiring.rules, row, command, settings)
      if (plan.type !== 'update') {
        if (plan.type === 'refused') world.counters.commandsTooLate++
        else this.#checkSignal(command, plan.transaction)
        this.#node.reply(gid, plan.type === 'refused' ? 'refused' : plan.transaction.status, reply)
        return
      }
      const update = { ...plan.update, writeId: `w${world.nextId()}` }
      const saved: Reply = (answer) => {
        this.#checkSignal(command, decodeTransaction({ ...row, ...update }))
        reply(answer)
      }
      this.#write(update, saved, () => this.#commandRow(gid, command, reply, tries - 1))
    })
  }

  /** Checks what the sender of a signal is told. A signal that the saga has forgotten was taken long ago. */
  #checkSignal(command: Command, transaction: Transaction): void {
    if (command.type !== 'signal-asked' || transaction.kind !== 'saga') return
    const { id } = command.signal
    const signal = transaction.signals?.find((each) => each.id === id)
    const isKept = signal !== undefined && signal.takenBy === undefined
    this.#node.auditor.stages.checkAnswer(transaction.gid, id, isKept ? 'kept' : 'taken')
  }

  #write(update: TransactionUpdate, reply: Reply, again: () => void): void {
    const { auditor, store, world } = this.#node
    askStore(world, this.#node, {
      about: update.gid,
      apply: () => {
        const result = store.update(update)
        if (result.type === 'saved' && isFinalStatus(update.status))
          auditor.log(update.gid).isEndedByCommand = true
        return result
      },
      answered: (result) => {
        if (result.type === 'saved') {
          world.counters.remoteCommands++
          this.#node.reply(update.gid, update.status, reply)
        } else again()
      },
      unavailable: () =>
        world.after(RESEND_MS, EVENT.resend, () => this.#write(update, reply, again), this.#node),
    })
  }
}
