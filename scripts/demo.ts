// `npm start` shows this: the orchestrator, two banks, a transfer that succeeds, one that is undone, and one that waits
// for an approval.
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '@counterstep/sdk'
import { type Bank, readBalances } from './demo/bank-client.ts'
import { type DemoOptions, readDemoOptions } from './demo/options.ts'
import { playApprovedTransfer, playTransfer } from './demo/play-transfer.ts'
import { balanceTable, money, sumBalances, wrongBalances } from './demo/report.ts'
import { ServiceGroup } from './demo/service-group.ts'
import { toSaga, transferThatFails, transferThatSucceeds } from './demo/transfer.ts'

const ROOT = join(import.meta.dirname, '..')
const AMOUNT_CENTS = 2_500
/** A transfer over this limit needs an approval. */
const APPROVAL_LIMIT_CENTS = 10_000
const LARGE_AMOUNT_CENTS = 20_000
/** How long transactions that an earlier run left behind may take before the demo goes on without them. */
const LEFTOVER_MS_MAX = 5_000
const SAME_KEY_PRESS_MS = 1_000

interface Started {
  readonly orchestratorUrl: string
  readonly bankA: Bank
  readonly bankB: Bank
}

async function main(): Promise<number> {
  const services = new ServiceGroup()
  const stopped = stopAsked(() => {
    services.kill()
    process.exit(130)
  })
  const stopping = new AbortController()
  let exitCode = 0
  try {
    const options = readOptions()
    const ended = await Promise.race([
      runDemo(options, services, stopping.signal),
      services.trouble,
      stopped.then(() => 'stopped'),
      outputClosed().then(() => 'stopped'),
    ])
    stopping.abort()
    if (ended === 'stopped')
      print('\nStopping: calls in flight may take up to 10 s; Ctrl-C again ends at once.')
    if (ended === 'stopped' && options.once) exitCode = 130
    if (ended === 'wrong') exitCode = 1
  } catch (error) {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
    exitCode = 1
  }
  await services.stop()
  print('Stopped.')
  return exitCode
}

function readOptions(): DemoOptions {
  // npm runs us in the root of the repository and says where the user was.
  const baseFolder = process.env.INIT_CWD ?? process.cwd()
  return readDemoOptions(process.argv.slice(2), baseFolder, join(ROOT, '.data'))
}

/** Resolves when the transfers are done (--once) or went wrong; else only when something breaks. */
async function runDemo(
  options: DemoOptions,
  services: ServiceGroup,
  stopping: AbortSignal,
): Promise<'done' | 'wrong'> {
  const started = await startServices(options, services)
  // The first request builds the console, in a process of its own. The transfers need not wait for it.
  const console = options.once ? undefined : buildConsole(started)
  const isRight = await playTransfers(started, stopping)
  if (!isRight) return 'wrong'
  if (console === undefined) return 'done'
  printInvitation(started, await console)
  return new Promise<never>(() => undefined)
}

async function startServices({ port, dataFolder }: DemoOptions, services: ServiceGroup): Promise<Started> {
  const logFolder = join(dataFolder, 'logs')
  const [portA, portB] = port === 0 ? [0, 0] : [port + 1, port + 2]
  await requireFreePorts([
    { name: 'the orchestrator', port },
    { name: 'bank-a', port: portA },
    { name: 'bank-b', port: portB },
  ])
  mkdirSync(logFolder, { recursive: true })
  print(`Data in ${dataFolder}, logs in ${logFolder}`)
  // First, because it locks the data folder: a second demo on the same data ends here, before it touches a bank.
  const dev = [join(ROOT, 'packages/cli/src/main.ts'), 'dev', '--ready-json', '--data', dataFolder]
  const orchestratorUrl = await services
    .start({ name: 'orchestrator', args: [...dev, '--port', String(port), '--log-level', 'info'], logFolder })
    .catch((error: unknown) => Promise.reject(explainLock(error, dataFolder)))
  const startBank = async (name: string, bankPort: number): Promise<Bank> => {
    const data = join(dataFolder, `${name}.db`)
    const bank = [join(ROOT, 'examples/bank/src/main.ts'), '--name', name, '--data', data]
    const url = await services.start({ name, args: [...bank, '--port', String(bankPort)], logFolder })
    return { name, url }
  }
  const [bankA, bankB] = await Promise.all([startBank('bank-a', portA), startBank('bank-b', portB)])
  return { orchestratorUrl, bankA, bankB }
}

function explainLock(error: unknown, dataFolder: string): unknown {
  if (!(error instanceof Error) || !error.message.includes('is in use by')) return error
  return new Error(
    `${dataFolder} is in use by another Counterstep, which keeps its data to itself. ` +
      `Stop that one, or choose another folder: npm start -- --data FOLDER\n\n${error.message}`,
  )
}

