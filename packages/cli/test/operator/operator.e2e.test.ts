import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readOperatorLine } from '../../src/operator/line/operator-line.ts'
import { runOperator } from '../../src/operator/run/run-operator.ts'
import { type BranchService, startBranchService, submit } from '../branch-service.ts'
import { ServeProcess } from '../serve-process.ts'

const WAIT_MS_MAX = 15_000

let folder = ''
let bank: BranchService
let server: ServeProcess
let url = ''
let isMended = false

beforeEach(async () => {
  isMended = false
  folder = await mkdtemp(join(tmpdir(), 'operator-'))
  // The credit is refused, and the debit cannot be undone until the bank is mended.
  bank = await startBranchService(0, (path) =>
    path === '/credit' ? 409 : path === '/undo' && !isMended ? 500 : 200,
  )
  ;({ process: server, url } = await ServeProcess.listening(folder))
})
afterEach(async () => {
  server.signal('SIGTERM')
  await server.ended()
  bank.close()
  await rm(folder, { recursive: true })
})

const run = (...args: readonly string[]) => runWith('', args)

/** Runs a command line in this process, which takes a hundredth of the time of a process of its own. */
async function runWith(input: string, args: readonly string[]) {
  const read = readOperatorLine(args, { COUNTERSTEP_URL: url })
  const shown = { stdout: '', stderr: '' }
  if (!('line' in read)) return { code: 1, ...shown }
  const code = await runOperator({
    line: read.line,
    print: (text) => {
      shown.stdout += `${text}\n`
    },
    say: (text) => {
      shown.stderr += `${text}\n`
    },
    openTerminal: () => undefined,
    readFile: async () => input,
    width: 120,
    signal: new AbortController().signal,
  })
  return { code, ...shown }
}

function runProcess(...args: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [COUNTERSTEP_PROGRAM, ...args],
      { env: { PATH: process.env.PATH, COUNTERSTEP_URL: url } },
      (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })
}

const submitTransfer = (gid: string) => {
  const at = new URL(bank.url).origin
  return submit(url, {
    gid,
    name: 'transfer',
    // The branch is not called again while the test runs unless a command asks for it.
    retry: { initialMs: 600_000, capMs: 600_000 },
    branches: [
      { id: 'debit', action: `${at}/debit`, compensation: `${at}/undo` },
      { id: 'credit', action: `${at}/credit`, compensation: `${at}/credit-undo` },
    ],
  })
}

it('A stuck saga is found, explained, paused and mended by the commands of operators', async () => {
  await submitTransfer('order-4711')
  await vi.waitFor(
    async () =>
      expect((await run('tx', 'list', '--retrying', '--output', 'gids')).stdout).toBe('order-4711\n'),
    { timeout: WAIT_MS_MAX },
  )
  const problem = `${new URL(bank.url).host} compensate 500`
  expect((await run('problems')).stdout).toContain(problem)
  expect((await run('tx', 'list', '--problem', problem, '--name', 'transfer')).stdout).toMatch(
    /order-4711 +transfer/,
  )
  const shown = await runProcess('tx', 'show', 'order-4711')
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain('answers 500 to the compensation of debit')
  expect(shown.stdout).toContain('because credit refused')
  expect((await run('tx', 'preview', 'order-4711', 'retry')).stdout).toContain('compensate debit')

  // No process of a test has a terminal, and a command is given only if a person agrees.
  const unasked = await runProcess('tx', 'pause', 'order-4711', '--reason', 'bank-a is being moved')
  expect(unasked).toMatchObject({ code: 1, stdout: '' })
  expect(unasked.stderr).toContain('There is no terminal to ask at')
  expect((await run('tx', 'pause', 'order-4711', '--reason', 'bank-a is being moved', '--yes')).code).toBe(0)
  const refused = await run('tx', 'retry', 'order-4711', '--yes')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('SAGA_PAUSED')
  expect((await run('tx', 'resume', 'order-4711', '--yes')).code).toBe(0)

  isMended = true
  expect((await run('tx', 'retry', 'order-4711', '--reason', 'bank-a is mended', '--yes')).code).toBe(0)
  const watched = await run('tx', 'watch', 'order-4711')
  expect(watched.code).toBe(0)
  expect(watched.stdout).toContain('↺ failed  Everything that may have run is undone')
  expect((await run('tx', 'show', 'order-4711')).stdout).toMatch(
    /pause .*bank-a is being moved\n.*resume\n.*retry .*bank-a is mended/,
  )
  expect((await run('tx', 'abort', 'order-4711', '--reason', 'late', '--yes')).stderr).toContain(
    'SAGA_ALREADY_FINAL',
  )
})

