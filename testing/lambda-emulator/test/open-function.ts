import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import {
  type FunctionSpec,
  type InvocationOutcome,
  type LambdaFunction,
  type LogLine,
  type RuntimeClient,
  startFunction,
} from '../src/index.ts'

export interface OpenFunction extends LambdaFunction {
  readonly logFolder: string
  /** The environments have printed these lines so far. */
  readonly lines: readonly LogLine[]
}

/** Starts a function of the fixtures, which is stopped when the test ends. Its start may take long on a busy machine. */
export async function openFunction(
  client: RuntimeClient,
  handler: string,
  more: Partial<FunctionSpec> = {},
): Promise<OpenFunction> {
  const logFolder = await mkdtemp(join(tmpdir(), 'counterstep-lambda-'))
  const lines: LogLine[] = []
  const started = startFunction(client, {
    name: 'tested',
    taskRoot: join(import.meta.dirname, 'fixtures'),
    handler,
    variables: {},
    memoryMb: 256,
    timeoutMs: 20_000,
    initTimeoutMs: 60_000,
    reservedConcurrency: 1,
    logFolder,
    onLine: (line) => lines.push(line),
    ...more,
  })
  onTestFinished(async () => {
    await started.stop()
    await rm(logFolder, { recursive: true, force: true })
  })
  return { ...started, logFolder, lines }
}

/** Returns the function's answer. Throws when there is none. */
export function readAnswer(outcome: InvocationOutcome): Readonly<Record<string, unknown>> {
  if (outcome.type !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`)
  return JSON.parse(outcome.payload)
}
