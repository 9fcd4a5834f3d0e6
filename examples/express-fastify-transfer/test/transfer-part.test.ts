import { expect, it } from 'vitest'
import { parseTransferPart } from '../src/transfer-part.ts'

it('takes what it knows of a payload', () => {
  const part = { account: 'alice', cents: 1 }
  expect(parseTransferPart({ ...part, more: true })).toEqual(part)
})

for (const payload of [
  undefined,
  null,
  'alice',
  {},
  { account: '', cents: 1 },
  { account: 1, cents: 1 },
  { account: 'alice' },
  { account: 'alice', cents: '1' },
  { account: 'alice', cents: 0 },
  { account: 'alice', cents: -1 },
  { account: 'alice', cents: 0.5 },
  { account: 'alice', cents: 2 ** 53 },
]) {
  it(`refuses ${JSON.stringify(payload)}`, () => {
    expect(() => parseTransferPart(payload)).toThrow(TypeError)
  })
}
