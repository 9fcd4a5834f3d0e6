import type { Harness } from './harness/harness.ts'
import { printedReport } from './report/print-report.ts'
import { progressOn } from './report/progress.ts'
import { reportLine, writeReport } from './report/report.ts'
import { runBench } from './run-bench.ts'
import { SCENARIOS } from './scenarios.ts'
import { type Command, DEFAULT_SETTINGS, HELP, readCommand } from './settings.ts'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

async function main(): Promise<void> {
  const command = readCommand(process.argv.slice(2))
  if (command === 'help') {
    process.stdout.write(
      `${HELP}\n${SCENARIOS.map(({ name, summary }) => `  ${name.padEnd(20)} ${summary}\n`).join('')}`,
    )
    return
  }
  await bench(command)
}

async function bench({ scenario: name, given, json }: Command): Promise<void> {
  const scenario = SCENARIOS.find((each) => each.name === name)
  if (scenario === undefined) {
    throw new Error(
      `there is no scenario ${name}; there are ${SCENARIOS.map((each) => each.name).join(', ')}`,
    )
  }
  const settings = { ...DEFAULT_SETTINGS, ...scenario.defaults, ...given }
  const report = await runBench(scenario, settings, progressOn(process.stderr), closeOnSignals)
  const path = writeReport(report)
  process.stdout.write(`${printedReport(report)}\n\nwritten to ${path}\n`)
  if (json) process.stdout.write(`${reportLine(report)}\n`)
}

function closeOnSignals(harness: Harness): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void harness.close().finally(() => process.exit(EXIT_CODES[signal]))
    })
  }
}

try {
  await main()
} catch (error: unknown) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
