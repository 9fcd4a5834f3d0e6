import { expect, it } from 'vitest'
import { parseTransferPart } from '../src/transfer-part.ts'

it("The known fields of a transfer's payload are taken, and others are dropped", () => {
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
  it(`The payload ${JSON.stringify(payload)} of a transfer is refused`, () => {
    expect(() => parseTransferPart(payload)).toThrow(TypeError)
  })
}
