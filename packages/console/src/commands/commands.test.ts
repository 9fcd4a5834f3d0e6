import type { OpRequestView, OpView, TransactionView } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { allowCommands, allowOpCommands, findMissingScope } from './allow-commands.ts'
import { toCommandLine } from './command-line.ts'
import { nameCommand } from './command-words.ts'
import { listEffects } from './list-effects.ts'
import { readEdit, toEditTexts } from './read-edit.ts'

const op = { branchId: 'debit', op: 'compensate' } as const
const all = { scopes: 'all', isOpen: true } as const

function view(fields: Partial<TransactionView>, ops: readonly OpView[] = []): TransactionView {
  const base = { gid: 'g', kind: 'saga', status: 'submitted', createdAt: 0, updatedAt: 0, epoch: 1 } as const
  return { ...base, branches: [{ id: 'debit', after: [], ops }], ...fields }
}

describe('the words of a command', () => {
  it('The button names the gid, and the op where there is one', () => {
    expect(nameCommand({ gid: 'order-4720', command: 'abort' })).toBe('Abort order-4720')
    expect(nameCommand({ gid: 'g', command: 'skip', op })).toBe('Skip the compensation of debit in g')
  })
  it('The command line quotes what a shell would read, and leaves out the console’s own ids', () => {
    const body = { commandId: 'c', planId: 'p', doneBy: 'hand', reason: "it's done; $HOME" }
    expect(toCommandLine({ gid: 'a&b', command: 'skip', op }, body)).toBe(
      "counterstep tx skip 'a&b' debit.compensate --done-by hand --reason 'it'\\''s done; $HOME'",
    )
    expect(toCommandLine({ gid: 'g', command: 'retry-op', op }, {})).toBe(
      'counterstep tx retry g --op debit.compensate',
    )
  })
})

describe('S23: the command line of a gid that begins with a dash', () => {
  for (const gid of ['-x', '--help', '--url=http://evil.example', '--']) {
    it(`S23: The gid ${gid} stands behind two dashes, so that it is no option`, () => {
      expect(toCommandLine({ gid, command: 'retry' }, {})).toBe(`counterstep tx retry -- ${gid}`)
      expect(toCommandLine({ gid, command: 'retry-op', op }, { reason: '--yes' })).toBe(
        `counterstep tx retry --op debit.compensate --reason=--yes -- ${gid}`,
      )
    })
  }

  it('S23: A branch that begins with a dash is no option either', () => {
    const dashed = { branchId: '--yes', op: 'action' } as const
    expect(toCommandLine({ gid: 'g', command: 'skip', op: dashed }, { reason: 'r' })).toBe(
      'counterstep tx skip --reason r -- g --yes.action',
    )
    expect(toCommandLine({ gid: 'g', command: 'retry-op', op: dashed }, {})).toBe(
      'counterstep tx retry g --op=--yes.action',
    )
  })
})

describe('allowOpCommands', () => {
  const waiting = (wait: object, state: OpView['state'], fields: Partial<TransactionView> = {}) =>
    allowOpCommands(view({ branches: [{ id: 'cool', after: [], ops: [], wait }], ...fields }), 'cool', {
      state,
    })
  it('An op that is called has all', () => {
    expect(allowOpCommands(view({}), 'debit', { state: 'waiting' })).toEqual(['retry-op', 'skip', 'edit'])
    expect(allowOpCommands(view({ status: 'failed' }), 'debit', { state: 'waiting' })).toEqual([])
    expect(allowOpCommands(view({ kind: 'workflow' }), 'debit', { state: 'waiting' })).toEqual([])
  })
  it('A timer that has begun may be skipped, also of a workflow, and nothing else of a wait', () => {
    expect(waiting({ ms: 5_000 }, 'open')).toEqual(['skip'])
    expect(waiting({ ms: 5_000 }, 'open', { kind: 'workflow' })).toEqual(['skip'])
    expect(waiting({ ms: 5_000 }, 'idle')).toEqual([])
    expect(waiting({ signal: 'go' }, 'open')).toEqual([])
  })
})

