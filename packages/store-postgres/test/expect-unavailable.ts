import { StoreUnavailableError } from '@counterstep/core'
import { expect } from 'vitest'

export async function expectUnavailable(call: Promise<unknown>, applied: 'no' | 'unknown'): Promise<void> {
  const error: unknown = await call.then(
    (value) => value,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StoreUnavailableError)
  expect(error).toMatchObject({ code: 'SAGA_STORE_UNAVAILABLE', applied })
}
