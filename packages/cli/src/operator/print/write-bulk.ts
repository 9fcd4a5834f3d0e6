import type { BulkCountsView, BulkListView, BulkPreview, BulkView } from '@counterstep/protocol'
import { cleanLine } from './clean-text.ts'
import { formatBoth, formatDistance } from './instants.ts'
import { describeActor } from './status-words.ts'
import { writeTable } from './write-table.ts'

type Group = BulkPreview['groups'][number]

export function writeBulkPreview(
  { count, isExact, oldestAt, groups, samples }: BulkPreview,
  now: number,
): readonly string[] {
  const columns = [
    { title: 'COUNT', read: (group: Group) => group.count, isRight: true },
    { title: 'NAME', read: ({ name }: Group) => name },
    { title: 'PROBLEM', read: ({ problem }: Group) => problem, lengthMax: 64 },
  ] as const
  const oldest = oldestAt === undefined ? '' : `, the oldest accepted ${formatBoth(oldestAt, now)}`
  return [
    `It would act on ${isExact ? '' : 'at least '}${count} transaction(s)${oldest}.`,
    ...(groups.length === 0 ? [] : writeTable(columns, groups)),
    ...(samples.length === 0 ? [] : [`Some of them: ${cleanLine(samples.join(' '))}`]),
  ]
}

export function writeBulkList({ items }: BulkListView, now: number): readonly string[] {
  if (items.length === 0) return ['There are no bulk jobs.']
  const columns = [
    { title: 'ID', read: ({ id }: BulkView) => id },
    { title: 'COMMAND', read: ({ command }: BulkView) => command },
    { title: 'STATE', read: describeState },
    { title: 'STARTED', read: ({ createdAt }: BulkView) => formatDistance(createdAt, now), isRight: true },
    { title: 'BY', read: ({ by }: BulkView) => describeActor(by) },
    { title: 'REASON', read: ({ reason }: BulkView) => reason, lengthMax: 64 },
  ] as const
  return writeTable(columns, items)
}

export function writeBulk(view: BulkView, now: number): readonly string[] {
  const { id, command, by, reason, createdAt, stateSince, filter, ratePerSecond, canary, counts } = view
  return [
    `bulk job ${cleanLine(id)}: ${cleanLine(command)}  ${describeState(view)} since ${formatBoth(stateSince, now)}`,
    `started   ${formatBoth(createdAt, now)} by ${cleanLine(describeActor(by))}: ${cleanLine(reason)}`,
    `pace      ${ratePerSecond} a second, after the first ${canary}`,
    ...(filter === undefined ? [] : [`filter    ${cleanLine(filter)}`]),
    ...(counts === undefined ? [] : writeCounts(counts)),
  ]
}

const PAUSED_BY: Readonly<Record<NonNullable<BulkView['pausedBy']>, string>> = {
  canary: 'too few of the first got on',
  refusals: 'too many were refused',
  person: 'by a person',
}

function describeState({ state, pausedBy }: BulkView): string {
  return pausedBy === undefined ? state : `${state} (${PAUSED_BY[pausedBy] ?? pausedBy})`
}

function writeCounts(counts: BulkCountsView): readonly string[] {
  const { total, waiting, given, gotOn, failedAgain, notAnswered, refused, gone, refusedBy, refusals } =
    counts
  const codes = Object.entries(refusedBy).map(([code, count]) => `${code} ${count}`)
  return [
    `total     ${total} = ${waiting} waiting + ${given} given + ${refused} refused + ${gone} gone`,
    `given     ${given} = ${gotOn} got on + ${failedAgain} failed again + ${notAnswered} not answered yet`,
    ...(codes.length === 0 ? [] : [`refused   ${cleanLine(codes.join(', '))}`]),
    ...refusals.map(({ gid, code }) => `          ${cleanLine(`${gid} ${code}`)}`),
  ]
}
