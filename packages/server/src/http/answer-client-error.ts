import { answerClientErrors } from '@counterstep/access'
import { buildProblem, PROBLEM_TYPE } from './problem.ts'

export const answerClientError = answerClientErrors(({ status, detail }) => {
  const code = status === 431 ? 'SAGA_HEADER_INVALID' : 'SAGA_INVALID'
  return { contentType: PROBLEM_TYPE, body: JSON.stringify(buildProblem(code, { status, detail })) }
})
