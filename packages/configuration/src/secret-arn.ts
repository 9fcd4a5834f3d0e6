import type { Parsed } from './setting.ts'

const ARN_LENGTH_MAX = 2_048
const SECRET_ARN = /^arn:aws[a-z-]{0,16}:secretsmanager:[a-z0-9-]{1,32}:\d{12}:secret:[\w/+=.@-]{1,519}$/

/** Of a secret in AWS Secrets Manager. Not quoted when it is none: it may be the secret itself. */
export function secretArn(text: string): Parsed<string> {
  return text.length <= ARN_LENGTH_MAX && SECRET_ARN.test(text)
    ? { value: text }
    : { problem: 'must be the ARN of a secret, arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME' }
}
