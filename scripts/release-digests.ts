// `npm run release:digests`: asks the registry for the digest of each image that the Dockerfile and the compose file
// name, and writes it behind the name. Needs docker with buildx. The digests are to be read and committed.
import { dirname } from 'node:path'
import { writeDigests } from './release/image-digests.ts'
import { resolveDigest } from './release/resolve-digest.ts'

const ROOT = dirname(import.meta.dirname)

try {
  for (const image of writeDigests(ROOT, (name) => resolveDigest(name))) process.stdout.write(`${image}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
