import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { BASE } from '../image/base-image.ts'
import type { Image } from '../image/build-image.ts'
import type { Buildah } from '../image/buildah.ts'
import type { RootFileSystem } from '../image/root-file-system.ts'
import { readOutput } from '../run-command.ts'

const MEGABYTE = 1_000_000
const IMAGE_BYTES_MAX = 250 * MEGABYTE
const OURS_BYTES_MAX = 40 * MEGABYTE
/** An image must not have sources, maps, tests, or files that only a build needs. */
const UNWANTED = /\.(?:ts|map|tsbuildinfo|c|cpp|h|gyp)$|(?:^|\/)(?:test|tests|src|deps)\/|(?:^|\/)\.npmrc$/
const SECRET_WORDS = /passw|secret|token|api_?key|private/i
const SECRET_FILES = /\.(?:pem|key|env)$|(?:^|\/)(?:keys\.json|id_[a-z0-9]+|.*-password)$/

export function checkUser({ config }: Image): string {
  if (!/^[1-9]\d*:[1-9]\d*$/.test(config.User)) throw new Error(`runs as ${config.User}`)
  return config.User
}

/** Measures an image. Its base replaces Docker's, so the size of our part is exact, and the whole size is close. */
export async function checkSize(buildah: Buildah, image: Image): Promise<string> {
  const [whole, base] = [await measureSize(buildah, image.name), await measureSize(buildah, BASE)]
  const ours = whole - base
  const text = `${toMegabytes(whole)} whole, ${toMegabytes(ours)} of it ours`
  if (whole > IMAGE_BYTES_MAX || ours > OURS_BYTES_MAX) throw new Error(text)
  return text
}

export function checkFiles({ folder }: RootFileSystem): string {
  const app = join(folder, 'app')
  const files = readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(app.length + 1))
  const unwanted = files.filter((path) => UNWANTED.test(path) || SECRET_FILES.test(path))
  if (unwanted.length > 0) throw new Error(`has ${unwanted.join(', ')}`)
  return `${files.length} files`
}

/** Searches for secrets in the image's settings and in the history of its layers, which everyone with the image can read. */
export async function checkNoSecrets(buildah: Buildah, image: Image): Promise<undefined> {
  const inspected = await buildah.run('inspect', '--type', 'image', image.name)
  const { Docker, OCIv1 } = JSON.parse(inspected)
  const shown = JSON.stringify([Docker.config, OCIv1.config, Docker.history, OCIv1.history])
  const found = SECRET_WORDS.exec(shown)
  if (found !== null) throw new Error(`says "${shown.slice(found.index - 40, found.index + 60)}"`)
}

async function measureSize(buildah: Buildah, name: string): Promise<number> {
  const container = await buildah.run('from', '--pull-never', name)
  const folder = await buildah.run('mount', container)
  const bytes = Number((await readOutput('du', ['--summarize', '--bytes', folder])).split('\t')[0])
  await buildah.run('rm', container)
  return bytes
}

function toMegabytes(bytes: number): string {
  return `${(bytes / MEGABYTE).toFixed(1)} MB`
}
