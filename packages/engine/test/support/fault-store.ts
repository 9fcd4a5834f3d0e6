/** This is a wrapper around the store port. It counts calls, fails or delays them, and stops with its node. */
import {
  type DurabilityClass,
  type Store,
  type StoreCapabilities,
  type StoredTransaction,
  StoreUnavailableError,
  type TransactionUpdate,
} from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { StoreVerb } from '../../src/observer.ts'
import type { Gate } from './gate.ts'

export type Interceptor = <T>(apply: () => Promise<T>) => Promise<T>

export interface StoreCall {
  readonly verb: StoreVerb
  readonly at: number
  readonly request: unknown
}

interface Plan {
  readonly verb: StoreVerb | 'any'
  readonly interceptor: Interceptor
  readonly when: (request: unknown) => boolean
  left: number
}

interface PlanOptions {
  readonly times?: number
  readonly when?: (request: never) => boolean
}

export class FaultStore implements Store {
  readonly name: string
  readonly durabilityClass: DurabilityClass
  readonly failover: Store['failover']
  /** A fixture says that its nodes share it, as they would share a database. */
  capabilities: StoreCapabilities
  readonly calls: StoreCall[] = []
  /** Tells whether its node is stopped. A stopped process sends nothing and sees no answer. */
  isStopped: () => Gate | undefined = () => undefined
  #plans: Plan[] = []
  #tell: ((gid: Gid) => void) | undefined
  #inner: Store
  readonly #now: () => number

  constructor(
    inner: Store,
    now: () => number,
    durabilityClass: DurabilityClass = 'A',
    failover: Store['failover'] = inner.failover,
  ) {
    this.#inner = inner
    this.#now = now
    this.name = inner.name
    this.durabilityClass = durabilityClass
    this.failover = failover
    this.capabilities = inner.capabilities
  }

  /** Sends the next calls of this verb through the interceptor. Plans are used in the order in which they were made. */
  on(verb: StoreVerb | 'any', interceptor: Interceptor, { times = 1, when = () => true }: PlanOptions = {}) {
    const plan: Plan = { verb, interceptor, when: when as (request: unknown) => boolean, left: times }
    this.#plans.push(plan)
    return {
      remove: () => {
        this.#plans = this.#plans.filter((other) => other !== plan)
      },
    }
  }

  /** Makes every call fail until that is taken back. */
  goDown(interceptor: Interceptor = refused): () => void {
    return this.on('any', interceptor, { times: Number.POSITIVE_INFINITY }).remove
  }

  /** Goes on with another store, as after a failover. */
  failOver(to: Store): void {
    this.#inner = to
  }

  count(verb: StoreVerb): number {
    return this.calls.filter((call) => call.verb === verb).length
  }

  /** Counts the durable writes of transactions. */
  get writes(): number {
    return this.count('create') + this.count('update')
  }

  get updates(): readonly TransactionUpdate[] {
    return this.calls.flatMap(({ verb, request }) =>
      verb === 'update' ? [request as TransactionUpdate] : [],
    )
  }

  create: Store['create'] = (row) => this.#call('create', row, () => this.#inner.create(row))
  readMany: Store['readMany'] = (gids) => this.#call('read', gids, () => this.#inner.readMany(gids))
  settle: NonNullable<Store['settle']> = () =>
    this.#call('settle', undefined, async () => this.#inner.settle?.())
  update: Store['update'] = (update) => this.#call('update', update, () => this.#inner.update(update))
  renew: Store['renew'] = (leases, leaseMs) =>
    this.#call('renew', leases, () => this.#inner.renew(leases, leaseMs))
  claimDue: Store['claimDue'] = (claim) => this.#call('claim-due', claim, () => this.#inner.claimDue(claim))
  claim: Store['claim'] = (claim) => this.#call('claim', claim, () => this.#inner.claim(claim))
  postponeDue: Store['postponeDue'] = (postponement) =>
    this.#call('postpone-due', postponement, () => this.#inner.postponeDue(postponement))
  findFinal: Store['findFinal'] = (gids) => this.#call('read', gids, () => this.#inner.findFinal(gids))
  list: Store['list'] = (query) => this.#call('list', query, () => this.#inner.list(query))
  stats: Store['stats'] = () => this.#call('stats', undefined, () => this.#inner.stats())
  purgeFinished: Store['purgeFinished'] = (limit) =>
    this.#call('purge', limit, () => this.#inner.purgeFinished(limit))
  readDocuments: Store['readDocuments'] = (category) =>
    this.#call('read-documents', category, () => this.#inner.readDocuments(category))
  writeDocument: Store['writeDocument'] = (write) =>
    this.#call('write-document', write, () => this.#inner.writeDocument(write))
  removeDocument: Store['removeDocument'] = (removal) =>
    this.#call('remove-document', removal, () => this.#inner.removeDocument(removal))
  close: Store['close'] = () => this.#inner.close()
  onCommand = (listener: (gid: Gid) => void) => {
    this.#tell = listener
  }

  /** Tells this node of a command, as a store does that hears of those on other nodes. */
  tellCommand(gid: string): void {
    this.#tell?.(gid as Gid)
  }

  async #call<T>(verb: StoreVerb, request: unknown, apply: () => Promise<T>): Promise<T> {
    const stopped = this.isStopped()
    if (stopped !== undefined) await stopped.pass()
    this.calls.push({ verb, at: this.#now(), request })
    const plan = this.#plans.find(
      (one) => one.left > 0 && (one.verb === verb || one.verb === 'any') && one.when(request),
    )
    if (plan !== undefined) plan.left--
    try {
      return await (plan === undefined ? apply() : plan.interceptor(apply))
    } finally {
      await this.isStopped()?.pass()
    }
  }
}

export function isFinish({ hold }: TransactionUpdate): boolean {
  return hold.type === 'finish'
}

export function isRelease({ hold }: TransactionUpdate): boolean {
  return hold.type === 'release'
}

export function isAbort({ status }: Pick<StoredTransaction, 'status'>): boolean {
  return status === 'aborting'
}

/** The write is definitely not done. */
export const refused: Interceptor = async () => {
  throw new StoreUnavailableError('refused', { applied: 'no' })
}

/** The write is not done, though the caller cannot know. */
export const lostBefore: Interceptor = async () => {
  throw new StoreUnavailableError('lost on the way there', { applied: 'unknown' })
}

/** The write is done, though the caller cannot know. */
export const lostAfter: Interceptor = async (apply) => {
  await apply()
  throw new StoreUnavailableError('lost on the way back', { applied: 'unknown' })
}

/** Plays a driver with a bug. */
export const broken: Interceptor = async () => {
  throw new TypeError('a bug in the driver')
}

export function heldBefore(gate: Gate): Interceptor {
  return async (apply) => {
    await gate.pass()
    return apply()
  }
}

export function heldAnswer(gate: Gate): Interceptor {
  return async (apply) => {
    const answer = await apply()
    await gate.pass()
    return answer
  }
}
