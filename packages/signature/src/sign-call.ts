import { computeContentDigest } from './content-digest.ts'
import { BUDGET, CONTENT_TYPE, LABEL, listSignedNames, TAG, UNDO } from './profile.ts'
import { signBase } from './sign-base.ts'
import { buildSignatureBase } from './signature-base.ts'
import type { SigningKey } from './signing-key.ts'
import { stripBlanks } from './strip-blanks.ts'

/**
 * A signature is valid for this long. Each attempt is signed anew, so this covers the way there and a clock that is
 * off.
 */
export const SIGNATURE_LIFETIME_S = 300

export interface CallToSign {
  readonly method: string
  /** It is absolute, and has exactly the characters of the origin and the request line that are sent. */
  readonly targetUri: string
  /** It is undefined if the header is not sent. */
  readonly contentType: string | undefined
  readonly attempt: string
  readonly epoch: string
  readonly acceptedAt: string
  readonly gid: string
  readonly branchId: string
  readonly op: string
  readonly kind: string
  /** It is undefined if the header is not sent. Only a plan call has it, and never without a content type. */
  readonly budgetMs?: string
  /** It is undefined if the header is not sent. A plan call never has it. */
  readonly undo?: string
  readonly body: string
}

export interface CallSigner {
  /** Returns the three headers, each name before its value. */
  sign(call: CallToSign): string[]
}

/** Signs with the key of the moment. `now` is in epoch milliseconds. */
export function callSigner(currentKey: () => SigningKey, now: () => number): CallSigner {
  let known: Parameters | undefined
  return {
    sign(call) {
      const key = currentKey()
      const createdAtS = Math.floor(now() / 1000)
      // The parameters change only with the second and with the key.
      if (known === undefined || known.createdAtS !== createdAtS || known.key !== key) {
        known = buildParameters(key, createdAtS)
      }
      return buildSignedHeaders(call, known)
    },
  }
}

interface Parameters {
  readonly key: SigningKey
  readonly createdAtS: number
  readonly withContentType: string
  readonly withoutContentType: string
  readonly withBudget: string
  readonly withUndo: string
  readonly withUndoAlone: string
}

function buildParameters(key: SigningKey, createdAtS: number): Parameters {
  const { keyId, algorithm } = key
  const rest =
    `;created=${createdAtS};expires=${createdAtS + SIGNATURE_LIFETIME_S}` +
    `;keyid="${keyId}";alg="${algorithm}";tag="${TAG}"`
  const write = (names: readonly string[]) => `(${names.map((name) => `"${name}"`).join(' ')})${rest}`
  return {
    key,
    createdAtS,
    withContentType: write(listSignedNames(true)),
    withoutContentType: write(listSignedNames(false)),
    withBudget: write([...listSignedNames(true), BUDGET]),
    withUndo: write([...listSignedNames(true), UNDO]),
    withUndoAlone: write([...listSignedNames(false), UNDO]),
  }
}

function chooseParameters({ contentType, budgetMs, undo }: CallToSign, known: Parameters): string {
  if (budgetMs !== undefined) return known.withBudget
  if (contentType === undefined) return undo === undefined ? known.withoutContentType : known.withUndoAlone
  return undo === undefined ? known.withContentType : known.withUndo
}

function buildSignedHeaders(call: CallToSign, known: Parameters): string[] {
  const { method, targetUri, contentType, attempt, epoch, acceptedAt, gid, branchId, op, kind } = call
  const { budgetMs, undo } = call
  const digest = computeContentDigest(call.body)
  const parameters = chooseParameters(call, known)
  const components: (readonly [string, string])[] = [
    ['@method', method],
    ['@target-uri', targetUri],
    ['content-digest', digest],
  ]
  // The value is signed as it arrives: HTTP does not count white space around a value as part of it.
  if (contentType !== undefined) components.push([CONTENT_TYPE, stripBlanks(contentType)])
  components.push(
    ['counterstep-attempt', attempt],
    ['counterstep-epoch', epoch],
    ['counterstep-accepted-at', acceptedAt],
    ['counterstep-gid', gid],
    ['counterstep-branch-id', branchId],
    ['counterstep-op', op],
    ['counterstep-kind', kind],
  )
  if (budgetMs !== undefined) components.push([BUDGET, budgetMs])
  if (undo !== undefined) components.push([UNDO, undo])
  const signature = signBase(known.key, buildSignatureBase(components, parameters))
  return [
    'content-digest',
    digest,
    'signature-input',
    `${LABEL}=${parameters}`,
    'signature',
    `${LABEL}=:${signature}:`,
  ]
}
