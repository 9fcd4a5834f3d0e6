import type { BulkView } from '@counterstep/protocol'

const STATES: Readonly<Record<BulkView['state'], string>> = {
  canary: 'The first few get the command.',
  watching: 'The first few have it. The others wait until these have got on.',
  running: 'All others get the command.',
  'reading-back': 'All have the command. The last answers are waited for.',
  paused: 'It is paused.',
  done: 'It is done.',
  cancelled: 'It was cancelled. What has the command keeps it.',
}

const PAUSED: Readonly<Record<NonNullable<BulkView['pausedBy']>, string>> = {
  canary:
    'It has paused, because too few of the first have got on. Look at one of them before you resume it.',
  refusals:
    'It has paused, because too many of the last were refused. Look at their codes before you resume it.',
  person: 'A person has paused it.',
}

/** Says which transactions a job has chosen, in the words of the list's filters and without the escapes of an address. */
export function describeFilter(fields: Readonly<Record<string, string | readonly string[]>>): string {
  return Object.entries(fields)
    .flatMap(([name, values]) => [values].flat().map((value) => `${name} = ${value}`))
    .join(', ')
}

/** Says in a sentence where a job stands. */
export function describeJob({
  state,
  pausedBy,
  counts,
}: Pick<BulkView, 'state' | 'pausedBy' | 'counts'>): string {
  if (state === 'paused' && pausedBy !== undefined) return PAUSED[pausedBy]
  // The first few may be all.
  if (state === 'watching' && counts?.waiting === 0) return STATES['reading-back']
  return STATES[state]
}
