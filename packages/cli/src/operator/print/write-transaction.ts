import { describeWorkflow, explainTransaction, findTroubledOp } from '@counterstep/explain'
import type { TrailEntry, TransactionView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { formatBoth, formatInstant } from './instants.ts'
import { describeActor, describeMarks, describeStatus, describeTags } from './status-words.ts'
import { writeTable } from './write-table.ts'
import { writeWaterfall } from './write-waterfall.ts'

/** Writes what the console shows of a transaction: its head, why it is where it is, what it called, its trail. */
export function writeTransaction(view: TransactionView, now: number, width: number): readonly string[] {
  return [
    writeHead(view),
    ...writeInstants(view, now),
    ...(view.traceId === undefined ? [] : [`trace     ${cleanLine(view.traceId)}`]),
    ...(view.workflow === undefined ? [] : [`code      ${cleanLine(describeWorkflow(view.workflow))}`]),
    '',
    ...writeWhy(view, now),
    '',
    ...writeWaterfall(view, now, width),
    ...(view.trail === undefined || view.trail.length === 0 ? [] : ['', ...writeTrail(view.trail, now)]),
  ]
}

/** Writes one line for a change that `watch` has seen. */
export function writeChange(view: TransactionView, now: number): string {
  const { headline } = explainTransaction(view, { now, formatTime: formatInstant })
  return `${formatInstant(now)}  ${describeStatus(view.status)}${withMarks(view)}  ${cleanLine(headline)}`
}

function writeHead(view: TransactionView): string {
  const { gid, kind, name, tags } = view
  const words = [gid, kind, ...(name === undefined ? [] : [name])].map(cleanLine)
  const told = cleanLine(describeTags(tags))
  return `${words.join('  ')}  ${describeStatus(view.status)}${withMarks(view)}${told === '' ? '' : `  ${told}`}`
}

function withMarks(view: TransactionView): string {
  const ops = view.branches.flatMap(({ ops }) => ops)
  const marks = describeMarks({
    attention: view.attention !== undefined,
    ...(view.paused === undefined ? {} : { paused: true }),
    ...(ops.some(({ byHand }) => byHand !== undefined) ? { byHand: true } : {}),
    ...(ops.some(({ edited }) => edited === true) ? { edited: true } : {}),
  })
  return marks === '' ? '' : `  ${marks}`
}

function writeInstants(view: TransactionView, now: number): readonly string[] {
  const { createdAt, startAt, deadlineAt, finishedAt, updatedAt, paused, noReturnAt } = view
  const instants: readonly (readonly [string, number | undefined])[] = [
    ['accepted', createdAt],
    ['starts', startAt === undefined || startAt <= now ? undefined : startAt],
    ['deadline', finishedAt === undefined ? deadlineAt : undefined],
    ['no return', finishedAt === undefined ? noReturnAt : undefined],
    ['paused', paused?.at],
    ['changed', finishedAt === undefined ? updatedAt : undefined],
    ['ended', finishedAt],
  ]
  return instants.flatMap(([label, at]) =>
    at === undefined ? [] : [`${label.padEnd(9)} ${formatBoth(at, now)}`],
  )
}

export function writeWhy(view: TransactionView, now: number): readonly string[] {
  const { headline, cause, next, advice } = explainTransaction(view, { now, formatTime: formatInstant })
  const sentences = [headline, ...(cause === undefined ? [] : [cause]), ...(next === undefined ? [] : [next])]
  const url = view.finishedAt === undefined ? findTroubledOp(view)?.op.url : undefined
  return [
    ...sentences.map((sentence, at) => `${at === 0 ? 'WHY' : '   '}  ${cleanLine(sentence)}`),
    ...(url === undefined ? [] : [`URL  ${cleanLine(url)}`]),
    ...(advice === undefined ? [] : [`DO   ${cleanLine(advice)}`]),
  ]
}

function writeTrail(trail: readonly TrailEntry[], now: number): readonly string[] {
  const columns = [
    { title: 'TRAIL', read: ({ at }: TrailEntry) => formatBoth(at, now) },
    {
      title: 'BY',
      read: ({ by, bulk }: TrailEntry) =>
        `${describeActor(by)}${bulk === undefined ? '' : ` (bulk ${bulk})`}`,
    },
    { title: 'COMMAND', read: describeCommand },
    { title: 'CHANGED', read: describeEdit, lengthMax: 80 },
    { title: 'REASON', read: ({ reason }: TrailEntry) => reason, lengthMax: 80 },
  ]
  return writeTable(columns, trail)
}

function describeCommand({ command, op, count }: TrailEntry): string {
  const called = op === undefined ? '' : ` ${op.branchId}.${op.op}`
  return `${command}${called}${count === undefined || count < 2 ? '' : ` ×${count}`}`
}

function describeEdit({ before, after }: TrailEntry): string | undefined {
  return before === undefined && after === undefined ? undefined : `${before ?? '–'} → ${after ?? '–'}`
}
