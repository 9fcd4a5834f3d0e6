import { type Kind, type Status, toExactPayload } from '@counterstep/protocol'
import type { EditOptions, ListFilter } from '@counterstep/sdk/operator'
import type { OperatorLine } from '../line/operator-line.ts'
import type { OptionName } from '../line/operator-options.ts'
import { readPair, toInstant } from '../line/option-texts.ts'

export function readValue({ values }: OperatorLine, name: OptionName): string | undefined {
  return values.get(name)?.[0]
}

/** Reads a value that was checked to be JSON. */
export function readJson(line: OperatorLine, name: OptionName): unknown {
  const text = readValue(line, name)
  return text === undefined ? undefined : JSON.parse(text)
}

/** Reads the content that a call is to send. */
export function readContent(
  line: OperatorLine,
): Partial<Pick<EditOptions, 'payload' | 'body' | 'contentType'>> {
  const text = readValue(line, 'payload')
  if (text === undefined)
    return dropUndefined({ body: readValue(line, 'body'), contentType: readValue(line, 'content-type') })
  const payload = toExactPayload(text) as EditOptions['payload']
  return payload === undefined ? { body: text, contentType: 'application/json' } : { payload }
}

/** Reads the pairs of an option that may be given several times, such as `region:eu`. */
export function readPairs({ values }: OperatorLine, name: OptionName): Readonly<Record<string, string>> {
  const pairs = values.get(name) ?? []
  return Object.fromEntries(pairs.map(readPair))
}

export function readFilter(line: OperatorLine, now: number): ListFilter {
  const text = (name: OptionName) => readValue(line, name)
  const is = (name: OptionName) => line.switches.has(name) || undefined
  const from = text('from')
  const to = text('to')
  const tags = readPairs(line, 'tag')
  const filter = {
    // The line was checked, so each of these is what its type says.
    status: text('status')?.split(',') as readonly Status[] | undefined,
    kind: text('kind') as Kind | undefined,
    name: text('name'),
    tags: Object.keys(tags).length === 0 ? undefined : tags,
    problem: text('problem'),
    gid: text('gid'),
    attention: is('attention'),
    retrying: is('retrying'),
    paused: is('paused'),
    byHand: is('by-hand'),
    edited: is('edited'),
    createdFrom: from === undefined ? undefined : toInstant(from, now, -1),
    createdTo: to === undefined ? undefined : toInstant(to, now, -1),
    order: text('order') as ListFilter['order'],
  }
  return dropUndefined(filter)
}

type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

export function dropUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  // The type is right, since the entries that are left are exactly the defined ones.
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Defined<Fields>
}
