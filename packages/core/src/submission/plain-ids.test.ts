import type { Gid } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { findUnplainIds } from './plain-ids.ts'

function listCodes(gid: string | undefined, ...ids: string[]): readonly string[] {
  return findUnplainIds(
    gid as Gid | undefined,
    ids.map((id) => ({ id })),
  ).map(({ code, path }) => `${code} ${path}`)
}

describe('S39: plain ids', () => {
  it('Plain ids are all gids without capital letters and all branch ids without a dash', () => {
    expect(
      listCodes('0190a7c2-7f3e-7b1a-9c55-0f2d6a1b8e77', '01', 'debit_account', 'a.b:c', 'Debit'),
    ).toEqual([])
    expect(listCodes(undefined)).toEqual([])
  })

  it('Ids that DTM’s barriers could confuse are not plain', () => {
    expect(listCodes('ORDER-1', '01')).toEqual(['SAGA_GID_INVALID /gid'])
    expect(listCodes('order-1a', '01', '1-01')).toEqual(['SAGA_BRANCH_ID_INVALID /branches/1/id'])
    expect(listCodes('Pay', '-')).toEqual(['SAGA_GID_INVALID /gid', 'SAGA_BRANCH_ID_INVALID /branches/0/id'])
  })
})
