import { hash } from 'node:crypto'

/** Computes the value of Content-Digest (RFC 9530). A text is taken in UTF-8. */
export function computeContentDigest(body: string | Uint8Array): string {
  return `sha-256=:${hash('sha256', body, 'base64')}:`
}

/** The comparison needs no constant time: the digest is no secret, because the sender of the bytes knows it. */
export function fitsDigest(digest: string, body: Uint8Array): boolean {
  return digest === computeContentDigest(body)
}
