import { answerClientErrors } from '@counterstep/access'
import { JSON_TYPE, trouble } from '../wire/answer.ts'

export const answerClientError = answerClientErrors(({ status, detail }) => ({
  contentType: JSON_TYPE,
  body: trouble(detail, status).body,
}))
