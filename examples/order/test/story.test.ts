import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const README = new URL('../README.md', import.meta.url)
const FIRST_PAGE = new URL('../../../README.md', import.meta.url)
const ORDER = new URL('../src/order.ts', import.meta.url)
const LIMIT_MS = 120_000

async function run(...args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [exitCode] = await ended
  return { output, errors, exitCode }
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-order-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it(
  'The command of the example kills its shop, goes on, undoes an order, and tells the story of its README',
  async () => {
    const folder = join(makeFolder(), 'kept')
    const { output, errors, exitCode } = await run('--keep', folder)
    expect(errors).toBe('')
    expect(output).toBe(/```text\n([\s\S]*?)```/.exec(readFileSync(README, 'utf8'))?.[1])
    expect(exitCode).toBe(0)

    const read = (file: string, sql: string) => {
      const database = new DatabaseSync(join(folder, file), { readOnly: true })
      onTestFinished(() => database.close())
      return database
        .prepare(sql)
        .all()
        .map((row) => Object.values(row).join(' '))
    }
    expect(read('shop.db', 'SELECT sku FROM reservation')).toEqual(['cup', 'desk'])
    expect(read('shop.db', 'SELECT text FROM mail')).toEqual([
      'your cup is parcel 1',
      'your desk is parcel 2',
    ])
    expect(read('partners.db', 'SELECT cents FROM payment')).toEqual(['900', '70000'])
    expect(read('partners.db', 'SELECT sku FROM parcel')).toEqual(['cup', 'desk'])
    // Three reservations and two mails were done, and the one that was asked for twice has one row.
    const done = "SELECT count(*) FROM counterstep_barrier WHERE op = 'action' AND reason = 'action'"
    expect(read('shop.db', done)).toEqual(['5'])
  },
  LIMIT_MS,
)

it("The project's first page shows the function of the workflow as it is", () => {
  const shown =
    /```ts\n(async \(ctx[\s\S]*?)\n```/.exec(readFileSync(FIRST_PAGE, 'utf8'))?.[1] ?? 'no function'
  expect(readFileSync(ORDER, 'utf8')).toContain(shown.replace(/^/gm, '    '))
})

it('The command of the example keeps its databases in no folder that is there already', async () => {
  const { errors, exitCode } = await run('--keep', makeFolder())
  expect(errors).toMatch(/EEXIST/)
  expect(exitCode).toBe(1)
})
