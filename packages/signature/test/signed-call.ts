import {
  type CallHead,
  type CallToSign,
  callSigner,
  fitsDigest,
  parseSigningKey,
  parseVerificationKey,
  type SigningKey,
  type VerificationKey,
  verifyHead,
} from '@counterstep/signature'

/** Holds a request as a service gets it. A test may change every part of it. */
export interface SentCall {
  readonly method: string
  readonly targetUri: string
  /** It has a pair of name and value for each header line. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

export const NOW_S = 1_800_000_000

export const CALL: CallToSign = {
  method: 'POST',
  targetUri: 'http://bank.example/debit?gid=g-1&trans_type=saga&branch_id=01&op=action',
  contentType: 'application/json',
  attempt: '1',
  epoch: '3',
  acceptedAt: '1799999999000',
  gid: 'g-1',
  branchId: '01',
  op: 'action',
  kind: 'saga',
  body: '{"account":"alice","cents":2500}',
}

export const ED25519 = parseSigningKey(`-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`)
export const ED25519_PUBLIC = parseVerificationKey(`-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=
-----END PUBLIC KEY-----`)
const SECRET = JSON.stringify({
  keyid: 'test-shared-secret',
  alg: 'hmac-sha256',
  secret: 'uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==',
})
export const HMAC = parseSigningKey(SECRET)
export const HMAC_SHARED = parseVerificationKey(SECRET)

export function signCall(call: CallToSign, key: SigningKey = ED25519, createdAtS = NOW_S): SentCall {
  const flat = callSigner(
    () => key,
    () => createdAtS * 1000,
  ).sign(call)
  const own: [string, string][] = []
  for (let index = 0; index < flat.length; index += 2) own.push([flat[index] ?? '', flat[index + 1] ?? ''])
  return {
    method: call.method,
    targetUri: call.targetUri,
    headers: [
      ...(call.contentType === undefined ? [] : [['content-type', call.contentType] as const]),
      ['counterstep-attempt', call.attempt],
      ['counterstep-epoch', call.epoch],
      ['counterstep-accepted-at', call.acceptedAt],
      ['counterstep-gid', call.gid],
      ['counterstep-branch-id', call.branchId],
      ['counterstep-op', call.op],
      ['counterstep-kind', call.kind],
      ...(call.budgetMs === undefined ? [] : [['counterstep-budget-ms', call.budgetMs] as const]),
      ...(call.undo === undefined ? [] : [['counterstep-undo', call.undo] as const]),
      ...own,
    ],
    body: Buffer.from(call.body),
  }
}

/** Checks the head and the body, and returns `fits` or the reason why they do not fit. */
export function checkCall(
  call: SentCall,
  keys: readonly VerificationKey[] = [ED25519_PUBLIC, HMAC_SHARED],
  nowS = NOW_S,
): string {
  const head: CallHead = {
    method: call.method,
    targetUri: call.targetUri,
    values: (wanted) => call.headers.filter(([name]) => name === wanted).map(([, value]) => value),
  }
  const verdict = verifyHead(head, new Map(keys.map((key) => [key.keyId, key])), nowS)
  if (verdict.refusal !== undefined) return verdict.refusal
  return fitsDigest(verdict.digest, call.body) ? 'fits' : 'body'
}

export function changeHeader(call: SentCall, name: string, change: (value: string) => string): SentCall {
  const headers = call.headers.map(([each, value]) => [each, each === name ? change(value) : value] as const)
  return { ...call, headers }
}

export function removeHeader(call: SentCall, name: string): SentCall {
  return { ...call, headers: call.headers.filter(([each]) => each !== name) }
}
