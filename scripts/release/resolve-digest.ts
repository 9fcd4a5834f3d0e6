import { spawnSync } from 'node:child_process'

const TIMEOUT_MS = 60_000

/**
 * The digest that a registry has for a tag today: of the list of all platforms, so that each platform finds its own image.
 * `environment` tells where `docker` is found.
 */
export function resolveDigest(name: string, environment: NodeJS.ProcessEnv = process.env): string {
  // JSON is asked for, since some versions of buildx print all that they know in place of a plain text.
  const args = ['buildx', 'imagetools', 'inspect', name, '--format', '{{json .Manifest.Digest}}']
  const { status, stdout, stderr, error } = spawnSync('docker', args, {
    env: environment,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
  })
  if (error !== undefined) throw new Error(`docker could not be asked for ${name}: ${error.message}`)
  if (status !== 0) throw new Error(`docker could not resolve ${name}: ${stderr.trim()}`)
  const digest = /^"(sha256:[0-9a-f]{64})"$/.exec(stdout.trim())?.[1]
  if (digest === undefined) throw new Error(`docker gave no digest of ${name}`)
  return digest
}