/** False when a transfer ended otherwise than it should, or a balance is not right after them. */
async function playTransfers(
  { orchestratorUrl, bankA, bankB }: Started,
  stopping: AbortSignal,
): Promise<boolean> {
  const client = createClient({ url: orchestratorUrl })
  await letLeftoversEnd(client)
  stopping.throwIfAborted()
  const before = await readBalances([bankA, bankB])
  const good = transferThatSucceeds(bankA, bankB, before, AMOUNT_CENTS)
  const bad = transferThatFails(bankA, bankB, AMOUNT_CENTS)
  const faults = await playTransfer(client, { title: 'A transfer', transfer: good, ends: 'succeeded' }, print)
  stopping.throwIfAborted()
  const refused = { title: 'A transfer that the second bank refuses', transfer: bad, ends: 'failed' } as const
  faults.push(...(await playTransfer(client, refused, print)))
  stopping.throwIfAborted()
  const between = await readBalances([bankA, bankB])
  const large = transferThatSucceeds(bankA, bankB, between, LARGE_AMOUNT_CENTS)
  const title = `A transfer over ${money(APPROVAL_LIMIT_CENTS)}, which somebody must approve`
  faults.push(...(await playApprovedTransfer(client, title, large, print)))
  const after = await readBalances([bankA, bankB])
  print(`\n${balanceTable(before, after)}\n`)
  faults.push(...wrongBalances(before, after, [good, large]))
  for (const fault of faults) print(`✗ ${fault}`)
  if (faults.length > 0) return false
  print(
    `✓ All ${after.size} balances are right: ${money(good.amountCents)} and ${money(large.amountCents)} moved once each, the`,
  )
  print(`  refused transfer left no trace, and the sum is still ${money(sumBalances(after))}.`)
  return true
}

/** Transactions that an earlier run left behind are run now, and would move money under the demo. */
async function letLeftoversEnd(client: Client): Promise<void> {
  const endAt = performance.now() + LEFTOVER_MS_MAX
  while (await hasUnfinished(client)) {
    if (performance.now() > endAt) {
      print('Transactions of an earlier run are unfinished and go on in the background.')
      return
    }
    await sleep(200)
  }
}

async function hasUnfinished(client: Client): Promise<boolean> {
  const unfinished = client.list({ status: ['prepared', 'submitted', 'aborting'], limit: 1 })
  const { done } = await unfinished[Symbol.asyncIterator]().next()
  return done !== true
}

/** Returns what is to be said of the console: where both transfers are seen, or why there is none. */
async function buildConsole({ orchestratorUrl }: Started): Promise<string> {
  const page = await fetch(`${orchestratorUrl}/console/`).catch(() => undefined)
  return page?.ok === true
    ? `${orchestratorUrl}/console/#/list`
    : 'cannot be built; see logs/orchestrator.log'
}

function printInvitation({ orchestratorUrl, bankA, bankB }: Started, console: string): void {
  const transfer = { from: bankA, fromAccount: 'alice', to: bankB, toAccount: 'bob', amountCents: 100 }
  print('')
  print(`Console  ${console}`)
  print(`API      ${orchestratorUrl}/v1/transactions`)
  print(`Docs     ${orchestratorUrl}/docs`)
  print(`Metrics  ${orchestratorUrl}/metrics`)
  print(`Banks    ${bankA.url}/accounts  ${bankB.url}/accounts`)
  print('\nTry a transfer of your own:\n')
  print(
    `curl -s ${orchestratorUrl}/v1/transactions -H 'content-type: application/json' -H 'prefer: wait=10' \\`,
  )
  // The gid is left out, so that each paste is a transfer of its own.
  print(`  -d '${JSON.stringify({ branches: toSaga(transfer).request.branches })}'`)
  print('\nCtrl-C stops everything; the data stays.')
}

/** Resolves when the reader of the output has gone, as `head` does: it wants no more of the demo. */
function outputClosed(): Promise<void> {
  return new Promise((resolve) => {
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => resolve())
  })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Throws an Error that names the first port that is taken, and the service that wants it. */
async function requireFreePorts(wanted: readonly { readonly name: string; readonly port: number }[]) {
  for (const { name, port } of wanted) {
    if (port === 0 || (await isFree(port))) continue
    throw new Error(
      `Port ${port}, wanted for ${name}, is taken by another process. ` +
        `Stop that one, or choose another port: npm start -- --port ${port + 100}`,
    )
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/**
 * Resolves at the first signal to stop. One key press may come twice, from the terminal and through npm, so only a
 * signal that comes later means that the user is tired of waiting.
 */
function stopAsked(onImpatience: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now()
        if (performance.now() - firstAt > SAME_KEY_PRESS_MS) onImpatience()
        resolve()
      })
    }
  })
}

process.exit(await main())
