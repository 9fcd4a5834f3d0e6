import { describe, expect, it } from 'vitest'
import { NOW, type Reply, runLine } from './run-line.ts'
import { PLAN, STUCK } from './views.ts'

const TX = '/v1/transactions/order-4711'
const reply = (path: string, body: unknown, status = 200): Readonly<Record<string, Reply>> => ({
  [path]: { status, body },
})
const preview = (more: object = {}) => ({
  ...reply(`GET ${TX}`, STUCK),
  ...reply(`POST ${TX}/preview`, { ...PLAN, ...more }),
})
const problem = (code: string, detail = 'why') => ({ code, detail, status: 409, title: 'x', type: 'x' })

describe('a command', () => {
  it('A command shows its plan, asks, and is given with that plan and an id', async () => {
    const replies = { ...preview(), ...reply(`POST ${TX}/abort`, STUCK) }
    const run = await runLine(['tx', 'abort', 'order-4711', '--reason', 'late'], { replies, typed: 'y' })
    expect(run.code).toBe(0)
    expect(run.asked).toEqual(['Abort transaction order-4711? [y/N] '])
    expect(run.stderr[0]).toContain('What abort of order-4711 does')
    expect(JSON.parse(run.sent.findLast(({ method }) => method === 'POST')?.body ?? '')).toEqual({
      commandId: expect.stringMatching(/^[\w-]{36}$/),
      reason: 'late',
      planId: 'plan-1',
    })
    // It says what was given, and not that it has helped.
    expect(run.stdout[0]).toBe('order-4711: the abort is given, and durable.  ◀ aborting')
    expect(run.stderr.at(-1)).toBe('What comes of it shows counterstep tx watch order-4711')
  })

  it('A command that is not agreed to is not given', async () => {
    for (const typed of ['', 'n', 'no', 'yep', 'Y E S']) {
      const run = await runLine(['tx', 'retry', 'order-4711'], { replies: preview(), typed })
      expect(run).toMatchObject({ code: 1, stdout: [] })
      expect(run.stderr.at(-1)).toBe('counterstep: Nothing was done.')
      expect(run.sent.map(({ url }) => url)).toEqual([`${TX}/preview`, TX])
    }
  })

  it('Without a terminal a command is not given, and nothing is sent; with --yes it is', async () => {
    const without = await runLine(['tx', 'retry', 'order-4711'])
    expect(without).toMatchObject({ code: 1, sent: [], stdout: [] })
    expect(without.stderr[0]).toContain('There is no terminal to ask at')
    const replies = reply(`POST ${TX}/retry`, STUCK)
    const given = await runLine(['tx', 'retry', 'order-4711', '--yes', '--command-id', 'mine'], { replies })
    expect(given.code).toBe(0)
    const [first, ...looks] = given.sent
    expect(first).toEqual({ method: 'POST', url: `${TX}/retry`, body: '{"commandId":"mine"}' })
    expect(looks.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('A command that would be refused is shown as that, and not asked about', async () => {
    const refusal = { code: 'SAGA_ALREADY_FINAL', detail: 'it has succeeded' }
    const run = await runLine(['tx', 'abort', 'order-4711', '--reason', 'r'], {
      replies: preview({ refusal, steps: [] }),
      typed: 'y',
    })
    expect(run).toMatchObject({ code: 2, asked: [] })
    expect(run.stderr.join('\n')).toContain('it has succeeded (SAGA_ALREADY_FINAL)')
  })

  it('An edit of a call that may have taken effect needs the confirmation', async () => {
    const replies = {
      ...preview({ needs: ['reason', 'confirm'] }),
      ...reply(`POST ${TX}/ops/debit/compensate/edit`, STUCK),
    }
    const args = [
      'tx',
      'edit',
      'order-4711',
      'debit.compensate',
      '--reason',
      'moved',
      '--new-url',
      'bank-a:/v2',
    ]
    const without = await runLine(args, { replies, typed: 'y' })
    expect(without).toMatchObject({ code: 1, asked: [] })
    const run = await runLine([...args, '--confirm', 'no-call-took-effect', '--header', 'x-a: b'], {
      replies,
      typed: 'yes',
    })
    expect(run.code).toBe(0)
    expect(JSON.parse(run.sent.findLast(({ method }) => method === 'POST')?.body ?? '')).toMatchObject({
      reason: 'moved',
      planId: 'plan-1',
      url: 'bank-a:/v2',
      headers: { 'x-a': 'b' },
      confirm: 'no-call-took-effect',
    })
  })

  it('After an edit the next answer of its call is printed, and not the one before it', async () => {
    const [debit, credit] = STUCK.branches
    const [action, undo] = debit?.ops ?? []
    if (debit === undefined || credit === undefined || action === undefined || undo === undefined)
      throw new Error('the view has no such call')
    const given = { ...STUCK, trail: [{ ...STUCK.trail?.[0], id: 'c2', at: NOW - 5_000 }] }
    const edit = ['tx', 'edit', 'order-4711', 'debit.compensate', '--reason', 'r', '--new-url', 'bank-a:/v2']
    const runEdit = (seen: unknown) =>
      runLine([...edit, '--command-id', 'c2', '--yes'], {
        replies: {
          ...reply(`POST ${TX}/ops/debit/compensate/edit`, given),
          ...reply(`GET ${TX}`, seen),
        },
      })
    const silent = await runEdit(given)
    expect(silent.stdout.slice(1)).toEqual(['debit.compensate is due now. It has not answered within 2 s.'])
    const { nextAt: _, ...done } = { ...undo, state: 'succeeded', statusCode: 200, endedAt: NOW }
    const ended = { ...given, status: 'failed', finishedAt: NOW }
    const answered = await runEdit({ ...ended, branches: [{ ...debit, ops: [action, done] }, credit] })
    expect(answered.stdout[1]).toBe('debit.compensate was called again: it is done.')
    expect(answered.stdout[2]).toContain('WHY  Everything that may have run is undone')
    expect(answered.stderr).toEqual([])
    const again = { ...undo, statusCode: 404, endedAt: NOW }
    const failed = await runEdit({ ...given, branches: [{ ...debit, ops: [action, again] }, credit] })
    expect(failed.stdout[1]).toBe('debit.compensate was called again: it answered 404.')
    expect(failed.stdout.join()).toContain('DO   The path is most often wrong.')
  })

  it('A skip, a pause and the retry of one call send what they say', async () => {
    const skip = await runLine(
      [
        'tx',
        'skip',
        'order-4711',
        'debit.compensate',
        '--done-by',
        'hand',
        '--reason',
        'r',
        '--answer',
        '{"id":1}',
        '--yes',
      ],
      { replies: reply(`POST ${TX}/ops/debit/compensate/skip`, STUCK) },
    )
    expect(JSON.parse(skip.sent[0]?.body ?? '')).toMatchObject({
      doneBy: 'hand',
      answer: { id: 1 },
      reason: 'r',
    })
    const pause = await runLine(['tx', 'pause', 'order-4711', '--until', '2h', '--reason', 'r', '--yes'], {
      replies: reply(`POST ${TX}/pause`, STUCK),
    })
    const until: number = JSON.parse(pause.sent[0]?.body ?? '').until
    expect(Math.abs(until - Date.now() - 7_200_000)).toBeLessThan(60_000)
    const retry = await runLine(['tx', 'retry', 'order-4711', '--op', 'debit.compensate', '--yes'], {
      replies: reply(`POST ${TX}/ops/debit/compensate/retry`, STUCK),
    })
    expect(retry.code).toBe(0)
  })

  it('The exit code says whether it was refused, is unknown, or has no such transaction', async () => {
    const retry = ['tx', 'retry', 'order-4711', '--yes', '--command-id', 'mine']
    const refused = await runLine(retry, { replies: reply(`POST ${TX}/retry`, problem('SAGA_PAUSED'), 409) })
    expect(refused).toMatchObject({ code: 2, stderr: ['counterstep: why (SAGA_PAUSED)'] })
    expect(await runLine(retry)).toMatchObject({ code: 4 })
    const broken = await runLine(retry, { replies: reply(`POST ${TX}/retry`, '<html>', 404) })
    expect(broken.code).toBe(3)
    expect(broken.stderr[0]).toBe(
      'It is not known whether it was given. Give it again with --command-id mine',
    )
    const bug = await runLine(retry, { replies: reply(`POST ${TX}/retry`, problem('SAGA_INTERNAL'), 500) })
    expect(bug.code).toBe(3)
    const job = await runLine(['bulk', 'show', 'x'], {
      replies: reply('GET /v1/bulk/x', problem('SAGA_UNKNOWN_JOB'), 404),
    })
    expect(job.code).toBe(4)
  })

  it.each([
    ['{"cents":700}', { payload: { cents: 700 } }],
    [
      '{"account":1234567890123456789,"cents":700}',
      { body: '{"account":1234567890123456789,"cents":700}', contentType: 'application/json' },
    ],
  ])('An edit sends the payload %s with all its digits', async (payload, content) => {
    const path = `${TX}/ops/debit/compensate/edit`
    const line = ['tx', 'edit', 'order-4711', 'debit.compensate', '--reason', 'r', '--payload', payload]
    const { sent } = await runLine([...line, '--command-id', 'c2', '--yes'], {
      replies: reply(`POST ${path}`, STUCK),
    })
    const edits = sent.filter(({ url }) => url.startsWith(path) && !url.includes('dryRun'))
    expect(edits.map(({ body }) => JSON.parse(body))).toMatchObject([content])
  })

  it('A confirmation that the server misses is named as the option', async () => {
    const run = await runLine(
      ['tx', 'edit', 'order-4711', 'debit.action', '--reason', 'r', '--new-url', 'http://x/', '--yes'],
      {
        replies: reply(
          `POST ${TX}/ops/debit/action/edit`,
          problem('SAGA_CONFIRMATION_REQUIRED', 'confirm with "no-call-took-effect"'),
          422,
        ),
      },
    )
    expect(run).toMatchObject({
      code: 2,
      stderr: [
        'counterstep: A call of it may have taken effect. Look at the service; if none has, add --confirm no-call-took-effect. (SAGA_CONFIRMATION_REQUIRED)',
      ],
    })
  })

  it('All faults of a refused edit are printed', async () => {
    const faults = [
      { code: 'SAGA_URL_INVALID', path: '/url', message: 'must be http' },
      { code: 'SAGA_TIMEOUT_INVALID', path: '/timeoutMs', message: 'is too long' },
    ]
    const run = await runLine(
      ['tx', 'edit', 'order-4711', 'debit.action', '--reason', 'r', '--new-url', 'x', '--yes'],
      {
        replies: reply(
          `POST ${TX}/ops/debit/action/edit`,
          { ...problem('SAGA_URL_INVALID', 'must be http'), faults },
          422,
        ),
      },
    )
    expect(run).toMatchObject({
      code: 2,
      stderr: [
        'counterstep: /url: must be http (SAGA_URL_INVALID)',
        'counterstep: /timeoutMs: is too long (SAGA_TIMEOUT_INVALID)',
      ],
    })
  })
})

describe('a look', () => {
  const row = (gid: string) => ({
    ...{ gid, kind: 'saga', status: 'aborting', createdAt: NOW, updatedAt: NOW, dueAt: NOW, epoch: 1 },
    ...{ retrying: true, attention: true },
  })
  const page = reply('GET /v1/transactions', {
    items: [row('a'), row('b')],
    cursor: 'c',
    searchedTo: NOW - 60_000,
  })

  it('A list goes on page by page up to its limit, and says that there may be more', async () => {
    const run = await runLine(['tx', 'list', '--output', 'gids', '--limit', '4', '--from', '2026-11-24'], {
      replies: page,
    })
    expect(run.stdout).toEqual(['a', 'b', 'a', 'b'])
    expect(run.stderr).toEqual([
      'There may be more than these 4, searched back to 2026-11-24T03:00:12.000Z; see --limit.',
    ])
    expect(run.sent.map(({ url }) => url)).toEqual([
      '/v1/transactions?createdFrom=1795478400000&limit=4',
      '/v1/transactions?createdFrom=1795478400000&limit=2&cursor=c',
    ])
  })

  it('The outputs of a list are a table, one JSON value, and a JSON value a line', async () => {
    const list = (output: string) =>
      runLine(['tx', 'list', '--limit', '2', '--output', output], { replies: page })
    expect((await list('table')).stdout[0]).toMatch(/^GID/)
    expect(JSON.parse((await list('json')).stdout.join('\n'))).toEqual({ items: [row('a'), row('b')] })
    expect((await list('jsonl')).stdout.map((line) => JSON.parse(line))).toEqual([row('a'), row('b')])
  })

  it('A transaction that is final is shown by watch, which then ends', async () => {
    const run = await runLine(['tx', 'watch', 'order-4711'], {
      replies: reply(`GET ${TX}`, { ...STUCK, status: 'failed', finishedAt: NOW }),
    })
    expect(run.code).toBe(0)
    expect(run.stdout.at(-1)).toContain('↺ failed')
  })

  it('The requests are printed as the branches get them', async () => {
    const ops = [
      {
        ...{
          branchId: 'debit',
          op: 'action',
          method: 'POST',
          url: 'http://bank/debit',
          body: '{"cents":1}\u001b',
        },
        ...{ contentType: 'application/json', headers: { 'x-a': 'b' }, timeoutMs: 10_000 },
      },
    ]
    const run = await runLine(['tx', 'request', 'order-4711'], {
      replies: reply(`GET ${TX}/request`, { gid: 'order-4711', kind: 'saga', submit: {}, ops }),
    })
    expect(run.stdout).toEqual([
      'debit.action',
      '  POST http://bank/debit  (time-out 10000 ms)',
      '  x-a: b',
      '  content-type: application/json',
      '',
      '  {"cents":1}\u{fffd}',
    ])
  })

  it('Problems are printed with the advice of the guide', async () => {
    const items = [
      { problem: 'bank-a compensate 500', waiting: 128, attention: 3, oldestAt: NOW - 3_600_000 },
    ]
    const run = await runLine(['problems'], { replies: reply('GET /v1/problems', { asOf: NOW, items }) })
    expect(run.stdout[1]).toMatch(/^bank-a compensate 500 +128 +3 +1 h ago +The service runs and fails/)
  })
})

describe('a bulk job', () => {
  const order = { command: 'retry', reason: 'mended' }
  const job = {
    ...{
      id: 'aklmbcdefghijnop',
      ...order,
      by: { via: 'local' },
      createdAt: NOW,
      ratePerSecond: 20,
      canary: 10,
    },
    ...{ state: 'canary', stateSince: NOW },
  }
  const bulk = reply('POST /v1/bulk', { ...job, count: 2, isExact: true, groups: [], samples: ['a', 'b'] })
  const start = ['bulk', 'start', 'retry', '--reason', 'mended']

  it('Gids of a list that is piped in are previewed, asked about and sent, each once', async () => {
    const run = await runLine([...start, '--gids', '-'], {
      replies: bulk,
      typed: 'y',
      input: 'a\nb\n\na\r\n',
    })
    expect(run).toMatchObject({ code: 0, asked: ['Start to retry 2 transaction(s)? [y/N] '] })
    expect(run.sent.map(({ url, body }) => [url, JSON.parse(body)])).toEqual([
      ['/v1/bulk?dryRun=true', { ...order, gids: ['a', 'b'] }],
      ['/v1/bulk', { ...order, gids: ['a', 'b'] }],
    ])
    expect(run.stdout[0]).toContain('bulk job aklmbcdefghijnop: retry  canary')
  })

  it('A job that was agreed to gets the list of its preview', async () => {
    const previewed = 'Rk3f0aJxT9bQ2w_Z'
    const replies = reply('POST /v1/bulk', {
      ...job,
      count: 2,
      isExact: true,
      groups: [],
      samples: ['a'],
      previewed,
    })
    const run = await runLine([...start, '--attention'], { replies, typed: 'y' })
    const filtered = { ...order, filter: 'attention=true' }
    expect(run.sent.map(({ body }) => JSON.parse(body))).toEqual([filtered, { ...filtered, previewed }])
  })

  it('A filter is sent as the parameters of a list', async () => {
    const filter = ['--problem', 'bank-a compensate 500', '--attention', '--rate', '5']
    const run = await runLine([...start, ...filter, '--yes'], { replies: bulk })
    expect(JSON.parse(run.sent[0]?.body ?? '')).toEqual({
      ...order,
      filter: 'problem=bank-a+compensate+500&attention=true',
      ratePerSecond: 5,
    })
  })

  it('A job for all transactions, for none, or for both gids and a filter is not started', async () => {
    const texts = [
      [[], ''],
      [['--gids', '-'], '\n'],
      [['--gids', '-', '--attention'], 'a'],
      [['--gids', '-'], Array.from({ length: 1_001 }, (_, at) => `g${at}`).join('\n')],
    ] as const
    for (const [more, input] of texts) {
      expect(await runLine([...start, ...more, '--yes'], { replies: bulk, input })).toMatchObject({
        code: 1,
        sent: [],
      })
    }
  })

  it('A start whose answer is lost is not sent again', async () => {
    const run = await runLine([...start, '--attention', '--yes'], {
      replies: reply('POST /v1/bulk', 'x', 502),
    })
    expect(run.code).toBe(3)
    expect(run.sent).toHaveLength(1)
    expect(run.stderr[0]).toBe('It is not known whether the job was started: see counterstep bulk list')
  })
})
