import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { auditBank } from '@counterstep/example-bank'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from './test-bank.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

function startBank(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no stdout')
  const [line] = await once(createInterface(child.stdout), 'line')
  return String(line)
}

it('The program of the bank runs one bank, prints its address in one line, and stops on SIGTERM', async () => {
  const path = temporaryFile()
  const child = startBank('--port', '0', '--data', path, '--name', 'bank-a', '--accounts', '3')
  const { url, name } = JSON.parse(await firstLine(child)) as { url: string; name: string }
  expect(name).toBe('bank-a')
  const query = 'gid=g&trans_type=saga&branch_id=01&op=action'
  const response = await fetch(`${url}/debit?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ account: 'account-3', amountCents: 1 }),
  })
  expect(await response.json()).toEqual({ account: 'account-3', balanceCents: 999_999 })
  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
  expect(auditBank(path)).toMatchObject({ effects: 1, wrongBalances: [] })
})

it('The barrier holds where two processes serve one file', async () => {
  const path = temporaryFile()
  const args = ['--port', '0', '--data', path, '--durability', 'normal']
  const urls: string[] = []
  for (let n = 0; n < 2; n++) {
    urls.push((JSON.parse(await firstLine(startBank(...args))) as { url: string }).url)
  }
  const call = async (gid: string, op: string, at: number): Promise<number> => {
    const route = op === 'action' ? 'debit' : 'debit-undo'
    const response = await fetch(
      `${urls[at % 2]}/${route}?gid=${gid}&trans_type=saga&branch_id=01&op=${op}`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ account: 'alice', amountCents: 1 }),
      },
    )
    await response.body?.cancel()
    return response.status
  }
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        const gid = `gid-${round}-${n}`
        const ops = n % 2 === 0 ? ['action', 'compensate', 'action'] : ['compensate', 'action', 'action']
        const statuses = await Promise.all(ops.map((op, at) => call(gid, op, n + at)))
        for (const status of statuses) expect([200, 409]).toContain(status)
        expect(await call(gid, 'compensate', n)).toBe(200)
      }),
    )
  }
  const audit = auditBank(path)
  expect(audit).toMatchObject({ wrongBalances: [], wrongOrders: [], repeatedEffects: [], calls: 400 })
  expect(audit.balanceCents).toBe(audit.initialCents)
  // Without both, the test would say nothing about either.
  expect(audit.nullCompensations).toBeGreaterThan(0)
  expect(audit.effects).toBeGreaterThan(0)
})

it('The program of the bank does not start without a file or with a wrong port', async () => {
  for (const args of [
    [],
    ['--data', temporaryFile(), '--port', 'http'],
    ['--data', temporaryFile(), '--port', '65536'],
  ]) {
    const child = startBank(...args)
    expect((await once(child, 'exit'))[0]).not.toBe(0)
  }
})
