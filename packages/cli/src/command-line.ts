import { parseArgs } from 'node:util'
import { isSwitch as isSwitchSetting, SETTINGS, type SettingName, toFlag } from '@counterstep/configuration'
import { COMMANDS, type CommandName, findCommand, listSettings } from './commands.ts'
import { OPERATOR_WORDS } from './operator/line/operator-commands.ts'

/** The arguments of the command, parsed. Problems never quote an argument, since a misplaced word may be a password. */
export interface Line {
  readonly command: CommandName | undefined
  /** The keys are the flags without their dashes. */
  readonly values: ReadonlyMap<string, string>
  readonly switches: ReadonlySet<string>
  readonly problems: readonly string[]
}

interface Flag {
  readonly type: 'string' | 'boolean'
  /** It is undefined for `--help`, `--version`, `--ready-json` and `--config`, which are no settings. */
  readonly setting?: SettingName
  readonly commands: readonly CommandName[]
}

/** This flag names a file of settings. */
export const CONFIG_FLAG = 'config'
const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[]
/** Those behind the first two have arguments of their own, which other modules read. */
const ALL_COMMANDS = [
  ...COMMAND_NAMES,
  'keys',
  'signal',
  'signing-key',
  'alerts',
  'dtm-check',
  ...OPERATOR_WORDS,
]
const FLAGS = new Map<string, Flag>([
  ['help', { type: 'boolean', commands: COMMAND_NAMES }],
  ['version', { type: 'boolean', commands: COMMAND_NAMES }],
  ['ready-json', { type: 'boolean', commands: ['serve', 'dev'] }],
  [CONFIG_FLAG, { type: 'string', commands: COMMAND_NAMES }],
  ...listSettings('serve').map((name) => [toFlag(name), describeFlag(name)] as const),
])

function describeFlag(setting: SettingName): Flag {
  const commands = COMMAND_NAMES.filter((command) => listSettings(command).includes(setting))
  return { type: isSwitchSetting(SETTINGS[setting]) ? 'boolean' : 'string', setting, commands }
}

// In its strict form parseArgs throws at the first fault. Its tokens let us name all faults at once.
export function readLine(args: readonly string[]): Line {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries([...FLAGS].map(([flag, { type }]) => [flag, { type }])),
  })
  const words = tokens.filter((token) => token.kind === 'positional').map((token) => token.value)
  const command = findCommand(words[0])
  const values = new Map<string, string>()
  const switches = new Set<string>()
  const problems = new Set<string>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const problem = findOptionProblem(token, command)
    if (problem !== undefined) problems.add(problem)
    else if (isSwitch(token.name)) switches.add(token.name)
    else values.set(token.name, token.value ?? 'true')
  }
  return { command, values, switches, problems: [...problems, ...findWordProblems(words, command)] }
}

/** Tells whether a flag is no setting and takes no value. */
function isSwitch(name: string): boolean {
  const flag = FLAGS.get(name)
  return flag?.setting === undefined && flag?.type === 'boolean'
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
}

function findOptionProblem({ name, rawName, value }: OptionToken, command = 'serve'): string | undefined {
  // The text gives no name here, because `-pSECRET` would be quoted letter by letter.
  if (!rawName.startsWith('--')) return 'Options start with two dashes; see --help.'
  const flag = FLAGS.get(name)
  if (flag === undefined) {
    return name.includes('password')
      ? `--${name} is no option, since options show in the list of processes; see --help for its variable.`
      : `--${name} is no option; see --help.`
  }
  if (!flag.commands.some((each) => each === command)) {
    return `--${name} is no option of ${command}; see ${command} --help.`
  }
  if (isSwitch(name)) return value === undefined ? undefined : `--${name} takes no value.`
  return value === undefined && flag.type === 'string' ? `--${name} needs a value.` : undefined
}

function findWordProblems(words: readonly string[], command: CommandName | undefined): string[] {
  if (words.length === 0) {
    const names = ALL_COMMANDS.map((name) => `counterstep ${name}`)
    return [`Say what to do: ${names.join(', or ')}.`]
  }
  if (command === undefined) return [`The first word is no command; there is ${ALL_COMMANDS.join(', ')}.`]
  const more = words.length - 1
  return more === 0 ? [] : [`Nothing may follow ${command} but options; there is more (words: ${more}).`]
}
