import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ServeProcess } from './serve-process.ts'

const CANARY = 'canary-3141592'
// Nothing listens at port 1, so a connection to it is refused.
const STORES = [
  ['mysql', 'mysql://u@127.0.0.1:1/x'],
  ['redis', 'redis://u@127.0.0.1:1'],
  ['redis cluster', 'redis-cluster://u@127.0.0.1:1'],
] as const
const PASSWORD = { COUNTERSTEP_STORE_PASSWORD: CANARY }

function serving(store: string, ...more: readonly string[]): ServeProcess {
  return new ServeProcess(['serve', '--port', '0', '--ready-json', '--store', store, ...more], PASSWORD)
}

function readLines({ stdout }: ServeProcess): readonly Readonly<Record<string, unknown>>[] {
  return stdout.map((line) => JSON.parse(line) as Record<string, unknown>)
}

for (const [title, store] of STORES) {
  describe(`a start on a ${title} that does not answer`, () => {
    it(`A start on a ${title} that does not answer reports each wait, then ends with the code and one sentence`, async () => {
      const process = serving(store, '--store-wait-ms', '3000')
      expect((await process.ended()).code).toBe(1)
      const lines = readLines(process)
      expect(lines.find(({ msg }) => msg === 'waiting for the store')).toMatchObject({
        place: store,
        waitMs: 3_000,
        reason: expect.stringMatching(/^SAGA_STORE_UNAVAILABLE: /),
      })
      expect(lines.filter(({ level }) => level === 50)).toEqual([
        expect.objectContaining({
          code: 'SAGA_STORE_UNAVAILABLE',
          msg: expect.stringMatching(/^cannot start: SAGA_STORE_UNAVAILABLE: .+/),
        }),
      ])
      expect(process.output).not.toContain('"stack"')
      expect(process.output).not.toContain(CANARY)
    })

    it(`A start on a ${title} that does not answer ends at once on a signal`, async () => {
      const process = serving(store)
      await process.logged('waiting for the store')
      process.signal('SIGINT')
      const { code, tookMs } = await process.ended()
      expect(code).toBe(0)
      expect(tookMs).toBeLessThan(2_000)
      expect(process.stderr).toEqual([])
      // This need not be the last line: the logger writes beside the event loop, and an exit may overtake it.
      expect(readLines(process).map(({ msg }) => msg)).toContain('stopped')
    })
  })
}

// The list of processes of other systems cannot be read this way.
it.runIf(process.platform === 'linux')(
  'A password in a flag disappears from the list of processes',
  async () => {
    const store = `mysql://u:${CANARY}@127.0.0.1:1/x`
    const serve = new ServeProcess(['serve', '--port', '0', '--store', store])
    await serve.logged('waiting for the store')
    expect(readFileSync(`/proc/${serve.pid}/cmdline`, 'utf8')).toMatch(/^counterstep\0*$/)
    serve.signal('SIGTERM')
    await serve.ended()
    expect(serve.output).toContain('list of processes')
    expect(serve.output).not.toContain(CANARY)
  },
)

describe('counterstep migrate', () => {
  for (const store of ['sqlite:a.db', 'redis://127.0.0.1:1']) {
    it(`The command migrate has nothing to do for ${store}`, async () => {
      const migrate = new ServeProcess(['migrate', '--store', store])
      expect((await migrate.ended()).code).toBe(0)
      const [family] = store.split(':')
      expect(migrate.stdout).toEqual([`nothing to do: a ${family} store needs no migration`])
      expect(migrate.stderr).toEqual([])
    })
  }

  it('The command migrate waits for its server, then ends with the code and one sentence', async () => {
    const args = ['migrate', '--store', 'mysql://u@127.0.0.1:1/x', '--store-wait-ms', '3000']
    const migrate = new ServeProcess(args, PASSWORD)
    expect((await migrate.ended()).code).toBe(1)
    expect(migrate.stdout).toEqual([])
    expect(migrate.stderr[0]).toMatch(
      /^counterstep: waiting for mysql:\/\/u@127\.0\.0\.1:1\/x .*ECONNREFUSED/,
    )
    expect(migrate.stderr.at(-1)).toMatch(/^counterstep: SAGA_STORE_UNAVAILABLE: .*ECONNREFUSED/)
    expect(migrate.output).not.toContain(CANARY)
  })

  it('The command migrate ends at once on a signal', async () => {
    const migrate = new ServeProcess(['migrate', '--store', 'mysql://u@127.0.0.1:1/x'])
    await migrate.printed('waiting for')
    migrate.signal('SIGINT')
    const { code, tookMs } = await migrate.ended()
    expect(code).toBe(1)
    expect(tookMs).toBeLessThan(2_000)
  })

  it('The command migrate shows its help', async () => {
    const migrate = new ServeProcess(['migrate', '--help'])
    expect((await migrate.ended()).code).toBe(0)
    expect(migrate.stdout[0]).toContain('counterstep migrate --store mysql://')
  })
})
