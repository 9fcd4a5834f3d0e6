import type { BranchCall } from '@counterstep/core'
import type { BranchId, Gid } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { CheckedPayloads } from '../src/checked-payloads.ts'

const FORM = 'application/x-www-form-urlencoded'

interface ReadCall {
  readonly call: BranchCall
  /** Returns how often the payload was read. */
  readonly reads: () => number
}

function formCall(body: string, changed: Partial<BranchCall> = {}): ReadCall {
  let reads = 0
  const call: BranchCall = {
    gid: 'g-1' as Gid,
    kind: 'saga',
    branchId: '01' as BranchId,
    op: 'action',
    attempt: 1,
    epoch: 1,
    acceptedAt: 1,
    method: 'POST',
    url: 'http://127.0.0.1:9/debit',
    get body() {
      reads++
      return body
    },
    contentType: FORM,
    headers: {},
    timeoutMs: 1_000,
    wordsCount: false,
    ...changed,
  }
  return { call, reads: () => reads }
}

it('S40: A form is read once, however often its branch is called', () => {
  const payloads = new CheckedPayloads()
  const { call, reads } = formCall('cents=1')
  for (let attempt = 0; attempt < 5; attempt++) expect(payloads.maySend(call)).toBe(true)
  expect(reads()).toBe(1)
})

it('S39: A form that was stored is refused at each call, and the good one of another branch, op or transaction does not stand for it', () => {
  const payloads = new CheckedPayloads()
  expect(payloads.maySend(formCall('cents=1').call)).toBe(true)
  const others = [
    { branchId: '02' as BranchId },
    { op: 'compensate' as const },
    { gid: 'g-2' as Gid },
    { acceptedAt: 2 },
  ]
  for (const changed of others) {
    const { call } = formCall('gid=victim', changed)
    expect([payloads.maySend(call), payloads.maySend(call)]).toEqual([false, false])
  }
})

it('S40: A bounded number of forms is remembered, and a forgotten one is read again', () => {
  const payloads = new CheckedPayloads()
  const { call, reads } = formCall('cents=1')
  payloads.maySend(call)
  for (let at = 0; at < 10_000; at++) payloads.maySend(formCall('a=1', { gid: `other-${at}` as Gid }).call)
  expect(payloads.maySend(call)).toBe(true)
  expect(reads()).toBe(2)
})
