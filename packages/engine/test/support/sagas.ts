import { isCounterstepError, type SagaBranchRequest, type SagaSubmitRequest } from '@counterstep/protocol'

export function buildBranch(
  gid: string,
  id: string,
  change: Partial<SagaBranchRequest> = {},
): SagaBranchRequest {
  const url = `http://bank.test/${gid}/${id}`
  return { id, action: `${url}/action`, compensation: `${url}/compensate`, payload: { amount: 1 }, ...change }
}

/** Builds branches 01, 02, … that run one after the other. */
export function buildSaga(
  gid: string,
  branches = 2,
  change: Partial<SagaSubmitRequest> = {},
): SagaSubmitRequest {
  return {
    gid,
    branches: Array.from({ length: branches }, (_, position) => buildBranch(gid, branchId(position))),
    ...change,
  }
}

/** Builds branches that all start at once. */
export function buildParallel(
  gid: string,
  branches: number,
  change: Partial<SagaSubmitRequest> = {},
): SagaSubmitRequest {
  return {
    gid,
    branches: Array.from({ length: branches }, (_, position) =>
      buildBranch(gid, branchId(position), { after: [] }),
    ),
    ...change,
  }
}

export function branchId(position: number): string {
  return String(position + 1).padStart(2, '0')
}

/** Returns the stable code of the refusal, or `accepted`. */
export async function readCode(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'accepted'
  } catch (error: unknown) {
    if (isCounterstepError(error)) return error.code
    throw error
  }
}

/** Watches a promise without waiting for it. */
export function watched<T>(promise: Promise<T>): { value?: T; error?: unknown; isSettled: boolean } {
  const state: { value?: T; error?: unknown; isSettled: boolean } = { isSettled: false }
  promise.then(
    (value) => {
      state.value = value
      state.isSettled = true
    },
    (error: unknown) => {
      state.error = error
      state.isSettled = true
    },
  )
  return state
}

/** This is a small seeded generator (mulberry32). The same seed gives the same test. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
