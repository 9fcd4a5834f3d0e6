import { quoteForShell } from '../parts/to-curl.ts'
import type { CommandBody, CommandTarget } from './command-target.ts'

/** Writes a command as the command line takes it. Ids and plans are the console's own, and left out. */
export function toCommandLine({ gid, command, op }: CommandTarget, body: CommandBody): string {
  const verb = command === 'retry-op' ? 'retry' : command
  const named = op === undefined ? undefined : quoteForShell(`${op.branchId}.${op.op}`)
  const place = named === undefined ? [] : command === 'retry-op' ? ['--op', named] : [named]
  const options = Object.entries(body).flatMap(([name, value]) => {
    if (name === 'commandId' || name === 'planId') return []
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [`--${name === 'url' ? 'new-url' : toKebab(name)}`, quoteForShell(text)]
  })
  return ['counterstep tx', verb, quoteForShell(gid), ...place, ...options].join(' ')
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
