import {
  type JsonValue,
  NEXT_STEPS_MAX,
  type NextEntry,
  PLAN_BYTES_MAX,
  type PlanAnswer,
  type PlanCall,
  type PlannedBranch,
  type PlanThen,
  type SagaWaitRequest,
} from '@counterstep/protocol'
import { countUtf8Bytes } from '../json-text.ts'
import type { Ask } from './ask.ts'
import { nameSlot } from './inline-rules.ts'

/** The other fields of an answer have room in this. */
const ENVELOPE_BYTES = 4 * 1024

/** Writes an ask as it is planned. A step gets this slot. */
function toNextEntry({ id, is, name, role, hasUndo, content }: Ask, slot: number): NextEntry {
  const more = role === undefined ? {} : { role }
  switch (is) {
    case 'step': {
      const input = content === undefined ? {} : { input: content }
      return { id, is, name, branch: { slot: nameSlot(slot), ...input, undo: hasUndo, ...more } }
    }
    case 'call':
      return { id, is, name, branch: { ...(content as unknown as PlannedBranch), ...more } }
    case 'timer':
    case 'signal':
      return { id, is, name, branch: content as unknown as Pick<SagaWaitRequest, 'wait'> }
    case 'run':
      throw new TypeError(`the run ${id} cannot be planned`)
  }
}

/**
 * Takes as many as one answer may have, in the order in which they were asked for. The next plan, which is asked at once,
 * takes the others: the function asks for them again. Only what is taken gets a slot, from the first free one on, so that no
 * slot is left out.
 */
export function fillNext(asks: readonly Ask[], bytesTaken: number, freeSlot: number): readonly NextEntry[] {
  const next: NextEntry[] = []
  let slot = freeSlot
  let bytes = bytesTaken + ENVELOPE_BYTES
  for (const ask of asks) {
    const entry = toNextEntry(ask, slot)
    bytes += countBytes(entry as unknown as JsonValue)
    if (next.length === NEXT_STEPS_MAX || bytes > PLAN_BYTES_MAX) break
    next.push(entry)
    if (ask.is === 'step') slot += 1
  }
  return next
}

/** Repeats what tells the orchestrator that this is the answer to its call, and not one of a proxy. */
export function writeAnswer(
  { v, gid, generation, plan }: PlanCall,
  version: number | undefined,
  { ran, next }: Pick<PlanAnswer, 'ran' | 'next'>,
  then: PlanThen,
): PlanAnswer {
  return { v, gid, ...(version === undefined ? {} : { version }), generation, plan, ran, next, then }
}

export function countBytes(value: JsonValue): number {
  return countUtf8Bytes(JSON.stringify(value))
}
