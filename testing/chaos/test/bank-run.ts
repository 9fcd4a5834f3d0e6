import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { ChaosResult } from '../src/bank/chaos-result.ts'

const MAIN = join(import.meta.dirname, '../src/main.ts')
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024
const KEPT = /are kept in (\S+)$/m

export interface CommandRun {
  readonly exitCode: number
  /** Standard output. */
  readonly output: string
  /** Standard error. */
  readonly errors: string
  /** The last line. */
  readonly result: ChaosResult & Readonly<Record<'lost' | 'doubled' | 'stuck' | 'other', number>>
  /** Named where something was wrong. */
  readonly keptFolder: string | undefined
}

/** `npm run chaos`, as a user runs it. */
export async function runCommand(line: string): Promise<CommandRun> {
  const args = [MAIN, ...line.split(' ')]
  const { exitCode, output, errors } = await new Promise<{
    exitCode: number
    output: string
    errors: string
  }>((resolve) => {
    const child = execFile(
      process.execPath,
      args,
      { maxBuffer: OUTPUT_BYTES_MAX },
      (_error, stdout, stderr) => resolve({ exitCode: child.exitCode ?? -1, output: stdout, errors: stderr }),
    )
  })
  const last = findLastLine(output)
  if (!last.startsWith('{')) {
    // The first line is all that a list of failures shows.
    const why = errors.split('\n').findLast((each) => each.startsWith('chaos: ')) ?? findLastLine(errors)
    throw new Error(`npm run chaos -- ${line}: ${why}\n${output}${errors}`)
  }
  return {
    exitCode,
    output,
    errors,
    result: JSON.parse(last) as CommandRun['result'],
    keptFolder: KEPT.exec(output + errors)?.[1],
  }
}

function findLastLine(text: string): string {
  return text.trimEnd().split('\n').at(-1) ?? ''
}

/** Runs the bank, and expects that nothing was lost, doubled or left behind, and that everything that was accepted has ended. */
export async function proveBank(line: string): Promise<void> {
  const { exitCode, output, result } = await runCommand(line)
  process.stdout.write(`${output}\n`)
  expect([exitCode, result.lost, result.doubled, result.stuck, result.other], output).toEqual([0, 0, 0, 0, 0])
  expect(result.ends.succeeded + result.ends.failed).toBeGreaterThanOrEqual(result.accepted)
}

export async function forget({ keptFolder }: CommandRun): Promise<void> {
  if (keptFolder !== undefined) await rm(keptFolder, { recursive: true, force: true })
}
