import {
  COMMON_OPTIONS,
  describeCommand,
  OPERATOR_COMMANDS,
  type OperatorCommandName,
} from './operator-commands.ts'
import { findOption, type OptionName } from './operator-options.ts'

const EXITS =
  'Exit codes: 0 done, 1 usage or not agreed to, 2 refused, 3 unknown or unreachable, 4 no such transaction.'
const NAMES = Object.keys(OPERATOR_COMMANDS) as readonly OperatorCommandName[]

/** Writes the usage of one command, or of all that begin with a word. */
export function writeOperatorUsage(words: readonly string[]): string {
  const name = NAMES.find((each) => each === words.join(' '))
  return `${(name === undefined ? writeAll(words[0]) : writeOne(name)).join('\n')}\n`
}

/** Writes a line for each command. */
export function listOperatorUsage(): readonly string[] {
  const heads = NAMES.map(writeHead)
  const width = Math.max(...heads.map(({ length }) => length))
  return NAMES.map((name, at) => `${(heads[at] ?? '').padEnd(width)}   ${describeCommand(name).help}`)
}

function writeAll(word: string | undefined): readonly string[] {
  const wanted = NAMES.filter((name) => word === undefined || name.split(' ')[0] === word)
  const lines = listOperatorUsage().filter((_, at) => wanted.some((name) => name === NAMES[at]))
  return [
    ...lines,
    '',
    ...writeOptions(COMMON_OPTIONS),
    '',
    EXITS,
    `Each has its own: counterstep ${wanted[0] ?? ''} --help`,
  ]
}

function writeOne(name: OperatorCommandName): readonly string[] {
  const { help, options, outputs, places } = describeCommand(name)
  return [
    `${writeHead(name)} [options]`,
    '',
    `It ${help}.`,
    '',
    ...writeOptions(options),
    ...writeOptions(COMMON_OPTIONS.filter((each) => each !== 'output')),
    writeRow('output', `FORMAT`, outputs.join(', ')),
    '',
    ...(options.includes('yes')
      ? [
          'Without --yes it shows what would follow, and asks. Where there is no terminal it is then not given.',
        ]
      : []),
    ...(places.includes('GID')
      ? ['Write -- before a GID that begins with a dash, and the options before that.']
      : []),
    EXITS,
  ]
}

function writeHead(name: OperatorCommandName): string {
  const { places, needs = [] } = describeCommand(name)
  const needed = needs.map((each) => `--${each} ${findOption(each)?.value ?? ''}`)
  return ['counterstep', name, ...places, ...needed].join(' ')
}

function writeOptions(options: readonly OptionName[]): readonly string[] {
  return options.map((name) => writeRow(name, findOption(name)?.value ?? '', findOption(name)?.help ?? ''))
}

function writeRow(name: string, value: string, help: string): string {
  return `  ${`--${name} ${value}`.padEnd(26)} ${help}`
}
