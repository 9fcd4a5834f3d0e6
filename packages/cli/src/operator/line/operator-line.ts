import { parseArgs } from 'node:util'
import { type Environment, readServerAccess, type ServerAccess } from '../../server-access.ts'
import {
  COMMON_OPTIONS,
  describeCommand,
  findOperatorCommand,
  OPERATOR_WORDS,
  type OperatorCommandName,
  OUTPUTS,
  type Output,
} from './operator-commands.ts'
import { findOption, OPERATOR_OPTIONS, type OptionName } from './operator-options.ts'
import { readPair } from './option-texts.ts'

/** A command line that has been checked. */
export interface OperatorLine {
  readonly command: OperatorCommandName
  readonly access: ServerAccess
  readonly output: Output
  readonly places: readonly string[]
  readonly values: ReadonlyMap<OptionName, readonly string[]>
  readonly switches: ReadonlySet<OptionName>
}

/** `help` names the words whose usage was asked for. */
export type ReadOperatorLine =
  | { readonly line: OperatorLine }
  | { readonly help: readonly string[] }
  | { readonly problems: readonly string[] }

/**
 * Reads the arguments of a command of operators, its first word included. Problems never quote an argument, since a
 * misplaced word may be a key.
 */
export function readOperatorLine(args: readonly string[], environment: Environment): ReadOperatorLine {
  const { tokens } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: Object.fromEntries(
      Object.entries(OPERATOR_OPTIONS).map(([name, shape]) => [
        name,
        { type: 'value' in shape ? 'string' : 'boolean' } as const,
      ]),
    ),
  })
  const words = tokens.filter((token) => token.kind === 'positional').map((token) => token.value)
  const command = findOperatorCommand(words)
  if (tokens.some((token) => token.kind === 'option' && token.name === 'help')) {
    return {
      help:
        command === undefined ? words.filter((word) => OPERATOR_WORDS.includes(word)) : command.split(' '),
    }
  }
  if (command === undefined) return { problems: [`Say what to do; see ${words[0] ?? 'counterstep'} --help.`] }
  const values = new Map<OptionName, readonly string[]>()
  const switches = new Set<OptionName>()
  const problems: string[] = []
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const problem = findOptionProblem(token, command)
    const name = token.name as OptionName
    if (problem !== undefined) problems.push(problem)
    else if (token.value === undefined) switches.add(name)
    else if (values.has(name) && findOption(name)?.isMultiple !== true)
      problems.push(`--${name} is given twice.`)
    else if (isKnownPair(values.get(name), token.value))
      problems.push(`--${name} has ${readPair(token.value)[0]} twice.`)
    else values.set(name, [...(values.get(name) ?? []), token.value])
  }
  const hasContentTwice = values.has('payload') && (values.has('body') || values.has('content-type'))
  if (hasContentTwice) problems.push('--payload stands beside neither --body nor --content-type.')
  const places = words.slice(command.split(' ').length)
  problems.push(...findMissing(command, places), ...findNeeded(command, values))
  const given = { url: values.get('url')?.[0], keyFile: values.get('key-file')?.[0] }
  const access = readServerAccess(given, environment, problems)
  const output = readOutput(command, values.get('output')?.[0], problems)
  if (problems.length > 0) return { problems: [...new Set(problems)] }
  return { line: { command, access, output, places, values, switches } }
}

/** Tells whether a pair such as `region:eu` has the name of an earlier one. Only pairs may be given several times. */
function isKnownPair(earlier: readonly string[] = [], pair: string): boolean {
  return earlier.some((each) => readPair(each)[0] === readPair(pair)[0])
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function findOptionProblem(
  { name, rawName, value, inlineValue }: OptionToken,
  command: OperatorCommandName,
): string | undefined {
  // The text gives no name here, because `-pSECRET` would be quoted letter by letter.
  if (!rawName.startsWith('--')) return 'Options start with two dashes; see --help.'
  const shape = findOption(name)
  if (shape === undefined) return `There is an unknown option; see ${command} --help.`
  const known: readonly string[] = [...COMMON_OPTIONS, ...describeCommand(command).options]
  if (!known.includes(name)) return `--${name} is no option of ${command}; see ${command} --help.`
  if (shape.value === undefined) return value === undefined ? undefined : `--${name} takes no value.`
  // In `--reason --yes` the reason was forgotten.
  const isForgotten = inlineValue !== true && value?.startsWith('--') === true
  if (value === undefined || value === '' || isForgotten) return `--${name} needs a value.`
  return shape.isValid?.(value) === false ? `--${name} ${shape.rule ?? 'cannot be read'}.` : undefined
}

function findMissing(command: OperatorCommandName, given: readonly string[]): readonly string[] {
  const { places } = describeCommand(command)
  if (given.length === places.length && given.every((place) => place !== '')) return []
  const wanted = places.length === 0 ? 'options only' : places.join(' and ')
  return [`${command} takes ${wanted}; see ${command} --help.`]
}

function findNeeded(
  command: OperatorCommandName,
  values: ReadonlyMap<OptionName, readonly string[]>,
): readonly string[] {
  const { needs = [] } = describeCommand(command)
  return needs.filter((name) => !values.has(name)).map((name) => `${command} needs --${name}.`)
}

function readOutput(command: OperatorCommandName, text: string | undefined, problems: string[]): Output {
  const { outputs } = describeCommand(command)
  const output = outputs.find((each) => each === (text ?? OUTPUTS[0]))
  if (output === undefined) problems.push(`--output of ${command} must be ${outputs.join(', ')}.`)
  return output ?? 'table'
}
