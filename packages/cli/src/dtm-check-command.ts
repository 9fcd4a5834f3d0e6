import { parseArgs } from 'node:util'
import { targetPolicy } from '@counterstep/branch-http/targets'
import { type Environment, readSettings, SETTINGS } from '@counterstep/configuration'
import type { CheckReport, CheckRules, Tally } from '@counterstep/dtm/check'
import { DTM_CHECK_USAGE } from './dtm-check-usage.ts'
import { cleanLine } from './operator/print/clean-text.ts'

const HELP = `counterstep dtm-check --dtm URL [options]

Reads the transactions and the topics that a running DTM keeps, makes each request anew and judges it as the server would,
and says line by line what would be refused. It changes nothing in DTM. It ends with 0 if nothing would be, else with 1.

  --dtm URL              DTM's HTTP address, for example http://old:36789
  --limit N              read at most N transactions (10000)
  --allow-targets LIST   judge by this list, as for serve; without it and --services any host may be called
  --services LIST        services with a name, as for serve
  --plain-ids            judge as a server with --plain-ids
  --help                 print this
`

const OPTIONS = {
  dtm: { type: 'string' },
  limit: { type: 'string' },
  'allow-targets': { type: 'string' },
  services: { type: 'string' },
  'plain-ids': { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const LIMIT = 10_000
const LIMIT_MAX = 1_000_000
const BASE_PATH = '/api/dtmsvr'
const ANSWER_MS_MAX = 30_000
/** A page of DTM has a hundred transactions. */
const ANSWER_BYTES_MAX = 64 * 1_048_576
const HOSTS_SHOWN_MAX = 50

export interface CheckOutput {
  out(text: string): void
  err(text: string): void
  /** Progress is shown where a person looks on. */
  readonly isTerminal: boolean
}

/** Runs `counterstep dtm-check`, and returns the exit code. */
export async function runDtmCheck(
  args: readonly string[],
  environment: Environment,
  output: CheckOutput,
): Promise<number> {
  const given = readArguments(args, environment)
  if (given === 'help') {
    output.out(HELP)
    return 0
  }
  if ('problem' in given) {
    output.err(`counterstep: ${given.problem}\n`)
    return 1
  }
  try {
    const { checkOldDtm } = await import('@counterstep/dtm/check')
    const report = await checkOldDtm((path) => getJson(given.url + path), given.rules, {
      limit: given.limit,
      onProgress: (count) => {
        if (output.isTerminal && count % 100 === 0) output.err(`\r${count} transactions read`)
      },
    })
    if (output.isTerminal) output.err('\r')
    output.out(writeReport(report))
    return report.refusals.length === 0 ? 0 : 1
  } catch (error: unknown) {
    if (!(error instanceof UnreadableError)) throw error
    output.err(`counterstep: ${error.message}\n`)
    return 1
  }
}

interface Given {
  readonly url: string
  readonly limit: number
  readonly rules: CheckRules
}

function readArguments(
  args: readonly string[],
  environment: Environment,
): Given | 'help' | { readonly problem: string } {
  const { positionals, values } = parseArgs({
    ...{ args: [...args], strict: false, allowPositionals: true },
    options: OPTIONS,
  })
  if (values.help === true) return 'help'
  const isKnown = Object.keys(values).every((name) => name in OPTIONS)
  if (!isKnown || positionals.length > 0 || typeof values.dtm !== 'string')
    return { problem: `dtm-check takes options alone, and needs --dtm: ${DTM_CHECK_USAGE}` }
  const limit = Number(values.limit ?? LIMIT)
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX)
    return { problem: `--limit must be a whole number from 1 to ${LIMIT_MAX}.` }
  const url = URL.canParse(values.dtm) ? new URL(values.dtm) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    return { problem: '--dtm must be an http or https URL.' }
  const flags = new Map(Object.entries(values).map(([name, value]) => [name, String(value)]))
  const { known, problems } = readSettings(SETTINGS, ['services', 'allowTargets', 'plainIds'], {
    flags,
    environment,
  })
  const [problem] = problems
  if (problem !== undefined) return { problem }
  const { services = [], allowTargets: allowed = [], plainIds = false } = known
  const others = services.length === 0 && allowed.length === 0 ? 'any' : 'none'
  const policy = targetPolicy({ services, allowed, others, isLocal: true })
  const path = url.pathname === '/' ? BASE_PATH : url.pathname.replace(/\/$/, '')
  return {
    url: url.origin + path,
    limit,
    rules: {
      checkUrl: (each) => policy.check(each),
      checkGrpc: (each) => policy.checkGrpc(each),
      plainIds,
    },
  }
}

/** DTM could not be read. */
class UnreadableError extends Error {}

async function getJson(url: string): Promise<unknown> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })
    if (answer.status !== 200) throw new UnreadableError(`${new URL(url).pathname} answers ${answer.status}`)
    return JSON.parse(await readText(answer))
  } catch (error: unknown) {
    if (error instanceof UnreadableError) throw error
    const reason =
      error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : ''
    throw new UnreadableError(`DTM cannot be read: ${reason}`)
  }
}

async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new UnreadableError(`DTM answers more than ${ANSWER_BYTES_MAX} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function writeReport({
  transactions,
  topics,
  isCut,
  refusals,
  needs,
  hosts,
  unfinished,
}: CheckReport): string {
  const read = `${transactions} transactions${isCut ? ', and there may be more,' : ''} and ${topics} topics read.`
  return [
    ...section('Would be refused:', refusals),
    ...section('The server needs:', needs),
    ...section('Hosts that are called, for --allow-targets:', hosts.slice(0, HOSTS_SHOWN_MAX)),
    ...(hosts.length > HOSTS_SHOWN_MAX ? [`  and ${hosts.length - HOSTS_SHOWN_MAX} more`] : []),
    ...(unfinished === undefined
      ? []
      : [
          `Unfinished in DTM: ${unfinished.count}, the first ${cleanLine(unfinished.example)}. DTM has to end them; they do not come along.`,
        ]),
    refusals.length === 0 ? `${read} Nothing would be refused.` : `${read} ${countReasons(refusals.length)}`,
    '',
  ].join('\n')
}

function countReasons(count: number): string {
  return count === 1 ? 'One reason to refuse something.' : `${count} reasons to refuse something.`
}

function section(title: string, tallies: readonly Tally[]): readonly string[] {
  if (tallies.length === 0) return []
  // The old DTM asks for no key, so these texts are those of strangers.
  const rows = tallies.map(({ text, count, example }) =>
    cleanLine(`  ${text} (${count}, the first ${example})`),
  )
  return [title, ...rows, '']
}
