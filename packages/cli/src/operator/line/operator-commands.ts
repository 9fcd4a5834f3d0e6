import type { OptionName } from './operator-options.ts'

export const OUTPUTS = ['table', 'json', 'jsonl', 'gids'] as const
export type Output = (typeof OUTPUTS)[number]

export interface CommandShape {
  /** These texts follow the words of the command, in this order. */
  readonly places: readonly string[]
  readonly options: readonly OptionName[]
  readonly needs?: readonly OptionName[]
  readonly outputs: readonly Output[]
  readonly help: string
}

const FILTERS = [
  ...(['status', 'kind', 'name', 'tag', 'problem', 'gid', 'from', 'to'] as const),
  ...(['attention', 'retrying', 'paused', 'by-hand', 'edited'] as const),
] as const
const GIVEN = ['reason', 'yes', 'command-id'] as const
const EDITS = ['new-url', 'payload', 'body', 'content-type', 'header', 'timeout-ms', 'retry'] as const
const ONE = ['table', 'json'] as const
const ROWS = ['table', 'json', 'jsonl'] as const

/** The commands of operators, by their words. */
export const OPERATOR_COMMANDS = {
  'tx list': {
    places: [],
    options: [...FILTERS, 'order', 'limit'],
    outputs: OUTPUTS,
    help: 'lists transactions',
  },
  'tx show': {
    places: ['GID'],
    options: [],
    outputs: ONE,
    help: 'shows one: why it waits, what it has called and when, and who commanded what',
  },
  'tx watch': { places: ['GID'], options: [], outputs: ROWS, help: 'follows it until it is final' },
  'tx request': { places: ['GID'], options: [], outputs: ONE, help: 'shows what its branches are sent' },
  'tx preview': {
    places: ['GID', 'COMMAND'],
    options: ['op', 'done-by', 'until'],
    outputs: ONE,
    help: 'says what would follow from a command, and changes nothing',
  },
  'tx retry': {
    places: ['GID'],
    options: ['op', ...GIVEN],
    outputs: ONE,
    help: 'makes what waits, or one call of it, due now',
  },
  'tx pause': {
    places: ['GID'],
    options: ['until', ...GIVEN],
    needs: ['reason'],
    outputs: ONE,
    help: 'starts no further call of it',
  },
  'tx resume': { places: ['GID'], options: GIVEN, outputs: ONE, help: 'ends a pause' },
  'tx abort': {
    places: ['GID'],
    options: GIVEN,
    needs: ['reason'],
    outputs: ONE,
    help: 'undoes it: compensates what may have run, cancels what is prepared',
  },
  'tx skip': {
    places: ['GID', 'BRANCH.OP'],
    options: ['done-by', 'answer', 'confirm', ...GIVEN],
    needs: ['done-by', 'reason'],
    outputs: ONE,
    help: 'declares a call done, so that the transaction goes on without it',
  },
  'tx edit': {
    places: ['GID', 'BRANCH.OP'],
    options: [...EDITS, 'confirm', ...GIVEN],
    needs: ['reason'],
    outputs: ONE,
    help: 'changes what a call that has not succeeded sends, or where',
  },
  'tx stop': {
    places: ['GID'],
    options: GIVEN,
    needs: ['reason'],
    outputs: ONE,
    help: 'ends it as it is, and undoes nothing',
  },
  problems: { places: [], options: [], outputs: ROWS, help: 'counts what waits, by what it waits for' },
  services: { places: [], options: [], outputs: ROWS, help: 'shows how each service answers' },
  overview: {
    places: [],
    options: [],
    outputs: ONE,
    help: 'shows what needs a person, the backlog and the nodes',
  },
  names: { places: [], options: [], outputs: ROWS, help: 'shows how the transactions of each name went' },
  panels: { places: [], options: [], outputs: ROWS, help: 'lists the tables of what the server has besides' },
  panel: { places: ['ID'], options: [], outputs: ROWS, help: 'shows one of these tables' },
  'bulk preview': {
    places: ['COMMAND'],
    options: ['gids', ...FILTERS, 'max'],
    outputs: ONE,
    help: 'says which transactions a bulk job would act on, and changes nothing',
  },
  'bulk start': {
    places: ['COMMAND'],
    options: ['gids', ...FILTERS, 'max', 'rate', 'canary', 'reason', 'yes'],
    needs: ['reason'],
    outputs: ONE,
    help: 'gives one command (retry, pause, resume or abort) to many transactions',
  },
  'bulk list': { places: [], options: [], outputs: ROWS, help: 'lists bulk jobs' },
  'bulk show': { places: ['ID'], options: [], outputs: ONE, help: 'shows a bulk job with its counts' },
  'bulk pause': { places: ['ID'], options: [], outputs: ONE, help: 'lets a bulk job give no more commands' },
  'bulk resume': { places: ['ID'], options: [], outputs: ONE, help: 'lets a paused bulk job go on' },
  'bulk cancel': {
    places: ['ID'],
    options: [],
    outputs: ONE,
    help: 'ends a bulk job; what it has commanded stays',
  },
} as const satisfies Readonly<Record<string, CommandShape>>

export type OperatorCommandName = keyof typeof OPERATOR_COMMANDS

/** Every command has these. */
export const COMMON_OPTIONS = ['url', 'key-file', 'output', 'help'] as const satisfies readonly OptionName[]

/** The first words, by which the program knows these commands. */
export const OPERATOR_WORDS: readonly string[] = [
  ...new Set(Object.keys(OPERATOR_COMMANDS).map((name) => name.split(' ')[0] ?? name)),
]

export function describeCommand(name: OperatorCommandName): CommandShape {
  return OPERATOR_COMMANDS[name]
}

export function findOperatorCommand(words: readonly string[]): OperatorCommandName | undefined {
  const names = Object.keys(OPERATOR_COMMANDS) as OperatorCommandName[]
  return names.find((name) => name === words[0]) ?? names.find((name) => name === words.slice(0, 2).join(' '))
}