it.skipIf(!existsSync('/dev/full'))(
  'A command whose output does not fit on the disk says so, and fails',
  async () => {
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [COUNTERSTEP_PROGRAM, 'overview'], {
      stdio: ['ignore', full, 'pipe'],
      env: { PATH: process.env.PATH, COUNTERSTEP_URL: url },
    })
    closeSync(full)
    const [said, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')])
    expect([code, said]).toEqual([1, expect.stringContaining('the output cannot be written')])
  },
)

it('A call is declared done, and the exit codes say what is not there', async () => {
  await submitTransfer('order-4712')
  await vi.waitFor(
    async () =>
      expect((await run('tx', 'list', '--retrying', '--output', 'gids')).stdout).toBe('order-4712\n'),
    { timeout: WAIT_MS_MAX },
  )
  const skip = [
    'tx',
    'skip',
    'order-4712',
    'debit.compensate',
    '--done-by',
    'hand',
    '--reason',
    'paid',
    '--yes',
  ]
  expect(await run(...skip)).toMatchObject({ code: 2, stdout: '' })
  const done = await run(...skip, '--confirm', 'no-call-took-effect', '--output', 'json')
  expect(JSON.parse(done.stdout)).toMatchObject({ gid: 'order-4712' })
  // The end is decided once the skip is durable, so it comes a moment later.
  await expect
    .poll(async () => (await run('tx', 'show', 'order-4712', '--output', 'json')).stdout)
    .toContain('"failed"')
  expect((await run('tx', 'show', 'order-4712')).stdout).toContain('done by hand')
  expect((await run('overview')).stdout).toContain('store       sqlite')
  expect(await runProcess('tx', 'show', 'none')).toMatchObject({ code: 4, stdout: '' })
  expect(await run('tx', 'show')).toMatchObject({ code: 1, stdout: '' })
})

it('The gids of a list become a bulk job, whose counts add up', async () => {
  const gids = ['order-1', 'order-2', 'order-3']
  for (const gid of gids) await submitTransfer(gid)
  const list = () => run('tx', 'list', '--retrying', '--output', 'gids')
  await vi.waitFor(async () => expect((await list()).stdout.trim().split('\n').sort()).toEqual(gids), {
    timeout: WAIT_MS_MAX,
  })
  const { stdout: piped } = await list()
  const preview = await runWith(piped, ['bulk', 'preview', 'pause', '--gids', '-'])
  expect(preview.stdout).toContain('It would act on 3 transaction(s)')
  const start = [
    'bulk',
    'start',
    'pause',
    '--gids',
    '-',
    '--reason',
    'the bank is being moved',
    '--canary',
    '0',
  ]
  expect(await runWith(piped, start)).toMatchObject({ code: 1, stdout: '' })
  const started = await runWith(piped, [...start, '--yes', '--output', 'json'])
  expect(started).toMatchObject({ code: 0 })
  const { id } = JSON.parse(started.stdout)
  await vi.waitFor(
    async () =>
      expect((await run('bulk', 'show', id)).stdout).toContain(
        'total     3 = 0 waiting + 3 given + 0 refused',
      ),
    { timeout: WAIT_MS_MAX },
  )
  expect((await run('tx', 'list', '--paused', '--output', 'gids')).stdout.trim().split('\n').sort()).toEqual(
    gids,
  )
  expect((await run('bulk', 'list')).stdout).toContain('the bank is being moved')
  expect((await run('bulk', 'show', 'aaaaaaaaaaaaaaaa')).code).toBe(4)
})
