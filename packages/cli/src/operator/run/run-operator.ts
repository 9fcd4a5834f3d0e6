import { createOperator } from '@counterstep/sdk/operator'
import type { OperatorCommandName } from '../line/operator-commands.ts'
import type { OperatorContext } from './operator-context.ts'
import { describeError, type ExitCode, toExitCode } from './operator-errors.ts'
import { runBulkCommand, runBulkList, runBulkPreview, runBulkShow, runBulkStart } from './run-bulk.ts'
import {
  runAbort,
  runEdit,
  runPause,
  runPreview,
  runResume,
  runRetry,
  runSkip,
  runStop,
} from './run-commands.ts'
import { runNames, runOverview, runPanel, runPanels, runProblems, runServices } from './run-figures.ts'
import { runList, runRequest, runShow, runWatch } from './run-looks.ts'
import { tellSilence } from './tell-silence.ts'

/** A person waits at the terminal, and a script may ask again itself. */
const RETRY_FOR_MS = 10_000

const RUNNERS: Readonly<Record<OperatorCommandName, (context: OperatorContext) => Promise<void>>> = {
  'tx list': runList,
  'tx show': runShow,
  'tx watch': runWatch,
  'tx request': runRequest,
  'tx preview': runPreview,
  'tx retry': runRetry,
  'tx pause': runPause,
  'tx resume': runResume,
  'tx abort': runAbort,
  'tx skip': runSkip,
  'tx edit': runEdit,
  'tx stop': runStop,
  problems: runProblems,
  services: runServices,
  overview: runOverview,
  names: runNames,
  panels: runPanels,
  panel: runPanel,
  'bulk preview': runBulkPreview,
  'bulk start': runBulkStart,
  'bulk list': runBulkList,
  'bulk show': runBulkShow,
  'bulk pause': runBulkCommand,
  'bulk resume': runBulkCommand,
  'bulk cancel': runBulkCommand,
}

/** Runs one command of an operator. It prints what went wrong itself, and resolves with the exit code. */
export async function runOperator(context: Omit<OperatorContext, 'operator'>): Promise<ExitCode> {
  const { access, command } = context.line
  const operator = tellSilence(createOperator({ ...access, retryForMs: RETRY_FOR_MS }), () =>
    context.say('counterstep: no answer yet, trying again'),
  )
  try {
    await RUNNERS[command]({ ...context, operator })
    return 0
  } catch (error: unknown) {
    // The reader of the output has what it wanted.
    if (context.signal.aborted) return 0
    for (const text of describeError(error)) context.say(`counterstep: ${text}`)
    return toExitCode(error)
  }
}
