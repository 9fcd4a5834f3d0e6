import {
  BULK_GIDS_MAX,
  BULK_RATE_PER_SECOND_MAX,
  findJsonFault,
  KINDS,
  STATUSES,
} from '@counterstep/protocol'
import { isInstantText, isOpText, isWholeNumber } from './option-texts.ts'

/** One option: what stands behind it in the usage, and what a text must be. A switch has neither. */
export interface OptionShape {
  readonly value?: string
  readonly help: string
  readonly isMultiple?: true
  readonly isValid?: (text: string) => boolean
  /** It completes the sentence that begins with the option's name. */
  readonly rule?: string
}

const JSON_RULE = 'must be JSON'
const INSTANT_RULE =
  'must be an instant such as 2026-11-24T02:48Z, milliseconds from the epoch, or a span such as 90s, 15min, 24h or 7d'
const isStatuses = (text: string) =>
  text.split(',').every((each) => STATUSES.some((status) => status === each))
const isKind = (text: string) => KINDS.some((kind) => kind === text)

/** The options of all commands of operators. */
export const OPERATOR_OPTIONS = {
  url: { value: 'URL', help: 'the server (COUNTERSTEP_URL, http://127.0.0.1:8470)' },
  'key-file': {
    value: 'FILE',
    help: 'the file of the API key (COUNTERSTEP_API_KEY_FILE; COUNTERSTEP_API_KEY is the key itself)',
  },
  output: { value: 'FORMAT', help: 'table, json, jsonl or gids' },
  help: { help: 'print the usage' },
  status: {
    value: 'STATUS,…',
    help: `some of ${STATUSES.join(', ')}`,
    isValid: isStatuses,
    rule: `must be some of ${STATUSES.join(',')}`,
  },
  kind: {
    value: 'KIND',
    help: KINDS.join(', '),
    isValid: isKind,
    rule: `must be one of ${KINDS.join(', ')}`,
  },
  name: { value: 'NAME', help: 'the name that the transactions were submitted with' },
  tag: {
    value: 'KEY:VALUE',
    help: 'a tag of theirs; given twice: both',
    isMultiple: true,
    isValid: (text: string) => text.indexOf(':') > 0,
    rule: 'must be KEY:VALUE',
  },
  problem: { value: 'TEXT', help: "the whole text of the problem, 'bank-a compensate 500'" },
  gid: { value: 'GID', help: 'a gid, or the beginning of one and *' },
  attention: { help: 'only those at which a person should look' },
  retrying: { help: 'only those of which a call waits to be made again' },
  paused: { help: 'only those that are paused' },
  'by-hand': { help: 'only those of which a call was declared done' },
  edited: { help: 'only those of which a request was changed' },
  from: { value: 'INSTANT', help: 'accepted at it or later', isValid: isInstantText, rule: INSTANT_RULE },
  to: { value: 'INSTANT', help: 'accepted before it', isValid: isInstantText, rule: INSTANT_RULE },
  order: {
    value: 'ORDER',
    help: 'created (the newest first), due (the next due first) or -due',
    isValid: (text: string) => ['created', 'due', '-due'].includes(text),
    rule: 'must be created, due or -due',
  },
  limit: {
    value: 'N',
    help: 'at most so many (50)',
    isValid: (text: string) => isWholeNumber(text, 1, 100_000),
    rule: 'must be a whole number from 1 to 100,000',
  },
  op: {
    value: 'BRANCH.OP',
    help: 'one call of the transaction, such as debit.compensate',
    isValid: isOpText,
    rule: 'must be a branch and an op, such as debit.compensate',
  },
  reason: { value: 'TEXT', help: 'why; it is kept in the trail' },
  yes: { help: 'give the command without a look at its plan' },
  'command-id': {
    value: 'ID',
    help: 'the same id again is the same command (a new one)',
    isValid: (text: string) => /^[A-Za-z0-9._:-]{1,64}$/.test(text),
    rule: 'must be 1 to 64 characters of A-Z a-z 0-9 . _ : -',
  },
  until: { value: 'INSTANT', help: 'the pause ends then', isValid: isInstantText, rule: INSTANT_RULE },
  'done-by': {
    value: 'WHO',
    help: 'service: it has done it, its undo will be called; hand: a person has, and must undo it',
    isValid: (text: string) => text === 'service' || text === 'hand',
    rule: 'must be service or hand',
  },
  answer: {
    value: 'JSON',
    help: 'what the skipped action answered',
    isValid: (text: string) => isJson(text) && findJsonFault(text) === undefined,
    rule: 'must be JSON whose numbers a double can hold: give longer ones as texts',
  },
  confirm: {
    value: 'WORDS',
    help: 'no-call-took-effect: you have looked, and no attempt of the call has had an effect',
    isValid: (text: string) => text === 'no-call-took-effect',
    rule: 'must be no-call-took-effect',
  },
  'new-url': { value: 'URL', help: 'where the call goes from now on' },
  payload: { value: 'JSON', help: 'what it sends', isValid: isJson, rule: JSON_RULE },
  body: { value: 'TEXT', help: 'the same as text, for what is not JSON' },
  'content-type': { value: 'TYPE', help: 'of --body' },
  header: {
    value: 'NAME:VALUE',
    help: 'together they replace all headers of the call',
    isMultiple: true,
    isValid: (text: string) => text.indexOf(':') > 0,
    rule: 'must be NAME:VALUE',
  },
  'timeout-ms': {
    value: 'MS',
    help: 'its time-out',
    isValid: (text: string) => isWholeNumber(text, 1, 900_000),
    rule: 'must be a whole number of milliseconds up to 900,000',
  },
  retry: {
    value: 'JSON',
    help: 'its retry, such as {"limit":3}',
    isValid: isJsonObject,
    rule: 'must be a JSON object',
  },
  gids: { value: 'FILE', help: 'the gids, one a line, at most 1,000; - is the standard input' },
  rate: {
    value: 'N',
    help: 'so many a second (20)',
    isValid: (text: string) => isWholeNumber(text, 1, BULK_RATE_PER_SECOND_MAX),
    rule: `must be a whole number from 1 to ${BULK_RATE_PER_SECOND_MAX}`,
  },
  canary: {
    value: 'N',
    help: 'the first so many get it alone, and the others once these have got on (10)',
    isValid: (text: string) => isWholeNumber(text, 0, BULK_GIDS_MAX),
    rule: 'must be a whole number from 0 to 10,000',
  },
  max: {
    value: 'N',
    help: 'at most so many (10,000)',
    isValid: (text: string) => isWholeNumber(text, 1, BULK_GIDS_MAX),
    rule: 'must be a whole number from 1 to 10,000',
  },
} as const satisfies Readonly<Record<string, OptionShape>>

export type OptionName = keyof typeof OPERATOR_OPTIONS

export function findOption(name: string): OptionShape | undefined {
  return Object.hasOwn(OPERATOR_OPTIONS, name) ? OPERATOR_OPTIONS[name as OptionName] : undefined
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function isJsonObject(text: string): boolean {
  return isJson(text) && text.trimStart().startsWith('{')
}