describe('allowCommands', () => {
  const list = (of: TransactionView) =>
    allowCommands(of, all).map(({ command, refusal }) => `${command} ${refusal ?? 'ok'}`)
  it('A running saga may be retried, paused, aborted and stopped', () => {
    expect(list(view({}))).toEqual(['retry ok', 'pause ok', 'abort ok', 'stop ok'])
  })
  it('A paused one is resumed first', () => {
    const paused = view({ paused: { at: 0, by: { via: 'local' } } })
    expect(list(paused)).toEqual(['resume ok', 'retry it is paused: resume it first', 'abort ok', 'stop ok'])
  })
  it('A prepared one may be submitted, and a decided TCC not aborted', () => {
    expect(list(view({ kind: 'tcc', status: 'prepared' }))).toContain('submit ok')
    expect(list(view({ kind: 'tcc' }))).toContain('abort it is decided already')
  })
  it('A running workflow may be aborted', () => {
    expect(list(view({ kind: 'workflow' }))).toContain('abort ok')
  })
  it('A final one has no commands', () => expect(list(view({ status: 'failed' }))).toEqual([]))
  it('A missing scope is named', () => {
    const reader = { scopes: ['read'], isOpen: false }
    expect(findMissingScope('retry', reader)).toContain('operate')
    expect(findMissingScope('stop', { ...reader, scopes: ['operate'] })).toContain('admin')
    expect(findMissingScope('edit', { ...reader, scopes: ['admin'] })).toContain('payloads')
    expect(findMissingScope('abort', { ...reader, scopes: ['submit'] })).toBeUndefined()
  })
})

describe('listEffects', () => {
  const waiting: OpView = { op: 'compensate', state: 'waiting', attempts: 2, statusCode: 500, endedAt: 50 }
  it('An answer from before the command is no effect of it', () => {
    expect(listEffects(view({}, [waiting]), 60)).toEqual([])
  })
  it('The next answer is, and a failure is called one', () => {
    expect(listEffects(view({}, [{ ...waiting, endedAt: 70 }]), 60)).toEqual([
      { id: 'debit.compensate', tone: 'bad', words: 'debit compensate: 500', at: 70 },
    ])
  })
  it('The end is shown last', () => {
    const undone = view({ status: 'failed', finishedAt: 90 }, [
      { ...waiting, state: 'succeeded', endedAt: 80 },
    ])
    expect(listEffects(undone, 60).map(({ words }) => words)).toEqual([
      'debit is undone',
      'The transaction is failed',
    ])
  })
})

describe('readEdit', () => {
  const current: OpRequestView = {
    branchId: 'debit',
    op: 'action',
    method: 'POST',
    url: 'bank-a:/debit',
    body: '{"cents":1}',
    contentType: 'application/json',
    headers: {},
    timeoutMs: 10_000,
  }
  const texts = toEditTexts(current)
  it('Only what was changed is sent', () => {
    expect(readEdit(current, texts)).toEqual({ body: {} })
    expect(readEdit(current, { ...texts, url: 'bank-b:/debit', timeoutMs: '5' }).body).toEqual({
      url: 'bank-b:/debit',
      timeoutMs: 5,
    })
    expect(readEdit(current, { ...texts, body: '{"cents":2}' }).body).toEqual({ payload: { cents: 2 } })
    const body = '{"account":1234567890123456789,"cents":2}'
    expect(readEdit(current, { ...texts, body }).body).toEqual({ body, contentType: current.contentType })
  })
  it('A body of another type is sent as its text', () => {
    const plain = { ...current, contentType: 'text/plain' }
    expect(readEdit(plain, { ...texts, body: 'x' }).body).toEqual({ body: 'x', contentType: 'text/plain' })
  })
  it('Text that is no JSON is a fault', () => {
    expect(readEdit(current, { ...texts, body: '{' }).fault).toContain('no JSON')
    expect(readEdit(current, { ...texts, headers: 'x' }).fault).toContain('headers')
  })
})
