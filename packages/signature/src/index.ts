export { computeContentDigest, fitsDigest } from './content-digest.ts'
export { fitsBase, signBase } from './sign-base.ts'
export { type CallSigner, type CallToSign, callSigner, SIGNATURE_LIFETIME_S } from './sign-call.ts'
export { buildSignatureBase } from './signature-base.ts'
export {
  createSigningKeyText,
  parseSigningKey,
  type SignatureAlgorithm,
  type SigningKey,
  toPublicJwk,
} from './signing-key.ts'
export { parseVerificationKey, type VerificationKey, type VerificationKeyText } from './verification-key.ts'
export {
  type CallHead,
  CLOCK_SKEW_S,
  findTimeRefusal,
  type HeadVerdict,
  LIFETIME_S_MAX,
  type SignatureRefusal,
  type SignedTimes,
  verifyHead,
} from './verify-head.ts'
