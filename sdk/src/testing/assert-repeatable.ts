import type { NextEntry, PlanAnswer, RanEntry } from '@counterstep/protocol'
import { WorkflowRefusedError } from '../workflow/workflow-refused-error.ts'

/** Checks that the same plan was answered in the same way twice. Throws a WorkflowRefusedError that names the place. */
export function assertRepeatable(first: PlanAnswer, second: PlanAnswer): void {
  const firstEntries = listEntries(first)
  const secondEntries = listEntries(second)
  for (let position = 0; position < Math.max(firstEntries.length, secondEntries.length); position++) {
    const one = firstEntries[position]
    const other = secondEntries[position]
    if (writeEntry(one) === writeEntry(other)) continue
    // The value of a ctx.run is recorded once, so it may differ, and so may all that follows from it.
    if (isRun(one) && isRun(other) && one.id === other.id) return
    throw differ(first.plan, describe(one), describe(other))
  }
}

type Entry = RanEntry | NextEntry | PlanAnswer['then']

function listEntries({ ran, next, then }: PlanAnswer): readonly Entry[] {
  return [...ran, ...next, then]
}

function isRun(entry: Entry | undefined): entry is RanEntry {
  return typeof entry === 'object' && 'is' in entry && entry.is === 'run'
}

function writeEntry(entry: Entry | undefined): string | undefined {
  return JSON.stringify(entry)
}

function describe(entry: Entry | undefined): string {
  const head = typeof entry === 'object' && 'is' in entry ? `${entry.is} ${entry.id} ` : ''
  return entry === undefined ? 'nothing' : `${head}${JSON.stringify(entry)}`
}

function differ(plan: number, first: string, second: string): WorkflowRefusedError {
  return new WorkflowRefusedError(
    'WORKFLOW_NOT_REPEATABLE',
    `plan ${plan} came out in two ways, so the function uses time or chance that is not of ctx: take ctx.now(), ctx.random() or ctx.uuid(), or put it into ctx.run. First: ${first}. Then: ${second}`,
  )
}
