import type { BranchAnswer } from '@counterstep/core'

export const SUCCESS: BranchAnswer = { result: 'success', statusCode: 200 }
export const FAILURE: BranchAnswer = { result: 'failure', statusCode: 409 }
export const ONGOING: BranchAnswer = { result: 'ongoing', statusCode: 425 }
export const BROKEN: BranchAnswer = { result: 'unknown', statusCode: 503 }
export const BAD_URL: BranchAnswer = { result: 'unknown', error: 'bad-url' }
