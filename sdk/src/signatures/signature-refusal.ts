import type { SignatureRefusal } from '@counterstep/signature'
import { BranchError } from '../branch/branch-errors.ts'
import type { HttpAnswer } from '../branch/http-answer.ts'

const ERRORS = {
  missing: ['BRANCH_UNSIGNED', 'the call has no signature'],
  malformed: [
    'BRANCH_SIGNATURE_INVALID',
    'the signature is none of a branch call, or covers too little of it',
  ],
  algorithm: ['BRANCH_SIGNATURE_INVALID', 'the signature names another algorithm than its key has'],
  mismatch: ['BRANCH_SIGNATURE_INVALID', 'the signature is not of this request; is the base URL right?'],
  'unknown-key': ['BRANCH_SIGNATURE_KEY_UNKNOWN', 'no key has the keyid of the signature'],
  expired: ['BRANCH_SIGNATURE_EXPIRED', 'the signature is too old; are the clocks right?'],
  future: ['BRANCH_SIGNATURE_EXPIRED', 'the signature is of a time to come; are the clocks right?'],
  body: ['BRANCH_SIGNATURE_INVALID', 'the body is not the one that was signed'],
  'too-large': ['BRANCH_SIGNATURE_INVALID', 'the body is longer than that of any branch call'],
  replayed: ['BRANCH_SIGNATURE_REPLAYED', 'this very call was served before'],
} as const satisfies Record<SignatureRefusal | 'body' | 'too-large' | 'replayed', readonly [string, string]>

export function toSignatureError(refusal: keyof typeof ERRORS): BranchError {
  const [code, message] = ERRORS[refusal]
  return new BranchError(code, message)
}

/**
 * Makes a problem (RFC 9457). It has the details that an operator needs to find the fault, and none that would help a
 * forger.
 */
export function toRefusalAnswer({ code, status, message }: BranchError): HttpAnswer {
  const title = status === 401 ? 'Unauthorized' : 'Service Unavailable'
  return {
    statusCode: status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...(status === 401 ? { 'www-authenticate': 'Signature' } : { 'retry-after': '1' }),
    },
    body: JSON.stringify({ title, status, code, detail: message }),
  }
}
