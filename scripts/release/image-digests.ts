import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The files that name images of others. */
const IMAGE_FILES = ['infra/Dockerfile', 'infra/compose.yaml'] as const
/** A build argument, a stage of a Dockerfile, or a service of a compose file. */
const REFERENCE = /^(ARG [A-Z_]*IMAGE=|FROM |[ \t]*image:[ \t]+)([^\s#]+)/gm
const STAGE = /^FROM \S+ AS (\S+)$/gm
const DIGEST = /@sha256:[0-9a-f]{64}$/

/** The images that a file takes from a registry, as they are written. Its own stages and our own images are none. */
export function foreignImages(text: string): readonly string[] {
  const own = ownStages(text)
  return [...text.matchAll(REFERENCE)].map(([, , name = '']) => name).filter((name) => isForeign(name, own))
}

/** The text with the digest of each image behind its name, in place of an older one. */
export function withDigests(text: string, resolve: (name: string) => string): string {
  const own = ownStages(text)
  return text.replace(REFERENCE, (whole, before: string, name: string) => {
    if (!isForeign(name, own)) return whole
    const tag = name.replace(/@sha256:.*$/, '')
    return `${before}${tag}@${resolve(tag)}`
  })
}

/**
 * Names the images without a digest, which a release may not leave open: such an image is another one whenever its tag
 * is moved.
 */
export function digestFault(root: string): string | undefined {
  const open = IMAGE_FILES.flatMap((path) =>
    foreignImages(readFileSync(join(root, path), 'utf8'))
      .filter((name) => !DIGEST.test(name))
      .map((name) => `${path} names ${name}`),
  )
  if (open.length === 0) return undefined
  return `${[...new Set(open)].join(', ')}, without a digest: npm run release:digests writes it`
}

/** Resolves each image once, and changes no file before all are resolved. */
export function writeDigests(root: string, resolve: (name: string) => string): readonly string[] {
  const known = new Map<string, string>()
  const once = (name: string): string => {
    const digest = known.get(name) ?? resolve(name)
    known.set(name, digest)
    return digest
  }
  const files = IMAGE_FILES.map((path) => {
    const whole = join(root, path)
    return { whole, text: withDigests(readFileSync(whole, 'utf8'), once) }
  })
  for (const { whole, text } of files) writeFileSync(whole, text)
  return [...known].map(([name, digest]) => `${name}@${digest}`)
}

function ownStages(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(STAGE)].map(([, stage = '']) => stage))
}

function isForeign(name: string, ownStages: ReadonlySet<string>): boolean {
  return !ownStages.has(name) && !name.includes('$') && name !== 'scratch'
}
