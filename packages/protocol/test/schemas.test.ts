import type {
  BranchView,
  Fault,
  JsonValue,
  OpView,
  Problem,
  RetryPolicy,
  SagaBranchRequest,
  SubmitRequest,
  SubmitView,
  TransactionPage,
  TransactionSummary,
  TransactionView,
} from '@counterstep/protocol'
import { BRANCHES_MAX, isGid } from '@counterstep/protocol'
import {
  type branchViewSchema,
  type faultSchema,
  gidSchema,
  jsonValueSchema,
  NAMED_SCHEMAS,
  type opViewSchema,
  type problemSchema,
  type retryPolicySchema,
  type sagaBranchRequestSchema,
  submitRequestSchema,
  type submitViewSchema,
  type transactionPageSchema,
  type transactionSummarySchema,
  type transactionViewSchema,
} from '@counterstep/protocol/schemas'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'

describe('the schemas', () => {
  it('infer the types of wire.ts, in both directions', () => {
    expectTypeOf<z.output<typeof jsonValueSchema>>().toEqualTypeOf<JsonValue>()
    expectTypeOf<z.output<typeof retryPolicySchema>>().toEqualTypeOf<Partial<RetryPolicy>>()
    expectTypeOf<z.output<typeof sagaBranchRequestSchema>>().toEqualTypeOf<SagaBranchRequest>()
    expectTypeOf<z.output<typeof submitRequestSchema>>().toEqualTypeOf<SubmitRequest>()
    expectTypeOf<z.output<typeof opViewSchema>>().toEqualTypeOf<OpView>()
    expectTypeOf<z.output<typeof branchViewSchema>>().toEqualTypeOf<BranchView>()
    expectTypeOf<z.output<typeof transactionViewSchema>>().toEqualTypeOf<TransactionView>()
    expectTypeOf<z.output<typeof submitViewSchema>>().toEqualTypeOf<SubmitView>()
    expectTypeOf<z.output<typeof transactionSummarySchema>>().toEqualTypeOf<TransactionSummary>()
    expectTypeOf<z.output<typeof transactionPageSchema>>().toEqualTypeOf<TransactionPage>()
    expectTypeOf<z.output<typeof faultSchema>>().toEqualTypeOf<Fault>()
    expectTypeOf<z.output<typeof problemSchema>>().toEqualTypeOf<Problem>()
  })

  it('agree with isGid on every text', () => {
    const texts = fc.oneof(
      fc.string({ maxLength: 130, unit: 'binary-ascii' }),
      fc.string({ minLength: 126, maxLength: 130, unit: fc.constantFrom('a', '!', '~') }),
      fc.constantFrom('', '.', '..', '...', '.a', 'ä', ';', "'", '"', '\\', ' '),
    )
    fc.assert(fc.property(texts, (text) => gidSchema.safeParse(text).success === isGid(text)))
  })

  it('accept a short saga and refuse an unknown field, no branch and one branch too many', () => {
    const branch = { action: 'http://127.0.0.1:9001/debit' }
    const accepts = (value: unknown) => submitRequestSchema.safeParse(value).success
    expect(accepts({ branches: [branch] })).toBe(true)
    expect(accepts({ branches: [{ ...branch, payload: { amount: [1, null, 'x'] } }] })).toBe(true)
    expect(accepts({ branches: [branch], colour: 'red' })).toBe(false)
    expect(accepts({ branches: [] })).toBe(false)
    expect(accepts({ branches: Array.from({ length: BRANCHES_MAX + 1 }, () => branch) })).toBe(false)
  })

  it('accept every JSON value as payload', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => jsonValueSchema.safeParse(value).success))
  })

  it('can all be written as JSON Schema', () => {
    for (const schema of Object.values(NAMED_SCHEMAS)) {
      expect(() => z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' })).not.toThrow()
    }
  })
})
