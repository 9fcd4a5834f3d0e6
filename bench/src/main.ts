import type { Harness } from './harness/harness.ts'
import { formatMarkdown } from './report/markdown.ts'
import { formatReport } from './report/print-report.ts'
import { progressOn } from './report/progress.ts'
import { allLine, reportLine } from './report/report.ts'
import { type WrittenReport, writeAll, writeReport } from './report/write-report.ts'
import { runAll } from './run-all.ts'
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
  closeOnSignals()
  await (command.scenario === 'all' ? benchAll(command) : bench(command))
}

let running: Harness | undefined
let isStopping = false

function remember(harness: Harness): void {
  if (isStopping) throw new Error('stopped by a signal')
  running = harness
}

async function bench({ scenario: name, given, json }: Command): Promise<void> {
  const scenario = SCENARIOS.find((each) => each.name === name)
  if (scenario === undefined) {
    throw new Error(
      `there is no scenario ${name}; there are all, ${SCENARIOS.map((each) => each.name).join(', ')}`,
    )
  }
  const settings = { ...DEFAULT_SETTINGS, ...scenario.defaults, ...given }
  const report = await runBench(scenario, settings, progressOn(process.stderr), remember)
  const written = writeReport(report)
  const markdown = formatMarkdown(report)
  const texts = [formatReport(report), ...(markdown === undefined ? [] : [markdown]), describePlaces(written)]
  process.stdout.write(`${texts.join('\n\n')}\n`)
  if (json) process.stdout.write(`${reportLine(report)}\n`)
}

async function benchAll({ given, json }: Command): Promise<void> {
  const { reports, failed } = await runAll(given, progressOn(process.stderr), remember, (ended) => {
    process.stdout.write(
      'scenario' in ended ? `${formatReport(ended)}\n\n` : `FAILED ${ended.name}: ${ended.message}\n\n`,
    )
  })
  process.stdout.write(`${describePlaces(writeAll(reports, failed))}\n`)
  const names = failed.map(({ name }) => name)
  if (json) process.stdout.write(`${allLine(reports, names)}\n`)
  if (names.length > 0) throw new Error(`not every scenario ended well: ${names.join('; ')}`)
}

function describePlaces({ jsonPath, htmlPath, markdownPath }: WrittenReport): string {
  const others = markdownPath === undefined ? [htmlPath] : [htmlPath, markdownPath]
  return [`written to ${jsonPath}`, ...others.map((path) => `and ${path}`)].join('\n')
}

function closeOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      isStopping = true
      const closed = running?.close() ?? Promise.resolve()
      void closed.finally(() => process.exit(EXIT_CODES[signal]))
    })
  }
}

try {
  await main()
} catch (error: unknown) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
