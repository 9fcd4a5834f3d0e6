import { answerClientErrors } from '@counterstep/access'
import { answerError, JSON_TYPE } from '../wire/answer.ts'

export const answerClientError = answerClientErrors(({ status, detail }) => ({
  contentType: JSON_TYPE,
  body: answerError(detail, status).body,
}))
