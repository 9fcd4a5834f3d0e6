/**
 * Checks the values in requests. All calls of one op have the same request (I30). A value is one that its producer answered,
 * and it was durable before the request arrived (I31). A compensation goes without a value only where the record does not
 * know it or the request cannot carry it (I32).
 */
import type { OpProgress, SagaOp, SagaTransaction } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'
import type { SentRequest } from '../branches/call-request.ts'
import { readRecord } from '../world/read-record.ts'
import type { SimStore } from '../world/sim-store.ts'
import type { World } from '../world/world.ts'
import type { AuditLog } from './audit-log.ts'
import { readShownValues, type ShownValue } from './shown-values.ts'
import {
  areShortHeaders,
  canStand,
  isPlainValue,
  isUsableUrl,
  makeReader,
  type Place,
  type PlannedRequest,
  toPlain,
} from './usable-values.ts'

interface ArrivedCall {
  readonly gid: Gid
  readonly branch: number
  readonly op: SagaOp
}

const SHOWN_LENGTH = 80

export class ValuesAudit {
  readonly #world: World
  readonly #audit: AuditLog
  readonly #store: SimStore
  /** The first request of each op of each branch that arrived. */
  readonly #first = new Map<string, string>()
  /** The values that each branch has answered with success. */
  readonly #answered = new Map<string, Set<string>>()

  constructor(world: World, audit: AuditLog, store: SimStore) {
    this.#world = world
    this.#audit = audit
    this.#store = store
  }

  noteAnswer(gid: Gid, branch: number, value: string): void {
    const key = `${gid}/${branch}`
    this.#answered.set(key, (this.#answered.get(key) ?? new Set()).add(value))
  }

  checkArrival(call: ArrivedCall, planned: PlannedRequest, request: SentRequest): void {
    const { gid, branch, op } = call
    const key = `${gid}/${branch}/${op}`
    const what = `${op} ${branch}`
    const text = `${request.url} ${JSON.stringify(request.headers)} ${request.body}`
    const first = this.#first.get(key)
    if (first !== undefined) {
      if (first !== text)
        this.#audit.report('I30', gid, `${what} got ${shorten(text)}, and before it ${shorten(first)}`)
      return
    }
    this.#first.set(key, text)
    const shown = readShownValues(planned, request)
    if (shown === undefined) {
      this.#audit.report('I22', gid, `${what} got ${shorten(text)}, which was not built from its template`)
      return
    }
    const row = this.#store.read(gid)
    const stored = row === undefined ? undefined : readRecord(row)
    if (stored?.kind !== 'saga') return
    for (const value of shown) this.#checkValue(call, planned, value, stored)
  }

  #checkValue(
    { gid, branch, op }: ArrivedCall,
    planned: PlannedRequest,
    { reference, place, text }: ShownValue,
    stored: SagaTransaction,
  ): void {
    const { from, value } = reference
    const action = stored.branches[from]?.action
    const recorded = action?.values?.[value]
    const what = `the ${place} of ${op} ${branch} got ${shorten(`${text}`)} of ${from}`
    const otherwise = findFallback(reference.else, place)
    const isWithout = text === otherwise || (place === 'header' && text === undefined)
    const mayDrop = op === 'compensate' && mayGoWithout(planned, place, recorded, stored)
    this.#count(place)
    if (isLacking(action, recorded, op)) {
      this.#world.counters.valuesMissing++
      const isRight = text === otherwise && (op === 'compensate' || reference.else !== undefined)
      if (!isRight && !(isWithout && mayDrop))
        this.#audit.report('I31', gid, `${what}, and no value was durable`)
    } else if (
      typeof recorded === 'string' &&
      canStand(recorded, place) &&
      text === toShown(recorded, place)
    ) {
      if (this.#answered.get(`${gid}/${from}`)?.has(recorded) !== true)
        this.#audit.report('I31', gid, `${what}, which it never answered`)
    } else if (op === 'action' || !isWithout)
      this.#audit.report('I31', gid, `${what}, and ${shorten(`${recorded}`)} was durable`)
    else if (mayDrop) this.#world.counters.valuesReplaced++
    else this.#audit.report('I32', gid, `${what}, which had succeeded with ${shorten(`${recorded}`)}`)
  }

  #count(place: Place): void {
    if (place === 'header') this.#world.counters.valuesInHeaders++
    else if (place !== 'body') this.#world.counters.valuesInUrls++
  }
}

/** An action is called only when all values are recorded, and null is recorded for one that its answer does not have. */
function isLacking(action: OpProgress | undefined, recorded: string | null | undefined, op: SagaOp): boolean {
  return recorded === null || (op === 'compensate' && action?.state !== 'succeeded')
}

/** Returns what stands for a value that is not there. Undefined: nothing, so that a header is left out. */
function findFallback(otherwise: string | undefined, place: Place): string | undefined {
  if (place === 'body') return otherwise ?? 'null'
  return otherwise === undefined ? undefined : toPlain(otherwise)
}

function toShown(json: string, place: Place): string | undefined {
  return place === 'body' ? json : toPlain(json)
}

/** A compensation is sent whatever its values are: without those that its URL or its headers cannot carry. */
function mayGoWithout(
  planned: PlannedRequest,
  place: Place,
  recorded: string | null | undefined,
  stored: SagaTransaction,
): boolean {
  const read = makeReader(stored)
  if (place === 'body') return false
  const isPlain = typeof recorded === 'string' && isPlainValue(recorded)
  if (place !== 'header') return !isUsableUrl(planned, read) && !isPlain
  return (typeof recorded === 'string' && !canStand(recorded, place)) || !areShortHeaders(planned, read)
}

function shorten(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${text.slice(0, SHOWN_LENGTH)}… (${text.length})`
}
