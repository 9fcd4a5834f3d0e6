import { formatResult, resultLine } from './bank/report/print-result.ts'
import { progressOn } from './bank/report/progress.ts'
import { runChaos } from './bank/run-chaos.ts'
import { HELP, readCommand } from './settings.ts'

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2), Date.now)
  if (command === 'help') {
    process.stdout.write(HELP)
    return
  }
  const { json, withoutBarrier, ...settings } = command
  const guard = withoutBarrier ? 'none' : 'barrier'
  const { result, keptFolder } = await runChaos({ ...settings, guard }, progressOn(process.stderr))
  const forPeople = json ? process.stderr : process.stdout
  forPeople.write(`${formatResult(result)}\n`)
  if (keptFolder !== undefined) {
    forPeople.write(`logs and files are kept in ${keptFolder}\n`)
    process.exitCode = 1
  }
  process.stdout.write(`${resultLine(result)}\n`)
}

try {
  await main()
  // All is stopped and told. Node's own clean-up has been seen to spin for minutes over a socket that a proxy had reset.
  process.exit()
} catch (error: unknown) {
  process.stderr.write(`chaos: ${error instanceof Error ? listMessages(error) : String(error)}\n`)
  // Clients and nemesis of a run that broke off would go on with what is no longer there.
  process.exit(1)
}

function listMessages(error: Error): string {
  return error.cause instanceof Error
    ? `${error.message}\n${error.cause.stack}`
    : (error.stack ?? error.message)
}
