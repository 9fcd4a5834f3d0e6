import { getPublicSuffix } from 'tldts'

/**
 * Whether anybody may register a name right below it: `com`, `co.uk`, `github.io`, `lambda-url.eu-west-1.on.aws`. A name of
 * one's own network (`example.internal`) is none.
 */
export function isPublicSuffix(hostname: string): boolean {
  return getPublicSuffix(hostname, { allowPrivateDomains: true }) === hostname
}
