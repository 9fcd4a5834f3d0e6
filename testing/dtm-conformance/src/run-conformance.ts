import { type BuiltProgram, buildPrograms, type Print } from './build-programs.ts'
import { type Databases, openDatabases } from './databases.ts'
import { NOTHING, ONE_FAILED, readTally, sum, type Tally } from './program-tally.ts'
import { runCommand } from './run-command.ts'
import type { Settings } from './settings.ts'
import { runningTarget, startTarget, type Target } from './start-target.ts'

/** A program's own waits end after 40 s; it has this long for all of its checks. */
const PROGRAM_TIMEOUT_MS = 600_000

/** Runs every program against every target, and prints what each has to say. */
export async function runConformance(settings: Settings, print: Print): Promise<Tally> {
  const { built, tally } = await buildPrograms(settings, print)
  if (built.length === 0) return tally
  const databases = await openDatabases(settings)
  try {
    return sum([tally, await runOnTargets(built, databases, settings, print)])
  } finally {
    await databases.stop()
  }
}

/** All targets at once, since a check mostly waits: what it keeps in the databases has a name that it draws. */
async function runOnTargets(
  programs: readonly BuiltProgram[],
  databases: Databases,
  { dtmUrl, dtmGrpc, stores }: Settings,
  print: Print,
): Promise<Tally> {
  const starts =
    dtmUrl === undefined
      ? stores.map((store) => () => startTarget(store, databases))
      : [async () => runningTarget(dtmUrl, dtmGrpc)]
  const outcomes = await Promise.allSettled(
    starts.map((start) => runOnTarget(programs, start, databases, print)),
  )
  // Only now, so that no target is left running when another fails.
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (failures.length === 1) throw failures[0]
  if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '))
  return sum(outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : [])))
}

async function runOnTarget(
  programs: readonly BuiltProgram[],
  start: () => Promise<Target>,
  databases: Databases,
  print: Print,
): Promise<Tally> {
  const target = await start()
  try {
    let total = NOTHING
    // One after the other: each has checks beside each other already.
    for (const program of programs) {
      total = sum([total, await runProgram(program, target, databases, print)])
    }
    return total
  } finally {
    await target.stop()
  }
}

async function runProgram(
  { name, start, speaksGrpc }: BuiltProgram,
  target: Target,
  { mysqlUrl, redisUrl }: Databases,
  print: Print,
): Promise<Tally> {
  print(`# ${name} on ${target.name} has begun`)
  const { output, errors, exitCode } = await runCommand(
    start.command,
    [
      ...[...start.args, '--dtm', target.url, '--mysql', mysqlUrl, '--redis', redisUrl],
      ...(speaksGrpc === true ? ['--grpc', target.grpc] : []),
    ],
    { timeoutMs: PROGRAM_TIMEOUT_MS, variables: start.variables ?? {} },
  )
  print(`# ${name} on ${target.name}\n${output.trimEnd()}`)
  const tally = readTally(output, exitCode)
  if (tally === undefined) {
    print(`not ok ${name} on ${target.name}: exit code ${exitCode} does not fit its report`)
  }
  if (tally === undefined || tally.failed > 0) print(errors.trimEnd())
  return tally ?? ONE_FAILED
}
