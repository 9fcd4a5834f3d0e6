import { findStatusGlyph } from '@counterstep/explain'
import type { Actor, TransactionSummary } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'

export function describeStatus(status: string): string {
  return `${findStatusGlyph(status)} ${cleanLine(status)}`
}

type Marks = Pick<Partial<TransactionSummary>, 'retrying' | 'paused' | 'byHand' | 'edited'> & {
  readonly attention?: boolean
}

export function describeMarks({ attention, retrying, paused, byHand, edited }: Marks): string {
  const marks = [
    ...(attention === true ? ['⚠ needs a person'] : []),
    ...(retrying === true ? ['↻ retrying'] : []),
    ...(paused === true ? ['‖ paused'] : []),
    ...(byHand === true ? ['✋ by hand'] : []),
    ...(edited === true ? ['✎ edited'] : []),
  ]
  return marks.join(' ')
}

export function describeTags(tags: Readonly<Record<string, string>> = {}): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}:${value}`)
    .join(' ')
}

export function describeActor({ person, key, via }: Actor): string {
  const name = key === undefined ? undefined : `key ${key.name}`
  if (person === undefined) return name ?? `without a key (${via})`
  return name === undefined ? person : `${person} (${name})`
}
