import { tallyLine } from './program-tally.ts'
import { runConformance } from './run-conformance.ts'
import { readSettings } from './settings.ts'

try {
  const tally = await runConformance(readSettings(process.argv.slice(2)), (text) => {
    process.stdout.write(`${text}\n`)
  })
  process.stdout.write(`${tallyLine(tally)}\n`)
  process.exitCode = tally.failed > 0 ? 1 : 0
} catch (error: unknown) {
  process.stderr.write(`conformance: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
