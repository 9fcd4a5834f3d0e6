import { quoteForShell } from '../parts/to-curl.ts'
import type { CommandBody, CommandTarget } from './command-target.ts'

/** Writes a command as the command line takes it. Ids and plans are the console's own, and left out. */
export function toCommandLine({ gid, command, op }: CommandTarget, body: CommandBody): string {
  const verb = command === 'retry-op' ? 'retry' : command
  const place = op === undefined ? [] : [op.branchId, op.op]
  const options = Object.entries(body).flatMap(([name, value]) => {
    if (name === 'commandId' || name === 'planId') return []
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [`--${toKebab(name)}`, quoteForShell(text)]
  })
  return ['counterstep tx', verb, quoteForShell(gid), ...place.map(quoteForShell), ...options].join(' ')
}

function toKebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
