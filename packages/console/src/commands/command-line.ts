import { quoteForShell, writeOption } from '../parts/to-curl.ts'
import type { CommandBody, CommandTarget } from './command-target.ts'

/** Writes a command as the command line takes it. Ids and plans are the console's own, and left out. */
export function toCommandLine({ gid, command, op }: CommandTarget, body: CommandBody): string {
  const verb = command === 'retry-op' ? 'retry' : command
  const named = op === undefined ? undefined : `${op.branchId}.${op.op}`
  const isOption = command === 'retry-op'
  const places = named === undefined || isOption ? [gid] : [gid, named]
  const opOption = named !== undefined && isOption ? [writeOption('op', named)] : []
  const options = Object.entries(body).flatMap(([name, value]) => {
    if (name === 'commandId' || name === 'planId') return []
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [writeOption(name === 'url' ? 'new-url' : toKebab(name), text)]
  })
  const [given, words] = [[...opOption, ...options], places.map(quoteForShell)]
  // A gid may be `--help`. Behind two dashes nothing is an option.
  const isLikeOption = places.some((place) => place.startsWith('-'))
  const rest = isLikeOption ? [...given, '--', ...words] : [...words, ...given]
  return ['counterstep tx', verb, ...rest].join(' ')
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
