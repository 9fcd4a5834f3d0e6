import { getPublicSuffix } from 'tldts'

/**
 * Tells whether strangers may register a name right below it: `com`, `co.uk`, `github.io`,
 * `lambda-url.eu-west-1.on.aws`. A name of a user's own network (`example.internal`) is not such a suffix.
 */
export function isPublicSuffix(hostname: string): boolean {
  return getPublicSuffix(hostname, { allowPrivateDomains: true }) === hostname
}
