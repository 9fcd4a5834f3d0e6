import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { runDtmCheck } from '../src/dtm-check-command.ts'

const CONTENT = {
  '/api/dtmsvr/all': {
    next_position: '',
    transactions: [
      { gid: 'good', trans_type: 'saga', status: 'succeed' },
      { gid: 'bad ä', trans_type: 'xa', status: 'prepared' },
    ],
  },
  '/api/dtmsvr/query': { branches: [{ branch_id: '01', op: 'action', url: 'http://bank.test/a' }] },
  '/api/dtmsvr/scanKV': { next_position: '', kv: [{ k: 't', v: '[{"url":"http://mail.test/x"}]' }] },
}

/** Plays a DTM that shows these answers by path. */
async function openDtm(content: Readonly<Record<string, unknown>> = CONTENT) {
  const server = createServer((request, response) => {
    const answer = content[request.url?.split('?')[0] ?? '']
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function run(args: readonly string[], environment = {}) {
  const said = { out: '', err: '' }
  const code = await runDtmCheck(args, environment, {
    out: (text) => {
      said.out += text
    },
    err: (text) => {
      said.err += text
    },
    isTerminal: false,
  })
  return { code, ...said }
}

describe('counterstep dtm-check', () => {
  it('It says line by line what would be refused, what is needed, which hosts are called and what is unfinished', async () => {
    await using dtm = await openDtm()
    const { code, out, err } = await run(['--dtm', dtm.url])
    expect([code, err]).toEqual([1, ''])
    expect(out.split('\n')).toEqual([
      'Would be refused:',
      '  gid must be 1–128 printable ASCII characters without space, quote, backslash or semicolon, and not . or .. (1, the first bad ä)',
      '',
      'The server needs:',
      '  --accept-new-kinds (1, the first bad ä)',
      '',
      'Hosts that are called, for --allow-targets:',
      '  http://bank.test (2, the first good)',
      '  http://mail.test (1, the first t)',
      '',
      'Unfinished in DTM: 1, the first bad ä. DTM has to end them; they do not come along.',
      '2 transactions and 1 topics read. One reason to refuse something.',
      '',
    ])
  })

  it('It ends with 0 where nothing would be refused, and judges by the list of targets', async () => {
    await using dtm = await openDtm({ ...CONTENT, '/api/dtmsvr/all': { transactions: null } })
    expect(await run(['--dtm', `${dtm.url}/api/dtmsvr/`])).toMatchObject({
      code: 0,
      out: expect.stringContaining('Nothing would be refused.'),
    })
    const judged = await run(['--dtm', dtm.url], { COUNTERSTEP_ALLOW_TARGETS: 'https://bank.test' })
    expect(judged.out).toContain('http://mail.test: a branch URL')
    expect(judged.code).toBe(1)
  })

  it('S23: What the old DTM calls its transactions rewrites no line of the terminal and begins none of its own', async () => {
    const gid = 'bad\nNothing would be refused.\u001b[2K'
    const transactions = [
      { gid, trans_type: 'xa', status: 'prepared' },
      { gid, trans_type: `${gid}y`, status: 'prepared' },
    ]
    await using dtm = await openDtm({
      ...CONTENT,
      '/api/dtmsvr/all': { next_position: '', transactions },
      '/api/dtmsvr/scanKV': { next_position: '', kv: [{ k: gid, v: '[]' }] },
    })
    const { code, out } = await run(['--dtm', dtm.url])
    expect(code).toBe(1)
    expect(out).toContain('bad\u{fffd}Nothing would be refused.\u{fffd}[2K')
    expect(out).not.toContain('\u001b')
    expect(out.split('\n').filter((line) => line.startsWith('Nothing'))).toEqual([])
  })

  it('It reads no answer without an end', async () => {
    const endless = createServer((_, response) => {
      const more = () => response.write('x'.repeat(1_048_576)) && setImmediate(more)
      response.on('drain', more)
      more()
    })
    endless.listen(0, '127.0.0.1')
    await once(endless, 'listening')
    const { code, err } = await run(['--dtm', `http://127.0.0.1:${(endless.address() as AddressInfo).port}`])
    expect([code, err]).toEqual([1, 'counterstep: DTM answers more than 67108864 bytes\n'])
    endless.close()
    endless.closeAllConnections()
    await once(endless, 'close')
  })

  it('It says why DTM cannot be read, and what is wrong with its options', async () => {
    await using dtm = await openDtm({})
    expect(await run(['--dtm', dtm.url])).toEqual({
      code: 1,
      out: '',
      err: 'counterstep: /api/dtmsvr/all answers 404\n',
    })
    expect((await run(['--dtm', 'http://127.0.0.1:9'])).err).toMatch(/^counterstep: DTM cannot be read: /)
    for (const args of [
      [],
      ['--dtm'],
      ['--dtm', 'x'],
      ['--dtm', dtm.url, '--limit', '0'],
      ['--dtm', dtm.url, '--x'],
    ])
      expect((await run(args)).err, args.join(' ')).toMatch(/^counterstep: /)
    expect(await run(['--help'])).toMatchObject({ code: 0, out: expect.stringContaining('--allow-targets') })
  })
})
